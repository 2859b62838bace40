"""What `init` and `lock` are to do with roots, and what became of each."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lockfile.update import Difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.workspace.found import Root
    from locklens.workspace.proposal import PlannedFile


class Readonly(StrEnum):
    """What `--lockfile` asks for."""

    NO = ""
    STRICT = "readonly"
    LENIENT = "readonly-lenient"


class Trouble(Struct, frozen=True):
    """Something that went wrong, or is worth a warning.

    Attributes:
        summary: A title, as the tool has it where it has one.
        words: A sentence without its full stop.
        hint: The next step, or "".
        is_warning: Whether it kept nothing from being done.
    """

    summary: str
    words: str
    hint: str = ""
    is_warning: bool = False


class Outcome(Struct, frozen=True):
    """What became of one root.

    Attributes:
        root: Its folder, as it was named.
        lock_file: Its lock file, likewise.
        tool: Whose rules held.
        is_empty: Whether there is no configuration in the folder.
        difference: Between the entries before and after, as the tools tell them apart.
        was_absent: Whether nothing was locked before.
        before: The lock file's bytes, b"" where there was none.
        after: What they are now, or would be; None where the run failed before that was known.
        planned: The lock file as it is, or would be, written; None where it stays as it is.
        is_written: Whether the file was written.
        troubles: What went wrong, and what was warned of.
        notes: What else there is to know, in sentences.
    """

    root: str
    lock_file: str
    tool: Dialect
    is_empty: bool = False
    difference: Difference = Difference.NONE
    was_absent: bool = False
    before: bytes = b""
    after: bytes | None = None
    planned: PlannedFile | None = None
    is_written: bool = False
    troubles: tuple[Trouble, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether anything went wrong."""
        return any(not one.is_warning for one in self.troubles)

    @property
    def would_change(self) -> bool:
        """Whether the lock file's bytes are, or would be, other ones."""
        return self.after is not None and self.after != self.before


class Options(Struct, frozen=True):
    """What holds for every root of a command.

    Attributes:
        folder: From which roots are named.
        environ: The tools' settings.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
        allow_missing_modules: Whether to work on the modules that are there.
        dry_run: Whether nothing is written.
    """

    folder: Path
    environ: Mapping[str, str]
    tool: Dialect | None = None
    test_directory: str = "tests"
    allow_missing_modules: bool = False
    dry_run: bool = False


def untouched(root: Root, troubles: Sequence[Trouble] = ()) -> Outcome:
    """Returns the outcome of a root in which nothing was done."""
    return Outcome(root.name, root.lock.path, root.tool, before=root.lock.data, troubles=tuple(troubles))
