"""The rules about coverage: the platforms that a lock file can install, on the install paths of the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hashes import is_of_files
from locklens.policy import InstallPath, Policy
from locklens.review.coverage import PATH_NAMES, LockedHashes, cover
from locklens.review.findings import Severity
from locklens.review.rules import Verdict
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


def _lost(
    before: LockedHashes | None, now: LockedHashes, policy: Policy, paths_in_use: Sequence[InstallPath]
) -> Iterator[Verdict]:
    """Platforms that were definitely covered and are not any more, or may not be; info for those not required."""
    if before is None:
        return
    losses: dict[tuple[tuple[str, ...], tuple[bool, ...]], list[InstallPath]] = {}
    doubts: dict[tuple[tuple[str, ...], int], list[InstallPath]] = {}
    required = {str(each.platform) for each in policy.platforms}
    for path in paths_in_use:
        left = cover(now, path, cover(before, path, policy.on_path(path, before.platforms)).covered)
        for platforms in _split(left.missing, required):
            offered = tuple(now.offered is None or platform in now.offered for platform in platforms)
            losses.setdefault((platforms, offered), []).append(path)
        for platforms in _split(left.doubtful, required) if _is_doubt(now, path) else ():
            doubts.setdefault((platforms, left.spare), []).append(path)
    for (platforms, offered), paths in losses.items():
        is_offered = all(offered)
        reason = _reason(platforms, paths, is_offered=is_offered)
        verb = "has" if len(platforms) == 1 else "have"
        words = f"{_had(platforms, paths)}, and {verb} none now: {reason}"
        yield Verdict(words, severity=_weight(platforms, paths, required), case=_case(now, is_offered=is_offered))
    for (platforms, spare), paths in doubts.items():
        have = "it has one" if len(platforms) == 1 else "they have any"
        words = f"{_had(platforms, paths)}, and it is unknown whether {have} now: {_perhaps(platforms, paths, spare)}"
        yield Verdict(words, severity=_weight(platforms, paths, required), case=_UNKNOWN)


def _had(platforms: Sequence[str], paths: Sequence[InstallPath]) -> str:
    hashes = "a usable hash" if len(platforms) == 1 else "usable hashes"
    return f"{listing(platforms)} had {hashes} for {_named(paths)} before"


def _weight(platforms: Sequence[str], paths: Sequence[InstallPath], required: set[str]) -> Severity | None:
    is_minor = bool(required) and not required & {*platforms}
    return Severity.INFO if is_minor or set(paths) == {InstallPath.PLUGIN_CACHE} else None


_UNKNOWN = "unknown"
"""The case of a platform of which the change leaves open whether it is covered."""


def _is_doubt(now: LockedHashes, path: InstallPath) -> bool:
    """True if a platform in doubt is one more thing to say.

    Of an unknown release, what is unknown is said as such. A plugin cache is passed over without a usable hash, and
    after each upgrade its `h1` are of unknown platform.
    """
    return now.offered is not None and path is not InstallPath.PLUGIN_CACHE


def _perhaps(platforms: Sequence[str], paths: Sequence[InstallPath], spare: int) -> str:
    """The hashes that may cover platforms in doubt, in words, and what tells."""
    them = "it" if len(platforms) == 1 else "them"
    hashes = f"{counted(spare, 'locked hash', 'locked hashes')} of unknown platform may be for {them}"
    # A package in a mirror may be none of the registry's, which alone are downloaded.
    return f"{hashes}; --prove all, or v on the screen, tells" if InstallPath.DIRECT in paths else hashes


def _split(platforms: Sequence[str], required: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield the required platforms, then the others; all of them together if none is required."""
    for part in ([one for one in platforms if one in required], [one for one in platforms if one not in required]):
        if part:
            yield tuple(part)


