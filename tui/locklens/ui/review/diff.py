"""The raw diff of a row of the Review list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.policy import POLICY_FILE
from locklens.ui.review.tree import Node, NodeKind, RootChange
from locklens.ui.text.diff import _bytes, _diff, file_diff_lines

if TYPE_CHECKING:
    from locklens.lines import Line


def no_diff_words(node: Node | None) -> str:
    """The reason why a row has no diff, and what to do instead."""
    if node is not None and node.finding is not None and node.root is None:
        return f"raw diff: the finding is about {POLICY_FILE}, not a lock file; e opens it"
    return "no difference in the lock file here"


def raw_diff_lines(node: Node) -> tuple[Line, ...]:
    """Return the diff of a row's changes; () without differences."""
    if node.root is not None and node.change is None and node.pair is None:
        root = node.root
        conflict = root.new.conflict
        if conflict is not None and not conflict.markers:
            # The index has both sides and no file that the old side could be compared with.
            sides = conflict.ours.data, conflict.theirs.data
            return tuple(_diff(root.lock_file, *sides, sides=("ours", "theirs")))
        return tuple(file_diff_lines(root.lock_file, root.old.data, root.new.data))
    subjects = node.subjects[:1] if node.kind is NodeKind.GROUP else node.subjects
    if node.pair is not None and node.root is not None:
        return tuple(
            _diff(node.root.lock_file, _bytes([node.pair.ours]), _bytes([node.pair.theirs]), sides=("ours", "theirs"))
        )
    by_file: dict[str, list[RootChange]] = {}
    for subject in subjects:
        by_file.setdefault(subject.root.lock_file, []).append(subject)
    return tuple(
        line
        for path, changed in by_file.items()
        for line in _diff(
            path,
            _bytes(subject.change.old for subject in changed),
            _bytes(subject.change.new for subject in changed),
        )
    )
