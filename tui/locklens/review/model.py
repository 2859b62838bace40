"""A review as frozen values, for screens and reports. Its names are those of the JSON document."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import registry_manifests
from locklens.policy import Acceptance, Policy
from locklens.review import HashCount
from locklens.review.context import CommittedVersion, LockedElsewhere, RootContext
from locklens.review.findings import Finding, Severity, by_severity, severity_rank, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry, LockFile
    from locklens.project.configuration import Configuration, Requirement
    from locklens.releases import LookupFailure
    from locklens.review import HashFact
    from locklens.review.inspection import ChangeAdvisories
    from locklens.review.platform_agreement import ReleaseBuilds
    from locklens.trust import Signer


class ChangeKind(StrEnum):
    """The kind of change of a provider; each has exactly one. Declared from the most to the least alarming."""

    REPLACED_HASHES = "replaced-hashes"
    CHANGED_HASHES = "changed-hashes"
    DOWNGRADE = "downgrade"
    NEW_PROVIDER = "new-provider"
    MOVED = "moved"
    NEW_HASHES = "new-hashes"
    UPGRADE = "upgrade"
    REMOVED_HASHES = "removed-hashes"
    REMOVED = "removed"
    CONSTRAINTS_ONLY = "constraints-only"
    UNCHANGED = "unchanged"


_ALARM = {kind: place for place, kind in enumerate(ChangeKind)}


class Bump(StrEnum):
    """The most significant part of the version that differs."""

    MAJOR = "major"
    MINOR = "minor"
    PATCH = "patch"
    PRERELEASE = "prerelease"
    METADATA = "metadata"


class LockStatus(StrEnum):
    """The state of a root's lock file in the comparison."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    INVALID = "invalid"


class LookupAnswer(StrEnum):
    """The result of asking a registry; a cached answer counts as given, and so does a negative one."""

    GIVEN = "given"
    FAILED = "failed"
    NOT_ASKED = "not asked"


class Unverified(StrEnum):
    """The reason why package hashes could not be verified, the most urgent first."""

    FAILED = "failed"
    NOT_AUTHENTICATED = "not-authenticated"
    NOT_ASKED = "not-asked"
    OFFLINE = "offline"


def unverified_by(trouble: LookupFailure | None) -> Unverified:
    """Return why nothing is vouched for, by what prevented an answer; None where there was one."""
    if trouble is None or trouble.is_no:
        return Unverified.NOT_AUTHENTICATED
    if trouble.is_offline:
        return Unverified.OFFLINE
    return Unverified.FAILED if trouble.was_asked else Unverified.NOT_ASKED


CONTRADICTED = "its hashes contradict the release, so that lock adds none; locklens doctor (i) tests the causes"
"""Why `lock` adds nothing to an entry, and the next step."""


class Evidence(Struct, frozen=True):
    """The state of the facts behind a change.

    Attributes:
        as_of: Time of the oldest answer used, ISO 8601 in UTC; None without any answer.
        problems: Reasons for unknown facts, each a sentence without its full stop.
        hint: The next step; "" if there is none.
        answer: The result of asking about the new version.
        to_prove: Upper bound on the number of packages to hash for the `h1` that are not proven.
        to_prove_bytes: Their total size, None if unknown.
        offered: The platforms for which the new version has an authenticated package; None if unknown.
        hashed: The platforms among them whose `h1` is known, locked or not.
        released: The release date of the new version as the registry reports it, ISO 8601; None if unknown or not
            asked for, as without a cooldown.
        days: Days since then.
        unverified: The reason why package hashes of the new version, or its `h1` where no others are to be verified,
            are unverified; None if they are not, or if another rule blocks for the same reason.
        mirrors: The mirrors of the CLI configuration that alone have some of the locked hashes.
        mirrored: The number of these hashes.
        source: The page of the release, or else of the provider's source, as the registry's answers name it; unsigned.
    """

    as_of: str | None = None
    problems: tuple[str, ...] = ()
    hint: str = ""
    answer: LookupAnswer = LookupAnswer.GIVEN
    to_prove: int = 0
    to_prove_bytes: int | None = None
    offered: tuple[str, ...] | None = None
    hashed: tuple[str, ...] = ()
    released: str | None = None
    days: int | None = None
    unverified: Unverified | None = None
    mirrors: tuple[str, ...] = ()
    mirrored: int = 0
    source: str = ""


