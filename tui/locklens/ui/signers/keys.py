"""The keys of the Signers screen."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, FILTER, QUIT, SIDES, UNDO, Key, KeyGroup, KeyTable, elsewhere

SIGNERS_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous signer or line", "move"),
                Key("", "g G", "", "first and last"),
                Key("tab,shift+tab", "tab", "other_pane", "switch pane: between list and detail", "pane"),
                Key("", "enter", "", "open the detail, and look up the signer's history", "history"),
                Key("escape", "esc", "back", "back: from the detail, from a filter", "back"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                FILTER,
                Key("y", "y", "copy", "copy fingerprint: or the highlighted provider", "copy"),
                Key("e", "e", "edit", "edit lock file: the highlighted one, in $VISUAL or $EDITOR", "edit"),
                Key(
                    "o",
                    "o",
                    "open_page",
                    "open release page: of the highlighted provider on the registry; copies the URL without a browser",
                ),
                Key("r", "r", "reload", "reload: read all files, and ask the registries again", "reload"),
            ),
        ),
        KeyGroup(
            "Opens a Preview: nothing is written before enter",
            (
                Key(
                    "T",
                    "T",
                    "trust",
                    "trust key: pin the namespace to it in locklens.toml; asks for its last 8 digits and a reason",
                    "trust",
                ),
                Key("D", "D", "drop_pin", "drop pin: that of the provider's namespace, from locklens.toml", "drop pin"),
            ),
        ),
        KeyGroup("Program", (UNDO, SIDES, *EVERYWHERE, QUIT)),
        elsewhere("T", "D"),
    ),
    ("?", "q ctrl+c", "enter", "T", "D", "y", "/", "r", "tab", ":", "j k"),
    ("?", "esc", "j k", "T", "D", "y", "e", "tab", "r", "q ctrl+c", ":"),
)
