"""The dialogs about one provider: Why it has its version, and what is Inside of its packages.

Why lists the requirements from the configuration first, then the versions of the registry. Inside shows kept facts at
once. What has to be downloaded is announced with its size first, this platform's packages alone; a key asks for those
of all platforms.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from locklens.errors import LockLensError, RunCancelledError
from locklens.lines import LABEL_WIDTH, FilePlace, Line, Role, Span, line
from locklens.review.reports.why import why_in_short, why_lines
from locklens.ui.clipboard import copy_text
from locklens.ui.dialogs import FRAME_WIDTH, MOST_WIDTH, READING_KEYS, DialogKey, ReadingDialog, TextDialog
from locklens.ui.phrases import take_event
from locklens.ui.prove import DownloadSteps, named_packages, planned_size
from locklens.ui.shell import Job, Run
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable, key_help
from locklens.ui.views import PackagesInspected
from locklens.ui.widgets import Piece

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Protocol

    from textual.screen import Screen

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.install.context import InstallEvent
    from locklens.lockfile import LockEntry
    from locklens.operations.inspection.inspect import InspectionRequest
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ProvingPlanned
    from locklens.review.inspection import Inspection
    from locklens.review.why import Why

    class Explain(Protocol):
        """Explains a provider; thread-safe; raises LockLensError."""

        def __call__(self, *, is_asking: bool, is_fresh: bool, cancel: threading.Event) -> Why:
            """Return the explanation, with the registry's part if `is_asking`."""


