"""All that is locked, as rows: each root with its providers, how far they are covered and proven. Knows no width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.coverage import ProviderCoverage, coverage
from locklens.review.model import LookupAnswer, Severity
from locklens.review.reports.cover import coverage_in_short
from locklens.ui.text.evidence import is_settled
from locklens.ui.text.spans import Role, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.policy import Policy
    from locklens.review.model import Change, Review, RootReview

Named = tuple[str, "ProviderAddress"]
"""A provider of a root: by lock file and address."""


class HashRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        key: The same for the same thing after a reload.
        root: Whose lock file it is.
        change: The provider; None for the root's own row.
        named: The providers that it stands for: of a root those that are shown.
        chosen: How many of them are marked.
        cover: How many platforms are covered.
        proof: How many hashes are explained.
    """

    key: str
    root: RootReview
    change: Change | None
    named: tuple[Named, ...] = ()
    chosen: int = 0
    cover: Span = Span("")
    proof: Span = Span("")

    @property
    def name(self) -> str:
        """What the row is called; from outside."""
        if self.change is None:
            return self.root.path or "."
        return self.change.address.short(self.root.tool.default_host)

    @property
    def version(self) -> str:
        """The locked one."""
        return str(self.change.new.version) if self.change is not None and self.change.new is not None else ""

    @property
    def severity(self) -> Severity | None:
        """That of the provider's worst finding, or of the worst about the root itself."""
        if self.change is not None:
            return self.change.severity
        return min((one.severity for one in self.root.findings), key=lambda one: one.rank, default=None)


class LookupState(Struct, frozen=True):
    """How far the asking is: what is not known yet looks otherwise than what nobody will say."""

    is_asking: bool = False
    is_offline: bool = False


def hash_rows(
    review: Review, *, asked: LookupState, chosen: Collection[Named] = (), narrowed: str = ""
) -> tuple[HashRow, ...]:
    """Returns the rows that a filter admits, in the order of roots and providers.

    Args:
        review: One with unchanged providers.
        asked: How far the asking is.
        chosen: The marked providers.
        narrowed: Words that must all be somewhere in a provider's row; `-word` must not.
    """
    words = narrowed.lower().split()
    return tuple(row for root in review.roots for row in _of_root(root, review.policy, asked, chosen, words))


def _of_root(
    root: RootReview, policy: Policy, asked: LookupState, chosen: Collection[Named], words: list[str]
) -> Iterator[HashRow]:
    own = HashRow(root.lock_file, root, None)
    locked = sorted((change for change in root.changes if change.new is not None), key=lambda one: one.address.sort_key)
    rows = [_of_provider(root, change, policy, asked, chosen) for change in locked]
    shown = [row for row in rows if _admits(words, row, policy)] if words else rows
    if shown or (root.findings and _admits(words, own, policy)):
        named = tuple(name for row in shown for name in row.named)
        yield HashRow(own.key, root, None, named, sum(row.chosen for row in shown))
        yield from shown


def _of_provider(
    root: RootReview, change: Change, policy: Policy, asked: LookupState, chosen: Collection[Named]
) -> HashRow:
    named = (root.lock_file, change.address)
    return HashRow(
        f"{root.lock_file}:{change.address}",
        root,
        change,
        (named,),
        int(named in chosen),
        cover_span(change, coverage(change, policy), asked),
        proof_count(change, asked),
    )


def cover_span(change: Change, found: ProviderCoverage, asked: LookupState) -> Span:
    """How many platforms are covered: "3/4", with "?" where nobody knows it of some."""
    if not is_settled(change):
        return Span("…" if asked.is_asking else "?", Role.DIM)
    text = coverage_in_short(found)
    if not text:
        return Span("?", Role.DIM)
    if len(found.covered) == len(found.platforms):
        return Span(text, Role.GOOD)
    return Span(text, Role.WARN if found.missing or found.is_short else Role.DIM)


def proof_count(change: Change, asked: LookupState) -> Span:
    """How many of the locked hashes are explained: "5 of 10"; in a word where nobody was asked."""
    total = len(change.locked)
    evidence = change.evidence
    if not total:
        return Span("no hash", Role.WARN)
    if evidence is None:
        return Span(f"… of {total}" if asked.is_asking else f"? of {total}", Role.DIM)
    explained = sum(fact.is_explained for fact in change.locked)
    if explained == 0 and evidence.problems:
        if evidence.answer is LookupAnswer.NOT_ASKED:
            return Span("offline", Role.DIM) if asked.is_offline else Span("not asked", Role.WARN)
        if evidence.answer is LookupAnswer.FAILED:
            return Span("failed", Role.WARN)
    return Span(f"{explained} of {total}", Role.GOOD if explained == total else Role.WARN)


def _admits(words: Iterable[str], row: HashRow, policy: Policy) -> bool:
    text = _text(row, policy)
    return all((word[1:] not in text) if word.startswith("-") and len(word) > 1 else word in text for word in words)


def _text(row: HashRow, policy: Policy) -> str:
    """All that the filter looks at, in lower case."""
    root, change = row.root, row.change
    parts = [root.path, root.lock_file, *(f"{one.rule} {one.message}" for one in root.findings if change is None)]
    if change is not None:
        found = coverage(change, policy)
        parts += [str(change.address), row.version, *(f"{one.rule} {one.message}" for one in change.findings)]
        parts += [f"{fact.hash} {fact.platform or ''} {fact.proof}" for fact in change.locked]
        parts += ["not-covered"] if found.missing or found.is_short else []
        parts += ["not-proven"] if any(not fact.is_explained for fact in change.locked) else []
    return "\n".join(parts).lower()


def selected_hash_row(rows: Iterable[HashRow]) -> frozenset[Named]:
    """All providers that rows stand for."""
    return frozenset(named for row in rows for named in row.named)
