"""What a large input costs: work grows with its size, never with the square of it; beyond a bound it is not read.

Processor time is compared between an input and one four times as large, not with a clock: four times is linear,
sixteen times the square. The bound lies between, far from both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from kit.effort import effort
from kit.registries import lead_to
from kit.repositories import put, repository
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import zh
from locklens.demo.published import Published, SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.demo.signing import publisher
from locklens.doctor.recognising import read_log
from locklens.errors import LockLensError
from locklens.lockfile.parse import MAX_LOCK_FILE_BYTES, parse
from locklens.policy import MAX_POLICY_BYTES, InstallPath
from locklens.policy import parse as parse_policy
from locklens.project.clifiles import FormatError
from locklens.project.clifiles import parse_cli_configuration as parse_cli
from locklens.review import HashFact
from locklens.review.coverage import LockedHashes, ProviderCoverage, cover
from locklens.sources.http import Response
from locklens.sources.metadata import read_versions
from locklens.trust.checksums import MAX_LINES, read_checksums
from locklens.trust.continuity import judge_packages
from locklens.trust.signature import MAX_KEYS_BYTES, Verifier

if TYPE_CHECKING:
    from _typeshed import TraceFunction

LARGER = 4
MOST = 9.0
NOISE = 0.25
"""Seconds: less than that is not told from the noise of a machine that does other things too."""

HEAD = '# This file is maintained automatically by "terraform init".\n# Manual edits may be lost in future updates.\n'
HOST = "registry.terraform.io"
LOCK = ".terraform.lock.hcl"


def work_of(action: Callable[[], object]) -> float:
    """Seconds of the processor, of all threads."""
    begun = time.process_time()
    action()
    return time.process_time() - begun


def grows_in_step(action: Callable[[int], object], size: int) -> None:
    """Asserts that four times the size takes no more than nine times the work; looks again before it says so.

    A sample takes half of the size.
    """
    size //= effort(2, 1)
    found = []
    for _ in range(3):
        large = work_of(lambda: action(LARGER * size))
        if large <= NOISE:
            return
        small = work_of(lambda: action(size))
        if large <= MOST * small + NOISE:
            return
        found.append((round(small, 2), round(large, 2)))
    pytest.fail(f"{size} and {LARGER * size} bytes: {found} seconds")


def digest(number: int) -> str:
    return f"zh:{number:064x}"


def block(name: str, hashes: list[str], more: str = "") -> str:
    listed = "".join(f'    "{text}",\n' for text in hashes)
    return f'\nprovider "{HOST}/{name}" {{\n  version = "1.0.0"\n{more}  hashes = [\n{listed}  ]\n}}\n'


def bare(name: str) -> str:
    return f'\nprovider "{name}" {{\n  version = "1.0.0"\n}}\n'


LOCKS: dict[str, Callable[[int], str]] = {
    "providers": lambda size: "".join(block(f"a/p{i:06}", [digest(i)]) for i in range(size // 160)),
    "providers without hashes": lambda size: "".join(bare(f"{HOST}/a/p{i:06}") for i in range(size // 72)),
    "one type in many namespaces": lambda size: "".join(bare(f"{HOST}/n{i:06}/p") for i in range(size // 72)),
    "written by hand": lambda size: "".join(block(f"a/p{i:06}", [digest(i)]) for i in range(size // 160)).replace(
        "hashes =", "hashes="
    ),
    "hashes": lambda size: block("a/b", [digest(i) for i in range(size // 76)]),
    "malformed hashes": lambda size: block("a/b", [f"zh:{i:06}" for i in range(size // 17)]),
    "unknown schemes": lambda size: block("a/b", [f"s{i:06}:x" for i in range(size // 17)]),
    "one hash again and again": lambda size: block("a/b", ["h1:x"] * (size // 12)),
    "a long hash": lambda size: block("a/b", ["zh:" + "a" * size]),
    "a long version": lambda size: bare("a").replace("1.0.0", "1.0.0-" + "a." * (size // 2) + "a"),
    "long constraints": lambda size: block(
        "a/b", [digest(0)], '  constraints = "' + ", ".join(f">= 1.0.{i}" for i in range(size // 12)) + '"\n'
    ),
    "comments": lambda size: "# \u00e9 \x01\n" * (size // 7) + block("a/b", [digest(0)]),
    "comments in lines": lambda size: "/* x */ " * (size // 8) + "\n" + block("a/b", [digest(0)]),
    "conflicts": lambda size: "<<<<<<< a\n=======\n>>>>>>> b\n" * (size // 28),
    "conflicts without an end": lambda size: "<<<<<<< a\n" * (size // 10),
    "one provider again and again": lambda size: block("a/b", [digest(0)]) * (size // 160),
    "blocks that do not belong there": lambda size: 'junk "a" {\n}\n' * (size // 13),
    "arguments that do not belong there": lambda size: "".join(f"a{i:06} = 1\n" for i in range(size // 12)),
}


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """Loads what a review loads late: that is no part of what an input costs."""
    main(["review", "--offline", "--old", "/dev/null", "--new", "/dev/null"], lambda *_: 0)


@pytest.mark.parametrize("kind", LOCKS)
def test_lock_files(tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str) -> None:
    old, new = tmp_path / "old.hcl", tmp_path / "new.hcl"

    def review(size: int) -> None:
        # Half of it is the old side: changed, removed and moved providers, and new ones.
        old.write_text(HEAD + LOCKS[kind](size // 2).replace('"1.0.0"', '"0.9.0"'))
        new.write_text(HEAD + LOCKS[kind](size))
        assert main(["review", "--offline", "--old", str(old), "--new", str(new)], lambda *_: 0) in {0, 1}
        capfd.readouterr()

    grows_in_step(review, 25_000)


LOGS: dict[str, Callable[[int], str]] = {
    "titles": lambda size: "Error: Failed to install provider\n" * (size // 34),
    "one long title": lambda size: "Error: " * (size // 7),
    "control sequences without an end": lambda size: "\x1b]" * (size // 2),
    "colours without an end": lambda size: "\x1b[1;1;1;1;1" * (size // 11),
    "brackets": lambda size: "[" * size,
    "time stamps": lambda size: "2026-11-20T10:11:12.123Z " * (size // 25),
    "boxes": lambda size: "\u2502 a\n" * (size // 6),
    "one long name": lambda size: "Error: Error while installing " + "a" * size,
    "slashes": lambda size: "Error: Failed to install provider\npackage for " + "a/" * (size // 2),
    "quotes without an end": lambda size: '"\\"' * (size // 3),
    "strings in strings": lambda size: '"' + '\\\\\\"' * (size // 4),
    "fields": lambda size: '{"log":"Error: Failed to install provider\\n"}\n' * (size // 48),
    "lines in a line": lambda size: "\u2502" + "\\n\u2502" * (size // 5),
    "prefixes": lambda size: "".join(f"{n:x}{'x:' * (n % 9)}\u2502 a\n" for n in range(size // 20)),
    "units": lambda size: "".join(f"[u{n}] \u2502 Error: Failed to install provider\n" for n in range(size // 45)),
    "packages": lambda size: (
        "Error: Error while installing a/b v1.0.0: the local package for a/b 1.0.0\n" * (size // 74)
    ),
    "events": lambda size: '{"diagnostic": {"summary": "x"}}\n' * (size // 33),
    "nested events": lambda size: '{"' + "[" * size + "\n",
    "tokens": lambda size: "Error: Failed to install provider\n" + "token=" * (size // 6),
    "hosts": lambda size: "Error: Failed to install provider\nhost " + "a." * (size // 2),
    "list": lambda size: "Error: Required plugins are not installed\n" + "- there is no package for a\n" * (size // 28),
}


@pytest.mark.parametrize("kind", LOGS)
def test_logs(kind: str) -> None:
    grows_in_step(lambda size: read_log(LOGS[kind](size).encode()), 50_000)


def letters(number: int, first: int = 0x4E00) -> str:
    """Letters of which each is another one: punycode orders them."""
    return "".join(chr(first + place % 20_000) for place in range(number))


NAMES: dict[str, Callable[[int], str]] = {
    "one type": lambda size: bare(f"{HOST}/a/{letters(size // 3)}"),
    "one namespace": lambda size: bare(f"{HOST}/{letters(size // 3)}/a"),
    "one host": lambda size: bare(f"{letters(size // 3)}.com/a/b"),
    "labels of one host": lambda size: bare(f"{'.'.join([letters(60)] * (size // 180))}.com/a/b"),
    "types of a length": lambda size: "".join(
        bare(f"{HOST}/a/{letters(255, i)}") for i in range(20_000, size // 800 + 20_000)
    ),
    "types and namespaces of a label": lambda size: "".join(
        bare(f"{HOST}/{letters(63, i)}/{letters(63, i)}") for i in range(20_000, size // 420 + 20_000)
    ),
    "letters that stand for many": lambda size: bare(f"{HOST}/a/" + "\ufdfa" * (size // 3)),
    "ASCII": lambda size: bare(f"{HOST}/a/" + "a" * size),
}


@pytest.mark.parametrize("kind", NAMES)
def test_long_names(tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str) -> None:
    """What a name costs is counted in lines of the program: how long they take is the same for each."""
    old, new = tmp_path / "old.hcl", tmp_path / "new.hcl"
    lines = []
    for size in (3_000, LARGER * 3_000):
        old.write_text(HEAD + NAMES[kind](size // 2).replace('"1.0.0"', '"0.9.0"'))
        new.write_text(HEAD + NAMES[kind](size))
        with Lines() as counted:
            assert main(["review", "--offline", "--old", str(old), "--new", str(new)], lambda *_: 0) in {0, 1}
        lines.append(counted.number)
        capfd.readouterr()
    assert lines[1] <= (LARGER + 1) * lines[0] + 50_000
    assert lines[1] <= 1000 * LARGER * 3_000


class Lines:
    """Counts the lines of Python that are run."""

    def __init__(self) -> None:
        self.number = 0

    def __enter__(self) -> Lines:
        self._before = sys.gettrace()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)
        threading.settrace(self._before)

    def _trace(self, _frame: FrameType, event: str, _argument: object) -> TraceFunction:
        self.number += event == "line"
        return self._trace


def test_providers_that_all_move(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.hcl", tmp_path / "new.hcl"

    def review(size: int) -> None:
        old.write_text(HEAD + "".join(bare(f"{HOST}/n{i:06}/p") for i in range(size // 72)))
        new.write_text(HEAD + "".join(bare(f"registry.opentofu.org/n{i:06}/p") for i in range(size // 72)))
        main(["review", "--offline", "--old", str(old), "--new", str(new)], lambda *_: 0)
        assert "moved" in capfd.readouterr().out

    grows_in_step(review, 20_000)


@pytest.mark.parametrize("command", ["hashes", "keys"])
def test_other_commands_on_lock_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(size: int) -> None:
        (tmp_path / ".terraform.lock.hcl").write_text(HEAD + LOCKS["providers"](size))
        assert main([command, "--offline"], lambda *_: 0) == 0
        capfd.readouterr()

    grows_in_step(run, 25_000)


def test_a_lock_file_above_the_bound_is_not_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = (HEAD + "#" * MAX_LOCK_FILE_BYTES).encode()
    lock = parse(data, "x.hcl")
    assert (lock.entries, lock.is_complete) == ((), False)
    (problem,) = lock.problems
    assert str(MAX_LOCK_FILE_BYTES) in problem.detail
    assert str(len(data)) in problem.detail
    path = tmp_path / "new.hcl"
    path.write_bytes(data)
    assert main(["review", "--offline", "--old", "/dev/null", "--new", str(path)], lambda *_: 0) == 1
    assert "LK019" in capfd.readouterr().out
    assert not parse(data[:MAX_LOCK_FILE_BYTES], "x.hcl").problems


def test_a_megabyte_takes_no_more_than_500_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "new.hcl"
    path.write_text(HEAD + LOCKS["unknown schemes"](MAX_LOCK_FILE_BYTES - 1000))
    script = (
        "import resource, sys\n"
        "from locklens.cli.main import main\n"
        "main(['review', '--offline', '--format', 'json', '--old', '/dev/null', '--new', sys.argv[1]], lambda *_: 0)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stderr.split()[-1]) * unit < 500 << 20


def sums(lines: int, platform: Callable[[int], str] = lambda number: f"o{number}_a") -> bytes:
    stem = "terraform-provider-demo_1.0.0_"
    return "".join(f"{number:064x}  {stem}{platform(number)}.zip\n" for number in range(lines)).encode()


@pytest.mark.parametrize("platform", [lambda number: f"o{number}_a", lambda _: "linux_amd64"], ids=["many", "one"])
def test_sha256sums(platform: Callable[[int], str]) -> None:
    def read(lines: int) -> None:
        for _ in range(4):
            found = read_checksums(sums(lines, platform)[: 1 << 20])
            found.packages("demo", "1.0.0")
            found.collected()
            found.matching("no such file")
            listed = [file.zh for file in found.files]
            judge_packages(listed[::2], listed, found, ("demo", "1.0.0"))

    grows_in_step(read, MAX_LINES // LARGER)


def test_what_a_release_of_many_platforms_covers() -> None:
    def covered(number: int) -> None:
        platforms = frozenset(f"o{place}_a" for place in range(number))
        locked = LockedHashes((HashFact(digest(0)),), platforms)
        names = tuple(sorted(platforms))
        found = ProviderCoverage(names, False, tuple(cover(locked, path, names) for path in InstallPath))
        assert len(found.covered) + len(found.missing) + len(found.doubtful) == number
        assert sum(bool(found.paths_without(one) or found.paths_in_doubt(one)) for one in names) == number

    grows_in_step(covered, 2_500)


class Long(DemoRegistry):
    """Lists as many packages as it is told."""

    lines = 0

    def release(self, provider: str, version: str) -> Published | None:
        found = super().release(provider, version)
        if found is None:
            return None
        listed = found.sums + sums(self.lines)
        return replace(found, sums=listed, signature=publisher("acme").signature(listed))


def test_a_review_against_a_long_signed_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:

    with Long({f"{HOST}/acme/demo": [SampleListing("1.0.0", ("linux_amd64",))]}) as registry:
        lead_to(monkeypatch, registry, tmp_path)

        def review(lines: int) -> None:
            registry.lines = lines
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache of {lines}"))
            own = [zh(f"{HOST}/acme/demo", "1.0.0", "linux_amd64")]
            for name, hashes in (("old.hcl", own), ("new.hcl", own + [digest(one) for one in range(lines)])):
                (tmp_path / name).write_text(HEAD + block("acme/demo", hashes))
            sides = ["--old", str(tmp_path / "old.hcl"), "--new", str(tmp_path / "new.hcl")]
            assert main(["review", *sides], lambda *_: 0) == 0
            assert f"{lines} added hashes verified" in capfd.readouterr().out

        grows_in_step(review, 2_400)


def test_keys_have_a_megabyte_together() -> None:
    """Each is a good key behind half a megabyte of what a reader of armor skips."""
    key = publisher("acme").key.armored()
    padded = key.replace("\n\n", "\n" + f"Comment: {'x' * 80}\n" * 5_600 + "\n", 1)
    assert len(padded) * 2 < MAX_KEYS_BYTES < len(padded) * 3
    data = b"checksums\n"
    with Verifier() as verifier:
        found = verifier.verify(data, publisher("acme").signature(data), (padded,) * 64)
    assert [keyring.broken for keyring in found.keyrings] == [False, False] + [True] * 62


POLICIES: dict[str, Callable[[int], str]] = {
    "tables": lambda size: "".join(f"[a{i:05}]\n" for i in range(size // 9)),
    "arrays of tables": lambda size: "[[a]]\n" * (size // 6),
    "keys": lambda size: "".join(f"a{i:05} = 1\n" for i in range(size // 11)),
    "quoted keys": lambda size: "".join(f'"a{i:05}" = 1\n' for i in range(size // 13)),
    "platforms": lambda size: "[platforms]\n" + "".join(f'o_{i:05} = ""\n' for i in range(size // 13)),
    "a long array": lambda size: "cooldown = [" + "1," * (size // 2) + "]\n",
    "a long text": lambda size: 'cooldown = "' + "x" * size + '"\n',
    "a long number": lambda size: "cooldown = " + "1" * size + "\n",
    "brackets": lambda size: "a = " + "[" * size,
    "dots": lambda size: "a." * (size // 2) + "a = 1\n",
    "quotes": lambda size: '"""' * (size // 3),
    "comments": lambda size: "#\n" * (size // 2),
}


