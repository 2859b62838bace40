"""Text for the clipboard: one line that is a single shell word, a whole command line, or Markdown that no shell heeds.

Copied text is untrusted: a root's name may be `$(rm -rf ~)`, a constraint `>= 1.0`. So all text except command lines
is quoted for a shell, which leaves versions, hashes and addresses unchanged. A row of a list is copied without names
of roots and files, which disclose the repository's structure; a line about a file is copied with the file's name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.text import counted, shell_word, visible

if TYPE_CHECKING:
    from locklens.review.model import Change, Finding, Severity


class ShellText(str):
    """A command line, words quoted by `locklens.text.shell_words`, or escaped Markdown: copied verbatim."""

    __slots__ = ()


def copied_line(text: str) -> str:
    """Return the clipboard text for `Line.copied`."""
    return visible(text) if isinstance(text, ShellText) else shell_word(text)


_SPECIAL = re.compile(r"[!\"#$&'()*+;<>?\[\\\]^`_{|}~]")


def markdown_text(text: str) -> ShellText:
    """Return text as Markdown that shows it: a backslash before each character that Markdown or a shell heeds."""
    return ShellText(_SPECIAL.sub(r"\\\g<0>", visible(text)))


def change_markdown(change: Change, roots: int) -> ShellText:
    """A list item on a change: provider, versions, number of roots, and findings by their titles."""
    old, new = (str(side.version) if side else "none" for side in (change.old, change.new))
    versions = new if old == new else f"{old} to {new}"
    findings = "; ".join(f"{_rule_words(one.rule, one.severity)}" for one in change.findings)
    rest = f" {versions}, {counted(roots, 'root')}: {findings or 'no findings'}"
    return ShellText(f"- **{markdown_text(str(change.address))}**{markdown_text(rest)}")


def finding_markdown(finding: Finding) -> ShellText:
    """A list item on a root-level finding: rule, severity and title, without names of the repository."""
    return ShellText(f"- {markdown_text(_rule_words(finding.rule, finding.severity))}")


def _rule_words(rule: str, severity: Severity) -> str:
    from locklens.review.rules.catalogue import RULES

    title = RULES[rule].title if rule in RULES else ""
    return f"{severity.value.upper()} {rule} {title}".rstrip()


def change_copied(change: Change) -> str:
    """Provider and versions, e.g. "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0"."""
    old = str(change.old.version) if change.old else "none"
    new = str(change.new.version) if change.new else "none"
    return f"{change.address} {new}" if old == new else f"{change.address} {old} -> {new}"


def finding_copied(finding: Finding) -> str:
    """Rule, severity and message."""
    return f"{finding.rule} {finding.severity}: {finding.message}"
