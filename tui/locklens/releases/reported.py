"""The hashes that a registry reports of every platform's package, held against the release's signed checksums.

OpenTofu checks the entry of the package that it fetches, in this order (`registryPackageAuthentication` of
internal/getproviders/package_authentication.go), and takes those of other platforms as they come. Here every entry has
to agree with SHA256SUMS, and a hash of files counts for a package only beside its `zh`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens.addresses import display_host
from locklens.errors import TrustError
from locklens.hashes import has_rivals, hashes_of_files, hashes_of_zips, is_well_formed
from locklens.text import counted, listing, shortened

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from locklens.addresses import Platform
    from locklens.hashes import HashedPackage
    from locklens.sources.metadata import PackageMetadata
    from locklens.sources.reported import PlatformPackage
    from locklens.trust.checksums import Checksums

_HINT = "notify the registry's operator: what it reports of the version is wrong, or the package was replaced"
_PLATFORMS_NAMED = 5
_SHOWN = 100
"""Characters of what a registry reports: a well-formed hash has 67 at most."""


class ReportedHashes(Struct, frozen=True):
    """What a registry reports of a release, as far as its checksums bear it out.

    Attributes:
        own: The entry of the package that was asked about; None where the registry reports nothing.
        of_files: The hashes of the files of each platform's package whose reported `zh` is listed.
        passed_over: Platforms whose entry says nothing that could be compared, in order.
    """

    own: PlatformPackage | None = None
    of_files: Mapping[Platform, frozenset[str]] = field(default_factory=dict)
    passed_over: tuple[Platform, ...] = ()

    def agrees(self, platform: Platform, known: HashedPackage) -> bool:
        """True if a platform's package that was hashed before has the reported hashes, or none is reported.

        Those of the zip file, which a registry may report as well, are not kept: then only the package can tell.
        """
        return platform not in self.passed_over and self.of_files.get(platform, frozenset()) <= known.of_files

    @property
    def warning(self) -> str:
        """What was left out, in a sentence without its full stop; "" for nothing."""
        return left_out(self.passed_over, "its checksums do not bear them out") if self.passed_over else ""

    def without(self, platforms: Collection[Platform]) -> ReportedHashes:
        """The same with platforms whose packages decide, not the registry."""
        of_files = {platform: found for platform, found in self.of_files.items() if platform not in platforms}
        return ReportedHashes(self.own, of_files, tuple(sorted({*self.passed_over, *platforms})))


def left_out(platforms: Iterable[Platform], why: str) -> str:
    """Return the warning about reported hashes that are not recorded, a sentence without its full stop."""
    named = listing([str(platform) for platform in sorted(platforms)], limit=_PLATFORMS_NAMED)
    return f"hashes that the registry reports for {named} are left out: {why}"


def read_reported(metadata: PackageMetadata, checksums: Checksums) -> ReportedHashes:
    """Compare what a registry reports with the release's checksums.

    Raises:
        TrustError: It says nothing of the very package that it offers, or contradicts the checksums.
    """
    if not metadata.packages:
        return ReportedHashes()
    own = _own(metadata)
    listed = checksums.packages(metadata.address.type, str(metadata.version))
    named = {metadata.zh, *(zh for zhs in listed.values() for zh in zhs)}
    of_files: dict[Platform, frozenset[str]] = {}
    passed_over: list[Platform] = []
    for one in metadata.packages:
        if one.platform == metadata.platform:
            expected = frozenset({metadata.zh})
        else:
            # A file of an unusual name is of no known platform: it may be this one's.
            expected = listed.get(one.platform) or checksums.hashes - named
        zhs, found = hashes_of_zips(one.hashes), hashes_of_files(one.hashes)
        wrong = zhs - expected
        if wrong and one.platform in {metadata.platform, *listed}:
            raise _contradiction(metadata, one.platform, min(wrong), f"lists {min(expected)}")
        if wrong & named:
            raise _contradiction(metadata, one.platform, min(wrong & named), "lists that for another platform")
        if wrong or not zhs or has_rivals(found) or not all(map(is_well_formed, found)):
            passed_over.append(one.platform)
        elif found:
            of_files[one.platform] = found
    return ReportedHashes(own, of_files, tuple(sorted(passed_over)))


def check_reported(metadata: PackageMetadata, own: PlatformPackage | None, size: int, found: Iterable[str]) -> None:
    """Require that a package is the one that its registry reports.

    Args:
        metadata: The package's.
        own: The registry's report of it, None for none.
        size: Its bytes.
        found: Its own hashes: of the unpacked folder, and of the zip file where folders or odd names make that
            another.

    Raises:
        TrustError: It has another size or another hash of its files.
    """
    if own is None:
        return
    if own.size != size:
        words = f"a package of {counted(own.size, 'byte')}"
        raise _wrong(metadata, metadata.platform, words, f"the package has {counted(size, 'byte')}")
    computed = hashes_of_files(found)
    if wrong := sorted(hashes_of_files(own.hashes) - computed):
        raise _wrong(metadata, metadata.platform, wrong[0], f"the package has {' or '.join(sorted(computed))}")


def _own(metadata: PackageMetadata) -> PlatformPackage:
    own = next((one for one in metadata.packages if one.platform == metadata.platform), None)
    if own is None:
        raise _wrong(metadata, None, "hashes", f"none for {metadata.platform}")
    if not own.size:
        raise _wrong(metadata, own.platform, "hashes", "no package_size")
    if not hashes_of_zips(own.hashes):
        raise _wrong(metadata, own.platform, "hashes", "no zh")
    return own


def _contradiction(metadata: PackageMetadata, platform: Platform, reported: str, listed: str) -> TrustError:
    return _wrong(metadata, platform, reported, f"its SHA256SUMS {listed}")


def _wrong(metadata: PackageMetadata, platform: Platform | None, reported: str, otherwise: str) -> TrustError:
    host = display_host(metadata.address.host)
    package = f"{metadata.address.namespace}/{metadata.address.type} {metadata.version}"
    where = f" for {platform}" if platform is not None else ""
    reported = shortened(reported, _SHOWN)
    return TrustError(f"registry {host} reports {reported} of {package}{where}, but {otherwise}", hint=_HINT)
