"""Git's objects, read through one long-lived `git cat-file --batch`."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, LockLensError, UnreadableObjectError
from locklens.project.tree import MAX_FILE_BYTES

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable

    from locklens.project.gitprocess import GitCommand

_NAMES_AT_ONCE = 32
"""Names that are written before answers are read: were there more, git and locklens could wait for each other."""

_NAME_BYTES_AT_ONCE = 2048
"""The smallest pipe of any system takes more."""


class FoundObject(Struct, frozen=True):
    """The object that a name stands for.

    Attributes:
        object_id: "" where nothing was found.
        kind: "blob", "commit", "tree", "tag"; "" where nothing was found: git says the same of a name that stands for
            nothing and of one whose object is lost.
        data: None where nothing was found or it could not be read.
        problem: Why it could not be read: it is too large (`ConfigurationError`), or `UnreadableObjectError`.
    """

    object_id: str = ""
    kind: str = ""
    data: bytes | None = None
    problem: LockLensError | None = None


class _Answers:
    """The objects read, as far as there is room for them."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.by_name: dict[str, FoundObject] = {}

    def add(self, name: str, found: FoundObject) -> None:
        self.room -= len(found.data or b"")
        if self.room >= 0:
            self.by_name[name] = found


class ObjectReader:
    """One `git cat-file --batch`, started at the first question, ended with the reader. Safe between threads."""

    def __init__(self, command: GitCommand) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] | None = None

    def read(self, names: Iterable[str], *, room: int = sys.maxsize) -> dict[str, FoundObject]:
        """Return what each name (object id, revision, REVISION:PATH; without line breaks) stands for.

        After a failure of git itself, e.g. at an object that a partial clone lacks, the other names are left out; the
        one that failed carries the problem.

        Args:
            names: What is asked for.
            room: Bytes of all answers together: names whose bytes do not fit are left out.
        """
        found = _Answers(room)
        with self._lock:
            try:
                for portion in _portions(names):
                    if not self._read_portion(portion, found) or found.room <= 0:
                        break
            except BaseException:
                # The answers that are still to come would be taken for those of the next question.
                self._stop()
                raise
        return found.by_name

    def close(self) -> None:
        """End the process; a later question starts another."""
        with self._lock:
            self._stop()

    def _read_portion(self, names: list[str], found: _Answers) -> bool:
        """Ask for a few names; False where git failed."""
        from locklens.project.gitrun import TIMEOUT

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
                found.add(asking, _read_answer(process.stdout.readline, process.stdout.read))
        except (OSError, ValueError, EOFError) as error:
            self._stop()
            if isinstance(error, _TooLargeError):
                found.add(asking, FoundObject(problem=ConfigurationError(str(error))))
                rest = names[names.index(asking) + 1 :]
                return not rest or self._read_portion(rest, found)
            words = "git stopped while reading it: it is damaged, or missing from this clone"
            found.add(asking, FoundObject(problem=UnreadableObjectError(words)))
            return False
        finally:
            watchdog.cancel()
        return True

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        import subprocess
        import weakref

        from locklens.project.gitrun import uninterrupted

        self._stop()
        with uninterrupted():
            # Out of reach of Ctrl-C, which would end it between two questions of a run that goes on.
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


def _portions(names: Iterable[str]) -> Iterable[list[str]]:
    """Split names into lists that fit into a pipe; one that is longer by itself is alone, with no answer pending."""
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
    """Read one answer: `OBJECT KIND SIZE`, the bytes and a line break; or one line that says what is wrong."""
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
    """End `cat-file`, which only reads, so that nothing is lost wherever it is."""
    import contextlib

    process.kill()
    for stream in (process.stdout, process.stdin):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()
