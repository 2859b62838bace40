"""Splits a command line, and runs its command: results on stdout, everything else on stderr, and an exit status."""

from __future__ import annotations

from locklens.cli import FINDINGS, INTERRUPTED, UNUSABLE, complain, forget_output, put, tell
from locklens.cli.commands import COMMANDS, Subcommand, overview, read_options, with_two_dashes
from locklens.errors import ConfigurationError, ExhaustedError, LockLensError, RunCancelledError, UsageError
from locklens.machine import current_folder, work_in
from locklens.text import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from locklens.cli.review import OpenUi


def main(argv: Sequence[str], open_ui: OpenUi) -> int:
    """Run one command line, given after the program's name, and return the exit status."""
    try:
        return _run(argv, open_ui)
    except RunCancelledError as error:
        tell([f"error: {error}"])
        return INTERRUPTED
    except KeyboardInterrupt:
        tell(["error: interrupted"])
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has exited: no message can reach it.
        forget_output()
        return FINDINGS
    except LockLensError as error:
        complain(error)
        return UNUSABLE
    except (MemoryError, RecursionError) as error:
        complain(ExhaustedError(error))
        return UNUSABLE


def _run(argv: Sequence[str], open_ui: OpenUi) -> int:
    invocation = split(argv)
    if invocation.arguments[:1] == ["--version"]:
        from locklens.cli.about import print_version

        return print_version()
    if invocation.command == "help":
        return put(page(overview()))
    _work_in(invocation.folder)
    options = read_options(invocation.command, invocation.arguments, invocation.operands)
    return _run_command(COMMANDS[invocation.command], options, open_ui)


def _run_command(command: Subcommand, options: Namespace, open_ui: OpenUi) -> int:
    from locklens.cli.interrupts import interruptible
    from locklens.cli.options import expand_roots

    expand_roots(options)
    with interruptible():
        if command.recovers:
            _recover(getattr(options, "root", []))
        status: int = options.run(options, open_ui) if command.has_screen else options.run(options)
        return status


def _recover(roots: Sequence[str]) -> None:
    """Complete or revert interrupted writes, here and in the named roots, and report them."""
    from pathlib import Path

    from locklens.operations.write.recover import recover_at

    for folder in dict.fromkeys([".", *roots]):
        tell(f"note: {words}" for words in recover_at(Path(folder)))


def _work_in(folder: str) -> None:
    """Make the folder of `-C` the current one."""
    try:
        work_in(folder)
    except OSError as error:
        raise ConfigurationError(f"cannot work in {folder}: {error.strerror}") from error
    try:
        current_folder()
    except OSError as error:
        raise ConfigurationError("the current folder no longer exists", hint="change to an existing one") from error


_SPELLINGS = COMMANDS | {command.tools_name: command for command in COMMANDS.values() if command.tools_name}
"""The commands by their names and those of the real tools' commands."""

_FIRST_WORDS = frozenset(name.partition(" ")[0] for name in _SPELLINGS) | {"help"}


class Invocation:
    """A command line, split.

    Attributes:
        folder: The folder to work in.
        arguments: The words for the command, with long options in their double-dash form.
    """

    def __init__(self, folder: str, command: str, arguments: list[str], operands: list[str]) -> None:
        self.folder = folder
        self.command = command
        self.arguments = arguments
        self.operands = operands


def split(argv: Sequence[str]) -> Invocation:
    """Split a command line.

    Raises:
        UsageError: There is no such command, or `-C` has no folder or comes after the command.
    """
    words = list(argv)
    operands: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, operands = words[:at], words[at + 1 :]
    words = list(map(with_two_dashes, words))
    folder, options, words = _leading_options(words)
    if words and (not options or words[0] in _FIRST_WORDS):
        command, words = _named(words)
    else:
        command = "help" if options[:1] in (["-h"], ["--help"]) else "review"
    for word in words:
        if word == "-C" or word.partition("=")[0] == "--chdir":
            raise UsageError(f"{word} stands before the command", hint=f"locklens -C DIR {command}")
    return Invocation(folder, command, [*options, *words], operands)


def _leading_options(words: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the folder of `-C`, the options before the first other word, which belong to the command, and the rest."""
    folder, options = ".", []
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in {"-C", "--chdir"}:
            if not words:
                raise UsageError(f"{word} needs a folder")
            folder = words.pop(0)
        elif word.startswith("--chdir="):
            folder = word.partition("=")[2]
        else:
            options.append(word)
            if _takes_next(word, words):
                options.append(words.pop(0))
    return folder, options, words


def _takes_next(option: str, words: Sequence[str]) -> bool:
    """True if the first word after an option is its value, even if it reads like a command.

    The first parser with the option says so: it means the same in all. They are asked only where a command or -C may
    follow, the likely ones first: building all of them takes longer than a small review.
    """
    if not words or words[0].startswith("-") or not any(map(_ends_options, words)):
        return False
    for command in sorted(COMMANDS.values(), key=lambda command: command.name not in {"review", words[0]}):
        for action in command.parser().actions():
            if option in action.option_strings:
                return action.nargs is None
    return False


def _ends_options(word: str) -> bool:
    return word in _FIRST_WORDS or word.startswith(("-C", "--chdir"))


def _named(words: list[str]) -> tuple[str, list[str]]:
    """Return the name of the command at the beginning, in one word or two, and the words after it."""
    for count in (2, 1):
        command = _SPELLINGS.get(" ".join(words[:count]))
        if command is not None:
            return command.name, words[count:]
    if words[0] != "help":
        raise UsageError(_unknown(words[0]), hint="see locklens --help")
    return "help", words[1:]


_OTHER_WORDS = {"pin": "keys trust", "trust": "keys trust", "unpin": "keys drop", "fmt": "format", "diff": "review"}
"""Commands by words that people type for them."""


def _unknown(command: str) -> str:
    import difflib

    near = [_OTHER_WORDS.get(command, ""), *difflib.get_close_matches(command, COMMANDS, 1)]
    meant = next(filter(None, near), "")
    return f"unknown command {command!r}" + (f"; did you mean {meant!r}?" if meant else "")
