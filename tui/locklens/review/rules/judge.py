"""Judges roots and changes: a pure function of the known facts, run again in full when more facts are known.

Earlier findings and the order of facts do not matter. The checks of changes, releases and configurations are loaded
when there is one to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.policy import POLICY_FILE, Policy
from locklens.project import is_lock_file
from locklens.review.findings import NOT_REQUIRED_RULE, UNVERIFIED_RULE, Finding
from locklens.review.model import Change, ChangeKind, RootReview
from locklens.review.rules import Verdict, finding_of, heeded, in_order
from locklens.review.rules import root as root_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import ParamSpec

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockFile
    from locklens.policy.model import PolicyChange
    from locklens.project.configuration import Configuration
    from locklens.review.case import Case

    Subjects = ParamSpec("Subjects")


class KnownVerdicts:
    """The verdicts by one policy on the entries of changes and their releases: those on equal changes are found once.

    A monorepo has the same few changes in all of its roots. What the rest of a root adds is judged for each.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], tuple[int, Case | None, list[tuple[str, Verdict]]]] = {}

    def of(self, change: Change, policy: Policy, case: Case | None) -> list[tuple[str, Verdict]]:
        """Return the verdicts on a change with a new side, with the lines of its entry; see `judge_change`."""
        assert change.new is not None
        key = (id(case), *change.key)  # The case is kept, so that no other one gets its id.
        if key not in self._known:
            # The case may be that of an equal change, whose entries are at other lines.
            of_case = case and replace(case, change=replace(case.change.of_entries, old=change.old, new=change.new))
            # A check sees nothing that differs between changes of one key, as what is inside packages does.
            self._known[key] = change.new.line, case, [*_of_entries(change.of_entries, policy, of_case)]
        line, _, found = self._known[key]
        if line == change.new.line:
            return found
        return [(rule, _lower(verdict, change.new.line - line)) for rule, verdict in found]


def _lower(verdict: Verdict, lines: int) -> Verdict:
    """Return a verdict on an entry that stands so many lines further below."""
    return verdict if verdict.line is None or verdict.file else replace(verdict, line=verdict.line + lines)


def judge(
    root: RootReview, cases: Mapping[ProviderAddress, Case] | None = None, known: KnownVerdicts | None = None
) -> RootReview:
    """Return a root with all findings that follow from the known facts, and with the requirements of each change.

    Its configuration may not be read yet; `cases` has the facts about its changes as far as they are settled.
    """
    changes = tuple(
        replace(change, findings=judge_change(change, root, (cases or {}).get(change.address), known))
        for change in root.changes
    )
    return replace(root, changes=_with_requirements(root, changes), findings=judge_root(root))


def judge_change(
    change: Change, root: RootReview, case: Case | None = None, known: KnownVerdicts | None = None
) -> tuple[Finding, ...]:
    """Return the findings of one change, the worst first; its case is None while the facts are not settled."""
    verdicts: list[tuple[str, Verdict]] = []
    if change.new is not None:
        from locklens.review.rules import agreement

        of_entries = (known or KnownVerdicts()).of(change, root.context.policy, case)
        verdicts += _in_root(of_entries, change, root, case) if case is not None else of_entries
        verdicts += _run(agreement.CHECKS, change, root)
        if change.advisories is not None or change.builds is not None:
            from locklens.review.rules import inside

            verdicts += _run(inside.CHECKS, change, root)
    line = change.new.line if change.new is not None else None
    findings = [finding_of(rule, verdict, root.lock_file, line) for rule, verdict in verdicts]
    if (configuration := _judged_configuration(root.new, root.configuration)) is not None:
        found = _of_provider(change.address, root.new, configuration)
        is_undeclared = bool(configuration.undeclared_reason)  # Reported once, of the whole root.
        findings += [finding for finding in found if not (is_undeclared and finding.rule == "LK007")]
        if change.new is None:
            findings += _of_removed(change.address, root.new, configuration)
    return in_order(heeded(findings, root.context.policy, change))


def settle(change: Change, root: RootReview, case: Case | None) -> Change:
    """Return a change with its evidence and all findings; see `judge_change` for the arguments."""
    from locklens.review.evidence import trace

    traced = trace(change, case)
    return replace(traced, findings=judge_change(traced, root, case))


def judge_root(root: RootReview) -> tuple[Finding, ...]:
    """Return the findings of a root that concern no listed change, the worst first."""
    verdicts = [*_run(root_rules.CHECKS, root), *(("LK037", verdict) for verdict in root_rules.unlocked(root))]
    findings = [finding_of(rule, verdict, root.lock_file, None) for rule, verdict in verdicts]
    configuration = _judged_configuration(root.new, root.configuration)
    # A root that never had a lock file is judged as one, and not by each provider.
    if (root.context.unlocked is None or root.old.exists) and configuration is not None:
        findings += _unlisted(root, configuration)
    return in_order(heeded(findings, root.context.policy))


