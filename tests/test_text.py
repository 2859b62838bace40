"""Text at the edge: printable whatever goes in, one line for each line, and exact where a shell or JSON reads it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locklens.lines import Role, Span, line
from locklens.review import HashFact
from locklens.text import (
    _COLOURS,
    clauses,
    counted,
    has_log_command,
    json_text,
    listing,
    one_line,
    page,
    plain_json,
    reason_of,
    shell_word,
    size_words,
    visible,
)

SOURCES = Path(__file__).parent.parent / "tui/locklens"
IGNORABLE = "\u034f\u115f\u1160\u17b4\u180b\ufe0f\u3164\uffa0\U000e0100\u2800"

TEXTS = st.text(st.characters(exclude_categories=()))
"""With lone surrogates."""


def is_plain(text: str) -> bool:
    return all(one == " " or unicodedata.category(one)[0] not in "CZ" for one in text) and not set(text) & set(
        IGNORABLE
    )


@given(TEXTS)
def test_what_is_visible_is_printable_and_stays_so(text: str) -> None:
    shown = visible(text)
    assert is_plain(shown)
    assert visible(shown) == shown
    shown.encode()


@pytest.mark.parametrize(
    "one", ["\n", "\r", "\x1b", "\x7f", "\x85", "\x9b", "\u200b", "\u2028", "\u202e", "\ud800", *IGNORABLE]
)
def test_what_is_not_seen_is_an_escape(one: str) -> None:
    assert (
        visible(f"a{one}b")
        == f"a{ascii(one)[1:-1] if one != chr(10) and one != chr(13) else f'{chr(92)}x{ord(one):02x}'}b"
    )


def test_what_is_seen_stays() -> None:
    text = 'aé漢字😀 "quoted" \\ … e\u0301'
    assert visible(text) == text


@given(st.lists(TEXTS), st.booleans())
def test_a_page_has_a_line_for_each_line(lines: list[str], colour: bool) -> None:
    shown = page(lines, colour=colour)
    assert shown.count("\n") == len(lines)
    assert all(is_plain(line) and not has_log_command(line) for line in shown.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        "::error::x",
        "  ::error file=a,line=1::x",
        "##[error]x",
        "a ##vso[task.complete result=Failed]x",
        "###[error]x",
        "##teamcity[x]",
    ],
)
def test_no_line_is_a_command_of_a_log(text: str) -> None:
    assert has_log_command(text)
    assert not has_log_command(one_line(text))
    assert not has_log_command(page([line("", Span(text, Role.STRONG))], colour=True))
    assert not has_log_command(json_text([text]).replace('"', " "))
    assert json.loads(json_text([text])) == [text]


def test_ordinary_lines_are_no_commands() -> None:
    for text in ("## Heading [link]", "a::b", "std::string", "# [x]", "[##]", "main.tf:3:1"):
        assert one_line(text) == text


def test_colours_are_those_of_roles() -> None:
    assert _COLOURS.keys() <= set(Role)


def test_colours_are_of_painted_pieces_alone() -> None:
    painted = line("a\x1b[31m ", Span("b\x1b[8m", Role.BLOCK), "\n")
    assert page([painted], colour=True) == "a\\x1b[31m \x1b[31;1mb\\x1b[8m\x1b[0m\\x0a\n"
    assert page([painted]) == "a\\x1b[31m b\\x1b[8m\\x0a\n"
    assert page([line(Span("shown", Role.ADDED))], colour=True) == "shown\n"


@given(st.recursive(TEXTS | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_json_is_the_same_document_in_printable_ascii(document: object) -> None:
    text = json_text(document)
    assert json.loads(text) == document
    assert text.isascii()
    assert is_plain(text.replace("\n", ""))
    assert not any(map(has_log_command, text.split("\n")))


def test_half_a_character_in_an_object_is_escaped() -> None:
    assert json_text(HashFact("h1:\ud800")) == json_text({"hash": "h1:\ud800", "platform": None, "proof": "unknown"})


def test_json_that_is_not_ascii_is_refused() -> None:
    for text in ('"\u202e"', '"\x7f"', '"\t"'):
        with pytest.raises(ValueError, match="ASCII"):
            plain_json(text)


WORDS = st.text(st.characters(exclude_characters="\0", codec="utf-8"))


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")
def test_a_shell_reads_each_word_as_it_was() -> None:
    words = [
        "plain", "a b", "a  b", "", "'", "$(touch x)", "`x`", "a\nb", "\x1b[2J\x01", "é\u202e", "\\n\x07'\"$x", "::error::",
        "##[x]", "-x", "!x\n!y", "~", "*", "ünï 1\x001".replace("\0", "\x02") + "7", "\udcff",
    ]  # fmt: skip
    script = "printf '%s\\0' " + " ".join(map(shell_word, words))
    result = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert result.stdout.split(b"\0")[:-1] == [word.encode("utf-8", "surrogateescape") for word in words]


@given(WORDS)
def test_a_quoted_word_is_printable(word: str) -> None:
    assert one_line(shell_word(word)) == shell_word(word)


def test_counts_sizes_lists_and_reasons() -> None:
    assert [counted(1, "root"), counted(2, "root"), counted(0, "hash", "hashes")] == ["1 root", "2 roots", "0 hashes"]
    assert [size_words(one) for one in (1, 512, 1536, 22 << 20, 3 << 40)] == [
        "1 byte",
        "512 bytes",
        "1.5 KiB",
        "22.0 MiB",
        "3072.0 GiB",
    ]
    assert listing(list("abc")) == "a, b, c"
    assert listing(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert reason_of(OSError(13, "Permission denied")) == "permission denied"
    assert reason_of(OSError("odd")) == "unknown error"


# Nothing can leave beside the edge


def calls(name: str) -> set[str]:
    """The modules in which something of that name is called."""
    texts = ((path, path.read_text("utf-8")) for path in SOURCES.rglob("*.py"))
    return {
        str(path.relative_to(SOURCES))
        for path, text in texts
        if name in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and name in {getattr(node.func, "id", ""), getattr(node.func, "attr", "")}
    }


def test_clauses_are_joined_without_those_that_say_nothing() -> None:
    assert clauses("", "one", "", "two") == "one; two"
    assert clauses("", "") == clauses() == ""


def test_only_the_text_module_makes_printable_text() -> None:
    assert calls("Printable") == {"text.py"}


def test_only_the_edge_writes_to_the_standard_streams() -> None:
    writing = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if re.search(r"sys\.(__)?std(out|err)(__)?\.(write|buffer)|\bprint\(|os\.write\((1|2),", path.read_text())
    }
    assert writing == {"cli/__init__.py"}


def test_only_the_app_reaches_the_clipboard_and_the_notices() -> None:
    assert (SOURCES / "ui/clipboard.py").read_text().count("super().copy_to_clipboard(") == 1
    assert (SOURCES / "ui/app.py").read_text().count("super().notify") == 1
    assert calls("Static") == {"ui/shell/filter_line.py", "ui/dialogs/__init__.py"}
    assert calls("Segment") == {"ui/widgets/__init__.py"}
