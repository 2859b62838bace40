"""What differs between two packages of a provider."""

from __future__ import annotations

import enum

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from locklens.executables import BuildInfo, Executable, Module
    from locklens.packages.inspecting import PackageFacts


class ModuleChange(enum.Enum):
    """How a module differs; REPLACED where another module stands in its place, or stood."""

    REPLACED = "replaced"
    NEW = "new"
    DOWN = "down"
    GONE = "gone"
    UP = "up"


class ModuleDifference(Struct, frozen=True):
    """A module that two executables do not have in common.

    Attributes:
        path: Of the module that is required, whatever replaces it.
        old: None where the older executable does not have it.
        new: None where the newer executable does not have it.
    """

    path: str
    kind: ModuleChange
    old: Module | None
    new: Module | None


class ValueDifference(Struct, frozen=True):
    """A named value that differs; None where there is none."""

    name: str
    old: str | None
    new: str | None


class FileDifference(Struct, frozen=True):
    """A file that differs.

    Attributes:
        old: Its size in the older package; None where it has no such file.
        new: Its size in the newer package; None where it has no such file.
    """

    name: str
    old: int | None
    new: int | None

    @property
    def state(self) -> str:
        """The word for it: "added", "removed" or "changed"."""
        if self.old is None:
            return "added"
        return "removed" if self.new is None else "changed"


class TextDifference(Struct, frozen=True):
    """A text for readers that differs; each side is None where there is no such text, and whole or its beginning."""

    name: str
    old: str | None
    new: str | None


class PackageDifferences(Struct, frozen=True):
    """What differs between an older and a newer package of one provider.

    Attributes:
        toolchain: None where both were built with the same one, or where that cannot be said: see `unknown`.
        settings: Build settings, by name.
        modules: In the order of `ModuleChange`, then by path.
        notable_new: Names of `locklens.executables.notable` that only the newer executable links.
        notable_gone: Names that only the older executable links.
        size: Bytes of the files of both packages.
        files: By name; the program is compared under one name, since its file is named after its version.
        texts: By name.
        unknown: What could not be compared and why, as sentences without a full stop.
    """

    toolchain: ValueDifference | None
    settings: tuple[ValueDifference, ...]
    modules: tuple[ModuleDifference, ...]
    notable_new: tuple[str, ...]
    notable_gone: tuple[str, ...]
    size: tuple[int, int]
    files: tuple[FileDifference, ...]
    texts: tuple[TextDifference, ...]
    unknown: tuple[str, ...] = ()


def compare_packages(old: PackageFacts, new: PackageFacts) -> PackageDifferences:
    """Compare two packages; what one of them does not say is in `unknown`, and is no difference."""
    raise NotImplementedError
