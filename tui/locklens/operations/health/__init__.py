"""The health of a folder: find the roots, read them, judge them together, ask registries."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError, RunCancelledError
from locklens.operations.comparison import RootSettings
from locklens.operations.health.judging import (
    REGISTRY_NOT_ASKED,
    Distances,
    ask_registries,
    group_entries,
    judge_entries,
    locked_hashes,
    look_inside,
    signers_of,
    unselectable,
)
from locklens.operations.health.roots import Layout, ReadRoot, find_layout, read_roots
from locklens.operations.review.policy import EffectivePolicy, policy_for, with_local_paths
from locklens.review.coverage import coverage
from locklens.review.health import CHECKS, UNREAD, Health, Need, is_undecided, results, spread_of
from locklens.review.model import PolicySide, Review, SideName
from locklens.review.rules import in_order
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.operations.health.judging import EntryGroup, HealthAnswers
    from locklens.operations.review.request import ReviewRequest
    from locklens.policy import Policy
    from locklens.releases import NetworkSettings
    from locklens.review.findings import Finding
    from locklens.review.health import RootReach

    OnProgress = Callable[[str, int, int], None]
    """Called with the name of a step, how many of its items are done, and how many there are."""


class HealthBase(Struct, frozen=True):
    """The policy and the hosts, comparison form, that the base of a run names and that may be asked."""

    effective: EffectivePolicy
    hosts: frozenset[str]


def health_base(request: ReviewRequest) -> HealthBase | None:
    """Return what the base of a run decides; None if two files are compared, or without a repository."""
    from locklens.errors import NoRepositoryError
    from locklens.operations.review.policy import effective_policy
    from locklens.operations.review.run import base_hosts

    if request.base is None:
        return None
    try:
        comparison = request.open()
    except NoRepositoryError:
        return None
    with closing(comparison):
        effective = effective_policy(comparison, request.policy)
        return HealthBase(effective, base_hosts(comparison, request.tool, request.policy))


class HealthRequest(RootSettings, frozen=True):
    """The roots to look at, and the settings.

    Attributes:
        folder: The folder; every root in or below it is checked.
        name: The folder as the user named it.
        roots: Folders of the only roots to check, relative to the current folder; () for all.
        network: Network settings; None to ask no registry and use no cache.
        policy: A file that replaces the repository's policy.
        base: Policy and hosts of the base that the run compares with; None for the policy of HEAD, which vouches for
            no host.
    """

    folder: Path
    name: str = "."
    roots: tuple[str, ...] = ()
    network: NetworkSettings | None = None
    policy: Path | None = None
    base: HealthBase | None = None


_MOST_NOTES = 5
"""The most folders that are named one by one."""


def _unsearched_words(layout: Layout) -> tuple[str, ...]:
    """Return which folders are not searched, in sentences."""
    words = layout.unsearched[:_MOST_NOTES]
    if len(layout.unsearched) > len(words):
        words += (f"{len(layout.unsearched) - len(words)} more folders are not searched",)
    if layout.repositories:
        names = listing(layout.repositories, _MOST_NOTES)
        words += (f"other repositories are not searched: {names}; `locklens health DIR` reads one",)
    return words


def scan_health(
    request: HealthRequest,
    *,
    on_progress: OnProgress = lambda _what, _done, _total: None,
    on_draft: Callable[[Health], None] | None = None,
    on_log: Callable[[Sequence[str]], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> Health:
    """Return the health of all roots of a folder; raises LockLensError if the folder or the policy cannot be read.

    `on_draft` is called with the health from the files alone, before any registry is asked; `on_log` with one line for
    each request.
    """
    cancel = cancel or threading.Event()
    if not request.folder.is_dir():
        hint = "name a folder with root modules below it"
        raise ConfigurationError("no such folder", path=request.name, hint=hint)
    base = request.base
    effective = base.effective if base is not None else policy_for(request.folder, request.policy)
    layout = find_layout(request.folder, request.roots)
    roots = read_roots(layout, request, effective.policy, on_progress=partial(on_progress, "roots"), cancel=cancel)
    if request.network is not None and roots:
        tools = {root.review.new.writer or TERRAFORM for root in roots} if request.tool is None else {request.tool}
        policy = with_local_paths(effective.policy, request.network.environ, tools)
        effective = replace(effective, policy=policy)
    top, unsearched = os.fspath(layout.tree.top), _unsearched_words(layout)
    scan = _Scan(request, effective, top, roots, group_entries(roots), unsearched, layout.is_git)
    if request.network is not None:
        scan.has_advisories, problem = look_inside(scan.groups, request.network.cache, effective.policy)
        scan.problems = tuple(filter(None, [problem]))
    if on_draft is not None:
        on_draft(scan.health(None))
    answers = _answers(request, scan, effective, on_progress, cancel)
    if answers is not None:
        on_log(answers.log)
    if cancel.is_set():
        raise RunCancelledError("the scan was cancelled")
    return scan.health(answers)


class _Scan(Struct):
    """The roots that were read, with equal entries in groups."""

    request: HealthRequest
    effective: EffectivePolicy
    top: str
    roots: list[ReadRoot]
    groups: list[EntryGroup]
    unsearched: tuple[str, ...]
    is_git: bool
    has_advisories: bool = False
    problems: tuple[str, ...] = ()

    def notes(self) -> tuple[str, ...]:
        """Return which folders were not searched, and a note if nothing was checked: another folder may be meant."""
        if self.roots:
            return self.unsearched
        nothing = f"nothing was checked: no lock file or configuration of a root in or below {self.request.name}"
        return (*self.unsearched, nothing)

    def health(self, answers: HealthAnswers | None) -> Health:
        """Return the health by the files and the answers, None before there are any."""
        effective, roots = self.effective, self.roots
        found = judge_entries(self.groups, roots, effective.policy)
        unknown_ages, undated = _judge_ages(roots, found, answers, effective)
        judged = tuple(
            replace(root.review, findings=in_order([*root.review.findings, *own]))
            for root, own in zip(roots, found, strict=True)
        )
        network, side = self.request.network, SideName("worktree", "worktree", None)
        review = Review(
            at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            offline=network is None or network.is_offline,
            hosts=answers.hosts if answers is not None else (),
            base=side,
            head=side,
            roots=judged,
            lock_files=sum(root.new.exists for root in judged),
            policy_notes=effective.notes,
            limits=(*self.notes(), *self.problems, *(answers.notes if answers is not None else ())),
            policy=effective.policy,
            policy_side=effective.side,
            base_hosts=_hosts(self.request, effective),
        )
        return Health(
            self.request.name,
            self.top,
            review,
            results(judged, self.unknown(self.lacking(unknown_ages))),
            spread_of(judged),
            signers_of(self.groups, roots),
            {
                root.review.path: replace(_reach_by(root, answers, effective.policy), undated=undated.get(number, {}))
                for number, root in enumerate(roots)
            },
            locked_hashes(self.groups),
            self.is_git,
        )

    def unknown(self, lacking: Mapping[Need, Mapping[str, set[int]]]) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return by check why it is unknown, each reason with the roots; with none if the check was not made."""
        policy, unmade = self.effective.policy, self.unmade()
        unread = {number for number, root in enumerate(self.roots) if not root.review.new.is_complete}
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        for check in CHECKS:
            if off := check.objection(policy) or unmade.get(check.needs, ""):
                found[check.id] = {off: ()}
                continue
            reasons = {reason: numbers - unread for reason, numbers in lacking[check.needs].items()}
            if check.needs is not Need.FILES:
                reasons[_UNREAD_LOCK] = unread
            found[check.id] = {
                reason: tuple(self.roots[number].review.path for number in sorted(numbers))
                for reason, numbers in reasons.items()
                if numbers
            }
        return found

    def unmade(self) -> dict[Need, str]:
        """Return the needs of checks that no root meets, each with the reason."""
        unmade: dict[Need, str] = {}
        if not self.has_advisories:
            words = "no database of advisories is kept: see locklens advisories update"
            unmade |= {Need.ADVISORIES: words, Need.INSPECTION: words}
        if not self.effective.policy.toolchain and all(group.change.builds is None for group in self.groups):
            unmade[Need.BUILDS] = "no package was inspected: see locklens inspect"
        return unmade

    def lacking(self, unknown_ages: Mapping[str, set[int]]) -> dict[Need, Mapping[str, set[int]]]:
        """Return for each need of checks why it is not met, each reason with the indices of the roots."""

        def of(reason_of: Callable[[EntryGroup], str]) -> dict[str, set[int]]:
            found: dict[str, set[int]] = {}
            for group in self.groups:
                if reason := reason_of(group):
                    found.setdefault(reason, set()).update(number for number, _ in group.members)
            return found

        def uncovered(group: EntryGroup) -> str:
            is_doubtful = any(path.doubtful for path in coverage(group.change, policy).paths)
            return (group.unread or _PLATFORMS) if is_doubtful else ""

        def unlisted(group: EntryGroup) -> str:
            has_manifest = group.case is not None and bool(group.case.packages.unread)
            return group.unread or (_MANIFEST if has_manifest else "")

        numbered, policy = list(enumerate(self.roots)), self.effective.policy
        undecided = {number for number, root in numbered if any(map(is_undecided, root.review.findings))}
        unrequired = {number for number, root in numbered if root.unknown and root.review.new.exists}
        unconstrained = {number for number, root in numbered if root.unconstrained and root.review.new.entries}
        in_part = [group for group in self.groups if not group.is_inspected_in_full(policy.required)]
        inspected = _inspected_words(self.groups, in_part)
        return {
            Need.FILES: {},
            Need.ENTRIES: {},
            Need.RELEASE: of(lambda group: group.unread),
            Need.COVERAGE: of(uncovered),
            Need.PACKAGES: of(unlisted),
            Need.DATES: unknown_ages,
            Need.USERS: {UNREAD: undecided},
            Need.REQUIREMENTS: {UNREAD: unrequired},
            Need.CONSTRAINTS: {UNREAD: unconstrained},
            Need.ADVISORIES: of(lambda group: _OWN_VERSIONS if _has_unjudged_own_advisory(group) else ""),
            Need.INSPECTION: of(lambda group: "" if group.is_inspected else _NOT_INSPECTED),
            Need.BUILDS: of(lambda group: "" if group.is_inspected_in_full(policy.required) else inspected),
        }


