"""How git is started: where it is found, with which environment and options, how answers and failures come back.

A repository under review is not trusted: nothing of its own configuration may start a program, nothing is fetched. What
is asked is no concern of this module; see `locklens.project.git`, which only reads, and `locklens.project.gitindex`.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import RepositoryError
from locklens.project.tree import MAX_FILE_BYTES

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable

TIMEOUT = 120.0
"""Seconds that one question to git may take."""

_NAMES_AT_ONCE = 32
"""Names that are written before answers are read: were there more, git and locklens could wait for each other."""

_NAME_BYTES_AT_ONCE = 2048
"""The smallest pipe of any system takes more."""

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
)


def find_git() -> str:
    """Returns the path of git. Relative folders of PATH are skipped: they may lie in the repository under review.

    Raises:
        RepositoryError: There is none.
    """
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.get_exec_path():
        if os.path.isabs(folder):  # noqa: PTH117
            candidate = os.path.join(folder, name)  # noqa: PTH118
            if os.path.isfile(candidate) and os.access(candidate, os.X_OK):  # noqa: PTH113
                return candidate
    raise RepositoryError(
        "git is not installed, or not on PATH", hint="install git, or compare two files with --old FILE --new FILE"
    )


def git_environment(folder: str) -> dict[str, str]:
    """Returns the environment for git: answers in English, nothing is written, fetched or asked.

    Args:
        folder: What relative paths in `GIT_DIR` and the like are relative to.
    """
    environment = dict(os.environ)
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


def with_settings(environment: dict[str, str], settings: dict[str, str]) -> dict[str, str]:
    """Returns an environment that overrides git's configuration.

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


