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
        """Return the same settings and sides for another view.

        Args:
            reads: The providers that the view reads.
            folder: In the repository; None for this one's.
        """
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
        """Return the revisions that can be compared, without pull requests.

        Args:
            folder: In the repository; None for this one's.

        Raises:
            LockLensError: git failed.
        """
        from locklens.project.git import Repository

        with Repository.discover(folder or self.folder) as repository:
            return repository.revisions()

    def check_sides(self, folder: Path | None, base: Base) -> None:
        """Open sides and close them again, to know that they can be compared.

        Args:
            folder: In the repository; None for this one's.
            base: The sides.

        Raises:
            LockLensError: They cannot be compared: git does not know a revision.
        """
        from locklens.operations.compare import open_git

        open_git(folder or self.folder, base, roots=self.request.roots).close()

    # Reading

    def open(self, *, is_fresh: bool = False, on_event: Callable[[ReviewEvent], None] = lambda _: None) -> OpenedReview:
        """Open the comparison anew, and review its lock files.

        Args:
            is_fresh: True to ask registries again, even for cached answers.
            on_event: Called in this thread.

        Raises:
            LockLensError: There is nothing to compare.
        """
        from locklens.operations.review.opened import open_review

        return open_review(self._reading(is_fresh=is_fresh), on_event)

    def watch(self, *, since_ns: int) -> FileWatch | None:
        """Return the watch of the files of a comparison that cannot be reviewed; None where none can be opened.

        Args:
            since_ns: The time before it was tried; a later change counts.
        """
        from contextlib import suppress

        from locklens.errors import LockLensError
        from locklens.operations.review.run import watch_of

        with suppress(LockLensError):
            comparison = self._reading().open()
            try:
                return watch_of(comparison, None, self.request.policy, since_ns=since_ns)
            finally:
                comparison.close()
        return None

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
        """Prove `h1` hashes by downloads.

        Args:
            review: The review of the changes.
            chosen: The changes, each by lock file and provider.
            confirm: Called in this thread before anything is downloaded; never where there is nothing to prove.
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Returns:
            The roots with new proof.

        Raises:
            OfflineError: Registries may not be asked.
            RunCancelledError: `cancel` was set.
        """
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
        """Compare the packages on this machine, and those that network mirrors list, with lock file entries.

        Nothing is downloaded, and no registry is asked.

        Args:
            review: The review of the entries, of the work tree.
            top: The folder of its relative paths.
            chosen: The entries, each by lock file and provider.
            on_progress: Called in this thread with the number of compared packages, and of all.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: A folder cannot be read.
            RunCancelledError: `cancel` was set.
        """
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
        """Check every root of the repository's work tree, or below the folder without git.

        Args:
            is_fresh: True to ask registries again, even for cached answers.
            on_progress: Called in this thread with what is done, how much of it, and of how much.
            on_draft: Called in this thread with the health from the files alone.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: The folder or the policy cannot be read.
            RunCancelledError: `cancel` was set.
        """
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
        """Explain the requirements of a provider, and what holds back newer versions.

        Args:
            subject: The provider, as typed or in roots of a review.
            is_asking: True to ask its registry for versions.
            is_fresh: True to ask it even for cached answers.
            cancel: Set by another thread to stop.
            on_log: Called at the end.

        Raises:
            LockLensError: The provider or a root cannot be found.
            RunCancelledError: `cancel` was set.
        """
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
        """Look into packages of a provider, with these network settings.

        Args:
            request: The provider and its versions.
            confirm: Called in this thread before anything is downloaded, if anything is; False downloads nothing.
            on_event: Called with the progress of downloads, from any thread, but never concurrently.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: The provider cannot be found, or there are no network settings.
            RunCancelledError: `cancel` was set.
        """
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
        """Diagnose the errors of a log, or examine roots, with these settings of tool and network.

        Args:
            request: The log and the facts besides it; its network settings and test folder are replaced.
            cancel: Set by another thread to stop.
            on_event: Called in this thread.
            confirm: Called before anything is downloaded, in this thread; False downloads nothing. None: it is agreed
                to.

        Raises:
            LockLensError: A root or the package that was handed in cannot be read.
            RunCancelledError: `cancel` was set.
        """
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
        """Look up the versions of a signer's providers that were locked before, the newest first.

        Args:
            signer: The signer of the providers.
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Raises:
            RepositoryError: There is no history.
            RunCancelledError: `cancel` was set.
        """
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
        """Look up the versions that the providers of a review could be upgraded to.

        Args:
            review: The review with the configurations.
            top: The folder of its relative paths.
            on_known: Called in this thread with the candidates that are known so far.
            cancel: Set by another thread to stop.
            is_fresh: True to ask registries again, even for cached answers.

        Raises:
            RunCancelledError: `cancel` was set.
        """
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
        """Look up the signers of versions.

        Args:
            review: The review of the roots.
            versions: The versions.
            on_known: Called in this thread with each of them.
            cancel: Set by another thread to stop.

        Raises:
            RunCancelledError: `cancel` was set.
        """
        from locklens.operations.upgrades.lookup import hosts_of_roots, look_up_releases

        network = self.request.network
        if network is not None:
            for release in look_up_releases(versions, network, hosts_of_roots(review, network), cancel=cancel):
                on_known(release)

    # Writing

    def where(self, top: Path, roots: Iterable[str]) -> Scope:
        """Return the scope of roots, with the tool and the test folder of the settings.

        Args:
            top: The folder that the roots are relative to.
            roots: Folders, "" for the top itself; the scope names them relative to the current folder.
        """
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

        Args:
            operation: The requested operation.
            review: The review that the operation was made from: registries that its base does not vouch for are not
                asked. None without a review.
            on_root: Called with each root when its turn begins, in this thread.
            on_event: Called with events about packages, from any thread, but never concurrently.
            cancel: Set by another thread to stop.
            on_log: Called at the end, even after a failure.
            on_notes: The same with what cannot be used of the CLI configuration, and other limits, in sentences.

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
        """Review a plan.

        Args:
            plan: A plan with files to write.
            review: The review that it was made from, whose base applies.
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: It cannot be reviewed.
            RunCancelledError: `cancel` was set.
        """
        from locklens.operations.plan.review import review_plan

        return review_plan(plan, self.request, review, on_event=on_event, cancel=cancel)

    def judge_sides(
        self, operation: ResolveConflicts, review: Review, *, cancel: threading.Event | None = None
    ) -> KnownSides:
        """Return what is known about the entries of both sides of a merge, in words, as the review of each side has it.

        Args:
            operation: The merge.
            review: The review that it was made from.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: A side cannot be planned or reviewed.
            RunCancelledError: `cancel` was set.
        """
        from locklens.operations.merge import Preference
        from locklens.review.reports import entry_words

        known: KnownSides = {}
        for side in (Preference.OURS, Preference.THEIRS):
            plan = self.plan(operation.taking(side), review, cancel=cancel)
            if not plan.proposal.files:
                continue
            for root in self.review_plan(plan, review, cancel=cancel).review.roots:
                for change in root.changes:
                    name = change.address.short(root.tool.default_host)
                    known[root.path, name, side] = entry_words(change)
        return known

    def apply(self, proposal: FileChanges) -> tuple[str, ...]:
        """Write all files of a plan, or none.

        Returns:
            Limits of the write, in sentences.

        Raises:
            StaleLockFileError: A file changed on disk since the plan was made.
            LockLensError: It cannot be written.
        """
        from locklens.operations.write.apply import apply

        return apply(proposal)
