"""Which advisories concern what is inside a package, and what a newer package does to those of an older one.

Modules inside are matched by their Go versions, the replacement in place of what it replaces, as govulncheck does
(golang.org/x/vuln/internal/vulncheck). The provider itself is matched by the database's custom ranges alone: most
providers' releases are not Go versions, so that the ranges in Go's order are wrong for them in both directions.

What an advisory names is looked up in the function table of an executable. Its names are those of Go's linker: the
import path, with the dots of its last element and other special characters as `%2e`, then `.Function`, `.Type.Method`
or `.(*Type).Method`. An instantiated generic one has `[…]`; what the compiler makes out of a function has a suffix:
`.func1`, `.gowrap1`, `-fm`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.advisories import (
    STDLIB,
    TOOLCHAIN,
    AdvisoryDifferences,
    AdvisoryMatch,
    Linkage,
    PackageAdvisories,
    Unjudged,
    is_go_version,
    nearest_fix,
    range_of,
    toolchain_version,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.advisories import Advisory, AdvisoryDatabase, AffectedModule, VersionRange
    from locklens.executables import BuildInfo, Executable

_MADE_OF_IT = re.compile(r"(?:\[.*\])?(?:\.(?:func|gowrap|deferwrap)[0-9]+.*|-fm|-range[0-9]+.*)?\Z", re.DOTALL)
"""What may come after a function's own name: what it is instantiated with, and what the compiler made of it."""

_MOST_LOOKED_AT = 4096
"""The most names of one beginning: a function has a few closures, and only a forged table has many more."""


class FunctionTable:
    """The function table of an executable.

    Args:
        packages: The paths of all linked packages, as the linker writes them.
        main: The import path of the main package, whose functions are those of `main`.
    """

    def __init__(self, packages: Iterable[str], functions: Sequence[str], main: str = "") -> None:
        self._packages = frozenset(packages)
        self._functions = functions
        self._main = main

    def has_module(self, path: str) -> bool:
        """True if a package of a module is linked."""
        return self.has_package(path) or any(package.startswith(f"{path}/") for package in self._packages)

    def has_package(self, path: str) -> bool:
        """True if a package is linked."""
        return self._prefix(path) in self._packages

    def names_functions_of(self, path: str) -> bool:
        """True if it has the functions of a package; of the others it is known only whether they are linked."""
        return next(self._beginning_with(f"{self._prefix(path)}."), None) is not None

    def names_of(self, package: str, symbol: str) -> tuple[str, ...]:
        """Return the names that stand for a function or a method, `Type.Method`, as the database writes it."""
        prefix = self._prefix(package)
        receiver, dot, method = symbol.rpartition(".")
        found = list(self._made_of(f"{prefix}.{symbol}"))
        if dot:
            found += self._made_of(f"{prefix}.(*{receiver}).{method}")
            found += self._of_generic(f"{prefix}.{receiver}[", f"].{method}")
            found += self._of_generic(f"{prefix}.(*{receiver}[", f"]).{method}")
        return tuple(sorted(found))

    def _prefix(self, package: str) -> str:
        return "main" if package == self._main and package else linker_path(package)

    def _made_of(self, name: str) -> Iterator[str]:
        if next(self._beginning_with(name), None) == name:
            yield name
        for mark in "-.[":
            yield from (each for each in self._beginning_with(name + mark) if _MADE_OF_IT.match(each, len(name)))

    def _of_generic(self, beginning: str, method: str) -> Iterator[str]:
        for name in self._beginning_with(beginning):
            at = name.rfind(method)
            if at > 0 and _MADE_OF_IT.match(name, at + len(method)):
                yield name

    def _beginning_with(self, prefix: str) -> Iterator[str]:
        start = bisect_left(self._functions, prefix)
        for name in self._functions[start : start + _MOST_LOOKED_AT]:
            if not name.startswith(prefix):
                return
            yield name


def linker_path(package: str) -> str:
    """Return an import path as it is in the names of the linker (cmd/internal/objabi.PathToPrefix)."""
    head, slash, last = package.rpartition("/")
    return f"{_escaped(head)}{slash}{_escaped(last).replace('.', '%2e')}"


def _escaped(text: str) -> str:
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte not in b'%"' else f"%{byte:02x}" for byte in text.encode())


_MAJOR = re.compile(r"/v[0-9]+\Z")
_PUBLIC_HOSTS = frozenset({"registry.terraform.io", "registry.opentofu.org"})
"""The registries whose namespaces are those of GitHub."""

_WRITES_CODE = ("cmd/compile", "cmd/link", "cmd/cgo")
"""The commands of the toolchain whose defects can be in their output; the others only run during a build."""

_LINKAGES = {linkage: place for place, linkage in enumerate(Linkage)}


