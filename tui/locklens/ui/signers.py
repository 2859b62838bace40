"""The Signers screen: rows of the signers of the locked releases, the list that paints them, and their detail.

There is one row for each key, one for unsigned releases, and one for unknown signers.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from textual import on

from locklens.errors import LockLensError
from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.operations.review.request import Progress, ReviewEvent
from locklens.operations.write import policy_edits
from locklens.operations.write.seen_keys import SeenKeys, namespace_name, seen_keys
from locklens.policy import POLICY_FILE, pin_for
from locklens.project.tree import folder_of
from locklens.review.keys import PastUse, SignerUses, Use, signers
from locklens.review.reports import lock_lines
from locklens.review.reports.evidence_lines import clock
from locklens.review.reports.lock_lines import TIER_MEANINGS, tier_span
from locklens.text import counted
from locklens.trust import Tier
from locklens.ui import views
from locklens.ui.dialogs.form import Answers, keys_with_ends, today_utc, trust_form, until_of
from locklens.ui.row_actions import RowActionsScreen, RowTarget
from locklens.ui.shell import Job, Run, bars, keys
from locklens.ui.shell.bars import head_line, locked_head
from locklens.ui.shell.filtering import ALL, PROVIDER, ROOT, SIGNER, TIER, Filter, Grammar, RowFacts
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable
from locklens.ui.widgets import BarLayout, Piece
from locklens.ui.widgets.row_list import Column, RowList

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.operations.locklens import LockLens
    from locklens.operations.write.apply import Operation
    from locklens.policy import Pin
    from locklens.review.model import Review
    from locklens.ui.shell.review_loader import MarkKeeper

SIGNERS_GRAMMAR = Grammar(
    "name, fingerprint, tier, provider, version or lock file", (PROVIDER, ROOT, SIGNER, TIER), has_severity=False
)


class SignerRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        pending: Number of its releases with a lookup in progress.
        contested: Its providers with another locked version signed by another key.
    """

    key: str
    signer: SignerUses
    pending: int = 0
    contested: frozenset[ProviderAddress] = frozenset()

    @property
    def name(self) -> str:
        """The name that the key claims; untrusted text."""
        return "lookup in progress" if self.is_pending else self.signer.name

    @property
    def is_pending(self) -> bool:
        """True if all of its releases have a lookup in progress."""
        return 0 < self.pending == len(self.signer.uses)

    @property
    def subject(self) -> tuple[str, frozenset[ProviderAddress]]:
        """The key and the providers that a history is about: answers that arrive move providers to other signers."""
        return self.key, frozenset(self.signer.addresses)

    @property
    def state(self) -> Span:
        """The state of the signer in a word; "" if there is none."""
        key = self.signer.key
        if key is not None and key.revoked:
            return Span("REVOKED", Role.BLOCK)
        if self.signer.rejecting:
            return Span("REJECTED", Role.BLOCK)
        if key is not None and key.expired:
            return Span("EXPIRED", Role.WARN)
        if self.contested:
            return Span("contested", Role.WARN)
        if self.pending:
            return Span(f"…{self.pending}", Role.DIM)
        return Span("pinned" if self.signer.pins else "", Role.DIM)


def signer_rows(signers: Collection[SignerUses], *, is_asking: bool, narrowed: Filter = ALL) -> tuple[SignerRow, ...]:
    """Return the rows of the signers in the given order, each with its releases in the roots that match a filter."""
    contested = _contested(signers)

    def row_of(signer: SignerUses) -> SignerRow:
        pending = sum(map(_is_pending, signer.uses)) if is_asking and signer.tier is Tier.UNKNOWN else 0
        fingerprint = signer.key.fingerprint if signer.key else ""
        shared = contested & frozenset(signer.addresses) if signer.key else frozenset()
        return SignerRow(f"{signer.tier}:{fingerprint}", signer, pending, shared)

    rows = map(row_of, signers)
    if not narrowed.tests:
        return tuple(rows)
    matching = ((row.signer, tuple(_matching(row, narrowed))) for row in rows)
    return tuple(row_of(replace(signer, uses=uses)) for signer, uses in matching if uses)


def _is_pending(use: Use) -> bool:
    return use.as_of is None and not use.problem


