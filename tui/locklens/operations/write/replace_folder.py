"""Replaces a folder of a package that differs by a copy that the lock file accepts, or moves it aside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.doctor.examined import KEPT_ASIDE
from locklens.errors import ConfigurationError
from locklens.operations.plan.model import FileChanges, Plan
from locklens.operations.write.operation import FileOperation, no_progress
from locklens.operations.write.recover import ABSENT, state_of
from locklens.operations.write.undo import top_of
from locklens.packages.installed import differing_files
from locklens.storage.journal import MovedFolder
from locklens.text import listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_ASIDE = 100
_FILES_NAMED = 8


class ReplaceFolder(FileOperation, frozen=True):
    """Puts a copy in the place of a package's folder; the old folder is kept aside.

    Attributes:
        here: The current folder.
        place: The folder of the package.
        base: The folder that it must not lead out of: the repository, the plugin cache or the mirror.
        source: The copy that the lock file accepts; "" to move the old folder aside alone.
        locked: The hashes of the lock file's entry: the copy has to have one of them.
        next_step: The command that fetches the package again where there is no copy.
    """

    here: Path
    place: str
    base: str
    source: str
    locked: tuple[str, ...]
    next_step: str = ""

    @property
    def title(self) -> str:
        """A short title."""
        return f"{'Replace' if self.source else 'Move aside'} {self._shown(self.place)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the replacement: nothing is moved before the hash and the differing files of what is there are noted.

        Raises:
            ConfigurationError: The copy is none that the lock file accepts, or there is nothing to do.
        """
        on_root(self._shown(self.place))
        old, new = state_of(self.place), state_of(self.source) if self.source else ABSENT
        if self.source and new not in self.locked:
            raise ConfigurationError(f"is no copy that the lock file accepts: {new}", path=self._shown(self.source))
        if old == new:
            raise ConfigurationError("is as it should be: nothing to replace", path=self._shown(self.place))
        aside = self._aside() if old != ABSENT else ""
        words = [*self._of_old(old, aside), *self._of_new(new)]
        folder = MovedFolder(self.place, old, new, self.base, aside, self.source)
        changes = FileChanges(top_of(self.here), (), tuple(words), self._command(aside), folders=(folder,))
        return Plan(changes, dry_run_words=tuple(words))

    def _of_old(self, old: str, aside: str) -> list[str]:
        if old == ABSENT:
            return []
        place = self._shown(self.place)
        link = f", a link to {os.readlink(self.place)}," if os.path.islink(self.place) else ""  # noqa: PTH114, PTH115
        words = [f"{place}{link} is moved aside to {self._shown(aside)}", f"it is {old}, which is not locked"]
        if self.source:
            differing = differing_files(Path(os.path.realpath(self.place)), Path(os.path.realpath(self.source)))
            if differing:
                words.append(f"compared with the accepted copy: {listing(list(differing), _FILES_NAMED)}")
        return words

    def _of_new(self, new: str) -> list[str]:
        if self.source:
            return [f"a copy of {self._shown(self.source)} takes its place: {new}, which is locked"]
        return [f"then {self.next_step} fetches the package again"] if self.next_step else []

    def _aside(self) -> str:
        """Return a name beside the place that is free; the tools take no such name for a platform."""
        for number in range(1, _MOST_ASIDE):
            name = f"{self.place}{KEPT_ASIDE}{'' if number == 1 else f'-{number}'}"
            if not os.path.lexists(name):
                return name
        hint = "look at them, and remove those that are not needed"
        raise ConfigurationError(
            f"{_MOST_ASIDE} folders are kept aside already", path=self._shown(self.place), hint=hint
        )

    def _command(self, aside: str) -> str:
        place = self._shown(self.place)
        moved = shell_words(["mv", "--", place, self._shown(aside)]) if aside else ""
        if self.source:
            rest = shell_words(["cp", "-R", "--", f"{self._shown(os.path.realpath(self.source))}/", place])
        else:
            rest = self.next_step
        return " && ".join(filter(None, (moved, rest)))

    def _shown(self, place: str) -> str:
        """Return a path relative to the current folder where it is below it."""
        below = os.path.relpath(place, self.here)
        return place if below.startswith("..") else below.replace(os.sep, "/")
