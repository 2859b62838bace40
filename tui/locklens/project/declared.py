"""The declarations of a configuration file about providers, modules and state, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from locklens import hcl
    from locklens.project.provider_entries import RequiredEntry
    from locklens.versions import Constraints

Mode = Literal["managed", "data", "ephemeral", "action"]


class Note(Struct, frozen=True):
    """A problem in a file that is still without its path."""

    line: int
    column: int
    summary: str
    detail: str
    is_error: bool = True


class RequiredProviders(Struct, frozen=True):
    """A required_providers block."""

    entries: tuple[RequiredEntry, ...]
    line: int
    column: int


class ProviderConfiguration(Struct, frozen=True):
    """A provider configuration. `constraints` is None where the block has no `version`."""

    name: str
    alias: str
    constraint: str
    constraints: Constraints | None
    line: int
    column: int


class Resource(Struct, frozen=True):
    """A resource, data source, ephemeral resource or action.

    Attributes:
        mode: Which of them.
        type: First label.
        name: Second label.
        provider: The local name that `provider =` gives, "" where there is none, None where it cannot be told.
        in_check: True if it is a data source inside a check block.
        line: Of the block.
        column: Of the block.
    """

    mode: Mode
    type: str
    name: str
    provider: str | None
    in_check: bool
    line: int
    column: int

    @property
    def address(self) -> str:
        """As expressions refer to it."""
        return f"{self.type}.{self.name}" if self.mode == "managed" else f"{self.mode}.{self.type}.{self.name}"


class Import(Struct, frozen=True):
    """An import block.

    Attributes:
        target: The steps of `to`, up to the first computed one.
        provider: As for a resource.
        line: Of the block.
        column: Of the block.
    """

    target: tuple[str | int, ...]
    provider: str | None
    line: int
    column: int


class ModuleCall(Struct, frozen=True):
    """A module call; of `source` and `version` None means absent.

    Attributes:
        name: The label.
        source: The text, if it is constant.
        source_fault: Why there is no constant text although the argument is there.
        version: The text, if it is constant.
        version_fault: As for the source.
        source_at: The source's place, the block's where it has none.
        version_at: The version's place, in the same form.
        line: Of the block.
        column: Of the block.
        written: The source as it stands in the file, where its text is a value that was put in; "" for any other.
        written_version: The version, in the same form.
    """

    name: str
    source: str | None
    source_fault: str
    version: str | None
    version_fault: str
    source_at: hcl.SourcePlace
    version_at: hcl.SourcePlace
    line: int
    column: int
    written: str = ""
    written_version: str = ""

    @property
    def shown(self) -> str:
        """The source for reports: never a value that was put in, since files of values may hold secrets."""
        return self.written or self.source or ""

    @property
    def shown_version(self) -> str:
        """The version for reports."""
        return self.written_version or self.version or ""


class Backend(Struct, frozen=True):
    """The storage of the state.

    Attributes:
        kind: "backend" or "cloud".
        type: The backend's label, "" for a cloud block.
        path: Of a local backend's file, None where absent.
        workspace_folder: Of a local backend's other workspaces, None where absent.
        is_computed: True if path or folder cannot be told.
        line: Of the block.
        column: Of the block.
    """

    kind: str
    type: str
    path: str | None
    workspace_folder: str | None
    is_computed: bool
    line: int
    column: int


class FileContents(Struct, frozen=True):
    """All that a file declares, each list in the file's order."""

    required: tuple[RequiredProviders, ...] = ()
    providers: tuple[ProviderConfiguration, ...] = ()
    resources: tuple[Resource, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[ModuleCall, ...] = ()
    backends: tuple[Backend, ...] = ()
    notes: tuple[Note, ...] = ()
