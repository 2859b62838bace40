"""The command palette: every key's action by name, export, themes. All words are our own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from locklens.ui.keys import GROUPS, TABS

if TYPE_CHECKING:
    from collections.abc import Iterator


class Command(NamedTuple):
    """A line of the palette."""

    name: str
    words: str
    action: str


def commands() -> Iterator[Command]:
    """All commands, those without a key first."""
    yield Command("Export as JSON", "the document that `locklens review --format json` prints", "export('json')")
    yield Command("Export as text", "the report that `locklens review --format text` prints", "export('text')")
    yield Command("Switch between dark and light", "the theme, for this run", "theme")
    for group in GROUPS:
        for key in group.keys:
            if key.action and key.action != "palette":
                yield Command(
                    f"{key.words.partition(';')[0].partition(':')[0].capitalize()}",
                    f"{group.title}, key {key.shown}",
                    key.action,
                )
    for tab in TABS:
        yield Command(f"Go to {tab.title}", tab.reason or "this screen", f"tab({tab.key!r})")


class ReviewCommands(Provider):
    """Offers the commands to the palette and runs them on the screen below it."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command in commands():
            run = partial(self.screen.run_action, command.action)
            yield DiscoveryHit(Content(command.name), run, text=command.name, help=escape(command.words))

    async def search(self, query: str) -> Hits:
        """Those that match what is typed."""
        matcher = self.matcher(query)
        for command in commands():
            if (score := matcher.match(command.name)) > 0:
                run = partial(self.screen.run_action, command.action)
                yield Hit(score, matcher.highlight(command.name), run, text=command.name, help=escape(command.words))
