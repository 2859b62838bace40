"""What could not be established, and from whom: unknown facts with reasons, and the registries asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.addresses import spelt_host
from locklens.review.reports.lines import Line, Role, Span, line

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from locklens.review.model import Change, HostState, Review


def shared_problems(changes: Iterable[Change]) -> Mapping[tuple[str, str], int]:
    """Return the causes of unknown facts that several changes have, with hints, and the number of their changes."""
    counts = Counter(
        (problem, change.evidence.hint)
        for change in changes
        if change.evidence is not None
        for problem in dict.fromkeys(change.evidence.problems)
    )
    return {cause: count for cause, count in counts.items() if count > 1}


def problem_lines(problems: Iterable[str], hint: str) -> Iterator[Line]:
    """The causes of unknown facts, and the next step."""
    for problem in problems:
        yield line(Span("  unknown  ", Role.WARN), problem, hanging=11, copied=problem)
    if hint:
        yield line(Span("  -> ", Role.DIM), hint, hanging=5, copied=hint)


def unreported_problem_lines(change: Change, shared: Container[tuple[str, str]] = ()) -> Iterator[Line]:
    """The unknown facts about a change that no finding reports; `shared` causes are reported elsewhere."""
    if change.evidence is None:
        return
    hint = change.evidence.hint
    reported = " ".join(finding.message for finding in change.findings)
    problems = [problem for problem in change.evidence.problems if (problem, hint) not in shared]
    yield from problem_lines((one for one in problems if one not in reported), hint if problems else "")


def without_cause(message: str, shared: Iterable[tuple[str, str]]) -> str:
    """Return the message of a finding without a shared cause at its end."""
    return next((message.removesuffix(f"; {problem}") for problem, _ in shared if message.endswith(problem)), message)


def shared_problem_lines(shared: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Yield a line for each cause of `shared_problems`."""
    for (problem, hint), count in shared.items():
        yield f"unknown for {count} changes: {problem}{f' ({hint})' if hint else ''}"


def host_lines(review: Review) -> Iterator[str]:
    """Yield a line for each registry with the result of asking it."""
    for host in review.hosts:
        hint = f"; {host.hint}" if host.hint else ""
        yield f"{spelt_host(host.host)}: {host_words(host, is_offline=review.offline)}{hint}"


def host_words(host: HostState, *, is_offline: bool, now: str = "") -> str:
    """The result of asking a registry; `now` as of `clock`."""
    moment = f"as of {clock(host.as_of, now)}" if host.as_of else ""
    if host.error is not None:
        error = host.error.removeprefix(f"{host.host}: ")
        return f"{moment}, then failed: {error}" if moment else f"failed: {error}"
    if host.asked:
        return moment or "asked"
    reason = "offline" if is_offline else "not asked"
    return f"{reason}, cached {moment}" if moment else reason


def clock(moment: str, now: str = "") -> str:
    """Format a moment for reading, to the minute, and without its day on that of `now`; both ISO 8601 in UTC."""
    day, separator, time = moment.partition("T")
    if not separator:
        return moment
    return f"{time[:5]} UTC" if day == now[:10] else f"{day} {time[:5]} UTC"
