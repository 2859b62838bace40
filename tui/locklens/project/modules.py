"""One module: the configuration files of its folder, read and put together, with override files applied.

An override replaces the block that it names, which usually must exist; the `_override_*` methods say what each kind of
block does.

Parsing is the expensive part, so a `ModuleReader` caches what it read by the file's digest: several roots that call the
same module, and both sides of a comparison, share it.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError
from locklens.project import configuration_files, is_json
from locklens.project.configuration import (
    Backend,
    ConfigurationProblem,
    FileContents,
    Hidden,
    Import,
    ModuleCall,
    ProviderConfiguration,
    RequiredEntry,
    Resource,
)
from locklens.project.contents import read_contents
from locklens.project.tree import EntryKind, FolderEntry, Tree, path_in

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.configuration import Placeable

_Item_co = TypeVar("_Item_co", covariant=True)  # so that a `Placed[Resource]` is a `Placed[Placeable]` too
_ONLY_OVERRIDES = "An override file can only override"


class ModuleReader:
    """Reads modules and caches every file's contents by its digest. Safe to share between threads."""

    def __init__(self) -> None:
        self._contents: dict[tuple[bytes, bool, str], FileContents] = {}
        self._lock = threading.Lock()

    def read(self, tree: Tree, folder: str, dialect: Dialect) -> Module:
        """Read a module's folder."""
        merger = Merger(dialect)
        try:
            found = configuration_files(tree.list(folder), dialect)
        except ConfigurationError as error:
            return merger.failed(folder, str(error))
        for entry in found.primary:
            merger.add_primary(self.read_file(tree, folder, entry, dialect))
        for entry in found.overrides:
            merger.add_override(self.read_file(tree, folder, entry, dialect))
        return merger.module(folder, has_files=bool(found))

    def read_file(self, tree: Tree, folder: str, entry: FolderEntry, dialect: Dialect) -> SourceFile:
        """Read one configuration file; if it cannot be read, its contents hold the problem instead."""
        path = path_in(folder, entry.name)
        data: bytes | None = None
        detail = f'The configuration file "{entry.name}" could not be read.'
        if entry.kind is not EntryKind.LINKED_FOLDER:
            try:
                data = tree.read(path)
            except ConfigurationError as error:
                detail = str(error)
        if data is None:
            problem = ConfigurationProblem.at("", None, "Failed to read file", detail)
            return SourceFile(path, FileContents(problems=(problem,)))
        key = (hashlib.sha256(data).digest(), is_json(entry.name), dialect.name)
        with self._lock:
            contents = self._contents.get(key)
        if contents is None:
            contents = read_contents(data, is_json=key[1], dialect=dialect)
            with self._lock:
                contents = self._contents.setdefault(key, contents)
        return SourceFile(path, contents)


class SourceFile(Struct, frozen=True):
    """A configuration file with its path in the tree."""

    path: str
    contents: FileContents


class Placed(Struct, Generic[_Item_co], frozen=True):
    """A declaration with its file, and the declaration that it overrides."""

    file: str
    item: _Item_co
    overridden: Hidden | None = None


class Module(Struct, frozen=True):
    """A module after merging, its lists in the order of the files.

    Attributes:
        has_files: True if there is any configuration file, of either kind.
        required: The required_providers entries by local name.
        resources: Resources, data sources (including those in check blocks), ephemeral resources and actions.
        backend: The backend that keeps the state; None if none is declared.
        value_files: Paths of the files that set its variables, if a value was computed from them.
    """

    folder: str
    has_files: bool
    files: tuple[str, ...]
    required: tuple[Placed[RequiredEntry], ...]
    providers: tuple[Placed[ProviderConfiguration], ...]
    resources: tuple[Placed[Resource], ...]
    imports: tuple[Placed[Import], ...]
    calls: tuple[Placed[ModuleCall], ...]
    backend: Placed[Backend] | None
    problems: tuple[ConfigurationProblem, ...]
    value_files: tuple[str, ...] = ()


