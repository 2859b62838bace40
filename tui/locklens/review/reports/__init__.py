"""A finished review as text and as a JSON document. Nothing is computed here that the review does not say.

Here are the words and signs that reports and screens share. Everywhere `fail_on` is the value of --fail-on, None for
the policy's, and colours add no information.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.hashes import is_of_zip
from locklens.lines import Role, Span
from locklens.review import HashCount
from locklens.review.context import Absence
from locklens.review.findings import Severity, by_severity
from locklens.review.model import Change, ChangeKind, LockStatus, Review, RootReview, Unverified, unverified_by
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from locklens.project.configuration import Configuration, MissingModule
    from locklens.releases import LookupFailure
    from locklens.review.model import SideName

_SIGNS = {
    ChangeKind.REPLACED_HASHES: "!!",
    ChangeKind.CHANGED_HASHES: "#!",
    ChangeKind.DOWNGRADE: "v",
    ChangeKind.NEW_PROVIDER: "+",
    ChangeKind.MOVED: "@",
    ChangeKind.NEW_HASHES: "#",
    ChangeKind.UPGRADE: "^",
    ChangeKind.REMOVED_HASHES: "#-",
    ChangeKind.REMOVED: "-",
    ChangeKind.CONSTRAINTS_ONLY: "~",
    ChangeKind.UNCHANGED: "=",
}

_UNVERIFIED = {
    Unverified.FAILED: "lookup failed",
    Unverified.NOT_AUTHENTICATED: "release not authenticated",
    Unverified.NOT_ASKED: "registry not asked",
    Unverified.OFFLINE: "offline",
}

SIGN_MEANINGS = {
    "!!": "same version, hashes replaced",
    "#!": "same version, hashes added and removed",
    "v": "downgrade",
    "+": "new provider",
    "@": "moved to another host or namespace",
    "#": "hashes added",
    "^": "upgrade",
    "#-": "hashes removed",
    "-": "removed",
    "~": "constraints only",
    "=": "unchanged",
}


def trouble_words(trouble: LookupFailure | None) -> str:
    """Why a registry vouches for nothing: what was not learnt from it, or that its release is not authenticated."""
    return (
        "not listed by the registry" if trouble is not None and trouble.is_no else _UNVERIFIED[unverified_by(trouble)]
    )


def kind_sign(kind: ChangeKind) -> str:
    """The one or two ASCII characters of a kind."""
    return _SIGNS[kind]


SAME_VERSION = " (same version)"


def phrase(change: Change) -> str:
    """The versions in a few characters: `5.1.0 -> 5.2.0`, `new 1.0.0`, `1.0.0 (same version)`."""
    match change.old, change.new:
        case None, new if new is not None:
            return f"new {new.version}"
        case old, None if old is not None:
            return f"{old.version} removed"
        case old, new if old is not None and new is not None and old.version != new.version:
            return f"{old.version} -> {new.version}"
        case _, new:
            return f"{new.version}{SAME_VERSION}" if new is not None else ""


def side_words(side: SideName) -> str:
    """Name a side of the comparison, with seven digits of its revision."""
    revision = (side.revision or "")[:7]
    if side.fork_of:
        # "main@1234567" would say that main is this commit, and "main...HEAD@1234567" that HEAD is.
        return f"fork point of {side.fork_of} {revision}"
    shown = "work tree" if side.kind == "worktree" else side.name
    return f"{shown}@{revision}" if revision and not str(side.revision).startswith(side.name) else shown


def lock_status_words(root: RootReview) -> str:
    """What became of a root's lock file, if it has one."""
    unlocked = root.context.unlocked
    if unlocked is not None and unlocked.absence is Absence.IGNORED:
        return "ignored by git"
    return root.status.value if root.old.exists or root.new.exists or root.new.problems else "none"


def root_status_words(root: RootReview) -> str:
    """What became of a root: that it was deleted, or else what became of its lock file alone."""
    status = lock_status_words(root)
    return "root deleted" if root.is_removed else "no lock file" if status == "none" else f"lock file {status}"


def lost_words(root: RootReview) -> str:
    """That a root was deleted, or its lock file alone; "" for any other root."""
    return root_status_words(root) if root.status is LockStatus.DELETED else ""


def root_note(root: RootReview) -> str:
    """The change of a root's lock file as a file, and what of its configuration is unread; "" if there is neither."""
    return ", ".join(filter(None, (file_note(root), unread_note(root.configuration))))


def file_note(root: RootReview) -> str:
    """The change of a root's lock file as a file; "" if its providers' changes are all."""
    match root.status:
        case LockStatus.ADDED:
            return "lock file added"
        case LockStatus.DELETED:
            return root_status_words(root)
        case LockStatus.INVALID:
            return "lock file cannot be read"
        case LockStatus.MODIFIED if root.format_only:
            return FORMAT_ONLY
        case LockStatus.MODIFIED | LockStatus.UNCHANGED:
            return moved_from_words(root)
        case _:
            assert_never(root.status)


FORMAT_ONLY = "format only: same providers, different bytes"


