"""The packages on this machine beside locked hashes: lines of the detail, and the word of a row. No I/O."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, heading, line
from locklens.operations.verification.judging import FAILING, PackageVerdict
from locklens.review.reports.evidence_lines import clock
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from locklens.operations.verification.judging import EntryPackages, VerifiedPackage

PACKAGE_WORDS = {
    PackageVerdict.MATCHES: ("ok", Role.GOOD),
    PackageVerdict.DIFFERS: ("DIFFERS", Role.BLOCK),
    PackageVerdict.MISSING: ("MISSING", Role.WARN),
    PackageVerdict.UNREADABLE: ("UNREADABLE", Role.WARN),
    PackageVerdict.UNLOCKED: ("no hash", Role.DIM),
}
"""Each verdict as a word; those that fail in capitals, so that they stand out without colour."""

_WHERE, _PLATFORM = 14, 15
_HANGING = 4
_MOST_FILES = 20


_URGENCY = (Role.BLOCK, Role.WARN)


def packages_span(each: Sequence[EntryPackages | None]) -> Span:
    """The most urgent verdict on the packages of equal entries as a word; "" before they were compared."""
    known = [one for one in each if one is not None]
    verdicts = [Span(*PACKAGE_WORDS[one.worst]) if one.worst is not None else Span("none", Role.DIM) for one in known]
    if urgent := [span for role in _URGENCY for span in verdicts if span.role is role]:
        return urgent[0]
    if known and len(known) < len(each):
        return Span(f"{len(known)} of {len(each)}", Role.DIM)
    # Of some roots there is no package: what the others have does not hold for those.
    return min(verdicts, key=lambda span: span.role is Role.GOOD, default=Span(""))


def _filter_word(verdict: PackageVerdict) -> str:
    return f"package-{'ok' if verdict is PackageVerdict.MATCHES else verdict}"


PACKAGE_FILTER_WORDS = tuple(map(_filter_word, PackageVerdict))
"""The words by which the filter finds a row: package-ok, package-differs, and so on."""


def package_filter_words(known: EntryPackages | None) -> Iterator[str]:
    """The words that hold for the packages of an entry."""
    yield from map(_filter_word, {package.verdict for package in known.packages} if known is not None else ())


def package_lines(known: EntryPackages | None, version: str, *, is_comparing: bool) -> Iterator[Line]:
    """The packages of an entry, place by place.

    Args:
        known: The packages; None if they were not compared.
        version: The locked version.
        is_comparing: True while packages are compared.
    """
    moment = f"  as of {clock(known.at)}" if known is not None else ""
    yield from heading(f"PACKAGES ON THIS MACHINE{moment}")
    if known is None:
        yield line(Span("  … being compared" if is_comparing else "  not compared yet", Role.DIM), hanging=_HANGING)
        if not is_comparing:
            words = "  -> p compares what is installed, cached and mirrored"
            yield line(Span(words, Role.DIM), hanging=5)
        return
    for where in dict.fromkeys([*(one.where for one in known.searched), *(one.place.where for one in known.packages)]):
        packages = [package for package in known.packages if package.place.where is where]
        for package in packages:
            yield from _package(package)
        label = Span(f"  {where:<{_WHERE}}")
        problems = [place for place in known.searched if place.where is where and place.problem]
        for place in problems:
            yield line(label, Span(f"not compared: {place.problem}", Role.DIM), hanging=_HANGING)
        if not packages and not problems:
            yield line(label, Span(f"no package of {version}", Role.DIM), hanging=_HANGING)
    if not known.searched:
        yield line(Span("  no place to look at", Role.DIM), hanging=_HANGING)


def _package(package: VerifiedPackage) -> Iterator[Line]:
    place, (word, role) = package.place, PACKAGE_WORDS[package.verdict]
    # A path outside the repository may name the user, and a copied line is pasted in public.
    copied = place.shown if place.root is not None else ""
    spans = (f"  {place.where:<{_WHERE}}{place.platform!s:<{_PLATFORM}}", Span(word, role))
    yield line(*spans, hanging=_HANGING, copied=copied)
    if package.verdict is PackageVerdict.MATCHES:
        return
    yield line("    ", Span(place.shown, Role.PLACE), hanging=_HANGING, copied=copied)
    if package.verdict is PackageVerdict.DIFFERS and package.shown:
        yield line("    ", Span(f"{package.shown} is not locked", Role.DIM), hanging=_HANGING, copied=package.shown)
    for one in package.files[:_MOST_FILES]:
        yield line(f"    {one.state:<8} {one.name}", hanging=13, copied=one.name)
    if len(package.files) > _MOST_FILES:
        yield line(Span(f"    and {counted(len(package.files) - _MOST_FILES, 'more file')}", Role.DIM))
    if package.reason:
        yield line("    ", Span(package.reason, Role.DIM), hanging=_HANGING)


def counts_line(known: Collection[EntryPackages]) -> Line:
    """The number of packages by verdict."""
    counts = package_counts(known)
    shown = [(f"{counts[verdict]} {word}", role) for verdict, (word, role) in PACKAGE_WORDS.items() if counts[verdict]]
    if not shown:
        return line(Span("  no package found", Role.DIM))
    spans = [span for words, role in shown for span in (Span(", ", Role.DIM), Span(words, role))]
    return line("  ", *spans[1:], hanging=_HANGING)


def package_counts(known: Iterable[EntryPackages]) -> Counter[PackageVerdict]:
    """The number of packages by verdict; a package that several entries lock counts once for each verdict."""
    distinct = {(package.place, package.verdict) for each in known for package in each.packages}
    return Counter(verdict for _, verdict in distinct)


def differ_words(number: int) -> str:
    """The number of packages that differ, as a clause."""
    return f"{counted(number, 'package')} {'differs' if number == 1 else 'differ'}"


def comparison_words(known: Iterable[EntryPackages]) -> str:
    """The result of a comparison in words, for the status line."""
    counts = package_counts(known)
    failing = sum(counts[verdict] for verdict in FAILING)
    total = sum(counts.values())
    if not total:
        return "no package of these providers is here; ? lists the places that are searched"
    if not failing:
        return f"{counted(total, 'package')} compared, all as locked"
    parts = []
    if number := counts[PackageVerdict.DIFFERS]:
        parts.append(differ_words(number))
    parts += [f"{counts[verdict]} {verdict}" for verdict in PackageVerdict if verdict in _OTHERS and counts[verdict]]
    return f"{', '.join(parts)}, of {total} compared"


_OTHERS = FAILING - {PackageVerdict.DIFFERS}
