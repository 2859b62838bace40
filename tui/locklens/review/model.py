"""A review as frozen values: what the screens show and the reports print. Its names are those of the JSON document."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.project.configuration import Configuration, Requirement
    from locklens.trust.model import Signer


class ChangeKind(StrEnum):
    """What happened to a provider; each has exactly one. Declared from the most to the least alarming."""

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


class Bump(StrEnum):
    """The most significant part of the version that differs."""

    MAJOR = "major"
    MINOR = "minor"
    PATCH = "patch"
    PRERELEASE = "prerelease"
    METADATA = "metadata"


class Proof(StrEnum):
    """What is known of a hash, best first."""

    SIGNED = "signed"
    COMPUTED = "computed"
    REPORTED = "reported"
    MIRROR = "mirror"
    STALE = "stale"
    UNKNOWN = "unknown"


_EXPLAINED = frozenset({Proof.SIGNED, Proof.COMPUTED, Proof.REPORTED})


class Severity(StrEnum):
    """How much a finding matters, worst first. OFF is for rules that a policy silenced."""

    BLOCK = "block"
    WARN = "warn"
    INFO = "info"
    OFF = "off"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class LockStatus(StrEnum):
    """What happened to a root's lock file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    INVALID = "invalid"


class LookupAnswer(StrEnum):
    """What came of asking a registry; what is remembered counts as given, and so does a no."""

    GIVEN = "given"
    FAILED = "failed"
    NOT_ASKED = "not asked"


class HashFact(Struct, frozen=True):
    """One hash of the lock file and what is known of it; `platform` is None where nothing tells."""

    hash: str
    platform: str | None = None
    proof: Proof = Proof.UNKNOWN

    @property
    def is_explained(self) -> bool:
        """Whether it is traced to a fact."""
        return self.proof in _EXPLAINED


