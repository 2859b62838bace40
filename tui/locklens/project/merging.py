"""Primary files put together, and override files applied to them, row by row as the tools do it.

An override replaces what it names and mostly needs something to replace; what each kind of block does is in the method of its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from locklens.project.contents import (
    Backend,
    Contents,
    Declaration,
    Import,
    ModuleCall,
    Note,
    ProviderBlock,
    RequiredProviders,
    Resource,
)
from locklens.versions import Constraints

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.provider_entries import RequiredEntry


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A configuration file with its path in the tree."""

    path: str
    contents: Contents

    @classmethod
    def unreadable(cls, path: str, detail: str) -> SourceFile:
        """A file that could not be read at all."""
        return cls(path, Contents(notes=(Note(0, 0, "Failed to read file", detail),)))


@dataclass(frozen=True, slots=True)
class Hidden:
    """What an override file replaced: where it stands and which constraint it had."""

    file: str
    line: int
    constraint: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A note with its file."""

    file: str
    note: Note


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Placed[_T]:
    """Something declared, with its file and what it hides."""

    file: str
    item: _T
    hidden: Hidden | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """A module after merging, its lists in the order of the files.

    Attributes:
        folder: Its path in the tree.
        has_files: Whether there is any configuration file, of either kind.
        files: Paths of those that were read.
        required: The required_providers entries by local name.
        providers: Provider configurations.
        resources: Resources, data sources (those in checks too) and ephemeral resources.
        imports: Import blocks.
        calls: Module calls.
        backend: Where the state is kept, None where nothing says so.
        findings: Problems.
    """

    folder: str
    has_files: bool
    files: tuple[str, ...]
    required: tuple[Placed[RequiredEntry], ...]
    providers: tuple[Placed[ProviderBlock], ...]
    resources: tuple[Placed[Resource], ...]
    imports: tuple[Placed[Import], ...]
    calls: tuple[Placed[ModuleCall], ...]
    backend: Placed[Backend] | None
    findings: tuple[Finding, ...]
