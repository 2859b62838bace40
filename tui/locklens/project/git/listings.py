"""What git lists, as values: files of a tree or the index, differences, and revisions with their names.

Paths are those that git prints with `-z`; bytes that are not UTF-8 survive as surrogates.

A name of a revision that may stand for several is refused: git resolves it by an order of its own, with a warning at
most. A tag comes before the branch of its name, and tags follow a fetch from any repository: that of a fork could take
the place of `main`, of `origin/main` or of an abbreviated commit id. The rules are those of gitrevisions(7).
"""

from __future__ import annotations

import re
from sys import intern
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import RepositoryError
from locklens.project.git.objects import can_be_asked
from locklens.project.git.process import text_of
from locklens.project.tree import name_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locklens.project.git.objects import ObjectReader
    from locklens.project.git.process import GitCommand

_LINK = "120000"
_SUBMODULE = "160000"

_MAX_SHOWN = 200
"""The most characters of a path in a message."""

_PLACES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""The namespaces in which git looks up a short name, in this order. Any name may be short: a tag can be
called `refs/heads/main`."""

_SUFFIX = re.compile(r"[~^:]|@\{")
_IN_NO_REFERENCE = re.compile(r"[*?\[\\]")
_FETCHED = "FETCH_HEAD"
_FETCHED_TAG = re.compile(r"[0-9a-f]+\t[^\t\n]*\ttag '([^\n]*)' of ")
_MAX_FETCHED_BYTES = 1 << 20
"""Limit of `FETCH_HEAD`, which has a line for each reference of the last fetch."""

_ABBREVIATED = re.compile(r"(?:.+-g)?([0-9a-f]{4,})", re.IGNORECASE)
"""An object id's beginning, alone or at the end of what `git describe` prints; git takes none below four digits."""

MAX_REFS = 500
"""The most branches and tags that are listed, the latest first."""

MAX_RECENT_COMMITS = 50
_SHOWN_DIGITS = 12
_FORMAT = "%(refname)%00%(refname:short)%00%(symref)%00%(objectname)%00%(creatordate:short)%00%(contents:subject)"
_KINDS = {"refs/heads/": "branch", "refs/remotes/": "remote", "refs/tags/": "tag"}


class PathChange(Struct, frozen=True, gc=False):
    """A path that differs between two sides, if only in its mode, and whether either has a file there."""

    path: str
    was_there: bool
    is_there: bool


class SubmoduleChange(Struct, frozen=True, gc=False):
    """A submodule that was added, removed, or is at another commit.

    Attributes:
        old: The full commit id, "" where there was none.
        new: The same of the new side; zeros for a commit in the work tree that differs from the index.
    """

    path: str
    old: str
    new: str


class TreeFile(Struct, frozen=True, gc=False):
    """A file, link or submodule of a listing.

    Attributes:
        mode: Git's, as six octal digits.
        object_id: The id of the contents; "" where the index has several, as the path is not merged.
        ours: The id of our side's contents of a path that is not merged; "" where it is deleted there.
        theirs: The same of the other side.
        base: The same of the common ancestor; "" where it has no such file.
    """

    mode: str
    object_id: str
    ours: str = ""
    theirs: str = ""
    base: str = ""

    @property
    def is_link(self) -> bool:
        """True if a symbolic link."""
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        """True if another repository, whose files this one does not have."""
        return self.mode == _SUBMODULE


def is_left_out(tag: str) -> bool:
    """True for the tag of `git ls-files -v` for a file that a sparse checkout leaves out, where it is not there."""
    return tag in ("S", "s")


def parse_tree(records: Iterable[str]) -> dict[str, TreeFile]:
    """Read `MODE TYPE OBJECT<TAB>PATH` records of `ls-tree -z`, without those of trees."""
    files: dict[str, TreeFile] = {}
    for record in records:
        words, _, path = record.partition("\t")
        mode, kind, object_id = words.split(" ")
        if kind != "tree" and _is_plain(path):
            files[path] = TreeFile(intern(mode), object_id)
    return files


