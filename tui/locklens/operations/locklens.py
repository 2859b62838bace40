"""The operations of locklens as one object, which the command line and the terminal UI share.

It has the settings of a run (tool, network settings, base), and imports each operation when it is called. The screens
call nothing else that reads or writes, so that their tests can put another one in its place.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.doctor.model import Diagnosis
    from locklens.install.context import InstallEvent
    from locklens.operations.comparison import Base
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.inspection.inspect import InspectionRequest
    from locklens.operations.plan import FileChanges, Plan, Scope
    from locklens.operations.plan.review import PlanReview
    from locklens.operations.review.explain_provider import WhyRequest, WhySubject
    from locklens.operations.review.opened import OpenedReview
    from locklens.operations.review.request import ProvingPlanned, ReviewEvent, ReviewRequest
    from locklens.operations.upgrades import CandidateTable, KnownRelease
    from locklens.operations.verification import EntryPackages
    from locklens.operations.write.apply import Operation
    from locklens.operations.write.resolve import KnownSides, ResolveConflicts
    from locklens.project.folders import FileWatch
    from locklens.project.git.listings import Revision
    from locklens.releases import NetworkSettings, ReleaseId
    from locklens.review.health import Health
    from locklens.review.inspection import Inspection
    from locklens.review.keys import PastUse, SignerUses
    from locklens.review.model import Review, RootReview
    from locklens.review.why import Why

    Log = Callable[[Sequence[str]], None]
    """Called with one line for each request: host, question and duration."""


class Reads(StrEnum):
    """The providers that a view reads."""

    CHANGES = "changes"
    """Providers that differ between the two sides."""
    LOCKED = "all locked"
    """Every locked provider, changed or not."""
    CANDIDATES = "candidates"
    """Every locked provider, from files alone: the view itself asks registries which versions are available."""


class LockLens:
    """The operations of one run.

    Callbacks, `cancel` and errors are those of the operation that a method calls. `is_fresh` is True to ask registries
    even for cached answers; `folder` is one in the repository, None for this run's; changes and entries are named by
    lock file and provider; `top` is the folder of a review's relative paths.

    Args:
        request: The sides to compare, the tool, and the network settings.
        reads_only: True to review files alone, so that only the other methods ask registries.
        folder: The folder to work in; None for the request's.
    """

    def __init__(self, request: ReviewRequest, *, reads_only: bool = False, folder: Path | None = None) -> None:
        self.request = request
        self._reads_only = reads_only
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The folder to work in."""
        from pathlib import Path

        from locklens.machine import current_folder

        return self._folder or self.request.folder or Path(current_folder())

    @property
    def is_offline(self) -> bool:
        """True if registries may not be asked."""
        return self.request.network is None or self.request.network.is_offline

    def for_view(self, reads: Reads, folder: Path | None) -> LockLens:
        """Return the same settings and sides for another view, by the providers that it reads."""
        from functools import partial

        from msgspec.structs import replace

        from locklens.operations.compare import open_git, open_locked

        base, where, opened = self.request.base, folder or self.folder, self.request.open
        if base is not None:
            opener = open_git if reads is Reads.CHANGES else open_locked
            opened = partial(opener, where, base=base, roots=self.request.roots)
        is_whole = reads is not Reads.CHANGES
        request = replace(
            self.request, open=opened, include_unchanged=is_whole, is_survey=reads is Reads.LOCKED, prove="none"
        )
        return LockLens(request, reads_only=reads is Reads.CANDIDATES, folder=where)

    def with_sides(self, base: Base) -> LockLens:
        """Return the same settings for other sides of the repository; views of them are made with `for_view`."""
        from msgspec.structs import replace

        return LockLens(replace(self.request, base=base), reads_only=self._reads_only)

    def revisions(self, folder: Path | None) -> tuple[Revision, ...]:
        """Return the revisions that can be compared, without pull requests; raises LockLensError if git failed."""
        from locklens.project.git import Repository

        with Repository.discover(folder or self.folder) as repository:
            return repository.revisions()

    def check_sides(self, folder: Path | None, base: Base) -> None:
        """Open sides and close them again; raises LockLensError if they cannot be compared."""
        from locklens.operations.compare import open_git

        open_git(folder or self.folder, base, roots=self.request.roots).close()

    # Reading

    def open(self, *, is_fresh: bool = False, on_event: Callable[[ReviewEvent], None] = lambda _: None) -> OpenedReview:
        """Open the comparison anew, and review its lock files.

        Raises:
            LockLensError: There is nothing to compare.
        """
        from locklens.operations.review.opened import open_review

        return open_review(self._reading(is_fresh=is_fresh), on_event)

    def watch(self, *, since_ns: int) -> FileWatch | None:
        """Return the watch of the files of a comparison that cannot be reviewed; None where none can be opened."""
        from contextlib import closing, suppress

        from locklens.errors import LockLensError
        from locklens.operations.review.run import watch_of

        with suppress(LockLensError), closing(self._reading().open()) as comparison:
            return watch_of(comparison, None, self.request.policy, since_ns=since_ns)
        return None

    def watch_disk(self) -> FileWatch:
        """Return the watch of all files on disk that a plan may be made from: the repository's, else the folder's."""
        from pathlib import Path

        from locklens.errors import NoRepositoryError
        from locklens.project.folders import FileWatch
        from locklens.project.git import Repository

        try:
            with Repository.discover(self.folder) as repository:
                return FileWatch(Path(repository.top))
        except NoRepositoryError:
            return FileWatch(self.folder)

    def watch_health(self, health: Health, *, since_ns: int) -> FileWatch:
        """Return the watch of the files that health is made from; a change after `since_ns` counts."""
        from pathlib import Path

        from locklens.errors import NoRepositoryError
        from locklens.operations.review.run import files_of_git
        from locklens.project.folders import FileWatch
        from locklens.project.git import Repository

        top, policy = Path(health.top), self.request.policy
        files = [top / root.lock_file for root in health.review.roots]
        files += [policy.absolute()] if policy is not None else []
        try:
            with Repository.discover(self.folder) as repository:
                of_git, states = files_of_git(repository)
        except NoRepositoryError:
            return FileWatch(top, files, since_ns=since_ns)
        return FileWatch(top, [*files, *of_git], since_ns=since_ns, states=states)

    def review(
        self, *, on_event: Callable[[ReviewEvent], None] = lambda _: None, cancel: threading.Event | None = None
    ) -> Review:
        """Open the comparison and complete its review; see `OpenedReview.complete`."""
        from locklens.operations.review.run import review

        return review(self._reading(), on_event=on_event, cancel=cancel)

    def _reading(self, *, is_fresh: bool = False) -> ReviewRequest:
        """The request, without network settings where reviews read files only."""
        from msgspec.structs import replace

        return replace(self.request, network=None if self._reads_only else self._network(is_fresh=is_fresh))

    def _network(self, *, is_fresh: bool) -> NetworkSettings | None:
        """The network settings; fresh ones ask registries even for cached answers."""
        network = self.request.network
        return network.fresher(is_fresh) if network is not None else None

    def prove(
        self,
        review: Review,
        chosen: Collection[tuple[str, ProviderAddress]],
        *,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        """Prove `h1` hashes by downloads, and return the roots with new proof; raises OfflineError offline."""
        from locklens.errors import OfflineError
        from locklens.operations.review.prove import prove

        network = self.request.network
        if self.is_offline or network is None:
            raise OfflineError("packages cannot be downloaded offline", hint="run without --offline")
        return prove(review, chosen, network, confirm=confirm, on_event=on_event, cancel=cancel)

    def verify_packages(
        self,
        review: Review,
        top: Path,
        chosen: Collection[tuple[str, ProviderAddress]],
        *,
        on_progress: Callable[[int, int], None] = lambda _, __: None,
        cancel: threading.Event | None = None,
    ) -> dict[tuple[str, ProviderAddress], EntryPackages]:
        """Compare the packages on this machine, and those that mirrors list, with entries; see `verify_entries`."""
        from locklens.operations.verification.verify import verify_entries

        return verify_entries(review, top, chosen, self.request, on_progress=on_progress, cancel=cancel)

    def health(
        self,
        *,
        is_fresh: bool = False,
        on_progress: Callable[[str, int, int], None],
        on_draft: Callable[[Health], None],
        cancel: threading.Event,
    ) -> Health:
        """Check every root of the repository's work tree, or below the folder without git; see `scan_health`."""
        from locklens.operations.health import HealthRequest, health_base, scan_health

        request = HealthRequest(
            self.folder,
            roots=self.request.roots,
            tool=self.request.tool,
            test_directory=self.request.test_directory,
            network=self._network(is_fresh=is_fresh),
            policy=self.request.policy,
            base=health_base(self.request),
        )
        return scan_health(request, on_progress=on_progress, on_draft=on_draft, cancel=cancel)

    def why(
        self,
        subject: WhyRequest | WhySubject,
        *,
        is_asking: bool = True,
        is_fresh: bool = False,
        cancel: threading.Event | None = None,
        on_log: Log = lambda _: None,
    ) -> Why:
        """Explain the requirements of a provider, and what holds back newer versions; see `ask_and_explain`."""
        from locklens.operations.review.explain_provider import ask_and_explain, explain_provider

        network = self._network(is_fresh=is_fresh)
        if not is_asking or network is None:
            return explain_provider(subject, self.request)
        return ask_and_explain(subject, self.request, network, cancel=cancel, on_log=on_log)

    def inspect(
        self,
        request: InspectionRequest,
        *,
        confirm: Callable[[ProvingPlanned], bool] = lambda _: True,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> Inspection:
        """Look into packages of a provider; see `inspect_provider`. Raises LockLensError without network settings."""
        from locklens.errors import LockLensError
        from locklens.operations.inspection.inspect import inspect_provider
        from locklens.operations.review.explain_provider import vouched_hosts

        network = self.request.network
        if network is None:
            raise LockLensError("no registry can be asked: there are no network settings")
        hosts = vouched_hosts(self.request)
        return inspect_provider(request, network, hosts, confirm=confirm, on_event=on_event, cancel=cancel)

    def diagnose(
        self,
        request: DoctorRequest,
        *,
        cancel: threading.Event | None = None,
        on_event: Callable[[ReviewEvent], None] = lambda _: None,
        confirm: Callable[[ProvingPlanned], bool] | None = None,
    ) -> Diagnosis:
        """Diagnose the errors of a log, or examine roots, with these settings of tool and network; see `diagnose`."""
        from msgspec.structs import replace

        from locklens.operations.doctor.diagnose import diagnose

        settings = {"network": self.request.network, "test_directory": self.request.test_directory}
        return diagnose(replace(request, **settings), cancel=cancel, on_event=on_event, confirm=confirm)

    def history(
        self,
        signer: SignerUses,
        *,
        on_event: Callable[[ReviewEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> tuple[PastUse, ...]:
        """Look up the versions of a signer's providers that were locked before; see `signing_history`."""
        from locklens.operations.review.signing_history import signing_history

        return signing_history(self.request, signer, on_event=on_event, cancel=cancel)

    def candidates(
        self,
        review: Review,
        top: Path,
        *,
        on_known: Callable[[CandidateTable], None] = lambda _: None,
        cancel: threading.Event | None = None,
        is_fresh: bool = False,
    ) -> CandidateTable:
        """Look up the versions that the providers of a review with configurations could be upgraded to."""
        from locklens.operations.upgrades.lookup import CandidateRequest, look_up_candidates

        request = CandidateRequest.of_review(review, top, self._network(is_fresh=is_fresh))
        return look_up_candidates(request, on_known=on_known, cancel=cancel)

    def releases(
        self,
        review: Review,
        versions: Sequence[ReleaseId],
        *,
        on_known: Callable[[KnownRelease], None],
        cancel: threading.Event | None = None,
    ) -> None:
        """Look up the signers of versions; `on_known` is called with each of them."""
        from locklens.operations.upgrades.lookup import hosts_of_roots, look_up_releases

        network = self.request.network
        if network is not None:
            for release in look_up_releases(versions, network, hosts_of_roots(review, network), cancel=cancel):
                on_known(release)

    # Writing

    def where(self, top: Path, roots: Iterable[str]) -> Scope:
        """Return the scope of roots below a top, "" for the top itself, with the settings of this run."""
        from locklens.operations.plan import Scope

        return Scope.at(top, roots, self.request)

    def plan(
        self,
        operation: Operation,
        review: Review | None = None,
        *,
        on_root: Callable[[str], None] = lambda _: None,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
        on_log: Log = lambda _: None,
        on_notes: Log = lambda _: None,
    ) -> Plan:
        """Plan an operation. Nothing is written.

        Registries that the base of `review`, from which the operation was made, does not vouch for are not asked.
        `on_root` is called with each root when its turn begins; `on_event` with events about packages, from any thread,
        but never concurrently; `on_log` at the end, even after a failure, and `on_notes` with what cannot be used of
        the CLI configuration, and other limits, in sentences.

        Raises:
            OfflineError: The operation needs registries, which may not be asked.
            LockLensError: No root can be planned.
            RunCancelledError: `cancel` was set.
        """
        from locklens.errors import OfflineError, RunCancelledError
        from locklens.operations.write.apply import FileOperation

        def begin(root: str) -> None:
            if cancel is not None and cancel.is_set():
                raise RunCancelledError("the plan was cancelled")
            on_root(root)

        if isinstance(operation, FileOperation):
            return operation.plan(on_root=begin)
        network = self.request.network
        if self.is_offline or network is None:
            words = "registries are required, and are not asked offline"
            raise OfflineError(words, hint="run without --offline")
        from locklens.operations.write.registry_source import RegistrySource

        vouched = frozenset(network.hosts) | (review.base_hosts if review is not None else frozenset())
        hosts = None if network.asks_all else vouched
        if review is not None:
            from msgspec.structs import replace

            network = replace(network, reported_hashes=review.policy.reported_hashes)
        with RegistrySource(network, hosts=hosts, on_event=on_event, cancel=cancel) as source:
            try:
                return operation.plan(source, on_root=begin)
            finally:
                on_log(source.log)
                on_notes(source.notes)

    def review_plan(
        self,
        plan: Plan,
        review: Review,
        *,
        on_event: Callable[[ReviewEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> PlanReview:
        """Review a plan that was made from a review, whose base applies; see `review_plan`."""
        from locklens.operations.plan.review import review_plan

        return review_plan(plan, self.request, review, on_event=on_event, cancel=cancel)

    def judge_sides(
        self, operation: ResolveConflicts, review: Review, *, cancel: threading.Event | None = None
    ) -> KnownSides:
        """Return what is known about the entries of both sides of a merge, in words, as the review of each has it."""
        from locklens.operations.merge import Preference
        from locklens.review.reports import entry_words

        known: KnownSides = {}
        for side in (Preference.OURS, Preference.THEIRS):
            plan = self.plan(operation.taking(side), review, cancel=cancel)
            written, failed = {file.path for file in plan.proposal.files}, {one.root for one in plan.failures}
            # A file that is on disk as the side has it: merged before, and not marked as resolved in git.
            roots = [one for one in review.roots if one.lock_file not in written and one.path not in failed]
            if written:
                roots += self.review_plan(plan, review, cancel=cancel).review.roots
            for root in roots:
                for change in root.changes:
                    name = change.address.short(root.tool.default_host)
                    known[root.path, name, side] = entry_words(change)
        return known

    def apply(self, proposal: FileChanges) -> tuple[str, ...]:
        """Write all files of a plan, or none, and return the limits of the write, in sentences; see `apply`."""
        from locklens.operations.write.apply import apply

        return apply(proposal)
