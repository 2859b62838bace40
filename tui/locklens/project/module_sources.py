"""Sources and versions of module calls: their normal form, who admits what, and the tools' manifest of them.

Nothing is fetched here: normal forms only serve to compare what was fetched with what is called. The tools compare
versions of modules otherwise than versions of providers, as hashicorp/go-version does: any number of numbers, an
optional `v`, and a pre-release is admitted only where a term names one of the same release.
"""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from locklens.addresses import display_host, normalise_host

if TYPE_CHECKING:
    from locklens.dialect import Dialect

_LOCAL = ("./", "../", ".\\", "..\\")
_REGISTRY_NAME = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z_-]{0,62}[0-9A-Za-z])?\Z")
_REGISTRY_SYSTEM = re.compile(r"[0-9a-z]{1,64}\Z")
_NO_REGISTRIES = frozenset(["github.com", "bitbucket.org", "gitlab.com"])
_SCP = re.compile(r"(?:(?P<user>[^@/]+)@)?(?P<host>[^:/@]+):(?P<path>.*)\Z")
_FORCED = re.compile(r"([A-Za-z0-9]+)::(.+)\Z")

_EXACT_VERSION = re.compile(r"\s*=?\s*v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?\s*\Z")
_EXACT_QUERY = re.compile(
    r"[?&](?:ref=(?:[0-9a-f]{40}|[0-9a-f]{64}|v?[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)|checksum=[^&]+)(?:&|\Z)"
)
_LOCAL_SOURCE = re.compile(rb'\bsource["\s)]*+[=:]\s*+(?:<<-?\w++\s*+)?"?(\.\.?/[^"\s]*+)')
_ESCAPED = re.compile(rb"\\")
_MODULE = re.compile(rb"\bmodule\b(?!\.)")
_OTHER_SOURCE = re.compile(rb'\bsource\b(?!"?[ \t]*+[=:][ \t]*+"[^"\\\\$%\n]*+"[ \t]*+(?:[\r\n}},#]|//|\Z))')
"""The word where no plain string follows: variables, templates, escapes, parentheses and comments may be there."""

_MANIFEST_FAILURE = "failed to read module manifest"
_MAX_TEXT = 1000
_VERSION = re.compile(
    r"v?(?P<numbers>[0-9]+(?:\.[0-9]+)*)"
    r"(?:-(?P<dashed>[0-9]+[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*)|-?(?P<plain>[A-Za-z~-][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*))?"
    r"(?:\+(?P<metadata>[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*))?\Z"
)
_TERM = re.compile(r"[ \t\n\f\r]*(<=|>=|!=|~>|<|>|=|)[ \t\n\f\r]*(.*?)[ \t\n\f\r]*\Z", re.DOTALL)


class ModuleSourceError(ValueError):
    """A text is not a module source; `summary` and `detail` are the real tools' words."""

    def __init__(self, summary: str, detail: str) -> None:
        super().__init__(f"{summary}: {detail}")
        self.summary = summary
        self.detail = detail


class ModuleSource(Struct, frozen=True):
    """A source, in the normal form that the manifest has."""

    kind: Literal["local", "registry", "remote"]
    text: str


def is_local_source(text: str) -> bool:
    """True if a source is a path, which begins with a dot."""
    return text.startswith(_LOCAL)


def parse_module_source(text: str, dialect: Dialect, *, has_version: bool) -> ModuleSource:
    """Read a module call's source; only those of registries may have a version.

    Raises:
        ModuleSourceError: It is not a module source.
    """
    is_local = is_local_source(text)
    registry = None if is_local else _registry_form(text, dialect)
    if has_version and registry is None:
        what = f'can\'t use local directory "{text}" as' if is_local else f'"{text}" is not'
        detail = f"Failed to parse module registry address: {what} a module registry address."
        raise ModuleSourceError("Invalid registry module source address", detail)
    if is_local:
        return ModuleSource("local", _local_form(text))
    if registry is not None:
        return ModuleSource("registry", registry)
    return ModuleSource("remote", _remote_form(text, dialect))


def package_of(text: str, dialect: Dialect) -> str:
    """Return the address of what is fetched for a module, in normal form and without a folder in it; "" for none."""
    try:
        return _split_folder(parse_module_source(text, dialect, has_version=False).text)[0]
    except ModuleSourceError:
        return ""


def is_exact_call(source: ModuleSource, version: str | None) -> bool:
    """True if a call of a module outside of the repository names one state of it.

    That is an exact version of a registry's module, and of any other a full commit, a tag of a full version, or the
    checksum of an archive.
    """
    if source.kind == "registry":
        return version is not None and _EXACT_VERSION.match(version) is not None
    return _EXACT_QUERY.search(source.text) is not None


