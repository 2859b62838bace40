"""Tells at a glance that two files are the same and certainly valid, so that nothing else needs to be loaded to say so.

A review of unchanged files is what hooks and pipelines run most. Here "certainly" is strict: wherever a value is not
of the commonest shape, the answer is None and the full review decides. Both give the same report.
"""

from __future__ import annotations

import itertools
import os

from locklens.lockfile.scan import ScannedBlock, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADERS = {
    b'# This file is maintained automatically by "terraform init".\n': "terraform",
    b'# This file is maintained automatically by "tofu init".\n': "opentofu",
}
_CONFIGURATION = (".tf", ".tf.json", ".tofu", ".tofu.json")
_REGISTRIES = {"registry.terraform.io", "registry.opentofu.org"}
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_HEX = frozenset("0123456789abcdef")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


class Unchanged:
    """Two equal files: the root that they are the lock file of, the file's path, and the tool that wrote it."""

    def __init__(self, folder: str, lock_file: str, tool: str) -> None:
        self.folder = folder
        self.lock_file = lock_file
        self.tool = tool


_OPTIONS = ("--old", "--new", "--format", "--output", "--fail-on")


def simple_options(arguments: Sequence[str]) -> dict[str, str] | None:
    """Reads the arguments of `review` where they are nothing but two files and how to report on them.

    Returns:
        The values by option, or None where anything else was typed and the real parser must read it.
    """
    words = iter(arguments)
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        value = value if equals else next(words, "")
        if name not in _OPTIONS or name in found or not value or value.startswith("-"):
            return None
        found[name] = value
    is_known = found.get("--format", "text") in {"text", "json"} and found.get("--fail-on", "block") in {
        "block",
        "warn",
        "info",
        "never",
    }
    return found if is_known and "--old" in found and "--new" in found else None


def glance(old_file: str, new_file: str) -> Unchanged | None:
    """Looks at two files.

    Returns:
        What there is to report, or None where the full review must decide.
    """
    if not all(_is_plain_file(name) for name in (old_file, new_file)):
        return None
    with open(old_file, "rb") as old, open(new_file, "rb") as new:  # noqa: PTH123
        data = new.read()
        if old.read() != data:
            return None
    tool = _HEADERS.get(data[: data.find(b"\n") + 1])
    blocks = scan(data)
    if tool is None or not blocks or b"\r" in data or not _is_certainly_valid(blocks, tool):
        return None
    if any(name.endswith(_CONFIGURATION) for name in os.listdir(os.path.dirname(new_file) or ".")):  # noqa: PTH120, PTH208
        return None
    lock_file = os.path.normpath(new_file).replace(os.sep, "/")
    return Unchanged(lock_file.rpartition("/")[0], lock_file, tool)


def _is_plain_file(name: str) -> bool:
    """Whether a regular file, and no name that git would understand too."""
    return ":" not in name and os.path.isfile(name) and not os.path.islink(name)  # noqa: PTH113, PTH114


def _is_certainly_valid(blocks: list[ScannedBlock], tool: str) -> bool:
    labels = [block[0] for block in blocks]
    reserved = ("terraform-",) if tool == "terraform" else ("terraform-", "opentofu-")
    return (
        all(_is_plain_label(label, reserved) for label in labels)
        and all(first < second for first, second in itertools.pairwise(labels))
        and all(_numbers(version) for _, _, version, _, _ in blocks)
        and all(constraints is None or _is_canonical(constraints) for _, _, _, constraints, _ in blocks)
        and all(_is_digest(text) for *_, hashes in blocks for text in hashes)
    )


def _is_plain_label(label: str, reserved: tuple[str, ...]) -> bool:
    host, _, name = label.partition("/")
    namespace, _, kind = name.partition("/")
    plain = all(
        part and _NAME.issuperset(part) and "--" not in part and part.strip("-") == part for part in (namespace, kind)
    )
    return host in _REGISTRIES and plain and namespace != "builtin" and not kind.startswith(reserved)


def _is_digest(text: str) -> bool:
    value = text[3:]
    if text.startswith("zh:"):
        return len(value) == 64 and _HEX.issuperset(value)
    return text.startswith("h1:") and len(value) == 44 and value[43] == "=" and _BASE64.issuperset(value[:43])


def _numbers(version: str) -> tuple[int, ...] | None:
    """The numbers of a plain version in normal form; None for any other text."""
    parts = version.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return None
    numbers = tuple(map(int, parts))
    return numbers if ".".join(map(str, numbers)) == version else None


def _is_canonical(constraints: str) -> bool:
    """Whether the terms are written as the tools do, each with a higher version than the one before."""
    before: tuple[int, ...] = (-1,)
    for term in constraints.split(", "):
        operator, _, operand = term.rpartition(" ")
        if operator not in {"", ">=", "<=", ">", "<", "!=", "~>"}:
            return False
        version = _numbers(operand + ".0" if operator == "~>" and operand.count(".") == 1 else operand)
        if version is None or version <= before or term.startswith(" "):
            return False
        before = version
    return True
