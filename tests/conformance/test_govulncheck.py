"""The same advisories as govulncheck, of the same program and database; and the same of a stripped copy.

govulncheck finds functions in a program that is not stripped. The program and the database are made here, so that no
module has to be fetched: the toolchain of this machine, and entries about its standard library.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from locklens.advisories import STDLIB, Linkage, PackageAdvisories
from locklens.advisories.database import read_database
from locklens.advisories.matching import AdvisoryMatcher, Subject
from locklens.executables.reader import ExecutableReader

GO = shutil.which("go")
GOVULNCHECK = shutil.which("govulncheck", path=os.environ.get("LOCKLENS_GOVULNCHECK") or None) or os.environ.get(
    "LOCKLENS_GOVULNCHECK"
)
PROGRAM = """package main

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

func main() {
	var v struct{}
	u, err := url.Parse(os.Args[0])
	names := strings.Fields(os.Args[0])
	slices.SortFunc(names, strings.Compare)
	fmt.Println(u, err, xml.Unmarshal([]byte(os.Args[0]), &v), names)
}
"""
"""A function, methods that it calls, one that is inlined, and a generic one."""


def entry(number: int, *imports: dict[str, Any], introduced: str = "0", **more: Any) -> dict[str, Any]:
    affected = {
        "package": {"name": "stdlib", "ecosystem": "Go"},
        "ranges": [{"type": "SEMVER", "events": [{"introduced": introduced}]}],
        "ecosystem_specific": {"imports": list(imports)} if imports else {},
    }
    return {
        "schema_version": "1.3.1",
        "id": f"GO-0000-{number:04}",
        "modified": "2026-08-01T00:00:00Z",
        "published": "2026-08-01T00:00:00Z",
        "details": "Invented.",
        "affected": [affected],
        **more,
    }


ENTRIES = (
    entry(1, {"path": "net/url", "symbols": ["Parse"]}),
    entry(2, {"path": "encoding/xml", "symbols": ["Decoder.Token"]}),
    entry(3, {"path": "net/url", "symbols": ["URL.MarshalBinaryNowhere"]}),
    entry(4, {"path": "archive/zip", "symbols": ["OpenReader"]}),
    entry(5, {"path": "net/url"}),
    entry(6, {"path": "archive/tar"}),
    entry(7, {"path": "net/url", "symbols": ["Parse"], "goos": ["plan9"]}),
    entry(8, {"path": "net/url", "symbols": ["Parse"]}, introduced="999.0.0"),
    entry(9, {"path": "net/url", "symbols": ["Parse"]}, withdrawn="2026-08-02T00:00:00Z"),
    entry(10, {"path": "strings", "symbols": ["Compare", "Fields"]}),
    entry(11, {"path": "net/url", "symbols": ["Nowhere"]}, {"path": "encoding/xml", "symbols": ["Unmarshal"]}),
)


def built(folder: Path, *flags: str) -> Path:
    assert GO is not None
    (folder / "go.mod").write_text("module example.com/acme/terraform-provider-demo\n\ngo 1.21\n")
    (folder / "main.go").write_text(PROGRAM)
    program = folder / "program"
    environ = os.environ | {"GOFLAGS": "-buildvcs=false", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    command = [GO, "build", *flags, "-o", str(program), "."]
    subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True)
    return program


def ours(program: Path, database: Path) -> PackageAdvisories:
    reader = ExecutableReader()
    reader.feed(program.read_bytes())
    matcher = AdvisoryMatcher(read_database(database, source="here", now=datetime.now(UTC)))
    return matcher.advisories_of(Subject(reader.close()))


def theirs(program: Path, database: Path) -> tuple[set[str], set[str]]:
    """The advisories by version, and those of which a function is there."""
    command = [str(GOVULNCHECK), "-mode", "binary", "-format", "json", "-db", database.as_uri(), str(program)]
    rest = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    required: set[str] = set()
    called: set[str] = set()
    while rest:
        message, end = json.JSONDecoder().raw_decode(rest)
        rest = rest[end:].lstrip()
        if finding := message.get("finding"):
            frame = finding["trace"][0]
            (called if frame.get("function") else required).add(finding["osv"])
    return required, called


@pytest.mark.skipif(GO is None, reason="go is not on PATH: no program can be built")
def test_the_advisories_of_a_program_are_those_of_govulncheck_stripped_or_not(tmp_path: Path) -> None:
    if GOVULNCHECK is None:
        pytest.skip("govulncheck is not on PATH, nor named by LOCKLENS_GOVULNCHECK")
    database = tmp_path / "database"
    database.mkdir()
    for one in ENTRIES:
        (database / f"{one['id']}.json").write_text(json.dumps(one))
    program = built(tmp_path)
    whole = ours(program, database)
    required, called = theirs(program, database)
    assert {match.id for match in whole.matches if match.linkage is not Linkage.OTHER_PLATFORM} == required
    assert {match.id for match in whole.counting} == called
    assert called == {f"GO-0000-{number:04}" for number in (1, 2, 5, 10, 11)}
    assert ours(built(tmp_path, "-ldflags=-s -w", "-trimpath"), database).matches == whole.matches
    assert {match.module for match in whole.matches} == {STDLIB}
