"""The health of many roots as values: checks, the roots that each concerns, and the spread of versions. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens.review.model import Finding, Review, RootReview, Severity, worst
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.versions import Version


class Check(Struct, frozen=True):
    """One row of the health.

    Attributes:
        id: Its name in documents.
        title: Up to 31 characters, which the screen has room for.
        rules: The rules whose findings it counts.
        command: The command that fixes it in all of its roots; "" if there is none.
        names_providers: True if the command takes the providers.
    """

    id: str
    title: str
    rules: tuple[str, ...]
    command: str = ""
    names_providers: bool = False


CHECKS = (
    Check("syntax", "lock file cannot be read", ("LK019",)),
    Check("unread-configuration", "configuration cannot be read", ("LK041",)),
    Check("packages-differ", "same version, different hashes", ("LK023",), "doctor"),
    Check("not-authentic", "release contradicted or refused", ("LK001", "LK002", "LK026", "LK030", "LK033"), "hashes"),
    Check("packages-in-repository", "packages in the repository", ("LK036",)),
    Check("not-satisfied", "constraint not satisfied", ("LK005",), "upgrade", names_providers=True),
    Check("not-locked", "required but not locked", ("LK006",), "lock"),
    Check("not-allowed", "not on the allow list", ("LK022",)),
    Check("platform-missing", "required platform missing", ("LK009",), "lock"),
    Check("no-zh", "only h1 hashes, none is signed", ("LK020",), "lock"),
    Check("malformed", "malformed or unknown hash", ("LK017",), "lock"),
    Check("orphan", "orphan, nothing requires it", ("LK007",), "prune"),
    Check("signer", "unsigned, unexpected or expired key", ("LK010", "LK011", "LK012"), "keys"),
    Check("signer-not-pinned", "signer not pinned", ("LK039",), "keys"),
    Check("other-host", "registry of the other tool", ("LK015", "LK040"), "upgrade", names_providers=True),
    Check("own-advisory", "advisory of the provider itself", ("LK043",), "upgrade", names_providers=True),
    Check("advisories", "advisories of modules inside", ("LK042",)),
    Check("odd-platform", "package unlike its platforms'", ("LK044",)),
    Check("toolchain", "older Go than required", ("LK045",), "upgrade", names_providers=True),
    Check("replaced-module", "replaced modules inside", ("LK046",)),
    Check("not-canonical", "formatting differs", ("LK018",), "format"),
    Check("lock-missing", "lock file missing or ignored", ("LK037",), "lock"),
    Check("behind", "180 days behind newest in range", ("LK038",), "upgrade", names_providers=True),
    Check("module-not-exact", "module version not exact", ("LK029",)),
    Check("non-ascii", "non-ASCII provider name", ("LK034",)),
)
"""In display order: the most alarming first."""

OF_REGISTRY = frozenset({"not-authentic", "platform-missing", "signer", "signer-not-pinned", "behind"})
"""The checks that need facts of registries."""

_COUNTED = frozenset(rule for check in CHECKS for rule in check.rules)


class CheckResult(Struct, frozen=True):
    """The roots that a check concerns.

    Attributes:
        roots: Their folders, in order.
        providers: The providers, in order; () where the findings are about files.
        example: The message of the first of the worst findings; "" without any.
        severity: The worst severity that counts; None without findings.
        unknown: The number of roots of which the check cannot say.
        reason: Why; "" if none.
    """

    check: Check
    roots: tuple[str, ...] = ()
    providers: tuple[ProviderAddress, ...] = ()
    severity: Severity | None = None
    example: str = ""
    unknown: int = 0
    reason: str = ""

    @property
    def is_off(self) -> bool:
        """True if it was not made in any root, because the policy asks for nothing of its kind."""
        return bool(self.reason) and not self.unknown and not self.roots


class Spread(Struct, frozen=True):
    """The locked versions of a provider, the newest first, each with the number of roots."""

    provider: ProviderAddress
    versions: tuple[tuple[Version, int], ...]

    @property
    def roots(self) -> int:
        """The number of roots that lock it."""
        return sum(number for _, number in self.versions)


class Health(Struct, frozen=True):
    """The health of the roots below a folder.

    Attributes:
        folder: The folder, as the user wrote it.
        top: The folder on disk that the review's paths are relative to.
        here: The current folder, relative to the top of the review's paths.
        review: The roots with their findings; a root without a lock file has only such about that.
        checks: A result for every check, in the order of CHECKS.
        spread: By the number of roots, the most first.
        signers: The signer of the locked version of a provider in a root, by the root's path and the provider; without
            those that are not known.
        undecided: The folders of the roots of which some check cannot say.
    """

    folder: str
    top: str
    here: str
    review: Review
    checks: tuple[CheckResult, ...]
    spread: tuple[Spread, ...]
    signers: Mapping[tuple[str, ProviderAddress], str] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()

    @property
    def ok(self) -> int:
        """The number of roots without a warning or worse, of which every check could be made."""
        return sum(root.path not in self.undecided for root in self._quiet)

    @property
    def unknown(self) -> int:
        """The number of roots without a warning or worse, of which some check cannot say."""
        return sum(root.path in self.undecided for root in self._quiet)

    @property
    def _quiet(self) -> list[RootReview]:
        return [root for root in self.review.roots if root.severity not in {Severity.BLOCK, Severity.WARN}]

    @property
    def verdict(self) -> str:
        """The worst severity as block or warn; else ok where every check of every root could be made, or unknown."""
        if self.review.verdict != "ok":
            return self.review.verdict
        return "ok" if self.review.roots and not self.undecided else "unknown"

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits of the answer, in sentences."""
        return tuple(
            f"{result.check.title}: unknown in {counted(result.unknown, 'root')} ({result.reason})"
            for result in self.checks
            if result.unknown
        )

    def fails(self, threshold: str | None) -> bool:
        """True if a finding counts at the threshold or above; None for the policy's."""
        return self.review.fails(threshold)


