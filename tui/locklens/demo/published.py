"""What the demo registry publishes: sample releases, intact or with faults, and the contents of metadata files."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.demo import MANIFEST_JSON, PLATFORMS, file_name, h1, package_bytes, zh
from locklens.demo.cases import cases
from locklens.demo.faults import Fault
from locklens.demo.signing import armor, publisher
from locklens.dialect import OPENTOFU
from locklens.hashes import digest_of
from locklens.lockfile.parse import parse
from locklens.storage.files import read_bounded
from locklens.versions import Version, precedence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


class SampleListing(Struct, frozen=True):
    """A listed version, for one that differs from the samples.

    Attributes:
        version: In normal form.
        protocols: Plugin protocols, as the registry lists them.
        edition: Edition of the packages; see `locklens.demo`.
        listed: Spelling in the version list; "" for the normal form.
        days: Days since the release, as the registry reports them; None for no date.
    """

    version: str
    platforms: tuple[str, ...] = PLATFORMS
    protocols: tuple[str, ...] = ("5.0",)
    edition: str = ""
    listed: str = ""
    days: int | None = None


Catalog = dict[str, tuple[str, ...]]
"""Versions by full provider address."""

AGAIN = "again"
"""The edition of a republished release."""

NEWER: Catalog = {
    "registry.terraform.io/acme/demo": ("1.4.1", "1.5.0"),
    "registry.terraform.io/cloudflare/cloudflare": ("5.1.0",),
    "registry.terraform.io/corp/backup": ("1.0.0-rc1",),
    "registry.terraform.io/corp/search-sync": ("1.9.0",),
    "registry.terraform.io/elastic/ec": ("0.12.4",),
    "registry.terraform.io/grafana/grafana": ("3.18.3",),
    "registry.terraform.io/hashicorp/aws": ("6.3.0",),
    "registry.terraform.io/hashicorp/random": ("3.7.2",),
    "registry.terraform.io/hashicorp/vault": ("4.6.1", "4.8.0", "5.0.0"),
    "registry.terraform.io/pagerduty/pagerduty": ("3.16.0",),
}
"""Versions that no sample locks: upgrades that are available, and some that are held back."""


DAYS: dict[tuple[str, str], int | None] = {
    ("registry.terraform.io/corp/search-sync", "1.9.0"): None,
    ("registry.terraform.io/elastic/ec", "0.12.4"): 11,
    ("registry.terraform.io/elastic/ec", "0.12.2"): 240,
    ("registry.terraform.io/hashicorp/aws", "6.3.0"): 3,
    ("registry.terraform.io/hashicorp/helm", "3.0.0-pre2"): 5,
    ("registry.terraform.io/hashicorp/vault", "4.8.0"): 2,
}
"""Days since the release, for versions within the cooldown or with another unusual age; None for no date."""

_NEWEST_DAYS, _DAYS_APART = 19, 34


def sample_days(provider: str, versions: Iterable[str]) -> dict[str, int | None]:
    """Return the age of each version in days: the same every day, so that the samples do not age."""
    newest_first = sorted(versions, key=lambda text: precedence(Version.parse(text)), reverse=True)
    usual = {version: _NEWEST_DAYS + _DAYS_APART * place for place, version in enumerate(newest_first)}
    return {version: DAYS.get((provider, version), days) for version, days in usual.items()}


class Published(Struct, frozen=True):
    """One release as the registry serves it.

    Attributes:
        sums: SHA256SUMS.
        signature: Its detached signature.
        keys: The keys that the registry lists, armored.
        trust_signature: The signature by HashiCorp's partners key, as the registry claims.
    """

    provider: str
    version: str
    edition: str
    sums: bytes
    signature: bytes
    keys: tuple[str, ...]
    trust_signature: str = ""
    platforms: tuple[str, ...] = PLATFORMS

    def package(self, platform: str) -> bytes:
        """The bytes of a platform's package."""
        return package_bytes(self.provider, self.version, platform, self.edition)


@lru_cache(maxsize=1)
def sample_catalog() -> Catalog:
    """Return every release that a sample lock file names, and some newer ones."""
    catalog: dict[str, set[str]] = {provider: set(versions) for provider, versions in NEWER.items()}
    for case in cases():
        for state in (case.old, case.new):
            for entry in parse(state.lock, case.path).entries if state else ():
                catalog.setdefault(str(entry.address), set()).add(str(entry.version))
    return {provider: tuple(sorted(versions)) for provider, versions in sorted(catalog.items())}


