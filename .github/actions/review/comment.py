"""Keeps one comment on a pull request up to date: the one that begins with the report's hidden marker.

Where there is no report, because an earlier step failed, it says so: an earlier run's verdict is never left.
Comments of people are never changed, whatever they begin with. Without the permission, the job's summary is enough.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MARKER = "<!-- locklens review -->"
NAMED_MARKER = "<!-- locklens review: {} -->"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _./-]{0,99}")
MAX_PAGES = 30
"""Of a hundred comments each."""

MAX_ANSWER_BYTES = 16 * 1024 * 1024
SECONDS = 30


def main() -> int:
    """Write the comment, and return the exit status: 0 also where it may not be written."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    number = (event.get("pull_request") or {}).get("number")
    repository = os.environ["GITHUB_REPOSITORY"]
    if not isinstance(number, int) or not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        sys.stderr.write("no pull request: no comment is written\n")
        return 0
    name = os.environ.get("LOCKLENS_NAME", "")
    if name and not NAME.fullmatch(name):
        sys.stderr.write("error: the input name is not made of letters, digits, spaces and _ . / - alone\n")
        return 1
    marker = NAMED_MARKER.format(name) if name else MARKER
    report = os.environ.get("LOCKLENS_MARKDOWN") or Path(__file__).with_name("unreviewed.md")
    body = {"body": Path(report).read_text("utf-8").replace(MARKER, marker, 1)}
    comments = f"/repos/{repository}/issues/{number}/comments"
    try:
        for own in _own(comments, marker):
            if _is_updated(f"/repos/{repository}/issues/comments/{own}", body):
                return 0
        _ask("POST", comments, body)
    except urllib.error.HTTPError as error:
        sys.stderr.write(f"the comment was not written: HTTP {error.code}\n")
        if error.code in {401, 403, 404}:
            hint = "the job needs permissions: pull-requests: write, which a pull request from a fork never has"
            sys.stderr.write(f"hint: {hint}; the report is in the job's summary\n")
            return 0
        return 1
    except (OSError, ValueError) as error:
        sys.stderr.write(f"the comment was not written: {type(error).__name__}\n")
        return 1
    return 0


def _own(comments: str, marker: str) -> list[int]:
    """Return the ids of the comments that an app wrote, and that begin with a marker."""
    found: list[int] = []
    for page in range(1, MAX_PAGES + 1):
        listed = _ask("GET", f"{comments}?per_page=100&page={page}")
        found += [int(one["id"]) for one in listed if _is_own(one, marker)]
        if len(listed) < 100:
            break
    return found


def _is_own(comment: dict[str, Any], marker: str) -> bool:
    is_app = (comment.get("user") or {}).get("type") == "Bot"
    return is_app and str(comment.get("body") or "").startswith(marker)


def _is_updated(path: str, body: dict[str, str]) -> bool:
    try:
        _ask("PATCH", path, body)
    except urllib.error.HTTPError as error:
        if error.code in {403, 404}:  # another app's, or deleted meanwhile
            return False
        raise
    return True


def _ask(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(  # noqa: S310 - the runner names the address
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['LOCKLENS_TOKEN']}",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "locklens-review",
        },
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        return json.loads(answer.read(MAX_ANSWER_BYTES))


if __name__ == "__main__":
    sys.exit(main())
