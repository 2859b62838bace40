"""The sentences that all reports share, and a diagnosis as plain text and as Markdown, for an issue or a chat.

In Markdown, text of logs and registries is put in code spans, where it cannot act as markup.
"""

from __future__ import annotations

from string import ascii_lowercase
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.causes import cause_title, remedy_title
from locklens.doctor.messages import WARNINGS, WRAPPERS
from locklens.doctor.model import Basis, CauseId, CauseVerdict, Trait, TrustCost
from locklens.doctor.redacting import LEFT_OUT, shareable
from locklens.lines import Role, Span, labelled, line
from locklens.review.reports.markdown import code, prose
from locklens.text import clauses, counted, listing, page, size_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.doctor.messages import RecognisedError
    from locklens.doctor.model import Cause, Diagnosis, ErrorPlace, Onset, Remedy
    from locklens.lines import Line
    from locklens.text import Printable

NOTHING_RECOGNISED = "nothing recognised"

NARROWED = "To narrow it down:"
"""The title of the missing facts, if no cause is likely."""

DO_NOT = "Do not do this"
"""The title of the popular fixes that are not offered."""


def error_place_words(place: ErrorPlace) -> str:
    """Return the root of an error; if it is unknown, the roots that the log fits."""
    if place.is_known:
        return f"root {listing(list(place.roots))}  {place.examined}".rstrip()
    examined = f"{place.examined}; " if place.examined else ""
    if not place.roots:
        return f"root ?  {examined}the log fits no root here"
    return f"root ?  {examined}the log does not tell which of {listing(list(place.roots), 8)}"


def distinct_messages(errors: Sequence[RecognisedError]) -> list[RecognisedError]:
    """Return the first error with each message, as one message may be about several providers."""
    distinct: dict[tuple[str, str], RecognisedError] = {}
    for error in errors:
        distinct.setdefault((error.kind, error.text), error)
    return list(distinct.values())


def same_entry_words(diagnosis: Diagnosis) -> str:
    """Return which other roots have the same hashes, or lock a provider that is not locked here; "" if unknown."""
    same = list(diagnosis.same_entry)
    if diagnosis.is_locked is None or not diagnosis.roots:
        return ""
    if diagnosis.facts.root is None:
        return f"{listing(same)} {'has' if len(same) == 1 else 'have'} the same version and hashes" if same else ""
    other = "other root that can be read" if diagnosis.unread else "other root"
    if not diagnosis.is_locked:
        if diagnosis.roots == 1:
            return "not locked here"
        others = f"locked in {listing(list(diagnosis.locking), 3)}" if diagnosis.locking else f"nor in any {other}"
        return f"not locked here, {others}"
    if same:
        return f"the same version and hashes in {1 + len(same)} of {diagnosis.roots} roots, also {listing(same)}"
    if diagnosis.roots == 1:
        return ""
    return f"no {other} has the same version and hashes" if diagnosis.locking else f"no {other} locks it"


def missing_words(cause: Cause) -> str:
    """Return the missing fact, with the command that prints it; "" for none."""
    return f"{cause.missing}: {cause.command}" if cause.command else cause.missing


def verdict_sentence(diagnosis: Diagnosis) -> str:
    """Return the verdict in one sentence or several, without its certainty."""
    if diagnosis.fixed:
        again = "init" if diagnosis.next_step else "the command that failed"
        return f"{_capital(diagnosis.fixed)}: run {again} again."
    if diagnosis.obstacle:
        return f"{_capital(diagnosis.obstacle)}."
    certain, likely = diagnosis.with_verdict(CauseVerdict.YES), diagnosis.with_verdict(CauseVerdict.LIKELY)
    causes = certain or likely
    if not causes:
        return _without_cause(diagnosis)
    others = [one for one in likely if one.subject and not _is_explained(one, certain)]
    groups = _by_title(causes)
    shown = groups[: _CERTAIN_NAMED if certain else 2]
    providers = [{cause.provider for cause in group} for group in shown]
    of_several = len(shown) > 1 and set.isdisjoint(*providers[:2])
    hidden = len(causes) - sum(map(len, shown))
    joined = (", and " if certain or of_several else ", or ").join(map(_title_of, shown))
    more = f" (and {hidden} more)" if hidden else ""
    ruled_out = diagnosis.with_verdict(CauseVerdict.NO)
    is_released = any(cause.id is CauseId.REPUBLISHED and cause.basis is Basis.HASHES for cause in ruled_out)
    is_genuine = is_released and Trait.OF_PLATFORM in causes[0].traits
    ending = ". The locked packages are still those of the release." if is_genuine else "."
    besides = _by_title(others)
    left = len(others) - sum(map(len, besides[:2]))
    rest = f" (and {left} more)" if left else ""
    also = f" Likely, too: {', and '.join(map(_title_of, besides[:2]))}{rest}." if certain and others else ""
    return f"{_capital(joined)}{more}{ending}{also}{_unexplained(diagnosis)}"


