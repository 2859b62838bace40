"""What the keys do on a row of the review: the operations of the upper-case keys, and the targets of the others.

Each function that returns an operation, or what one is about, raises LockLensError where it is not possible on the row.
The targets are text for the clipboard, a place for the editor, a release for the browser, and a provider for Doctor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import LockLensError
from locklens.lines import FilePlace
from locklens.operations.reports import render_report
from locklens.operations.write.lock_edits import Format, Prune, Restore, RestoredProviders
from locklens.operations.write.policy_edits import (
    Accept,
    Decision,
    accept_findings,
    base_words,
    outdated_words,
    root_words,
)
from locklens.operations.write.resolve import ResolveConflicts
from locklens.project import LOCK_FILE, is_lock_file
from locklens.review.model import ChangeKind, LockStatus, Review, RootReview
from locklens.text import counted, listing
from locklens.ui.clipboard import change_copied, finding_copied, quoted_markdown
from locklens.ui.dialogs.choices import CopyChoice
from locklens.ui.review.outline import Node, NodeKind, RootChange, provider_name
from locklens.ui.row_actions import RowTarget
from locklens.ui.views import ExaminedProvider, examined_row

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.review.findings import Finding
    from locklens.ui.row_actions import ScopeOf

_SHOWN_REVISION = 12


def pruning(node: Node | None, where: ScopeOf) -> Prune:
    """Return the operation that prunes the highlighted orphan, or else the orphans of the row's roots."""
    roots = _roots(node)
    change = node.change if node is not None else None
    if node is not None and change is not None and change.new is not None and _is_orphan(node):
        return Prune(where(_paths(roots)), (provider_name(node.subjects[0]),))
    return Prune(where(_paths(roots)))


def _is_orphan(node: Node) -> bool:
    return all(any(finding.names_orphan for finding in subject.change.findings) for subject in node.subjects)


def formatting(node: Node | None, where: ScopeOf) -> Format:
    """Return the operation that formats the lock files of the row's roots."""
    return Format(where(_paths(_roots(node))))


def merging(node: Node | None, where: ScopeOf) -> ResolveConflicts:
    """Return the operation that merges the lock files of the row's roots that git left in conflict."""
    in_conflict = node.in_conflict if node is not None else ()
    return ResolveConflicts(where(_paths(in_conflict or _roots(node))))


def acceptable(node: Node | None) -> tuple[str, tuple[Finding, ...]]:
    """Return the provider of a row, and the findings about its change that can be accepted, the worst first."""
    subjects = node.subjects if node is not None and node.change is not None else ()
    if not subjects:
        raise LockLensError(
            "select the change of one provider: a root is not accepted as a whole, nor are findings about it"
        )
    found = [finding for subject in subjects for finding in subject.change.findings if finding.accepted is None]
    if not found:
        raise LockLensError("no finding about this change")
    return provider_name(subjects[0]), tuple(sorted(found, key=lambda finding: finding.severity.rank))


def accepting(node: Node | None, review: Review, top: Path, rules: Iterable[str], decision: Decision) -> Accept:
    """Return the operation that accepts the findings of some rules about the changes of a row, and no others.

    `top` is the folder of the policy.
    """
    subjects = node.subjects if node is not None else ()
    ids = {subject.change.id for subject in subjects}
    addresses = {subject.change.address for subject in subjects}
    found = [
        one for rule in rules for one in accept_findings(review, top, rule, addresses, decision=decision).acceptances
    ]
    accepted = tuple(one for one in found if one.change in ids)
    # Without them the command would accept the other ways too in which roots change the provider.
    roots = _paths(subject.root for subject in subjects) if len(accepted) < len(found) else ()
    words = (*base_words(review), *root_words(top, roots))
    by = decision.by if decision.is_name_typed else ""
    return Accept(top, accepted, by, words, outdated_words(review))


def restorable(node: Node | None) -> dict[str, list[str]]:
    """Return the providers that are restored on a row, by root; of a finding about a lock file, all that changed in it.

    Where only lines outside of its entries changed, such as the header, these are all of its providers; so on any row
    of a file that cannot be parsed, which is restored as a whole or not at all. Roots that the base's lock file cannot
    be restored in are left out.
    """
    if node is None:
        return {}
    root = node.root if node.finding is not None and node.root and node.finding.file == node.root.lock_file else None
    subjects = node.subjects if root is None else tuple(RootChange(root, change) for change in root.changes)
    whole = node.roots if node.finding is None or root is not None else ()
    broken = (one for one in whole if one.new.problems and one.new.conflict is None and _is_restorable_whole(one))
    names = {one.path: _all_locked(one) for one in broken}
    of_changes: dict[str, list[str]] = {}
    for subject in subjects:
        change, within = subject.change, subject.root
        if change.kind is ChangeKind.UNCHANGED or within.path in names or _no_restoring(within):
            continue
        of_changes.setdefault(within.path, []).append(provider_name(subject))
    names |= of_changes
    if root is not None and not names and _is_restorable_whole(root):
        names[root.path] = _all_locked(root)
    return names


