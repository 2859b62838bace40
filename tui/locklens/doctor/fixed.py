"""Whether the error of a log is one of the past: what it was about has changed since. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.model import Basis, CauseVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Cause

_OF_ENTRIES = frozenset(
    {"local-package", "current-package", "shared-cache", "cached-package", "plugin-missing", "version-gone",
     "lock-constraint", "locked-mismatch"}
)  # fmt: skip
"""Errors of the version that is locked; others may name one that was about to be."""

_OF_HASHES = frozenset({"local-package", "current-package", "shared-cache", "cached-package"})


def fixed_words(x: Examined, causes: Sequence[Cause]) -> str:
    """Return what has changed since the error, in a clause; "" where it is still to be expected, or nothing tells.

    Args:
        x: What is known.
        causes: The causes as they are judged now.
    """
    if x.error is None or x.lock.conflict is not None or x.lock.problems:
        return ""
    kind, entry = x.error.kind, x.entry
    if kind == "lock-invalid":
        return "each lock file here can be read now" if x.lock.exists else ""
    if entry is None:
        was = next((one.entry for one in x.past if one.entry is not None), None)
        is_gone = kind in _OF_ENTRIES and was is not None and str(was.version) == x.error.version
        return f"{x.lock.path} no longer has {x.name} {x.error.version}" if is_gone else ""
    place = f"{x.lock.path}:{entry.line}"
    if kind in _OF_ENTRIES and is_of_other_version(x):
        return f"the lock file no longer has {x.name} {x.error.version}: {entry.version} is locked ({place})"
    if kind in {"not-locked", "provider-not-available"}:
        return f"{x.release} is locked now ({place})"
    if kind in {"locked-mismatch", "lock-constraint"}:
        return _satisfied(x)
    return _changed(x, causes) if kind in _OF_HASHES else ""


def is_of_other_version(x: Examined) -> bool:
    """True if the error names another version than the locked one."""
    return x.error is not None and x.entry is not None and x.error.version not in {"", str(x.entry.version)}


def _satisfied(x: Examined) -> str:
    assert x.entry is not None
    if x.configuration is None or x.address is None or not x.configuration.of(x.address):
        return ""
    constraints = x.configuration.constraints(x.address)
    is_met = x.configuration.complete and constraints.admits(x.entry.version)
    return f"{x.release} satisfies {constraints or 'the configuration'} now" if is_met else ""


def _changed(x: Examined, causes: Sequence[Cause]) -> str:
    """Return how hashes or folders have changed, where nothing speaks for a cause any more."""
    assert x.entry is not None
    holding = {CauseVerdict.YES, CauseVerdict.LIKELY}
    if any(cause.verdict in holding and cause.basis is not Basis.GUESS for cause in causes):
        return ""
    if x.replaced:
        return f"{x.replaced} was moved aside"
    before = x.past[0].entry if x.past else None
    if before is None or before.version != x.entry.version:
        return ""
    committed, now = frozenset(before.hashes), frozenset(x.entry.hashes)
    is_restored = any(one.entry is not None and frozenset(one.entry.hashes) == now for one in x.past[1:])
    # Hashes that were taken away or replaced by hand may be what the failing run met.
    if committed == now or not (committed < now or is_restored):
        return ""
    return f"the hashes of {x.release} differ from those of commit {x.past[0].commit[:12]}"
