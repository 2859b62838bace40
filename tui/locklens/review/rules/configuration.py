"""The rules that compare a lock file with its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.project.configuration import Contributor
from locklens.review.model import Severity
from locklens.review.rules.verdict import Verdict
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockFile
    from locklens.project.configuration import Configuration, Requirement


def _unsatisfied(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    entry, requirements = lock.by_address.get(address), configuration.of(address)
    if entry is None or not requirements or configuration.constraints(address).admits(entry.version):
        return
    against = [one for one in requirements if one.constraints.excluded_by(entry.version)]
    name = f"{address} {entry.version}"
    if against:
        places = ", ".join(f"{one.constraint} ({one.file}:{one.line})" for one in against)
        yield Verdict(f"{name} is locked and does not satisfy {places}", against[0].line, against[0].file)
    else:
        yield Verdict(f"{name} is locked, and no constraint names this version exactly", entry.line)


def _not_locked(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    if configuration.requires(address) and address not in lock.by_address and address not in lock.unreadable:
        asked = askers(configuration.of(address))
        message = f"{address} is required by {_places(asked)} and is not locked"
        yield Verdict(message, asked[0].line, asked[0].file)


def _not_required(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> Iterator[Verdict]:
    entry = lock.by_address.get(address)
    if entry is None or configuration.requires(address):
        return
    if unknown := configuration.unknown_reason:
        message = f"could not determine whether {address} is required: {unknown}"
        yield Verdict(message, entry.line, severity=Severity.INFO)
    else:
        yield Verdict(f"nothing requires {address}", entry.line)


def perhaps_not_required(addresses: Sequence[ProviderAddress], configuration: Configuration) -> Iterator[Verdict]:
    """Yields one verdict for several locked providers that may not be required."""
    if addresses:
        are = "is" if len(addresses) == 1 else "are"
        message = f"could not determine whether {listing(list(map(str, addresses)))} {are} required"
        yield Verdict(f"{message}: {configuration.unknown_reason}", severity=Severity.INFO)


def askers(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Returns the requirements worth showing: each declaration, and the first use in a module without one."""
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


NOT_REQUIRED = "LK007"

CHECKS: Mapping[str, Callable[[ProviderAddress, LockFile, Configuration], Iterator[Verdict]]] = {
    "LK005": _unsatisfied,
    "LK006": _not_locked,
    NOT_REQUIRED: _not_required,
}
"""The checks of one provider, locked or required; the lock file must be complete, and there must be a configuration."""


def _places(requirements: Sequence[Requirement]) -> str:
    return listing([f"{one.file}:{one.line}" for one in requirements])
