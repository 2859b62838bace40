"""The rules about a root module as a whole.

They judge the text of its lock file, its tool, what locklens could not judge, packages in the repository itself, module
calls without an exact version, and changes of the policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.policy import POLICY_FILE
from locklens.review.context import Absence
from locklens.review.findings import Severity
from locklens.review.rules import Verdict
from locklens.text import counted, identity_of, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from locklens.lockfile import Conflict, LockFile
    from locklens.policy.model import PolicyChange
    from locklens.review.model import RootReview


LOCK_IGNORED = "the lock file exists, and git ignores it"

OLD_SIDE = "old side"
"""The case of a lock file whose old side cannot be read."""


def refused(lock: LockFile) -> Iterator[Verdict]:
    """Yield the reasons for the tools to refuse a lock file (LK019)."""
    for problem in lock.problems:
        message = f"{problem.summary}: {problem.detail}"
        content = identity_of(message, problem.content) if problem.content else ""
        yield Verdict(message, problem.line, lock.path, column=problem.column, content=content)
    if lock.conflict is not None:
        yield from _half_conflicts(lock, lock.conflict)


def _half_conflicts(lock: LockFile, conflict: Conflict) -> Iterator[Verdict]:
    """Find providers whose versions conflict and whose hashes git merged, so that one version has the other's."""
    from locklens.hashes import packages_of

    theirs = conflict.theirs.by_address
    for entry in conflict.ours.entries:
        other = theirs.get(entry.address)
        if other is not None and entry.version != other.version and set(entry.hashes) & packages_of(other.hashes):
            versions = f"with {entry.version} and with {other.version}"
            message = f"{entry.address} has the same hashes {versions}: one of them is wrong"
            yield Verdict(message, entry.line, lock.path)


def _unreadable(root: RootReview) -> Iterator[Verdict]:
    old, new = root.old, root.new
    yield from refused(new)
    if old.is_valid or not (new.is_valid or root.is_rewritten):
        return  # The errors of a file with the same bytes are those of the new side.
    compared, is_known = _compared(old, new)
    problem = old.problems[0]
    # The other blocks of a file with an error in one are compared.
    what = "part of the old side" if new.is_complete and old.is_complete and old.conflict is None else "the old side"
    message = f"{what} cannot be read (line {problem.line}: {problem.summary}): {compared}"
    yield Verdict(message, severity=Severity.INFO if is_known else Severity.WARN, case=OLD_SIDE)


def _compared(old: LockFile, new: LockFile) -> tuple[str, bool]:
    """Return what the providers of the new side are compared with, a clause; False if all that changed is unknown."""
    if not new.is_complete:
        return "nothing is compared", True  # The errors of the new side block by themselves.
    if old.conflict is not None:
        return f"compared with {old.conflict.names[0]}", True
    if old.is_complete and not old.unreadable:
        return "compared with the rest", True
    if not new.entries:
        return f"what {'else ' if old.entries else ''}it locked is unknown", False
    if old.is_complete:
        return "compared with the rest; what that lacks is shown as new", True
    return "every provider is shown as new", True


def _not_canonical(root: RootReview) -> Iterator[Verdict]:
    if root.is_rewritten and (words := layout_words(root.new)):
        yield Verdict(words, file=root.new.path)


def layout_words(lock: LockFile) -> str:
    """Return what the tools write differently in a lock file; "" for nothing."""
    from locklens.lockfile.render import deviations

    modules = (f"a module block (line {warning.line})" for warning in lock.warnings)
    odd = [*deviations(lock), *modules]
    return f"the tools write it differently: {', '.join(odd)}" if odd else ""


