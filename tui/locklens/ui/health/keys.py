"""The keys of the Health screen."""

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

HEALTH_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous row or line", "move"),
                Key("", "g G", "", "first and last row"),
                Key("tab,shift+tab", "tab", "other_pane", "switch pane: between list and detail", "pane"),
                Key("", "enter", "", "list the roots of a check, or open the detail of a row", "list"),
                Key("l,right", "l", "unfold(True)", "unfold section", ""),
                Key("n", "n", "finding(1)", "next finding: next section with one", "next finding"),
                Key("N", "N", "finding(-1)", "previous finding: previous section with one"),
                Key("escape", "esc", "back", "back: from the detail, from a filter", "back"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key("space", "space", "mark", "mark roots: of the row, for L U P F; again: unmark", "mark"),
                Key("a", "a", "mark_shown", "mark all shown: every root with a finding; again: unmark", "all"),
                FILTER,
                Key("s", "s", "sort", "sort: by severity, number of roots, name", "sort"),
                Key("b", "b", "group", "group: by check, root, provider, signer", "group"),
                DIAGNOSE,
                Key("y", "y", "copy", "copy: the command of the check, or the highlighted line", "copy"),
                Key("e", "e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
                Key("r", "r", "reload", "reload: read all files, and ask the registries again", "reload"),
            ),
        ),
        KeyGroup(
            "Writing, with a Preview: the marked roots, or those of the row",
            (
                Key("L", "L", "lock", "lock platforms: the required ones, and what is not locked", "lock"),
                Key("U", "U", "upgrade", "upgrade providers: those of the row, by the policy's cooldown", "upgrade"),
                Key("P", "P", "prune", "prune orphans", "prune"),
                Key("F", "F", "format", "format lock files", "format"),
            ),
        ),
        KeyGroup("Program", (UNDO, SIDES, *EVERYWHERE, QUIT)),
        elsewhere("L", "U", "P", "F"),
    ),
    ("?", "q ctrl+c", "enter", "space", "L", "U", "P", "F", "/", "i", "s", "b", "y", "n", "a", "tab", "r", ":", "j k"),
    ("?", "esc", "j k", "y", "e", "L", "U", "P", "F", "i", "tab", "q ctrl+c", ":", "r"),
)
