"""The keys of the Preview."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, Key, KeyGroup, KeyTable

PREVIEW_KEYS = KeyTable(
    (
        KeyGroup(
            "Deciding",
            (
                Key("enter", "enter", "apply", "write all files of the plan, once it is ready", "apply"),
                Key(
                    "escape,q",
                    "esc q",
                    "cancel",
                    "cancel: whatever is going on stops, and nothing is written",
                    "cancel",
                ),
                Key("r", "r", "plan_anew", "plan anew, from the files as they are now", "plan anew"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key("", "j k, arrows", "", "next and previous line; the right pane follows the left", "move"),
                Key("", "g G", "", "first and last line"),
                Key("tab,shift+tab", "tab", "other_pane", "between the plan and its detail", "pane"),
                Key("x", "x", "expand", "whole hashes in the diff, and what each rule means", "expand"),
                Key("d", "d", "diff", "the whole diff, as git apply takes it", "full diff"),
                Key(
                    "y",
                    "y",
                    "copy",
                    "copy the commit message; or the highlighted line, where that is the command line or in the detail",
                    "copy message",
                ),
                Key("e", "e", "edit", "open the highlighted line in $VISUAL or $EDITOR", "edit"),
            ),
        ),
        KeyGroup(
            "Program",
            (*EVERYWHERE, Key("Z", "Z", "undo", "undo the last apply: on every other screen")),
        ),
    ),
    ("enter", "esc q", "?", "tab", "y", "d", "x", "r", ":", "e", "j k"),
    ("enter", "esc q", "?", "tab", "y", "d", "x", "r", ":", "e", "j k"),
)