@lru_cache(maxsize=1024)
def publish(
    provider: str, version: str, faults: frozenset[Fault] = frozenset(), offer: SampleListing | None = None
) -> Published:
    """Return a release with its faults; the same arguments give the same bytes."""
    offer = offer or SampleListing(version)
    namespace = ProviderAddress(*provider.split("/")).namespace
    edition = AGAIN if Fault.REPUBLISHED in faults else offer.edition
    sums = _sums(provider, replace(offer, edition=edition), faults)
    usual, other = publisher(namespace), publisher(f"{namespace}-new-owner")
    signer = other if faults & {Fault.OTHER_SIGNER, Fault.UNKNOWN_ISSUER} else usual
    signed = b"another file\n" if Fault.BAD_SIGNATURE in faults else sums
    signature = signer.signature(signed, expired=Fault.EXPIRED_SIGNATURE in faults)
    if Fault.ARMORED_SIGNATURE in faults:
        signature = armor("SIGNATURE", signature).encode()
    if Fault.EMPTY_SIGNATURE in faults:
        signature = b""
    listed = usual if Fault.UNKNOWN_ISSUER in faults else signer
    key = listed.key
    if Fault.EXPIRED_KEY in faults:
        key = listed.expired_key
    if Fault.REVOKED_KEY in faults:
        key = listed.revoked_key
    armored = key.armored()
    if Fault.BROKEN_KEY in faults:
        armored = armored.replace("-----BEGIN", "-----BEGUN")
    bad_trust = armor("SIGNATURE", usual.signature(b"no partner"))
    return Published(
        provider,
        version,
        "tampered" if Fault.TAMPERED_PACKAGE in faults else edition,
        sums,
        signature,
        () if Fault.UNSIGNED in faults else (armored,),
        bad_trust if Fault.BAD_TRUST_SIGNATURE in faults else "",
        offer.platforms,
    )


def hashes_by_platform(release: Published) -> dict[str, tuple[str, ...]]:
    """Return both hashes of each platform's package."""
    key = release.provider, release.version
    return {name: (zh(*key, name, release.edition), h1(*key, name, release.edition)) for name in release.platforms}


def reported_packages(release: Published, faults: frozenset[Fault] = frozenset()) -> dict[str, dict[str, object]]:
    """Return the report of OpenTofu's registry on each platform's package: `packages` of its download answer.

    Faults put the hash of another edition in it.
    """
    other = hashes_by_platform(replace(release, edition=f"{release.edition}other"))
    reported = {}
    for platform, (one_zh, one_h1) in hashes_by_platform(release).items():
        hashes = [
            other[platform][0] if Fault.OTHER_REPORTED_ZH in faults else one_zh,
            other[platform][1] if Fault.OTHER_REPORTED_H1 in faults else one_h1,
        ]
        reported[platform] = {"hashes": hashes, "package_size": len(release.package(platform))}
    return reported


def _sums(provider: str, offer: SampleListing, faults: frozenset[Fault]) -> bytes:
    version = offer.version
    listed = {file_name(provider, version, "manifest.json"): sha256(MANIFEST_JSON).hexdigest()}
    if Fault.SUMS_WITHOUT_PACKAGE not in faults:
        for platform in offer.platforms:
            name = file_name(provider, version, f"{platform}.zip")
            listed[name] = digest_of(zh(provider, version, platform, offer.edition))
    mark = "*" if Fault.SUMS_OF_BINARY_FILES in faults else " "
    text = "".join(f"{digest} {mark}{name}\n" for name, digest in sorted(listed.items()))
    if Fault.SUMS_WITH_ODD_LINE in faults:
        text = "# written by hand\n" + text
    if Fault.SUMS_WITH_BLANK_LINE in faults:
        text += "\n"
    if Fault.SUMS_OTHERWISE_SPELLED in faults:
        text = "\r\n".join(f"{digest.upper()}\t{name}" for name, digest in sorted(listed.items(), reverse=True))
    return text.encode()


def versions_document(
    provider: str, versions: Iterable[tuple[str, Sequence[str], Iterable[str]]], warnings: Sequence[str] | None
) -> dict[str, object]:
    """Return the answer that lists versions, each with its protocols and its platforms."""
    listed = [
        {
            "version": version,
            "protocols": protocols,
            "platforms": [dict(zip(("os", "arch"), name.split("_", 1), strict=True)) for name in platforms],
        }
        for version, protocols, platforms in versions
    ]
    return {"id": provider.partition("/")[2], "versions": listed, "warnings": warnings}


