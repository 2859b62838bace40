"""The keys of the Why dialog."""

from __future__ import annotations

from locklens.ui.shell.key_table import Key, KeyGroup, KeyTable

WHY_KEYS = KeyTable(
    (
        KeyGroup(
            "Why",
            (
                Key("", "j k, arrows", "", "next and previous line that can be copied or opened", "move"),
                Key("", "g G", "", "first and last line"),
                Key("e", "e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
                Key(
                    "y",
                    "y",
                    "copy",
                    "copy line: the highlighted version or constraint, without its path",
                    "copy",
                ),
                Key("r", "r", "again", "reload: read all files, and ask the registry again", "reload"),
                Key("question_mark", "?", "help", "this help", "keys"),
                Key("escape,q,w,enter", "esc q w", "close", "back", "back"),
            ),
        ),
    ),
    ("esc q w", "j k", "e", "y", "r", "?"),
    (),
)
