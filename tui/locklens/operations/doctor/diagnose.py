"""The diagnosis as a use case: the order of its steps, from the log and the roots to causes, fixes and their writes."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.causes import cause_title, not_offered_for
from locklens.doctor.examined import from_top
from locklens.doctor.fixed import awaits_init, changed_words, fixed_words, of_messages, of_other_packages
from locklens.doctor.judging import (
    Several,
    joined_causes,
    judge_causes,
    of_no_root,
    of_one_message,
    of_one_root,
    remedies_for,
    stand_ins,
    standing_causes,
)
from locklens.doctor.model import Diagnosis, ErrorPlace, Incident, ReadLog
from locklens.doctor.provider_remedies import Affected
from locklens.doctor.recognising import read_log
from locklens.doctor.remedies import run_again, run_command_again
from locklens.operations.doctor.examining import Examiner
from locklens.operations.doctor.log_roots import MASK, Checkout, LogRoots
from locklens.operations.doctor.places import MOST_HASHED
from locklens.operations.doctor.releases import is_of_download, look_up_entries, platform_by_hash, whole_host
from locklens.operations.doctor.subjects import SubjectFinder, different_first
from locklens.operations.root_modules import packages_words
from locklens.text import counted, listing

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Cause, Onset, RecognisedError, Remedy, RemedyWrite
    from locklens.operations.comparison import RootSettings
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.subjects import DoctorSubject
    from locklens.operations.review.request import ProvingPlanned, ReviewEvent
    from locklens.operations.write.apply import Operation

MOST_SUBJECTS = 40
"""The most providers in roots that are examined in one run; of more, the first."""


def diagnose(
    request: DoctorRequest,
    *,
    cancel: threading.Event | None = None,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
    confirm: Callable[[ProvingPlanned], bool] | None = None,
) -> Diagnosis:
    """Diagnose the errors of a log, or examine roots without one.

    Args:
        request: The log, and all that the user knows besides it.
        cancel: Set by another thread to stop.
        on_event: Called in this thread, also before anything is downloaded, with its size.
        confirm: Called before anything is downloaded, in this thread; False downloads nothing. None: it is agreed to.

    Raises:
        ConfigurationError: A root, the provider that was named or the package that was handed in cannot be read.
        RepositoryError: Git failed.
        RunCancelledError: `cancel` was set.
    """
    read = _read(request)
    if read.errors and request.network is not None:  # answers that are older than the error tell nothing about it
        request = replace(request, network=request.network.fresher(not request.network.is_offline))
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    is_offline = request.network is None or request.network.is_offline
    of_cut = ("the log is longer than what is read: its beginning was left out",) if read.is_cut else ()
    if request.log is not None and not read.errors:
        return Diagnosis(at, is_offline, (), Incident(), notes=of_cut, is_cut=read.is_cut)

    def agree(plan: ProvingPlanned) -> bool:
        on_event(plan)
        return confirm is None or confirm(plan)

    with ExitStack() as stack:
        checkout = Checkout.open(request.folder, stack)
        diagnosis = _diagnosed(request, read, checkout, cancel, on_event, agree)
    start = request.started_from
    return replace(
        diagnosis,
        at=at,
        offline=is_offline,
        notes=(*diagnosis.notes, *map(_of_overcome, read.overcome), *of_cut),
        is_of_log=request.log is not None,
        is_cut=read.is_cut,
        started_from=start.words if start is not None else "",
    )


def _read(request: DoctorRequest) -> ReadLog:
    """Return the errors of the log, or of the failed plan that led here."""
    if request.log is not None:
        return read_log(request.log)
    start = request.started_from
    return read_log(start.message.encode()) if start is not None and start.message else ReadLog(())


def _diagnosed(
    request: DoctorRequest,
    read: ReadLog,
    checkout: Checkout,
    cancel: threading.Event | None,
    on_event: Callable[[ReviewEvent], None],
    confirm: Callable[[ProvingPlanned], bool],
) -> Diagnosis:
    roots = LogRoots(request, read, checkout)
    finder = SubjectFinder(request, roots, checkout)
    masked, read = read, roots.read
    notes = list(dict.fromkeys(filter(None, map(_of_mask, masked.errors, read.errors))))
    subjects = finder.subjects()
    left = max(0, len(subjects) - MOST_SUBJECTS)
    if left:
        subjects = different_first(subjects)
        notes.append(f"only the first {MOST_SUBJECTS} of {len(subjects)} providers are examined")
        subjects = subjects[:MOST_SUBJECTS]
    if checkout.repository is not None:
        notes += packages_words(checkout.repository, (one.root.path for one in subjects))
    examiner = Examiner(request, read, checkout, finder, cancel)
    subjects = examiner.changed.with_own_roots(subjects)[:MOST_SUBJECTS]
    found = examiner.examined(subjects)
    notes += examiner.notes
    entries = [(one.root.tool, one.entry) for one in subjects if one.entry is not None]
    entries += [(one.root.tool, entry) for one in subjects for entry in one.sides]
    entries += [
        (x.tool, x.origins.earlier.entry)
        for x in found
        if x.origins.earlier is not None and x.origins.earlier.entry is not None
    ]
    damaged = [
        (one.root.tool, one.entry, x.platform, one.error.hashes)
        for one, x in zip(subjects, found, strict=True)
        if one.entry is not None and one.error is not None and is_of_download(one.error)
    ]
    lacked = [
        (one.root.tool, one.entry, x.platform_on_disk, checkout.top / one.root.path)
        for one, x in zip(subjects, found, strict=True)
        if one.entry is not None and x.is_of_server
    ]
    unlocked = [(x.tool, x.address) for x in found if x.entry is None and x.address is not None]
    answers = look_up_entries(
        entries, request, cancel, on_event, confirm, damaged=damaged, lacked=lacked, unlocked=unlocked
    )
    rules = request.started_from.rules if request.started_from is not None else ()
    known = []
    for one, examined in zip(subjects, found, strict=True):
        sides = {(each.address, str(each.version)): answers.of(one.root.tool, each) for each in one.sides}
        unlisted = frozenset(key for key, side in sides.items() if side and side.is_unlisted)
        whole = frozenset(key for key, side in sides.items() if side and side.is_whole)
        examined = replace(examined, unlisted=unlisted, whole=whole)  # noqa: PLW2901
        looked_up = answers.of(one.root.tool, one.entry) if one.entry is not None else None
        if looked_up is None and one.address is not None:
            listing = answers.listings.get((one.root.tool.name, one.address))
            examined = replace(examined, listed_unlocked=listing)  # noqa: PLW2901
        if looked_up is not None:
            names = ("change", "case", "neighbour", "downloads", "hashes_of", "is_offered")
            examined = replace(examined, **{name: getattr(looked_up, name) for name in names})  # noqa: PLW2901
            examined = _with_platform(examined)  # noqa: PLW2901
        if examined.origins.earlier is not None and (was := examined.origins.earlier.entry) is not None:
            host = whole_host(answers.of(examined.tool, was))
            examined = replace(examined, earlier_host=host)  # noqa: PLW2901
        known.append(examined)
    affected = [
        Affected(examined, causes, finder.with_same_entry(one))
        for one, examined, causes in zip(subjects, known, _judged(known, rules), strict=True)
    ]
    past = [fixed_words(one.examined, one.causes) for one in affected] if request.log is not None else []
    standing = [standing_causes(one.examined) if words else [] for one, words in zip(affected, past, strict=False)]
    notes += dict.fromkeys(
        _of_standing(one.examined, words, found)
        for one, words, found in zip(affected, past, standing, strict=False)
        if found
    )
    ended, past = past, ["" if found else words for words, found in zip(past, standing, strict=True)]
    past = of_messages(affected, past) if past else past
    messages = tuple({error.says: error for error in reversed(read.errors)}.values())[::-1]
    ended = [one or other for one, other in zip(past, ended, strict=True)]
    places = _places(messages, affected, ended)
    fixed = "; ".join(dict.fromkeys(past)) if past and all(past) else ""
    notes += dict.fromkeys(filter(None, past if not fixed else ()))
    both = (of_other_packages(one.examined) for one, words in zip(affected, past, strict=False) if words)
    notes += dict.fromkeys(filter(None, both))
    if not fixed:
        notes += dict.fromkeys(
            filter(
                None,
                (
                    changed_words(one.examined, one.causes)
                    for one, found in zip_longest(affected, standing)
                    if not found
                ),
            )
        )
        others = (one for one, words in zip_longest(known, ended) if one.is_of_other_version and not words)
        notes += dict.fromkeys(_of_other_version(one) for one in others if not one.fitting)
        notes += dict.fromkeys(_of_which_root(one, known) for one in known if one.fitting)
        pairs = zip(subjects, known, strict=True)
        notes += dict.fromkeys(_of_no_root(one.named, x) for one, x in pairs if not x.is_of_root)
        notes += dict.fromkeys(_of_other_constraint(one) for one in known if not one.is_constraint_of_here)
    notes += dict.fromkeys(_of_besides(checkout, one) for one in subjects if one.besides)
    over = (_of_old_entry(finder, one) for one, words in zip(known, past, strict=False) if words and not one.fitting)
    notes += dict.fromkeys(filter(None, over))
    pending = [one for one in affected if awaits_init(one.examined)] if fixed else []
    affected = [replace(one, causes=()) if fixed or words else one for one, words in zip_longest(affected, past)]
    affected = [each for one, found in zip_longest(affected, standing) for each in _standing(one, found or ())]
    causes = joined_causes(affected, rules)
    chief = next(iter((*(one for one in affected if causes and _is_of(one, causes[0])), *affected)), None)
    has_several = Several.among(affected)
    facts = _shared([one.incident for one in known])
    if has_several.roots:
        facts = replace(facts, root=None)
    # What was added or removed is no longer among the providers that are examined, and the others were never wrong.
    is_of_file = fixed != "" and all(one.examined.message.kind == "readonly-changed" for one in affected)
    here = checkout.here
    if facts.root is not None:
        facts = replace(facts, root=from_top(here, facts.root))
    if examiner.copies.is_cut:
        notes.append(f"only the first {MOST_HASHED} copies on this machine were hashed: of the others nothing is said")
    return Diagnosis(
        "",
        offline=True,
        errors=messages,
        facts=facts,
        causes=tuple(replace(one, roots=_from_top(here, one.roots)) for one in causes),
        remedies=remedies_for(affected)
        if not fixed
        else _run_again(pending, has_several) or (run_command_again(affected[0]),),
        not_offered=not_offered_for(causes) if not fixed else (),
        onsets=_onsets(examiner, affected, chief, has_several) if not is_of_file else (),
        is_locked=None if has_several.providers or is_of_file else _is_locked(chief),
        same_entry=_from_top(here, _same_entry(finder, chief, affected)),
        locking=_from_top(here, _locking(finder, chief)),
        roots=len(checkout.locks),
        left=left,
        unread=sum(bool(roots.lock(path).problems) for path in checkout.locks),
        notes=(*notes, *answers.notes),
        examined=_examined_words(affected, has_several, is_of_file=is_of_file),
        fixed=fixed,
        next_step=" && ".join(dict.fromkeys(one.next_step for one in pending)),
        places=tuple(replace(one, roots=_from_top(here, one.roots)) for one in places),
        advice=BY_KIND[read.errors[0].kind].advice if read.errors else "",
        hosts=answers.hosts,
    )


def _from_top(here: str, roots: Sequence[str]) -> tuple[str, ...]:
    return tuple(from_top(here, root) for root in roots)


def _shared(incidents: Sequence[Incident]) -> Incident:
    """Return the circumstances as the first provider has them; without its root's tool where others are of another."""
    tools = sorted({one.tool for one in incidents if one.tool})
    if len(tools) < 2:
        return incidents[0] if incidents else Incident()
    sources = {**dict(incidents[0].sources), "tool": f"each root's tool ({', '.join(tools)})"}
    return replace(incidents[0], tool=None, sources=tuple(sources.items()))


