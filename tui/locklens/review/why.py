"""The reasons for a provider and its version, in one or more roots, and the phrases that reports and screens share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lines import seen_from
from locklens.policy import Policy
from locklens.project.configuration import Configuration, Contributor, Requirement, by_trouble
from locklens.review.findings import Finding, Severity, worst
from locklens.selection import Selection
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.selection import Explanation, HeldBack, Hold, Newest, RequiringModule, VersionChoices
    from locklens.versions import Version

NOT_ASKED = "the registry was not asked"


class RootWhy(Struct, frozen=True):
    """The answer for one root.

    Attributes:
        path: Its folder, "" for the top.
        lock_file: The path of the lock file; None without one.
        findings: The findings of the lock file's entry, and the errors that keep the file from being read.
        silence: Why the registry gave no answer; "" if it did.
        is_read: False if errors keep the lock file from being read, whatever severity the policy gives them.
        ages: Days since the release of each version, where the policy asks for them and they are known.
        as_of: The time of the registry's answer, ISO 8601 in UTC; "" if it is unknown.
        moved: The old and the new address, one of them the provider's, where OpenTofu takes the version over from an
            entry of Terraform's registry; None where it does not.
        pinned: The versions that were looked up and are signed by a key that the policy pins.
        targets: The one version that a row of the Upgrade screen selects, or None for no version; () elsewhere.
    """

    path: str
    lock_file: str | None
    tool: Dialect
    configuration: Configuration
    explanation: Explanation
    findings: tuple[Finding, ...]
    silence: str = NOT_ASKED
    is_read: bool = True
    ages: Mapping[Version, int] = {}
    as_of: str = ""
    policy: Policy = Policy()
    pinned: frozenset[Version] = frozenset()
    moved: tuple[ProviderAddress, ProviderAddress] | None = None
    targets: tuple[Version | None] | tuple[()] = ()

    def is_pin_open(self, versions: Iterable[Version]) -> bool:
        """True if a pin covers the provider, and not each of some versions is known to be signed by a pinned key."""
        return self.policy.pin(self.explanation.address) is not None and not self.pinned.issuperset(versions)

    @property
    def command(self) -> str:
        """The command that upgrades the provider, or that locks it where there is no lock file to upgrade."""
        verb = "upgrade" if self.lock_file is not None else "lock"
        return f"`locklens {verb} {self.explanation.address.short(self.tool.default_host)}`"


class Unsure(Struct, frozen=True):
    """A root that may require or lock the provider, with the reason for the doubt."""

    path: str
    reason: str


class Why(Struct, frozen=True):
    """The answer for all roots.

    Attributes:
        asked: The provider as it was typed.
        roots: Those that require it or have it locked.
        unsure: Others that may require or lock it.
        others: The number of remaining roots.
    """

    asked: str
    roots: tuple[RootWhy, ...]
    unsure: tuple[Unsure, ...] = ()
    others: int = 0

    def fails(self, threshold: str) -> bool:
        """True if a finding counts at a severity or above; conflicting constraints block."""
        severities = [worst(root.findings) for root in self.roots]
        severities += [Severity.BLOCK for root in self.roots if root.explanation.conflicts]
        return threshold != "never" and any(one and one.rank <= Severity(threshold).rank for one in severities)


NAMES_SHOWN = 8


def version_range(versions: Sequence[Version]) -> str:
    """Format versions, given newest first, as one or as a range."""
    if len(versions) == 1:
        return str(versions[0])
    return f"{versions[-1]} to {versions[0]} ({len(versions)} versions)"


def held_words(holds: Sequence[Hold]) -> str:
    """What holds versions above the locked one back, or that nothing does."""
    return f"{HELD_BACK} {'; '.join(map(str, holds))}" if holds else NOT_HELD


def kept_words(locked: Version, newer: Sequence[HeldBack]) -> str:
    """Why a version stays locked: what holds the newer ones back, or that none is listed."""
    held = [group for group in newer if group.holds]
    if not held:
        return f"no version newer than {locked} is listed"
    reasons = (f"{group.newest} is {HELD_BACK} {', '.join(map(str, group.holds))}" for group in held[:2])
    return f"kept at {locked}; {'; '.join(reasons)}"


HELD_BACK = "held back:"
NOT_HELD = "not held back"


def upgrade_words(offer: VersionChoices, upgraded: Selection) -> str:
    """The selection of `upgrade`, and that of `init -upgrade` with what holds it back, where they differ."""
    selected = f"selects {offer.recommended or 'nothing'}"
    if offer.recommended == upgraded.version:
        return selected
    held = held_words(offer.holds(upgraded.version)) if offer.holds(upgraded.version) else "held back"
    return f"{selected}; {upgraded.version}, the newest in range, is {held}"


def target_words(offer: VersionChoices, target: Version | None) -> str:
    """The version that a row of the Upgrade screen selects, and the newest in range, where that is another."""
    upgraded = offer.upgraded
    words = str(target or "none")
    if target is not None and not upgraded.constraints.admits(target):
        return f"{words}, which the constraints exclude: the upgrade edits them"
    if not isinstance(upgraded, Selection) or upgraded.version == target:
        return words
    holds = offer.holds(upgraded.version)
    return f"{words}; {upgraded.version} is the newest in range{f', {held_words(holds)}' if holds else ''}"


def unrequired_words(root: RootWhy) -> str:
    """What `upgrade` does with a provider that nothing is known to require."""
    if root.configuration.unknown_reason:
        return "could not determine whether it is required here, so upgrade fails"
    if root.moved is not None:
        return f"not required here: the upgrade of {root.moved[1]} replaces its entry"
    if root.explanation.locked is None:
        return "neither required nor locked here, so upgrade skips it"
    return "not required here, so upgrade skips it; prune removes it"


def silence_words(silence: str) -> str:
    """The reason why a registry gave no versions, with its consequence."""
    return f"{silence}, so newer versions are unknown"


def finding_title(finding: Finding) -> str:
    """The title of a finding."""
    from locklens.review.rules.catalogue import wording_of

    return wording_of(finding).title


def newest_words(newest: Newest) -> str:
    """The newest versions of each kind."""
    kinds = (
        ("newest", newest.overall),
        ("in range", newest.in_range),
        ("same major", newest.same_major),
        ("same minor", newest.same_minor),
    )
    return ", ".join(f"{name} {version}" for name, version in kinds if version is not None) or "lists no version"


def place_words(requirement: Requirement, folder: str = "") -> str:
    """The place of a requirement, relative to a root's folder."""
    return f"{seen_from(requirement.file, folder)}:{requirement.line}"


