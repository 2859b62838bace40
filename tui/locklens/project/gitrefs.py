"""The revisions of a repository that a user may compare: branches, tags, and recent commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.project.gitprocess import GitCommand

MAX_REFS = 500
"""Branches and tags that are listed, the latest first."""

MAX_RECENT_COMMITS = 50

_SHOWN_DIGITS = 12
_FORMAT = "%(refname)%00%(refname:short)%00%(symref)%00%(objectname)%00%(creatordate:short)%00%(contents:subject)"


class Revision(Struct, frozen=True):
    """A revision by the name that git accepts.

    Attributes:
        kind: "branch", "remote", "tag" or "commit".
        name: Untrusted; of a commit, its first digits.
        date: ISO 8601; "" if unknown.
        subject: The first line of its message; untrusted.
    """

    kind: str
    name: str
    date: str
    subject: str


_KINDS = {"refs/heads/": "branch", "refs/remotes/": "remote", "refs/tags/": "tag"}


def list_revisions(command: GitCommand, *, has_commits: bool) -> tuple[Revision, ...]:
    """Return branches, then remote branches, tags, and the recent commits of HEAD, each latest first.

    Raises:
        RepositoryError: Git failed.
    """
    output = command.answer(
        "for-each-ref", "--sort=-creatordate", f"--count={MAX_REFS}", f"--format={_FORMAT}", "--", *_KINDS
    )
    refs = list(_refs(_text(output)))
    ordered = [ref for kind in _KINDS.values() for ref in refs if ref.kind == kind]
    if has_commits:
        log = command.answer("rev-list", f"--max-count={MAX_RECENT_COMMITS}", "--format=%H%x00%cs%x00%s", "HEAD", "--")
        ordered += _commits(_text(log))
    return tuple(ordered)


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")


def _refs(text: str) -> Iterator[Revision]:
    for line in text.split("\n"):
        name, *rest = line.split("\0")
        kind = next((kind for prefix, kind in _KINDS.items() if name.startswith(prefix)), "")
        if kind and len(rest) == 5 and not rest[1]:
            yield Revision(kind, rest[0], rest[3], rest[4])


def _commits(text: str) -> Iterator[Revision]:
    for line in text.split("\n"):
        commit, *rest = line.split("\0")
        if len(rest) == 2:
            yield Revision("commit", commit[:_SHOWN_DIGITS], *rest)
