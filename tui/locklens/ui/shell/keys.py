"""Key tables: the source of a screen's bindings, key line, help and command palette."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from locklens.lines import Line, Role, Span, heading, line
from locklens.ui.dialogs import ClosedOnce
from locklens.ui.views import VIEWS, View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


ChoiceT = TypeVar("ChoiceT", bound=StrEnum)

_TEXTUAL_NAMES = {
    "esc": "escape",
    "?": "question_mark",
    "/": "slash",
    ":": "colon",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "tab": "tab,shift+tab",
}
"""Textual's names of keys whose label is another one."""


@dataclass(frozen=True, slots=True)
class Key:
    """One action and its keys.

    Attributes:
        shown: The label of the keys, with spaces between them.
        action: The screen's action; "" for keys that the focused pane handles.
        words: The description in the help; its part before ":" or ";" is the label in the palette.
        short: The label in the key line; "" to leave the key out.
        binds: Textual's names of the keys, where they are not those of the label.
    """

    shown: str
    action: str
    words: str
    short: str = ""
    binds: str | None = None

    @property
    def label(self) -> str:
        """The first keys of `shown`, as the key line has them."""
        return self.shown.split(",")[0].removesuffix(" ctrl+p")

    @property
    def keys(self) -> str:
        """Textual's names of the keys that run the action, separated by commas; "" for none."""
        if self.binds is not None or not self.action:
            return self.binds or ""
        return ",".join(_TEXTUAL_NAMES.get(label, label) for label in self.shown.split(" "))


class KeyGroup:
    """Keys of one purpose."""

    def __init__(self, title: str, *keys: Key) -> None:
        self.title = title
        self.keys = keys


class KeyTable:
    """The keys of a screen.

    `in_list` are the labels of the keys in the key line while the list has the focus, most useful first, with "|"
    between them; `in_detail` is the same while the detail has it.
    """

    def __init__(self, *groups: KeyGroup, in_list: str = "", in_detail: str = "") -> None:
        self.groups = groups
        self.keys = tuple(key for group in groups for key in group.keys)
        self.in_list = tuple(in_list.split("|"))
        self.in_detail = tuple(in_detail.split("|"))

    @property
    def bindings(self) -> list[BindingType]:
        """The bindings of the keys that run an action."""
        return [Binding(key.keys, key.action, key.words, show=False) for key in self.keys if key.keys]


EVERYWHERE = (
    Key("?", "help", "this help", "keys"),
    Key(": ctrl+p", "palette", "command palette: every action by name, export as JSON or text, theme", "palette"),
)
"""Keys of every screen."""

ROWS = Key("j k, arrows", "", "next and previous row or line", "move")
ENDS = Key("g G", "", "first and last row")
PANE = Key("tab", "other_pane", "switch pane: between list and detail", "pane")
BACK = Key("esc", "back", "back: from the detail, from a filter", "back")
RELOAD = Key("r", "reload", "reload: read all files, and ask the registries again", "reload")
"""On most views, as the four before."""

SIDES = Key("B", "sides", "compare other sides: select base and head among branches, tags and recent commits")
"""On every view."""

QUIT = Key(
    "q ctrl+c",
    "leave",
    "quit: from every tab; first closes a dialog, a Preview or a full-screen detail",
    "quit",
    binds="q",
)
"""On every view; the app binds ctrl+c, which works in dialogs too."""

UNDO = Key(
    "Z", "undo", "undo or redo: list of applied writes, also of earlier runs, each with its commit message", "undo"
)
"""On every view."""

FILTER = Key("/", "filter", "filter rows: by text, fields and states, which ? lists", "filter")
"""On every view; the terms are those of the screen's `GRAMMAR`."""

PROGRAM_KEYS = KeyGroup("Program", UNDO, SIDES, *EVERYWHERE, QUIT)
"""The last keys of most views."""

DIAGNOSE = Key(
    "i",
    "diagnose",
    "diagnose in Doctor: why init fails with this provider; its finding or error is the starting point",
    "diagnose",
)
"""On every screen with rows of providers, and on the Preview of a plan that failed."""

INSIDE = Key(
    "z",
    "inside",
    "look inside: toolchain, modules and files of the zip, against the locked version; shows the download size first",
    "inside",
)
"""On every screen with changes or upgrades of providers."""