@pytest.mark.parametrize("kind", POLICIES)
def test_policies(kind: str) -> None:
    def read(size: int) -> None:
        for _ in range(4):
            with suppress(LockLensError):
                parse_policy(POLICIES[kind](size).encode()[:MAX_POLICY_BYTES], "locklens.toml")

    grows_in_step(read, MAX_POLICY_BYTES // LARGER)


SETTINGS: dict[str, Callable[[int], str]] = {
    "hosts": lambda size: "".join(f'host "h{i:06}" {{\n}}\n' for i in range(size // 20)),
    "blocks in blocks": lambda size: "a {" * (size // 3),
    "lists": lambda size: "a = [" + "1," * (size // 2) + "]",
    "brackets": lambda size: "a = " + "[" * size,
    "a long text": lambda size: 'a = "' + "\\n" * (size // 2) + '"',
    "a text without an end": lambda size: 'a = "' + "x" * size,
    "texts without an end": lambda size: 'a = "x\n' * (size // 7),
    "heredocs without an end": lambda size: "a = <<E\n" * (size // 8),
    "comments": lambda size: "/*" * (size // 2),
    "numbers": lambda size: "a = " + "1" * size,
    "JSON": lambda size: "{" + ",".join(f'"a{i:06}": 1' for i in range(size // 13)) + "}",
    "JSON brackets": lambda size: '{"a":' + "[" * size,
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_cli_configurations(kind: str) -> None:
    def read(size: int) -> None:
        with suppress(FormatError):
            parse_cli(SETTINGS[kind](size).encode())

    grows_in_step(read, 50_000)


ANSWERS: dict[str, Callable[[int], str]] = {
    "versions": lambda size: '{"versions":[' + ",".join(f'{{"version":"1.0.{i}"}}' for i in range(size // 22)) + "]}",
    "platforms": lambda size: (
        '{"versions":[{"version":"1.0.0","platforms":['
        + ",".join(f'{{"os":"o{i}","arch":"a"}}' for i in range(size // 24))
        + "]}]}"
    ),
    "one version again and again": lambda size: (
        '{"versions":[' + ",".join(['{"version":"1.0.0"}'] * (size // 20)) + "]}"
    ),
    "long versions": lambda size: '{"versions":[{"version":"1.0.0-' + "a." * (size // 2) + 'a"}]}',
    "warnings": lambda size: '{"versions":[],"warnings":[' + ",".join(['"\\u001b"'] * (size // 9)) + "]}",
    "brackets": lambda size: "[" * size,
    "keys": lambda size: "{" + ",".join(f'"k{i:06}":0' for i in range(size // 12)) + "}",
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_answers_of_a_registry(kind: str) -> None:
    def read(size: int) -> None:
        with suppress(ValueError):
            read_versions(Response(200, "https://x/", None, ANSWERS[kind](size).encode(), False, ""))

    grows_in_step(read, 100_000)


def test_roots_above_the_bound_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from locklens.operations.compare import open_git
    from locklens.project import root_search

    put(repository(tmp_path, {}), {f"{name}/{LOCK}": HEAD for name in "abc"})
    monkeypatch.setattr(root_search, "MAX_ROOTS", 3)
    open_git(tmp_path).close()
    monkeypatch.setattr(root_search, "MAX_ROOTS", 2)
    with pytest.raises(LockLensError, match="the head has 3 lock files, and no more than 2 are reviewed"):
        open_git(tmp_path)


LONG_PATHS: dict[str, Callable[[int], dict[str, str]]] = {
    "source of a module": lambda size: {"main.tf": f'module "q" {{\n  source = "./{"l/" * (size // 2)}"\n}}\n'},
    "source of a module in JSON": lambda size: {
        "main.tf.json": json.dumps({"module": {"q": {"source": "./" + "l/" * (size // 2)}}})
    },
    "sources of modules, each below the bound": lambda size: {
        "main.tf": "".join(
            f'module "m{number}" {{\n  source = "./n{number}/{"l/" * 2000}"\n}}\n' for number in range(size // 4000)
        )
    },
    "source through a folder that is there": lambda size: {
        "main.tf": f'module "q" {{\n  source = "./there/{"../there/" * (size // 9)}{"l/" * 2000}"\n}}\n',
        "there/main.tf": "",
    },
    "folder of a fetched module": lambda size: {
        "main.tf": 'module "q" {\n  source = "a/b/c"\n}\n',
        ".terraform/modules/modules.json": json.dumps(
            {"Modules": [{"Key": "q", "Source": "registry.terraform.io/a/b/c", "Dir": "l/" * (size // 2)}]}
        ),
    },
    "path of a state": lambda size: {
        "main.tf": f'terraform {{\n  backend "local" {{\n    path = "{"l/" * (size // 2)}s"\n  }}\n}}\n'
    },
}


class Asked:
    """Counts the characters of paths that the system is asked about."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        for name in ("readlink", "stat", "lstat", "scandir", "open"):
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, ask: Callable[..., object]) -> Callable[..., object]:
        def counted(path: object = ".", *words: object, **options: object) -> object:
            self.characters += len(os.fspath(path)) if isinstance(path, str | bytes | os.PathLike) else 0
            return ask(path, *words, **options)

        return counted


@pytest.mark.parametrize("kind", LONG_PATHS)
def test_long_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    """The system reads a path from its start each time: to ask about each part of one is quadratic."""
    size = 28_000
    repository(tmp_path, {LOCK: HEAD + block("a/b", [digest(0)]), **LONG_PATHS[kind](size)})
    monkeypatch.chdir(tmp_path)
    (tmp_path / LOCK).write_text(HEAD + block("a/b", [digest(1)]))
    asked = Asked(monkeypatch)
    for words in (["review", "HEAD"], ["review", "HEAD", "--head", "HEAD"], ["why", "a/b"], ["health"]):
        asked.characters = 0
        status = main([*words, "--offline"], lambda *_: 0)
        said = capfd.readouterr()
        assert status in {0, 1}, said.err
        assert asked.characters < 40 * size, words
        if words[0] == "why":
            assert "- not read: " in said.out
            assert "LK007  Not known whether it is required" in said.out
