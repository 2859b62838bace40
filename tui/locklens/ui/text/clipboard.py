"""Text for the clipboard: one line that is a single shell word, or a whole command line.

Copied text is untrusted: a root's name may be `$(rm -rf ~)`, a constraint `>= 1.0`. So all text except command lines
is quoted for a shell, which leaves versions, hashes and addresses unchanged. A row of a list is copied without names
of roots and files, which disclose the repository's structure; a line about a file is copied with the file's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import shell_word, visible

if TYPE_CHECKING:
    from locklens.review.model import Change, Finding


class ShellText(str):
    """A command line, or words, quoted by `locklens.text.shell_words`: copied verbatim."""

    __slots__ = ()


def copied_line(text: str) -> str:
    """Returns the clipboard text for `Line.copied`."""
    return visible(text) if isinstance(text, ShellText) else shell_word(text)


def change_copied(change: Change) -> str:
    """Provider and versions, e.g. "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0"."""
    old = str(change.old.version) if change.old else "none"
    new = str(change.new.version) if change.new else "none"
    return f"{change.address} {new}" if old == new else f"{change.address} {old} -> {new}"


def finding_copied(finding: Finding) -> str:
    """Rule, severity and message."""
    return f"{finding.rule} {finding.severity}: {finding.message}"
