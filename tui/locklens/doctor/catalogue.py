"""The errors of `init`, `providers lock`, `plan` and of what loads plugins, as both tools write them about providers.

A row is recognised by its phrases, which are compared without white space and case: logs are wrapped anywhere. They are
of Terraform 0.14 to 1.15 and OpenTofu to 1.12; product names are left out, since OpenTofu has its own.

Rows stand from the most specific to the most general, and the first that matches counts.
"""

from __future__ import annotations

import re

from msgspec import Struct

from locklens.doctor.messages import MODULE_MISSING
from locklens.doctor.model import CauseId, PackagePath

_C = CauseId

_ABOUT_HASHES = (
    _C.LOCK_SYNTAX, _C.BAD_MERGE, _C.HAND_EDIT, _C.OTHER_TOOL, _C.REPUBLISHED, _C.PLATFORM_MISSING, _C.MIRROR_DIFFERS,
)  # fmt: skip
_ABOUT_NETWORK = (_C.WRONG_SOURCE, _C.REGISTRY_DOWN, _C.PROXY_OR_CA, _C.CREDENTIALS)
_ABOUT_KEYS = (_C.KEY_REVOKED, _C.KEY_EXPIRED, _C.KEY_CHANGED)


class CatalogueRow(Struct, frozen=True):
    """An error of the tools.

    Attributes:
        phrases: Alternatives; each is a tuple of pieces that all occur.
        causes: The causes to test.
        advice: The meaning of the error, and the next step where no cause can be tested.
        is_weak: True if other programs write these phrases too, so that they count within the tools' own errors only.
        path: The origin of the package that the wording gives away; None if it gives none away.
        words: Those of its phrases, in lower case.
    """

    kind: str
    phrases: tuple[tuple[str, ...], ...]
    causes: tuple[CauseId, ...] = ()
    advice: str = ""
    is_weak: bool = False
    path: PackagePath | None = None
    words: tuple[str, ...] = ()


def _row(
    kind: str,
    *phrases: str,
    causes: tuple[CauseId, ...] = (),
    advice: str = "",
    is_weak: bool = False,
    path: PackagePath | None = None,
) -> CatalogueRow:
    """Return a row; "…" in a phrase stands for any text."""
    pieces = tuple(tuple(squeezed(piece) for piece in phrase.split("…")) for phrase in phrases)
    words = tuple(re.findall("[a-z']+", " ".join(phrases).lower()))
    return CatalogueRow(kind, pieces, causes, advice, is_weak, path, words)


def squeezed(text: str) -> str:
    """Return text in lower case without white space."""
    return "".join(text.split()).lower()


_CALLS = (
    "Configure", "Validate", "Read", "Plan", "Apply", "Import", "Upgrade", "Move", "CallFunction", "Open", "Renew",
    "Close",
)  # fmt: skip
"""What the calls begin with that a provider's program gets after that for its schema."""

_SYSTEMS = ("linux", "darwin", "windows", "freebsd", "openbsd", "netbsd", "solaris", "plan9", "aix")
_WRITES, _REFUSALS = (
    ("mkdir ", "open /", "open .", "symlink ", "rename "),
    ("permission denied", "read-only file system"),
)
"""The calls of Go's libraries that put a package in its place, and why the system refuses them."""

_OCI = ("fetching provider package blob", "does not match digest", "mismatch Content-Length")
_OCI_ARTIFACT = (
    "unexpected artifact type", "unexpected manifest media type", "ambiguous manifest", "provider image manifest",
    "image manifest contains no layers", "selected an OCI image manifest", "selected OCI artifact is",
    "for OCI index manifest",
)  # fmt: skip
_REGISTRY_HASHES = (
    "registry response missing package", "invalid package size", "…but received", "expected sha256sum is",
    "does not contain matching sha256sum",
    # locklens' own words
    "registry … reports … of … but the package has", "registry … reports … of … but its SHA256SUMS lists",
)  # fmt: skip
_BAD_RESPONSE = (
    "has incorrect target", "invalid download URL", "invalid SHA256 hash", "invalid version string",
    "invalid package platform", "invalid package hash",
)  # fmt: skip

