"""Real executables: build information as `go version -m` has it, functions as the symbol table has them."""

from __future__ import annotations

import pytest
from kit.go_programs import BUILDS, PLAIN, STRIPPED, Build, built, go_functions, go_version, needs_go

from locklens.executables import Executable, ExecutableFormat, GoModule
from locklens.executables.reader import ExecutableReader

FORMATS = {"linux": ExecutableFormat.ELF, "darwin": ExecutableFormat.MACH_O, "windows": ExecutableFormat.PE}


def read(data: bytes, size: int = 1 << 18) -> Executable:
    reader = ExecutableReader()
    for start in range(0, len(data), size):
        reader.feed(memoryview(data)[start : start + size])
    return reader.close()


def lines(found: Executable) -> list[list[str]]:
    """The build information as `go version -m` prints it."""
    build = found.build
    assert build is not None
    said = [[build.go], ["path", build.path]]
    for word, module in (("mod", build.main), *(("dep", one) for one in build.modules)):
        assert module is not None
        said.append([word, module.path, module.version, *([] if module.replaced_by else [module.checksum])])
        if module.replaced_by is not None:
            by = module.replaced_by
            said.append(["=>", by.path, by.version, by.checksum])
    return said + [["build", f"{quoted(name)}={quoted(value)}"] for name, value in build.settings]


def quoted(text: str) -> str:
    return f'"{text}"' if set(text) & set(' "`') else text


@needs_go
@pytest.mark.parametrize("build", BUILDS, ids=lambda build: f"{build.platform} {' '.join(build.flags)}")
def test_what_go_reads_is_read(build: Build) -> None:
    path = built(build)
    found = read(path.read_bytes())
    assert found.unread is None
    assert (found.format, found.size) == (FORMATS[build.platform.partition("/")[0]], path.stat().st_size)
    assert lines(found) == go_version(path)
    assert found.functions is not None
    assert {"main.main", "example.com/required.Forked", "os/exec.(*Cmd).Start"} <= set(found.functions)
    assert list(found.functions) == sorted(set(found.functions))
    assert "unicode/utf8.RuneLen" in found.functions
    assert {"main", "example.com/required", "os/exec", "unicode/utf8"} <= set(found.packages or ())


@needs_go
def test_functions_are_those_of_the_symbol_table() -> None:
    """The symbol table tells two kinds of calls of one function apart, names what the linker made, and does not name
    functions that were inlined wherever they are called."""
    path = built(PLAIN)
    functions = set(read(path.read_bytes()).functions or ())
    symbols = {name.removesuffix(".abi0") for name in go_functions(path)}
    missing = {name for name in symbols - functions if not is_made(name)}
    assert {name for name in missing if "." in name} <= {"runtime.text", "runtime.etext"}
    inlined = {name for name in functions - symbols if not is_made(name)}
    assert "unicode/utf8.RuneLen" in inlined
    assert not any(name.startswith("example.com/") for name in inlined)


def is_made(name: str) -> bool:
    """True for what the compiler makes, and for instances of generic functions, which the table names in short."""
    return name.startswith(("type:", "go:", "gosave_")) or "[" in name


@needs_go
def test_a_stripped_copy_has_the_same_functions() -> None:
    plain, stripped = (read(built(one).read_bytes()) for one in (PLAIN, STRIPPED))
    assert go_functions(built(STRIPPED)) == set()
    assert plain.functions == stripped.functions
    assert plain.packages == stripped.packages


@needs_go
@pytest.mark.parametrize("size", [1, 7, 4096, 65_537, 1 << 22])
def test_it_does_not_matter_how_the_bytes_arrive(size: int) -> None:
    data = built(STRIPPED).read_bytes()
    if size < 100:
        head = data[: 1 << 16]
        reader = ExecutableReader()
        for start in range(0, len(head), size):
            reader.feed(head[start : start + size])
        reader.feed(data[len(head) :])
        assert reader.close() == read(data)
        return
    assert read(data, size) == read(data)


@needs_go
def test_a_file_that_breaks_off_says_so() -> None:
    data = built(STRIPPED).read_bytes()
    whole = read(data)
    for part in range(20):
        found = read(data[: len(data) * part // 20])
        assert found.build in {None, whole.build}
        assert found.functions in {None, whole.functions}
        assert (found.unread is None) == (found.build is not None and found.functions is not None)


@needs_go
def test_replacements() -> None:
    build = read(built(PLAIN).read_bytes()).build
    assert build is not None
    plain, required = build.modules
    assert (plain.path, plain.version) == ("example.com/plain", "v0.2.0")
    assert plain.replaced_by == GoModule("../plain", "(devel)")
    assert required.replaced_by == GoModule("../fork", "(devel)")
