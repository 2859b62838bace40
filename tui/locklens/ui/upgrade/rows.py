"""The rows of the screen of upgrades: sections, providers, and the roots that a provider is in. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.operations.upgrades.candidates import edits_in_short
from locklens.operations.upgrades.download_estimate import is_refused, signer_change
from locklens.operations.upgrades.recommend import Eligibility, age_words
from locklens.operations.upgrades.warnings import upgrade_warnings
from locklens.review.model import Bump, Severity
from locklens.trust.continuity import SignerChange
from locklens.ui.text.spans import Role, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.operations.upgrades.candidates import CandidateVersion, RefusedRoot, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.versions import Version


class RowKind(StrEnum):
    """What a row stands for."""

    SECTION = "section"
    GROUP = "group"
    PROVIDER = "provider"
    REFUSED = "refused"


class By(StrEnum):
    """What the rows are grouped by."""

    PROVIDER = "provider"
    ROOT = "root"


class UpgradeRow(Struct, frozen=True):
    """One line of the list; cells are "" where there is nothing to say.

    Attributes:
        key: The same for the same thing after a reload.
        offers: What it stands for: of a section all of it, of a group each root's.
        depth: 0 for a section.
        title: Section, provider, or root.
        mark: Whether it is chosen: "[x]", "[ ]", "[-]" for a part, " - " where there is nothing to choose.
        bump: The kind of step.
        note: What holds it back, or what is wrong.
        is_folded: None for what does not fold.
        is_warned: Whether something about it wants to be read: it is held, or what is picked is doubtful.
        refused: Of a root in which nothing can be upgraded.
    """

    kind: RowKind
    key: str
    title: str
    depth: int = 1
    offers: tuple[UpgradeCandidates, ...] = ()
    mark: str = "   "
    locked: str = ""
    pick: Span = Span("")
    in_range: str = ""
    newest: str = ""
    age: Span = Span("")
    bump: Span = Span("")
    signer: Span = Span("")
    note: Span = Span("")
    is_folded: bool | None = None
    is_warned: bool = False
    refused: RefusedRoot | None = None

    @property
    def offer(self) -> UpgradeCandidates | None:
        """The only one, None where it stands for several or for none."""
        return self.offers[0] if len(self.offers) == 1 and self.kind is not RowKind.SECTION else None


def upgrade_rows(
    picking: UpgradeSelection, *, by: By, narrowed: str = "", unfolded: frozenset[str] = frozenset()
) -> tuple[UpgradeRow, ...]:
    """Returns the rows that a filter admits.

    Args:
        picking: What is offered and picked.
        by: What they are grouped by.
        narrowed: Words that must all be somewhere in a row.
        unfolded: Keys of the groups that show their roots.
    """
    words = narrowed.lower().split()
    rows = [_provider(picking, one) for one in picking.offers.providers]
    shown = [row for row in rows if all(word in _text(row, picking) for word in words)]
    refused = [_refused_row(one) for one in picking.offers.refused]
    refused = [row for row in refused if all(word in f"{row.title} {row.note.text}".lower() for word in words)]
    if by is By.ROOT:
        return tuple(_by_root(shown, refused, picking))
    return tuple(_by_provider(shown, refused, picking, unfolded))


def _by_provider(
    rows: list[UpgradeRow], refused: list[UpgradeRow], picking: UpgradeSelection, unfolded: frozenset[str]
) -> Iterator[UpgradeRow]:
    groups: dict[ProviderAddress, list[UpgradeRow]] = {}
    for row in rows:
        groups.setdefault(row.offers[0].address, []).append(row)
    by_state: dict[Eligibility, list[list[UpgradeRow]]] = {state: [] for state in Eligibility}
    for _, own in sorted(groups.items(), key=lambda item: item[0].sort_key):
        best = min((picking.standing(row.offers[0]).state for row in own), key=list(Eligibility).index)
        by_state[best].append(own)
    for state, found in by_state.items():
        beside = refused if state is Eligibility.UNKNOWN else []
        if not found and not beside:
            continue
        offers = tuple(row.offers[0] for own in found for row in own)
        title = f"{_title(state, offers)}  {len(found) + len(beside)}"
        yield _section(f"state:{state}", title, offers)
        for own in found:
            if len(own) == 1:
                yield own[0]
                continue
            group = _group(own, picking, unfolded)
            yield group
            if not group.is_folded:
                yield from (replace(row, depth=2, title=row.offers[0].root or ".") for row in own)
        yield from beside


def _title(state: Eligibility, offers: tuple[UpgradeCandidates, ...]) -> str:
    is_asking = state is Eligibility.UNKNOWN and any(not one.is_asked for one in offers)
    return "ASKING" if is_asking else state.value.upper()


def _by_root(rows: list[UpgradeRow], refused: list[UpgradeRow], picking: UpgradeSelection) -> Iterator[UpgradeRow]:
    roots: dict[str, list[UpgradeRow]] = {}
    for row in rows:
        roots.setdefault(row.offers[0].root, []).append(row)
    for row in refused:
        assert row.refused is not None
        roots.setdefault(row.refused.root, []).append(replace(row, title="the whole root"))
    for root, own in sorted(roots.items()):
        offers = tuple(offer for row in own for offer in row.offers)
        yield _section(f"root:{root}", root or ".", offers)
        yield from sorted(own, key=lambda row: _rank(row, picking))


def _rank(row: UpgradeRow, picking: UpgradeSelection) -> int:
    return list(Eligibility).index(picking.standing(row.offers[0]).state) if row.offers else len(Eligibility)


def _section(key: str, title: str, offers: tuple[UpgradeCandidates, ...]) -> UpgradeRow:
    return UpgradeRow(RowKind.SECTION, key, title, depth=0, offers=offers)


def _refused_row(one: RefusedRoot) -> UpgradeRow:
    note = Span(str(one.error), Role.WARN)
    return UpgradeRow(
        RowKind.REFUSED, f"refused:{one.root}", one.root or ".", mark=" - ", note=note, is_warned=True, refused=one
    )


def _provider(picking: UpgradeSelection, offer: UpgradeCandidates) -> UpgradeRow:
    found, choice = picking.standing(offer), picking.picked(offer)
    doubts = [one for one in warning_spans(picking, offer, choice) if one.role is not Role.INFO]
    return UpgradeRow(
        RowKind.PROVIDER,
        f"{offer.root}\0{offer.address}",
        offer.name,
        offers=(offer,),
        mark="[x]" if picking.is_chosen(offer) else "[ ]" if choice is not None else " - ",
        locked=str(offer.locked) if offer.locked is not None else "none",
        pick=_pick(offer, choice),
        in_range=str(offer.in_range.version) if offer.in_range is not None else "none" if offer.choices else "",
        newest=str(offer.newest) if offer.newest is not None else "",
        age=_age(picking, choice),
        bump=_bump(offer, choice),
        signer=signer_span(picking, offer, choice),
        note=_note(offer, choice, found.held_by, doubts),
        is_warned=found.state in {Eligibility.HELD, Eligibility.UNKNOWN} or bool(doubts),
    )


def _pick(offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    if not offer.is_asked:
        return Span("…", Role.DIM)
    if choice is None:
        return Span("-", Role.DIM)
    sign = "*" if choice.excluding else ""
    return Span(f"{choice.version}{sign}", Role.WARN if sign else Role.STRONG)


def _age(picking: UpgradeSelection, choice: CandidateVersion | None) -> Span:
    if choice is None:
        return Span("")
    is_odd = picking.terms.is_too_young(choice) or picking.terms.is_of_unknown_age(choice)
    return Span(age_words(choice.days), Role.WARN if is_odd else Role.PLAIN)


def _bump(offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    if choice is None:
        return Span("")
    if offer.locked is None:
        return Span("new", Role.INFO)
    if not offer.is_newer(choice.version):
        return Span("down", Role.WARN)
    bump = offer.bump(choice.version)
    return Span(_BUMPS.get(bump, "") if bump else "", Role.INFO if bump is Bump.MAJOR else Role.PLAIN)


_BUMPS = {bump: bump.value for bump in Bump} | {Bump.PRERELEASE: "pre", Bump.METADATA: "meta"}


def signer_span(picking: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    """Who signed a version, against who signed the locked one, in two words; "" where nobody asked."""
    if choice is None:
        return Span("")
    old, new = picking.facts(offer, offer.locked), picking.facts(offer, choice.version)
    if new is None:
        return Span("")
    if is_refused(new):
        return Span("REFUSED", Role.BLOCK)
    if new.signer is None:
        return Span("?", Role.DIM)
    tier = new.signer.tier.value
    match signer_change(old, new):
        case SignerChange.SAME:
            return Span(f"{tier} =", Role.PLAIN if new.signer.keys else Role.WARN)
        case SignerChange.OTHER:
            return Span("NEW KEY", Role.WARN)
        case SignerChange.LOST:
            return Span("NOT SIGNED", Role.WARN)
        case SignerChange.GAINED:
            return Span(f"{tier} +", Role.GOOD)
        case _:
            return Span(tier, Role.DIM)


def _note(offer: UpgradeCandidates, choice: CandidateVersion | None, held_by: str, doubts: list[Span]) -> Span:
    """What is most worth saying: what is wrong with the pick, or else what holds back a newer version."""
    if offer.problem:
        return Span(offer.problem, Role.WARN)
    if choice is not None and choice.excluding:
        return Span(f"*edit {edits_in_short(choice)}", Role.WARN)
    if doubts:
        return doubts[0]
    if offer.is_excluded and choice is None:
        return Span(f"{offer.locked} is not admitted: {held_by}", Role.WARN)
    return Span(held_by, Role.DIM)


_ROLES = {Severity.BLOCK: Role.BLOCK, Severity.WARN: Role.WARN, Severity.INFO: Role.INFO}


def warning_spans(picking: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> list[Span]:
    """What to consider before a version is locked, the worst first; see `upgrade_warnings`."""
    return [Span(one.words, _ROLES[one.severity]) for one in upgrade_warnings(picking, offer, choice)]


# Several roots


def _group(rows: list[UpgradeRow], picking: UpgradeSelection, unfolded: frozenset[str]) -> UpgradeRow:
    """One provider in several roots: what they have in common."""
    offers = tuple(row.offers[0] for row in rows)
    key = f"group:{offers[0].address}"
    picked = [picking.picked(one) for one in offers]
    notes = _common([row.note for row in rows], lambda one: one.text)
    return UpgradeRow(
        RowKind.GROUP,
        key,
        rows[0].title,
        offers=offers,
        mark=_mark(offers, picked, picking),
        locked=_range([one.locked for one in offers]),
        pick=_common([row.pick for row in rows if row.mark != " - "] or [rows[0].pick], lambda one: one.text)
        or Span(_range([one.version for one in picked if one is not None]), Role.STRONG),
        in_range=_range([one.in_range.version for one in offers if one.in_range is not None]),
        newest=_range([one.newest for one in offers if one.newest is not None]),
        age=_common([row.age for row in rows if row.age.text], lambda one: one.text) or Span(""),
        bump=_common([row.bump for row in rows if row.bump.text], lambda one: one.text) or Span(""),
        signer=_common([row.signer for row in rows if row.signer.text], lambda one: one.text) or Span(""),
        note=notes if notes is not None and notes.text else Span(_roots(offers, picking), Role.DIM),
        is_folded=key not in unfolded,
        is_warned=any(row.is_warned for row in rows),
    )


def _roots(offers: tuple[UpgradeCandidates, ...], picking: UpgradeSelection) -> str:
    held = sum(picking.standing(one).state is Eligibility.HELD for one in offers)
    return f"in {len(offers)} roots" + (f", {held} held" if held else "")


def _mark(
    offers: tuple[UpgradeCandidates, ...], picked: list[CandidateVersion | None], picking: UpgradeSelection
) -> str:
    able = [one for one, choice in zip(offers, picked, strict=True) if choice is not None]
    chosen = sum(map(picking.is_chosen, able))
    if not able:
        return " - "
    return "[x]" if chosen == len(able) else "[-]" if chosen else "[ ]"


def _common(cells: list[Span], text: Callable[[Span], str]) -> Span | None:
    """The cell that all have; None where they differ or there is none."""
    return cells[0] if len({text(cell) for cell in cells}) == 1 else None


def _range(versions: list[Version] | list[Version | None]) -> str:
    """The version that all have, "several" where they differ."""
    found = {str(version) for version in versions if version is not None}
    return next(iter(found), "") if len(found) <= 1 else "several"


def _text(row: UpgradeRow, picking: UpgradeSelection) -> str:
    """All that the filter looks at, in lower case."""
    offer = row.offers[0]
    parts: Iterable[str] = (
        str(offer.address),
        offer.root,
        row.locked,
        row.pick.text,
        row.newest,
        row.bump.text,
        row.signer.text,
        row.note.text,
        picking.standing(offer).state.value,
        "chosen" if picking.is_chosen(offer) else "",
    )
    return "\n".join(parts).lower()
