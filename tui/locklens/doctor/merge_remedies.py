"""The fixes of a lock file in conflict, or with an error: a merge of its two sides, or a look at them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.affected import excluding
from locklens.doctor.model import Remedy, TrustCost
from locklens.doctor.past_remedies import changes_since, fix_entry
from locklens.doctor.remedies import fix_file
from locklens.errors import ConfigurationError
from locklens.lockfile.merge import MergeSide, merge, share_packages
from locklens.lockfile.parse import conflict_sides
from locklens.text import listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.lockfile import LockEntry
    from locklens.lockfile.merge import MergeConflict

_NONE, _LOW = TrustCost.NONE, TrustCost.LOW


def fix_merge(one: Affected) -> Iterator[Remedy]:
    """The lock file is merged again, with the entries of either side where both differ; or an entry is restored."""
    conflict = one.examined.lock.conflict
    if conflict is None:
        yield from fix_entry(one)
        return
    clashes = _clashes(one.examined)
    if clashes is None:
        title, note = "Resolve the conflict by hand", "the tools would refuse one of its sides, and so does merge"
        yield Remedy("show-change", title, 1, _NONE, 0, "", note, hint=_conflict_diff(one.examined))
        return
    if not clashes:
        command, write = one.alone.line("merge"), one.alone.write("merge")
        yield Remedy("merge-again", "Merge the lock file again, block by block", 1, _NONE, 0, command, write=write)
        return
    offered = [_merged_with(one, side, name, clashes) for side, name in zip(MergeSide, conflict.names, strict=True)]
    restored = _restored(one, clashes)
    yield from filter(None, (restored, *offered))
    if restored is None and not any(offered):
        title = "Resolve the conflict by hand: the registry lists the version of neither side"
        yield Remedy("show-change", title, 1, _NONE, 0, "", hint=_conflict_diff(one.examined))


def fix_syntax(one: Affected) -> Iterator[Remedy]:
    """The change that made the file unreadable is shown, or taken back; without a readable commit its place is named.

    Of two blocks of one provider the tools read neither.
    """
    x = one.examined
    yield from fix_file(one)
    if x.history.readable_commit or not x.lock.problems:
        return
    first = x.lock.problems[0]
    place = f"{x.lock.path}:{first.line}"
    title = f"Correct {place} by hand"
    if "duplicate" in first.summary.lower():
        other = first.detail.rpartition(" at ")[2].removesuffix(".")
        title = f"Delete one of the two blocks by hand, at {other} or {place}"
    note = "no commit has a lock file that can be read; after the edit, the command judges what is left"
    hint = x.shell.command_line("doctor", "--", x.incident.root or ".")
    yield Remedy("correct-file", title, 1, _NONE, 0, "", note, hint=hint)


def _conflict_diff(x: Examined) -> str:
    """Return the command that shows a conflict: both sides, or since the newest readable commit; "" without one."""
    if x.lock.conflict is not None and x.lock.conflict.is_staged:
        return shell_words([*x.shell.git, "diff", "--", x.lock.path])
    return changes_since(x, x.history.readable_commit) if x.history.readable_commit else ""


def _clashes(x: Examined) -> tuple[MergeConflict, ...] | None:
    """Return the entries that both sides of a conflict changed in ways that exclude each other.

    None where the tools would refuse one of the sides, so that `merge` does, too.
    """
    conflict = x.lock.conflict
    assert conflict is not None
    staged = (conflict.base.data if conflict.base is not None else b"", conflict.ours.data, conflict.theirs.data)
    sides = staged if conflict.is_of_git else conflict_sides(x.lock.data) or staged
    try:
        return merge(*sides, dialect=x.tool).conflicts
    except ConfigurationError:
        return None


def _merged_with(one: Affected, side: MergeSide, name: str, clashes: Sequence[MergeConflict]) -> Remedy | None:
    """Return the remedy that takes the entries of one side; None where it leads to a version that is not listed.

    Hashes that both sides have are of one version alone. Where it is this side's, its entry keeps them. Else, or where
    nothing tells whose they are, an upgrade from the other version writes those of this one.
    """
    x, conflict = one.examined, one.examined.lock.conflict
    assert conflict is not None
    shown, of_other, moved, kept = list[str](), list[str](), list[str](), list[str]()
    other = MergeSide.THEIRS if side is MergeSide.OURS else MergeSide.OURS
    for clash in clashes:
        entry, left = (clash.ours, clash.theirs) if side is MergeSide.OURS else (clash.theirs, clash.ours)
        provider = clash.address.short(x.tool.default_host)
        shown.append(f"{provider} {entry.version if entry is not None else 'removed'}")
        if entry is None or left is None or entry.version == left.version or not share_packages(entry, left):
            continue
        if (clash.address, str(entry.version)) in x.today.unlisted:
            return None
        if why := _why_its_own(x, entry, left):
            kept.append(f"{why} {shown[-1]}")
        else:
            of_other += ["--prefer", f"{provider}={other}"]
            moved.append(f"{provider}={entry.version}")
    is_of_other, what = len(moved) == len(clashes), listing(shown, 3)
    is_block = len(moved) + len(kept) < len(clashes)
    title = f"Merge block by block with {name}: {what}" if is_block else f"Lock {what}, as {name} has"
    notes = [] if conflict.is_of_git else ["git's index no longer has the sides: they are read between the markers"]
    if conflict.merge_commit:
        notes.append(f"the sides are those of the parents of commit {conflict.merge_commit[:12]}")
    sides = [] if is_of_other else ["--prefer", side.value]
    taken = (clash.ours if side is MergeSide.OURS else clash.theirs for clash in clashes)
    excluded = list(excluding(x, filter(None, taken)))
    if kept:
        notes.append(f"both sides have the same hashes, {listing(kept, 3)}: its entry keeps them")
    command = one.alone.line("merge", *sides, *of_other)
    if not moved:
        write, note = one.alone.write("merge", side=side.value), "; ".join((*notes, *excluded))
        return Remedy("merge-again", title, 1, _NONE, 0, command, note, write, is_partial=bool(excluded))
    command = f"{command} && {one.alone.line('upgrade', *moved)}"
    versions = listing(moved, 3).replace("=", " ")
    words = f"the merge takes the other version, and the upgrade then writes {versions} with those of its release"
    notes.append(f"both sides have the same hashes, which are of one version alone: {words}")
    notes.append("the upgrade asks its registry, which has to answer, and warns of h1 whose platform it cannot tell")
    note = "; ".join((*notes, *excluded))
    return Remedy("merge-again", title, 1, _LOW, None, command, note, is_partial=bool(excluded))


def _why_its_own(x: Examined, entry: LockEntry, other: LockEntry) -> str:
    """Return why the hashes of one side's entry are of its version, before its release in a clause; "" if they are not.

    Its release tells, or a commit where that is unknown, unless they are those of the other side's release.
    """
    own, of_other = (x.today.of_release.get((one.address, str(one.version))) for one in (entry, other))
    if own is not None or of_other:
        return "those of" if own else ""
    first = x.history.first_of_sides.get((entry.address, str(entry.version)))
    is_own = first is not None and first.is_of(entry.version) and entry.accepted <= first.accepted
    return f"which commit {first.commit[:12]} locks for" if first is not None and is_own else ""


def _restored(one: Affected, clashes: Sequence[MergeConflict]) -> Remedy | None:
    """Return the remedy that restores the entries whose hashes both sides have for other versions; None without any.

    Two edits of the version alone leave that. A release that has the hashes of a side tells otherwise.
    """
    x = one.examined
    commits: dict[str, list[LockEntry]] = {}
    for clash in clashes:
        sides = [side for side in (clash.ours, clash.theirs) if side is not None]
        first = {x.history.first_of_sides.get((side.address, str(side.version))) for side in sides}
        if len(sides) < 2 or len(first) > 1 or (before := first.pop()) is None or before.entry is None:
            return None
        if any(x.today.of_release.get((side.address, str(side.version))) for side in sides):
            return None
        if any(before.is_of(side.version) or not side.accepted <= before.accepted for side in sides):
            return None
        commits.setdefault(before.commit, []).append(before.entry)
    host = x.tool.default_host
    named = {commit: [each.address.short(host) for each in entries] for commit, entries in commits.items()}
    writes = [one.alone.restoring(commit, providers=tuple(names)) for commit, names in named.items()]
    lines = [one.alone.line(*write.words) for write in writes]
    entries = [each for some in commits.values() for each in some]
    what = listing([f"{each.address.short(host)} {each.version}" for each in entries], 3)
    by = listing([f"commit {commit[:12]}" for commit in commits], 3)
    have, verb = ("have", "lock") if len(commits) > 1 else ("has", "locks")
    words = f"both sides have the same hashes, which {by} {verb} for {what}, before all other commits with them"
    excluded = list(excluding(x, entries))
    command = " && ".join((one.alone.line("merge", "--prefer", MergeSide.OURS.value), *lines))
    note = "; ".join((words, *excluded))
    title = f"Restore {what}, as {by} {have}"
    return Remedy("merge-again", title, 1, _NONE, 0, command, note, is_partial=bool(excluded))
