"""Packages to hash in order to prove `h1` hashes, likeliest first. Pure: nothing is downloaded here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hashes import hashes_of_files, hashes_of_hashed, is_well_formed
from locklens.review.case import case_of, vouched_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.addresses import Platform
    from locklens.hashes import HashedFiles
    from locklens.releases.facts import Fact, FactRequest, ReleaseId
    from locklens.review.case import FactSubject

_LIKELY = ("linux_amd64", "darwin_arm64", "linux_arm64", "darwin_amd64", "windows_amd64")
"""The usual platforms of `init`, most common first: an `h1` is usually from one of them."""


class Package(Struct, frozen=True):
    """A signed package that may have an `h1` in question; `size` is None if unknown."""

    platform: Platform
    zh: str
    size: int | None = None


class ProvingTarget(Struct, frozen=True):
    """A release with `h1` hashes to prove.

    Attributes:
        unproven: The hashes.
        packages: Packages not hashed yet, likeliest first.
    """

    release: ReleaseId
    unproven: frozenset[str]
    packages: tuple[Package, ...]


def targets(
    subjects: Iterable[FactSubject], known: Mapping[FactRequest, Fact], hashed: HashedFiles, *, everything: bool
) -> tuple[ProvingTarget, ...]:
    """Return the releases with hashes to prove, each once.

    Args:
        subjects: Settled changes.
        known: The answers to all their questions.
        hashed: The `h1` of packages that were hashed here, by `zh`.
        everything: True to include hashes that were locked for the version before.
    """
    unproven: dict[ReleaseId, set[str]] = {}
    packages: dict[ReleaseId, tuple[Package, ...]] = {}
    for subject in subjects:
        if subject.change.new is None:
            continue
        case = case_of(subject.change, subject.tool, known, hashed)
        hashes = case.entry.hashes if everything else case.first_said
        folders = hashes_of_files(filter(is_well_formed, hashes))
        proven = hashes_of_hashed(case.new.packages, hashed) | vouched_for(case.new, hashed).keys()
        if folders - proven and case.new.packages - hashed.keys():
            unproven.setdefault(case.new.id, set()).update(folders - proven)
            packages[case.new.id] = _in_order(case.new.platforms, case.new.sizes, hashed)
    return tuple(ProvingTarget(release, frozenset(hashes), packages[release]) for release, hashes in unproven.items())


def _in_order(platforms: Mapping[str, Platform], sizes: Mapping[str, int], hashed: HashedFiles) -> tuple[Package, ...]:
    """Return the packages not hashed yet, likeliest platforms first."""
    packages = [Package(platform, zh, sizes.get(zh)) for zh, platform in platforms.items() if zh not in hashed]
    ranks = {name: rank for rank, name in enumerate(_LIKELY)}
    return tuple(sorted(packages, key=lambda package: (ranks.get(str(package.platform), len(ranks)), package.platform)))
