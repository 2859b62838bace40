"""The rows of the Hashes screen: each root with its providers, their coverage and their proof. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.coverage import ProviderCoverage, coverage
from locklens.review.model import HashCount, Severity
from locklens.review.reports.cover import coverage_in_short
from locklens.review.reports.evidence_lines import is_settled
from locklens.review.reports.lines import Role, Span
from locklens.ui.hashes.packages import PACKAGE_FILTER_WORDS, package_filter_words, package_span
from locklens.ui.shell.filtering import PLATFORM, PROOF, PROVIDER, ROOT, RULE, Filter, Grammar, RowFacts
from locklens.ui.text.evidence import unverified_in_row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.operations.verification.judging import EntryPackages
    from locklens.policy import Policy
    from locklens.review.model import Change, Review, RootReview

Named = tuple[str, "ProviderAddress"]
"""The key of a provider in a root: lock file and address."""


HASHES_GRAMMAR = Grammar(
    "provider, version, root, finding, platform, proof or hash",
    (ROOT, PROVIDER, RULE, PROOF, PLATFORM),
    {
        "not-covered": "a required platform cannot be installed on some path",
        "unverified": "not all hashes are verified",
        **dict.fromkeys(PACKAGE_FILTER_WORDS, "a package on this machine has this verdict, after p"),
    },
)
_ALL = Filter()


class HashRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        key: Stable across reloads.
        root: The root of the lock file.
        change: The provider; None for the row of the root.
        named: The providers of the row: for a root those that are shown.
        marked: Number of marked providers among them.
        cover: Number of covered platforms.
        proof: Number of verified hashes.
        packages: The most urgent verdict on the packages of this machine; "" before they were compared.
    """

    key: str
    root: RootReview
    change: Change | None
    named: tuple[Named, ...] = ()
    marked: int = 0
    cover: Span = Span("")
    proof: Span = Span("")
    packages: Span = Span("")

    @property
    def name(self) -> str:
        """The name of the root or provider; untrusted text."""
        if self.change is None:
            return self.root.path or "."
        return self.change.address.short(self.root.tool.default_host)

    @property
    def version(self) -> str:
        """The locked version; "" for a root."""
        return str(self.change.new.version) if self.change is not None and self.change.new is not None else ""

    @property
    def severity(self) -> Severity | None:
        """The severity of the provider's worst finding, or of the worst root-level finding."""
        if self.change is not None:
            return self.change.severity
        return min((finding.severity for finding in self.root.findings), key=lambda each: each.rank, default=None)


class LookupState(Struct, frozen=True):
    """The state of the lookup: facts that are still unknown look different from those that stay unknown."""

    is_asking: bool = False
    is_offline: bool = False


def hash_rows(
    review: Review,
    *,
    asked: LookupState,
    marked: Collection[Named] = (),
    narrowed: Filter = _ALL,
    packages: Mapping[Named, EntryPackages] | None = None,
) -> tuple[HashRow, ...]:
    """Return the rows that match a filter, in the order of roots and providers.

    Args:
        review: A review that includes unchanged providers.
        asked: State of the lookup.
        marked: The marked providers.
        narrowed: The filter.
        packages: The packages of entries that were compared.
    """
    known = packages or {}
    return tuple(row for root in review.roots for row in _of_root(root, review.policy, asked, marked, narrowed, known))


def _of_root(
    root: RootReview,
    policy: Policy,
    asked: LookupState,
    marked: Collection[Named],
    narrowed: Filter,
    packages: Mapping[Named, EntryPackages],
) -> Iterator[HashRow]:
    root_row = HashRow(root.lock_file, root, None)
    locked = (change for change in root.changes if change.new is not None)
    ordered = sorted(locked, key=lambda change: change.address.sort_key)
    rows = [_of_provider(root, change, policy, asked, marked, packages) for change in ordered]
    shown = [row for row in rows if _matches(narrowed, row, policy, packages)] if narrowed.tests else rows
    if shown or (root.findings and _matches(narrowed, root_row, policy, packages)):
        named = tuple(name for row in shown for name in row.named)
        yield HashRow(root_row.key, root, None, named, sum(row.marked for row in shown))
        yield from shown


def _of_provider(
    root: RootReview,
    change: Change,
    policy: Policy,
    asked: LookupState,
    marked: Collection[Named],
    packages: Mapping[Named, EntryPackages],
) -> HashRow:
    named = (root.lock_file, change.address)
    return HashRow(
        f"{root.lock_file}:{change.address}",
        root,
        change,
        (named,),
        int(named in marked),
        cover_span(change, coverage(change, policy), asked),
        proof_count(change, asked),
        package_span(packages.get(named)),
    )


def cover_span(change: Change, platforms: ProviderCoverage, asked: LookupState) -> Span:
    """The number of covered platforms: "3/4", with "?" if the state of some is unknown."""
    if not is_settled(change):
        return Span("…" if asked.is_asking else "?", Role.DIM)
    text = coverage_in_short(platforms)
    if not text:
        return Span("?", Role.DIM)
    if len(platforms.covered) == len(platforms.platforms):
        return Span(text, Role.GOOD)
    return Span(text, Role.WARN if platforms.missing or platforms.is_short else Role.DIM)


def proof_count(change: Change, asked: LookupState) -> Span:
    """The number of hashes that are not verified: "5 of 10"."""
    total = len(change.locked)
    evidence = change.evidence
    if not total:
        return Span("no hash", Role.WARN)
    if evidence is None:
        return Span(f"… of {total}" if asked.is_asking else f"? of {total}", Role.DIM)
    return unverified_in_row(HashCount.of(change.locked))


def _matches(narrowed: Filter, row: HashRow, policy: Policy, packages: Mapping[Named, EntryPackages]) -> bool:
    return not narrowed.tests or narrowed.is_match(_facts(row, policy, packages))


def _facts(row: HashRow, policy: Policy, packages: Mapping[Named, EntryPackages]) -> RowFacts:
    """What the filter looks at."""
    root, change = row.root, row.change
    findings = root.findings if change is None else change.findings
    parts = [root.path, root.lock_file, *(f"{finding.rule} {finding.message}" for finding in findings)]
    fields: dict[str, Iterable[str]] = {
        ROOT.name: (root.path or ".",),
        RULE.name: tuple(finding.rule for finding in findings),
    }
    words: list[str] = []
    if change is not None:
        platforms = coverage(change, policy)
        parts += [str(change.address), row.version]
        parts += [f"{fact.hash} {fact.platform or ''} {fact.proof}" for fact in change.locked]
        fields[PROVIDER.name] = (str(change.address),)
        fields[PLATFORM.name] = tuple(fact.platform for fact in change.locked if fact.platform)
        fields[PROOF.name] = tuple(fact.proof.value for fact in change.locked) if is_settled(change) else ()
        words += ["not-covered"] if platforms.missing or platforms.is_short else []
        words += ["unverified"] if any(not fact.is_verified for fact in change.locked) else []
        words += package_filter_words(packages.get((root.lock_file, change.address)))
    return RowFacts("\n".join(parts).lower(), row.severity, fields, words)


def selected_hash_row(rows: Iterable[HashRow]) -> frozenset[Named]:
    """The providers of some rows."""
    return frozenset(named for row in rows for named in row.named)
