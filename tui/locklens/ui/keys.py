"""All keys of each screen in one table: the bindings, the key line, the help and the palette are made from it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    """One action and its keys.

    Attributes:
        keys: As Textual names them, separated by commas.
        shown: As people read them.
        action: Of the screen; "" for keys that the focused pane handles itself.
        words: What it does, as the help says it.
        short: What the key line says; "" where it has no room for it.
    """

    keys: str
    shown: str
    action: str
    words: str
    short: str = ""


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """Keys that belong together."""

    title: str
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of a screen.

    Attributes:
        groups: All of them.
        in_list: Those that the key line has while the list has the focus, by what they are listed as, the most needed
            first.
        in_detail: Likewise, for the detail.
    """

    groups: tuple[KeyGroup, ...]
    in_list: tuple[str, ...]
    in_detail: tuple[str, ...]


MOVING = KeyGroup(
    "Moving",
    (
        Key("", "j k, arrows", "", "next and previous row or line", "move"),
        Key("", "g G", "", "first and last row"),
        Key("", "h l, left right", "", "fold and unfold; h on a row that does not fold goes to its section", "fold"),
        Key("tab,shift+tab", "tab", "other_pane", "between the list and the detail", "pane"),
        Key("", "enter", "", "open the detail of the row; below 100 columns it fills the screen", "open"),
        Key("n", "n", "finding(1)", "next row with a finding", "next finding"),
        Key("N", "N", "finding(-1)", "previous row with a finding"),
        Key("left_square_bracket", "[", "root(-1)", "previous root or section"),
        Key("right_square_bracket", "]", "root(1)", "next root or section"),
        Key("escape", "esc", "back", "back: from the detail to the list, from a filter to all rows", "back"),
    ),
)

REVIEWING = KeyGroup(
    "Reviewing",
    (
        Key(
            "space",
            "space",
            "mark",
            "mark the row's changes as reviewed, or take the mark back; it is kept for the next run",
            "reviewed",
        ),
        Key("a", "a", "mark_shown", "mark all changes that the filter shows, or take all marks back"),
        Key(
            "slash",
            "/",
            "filter",
            "filter by text, sev>=warn, kind:upgrade, root:prod, provider:aws, rule:LK005, proof:unknown, unreviewed",
            "filter",
        ),
        Key("b", "b", "group", "group by root, by provider, by severity", "group"),
        Key("d", "d", "diff", "raw diff of the provider's block, or of all of the root's", "raw diff"),
        Key("w", "w", "why", "why the provider is there: who requires it, as a tree", "why"),
        Key("x", "x", "expand", "whole hashes, kept hashes, and what each rule means", "expand"),
        Key(
            "y",
            "y",
            "copy",
            "copy what is highlighted: provider and versions, finding, hash, whole fingerprint. No paths: safe to paste"
            " in public",
            "copy",
        ),
        Key("e", "e", "edit", "open the highlighted line in $VISUAL or $EDITOR", "edit"),
        Key(
            "o",
            "o",
            "open_page",
            "open the release's page on the registry, or copy its address where there is no browser",
        ),
        Key(
            "v",
            "v",
            "prove",
            "prove the h1 of the row, the group or the section: download the signed packages and hash them; says first"
            " how much that is",
            "prove",
        ),
        Key("r", "r", "reload", "read everything and ask the registries again", "ask again"),
    ),
)

_EVERYWHERE = (
    Key("question_mark", "?", "help", "this help", "keys"),
    Key(
        "colon,ctrl+p",
        ": ctrl+p",
        "palette",
        "command palette: every action by name, export as JSON or text, theme",
        "palette",
    ),
)

PROGRAM = KeyGroup(
    "Program",
    (*_EVERYWHERE, Key("q", "q", "leave", "quit; below 100 columns first back to the list", "quit")),
)

UNSUPPORTED = KeyGroup(
    "Not supported yet",
    (
        Key("L", "L", "unsupported('lock')", "lock platforms"),
        Key("U", "U", "unsupported('upgrade')", "upgrade"),
        Key("P", "P", "unsupported('prune')", "prune what nothing requires"),
        Key("R", "R", "unsupported('restore')", "restore the entry of the base"),
        Key("A", "A", "unsupported('accept')", "accept with a reason"),
        Key("T", "T", "unsupported('trust')", "trust a signing key"),
        Key("D", "D", "unsupported('drop a pin')", "drop a pin"),
        Key("F", "F", "unsupported('format')", "format the lock file"),
        Key("S", "S", "unsupported('stage')", "stage the lock file"),
        Key("Z", "Z", "unsupported('undo')", "undo the last apply"),
    ),
)

REVIEW = KeyTable(
    (MOVING, REVIEWING, PROGRAM, UNSUPPORTED),
    ("?", "q", "space", "enter", "n", "/", "v", "d", "b", "x", "w", ":", "y", "e", "tab", "r", "h l", "j k"),
    ("?", "esc", "j k", "y", "e", "x", "v", "space", "d", "w", "n", "tab", "q", ":", "r"),
)

SIGNERS = KeyTable(
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
        KeyGroup("Program", (*_EVERYWHERE, Key("q", "q", "leave", "back to the screen before, or quit", "back"))),
        UNSUPPORTED,
    ),
    ("?", "q", "enter", "y", "/", "r", "tab", ":", "j k"),
    ("?", "esc", "j k", "y", "e", "tab", "r", "q", ":"),
)
"""The screen of signing keys."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One of the six screens.

    Attributes:
        view: Its name; "" for one that is not built yet.
    """

    key: str
    title: str
    view: str = ""


TABS = (
    Tab("1", "Review", "review"),
    Tab("2", "Upgrade"),
    Tab("3", "Hashes"),
    Tab("4", "Keys", "keys"),
    Tab("5", "Health"),
    Tab("6", "Doctor"),
)


def bindings(table: KeyTable) -> list[Binding]:
    """The bindings of a screen."""
    keys = [key for group in table.groups for key in group.keys if key.keys]
    bound = [Binding(key.keys, key.action, key.words, show=False) for key in keys]
    bound += [Binding(tab.key, f"tab({tab.key!r})", tab.title, show=False) for tab in TABS]
    return [*bound, Binding("h,left", "focus_list", "Back to the list", show=False)]
