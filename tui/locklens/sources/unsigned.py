"""What all sources without signed checksums have in common: mirrors."""

from __future__ import annotations

from locklens.sources.metadata import PackageMetadata
from locklens.sources.release_dates import ReleaseDates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.sources.metadata import SignedChecksums
    from locklens.versions import Version


class Unsigned:
    """The parts of `Source` that concern signatures and dates, which a mirror has not."""

    def begin_checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> None:
        """Do nothing: there are none."""

    def checksums(
        self,
        metadata: PackageMetadata,  # noqa: ARG002
        *,
        is_fresh: bool = False,  # noqa: ARG002
    ) -> SignedChecksums | None:
        """Return None: nothing is signed."""
        return None

    def release_dates(self, address: ProviderAddress) -> ReleaseDates:  # noqa: ARG002
        """Return no dates: mirrors have none."""
        return ReleaseDates()


MEND_MIRROR = "fill the mirror again with `locklens mirror DIR`, or exclude the provider from it"
"""The next step where a mirror is damaged."""

CHECK_SERVER = "check that the mirror's server has it, or exclude the provider from the mirror"
"""The next step where a mirror's server gives no usable answer."""


def unsigned_package(
    address: ProviderAddress,
    version: Version,
    platform: Platform,
    *,
    url: str = "",
    path: Path | None = None,
    is_folder: bool = False,
    hashes: tuple[str, ...] = (),
    others: tuple[str, ...] = (),
) -> PackageMetadata:
    """Return the metadata of a package of which no publisher's signature is at hand; see `PackageMetadata`."""
    return PackageMetadata(
        address=address,
        version=version,
        platform=platform,
        protocols=(),
        filename="",
        download_url=url,
        shasum="",
        shasums_url="",
        signature_url="",
        signing_keys=(),
        packages=(),
        path=path,
        is_folder=is_folder,
        hashes=hashes,
        others=others,
    )
