"""A diagnosis as Markdown, for an issue or a chat.

Text of logs and registries is put in code spans, where it cannot act as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.causes import cause_title, remedy_title
from locklens.doctor.messages import WARNINGS
from locklens.doctor.model import CauseVerdict
from locklens.doctor.redacting import LEFT_OUT, shareable
from locklens.doctor.report_words import (
    DO_NOT,
    NARROWED,
    NOTHING_RECOGNISED,
    distinct_messages,
    error_place_words,
    ids_of,
    is_clean,
    missing_words,
    named_only,
    narrowing,
    onset_lines,
    remedy_costs,
    said_once,
    same_entry_words,
    tally,
    verdict_sentence,
)
from locklens.review.reports.markdown import code, prose
from locklens.text import clauses, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.model import Cause, Diagnosis
    from locklens.text import Printable

_VERDICTS = {
    CauseVerdict.YES: "yes", CauseVerdict.LIKELY: "likely", CauseVerdict.UNKNOWN: "cannot say", CauseVerdict.NO: "no",
}  # fmt: skip


_NAMED = {CauseVerdict.UNKNOWN: "cannot say", CauseVerdict.NO: "ruled out"}


_LONGEST = 1_000
"""The most characters of a message, a cell or a command."""


def render(diagnosis: Diagnosis, *, home: str = "", lists_all: bool = False) -> Printable:
    """Return a diagnosis as Markdown, without what should not be shared; for the arguments see `report_text.render`."""
    return page(_markdown_lines(shareable(diagnosis, home=home), lists_all=lists_all))


def _markdown_lines(diagnosis: Diagnosis, *, lists_all: bool) -> Iterator[str]:
    if not diagnosis.is_recognised:
        yield NOTHING_RECOGNISED
        yield from _notes(diagnosis)
        return
    certainty = "OK" if is_clean(diagnosis) else diagnosis.certainty
    yield f"**{certainty}**: {prose(_code_free(verdict_sentence(diagnosis)))}"
    yield ""
    places = {one.error: one for one in diagnosis.places}
    for error in distinct_messages(diagnosis.errors):
        place = places.get(error)
        where = f" ({code(error_place_words(place), _LONGEST)})" if place is not None and len(places) > 1 else ""
        label = "warning" if error.kind in WARNINGS else "error"
        yield f"- {label} `{error.kind}`: {code(error.text, _LONGEST)}{where}"
    facts = diagnosis.facts
    ran = (facts.platform, facts.tool_words, facts.path and facts.path.value)
    yield f"- run: {', '.join(code(one) if one else 'unknown' for one in ran)}"
    if facts.root is None and len(places) == 1:
        words = clauses(error_place_words(diagnosis.places[0]), same_entry_words(diagnosis))
        yield f"- {code(words, _LONGEST)}"
    if facts.root is None and not places:
        yield f"- roots: {code(diagnosis.examined)}"
    if facts.root is not None and len(places) < 2:
        more = len(diagnosis.same_entry)
        others = f", and {more} more with the same version and hashes" if more else ""
        yield f"- root: {code(facts.root)} {code(diagnosis.examined)}{others}"
    yield from (f"- locked: {code(words)}" for words in onset_lines(diagnosis))
    yield from (f"- required: {code(words)}" for words in onset_lines(diagnosis, of_requirements=True))
    if diagnosis.next_step:
        yield f"- next: {code(diagnosis.next_step)}"
    yield f"- {tally(diagnosis)}"
    yield from _notes(diagnosis)
    if needs := narrowing(diagnosis):
        yield ""
        yield NARROWED
        yield ""
        yield from (f"- {code(need, _LONGEST)}" for need in needs)
    named = () if lists_all else named_only(diagnosis)
    if listed := [cause for cause in diagnosis.causes if cause.verdict not in named]:
        yield ""
        yield "| cause | verdict | evidence | needed |"
        yield "|---|---|---|---|"
        yield from map(_row, said_once(listed))
    if any(diagnosis.with_verdict(verdict) for verdict in named):
        yield ""
    for verdict in named:
        if causes := diagnosis.with_verdict(verdict):
            yield f"- {_NAMED[verdict]}: {code(ids_of(causes), _LONGEST)}"
    if diagnosis.remedies:
        yield ""
        yield "| fix | costs | command | note |"
        yield "|---|---|---|---|"
    for remedy in diagnosis.remedies:
        command = _cell(remedy.command) if remedy.command else LEFT_OUT if remedy.is_left_out else "by hand"
        command = f"{command}; {_cell(remedy.hint)} changes nothing" if remedy.hint else command
        note = _cell(remedy.note) if remedy.note else ""
        yield f"| {_cell(remedy_title(remedy))} | {remedy_costs(remedy)} | {command} | {note} |"
    if diagnosis.not_offered:
        yield ""
        yield f"{DO_NOT}:"
        yield ""
        yield from (f"- {prose(one.what)}: {code(one.why, _LONGEST)}" for one in diagnosis.not_offered)


def _notes(diagnosis: Diagnosis) -> Iterator[str]:
    yield from (f"- note: {code(note, _LONGEST)}" for note in diagnosis.notes)


def _row(cause: Cause) -> str:
    moment = f" (as of {cause.as_of})" if cause.as_of else ""
    missing = _cell(missing_words(cause)) if cause.missing else ""
    verdict = _VERDICTS[cause.verdict]
    title = prose(_code_free(cause_title(cause)))
    return f"| {title} (`{cause.id}`) | {verdict} | {_cell(cause.evidence + moment)} | {missing} |"


def _cell(text: str) -> str:
    """Return text as a code span in a table, where a bar would begin a new cell."""
    return code(text, _LONGEST).replace("|", "\\|")


def _code_free(text: str) -> str:
    return text.replace("`", "'")
