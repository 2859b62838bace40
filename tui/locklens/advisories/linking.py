"""Looking up what an advisory names in the function table of an executable.

The names are those of Go's linker: the import path, with the dots of its last element and other special characters as
`%2e`, then `.Function`, `.Type.Method` or `.(*Type).Method`. An instantiated generic one has `[…]`; what the compiler
makes out of a function has a suffix: `.func1`, `.gowrap1`, `-fm`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MADE_OF_IT = re.compile(r"(?:\[.*\])?(?:\.(?:func|gowrap|deferwrap)[0-9]+.*|-fm|-range[0-9]+.*)?\Z", re.DOTALL)
"""What may stand behind a function's own name: what it is instantiated with, and what the compiler made of it."""

_MOST_LOOKED_AT = 4096
"""Names of one beginning: a function has a few closures, and a table that has more of them is no honest one."""


class FunctionTable:
    """The function table of an executable.

    Args:
        packages: The paths of all linked packages, as the linker writes them.
        functions: The functions of some of these packages, sorted.
        main: The import path of the main package, whose functions are those of `main`.
    """

    def __init__(self, packages: Iterable[str], functions: Sequence[str], main: str = "") -> None:
        self._packages = frozenset(packages)
        self._functions = functions
        self._main = main

    def has_module(self, path: str) -> bool:
        """True if a package of a module is linked."""
        return self.has_package(path) or any(package.startswith(f"{path}/") for package in self._packages)

    def has_package(self, path: str) -> bool:
        """True if a package is linked."""
        return self._prefix(path) in self._packages

    def names_functions_of(self, path: str) -> bool:
        """True if it has the functions of a package; of the others it is known only whether they are linked."""
        return next(self._beginning_with(f"{self._prefix(path)}."), None) is not None

    def names_of(self, package: str, symbol: str) -> tuple[str, ...]:
        """Return the names that stand for a function or a method, `Type.Method`, as the database writes it."""
        prefix = self._prefix(package)
        receiver, dot, method = symbol.rpartition(".")
        found = list(self._made_of(f"{prefix}.{symbol}"))
        if dot:
            found += self._made_of(f"{prefix}.(*{receiver}).{method}")
            found += self._of_generic(f"{prefix}.{receiver}[", f"].{method}")
            found += self._of_generic(f"{prefix}.(*{receiver}[", f"]).{method}")
        return tuple(sorted(found))

    def _prefix(self, package: str) -> str:
        return "main" if package == self._main and package else linker_path(package)

    def _made_of(self, name: str) -> Iterator[str]:
        if next(self._beginning_with(name), None) == name:
            yield name
        for mark in "-.[":
            yield from (each for each in self._beginning_with(name + mark) if _MADE_OF_IT.match(each, len(name)))

    def _of_generic(self, beginning: str, method: str) -> Iterator[str]:
        for name in self._beginning_with(beginning):
            at = name.rfind(method)
            if at > 0 and _MADE_OF_IT.match(name, at + len(method)):
                yield name

    def _beginning_with(self, prefix: str) -> Iterator[str]:
        start = bisect_left(self._functions, prefix)
        for name in self._functions[start : start + _MOST_LOOKED_AT]:
            if not name.startswith(prefix):
                return
            yield name


def linker_path(package: str) -> str:
    """Return an import path as it stands in the names of the linker (cmd/internal/objabi.PathToPrefix)."""
    head, slash, last = package.rpartition("/")
    return f"{_escaped(head)}{slash}{_escaped(last).replace('.', '%2e')}"


def _escaped(text: str) -> str:
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte not in b'%"' else f"%{byte:02x}" for byte in text.encode())
