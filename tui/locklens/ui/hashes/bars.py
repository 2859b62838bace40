"""Head, status line and facts panel of the Hashes screen. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span
from locklens.operations.verification.judging import PackageVerdict
from locklens.review.model import HashCount
from locklens.review.reports.hashes import source_words
from locklens.review.reports.words import hash_words, hashes_of_review
from locklens.text import counted
from locklens.ui.hashes.packages import differ_words, package_counts
from locklens.ui.shell.bars import fact_line, joined_parts, note_lines, registry_lines
from locklens.ui.text.phrases import registries_in_short
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.operations.verification.judging import EntryPackages
    from locklens.review.model import Review
    from locklens.ui.shell.bars import Reading


def hashes_head(review: Review | None, packages: Collection[EntryPackages] = ()) -> tuple[BarLayout, ...]:
    """The head line: counts of locked, unverified, uncovered, and of packages that differ."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("hashes", Role.DIM))
    if review is None:
        return (BarLayout(name),)
    changes = [change for root in review.roots for change in root.changes if change.new is not None]
    hashes = HashCount.of(fact for change in changes for fact in change.locked)
    uncovered = sum(any(finding.rule == "LK009" for finding in change.findings) for change in changes)
    short = HashCount(hashes.total, hashes.unverified)
    role = Role.WARN if hashes.unverified else Role.DIM
    counts = [Piece(f"  {hash_words(hashes, 'locked')}", role, "only('unverified')")]
    if review.policy.platforms:
        counts.append(Piece(f"  {uncovered} not covered", Role.WARN if uncovered else Role.DIM, "only('not-covered')"))
    differing = package_counts(packages)[PackageVerdict.DIFFERS]
    if differing:
        counts.append(Piece(f"  {differ_words(differing)}", Role.BLOCK, "only('package-differs')"))
    counts.append(Piece(" "))
    locks = f"{counted(len(changes), 'provider')} in {counted(len(review.roots), 'lock file')}"
    return (
        BarLayout((*name, Piece(f"  {locks}")), tuple(counts)),
        BarLayout((name[0], Piece(counted(len(changes), "provider"))), tuple(counts)),
        BarLayout(name[:1], (Piece(hash_words(short, "locked"), role, "only('unverified')"), *counts[1:])),
    )


def hashes_status(
    review: Review | None, progress: Reading, *, marked: int, is_narrowed: bool, comparing: str = "", message: str = ""
) -> tuple[BarLayout, ...]:
    """The status line above the keys."""
    parts: list[Piece] = []
    if marked:
        parts.append(Piece(f"{counted(marked, 'provider')} marked", Role.STRONG))
    if comparing:
        parts.append(Piece(f"{comparing}; p or esc cancels", Role.INFO, "compare_packages"))
    if progress.words:
        parts.append(Piece(progress.words, Role.INFO))
    elif review is not None:
        if review.hashes.unverified:
            parts.append(Piece(f"verdict {review.verdict}: {hashes_of_review(review)}", Role.WARN))
        parts.append(Piece(registries_in_short(review) or "all registries answered", Role.DIM))
    if review is not None and review.notes:
        parts.append(Piece(counted(len(review.notes), "note"), Role.WARN))
    if is_narrowed:
        parts.append(Piece("filtered", Role.WARN))
    state = joined_parts(parts)
    if message:
        shown = Piece(f" {message}", Role.STRONG)
        return BarLayout((shown,), (Piece("  "), *state, Piece(" "))), BarLayout((shown,))
    required = _required_in_short(review)
    return BarLayout((Piece(" "), *state), (Piece(required, Role.DIM),)), BarLayout((Piece(" "), *state))


def _required_in_short(review: Review | None) -> str:
    if review is None:
        return ""
    number = len(review.policy.platforms)
    return f"{counted(number, 'required platform')} " if number else "no required platforms configured "


def hashes_facts(review: Review, progress: Reading) -> Iterator[Line]:
    """The panel below the list: required platforms, install paths, policy and registries."""
    policy = review.policy
    if not policy.platforms:
        yield fact_line("required platforms", Span("none configured: ? shows an example", Role.DIM))
    for number, required in enumerate(policy.platforms):
        label = "" if number else "required platforms"
        yield fact_line(label, Span(f"{required.platform!s:<14}"), Span(f" {required.why}", Role.DIM))
    paths = ", ".join(f"{path.value}{' (h1 only)' if path.needs_h1 else ''}" for path in policy.paths_in_order)
    yield fact_line("install paths", Span(paths))
    if policy.local_paths:
        yield fact_line("", Span(f"as the CLI configuration says, on {policy.local_platform}", Role.DIM))
    yield fact_line("policy", Span(source_words(review), Role.DIM))
    yield from registry_lines(review, progress)
    yield from note_lines(review)
