"""The health of many roots as values: checks, the roots that each concerns, and the spread of versions. Pure."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens.policy import POLICY_FILE, Policy
from locklens.review import HashCount
from locklens.review.findings import Finding, Severity, by_severity, worst
from locklens.review.rules.catalogue import RULES
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.review.model import Review, RootReview
    from locklens.versions import Constraints, Version


UNREAD = "not all that requires providers can be read"
"""Why a check is unknown where not all requirements are read; `RootReach.unread` has the reason of each root."""


class Need(StrEnum):
    """What a check cannot be made without. All but those of FILES need the entries of the lock file, too."""

    FILES = "files"
    ENTRIES = "entries"
    RELEASE = "the registry's answer about the locked release"
    COVERAGE = "the platforms of the locked hashes"
    PACKAGES = "the same, with the text of each manifest"
    DATES = "the dates of releases"
    USERS = "what requires each entry"
    REQUIREMENTS = "all requirements"
    CONSTRAINTS = "all constraints"
    ADVISORIES = "the provider's own versions in the advisories"
    INSPECTION = "the inside of a package"
    BUILDS = "the inside of all packages"

    @property
    def is_of_files(self) -> bool:
        """True if the files of the roots are all that it takes."""
        return self in {Need.FILES, Need.ENTRIES, Need.USERS, Need.REQUIREMENTS, Need.CONSTRAINTS}


class Check(Struct, frozen=True):
    """One row of the health.

    Attributes:
        title: Up to 35 characters: the screen has no room for more.
        needs: What it cannot be made without.
        command: The command that fixes it in all of its roots, or lists more about it; "" if there is none.
        asked_by: The field of the policy, a key of `_UNASKED`, without which nobody asks for it; "" for none.
    """

    id: str
    title: str
    rules: tuple[str, ...]
    needs: Need
    command: str = ""
    asked_by: str = ""
    options: tuple[str, ...] = ()

    @property
    def is_by_the_way(self) -> bool:
        """True if it tells of the packages that happened to be inspected, and no policy asks for more."""
        return self.needs is Need.BUILDS and not self.asked_by

    def objection(self, policy: Policy) -> str:
        """Return why the policy does not ask for it; "" if it does."""
        if self.asked_by and getattr(policy, self.asked_by) == getattr(Policy(), self.asked_by):
            return _UNASKED[self.asked_by]
        if all(policy.severity.get(rule, RULES[rule].severity.value) == "off" for rule in self.rules):
            rule, *_ = self.rules
            return f'{", ".join(self.rules)} off: [severity] {rule} = "warn" in {POLICY_FILE} turns it on'
        return ""


_UNASKED = {
    "allow": "the policy has no allow list",
    "platforms": "no platforms are required by the policy",
    "toolchain": f"no toolchain in {POLICY_FILE}",
    "trust": "the policy pins no keys",
}
"""What is said where a field of the policy is not set."""


CHECKS = (
    Check("syntax", "lock file cannot be read", ("LK019",), Need.FILES),
    Check("unread-configuration", "configuration cannot be read", ("LK041",), Need.FILES),
    Check("packages-differ", "same version, different hashes", ("LK023",), Need.ENTRIES, "doctor"),
    Check(
        "not-authentic",
        "release contradicted or refused",
        ("LK001", "LK002", "LK026", "LK030", "LK033"),
        Need.PACKAGES,
        "hashes",
    ),
    Check("packages-in-repository", "packages or .terraform in git", ("LK036",), Need.FILES),
    Check("not-satisfied", "constraint not satisfied", ("LK005",), Need.CONSTRAINTS, "upgrade"),
    Check("not-locked", "required but not locked", ("LK006",), Need.REQUIREMENTS, "lock"),
    Check("not-allowed", "not on the allow list", ("LK022",), Need.ENTRIES, asked_by="allow"),
    Check("platform-missing", "required platform missing", ("LK009",), Need.COVERAGE, "lock", asked_by="platforms"),
    Check("no-zh", "only h1 hashes, none is signed", ("LK020",), Need.ENTRIES, "lock"),
    Check("malformed", "malformed or unknown hash", ("LK017",), Need.ENTRIES),
    Check("orphan", "orphan, nothing requires it", ("LK007",), Need.USERS, "prune"),
    Check("signer", "unsigned, unexpected or expired key", ("LK010", "LK011", "LK012"), Need.RELEASE, "keys"),
    Check("signer-not-pinned", "signer not pinned", ("LK039",), Need.RELEASE, "keys", asked_by="trust"),
    Check("other-host", "registry of the other tool", ("LK015", "LK040"), Need.ENTRIES, "upgrade"),
    Check("own-advisory", "advisory of the provider itself", ("LK043",), Need.ADVISORIES, "upgrade"),
    Check("advisories", "advisories of modules inside", ("LK042",), Need.INSPECTION),
    Check("odd-platform", "package unlike its platforms'", ("LK044",), Need.BUILDS),
    Check("toolchain", "older Go than required", ("LK045",), Need.BUILDS, "upgrade", asked_by="toolchain"),
    Check("replaced-module", "replaced modules inside", ("LK046",), Need.BUILDS),
    Check("not-canonical", "formatting differs", ("LK018",), Need.ENTRIES, "format"),
    Check("lock-missing", "lock file missing or ignored", ("LK037",), Need.FILES, "lock"),
    # Age alone is no reason to take a version that needs a decision, such as one that another key signed.
    Check("behind", "180 days behind newest in range", ("LK038",), Need.DATES, "upgrade", options=("--safe",)),
    Check("module-not-exact", "module version not exact", ("LK029",), Need.FILES),
    Check("non-ascii", "non-ASCII provider name", ("LK034",), Need.ENTRIES),
)
"""In display order: the most alarming first."""

_COUNTED = frozenset(rule for check in CHECKS for rule in check.rules)

WITHOUT_PACKAGE = f"select a version that has one, or take the platform out of {POLICY_FILE}"
"""The next step where a release has no package for a required platform."""


class CheckResult(Struct, frozen=True):
    """The roots that a check concerns.

    Attributes:
        roots: Their folders, in order.
        example: The message of the first of the worst findings; "" without any.
        severity: The worst severity that counts; None without findings.
        unknown_in: The roots for which the check is unknown, by the reason, a clause; none if it was not made.
    """

    check: Check
    roots: tuple[str, ...] = ()
    providers: tuple[ProviderAddress, ...] = ()
    severity: Severity | None = None
    example: str = ""
    unknown_in: Mapping[str, tuple[str, ...]] = {}

    @property
    def unknown(self) -> int:
        """The number of roots for which the check is unknown."""
        return len({root for roots in self.unknown_in.values() for root in roots})

    @property
    def reason(self) -> str:
        """Why it is unknown, or was not made; "" if it is known."""
        return "; ".join(self.unknown_in)

    @property
    def is_off(self) -> bool:
        """True if it was not made in any root: the policy asks for nothing of its kind, or no database is kept."""
        return bool(self.reason) and not self.unknown and not self.roots


class Spread(Struct, frozen=True):
    """The locked versions of a provider, the newest first, each with the number of roots."""

    provider: ProviderAddress
    versions: tuple[tuple[Version, int], ...]

    @property
    def roots(self) -> int:
        """The number of roots that lock it."""
        return sum(number for _, number in self.versions)


class RootReach(Struct, frozen=True):
    """What `lock` and `upgrade` can do in a root.

    Attributes:
        unread: Why not all that requires providers can be read, a clause; "" if it can.
        unreadable: What they need of it and cannot read, a clause; "" if nothing.
        unlockable: Why `lock` locks nothing at all, a clause; "" if it locks what is required.
        required: The required providers: `lock` locks no others.
        of_init: Those of them that `lock` leaves to `init`: only the state or test files require them.
        constraints: The constraints of each provider that can be upgraded; where there is no configuration, those that
            the lock file records.
        unrequired: Why any other provider is not upgraded or locked, a clause.
        unselectable: Why no version of a required provider can be selected, or locked for the required platforms, a
            clause.
        undated: Why it is unknown how far behind a provider is, a clause.
    """

    unread: str = ""
    unreadable: str = ""
    unlockable: str = ""
    required: frozenset[ProviderAddress] = frozenset()
    constraints: Mapping[ProviderAddress, Constraints] = {}
    unrequired: str = ""
    of_init: frozenset[ProviderAddress] = frozenset()
    unselectable: Mapping[ProviderAddress, str] = {}
    undated: Mapping[ProviderAddress, str] = {}


class Health(Struct, frozen=True):
    """The health of the roots below a folder.

    Attributes:
        folder: The folder, as the user wrote it.
        top: The folder on disk that the review's paths are relative to.
        review: The roots with their findings; a root without a lock file has only such about that.
        checks: A result for every check, in the order of CHECKS.
        spread: By the number of roots, the most first.
        signers: The signer of the locked version of a provider in a root, by the root's path and the provider; without
            those that are not known.
        reach: By the folder of a root what `lock` and `upgrade` can do in it.
        hashes: All locked hashes; no check judges those that are not verified.
        is_git: True in a git repository.
    """

    folder: str
    top: str
    review: Review
    checks: tuple[CheckResult, ...]
    spread: tuple[Spread, ...]
    signers: Mapping[tuple[str, ProviderAddress], str] = field(default_factory=dict)
    reach: Mapping[str, RootReach] = field(default_factory=dict)
    hashes: HashCount = HashCount()
    is_git: bool = True

    @property
    def undecided(self) -> frozenset[str]:
        """The folders of the roots for which some check is unknown that is not made by the way."""
        checks = (one for one in self.checks if not one.check.is_by_the_way)
        return frozenset(root for one in checks for roots in one.unknown_in.values() for root in roots)

    @property
    def ok(self) -> int:
        """The number of roots without a warning or worse that are not `undecided`."""
        return len(self._quiet) - self.unknown

    @property
    def unknown(self) -> int:
        """The number of roots without a warning or worse that are `undecided`."""
        return len({root.path for root in self._quiet} & self.undecided)

    @property
    def worse(self) -> int:
        """The number of roots with a warning or worse: with `ok` and `unknown` these are all roots."""
        return len(self.review.roots) - len(self._quiet)

    @property
    def roots_in_words(self) -> str:
        """The number of roots, and of those without a lock file, which a review does not count."""
        unlocked = sum(not root.new.exists for root in self.review.roots)
        return f"{counted(len(self.review.roots), 'root')}{f', {unlocked} without a lock file' if unlocked else ''}"

    @property
    def counts(self) -> dict[Severity, int]:
        """The number of findings of each severity, as the checks have them: without those that say only "unknown"."""
        return by_severity(
            finding.severity
            for root in self.review.roots
            for finding in root.findings
            if finding.accepted is None and is_counted(finding) and not is_undecided(finding)
        )

    @property
    def _quiet(self) -> list[RootReview]:
        return [root for root in self.review.roots if root.severity is None or not root.severity.is_serious]

    @property
    def verdict(self) -> str:
        """The worst severity as block or warn; else ok where no root is `undecided`, or unknown."""
        if self.review.verdict != "ok":
            return self.review.verdict
        return "ok" if self.review.roots and not self.undecided else "unknown"

    def fails(self, threshold: str | None) -> bool:
        """True if a finding counts at the threshold or above; None for the policy's."""
        return self.review.fails(threshold)