METADATA_HOST = OPENTOFU.default_host
"""The registry whose metadata files are served."""

_MAX_BYTES = 16 * 1024 * 1024
"""The most bytes of a metadata file; the largest one of the OpenTofu registry has 2 MB."""


class _Target(Struct, frozen=True):
    """The package of one platform; a completed target has its `h1` and its size, under either of two names."""

    os: str
    arch: str
    filename: str
    download_url: str
    shasum: str
    h1: str | None = None
    size: int | None = None
    package_size: int | None = None

    @property
    def platform(self) -> str:
        return f"{self.os}_{self.arch}"

    @property
    def reported(self) -> dict[str, object]:
        """The report on the package; {} without a size, because no tool accepts it then."""
        size = self.package_size or self.size
        hashes = [f"zh:{self.shasum}", *([self.h1] if self.h1 else [])]
        return {"hashes": hashes, "package_size": size} if size else {}


class _Version(Struct, frozen=True):
    version: str
    targets: list[_Target]
    protocols: list[str] = []
    shasums_url: str = ""
    shasums_signature_url: str = ""


class _Provider(Struct, frozen=True):
    versions: list[_Version]
    warnings: list[str] | None = None


class MetadataFolder:
    """A folder with metadata files, such as those that `locklens backfill` completed; links in it are not followed.

    It has the layout of https://github.com/opentofu/registry: `providers/N/NAMESPACE/TYPE.json` and, for the keys of a
    namespace or of one provider, `keys/N/NAMESPACE/*.asc` and `keys/N/NAMESPACE/TYPE/*.asc`. A file is read for each
    request, so that changes are served at once; its URLs are passed on as they are.

    Attributes:
        providers: Full addresses of the providers that have a file.

    Raises:
        FileNotFoundError: There is no metadata file.
    """

    def __init__(self, folder: Path) -> None:
        self._keys = folder / "keys"
        self._files = {
            f"{METADATA_HOST}/{path.parent.name}/{path.stem}": path
            for path in sorted(folder.glob("providers/?/*/*.json"))
            if path.is_file() and not path.is_symlink()
        }
        if not self._files:
            raise FileNotFoundError(f"{folder}: no metadata file providers/N/NAMESPACE/TYPE.json")
        self.providers = frozenset(self._files)

    def versions(self, provider: str) -> dict[str, object]:
        """Return the answer that lists a provider's versions.

        Raises:
            ValueError: The file is not metadata of a provider.
            ConfigurationError: It cannot be read.
        """
        found = self._read(provider)
        versions = ((one.version, one.protocols, [each.platform for each in one.targets]) for one in found.versions)
        return versions_document(provider, versions, found.warnings)

    def download(self, provider: str, version: str, platform: str) -> dict[str, object] | None:
        """Return the answer about one package; None if there is no such package.

        `packages` is left out if this package's own size is missing: OpenTofu refuses a report without it.

        Raises:
            ValueError: The file is not metadata of a provider.
            ConfigurationError: It cannot be read.
            OSError: A key cannot be read.
        """
        release = next((one for one in self._read(provider).versions if one.version == version), None)
        targets = {target.platform: target for target in release.targets} if release else {}
        if release is None or platform not in targets:
            return None
        own = targets[platform]
        keys = [{"ascii_armor": path.read_text("utf-8")} for path in self._keys_of(provider)]
        answer: dict[str, object] = {
            "protocols": release.protocols,
            "os": own.os,
            "arch": own.arch,
            "filename": own.filename,
            "download_url": own.download_url,
            "shasum": own.shasum,
            "shasums_url": release.shasums_url,
            "shasums_signature_url": release.shasums_signature_url,
            "signing_keys": {"gpg_public_keys": keys},
        }
        if own.reported:
            answer["packages"] = {name: target.reported for name, target in targets.items() if target.reported}
        return answer

    def _read(self, provider: str) -> _Provider:
        path = self._files[provider]
        try:
            return msgspec.json.decode(read_bounded(path, _MAX_BYTES), type=_Provider)
        except msgspec.DecodeError as error:
            raise ValueError(f"{path}: no metadata of a provider: {error}") from error

    def _keys_of(self, provider: str) -> list[Path]:
        _, namespace, kind = provider.split("/")
        folder = self._keys / namespace[:1] / namespace
        found = sorted((*folder.glob("*.asc"), *(folder / kind).glob("*.asc")))
        return [path for path in found if path.is_file() and not path.is_symlink()]
