"""The rows of the Hashes screen, the locked entries with their coverage and proof, and the list that paints them.

The same entry in several roots is one row, which unfolds.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from locklens.lines import Role, Span
from locklens.review import VERIFIED, HashCount
from locklens.review.coverage import ProviderCoverage, coverage
from locklens.review.findings import Severity, severity_rank, worst
from locklens.review.reports import severity_span
from locklens.review.reports.lock_lines import coverage_in_short
from locklens.text import identity_of
from locklens.ui.hashes.packages import PACKAGE_FILTER_WORDS, Named, package_filter_words, packages_span
from locklens.ui.phrases import unverified_in_row
from locklens.ui.review.outline import RootChange, collected, provider_name
from locklens.ui.shell.filtering import ALL, PLATFORM, PROOF, PROVIDER, ROOT, RULE, Filter, Grammar, RowFacts
from locklens.ui.widgets import StyledPiece, fitted_end, fitted_name, harmless
from locklens.ui.widgets.row_list import Column, FoldingList, check_mark, fold_marker

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from locklens.operations.verification import EntryPackages
    from locklens.policy import Policy
    from locklens.review.model import Change, Review, RootReview

HASHES_GRAMMAR = Grammar(
    "provider, version, root, finding, platform, proof or hash",
    (ROOT, PROVIDER, RULE, PROOF, PLATFORM),
    {
        "not-covered": "a required platform has no usable hash for some path",
        "unverified": "not all hashes are verified",
        **dict.fromkeys(PACKAGE_FILTER_WORDS, "a package on this machine has this verdict, after p"),
    },
)


class HashRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        depth: 0 for a section: a root, or the entries that several roots share; 1 for an entry; 2 for a root of it.
        root: The root of the lock file; None for several.
        subjects: The entries of the row, those with the worst findings first; for a section those that are shown.
        folded: None for a row without a fold.
        shared: For the section of a root, the number of its entries that are in the section of several roots.
        cover: Number of covered platforms.
        proof: Number of hashes that are not verified.
        packages: The most urgent verdict on the packages of this machine; "" before they were compared.
        tool: The tool whose default registry has the provider, where that of another row has the same name; else "".
    """

    key: str
    depth: int
    root: RootReview | None
    subjects: tuple[RootChange, ...] = ()
    folded: bool | None = None
    shared: int = 0
    marked: int = 0
    cover: Span = Span("")
    proof: Span = Span("")
    packages: Span = Span("")
    tool: str = ""

    @property
    def named(self) -> tuple[Named, ...]:
        """The providers of the row, in each of its roots."""
        return tuple(subject.named for subject in self.subjects)

    @property
    def change(self) -> Change | None:
        """The entry, or the first of several equal ones; None for a section."""
        return self.subjects[0].change if self.depth else None

    @property
    def name(self) -> str:
        """The name of the root or provider; untrusted text."""
        if self.root is not None and self.depth != 1:
            return self.root.path or "."
        if not self.depth:
            return "in several roots"
        return f"{provider_name(self.subjects[0])}{f' ({self.tool})' if self.tool else ''}"

    @property
    def version(self) -> str:
        """The locked version; "" for a section, and for a root below an entry, which has it."""
        change = self.change if self.depth == 1 else None
        return str(change.new.version) if change is not None and change.new is not None else ""

    @property
    def constraints(self) -> str:
        """The constraints that the lock file records; "" if the roots of the row have other ones."""
        found = {subject.change.new.constraints for subject in self.subjects if subject.change.new is not None}
        return found.pop() if self.depth and len(found) == 1 else ""

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst finding about the row's entries; of a root's section, about the root too."""
        found = [each.change.severity for each in self.subjects]
        found += [worst(self.root.findings)] if self.root is not None and not self.depth else []
        return min(found, key=severity_rank, default=None)

    @property
    def has_findings(self) -> bool:
        """True if a finding is about this row alone: about its entry, or about the root as such."""
        if self.depth:
            return self.severity is not None
        return self.root is not None and worst(self.root.findings) is not None


class _Inputs(Struct, frozen=True):
    """What rows are made from besides the entries; see `hash_rows`."""

    policy: Policy
    is_asking: bool
    marked: Collection[Named]
    narrowed: Filter
    packages: Mapping[Named, EntryPackages]
    unfolded: Collection[str]


def hash_rows(
    review: Review,
    *,
    is_asking: bool = False,
    marked: Collection[Named] = (),
    narrowed: Filter = ALL,
    packages: Mapping[Named, EntryPackages] | None = None,
    unfolded: Collection[str] = (),
) -> tuple[HashRow, ...]:
    """Return the rows that match a filter: entries that several roots share, then each root with its own.

    The review includes unchanged providers. While `is_asking`, a fact that is still unknown is shown as "…", not "?".
    `packages` are those of the entries that were compared; `unfolded` are the keys of the rows that show their roots.
    """
    inputs = _Inputs(review.policy, is_asking, marked, narrowed, packages or {}, unfolded)
    matching = (
        RootChange(root, change)
        for root in review.roots
        for change in root.changes
        if change.new is not None and _matches(inputs, root, change)
    )
    alike = collected(matching, lambda subject: _entry(subject.change))
    groups = sorted(alike.values(), key=lambda members: members[0].change.address.sort_key)
    rows = [row for members in groups if len(members) > 1 for row in _of_group(members, inputs)]
    alone = collected((members[0] for members in groups if len(members) == 1), lambda one: one.root.lock_file)
    of_several = [subject for members in groups if len(members) > 1 for subject in members]
    shared = Counter(subject.root.lock_file for subject in of_several)
    if rows:
        rows.insert(0, _section("in several roots", None, of_several, inputs))
    for root in review.roots:
        own = alone.get(root.lock_file, [])
        if own or (root.findings and _matches(inputs, root)):
            rows.append(_section(root.lock_file, root, own, inputs, shared=shared[root.lock_file]))
            rows += (_of_entry(f"{root.lock_file}:{one.change.address}", [one], inputs) for one in own)
    return tuple(_told_apart(rows))


def _told_apart(rows: list[HashRow]) -> Iterator[HashRow]:
    """Add the tool to the names that providers of the default registries of both tools share."""
    named = Counter(name for name, _ in {(row.name, row.subjects[0].change.address) for row in rows if row.depth == 1})
    for row in rows:
        is_shared = row.depth == 1 and named[row.name] > 1
        yield replace(row, tool=row.subjects[0].root.tool.command) if is_shared else row


def _entry(change: Change) -> tuple[object, ...]:
    """What equal entries have in common: all that a row and its detail say about them, except findings and places."""
    evidence = change.evidence
    known = (evidence.offered, evidence.hashed, evidence.problems, evidence.mirrors) if evidence is not None else None
    version = str(change.new.version) if change.new is not None else ""
    return change.address, version, frozenset(change.locked), known


def _section(
    key: str, root: RootReview | None, subjects: list[RootChange], inputs: _Inputs, *, shared: int = 0
) -> HashRow:
    marked = sum(subject.named in inputs.marked for subject in subjects)
    return HashRow(key, 0, root, tuple(subjects), shared=shared, marked=marked)


def _of_group(members: list[RootChange], inputs: _Inputs) -> Iterator[HashRow]:
    """The row of an entry that several roots have, and below it its roots if it is unfolded."""
    change = members[0].change
    key = identity_of("hashes", str(change.address), *sorted(fact.hash for fact in change.locked))
    is_unfolded = key in inputs.unfolded
    ordered = sorted(members, key=lambda one: severity_rank(one.change.severity))
    yield _of_entry(key, ordered, inputs, folded=not is_unfolded)
    for one in members if is_unfolded else ():
        yield _of_entry(f"{one.root.lock_file}:{change.address}", [one], inputs, depth=2)


def _of_entry(
    key: str, subjects: list[RootChange], inputs: _Inputs, *, depth: int = 1, folded: bool | None = None
) -> HashRow:
    first = subjects[0]
    return HashRow(
        key,
        depth,
        first.root if len(subjects) == 1 else None,
        tuple(subjects),
        folded,
        marked=sum(subject.named in inputs.marked for subject in subjects),
        cover=cover_span(first.change, coverage(first.change, inputs.policy), is_asking=inputs.is_asking),
        proof=proof_count(first.change, is_asking=inputs.is_asking),
        packages=packages_span([inputs.packages.get(subject.named) for subject in subjects]),
    )


def cover_span(change: Change, platforms: ProviderCoverage, *, is_asking: bool) -> Span:
    """The number of covered platforms: "3/4", with "?" if the state of some is unknown."""
    if not change.is_settled:
        return Span("…" if is_asking else "?", Role.DIM)
    text = coverage_in_short(platforms)
    if not text:
        return Span("?", Role.DIM)
    if len(platforms.covered) == len(platforms.platforms):
        return Span(text, Role.GOOD)
    return Span(text, Role.WARN if platforms.is_short else Role.DIM)


def proof_count(change: Change, *, is_asking: bool) -> Span:
    """The number of hashes that are not verified: "5 of 10"."""
    if not change.locked:
        return Span("no hash", Role.WARN)
    if change.evidence is None:
        return Span(f"{'…' if is_asking else '?'} of {len(change.locked)}", Role.DIM)
    return unverified_in_row(HashCount.of(change.locked))


def _matches(inputs: _Inputs, root: RootReview, change: Change | None = None) -> bool:
    return not inputs.narrowed.tests or inputs.narrowed.is_match(_facts(root, change, inputs))


def _facts(root: RootReview, change: Change | None, inputs: _Inputs) -> RowFacts:
    """What the filter looks at in an entry, or in a root as such."""
    findings = root.findings if change is None else change.findings
    parts = [root.path, root.lock_file, *(f"{finding.rule} {finding.message}" for finding in findings)]
    fields: dict[str, Iterable[str]] = {
        ROOT.name: (root.path or ".",),
        RULE.name: tuple(finding.rule for finding in findings),
        PROVIDER.name: tuple(str(provider) for finding in findings for provider in finding.providers),
    }
    words: list[str] = []
    if change is not None:
        platforms = coverage(change, inputs.policy)
        parts += [str(change.address), str(change.new.version) if change.new is not None else ""]
        parts += [f"{fact.hash} {fact.platform or ''} {fact.proof}" for fact in change.locked]
        fields[PROVIDER.name] = (str(change.address),)
        fields[PLATFORM.name] = tuple(fact.platform for fact in change.locked if fact.platform)
        fields[PROOF.name] = tuple(fact.proof.value for fact in change.locked) if change.is_settled else ()
        words += ["not-covered"] if platforms.is_short else []
        words += ["unverified"] if any(not fact.is_verified for fact in change.locked) else []
        words += package_filter_words(inputs.packages.get((root.lock_file, change.address)))
    return RowFacts("\n".join(parts).lower(), worst(findings), fields, words)


_SEVERITY = 6


def _name(row: HashRow) -> Span:
    number = f" ×{len(row.subjects)}" if row.folded is not None else ""
    return Span(f"{'  ' * (row.depth - 1)}{row.name}{number}", Role.PLACE if row.depth > 1 else Role.PLAIN)


class HashList(FoldingList[HashRow]):
    """Entries that several roots share, and roots with their own, in the order of their names and paths."""

    COLUMNS = (
        Column[HashRow](
            "provider",
            _name,
            "×87: 87 roots have the same version, hashes and proof: v, p, L and marks act on them all; l shows them",
            fit=fitted_name,
        ),
        Column[HashRow]("version", lambda row: Span(row.version, Role.DIM), "the locked version", most=14),
        Column[HashRow](
            "constraints",
            lambda row: Span(row.constraints, Role.DIM),
            "the constraints in the lock file, on wide screens; empty where the roots of a row have other ones",
            takes_rest=True,
            is_optional=True,
            from_width=90,
        ),
        Column[HashRow](
            "coverage",
            lambda row: row.cover,
            "3/4: 3 of 4 required platforms (or else known platforms) have a hash for every path; 3/4? if the"
            " state of some others is unknown",
            is_at_end=True,
        ),
        Column[HashRow](
            "unverified",
            lambda row: row.proof,
            f"5 of 10: 5 of 10 locked hashes are not verified: their proof is not {VERIFIED}",
            is_at_end=True,
        ),
        Column[HashRow](
            "packages",
            lambda row: row.packages,
            "the most urgent verdict on the packages of this machine, after p",
            is_at_end=True,
            is_optional=True,
            from_width=76,
        ),
    )
    LEAD = FoldingList.MARK.stop + _SEVERITY

    def is_heading(self, row: HashRow) -> bool:
        """True for a root whose providers are listed below it."""
        return row.change is None and bool(row.named)

    def has_cells(self, row: HashRow) -> bool:
        """True below a section."""
        return row.depth > 0

    def painted(self, row: HashRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a section, an entry, or a root of it."""
        lead = [
            Span(">" if cursor else " ", Role.STRONG),
            Span(f"{' ' if row.depth else ''}{fold_marker(folded=row.folded)} ".ljust(self.MARK.start - 1), Role.DIM),
            check_mark(row.marked, len(row.subjects)) if row.depth or row.marked else Span("  "),
            severity_span(row.severity, width=_SEVERITY) if row.severity else Span(" " * _SEVERITY),
        ]
        if row.depth:
            return [*lead, *self.columns.painted(row)]
        note = f"  +{row.shared} shared" if row.shared else ""
        room = max(0, width - self.LEAD - len(note))
        shown = fitted_end(row.name, min(room, cell_len(harmless(row.name))))
        return [*lead, Span(shown, Role.HEADING), Span(note, Role.DIM)]
