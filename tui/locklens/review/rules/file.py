"""The rules about the text of a lock file: errors of the tools, and deviations from the canonical format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.changes import comparable
from locklens.review.model import Severity
from locklens.review.rules.verdict import Verdict
from locklens.text import identity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.lockfile.model import Conflict, LockFile
    from locklens.review.model import RootReview


def refused(lock: LockFile) -> Iterator[Verdict]:
    """Yield the reasons for the tools to refuse a lock file (LK019)."""
    for problem in lock.problems:
        message = f"{problem.summary}: {problem.detail}"
        content = identity_of(message, problem.content) if problem.content else ""
        yield Verdict(message, problem.line, lock.path, column=problem.column, content=content)
    if lock.conflict is not None:
        yield from _half_conflicts(lock, lock.conflict)


def _half_conflicts(lock: LockFile, conflict: Conflict) -> Iterator[Verdict]:
    """Find providers with conflicting versions whose hashes git merged, so that one has the other's hashes."""
    from locklens.hashes import packages_of

    theirs = conflict.theirs.by_address
    for entry in conflict.ours.entries:
        other = theirs.get(entry.address)
        if other is not None and entry.version != other.version and set(entry.hashes) & packages_of(other.hashes):
            versions = f"with {entry.version} and with {other.version}"
            message = f"{entry.address} has the same hashes {versions}: one of them is wrong"
            yield Verdict(message, entry.line, lock.path)


def _unreadable(root: RootReview) -> Iterator[Verdict]:
    yield from refused(root.new)
    if not root.old.is_valid:
        problem, (_, shown) = root.old.problems[0], comparable(root.old)
        message = f"the old side cannot be read ({problem.summary}): {shown}"
        yield Verdict(message, problem.line, root.old.path, severity=Severity.INFO)


def _not_canonical(root: RootReview) -> Iterator[Verdict]:
    if not root.is_rewritten:
        return
    from locklens.lockfile.render import deviations

    modules = (f"a module block (line {warning.line})" for warning in root.new.warnings)
    if odd := [*deviations(root.new), *modules]:
        yield Verdict(f"the tools write it differently: {', '.join(odd)}", file=root.new.path)


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK018": _not_canonical, "LK019": _unreadable}
