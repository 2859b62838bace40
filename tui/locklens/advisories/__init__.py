"""Advisories of the Go vulnerability database, and which of them concern what is inside a provider's package.

Nothing here asks a server: the database is read from what the user named, and kept in a file of this machine.
Ranges are written in Go's order of versions; a toolchain is a version of it too.
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.executables import module_key
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.executables import OrderKey

STDLIB, TOOLCHAIN = "stdlib", "toolchain"
"""The names by which the database calls Go's standard library, and the commands of Go's toolchain."""

LICENCE = "CC-BY-4.0"
ATTRIBUTION = "advisories of https://vuln.go.dev are licensed under CC-BY-4.0"
"""What the licence asks to be said wherever its entries are shown."""


class VersionRange(Struct, frozen=True, array_like=True):
    """Versions from `introduced` on and below `fixed`, without a leading "v".

    Attributes:
        introduced: "0" for the very first version.
        fixed: "" where no version is known to fix it.
    """

    introduced: str
    fixed: str = ""


class AffectedPackage(Struct, frozen=True, array_like=True):
    """A Go package that an advisory is about, on some systems and architectures; () for all.

    Attributes:
        symbols: Functions as `Function` and methods as `Type.Method`; () where the database names none.
    """

    path: str
    symbols: tuple[str, ...] = ()
    goos: tuple[str, ...] = ()
    goarch: tuple[str, ...] = ()


class AffectedModule(Struct, frozen=True, array_like=True):
    """A Go module that an advisory is about.

    Attributes:
        path: The module's path, `STDLIB` or `TOOLCHAIN`.
        ranges: Versions in Go's order; () for all of them.
        custom_ranges: Versions that are not Go versions, such as the releases of a provider whose module path has no
            `/vN`; None where the database has none.
        packages: () where the database names none.
    """

    path: str
    ranges: tuple[VersionRange, ...] = ()
    custom_ranges: tuple[VersionRange, ...] | None = None
    packages: tuple[AffectedPackage, ...] = ()


class Advisory(Struct, frozen=True, array_like=True):
    """An entry of the database.

    Attributes:
        aliases: Its names elsewhere: CVE and GHSA ids.
    """

    id: str
    aliases: tuple[str, ...]
    summary: str
    affected: tuple[AffectedModule, ...]


class AdvisoryDatabase(Struct, frozen=True, array_like=True):
    """The database as it was read.

    Attributes:
        as_of: The newest change of an entry, ISO 8601; None where the database says none, as its git repository.
        read_at: The time it was read, ISO 8601 in UTC.
        advisories: By id.
        withdrawn: Number of entries that were withdrawn, which count no more.
        skipped: What could not be read and why, as sentences without a full stop; the first of them, if many.
        skipped_count: The number of entries that could not be read.
    """

    source: str
    as_of: str | None
    read_at: str
    advisories: tuple[Advisory, ...]
    withdrawn: int = 0
    skipped: tuple[str, ...] = ()
    skipped_count: int = 0

    @property
    def date_words(self) -> str:
        """How old its knowledge is, in words."""
        if self.as_of is not None:
            return f"as of {self.as_of[:10]}"
        return f"without a date of its own, read on {self.read_at[:10]}"


class Linkage(enum.Enum):
    """Whether the functions that an advisory names are in an executable."""

    LINKED = "linked"
    """At least one is in the function table, by its name."""
    NOT_LINKED = "not-linked"
    """The table was read, the database names functions, and none of them is there."""
    NO_SYMBOLS = "no-symbol-data"
    """The database names no function of it."""
    UNKNOWN = "unknown"
    """The function table cannot be read or names nothing of this module, or the functions of the package were not kept
    when it was inspected."""
    OTHER_PLATFORM = "other-platform"
    """The advisory concerns other operating systems or architectures only."""


class AdvisoryMatch(Struct, frozen=True):
    """An advisory whose versions include a module that is inside.

    Attributes:
        module: The path of the module, of the replacement where it was replaced; of the provider itself its own.
        version: The module's, or the provider's own.
        functions: Those that the advisory names and the function table has, sorted.
        fixed_in: The nearest version that fixes it, of the module or of the provider itself; None for none.
    """

    id: str
    aliases: tuple[str, ...]
    summary: str
    module: str
    version: str
    linkage: Linkage
    functions: tuple[str, ...] = ()
    fixed_in: str | None = None
    is_own: bool = False

    @property
    def counts(self) -> bool:
        """True unless it concerns another platform, or none of its functions is linked by name."""
        return self.linkage not in (Linkage.NOT_LINKED, Linkage.OTHER_PLATFORM)

    @property
    def is_linked(self) -> bool | None:
        """True if a function is linked by name, False if none is, None where that cannot be said."""
        if self.linkage is Linkage.LINKED:
            return True
        return None if self.counts else False


class Unjudged(Struct, frozen=True):
    """Advisories that may or may not affect a version, or the provider itself, with the reason as a sentence."""

    module: str
    ids: tuple[str, ...]
    why: str
    is_own: bool = False

    @property
    def words(self) -> str:
        """The advisories, the module and the reason, as a sentence without a full stop."""
        if not self.ids:
            return self.why
        some = listing(self.ids, 3)
        return f"{some} in {self.module} cannot be judged: {self.why}"


class PackageAdvisories(Struct, frozen=True):
    """The advisories of one package: those about the provider itself first, then by linkage and id."""

    matches: tuple[AdvisoryMatch, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def counting(self) -> tuple[AdvisoryMatch, ...]:
        """The matches that count."""
        return tuple(match for match in self.matches if match.counts)

    def of(self, linkage: Linkage) -> tuple[AdvisoryMatch, ...]:
        """The matches of one linkage."""
        return tuple(match for match in self.matches if match.linkage is linkage)


class AdvisoryDifferences(Struct, frozen=True):
    """The advisories of an older and a newer package of one provider, by what the newer one does to them.

    Attributes:
        introduced: Only the newer package has them, or only it links their functions.
        fixed: The newer package's versions are not among theirs.
        both: Both packages have them, with the linkage in the newer one.
        unknown: What could not be compared and why, as sentences without a full stop.
    """

    introduced: tuple[AdvisoryMatch, ...] = ()
    fixed: tuple[AdvisoryMatch, ...] = ()
    both: tuple[AdvisoryMatch, ...] = ()
    unknown: tuple[str, ...] = ()


FIRST = "0"
"""The bound of a range that begins before every version."""

_TOOLCHAIN = re.compile(r"go([0-9]+\.[0-9]+)(\.[0-9]+)?(?:(beta|rc)([0-9]+))?", re.ASCII)
_MOST_TEXT = 256


@lru_cache(maxsize=16384)
def go_order(version: str) -> OrderKey:
    """Return the sort key of a version; "v" or "go" may come before it, and what is not a version sorts below all.

    Pseudo-versions and `+incompatible` need no case of their own: the former are pre-releases, the latter metadata.
    """
    return module_key(f"v{version.removeprefix('v').removeprefix('go')}") or ()


def is_go_version(version: str) -> bool:
    """True if a text is a version in Go's semantic form; "v" or "go" may come before it."""
    return bool(go_order(version))


