"""The command palette: every action of the screen by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from locklens.ui.views import VIEWS
from locklens.ui.widgets.closing import ClosedOnce

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.ui.shell.key_table import Key, KeyGroup, KeyTable
    from locklens.ui.views import View


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


def key_commands(table: KeyTable) -> Iterator[Command]:
    """Yield the commands of a screen's keys, and the theme."""
    yield Command("Switch theme", "dark or light", "theme")
    # Movement keys last: they are rarely looked up by name.
    for group in (*table.groups[1:], table.groups[0]):
        for key in group.keys:
            if key.action and key.action != "palette":
                yield Command(*_named(key, group), key.action)


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
"""Names of two or three words for keys that the help, beside their group, names in fewer or more."""


def _named(key: Key, group: KeyGroup) -> tuple[str, str]:
    """Return the name of a key's command, and its description."""
    name, mark, rest = key.words.partition(":")
    if ";" in name:
        name, mark, rest = key.words.partition(";")
    title = group.title.partition(":")[0]
    words = rest.strip() if mark else title[:1].lower() + title[1:]
    return _NAMES.get(name, name).capitalize(), f"{key.shown} - {words}"


def view_commands(table: KeyTable, shown: View, exports: Iterable[Command]) -> Iterator[Command]:
    """Yield all commands of a view: its keys, the other views, and its exports.

    Args:
        table: The view's keys.
        shown: The view that is open.
        exports: The view's exports.
    """
    yield from key_commands(table)
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
        return self.screen.palette_commands() if isinstance(self.screen, HasCommands) else ()

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
