"""Pushes signed packages to repositories of OCI registries, in the form in which OpenTofu installs them.

Nothing that a registry has is sent again. Each step needs those before it: packages, the manifest of each, the index
of a version, and last the tag by which clients find the index. Wherever a run ends, no client sees a part of a version,
and the next run goes on. A tag that names something else stays as it is: that is an error.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from locklens.diagnostics import Diagnostic
from locklens.errors import ConfigurationError, LockLensError, PlatformNotSupportedError, UnavailableError
from locklens.install.context import FetchStarted, InstallContext, PackageLeaving, PackageMirrored, ReleaseTagged
from locklens.install.fetching import EVENT_SECONDS, admitted, downloaded, warn
from locklens.install.mirroring import SUMMARY, failed, package_file_name
from locklens.packages.hashing import spool_in
from locklens.project.installation import InstallationMethod, MethodKind, OciRepository, repository_of
from locklens.releases.authentication import AuthenticatedRelease, check_reported
from locklens.sources.oci import INDEX_TYPE, MANIFEST_TYPE, Manifest
from locklens.sources.oci_mirror import PACKAGE_TYPE, PROVIDER_TYPE, TARGET_TYPE, OciMirror
from locklens.sources.oci_session import OciPush

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from locklens.addresses import Platform, ProviderAddress
    from locklens.install.mirroring import MirroredBuild
    from locklens.sources.metadata import PackageMetadata
    from locklens.versions import Version

    _Release = tuple[ProviderAddress, Version]

_EMPTY = b"{}"
_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
_USE_ANOTHER = "remove the tag, or use another repository"
_BLOCK = 1 << 16
"""Bytes of one write of an upload: each has to be taken within the time limit of a request."""


class Pushed(Struct, frozen=True):
    """The result of pushing packages.

    Attributes:
        packages: Number of the packages that tags name now; in a dry run, of those that they would name.
    """

    packages: int
    failures: tuple[Diagnostic, ...]


def repositories_of(template: str, providers: Iterable[ProviderAddress]) -> dict[ProviderAddress, OciRepository]:
    """Return the repository of each provider.

    Raises:
        ConfigurationError: The template names none, or one for two providers, whose versions would have the same tags.
    """
    found: dict[ProviderAddress, OciRepository] = {}
    for address in sorted(set(providers)):
        try:
            repository = repository_of(template, address)
        except ValueError as error:
            words = f"the template {template} names no repository for {address}: {error}"
            hint = "write oci://HOST/REPOSITORY, with {hostname}, {namespace} and {type} for the parts of an address"
            raise ConfigurationError(words, hint=hint) from None
        if other := next((one for one, its in found.items() if its == repository), None):
            words = f"{other} and {address} would have the same repository, {repository}"
            raise ConfigurationError(words, hint="add {hostname}, {namespace} or {type} to the repository's name")
        found[address] = repository
    return found


def push(
    builds: Sequence[MirroredBuild],
    context: InstallContext,
    *,
    template: str,
    adds_platforms: bool = False,
    is_dry: bool = False,
) -> Pushed:
    """Push packages, concurrently; one that fails keeps its version from being tagged, and stops no other version.

    A package that its release does not have is a failure too, and its version is tagged without it. The template names
    the repository of each provider, as `repository_template` has it. An index of a version that lacks platforms can be
    replaced by one that has them too.

    Raises:
        ConfigurationError: The template is unusable.
        RunCancelledError: The run was cancelled.
    """
    repositories = repositories_of(template, (address for address, _, _ in builds))
    pushing = _Pushing(context, template, repositories, adds_platforms=adds_platforms, is_dry=is_dry)
    wanted: dict[_Release, list[MirroredBuild]] = {}
    for build in dict.fromkeys(builds):
        wanted.setdefault(build[:2], []).append(build)
    tags = dict(zip(wanted, context.map(pushing.tag, wanted), strict=True))
    failures = [tag for tag in tags.values() if isinstance(tag, Diagnostic)]
    tagged = {release: tag for release, tag in tags.items() if not isinstance(tag, Diagnostic)}
    tried = [build for release in tagged for build in wanted[release]]
    outcomes = context.map(lambda build: pushing.package(build, tagged[build[:2]]), tried)
    packages: dict[_Release, list[_Package]] = {release: [] for release in tagged}
    for (address, version, _), outcome in zip(tried, outcomes, strict=True):
        packages[address, version].append(outcome)
        failures += [] if outcome.failure is None else [outcome.failure]
    unblocked = [release for release, own in packages.items() if not any(one.blocks for one in own)]
    named = context.map(lambda release: pushing.complete(release, tagged[release], packages[release]), unblocked)
    failures += [failure for failure in named if failure is not None]
    done = [release for release, failure in zip(unblocked, named, strict=True) if failure is None]
    return Pushed(sum(one.release is not None for release in done for one in packages[release]), tuple(failures))


class _Tag(Struct, frozen=True):
    """The tag of a version before this run: what it names, and the `zh` of each platform there."""

    push: OciPush
    name: str
    manifest: Manifest | None
    listed: Mapping[Platform, tuple[str, ...]]

    def __str__(self) -> str:
        digest = f" ({self.manifest.digest})" if self.manifest is not None else ""
        return f"{self.push.repository}:{self.name}{digest}"


class _Package(Struct, frozen=True):
    """The outcome of one package.

    Attributes:
        release: Its release; None where it failed, or there is no such package.
        descriptor: Its descriptor for the index; None if the index has it already.
        failure: The error.
        blocks: True if its version must not be tagged without it.
    """

    release: AuthenticatedRelease | None = None
    descriptor: dict[str, Any] | None = None
    failure: Diagnostic | None = None
    blocks: bool = False


class _Pushing:
    """The steps of pushing the packages of one tool's providers."""

    def __init__(
        self,
        context: InstallContext,
        template: str,
        repositories: Mapping[ProviderAddress, OciRepository],
        *,
        adds_platforms: bool,
        is_dry: bool,
    ) -> None:
        registries = context.session.registries(context.dialect).oci()
        registries.named_by = "the address behind oci://"
        self._context = context
        self._adds_platforms = adds_platforms
        self._is_dry = is_dry
        self._pushes = {address: OciPush(repository, registries) for address, repository in repositories.items()}
        self._mirror = OciMirror(InstallationMethod(MethodKind.OCI, template), registries)

    def tag(self, release: _Release) -> _Tag | Diagnostic:
        """Read the tag of a version; an error if it names something that OpenTofu does not install."""
        address, version = release
        push, name = self._pushes[address], str(version).replace("+", "_")
        try:
            manifest = push.tagged(name)
            tag = _Tag(push, name, manifest, {})
            return tag if manifest is None else _Tag(push, name, manifest, self._listed(release, tag))
        except LockLensError as error:
            return self._failed(release, str(error), error.hint)

    def _listed(self, release: _Release, tag: _Tag) -> Mapping[Platform, tuple[str, ...]]:
        try:
            return self._mirror.tagged_hashes(*release)
        except LockLensError as error:
            words = f"{tag} exists, and is not what OpenTofu installs: {error}"
            raise UnavailableError(words, hint=_USE_ANOTHER) from error

    def package(self, build: MirroredBuild, tag: _Tag) -> _Package:
        """Push a package and its manifest."""
        address, version, platform = build
        context, name = self._context, self._context.name(address)
        if not self._is_dry:
            context.emit(FetchStarted(name, version, platform))
        try:
            metadata, release = admitted(context, address, version, platform)
            warn(context, metadata, release)
            was_there, descriptor = self._placed(metadata, release, tag)
        except LockLensError as error:
            blocks = not isinstance(error, PlatformNotSupportedError)
            return _Package(failure=failed(context, build, error), blocks=blocks)
        context.emit(PackageMirrored(name, version, platform, context.authenticator.words(release), was_there))
        return _Package(release, descriptor)

    def _placed(
        self, metadata: PackageMetadata, release: AuthenticatedRelease, tag: _Tag
    ) -> tuple[bool, dict[str, Any] | None]:
        """Push a package that the tag lacks; return whether the registry had it, and its descriptor for the index.

        Raises:
            UnavailableError: The tag names another package, or must not be replaced.
            LockLensError: The package cannot be obtained or pushed.
        """
        platform = metadata.platform
        if platform in tag.listed:
            if metadata.zh in tag.listed[platform]:
                return True, None
            words = f"{tag} exists, and has another package: {', '.join(tag.listed[platform])}"
            raise UnavailableError(words, hint=f"the signed one is {metadata.zh}; {_USE_ANOTHER}")
        if tag.manifest is not None and not self._adds_platforms:
            words = f"{tag} exists and lacks it: it has {', '.join(map(str, tag.listed)) or 'no package'}"
            raise UnavailableError(words, hint="--add-platforms replaces its index by one that has it too")
        digest = f"sha256:{metadata.shasum}"
        was_there = tag.push.has_blob(digest)
        if self._is_dry:
            return was_there, {}
        size = self._sent(metadata, release, tag.push, was_there=was_there)
        build = metadata.address, metadata.version, platform
        return was_there, _pushed_manifest(tag.push, build, {"digest": digest, "size": size})

    def _sent(self, metadata: PackageMetadata, release: AuthenticatedRelease, push: OciPush, *, was_there: bool) -> int:
        """Send a package unless it is there; return its size in bytes, as counted on this machine."""
        context = self._context
        known = context.session.cache.package(metadata.zh) if was_there else None
        if known is not None and known.size:
            check_reported(metadata, release.reported.own, known.size, known.of_files | {known.zh})
            return known.size
        with spool_in(None) as file:
            size = downloaded(context, metadata, release, file).size
            if not was_there:
                build = metadata.address, metadata.version, metadata.platform
                digest = f"sha256:{metadata.shasum}"
                push.push_blob(digest, size, lambda: self._leaving(file, build, size))
        return size

    def complete(self, release: _Release, tag: _Tag, packages: Sequence[_Package]) -> Diagnostic | None:
        """Push the index of a version, and then its tag, unless there is nothing to do; return the error."""
        added = [one.descriptor for one in packages if one.descriptor is not None]
        releases = [one.release for one in packages if one.release is not None]
        if not added:
            return None
        address, version = release
        signed = releases[0].checksums.packages(address.type, str(version))
        for platform, texts in tag.listed.items():
            if not set(texts) <= set(signed.get(platform, ())):
                words = f"{tag} has a package for {platform} that the signed release does not list: {', '.join(texts)}"
                return self._failed(release, words, _USE_ANOTHER)
        try:
            index = _index(tag, added)
            if not self._is_dry:
                tag.push.push_manifest(index)
                now = tag.push.tagged(tag.name)
                if (now and now.digest) != (tag.manifest and tag.manifest.digest):
                    words = f"{tag} was set to something else meanwhile ({now.digest if now else 'it is gone'})"
                    return self._failed(release, words, "run the same command again")
                tag.push.push_manifest(index, tag.name)
        except LockLensError as error:
            return self._failed(release, str(error), error.hint)
        place = f"{tag.push.repository}:{tag.name}"
        digest = "" if self._is_dry else index.digest
        self._context.emit(ReleaseTagged(self._context.name(address), version, place, digest))
        return None

    def _failed(self, release: _Release, words: str, hint: str) -> Diagnostic:
        address, version = release
        return self._context.failed(address, SUMMARY, f"{self._context.name(address)} {version}: {words}", hint)

    def _leaving(self, file: BinaryIO, build: MirroredBuild, size: int) -> Iterator[bytes]:
        """Yield a file's bytes from its beginning, with events about them."""
        address, version, platform = build
        name, sent, last = self._context.name(address), 0, time.monotonic()
        file.seek(0)
        self._context.emit(PackageLeaving(name, version, platform, 0, size))
        while block := file.read(_BLOCK):
            yield block
            sent += len(block)
            if (now := time.monotonic()) - last >= EVENT_SECONDS:
                last = now
                self._context.emit(PackageLeaving(name, version, platform, sent, size))


