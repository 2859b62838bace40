"""Causes of an entry whose hashes no tool wrote, or that lacks hashes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.dialect import OPENTOFU
from locklens.doctor import locked_states
from locklens.doctor.cases import first_case
from locklens.doctor.examined import zh_of_packages
from locklens.doctor.lock_causes import IF_RESOLVED
from locklens.doctor.model import Basis, CauseVerdict, Judgement
from locklens.hashes import fault_in_words, is_known_scheme, is_well_formed, packages_of
from locklens.lockfile.update import predecessor
from locklens.text import counted

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined
    from locklens.lockfile import LockEntry

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO


def hand_edit(x: Examined) -> Judgement | None:
    """Test if the block has hashes that no tool wrote there: malformed or altered ones, or those of another version."""
    if x.entry is None or x.is_taken_over:
        return None
    cases = (
        _malformed,
        _altered,
        _of_a_merge,
        _borrowed,
        _completed,
        _of_another_release,
        _of_the_edit_before,
        _typed,
        _unlike_its_twin,
        _emptied,
        _without_packages,
        _of_its_version,
    )
    return first_case(cases, x, x.entry) or _unexplained(x)


def _malformed(x: Examined, entry: LockEntry) -> Judgement | None:
    odd = next((text for text in entry.hashes if is_known_scheme(text) and not is_well_formed(text)), None)
    if odd is None:
        return None
    place = f"{x.lock.path}:{entry.line_of(odd)}"
    words = f"{place}: no tool writes such a hash as {odd[:11]}...: {fault_in_words(odd)}"
    sound = sum(map(is_well_formed, entry.hashes))
    if x.error is not None and sound:
        words = f"{words}; {counted(sound, 'other hash', 'other hashes')} may be sound"
        return Judgement(_LIKELY, words, "the hash of the failing package: --package", basis=Basis.HASHES)
    return Judgement(_YES, words, basis=Basis.HASHES)


def _altered(x: Examined, entry: LockEntry) -> Judgement | None:
    if (edited := x.origins.edited) is None:
        return None
    words = (
        f"{x.lock.path}:{entry.line_of(edited.now)}: the block has {edited.now}, where commit "
        f"{edited.commit[:12]} has {edited.was}, which {edited.package} is: the hash was edited"
    )
    return Judgement(_YES, words, basis=Basis.HASHES)


def _of_a_merge(x: Examined, _: LockEntry) -> Judgement | None:
    if x.origins.sides is None:
        return None
    words = f"commit {x.history.merge[:12]}, a merge, has the version of one commit and the hashes of another"
    return Judgement(_UNKNOWN, words, IF_RESOLVED)


def _borrowed(x: Examined, own: LockEntry) -> Judgement | None:
    """Judge an entry whose packages are all of another version."""
    for place, entry in x.origins.entries_of_other_versions():
        is_of_signed = x.today.hashes_of in {"", str(entry.version)}
        if x.packed and x.packed <= packages_of(entry.hashes) and not x.packed & x.today.listed and is_of_signed:
            words = (
                f"{x.place}: the block says {own.version}{_version_words(x)}, and has the "
                f"hashes of {entry.version} ({place}){_changed_part(x)}"
            )
            oldest = x.origins.oldest_with_packages
            # Without a run that failed with this version, the first commit may as well have the edited entry.
            has_failed = x.error is not None and oldest is not None and oldest.version == entry.version
            if x.today.is_known or x.today.hashes_of or has_failed:
                return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO)
            words = f"{words}; if they are those of {own.version}, the entry there is the edited one"
            return Judgement(_LIKELY, words, x.why_unknown, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO)
    return None


def _completed(x: Examined, own: LockEntry) -> Judgement | None:
    """Judge an entry that a commit made with the packages of another version, and that got more since."""
    if (edit := x.origins.completed_edit) is None:
        return None
    added = counted(len(x.packed - packages_of(edit.accepted)), "other zh", "other zh")
    words = (
        f"{x.place}: commit {edit.commit[:12]} has {own.version} with the hashes of {edit.borrowed_from}: the "
        f"version changed, the hashes did not; {added} came later, and the block still accepts packages of "
        f"{edit.borrowed_from}"
    )
    return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO_SINCE)


def _of_another_release(x: Examined, own: LockEntry) -> Judgement | None:
    if not x.today.hashes_of:
        return None
    words = (
        f"{x.place}: the block says {own.version}, and {len(x.packed)} of "
        f"{zh_of_packages(len(x.packed), 'locked ')} are of the signed release {x.today.hashes_of}"
        f"{_changed_part(x)}"
    )
    return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO)


_OF_THAT_TIME = "the author of the edit, or the release of that time"


def _of_the_edit_before(x: Examined, _: LockEntry) -> Judgement | None:
    """Judge an entry that has other packages of its version than a commit before, which are sound."""
    if (before := x.origins.before_edit) is None:
        return None
    commit = x.origins.edit_commit
    by = f"commit {commit[:12]} wrote" if commit else "the edit that is not committed has"
    odd = counted(len(x.origins.strange or x.packed), "other zh", "other zh")
    there = [one for one in x.others if before.entry and before.entry.accepted <= one.entry.accepted]
    also = f"{counted(len(there), 'other lock file')} {'has' if len(there) == 1 else 'have'}, too"
    words = f"{x.place}: {by} {odd} for {x.release} than commit {before.commit[:12]}"
    words = f"{words}, whose zh {'are of the signed release' if x.today.is_known else also}"
    if x.origins.typed:
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES)
    missing = _OF_THAT_TIME if x.today.is_known else x.why_unknown
    return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.HASHES)


def _typed(x: Examined, entry: LockEntry) -> Judgement | None:
    if x.origins.typed is None:
        return None
    has, signed = x.origins.typed
    words = f"{x.lock.path}:{entry.line_of(has)}: the block has {has}, where {x.sums} has {signed}"
    return Judgement(_YES, f"{words}{_twin_words(x)}", as_of=x.today.as_of, basis=Basis.HASHES)


def _unlike_its_twin(x: Examined, _: LockEntry) -> Judgement | None:
    if x.origins.sound_twin is None:
        return None
    words = f"{x.place}: {len(x.origins.strange)} of {zh_of_packages(len(x.packed))} are not signed{_twin_words(x)}"
    return Judgement(_LIKELY, words, _OF_THAT_TIME, x.today.as_of, basis=Basis.HASHES)


def _emptied(x: Examined, entry: LockEntry) -> Judgement | None:
    return lost_hashes(x) if x.error is None and not entry.hashes else None


def _without_packages(x: Examined, _: LockEntry) -> Judgement | None:
    if x.packed:
        return None
    states = ((commit, packages_of(entry.hashes)) for commit, entry in locked_states(x.history.states))
    commit, was = next((one for one in states if one[1]), ("", frozenset()))
    gone = f"; commit {commit[:12]} locks {zh_of_packages(len(was))}" if was else ""
    missing = "the commit that left the zh out, its author or committer" if gone else "a zh, which alone is signed"
    missing = missing if x.today.is_known else x.why_unknown
    return Judgement(_UNKNOWN, f"no zh of a package is locked{gone}", missing, x.today.as_of, basis=Basis.GUESS)


def _of_its_version(x: Examined, entry: LockEntry) -> Judgement | None:
    if not x.today.is_known or x.stale:
        return None
    words = f"{len(x.packed)} of {zh_of_packages(len(x.packed), 'locked ')} are of {entry.version}"
    if x.met_release:
        words = f"{words}; an edit that was never committed, and is undone, leaves no trace"
        return Judgement(_UNKNOWN, words, "the lock file of the failing run", x.today.as_of, basis=Basis.GUESS)
    title = "the version or a zh in the block was changed by hand"  # of what was deleted, nothing is said
    return Judgement(_NO, words, as_of=x.today.as_of, title=title)


def _unexplained(x: Examined) -> Judgement:
    made = x.history.made_by
    missing = f"how commit {made[:12]} made this entry: its author or committer" if made else "how this entry was made"
    words = "whether a tool or a person wrote these hashes is not known"
    return Judgement(_UNKNOWN, words, missing if x.today.is_known else x.why_unknown, as_of=x.today.as_of)


def lost_hashes(x: Examined) -> Judgement | None:
    """Test if the block has no hashes, or lacks some of those that it had in a commit.

    One without any is no edit where OpenTofu may have written it: `providers lock` leaves such a block of a provider
    whose version it takes over, and whose package it was not told to fetch.
    """
    past = next((one for one in x.history.states if one.accepted), None)
    if x.entry is None or past is None or (was := past.entry) is None or past.borrowed_from:
        return None
    if not x.entry.hashes and predecessor(x.entry.address, OPENTOFU) is not None:
        return None
    commit = past.commit
    place, has, is_same = x.place, was.accepted, was.version == x.entry.version
    if not x.entry.hashes:
        of_it = f"{len(has)}{'' if is_same else f' of {was.version}'}"
        words = f"{place}: the block of {x.release} has no hash, and commit {commit[:12]} has {of_it}"
        return Judgement(_YES, words, basis=Basis.HASHES, title=_WITHOUT_HASHES)
    if not is_same or not (lost := has - x.entry.accepted):
        return None
    words = (
        f"{place}: the block of {x.release} lacks {len(lost)} of the {counted(len(has), 'hash', 'hashes')} that commit "
        f"{commit[:12]} has: init fails where it gets a package that has none of the others"
    )
    missing, command = "which packages they are of", x.shell.command_line("doctor", "--", x.incident.root or ".")
    title = f"the block lacks hashes that commit {commit[:12]} has"
    return Judgement(_LIKELY, words, missing, command=command, basis=Basis.HASHES, title=title)


def without_hashes(x: Examined) -> Judgement | None:
    """Return the cause of an entry without hashes, which is one unless the failing run had another.

    None where it is that of an edit, without a log.
    """
    if x.error is None and lost_hashes(x) is not None:
        return None
    words = f"{x.place}: the block of {x.release} has no hash, so that init accepts any package"
    is_said = x.message.kind in {"", "lock-not-updated"}
    missing = "" if is_said else "the lock file of the failing run"
    return Judgement(_YES if is_said else _UNKNOWN, words, missing, basis=Basis.HASHES, title=_WITHOUT_HASHES)


_WITHOUT_HASHES = "the entry has no hashes, so that init accepts any package"


def _twin_words(x: Examined) -> str:
    """Return the clause about another root that has signed packages alone; "" without one."""
    if (twin := x.origins.sound_twin) is None:
        return ""
    return f"; {twin.lock_file}:{twin.entry.line} locks the signed packages of {x.release} alone"


_OF_TWO = "the block has the version of one release, and the hashes of another"
"""An edit leaves that, and so does a merge whose other side is not a commit here, such as one that was squashed."""

_OF_TWO_SINCE = "the block got the version of one release with the hashes of another, and more hashes later"


def _version_words(x: Examined) -> str:
    """Return the clause about the newest commit that has other packages for the version; "" without one."""
    states = (
        (commit, one) for commit, one in locked_states(x.history.states) if x.entry and one.version == x.entry.version
    )
    commit = next((commit for commit, one in states if not x.packed & packages_of(one.hashes)), "")
    return f", as commit {commit[:12]} does" if commit else ""


def _changed_part(x: Examined) -> str:
    """Return what made the entry so, in a clause: a merge, or a change that left version or packages; "" for others.

    Packages that were only taken away since are no such change.
    """
    if x.history.merge:
        return f": commit {x.history.merge[:12]}, which is a merge, made it so"
    now, states = x.entry, [entry for _, entry in locked_states(x.history.states)]
    changed = (one for one in states if now and (one.version != now.version or not x.packed <= packages_of(one.hashes)))
    before = next(changed, None)
    if now is None or before is None:
        return ""
    if before.version == now.version:
        return ": the hashes changed, the version did not"
    return ": the version changed, the hashes did not" if x.packed <= packages_of(before.hashes) else ""
