"""What is inside packages: what was found, what differs between two of one provider, and advisories about a change."""

from __future__ import annotations

import enum
import re

from msgspec import Struct
from msgspec.structs import replace

from locklens.advisories import AdvisoryDatabase, AdvisoryDifferences, AdvisoryMatch, PackageAdvisories, Unjudged
from locklens.advisories.matching import compare_advisories
from locklens.executables import module_key, notable_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locklens.addresses import Platform, ProviderAddress
    from locklens.executables import BuildInfo, Executable, GoModule
    from locklens.packages.inspecting import PackageFacts
    from locklens.policy.model import IgnoredAdvisory
    from locklens.versions import Version


class InspectedPackage(Struct, frozen=True):
    """A package that was inspected, or that could not be; without address, version and platform, its file was named.

    Attributes:
        source: Where it comes from, for a person: a registry, a path, the cache; "" where it was not found.
        problem: Why there are none, a clause; "" where there are some.
        state: What tells it from another package of the same version; "" where there is none.
    """

    address: ProviderAddress | None
    version: Version | None
    platform: Platform | None
    source: str
    facts: PackageFacts | None = None
    problem: str = ""
    state: str = ""

    @property
    def name(self) -> str:
        """Its version, or the place that it was read from."""
        if self.version is None:
            return self.source
        return f"{self.version} ({self.state})" if self.state else str(self.version)


class Inspection(Struct, frozen=True):
    """Packages of one provider: of one version, or of an older and a newer one.

    Attributes:
        packages: Those of each side, the older side first; of each side the platform of this machine first.
        at: The time of the run, ISO 8601 in UTC.
        notes: What could not be inspected, as sentences without a full stop.
        advisories: Those of the packages that are compared, or of the only one; None where no database is kept.
    """

    packages: tuple[tuple[InspectedPackage, ...], ...]
    at: str
    is_offline: bool = False
    notes: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    advisories: ChangeAdvisories | None = None

    @property
    def pairs(self) -> tuple[tuple[InspectedPackage, InspectedPackage], ...]:
        """The older and the newer package of each platform that both sides have; () where there is one side."""
        if len(self.packages) < 2:
            return ()
        old, new = self.packages
        by_platform = {package.platform: package for package in old}
        return tuple((by_platform[one.platform], one) for one in new if one.platform in by_platform)

    @property
    def differences(self) -> PackageDifferences | None:
        """What differs in the first pair whose packages were both inspected."""
        for old, new in self.pairs:
            if old.facts is not None and new.facts is not None:
                return compare_packages(old.facts, new.facts)
        return None

    @property
    def compared(self) -> tuple[InspectedPackage, InspectedPackage] | None:
        """The first pair whose packages were both inspected."""
        return next((pair for pair in self.pairs if None not in (pair[0].facts, pair[1].facts)), None)

    @property
    def judged(self) -> InspectedPackage | None:
        """The package whose advisories are known: the newer one of what is compared, or else the first of its side."""
        if self.compared is not None:
            return self.compared[1]
        return next((one for side in reversed(self.packages) for one in side if one.facts is not None), None)

    @property
    def address(self) -> ProviderAddress | None:
        """The provider; None for files and folders that were named."""
        return next((package.address for side in self.packages for package in side), None)

    @property
    def type_name(self) -> str:
        """The provider's type, such as "aws"; "package" for files and folders that were named."""
        return "package" if self.address is None else self.address.type

    @property
    def has_failed(self) -> bool:
        """True if a package could not be inspected."""
        return any(package.problem for side in self.packages for package in side)


class Inspections(Struct, frozen=True):
    """What is inside the packages of several providers, in the order in which they were named."""

    of_providers: tuple[Inspection, ...]

    @property
    def shared(self) -> dict[ModuleDifference, tuple[str, ...]]:
        """The differences of modules that several providers have, each with the names of these providers."""
        found: dict[ModuleDifference, list[str]] = {}
        for one in self.of_providers:
            for difference in one.differences.modules if one.differences is not None else ():
                found.setdefault(difference, []).append(one.type_name)
        order = list(ModuleChange)
        several = [(one, tuple(names)) for one, names in found.items() if len(names) > 1]
        return dict(sorted(several, key=lambda each: (order.index(each[0].kind), each[0].path)))


