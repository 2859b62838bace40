"""What all tests share: a home that is nobody's, and random tests that are the same in every run but a full one."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from collecting import UNCOLLECTED
from hypothesis import settings
from kit.effort import IS_FULL, effort, off_diagonal
from rewriting import rewrite_share

settings.register_profile(
    "steady", deadline=None, derandomize=not IS_FULL, max_examples=effort(25, 1000), print_blob=True
)
settings.load_profile("steady")

if not IS_FULL:
    # Hypothesis draws some of its examples from the constants of all modules: the first run of a new clone would take them
    # from seven hundred files in each of its processes, a thirtieth of what the tests take.
    with contextlib.suppress(ImportError, AttributeError):
        from hypothesis.internal.conjecture import providers

        providers._get_local_constants = lambda: providers._local_constants

# Some machines keep bytecode from being written. There, each of some three hundred programs that the tests start would
# compile all of locklens, and each process of a run all of the tests: together a seventh of what the tests take.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.update(UNCOLLECTED)

_IN_MEMORY = Path("/dev/shm")
_ROOM = 2 * 1024**3
"""Bytes; all folders of tests that stand at one time hold a tenth of it."""


def _is_fit(folder: Path) -> bool:
    """Whether a file system is there, has room, and lets programs run (containers often deny both)."""
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize >= _ROOM and not state.f_flag & os.ST_NOEXEC


if not {"TMPDIR", "TEMP", "TMP", "PYTEST_DEBUG_TEMPROOT"} & os.environ.keys() and _is_fit(_IN_MEMORY):
    # Seven thousand folders are made and removed; on a disk, each waits a millisecond for its journal.
    os.environ["TMPDIR"] = str(_IN_MEMORY)
    tempfile.tempdir = None

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background job ignores interrupts, and so would the programs that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

_SETTINGS = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "NO_COLOR", "TF_DATA_DIR", "TF_WORKSPACE", "SSL_CERT_DIR", "SSL_CERT_FILE",
    "DISPLAY", "WAYLAND_DISPLAY", "TMUX", "WSL_DISTRO_NAME",
)  # fmt: skip
"""Variables that change what the program does: of certificates there are often hundreds, which every client reads, and the
last ones lead to the clipboard of whoever runs the tests."""
_NUMBERS = itertools.count()
_YOUNG = 50_000
"""Objects that are made before the collector looks at them; with its own 700, it takes a third of a screen's test."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One process more than there are processors: some tests wait, and each process reads all tests for itself."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") or not hasattr(os, "sched_getaffinity"):
        return None
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    worker = getattr(session.config, "workerinput", None)
    if worker is not None:
        rewrite_share(session.config, int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what a sample leaves out, but nothing of a test that the command line names."""
    if config.option.keyword or any("::" in argument for argument in config.args):
        return
    left_out = set(off_diagonal(items))
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=[*left_out])


def pytest_collection_finish() -> None:
    """Has the collector pass over all that was loaded, and look seldom at what the tests make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 10, 10)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def own_home(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keeps every test away from the settings and the data of whoever runs it, and `-C` of one from the next."""
    folder = Path.cwd()
    home = homes / str(next(_NUMBERS))
    home.mkdir()
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TEMPLATE_DIR", "")  # its thirteen sample hooks are most of what a new repository costs
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
    if sys.platform in {"darwin", "win32"}:
        monkeypatch.setenv("SSH_CONNECTION", "from elsewhere")  # there is a clipboard without any variable
    yield
    os.chdir(folder)
    with contextlib.suppress(OSError):
        home.rmdir()  # most tests leave nothing in it
