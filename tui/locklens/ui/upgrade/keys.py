"""The keys of the screen of upgrades."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, UNDO, UNSUPPORTED, Key, KeyGroup, KeyTable, elsewhere

UPGRADE_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous row or line", "move"),
                Key("", "g G", "", "first and last row"),
                Key("", "h l", "", "fold and unfold a provider's roots; h goes from a root to its provider", "fold"),
                Key("tab,shift+tab", "tab", "other_pane", "between the list and the detail", "pane"),
                Key("", "enter", "", "open the detail; below 100 columns it fills the screen", "detail"),
                Key("n", "n", "warned(1)", "next row that is held or doubtful", "next held"),
                Key("N", "N", "warned(-1)", "previous row that is held or doubtful"),
                Key("left_square_bracket", "[", "section(-1)", "previous section or root"),
                Key("right_square_bracket", "]", "section(1)", "next section or root"),
                Key("escape", "esc", "back", "back: from the detail, from a filter, to the screen before", "back"),
            ),
        ),
        KeyGroup(
            "Picking",
            (
                Key(
                    "space", "space", "choose", "choose the row, or all roots of the provider; once more: not", "choose"
                ),
                Key(
                    "a",
                    "a",
                    "choose_safe",
                    "choose all that is safe: in range, old enough, signed as before as far as that is known; once"
                    " more: none",
                    "all safe",
                ),
                Key(
                    "",
                    "< >, left right",
                    "",
                    "older and newer version, of a provider the same in all of its roots; * means that a constraint"
                    " would be edited",
                    "version",
                ),
                Key("m", "m", "stay", "stay within the major version, within the minor version, go anywhere", "stay"),
                Key(
                    "c", "c", "cooldown", "heed the policy's cooldown (7 days where it has none), or do not", "cooldown"
                ),
                Key("U", "U", "upgrade", "Preview of what was chosen; nothing is written before it", "Preview"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key("w", "w", "why", "why not newer: constraints with file and line, and what they hold back", "why"),
                Key("e", "e", "edit", "open the line that holds it back in $VISUAL or $EDITOR", "edit"),
                Key("o", "o", "open_page", "open the page of the picked release on the registry, or copy its address"),
                Key("y", "y", "copy", "copy provider and versions, or the highlighted line's fact", "copy"),
                Key(
                    "x",
                    "x",
                    "expand",
                    "all versions with what there is to say of each, or those around the pick in one line",
                ),
                Key("slash", "/", "filter", "filter by provider, root, version, kind, signer, held, chosen", "filter"),
                Key("b", "b", "group", "group by provider, by root", "group"),
                Key("r", "r", "reload", "read everything and ask the registries again", "ask again"),
            ),
        ),
        KeyGroup("Program", (UNDO, *EVERYWHERE, Key("q", "q", "leave", "back to the screen before, or quit", "back"))),
        elsewhere("U"),
        UNSUPPORTED,
    ),
    ("?", "q", "space", "U", "a", "< >", "w", "enter", "/", "m", "c", "n", "b", "h l", "e", "r", ":"),
    ("?", "esc", "j k", "space", "< >", "U", "e", "y", "w", "tab", "q", ":"),
)
