"""The rules about what is locked as such, compared with nothing: run by the health of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.dialect import DIALECTS
from locklens.review.context import Absence
from locklens.review.findings import Finding, Severity
from locklens.review.rules import Verdict, finding_of
from locklens.review.rules.root import LOCK_IGNORED
from locklens.text import counted
from locklens.trust import Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry
    from locklens.policy import Policy
    from locklens.trust import Signer
    from locklens.versions import Version

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


def not_in_the_repository(absence: Absence, *, has_backend: bool) -> Iterator[Verdict]:
    """Yield the verdict on a root without a lock file; with a backend, it says where the state is kept."""
    if absence is Absence.IGNORED:
        yield Verdict(f"{LOCK_IGNORED}: every clone selects versions anew", case=absence)
    elif absence is Absence.DELETED:
        words = "the lock file, which git tracks, was deleted: every init selects versions anew"
        yield Verdict(f"{words}; git restore brings it back")
    else:
        severity = None if has_backend else Severity.INFO
        yield Verdict("no lock file: every init selects versions anew", severity=severity)


def behind_newest(entry: LockEntry, behind: Behind) -> Iterator[Verdict]:
    """Yield the verdict on an entry whose release is much older than the newest in range."""
    if behind.days >= BEHIND_DAYS:
        newer = f"{counted(behind.versions, 'newer version')} in range"
        yield Verdict(
            f"{entry.address} {entry.version} is {behind.days} days older than {behind.newest}, {newer}", entry.line
        )


def not_pinned(entry: LockEntry, signer: Signer, policy: Policy) -> Iterator[Verdict]:
    """Yield the verdict on an entry whose signer no pin covers, where the policy pins others."""
    if not signer.keys or not policy.trust:
        return
    # The tools themselves know the key of the official tier.
    if signer.tier is not Tier.OFFICIAL and policy.pin(entry.address) is None:
        keys = " and ".join(key.fingerprint for key in signer.keys)
        yield Verdict(f"{entry.address} {entry.version} is signed by {keys}, which is not pinned", entry.line)


def of_other_tool(entry: LockEntry, tool: Dialect) -> Iterator[Verdict]:
    """Yield the verdict on an entry of the registry of the tool that does not lock it."""
    others = {each.default_host: each for each in DIALECTS.values() if each is not tool}
    if (other := others.get(entry.address.host)) is not None:
        host = display_host(entry.address.host)
        yield Verdict(f"{host} is the registry of {other.product}, locked by {tool.product}", entry.line)


CHECKS: Mapping[str, Callable[..., Iterator[Verdict]]] = {
    "LK037": not_in_the_repository,
    "LK038": behind_newest,
    "LK039": not_pinned,
    "LK040": of_other_tool,
}


def entry_findings(rule: str, verdicts: Iterable[Verdict], entry: LockEntry, lock_file: str) -> Iterator[Finding]:
    """Yield the findings of verdicts on an entry."""
    return (finding_of(rule, verdict, lock_file, entry.line, entry.address) for verdict in verdicts)
