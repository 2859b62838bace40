"""Network mirrors beside lock files: the hashes that they list, for which no package is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import LockLensError, NotFoundError
from locklens.hashes import hashes_of_files, is_known_scheme
from locklens.operations.verification.judging import verdict_of
from locklens.operations.verification.model import PackagePlace, PackageVerdict, VerifiedPackage, Where
from locklens.sources.urls import url_for_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.project.installation import InstallationMethod
    from locklens.sources import Source
    from locklens.versions import Version


def listed_package(
    build: tuple[ProviderAddress, Version, Platform],
    method: InstallationMethod,
    source: Source,
    groups: Sequence[frozenset[str]],
) -> VerifiedPackage | None:
    """Compare the hashes that a mirror lists for a package with locked ones; None where the mirror does not have it.

    Args:
        build: The package.
        method: The mirror.
        source: The mirror's source.
        groups: The locked hashes of each root.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    address, version, platform = build
    place = PackagePlace(*build, Where.MIRROR, None, f"{url_for_log(method.place)} {address}", is_folder=False)
    try:
        if all(one.version != version for one in source.versions(address).versions):
            return None
        found = frozenset(filter(is_known_scheme, source.package(address, version, platform).hashes))
    except NotFoundError:
        return None
    except LockLensError as error:
        return VerifiedPackage(place, PackageVerdict.UNREADABLE, reason=error.sentence)
    shown = min(hashes_of_files(found), default="")
    verdicts = {verdict_of(place, found, group) for group in groups}
    for verdict, reason in (
        (PackageVerdict.DIFFERS, "no hash that the mirror lists is locked"),
        (PackageVerdict.MATCHES, ""),
    ):
        if verdict in verdicts:
            return VerifiedPackage(place, verdict, shown, found, reason=reason)
    words = f"the mirror lists no hash for {platform} that can be compared with the lock file"
    return VerifiedPackage(place, PackageVerdict.UNLOCKED, shown, found, reason=words)