def _with_platform(x: Examined) -> Examined:
    """Return what is known with the platform that a hash of the message is of, where nothing else tells it."""
    if x.platform or x.error is None or x.case is None or not (platform := platform_by_hash(x.case, x.error.hashes)):
        return x
    sources = (*x.incident.sources, ("platform", "a hash of the log"))
    return replace(x, incident=replace(x.incident, platform=platform, sources=sources))


def _is_locked(one: Affected | None) -> bool | None:
    if one is None or one.examined.address is None or one.examined.lock.problems:
        return None
    return one.examined.entry is not None


def _locking(finder: SubjectFinder, one: Affected | None) -> tuple[str, ...]:
    """Return the other roots of the repository that lock the provider."""
    address = one.examined.address if one is not None else None
    return finder.locking(one.examined.root, address) if one is not None and address is not None else ()


def _same_entry(finder: SubjectFinder, one: Affected | None, affected: Sequence[Affected]) -> tuple[str, ...]:
    """Return the other roots of the repository with the same entry; none where several examined roots differ in it."""
    entry = one.examined.entry if one is not None else None
    if one is None or entry is None:
        return ()
    having = (one.roots[0], *finder.same_entry(one.examined.root, entry))
    examined = {root for each in affected for root in (each.examined.fitting or each.roots[:1])}
    return tuple(root for root in having if root not in examined) if examined <= {*having} else ()


