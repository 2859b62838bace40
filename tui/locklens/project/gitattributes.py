"""Which committed files git checks out with other bytes, by the attributes that a tree gives them.

Git itself tells: the tree's `.gitattributes` files are put into an index of their own, as `git check-attr` reads those
of a revision only since 2.40.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locklens.project.gitoutput import TreeFile
    from locklens.project.gitprocess import GitCommand

ATTRIBUTES_FILE = ".gitattributes"

_CONVERTING = ("working-tree-encoding", "ident", "filter")
"""Line ends (`text`, `eol`) are left out: for the tools both kinds are the same."""

_OFF = frozenset({"unspecified", "unset"})


def may_convert(data: bytes) -> bool:
    """Whether a file of attributes names one that changes bytes: names of attributes are written without quotes."""
    return any(name.encode() in data for name in _CONVERTING)


def converted(command: GitCommand, attributes: Mapping[str, TreeFile], paths: Iterable[str]) -> dict[str, str]:
    """Returns the attribute that has git change a file's bytes, such as `filter=lfs`, by path.

    `ident` is named where it is set; it changes what has `$Id` in it.

    Args:
        command: Git in the repository.
        attributes: The tree's files of attributes.
        paths: What is asked about.

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
        question = ("check-attr", "-z", "--cached", "--stdin", *_CONVERTING)
        given = _encoded(f"{path}\0" for path in paths)
        fields = aside.answer(*question, given=given).decode("utf-8", "surrogateescape").split("\0")
    found: dict[str, list[str]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        found.setdefault(path, []).extend(_words(name, value))
    return {path: ", ".join(words) for path, words in found.items() if words}


def _words(name: str, value: str) -> Iterator[str]:
    if value in _OFF or (name == "filter" and value == "set") or (name == "ident" and value != "set"):
        return
    if name == "working-tree-encoding" and value.lower().replace("-", "") == "utf8":
        return
    yield name if name == "ident" else f"{name}={value}"


def _encoded(records: Iterable[str]) -> bytes:
    return "".join(records).encode("utf-8", "surrogateescape")
