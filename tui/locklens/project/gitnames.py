"""Ambiguous names of revisions, which git resolves by an order of its own and with a warning at most.

A tag comes before the branch of its name, and tags follow a fetch from any repository: that of a fork could take the
place of `main`, of `origin/main` or of an abbreviated commit id. The rules are those of gitrevisions(7).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.errors import RepositoryError

if TYPE_CHECKING:
    from locklens.project.gitobjects import ObjectReader
    from locklens.project.gitprocess import GitCommand

_PLACES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""The namespaces in which git looks up a short name, in this order. Any name may be short: a tag can be
called `refs/heads/main`."""

_SUFFIX = re.compile(r"[~^:]|@\{")
_IN_NO_REFERENCE = re.compile(r"[*?\[\\]")
_FETCHED = "FETCH_HEAD"
_FETCHED_TAG = re.compile(r"[0-9a-f]+\t[^\t\n]*\ttag '([^\n]*)' of ")
_MAX_FETCHED_BYTES = 1 << 20
"""Of `FETCH_HEAD`, which has a line for each reference of the last fetch."""

_ABBREVIATED = re.compile(r"(?:.+-g)?([0-9a-f]{4,})", re.IGNORECASE)
"""An object id's beginning, alone or at the end of what `git describe` prints; git takes none below four digits."""


def require_unambiguous(command: GitCommand, objects: ObjectReader, name: str, id_length: int) -> None:
    """Refuse a revision whose first part, before `~`, `^`, `:` or `@{`, stands for more than one thing.

    It costs one process for a short name, and none for HEAD, a full id or a full reference that nothing else is called.
    Only where a reference looks like an abbreviated id, another asks for objects that it abbreviates.

    Args:
        command: Git in the repository.
        objects: What reads its objects.
        name: The revision; git can be asked for it.
        id_length: Hexadecimal digits of a full object id, which git takes for nothing else.

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

    path = command.answer("rev-parse", "--git-path", _FETCHED).decode("utf-8", "surrogateescape").removesuffix("\n")
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
    return frozenset(output.decode("utf-8", "surrogateescape").splitlines())


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
