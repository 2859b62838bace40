"""The diagnosis as a use case: the order of its steps, from the log and the roots to causes, fixes and their writes."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS
from locklens.doctor.arrivals import awaits_init, filled_words, installed_words
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.causes import not_offered_for
from locklens.doctor.cleaning import MOST_BYTES, MOST_LINES
from locklens.doctor.judging import Several, joined_causes, requirements_at_fault
from locklens.doctor.messages import ReadLog
from locklens.doctor.model import CauseId, CauseVerdict, Diagnosis, ErrorPlace, Incident, Trait
from locklens.doctor.offering import remedies_for, stand_ins
from locklens.doctor.reasons import NetworkReason
from locklens.doctor.recognising import read_log
from locklens.doctor.run_remedies import run_again, run_command_again
from locklens.doctor.shell import from_top
from locklens.errors import LockLensError
from locklens.lockfile import LockEntry
from locklens.operations.doctor.checkout import Checkout
from locklens.operations.doctor.commit_of_run import note_of_commit
from locklens.operations.doctor.examining import Examiner
from locklens.operations.doctor.log_roots import LogRoots
from locklens.operations.doctor.masked import MASK
from locklens.operations.doctor.outcomes import GOT_PAST, Outcome, notes_of, obstacle_of, outcomes_of
from locklens.operations.doctor.places import MOST_HASHED
from locklens.operations.doctor.releases import is_of_download, look_up_entries, platform_by_hash, whole_host
from locklens.operations.doctor.subjects import SubjectFinder, different_first
from locklens.operations.review.policy import policy_at
from locklens.operations.root_modules import packages_words
from locklens.policy import Policy
from locklens.project.configuration import is_fetched
from locklens.text import counted, listing, size_words
from locklens.versions import Version, newest_matching

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.doctor.messages import RecognisedError
    from locklens.doctor.model import Cause, Onset, Remedy, RemedyWrite
    from locklens.operations.comparison import RootSettings
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.releases import LookedUpEntries
    from locklens.operations.doctor.subjects import DoctorSubject
    from locklens.operations.review.request import ProvingPlanned, ReviewEvent
    from locklens.operations.write.apply import Operation
    from locklens.releases import Listing

MOST_SUBJECTS = 40
"""The most providers in roots that are examined in one run; of more, the first."""


_MOST_BROKEN = 3
"""The most errors in configurations that are noted."""


def diagnose(
    request: DoctorRequest,
    *,
    cancel: threading.Event | None = None,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
    confirm: Callable[[ProvingPlanned], bool] | None = None,
) -> Diagnosis:
    """Diagnose the errors of a log, or examine roots without one.

    Before anything is downloaded, `on_event` is told its size, and `confirm` is asked: False downloads nothing, and
    without `confirm` it is agreed to.

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
    bounds = f"its last {size_words(MOST_BYTES)}, and of these at most {MOST_LINES:,} lines"
    of_cut = (f"the log is longer than what is read, {bounds}: its beginning was left out",) if read.is_cut else ()
    if request.log is not None and not read.errors:
        has_other = read.other is not None
        notes = (*map(_of_other, [read.other] if read.other is not None else ()), *of_cut)
        return Diagnosis(at, is_offline, (), Incident(), notes=notes, is_cut=read.is_cut, has_other_error=has_other)

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
    if request.log is None:
        notes += _broken_configurations(subjects)
    examiner = Examiner(request, read, checkout, finder, cancel)
    subjects = examiner.changed.with_own_roots(subjects)[:MOST_SUBJECTS]
    policy, of_policy = _policy_of(request.folder)
    platforms = tuple(map(str, policy.required))
    found = [replace(one, policy_platforms=platforms) for one in examiner.examined(subjects)]
    answers = _looked_up(request, subjects, found, policy, cancel, on_event, confirm)
    known = [_with_answers(one, x, answers) for one, x in zip(subjects, found, strict=True)]
    rules = request.started_from.rules if request.started_from is not None else ()
    outcomes = outcomes_of(finder, subjects, known, rules, is_of_log=request.log is not None, overcome=read.overcome)
    is_fixed = bool(outcomes) and all(one.over for one in outcomes)
    fixed = "; ".join(dict.fromkeys(one.over for one in outcomes)) if is_fixed else ""
    if is_fixed:
        fixed = _with_other_machines(fixed, checkout, outcomes, is_relayed=read.is_relayed)
    notes += [
        *of_policy,
        *examiner.notes,
        *dict.fromkeys(filter(None, notes_of(finder, checkout, outcomes, is_fixed=is_fixed))),
    ]
    if not is_fixed:
        is_certain = any(cause.verdict is CauseVerdict.YES for one in outcomes for cause in one.affected.causes)
        of_commit = note_of_commit(checkout, read.facts.commits, subjects, is_certain=is_certain)
        notes = [*filter(None, (of_commit,)), *notes]
    if examiner.copies.is_cut:
        notes.append(f"only the first {MOST_HASHED} copies on this machine were hashed: of the others nothing is said")
    messages = tuple({error.says: error for error in reversed(read.errors)}.values())[::-1]
    places = _places(messages, outcomes)
    pending = [one.affected for one in outcomes if awaits_init(one.x)] if is_fixed else []
    affected = [each for one in outcomes for each in one.standing_affected]
    causes = joined_causes(affected, rules)
    chief = next(iter((*(one for one in affected if causes and _is_of(one, causes[0])), *affected)), None)
    has_several = Several.among(affected)
    here, facts = checkout.here, _shared([one.incident for one in known])
    root = None if has_several.roots or facts.root is None else from_top(here, facts.root)
    # What was added or removed is no longer among the providers that are examined, and the others were never wrong.
    is_of_file = is_fixed and all(one.examined.message.kind == "readonly-changed" for one in affected)
    if is_fixed:
        offered = _run_again(pending, has_several) or (run_command_again(affected[0]),)
    else:
        offered = remedies_for(affected)
    return Diagnosis(
        "",
        offline=True,
        errors=messages,
        facts=replace(facts, root=root),
        causes=tuple(replace(one, roots=_from_top(here, one.roots)) for one in causes),
        remedies=offered,
        not_offered=not_offered_for(causes) if not is_fixed else (),
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
        obstacle=obstacle_of(outcomes),
        next_step=" && ".join(dict.fromkeys(one.next_step for one in pending)),
        places=tuple(replace(one, roots=_from_top(here, one.roots)) for one in places),
        advice=BY_KIND[read.errors[0].kind].advice if read.errors else "",
        hosts=answers.hosts,
        policy=policy,
    )


