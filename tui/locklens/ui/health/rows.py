"""The rows of the Health screen and the list that paints them, the detail of a row, and the head and status line.

Rows are checks, roots, providers or signers with what is found in them, then the spread of versions.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import TERRAFORM
from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.review.findings import Finding, Severity, severity_rank, worst
from locklens.review.health import CheckResult, Health, Spread, is_undecided, unread_roots
from locklens.review.health_remedies import commands_text, remedy
from locklens.review.reports import SEVERITY_ROLES, severity_span
from locklens.review.reports.health import finding_words, hashes_in_words
from locklens.text import counted
from locklens.ui.clipboard import ShellText
from locklens.ui.review.outline import collected
from locklens.ui.shell.bars import head_line, lookup_parts, status_line
from locklens.ui.shell.filtering import ALL, CHECK, PROVIDER, ROOT, RULE, Filter, Grammar, RowFacts
from locklens.ui.widgets import BarLayout, Piece, StyledPiece, fitted, fitted_end, fitted_name
from locklens.ui.widgets.row_list import Column, FoldingList, LaidOut, check_mark, fold_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry
    from locklens.operations.review.request import Progress
    from locklens.review.model import RootReview

    Found = tuple[RootReview, Finding]
    """A finding and its root."""

    Locked = tuple[RootReview, LockEntry]
    """An entry and its root."""


HEALTH_GRAMMAR = Grammar("check, root, provider, rule, severity, finding or version", (ROOT, PROVIDER, RULE, CHECK))


class HealthGrouping(StrEnum):
    """The kind of the sections."""

    CHECK = "check"
    ROOT = "root"
    PROVIDER = "provider"
    SIGNER = "signer"


class HealthSort(StrEnum):
    """The order of the sections."""

    SEVERITY = "severity"
    ROOTS = "roots"
    NAME = "name"


class HealthRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        result: The result of a check; None for other rows.
        spread: The spread of a provider's versions; None for other rows.
        lockers: The entries that the spread counts.
        bar: The bar of its roots, compared with those of the provider with most.
        depth: 0 for a section, 1 for a row in one.
        folded: True if its children are not shown; None without any.
        marked: The number of its marked roots.
    """

    key: str
    title: str
    found: tuple[Found, ...] = ()
    result: CheckResult | None = None
    spread: Spread | None = None
    lockers: tuple[Locked, ...] = ()
    bar: str = ""
    children: tuple[HealthRow, ...] = ()
    depth: int = 0
    folded: bool | None = None
    marked: int = 0

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots of its findings, each once."""
        return tuple(dict.fromkeys(root.path for root, _ in self.found))

    @property
    def severity(self) -> Severity | None:
        """The worst severity that counts."""
        return worst(tuple(finding for _, finding in self.found))

    @property
    def is_heading(self) -> bool:
        """True for the row above the spread."""
        return self.key == SPREAD_KEY

    @property
    def unknown(self) -> int:
        """The number of roots for which a check is unknown."""
        return self.result.unknown if self.result is not None else 0


SPREAD_KEY = "spread"

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar_of(number: int, most: int, width: int) -> str:
    """A bar in eighths of a column, `width` columns for `most`; never empty, since what is counted is there."""
    eighths = max(1, round(8 * width * number / most))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(width)


def health_rows(
    health: Health,
    grouping: HealthGrouping,
    sort: HealthSort,
    *,
    opened: Collection[str] = (),
    marked: Collection[str] = (),
    narrowed: Filter = ALL,
) -> tuple[HealthRow, ...]:
    """Return the rows in order; `opened` are keys of the unfolded sections, `marked` folders of the marked roots."""
    sections = sorted(_SECTIONS[grouping](health), key=_KEYS[sort])
    rows = [row for section in sections for row in _unfolded(section, health, opened, narrowed)]
    listed = sorted(_spread_rows(health, narrowed), key=lambda row: -len(row.lockers))
    most = max((row.spread.roots for row in listed if row.spread), default=1)
    spread = [replace(row, bar=bar_of(row.spread.roots, most, _BAR)) for row in listed if row.spread]
    rows += [HealthRow(SPREAD_KEY, "VERSIONS OF EACH PROVIDER"), *spread] if spread else []
    return tuple(replace(row, marked=len(set(row.roots) & set(marked))) for row in rows)


def _unfolded(section: HealthRow, health: Health, opened: Collection[str], narrowed: Filter) -> Iterator[HealthRow]:
    """Yield a section and, unfolded, the rows below it: those with a finding that all terms of the filter fit."""
    children, is_narrowed = section.children, bool(narrowed.tests)
    if is_narrowed:
        fitting = (replace(one, found=_fitting((section, one), narrowed)) for one in children)
        children = tuple(one for one in fitting if one.found)
        if not children and (section.found or not narrowed.is_match(_facts((section,)))):
            return
        # What a key does on a section concerns the findings that are shown, and so do its counts.
        found = tuple(found for one in children for found in one.found)
        section = replace(section, found=found, result=_narrowed_result(section, health, narrowed))
    is_open = section.key in opened or bool(is_narrowed and children)
    yield replace(section, folded=not is_open if section.children else None)
    if is_open:
        yield from children


def _narrowed_result(section: HealthRow, health: Health, narrowed: Filter) -> CheckResult | None:
    """The result of a section's check without unknown roots in which it could find nothing that fits the filter."""
    result = section.result
    if result is None or not result.unknown:
        return result
    title, rules = (result.check.id, result.check.title), result.check.rules

    def fits(root: RootReview) -> bool:
        providers = [str(entry.address) for entry in root.new.entries]
        text = "\n".join((*title, *rules, root.path, *providers)).lower()
        fields = {ROOT.name: [root.path or "."], PROVIDER.name: providers, RULE.name: rules, CHECK.name: title}
        return narrowed.is_match(RowFacts(text, section.severity, fields))

    fitting = {root.path for root in health.review.roots if fits(root)}
    kept = {reason: tuple(one for one in own if one in fitting) for reason, own in result.unknown_in.items()}
    return replace(result, unknown_in={reason: own for reason, own in kept.items() if own})


