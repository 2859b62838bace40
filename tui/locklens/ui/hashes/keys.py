"""The keys of the Hashes screen."""

from __future__ import annotations

from locklens.ui.shell.key_table import (
    DIAGNOSE,
    EVERYWHERE,
    FILTER,
    QUIT,
    SIDES,
    UNDO,
    Key,
    KeyGroup,
    KeyTable,
    elsewhere,
)

HASHES_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous row or line", "move"),
                Key("", "g G", "", "first and last row"),
                Key("", "h l, left right", "", "fold and unfold an entry of several roots", "fold"),
                Key("tab,shift+tab", "tab", "other_pane", "switch pane: between list and detail", "pane"),
                Key("", "enter", "", "open the detail; full screen on narrow terminals", "open"),
                Key("n", "n", "finding(1)", "next finding: next row with a finding", "next finding"),
                Key("N", "N", "finding(-1)", "previous finding: previous row with a finding"),
                Key("left_square_bracket", "[", "root(-1)", "previous root"),
                Key("right_square_bracket", "]", "root(1)", "next root"),
                Key("escape", "esc", "back", "back: from the detail, from a filter", "back"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key("space", "space", "mark", "mark provider: or the root, for v, p and L; again: unmark", "mark"),
                Key("a", "a", "mark_shown", "mark all shown: for v, p and L; again: unmark", "all"),
                FILTER,
                Key("x", "x", "expand", "show full hashes: and the explanation of each rule", "expand"),
                Key(
                    "w",
                    "w",
                    "why",
                    "explain provider: its requirements, and the holds on newer versions",
                    "why",
                ),
                DIAGNOSE,
                Key("y", "y", "copy", "copy row: the full hash, or the highlighted line", "copy"),
                Key("e", "e", "edit", "edit lock file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
                Key("o", "o", "open_page", "open release page: on the registry; copies the URL without a browser"),
                Key(
                    "v",
                    "v",
                    "prove",
                    "verify by download: the unverified h1 of the marked providers, or of the row; asks first",
                    "verify",
                ),
                Key(
                    "p",
                    "p",
                    "compare_packages",
                    "compare packages: installed, cached and mirrored ones of the marked providers, or of the row",
                    "packages",
                ),
                Key("r", "r", "reload", "reload: read all files, and ask the registries again", "reload"),
            ),
        ),
        KeyGroup(
            "Writing, with a Preview",
            (
                Key(
                    "L",
                    "L",
                    "lock",
                    "lock missing platforms: required ones, of the marked providers, or of the row",
                    "lock",
                ),
            ),
        ),
        KeyGroup("Program", (UNDO, SIDES, *EVERYWHERE, QUIT)),
        elsewhere("L"),
    ),
    ("?", "q ctrl+c", "space", "v", "p", "i", "L", "/", "n", "enter", "a", "x", "w", "y", "e", "tab", "r", ":", "j k"),
    ("?", "esc", "j k", "y", "e", "x", "v", "p", "i", "L", "w", "tab", "q ctrl+c", ":", "r"),
)
