"""Processes of git: its path, environment and options, bounds in memory, output and time, its answers and failures.

A repository under review is not trusted: nothing of its own configuration may start a program, and nothing is fetched
but by `locklens.project.git.fetch`. An interrupt ends what runs. What git is asked is for the callers.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager, suppress
from functools import cache
from typing import IO, TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import NoRepositoryError, RepositoryError, UnreadableObjectError
from locklens.machine import find_program, safe_environment
from locklens.text import visible

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from types import FrameType

LEAST_VERSION = (2, 31)
"""The first git that takes configuration from its environment, which is how programs are switched off."""

MAX_ENTRIES = 1_000_000
"""The most files and folders of one listing. The largest public repositories have half a million."""

MAX_LISTING_BYTES = 128 * 1024 * 1024
"""Limit of one listing."""

MAX_RECORD_BYTES = 64 * 1024
"""Limit of one entry of a listing: no system has longer paths."""

_HUGE = "trees that repeat each other can expand without end: inspect them with git ls-tree REVISION"

MAX_GIT_OUTPUT_BYTES = 16 * 1024 * 1024
"""Limit of any other answer: a few lines, or the names of settings."""

TIMEOUT = 120.0
"""Seconds that one question to git may take."""

PROCESSOR_SECONDS = 60
"""Processor time of one question, where the system has such a bound: a listing of a million files takes three seconds,
a comparison with a large work tree hashes every file that was touched."""

PATTERN_SECONDS = 10
"""Processor time of one question that matches paths against the repository's patterns: many `**` in a file of
attributes or of ignored names take git time that is exponential in their number."""

MEMORY_BYTES = 2 * 1024**3
"""Memory limit of a git process, without the packs that it maps: those are read-only and large."""

_CHUNK_BYTES = 64 * 1024
_COMPLAINT_BYTES = 64 * 1024
_GRACE = 0.5
"""Seconds for git to remove its lock files when it is ended."""

_READING_OBJECTS = frozenset({"diff", "diff-index", "diff-tree", "ls-files", "ls-tree", "rev-list"})
"""Subcommands that are asked about known commits and the index: an object that is lost has them fail. `ls-files` reads
trees where the index of a sparse checkout has folders."""

_SAFE_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.quotePath=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    # Signatures are checked by a program that the configuration names.
    "-c",
    "log.showSignature=false",
)


def find_git() -> str:
    """Return the path of git.

    Raises:
        NoRepositoryError: There is none.
        RepositoryError: It is older than LEAST_VERSION.
    """
    found = find_program("git")
    if found is not None:
        _require_version(found)
        return found
    raise NoRepositoryError("git is not installed, or not on PATH", hint="install git")


@cache
def _require_version(executable: str) -> None:
    """Ask git for its version, once in a process."""
    import re

    answer = GitCommand(executable, os.path.dirname(executable), git_environment(os.sep)).answer("version")  # noqa: PTH120
    text = answer.decode("ascii", "replace").strip()
    hint = "install a newer git"
    found = re.match(r"git version ((\d+)\.(\d+)\S*)", text)
    if found is None:
        raise RepositoryError(f"the version of {executable} is unknown", hint=hint)
    if (int(found[2]), int(found[3])) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        why = "older ones run programs that the configuration of the reviewed repository names"
        raise RepositoryError(f"{executable} is git {found[1]}, and locklens needs {least} or newer: {why}", hint=hint)


def git_environment(folder: str) -> dict[str, str]:
    """Return the environment for git: answers in English, nothing is written, fetched or asked.

    Relative paths in `GIT_DIR` and similar variables start from the folder.
    """
    environment = safe_environment()
    for name in ("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF"):
        environment.pop(name, None)
    environment.update(
        LC_ALL="C",
        GIT_OPTIONAL_LOCKS="0",
        GIT_TERMINAL_PROMPT="0",
        GIT_NO_LAZY_FETCH="1",
        # Older versions do not know the line above: a partial clone then fails as no protocol is allowed.
        GIT_ALLOW_PROTOCOL="none",
    )
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"):
        if environment.get(name):
            environment[name] = os.path.join(folder, environment[name])  # noqa: PTH118
    return environment


def with_settings(environment: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that overrides git's configuration.

    `-c KEY=VALUE` is no way to do it for an untrusted repository's keys: one that holds "=" would be read as another.
    """
    known = environment.get("GIT_CONFIG_COUNT", "")
    count = int(known) if known.isdecimal() else 0
    changed = dict(environment)
    for number, (key, value) in enumerate(settings.items(), start=count):
        changed[f"GIT_CONFIG_KEY_{number}"] = key
        changed[f"GIT_CONFIG_VALUE_{number}"] = value
    changed["GIT_CONFIG_COUNT"] = str(count + len(settings))
    return changed


