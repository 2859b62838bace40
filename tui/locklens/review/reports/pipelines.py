"""The reports that CI servers read: JUnit XML, GitLab's Code Quality, and those of runs that ended without a review.

There are as many dialects of JUnit XML as readers. Elements and attributes are those that the strictest of them has,
the schema of Jenkins' xunit plugin (junit-10.xsd). A report always has a test case: plugins take a report without any
for a broken run.

A run that ended before there was a review reports that it did, so that no earlier report is taken for its own. Its JSON
and SARIF are empty, which no parser accepts: a document without findings would look like a good review.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from locklens.review.findings import Severity
from locklens.review.reports import moved_from_words, phrase, root_note, unchecked
from locklens.review.reports.findings import ReportedFinding, bounded, reported_findings
from locklens.review.reports.markdown import MARKER, code
from locklens.review.rules.catalogue import wording_of
from locklens.text import Printable, identity_of, json_text, page, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.errors import LockLensError
    from locklens.review.model import Change, Review, RootReview

_LONGEST, _LONGEST_NAME = 1000, 900


def junit_report(review: Review, *, fail_on: str | None = None) -> Printable:
    """Return a review with a suite for each root, and a test case for each finding and each change without findings.

    Findings below the threshold are test cases that pass, with the finding as their output; accepted ones are skipped.
    """
    return page(_junit_lines(review, fail_on))


def _junit_lines(review: Review, fail_on: str | None) -> Iterator[str]:
    threshold = review.threshold(fail_on)
    found: dict[str, list[ReportedFinding]] = {root.lock_file: [] for root in review.roots}
    own: list[ReportedFinding] = []
    for one in reported_findings(review):
        (found[one.root.lock_file] if one.root is not None else own).append(one)
    limits = unchecked(review)
    suites = [_Suite(None, own, threshold, limits)] if own or limits or not review.roots else []
    suites += [_Suite(root, found[root.lock_file], threshold) for root in review.roots]
    tests, failures = (sum(suite.counts[at] for suite in suites) for at in range(2))
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="locklens review" tests="{tests}" failures="{failures}" errors="0">'
    for suite in suites:
        yield from suite.lines()
    yield "</testsuites>"


class _Suite:
    """The cases of a root, or of the review itself; `limits` are cases that pass, named by what was not checked."""

    def __init__(
        self, root: RootReview | None, found: Sequence[ReportedFinding], fail_on: str, limits: Sequence[str] = ()
    ) -> None:
        self._root = root
        self._found = found
        self._fail_on = fail_on
        self._limits = limits
        judged = {one.change.id for one in found if one.change is not None}
        self._named = Counter[str]()
        """How often a name was given: readers keep one of several cases with the same name."""
        self._quiet = [change for change in (root.changes if root is not None else ()) if change.id not in judged]

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of cases, failures and skipped cases."""
        cases = len(self._found) + len(self._quiet) + len(self._limits)
        failures = sum(one.finding.fails_at(self._fail_on) for one in self._found)
        return max(1, cases), failures, sum(not one.is_counted for one in self._found)

    def lines(self) -> Iterator[str]:
        tests, failures, skipped = self.counts
        numbers = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
        place = f" file={_quoted(self._root.lock_file)}" if self._root is not None else ""
        yield f"<testsuite name={_quoted(self._name_of_suite)} {numbers}{place}>"
        for one in self._found:
            yield from self._case(one)
        moved = moved_from_words(self._root) if self._root is not None else ""
        for change in self._quiet:
            problems = "; ".join(change.evidence.problems) if change.evidence is not None else ""
            said = (f"root {moved}" if moved else "", f"unknown: {problems}" if problems else "")
            yield self._passing(self._name(change), "; ".join(filter(None, said)))
        yield from (self._passing(f"not checked: {words}") for words in self._limits)
        if not self._found and not self._quiet and not self._limits:
            name = "lock file" if self._root is not None else "no findings"
            yield self._passing(name, root_note(self._root) if self._root is not None else "")
        yield "</testsuite>"

    def _case(self, one: ReportedFinding) -> Iterator[str]:
        finding = one.finding
        usual = "lock file" if self._root is not None else "policy"
        subject = self._name(one.change) if one.change is not None else usual
        name = f"{finding.rule} {subject} ({finding.place})"
        yield f"<testcase {self._attributes(name)}>"
        if finding.accepted is not None:
            yield f"<skipped message={_quoted(f'accepted: {finding.accepted}')}/>"
        elif finding.fails_at(self._fail_on):
            yield f"<failure type={_quoted(finding.severity.value)} message={_quoted(one.words)}>"
            yield _text(f"What to do: {wording_of(finding).remedy}")
            yield "</failure>"
        else:
            yield f"<system-out>{_text(f'{finding.severity}: {one.words}')}</system-out>"
        yield "</testcase>"

    @property
    def _name_of_suite(self) -> str:
        return (self._root.path or ".") if self._root is not None else "the review"

    def _passing(self, name: str, words: str = "") -> str:
        """A case without a finding, with what is not known of it as its output."""
        output = f"<system-out>{_text(words)}</system-out></testcase>" if words else ""
        return f"<testcase {self._attributes(name)}{f'>{output}' if output else '/>'}"

    def _attributes(self, name: str) -> str:
        shown = bounded(name, _LONGEST_NAME)
        self._named[shown] += 1
        number = self._named[shown]
        return f"classname={_quoted(self._name_of_suite)} name={_quoted(f'{shown} {number}' if number > 1 else shown)}"

    def _name(self, change: Change) -> str:
        host = self._root.tool.default_host if self._root is not None else ""
        return f"{change.address.short(host)} {phrase(change)}"


