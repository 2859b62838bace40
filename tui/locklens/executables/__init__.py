"""What a provider's executable says of how it was built, without running it.

All of it is evidence about an honest build: whoever made the file can write anything here. That a package is the
publisher's is a matter of `trust`.
"""

from __future__ import annotations

import enum

from msgspec import Struct


class ExecutableFormat(enum.Enum):
    """The file format of an executable."""

    ELF = "elf"
    MACH_O = "macho"
    PE = "pe"
    UNKNOWN = "unknown"


class GoModule(Struct, frozen=True):
    """A Go module that was built into an executable, in the words of `go version -m`.

    Attributes:
        version: "(devel)" or empty where the build knew none.
        checksum: The module's `h1:` checksum of go.sum; empty where there is none.
        replaced_by: The module that a `replace` directive put in its place.
    """

    path: str
    version: str
    checksum: str = ""
    replaced_by: GoModule | None = None


class BuildInfo(Struct, frozen=True):
    """The build information that the Go toolchain writes into an executable.

    Attributes:
        go: The toolchain, as it is written: "go1.25.1".
        path: The path of the main package.
        main: The module of the main package.
        modules: The other modules, in the order of the executable.
        settings: Key and value of each build setting, in that order.
    """

    go: str
    path: str = ""
    main: GoModule | None = None
    modules: tuple[GoModule, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


class Executable(Struct, frozen=True):
    """An executable, as far as it can be read.

    Attributes:
        size: Bytes.
        build: None where it cannot be said.
        functions: The names of functions, sorted, each once; None where they cannot be said. They are those of some of
            the packages, by the choice of the reader; of each there are all, also those that were inlined wherever they
            are called.
        unread: Why `build` or `functions` is None: a sentence without a full stop; None where both are known.
        packages: The import paths of all packages with a function in Go's function table, as the linker writes them,
            sorted; None where `functions` is.
    """

    format: ExecutableFormat
    size: int
    build: BuildInfo | None = None
    functions: tuple[str, ...] | None = None
    unread: str | None = None
    packages: tuple[str, ...] | None = None
