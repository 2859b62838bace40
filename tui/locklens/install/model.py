"""What is asked of an installer, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

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
        requirements: All that requires it.
        prior: Its entry in the lock file, None where it has none.
        first: The platform whose package will be asked about first, None where that is not known yet.
    """

    address: ProviderAddress
    requirements: tuple[Requirement, ...]
    prior: LockEntry | None
    first: Platform | None = None

    @property
    def locked(self) -> Version | None:
        """The version in the lock file."""
        return self.prior.version if self.prior is not None else None

    @property
    def pinned(self) -> Version | None:
        """The one version that the constraints admit, as far as an exact one says it."""
        terms = [term for one in self.requirements for term in one.constraints.terms]
        found = {term.version for term in terms if term.is_pin}
        return found.pop() if len(found) == 1 else None


class LockRequest(Struct, frozen=True):
    """A version of a provider whose hashes are wanted.

    Attributes:
        constraints: All of the configuration's, together, for the entry.
        prior: Its entry in the lock file, None where it has none.
        accepts_republished: Whether a locked package may be gone from what the publisher signs today.
    """

    address: ProviderAddress
    version: Version
    platforms: tuple[Platform, ...]
    constraints: Constraints
    prior: LockEntry | None = None
    accepts_republished: bool = False


class Settled(Struct, frozen=True):
    """What became of all providers of a run.

    Attributes:
        entries: The new entry of each that could be settled.
        failures: Why the others could not.
        incomplete: Those whose entry does for this platform alone.
    """

    entries: Mapping[ProviderAddress, LockEntry] = field(default_factory=dict)
    failures: tuple[Diagnostic, ...] = ()
    incomplete: tuple[ProviderAddress, ...] = ()