def _contested(signers: Collection[SignerUses]) -> frozenset[ProviderAddress]:
    """The providers signed by more than one key."""
    keys: dict[ProviderAddress, set[str]] = {}
    for signer in signers:
        for address in signer.addresses if signer.key is not None else ():
            keys.setdefault(address, set()).add(signer.key.fingerprint if signer.key else "")
    return frozenset(address for address, fingerprints in keys.items() if len(fingerprints) > 1)


def _matching(row: SignerRow, narrowed: Filter) -> Iterator[Use]:
    """Yield the releases of a signer, each with the lock files in which it matches a filter."""
    signer = row.signer
    key = (signer.key.fingerprint, *signer.key.user_ids) if signer.key is not None else (row.name,)
    shared = [row.name, signer.tier.value, row.state.text, *key]
    shared += [signer.key.algorithm] if signer.key is not None else []
    for use in signer.uses:
        address = str(use.address)
        text = "\n".join((*shared, address, use.version, use.problem)).lower()
        fields = {PROVIDER.name: (address,), SIGNER.name: key, TIER.name: (signer.tier.value,)}
        names = tuple(
            name
            for name in use.lock_files
            if narrowed.is_match(
                RowFacts(f"{text}\n{name.lower()}", None, {**fields, ROOT.name: (folder_of(name) or ".",)})
            )
        )
        if names:
            yield replace(use, lock_files=names)


class SignerList(RowList[SignerRow]):
    """The signers, the most trusted first."""

    COLUMNS = (
        Column[SignerRow](
            "signer",
            lambda row: Span(row.name, Role.STRONG if row.signer.key is not None else Role.PLAIN),
            "the name that the key claims, which anyone can write into a key",
        ),
        Column[SignerRow]("tier", lambda row: tier_span(row.signer.tier), "how the key is vouched for, as below"),
        Column[SignerRow](
            "providers",
            lambda row: Span(str(len(row.signer.addresses))),
            "the number of providers with a locked release that it signed",
            is_at_end=True,
        ),
        Column[SignerRow](
            "state",
            lambda row: row.state,
            "REVOKED or EXPIRED; REJECTED where the policy pins one of the namespaces to other keys; contested where"
            " another locked version of a provider is signed with another key; …2 while 2 releases are looked up;"
            " pinned where the policy names the key for one of the namespaces",
        ),
    )


class History(Struct, frozen=True):
    """Earlier locked versions of a signer's providers, the newest first, as far as they are looked up.

    Attributes:
        is_read: True if the lookup has ended.
        problem: Reason why they cannot be read; "" if there is none.
    """

    is_read: bool = False
    progress: str = "reading the git history"
    uses: tuple[PastUse, ...] = ()
    problem: str = ""


def signer_detail(row: SignerRow, review: Review, history: History | None) -> Iterator[Line]:
    """The detail of a signer; the history is None before its lookup."""
    signer = row.signer
    yield line(Span(row.name, Role.STRONG), copied=signer.key.fingerprint if signer.key else "")
    yield line(lock_lines.tier_span(signer.tier), Span(f"  {_meaning(row)}", Role.DIM), hanging=2)
    if signer.key is not None:
        yield from heading("KEY")
        yield lock_lines.fingerprint_line(signer.key)
        yield from lock_lines.key_lines(signer.key)
        yield line(Span("  Compare all 40 digits: anyone can create a key with this name.", Role.DIM), hanging=2)
    if signer.pins or signer.rejecting:
        yield Line()
        yield from lock_lines.pin_lines(signer, review)
    moments = [clock(use.as_of, review.at) if use.as_of and not use.problem else "" for use in signer.uses]
    common = moments[0] if len({*moments}) == 1 else ""
    yield Line()
    yield line(Span(lock_lines.uses_title(signer), Role.HEADING), Span(f"  as of {common}" if common else "", Role.DIM))
    for use, moment in zip(signer.uses, moments, strict=True):
        yield from _use_lines(use, row, "" if common else moment)
    yield from _history_lines(row, history)


def _meaning(row: SignerRow) -> str:
    if row.is_pending:
        return "registry lookup in progress"
    if row.signer.tier is Tier.UNKNOWN:
        return "reason below each release"
    return lock_lines.tier_words(row.signer.tier, is_pinned=bool(row.signer.pins))


def _use_lines(use: Use, row: SignerRow, moment: str) -> Iterator[Line]:
    pending = "…" if row.pending and not use.as_of and not use.problem else ""
    contested = "another locked version is signed with another key" if use.address in row.contested else ""
    yield from lock_lines.use_lines(use, f"as of {moment}" if moment else pending, notes=(contested,))


