"""The keys of the Why dialog."""

from __future__ import annotations

from locklens.ui.shell.key_table import Key, KeyGroup, KeyTable

WHY_KEYS = KeyTable(
    (
        KeyGroup(
            "Why",
            (
                Key("q,w,enter", "esc q w", "close", "back: from the search, to the screen", "back"),
                Key("", "/", "search", "search text: upper and lower case alike", "search"),
                Key("", "n N", "found(1)", "next and previous match", "next"),
                Key("y", "y", "copy", "copy line: the highlighted version or constraint, without its path", "copy"),
                Key("e", "e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
                Key("r", "r", "again", "reload files: all, and ask the registry again", "reload"),
                Key("question_mark", "?", "help", "this help", "keys"),
                Key("", "j k", "", "next and previous line that can be copied or opened; also arrows", "move"),
                Key("", "g G", "", "first and last line", "ends"),
                Key("", "pgup pgdn", "", "a page up and down", "page"),
            ),
        ),
    ),
    (),
    (),
)
