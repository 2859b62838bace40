"""Packages on disk: installed in roots, in plugin caches and in mirrors, hashed within bounds."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.structs import replace

from locklens.doctor import FoundPackage
from locklens.errors import ConfigurationError, LockLensError, PackageError
from locklens.executables.headers import MOST_HEADERS, misfit
from locklens.hashes import forms_in_words, is_known_scheme, is_well_formed
from locklens.packages import LIMITS, read_directory
from locklens.packages.hashing import hash_package
from locklens.packages.installed import KEPT_ASIDE, hashed_folder, name_aside
from locklens.project.cliconfig import read_cli_config
from locklens.project.clifiles import implied_folders
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.project.tree import FileSystem
from locklens.sources.hosts import environment_tokens
from locklens.sources.mirrors import opened_zip, provider_packages
from locklens.storage.files import open_regular
from locklens.text import reason_of
from locklens.versions import precedence

if TYPE_CHECKING:
    import threading
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.versions import Version

MOST_HASHED = 12
"""The most packages that are hashed in one run: the largest takes seconds."""

_MOST_PLATFORMS = 32
"""The most folders of platforms that are looked at in one version's folder."""

_MOST_FILES = 1000
"""The most files whose times are read: a package has some ten."""

_PROGRAM = re.compile(r"terraform-provider-([a-z0-9-]+?)_v?[0-9]")
"""The beginning of the name of a provider's program, and of its zip file."""

_LEADS_OUT = "it is behind a link that leads out of the repository"


class Sources(Struct, frozen=True):
    """The places that the CLI configuration and the environment name.

    Attributes:
        cache: The plugin cache; "" for none.
        methods: Those of `provider_installation`, or the folders that the tools look into without such a block.
        registries: The URL of each host's provider registry that a `host` block names.
        has_installation: True if there is a provider_installation block.
        overridden: The providers that `dev_overrides` take from a folder.
        token_hosts: The hosts that tokens are set for; None where a credentials helper may know more.
    """

    cache: str = ""
    methods: tuple[InstallationMethod, ...] = ()
    registries: Mapping[str, str] = {}
    has_installation: bool = False
    overridden: frozenset[ProviderAddress] = frozenset()
    token_hosts: frozenset[str] | None = frozenset()

    def may_send_token(self, host: str) -> bool:
        """True if a host may get a token: a helper is not asked which hosts it knows."""
        return self.token_hosts is None or host in self.token_hosts

    def of_provider(self, address: ProviderAddress | None) -> Sources:
        """Return the places for one provider; without a block, registries are asked for what no folder has."""
        if address is None:
            return self
        methods = tuple(one for one in self.methods if one.accepts(address))
        if not self.has_installation and any(_has_packages(one, address) for one in methods):
            methods = tuple(one for one in methods if one.kind is not MethodKind.DIRECT)
        return replace(self, methods=methods)

    @property
    def mirrors(self) -> tuple[str, ...]:
        """Folders of filesystem mirrors, explicit and implied."""
        return tuple(one.place for one in self.methods if one.kind.is_on_disk)

    @property
    def servers(self) -> tuple[InstallationMethod, ...]:
        """Mirrors on servers, those of one kind together."""
        return tuple(one for kind in MethodKind if kind.served for one in self.methods if one.kind is kind)

    @property
    def has_direct(self) -> bool:
        """True if registries are asked, as far as the configuration tells."""
        return any(one.kind is MethodKind.DIRECT for one in self.methods)


def _has_packages(method: InstallationMethod, address: ProviderAddress) -> bool:
    """True if a folder has packages of a provider."""
    try:
        return method.kind.is_on_disk and any(True for _ in provider_packages(Path(method.place), address))
    except OSError:
        return False


def configured_sources(dialect: Dialect, environ: Mapping[str, str], root: Path) -> Sources:
    """Return the places of this machine's configuration; what cannot be used is left out, as the tools do."""
    config = read_cli_config(dialect, environ)
    services = {host: services.get("providers.v1") for host, services in config.services.items()}
    registries = {host: urljoin(f"https://{host}/", url) for host, url in services.items() if url}
    tokens = None if config.helper is not None else frozenset({*config.credentials, *environment_tokens(environ)})
    if config.installation is None:
        implied = (str(folder) for folder in implied_folders(dialect, environ, root))
        folders = tuple(InstallationMethod(MethodKind.FILESYSTEM, folder) for folder in implied)
        methods = (*folders, InstallationMethod(MethodKind.DIRECT))
    else:
        methods = config.installation.methods
    has_installation = config.installation is not None
    overrides = config.installation.dev_overrides if config.installation is not None else ()
    overridden = dialect.parse_sources(provider for provider, _ in overrides)
    return Sources(config.plugin_cache_dir, methods, registries, has_installation, overridden, tokens)


