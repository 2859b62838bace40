"""Tests the causes of an error, each by its function, and ranks them by what speaks for them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.examined import ASSUMED
from locklens.doctor.lock_causes import (
    bad_merge,
    constraint_conflict,
    hand_edit,
    lock_syntax,
    not_locked,
    other_tool,
    wrong_source,
)
from locklens.doctor.model import Basis, CauseId, CauseVerdict, most_likely_first
from locklens.doctor.network_causes import credentials, proxy_or_ca, registry_down
from locklens.doctor.package_causes import (
    ASK_PLATFORM,
    cache_differs,
    h1_missing,
    mirror_differs,
    mirror_lacks,
    platform_missing,
    plugin_corrupted,
    plugin_missing,
)
from locklens.doctor.release_causes import (
    download_damaged,
    key_changed,
    key_expired,
    key_revoked,
    package_altered,
    republished,
    yanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Cause

TESTS: Mapping[CauseId, Callable[[Examined], Cause | None]] = {
    CauseId.LOCK_SYNTAX: lock_syntax,
    CauseId.BAD_MERGE: bad_merge,
    CauseId.NOT_LOCKED: not_locked,
    CauseId.CONSTRAINT_CONFLICT: constraint_conflict,
    CauseId.HAND_EDIT: hand_edit,
    CauseId.OTHER_TOOL: other_tool,
    CauseId.REPUBLISHED: republished,
    CauseId.YANKED: yanked,
    CauseId.H1_MISSING: h1_missing,
    CauseId.PLATFORM_MISSING: platform_missing,
    CauseId.MIRROR_DIFFERS: mirror_differs,
    CauseId.CACHE_DIFFERS: cache_differs,
    CauseId.PLUGIN_CORRUPTED: plugin_corrupted,
    CauseId.PLUGIN_MISSING: plugin_missing,
    CauseId.DOWNLOAD_DAMAGED: download_damaged,
    CauseId.KEY_REVOKED: key_revoked,
    CauseId.KEY_EXPIRED: key_expired,
    CauseId.KEY_CHANGED: key_changed,
    CauseId.CREDENTIALS: credentials,
    CauseId.WRONG_SOURCE: wrong_source,
    CauseId.MIRROR_LACKS: mirror_lacks,
    CauseId.PACKAGE_ALTERED: package_altered,
    CauseId.PROXY_OR_CA: proxy_or_ca,
    CauseId.REGISTRY_DOWN: registry_down,
}

_WITHOUT_LOG = (
    CauseId.LOCK_SYNTAX, CauseId.BAD_MERGE, CauseId.NOT_LOCKED, CauseId.CONSTRAINT_CONFLICT, CauseId.HAND_EDIT,
    CauseId.OTHER_TOOL, CauseId.REPUBLISHED, CauseId.YANKED, CauseId.PLATFORM_MISSING, CauseId.CACHE_DIFFERS,
    CauseId.PLUGIN_CORRUPTED, CauseId.PLUGIN_MISSING, CauseId.KEY_REVOKED,
)  # fmt: skip
"""The causes that a root is examined for without a log: those that stop the next `init`."""


CAUSES_OF_RULES: Mapping[str, tuple[CauseId, ...]] = {
    "LK001": (CauseId.REPUBLISHED,),
    "LK002": (CauseId.HAND_EDIT, CauseId.BAD_MERGE, CauseId.OTHER_TOOL),
    "LK003": (CauseId.REPUBLISHED, CauseId.HAND_EDIT),
    "LK005": (CauseId.CONSTRAINT_CONFLICT,),
    "LK006": (CauseId.NOT_LOCKED,),
    "LK008": (CauseId.PLATFORM_MISSING, CauseId.H1_MISSING),
    "LK009": (CauseId.PLATFORM_MISSING, CauseId.H1_MISSING),
    "LK010": (CauseId.KEY_CHANGED,),
    "LK011": (CauseId.KEY_CHANGED,),
    "LK012": (CauseId.KEY_EXPIRED, CauseId.KEY_REVOKED),
    "LK017": (CauseId.HAND_EDIT,),
    "LK019": (CauseId.LOCK_SYNTAX, CauseId.BAD_MERGE),
    "LK020": (CauseId.MIRROR_DIFFERS, CauseId.PLATFORM_MISSING),
    "LK023": (CauseId.REPUBLISHED, CauseId.HAND_EDIT, CauseId.BAD_MERGE),
    "LK024": (CauseId.H1_MISSING,),
    "LK025": (CauseId.HAND_EDIT,),
    "LK026": (CauseId.OTHER_TOOL,),
    "LK027": (CauseId.CACHE_DIFFERS, CauseId.PLUGIN_CORRUPTED, CauseId.MIRROR_DIFFERS),
    "LK030": (CauseId.KEY_CHANGED, CauseId.KEY_EXPIRED, CauseId.KEY_REVOKED),
    "LK032": (CauseId.OTHER_TOOL,),
    "LK037": (CauseId.NOT_LOCKED,),
}
"""The causes that a finding suggests, the likeliest first; those of other rules are no errors of `init`."""


def suggested_causes(rules: Iterable[str]) -> tuple[CauseId, ...]:
    """Return the causes that findings suggest."""
    return tuple(dict.fromkeys(cause for rule in rules for cause in CAUSES_OF_RULES.get(rule, ())))


def judge_causes(examined: Examined, rules: Sequence[str] = ()) -> tuple[Cause, ...]:
    """Return the causes of one error, or of any error of a root, the most likely first.

    Args:
        examined: What is known.
        rules: Rules of the findings that led here.
    """
    row = BY_KIND.get(examined.error.kind) if examined.error is not None else None
    suggested = suggested_causes(rules)
    ids = row.causes if row is not None else (*suggested, *_WITHOUT_LOG)
    tested = (TESTS[one](examined) for one in dict.fromkeys(ids))
    name = str(examined.address) if examined.address is not None else ""
    causes = [replace(cause, provider=name) for cause in tested if cause is not None]
    if examined.error is not None:
        causes = [_of_known_platform(as_of_the_run(cause), examined) for cause in causes]
    return most_likely_first(causes, suggested)


def _of_known_platform(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error: what depends on a platform that is only assumed is likely at most."""
    source = dict(examined.incident.sources).get("platform", "")
    if cause.verdict is CauseVerdict.YES and cause.id in _OF_PLATFORMS and source.startswith(ASSUMED):
        words = f"{cause.evidence}; that the failing run was on {examined.platform} is assumed"
        return replace(cause, verdict=CauseVerdict.LIKELY, evidence=words)
    if cause.verdict is CauseVerdict.NO and cause.id in _OF_PLATFORMS and source.startswith(ASSUMED):
        words = f"{cause.evidence}; that the failing run was on {examined.platform} is assumed"
        return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=words, missing=ASK_PLATFORM)
    return cause


