"""Completes a drafted review with each root's configuration and the facts of registries."""

from __future__ import annotations

import os
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.addresses import ProviderAddress, display_host
from locklens.errors import ConfigurationError, RunCancelledError
from locklens.operations.review.base_since_fork import base_notes
from locklens.operations.review.earlier_commits import EarlierCommits
from locklens.operations.review.newly_ignored import ignoring_notes
from locklens.operations.review.request import LookupProgress, Progress, RootsKnown, is_told
from locklens.operations.review.unmerged import unmerged_notes
from locklens.operations.root_modules import lock_path
from locklens.project.configuration import Configuration, Contributor
from locklens.project.tree import folder_of
from locklens.review.findings import NOT_REQUIRED_RULE
from locklens.review.model import Change, ChangeKind, HostState, Review, RootReview
from locklens.review.rules.change import is_undated
from locklens.review.rules.judge import KnownVerdicts, judge
from locklens.text import counted, listing

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.operations.comparison import Comparison
    from locklens.operations.review.request import ProvingPlanned, ReviewEvent, ReviewRequest
    from locklens.project.modules import ModuleReader
    from locklens.project.tree import Tree
    from locklens.releases import Fact, FactRequest
    from locklens.releases.session import ReleaseSession
    from locklens.review.case import Case, DownloadedPackages, FactSubject
    from locklens.review.evidence import FactCollector
    from locklens.storage.cache import Cache


BATCH_SECONDS = 0.1
"""Seconds between two events with updated roots, so that a fast run does not flood the screen."""