class PackageFinder:
    """Finds copies of packages, and hashes each once; paths below the current `folder` are shown relative to it."""

    def __init__(self, folder: Path, cancel: threading.Event | None) -> None:
        self._folder = folder
        self._files = FileSystem(folder)
        self._cancel = cancel
        self._left = MOST_HASHED
        self._known: dict[str, FoundPackage] = {}
        self.is_cut = False
        """True if there were more packages than are hashed."""

    def given(self, text: str, platform: str) -> FoundPackage | None:
        """Return the package that was handed in: a hash, a folder or a zip file; None for one that was moved aside.

        Raises:
            ConfigurationError: It is none of them, or cannot be hashed.
        """
        if is_known_scheme(text):
            if not is_well_formed(text):
                hint = forms_in_words()
                raise ConfigurationError(f"--package {text[:60]}: not a hash", hint=hint)
            return FoundPackage("given", "the given hash", platform, frozenset({text}))
        place = self._folder / text
        if not place.exists() and os.path.lexists(f"{place}{KEPT_ASIDE}"):
            return None
        if not place.exists():
            hint = "name a folder, a zip file, or a hash such as h1:..."
            raise ConfigurationError("no such package", path=text, hint=hint)
        of = platform or _platform_in(place.name)
        found = self._hashed(place, FoundPackage("given", text, of, types=_types_named(place)))
        if found.problem:
            raise ConfigurationError(f"cannot be hashed: {found.problem}", path=text)
        return found

    def copies(
        self, kind: str, top: str, address: ProviderAddress, version: str, *, shown: str = ""
    ) -> Iterator[FoundPackage]:
        """Yield the packages of a version below a folder, as a tool finds them there: zip files in mirrors alone.

        A mirror may lie in a repository, whose links lead nowhere else. What is installed in a root, and what is in a
        plugin cache, is a link to wherever the user's own cache is. `kind` is that of `FoundPackage`; `shown` is the
        folder as reports show it, "" for its path.
        """
        folder, shown = self._folder / top, shown or self.shown(top)
        real, number = os.path.realpath(folder), 0
        try:
            for one in provider_packages(folder, address):
                if str(one.version) != version or (not one.is_folder and kind != "mirror"):
                    continue
                number += 1
                if number > _MOST_PLATFORMS:
                    self.is_cut = True
                    return
                below = os.path.relpath(one.path, real)
                place = folder / below
                found = FoundPackage(kind, f"{shown}/{below}".replace(os.sep, "/"), str(one.platform))
                if kind == "mirror" and self._files.leads_out(os.fspath(place)):
                    found = replace(found, problem=_LEADS_OUT)
                else:
                    found = self.once(place, found)
                found = replace(found, aside=name_aside(os.fspath(place)).removeprefix(os.fspath(place)))
                link = os.path.realpath(place) if place.is_symlink() else ""
                where = {"place": os.fspath(place), "base": os.fspath(folder), "link": link}
                yield replace(found, **where, later=_changed_later(place)) if one.is_folder else found
        except OSError as error:
            yield FoundPackage(kind, shown, problem=f"it cannot be searched: {reason_of(error)}")

    def versions(self, tops: Iterable[str], address: ProviderAddress) -> dict[str, tuple[Version, ...]]:
        """Return the versions of a provider in folders of mirrors, without those that cannot be searched."""
        found = {}
        for top in tops:
            with suppress(OSError):
                those = {one.version for one in provider_packages(self._folder / top, address)}
                found[top] = tuple(sorted(those, key=precedence))
        return found

    def shown(self, path: str) -> str:
        """Return a path relative to the current folder where it is below it."""
        below = os.path.relpath(self._folder / path, self._folder)
        return path if below.startswith("..") else below.replace(os.sep, "/")

    def once(self, place: Path, found: FoundPackage) -> FoundPackage:
        """Return a package with its hashes, which are computed once for each place on disk."""
        key = os.path.realpath(place)
        known = self._known.get(key)
        if known is None and self._left <= 0:
            self.is_cut = True
            return replace(found, is_left=True)
        if known is None:
            self._left -= 1
            known = self._known[key] = self._hashed(place, found)
        facts = {name: getattr(known, name) for name in ("hashes", "problem", "is_damaged", "misfit", "lacks_program")}
        return replace(found, **facts)

    def _hashed(self, place: Path, found: FoundPackage) -> FoundPackage:
        try:
            if place.is_dir():
                hashes = hashed_folder(place, cancel=self._cancel).hashes
                misfit, lacks_program = _misfit(place, found.platform), not _has_program(place)
                return replace(found, hashes=hashes, misfit=misfit, lacks_program=lacks_program)
            with opened_zip(place) as transfer:
                return replace(found, hashes=hash_package(transfer.chunks, cancel=self._cancel).hashes)
        except OSError as error:
            return replace(found, problem=reason_of(error))
        except (LockLensError, ValueError) as error:
            return replace(found, problem=str(error), is_damaged=isinstance(error, PackageError))