def moved_from_words(root: RootReview, named: Callable[[str], str] = str) -> str:
    """The folder that a root was in before, as `folder_before` has it; "" if it was not moved."""
    return f"moved from {folder_before(root, named)}" if root.renamed_from is not None else ""


def folder_before(root: RootReview, named: Callable[[str], str] = str) -> str:
    """The folder from which a root was moved, as far as files and names tell; `named` makes text of a folder."""
    folder, equals, unlike = root.renamed_from or ".", root.context.equals_before, root.context.unlike_before
    if len(unlike) == 1 and not equals:
        return f"{named(folder)} or {named(unlike[0] or '.')}"
    kind = "" if unlike else "equal "
    others = equals + len(unlike)
    return f"{named(folder)} or another of {others + 1} {kind}roots" if others else named(folder)


def fate_words(root: RootReview) -> str:
    """What became of a root that was moved or deleted, or of its deleted lock file; "" for any other root."""
    return lost_words(root) or moved_from_words(root)


def missing_module_words(module: MissingModule) -> str:
    """The module whose requirements are unknown."""
    return f"unknown: module {module.call} is {module.trouble}"


def unread_note(configuration: Configuration | None) -> str:
    """The first part of a configuration that could not be read, with the number of other modules; "" if all was."""
    if configuration is None or not configuration.unread_reason:
        return ""
    if not configuration.missing_modules:
        return f"unknown: {configuration.unread_reason}"
    first, *others = configuration.missing_modules
    return f"{missing_module_words(first)}{f', and {len(others)} more' if others else ''}"


def unread_configurations(review: Review) -> str:
    """The number of configurations that may hold constraints which could not be read; "" where all were read."""
    number = sum(root.configuration is not None and bool(root.configuration.unread_reason) for root in review.roots)
    return f"{counted(number, 'configuration')} not read whole" if number else ""


def findings_in_words(review: Review) -> str:
    """The number of findings of each severity that occurs: "1 block, 2 warn"; "" without any."""
    return numbers_in_words(review.severity_counts)


def all_findings_in_words(review: Review) -> str:
    """The same, with the number of all that reports list, where a finding about one change is in several roots.

    Accepted ones, which are in none of these numbers, have their own.
    """
    found, listed = findings_in_words(review), listed_counts(review)
    if listed != review.severity_counts:
        found = f"{found} (distinct by change and rule; {numbers_in_words(listed)} in all)"
    roots = sum(any(one.accepted is not None for one in root.all_findings) for root in review.roots)
    accepted = f"{review.accepted} accepted{', counted in each root' * (roots > 1)}" if review.accepted else ""
    return "; ".join(filter(None, (found, accepted)))


def listed_counts(review: Review) -> dict[Severity, int]:
    """The number of findings of each severity as reports list them: those about one change in every root of it."""
    return by_severity(finding.severity for finding in review.findings if finding.accepted is None)


def numbers_in_words(counts: Mapping[Severity, int]) -> str:
    """Numbers of findings: "1 block, 2 warn"; "" without any."""
    return ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)


_KEPT = "kept"


def hash_words(count: HashCount, adjective: str) -> str:
    """The number of hashes that are not verified, with its unit: "48 of 175 added hashes not verified"; "" without any.

    The adjective is "locked", or that of `claimed_word`.
    """
    # The hash of a manifest, which is none of a package, is kept by every upgrade, and claimed by none.
    hashes = f"{adjective}{' package' if adjective == _KEPT else ''} {'hash' if count.total == 1 else 'hashes'}"
    if not count.unverified:
        return f"{count.total} {hashes} verified" if count.total else ""
    words = f"{count.unverified} of {count.total} {hashes} not verified"
    return f"{words} ({count.reported} reported, unsigned)" if count.reported else words


def entry_words(change: Change) -> str:
    """What is known about the hashes on the new side, and why no more is; nothing of the step to them."""
    words = [hash_words(HashCount.of(change.locked), "locked")]
    is_known = change.evidence is not None and change.evidence.offered is not None
    if is_known:
        packages = [fact for fact in change.locked if is_of_zip(fact.hash)]
        against = sum(fact.kind.contradicts for fact in packages)
        all_in = "every zh is in the release" if packages else ""
        words.append(f"{against} of {len(packages)} zh not in the release" if against else all_in)
    # Of a release that is known, what is not known is about the one before.
    problems = change.evidence.problems[:1] if change.evidence is not None and not is_known else ()
    return "; ".join(filter(None, [*words, *problems]))


def hashes_of_review(review: Review) -> str:
    """The `hash_words` of a whole review: of its claimed hashes, in a survey of all locked ones."""
    return hash_words(review.hashes, "locked" if review.is_survey else claimed_word(review.changes))


def claimed_word(changes: Collection[Change]) -> str:
    """What the claimed hashes are: "added", "kept" from another version or address, or "added or kept"."""
    has_kept = any(change.kept and len(change.claimed) > len(change.added) for change in changes)
    if not any(change.added for change in changes):
        return _KEPT if has_kept else "added"
    return "added or kept" if has_kept else "added"