class Subject:
    """A package whose advisories are asked for.

    Args:
        executable: The provider's program; None where the package has none that could be read.
        provider: None where it is not known which one it is.
        version: The provider's version as it is locked; None where it is not known.
        platform: Such as "linux_amd64", as the publisher says it; "" for what the executable says.
        is_inspected: False where the package was not inspected, so that nothing is said about the modules inside.
    """

    def __init__(
        self,
        executable: Executable | None,
        *,
        provider: ProviderAddress | None = None,
        version: str | None = None,
        platform: str = "",
        is_inspected: bool = True,
    ) -> None:
        self.is_inspected = is_inspected
        self.build = executable.build if executable is not None else None
        self.unread = "the package has no program" if executable is None else executable.unread or "it says nothing"
        self.version = version
        self.own_paths = frozenset(_own_paths(self.build, provider))
        main = self.build.path if self.build is not None else ""
        settings = dict(self.build.settings) if self.build is not None else {}
        system, _, architecture = platform.partition("_")
        self.goos = system or settings.get("GOOS", "")
        self.goarch = architecture or settings.get("GOARCH", "")
        self.functions: FunctionTable | None = None
        if executable is not None and executable.packages is not None and executable.functions is not None:
            self.functions = FunctionTable(executable.packages, executable.functions, main)

    @property
    def platform(self) -> str:
        """The platform of the package, as the executable or the caller says."""
        return f"{self.goos}_{self.goarch}" if self.goos and self.goarch else "unknown platform"


def _own_paths(build: BuildInfo | None, provider: ProviderAddress | None) -> Iterator[str]:
    if provider is not None and provider.host in _PUBLIC_HOSTS:
        yield _family(f"github.com/{provider.namespace}/terraform-provider-{provider.type}")
    if build is not None and build.main is not None and build.main.path:
        yield _family(build.main.path)


def _family(module: str) -> str:
    """Return a module's path without its major version, in the case in which GitHub compares it."""
    return _MAJOR.sub("", module).casefold()


class AdvisoryMatcher:
    """Tells which advisories of a database concern a package."""

    def __init__(self, database: AdvisoryDatabase) -> None:
        self.database = database
        self._by_module: dict[str, dict[str, Advisory]] = {}
        self._by_family: dict[str, dict[str, Advisory]] = {}
        for advisory in database.advisories:
            for affected in advisory.affected:
                self._by_module.setdefault(affected.path, {})[advisory.id] = advisory
                self._by_family.setdefault(_family(affected.path), {})[advisory.id] = advisory

    def advisories_of(self, subject: Subject) -> PackageAdvisories:
        """Return the advisories that concern a package, and those that may or may not."""
        found = [*self._own(subject), *self._toolchain(subject), *self._modules(subject)]
        matches = (each for each in found if isinstance(each, AdvisoryMatch))
        return PackageAdvisories(
            tuple(sorted(matches, key=lambda each: (not each.is_own, _LINKAGES[each.linkage], each.id, each.module))),
            tuple(each for each in found if isinstance(each, Unjudged)),
        )

    def _own(self, subject: Subject) -> Iterator[AdvisoryMatch | Unjudged]:
        """Yield what concerns the provider itself: by custom ranges, and never by Go's versions."""
        for family in sorted(subject.own_paths):
            for advisory in self._by_family.get(family, {}).values():
                affected = [each for each in advisory.affected if _family(each.path) == family]
                path = affected[0].path
                ranges = [one for each in affected for one in each.custom_ranges or ()]
                if all(each.custom_ranges is None for each in affected):
                    why = "the database has only Go's versions of it, which are not those of its releases"
                    yield Unjudged(path, (advisory.id,), why, is_own=True)
                elif subject.version is None or not is_go_version(subject.version):
                    yield Unjudged(path, (advisory.id,), "the version of the provider is not known", is_own=True)
                elif any(each.custom_ranges == () for each in affected) or range_of(ranges, subject.version):
                    yield _match(subject, advisory, affected, path, subject.version, ranges, is_own=True)

    def _toolchain(self, subject: Subject) -> Iterator[AdvisoryMatch | Unjudged]:
        """Yield what concerns the standard library, and what a defective toolchain wrote."""
        if subject.build is None:
            return
        version = toolchain_version(subject.build.go)
        if version is None:
            why = f"{subject.build.go or 'its toolchain'} is no release of Go"
            yield Unjudged(STDLIB, tuple(self._by_module.get(STDLIB, ())), why)
            return
        yield from self._of_module(subject, STDLIB, version)
        for match in self._of_module(subject, TOOLCHAIN, version):
            advisory = self._by_module[TOOLCHAIN][match.id]
            packages = (each.path for one in advisory.affected if one.path == TOOLCHAIN for each in one.packages)
            if any(path.startswith(_WRITES_CODE) for path in packages) and match.linkage is not Linkage.OTHER_PLATFORM:
                yield replace(match, linkage=Linkage.NO_SYMBOLS, functions=())

    def _modules(self, subject: Subject) -> Iterator[AdvisoryMatch | Unjudged]:
        if not subject.is_inspected:
            return
        if subject.build is None:
            yield Unjudged("", (), f"the modules inside cannot be said: {subject.unread}")
            return
        for module in subject.build.modules:
            if _family(module.path) in subject.own_paths:
                continue
            inside = module.replaced_by or module
            ids = tuple(self._by_module.get(module.path, ()))
            if inside.path != module.path and ids:
                place = inside.path if inside.version else f"the folder {inside.path}"
                yield Unjudged(module.path, ids, f"it is replaced by {place}, whose versions are others")
            if inside.path in self._by_module:
                if is_go_version(inside.version):
                    yield from self._of_module(subject, inside.path, inside.version, required=module.path)
                else:
                    why = "the executable does not say its version"
                    yield Unjudged(inside.path, tuple(self._by_module[inside.path]), why)

    def _of_module(self, subject: Subject, path: str, version: str, required: str = "") -> Iterator[AdvisoryMatch]:
        """Yield the advisories of a module; `required` is the path by which its packages are imported."""
        for advisory in self._by_module.get(path, {}).values():
            affected = [each for each in advisory.affected if each.path == path and range_of(each.ranges, version)]
            if affected:
                ranges = [one for each in affected for one in each.ranges]
                yield _match(subject, advisory, affected, path, version, ranges, required=required or path)


