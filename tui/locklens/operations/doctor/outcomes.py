"""What came of each subject: its causes, whether its error is one of the past, and what has to be noted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.doctor.affected import Affected
from locklens.doctor.causes import cause_title
from locklens.doctor.fixed import changed_words, fixed_words, obstacle_words, of_other_packages
from locklens.doctor.judging import judge_causes, of_no_root, of_one_message, of_one_root, standing_causes
from locklens.doctor.messages import WARNINGS
from locklens.doctor.model import CauseId, CauseVerdict, Trait
from locklens.lockfile import pinned
from locklens.project.configuration import constraint_place
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.doctor.examined import Examined
    from locklens.doctor.messages import RecognisedError
    from locklens.doctor.model import Cause
    from locklens.operations.doctor.checkout import Checkout
    from locklens.operations.doctor.subjects import DoctorSubject, SubjectFinder
    from locklens.project.configuration import Requirement


class Outcome(Struct, frozen=True):
    """What came of a subject.

    Attributes:
        affected: What is known about it, with its causes.
        ended: What has changed since its error, in a clause; "" where it is still to be expected.
        over: The same where nothing else fails in the root now; else "".
        obstacle: Why init fails there whatever the lock file has, as far as a log is diagnosed; "" for no such reason.
        standing: The causes for which init fails there all the same, with the providers that they are of.
    """

    subject: DoctorSubject
    affected: Affected
    ended: str
    over: str
    obstacle: str
    standing: tuple[tuple[Examined, Cause], ...]

    @property
    def x(self) -> Examined:
        """What is known."""
        return self.affected.examined

    @property
    def has_ended(self) -> bool:
        """True if the error is one of the past, whatever else fails."""
        return bool(self.over or self.ended)

    @property
    def standing_affected(self) -> list[Affected]:
        """What is affected by the causes for which init fails now; where the error is over, none is left."""
        one = self.affected
        if self.standing:
            return [
                Affected(x, (cause,), one.roots if x.address == one.examined.address else one.roots[:1])
                for x, cause in self.standing
            ]
        return [replace(one, causes=()) if self.has_ended else one]


GOT_PAST = "a later run in the log got past the error"
"""Why an error is of the past, in a clause, where the log itself tells it."""


def outcomes_of(
    finder: SubjectFinder,
    subjects: Sequence[DoctorSubject],
    known: Sequence[Examined],
    rules: Sequence[str],
    *,
    is_of_log: bool,
    overcome: Sequence[RecognisedError],
) -> list[Outcome]:
    """Return what came of each subject; without a log, no error is one of the past.

    Those that a later run in the log got past are, whatever their causes were.
    """
    said = {error.says for error in overcome}
    affected = [
        Affected(x, _of_unchanged(one, causes), finder.with_same_entry(one, subjects))
        for one, x, causes in zip(subjects, known, _judged(known, rules), strict=True)
    ]
    ended = [
        GOT_PAST if one.examined.message.says in said else fixed_words(one.examined, one.causes) if is_of_log else ""
        for one in affected
    ]
    standing = [standing_causes(one.examined) if words else [] for one, words in zip(affected, ended, strict=True)]
    past = _of_messages(affected, ["" if found else words for words, found in zip(ended, standing, strict=True)])
    outcomes = []
    for one, own, words, sound, found in zip(subjects, affected, ended, past, standing, strict=True):
        obstacle = obstacle_words(own.examined) if is_of_log else ""
        outcomes.append(Outcome(one, own, words or sound, "" if obstacle else sound, obstacle, tuple(found)))
    return outcomes


def _of_unchanged(one: DoctorSubject, causes: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """Return the causes of a root: none is certain where one that was changed later than the log may have failed."""
    if not one.changed:
        return causes
    likely, words = CauseVerdict.LIKELY, "; the log may be of a root that was changed since"
    return tuple(
        replace(each, verdict=likely, evidence=each.evidence + words) if each.verdict is CauseVerdict.YES else each
        for each in causes
    )


def _of_messages(affected: Sequence[Affected], past: Sequence[str]) -> list[str]:
    """Return what has changed for each, where a provider that never lacked its `h1` shares that of its message."""
    ended = {one.examined.error: words for one, words in zip(affected, past, strict=True) if words}

    def is_of_another(x: Examined) -> bool:
        return x.message.kind == "lock-not-updated" and not x.message.provider and x.has_h1

    pairs = zip((one.examined for one in affected), past, strict=True)
    return [words or (ended.get(x.error, "") if is_of_another(x) else "") for x, words in pairs]


def obstacle_of(outcomes: Sequence[Outcome]) -> str:
    """Return what is left where each error has ended and only the configuration keeps init from succeeding; else ""."""
    if not outcomes or any(one.standing or not one.has_ended for one in outcomes):
        return ""
    left = "; ".join(dict.fromkeys(filter(None, (one.obstacle for one in outcomes))))
    ended = "; ".join(dict.fromkeys(one.over or one.ended for one in outcomes))
    return f"the error of the log is over ({ended}), but {left}" if left else ""


def _judged(known: Sequence[Examined], rules: Sequence[str]) -> list[tuple[Cause, ...]]:
    """Return the causes of each subject; of an error in several roots, certain only what all have."""
    judged = [judge_causes(one, rules) if one.is_of_root else of_no_root(judge_causes(one, rules)) for one in known]
    nameless = (one.error for one in known if one.error is not None and not one.error.provider)
    for message in dict.fromkeys(nameless):
        own = [number for number, one in enumerate(known) if one.error == message]
        for number, causes in zip(own, of_one_message([judged[number] for number in own]), strict=True):
            judged[number] = causes
    for error in dict.fromkeys(one.error for one in known if one.fitting):
        own = [number for number, one in enumerate(known) if one.error == error]
        if error is not None and (error.provider or error.kind not in WARNINGS):
            of_roots = of_one_root([known[number] for number in own], [judged[number] for number in own])
            for number, causes in zip(own, of_roots, strict=True):
                judged[number] = causes
    return judged


def notes_of(
    finder: SubjectFinder, checkout: Checkout, outcomes: Sequence[Outcome], *, is_fixed: bool
) -> Iterator[str]:
    """Yield what is to be noted of subjects; "" where there is nothing."""
    known = [one.x for one in outcomes]
    yield from (_of_standing(one) for one in outcomes if one.standing)
    over = (f"in {one.x.own_root}, {one.over}" if one.over and one.x.fitting else one.over for one in outcomes)
    yield from over if not is_fixed else ()
    yield from (of_other_packages(one.x) for one in outcomes if one.over)
    if not is_fixed:
        yield from (_of_obstacle(one) for one in outcomes if one.obstacle and not obstacle_of(outcomes))
        left = (one for one in outcomes if not (one.standing or (one.obstacle and one.has_ended)))
        yield from (changed_words(one.x, one.affected.causes) for one in left)
        of_others = (one.x for one in outcomes if one.x.is_of_other_version and not one.has_ended)
        yield from (_of_other_version(x) for x in of_others if not (x.fitting or x.history.brought_both))
        yield from (_of_which_root(x, known) for x in known if x.fitting)
        explained = {one.x.error for one in outcomes if any(each.is_probable for each in one.affected.causes)}
        yield from (_of_deduced(one) for one in outcomes if one.subject.is_deduced and one.x.error not in explained)
        yield from (_of_same_conflict(one.affected) for one in outcomes)
        yield from (_of_same_entry(finder, one) for one in outcomes if one.x.fitting and not one.has_ended)
        yield from (_of_changed(checkout, one.subject, one.x) for one in outcomes if one.subject.changed)
        yield from (_of_no_root(finder, one.subject.named, one.x) for one in outcomes if not one.x.is_of_root)
        yield from _of_other_constraints([x for x in known if not x.history.is_constraint_of_here])
    yield from (_of_moved(one.subject.named, one.x) for one in outcomes if one.subject.named and one.x.is_of_root)
    yield from (_of_besides(checkout, one.subject) for one in outcomes if one.subject.besides)
    yield from (_of_old_entry(finder, one.x) for one in outcomes if one.over and not one.x.fitting)


def _of_standing(one: Outcome) -> str:
    """Return a note on an error that is over, where its root has other causes, maybe of other providers."""
    x, own = one.x, one.affected.roots
    titles = [
        f"{other.release}: {cause_title(cause)}" if other.address != x.address else cause_title(cause)
        for other, cause in one.standing
    ]
    command = x.shell.command_line("doctor", "--", *(own if x.fitting else (x.incident.root or ".",)))
    where, shown = listing(list(own), 3) if x.fitting else x.where, listing(titles, 3)
    return f"the error of the log is over ({one.ended}), but not all is well in {where}: {shown}; {command}"


def _of_obstacle(one: Outcome) -> str:
    """Return a note on a root whose configuration keeps init from succeeding, and on its error where that is over."""
    return (
        one.obstacle
        if one.standing or not one.has_ended
        else f"the error in {one.x.where} is over ({one.ended}), but {one.obstacle}"
    )


def _of_moved(named: str, x: Examined) -> str:
    """Return a note on a log that names the old folder of a root."""
    return f"the log names {named}, from where {x.where} was moved"


def _of_besides(checkout: Checkout, one: DoctorSubject) -> str:
    """Return a note on roots that the log fits besides the current folder's."""
    others = listing([checkout.shown(path) for path in one.besides], 3)
    return f"the log fits {others}, too: the current folder's root is taken; -- ROOT names another"


