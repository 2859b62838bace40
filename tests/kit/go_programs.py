"""Small programs built with the Go that is on PATH, each once on a machine: real executables and Go's own readers."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec import Struct

from kit.effort import effort

GO = shutil.which("go")

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
"""As it is before tests get a home of their own: what was built once serves the next run too."""

needs_go = pytest.mark.skipif(GO is None, reason="Go is not on PATH: no real executables are built")

FILES = {
    "program/go.mod": "module example.com/program\n\ngo 1.18\n\n"
    "require (\n\texample.com/plain v0.2.0\n\texample.com/required v1.2.3\n)\n\n"
    "replace (\n\texample.com/plain v0.2.0 => ../plain\n\texample.com/required => ../fork\n)\n",
    "program/main.go": "package main\n\n"
    'import (\n\t"os"\n\t"os/exec"\n\n\t"example.com/plain"\n\t"example.com/required"\n)\n\n'
    'var version = "dev"\n\n'
    "type pair[T any] struct{ a, b T }\n\n"
    "//go:noinline\nfunc (p pair[T]) swapped() pair[T] { return pair[T]{p.b, p.a} }\n\n"
    "func inlined(a int) int { return a*a + os.Getpid() }\n\n"
    "func main() {\n\tprintln(version, required.Forked(), plain.Plain(), pair[int]{inlined(len(os.Args)), 2}.swapped().a)\n"
    "\tif len(os.Args) > 1 {\n\t\tprintln(exec.Command(os.Args[1]).Start() == nil)\n\t}\n}\n",
    "fork/go.mod": "module example.com/required\n\ngo 1.18\n",
    "fork/fork.go": "package required\n\n//go:noinline\nfunc Forked() string { return `a\tb` }\n",
    "plain/go.mod": "module example.com/plain\n\ngo 1.18\n",
    "plain/plain.go": "package plain\n\n//go:noinline\nfunc Plain() string { return `plain` }\n",
}


class Build(Struct, frozen=True):
    """How a program is built.

    Attributes:
        platform: GOOS/GOARCH.
        flags: Of `go build`.
        cgo: CGO_ENABLED.
    """

    platform: str
    flags: tuple[str, ...] = ()
    cgo: str = "0"


PLAIN = Build("linux/amd64", ("-buildvcs=false",))
STRIPPED = Build("linux/amd64", ("-buildvcs=false", "-ldflags=-s -w -X 'main.version=1.2 3' -X main.b=c"))
FOREIGN = (
    Build("linux/amd64", ("-buildmode=pie", "-trimpath", "-ldflags=-s -w -X main.version=1")),
    Build("linux/386", ("-ldflags=-s -w",)),
    Build("darwin/arm64", ("-trimpath",)),
    Build("windows/amd64", ("-ldflags=-s -w",)),
)
"""Each needs a standard library of its own, which Go compiles for half a minute."""

BUILDS = (PLAIN, STRIPPED, *effort((), FOREIGN))


def built(build: Build) -> Path:
    """Return the executable; built where it is not in the cache folder yet."""
    assert GO is not None
    version = _go("version").encode()
    key = hashlib.sha256(repr((FILES, build, version)).encode()).hexdigest()[:32]
    cache = _CACHE / "locklens-tests"
    found = cache / key
    if not found.exists():
        sources = cache / f"{key}.{os.getpid()}"
        for name, text in FILES.items():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            (sources / name).write_text(text)
        system, machine = build.platform.split("/")
        environ = {"GOOS": system, "GOARCH": machine, "CGO_ENABLED": build.cgo}
        _go("build", *build.flags, "-o", "built", ".", cwd=sources / "program", environ=environ)
        (sources / "program/built").rename(found)
        shutil.rmtree(sources)
    return found


def go_version(path: Path) -> list[list[str]]:
    """Return the lines of `go version -m` behind the file's name, split at tabs; the first is the toolchain."""
    first, *lines = _go("version", "-m", str(path)).splitlines()
    return [[first.rpartition(": ")[2]], *(line.split("\t")[1:] for line in lines if line.strip())]


def go_functions(path: Path) -> set[str]:
    """Return the names of functions in the symbol table; none where it was stripped."""
    lines = (line.split(None, 2) for line in _go("tool", "nm", str(path)).splitlines())
    return {words[2] for words in lines if len(words) == 3 and words[1] in "tT"}


def _go(*words: str, cwd: Path | None = None, environ: dict[str, str] | None = None) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GO", "CGO"))}
    caches = {"GOCACHE": str(_CACHE / "go-build"), "GOPATH": str(_CACHE / "locklens-tests" / "path")}
    fixed = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOENV": "off"}
    done = subprocess.run(
        [str(GO), *words],
        cwd=cwd,
        env={**kept, **caches, **fixed, **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode or words[1:2] == ("nm",), done.stderr
    return done.stdout
