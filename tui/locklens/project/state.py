"""The providers that the state still needs: they remain required although the configuration no longer names them.

Only a local state is read. A backend elsewhere is a thing that cannot be told from here.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from locklens import hcl
from locklens.dialect import AddressError
from locklens.errors import ConfigurationError
from locklens.project.configuration import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.project.declared import Backend
    from locklens.project.tree import Tree

_STEP = r"(?:[^\W\d][\w-]*)"
_PROVIDER = re.compile(
    rf'(?:module\.{_STEP}\.)*provider\[(?P<source>"(?:[^"\\\n]|\\.)*")\](?P<alias>\.{_STEP})?(?P<key>\["[^"\\]*"\])?\Z'
)
_LEGACY = re.compile(rf"(?:module\.{_STEP}\.)*provider\.{_STEP}(?:\.{_STEP})?\Z")
_LINE = re.compile(rb'"provider"\s*:\s*"((?:[^"\\\n]|\\.)*)"')
_LATEST = 4
_NO_TRANSLATION = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION"


class StateUse(Struct, frozen=True):
    """A provider in the state.

    Attributes:
        address: Whose.
        subject: The first resource that needs it, and how many more.
        line: Of that resource's provider, 1 where it was not found.
    """

    address: ProviderAddress
    subject: str
    line: int


class TerraformState(Struct, frozen=True):
    """The state of a root module.

    Attributes:
        reading: What became of it.
        path: Of the file in the tree, "" where none was read.
        uses: One for each provider, in the file's order.
    """

    reading: StateReading
    path: str = ""
    uses: tuple[StateUse, ...] = ()


class _StateError(ValueError):
    """The real tool would stop at this state; str() is its phrase."""


def read_state(
    tree: Tree,
    worktree: Tree | None,
    root: str,
    backend: Backend | None,
    *,
    dialect: Dialect,
    environ: Mapping[str, str],
    required: frozenset[ProviderAddress],
) -> TerraformState:
    """Read the state that `init` would ask for the root's providers.

    Args:
        tree: The side under review, whose state counts where it has one.
        worktree: Where git-ignored files are; None where there is no such place.
        root: The root module's folder.
        backend: What the configuration says, None for nothing.
        dialect: The tool.
        environ: TF_WORKSPACE and TF_DATA_DIR are looked at.
        required: What the configuration itself requires, which OpenTofu leaves untranslated.
    """
    if backend is not None and backend.type != "local":
        where = f'the "{backend.type}" backend' if backend.kind == "backend" else "HCP Terraform or a similar service"
        return TerraformState(StateReading("remote", f"the state is in {where}"))
    disk = tree if worktree is None else worktree
    try:
        path = _state_path(disk, root, backend, environ)
        data = tree.read(path)
        if data is None and disk is not tree:
            data = disk.read(path)
        if not data:
            return TerraformState(StateReading("none", ""))
        return TerraformState(StateReading("local", ""), path, _uses(data, dialect, environ, required))
    except _StateError as error:
        return TerraformState(StateReading("unreadable", str(error)))
    except ConfigurationError as error:
        return TerraformState(StateReading("unreadable", f"the state cannot be read: {error}"))


def data_folder(worktree: Tree, root: str, environ: Mapping[str, str]) -> str | None:
    """Return the folder in which the tools keep what they fetched; None where it is outside of the tree."""
    return worktree.join(root, environ.get("TF_DATA_DIR") or ".terraform")


def _state_path(worktree: Tree, root: str, backend: Backend | None, environ: Mapping[str, str]) -> str:
    data = data_folder(worktree, root, environ)
    if data is None:
        raise _StateError("TF_DATA_DIR is outside of the repository, so it is unknown which state is used")
    pointer = _pointed_backend(worktree.read(f"{data}/terraform.tfstate"))
    if pointer and backend is None:
        raise _StateError(f'Backend configuration changed: the folder was initialised with the "{pointer}" backend')
    workspace = (
        environ.get("TF_WORKSPACE") or (worktree.read(f"{data}/environment") or b"").decode("utf-8", "replace").strip()
    )
    if backend is not None and backend.is_computed:
        raise _StateError("the local backend's path is computed")
    if workspace in ("", "default"):
        relative = (backend.path if backend else None) or "terraform.tfstate"
    else:
        folder = (backend.workspace_folder if backend else None) or "terraform.tfstate.d"
        relative = f"{folder}/{workspace}/terraform.tfstate"
    path = worktree.join(root, relative)
    if path is None:
        raise _StateError(f"the state {relative} is outside of the repository")
    return path


def _pointed_backend(data: bytes | None) -> str:
    """The backend that the folder was initialised with; "" for none or a plain local one."""
    if not data:
        return ""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _StateError("Error loading state: the backend's pointer in the data folder is not JSON") from error
    backend = document.get("backend") if isinstance(document, dict) else None
    kind = backend.get("type") if isinstance(backend, dict) else ""
    return kind if isinstance(kind, str) else ""


def _uses(
    data: bytes, dialect: Dialect, environ: Mapping[str, str], required: frozenset[ProviderAddress]
) -> tuple[StateUse, ...]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _StateError("Error refreshing state: the file is not JSON") from error
    version = document.get("version") if isinstance(document, dict) else None
    if not isinstance(document, dict) or isinstance(version, bool) or not isinstance(version, int):
        raise _StateError("Error refreshing state: the file has no version")
    if version > _LATEST or version < 1:
        raise _StateError(f"Error refreshing state: the format version {version} is not supported")
    if version < _LATEST:
        return _uses_of_old_state(document)
    lines = _lines(data)
    first: dict[ProviderAddress, tuple[str, int]] = {}
    counts: dict[ProviderAddress, int] = {}
    translates = dialect.name == "opentofu" and environ.get(_NO_TRANSLATION) != "0"
    for resource in _items(document, "resources"):
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
            counts[address] = counts.get(address, 0) + 1
    return tuple(
        StateUse(address, f"{name} and {counts[address] - 1} more" if counts[address] > 1 else name, line)
        for address, (name, line) in first.items()
    )


def _uses_of_old_state(document: Mapping[str, Any]) -> tuple[StateUse, ...]:
    """States before version 4 name providers as they were before 0.13, which the tools refuse."""
    for module in _items(document, "modules"):
        if module.get("resources"):
            raise _StateError("Invalid legacy provider address: the state needs Terraform's 0.13 upgrade process")
    return ()


def _subject(resource: Mapping[str, Any]) -> str:
    """The resource's address, of the parts that are texts."""
    kind = "data" if resource.get("mode") == "data" else ""
    parts = (resource.get("module"), kind, resource.get("type"), resource.get("name"))
    return ".".join(part for part in parts if isinstance(part, str) and part)