def each_of(found: Inspection | Inspections) -> tuple[Inspection, ...]:
    """Return the inspections of one or of several providers."""
    return found.of_providers if isinstance(found, Inspections) else (found,)


class ModuleChange(enum.Enum):
    """How a module differs, the rarest first.

    REPLACED is another module in its place than before, or another content whose versions have no order.
    """

    REPLACED = "replaced"
    NEW = "new"
    DOWN = "down"
    GONE = "gone"
    UP = "up"


class ModuleDifference(Struct, frozen=True):
    """A module that two executables do not have in common; None on the side that does not have it.

    Attributes:
        path: Of the module that is required, whatever replaces it.
    """

    path: str
    kind: ModuleChange
    old: GoModule | None
    new: GoModule | None


class ValueDifference(Struct, frozen=True):
    """A named value that differs; None where there is none."""

    name: str
    old: str | None
    new: str | None


class PackedFileDifference(Struct, frozen=True):
    """A file that differs, with its size in the older and in the newer package; None where there is no such file."""

    name: str
    old: int | None
    new: int | None

    @property
    def state(self) -> str:
        """The word for it: "added", "removed" or "changed"."""
        if self.old is None:
            return "added"
        return "removed" if self.new is None else "changed"


class TextDifference(Struct, frozen=True):
    """A text for readers that differs; each side is None where there is no such text, and whole or its beginning."""

    name: str
    old: str | None
    new: str | None


class PackageDifferences(Struct, frozen=True):
    """What differs between an older and a newer package of one provider; settings, files and texts by name.

    Where both packages have a program, it is not among the files: it always differs.

    Attributes:
        toolchain: None where both were built with the same one, or where that cannot be said: see `unknown`.
        modules: In the order of `ModuleChange`, then by path.
        notable_new: Names of `locklens.executables.NOTABLE` that only the newer executable links.
        notable_gone: Names that only the older executable links.
        size: Bytes of the files of both packages.
        unknown: What could not be compared and why, as sentences without a full stop.
    """

    toolchain: ValueDifference | None
    settings: tuple[ValueDifference, ...]
    modules: tuple[ModuleDifference, ...]
    notable_new: tuple[str, ...]
    notable_gone: tuple[str, ...]
    size: tuple[int, int]
    files: tuple[PackedFileDifference, ...]
    texts: tuple[TextDifference, ...]
    unknown: tuple[str, ...] = ()


def compare_packages(old: PackageFacts, new: PackageFacts) -> PackageDifferences:
    """Compare two packages; what one of them does not say is in `unknown`, and is no difference."""
    unknown = [words for side, facts in (("old", old), ("new", new)) for words in _unknown(side, facts)]
    old_build, new_build = _build(old), _build(new)
    toolchain: ValueDifference | None = None
    settings: tuple[ValueDifference, ...] = ()
    modules: tuple[ModuleDifference, ...] = ()
    if old_build is not None and new_build is not None:
        if old_build.go != new_build.go:
            toolchain = ValueDifference("go", old_build.go, new_build.go)
        settings = _values(settings_of(old_build), settings_of(new_build))
        modules = _modules(old_build, new_build)
    appeared, gone = _notable(old.executable, new.executable)
    return PackageDifferences(
        toolchain,
        settings,
        modules,
        appeared,
        gone,
        (old.size, new.size),
        _files(old, new),
        _texts(old, new),
        tuple(unknown),
    )


def _unknown(side: str, facts: PackageFacts) -> Iterator[str]:
    if facts.executable is None:
        yield f"the {side} package has no file with the name of a provider's program"
    elif facts.executable.unread is not None:
        yield f"of the {side} program it cannot be said in full how it was built: {facts.executable.unread}"
    if facts.bounded is not None:
        yield f"of the {side} package not all was read: {facts.bounded}"


