"""What an entry got since its earlier states, and whether it has the package of the failing run since. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.model import PackagePath
from locklens.hashes import hashes_of_files
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.doctor import PastEntry
    from locklens.doctor.examined import Examined


def again_words(x: Examined) -> str:
    """Return that an entry is as the newest commit had it before locklens wrote it: git may have restored it since."""
    if x.history.written is None or not x.origins.is_committed or x.history.states[0].date >= x.history.written.date:
        return ""
    return f"{x.release} has the hashes of commit {x.history.states[0].commit[:12]} again"


def again_of_commit(x: Examined, was: PastEntry) -> str:
    """Return the older commit whose hashes the entry has again, later than the log, instead of wrong ones; else ""."""
    path = x.incident.path
    if not x.history.is_after_log(x.history.next_after(was)) or not x.packed or (path is not None and path.is_unpacked):
        return ""
    older = x.history.states[x.history.states.index(was) + 1 :]
    version = x.entry.version if x.entry is not None else ""
    return next((one.commit for one in older if one.is_of(version) and one.accepted == x.locked), "")


def before_cover(x: Examined) -> PastEntry | None:
    """Return the earlier state of the entry in `cover_since`, where the failing run is known to be before the present.

    A change that is not committed counts as later than the run.
    """
    before, after = cover_since(x)
    return before if x.history.is_after_log(after) else None


def cover_since(x: Examined) -> tuple[PastEntry | None, PastEntry | None]:
    """Return the newest earlier state of the entry that does not cover the failing run's package, and the next one.

    The present entry covers it. The first is None where nothing is covered now, or hashes were taken away since, which
    the failing run may have met; the second, where a change that is not committed ended the first.
    """
    before = newest_without(x, covers)
    if before is None or not has_more(x, before):
        return None, None
    return before, x.history.next_after(before)


def has_more(x: Examined, before: PastEntry) -> bool:
    """True if the entry has more hashes than an earlier state, those of a commit before it, or of a fix."""
    return before.accepted < x.locked or x.history.written is not None or is_restored(x, before)


def newest_without(x: Examined, has: Callable[[Examined], bool]) -> PastEntry | None:
    """Return the newest earlier state of the entry that lacks what it has now; None without one, or if it has not."""
    states = x.origins.earlier_states if x.entry is not None and has(x) else ()
    return next((one for one in states if not has(replace(x, entry=one.entry))), None)


def is_restored(x: Examined, before: PastEntry) -> bool:
    """True if the entry has the hashes again that it had in a commit before an earlier state."""
    states = [one for one in x.history.states if one.entry is not None and x.entry is not None]
    older = states[states.index(before) + 1 :] if before in states else []
    return any(one.accepted == x.locked for one in older)


def covers(x: Examined) -> bool:
    """True if a hash of the failing run's package is locked, as far as its platform and a release tell.

    An `h1` counts where it is that of the release's package today, as far as that is known and came from a registry.
    """
    path = x.incident.path
    wanted = x.expected.get(x.platform, "") if path is None or path is PackagePath.DIRECT else ""
    is_of_files = path is None or path.only != "zh"
    has_h1 = wanted in x.unpacked if wanted else x.has_h1
    if is_folder_or_file(x):
        return has_h1 and x.today.platforms.get(x.platform, "") in x.packed
    return (is_of_files and has_h1) or accepts_release(x)


def is_folder_or_file(x: Examined) -> bool:
    """True if neither the message nor its place tells whether the package was a folder, for which only `h1` count."""
    return x.message.kind == "package-mismatch" and x.incident.path in {None, PackagePath.FILESYSTEM_MIRROR}


def more_words(x: Examined, before: PastEntry) -> str:
    """Return what was done to an earlier state of the entry, and by which commit."""
    added, after = x.locked - before.accepted, x.history.next_after(before)
    unpacked = hashes_of_files(added)
    platforms = sorted({x.attributed[text] for text in unpacked if text in x.attributed})
    of_h1 = f", with the h1 of {listing(platforms)}," if platforms else ""
    numbers = (len(added) - len(unpacked), "zh"), (len(unpacked), "h1")
    counts = " and ".join(f"{number} {scheme}" for number, scheme in numbers if number)
    who = f"commit {after.commit[:12]}" if after is not None else "a change that is not committed"
    if not before.commit:
        who = "locklens, later than the log,"
    if not before.accepted < x.locked:
        since = f"since commit {before.commit[:12]}" if before.commit else "by locklens, later than the log"
        return f"{x.lock.path} was changed {since}{of_h1.removesuffix(',')}"
    of_commit = f" of commit {before.commit[:12]}" if before.commit else ""
    return f"{who} added {counts}{of_h1} to the hashes{of_commit} for {x.release} ({x.place})"


def blocking_rule(x: Examined) -> str:
    """Return the rule by which a review blocks an entry that got hashes which the release does not have.

    That is LK001 if a commit before has the version, and LK002 where the version is new.
    """
    before = x.history.states[x.origins.is_committed :]
    is_same = x.entry is not None and any(one.is_of(x.entry.version) for one in before[:1])
    return "LK001" if is_same else "LK002"


def accepts_release(x: Examined) -> bool:
    """True if the package that a registry has today is locked, as far as a `zh` counts where it came from."""
    path = x.incident.path
    if path is PackagePath.FILESYSTEM_MIRROR or (path is not None and path.is_unpacked):
        return False
    wanted = {zh for platform, zh in x.today.platforms.items() if x.platform in {"", platform}}
    return bool(wanted) and wanted <= x.packed