CATALOGUE = (
    # Lock file and packages
    _row(
        "local-package",
        "the local package for … doesn't match any of the checksums previously recorded",
        causes=(_C.H1_MISSING, _C.CACHE_DIFFERS, *_ABOUT_HASHES),
        advice="a local package is an unpacked folder, in a filesystem mirror or a plugin cache: only h1 hashes count",
        path=PackagePath.UNPACKED_MIRROR,
    ),
    _row(
        "current-package",
        "the current package for … doesn't match any of the checksums previously recorded",
        causes=(*_ABOUT_HASHES, _C.DOWNLOAD_DAMAGED),
        advice="a current package comes from a registry, or as a zip file from a mirror: one zh or h1 is enough",
    ),
    _row(
        "shared-cache",
        "the provider cache at … has a copy of … that doesn't match any of the checksums recorded",
        "Failed to install provider from shared cache",
        causes=(_C.H1_MISSING, _C.CACHE_DIFFERS, *_ABOUT_HASHES),
        advice="a package in the plugin cache is an unpacked folder: only h1 hashes count",
        path=PackagePath.PLUGIN_CACHE,
    ),
    _row(
        "cached-modified",
        "existing cached package at … does it contain local modifications",
        causes=(_C.PLUGIN_CORRUPTED, _C.CACHE_DIFFERS, _C.REPUBLISHED),
        advice="the folder that OpenTofu installs to differs from the package that it fetched",
        path=PackagePath.INSTALLED,
    ),
    _row(
        "cached-package",
        "the cached package for … does not match any of the checksums recorded",
        "failed to verify checksum of … package cached in",
        causes=(_C.H1_MISSING, _C.PLUGIN_CORRUPTED, _C.HAND_EDIT, _C.BAD_MERGE, _C.REPUBLISHED),
        advice="a cached package lies in the data folder, such as .terraform/providers: only h1 hashes count",
        path=PackagePath.INSTALLED,
    ),
    _row(
        "package-mismatch",
        "doesn't match any of the checksums previously recorded in the dependency lock file",
        causes=(_C.H1_MISSING, *_ABOUT_HASHES),
        advice="the beginning of the message is missing: it names a zip file, or a folder, for which only h1 count",
    ),
    _row(
        "plugin-missing",
        "there is no package for … cached in",
        causes=(_C.PLUGIN_MISSING, _C.OTHER_TOOL, _C.CONSTRAINT_CONFLICT, _C.NOT_LOCKED, _C.HAND_EDIT),
        advice="init did not run here, or not since the lock file changed",
        path=PackagePath.INSTALLED,
    ),
    _row(
        "plan-of-other-locks",
        "inconsistent with the configuration in the saved plan",
        "created with a different set of external dependency selections",
        advice="the plan was made with other locked providers: make a new plan, and apply that one",
    ),
    _row(
        "provider-not-available",
        "configuration requires provider … but that provider isn't available",
        "state requires provider … but that provider isn't available",
        "no lock was found for the state store provider",
        "could not find the state store provider",
        "Provider not found in lockfile Failed to find … in the lock file",
        'unavailable provider "',
        "to obtain schema: unknown provider",
        causes=(_C.OTHER_TOOL, _C.NOT_LOCKED, _C.LOCK_SYNTAX),
        advice="the configuration or the state requires a provider that the lock file does not have: run init",
    ),
    _row(
        "builtin-invalid",
        "requires built-in provider",
        "Invalid dependency on built-in provider",
        advice="a built-in provider has no version, and is part of the tool: use a version of the tool that has it",
    ),
    _row(
        "configuration-gone",
        "its original provider configuration at … but it has been removed",
        advice="the state has objects of a provider whose configuration is gone: put it back until they are destroyed",
    ),
    _row(
        "plugin-other-platform",
        "to obtain schema … exec format error",
        "to obtain schema … bad CPU type in executable",
        causes=(_C.PLUGIN_CORRUPTED, _C.PLATFORM_MISSING),
        advice="the installed program is of another platform, or damaged",
        path=PackagePath.INSTALLED,
    ),
    _row(
        "not-locked",
        "required by this configuration but no version is selected",
        causes=(_C.OTHER_TOOL, _C.NOT_LOCKED, _C.LOCK_SYNTAX, _C.BAD_MERGE),
        advice="the configuration requires a provider that the lock file does not have",
    ),
    _row(
        "locked-mismatch",
        "locked version selection … doesn't match the updated version constraints",
        causes=(_C.CONSTRAINT_CONFLICT, _C.HAND_EDIT, _C.BAD_MERGE),
        advice="the configuration was changed, and the lock file was not",
    ),
    _row(
        "lock-constraint",
        "locked provider … does not match configured version constraint",
        causes=(_C.CONSTRAINT_CONFLICT, _C.HAND_EDIT, _C.BAD_MERGE),
        advice="the configuration was changed, and the lock file was not",
    ),
    _row(
        "readonly-changed",
        "Provider dependency changes detected",
        causes=(_C.OTHER_TOOL, _C.NOT_LOCKED, _C.NOT_REQUIRED),
        advice="-lockfile=readonly: the run would add entries to the lock file, or remove some; OpenTofu does so on "
        "every run where a provider of registry.terraform.io/hashicorp alone is required, and not its own of that name",
    ),
    _row(
        "lock-not-updated",
        "Provider lock file not updated",
        causes=(_C.PLATFORM_MISSING, _C.H1_MISSING),
        advice="-lockfile=readonly: the run learned hashes that the lock file does not have",
    ),
    _row(
        "lock-not-written",
        "Error while writing new dependency lock information to",
        advice="the tool could not write the lock file, for the reason at the end of the message",
    ),
    _row(
        "lock-incomplete",
        "Incomplete lock file information for providers",
        causes=(_C.PLATFORM_MISSING,),
        advice="the lock file has hashes of this platform only, since no signed list of hashes was available",
    ),
    _row(
        "lock-invalid",
        "failed to read dependency lock file",
        "Invalid provider hash set",
        "Invalid provider hash string",
        "on .terraform.lock.hcl line",
        "/.terraform.lock.hcl line",
        causes=(_C.LOCK_SYNTAX, _C.BAD_MERGE),
        advice="the lock file cannot be read",
    ),
    # Authentication
    _row(
        "archive-checksum",
        "archive has incorrect checksum zh:",
        causes=(_C.DOWNLOAD_DAMAGED, _C.PACKAGE_ALTERED, _C.REPUBLISHED, _C.MIRROR_DIFFERS, _C.PROXY_OR_CA),
        advice="the file is not the one that the registry or the mirror names",
    ),
    _row(
        "mirror-checksum",
        "provider package doesn't match the expected checksum",
        "provider package doesn't match the any of the expected checksums",
        causes=(_C.MIRROR_DIFFERS, _C.DOWNLOAD_DAMAGED, _C.REPUBLISHED),
        advice="the mirror's index and its package differ: compare the package with the signed release first",
        path=PackagePath.NETWORK_MIRROR,
    ),
    _row(
        "sums-without-package",
        "checksum list has no SHA-256 hash for",
        causes=(_C.PLATFORM_MISSING, _C.YANKED, _C.PROXY_OR_CA, _C.REPUBLISHED),
        advice="what arrived as SHA256SUMS does not list the package: a broken release, or another file",
    ),
    _row(
        "sums-differ",
        "checksum list has unexpected SHA-256 hash",
        causes=(_C.REPUBLISHED, _C.REGISTRY_DOWN),
        advice="SHA256SUMS and the registry's answer differ: a release that was published again, or a stale registry",
    ),
    _row(
        "hash-unsupported",
        "does not support any of the checksum formats",
        causes=(_C.MIRROR_DIFFERS,),
        advice="the mirror names only hash schemes that this version of the tool does not know: use a newer one",
    ),
    _row(
        "unknown-issuer",
        "authentication signature from unknown issuer",
        causes=(_C.OTHER_TOOL, *_ABOUT_KEYS, _C.REPUBLISHED),
        advice="no listed key made the signature; OpenTofu says so of an expired one, too, where it has to refuse that",
    ),
    _row(
        "bad-signature",
        "error checking signature: openpgp",
        "error checking signature",
        causes=(_C.OTHER_TOOL, *_ABOUT_KEYS, _C.REPUBLISHED, _C.DOWNLOAD_DAMAGED),
        advice="SHA256SUMS is not what was signed, or its key or signature is not valid any more",
        is_weak=True,
    ),
    _row(
        "broken-key",
        "error decoding signing key",
        "error decoding trust signature",
        "error checking trust signature",
        causes=(_C.KEY_CHANGED,),
        advice="the registry lists a key that cannot be read: its publisher has to list it again",
    ),
    _row(
        "not-signed",
        "the provider is not signed with a valid signing key",
        causes=(_C.OTHER_TOOL, *_ABOUT_KEYS),
        advice="the reason stands in brackets behind it",
    ),
    _row(
        "package-size",
        "but received a package of size",
        causes=(_C.DOWNLOAD_DAMAGED, _C.PACKAGE_ALTERED, _C.REPUBLISHED, _C.PROXY_OR_CA),
        advice="the package that arrived has another size than the registry reports",
    ),
    _row(
        "registry-hashes",
        *_REGISTRY_HASHES,
        causes=(_C.REPUBLISHED, _C.DOWNLOAD_DAMAGED),
        advice="OpenTofu's registry reports hashes or sizes that its package does not have",
        is_weak=True,
    ),
    _row("sums-crash", "index out of range … getproviders", advice="a blank line in SHA256SUMS crashes the tool"),
    _row(
        "registry-hashes-crash",
        "BUG: conflicting platforms",
        advice="the registry lists one zh for two platforms; it comes and goes, so try again, and report it",
    ),
    # Finding the provider
    _row(
        "platform-unavailable",
        "package available for your current platform",
        "provider mirror … does not have a package of",
        "is not available for … Could not retrieve providers for locking",
        *(f"is not available for {system}_" for system in _SYSTEMS),  # providers lock, an item for each provider
        causes=(_C.PLATFORM_MISSING, _C.MIRROR_LACKS, _C.YANKED),
        advice="the release, or the mirror, has no package for this platform",
    ),
    _row(
        "protocol",
        "No compatible versions of provider",
        "you need to downgrade",
        "need to downgrade to",
        "latest compatible version",
        advice="the tool does not know the plugin protocol of this version: use another version of either",
        is_weak=True,
    ),
    _row(
        "version-gone",
        "the previously-selected version … is no longer available",
        causes=(_C.YANKED, _C.MIRROR_LACKS, _C.HAND_EDIT, _C.OTHER_TOOL),
        advice="the source that is asked now does not list the locked version",
    ),
    _row(
        "no-matching-release",
        "no available releases match the given constraints",
        causes=(_C.OTHER_TOOL, _C.CONSTRAINT_CONFLICT, _C.MIRROR_LACKS, _C.YANKED),
        advice="no version satisfies the constraint, or a local mirror hides those of the registry",
    ),
    _row(
        "credentials-missing",
        "requires authentication credentials",
        causes=(_C.CREDENTIALS, _C.PROXY_OR_CA),
        advice="a 401 or a 403, and no token was sent: the host wants one, or a proxy or the host refuses the runner",
        is_weak=True,
    ),
    _row(
        "credentials-rejected",
        "rejected the given authentication credentials",
        causes=(_C.CREDENTIALS, _C.PROXY_OR_CA),
        advice="a 401 or a 403: a token without access, a mirror that was sent none, or a proxy that refuses",
        is_weak=True,
    ),
    _row(
        "credentials-helper",
        "failed to retrieve credentials for",
        causes=(_C.CREDENTIALS,),
        advice="the credentials helper failed: run it by hand",
        is_weak=True,
    ),
    _row(
        "no-registry",
        "does not offer a … provider registry.",
        "does not offer a … provider registry",
        causes=(_C.WRONG_SOURCE,),
        advice="the host has no provider registry: correct the source address, or the host block",
    ),
    _row(
        "github-source",
        "specifies a GitHub repository rather than",
        advice="a source address is not a repository: copy it from the provider's documentation",
    ),
    _row(
        "discovery-invalid",
        "unsupported Content-Type",
        "malformed Content-Type",
        "failed to decode discovery document",
        "discovery document … too large",
        causes=_ABOUT_NETWORK,
        advice="something else than the registry answered: a sign-in page, or a proxy",
        is_weak=True,
    ),
    _row(
        "registry-unreachable",
        "could not connect to … failed to request discovery document",  # else of a backend or a module
        causes=_ABOUT_NETWORK,
        advice="test https://HOST/.well-known/terraform.json on the runner",
    ),
    _row(
        "provider-unknown",
        "does not have a provider named",
        causes=(_C.OTHER_TOOL, _C.WRONG_SOURCE, _C.CREDENTIALS, _C.YANKED),
        advice="a typing mistake, a root of the other tool, or a module without required_providers: hashicorp/NAME",
    ),
    _row(
        "not-in-sources",
        "was not found in any of the search locations",
        causes=(_C.MIRROR_LACKS, _C.YANKED),
        advice="no place that was searched has it: its command names those, or else provider_installation",
    ),
    _row(
        "mirror-unreadable",
        "cannot search",
        causes=(_C.MIRROR_LACKS,),
        advice="the mirror's folder is missing or cannot be read: create it, or correct its path",
        is_weak=True,
    ),
    _row(
        "legacy-address",
        "Invalid legacy provider address",
        advice="terraform state replace-provider gives it its new address",
    ),
    # Fetching
    _row(
        "sums-unavailable",
        "failed to retrieve authentication checksums",
        "failed to retrieve cryptographic signature",
        "of checksums cannot be fetched for",  # locklens' own words
        "of the checksums cannot be fetched for",
        causes=(_C.REGISTRY_DOWN, _C.PROXY_OR_CA, _C.YANKED),
        advice="the release's host does not give SHA256SUMS, or its signature: allow it in the proxy, or try again",
    ),
    _row("registry-response", *_BAD_RESPONSE, advice="the registry's answer is wrong: report it", is_weak=True),
    _row(
        "registry-failed",
        "could not query provider registry for",
        "failed to query provider mirror",
        causes=(*_ABOUT_NETWORK, _C.MIRROR_LACKS),
        advice="the registry, or the mirror, gave no answer that can be used: its reason follows the message",
    ),
    _row(
        "package-damaged",
        "not a valid zip file",
        "empty archive",
        "entry contains '..'",
        causes=(_C.DOWNLOAD_DAMAGED, _C.MIRROR_DIFFERS),
        advice="the file is no package: a page that was saved as a zip file, or a broken one",
        is_weak=True,
    ),
    _row(
        "oci-tag-missing",
        "resolving tag … not found",
        causes=(_C.MIRROR_LACKS,),
        advice="the OCI repository has no tag of the version, which another place of the configuration lists",
        path=PackagePath.OCI_MIRROR,
        is_weak=True,
    ),
    _row(
        "oci-artifact",
        *_OCI_ARTIFACT,
        causes=(_C.MIRROR_DIFFERS,),
        advice="what the tag in the OCI registry names is no provider that OpenTofu installs: push it again",
        path=PackagePath.OCI_MIRROR,
        is_weak=True,
    ),
    _row(
        "oci-damaged",
        *_OCI,
        causes=(_C.DOWNLOAD_DAMAGED, _C.MIRROR_DIFFERS),
        advice="the OCI artifact is damaged: try again, or push it again",
        path=PackagePath.OCI_MIRROR,
        is_weak=True,
    ),
    _row(
        "download-cut",
        "unexpected EOF",
        "incorrect response size",
        causes=(_C.DOWNLOAD_DAMAGED, _C.PROXY_OR_CA),
        advice="the connection was cut: try again",
        is_weak=True,
    ),
    _row(
        "download-failed",
        "bad response code:",
        "unsuccessful request to",
        "giving up after",
        causes=(*_ABOUT_NETWORK, _C.YANKED, _C.MIRROR_LACKS),
        advice="the host that the message names did not give the file",
        is_weak=True,
    ),
    _row(
        "disk-full",
        "Error while installing…no space left on device",
        "Error while installing…disk quota exceeded",
        "Error while installing…There is not enough space on the disk",
        advice="no space is left where the tool puts the package: free some there, then run init again",
    ),
    _row(
        "file-busy",
        "Error while installing…text file busy",
        "Error while installing…because it is being used by another process",
        advice="a program of the package was running: another run uses the same plugin cache or data folder, and "
        "neither is made for two at once; run one after the other, or give each its own",
    ),
    _row(
        "not-writable",
        *(f"Error while installing…{call}…{reason}" for call in _WRITES for reason in _REFUSALS),
        advice="the tool may not write where it puts the package: see the owner and the mode of the folder that the "
        "message names",
    ),
    _row("binary-missing", "provider binary not found", advice="the package holds no program of this provider"),
    _row(
        "package-unhashable",
        "failed to compute a checksum for it",
        advice="a file of the package cannot be read or named: package it again",
    ),
    _row("not-detected", "still not detected in", advice="a broken link: run it without -chdir", is_weak=True),
    _row(
        "override-missing",
        "to obtain schema: could not read package directory: open",
        "to obtain schema: could not find executable file starting with terraform-provider",
        causes=(_C.PLUGIN_MISSING,),
        advice="dev_overrides of the CLI configuration name a folder, which has no program; the lock file is not asked",
    ),
    _row(
        "plugin-not-executable",
        "to obtain schema: fork/exec … permission denied",
        causes=(_C.PLUGIN_CORRUPTED,),
        advice="the provider's program may not be executed: its mode, or a file system that is mounted noexec",
        path=PackagePath.INSTALLED,
    ),
    _row(
        "plugin-ended",
        *(f"failed to respond to the plugin.(*GRPCProvider).{call}" for call in _CALLS),
        "The terraform-provider-…plugin crashed!",
        advice="the provider's program ran, and ended before it answered: it was killed, as for want of memory, or has "
        "a fault; TF_LOG_PROVIDER=TRACE prints its own words",
    ),
    _row(
        "plugin-failed",
        "failed to instantiate provider … to obtain schema",
        "Could not load the schema for provider",
        "failed to read provider configuration schema for",
        "failed to retrieve schema from provider",
        "Incompatible API version with plugin",
        "The plugin encountered an error, and failed to respond",
        causes=(_C.PLUGIN_CORRUPTED,),
        advice="the provider's program could not be started: it may have been killed, or not be executable here",
        path=PackagePath.INSTALLED,
    ),
    _row("versions-changed", "Inconsistent provider versions", advice="versions changed during the run: try again"),
    _row(
        "entries-migrated",
        "Dependency lock file entries automatically updated",
        causes=(_C.OTHER_TOOL,),
        advice="OpenTofu took entries of Terraform's registry over: review them",
    ),
    _row(
        MODULE_MISSING,
        "Error: Module not installed",
        "Error: Module source has changed",
        "Error: Module version requirements have changed",
        "module is not yet installed. Run",
        "since this module was installed. Run",
        "local cache directory … could not be read. Run",
        causes=(_C.MODULE_MISSING,),
        advice="only init and get install modules: the other commands fail without them",
    ),
    # Wrappers
    _row(
        "plugins-not-installed",
        "Required plugins are not installed",
        "missing or corrupted provider plugins:",
        "Plugin reinitialization required.",
        "Failed to load plugin schemas",
        "Provider requirements cannot be satisfied by locked dependencies",
        "Inconsistent dependency lock file",
        causes=(_C.PLUGIN_MISSING, _C.NOT_LOCKED),
        advice="run init",
    ),
    _row(
        "mirroring-failed",
        "Cannot download provider release",
        "Provider release not available",
        "Provider not available Failed to download",
        "Invalid provider package Failed to authenticate",
        "Invalid URL for provider release",
        "Unable to download the provider used for state storage",
        causes=_ABOUT_NETWORK,
        advice="the reason follows it",
    ),
    _row("locking-failed", "Could not retrieve providers for locking", causes=_ABOUT_NETWORK),
    _row(
        "query-failed",
        "Failed to query available provider packages",
        "Failed to resolve provider packages",
        causes=_ABOUT_NETWORK,
    ),
    _row("install-failed", "Failed to install provider", causes=_ABOUT_NETWORK, is_weak=True),
)

