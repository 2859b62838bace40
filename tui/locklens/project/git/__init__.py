"""A git repository, read through the `git` command: revisions, listings, contents, and what changed between two sides.

`locklens.project.git.process` starts git, `locklens.project.git.index` stages, `locklens.project.git.fetch` fetches the
head of a pull request. Nothing else is fetched, nothing is written here, no file is checked out. A review needs a
handful of processes however many files there are: one for each listing or comparison, and one long-lived
`git cat-file --batch` for names and contents.
"""

from __future__ import annotations

import os
import threading
from contextlib import closing
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from locklens.errors import LockLensError, RepositoryError, UnreadableObjectError
from locklens.project.git import listings
from locklens.project.git.objects import FoundObject, ObjectReader, can_be_asked, read_blame, read_commit, read_touching
from locklens.project.git.process import GitCommand, fields_of, first_complaint
from locklens.project.tree import is_on_disk, name_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.project.git.fetch import FetchedRequest
    from locklens.project.git.index import GitIndex
    from locklens.project.git.objects import BlamedLine, CommitFacts, TouchingCommit
    from locklens.project.git.setup import FoundRepository

_HELD_BYTES = 128 * 1024 * 1024
"""Contents that are kept in memory for one repository."""

_DIFF_OPTIONS = (
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--no-renames",
    # At which commit a submodule is, and nothing of what is in it: that would take a git in each of them.
    "--ignore-submodules=dirty",
    "-O/dev/null",
)


class UncommittedSide(Enum):
    """A side of a comparison that is not a revision."""

    WORK_TREE = "worktree"
    INDEX = "index"
    EMPTY = "empty"


