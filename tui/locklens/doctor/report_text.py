"""A diagnosis as plain text: the error, the facts, the verdict, the causes, the remedies."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from locklens.doctor.model import WARNINGS, CauseVerdict
from locklens.doctor.report_words import (
    DO_NOT,
    NARROWED,
    NOTHING_RECOGNISED,
    cause_title,
    is_clean,
    narrowing,
    onset_words,
    place_words,
    remedy_costs,
    same_entry_words,
    tally,
    verdict_sentence,
)
from locklens.doctor.sharing import LEFT_OUT, shareable
from locklens.text import Painted, counted, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.model import Cause, Diagnosis
    from locklens.text import Line, Printable

_WIDTH = 110
_LABEL = 13
_ERRORS_SHOWN = 5
_RULED_OUT = 30
"""Columns before the evidence of a cause that was ruled out: the longest id fits."""

_SECTIONS = (
    ("CAUSES", (CauseVerdict.YES, CauseVerdict.LIKELY), "1"),
    ("RULED OUT", (CauseVerdict.NO,), "2"),
    ("CANNOT SAY", (CauseVerdict.UNKNOWN,), "33"),
)


def render(diagnosis: Diagnosis, *, home: str = "", colour: bool = False) -> Printable:
    """Return the report of what can be shared.

    Args:
        diagnosis: The diagnosis.
        home: The user's home folder, which is shown as `~`; "" for none.
        colour: True to colour titles.
    """
    return page(_lines(shareable(diagnosis, home=home)), colour=colour)


def _lines(diagnosis: Diagnosis) -> Iterator[Line]:
    if not diagnosis.is_recognised:
        yield NOTHING_RECOGNISED
        return
    if diagnosis.started_from:
        yield from _labelled("FROM", diagnosis.started_from)
    places = {one.error: one for one in diagnosis.places} if len(diagnosis.places) > 1 else {}
    for number, error in enumerate(diagnosis.errors[:_ERRORS_SHOWN]):
        label = "WARNING" if error.kind in WARNINGS else "ERROR"
        yield from _labelled(label, f"[{error.kind}] {error.text}")
        if not number and diagnosis.advice:
            yield from _labelled("", diagnosis.advice)
        if (place := places.get(error)) is not None:
            yield from _labelled("", place_words(place))
    if len(diagnosis.errors) > _ERRORS_SHOWN:
        yield from _labelled("", f"and {counted(len(diagnosis.errors) - _ERRORS_SHOWN, 'more error')}")
    yield from _facts(diagnosis, has_places=bool(places))
    yield ""
    certainty = f"[{'OK' if is_clean(diagnosis) else diagnosis.certainty}]"
    words = wrap(f"{verdict_sentence(diagnosis)} {certainty}", _WIDTH - _LABEL) or [""]
    yield (Painted(f"{'VERDICT':{_LABEL}}", "1"), words[0])
    yield from (" " * _LABEL + line for line in words[1:])
    if diagnosis.fixed:
        yield f"{'NEXT':{_LABEL}}$ {diagnosis.next_step}"
    yield from _labelled("", tally(diagnosis))
    for number, need in enumerate(narrowing(diagnosis)):
        yield from () if number else _labelled("", NARROWED)
        yield from _labelled("", f"- {need}")
    if diagnosis.onset is not None:
        yield from _labelled("LOCKED", onset_words(diagnosis.onset))
    for title, verdicts, colour in _SECTIONS:
        if causes := diagnosis.with_verdict(*verdicts):
            yield ""
            yield (Painted(title, colour),)
            for cause in causes:
                yield from _cause(cause)
    yield from _remedies(diagnosis)
    yield from _rest(diagnosis)


def _facts(diagnosis: Diagnosis, *, has_places: bool) -> Iterator[Line]:
    facts, told = diagnosis.facts, dict(diagnosis.facts.sources)

    def fact(name: str, value: str | None, option: str) -> str:
        return f"{value} ({told.get(name, 'given')})" if value else f"? ({option})"

    tool = f"{facts.tool or '?'} {facts.tool_version or ''}".strip()
    ran = [
        fact("platform", facts.platform, "--platform OS_ARCH"),
        fact("tool", tool if facts.tool else None, "--tool"),
        f"path {fact('path', facts.path.value if facts.path else None, '--install-path')}",
    ]
    yield from _labelled("RAN ON", ", ".join(ran))
    if has_places:
        return
    if facts.root is not None:
        subject = f"  {diagnosis.examined}" if diagnosis.examined else ""
        yield from _labelled("ROOT", f"{facts.root}{subject}{same_entry_words(diagnosis)}")
    elif diagnosis.places:
        yield from _labelled("ROOT", place_words(diagnosis.places[0]).removeprefix("root "))


def _cause(cause: Cause) -> Iterator[Line]:
    mark = {CauseVerdict.YES: "yes", CauseVerdict.LIKELY: "likely", CauseVerdict.NO: "no", CauseVerdict.UNKNOWN: "?"}
    moment = f" (as of {cause.as_of})" if cause.as_of else ""
    label = f"  {mark[cause.verdict]:7}{cause.id}"
    if cause.verdict is CauseVerdict.NO:
        lines = wrap(f"{cause.evidence}{moment}", _WIDTH - _RULED_OUT, break_on_hyphens=False)
        yield f"{label:{_RULED_OUT}}{lines[0]}"
        yield from (f"{'':{_RULED_OUT}}{line}" for line in lines[1:])
        return
    yield f"{label}: {cause_title(cause)}"
    missing = f"Needed: {cause.missing}" if cause.missing else ""
    for words in (f"{cause.evidence}{moment}", missing):
        yield from (f"{'':9}{line}" for line in wrap(words, _WIDTH - 9, break_on_hyphens=False))
    if cause.command:
        yield f"{'':9}$ {cause.command}"


def _remedies(diagnosis: Diagnosis) -> Iterator[Line]:
    if diagnosis.remedies:
        yield ""
        yield (Painted("FIX", "1"),)
    for letter, remedy in zip("abcdefghijklmnopqrstuvwxyz", diagnosis.remedies, strict=False):
        yield f"  {letter}  {remedy.title}"
        yield f"     {remedy_costs(remedy)}"
        yield f"     $ {remedy.command}" if remedy.command else f"     the command is {LEFT_OUT}"
        for line in wrap(remedy.note, _WIDTH - 5):
            yield f"     {line}"
    if diagnosis.not_offered:
        yield ""
        yield DO_NOT.upper()
    for one in diagnosis.not_offered:
        for number, line in enumerate(wrap(f"{one.what}: {one.why}", _WIDTH - 4)):
            yield f"  {' ' if number else '-'} {line}"


def _rest(diagnosis: Diagnosis) -> Iterator[Line]:
    if diagnosis.notes:
        yield ""
    for note in diagnosis.notes:
        yield from _labelled("NOTE", note)


def _labelled(label: str, words: str) -> Iterator[str]:
    for number, line in enumerate(wrap(words, _WIDTH - _LABEL, break_on_hyphens=False)):
        yield f"{'' if number else label:{_LABEL}}{line}"
