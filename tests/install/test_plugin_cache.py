"""One plugin cache for many processes at once, locklens and the real tools, and what its lock excludes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from conformance.case import HERE, TOOLS, Tool, requires
from conformance.forking import Locklens
from conformance.running import Invocation, Run, is_here, process
from install.conftest import HOST, Place
from kit.effort import effort
from msgspec.structs import replace
from operations.benches import CASE, bench

from locklens import install
from locklens.demo import h1
from locklens.errors import RunCancelledError
from locklens.install.context import CacheBusy, InstallEvent, LinkedFromCache
from locklens.packages.installed import h1_of_folder
from locklens.storage.files import RealFolder, exclusive_lock
from locklens.versions import Version

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


def all_at_once(runs: Sequence[Run], roots: Sequence[Path], environment: dict[str, str]) -> list[str]:
    """Has each tool, in a process of its own, initialize its root; what those say that fail."""
    with ThreadPoolExecutor(len(runs)) as pool:
        ended = pool.map(lambda run, root: run(Invocation(("init", "-no-color"), root, environment)), runs, roots)
        return [one.output for one in ended if one.status != 0]


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_many_processes_fill_one_cache(tool: Tool, locklens: Locklens, monkeypatch: pytest.MonkeyPatch) -> None:
    case = replace(CASE, files={})
    ours, theirs = locklens.of(tool), process(tool.command)
    runs = [ours, ours, ours, *([theirs] if is_here(tool) else [])]
    with bench(tool, monkeypatch, case) as place:
        place.configure('plugin_cache_dir = "@WORK@/cache"\n'.replace("@WORK@", str(place.work)))
        (place.work / "cache").mkdir()
        place.registry.delay = 0.1
        roots = [place.work / f"root{number}" for number in range(len(runs))]
        for root in roots:
            root.mkdir()
            (root / "main.tf").write_text(requires(("acme/demo", "1.0.0")))
        assert all_at_once(runs, roots, place.environ) == []
        package = Path(tool.host, "acme/demo/1.0.0", HERE)
        assert h1_of_folder(place.work / "cache" / package) == h1(f"{tool.host}/acme/demo", "1.0.0", HERE)
        for root in roots:
            assert (root / ".terraform/providers" / package).resolve() == (place.work / "cache" / package).resolve()
        locks = {(root / ".terraform.lock.hcl").read_text() for root in roots}
        assert len(locks) == 1
        left = {path.name for path in (place.work / "cache" / package).parent.iterdir()}
        assert left <= {HERE, f"{HERE}.lock"}


OURS, THEIRS = "locklens", "the real tool"
_RACE = "this is a bug in Terraform"
"""Terraform's words where what it unpacked into the cache was replaced before it looked again."""


