"""The rows of the Upgrade screen (sections, providers, roots of a provider), and the list that paints them. No I/O."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.geometry import Region

from locklens.lines import Role, Span
from locklens.operations.upgrades import CandidateVersion, RefusedRoot, UpgradeCandidates, edits_in_short
from locklens.operations.upgrades.doubts import upgrade_warnings
from locklens.operations.upgrades.recommending import Eligibility, Recommendation
from locklens.operations.upgrades.report import signer_span
from locklens.review.findings import Severity
from locklens.review.model import Bump
from locklens.review.reports import SEVERITY_ROLES
from locklens.text import age_words, counted
from locklens.ui.review.outline import collected
from locklens.ui.shell.filtering import ALL, PROVIDER, ROOT, SIGNER, Filter, Grammar, RowFacts
from locklens.ui.widgets import StyledPiece, fitted, fitted_end, fitted_name, fitted_place
from locklens.ui.widgets.row_list import Column, FoldingList, fold_marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.operations.upgrades.selection import UpgradeSelection

UPGRADE_GRAMMAR = Grammar(
    "provider, root, version, signer, remark, or the title of a section",
    (ROOT, PROVIDER, SIGNER),
    {"selected": "selected for the upgrade"},
)


class By(StrEnum):
    """The grouping of the rows."""

    PROVIDER = "provider"
    ROOT = "root"


_TO_LOOK_AT = frozenset({Eligibility.DECIDE, Eligibility.HELD, Eligibility.NOT_REQUIRED, Eligibility.UNKNOWN})
"""The states that `n` goes to."""


class UpgradeRow(Struct, frozen=True):
    """One line of the list; a cell without a value is "".

    Attributes:
        title: Section, provider, or root.
        depth: 0 for a section.
        offers: The candidates of the row: of all rows of its section, or of the provider in each root of its group.
        mark: "[x]" selected, "[ ]" not selected, "[-]" selected in some roots, " - " for no target version.
        target: The version that an upgrade would lock.
        in_range: The newest version that satisfies the constraints; "none" if no version does.
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
        return self.offers[0] if self.depth and len(self.offers) == 1 else None

    @property
    def is_of_provider(self) -> bool:
        """True if the row is of one provider, in one root or in several."""
        return self.depth > 0 and bool(self.offers)


def upgrade_rows(
    selection: UpgradeSelection, *, by: By, narrowed: Filter = ALL, unfolded: frozenset[str] = frozenset()
) -> tuple[UpgradeRow, ...]:
    """Return the rows that match a filter; `unfolded` are the keys of the groups that show their roots."""
    left_out = selection.left_out
    providers = [_provider(selection, offer, is_left_out=offer.key in left_out) for offer in selection.offers.providers]
    rows = _with_distinct_titles(providers)
    shown = [row for row in rows if narrowed.is_match(_facts(row, selection))] if narrowed.tests else rows
    refused = [_refused_row(root) for root in selection.offers.refused]
    refused = [row for row in refused if narrowed.is_match(_refused_facts(row))]
    match by:
        case By.ROOT:
            return tuple(_by_root(shown, refused, selection))
        case By.PROVIDER:
            return tuple(_by_provider(shown, refused, selection, unfolded))


def _with_distinct_titles(rows: list[UpgradeRow]) -> list[UpgradeRow]:
    """Add the tool to a title that two addresses share: each tool has its own default registry."""
    named = Counter(title for title, _ in {(row.title, row.offers[0].address) for row in rows})
    return [
        replace(row, title=f"{row.title} ({row.offers[0].tool.command})") if named[row.title] > 1 else row
        for row in rows
    ]


