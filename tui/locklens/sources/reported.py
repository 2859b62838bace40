"""OpenTofu's `packages`: the hashes and sizes of every platform's package, as the registry reports them.

They are unsigned: what they say of a package counts only beside the publisher's signed checksums.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import Platform
from locklens.sources.documents import ShapeError

if TYPE_CHECKING:
    from locklens.sources.documents import Fields

_MAX_PACKAGES, _MAX_HASHES, _MAX_HASH = 512, 64, 1024
"""Platforms, hashes of one, and characters of a hash in an answer: there are 20 platforms and two schemes."""

_HASH = re.compile(r"[^:\s]+:[^\x00-\x20\x7f]*\Z")


class PlatformPackage(Struct, frozen=True):
    """The registry's report on one platform's package.

    Attributes:
        hashes: With their schemes, as reported.
        size: Bytes; 0 where the registry does not say, or says less than nothing.
    """

    platform: Platform
    hashes: tuple[str, ...]
    size: int


def read_packages(fields: Fields, *, is_strict: bool) -> tuple[PlatformPackage, ...]:
    """Read the map of a registry's answer about one package.

    Args:
        fields: The answer.
        is_strict: True if a malformed map makes the answer unusable, as for OpenTofu. Terraform does not look at it;
            then a malformed one counts as none.

    Raises:
        ShapeError: The map is malformed, and that matters.
    """
    try:
        return tuple(_package(key, value) for key, value in fields.object("packages").members(_MAX_PACKAGES))
    except ShapeError:
        if is_strict:
            raise
        return ()


def _package(key: str, value: Fields) -> PlatformPackage:
    try:
        platform = Platform.parse(key)
    except ValueError as error:
        raise ShapeError('an invalid platform in "packages"') from error
    hashes = value.texts("hashes", _MAX_HASHES, _MAX_HASH)
    if not all(map(is_hash, hashes)):
        raise ShapeError('an invalid hash in "packages"')
    return PlatformPackage(platform, hashes, max(value.number("package_size"), 0))


def is_hash(text: str) -> bool:
    """True if a text is a hash with its scheme, known or not."""
    return _HASH.match(text) is not None