def parse_index(records: Iterable[str]) -> dict[str, TreeFile]:
    """Read `MODE OBJECT STAGE<TAB>PATH` records of `ls-files -s -z`."""
    files: dict[str, TreeFile] = {}
    for record in records:
        words, _, path = record.partition("\t")
        if _is_plain(path):
            mode, object_id, stage = words.split(" ")
            files[path] = (
                TreeFile(intern(mode), object_id)
                if stage == "0"
                else _unmerged(mode, object_id, stage, files.get(path))
            )
    return files


def _unmerged(mode: str, object_id: str, stage: str, seen: TreeFile | None) -> TreeFile:
    """Return a path with its records so far and one more: stage 1 is the base, 2 ours, 3 theirs."""
    base, ours = (seen.base, seen.ours) if seen is not None else ("", "")
    if stage == "1":
        base = object_id
    elif stage == "2":
        ours = object_id
    return TreeFile(intern(mode), "", ours, object_id if stage == "3" else "", base)


def _is_plain(path: str) -> bool:
    """True if no part is `.` or `..`: git never writes such a path, a forged tree may hold one."""
    return "." not in path or not {".", ".."} & set(path.split("/"))


def parse_raw(records: Iterable[str]) -> tuple[dict[str, PathChange], tuple[SubmoduleChange, ...]]:
    """Read `:MODE MODE OBJECT OBJECT STATUS`, `PATH` pairs of records of `diff --raw -z --no-renames`.

    Returns the changed files by path, and the changed submodules, which are not files.
    """
    fields = iter(records)
    changes: dict[str, PathChange] = {}
    submodules: list[SubmoduleChange] = []
    for words, path in zip(fields, fields, strict=True):
        old_mode, new_mode, old_id, new_id, letter = words.removeprefix(":").split(" ")
        was_module, is_module = old_mode == _SUBMODULE, new_mode == _SUBMODULE
        if was_module or is_module:
            submodules.append(SubmoduleChange(path, old_id if was_module else "", new_id if is_module else ""))
        was_file = letter != "A" and not was_module
        is_file = letter != "D" and not is_module
        if was_file or is_file:
            changes[path] = PathChange(path, was_file, is_file)
    return changes, tuple(submodules)


