"""The keys of the Preview."""

from __future__ import annotations

from locklens.ui.shell.key_table import DIAGNOSE, EVERYWHERE, Key, KeyGroup, KeyTable

PREVIEW_KEYS = KeyTable(
    (
        KeyGroup(
            "Deciding",
            (
                Key("enter", "enter", "apply", "apply plan: write all of its files, once it is ready", "apply"),
                Key(
                    "escape,q",
                    "esc q",
                    "cancel",
                    "cancel: stop the work in progress, without writing",
                    "cancel",
                ),
                Key(
                    "f",
                    "f",
                    "with_files",
                    "stage configuration files: the edited ones beside the lock file; again: the lock file alone",
                    "stage files",
                ),
                Key(
                    "m",
                    "m",
                    "without_modules",
                    "ignore missing modules: plan again without what they require; as --allow-missing-modules",
                    "without missing modules",
                ),
                Key("r", "r", "plan_anew", "plan again: from the current files", "plan again"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key("", "j k, arrows", "", "next and previous line; the right pane follows the left", "move"),
                Key("", "g G", "", "first and last line"),
                Key("tab,shift+tab", "tab", "other_pane", "switch pane: between plan and detail", "pane"),
                Key("x", "x", "expand", "show full hashes: and the explanation of each rule", "expand"),
                Key("d", "d", "diff", "show full diff: as git apply takes it", "full diff"),
                Key(
                    "y",
                    "y",
                    "copy",
                    "copy commit message: or the highlighted command line, or line of the detail",
                    "copy message",
                ),
                DIAGNOSE,
                Key("e", "e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
            ),
        ),
        KeyGroup(
            "Program",
            (*EVERYWHERE, Key("Z", "Z", "undo", "undo apply: on every other screen")),
        ),
    ),
    ("enter", "esc q", "?", "m", "i", "tab", "y", "d", "x", "r", ":", "e", "j k"),
    ("enter", "esc q", "?", "m", "i", "tab", "y", "d", "x", "r", ":", "e", "j k"),
)
