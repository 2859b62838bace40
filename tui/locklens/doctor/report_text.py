"""A diagnosis as plain text, for a terminal, an issue or a chat."""

from __future__ import annotations

from string import ascii_lowercase
from textwrap import wrap
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
    named_only,
    narrowing,
    onset_lines,
    remedy_costs,
    said_once,
    same_entry_words,
    tally,
    verdict_sentence,
)
from locklens.lines import Role, Span, labelled, line
from locklens.text import clauses, counted, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.model import Cause, Diagnosis
    from locklens.lines import Line
    from locklens.text import Printable

_WIDTH = 110


_LABEL_WIDTH = 13


_ERRORS_SHOWN = 5


_SECTIONS = (
    ("CAUSES", (CauseVerdict.YES, CauseVerdict.LIKELY), Role.STRONG),
    ("CANNOT SAY", (CauseVerdict.UNKNOWN,), Role.WARN),
    ("RULED OUT", (CauseVerdict.NO,), Role.DIM),
)


def render(diagnosis: Diagnosis, *, home: str = "", lists_all: bool = False, colour: bool = False) -> Printable:
    """Return the report as text, without what should not be shared; the user's home folder, "" for none, is `~` in it.

    `lists_all` gives the evidence on each cause, also on those that matter no more.
    """
    return page(_lines(shareable(diagnosis, home=home), lists_all=lists_all), colour=colour)


def _lines(diagnosis: Diagnosis, *, lists_all: bool) -> Iterator[Line | str]:
    if not diagnosis.is_recognised:
        yield NOTHING_RECOGNISED
        yield from _rest(diagnosis)
        return
    if diagnosis.started_from:
        yield from _labelled("FROM", diagnosis.started_from)
    places = {one.error: one for one in diagnosis.places} if len(diagnosis.places) > 1 else {}
    errors = distinct_messages(diagnosis.errors)
    for number, error in enumerate(errors[:_ERRORS_SHOWN]):
        label = "WARNING" if error.kind in WARNINGS else "ERROR"
        yield from _labelled(label, f"[{error.kind}] {error.text}")
        if not number and diagnosis.advice:
            yield from _labelled("", diagnosis.advice)
        if (place := places.get(error)) is not None:
            yield from _labelled("", error_place_words(place))
    if len(errors) > _ERRORS_SHOWN:
        yield from _labelled("", f"and {counted(len(errors) - _ERRORS_SHOWN, 'more error')}")
    yield from _facts(diagnosis, has_places=bool(places))
    yield ""
    certainty = f"[{'OK' if is_clean(diagnosis) else diagnosis.certainty}]"
    words = _folded(f"{verdict_sentence(diagnosis)} {certainty}", _WIDTH - _LABEL_WIDTH) or [""]
    yield labelled("VERDICT", words[0], width=_LABEL_WIDTH)
    yield from (" " * _LABEL_WIDTH + more for more in words[1:])
    if diagnosis.next_step:
        yield f"{'NEXT':{_LABEL_WIDTH}}$ {diagnosis.next_step}"
    yield from _labelled("", tally(diagnosis))
    if needs := narrowing(diagnosis):
        yield from _labelled("", NARROWED)
    for need in needs:
        yield from _labelled("", f"- {need}")
    for number, since in enumerate(onset_lines(diagnosis)):
        yield from _labelled("" if number else "LOCKED", since)
    for number, since in enumerate(onset_lines(diagnosis, of_requirements=True)):
        yield from _labelled("" if number else "REQUIRED", since)
    named = () if lists_all else named_only(diagnosis)
    for title, verdicts, role in _SECTIONS:
        if (causes := diagnosis.with_verdict(*verdicts)) and verdicts[0] not in named:
            yield ""
            yield line(Span(title, role))
            for cause in said_once(causes):
                yield from _cause(cause)
    if any(diagnosis.with_verdict(verdict) for verdict in named):
        yield ""
    for title, verdicts, _ in _SECTIONS:
        if (causes := diagnosis.with_verdict(*verdicts)) and verdicts[0] in named:
            yield from _labelled(title, f"{ids_of(causes)} (--all tells why)")
    yield from _remedies(diagnosis)
    yield from _rest(diagnosis)


