"""Head and status line of the Health screen. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Role
from locklens.review.model import Severity
from locklens.review.reports.words import severity_counts
from locklens.text import counted
from locklens.ui.shell.bars import joined_parts
from locklens.ui.text.phrases import registries_in_short
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from locklens.review.health import Health
    from locklens.ui.shell.bars import Reading

_ROLES = {Severity.BLOCK: Role.BLOCK, Severity.WARN: Role.WARN, Severity.INFO: Role.INFO}


def health_head(health: Health | None) -> tuple[BarLayout, ...]:
    """The head line: counts of roots, providers and findings."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("health", Role.DIM))
    if health is None:
        return (BarLayout(name),)
    counts = [Piece(f"  {health.ok} ok", Role.GOOD if health.verdict == "ok" else Role.DIM)]
    counts.append(Piece(f"  {health.unknown} unknown", Role.WARN if health.unknown else Role.DIM))
    for severity, count in severity_counts(health.review).items():
        role = _ROLES[severity] if count else Role.DIM
        counts.append(Piece(f"  {count} {severity.upper()}", role, f"only({severity.value!r})"))
    counts.append(Piece(" "))
    roots = counted(len(health.review.roots), "root")
    versions = counted(sum(len(one.versions) for one in health.spread), "version")
    providers = counted(len(health.spread), "provider")
    return (
        BarLayout((*name, Piece(f"  {roots}  {providers}  {versions}")), tuple(counts)),
        BarLayout((name[0], Piece(roots)), tuple(counts)),
        BarLayout(name[:1], tuple(counts)),
    )


def health_status(
    health: Health | None, progress: Reading, *, marked: int, shown: str, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The status line above the keys; `shown` names grouping and order."""
    parts: list[Piece] = []
    if marked:
        parts.append(Piece(f"{counted(marked, 'root')} marked", Role.STRONG))
    if progress.words:
        parts.append(Piece(progress.words, Role.INFO))
    elif health is not None:
        parts.append(Piece(f"verdict {health.verdict}", Role.PLAIN))
        parts.append(Piece(registries_in_short(health.review) or "all registries answered", Role.DIM))
    if health is not None and health.review.notes:
        parts.append(Piece(counted(len(health.review.notes), "note"), Role.WARN))
    if is_narrowed:
        parts.append(Piece("filtered", Role.WARN))
    state = joined_parts(parts)
    if message:
        words = Piece(f" {message}", Role.STRONG)
        return BarLayout((words,), (Piece("  "), *state, Piece(" "))), BarLayout((words,))
    return BarLayout((Piece(" "), *state), (Piece(f"{shown} ", Role.DIM),)), BarLayout((Piece(" "), *state))