def _policy_of(folder: Path) -> tuple[Policy, Sequence[str]]:
    """Return the policy that writes in a folder heed, and a sentence where it has a mistake, so that none is known."""
    try:
        return policy_at(folder).policy, ()
    except LockLensError as error:
        return Policy(), (f"{error}: locklens upgrade fails until the policy is mended",)


def _broken_configurations(subjects: Sequence[DoctorSubject]) -> list[str]:
    """Return a sentence on each error in the configurations of the roots, the first few: a log would have it first."""
    problems = (problem for one in subjects for problem in one.root.configuration.problems if problem.is_error)
    places = dict.fromkeys(f"{one.file}:{one.line or 1}: {one.summary}" for one in problems)
    fails = "init fails for that first, and so do fixes that read the configuration"
    return [f"{words}: {fails}" for words in [*places][:_MOST_BROKEN]]


def _looked_up(
    request: DoctorRequest,
    subjects: Sequence[DoctorSubject],
    found: Sequence[Examined],
    policy: Policy,
    cancel: threading.Event | None,
    on_event: Callable[[ReviewEvent], None],
    confirm: Callable[[ProvingPlanned], bool],
) -> LookedUpEntries:
    """Return what registries say about each entry, about the sides of a conflict, and about the entries before."""
    pairs = list(zip(subjects, found, strict=True))
    locked = [(one, x, x.entry) for one, x in pairs if x.entry is not None]
    entries = [(one.root.tool, entry) for one, _, entry in locked]
    entries += [(x.tool, entry) for x in found if (entry := _selected(x)) is not None]
    entries += [(one.root.tool, entry) for one in subjects for entry in one.sides]
    before = ((x.tool, x.origins.earlier) for x in found)
    entries += [(tool, was.entry) for tool, was in before if was is not None and was.entry is not None]
    return look_up_entries(
        entries,
        request,
        cancel,
        on_event,
        confirm,
        damaged=[
            (one.root.tool, entry, x.platform, x.places.machine, one.message.hashes)
            for one, x, entry in locked
            if is_of_download(one.message) and not x.is_of_other_version
        ],
        lacked=[
            (one.root.tool, entry, x.platform_on_disk, x.places.servers) for one, x, entry in locked if x.is_of_server
        ],
        listed=[
            (one.root.tool, entry, x.platform_on_disk, x.places.servers) for one, x, entry in locked if _is_served(x)
        ],
        requested=[
            (one.root.tool, entry, x.platform_on_disk, x.message.reason is NetworkReason.ABSENT)
            for one, x, entry in locked
            if _is_requested(x)
        ],
        unlocked=[
            (x.tool, x.address, partial(_selected, x)) for x in found if x.entry is None and x.address is not None
        ],
        policy=policy,
    )