_ELSEWHERE = (
    Key("L", "elsewhere('lock', '1 Review, 3 Hashes or 5 Health')", "lock platforms: on Review, Hashes and Health"),
    Key("U", "elsewhere('upgrade', '2 Upgrade or 5 Health')", "upgrade providers: on Upgrade and Health"),
    Key("R", "elsewhere('restore', '1 Review')", "restore from base: on Review"),
    Key("P", "elsewhere('prune', '1 Review or 5 Health')", "prune orphans: on Review and Health"),
    Key("F", "elsewhere('format', '1 Review or 5 Health')", "format lock file: on Review and Health"),
    Key("M", "elsewhere('merge', '1 Review')", "merge conflict: on Review"),
    Key("S", "elsewhere('stage', '1 Review')", "stage marked changes: on Review"),
    Key("A", "elsewhere('accept', '1 Review')", "accept a finding: on Review"),
    Key("T", "elsewhere('trust', '4 Signers')", "trust signing key: on Signers"),
    Key("D", "elsewhere('drop pin', '4 Signers')", "drop a pin: on Signers"),
)


def elsewhere(*present: str) -> KeyGroup:
    """The keys that plan a write on other screens, without those `present` on this screen."""
    return KeyGroup("On another screen", *(key for key in _ELSEWHERE if key.keys not in present))


WRITES = frozenset(
    {
        "lock", "upgrade", "restore", "prune", "format", "merge", "stage", "accept", "trust", "drop_pin", "undo",
        "select", "select_eligible",
    }
)  # fmt: skip
"""Actions that plan a write to the files on disk, or select for one."""

LOOKS = frozenset({"diagnose", "compare_packages", "edit"})
"""Actions that plan none, and look at the files on disk: they open one, or examine its folder."""

ROW_ACTIONS = WRITES - {"undo"} | LOOKS | {
    "copy", "diff", "expand", "finding", "inside", "mark", "mark_shown",
    "open_page", "other_pane", "prove", "section", "unreviewed", "why",
}  # fmt: skip
"""Actions on rows, which do nothing before there are any."""


def action_name(action: str) -> str:
    """Return the name of an action without its arguments; of one that works on other screens, the name there."""
    name, _, arguments = action.partition("(")
    return arguments.split("'")[1].replace(" ", "_") if name == "elsewhere" else name


def keys_of_rows(table: KeyTable, *, is_narrowed: bool = False) -> tuple[Key, ...]:
    """Return the keys that do something on rows alone, and so nothing in an empty list.

    A list may be empty because of its filter, if `is_narrowed`.
    """
    kept = {"filter", "back"} if is_narrowed else set()
    actions = (ROW_ACTIONS | {"", "back", "filter", "group", "sort"}) - kept
    return tuple(key for key in table.keys if key.action.partition("(")[0] in actions)


def pane_bindings(table: KeyTable) -> list[BindingType]:
    """Return the bindings of a screen with two panes."""
    return [*table.bindings, Binding("h,left", "focus_list", "Back to the list", show=False)]


def view_bindings(table: KeyTable) -> list[BindingType]:
    """Return the bindings of a view."""
    views = (Binding(view.key, f"view({view.key!r})", view.title, show=False) for view in VIEWS)
    return [*pane_bindings(table), *views]


_WIDTH = 18


def key_help(table: KeyTable, reasons: Mapping[Key, str] = {}) -> Iterator[Line]:
    """Yield the keys of a table with their meanings, those that do nothing on any row apart, by the reason.

    What the mouse does follows.
    """
    for group in table.groups:
        if shown := [key for key in group.keys if key not in reasons]:
            yield line(Span(group.title.upper(), Role.HEADING))
            yield from (help_entry(key.shown, key.words) for key in shown)
            yield line()
    for reason in dict.fromkeys(reasons.values()):
        yield line(Span("OFF  ", Role.HEADING), reason, hanging=5)
        yield from (help_entry(key.shown, key.words.partition(":")[0]) for key in reasons if reasons[key] == reason)
        yield line()
    yield line(Span("MOUSE", Role.HEADING))
    yield help_entry("click", "a row, its fold marker, its mark, a tab, a key of the key line")
    yield help_entry("double click", "open the detail")


def help_section(title: str, meanings: Mapping[str, str]) -> Iterator[Line]:
    """Yield a heading and one entry for each term, if there is one."""
    yield from heading(title) if meanings else ()
    yield from (help_entry(term, meaning) for term, meaning in meanings.items())


