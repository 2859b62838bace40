"""The dialogs that select a line: a text to copy, an applied write to undo, the sides of the comparison.

Or, for each entry that clashes in a merge, one of its sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from locklens.lines import Line, Role, Span, line
from locklens.operations.comparison import Base
from locklens.operations.merge import Preference
from locklens.operations.write.resolve import NO_ENTRY
from locklens.text import counted
from locklens.ui.clipboard import copy_text
from locklens.ui.dialogs import Dialog, DialogKey
from locklens.ui.widgets import Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from textual.widget import Widget

    from locklens.errors import LockLensError
    from locklens.operations.write.resolve import Clash, KnownSides
    from locklens.operations.write.undo import AppliedWrite
    from locklens.project.git.listings import Revision

_LABEL_WIDTH = 13


class CopyChoice(NamedTuple):
    """One text that can be copied.

    Attributes:
        text: For `locklens.ui.clipboard.copied_line`.
        shown: Its text in the list; "" for the text itself.
    """

    label: str
    text: str
    shown: str = ""


class CopyDialog(Dialog[CopyChoice | None]):
    """Offers texts, the most usual first; the result is the selected one, None if the dialog was closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "copy", "Copy", show=False),
        Binding("escape,q", "close", "Close", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "copy", "copy"),
        DialogKey("j k", "move"),
        DialogKey("esc", "close", "close"),
    )

    def __init__(self, choices: Sequence[CopyChoice]) -> None:
        super().__init__()
        self._choices = tuple(choices)

    def on_mount(self) -> None:
        """Show the title and the choices."""
        self.show_title("Copy")
        self.view.show_lines(
            line(
                Span(choice.label.ljust(_LABEL_WIDTH), Role.DIM),
                choice.shown or choice.text,
                hanging=_LABEL_WIDTH,
                copied=choice.text,
            )
            for choice in self._choices
        )
        self.view.focus()

    def action_copy(self) -> None:
        """Select the highlighted text."""
        self.dismiss(self._choices[self.view.cursor] if self.view.current is not None else None)


_FILES_SHOWN = 8


class WritesDialog(Dialog["AppliedWrite | None"]):
    """Lists the applied writes, at least one, as `Recorded` has them; dismissed with the one to undo or redo."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "revert", "Undo or redo", show=False),
        Binding("y", "copy", "Copy commit message", show=False),
        Binding("escape,q,Z", "close", "Close", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "preview undo or redo", "revert"),
        DialogKey("esc", "close", "close"),
        DialogKey("j k", "move"),
        DialogKey("y", "copy commit message", "copy"),
    )

    def __init__(self, writes: Sequence[AppliedWrite]) -> None:
        super().__init__()
        self._writes = {write.id: write for write in writes}

    def on_mount(self) -> None:
        """Show the writes."""
        self.show_title(f"Applied writes: {len(self._writes)}")
        self.view.show_lines(_listed(self._writes.values()))
        self.view.focus()

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys, without that for copying where the write has no message."""
        has_message = self.write is not None and bool(self.write.record.message)
        return [key for key in self.KEYS if has_message or key.action != "copy"]

    @property
    def write(self) -> AppliedWrite | None:
        """The highlighted write."""
        current = self.view.current
        return self._writes[current.copied] if current is not None else None

    def action_revert(self) -> None:
        """Close the dialog with the highlighted write."""
        self.dismiss(self.write)

    def action_copy(self) -> None:
        """Copy the commit message of the highlighted write."""
        message = self.write.record.message if self.write is not None else ""
        if message:
            self.say(copy_text(self.app, message, "the commit message"))
        else:
            self.say("this write has no commit message")