def _history_lines(row: SignerRow, history: History | None) -> Iterator[Line]:
    yield from heading(lock_lines.HISTORY_TITLE)
    if history is None:
        hint = "  enter reads the git history, and asks the registries for the signers"
        yield line(Span(hint, Role.DIM), hanging=2)
        return
    if history.problem:
        yield line(Span("  unknown  ", Role.WARN), history.problem, hanging=4, copied=history.problem)
    for use in history.uses:
        yield from lock_lines.past_use_lines(use, row.signer)
    if not history.is_read:
        yield line(Span("  … ", Role.STRONG), Span(history.progress, Role.DIM))
    elif not history.uses and not history.problem:
        yield line(Span("  no other version in the commits that were read", Role.DIM))


def signers_head(review: Review | None, signers: Collection[SignerUses]) -> tuple[BarLayout, ...]:
    """The head line: counts of locked releases, keys, unsigned and unknown releases."""
    if review is None:
        return head_line("signers")
    releases = counted(sum(len(signer.uses) for signer in signers), "locked release")
    counts = [Piece(f"  {counted(sum(signer.key is not None for signer in signers), 'key')}")]
    for tier, word in ((Tier.UNSIGNED, "unsigned"), (Tier.UNKNOWN, "unknown")):
        number = sum(len(signer.uses) for signer in signers if signer.tier is tier)
        counts.append(Piece(f"  {number} {word}", Role.WARN if number else Role.DIM))
    lock_files = {name for signer in signers for use in signer.uses for name in use.lock_files}
    return locked_head("signers", releases, len(lock_files), review, counts=counts)


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
            "trust key: pin the namespace to it, or to others that sign it, in locklens.toml; asks for the last 8"
            " digits of each key to pin, and a reason",
            "trust",
        ),
        Key("D", "drop_pin", "drop pin: that of the provider's namespace, from locklens.toml", "drop pin"),
    ),
    keys.PROGRAM_KEYS,
    keys.elsewhere("T", "D"),
    in_list="?|q ctrl+c|enter|y|T|D|/|r|tab|:|j k",
    in_detail="?|esc|j k|T|D|y|e|tab|r|q ctrl+c|:",
)


