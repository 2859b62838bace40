"""What the review says of a plan: its findings, what stays unknown, and the state of each change. No I/O."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.policy import POLICY_FILE, AcceptFrom
from locklens.review.findings import Finding, Severity, worst
from locklens.review.model import ChangeKind, Review
from locklens.review.reports import SEVERITY_ROLES, claimed_word, hash_words, hashes_of_review, severity_span
from locklens.review.rules.catalogue import wording_of
from locklens.text import counted
from locklens.ui.clipboard import finding_copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.operations.plan import PlannedChange
    from locklens.operations.plan.review import PlanReview
    from locklens.review.model import Change as ReviewedChange
    from locklens.ui.preview.progress import PlanProgress

AS_HEAD = "as in HEAD"
_FINDINGS = 8


def result_lines(standing: PlanProgress) -> Iterator[Line]:
    """Yield the result of writing the plan, as its review has it: hashes, findings, and what is not known."""
    if standing.plan is not None and standing.plan.proposal.folders:
        return
    yield from heading("RESULT")
    if standing.review_error is not None:
        yield line(Span("  not reviewed: ", Role.WARN), str(standing.review_error), hanging=4)
        return
    if standing.plan_review is None:
        yield line(Span("  …", Role.DIM))
        return
    if standing.is_policy_alone:
        yield from _policy_lines(standing.plan_review)
        return
    plan_review = standing.plan_review
    review = plan_review.review
    added = sum(len(change.added) for change in review.changes)
    removed = sum(len(change.removed) for change in review.changes)
    proof = Span(hashes_of_review(review), Role.WARN if review.hashes.unverified else Role.GOOD)
    since = " since HEAD" if (review.base.kind, review.base.name) in {("worktree", "HEAD"), ("index", "HEAD")} else ""
    yield line(f"  hashes: +{added} -{removed}{since}   ", proof)
    found = review.distinct_findings()
    counts = [(severity, number) for severity, number in review.severity_counts.items() if number]
    spans = [Span(f"{number} {severity.value.upper()}  ", SEVERITY_ROLES[severity]) for severity, number in counts]
    yield line("  findings: ", *(spans or [_no_findings(plan_review)]), *_known_findings(plan_review), hanging=4)
    yield from _finding_lines(found)
    if plan_review.against and standing.writes_lock_file:
        left = plan_review.still_differing
        number, differ = counted(left, "entry", "entries") if left else "no entry", "differ" if left > 1 else "differs"
        rest = f"{number} of these files {differ} from {plan_review.against}{standing.words.where}"
        yield line(Span(f"  after this, {rest}", Role.DIM), hanging=4)
    # Not what a registry failed to say that was asked to explain foreign hashes alone: none may be left to explain.
    unknown = list(dict.fromkeys(_unknown_words(review)))
    for problem in unknown[:_UNKNOWN_SHOWN]:
        yield line(Span("  unknown: ", Role.WARN), problem, hanging=4)
    if len(unknown) > _UNKNOWN_SHOWN:
        yield line(Span(f"  unknown: {len(unknown) - _UNKNOWN_SHOWN} more facts", Role.DIM))
    for note in review.notes:
        yield line(Span("  note: ", Role.WARN), note, hanging=4)


_UNKNOWN_SHOWN = 3


def _unknown_words(review: Review) -> Iterator[str]:
    """The facts that are missing; where none is, the hashes because of which a change is "not all known"."""
    for root in review.roots:
        for change in root.changes:
            missing = _missing_facts(change)
            yield from missing
            if not missing and worst(change.findings) is None:
                name = change.address.short(root.tool.default_host)
                yield from (f"{name}: {words}" for words in unknown_facts(change))


def _no_findings(plan_review: PlanReview) -> Span:
    """Say that nothing counts, but not as good news where facts are missing."""
    words, end = ("none new", "; ") if plan_review.known_findings else ("none", "")
    if any(map(unknown_facts, plan_review.review.changes)):
        return Span(f"{words}, but not all is known{end}", Role.WARN)
    return Span(f"{words}{end}", Role.GOOD)


def _known_findings(plan_review: PlanReview) -> Iterator[Span]:
    """The findings that the base, or the files before the plan, have already, by severity."""
    parts = []
    for place, counts in plan_review.known_findings.items():
        numbers = [f"{number} {severity.value.upper()}" for severity, number in counts.items() if number]
        parts.append(f"{place} already has {sum(counts.values())} more ({' '.join(numbers)})")
    if parts:
        yield Span("; ".join(parts), Role.DIM)


def _policy_lines(plan_review: PlanReview) -> Iterator[Line]:
    """The result of an edited policy: no lock file changes, and from when the edit counts."""
    yield line(f"  policy: {POLICY_FILE} edited, no lock file changes", hanging=4)
    review = plan_review.review
    if plan_review.is_committed:
        words = f"{POLICY_FILE} is as in HEAD again"
    elif review.policy.accept_from is AcceptFrom.HEAD:
        words = "what is added counts at once: the base has accept_from = head"
    else:
        # A fork point never gets another commit: its tip does.
        tip = plan_review.tip or "the base"
        is_next = tip in {"HEAD", "the base"}
        words = f"the edit counts once {tip} has it: {'commit the file' if is_next else 'a commit here is not enough'}"
    yield line(Span(f"  {words}", Role.DIM), hanging=4)
    for note in review.notes:
        yield line(Span("  note: ", Role.WARN), note, hanging=4)


def _finding_lines(found: Sequence[Sequence[Finding]]) -> Iterator[Line]:
    """The worst findings; those that say the same of several subjects, with one severity, take one line."""
    same: dict[tuple[str, ...], list[Sequence[Finding]]] = {}
    for one in found:
        messages = dict.fromkeys(finding.message for finding in one)
        same.setdefault((one[0].severity, one[0].rule, *messages), []).append(one)
    titles = Counter(wording_of(items[0][0]).title for items in same.values())
    shown = [*same.items()][:_FINDINGS]
    for (_, _, *told), items in shown:
        alike = [finding for one in items for finding in one if finding.severity is one[0].severity]
        first, files = alike[0], len({finding.file for finding in alike})
        title = wording_of(first).title
        place = FilePlace(first.file, first.line) if first.file and first.line else None
        number = f"{len(items)} findings " if len(items) > 1 else ""
        times = f"  {number}in {files} files" if files > 1 else f"  {len(alike)} times" if len(alike) > 1 else ""
        more = Span(times, Role.DIM)
        lead = ("  ", severity_span(first.severity, width=6), Span(f"{first.rule}  ", Role.STRONG))
        yield line(*lead, title, more, hanging=15, copied=finding_copied(first), place=place)
        if first.severity is Severity.BLOCK or titles[title] > 1:
            # The title alone does not name the pin, the allow list or the hash that a decision depends on.
            yield from (line(Span(f"         {message}", Role.DIM), hanging=9) for message in told)
    if rest := len(found) - sum(len(items) for _, items in shown):
        yield line(Span(f"        and {counted(rest, 'more finding')}", Role.DIM))


def state_span(changes: Iterable[ReviewedChange], *, width: int = 0) -> Span:
    """The worst severity that counts; without one, "ok" only where all was checked and nothing was found.

    The changes are of one provider; the severity takes `width` columns.
    """
    reviewed = tuple(changes)
    findings = [finding for change in reviewed for finding in change.findings if finding.severity is not Severity.OFF]
    severity = worst(tuple(findings))
    if severity is not None:
        return severity_span(severity, width=width)
    if not reviewed:
        return Span("? not reviewed", Role.WARN)
    if all(change.kind is ChangeKind.UNCHANGED for change in reviewed):
        return Span(AS_HEAD, Role.DIM)
    if any(map(unknown_facts, reviewed)):
        return Span("? not all known", Role.WARN)
    if any(finding.accepted is not None for finding in findings):
        return Span("none new", Role.DIM)
    return severity_span(None, width=width)


def unknown_facts(change: ReviewedChange) -> tuple[str, ...]:
    """What is not known of the entry that is left: missing facts by their reason, and hashes that no fact explains."""
    if change.new is None or all(fact.is_explained for fact in change.claimed):
        return _missing_facts(change)
    return *_missing_facts(change), hash_words(change.hashes, claimed_word([change]))


def _missing_facts(change: ReviewedChange) -> tuple[str, ...]:
    if change.new is None:
        return ()
    return change.evidence.problems if change.evidence is not None else ("its release was not looked up",)


def reviewed_change(change: PlannedChange, review: Review) -> ReviewedChange | None:
    """Return the review of a planned change; None if it has none."""
    of_root = (one for root in review.roots if root.path == change.root for one in root.changes)
    return next((one for one in of_root if change.address in {one.address, one.moved_from}), None)
