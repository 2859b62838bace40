"""Fetching the head of a pull or merge request. This is the only module that lets git use the network.

Git runs in a throw-away repository whose objects are those of the user's clone. So nothing of the clone's own
configuration counts but the URL of the remote as it is written: no program, hook, helper, refspec or rewriting of URLs
that it names; the user's and the system's configuration do. No reference is written, no file is checked out. The
objects stay in the clone without a name, until `git gc` prunes them.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import RepositoryError
from locklens.project.git.process import GitCommand, fields_of, first_complaint

if TYPE_CHECKING:
    from collections.abc import Iterator


LAYOUTS = ("pull/{}/head", "merge-requests/{}/head")
"""The folders below `refs/` with the heads of requests: of GitHub, Gitea and Forgejo, and of GitLab."""

FETCH_SECONDS = 600.0
"""For one question to a remote: a slow line may take minutes for the commits of a large repository."""

MAX_PACK_BYTES = 4 * 1024**3
"""Limit of one file that a fetch writes, where the system has one. The largest public repositories are as large."""

_MAX_TIPS = 2000
"""The most commits of the clone that are named to the remote, so that it sends only what is missing."""

_MAX_SHALLOW_BYTES = 16 * 1024 * 1024
"""Limit of the list of commits at which a clone ends."""

_PROTOCOLS = "file:git:http:https:ssh"
"""Those that git follows without being asked. `ext` would run a program that the URL names."""

_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FETCH_OPTIONS = (
    "--quiet",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--no-auto-gc",
    "--no-write-commit-graph",
    "--no-show-forced-updates",
    "--refmap=",
)

_OF_THE_CLONE = frozenset({"GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_SHALLOW_FILE"})


class FetchedRequest(Struct, frozen=True):
    """A pull or merge request whose commits are in the clone.

    Attributes:
        head_name: For people, such as "origin/pull/12"; untrusted, as is `base_name`.
        base: The commit id of the remote's default branch; "" where it was not wanted.
        base_name: Such as "origin/main".
    """

    head: str
    head_name: str
    base: str
    base_name: str


def fetch_request(
    command: GitCommand, object_format: str, number: int, remote: str, *, with_base: bool
) -> FetchedRequest:
    """Fetch the head of a request, and perhaps the default branch of the remote, into the objects of a clone.

    The format is the hash of the clone's objects, such as "sha1".

    Raises:
        RepositoryError: There is no such remote or request, the remote cannot be reached or does not name its default
            branch, or git failed.
    """
    url = _url(command, remote)
    with _apart(command, object_format) as apart:
        found, default = _advertised(apart, remote, url, number)
        layout = next((one.format(number) for one in LAYOUTS if f"refs/{one.format(number)}" in found), "")
        if not layout:
            places = " or ".join(f"refs/{one.format(number)}" for one in LAYOUTS)
            raise RepositoryError(
                f"remote {remote!r} has no request {number}: it has no {places}",
                hint="check the number; --remote names another remote; a branch is compared with --head BRANCH",
            )
        if with_base and "HEAD" not in found:
            raise RepositoryError(
                f"remote {remote!r} does not name its default branch",
                hint=f"name the base: locklens review --pr {number} BASE",
            )
        head, base = found[f"refs/{layout}"], found["HEAD"] if with_base else ""
        _fetch(apart, remote, url, [one for one in (head, base) if one])
        for commit, what in ((head, f"refs/{layout}"), (base, "HEAD")):
            if commit and apart.ask("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")[0] != 0:
                raise RepositoryError(f"{what} of remote {remote!r} is no commit")
    return FetchedRequest(head, f"{remote}/{layout.removesuffix('/head')}", base, f"{remote}/{default or 'HEAD'}")


def _url(command: GitCommand, remote: str) -> str:
    """Return the URL of a remote as it is written, without files that the configuration includes.

    Such a file may be one that the clone tracks, so that the change would choose the host. For the same reason, git
    rewrites the URL (`url.X.insteadOf`) in the throw-away repository, where only settings of the user and the system
    count.
    """
    written = ("config", "--no-includes", "-z")
    status, output, _ = command.ask(*written, "--get-all", f"remote.{remote}.url") if remote else (1, b"", "")
    urls = fields_of(output)[:-1]
    if status != 0 or not urls[0]:
        answer = command.ask(*written, "--name-only", "--get-regexp", r"^remote\..*\.url$")[1]
        keys = answer.decode("utf-8", "replace").split("\0")[:-1]
        names = [key.removeprefix("remote.").removesuffix(".url") for key in dict.fromkeys(keys)]
        known = f"the remotes are {', '.join(names[:8])}" if names else "the repository has none: see git remote add"
        raise RepositoryError(f"there is no remote {remote!r}", hint=f"name one with --remote; {known}")
    return urls[0]


def _advertised(apart: GitCommand, remote: str, url: str, number: int) -> tuple[dict[str, str], str]:
    """Return the object ids of HEAD and of the request's references, and the short name of the default branch."""
    wanted = ["HEAD", *(f"refs/{one.format(number)}" for one in LAYOUTS)]
    status, output, complaint = apart.ask("ls-remote", "--symref", "--", url, *wanted, seconds=FETCH_SECONDS)
    if status != 0:
        raise _unreachable(remote, complaint)
    found, default = {}, ""
    for line in output.decode("utf-8", "replace").split("\n"):
        value, _, name = line.partition("\t")
        if name == "HEAD" and value.startswith("ref: refs/heads/"):
            default = value.removeprefix("ref: refs/heads/")
        elif name in wanted and _OBJECT_ID.fullmatch(value):
            found[name] = value
    return found, default