def _pushed_manifest(push: OciPush, build: MirroredBuild, package: Mapping[str, object]) -> dict[str, Any]:
    """Push the manifest of a package, and return its descriptor for the index."""
    config = _described(_EMPTY)
    push.require_blob(config["digest"], _EMPTY)
    content = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": TARGET_TYPE,
        "config": {"mediaType": _EMPTY_TYPE, **config, "data": "e30="},
        "layers": [
            {
                "mediaType": PACKAGE_TYPE,
                **package,
                "annotations": {"org.opencontainers.image.title": package_file_name(build)},
            }
        ],
    }
    manifest = _manifest(MANIFEST_TYPE, content)
    push.push_manifest(manifest)
    platform = build[2]
    return {
        "mediaType": MANIFEST_TYPE,
        **_described(manifest.body),
        "artifactType": TARGET_TYPE,
        "platform": {"architecture": platform.arch, "os": platform.os},
    }


def _index(tag: _Tag, added: Sequence[dict[str, Any]]) -> Manifest:
    """Return the index of a version: what it was, with more platforms."""
    content: Any = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "artifactType": PROVIDER_TYPE, "manifests": []}
    if tag.manifest is not None:
        with suppress(ValueError, RecursionError):
            content = json.loads(tag.manifest.body)
        if not isinstance(content, dict) or not isinstance(content.get("manifests"), list):
            raise UnavailableError(f"{tag} has an index that cannot be added to", hint="remove the tag")
    # In an order of their own, two runs for the same packages make the same index.
    own = sorted(added, key=lambda one: (one["platform"]["os"], one["platform"]["architecture"]) if one else ())
    content["manifests"] = [*content["manifests"], *own]
    return _manifest(INDEX_TYPE, content)


def _manifest(media_type: str, content: object) -> Manifest:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Manifest(_described(body)["digest"], media_type, body)


def _described(data: bytes) -> dict[str, Any]:
    return {"digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)}
