"""The targets of a row of the Review list: text for the clipboard, a line for the editor, a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.row_actions import RowTarget
from locklens.ui.text.clipboard import change_copied, finding_copied
from locklens.ui.text.spans import FilePlace

if TYPE_CHECKING:
    from locklens.ui.review.tree import Node


def node_copied(node: Node) -> str:
    """The clipboard text of a row; "" if there is none without a path."""
    if node.change is not None:
        rules = sorted({finding.rule for subject in node.subjects for finding in subject.change.findings})
        return change_copied(node.change) + (f" ({', '.join(rules)})" if rules else "")
    if node.finding is not None:
        return finding_copied(node.finding)
    return str(node.pair.address) if node.pair is not None else ""


def node_place(node: Node | None) -> FilePlace | None:
    """The file and line of a row."""
    if node is None or (node.root is None and not node.subjects):
        return None
    if node.finding is not None:
        return FilePlace(node.finding.file, node.finding.line or 1)
    root = node.root or node.subjects[0].root
    entry = (node.change.new or node.change.old) if node.change is not None else None
    return FilePlace(root.lock_file, entry.line if entry is not None else 1)


def row_target(node: Node | None) -> RowTarget:
    """Returns the targets of a row; empty for None."""
    if node is None:
        return RowTarget()
    change = node.change
    entry = (change.new or change.old) if change is not None else None
    release = (change.address, str(entry.version)) if change is not None and entry is not None else None
    return RowTarget(node_copied(node), node_place(node), release)
