"""Whether the packages of one release agree: what is inside one platform's package and not inside the others'.

All packages of an honest release come from one source tree and one list of modules. What real programs of nine
platforms showed, and what is therefore no finding:

- the settings GOOS, GOARCH and those of an architecture (GOAMD64, GOARM, ...) name the platform;
- words of the platform, times and dates in other settings are set by the build;
- whether a module, a notable package, a setting or a file is there may depend on the operating system, if all packages
  of that system agree (`github.com/inconshreveable/mousetrap` on Windows, netlink on Linux), or on the architecture, if
  all packages of it agree and there are at least two;
- the version of a module never depends on the platform, nor does the toolchain.

Everything else is a difference. The odd package is the one that most others contradict: of its operating system first,
then of the release. Without a majority, packages differ, and none is called odd.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable  # noqa: TC003
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import Platform
from locklens.executables import NOTABLE_BEGINNINGS, notable_in
from locklens.review.inspection import settings_of
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.executables import BuildInfo, GoModule
    from locklens.packages.inspecting import PackageFacts
    from locklens.review.inspection import Inspection

_NAMES_OF_PLATFORM = re.compile(r"GO(OS|ARCH|386|AMD64|ARM|ARM64|LOONG64|MIPS|MIPS64|PPC64|RISCV64|S390X|WASM)")

_SPELLINGS = {
    "amd64": ("amd64", "x86_64", "x64"),
    "386": ("386", "i386", "x86"),
    "arm64": ("arm64", "aarch64"),
    "arm": ("armv6", "armv7", "armhf", "arm"),
    "darwin": ("darwin", "macos"),
    "windows": ("windows", "win"),
}
"""Words for a system or an architecture in settings, longest first; others are spelled as Go does."""

_TIME = re.compile(r"\d{4}-?[01]\d-?[0-3]\d(?:[T_ -]?\d\d:?\d\d(?::?\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\b1\d{9}\b")
"""A date, a date with its time, or seconds since 1970."""

_NOT_THERE = ""


class PlatformDifference(Struct, frozen=True, order=True):
    """A property in which packages of one release differ.

    Attributes:
        property: Its kind and name: "module golang.org/x/net", "toolchain".
        values: The value of each compared platform; "" where its package does not have it.
        odd: The platforms that most others contradict, sorted; () where no value has a majority.
    """

    property: str
    values: tuple[tuple[Platform, str], ...]
    odd: tuple[Platform, ...]

    def at(self, platform: Platform) -> str:
        """The value of a platform."""
        return dict(self.values)[platform]

    def words(self) -> str:
        """The difference as a clause: which platform has what, and what the others have."""
        groups: dict[str, list[str]] = {}
        for platform, value in self.values:
            groups.setdefault(value, []).append(str(platform))
        fewest_first = sorted(groups.items(), key=lambda group: (len(group[1]), group[1]))
        sides = [(_value_words(value, self.property), names) for value, names in fewest_first]
        if not self.odd:
            return "; ".join(f"{listing(names, 3)}: {value}" for value, names in sides)
        *odd, (value, names) = sides
        return "; ".join(f"{listing(names, 3)}: {value}" for value, names in odd) + (
            f"; {counted(len(names), 'other platform')}: {value}"
        )


class ReleaseAgreement(Struct, frozen=True):
    """What the packages of one release agree on.

    Attributes:
        platforms: The platforms that were compared, sorted.
        unknown: Platforms for which nothing, or all but the functions, could be compared, and why.
        differences: In the order of `_PROPERTIES`, then by name.
    """

    platforms: tuple[Platform, ...]
    unknown: tuple[tuple[Platform, str], ...] = ()
    differences: tuple[PlatformDifference, ...] = ()

    @property
    def odd(self) -> dict[Platform, tuple[PlatformDifference, ...]]:
        """The odd platforms, each with its differences."""
        names = sorted({platform for one in self.differences for platform in one.odd})
        return {name: tuple(one for one in self.differences if name in one.odd) for name in names}

    def differs_in(self, platform: Platform) -> tuple[PlatformDifference, ...]:
        """What a platform differs in: as the odd one, or as one of several that no majority decides on."""
        return tuple(one for one in self.differences if platform in (one.odd or dict(one.values)))


class ReleaseBuilds(Struct, frozen=True):
    """How the packages of one version were built, as far as they were looked into before.

    Attributes:
        toolchains: Each toolchain with its platforms, sorted.
        replaced: The modules that are replaced by others, of any platform, sorted by path.
    """

    agreement: ReleaseAgreement
    toolchains: tuple[tuple[str, tuple[Platform, ...]], ...] = ()
    replaced: tuple[GoModule, ...] = ()

    def after(self, old: ReleaseBuilds | None) -> ReleaseBuilds:
        """Return the same without the replaced modules that an older version has too."""
        known = {_replacement(module) for module in old.replaced} if old is not None else frozenset[str]()
        return replace(self, replaced=tuple(one for one in self.replaced if _replacement(one) not in known))


def builds_of(facts: Mapping[Platform, PackageFacts]) -> ReleaseBuilds:
    """Return how the packages of one version were built, by platform."""
    builds = {platform: _build(one) for platform, one in sorted(facts.items()) if not _unread(one)}
    names = sorted({build.go for build in builds.values()})
    toolchains = ((go, tuple(platform for platform, build in builds.items() if build.go == go)) for go in names)
    replaced = {_replacement(one): one for build in builds.values() for one in build.modules if one.replaced_by}
    return ReleaseBuilds(
        compare_platforms(facts), tuple(toolchains), tuple(sorted(replaced.values(), key=lambda one: one.path))
    )


def reduced(facts: PackageFacts) -> PackageFacts:
    """Return what is compared of a package: of its functions, one of each notable package."""
    program = facts.executable
    if program is None or program.functions is None:
        return facts
    names = program.functions
    found = (
        names[place : place + 1] for start in NOTABLE_BEGINNINGS if (place := bisect_left(names, start)) < len(names)
    )
    kept = sorted({name for (name,) in found if name.startswith(NOTABLE_BEGINNINGS)})
    return replace(facts, executable=replace(program, functions=tuple(kept), packages=()), texts=())


def _replacement(module: GoModule) -> str:
    return f"{module.path} {module.replaced_by.path if module.replaced_by is not None else ''}"


def platform_of(facts: PackageFacts) -> Platform | None:
    """The platform that a package's program says it was built for; None where it does not say."""
    if _unread(facts):
        return None
    settings = dict(_build(facts).settings)
    try:
        return Platform.parse(f"{settings.get('GOOS', '')}_{settings.get('GOARCH', '')}")
    except ValueError:
        return None