def normal_source(text: str, dialect: Dialect) -> str:
    """Return a manifest's source in normal form; any other text is returned unchanged."""
    try:
        return parse_module_source(text, dialect, has_version=False).text
    except ModuleSourceError:
        return text


def _local_form(text: str) -> str:
    clean = posixpath.normpath(text.replace("\\", "/"))
    return clean if clean.startswith("../") or clean == ".." else f"./{'' if clean == '.' else clean}"


def _registry_form(text: str, dialect: Dialect) -> str | None:
    """`[HOST/]NAMESPACE/NAME/SYSTEM[//SUBFOLDER]` with its host; None for anything else."""
    package, _, folder = text.partition("//")
    parts = package.split("/")
    host = dialect.default_host
    if len(parts) == 4:
        if "." not in parts[0] and ":" not in parts[0] and parts[0] != "localhost":
            return None
        try:
            host = normalise_host(parts[0])
        except ValueError:
            return None
        if host in _NO_REGISTRIES:
            return None
        parts = parts[1:]
    if len(parts) != 3 or not (_REGISTRY_NAME.match(parts[0]) and _REGISTRY_NAME.match(parts[1])):
        return None
    if not _REGISTRY_SYSTEM.match(parts[2]) or parts[0] in _NO_REGISTRIES:
        return None
    clean = posixpath.normpath(folder) if folder else ""
    if clean.startswith(("../", "/")) or clean == "..":
        return None
    address = f"{display_host(host)}/{'/'.join(parts)}"
    return f"{address}//{clean}" if clean not in ("", ".") else address


def _remote_form(text: str, dialect: Dialect) -> str:
    """The forms that the downloader guesses become explicit; a subfolder stays behind its package, before the query."""
    package, folder = _split_folder(text)
    forced = _FORCED.match(package)
    address = _detected(forced[2] if forced else package)
    if address is None:
        detail = (
            f"{dialect.product} failed to determine your intended installation method for remote module package "
            f'"{text}".\n\n'
            f'If you intended this as a path relative to the current module, use "./{text}" instead.'
        )
        raise ModuleSourceError("Invalid module source address", detail)
    getter, url = address
    getter = forced[1] if forced else getter
    inner, inner_folder = _split_folder(url)
    if inner_folder:
        url = inner
        folder = posixpath.join(inner_folder, folder) if folder else inner_folder
    normal = f"{getter}::{url}" if getter else url
    if not folder:
        return normal
    base, question, query = normal.partition("?")
    return f"{base}//{folder}{question}{query}"


def _split_folder(text: str) -> tuple[str, str]:
    """Cut the subfolder, behind the first `//` that is not the scheme's, out of an address."""
    query_at = text.find("?") if "?" in text else len(text)
    scheme_at = text.find("://", 0, query_at)
    start = scheme_at + 3 if scheme_at >= 0 else 0
    at = text.find("//", start, query_at)
    if at < 0:
        return text, ""
    return text[:at] + text[query_at:], text[at + 2 : query_at]


def _detected(text: str) -> tuple[str, str] | None:
    """Return the getter ("" for the plain one) and the URL; None if neither can be said."""
    if "://" in text:
        return "", text
    for host in ("github.com", "gitlab.com", "bitbucket.org"):
        if text.startswith(host + "/"):
            return _hosted(text, host)
    match = _SCP.match(text)
    if match is not None and match["user"]:
        path, question, query = match["path"].partition("?")
        return "git", f"ssh://{match['user']}@{match['host']}/{path.removeprefix('/')}{question}{query}"
    if ".amazonaws.com/" in text:
        return "s3", f"https://{text}"
    if text.startswith("www.googleapis.com/"):
        return "gcs", f"https://{text}"
    return ("", f"file://{text}") if text.startswith("/") else None


def _hosted(text: str, host: str) -> tuple[str, str] | None:
    path, question, query = text.partition("?")
    parts = path.split("/")
    if len(parts) < 3:
        return None
    repository = "/".join(parts[1:3])
    folder = "//" + "/".join(parts[3:]) if len(parts) > 3 else ""
    suffix = "" if repository.endswith(".git") else ".git"
    return "git", f"https://{host}/{repository}{suffix}{folder}{question}{query}"


def has_computed_source(data: bytes, *, is_json: bool) -> bool:
    """True if a file may call a module whose source `local_sources` does not find: it is not a plain string there."""
    if is_json and _ESCAPED.search(data):
        return True
    return _MODULE.search(data) is not None and _OTHER_SOURCE.search(data) is not None


