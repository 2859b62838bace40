"""The provider of a row or of a failed plan, as the screen Doctor examines it. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locklens.doctor.model import StartingPoint
from locklens.errors import TrustError
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.diagnostics import Diagnostic
    from locklens.errors import LockLensError
    from locklens.operations.plan.model import Plan
    from locklens.review.model import Finding


@dataclass(frozen=True)
class ExaminedProvider:
    """What Doctor is asked to examine.

    Attributes:
        root: The root's folder, relative to the top of the files under review.
        provider: The provider; "" for all of the root.
        start: The finding or the error that led there.
    """

    root: str
    provider: str
    start: StartingPoint


def examined_row(root: str, provider: str, findings: Iterable[Finding], *, screen: str) -> ExaminedProvider:
    """Return the provider of a row with its findings, the worst first; without any, `screen` led there."""
    ordered = sorted(findings, key=lambda finding: finding.severity.rank)
    if not ordered:
        return ExaminedProvider(root, provider, StartingPoint(f"{provider or root or '.'}, a row of {screen}"))
    first, rules = ordered[0], tuple(dict.fromkeys(finding.rule for finding in ordered))
    more = f", and {counted(len(ordered) - 1, 'more finding')}" if len(ordered) > 1 else ""
    return ExaminedProvider(root, provider, StartingPoint(f"{first.rule} {first.message}{more}", rules))


def examined_failure(
    plan: Plan | None, error: LockLensError | None, roots: Sequence[str], title: str
) -> ExaminedProvider | None:
    """Return the provider that a plan failed for with an error about a checksum or a signature; None for others.

    Args:
        plan: The plan; None if there is none.
        error: Why there is none.
        roots: The roots that planning reached.
        title: The operation.
    """
    failed: Diagnostic | None = next((one for one in plan.failures if one.is_of_trust), None) if plan else None
    if failed is not None:
        words = f'the plan "{title}" failed: {failed.sentence}'
        message = f"Error: {failed.summary}\n\n{failed.detail}\n"
        return ExaminedProvider(failed.root, failed.address, StartingPoint(words, message=message))
    if isinstance(error, TrustError):
        words = f'the plan "{title}" failed: {error}'
        message = f"Error: Failed to install provider\n\n{error}\n"
        return ExaminedProvider(roots[-1] if roots else "", "", StartingPoint(words, message=message))
    return None
