"""The detail of a locked provider or root, and the head, status line and facts panel of the Hashes screen."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from locklens.hashes import Scheme, is_of_files, registry_manifests, scheme_of
from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.operations.verification import EntryPackages, PackageVerdict
from locklens.review import HashCount, HashFact
from locklens.review.coverage import LockedHashes, ProviderCoverage, coverage
from locklens.review.model import CONTRADICTED, Change, ChangeKind, Review, RootReview
from locklens.review.reports import hash_words, hashes_of_review
from locklens.review.reports.evidence_lines import (
    PROOFS,
    comparing_words,
    hash_line,
    mirror_lines,
    problem_lines,
    proof_span,
    unsettled,
)
from locklens.review.reports.lock_lines import NAME_THEM, coverage_lines, in_words, policy_lines, source_words
from locklens.text import counted, shell_words
from locklens.ui.clipboard import ShellText, change_copied
from locklens.ui.hashes.packages import Named, counts_line, differ_words, package_counts, package_lines
from locklens.ui.review.detail import asked_lines, finding_lines, one_of_each_rule
from locklens.ui.review.outline import collected
from locklens.ui.shell.bars import (
    fact_line,
    head_line,
    locked_head,
    lookup_parts,
    note_lines,
    registry_lines,
    status_line,
)
from locklens.ui.widgets import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from locklens.operations.review.request import Progress
    from locklens.policy import Policy
    from locklens.ui.hashes.rows import HashRow

_PLATFORM_WIDTH = 14
_CELL_WIDTH = max(map(len, PROOFS)) + 1
"""Characters of the longest proof, and a blank."""
_NOWHERE = "of unknown platform"
_ROOTS_NAMED = 4


class PackagesShown(NamedTuple):
    """The compared packages of entries, and the entries whose packages are being compared."""

    known: Mapping[Named, EntryPackages] = {}
    pending: Collection[Named] = ()


NO_PACKAGES = PackagesShown()


def hash_detail(
    row: HashRow,
    review: Review,
    *,
    packages: PackagesShown = NO_PACKAGES,
    in_full: bool = False,
    is_asking: bool = False,
) -> Iterator[Line]:
    """The detail of the row of a provider or a root."""
    if row.depth:
        yield from _provider_lines(row, review, packages, in_full=in_full, is_asking=is_asking)
    elif row.root is not None:
        yield from _root_lines(row.root, review, packages, in_full=in_full, is_asking=is_asking)
    else:
        yield from _shared_lines(row, review, is_asking=is_asking)


def _provider_lines(
    row: HashRow, review: Review, packages: PackagesShown, *, in_full: bool, is_asking: bool
) -> Iterator[Line]:
    root, change = row.subjects[0].root, row.subjects[0].change
    assert change.new is not None
    place = FilePlace(root.lock_file, change.new.line)
    yield line(Span(f"{change.address} {change.new.version}", Role.STRONG), hanging=2, copied=change_copied(change))
    if len(row.subjects) == 1:
        yield line(Span(str(place), Role.PLACE), Span(_changed(change, root, review), Role.DIM), hanging=2, place=place)
    else:
        yield from _roots_in_short(row, review)
    platforms = coverage(change, review.policy)
    if change.evidence is None:
        yield line(Span("  … " if is_asking else "  ? ", Role.STRONG), unsettled(is_asking=is_asking), hanging=4)
    yield from mirror_lines(change)
    if change.evidence is not None and change.evidence.problems:
        yield from problem_lines(change.evidence.problems, change.evidence.hint)
    yield from _matrix_lines(change, root, platforms, review.policy, is_asking=is_asking)
    yield from _coverage_lines(platforms, LockedHashes.of(change), is_offline=review.offline)
    if len(row.subjects) == 1:
        (named,) = row.named
        is_comparing = named in packages.pending
        yield from package_lines(packages.known.get(named), str(change.new.version), is_comparing=is_comparing)
    elif known := [packages.known[named] for named in row.named if named in packages.known]:
        some = f"{len(known)} of " if len(known) < len(row.subjects) else ""
        yield from heading(f"PACKAGES ON THIS MACHINE  in {some}{counted(len(row.subjects), 'root')}")
        yield counts_line(known)
    is_alike = len({tuple((one.rule, one.message) for one in each.change.findings) for each in row.subjects}) == 1
    if change.findings:
        yield from heading("FINDINGS" if is_alike else f"FINDINGS  as in {root.path or '.'}")
        for own in one_of_each_rule(change.findings):
            yield from finding_lines(*own, in_full=in_full)
    if not is_alike:
        words = "  Findings differ between the roots; those of the worst one are shown. Unfold to compare."
        yield line(Span(words, Role.DIM), hanging=2)
    yield from _hash_lines(change, root, in_full=in_full, is_asking=is_asking)
    yield from _proving_lines(change, is_offline=review.offline)
    yield from _ladder_lines(change.locked)
    if len(row.subjects) > 1:
        yield from _each_root(row, review)
    yield Line()
    yield from policy_lines(review)


def _roots_in_short(row: HashRow, review: Review) -> Iterator[Line]:
    """How many roots have the version with these hashes, which, and in how many of them it changed."""
    names = [each.root.path or "." for each in row.subjects]
    more = f" and {len(names) - _ROOTS_NAMED} more, listed below" if len(names) > _ROOTS_NAMED else ""
    where = Span(f"{', '.join(names[:_ROOTS_NAMED])}{more}", Role.PLACE)
    yield line(f"the same version and hashes in {len(names)} roots: ", where, hanging=2)
    changed = sum(each.change.kind is not ChangeKind.UNCHANGED for each in row.subjects)
    base = review.base.in_words
    words = f"changed since {base} in {counted(changed, 'root')}" if changed else f"as in {base}"
    yield line(Span(words, Role.DIM), hanging=2)


def _each_root(row: HashRow, review: Review) -> Iterator[Line]:
    yield from heading(f"ROOTS  {len(row.subjects)} with these hashes")
    for each in sorted(row.subjects, key=lambda one: one.root.path):
        place = FilePlace(each.root.lock_file, each.change.new.line if each.change.new else 1)
        shown = Span(f"  {each.root.path or '.'}", Role.PLACE), Span(_changed(each.change, each.root, review), Role.DIM)
        yield line(*shown, hanging=4, copied=each.root.path or ".", place=place)


def _shared_lines(row: HashRow, review: Review, *, is_asking: bool) -> Iterator[Line]:
    roots = len({each.root.lock_file for each in row.subjects})
    yield line(Span("in several roots", Role.STRONG), hanging=2)
    entries = f"{counted(len(row.subjects), 'entry', 'entries')} of {counted(roots, 'root')}"
    words = f"{entries}; those with the same version and hashes are listed once"
    yield line(Span(words, Role.DIM), hanging=2)
    yield Line()
    yield from policy_lines(review)
    yield from asked_lines(review, is_asking=is_asking)


def _changed(change: Change, root: RootReview, review: Review) -> str:
    if change.kind is ChangeKind.UNCHANGED:
        before = f"{root.renamed_from or '.'} of " if root.renamed_from is not None else ""
        return f"  as in {before}{review.base.in_words}"
    has_other_version = change.old and change.new and change.old.version != change.new.version
    old = f" from {change.old.version}" if change.old and has_other_version else ""
    return f"  changed since {review.base.in_words}: {change.kind.value}{old}"


# Platforms by scheme


def _matrix_lines(
    change: Change, root: RootReview, found: ProviderCoverage, policy: Policy, *, is_asking: bool
) -> Iterator[Line]:
    """A line for each platform: proof of its zh and h1, required or not, installable or not."""
    yield from heading("PLATFORMS".ljust(_PLATFORM_WIDTH + 2) + "".join(scheme.ljust(_CELL_WIDTH) for scheme in Scheme))
    if not change.is_settled and is_asking:
        yield line(Span("  … looking up the platform of each hash", Role.DIM), hanging=4)
    required = [str(entry.platform) for entry in policy.platforms]
    by_platform = collected(change.locked, lambda fact: fact.platform)
    known = {platform for platform in by_platform if platform}
    offered = set(change.evidence.offered or ()) if change.evidence is not None else set()
    others = sorted((known | offered) - set(required))
    for platform in (*required, *others):
        facts = by_platform.get(platform, [])
        yield _platform_line(platform, facts, change, root, found, policy)
    if unplaced := [fact for fact in by_platform.get(None, []) if fact.hash not in registry_manifests()]:
        counts = ", ".join(f"{number} {scheme}" for scheme, number in sorted(Counter(map(_scheme, unplaced)).items()))
        yield line(Span(f"  {_NOWHERE}: {counts}", Role.DIM), hanging=4)
    if required:
        yield line(Span("  * required", Role.DIM))


def _platform_line(
    platform: str, facts: Sequence[HashFact], change: Change, root: RootReview, found: ProviderCoverage, policy: Policy
) -> Line:
    assert change.new is not None
    is_required = any(str(entry.platform) == platform for entry in policy.platforms)
    spans = [
        Span("* " if is_required else "  ", Role.STRONG),
        Span(platform.ljust(_PLATFORM_WIDTH), Role.STRONG if is_required else Role.PLAIN),
    ]
    for scheme in Scheme:
        of_scheme = [fact for fact in facts if _scheme(fact) == scheme]
        shown = proof_span(of_scheme[0].proof) if of_scheme else Span("-", Role.DIM)
        number = f"{len(of_scheme)} " if len(of_scheme) > 1 else ""
        spans.append(Span((number + shown.text).ljust(_CELL_WIDTH), shown.role))
    if platform in found.platforms and change.is_settled:
        spans.append(_state(platform, found))
    place = FilePlace(root.lock_file, change.new.line_of(facts[0].hash)) if facts else None
    return line(
        *spans, hanging=_PLATFORM_WIDTH + 2, copied=ShellText(shell_words(fact.hash for fact in facts)), place=place
    )


def _state(platform: str, found: ProviderCoverage) -> Span:
    """The state of a platform in a word; the install paths are listed below."""
    if found.paths_without(platform):
        return Span("MISSING ", Role.WARN)
    return Span("?       ", Role.DIM) if found.paths_in_doubt(platform) else Span("ok      ", Role.GOOD)


def _coverage_lines(found: ProviderCoverage, locked: LockedHashes, *, is_offline: bool) -> Iterator[Line]:
    yield Line()
    yield from coverage_lines(found)
    is_incomplete = found.is_wanted and found.is_short
    if is_incomplete and locked.contradicts_release:
        yield line(Span(f"  -> {CONTRADICTED}", Role.DIM), hanging=5)
    elif is_incomplete:
        way = "run without --offline to lock" if is_offline else "L locks"
        yield line(Span(f"  -> {way} the missing platforms, with a Preview", Role.DIM), hanging=5)
    elif not found.is_wanted:
        yield line(Span(f"  -> {NAME_THEM}", Role.DIM), hanging=5)


# Each hash


def _hash_lines(change: Change, root: RootReview, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    assert change.new is not None
    facts = change.locked
    yield from heading(f"HASHES  {hash_words(HashCount.of(facts), 'locked')}")
    pending = Span("…", Role.DIM) if is_asking and not change.is_settled else None
    added = {fact.hash for fact in change.added} if change.kind is not ChangeKind.UNCHANGED else set()
    for fact in sorted(facts, key=_by_platform):
        sign, role = ("+", Role.ADDED) if fact.hash in added and change.old is not None else (" ", Role.PLAIN)
        place = FilePlace(root.lock_file, change.new.line_of(fact.hash))
        yield hash_line(sign, role, fact, pending or proof_span(fact.proof), in_full=in_full, place=place)
    is_same = change.old is not None and change.old.version == change.new.version
    for fact in sorted(change.removed, key=_by_platform) if is_same else ():
        proof = pending or proof_span(fact.proof, is_gone=True)
        yield hash_line("-", Role.REMOVED, fact, proof, in_full=in_full)


def _proving_lines(change: Change, *, is_offline: bool) -> Iterator[Line]:
    """The downloads that the `h1` without a proof can be compared with."""
    if downloads := comparing_words(change):
        way = "run without --offline to compare" if is_offline else "v compares"
        yield line(Span(f"  -> {way} the h1 with {downloads}", Role.DIM), hanging=5)


def _ladder_lines(facts: Sequence[HashFact]) -> Iterator[Line]:
    """The proof ladder with the number of hashes on each rung."""
    yield from heading("PROOF")
    counts = Counter((_scheme(fact), proof_span(fact.proof).text) for fact in facts)
    for word, meaning in PROOFS.items():
        schemes = [scheme for scheme in Scheme if counts[scheme, word]]
        numbers = ", ".join(f"{counts[scheme, word]} {scheme}" for scheme in schemes)
        shown = Span(f"  {word:<{_CELL_WIDTH}}", Role.STRONG if numbers else Role.DIM)
        yield line(shown, f"{numbers:<10} ", Span(meaning, Role.DIM), hanging=22)


def _scheme(fact: HashFact) -> str:
    return scheme_of(fact.hash)


def _by_platform(fact: HashFact) -> tuple[bool, str, bool]:
    return fact.platform is None, fact.platform or "", is_of_files(fact.hash)


# A root


def _root_lines(
    root: RootReview, review: Review, packages: PackagesShown, *, in_full: bool, is_asking: bool
) -> Iterator[Line]:
    place = FilePlace(root.lock_file, 1)
    yield line(Span(root.path or ". (top folder)", Role.STRONG), hanging=2, copied=root.path or ".")
    yield line(Span(root.lock_file, Role.PLACE), Span(f"  {root.tool.product}", Role.DIM), hanging=2, place=place)
    if root.findings:
        yield from heading("ROOT-LEVEL FINDINGS")
        for finding in root.findings:
            yield from finding_lines(finding, in_full=in_full)
    changes = [change for change in root.changes if change.new is not None]
    if changes:
        facts = [fact for change in changes for fact in change.locked]
        yield from heading(f"PROVIDERS  {len(changes)}, {hash_words(HashCount.of(facts), 'locked')}")
        width = min(max(len(change.address.short(root.tool.default_host)) for change in changes), 30)
        for change in sorted(changes, key=lambda change: change.address.sort_key):
            name = change.address.short(root.tool.default_host).ljust(width)
            covered = in_words(coverage(change, review.policy)) if change.is_settled else "…" if is_asking else "?"
            entry = FilePlace(root.lock_file, change.new.line if change.new else 1)
            version = str(change.new.version) if change.new else ""
            yield line(
                f"  {name} {version:<9} ", Span(covered, Role.DIM), hanging=4, copied=change_copied(change), place=entry
            )
    known = [found for (lock_file, _), found in packages.known.items() if lock_file == root.lock_file]
    if known:
        yield from heading(f"PACKAGES ON THIS MACHINE  of {counted(len(known), 'entry', 'entries')}")
        yield counts_line(known)
    yield Line()
    yield from policy_lines(review)
    yield from _ladder_lines([fact for change in changes for fact in change.locked])
    yield from asked_lines(review, is_asking=is_asking)


def hashes_head(review: Review | None, packages: Collection[EntryPackages] = ()) -> tuple[BarLayout, ...]:
    """The head line: locked and unverified hashes, entries not covered, and packages that differ."""
    if review is None:
        return head_line("hashes")
    changes = [change for root in review.roots for change in root.changes if change.new is not None]
    hashes = HashCount.of(fact for change in changes for fact in change.locked)
    uncovered = sum(any(finding.rule == "LK009" for finding in change.findings) for change in changes)
    short = replace(hashes, reported=0)
    role = Role.WARN if hashes.unverified else Role.DIM
    others = []
    is_known = all(change.is_settled and not coverage(change, review.policy).doubtful for change in changes)
    if review.policy.platforms and (uncovered or is_known):
        number = counted(uncovered, "entry", "entries")
        others.append(Piece(f"  {number} not covered", Role.WARN if uncovered else Role.DIM, "only('not-covered')"))
    differing = package_counts(packages)[PackageVerdict.DIFFERS]
    if differing:
        others.append(Piece(f"  {differ_words(differing)}", Role.BLOCK, "only('package-differs')"))
    return locked_head(
        "hashes",
        counted(len(changes), "entry", "entries"),
        sum(root.new.exists for root in review.roots),
        review,
        counts=(Piece(f"  {hash_words(hashes, 'locked')}", role, "only('unverified')"), *others),
        least=(Piece(hash_words(short, "locked"), role, "only('unverified')"), *others),
    )


def hashes_status(
    review: Review | None,
    progress: Progress | None,
    *,
    marked: int,
    is_narrowed: bool,
    is_asking: bool,
    comparing: str = "",
    message: str = "",
) -> tuple[BarLayout, ...]:
    """The status line above the keys; the numbers may fall while registries are asked."""
    parts = [Piece(f"{counted(marked, 'entry', 'entries')} marked", Role.STRONG)] if marked else []
    if comparing:
        parts.append(Piece(f"{comparing}; p or esc cancels", Role.INFO, "compare_packages"))
    verdict = []
    if review is not None and review.hashes.unverified:
        words = f"{hashes_of_review(review)}{' so far' if is_asking else ''}"
        verdict = [Piece(words if is_asking else f"verdict {review.verdict}: {words}", Role.WARN)]
    rest = lookup_parts(review, progress, is_narrowed=is_narrowed)
    whole = status_line([*parts, *verdict, *rest], message=message, aside=_required_in_short(review))
    # The verdict may be left out: the head already has its number.
    return whole if message else (*whole, *status_line([*parts, *rest]))


def _required_in_short(review: Review | None) -> str:
    if review is None:
        return ""
    number = len(review.policy.platforms)
    return counted(number, "required platform") if number else "no required platforms configured"


def hashes_facts(review: Review, progress: Progress | None) -> Iterator[Line]:
    """The panel below the list: required platforms, install paths, policy and registries."""
    policy = review.policy
    if not policy.platforms:
        yield fact_line("required platforms", Span("none configured: ? shows an example", Role.DIM))
    for number, required in enumerate(policy.platforms):
        label = "" if number else "required platforms"
        yield fact_line(label, Span(f"{required.platform!s:<14}"), Span(f" {required.why}", Role.DIM))
    paths = ", ".join(f"{path.value}{f' ({path.only} only)' if path.only else ''}" for path in policy.paths_in_order)
    yield fact_line("install paths", Span(paths))
    if policy.local_paths:
        yield fact_line("", Span(f"as the CLI configuration says, on {policy.local_platform}", Role.DIM))
    yield fact_line("policy", Span(source_words(review), Role.DIM))
    yield from registry_lines(review, progress)
    yield from note_lines(review)
