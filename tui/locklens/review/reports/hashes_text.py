"""The proof of each locked hash as plain text: a table for each provider, by platform."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.hashes import is_of_files
from locklens.review.coverage import coverage
from locklens.review.model import HashCount, Proof
from locklens.review.reports.cover import coverage_lines, in_words, policy_lines
from locklens.review.reports.evidence import (
    host_lines,
    shared_problem_lines,
    shared_problems,
    unreported_problem_lines,
    without_cause,
)
from locklens.review.reports.evidence_lines import hash_line, mirror_lines, proof_span, why_unknown
from locklens.review.reports.lines import Role, plain_lines
from locklens.review.reports.signer_lines import signer_change_lines
from locklens.review.reports.words import hash_words, verdict_words
from locklens.text import Painted, counted, page, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.review.model import Change, Review, RootReview
    from locklens.review.reports.documents import PackageJson
    from locklens.review.reports.lines import Line as ReportLine
    from locklens.text import Line, Printable

    Packages = Mapping[tuple[str, ProviderAddress], Sequence[PackageJson]]

_COLOURS = {Proof.STALE: "31;1", Proof.UNKNOWN: "33"}


def render(review: Review, *, colour: bool = False, packages: Packages | None = None) -> Printable:
    """Return the report.

    Args:
        review: One with unchanged providers.
        colour: True to mark proofs with ANSI colours, which add no information.
        packages: As of the JSON document.
    """
    return page(_lines(review, packages or {}), colour=colour)


def _lines(review: Review, packages: Packages) -> Iterator[Line]:
    roots = [root for root in review.roots if any(change.new for change in root.changes) or root.findings]
    facts = [fact for root in roots for change in root.changes for fact in change.locked]
    locks = counted(sum(root.new.exists for root in roots), "lock file")
    yield f"locklens hashes  {locks}, {hash_words(HashCount.of(facts), 'locked') or 'no hashes'}"
    shared = shared_problems(change for root in roots for change in root.changes if change.new is not None)
    for root in roots:
        yield ""
        yield from _root(root, review, shared, packages)
    yield ""
    yield from shared_problem_lines(shared)
    yield from plain_lines(policy_lines(review))
    yield ""
    proofs = Counter(fact.proof for fact in facts)
    if facts:
        yield ", ".join(f"{proofs[proof]} {proof}" for proof in Proof if proofs[proof])
    for line in host_lines(review):
        yield f"registry {line}"
    for note in review.notes:
        yield f"note: {note}"
    yield f"verdict: {verdict_words(review)}"


def _root(root: RootReview, review: Review, shared: Collection[tuple[str, str]], packages: Packages) -> Iterator[Line]:
    yield f"{root.lock_file}  ({root.tool.product})"
    for finding in root.findings:
        yield f"  {finding.rule} {finding.severity.upper()} {finding.message}"
    for change in sorted(root.changes, key=lambda one: one.address.sort_key):
        if change.new is not None:
            yield from _provider(change, root, review, shared)
            for package in packages.get((root.lock_file, change.address), ()):
                yield from _package(package)


def _provider(change: Change, root: RootReview, review: Review, shared: Collection[tuple[str, str]]) -> Iterator[Line]:
    assert change.new is not None
    facts = change.locked
    name = change.address.short(root.tool.default_host)
    covered = coverage(change, review.policy)
    counts = hash_words(HashCount.of(facts), "locked") or "no hashes"
    yield f"  {name} {change.new.version}  {counts}, {in_words(covered)}"
    if covered.is_wanted and len(covered.covered) < len(covered.platforms):
        yield from plain_lines(coverage_lines(covered), indent=" " * 6)
    for finding in change.findings:
        yield f"      {finding.rule} {finding.severity.upper()} {without_cause(finding.message, shared)}"
    old, new = change.old_signer, change.new_signer
    lines: list[ReportLine] = []
    if old is not None or new is not None:
        lines += signer_change_lines(old, new, unknown=why_unknown(change, review, is_asking=False))
    lines += mirror_lines(change)
    lines += unreported_problem_lines(change, shared)
    yield from plain_lines(lines, indent=" " * 6)
    for fact in sorted(facts, key=lambda one: (one.platform is None, one.platform or "", is_of_files(one.hash))):
        proof = proof_span(fact.proof)
        text = f"    {hash_line(' ', Role.PLAIN, fact, proof, in_full=True).text}".removesuffix(proof.text)
        yield text, Painted(proof.text, _COLOURS[fact.proof]) if fact.proof in _COLOURS else proof.text


def _package(package: PackageJson) -> Iterator[Line]:
    """A package on this machine; one that is not as locked with its path and the files that differ."""
    yield f"      package {package.where:12}  {package.platform or '':13}  {package.verdict}".rstrip()
    if package.verdict != "matches":
        yield from (f"          {visible(words)}" for words in (package.path, package.reason) if words)
    for one in package.files or ():
        yield f"          {one.state:8}  {visible(one.name)}"