def _inspected_words(groups: Iterable[EntryGroup], in_part: Iterable[EntryGroup]) -> str:
    """Return how many releases were inspected, and how many of them not in full."""
    releases, unseen = _releases(groups), _releases(group for group in groups if group.change.builds is None)
    words = f"{len(releases) - len(unseen)} of {counted(len(releases), 'locked release')} inspected"
    if number := len(_releases(in_part) - unseen):
        words += f", {number} of them in part"
    return f"{words}: see locklens inspect"


def _answers(
    request: HealthRequest, scan: _Scan, effective: EffectivePolicy, on_progress: OnProgress, cancel: threading.Event
) -> HealthAnswers | None:
    """Ask registries: those of the settings, and those that the base vouches for."""
    if request.network is None or not (scan.groups or any(root.unlocked for root in scan.roots)):
        return None
    hosts = sorted(_hosts(request, effective))
    progress = partial(on_progress, "releases")
    return ask_registries(scan.groups, scan.roots, request.network, hosts, on_progress=progress, cancel=cancel)


def _hosts(request: HealthRequest, effective: EffectivePolicy) -> frozenset[str]:
    if request.base is not None:
        return request.base.hosts
    return frozenset(effective.policy.hosts) if effective.side is PolicySide.GIVEN else frozenset()


