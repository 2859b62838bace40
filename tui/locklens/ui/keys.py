"""All keys of the review in one table: the bindings, the key line, the help and the palette are made from it."""

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
            "filter by text, sev>=warn, kind:upgrade, root:prod, provider:aws, rule:LK005, unreviewed",
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
            "copy what is highlighted: provider and versions, finding, hash. No paths: safe to paste in public",
            "copy",
        ),
        Key("e", "e", "edit", "open the highlighted line in $VISUAL or $EDITOR", "edit"),
        Key(
            "o",
            "o",
            "open_page",
            "open the release's page on the registry, or copy its address where there is no browser",
        ),
        Key("r", "r", "reload", "read everything and ask the registries again", "ask again"),
    ),
)

PROGRAM = KeyGroup(
    "Program",
    (
        Key("question_mark", "?", "help", "this help", "keys"),
        Key(
            "colon,ctrl+p",
            ": ctrl+p",
            "palette",
            "command palette: every action by name, export as JSON or text, theme",
            "palette",
        ),
        Key("q", "q", "leave", "quit; below 100 columns first back to the list", "quit"),
    ),
)

UNSUPPORTED = KeyGroup(
    "Not supported yet",
    (
        Key("v", "v", "unsupported('verify by download')", "verify hashes by download"),
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

GROUPS = (MOVING, REVIEWING, PROGRAM, UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class Tab:
    """One of the six screens; `reason` says why it cannot be opened, "" for one that can."""

    key: str
    title: str
    reason: str = ""


TABS = (
    Tab("1", "Review"),
    *(
        Tab(str(number), title, "not supported yet")
        for number, title in enumerate(("Upgrade", "Hashes", "Keys", "Health", "Doctor"), 2)
    ),
)


def bindings() -> list[Binding]:
    """The bindings of the review screen."""
    bound = [Binding(key.keys, key.action, key.words, show=False) for group in GROUPS for key in group.keys if key.keys]
    bound += [Binding(tab.key, f"tab({tab.key!r})", tab.title, show=False) for tab in TABS]
    return [*bound, Binding("h,left", "focus_list", "Back to the list", show=False)]
