"""The rules about what is locked as such, compared with nothing: run by the health of a folder."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.dialect import DIALECTS, Dialect
from locklens.policy import Policy
from locklens.review.model import Finding, Severity
from locklens.review.rules import Verdict, finding_of
from locklens.text import counted
from locklens.trust import Signer, Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.lockfile import LockEntry
    from locklens.versions import Version

BEHIND_DAYS = 180
"""Days between two releases from which on the older one counts as behind."""


class Absence(StrEnum):
    """The reason why a root's lock file is not in the repository."""

    MISSING = "missing"
    IGNORED = "ignored"


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


class LockedState(Struct, frozen=True):
    """A root, or one of its locked providers, with what is known of it.

    Attributes:
        tool: The root's tool.
        policy: The policy that applies.
        absence: Why the lock file is not in the repository; None where it is.
        has_backend: True if the configuration says where the state is kept.
        entry: The locked provider; None for the root itself.
        signer: The signer of the locked release; None if unknown.
        behind: None if unknown, or for the newest release.
    """

    tool: Dialect
    policy: Policy = Policy()
    absence: Absence | None = None
    has_backend: bool = False
    entry: LockEntry | None = None
    signer: Signer | None = None
    behind: Behind | None = None


def _not_in_the_repository(state: LockedState) -> Iterator[Verdict]:
    if state.absence is Absence.IGNORED:
        yield Verdict("the lock file exists, and git ignores it: every clone selects versions anew")
    elif state.absence is Absence.MISSING:
        severity = None if state.has_backend else Severity.INFO
        yield Verdict("no lock file: every init selects versions anew", severity=severity)


def _behind(state: LockedState) -> Iterator[Verdict]:
    entry, behind = state.entry, state.behind
    if entry is not None and behind is not None and behind.days >= BEHIND_DAYS:
        newer = f"{counted(behind.versions, 'newer version')} in range"
        yield Verdict(
            f"{entry.address} {entry.version} is {behind.days} days older than {behind.newest}, {newer}", entry.line
        )


def _not_pinned(state: LockedState) -> Iterator[Verdict]:
    entry, signer = state.entry, state.signer
    if entry is None or signer is None or not signer.keys or not state.policy.trust:
        return
    # The tools themselves know the key of the official tier.
    if signer.tier is not Tier.OFFICIAL and state.policy.pin(entry.address) is None:
        keys = " and ".join(key.fingerprint for key in signer.keys)
        yield Verdict(f"{entry.address} {entry.version} is signed by {keys}, which is not pinned", entry.line)


def _other_host(state: LockedState) -> Iterator[Verdict]:
    others = {tool.default_host: tool for tool in DIALECTS.values() if tool is not state.tool}
    if state.entry is not None and (other := others.get(state.entry.address.host)) is not None:
        host = display_host(state.entry.address.host)
        yield Verdict(f"{host} is the registry of {other.product}, locked by {state.tool.product}", state.entry.line)


CHECKS: Mapping[str, Callable[[LockedState], Iterator[Verdict]]] = {
    "LK037": _not_in_the_repository,
    "LK038": _behind,
    "LK039": _not_pinned,
    "LK040": _other_host,
}


def findings_of(rule: str, state: LockedState, lock_file: str) -> Iterator[Finding]:
    """Yield the findings of a rule about a root or an entry of its lock file."""
    line, address = (state.entry.line, state.entry.address) if state.entry is not None else (None, None)
    for verdict in CHECKS[rule](state):
        yield finding_of(rule, verdict, lock_file, line, address)
