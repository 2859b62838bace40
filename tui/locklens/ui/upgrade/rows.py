"""The rows of the Upgrade screen: sections, providers, roots of a provider, and what keys select of them. No I/O."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from locklens.lines import Role, Span
from locklens.operations.upgrades import CandidateVersion, RefusedRoot, UpgradeCandidates, edits_in_short
from locklens.operations.upgrades.doubts import upgrade_warnings
from locklens.operations.upgrades.report import signer_span
from locklens.operations.upgrades.selection import Eligibility, UpgradeSelection
from locklens.review.model import Bump
from locklens.review.reports import SEVERITY_ROLES
from locklens.text import age_words, counted
from locklens.ui.shell.filtering import PROVIDER, ROOT, SIGNER, Filter, Grammar, RowFacts
from locklens.ui.shell.keys import following

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.addresses import ProviderAddress

UPGRADE_GRAMMAR = Grammar(
    "provider, root, version, signer, remark, or the title of a section",
    (ROOT, PROVIDER, SIGNER),
    {"selected": "selected for the upgrade"},
    has_severity=False,
)
_ALL = Filter()


class RowKind(StrEnum):
    """The kind of a row."""

    SECTION = "section"
    GROUP = "group"
    PROVIDER = "provider"
    REFUSED = "refused"


class By(StrEnum):
    """The grouping of the rows."""

    PROVIDER = "provider"
    ROOT = "root"


_TO_LOOK_AT = frozenset({Eligibility.DECIDE, Eligibility.HELD, Eligibility.NOT_REQUIRED, Eligibility.UNKNOWN})
"""The states that `n` goes to."""


class UpgradeRow(Struct, frozen=True):
    """One line of the list; a cell without a value is "".

    Attributes:
        kind: The kind of row.
        key: Stable across reloads.
        title: Section, provider, or root.
        depth: 0 for a section.
        offers: The providers of the row: those of the section, or of each root of the group.
        mark: "[x]" selected, "[ ]" not selected, "[-]" selected in some roots, " - " for no target version.
        locked: The locked version.
        target: The version that an upgrade would lock.
        in_range: The newest version that satisfies the constraints.
        newest: The newest release.
        age: Age of the target version.
        bump: Kind of step to the target version.
        fixes: How many advisories of the locked version the target version fixes.
        signer: Signer of the target version, compared with that of the locked one.
        note: The worst warning, or what holds the provider back.
        folded: None for rows that do not fold.
        is_warned: True if the provider needs a decision, is held back, not required or unknown, or has warnings.
        refused: The root in which upgrades are not possible.
    """

    kind: RowKind
    key: str
    title: str
    depth: int = 1
    offers: tuple[UpgradeCandidates, ...] = ()
    mark: str = "   "
    locked: str = ""
    target: Span = Span("")
    in_range: str = ""
    newest: str = ""
    age: Span = Span("")
    bump: Span = Span("")
    fixes: Span = Span("")
    signer: Span = Span("")
    note: Span = Span("")
    folded: bool | None = None
    is_warned: bool = False
    refused: RefusedRoot | None = None

    @property
    def offer(self) -> UpgradeCandidates | None:
        """The provider of the row; None for several or none."""
        return self.offers[0] if len(self.offers) == 1 and self.kind is not RowKind.SECTION else None

    @property
    def is_of_provider(self) -> bool:
        """True if the row is of one provider, in one root or in several."""
        return bool(self.offers) and self.kind is not RowKind.SECTION


def upgrade_rows(
    selection: UpgradeSelection, *, by: By, narrowed: Filter = _ALL, unfolded: frozenset[str] = frozenset()
) -> tuple[UpgradeRow, ...]:
    """Return the rows that match a filter.

    Args:
        selection: The candidates and the selection.
        by: The grouping.
        narrowed: The filter.
        unfolded: Keys of the groups that show their roots.
    """
    rows = [_provider(selection, offer) for offer in selection.offers.providers]
    shown = [row for row in rows if narrowed.is_match(_facts(row, selection))] if narrowed.tests else rows
    refused = [_refused_row(root) for root in selection.offers.refused]
    refused = [row for row in refused if narrowed.is_match(_refused_facts(row))]
    if by is By.ROOT:
        return tuple(_by_root(shown, refused, selection))
    return tuple(_by_provider(shown, refused, selection, unfolded))


def _by_provider(
    rows: list[UpgradeRow], refused: list[UpgradeRow], selection: UpgradeSelection, unfolded: frozenset[str]
) -> Iterator[UpgradeRow]:
    groups: dict[ProviderAddress, list[UpgradeRow]] = {}
    for row in rows:
        groups.setdefault(row.offers[0].address, []).append(row)
    by_state: dict[Eligibility, list[list[UpgradeRow]]] = {state: [] for state in Eligibility}
    for _, members in sorted(groups.items(), key=lambda item: item[0].sort_key):
        # Of the roots that are shown: a filter may hide the others.
        best = min((selection.state(row.offers[0]) for row in members), key=list(Eligibility).index)
        by_state[best].append(members)
    for state, providers in by_state.items():
        refused_roots = refused if state is Eligibility.UNKNOWN else []
        if not providers and not refused_roots:
            continue
        offers = tuple(row.offers[0] for members in providers for row in members)
        if refused_roots and any(not offer.is_asked for offer in offers):
            # What is still asked is not what cannot be: the roots have a heading of their own.
            yield _section("state:refused", f"UNKNOWN  {_number([], refused_roots)}", ())
            yield from refused_roots
            refused_roots = []
        is_asking = state is Eligibility.UNKNOWN and any(not offer.is_asked for offer in offers)
        title = "ASKING" if is_asking else state.value.upper()
        yield _section(f"state:{state}", f"{title}  {_number(providers, refused_roots)}", offers)
        for members in providers:
            if len(members) == 1:
                yield members[0]
                continue
            group = _group(members, selection, unfolded)
            yield group
            if not group.folded:
                yield from (replace(row, depth=2, title=row.offers[0].root or ".") for row in members)
        yield from refused_roots


def _number(providers: list[list[UpgradeRow]], refused: list[UpgradeRow]) -> str:
    parts = ((len(providers), "provider"), (len(refused), "root"))
    return " and ".join(counted(number, noun) for number, noun in parts if number)


def _by_root(rows: list[UpgradeRow], refused: list[UpgradeRow], selection: UpgradeSelection) -> Iterator[UpgradeRow]:
    roots: dict[str, list[UpgradeRow]] = {}
    for row in rows:
        roots.setdefault(row.offers[0].root, []).append(row)
    for row in refused:
        assert row.refused is not None
        roots.setdefault(row.refused.root, []).append(replace(row, title="entire root"))
    for root, members in sorted(roots.items()):
        offers = tuple(offer for row in members for offer in row.offers)
        yield _section(f"root:{root}", root or ".", offers)
        yield from sorted(members, key=lambda row: _rank(row, selection))


def _rank(row: UpgradeRow, selection: UpgradeSelection) -> int:
    return list(Eligibility).index(selection.state(row.offers[0])) if row.offers else len(Eligibility)


def _section(key: str, title: str, offers: tuple[UpgradeCandidates, ...]) -> UpgradeRow:
    return UpgradeRow(RowKind.SECTION, key, title, depth=0, offers=offers)


def _refused_row(root: RefusedRoot) -> UpgradeRow:
    note = Span(str(root.error), Role.WARN)
    return UpgradeRow(
        RowKind.REFUSED, f"refused:{root.root}", root.root or ".", mark=" - ", note=note, is_warned=True, refused=root
    )


def _provider(selection: UpgradeSelection, offer: UpgradeCandidates) -> UpgradeRow:
    recommendation, choice = selection.recommendation(offer), selection.target(offer)
    is_undecided = selection.state(offer) is Eligibility.DECIDE
    remarks = warning_spans(selection, offer, choice)
    warnings = [span for span in remarks if span.role is not Role.INFO]
    return UpgradeRow(
        RowKind.PROVIDER,
        f"{offer.root}\0{offer.address}",
        offer.name,
        offers=(offer,),
        mark="[x]" if selection.is_selected(offer) else "[ ]" if choice is not None else " - ",
        locked=str(offer.locked) if offer.locked is not None else "none",
        target=_target(offer, choice),
        in_range=str(offer.in_range.version) if offer.in_range is not None else "none" if offer.choices else "",
        newest=str(offer.newest) if offer.newest is not None else "",
        age=_age(selection, choice),
        bump=_bump(offer, choice),
        fixes=_fixes(selection, offer, choice),
        signer=signer_span(selection, offer, choice),
        note=_note(offer, choice, recommendation.held_by, warnings or (remarks if is_undecided else [])),
        is_warned=selection.state(offer) in _TO_LOOK_AT or bool(warnings),
    )


def _target(offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    if not offer.is_asked:
        return Span("…", Role.DIM)
    if choice is None:
        return Span("" if offer.problem else "-", Role.DIM)
    sign = "*" if choice.excluding else ""
    return Span(f"{choice.version}{sign}", Role.WARN if sign else Role.STRONG)


def _age(selection: UpgradeSelection, choice: CandidateVersion | None) -> Span:
    if choice is None:
        return Span("")
    is_warned = selection.terms.is_too_young(choice) or selection.terms.is_of_unknown_age(choice)
    return Span(age_words(choice.days), Role.WARN if is_warned else Role.PLAIN)


def _bump(offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    if choice is None:
        return Span("")
    if offer.locked is None:
        return Span("new", Role.INFO)
    if not offer.is_newer(choice.version):
        return Span("down", Role.WARN)
    bump = offer.bump(choice.version)
    return Span(_BUMPS.get(bump, "") if bump else "", Role.INFO if bump is Bump.MAJOR else Role.PLAIN)


def _fixes(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    words = selection.fixes(offer, choice)
    return Span(words, Role.DIM if words in {"", "0", "?"} else Role.GOOD)


_BUMPS = {bump: bump.value for bump in Bump} | {Bump.PRERELEASE: "pre", Bump.METADATA: "meta"}


def _note(offer: UpgradeCandidates, choice: CandidateVersion | None, held_by: str, warnings: list[Span]) -> Span:
    """The most important remark: the worst warning, or else what holds back a newer version."""
    if offer.problem:
        return Span(offer.problem, Role.WARN)
    if choice is not None and choice.excluding:
        return Span(f"*edit {edits_in_short(choice)}", Role.WARN)
    if warnings:
        return warnings[0]
    if offer.is_excluded and choice is None:
        return Span(f"needs action, {offer.locked} is not in range: {held_by}", Role.WARN)
    return Span(held_by, Role.DIM)


def warning_spans(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> list[Span]:
    """The warnings about a version, the worst first; see `upgrade_warnings`."""
    warnings = upgrade_warnings(selection, offer, choice)
    return [Span(warning.words, SEVERITY_ROLES[warning.severity]) for warning in warnings]


# Several roots


def _group(rows: list[UpgradeRow], selection: UpgradeSelection, unfolded: frozenset[str]) -> UpgradeRow:
    """The row of one provider in several roots, with their common cells."""
    offers = tuple(row.offers[0] for row in rows)
    key = f"group:{offers[0].address}"
    targets = [selection.target(offer) for offer in offers]
    notes = _common([row.note for row in rows])
    return UpgradeRow(
        RowKind.GROUP,
        key,
        rows[0].title,
        offers=offers,
        mark=_mark(offers, targets, selection),
        locked=_one_of(row.locked for row in rows),
        target=_common([row.target for row in rows if row.mark != " - "] or [rows[0].target])
        or _differing_target([choice for choice in targets if choice is not None]),
        in_range=_one_of(row.in_range for row in rows),
        newest=_one_of(row.newest for row in rows),
        age=_shared(row.age for row in rows),
        bump=_shared(row.bump for row in rows),
        fixes=_shared(row.fixes for row in rows),
        signer=_shared(row.signer for row in rows),
        note=notes
        if notes is not None and notes.text and not _is_partial(offers, selection)
        else _roots(offers, selection),
        folded=key not in unfolded,
        is_warned=any(row.is_warned for row in rows),
    )


def _differing_target(choices: list[CandidateVersion]) -> Span:
    """The version that some roots would lock; starred if the constraint of at least one root would be edited."""
    sign = "*" if any(choice.excluding for choice in choices) else ""
    return Span(f"{_one_of(str(choice.version) for choice in choices)}{sign}", Role.WARN if sign else Role.STRONG)


def _roots(offers: tuple[UpgradeCandidates, ...], selection: UpgradeSelection) -> Span:
    """In how many roots something speaks against the target, and in how many it is selected."""
    choices = [choice for offer in offers if (choice := selection.target(offer)) is not None]
    edited = sum(bool(choice.excluding) for choice in choices)
    young = sum(map(selection.terms.is_too_young, choices))
    selected = sum(map(selection.is_selected, offers))
    against = [f"*edits {edited} of {len(offers)} roots"] if edited else []
    if young:
        against.append(f"in cooldown in {young}" + ("" if edited else f" of {len(offers)} roots"))
    if against:
        more = [f"selected in {selected}"] if selected else []
        return Span(", ".join([*against, *more]), Role.WARN)
    if selected:
        return Span(f"selected in {selected} of {len(offers)} roots", Role.DIM)
    held = sum(selection.state(offer) is Eligibility.HELD for offer in offers)
    return Span(f"in {len(offers)} roots" + (f", {held} held back" if held else ""), Role.DIM)


def _is_partial(offers: tuple[UpgradeCandidates, ...], selection: UpgradeSelection) -> bool:
    """True if some of the roots are selected, but not all."""
    return 0 < sum(map(selection.is_selected, offers)) < len(offers)


def _mark(
    offers: tuple[UpgradeCandidates, ...], targets: list[CandidateVersion | None], selection: UpgradeSelection
) -> str:
    selectable = [offer for offer, choice in zip(offers, targets, strict=True) if choice is not None]
    selected = sum(map(selection.is_selected, selectable))
    if not selectable:
        return " - "
    return "[x]" if selected == len(offers) else "[-]" if selected else "[ ]"


def _common(cells: list[Span]) -> Span | None:
    """The common cell; None if they differ or there are none."""
    return cells[0] if len({cell.text for cell in cells}) == 1 else None


def _shared(cells: Iterable[Span]) -> Span:
    """The common cell of those that say something; an empty one if they differ or there are none."""
    return _common([cell for cell in cells if cell.text]) or Span("")


def _one_of(texts: Iterable[str]) -> str:
    """The common text of those that say something; "several" if they differ."""
    distinct = set(filter(None, texts))
    return "several" if len(distinct) > 1 else next(iter(distinct), "")


def _facts(row: UpgradeRow, selection: UpgradeSelection) -> RowFacts:
    """What the filter looks at."""
    offer = row.offers[0]
    parts = (
        str(offer.address),
        offer.root,
        row.locked,
        row.target.text,
        row.newest,
        row.bump.text,
        row.signer.text,
        row.note.text,
        selection.state(offer).value,
    )
    fields = {ROOT.name: (offer.root or ".",), PROVIDER.name: (str(offer.address),), SIGNER.name: (row.signer.text,)}
    words = ("selected",) if selection.is_selected(offer) else ()
    return RowFacts("\n".join(parts).lower(), None, fields, words)


def _refused_facts(row: UpgradeRow) -> RowFacts:
    return RowFacts(f"{row.title} {row.note.text}".lower(), None, {ROOT.name: (row.title,)})


class Chosen(NamedTuple):
    """A selection after a key, and a sentence about it; "" where the list says enough."""

    selection: UpgradeSelection
    words: str = ""


def toggled(selection: UpgradeSelection, row: UpgradeRow) -> Chosen:
    """Select the providers of a row, or deselect them."""
    selectable = [offer for offer in row.offers if selection.target(offer) is not None]
    if selectable:
        return Chosen(selection.toggled(selectable))
    return Chosen(selection, _why_not_selectable(row, selection))


def toggled_eligible(selection: UpgradeSelection) -> Chosen:
    """Select all eligible upgrades; once they are selected, nothing."""
    eligible = selection.safe
    if frozenset(offer.key for offer in eligible) <= selection.selected:
        words = "selection cleared" if selection.selected else "no eligible upgrade is known"
        return Chosen(selection.without_any(), words)
    addresses = {offer.address for offer in eligible}
    states = selection.state_by_provider()
    ready = [address for address, state in states.items() if state is Eligibility.READY]
    undecided = list(states.values()).count(Eligibility.DECIDE)
    majors = sum(map(selection.is_left_out_as_major, selection.offers.providers))
    included = f" (M includes {counted(majors, 'major version')})" if majors else ""
    words = f"selected {counted(len(addresses), 'eligible provider')}"
    if left := len(frozenset(ready) - addresses):
        # Another version than the recommended one was stepped to in all of their roots.
        words += f"; {left} {'is' if left == 1 else 'are'} left at the version you stepped to"
    if undecided:
        words += f"; {undecided} {'needs' if undecided == 1 else 'need'} your decision{included}"
    return Chosen(selection.with_safe(), words)


def stepped(selection: UpgradeSelection, row: UpgradeRow | None, by: int) -> Chosen:
    """Step to a newer (1) or older (-1) version of a row's provider."""
    if row is None or not row.is_of_provider:
        return Chosen(selection, "version: no provider on this row")
    moved = selection.moved(row.offers, by)
    if all(moved.target(offer) == selection.target(offer) for offer in row.offers):
        return Chosen(moved, f"no {'newer' if by > 0 else 'older'} version can be selected")
    dropped = len(selection.selected - moved.selected)
    where = f" in {dropped} of {len(row.offers)} roots" if len(row.offers) > 1 else ""
    name = row.offers[0].name
    return Chosen(moved, f"deselected {name}{where}: that is the locked version" if dropped else "")


