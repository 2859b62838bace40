"""The rules that hold a lock file against the configuration that it is for."""

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
        message = f"cannot say whether anything requires {address}: {unknown}"
        yield Verdict(message, entry.line, severity=Severity.INFO)
    else:
        yield Verdict(f"nothing requires {address}", entry.line)


def perhaps_not_required(addresses: Sequence[ProviderAddress], configuration: Configuration) -> Iterator[Verdict]:
    """Yields one verdict for several locked providers of which it is unknown whether anything requires them."""
    if addresses:
        message = f"cannot say whether anything requires {listing(list(map(str, addresses)))}"
        yield Verdict(f"{message}: {configuration.unknown_reason}", severity=Severity.INFO)


def askers(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """The requirements that a person wants to see: each declaration, and for a module without one its first use."""
    found = tuple(requirements)
    settled = {one.module for one in found if one.contributor is Contributor.REQUIRED_PROVIDERS}
    shown = []
    for one in found:
        if one.contributor is Contributor.REQUIRED_PROVIDERS or one.constraint:
            shown.append(one)
        elif one.module not in settled:
            settled.add(one.module)
            shown.append(one)
    return tuple(shown)


NOT_REQUIRED = "LK007"

CHECKS: Mapping[str, Callable[[ProviderAddress, LockFile, Configuration], Iterator[Verdict]]] = {
    "LK005": _unsatisfied,
    "LK006": _not_locked,
    NOT_REQUIRED: _not_required,
}
"""Of one provider, locked or required; the lock file is read whole, and there is a configuration."""


def _places(requirements: Sequence[Requirement]) -> str:
    return listing([f"{one.file}:{one.line}" for one in requirements])