@pytest.mark.parametrize("pair", [(OURS, OURS), (OURS, THEIRS), (THEIRS, OURS)], ids=" and ".join)
@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_two_at_once_again_and_again(
    tool: Tool, pair: tuple[str, str], locklens: Locklens, monkeypatch: pytest.MonkeyPatch
) -> None:
    if THEIRS in pair and not is_here(tool):
        pytest.skip(f"{tool.command} {tool.version} is not on PATH")
    runs = {OURS: locklens.of(tool), THEIRS: process(tool.command)}
    packages = {
        Path(tool.host, source, "1.0.0", HERE): h1(f"{tool.host}/{source}", "1.0.0", HERE)
        for source in ("acme/demo", "hashicorp/random")
    }
    catalog = {"acme/demo": ("1.0.0",), "hashicorp/random": ("1.0.0",)}
    with bench(tool, monkeypatch, replace(CASE, files={}, catalog=catalog)) as place:
        place.configure(f'plugin_cache_dir = "{place.work}/cache"\n')
        cache = place.work / "cache"
        sound = 0
        for _ in range(effort(2, 20)):
            cache.mkdir()
            roots = [place.work / f"root{number}" for number in range(len(pair))]
            for root in roots:
                root.mkdir()
                (root / "main.tf").write_text(requires(("acme/demo", "1.0.0"), ("hashicorp/random", "1.0.0")))
            failed = all_at_once([runs[who] for who in pair], roots, place.environ)
            if THEIRS in pair and any(_RACE in words for words in failed):
                for folder in (cache, *roots):
                    shutil.rmtree(folder)
                continue
            assert failed == []
            sound += 1
            for package, expected in packages.items():
                assert h1_of_folder(cache / package) == expected
                for root in roots:
                    assert h1_of_folder(root / ".terraform/providers" / package) == expected
                left = {path.name for path in (cache / package).parent.iterdir()}
                assert left <= {HERE, f"{HERE}.lock"}
            locks = {(root / ".terraform.lock.hcl").read_text() for root in roots}
            assert len(locks) == 1
            assert all(expected in next(iter(locks)) for expected in packages.values())
            for folder in (cache, *roots):
                shutil.rmtree(folder)
        assert sound


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds a file as OpenTofu does."""
    holding = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'w')\nfcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", holding, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        try:
            yield other
        finally:
            other.kill()


def test_a_lock_that_opentofu_holds_is_waited_for(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with (
        held(tmp_path / "x.lock"),
        pytest.raises(RunCancelledError),
        exclusive_lock(tmp_path, ("x.lock",), cancel=cancel, is_shared_with_opentofu=True),
    ):
        pass
    with exclusive_lock(tmp_path, ("x.lock",), cancel=cancel, is_shared_with_opentofu=True):
        pass


def test_init_waits_for_its_turn_in_the_cache(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.storage.files._NOTICE_SECONDS", 0.0)
    config = Path(place.environ["TF_CLI_CONFIG_FILE"])
    config.write_text(config.read_text() + f'plugin_cache_dir = "{tmp_path}/cache"\n')
    version = tmp_path / "cache" / HOST / "acme/demo/1.1.0"
    version.mkdir(parents=True)
    with held(version / f"{HERE}.lock") as other:

        class Releasing(list[InstallEvent]):
            def append(self, event: InstallEvent) -> None:
                super().append(event)
                if isinstance(event, CacheBusy):
                    assert "package" not in place.asked()
                    other.kill()

        place.events = Releasing()
        assert not place.init().has_failed
        assert len(place.told(CacheBusy)) == 1
    assert (place.root / ".terraform/providers" / HOST / "acme/demo/1.1.0" / HERE).is_symlink()


def shared(place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cached package with no locked hash, half-written, which the settings let count for the lock file."""
    monkeypatch.setattr("locklens.storage.files._NOTICE_SECONDS", 0.0)
    config = Path(place.environ["TF_CLI_CONFIG_FILE"])
    config.write_text(
        config.read_text()
        + f'plugin_cache_dir = "{folder}/cache"\nplugin_cache_may_break_dependency_lock_file = true\n'
    )
    assert not place.init().has_failed
    shutil.rmtree(place.root / ".terraform")
    place.lock_file.unlink()
    place.asked()
    (program,) = (folder / "cache" / HOST / "acme/demo/1.1.0" / HERE).glob("terraform-provider-*")
    program.rename(folder / "whole")
    program.write_bytes((folder / "whole").read_bytes()[:10])
    return program


def test_the_half_of_a_package_that_opentofu_unpacks_is_not_locked(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shared(place, tmp_path, monkeypatch)
    with held(program.parent.with_name(f"{HERE}.lock")) as other:

        class Finishing(list[InstallEvent]):
            def append(self, event: InstallEvent) -> None:
                super().append(event)
                if isinstance(event, CacheBusy):
                    (tmp_path / "whole").replace(program)
                    other.kill()

        place.events = Finishing()
        assert not place.init().has_failed
        assert len(place.told(CacheBusy)) == 1
    assert "package" not in place.asked()
    assert h1(f"{HOST}/acme/demo", "1.1.0", HERE) in place.lock_file.read_text()


def test_a_package_that_has_just_changed_is_waited_for_and_then_fetched(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shared(place, tmp_path, monkeypatch)
    monkeypatch.setattr(install, "_QUIET", 3600.0)
    monkeypatch.setattr(install, "_PATIENCE", 0.1)
    assert not place.init().has_failed
    assert place.asked().count("package") == 1
    assert h1(f"{HOST}/acme/demo", "1.1.0", HERE) in place.lock_file.read_text()
    assert program.read_bytes() == (tmp_path / "whole").read_bytes()


def test_where_there_are_no_links_the_package_is_copied(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "a required privilege is not held by the client")

    monkeypatch.setattr(RealFolder, "link", refuse)
    config = Path(place.environ["TF_CLI_CONFIG_FILE"])
    config.write_text(config.read_text() + f'plugin_cache_dir = "{tmp_path}/cache"\n')
    assert not place.init().has_failed
    package = place.root / ".terraform/providers" / HOST / "acme/demo/1.1.0" / HERE
    assert not package.is_symlink()
    assert h1_of_folder(package) == h1(f"{HOST}/acme/demo", "1.1.0", HERE)
    (package / "extra").touch()
    place.asked()
    assert not place.init().has_failed
    assert place.asked() == []
    assert [event.version for event in place.told(LinkedFromCache)] == [Version(1, 1, 0)]
    assert not (package / "extra").exists()
