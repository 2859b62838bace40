"""Causes in the lock file: each function tests one, and returns None where it does not apply. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.dialect import OPENTOFU
from locklens.doctor import locked_states
from locklens.doctor.examined import zh_of_packages
from locklens.doctor.model import Basis, CauseVerdict, Judgement
from locklens.hashes import count_by_scheme, fault_in_words, is_known_scheme, is_well_formed, packages_of
from locklens.lockfile.update import predecessor
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.doctor.examined import Examined

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_LINE = re.compile(r"line (\d{1,9})")


def _unreadable(x: Examined, words: str, lines: Collection[int]) -> Judgement:
    """Return the cause of a lock file that cannot be read here: certain where the failing run could not, in that place.

    `words` are the evidence, and `lines` those that a message about it may name.
    """
    if x.error is None:
        return Judgement(_YES, words)
    if x.message.kind == "lock-invalid":
        told = _LINE.search(x.message.text)
        is_other = told is not None and bool(lines) and int(told[1]) not in lines
        if is_other or x.fitting:
            why = (
                "the log does not tell its root" if x.fitting else f"the message is of line {told[1] if told else '?'}"
            )
            return Judgement(_LIKELY, f"{words}; {why}", "the lock file of the failing run: name its root with -- ROOT")
        return Judgement(_YES, words)
    words = f"{words}; the failing run could read its lock file, so this came later"
    return Judgement(_UNKNOWN, words, "the lock file of the failing run", basis=Basis.HERE)


def lock_syntax(x: Examined) -> Judgement | None:
    """Test if the lock file is unreadable."""
    if x.lock.conflict is not None:
        return None
    if x.lock.problems:
        first = x.lock.problems[0]
        more = f" (and {counted(len(x.lock.problems) - 1, 'more problem')})" if len(x.lock.problems) > 1 else ""
        words = f"{x.lock.path}:{first.line}: {first.summary}: {first.detail}{more}"
        return _unreadable(x, words, {one.line for one in x.lock.problems})
    if not x.lock.exists:
        return None
    if x.message.kind == "lock-invalid":
        words = f"{x.lock.path} can be read here: it was fixed since, or the log is from another root"
        if x.fitting:  # a lock file among them that cannot be read would be the one
            words = (
                "each lock file that the log fits can be read here: the log is of another commit, or it was fixed since"
            )
            return Judgement(_UNKNOWN, words, "the lock file of the failing run: name its root with -- ROOT")
        rest = x.shell.command_line("doctor", "--", x.incident.root or ".")
        return Judgement(_UNKNOWN, words, "whether init fails for another cause now", command=rest)
    return Judgement(_NO, "the lock file can be read")


def bad_merge(x: Examined) -> Judgement | None:
    """Test if a merge left markers, a provider twice, or the hashes of two versions in one block."""
    lock = x.lock
    if lock.conflict is not None:
        ours, theirs = lock.conflict.names
        lines = ", ".join(f"{lock.path}:{marker.line}" for marker in lock.conflict.markers) or lock.path
        words = f"conflict between {ours} and {theirs} at {lines}"
        first = min((marker.line for marker in lock.conflict.markers), default=1)
        return _unreadable(x, words, range(first, lock.data.count(b"\n") + 2))
    if x.history.damaging_merge and lock.problems:
        place = f"{lock.path}:{lock.problems[0].line}"
        words = (
            f"{place} cannot be read since commit {x.history.damaging_merge[:12]}, which is a merge; "
            "merge=union in .gitattributes does that, and the merge driver of locklens does not: locklens git install"
        )
        return _unreadable(x, words, {one.line for one in lock.problems})
    duplicate = next((one for one in lock.problems if "duplicate" in one.summary.lower()), None)
    if duplicate is not None:
        words = f"{lock.path}:{duplicate.line}: {duplicate.summary}; a merge leaves that, and so does an edit"
        if x.history.damaging_edit:
            words = f"{words}; it cannot be read since commit {x.history.damaging_edit[:12]}, which is no merge"
            return Judgement(_UNKNOWN, words, _IF_SQUASHED)
        return Judgement(_UNKNOWN, words, "whether the change that added the second block was a merge")
    if lock.problems or x.entry is None:
        return None
    if (sides := x.origins.sides) is not None:
        of_version, of_hashes = sides
        words = (
            f"{lock.path}:{x.entry.line}: commit {x.history.merge[:12]} is a merge, and has the version "
            f"{x.entry.version} of commit {of_version.commit[:12]} with the hashes of commit {of_hashes.commit[:12]}"
        )
        title = "a merge took the version of one side, and the hashes of the other"
        return Judgement(_YES, words, basis=Basis.HASHES, title=title)
    if (edit := x.origins.completed_edit) is not None:
        words = (
            f"commit {edit.commit[:12]}, which is no merge, has {x.release} with packages of {edit.borrowed_from} alone"
        )
        return Judgement(_UNKNOWN, words, _IF_SQUASHED)
    for place, entry in x.origins.entries_of_other_versions():
        theirs_alone = packages_of(entry.hashes) & (x.stale if x.today.is_known else x.packed)
        rest = x.packed - packages_of(entry.hashes)
        if theirs_alone and rest and (x.today.is_known or len(theirs_alone) * 2 <= len(x.packed) + 1):
            words = (
                f"{lock.path}:{x.entry.line}: {len(theirs_alone)} of {zh_of_packages(len(x.packed))} in the block "
                f"of {x.release} are of {entry.version} ({place}): the block accepts packages of both versions"
            )
            title = "the block has hashes of two versions, as a merge of lines leaves it"
            return Judgement(
                _YES if x.today.is_known else _LIKELY, words, as_of=x.today.as_of, basis=Basis.HASHES, title=title
            )
    if x.history.last_merge and (lost := _lost_by_merge(x)):
        words = (
            f"commit {x.history.last_merge[:12]} is a merge, and lacks {lost} that {x.release} had in each state before"
        )
        return Judgement(
            _LIKELY, f"{x.lock.path}:{x.entry.line}: {words}", title="a merge dropped hashes of both sides"
        )
    if x.today.is_known and x.packed and not x.stale:
        return Judgement(
            _NO, "no conflict markers, and all locked zh of packages are of one release", as_of=x.today.as_of
        )
    words = "no conflict markers, and no provider twice"
    shared = (
        (len(x.packed & packages_of(entry.hashes)), place, entry)
        for place, entry in x.origins.entries_of_other_versions()
    )
    number, place, donor = max(shared, key=lambda one: one[0], default=(0, "", None))
    if donor is not None and number:
        words = f"{words}; {number} of {zh_of_packages(len(x.packed))} are of {donor.version} ({place})"
        is_all = number == len(x.packed)
        words = f"{words}, and the version is {x.entry.version}" if is_all else words
        if is_all and not x.history.made_by and not x.history.merge:
            is_edited = x.history.states and not x.origins.is_committed
            way = ": whoever edited the work tree" if is_edited else ""
            return Judgement(_UNKNOWN, words, f"whether the change that made it so was a merge{way}")
    if x.history.merge:
        words = f"{words}; commit {x.history.merge[:12]}, which is a merge, selected its version and packages"
        return Judgement(
            _UNKNOWN, words, "whether a person resolved the conflict: the author or committer of the merge"
        )
    if x.history.made_by:
        words = f"{words}; commit {x.history.made_by[:12]}, which is no merge, selected its version and packages"
        return Judgement(_UNKNOWN, words, _IF_SQUASHED)
    missing = "whether a merge selected its version and packages" if x.today.is_known else x.why_unknown
    return Judgement(_UNKNOWN, words, missing if x.packed else "")


def _lost_by_merge(x: Examined) -> str:
    """Return how many hashes a version had in each state before the merge that made its entry; "" for none."""
    before = [one.accepted for one in x.history.states[1:] if x.entry is not None and one.is_of(str(x.entry.version))]
    return count_by_scheme(frozenset.intersection(*before) - x.locked) if before else ""


_IF_SQUASHED = "whether that commit squashed a branch with such a merge: its author or committer"


def hand_edit(x: Examined) -> Judgement | None:
    """Test if the block has hashes that no tool wrote there: malformed or altered ones, or those of another version."""
    if x.entry is None or x.is_taken_over:
        return None
    odd = next((text for text in x.entry.hashes if is_known_scheme(text) and not is_well_formed(text)), None)
    if odd is not None:
        place = f"{x.lock.path}:{x.entry.line_of(odd)}"
        words = f"{place}: no tool writes such a hash as {odd[:11]}...: {fault_in_words(odd)}"
        sound = sum(map(is_well_formed, x.entry.hashes))
        if x.error is not None and sound:
            words = f"{words}; {counted(sound, 'other hash', 'other hashes')} may be sound"
            return Judgement(_LIKELY, words, "the hash of the failing package: --package", basis=Basis.HASHES)
        return Judgement(_YES, words, basis=Basis.HASHES)
    if (edited := x.origins.edited) is not None:
        words = (
            f"{x.lock.path}:{x.entry.line_of(edited.now)}: the block has {edited.now}, where commit "
            f"{edited.commit[:12]} has {edited.was}, which {edited.package} is: the hash was edited"
        )
        return Judgement(_YES, words, basis=Basis.HASHES)
    if x.origins.sides is not None:
        words = f"commit {x.history.merge[:12]}, a merge, has the version of one commit and the hashes of another"
        return Judgement(
            _UNKNOWN, words, "whether a person resolved the conflict: the author or committer of the merge"
        )
    for place, entry in x.origins.entries_of_other_versions():
        is_of_signed = x.today.hashes_of in {"", str(entry.version)}
        if x.packed and x.packed <= packages_of(entry.hashes) and not x.packed & x.today.listed and is_of_signed:
            words = (
                f"{x.place}: the block says {x.entry.version}{_version_words(x)}, and has the "
                f"hashes of {entry.version} ({place}){_changed_part(x)}"
            )
            oldest = x.origins.oldest_with_packages
            # Without a run that failed with this version, the first commit may as well have the edited entry.
            has_failed = x.error is not None and oldest is not None and oldest.version == entry.version
            if x.today.is_known or x.today.hashes_of or has_failed:
                return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO)
            words = f"{words}; if they are those of {x.entry.version}, the entry there is the edited one"
            return Judgement(_LIKELY, words, x.why_unknown, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO)
    if (edit := x.origins.completed_edit) is not None:
        added = counted(len(x.packed - packages_of(edit.accepted)), "other zh", "other zh")
        words = (
            f"{x.place}: commit {edit.commit[:12]} has {x.entry.version} with the hashes of {edit.borrowed_from}: the "
            f"version changed, the hashes did not; {added} came later, and the block still accepts packages of "
            f"{edit.borrowed_from}"
        )
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO_SINCE)
    if x.today.hashes_of:
        words = (
            f"{x.place}: the block says {x.entry.version}, and {len(x.packed)} of "
            f"{zh_of_packages(len(x.packed), 'locked ')} are of the signed release {x.today.hashes_of}"
            f"{_changed_part(x)}"
        )
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO)
    if (before := x.origins.before_edit) is not None:
        commit = x.origins.edit_commit
        by = f"commit {commit[:12]} wrote" if commit else "the edit that is not committed has"
        odd = counted(len(x.origins.strange or x.packed), "other zh", "other zh")
        there = [one for one in x.others if before.entry and before.entry.accepted <= one.entry.accepted]
        also = f"{counted(len(there), 'other lock file')} {'has' if len(there) == 1 else 'have'}, too"
        words = f"{x.place}: {by} {odd} for {x.release} than commit {before.commit[:12]}"
        words = f"{words}, whose zh {'are of the signed release' if x.today.is_known else also}"
        missing = "the author of the edit, or the release of that time" if x.today.is_known else x.why_unknown
        verdict = _YES if x.origins.typed else _LIKELY
        return Judgement(verdict, words, "" if x.origins.typed else missing, x.today.as_of, basis=Basis.HASHES)
    if (typed := x.origins.typed) is not None:
        place = f"{x.lock.path}:{x.entry.line_of(typed[0])}"
        words = f"{place}: the block has {typed[0]}, where {x.sums} has {typed[1]}"
        return Judgement(_YES, f"{words}{_twin_words(x)}", as_of=x.today.as_of, basis=Basis.HASHES)
    if x.origins.sound_twin is not None:
        words = f"{x.place}: {len(x.origins.strange)} of {zh_of_packages(len(x.packed))} are not signed"
        missing = "the author of the edit, or the release of that time"
        return Judgement(_LIKELY, f"{words}{_twin_words(x)}", missing, x.today.as_of, basis=Basis.HASHES)
    if x.error is None and not x.entry.hashes and (lost := lost_hashes(x)) is not None:
        return lost
    if not x.packed:
        states = ((commit, packages_of(entry.hashes)) for commit, entry in locked_states(x.history.states))
        commit, was = next((one for one in states if one[1]), ("", frozenset()))
        gone = f"; commit {commit[:12]} locks {zh_of_packages(len(was))}" if was else ""
        missing = "the commit that left the zh out, its author or committer" if gone else "a zh, which alone is signed"
        missing = missing if x.today.is_known else x.why_unknown
        return Judgement(_UNKNOWN, f"no zh of a package is locked{gone}", missing, x.today.as_of, basis=Basis.GUESS)
    if x.today.is_known and not x.stale:
        words = f"{len(x.packed)} of {zh_of_packages(len(x.packed), 'locked ')} are of {x.entry.version}"
        if x.met_release:
            words = f"{words}; an edit that was never committed, and is undone, leaves no trace"
            return Judgement(_UNKNOWN, words, "the lock file of the failing run", x.today.as_of, basis=Basis.GUESS)
        title = "the version or a zh in the block was changed by hand"  # of what was deleted, nothing is said
        return Judgement(_NO, words, as_of=x.today.as_of, title=title)
    missing = (
        f"how commit {x.history.made_by[:12]} made this entry: its author or committer"
        if x.history.made_by
        else "how this entry was made"
    )
    missing = missing if x.today.is_known else x.why_unknown
    return Judgement(
        _UNKNOWN, "whether a tool or a person wrote these hashes is not known", missing, as_of=x.today.as_of
    )


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
