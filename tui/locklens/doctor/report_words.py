"""The sentences of the reports, which all forms share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.causes import cause_title
from locklens.doctor.model import CauseId, CauseVerdict, Certainty, TrustCost
from locklens.text import counted, listing, size_words

if TYPE_CHECKING:
    from locklens.doctor.model import Cause, Diagnosis, ErrorPlace, Onset, Remedy

NOTHING_RECOGNISED = "nothing recognised"

NARROWED = "To narrow it down:"
"""The title of the missing facts, where no cause is likely."""

DO_NOT = "Do not do this"
"""The title of the popular fixes that are not offered."""


def place_words(place: ErrorPlace) -> str:
    """Return the root of an error, or those that the log fits."""
    if place.is_known:
        return f"root {listing(list(place.roots))}  {place.examined}".rstrip()
    return f"root ?  {place.examined}; the log does not tell which, and fits {listing(list(place.roots), 8)}"


def same_entry_words(diagnosis: Diagnosis) -> str:
    """Return which other roots have the entry."""
    if not diagnosis.roots:
        return ""
    if not diagnosis.same_entry:
        return "; only this root has the entry" if diagnosis.roots > 1 else ""
    count = 1 + len(diagnosis.same_entry)
    return f"; the same entry in {count} of {diagnosis.roots} roots, also {listing(list(diagnosis.same_entry))}"


def missing_words(cause: Cause) -> str:
    """Return the fact that would tell, with the command that prints it; "" for none."""
    return f"{cause.missing}: {cause.command}" if cause.command else cause.missing


def verdict_sentence(diagnosis: Diagnosis) -> str:
    """Return the verdict in one sentence or several, without its certainty."""
    if diagnosis.fixed:
        return f"{_capital(diagnosis.fixed)}: run init again."
    certain = diagnosis.with_verdict(CauseVerdict.YES)
    chief = certain or diagnosis.with_verdict(CauseVerdict.LIKELY)
    if not chief:
        return _without_cause(diagnosis)
    shown = chief if certain else chief[:2]
    titles = list(dict.fromkeys(map(cause_title, shown)))
    of_several = len({cause.provider for cause in shown}) > 1
    link = ", and " if certain or of_several else ", or "
    joined = link.join(titles)
    more = f" (and {len(chief) - 2} more)" if len(chief) > 2 and not certain else ""
    genuine = diagnosis.with_verdict(CauseVerdict.NO)
    is_genuine = any(cause.id is CauseId.REPUBLISHED for cause in genuine) and chief[0].id in {
        CauseId.H1_MISSING, CauseId.PLATFORM_MISSING,
    }  # fmt: skip
    ending = ". The locked packages are still those of the release." if is_genuine else "."
    return f"{_capital(joined)}{more}{ending}{_unexplained(diagnosis)}"


def _without_cause(diagnosis: Diagnosis) -> str:
    unknown = diagnosis.with_verdict(CauseVerdict.UNKNOWN)
    if not diagnosis.errors:
        causes = counted(len(diagnosis.causes), "cause")
        rest = f"; {len(unknown)} of {causes} could not be checked" if unknown else ""
        return f"No cause for an error was found{rest}."
    if not unknown:
        return "No known cause fits."
    return f"Could be one of {len(unknown)} causes." if len(unknown) > 1 else f"Could be: {cause_title(unknown[0])}."


def _unexplained(diagnosis: Diagnosis) -> str:
    """Return which errors no cause was found for, where others have one."""
    left = [one.examined or one.error.kind for one in diagnosis.places if not one.has_cause]
    return f" No cause was found for the error of {listing(list(dict.fromkeys(left)))}." if left else ""


def _capital(text: str) -> str:
    """Return a sentence with a capital, but for one that begins with a host, an address or a path."""
    first = text.partition(" ")[0]
    return text if set("/.:") & set(first) else f"{text[0].upper()}{text[1:]}"


def narrowing(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the facts that would tell causes apart, where none is likely."""
    if diagnosis.fixed or diagnosis.has_cause:
        return ()
    return tuple(dict.fromkeys(filter(None, map(missing_words, diagnosis.with_verdict(CauseVerdict.UNKNOWN)))))


def is_clean(diagnosis: Diagnosis) -> bool:
    """True if a root was examined without a log, and each cause was ruled out."""
    is_unknown = bool(diagnosis.with_verdict(CauseVerdict.UNKNOWN))
    return not diagnosis.is_of_log and diagnosis.certainty is Certainty.CANNOT_SAY and not is_unknown


def tally(diagnosis: Diagnosis) -> str:
    """Return how many causes were ruled out, and what was asked for that."""
    ruled_out = len(diagnosis.with_verdict(CauseVerdict.NO))
    words = f"{ruled_out} of {counted(len(diagnosis.causes), 'cause')} ruled out" if ruled_out else ""
    return "; ".join(filter(None, (words, asked_words(diagnosis))))


def remedy_costs(remedy: Remedy) -> str:
    """Return what a remedy takes."""
    size = "size unknown" if remedy.size is None else "nothing to fetch" if not remedy.size else size_words(remedy.size)
    return f"{counted(remedy.roots, 'root')}, {size}, trust: {_TRUST[remedy.trust]}"


_TRUST = {
    TrustCost.NONE: "unchanged", TrustCost.LOW: "new version to review", TrustCost.HIGH: "you trust unverified code",
}  # fmt: skip


def asked_words(diagnosis: Diagnosis) -> str:
    """Return how registries were asked."""
    if diagnosis.offline:
        return "offline"
    asked = [one for one in diagnosis.hosts if one.asked]
    if asked and all(one.error for one in asked):
        return f"asked {asked[0].host}, without success: {asked[0].error}"
    return "checked against the registry" if asked else "no registry asked"


def onset_words(onset: Onset) -> str:
    """Return since when the lock file has the entry's hashes."""
    if not onset.commit:
        return f"not committed yet ({onset.change})" if onset.change else "not committed yet"
    since = "at least since" if onset.is_oldest else "since"
    by = f" by {onset.author}" if onset.author else ""
    subject = f' "{onset.subject}"' if onset.subject else ""
    change = f" ({onset.change})" if onset.change else ""
    return f"{since} commit {onset.commit[:12]} of {onset.date[:10]}{by}{subject}{change}"
