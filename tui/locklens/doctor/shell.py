"""How commands and sentences name folders, as the user's shell is in one of them. Pure."""

from __future__ import annotations

from posixpath import join, normpath

from msgspec import Struct

from locklens.machine import locklens_words
from locklens.text import shell_words


class Shell(Struct, frozen=True):
    """What printed commands depend on.

    Attributes:
        names_tool: True if commands have to name the tool: the root does not tell it, or not alone.
        start: The folder of the diagnosis, from the folder that the user's shell is in; "." for that itself.
        top: The folder that `root` is relative to, likewise.
        here: The folder of the diagnosis, relative to the top; "" for that itself.
    """

    names_tool: bool = False
    start: str = "."
    top: str = "."
    here: str = ""

    def command_line(self, *words: str) -> str:
        """Return a command line of locklens that works in the folder that the user's shell is in."""
        return shell_words([*locklens_words(self.start), *words])

    @property
    def git(self) -> tuple[str, ...]:
        """The beginning of a git command whose paths are relative to the top."""
        return ("git",) if self.top == "." else ("git", "-C", self.top)


def from_top(here: str, root: str) -> str:
    """Return a root that is relative to the folder of the diagnosis as reports and screens name it."""
    return normpath(join(here, root))