def with_next_limit(selection: UpgradeSelection) -> Chosen:
    """Set the next upgrade limit."""
    limit = following(selection.terms.limit)
    return Chosen(selection.with_terms(replace(selection.terms, limit=limit)), f"upgrade limit: {limit}")


def with_majors_toggled(selection: UpgradeSelection) -> Chosen:
    """Take major versions into the eligible upgrades, or leave them out."""
    terms = selection.terms
    words = "major versions: " + ("not eligible" if terms.takes_majors else "eligible, a selects them too")
    return Chosen(selection.with_terms(replace(terms, takes_majors=not terms.takes_majors)), words)


def with_cooldown_toggled(selection: UpgradeSelection) -> Chosen:
    """Switch the cooldown off, or on: that of the policy, or the usual one."""
    terms = selection.terms.with_cooldown_toggled()
    days = terms.cooldown
    words = "no cooldown: releases of any age" if days is None else f"cooldown: {counted(days, 'day')}"
    return Chosen(selection.with_terms(terms), words)


def _why_not_selectable(row: UpgradeRow, selection: UpgradeSelection) -> str:
    """The reason why a row has no target version."""
    if row.refused is not None:
        return f"upgrades are not possible there: {row.refused.error}"
    if row.kind is RowKind.SECTION or not row.offers:
        return "nothing to select on this row"
    offer = row.offers[0]
    if not offer.choices:
        return offer.problem or f"no version of {offer.name} is known"
    recommendation = selection.recommendation(offer)
    if recommendation.state is Eligibility.CURRENT:
        return f"no newer version of {offer.name} is released"
    reason = f": {recommendation.held_by}" if recommendation.held_by else ""
    step = "; right steps to one" if selection.moved(row.offers, 1).target(offer) is not None else ""
    return f"no target version{reason}{step}"
