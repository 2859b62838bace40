"""The detail of a row of the Health screen, and its head and status line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.review.health import Health, Spread, command_words
from locklens.review.reports.health import finding_words
from locklens.review.reports.words import SEVERITY_ROLES, severity_counts, severity_span
from locklens.text import counted, shell_words
from locklens.ui.health.rows import HealthRow, bar_of
from locklens.ui.shell.bars import Reading, head_line, lookup_parts, status_line
from locklens.ui.text.clipboard import ShellText
from locklens.ui.widgets.strips import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.review.model import Finding, RootReview

_BAR = 24
_ROOTS_SHOWN = 200
"""Roots of one finding that are listed; the report lists all."""


def health_detail(row: HealthRow, health: Health) -> Iterator[Line]:
    """The detail of a check, a root, a provider, or of a provider's versions."""
    yield line(Span(row.title, Role.STRONG), copied=row.title)
    if row.spread is not None:
        yield from _spread(row.spread, health)
        return
    if row.found:
        yield line(severity_span(row.severity), Span(f"  in {counted(len(row.roots), 'root')}", Role.DIM))
    result = row.result
    if result is not None:
        if result.unknown:
            yield line(Span(f"unknown in {counted(result.unknown, 'root')}: {result.reason}", Role.WARN), hanging=2)
        elif result.reason:
            yield line(Span(f"not checked: {result.reason}", Role.DIM), hanging=2)
        if command := shell_words(command_words(result, health)):
            yield from heading("ALL AT ONCE")
            yield line(Span(command, Role.PLACE), hanging=2, copied=ShellText(command))
    for finding, roots in _alike(row):
        yield Line()
        yield line(
            severity_span(finding.severity),
            Span(f" {finding.rule}  {finding_words(finding)}"),
            hanging=2,
            copied=finding_words(finding),
            place=_place(finding),
        )
        for root, own in roots[:_ROOTS_SHOWN]:
            place = _place(own)
            yield line(Span(f"  {place if own.line is not None else root.path or '.'}", Role.PLACE), hanging=4,
                       copied=root.path or ".", place=place)  # fmt: skip
        if len(roots) > _ROOTS_SHOWN:
            yield line(Span(f"  and {len(roots) - _ROOTS_SHOWN} more roots", Role.DIM))
    if not row.found and result is not None and not result.unknown and not result.reason:
        yield line(Span("No root is affected.", Role.DIM))


def _alike(row: HealthRow) -> list[tuple[Finding, list[tuple[RootReview, Finding]]]]:
    """The findings with the same words once, with their roots; the worst first."""
    alike: dict[tuple[int, str, str], list[tuple[RootReview, Finding]]] = {}
    for root, finding in row.found:
        alike.setdefault((finding.severity.rank, finding.rule, finding_words(finding)), []).append((root, finding))
    return [(own[0][1], own) for _, own in sorted(alike.items(), key=lambda one: one[0])]


def _place(finding: Finding) -> FilePlace:
    return FilePlace(finding.file, finding.line or 1)


def _spread(spread: Spread, health: Health) -> Iterator[Line]:
    yield line(Span(f"{counted(spread.roots, 'root')}, {counted(len(spread.versions), 'version')}", Role.DIM))
    by_version: dict[str, list[RootReview]] = {}
    for root in health.review.roots:
        for entry in root.new.entries:
            if entry.address == spread.provider:
                by_version.setdefault(str(entry.version), []).append(root)
    most = max(number for _, number in spread.versions)
    width = max(len(str(version)) for version, _ in spread.versions)
    for version, number in spread.versions:
        yield Line()
        bar = Span(bar_of(number, most, _BAR), Role.INFO)
        shown = Span(f"{version!s:<{width}} "), bar, Span(f" {number:>5}", Role.STRONG)
        yield line(*shown, copied=str(version))
        for root in by_version.get(str(version), ())[:_ROOTS_SHOWN]:
            entry = root.new.by_address[spread.provider]
            place = FilePlace(root.lock_file, entry.line)
            yield line(Span(f"  {root.path or '.'}", Role.PLACE), hanging=4, copied=root.path or ".", place=place)


def health_head(health: Health | None) -> tuple[BarLayout, ...]:
    """The head line: counts of roots, providers and findings."""
    if health is None:
        return head_line("health")
    counts = [Piece(f"  {health.ok} ok", Role.GOOD if health.verdict == "ok" else Role.DIM)]
    counts.append(Piece(f"  {health.unknown} unknown", Role.WARN if health.unknown else Role.DIM))
    for severity, count in severity_counts(health.review).items():
        role = SEVERITY_ROLES[severity] if count else Role.DIM
        counts.append(Piece(f"  {count} {severity.upper()}", role, f"only({severity.value!r})"))
    roots = counted(len(health.review.roots), "root")
    versions = counted(sum(len(one.versions) for one in health.spread), "version")
    providers = counted(len(health.spread), "provider")
    return head_line("health", f"{roots}  {providers}  {versions}", brief=roots, counts=counts)


def health_status(
    health: Health | None, progress: Reading, *, marked: int, shown: str, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The status line above the keys; `shown` names grouping and order."""
    verdict = [Piece(f"verdict {health.verdict}")] if health is not None else []
    parts = [Piece(f"{counted(marked, 'root')} marked", Role.STRONG)] if marked else []
    review = health.review if health is not None else None
    parts += lookup_parts(review, progress, is_narrowed=is_narrowed, verdict=verdict)
    return status_line(parts, message=message, aside=shown)
