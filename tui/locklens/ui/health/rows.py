"""The rows of the Health screen: checks, roots or providers with what is found in them, and the spread. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.cycling import CyclicChoice
from locklens.dialect import TERRAFORM
from locklens.review.health import is_undecided
from locklens.review.model import Severity, worst
from locklens.review.reports.health import finding_words
from locklens.ui.shell.filtering import CHECK, PROVIDER, ROOT, RULE, Filter, Grammar, RowFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from locklens.review.health import CheckResult, Health, Spread
    from locklens.review.model import Finding, RootReview

    Found = tuple[RootReview, Finding]
    """A finding and its root."""


HEALTH_GRAMMAR = Grammar(
    "check, root, provider, rule, severity, finding or version",
    (ROOT, PROVIDER, RULE, CHECK),
)
_ALL = Filter()


class HealthGrouping(CyclicChoice):
    """The kind of the sections."""

    CHECK = "check"
    ROOT = "root"
    PROVIDER = "provider"
    SIGNER = "signer"


class HealthSort(CyclicChoice):
    """The order of the sections."""

    SEVERITY = "severity"
    ROOTS = "roots"
    NAME = "name"


class HealthRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        key: Stable across reloads.
        title: Untrusted text.
        found: The findings, with their roots.
        result: Of a check.
        spread: Of a provider's versions.
        children: The rows that unfold below it.
        depth: 0 for a section, 1 for a row in one.
        is_open: True if its children are shown.
        marked: The number of its marked roots.
    """

    key: str
    title: str
    found: tuple[Found, ...] = ()
    result: CheckResult | None = None
    spread: Spread | None = None
    children: tuple[HealthRow, ...] = ()
    depth: int = 0
    is_open: bool = False
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
        """The number of roots of which a check cannot say."""
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
    narrowed: Filter = _ALL,
) -> tuple[HealthRow, ...]:
    """Return the rows in order.

    Args:
        health: The health to show.
        grouping: The kind of the sections.
        sort: Their order.
        opened: Keys of the unfolded sections.
        marked: Folders of the marked roots.
        narrowed: The filter.
    """
    sections = sorted(_SECTIONS[grouping](health), key=_KEYS[sort])
    rows = [row for section in sections for row in _unfolded(section, opened, narrowed)]
    spread = [
        HealthRow(f"{SPREAD_KEY}:{one.provider}", one.provider.short(TERRAFORM.default_host), spread=one)
        for one in health.spread
        if narrowed.is_match(_spread_facts(one))
    ]
    rows += [HealthRow(SPREAD_KEY, "VERSIONS OF EACH PROVIDER"), *spread] if spread else []
    return tuple(replace(row, marked=len(set(row.roots) & set(marked))) for row in rows)


def _unfolded(section: HealthRow, opened: Collection[str], narrowed: Filter) -> Iterator[HealthRow]:
    is_narrowed = bool(narrowed.tests)
    children = (
        [child for child in section.children if narrowed.is_match(_facts(section, child))] if is_narrowed else None
    )
    if is_narrowed and not children and not narrowed.is_match(_facts(section)):
        return
    shown = section.children if children is None or not children else tuple(children)
    is_open = section.key in opened or bool(is_narrowed and children)
    yield replace(section, is_open=is_open)
    if is_open:
        yield from shown


def _facts(*rows: HealthRow) -> RowFacts:
    """What the filter looks at in a section, or in a row below it."""
    parts, found = [row.title for row in rows], rows[-1].found
    for root, finding in found:
        parts += [root.path, finding.rule, finding.severity.value, finding_words(finding)]
    fields = {
        ROOT.name: [root.path or "." for root, _ in found],
        PROVIDER.name: [str(finding.provider) for _, finding in found if finding.provider is not None],
        RULE.name: [finding.rule for _, finding in found],
        CHECK.name: [text for row in rows if row.result for text in (row.result.check.id, row.result.check.title)],
    }
    return RowFacts("\n".join(parts).lower(), rows[-1].severity, fields)


def _spread_facts(spread: Spread) -> RowFacts:
    text = f"{spread.provider} {' '.join(str(version) for version, _ in spread.versions)}"
    return RowFacts(text.lower(), None, {PROVIDER.name: [str(spread.provider)]})


def _found(health: Health) -> Iterator[Found]:
    for root in health.review.roots:
        for finding in root.findings:
            if not is_undecided(finding):
                yield root, finding


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
    for title, own in _grouped(_found(health), _root_name):
        key = f"root:{title}"
        yield HealthRow(key, title, own, children=_children(key, own, lambda one: titles.get(one[1].rule, one[1].rule)))


def _by_provider(health: Health) -> Iterator[HealthRow]:
    for title, own in _grouped(_found(health), lambda one: str(one[1].provider or "files and roots")):
        key = f"provider:{title}"
        yield HealthRow(key, title, own, children=_children(key, own, _root_name))


def _by_signer(health: Health) -> Iterator[HealthRow]:
    def name(one: Found) -> str:
        root, finding = one
        if finding.provider is None:
            return "files and roots"
        return health.signers.get((root.path, finding.provider), "signer not known")

    for title, own in _grouped(_found(health), name):
        key = f"signer:{title}"
        yield HealthRow(key, title, own, children=_children(key, own, _provider_name))


def _provider_name(one: Found) -> str:
    root, finding = one
    name = finding.provider.short(TERRAFORM.default_host) if finding.provider is not None else ""
    return f"{name}  {root.path or '.'}".strip()


def _children(key: str, found: Sequence[Found], name: Callable[[Found], str]) -> tuple[HealthRow, ...]:
    return tuple(HealthRow(f"{key}:{title}", title, own, depth=1) for title, own in _grouped(found, name))


def _grouped(found: Iterable[Found], name: Callable[[Found], str]) -> list[tuple[str, tuple[Found, ...]]]:
    groups: dict[str, list[Found]] = {}
    for one in found:
        groups.setdefault(name(one), []).append(one)
    made = [(title, tuple(own)) for title, own in groups.items()]
    return sorted(made, key=lambda group: (min(finding.severity.rank for _, finding in group[1]), group[0]))


_SECTIONS: dict[HealthGrouping, Callable[[Health], Iterator[HealthRow]]] = {
    HealthGrouping.CHECK: _by_check,
    HealthGrouping.ROOT: _by_root,
    HealthGrouping.PROVIDER: _by_provider,
    HealthGrouping.SIGNER: _by_signer,
}


def _severity_rank(row: HealthRow) -> int:
    return row.severity.rank if row.severity is not None else len(Severity)


_KEYS: dict[HealthSort, Callable[[HealthRow], tuple[object, ...]]] = {
    HealthSort.SEVERITY: lambda row: (_severity_rank(row),),
    HealthSort.ROOTS: lambda row: (-len(row.roots), _severity_rank(row)),
    HealthSort.NAME: lambda row: (row.title,),
}
