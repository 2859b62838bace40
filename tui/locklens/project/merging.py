"""Primary files put together, and override files applied to them, row by row as the tools do it.

An override replaces what it names and mostly needs something to replace; what each kind of block does is in the
method of its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from locklens.project.declared import Backend, FileContents, Import, ModuleCall, Note, ProviderConfiguration, Resource

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.provider_entries import RequiredEntry


class SourceFile(Struct, frozen=True):
    """A configuration file with its path in the tree."""

    path: str
    contents: FileContents

    @classmethod
    def unreadable(cls, path: str, detail: str) -> SourceFile:
        """A file that could not be read at all."""
        return cls(path, FileContents(notes=(Note(0, 0, "Failed to read file", detail),)))


class Hidden(Struct, frozen=True):
    """A requirement that an override file replaced, with its place and constraint."""

    file: str
    line: int
    constraint: str


class MergeNote(Struct, frozen=True):
    """A note with its file."""

    file: str
    note: Note


_Item_co = TypeVar("_Item_co", covariant=True)  # a list of placed resources is one of placed things


class Placed(Struct, Generic[_Item_co], frozen=True):
    """Something declared, with its file and what it hides."""

    file: str
    item: _Item_co
    hidden: Hidden | None = None


class Module(Struct, frozen=True):
    """A module after merging, its lists in the order of the files.

    Attributes:
        folder: Its path in the tree.
        has_files: True if there is any configuration file, of either kind.
        files: Paths of those that were read.
        required: The required_providers entries by local name.
        providers: Provider configurations.
        resources: Resources, data sources (those in checks too), ephemeral resources and actions.
        imports: Import blocks.
        calls: Module calls.
        backend: Where the state is kept, None where nothing says so.
        findings: Problems.
        value_files: Paths of the files that give its variables values, where something is computed of those.
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
    findings: tuple[MergeNote, ...]
    value_files: tuple[str, ...] = ()


class _Spot(Protocol):
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


_LIKE_ANY = "An override file can only override"


