"""The spelling of command lines, and help."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Sequence

import pytest
from kit.pages import PAGES, commands, spans

from locklens.cli.arguments import _VALUED, COMMANDS, UsageError, split
from locklens.cli.examples import EXAMPLES
from locklens.cli.main import _HAS_SCREEN, _RECOVERS, _RUN, main
from locklens.cli.options import _OWN, _READERS, read_options
from locklens.cli.parser import Parser
from locklens.operations.reports import load


@pytest.mark.parametrize(
    ("words", "command", "arguments", "folder"),
    [
        (["--tool", "opentofu", "lock"], "lock", ["--tool", "opentofu"], "."),
        (["-tool=opentofu", "lock", "aws"], "lock", ["--tool=opentofu", "aws"], "."),
        (["--offline", "hashes", "main"], "hashes", ["--offline", "main"], "."),
        (["--offline", "-C", "x", "why", "aws"], "why", ["--offline", "aws"], "x"),
        (["-upgrade", "init"], "init", ["--upgrade"], "."),
        (["--tool", "terraform", "providers", "lock"], "lock", ["--tool", "terraform"], "."),
        (["--output", "lock"], "review", ["--output", "lock"], "."),
        (["--format", "json", "main"], "review", ["--format", "json", "main"], "."),
        (["review", "lock"], "review", ["lock"], "."),
        (["--help"], "help", ["--help"], "."),
        (["--offline", "help"], "help", ["--offline"], "."),
    ],
)
def test_options_before_a_command_belong_to_it(
    words: list[str], command: str, arguments: list[str], folder: str
) -> None:
    found = split(words)
    assert (found.command, found.arguments, found.folder) == (command, arguments, folder)


def test_every_option_with_a_value_is_known_before_a_command() -> None:
    for command in COMMANDS:
        for action in parser_of(command)._actions:
            takes_value = action.option_strings and action.nargs is None and action.help != argparse.SUPPRESS
            if takes_value:
                word = action.option_strings[0]
                assert split([word, "lock", "hashes"]).command == "hashes", word


def test_every_command_has_its_row_in_every_table() -> None:
    """A row that names no function would only fail once its command is run."""
    assert _RUN.keys() == COMMANDS.keys() == EXAMPLES.keys() == _READERS.keys() | _OWN.keys()
    assert _READERS.keys().isdisjoint(_OWN)
    assert COMMANDS.keys() >= _HAS_SCREEN | _RECOVERS
    for path in {*_RUN.values(), *_READERS.values()}:
        assert callable(load(f"locklens.cli.{path}")), path
    for command, path in _RUN.items():
        given = list(inspect.signature(load(f"locklens.cli.{path}")).parameters)
        assert given == ["options", *["open_ui"][: command in _HAS_SCREEN]], command


def test_no_other_option_takes_the_next_word() -> None:
    """An option that left the parsers must not keep the word behind it from being a command."""
    takes_value = {
        word
        for command in COMMANDS
        for action in parser_of(command)._actions
        if action.nargs is None
        for word in action.option_strings
    }
    assert _VALUED - {"-C", "--chdir"} == takes_value - {"--var", "--var-file"}


def parser_of(command: str) -> argparse.ArgumentParser:
    made: list[argparse.ArgumentParser] = []
    parse = Parser.parse_args

    def kept(self: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
        made.append(self)
        raise UsageError("kept")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Parser, "parse_args", kept)
        with pytest.raises(UsageError, match="kept"):
            read_options(command, [], [])
    assert Parser.parse_args is parse
    return made[0]


def test_the_folder_stands_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "-C", "x"], unopened) == 2
    assert capsys.readouterr().err == "error: -C stands before the command\nhint: locklens -C DIR review\n"


def unopened(request: object, view: str) -> int:
    raise AssertionError("the terminal UI was opened")


def test_the_overview_has_options_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"], unopened) == 0
    out = capsys.readouterr().out
    for text in ("\n  -C DIR", "\n  --version", "\nexamples:\n", *COMMANDS):
        assert text in out
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"], unopened)
    out = capsys.readouterr().out
    assert "\nexamples:\n" in out
    assert f"\nlocklens -C DIR {command} ... works in another folder." in out
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line, _ in lines])
def test_every_example_can_be_read(line: str) -> None:
    import shlex

    words = shlex.split(line)
    assert words[0] == "locklens"
    found = split(words[1:])
    options = read_options(found.command, found.arguments, found.operands)
    assert isinstance(options, argparse.Namespace)


@pytest.mark.parametrize(("page", "words"), [(page, words) for page, text in PAGES.items() for words in commands(text)])
def test_every_command_line_of_the_pages_can_be_read(page: str, words: list[str]) -> None:
    if "--help" in words:
        words.remove("--help")
        assert words in ([command] for command in (*COMMANDS, "COMMAND"))
        return
    found = split(words)
    assert isinstance(read_options(found.command, found.arguments, found.operands), argparse.Namespace)


def test_every_option_on_the_pages_is_one_of_ours() -> None:
    """Named alone; those of other programs stand in lines or spans that begin with the program."""
    known = {
        option for command in COMMANDS for action in parser_of(command)._actions for option in action.option_strings
    }
    known |= {"--", "--chdir", "--version"} | {"--checkout-strategy", "--checkout-depth"}  # The latter of Atlantis.
    for page, text in PAGES.items():
        for span in spans(text):
            name = span.split("=")[0].split()[0]
            if re.fullmatch(r"--?[a-z][a-z-]+|--", name):
                assert f"--{name.lstrip('-')}" in known, (page, span)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_with_a_value_names_its_default(command: str) -> None:
    lacking = [
        action.option_strings[0]
        for action in parser_of(command)._actions
        if action.option_strings
        and action.nargs is None
        and action.help != argparse.SUPPRESS
        and "default" not in (action.help or "")
    ]
    assert lacking == []