def _is_of(one: Affected, cause: Cause) -> bool:
    """True if a cause is of a provider in its root."""
    own = next((each for each in one.causes if each.id is cause.id), None)
    is_there = not cause.roots or one.roots[0] in cause.roots
    return own is not None and own.verdict is cause.verdict and own.provider in {cause.provider, ""} and is_there


def _onsets(
    examiner: Examiner, affected: Sequence[Affected], chief: Affected | None, has_several: Several
) -> tuple[Onset, ...]:
    """Return since when the entry of the first cause is as it is, then each other one with a cause, or else of a log.

    Each has its provider, and the roots that have it since then, where there are several. Of a lock file with a wrong
    line, which may be in the block of another provider, it is that line's.
    """
    blamed = [] if chief is None else [chief]
    has_cause = [one for one in affected if any(cause.is_probable for cause in one.causes)]
    without = [one for one in affected if one.examined.error is not None]
    blamed += [one for one in has_cause or without if one is not chief]
    roots: dict[tuple[str, Onset], dict[str, Examined]] = {}
    for one in blamed:
        for root in one.alone.roots[:_MOST_BLAMED]:
            onset, lock = examiner.onset(one.examined, root), one.examined.lock
            if onset is not None:
                about = lock.path if lock.problems else one.examined.release
                roots.setdefault((about, onset), {})[root] = one.examined
    found = []
    for (about, onset), own in roots.items():
        x = next(iter(own.values()))
        subject = has_several.subject([x], [] if x.fitting and {*own} >= {*x.fitting} else [*own])
        found.append(replace(onset, entry=about if subject and x.lock.problems else subject))
    return tuple(found)


