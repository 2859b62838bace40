"""The command palette: every key's action by name, export, themes. All words are our own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from locklens.ui.shell.key_table import TABS, KeyTable
from locklens.ui.shell.screen import LockLensScreen
from locklens.ui.shell.two_panes import TwoPaneScreen

if TYPE_CHECKING:
    from collections.abc import Iterator


class Command(NamedTuple):
    """A line of the palette."""

    name: str
    words: str
    action: str


def key_commands(table: KeyTable) -> Iterator[Command]:
    """What a screen's keys do, and what no key does."""
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


def commands(table: KeyTable, command: str) -> Iterator[Command]:
    """All commands of one of the six screens, those without a key first.

    Args:
        table: The screen's keys.
        command: The one of the command line that prints the same, by name.
    """
    for form in ("json", "text"):
        name = form.upper() if form == "json" else form
        told = "what this screen says" if command == "upgrade" else f"what `locklens {command} --format {form}` prints"
        yield Command(f"Export as {name}", told, f"export({form!r})")
    yield from key_commands(table)
    for tab in TABS:
        told = "this screen" if tab.view == command else "opens it" if tab.view else "not supported yet"
        yield Command(f"Go to {tab.title}", told, f"tab({tab.key!r})")


class ScreenCommands(Provider):
    """Offers the commands to the palette and runs them on the screen below it."""

    def _commands(self) -> Iterator[Command]:
        screen = self.screen
        if isinstance(screen, TwoPaneScreen):
            return commands(screen.TABLE, screen.VIEW)
        return key_commands(screen.TABLE) if isinstance(screen, LockLensScreen) else iter(())

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
