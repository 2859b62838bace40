"""Hostile clones, registries and packages under `init`, `lock` and `upgrade`: real processes, links and registries.

What is promised: nothing is created, followed, replaced or removed through a link below the root; every byte that is
read has a bound; Ctrl-C ends each run; journals and caches of somebody else are not believed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from conformance.case import TERRAFORM as TOOL
from conformance.forking import shared
from conformance.running import is_here
from install.conftest import HOST, Place
from kit.effort import DIAGONAL
from kit.repositories import put
from kit.waiting import LIMIT
from packages.zips import BINARY, STORED, Item, build

from locklens.addresses import ProviderAddress
from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.dialect import TERRAFORM
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.storage.journal import Journal, Record, WrittenFile
from locklens.versions import Version

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and signals of POSIX")

VERSION = "1.0.0"
PLATFORM = "linux_amd64"
FOLDER = f".terraform/providers/{HOST}/acme/demo/{VERSION}"

GENEROUS = 100.0
"""Seconds after which a run that was told to stop counts as hanging; it takes a fraction of one."""

as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the right to give files away"
)
NOBODY = 65534


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with DemoRegistry({f"{HOST}/acme/demo": [SampleListing(VERSION, (PLATFORM,))]}, tells_packages=False) as registry:
        found = Place(tmp_path, registry)
        subprocess.run(["git", "init", "-q", str(found.root)], check=True)
        found.environ["XDG_DATA_HOME"] = str(tmp_path / "home" / "data")
        found.environ["XDG_CACHE_HOME"] = str(tmp_path / "home" / "caches")
        yield found


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "locklens", *words]


def run(place: Place, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs locklens in the root, in a process of its own."""
    return shared().finish(words, place.root, {**place.environ, **environ}, limit=60)


