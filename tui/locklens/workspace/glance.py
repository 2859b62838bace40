"""Tells at a glance that two files are the same and certainly valid, so that nothing else needs to be loaded to say so.

A review of unchanged files is what hooks and pipelines run most. Here "certainly" is strict: wherever a value is not of the
commonest shape, the answer is None and the full review decides. Both give the same report.
"""

from __future__ import annotations

import os
import re

from locklens.lockfile.scan import ScannedBlock, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

_HEADERS = {
    b'# This file is maintained automatically by "terraform init".\n': "terraform",
    b'# This file is maintained automatically by "tofu init".\n': "opentofu",
}
_CONFIGURATION = (".tf", ".tf.json", ".tofu", ".tofu.json")
_LABEL = re.compile(r"registry\.(?:terraform\.io|opentofu\.org)/[a-z0-9]+(?:-[a-z0-9]+)*/[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_VERSION = re.compile(r"(?:0|[1-9][0-9]{0,8})\.(?:0|[1-9][0-9]{0,8})\.(?:0|[1-9][0-9]{0,8})\Z")
_TERM = re.compile(r"(?:(?:>=|<=|>|<|!=) )?([0-9.]+)\Z|~> ([0-9]{1,9}\.[0-9]{1,9})(\.[0-9]{1,9})?\Z")
_HASH = re.compile(r"(?:h1:[0-9A-Za-z+/]{43}=|zh:[0-9a-f]{64})\Z")


class Unchanged:
    """Two equal files: the root that they are the lock file of, the file's path, and the tool that wrote it."""

    def __init__(self, folder: str, lock_file: str, tool: str) -> None:
        self.folder = folder
        self.lock_file = lock_file
        self.tool = tool


def glance(found: Namespace) -> Unchanged | None:
    """Looks at the files of `review --old FILE --new FILE`.

    Args:
        found: The parsed arguments of `review`.

    Returns:
        What there is to report, or None where the full review must decide.
    """
    if found.old is None or found.all or found.tool or found.verbose or found.config is not None:
        return None
    if not all(_is_plain_file(name) for name in (found.old, found.new)):
        return None
    with open(found.old, "rb") as old, open(found.new, "rb") as new:  # noqa: PTH123
        data = new.read()
        if old.read() != data:
            return None
    tool = _HEADERS.get(data[: data.find(b"\n") + 1])
    blocks = scan(data)
    if tool is None or not blocks or b"\r" in data or not _is_certainly_valid(blocks, tool):
        return None
    if any(name.endswith(_CONFIGURATION) for name in os.listdir(os.path.dirname(found.new) or ".")):  # noqa: PTH120, PTH208
        return None
    lock_file = os.path.normpath(found.new).replace(os.sep, "/")
    return Unchanged(lock_file.rpartition("/")[0], lock_file, tool)


def _is_plain_file(name: str) -> bool:
    return os.path.isfile(name) and not os.path.islink(name)  # noqa: PTH113, PTH114


def _is_certainly_valid(blocks: list[ScannedBlock], tool: str) -> bool:
    labels = [block[0] for block in blocks]
    reserved = ("terraform-",) if tool == "terraform" else ("terraform-", "opentofu-")
    return (
        all(_LABEL.match(label) and not label.rpartition("/")[2].startswith(reserved) for label in labels)
        and all(first < second for first, second in zip(labels, labels[1:], strict=False))
        and all(_VERSION.match(version) for _, _, version, _, _ in blocks)
        and all(constraints is None or _is_canonical(constraints) for _, _, _, constraints, _ in blocks)
        and all(_HASH.match(text) for *_, hashes in blocks for text in hashes)
    )


def _is_canonical(constraints: str) -> bool:
    """Whether the terms are written as the tools do, each with a higher version than the one before."""
    before: tuple[int, ...] = (-1,)
    for term in constraints.split(", "):
        match = _TERM.match(term)
        if match is None:
            return False
        text = match[1] or match[2] + (match[3] or ".0")
        if not _VERSION.match(text):
            return False
        version = tuple(map(int, text.split(".")))
        if version <= before:
            return False
        before = version
    return True