def text_of(output: bytes) -> str:
    """Return what git printed; bytes that are not UTF-8 survive as surrogates."""
    return output.decode("utf-8", "surrogateescape")


def fields_of(output: bytes) -> list[str]:
    """Return what git printed with `-z`, and one more at the end."""
    return text_of(output).split("\0")


def first_complaint(complaint: str) -> str:
    """Return the first line of git's standard error that names a failure, or else its first line."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    first = next(
        (line for line in lines if line.startswith(("fatal: ", "error: "))), lines[0] if lines else "no reason given"
    )
    return visible(first.removeprefix("fatal: ").removeprefix("error: "))


def _failure(subcommand: str, complaint: str) -> RepositoryError:
    words = f'"git {subcommand}" failed: {first_complaint(complaint)}'
    return UnreadableObjectError(words) if subcommand in _READING_OBJECTS else RepositoryError(words)


class GitCommand(Struct, frozen=True):
    """Git, by its absolute path, in one folder and with a whole environment."""

    executable: str
    folder: str
    environment: dict[str, str]

    @classmethod
    def at(cls, folder: str) -> GitCommand:
        """Return git in a folder; raises as `find_git`."""
        return cls(find_git(), folder, git_environment(folder))

    def ask(
        self,
        *arguments: str,
        settings: Mapping[str, str] | None = None,
        given: bytes = b"",
        by_patterns: bool = False,
        seconds: float = TIMEOUT,
        file_bytes: int = 0,
    ) -> tuple[int, bytes, str]:
        """Run git once; return exit status, standard output, and standard error.

        The settings override the repository's configuration; `by_patterns` is True if git matches paths against the
        repository's patterns, see `PATTERN_SECONDS`. Git may write no file larger than `file_bytes`, where the system
        has such a bound; 0 for any.

        Raises:
            RepositoryError: Git cannot be started, takes longer than it may, or prints more than MAX_GIT_OUTPUT_BYTES.
        """
        command = replace(self, environment=with_settings(self.environment, settings)) if settings else self
        output = bytearray()
        with _Run(
            command, arguments, given=given, by_patterns=by_patterns, seconds=seconds, file_bytes=file_bytes
        ) as run:
            while data := run.read():
                output += data
                if len(output) > MAX_GIT_OUTPUT_BYTES:
                    words = f"printed more than {MAX_GIT_OUTPUT_BYTES // 1024**2} MiB, and was ended"
                    raise RepositoryError(f'"git {arguments[0]}" {words}')
            status, complaint = run.ended()
        return status, bytes(output), complaint

    def answer(
        self, *arguments: str, settings: Mapping[str, str] | None = None, given: bytes = b"", by_patterns: bool = False
    ) -> bytes:
        """Return the standard output of git.

        Raises:
            RepositoryError: Git failed, with its own reason, or is out of the bounds of `ask`.
        """
        status, output, complaint = self.ask(*arguments, settings=settings, given=given, by_patterns=by_patterns)
        if status != 0:
            raise _failure(arguments[0], complaint)
        return output

    def line(self, *arguments: str) -> str:
        """Return the line that git prints; raises as `answer`."""
        return text_of(self.answer(*arguments)).removesuffix("\n")

    def records(
        self, *arguments: str, subject: str, by_patterns: bool = False, warned: Callable[[str], None] = lambda _: None
    ) -> Generator[str]:
        """Yield what git lists, each record ended by NUL, while it lists.

        Close the iterator where it is left early: that ends git. The subject is the noun for messages; `warned` is
        called at the end with the beginning of git's standard error.

        Raises:
            RepositoryError: Git failed, or the listing is beyond MAX_ENTRIES, MAX_LISTING_BYTES or MAX_RECORD_BYTES.
        """
        rest = b""
        number = size = 0
        with _Run(self, arguments, by_patterns=by_patterns) as run:
            while data := run.read():
                *found, rest = (rest + data).split(b"\0")
                number += len(found)
                size += len(data)
                if number > MAX_ENTRIES or size > MAX_LISTING_BYTES:
                    most = f"{MAX_ENTRIES:,} files and folders, or {MAX_LISTING_BYTES // 1024**2} MiB of names"
                    raise RepositoryError(f"{subject} is not read: it has more than {most}", hint=_HUGE)
                if len(rest) > MAX_RECORD_BYTES or any(len(one) > MAX_RECORD_BYTES for one in found):
                    words = f"a path is longer than {MAX_RECORD_BYTES // 1024} KiB"
                    raise RepositoryError(f"{subject} is not read: {words}", hint=_HUGE)
                for one in found:
                    yield text_of(one)
            status, complaint = run.ended()
        if status != 0:
            raise _failure(arguments[0], complaint)
        warned(complaint)

    def start(self, *arguments: str, stderr: int, process_group: int | None = None) -> subprocess.Popen[bytes]:
        """Start git with pipes for its input and output, and with a bound on its memory where the system has one.

        A process group of 0 is one of its own, out of reach of a terminal's Ctrl-C.

        Raises:
            RepositoryError: It cannot be started.
        """
        import subprocess

        try:
            process = subprocess.Popen(
                [self.executable, *_SAFE_OPTIONS, *arguments],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                process_group=process_group,
            )
        except (OSError, ValueError) as error:
            raise RepositoryError(f"git cannot be started: {error}") from error
        _bound(process.pid, "RLIMIT_DATA", MEMORY_BYTES)
        return process


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put an interrupt off until the end, so that no process is started that nothing knows of."""
    before = signal.getsignal(signal.SIGINT)
    # An interrupt is raised in the main thread alone. One that is left to the system, or ignored, raises nothing.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        before(*caught[0])