WHY_KEYS = KeyTable(
    KeyGroup(
        "Why",
        Key("esc q w", "close", "back: from the search, to the screen", "back", binds="q,w,enter"),
        Key("/", "search", "search text: upper and lower case alike", "search", binds=""),
        Key("n N", "found(1)", "next and previous match", "next", binds=""),
        Key("y", "copy", "copy line: the highlighted version or constraint, without its path", "copy"),
        Key("e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
        Key("r", "again", "reload files: all, and ask the registry again", "reload"),
        Key("?", "help", "this help", "keys"),
        Key("j k", "", "next and previous line that can be copied or opened; also arrows", "move"),
        Key("g G", "", "first and last line", "ends"),
        Key("pgup pgdn", "", "a page up and down", "page"),
    )
)


class WhyDialog(ReadingDialog):
    """Shows the explanation, line by line; no line is cut.

    `edit` opens a place in the editor, where `can_edit` says so, and returns the problem in words, "" on success.
    """

    BINDINGS = WHY_KEYS.bindings
    KEYS: ClassVar[Sequence[DialogKey]] = tuple(
        DialogKey(key.shown, key.short, key.action) for key in WHY_KEYS.keys if key.short
    )

    def __init__(
        self,
        address: ProviderAddress,
        explain: Explain,
        edit: Callable[[FilePlace | None], str],
        can_edit: Callable[[FilePlace | None], bool],
    ) -> None:
        super().__init__()
        self._address = address
        self._explain = explain
        self._edit, self._can_edit = edit, can_edit
        self._job = Job(self, "why")
        self._why: Why | None = None
        self._error: LockLensError | None = None

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys, without those that find nothing in the highlighted line."""
        current = self.view.current
        can_edit = current is not None and self._can_edit(current.place)
        return [key for key in super().keys if can_edit or key.action != "edit"]

    def on_mount(self) -> None:
        """Start the lookup."""
        self._look_up(is_fresh=False)

    def _look_up(self, *, is_fresh: bool) -> None:
        def explain(run: Run) -> Why:
            run.tell(self._take, self._explain(is_asking=False, is_fresh=is_fresh, cancel=run.cancel))
            return self._explain(is_asking=True, is_fresh=is_fresh, cancel=run.cancel)

        self._error = None
        self._job.start(explain, self._take, self._fail)
        self._refresh()

    def _take(self, why: Why) -> None:
        self._why = why
        self._refresh()

    def _fail(self, error: LockLensError) -> None:
        self._error = error
        self._refresh()

    def _refresh(self) -> None:
        summary = why_in_short(self._why) if self._why is not None else ""
        self.show_title(f"Why {self._address}", right=(Piece(f"{summary} ", Role.BLOCK),))
        self.show_lines(self._lines(), keep_place=True)
        self._say("")

    def _lines(self) -> tuple[Line, ...]:
        lines: list[Line] = []
        if self._error is not None:
            lines.append(line(Span(self._error.sentence, Role.WARN), hanging=2))
        if self._why is not None:
            lines += why_lines(self._why, is_asking=self._job.is_running)
        return tuple(lines) or (line(Span("Reading the configuration …", Role.DIM)),)

    def _say(self, message: str) -> None:
        self.say(
            message or ("asking the registry; facts from the configuration are shown" if self._job.is_running else "")
        )

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(TextDialog("All keys of this dialog", key_help(WHY_KEYS), closing="question_mark"))

    def action_again(self) -> None:
        """Repeat the lookup, and ask the registry despite the cache."""
        self._look_up(is_fresh=True)

    def action_edit(self) -> None:
        """Open the highlighted line in the editor."""
        current = self.view.current
        problem = self._edit(current.place if current is not None else None)
        self._say(problem)


_MOST_LABELS = 10
"""The most packages that are named, so that the dialog fits into 24 lines."""

_REDRAW_SECONDS = 0.1

_LEAST_WIDTH_OF_SIDES = 120
"""Columns of a terminal in which the old and the new side are side by side."""


def asking_lines(plan: ProvingPlanned) -> Iterator[Line]:
    """The announced downloads, and what becomes of them."""
    yield line("To download: ", planned_size(plan))
    yield from named_packages(plan, _MOST_LABELS)
    handling = "Packages are read while downloading, and what is inside is cached. None is stored, unpacked or run."
    yield line(Span(handling, Role.DIM))


def inside_request(
    address: ProviderAddress,
    old: LockEntry | None,
    new: LockEntry | str | None,
    *,
    folder: Path,
    root: str,
    tool: Dialect | None = None,
    is_planned: bool = False,
) -> InspectionRequest:
    """Return the request for the packages of two versions, or of the only one that there is.

    A package that is not among the hashes of its entry is refused: it is not what is locked. `new` is a version alone
    where nothing locks it yet, and `is_planned` true if its entry is not written yet; `folder` is the repository's top,
    and `root` is below it.
    """
    from locklens.operations.inspection.inspect import InspectionRequest

    before, after = (None if one is None else _version(one) for one in (old or new, new or old))
    hashes_before, hashes_after = (_hashes(one, address) for one in (old or new, new or old))
    return InspectionRequest(
        str(address),
        folder,
        before,
        after,
        (root or ".",),
        old_hashes=hashes_before,
        new_hashes=hashes_after,
        is_planned=is_planned and new is not None,
        tool=tool,
    )


def _version(side: LockEntry | str) -> str:
    return side if isinstance(side, str) else str(side.version)


def _hashes(side: LockEntry | str | None, address: ProviderAddress) -> frozenset[str]:
    """Return the hashes that lock a version; none of another address, whose packages are others."""
    if side is None or isinstance(side, str) or side.address != address:
        return frozenset()
    return frozenset(side.hashes)


def show_inside(screen: Screen[Any], source: LockLens, request: InspectionRequest) -> None:
    """Open the dialog above a screen; at its end, open views reload if packages were read that were not cached."""
    dialog = InsideDialog(source, request)

    def closed(_: None) -> None:
        if dialog.has_news:
            screen.post_message(PackagesInspected())

    screen.app.push_screen(dialog, closed)


class InsideDialog(ReadingDialog):
    """Shows what is inside packages of one or two versions; asks before any download; esc stops at any time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "agree", "Download", show=False),
        Binding("q,z", "close", "Close", show=False),
        Binding("a", "all_platforms", "All platforms", show=False),
        Binding("y", "copy", "Copy as Markdown", show=False),
    ]

    def __init__(self, source: LockLens, request: InspectionRequest) -> None:
        super().__init__()
        self._source = source
        self._request = request
        self._job = Job(self, "inside")
        self._steps = DownloadSteps(self, self._redraw)
        self._found: Inspection | None = None
        self._error: LockLensError | None = None
        self._was_confirmed = False
        """True once the downloads of an earlier run were agreed to."""

    @property
    def has_news(self) -> bool:
        """True once a package was downloaded, even if the run was cancelled: hashes and findings may rest on it."""
        return self._was_confirmed or self._steps.is_confirmed

    @property
    def is_waiting(self) -> bool:
        """True while it waits for a key: to agree to a download, or to close."""
        return not self._job.is_running or self._steps.is_asking

    def on_mount(self) -> None:
        """Start looking."""
        versions = " → ".join(dict.fromkeys(filter(None, (self._request.old, self._request.new))))
        where = f", as in {self._request.roots[0]}" if self._request.roots else ""
        self.show_title(f"Inside {self._request.provider.partition('/')[2]} {versions}{where}")
        self._start()
        self.set_interval(_REDRAW_SECONDS, self._redraw_moving)

    def _start(self) -> None:
        self._was_confirmed = self.has_news
        self._steps, self._error = DownloadSteps(self, self._redraw), None
        self._job.start(self._inspect, self._take, self._fail)
        self._redraw()

    def _inspect(self, run: Run) -> Inspection:
        """Look into the packages, on the worker's thread."""

        def confirm(plan: ProvingPlanned) -> bool:
            if not self._steps.confirm(run, plan):
                raise RunCancelledError("inspecting was cancelled")
            return True

        return self._source.inspect(self._request, confirm=confirm, on_event=self._hear, cancel=run.cancel)

    def _hear(self, event: InstallEvent) -> None:
        take_event(self._steps.downloads, event, time.monotonic())

    def _take(self, found: Inspection) -> None:
        self._found = found
        self._steps.show()

    def _fail(self, error: LockLensError) -> None:
        self._error = error
        self._steps.show()

    # Display

    def _redraw_moving(self) -> None:
        if not self.is_waiting:
            self._redraw()

    def _redraw(self) -> None:
        self.show_lines(self._lines(), keep_place=not self._job.is_running)
        self.refresh_keys()

    def _lines(self) -> tuple[Line, ...]:
        if self._job.is_running:
            return self._steps.lines("Looking for the packages …", asking_lines)
        if self._error is not None:
            return (line(Span(self._error.sentence, Role.WARN), hanging=2),)
        return tuple(_readable(self._found, self._columns)) if self._found is not None else ()

    @property
    def _columns(self) -> int:
        """The columns after the labels for both sides side by side; 0 where the terminal is too narrow."""
        wide = self.app.size.width
        return min(wide, MOST_WIDTH) - FRAME_WIDTH - LABEL_WIDTH if wide >= _LEAST_WIDTH_OF_SIDES else 0

    def on_resize(self) -> None:
        """Put both sides side by side where the terminal became wide enough, or one below the other."""
        self._redraw()

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys of the present step."""
        if self._job.is_running:
            return self._steps.keys
        close = DialogKey("esc q", "close", "close")
        if self._found is None:
            return (close,)
        more = () if self._request.platforms is None else (DialogKey("a", "all platforms", "all_platforms"),)
        return (close, *more, DialogKey("y", "copy as Markdown", "copy"), *READING_KEYS)

    # Keys

    def action_agree(self) -> None:
        """Start the download, or close the result."""
        if not self._job.is_running:
            self.dismiss(None)
        elif refusal := self._steps.agree():
            self.answer(refusal)

    def action_close(self) -> None:
        """Stop what is in progress, and close; what was read by then is cached."""
        self._job.stop()
        self._steps.refuse()
        self.dismiss(None)

    def action_all_platforms(self) -> None:
        """Look into the packages of all platforms of the release."""
        if self._job.is_running or self._found is None or self._request.platforms is None:
            return
        self._request = replace(self._request, platforms=None)
        self._start()

    def action_copy(self) -> None:
        """Copy the report as Markdown."""
        if self._found is None or self._job.is_running:
            self.say("nothing to copy yet")
            return
        from locklens.operations.reports import render_report

        self.say(copy_text(self.app, render_report("inspect", "markdown", self._found), "the report as Markdown"))


def _readable(found: Inspection, columns: int) -> Iterator[Line]:
    from locklens.review.reports.inspection import inspection_lines

    yield from inspection_lines(found, columns=columns)
    for note in found.notes:
        yield line(Span(note, Role.DIM), hanging=2)