def _not_covered(
    before: LockedHashes | None, now: LockedHashes, policy: Policy, paths_in_use: Sequence[InstallPath]
) -> Iterator[Verdict]:
    """Required platforms that are definitely not covered, or that the change may have covered."""
    required = [str(each.platform) for each in policy.platforms]
    why = {str(each.platform): f" ({each.why})" if each.why else "" for each in policy.platforms}
    gaps: dict[tuple[tuple[str, ...], tuple[str, ...], int, str], list[InstallPath]] = {}
    doubts: dict[tuple[tuple[str, ...], int], list[InstallPath]] = {}
    for path in paths_in_use:
        on_path = cover(now, path, policy.on_path(path, required))
        if on_path.at_least_missing:
            gap = on_path.missing, on_path.doubtful, on_path.spare, _then(path, now)
            gaps.setdefault(gap, []).append(path)
        unsettled = on_path.doubtful if before is None else cover(before, path, on_path.doubtful).missing
        if unsettled and _is_doubt(now, path) and len(on_path.doubtful) <= on_path.spare:
            doubts.setdefault((unsettled, on_path.spare), []).append(path)
    for (missing, doubtful, spare, then), paths in gaps.items():
        severity = Severity.INFO if then == _CACHE_UNUSED else None
        if missing:
            for platforms in _by_offer(missing, now):
                names = listing([f"{platform}{why[platform]}" for platform in platforms])
                are = "is" if len(platforms) == 1 else "are"
                is_offered = now.offered is None or platforms[0] in now.offered
                reason = _reason(platforms, paths, is_offered=is_offered)
                words = f"{names} {are} not covered from {_named(paths)}: {reason}; {then}"
                yield Verdict(words, severity=severity, case=_case(now, is_offered=is_offered))
        if (at_least := len(doubtful) - spare) > 0:
            names = listing([f"{platform}{why[platform]}" for platform in doubtful])
            hashes = f"{_only(paths)} hash".lstrip()
            number = f"at least {at_least} of {names}" if len(doubtful) > 1 else names
            left = f"only {counted(spare, hashes, f'{hashes}es')} could be {'theirs' if len(doubtful) > 1 else 'its'}"
            have = "has" if at_least == 1 else "have"
            words = f"{number} {have} no usable hash from {_named(paths)}: {left}; {then}"
            yield Verdict(words, severity=severity, case=_case(now, is_offered=True))
    for (platforms, spare), paths in doubts.items():
        names = listing([f"{platform}{why[platform]}" for platform in platforms])
        are = "is" if len(platforms) == 1 else "are"
        words = f"not known whether {names} {are} covered from {_named(paths)}: {_perhaps(platforms, paths, spare)}"
        yield Verdict(words, case=_UNKNOWN)


_CACHE_UNUSED = "init does not use a cached package"


def _then(path: InstallPath, now: LockedHashes) -> str:
    """Return what both tools' `init` does without a usable hash.

    A plugin cache is passed over, and the package comes from the other source. An unpacked package is compared with the
    `h1` alone, and with nothing where none is locked.
    """
    if path is InstallPath.PLUGIN_CACHE:
        return _CACHE_UNUSED
    if path is InstallPath.UNPACKED_MIRROR and not any(is_of_files(fact.hash) for fact in now.facts):
        return "init does not verify the package"
    return "init fails"


def _case(now: LockedHashes, *, is_offered: bool) -> str:
    if not is_offered:
        return "not-offered"
    return "contradicted" if now.contradicts_release else ""


def _by_offer(platforms: Sequence[str], now: LockedHashes) -> Iterator[tuple[str, ...]]:
    return _split(platforms, set(platforms) if now.offered is None else set(now.offered))


def _reason(platforms: Sequence[str], paths: Sequence[InstallPath], *, is_offered: bool) -> str:
    them = "it" if len(platforms) == 1 else "them"
    if not is_offered:
        return f"the release has no package for {them}"
    return f"no {_only(paths) or 'hash'} for {them} is locked"


def _only(paths: Sequence[InstallPath]) -> str:
    """Return the scheme that alone counts on all paths; "" where they differ."""
    found = {path.only for path in paths}
    return found.pop() if len(found) == 1 else ""


def _named(paths: Sequence[InstallPath]) -> str:
    return " and ".join(PATH_NAMES[path] for path in paths)


CHECKS: Mapping[
    str, Callable[[LockedHashes | None, LockedHashes, Policy, Sequence[InstallPath]], Iterator[Verdict]]
] = {"LK008": _lost, "LK009": _not_covered}
"""The checks of the locked hashes before (None for no entry) and now, on the install paths that a provider may take."""