def agreement_of(found: Inspection) -> ReleaseAgreement | None:
    """Compare the packages of the newest version that was inspected; None with less than two of them."""
    for side in reversed(found.packages):
        facts = {one.platform: one.facts for one in side if one.platform is not None and one.facts is not None}
        if len(facts) > 1:
            return compare_platforms(facts)
    return None


def compare_platforms(facts: Mapping[Platform, PackageFacts]) -> ReleaseAgreement:
    """Compare the packages of one release with each other."""
    unknown = tuple((platform, why) for platform, one in sorted(facts.items()) if (why := _partly_unread(one)))
    told = {platform: one for platform, one in sorted(facts.items()) if not _unread(one)}
    if len(told) < 2:
        return ReleaseAgreement(tuple(told), unknown)
    found = []
    for compared in _PROPERTIES:
        values = {
            platform: dict(compared.of(platform, one))
            for platform, one in told.items()
            if not compared.is_of_functions or _has_functions(one)
        }
        for name in sorted({name for each in values.values() for name in each}):
            by_platform = {platform: each.get(name, _NOT_THERE) for platform, each in values.items()}
            if (odd := _odd(by_platform, compared)) is not None:
                found.append(PlatformDifference(f"{compared.kind} {name}".strip(), tuple(by_platform.items()), odd))
    return ReleaseAgreement(tuple(told), unknown, tuple(found))


class _Property(Struct, frozen=True):
    """A kind of property.

    Attributes:
        of: Names and values in the package of a platform.
        may_vary: True if the value may depend on the operating system or the architecture.
        may_lack: True if only values are compared, never that there is none.
        is_of_functions: True if it takes the function table, which may be unread where the build information is not.
    """

    kind: str
    of: Callable[[Platform, PackageFacts], Iterable[tuple[str, str]]]
    may_vary: bool = False
    may_lack: bool = False
    is_of_functions: bool = False


def _has_functions(facts: PackageFacts) -> bool:
    return facts.executable is not None and facts.executable.functions is not None


def _partly_unread(facts: PackageFacts) -> str:
    """Why not all of a package can be compared; "" where it can."""
    return _unread(facts) or (facts.executable.unread or "" if facts.executable is not None else "")