def _is_restorable_whole(root: RootReview) -> bool:
    return root.is_rewritten and root.old.exists and not _no_restoring(root)


def _all_locked(root: RootReview) -> list[str]:
    """The providers of both sides of a root."""
    return [one.short(root.tool.default_host) for one in {**root.old.by_address, **root.new.by_address}]


def _no_restoring(root: RootReview) -> str:
    """Return why a root's lock file cannot be restored from the base, a clause; "" if it can."""
    if root.status is LockStatus.ADDED:
        return f"the base has no {root.lock_file}"
    return f"{no_root_words(root)}: git restores its files" if root.is_removed else ""


def restoring(node: Node | None, review: Review, where: ScopeOf) -> Restore:
    """Return the operation that restores the row's changes from the review's base."""
    base = review.base
    if base.kind != "git" or base.revision is None:
        raise LockLensError("no revision to restore from: there is no commit yet")
    by_root = restorable(node)
    if not by_root:
        reasons = map(_no_restoring, node.roots if node is not None else ())
        raise LockLensError(next(filter(None, reasons), "no change on this row"))
    paths_by_names: dict[tuple[str, ...], list[str]] = {}
    for path, names in by_root.items():
        paths_by_names.setdefault(tuple(sorted(names)), []).append(path)
    restored = tuple(RestoredProviders(where(paths).roots, names) for names, paths in paths_by_names.items())
    # A common ancestor has no name that git accepts.
    revision = base.revision[:_SHOWN_REVISION] if base.fork_of else base.name
    return Restore(where(()), restored, revision)


def _roots(node: Node | None) -> tuple[RootReview, ...]:
    """The roots of a row that have a lock file."""
    if node is None:
        raise LockLensError("select a row")
    if not node.roots:
        raise LockLensError("no root on this row")
    roots = tuple(root for root in node.roots if root.new.exists)
    if not roots:
        first = node.roots[0]
        raise LockLensError(no_root_words(first) if first.is_removed else f"there is no {first.lock_file}")
    odd = next((root.lock_file for root in roots if not is_lock_file(root.lock_file)), None)
    if odd is not None:
        raise LockLensError(f"{odd} is not a root's lock file: its name is not {LOCK_FILE}")
    return roots


def no_root_words(root: RootReview) -> str:
    """The reason why nothing acts on a root that was removed."""
    return f"{root.path or '.'} is no root any more"


def _paths(roots: Iterable[RootReview]) -> list[str]:
    return [root.path for root in roots]


def node_copied(node: Node) -> str:
    """The clipboard text of a row; "" if there is none without a path."""
    if node.change is not None:
        rules = sorted({finding.rule for subject in node.subjects for finding in subject.change.findings})
        return change_copied(node.change) + (f" ({', '.join(rules)})" if rules else "")
    if node.finding is not None:
        return finding_copied(node.finding)
    return str(node.pair.address) if node.pair is not None else ""


_MAX_HASHES = 100
"""Added hashes that are offered; the detail has all of them."""


def copy_choices(node: Node | None, review: Review | None = None, fail_on: str | None = None) -> tuple[CopyChoice, ...]:
    """The texts that can be copied of a row; only Markdown, which is the report's, has names of roots and files."""
    if is_of_report(node):
        return _report_choices(node, review, fail_on)
    if node is None or not node_copied(node):
        return ()
    row = CopyChoice("row", node_copied(node))
    if node.finding is not None:
        return CopyChoice("finding", row.text), _markdown_choice("Markdown", node, "the finding")
    change = node.change
    if change is None:
        return (row,)
    changes = [subject.change for subject in node.subjects]
    signers = [one.new_signer for one in changes if one.new_signer is not None]
    texts = [
        row,
        _markdown_choice("Markdown", node, "the change"),
        CopyChoice("provider", str(change.address)),
        *(CopyChoice("finding", finding_copied(finding)) for one in changes for finding in one.findings),
        *(CopyChoice("fingerprint", key.fingerprint) for signer in signers for key in signer.keys),
        *(CopyChoice("hash", fact.hash) for fact in change.added[:_MAX_HASHES]),
    ]
    return tuple(dict.fromkeys(texts))


