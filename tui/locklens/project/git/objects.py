"""Git's objects, read through one long-lived `git cat-file --batch`; what commits and `git blame` say, as values."""

from __future__ import annotations

import re
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, LockLensError, UnreadableObjectError
from locklens.project.git.process import TIMEOUT, GitCommand, uninterrupted
from locklens.project.tree import MAX_FILE_BYTES

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable


_NAMES_AT_ONCE = 32
"""The most names that are written before their answers are read: with more, git and locklens could block each other."""

_NAME_BYTES_AT_ONCE = 2048
"""The most bytes of names that are written at once: the smallest pipe of any system holds more."""

_MOST_DIGITS = 12
_LONGEST = 200
"""The most characters that are kept of a name or a subject: a commit can have any number."""

_BLAMED = re.compile(r"(?P<commit>[0-9a-f]{40,64}) \d{1,10} (?P<line>\d{1,10})(?: \d{1,10})?\Z")


class FoundObject(Struct, frozen=True):
    """The object that a name stands for.

    Attributes:
        object_id: "" if nothing was found.
        kind: "blob", "commit", "tree", "tag"; "" if nothing was found: git gives the same answer for a name without an
            object and for one whose object is lost.
        data: None if nothing was found or it could not be read.
        problem: Why it could not be read: it is too large (`ConfigurationError`), or `UnreadableObjectError`.
    """

    object_id: str = ""
    kind: str = ""
    data: bytes | None = None
    problem: LockLensError | None = None


class _Answers(Struct):
    """The objects that were read, up to a number of bytes."""

    room: int
    by_name: dict[str, FoundObject] = {}

    def add(self, name: str, found: FoundObject) -> None:
        self.room -= len(found.data or b"")
        if self.room >= 0:
            self.by_name[name] = found


class ObjectReader:
    """Reads from one `git cat-file --batch`, started by the first call, ended with the reader. Safe between threads."""

    def __init__(self, command: GitCommand) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] | None = None

    def read(self, names: Iterable[str], *, room: int = sys.maxsize) -> dict[str, FoundObject]:
        """Return the object of each name (object id, revision, REVISION:PATH; without line breaks).

        If git itself fails, e.g. at an object that a partial clone lacks, that name gets the problem, and the names
        after it are left out; so are those whose objects have more than `room` bytes together with the others.
        """
        found = _Answers(room)
        with self._lock:
            try:
                for portion in _portions(names):
                    if not self._read_portion(portion, found) or found.room <= 0:
                        break
            except BaseException:
                # Otherwise the next call would read the answers that are still in the pipe.
                self._stop()
                raise
        return found.by_name

    def close(self) -> None:
        """End the process; a later call starts another."""
        with self._lock:
            self._stop()

    def _read_portion(self, names: list[str], found: _Answers) -> bool:
        """Read a few names; False if git failed."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(TIMEOUT, process.kill)
        watchdog.daemon = True
        watchdog.start()
        name = names[0]
        try:
            process.stdin.write(b"".join(name.encode("utf-8", "surrogateescape") + b"\n" for name in names))
            process.stdin.flush()
            for name in names:
                found.add(name, _read_answer(process.stdout.readline, process.stdout.read))
        except (OSError, ValueError, EOFError) as error:
            self._stop()
            if isinstance(error, _TooLargeError):
                found.add(name, FoundObject(problem=ConfigurationError(str(error))))
                rest = names[names.index(name) + 1 :]
                return not rest or self._read_portion(rest, found)
            words = "git stopped while reading it: it is damaged, or missing from this clone"
            found.add(name, FoundObject(problem=UnreadableObjectError(words)))
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
        with uninterrupted():
            # In a process group of its own: a Ctrl-C after which the run goes on would end it.
            process = self._command.start("cat-file", "--batch", stderr=subprocess.DEVNULL, process_group=0)
            self._process = process
            self._end = weakref.finalize(self, _end, process)
        return process

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._process = self._end = None


class _TooLargeError(ValueError):
    """An object has more than MAX_FILE_BYTES."""


def can_be_asked(text: str) -> bool:
    """True if git can be asked for a name, one to a line."""
    return "\n" not in text and "\0" not in text and all(map(_is_encodable, text))


def _is_encodable(character: str) -> bool:
    return not "\ud800" <= character <= "\udfff" or "\udc80" <= character <= "\udcff"


def _portions(names: Iterable[str]) -> Iterable[list[str]]:
    """Split names into lists that fit into a pipe; a name that does not fit gets a list of its own."""
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
    """Read one answer: `OBJECT KIND SIZE`, the bytes and a line break; or one line with the problem."""
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
    """End `cat-file` at any point: it only reads, so nothing is lost."""
    import contextlib

    process.kill()
    for stream in (process.stdout, process.stdin):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


class CommitFacts(Struct, frozen=True):
    """The names of author and committer without addresses, the message's first line, and the number of parents."""

    author: str = ""
    committer: str = ""
    subject: str = ""
    parents: int = 0

    @property
    def by(self) -> str:
        """The author in words, and the committer where that is another one; "" if neither is known.

        A commit that was rebased, cherry-picked or amended keeps its author, whatever its committer changed.
        """
        if self.committer in {"", self.author}:
            return f"by {self.author}" if self.author else ""
        author = f"authored by {self.author} and " if self.author else ""
        return f"{author}committed by {self.committer}"


