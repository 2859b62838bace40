"""Prints the base that a workflow's event names: a branch of the remote as it was fetched, or a commit."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from locklens.errors import LockLensError
from locklens.project.git import Repository

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def base() -> str:
    """Return a revision; "" where the event has none."""
    branch = os.environ.get("GITHUB_BASE_REF", "")
    reference = f"refs/remotes/origin/{branch}"
    # The branch as it is now: its policy judges, and not the one of when the pull request was opened.
    if branch and _exists(reference):
        return reference
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    pull, queue = event.get("pull_request") or {}, event.get("merge_group") or {}
    named = (pull.get("base") or {}).get("sha"), queue.get("base_sha"), event.get("before")
    found = next((one for one in named if isinstance(one, str) and _COMMIT.fullmatch(one) and one.strip("0")), "")
    return str(found)


def _exists(reference: str) -> bool:
    """True if the clone has it, or cannot say: the review ends with the reason then.

    The installed locklens asks, for it finds git on PATH alone: Windows would look into the current folder first, which
    is the checkout of a pull request.
    """
    try:
        with Repository.discover(Path.cwd()) as repository:
            return repository.has_commit(reference)
    except LockLensError:
        return True


if __name__ == "__main__":
    sys.stdout.write(base())
