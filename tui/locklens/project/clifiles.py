"""The files of the CLI configuration: where they are, and the older HCL in which they are written.

Each tool has its own places. If the user names a file, the folder is not read, nor the credentials that `login` stored
there.

The older HCL differs from that of configurations: names of arguments may be quoted, as is usual in
`dev_overrides`, commas are optional, and a block is a value like another. A file that begins with `{` is JSON, whatever
its name is. It is read as a tree of entries with their lines.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens import hcl
from locklens.project.tree import is_on_disk
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.dialect import Dialect

_SUFFIXES = (".tfrc", ".tfrc.json")
_HELPER = re.compile(r"terraform-credentials-(?P<name>.+?)(?:_v(?P<version>[0-9]+\.[0-9]+\.[0-9]+))?\Z")
_OS = {"win32": "windows", "cygwin": "windows"}
_ARCH = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "i386": "386", "i686": "386"}

_MAX_DEPTH = 100
# Braces nested as deep as in any template; an interpolation is kept verbatim, with its quotes and escapes.
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}"
_TOKEN = re.compile(
    rf"""
    (?P<skip>[ \t\r\n\ufeff]+|(?:\#|//)[^\n]*|/\*.*?\*/)
  | (?P<heredoc><<(?P<indent>-?)(?P<delimiter>[A-Za-z0-9_]+)\r?\n(?P<text>.*?)^[ \t]*(?P=delimiter)[ \t]*$)
  | (?P<string>"(?:[^"\\\n$]|\\.|\$(?!\{{)|\${_BRACES})*")
  | (?P<number>-?(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.-]))
  | (?P<word>[^\W\d][\w.:-]*)
  | (?P<punctuation>[{{}}\[\]=,])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPE = re.compile(
    rf'(?P<kept>\${_BRACES})|\\(?P<code>u[0-9A-Fa-f]{{4}}|U[0-9A-Fa-f]{{8}}|x[0-9A-Fa-f]{{2}}|[0-7]{{3}}|[abfnrtv\\"])|\\.',
    re.DOTALL,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}


class CliFiles(Struct, frozen=True):
    """The files of the CLI configuration.

    Attributes:
        files: In order of increasing precedence.
        main: The main file, as opposed to those in the folder; None if it does not exist.
        missing: The file that the environment names and that is not there.
        unlisted: Why the folder cannot be listed, with its name; None if it can, or is not there.
    """

    files: tuple[Path, ...]
    main: Path | None = None
    missing: Path | None = None
    unlisted: str | None = None


def find_files(dialect: Dialect, environ: Mapping[str, str]) -> CliFiles:
    """Return the files that the tool would read.

    TF_CLI_CONFIG_FILE or TERRAFORM_CONFIG names the only file; otherwise HOME, XDG_CONFIG_HOME and, on Windows, APPDATA
    say where to look.
    """
    named = environ.get("TF_CLI_CONFIG_FILE") or environ.get("TERRAFORM_CONFIG")
    if named:
        path = Path(named)
        return CliFiles((path,), path) if is_on_disk(path, follows_links=True) else CliFiles((), missing=path)
    place = _main_file(dialect, environ)
    main = place if is_on_disk(place, follows_links=True) else None
    own = [main] if main else []
    folder = config_folder(dialect, environ)
    try:
        own += _folder_files(folder)
    except OSError as error:
        return CliFiles(tuple(own), main, unlisted=f"{folder} cannot be listed: {reason_of(error)}")
    return CliFiles(tuple(own), main)


def read_file(path: Path) -> bytes:
    """Return a file's bytes, at most the limit plus one, so that callers can detect an oversized file.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return file.read(hcl.MAX_CONFIGURATION_BYTES + 1)


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111


def _xdg(environ: Mapping[str, str], name: str) -> Path | None:
    folder = environ.get(name, "")
    return Path(folder) / "opentofu" if folder else None


def _main_file(dialect: Dialect, environ: Mapping[str, str]) -> Path:
    is_tofu = dialect.name == "opentofu"
    if sys.platform == "win32":
        folder = Path(environ.get("APPDATA", ""))
        tofu = folder / "tofu.rc"
        return tofu if is_tofu and tofu.exists() else folder / "terraform.rc"
    older = _home(environ) / ".terraformrc"
    if not is_tofu:
        return older
    newer, fallback = _home(environ) / ".tofurc", _xdg(environ, "XDG_CONFIG_HOME")
    if newer.exists():
        return newer
    if older.exists() or fallback is None:
        return older
    return fallback / "tofurc"


def config_folder(dialect: Dialect, environ: Mapping[str, str]) -> Path:
    """Return the tool's configuration folder, whether or not it is there."""
    if sys.platform == "win32":
        return Path(environ.get("APPDATA", "")) / "terraform.d"
    folder = _home(environ) / ".terraform.d"
    other = _xdg(environ, "XDG_CONFIG_HOME") if dialect.name == "opentofu" else None
    return other if other is not None and not folder.exists() else folder


def _folder_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIXES) and not path.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def find_helper(name: str, dialect: Dialect, environ: Mapping[str, str]) -> Path | None:
    """Return the program of a credentials helper, by its block's label, or None: the tools then go on without."""
    folders = [config_folder(dialect, environ)]
    if dialect.name == "opentofu":
        folders[0] = _home(environ) / ".terraform.d" if sys.platform != "win32" else folders[0]
        folders += [data for data in (_xdg(environ, "XDG_DATA_HOME"),) if data is not None]
    found: list[tuple[tuple[int, ...], Path]] = []
    # A relative HOME, or an empty APPDATA, would put the folder into the repository under review: it is skipped.
    for folder in filter(Path.is_absolute, folders):
        for plugins in (folder / "plugins", folder / "plugins" / this_platform()):
            found += _helpers(plugins, name)
    return max(found, key=lambda each: each[0])[1] if found else None


def implied_folders(dialect: Dialect, environ: Mapping[str, str], root: Path) -> tuple[Path, ...]:
    """Return the folders of the user and of a root that have providers, which the tool installs from before it asks."""
    home, data = _home(environ), environ.get("XDG_DATA_HOME", "")
    if sys.platform == "win32":
        user = [Path(environ.get("APPDATA", "")) / "HashiCorp/Terraform/plugins"]
    elif sys.platform == "darwin":
        user = [Path(top) / "Library/Application Support/io.terraform/plugins" for top in (home, "/")]
    else:
        own = data if data.startswith("/") else str(home / ".local/share")
        shared = (environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
        user = [Path(top) / "terraform/plugins" for top in (own, *shared) if top.startswith("/")]
    named = [config_folder(dialect, environ)]
    if dialect.name == "opentofu" and sys.platform != "win32":
        named = [home / ".terraform.d", *([Path(data) / "opentofu"] if data else [])]
    candidates = (root / "terraform.d/plugins", *(folder / "plugins" for folder in named), *user)
    return tuple(folder for folder in dict.fromkeys(candidates) if _has_providers(folder))


def _has_providers(folder: Path) -> bool:
    """True if there is a folder HOST/NAMESPACE/TYPE in a folder."""
    try:
        return any(path.is_dir() for path in folder.glob("*/*/*"))
    except OSError:
        return False


def _helpers(folder: Path, name: str) -> list[tuple[tuple[int, ...], Path]]:
    """The programs of a helper in one folder, with their versions."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return []
    matches = [(_HELPER.match(path.name.removesuffix(".exe")), path) for path in paths if path.is_file()]
    return [
        (tuple(map(int, (match["version"] or "0.0.0").split("."))), path)
        for match, path in matches
        if match is not None and match["name"] == name
    ]


def this_platform() -> str:
    """This machine's platform, such as `linux_amd64`."""
    machine = platform.machine().lower()
    return f"{_OS.get(sys.platform, sys.platform)}_{_ARCH.get(machine, machine)}"


class ObjectMember(Struct, frozen=True):
    """One member of an object.

    Attributes:
        keys: The name, then any labels.
        value: A constant, a list of values, or an object as a tuple of entries; None for what JSON calls null.
        line: Line of the name.
        is_assigned: True if an equals sign, or JSON's colon, comes before the value.
    """

    keys: tuple[str, ...]
    value: Value
    line: int
    is_assigned: bool = False


Members = tuple[ObjectMember, ...]
Value = str | float | bool | list["Value"] | Members | None


class FormatError(ValueError):
    """A text is not a CLI configuration, or a setting in it cannot be used; `line` is its line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def parse_cli_configuration(data: bytes) -> Members:
    """Read a file.

    Raises:
        FormatError: It is malformed; the message never quotes the file, which may hold secrets.
    """
    if len(data) > hcl.MAX_CONFIGURATION_BYTES:
        raise FormatError(f"the file has more than {hcl.MAX_CONFIGURATION_BYTES // 1024**2} MiB", 1)
    if data.lstrip().startswith(b"{"):
        return _parse_json(data)
    return _OlderHclParser(data.decode("utf-8", "replace")).parse()


class _Token(Struct, frozen=True):
    kind: str
    text: str
    line: int


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormatError("this is neither an argument nor a block", line)
        kind = next(name for name in ("skip", "heredoc", "string", "number", "word", "punctuation") if match[name])
        if kind != "skip":
            tokens.append(_Token(kind, match["text"] if kind == "heredoc" else match[0], line))
        line += match[0].count("\n")
        position = match.end()
    tokens.append(_Token("end", "", line))
    return tokens


class _OlderHclParser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def parse(self) -> Members:
        return self._object("", 0)

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _object(self, closing: str, depth: int) -> Members:
        """Read entries up to a closing brace, or to the end of the file."""
        if depth > _MAX_DEPTH:
            raise FormatError("blocks are nested too deeply", self._tokens[self._at].line)
        entries: list[ObjectMember] = []
        while True:
            token = self._next()
            if token.kind == "end" or token.text == "}":
                if token.text != closing:
                    words = "a closing brace is missing" if closing else "a closing brace has no match"
                    raise FormatError(words, token.line)
                return tuple(entries)
            if token.text == "," and entries:
                continue
            keys, line = [], token.line
            while token.kind in {"word", "string"}:
                keys.append(_unquoted(token))
                token = self._next()
            if not keys or token.text not in {"=", "{"} or (token.text == "=" and len(keys) > 1):
                raise FormatError("this is neither an argument nor a block", line)
            is_assigned = token.text == "="
            value = self._value(self._next(), depth + 1) if is_assigned else self._object("}", depth + 1)
            entries.append(ObjectMember(tuple(keys), value, line, is_assigned))

    def _value(self, token: _Token, depth: int) -> Value:
        if token.kind in {"string", "heredoc"}:
            return _unquoted(token)
        if token.kind == "number":
            return int(token.text, 16) if "0x" in token.text else float(token.text)
        if token.text in {"true", "false"}:
            return token.text == "true"
        if token.text == "{":
            return self._object("}", depth)
        if token.text != "[" or depth > _MAX_DEPTH:
            raise FormatError("a value is missing", token.line)
        items: list[Value] = []
        while (token := self._next()).text != "]":
            if token.text != ",":
                items.append(self._value(token, depth + 1))
        return items


def _unquoted(token: _Token) -> str:
    if token.kind != "string":
        return token.text
    return _ESCAPE.sub(lambda match: _unescaped(match, token.line), token.text[1:-1])


def _unescaped(match: re.Match[str], line: int) -> str:
    text = match["code"]
    if match["kept"]:
        return match["kept"]
    if text is None:
        raise FormatError("a string holds an unknown escape", line)
    if text in _SIMPLE:
        return _SIMPLE[text]
    code = int(text, 8) if text[0].isdigit() else int(text[1:], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise FormatError("a string holds an unknown escape", line)
    return chr(code)


def _parse_json(data: bytes) -> Members:
    parsed = hcl.parse_json(data)
    if parsed.body is None:
        problem = parsed.problems[0] if parsed.problems else None
        raise FormatError("the file is malformed JSON", problem.line if problem else 1)
    return tuple(
        ObjectMember((name,), _constant(attribute.value), attribute.place.line, is_assigned=True)
        for name, attribute in parsed.body.attributes.items()
    )


def _constant(value: hcl.Expression) -> Value:
    if isinstance(value, hcl.Literal):
        return value.value
    if isinstance(value, hcl.ListExpr):
        return [_constant(item) for item in value.items]
    if isinstance(value, hcl.ObjectExpr):
        return tuple(
            ObjectMember((str(key.value),), _constant(member), key.place.line, is_assigned=True)
            for key, member in value.items
            if isinstance(key, hcl.Literal)
        )
    return None  # A template: no setting read here allows one.


def block_bodies(value: Value) -> list[Members]:
    """Return the bodies of a block: JSON may write one as an object or as a list of objects."""
    if isinstance(value, tuple):
        return [value]
    return [item for item in value if isinstance(item, tuple)] if isinstance(value, list) else []


def last_argument(entries: Members, name: str) -> ObjectMember | None:
    """Return the argument of a name, or None; of several the last counts."""
    return next((entry for entry in reversed(entries) if entry.keys == (name,)), None)
