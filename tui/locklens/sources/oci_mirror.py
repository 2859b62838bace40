"""Mirrors in OCI registries: a repository for each provider, a tag for each version, a manifest for each platform.

    tag 1.2.0 -> index manifest (application/vnd.opentofu.provider)
                   -> image manifest of a platform (application/vnd.opentofu.provider-target)
                        -> one layer, archive/zip: the package, whose digest is its `zh`

A tag has `_` where the version has `+`; other tags are ignored. Answers are refused for OpenTofu's reasons and in its
words (internal/getproviders/oci_registry_mirror_source.go and package_location_oci_blob_archive.go).
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from locklens.addresses import AddressError, Platform, ProviderAddress
from locklens.errors import NotFoundError, PlatformNotSupportedError, ProviderNotFoundError, UnavailableError
from locklens.hashes import zh_of
from locklens.project.installation import InstallationMethod, OciRepository, is_digest, repository_of
from locklens.sources import documents
from locklens.sources.documents import Fields, ShapeError
from locklens.sources.hosts import NotAsked
from locklens.sources.http import MIB, Transfer, moment
from locklens.sources.metadata import MAX_VERSIONS, PackageMetadata, RegistryVersions, versions_named
from locklens.sources.mirrors import Unsigned
from locklens.sources.oci import INDEX_TYPE, MANIFEST_TYPE, MANIFEST_TYPES, Manifest
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from locklens.sources.oci_session import OciRegistries, OciSession
    from locklens.versions import Version

_Answer = TypeVar("_Answer")

PROVIDER_TYPE = "application/vnd.opentofu.provider"
TARGET_TYPE = "application/vnd.opentofu.provider-target"
PACKAGE_TYPE = "archive/zip"
"""The artifact type of a version's index, that of each platform's manifest, and the media type of a package."""

_MODULE = "application/vnd.opentofu.modulepkg"
_MAX_MIB = 4
_MAX_DESCRIPTORS, _MAX_WORD = 4096, 256
"""Descriptors of one manifest, and characters of a text in one: a provider has some twenty."""


class _Descriptor(Struct, frozen=True):
    """What a manifest says about another one or a layer; `platform` is None where it says none."""

    media_type: str
    artifact_type: str
    digest: str
    size: int
    platform: tuple[str, str, str] | None = None


class OciMirror(Unsigned):
    """Repositories in OCI registries as a mirror of providers. Thread-safe; each manifest is asked for once in a run.

    `judge` says whether a host may be asked that the template does not name itself; None where each may.
    """

    def __init__(
        self, method: InstallationMethod, registries: OciRegistries, judge: Callable[[str], object] | None = None
    ) -> None:
        self._template = method.place
        self._judge = judge
        self._registries = registries
        self._lock = threading.Lock()
        self._turns: dict[object, threading.Lock] = {}
        self._known: dict[object, Any] = {}

    def __str__(self) -> str:
        return "OCI registry provider mirror"

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the versions that tags name; see `Source`."""
        found = self._once(address, lambda: self._tagged(address))
        if not found.versions:
            words = f"{self} does not have {address}: {self.session(address)} has no tag that is a version"
            raise ProviderNotFoundError(words, source=str(self), address=str(address))
        return found

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return the place of a package, and its `zh`; see `Source`."""
        build = address, version, platform
        layer = self._once(build, lambda: self._layer(*build))
        return PackageMetadata(
            *build,
            download_url=self.session(address).repository.url("blobs", layer.digest),
            hashes=(zh_of(layer.digest.removeprefix("sha256:")),),
            is_by_digest=True,
        )

    def listed_hashes(self, address: ProviderAddress, version: Version) -> dict[Platform, tuple[str, ...]]:
        """Return the `zh` of each platform's package of a version.

        Raises:
            NotFoundError: There is no such provider or version.
            SourceError: The registry has no usable answer.
        """
        if all(one.version != version for one in self.versions(address).versions):
            raise ProviderNotFoundError(f"{self} does not have {address} {version}", source=str(self))
        return self.tagged_hashes(address, version)

    def tagged_hashes(self, address: ProviderAddress, version: Version) -> dict[Platform, tuple[str, ...]]:
        """Return the `zh` of each platform's package of a version that has a tag.

        Raises:
            SourceError: The registry has no usable answer, or the tag is not there.
        """
        found: dict[Platform, tuple[str, ...]] = {}
        for one in self._index(address, version):
            if one.artifact_type == TARGET_TYPE and one.platform is not None:
                with suppress(AddressError):
                    platform = Platform.parse("_".join(one.platform[:2]))
                    found[platform] = self.package(address, version, platform).hashes
        return found

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a package, as its manifest says; see `Source`."""
        return self._known_layer(metadata).size

    @contextmanager
    def open_package(self, metadata: PackageMetadata) -> Iterator[Transfer]:
        """Open a package; see `Source`."""
        layer = self._known_layer(metadata)
        with self.session(metadata.address).blob(layer.digest, layer.size) as transfer:
            yield transfer

    def session(self, address: ProviderAddress) -> OciSession:
        """Return the session with a provider's repository.

        Raises:
            UnavailableError: The template names none, or one on a host that nobody vouches for: where a registry's host
                comes from a provider's address, a change under review could choose it.
        """
        try:
            repository = repository_of(self._template, address)
        except ValueError as error:
            words = f"selecting OCI repository address: the template {visible(self._template)} names none: {error}"
            hint = f"mend {self._registries.named_by}, or exclude the provider from it"
            raise UnavailableError(words, source=str(self), address=str(address), hint=hint) from None
        verdict = None if self._judge is None or self._names(repository) else self._judge(repository.registry)
        if isinstance(verdict, NotAsked):
            raise UnavailableError(str(verdict), source=str(self), address=str(address), hint=verdict.hint)
        return self._registries.session(repository)

    def _names(self, repository: OciRepository) -> bool:
        """True if the user's own template has the registry's host."""
        host = re.escape(repository.registry)
        return re.search(rf"(?<![\w.:-]){host}(?![\w.:-])", self._template, re.IGNORECASE) is not None

    def _known_layer(self, metadata: PackageMetadata) -> _Descriptor:
        found: _Descriptor = self._known[metadata.address, metadata.version, metadata.platform]
        return found

    def _once(self, key: object, ask: Callable[[], _Answer]) -> _Answer:
        """Return an answer that is requested once: callers that need the same one wait for each other."""
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            if key not in self._known:
                self._known[key] = ask()
            found: _Answer = self._known[key]
        return found

    def _tagged(self, address: ProviderAddress) -> RegistryVersions:
        session, as_of = self.session(address), moment()
        try:
            tags = session.tags()
        except NotFoundError as error:
            words = f"{self} does not have {address}: {error}"
            raise ProviderNotFoundError(words, source=str(self), address=str(address)) from None
        listed = versions_named(tag.replace("_", "+") for tag in tags)
        if len(listed) > MAX_VERSIONS:
            raise session.unusable(f"has more than {MAX_VERSIONS} versions of {address}")
        return RegistryVersions(listed, (), as_of)

    def _index(self, address: ProviderAddress, version: Version) -> tuple[_Descriptor, ...]:
        """Return the manifests that a version's index lists."""
        return self._once((address, version), lambda: self._listed(address, str(version).replace("+", "_")))

    def _fetched(self, address: ProviderAddress, reference: str, media_types: tuple[str, ...], doing: str) -> Manifest:
        try:
            return self.session(address).manifest(reference, media_types)
        except NotFoundError as error:
            # A tag or a manifest that another one names is damage, not an absence that another source may fill.
            raise self._damaged(address, f"{doing}: {error}") from None

    def _listed(self, address: ProviderAddress, tag: str) -> tuple[_Descriptor, ...]:
        """Read the index that a tag names (`fetchOCIDescriptorForVersion`, `fetchOCIIndexManifest`)."""
        manifest = self._fetched(address, tag, MANIFEST_TYPES, f'resolving tag "{tag}"')
        if manifest.media_type == MANIFEST_TYPE:
            words = "selected an OCI image manifest directly, but providers must be selected through a multi-platform "
            raise self._damaged(address, f"{words}index manifest")
        if manifest.media_type != INDEX_TYPE:
            raise self._damaged(address, f'unsupported media type "{manifest.media_type}" for OCI index manifest')
        return self._read(address, manifest, PROVIDER_TYPE, "manifests")

    def _read(
        self, address: ProviderAddress, manifest: Manifest, artifact_type: str, name: str
    ) -> tuple[_Descriptor, ...]:
        try:
            with documents.opened(manifest.body) as fields:
                media_type = fields.text("mediatype", _MAX_WORD)
                found_type = fields.text("artifacttype", _MAX_WORD)
                descriptors = tuple(map(_descriptor, fields.objects(name, _MAX_DESCRIPTORS)))
        except ShapeError as error:
            raise self._damaged(address, f"invalid manifest content: {error}") from None
        if media_type != manifest.media_type:
            raise self._damaged(address, f'unexpected manifest media type "{media_type}"')
        if found_type != artifact_type:
            aside = "; it is an OpenTofu module package, not a provider package" if found_type == _MODULE else ""
            raise self._damaged(address, f'unexpected artifact type "{found_type}"{aside}')
        return descriptors

    def _layer(self, address: ProviderAddress, version: Version, platform: Platform) -> _Descriptor:
        """Return what the manifests say about a platform's package."""
        target = self._target(address, version, platform, self._index(address, version))
        if target.size // MIB > _MAX_MIB:
            raise self._damaged(address, f"manifest size exceeds OpenTofu's size limit of {_MAX_MIB} MiB")
        if not is_digest(target.digest):
            raise self._damaged(address, f'invalid digest "{target.digest}"')
        manifest = self._fetched(address, target.digest, (MANIFEST_TYPE,), "fetching the platform's manifest")
        if manifest.media_type != MANIFEST_TYPE:
            words = f'mismatch response Content-Type "{manifest.media_type}": expect "{MANIFEST_TYPE}"'
            raise self._damaged(address, words)
        if len(manifest.body) != target.size:
            raise self._damaged(address, f"mismatch Content-Length: {target.digest} has not {target.size} bytes")
        return self._selected(address, platform, self._read(address, manifest, TARGET_TYPE, "layers"))

    def _target(
        self, address: ProviderAddress, version: Version, platform: Platform, descriptors: Iterable[_Descriptor]
    ) -> _Descriptor:
        """Select the manifest of a platform (`selectOCIImageManifest`)."""
        found: list[_Descriptor] = []
        other_type, has_other_platform = "", False
        for one in descriptors:
            if one.artifact_type != TARGET_TYPE:
                other_type = one.artifact_type or other_type
                continue
            if one.media_type != MANIFEST_TYPE:
                raise self._damaged(address, f'provider image manifest has unsupported media type "{one.media_type}"')
            if one.platform is None:
                raise self._damaged(address, "provider image manifest lacks the required platform constraints")
            if one.platform == (platform.os, platform.arch, ""):
                found.append(one)
            else:
                has_other_platform = True
        if len(found) == 1:
            return found[0]
        if found:
            raise self._damaged(address, f"ambiguous manifest has multiple descriptors for platform {platform}")
        if has_other_platform:
            words = f"{self.session(address)} does not have a package of {address} {version} for {platform}"
            raise PlatformNotSupportedError(words, source=str(self), address=str(address))
        words = "provider image manifest has unsupported artifact type"
        if other_type:
            raise self._damaged(address, f'{words} "{other_type}"')
        raise self._damaged(address, f"{words}; is this a container image, rather than an OpenTofu provider?")

    def _selected(self, address: ProviderAddress, platform: Platform, layers: tuple[_Descriptor, ...]) -> _Descriptor:
        """Select the package among the layers (`selectOCILayerBlob`, `checkOCIBlobDescriptor`)."""
        packages = [layer for layer in layers if layer.media_type == PACKAGE_TYPE]
        if not packages:
            words = f'image manifest contains no layers of type "{PACKAGE_TYPE}"'
            more = ", but has other unsupported formats; this OCI artifact might be intended for a different version"
            raise self._damaged(address, f"{words}{more} of OpenTofu" if layers else words)
        if len(packages) > 1:
            raise self._damaged(address, "ambiguous manifest declares multiple eligible provider packages")
        layer = packages[0]
        if not is_digest(layer.digest):
            raise self._damaged(address, f'invalid digest "{layer.digest}"')
        if not layer.digest.startswith("sha256:"):
            algorithm = layer.digest.partition(":")[0]
            raise self._damaged(address, f'unsupported digest algorithm "{algorithm}"')
        if layer.platform is not None and layer.platform[:2] != (platform.os, platform.arch):
            other = "_".join(layer.platform[:2])
            raise self._damaged(address, f"selected OCI artifact is for {other}, but was expected to be for {platform}")
        return layer

    def _damaged(self, address: ProviderAddress, words: str) -> UnavailableError:
        session = self.session(address)
        text = words if str(session) in words else f"{session} cannot be used for {address}: {words}"
        hint = "push the version again, or exclude the provider from the oci_mirror block"
        return UnavailableError(visible(text), source=str(self), address=str(address), hint=hint)


def _descriptor(fields: Fields) -> _Descriptor:
    platform: tuple[str, str, str] | None = None
    if "platform" in fields:
        given = fields.object("platform")
        platform = (
            given.text("os", _MAX_WORD),
            given.text("architecture", _MAX_WORD),
            given.text("os.version", _MAX_WORD),
        )
    return _Descriptor(
        fields.text("mediatype", _MAX_WORD),
        fields.text("artifacttype", _MAX_WORD),
        fields.text("digest", _MAX_WORD),
        max(fields.number("size"), 0),
        platform,
    )