def judge_policy_change(change: PolicyChange, policy: Policy) -> tuple[Finding, ...]:
    """Return the findings about a change of the policy."""
    found = (finding_of("LK028", verdict, POLICY_FILE, None) for verdict in root_rules.own_policy(change))
    return tuple(heeded(found, policy))


def judge_lock(
    lock: LockFile, address: ProviderAddress, configuration: Configuration, *, policy: Policy
) -> tuple[Finding, ...]:
    """Judge a lock file that is compared with nothing: its errors, then one provider's entry by the configuration."""
    refused = (finding_of("LK019", verdict, lock.path, None) for verdict in root_rules.refused(lock))
    errors = tuple(heeded(refused, policy))
    if not lock.exists or _judged_configuration(lock, configuration) is None:
        return errors
    return (*errors, *in_order(heeded(_of_provider(address, lock, configuration), policy)))


def _run(
    checks: Mapping[str, Callable[Subjects, Iterator[Verdict]]], *subjects: Subjects.args, **none: Subjects.kwargs
) -> Iterator[tuple[str, Verdict]]:
    for rule, check in checks.items():
        for verdict in check(*subjects, **none):
            yield rule, verdict


def _of_entries(change: Change, policy: Policy, case: Case | None) -> Iterator[tuple[str, Verdict]]:
    """Judge the entries of a change, and their releases as far as the facts are settled, whatever its root is."""
    from locklens.review.rules import change as change_rules

    yield from _run(change_rules.CHECKS, change, policy)
    if case is None:
        return
    from locklens.review.rules import release

    yield from _run(release.CHECKS, case, policy)
    if change.new is not None and change.new.hashes:
        from locklens.review.coverage import LockedHashes
        from locklens.review.evidence import locked_before
        from locklens.review.rules import platforms

        paths = policy.paths_of(change.address)
        yield from _run(platforms.CHECKS, locked_before(case), LockedHashes.of(change), policy, paths)


def _in_root(
    verdicts: Iterable[tuple[str, Verdict]], change: Change, root: RootReview, case: Case
) -> Iterator[tuple[str, Verdict]]:
    """Yield the verdicts on a release as they are in a root."""
    from locklens.review.rules import release

    is_judged = change.kind is not ChangeKind.UNCHANGED or root.context.is_survey
    for rule, verdict in verdicts:
        if rule == release.UNPROVEN:
            yield rule, release.beside_packages(verdict, case, root.context)
        elif is_judged or rule != UNVERIFIED_RULE:
            yield rule, verdict


def _judged_configuration(lock: LockFile, configuration: Configuration | None) -> Configuration | None:
    """Return the configuration to compare a lock file with; None if there is none, or for an incomplete lock file.

    A file of another name, compared without a configuration, is of no root, unless nothing is locked in it.
    """
    if configuration is None or not lock.is_complete:
        return None
    is_of_root = configuration.has_files or configuration.generator or is_lock_file(lock.path)
    return configuration if is_of_root or not lock.entries else None


def _of_provider(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Finding]:
    from locklens.review.rules import configuration as asked

    entry = lock.by_address.get(address)
    for rule, verdict in _run(asked.CHECKS, address, lock, configuration):
        yield finding_of(rule, verdict, lock.path, entry.line if entry is not None else None)
    for verdict in asked.migrating(address, lock, configuration):
        yield finding_of(asked.MOVED, verdict, lock.path, None)


def _of_removed(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Finding]:
    from locklens.review.rules import configuration as asked

    for verdict in asked.perhaps_required(address, lock, configuration):
        yield finding_of(asked.NOT_LOCKED, verdict, lock.path, None)


def _unlisted(root: RootReview, configuration: Configuration) -> Iterator[Finding]:
    """Judge the providers without a listed change; requirements that are unknown for several give one finding."""
    from locklens.review.rules import configuration as asked

    listed, lock = {change.address for change in root.changes}, root.new
    addresses = [entry.address for entry in lock.entries if entry.address not in listed]
    addresses += sorted(configuration.required() - listed - lock.by_address.keys())
    unsure = bool(configuration.unknown_reason)
    for address in addresses:
        for finding in _of_provider(address, lock, configuration):
            if not (unsure and finding.rule == NOT_REQUIRED_RULE):
                yield replace(finding, provider=address)
    if unsure and not (root.context.is_generation_noted and configuration.generator):
        locked = list(lock.by_address) if configuration.undeclared_reason else addresses
        perhaps = [
            address
            for address in locked
            if address in lock.by_address
            and not configuration.requires(address)
            and asked.migrates_to(address, lock, configuration) is None
        ]
        for verdict in asked.perhaps_not_required(perhaps, configuration):
            yield replace(finding_of(NOT_REQUIRED_RULE, verdict, lock.path, None), among=tuple(perhaps))


def _with_requirements(root: RootReview, changes: Iterable[Change]) -> tuple[Change, ...]:
    configuration = _judged_configuration(root.new, root.configuration)
    if configuration is None:
        return tuple(changes)
    from locklens.review.rules.configuration import askers, requirements_of

    return tuple(
        replace(change, required_by=askers(requirements_of(change.address, root.new, configuration)))
        for change in changes
    )
