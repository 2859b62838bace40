"""What the Doctor screen shows: rows of causes and fixes with their list, the detail of each, and the bars."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.dialect import DIALECTS
from locklens.doctor import report_words
from locklens.doctor.causes import cause_title, remedy_title
from locklens.doctor.messages import WARNINGS
from locklens.doctor.model import CauseVerdict, TrustCost
from locklens.doctor.redacting import LEFT_OUT
from locklens.lines import Line, Role, Span, heading, line
from locklens.text import listing, shell_words
from locklens.ui.clipboard import ShellText
from locklens.ui.shell.filtering import ALL, Filter, Grammar, RowFacts
from locklens.ui.widgets import BarLayout, Piece
from locklens.ui.widgets.row_list import Column, RowList

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.doctor.model import Cause, Diagnosis, Remedy
    from locklens.errors import LockLensError

_VERDICTS = {
    CauseVerdict.YES: Span("yes", Role.BLOCK),
    CauseVerdict.LIKELY: Span("likely", Role.WARN),
    CauseVerdict.UNKNOWN: Span("?", Role.INFO),
    CauseVerdict.NO: Span("no", Role.DIM),
}
_TRUST = {TrustCost.NONE: Role.GOOD, TrustCost.LOW: Role.INFO, TrustCost.HIGH: Role.BLOCK}


DOCTOR_GRAMMAR = Grammar("id or title", has_severity=False)


class DoctorRow(Struct, frozen=True):
    """One line of the list, a cause or a fix; `state` is the verdict, or the fix's cost in trust."""

    key: str
    state: Span
    title: Span
    cause: Cause | None = None
    remedy: Remedy | None = None


def doctor_rows(diagnosis: Diagnosis, narrowed: Filter = ALL) -> tuple[DoctorRow, ...]:
    """Return the rows that match a filter: causes that hold, fixes, and the other causes."""
    held = diagnosis.with_verdict(CauseVerdict.YES, CauseVerdict.LIKELY)
    rest = diagnosis.with_verdict(CauseVerdict.UNKNOWN, CauseVerdict.NO)
    subjects = defaultdict[str, set[str]](set)
    for one in diagnosis.remedies:
        subjects[one.id].add(one.subject)
    fixes = (_fix_row(one, is_alike=len(subjects[one.id]) > 1) for one in diagnosis.remedies)
    rows = (*map(_cause_row, held), *fixes, *map(_cause_row, rest))
    return tuple(row for row in rows if narrowed.is_match(RowFacts(f"{row.key} {row.title.text}".lower())))


def _fix_row(remedy: Remedy, *, is_alike: bool) -> DoctorRow:
    """Return the row of a fix; one of several that are alike begins with what it is of, since its end may be cut."""
    key = f"{remedy.id} {remedy.command or remedy.title}"
    title = f"{remedy.subject}: {remedy.title}" if is_alike and remedy.subject else remedy_title(remedy)
    return DoctorRow(key, Span("fix", _TRUST[remedy.trust]), Span(title), remedy=remedy)


def _cause_row(cause: Cause) -> DoctorRow:
    held = cause.verdict in {CauseVerdict.YES, CauseVerdict.LIKELY}
    title = Span(cause_title(cause), Role.STRONG if held else Role.DIM)
    key = " ".join(filter(None, (cause.id.value, cause.subject)))
    return DoctorRow(key, _VERDICTS[cause.verdict], title, cause=cause)


class DoctorList(RowList[DoctorRow]):
    """Causes and fixes."""

    COLUMNS = (
        Column[DoctorRow]("holds", lambda row: row.state),
        Column[DoctorRow]("cause, or fix", lambda row: row.title, takes_rest=True),
    )


_ERRORS_SHOWN = 3

_OPTION = r"(?:-- ROOT|--(?:platform|package|install-path|mirror|plugin-cache)(?: [A-Z][A-Z_|]+| zh:HASH)?)(?![\w=-])"
_COMMANDS_AND_OPTIONS = re.compile(f"(?P<command>`[^`]*`)|{_OPTION}(?:, (?:or )?{_OPTION})*")


_KEY_TWICE = re.compile(r": e(?=, (?:and|or) [^:,;]*: e$)")
"""The key of a fact, where that of the next and last one is the same."""


def on_screen(words: str) -> str:
    """Return words about a fact with the key that takes it here, in place of options; a quoted command stays."""
    return _KEY_TWICE.sub("", _COMMANDS_AND_OPTIONS.sub(lambda found: found["command"] or "e", words))


def row_detail(row: DoctorRow, diagnosis: Diagnosis, settings: Mapping[str, str]) -> Iterator[Line]:
    """The detail of a row, below it what is known about the whole incident; both of what can be shared.

    `settings` are environment variables of this run that the user's shell does not have, as in the demo.
    """
    if row.cause is not None:
        yield from _cause_lines(row.cause, row, settings)
    if row.remedy is not None:
        yield from _remedy_lines(row.remedy, settings)
    yield from _incident_lines(diagnosis)


