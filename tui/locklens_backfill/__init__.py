"""Completes registry metadata: the `h1` and the size of every package that a registry's files name without them.

Here is a provider's metadata file in the layout of the OpenTofu registry, read with the place of everything that is
missing. It is an object with `versions`, each with `targets`, each with `os`, `arch`, `filename`, `download_url` and
`shasum`; see https://github.com/opentofu/registry, src/internal/provider/provider.go. A completed target also has
`h1` and `size`; the RFC of registry hashes (opentofu/opentofu, rfc/20251027) calls the size `package_size`, which is
its name in a registry's answers. Either name counts as there.

What is inserted follows the indentation and the line ends around it; no other byte changes. No I/O.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import NoReturn

    _Walker = Callable[[str, int], tuple[Any, int]]

MAX_METADATA_BYTES = 16 * 1024 * 1024
MAX_TARGETS = 100_000
"""Limit of a file; the largest of the OpenTofu registry has 2 MB, 4,000 targets; a target can be as short as `{}`."""

SIZE_NAMES = ("size", "package_size")
"""Names of a package's size in a target: the OpenTofu registry's, and that of the RFC."""

_SPACE = re.compile(r"[ \t\r\n]*")
_SHASUM = re.compile(r"[0-9A-Fa-f]{64}\Z")
_MOST_NAME = 200


class MetadataError(ValueError):
    """The text is not a metadata file; str() says why, and `line`, from 1, says where."""

    def __init__(self, words: str, line: int) -> None:
        super().__init__(words)
        self.line = line


class Gap(Struct, frozen=True):
    """The place of a missing value.

    Attributes:
        start: Offset of the value in characters.
        end: End of the empty value that it replaces; `start` if the key is missing too.
        lead: The text before the key: a comma, and the space before other keys.
        colon: The text between key and value.
    """

    start: int
    end: int
    lead: str = ""
    colon: str = ""

    def filled(self, name: str, value: str) -> str:
        """Return the text that goes there."""
        return value if self.end > self.start else f'{self.lead}"{name}"{self.colon}{value}'


class Target(Struct, frozen=True):
    """One platform of one version.

    Attributes:
        version: As the file has it.
        platform: OS_ARCH, as both are written.
        shasum: SHA-256 of the package, lower-case hex.
        h1: As it is written, "" where it is missing.
        size: Bytes of the package, 0 where they are missing.
        line: In the file, from 1.
        h1_gap: Where the `h1` is missing; None where it is not. The same is `size_gap` for the size.
        problem: Why nothing can be filled in; "" if something can.
    """

    version: str
    platform: str
    url: str
    shasum: str
    h1: str
    size: int
    line: int
    h1_gap: Gap | None
    size_gap: Gap | None
    problem: str = ""

    @property
    def is_complete(self) -> bool:
        """True if nothing is missing."""
        return self.h1_gap is None and self.size_gap is None


class Filling(Struct, frozen=True):
    """The facts about the package of a target."""

    target: Target
    h1: str
    size: int


class Metadata(Struct, frozen=True):
    """A metadata file, with all targets in its order.

    Attributes:
        size_name: The name that it has for sizes, "" where it has none yet.
    """

    text: str
    targets: tuple[Target, ...]
    size_name: str

    def completed(self, fillings: Iterable[Filling], size_name: str) -> bytes:
        """Return the file with what was missing; `size_name` is the name of a size."""
        edits: list[tuple[Gap, str]] = []
        for filling in fillings:
            target = filling.target
            if target.h1_gap is not None:
                edits.append((target.h1_gap, target.h1_gap.filled("h1", json.dumps(filling.h1))))
            if target.size_gap is not None:
                edits.append((target.size_gap, target.size_gap.filled(size_name, str(filling.size))))
        pieces, at = [], 0
        for gap, words in sorted(edits, key=lambda edit: edit[0].start):
            pieces += [self.text[at : gap.start], words]
            at = gap.end
        return "".join((*pieces, self.text[at:])).encode()


class _Member(Struct, frozen=True):
    """One member of an object: its key, and where key and value stand."""

    key: str
    value: Any
    start: int
    end: int
    lead: str
    colon: str


def read_metadata(data: bytes) -> Metadata:
    """Read a metadata file; raises MetadataError if it is none."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise MetadataError("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    try:
        return _Reader(text).read()
    except json.JSONDecodeError as error:
        raise MetadataError(f"invalid JSON: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, MetadataError):
            raise
        raise MetadataError("invalid JSON: nested too deeply, or a number without end", 1) from None


def has_everything(data: bytes) -> bool:
    """True if a metadata file surely lacks nothing: twenty times as fast as reading it with its places.

    Most files of a registry lack nothing, and each is looked at in every run.
    """
    try:
        document = msgspec.json.decode(data)
        listed = [version.get("targets") or [] for version in document["versions"]]
        return all(_has_both(target) for targets in listed for target in targets)
    except (msgspec.DecodeError, RecursionError, UnicodeError, AttributeError, LookupError, TypeError):
        return False


def _has_both(target: Mapping[str, Any]) -> bool:
    size = next((target[name] for name in SIZE_NAMES if name in target), None)
    return target.get("h1") not in ("", None) and size is not None and (size != 0 or isinstance(size, bool))


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class _Reader:
    """Walks along the known structure by hand, so that places are known; all else is left to the decoder."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._line = 0
        self._targets: list[Target] = []
        self._names: set[str] = set()

    def read(self) -> Metadata:
        members, at = self._object({"versions": self._array(self._version)}, self._skip(0), "the document")
        if self._skip(at) != len(self._text):
            raise json.JSONDecodeError("extra data", self._text, self._skip(at))
        versions = members.get("versions")
        if versions is None or not (versions.value is None or isinstance(versions.value, list)):
            raise MetadataError('it has no list of "versions": it is no metadata of a provider', 1)
        size_name = next((name for name in SIZE_NAMES if name in self._names), "")
        return Metadata(self._text, tuple(self._targets), size_name)

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        assert found is not None
        return found.end()

    def _line_at(self, at: int) -> int:
        """Return the line of a place after the last one that was asked for."""
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line + 1

    def _expect(self, sign: str, at: int) -> int:
        if self._text[at : at + 1] != sign:
            raise json.JSONDecodeError(f"expected {sign!r}", self._text, at)
        return at + 1

    def _array(self, walk: _Walker) -> _Walker:
        """Return the walker of an array whose items `walk` reads; anything else is read as it is."""

        def walk_array(text: str, at: int) -> tuple[Any, int]:
            if text[at : at + 1] != "[":
                return _DECODER.raw_decode(text, at)
            found: list[Any] = []
            at = self._skip(at + 1)
            if text[at : at + 1] == "]":
                return found, at + 1
            while True:
                value, at = walk(text, at)
                found.append(value)
                at = self._skip(at)
                if text[at : at + 1] == "]":
                    return found, at + 1
                at = self._skip(self._expect(",", at))

        return walk_array

    def _object(self, inner: Mapping[str, _Walker], at: int, what: str) -> tuple[dict[str, _Member], int]:
        """Read the members of an object, with the places of each."""
        text, found = self._text, dict[str, _Member]()
        behind = self._expect("{", at)
        at = self._skip(behind)
        if text[at : at + 1] == "}":
            return found, at + 1
        while True:
            lead = text[behind:at]
            self._expect('"', at)
            key, key_end = _DECODER.raw_decode(text, at)
            start = self._skip(self._expect(":", self._skip(key_end)))
            value, end = inner[key](text, start) if key in inner else _DECODER.raw_decode(text, start)
            if key in found:
                raise MetadataError(f'{what} has "{key[:_MOST_NAME]}" twice', text.count("\n", 0, at) + 1)
            found[key] = _Member(key, value, start, end, lead, text[key_end:start])
            at = self._skip(end)
            if text[at : at + 1] == "}":
                return found, at + 1
            behind = self._expect(",", at)
            at = self._skip(behind)

    def _version(self, text: str, at: int) -> tuple[Any, int]:
        if text[at : at + 1] != "{":
            return _DECODER.raw_decode(text, at)
        first = len(self._targets)
        members, end = self._object({"targets": self._array(self._target)}, at, "a version")
        version = _name_of(members, "version")
        # The targets may come before the version's own name.
        self._targets[first:] = [_named(target, version) for target in self._targets[first:]]
        return version, end

    def _target(self, text: str, at: int) -> tuple[Any, int]:
        line = self._line_at(at)
        if len(self._targets) == MAX_TARGETS:
            raise MetadataError(f"it has more than {MAX_TARGETS} targets, which is not read", line)
        if text[at : at + 1] != "{":
            self._targets.append(_odd_target(line, "the target is no object"))
            return _DECODER.raw_decode(text, at)
        members, end = self._object({}, at, "a target")
        self._names.update(name for name in SIZE_NAMES if name in members)
        self._targets.append(_target_of(members, line))
        return None, end


def _named(target: Target, version: str) -> Target:
    from msgspec.structs import replace

    return replace(target, version=version, problem=target.problem or ("" if version else "its version has no name"))


def _odd_target(line: int, problem: str) -> Target:
    gap = Gap(0, 0)
    return Target("", "", "", "", "", 0, line, gap, gap, problem)


def _name_of(members: Mapping[str, _Member], key: str) -> str:
    value = members[key].value if key in members else ""
    return value if isinstance(value, str) and len(value) <= _MOST_NAME else ""


def _target_of(members: Mapping[str, _Member], line: int) -> Target:
    if not members:
        return _odd_target(line, "the target is empty")
    last = list(members.values())[-1]
    behind = Gap(last.end, last.end, f",{last.lead}", last.colon)
    h1, size, sized = "", 0, next((members[name] for name in SIZE_NAMES if name in members), None)
    h1_gap: Gap | None = behind
    if "h1" in members:
        found = members["h1"]
        h1_gap = Gap(found.start, found.end) if found.value in ("", None) else None
        h1 = found.value if isinstance(found.value, str) else ""
    size_gap: Gap | None = behind
    if sized is not None:
        is_empty = sized.value is None or (sized.value == 0 and not isinstance(sized.value, bool))
        size_gap = Gap(sized.start, sized.end) if is_empty else None
        size = sized.value if type(sized.value) is int and sized.value > 0 else 0
    system, arch = _name_of(members, "os"), _name_of(members, "arch")
    url = members["download_url"].value if "download_url" in members else ""
    shasum = _name_of(members, "shasum")
    problem = ""
    if not (system and arch):
        problem = 'the target has no "os" or no "arch"'
    elif not (isinstance(url, str) and url):
        problem = 'the target has no "download_url"'
    elif not _SHASUM.match(shasum):
        problem = 'the "shasum" of the target is not 64 hex digits'
    url = url if isinstance(url, str) else ""
    return Target("", f"{system}_{arch}", url, shasum.lower(), h1, size, line, h1_gap, size_gap, problem)