def _is_requested(x: Examined) -> bool:
    """True if the failing run asked in vain for the locked package, as far as is known of its registry."""
    message = x.message
    is_absent = message.kind == "download-failed" and message.reason is NetworkReason.ABSENT
    is_of_registry = x.places.asks_registry and not x.is_of_mirror and not x.is_of_other_version
    return (message.kind == "platform-unavailable" or is_absent) and is_of_registry and x.platform_on_disk != ""


def _is_served(x: Examined) -> bool:
    """True if the package comes from a mirror on a server, by the run, the user or the settings, and may differ there.

    Where a folder has it, too, that is compared.
    """
    path, row = x.incident.path, BY_KIND.get(x.message.kind)
    is_asked = path is not None and path.is_on_server if x.error is not None else not x.places.asks_registry
    is_of_cause = row is None or CauseId.MIRROR_DIFFERS in row.causes
    return is_asked and is_of_cause and x.platform_on_disk != "" and not x.is_of_server and not x.of_kind("mirror")


def _with_answers(one: DoctorSubject, x: Examined, answers: LookedUpEntries) -> Examined:
    """Return what is known about a subject with what registries say."""
    sides = [(each, side) for each in one.sides if (side := answers.of(one.root.tool, each)) is not None]
    unlisted = frozenset((each.address, str(each.version)) for each, side in sides if side.is_unlisted)
    told = {(each.address, str(each.version)): side.has_all_packages for each, side in sides}
    was = x.origins.earlier.entry if x.origins.earlier is not None else None
    today = answers.of(one.root.tool, x.entry)
    if today is None:
        listed = answers.listings.get((one.root.tool.name, one.address)) if one.address is not None else None
        selected = answers.of(x.tool, _selected(x, listed))
        today = replace(x.today, case=selected.case if selected is not None else None, listed_unlocked=listed)
    earlier_host = whole_host(answers.of(x.tool, was))
    return _with_platform(
        replace(x, today=replace(today, earlier_host=earlier_host, unlisted=unlisted, of_release=told))
    )


