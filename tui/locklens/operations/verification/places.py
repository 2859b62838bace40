"""Finds the packages of roots on this machine: data folders, the plugin cache, and the folders of mirrors.

What is found is worked on by all processors, each package once, however many links lead to it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from locklens.operations.root_modules import Root, RootOptions, data_folder_of
from locklens.operations.verification import PackagePlace, SearchedPlace, Where
from locklens.packages import LIMITS
from locklens.packages.contents import PROCESSORS
from locklens.project.clifiles import implied_folders
from locklens.project.tree import FileSystem
from locklens.sources.mirrors import search
from locklens.text import reason_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator

    from locklens.addresses import Platform
    from locklens.project.cliconfig import CliConfig


class PlaceFinder:
    """Finds packages of roots, and notes what it cannot look into."""

    def __init__(self, options: RootOptions, here: Platform) -> None:
        self._options = options
        self._here = here
        self.notes: list[str] = []
        self.searched: list[SearchedPlace] = []
        """The places that packages were looked for in, in order."""

    def installed(self, root: Root) -> list[PackagePlace]:
        """Return the packages of a root's data folder, and the places of locked ones that are missing there."""
        data = data_folder_of(root, self._options)
        if not data.packages.is_dir():
            step = f"run `{root.tool.command} init` or `locklens init`"
            problem = f"nothing is installed ({step})"
            self.searched.append(SearchedPlace(Where.INSTALLED, self._shown(data.packages), root.path, problem))
            if root.lock.exists:
                self.notes.append(f"{root.name}: nothing is installed; {step}")
            elif root.configuration.requirements:
                self.notes.append(f"{root.name}: there is no lock file, and nothing is installed; {step}")
            else:
                words = "there is no lock file, so that no package is compared with this folder's"
                self.notes.append(f"{root.name}: {words}; name root modules after --, or give --all-roots")
            return []
        locked = [
            PackagePlace(
                entry.address,
                entry.version,
                self._here,
                Where.INSTALLED,
                place := data.place(entry.address, entry.version, self._here),
                self._shown(place),
                is_folder=True,
                root=root.path,
            )
            for entry in root.lock.entries
        ]
        known = {(one.address, one.version, one.platform) for one in locked}
        others = self._found(data.packages, Where.INSTALLED, has_zips=False, root=root.path)
        return [*locked, *(one for one in others if (one.address, one.version, one.platform) not in known)]

    def shared(self, config: CliConfig, roots: list[Root]) -> Iterator[PackagePlace]:
        """Yield the packages of the plugin cache and of the mirrors that a tool's settings name."""
        if config.plugin_cache_dir:
            yield from self._found(Path(config.plugin_cache_dir).absolute(), Where.PLUGIN_CACHE, has_zips=False)
        folders: dict[Path, None] = {}
        for method in config.installation.methods if config.installation is not None else ():
            if method.kind.is_on_disk:
                folders[Path(method.place).absolute()] = None
        for root in roots if config.installation is None else ():
            where = self._options.folder / root.path
            folders |= dict.fromkeys(implied_folders(root.tool, self._options.environ, where))
        for folder in folders:
            yield from self._found(folder, Where.MIRROR, has_zips=True)

    def _found(self, folder: Path, where: Where, *, has_zips: bool, root: str | None = None) -> Iterator[PackagePlace]:
        try:
            found = search(folder)
        except OSError as error:
            problem = f"it cannot be searched: {reason_of(error)}"
            self.searched.append(SearchedPlace(where, self._shown(folder), root, problem))
            self.notes.append(f"{folder} cannot be searched: {reason_of(error)}")
            return
        self.searched.append(SearchedPlace(where, self._shown(folder), root))
        top, files = Path(os.path.realpath(folder)), FileSystem(self._options.folder)
        for packages in found.values():
            for one in packages:
                if one.is_folder or has_zips:
                    path = folder / one.path.relative_to(top)
                    # A mirror may lie in a repository; data folders and caches have links to the user's own cache.
                    if where is Where.MIRROR and files.leads_out(os.fspath(path)):
                        self.notes.append(f"{path} is behind a link that leads out of the repository, and not verified")
                        continue
                    yield PackagePlace(
                        one.address,
                        one.version,
                        one.platform,
                        where,
                        path,
                        self._shown(path),
                        one.is_folder,
                        root,
                        is_here=one.platform == self._here,
                    )

    def _shown(self, path: Path) -> str:
        folder = self._options.folder
        return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


_Result = TypeVar("_Result")


def same_packages(places: Iterable[PackagePlace]) -> list[list[int]]:
    """Return the numbers of places, those that links lead to the same package together, the largest package first.

    A large package that is begun last would keep one processor busy while the others have nothing left to do.
    """
    found: dict[tuple[str, int], list[int]] = {}
    sizes: dict[tuple[str, int], int] = {}
    for number, place in enumerate(places):
        key = ("", number) if place.path is None else (os.path.realpath(place.path), 0)
        found.setdefault(key, []).append(number)
        if key not in sizes:
            sizes[key] = 0 if place.path is None else _size(place.path, is_folder=place.is_folder)
    return [found[key] for key in sorted(found, key=lambda key: -sizes[key])]


def on_all_processors(
    work: Callable[[list[int]], _Result], groups: Iterable[list[int]], cancel: threading.Event
) -> Iterator[_Result]:
    """Yield the result of `work` for each group, in their order.

    Hashing lets other threads run, so one thread for each processor keeps all of them busy; more would only take more
    memory. `work` looks at `cancel` between blocks: it is set where this ends early, since nothing waits for the
    threads then.
    """
    pool = ThreadPoolExecutor(PROCESSORS, "locklens-hash")
    is_done = False
    try:
        yield from pool.map(work, groups)
        is_done = True
    finally:
        if not is_done:
            cancel.set()
        pool.shutdown(wait=is_done, cancel_futures=True)


def _size(path: Path, *, is_folder: bool) -> int:
    """The bytes of a zip file or of a package's files at its top, where the program is; 0 where it cannot be known."""
    size = 0
    with suppress(OSError):
        if not is_folder:
            return path.stat().st_size
        with os.scandir(path) as entries:
            for entry in islice(entries, LIMITS.entries):
                with suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_size
    return size