_MOST_BLAMED = 20
"""The most roots with one entry that git is asked about."""


def _examined_words(affected: Sequence[Affected], has_several: Several, *, is_of_file: bool) -> str:
    """Return the provider that was examined, or of several their number and roots; or that it is the lock file."""
    if not affected:
        return ""
    if not is_of_file and not has_several.providers and (not has_several.roots or affected[0].examined.fitting):
        return _headline(one.examined for one in affected)
    addresses = {one.examined.address for one in affected}
    what = counted(len(addresses), "provider") if has_several.providers else affected[0].examined.name
    what = "the lock file" if is_of_file else what
    roots = list(dict.fromkeys(root for one in affected for root in (one.examined.fitting or one.roots[:1])))
    return " ".join(filter(None, (what, has_several.subject((), roots))))


def _standing(one: Affected, found: Sequence[tuple[Examined, Cause]]) -> list[Affected]:
    """Return what is affected by the causes for which init fails now, where the error of the log is over."""
    return [
        Affected(examined, (cause,), one.roots if examined.address == one.examined.address else one.roots[:1])
        for examined, cause in found
    ] or [one]


def _run_again(affected: Sequence[Affected], has_several: Several) -> tuple[Remedy, ...]:
    """Return the step after a fix, for each root, which its title names where there are several."""
    by_root = {one.next_step: one for one in affected}
    found = []
    for one in by_root.values():
        remedy, roots = run_again(one), has_several.subject((), one.alone.roots) if len(by_root) > 1 else ""
        found.append(replace(remedy, subject=roots, note="; ".join((remedy.note, *stand_ins(remedy)))))
    return tuple(found)


