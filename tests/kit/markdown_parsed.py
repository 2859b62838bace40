"""What a forge's parser makes of a report's Markdown."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from locklens.review.reports import markdown

SUMMARY = r"<summary>(Details of \d+ changes?|\d+ notes? about roots|\d+ moved roots?)</summary>"
HTML = {markdown.MARKER, markdown.HEALTH_MARKER, "<details>", "</details>"}


class Shown:
    """What a forge's parser makes of a text."""

    def __init__(self, text: str) -> None:
        self.kinds: set[str] = set()
        self.html: list[str] = []
        self.outside = ""
        """The text outside of code spans."""
        parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
        self._take(parser.parse(text))

    def _take(self, tokens: list[Token]) -> None:
        for token in tokens:
            self.kinds.add(token.type)
            if token.type in {"html_block", "html_inline"}:
                self.html += token.content.splitlines()
            elif token.type == "text":
                self.outside += token.content
            self._take(token.children or [])

    def check(self, *, tables: bool = False) -> None:
        """Fail where text of others could be markup; `tables` for reports with tables of their own."""
        assert {line for line in self.html if not re.fullmatch(SUMMARY, line)} <= HTML
        assert not self.kinds & {"link_open", "image", "code_block", "fence", "blockquote_open", "s_open"}
        assert tables or "table_open" not in self.kinds
        assert not set("@#$&<>|") & set(self.outside)
        assert "://" not in self.outside
