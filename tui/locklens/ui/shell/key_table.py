"""Key tables: the source of a screen's bindings, key line, help and palette."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding

from locklens.ui.views import VIEWS


@dataclass(frozen=True, slots=True)
class Key:
    """One action and its keys.

    Attributes:
        keys: Textual's names, separated by commas.
        shown: The label of the keys.
        action: The screen's action; "" for keys that the focused pane handles.
        words: The description in the help; its part before ":" or ";" is the label in the palette.
        short: The label in the key line; "" to leave the key out.
    """

    keys: str
    shown: str
    action: str
    words: str
    short: str = ""


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """Keys of one purpose."""

    title: str
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of a screen.

    Attributes:
        groups: All keys.
        in_list: Labels of the keys in the key line while the list has the focus, most useful first.
        in_detail: Labels of the keys in the key line while the detail has the focus, most useful first.
    """

    groups: tuple[KeyGroup, ...]
    in_list: tuple[str, ...]
    in_detail: tuple[str, ...]


EVERYWHERE = (
    Key("question_mark", "?", "help", "this help", "keys"),
    Key(
        "colon,ctrl+p",
        ": ctrl+p",
        "palette",
        "command palette: every action by name, export as JSON or text, theme",
        "palette",
    ),
)
"""Keys of every screen."""

SIDES = Key("B", "B", "sides", "compare other sides: select base and head among branches, tags and recent commits")
"""On every view."""

QUIT = Key(
    "q", "q ctrl+c", "leave", "quit: from every tab; first closes a dialog, a Preview or a full-screen detail", "quit"
)
"""On every view; the app binds ctrl+c, which works in dialogs too."""

UNDO = Key(
    "Z", "Z", "undo", "undo or redo: list of applied writes, also of earlier runs, each with its commit message", "undo"
)
"""On every view."""

FILTER = Key("slash", "/", "filter", "filter rows: by text, fields and states, as listed below", "filter")
"""On every view; the terms are those of the screen's `GRAMMAR`."""

DIAGNOSE = Key(
    "i",
    "i",
    "diagnose",
    "diagnose in Doctor: why init fails with this provider; its finding or error is the starting point",
    "diagnose",
)
"""On every screen with rows of providers, and on the Preview of a plan that failed."""

_ELSEWHERE = (
    Key("L", "L", "elsewhere('lock', '3 Hashes, or 1 Review')", "lock missing platforms: on Review and Hashes"),
    Key("U", "U", "elsewhere('upgrade', '2 Upgrade')", "upgrade providers: on Upgrade"),
    Key("R", "R", "elsewhere('restore', '1 Review')", "restore from base: on Review"),
    Key("P", "P", "elsewhere('prune', '1 Review')", "prune orphans: on Review"),
    Key("F", "F", "elsewhere('format', '1 Review')", "format lock file: on Review"),
    Key("S", "S", "elsewhere('stage', '1 Review')", "stage marked changes: on Review"),
    Key("A", "A", "elsewhere('accept', '1 Review')", "accept a finding: on Review"),
    Key("T", "T", "elsewhere('trust', '4 Signers')", "trust signing key: on Signers"),
    Key("D", "D", "elsewhere('drop pin', '4 Signers')", "drop a pin: on Signers"),
)


def elsewhere(*present: str) -> KeyGroup:
    """The keys that plan a write on other screens, without those `present` on this screen."""
    return KeyGroup("On another screen", tuple(key for key in _ELSEWHERE if key.keys not in present))


WRITE_KEYS = frozenset("LURPFMSATDZ")
"""Labels of the keys that plan a write; not offered while the compared head cannot be written."""


def dialog_bindings(table: KeyTable) -> list[Binding]:
    """Return the bindings of a screen without a number key."""
    keys = [key for group in table.groups for key in group.keys if key.keys]
    bound = [Binding(key.keys, key.action, key.words, show=False) for key in keys]
    return [*bound, Binding("h,left", "focus_list", "Back to the list", show=False)]


def view_bindings(table: KeyTable) -> list[Binding]:
    """Return the bindings of a view."""
    return dialog_bindings(table) + [Binding(view.key, f"view({view.key!r})", view.title, show=False) for view in VIEWS]
