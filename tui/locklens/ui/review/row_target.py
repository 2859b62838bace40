"""What a row of the Review list names: text for the clipboard, and a line for the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.text.clipboard import change_copied, finding_copied

if TYPE_CHECKING:
    from locklens.ui.review.tree import Node


def node_copied(node: Node) -> str:
    """What a row of the list stands for; "" where it is nothing that can be named without a path."""
    if node.change is not None:
        rules = sorted({finding.rule for subject in node.subjects for finding in subject.change.findings})
        return change_copied(node.change) + (f" ({', '.join(rules)})" if rules else "")
    if node.finding is not None:
        return finding_copied(node.finding)
    return str(node.pair.address) if node.pair is not None else ""
