"""Linked packages that a reviewer of a provider wants to know of, recognised by the names of functions.

It is said of what is linked, never of what is called. That hardly any provider lacks one of them is no reason to leave
it out: what counts is that it is new in a release.
"""

from __future__ import annotations

from bisect import bisect_left

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Notable(Struct, frozen=True):
    """A package, or a part of one.

    Attributes:
        name: As reports have it.
        means: What a program can do with it.
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

BEGINNINGS = tuple(start for one in NOTABLE for start in one.functions)
"""Beginnings of the names of all their functions."""

PACKAGES = frozenset(start[: start.index(".", start.rfind("/") + 1)] for start in BEGINNINGS)
"""The packages of these functions, as the linker writes them."""

MEANING = {one.name: one.means for one in NOTABLE}


def notable_in(functions: Sequence[str]) -> dict[str, int]:
    """Count the linked functions of each notable package, rarest first; those of which there are none are left out.

    Args:
        functions: Sorted names.
    """
    counted = {one.name: sum(_count(functions, start) for start in one.functions) for one in NOTABLE}
    return {name: count for name, count in counted.items() if count}


def _count(functions: Sequence[str], start: str) -> int:
    return bisect_left(functions, start + "\U0010ffff") - bisect_left(functions, start)
