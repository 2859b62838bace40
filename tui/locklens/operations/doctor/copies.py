"""The copies of a locked package on this machine: where a run may have got it, by its settings, the log and the user.

How a folder is searched and hashed is in `places`.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import TERRAFORM
from locklens.doctor import FoundPackage, InstalledPlace, holding
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.model import PackagePath
from locklens.doctor.places import Places
from locklens.doctor.redacting import redacted
from locklens.errors import LockLensError
from locklens.operations.doctor.places import PackageFinder, configured_sources, linked
from locklens.packages.installed import KEPT_ASIDE, differing_files
from locklens.project.clifiles import this_platform
from locklens.project.installation import MethodKind
from locklens.project.module_sources import ManifestError, read_manifest
from locklens.project.tree import MAX_FILE_BYTES
from locklens.storage.files import is_within, read_bounded

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator

    from locklens.doctor.messages import RecognisedError
    from locklens.lockfile import LockEntry
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.checkout import Checkout
    from locklens.operations.doctor.places import Sources
    from locklens.operations.doctor.subjects import DoctorSubject

OF_FOLDERS = frozenset({"cached-package", "cached-modified"})
"""Errors about the installed folder of one root, whatever others have the same entry."""

_OF_PATHS = frozenset({"cached-modified", "package-damaged"})
"""Errors whose message names the folder or the file of a package."""

_DATA = ".terraform"
"""The data folder of a root, where TF_DATA_DIR names no other."""

_DATA_OF_PLACE = re.compile(r"(?P<data>.+?)/providers(?:(?:/[^/]+){5,6})?$")
"""The data folder in the path of what is installed there: of all packages, of one, or of its program."""

_ADDRESS_PARTS = 5
"""Folders below that of all packages: host, namespace, type, version and platform."""


class CopyFinder:
    """Finds the copies of a locked package; hashes each once.

    `is_relayed` is true if the log may be of another machine, since another program printed it.
    """

    def __init__(
        self, request: DoctorRequest, checkout: Checkout, cancel: threading.Event | None, *, is_relayed: bool
    ) -> None:
        self._request = request
        self._checkout = checkout
        self._finder = PackageFinder(request.folder, cancel)
        self._is_relayed = is_relayed

    @property
    def is_cut(self) -> bool:
        """True if there were more copies of packages than are hashed."""
        return self._finder.is_cut

    def sources(self, one: DoctorSubject | None) -> Sources:
        """Return the places that packages come from, by the user's words and the settings of the root's tool."""
        tool, path = (one.root.tool, one.root.path) if one is not None else (TERRAFORM, "")
        found = configured_sources(tool, self._request.environ, self._checkout.top / path)
        return replace(found, cache=self._request.cache) if self._request.cache else found

    def given(self, platform: str) -> FoundPackage | None:
        """Return the package that was handed in; None without one.

        Raises:
            ConfigurationError: It cannot be hashed.
        """
        return self._finder.given(self._request.package, platform) if self._request.package else None

    def installed(self, root: str, error: RecognisedError | None = None) -> InstalledPlace:
        """Return where the packages of a root are: in the data folder that an error names, or by the settings."""
        own, named = self._request.environ.get("TF_DATA_DIR") or _DATA, _named_data(error)
        folder = self._checkout.top / root
        setting = named if named and (folder / named).resolve() != (folder / own).resolve() else ""
        data = setting or own
        place, is_alone = folder / data / "providers", _is_absolute(data)
        shown = f"{data if is_alone else f'{self._checkout.shown(root)}/{data}'}/providers"
        shown = os.path.normpath(shown).replace(os.sep, "/")
        base = str(place) if data != _DATA else str(self._checkout.top)
        is_there = place.is_dir()
        is_of_run = error is None or not self._is_relayed  # a fix may have made the folder that the log names
        return InstalledPlace(str(place), shown, base, is_there, setting, is_of_run=is_of_run)

    def _with_modules(self, installed: InstalledPlace, one: DoctorSubject) -> InstalledPlace:
        """Return the folder with what is known of the modules beside it, which init installs as it does packages."""
        configuration, below = one.root.configuration, "modules/modules.json"
        place = Path(installed.place).parent / below
        listed = {}
        with suppress(LockLensError, ManifestError):  # what cannot be read lists nothing: the tools fail then, too
            listed = read_manifest(read_bounded(place, MAX_FILE_BYTES), one.root.tool)
        lacking = [each.call for each in configuration.missing_modules if each.is_fetchable]
        lacking += [
            key for key, text in configuration.local_calls if key not in listed or text not in {"", listed[key].source}
        ]
        has_call = any(key.rpartition(".")[2] == one.message.call for key in listed)
        return replace(
            installed,
            modules=f"{installed.shown.removesuffix('providers')}{below}",
            has_new_call=has_call and self.is_made_later(place),
            lacking=tuple(sorted(lacking)),
        )

    def installed_in(self, root: str, entry: LockEntry, error: RecognisedError | None = None) -> Iterator[FoundPackage]:
        """Yield the installed packages of a root's entry."""
        return self._in_data(self.installed(root, error), entry)

    def _in_data(self, data: InstalledPlace, entry: LockEntry) -> Iterator[FoundPackage]:
        return self._finder.copies("installed", data.place, entry.address, str(entry.version), shown=data.shown)

    def has_moved_installed(self, root: str, entry: LockEntry, error: RecognisedError | None) -> bool:
        """True if an installed package of a root's entry was moved aside later than the log."""
        return self._kept_aside(Path(self.installed(root, error).place, _below(entry))) != ""

    def _moved(self, one: DoctorSubject, sources: Sources) -> FoundPackage | None:
        """Return the package that a fix has moved aside, by the path that it had; None without one."""
        if one.entry is None:
            return None
        below, request, shown_at = _below(one.entry), self._request, self._finder.shown
        installed = self.installed(one.root.path, one.error)
        mirrors = (*self._mirrors(one), *sources.of_provider(one.entry.address).mirrors)
        places = [("installed", installed.place, installed.shown)]
        places += [("plugin-cache", top, shown_at(top)) for top in _caches(one, sources)]
        places += [("mirror", top, shown_at(top)) for top in mirrors]
        for kind, top, shown in places:
            folder = request.folder / top / below
            if name := self._kept_aside(folder):
                platform = name.partition(KEPT_ASIDE)[0]
                is_given = request.package != "" and request.folder / request.package == folder / platform
                is_of_run = is_given or top in (request.cache, *request.mirrors)
                found = FoundPackage(kind, f"{shown}/{below}/{platform}", platform, is_of_run=is_of_run)
                return self._finder.once(folder / name, found)
        return None

    def _kept_aside(self, folder: Path) -> str:
        """Return the name of a package in a version's folder that was moved aside later than the log; else ""."""
        try:
            found = sorted(each.name for each in os.scandir(folder) if KEPT_ASIDE in each.name)
        except (OSError, ValueError):
            return ""
        return next((name for name in found if self.is_later(folder / name)), "")

    def is_later(self, place: Path | str) -> bool:
        """True if a folder or file was made, moved or changed later than the log, whose time is known."""
        return self._is_after_log(lambda: (self._checkout.top / place).stat().st_ctime)

    def is_made_later(self, place: Path | str) -> bool:
        """True if a folder, a link to one, or a file was made later than the log, and not copied as it was before.

        A copy, such as a folder that a CI system restored, may keep the time of what the failing run had.
        """

        def made() -> float:
            stat = (self._checkout.top / place).lstat()
            return min(stat.st_ctime, stat.st_mtime)

        return self._is_after_log(made)

    def _is_after_log(self, time: Callable[[], float]) -> bool:
        try:
            changed = datetime.fromtimestamp(time(), UTC).isoformat(timespec="microseconds")
        except (OSError, ValueError):
            return False
        return self._request.logged != "" and changed >= self._request.logged

    def here(self, subject: DoctorSubject, places: Iterable[str]) -> dict[str, Path]:
        """Return the places of a log, which may be relative to its root, that are on this machine."""
        found = {}
        for one in places:
            place = self._checkout.top / subject.root.path / one
            with suppress(OSError, ValueError):
                if _is_local(one) and place.exists():
                    found[one] = place
        return found

    def _mirrors(self, one: DoctorSubject) -> tuple[str, ...]:
        """Return the folders of mirrors that the user names, and those here that the log names as searched."""
        folders = self.here(one, one.message.search_folders)
        return tuple(dict.fromkeys((*self._request.mirrors, *map(str, folders.values()))))

    def places(self, one: DoctorSubject, sources: Sources, given: FoundPackage | None) -> Places:
        """Return the places of a provider's packages in a root, and the copies there.

        `sources` are those of the root; `given` is the package that was handed in, if it is of the provider.
        """
        address, method = one.address, one.message.method
        known, mirrors = sources.of_provider(address), self._mirrors(one)
        is_searched = method is None and (known.has_installation or not known.has_direct)
        mirrors = (*mirrors, *known.mirrors) if is_searched else mirrors
        return Places(
            self._packages(one, known, given),
            self._with_modules(self.installed(one.root.path, one.error), one),
            self._moved(one, sources),
            mirrors,
            self._finder.versions(mirrors, address) if address is not None else {},
            known.servers if method is None else (),
            machine=this_platform(),
            registry_url=known.registries.get(address.host, "") if address is not None else "",
            asks_registry=known.has_direct if method is None else method is MethodKind.DIRECT,
            has_source=bool(sources.methods) or method is not None,
            is_overridden=address in known.overridden,
            may_send_token=address is None or known.may_send_token(address.host),
        )

    def _packages(self, one: DoctorSubject, sources: Sources, given: FoundPackage | None) -> tuple[FoundPackage, ...]:
        """Return the copies of the locked package on this machine, and the one that was handed in."""
        found = self._found(one, one.entry, sources) if one.entry is not None else []
        if given is not None:
            # Without a log, one that was found here already counts once.
            place = os.path.realpath(self._request.folder / given.path)
            is_found = any(each.place and os.path.realpath(each.place) == place for each in found)
            found = found if is_found and one.error is None else [replace(given, is_of_run=True), *found]
        return self._compared(tuple(found), one.entry) if one.entry is not None else tuple(found)

    def _found(self, one: DoctorSubject, entry: LockEntry, sources: Sources) -> list[FoundPackage]:
        """Return the copies of the locked package: the root's own first."""
        found, own = list[FoundPackage](), self.installed(one.root.path, one.error)
        others = (self.installed(path, error) for error in (one.error, None) for path in self._checkout.locks)
        for data in dict.fromkeys((own, *others)):
            found += [
                replace(package, is_of_root=data == own, base=data.base) for package in self._in_data(data, entry)
            ]

        def copies(kind: str, top: str) -> list[FoundPackage]:
            return list(self._finder.copies(kind, top, entry.address, str(entry.version)))

        for cache in dict.fromkeys(_caches(one, sources)):
            is_of_run = cache == self._request.cache
            found = linked([*found, *(replace(each, is_of_run=is_of_run) for each in copies("plugin-cache", cache))])
        mirrors = self._mirrors(one)
        found += [replace(each, is_of_run=True) for mirror in mirrors for each in copies("mirror", mirror)]
        platform, behind = self._request.platform or this_platform(), None
        for method in sources.methods:
            if not method.kind.is_on_disk:
                behind = behind if behind is not None and method.kind is MethodKind.DIRECT else method.kind
            elif method.place not in mirrors and one.message.method is None:
                there = copies("mirror", method.place)
                found += [replace(each, behind=behind) for each in there]
                behind = method.kind if any(each.platform == platform for each in there) else behind
        found = [replace(each, is_of_run=True) if self._is_named(each, one.message) else each for each in found]
        found = [replace(each, is_new=self.is_new(each)) for each in found]
        return [replace(each, base=self._bound(each.base)) if each.base else each for each in found]

    def is_new(self, one: FoundPackage) -> bool:
        """True if a copy came to its place later than the log; an installed one, if the tool made it then."""
        place = one.place or self._request.folder / one.path
        return self.is_made_later(place) if one.kind == "installed" else self.is_later(place)

    def _is_named(self, one: FoundPackage, error: RecognisedError) -> bool:
        """True if a message names the path of a copy."""
        if error.kind not in _OF_PATHS or one.kind == "installed":
            return False
        return redacted(os.path.normpath(self._request.folder / one.path)) in error.text

    def _bound(self, base: str) -> str:
        """Return the folder that a place must not lead out of: the top for all below it, which others may have made."""
        top = os.path.realpath(self._checkout.top)
        return top if is_within(top, os.path.normpath(base)) else base

    def _compared(self, packages: tuple[FoundPackage, ...], entry: LockEntry) -> tuple[FoundPackage, ...]:
        """Add the differing files to copies that the lock file does not accept, where another copy is accepted."""
        twins = {one.platform: one for one in reversed(holding(packages, entry)) if not one.zh}

        def compared(one: FoundPackage) -> FoundPackage:
            twin = twins.get(one.platform)
            is_folder = one.hashes and not one.zh and one.path != "the given hash"
            if twin is None or not is_folder or one.hashes & entry.accepted:
                return one
            return replace(one, differing=differing_files(*(self._request.folder / each.path for each in (one, twin))))

        return tuple(map(compared, packages))


