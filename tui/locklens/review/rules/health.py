"""The rules about what is locked as such, compared with nothing: run by the health of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from locklens.addresses import display_host
from locklens.dialect import DIALECTS
from locklens.review.context import Absence
from locklens.review.model import Finding, Severity
from locklens.review.rules import Verdict, finding_of
from locklens.review.rules.root import LOCK_IGNORED
from locklens.text import counted
from locklens.trust import Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry
    from locklens.policy import Policy
    from locklens.trust import Signer
    from locklens.versions import Version

State = TypeVar("State")

BEHIND_DAYS = 180
"""Days between two releases from which on the older one counts as behind."""


class Behind(Struct, frozen=True):
    """The newest release that the constraints of a root allow, and the distance of the locked one.

    Attributes:
        newest: Its version.
        days: Days from the locked release to it.
        versions: Releases in range that are newer than the locked one.
    """

    newest: Version
    days: int
    versions: int


class AbsentLock(Struct, frozen=True):
    """A root whose lock file is not in the repository.

    Attributes:
        has_backend: True if the configuration says where the state is kept.
    """

    reason: Absence
    has_backend: bool


class LockedEntry(Struct, frozen=True):
    """A locked provider, and the tool of its root."""

    tool: Dialect
    entry: LockEntry


class SignedEntry(LockedEntry, frozen=True):
    """A locked provider with the signer of its release, and the policy that applies."""

    signer: Signer
    policy: Policy


class AgedEntry(LockedEntry, frozen=True):
    """A locked provider with the distance to the newest release in range, which is another one."""

    behind: Behind


def _not_in_the_repository(state: AbsentLock) -> Iterator[Verdict]:
    if state.reason is Absence.IGNORED:
        yield Verdict(f"{LOCK_IGNORED}: every clone selects versions anew", case=state.reason)
    elif state.reason is Absence.DELETED:
        words = "the lock file, which git tracks, was deleted: every init selects versions anew"
        yield Verdict(f"{words}; git restore brings it back")
    else:
        severity = None if state.has_backend else Severity.INFO
        yield Verdict("no lock file: every init selects versions anew", severity=severity)


def _behind(state: AgedEntry) -> Iterator[Verdict]:
    entry, behind = state.entry, state.behind
    if behind.days >= BEHIND_DAYS:
        newer = f"{counted(behind.versions, 'newer version')} in range"
        yield Verdict(
            f"{entry.address} {entry.version} is {behind.days} days older than {behind.newest}, {newer}", entry.line
        )


def _not_pinned(state: SignedEntry) -> Iterator[Verdict]:
    entry, signer = state.entry, state.signer
    if not signer.keys or not state.policy.trust:
        return
    # The tools themselves know the key of the official tier.
    if signer.tier is not Tier.OFFICIAL and state.policy.pin(entry.address) is None:
        keys = " and ".join(key.fingerprint for key in signer.keys)
        yield Verdict(f"{entry.address} {entry.version} is signed by {keys}, which is not pinned", entry.line)


def _other_host(state: LockedEntry) -> Iterator[Verdict]:
    others = {tool.default_host: tool for tool in DIALECTS.values() if tool is not state.tool}
    if (other := others.get(state.entry.address.host)) is not None:
        host = display_host(state.entry.address.host)
        yield Verdict(f"{host} is the registry of {other.product}, locked by {state.tool.product}", state.entry.line)


OF_ABSENCE: Mapping[str, Callable[[AbsentLock], Iterator[Verdict]]] = {"LK037": _not_in_the_repository}
OF_AGE: Mapping[str, Callable[[AgedEntry], Iterator[Verdict]]] = {"LK038": _behind}
OF_SIGNER: Mapping[str, Callable[[SignedEntry], Iterator[Verdict]]] = {"LK039": _not_pinned}
OF_ENTRY: Mapping[str, Callable[[LockedEntry], Iterator[Verdict]]] = {"LK040": _other_host}

CHECKS: Mapping[str, Callable[..., Iterator[Verdict]]] = {**OF_ABSENCE, **OF_AGE, **OF_SIGNER, **OF_ENTRY}
"""A check belongs to the table of the state that it judges: a table is always run as a whole."""


def findings_of(
    checks: Mapping[str, Callable[[State], Iterator[Verdict]]], state: State, lock_file: str
) -> Iterator[Finding]:
    """Yield the findings of all checks of one kind of state."""
    entry = state.entry if isinstance(state, LockedEntry) else None
    line, address = (entry.line, entry.address) if entry is not None else (None, None)
    for rule, check in checks.items():
        for verdict in check(state):
            yield finding_of(rule, verdict, lock_file, line, address)
