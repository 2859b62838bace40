"""Reads roots, and judges what needs no other root and no registry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, RunCancelledError
from locklens.lockfile.model import LockFile
from locklens.operations.review.unlocked import evidence_of_root, evidence_of_unread
from locklens.operations.root_modules import Root, lock_path, read_lock, tool_of
from locklens.project.configuration import Configuration
from locklens.project.content_ids import content_ids
from locklens.project.modules import configuration_files, generator_among
from locklens.project.roots import RootEvidence
from locklens.project.touched_roots import is_module_file
from locklens.review.context import RootContext, Unread
from locklens.review.model import LockStatus, RootReview
from locklens.review.rules.health import CHECKS, Absence, LockedState
from locklens.review.rules.heeding import heeded
from locklens.review.rules.judge import judge_root
from locklens.review.rules.unreviewed import CHECKS as UNREAD_CHECKS
from locklens.review.rules.vendored import own_packages
from locklens.review.rules.verdict import finding_of
from locklens.selection import combined
from locklens.text import identity_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.health.layout import Layout
    from locklens.policy import Policy
    from locklens.project.modules import Module
    from locklens.project.tree import Tree
    from locklens.review.model import Finding
    from locklens.versions import Constraints


class RootSettings(Struct, frozen=True):
    """The settings of reading.

    Attributes:
        tool: The tool whose rules apply to every root; None: each root's own tool.
        test_directory: Folder of a root's test files, relative to the root.
        policy: The policy that applies.
    """

    tool: Dialect | None
    test_directory: str
    policy: Policy


class ReadRoot(Struct, frozen=True):
    """A root that was read and judged.

    Attributes:
        review: Its lock file and findings; without its configuration, which is large.
        constraints: Of each required provider.
        unknown: Why not all of its requirements are known; "" if they are.
        unconstrained: Why not all of its constraints are known; "" if they are.
    """

    review: RootReview
    constraints: dict[ProviderAddress, Constraints]
    unknown: str
    unconstrained: str = ""


_BATCH = 50
"""Roots between two looks at `cancel`."""


def read_roots(
    layout: Layout,
    settings: RootSettings,
    *,
    on_progress: Callable[[int, int], None],
    cancel: threading.Event,
) -> list[ReadRoot]:
    """Return the roots of a layout, in the order of their folders.

    Args:
        layout: The folders.
        settings: The settings of reading.
        on_progress: Called with the number of read folders and of all.
        cancel: Set by another thread to stop.

    Raises:
        RunCancelledError: `cancel` was set.
    """
    reader = _RootsReader(layout, settings)
    roots: list[ReadRoot] = []
    total = len(layout.locked)
    for start in range(0, total, _BATCH):
        if cancel.is_set():
            raise RunCancelledError("the scan was cancelled")
        roots += reader.read(layout.locked[start : start + _BATCH])
        on_progress(min(total, start + _BATCH), total)
    if layout.configured:
        called = reader.called([*layout.locked, *layout.configured])
        roots += reader.read_unlocked(layout.configured, called)
    known = {root.review.path for root in roots}
    roots += [reader.read_packages(folder) for folder in layout.packages if folder not in known]
    return sorted(roots, key=lambda root: root.review.path)


class _RootsReader:
    """Reads roots of a layout; each file is read once by a reader."""

    def __init__(self, layout: Layout, settings: RootSettings) -> None:
        from locklens.project.modules import ModuleReader

        self._layout = layout
        self._settings = settings
        self._modules = ModuleReader()

    def read(self, folders: Sequence[str]) -> list[ReadRoot]:
        """Return the roots of folders with a lock file."""
        return [self._root(folder, None) for folder in folders]

    def read_unlocked(self, folders: Sequence[str], called: frozenset[str]) -> list[ReadRoot]:
        """Return those of the configured folders without a lock file that are roots.

        Args:
            folders: The folders.
            called: Folders that others call as modules.
        """
        roots = []
        for folder in folders:
            absence = self._layout.absence(folder)
            if absence is Absence.IGNORED or (folder not in called and self._is_root(folder)):
                roots.append(self._root(folder, absence))
        return [root for root in roots if root.review.findings]

    def read_packages(self, folder: str) -> ReadRoot:
        """Return a folder without a lock file that is known for its packages alone."""
        return self._root(folder, None)

    def called(self, folders: Sequence[str]) -> frozenset[str]:
        """Return the folders that these folders call as local modules, directly."""
        found = set()
        for folder in folders:
            module = self._module(folder)
            for call in module.calls:
                if call.item.source is not None and call.item.source.startswith((".", "/")):
                    found.add(self._layout.tree.join(folder, call.item.source) or "")
        return frozenset(found - {""})

    def _module(self, folder: str) -> Module:
        tree = self._layout.tree
        tool = self._settings.tool or tool_of(tree, folder, LockFile.absent(lock_path(folder)))
        return self._modules.read(tree, folder, tool)

    def _is_root(self, folder: str) -> bool:
        module, tree = self._module(folder), self._layout.tree
        if evidence_of_root(module, is_generated=self._layout.is_generated) is not None:
            return True
        entries = tree.list(folder) if any(problem.is_error for problem in module.problems) else ()
        paths = (f"{folder}/{entry.name}".lstrip("/") for entry in entries if is_module_file(entry.name))
        return evidence_of_unread(module, tree, paths) is RootEvidence.BACKEND

    def _root(self, folder: str, absence: Absence | None) -> ReadRoot:
        tree, settings = self._layout.tree, self._settings
        lock = read_lock(tree, lock_path(folder), settings.tool)
        tool = settings.tool or tool_of(tree, folder, lock)
        if lock.exists and lock.writer is not tool:
            lock = read_lock(tree, lock.path, tool)
        configuration = self._configuration(folder, tool)
        path = lock_path(folder)
        review = RootReview(
            path=folder,
            lock_file=path,
            tool=tool,
            status=LockStatus.INVALID if lock.problems else LockStatus.UNCHANGED,
            format_only=False,
            # Nothing is compared: the whole file is judged, as an added one is.
            old=LockFile.absent(path),
            new=lock,
            changes=(),
            configuration=configuration,
            # Nothing says that an error is new.
            context=RootContext(settings.policy, unread=_unread(tree, configuration)),
        )
        findings = list(judge_root(review)) if lock.exists else []
        findings += heeded(self._own_findings(review, findings, absence), settings.policy)
        kept = replace(review, configuration=None, findings=tuple(findings), new=_light(lock))
        root = Root(folder, tool, lock, configuration)
        constraints = {entry.address: combined(root.requirements(entry.address)) for entry in lock.entries}
        return ReadRoot(kept, constraints, configuration.unknown_reason, configuration.unknown_constraints)

    def _configuration(self, folder: str, tool: Dialect) -> Configuration:
        tree = self._layout.tree
        try:
            entries = tree.list(folder)
            if not configuration_files(entries, tool):
                return Configuration.absent(folder, tool, generator_among(entries))
        except ConfigurationError:
            pass  # Reading it reports the reason.
        from locklens.project.requirements import read_configuration

        return read_configuration(
            tree,
            folder,
            dialect=tool,
            worktree=tree,
            environ=os.environ,
            test_directory=self._settings.test_directory,
            module_reader=self._modules,
        )

    def _own_findings(self, root: RootReview, judged: Sequence[Finding], absence: Absence | None) -> Iterator[Finding]:
        policy, configuration = self._settings.policy, root.configuration
        if not root.new.exists:
            for verdict in UNREAD_CHECKS["LK041"](root):
                yield finding_of("LK041", verdict, root.lock_file, None)
        if absence is not None and configuration is not None and (configuration.required() or root.new.exists):
            has_backend = self._module(root.path).backend is not None
            state = LockedState(root.tool, policy, absence, has_backend)
            for verdict in CHECKS["LK037"](state):
                yield finding_of("LK037", verdict, root.lock_file, None)
        for verdict in own_packages(self._layout.packages.get(root.path, ())):
            yield finding_of("LK036", verdict, root.lock_file, None)
        moved = {finding.provider for finding in judged if finding.rule == "LK015"}
        for entry in root.new.entries:
            if entry.address not in moved:
                for verdict in CHECKS["LK040"](LockedState(root.tool, policy, entry=entry)):
                    yield finding_of("LK040", verdict, root.lock_file, entry.line, entry.address)


def _unread(tree: Tree, configuration: Configuration) -> dict[str, Unread]:
    """Return the files of a configuration with an error, by path; nothing says that one is new."""
    errors = [one for one in configuration.problems if one.is_error]
    contents = content_ids(tree, {one.file for one in errors})
    return {
        one.file: Unread(one.summary, one.line, False, identity_of(one.file, contents[one.file]))
        for one in reversed(errors)
    }


def _light(lock: LockFile) -> LockFile:
    """Return a lock file without its bytes."""
    return replace(lock, data=b"")