class Merger:
    """Puts a module together, file by file: all primary files, then all override files."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._files: list[str] = []
        self._problems: list[ConfigurationProblem] = []
        self._has_required = False
        self._required: dict[str, Placed[RequiredEntry]] = {}
        self._providers: dict[tuple[str, str], Placed[ProviderConfiguration]] = {}
        self._resources: dict[tuple[str, str, str], Placed[Resource]] = {}
        self._imports: list[Placed[Import]] = []
        self._calls: dict[str, Placed[ModuleCall]] = {}
        self._backends: dict[str, Placed[Backend]] = {}

    def module(self, folder: str, *, has_files: bool) -> Module:
        """Return what was put together."""
        return Module(
            folder=folder,
            has_files=has_files,
            files=tuple(self._files),
            required=tuple(self._required.values()),
            providers=tuple(self._providers.values()),
            resources=tuple(self._resources.values()),
            imports=tuple(self._imports),
            calls=tuple(self._calls.values()),
            backend=next(iter(self._backends.values()), None),
            problems=tuple(self._problems),
        )

    def failed(self, folder: str, detail: str) -> Module:
        """Return a module whose folder could not be read."""
        self._problems.append(ConfigurationProblem.at(folder or ".", None, "Failed to read module directory", detail))
        return self.module(folder, has_files=True)

    def add_primary(self, file: SourceFile) -> None:
        """Add what a primary file declares."""
        self._note_file(file)
        contents = file.contents
        for block in contents.required:
            if self._has_required:
                detail = "A module may have only one required providers configuration."
                self._refuse(file, block, "Duplicate required providers configuration", detail)
                continue
            self._has_required = True
            self._required.update({entry.name: Placed(file.path, entry) for entry in block.entries})
        self._add_backends(file)
        self._add_providers(file)
        for call in contents.calls:
            if call.name in self._calls:
                detail = f'A module call named "{call.name}" was already defined. Module calls must have unique names.'
                self._refuse(file, call, "Duplicate module call", detail)
            self._calls.setdefault(call.name, Placed(file.path, call))
        self._add_resources(file)
        self._imports.extend(Placed(file.path, block) for block in contents.imports)

    def add_override(self, file: SourceFile) -> None:
        """Apply an override file."""
        self._note_file(file)
        self._override_required(file)
        self._override_backends(file)
        self._override_providers(file)
        self._override_calls(file)
        self._override_resources(file)

    def _note_file(self, file: SourceFile) -> None:
        self._files.append(file.path)
        self._problems.extend(replace(problem, file=file.path) for problem in file.contents.problems)

    def _refuse(self, file: SourceFile, at: Placeable, summary: str, detail: str) -> None:
        self._problems.append(ConfigurationProblem.at(file.path, at, summary, detail))

    def _add_backends(self, file: SourceFile) -> None:
        for block in file.contents.backends:
            before = self._backends.get(block.kind)
            if before is None:
                self._backends[block.kind] = Placed(file.path, block)
                if len(self._backends) > 1:
                    self._refuse_backend_and_cloud()
            elif block.kind == "backend":
                detail = "A module may have only one backend configuration."
                self._refuse(file, block, "Duplicate backend configuration", detail)
            else:
                detail = "A module may have only one 'cloud' block."
                name = "Terraform Cloud" if self._dialect.name == "opentofu" else "HCP Terraform"
                self._refuse(file, block, f"Duplicate {name} configurations", detail)

    def _refuse_backend_and_cloud(self) -> None:
        backend = self._backends["backend"]
        article = "a " if self._dialect.name == "opentofu" else ""
        summary = f"Both a backend and {article}cloud configuration are present"
        detail = "A module may declare either one 'cloud' block OR one 'backend' block configuring a state backend."
        self._problems.append(ConfigurationProblem.at(backend.file, backend.item, summary, detail))

    def _add_providers(self, file: SourceFile) -> None:
        for block in file.contents.providers:
            key = (block.name, block.alias)
            if key in self._providers:
                which = f'with alias "{block.alias}"' if block.alias else "without an alias"
                detail = f'A provider configuration for "{block.name}" {which} was already given.'
                self._refuse(file, block, "Duplicate provider configuration", detail)
            self._providers.setdefault(key, Placed(file.path, block))

    def _add_resources(self, file: SourceFile) -> None:
        for item in file.contents.resources:
            key = (item.mode, item.type, item.name)
            if key in self._resources:
                word = "resource" if item.mode == "managed" else item.mode
                summary = f'Duplicate {word} "{item.type}" configuration'
                named = f'One named "{item.name}" was already declared.'
                detail = f"{named} Resource names must be unique per type in each module."
                self._refuse(file, item, summary, detail)
            self._resources.setdefault(key, Placed(file.path, item))

    def _override_required(self, file: SourceFile) -> None:
        """Replace whole entries, source included; an override file may have several blocks."""
        for block in file.contents.required:
            for entry in block.entries:
                before = self._required.get(entry.name)
                overridden = _hidden(before) if before is not None else None
                self._required[entry.name] = Placed(file.path, entry, overridden)

    def _override_backends(self, file: SourceFile) -> None:
        """Replace whichever of the backend and cloud blocks there is."""
        kinds: set[str] = set()
        for block in file.contents.backends:
            if block.kind in kinds:
                detail = "Each override file may have only one backend configuration."
                self._refuse(file, block, "Duplicate backend configuration", detail)
                continue
            kinds.add(block.kind)
            self._backends = {block.kind: Placed(file.path, block)}

    def _override_providers(self, file: SourceFile) -> None:
        """Replace `version` if the override has one.

        An override without an alias needs no block in a primary file.
        """
        for block in file.contents.providers:
            key = (block.name, block.alias)
            before = self._providers.get(key)
            if before is None and block.alias:
                detail = (
                    f'There is no {block.name} provider configuration with the alias "{block.alias}". '
                    f"{_ONLY_OVERRIDES} an aliased provider configuration that a primary configuration file defines."
                )
                self._refuse(file, block, "Missing base provider configuration for override", detail)
            elif before is None:
                self._providers[key] = Placed(file.path, block)
            elif block.constraints is not None:
                self._providers[key] = Placed(file.path, block, _hidden(before))

    def _override_calls(self, file: SourceFile) -> None:
        for call in file.contents.calls:
            before = self._calls.get(call.name)
            if before is None:
                detail = (
                    f'There is no module call named "{call.name}". {_ONLY_OVERRIDES} a module call of a primary file.'
                )
                self._refuse(file, call, "Missing module call to override", detail)
                continue
            merged, path = before.item, before.file
            if call.source.is_given:
                merged, path = replace(merged, source=call.source, place=call.place), file.path
            if call.version.is_given:
                merged = replace(merged, version=call.version)
            self._calls[call.name] = Placed(path, merged)

    def _override_resources(self, file: SourceFile) -> None:
        """Replace `provider`. Terraform skips ephemeral resources, OpenTofu treats them like the others."""
        for item in file.contents.resources:
            if item.in_check or (item.mode == "ephemeral" and self._dialect.name == "terraform"):
                continue
            key = (item.mode, item.type, item.name)
            before = self._resources.get(key)
            if before is None:
                word = f"{item.mode} resource" if item.mode in ("data", "ephemeral") else "resource"
                detail = f'There is no {item.type} {word} named "{item.name}". {_ONLY_OVERRIDES} one of a primary file.'
                self._refuse(file, item, f"Missing {word} to override", detail)
                continue
            if item.provider != "":
                merged = replace(before.item, provider=item.provider, place=item.place)
                self._resources[key] = Placed(file.path, merged, Hidden(before.file, before.item.line, ""))


def _hidden(before: Placed[RequiredEntry] | Placed[ProviderConfiguration]) -> Hidden:
    """Return the requirement that an override replaces."""
    return Hidden(before.file, before.item.line, before.item.constraint, before.item.constraint_line)