def _of_old_entry(finder: SubjectFinder, x: Examined) -> str:
    """Return a note on other roots with the entry that a fixed root had; "" for none."""
    past = [
        one.entry for one in (x.history.written, *x.history.states) if one is not None and one.is_of(x.message.version)
    ]
    was = next((one for one in past if one is not None and pinned(one) != pinned(x.entry)), None)
    others = finder.same_entry(x.root, was) if was is not None else ()
    has = "has" if len(others) == 1 else "have"
    return f"{listing(list(others), 3)} {has} the entry of {x.name} that {x.where} had" if others else ""


def _of_which_root(x: Examined, known: Sequence[Examined]) -> str:
    """Return a note on a log that does not tell its root, where it fits several."""
    roots = listing(list(x.fitting), 8)
    if all(one.is_of_other_version for one in known if one.error == x.error):
        return f"no root here locks {x.name} {x.message.version}: check out the commit of the failing run"
    return f"the log does not tell which root failed; it fits {roots}: name it with -- ROOT"


def _of_deduced(one: Outcome) -> str:
    """Return a note on a root that neither the log nor the user names, where no cause fits it; "" for any other."""
    x = one.x
    if one.has_ended or x.fitting or not x.is_of_root:
        return ""
    return f"no cause fits {x.own_root}, which the log does not name: if another root failed, name it with -- ROOT"