def _incident_lines(diagnosis: Diagnosis) -> Iterator[Line]:
    yield from heading("VERDICT")
    certainty = "OK" if report_words.is_clean(diagnosis) else str(diagnosis.certainty)
    yield line(Span(f"  {certainty}  ", Role.STRONG), report_words.verdict_sentence(diagnosis), hanging=2)
    for number, need in enumerate(report_words.narrowing(diagnosis)):
        if not number:
            yield line(Span(f"  {report_words.NARROWED}", Role.DIM))
        yield line(f"  - {on_screen(need)}", hanging=4, copied=need)
    for words in report_words.onset_lines(diagnosis):
        yield line(Span("  locked ", Role.DIM), words, hanging=4, copied=words)
    for words in report_words.onset_lines(diagnosis, of_requirements=True):
        yield line(Span("  required ", Role.DIM), words, hanging=4, copied=words)
    if diagnosis.started_from:
        yield from heading("STARTED FROM")
        words = diagnosis.started_from
        yield line(f"  {words}", hanging=2, copied=words)
    places = {one.error: one for one in diagnosis.places}
    for error in report_words.distinct_messages(diagnosis.errors)[:_ERRORS_SHOWN]:
        yield from heading(f"{'WARNING' if error.kind in WARNINGS else 'ERROR'}  {error.kind}")
        yield line(f"  {error.text}", hanging=2, copied=error.text)
        if error in places:
            yield line(Span(f"  {report_words.error_place_words(places[error])}", Role.DIM), hanging=4)
    if diagnosis.not_offered:
        yield from heading(report_words.DO_NOT.upper())
    for one in diagnosis.not_offered:
        yield line(Span(f"  {one.what}: ", Role.WARN), one.why, hanging=4)
    for note in diagnosis.notes:
        yield line(Span("  note  ", Role.DIM), on_screen(note), hanging=4)


def _cause_lines(cause: Cause, row: DoctorRow, settings: Mapping[str, str]) -> Iterator[Line]:
    title = Span(cause_title(cause), Role.STRONG)
    yield line(Span(f"{row.state.text}  ", row.state.role), title, hanging=2, copied=title.text)
    yield from heading("EVIDENCE")
    evidence = cause.evidence
    yield line(f"  {evidence}", hanging=2, copied=evidence)
    if cause.as_of:
        yield line(Span(f"  as of {cause.as_of}", Role.DIM))
    if cause.missing:
        yield from heading("NEEDED")
        if cause.is_by_download:
            yield line(Span("  v downloads packages that may tell it", Role.INFO), hanging=2)
        words = report_words.missing_words(cause)
        yield line(Span(f"  {on_screen(cause.missing)}", Role.INFO), hanging=2, copied=words)
    if cause.command:
        yield line("  ", Span(cause.command, Role.PLACE), hanging=4, copied=_shell_text(cause.command, settings))


def _remedy_lines(remedy: Remedy, settings: Mapping[str, str]) -> Iterator[Line]:
    yield line(Span(remedy_title(remedy), Role.STRONG), hanging=2)
    yield line(Span(report_words.remedy_costs(remedy), Role.INFO), hanging=2)
    if remedy.note:
        yield line(on_screen(remedy.note), hanging=2)
    yield from heading("COMMAND" if remedy.command or remedy.is_left_out else "BY HAND")
    if copied := command_to_copy(remedy, settings):
        yield line("  ", Span(remedy.command or remedy.hint, Role.PLACE), hanging=4, copied=copied)
        if settings and copied != (remedy.command or remedy.hint):
            exports = _exported(settings)
            yield line(Span("  y copies it with the settings of this run: ", Role.DIM), exports, hanging=4)
    if remedy.is_left_out:
        yield line(f"  {LEFT_OUT}", hanging=4)
    yield line(Span(f"  {how_to_apply(remedy)}", Role.DIM))


def command_to_copy(remedy: Remedy, settings: Mapping[str, str]) -> ShellText:
    """Return the command of a fix with the settings of this run; "" without one."""
    return _shell_text(remedy.command or remedy.hint, settings)


def _shell_text(command: str, settings: Mapping[str, str]) -> ShellText:
    """Return a command with the settings of this run that it needs."""
    needs = settings and _READS_SETTINGS.search(command)
    return ShellText(f"{_exported(settings)} && {command}" if needs else command)


_READS_SETTINGS = re.compile(rf"(?:^|\s)(?:locklens|{'|'.join(one.command for one in DIALECTS.values())})\s|\$\{{?TF_")
"""The commands and variables that settings of a run are for."""


def _exported(settings: Mapping[str, str]) -> str:
    return f"export {shell_words(f'{name}={value}' for name, value in settings.items())}"


