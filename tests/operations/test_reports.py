"""The table of reports is the only list of them: the command line and the screens offer what it names."""

from __future__ import annotations

import jsonschema
import pytest
from kit.pages import table

from locklens.cli.commands import COMMANDS, read_options
from locklens.errors import UsageError
from locklens.operations.reports import REPORTS, Report, formats_of, load, render_report, report_schema
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.views import VIEWS, View

OPERANDS = {"why": ["aws"], "upgrade": ["--list"]}


@pytest.mark.parametrize(("view", "form"), REPORTS)
def test_every_report_has_its_renderer(view: str, form: str) -> None:
    assert callable(load(REPORTS[view, form].renderer))
    if form == "json":
        schema = report_schema(view)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["title"] == f"locklens {view}, schema 1"


def choices(command: str) -> list[str]:
    """What --format of a command accepts; a command without reports has an option of another kind, or none."""
    return [
        str(choice)
        for action in COMMANDS[command].parser().actions()
        if "--format" in action.option_strings
        for choice in action.choices or ()
    ]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "policy"])
def test_a_command_offers_the_formats_of_its_view(command: str) -> None:
    expected = formats_of("review" if command == "demo" else command)
    assert [form for form in choices(command) if form != "tui"] == list(expected)


@pytest.mark.parametrize(("view", "form"), [(view, form) for view in ("hashes", "keys", "why") for form in ("sarif",)])
def test_a_format_of_another_view_is_refused_with_those_that_there_are(view: str, form: str) -> None:
    with pytest.raises(UsageError) as error:
        read_options(view, [*OPERANDS.get(view, []), "--format", form], [])
    for known in formats_of(view):
        assert known in str(error.value)


def test_the_pages_list_the_formats_of_a_review() -> None:
    listed = [name.strip("`") for name, _ in table("| `review --format` | is |")]
    assert listed == list(formats_of("review"))


def test_every_view_with_a_screen_has_reports() -> None:
    for view in VIEWS:
        assert bool(formats_of(view.name)) == bool(view.screen)


def test_a_report_gets_the_facts_that_it_heeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REPORTS, ("review", "upper"), Report("upper", "txt", "builtins:dict", ("a", "b")))
    assert str(render_report("review", "upper", (("subject", 1),), a=2, c=3)) == "{'subject': 1, 'a': 2}"


@pytest.mark.parametrize("view", [view for view in VIEWS if view.name], ids=lambda view: view.name)
def test_a_view_names_its_screen_and_its_contents(view: View) -> None:
    screen = load(view.screen)
    assert isinstance(screen, type)
    assert issubclass(screen, TwoPaneScreen)
    assert view == screen.VIEW
    assert view.about
