"""Ends with 0 only if the checkout has what a workflow's event asks to review: the head of its pull request.

With `pull_request_target` the checkout is the base unless `ref` says otherwise, and nothing would differ from the base.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from locklens.errors import LockLensError
from locklens.project.git import Repository

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def missing() -> str:
    """Return the head of the event's pull request if HEAD does not contain it; "" if it does, or there is none."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    pull = event.get("pull_request")
    if pull is None:
        return ""
    sha = str((pull.get("head") or {}).get("sha") or "of unknown commit")
    return "" if _COMMIT.fullmatch(sha) and _is_contained(sha) else sha


def _is_contained(sha: str) -> bool:
    """True if HEAD is the commit or a descendant; a commit that is not in the clone is no ancestor."""
    try:
        with Repository.discover(Path.cwd()) as repository:
            return repository.merge_base(repository.resolve(sha), repository.resolve("HEAD")) == sha
    except LockLensError:
        return False


if __name__ == "__main__":
    if sha := missing():
        sys.stderr.write(
            f"error: the checkout does not contain the pull request's head {sha!r}: nothing of it would be reviewed\n"
            "hint: give actions/checkout fetch-depth: 0, and with pull_request_target also ref: refs/pull/NUMBER/merge;"
            " never run what is checked out there\n"
        )
        sys.exit(2)