def _unread(facts: PackageFacts) -> str:
    """Why a package cannot be compared; "" where it can."""
    if facts.executable is None:
        return "it has no file with the name of a provider's program"
    return (facts.executable.unread or "") if facts.executable.build is None else ""


def _odd(values: Mapping[Platform, str], compared: _Property) -> tuple[Platform, ...] | None:
    """The odd platforms of one property, () where none has a majority; None for no difference that needs a reason."""
    having = {platform: value for platform, value in values.items() if value != _NOT_THERE}
    if not compared.may_vary and len(set(having.values())) > 1:
        return _against(having, having)
    if compared.may_lack:
        return None
    mixed = {
        platform: value
        for platform, value in values.items()
        if len({other for at, other in values.items() if at.os == platform.os}) > 1
    }
    if not mixed or _follows_architecture(mixed):
        return None
    odd: list[Platform] = []
    for system in sorted({platform.os for platform in mixed}):
        own = {platform: value for platform, value in mixed.items() if platform.os == system}
        odd += _against(own, own) or _against(own, values)
    return tuple(odd)


def _against(judged: Mapping[Platform, str], voting: Mapping[Platform, str]) -> tuple[Platform, ...]:
    """The judged platforms without the value that more than half of the voting ones have; () without such a value."""
    value, count = Counter(voting.values()).most_common(1)[0]
    if count * 2 <= len(voting):
        return ()
    return tuple(platform for platform, other in judged.items() if other != value)


def _follows_architecture(values: Mapping[Platform, str]) -> bool:
    """True if all packages of each architecture agree, and those with the rarer value are at least two of each."""
    by_architecture: dict[str, list[str]] = {}
    for platform, value in values.items():
        by_architecture.setdefault(platform.arch, []).append(value)
    return all(len(set(each)) == 1 and len(each) > 1 for each in by_architecture.values())


def _toolchain(_: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    yield "", _build(facts).go


def _modules(_: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    build = _build(facts)
    own = () if build.main is None else (build.main,)
    for module in (*own, *build.modules):
        yield module.path, module.words if module.version else f"no version{module.words}"


def _checksums(_: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    for module in _build(facts).modules:
        actual = module.replaced_by or module
        if actual.checksum:
            yield f"{actual.path} {actual.version}", actual.checksum


def _linked(_: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    functions = facts.executable.functions if facts.executable is not None else None
    for name in notable_in(functions or ()):
        yield name, "linked"


def _revision(_: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    yield from ((name, value) for name, value in _build(facts).settings if name.startswith("vcs"))


def _settings(platform: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    for name, value in settings_of(_build(facts)).items():
        if not _NAMES_OF_PLATFORM.fullmatch(name) and not name.startswith("vcs"):
            yield name, _without_platform(value, platform) or "empty"


def _without_platform(value: str, platform: Platform) -> str:
    """A setting without what names the platform or the time of the build."""
    masked = _TIME.sub("TIME", value)
    for sign, word in (("OS", platform.os), ("ARCH", platform.arch)):
        words = "|".join(map(re.escape, _SPELLINGS.get(word, (word,))))
        masked = re.sub(rf"(?i)(?<![a-z0-9])(?:{words})(?![a-z0-9])", sign, masked.replace("_", " _ "))
    return masked.replace(" _ ", "_")


def _target(platform: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    settings = dict(_build(facts).settings)
    for name, own in (("GOOS", platform.os), ("GOARCH", platform.arch)):
        if name in settings:
            yield name, "that of the package" if settings[name] == own else settings[name]


def _files(_: Platform, facts: PackageFacts) -> Iterator[tuple[str, str]]:
    for file in facts.files:
        if file.name != facts.executable_name:
            yield file.name, f"sha256 {file.sha256[:12]}"


def _build(facts: PackageFacts) -> BuildInfo:
    assert facts.executable is not None and facts.executable.build is not None  # noqa: PT018
    return facts.executable.build


_PROPERTIES = (
    _Property("build target", _target),
    _Property("module", _modules),
    _Property("checksum of", _checksums, may_lack=True),
    _Property("toolchain", _toolchain),
    _Property("package", _linked, is_of_functions=True),
    _Property("revision", _revision),
    _Property("setting", _settings, may_vary=True),
    _Property("file", _files, may_vary=True),
)
"""What is compared, the worst first."""


def _value_words(value: str, of: str) -> str:
    if value != _NOT_THERE:
        return value
    return "not set" if of.startswith("setting") else "not linked" if of.startswith(("module", "package")) else "none"