def _bound(pid: int, name: str, soft: int, hard: int | None = None) -> None:
    """Set a resource limit of a running process; on Linux alone, where that takes no code between fork and exec."""
    try:
        import resource

        kind, prlimit = getattr(resource, name), resource.prlimit
    except (ImportError, AttributeError):
        return
    with suppress(OSError, ValueError):  # It ended already, or has a lower bound.
        prlimit(pid, kind, (soft, soft if hard is None else hard))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that may hold lock files: asked first, by force where it does not listen."""
    from subprocess import TimeoutExpired

    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE)
        except TimeoutExpired:
            process.kill()
    process.wait()


class _Run:
    """One run of git, as a context: what it prints is read piece by piece, and it has ended when the context is left.

    The arguments are those of `GitCommand.ask`.
    """

    def __init__(
        self,
        command: GitCommand,
        arguments: Sequence[str],
        *,
        given: bytes = b"",
        by_patterns: bool = False,
        seconds: float = TIMEOUT,
        file_bytes: int = 0,
    ) -> None:
        self._command = command
        self._arguments = arguments
        self._given = given
        self._processor_seconds = PATTERN_SECONDS if by_patterns else PROCESSOR_SECONDS
        self._seconds = seconds
        self._file_bytes = file_bytes
        self._complaint = bytearray()
        self._is_late = False
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog = threading.Timer(seconds, self._give_up)
        self._watchdog.daemon = True

    def __enter__(self) -> _Run:
        """Start it.

        Raises:
            RepositoryError: It cannot be started.
        """
        try:
            with uninterrupted():
                self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        from subprocess import PIPE

        process = self._command.start(*self._arguments, stderr=PIPE)
        _bound(process.pid, "RLIMIT_CPU", self._processor_seconds, self._processor_seconds + 1)
        if self._file_bytes:
            _bound(process.pid, "RLIMIT_FSIZE", self._file_bytes)
        assert process.stdout is not None
        self._process = process
        self._output = process.stdout.fileno()
        self._threads = [threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)]
        if self._given:
            self._threads.append(threading.Thread(target=self._give, args=(process.stdin,), daemon=True))
        elif process.stdin is not None:
            process.stdin.close()
        for thread in (*self._threads, self._watchdog):
            thread.start()

    def read(self) -> bytes:
        """Return the next bytes that git prints, b"" at the end.

        Raises:
            RepositoryError: It takes longer than it may.
        """
        data = os.read(self._output, _CHUNK_BYTES)
        if self._is_late:
            raise RepositoryError(f"git took longer than {self._seconds:.0f} seconds, and was ended")
        return data

    def ended(self) -> tuple[int, str]:
        """Wait for the end; return the exit status, and the first of what was printed on standard error.

        Raises:
            RepositoryError: It was ended for the processor time that it took.
        """
        assert self._process is not None
        status = self._process.wait()
        if status == -getattr(signal, "SIGXCPU", 0):
            words = f"git took more than {self._processor_seconds} seconds of processor time, and was ended"
            hint = "a pattern with many ** in .gitattributes or .gitignore is a possible cause"
            raise RepositoryError(words, hint=hint)
        for thread in self._threads:
            thread.join(_GRACE)  # A program that git started may have inherited the pipe, and live on.
        return status, self._complaint.decode("utf-8", "replace")

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        if self._process is not None:
            try:
                _end(self._process)
            finally:
                assert self._process.stdout is not None
                self._process.stdout.close()

    def _give_up(self) -> None:
        assert self._process is not None
        self._is_late = True
        self._process.kill()

    def _give(self, pipe: IO[bytes]) -> None:
        with suppress(OSError), pipe:  # It may end before it has read all.
            pipe.write(self._given)

    def _listen(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError), pipe:
            while data := os.read(pipe.fileno(), _CHUNK_BYTES):
                self._complaint += data[: _COMPLAINT_BYTES - len(self._complaint)]