def _items(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    found = document.get(name) or ()
    if not isinstance(found, list | tuple) or not all(isinstance(item, dict) for item in found):
        raise _StateError(f"Error refreshing state: {name} is not a list of objects")
    yield from found


def _addresses(resource: Mapping[str, Any], dialect: Dialect) -> list[str]:
    """The provider addresses of a resource. OpenTofu lets instances name one, which then counts instead."""
    own = resource.get("provider")
    own_text = own if isinstance(own, str) else ""
    if dialect.name != "opentofu":
        return [own_text] if own_text else []
    of_instances = [instance.get("provider") or "" for instance in _items(resource, "instances")]
    named = [text for text in of_instances if isinstance(text, str) and text]
    if not named:
        if not own_text:
            raise _StateError("Provider field missing state")
        return [own_text]
    if len(named) < len(of_instances) and not own_text:
        raise _StateError("Provider field missing state")
    if len({text.partition('"]')[0] for text in named}) > 1:
        raise _StateError("Provider instance field conflict in state")
    return named[:1]


def _address(text: str, dialect: Dialect, *, is_instance: bool) -> ProviderAddress | None:
    """Read `[module.NAME.]provider["SOURCE"][.alias]`; None for what Terraform drops without a word.

    Raises:
        _StateError: The tool stops here.
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
    if address is None and dialect.name == "opentofu":
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