class Change(Struct, frozen=True):
    """The change of one provider in one root.

    Attributes:
        id: 32 hex digits over address, `moved_from`, both versions, both hash sets, and both constraints where they
            differ: an acceptance or a mark holds for exactly this change.
        group: The same over the `zh` sets alone, without constraints: changes of one group in several roots bring the
            same packages, and may differ in kind and in other hashes.
        evidence: None until the facts are settled.
        old_signer: That of the old version; None if it is unknown, as where the same version was published again.
        neighbour_signer: That of the release next to a version that was published again, which stands in for it.
        required_by: The requirements of the provider on the new side; empty until the configuration was read.
        elsewhere: For kind NEW_PROVIDER, what other roots of the base lock of it; None for nothing.
        advisories: Those of both versions, as far as they are known; None without a database.
        builds: How the packages of the new version were built; None if none of them was inspected.
        restored_from: Where the release was published again, or locked with other hashes, the commit of the base's
            history that locks exactly the packages which are left; "" if none is known.
        is_history_cut: True if such a commit was looked for in a shallow clone, which may lack it.
        lender: A commit that locks another version with some of the `zh` that are foreign to the new one, or one of the
            base's history that locks another one with all packages of the old entry; None if none is known.
    """

    id: str
    group: str
    address: ProviderAddress
    kind: ChangeKind
    moved_from: ProviderAddress | None
    bump: Bump | None
    old: LockEntry | None
    new: LockEntry | None
    added: tuple[HashFact, ...]
    removed: tuple[HashFact, ...]
    kept: tuple[HashFact, ...]
    evidence: Evidence | None = None
    old_signer: Signer | None = None
    new_signer: Signer | None = None
    neighbour_signer: Signer | None = None
    required_by: tuple[Requirement, ...] = ()
    findings: tuple[Finding, ...] = ()
    elsewhere: LockedElsewhere | None = None
    advisories: ChangeAdvisories | None = None
    builds: ReleaseBuilds | None = None
    restored_from: str = ""
    is_history_cut: bool = False
    lender: CommittedVersion | None = None

    @property
    def alarm(self) -> tuple[int, int, tuple[bytes, bytes, bytes]]:
        """The key that sorts changes worst first, in every report and on the screen: severity, kind, provider."""
        return severity_rank(self.severity), _ALARM[self.kind], self.address.sort_key

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for changes of several roots that differ in nothing but the place of the entries in their lock files.

        The facts about them are the same, and so are the verdicts on the entries, except for their lines.
        """
        sides = [
            (entry.constraints, entry.hashes, entry.hash_offsets) for entry in (self.old, self.new) if entry is not None
        ]
        where = self.elsewhere
        places = (where.lowest_in, where.lowest.line, where.highest_in, where.highest.line) if where is not None else ()
        return (self.id, self.kind, *sides, *places)

    @property
    def of_entries(self) -> Change:
        """What `key` and the facts about the entries determine, without findings, requirements and the inside."""
        return replace(self, required_by=(), findings=(), advisories=None, builds=None)

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst finding; None without findings."""
        return worst(self.findings)

    @property
    def is_same_release(self) -> bool:
        """True if old and new are the same version of the same provider."""
        return bool(self.old and self.new and not self.moved_from and self.old.version == self.new.version)

    @property
    def is_settled(self) -> bool:
        """True if no lookup about it is outstanding."""
        return self.evidence is not None or self.new is None

    @property
    def lacks_facts(self) -> bool:
        """True if not all is known of its releases, so that it is not ok without a finding, either."""
        return not self.is_settled or (self.evidence is not None and bool(self.evidence.problems))

    @property
    def unverified(self) -> Unverified | None:
        """The reason why its hashes are unverified; None without a finding about that."""
        is_reported = any(finding.is_doubt for finding in self.findings)
        return self.evidence.unverified if is_reported and self.evidence is not None else None

    @property
    def hashes(self) -> HashCount:
        """The `claimed` hashes, counted."""
        return HashCount.of(self.claimed)

    @property
    def claimed(self) -> tuple[HashFact, ...]:
        """The hashes that the old entry does not lock for this release.

        Those of another version or address that were kept are claimed for it like added ones; not so registry
        manifests, which every honest upgrade keeps.
        """
        if self.old is None or self.new is None or self.is_same_release:
            return self.added
        return (*self.added, *(fact for fact in self.kept if fact.hash not in registry_manifests()))

    @property
    def locked(self) -> tuple[HashFact, ...]:
        """The facts about each hash locked now, in the lock file's order."""
        facts = {fact.hash: fact for fact in (*self.added, *self.kept)}
        return tuple(facts[text] for text in dict.fromkeys(self.new.hashes)) if self.new is not None else ()


