"""Where reviews and plans are from: the use cases of the workspace, as screens ask for them. Knows no Textual."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.install.events import InstallEvent
    from locklens.operations.comparison import Comparison
    from locklens.operations.plan.files import FileChanges
    from locklens.operations.plan.model import Plan, Scope
    from locklens.operations.plan.review import PlanReview
    from locklens.operations.review.events import ProvingPlanned, ReviewEvent
    from locklens.operations.review.request import ReviewRequest
    from locklens.operations.review.why import WhySubject
    from locklens.operations.upgrades.candidates import CandidateTable
    from locklens.operations.upgrades.download_estimate import KnownRelease
    from locklens.operations.write.operation import Operation
    from locklens.operations.write.upgrade import SelectedVersion
    from locklens.releases.facts import ReleaseId
    from locklens.review.keys import PastUse, SignerUses
    from locklens.review.model import Review, RootReview
    from locklens.review.why import Why
    from locklens.ui.shell.source import OpenedReview, ReviewSource


@dataclass(frozen=True, slots=True)
class WorkspaceSource:
    """The real source: the use cases of the workspace.

    Attributes:
        reads_only: Whether reviews are made of files alone: another question than theirs is asked of registries.
    """

    request: ReviewRequest
    reads_only: bool = False

    @property
    def fail_on(self) -> str:
        """That of the request."""
        return self.request.fail_on

    def open(self, *, is_fresh: bool = False) -> OpenedReview:
        """Opens the comparison of the request."""
        from msgspec.structs import replace

        from locklens.operations.review.run import review_lock_files

        request = self.request
        if is_fresh and request.asking is not None:
            request = replace(request, asking=replace(request.asking, is_fresh=True))
        if self.reads_only:
            request = replace(request, asking=None)
        comparison = request.open()
        return _WorkspaceReview(comparison, review_lock_files(comparison, request), request)

    def of_view(self, view: str, folder: Path | None) -> ReviewSource:
        """The same asking and the same base, of all that is locked or of what changed."""
        from functools import partial

        from msgspec.structs import replace

        from locklens.operations.compare_repository import open_git, open_locked

        is_whole = view in {"upgrade", "hashes", "keys"}
        base, where, opened = self.request.base, folder or Path.cwd(), self.request.open
        if base is not None:
            opened = (
                partial(open_locked, where, base=base)
                if is_whole
                else partial(open_git, where, base=base.name, fork_of=base.fork_of)
            )
        request = replace(self.request, open=opened, include_unchanged=is_whole, prove="none")
        return WorkspaceSource(request, reads_only=view == "upgrade")

    def prove(
        self,
        review: Review,
        chosen: Collection[tuple[str, ProviderAddress]],
        *,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        """Proves with the request's asking."""
        from locklens.errors import OfflineError
        from locklens.operations.review.prove import prove

        asking = self.request.asking
        if asking is None or asking.is_offline:
            raise OfflineError("nothing can be downloaded offline", hint="leave out --offline")
        return prove(review, chosen, asking, confirm=confirm, on_event=on_event, cancel=cancel)

    def where(self, top: Path, roots: Iterable[str]) -> Scope:
        """Names the roots as from the current folder, so that the command lines are right there."""
        from locklens.operations.plan.model import Scope

        return Scope.at(top, roots, tool=self.request.tool, test_directory=self.request.test_directory)

    def plan(
        self,
        intent: Operation,
        review: Review | None,
        *,
        on_root: Callable[[str], None],
        on_event: Callable[[InstallEvent], None],
        cancel: threading.Event,
    ) -> Plan:
        """Plans with the request's asking; registries are asked as they were for the review."""
        from locklens.errors import RunCancelledError
        from locklens.operations.write.registry_source import OfflineSource, RegistrySource

        def begin(root: str) -> None:
            if cancel.is_set():
                raise RunCancelledError("the plan was cancelled")
            on_root(root)

        asking = self.request.asking
        if asking is None or asking.is_offline:
            return intent.plan(OfflineSource(), on_root=begin)
        hosts = frozenset(asking.hosts) | (review.base_hosts if review is not None else frozenset())
        with RegistrySource(asking.environ, asking.cache, hosts=hosts, on_event=on_event, cancel=cancel) as supply:
            return intent.plan(supply, on_root=begin)

    def foresee(
        self, plan: Plan, review: Review, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event
    ) -> PlanReview:
        """Reviews it with the request's asking, by the review's base."""
        from locklens.operations.plan.review import review_plan

        return review_plan(plan, self.request, review, on_event=on_event, cancel=cancel)

    def apply(self, proposal: FileChanges) -> tuple[str, ...]:
        """Writes the files."""
        from locklens.operations.write.apply import apply

        return apply(proposal)

    def why(self, subject: WhySubject, *, is_asking: bool, is_fresh: bool, cancel: threading.Event) -> Why:
        """Explains it with the request's asking."""
        from functools import partial

        from msgspec.structs import replace

        from locklens.operations.review.why import why_reviewed

        explain = partial(why_reviewed, self.request, subject.review, subject.roots, subject.address, top=subject.top)
        asking = self.request.asking
        if not is_asking or asking is None:
            return explain()
        from locklens.releases.lookup import ReleaseLookup
        from locklens.releases.session import ReleaseSession

        settings = replace(asking, is_fresh=is_fresh)
        with ReleaseSession(settings, subject.review.base_hosts, cancel) as session:
            return explain(ask=ReleaseLookup(session).offered)

    def history(
        self, signer: SignerUses, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event
    ) -> tuple[PastUse, ...]:
        """Looks it up with the request's asking."""
        from locklens.operations.review.signing_history import signing_history

        return signing_history(self.request, signer, on_event=on_event, cancel=cancel)

    def offers(
        self,
        review: Review,
        top: Path,
        *,
        on_known: Callable[[CandidateTable], None],
        cancel: threading.Event,
        is_fresh: bool,
    ) -> CandidateTable:
        """Finds it out with the request's asking."""
        from msgspec.structs import replace

        from locklens.operations.upgrades.lookup import CandidateRequest, look_up_candidates

        asking = self.request.asking
        asking = replace(asking, is_fresh=is_fresh) if asking is not None else None
        return look_up_candidates(CandidateRequest.of_review(review, top, asking), on_known=on_known, cancel=cancel)

    def releases(
        self,
        review: Review,
        wanted: Sequence[ReleaseId],
        *,
        on_known: Callable[[KnownRelease], None],
        cancel: threading.Event,
    ) -> None:
        """Finds it out with the request's asking."""
        from locklens.operations.upgrades.lookup import look_up_releases

        if self.request.asking is not None:
            for one in look_up_releases(wanted, self.request.asking, review.base_hosts, cancel=cancel):
                on_known(one)

    def upgrading(self, top: Path, picks: tuple[SelectedVersion, ...], *, allows_missing: bool) -> Operation:
        """The request's tool and test folder count."""
        from locklens.operations.write.upgrade import SelectedUpgrade

        request = self.request
        return SelectedUpgrade(top, picks, allows_missing, request.tool, request.test_directory)


@dataclass(frozen=True, slots=True)
class _WorkspaceReview:
    comparison: Comparison
    draft: Review
    request: ReviewRequest

    def complete(
        self,
        *,
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> Review:
        from locklens.operations.review.run import complete_review

        return complete_review(self.comparison, self.draft, self.request, on_event=on_event, cancel=cancel)

    def watched(self, review: Review) -> tuple[Path, ...]:
        from locklens.operations.review.run import watched_files

        return watched_files(self.comparison, review)

    @property
    def top(self) -> Path | None:
        return self.comparison.top

    @property
    def repository(self) -> str:
        repository = self.comparison.repository
        return str(repository.top) if repository is not None else ""

    def close(self) -> None:
        self.comparison.close()
