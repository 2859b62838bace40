"""The targets of a row of the Review list: text for the clipboard, a line for the editor, a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import FilePlace
from locklens.text import counted
from locklens.ui.dialogs.copy import CopyChoice
from locklens.ui.review.tree import NodeKind
from locklens.ui.row_actions import RowTarget
from locklens.ui.shell.examined import examined_row
from locklens.ui.text.clipboard import (
    change_copied,
    change_markdown,
    finding_copied,
    finding_markdown,
    review_markdown,
    section_markdown,
)

if TYPE_CHECKING:
    from locklens.review.model import Review
    from locklens.ui.review.tree import Node
    from locklens.ui.shell.examined import ExaminedProvider


def node_copied(node: Node) -> str:
    """The clipboard text of a row; "" if there is none without a path."""
    if node.change is not None:
        rules = sorted({finding.rule for subject in node.subjects for finding in subject.change.findings})
        return change_copied(node.change) + (f" ({', '.join(rules)})" if rules else "")
    if node.finding is not None:
        return finding_copied(node.finding)
    return str(node.pair.address) if node.pair is not None else ""


_MAX_HASHES = 100
"""Added hashes that are offered; the detail has all of them."""


def copy_choices(node: Node | None, review: Review | None = None) -> tuple[CopyChoice, ...]:
    """The texts that can be copied of a row, none of them with a path."""
    if node is not None and node.kind is NodeKind.SECTION:
        return _section_choices(node, review)
    if node is None or not node_copied(node):
        return ()
    row = CopyChoice("row", node_copied(node))
    if node.finding is not None:
        return CopyChoice("finding", row.text), CopyChoice("Markdown", finding_markdown(node.finding))
    change = node.change
    if change is None:
        return (row,)
    changes = [subject.change for subject in node.subjects]
    signers = [one.new_signer for one in changes if one.new_signer is not None]
    texts = [
        row,
        CopyChoice("Markdown", change_markdown(change, len(changes))),
        CopyChoice("provider", str(change.address)),
        *(CopyChoice("finding", finding_copied(finding)) for one in changes for finding in one.findings),
        *(CopyChoice("fingerprint", key.fingerprint) for signer in signers for key in signer.keys),
        *(CopyChoice("hash", fact.hash) for fact in change.added[:_MAX_HASHES]),
    ]
    return tuple(dict.fromkeys(texts))


def _section_choices(node: Node, review: Review | None) -> tuple[CopyChoice, ...]:
    changes = [(child.change, len(child.subjects)) for child in node.children if child.change is not None]
    findings = [child.finding for child in node.children if child.finding is not None]
    whole = (
        [CopyChoice("whole review", review_markdown(review), "Markdown of the whole review")]
        if review is not None and (review.changes or any(root.findings for root in review.roots))
        else []
    )
    if not changes and not findings:
        return tuple(whole)
    parts = ((len(changes), "change"), (len(findings), "finding"))
    words = " and ".join(counted(number, noun) for number, noun in parts if number)
    return (*whole, CopyChoice("section", section_markdown(changes, findings), f"Markdown of its {words}"))


def node_place(node: Node | None) -> FilePlace | None:
    """The file and line of a row."""
    if node is not None and node.finding is not None:
        return FilePlace(node.finding.file, node.finding.line or 1)
    if node is None or (node.root is None and not node.subjects):
        return None
    root = node.root or node.subjects[0].root
    entry = (node.change.new or node.change.old) if node.change is not None else None
    return FilePlace(root.lock_file, entry.line if entry is not None else 1)


def examined_node(node: Node | None) -> ExaminedProvider | None:
    """Return the provider of a row, or its root alone, with the findings; of several roots the first."""
    if node is None or (node.root is None and not node.subjects):
        return None
    subject = node.subjects[0] if node.subjects and node.change is not None else None
    if subject is not None:
        return examined_row(subject.root.path, str(subject.change.address), subject.change.findings, screen="Review")
    root = node.root or node.subjects[0].root
    findings = (node.finding,) if node.finding is not None else root.findings
    return examined_row(root.path, str(node.provider or ""), findings, screen="Review")


def row_target(node: Node | None) -> RowTarget:
    """Return the targets of a row; empty for None."""
    if node is None:
        return RowTarget()
    change = node.change
    entry = (change.new or change.old) if change is not None else None
    release = (change.address, str(entry.version)) if change is not None and entry is not None else None
    return RowTarget(node_copied(node), node_place(node), release)
