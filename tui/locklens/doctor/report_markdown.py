"""A diagnosis as Markdown, for an issue or a chat. Text of others stands in code spans, where it forms no markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.causes import cause_title
from locklens.doctor.model import WARNINGS, CauseVerdict
from locklens.doctor.redacting import LEFT_OUT, shareable
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
    tally,
    verdict_sentence,
)
from locklens.review.reports.markdown import code, prose
from locklens.text import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.model import Cause, Diagnosis
    from locklens.text import Printable

_VERDICTS = {
    CauseVerdict.YES: "yes", CauseVerdict.LIKELY: "likely", CauseVerdict.UNKNOWN: "cannot say", CauseVerdict.NO: "no",
}  # fmt: skip

_LONGEST = 1_000
"""Characters of a message, a cell or a command."""


def render(diagnosis: Diagnosis, *, home: str = "") -> Printable:
    """Return the report of what can be shared; `home` as of the text report."""
    return page(_lines(shareable(diagnosis, home=home)))


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.is_recognised:
        yield NOTHING_RECOGNISED
        return
    certainty = "OK" if is_clean(diagnosis) else diagnosis.certainty
    yield f"**{certainty}**: {prose(_code_free(verdict_sentence(diagnosis)))}"
    yield ""
    places = {one.error: one for one in diagnosis.places}
    for error in diagnosis.errors:
        place = places.get(error)
        where = f" ({code(error_place_words(place), _LONGEST)})" if place is not None and len(places) > 1 else ""
        label = "warning" if error.kind in WARNINGS else "error"
        yield f"- {label} `{error.kind}`: {code(error.text, _LONGEST)}{where}"
    facts = diagnosis.facts
    ran = (facts.platform, " ".join(filter(None, (facts.tool, facts.tool_version))), facts.path and facts.path.value)
    yield f"- ran on: {', '.join(code(one) if one else 'unknown' for one in ran)}"
    if facts.root is None and len(places) == 1:
        yield f"- {code(error_place_words(diagnosis.places[0]), _LONGEST)}"
    if facts.root is not None and len(places) < 2:
        others = f", and {len(diagnosis.same_entry)} more with the same entry" if diagnosis.same_entry else ""
        yield f"- root: {code(facts.root)} {code(diagnosis.examined)}{others}"
    if diagnosis.onset is not None:
        yield f"- locked: {code(onset_words(diagnosis.onset))}"
    if diagnosis.next_step:
        yield f"- next: {code(diagnosis.next_step)}"
    yield f"- {tally(diagnosis)}"
    yield from (f"- note: {code(note, _LONGEST)}" for note in diagnosis.notes)
    if needs := narrowing(diagnosis):
        yield ""
        yield NARROWED
        yield ""
        yield from (f"- {code(need, _LONGEST)}" for need in needs)
    if diagnosis.causes:
        yield ""
        yield "| cause | verdict | evidence | needed |"
        yield "|---|---|---|---|"
        yield from map(_row, diagnosis.causes)
    if diagnosis.remedies:
        yield ""
        yield "| fix | costs | command |"
        yield "|---|---|---|"
    for remedy in diagnosis.remedies:
        command = _cell(remedy.command) if remedy.command else LEFT_OUT
        yield f"| {_cell(remedy.title)} | {remedy_costs(remedy)} | {command} |"
    if diagnosis.not_offered:
        yield ""
        yield f"{DO_NOT}:"
        yield ""
        yield from (f"- {prose(one.what)}: {code(one.why, _LONGEST)}" for one in diagnosis.not_offered)


def _row(cause: Cause) -> str:
    moment = f" (as of {cause.as_of})" if cause.as_of else ""
    missing = _cell(missing_words(cause)) if cause.missing else ""
    verdict = _VERDICTS[cause.verdict]
    return f"| {cause_title(cause)} (`{cause.id}`) | {verdict} | {_cell(cause.evidence + moment)} | {missing} |"


def _cell(text: str) -> str:
    """Return text as a code span in a table, where a bar would begin a new cell."""
    return code(text, _LONGEST).replace("|", "\\|")


def _code_free(text: str) -> str:
    return text.replace("`", "'")