def _other_tool(root: RootReview) -> Iterator[Verdict]:
    change, writer = root.context.tool_change, root.new.writer
    if change is None:
        if root.is_rewritten and writer is not None and writer is not root.tool and root.old.writer is root.tool:
            own = root.tool.product
            words = f"locked by {own} before, by {writer.product} now, and the root is judged as one of {own}"
            yield Verdict(words, 1, case="written")
        return
    before, now = change.before, change.now
    is_locked_so = root.is_rewritten
    words = f"locked by {before.product} before, by {now.product} now: "
    if not is_locked_so:
        words = f"of {before.product} before, of {now.product} now by its configuration files: "
    if change.has_migrated:
        is_of_both = any(entry.address.host == before.default_host for entry in root.new.entries)
        which = " without a host in their source" if is_of_both else ""
        words += f"its providers{which} are from {now.default_host}, judged by {now.product}'s rules"
    else:
        words += f"judged by {before.product}'s rules; --tool {now.name} judges by {now.product}'s"
    yield Verdict(words, 1) if is_locked_so else Verdict(words, case="configuration")


def _read_otherwise(root: RootReview) -> Iterator[Verdict]:
    for path, conversion in root.context.converted.items():
        words = f"git would check it out with different bytes than were judged ({conversion.attribute})"
        yield Verdict(words, file=path, severity=None if conversion.is_new else Severity.WARN)
    for path, usual in root.context.spellings.items():
        words = f"on a disk that takes its name for {usual}, the tools or git read it, and it was not judged"
        yield Verdict(words, file=path, content=root.context.contents.get(path, ""))


def _unreviewed(root: RootReview) -> Iterator[Verdict]:
    for path, one in root.context.unreviewed.items():
        severity = None if one.blocks else Severity.WARN
        yield Verdict(f"not reviewed: {path} is {one.what}", file=path, severity=severity, content=one.content)


def _unread(root: RootReview) -> Iterator[Verdict]:
    for path, one in root.context.unread.items():
        severity = None if one.is_new else Severity.WARN
        yield Verdict(f"{one.fault}: what it requires is unknown", one.line, path, severity, content=one.content)


def _brought(root: RootReview) -> Iterator[Verdict]:
    files = root.context.vendored
    if not files:
        return
    taken, kept, mirrored = _by_kind(files)
    if taken:
        words = f"the change adds or modifies packages in the repository: {taken[0]} ({counted(len(taken), 'file')})"
        yield Verdict(words, file=taken[0], content=_content(root, taken))
    if kept:
        words = f"the change adds or modifies {_kept_words(kept)}"
        yield Verdict(words, file=kept[0], content=_content(root, kept), case=WORKING_DATA)
    if mirrored:
        words = f"the change adds or modifies packages as in a mirror: {mirrored[0]} ({counted(len(mirrored), 'file')})"
        words += ", which the tools install or run if their settings name the folder"
        yield Verdict(words, file=mirrored[0], severity=Severity.WARN, content=_content(root, mirrored))


def _content(root: RootReview, files: Sequence[str]) -> str:
    return identity_of(*(part for path in files for part in (path, root.context.contents.get(path, ""))))


def own_packages(paths: Sequence[str]) -> Iterator[Verdict]:
    """Yield the verdict on tracked files that the tools use as packages, whether or not a change touches them."""
    # No change brings them: the owner of the repository may have put them there on purpose.
    taken, kept, mirrored = _by_kind(paths)
    if words := own_packages_words(paths):
        yield Verdict(words, file=taken[0], severity=Severity.WARN)
    elif kept:
        words = f"the repository has {_kept_words(kept)}"
        yield Verdict(words, file=kept[0], severity=Severity.WARN, case=WORKING_DATA)
    elif mirrored:
        words = f"packages as in a mirror: {mirrored[0]} ({counted(len(mirrored), 'file')})"
        yield Verdict(words, file=mirrored[0], severity=Severity.INFO)


def own_packages_words(paths: Sequence[str]) -> str:
    """Return a sentence about the tracked paths that the tools use as packages without any setting, or ""."""
    if taken := _by_kind(paths)[0]:
        number = counted(len(taken), "file")
        return f"the repository has what the tools install or run without asking a registry: {taken[0]} ({number})"
    return ""


