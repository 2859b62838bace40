"""The providers that the state still needs: they remain required although the configuration no longer names them.

Only a local state is read: what a backend elsewhere has is unknown here. JSON is read as the tools read it into their
structures, by Go's encoding/json, leniently where Python's reader is strict: invalid bytes become U+FFFD, numbers have
any length, and names of fields match in any case. Where a name stands twice, Go puts both values together element by
element; nothing writes such a file, and it is an error here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Never

from msgspec import Struct
from msgspec.structs import replace

from locklens import hcl
from locklens.dialect import AddressError, Dialect
from locklens.errors import ConfigurationError
from locklens.project.configuration import Contributor, Requirement, StateReading
from locklens.project.tree import EntryKind, folder_of, name_of
from locklens.versions import Constraints

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.project.configuration import Backend
    from locklens.project.modules import Placed
    from locklens.project.tree import Tree

_STEP = r"(?:[^\W\d][\w-]*)"
_PROVIDER = re.compile(
    rf'(?:module\.{_STEP}\.)*provider\[(?P<source>"(?:[^"\\\n]|\\.)*")\](?P<alias>\.{_STEP})?(?P<key>\["[^"\\]*"\])?\Z'
)
_LEGACY = re.compile(rf"(?:module\.{_STEP}\.)*provider\.{_STEP}(?:\.{_STEP})?\Z")
_LINE = re.compile(rb'"provider"\s*:\s*"((?:[^"\\\n]|\\.)*)"')
_PLAIN = re.compile(r"[\w.\[\]-]*")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_LATEST = 4
_STATE = frozenset(["version", "resources", "modules"])
_RESOURCE = frozenset(["module", "mode", "type", "name", "provider", "instances"])
_INSTANCE = frozenset(["provider"])
_POINTER = frozenset(["backend", "type"])
_NO_TRANSLATION = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION"

_MOST_WORKSPACES = 64
"""The most workspaces of one root whose states are read beside the selected one."""

_EXACT_DIGITS = 18
"""A number with more digits is read as a float: no field here has as many, and Python refuses thousands of them."""


class RootFiles(Struct, frozen=True):
    """A root module, and what one tool reads it by.

    Attributes:
        tree: The side under review, whose state counts where it has one.
        worktree: The files that git ignores: fetched modules and a local state; None if there are none.
        environ: TF_DATA_DIR, TF_WORKSPACE and OpenTofu's switch for addresses in the state are looked at.
    """

    tree: Tree
    worktree: Tree | None
    root: str
    dialect: Dialect
    environ: Mapping[str, str]


class TerraformState(Struct, frozen=True):
    """The state of a root module.

    Attributes:
        requirements: One for each provider, in the file's order, with the first resource that needs it, and how many
            more there are. Its line is that of the resource's provider; 1 if it was not found.
        workspace: The name of its workspace, of one beside the selected one; else "".
    """

    reading: StateReading
    requirements: tuple[Requirement, ...] = ()
    workspace: str = ""


class _StateError(ValueError):
    """The real tool would stop at this state, or it is unknown what it reads of it; str() is the phrase.

    Attributes:
        path: The file that would be the state otherwise, "" for an unknown one.
        outside: Its path as it is named, where that leads out of the tree.
    """

    def __init__(self, phrase: str, path: str = "", outside: str = "") -> None:
        super().__init__(phrase)
        self.path = path
        self.outside = outside


def read_states(
    files: RootFiles, placed: Placed[Backend] | None, changed: Iterable[str], required: frozenset[ProviderAddress]
) -> list[TerraformState]:
    """Read the state that `init` would ask for the root's providers, then those of other workspaces that changed.

    `changed` may be states of whichever root. OpenTofu leaves untranslated what the configuration itself requires.
    """
    backend = placed.item if placed is not None else None
    if placed is not None and placed.item.type != "local":
        block = placed.item
        where = f'the "{block.type}" backend' if block.kind == "backend" else "HCP Terraform or a similar service"
        words = f"the state is in {where} ({placed.file}:{block.line})"
        selected = TerraformState(StateReading("remote", words))
    else:
        selected = _selected_state(files, backend, required)
    if placed is not None and placed.item.is_computed and not selected.reading.file:
        reading = replace(selected.reading, backend=(placed.file, placed.item.line))
        selected = replace(selected, reading=reading)
    others = (path for path in changed if path != selected.reading.file)
    return [selected, *_other_states(files, backend, others, required)]


def read_workspaces(
    files: RootFiles, placed: Placed[Backend] | None, selected: StateReading, required: frozenset[ProviderAddress]
) -> list[TerraformState]:
    """Read the local states of the workspaces beside the selected one, as far as the backend tells where they are."""
    backend = placed.item if placed is not None else None
    default, folder = _places(files, backend)
    if folder is None:
        return []
    try:
        names = [one.name for one in files.tree.list(folder) if one.kind is not EntryKind.FILE]
    except ConfigurationError as error:
        return [TerraformState(StateReading("unreadable", str(error), folder))]
    named = (f"{folder}/{name}/terraform.tfstate" for name in names[:_MOST_WORKSPACES])
    paths = [path for path in (default, *named) if path and path != selected.file]
    found = list(_other_states(files, backend, paths, required))
    if len(names) > _MOST_WORKSPACES:
        words = f"only the first {_MOST_WORKSPACES} workspaces are looked at"
        found.append(TerraformState(StateReading("unreadable", words, folder)))
    return found


def _selected_state(files: RootFiles, backend: Backend | None, required: frozenset[ProviderAddress]) -> TerraformState:
    tree = files.tree
    disk = tree if files.worktree is None else files.worktree
    path = ""
    try:
        path = _state_path(disk, files, backend)
        data = tree.read(path)
        if data is None and disk is not tree:
            data = disk.read(path)
        if not data:
            return TerraformState(StateReading("none", "", path if data is not None else ""))
        return TerraformState(StateReading("local", "", path), _requirements(data, path, files, required))
    except _StateError as error:
        return TerraformState(StateReading("unreadable", str(error), path or error.path, error.outside))
    except ConfigurationError as error:
        return TerraformState(StateReading("unreadable", f"the state cannot be read: {error}", path))


def _other_states(
    files: RootFiles, backend: Backend | None, paths: Iterable[str], required: frozenset[ProviderAddress]
) -> Iterator[TerraformState]:
    """Yield the states among some files that are those of the root in any of its workspaces."""
    default, folder = _places(files, backend)
    for path in paths:
        above, _, name = path.rpartition("/")
        if path == default or (name == "terraform.tfstate" and folder_of(above) == folder):
            try:
                data = files.tree.read(path)
                needed = _requirements(data, path, files, required) if data else ()
                workspace = "default" if path == default else name_of(above)
                yield TerraformState(StateReading("local", "", path), needed, workspace)
            except (_StateError, ConfigurationError) as error:
                yield TerraformState(StateReading("unreadable", str(error), path))


def _places(files: RootFiles, backend: Backend | None) -> tuple[str | None, str | None]:
    """Return the state of the default workspace, and the folder of the others; None for what is not in the tree."""
    if backend is not None and (backend.type != "local" or backend.is_computed):
        return None, None
    default, folder = _named_places(backend)
    return files.tree.join(files.root, default), files.tree.join(files.root, folder)


def _named_places(backend: Backend | None) -> tuple[str, str]:
    """Return the same as a local backend names them, from the root's folder."""
    default, folder = (backend.path, backend.workspace_folder) if backend is not None else (None, None)
    return default or "terraform.tfstate", folder or "terraform.tfstate.d"