def how_to_apply(remedy: Remedy) -> str:
    """Return what the user does with a fix."""
    if remedy.write is not None:
        return "enter opens its Preview"
    if remedy.command:
        return "run it yourself: y copies it"
    if remedy.hint:
        return "do it by hand: y copies this command, which changes nothing"
    return "do it by hand: there is no command to copy"


def fact_lines(diagnosis: Diagnosis) -> Iterator[Line]:
    """The facts of the failing run, below the list."""
    facts, told = diagnosis.facts, dict(diagnosis.facts.sources)
    if told.get("tool_version", told.get("tool")) != told.get("tool"):
        told["tool"] = f"{told.get('tool', '?')}; version: {told['tool_version']}"
    path = facts.path.value if facts.path is not None else ""
    fitting = list(dict.fromkeys(root for one in diagnosis.places if not one.is_known for root in one.roots))
    for name, label, value in (
        ("platform", "platform", facts.platform or ""),
        ("tool" if facts.tool else "", "tool", facts.tool_words),
        ("path", "path", path),
        ("", "root", facts.root or (diagnosis.examined if all(one.is_known for one in diagnosis.places) else "")),
    ):
        source = f"  ({told[name]})" if name in told and value else ""
        unknown = f"? one of {listing(fitting, 3)}" if label == "root" and fitting else "? not known"
        shown = Span(value, Role.PLAIN) if value else Span(unknown, Role.WARN)
        yield line(Span(f" {label:<9}", Role.DIM), shown, Span(source, Role.DIM))
    if words := report_words.same_entry_words(diagnosis):
        yield line(Span(" entry    ", Role.DIM), words, hanging=10)


def why_no_download(diagnosis: Diagnosis) -> str:
    """Return why no download here tells an open cause; "" if one may."""
    causes = diagnosis.with_verdict(CauseVerdict.LIKELY, CauseVerdict.UNKNOWN)
    if any(cause.missing and cause.is_by_download for cause in causes):
        return ""
    if not causes:
        return "no cause is open that a download could tell"
    return f"no download here tells an open cause ({report_words.asked_words(diagnosis)})"


def before_diagnosis(
    *, is_working: bool, problem: LockLensError | None, diagnosis: Diagnosis | None
) -> tuple[Line, ...]:
    """What the screen shows without rows: the next step, or why there are none."""
    if is_working:
        return line(), line(Span("  Testing each cause …", Role.DIM))
    keys = (
        line(),
        line(Span("  p pastes the log of a failed init, f names its file", Role.DIM)),
        line(Span("  i diagnoses without a log: the root in the current folder, or else every root", Role.DIM)),
    )
    if problem is not None:
        return line(), line("  ", Span(problem.sentence, Role.BLOCK), hanging=2), *keys
    if diagnosis is not None and not diagnosis.is_recognised:
        words = "The log has no error of init, lock or plan that is known here."
        return (
            line(),
            line(Span(f"  {report_words.NOTHING_RECOGNISED}", Role.WARN)),
            line(f"  {words}", hanging=2),
            *(line(Span("  note  ", Role.DIM), note, hanging=4) for note in diagnosis.notes),
            *keys,
        )
    if diagnosis is not None and not diagnosis.causes and not diagnosis.remedies:
        return *_incident_lines(diagnosis), *keys
    title = "Why did init fail?" if diagnosis is None else "Nothing matches the filter."
    return line(), line(Span(f"  {title}", Role.STRONG)), *keys


def doctor_head(diagnosis: Diagnosis | None) -> tuple[BarLayout, ...]:
    """The head line: the provider, the certainty, and how many causes are ruled out."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("doctor", Role.DIM))
    if diagnosis is None or not diagnosis.is_recognised:
        return (BarLayout(name),)
    certainty = "OK" if report_words.is_clean(diagnosis) else str(diagnosis.certainty)
    state = Piece(f"  {certainty} ", Role.STRONG)
    named = (*name, Piece(f"  {diagnosis.examined}"))
    ruled_out = Piece(report_words.ruled_out_words(diagnosis))
    return (
        BarLayout(named, (Piece(report_words.tally(diagnosis)), state)),
        BarLayout(named, (ruled_out, state)),
        BarLayout(named, (state,)),
    )


def doctor_status(diagnosis: Diagnosis | None, *, is_working: bool, message: str) -> tuple[BarLayout, ...]:
    """The status line above the keys."""
    asked = "" if diagnosis is None else report_words.asked_words(diagnosis)
    state = "testing each cause …" if is_working else asked
    shown = Piece(f" {message or state}", Role.STRONG if message else Role.DIM)
    aside = Piece("read only until a fix is applied on its Preview ", Role.DIM)
    return BarLayout((shown,), (aside,)), BarLayout((shown,), is_whole=bool(message))