_OF_PLATFORMS = frozenset({CauseId.H1_MISSING, CauseId.PLATFORM_MISSING})


def as_of_the_run(cause: Cause) -> Cause:
    """Return a cause of an error: what only this machine finds makes it likely at most, and rules nothing out."""
    if cause.verdict is CauseVerdict.YES and cause.basis in {Basis.HERE, Basis.GUESS}:
        words = f"{cause.evidence}; that is found here and now, and says little about the failing run"
        return replace(cause, verdict=CauseVerdict.LIKELY, evidence=words)
    if cause.verdict is CauseVerdict.NO and cause.basis is Basis.HERE:
        missing = cause.missing or "the package of the failing run: --package PATH|HASH"
        return replace(cause, verdict=CauseVerdict.UNKNOWN, missing=missing)
    return cause


def of_one_root(groups: Sequence[tuple[Cause, ...]]) -> list[tuple[Cause, ...]]:
    """Return the causes of one error in roots whose entries differ: certain only where they are for all of them."""
    certain = [{cause.id for cause in causes if cause.verdict is CauseVerdict.YES} for causes in groups]
    for_all = set[CauseId].intersection(*certain) if certain else set[CauseId]()
    words = f"; the log does not say of which of {len(groups)} entries it is"

    def judged(cause: Cause) -> Cause:
        if cause.verdict is not CauseVerdict.YES or cause.id in for_all:
            return cause
        return replace(cause, verdict=CauseVerdict.LIKELY, evidence=cause.evidence + words)

    return [most_likely_first(map(judged, causes)) for causes in groups]


def joined_causes(groups: Iterable[tuple[Cause, ...]], rules: Sequence[str] = ()) -> tuple[Cause, ...]:
    """Return the causes of several providers, each id once: its most certain verdict, with the evidence for it.

    A cause is ruled out only where it is for every provider. `rules` are those of the findings that led here.
    """
    by_id: dict[CauseId, list[Cause]] = {}
    for cause in (cause for group in groups for cause in group):
        by_id.setdefault(cause.id, []).append(cause)
    return most_likely_first([_joined(causes) for causes in by_id.values()], suggested_causes(rules))


_MOST_NAMED = 5


def _joined(causes: list[Cause]) -> Cause:
    first = most_likely_first(causes)[0]
    same = [cause for cause in causes if (cause.verdict, cause.basis) == (first.verdict, first.basis)]
    evidence = list(dict.fromkeys(cause.evidence for cause in same))
    if len(evidence) == 1:
        return same[0]
    words = [f"{cause.provider.rpartition('/')[2]}: {cause.evidence}" for cause in same]
    shown = list(dict.fromkeys(words))
    more = f"; and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    moments = [cause.as_of for cause in same if cause.as_of]
    return replace(
        same[0],
        evidence="; ".join(shown[:_MOST_NAMED]) + more,
        as_of=min(moments, default=None),
    )