def _by_provider(
    rows: list[UpgradeRow], refused: list[UpgradeRow], selection: UpgradeSelection, unfolded: frozenset[str]
) -> Iterator[UpgradeRow]:
    groups = collected(rows, lambda row: row.offers[0].address)
    by_state: dict[Eligibility, list[list[UpgradeRow]]] = {state: [] for state in Eligibility}
    for _, members in sorted(groups.items(), key=lambda item: item[0].sort_key):
        # Only of the roots that match the filter.
        best = min((selection.state(row.offers[0]) for row in members), key=list(Eligibility).index)
        # Selecting the provider where it can be upgraded neither takes the decision elsewhere nor mends a failing init.
        apart: dict[Eligibility, list[UpgradeRow]] = {}
        for row in members:
            state = selection.state(row.offers[0])
            is_apart = state is Eligibility.DECIDE or (state is Eligibility.HELD and row.offers[0].is_excluded)
            apart.setdefault(state if is_apart else best, []).append(row)
        for state, some in apart.items():
            by_state[state].append(some)
    for state, providers in by_state.items():
        refused_roots = refused if state is Eligibility.UNKNOWN else []
        if not providers and not refused_roots:
            continue
        offers = tuple(row.offers[0] for members in providers for row in members)
        if refused_roots and any(not offer.is_asked for offer in offers):
            # Providers whose lookup still runs and roots that cannot be upgraded have separate headings.
            yield _section("state:refused", f"UNKNOWN  {_counts([], refused_roots)}", ())
            yield from refused_roots
            refused_roots = []
        is_asking = state is Eligibility.UNKNOWN and any(not offer.is_asked for offer in offers)
        title = "ASKING" if is_asking else state.value.upper()
        yield _section(f"state:{state}", f"{title}  {_counts(providers, refused_roots)}", offers)
        for members in providers:
            if len(members) == 1:
                yield members[0]
                continue
            group = _group(members, selection, unfolded, state)
            yield group
            if not group.folded:
                yield from (replace(row, depth=2, title=row.offers[0].root or ".") for row in members)
        yield from refused_roots


def _counts(providers: list[list[UpgradeRow]], refused: list[UpgradeRow]) -> str:
    parts = ((len(providers), "provider"), (len(refused), "root"))
    return " and ".join(counted(number, noun) for number, noun in parts if number)


def _by_root(rows: list[UpgradeRow], refused: list[UpgradeRow], selection: UpgradeSelection) -> Iterator[UpgradeRow]:
    roots = collected(rows, lambda row: row.offers[0].root)
    for row in refused:
        assert row.refused is not None
        roots.setdefault(row.refused.root, []).append(replace(row, title="entire root"))
    for root, members in sorted(roots.items()):
        offers = tuple(offer for row in members for offer in row.offers)
        yield _section(f"{_OF_ROOT}{root}", root or ".", offers)
        yield from sorted(members, key=lambda row: _rank(row, selection))


def _rank(row: UpgradeRow, selection: UpgradeSelection) -> int:
    return list(Eligibility).index(selection.state(row.offers[0])) if row.offers else len(Eligibility)


def _section(key: str, title: str, offers: tuple[UpgradeCandidates, ...]) -> UpgradeRow:
    return UpgradeRow(key, title, depth=0, offers=offers)


def _refused_row(root: RefusedRoot) -> UpgradeRow:
    note = Span(str(root.error), Role.WARN)
    return UpgradeRow(f"refused:{root.root}", root.root or ".", mark=" - ", note=note, is_warned=True, refused=root)


def _provider(selection: UpgradeSelection, offer: UpgradeCandidates, *, is_left_out: bool) -> UpgradeRow:
    recommendation, choice = selection.recommendation(offer), selection.target(offer)
    is_undecided = selection.state(offer) is Eligibility.DECIDE
    remarks = warning_spans(selection, offer, choice)
    warnings = [span for span in remarks if span.role is not Role.INFO]
    told = warnings or (remarks or _of_the_recommended(selection, offer) if is_undecided else [])
    return UpgradeRow(
        f"{offer.root}\0{offer.address}",
        offer.name,
        offers=(offer,),
        mark=_provider_mark(selection, offer, choice),
        locked=str(offer.prior.version) if offer.prior is not None else "none",
        target=_target(offer, choice),
        in_range=_in_range(offer),
        newest=str(offer.newest) if offer.newest is not None else "",
        age=_age(selection, choice),
        bump=_bump(offer, choice),
        fixes=_fixes(selection, offer, choice),
        signer=Span("not looked up", Role.WARN) if is_left_out else signer_span(selection, offer, choice),
        note=_note(offer, choice, recommendation.held_by, told),
        is_warned=selection.state(offer) in _TO_LOOK_AT or bool(warnings),
    )


def _of_the_recommended(selection: UpgradeSelection, offer: UpgradeCandidates) -> list[Span]:
    """The warnings that make the recommended version a decision, for a row with another target."""
    suggested = selection.recommendation(offer).suggested
    if suggested is None:
        return []
    return [Span(f"{suggested.version}: {it.text}", Role.DIM) for it in warning_spans(selection, offer, suggested)]


