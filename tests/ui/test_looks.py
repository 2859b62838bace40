"""What can be seen at all sizes, in both themes, without colour, with hostile text, and with a lot of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from textual.color import Color
from ui.conftest import ServingSource, until

from locklens.addresses import ProviderAddress
from locklens.lines import Role, Span, line
from locklens.review.findings import Severity
from locklens.review.model import Evidence, SideName, Unverified
from locklens.ui import app
from locklens.ui.app import THEMES
from locklens.ui.hashes.detail import hashes_status
from locklens.ui.review.frame import StatusFacts, review_status
from locklens.ui.review.outline import Grouping
from locklens.ui.widgets import _role_styles, strip_of, wrapped

if TYPE_CHECKING:
    from textual.theme import Theme
    from ui.conftest import Running, Samples

    from locklens.review.model import Review
    from locklens.ui.widgets import BarLayout

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "[bold red]markup[/bold red]",
    "[/]",
    "[@click=app.quit]x[/]",
    "$foreground",
    "\u202egnp.exe\u202c",
    "two\nlines\r\n",
    "tab\there",
    "x" * 500,
    "日本語" * 40,
    "e\u0301\u200b\u2066",
    "\\[",
)


async def test_every_size_holds(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        for size in ((80, 24), (100, 30), (120, 32), (200, 60), (40, 12), (20, 6)):
            await on.resize(size)
            await on.press("g", "j", "j", "enter")
            assert all(len(text) <= size[0] for text in on.lines)
            await on.press("escape", "x", "question_mark", "escape", "d", "escape")
            assert on.changes.has_focus


async def test_one_pane_below_120_columns(samples: Samples, running: Running) -> None:
    async with running(samples.full(), size=(119, 24)) as on:
        assert on.changes.display
        assert not on.detail.region
        await on.press("j", "enter")
        assert not on.changes.region
        assert "registry.terraform.io/acme/demo" in on.lines[2]
        await on.press("q")
        assert on.changes.region
        assert on.changes.has_focus
        await on.pilot.resize_terminal(120, 30)
        await on.pilot.pause()
        assert on.changes.region
        assert on.detail.region


async def test_the_review_is_pictured(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j")
        for size in ((80, 24), (100, 30), (140, 45), (200, 60)):
            await on.resize(size)
            on.is_pictured("review")


async def test_a_message_is_shown_whole_and_no_name_is_cut_in_a_word(samples: Samples, running: Running) -> None:
    message = "lock: the registry did not answer, so that nothing can be added; check the connection, r asks again " * 2
    async with running(samples.full()) as on:
        for width in (80, 100, 119, 120, 121, 140):
            await on.resize((width, 30))
            await on.press("g")
            for name in ("acme/demo", "acme/netbox", "datadog/datadog", "hashicorp/azurerm", "hashicorp/template"):
                kind = name.rpartition("/")[2]
                assert any(f" {name} " in text or f" …/{kind} " in text for text in on.lines), (name, on.text)
            await on.press("G")
            on.screen.say(message)
            await on.pilot.pause()
            status = on.screen.query_one("#status").region
            shown = " ".join(text.strip() for text in on.lines[status.y : status.bottom])
            assert shown == message.strip()
            assert any(text.startswith(">") for text in on.lines), "the row that it is about stays in sight"
            on.screen.say("")
            await on.pilot.pause()
            assert on.screen.query_one("#status").region.height == 1


def hostile_review(samples: Samples) -> Review:
    roots = []
    for number, text in enumerate(HOSTILE):
        findings = (samples.finding("LK003", Severity.WARN, text, file=text),)
        change = replace(
            samples.change(constraints=(text, text + "!"), findings=findings, salt=str(number)),
            address=ProviderAddress(f"{text}.example", text, text),
            group=str(number),
        )
        roots.append(
            samples.root(
                f"root/{text}", [change], findings=findings, configuration=samples.configuration(missing=(text,))
            )
        )
    review = samples.review(*roots)
    return replace(review, base=SideName("git", HOSTILE[0], None), head=SideName("git", HOSTILE[1], None))


async def test_hostile_text_is_shown_as_it_is_written(samples: Samples, running: Running) -> None:
    async with running(hostile_review(samples), size=(160, 50)) as on:
        seen = ""
        for _ in range(len(on.changes.rows)):
            await on.press("j")
            lines = on.lines
            seen += "\n".join(lines)
            assert all(text.isprintable() for text in lines)
        await on.press("x", "d", "escape", "w", "escape", "y", "b", "b", "slash", *"[bold]", "escape")
        assert all(text.isprintable() for text in on.lines)
        assert "[bold red]markup[/bold red]" in seen
        assert "\\x1b[31mred" in seen
        assert "\\u202egnp.exe" in seen
        assert "two\\x0alines" in seen
        assert "[@click=app.quit]x[/]" in seen


async def test_hostile_toasts(samples: Samples, running: Running) -> None:
    from locklens.ui.phrases import changed_on_disk

    async with running(samples.full()) as on:
        on.screen.notify(changed_on_disk(("[bold]x[/]",)), markup=False)
        on.screen.say("[bold]said[/]")
        await until(on, lambda: "[bold]x[/] changed on disk" in on.text)
        assert "[bold]said[/]" in on.text


def contrast(first: Color, second: Color) -> float:
    def luminance(color: Color) -> float:
        parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_each_role_has_its_colour_in_both_themes() -> None:
    assert all(_role_styles(theme).keys() == set(Role) for theme in THEMES)
    first, *others = THEMES
    assert all(theme.variables.keys() == first.variables.keys() for theme in others)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_all_text_can_be_read_on_all_grounds(theme: Theme) -> None:
    """Texts have the colours of the roles and those of the style sheet; a frame or a scroll bar is no text."""
    colours = {**vars(theme), **theme.variables}
    sheet = Path(app.__file__).with_name("app.tcss").read_text("utf-8")
    of_sheet = re.compile(r"(?<![-\w])(color|background): (?:\$([\w-]+)|\S)")
    named = {(kind, name) for kind, name in of_sheet.findall(sheet)}
    assert all(name for _, name in named), "colours come from the theme's variables alone"
    texts = {style.color.name for style in _role_styles(theme).values() if style.color is not None}
    texts |= {colours[name] for kind, name in named if kind == "color"}
    grounds = {colours[name] for kind, name in named if kind == "background"}
    grounds |= {colours["cursor-line"], colours["cursor-line-unfocused"]}
    assert len(texts) >= 7
    assert len(grounds) == 5
    for ground in grounds:
        for text in texts:
            assert contrast(Color.parse(ground), Color.parse(text)) >= 4.5, (ground, text)


async def test_without_colour_words_and_signs_say_it_all(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(samples.full()) as on:
        await on.press("j", "space")
        assert on.app.no_color
        assert "> " in on.lines[4][:4]
        assert "✓ BLOCK !! acme/demo" in on.lines[4]


async def test_light_and_dark_say_the_same(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        dark = on.text
        on.app.theme = "locklens-light"
        await on.pilot.pause()
        assert on.text == dark


def test_a_long_word_stays_beside_the_sign_of_a_diff() -> None:
    rows = ["".join(span.text for span in piece) for piece in wrapped(line(f'+    "zh:{"a" * 64}",'), 70)]
    assert rows == [f'+    "zh:{"a" * 61}', 'aaa",']
    words = ["".join(span.text for span in piece) for piece in wrapped(line("a short sentence", hanging=2), 10)]
    assert words == ["a short ", "  sentence"]


def test_wrapping_keeps_every_character() -> None:
    whole = line(Span("  "), Span("one two ", Role.DIM), Span("y" * 50), Span(" 日本語日本語日本語 end"), hanging=4)
    for width in range(5, 80):
        painted = wrapped(whole, width)
        text = "".join(span.text for spans in painted for span in spans)
        assert text.replace(" ", "") == whole.text.replace(" ", ""), width
        for spans in painted:
            assert sum(len(span.text) + sum(ord(one) > 0x2E80 for one in span.text) for span in spans) <= max(width, 6)


async def test_200_roots_are_there_before_all_is_read_and_keys_answer(samples: Samples, running: Running) -> None:
    async with running(samples.many(200), size=(120, 40), settled=False) as on:
        await until(on, lambda: bool(on.changes.rows))
        assert len(on.changes.rows) == 803
        await on.settle()
        for key in ("j", "G", "space", "b", "n", "k"):
            before = on.text
            await on.press(key)
            assert on.text != before, key


async def test_without_colours_the_cursor_of_a_text_is_underlined(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(samples.full()) as on:
        await on.press("j", "enter")
        view = on.detail
        row = next(number for number in range(view.size.height) if view._painted[number][0] == view.cursor)
        styles = [segment.style for segment in view.render_line(row) if segment.text.strip()]
        assert styles
        assert all(style is not None and style.underline for style in styles)
        others = [segment.style for segment in view.render_line(row + 2) if segment.text.strip()]
        assert not any(style is not None and style.underline for style in others)


async def test_without_colours_nothing_is_painted_in_any(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(samples.full(), size=(120, 12)) as on:
        assert on.changes.show_vertical_scrollbar
        for keys in ((), ("j", "enter"), ("question_mark",), ("escape", "colon")):
            await on.press(*keys)
            painted = [segment for strip in on.app.screen._compositor.render_strips() for segment in strip]
            styles = [one.style for one in painted if one.style is not None]
            assert any(style.bold for style in styles)
            assert not any(style.color or style.bgcolor for style in styles), keys
        assert any(style.reverse for style in styles), "the highlighted command"


async def test_without_colours_a_finding_is_not_fainter_than_plain_text(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(samples.full()) as on:
        plain, block = (
            strip_of([Span("x", role)], on.detail, width=1)._segments[0].style for role in (Role.PLAIN, Role.BLOCK)
        )
        assert plain is not None
        assert block is not None
        assert (block.color, block.bold) == (plain.color, True)


@pytest.mark.parametrize("height", [15, 24, 32, 50])
async def test_dialogs_show_their_keys_whatever_the_height(samples: Samples, running: Running, height: int) -> None:
    async with running(samples.full(), size=(80, height)) as on:
        await on.press("question_mark")
        assert "esc q close" in on.text
        await on.press("escape", "j", "w")
        await on.settle()
        assert "r reload" in on.text


def test_the_status_line_says_what_is_unverified(samples: Samples) -> None:
    finding = samples.finding("LK003", Severity.WARN)
    change = replace(samples.change(findings=(finding,)), evidence=Evidence(unverified=Unverified.OFFLINE))
    review = replace(samples.review(samples.root("infra", [change])), offline=True)
    layouts = review_status(StatusFacts(review, frozenset(), None, Grouping.ROOT, "", "block"))
    whole, _, _, *fewer = layouts
    shown = text_of(whole)
    assert shown.startswith(" not all checked: exit 0 at --fail-on block, 1 at warn (1) | 0 of 1 reviewed | ")
    assert shown.endswith(" | 4 of 4 added hashes not verified | offline")
    assert all(piece.role is not Role.GOOD for piece in whole.left), "nothing is green that was not verified"
    assert [text_of(one) for one in fewer] == [
        " exit 0 at block | 4 not verified | offline",
        " exit 0 at block | 4 not verified",
        " exit 0 at block",
    ]
    (first, *_) = hashes_status(review, None, marked=0, is_narrowed=False, is_asking=False)
    assert "verdict warn: 4 of 4 added hashes not verified | offline" in text_of(first)
    (first, *_) = hashes_status(review, None, marked=0, is_narrowed=False, is_asking=True)
    assert text_of(first) == " 4 of 4 added hashes not verified so far | offline", "no verdict before all is known"


def text_of(layout: BarLayout) -> str:
    return "".join(piece.text for piece in layout.left)


@pytest.mark.parametrize(
    ("size", "words"), [((80, 24), "q quit"), ((160, 45), "nothing of yours is touched"), ((30, 10), "?")]
)
async def test_the_sample_says_that_it_is_one(
    samples: Samples, running: Running, size: tuple[int, int], words: str
) -> None:
    source = ServingSource(samples.full())
    source.request = replace(source.request, is_demo=True)
    async with running(source, size=size) as on:
        assert words in on.lines[2]
        await on.press("question_mark", "escape")
        assert words in on.lines[2]
    async with running(samples.full(), size=size) as on:
        assert words not in on.lines[2]