def _selected(x: Examined, listing: Listing | None = None) -> LockEntry | None:
    """Return the version that the failing run selected for a provider that is not locked, as an entry without hashes.

    Without a log, it is the one that init would select of those that its registry lists. None where the provider is
    locked, the message names no version, or it is not known which one init would select.
    """
    if x.entry is not None or x.address is None:
        return None
    version = None
    if x.message.version:
        with suppress(ValueError):
            version = Version.parse(x.message.version)
    elif listing is not None and x.is_selected_of_list:
        version = newest_matching([one.version for one in listing.versions], x.constraints)
    return LockEntry(x.address, version, "", (), 0) if version is not None else None


def _from_top(here: str, roots: Sequence[str]) -> tuple[str, ...]:
    return tuple(from_top(here, root) for root in roots)


def _shared(incidents: Sequence[Incident]) -> Incident:
    """Return the circumstances as the first provider has them; without its tool where others are of another."""
    tools = sorted({one.tool for one in incidents if one.tool})
    if len(tools) < 2:
        return incidents[0] if incidents else Incident()
    sources = dict(incidents[0].sources)
    of = "run" if sources.get("tool") == "log" else "root"
    sources["tool"] = f"each {of}'s tool ({', '.join(tools)})"
    return replace(incidents[0], tool=None, sources=tuple(sources.items()))


def _with_platform(x: Examined) -> Examined:
    """Return what is known with the platform that a hash of the message is of, where nothing else tells it."""
    platform = platform_by_hash(x.today.case, x.message.hashes) if x.today.case is not None else ""
    if x.platform or not platform:
        return x
    sources = (*x.incident.sources, ("platform", "a hash of the log"))
    return replace(x, incident=replace(x.incident, platform=platform, sources=sources))


def _is_locked(one: Affected | None) -> bool | None:
    """Return whether a provider is locked; None where that is not known, or another version than the log names is."""
    if one is None or one.examined.address is None or one.examined.lock.problems or one.examined.is_taken_over:
        return None
    if one.examined.is_of_other_version or one.examined.is_of_upgrade:
        return None
    return one.examined.entry is not None


def _locking(finder: SubjectFinder, one: Affected | None) -> tuple[str, ...]:
    """Return the other roots of the repository that lock the provider."""
    address = one.examined.address if one is not None else None
    return finder.locking(one.examined.root, address) if one is not None and address is not None else ()