def sentence(complaint: str) -> str:
    """Returns git's first complaint in one line, without control characters."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    first = next(
        (line for line in lines if line.startswith(("fatal: ", "error: "))), lines[0] if lines else "no reason given"
    )
    text = first.removeprefix("fatal: ").removeprefix("error: ")
    return "".join(character if character.isprintable() else "?" for character in text)


class GitCommand(Struct, frozen=True):
    """Git in one folder.

    Attributes:
        executable: Absolute path of git.
        folder: Where it is run.
        environment: The whole environment.
    """

    executable: str
    folder: str
    environment: dict[str, str]

    def ask(
        self, *arguments: str, settings: dict[str, str] | None = None, given: bytes = b""
    ) -> tuple[int, bytes, str]:
        """Runs git once.

        Args:
            arguments: Subcommand and its arguments.
            settings: Configuration that overrides the repository's.
            given: Standard input.

        Returns:
            Exit status, standard output, standard error.

        Raises:
            RepositoryError: Git cannot be started or takes longer than TIMEOUT.
        """
        import subprocess

        try:
            done = subprocess.run(
                self.command_line(*arguments),
                cwd=self.folder,
                env=with_settings(self.environment, settings) if settings else self.environment,
                input=given,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise RepositoryError(f'"git {arguments[0]}" took longer than {TIMEOUT:.0f} seconds') from error
        except (OSError, ValueError) as error:
            raise RepositoryError(f"git cannot be started: {error}") from error
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def answer(self, *arguments: str, settings: dict[str, str] | None = None, given: bytes = b"") -> bytes:
        """Returns the standard output of git.

        Raises:
            RepositoryError: As `ask`, or git failed; with git's own reason.
        """
        status, output, complaint = self.ask(*arguments, settings=settings, given=given)
        if status != 0:
            raise RepositoryError(f'"git {arguments[0]}" failed: {sentence(complaint)}')
        return output

    def command_line(self, *arguments: str) -> list[str]:
        """Returns git with the options that each call has."""
        return [self.executable, *_SAFE_OPTIONS, *arguments]


class FoundObject(Struct, frozen=True):
    """What a name stands for.

    Attributes:
        object_id: "" where nothing was found.
        kind: "blob", "commit", "tree", "tag"; "" where nothing was found.
        data: None where nothing was found or it could not be read.
        problem: Why it could not be read.
    """

    object_id: str = ""
    kind: str = ""
    data: bytes | None = None
    problem: RepositoryError | None = None


class ObjectReader:
    """One `git cat-file --batch`, started at the first question, ended with the reader. Safe between threads."""

    def __init__(self, command: GitCommand) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] | None = None

    def read(self, names: Iterable[str]) -> dict[str, FoundObject]:
        """Returns what each name (object id, revision, REVISION:PATH; without line breaks) stands for.

        After a failure of git itself, e.g. at an object that a partial clone lacks, the other names are left out; the
        one that failed carries the problem.
        """
        found: dict[str, FoundObject] = {}
        with self._lock:
            try:
                for portion in _portions(names):
                    if not self._read_portion(portion, found):
                        break
            except BaseException:
                # The answers that are still to come would be taken for those of the next question.
                self._stop()
                raise
        return found

    def close(self) -> None:
        """Ends the process; a later question starts another."""
        with self._lock:
            self._stop()

    def _read_portion(self, names: list[str], found: dict[str, FoundObject]) -> bool:
        """Asks for a few names; False where git failed."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(TIMEOUT, process.kill)
        watchdog.daemon = True
        watchdog.start()
        asking = names[0]
        try:
            process.stdin.write(b"".join(name.encode("utf-8", "surrogateescape") + b"\n" for name in names))
            process.stdin.flush()
            for asking in names:
                found[asking] = _read_answer(process.stdout.readline, process.stdout.read)
        except (OSError, ValueError, EOFError) as error:
            self._stop()
            if isinstance(error, _TooLargeError):
                found[asking] = FoundObject(problem=RepositoryError(str(error)))
                rest = names[names.index(asking) + 1 :]
                return not rest or self._read_portion(rest, found)
            found[asking] = FoundObject(
                problem=RepositoryError(
                    "git stopped while reading it: it is damaged, or missing from this clone",
                    hint='"git fsck" tells which; a partial clone is completed by "git fetch --refetch"',
                )
            )
            return False
        finally:
            watchdog.cancel()
        return True

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        import subprocess
        import weakref

        self._stop()
        try:
            process = subprocess.Popen(
                self._command.command_line("cat-file", "--batch"),
                cwd=self._command.folder,
                env=self._command.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Out of reach of Ctrl-C: it ends as soon as its input does, however the program ends.
                process_group=0,
            )
        except OSError as error:
            raise RepositoryError(f"git cannot be started: {error}") from error
        self._process = process
        self._end = weakref.finalize(self, _end, process)
        return process

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._process = self._end = None


class _TooLargeError(ValueError):
    """An object has more than MAX_FILE_BYTES."""


def _portions(names: Iterable[str]) -> Iterable[list[str]]:
    """Splits names into lists that fit into a pipe; one that is longer by itself is alone, with no answer pending."""
    portion: list[str] = []
    size = 0
    for name in names:
        length = len(name.encode("utf-8", "surrogateescape")) + 1
        if portion and (len(portion) == _NAMES_AT_ONCE or size + length > _NAME_BYTES_AT_ONCE):
            yield portion
            portion, size = [], 0
        portion.append(name)
        size += length
    if portion:
        yield portion


def _read_answer(read_line: Callable[[], bytes], read: Callable[[int], bytes]) -> FoundObject:
    """Reads one answer: `OBJECT KIND SIZE`, the bytes and a line break; or one line that says what is wrong."""
    line = read_line()
    if not line.endswith(b"\n"):
        raise EOFError
    words = line.split()
    if len(words) != 3 or not words[2].isdigit():
        return FoundObject()
    size = int(words[2])
    if size > MAX_FILE_BYTES:
        raise _TooLargeError(f"it is larger than {MAX_FILE_BYTES // 1024**2} MiB")
    data = read(size + 1)
    if len(data) != size + 1:
        raise EOFError
    return FoundObject(words[0].decode("ascii"), words[1].decode("ascii"), data[:-1])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends `cat-file`: by closing its input, by force where it does not listen."""
    import contextlib
    import subprocess

    for stream in (process.stdout, process.stdin):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