class Evidence(Struct, frozen=True):
    """How far the facts behind a change are known.

    Attributes:
        as_of: When the oldest answer that they rest on was given, ISO 8601 in UTC; None without any answer.
        problems: Why not all is known, each a sentence without its full stop.
        hint: What would help, "" for nothing.
        answer: What came of asking about the new version.
        to_prove: How many packages it takes at most to decide the `h1` that are not proven.
        to_prove_bytes: Their size together, None where it is not known.
        offered: The platforms of which the new version has a package that somebody vouches for; None where that is not
            known.
        hashed: Those of them whose `h1` is known, locked or not.
        released: The day of the new version's release, ISO 8601, as the registry says; None where nobody says, or
            nobody asked: without a cooldown it does not matter.
        days: Since then.
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


class Finding(Struct, frozen=True):
    """One rule's verdict.

    Attributes:
        line: From 1; None where the finding is about the file as a whole.
        column: From 1; known for syntax errors.
        provider: Set where the finding is about one whose change is not listed, which would say it.
    """

    rule: str
    severity: Severity
    message: str
    file: str
    line: int | None = None
    column: int | None = None
    accepted: str | None = None
    provider: ProviderAddress | None = None


class Change(Struct, frozen=True):
    """What happened to one provider in one root.

    Attributes:
        id: 16 hex digits over address, both versions and both hash sets: an acceptance or a mark holds for exactly
            this change.
        group: The same over the `zh` sets alone: changes of one group in several roots are one decision.
        moved_from: The address before, for kind MOVED.
        kept: The hashes that are on both sides.
        explained: How many of `added` are traced to a fact.
        evidence: None until the registry was asked, or it was settled that it is not.
        old_signer: Who signed the old version, None where that is not known.
        new_signer: Who signed the new one, likewise.
        required_by: Who asks for the provider on the new side; empty until the configuration was read.
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
    explained: int = 0
    evidence: Evidence | None = None
    old_signer: Signer | None = None
    new_signer: Signer | None = None
    required_by: tuple[Requirement, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def severity(self) -> Severity | None:
        """That of the worst finding; None without findings."""
        return worst(self.findings)

    @property
    def locked(self) -> tuple[HashFact, ...]:
        """What is known of each hash that is locked now, in the lock file's order."""
        facts = {fact.hash: fact for fact in (*self.added, *self.kept)}
        return tuple(facts[text] for text in dict.fromkeys(self.new.hashes)) if self.new is not None else ()


class ToolChange(Struct, frozen=True):
    """Another tool than before; `has_migrated` where the providers themselves are of its registry by now."""

    before: Dialect
    now: Dialect
    has_migrated: bool


class Conversion(Struct, frozen=True):
    """What git does to a file on checkout.

    Attributes:
        attribute: The cause, such as `filter=lfs`.
        is_new: Whether the old side's attributes are others.
    """

    attribute: str
    is_new: bool


class Unreviewed(Struct, frozen=True):
    """Something that is no file of the repository, and was not read.

    Attributes:
        what: Such as "a submodule (A -> B)".
        blocks: Whether the change has it stand for what a root is made of.
    """

    what: str
    blocks: bool


class LockedPlace(Struct, frozen=True):
    """Where a version is locked: lock file, line from 1, and whether that is the old side's file."""

    lock_file: str
    line: int
    is_base: bool = False


class RootContext(Struct, frozen=True):
    """What a root is judged by beside its own files and the facts about releases.

    Attributes:
        policy: The one that counts.
        tool_change: Set where the root went over to the other tool.
        converted: Its lock file and configuration files that git converts on checkout, by path.
        unreviewed: What stands in the place of the root or of its files and was not read, by path.
        rivals: Where either side has other packages locked of a version that a change brings, by provider: the first
            places.
        vendored: Packages that the change brings into the root's `terraform.d/plugins`: paths of files.
    """

    policy: Policy = Policy()
    tool_change: ToolChange | None = None
    converted: Mapping[str, Conversion] = {}
    unreviewed: Mapping[str, Unreviewed] = {}
    rivals: Mapping[ProviderAddress, Sequence[LockedPlace]] = {}
    vendored: tuple[str, ...] = ()


class RootReview(Struct, frozen=True):
    """One root module's lock file, compared.

    Attributes:
        path: The root's folder relative to the repository's top, "" for the top itself.
        lock_file: The lock file's path, likewise.
        renamed_from: The folder that the lock file was in on the old side, where it moved.
        format_only: All providers are unchanged, yet the bytes differ.
        old: The lock file as it was read on the old side; absent where there was none.
        new: On the new side, by the rules of `tool`.
        configuration: None until it was read.
        context: What else it is judged by.
        changes: Worst first.
        findings: Those that are about no single listed change.
    """

    path: str
    lock_file: str
    tool: Dialect
    status: LockStatus
    format_only: bool
    old: LockFile
    new: LockFile
    changes: tuple[Change, ...]
    findings: tuple[Finding, ...] = ()
    renamed_from: str | None = None
    configuration: Configuration | None = None
    context: RootContext = RootContext()

    @property
    def is_rewritten(self) -> bool:
        """Whether the bytes of the lock file differ between the sides."""
        return self.old.data != self.new.data or self.old.exists != self.new.exists

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The root's own findings and those of its changes."""
        return self.findings + tuple(finding for change in self.changes for finding in change.findings)

    @property
    def severity(self) -> Severity | None:
        """That of the worst finding; None without findings."""
        return worst(self.all_findings)


class SideName(Struct, frozen=True):
    """What a side of the comparison is called; `revision` is a full commit id or None."""

    kind: str
    name: str
    revision: str | None

    @property
    def tip_name(self) -> str:
        """The revision that was named, also where its fork point is compared: "main" of "main...HEAD"."""
        return self.name.partition("...")[0]


class PolicySide(StrEnum):
    """Where a policy was read.

    It is the base's, because a change must not be judged by rules that it brings along. Where there is only one side,
    a folder without git, it is that side's.
    """

    BASE = "base"
    HEAD = "head"
    GIVEN = "given"
    """Named on the command line."""
    NONE = "none"


class HostState(Struct, frozen=True):
    """Whether a registry was asked, when (ISO 8601), what went wrong, and what would have it asked, "" for nothing."""

    host: str
    asked: bool
    as_of: str | None = None
    error: str | None = None
    hint: str = ""


class Review(Struct, frozen=True):
    """The whole comparison.

    Attributes:
        at: ISO 8601 in UTC.
        offline: Whether no registry was to be asked.
        roots: Those of which the lock file or the configuration changed.
        lock_files: How many there are on the new side, changed or not.
        notes: What limits the whole review, each a sentence: gpg is missing, a setting cannot be read.
        policy: By which it is judged.
        policy_side: Where that was read.
        base_hosts: The registries that the base's lock files vouch for, in comparison form; of a fork point, its tip's.
    """

    at: str
    offline: bool
    hosts: tuple[HostState, ...]
    base: SideName
    head: SideName
    roots: tuple[RootReview, ...]
    lock_files: int = 0
    notes: tuple[str, ...] = ()
    policy: Policy = Policy()
    policy_side: PolicySide = PolicySide.NONE
    base_hosts: frozenset[str] = frozenset()

    @property
    def changes(self) -> tuple[Change, ...]:
        """All listed changes that are changes."""
        return tuple(
            change for root in self.roots for change in root.changes if change.kind is not ChangeKind.UNCHANGED
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of all roots."""
        return tuple(finding for root in self.roots for finding in root.all_findings)

    def fails(self, threshold: str) -> bool:
        """Whether there is a finding that counts at a severity or above; nothing fails at "never"."""
        found = worst(self.findings)
        return threshold != "never" and found is not None and found.rank <= Severity(threshold).rank

    @property
    def verdict(self) -> str:
        """Block, warn or ok: the worst that counts."""
        found = worst(self.findings)
        return found.value if found in {Severity.BLOCK, Severity.WARN} else "ok"


def worst(findings: tuple[Finding, ...]) -> Severity | None:
    """The severity of the worst finding that nobody accepted."""
    return min(
        (finding.severity for finding in findings if finding.accepted is None), key=lambda one: one.rank, default=None
    )