def _by_title(causes: Sequence[Cause]) -> list[list[Cause]]:
    """Return causes in groups that say the same, in the order of the first of each."""
    groups: dict[tuple[str, bool], list[Cause]] = {}
    for cause in causes:
        groups.setdefault((cause_title(replace(cause, subject="")), cause.subject != ""), []).append(cause)
    return list(groups.values())


def _title_of(group: Sequence[Cause]) -> str:
    """Return what causes say in words, with the providers and roots that each of them is of."""
    subjects = list(dict.fromkeys(filter(None, (cause.subject for cause in group))))
    return cause_title(replace(group[0], subject=listing(subjects, _SUBJECTS_NAMED)))


def _said_once(causes: Sequence[Cause]) -> list[Cause]:
    """Return causes with those as one of which the same is said, in the order of the first of each."""
    groups: dict[Cause, list[str]] = {}
    for cause in causes:
        groups.setdefault(replace(cause, subject="", provider="", roots=()), []).append(cause.subject)
    found = ((cause, list(filter(None, subjects))) for cause, subjects in groups.items())
    return [replace(cause, subject=listing(subjects, _SUBJECTS_NAMED)) for cause, subjects in found]


_SUBJECTS_NAMED = 20
"""The most providers that are named for what they have in common."""


def _is_explained(cause: Cause, certain: Sequence[Cause]) -> bool:
    """True if causes that are certain concern the provider in each root of a cause."""
    own = [one for one in certain if one.provider in {cause.provider, ""}]
    roots = {root for one in own for root in one.roots}
    return any(not one.roots for one in own) or (own != [] and roots.issuperset(cause.roots))


_CERTAIN_NAMED = 4
"""The most causes that the verdict names where they are certain, each once with its providers."""


def _without_cause(diagnosis: Diagnosis) -> str:
    unknown = diagnosis.with_verdict(CauseVerdict.UNKNOWN)
    if not diagnosis.errors:
        causes = counted(len(diagnosis.causes), "cause")
        rest = f"; {len(unknown)} of {causes} could not be checked" if unknown else ""
        return f"No cause for an error was found{rest}."
    if all(error.kind in WRAPPERS for error in diagnosis.errors):
        return "The log has the title of an error, and no reason that is known: the lines behind it may be missing."
    if any(not place.roots for place in diagnosis.places):
        return "The log fits no root here."
    if not diagnosis.causes and diagnosis.advice:
        return f"No cause is tested for this error: {diagnosis.advice}."
    if not unknown:
        return "No known cause fits."
    return f"Could be one of {len(unknown)} causes." if len(unknown) > 1 else f"Could be: {cause_title(unknown[0])}."


def _unexplained(diagnosis: Diagnosis) -> str:
    """Return which errors are fixed already, and which have no known cause while others have one."""
    words = ""
    for opening, is_fixed in (("Already fixed:", True), ("No cause was found for", False)):
        left = [one for one in diagnosis.places if one.is_fixed is is_fixed and (is_fixed or not one.has_cause)]
        names = dict.fromkeys(one.examined or one.error.kind for one in left)
        words += f" {opening} the error of {listing(list(names))}." if names else ""
    return words


def _capital(text: str) -> str:
    """Return a sentence with a capital, unless it begins with a host, an address or a path."""
    first = text.partition(" ")[0]
    return text if set("/.:_") & set(first) else f"{text[0].upper()}{text[1:]}"


