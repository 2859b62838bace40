"""The table of reports is the only list of them: the command line and the screens offer what it names."""

from __future__ import annotations

import tracemalloc

import jsonschema
import pytest
from kit.judging import root_of
from kit.pages import table
from msgspec.structs import replace

from locklens.cli.commands import COMMANDS, read_options
from locklens.errors import UsageError
from locklens.lockfile.parse import parse
from locklens.operations.reports import REPORTS, Report, formats_of, load, render_report, report_pages, report_schema
from locklens.review.changes import Comparer
from locklens.review.model import Review, SideName
from locklens.review.reports.documents import Each
from locklens.text import json_text, size_words
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
    (piece,) = report_pages("review", "upper", (("subject", 1),), a=2, c=3)
    assert str(piece) == "{'subject': 1, 'a': 2}"


def review_of(roots: int) -> Review:
    """A review of so many roots with the same change."""
    entry = 'provider "registry.example.com/acme/demo" {{\n  version = "{}"\n  hashes = [\n{}  ]\n}}\n'
    hashes = "".join(f'    "zh:{number:064x}",\n' for number in range(20))
    locks = (parse(entry.format(version, hashes).encode(), "lock") for version in ("1.0.0", "2.0.0"))
    root, side = root_of(*Comparer().compare(*locks)), SideName("git", "HEAD", None)
    made = tuple(replace(root, path=f"live/##{number}") for number in range(roots))
    return Review("2026-01-01T00:00:00Z", True, (), side, side, made, roots)


@pytest.mark.parametrize("view", ["review", "hashes"])
@pytest.mark.parametrize("roots", [0, 1, 3])
def test_a_document_in_pieces_has_the_bytes_of_the_whole(view: str, roots: int) -> None:
    review = review_of(roots)
    document = load(REPORTS[view, "json"].renderer).of(review)
    values = {name: getattr(document, name) for name in document.__struct_fields__}
    whole = replace(document, **{name: [*value] for name, value in values.items() if isinstance(value, Each)})
    assert "".join(report_pages(view, "json", review)) == render_report(view, "json", review) == json_text(whole)


def test_a_document_of_many_roots_is_never_held_whole() -> None:
    review = review_of(500)
    size = 0
    tracemalloc.start()
    for piece in report_pages("review", "json", review):
        size += len(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 1 << 20
    assert peak < size / 4, f"{size_words(peak)} for a document of {size_words(size)}"


@pytest.mark.parametrize("view", [view for view in VIEWS if view.name], ids=lambda view: view.name)
def test_a_view_names_its_screen_and_its_contents(view: View) -> None:
    screen = load(view.screen)
    assert isinstance(screen, type)
    assert issubclass(screen, TwoPaneScreen)
    assert view == screen.VIEW
    assert view.about
