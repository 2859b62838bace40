"""The fixes that bring back what git has: the entry of an earlier commit, or its whole lock file. Pure."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor import provider_remedies
from locklens.doctor.model import Remedy, TrustCost
from locklens.doctor.version_remedies import fix_constraint, listed_versions, upgrade
from locklens.hashes import hashes_of_files, packages_of
from locklens.lockfile import pinned
from locklens.text import clauses, shell_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.doctor import ElsewhereEntry, PastEntry
    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.lockfile import LockEntry
    from locklens.versions import Version

_NONE, _LOW = TrustCost.NONE, TrustCost.LOW


def earlier(one: Affected) -> Iterator[Remedy]:
    """The entry of an earlier commit that had what is missing."""
    x = one.examined
    if x.entry is None:
        return
    copies = {text for copy in x.places.packages if copy.platform == one.platform for text in copy.of_files}
    needed = {x.expected[one.platform]} if one.platform in x.expected else copies - x.unpacked
    for past in x.history.states:
        entry = past.entry
        if entry is None or not past.is_of(x.entry.version) or entry.accepted == x.locked:
            continue
        unpacked = hashes_of_files(entry.hashes)
        is_sure = bool(needed & unpacked)
        has_it = is_sure or (not needed and bool(unpacked - x.unpacked))
        if has_it or (x.today.is_known and x.stale and not (entry.accepted & x.stale)):
            yield from restored(one, past, _of_platform(one, entry, is_open=not needed))
            return


def _of_platform(one: Affected, entry: LockEntry, *, is_open: bool) -> str:
    """Return the note on what an earlier entry has of the platform; `is_open` if the `h1` of that is not known."""
    x = one.examined
    if x.today.platforms.get(one.platform) in packages_of(entry.hashes) - x.packed:
        return f"it has the zh of {one.platform}"
    more = len(hashes_of_files(entry.hashes) - x.unpacked)
    locked = "which is locked no longer" if more == 1 else "which are locked no longer"
    return f"it has {more} h1 {locked}: that of the platform may be among them" if more and is_open else ""


def restored(one: Affected, past: PastEntry, note: str = "", upgraded: str = "") -> Iterator[Remedy]:
    """The entry of a commit is restored; hashes that are not signed have a cost in trust.

    Roots whose files have that entry in another commit have a fix of their own. One with the hashes of another version
    is none: init refuses them. `upgraded` is NAME=VERSION where an upgrade of the same roots then leads to the version.
    """
    x = one.examined
    assert past.entry is not None
    version = past.entry.version
    if past.borrowed_from:
        return
    is_same = x.entry is not None and version == x.entry.version
    added = past.accepted - x.locked
    known = x.today.listed | {*x.computed.values()} if x.today.listed and is_same else frozenset()
    unsigned = added - known
    if unsigned:
        note = clauses(note, "it adds hashes that are not known as signed")
    which, group, is_partial = "", one, False
    if not is_same:
        which, admitting = f" ({version})", one.admitting(version)
        group = admitting or one
        words = one.left_out(group.roots) if admitting else f"init fails: the constraints do not allow {version}"
        is_partial = admitting is None
        note = clauses(note, words)
    elif one.admitting(version) is None:
        note, is_partial = clauses(note, f"init fails: the constraints do not allow {version}"), True
    is_committed = pinned(past.entry) == pinned(x.history.states[0].entry if x.history.states else None)
    parts = group.by_commit(past)
    note = clauses(note, group.left_out([root for _, part in parts for root in part.roots], past.commit))
    for commit, part in parts:
        line = part.line("upgrade", upgraded) if upgraded else ""
        then = f"then {line} writes the hashes of that version" if line else ""
        title = f"Restore the entry of commit {commit[:12]}{which}"
        write = part.restoring(commit)
        cost, words = _LOW if unsigned else _NONE, clauses(then, note)
        found = part.written("restore-entry", title, cost, 0, write, words, is_committed=is_committed)
        yield replace(found, is_partial=is_partial)


def changes_since(x: Examined, commit: str) -> str:
    """Return the command that shows what has changed in the lock file since a commit."""
    was = f"{commit[:12]}:{x.history.paths[commit]}" if commit in x.history.paths else commit[:12]
    return shell_words([*x.shell.git, "diff", was, "--", x.lock.path])


def restored_file(x: Examined, commit: str) -> Remedy:
    """Return the remedy that restores the whole lock file of a commit; hashes that come with it have to be reviewed."""
    revision = commit[:12]
    index = ("--staged", "--worktree") if x.is_deleted_here else ()  # its deletion may be staged, too
    command = shell_words([*x.shell.git, "restore", "-s", revision, *index, "--", x.lock.path])
    if (path := x.history.paths.get(commit)) is not None:
        here = posixpath.normpath(posixpath.join(x.shell.top, x.lock.path))
        command = f"{shell_words([*x.shell.git, 'show', f'{revision}:{path}'])} > {shell_words([here])}"
    note = "all that was changed in the file since then is lost"
    cost = _NONE if commit in x.history.without_new else _LOW
    return Remedy("restore-file", f"Restore the lock file of commit {revision}", 1, cost, 0, command, note)


def moved_file(x: Examined, left: ElsewhereEntry) -> Remedy:
    """Return the remedy that moves the lock file which was left behind to its configuration."""
    command = shell_words([*x.shell.git, "mv", "--", left.lock_file, x.lock.path])
    title = f"Move the lock file from {posixpath.dirname(left.lock_file) or 'the top folder'} to its configuration"
    return Remedy("move-file", title, 1, _NONE, 0, command, "then commit it", is_of_all=True)


def fix_entry(one: Affected) -> Iterator[Remedy]:
    """The last committed entry that differs, for edits and merges by hand; none in a file that cannot be read."""
    x = one.examined
    if x.entry is None or x.lock.problems:
        return
    if x.origins.before_edit is not None:
        yield from restored(one, x.origins.before_edit)
        return
    if x.origins.sides is not None:
        yield from restored(one, x.origins.sides[0])
        return
    if (twin := x.origins.sound_twin) is not None:
        title = f"Copy the block of {x.release} at {twin.lock_file}:{twin.entry.line} into {x.lock.path}, by hand"
        shown = shell_words([*x.shell.git, "diff", "--no-index", "--", x.lock.path, twin.lock_file])
        note = "its zh are signed, and its h1 are not"
        yield one.alone.remedy("copy-entry", title, _NONE, 0, "", note, hint=shown)
        return
    if (own := _with_own_packages(x)) is not None:
        yield from restored(one, own, f"it locks {x.entry.version} with other packages")
    others = (each for each in x.history.states if each.entry and pinned(each.entry) != pinned(x.entry))
    past = next((each for each in others if not each.borrowed_from), None)
    if past is own and own is not None:
        return
    if past is None or past.entry is None:
        yield from upgrade(one, f"Upgrade {x.name}: the new version comes with its own hashes")
    elif past.entry.version == x.entry.version:
        yield from restored(one, past)
    else:
        listed = listed_versions(x)
        can_follow = (listed is None or x.entry.version in listed) and x.constraints.admits(x.entry.version)
        yield from restored(one, past, upgraded=f"{x.name}={x.entry.version}" if can_follow else "")


def _with_own_packages(x: Examined) -> PastEntry | None:
    """Return the newest state that locks other packages alone for the version: its own, as far as is known."""
    assert x.entry is not None
    for past in x.history.states if _may_be_there(x, x.entry.version) else ():
        packed = packages_of(past.accepted)
        is_its_own = (
            past.is_of(x.entry.version)
            and not past.borrowed_from
            and (packed <= x.today.listed or not x.today.is_known)
        )
        if packed and is_its_own and not packed & x.packed:
            return past
    return None


def fix_plugin(one: Affected) -> Iterator[Remedy]:
    """The package is installed again; of one that is locked with a wrong program, an entry without it is locked."""
    x = one.examined
    if x.misfit is None or x.entry is None or x.message.kind != "plugin-other-platform":
        yield from provider_remedies.fix_installed(one)
        return
    wrong, version = x.misfit.hashes, x.entry.version
    past = next((each for each in x.history.states if each.is_of(version) and not wrong & each.accepted), None)
    if past is None:
        yield from upgrade(one, f"Upgrade {x.name}: another version comes with its own packages")
        return
    same = next((each.path for each in x.places.packages if each.kind == "mirror" and each.hashes & wrong), "")
    note = f"{same} is the same package: init fails until the mirror has the right one" if same else ""
    for each in restored(one, past, note or "then run init, which replaces the installed package"):
        yield replace(each, is_partial=each.is_partial or bool(same))


def fix_conflict(one: Affected) -> Iterator[Remedy]:
    """Another version or other constraints; or the newest earlier entry that satisfies them, which git alone has.

    Where the entry was moved out of constraints that are older, the earlier one comes first.
    """
    x, own = one.examined, list(fix_constraint(one))
    past = fitting_past(x, x.history.states) if x.entry is not None and not x.fitting else None
    is_other = past is not None and x.entry is not None and not past.is_of(x.entry.version)
    restoring = list(restored(one.alone, past)) if past is not None and is_other else []
    yield from (*restoring, *own) if x.history.has_left_range else (*own, *restoring)


def fitting_past(x: Examined, states: Iterable[PastEntry]) -> PastEntry | None:
    """Return the first of some states of the entry that satisfies the constraints, which are all known; else None."""
    if not x.required or x.configuration.unknown_constraints:
        return None
    for one in states:
        if one.entry is not None and not one.borrowed_from and x.constraints.admits(one.entry.version):
            return one if _may_be_there(x, one.entry.version) else None
    return None


def _may_be_there(x: Examined, version: Version) -> bool:
    """True unless the registry, or the message of the failing run, says that it does not have a version."""
    listed = listed_versions(x)
    return version in listed if listed is not None else x.message.kind not in {"no-matching-release", "version-gone"}
