"""The keys of the screen of signing keys."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, UNDO, UNSUPPORTED, Key, KeyGroup, KeyTable, elsewhere

SIGNERS_KEYS = KeyTable(
    (
        KeyGroup(
            "Moving",
            (
                Key("", "j k, arrows", "", "next and previous signer or line", "move"),
                Key("", "g G", "", "first and last"),
                Key("tab,shift+tab", "tab", "other_pane", "between the signers and the detail", "pane"),
                Key("", "enter", "", "open the signer's detail, and look up its history", "history"),
                Key("escape", "esc", "back", "back: from the detail, from a filter, to the screen before", "back"),
            ),
        ),
        KeyGroup(
            "Reading",
            (
                Key(
                    "slash", "/", "filter", "filter by name, fingerprint, tier, provider, version, lock file", "filter"
                ),
                Key("y", "y", "copy", "copy the fingerprint, or the provider that is highlighted", "copy"),
                Key("e", "e", "edit", "open the highlighted lock file in $VISUAL or $EDITOR", "edit"),
                Key("o", "o", "open_page", "open the highlighted provider's page on the registry, or copy its address"),
                Key("r", "r", "reload", "read everything and ask the registries again", "ask again"),
            ),
        ),
        KeyGroup("Program", (UNDO, *EVERYWHERE, Key("q", "q", "leave", "back to the screen before, or quit", "back"))),
        elsewhere(),
        UNSUPPORTED,
    ),
    ("?", "q", "enter", "y", "/", "r", "tab", ":", "j k"),
    ("?", "esc", "j k", "y", "e", "tab", "r", "q", ":"),
)
