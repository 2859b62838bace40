"""The Upgrade screen: looks up candidate versions and signers, and keeps the selection of upgrades."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual import on
from textual.binding import Binding, BindingType

from locklens.addresses import Platform, ProviderAddress
from locklens.errors import LockLensError
from locklens.operations.upgrades import CandidateTable, KnownRelease, estimate_download
from locklens.operations.upgrades.recommending import Eligibility
from locklens.operations.upgrades.selection import UpgradeSelection
from locklens.operations.write.upgrade import Upgrade
from locklens.project.clifiles import this_platform
from locklens.review.reports.lock_lines import TIER_MEANINGS
from locklens.text import counted
from locklens.ui import views
from locklens.ui.row_actions import RowActionsScreen, RowTarget
from locklens.ui.shell import Job, Run, after, keys
from locklens.ui.shell.bars import note_section, one_sentence
from locklens.ui.shell.filtering import ALL
from locklens.ui.shell.keys import following
from locklens.ui.upgrade.detail import (
    leading_offer,
    nothing_selected,
    upgrade_head,
    upgrade_lines,
    upgrade_status,
    upgrade_target,
)
from locklens.ui.upgrade.rows import UPGRADE_GRAMMAR, By, UpgradeList, group_key, upgrade_rows
from locklens.ui.upgrade.selecting import (
    SIGNER_SIGNS,
    UPGRADE_KEYS,
    UPGRADE_SIGNS,
    can_step,
    stepped,
    toggled,
    toggled_eligible,
    under_policy,
    with_answers,
    with_cooldown_toggled,
    with_majors_toggled,
    with_next_limit,
)
from locklens.ui.views import PreferenceChanged
from locklens.ui.why import inside_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from textual.timer import Timer

    from locklens.lines import Line
    from locklens.operations.inspection.inspect import InspectionRequest
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.explain_provider import WhySubject
    from locklens.operations.upgrades import UpgradeCandidates
    from locklens.policy import Policy
    from locklens.releases import ReleaseId
    from locklens.review.model import Review
    from locklens.ui.shell.review_loader import MarkKeeper
    from locklens.ui.upgrade.rows import UpgradeRow
    from locklens.ui.upgrade.selecting import Chosen
    from locklens.ui.widgets import BarLayout

_LOOK_UP_SECONDS = 0.25
"""Delay of the lookup of signers after a cursor movement, so that rows in passing cause none."""

_FOLLOW_SECONDS = 0.04
"""Delay of the detail after a cursor movement, so that the list scrolls smoothly while a key is held down."""

_BATCH = 16
"""Releases per lookup of signers; few, so that a row highlighted meanwhile waits only briefly."""

_is_warned: Callable[[UpgradeRow], bool] = attrgetter("is_warned")


class UpgradeScreen(RowActionsScreen):
    """Lists upgrade candidates, selects them, and opens the Preview of the selection."""

    TABLE = UPGRADE_KEYS
    VIEW = views.UPGRADE
    GRAMMAR = UPGRADE_GRAMMAR
    LIST = UpgradeList
    DETAIL_WORDS = ("all versions", "versions near the target")
    TERMS = (
        ("SIGNS", UPGRADE_SIGNS),
        ("SIGNER  compared with the locked version", SIGNER_SIGNS),
        ("SIGNED BY", TIER_MEANINGS),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.view_bindings(UPGRADE_KEYS),
        Binding("less_than_sign", "version(-1)", "Older version", show=False),
        Binding("greater_than_sign", "version(1)", "Newer version", show=False),
    ]

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self._reading = Job(self, "candidates")
        self._signers = Job(self, "releases")
        self._tried: frozenset[ReleaseId] = frozenset()
        """The releases whose signers were looked up."""
        self._is_looking_up = False
        """True from the arrival of the candidates until all signers that matter for them were looked up."""
        self.selection = UpgradeSelection()
        self.has_offers = False
        """True after the first complete lookup."""
        self._is_fresh = False
        self._policy: Policy | None = None
        """The policy that was applied last; the user may have switched its cooldown off since."""
        self.by = By.PROVIDER
        self._unfolded: frozenset[str] = frozenset()
        self._wanted: tuple[str, ProviderAddress] | None = None
        """The provider to highlight once it is listed."""
        self._timer_of_detail: Timer | None = None
        self._timer_of_signers: Timer | None = None
        self._here = Platform.parse(this_platform())

    def prefer(self, preferences: Mapping[str, str]) -> None:
        """Apply the saved grouping."""
        self.by = By(preferences.get("upgrade.group", self.by))

    @property
    def left(self) -> UpgradeList:
        """The list of providers."""
        return self.query_one(UpgradeList)

    @property
    def row(self) -> UpgradeRow | None:
        """The highlighted row."""
        return self.left.current

    @property
    def row_target(self) -> RowTarget:
        """Provider and versions, the line that holds it back, and the target release or else the newest."""
        return upgrade_target(self.row, self.selection)

    @property
    def why_incomplete(self) -> str:
        """Why not all candidates are known; a signer that is not looked up yet is reported as unknown."""
        return super().why_incomplete or ("the lookup has not ended" if self._reading.is_running else "")

    def reported(self) -> UpgradeSelection:
        """Return the candidates of every root, as `locklens upgrade --list` prints them."""
        return self.selection

    def export_words(self, form: str) -> str:
        """Return the description of an export: what is selected is part of it."""
        del form
        return "the candidates on this screen"

    # Candidates

    @property
    def asking_words(self) -> str:
        """The lookup in progress, in words; "" for none."""
        if self.progress is not None:
            return self.progress.words
        if self._reading.is_running:
            offers = self.selection.offers.providers
            if self.has_offers:
                return "checking registries again"
            if not offers:
                return "reading configurations"
            done = sum(offer.is_asked for offer in offers)
            return f"checking registries: {done} of {counted(len(offers), 'entry', 'entries')} done"
        return "looking up signers" if self._is_looking_up or self._signers.is_running else ""

    def use(self, source: LockLens) -> None:
        """Show another comparison, with nothing selected."""
        self._reading.stop()
        self._signers.stop()
        self._tried = frozenset()
        self.selection = UpgradeSelection()
        self._policy = None
        self.has_offers = self._is_looking_up = False
        super().use(source)

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reload everything; the selection is kept."""
        self._is_fresh = self._is_fresh or is_fresh
        self._tried = frozenset()  # Packages may have been inspected since, so that more is known about a release.
        self._reading.stop()
        super().reload(is_fresh=is_fresh)

    def review_arrived(self) -> None:
        """Start the lookup once the configurations are read."""
        if self.review is not None and self.review.policy != self._policy:
            self._policy = self.review.policy
            self.selection, words = under_policy(self.selection, self.review.policy)
            if words:
                self.announce(words)
        if self.review is not None and not self.is_asking and not self._reading.is_running and self.error is None:
            self._read_candidates(self.review, self.top)
        self.refresh_list()

    def _read_candidates(self, review: Review, top: Path | None) -> None:
        """Start the lookup of candidates; the registries are asked despite the cache after a reload by key."""
        is_fresh, self._is_fresh = self._is_fresh, False

        def read(run: Run) -> CandidateTable:
            if top is None:
                raise LockLensError("upgrades need a work tree: the shown revision is not on disk")
            known = partial(run.tell, partial(self._take_candidates, is_final=False))
            return self.source.candidates(review, top, on_known=known, cancel=run.cancel, is_fresh=is_fresh)

        self._reading.start(read, self._take_candidates, lambda error: self.announce(error.sentence))

    def _take_candidates(self, offers: CandidateTable, *, is_final: bool = True) -> None:
        # During a further lookup, the previous candidates stay on the screen.
        if not (is_final or not self.has_offers):
            return
        self.selection, words = with_answers(self.selection, offers)
        if is_final:
            self.has_offers = self._is_looking_up = True
            self.show_notes(offers.notes)
            self.look_up_soon()
        if words:
            self.announce(words)
        self.refresh_list()

    def _take_signer(self, release: KnownRelease) -> None:
        self.selection, dropped = self.selection.with_known((release,)).without_suspects()
        if dropped:
            names = ", ".join(sorted({offer.name for offer in dropped}))
            self.say(f"deselected {names}: see the signer")

    def _end_look_up(self) -> None:
        self._look_up()
        self.refresh_list()

    def look_up_soon(self) -> None:
        """Schedule a lookup of signers for the highlighted row."""
        if self._timer_of_signers is not None:
            self._timer_of_signers.stop()
        self._timer_of_signers = after(self, _LOOK_UP_SECONDS, self._look_up)

    def _look_up(self) -> None:
        if self.review is not None and self.is_open:
            highlighted = self.row.offers if self.row is not None and self.row.is_of_provider else ()
            self._look_up_signers(self.review, self.selection.unknown_releases(highlighted))

    def _look_up_signers(self, review: Review, wanted: Iterable[ReleaseId]) -> None:
        """Look up signers of the first releases not tried before; one lookup at a time."""
        if self._signers.is_running:
            return
        batch = [release for release in wanted if release not in self._tried][:_BATCH]
        if not batch:
            if self._is_looking_up:
                self._is_looking_up = False
                self.refresh_bars()
            return
        self._tried |= frozenset(batch)

        def look_up(run: Run) -> None:
            known = partial(run.tell, self._take_signer)
            self.source.releases(review, batch, on_known=known, cancel=run.cancel)

        # After an error, the releases have no facts, and the rows show the signer as unknown.
        self._signers.start(look_up, lambda _: self._end_look_up(), lambda _: self._end_look_up())

    # Display

    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Show the rows that match the filter."""
        if self.review is None or not self.is_open:
            return
        rows = upgrade_rows(self.selection, by=self.by, narrowed=self.narrowed, unfolded=self._unfolded)
        self.left.show_rows(rows, cursor_key=cursor_key or self._cursor_key(rows))
        self.refresh_notice()
        self.refresh_bars()
        if self._wanted is not None and self.has_offers:
            self.show_provider(*self._wanted)

    def _cursor_key(self, rows: Sequence[UpgradeRow]) -> str | None:
        """The row for the cursor: the highlighted row, or else one of its provider, the same root first.

        Until the user moves it, the cursor is on the first title, and once all is known on the first provider, so that
        it does not go from one provider to another while registries answer.
        """
        before = self.row
        if before is None or not self.left.is_placed:
            first = next((row for row in rows if row.depth), None) if self.has_offers else next(iter(rows), None)
            return first.key if first is not None else None
        if not before.is_of_provider or any(row.key == before.key for row in rows):
            return None
        address, roots = before.offers[0].address, {offer.root for offer in before.offers}
        alike = [row for row in rows if row.is_of_provider and row.offers[0].address == address]
        same = (row for row in alike if roots & {offer.root for offer in row.offers})
        found = next(same, next(iter(alike), None))
        return found.key if found is not None else None

    def show_provider(self, root: str, address: ProviderAddress) -> None:
        """Highlight a provider of a root, once it is listed."""
        self._wanted = (root, address)
        if not self.has_offers or not self.is_open:
            return
        self._wanted = None
        if self.is_narrowed:
            self.filter_line.text = ""
            self.narrowed = ALL
        self._unfolded |= {group_key(address, state) for state in Eligibility}
        self.refresh_list(cursor_key=f"{root}\0{address}")
        self.left.place()
        self.left.focus()

    @property
    def is_unlisted(self) -> bool:
        """True before candidates are known: they come after the configurations are read."""
        is_reading = self.is_asking or self._reading.is_running
        return super().is_unlisted or (is_reading and not self.selection.offers.providers)

    def nothing_to_list(self, review: Review) -> tuple[Line, ...]:
        """Return the placeholder of an empty list."""
        if self.is_unlisted or any(root.configuration is None for root in review.roots):
            return one_sentence("Reading configurations …", is_final=False)
        return super().nothing_to_list(review)

    def head_layouts(self) -> tuple[BarLayout, ...]:
        """The counts of the head line."""
        return upgrade_head(self.selection)

    def status_layouts(self) -> tuple[BarLayout, ...]:
        """The selection and its download, or a message."""
        selection = self.selection
        terms = selection.terms
        fetch = estimate_download(
            selection.choices,
            selection.known,
            self._here,
            required=terms.platforms,
            believed=terms.policy.believed_hosts,
        )
        message = self.status_text or ("" if self.asking_words else self.read_only_words)
        return upgrade_status(
            self.selection,
            fetch,
            asking=self.asking_words,
            is_narrowed=self.is_narrowed,
            is_offline=self.source.is_offline,
            notes=len(self._notes),
            message=message,
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        """The notes of the review and of the lookup, each once."""
        of_review = self.review.notes if self.review is not None else ()
        return tuple(dict.fromkeys((*of_review, *self.selection.offers.notes)))

    @on(UpgradeList.Highlighted)
    def _follow(self, event: UpgradeList.Highlighted[UpgradeRow]) -> None:
        """Show the detail of the row: immediately for the same row, delayed for another one."""
        key = event.row.key if event.row is not None else ""
        if self._timer_of_detail is not None:
            self._timer_of_detail.stop()
            self._timer_of_detail = None
        if key == self._shown_key or not self._shown_key:
            self._show_detail()
        else:
            self._timer_of_detail = after(self, _FOLLOW_SECONDS, self._show_detail)

    def _show_detail(self) -> None:
        row = self.row if self.is_open else None
        if row is None:
            self.show_detail("", ())
            return
        lines = upgrade_lines(row, self.selection, in_full=self.in_full, is_asking=self._signers.is_running)
        self.show_detail(row.key, (*lines, *note_section(self._notes)))
        self.look_up_soon()

    @on(UpgradeList.Opened)
    def _open_detail(self) -> None:
        self._show_detail()
        self.focus_detail()

    @on(UpgradeList.Turned)
    def _turn(self, event: UpgradeList.Turned[UpgradeRow]) -> None:
        self._unfolded ^= {event.row.key}
        self.refresh_list(cursor_key=event.row.key)

    @on(UpgradeList.MarkToggled)
    def _toggle(self, event: UpgradeList.MarkToggled[UpgradeRow]) -> None:
        self._select(event.row)

    # Movement

    def action_finding(self, by: int) -> None:
        """Go to the next or previous row with a warning, cyclically."""
        if not self.left.go_to_next(by, _is_warned):
            self.refuse_move("no other row is held back or has warnings", is_asking=self._is_looking_up)

    # Selection

    def action_select(self) -> None:
        """Select the providers of the highlighted row, or deselect them."""
        if self.row is not None:
            self._select(self.row)

    def _select(self, row: UpgradeRow) -> None:
        if self.refuses("select"):  # space arrives from the list, not as an action of the screen
            return
        self._take(toggled(self.selection, row))
        self.look_up_soon()

    def _take(self, chosen: Chosen, *, cursor_key: str | None = None) -> None:
        """Show another selection, and what is said about it; the cursor then stays on its row."""
        self.left.place()
        before, self.selection = self.selection, chosen.selection
        self.refresh_list(cursor_key=cursor_key)
        if chosen.words:
            (self.refuse if chosen.selection == before else self.say)(chosen.words)

    def action_select_eligible(self) -> None:
        """Select all eligible upgrades that are shown, or deselect what is."""
        self._take(toggled_eligible(self.selection, self._shown))
        self.look_up_soon()

    @property
    def _shown(self) -> list[UpgradeCandidates]:
        """The candidates of the rows that the filter shows."""
        return [offer for row in self.left.rows if not row.depth for offer in row.offers]

    def action_version(self, by: int) -> None:
        """Step to a newer or older version of the highlighted provider."""
        row = self.row
        self._take(stepped(self.selection, row, by), cursor_key=row.key if row is not None else None)

    def action_limit(self) -> None:
        """Set the next upgrade limit."""
        self._take(with_next_limit(self.selection))

    def action_majors(self) -> None:
        """Take major versions into the eligible upgrades, or leave them out."""
        self._take(with_majors_toggled(self.selection))

    def action_cooldown(self) -> None:
        """Switch the cooldown on or off, once it is known whether the policy has one."""
        if self._policy is None:
            self.refuse_too_early("c")
            return
        self._take(with_cooldown_toggled(self.selection))

    def action_upgrade(self) -> None:
        """Open the Preview of the selected upgrades."""
        picks = self.selection.picks
        if not picks or self.top is None:
            self.refuse(nothing_selected(self.selection))
            return
        where = partial(self.source.where, self.top)
        policy, has_unread = self.selection.terms.policy, self.selection.has_unread
        self.preview(Upgrade.of_picks(picks, where, policy=policy, allows_missing=has_unread))

    # Details

    def action_group(self) -> None:
        """Switch the grouping."""
        self.by = following(self.by)
        self.post_message(PreferenceChanged("upgrade.group", self.by.value))
        self.refresh_list()
        self.say(f"grouped by {self.by}")

    @property
    def inside(self) -> InspectionRequest | None:
        """The locked version and the target version, or else the newest, of the highlighted provider."""
        row, target = self.row, self.row_target.release
        if row is None or target is None or not row.is_of_provider:
            return None
        offer = leading_offer(row, self.selection)
        folder = self.top or self.source.folder
        return inside_request(offer.address, offer.entry, target[1], folder=folder, root=offer.root, tool=offer.tool)

    @property
    def row_keys(self) -> tuple[str, tuple[str, ...]]:
        """The keys that find no provider on the row, no version to select there, or nothing selected."""
        (first, idle), selection = super().row_keys, self.selection
        row = self.row if self.row is not None and self.row.is_of_provider else None
        offers = self.row.offers if self.row is not None else ()
        acts = {
            "space": any(map(selection.target, offers)),
            "a": any(one.key in selection.selected or selection.is_safe(one) for one in self._shown),
            "< >": row is not None and any(can_step(selection, row, by) for by in (1, -1)),
            "n": self.left.has_other(_is_warned),
            "w": row is not None,
            "z": self.inside is not None,
            "U": selection.picks and self.top is not None,
        }
        return first, (*idle, *(label for label, does in acts.items() if not does))

    def action_why(self) -> None:
        """Show the requirements of the provider, and the holds on newer versions."""
        row = self.row
        if row is None or not row.is_of_provider:
            self.refuse("why: no provider on this row")
            return
        first, *others = row.offers

        def heeding(subject: WhySubject) -> WhySubject:
            selection, terms = self.selection, self.selection.terms
            targets = {one.root: choice.version if (choice := selection.target(one)) else None for one in row.offers}
            conditions = replace(subject, heeded=terms.heeded, limit=terms.limit, takes_majors=terms.takes_majors)
            return replace(conditions, targets=targets)

        self.show_why(first.root, first.address, others=[offer.root for offer in others], heeding=heeding)
