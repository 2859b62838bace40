"""The keys of the screen of hashes."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, UNDO, UNSUPPORTED, Key, KeyGroup, KeyTable, elsewhere

HASHES_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous row or line", "move"),
                Key("", "g G", "", "first and last row"),
                Key("tab,shift+tab", "tab", "other_pane", "between the list and the detail", "pane"),
                Key("", "enter", "", "open the detail of the row; below 100 columns it fills the screen", "open"),
                Key("n", "n", "finding(1)", "next row with a finding", "next finding"),
                Key("N", "N", "finding(-1)", "previous row with a finding"),
                Key("left_square_bracket", "[", "root(-1)", "previous root"),
                Key("right_square_bracket", "]", "root(1)", "next root"),
                Key("escape", "esc", "back", "back: from the detail, from a filter, to the screen before", "back"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key(
                    "space", "space", "mark", "mark the provider or the whole root for v and L, or take it back", "mark"
                ),
                Key("a", "a", "mark_shown", "mark all that the filter shows, or take all marks back", "all"),
                Key(
                    "slash",
                    "/",
                    "filter",
                    "filter by provider, root, platform, proof, hash, finding, not-covered, not-proven",
                    "filter",
                ),
                Key("x", "x", "expand", "whole hashes, and what each rule means", "expand"),
                Key(
                    "w",
                    "w",
                    "why",
                    "why it is there: who requires it, and what holds back newer versions",
                    "why",
                ),
                Key("y", "y", "copy", "copy the whole hash, or what else is highlighted", "copy"),
                Key("e", "e", "edit", "open the highlighted line of the lock file in $VISUAL or $EDITOR", "edit"),
                Key("o", "o", "open_page", "open the release's page on the registry, or copy its address"),
                Key(
                    "v",
                    "v",
                    "prove",
                    "prove by download the h1 that are not proven, of what is marked or else of the row; says first how"
                    " much that is",
                    "prove",
                ),
                Key("r", "r", "reload", "read everything and ask the registries again", "ask again"),
            ),
        ),
        KeyGroup(
            "Writing, with a preview first",
            (
                Key(
                    "L",
                    "L",
                    "lock",
                    "lock the wanted platforms that are missing, of what is marked or else of the row",
                    "lock",
                ),
            ),
        ),
        KeyGroup("Program", (UNDO, *EVERYWHERE, Key("q", "q", "leave", "back to the screen before, or quit", "back"))),
        elsewhere("L"),
        UNSUPPORTED,
    ),
    ("?", "q", "space", "v", "L", "/", "n", "enter", "a", "x", "w", "y", "e", "tab", "r", ":", "j k"),
    ("?", "esc", "j k", "y", "e", "x", "v", "L", "w", "tab", "q", ":", "r"),
)