def _build(facts: PackageFacts) -> BuildInfo | None:
    return None if facts.executable is None else facts.executable.build


def settings_of(build: BuildInfo) -> dict[str, str]:
    """Return the build settings by name, and each value that `-ldflags` sets with `-X` under a name of its own."""
    settings = dict(build.settings)
    if "-ldflags" in settings:
        words, values = _linker_flags(settings.pop("-ldflags"))
        settings |= {"-ldflags": " ".join(words)} if words else {}
        settings |= {f"-X {name}": value for name, value in values}
    return {name: settings[name] for name in sorted(settings, key=lambda name: (_rank(name), name))}


_FIRST = ("CGO_ENABLED", "-ldflags", "-X ", "-", "vcs")


def _rank(name: str) -> int:
    return next((rank for rank, start in enumerate(_FIRST) if name.startswith(start)), len(_FIRST))


def _linker_flags(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Divide the linker's flags into those that set a variable and all others.

    Flags in quotes are one word, as `cmd/internal/quoted` reads them.
    """
    found = (next(filter(None, words), "") for words in _WORD.findall(text))
    others: list[str] = []
    values: list[tuple[str, str]] = []
    for word in found:
        assignment = next(found, "") if word in {"-X", "--X"} else word.removeprefix("-X=")
        if assignment is word:
            others.append(word)
        else:
            name, _, value = assignment.partition("=")
            values.append((name, value))
    return others, values


_WORD = re.compile(r"'([^']*)'|\"([^\"]*)\"|([^\s'\"]\S*)")


def _values(old: dict[str, str], new: dict[str, str]) -> tuple[ValueDifference, ...]:
    return tuple(
        ValueDifference(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys(), key=lambda name: (_rank(name), name))
        if old.get(name) != new.get(name)
    )


def _modules(old: BuildInfo, new: BuildInfo) -> tuple[ModuleDifference, ...]:
    before, after = ({module.path: module for module in build.modules} for build in (old, new))
    found = [
        ModuleDifference(path, _module_change(before.get(path), after.get(path)), before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    ]
    order = list(ModuleChange)
    return tuple(sorted(found, key=lambda one: (order.index(one.kind), one.path)))


def _module_change(old: GoModule | None, new: GoModule | None) -> ModuleChange:
    if old is None or new is None:
        return ModuleChange.NEW if old is None else ModuleChange.GONE
    before, after = old.replaced_by or old, new.replaced_by or new
    if before.path != after.path or (old.replaced_by is None) != (new.replaced_by is None):
        return ModuleChange.REPLACED
    keys = module_key(before.version), module_key(after.version)
    if None in keys or keys[0] == keys[1]:
        return ModuleChange.REPLACED
    return ModuleChange.UP if keys[0] < keys[1] else ModuleChange.DOWN  # type: ignore[operator]


def _notable(old: Executable | None, new: Executable | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the notable packages that only the newer program links, and those that only the older one does."""
    if old is None or new is None or old.functions is None or new.functions is None:
        return (), ()
    before, after = notable_in(old.functions), notable_in(new.functions)
    return tuple(name for name in after if name not in before), tuple(name for name in before if name not in after)


def _files(old: PackageFacts, new: PackageFacts) -> tuple[PackedFileDifference, ...]:
    before, after = ({one.name: one for one in facts.files} for facts in (old, new))
    if old.executable_name is not None and new.executable_name is not None:
        # Each release has another program, under a name of its own.
        before.pop(old.executable_name, None)
        after.pop(new.executable_name, None)
    return tuple(
        PackedFileDifference(
            name, before[name].size if name in before else None, after[name].size if name in after else None
        )
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    )


def _texts(old: PackageFacts, new: PackageFacts) -> tuple[TextDifference, ...]:
    before, after = ({one.name: one.text for one in facts.texts} for facts in (old, new))
    return tuple(
        TextDifference(name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    )


class ChangeAdvisories(Struct, frozen=True):
    """The advisories of a change, as far as packages were inspected before; nothing is downloaded for them.

    Attributes:
        as_of: Its date, ISO 8601; None where it has none.
        differences: What the new version does to those of the old one; None without an old version, or where one of
            both packages was not inspected.
        platform: The platform of the inspected packages; "" where the package of the new version was not inspected, so
            that only those of the provider itself are known.
        ignored: The ids of those that the policy ignores, which are in neither.
    """

    date_words: str
    as_of: str | None
    source: str
    now: PackageAdvisories
    differences: AdvisoryDifferences | None = None
    platform: str = ""
    ignored: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to say about any advisory."""
        changed = self.differences is not None and (self.differences.fixed or self.differences.introduced)
        return not (self.now.matches or self.now.unjudged or changed or self.ignored)

    @property
    def inside(self) -> tuple[AdvisoryMatch, ...]:
        """Those of modules inside that count."""
        return tuple(match for match in self.now.counting if not match.is_own)

    @property
    def own(self) -> tuple[AdvisoryMatch, ...]:
        """Those of the provider itself that count."""
        return tuple(match for match in self.now.counting if match.is_own)


class ReleaseAdvisories(Struct, frozen=True):
    """The advisories of one version of a provider.

    Attributes:
        database: Its source and dates; without its entries.
        inspected: Those of each package that was inspected, by platform.
        own: Those of the provider itself, which need no package.
    """

    database: AdvisoryDatabase
    inspected: Mapping[str, PackageAdvisories]
    own: PackageAdvisories

    def after(self, old: ReleaseAdvisories | None) -> ChangeAdvisories:
        """Return what is known about this version, and what it does to the advisories of an older one, if there is one.

        Packages are compared of one platform that both were inspected for, of this machine's if possible.
        """
        before = old.inspected if old is not None else {}
        platform = _best(self.inspected.keys() & before.keys()) or _best(self.inspected)
        now = self.inspected[platform] if platform else self.own
        differences = compare_advisories(before[platform], now) if platform in before else None
        made = self.database
        return ChangeAdvisories(made.date_words, made.as_of, made.source, now, differences, platform)

    def fixes_words(self, old: ReleaseAdvisories, ignored: Iterable[IgnoredAdvisory]) -> str:
        """Return how many advisories of an older version this one fixes.

        Returns:
            A number; with a plus sign those of the provider itself where not both were inspected; "?" for none of them.
        """
        known = heeding(self.after(old), ignored)
        if known.differences is not None:
            return str(sum(match.counts for match in known.differences.fixed))
        fixed = sum(match.counts for match in compare_advisories(old.own, self.own).fixed)
        return f"{fixed}+" if fixed else "?"


def _best(platforms: Iterable[str]) -> str:
    """Return this machine's platform if it is among some, else the first of them; "" for none."""
    from locklens.project.clifiles import this_platform

    names = sorted(platforms)
    here = this_platform()
    return here if here in names else next(iter(names), "")


def heeding(known: ChangeAdvisories, ignored: Iterable[IgnoredAdvisory]) -> ChangeAdvisories:
    """Return what is known without what the policy ignores, which is named."""
    names = {each.id.casefold() for each in ignored}
    if not names:
        return known
    found: set[str] = set()

    def is_kept(match: AdvisoryMatch) -> bool:
        is_ignored = bool(names.intersection(each.casefold() for each in (match.id, *match.aliases)))
        if is_ignored:
            found.add(match.id)
        return not is_ignored

    def kept(matches: tuple[AdvisoryMatch, ...]) -> tuple[AdvisoryMatch, ...]:
        return tuple(filter(is_kept, matches))

    def judged(one: Unjudged) -> Unjudged | None:
        ids = tuple(each for each in one.ids if each.casefold() not in names)
        return replace(one, ids=ids) if ids or not one.ids else None

    differences = known.differences
    if differences is not None:
        sides = {name: kept(getattr(differences, name)) for name in ("introduced", "fixed", "both")}
        differences = replace(differences, **sides)
    now = PackageAdvisories(kept(known.now.matches), tuple(filter(None, map(judged, known.now.unjudged))))
    return replace(known, now=now, differences=differences, ignored=tuple(sorted(found)))
