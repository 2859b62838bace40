"""The proof of each locked hash as plain text, by provider and platform; and platform coverage in words.

The Hashes screen shows the same lines of coverage.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.hashes import is_of_files
from locklens.lines import FilePlace, Line, Role, Span, heading, line, plain_lines
from locklens.review.coverage import ProviderCoverage, coverage
from locklens.review.model import PROOF_KINDS, Change, HashCount, Proof, Review, RootReview
from locklens.review.reports import evidence_lines
from locklens.review.reports.keys import signer_change_lines
from locklens.review.reports.words import hash_words, verdict_words
from locklens.text import Printable, counted, page, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.policy import InstallPath, Policy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.review.reports.documents import PackageJson
    from locklens.review.reports.lock_documents import Packages

    _Printed = Line | str


def render(review: Review, *, colour: bool = False, packages: Packages | None = None) -> Printable:
    """Return the report.

    Args:
        review: One with unchanged providers.
        colour: True to mark proofs with ANSI colours, which add no information.
        packages: The packages on this machine, by lock file and provider.
    """
    return page(_lines(review, packages or {}), colour=colour)


def _lines(review: Review, packages: Packages) -> Iterator[_Printed]:
    roots = [root for root in review.roots if any(change.new for change in root.changes) or root.findings]
    facts = [fact for root in roots for change in root.changes for fact in change.locked]
    locks = counted(sum(root.new.exists for root in roots), "lock file")
    yield f"locklens hashes  {locks}, {hash_words(HashCount.of(facts), 'locked') or 'no hashes'}"
    shared = evidence_lines.shared_problems(
        change for root in roots for change in root.changes if change.new is not None
    )
    for root in roots:
        yield ""
        yield from _root(root, review, shared, packages)
    yield ""
    yield from evidence_lines.shared_problem_lines(shared)
    yield from plain_lines(policy_lines(review))
    yield ""
    proofs = Counter(fact.proof for fact in facts)
    if facts:
        yield ", ".join(f"{proofs[proof]} {proof}" for proof in Proof if proofs[proof])
    for host in evidence_lines.host_lines(review):
        yield f"registry {host}"
    for note in review.notes:
        yield f"note: {note}"
    yield f"verdict: {verdict_words(review)}"


def _root(
    root: RootReview, review: Review, shared: Collection[tuple[str, str]], packages: Packages
) -> Iterator[_Printed]:
    yield f"{root.lock_file}  ({root.tool.product})"
    for finding in root.findings:
        yield f"  {finding.rule} {finding.severity.upper()} {finding.message}"
    for change in sorted(root.changes, key=lambda one: one.address.sort_key):
        if change.new is not None:
            yield from _provider(change, root, review, shared)
            for package in packages.get((root.lock_file, change.address), ()):
                yield from _package(package)


def _provider(
    change: Change, root: RootReview, review: Review, shared: Collection[tuple[str, str]]
) -> Iterator[_Printed]:
    assert change.new is not None
    facts = change.locked
    name = change.address.short(root.tool.default_host)
    covered = coverage(change, review.policy)
    counts = hash_words(HashCount.of(facts), "locked") or "no hashes"
    yield f"  {name} {change.new.version}  {counts}, {in_words(covered)}"
    if covered.is_wanted and len(covered.covered) < len(covered.platforms):
        yield from plain_lines(coverage_lines(covered), indent=" " * 6)
    for finding in change.findings:
        yield f"      {finding.rule} {finding.severity.upper()} {evidence_lines.without_cause(finding.message, shared)}"
    old, new = change.old_signer, change.new_signer
    lines: list[Line] = []
    if old is not None or new is not None:
        lines += signer_change_lines(old, new, unknown=evidence_lines.why_unknown(change, review, is_asking=False))
    lines += evidence_lines.mirror_lines(change)
    lines += evidence_lines.unreported_problem_lines(change, shared)
    yield from plain_lines(lines, indent=" " * 6)
    for fact in sorted(facts, key=lambda one: (one.platform is None, one.platform or "", is_of_files(one.hash))):
        proof = evidence_lines.proof_span(fact.proof)
        shown = evidence_lines.hash_line(
            " ", Role.PLAIN, fact, proof if PROOF_KINDS[fact.proof].is_alarming else Span(proof.text), in_full=True
        )
        yield line("    ", *shown.spans)


def _package(package: PackageJson) -> Iterator[str]:
    """A package on this machine; one that is not as locked with its path and the files that differ."""
    yield f"      package {package.where:12}  {package.platform or '':13}  {package.verdict}".rstrip()
    if package.verdict != "matches":
        yield from (f"          {visible(words)}" for words in (package.path, package.reason) if words)
    for one in package.files or ():
        yield f"          {one.state:8}  {visible(one.name)}"


_PLATFORM_WIDTH = 14

NAME_THEM = 'list required platforms in locklens.toml, such as platforms = ["linux_amd64"], and commit it'
"""The next step without required platforms."""


def coverage_in_short(coverage: ProviderCoverage) -> str:
    """The number of covered platforms: "3/4"; "3/4?" if some of the others are unknown; "" without platforms."""
    if not coverage.platforms:
        return ""
    doubt = "?" if coverage.doubtful else ""
    return f"{len(coverage.covered)}/{len(coverage.platforms)}{doubt}"


def in_words(coverage: ProviderCoverage) -> str:
    """The number of covered platforms as a phrase."""
    if not coverage.platforms:
        return "platforms unknown"
    which = "required platforms" if coverage.is_wanted else "known platforms"
    doubt = f", {len(coverage.doubtful)} unknown" if coverage.doubtful else ""
    return f"covers {len(coverage.covered)} of {len(coverage.platforms)} {which}{doubt}"


def needs_words(path: InstallPath) -> str:
    """The hashes that are enough on a path."""
    return f"only {path.only} counts" if path.only else "zh or h1 is enough"


def coverage_lines(found: ProviderCoverage) -> Iterator[Line]:
    """A heading, and for each install path the number of covered platforms and the others by name."""
    scope = "required platforms" if found.is_wanted else "known platforms"
    yield line(Span(f"COVERAGE  {scope}, by install path", Role.HEADING))
    for path in found.paths:
        count = f"{len(path.covered)} of {path.platforms}" if found.platforms else "unknown"
        is_complete = len(path.covered) == path.platforms
        role = Role.GOOD if is_complete else Role.WARN if path.at_least_missing else Role.DIM
        needs = Span(needs_words(path.path), Role.DIM)
        yield line(f"  {path.path.value:<{_PLATFORM_WIDTH + 2}}", Span(f"{count:<9} ", role), needs, hanging=4)
        if path.missing:
            yield line(Span("    missing       ", Role.WARN), ", ".join(path.missing), hanging=18)
        if path.doubtful:
            yield line(Span("    unknown       ", Role.DIM), ", ".join(path.doubtful), hanging=18)


def policy_lines(review: Review) -> Iterator[Line]:
    """The required platforms with their reasons, the source of the policy, and the install paths."""
    policy = review.policy
    yield line(Span(f"REQUIRED PLATFORMS  {source_words(review) if policy.file else 'no locklens.toml'}", Role.HEADING))
    for required in policy.platforms:
        place = FilePlace(policy.file, required.line) if review.policy_side.value != "given" else None
        yield line(
            f"  {required.platform!s:<{_PLATFORM_WIDTH}}",
            Span(required.why, Role.DIM),
            hanging=_PLATFORM_WIDTH + 2,
            place=place,
        )
    if not policy.platforms:
        yield line(Span("  none configured", Role.DIM))
        yield line(Span(f"  -> {NAME_THEM}", Role.DIM), hanging=5)
    yield from heading("INSTALL PATHS")
    for path in policy.paths_in_order:
        where = f"  {local_words(path, policy)}".rstrip()
        yield line(f"  {path.value:<{_PLATFORM_WIDTH + 2}}", Span(f"{needs_words(path)}{where}", Role.DIM), hanging=4)


def local_words(path: InstallPath, policy: Policy) -> str:
    """The origin of an install path that the policy does not name, and the platform that it is used for; or ""."""
    return f"on {policy.local_platform}, by the CLI configuration" if path in policy.local_paths else ""


def source_words(review: Review) -> str:
    """The source of the policy."""
    match review.policy_side.value:
        case "base":
            return f"{review.policy.file} of {review.base.tip_name}"
        case "head":
            return f"{review.policy.file} of this folder"
        case "given":
            return f"{review.policy.file}, given with --policy"
        case _:
            return "none"
