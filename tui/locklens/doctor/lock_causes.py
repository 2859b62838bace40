"""Causes in a lock file that cannot be read, or that a merge left so. Each function returns None where it is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.doctor.cases import first_case
from locklens.doctor.examined import zh_of_packages
from locklens.doctor.model import Basis, CauseVerdict, Judgement
from locklens.hashes import count_by_scheme, packages_of
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.doctor.examined import Examined
    from locklens.lockfile import LockEntry

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
    of_file = first_case((_unresolved, _damaged_by_merge, _locked_twice), x)
    if of_file is not None or x.lock.problems or x.entry is None:
        return of_file
    cases = (_of_two_sides, _of_an_edit, _of_two_versions, _without_lost, _of_one_release, _of_unknown_origin)
    return first_case(cases, x, x.entry) or _as_selected(x, x.entry)


def _unresolved(x: Examined) -> Judgement | None:
    if x.lock.conflict is None:
        return None
    ours, theirs = x.lock.conflict.names
    lines = ", ".join(f"{x.lock.path}:{marker.line}" for marker in x.lock.conflict.markers) or x.lock.path
    words = f"conflict between {ours} and {theirs} at {lines}"
    first = min((marker.line for marker in x.lock.conflict.markers), default=1)
    return _unreadable(x, words, range(first, x.lock.data.count(b"\n") + 2))


def _damaged_by_merge(x: Examined) -> Judgement | None:
    if not x.history.damaging_merge or not x.lock.problems:
        return None
    place = f"{x.lock.path}:{x.lock.problems[0].line}"
    words = (
        f"{place} cannot be read since commit {x.history.damaging_merge[:12]}, which is a merge; "
        "merge=union in .gitattributes does that, and the merge driver of locklens does not: locklens git install"
    )
    return _unreadable(x, words, {one.line for one in x.lock.problems})


def _locked_twice(x: Examined) -> Judgement | None:
    duplicate = next((one for one in x.lock.problems if "duplicate" in one.summary.lower()), None)
    if duplicate is None:
        return None
    words = f"{x.lock.path}:{duplicate.line}: {duplicate.summary}; a merge leaves that, and so does an edit"
    if x.history.damaging_edit:
        words = f"{words}; it cannot be read since commit {x.history.damaging_edit[:12]}, which is no merge"
        return Judgement(_UNKNOWN, words, _IF_SQUASHED)
    return Judgement(_UNKNOWN, words, "whether the change that added the second block was a merge")


def _of_two_sides(x: Examined, entry: LockEntry) -> Judgement | None:
    if x.origins.sides is None:
        return None
    of_version, of_hashes = x.origins.sides
    words = (
        f"{x.place}: commit {x.history.merge[:12]} is a merge, and has the version "
        f"{entry.version} of commit {of_version.commit[:12]} with the hashes of commit {of_hashes.commit[:12]}"
    )
    title = "a merge took the version of one side, and the hashes of the other"
    return Judgement(_YES, words, basis=Basis.HASHES, title=title)


def _of_an_edit(x: Examined, _: LockEntry) -> Judgement | None:
    if (edit := x.origins.completed_edit) is None:
        return None
    words = f"commit {edit.commit[:12]}, which is no merge, has {x.release} with packages of {edit.borrowed_from} alone"
    return Judgement(_UNKNOWN, words, _IF_SQUASHED)


def _of_two_versions(x: Examined, _: LockEntry) -> Judgement | None:
    for place, other in x.origins.entries_of_other_versions():
        theirs_alone = packages_of(other.hashes) & (x.stale if x.today.is_known else x.packed)
        rest = x.packed - packages_of(other.hashes)
        if theirs_alone and rest and (x.today.is_known or len(theirs_alone) * 2 <= len(x.packed) + 1):
            words = (
                f"{x.place}: {len(theirs_alone)} of {zh_of_packages(len(x.packed))} in the block "
                f"of {x.release} are of {other.version} ({place}): the block accepts packages of both versions"
            )
            verdict = _YES if x.today.is_known else _LIKELY
            return Judgement(verdict, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO_VERSIONS)
    if x.today.rest_of:
        words = (
            f"{x.place}: {len(x.stale)} of {zh_of_packages(len(x.packed))} in the block of {x.release} are of the "
            f"signed release {x.today.rest_of}: the block accepts packages of both versions"
        )
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=_OF_TWO_VERSIONS)
    return None


_OF_TWO_VERSIONS = "the block has hashes of two versions, as a merge of lines leaves it"


def _without_lost(x: Examined, entry: LockEntry) -> Judgement | None:
    before = [one.accepted for one in x.history.states[1:] if one.is_of(str(entry.version))]
    lost = count_by_scheme(frozenset.intersection(*before) - x.locked) if before and x.history.last_merge else ""
    if not lost:
        return None
    words = f"commit {x.history.last_merge[:12]} is a merge, and lacks {lost} that {x.release} had in each state before"
    return Judgement(_LIKELY, f"{x.place}: {words}", title="a merge dropped hashes of both sides")


def _of_one_release(x: Examined, _: LockEntry) -> Judgement | None:
    if not x.today.is_known or not x.packed or x.stale:
        return None
    words = "no conflict markers, and all locked zh of packages are of one release"
    return Judgement(_NO, words, as_of=x.today.as_of)


def _of_unknown_origin(x: Examined, entry: LockEntry) -> Judgement | None:
    """Judge an entry whose packages are all of another version, where no commit made it so."""
    if not x.packed or (donor := _donor(x)) is None or not x.packed <= packages_of(donor[1].hashes):
        return None
    if x.history.made_by or x.history.merge:
        return None
    is_edited = x.history.states and not x.origins.is_committed
    way = ": whoever edited the work tree" if is_edited else ""
    return Judgement(_UNKNOWN, _trace_words(x, entry), f"whether the change that made it so was a merge{way}")


def _as_selected(x: Examined, entry: LockEntry) -> Judgement:
    """Judge an entry by the commit that selected its version and packages."""
    words = _trace_words(x, entry)
    if x.history.merge:
        words = f"{words}; commit {x.history.merge[:12]}, which is a merge, selected its version and packages"
        return Judgement(_UNKNOWN, words, IF_RESOLVED)
    if x.history.made_by:
        words = f"{words}; commit {x.history.made_by[:12]}, which is no merge, selected its version and packages"
        return Judgement(_UNKNOWN, words, _IF_SQUASHED)
    missing = "whether a merge selected its version and packages" if x.today.is_known else x.why_unknown
    return Judgement(_UNKNOWN, words, missing if x.packed else "")


def _donor(x: Examined) -> tuple[str, LockEntry] | None:
    """Return the entry of another version with the most of the locked packages, and its place; None without any."""
    shared = (
        (len(x.packed & packages_of(entry.hashes)), place, entry)
        for place, entry in x.origins.entries_of_other_versions()
    )
    number, place, entry = max(shared, key=lambda one: one[0], default=(0, "", None))
    return (place, entry) if entry is not None and number else None


def _trace_words(x: Examined, entry: LockEntry) -> str:
    """Return that no merge left its marks, and how many packages an entry shares with one of another version."""
    words = "no conflict markers, and no provider twice"
    if (donor := _donor(x)) is None:
        return words
    place, other = donor
    number = len(x.packed & packages_of(other.hashes))
    words = f"{words}; {number} of {zh_of_packages(len(x.packed))} are of {other.version} ({place})"
    return f"{words}, and the version is {entry.version}" if number == len(x.packed) else words


_IF_SQUASHED = "whether that commit squashed a branch with such a merge: its author or committer"
IF_RESOLVED = "whether a person resolved the conflict: the author or committer of the merge"