def _facts(diagnosis: Diagnosis, *, has_places: bool) -> Iterator[Line | str]:
    facts, sources = diagnosis.facts, dict(diagnosis.facts.sources)

    def fact(name: str, value: str | None, option: str) -> str:
        return f"{value} ({sources.get(name, 'given')})" if value else f"? ({option})"

    ran = [
        fact("platform", facts.platform, "--platform OS_ARCH"),
        fact("tool", facts.tool_words, "--tool") if facts.tool else facts.tool_words or "? (--tool)",
        f"path {fact('path', facts.path.value if facts.path else None, '--install-path')}",
    ]
    yield from _labelled("RUN", ", ".join(ran))
    if has_places:
        return
    if facts.root is not None:
        subject = f"  {diagnosis.examined}" if diagnosis.examined else ""
        words = clauses(f"{facts.root}{subject}", same_entry_words(diagnosis))
        yield from _labelled("ROOT", words)
    elif not diagnosis.places:
        yield from _labelled("ROOTS", diagnosis.examined)
    else:
        words = error_place_words(diagnosis.places[0]).removeprefix("root ")
        yield from _labelled("ROOT", clauses(words, same_entry_words(diagnosis)))


def _cause(cause: Cause) -> Iterator[Line | str]:
    mark = {CauseVerdict.YES: "yes", CauseVerdict.LIKELY: "likely", CauseVerdict.NO: "no", CauseVerdict.UNKNOWN: "?"}
    moment = f" (as of {cause.as_of})" if cause.as_of else ""
    titled = _folded(f"{cause.id}: {cause_title(cause)}", _WIDTH - 9)
    yield from (f"{'' if number else f'  {mark[cause.verdict]}':9}{each}" for number, each in enumerate(titled))
    missing = f"Needed: {cause.missing}" if cause.missing else ""
    for words in (f"{cause.evidence}{moment}", missing):
        yield from (f"{'':9}{each}" for each in _folded(words, _WIDTH - 9))
    if cause.command:
        yield f"{'':9}$ {cause.command}"


def _remedies(diagnosis: Diagnosis) -> Iterator[Line | str]:
    if diagnosis.remedies:
        yield ""
        yield line(Span("FIX", Role.STRONG))
    for count, remedy in enumerate(diagnosis.remedies):
        titled = _folded(remedy_title(remedy), _WIDTH - 5)
        yield from (f"  {'' if number else _mark(count):2} {each}" for number, each in enumerate(titled))
        yield f"     {remedy_costs(remedy)}"
        if remedy.hint:
            yield "     do it by hand: this command changes nothing"
        if command := remedy.command or remedy.hint:
            yield f"     $ {command}"
        elif remedy.is_left_out:
            yield f"     the command is {LEFT_OUT}"
        yield from (f"     {each}" for each in _folded(remedy.note, _WIDTH - 5))
    if diagnosis.not_offered:
        yield ""
        yield DO_NOT.upper()
    for one in diagnosis.not_offered:
        for number, each in enumerate(_folded(f"{one.what}: {one.why}", _WIDTH - 4)):
            yield f"  {' ' if number else '-'} {each}"


def _mark(count: int) -> str:
    """Return the letters of a fix, counted from 0: a to z, then aa to zz."""
    before, last = divmod(count, len(ascii_lowercase))
    return (ascii_lowercase[before - 1] if before else "") + ascii_lowercase[last]


def _rest(diagnosis: Diagnosis) -> Iterator[Line | str]:
    if diagnosis.notes:
        yield ""
    for note in diagnosis.notes:
        yield from _labelled("NOTE", note)


def _folded(text: str, width: int) -> list[str]:
    """Return text in lines of a width; a longer word, such as a path, stays whole, so that it can be copied."""
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _labelled(label: str, words: str) -> Iterator[str]:
    for number, each in enumerate(_folded(words, _WIDTH - _LABEL_WIDTH)):
        yield f"{'' if number else label:{_LABEL_WIDTH}}{each}"
