"""The rules that compare a lock file with its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS
from locklens.lockfile.update import predecessor, successor
from locklens.project.configuration import Configuration, Contributor, Requirement, constraint_place, is_source_implied
from locklens.review.findings import NOT_REQUIRED_RULE, Severity
from locklens.review.rules import Verdict
from locklens.text import identity_of, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry, LockFile


def _unsatisfied(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    requirements = configuration.of(address)
    entry = lock.by_address.get(address) or migrated_from(address, lock, configuration.dialect)
    if entry is None or not requirements or configuration.constraints(address).admits(entry.version):
        return
    against = [one for one in requirements if one.constraints.excluded_by(entry.version)]
    name = f"{address} {entry.version}"
    if against:
        places = ", ".join(f"{one.constraint} ({constraint_place(one)})" for one in against)
        first = constraint_place(against[0])
        yield Verdict(f"{name} is locked and does not satisfy {places}", first.line, first.file)
    else:
        yield Verdict(f"{name} is locked, and no constraint names this version exactly", entry.line)


def _not_locked(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    if address in lock.by_address or migrated_from(address, lock, configuration.dialect) is not None:
        return
    if configuration.requires(address) and address not in lock.unreadable:
        asked = askers(configuration.of(address))
        message, case = f"{address} is required by {_places(asked)} and is not locked", ""
        if is_source_implied(configuration.of(address)):
            message, case = f"{message}; no required_providers names its source", IMPLIED
        elif configuration.is_of_init(address):
            case = LOCKED_BY_INIT
        wanted = sorted({(one.file, one.constraint) for one in asked})
        content = identity_of(str(address), *(part for one in wanted for part in one))
        yield Verdict(message, asked[0].line, asked[0].file, content=content, case=case)


def _not_required(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    entry = lock.by_address.get(address)
    if entry is None or configuration.requires(address) or migrates_to(address, lock, configuration) is not None:
        return
    if unknown := configuration.unknown_need(address):
        message = f"could not determine whether {address} is required: {unknown}"
        yield Verdict(message, entry.line, severity=Severity.INFO, case=UNKNOWN)
        return
    dialect = configuration.dialect
    twin = replace(address, host=dialect.default_host)
    if address.host in {one.default_host for one in DIALECTS.values()} and configuration.requires(twin):
        # The other tool may read the same requirement as one of this provider.
        places = _places(askers(configuration.of(twin)))
        message = f"{dialect.product} does not require {address}: by its rules {places} requires {twin}"
        yield Verdict(message, entry.line, case=OTHER_TOOL)
    else:
        yield Verdict(f"nothing requires {address}", entry.line)


def migrated_from(address: ProviderAddress, lock: LockFile, dialect: Dialect) -> LockEntry | None:
    """Return the entry of Terraform's registry that OpenTofu uses for a provider of its own; None without one."""
    old = predecessor(address, dialect)
    return lock.by_address.get(old) if old is not None and address not in lock.by_address else None


def migrates_to(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> ProviderAddress | None:
    """Return the required provider for which OpenTofu uses a locked entry; None if it stays as it is."""
    new = successor(address, configuration.dialect)
    if new is None or not configuration.requires(new):
        return None
    return new if migrated_from(new, lock, configuration.dialect) is not None else None


def migrating(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    """Yield the verdict on an entry that the next `tofu init` migrates, if it does."""
    new = migrates_to(address, lock, configuration)
    if new is not None:
        entry = lock.by_address[address]
        message = f"tofu init moves {address} to {new}: it keeps version {entry.version}, and none of the hashes"
        yield Verdict(message, entry.line, severity=Severity.WARN)


def requirements_of(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> tuple[Requirement, ...]:
    """Return the requirements of a locked provider, or of the one that OpenTofu migrates it to."""
    own = configuration.of(address)
    new = None if own else migrates_to(address, lock, configuration)
    return configuration.of(new) if new is not None else own


def perhaps_not_required(addresses: Sequence[ProviderAddress], configuration: Configuration) -> Iterator[Verdict]:
    """Yield one verdict for several locked providers that may not be required."""
    if addresses:
        are = "is" if len(addresses) == 1 else "are"
        message = f"could not determine whether {listing(list(map(str, addresses)))} {are} required"
        yield Verdict(f"{message}: {configuration.unknown_reason}", severity=Severity.INFO, case=UNKNOWN)


def perhaps_required(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    """Yield the verdict on a removed provider that something may still require, if that is unknown.

    Where nothing is locked any more, the root lost what it needs as soon as one of its providers is required.
    """
    if not configuration.unknown_reason or configuration.requires(address):
        return
    if not lock.exists and configuration.is_known and not (configuration.has_files or configuration.generator):
        return  # The root was removed with its lock file.
    new = successor(address, configuration.dialect)
    if address in lock.unreadable or (new is not None and new in lock.by_address):
        return
    severity = Severity.WARN if not lock.entries and configuration.unknown_constraints else Severity.INFO
    message = f"could not determine whether {address}, which is no longer locked, is required"
    yield Verdict(f"{message}: {configuration.unknown_reason}", severity=severity, case=UNKNOWN)


def askers(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Return the requirements worth showing: each declaration, and the first use in a module without one."""
    candidates = tuple(requirements)
    settled = {each.module for each in candidates if each.contributor is Contributor.REQUIRED_PROVIDERS}
    shown = []
    for requirement in candidates:
        if requirement.contributor is Contributor.REQUIRED_PROVIDERS or requirement.constraint:
            shown.append(requirement)
        elif requirement.module not in settled:
            settled.add(requirement.module)
            shown.append(requirement)
    return tuple(shown)


NOT_LOCKED = "LK006"
UNKNOWN = "unknown"
"""The case of a requirement that cannot be determined."""

LOCKED_BY_INIT = "of init"
"""The case of a provider that the state or test files alone require."""

IMPLIED = "implied"
"""The case of a required provider whose source is only implied by its name."""

OTHER_TOOL = "other tool"
"""The case of a provider that the configuration has from the registry of the tool that judges."""
MOVED = "LK015"

CHECKS: Mapping[str, Callable[[ProviderAddress, LockFile, Configuration], Iterator[Verdict]]] = {
    "LK005": _unsatisfied,
    NOT_LOCKED: _not_locked,
    NOT_REQUIRED_RULE: _not_required,
}
"""The checks of one provider, locked or required; the lock file must be complete, and there must be a configuration."""


def _places(requirements: Sequence[Requirement]) -> str:
    return listing([f"{one.file}:{one.line}" for one in requirements])