def _has_program(folder: Path) -> bool:
    """True if a folder has a file that the tools would start, by its name, or more files than are looked at."""
    names = [one.name for one in islice(folder.iterdir(), _MOST_FILES)]
    return len(names) == _MOST_FILES or any(name.startswith(_PROGRAM_NAME) for name in names)


_PROGRAM_NAME = "terraform-provider-"
"""The beginning of the name of each provider's program."""


def _misfit(folder: Path, platform: str) -> str:
    """Return what the program in a package's folder is, if its headers tell that it is not of the platform; else ""."""
    names = sorted(one.name for one in islice(folder.iterdir(), _MOST_FILES) if _PROGRAM.match(one.name))
    if not names or not platform:
        return ""
    with open_regular(folder / names[0]) as file:
        return misfit(file.read(MOST_HEADERS), platform)


_LATER_SECONDS = 600
"""No process takes longer to write one package's files, once its folder is made."""


def _changed_later(folder: Path) -> tuple[str, ...]:
    """Return the files of a package that are newer than the folder that it was put into: they changed since."""
    if os.path.realpath(folder) != os.path.abspath(folder):  # noqa: PTH100
        return ()  # Behind a link there may be anything, and the names of its files are not part of a report.
    try:
        made = folder.parent.stat().st_mtime
        files = sorted(os.scandir(folder), key=lambda one: one.name)[:_MOST_FILES]
        times = {one.name: one.stat(follow_symlinks=False).st_mtime for one in files}
    except OSError:
        return ()
    return tuple(name for name, changed in times.items() if changed > made + _LATER_SECONDS)


def of_provider(
    given: FoundPackage, addresses: Collection[ProviderAddress], locking: Collection[ProviderAddress]
) -> ProviderAddress | None:
    """Return the provider that a package which was handed in is of; None where nothing tells it.

    `addresses` are those that are examined, `locking` those whose entries have a hash of the package, in any lock file
    here or commit of an examined one.
    """
    in_path = [one for one in addresses if f"{one}/" in given.path.replace(os.sep, "/")]
    of_names = [one for one in addresses if one.type in given.types]
    known = (locking, in_path, of_names, () if given.types else addresses)
    first = next(filter(None, known), ())
    return next(iter(first)) if len(first) == 1 else None


def linked(found: Sequence[FoundPackage]) -> list[FoundPackage]:
    """Return the copies, with the folder of the plugin cache for each installed one that is a link to it."""
    cached = {os.path.realpath(one.place): one.path for one in found if one.kind == "plugin-cache"}
    return [
        replace(one, cached=cached.get(os.path.realpath(one.place), ""))
        if one.place and one.kind == "installed"
        else one
        for one in found
    ]


def _types_named(place: Path) -> frozenset[str]:
    """Return the types of providers that the names of a package and of its files have."""
    names = [place.name]
    with suppress(OSError, PackageError):
        if place.is_dir():
            names += (one.name for one in islice(place.iterdir(), _MOST_FILES))
        else:
            with open_regular(place) as file:
                entries = read_directory(file, os.fstat(file.fileno()).st_size, LIMITS)
                names += (entry.name.decode(errors="replace") for entry in entries)
    return frozenset(found[1] for found in map(_PROGRAM.match, names) if found is not None)


def _platform_in(name: str) -> str:
    """Return the OS_ARCH at the end of a name; "" without one."""
    words = name.removesuffix(".zip").split("_")
    text = "_".join(words[-2:])
    from locklens.addresses import Platform

    try:
        return str(Platform.parse(text))
    except ValueError:
        return ""
