"""What the copy key puts on the clipboard: one line that a shell takes for one word, or a whole command line.

What is copied was written by others: a root's name may be `$(rm -rf ~)`, a constraint `>= 1.0`. So all but a command
line is quoted for a shell, which leaves versions, hashes and addresses as they are. A row of a list is copied without
the names of roots and files, which tell about the repository; a line that is about a file is copied with its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import shell_word, visible

if TYPE_CHECKING:
    from locklens.review.model import Change, Finding


class ShellText(str):
    """A command line, or words, that `locklens.text.shell_words` has quoted: copied as it is."""

    __slots__ = ()


def copied_line(text: str) -> str:
    """Returns what goes to the clipboard for `Line.copied`."""
    return visible(text) if isinstance(text, ShellText) else shell_word(text)


def change_copied(change: Change) -> str:
    """Provider and versions, e.g. "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0"."""
    old = str(change.old.version) if change.old else "none"
    new = str(change.new.version) if change.new else "none"
    return f"{change.address} {new}" if old == new else f"{change.address} {old} -> {new}"


def finding_copied(finding: Finding) -> str:
    """Rule, severity and message."""
    return f"{finding.rule} {finding.severity}: {finding.message}"