def _listed(writes: Iterable[AppliedWrite]) -> Iterator[Line]:
    """The cursor stops at the line of each write, which has its id; files are listed that its title does not name."""
    for write in writes:
        verb = Span("redo  ", Role.WARN) if write.is_undone else Span("undo  ", Role.GOOD)
        verb = Span("gone  ", Role.DIM) if write.is_gone else verb
        state = Span(f"  {write.state}".rstrip(), Role.DIM)
        yield line(verb, Span(write.moment, Role.DIM), "  ", write.words, state, hanging=8, copied=write.id)
        names = [name for name in write.files if not write.words.endswith(f" {name}")]
        for name in names[:_FILES_SHOWN]:
            yield line(Span(f"        {name}", Role.PLACE), hanging=10)
        if len(names) > _FILES_SHOWN:
            more = counted(len(names) - _FILES_SHOWN, "more file")
            yield line(Span(f"        and {more}", Role.DIM))


WORK_TREE, INDEX = "work tree", "index"
_NAME_WIDTH = 28


CheckSides: TypeAlias = "Callable[[Base, Callable[[], object], Callable[[LockLensError], object]], object]"


class SidesDialog(Dialog[Base | None]):
    """Selects the base, then the head; the result is None if the dialog was closed.

    `check` opens the selected sides in the background, then calls the second argument, or the third with the error.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "Select", show=False),
        Binding("slash", "filter", "Filter", show=False),
        Binding("m", "merge_base", "Common ancestor", show=False),
        Binding("escape,q", "back", "Back", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "select", "select"),
        DialogKey("j k", "move"),
        DialogKey("/", "filter", "filter"),
        DialogKey("m", "common ancestor", "merge_base"),
        DialogKey("esc", "back", "back"),
    )
    FIELD_KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "to the list, or compare A..B"),
        DialogKey("esc", "to the list", "back"),
    )

    def __init__(self, check: CheckSides) -> None:
        super().__init__()
        self._revisions: tuple[Revision, ...] = ()
        self._unread = Span("reading branches, tags and commits …", Role.DIM)
        """What is said in place of the revisions until they are read."""
        self._check = check
        self._base = ""
        """The selected base; "" while it is not selected."""
        self._is_from_ancestor = False

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys, without that for selecting where nothing is listed."""
        return [key for key in self.KEYS if self._highlighted or key.action != "select"]

    @property
    def _highlighted(self) -> str:
        """The highlighted side; "" where none is."""
        return self.view.current.copied if self.view.current is not None else ""

    def body(self) -> Iterable[Widget]:
        """Return the filter and the revisions."""
        yield Input(
            placeholder="name, date or subject; or both sides as A..B or A...B", id="sides-filter", compact=True
        )
        yield from super().body()

    def on_mount(self) -> None:
        """Show the revisions for the base."""
        self._show()
        self.view.focus()

    def know(self, revisions: Sequence[Revision]) -> None:
        """Offer the revisions, which match what was typed meanwhile."""
        self._revisions, self._unread = tuple(revisions), Span("")
        if self.is_mounted:
            self._show(keep_place=True)

    def say_unknown(self, error: LockLensError) -> None:
        """Show why there are none."""
        self._unread = Span(error.sentence, Role.WARN)
        if self.is_mounted:
            self._show(keep_place=True)

    def _show(self, *, keep_place: bool = False) -> None:
        title = f"Select the head to compare with {self._base}" if self._base else "Select the base"
        state = "  since the common ancestor" if self._is_from_ancestor else ""
        self.show_title(title, Piece(state, Role.WARN))
        self.view.show_lines(self._lines(), keep_place=keep_place)

    def _lines(self) -> Iterator[Line]:
        """The sides that match what was typed; a range is compared as it is, so that it need not match any."""
        typed = self.query_one(Input).value
        listed = [*self._listed(typed.lower().split())]
        yield from listed
        if self._unread.text:
            yield line(self._unread, hanging=2)
        elif not listed and Base.of_range(typed.strip()) is None:
            yield line(Span("no branch, tag or recent commit matches", Role.DIM), hanging=2)

    def _listed(self, words: Sequence[str]) -> Iterator[Line]:
        fixed = ((WORK_TREE, "files on disk"), (INDEX, "staged changes")) if self._base else (("HEAD", "last commit"),)
        for name, meaning in fixed:
            if all(word in f"{name} {meaning}".lower() for word in words):
                yield line(f"{name:<{_NAME_WIDTH}}  ", Span(meaning, Role.DIM), copied=name)
        for one in self._revisions:
            text = f"{one.kind} {one.name} {one.date} {one.subject}".lower()
            if all(word in text for word in words):
                about = f"  {one.kind:<6}  {one.date}  {one.subject}"
                yield line(f"{one.name:<{_NAME_WIDTH}}", Span(about, Role.DIM), hanging=_NAME_WIDTH, copied=one.name)

    @on(Input.Changed)
    def _narrow(self) -> None:
        self.say("")
        self.view.show_lines(self._lines())

    @on(Input.Submitted)
    def _take_range(self, event: Input.Submitted) -> None:
        """Select both sides of a range, whether the base is selected or not; leave the filter otherwise."""
        sides = Base.of_range(event.value.strip())
        if sides is not None:
            self._compare(sides)
        else:
            self.view.focus()

    def _compare(self, sides: Base) -> None:
        self._check(sides, lambda: self.dismiss(sides), lambda error: self.say(error.sentence, Role.WARN))

    def action_filter(self) -> None:
        """Focus the filter."""
        self.query_one(Input).focus()

    def action_merge_base(self) -> None:
        """Compare with the base itself, or with the common ancestor of both sides as a pull request does."""
        self._is_from_ancestor = not self._is_from_ancestor
        self._show(keep_place=True)

    def action_select(self) -> None:
        """Select the highlighted revision as the base, then as the head."""
        name = self._highlighted
        if not name:
            return
        if not self._base:
            self._base = name
            self.query_one(Input).value = ""
            self._show()
            return
        head = None if name in {WORK_TREE, INDEX} else name
        fork_of = (head or "HEAD") if self._is_from_ancestor else ""
        # "HEAD" is what counts where no base is named.
        base = None if self._base == "HEAD" else self._base
        self._compare(Base(base, fork_of, head, name == INDEX))

    def action_back(self) -> None:
        """Leave the filter, go back to the base, or close."""
        if self.query_one(Input).has_focus:
            self.view.focus()
        elif self._base:
            self._base = ""
            self._show()
        else:
            self.dismiss(None)