def left_out_words(review: Review) -> str:
    """The lock files that a restricted run did not compare; "" where it compared all."""
    files = f"{review.left_out} of {counted(review.lock_files, 'lock file')}"
    return f"not compared: {files}, of roots that were not named" if review.left_out else ""


def unjudged_words(review: Review) -> str:
    """The roots of a review that lists none, and what judges them; "" for any other review."""
    number = review.all_roots - review.left_out
    if review.roots or not number:
        return ""
    are = "is" if number == 1 else "are"
    return f"not judged: {counted(number, 'root')} that {are} unchanged; `locklens health` checks every root"


def roots_and_changes(review: Review) -> str:
    """The roots with something to list, of all roots, and the changes: "31 of 32 roots, 38 changes (28 distinct)"."""
    several = f"{len(review.roots)} of " if review.all_roots > len(review.roots) else ""
    roots = counted(review.all_roots if several else len(review.roots), "root")
    distinct = f" ({review.distinct_changes} distinct)" if review.distinct_changes != len(review.changes) else ""
    return f"{several}{roots}, {counted(len(review.changes), 'change')}{distinct}"


def verdict_words(review: Review) -> str:
    """The verdict, e.g. "ok", or "warn, 12 of 15 added hashes not verified, offline".

    It is "unknown" instead of "ok" as long as a lookup is outstanding.
    """
    unverified = unverified_words(review)
    lacking = sum(change.lacks_facts for change in review.changes)
    is_unsettled = not all(change.is_settled for change in review.changes)
    verdict = "unknown" if is_unsettled and review.verdict == "ok" else review.verdict
    rest = f"not all is known of {counted(lacking, 'change')}" if lacking and (is_unsettled or not unverified) else ""
    return ", ".join(filter(None, (verdict, unverified, rest, unread_configurations(review))))


def failing_words(review: Review, fail_on: str | None, *, is_brief: bool = False) -> str:
    """The findings that fail a review: "1 blocking finding", "3 findings of warn or worse"; in brief "3 findings"."""
    threshold = Severity(review.threshold(fail_on))
    number = sum(count for severity, count in review.severity_counts.items() if severity.rank <= threshold.rank)
    if threshold is Severity.BLOCK:
        return f"{number} blocking" if is_brief else counted(number, "blocking finding")
    of = "" if is_brief else f" of {threshold} or worse"
    return counted(number, f"finding{of}", f"findings{of}")


def exit_words(review: Review, fail_on: str | None) -> str:
    """The reason for the exit status where verdict and policy alone would mislead: at a threshold other than block."""
    threshold = review.threshold(fail_on)
    setting = f"--fail-on {threshold}" if fail_on is not None else f'the policy\'s fail_on = "{threshold}"'
    if threshold != Severity.BLOCK and review.fails(fail_on):
        return f"fails at {setting}: {failing_words(review, fail_on)}"
    would_fail = review.fails(Severity.BLOCK) or review.fails(None)
    return f"fails on nothing: {setting}" if would_fail and not review.fails(fail_on) else ""


def survey_verdict(review: Review) -> str:
    """The verdict on all that is locked: "unknown" where no lock file was there to be judged."""
    is_any_there = review.verdict != "ok" or any(root.new.exists for root in review.roots)
    return review.verdict if is_any_there else "unknown"


def unverified_words(review: Review) -> str:
    """The hashes that are not verified, and why a registry could not tell; "" where all are verified."""
    reasons = {change.unverified for change in review.unverified_changes}
    counts = [hashes_of_review(review)] if review.hashes.unverified else []
    return ", ".join([*counts, *(_UNVERIFIED[reason] for reason in Unverified if reason in reasons)])


_MOST_UNCHECKED = 100
"""The most limits that a report for programs has."""


def unchecked(review: Review) -> list[str]:
    """Return what a review did not check, each a clause."""
    hosts = sorted(review.hosts, key=lambda host: host.host)
    states = [
        f"registry {host.host} was not asked" if host.error is None else f"registry {host.host} failed: {host.error}"
        for host in hosts
        if host.error is not None or not host.asked
    ]
    said = [unverified_words(review), *states, left_out_words(review), unread_configurations(review), *review.limits]
    return [*dict.fromkeys(filter(None, said))][:_MOST_UNCHECKED]


SEVERITY_ROLES = {
    Severity.BLOCK: Role.BLOCK,
    Severity.WARN: Role.WARN,
    Severity.INFO: Role.INFO,
    Severity.OFF: Role.DIM,
}

VERDICT_ROLES = {"block": Role.BLOCK, "warn": Role.WARN, "unknown": Role.WARN, "ok": Role.GOOD}
"""The roles of the verdicts of reviews and of the health."""


def severity_span(severity: Severity | None, *, width: int = 0) -> Span:
    """The severity as a word, readable without colour; "ok" without findings."""
    if severity is None:
        return Span("ok".ljust(width), Role.DIM)
    return Span(severity.value.upper().ljust(width), SEVERITY_ROLES[severity])