def narrowing(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the missing facts that would decide between causes; () if one is likely."""
    if diagnosis.fixed or diagnosis.has_cause:
        return ()
    needs = dict.fromkeys(filter(None, map(missing_words, diagnosis.with_verdict(CauseVerdict.UNKNOWN))))
    return tuple(one for one in needs if not any(other != one and other.startswith(one) for other in needs))


def is_clean(diagnosis: Diagnosis) -> bool:
    """True if roots were examined without a log, and each cause of each provider was ruled out."""
    is_unknown = bool(diagnosis.with_verdict(CauseVerdict.UNKNOWN))
    return not (diagnosis.is_of_log or diagnosis.has_cause or is_unknown or diagnosis.left)


def tally(diagnosis: Diagnosis) -> str:
    """Return how many causes were ruled out, and whether registries were asked."""
    return clauses(ruled_out_words(diagnosis), asked_words(diagnosis))


def ruled_out_words(diagnosis: Diagnosis) -> str:
    """Return how many causes were ruled out; "" for none, and for an error of the past, which had one."""
    ruled_out = len(diagnosis.with_verdict(CauseVerdict.NO))
    tested = len({cause.id for cause in diagnosis.causes})
    return f"{ruled_out} of {counted(tested, 'cause')} ruled out" if ruled_out and not diagnosis.fixed else ""


def remedy_costs(remedy: Remedy) -> str:
    """Return what a remedy costs: the roots, the download, and the effect on trust."""
    size = size_words(remedy.size) if remedy.size else "nothing to fetch"
    if remedy.size is None:
        size = "size unknown"
    return f"{counted(remedy.roots, 'root')}, {size}, trust: {_TRUST[remedy.trust]}"


_TRUST = {
    TrustCost.NONE: "unchanged", TrustCost.LOW: "new hashes to review", TrustCost.HIGH: "you trust unverified code",
}  # fmt: skip


def asked_words(diagnosis: Diagnosis) -> str:
    """Return whether registries were asked, and the first error."""
    if diagnosis.offline:
        return "offline"
    asked = [one for one in diagnosis.hosts if one.asked]
    if failed := next((one for one in asked if one.error), None):
        error = (failed.error or "").removeprefix(f"{failed.host} ").removeprefix(f"{failed.host}: ")
        return f"asked {failed.host}: {error}"
    return "checked against the registry" if asked else "no registry asked"


def onset_words(onset: Onset) -> str:
    """Return since which commit the lock file has the entry's hashes, or the configuration the requirement."""
    entry = f"{onset.entry}: " if onset.entry else ""
    change = f" ({onset.change})" if onset.change else ""
    if not onset.commit:
        return f"{entry}not committed yet{change}"
    commit = f"commit {onset.commit[:12]} of {onset.date[:10]}"
    if onset.is_oldest:
        return f"{entry}at least since {commit}, with which the history here begins{change}"
    by = f" {onset.by}" if onset.by else ""
    subject = f' "{onset.subject}"' if onset.subject else ""
    return f"{entry}since {commit}{by}{subject}{change}"


def onset_lines(diagnosis: Diagnosis, *, of_requirements: bool = False) -> list[str]:
    """Return since when the entries, or else requirements, are as they are, a line each; of many, the first."""
    onsets = [one for one in diagnosis.onsets if one.is_required == of_requirements]
    shown, rest = onsets[:_ONSETS_SHOWN], len(onsets[_ONSETS_SHOWN:])
    more = counted(rest, "more line") if of_requirements else counted(rest, "more entry", "more entries")
    return [*map(onset_words, shown), *([f"and {more}"] if rest else [])]


_ONSETS_SHOWN = 6
_WIDTH = 110
_LABEL_WIDTH = 13
_ERRORS_SHOWN = 5

_SECTIONS = (
    ("CAUSES", (CauseVerdict.YES, CauseVerdict.LIKELY), Role.STRONG),
    ("CANNOT SAY", (CauseVerdict.UNKNOWN,), Role.WARN),
    ("RULED OUT", (CauseVerdict.NO,), Role.DIM),
)


def _named_only(diagnosis: Diagnosis) -> tuple[CauseVerdict, ...]:
    """Return the verdicts whose causes a short report names without their evidence.

    What was ruled out needs no reading; nor does what cannot be said once a cause is certain, or the error is over.
    """
    is_told = diagnosis.fixed or diagnosis.with_verdict(CauseVerdict.YES)
    return (CauseVerdict.UNKNOWN, CauseVerdict.NO) if is_told else (CauseVerdict.NO,)


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
    named = () if lists_all else _named_only(diagnosis)
    for title, verdicts, role in _SECTIONS:
        if (causes := diagnosis.with_verdict(*verdicts)) and verdicts[0] not in named:
            yield ""
            yield line(Span(title, role))
            for cause in _said_once(causes):
                yield from _cause(cause)
    if any(diagnosis.with_verdict(verdict) for verdict in named):
        yield ""
    for title, verdicts, _ in _SECTIONS:
        if (causes := diagnosis.with_verdict(*verdicts)) and verdicts[0] in named:
            yield from _labelled(title, f"{_ids(causes)} (--all tells why)")
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


def _ids(causes: Sequence[Cause]) -> str:
    """Return causes by their ids, of several providers or roots with those that each is of."""
    subjects: dict[CauseId, list[str]] = {}
    for cause in causes:
        subjects.setdefault(cause.id, []).extend(filter(None, [cause.subject]))
    return ", ".join(f"{name} ({listing(of, 3)})" if of else name for name, of in subjects.items())


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


_VERDICTS = {
    CauseVerdict.YES: "yes", CauseVerdict.LIKELY: "likely", CauseVerdict.UNKNOWN: "cannot say", CauseVerdict.NO: "no",
}  # fmt: skip

_NAMED = {CauseVerdict.UNKNOWN: "cannot say", CauseVerdict.NO: "ruled out"}

_LONGEST = 1_000
"""The most characters of a message, a cell or a command."""


def doctor_markdown(diagnosis: Diagnosis, *, home: str = "", lists_all: bool = False) -> Printable:
    """Return a diagnosis as Markdown, without what should not be shared; for the arguments see `render`."""
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
    named = () if lists_all else _named_only(diagnosis)
    if listed := [cause for cause in diagnosis.causes if cause.verdict not in named]:
        yield ""
        yield "| cause | verdict | evidence | needed |"
        yield "|---|---|---|---|"
        yield from map(_row, _said_once(listed))
    if any(diagnosis.with_verdict(verdict) for verdict in named):
        yield ""
    for verdict in named:
        if causes := diagnosis.with_verdict(verdict):
            yield f"- {_NAMED[verdict]}: {code(_ids(causes), _LONGEST)}"
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
