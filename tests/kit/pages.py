"""What users read: README and the pages below tui/docs, with the blocks, tables and command lines in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

TOP = Path(__file__).parents[2]
PAGES = {
    path.relative_to(TOP).as_posix(): path.read_text("utf-8")
    for path in (TOP / "README.md", *sorted((TOP / "tui/docs").glob("*.md")))
}
"""The text of each page, by its path from the top."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:^|(?<=[\s(]))locklens(?=\s|$)")
_ENDS = re.compile(r"[|&;()<>]+")


def marked(kind: str) -> dict[str, str]:
    """The blocks behind `<!-- kind: name -->`, by name."""
    return dict(re.findall(rf"<!-- {kind}: (\S+) -->\n```\w+\n(.*?)```", "\n".join(PAGES.values()), re.DOTALL))


def table(first: str, page: str = "") -> list[list[str]]:
    """The cells of the one table whose first line is this, on a page or on any."""
    found = [text.partition(f"{first}\n")[2] for name, text in PAGES.items() if page in name and f"{first}\n" in text]
    assert len(found) == 1, (first, page, len(found))
    lines = found[0].partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return _FENCE.sub("", text)


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks of code of a page, each with its language."""
    return _FENCE.findall(text)


def spans(text: str) -> list[str]:
    """The words between back quotes in the prose of a page."""
    return _SPAN.findall(prose(text))


def commands(text: str) -> list[list[str]]:
    """The words behind `locklens` of each command line of a page, up to where the shell ends it."""
    sources = [block.replace("\\\n", " ") for language, block in blocks(text) if language in {"sh", "yaml"}]
    lines = [line for source in sources for line in source.splitlines()]
    lines += [span for span in spans(text) if re.match(r"locklens \S+ ", span)]  # A command named alone is no line.
    return [_words(line[found.end() :]) for line in lines for found in _COMMAND.finditer(line)]


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line.replace(')"', " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = []
    for word in lexer:
        if _ENDS.fullmatch(word):
            break
        words.append(word)
    return words