class TouchingCommit(Struct, frozen=True):
    """A commit that changed a file.

    Attributes:
        commit: Its full id.
        date: ISO 8601 in UTC.
        parents: On each line of history before it, the next commit that changed the file.
    """

    commit: str
    date: str
    parents: tuple[str, ...]


def read_touching(output: bytes) -> tuple[TouchingCommit, ...]:
    """Return the commits of `git rev-list --timestamp --parents`."""
    lines = (line.split(" ") for line in output.decode("ascii", "replace").splitlines())
    # Each committer has a time zone of their own; in one, dates sort as they are written.
    return tuple(TouchingCommit(commit, moment_of(int(seconds)), tuple(parents)) for seconds, commit, *parents in lines)


def read_commit(data: bytes) -> CommitFacts:
    """Return the facts of a commit object; what is missing or malformed is empty."""
    head, _, message = data[:65_536].partition(b"\n\n")
    lines = head.decode("utf-8", "replace").split("\n")
    first = message.decode("utf-8", "replace").strip().partition("\n")[0]
    parents = sum(line.startswith("parent ") for line in lines)
    return CommitFacts(_name(lines, "author"), _name(lines, "committer"), first.strip()[:_LONGEST], parents)


def _name(lines: Iterable[str], role: str) -> str:
    """Return the name of author or committer in the head of a commit object; "" without one."""
    line = next((line for line in lines if line.startswith(f"{role} ")), "")
    return line.removeprefix(f"{role} ").partition(" <")[0].strip()[:_LONGEST]


class BlamedLine(Struct, frozen=True):
    """A line of a file and its commit.

    Attributes:
        commit: Its full id; "" for a line that is not committed.
        date: Time of the commit, ISO 8601 in UTC.
        is_boundary: True if git finds no parent of the commit: it has none, or the clone lacks them.
    """

    line: int
    commit: str
    date: str
    is_boundary: bool


def read_blame(output: bytes) -> tuple[BlamedLine, ...]:
    """Return the lines of `git blame --porcelain`, which describes each commit once, at its first line."""
    found: list[tuple[int, str]] = []
    seconds: dict[str, int] = {}
    boundaries: set[str] = set()
    commit = ""
    for text in output.decode("utf-8", "replace").split("\n"):
        if text.startswith("\t"):
            continue
        if match := _BLAMED.match(text):
            commit = match["commit"]
            found.append((int(match["line"]), commit))
        elif text.startswith("committer-time "):
            number = text.removeprefix("committer-time ")
            seconds[commit] = int(number) if number.isdecimal() and len(number) < _MOST_DIGITS else 0
        elif text == "boundary":
            boundaries.add(commit)
    return tuple(
        BlamedLine(line, named, moment_of(seconds.get(commit, 0)), commit in boundaries)
        for line, commit in found
        for named in (commit if commit.strip("0") else "",)
    )


def moment_of(seconds: int) -> str:
    """Return a time of git, in seconds since the epoch, as ISO 8601 in UTC; "" if it is out of range."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return ""  # The author of a commit can write any number into it.
