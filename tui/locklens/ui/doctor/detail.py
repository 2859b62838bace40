"""The detail of a cause or a fix, the facts of the incident, and what stands here before a diagnosis. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.causes import cause_title
from locklens.doctor.model import WARNINGS
from locklens.doctor.redacting import LEFT_OUT
from locklens.doctor.report_text import (
    DO_NOT,
    NARROWED,
    NOTHING_RECOGNISED,
    error_place_words,
    is_clean,
    missing_words,
    narrowing,
    onset_words,
    remedy_costs,
    verdict_sentence,
)
from locklens.lines import Line, Role, Span, heading, line
from locklens.text import counted
from locklens.ui.text.clipboard import ShellText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.model import Cause, Diagnosis, Remedy
    from locklens.errors import LockLensError
    from locklens.ui.doctor.rows import DoctorRow

_ERRORS_SHOWN = 3


def row_detail(row: DoctorRow, diagnosis: Diagnosis) -> Iterator[Line]:
    """The detail of a row, below it what is known of the whole incident; both of what can be shared."""
    if row.cause is not None:
        yield from _cause_lines(row.cause, row)
    if row.remedy is not None:
        yield from _remedy_lines(row.remedy)
    yield from heading("VERDICT")
    certainty = "OK" if is_clean(diagnosis) else str(diagnosis.certainty)
    yield line(Span(f"  {certainty}  ", Role.STRONG), verdict_sentence(diagnosis), hanging=2)
    for number, need in enumerate(narrowing(diagnosis)):
        if not number:
            yield line(Span(f"  {NARROWED}", Role.DIM))
        yield line(f"  - {need}", hanging=4, copied=need)
    if diagnosis.onset is not None:
        words = onset_words(diagnosis.onset)
        yield line(Span("  locked ", Role.DIM), words, hanging=4, copied=words)
    if diagnosis.started_from:
        yield from heading("STARTED FROM")
        words = diagnosis.started_from
        yield line(f"  {words}", hanging=2, copied=words)
    places = {one.error: one for one in diagnosis.places}
    for error in diagnosis.errors[:_ERRORS_SHOWN]:
        yield from heading(f"{'WARNING' if error.kind in WARNINGS else 'ERROR'}  {error.kind}")
        yield line(f"  {error.text}", hanging=2, copied=error.text)
        if error in places:
            yield line(Span(f"  {error_place_words(places[error])}", Role.DIM), hanging=4)
    if diagnosis.not_offered:
        yield from heading(DO_NOT.upper())
    for one in diagnosis.not_offered:
        yield line(Span(f"  {one.what}: ", Role.WARN), one.why, hanging=4)
    for note in diagnosis.notes:
        yield line(Span("  note  ", Role.DIM), note, hanging=4)


def _cause_lines(cause: Cause, row: DoctorRow) -> Iterator[Line]:
    title = Span(cause_title(cause), Role.STRONG)
    yield line(Span(f"{row.state.text}  ", row.state.role), title, hanging=2, copied=cause.id.value)
    yield from heading("EVIDENCE")
    evidence = cause.evidence
    yield line(f"  {evidence}", hanging=2, copied=evidence)
    if cause.as_of:
        yield line(Span(f"  as of {cause.as_of}", Role.DIM))
    if cause.missing:
        yield from heading("NEEDED")
        yield line(Span(f"  {missing_words(cause)}", Role.INFO), hanging=2, copied=missing_words(cause))


def _remedy_lines(remedy: Remedy) -> Iterator[Line]:
    yield line(Span(remedy.title, Role.STRONG), hanging=2)
    yield line(Span(remedy_costs(remedy), Role.INFO), hanging=2)
    if remedy.note:
        yield line(remedy.note, hanging=2)
    yield from heading("COMMAND")
    if remedy.command:
        yield line("  ", Span(remedy.command, Role.PLACE), hanging=4, copied=ShellText(remedy.command))
    else:
        yield line(f"  {LEFT_OUT}", hanging=4)
    words = "enter opens its Preview" if remedy.write is not None else "run it yourself: y copies it"
    yield line(Span(f"  {words}", Role.DIM))


def fact_lines(diagnosis: Diagnosis) -> Iterator[Line]:
    """The facts of the failing run, below the list."""
    facts, told = diagnosis.facts, dict(diagnosis.facts.sources)
    if told.get("tool_version", told.get("tool")) != told.get("tool"):
        told["tool"] = f"{told.get('tool', '?')}; version: {told['tool_version']}"
    tool = " ".join(filter(None, (facts.tool, facts.tool_version)))
    path = facts.path.value if facts.path is not None else ""
    for name, label, value in (
        ("platform", "platform", facts.platform or ""),
        ("tool", "tool", tool),
        ("path", "path", path),
        ("", "root", facts.root or ""),
    ):
        source = f"  ({told[name]})" if name in told and value else ""
        shown = Span(value, Role.PLAIN) if value else Span("? not known", Role.WARN)
        yield line(Span(f" {label:<9}", Role.DIM), shown, Span(source, Role.DIM))
    if diagnosis.roots:
        yield line(
            Span(" entry    ", Role.DIM), f"in {1 + len(diagnosis.same_entry)} of {counted(diagnosis.roots, 'root')}"
        )


def before_diagnosis(
    *, is_working: bool, problem: LockLensError | None, diagnosis: Diagnosis | None
) -> tuple[Line, ...]:
    """What stands on the screen without rows: the next step, or why there are none."""
    if is_working:
        return line(), line(Span("  Testing each cause …", Role.DIM))
    keys = (
        line(),
        line(Span("  p pastes the log of a failed init, f names its file", Role.DIM)),
        line(Span("  i diagnoses the root in the current folder without a log", Role.DIM)),
    )
    if problem is not None:
        return line(), line("  ", Span(problem.sentence, Role.BLOCK), hanging=2), *keys
    if diagnosis is not None and not diagnosis.is_recognised:
        words = "The log has no error of init, lock or plan that is known here."
        return line(), line(Span(f"  {NOTHING_RECOGNISED}", Role.WARN)), line(f"  {words}", hanging=2), *keys
    title = "Why did init fail?" if diagnosis is None else "Nothing matches the filter."
    return line(), line(Span(f"  {title}", Role.STRONG)), *keys
