"""The build information that Go's linker writes, as text and as values.

The blob is that of `debug/buildinfo` of Go 1.18 and later; its text is that of `runtime/debug.ParseBuildInfo`.
"""

from __future__ import annotations

import re

from locklens.executables import BuildInfo, GoModule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"\xff Go buildinf:"
"""It stands on a boundary of 16 bytes."""

HEADER = 32
"""Bytes of the blob before its strings."""

IS_INLINE = 2
"""The flag, at byte 15, of a blob that its strings follow. Before Go 1.18 it held pointers to them."""

MOST_VERSION = 1024
MOST_TEXT = 1 << 20
"""Bytes of the longest list of modules: that of 200 modules has some 20,000."""

_MOST_ROWS = 20_000
_MOST_LINE = 64 * 1024
"""Characters of a line; the longest have the flags of the linker."""

_SENTINEL = 16
"""Bytes before the list of modules and behind it, by which older Go versions find it."""

_ESCAPE = re.compile(r'\\(?:([abfnrtv\\"\'])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))')
_CONTROLS = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


def build_info_of(version: bytes, text: bytes) -> BuildInfo:
    """Read both strings of a blob.

    Args:
        version: The toolchain's.
        text: The list of modules between its sentinels; without them there is no list.

    Raises:
        ValueError: The list is not in the form that Go gives it.
    """
    go = version.decode("utf-8", "backslashreplace")
    if len(text) < 2 * _SENTINEL + 1 or text[-_SENTINEL - 1 : -_SENTINEL] != b"\n":
        return BuildInfo(go)
    lines = text[_SENTINEL:-_SENTINEL].decode("utf-8", "backslashreplace").split("\n")
    if len(lines) > _MOST_ROWS:
        raise ValueError(f"it has more than {_MOST_ROWS} lines")
    return _parsed(go, iter(lines))


def _parsed(go: str, lines: Iterator[str]) -> BuildInfo:
    path, main = "", None
    modules: list[GoModule] = []
    settings: list[tuple[str, str]] = []
    for line in lines:
        if len(line) > _MOST_LINE:
            raise ValueError(f"a line has {len(line)} characters; at most {_MOST_LINE} are read")
        word, *fields = line.split("\t")
        if word == "path" and fields:
            path = fields[0]
        elif word == "mod":
            main = _module(fields)
        elif word == "dep":
            modules.append(_module(fields))
        elif word == "=>":
            # The replacement of the module in the line before.
            if modules:
                modules[-1] = _replaced(modules[-1], _module(fields))
            elif main is not None:
                main = _replaced(main, _module(fields))
            else:
                raise ValueError("it has a replacement of no module")
        elif word == "build" and fields:
            key, rest = _unquoted("\t".join(fields), "=")
            settings.append((key, _unquoted(rest.removeprefix("="), "")[0]))
    return BuildInfo(go, path, main, tuple(modules), tuple(settings))


def _module(fields: list[str]) -> GoModule:
    if not 2 <= len(fields) <= 3:
        raise ValueError("a line of a module has not two or three fields")
    return GoModule(fields[0], fields[1], "".join(fields[2:]))


def _replaced(module: GoModule, by: GoModule) -> GoModule:
    return GoModule(module.path, module.version, module.checksum, by)


def _unquoted(text: str, stop: str) -> tuple[str, str]:
    """Return a word and what follows it; a word in quotes is written as Go writes a string."""
    if text.startswith("`") and (end := text.find("`", 1)) > 0:
        return text[1:end], text[end + 1 :]
    if text.startswith('"') and (quoted := re.match(r'"((?:[^"\\]|\\.)*)"', text)):
        return _ESCAPE.sub(_character, quoted[1]), text[quoted.end() :]
    word, separator, rest = text.partition(stop) if stop else (text, "", "")
    return word, separator + rest


def _character(escape: re.Match[str]) -> str:
    letter, *digits, octal = escape.groups()
    if letter:
        return _CONTROLS.get(letter, letter)
    number = int(octal, 8) if octal else int(next(filter(None, digits)), 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
