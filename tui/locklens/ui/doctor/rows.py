"""The rows of the Doctor screen: the tested causes, the most likely first, and the fixes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.doctor.causes import cause_title
from locklens.doctor.model import CauseVerdict, TrustCost
from locklens.lines import Role, Span
from locklens.ui.shell.filtering import Filter, Grammar, RowFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.doctor.model import Cause, Diagnosis, Remedy

_VERDICTS = {
    CauseVerdict.YES: Span("yes", Role.BLOCK),
    CauseVerdict.LIKELY: Span("likely", Role.WARN),
    CauseVerdict.UNKNOWN: Span("?", Role.INFO),
    CauseVerdict.NO: Span("no", Role.DIM),
}
_TRUST = {TrustCost.NONE: Role.GOOD, TrustCost.LOW: Role.INFO, TrustCost.HIGH: Role.BLOCK}


DOCTOR_GRAMMAR = Grammar("id or title", has_severity=False)
_ALL = Filter()


class DoctorRow(Struct, frozen=True):
    """One line of the list: a cause or a fix.

    Attributes:
        key: Stable across runs.
        state: The verdict, or the fix's cost in trust.
        title: The cause or the fix.
    """

    key: str
    state: Span
    title: Span
    cause: Cause | None = None
    remedy: Remedy | None = None


def doctor_rows(diagnosis: Diagnosis, narrowed: Filter = _ALL) -> tuple[DoctorRow, ...]:
    """Return the rows: causes that hold, fixes, and the other causes.

    Args:
        diagnosis: The diagnosis.
        narrowed: The filter.
    """
    held = diagnosis.with_verdict(CauseVerdict.YES, CauseVerdict.LIKELY)
    rest = diagnosis.with_verdict(CauseVerdict.UNKNOWN, CauseVerdict.NO)
    fixes = tuple(
        DoctorRow(f"{remedy.id} {remedy.command}", Span("fix", _TRUST[remedy.trust]), Span(title), remedy=remedy)
        for remedy, title in zip(diagnosis.remedies, fix_titles(diagnosis.remedies), strict=True)
    )
    rows = (*map(_cause_row, held), *fixes, *map(_cause_row, rest))
    return tuple(row for row in rows if narrowed.is_match(RowFacts(f"{row.key} {row.title.text}".lower())))


def fix_titles(remedies: Sequence[Remedy]) -> tuple[str, ...]:
    """Return the titles of fixes; those that several have begin with the provider, which a narrow list must not cut."""
    shared = Counter(remedy.title for remedy in remedies)
    return tuple(
        f"{remedy.write.provider}: {remedy.title}"
        if remedy.write is not None and shared[remedy.title] > 1
        else remedy.title
        for remedy in remedies
    )


def _cause_row(cause: Cause) -> DoctorRow:
    held = cause.verdict in {CauseVerdict.YES, CauseVerdict.LIKELY}
    words = cause.id.value if cause.verdict is CauseVerdict.NO else cause_title(cause)
    title = Span(words, Role.STRONG if held else Role.DIM)
    return DoctorRow(cause.id.value, _VERDICTS[cause.verdict], title, cause=cause)
