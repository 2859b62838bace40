"""The screen of upgrades: what each provider could be moved to, and what of it is to be moved."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec.structs import replace
from textual import on
from textual.binding import Binding

from locklens.addresses import Platform
from locklens.operations.upgrades.download_estimate import estimate_download
from locklens.operations.upgrades.recommend import USUAL_COOLDOWN, BumpLimit, Eligibility
from locklens.operations.upgrades.selection import UpgradeSelection, candidate_key
from locklens.operations.write.upgrade import Upgrade
from locklens.project.clifiles import this_platform
from locklens.text import counted
from locklens.ui import views
from locklens.ui.row_actions import RowActionsScreen, RowTarget
from locklens.ui.shell.key_table import view_bindings
from locklens.ui.shell.placeholders import one_sentence
from locklens.ui.shell.timers import after
from locklens.ui.text.spans import FilePlace
from locklens.ui.upgrade.bars import upgrade_head, upgrade_status
from locklens.ui.upgrade.candidate_loader import CandidateLoader
from locklens.ui.upgrade.detail import blocker_place, refused_place, upgrade_lines
from locklens.ui.upgrade.help import upgrade_help
from locklens.ui.upgrade.keys import UPGRADE_KEYS
from locklens.ui.upgrade.rows import By, RowKind, upgrade_rows
from locklens.ui.upgrade.upgrade_list import UpgradeList

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from locklens.addresses import ProviderAddress
    from locklens.operations.locklens import LockLens
    from locklens.review.model import Review
    from locklens.text import Printable
    from locklens.ui.shell.marks import MarkKeeper
    from locklens.ui.text.spans import Line
    from locklens.ui.upgrade.rows import UpgradeRow
    from locklens.ui.widgets.bar import BarLayout

_LOOK_UP_SECONDS = 0.25
"""After the cursor came to rest: signers are looked up for the row it stays on, not for those it passes."""

_FOLLOW_SECONDS = 0.04
"""After which the detail follows the cursor: whoever holds a key down wants to see the list move."""


class UpgradeScreen(RowActionsScreen):
    """Shows what could be upgraded, and lets one pick."""

    TABLE = UPGRADE_KEYS
    VIEW = views.UPGRADE
    FILTER_WORDS = "text: provider, root, version, kind, signer, held, chosen"
    BINDINGS: ClassVar[list[BindingType]] = [
        *view_bindings(UPGRADE_KEYS),
        Binding("less_than_sign", "version(-1)", "Older version", show=False),
        Binding("greater_than_sign", "version(1)", "Newer version", show=False),
    ]

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.candidates = CandidateLoader(source)
        self.picking = UpgradeSelection()
        self.has_offers = False
        """Whether all registries have answered once."""
        self._is_fresh = False
        self._has_terms = False
        """Whether the policy's cooldown was applied once; the user may have switched it off since."""
        self.by = By.PROVIDER
        self.in_full = False
        self._unfolded: frozenset[str] = frozenset()
        self._wanted: tuple[str, ProviderAddress] | None = None
        """What is to be highlighted once it is there."""
        self._timer_of_detail: Timer | None = None
        self._timer_of_signers: Timer | None = None
        self._here = Platform.parse(this_platform())

    def compose(self) -> ComposeResult:
        """The two panes, and the loader of candidates."""
        yield self.candidates
        yield from super().compose()

    def make_list(self) -> UpgradeList:
        """Returns the list of providers."""
        return UpgradeList(id="upgrades")

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
        """Provider and versions, the line that holds it back, the release that is picked or the newest."""
        row = self.row
        if row is None or not row.offers or row.kind is RowKind.SECTION:
            refused = row.refused if row is not None else None
            return RowTarget("", refused_place(refused) if refused is not None else None)
        offer = row.offers[0]
        choice = self.picking.picked(offer)
        version = choice.version if choice is not None else offer.newest or offer.locked
        target = f" -> {choice.version}" if choice is not None else ""
        held = next((place for one in row.offers for group in one.newer if (place := blocker_place(group.holds))), None)
        own = FilePlace(offer.lock_file, offer.entry.line if offer.entry is not None else 1)
        copied = f"{offer.address} {offer.locked or 'not locked'}{target}"
        return RowTarget(copied, held or own, (offer.address, str(version)) if version is not None else None)

    def report(self, review: Review, form: Literal["json", "text"]) -> Printable:
        """Returns the candidates of every root, as `locklens upgrade --list` prints them."""
        from locklens.operations.upgrades import report

        if form == "text":
            return report.as_text(self.picking)
        return report.as_json(self.picking, review, is_offline=self.source.is_offline)

    # What is available

    @property
    def asking_words(self) -> str:
        """What registries are being asked; "" for nothing."""
        if self.progress.words:
            return self.progress.words
        if self.candidates.is_reading:
            waiting = sum(not one.is_asked for one in self.picking.offers.providers)
            return f"asking registries, {counted(waiting, 'provider')} to go" if waiting else "asking registries again"
        return "looking up signers" if self.candidates.is_looking_up else ""

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reads everything again; the selection stays."""
        self._is_fresh = self._is_fresh or is_fresh
        self.candidates.stop()
        super().reload(is_fresh=is_fresh)

    def review_arrived(self) -> None:
        """Asks registries once the configurations are read."""
        if self.review is not None and not self._has_terms:
            self._has_terms = True
            self.picking = self.picking.with_terms(replace(self.picking.terms, cooldown=self.review.policy.cooldown))
        if self.review is not None and not self.is_asking and not self.candidates.is_reading and self.error is None:
            self.candidates.read(self.review, self.top, is_fresh=self._is_fresh)
            self._is_fresh = False
        self.refresh_list()

    @on(CandidateLoader.Read)
    def _take_candidates(self, event: CandidateLoader.Read) -> None:
        # While all is asked once more, what was known stays on the screen.
        if not (event.is_final or not self.has_offers):
            return
        self.picking = self.picking.with_offers(event.offers)
        if event.is_final:
            self.has_offers = True
            self.show_notes(event.offers.notes)
        self.refresh_list()

    @on(CandidateLoader.Failed)
    def _take_failure(self, event: CandidateLoader.Failed) -> None:
        self.say_error(event.error)

    @on(CandidateLoader.SignersKnown)
    def _take_signers(self, event: CandidateLoader.SignersKnown) -> None:
        if event.releases:
            self.picking, dropped = self.picking.with_known(event.releases).without_suspects()
            if dropped:
                names = ", ".join(sorted({one.name for one in dropped}))
                self.say(f"not chosen any more: {names} is signed otherwise than before")
        if event.is_final:
            self._look_up()
            self.refresh_list()

    def look_up_soon(self) -> None:
        """Looks up signers once the cursor rests on a row."""
        if self._timer_of_signers is not None:
            self._timer_of_signers.stop()
        self._timer_of_signers = after(self, _LOOK_UP_SECONDS, self._look_up)

    def _look_up(self) -> None:
        if self.review is not None and self.is_open:
            highlighted = self.row.offers if self.row is not None and self.row.kind is not RowKind.SECTION else ()
            self.candidates.look_up(self.review, self.picking.unknown_releases(highlighted))

    # What is shown

    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Shows the rows that the filter admits."""
        if self.review is None or not self.is_open:
            return
        rows = upgrade_rows(self.picking, by=self.by, narrowed=self.filter_text, unfolded=self._unfolded)
        if cursor_key is None and not self.left.is_placed:
            cursor_key = next((row.key for row in rows if row.depth), None)
        self.left.show_rows(rows, cursor_key=cursor_key)
        self.refresh_notice()
        self.refresh_bars()
        if self._wanted is not None and self.has_offers:
            self.show_provider(*self._wanted)

    def show_provider(self, root: str, address: ProviderAddress) -> None:
        """Highlights a provider of a root, once it is there."""
        self._wanted = (root, address)
        if not self.has_offers or not self.is_open:
            return
        self._wanted = None
        if self.filter_text:
            self.set_filter("")
            self.filter_text = ""
        self._unfolded |= {f"group:{address}"}
        self.refresh_list(cursor_key=f"{root}\0{address}")
        self.left.place()
        self.left.focus()

    def nothing_to_list(self, review: Review) -> tuple[Line, ...]:
        """Returns the placeholder of an empty list."""
        if any(root.configuration is None for root in review.roots):
            return one_sentence("Reading configurations …", is_final=False)
        return one_sentence("Nothing is locked or required here, so there is nothing to upgrade.")

    def head_layouts(self) -> tuple[BarLayout, ...]:
        """How much there is."""
        return upgrade_head(self.picking)

    def status_layouts(self) -> tuple[BarLayout, ...]:
        """What was chosen and what that takes, or a message."""
        fetch = estimate_download(self.picking.choices, self.picking.known, self._here)
        return upgrade_status(
            self.picking, fetch, asking=self.asking_words, is_narrowed=self.is_narrowed, message=self.status_text
        )

    def help_lines(self) -> Iterable[Line]:
        """All keys, and what the columns mean."""
        return upgrade_help()

    @on(UpgradeList.Highlighted)
    def _follow(self, event: UpgradeList.Highlighted) -> None:
        """Shows the detail of the row: at once where it is the same one, else when the cursor stays there."""
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
        lines = upgrade_lines(row, self.picking, in_full=self.in_full, is_asking=self.candidates.is_looking_up)
        self.show_detail(row.key, lines)
        self.look_up_soon()

    @on(UpgradeList.Opened)
    def _open_detail(self) -> None:
        self._show_detail()
        self.focus_detail()

    @on(UpgradeList.Turned)
    def _turn(self, event: UpgradeList.Turned) -> None:
        self._unfolded ^= {event.row.key}
        self.refresh_list(cursor_key=event.row.key)

    @on(UpgradeList.Stepped)
    def _step(self, event: UpgradeList.Stepped) -> None:
        self.action_version(event.by)

    @on(UpgradeList.MarkToggled)
    def _toggle(self, event: UpgradeList.MarkToggled) -> None:
        self._choose(event.row)

    # Moving

    def action_warned(self, by: int) -> None:
        """Goes to the next or previous row that is held or doubtful, round and round."""
        rows, here = self.left.rows, self.left.cursor
        found = [index for index, row in enumerate(rows) if row.is_warned]
        if not found:
            self.say("nothing is held, and nothing that is picked is doubtful")
            return
        ahead = [index for index in found if (index - here) * by > 0]
        self.left.cursor = (ahead or found)[0 if by > 0 else -1]

    def action_section(self, by: int) -> None:
        """Goes to the next or previous section."""
        here = self.left.cursor
        ahead = [index for index, row in enumerate(self.left.rows) if not row.depth and (index - here) * by > 0]
        if ahead:
            self.left.cursor = ahead[0] if by > 0 else ahead[-1]

    # Picking

    def action_choose(self) -> None:
        """Chooses what the highlighted row stands for, or takes the choice back."""
        if self.row is not None:
            self._choose(self.row)

    def _choose(self, row: UpgradeRow) -> None:
        able = [one for one in row.offers if self.picking.picked(one) is not None]
        if not able:
            self.say(_why_nothing(row, self.picking))
            return
        self.picking = self.picking.toggled(able)
        self.refresh_list()
        self.look_up_soon()

    def action_choose_safe(self) -> None:
        """Chooses all that is safe, or takes all choices back."""
        picking = self.picking
        safe = picking.safe
        if frozenset(map(candidate_key, safe)) <= picking.chosen:
            self.say("nothing is chosen any more" if picking.chosen else "nothing is safe to upgrade")
            self.picking = picking.without_any()
        else:
            self.picking = picking.with_safe()
            ready = {
                one.address for one in picking.offers.providers if picking.standing(one).state is Eligibility.READY
            }
            doubtful = len(ready - {one.address for one in safe})
            left = f"; {doubtful} left out, n goes to them" if doubtful else ""
            names = len({one.address for one in safe})
            self.say(f"chosen as safe: {counted(names, 'provider')}{left}")
        self.refresh_list()
        self.look_up_soon()

    def action_version(self, by: int) -> None:
        """Goes to a newer or older version of the highlighted provider."""
        row = self.row
        if row is None or not row.offers or row.kind is RowKind.SECTION:
            self.say("a version: choose a row with a provider")
            return
        before = self.picking
        self.picking = before.moved(row.offers, by)
        if self.picking.stepped == before.stepped:
            self.say(f"there is no {'newer' if by > 0 else 'older'} version that can be picked")
        self.refresh_list(cursor_key=row.key)

    def action_stay(self) -> None:
        """Lets suggestions go less far, or anywhere again."""
        stay = self.picking.terms.stay.following
        self.picking = self.picking.with_terms(replace(self.picking.terms, stay=stay))
        self.refresh_list()
        self.say("suggestions go to any version" if stay is BumpLimit.ANYWHERE else f"suggestions keep the {stay}")

    def action_cooldown(self) -> None:
        """Heeds the cooldown, or does not."""
        terms = self.picking.terms
        days = self._usual_cooldown if terms.cooldown is None else None
        self.picking = self.picking.with_terms(replace(terms, cooldown=days))
        self.refresh_list()
        self.say("releases of any age" if days is None else f"releases that are at least {counted(days, 'day')} old")

    @property
    def _usual_cooldown(self) -> int:
        own = self.review.policy.cooldown if self.review is not None else None
        return USUAL_COOLDOWN if own is None else own

    def action_upgrade(self) -> None:
        """Shows what it would be to move what was chosen."""
        picks = self.picking.picks
        if not picks or self.top is None:
            self.say("nothing is chosen yet: space chooses the row, a all that is safe")
            return
        where = partial(self.source.where, self.top)
        self.preview(Upgrade.of_picks(picks, where, allows_missing=self.picking.has_unread))

    # Reading

    def action_group(self) -> None:
        """Groups by the other thing."""
        self.by = By.ROOT if self.by is By.PROVIDER else By.PROVIDER
        self.refresh_list()
        self.say(f"grouped by {self.by}")

    def action_expand(self) -> None:
        """Lists all versions, or those around the pick."""
        self.in_full = not self.in_full
        self.left.tell_highlighted()
        self.say("all versions" if self.in_full else "the versions around the pick")

    def action_why(self) -> None:
        """Shows who requires the provider, and what keeps it from a newer version."""
        row = self.row
        if row is None or not row.offers or row.kind is RowKind.SECTION:
            self.say("why: choose a row with a provider")
            return
        first, *others = row.offers
        self.show_why(first.root, first.address, others=[one.root for one in others])


def _why_nothing(row: UpgradeRow, picking: UpgradeSelection) -> str:
    """Why there is nothing to choose in a row."""
    if row.refused is not None:
        return f"nothing can be upgraded there: {row.refused.error}"
    if row.kind is RowKind.SECTION or not row.offers:
        return "there is nothing to choose here"
    found = picking.standing(row.offers[0])
    if found.state is Eligibility.CURRENT:
        return f"{row.offers[0].name} is up to date"
    reason = f": {found.held_by}" if found.held_by else ""
    return f"held{reason}; right goes to a version that can be picked all the same"