def _text(words: str) -> str:
    # XML has no escape for control characters: they are written as elsewhere in locklens.
    return escape(bounded(words, _LONGEST))


def _quoted(words: str) -> str:
    return f'"{_text(words)}"'


_SEVERITIES = {Severity.BLOCK: "blocker", Severity.WARN: "major", Severity.INFO: "info"}


def code_quality_report(review: Review) -> Printable:
    """Return a review as Code Quality: a list of findings, and of limits, with the fields that GitLab documents."""
    return json_text([*map(_issue, reported_findings(review)), *map(_limit, unchecked(review))])


def _limit(words: str) -> dict[str, Any]:
    return {
        "description": bounded(f"Not checked: {words}", _LONGEST),
        "check_name": "not-checked",
        "fingerprint": identity_of("not-checked", words),
        "severity": "info",
        "location": {"path": ".", "lines": {"begin": 1}},
    }


def _issue(one: ReportedFinding) -> dict[str, Any]:
    finding = one.finding
    words = one.words
    if finding.accepted is not None:
        words = f"accepted ({finding.accepted}): {words}"
    return {
        "description": bounded(words, _LONGEST),
        "check_name": finding.rule,
        "fingerprint": one.fingerprint,
        "severity": _SEVERITIES[finding.severity] if one.is_counted else "info",
        "location": {"path": visible(finding.file or "."), "lines": {"begin": max(1, finding.line or 1)}},
    }


FAILED = "could not be reviewed"


def failed_report(error: LockLensError, form: str) -> Printable:
    """Return the report of an error in a format of the review."""
    match form:
        case "text":
            return page([f"error: {error}", *([f"hint: {error.hint}"] if error.hint else [])])
        case "markdown":
            return page(_failed_markdown(error))
        case "junit":
            return page(_failed_junit(error))
        case "codequality":
            return json_text([_failed_issue(error)])
        case "json" | "sarif":
            return page([])  # a document that says nothing would read as no findings
        case _:
            raise ValueError(form)


def _failed_markdown(error: LockLensError) -> list[str]:
    step = [f"- Next step: {code(error.hint, _LONGEST)}"] if error.hint else []
    return [MARKER, f"## locklens: {FAILED}", "", f"- Reason: {code(str(error), _LONGEST)}", *step]


def _failed_junit(error: LockLensError) -> list[str]:
    words = escape(bounded(error.sentence, _LONGEST))
    counts = 'tests="1" failures="0" errors="1" skipped="0"'
    return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="locklens review" {counts}>',
        f'<testsuite name="the review" {counts}>',
        '<testcase classname="the review" name="lock files">',
        f'<error type="error" message="{FAILED}: {words}"/>',
        "</testcase>",
        "</testsuite>",
        "</testsuites>",
    ]


def _failed_issue(error: LockLensError) -> dict[str, object]:
    path, line = error.place or (".", None)
    return {
        "description": bounded(f"The lock files {FAILED}: {error.sentence}", _LONGEST),
        "check_name": "locklens",
        "fingerprint": "locklens-could-not-review",
        "severity": "blocker",
        "location": {"path": visible(path), "lines": {"begin": line or 1}},
    }
