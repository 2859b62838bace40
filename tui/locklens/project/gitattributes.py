"""Committed files that git checks out with other bytes, by the attributes of a tree.

Git itself is asked: the tree's `.gitattributes` files are put into an index of their own, as `git check-attr` reads
those of a revision only since 2.40.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from locklens.project.gitoutput import TreeFile
    from locklens.project.gitprocess import GitCommand

ATTRIBUTES_FILE = ".gitattributes"

_CONVERTING = ("working-tree-encoding", "ident", "filter")
"""Line ends (`text`, `eol`) are left out: for the tools both kinds are the same."""

_STATES = "set", "unset", "unspecified"
"""The output of `git check-attr` for an attribute without a value, and for a value that is spelled so."""

_SPELLED_STATE = re.compile(
    rb"(?<!\S)(" + "|".join(_CONVERTING).encode() + rb")=(" + "|".join(_STATES).encode() + rb")(?!\S)"
)


def may_convert(data: bytes) -> bool:
    """True if a file of attributes names one that changes bytes: names of attributes are written without quotes."""
    return any(name.encode() in data for name in _CONVERTING)


def spelled_states(data: bytes) -> set[tuple[str, str]]:
    """Return the (attribute, value) pairs of a file of attributes whose value is spelled like a state.

    `filter=unset` names a filter that is called "unset".
    """
    return {(name.decode(), value.decode()) for name, value in _SPELLED_STATE.findall(data)}


def converted(
    command: GitCommand, attributes: Mapping[str, TreeFile], paths: Iterable[str], spelled: Collection[tuple[str, str]]
) -> dict[str, str]:
    """Return the attribute that has git change a file's bytes, such as `filter=lfs`, by path.

    `ident` is named where it is set; it changes what has `$Id` in it.

    Args:
        command: Git in the repository.
        attributes: The tree's files of attributes.
        paths: What is asked about.
        spelled: Values of those files that are spelled like a state. Which of both git means is unknown, and what it
            prints for such a pair counts as the value.

    Raises:
        RepositoryError: Git failed.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="locklens-") as folder:
        environment = {**command.environment, "GIT_INDEX_FILE": os.path.join(folder, "index")}  # noqa: PTH118
        aside = replace(command, environment=environment)
        entries = (f"{file.mode} {file.object_id}\t{path}\0" for path, file in attributes.items() if file.object_id)
        whole = {"core.splitIndex": "false", "index.sparse": "false"}
        aside.answer("update-index", "-z", "--index-info", given=_encoded(entries), settings=whole)
        return _asked(aside, paths, spelled, "--cached")


def converted_on_disk(
    command: GitCommand, paths: Iterable[str], spelled: Collection[tuple[str, str]]
) -> dict[str, str]:
    """Return the same by the files of attributes on disk, and by the index where one is not there; see `converted`.

    Raises:
        RepositoryError: Git failed.
    """
    return _asked(command, paths, spelled)


def _asked(
    command: GitCommand, paths: Iterable[str], spelled: Collection[tuple[str, str]], *options: str
) -> dict[str, str]:
    question = ("check-attr", "-z", *options, "--stdin", *_CONVERTING)
    given = _encoded(f"{path}\0" for path in paths)
    fields = command.answer(*question, given=given, by_patterns=True).decode("utf-8", "surrogateescape").split("\0")
    found: dict[str, list[str]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        found.setdefault(path, []).extend(_words(name, value, is_value=(name, value) in spelled))
    return {path: ", ".join(words) for path, words in found.items() if words}


def _words(name: str, value: str, *, is_value: bool) -> Iterator[str]:
    if name == "ident":
        is_on = value == "set"  # with any value it is off
    else:
        is_on = is_value or value not in (_STATES if name == "filter" else _STATES[1:])
    if not is_on:
        return
    if name == "working-tree-encoding" and value.lower().replace("-", "") == "utf8":
        return
    yield name if name == "ident" else f"{name}={value}"


def _encoded(records: Iterable[str]) -> bytes:
    return "".join(records).encode("utf-8", "surrogateescape")