def data_folder(worktree: Tree, root: str, environ: Mapping[str, str]) -> str | None:
    """Return the folder in which the tools keep what they fetched; None if it is outside of the tree."""
    return worktree.join(root, environ.get("TF_DATA_DIR") or ".terraform")


def _state_path(worktree: Tree, files: RootFiles, backend: Backend | None) -> str:
    root, environ = files.root, files.environ
    data = data_folder(worktree, root, environ)
    default = worktree.join(root, "terraform.tfstate") or ""
    if data is None:
        words = "TF_DATA_DIR is outside of the repository, so it is unknown which state is used"
        raise _StateError(words, default if backend is None else "")
    pointer = _pointed_backend(worktree.read(f"{data}/terraform.tfstate"))
    if pointer and backend is None:
        words = f'Backend configuration changed: the folder was initialised with the "{pointer}" backend'
        raise _StateError(words, default)
    workspace = (
        environ.get("TF_WORKSPACE") or (worktree.read(f"{data}/environment") or b"").decode("utf-8", "replace").strip()
    )
    if backend is not None and backend.is_computed:
        raise _StateError("the local backend's path is computed")
    default_state, folder = _named_places(backend)
    relative = default_state if workspace in ("", "default") else f"{folder}/{workspace}/terraform.tfstate"
    path = worktree.join(root, relative)
    if path is None:
        raise _StateError(f"the state {relative} is outside of the repository", outside=relative)
    return path


