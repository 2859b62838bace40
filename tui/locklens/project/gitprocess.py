"""Starting git: its path, environment and options, and its answers and failures.

A repository under review is not trusted: nothing of its own configuration may start a program, and nothing is fetched
but by `locklens.project.gitfetch`. The questions are left to `locklens.project.git`, which only reads, and
`locklens.project.gitindex`.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import NoRepositoryError, RepositoryError, UnreadableObjectError
from locklens.programs import find_program, safe_environment
from locklens.text import visible

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator, Mapping

LEAST_VERSION = (2, 31)
"""The first git that takes configuration from its environment, which is how programs are switched off."""

MAX_ENTRIES = 1_000_000
"""Files and folders of one listing. The largest public repositories have half a million."""

MAX_LISTING_BYTES = 128 * 1024 * 1024
"""Of one listing."""

MAX_RECORD_BYTES = 64 * 1024
"""Of one entry of a listing: no system has longer paths."""

MAX_GIT_OUTPUT_BYTES = 16 * 1024 * 1024
"""Of any other answer: a few lines, or the names of settings."""

_READING_OBJECTS = frozenset({"diff", "diff-index", "ls-files", "ls-tree", "rev-list"})
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
    raise NoRepositoryError(
        "git is not installed, or not on PATH", hint="install git, or compare two files with --old FILE --new FILE"
    )


@cache
def _require_version(executable: str) -> None:
    """Ask git for its version, once in a process.

    Raises:
        RepositoryError: It is older than LEAST_VERSION, or does not say.
    """
    import re

    answer = GitCommand(executable, os.path.dirname(executable), git_environment(os.sep)).answer("version")  # noqa: PTH120
    text = answer.decode("ascii", "replace").strip()
    hint = "install a newer git, or compare two files with --old FILE --new FILE"
    found = re.match(r"git version ((\d+)\.(\d+)\S*)", text)
    if found is None:
        raise RepositoryError(f"the version of {executable} is unknown", hint=hint)
    if (int(found[2]), int(found[3])) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        why = "older ones run programs that the configuration of the reviewed repository names"
        raise RepositoryError(f"{executable} is git {found[1]}, and locklens needs {least} or newer: {why}", hint=hint)


def git_environment(folder: str) -> dict[str, str]:
    """Return the environment for git: answers in English, nothing is written, fetched or asked.

    Args:
        folder: What relative paths in `GIT_DIR` and the like are relative to.
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
        self,
        *arguments: str,
        settings: Mapping[str, str] | None = None,
        given: bytes = b"",
        by_patterns: bool = False,
        seconds: float | None = None,
        file_bytes: int = 0,
    ) -> tuple[int, bytes, str]:
        """Run git once.

        Args:
            arguments: Subcommand and its arguments.
            settings: Configuration that overrides the repository's.
            given: Standard input.
            by_patterns: True if git matches paths against the repository's patterns; see `PATTERN_SECONDS`.
            seconds: That it may take; None for TIMEOUT.
            file_bytes: Of the largest file that it may write; 0 for any.

        Returns:
            Exit status, standard output, standard error.

        Raises:
            RepositoryError: Git cannot be started, takes longer than it may, or prints more than MAX_ANSWER_BYTES.
        """
        from locklens.project.gitrun import TIMEOUT, Run

        environment = with_settings(self.environment, settings) if settings else self.environment
        output = bytearray()
        with Run(
            self.command_line(*arguments),
            self.folder,
            environment,
            given,
            by_patterns=by_patterns,
            seconds=TIMEOUT if seconds is None else seconds,
            file_bytes=file_bytes,
        ) as run:
            while data := run.read():
                output += data
                if len(output) > MAX_GIT_OUTPUT_BYTES:
                    words = f"printed more than {MAX_GIT_OUTPUT_BYTES // 1024**2} MiB, and was ended"
                    raise RepositoryError(f'"git {arguments[0]}" {words}')
            status, complaint = run.ended()
        return status, bytes(output), complaint

    def answer(
        self,
        *arguments: str,
        settings: Mapping[str, str] | None = None,
        given: bytes = b"",
        by_patterns: bool = False,
    ) -> bytes:
        """Return the standard output of git.

        Raises:
            RepositoryError: As `ask`, or git failed; with git's own reason.
        """
        status, output, complaint = self.ask(*arguments, settings=settings, given=given, by_patterns=by_patterns)
        if status != 0:
            raise _failure(arguments[0], complaint)
        return output

    def records(
        self,
        *arguments: str,
        subject: str,
        by_patterns: bool = False,
        warned: Callable[[str], None] = lambda _: None,
    ) -> Generator[str]:
        """Yield what git lists, each record ended by NUL, while it lists.

        Bytes that are no UTF-8 survive as surrogates. Close the iterator where it is left early: that ends git.

        Args:
            arguments: Subcommand and its arguments.
            subject: The noun for messages.
            by_patterns: As of `ask`.
            warned: Called at the end with the first of what git says on standard error, though it ends well.

        Raises:
            RepositoryError: As `answer`, or the listing is beyond MAX_ENTRIES, MAX_LISTING_BYTES or MAX_RECORD_BYTES.
        """
        from locklens.project.gitrun import Run

        rest = b""
        number = size = 0
        with Run(self.command_line(*arguments), self.folder, self.environment, b"", by_patterns=by_patterns) as run:
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
                    yield one.decode("utf-8", "surrogateescape")
            status, complaint = run.ended()
        if status != 0:
            raise _failure(arguments[0], complaint)
        warned(complaint)

    def start(self, *arguments: str, stderr: int, process_group: int | None = None) -> subprocess.Popen[bytes]:
        """Start git with pipes for its input and output; see `locklens.project.gitrun.start`."""
        from locklens.project import gitrun

        return gitrun.start(
            self.command_line(*arguments), self.folder, self.environment, stderr=stderr, process_group=process_group
        )

    def command_line(self, *arguments: str) -> list[str]:
        """Return git with the options that each call has."""
        return [self.executable, *_SAFE_OPTIONS, *arguments]


_HUGE = "trees that repeat each other can expand without end: inspect them with git ls-tree REVISION"
