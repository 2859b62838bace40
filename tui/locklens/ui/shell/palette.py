"""The command palette: every action of the screen by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from locklens.ui.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.ui.shell.key_table import KeyTable
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
        """Returns the commands in palette order."""


def key_commands(table: KeyTable) -> Iterator[Command]:
    """Yields the commands of a screen's keys, and the theme."""
    yield Command("Switch theme", "dark or light", "theme")
    # Movement keys last: they are rarely looked up by name.
    for group in (*table.groups[1:], table.groups[0]):
        for key in group.keys:
            if key.action and key.action != "palette":
                label = key.words.partition(";")[0].partition(":")[0].capitalize()
                yield Command(label, f"{key.shown} - {_uncapitalized(group.title.partition(':')[0])}", key.action)


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:]


def view_commands(table: KeyTable, shown: View) -> Iterator[Command]:
    """Yields all commands of a view, commands without a key first.

    Args:
        table: The view's keys.
        shown: The view that is open.
    """
    for form in ("json", "text"):
        name = form.upper() if form == "json" else form
        is_upgrade = shown.name == "upgrade"
        source = "the candidates on this screen" if is_upgrade else f"as `locklens {shown.name} --format {form}`"
        yield Command(f"Export as {name}", source, f"export({form!r})")
    yield from key_commands(table)
    for view in VIEWS:
        state = "current screen" if view == shown else f"key {view.key}" if view.name else "not supported yet"
        yield Command(f"Go to {view.title}", state, f"view({view.key!r})")


class ScreenCommands(Provider):
    """Lists the commands of the screen below the palette, and runs the selected command there."""

    def _commands(self) -> Iterable[Command]:
        return self.screen.palette_commands() if isinstance(self.screen, HasCommands) else ()

    async def discover(self) -> Hits:
        """Yields all commands while the query is empty."""
        for command in self._commands():
            run = partial(self.screen.run_action, command.action)
            yield DiscoveryHit(Content(command.name), run, text=command.name, help=escape(command.words))

    async def search(self, query: str) -> Hits:
        """Yields the commands that match the query."""
        matcher = self.matcher(query)
        for command in self._commands():
            if (score := matcher.match(command.name)) > 0:
                run = partial(self.screen.run_action, command.action)
                yield Hit(score, matcher.highlight(command.name), run, text=command.name, help=escape(command.words))