def submodule_changes(old: Mapping[str, TreeFile], new: Mapping[str, TreeFile]) -> tuple[SubmoduleChange, ...]:
    """Compare the submodules of two listings, in the order of the paths' bytes."""
    before = {path: file.object_id for path, file in old.items() if file.is_submodule}
    after = {path: file.object_id for path, file in new.items() if file.is_submodule}
    paths = (path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    ordered = sorted(paths, key=name_bytes)
    return tuple(SubmoduleChange(path, before.get(path, ""), after.get(path, "")) for path in ordered)


def differences(old: Mapping[str, TreeFile], new: Mapping[str, TreeFile]) -> tuple[PathChange, ...]:
    """Compare two listings, in the order of the paths' bytes. Submodules are not files."""
    paths = {path for path, file in old.items() if new.get(path) != file} | (new.keys() - old.keys())
    ordered = sorted(paths, key=name_bytes)
    changes = (PathChange(path, _is_file(old.get(path)), _is_file(new.get(path))) for path in ordered)
    return tuple(change for change in changes if change.was_there or change.is_there)


def _is_file(listed: TreeFile | None) -> bool:
    return listed is not None and not listed.is_submodule


def unlisted_folder(warnings: str) -> str:
    """Return the first folder that git could not open, by the beginning of what it said; "" if there is none."""
    _, found, rest = warnings.partition("could not open directory '")
    return (rest.partition("': ")[0].partition("\n")[0][:_MAX_SHOWN] or "?") if found else ""


def with_untracked(changes: dict[str, PathChange], untracked: Iterable[str]) -> tuple[PathChange, ...]:
    """Enter untracked files. One that git calls deleted was only taken out of the index: it is still there."""
    for path in untracked:
        changes[path] = PathChange(path, path in changes and changes[path].was_there, is_there=True)
    return tuple(changes[path] for path in sorted(changes, key=name_bytes))


def require_unambiguous(command: GitCommand, objects: ObjectReader, name: str, id_length: int) -> None:
    """Refuse a revision whose first part, before `~`, `^`, `:` or `@{`, stands for more than one thing.

    It costs one process for a short name, and none for HEAD, a full id or a full reference that nothing else is called.
    Only where a reference looks like an abbreviated id, another asks for objects that it abbreviates. A full id has
    `id_length` digits, and git takes it for nothing else.

    Raises:
        RepositoryError: It is ambiguous, or git failed.
    """
    first, suffix = _first_part(name)
    abbreviated = _ABBREVIATED.fullmatch(first)
    if first in ("", "@", "HEAD") or _IN_NO_REFERENCE.search(first) or (abbreviated and len(first) == id_length):
        return
    if first.startswith("refs/"):
        _require_full(command, objects, first)
        return
    references = _existing(command, first)
    if len(references) > 1:
        meant = next((one for one in references if not one.startswith("refs/tags/")), references[-1])
        raise RepositoryError(
            f"{_shown(name)} is ambiguous: {_shown(first)} is the name of {_listed(references)}",
            hint=f"use the full name, as in {_shown(meant + suffix)}",
        )
    if references and abbreviated and command.answer("rev-parse", f"--disambiguate={abbreviated[1]}").strip():
        raise RepositoryError(
            f"{_shown(name)} is ambiguous: {abbreviated[1]} abbreviates an object's id, and"
            f" {_shown(references[0])} has the name",
            hint=f"write the id in full, or {_shown(references[0] + suffix)}",
        )


def unknown_revision(command: GitCommand, name: str) -> RepositoryError:
    """Return the error about a name of no commit, with the remote branches that have the name, or what does not fit.

    Raises:
        RepositoryError: Git failed.
    """
    first, suffix = _first_part(name)
    may_be_there = first != "" and can_be_asked(first) and not _IN_NO_REFERENCE.search(first)
    if suffix and (first in {"@", "HEAD"} or (may_be_there and _existing(command, first))):
        hint = f"{_shown(first)} is known, and {_shown(suffix)} leads from it to no commit of this clone"
        return RepositoryError(f"unknown revision {name!r}", hint=f"{hint}; a range is written BASE..HEAD")
    found: Iterable[str] = ()
    if may_be_there:
        found = sorted(_matching(command, [_pattern("refs/remotes/*/{}", first)]))
    meant = [_shown(one.removeprefix("refs/remotes/") + suffix) for one in found]
    hint = 'name a commit, branch or tag that this clone has; "git fetch" brings those of the remote'
    return RepositoryError(f"unknown revision {name!r}", hint=f"did you mean {' or '.join(meant)}?" if meant else hint)


def require_no_fetched_tag(command: GitCommand, name: str) -> None:
    """Refuse `FETCH_HEAD` as a base where it is a tag, which `git fetch origin main` takes before the branch.

    What git writes there of each reference tells tags from branches (`append_fetch_head` of its builtin/fetch.c).

    Raises:
        RepositoryError: It is a tag, or git failed.
    """
    if _first_part(name)[0] != _FETCHED:
        return
    from pathlib import Path

    from locklens.storage.files import read_bounded

    path = command.line("rev-parse", "--git-path", _FETCHED)
    text = read_bounded(Path(command.folder, path), _MAX_FETCHED_BYTES, missing=b"").decode("utf-8", "replace")
    if tag := _FETCHED_TAG.match(text):
        raise RepositoryError(
            f"{_FETCHED} is the tag {_shown(repr(tag[1]))} of the remote, and may stand for a branch of that name",
            hint='name the branch in full: "git fetch origin refs/heads/BRANCH"; where a tag is meant, name the tag',
        )


def _require_full(command: GitCommand, objects: ObjectReader, name: str) -> None:
    """Refuse a full name without a reference where git would take it for a short name, such as a tag's."""
    found = objects.read(f"{place.format(name)}^{{commit}}" for place in _PLACES)
    if not any(one.object_id or one.problem for one in found.values()):
        return
    if _matching(command, [_pattern("{}", name)]):
        return
    if others := _existing(command, name):
        raise RepositoryError(
            f"there is no {_shown(name)}, and git would take {_listed(others)} for it",
            hint=f'"git fetch" brings branches of the remote; {_shown(others[0])} names the other',
        )


def _existing(command: GitCommand, name: str) -> list[str]:
    """Return the references that a short name stands for, in git's order."""
    found = _matching(command, [_pattern(place, name) for place in _PLACES])
    return [one for place in _PLACES if (one := place.format(name)) in found]


def _matching(command: GitCommand, patterns: list[str]) -> frozenset[str]:
    output = command.answer("for-each-ref", "--format=%(refname)", "--", *patterns)
    return frozenset(text_of(output).splitlines())


def _pattern(place: str, name: str) -> str:
    r"""Return what `git for-each-ref` takes for one reference: without a `\`, also all that is below it."""
    return place.format(f"{name[:-1]}\\{name[-1]}")


def _first_part(name: str) -> tuple[str, str]:
    found = _SUFFIX.search(name)
    return (name, "") if found is None else (name[: found.start()], name[found.start() :])


def _listed(references: list[str]) -> str:
    return " and ".join(map(_shown, references))


def _shown(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


class Revision(Struct, frozen=True):
    """A revision by the name that git accepts.

    Attributes:
        kind: "branch", "remote", "tag" or "commit".
        name: Untrusted; of a commit, its first digits.
        date: ISO 8601; "" if unknown.
        subject: The first line of its message; untrusted.
    """

    kind: str
    name: str
    date: str
    subject: str


def branch_of_head(command: GitCommand) -> str:
    """Return the full name of the branch that HEAD is on; "" for none."""
    status, branch, _ = command.ask("symbolic-ref", "--quiet", "HEAD")
    return text_of(branch).strip() if status == 0 else ""


def push_branch(command: GitCommand) -> str:
    """Return the branch of a remote, as this clone has it, that a push would change; "" for none, or unknown."""
    own = branch_of_head(command)
    return command.line("for-each-ref", "--count=1", "--format=%(push)", "--", own) if own else ""


def list_revisions(command: GitCommand, *, has_commits: bool) -> tuple[Revision, ...]:
    """Return branches, then remote branches, tags, and the recent commits of HEAD, each latest first.

    Raises:
        RepositoryError: Git failed.
    """
    latest = ("--sort=-creatordate", f"--count={MAX_REFS}", f"--format={_FORMAT}")
    refs = list(_refs(text_of(command.answer("for-each-ref", *latest, "--", *_KINDS))))
    ordered = [ref for kind in _KINDS.values() for ref in refs if ref.kind == kind]
    if has_commits:
        log = command.answer("rev-list", f"--max-count={MAX_RECENT_COMMITS}", "--format=%H%x00%cs%x00%s", "HEAD", "--")
        ordered += _commits(text_of(log))
    return tuple(ordered)


def _refs(text: str) -> Iterator[Revision]:
    for line in text.split("\n"):
        name, *rest = line.split("\0")
        kind = next((kind for prefix, kind in _KINDS.items() if name.startswith(prefix)), "")
        if kind and len(rest) == 5 and not rest[1]:
            yield Revision(kind, rest[0], rest[3], rest[4])


def _commits(text: str) -> Iterator[Revision]:
    for line in text.split("\n"):
        commit, *rest = line.split("\0")
        if len(rest) == 2:
            yield Revision("commit", commit[:_SHOWN_DIGITS], *rest)