class Repository:
    """A git repository, and the one process that reads its objects.

    Thread-safe. Listings are cached: open the repository again to see later changes.
    `close` ends the process; so does the end of the program, however it comes.
    """

    def __init__(self, found: FoundRepository) -> None:
        from pathlib import Path

        self.top = Path(found.command.folder)
        self.is_bare = found.is_bare
        self._command = found.command
        self._object_format = found.object_format
        self._unsafe_filters = found.unsafe_filters
        self._objects = ObjectReader(found.command)
        self._listings: dict[str | None, dict[str, listings.TreeFile]] = {}
        self._work_files_found: list[tuple[str, str]] | None = None
        self._untracked_repositories: tuple[str, ...] = ()
        self._listing_lock = threading.Lock()
        self._warnings: list[str] = []
        """The beginning of what git said while it listed the work tree."""
        self._held: dict[str, bytes] = {}
        self._held_bytes = 0

    @classmethod
    def discover(cls, folder: Path) -> Repository:
        """Find the repository that a folder is in, as git does (`GIT_DIR` counts).

        A repository without a work tree has `is_bare` set, and the folder itself as `top`.

        Raises:
            NoRepositoryError: There is none, or no git.
            RepositoryError: Git is too old or cannot read it, or it is a folder of another repository.
        """
        from locklens.project.git.setup import discover

        return cls(discover(folder))

    @staticmethod
    def top_of(folder: Path) -> Path:
        """Return the `top` of the repository that a folder is in; less work than `discover`, and with its errors."""
        from pathlib import Path

        from locklens.project.git.setup import locate

        return Path(locate(folder).command.folder)

    def close(self) -> None:
        """End the process that reads objects; a later question starts another."""
        self._objects.close()

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def index(self) -> GitIndex:
        """The current index: the content of the next commit.

        Raises:
            RepositoryError: There is no work tree.
        """
        from locklens.project.git.index import GitIndex

        self._require_work_tree()
        return GitIndex(self._command, object_format=self._object_format, unsafe_filters=self._unsafe_filters)

    @property
    def index_file(self) -> Path:
        """The file that holds the index."""
        given = self._command.environment.get("GIT_INDEX_FILE")
        return self.top / given if given else self._own_file("index")

    def index_state(self) -> str:
        """Return a digest of what the index says about files, without their times; "" where git cannot say."""
        import hashlib

        digest = hashlib.sha256()
        try:
            listed = self._command.records("ls-files", "-s", "-v", "-z", "--full-name", subject="the index")
            with closing(listed) as records:
                for record in records:
                    digest.update(record.encode("utf-8", "surrogateescape") + b"\0")
        except LockLensError:
            return ""
        return digest.hexdigest()

    @property
    def head_files(self) -> tuple[Path, ...]:
        """The files of git that tell of each move of HEAD: one of them changes. The second, its log, may be off."""
        return self._own_file("HEAD"), self._own_file("logs/HEAD")

    @property
    def is_merging(self) -> bool:
        """True if git stopped in a merge, a rebase or the like; a stash that did not apply leaves no sign of that."""
        return any(self._own_file(f"{kind}_HEAD").exists() for kind in ("MERGE", "CHERRY_PICK", "REVERT", "REBASE"))

    def _own_file(self, name: str) -> Path:
        # Of a work tree's own files, which git keeps in its own folder, as GIT_DIR names it for every command here.
        return self.top / self._command.environment["GIT_DIR"] / name

    # Revisions

    @property
    def empty_tree(self) -> str:
        """The object id of the tree without a file, which every repository knows."""
        import hashlib

        return hashlib.new(self._object_format, b"tree 0\0", usedforsecurity=False).hexdigest()

    def resolve_base(self, name: str) -> str:
        """Return the full commit id of a base, like `resolve`, but refuse a fetched tag by its name `FETCH_HEAD`.

        Raises:
            RepositoryError: There is no such commit, the name is ambiguous, or it is a fetched tag.
        """
        listings.require_no_fetched_tag(self._command, name)
        return self.resolve(name)

    def resolve(self, name: str) -> str:
        """Return the full commit id of a revision. The name cannot be taken for an option: it is not an argument.

        Raises:
            RepositoryError: There is no such commit, or the name is ambiguous; see `locklens.project.git.listings`.
        """
        commit = self._commit(name)
        if commit is not None:
            return commit
        if name in ("HEAD", "@") and self.is_unborn:
            raise RepositoryError("the repository has no commits yet", hint="commit first, or use --old and --new")
        raise listings.unknown_revision(self._command, name)

    @property
    def author(self) -> str:
        """The name that git writes as a commit's author: that of the environment, else of its configuration; else "".

        Without either, git may take that of the account, which is not counted here; no address is looked for.
        """
        settings = {"user.useConfigOnly": "true", "user.email": "address@is.of.no.use"}
        status, output, _ = self._command.ask("var", "GIT_AUTHOR_IDENT", settings=settings)
        return output.decode("utf-8", "replace").rpartition(" <")[0].strip() if status == 0 else ""

    def revisions(self) -> tuple[listings.Revision, ...]:
        """Return branches, tags and recent commits.

        Raises:
            RepositoryError: Git failed.
        """
        return listings.list_revisions(self._command, has_commits=self.has_commit("HEAD"))

    def fetch_request(self, number: int, remote: str, *, with_base: bool) -> FetchedRequest:
        """Fetch the head of a pull or merge request; see `locklens.project.git.fetch`.

        Raises:
            RepositoryError: There is no such remote or request, or the remote cannot be reached.
        """
        from locklens.project.git.fetch import fetch_request

        return fetch_request(self._command, self._object_format, number, remote, with_base=with_base)

    def has_commit(self, name: str) -> bool:
        """True if a revision of that name is known.

        Raises:
            RepositoryError: The name is ambiguous, or git failed.
        """
        return self._commit(name) is not None

    @property
    def is_unborn(self) -> bool:
        """True if HEAD is on a branch without a commit."""
        if self._commit("HEAD") is not None:
            return False
        name = listings.branch_of_head(self._command)
        if not name:
            return False
        # A reference that exists and leads nowhere is damage, and must not be taken for a new repository.
        return not self._command.answer("for-each-ref", "--count=1", "--format=%(refname)", "--", name).strip()

    @property
    def push_branch(self) -> str:
        """The branch of a remote, as this clone has it, that a push of HEAD's would change; "" for none, or unknown."""
        return listings.push_branch(self._command)

    def merge_base(self, first: str, second: str) -> str:
        """Return the best common ancestor of two commits, given by full id.

        Raises:
            RepositoryError: There is none in this clone.
        """
        status, output, complaint = self._command.ask("merge-base", "--end-of-options", first, second)
        if status == 0:
            return output.decode("ascii").split("\n", 1)[0]
        if status == 1:
            raise RepositoryError(
                f"{first[:12]} and {second[:12]} have no common ancestor in this clone",
                hint='a shallow clone lacks history: "git fetch --unshallow" brings it',
            )
        raise UnreadableObjectError(f"git cannot find the common ancestor: {first_complaint(complaint)}")

    def touching(self, path: str, most: int, tip: str = "HEAD") -> tuple[TouchingCommit, ...]:
        """Return the commits up to a tip that made a file what it is, the newest first; at most as many as given.

        Raises:
            RepositoryError: Git failed.
        """
        return () if self.is_unborn else self._listed(most, tip, "--", path)

    def added_and_deleted(self, commit: str) -> tuple[listings.PathChange, ...]:
        """Return the files that a commit added or deleted; none of a merge, or of one whose parent is not known.

        Raises:
            RepositoryError: Git failed.
        """
        arguments = ("diff-tree", "-r", "--no-commit-id", "--diff-filter=AD", *_DIFF_OPTIONS, commit, "--")
        return tuple(self._compared(*arguments)[0].values())

    def lacks_parents(self, commit: str) -> bool:
        """True if the history of this clone begins at a commit that has others before it.

        Raises:
            RepositoryError: The object is missing from this clone.
        """
        return self.commit(commit).parents > 0 and not self.has_commit(f"{commit}^")

    def is_ancestor(self, commit: str, other: str) -> bool:
        """True if a commit is another one, or before it; both are given by full id."""
        return self._command.ask("merge-base", "--is-ancestor", commit, other)[0] == 0

    def touching_anywhere(self, path: str, most: int, tips: str = "HEAD") -> tuple[TouchingCommit, ...]:
        """Return the commits before HEAD that changed a file, those of branches too whose changes a merge left out.

        They are no merges. The newest come first, at most as many as given. `tips` is "--all" for all branches.

        Raises:
            RepositoryError: Git failed.
        """
        return () if self.is_unborn else self._listed(most, "--full-history", "--no-merges", tips, "--", path)

    def merges_since(self, commit: str, most: int) -> tuple[TouchingCommit, ...]:
        """Return the merges before HEAD that have a commit behind them, the newest first; at most as many as given.

        Raises:
            RepositoryError: Git failed.
        """
        return self._listed(most, "--merges", "--ancestry-path", f"{commit}..HEAD")

    def _listed(self, most: int, *wanted: str) -> tuple[TouchingCommit, ...]:
        # No "git log": its settings have it check signatures, with a program that the configuration names.
        # By its parents a commit is newer, whatever the clocks of its committers said.
        options = (f"--max-count={most}", "--date-order", "--timestamp", "--parents")
        return read_touching(self._command.answer("rev-list", *options, *wanted))

    def commit(self, revision: str) -> CommitFacts:
        """Return author, committer and subject of a commit.

        Raises:
            RepositoryError: The object is missing from this clone.
        """
        found = self._object(f"{revision}^{{commit}}")
        if found.data is None:
            raise UnreadableObjectError(f"commit {revision[:12]} is not in this clone")
        return read_commit(found.data)

    def ignored(self, side: str | UncommittedSide, paths: Sequence[str]) -> dict[str, str]:
        """Return the files that git ignores on a side, with the places; see `locklens.project.git.ignoring`.

        Raises:
            RepositoryError: Git failed, or is out of the bounds of a request.
        """
        from locklens.project.git.ignoring import ignoring, ignoring_of

        if side is UncommittedSide.WORK_TREE:
            return ignoring(self._command, paths)
        return ignoring_of(self._command, self.listing(None if side is UncommittedSide.INDEX else str(side)), paths)

    def blamed(self, path: str, data: bytes, first: int, last: int) -> tuple[BlamedLine, ...]:
        """Return the commit of each of some lines, from 1, of a file in the work tree, as `git blame` names it.

        Raises:
            RepositoryError: Git failed, or no commit has the file.
        """
        # Commits that the repository's settings would leave out count too.
        options = ("--porcelain", "--no-textconv", "--ignore-revs-file=", "--contents=-", f"-L{first},{last}")
        return read_blame(self._command.answer("blame", *options, "--", path, given=data))

    def show(self, revision: str, path: str) -> bytes | None:
        """Return a file of a revision without listing the revision, or None. Links are not followed.

        Raises:
            UnreadableObjectError: It, or a folder on the way to it, is missing from this clone or damaged.
            LockLensError: It is too large, or git failed.
        """
        name = f"{revision}:{path}"
        if not can_be_asked(name):
            raise RepositoryError("a path with a line break or NUL cannot be read through git")
        found = self._object(name)
        if not found.kind and self.files_at(revision, [path]):
            raise UnreadableObjectError(f"{path} of {revision[:12]} is not in this clone")
        return found.data if found.kind == "blob" else None

    def files_at(self, revision: str, paths: Sequence[str]) -> dict[str, listings.TreeFile]:
        """Return the files and links of a revision among some paths, whether or not their objects are there.

        Raises:
            UnreadableObjectError: One of the trees is missing or damaged.
        """
        listed = self._command.answer("ls-tree", "-z", "--full-tree", "--end-of-options", revision, "--", *paths)
        named = listings.parse_tree(fields_of(listed)[:-1])
        return {path: file for path, file in named.items() if not file.is_submodule}

    def _commit(self, name: str) -> str | None:
        """Return the full id of a commit by any name of it, or None.

        Raises:
            RepositoryError: The name is ambiguous, or git failed.
        """
        if not name or not can_be_asked(name):
            return None
        listings.require_unambiguous(self._command, self._objects, name, len(self.empty_tree))
        found = self._object(f"{name}^{{commit}}")
        return found.object_id if found.kind == "commit" else None

    def _object(self, name: str) -> FoundObject:
        found = self._objects.read([name])[name]
        if found.problem is not None:
            raise found.problem
        return found

    # Listings and contents

    def listing(self, revision: str | None) -> dict[str, listings.TreeFile]:
        """Return every file of a revision, or of the index (None), by path. Cached after the first call.

        Raises:
            RepositoryError: A tree is missing from this clone, or there are too many files.
        """
        with self._listing_lock:
            if revision not in self._listings:
                if revision is None:
                    records = self._command.records("ls-files", "-s", "-z", "--full-name", subject="the index")
                    parse = listings.parse_index
                else:
                    # Trees are listed too, for they count against the bound: empty ones can be as many as files.
                    options = ("-r", "-t", "-z", "--full-tree", "--end-of-options")
                    records = self._command.records("ls-tree", *options, revision, subject=revision[:12])
                    parse = listings.parse_tree
                with closing(records):
                    self._listings[revision] = parse(records)
            return self._listings[revision]

    def paths(self, side: str | UncommittedSide, *, named: str = "") -> tuple[str, ...]:
        """Return the path of every file of a side (a commit id or a place), or of those with one name, in order.

        Of the work tree: tracked and not ignored files that are there, those that a sparse checkout leaves out, and
        nothing untracked below `.terraform`. Submodules are not files.
        """
        if side is UncommittedSide.EMPTY:
            return ()
        if side is UncommittedSide.WORK_TREE:
            there = (path for tag, path in self._work_files() if _has_name(path, named) and self._is_there(tag, path))
            return tuple(sorted(there, key=name_bytes))
        listing = self.listing(None if side is UncommittedSide.INDEX else str(side))
        return tuple(path for path, file in listing.items() if _has_name(path, named) and not file.is_submodule)

    def work_files(self, suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the tracked and not ignored files of the work tree whose path ends in one of the suffixes.

        Those that a sparse checkout leaves out are listed, and so is a tracked file that was deleted.

        Raises:
            RepositoryError: There is no work tree, or git failed.
        """
        return tuple(path for _, path in self._work_files() if path.endswith(suffixes))

    def untracked_repositories(self) -> tuple[str, ...]:
        """Return the folders in the work tree that are repositories of their own, neither submodules nor ignored.

        Raises:
            RepositoryError: There is no work tree, or git failed.
        """
        self._work_files()
        return self._untracked_repositories

    @cached_property
    def left_out(self) -> dict[str, listings.TreeFile]:
        """The files and links that a sparse checkout leaves out, as the index has them, on disk or not.

        Raises:
            RepositoryError: There is no work tree, or git failed.
        """
        self._require_work_tree()
        tracked = self._work_files_found or self._tagged()  # The latter takes no look at the disk.
        paths = [path for tag, path in tracked if listings.is_left_out(tag)]
        listing = self.listing(None) if paths else {}
        return {path: listing[path] for path in paths if path in listing and not listing[path].is_submodule}

    def tracked(self) -> tuple[str, ...]:
        """Return what git tracks in the work tree: files and links, there or not, and submodules.

        Raises:
            RepositoryError: There is no work tree, or git failed.
        """
        return tuple(path for tag, path in self._work_files() if tag != "?")

    def blob(self, object_id: str) -> bytes:
        """Return an object's bytes.

        Raises:
            UnreadableObjectError: It is missing from this clone or damaged.
            ConfigurationError: It is too large.
        """
        if object_id not in self._held:
            found = self._object(object_id)
            if found.data is None:
                raise UnreadableObjectError(f"object {object_id[:12]} is not in this clone")
            self._hold(object_id, found.data)
            return found.data
        return self._held[object_id]

    def has_blob(self, data: bytes) -> bool:
        """True if the repository has an object of a file's bytes."""
        import hashlib

        header = b"blob %d\0" % len(data)
        name = hashlib.new(self._object_format, header + data, usedforsecurity=False).hexdigest()
        return self._object(name).data is not None

    def prefetch(self, object_ids: Iterable[str]) -> None:
        """Read many objects in one go; `blob` then reads them from memory, and raises for those that are unreadable."""
        wanted = [object_id for object_id in dict.fromkeys(object_ids) if object_id not in self._held]
        room = _HELD_BYTES - self._held_bytes
        if not wanted or room <= 0:
            return
        for object_id, found in self._objects.read(wanted, room=room).items():
            if found.data is not None:
                self._hold(object_id, found.data)

    def _hold(self, object_id: str, data: bytes) -> None:
        if self._held_bytes + len(data) <= _HELD_BYTES:
            self._held[object_id] = data
            self._held_bytes += len(data)

    def converted(self, files: Mapping[str, listings.TreeFile], paths: Iterable[str]) -> dict[str, str]:
        """Return which files of a listing git checks out with other bytes; see `locklens.project.git.index`.

        Raises:
            RepositoryError: Git failed, or a file of attributes is missing from this clone.
        """
        from locklens.project.git.index import ATTRIBUTES_FILE, converted

        attributes = {path: file for path, file in files.items() if _has_name(path, ATTRIBUTES_FILE)}
        self.prefetch(file.object_id for file in attributes.values() if file.object_id)
        texts = [self.blob(file.object_id) for file in attributes.values() if file.object_id]
        return converted(self._command, attributes, texts, paths)

    def converted_on_disk(self, texts: Iterable[bytes], paths: Iterable[str]) -> dict[str, str]:
        """Return the same by the files of attributes on disk, given their texts.

        Raises:
            RepositoryError: Git failed.
        """
        from locklens.project.git.index import converted

        return converted(self._command, None, texts, paths)

    # Comparison

    def compare(
        self, base: str | UncommittedSide, head: str | UncommittedSide
    ) -> tuple[tuple[listings.PathChange, ...], tuple[listings.SubmoduleChange, ...]]:
        """Return the paths and the submodules that differ between two sides, each in the order of their bytes.

        The base is a commit id or `UncommittedSide.EMPTY`, the head any side. Untracked files that are not ignored
        belong to the work tree.

        Raises:
            RepositoryError: Git cannot compare them, there are too many files, or there is no work tree.
        """
        # Listings are bounded, and git holds in memory what it compares: they come first.
        before = {} if base is UncommittedSide.EMPTY else self.listing(str(base))
        if head not in (UncommittedSide.WORK_TREE, UncommittedSide.INDEX):
            after = {} if head is UncommittedSide.EMPTY else self.listing(str(head))
            return listings.differences(before, after), listings.submodule_changes(before, after)
        self._require_work_tree()
        old = self.empty_tree if base is UncommittedSide.EMPTY else str(base)
        if head is UncommittedSide.INDEX:
            arguments = ("diff-index", "--cached", "--ita-invisible-in-index", *_DIFF_OPTIONS, old, "--")
            found, submodules = self._compared(*arguments)
            return tuple(found.values()), submodules
        from locklens.project.git.index import apart, hidden

        files = self._work_files()
        if folder := listings.unlisted_folder("".join(self._warnings)):
            words = f"the work tree is not read: git cannot open the folder {folder}, whose files may be packages"
            raise RepositoryError(words, hint="make it readable, have git ignore it, or compare a revision with --head")
        with apart(self._command, self.index_file, hidden(files, self.top)) as command:
            found, submodules = self._compared("diff", *_DIFF_OPTIONS, old, "--", command=command)
        return listings.with_untracked(found, [path for tag, path in files if tag == "?"]), submodules

    def _compared(
        self, *arguments: str, command: GitCommand | None = None
    ) -> tuple[dict[str, listings.PathChange], tuple[listings.SubmoduleChange, ...]]:
        with closing((command or self._command).records(*arguments, subject="the difference")) as records:
            return listings.parse_raw(records)

    def _require_work_tree(self) -> None:
        if self.is_bare:
            raise RepositoryError(f"{self.top} has no work tree", hint="compare two revisions with --head REV")

    def _work_files(self) -> list[tuple[str, str]]:
        """Return (tag, path) of tracked (H; S where a sparse checkout leaves it out) and untracked (?) files.

        A small letter is that of a file which git was told to assume unchanged.
        """
        self._require_work_tree()
        with self._listing_lock:
            if self._work_files_found is None:
                arguments = ("--others", "--exclude-standard", "-x", ".terraform")
                found = self._tagged(*arguments, by_patterns=True, warned=self._warnings.append)
                self._work_files_found = [one for one in found if not one[1].endswith("/")]
                self._untracked_repositories = tuple(path[:-1] for _, path in found if path.endswith("/"))
            return self._work_files_found

    def _tagged(
        self, *options: str, by_patterns: bool = False, warned: Callable[[str], None] = lambda _: None
    ) -> list[tuple[str, str]]:
        arguments = ("ls-files", "-z", "-v", "--cached", *options)
        listed = self._command.records(*arguments, subject="the work tree", by_patterns=by_patterns, warned=warned)
        with closing(listed) as records:
            # A path that is not merged is there once for each side.
            return [(record[0], record[2:]) for record in dict.fromkeys(records)]

    def _is_there(self, tag: str, path: str) -> bool:
        place = os.path.join(self.top, path)  # noqa: PTH118
        if is_on_disk(place):
            return not os.path.isdir(place) or os.path.islink(place)  # noqa: PTH112, PTH114
        return listings.is_left_out(tag) and path in self.left_out


def _has_name(path: str, name: str) -> bool:
    return not name or (path.endswith(name) and (len(path) == len(name) or path[-len(name) - 1] == "/"))
