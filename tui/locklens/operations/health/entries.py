"""Judges the locked providers of all roots: equal entries of several roots once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from locklens.lockfile.model import LockFile
from locklens.review.case import FactSubject
from locklens.review.context import RootContext
from locklens.review.evidence import trace, unasked_case
from locklens.review.health import is_counted
from locklens.review.model import Change, ChangeKind, HashFact, LockStatus, RootReview
from locklens.review.rules.agreement import LockedPackages
from locklens.review.rules.health import CHECKS, LockedState
from locklens.review.rules.heeding import heeded
from locklens.review.rules.judge import judge_change
from locklens.review.rules.verdict import finding_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry
    from locklens.operations.health.reading import ReadRoot
    from locklens.policy import Policy
    from locklens.review.case import Case
    from locklens.review.model import Finding


class EntryGroup(Struct):
    """Equal entries of several roots.

    Attributes:
        tool: Their tool.
        change: The first of them, as an unchanged provider.
        members: The number of each root in the list of roots, and its entry.
        case: The facts about the release; None before they are known.
    """

    tool: Dialect
    change: Change
    members: list[tuple[int, LockEntry]] = field(default_factory=list)
    case: Case | None = None

    @property
    def entry(self) -> LockEntry:
        """The first entry."""
        return self.members[0][1]

    @property
    def subject(self) -> FactSubject:
        """The release, as the subject of fact collection."""
        return FactSubject("", self.tool, self.change)


def group_entries(roots: Sequence[ReadRoot]) -> list[EntryGroup]:
    """Return the entries of all roots, equal ones in one group."""
    groups: dict[object, EntryGroup] = {}
    for number, root in enumerate(roots):
        tool = root.review.tool
        for entry in root.review.new.entries:
            # Findings name lines of hashes: entries of another layout are other ones.
            ends = (entry.hash_lines[0] - entry.line, entry.hash_lines[-1] - entry.line) if entry.hash_lines else ()
            key = (tool.name, entry.address, str(entry.version), entry.hashes, ends)
            group = groups.get(key)
            if group is None:
                group = groups[key] = EntryGroup(tool, _unchanged(entry))
            group.members.append((number, entry))
    return list(groups.values())


def _unchanged(entry: LockEntry) -> Change:
    facts = tuple(map(HashFact, dict.fromkeys(entry.hashes)))
    kind = ChangeKind.UNCHANGED
    return Change("", "", entry.address, kind, None, None, entry, entry, added=(), removed=(), kept=facts)


def signers_of(groups: Iterable[EntryGroup], roots: Sequence[ReadRoot]) -> dict[tuple[str, ProviderAddress], str]:
    """Return the signer of each provider's locked version in words, by the root's path and the provider."""
    found = {}
    for group in groups:
        judged = group.case.new.authentication if group.case is not None else None
        if judged is None:
            continue
        key = judged.signed_by
        owner = f"  {key.user_ids[0]}" if key is not None and key.user_ids else ""
        words = f"{key.fingerprint}{owner}" if key is not None else f"no signer: {judged.tier}"
        for number, entry in group.members:
            found[roots[number].review.path, entry.address] = words
    return found


def judge_entries(groups: Iterable[EntryGroup], roots: Sequence[ReadRoot], policy: Policy) -> list[list[Finding]]:
    """Return the findings about the entries of each root, in the order of the roots."""
    packages = LockedPackages(root.review.new for root in roots)
    found: list[list[Finding]] = [[] for _ in roots]
    for group in groups:
        first = roots[group.members[0][0]].review
        findings = tuple(_findings(group, first, packages, policy))
        for number, entry in group.members:
            lock_file = roots[number].review.lock_file
            offset = entry.line - group.entry.line
            found[number] += (
                _at(finding, first.lock_file, lock_file, offset, is_other=entry is not group.entry)
                for finding in findings
            )
    return found


def _findings(group: EntryGroup, first: RootReview, packages: LockedPackages, policy: Policy) -> Iterator[Finding]:
    rivals = packages.rivals_of(group.entry)
    few = packages.minority_of(group.entry) if rivals else None
    address = group.change.address
    minorities = {address: few} if few is not None else {}
    context = RootContext(policy, rivals={address: rivals} if rivals else {}, minorities=minorities)
    root = RootReview(
        path=first.path,
        lock_file=first.lock_file,
        tool=group.tool,
        status=LockStatus.UNCHANGED,
        format_only=False,
        old=LockFile.absent(first.lock_file),
        new=LockFile.absent(first.lock_file),
        changes=(),
        context=context,
    )
    case = _telling_case(group, policy)
    change = trace(group.change, case) if case is not None else group.change
    for finding in judge_change(change, root, case):
        if is_counted(finding):
            yield replace(finding, provider=change.address)
    if change.new_signer is not None:
        state = LockedState(group.tool, policy, entry=group.entry, signer=change.new_signer)
        own = (finding_of("LK039", verdict, first.lock_file, None) for verdict in CHECKS["LK039"](state))
        for finding in heeded(own, policy):
            yield replace(finding, provider=change.address)


def _telling_case(group: EntryGroup, policy: Policy) -> Case | None:
    """Return the facts about a release; None where they are unknown and no rule has anything to say without them."""
    case = group.case
    is_known = case is not None and (case.trouble is None or not case.trouble.is_offline)
    if is_known or not policy.platforms:
        return case if is_known else None
    return case or unasked_case(group.change, group.tool)


def _at(finding: Finding, first: str, lock_file: str, offset: int, *, is_other: bool) -> Finding:
    if not is_other or finding.file != first:
        return finding
    line = finding.line + offset if finding.line is not None else None
    return replace(finding, file=lock_file, line=line)