def help_entry(term: str, meaning: str) -> Line:
    """Return a term in its column, and its meaning."""
    return line("  ", Span(f"{term}  ".ljust(_WIDTH), Role.STRONG), meaning, hanging=_WIDTH + 2)


def following(choice: ChoiceT) -> ChoiceT:
    """Return the choice to which a key steps; the first follows the last."""
    order = list(type(choice))
    return order[(order.index(choice) + 1) % len(order)]


class Command(NamedTuple):
    """A line of the palette."""

    name: str
    words: str
    action: str


@runtime_checkable
class HasCommands(Protocol):
    """A screen with commands for the palette."""

    def palette_commands(self) -> Iterable[Command]:
        """Return the commands in palette order."""

    def commands_off(self) -> Iterable[Command]:
        """Return the commands that do nothing now, each with the reason."""


def key_commands(table: KeyTable, off: Collection[Key] = ()) -> Iterator[Command]:
    """Yield the commands of a screen's keys without those that are off, and the theme."""
    yield Command("Switch theme", "dark or light", "theme")
    # Movement keys last: they are rarely looked up by name.
    for group in (*table.groups[1:], table.groups[0]):
        for key in group.keys:
            if key.action and key.action != "palette" and key not in off:
                # A key of other screens only names them; its command goes to the first of them.
                there = next((f"view({view.key!r})" for view in VIEWS if f"{view.key} {view.title}" in key.action), "")
                yield Command(*_named(key, group), there or key.action)


def off_commands(table: KeyTable, reasons: Mapping[Key, str]) -> Iterator[Command]:
    """Yield the commands of the keys that are off; running one says the reason, too."""
    for group in table.groups:
        for key in group.keys:
            if key in reasons:
                yield Command(_named(key, group)[0], f"{key.shown} - off: {reasons[key]}", key.action)


_NAMES = {
    "back": "go back",
    "cancel": "cancel plan",
    "copy": "copy text",
    "next section or root": "next section",
    "previous section or root": "previous section",
    "quit": "quit locklens",
    "reload": "reload files",
    "this help": "show keys",
}
"""Names of two or three words for keys that the help, besides their group, names in fewer or more."""


def _named(key: Key, group: KeyGroup) -> tuple[str, str]:
    """Return the name of a key's command, and its description."""
    name, mark, rest = key.words.partition(":")
    if ";" in name:
        name, mark, rest = key.words.partition(";")
    title = group.title.partition(":")[0]
    words = rest.strip() if mark else title[:1].lower() + title[1:]
    return _NAMES.get(name, name).capitalize(), f"{key.shown} - {words}"


def view_commands(table: KeyTable, shown: View, exports: Iterable[Command], off: Collection[Key]) -> Iterator[Command]:
    """Yield the commands of a view: its keys, without those that do nothing on any row, other views, and exports."""
    yield from key_commands(table, off)
    for view in VIEWS:
        state = "current screen" if view == shown else f"key {view.key}"
        yield Command(f"Go to {view.title}", state, f"view({view.key!r})")
    yield from exports


class Palette(CommandPalette, ClosedOnce[None]):
    """The command palette; takes one command, however often enter is pressed."""


class ScreenCommands(Provider):
    """Lists the commands of the screen below the palette, and runs the selected command there."""

    _has_run = False

    def _commands(self) -> Iterable[Command]:
        screen = self.screen
        return (*screen.palette_commands(), *screen.commands_off()) if isinstance(screen, HasCommands) else ()

    async def _run(self, action: str) -> None:
        """Run the action of the selected command; a second enter while the palette closes runs nothing."""
        if not self._has_run:
            self._has_run = True
            await self.screen.run_action(action)

    async def discover(self) -> Hits:
        """Yield all commands while the query is empty."""
        for command in self._commands():
            run = partial(self._run, command.action)
            yield DiscoveryHit(Content(command.name), run, text=command.name, help=escape(command.words))

    async def search(self, query: str) -> Hits:
        """Yield the commands whose name matches the query, then those with all of its words in the description."""
        matcher = self.matcher(query)
        for command in self._commands():
            run = partial(self._run, command.action)
            if (score := matcher.match(command.name)) > 0:
                yield Hit(
                    1 + score, matcher.highlight(command.name), run, text=command.name, help=escape(command.words)
                )
            elif _has_words(f"{command.name} {command.words}", query):
                yield Hit(1, Content(command.name), run, text=command.name, help=escape(command.words))


def _has_words(text: str, query: str) -> bool:
    return all(word in text.casefold() for word in query.casefold().split())
