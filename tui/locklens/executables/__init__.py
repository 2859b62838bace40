"""What a provider's executable says about how it was built, without running it.

All of it is evidence about an honest build: the maker of the file can write anything here. That a package is the
publisher's is a matter of `trust`. Go's versions have an order: those of modules (https://go.dev/ref/mod#versions) and
those of toolchains (https://go.dev/doc/toolchain).

`NOTABLE` are linked packages that a reviewer of a provider wants to know of, recognised by the names of functions. They
are linked, and need not be called. A package that nearly every provider has is not left out: what counts is that it is
new in a release.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_left

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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
    """

    path: str
    version: str
    checksum: str = ""
    replaced_by: GoModule | None = None

    @property
    def words(self) -> str:
        """Its version, and behind `=>` the module in its place."""
        by = self.replaced_by
        return self.version if by is None else f"{self.version} => {by.path} {by.version}".rstrip()


class BuildInfo(Struct, frozen=True):
    """The build information that the Go toolchain writes into an executable.

    Attributes:
        go: The toolchain, as it is written: "go1.25.1".
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


_MODULE = re.compile(
    r"v(\d{1,18})\.(\d{1,18})\.(\d{1,18})(?:-([0-9A-Za-z.-]{1,200}))?(?:\+[0-9A-Za-z.-]{1,200})?\Z", re.ASCII
)
_TOOLCHAIN = re.compile(
    r"(?:devel )?go(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:(alpha|beta|rc)(\d{1,9}))?(?![0-9A-Za-z.])", re.ASCII
)
_STAGES = {"alpha": 0, "beta": 1, "rc": 2, None: 3}

OrderKey = tuple[object, ...]
"""Keys of one kind can be compared with each other."""


def module_key(version: str) -> OrderKey | None:
    """Return the sort key of a module's version, such as "v1.2.3-rc.1"; None for "(devel)" and other texts."""
    match = _MODULE.match(version)
    if match is None:
        return None
    *numbers, prerelease = match.groups()
    # A release is above its pre-releases; numbers are below words.
    identifiers = [
        (0, int(part), "") if part.isdigit() and len(part) <= 18 else (1, 0, part)
        for part in (prerelease or "").split(".")
    ]
    return *map(int, numbers), prerelease is None, *identifiers


def toolchain_key(go: str) -> OrderKey | None:
    """Return the sort key of a toolchain, such as "go1.25.1" or "go1.26rc2 X:experiment"; None if it has none."""
    match = _TOOLCHAIN.match(go)
    if match is None:
        return None
    major, minor, patch, stage, number = match.groups()
    return int(major), int(minor), int(patch or 0), _STAGES[stage], int(number or 0)


class Notable(Struct, frozen=True):
    """A package, or a part of one.

    Attributes:
        functions: Beginnings of the names of its functions.
    """

    name: str
    means: str
    functions: tuple[str, ...]


NOTABLE = (
    Notable("plugin", "loads code from files", ("plugin.Open", "plugin.open")),
    Notable(
        "interpreter",
        "runs code of another language",
        (
            "github.com/dop251/goja.",
            "github.com/robertkrimen/otto.",
            "github.com/tetratelabs/wazero.",
            "github.com/traefik/yaegi/interp.",
            "github.com/yuin/gopher-lua.",
            "go.starlark.net/starlark.",
            "mvdan.cc/sh/v3/interp.",
        ),
    ),
    Notable("syscall.Exec", "becomes another program", ("syscall.Exec", "golang.org/x/sys/unix.Exec")),
    Notable("ptrace", "reads and changes other processes", ("syscall.Ptrace", "golang.org/x/sys/unix.Ptrace")),
    Notable("os/exec", "starts programs", ("os/exec.(*Cmd).Start",)),
    Notable("runtime/cgo", "has code that Go's compiler did not make", ("runtime/cgo.",)),
    Notable("net/http/pprof", "serves its own memory and traces", ("net/http/pprof.",)),
    Notable("net/http.Server", "serves HTTP", ("net/http.(*Server).Serve",)),
    Notable("net/rpc", "serves calls", ("net/rpc.(*Server).",)),
    Notable("ssh", "opens SSH connections", ("golang.org/x/crypto/ssh.NewClientConn",)),
    Notable("ssh server", "serves SSH", ("golang.org/x/crypto/ssh.NewServerConn",)),
    Notable("net/smtp", "sends mail", ("net/smtp.(*Client).",)),
)
"""Rarest first."""

NOTABLE_BEGINNINGS = tuple(start for one in NOTABLE for start in one.functions)
"""Beginnings of the names of all their functions."""

NOTABLE_PACKAGES = frozenset(start[: start.index(".", start.rfind("/") + 1)] for start in NOTABLE_BEGINNINGS)
"""The packages of these functions, as the linker writes them."""

NOTABLE_MEANINGS = {one.name: one.means for one in NOTABLE}


def notable_in(functions: Sequence[str]) -> dict[str, int]:
    """Count the functions, sorted names, of each notable package, rarest first; packages without any are left out."""
    counted = {one.name: sum(_number_of(functions, start) for start in one.functions) for one in NOTABLE}
    return {name: count for name, count in counted.items() if count}


def _number_of(functions: Sequence[str], start: str) -> int:
    return bisect_left(functions, start + "\U0010ffff") - bisect_left(functions, start)