def module_names(modules: Sequence[str], configuration: Configuration) -> str:
    """The names of modules, by their calls."""
    if not any(modules):
        return "the root module"
    has_tests = any(name.endswith(configuration.dialect.test_suffixes) for name in configuration.files)
    shown = [name or "the root module" for name in modules[:NAMES_SHOWN]]
    shown = [f"{name} (a test)" if has_tests and name.startswith("test.") else name for name in shown]
    if len(modules) > NAMES_SHOWN:
        shown.append(f"{len(modules) - NAMES_SHOWN} more")
    return f"{'module' if len(modules) == 1 else 'modules'} {', '.join(shown)}"


def alike(askers: Iterable[RequiringModule]) -> list[tuple[list[str], RequiringModule]]:
    """Groups calls of one module."""
    found: dict[tuple[tuple[str, int], ...], tuple[list[str], RequiringModule]] = {}
    for asker in askers:
        places = tuple((one.file, one.line) for one in (*asker.declared, *asker.uses))
        found.setdefault(places, ([], asker))[0].append(asker.module)
    return list(found.values())


def kind_words(requirement: Requirement) -> str:
    """The kind of a requirement other than `required_providers`."""
    if requirement.contributor is Contributor.REQUIRED_PROVIDERS:
        return ""
    if requirement.contributor is Contributor.STATE:
        return f", because the state still has {subject_words(requirement)}"
    return f"  {subject_words(requirement)}"


def subject_words(requirement: Requirement) -> str:
    """The name of the requiring object."""
    subject = requirement.subject
    is_named = requirement.contributor not in {Contributor.RESOURCE, Contributor.IMPORT}
    return subject if is_named else f"{requirement.contributor} {subject}"


def uses_words(asker: RequiringModule, folder: str = "") -> str:
    """The number of uses in a module, with the first place relative to a root's folder."""
    first, count = asker.uses[0], sum(one.count for one in asker.uses)
    place = place_words(first, folder)
    if asker.declared:
        return f"used {count} times, first in {place}" if count > 1 else f"used once, in {place}"
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{place}  any version, used by {subject_words(first)}{more}"


def unseen_words(root: RootWhy, folder: str = "") -> Iterator[tuple[str, tuple[str, int] | None]]:
    """Yield unread sources of possible requirements, each with its place relative to a root's folder."""
    configuration = root.configuration
    for trouble, missing in by_trouble(configuration.missing_modules).items():
        verb = "is" if len(missing) == 1 else "are"
        way_on = f": run `{root.tool.command} get`" if missing[0].is_fetchable else ""
        yield f"{counted(len(missing), 'module')} that {verb} {trouble}{way_on}", None
        for module in missing[:NAMES_SHOWN]:
            where = f"{seen_from(module.file, folder)}:{module.line}"
            yield f"  {where}  module {module.call} from {module.source}", (module.file, module.line)
        if len(missing) > NAMES_SHOWN:
            yield f"  and {len(missing) - NAMES_SHOWN} more", None
    for problem in configuration.problems:
        if problem.is_error:
            file = seen_from(problem.file, folder)
            where = f"{file}:{problem.line}" if problem.line else file
            yield f"parts hidden by the error at {where}: {problem.summary}", (problem.file, problem.line or 1)
    if configuration.state.kind in {"remote", "unreadable"} and not root.explanation.askers:
        yield configuration.state.detail, None
    if configuration.has_files and configuration.undeclared_reason:
        yield configuration.undeclared_reason, None