def _by_kind(paths: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the paths that the tools use as packages without any setting, as data, and as packages of a mirror.

    A provider's program comes before the other files of packages: it is what is run.
    """
    taken, kept, mirrored = list[str](), list[str](), list[str]()
    if paths:
        from locklens.project.effective_paths import may_be_program, packages_folder, working_data

        for path in sorted(paths, key=lambda one: not may_be_program(one)):
            (mirrored if packages_folder(path) is None else kept if working_data(path) else taken).append(path)
    return taken, kept, mirrored


def _kept_words(kept: Sequence[str]) -> str:
    from locklens.project.effective_paths import working_data

    return f"working data of the tools: {kept[0]} ({counted(len(kept), 'file')}), {working_data(kept[0])}"


def _old_folder_unknown(root: RootReview) -> Iterator[Verdict]:
    unlike, folder = root.context.unlike_before, root.renamed_from or "."
    if unlike:
        others = listing([one or "." for one in unlike])
        words = f"moved from {folder}, or from {others}: neither files nor names tell, and the lock files differ"
        yield Verdict(f"{words}; compared with that of {folder} alone")


def _not_exact(root: RootReview) -> Iterator[Verdict]:
    for called in root.configuration.remote_modules if root.configuration is not None else ():
        if not called.is_exact:
            version = f" {called.version}" if called.version else ""
            words = f"module {called.call} ({called.source}{version}) is called without an exact version or commit"
            yield Verdict(words, called.line, called.file)


def unlocked(root: RootReview) -> Iterator[Verdict]:
    """Yield the verdict of a review on a root without a lock file in the repository (LK037)."""
    context, configuration = root.context.unlocked, root.configuration
    if context is None or configuration is None:
        return
    required, before = configuration.required(), context.required_before
    if not required and not configuration.unknown_constraints:
        return
    added = sorted(required - before)
    selected = f"what init selects for {listing(list(map(str, added)))}" if added else "whatever init selects"
    fact = LOCK_IGNORED if context.absence is Absence.IGNORED else "no lock file"
    if context.pattern:
        fact = f"git ignores the lock file that the base has ({context.pattern})"
    # A root that had no lock file before either is left to the health.
    is_new = context.is_changed and (bool(added) or not before or root.old.exists)
    severity = None if is_new and context.has_backend else Severity.INFO
    yield Verdict(f"{fact}: {selected} is not reviewed", severity=severity, case=context.absence)


def own_policy(change: PolicyChange) -> Iterator[Verdict]:
    """Yield the verdict on a policy that differs from the one that judges (LK028)."""
    base, head = change.base_name, change.head_name
    if not change.has_base:
        judge = f"{base} has none, so none applies"
    elif change.differences and not change.is_unpermitted:
        judge = f"what it adds to that of {base} counts"
    else:
        judge = f"that of {base} applies"
    if change.problem:
        words = f"{POLICY_FILE} of {head} cannot be read, and {judge}: {change.problem}"
    else:
        what = f"is removed in {head}" if change.is_removed else f"differs in {head}"
        words = f"{POLICY_FILE} {what}, and {judge}: {'; '.join(change.differences) or 'in comments or layout alone'}"
    if change.lacking and not change.is_removed:
        keys = ", ".join(change.lacking)
        words += (
            f"; it lacks what {base} changed since ({keys}): bring the branch up to date before it replaces the base's"
        )
    severity = None if change.is_unpermitted else Severity.INFO
    yield Verdict(words, change.line, POLICY_FILE, severity=severity, content=change.content, case=_case_of(change))


def _case_of(change: PolicyChange) -> str:
    """Return the case of LK028: how the policy differs, since what to do about it depends on that."""
    if change.problem:
        return "unreadable"
    if not change.has_base:
        return "no base"
    if not change.is_unpermitted:
        return "counts" if change.differences else "layout"
    what = "decisions" if change.is_of_decisions else ""
    return f"{what} since fork".strip() if change.is_since_fork else what


WORKING_DATA = "working data"
"""The case of files of a data folder that are no packages."""

CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {
    "LK018": _not_canonical,
    "LK019": _unreadable,
    "LK029": _not_exact,
    "LK031": _read_otherwise,
    "LK032": _other_tool,
    "LK035": _unreviewed,
    "LK036": _brought,
    "LK041": _unread,
    "LK047": _old_folder_unknown,
}
