"""What a screen's keys are: the bindings, the key line, the help and the palette are made from one table of each."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding

from locklens.ui.views import VIEWS


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
"""Keys that every screen has."""

UNDO = Key("Z", "Z", "undo", "undo the last apply, also of an earlier run; once more does it again", "undo")
"""On all of the six screens."""

_ELSEWHERE = (
    Key("L", "L", "elsewhere('lock', '3 Hashes, or 1 Review')", "lock missing platforms: on Review and on Hashes"),
    Key("U", "U", "elsewhere('upgrade', '2 Upgrade')", "upgrade: on Upgrade"),
    Key("R", "R", "elsewhere('restore', '1 Review')", "restore from the base: on Review"),
    Key("P", "P", "elsewhere('prune', '1 Review')", "prune what nothing requires: on Review"),
    Key("F", "F", "elsewhere('format', '1 Review')", "format the lock file: on Review"),
    Key("S", "S", "elsewhere('stage', '1 Review')", "stage what is marked: on Review"),
)


def elsewhere(*own: str) -> KeyGroup:
    """The keys that plan a write on other screens; `own` are those that the screen has itself."""
    return KeyGroup("On another screen", tuple(key for key in _ELSEWHERE if key.keys not in own))


UNSUPPORTED = KeyGroup(
    "Not supported yet",
    (
        Key("A", "A", "unsupported('accept')", "accept with a reason"),
        Key("T", "T", "unsupported('trust')", "trust a signing key"),
        Key("D", "D", "unsupported('drop a pin')", "drop a pin"),
    ),
)


def dialog_bindings(table: KeyTable) -> list[Binding]:
    """Returns the bindings of a screen that no number key opens."""
    keys = [key for group in table.groups for key in group.keys if key.keys]
    bound = [Binding(key.keys, key.action, key.words, show=False) for key in keys]
    return [*bound, Binding("h,left", "focus_list", "Back to the list", show=False)]


def view_bindings(table: KeyTable) -> list[Binding]:
    """Returns the bindings of a view."""
    return dialog_bindings(table) + [Binding(view.key, f"view({view.key!r})", view.title, show=False) for view in VIEWS]
