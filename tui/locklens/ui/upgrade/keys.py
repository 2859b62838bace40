"""The keys of the Upgrade screen."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, FILTER, QUIT, SIDES, UNDO, Key, KeyGroup, KeyTable, elsewhere

UPGRADE_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous row or line", "move"),
                Key("", "g G", "", "first and last row"),
                Key("", "h l", "", "fold and unfold a provider's roots; h on a root goes to its provider", "fold"),
                Key("tab,shift+tab", "tab", "other_pane", "switch pane: between list and detail", "pane"),
                Key("", "enter", "", "open the detail; full screen on narrow terminals", "detail"),
                Key("n", "n", "warned(1)", "next warning: next row that is held back or has warnings", "next warning"),
                Key("N", "N", "warned(-1)", "previous warning: previous row that is held back or has warnings"),
                Key("left_square_bracket", "[", "section(-1)", "previous section or root"),
                Key("right_square_bracket", "]", "section(1)", "next section or root"),
                Key("escape", "esc", "back", "back: from the detail, from a filter", "back"),
            ),
        ),
        KeyGroup(
            "Selection",
            (
                Key(
                    "space",
                    "space",
                    "select",
                    "select provider: in the root, or in all of its roots; again: deselect",
                    "select",
                ),
                Key(
                    "a",
                    "a",
                    "select_eligible",
                    "select eligible: upgrades that satisfy the constraints and the cooldown, no majors (M), without a"
                    " known change of signer; again: deselect all",
                    "all eligible",
                ),
                Key(
                    "",
                    "< >, left right",
                    "",
                    "older and newer version, the same in all roots of a provider; * if a constraint would be edited",
                    "version",
                ),
                Key("m", "m", "limit", "upgrade limit: same major version, same minor version, any version", "limit"),
                Key("M", "M", "majors", "include major versions: in what a selects; again: leave them out", "majors"),
                Key("c", "c", "cooldown", "toggle cooldown: that of the policy, 7 days by default", "cooldown"),
                Key("U", "U", "upgrade", "preview upgrade: nothing is written before it is applied there", "Preview"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key(
                    "w",
                    "w",
                    "why",
                    "why this version: constraints with file and line, and the versions held back",
                    "why",
                ),
                Key(
                    "e",
                    "e",
                    "edit",
                    "edit constraint: the line that holds the provider back, in $VISUAL or $EDITOR",
                    "edit",
                ),
                Key(
                    "o",
                    "o",
                    "open_page",
                    "open release page: of the target version on the registry; copies the URL without a browser",
                ),
                Key("y", "y", "copy", "copy row: provider and versions, or the highlighted line of the detail", "copy"),
                Key(
                    "x",
                    "x",
                    "expand",
                    "toggle all versions: one per line, or those near the target in one line",
                ),
                FILTER,
                Key("b", "b", "group", "change grouping: by provider, by root", "group"),
                Key("r", "r", "reload", "reload: read all files, and ask the registries again", "reload"),
            ),
        ),
        KeyGroup("Program", (UNDO, SIDES, *EVERYWHERE, QUIT)),
        elsewhere("U"),
    ),
    ("?", "q ctrl+c", "space", "U", "a", "< >", "w", "enter", "/", "m", "M", "c", "n", "b", "h l", "e", "r", ":"),
    ("?", "esc", "j k", "space", "< >", "U", "e", "y", "w", "tab", "q ctrl+c", ":"),
)