def _below(entry: LockEntry) -> str:
    """Return the folder of a locked version below that of all packages."""
    return f"{entry.address}/{entry.version}"


def _caches(one: DoctorSubject, sources: Sources) -> list[str]:
    """Return the plugin caches of the settings and of the message."""
    return [*filter(None, (sources.cache, _named_cache(one.message)))]


def is_of_cache(error: RecognisedError, cache: str) -> bool:
    """True if the folder that differs from what OpenTofu fetched is in a plugin cache, and not in a root's data folder.

    That is `.terraform/providers`, or `providers` in another folder, unless the settings here name it as their cache.
    """
    place = error.place.replace("\\", "/")
    if error.kind != "cached-modified" or place.count("/") < _ADDRESS_PARTS:
        return False
    top = place.rsplit("/", _ADDRESS_PARTS)[0]
    return top.rpartition("/")[2] != "providers" or (cache != "" and top == redacted(os.path.normpath(cache)))


def _named_cache(error: RecognisedError) -> str:
    """Return the plugin cache on this machine that a message names; "" without one."""
    if not is_of_cache(error, "") or not is_absolute(error.place):
        return ""
    top = error.place.rsplit("/", _ADDRESS_PARTS)[0]
    return top if Path(top).is_dir() else ""


def _named_data(error: RecognisedError | None) -> str:
    """Return the data folder that an error about an installed package names, as TF_DATA_DIR has it; "" for none.

    What OpenTofu calls a cached package by its whole path may be in a plugin cache.
    """
    row = BY_KIND.get(error.kind) if error is not None else None
    if error is None or row is None or row.path is not PackagePath.INSTALLED or not _is_local(error.place):
        return ""
    match = _DATA_OF_PLACE.match(error.place.replace("\\", "/"))
    is_cache = match is not None and error.kind == "cached-modified" and _is_absolute(match["data"])
    return match["data"] if match is not None and not is_cache else ""


def _is_absolute(place: str) -> bool:
    """True for an absolute path of any system."""
    return PureWindowsPath(place).anchor != ""


def _is_local(place: str) -> bool:
    """True for a place of a log that may be looked at: //host/share, say, would be asked for over a network."""
    return place != "" and not place.startswith("~") and not place.replace("\\", "/").startswith("//")


def is_absolute(place: str) -> bool:
    """True for the absolute path of a place that may be looked at."""
    return _is_local(place) and os.path.isabs(place)  # noqa: PTH117