def is_of_report(node: Node | None) -> bool:
    """True for a row of which the whole report is offered, and for None: no row is listed."""
    return node is None or node.kind in {NodeKind.SECTION, NodeKind.NOTE}


def _report_choices(node: Node | None, review: Review | None, fail_on: str | None) -> tuple[CopyChoice, ...]:
    whole = []
    if review is not None:
        report = quoted_markdown(render_report("review", "markdown", review, fail_on=fail_on))
        whole = [CopyChoice("whole review", report, "Markdown of the whole review")]
    changes = len({subject.change.id for subject in node.subjects}) if node is not None else 0
    findings = sum(child.finding is not None for child in node.children) if node is not None else 0
    if node is None or not changes + findings:
        return tuple(whole)
    parts = ((changes, "change"), (findings, "finding"))
    words = " and ".join(counted(number, noun) for number, noun in parts if number)
    return (*whole, _markdown_choice("section", node, f"its {words}"))


def _markdown_choice(label: str, node: Node, words: str) -> CopyChoice:
    """What the Markdown report says of the changes and findings of a node."""
    from locklens.review.reports.markdown import render_part

    changes = ((subject.root, subject.change) for subject in node.subjects)
    findings = ((each.root, each.finding) for each in (node, *node.children) if each.finding is not None)
    return CopyChoice(label, quoted_markdown(render_part(changes, findings)), f"Markdown of {words}")


def node_place(node: Node | None) -> FilePlace | None:
    """The file and line of a row."""
    if node is not None and node.finding is not None:
        return FilePlace(node.finding.file, node.finding.line or 1)
    if node is None or (node.root is None and not node.subjects):
        return None
    root = node.root or node.subjects[0].root
    entry = (node.change.new or node.change.old) if node.change is not None else None
    return FilePlace(root.lock_file, entry.line if entry is not None else 1)


def unlocked_words(node: Node) -> str:
    """Return why a row has no change of a locked provider, a clause."""
    if node.in_conflict:
        return f"{node.in_conflict[0].lock_file} is in conflict: M merges it"
    names = sorted({provider_name(subject) for subject in node.subjects})
    if names:
        return f"{listing(names, limit=2)} {'is' if len(names) == 1 else 'are'} no longer locked"
    provider, root = node.provider, node.root
    if root is not None and not root.new.exists:
        return "the root has no lock file: on 5 Health, L locks what is required"
    if provider is None or root is None:
        return "no change of a provider on this row: 3 Hashes lists all that is locked"
    name = provider.short(root.tool.default_host)
    if provider in root.new.by_address:
        return f"the entry of {name} is unchanged: 3 Hashes lists it"
    if root.configuration is not None and root.configuration.is_of_init(provider):
        return f"{name} is required by the state or test files alone: `locklens init` in the root locks it"
    return f"{name} is not locked: on 5 Health, L locks what is required"


def upgrade_subject(node: Node | None) -> tuple[str, ProviderAddress] | None:
    """Return the root and the provider of a row that the Upgrade screen lists: it is locked there, or required."""
    if node is None or node.provider is None:
        return None
    if node.change is None:  # a finding about a provider that did not change
        return (node.root.path, node.provider) if node.root is not None and node.root.new.exists else None
    listed = (one for one in node.subjects if one.change.new or (one.root.new.exists and one.change.required_by))
    return next(((one.root.path, one.change.address) for one in listed), None)


def examined_node(node: Node | None) -> ExaminedProvider | None:
    """Return the provider of a row, or its root alone, with the findings; of several roots the first that is left."""
    subjects = [one for one in node.subjects if not one.root.is_removed] if node is not None else []
    if node is None or not (subjects or (node.root is not None and not node.root.is_removed)):
        return None
    if node.change is not None and subjects:
        subject = subjects[0]
        return examined_row(subject.root.path, str(subject.change.address), subject.change.findings, screen="Review")
    root = node.root or subjects[0].root
    findings = (node.finding,) if node.finding is not None else root.findings
    return examined_row(root.path, str(node.provider or ""), findings, screen="Review")


def row_target(node: Node | None) -> RowTarget:
    """Return the targets of a row; empty for None."""
    if node is None:
        return RowTarget()
    change = node.change
    entry = (change.new or change.old) if change is not None else None
    release = (change.address, str(entry.version)) if change is not None and entry is not None else None
    return RowTarget(node_copied(node), node_place(node), release)
