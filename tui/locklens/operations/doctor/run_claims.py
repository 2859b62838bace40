"""What a run tells of its root in a log: what that requires, and what its lock file had of it. Pure."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Self

from msgspec import Struct

from locklens.addresses import AddressError, ProviderAddress
from locklens.dialect import twin_of
from locklens.doctor.messages import OF_LACKING
from locklens.lockfile.update import migrated
from locklens.versions import Constraints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.doctor.messages import RecognisedError
    from locklens.lockfile import LockFile
    from locklens.project.configuration import Configuration


class LockOfRun(IntEnum):
    """The lock file with which a root would print what a run printed, the likeliest first."""

    HERE = 0
    """The one that is here, or was when the log was made."""
    COMMITTED = 1
    """The one of a commit."""
    ABSENT = 2
    """None at all, as in each clone: no commit has the one that is here."""
    NONE = 3
    """None at all, although a commit has one: in its job, each provider is missing."""
    ELSEWHERE = 4
    """Another one, such as that of a branch that is not here."""


class Agreement(NamedTuple):
    """How well a root agrees with what a run tells, the smaller the better.

    Attributes:
        has_other_constraints: True if the run had others than the root has.
        is_guessed: True if the root is not known to require all that the run lists or misses, and not known not to.
    """

    has_other_constraints: bool
    is_guessed: bool
    lock: LockOfRun

    @property
    def had_lock(self) -> bool:
        """True if the root agrees in all, with a lock file that it has or had."""
        return self < (False, False, LockOfRun.ABSENT)

    @property
    def has_none(self) -> bool:
        """True if the run had no lock file."""
        return self.lock in {LockOfRun.ABSENT, LockOfRun.NONE}


class RunClaim(Struct, frozen=True):
    """What a run tells of its root: a list of all that `init` installs, or of all that another command misses.

    Attributes:
        reused: Providers that `init` took from the lock file.
        searched: Those that it chose a version for, since its lock file had none.
        missing: Those that another command requires, and that its lock file lacks: it names each before it stops.
        overridden: Those of `dev_overrides`, which need not be locked.
        constraints: Those on the providers that were searched for, or that a message of the run excludes a version by.
    """

    reused: frozenset[ProviderAddress]
    searched: frozenset[ProviderAddress]
    missing: frozenset[ProviderAddress]
    overridden: frozenset[ProviderAddress]
    constraints: Mapping[ProviderAddress, frozenset[str]]

    @classmethod
    def of(
        cls, error: RecognisedError, errors: Sequence[RecognisedError], parse: Callable[[str], ProviderAddress]
    ) -> Self | None:
        """Return what the run of an error tells, with the other errors of the log; None for nothing.

        Its lines name providers as `parse` reads them.
        """

        def read(names: Iterable[str]) -> frozenset[ProviderAddress]:
            return frozenset(filter(None, (parsed(name, parse) for name in names)))

        same = (one.provider for one in errors if (one.run, one.kind) == (error.run, error.kind))
        is_of_lacking = error.kind in OF_LACKING and not error.is_of_state
        missing = read(same) if is_of_lacking else frozenset[ProviderAddress]()
        if not error.reused and not error.searched and not missing:
            return None
        told = [*zip(error.searched, map(_terms, error.matching), strict=True)]
        told += [(one.provider, _terms(one.constraint)) for one in errors if one.run == error.run and one.constraint]
        constraints = {address: terms for name, terms in told if terms and (address := parsed(name, parse))}
        return cls(read(error.reused), read(error.searched), missing, read(error.overridden), constraints)

    @property
    def listed(self) -> frozenset[ProviderAddress]:
        """All that `init` listed: what its root requires, by the configuration and the state."""
        return self.reused | self.searched

    def is_of(self, configuration: Configuration, locked: frozenset[ProviderAddress]) -> bool:
        """True if a root with a configuration and these locked providers would print what the run printed.

        What a configuration is known to require is all of it only where that was read whole.
        """
        required = configuration.required()
        if self.missing:
            asked = frozenset(one for one in required if not configuration.is_of_init(one))
            is_whole = self.missing <= required or not configuration.complete
            return is_whole and not self.missing & locked and asked - locked <= self.missing | self.overridden
        return self.lists(configuration, locked) and self.reused <= locked and not self.searched & locked

    def lists(self, configuration: Configuration, locked: frozenset[ProviderAddress]) -> bool:
        """True if a root would print what the run printed with some lock file, such as that of another branch.

        Of one without files, what it has locked is required besides.
        """
        if self.missing:
            return self.missing <= configuration.required()
        required = configuration.required() if configuration.has_files else locked | self.searched
        rest, listed = required - self.overridden, self.listed - self.overridden
        return bool(listed) and (rest == listed or (rest < listed and not configuration.complete))

    def may_be_of(self, configuration: Configuration, locked: frozenset[ProviderAddress]) -> bool:
        """True unless a root with a configuration prints something else with any lock file."""
        is_open = not configuration.has_files or (self.missing != frozenset() and not configuration.complete)
        return is_open or self.lists(configuration, locked)

    def is_exactly_of(self, configuration: Configuration) -> bool:
        """True if a configuration requires what the run listed, or missed, and is not only known not to exclude it."""
        required = configuration.required()
        return self.missing <= required if self.missing else required == self.listed

    def has_constraints_of(self, configuration: Configuration) -> bool:
        """True unless a configuration has other constraints on a provider than those of the run."""
        own = {address: terms_of(configuration.constraints(address)) for address in self.constraints}
        if configuration.unknown_constraints:
            return all(own[address] <= terms for address, terms in self.constraints.items())
        return own == self.constraints


def terms_of(constraints: Constraints) -> frozenset[str]:
    """Return the terms of constraints, whose order and number tell nothing."""
    return frozenset(map(str, constraints.terms))


def _terms(text: str) -> frozenset[str]:
    """Return the terms of constraints as a log has them; none for what is no constraint."""
    try:
        return terms_of(Constraints.parse(text)) if text else frozenset()
    except ValueError:
        return frozenset()


def parsed(text: str, parse: Callable[[str], ProviderAddress], *, is_other: bool = False) -> ProviderAddress | None:
    """Return a provider as a tool reads its name, or its twin in the other tool's registry; None if it is no name."""
    try:
        return twin_of(parse(text)) if is_other else parse(text)
    except (AddressError, ValueError):
        return None


def locked_for(lock: LockFile, tool: Dialect, *, of_init: bool) -> frozenset[ProviderAddress]:
    """Return the providers that a run of a tool finds locked: `init` of OpenTofu adds those that it moves."""
    return frozenset(one.address for one in (migrated(lock.entries, tool).entries if of_init else lock.entries))
