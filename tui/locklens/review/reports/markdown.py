"""A review, or the health of roots, as Markdown for a comment or a wiki page, shorter than any forge's limit.

The same review is the same text, so that a comment can be kept up to date; its first line finds it again.

Foreign text is only in code spans, where neither GitHub nor GitLab reads Markdown, HTML, mentions, references,
links or commit ids. Tables and HTML elements never hold any. Right-to-left letters and combining marks,
which would redraw the words beside them, are escaped.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from locklens.project.configuration import constraint_place
from locklens.review import reports
from locklens.review.findings import Accepted, Finding, Severity
from locklens.review.health_remedies import command_title, commands_text, remedy
from locklens.review.reports.advisories import advisory_summary
from locklens.review.reports.findings import (
    bounded,
    distinct,
    distinct_changes,
    remedies,
    reported_findings,
    requirements_in_roots,
    share_words,
)
from locklens.review.reports.health import alike_findings, finding_words, limits, total_words
from locklens.review.rules.catalogue import wording_of
from locklens.sources.urls import MAX_PAGE
from locklens.text import Printable, counted, page, shortened
from locklens.trust import Signer, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.review.health import CheckResult, Health
    from locklens.review.model import Change, Review, RootReview
    from locklens.review.reports.findings import DistinctChange

MARKER = "<!-- locklens review -->"
"""The first line, which is not shown."""

LONGEST = 60_000
"""The most bytes of the text. GitHub takes comments of 65,536 characters."""

_UNCHECKED, _REMEDIES, _SIGNERS, _ROOT_FINDINGS, _NOTES, _POLICY = 5_000, 8_000, 6_000, 6_000, 3_000, 3_000
_DETAILS = 20_000
"""Bytes that the lines of the changes leave for what is folded, unless they had less than `_CHANGES`."""
_CHANGES = 24_000
_MORE = "  - and {} more lines"
_ROOTS_NAMED = 8
_MESSAGE = 600
_REQUIREMENTS_NAMED = 4
_DETAIL = 4_000
"""Bytes of the details of one change, so that none leaves the others without room."""
_ALL = "`locklens review --format text` lists all"


def render(review: Review, *, fail_on: str | None = None) -> Printable:
    """Return the report."""
    return page(_Comment(review, fail_on).lines())


def render_part(
    changes: Iterable[tuple[RootReview, Change]], findings: Iterable[tuple[RootReview | None, Finding]] = ()
) -> Printable:
    """Return what the report says of some changes, each with its details below it, and of findings without a change."""
    found = [[line] for lines in _root_findings(findings) for line in lines]
    blocks = [*([_change_line(one), *_bounded_detail(one)] for one in distinct(changes)), *found]
    return page(fitting_lines(blocks, len(blocks), LONGEST, f"- and {{}} more; {_ALL}"))


class _Comment:
    def __init__(self, review: Review, fail_on: str | None) -> None:
        self._review = review
        self._fail_on = fail_on
        self._changes = distinct_changes(review)
        self._found = reported_findings(review)
        self._budget = Budget(LONGEST)

    def lines(self) -> Iterator[str]:
        spend, fitting = self._budget.spend, self._budget.fitting
        yield from spend(self._opening())
        yield from spend(("", "### Not checked", ""))
        unchecked = list(self._unchecked())
        yield from fitting(_each(unchecked), len(unchecked), share=_UNCHECKED, more="- and {} more limits")
        yield from self._section("Policy", _policy(self._review), _POLICY, "- and {} more notes")
        yield from self._section("What to do", list(self._remedies()), _REMEDIES, "- and {} more rules")
        yield from self._section("Signers that changed", list(self._signers()), _SIGNERS, f"- and {{}} more; {_ALL}")
        severe, others = _root_findings((one.root, one.finding) for one in self._found if one.change is None)
        yield from self._section("Root-level findings", severe, _ROOT_FINDINGS, f"- and {{}} more; {_ALL}")
        share = max(_CHANGES, self._budget.left - _DETAILS)
        if number := len(self._changes):
            yield from spend(("", "### Changes", ""))
            more = f"- and {{}} more changes; {_ALL}"
            yield from fitting(_each(map(_change_line, self._changes)), number, share=share, more=more)
        notes, details = f"{counted(len(others), 'note')} about roots", f"Details of {counted(number, 'change')}"
        yield from self._folded(notes, _each(others), len(others), _NOTES)
        moved = [f"- {_root(root)}" for root in self._review.roots if root.renamed_from is not None]
        yield from self._folded(counted(len(moved), "moved root"), _each(moved), len(moved), _NOTES)
        yield from self._folded(details, map(_detail, self._changes), number, LONGEST)

    def _section(self, title: str, items: Sequence[str], share: int, more: str) -> Iterator[str]:
        if items:
            yield from self._budget.spend(("", f"### {title}", ""))
            yield from self._budget.fitting(_each(items), len(items), share=share, more=more)

    def _opening(self) -> Iterator[str]:
        review = self._review
        yield MARKER
        yield f"## locklens: {review.verdict}"
        yield ""
        findings = reports.all_findings_in_words(review) or "no findings"
        yield f"**Verdict: {reports.verdict_words(review)}.** Findings: {findings}."
        yield from _exit(review, self._fail_on)
        yield ""
        base = reports.side_words(review.base)
        head = reports.side_words(review.head)
        yield f"{code(base)} to {code(head)}: {reports.roots_and_changes(review)}."
        asked = sum(host.asked and host.error is None for host in review.hosts)
        yield f"Registries that answered: {asked} of {len(review.hosts)}."

    def _unchecked(self) -> Iterator[str]:
        review = self._review
        if unverified := reports.unverified_words(review):
            yield f"- {unverified}."
        if left_out := reports.left_out_words(review):
            yield f"- {left_out[0].upper()}{left_out[1:]}."
        if unjudged := reports.unjudged_words(review):
            yield f"- {unjudged[0].upper()}{unjudged[1:]}."
        yield "- The code of the providers, and the versions of modules, which lock files do not pin: never checked."
        for host in sorted(review.hosts, key=lambda host: host.host):
            if host.error is not None:
                yield f"- Registry {code(host.host)} failed: {code(host.error)}."
            elif not host.asked:
                yield f"- Registry {code(host.host)} was not asked{' (offline)' * review.offline}."
        problems = Counter(
            problem
            for change in review.changes
            if change.evidence
            for problem in dict.fromkeys(change.evidence.problems)
        )
        for problem, number in sorted(problems.items(), key=lambda item: (-item[1], item[0])):
            yield f"- Unknown for {counted(number, 'change')}: {code(problem)}."
        for root in review.roots:
            if root.configuration is not None and (reason := root.configuration.unread_reason):
                yield f"- The configuration of {code(root.path or '.')} was not read whole: {code(reason)}."
        for limit in review.limits:
            yield f"- {code(limit)}"

    def _remedies(self) -> Iterator[str]:
        for one in remedies(self._review, self._fail_on):
            yield f"- **{one.rule}** ({one.count}) {prose(one.title)}. {prose(one.words)}"

    def _signers(self) -> Iterator[str]:
        for one in self._changes:
            old, new = one.change.old_signer or one.change.neighbour_signer, one.change.new_signer
            if old is None or new is None or not _is_other(old, new):
                continue
            version = str(one.change.new.version) if one.change.new is not None else new.version
            named = "" if old is one.change.old_signer else "the nearest release, "
            yield f"- {_name(one)}: {named}{code(old.version)} {_signer(old)}; {code(version)} {_signer(new)}"

    def _folded(self, title: str, blocks: Iterable[Sequence[str]], number: int, share: int) -> Iterator[str]:
        """Yield a folded section; `title` is own text, for it is in an HTML element."""
        if number:
            opening, closing = ("", "<details>", f"<summary>{title}</summary>", ""), ("", "</details>")
            self._budget.spend((*opening, *closing))
            lines = self._budget.fitting(blocks, number, share=share, more=f"- and {{}} more; {_ALL}")
            yield from (*opening, *lines, *closing)


def _root_findings(findings: Iterable[tuple[RootReview | None, Finding]]) -> tuple[list[str], list[str]]:
    """Return the blocks and warnings without a change, and the others: info and accepted ones; equal ones once."""
    alike: dict[tuple[str, Severity, str, Accepted | None], list[tuple[str, Finding]]] = {}
    for root, finding in findings:
        same_words = finding.rule, finding.severity, finding.message, finding.accepted
        alike.setdefault(same_words, []).append((root.path if root is not None else "", finding))
    severe: list[str] = []
    others: list[str] = []
    for same in alike.values():
        finding = same[0][1]
        number = len({folder for folder, _ in same})
        more = f" and {counted(len(same) - 1, 'more place')}" if len(same) > 1 else ""
        place = f"in {number} roots" if number > 1 else f"at {code(finding.place)}{more}"
        listed = severe if finding.fails_at(Severity.WARN) else others
        listed.append(f"- {_finding(finding)}, {place}")
    return severe, others


def _each(items: Iterable[str]) -> Iterator[list[str]]:
    return ([item] for item in items)


def _change_line(one: DistinctChange) -> str:
    change = one.change
    found = [each for _, member in one.members for each in member.findings if each.severity is not Severity.OFF]
    titles = {each.rule: f"{wording_of(each).title} (accepted)" for each in found if each.accepted is not None}
    titles |= {each.rule: wording_of(each).title for each in found if each.accepted is None}
    shares = ((rule, share_words(one.members, rule)) for rule in titles)
    titles |= {rule: f"{titles[rule]} ({share})" for rule, share in shares if share}
    hashes = f"; {reports.hash_words(change.hashes, reports.claimed_word([change]))}" if change.claimed else ""
    named = f": {', '.join(f'{rule} {prose(title)}' for rule, title in sorted(titles.items()))}" if titles else ""
    subject = f"{_name(one)} {code(reports.phrase(change))} {change.kind}"
    lacking = sum(member.severity is None and member.lacks_facts for _, member in one.members)
    share = f" in {lacking} of {len(one.members)} roots" if lacking < len(one.members) else ""
    state = change.severity or (f"unknown{share}" if lacking else "ok")
    return f"- **{state}** {subject}, {_where(one)}{hashes}{named}"


def _detail(one: DistinctChange) -> list[str]:
    return [f"- {_name(one)} {code(reports.phrase(one.change))}", *_bounded_detail(one)]


def _bounded_detail(one: DistinctChange) -> list[str]:
    lines = list(_detail_lines(one))
    return fitting_lines(_each(lines), len(lines), _DETAIL, _MORE)


def _name(one: DistinctChange) -> str:
    return code(one.change.address.short(one.root.tool.default_host), 200)


def _where(one: DistinctChange) -> str:
    if len(one.members) > 1:
        return f"in {len(one.members)} roots"
    return f"in {_root(one.root)}"


def _finding(finding: Finding) -> str:
    accepted = f", accepted: {code(str(finding.accepted))}" if finding.accepted is not None else ""
    title = prose(wording_of(finding).title)
    return f"**{finding.rule} {finding.severity}** {title}: {code(finding.message, _MESSAGE)}{accepted}"


def _detail_lines(one: DistinctChange) -> Iterator[str]:
    distinct: dict[tuple[int, str, str], Finding] = {}
    for _, change in one.members:
        for finding in change.findings:
            if finding.severity is not Severity.OFF:
                distinct.setdefault((finding.severity.rank, finding.rule, finding.message), finding)
    for _, finding in sorted(distinct.items(), key=lambda item: item[0]):
        share = share_words(one.members, finding.rule, finding.message)
        yield f"  - {_finding(finding)}, at {code(finding.place)}{f' ({share})' if share else ''}"
    if one.change.moved_from is not None:
        yield f"  - moved from {code(str(one.change.moved_from))}"
    if one.change.new_signer is not None:
        yield f"  - {_signer(one.change.new_signer)}"
    if one.change.evidence is not None and one.change.evidence.source:
        yield f"  - source: {code(one.change.evidence.source, MAX_PAGE)}"
    if summary := advisory_summary(one.change.advisories):
        yield f"  - advisories: {code(summary, _MESSAGE)}"
    required = requirements_in_roots(one.members)
    for requirement in required[:_REQUIREMENTS_NAMED]:
        place = code(str(constraint_place(requirement)))
        yield f"  - required by {place}, {code(requirement.constraint or 'any version')}"
    if len(required) > _REQUIREMENTS_NAMED:
        yield f"  - required by {counted(len(required) - _REQUIREMENTS_NAMED, 'more place')}"
    more = f" and {len(one.members) - _ROOTS_NAMED} more" if len(one.members) > _ROOTS_NAMED else ""
    yield f"  - roots: {', '.join(_root(root) for root, _ in one.members[:_ROOTS_NAMED])}{more}"


def _root(root: RootReview) -> str:
    fate = reports.lost_words(root) or reports.moved_from_words(root, code)
    return f"{code(root.path or '.', 200)}{f' ({fate})' if fate else ''}"


def _is_other(old: Signer, new: Signer) -> bool:
    """True if other keys signed, as far as both signers are known."""
    if any(signer.tier is Tier.UNKNOWN and not signer.keys for signer in (old, new)):
        return False
    return {key.fingerprint for key in old.keys} != {key.fingerprint for key in new.keys}


def _signer(signer: Signer) -> str:
    """Each key with its whole fingerprint and claimed names, and the tier."""
    if not signer.keys:
        return "unsigned" if signer.tier is Tier.UNSIGNED else f"signer unknown ({signer.tier})"
    keys = []
    for key in signer.keys:
        state = ", REVOKED" if key.revoked else ", expired" if key.expired else ""
        keys.append(f"{code(key.fingerprint)} ({code(', '.join(key.user_ids) or 'no name')}{state})")
    return f"signed by {' and '.join(keys)}, {signer.tier}"


HEALTH_MARKER = "<!-- locklens health -->"
"""The first line, which is not shown."""

_CHECKS, _HEALTH_UNCHECKED, _HEALTH_FINDINGS, _SPREAD = 8_000, 8_000, 30_000, 12_000
_LONGEST_COMMAND = 1_000
_VERSIONS_NAMED = 8
_HEALTH_ALL = "`locklens health --format json` lists all"


def health_markdown(health: Health, *, fail_on: str | None = None) -> Printable:
    """Return the report."""
    return page(_health_lines(health, fail_on))


def _policy(review: Review) -> list[str]:
    return [f"- {code(note)}" for note in review.policy_notes]


def _exit(review: Review, fail_on: str | None) -> Iterator[str]:
    if words := reports.exit_words(review, fail_on):
        yield f"{words[0].upper()}{words[1:]}."


def _health_lines(health: Health, fail_on: str | None) -> Iterator[str]:
    budget = Budget(LONGEST)
    spend, fitting = budget.spend, budget.fitting
    verdict = health.verdict
    yield from spend((HEALTH_MARKER, f"## locklens health: {verdict}", "", f"{total_words(health)}."))
    yield from spend((*_exit(health.review, fail_on), ""))
    yield from spend(("| check | severity | roots | providers |", "|---|---|---|---|"))
    rows = [[_row(result)] for result in health.checks if result.roots]
    yield from fitting(rows, len(rows), share=_CHECKS, more="| {} more checks | | | |")
    yield from spend(("", "### Not checked", ""))
    limited = [*limits(health), *health.review.limits]
    limited += [f"registry {host.host} was not asked" for host in health.review.hosts if not host.asked]
    limited += [f"registry {host.host} failed: {host.error}" for host in health.review.hosts if host.error is not None]
    unchecked = [["- The code of the providers, and what modules contain: never checked."]]
    unchecked += [[f"- {code(limit)}"] for limit in limited]
    yield from fitting(unchecked, len(unchecked), share=_HEALTH_UNCHECKED, more="- and {} more limits")
    if noted := [[line] for line in _policy(health.review)]:
        yield from spend(("", "### Policy", ""))
        yield from fitting(noted, len(noted), share=_POLICY, more="- and {} more notes")
    found = [block for result in health.checks if result.roots for block in _blocks(result, health)]
    if found:
        yield from spend(("", "### Findings", ""))
        yield from fitting(found, len(found), share=_HEALTH_FINDINGS, more=f"- and {{}} more; {_HEALTH_ALL}")
    if spreads := [[line] for line in _spreads(health)]:
        yield from spend(("", "### Versions", ""))
        yield from fitting(spreads, len(spreads), share=_SPREAD, more=f"- and {{}} more; {_HEALTH_ALL}")


def _row(result: CheckResult) -> str:
    return f"| {prose(result.check.title)} | {result.severity} | {len(result.roots)} | {len(result.providers) or ''} |"


def _blocks(result: CheckResult, health: Health) -> Iterator[list[str]]:
    yield [f"- **{result.severity}** {prose(result.check.title)}, {counted(len(result.roots), 'root')}"]
    for finding, roots in alike_findings(result, health):
        yield [f"  - {finding.rule}: {code(finding_words(finding))}, {_roots_where(finding, roots)}"]
    found = remedy(result.check, health)
    if command := commands_text(result.check, found, health):
        fits = len(command) <= _LONGEST_COMMAND
        title = command_title(result.check)
        yield [f"  - {title}: {code(command, _LONGEST_COMMAND)}" if fits else f"  - {title}: {_HEALTH_ALL}"]
    for label, sentences in found.rest:
        yield from ([f"  - {label}: {code(one)}"] for one in sentences)


def _roots_where(finding: Finding, roots: list[RootReview]) -> str:
    if len(roots) == 1:
        return f"at {code(finding.place)}"
    more = f" and {len(roots) - _ROOTS_NAMED} more" if len(roots) > _ROOTS_NAMED else ""
    return f"in {', '.join(code(root.path or '.', 200) for root in roots[:_ROOTS_NAMED])}{more}"


def _spreads(health: Health) -> Iterator[str]:
    for one in health.spread:
        if len(one.versions) > 1:
            named = ", ".join(f"{code(str(version))} in {number}" for version, number in one.versions[:_VERSIONS_NAMED])
            more = len(one.versions) - _VERSIONS_NAMED
            others = f" and {counted(more, 'older version')}" if more > 0 else ""
            yield f"- {code(str(one.provider))}, {counted(one.roots, 'root')}: {named}{others}"


_LONGEST_CODE = 300
_DIGITS = 20
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_SPECIAL = re.compile(r"([\\*_\[\]<>#|~&@$])")


def code(text: str, limit: int = _LONGEST_CODE) -> str:
    """Return text as a code span, of at most `limit` characters between its backticks."""
    shown = bounded(text, limit)
    if not shown.isascii():
        shown = shortened("".join(map(_tame, shown)), limit)
    runs = (len(run) for run in re.findall("`+", shown))
    fence = "`" * (max(runs, default=0) + 1)
    # One space at each end is not part of a span; it keeps backticks and spaces at the ends of the text apart from it.
    room = " " if not shown or shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{room}{shown or '-'}{room}{fence}"


@lru_cache(maxsize=1024)
def _tame(character: str) -> str:
    if character.isascii():
        return character
    if unicodedata.bidirectional(character) in _RIGHT_TO_LEFT or unicodedata.category(character).startswith("M"):
        return f"\\u{ord(character):04x}"
    return character


def prose(text: str) -> str:
    """Return own text of the catalogue, whose code spans stay and whose other characters are literal."""
    pieces = text.split("`")
    return "`".join(piece if number % 2 else _SPECIAL.sub(r"\\\1", piece) for number, piece in enumerate(pieces))


class Budget:
    """The bytes that a text may still have."""

    def __init__(self, size: int) -> None:
        self.left = size

    def spend(self, lines: Iterable[str]) -> list[str]:
        """Return lines as they are, and count them."""
        spent = list(lines)
        self.left -= _size(spent)
        return spent

    def fitting(self, blocks: Iterable[Sequence[str]], number: int, *, share: int, more: str) -> list[str]:
        """Return the lines that `fitting_lines` does for a share of the bytes, or for fewer if fewer are left."""
        return self.spend(fitting_lines(blocks, number, min(share, self.left), more))


def fitting_lines(blocks: Iterable[Sequence[str]], number: int, room: int, more: str) -> list[str]:
    """Return the lines of as many blocks, from the first, as there is room for in bytes, and one about the others.

    Blocks beyond the room are not asked for; `more` has `{}` for the number of the others.
    """
    room -= len(more.encode()) + _DIGITS
    kept: list[str] = []
    for kept_blocks, block in enumerate(blocks):
        room -= _size(block)
        if room < 0:
            return [*kept, more.format(number - kept_blocks)]
        kept += block
    return kept


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
