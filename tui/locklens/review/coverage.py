"""Platforms on which a locked provider installs, by install path. Pure.

From the registry and from packed mirrors a platform's `zh` or `h1` is enough; an unpacked package, in a plugin cache
or an unpacked mirror, needs its `h1`, and one in an OCI registry its `zh`. Most lock files hold hashes of unknown
platform, so there are three answers: covered, not covered, and unknown.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hashes import is_of_files, is_well_formed, registry_manifests
from locklens.policy import InstallPath, Policy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from locklens.review import HashFact
    from locklens.review.model import Change


PATH_NAMES: Mapping[InstallPath, str] = {
    InstallPath.DIRECT: "the registry",
    InstallPath.PLUGIN_CACHE: "a plugin cache",
    InstallPath.PACKED_MIRROR: "a packed mirror",
    InstallPath.UNPACKED_MIRROR: "an unpacked mirror",
    InstallPath.OCI_MIRROR: "an OCI mirror",
}
"""The source of packages on each path, in words."""


class LockedHashes(Struct, frozen=True):
    """The locked hashes of one version, with the facts about its release.

    Attributes:
        offered: Platforms with a package in the release; None if unknown.
        hashed: The offered platforms whose `h1` is known, locked or not.
    """

    facts: tuple[HashFact, ...]
    offered: frozenset[str] | None = None
    hashed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, change: Change) -> LockedHashes:
        """Return the hashes locked now."""
        evidence = change.evidence
        if evidence is None or evidence.offered is None:
            return cls(change.locked)
        return cls(change.locked, frozenset(evidence.offered), frozenset(evidence.hashed))

    @property
    def platforms(self) -> tuple[str, ...]:
        """All known platforms, in order."""
        return tuple(sorted({fact.platform for fact in self.facts if fact.platform} | (self.offered or frozenset())))

    @property
    def contradicts_release(self) -> bool:
        """True if the release is known, and a locked `zh` is not of it: `lock` adds no hashes to such an entry."""
        return self.offered is not None and any(
            fact.kind.contradicts and not is_of_files(fact.hash) for fact in self.facts
        )


class PathCover(Struct, frozen=True, dict=True):
    """The coverage of platforms on one path.

    Attributes:
        covered: Platforms that definitely install.
        missing: Platforms that definitely do not install.
        doubtful: Platforms for which it is unknown.
        spare: The number of hashes that may belong to a doubtful platform, each to one at most.
    """

    path: InstallPath
    covered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    spare: int = 0

    @cached_property
    def lacks(self) -> frozenset[str]:
        """The missing platforms as a set."""
        return frozenset(self.missing)

    @cached_property
    def doubts(self) -> frozenset[str]:
        """The doubtful platforms as a set."""
        return frozenset(self.doubtful)

    @property
    def platforms(self) -> int:
        """The number of platforms that the path is used for."""
        return len(self.covered) + len(self.missing) + len(self.doubtful)

    @property
    def at_least_missing(self) -> int:
        """The number of platforms that cannot be covered, for any assignment of the spare hashes."""
        return len(self.missing) + max(0, len(self.doubtful) - self.spare)


def cover(locked: LockedHashes, path: InstallPath, platforms: Iterable[str]) -> PathCover:
    """Return the coverage of platforms on a path.

    A lock entry without hashes excludes nothing: the tools accept any package, and record it.
    """
    distinct = tuple(dict.fromkeys(platforms))
    if not locked.facts:
        return PathCover(path, doubtful=distinct, spare=len(distinct))
    counted = [fact for fact in locked.facts if _counts(fact, path)]
    known = {fact.platform for fact in counted}
    spare = sum(fact.platform is None and _may_be_a_package(fact, locked, path) for fact in counted)
    answers: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for platform in distinct:
        answers[_is_covered(platform, locked, path, known, spare)].append(platform)
    return PathCover(path, tuple(answers[True]), tuple(answers[False]), tuple(answers[None]), spare)


def _is_covered(
    platform: str, locked: LockedHashes, path: InstallPath, known: Collection[str | None], spare: int
) -> bool | None:
    if platform in known:
        return True
    if not spare:
        return False
    if path.is_mirror or locked.offered is None:
        return None
    # The publisher's package and its hashes are known: no other locked hash belongs to this platform.
    return False if platform not in locked.offered or platform in locked.hashed else None


def _counts(fact: HashFact, path: InstallPath) -> bool:
    return is_well_formed(fact.hash) and not (path.needs_zh if is_of_files(fact.hash) else path.needs_h1)


def _may_be_a_package(fact: HashFact, locked: LockedHashes, path: InstallPath) -> bool:
    """True if a hash of unknown platform may let a platform install."""
    if fact.hash in registry_manifests():
        return False
    if locked.offered is None or path.is_mirror:
        # A mirror may hold a package that the publisher no longer lists; what is verified has no other platform.
        return not fact.is_verified
    return is_of_files(fact.hash) and not locked.offered <= locked.hashed


class ProviderCoverage(Struct, frozen=True, dict=True):
    """The coverage of a locked provider on all install paths in use.

    Attributes:
        platforms: The required platforms, or without any the known ones.
        is_wanted: True if they are the required ones.
        paths: In display order.
    """

    platforms: tuple[str, ...]
    is_wanted: bool
    paths: tuple[PathCover, ...]

    @cached_property
    def covered(self) -> tuple[str, ...]:
        """The platforms that definitely install on every path."""
        return tuple(
            one for one in self.platforms if not any(one in path.lacks or one in path.doubts for path in self.paths)
        )

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The platforms that definitely do not install on some path."""
        return tuple(one for one in self.platforms if any(one in path.lacks for path in self.paths))

    @cached_property
    def doubtful(self) -> tuple[str, ...]:
        """All other platforms."""
        certain = frozenset((*self.covered, *self.missing))
        return tuple(one for one in self.platforms if one not in certain)

    @property
    def is_short(self) -> bool:
        """True if some platform is definitely not covered."""
        return any(path.at_least_missing for path in self.paths)

    def paths_without(self, platform: str) -> tuple[InstallPath, ...]:
        """Return the paths on which a platform definitely does not install."""
        return tuple(one.path for one in self.paths if platform in one.lacks)

    def paths_in_doubt(self, platform: str) -> tuple[InstallPath, ...]:
        """Return the paths on which it is unknown if a platform installs."""
        return tuple(one.path for one in self.paths if platform in one.doubts)


def coverage(change: Change, policy: Policy) -> ProviderCoverage:
    """Return the coverage of the hashes locked now: of the required platforms, or without any of all known ones."""
    locked = LockedHashes.of(change)
    required = tuple(str(each.platform) for each in policy.platforms)
    platforms = required or locked.platforms
    return ProviderCoverage(
        platforms,
        bool(required),
        tuple(cover(locked, path, policy.on_path(path, platforms)) for path in policy.paths_of(change.address)),
    )