def is_counted(finding: Finding) -> bool:
    """True if a check counts a finding."""
    return finding.rule in _COUNTED


def results(roots: Sequence[RootReview], unknown: Mapping[str, tuple[int, str]] = {}) -> tuple[CheckResult, ...]:
    """Return the result of every check.

    Args:
        roots: The roots, with their findings.
        unknown: By check id the number of roots of which it cannot say, and why.
    """
    found: dict[str, list[tuple[RootReview, Finding]]] = {}
    for root in roots:
        for finding in root.findings:
            if not is_undecided(finding):
                found.setdefault(finding.rule, []).append((root, finding))
    return tuple(_result(check, found, unknown.get(check.id, (0, ""))) for check in CHECKS)


def is_undecided(finding: Finding) -> bool:
    """True if a finding says only that it is unknown whether providers are required."""
    return finding.rule == "LK007" and finding.provider is None


def _result(
    check: Check, found: Mapping[str, Sequence[tuple[RootReview, Finding]]], unknown: tuple[int, str]
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
        *unknown,
    )


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


def command_words(result: CheckResult, health: Health) -> tuple[str, ...]:
    """Return the command that fixes a check in all of its roots at once, as words; () if there is none."""
    check = result.check
    if not check.command or not result.roots:
        return ()
    # A relative path that leads up and down again would depend on the folders above the current one.
    is_elsewhere = health.here.partition("/")[0] == ".."
    words = ["locklens", *(["-C", health.top] if is_elsewhere else []), check.command]
    if check.names_providers:
        words += map(str, result.providers)
    if check.command == "lock":
        words += (word for each in health.review.policy.required for word in ("--platform", str(each)))
    import posixpath

    start = "." if is_elsewhere else health.here
    return (*words, "--", *(posixpath.relpath(path or ".", start) for path in result.roots))