def _match(
    subject: Subject,
    advisory: Advisory,
    affected: Sequence[AffectedModule],
    path: str,
    version: str,
    ranges: Sequence[VersionRange],
    *,
    required: str = "",
    is_own: bool = False,
) -> AdvisoryMatch:
    linkage, functions = _linkage(subject, affected, path, required or path)
    fixed = nearest_fix(ranges, version) if ranges else None
    if fixed is not None and version.startswith("v"):
        fixed = f"v{fixed.removeprefix('v')}"
    elif fixed is not None and path in (STDLIB, TOOLCHAIN):
        fixed = f"go{fixed}"
        version = f"go{version}"
    return AdvisoryMatch(
        advisory.id, advisory.aliases, advisory.summary, path, version, linkage, functions, fixed, is_own
    )


def _linkage(
    subject: Subject, affected: Sequence[AffectedModule], path: str, required: str
) -> tuple[Linkage, tuple[str, ...]]:
    """Return the linkage of what an advisory says about a module, and the functions that are linked."""
    packages = [each for one in affected for each in one.packages]
    here = [each for each in packages if _is_for(each.goos, subject.goos) and _is_for(each.goarch, subject.goarch)]
    if packages and not here:
        return Linkage.OTHER_PLATFORM, ()
    table = subject.functions
    if table is None:
        return (Linkage.UNKNOWN if here else Linkage.NO_SYMBOLS), ()
    names: set[str] = set()
    lacks_symbols = any(not one.packages for one in affected)
    lacks_functions = False
    for package in here:
        imported = required + package.path.removeprefix(path) if package.path.startswith(path) else package.path
        if not table.has_package(imported):
            continue
        if not package.symbols:
            lacks_symbols = True
        elif not table.names_functions_of(imported):
            lacks_functions = True
        for symbol in package.symbols:
            names.update(table.names_of(imported, symbol))
    if names:
        return Linkage.LINKED, tuple(sorted(names))
    if lacks_symbols:
        return Linkage.NO_SYMBOLS, ()
    if lacks_functions or not (table.has_package("runtime") if path == STDLIB else table.has_module(required)):
        return Linkage.UNKNOWN, ()
    return Linkage.NOT_LINKED, ()


def _is_for(names: Sequence[str], name: str) -> bool:
    return not names or not name or name in names


def compare_advisories(old: PackageAdvisories, new: PackageAdvisories) -> AdvisoryDifferences:
    """Return what a newer package does to the advisories of an older one.

    What one of them cannot say is neither introduced nor fixed.
    """
    before: dict[str, list[AdvisoryMatch]] = {}
    for match in old.matches:
        before.setdefault(match.id, []).append(match)
    unsure_before, unsure_after = _unsure(old), _unsure(new)
    introduced, both = [], []
    for match in new.matches:
        earlier = before.get(match.id, ())
        if any(each.counts or not match.counts for each in earlier):
            both.append(match)
        elif earlier or not unsure_before & _doubts(match):
            introduced.append(match)
    after = {match.id for match in new.matches}
    fixed = [match for match in old.matches if match.id not in after and not unsure_after & _doubts(match)]
    sides = (("older", old), ("newer", new))
    unknown = (f"of the {side} package: {each.words}" for side, one in sides for each in one.unjudged)
    return AdvisoryDifferences(tuple(introduced), tuple(fixed), tuple(both), tuple(dict.fromkeys(unknown)))


def _doubts(match: AdvisoryMatch) -> set[str]:
    """Return what `_unsure` has for a package for which an advisory is undecided."""
    return {match.id} if match.is_own else {match.id, ""}


def _unsure(one: PackageAdvisories) -> frozenset[str]:
    """Return the ids that are undecided for a package, and "" if all of the modules inside are."""
    ids = {name for each in one.unjudged for name in each.ids}
    return frozenset(ids | {"" for each in one.unjudged if not each.ids})