def complete_review(
    comparison: Comparison,
    review: Review,
    request: ReviewRequest,
    *,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> Review:
    """Read the configuration of each root, ask registries about the changes, and judge by both.

    `on_event` is called with roots at most every BATCH_SECONDS.
    """
    read, read_before = (
        _configuration_reader(comparison, side.tree, request.test_directory)
        for side in (comparison.head, comparison.base)
    )
    completion = _Completion(review, comparison, read_before, on_event, cancel)
    if request.network is None or all(change.new is None for root in review.roots for change in root.changes):
        completion.read_configurations(comparison, read)
        return completion.settled_without_registries()
    from locklens.operations.review.answers import answers_with_mirrors, host_states
    from locklens.releases.session import ReleaseLookup, ReleaseSession
    from locklens.review.evidence import FactCollector

    request = replace(request, network=replace(request.network, reported_hashes=review.policy.reported_hashes))
    assert request.network is not None
    problem = completion.look_inside(request.network.cache)
    with ReleaseSession(request.network, review.base_hosts, cancel) as session:
        lookup = ReleaseLookup(session, asks_ages=review.policy.needs_ages)
        collector = FactCollector(answers_with_mirrors(lookup, session), session.pool)
        collector.start(completion.subjects)
        downloaded = session.cache
        completion.read_configurations(
            comparison, read, meanwhile=lambda: completion.settle(collector, downloaded, is_patient=False)
        )
        completion.tell_outstanding()
        completion.settle(collector, downloaded, is_patient=True)
        if request.prove != "none":
            completion.prove(session, collector.known, everything=request.prove == "all")
        on_event(LookupProgress(session.log))
        hosts = host_states(collector.known, is_offline=request.network.is_offline)
        finished = completion.finished()
        return replace(finished, hosts=hosts, limits=(*finished.limits, *filter(None, [problem]), *session.notes))


class _Completion:
    """A review between draft and completion; its roots are replaced as facts arrive.

    Of equal changes in several roots, one is the subject of facts.
    """

    def __init__(
        self,
        review: Review,
        comparison: Comparison,
        read_before: Callable[[RootReview], Configuration],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event | None,
    ) -> None:
        self._review = review
        self._states = _changed_states(comparison)
        """Changed files that may be a state, by lock file."""
        self._on_event = on_event
        self._cancel = cancel
        self._roots = {root.lock_file: root for root in review.roots}
        self._changes = {root.lock_file: _by_address(root) for root in review.roots}
        self._cases: dict[str, dict[ProviderAddress, Case]] = {root.lock_file: {} for root in review.roots}
        """The settled facts about each change."""
        self._equal = _equal_subjects(review)
        """The changes that leave an entry, equal ones in one list."""
        self._comparison = comparison
        self._read_before = read_before
        self._earlier = EarlierCommits(comparison)
        self._told: set[tuple[object, ...]] = set()
        """The keys of those whose contradictions were looked up in earlier commits."""
        self._settled = 0
        self._unread = set(self._roots)
        """Roots whose configuration is not read yet."""
        self._touched: set[str] = set()
        """Roots with facts that they were not judged by yet."""
        self._verdicts = KnownVerdicts()
        self._last = float("-inf")
        self._pause = BATCH_SECONDS

    @property
    def subjects(self) -> list[FactSubject]:
        """One change of each list of equal ones."""
        return [equal[0] for equal in self._equal.values()]

    def read_configurations(
        self,
        comparison: Comparison,
        read: Callable[[RootReview], Configuration],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Read the configuration of each root, on the old side too where nothing was locked."""
        for done, draft in enumerate(self._review.roots, start=1):
            if self._cancel is not None and self._cancel.is_set():
                raise RunCancelledError("the review was cancelled")
            configuration, name = read(draft), draft.lock_file
            read_files = (*configuration.files, *configuration.value_files)
            converted = comparison.converted_among(read_files)
            context = replace(draft.context, converted={**draft.context.converted, **converted})
            if not configuration.complete and (configuration.has_files or configuration.has_faults):
                from locklens.operations.review.unreviewed import unread_files, unreviewed_files

                refused = unreviewed_files(comparison, configuration)
                context = replace(context, unreviewed={**context.unreviewed, **refused})
                if not context.is_survey:
                    folder = draft.path if draft.renamed_from is None else folder_of(draft.old.path)
                    before = partial(self._read_before, replace(draft, path=folder))
                    states, known = self._states.get(name, ()), context.unreviewed
                    unread = unread_files(comparison, configuration, before, folder, states, known)
                    context = replace(context, unread=unread)
            if context.unlocked is not None:
                required = _required(comparison.base.tree, self._read_before(draft))
                unlocked = replace(context.unlocked, required_before=required)
                context = replace(context, unlocked=unlocked)
            self._roots[name] = replace(draft, configuration=configuration, context=context)
            self._unread.discard(name)
            self._touch(name)
            if is_told(done, len(self._review.roots)):
                self._on_event(Progress("configuration", done, len(self._review.roots)))
            meanwhile()

    def look_inside(self, cache: Cache) -> str:
        """Take what is known about inspected packages; return why advisories are not looked up, or ""."""
        from locklens.advisories.database import is_database_kept

        if not cache.has_inspections and not is_database_kept():
            return ""
        from locklens.operations.review.inside import BuildLookup, advisory_lookup

        builds = BuildLookup(cache)
        lookup, problem = advisory_lookup(cache)
        ignored = self._review.policy.advisories
        for draft in self._review.roots:
            changes = self._changes[draft.lock_file]
            for address, change in changes.items():
                if change.kind is not ChangeKind.UNCHANGED or draft.context.is_survey:
                    advisories = lookup.of_change(change, ignored) if lookup is not None else None
                    changes[address] = replace(change, advisories=advisories, builds=builds.of_change(change))
        return problem

    def settle(self, collector: FactCollector, downloaded: DownloadedPackages, *, is_patient: bool) -> None:
        """Trace changes to the facts that are settled, or wait for all of them."""
        from locklens.review.case import settled_case

        for subject in collector.settled(is_patient=is_patient):
            case = settled_case(subject, collector.known, downloaded)
            if case is not None and (told := self._with_earlier(subject, case)) is not subject:
                collector.start([told])  # What a commit locks may be a question of its own.
                continue
            self._trace(subject, case)
            self._settled += len(self._equal[subject.key])
            self._on_event(self._evidence_progress)

    def _with_earlier(self, subject: FactSubject, case: Case) -> FactSubject:
        """Return a change with the commits that explain it, the same one where its release does, or nothing more."""
        if subject.key in self._told or not case.contradicts:
            return subject
        self._told.add(subject.key)
        change = self._earlier.told(case, self._roots[subject.lock_file].old.path, subject.lock_file)
        if change is subject.change:
            return subject
        told = self._equal[subject.key][0] = replace(subject, change=change)
        return told

    def tell_outstanding(self) -> None:
        """Report what was read, before the first answer of a registry, and that registries are what is waited for."""
        if self._evidence_progress.done < self._evidence_progress.total:
            self._flush()
            self._on_event(self._evidence_progress)

    @property
    def _evidence_progress(self) -> Progress:
        return Progress("evidence", self._settled, sum(map(len, self._equal.values())))

    def prove(self, session: ReleaseSession, known: Mapping[FactRequest, Fact], *, everything: bool) -> None:
        """Prove `h1` hashes by downloads, and judge their changes again."""
        from locklens.operations.review.prove import Proving
        from locklens.review.case import settled_case

        def confirm(plan: ProvingPlanned) -> bool:
            self._on_event(plan)
            return True

        if Proving(session, known, self.subjects, everything=everything).work(confirm, self._on_event):
            for subject in self.subjects:
                self._trace(subject, settled_case(subject, known, session.cache))

    def _trace(self, subject: FactSubject, case: Case | None) -> None:
        """Trace a change and its equals to the facts."""
        from locklens.review.evidence import trace, traced_like

        traced, address = trace(subject.change, case), subject.change.address
        for equal in self._equal[subject.key]:
            name = equal.lock_file
            if case is not None:
                self._cases[name][address] = case
            self._changes[name][address] = traced_like(self._changes[name][address], traced)
            self._touch(name)

    def settled_without_registries(self) -> Review:
        """Return the review completed without any registry."""
        for root in self._review.roots:
            for change in root.changes:
                from locklens.review.evidence import trace, unasked_case

                if change.new is None:
                    self._changes[root.lock_file][change.address] = trace(change, None)
                    self._touch(root.lock_file)
        for subject in self.subjects:
            self._trace(subject, unasked_case(subject.change, subject.tool))
        hosts = sorted({change.address.host for change in self._review.changes})
        return replace(self.finished(), hosts=tuple(HostState(display_host(host), asked=False) for host in hosts))

    def _touch(self, lock_file: str) -> None:
        self._touched.add(lock_file)
        if lock_file not in self._unread and time.monotonic() - self._last >= self._pause:
            self._flush()

    def _flush(self) -> None:
        begun = time.monotonic()
        if ready := self._touched - self._unread:
            for name in ready:
                known = replace(self._roots[name], changes=tuple(self._changes[name].values()))
                self._roots[name] = worst_first(judge(known, self._cases[name], self._verdicts))
            self._on_event(RootsKnown(tuple(self._roots[name] for name in ready)))
            self._touched -= ready
        self._last = time.monotonic()
        # Roots are judged and reported whole: where that takes long, it is done less often.
        self._pause = max(BATCH_SECONDS, 4 * (self._last - begun))

    def finished(self) -> Review:
        """Return the review with all settled facts."""
        self._flush()
        roots = tuple(self._roots[root.lock_file] for root in self._review.roots)
        found = replace(self._review, roots=roots)
        notes = (*_generated_notes(roots), *_module_notes(roots), *_unread_notes(roots), *_undated_notes(found))
        of_git = (
            *base_notes(self._comparison, roots, self._read_before),
            *unmerged_notes(self._comparison, roots),
            *ignoring_notes(self._comparison),
        )
        return replace(found, limits=(*found.limits, *notes, *of_git))


def _equal_subjects(review: Review) -> dict[tuple[object, ...], list[FactSubject]]:
    found: dict[tuple[object, ...], list[FactSubject]] = {}
    for root in review.roots:
        for change in root.changes:
            if change.new is not None:
                from locklens.review.case import FactSubject

                subject = FactSubject(root.lock_file, root.tool, change)
                found.setdefault(subject.key, []).append(subject)
    return found


def _configuration_reader(
    comparison: Comparison, tree: Tree, test_directory: str
) -> Callable[[RootReview], Configuration]:
    """Return a reader of roots' configurations in one side's tree; the first root that has one imports the parser."""
    modules = {pair.path for pair in comparison.roots if pair.is_module}
    states = _changed_states(comparison)
    shared: ModuleReader | None = None

    def read(root: RootReview) -> Configuration:
        nonlocal shared
        if root.path in modules:
            return Configuration.absent(root.path, root.tool)
        absent = absent_configuration(tree, root.path, root.tool)
        if absent is not None:
            kind = comparison.head.kind
            is_of_folder = kind != "empty" and (kind != "file" or comparison.top is not None)
            return replace(absent, is_known=tree is not comparison.head.tree or is_of_folder)
        from locklens.project.modules import ModuleReader
        from locklens.project.requirements import read_configuration

        shared = shared or ModuleReader()
        return read_configuration(
            tree,
            root.path,
            dialect=root.tool,
            worktree=comparison.worktree,
            environ=os.environ,
            test_directory=test_directory,
            module_reader=shared,
            changed_states=states.get(root.lock_file, ()),
        )

    return read


def _changed_states(comparison: Comparison) -> dict[str, Sequence[str]]:
    """Return the changed files that may be a state, by the lock file of each root."""
    return {lock_path(pair.path): pair.states for pair in comparison.roots if pair.states}


def _required(tree: Tree, configuration: Configuration) -> frozenset[ProviderAddress]:
    """Return what the configuration of a side requires; a state that only the disk has is of no side, and left out."""
    states = {one.file for one in configuration.requirements if one.contributor is Contributor.STATE}
    on_disk = {path for path in states if tree.read(path) is None}
    kept = {one.address for one in configuration.requirements if one.file not in on_disk}
    return configuration.required() & kept


def absent_configuration(tree: Tree, path: str, tool: Dialect) -> Configuration | None:
    """Return the configuration of a folder without configuration files; None if there may be some."""
    from locklens.project import configuration_files, generator_among

    try:
        entries = tree.list(path)
    except ConfigurationError:
        return None  # reading it reports the reason
    return None if configuration_files(entries, tool) else Configuration.absent(path, tool, generator_among(entries))


def worst_first(root: RootReview) -> RootReview:
    """Return the root with its changes sorted by severity, the worst first."""
    return replace(root, changes=tuple(sorted(root.changes, key=lambda change: change.alarm)))


def _by_address(root: RootReview) -> dict[ProviderAddress, Change]:
    return {change.address: change for change in root.changes}


def _module_notes(roots: Iterable[RootReview]) -> Iterator[str]:
    """Yield one sentence on all lock files that were added in folders that roots call as modules."""
    called = [
        f"{root.path or '.'} (called by {counted(root.context.callers, 'root')})"
        for root in roots
        if root.context.callers and not root.context.is_survey
    ]
    if called:
        where = "counts only where a tool runs in that folder, not for the roots that call it"
        yield f"the lock file of a folder that is called as a module {where}: {listing(called)}"


_FILES_NOTED = 5


def _unread_notes(roots: Iterable[RootReview]) -> Iterator[str]:
    """Yield a sentence on each file with an error, of roots whose subject is all that is locked; a review has LK041."""
    problems = (
        problem
        for root in roots
        if root.context.is_survey and root.configuration is not None
        for problem in root.configuration.problems
        if problem.is_error
    )
    places: dict[str, str] = {}
    for problem in problems:
        places.setdefault(problem.file, f"{problem.file}:{problem.line or 1}: {problem.summary}")
    for words in [*places.values()][:_FILES_NOTED]:
        yield f"{words}: the configuration cannot be read whole, and what it requires is unknown"
    if len(places) > _FILES_NOTED:
        yield f"{counted(len(places) - _FILES_NOTED, 'more file')} of the configuration cannot be read whole"


def _undated_notes(review: Review) -> Iterator[str]:
    """Yield a sentence on all versions whose cooldown could not be checked."""
    undated = {
        f"{change.address.short(root.tool.default_host)} {change.new.version}"
        for root in review.roots
        for change in root.changes
        if change.new is not None and is_undated(change, review.policy)
    }
    if undated:
        words = f"the cooldown of {counted(review.policy.cooldown or 0, 'day')} was not checked"
        yield f"release date unknown of {listing(sorted(undated))}: {words}"


def _generated_notes(roots: Iterable[RootReview]) -> Iterator[str]:
    """Yield one sentence on all roots whose configuration another tool generates, instead of a finding for each."""
    generators = Counter(
        root.configuration.generator
        for root in roots
        if root.context.is_generation_noted
        and root.configuration is not None
        and root.configuration.generator
        and not all(root.configuration.requires(entry.address) for entry in root.new.entries)
    )
    for name, number in generators.items():
        words = f"{counted(number, 'root has', 'roots have')} a {name}, which may generate configuration"
        yield f"{words}: it could not be determined whether all that they lock is required ({NOT_REQUIRED_RULE})"