class RootReview(Struct, frozen=True):
    """One root module's lock file, compared.

    Attributes:
        path: The root's folder relative to the repository's top, "" for the top itself.
        lock_file: The lock file's path, relative to the top too.
        renamed_from: The folder of the lock file on the old side, if it moved.
        format_only: True if all providers are unchanged and the bytes differ.
        old: The lock file of the old side; absent if there was none.
        new: The lock file of the new side, read by the rules of `tool`.
        configuration: None until it was read.
        changes: Worst first.
        findings: Findings that concern no single listed change.
    """

    path: str
    lock_file: str
    tool: Dialect
    old: LockFile
    new: LockFile
    status: LockStatus = LockStatus.UNCHANGED
    format_only: bool = False
    changes: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()
    renamed_from: str | None = None
    configuration: Configuration | None = None
    context: RootContext = RootContext()

    @property
    def is_rewritten(self) -> bool:
        """True if the bytes of the lock file differ between the sides."""
        return self.old.data != self.new.data or self.old.exists != self.new.exists

    @property
    def is_removed(self) -> bool:
        """True if the folder is no root any more: its lock file is deleted, and it has no configuration."""
        configuration = self.configuration
        if self.status is not LockStatus.DELETED or configuration is None:
            return False
        return configuration.is_known and not configuration.has_files and not configuration.has_faults

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The root's own findings and those of its changes."""
        return self.findings + tuple(finding for change in self.changes for finding in change.findings)

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst finding; None without findings."""
        return worst(self.all_findings)


SideKind = Literal["git", "worktree", "index", "file", "empty"]


class SideName(Struct, frozen=True):
    """The name of a side of the comparison.

    Attributes:
        name: The name that the user gave it; of a fork point "BASE...HEAD", as git writes it.
        revision: A full commit id or None.
        fork_of: The given revision, where this side is its fork point; "" for any other side.
    """

    kind: SideKind
    name: str
    revision: str | None
    fork_of: str = ""

    @property
    def tip_name(self) -> str:
        """The given revision, even if its fork point is compared: "main" for "main...HEAD"."""
        return self.fork_of or self.name

    @property
    def in_words(self) -> str:
        """The side within a sentence: a range has no content, its fork point has."""
        return f"the fork point of {self.fork_of}" if self.fork_of else self.name


class PolicySide(StrEnum):
    """The origin of a policy.

    The base, because a change must not be judged by rules that it introduces; with only one side, as for a folder
    without git, that side.
    """

    BASE = "base"
    HEAD = "head"
    GIVEN = "given"
    """Named on the command line."""
    NONE = "none"


class HostState(Struct, frozen=True):
    """The contact with a registry: time (ISO 8601) and error if it was asked, and a hint if it was not, "" for none."""

    host: str
    asked: bool
    as_of: str | None = None
    error: str | None = None
    hint: str = ""


class Review(Struct, frozen=True, dict=True):
    """The whole comparison.

    Attributes:
        at: ISO 8601 in UTC.
        roots: The roots with a changed lock file or configuration.
        lock_files: The number of lock files of both sides, changed or not; one that was moved counts once.
        left_out: The number of those that were not compared, as the run is restricted to other roots.
        policy_notes: Sentences about the rules that judge: what of a policy does not apply, or is due for a review.
        limits: What was not checked in the whole review, each a sentence: gpg is missing, a setting cannot be read.
        base_hosts: The registries in the base's lock files and policy, in comparison form; for a fork point, those of
            its tip.
        own_findings: Findings that concern no root: the change modifies the policy that judges it.
        staged: Providers whose blocks are staged as the work tree has them, each with its lock file; on screens alone.
        stageable: The changed ones whose blocks the index has otherwise or not, where they can be staged; likewise.
        pending: Acceptances in the policy of the new side, which count once the base has them.
        policy_lacking: The keys of the policy that the base alone changed since the new side began.
    """

    at: str
    offline: bool
    hosts: tuple[HostState, ...]
    base: SideName
    head: SideName
    roots: tuple[RootReview, ...]
    lock_files: int = 0
    left_out: int = 0
    policy_notes: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    policy: Policy = Policy()
    policy_side: PolicySide = PolicySide.NONE
    base_hosts: frozenset[str] = frozenset()
    own_findings: tuple[Finding, ...] = ()
    staged: frozenset[tuple[str, ProviderAddress]] = frozenset()
    stageable: frozenset[tuple[str, ProviderAddress]] = frozenset()
    pending: tuple[Acceptance, ...] = ()
    policy_lacking: tuple[str, ...] = ()

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All listed changes, without unchanged providers."""
        return tuple(
            change for root in self.roots for change in root.changes if change.kind is not ChangeKind.UNCHANGED
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """All sentences about the whole review."""
        return (*self.policy_notes, *self.limits)

    @cached_property
    def all_roots(self) -> int:
        """The number of roots, listed or not; one without a lock file on either side counts where listed."""
        return self.lock_files + sum(not (root.old.exists or root.new.exists) for root in self.roots)

    @cached_property
    def distinct_changes(self) -> int:
        """The number of changes, where the same change in several roots counts once."""
        return len({change.id for change in self.changes})

    @cached_property
    def is_survey(self) -> bool:
        """True if the subject is all that is locked, and not what changed."""
        return any(root.context.is_survey for root in self.roots)

    @cached_property
    def hashes(self) -> HashCount:
        """The claimed hashes of all changes, in a survey all locked ones; headers, reports and JSON show this count."""
        if self.is_survey:
            return HashCount.of(fact for root in self.roots for change in root.changes for fact in change.locked)
        return HashCount.of(fact for change in self.changes for fact in change.claimed)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: of the review itself, and of all roots."""
        return (*self.own_findings, *(finding for root in self.roots for finding in root.all_findings))

    @cached_property
    def severity_counts(self) -> Mapping[Severity, int]:
        """The number of `distinct_findings` of each severity."""
        return by_severity(alike[0].severity for alike in self.distinct_findings())

    def distinct_findings(
        self, is_counted: Callable[[Finding], bool] = lambda finding: finding.accepted is None
    ) -> tuple[tuple[Finding, ...], ...]:
        """Return the findings as they are counted everywhere, the worst first.

        Without a test, those are meant that are not accepted. Those of one rule about the same change, in many roots or
        several times in one, are one item with the worst first. An entry that is the subject of no change has those of
        each root, whether it is listed or not.
        """
        single = [*self.own_findings]
        alike: dict[object, list[Finding]] = {}
        for root in self.roots:
            single += root.findings
            for change in root.changes:
                if change.kind is ChangeKind.UNCHANGED and not self.is_survey:
                    single += change.findings
                    continue
                for finding in change.findings:
                    alike.setdefault((change.id, finding.rule), []).append(finding)
        alike |= {number: [finding] for number, finding in enumerate(single)}
        counted = (sorted(filter(is_counted, one), key=lambda each: each.severity.rank) for one in alike.values())
        return tuple(sorted((tuple(one) for one in counted if one), key=lambda one: one[0].severity.rank))

    @cached_property
    def accepted(self) -> int:
        """The number of accepted findings."""
        return sum(finding.accepted is not None for finding in self.findings)

    def threshold(self, given: str | None) -> str:
        """Return the lowest severity that fails: the given one, else the policy's, else block."""
        return given or self.policy.fail_on or Severity.BLOCK.value

    def fails(self, given: str | None = None) -> bool:
        """True if a finding counts at the threshold or above, None for the policy's; nothing fails at "never"."""
        return any(self.is_failing(finding, given) for finding in self.findings)

    def is_failing(self, finding: Finding, given: str | None = None) -> bool:
        """True if a finding counts and reaches the threshold."""
        return finding.fails_at(self.threshold(given))

    @cached_property
    def verdict(self) -> str:
        """The worst severity as block, warn or ok."""
        severity = worst(self.findings)
        return severity.value if severity is not None and severity.is_serious else "ok"

    @cached_property
    def unverified(self) -> Unverified | None:
        """The most urgent reason why package hashes are unverified; None if there is none."""
        reasons = {reason for change in self.unverified_changes if (reason := change.unverified) is not None}
        return next((reason for reason in Unverified if reason in reasons), None)

    @cached_property
    def unverified_changes(self) -> tuple[Change, ...]:
        """The changes, and in a survey the unchanged providers, with a finding that hashes are unverified."""
        return tuple(change for root in self.roots for change in root.changes if change.unverified is not None)