def toolchain_version(go: str) -> str | None:
    """Return the semantic version of a toolchain as an executable names it: "1.25.3" for "go1.25.3 X:nocoverage".

    Returns:
        None for one that is not of Go's releases, such as "devel go1.26-1a2b3c".
    """
    words = go.split()
    match = _TOOLCHAIN.fullmatch(words[0]) if words and len(words[0]) <= _MOST_TEXT else None
    if match is None:
        return None
    suffix = f"-{match[3]}.{match[4]}" if match[3] else ""
    return f"{match[1]}{match[2] or '.0'}{suffix}"


def ranges_of_events(events: Iterable[tuple[str, str]]) -> tuple[VersionRange, ...]:
    """Return the ranges of OSV's events, "introduced" or "fixed" with a version, read as Go's own tool reads them."""
    in_order = sorted(events, key=lambda event: (event[1] != FIRST, go_order(event[1])))
    found: list[VersionRange] = []
    opened: str | None = None
    for kind, version in in_order:
        if kind == "introduced":
            opened = version if opened is None else opened
        elif opened is not None:
            found.append(VersionRange(opened, version))
            opened = None
    if opened is not None:
        found.append(VersionRange(opened))
    return tuple(found)


def range_of(ranges: Sequence[VersionRange], version: str) -> VersionRange | None:
    """Return the range that has a version; without any ranges that is one of all versions."""
    if not ranges:
        return VersionRange(FIRST)
    order = go_order(version)
    return next((each for each in ranges if _has(each, order)), None)


def _has(each: VersionRange, order: OrderKey) -> bool:
    is_above = each.introduced == FIRST or order >= go_order(each.introduced)
    return is_above and (not each.fixed or order < go_order(each.fixed))


def nearest_fix(ranges: Sequence[VersionRange], version: str) -> str | None:
    """Return the lowest later version that is in no range; None if there is none, or none is known."""
    current = range_of(ranges, version)
    seen = 0
    while current is not None and current.fixed and seen <= len(ranges):
        following = range_of(ranges, current.fixed)
        if following is None:
            return current.fixed
        current, seen = following, seen + 1
    return None