def local_sources(data: bytes) -> frozenset[str]:
    """Return every local module source that a configuration file may name, by a look at its bytes alone.

    Too many rather than too few: comments and other things' `source` count. Sources that are written with escapes or
    templates are given up to there.
    """
    return frozenset(
        _ESCAPED.split(found)[0].decode("utf-8", "surrogateescape") for found in _LOCAL_SOURCE.findall(data)
    )


class ModuleVersion(Struct, frozen=True):
    """A version; compared by its `precedence`.

    Attributes:
        numbers: At least three; missing ones are 0.
        given: The number that was written.
    """

    numbers: tuple[int, ...]
    given: int
    prerelease: str

    @classmethod
    def parse(cls, text: str) -> ModuleVersion:
        """Read a version.

        Raises:
            ValueError: It is none.
        """
        match = _VERSION.match(text) if len(text) <= _MAX_TEXT else None
        if match is None:
            raise ValueError(f"malformed version: {text}")
        numbers = [int(part) for part in match["numbers"].split(".")]
        given = len(numbers)
        numbers += [0] * (3 - given)
        return cls(tuple(numbers), given, match["dashed"] or match["plain"] or "")

    @property
    def precedence(self) -> tuple[tuple[int, ...], bool, tuple[tuple[int, int, str], ...]]:
        """Numbers without trailing zeros, then releases above pre-releases, then their parts: numbers below words."""
        numbers = self.numbers
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers = numbers[:-1]
        parts = self.prerelease.split(".") if self.prerelease else []
        return numbers, not parts, tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


def admits(constraint: str, version: str) -> bool:
    """True if a module call's version constraint admits a version; False where one of them cannot be read."""
    try:
        found = ModuleVersion.parse(version)
        return all(_holds(operator, bound, found) for operator, bound in _terms(constraint))
    except ValueError:
        return False


def is_constraint(text: str) -> bool:
    """True if a text is a module version constraint."""
    try:
        return bool(_terms(text))
    except ValueError:
        return False


def _terms(constraint: str) -> list[tuple[str, ModuleVersion]]:
    terms = []
    for piece in constraint[: _MAX_TEXT * 10].split(","):
        match = _TERM.match(piece)
        if match is None:
            raise ValueError(f"malformed constraint: {piece}")
        terms.append((match[1] or "=", ModuleVersion.parse(match[2])))
    return terms


def _holds(operator: str, bound: ModuleVersion, version: ModuleVersion) -> bool:
    rank, limit = version.precedence, bound.precedence
    if operator == "=":
        return rank == limit
    if operator == "!=":
        return rank != limit
    if operator == "~>":
        return _is_pessimistic(bound, version)
    if version.prerelease and (not bound.prerelease or version.numbers != bound.numbers):
        return False
    return {">": rank > limit, ">=": rank >= limit, "<": rank < limit, "<=": rank <= limit}[operator]


def _is_pessimistic(bound: ModuleVersion, version: ModuleVersion) -> bool:
    """`~>`: not below, and equal in all numbers that were given but the last, so that `~> 1` has no upper bound."""
    if bool(version.prerelease) != bool(bound.prerelease) or (version.prerelease and version.numbers != bound.numbers):
        return False
    fixed = bound.given - 1
    return (
        version.precedence >= bound.precedence
        and len(bound.numbers) <= len(version.numbers)
        and version.numbers[:fixed] == bound.numbers[:fixed]
    )


class ManifestError(ValueError):
    """The list cannot be used; str() says why."""


class ModuleRecord(Struct, frozen=True):
    """A fetched module.

    Attributes:
        source: In normal form.
        version: "" where the module has none.
        folder: Relative to the root module, as written.
    """

    source: str
    version: str
    folder: str


def read_manifest(data: bytes, dialect: Dialect) -> dict[str, ModuleRecord]:
    """Return the records by their key, which is the path of the call, `a.b`.

    Raises:
        ManifestError: It is no such list.
    """
    if not data:
        return {}
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{_MANIFEST_FAILURE}: it is not JSON") from error
    items = document.get("Modules") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(items, list | None):
        raise ManifestError(f"{_MANIFEST_FAILURE}: it is not a list of modules")
    records: dict[str, ModuleRecord] = {}
    for item in items or ():
        values = [
            item.get(name, "") if isinstance(item, dict) else None for name in ("Key", "Source", "Version", "Dir")
        ]
        key, source, version, folder = (value if isinstance(value, str) else None for value in values)
        if key is None or source is None or version is None or folder is None:
            raise ManifestError(f"{_MANIFEST_FAILURE}: it has an invalid record")
        if key in records:
            raise ManifestError(f'{_MANIFEST_FAILURE}: it has two records for "{key}"')
        records[key] = ModuleRecord(normal_source(source, dialect) if key else source, version, folder)
    return records