def _same_entry(finder: SubjectFinder, one: Affected | None, affected: Sequence[Affected]) -> tuple[str, ...]:
    """Return the other roots with the same entry, of the version that the log names.

    There are none where several examined roots differ in it.
    """
    entry = one.examined.entry if one is not None else None
    if one is None or entry is None or one.examined.is_of_other_version:
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
    line, which may be in the block of another provider, it is that line's. Those of requirements come last. Where a
    host is at fault, no commit is.
    """
    affected = [one for one in affected if not _is_of_host(one)]
    blamed = [one for one in affected if one is chief]
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
        named = [] if x.fitting and {*own} >= {*x.fitting} else [*own]
        subject = has_several.subject([x], named, is_of_entry=True)
        found.append(replace(onset, entry=about if subject and x.lock.problems else subject))
    places = dict.fromkeys(place for one in has_cause for place in requirements_at_fault(one))
    found += filter(None, map(examiner.onset_of_requirement, list(places)[:_MOST_BLAMED]))
    return tuple(found)


def _is_of_host(one: Affected) -> bool:
    """True if each cause that is certain or likely is of a host, whatever is locked and required."""
    probable = [cause for cause in one.causes if cause.is_probable]
    return bool(probable) and all(Trait.OF_HOST in cause.traits for cause in probable)


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


def _with_other_machines(fixed: str, checkout: Checkout, outcomes: Sequence[Outcome], *, is_relayed: bool) -> str:
    """Return what has changed, with what another machine, whose log it is or may be, gets otherwise.

    That is what is pushed, if it is a job's log (`is_relayed`), and an `init` of its own. A mirror serves both.
    """
    if not is_relayed:
        is_installed = any(one.over == installed_words(one.x) for one in outcomes)
        return f"{fixed} (on another machine, init has to run there)" if is_installed else fixed
    changed = [one.x for one in outcomes if one.over not in {filled_words(one.x), GOT_PAST}]
    read = [path for x in changed for path in (x.lock.path, *x.configuration.files) if not is_fetched(path)]
    states = {x.configuration.state.file for x in changed}  # which nobody commits
    read = [path for path in read if path not in states]
    uncommitted, unpushed = checkout.uncommitted(read), checkout.unpushed(read)
    files = [path for path in dict.fromkeys(read) if path in uncommitted or path in unpushed]
    them = "it is" if len(files) == 1 else "they are"
    sent = "committed and pushed" if uncommitted else "pushed"
    if ignored := checkout.ignored(uncommitted):
        sent = f"{sent}; git ignores {listing(ignored, 3)}, which git add -f adds"
    return f"{fixed} (the job has {listing(files, 3)} once {them} {sent})" if files else fixed


def _run_again(affected: Sequence[Affected], has_several: Several) -> tuple[Remedy, ...]:
    """Return the step after a fix, for each root, which its title names where there are several."""
    by_root = {one.next_step: one for one in affected}
    found = []
    for one in by_root.values():
        remedy, roots = run_again(one), has_several.subject((), one.alone.roots) if len(by_root) > 1 else ""
        found.append(replace(remedy, subject=roots, note="; ".join((remedy.note, *stand_ins(remedy)))))
    return tuple(found)


def _places(errors: Sequence[RecognisedError], outcomes: Sequence[Outcome]) -> tuple[ErrorPlace, ...]:
    """Return where each message is, and whether a cause of it was found, or it is of the past."""
    found = []
    for error in errors:
        if not (own := [one for one in outcomes if one.x.message.says == error.says]):
            continue
        roots = [root for one in own for root in one.x.fitting or one.affected.roots[: one.x.is_of_root]]
        is_known = all(one.x.is_of_root and not one.x.fitting for one in own)
        has_cause = any(cause.is_probable for one in own for cause in one.affected.causes)
        x, addresses = own[0].x, {one.x.address for one in own}
        headline = f"{x.name} {error.version}" if error.version and x.address is not None else ""
        headline = headline or _headline(one.x for one in own)
        if not error.provider and (len(addresses) > 1 or (len(own) > 1 and None in addresses)):
            headline = ""  # the message names none of them
        is_fixed = all(one.has_ended for one in own)
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


def _of_other(error: tuple[int, str]) -> str:
    """Return a note on an error of another kind, which has a line and words."""
    number, words = error
    return f"line {number} has an error of another kind, which is not diagnosed here: {words}"


def _of_overcome(error: RecognisedError) -> str:
    """Return a note on an error that a later run got past."""
    about = f" of {error.provider}" if error.provider else ""
    return f"line {error.line} has an error{about} that a later run in the log got past: {error.reason}"


def _headline(examined: Iterable[Examined]) -> str:
    """Return the provider, with the version that failed in all, and its registry where it is locked at another one."""
    first, *others = examined
    if first.entry is None and first.twins:
        return str(first.address)
    release = first.failing_release
    return release if all(one.failing_release == release for one in others) else first.name


def remedy_operation(write: RemedyWrite, folder: Path, settings: RootSettings, policy: Policy) -> Operation:
    """Return the operation that a remedy's command line is; `folder` is the one that its roots are relative to.

    `policy` is the one that the command heeds.
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
        return Restore(where, (RestoredProviders(write.roots, write.providers),), write.source_revision)
    if write.command == "merge":
        return ResolveConflicts(where, Preference(write.side) if write.side else None)
    if write.command == "prune":
        return Prune(where, write.providers)
    if write.command == "upgrade":
        return Upgrade(where, write.providers, edits_constraints=write.edits_constraints, policy=policy)
    platforms = tuple(map(Platform.parse, write.platforms)) or policy.required
    return Lock(where, platforms, write.providers, accepts_republished=write.accepts_republished, policy=policy)
