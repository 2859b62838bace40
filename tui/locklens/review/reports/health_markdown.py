"""The health of roots as Markdown for a comment or a wiki page, shorter than any forge's limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.health import command_words
from locklens.review.reports.health_text import alike_findings, finding_words, total_words
from locklens.review.reports.markdown import LONGEST
from locklens.review.reports.markdown_text import Budget, code, prose
from locklens.text import counted, page, shell_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.review.health import CheckResult, Health
    from locklens.review.model import Finding, RootReview
    from locklens.text import Printable

HEALTH_MARKER = "<!-- locklens health -->"
"""The first line, which is not shown."""

_CHECKS, _UNCHECKED, _FINDINGS, _SPREAD = 8_000, 8_000, 30_000, 12_000
_LONGEST_COMMAND = 1_000
_ROOTS_NAMED = 8
_VERSIONS_NAMED = 8
_ALL = "`locklens health --format json` lists all"


def render(health: Health) -> Printable:
    """Return the report."""
    return page(_lines(health))


def _lines(health: Health) -> Iterator[str]:
    budget = Budget(LONGEST)
    spend, fitting = budget.spend, budget.fitting
    verdict = health.verdict
    yield from spend((HEALTH_MARKER, f"## locklens health: {verdict}", "", f"{total_words(health)}.", ""))
    yield from spend(("| check | severity | roots | providers |", "|---|---|---|---|"))
    rows = [[_row(result)] for result in health.checks if result.roots]
    yield from fitting(rows, len(rows), share=_CHECKS, more="| {} more checks | | | |")
    yield from spend(("", "### Not checked", ""))
    limits = [*health.limits, *health.review.notes]
    limits += [f"registry {host.host} was not asked" for host in health.review.hosts if not host.asked]
    limits += [f"registry {host.host} failed: {host.error}" for host in health.review.hosts if host.error is not None]
    unchecked = [[f"- {code(limit)}"] for limit in limits] or [["- nothing was left out"]]
    yield from fitting(unchecked, len(unchecked), share=_UNCHECKED, more="- and {} more limits")
    found = [block for result in health.checks if result.roots for block in _blocks(result, health)]
    if found:
        yield from spend(("", "### Findings", ""))
        yield from fitting(found, len(found), share=_FINDINGS, more=f"- and {{}} more; {_ALL}")
    if spreads := [[line] for line in _spreads(health)]:
        yield from spend(("", "### Versions", ""))
        yield from fitting(spreads, len(spreads), share=_SPREAD, more=f"- and {{}} more; {_ALL}")


def _row(result: CheckResult) -> str:
    return f"| {prose(result.check.title)} | {result.severity} | {len(result.roots)} | {len(result.providers) or ''} |"


def _blocks(result: CheckResult, health: Health) -> Iterator[list[str]]:
    yield [f"- **{result.severity}** {prose(result.check.title)}, {counted(len(result.roots), 'root')}"]
    for finding, roots in alike_findings(result, health):
        yield [f"  - {finding.rule}: {code(finding_words(finding))}, {_where(finding, roots)}"]
    command = shell_words(command_words(result, health))
    if command:
        fits = len(command) <= _LONGEST_COMMAND
        yield [f"  - fix: {code(command, _LONGEST_COMMAND)}" if fits else f"  - fix: {_ALL}"]


def _where(finding: Finding, roots: list[RootReview]) -> str:
    if len(roots) == 1:
        place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
        return f"at {code(place)}"
    more = f" and {len(roots) - _ROOTS_NAMED} more" if len(roots) > _ROOTS_NAMED else ""
    return f"in {', '.join(code(root.path or '.', 200) for root in roots[:_ROOTS_NAMED])}{more}"


def _spreads(health: Health) -> Iterator[str]:
    for one in health.spread:
        if len(one.versions) > 1:
            named = ", ".join(f"{code(str(version))} in {number}" for version, number in one.versions[:_VERSIONS_NAMED])
            more = len(one.versions) - _VERSIONS_NAMED
            others = f" and {counted(more, 'older version')}" if more > 0 else ""
            yield f"- {code(str(one.provider))}, {counted(one.roots, 'root')}: {named}{others}"
