"""The check that the signed packages are of the requested release, which the tools omit.

To a tool the names in SHA256SUMS are but keys: it takes the line with the name that the registry says, and locks every
other line beside it. The genuine, signed list of another version is then as good as this one's, and so is that of
another provider of the same signer. An attacker who controls a registry's answers can pass an old release off as a new
one without any key. Only the names say what a list is of, for they are signed too: registries publish packages as
`terraform-provider-TYPE_VERSION_OS_ARCH.zip`.

Two lists without a package of this release are two things:

- One that names packages of another version or type speaks of another release: nothing in it counts.
- One in which no name is of that form says nothing at all. Private registries may call their packages anything, and
  the tools install them; such a list is taken as it is, and its packages stay unknown to the review.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import Platform  # noqa: TC001 - msgspec reads the annotations
from locklens.trust.checksums import Content, named_file
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from locklens.trust.checksums import Checksums, ListedPackage

_NAMED = 3
"""Files that a sentence names; a hostile list has thousands."""


class Build(Struct, frozen=True):
    """One provider's version for one platform; `type` is normalised, as of an address."""

    type: str
    version: Version
    platform: Platform

    def __str__(self) -> str:
        return f"{self.type} {self.version} for {self.platform}"


def foreign_words(checksums: Checksums, filename: str, wanted: Build) -> str:
    """Describe the signed release if it is not the requested one.

    Args:
        checksums: What is signed.
        filename: What the registry calls the package that it offers.
        wanted: Which package was asked for.

    Returns:
        A clause such as "the signed packages are of demo 1.0.0"; "" if it is of this release, or if unknown.
    """
    builds = {file.name: build for file in checksums.files if (build := _build(file)) is not None}
    if not builds:
        return ""
    own = [name for name, build in builds.items() if _is_release(build, wanted)]
    if not own:
        found = list(dict.fromkeys(f"{build.type} {build.version}" for build in builds.values()))
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return f"the signed packages are of {', '.join(found[:_NAMED])}{more}"
    offered = named_file(filename)
    if offered in own and builds[offered].platform == wanted.platform:
        return ""
    if offered in builds:
        return f"the package that the registry offers is of {builds[offered]}"
    # A publisher may call the package of one platform otherwise, but not where the list has it by its usual name.
    is_listed = any(builds[name].platform == wanted.platform for name in own)
    return f"the registry offers a file other than the package of {wanted}" if is_listed else ""


def _build(file: ListedPackage) -> Build | None:
    """Return the build named by a listed file; None if it is not a package, or its version is invalid."""
    if file.content is not Content.PACKAGE or file.platform is None:
        return None
    try:
        return Build(file.type.lower(), Version.parse(file.version.removeprefix("v")), file.platform)
    except VersionSyntaxError:
        return None


def _is_release(build: Build, wanted: Build) -> bool:
    # Build metadata is often lost on the way: hosts of files do not take its `+`.
    versions = {wanted.version, Version(*wanted.version.numbers, wanted.version.prerelease)}
    return build.type == wanted.type and build.version in versions