def _places(
    errors: Sequence[RecognisedError], affected: Sequence[Affected], past: Sequence[str]
) -> tuple[ErrorPlace, ...]:
    """Return where each message is, and whether a cause of it was found, or it is of the past."""
    found = []
    for error in errors:
        pairs = [(one, words) for one, words in zip_longest(affected, past) if one.examined.message.says == error.says]
        own = [one for one, _ in pairs]
        if own:
            roots = [root for one in own for root in one.examined.fitting or one.roots[: one.examined.is_of_root]]
            is_known = all(one.examined.is_of_root and not one.examined.fitting for one in own)
            has_cause = any(cause.is_probable for one in own for cause in one.causes)
            x = own[0].examined
            headline = f"{x.name} {error.version}" if error.version and x.address is not None else ""
            headline = headline or _headline(one.examined for one in own)
            addresses = {one.examined.address for one in own}
            if not error.provider and (len(addresses) > 1 or (len(own) > 1 and None in addresses)):
                headline = ""  # the message names none of them
            is_fixed = all(words for _, words in pairs)
            found.append(ErrorPlace(error, headline, tuple(dict.fromkeys(roots)), is_known, has_cause, is_fixed))
    return tuple(found)


def _of_mask(masked: RecognisedError, error: RecognisedError) -> str:
    """Return a note on an error whose provider the log hides; "" for any other."""
    if MASK not in masked.provider:
        return ""
    words = f"the log hides the name of the provider ({masked.provider})"
    if MASK in error.provider:
        return f"{words}, and not exactly one locked provider fits"
    return f"{words}: of what is locked here, only {error.provider} fits"


def _of_overcome(error: RecognisedError) -> str:
    """Return a note on an error that a later run got past."""
    about = f" of {error.provider}" if error.provider else ""
    return f"line {error.line} has an error{about} that a later run in the log got past: {error.reason}"


def _of_standing(x: Examined, words: str, found: Sequence[tuple[Examined, Cause]]) -> str:
    """Return a note on an error that is over, where its root has other causes, maybe of other providers."""
    titles = [
        f"{other.release}: {cause_title(cause)}" if other.address != x.address else cause_title(cause)
        for other, cause in found
    ]
    command = x.command_line("doctor", "--", *(x.fitting or (x.incident.root or ".",)))
    shown = listing(titles, 3)
    return f"the error of the log is over ({words}), but not all is well in {x.where}: {shown}; {command}"


def _of_besides(checkout: Checkout, one: DoctorSubject) -> str:
    """Return a note on roots that the log fits besides the current folder's."""
    others = listing([checkout.shown(path) for path in one.besides], 3)
    return f"the log fits {others}, too: the current folder's root is taken; -- ROOT names another"


def _of_old_entry(finder: SubjectFinder, x: Examined) -> str:
    """Return a note on other roots with the entry that a fixed root had; "" for none."""
    now = (x.entry.version, {*x.entry.hashes}) if x.entry is not None else None
    past = [one.entry for one in (x.written, *x.past) if one is not None and one.is_of(x.message.version)]
    was = next((one for one in past if one is not None and (one.version, {*one.hashes}) != now), None)
    others = finder.same_entry(x.root, was) if was is not None else ()
    has = "has" if len(others) == 1 else "have"
    return f"{listing(list(others), 3)} {has} the entry of {x.name} that {x.where} had" if others else ""


def _of_which_root(x: Examined, known: Sequence[Examined]) -> str:
    """Return a note on a log that does not tell its root, where it fits several."""
    roots = listing(list(x.fitting), 8)
    if all(one.is_of_other_version for one in known if one.error == x.error):
        return f"no root here locks {x.name} {x.message.version}: check out the commit of the failing run"
    return f"the log does not tell which root failed; it fits {roots}: name it with -- ROOT"


