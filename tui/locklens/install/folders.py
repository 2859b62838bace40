"""The folder that packages are installed in: what is there already, and how a package takes its place in one step.

A package is unpacked beside its place, and only a whole one is put there; what lay there before goes as a whole. So
nothing of what somebody added to a folder is ever taken for the provider's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.hashes import h1_of_folder
from locklens.install.fetching import unwritable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.addresses import Platform, ProviderAddress
    from locklens.versions import Version

_STAGING = ".locklens-"
"""How the folders beside a place begin that nothing is installed in yet. The tools look for OS_ARCH there."""


class DataFolder:
    """The tools' data folder of one root, usually `.terraform`; for one process at a time.

    Args:
        path: Where it is; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def turns(self) -> Path:
        """The file that stands for the folder where several processes wait for their turn."""
        return self.path / ".locklens.lock"

    def place(self, address: ProviderAddress, version: Version, platform: Platform) -> Path:
        """Where a package belongs."""
        return self.path.joinpath("providers", *str(address).split("/"), str(version), str(platform))

    def has(self, place: Path, hashes: Collection[str]) -> bool:
        """Whether what is at a place has one of the hashes; of those only an `h1` can be held against a folder."""
        wanted = {text for text in hashes if text.startswith("h1:")}
        return bool(wanted) and h1_at(place) in wanted

    @contextmanager
    def staging(self, place: Path) -> Iterator[Path]:
        """Makes a folder beside a place, and removes it with all that is left in it, also of runs that were killed.

        Raises:
            ConfigurationError: It cannot be made.
        """
        made = [folder for folder in (place.parent, *place.parent.parents) if not folder.exists()]
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            for left in place.parent.glob(f"{_STAGING}{place.name}-*"):
                shutil.rmtree(left, ignore_errors=True)
            staging = Path(tempfile.mkdtemp(prefix=f"{_STAGING}{place.name}-", dir=place.parent))
        except OSError as error:
            raise unwritable(place.parent, error) from error
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()

    def put(self, unpacked: Path, place: Path) -> None:
        """Puts an unpacked package in its place; what was there ends up beside it, in the staging folder.

        Raises:
            ConfigurationError: It cannot be done; what was there is there again.
        """
        aside = unpacked.with_name("before")
        had = os.path.lexists(place)
        try:
            if had:
                place.rename(aside)
            try:
                unpacked.rename(place)
            except OSError:
                if had:
                    aside.rename(place)
                raise
            if aside.is_symlink() or aside.is_file():
                aside.unlink()
        except OSError as error:
            raise unwritable(place, error) from error


def h1_at(place: Path) -> str:
    """The `h1` of what is installed at a place, "" where there is none to be had."""
    try:
        return h1_of_folder(place) if place.is_dir() else ""
    except (OSError, ValueError):
        return ""
