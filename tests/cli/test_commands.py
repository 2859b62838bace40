"""The spelling of command lines, and help."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path

import pytest
from kit.command_line import no_screen
from kit.pages import PAGES, commands, spans

import locklens.cli
from locklens.cli.commands import COMMANDS, Subcommand, read_options
from locklens.cli.main import main, split
from locklens.project.installation import MethodKind


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
    takes_value = [
        word
        for command in COMMANDS.values()
        for action in command.parser().actions()
        if action.nargs is None
        for word in action.option_strings
    ]
    for word in takes_value:
        assert split([word, "lock", "hashes"]).command == "hashes", word


def test_an_option_takes_a_value_in_all_commands_or_in_none() -> None:
    """The first parser with an option that stands before a command says whether the next word is its value."""
    kinds: dict[str, set[bool]] = {}
    for command in COMMANDS.values():
        for action in command.parser().actions():
            for word in action.option_strings if action.help != argparse.SUPPRESS else ():
                kinds.setdefault(word, set()).add(action.nargs is None)
    assert [word for word, takes_value in kinds.items() if len(takes_value) > 1] == []
    assert split(["--offline", "lock", "hashes"]).command == "lock"


def test_only_options_before_a_command_build_every_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building all of them takes longer than a small review."""
    monkeypatch.setattr(Subcommand, "parser", lambda _: pytest.fail("a parser was built"))
    for words in (["--format", "json"], ["--offline", "main"], ["hashes", "--format", "json"], ["lock", "review"]):
        split(words)


def test_every_command_has_its_functions() -> None:
    """A row whose module lacks one would only fail once its command is used."""
    for command in COMMANDS.values():
        parser = command.parser()
        run = parser.get_default("run")
        assert list(inspect.signature(run).parameters)[1:] == ["open_ui"][: command.has_screen], command.name
        assert not command.operands or command.operands in {action.dest for action in parser.actions()}, command.name


def test_the_folder_stands_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "-C", "x"], no_screen) == 2
    assert capsys.readouterr().err == "error: -C stands before the command\nhint: locklens -C DIR review\n"


def test_the_overview_has_options_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"], no_screen) == 0
    out = capsys.readouterr().out
    for text in ("\n  -C DIR", "\n  --version", "\nexamples:\n", *COMMANDS):
        assert text in out
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"], no_screen)
    out = capsys.readouterr().out
    assert "\nexamples:\n" in out
    assert f"\nlocklens -C DIR {command} ... works in another folder." in out
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("line", [line for command in COMMANDS.values() for line, _ in command.examples])
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
        option
        for command in COMMANDS
        for action in COMMANDS[command].parser().actions()
        for option in action.option_strings
    }
    known |= {"--", "--chdir", "--version"} | {"--checkout-strategy", "--checkout-depth"}  # The latter of Atlantis.
    for page, text in PAGES.items():
        for span in spans(text):
            name = span.split("=")[0].split()[0]
            if re.fullmatch(r"--?[a-z][a-z-]+|--", name):
                assert f"--{name.lstrip('-')}" in known, (page, span)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_on_a_page(command: str) -> None:
    assert any(re.search(rf"(?:`|\blocklens ){command}\b", text) for text in PAGES.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_with_a_value_names_its_default(command: str) -> None:
    lacking = [
        action.option_strings[0]
        for action in COMMANDS[command].parser().actions()
        if action.option_strings
        and action.nargs is None
        and action.help != argparse.SUPPRESS
        and "default" not in (action.help or "")
    ]
    assert lacking == []


def sources(module: str, seen: set[str]) -> str:
    """The text of a module of `cli`, and of those of `cli` that it imports."""
    if module in seen:
        return ""
    seen.add(module)
    text = (Path(locklens.cli.__file__).parent / f"{module}.py").read_text("utf-8")
    others = re.findall(r"^\s*from locklens\.cli\.(\w+) import", text, re.MULTILINE)
    return text + "".join(sources(other, seen) for other in others)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_every_option_of_a_command_is_read(command: Subcommand) -> None:
    text = sources(command.module, {"commands"}) + sources("main", {"commands"})
    named = {action.dest for action in command.parser().actions() if action.help != argparse.SUPPRESS}
    ignored = {name for name in named if not re.search(rf'options\.{name}\b|options, "{name}"', text)}
    mirrors = {kind.option.removeprefix("--").replace("-", "_") for kind in MethodKind if kind.option}
    assert ignored <= {"help", *mirrors}  # Those of mirrors are read by the table of their kinds.
