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
from locklens.install.context import FetchStarted, PackageLeaving, PackageMirrored, ReleaseTagged
from locklens.install.fetching import EVENT_SECONDS, admitted, downloaded, warn
from locklens.install.mirroring import SUMMARY, package_file_name
from locklens.packages.hashing import spool_in
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.project.oci import repository_of
from locklens.releases.authentication import check_reported
from locklens.sources.oci import INDEX_TYPE, MANIFEST_TYPE, Manifest
from locklens.sources.oci_mirror import PACKAGE, PROVIDER, TARGET, OciMirror
from locklens.sources.oci_push import OciPush

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from locklens.addresses import Platform, ProviderAddress
    from locklens.install.context import InstallContext
    from locklens.install.mirroring import MirroredBuild
    from locklens.project.oci import OciRepository
    from locklens.releases.authentication import AuthenticatedRelease
    from locklens.sources.metadata import PackageMetadata
    from locklens.versions import Version

    _Release = tuple[ProviderAddress, Version]

_EMPTY = b"{}"
_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
_BLOCK = 1 << 16
"""Bytes of one write of an upload: each has to be taken within the time limit of a request."""


class Pushed(Struct, frozen=True):
    """The result of pushing packages.

    Attributes:
        builds: The packages that a tag names now; in a dry run, those that one would name.
        failures: Errors of the others.
    """

    builds: frozenset[MirroredBuild]
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

    Args:
        builds: The packages.
        context: Its threads work.
        template: The repository of each provider, as `repository_template` has it.
        adds_platforms: True to replace the index of a version that lacks platforms by one that has them too.
        is_dry: True to send nothing.

    Raises:
        ConfigurationError: The template is unusable.
        RunCancelledError: The run was cancelled.
    """
    repositories = repositories_of(template, (address for address, _, _ in builds))
    pushing = _Pushing(context, template, repositories, adds_platforms=adds_platforms, is_dry=is_dry)
    wanted: dict[_Release, list[MirroredBuild]] = {}
    for build in dict.fromkeys(builds):
        wanted.setdefault(build[:2], []).append(build)
    failures: list[Diagnostic] = []
    tags: dict[_Release, _Tag] = {}
    for release, tag in zip(wanted, context.map(lambda one: pushing.tag(*one), wanted.items()), strict=True):
        if isinstance(tag, Diagnostic):
            failures.append(tag)
        else:
            tags[release] = tag
    open_builds = [build for release in tags for build in wanted[release]]
    outcomes = context.map(lambda build: pushing.package(build, tags[build[:2]]), open_builds)
    packages: dict[_Release, list[_Package]] = {release: [] for release in tags}
    for build, outcome in zip(open_builds, outcomes, strict=True):
        if isinstance(outcome, Diagnostic):
            failures.append(outcome)
        else:
            packages[build[:2]].append(outcome)
    complete = [release for release in tags if len(packages[release]) == len(wanted[release])]
    named = context.map(lambda release: pushing.complete(release, tags[release], packages[release]), complete)
    failures += [outcome for outcome in named if outcome is not None]
    done = [release for release, outcome in zip(complete, named, strict=True) if outcome is None]
    return Pushed(frozenset(build for release in done for build in wanted[release]), tuple(failures))


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
    """A package that the registry has, with its release, and what the index says of it; None if it says so already."""

    release: AuthenticatedRelease
    descriptor: dict[str, Any] | None


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
        self._context = context
        self._adds_platforms = adds_platforms
        self._is_dry = is_dry
        self._pushes = {address: OciPush(repository, registries) for address, repository in repositories.items()}
        self._mirror = OciMirror(InstallationMethod(MethodKind.OCI, template), registries)

    def tag(self, release: _Release, builds: Sequence[MirroredBuild]) -> _Tag | Diagnostic:
        """Read the tag of a version; an error if it names something that this run must not replace."""
        address, version = release
        push, name = self._pushes[address], str(version).replace("+", "_")
        try:
            manifest = push.tagged(name)
            tag = _Tag(push, name, manifest, {})
            if manifest is not None:
                tag = _Tag(push, name, manifest, self._listed(release, tag))
        except LockLensError as error:
            return self._failed(release, str(error), error.hint)
        lacking = [platform for _, _, platform in builds if platform not in tag.listed]
        if manifest is None or not lacking or self._adds_platforms:
            return tag
        has = ", ".join(map(str, tag.listed)) or "no package"
        words = f"{tag} exists: it has {has}, and lacks {', '.join(map(str, lacking))}"
        return self._failed(release, words, "--add-platforms replaces its index by one that has them too")

    def _listed(self, release: _Release, tag: _Tag) -> Mapping[Platform, tuple[str, ...]]:
        try:
            return self._mirror.listed_hashes(*release)
        except LockLensError as error:
            words = f"{tag} exists, and is not what OpenTofu installs: {error}"
            raise UnavailableError(words, hint="remove the tag, or use another repository") from error

    def package(self, build: MirroredBuild, tag: _Tag) -> _Package | Diagnostic:
        """Push a package and its manifest."""
        address, version, platform = build
        context, name = self._context, self._context.name(address)
        context.emit(FetchStarted(name, version, platform))
        try:
            metadata, release = admitted(context, address, version, platform)
            warn(context, metadata, release)
            digest = f"sha256:{metadata.zh.removeprefix('zh:')}"
            was_there, descriptor = platform in tag.listed, None
            if was_there and metadata.zh not in tag.listed[platform]:
                words = f"{tag} exists, and has another package for {platform}: {', '.join(tag.listed[platform])}"
                hint = f"the signed one is {metadata.zh}; remove the tag, or use another repository"
                return self._failed((address, version), words, hint)
            if not was_there:
                was_there, descriptor = tag.push.has_blob(digest), {}
                if not self._is_dry:
                    size = self._sent(metadata, release, tag.push, was_there=was_there)
                    descriptor = _pushed_manifest(tag.push, build, {"digest": digest, "size": size})
        except PlatformNotSupportedError:
            return context.failed(address, SUMMARY, f"provider {name} {version} is not available for {platform}")
        except LockLensError as error:
            return context.failed(address, SUMMARY, f"{name} {version} for {platform}: {error}", error.hint)
        context.emit(PackageMirrored(name, version, platform, context.authenticator.words(release), was_there))
        return _Package(release, descriptor)

    def _sent(self, metadata: PackageMetadata, release: AuthenticatedRelease, push: OciPush, *, was_there: bool) -> int:
        """Send a package unless it is there; return its bytes, which nobody is believed about."""
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
        """Push the index of a version, and then its tag; None where that is done, or there is nothing to do."""
        added = [one.descriptor for one in packages if one.descriptor is not None]
        if not added:
            return None
        address, version = release
        signed = packages[0].release.checksums.packages(address.type, str(version))
        for platform, texts in tag.listed.items():
            if not set(texts) <= set(signed.get(platform, ())):
                words = f"{tag} has a package for {platform} that the signed release does not list: {', '.join(texts)}"
                return self._failed(release, words, "remove the tag, or use another repository")
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
    if not push.has_blob(config["digest"]):
        push.push_blob(config["digest"], len(_EMPTY), lambda: [_EMPTY])
    content = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": TARGET,
        "config": {"mediaType": _EMPTY_TYPE, **config, "data": "e30="},
        "layers": [
            {
                "mediaType": PACKAGE,
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
        "artifactType": TARGET,
        "platform": {"architecture": platform.arch, "os": platform.os},
    }


def _index(tag: _Tag, added: Sequence[dict[str, Any]]) -> Manifest:
    """Return the index of a version: what it was, with more platforms."""
    content: Any = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "artifactType": PROVIDER, "manifests": []}
    if tag.manifest is not None:
        with suppress(ValueError, RecursionError):
            content = json.loads(tag.manifest.body)
        if not isinstance(content, dict) or not isinstance(content.get("manifests"), list):
            raise UnavailableError(f"{tag} has an index that cannot be added to", hint="remove the tag")
    content["manifests"] = [*content["manifests"], *added]
    return _manifest(INDEX_TYPE, content)


def _manifest(media_type: str, content: object) -> Manifest:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Manifest(_described(body)["digest"], media_type, body)


def _described(data: bytes) -> dict[str, Any]:
    return {"digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)}