def _pointed_backend(data: bytes | None) -> str:
    """The backend that the folder was initialised with; "" without one, or for a plain local one."""
    if not data:
        return ""
    try:
        document = read_json(data)
        backend = document.fields(_POINTER).get("backend") if isinstance(document, JsonObject) else None
        kind = backend.fields(_POINTER).get("type") if isinstance(backend, JsonObject) else ""
    except ValueError as error:
        raise _StateError(f"Error loading state: the backend's pointer in the data folder: {error}") from error
    return kind if isinstance(kind, str) else ""


def _requirements(
    data: bytes, path: str, files: RootFiles, required: frozenset[ProviderAddress]
) -> tuple[Requirement, ...]:
    dialect = files.dialect
    try:
        document = read_json(data)
    except ValueError as error:
        raise _StateError(f"Error refreshing state: {error}") from error
    state = _fields(document, _STATE, "the state")
    version = state.get("version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise _StateError("Error refreshing state: the file has no version")
    if not 1 <= version <= _LATEST:
        raise _StateError(f"Error refreshing state: the format version {version} is not supported")
    if version < _LATEST:
        _refuse_old_state(state)
        return ()
    lines = _lines(data)
    first: dict[ProviderAddress, tuple[str, int]] = {}
    counts: Counter[ProviderAddress] = Counter()
    translates = dialect.name == "opentofu" and files.environ.get(_NO_TRANSLATION) != "0"
    for resource in _items(state, "resources", _RESOURCE):
        mode = resource.get("mode")
        if mode not in ("managed", "data"):
            raise _StateError(f"Error refreshing state: a resource has the mode {mode!r}")
        subject = _subject(resource)
        for text in _addresses(resource, dialect):
            address = _address(text, dialect, is_instance=text != resource.get("provider"))
            if address is None:
                continue
            if translates and address.host == "registry.terraform.io" and address not in required:
                address = type(address)(dialect.default_host, address.namespace, address.type)
            first.setdefault(address, (subject, lines.get(text, 1)))
            counts[address] += 1
    found = []
    for address, (name, line) in first.items():
        subject = f"{name} and {counts[address] - 1} more" if counts[address] > 1 else name
        found.append(Requirement(address, "", Constraints(), path, line, "", Contributor.STATE, subject))
    return tuple(found)


def _refuse_old_state(state: Mapping[str, object]) -> None:
    """Refuse resources of states before version 4, which name providers as they were before 0.13, as the tools do."""
    for module in _items(state, "modules", _STATE):
        if module.get("resources"):
            raise _StateError("Invalid legacy provider address: the state needs Terraform's 0.13 upgrade process")


def _subject(resource: Mapping[str, object]) -> str:
    """The resource's address, of the parts that are texts."""
    kind = "data" if resource.get("mode") == "data" else ""
    parts = (resource.get("module"), kind, resource.get("type"), resource.get("name"))
    return ".".join(part for part in parts if isinstance(part, str) and part)


def _fields(value: object, names: frozenset[str], what: str) -> dict[str, object]:
    if not isinstance(value, JsonObject):
        raise _StateError(f"Error refreshing state: {what} is not an object")
    try:
        return value.fields(names)
    except ValueError as error:
        raise _StateError(f"Error refreshing state: in {what} {error}") from error


def _items(fields: Mapping[str, object], name: str, names: frozenset[str]) -> list[dict[str, object]]:
    found = fields.get(name, [])
    if not isinstance(found, list):
        raise _StateError(f"Error refreshing state: {name} is not a list")
    return [_fields(item, names, f"an item of {name}") for item in found]


def _addresses(resource: Mapping[str, object], dialect: Dialect) -> list[str]:
    """The provider addresses of a resource. OpenTofu lets instances name one, which then counts instead."""
    own_text = _provider(resource)
    if dialect.name != "opentofu":
        return [own_text] if own_text else []
    of_instances = [_provider(instance) for instance in _items(resource, "instances", _INSTANCE)]
    named = [text for text in of_instances if text]
    if not named:
        if not own_text:
            raise _StateError("Provider field missing state")
        return [own_text]
    if len(named) < len(of_instances) and not own_text:
        raise _StateError("Provider field missing state")
    if len({text.partition('"]')[0] for text in named}) > 1:
        raise _StateError("Provider instance field conflict in state")
    return named[:1]


def _provider(fields: Mapping[str, object]) -> str:
    text = fields.get("provider", "")
    if not isinstance(text, str):
        raise _StateError("Error refreshing state: a provider is not a string")
    return text


def _address(text: str, dialect: Dialect, *, is_instance: bool) -> ProviderAddress | None:
    """Read `[module.NAME.]provider["SOURCE"][.alias]`; None for what Terraform drops without a word.

    The tools take spaces, line ends and comments between the parts too, which neither of them writes.

    Raises:
        _StateError: The tool stops here, or it is unknown if it does.
    """
    if _LEGACY.match(text) and not is_instance:
        raise _StateError(f"Invalid legacy provider address: {text} needs Terraform's 0.13 upgrade process")
    match = _PROVIDER.match(text)
    source = hcl.parse_expression(match["source"]) if match is not None else None
    address = None
    if match is not None and isinstance(source, hcl.Literal) and isinstance(source.value, str):
        try:
            address = dialect.parse_source(source.value)
        except AddressError:
            address = None
        if match["key"] and not (is_instance and match["alias"] and dialect.name == "opentofu"):
            address = None
    is_spelled_otherwise = match is None and not _PLAIN.fullmatch(_QUOTED.sub("", text))
    if address is None and (dialect.name == "opentofu" or is_spelled_otherwise):
        raise _StateError(f"Error refreshing state: invalid provider address {text!r}")
    if address is not None and dialect.is_legacy(address):
        raise _StateError(f"Invalid legacy provider address: {text} needs Terraform's 0.13 upgrade process")
    return address


def _lines(data: bytes) -> dict[str, int]:
    """The line on which each provider is first named, for texts without escapes other than quotes."""
    lines: dict[str, int] = {}
    line, position = 1, 0
    for match in _LINE.finditer(data):
        line += data.count(b"\n", position, match.start())
        position = match.start()
        try:
            text = json.loads(b'"' + match[1] + b'"')
        except ValueError:
            continue
        lines.setdefault(text, line)
    return lines


class JsonObject(tuple[tuple[str, object], ...]):
    """The members of an object in the file's order."""

    __slots__ = ()

    def fields(self, names: Container[str]) -> dict[str, object]:
        """Return the members that Go takes for fields of some names, which are lower case; null ones are left out.

        Raises:
            ValueError: Two members stand for one field.
        """
        known = [(name, value) for key, value in self if (name := _folded(key)) in names]
        twice = [name for name, count in Counter(name for name, _ in known).items() if count > 1]
        if twice:
            raise ValueError(f'"{twice[0]}" stands there twice')
        return {name: value for name, value in known if value is not None}


def read_json(data: bytes) -> object:
    """Return the value of a document: a JsonObject, list, str, int, float, bool or None.

    Raises:
        ValueError: It is not JSON, or is nested deeper than is read here; the tools read up to 10,000 levels.
    """
    try:
        # A document is UTF-8 for Go, and a mark of the byte order is an error.
        return json.loads(
            data.decode("utf-8", "replace"),
            object_pairs_hook=JsonObject,
            parse_int=_number,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _number(text: str) -> int | float:
    return int(text) if len(text) <= _EXACT_DIGITS else float(text)


def _no_constant(name: str) -> Never:
    raise ValueError(f"no JSON: {name}")


def _folded(key: str) -> str:
    """Return a key as it compares with a field's name; the letters U+017F and U+212A are s and k for Go as well."""
    return key.replace("\u017f", "s").lower()