def _fitting(rows: Sequence[HealthRow], narrowed: Filter) -> tuple[Found, ...]:
    return tuple(one for one in rows[-1].found if narrowed.is_match(_facts(rows, one)))


def _facts(rows: Sequence[HealthRow], *found: Found) -> RowFacts:
    """What the filter looks at in a finding below a section; in the section itself where it has none."""
    parts = [row.title for row in rows]
    for root, finding in found:
        parts += [root.path, finding.rule, finding.severity.value, finding_words(finding)]
    fields = {
        ROOT.name: [root.path or "." for root, _ in found],
        PROVIDER.name: [str(provider) for _, finding in found for provider in finding.providers],
        RULE.name: [finding.rule for _, finding in found],
        CHECK.name: [text for row in rows if row.result for text in (row.result.check.id, row.result.check.title)],
    }
    severity = found[0][1].severity if found else rows[-1].severity
    return RowFacts("\n".join(parts).lower(), severity, fields)


def _spread_rows(health: Health, narrowed: Filter) -> Iterator[HealthRow]:
    """Yield a row for each provider, with the versions that the roots which fit the filter lock."""
    texts = {
        one.provider: f"{one.provider} {' '.join(str(version) for version, _ in one.versions)}".lower()
        for one in health.spread
    }
    lockers: dict[ProviderAddress, list[Locked]] = {}
    for root in health.review.roots:
        for entry in root.new.entries:
            fields = {PROVIDER.name: [str(entry.address)], ROOT.name: [root.path or "."]}
            if narrowed.is_match(RowFacts(texts[entry.address], None, fields)):
                lockers.setdefault(entry.address, []).append((root, entry))
    for one in health.spread:
        own = tuple(lockers.get(one.provider, ()))
        numbers = Counter(entry.version for _, entry in own)
        versions = tuple((version, numbers[version]) for version, _ in one.versions if numbers[version])
        if versions:
            title = one.provider.short(TERRAFORM.default_host)
            yield HealthRow(f"{SPREAD_KEY}:{one.provider}", title, spread=Spread(one.provider, versions), lockers=own)


def _found(health: Health) -> Iterator[Found]:
    for root in health.review.roots:
        for finding in root.findings:
            if not is_undecided(finding):
                yield root, finding


def roots_with_findings(health: Health) -> frozenset[str]:
    """The folders of the roots that some row lists."""
    return frozenset(root.path for root, _ in _found(health))


def _root_name(found: Found) -> str:
    return found[0].path or "."


