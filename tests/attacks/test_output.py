"""Nothing that a lock file, a folder's name or a registry says acts on a terminal or in a CI system's log."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kit.command_line import no_screen
from kit.effort import effort, some
from kit.git import git
from kit.registries import lead_to
from kit.repositories import copy_of, repository

from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault, ServedAnswer, Step
from locklens.demo.registry import DemoRegistry, Request, RequestedPath
from locklens.operations.reports import formats_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="file names there cannot hold these characters")

TERRAFORM, OPENTOFU = "registry.terraform.io", "registry.opentofu.org"
LOCK = ".terraform.lock.hcl"

ACTIVE = (
    "\x1b]0;pwned\x07\x1b[2J\x1b[8m"  # title, clear, conceal
    "\x9b31m\x85\x7f\r\n::error::pwned\n##vso[task.complete result=Succeeded]\x0b\x0c\t"
    "\u202e\u2066\u200b\u2060\ufeff\u2028\u2029\U000e0041\ufe0f\u3164"
)
"""Controls of both ranges, line ends of every kind, commands of logs, direction marks, what has no width."""

FOLDERS = (
    "esc\x1b]0;pwned\x07\x1b[2J",
    "lines\n::error::pwned\n--- a/ci.sh\n+++ b/ci.sh\n@@ -1 +1 @@\n-make\n+touch PWNED",
    "::error file=x::pwned",
    "##vso[task.setvariable variable=x]y",
    "marks\u202e\u200b\u2028\x85",
    "bytes" + os.fsdecode(b"\xff\x9b31m"),
    "$(touch PWNED)  `touch PWNED`;'\"",
)

OURS = re.compile(r"\x1b\[(0|1|2|31;1|32|33|36)m")
WIPED = re.compile(r"\r *\r")
LOG_COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
UNSEEN = set("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0\u2800")


def active(data: bytes, *, coloured: bool = False, wiped: bool = False) -> list[str]:
    """What is in an output beside printable characters, line feeds and our own colours."""
    text = data.decode("utf-8")
    if coloured:
        text = OURS.sub("", text)
    if wiped:
        text = WIPED.sub("", text)
    found = [ascii(one) for one in sorted(set(text) - {"\n"}) if not is_printable(one)]
    return found + [ascii(one[0]) for one in LOG_COMMAND.finditer(text)]


def is_printable(one: str) -> bool:
    if one in UNSEEN or 0xFE00 <= ord(one) <= 0xFE0F or 0xE0100 <= ord(one) <= 0xE01EF:
        return False
    kind = unicodedata.category(one)
    return one == " " if kind == "Zs" else kind[0] != "C" and kind not in {"Zl", "Zp"}


class HostileRegistry(DemoRegistry):
    """Says the worst wherever its own words are shown."""

    def answer(self, request: Request, asked: RequestedPath | None) -> tuple[ServedAnswer, Fault | None]:
        answer, fault = super().answer(request, asked)
        if asked is not None and asked.step in {Step.VERSIONS, Step.DOWNLOAD} and answer.status == 200:
            document = json.loads(answer.body)
            if asked.step is Step.VERSIONS:
                document["warnings"] = [ACTIVE]
                for version in document["versions"]:
                    version["platforms"] += [{"os": ACTIVE, "arch": "amd64"}, {"os": "linux", "arch": ACTIVE}]
            else:
                document["packages"] = {f"{ACTIVE}_x": {"hashes": [f"h1:{'A' * 43}="], "package_size": 1}}
            answer = ServedAnswer.of_json(document)
        return answer, fault


@pytest.fixture(scope="module")
def registry() -> Iterator[DemoRegistry]:
    offered = {f"{host}/acme/demo": ("1.0.0", "1.1.0") for host in (TERRAFORM, OPENTOFU)}
    with HostileRegistry(offered) as running:
        yield running


def quoted(text: str) -> str:
    """A text as HCL spells it."""
    return "".join(one if " " < one <= "~" and one not in '"\\$%' else f"\\U{ord(one):08x}" for one in text)


def configuration(host: str) -> str:
    source = f"{host}/acme/demo"
    return f'# {ACTIVE.replace(chr(10), " ")}\nterraform {{\n  required_providers {{\n    demo = {{ source = "{source}", version = "~> 1.0" }}\n  }}\n}}\nmodule "m" {{\n  source = "./{quoted(ACTIVE)}"\n}}\n'


def hostile(data: bytes) -> bytes:
    """A lock file with hashes and a comment that say the worst."""
    comment = ACTIVE.replace("\n", " ").replace("\r", " ").encode()
    mine = f'"zh:{"1" * 64}",\n    "{quoted(ACTIVE.replace(":", ";"))}:1",\n'.encode()
    return b"# " + comment + b"\n" + data.replace(b'    "zh:', b"    " + mine + b'    "zh:', 1)


@pytest.fixture
def top(tmp_path: Path, registry: DemoRegistry, monkeypatch: pytest.MonkeyPatch) -> Path:
    lead_to(monkeypatch, registry, tmp_path)
    top = copy_of(hostile_repository, tmp_path / "top")
    monkeypatch.chdir(top)
    return top


def hostile_repository(top: Path) -> None:
    for number, name in enumerate(FOLDERS):
        folder = top / name
        folder.mkdir(parents=True)
        host = OPENTOFU if number % 2 else TERRAFORM
        (folder / "main.tf").write_text(configuration(host), newline="")
        (folder / LOCK).write_bytes(lock_file(SampleLock(f"{host}/acme/demo", "1.0.0", "~> 1.0")))
    repository(top, {})
    for name in FOLDERS:
        (top / name / LOCK).write_bytes(hostile((top / name / LOCK).read_bytes()))


ROOTS = [word for name in FOLDERS for word in ("--root", name)]
ONE_LINE = [word for name in FOLDERS if "\n" not in name for word in ("--root", name)]
BEHIND = ["--", *FOLDERS]
ALLOWING, ACCEPTING = "--allow-missing-modules", "--accept-republished"

COMMANDS: dict[str, list[str]] = {
    "review": ["review", "--format", "text"],
    "review-all": ["review", "--format", "text", "--all", "--prove", "changed", "--verbose"],
    "review-roots": ["review", "--format", "text", *BEHIND],
    "review-files": ["review", "--old", f"{FOLDERS[0]}/{LOCK}", "--new", f"{FOLDERS[1]}/{LOCK}", "--format", "text"],
    "review-same": ["review", "--old", f"{FOLDERS[1]}/{LOCK}", "--new", f"{FOLDERS[1]}/{LOCK}", "--format", "text"],
    "review-same-json": [
        "review",
        "--old",
        f"{FOLDERS[3]}/{LOCK}",
        "--new",
        f"{FOLDERS[3]}/{LOCK}",
        "--format",
        "json",
    ],
    "review-unknown": ["review", ACTIVE, "--format", "text"],
    "hashes": ["hashes", "--format", "text"],
    "hashes-json": ["hashes", "--format", "json"],
    **{f"health-{form}": ["health", "--format", form] for form in formats_of("health")},
    "keys": ["keys", "--format", "text", "--history"],
    "keys-json": ["keys", "--format", "json"],
    "why": ["why", "demo", "--format", "text"],
    "why-json": ["why", "demo", "--format", "json"],
    "why-one": ["why", "demo", "--format", "text", "--", FOLDERS[2]],
    "why-unknown": ["why", ACTIVE, "--format", "text"],
    "init-dry": ["init", "--dry-run", "--upgrade", ALLOWING, *ROOTS],
    "init-dry-json": ["init", "--dry-run", "--json", ALLOWING, *ROOTS],
    "init": ["init", "--upgrade", ALLOWING, *ROOTS],
    "init-refused": ["init", *ROOTS],
    "lock-dry": ["lock", "--dry-run", ALLOWING, ACCEPTING, "--platform", "linux_amd64", *ROOTS],
    "lock-check": ["lock", "--check", ALLOWING, "--platform", "linux_amd64", *ROOTS],
    "lock-json": ["lock", "--json", "--dry-run", ALLOWING, "--platform", "linux_amd64", *ROOTS],
    "lock": ["lock", ALLOWING, ACCEPTING, "--platform", "linux_amd64", *ROOTS],
    "lock-platform": ["lock", "--platform", f"{ACTIVE}_x"],
    "upgrade-dry": ["upgrade", "--dry-run", ALLOWING, "demo", *ROOTS],
    "upgrade-json": ["upgrade", "--json", "--dry-run", ALLOWING, "demo", *ROOTS],
    "upgrade": ["upgrade", ALLOWING, "demo", *ROOTS],
    "prune-dry": ["prune", "--dry-run", *ROOTS],
    "restore-dry": ["restore", "demo", "--dry-run", *ONE_LINE],
    "restore": ["restore", "demo", *ONE_LINE],
    "restore-refused": ["restore", "demo", *ROOTS],
    "format-dry": ["format", "--dry-run", *ROOTS],
    "format-json": ["format", "--dry-run", "--json", *ROOTS],
    "format": ["format", *ROOTS],
    "undo": ["undo", "--dry-run"],
    "explain": ["explain"],
    "explain-rule": ["explain", "LK002"],
    "explain-unknown": ["explain", ACTIVE],
    "cache": ["cache", "info"],
    "cache-clear": ["cache", "clear"],
    "help": ["--help"],
    "init-help": ["init", "--help"],
    "version": ["--version"],
    "unknown": [ACTIVE],
    "option": ["review", f"--{ACTIVE}"],
    "elsewhere": ["-C", f"gone{ACTIVE}", "review"],
    "gone": ["format", "--root", f"gone{ACTIVE}"],
    "host": ["review", "--format", "text", "--ask-host", ACTIVE],
    "policy": ["review", "--format", "text", "--policy", f"gone{ACTIVE}"],
    "output": ["review", "--format", "text", "--output", f"gone{ACTIVE}/x"],
}
COMMANDS |= {f"review-{form}": ["review", "--format", form] for form in formats_of("review") if form != "text"}


class Streams:
    """Standard output and error as file descriptors, read while they are written to."""

    def __init__(self, make: Callable[[], tuple[int, int]]) -> None:
        self._pairs = [make(), make()]
        self._data = [bytearray(), bytearray()]

    def run(self, *argv: str) -> tuple[int, bytes, bytes]:
        readers = [
            threading.Thread(target=self._read, args=(pair[0], data))
            for pair, data in zip(self._pairs, self._data, strict=True)
        ]
        for reader in readers:
            reader.start()
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (os.fdopen(pair[1], "w", encoding="utf-8") for pair in self._pairs)
        try:
            status = main(argv, no_screen)
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.close()
            sys.stdout, sys.stderr = before
        for reader in readers:
            reader.join()
        out, err = map(bytes, self._data)
        return status, out, err

    @staticmethod
    def _read(end: int, data: bytearray) -> None:
        try:
            while block := os.read(end, 1 << 16):
                data += block
        except OSError:
            pass  # A terminal whose other end is closed is an error, not an end.
        os.close(end)


def a_terminal() -> tuple[int, int]:
    import pty
    import termios

    near, far = pty.openpty()
    modes = termios.tcgetattr(far)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(far, termios.TCSANOW, modes)
    return near, far


@pytest.mark.parametrize("name", some(COMMANDS, 2))
def test_nothing_active_leaves_on_a_terminal(top: Path, name: str) -> None:
    status, out, err = Streams(a_terminal).run(*COMMANDS[name])
    assert status in {0, 1, 2}
    assert active(out, coloured=True) == []
    assert active(err, wiped=True) == []
    assert out or err


@pytest.mark.parametrize("name", some([*COMMANDS][effort(1, 0) :], 2))
def test_nothing_active_leaves_into_a_pipe(top: Path, name: str) -> None:
    """A sample runs each command once: here, or on a terminal."""
    status, out, err = Streams(os.pipe).run(*COMMANDS[name])
    assert status in {0, 1, 2}
    assert active(out) == []
    assert active(err) == []
    assert out or err


@pytest.mark.parametrize(
    "name", some([name for name, words in COMMANDS.items() if "--format" in words and "policy" not in name], 2)
)
def test_nothing_active_leaves_into_a_file(top: Path, name: str) -> None:
    report = top / "report"
    words = COMMANDS[name]
    at = words.index("--") if "--" in words else len(words)
    Streams(os.pipe).run(*words[:at], "--output", str(report), *words[at:])
    if report.exists():
        assert active(report.read_bytes()) == []


def test_a_hash_cannot_forge_a_verdict(top: Path) -> None:
    _, out, _ = Streams(os.pipe).run("review", "--format", "text")
    lines = out.decode().splitlines()
    assert sum(line.startswith("verdict: ") for line in lines) == 1
    assert "+1 zh +1 of an unknown scheme, -0" not in out.decode()
    assert any("+1 zh +1 of an unknown scheme" in line for line in lines)


@pytest.mark.parametrize("name", ["init-dry", "lock-dry", "upgrade-dry", "prune-dry", "restore-dry", "format-dry"])
def test_git_applies_every_dry_run(top: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top / FOLDERS[2])
    words = [f"../{word}" if word in FOLDERS else word for word in COMMANDS[name]]
    _, out, _ = Streams(os.pipe).run(*words)
    assert out or name == "prune-dry"
    if out:
        before = tree(top)
        (top / "patch").write_bytes(out)
        git(top, "apply", "--whitespace=nowarn", "patch")
        (top / "patch").unlink()
        changed = {path for path, data in tree(top).items() if before[path] != data}
        assert len(changed) == out.count(b"diff --git ")
        assert all(path.endswith(LOCK) for path in changed)


def tree(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_a_dry_run_of_a_hostile_folder_changes_no_other_file(top: Path) -> None:
    (top / "ci.sh").write_text("make\n")
    (top / FOLDERS[1] / LOCK).write_bytes(
        b"# odd\n" + lock_file(SampleLock(f"{TERRAFORM}/acme/demo", "1.0.0", "~> 1.0"))
    )
    _, out, _ = Streams(os.pipe).run("format", "--dry-run", "--root", FOLDERS[1])
    assert out.count(b"\n--- ") == out.count(b"\n+++ ") == out.count(b"\n@@ ") == 1
    subprocess.run(["patch", "-p1", "-f"], cwd=top, input=out, check=False, capture_output=True)
    assert (top / "ci.sh").read_text() == "make\n"
