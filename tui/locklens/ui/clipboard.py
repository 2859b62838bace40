"""The clipboard: what is copied of a row or a line, and the program or terminal that takes it.

Copied text is untrusted: a root's name may be `$(rm -rf ~)`, a constraint `>= 1.0`. So all text except command lines
is quoted for a shell, which leaves versions, hashes and addresses unchanged. A row of a list is copied without names
of roots and files, which disclose the repository's structure; a line about a file is copied with the file's name.

Terminals are free to ignore the escape sequence that copies (OSC 52), and tmux does so with its usual settings. Whether
it arrived cannot be known, so that only what a program took is called copied.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import App

from locklens.machine import find_program
from locklens.review.model import Change, Finding, Review, severity_rank
from locklens.review.reports import roots_and_changes, verdict_words
from locklens.review.reports.findings import distinct_changes, reported_findings
from locklens.text import counted, shell_word, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class ShellText(str):
    """A command line, words quoted by `locklens.text.shell_words`, or escaped Markdown: copied verbatim."""

    __slots__ = ()


class MarkdownItems(ShellText):
    """Items of a Markdown list, one to a line; each begins with a dash, which no shell runs."""

    __slots__ = ()


def copied_line(text: str) -> str:
    """Return the clipboard text for `Line.copied`."""
    if isinstance(text, MarkdownItems):
        return "\n".join(map(visible, text.split("\n")))
    return visible(text) if isinstance(text, ShellText) else shell_word(text)


_SPECIAL = re.compile(r"[!\"#$&'()*+;<>?\[\\\]^`_{|}~]")


def markdown_text(text: str) -> ShellText:
    """Return text as Markdown that shows it: a backslash before each character that Markdown or a shell interprets."""
    return ShellText(_SPECIAL.sub(r"\\\g<0>", visible(text)))


def change_markdown(changes: Sequence[Change]) -> ShellText:
    """A list item on the same change in some roots: provider, versions, number of roots, and findings by their titles.

    A finding that some of the roots have is said with their number, and so is that not all is known of one without.
    """
    change, roots = changes[0], len(changes)
    numbers = Counter(words for each in changes for words in dict.fromkeys(map(_rule_words, each.findings)))
    if lacking := sum(each.severity is None and each.lacks_facts for each in changes):
        numbers["not all is known"] = lacking
    old, new = (str(side.version) if side else "none" for side in (change.old, change.new))
    versions = new if old == new else f"{old} to {new}"
    findings = ", ".join(
        words if number == roots else f"{words} (in {number} of {roots})" for words, number in numbers.items()
    )
    rest = f" {versions}, {counted(roots, 'root')}: {findings or 'no findings'}"
    return ShellText(f"- **{markdown_text(str(change.address))}**{markdown_text(rest)}")


def finding_markdown(finding: Finding) -> ShellText:
    """A list item on a root-level finding: rule, severity and title, without names of the repository."""
    return ShellText(f"- {markdown_text(_rule_words(finding))}")


def review_markdown(review: Review) -> MarkdownItems:
    """The whole review as a list: the verdict, distinct changes, the worst and most frequent first, and findings."""
    changes = sorted(distinct_changes(review), key=lambda one: (severity_rank(one.change.severity), -len(one.members)))
    words = f" {verdict_words(review)}, {roots_and_changes(review)}"
    items = [
        f"- **locklens review**{markdown_text(words)}",
        *_change_items([change for _, change in one.members] for one in changes),
    ]
    findings = [one.finding for one in reported_findings(review) if one.change is None and one.is_counted]
    return MarkdownItems("\n".join([*items, *_finding_items(findings)]))


def section_markdown(changes: Iterable[Sequence[Change]], findings: Iterable[Finding]) -> MarkdownItems:
    """A section as a list: its changes, each in its roots, and its findings without a change."""
    return MarkdownItems("\n".join([*_change_items(changes), *_finding_items(findings)]))


def _change_items(changes: Iterable[Sequence[Change]]) -> list[str]:
    return list(map(change_markdown, changes))


def _finding_items(findings: Iterable[Finding]) -> list[str]:
    """Findings without names of the repository are often alike: each once, with its number."""
    numbers = Counter(finding_markdown(finding) for finding in findings)
    return [item if number == 1 else f"{item}, {counted(number, 'time')}" for item, number in numbers.items()]


def _rule_words(finding: Finding) -> str:
    from locklens.review.rules.catalogue import RULES, wording_of

    title = wording_of(finding).title if finding.rule in RULES else ""
    return f"{finding.severity.value.upper()} {finding.rule} {title}".rstrip()


def change_copied(change: Change) -> str:
    """Provider and versions, e.g. "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0"."""
    old = str(change.old.version) if change.old else "none"
    new = str(change.new.version) if change.new else "none"
    return f"{change.address} {new}" if old == new else f"{change.address} {old} -> {new}"


def finding_copied(finding: Finding) -> str:
    """Rule, severity and message."""
    return f"{finding.rule} {finding.severity}: {finding.message}"


SENT_TO_TERMINAL = "sent to the terminal (OSC 52), which may ignore it"

_SECONDS = 2.0
"""For all programs together: one of a display that is gone never answers."""


class _Program(NamedTuple):
    """A program that takes text on standard input, and how a message names it."""

    words: tuple[str, ...]
    outcome: str
    encoding: str = "utf-8"


def copy_by_program(text: str, environment: Mapping[str, str]) -> str:
    """Give text to the first program that takes it; return what happened in words, "" where none took it."""
    deadline = time.monotonic() + _SECONDS
    for program in _programs(environment):
        path = find_program(program.words[0])
        left = deadline - time.monotonic()
        if path is not None and left > 0 and _takes([path, *program.words[1:]], text.encode(program.encoding), left):
            return program.outcome
    return ""


def _programs(environment: Mapping[str, str]) -> Iterator[_Program]:
    is_remote = "SSH_CONNECTION" in environment
    if sys.platform == "darwin" and not is_remote:
        yield _Program(("pbcopy",), "copied with pbcopy")
    if sys.platform == "win32" and not is_remote:
        yield _Program(("clip.exe",), "copied with clip.exe", "utf-16")
    if environment.get("WAYLAND_DISPLAY"):
        yield _Program(("wl-copy",), "copied with wl-copy")
    if environment.get("DISPLAY"):
        yield _Program(("xclip", "-selection", "clipboard"), "copied with xclip")
        yield _Program(("xsel", "--clipboard", "--input"), "copied with xsel")
    if environment.get("WSL_DISTRO_NAME") and not is_remote:
        yield _Program(("clip.exe",), "copied with clip.exe", "utf-16")
    if environment.get("TMUX"):
        outcome = "copied to tmux's buffer"
        yield _Program(("tmux", "load-buffer", "-w", "-"), outcome)
        yield _Program(
            ("tmux", "load-buffer", "-"), outcome
        )  # Before 3.2 there is no -w, which tells the terminal too.


def _takes(command: list[str], data: bytes, seconds: float) -> bool:
    """True if a program ended well; it may leave a process behind that serves the text."""
    try:
        quiet = subprocess.DEVNULL
        done = subprocess.run(command, input=data, stdout=quiet, stderr=quiet, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


class CopyingApp(App[int]):
    """An app that copies by a program where one takes the text, and else by the terminal."""

    copied_words = ""
    """The result for the last text."""

    def copy_to_clipboard(self, text: str) -> None:
        """Copy printable lines: the only way to the clipboard, for every screen and widget."""
        shown = "\n".join(map(visible, text.split("\n")))
        self.copied_words = copy_by_program(shown, os.environ)
        if self.copied_words:
            self._clipboard = shown
        else:
            super().copy_to_clipboard(shown)
            self.copied_words = SENT_TO_TERMINAL


def copy_text(app: App[Any], text: str, name: str = "") -> str:
    """Copy text, and say what became of it; `name` are the words for the text, "" for the text itself."""
    app.copy_to_clipboard(text)
    words = app.copied_words if isinstance(app, CopyingApp) else SENT_TO_TERMINAL
    return f"{words}: {name or text}"