WORDS = frozenset(word for row in CATALOGUE for word in row.words)
"""The words of all phrases, in lower case."""

TITLES = tuple(
    map(
        squeezed,
        (
            "Failed to query available provider packages", "Failed to resolve provider packages",
            "Failed to install provider", "Could not retrieve providers for locking",
            "Could not retrieve the list of available versions for provider", "Incompatible provider version",
            "Required plugins are not installed", "Invalid provider registry host", "Failed to query provider mirror",
            "Failed to query provider package metadata", "error checking signature: openpgp",
            "Could not resolve provider", "Could not load plugin", "Cannot download provider release",
            "Provider release not available", "Invalid provider package", "Unable to download the provider used for",
        ),
    )
)  # fmt: skip
"""Phrases of the tools' own errors, within which weak rows count."""

SUMMARIES = tuple(
    map(
        squeezed,
        (
            "Argument or block definition required", "Cannot download provider release", "Could not load plugin",
            "Could not retrieve providers for locking", "Dependency lock file entries automatically updated",
            "Duplicate provider lock", "Failed to install provider",
            "Failed to load plugin schemas", "Failed to obtain provider schema", "Failed to query",
            "failed to read provider configuration schema", "Failed to resolve provider packages",
            "failed to read dependency lock file", "Failed to update dependency lock file",
            "Incompatible provider version",
            "Incomplete lock file information for providers", "Inconsistent dependency lock file",
            "Inconsistent provider versions", "Invalid dependency on built-in provider", "Invalid expression",
            "Invalid legacy provider address", "Invalid provider", "Invalid URL for provider release",
            "Missing lock for state store", "Missing required provider", "missing or corrupted",
            "Module not installed", "Module source has changed", "Module version requirements have changed",
            "Provider not available", "Provider not found in lockfile", "Provider release not available",
            "State store provider not described",
            "Unable to download the provider",
            "Plugin did not respond", "Provider configuration not present", "Provider dependency changes detected",
            "Provider lock file not updated",
            "Provider requirements cannot be satisfied by locked dependencies", "Required plugins are not installed",
            "Unsupported argument", "Unsupported block type", "Version control conflict markers",
        ),
    )
)  # fmt: skip
"""Beginnings of the tools' summaries, which tell their "Error: " from that of another program."""

BY_KIND = {row.kind: row for row in CATALOGUE}