def _provider_mark(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> str:
    if selection.is_selected(offer):
        return "[x]"
    return "[ ]" if choice is not None else " - "


def _in_range(offer: UpgradeCandidates) -> str:
    if offer.in_range is not None:
        return str(offer.in_range.version)
    return "none" if offer.choices else ""


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
        return Span("moved" if offer.moved is not None else "new", Role.INFO)
    if not offer.is_newer(choice.version):
        return _DOWN
    bump = offer.bump(choice.version)
    return Span(_BUMPS.get(bump, "") if bump else "", Role.INFO if bump is Bump.MAJOR else Role.PLAIN)


def _fixes(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    words = selection.fixes(offer, choice)
    return Span(words, Role.DIM if words in {"", "0", "?"} else Role.GOOD)


_DOWN = Span("down", Role.WARN)

_BUMPS = {bump: bump.value for bump in Bump} | {Bump.PRERELEASE: "pre", Bump.METADATA: "meta"}


def _note(offer: UpgradeCandidates, choice: CandidateVersion | None, held_by: str, warnings: list[Span]) -> Span:
    """The most important remark: a problem, an edit, the worst warning, or else what holds back a newer version."""
    if offer.problem:
        return Span(offer.problem, Role.WARN)
    if choice is not None and choice.excluding:
        return Span(f"*edit {edits_in_short(choice)}", Role.WARN)
    if offer.is_excluded and choice is None:
        return Span(f"needs action, {offer.locked} is not in range{f': {held_by}' if held_by else ''}", Role.WARN)
    if warnings and (choice is not None or not held_by):
        return warnings[0]
    return Span(held_by, Role.DIM)


def warning_spans(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> list[Span]:
    """The warnings about a version, the worst first; see `upgrade_warnings`."""
    warnings = upgrade_warnings(selection, offer, choice)
    return [Span(warning.words, SEVERITY_ROLES[warning.severity]) for warning in warnings]


# Several roots


def group_key(address: ProviderAddress, state: Eligibility) -> str:
    """The key of a provider's row for several roots, below the heading of a state."""
    part = {Eligibility.DECIDE: "undecided:", Eligibility.HELD: "held:"}.get(state, "")
    return f"group:{part}{address}"


def _group(
    rows: list[UpgradeRow], selection: UpgradeSelection, unfolded: frozenset[str], state: Eligibility
) -> UpgradeRow:
    """The row of one provider in several roots, with their common cells."""
    offers = tuple(row.offers[0] for row in rows)
    key = group_key(offers[0].address, state)
    targets = [selection.target(offer) for offer in offers]
    target = _common([row.target for row in rows if row.mark != " - "] or [rows[0].target])
    note = _common([row.note for row in rows])
    downgrades = sum(row.bump == _DOWN for row in rows)
    selected = sum(map(selection.is_selected, offers))
    if note is None or not note.text or 0 < selected < len(rows) or 0 < downgrades < len(rows):
        note = _roots_note(offers, selection)
    return UpgradeRow(
        key,
        rows[0].title,
        offers=offers,
        mark=_group_mark(offers, targets, selection),
        locked=selection.start_words(offers) or _common_text(row.locked for row in rows),
        target=target or _differing_target([choice for choice in targets if choice is not None]),
        in_range=_common_text(row.in_range for row in rows),
        newest=_common_text(row.newest for row in rows),
        age=_shared(row.age for row in rows),
        bump=_shared(row.bump for row in rows),
        fixes=_shared(row.fixes for row in rows),
        signer=_shared(row.signer for row in rows),
        note=note,
        folded=key not in unfolded,
        is_warned=any(row.is_warned for row in rows),
    )


def _differing_target(choices: list[CandidateVersion]) -> Span:
    """The version that some roots would lock; starred if the constraint of at least one root would be edited."""
    sign = "*" if any(choice.excluding for choice in choices) else ""
    return Span(f"{_common_text(str(choice.version) for choice in choices)}{sign}", Role.WARN if sign else Role.STRONG)


def _roots_note(offers: tuple[UpgradeCandidates, ...], selection: UpgradeSelection) -> Span:
    """The number of roots in which something speaks against the target, is selected, or has no target at all.

    A version that is older than the locked one is named first.
    """
    targets = [(offer, choice) for offer in offers if (choice := selection.target(offer)) is not None]
    choices, allows = [choice for _, choice in targets], selection.terms.policy.allows
    counts = (
        ("older in", sum(_bump(offer, choice) == _DOWN for offer, choice in targets)),
        ("*edits", sum(bool(choice.excluding) for choice in choices)),
        ("not allowed in", sum(not allows(offer.address, choice.version) for offer, choice in targets)),
        ("in cooldown in", sum(map(selection.terms.is_too_young, choices))),
    )
    selected = sum(map(selection.is_selected, offers))
    against = [f"{words} {number}" for words, number in counts if number]
    if against:
        against[0] += f" of {len(offers)} roots"
    lacking = len(offers) - len(choices)
    without = [f"no target in {lacking}"] if lacking and choices else []
    if against:
        more = [f"selected in {selected}"] if selected else []
        return Span(", ".join([*against, *more, *without]), Role.WARN)
    if selected:
        return Span(", ".join([f"selected in {selected} of {len(offers)} roots", *without]), Role.DIM)
    others = [offer for offer in offers if not offer.is_excluded or selection.target(offer) is not None]
    pressing, states = len(offers) - len(others), Counter(map(selection.state, others))
    held, orphans = states[Eligibility.HELD], states[Eligibility.NOT_REQUIRED]
    standings = [selection.recommendation(one) for one in others if selection.state(one) is Eligibility.HELD]
    reason = _common_reason(standings)
    parts = [f"{pressing} need{'s' * (pressing == 1)} action"] if pressing else []
    if reason and held == len(offers):
        parts += [f"{reason} in {held} roots"]
    elif reason:
        parts += [f"{held} of {len(offers)} held back: {reason}"]
    else:
        parts += [f"in {len(offers)} roots", *([f"{held} held back"] if held else [])]
    parts += [f"not required by {orphans}"] if orphans else []
    parts += without if lacking != pressing + held + orphans else []
    return Span(("; " if reason else ", ").join(parts), Role.WARN if pressing else Role.DIM)


def _common_reason(standings: list[Recommendation]) -> str:
    """What holds a provider back in all of some roots, with the place of a constraint that all share; "" for none."""
    for reasons in ({each.held_by for each in standings}, {each.reason for each in standings}):
        if len(reasons) == 1:
            return reasons.pop()
    return ""


def _group_mark(
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
    """The common cell of those with a text; "several" if they differ, a warning if one of them is."""
    own = [cell for cell in cells if cell.text]
    role = Role.WARN if any(cell.role in {Role.WARN, Role.BLOCK} for cell in own) else Role.DIM
    return _common(own) or Span(_common_text(cell.text for cell in own), role)


def _common_text(texts: Iterable[str]) -> str:
    """The common text of those that are not empty; "several" if they differ."""
    distinct = set(filter(None, texts))
    return "several" if len(distinct) > 1 else next(iter(distinct), "")


def _facts(row: UpgradeRow, selection: UpgradeSelection) -> RowFacts:
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
    return RowFacts("\n".join(parts).lower(), _severity(selection, offer), fields, words)


def _severity(selection: UpgradeSelection, offer: UpgradeCandidates) -> Severity | None:
    """The severity of the worst warning; of signers that are not looked up at least INFO, None for none."""
    if selection.state(offer) is Eligibility.UNKNOWN:
        return Severity.WARN
    choice = selection.target(offer)
    if warnings := upgrade_warnings(selection, offer, choice):
        return warnings[0].severity
    compared = (choice.version, offer.locked) if choice is not None else ()
    is_unknown = any(one is not None and selection.facts(offer, one) is None for one in compared)
    return Severity.INFO if is_unknown else None


def _refused_facts(row: UpgradeRow) -> RowFacts:
    return RowFacts(f"{row.title} {row.note.text}".lower(), Severity.WARN, {ROOT.name: (row.title,)})


_VERSION_MOST = 12
_OF_ROOT = "root:"
"""The beginning of the key of a root's section."""


def _key_sign(row: UpgradeRow) -> Span:
    """The word of the signer column, abbreviated; "" unless it is a warning."""
    return Span(_KEY_SIGNS.get(row.signer.text, "") if row.signer.role is not Role.DIM else "", row.signer.role)


_KEY_SIGNS = {
    "key EXPIRED": "exp",
    "NEW KEY": "new",
    "NOT SIGNED": "no",
    "still unsigned": "no",
    "REFUSED": "bad",
    "not looked up": "?",
    "several": "var",
}


_COLUMNS: tuple[Column[UpgradeRow], ...] = (
    Column(
        "provider",
        lambda row: Span(f"{'  ' * (row.depth - 1)}{row.title}", Role.PLACE if row.depth > 1 else Role.PLAIN),
        "the provider; in the rows below one that several roots lock, the root",
        fit=fitted_name,
    ),
    Column(
        "locked",
        lambda row: Span(row.locked),
        "the version in the lock file; 1.2.0 +1 without a target: one more is locked, and < > start from 1.2.0",
        most=_VERSION_MOST,
    ),
    Column("target", lambda row: row.target, "the version that an upgrade would lock"),
    Column(
        "in range",
        lambda row: Span(row.in_range, Role.DIM),
        "the newest version that satisfies the constraints: the selection of init -upgrade",
        most=_VERSION_MOST,
        from_width=110,
    ),
    # On narrower screens the last column names the newest version where something holds it back.
    Column("newest", lambda row: Span(row.newest, Role.DIM), "the newest release", most=_VERSION_MOST, from_width=90),
    Column(
        "age",
        lambda row: row.age,
        "days since the target was released, reported by the registry, unsigned; ? if unknown",
        is_at_end=True,
    ),
    Column(
        "kind",
        lambda row: row.bump,
        "the step from the locked version to the target: major, minor, patch; down to an older one, new if not locked, "
        "moved from Terraform's registry",
    ),
    Column(
        "fixes",
        lambda row: row.fixes,
        "how many advisories of the locked version the target fixes, as far as packages were inspected; ? if unknown",
        from_width=100,
        is_at_end=True,
        is_optional=True,
    ),
    Column(
        "signer",
        lambda row: row.signer,
        "the signer of the target, compared with that of the locked version, as below; on narrow screens the column"
        " key: exp (key EXPIRED), new (NEW KEY), no (not signed), bad (REFUSED), ? (not looked up), var (several,"
        " one of these)",
        from_width=120,
        narrow=Column("key", _key_sign, is_optional=True),
    ),
    Column(
        "held back by",
        lambda row: row.note,
        "the worst warning about the target; or else the cooldown of a newer one in range, and what holds back the"
        " newest: a constraint, the cooldown, the allow list, or the upgrade limit",
        fit=fitted_place,
        takes_rest=True,
    ),
)


_LEAD, _MARK = 3, 4
"""The widths of cursor and fold marker, and of the mark."""


class UpgradeList(FoldingList[UpgradeRow]):
    """The providers by section."""

    COLUMNS = _COLUMNS
    MARK = slice(_LEAD, _LEAD + _MARK)
    LEAD = MARK.stop

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.version(-1)", "Older version", show=False),
        Binding("right", "screen.version(1)", "Newer version", show=False),
    ]

    def show_cursor(self) -> None:
        """Scroll to the cursor, and to the section line just above it."""
        above = self.rows[self.cursor - 1] if 0 < self.cursor < len(self.rows) else None
        more = 1 if above is not None and not above.depth else 0
        self.scroll_to_region(Region(0, self.cursor - more, 1, 1 + more), animate=False, force=True)

    def can_mark(self, row: UpgradeRow) -> bool:
        """True for a row below a section that has providers."""
        return row.is_of_provider

    def is_heading(self, row: UpgradeRow) -> bool:
        """True for a section."""
        return not row.depth

    def has_cells(self, row: UpgradeRow) -> bool:
        """True below a section."""
        return row.depth > 0

    def painted(self, row: UpgradeRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint the mark and the columns."""
        lead = Span(f"{'>' if cursor else ' '}{fold_marker(folded=row.folded)} ", Role.STRONG)
        if not row.depth:
            fit = fitted_end if row.key.startswith(_OF_ROOT) else fitted
            return [lead, Span(fit(row.title, max(0, width - _LEAD)), Role.HEADING)]
        mark = Span(f"{row.mark} ", Role.GOOD if row.mark == "[x]" else Role.PLAIN)
        return [lead, mark, *self.columns.painted(row)]