class Merger:
    """Puts a module together, file by file: all primary files, then all override files."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._files: list[str] = []
        self._findings: list[MergeNote] = []
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
            findings=tuple(self._findings),
        )

    def failed(self, folder: str, summary: str, detail: str) -> Module:
        """Return a module of which nothing could be read."""
        self._findings.append(MergeNote(folder or ".", Note(0, 0, summary, detail)))
        return self.module(folder, has_files=True)

    def add_primary(self, file: SourceFile) -> None:
        """Add what a primary file declares."""
        self._open(file)
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
            else:
                self._calls[call.name] = Placed(file.path, call)
        self._add_resources(file)
        self._imports.extend(Placed(file.path, block) for block in contents.imports)

    def add_override(self, file: SourceFile) -> None:
        """Apply an override file."""
        self._open(file)
        self._override_required(file)
        self._override_backends(file)
        self._override_providers(file)
        self._override_calls(file)
        self._override_resources(file)

    def _open(self, file: SourceFile) -> None:
        self._files.append(file.path)
        self._findings.extend(MergeNote(file.path, note) for note in file.contents.notes)

    def _refuse(self, file: SourceFile, at: _Spot, summary: str, detail: str) -> None:
        self._findings.append(MergeNote(file.path, Note(at.line, at.column, summary, detail)))

    def _add_backends(self, file: SourceFile) -> None:
        for block in file.contents.backends:
            before = self._backends.get(block.kind)
            if before is None:
                self._backends[block.kind] = Placed(file.path, block)
                if len(self._backends) > 1:
                    self._refuse_both()
            elif block.kind == "backend":
                detail = "A module may have only one backend configuration."
                self._refuse(file, block, "Duplicate backend configuration", detail)
            else:
                detail = "A module may have only one 'cloud' block."
                name = "Terraform Cloud" if self._dialect.name == "opentofu" else "HCP Terraform"
                self._refuse(file, block, f"Duplicate {name} configurations", detail)

    def _refuse_both(self) -> None:
        backend = self._backends["backend"]
        article = "a " if self._dialect.name == "opentofu" else ""
        summary = f"Both a backend and {article}cloud configuration are present"
        detail = "A module may declare either one 'cloud' block OR one 'backend' block configuring a state backend."
        note = Note(backend.item.line, backend.item.column, summary, detail)
        self._findings.append(MergeNote(backend.file, note))

    def _add_providers(self, file: SourceFile) -> None:
        for block in file.contents.providers:
            key = (block.name, block.alias)
            if key not in self._providers:
                self._providers[key] = Placed(file.path, block)
                continue
            which = f'with alias "{block.alias}"' if block.alias else "without an alias"
            detail = f'A provider configuration for "{block.name}" {which} was already given.'
            self._refuse(file, block, "Duplicate provider configuration", detail)

    def _add_resources(self, file: SourceFile) -> None:
        for item in file.contents.resources:
            key = (item.mode, item.type, item.name)
            if key not in self._resources:
                self._resources[key] = Placed(file.path, item)
                continue
            word = "resource" if item.mode == "managed" else item.mode
            summary = f'Duplicate {word} "{item.type}" configuration'
            detail = (
                f'One named "{item.name}" was already declared. Resource names must be unique per type in each module.'
            )
            self._refuse(file, item, summary, detail)

    def _override_required(self, file: SourceFile) -> None:
        """The whole entry is replaced, its source too; several blocks are fine here."""
        for block in file.contents.required:
            for entry in block.entries:
                before = self._required.get(entry.name)
                hidden = Hidden(before.file, before.item.line, before.item.constraint) if before is not None else None
                self._required[entry.name] = Placed(file.path, entry, hidden)

    def _override_backends(self, file: SourceFile) -> None:
        """A backend or cloud block replaces whichever there is."""
        kinds: set[str] = set()
        for block in file.contents.backends:
            if block.kind in kinds:
                detail = "Each override file may have only one backend configuration."
                self._refuse(file, block, "Duplicate backend configuration", detail)
                continue
            kinds.add(block.kind)
            self._backends = {block.kind: Placed(file.path, block)}

    def _override_providers(self, file: SourceFile) -> None:
        """A default configuration needs no base; `version` is replaced where the override has one."""
        for block in file.contents.providers:
            key = (block.name, block.alias)
            before = self._providers.get(key)
            if before is None and block.alias:
                detail = (
                    f'There is no {block.name} provider configuration with the alias "{block.alias}". '
                    f"{_LIKE_ANY} an aliased provider configuration that a primary configuration file defines."
                )
                self._refuse(file, block, "Missing base provider configuration for override", detail)
            elif before is None:
                self._providers[key] = Placed(file.path, block)
            elif block.constraints is not None:
                hidden = Hidden(before.file, before.item.line, before.item.constraint)
                self._providers[key] = Placed(file.path, block, hidden)

    def _override_calls(self, file: SourceFile) -> None:
        for call in file.contents.calls:
            before = self._calls.get(call.name)
            if before is None:
                detail = f'There is no module call named "{call.name}". {_LIKE_ANY} a module call of a primary file.'
                self._refuse(file, call, "Missing module call to override", detail)
                continue
            merged, path = before.item, before.file
            if call.source is not None or call.source_fault:
                merged = replace(
                    merged,
                    source=call.source,
                    source_fault=call.source_fault,
                    source_at=call.source_at,
                    line=call.line,
                    column=call.column,
                )
                path = file.path
            if call.version is not None or call.version_fault:
                version_at = call.version_at
                merged = replace(merged, version=call.version, version_fault=call.version_fault, version_at=version_at)
            self._calls[call.name] = Placed(path, merged)

    def _override_resources(self, file: SourceFile) -> None:
        """`provider` is replaced. Terraform passes over ephemeral resources, OpenTofu treats them like the others."""
        words = {
            "managed": "resource",
            "data": "data resource",
            "ephemeral": "ephemeral resource",
            "action": "resource",
        }
        for item in file.contents.resources:
            if item.in_check or (item.mode == "ephemeral" and self._dialect.name == "terraform"):
                continue
            key = (item.mode, item.type, item.name)
            before = self._resources.get(key)
            if before is None:
                what = f'{item.type} {words[item.mode]} named "{item.name}"'
                detail = f"There is no {what}. {_LIKE_ANY} one of a primary file."
                self._refuse(file, item, f"Missing {words[item.mode]} to override", detail)
                continue
            if item.provider != "":
                merged = replace(before.item, provider=item.provider, line=item.line, column=item.column)
                self._resources[key] = Placed(file.path, merged, Hidden(before.file, before.item.line, ""))
