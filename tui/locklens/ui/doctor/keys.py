"""The keys of the Doctor screen."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, FILTER, QUIT, SIDES, UNDO, Key, KeyGroup, KeyTable, elsewhere

DOCTOR_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous cause, fix or line", "move"),
                Key("", "g G", "", "first and last"),
                Key("tab,shift+tab", "tab", "other_pane", "switch pane: between list and detail", "pane"),
                Key("", "enter", "", "open the detail of a cause, or the Preview of a fix", "open"),
                Key("escape", "esc", "back", "back: from the detail, from a filter", "back"),
            ),
        ),
        KeyGroup(
            "Diagnosing",
            (
                Key("p", "p", "paste", "paste log: of the failed run; a paste without p works too", "paste log"),
                Key("f", "f", "file", "log from file: name the file of a log", "file"),
                Key("i", "i", "examine", "diagnose root: that of the current folder, without a log", "diagnose"),
                Key(
                    "v",
                    "v",
                    "prove",
                    "verify by download: download and hash packages, to tell causes apart; the size is shown first",
                    "verify",
                ),
                Key(
                    "e",
                    "e",
                    "facts",
                    "correct facts: root, platform, tool, version, origin, mirror, cache, package of the failing run",
                    "facts",
                ),
                Key("r", "r", "reload", "diagnose again: ask the registries again", "again"),
                FILTER,
                Key("y", "y", "copy", "copy report: or the highlighted line; read it before you paste it", "copy"),
            ),
        ),
        KeyGroup("Program", (UNDO, SIDES, *EVERYWHERE, QUIT)),
        elsewhere(),
    ),
    ("?", "q ctrl+c", "p", "f", "enter", "v", "e", "y", "i", "r", "tab", ":", "j k"),
    ("?", "esc", "j k", "y", "v", "tab", "r", "q ctrl+c", ":"),
)
