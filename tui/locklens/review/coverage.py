"""On which platforms a locked provider installs, by the way its packages arrive. Pure.

From the registry and from packed mirrors a platform's `zh` or `h1` is enough; what is unpacked already, in a plugin
cache or an unpacked mirror, is known by its `h1` alone. Most lock files hold hashes of which nobody can tell the
platform, so that there are three answers: covered, not covered, and nobody knows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hashes import Scheme, has_scheme, is_well_formed, registry_manifests
from locklens.policy import InstallPath
from locklens.review.model import Proof

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from locklens.policy import Policy
    from locklens.review.model import Change, HashFact

_MIRRORS = frozenset({InstallPath.PACKED_MIRROR, InstallPath.UNPACKED_MIRROR})

PATH_NAMES: Mapping[InstallPath, str] = {
    InstallPath.DIRECT: "the registry",
    InstallPath.PLUGIN_CACHE: "a plugin cache",
    InstallPath.PACKED_MIRROR: "a packed mirror",
    InstallPath.UNPACKED_MIRROR: "an unpacked mirror",
}
"""What a platform installs from, in words."""


class LockedHashes(Struct, frozen=True):
    """The hashes that are locked of one version, and what is known of its release.

    Attributes:
        facts: Of the hashes.
        offered: Platforms of which the release has a package; None where nobody knows.
        hashed: Those of them whose `h1` is known, locked or not.
    """

    facts: tuple[HashFact, ...]
    offered: frozenset[str] | None = None
    hashed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, change: Change) -> LockedHashes:
        """What is locked now."""
        evidence = change.evidence
        if evidence is None or evidence.offered is None:
            return cls(change.locked)
        return cls(change.locked, frozenset(evidence.offered), frozenset(evidence.hashed))

    @property
    def platforms(self) -> tuple[str, ...]:
        """All that are known, in order."""
        return tuple(sorted({fact.platform for fact in self.facts if fact.platform} | (self.offered or frozenset())))


class PathCover(Struct, frozen=True, dict=True):
    """Which of some platforms install on one path.

    Attributes:
        covered: Surely.
        missing: Surely not.
        doubtful: Nobody knows.
        spare: How many hashes there are that may be of a doubtful platform, each of one at most.
    """

    path: InstallPath
    covered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    spare: int = 0

    @cached_property
    def lacks(self) -> frozenset[str]:
        """Those that are missing."""
        return frozenset(self.missing)

    @cached_property
    def doubts(self) -> frozenset[str]:
        """Those of which nobody knows."""
        return frozenset(self.doubtful)

    @property
    def at_least_missing(self) -> int:
        """How many of the platforms are not covered, whatever the spare hashes are of."""
        return len(self.missing) + max(0, len(self.doubtful) - self.spare)


def cover(locked: LockedHashes, path: InstallPath, platforms: Iterable[str]) -> PathCover:
    """Returns which platforms install on a path.

    A lock entry without any hash is nobody's: the tools take whatever they find, and record it.

    Args:
        locked: What is locked.
        path: How packages arrive.
        platforms: Those in question, such as "linux_amd64".
    """
    wanted = tuple(dict.fromkeys(platforms))
    if not locked.facts:
        return PathCover(path, doubtful=wanted, spare=len(wanted))
    counted = [fact for fact in locked.facts if _counts(fact, path)]
    own = {fact.platform for fact in counted}
    spare = sum(fact.platform is None and _may_be_a_package(fact, locked, path) for fact in counted)
    answers: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for platform in wanted:
        answers[_is_covered(platform, locked, path, own, spare)].append(platform)
    return PathCover(path, tuple(answers[True]), tuple(answers[False]), tuple(answers[None]), spare)


def _is_covered(
    platform: str, locked: LockedHashes, path: InstallPath, own: Collection[str | None], spare: int
) -> bool | None:
    if platform in own:
        return True
    if not spare:
        return False
    if path in _MIRRORS or locked.offered is None:
        return None
    # The publisher's package is known, and so are its hashes: what else is locked is not of this platform.
    return False if platform not in locked.offered or platform in locked.hashed else None


def _counts(fact: HashFact, path: InstallPath) -> bool:
    return is_well_formed(fact.hash) and (has_scheme(fact.hash, Scheme.H1) or not path.needs_h1)


def _may_be_a_package(fact: HashFact, locked: LockedHashes, path: InstallPath) -> bool:
    """Whether a hash of which nobody knows the platform may let one install."""
    if fact.hash in registry_manifests():
        return False
    if locked.offered is None or path in _MIRRORS:
        # A mirror may hold a package that the publisher does not list any more.
        return fact.proof is not Proof.SIGNED
    return has_scheme(fact.hash, Scheme.H1) and not locked.offered <= locked.hashed


class ProviderCoverage(Struct, frozen=True, dict=True):
    """How a locked provider does on all paths that are used.

    Attributes:
        platforms: Those in question: the wanted ones, or without any those that are known.
        is_wanted: Whether they are the wanted ones.
        paths: In the order in which paths are shown.
    """

    platforms: tuple[str, ...]
    is_wanted: bool
    paths: tuple[PathCover, ...]

    @cached_property
    def covered(self) -> tuple[str, ...]:
        """Those that surely install on every path."""
        on_each = [frozenset(path.covered) for path in self.paths]
        return tuple(one for one in self.platforms if all(one in own for own in on_each))

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Those that surely do not install on some path."""
        return tuple(one for one in self.platforms if any(one in path.lacks for path in self.paths))

    @cached_property
    def doubtful(self) -> tuple[str, ...]:
        """All others."""
        told = frozenset((*self.covered, *self.missing))
        return tuple(one for one in self.platforms if one not in told)

    @property
    def is_short(self) -> bool:
        """Whether it surely does not do for all."""
        return any(path.at_least_missing for path in self.paths)

    def paths_without(self, platform: str) -> tuple[InstallPath, ...]:
        """The paths on which a platform surely does not install."""
        return tuple(one.path for one in self.paths if platform in one.lacks)

    def paths_in_doubt(self, platform: str) -> tuple[InstallPath, ...]:
        """The paths of which nobody knows whether it installs there."""
        return tuple(one.path for one in self.paths if platform in one.doubts)


def coverage(change: Change, policy: Policy) -> ProviderCoverage:
    """Returns how what is locked now does: for the wanted platforms, or where none is wanted for all that are known."""
    locked = LockedHashes.of(change)
    wanted = tuple(str(one.platform) for one in policy.platforms)
    platforms = wanted or locked.platforms
    return ProviderCoverage(
        platforms, bool(wanted), tuple(cover(locked, path, platforms) for path in policy.paths_in_order)
    )
