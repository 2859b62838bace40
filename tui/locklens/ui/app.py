"""The app: themes, the first screen, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import App

from locklens.ui.feed import ReviewSource, WorkspaceSource
from locklens.ui.marks import MarkKeeper
from locklens.ui.messages import MarksNotKept
from locklens.ui.screens.review import ReviewScreen
from locklens.ui.themes import DARK, THEMES

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.workspace.review import ReviewRequest


class LockLensApp(App[int]):
    """Shows reviews in the terminal.

    Args:
        source: Opens the comparison.
        store_path: The store of marks; None for the user's own.
    """

    TITLE = "locklens"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = set()
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, source: ReviewSource, *, store_path: Path | None = None) -> None:
        super().__init__()
        self._source = source
        self._keeper = MarkKeeper(store_path, self._tell_screen)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The themes' own variables, so that the style sheet can be read before a theme is chosen."""
        return dict(DARK.variables)

    def on_mount(self) -> None:
        """Opens the review."""
        self.push_screen(ReviewScreen(self._source, self._keeper), self.exit)

    def _tell_screen(self, notice: str) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, ReviewScreen):
                screen.post_message(MarksNotKept(notice))

    def on_unmount(self) -> None:
        """Waits for marks that are still being written."""
        self._keeper.close()


def run(request: ReviewRequest, view: str = "review", *, store_path: Path | None = None) -> int:
    """Opens the terminal UI.

    Args:
        request: What to review.
        view: Which screen to begin with: "review" or "keys".
        store_path: The store of marks; None for the user's own.

    Returns:
        The exit status: 0, or 2 where nothing could be read at all.
    """
    app = LockLensApp(WorkspaceSource(request), store_path=store_path)
    status = app.run()
    return status if status is not None else app.return_code or 0
