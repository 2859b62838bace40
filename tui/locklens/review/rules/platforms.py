"""The rules about platforms: who can install what is locked, on the paths that the policy says are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.coverage import PATH_NAMES, LockedHashes, PathCover, cover
from locklens.review.model import Severity
from locklens.review.rules.verdict import Verdict
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from locklens.policy import InstallPath, Policy


def _lost(before: LockedHashes | None, now: LockedHashes, policy: Policy) -> Iterator[Verdict]:
    """Platforms that surely installed and surely do not; those that nobody wants are worth a word, no more."""
    if before is None:
        return
    found: dict[tuple[tuple[str, ...], tuple[bool, ...]], list[InstallPath]] = {}
    wanted = {str(one.platform) for one in policy.platforms}
    for path in policy.paths_in_order:
        had = cover(before, path, before.platforms).covered
        lost = cover(now, path, had).missing
        for platforms in _split(lost, wanted):
            offered = tuple(now.offered is None or one in now.offered for one in platforms)
            found.setdefault((platforms, offered), []).append(path)
    for (platforms, offered), paths in found.items():
        severity = Severity.INFO if wanted and not wanted & {*platforms} else None
        reason = _reason(platforms, paths, is_offered=all(offered))
        names = f"{listing(platforms)} could install from {_named(paths)} before and cannot now"
        yield Verdict(f"{names}: {reason}", severity=severity)


def _split(platforms: Sequence[str], wanted: set[str]) -> Iterator[tuple[str, ...]]:
    """Those that are wanted apart from the others; where none is wanted in particular, all are alike."""
    for part in ([one for one in platforms if one in wanted], [one for one in platforms if one not in wanted]):
        if part:
            yield tuple(part)


def _not_covered(_: LockedHashes | None, now: LockedHashes, policy: Policy) -> Iterator[Verdict]:
    wanted = [str(one.platform) for one in policy.platforms]
    why = {str(one.platform): f" ({one.why})" if one.why else "" for one in policy.platforms}
    found: dict[tuple[tuple[str, ...], tuple[str, ...], int], list[PathCover]] = {}
    for path in policy.paths_in_order:
        one = cover(now, path, wanted)
        if one.at_least_missing:
            found.setdefault((one.missing, one.doubtful, one.spare), []).append(one)
    for (missing, doubtful, spare), covers in found.items():
        paths = [one.path for one in covers]
        if missing:
            for platforms in _by_offer(missing, now):
                names = listing([f"{one}{why[one]}" for one in platforms])
                are = "is" if len(platforms) == 1 else "are"
                is_offered = now.offered is None or platforms[0] in now.offered
                reason = _reason(platforms, paths, is_offered=is_offered)
                yield Verdict(f"{names} {are} not covered from {_named(paths)}: {reason}")
        if (at_least := len(doubtful) - spare) > 0:
            names = listing([f"{one}{why[one]}" for one in doubtful])
            hashes = "h1" if all(path.needs_h1 for path in paths) else "hash" if spare == 1 else "hashes"
            number = f"at least {at_least} of {names}" if len(doubtful) > 1 else names
            are = "is" if at_least == 1 else "are"
            told = f"{number} {are} not covered from {_named(paths)}"
            yield Verdict(f"{told}: only {spare} {hashes} could be of them")


def _by_offer(platforms: Sequence[str], now: LockedHashes) -> Iterator[tuple[str, ...]]:
    return _split(platforms, set(platforms) if now.offered is None else set(now.offered))


def _reason(platforms: Sequence[str], paths: Sequence[InstallPath], *, is_offered: bool) -> str:
    them = "it" if len(platforms) == 1 else "them"
    if not is_offered:
        return f"the release has no package for {them}"
    what = "no h1" if all(path.needs_h1 for path in paths) else "no hash"
    return f"{what} of {them} is locked"


def _named(paths: Sequence[InstallPath]) -> str:
    return " and ".join(PATH_NAMES[path] for path in paths)


CHECKS: Mapping[str, Callable[[LockedHashes | None, LockedHashes, Policy], Iterator[Verdict]]] = {
    "LK008": _lost,
    "LK009": _not_covered,
}
"""Of what is locked now, beside what was locked before; None for nothing."""