def _fetch(apart: GitCommand, remote: str, url: str, commits: list[str]) -> None:
    arguments = ("fetch", *_FETCH_OPTIONS, "--", url, *commits)
    status, _, complaint = apart.ask(*arguments, seconds=FETCH_SECONDS, file_bytes=MAX_PACK_BYTES)
    if status != 0:
        raise _unreachable(remote, complaint)


def _unreachable(remote: str, complaint: str) -> RepositoryError:
    return RepositoryError(
        f"cannot fetch from remote {remote!r}: {first_complaint(complaint)}",
        hint="credentials and helpers of the repository's own configuration are not used:"
        " set them with git config --global, or run git fetch and compare with --head",
    )


@contextmanager
def _apart(command: GitCommand, object_format: str) -> Iterator[GitCommand]:
    """Yield git in a throw-away repository with the clone's objects.

    It lies in the clone's git directory, so that the user's `includeIf "gitdir:…"` counts as it does for the clone.
    """
    objects, git_folder, shallow = (
        os.path.join(command.folder, command.line("rev-parse", *words))  # noqa: PTH118
        for words in (("--git-path", "objects"), ("--git-common-dir",), ("--git-path", "shallow"))
    )
    try:
        folder = tempfile.TemporaryDirectory(prefix="locklens-fetch-", dir=git_folder)
    except OSError as error:
        raise RepositoryError(
            f"{git_folder} cannot be written, and a fetch needs a folder there: {error.strerror}"
        ) from error
    with folder as name:
        place = Path(name)
        _lay_out(place, object_format, _tips(command))
        _copy_bounded(Path(shallow), place / "shallow")
        kept = {key: value for key, value in command.environment.items() if key not in _OF_THE_CLONE}
        allowed = {
            "GIT_DIR": name,
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_ALLOW_PROTOCOL": os.environ.get("GIT_ALLOW_PROTOCOL") or _PROTOCOLS,
        }
        yield replace(command, environment=kept | allowed)


def _tips(command: GitCommand) -> list[str]:
    """Return commits of the clone, each once."""
    patterns = ("refs/heads", "refs/remotes")
    output = command.answer("for-each-ref", f"--count={_MAX_TIPS}", "--format=%(objectname)", "--", *patterns)
    return sorted({line for line in output.decode("ascii", "replace").split("\n") if _OBJECT_ID.fullmatch(line)})


def _lay_out(place: Path, object_format: str, tips: list[str]) -> None:
    is_sha1 = object_format == "sha1"
    extension = "" if is_sha1 else f"[extensions]\n\tobjectformat = {object_format}\n"
    (place / "config").write_text(
        f"[core]\n\trepositoryformatversion = {0 if is_sha1 else 1}\n\tbare = true\n{extension}"
    )
    (place / "HEAD").write_text("ref: refs/heads/none\n")
    for folder in ("objects", "refs"):
        (place / folder).mkdir()
    # What the clone has, under names without a meaning: only this is named to the remote.
    lines = "".join(f"{tip} refs/tips/{number:06}\n" for number, tip in enumerate(tips))
    (place / "packed-refs").write_text(f"# pack-refs with: sorted \n{lines}")


def _copy_bounded(source: Path, target: Path) -> None:
    from locklens.storage.files import read_bounded

    if data := read_bounded(source, _MAX_SHALLOW_BYTES, missing=b""):
        target.write_bytes(data)