def is_counted(finding: Finding) -> bool:
    """True if a check counts a finding."""
    return finding.rule in _COUNTED


def results(
    roots: Sequence[RootReview], unknown: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
) -> tuple[CheckResult, ...]:
    """Return the result of every check; `unknown` has by check id what `CheckResult.unknown_in` is."""
    found: dict[str, list[tuple[RootReview, Finding]]] = {}
    for root in roots:
        for finding in root.findings:
            if not is_undecided(finding):
                found.setdefault(finding.rule, []).append((root, finding))
    return tuple(_result(check, found, unknown.get(check.id, {})) for check in CHECKS)


def is_undecided(finding: Finding) -> bool:
    """True if a finding says only that it is unknown whether providers are required."""
    return finding.rule == "LK007" and (finding.provider is None or finding.case == "unknown")


def _result(
    check: Check, found: Mapping[str, Sequence[tuple[RootReview, Finding]]], unknown: Mapping[str, tuple[str, ...]]
) -> CheckResult:
    own = sorted(
        (one for rule in check.rules for one in found.get(rule, ())),
        key=lambda one: (one[1].severity.rank, one[0].path),
    )
    providers = {finding.provider for _, finding in own if finding.provider is not None}
    return CheckResult(
        check,
        tuple(sorted({root.path for root, _ in own})),
        tuple(sorted(providers)),
        worst(tuple(finding for _, finding in own)),
        own[0][1].message if own else "",
        unknown,
    )


def unread_roots(checks: Iterable[CheckResult], health: Health) -> dict[str, list[str]]:
    """Return why not all that requires providers can be read, each reason with the roots where a check needs it."""
    needed = {root for one in checks for root in one.unknown_in.get(UNREAD, ())}
    found: dict[str, list[str]] = {}
    for root, reach in health.reach.items():
        if root in needed:
            found.setdefault(reach.unread, []).append(root)
    return found


def spread_of(roots: Iterable[RootReview]) -> tuple[Spread, ...]:
    """Return the locked versions of every provider."""
    counts: dict[ProviderAddress, Counter[Version]] = {}
    for root in roots:
        for entry in root.new.entries:
            counts.setdefault(entry.address, Counter())[entry.version] += 1
    from locklens.versions import precedence

    made = (
        Spread(
            address, tuple(sorted(found.items(), key=lambda item: (precedence(item[0]), str(item[0])), reverse=True))
        )
        for address, found in counts.items()
    )
    return tuple(sorted(made, key=lambda one: (-one.roots, one.provider.sort_key)))