def everything(folder: Path) -> dict[str, object]:
    """All that is in a folder: contents of files, targets of links."""
    return {
        str(path.relative_to(folder)): path.readlink() if path.is_symlink() else path.is_dir() or path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def installed(place: Place) -> bool:
    return (place.root / FOLDER / PLATFORM / "terraform-provider-demo_v1.0.0").is_file()


# Links on the way to a package's place

ON_THE_WAY = {
    "the data folder": ".terraform",
    "providers": ".terraform/providers",
    "the host": f".terraform/providers/{HOST}",
    "the namespace": f".terraform/providers/{HOST}/acme",
    "the type": f".terraform/providers/{HOST}/acme/demo",
    "the version": FOLDER,
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's, with what would be in the way."""
    folder = tmp_path / "outside"
    put(folder / PLATFORM, {"precious.txt": "mine"})
    return folder


def tracked_link(place: Place, name: str, target: Path | str) -> None:
    """A link as a clone makes it of a tracked one."""
    link = place.root / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    git = ["git", "-C", str(place.root)]
    subprocess.run([*git, "add", "-f", name], check=True)
    assert subprocess.run([*git, "ls-files", name], check=True, capture_output=True).stdout


@pytest.mark.parametrize("words", [("init",), ("init", "--upgrade")], ids=" ".join)
@pytest.mark.parametrize("link", ON_THE_WAY.values(), ids=ON_THE_WAY)
def test_nothing_is_written_or_removed_through_a_tracked_link(
    place: Place, outside: Path, link: str, words: tuple[str, ...]
) -> None:
    before = everything(outside)
    tracked_link(place, link, outside)
    done = run(place, *words)
    assert done.returncode in {1, 2}, done
    assert link in done.stderr
    assert "a link" in done.stderr
    assert "Traceback" not in done.stderr
    assert everything(outside) == before
    assert (place.root / link).is_symlink()
    assert not place.lock_file.exists()


def test_what_is_installed_behind_a_tracked_link_does_not_count(place: Place, tmp_path: Path) -> None:
    assert run(place, "init").returncode == 0
    elsewhere = tmp_path / "elsewhere"
    (place.root / ".terraform").rename(elsewhere)
    before = everything(elsewhere)
    tracked_link(place, ".terraform", elsewhere)
    done = run(place, "init")
    assert done.returncode in {1, 2}
    assert "a link" in done.stderr
    assert everything(elsewhere) == before


@pytest.mark.parametrize("target", ["missing", "empty"])
def test_the_file_that_keeps_other_runs_waiting_is_not_made_through_a_link(
    place: Place, tmp_path: Path, target: str
) -> None:
    wanted = tmp_path / "created-by-the-pull-request"
    if target == "empty":
        wanted.touch()
    tracked_link(place, ".terraform/.locklens.lock", wanted)
    before = everything(tmp_path / "home")
    done = run(place, "init")
    assert done.returncode == 2
    assert ".terraform/.locklens.lock: it is a link" in done.stderr
    assert wanted.exists() == (target == "empty")
    assert everything(tmp_path / "home") == before


def test_a_data_folder_that_the_user_names_may_be_anywhere(place: Place, tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "link"
    elsewhere.mkdir()
    link.symlink_to(elsewhere)
    assert run(place, "init", TF_DATA_DIR=str(link)).returncode == 0
    assert (elsewhere / "providers" / HOST).is_dir()
    assert run(place, "init", TF_DATA_DIR="../link").returncode == 0
    assert not (place.root / ".terraform").exists()


@pytest.mark.parametrize("name", ["data", "a/data"])
def test_a_name_below_the_root_in_tf_data_dir_is_no_leave_to_follow_a_link_there(
    place: Place, outside: Path, name: str
) -> None:
    before = everything(outside)
    tracked_link(place, name.partition("/")[0], outside)
    done = run(place, "init", TF_DATA_DIR=name)
    assert done.returncode in {1, 2}
    assert "a link" in done.stderr
    assert everything(outside) == before


@pytest.mark.parametrize("is_same", [True, False], ids=["the package", "another"])
def test_a_link_in_a_packages_place_is_replaced_or_left_and_never_written_through(
    place: Place, tmp_path: Path, is_same: bool
) -> None:
    """As terraform makes them into its plugin cache; see the conformance suite."""
    assert run(place, "init").returncode == 0
    leaf, cached = place.root / FOLDER / PLATFORM, tmp_path / "plugin-cache"
    leaf.rename(cached)
    if not is_same:
        (cached / "mine").write_text("mine")
    before = everything(cached)
    leaf.symlink_to(cached)
    done = run(place, "init")
    assert done.returncode == 0, done
    assert installed(place)
    assert everything(cached) == before
    assert leaf.is_symlink() == is_same


@pytest.mark.skipif(not is_here(TOOL), reason="needs terraform on PATH")
def test_a_link_that_terraform_made_into_its_plugin_cache_is_as_installed(place: Place, tmp_path: Path) -> None:
    cache = tmp_path / "plugin-cache"
    cache.mkdir()
    environ = {**place.environ, "TF_PLUGIN_CACHE_DIR": str(cache), "CHECKPOINT_DISABLE": "1"}
    real = ["terraform", "init", "-no-color"]
    subprocess.run(real, cwd=place.root, env=environ, check=True, capture_output=True)
    leaf = place.root / FOLDER / PLATFORM
    assert leaf.is_symlink()
    place.asked()
    before = everything(cache)
    assert run(place, "init").returncode == 0
    assert (leaf.is_symlink(), place.asked()) == (True, [])
    assert everything(cache) == before
    subprocess.run(real, cwd=place.root, env=environ, check=True, capture_output=True)


# What is written beside: reports


def reported(place: Place, output: str) -> subprocess.CompletedProcess[str]:
    place.lock_file.write_bytes(LOCKED)
    name = place.lock_file.name
    return run(place, "review", "--old", name, "--new", name, "--format", "text", "--output", output)


@pytest.mark.parametrize(
    "spelled", ["reports/made", "{root}/reports/made", "../root/reports/made", "reports/../reports/made"]
)
def test_a_report_is_not_written_through_a_tracked_link(place: Place, outside: Path, spelled: str) -> None:
    before = everything(outside)
    tracked_link(place, "reports", outside)
    done = reported(place, spelled.format(root=place.root))
    assert (done.returncode, "leads out of the repository" in done.stderr) == (2, True), done
    assert everything(outside) == before


def test_a_report_replaces_a_tracked_link_whatever_is_behind_it(place: Place, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    for target in ("mine", "pipe", "nothing"):
        tracked_link(place, target, tmp_path / target)
        assert reported(place, target).returncode == 0
        assert not (place.root / target).is_symlink()
        assert (place.root / target).is_file()
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_a_report_goes_where_the_user_says(place: Place, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    tracked_link(place, "inside", "real-inside")
    (place.root / "real-inside").mkdir()
    for output in ("../link/report", str(tmp_path / "link" / "other"), "inside/report"):
        assert reported(place, output).returncode == 0
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"report", "other"}
    assert (place.root / "real-inside" / "report").is_file()
    assert "no findings" in subprocess.run(
        f"{' '.join(command())} review --old .terraform.lock.hcl --new .terraform.lock.hcl --output /dev/stdout | cat",
        shell=True, cwd=place.root, env=place.environ, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


# Hostile packages


def locked(*hashes: str, version: str = VERSION) -> bytes:
    address = ProviderAddress(HOST, "acme", "demo")
    return render([LockEntry(address, Version.parse(version), "", hashes, 0)], TERRAFORM)


OTHER_H1 = "h1:" + "A" * 43 + "="
LOCKED = locked(OTHER_H1)
OLDER = locked(version="0.9.0")
"""What there is to upgrade from."""


@pytest.fixture
def served(place: Place, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Publishes other bytes as the package, signed as the registry signs."""

    def serve(data: bytes) -> None:
        digest = hashlib.sha256(data).hexdigest()
        offer = SampleListing(VERSION, (PLATFORM,), edition=digest)
        monkeypatch.setitem(place.registry._offers[f"{HOST}/acme/demo"], VERSION, offer)
        monkeypatch.setattr("locklens.demo.published.package_bytes", lambda *_: data)
        monkeypatch.setattr("locklens.demo.published.zh", lambda *_: f"zh:{digest}")
        monkeypatch.setattr("locklens.demo.published.h1", lambda *_: OTHER_H1)

    return serve


def zeros(size: int) -> tuple[bytes, dict[str, int | bytes]]:
    """Many zeros, deflated, and what the headers say of them."""
    deflater, crc, mega = zlib.compressobj(9, zlib.DEFLATED, -15), 0, bytes(1 << 20)
    first, again = (deflater.compress(mega) + deflater.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = first + again * ((size >> 20) - 1) + b"\x03\x00"
    for _ in range(size >> 20):
        crc = zlib.crc32(mega, crc)
    return packed, {"method": 8, "crc": crc, "packed": len(packed), "size": size}


def listed_often(times: int, size: int = 256 << 20) -> bytes:
    """A package of a few hundred KB: one content of some MiB, listed under many more names."""
    packed, said = zeros(size)
    once = Item(BINARY, packed, STORED, local=said, central={**said, "offset": 0})
    again = [Item(b"%d" % number, b"", STORED, central={**said, "offset": 0}) for number in range(times)]
    return build([once, *again])


BOMBS = {
    "one content under many names": (lambda: listed_often(5_000), "more than the 8.0 GiB that are read"),
    "one content of zeros": (lambda: listed_often(0, 512 << 20), "a bomb"),
    "more names than are read": (lambda: listed_often(10_001, 1 << 20), "more than 10000 entries"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "words"), BOMBS.values(), ids=BOMBS)
def test_no_h1_is_computed_of_a_package_beyond_the_bounds(
    place: Place, served: Callable[[bytes], None], make: Callable[[], bytes], words: str
) -> None:
    """The lock file has an h1 and no zh of what is served: the zip file's own h1 would have to be computed."""
    served(make())
    place.lock_file.write_bytes(LOCKED)
    done = run(place, "init")
    assert done.returncode == 1, done
    assert words in done.stderr
    assert place.lock_file.read_bytes() == LOCKED
    assert not (place.root / ".terraform" / "providers").exists()


def test_a_package_is_held_against_a_locked_h1_of_its_zip_file(place: Place, served: Callable[[bytes], None]) -> None:
    data = build([Item(b"docs/"), Item(b"docs/a", b"a"), Item(BINARY, b"x", attributes=0o100755 << 16)])
    served(data)
    place.lock_file.write_bytes(LOCKED)
    done = run(place, "init")
    assert done.returncode == 1
    assert "doesn't match any of the checksums" in done.stderr
    assert "hint: `locklens hashes` compares the locked hashes with the signed release" in done.stderr
    assert "`locklens doctor` tests the causes" in done.stderr
    assert "locklens lock" not in done.stderr
    assert not installed(place)
    empty, digests = hashlib.sha256(b"").hexdigest(), {b"docs/a": b"a", BINARY: b"x"}
    lines = {b"docs/": empty} | {name: hashlib.sha256(content).hexdigest() for name, content in digests.items()}
    from locklens.hashes import h1_of_digests

    place.lock_file.write_bytes(locked(h1_of_digests(lines.items())))
    assert run(place, "init").returncode == 0
    assert installed(place)


# Hostile folders of packages

DEVICES = {
    "a device without an end": "/dev/zero",
    "a pipe that nobody writes to": "{pipe}",
    "a kernel's log": "/proc/kmsg",
    "the whole disk": "/",
    "a file of the user's": "{file}",
}


@pytest.mark.parametrize("hashes", ["h1 and zh", "zh"])
@pytest.mark.parametrize("target", DEVICES.values(), ids=DEVICES)
def test_a_link_in_a_packages_folder_is_no_way_to_hang(place: Place, tmp_path: Path, target: str, hashes: str) -> None:
    assert run(place, "init").returncode == 0
    if hashes == "zh":
        lines = place.lock_file.read_text().splitlines(keepends=True)
        place.lock_file.write_text("".join(line for line in lines if '"h1:' not in line))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"x" * 999)
    program = place.root / FOLDER / PLATFORM / "terraform-provider-demo_v1.0.0"
    program.unlink()
    before = place.lock_file.read_bytes()
    tracked_link(
        place, str(program.relative_to(place.root)), target.format(pipe=tmp_path / "pipe", file=tmp_path / "file")
    )
    done = run(place, "init")
    assert done.returncode == 0, done
    assert not program.is_symlink()
    assert before in {place.lock_file.read_bytes(), before}
    assert "does not match (unreadable); it is replaced" in done.stdout + done.stderr


# Ctrl-C


class Running:
    """A run in a process of its own, which is interrupted as soon as it is somewhere."""

    def __init__(self, place: Place, *words: str, **environ: str) -> None:
        self._place = place
        self._process = subprocess.Popen(
            command(*words), cwd=place.root, env={**place.environ, **environ}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wait_for(self, happens: Callable[[], object]) -> None:
        start = time.monotonic()
        while not happens():
            assert self._process.poll() is None, self._process.communicate()
            assert time.monotonic() - start < LIMIT, "never got there"
            time.sleep(0.01)

    def has_asked(self, step: Step) -> None:
        self.wait_for(lambda: any(one.step is step for one in self._place.registry.requests))

    def interrupted(self) -> None:
        """Interrupts it, and expects the end."""
        self._process.send_signal(signal.SIGINT)
        try:
            _, said = self._process.communicate(timeout=GENEROUS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            pytest.fail("it goes on although it was interrupted")
        assert self._process.returncode == 130, said
        assert "Traceback" not in said


COMMANDS = {"init": ("init",), "lock": ("lock", "--platform", PLATFORM), "upgrade": ("upgrade",)}
every_command = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)


@DIAGONAL
@every_command
@pytest.mark.parametrize(
    ("fault", "step"),
    [
        (Fault.SILENT, Step.VERSIONS),
        (Fault.SLOW, Step.PACKAGE),
        (Fault.STALLED, Step.PACKAGE),
        (Fault.SILENT, Step.SUMS),
    ],
    ids=lambda one: str(one),
)
def test_interrupted_while_a_registry_takes_its_time(
    place: Place, words: tuple[str, ...], fault: Fault, step: Step
) -> None:
    before = OLDER if words[0] == "upgrade" else locked()
    place.lock_file.write_bytes(before)
    place.fail(FaultRule(fault, step=step))
    running = Running(place, *words)
    running.has_asked(step)
    running.interrupted()
    assert place.lock_file.read_bytes() == before
    assert not (place.root / ".terraform").exists(), "the run made it, and nothing is in it"


@cache
def endless_package() -> bytes:
    """A package that arrives at once and takes seconds to inflate."""
    noise = Item(b"noise", random.Random(3).randbytes(24 << 20), STORED)
    packed, said = zeros(1 << 30)
    return build([noise, Item(BINARY, packed, STORED, local=said, central=said)])


@pytest.mark.parametrize("name", ["init", "lock"])
def test_interrupted_while_a_package_inflates(place: Place, served: Callable[[bytes], None], name: str) -> None:
    served(endless_package())
    running = Running(place, *COMMANDS[name])
    running.has_asked(Step.PACKAGE)
    running.interrupted()
    assert not place.lock_file.exists()


def test_interrupted_while_another_run_has_its_turn(place: Place) -> None:
    (place.root / ".terraform").mkdir()
    with (place.root / ".terraform" / ".locklens.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        running = Running(place, "init")
        running.wait_for(lambda: b".locklens.lock" in b" ".join(open_files(running._process.pid)))
        running.interrupted()


def open_files(process: int) -> list[bytes]:
    """What a process has open; as it stands where the system does not say."""
    found = []
    for one in Path(f"/proc/{process}/fd").glob("*"):
        try:
            found.append(os.fsencode(one.readlink()))
        except OSError:
            continue
    return found if Path("/proc/self/fd").exists() else [b".locklens.lock"]


@pytest.mark.skipif(shutil.which("gpg") is None, reason="needs gpg")
@pytest.mark.parametrize("name", COMMANDS)
def test_interrupted_while_gpg_is_busy(place: Place, tmp_path: Path, name: str) -> None:
    folder, begun = tmp_path / "bin", tmp_path / "begun"
    folder.mkdir()
    (folder / "gpg").write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) exec {shutil.which("gpg")} "$@";; esac\n'
        f'echo $$ >> "{begun}"\nexec sleep 300\n'
    )
    (folder / "gpg").chmod(0o755)
    place.lock_file.write_bytes(OLDER if name == "upgrade" else locked())
    running = Running(place, *COMMANDS[name], PATH=f"{folder}:{place.environ['PATH']}")
    try:
        running.wait_for(begun.exists)
        running.interrupted()
    finally:
        for number in begun.read_text().split() if begun.exists() else ():
            os.kill(int(number), signal.SIGKILL)


# Whose the records and the cache are


def written(path: Path, old: bytes | None, new: bytes) -> WrittenFile:
    return WrittenFile(os.fsencode(path), old, new, 0o644)


@pytest.fixture
def journal(place: Place) -> Journal:
    return Journal(Path(place.environ["XDG_DATA_HOME"]) / "locklens" / "writes")


def planted(place: Place, journal: Journal, victim: Path, top: Path | None = None) -> Path:
    """A record that looks like a write that was interrupted after its first file; returns where it is."""
    main = place.root / "main.tf"
    top = top or place.root
    victim.write_bytes(b"mine\n")
    files = written(main, b"", main.read_bytes()), written(victim, b"mine\n", b"evil\n")
    record = Record("abc123", os.fsencode(top), ("x",), "locklens upgrade", "2026-01-01T00:00:00+00:00", files)
    with journal.held(top, wait=1):
        journal.begin(record)
    return journal.place(top)


FOREIGN = {
    "a folder that others may write in": (lambda folder, _: folder.chmod(0o777), "others may write to it"),
    "a folder that the group may write in": (lambda folder, _: folder.chmod(0o770), "others may write to it"),
    "a file that others may write to": (lambda _, file: file.chmod(0o666), "others may write to it"),
    "a folder of another": (lambda folder, _: os.chown(folder, NOBODY, -1), "it belongs to another user"),
    "a file of another": (lambda _, file: os.chown(file, NOBODY, -1), "it belongs to another user"),
}
foreign = pytest.mark.parametrize(
    ("make", "why"),
    [pytest.param(*one, marks=[as_root] if name.endswith("another") else [], id=name) for name, one in FOREIGN.items()],
)


@foreign
def test_a_planted_record_is_not_completed(
    place: Place, journal: Journal, make: Callable[[Path, Path], None], why: str
) -> None:
    victim = place.root / "victim.tf"
    file = planted(place, journal, victim)
    make(journal.folder, file)
    done = run(place, "init")
    assert victim.read_bytes() == b"mine\n"
    assert why in done.stderr
    assert "XDG_DATA_HOME" in done.stderr
    assert "was completed" not in done.stderr


def test_a_record_with_places_outside_of_the_repository_is_not_completed(
    place: Place, journal: Journal, tmp_path: Path
) -> None:
    victim = tmp_path / "home" / ".bashrc"
    file = planted(place, journal, victim)
    done = run(place, "format", "--dry-run")
    assert victim.read_bytes() == b"mine\n"
    assert "was left untouched" in done.stderr
    assert str(file) in done.stderr
    assert file.exists()


def test_a_record_of_a_folder_above_the_repository_is_not_completed(
    place: Place, journal: Journal, tmp_path: Path
) -> None:
    victim = tmp_path / "home" / ".bashrc"
    planted(place, journal, victim, top=tmp_path)
    done = run(place, "format", "--dry-run")
    assert victim.read_bytes() == b"mine\n"
    assert f"an interrupted write in {tmp_path} was left untouched: run locklens there" in done.stderr


def test_an_own_record_is_completed(place: Place, journal: Journal) -> None:
    file = planted(place, journal, place.root / "victim.tf")
    assert "was completed: main.tf, victim.tf" in run(place, "format", "--dry-run").stderr
    assert (place.root / "victim.tf").read_bytes() == b"evil\n"
    assert not file.exists()


@foreign
@every_command
def test_a_cache_that_another_user_could_have_written_is_not_used(
    place: Place, words: tuple[str, ...], make: Callable[[Path, Path], None], why: str
) -> None:
    """As with `sudo` where HOME is kept: a false h1 there would be locked."""
    assert run(place, "lock", "--platform", PLATFORM).returncode == 0
    file = Path(place.environ["XDG_CACHE_HOME"]) / "locklens" / "cache.sqlite3"
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE packages SET h1 = ?", (OTHER_H1,))
    connection.close()
    place.lock_file.write_bytes(OLDER if words[0] == "upgrade" else b"")
    make(file.parent, file)
    done = run(place, *words)
    assert OTHER_H1 not in place.lock_file.read_text()
    assert "note: Cached answers last for this run only" in done.stderr
    assert why.removeprefix("it ").partition(" to it")[0].split()[-1] in done.stderr