SelectedSides: TypeAlias = dict[tuple[str, str], Preference]
"""The side of each entry that clashes, by root and the root's name of the provider."""


class ClashesDialog(Dialog[SelectedSides | None]):
    """Lists the entries that clash, at least one; dismissed once each is settled, with None if it was closed before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "take('newest')", "Newer", show=False),
        Binding("o", "take('ours')", "Ours", show=False),
        Binding("t", "take('theirs')", "Theirs", show=False),
        Binding("N", "take_everywhere('newest')", "Newer for all", show=False),
        Binding("O", "take_everywhere('ours')", "Ours for all", show=False),
        Binding("T", "take_everywhere('theirs')", "Theirs for all", show=False),
        Binding("escape,q,M", "close", "Close", show=False),
    ]

    def __init__(self, clashes: Sequence[Clash]) -> None:
        super().__init__()
        self._clashes = tuple(clashes)
        self._known: KnownSides = {}
        self._unknown = "hashes not checked yet"
        """What is said about an entry about which nothing is known."""
        self._selected: dict[int, Preference] = {}

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The sides, and the newer version where it settles the highlighted entry; the same in upper case for all."""
        newer, current = [clash.newest is not None for clash in self._clashes], self.view.current
        has_newer = current is not None and newer[int(current.copied)]
        for_one = (DialogKey("n", "take the newer version", "take('newest')"),) if has_newer else ()
        sides = DialogKey("o", "take ours", "take('ours')"), DialogKey("t", "take theirs", "take('theirs')")
        if len(newer) == 1:
            return (*for_one, *sides, *self.KEYS)
        for_all = DialogKey("O T N" if all(newer) else "O T", "for all")
        return (*for_one, *sides, for_all, DialogKey("j k", "move"), *self.KEYS)

    def on_mount(self) -> None:
        """Show the entries."""
        self._show()
        self.view.focus()

    def know(self, known: KnownSides) -> None:
        """Show what is known about the hashes of the entries."""
        self._known, self._unknown = known, "hashes not checked"
        if self.is_mounted:
            self._show()

    def say_unknown(self, error: LockLensError) -> None:
        """Show why nothing is known about them."""
        self._unknown = f"hashes not checked: {error}"
        if self.is_mounted:
            self._show()

    def _show(self) -> None:
        count, done = len(self._clashes), len(self._selected)
        state = f"  {done} of {count} settled" if count > 1 else ""
        self.show_title(f"Merge conflict in {counted(count, 'entry', 'entries')}", Piece(state, Role.INFO))
        lines = clash_lines(self._clashes, self._selected, self._known, self._unknown)
        self.view.show_lines(lines, keep_place=self.view.current is not None)

    def action_take(self, name: str) -> None:
        """Settle the highlighted entry, and go to the next one that is open; close after the last."""
        view, preference = self.view, Preference(name)
        if view.current is None:
            return
        here = int(view.current.copied)
        clash = self._clashes[here]
        if preference is Preference.NEWEST and clash.newest is None:
            self.say(f"{clash.name}: {clash.problem}; o takes ours, t theirs")
            return
        self._selected[here] = preference
        self.say("")
        self._show()
        following = (*range(here + 1, len(self._clashes)), *range(here))
        if (upcoming := next((index for index in following if index not in self._selected), None)) is not None:
            view.go_to(str(upcoming))
        else:
            self._settle()

    def action_take_everywhere(self, name: str) -> None:
        """Settle every entry in the same way."""
        preference = Preference(name)
        if preference is Preference.NEWEST and any(clash.newest is None for clash in self._clashes):
            self.say("the newer version does not settle every entry: select a side for each, with n, o or t")
            return
        self._selected = dict.fromkeys(range(len(self._clashes)), preference)
        self._settle()

    def _settle(self) -> None:
        self.dismiss({(clash.root, clash.name): self._selected[index] for index, clash in enumerate(self._clashes)})