def _by_check(health: Health) -> Iterator[HealthRow]:
    found = list(_found(health))
    for result in health.checks:
        own = tuple(one for one in found if one[1].rule in result.check.rules)
        key = f"check:{result.check.id}"
        yield HealthRow(key, result.check.title, own, result, children=_children(key, own, _root_name))


def _by_root(health: Health) -> Iterator[HealthRow]:
    titles = {rule: result.check.title for result in health.checks for rule in result.check.rules}
    return _by("root", health, _root_name, lambda one: titles.get(one[1].rule, one[1].rule))


def _by_provider(health: Health) -> Iterator[HealthRow]:
    return _by("provider", health, lambda one: str(one[1].provider or "files and roots"), _root_name)


def _by_signer(health: Health) -> Iterator[HealthRow]:
    def name(one: Found) -> str:
        root, finding = one
        if finding.provider is None:
            return "files and roots"
        return health.signers.get((root.path, finding.provider), "signer not known")

    return _by("signer", health, name, _provider_name)


def _by(
    kind: str, health: Health, name: Callable[[Found], str], name_below: Callable[[Found], str]
) -> Iterator[HealthRow]:
    """Yield a section for each name of a finding, and below it a row for each other name."""
    for title, own in _grouped(_found(health), name):
        key = f"{kind}:{title}"
        yield HealthRow(key, title, own, children=_children(key, own, name_below))


def _provider_name(one: Found) -> str:
    root, finding = one
    name = finding.provider.short(TERRAFORM.default_host) if finding.provider is not None else ""
    return f"{name}  {root.path or '.'}".strip()


def _children(key: str, found: Sequence[Found], name: Callable[[Found], str]) -> tuple[HealthRow, ...]:
    return tuple(HealthRow(f"{key}:{title}", title, own, depth=1) for title, own in _grouped(found, name))


def _grouped(found: Iterable[Found], name: Callable[[Found], str]) -> list[tuple[str, tuple[Found, ...]]]:
    made = [(title, tuple(own)) for title, own in collected(found, name).items()]
    return sorted(made, key=lambda group: (min(finding.severity.rank for _, finding in group[1]), group[0]))


_SECTIONS: dict[HealthGrouping, Callable[[Health], Iterator[HealthRow]]] = {
    HealthGrouping.CHECK: _by_check,
    HealthGrouping.ROOT: _by_root,
    HealthGrouping.PROVIDER: _by_provider,
    HealthGrouping.SIGNER: _by_signer,
}


_KEYS: dict[HealthSort, Callable[[HealthRow], tuple[object, ...]]] = {
    HealthSort.SEVERITY: lambda row: (severity_rank(row.severity),),
    HealthSort.ROOTS: lambda row: (-len(row.roots), severity_rank(row.severity)),
    HealthSort.NAME: lambda row: (row.title,),
}

_LEAD = 4
_BAR = 8


def _title(row: HealthRow) -> Span:
    times = f" ×{len(row.found)}" if row.depth and len(row.found) > 1 else ""
    return Span(f"{'  ' * row.depth}{row.title}{times}", Role.PLAIN if row.found else Role.DIM)


def _fitted_title(text: str, width: int) -> str:
    """The last folders of a path and the type of a provider are kept, and the first words of a check's title."""
    return (fitted_name if "/" in text else fitted)(text, width)


def _number(row: HealthRow) -> Span:
    """The number of roots; "" in a section, where a row is one root, or one check of it."""
    is_off = row.result is not None and row.result.is_off
    words = "" if row.depth else "off" if is_off else str(len(row.roots))
    return Span(words, Role.STRONG if row.found else Role.DIM)


_SPREAD = (
    Column[HealthRow]("", lambda row: Span(row.title), fit=fitted_end),
    Column[HealthRow]("", lambda row: Span(row.bar, Role.DIM)),
    Column[HealthRow]("roots", lambda row: Span(str(row.spread.roots) if row.spread else "", Role.DIM), is_at_end=True),
    Column[HealthRow](
        "versions", lambda row: Span(str(len(row.spread.versions)) if row.spread else "", Role.DIM), is_at_end=True
    ),
)
"""The columns of the versions of each provider, below the others."""


