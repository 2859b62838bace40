"""The command palette: every action of the screen below it by name."""

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
    """A screen that has commands for the palette."""

    def palette_commands(self) -> Iterable[Command]:
        """Returns its commands, in the order in which the palette lists them."""


def key_commands(table: KeyTable) -> Iterator[Command]:
    """Yields the commands of a screen's keys, and the theme."""
    yield Command("Switch between dark and light", "the theme, for this run", "theme")
    # Those that move come last: who looks for one by name does not look for an arrow.
    for group in (*table.groups[1:], table.groups[0]):
        for key in group.keys:
            if key.action and key.action != "palette":
                yield Command(
                    f"{key.words.partition(';')[0].partition(':')[0].capitalize()}",
                    f"{group.title}, key {key.shown}",
                    key.action,
                )


def view_commands(table: KeyTable, shown: View) -> Iterator[Command]:
    """Yields all commands of a view, those without a key first.

    Args:
        table: The view's keys.
        shown: The view that is open.
    """
    for form in ("json", "text"):
        name = form.upper() if form == "json" else form
        is_upgrade = shown.name == "upgrade"
        told = "what this screen says" if is_upgrade else f"what `locklens {shown.name} --format {form}` prints"
        yield Command(f"Export as {name}", told, f"export({form!r})")
    yield from key_commands(table)
    for view in VIEWS:
        told = "this screen" if view == shown else "opens it" if view.name else "not supported yet"
        yield Command(f"Go to {view.title}", told, f"view({view.key!r})")


class ScreenCommands(Provider):
    """Offers the commands of the screen below the palette, and runs them there."""

    def _commands(self) -> Iterable[Command]:
        return self.screen.palette_commands() if isinstance(self.screen, HasCommands) else ()

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command in self._commands():
            run = partial(self.screen.run_action, command.action)
            yield DiscoveryHit(Content(command.name), run, text=command.name, help=escape(command.words))

    async def search(self, query: str) -> Hits:
        """Those that match what is typed."""
        matcher = self.matcher(query)
        for command in self._commands():
            if (score := matcher.match(command.name)) > 0:
                run = partial(self.screen.run_action, command.action)
                yield Hit(score, matcher.highlight(command.name), run, text=command.name, help=escape(command.words))