def clash_lines(
    clashes: Sequence[Clash], selected: Mapping[int, Preference], known: KnownSides, unknown: str
) -> Iterator[Line]:
    """The entries that clash with both versions, which is the newer, and the selected one.

    The line of each is highlighted with its index, by which `selected` has the side of each settled entry; `unknown` is
    said about an entry about whose hashes nothing is known.
    """
    for index, clash in enumerate(clashes):
        yield line(Span(clash.name, Role.STRONG), Span(f"  {clash.root or '.'}", Role.PLACE), copied=str(index))
        yield line(f"  {clash.reason}", hanging=4)
        preference = selected.get(index)
        for side, (name, version) in ((Preference.OURS, clash.ours), (Preference.THEIRS, clash.theirs)):
            is_newest = clash.newest is not None and str(clash.newest) == version
            is_taken = preference is side or (preference is Preference.NEWEST and is_newest)
            mark = Span("  x " if is_taken else "    ", Role.GOOD)
            newest = Span("  the newer version" if is_newest else "", Role.GOOD)
            yield line(mark, f"{version:<14}", Span(name, Role.DIM), newest, hanging=18)
            if version != NO_ENTRY:
                yield line(Span(f"      {known.get((clash.root, clash.name, side)) or unknown}", Role.DIM), hanging=6)
        if clash.newest is None:
            yield line(Span(f"    {clash.problem}", Role.WARN), hanging=4)
        yield Line()
