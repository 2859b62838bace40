"""git's own merge of three files by lines, for files that cannot be merged by block."""

from __future__ import annotations

from locklens.errors import RepositoryError
from locklens.project.gitprocess import GitCommand, find_git, first_complaint, git_environment

_MOST_CONFLICTS = 127
"""`git merge-file` exits with the number of conflicts, at most this; above it stands a failure."""


def merge_lines(ours: str, base: str, theirs: str, *, labels: tuple[str, str], marker_size: int) -> bytes:
    """Merge three files as `git merge-file -p` does.

    Args:
        ours: Path of the side that receives.
        base: Path of the common ancestor.
        theirs: Path of the other side.
        labels: Names of both sides behind the markers.
        marker_size: Characters of a marker.

    Returns:
        The merged bytes, with or without conflicts.

    Raises:
        RepositoryError: Git is missing, or cannot merge such files.
    """
    command = GitCommand(find_git(), ".", git_environment("."))
    mine, other = labels
    status, output, complaint = command.ask(
        *("merge-file", "-p", f"--marker-size={marker_size}", "-L", mine, "-L", "base", "-L", other),
        *("--", ours, base, theirs),
    )
    if not 0 <= status <= _MOST_CONFLICTS:
        raise RepositoryError(f'"git merge-file" failed: {first_complaint(complaint)}')
    return output
