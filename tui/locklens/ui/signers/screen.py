"""The Signers screen: the signers of the locked releases, and the detail of the highlighted one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError
from locklens.lines import FilePlace
from locklens.operations.review.request import Progress, ReviewEvent
from locklens.operations.write import policy_edits
from locklens.policy import POLICY_FILE, pin_for
from locklens.review.keys import SignerUses, Use, signers
from locklens.review.reports.lock_lines import TIER_MEANINGS
from locklens.ui import views
from locklens.ui.dialogs.form import Answers, today_utc, trust_form, until_of
from locklens.ui.row_actions import RowActionsScreen, RowTarget
from locklens.ui.shell import bars, keys
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable
from locklens.ui.signers.detail import History, signer_detail, signers_head
from locklens.ui.signers.rows import SIGNERS_GRAMMAR, SignerList, SignerRow, signer_rows

if TYPE_CHECKING:
    from textual.binding import BindingType

    from locklens.operations.locklens import LockLens
    from locklens.operations.write.apply import Operation
    from locklens.ui.shell.review_loader import MarkKeeper
    from locklens.ui.widgets.strips import BarLayout

SIGNERS_KEYS = KeyTable(
    KeyGroup(
        "Moving",
        Key("j k, arrows", "", "next and previous signer or line", "move"),
        Key("g G", "", "first and last"),
        keys.PANE,
        Key("enter", "", "open the detail, and look up the signer's history", "history"),
        keys.BACK,
    ),
    KeyGroup(
        "Reading",
        keys.FILTER,
        Key("y", "copy", "copy fingerprint: or the highlighted provider", "copy"),
        Key("e", "edit", "edit lock file: the highlighted one, in $VISUAL or $EDITOR", "edit"),
        Key(
            "o",
            "open_page",
            "open release page: of the highlighted provider on the registry; copies the URL without a browser",
        ),
        keys.RELOAD,
    ),
    KeyGroup(
        "Opens a Preview: nothing is written before enter",
        Key(
            "T",
            "trust",
            "trust key: pin the namespace to it in locklens.toml; asks for its last 8 digits and a reason",
            "trust",
        ),
        Key("D", "drop_pin", "drop pin: that of the provider's namespace, from locklens.toml", "drop pin"),
    ),
    keys.PROGRAM_KEYS,
    keys.elsewhere("T", "D"),
    in_list="?|q ctrl+c|enter|T|D|y|/|r|tab|:|j k",
    in_detail="?|esc|j k|T|D|y|e|tab|r|q ctrl+c|:",
)


class SignersScreen(RowActionsScreen):
    """Lists the signers of the locked releases, the most trusted first."""

    @dataclass
    class HistoryRead(Message):
        """More is known of the history of a signer; `key` is that of the row."""

        key: str
        history: History

    TABLE = SIGNERS_KEYS
    VIEW = views.SIGNERS
    GRAMMAR = SIGNERS_GRAMMAR
    LIST = SignerList
    TERMS = (("SIGNED BY", TIER_MEANINGS),)
    EMPTY = "No provider is locked here."
    BINDINGS: ClassVar[list[BindingType]] = [*keys.view_bindings(SIGNERS_KEYS)]

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self._signers: tuple[SignerUses, ...] = ()
        self._histories: dict[str, History] = {}

    @property
    def left(self) -> SignerList:
        """The list of signers."""
        return self.query_one(SignerList)

    @property
    def row_target(self) -> RowTarget:
        """The key of the highlighted signer, and the highlighted release or else the first one signed."""
        row = self.left.current
        if row is None:
            return RowTarget()
        use = self._use or row.signer.uses[0]
        identity = row.signer.key.fingerprint if row.signer.key is not None else use.name
        return RowTarget(identity, FilePlace(use.lock_files[0], 1), (use.address, use.version))

    # Display

    def review_arrived(self) -> None:
        """Collect the signers of the new review."""
        if self.review is not None:
            self._signers = signers(self.review)
        self.refresh_list()

    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Show the signers that match the filter."""
        if self.review is None or not self.is_open:
            return
        rows = signer_rows(self._signers, is_asking=self.is_asking, narrowed=self.narrowed)
        self.left.show_rows(rows, cursor_key=cursor_key)
        self.facts.show_lines((*bars.registry_lines(self.review, self.progress), *bars.note_lines(self.review)))
        self.refresh_notice()
        self.refresh_bars()

    def head_layouts(self) -> tuple[BarLayout, ...]:
        """The counts of keys, unsigned and unknown releases."""
        return signers_head(self.review, self._signers)

    def status_layouts(self) -> tuple[BarLayout, ...]:
        """The progress of the lookup, or a message."""
        parts = bars.lookup_parts(self.review, self.progress, is_narrowed=self.is_narrowed)
        return bars.status_line(parts, message=self.status_text, aside="compare all 40 digits, not the last 16")

    @on(SignerList.Highlighted)
    def _show_detail(self, event: SignerList.Highlighted[SignerRow]) -> None:
        if self.review is None or event.row is None:
            self.show_detail("", ())
        else:
            history = self._histories.get(event.row.key)
            self.show_detail(event.row.key, signer_detail(event.row, self.review, history))

    # Pins

    def action_trust(self) -> None:
        """Ask for the last digits of the keys that sign the highlighted namespace, and preview the pin."""
        use = self._use
        if use is None or self.review is None or self.is_asking:
            self.say("trust: registries are still being asked" if self.is_asking else "trust: no signer on this row")
            return
        name = policy_edits.namespace_name(self._signers, use.address)
        try:
            asks_name = not policy_edits.name_in_git(self.writable[1])
            pinned = policy_edits.keys_of(self._signers, name)
        except LockLensError as error:
            self.say(f"trust: {error}")
            return
        form = trust_form(name, pinned, today_utc(), asks_name=asks_name)
        self.app.push_screen(form, partial(self._pin, name, pinned))

    def _pin(self, name: str, compared: tuple[str, ...], answers: Answers | None) -> None:
        if answers is None:
            return

        def operation() -> Operation:
            review, top = self.writable
            decision = policy_edits.decision_of(
                top, answers["reason"], by=answers.get("by", ""), until=until_of(answers)
            )
            pin = policy_edits.pin_of_seen_keys(review, name, decision)
            if set(pin.keys) != set(compared):
                raise LockLensError("the keys changed while you compared them; press T again")
            return policy_edits.TrustKeys(top, pin, decision.by if decision.is_name_typed else "")

        self.decide("trust", operation)

    def action_drop_pin(self) -> None:
        """Preview the removal of the pin that holds for the highlighted provider."""
        use = self._use

        def operation() -> Operation:
            _, top = self.writable
            pin = pin_for(policy_edits.pins_at(top), use.address) if use is not None else None
            if pin is None:
                namespace = f" of {use.address.namespace}" if use is not None else ""
                raise LockLensError(f"{POLICY_FILE} has no pin{namespace}")
            return policy_edits.DropPin(top, pin.name)

        self.decide("drop pin", operation)

    @property
    def _use(self) -> Use | None:
        """The highlighted release, or else the first one of the signer."""
        row = self.left.current
        if row is None:
            return None
        copied = self.line.copied if self.line is not None else ""
        return next((use for use in row.signer.uses if use.name == copied), row.signer.uses[0])

    # History

    @on(SignerList.Opened)
    def _open_detail(self, event: SignerList.Opened[SignerRow]) -> None:
        self.focus_detail()
        known = self._histories.get(event.row.key)
        if known is None or known.problem:
            self._histories = {key: history for key, history in self._histories.items() if history.is_read}
            self._histories[event.row.key] = History()
            self.left.tell_highlighted()
            self._read_history(event.row)

    @work(thread=True, exclusive=True, group="history")
    def _read_history(self, row: SignerRow) -> None:
        cancel = get_current_worker().cancelled_event

        def post_progress(event: ReviewEvent) -> None:
            if isinstance(event, Progress):
                progress = f"checking registries: {event.done} of {event.total} releases done"
                self.post_message(self.HistoryRead(row.key, History(progress=progress)))

        try:
            uses = self.source.history(row.signer, on_event=post_progress, cancel=cancel)
        except RunCancelledError:
            return
        except LockLensError as error:
            self.post_message(self.HistoryRead(row.key, History(is_read=True, problem=error.sentence)))
        else:
            self.post_message(self.HistoryRead(row.key, History(is_read=True, uses=uses)))

    @on(HistoryRead)
    def _take_history(self, event: HistoryRead) -> None:
        if event.key in self._histories:
            self._histories[event.key] = event.history
            self.left.tell_highlighted()

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reload everything; histories are read again on demand."""
        self._histories = {}
        super().reload(is_fresh=is_fresh)
