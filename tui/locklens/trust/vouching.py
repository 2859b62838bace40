"""The origin of each hash of a release: its signer, or the registry alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from locklens.hashes import hashes_of_files, hashes_of_zips
from locklens.trust.checksums import read_checksums
from locklens.trust.model import Tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.trust.authentication import Authentication


class HashOrigin(StrEnum):
    """The authority for a hash of this release."""

    SIGNED = "signed"
    REPORTED = "reported"


def vouchers(
    sums: bytes, authentication: Authentication, packages: Mapping[str, frozenset[str]]
) -> dict[str, HashOrigin]:
    """Return who vouches for each hash of a release.

    A release that is refused for its signature, or whose signature could not be checked, vouches for nothing: not even
    the registry's word counts that a wrong signature contradicts. One for which no key is listed is the registry's
    word alone, whether the tool would take it or not.

    Args:
        sums: The release's SHA256SUMS.
        authentication: The verdict on the release.
        packages: Hashes by platform as OpenTofu's registry reports them. An `h1` counts only beside a `zh` that is
            vouched for.
    """
    if authentication.tier is Tier.UNSIGNED:
        said = dict.fromkeys(read_checksums(sums).hashes, HashOrigin.REPORTED)
    else:
        said = dict.fromkeys(authentication.signed, HashOrigin.SIGNED)
    for hashes in packages.values():
        if not said.keys().isdisjoint(hashes_of_zips(hashes)):
            said |= dict.fromkeys(hashes_of_files(hashes), HashOrigin.REPORTED)
    return said