def _judge_ages(
    roots: Sequence[ReadRoot], found: list[list[Finding]], answers: HealthAnswers | None, effective: EffectivePolicy
) -> tuple[dict[str, set[int]], dict[int, dict[ProviderAddress, str]]]:
    """Add the findings about ages, and return why some are unknown, each reason with the indices of the roots.

    The second part has by such an index the providers without a release date.
    """
    if answers is None:
        return {REGISTRY_NOT_ASKED: {number for number, root in enumerate(roots) if root.review.new.entries}}, {}
    distances = Distances(answers.available, effective.policy)
    unknown: dict[str, set[int]] = {}
    undated: dict[int, dict[ProviderAddress, str]] = {}
    for number, root in enumerate(roots):
        findings, reasons, undated[number] = distances.findings(root)
        found[number] += findings
        for reason in sorted(reasons):
            unknown.setdefault(reason, set()).add(number)
    return unknown, undated


def _reach_by(root: ReadRoot, answers: HealthAnswers | None, policy: Policy) -> RootReach:
    """Return what commands can do in a root, by what the registries answered."""
    late = unselectable(root, answers.available, policy) if answers is not None else {}
    return replace(root.reach, unselectable={**root.reach.unselectable, **late}) if late else root.reach


def _releases(groups: Iterable[EntryGroup]) -> set[tuple[ProviderAddress, str]]:
    return {(group.change.address, str(group.entry.version)) for group in groups}


def _has_unjudged_own_advisory(group: EntryGroup) -> bool:
    known = group.change.advisories
    return known is not None and any(each.is_own for each in known.now.unjudged)


_UNREAD_LOCK = "the lock file cannot be read"

_PLATFORMS = "which platforms the locked hashes are for is not known: see locklens hashes"

_MANIFEST = "a locked zh is listed as a manifest whose text is unknown: it may be a package's"

_OWN_VERSIONS = "the database has only Go's versions of a provider"

_NOT_INSPECTED = "not all packages were inspected: see locklens inspect"