def _of_same_conflict(one: Affected) -> str:
    """Return a note on other roots whose constraints exclude what they lock of the provider; "" for none."""
    x = one.examined
    if not any(cause.id is CauseId.CONSTRAINT_CONFLICT and cause.verdict is CauseVerdict.YES for cause in one.causes):
        return ""
    excluding: dict[str, list[Requirement]] = {}
    for other in x.others:
        those = [each for each in other.requirements if not each.constraints.admits(other.entry.version)]
        if those and other.root not in {*one.alone.roots, *x.fitting}:
            excluding[other.root] = those
    places = dict.fromkeys(str(constraint_place(each)) for those in excluding.values() for each in those)
    does_not = f"the locked version of {x.name} does not satisfy the constraints ({listing(list(places), 3)})"
    return f"in {listing(list(excluding), 3)}, too, {does_not}" if excluding else ""


def _of_same_entry(finder: SubjectFinder, one: Outcome) -> str:
    """Return a note on roots that the log does not fit, and that have an entry which is surely wrong; "" for none."""
    x, certain = one.x, (each for each in one.affected.causes if each.verdict is CauseVerdict.YES)
    if x.entry is None or not any(Trait.OF_WRONG_ENTRY in each.traits for each in certain):
        return ""
    others = [root for root in finder.same_entry(x.root, x.entry) if root not in x.fitting]
    has, them = ("has", "it") if len(others) == 1 else ("have", "them")
    words = f"{listing(others, 3)} {has} that entry of {x.name}, too, and a fix leaves {them}"
    return f"{words}: {x.shell.command_line('doctor', '--', *others)}" if others else ""


def _of_changed(checkout: Checkout, one: DoctorSubject, x: Examined) -> str:
    """Return a note on roots that the log fits and that were changed, where another root is as the log says."""
    roots = listing([checkout.shown(path) for path in one.changed], 3)
    of_which = "that root" if len(one.changed) == 1 else "one of these roots"
    what = x.name if x.message.provider else "the lock file"
    since = f"{what} was changed in {roots} later than the log, as a fix does"
    return f"{since}: if it is of {of_which}, run init again there"


def _of_no_root(finder: SubjectFinder, named: str, x: Examined) -> str:
    """Return a note on a log that fits no root here; `named` is the folder that it names, "" for none."""
    if named:
        return (
            f"the log names {named}, which is no root here: "
            "diagnose it in the repository of the failing run, at its commit, or name a root with -- ROOT"
        )
    fits = "is as the log says" if x.address is None else f"locks or requires {x.name}"
    if x.error is not None and x.address is not None and finder.roots.knows(x.error):
        fits = f"requires just what the run of the log did, with {x.name}"
    return f"no root here {fits}: diagnose it in the repository of the failing run, at its commit or branch"


def _of_other_constraints(known: Sequence[Examined]) -> Iterator[str]:
    """Yield a note on each constraint of a log that is neither here nor in what was read of the history."""
    for constraint, name in dict.fromkeys((x.message.constraint, x.name) for x in known):
        own = [x for x in known if (x.message.constraint, x.name) == (constraint, name)]
        roots = list(dict.fromkeys(x.own_root for x in own))
        lacking = f"which neither {roots[0]} nor its last commits have"
        if len(roots) > 1:
            lacking = f"which none of {listing(roots, 8)} has, nor their last commits"
        ways = "check out the commit of the failing run, or name its root with -- ROOT"
        if own[0].message.modules:
            get = f"{own[0].tool.command} get -update"
            ways = f"a module that the run fetched may have it, as {get} fetches it now; else {ways}"
        yield f"the log has the constraint {constraint} on {name}, {lacking}: {ways}"


def _of_other_version(x: Examined) -> str:
    """Return a note on a log of another version than the locked one: of another root or commit."""
    assert x.error is not None
    assert x.entry is not None
    commit = next((one.commit[:12] for one in x.history.states if one.is_of(x.error.version)), "")
    ways = f"commit {commit} has that version there: git checkout {commit}, to judge the log"
    if x.history.states and x.history.states[0].is_of(x.error.version):
        ways = f"that is not committed yet, and commit {commit} has the version of the log"
    return (
        f"the log is of {x.address} {x.error.version}, and {x.entry.version} is locked in {x.own_root}: "
        f"{ways if commit else 'name the root of the failing run with -- ROOT, or check its commit out'}"
    )