class SignersScreen(RowActionsScreen):
    """Lists the signers of the locked releases, the most trusted first."""

    TABLE = SIGNERS_KEYS
    VIEW = views.SIGNERS
    GRAMMAR = SIGNERS_GRAMMAR
    LIST = SignerList
    TERMS = (("SIGNED BY", TIER_MEANINGS),)
    BINDINGS = keys.view_bindings(SIGNERS_KEYS)

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self._signers: tuple[SignerUses, ...] = ()
        self._can_pin: dict[str, bool] = {}
        """Whether T acts on a release, by its name, as far as it was highlighted."""
        self._pins: tuple[Pin, ...] = ()
        """The pins in the policy on disk, which can be dropped, also before the base has them."""
        self._histories: dict[tuple[str, frozenset[ProviderAddress]], History] = {}
        self._job = Job(self, "history")

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

    @property
    def row_keys(self) -> tuple[str, tuple[str, ...]]:
        """The keys about a pin that do nothing on the row."""
        (first, idle), use = super().row_keys, self._use_to_pin(is_pinned=True)
        idle += () if self.can_pin else ("T",)
        is_pinned = use is not None and pin_for(self._pins, use.address) is not None
        return ("D", idle) if is_pinned else (first, (*idle, "D"))

    @property
    def can_pin(self) -> bool:
        """True if T has a key to pin: that of the row, in the namespace that T takes."""
        use = self._use_to_pin(is_pinned=False)
        if use is None or self.review is None or self.is_asking:
            return False
        if use.name not in self._can_pin:
            try:
                self._can_pin[use.name] = bool(self._seen_keys(use))
            except LockLensError:
                self._can_pin[use.name] = False
        return self._can_pin[use.name]

    def _seen_keys(self, use: Use) -> SeenKeys:
        """Return the keys that sign what a pin covers, or would: that of the highlighted row first.

        Where a pin covers the release already, it is that one which is renewed.

        Raises:
            LockLensError: The row has no key, or its key cannot be pinned.
        """
        assert self.review is not None
        row = self.left.current
        pin = pin_for(self._pins, use.address)
        name = pin.name if pin is not None else namespace_name(self._signers, use.address)
        seen = seen_keys(self.review, name, self._signers, self._pins)
        own = row.signer.key.fingerprint if row is not None and row.signer.key is not None else ""
        if not own and seen.others:
            raise LockLensError(seen.others[0].words, hint=seen.others[0].hint)
        seen.chosen((own,))
        return replace(seen, keys=tuple(sorted(seen.keys, key=lambda one: one.fingerprint != own)))

    # Display

    def review_arrived(self) -> None:
        """Collect the signers of the new review."""
        if self.review is not None:
            self._signers, self._can_pin, self._pins = signers(self.review), {}, ()
            with suppress(LockLensError):
                self._pins = policy_edits.pins_at(self.writable[1])
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
            history = self._histories.get(event.row.subject)
            self.show_detail(event.row.key, signer_detail(event.row, self.review, history))

    # Pins

    def action_trust(self) -> None:
        """Ask for the last digits of the keys that sign the highlighted namespace, and preview the pin."""
        use = self._use_to_pin(is_pinned=False)
        if self.is_asking:
            self.say_too_early("trust", "T")
            return
        if use is None or self.review is None:
            self.refuse("trust: no signer on this row")
            return
        try:
            asks_name = not policy_edits.name_in_git(self.writable[1])
            seen = self._seen_keys(use)
        except LockLensError as error:
            self.refuse(f"trust: {error.sentence}")
            return
        form = trust_form(seen, today_utc(), asks_name=asks_name)
        self.app.push_screen(form, partial(self._pin, seen))

    def _pin(self, compared: SeenKeys, answers: Answers | None) -> None:
        if answers is None:
            return

        def operation() -> Operation:
            review, top = self.writable
            decision = policy_edits.decision_of(
                top, answers["reason"], by=answers.get("by", ""), until=until_of(answers)
            )
            seen = seen_keys(review, compared.covering.name, signers(review), self._pins)
            chosen = keys_with_ends(answers["digits"], compared.pinnable)
            if set(seen.pinnable) != set(compared.pinnable):
                raise LockLensError("the keys changed while you compared them; press T again")
            is_of_all = set(chosen) == set(seen.signing) and not seen.others
            base = policy_edits.base_words(review, has_merge_base=False)
            outdated = policy_edits.outdated_words(review)
            return policy_edits.TrustKeys(top, seen, decision, () if is_of_all else chosen, base, outdated)

        self.decide("trust", operation)

    def action_drop_pin(self) -> None:
        """Preview the removal of the pin that holds for the highlighted provider."""
        use = self._use_to_pin(is_pinned=True)

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

    def _use_to_pin(self, *, is_pinned: bool) -> Use | None:
        """The highlighted release; on a row, rather one whose namespace is pinned already, or is not."""
        row, use = self.left.current, self._use
        if row is None or use is None or (self.line is not None and self.line.copied == use.name):
            return use
        fitting = (one for one in row.signer.uses if (pin_for(self._pins, one.address) is not None) is is_pinned)
        return next(fitting, use)

    # History

    @on(SignerList.Opened)
    def _open_detail(self, event: SignerList.Opened[SignerRow]) -> None:
        self.focus_detail()
        known = self._histories.get(event.row.subject)
        if known is None or known.problem:
            self._histories = {subject: history for subject, history in self._histories.items() if history.is_read}
            self._histories[event.row.subject] = History()
            self.left.tell_highlighted()
            self._read_history(event.row)

    def _read_history(self, row: SignerRow) -> None:
        def read(run: Run) -> tuple[PastUse, ...]:
            def tell(event: ReviewEvent) -> None:
                if isinstance(event, Progress):
                    progress = f"checking registries: {event.done} of {event.total} releases done"
                    run.tell(take, History(progress=progress))

            return self.source.history(row.signer, on_event=tell, cancel=run.cancel)

        def take(history: History) -> None:
            self._histories[row.subject] = history
            self.left.tell_highlighted()

        self._job.start(
            read,
            lambda uses: take(History(is_read=True, uses=uses)),
            lambda error: take(History(is_read=True, problem=error.sentence)),
        )

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reload everything; histories are read again on demand."""
        self._job.stop()
        self._histories = {}
        super().reload(is_fresh=is_fresh)