class HealthList(FoldingList[HealthRow]):
    """Sections with counts."""

    COLUMNS = (
        Column[HealthRow]("", _title, fit=_fitted_title),
        Column[HealthRow]("", lambda row: severity_span(row.severity) if row.found else Span("")),
        Column[HealthRow](
            "roots",
            _number,
            "number of roots with a finding of the check; off for a check that the policy does not ask for",
            is_at_end=True,
        ),
        Column[HealthRow](
            "unknown",
            lambda row: Span(str(row.unknown or ""), Role.DIM),
            "number of roots that could not be checked; the detail has the reason",
            is_at_end=True,
        ),
    )
    LEAD = _LEAD + 2

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._spread: LaidOut[HealthRow] = LaidOut()

    def is_heading(self, row: HealthRow) -> bool:
        """True for the title of the spread, and for a section with rows below it."""
        return row.is_heading or row.folded is False

    def can_mark(self, row: HealthRow) -> bool:
        """True for a row with roots."""
        return bool(row.found)

    def has_cells(self, row: HealthRow) -> bool:
        """True above the spread."""
        return not row.is_heading and row.spread is None

    def lay_out(self, rows: tuple[HealthRow, ...], width: int) -> None:
        """Share the width among the columns, and among those of the spread."""
        super().lay_out(rows, width)
        spread = [row for row in rows if row.spread is not None]
        self._spread = LaidOut.fitting(_SPREAD, spread, width, lead=_LEAD)

    def painted(self, row: HealthRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a section, a row in one, or a provider with its bar."""
        del width
        lead = [Span(">" if cursor else " ", Role.STRONG), Span(f" {fold_marker(folded=row.folded)} ", Role.DIM)]
        if row.is_heading:
            _, *titles = self._spread.titles()
            return [*lead, Span(fitted(row.title, self._spread.columns[0][1]), Role.HEADING), *titles]
        if row.spread is not None:
            return [*lead, *self._spread.painted(row)]
        mark = check_mark(row.marked, len(row.roots)) if row.found else Span("  ")
        return [*lead, mark, *self.columns.painted(row)]


_WIDE_BAR = 24
_ROOTS_SHOWN = 200
"""The most roots of one finding that are listed; the report lists all."""


def health_detail(row: HealthRow, health: Health) -> Iterator[Line]:
    """The detail of a check, a root, a provider, or of a provider's versions."""
    yield line(Span(row.title, Role.STRONG), copied=row.title)
    if row.spread is not None:
        yield from _spread(row.spread, row.lockers)
        return
    if row.found:
        yield line(severity_span(row.severity), Span(f"  in {counted(len(row.roots), 'root')}", Role.DIM))
    result = row.result
    if result is not None:
        if result.unknown:
            yield line(Span(f"unknown in {counted(result.unknown, 'root')}: {result.reason}", Role.WARN), hanging=2)
        elif result.reason:
            yield line(Span(f"not checked: {result.reason}", Role.DIM), hanging=2)
        yield from _remedy_lines(result, health)
        yield from _unread_lines(unread_roots([result], health))
    elif len(row.roots) == 1 and (reason := health.reach[row.roots[0]].unread):
        yield from _unread_lines({reason: row.roots})
    for finding, roots in _alike(row):
        yield Line()
        yield line(
            severity_span(finding.severity),
            Span(f" {finding.rule}  {finding_words(finding)}"),
            hanging=2,
            copied=finding_words(finding),
            place=_place(finding),
        )
        for root, own in roots[:_ROOTS_SHOWN]:
            place = _place(own)
            yield line(Span(f"  {place if own.line is not None else root.path or '.'}", Role.PLACE), hanging=4,
                       copied=root.path or ".", place=place)  # fmt: skip
        if len(roots) > _ROOTS_SHOWN:
            yield line(Span(f"  and {len(roots) - _ROOTS_SHOWN} more roots", Role.DIM))
    if not row.found and result is not None and not result.unknown and not result.reason:
        yield line(Span("No root is affected.", Role.DIM))


def _unread_lines(unread: Mapping[str, Sequence[str]]) -> Iterator[Line]:
    if unread:
        yield from heading("NOT READ")
    for reason, roots in unread.items():
        yield line(f"  {reason}", hanging=4, copied=reason)
        yield from _root_lines(roots)


def _root_lines(roots: Sequence[str]) -> Iterator[Line]:
    for root in roots[:_ROOTS_SHOWN]:
        yield line(Span(f"    {root or '.'}", Role.PLACE), hanging=6, copied=root or ".")
    if len(roots) > _ROOTS_SHOWN:
        yield line(Span(f"    and {len(roots) - _ROOTS_SHOWN} more roots", Role.DIM))


def _remedy_lines(result: CheckResult, health: Health) -> Iterator[Line]:
    found = remedy(result.check, health)
    if command := commands_text(result.check, found, health):
        yield from heading("ALL AT ONCE")
        yield line(Span(command, Role.PLACE), hanging=2, copied=ShellText(command))
    for title, sentences in found.rest:
        if sentences:
            yield from heading(title.upper())
        yield from (line(f"  {one}", hanging=4, copied=one) for one in sentences[:_ROOTS_SHOWN])


def _alike(row: HealthRow) -> list[tuple[Finding, list[Found]]]:
    """The findings with the same words once, with their roots; the worst first."""
    alike = collected(row.found, lambda one: (one[1].severity.rank, one[1].rule, finding_words(one[1])))
    return [(own[0][1], own) for _, own in sorted(alike.items(), key=lambda one: one[0])]


def _place(finding: Finding) -> FilePlace:
    return FilePlace(finding.file, finding.line or 1)


def _spread(spread: Spread, lockers: Iterable[Locked]) -> Iterator[Line]:
    yield line(Span(f"{counted(spread.roots, 'root')}, {counted(len(spread.versions), 'version')}", Role.DIM))
    by_version = collected(lockers, lambda one: str(one[1].version))
    most = max(number for _, number in spread.versions)
    width = max(len(str(version)) for version, _ in spread.versions)
    for version, number in spread.versions:
        yield Line()
        bar = Span(bar_of(number, most, _WIDE_BAR), Role.INFO)
        shown = Span(f"{version!s:<{width}} "), bar, Span(f" {number:>5}", Role.STRONG)
        yield line(*shown, copied=str(version))
        for root, entry in by_version.get(str(version), ())[:_ROOTS_SHOWN]:
            place = FilePlace(root.lock_file, entry.line)
            yield line(Span(f"  {root.path or '.'}", Role.PLACE), hanging=4, copied=root.path or ".", place=place)


def health_head(health: Health | None, *, is_asking: bool = False) -> tuple[BarLayout, ...]:
    """The head line: counts of roots, which add up, of providers, and of the findings in the rows, which may grow."""
    if health is None:
        return head_line("health")
    roots = [
        Piece(f"  {health.ok} ok", Role.GOOD if health.verdict == "ok" else Role.DIM),
        Piece(f"  {health.unknown} unknown", Role.WARN if health.unknown else Role.DIM),
        Piece(f"  {health.worse} worse", Role.STRONG if health.worse else Role.DIM),
    ]
    findings = [
        Piece(
            f"  {count} {severity.upper()}",
            SEVERITY_ROLES[severity] if count else Role.DIM,
            f"only({severity.value!r})",
        )
        for severity, count in health.counts.items()
    ]
    findings += [Piece(" so far", Role.DIM)] if is_asking else []
    number = counted(len(health.review.roots), "root")
    versions = counted(sum(len(one.versions) for one in health.spread), "version")
    providers = counted(len(health.spread), "provider")
    return head_line(
        "health",
        f"work tree  {health.roots_in_words}  {providers}  {versions}",
        brief=f"work tree  {number}",
        counts=(*roots, Piece("  findings:"), *findings),
        least=(*roots, Piece("  "), *findings),
    )


def health_status(
    health: Health | None, progress: Progress | None, *, marked: int, shown: str, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The status line above the keys, and a shorter one; `shown` names grouping and order."""
    review = health.review if health is not None else None
    brief = f"{health.hashes.unverified} not verified" if health is not None and health.hashes.unverified else ""
    layouts: tuple[BarLayout, ...] = ()
    for hashes in (hashes_in_words(health) if health is not None else "", brief):
        words = ", ".join(filter(None, (health.verdict, hashes))) if health is not None else ""
        verdict = [Piece(f"verdict {words}")] if words else []
        parts = [Piece(f"{counted(marked, 'root')} marked", Role.STRONG)] if marked else []
        parts += lookup_parts(review, progress, is_narrowed=is_narrowed, verdict=verdict)
        layouts += status_line(parts, message=message, aside=shown)
        if message:
            break
    return layouts
