"""What reports of a diagnosis and its screen say in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.causes import cause_title
from locklens.doctor.messages import WRAPPERS
from locklens.doctor.model import Basis, CauseId, CauseVerdict, Trait, TrustCost
from locklens.text import clauses, counted, listing, size_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.doctor.messages import RecognisedError
    from locklens.doctor.model import Cause, Diagnosis, ErrorPlace, Onset, Remedy

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
    return cause_title(replace(group[0], subject=_together(cause.subject for cause in group)))


def _together(subjects: Iterable[str]) -> str:
    """Return the subjects of causes in one clause, with the roots once where they are the same."""
    known = list(dict.fromkeys(filter(None, subjects)))
    parts = [one.partition(" in ") for one in known]
    if len(known) > 1 and len({place for _, _, place in parts}) == 1:
        _, there, place = parts[0]
        return f"{listing([name for name, _, _ in parts], _SUBJECTS_NAMED)}{there}{place}"
    return listing(known, _SUBJECTS_NAMED)


def said_once(causes: Sequence[Cause]) -> list[Cause]:
    """Return causes with those as one of which the same is said, in the order of the first of each."""
    groups: dict[Cause, list[str]] = {}
    for cause in causes:
        groups.setdefault(replace(cause, subject="", provider="", roots=()), []).append(cause.subject)
    return [replace(cause, subject=_together(subjects)) for cause, subjects in groups.items()]


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


def named_only(diagnosis: Diagnosis) -> tuple[CauseVerdict, ...]:
    """Return the verdicts whose causes a short report names without their evidence.

    What was ruled out needs no reading; nor does what cannot be said once a cause is certain, or the error is over.
    """
    is_told = diagnosis.fixed or diagnosis.with_verdict(CauseVerdict.YES)
    return (CauseVerdict.UNKNOWN, CauseVerdict.NO) if is_told else (CauseVerdict.NO,)


def ids_of(causes: Sequence[Cause]) -> str:
    """Return causes by their ids, of several providers or roots with those that each is of."""
    subjects: dict[CauseId, list[str]] = {}
    for cause in causes:
        subjects.setdefault(cause.id, []).extend(filter(None, [cause.subject]))
    return ", ".join(f"{name} ({listing(of, 3)})" if of else name for name, of in subjects.items())
