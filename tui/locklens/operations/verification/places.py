"""Finds the packages of roots on this machine: data folders, the plugin cache, and the folders of mirrors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.operations.root_modules import Root, RootOptions, data_folder_of
from locklens.operations.verification import PackagePlace, SearchedPlace, Where
from locklens.project.clifiles import implied_folders
from locklens.project.installation import MethodKind
from locklens.project.tree import FileSystem
from locklens.sources.mirrors import search
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.addresses import Platform
    from locklens.project.cliconfig import CliConfig


class PlaceFinder:
    """Finds packages, and notes what it cannot look into.

    Args:
        options: The folder of the roots, and the tools' settings.
        here: The platform of this machine.
    """

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
            problem = f"nothing is installed: run `{root.tool.command} init` or `locklens init`"
            self.searched.append(SearchedPlace(Where.INSTALLED, self._shown(data.packages), root.path, problem))
            step = f"run `{root.tool.command} init` or `locklens init`"
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
            if method.kind is MethodKind.FILESYSTEM:
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
