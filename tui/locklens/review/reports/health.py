"""The health of roots as plain text: the checks with their counts and fixes, the findings, the spread of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, line
from locklens.lockfile import unread_words
from locklens.review import reports
from locklens.review.health import UNREAD, CheckResult, Health, Spread, is_undecided, unread_roots
from locklens.review.health_remedies import command_title, command_words, remedy
from locklens.review.reports.evidence_lines import told_lines
from locklens.text import Printable, counted, listing, page, shell_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.review.findings import Finding
    from locklens.review.model import RootReview

_ROOTS_SHOWN = 8
_SPREADS_SHOWN = 20
_VERSIONS_SHOWN = 8
_BAR = 30


def render(health: Health, *, colour: bool = False, lists_roots: bool = False, fail_on: str | None = None) -> Printable:
    """Return the report; `lists_roots` names every root of a check, else at most eight."""
    return page(_lines(health, lists_roots=lists_roots, fail_on=fail_on), colour=colour)


def _lines(health: Health, *, lists_roots: bool, fail_on: str | None) -> Iterator[Line | str]:
    yield f"locklens health  {health.folder}"
    yield total_words(health)
    yield ""
    width = max(len(result.check.title) for result in health.checks)
    for result in health.checks:
        yield _row(result, width)
    for result in health.checks:
        if result.roots or remedy(result.check, health).left_out:
            yield ""
            yield from _details(result, health, lists_roots=lists_roots)
    if unread := unread_roots(health.checks, health):
        yield ""
        yield line(Span(UNREAD, Role.STRONG))
        for reason, roots in unread.items():
            yield f"  {reason}"
            yield _in_roots(roots, lists_roots=lists_roots)
    if health.spread:
        yield ""
        yield from _spreads(health.spread, lists_all=lists_roots)
    yield ""
    yield from told_lines(health.review)
    unverified = hashes_in_words(health)
    role = reports.VERDICT_ROLES[health.verdict]
    yield line("verdict: ", Span(health.verdict, role), f", {unverified}" if unverified else "")
    if words := reports.exit_words(health.review, fail_on):
        yield words


def hashes_in_words(health: Health) -> str:
    """The locked hashes that are not verified, which no check counts; "" where all are."""
    return reports.hash_words(health.hashes, "locked") if health.hashes.unverified else ""


def total_words(health: Health) -> str:
    """The counts of the whole, in one line: roots that add up, and the findings that the checks count."""
    counts = {severity: number for severity, number in health.counts.items() if number}
    found = f": {', '.join(f'{number} {severity}' for severity, number in counts.items())}" if counts else ""
    versions = sum(len(one.versions) for one in health.spread)
    spread = f"{counted(len(health.spread), 'provider')}, {counted(versions, 'distinct version')}"
    if unread := unread_words(root.new for root in health.review.roots):
        spread = f"{spread} ({unread})" if health.spread else unread
    return (
        f"{health.roots_in_words}: {health.ok} ok, {health.unknown} unknown, "
        f"{health.worse} worse (warn or block); {spread}; {counted(sum(counts.values()), 'finding')}{found}"
    )


def _row(result: CheckResult, width: int) -> Line:
    severity = result.severity
    word = reports.severity_span(severity, width=5) if severity is not None else " " * 5
    unknown = f"  unknown in {result.unknown}" if result.unknown else ""
    reason = f" ({result.reason})" if result.reason else ""
    number = "off" if result.is_off else len(result.roots)
    return line("  ", word, f"  {result.check.title:{width}}  {number:>5}{unknown}{reason}".rstrip())


def _details(result: CheckResult, health: Health, *, lists_roots: bool) -> Iterator[Line | str]:
    yield line(Span(f"{result.check.title}: {counted(len(result.roots), 'root')}", Role.STRONG))
    for finding, roots in alike_findings(result, health):
        yield line(f"  {finding.rule} ", reports.severity_span(finding.severity, width=5), f" {finding_words(finding)}")
        if len(roots) == 1 and finding.line is not None:
            yield f"        {finding.file}:{finding.line}"
        else:
            yield _in_roots([root.path for root in roots], lists_roots=lists_roots)
    found = remedy(result.check, health)
    for fix in found.fixes:
        command = command_words(result.check, fix, health)
        limit = len(command) if lists_roots else command.index("--") + 1 + _ROOTS_SHOWN
        more = f" ... ({len(fix.roots)} roots; --list-roots names all)" if len(command) > limit else ""
        yield f"  {command_title(result.check)}: {shell_words(command[:limit])}{more}"
    for label, sentences in found.rest:
        limit = len(sentences) if lists_roots else _ROOTS_SHOWN
        yield from (f"  {label}: {one}" for one in sentences[:limit])
        if len(sentences) > limit:
            yield f"  {label}: {len(sentences) - limit} more (--list-roots names all)"


def _in_roots(roots: Sequence[str], *, lists_roots: bool) -> str:
    limit = len(roots) if lists_roots else _ROOTS_SHOWN
    more = " (--list-roots names all)" if len(roots) > limit else ""
    return f"        in {listing([root or '.' for root in roots], limit)}{more}"


def alike_findings(result: CheckResult, health: Health) -> list[tuple[Finding, list[RootReview]]]:
    """Return the findings of a check, those with the same words once, with their roots; the worst first."""
    alike: dict[tuple[int, str, str], tuple[Finding, list[RootReview]]] = {}
    for root in health.review.roots:
        for finding in root.findings:
            if finding.rule in result.check.rules and not is_undecided(finding):
                key = finding.severity.rank, finding.rule, finding_words(finding)
                alike.setdefault(key, (finding, []))[1].append(root)
    return sorted(alike.values(), key=lambda one: (one[0].severity.rank, -len(one[1]), one[0].message))


def finding_words(finding: Finding) -> str:
    """The message of a finding, with its provider unless it names it."""
    provider = str(finding.provider) if finding.provider is not None else ""
    return finding.message if provider in finding.message else f"{provider}: {finding.message}"


def _spreads(spreads: Sequence[Spread], *, lists_all: bool) -> Iterator[Line | str]:
    yield line(Span("versions of each provider", Role.STRONG))
    common = [one for one in spreads if one.roots > 1]
    shown = spreads if lists_all else common[:_SPREADS_SHOWN]
    for one in shown:
        yield f"  {one.provider}  {counted(one.roots, 'root')}"
        versions = one.versions if lists_all else one.versions[:_VERSIONS_SHOWN]
        most = max(number for _, number in one.versions)
        width = max(len(str(version)) for version, _ in versions)
        for version, number in versions:
            yield f"    {version!s:{width}}  {'#' * max(1, round(_BAR * number / most)):{_BAR}}  {number:5}"
        if len(one.versions) > len(versions):
            yield f"    {len(one.versions) - len(versions)} older versions (--list-roots names all)"
    if len(common) > len(shown):
        yield f"  {counted(len(common) - len(shown), 'more provider')} (--list-roots names all)"
    if not lists_all and len(spreads) > len(common):
        noun = "more provider" if common else "provider"
        yield f"  {counted(len(spreads) - len(common), noun)} in one root each (--list-roots names all)"


def limits(health: Health) -> Iterator[str]:
    """Yield the limits of the answer, in sentences, without the registries and the notes of the review."""
    if unverified := hashes_in_words(health):
        yield unverified
    for result in health.checks:
        if result.unknown:
            yield f"{result.check.title}: unknown in {counted(result.unknown, 'root')} ({result.reason})"
        elif result.is_off:
            yield f"{result.check.title}: off ({result.reason})"