def _of_no_root(named: str, x: Examined) -> str:
    """Return a note on a log that fits no root here; `named` is the folder that it names, "" for none."""
    if named:
        return (
            f"the log names {named}, which is no root here: "
            "diagnose it in the repository of the failing run, at its commit, or name a root with -- ROOT"
        )
    fits = "is the one of the log" if x.address is None else f"locks or requires {x.name}"
    return f"no root here {fits}: diagnose it in the repository of the failing run, at its commit"


def _of_other_constraint(x: Examined) -> str:
    """Return a note on a log whose constraint is neither here nor in what was read of the history."""
    assert x.error is not None
    return (
        f"the log has the constraint {x.error.constraint} on {x.name}, "
        f"which neither {x.own_root} nor its last commits have: "
        "check out the commit of the failing run, or name its root with -- ROOT"
    )


def _of_other_version(x: Examined) -> str:
    """Return a note on a log of another version than the locked one: of another root or commit."""
    assert x.error is not None
    assert x.entry is not None
    commit = next((one.commit[:12] for one in x.past if one.is_of(x.error.version)), "")
    ways = f"commit {commit} has that version there: git checkout {commit}, to judge the log"
    if x.past and x.past[0].is_of(x.error.version):
        ways = f"that is not committed yet, and commit {commit} has the version of the log"
    return (
        f"the log is of {x.address} {x.error.version}, and {x.entry.version} is locked in {x.own_root}: "
        f"{ways if commit else 'name the root of the failing run with -- ROOT, or check its commit out'}"
    )


def _judged(known: Sequence[Examined], rules: Sequence[str]) -> list[tuple[Cause, ...]]:
    """Return the causes of each subject; of an error in roots with different entries, certain only what all have."""
    judged = [judge_causes(one, rules) if one.is_of_root else of_no_root(judge_causes(one, rules)) for one in known]
    nameless = (one.error for one in known if one.error is not None and not one.error.provider)
    for message in dict.fromkeys(nameless):
        own = [number for number, one in enumerate(known) if one.error == message]
        for number, causes in zip(own, of_one_message([judged[number] for number in own]), strict=True):
            judged[number] = causes
    for error in dict.fromkeys(one.error for one in known if one.fitting):
        own = [number for number, one in enumerate(known) if one.error == error]
        if len(own) > 1 and error is not None and error.provider:
            of_roots = of_one_root([known[number] for number in own], [judged[number] for number in own])
            for number, causes in zip(own, of_roots, strict=True):
                judged[number] = causes
    return judged


def _headline(examined: Iterable[Examined]) -> str:
    """Return the provider, with the version that all lock, and its registry where it is locked at another one."""
    first, *others = examined
    if first.entry is None and first.twins:
        return str(first.address)
    return first.release if all(one.release == first.release for one in others) else first.name


def remedy_operation(write: RemedyWrite, folder: Path, settings: RootSettings) -> Operation:
    """Return the operation that a remedy's command line is.

    Args:
        write: The remedy's write.
        folder: The folder that its roots are relative to.
        settings: The settings of its roots.
    """
    from locklens.addresses import Platform
    from locklens.operations.merge import Preference
    from locklens.operations.plan import Scope
    from locklens.operations.write.lock import Lock
    from locklens.operations.write.lock_edits import Prune, Restore, RestoredProviders
    from locklens.operations.write.resolve import ResolveConflicts
    from locklens.operations.write.undo import ReplaceFolder
    from locklens.operations.write.upgrade import Upgrade

    if write.command == "replace":
        return ReplaceFolder(folder, write.place, write.base, write.source, write.locked, write.next_step)
    tool = DIALECTS.get(write.tool) or settings.tool
    where = Scope(folder, write.roots, tool=tool, test_directory=settings.test_directory)
    if write.command == "restore":
        return Restore(where, (RestoredProviders(write.roots, write.providers),), write.revision)
    if write.command == "merge":
        return ResolveConflicts(where, Preference(write.side) if write.side else None)
    if write.command == "prune":
        return Prune(where, write.providers)
    if write.command == "upgrade":
        return Upgrade(where, write.providers, edits_constraints=write.edits_constraints)
    platforms = (Platform.parse(write.platform),) if write.platform else ()
    return Lock(where, platforms, write.providers, accepts_republished=write.accepts_republished)
