"""The packages on this machine beside locked hashes: the word of a row, the lines of the detail, and the comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from locklens.lines import Line, Role, Span, heading, line
from locklens.operations.verification import FAILING, EntryPackages, PackageVerdict, VerifiedPackage
from locklens.review.reports.evidence_lines import clock
from locklens.text import counted
from locklens.ui.shell import Job, Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.operations.locklens import LockLens
    from locklens.review.model import Review

Named = tuple[str, "ProviderAddress"]
"""The key of a provider in a root: lock file and address."""

PACKAGE_WORDS = {
    PackageVerdict.MATCHES: ("ok", Role.GOOD),
    PackageVerdict.DIFFERS: ("DIFFERS", Role.BLOCK),
    PackageVerdict.MISSING: ("MISSING", Role.WARN),
    PackageVerdict.UNREADABLE: ("UNREADABLE", Role.WARN),
    PackageVerdict.UNLOCKED: ("no hash", Role.DIM),
    PackageVerdict.UNKNOWN: ("cannot say", Role.WARN),
}
"""Each verdict as a word; those that fail in capitals, so that they stand out without colour."""

_WHERE, _PLATFORM = 14, 15
_HANGING = 4
_MOST_FILES = 20


_URGENCY = (Role.BLOCK, Role.WARN)


def packages_span(each: Sequence[EntryPackages | None]) -> Span:
    """The most urgent verdict on the packages of equal entries as a word; "" before they were compared."""
    known = [one for one in each if one is not None]
    verdicts = [_verdict(one) for one in known]
    if urgent := [span for role in _URGENCY for span in verdicts if span.role is role]:
        return urgent[0]
    if known and len(known) < len(each):
        return Span(f"{len(known)} of {len(each)}", Role.DIM)
    # Of some roots there is no package: what the others have does not hold for those.
    return min(verdicts, key=lambda span: span.role is Role.GOOD, default=Span(""))


def _verdict(known: EntryPackages) -> Span:
    """The most urgent verdict on the packages of an entry; a place that could not be looked at may have one."""
    if known.worst is not None:
        return Span(*PACKAGE_WORDS[known.worst])
    return Span("?", Role.WARN) if _problem([known]) else Span("none", Role.DIM)


def _problem(known: Iterable[EntryPackages]) -> str:
    """Which places were not compared, with the reason where all have the same; "" if all were compared."""
    places = dict.fromkeys(place for one in known for place in one.searched if place.problem)
    reasons = {place.problem for place in places}
    why = f": {reasons.pop()}" if len(reasons) == 1 else ""
    return f"{counted(len(places), 'place')} not compared{why}" if places else ""


def _filter_word(verdict: PackageVerdict) -> str:
    return f"package-{'ok' if verdict is PackageVerdict.MATCHES else verdict}"


PACKAGE_FILTER_WORDS = tuple(map(_filter_word, PackageVerdict))
"""The words by which the filter finds a row: package-ok, package-differs, and so on."""


def package_filter_words(known: EntryPackages | None) -> Iterator[str]:
    """The words that hold for the packages of an entry."""
    yield from map(_filter_word, {package.verdict for package in known.packages} if known is not None else ())


def package_lines(known: EntryPackages | None, version: str, *, is_comparing: bool) -> Iterator[Line]:
    """The packages of an entry with a locked version, place by place; `known` is None if they were not compared."""
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
    if package.verdict is PackageVerdict.MATCHES and not package.reason:
        return
    yield line("    ", Span(place.shown, Role.PLACE), hanging=_HANGING, copied=copied)
    if package.verdict is PackageVerdict.DIFFERS and package.shown_hashes:
        yield line(
            "    ",
            Span(f"{package.shown_hashes} is not locked", Role.DIM),
            hanging=_HANGING,
            copied=package.shown_hashes,
        )
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
        problem = _problem(known)
        return line(Span(f"  no package compared; {problem}" if problem else "  no package found", Role.DIM))
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
    known = tuple(known)
    counts, problem = package_counts(known), _problem(known)
    if not counts:
        if problem:
            return f"no package was compared; {problem}"
        return "no package of these providers is here; ? lists the places that are searched"
    compared = counts[PackageVerdict.MATCHES] + counts[PackageVerdict.DIFFERS]
    differing = counts[PackageVerdict.DIFFERS]
    found = f"{differ_words(differing)}, of {compared} compared" if differing else "all as locked"
    parts = [found if differing else f"{counted(compared, 'package')} compared, {found}"] if compared else []
    parts += [f"{counts[verdict]} {verdict}" for verdict in PackageVerdict if verdict in _OTHERS and counts[verdict]]
    if unlocked := counts[PackageVerdict.UNLOCKED] + counts[PackageVerdict.UNKNOWN]:
        parts.append(f"{counted(unlocked, 'package')} without a locked hash to compare with")
    parts += [problem] if problem else []
    return "; ".join(parts if compared else ["no package was compared", *parts])


_OTHERS = FAILING - {PackageVerdict.DIFFERS}


class PackageComparer(Widget):
    """Owns the known packages of each entry. Invisible."""

    DEFAULT_CSS = "PackageComparer { display: none; }"

    @dataclass
    class Changed(Message):
        """`known` or `progress` changed; `words` are the end of a run, "" before it."""

        words: str = ""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Named, EntryPackages] = {}
        self._job = Job(self, "packages")
        self.progress = ""
        """The progress in words; "" when idle."""
        self.pending: frozenset[Named] = frozenset()
        """The entries whose packages are being compared."""

    def known(self, review: Review | None) -> dict[Named, EntryPackages]:
        """Return the packages of the entries whose locked hashes are still the compared ones."""
        if review is None or not self._known:
            return {}
        hashes = {
            (root.lock_file, change.address): change.new.hashes
            for root in review.roots
            for change in root.changes
            if change.new is not None
        }
        return {named: found for named, found in self._known.items() if hashes.get(named) == found.hashes}

    def compare(self, source: LockLens, review: Review, top: Path, chosen: frozenset[Named]) -> None:
        """Start to compare the packages of some entries; a run before this one ends."""

        def compare(run: Run) -> Mapping[Named, EntryPackages]:
            tell = partial(run.tell, self._take_progress)
            return source.verify_packages(review, top, chosen, on_progress=tell, cancel=run.cancel)

        self.pending, self.progress = chosen, "looking for packages"
        self._job.start(compare, self._take_result, lambda error: self._end(f"packages: {error.sentence}"))
        self.post_message(self.Changed())

    def stop(self) -> bool:
        """Cancel the run; False if there is none."""
        if not self.progress:
            return False
        self._job.stop()
        self._end("comparing packages: cancelled")
        return True

    def forget(self) -> None:
        """Drop all results, and cancel the run."""
        self._known = {}
        self.stop()

    def _take_progress(self, done: int, total: int) -> None:
        self.progress = f"comparing packages {done}/{total}"
        self.post_message(self.Changed())

    def _take_result(self, found: Mapping[Named, EntryPackages]) -> None:
        self._known |= found
        self._end(comparison_words(found.values()))

    def _end(self, words: str) -> None:
        self.pending, self.progress = frozenset(), ""
        self.post_message(self.Changed(words))
