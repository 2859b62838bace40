"""Requests to an installer, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens.hashes import is_known_scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import Platform, ProviderAddress
    from locklens.diagnostics import Diagnostic
    from locklens.lockfile.model import LockEntry
    from locklens.project.configuration import Requirement
    from locklens.versions import Constraints, Version


class ProviderRequirement(Struct, frozen=True):
    """A provider that a configuration requires.

    Attributes:
        requirements: All of its requirements.
        prior: Its entry in the lock file, None where it has none.
        first: The platform whose package is looked up first, None while that is unknown.
    """

    address: ProviderAddress
    requirements: tuple[Requirement, ...]
    prior: LockEntry | None
    first: Platform | None = None

    @property
    def locked(self) -> Version | None:
        """The version in the lock file."""
        return self.prior.version if self.prior is not None else None

    def locked_hashes(self, version: Version) -> frozenset[str]:
        """The locked hashes that the tools compare, if it is the locked version; empty otherwise."""
        prior = self.prior
        return frozenset(filter(is_known_scheme, prior.hashes)) if prior and prior.version == version else frozenset()

    @property
    def pinned(self) -> Version | None:
        """The version of an exact constraint; None where there is none, or several."""
        terms = [term for requirement in self.requirements for term in requirement.constraints.terms]
        versions = {term.version for term in terms if term.is_pin}
        return versions.pop() if len(versions) == 1 else None


class LockRequest(Struct, frozen=True):
    """A version of a provider to lock.

    Attributes:
        constraints: The combined constraints of the configuration, for the entry.
        prior: Its entry in the lock file, None where it has none.
        accepts_republished: True if a locked package may be missing from the signed release.
        adds_reported: False to leave out what a registry reports of platforms that are not requested.
    """

    address: ProviderAddress
    version: Version
    platforms: tuple[Platform, ...]
    constraints: Constraints
    prior: LockEntry | None = None
    accepts_republished: bool = False
    adds_reported: bool = True


class Settled(Struct, frozen=True):
    """The results for all providers of a run.

    Attributes:
        entries: The new entries.
        failures: Errors of the other providers.
        incomplete: Providers whose entry covers this platform only.
    """

    entries: Mapping[ProviderAddress, LockEntry] = field(default_factory=dict)
    failures: tuple[Diagnostic, ...] = ()
    incomplete: tuple[ProviderAddress, ...] = ()
