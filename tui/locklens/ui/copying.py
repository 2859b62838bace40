"""What the copy key puts on the clipboard: one line that is safe to paste in public or into a shell prompt.

Left out are paths, root names and file names, which tell about the repository; control characters are made visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import visible

if TYPE_CHECKING:
    from locklens.review.model import Change, Finding
    from locklens.ui.outline import Node


def copied_line(text: str) -> str:
    """The text on one line with nothing invisible in it."""
    return visible(" ".join(text.split()))


def change_copied(change: Change) -> str:
    """Provider and versions, e.g. "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0"."""
    old = str(change.old.version) if change.old else "none"
    new = str(change.new.version) if change.new else "none"
    return f"{change.address} {new}" if old == new else f"{change.address} {old} -> {new}"


def finding_copied(finding: Finding) -> str:
    """Rule, severity and message."""
    return f"{finding.rule} {finding.severity}: {finding.message}"


def node_copied(node: Node) -> str:
    """What a row of the list stands for; "" where it is nothing that can be named without a path."""
    if node.change is not None:
        rules = sorted({finding.rule for subject in node.subjects for finding in subject.change.findings})
        return change_copied(node.change) + (f" ({', '.join(rules)})" if rules else "")
    if node.finding is not None:
        return finding_copied(node.finding)
    return str(node.pair.address) if node.pair is not None else ""
