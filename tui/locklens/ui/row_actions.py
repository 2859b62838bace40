"""Actions on the highlighted row: copy, edit, open in browser, prove, why.

Selected providers are named by lock file and address.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from locklens.errors import LockLensError
from locklens.operations.review.explain_provider import WhySubject
from locklens.review.evidence import packages_to_compare
from locklens.review.reports.evidence_lines import page_of_release
from locklens.text import listing
from locklens.ui import views
from locklens.ui.clipboard import copied_line, copy_text
from locklens.ui.dialogs.choices import CopyChoice, CopyDialog
from locklens.ui.dialogs.form import Answers, platforms_form, read_platforms
from locklens.ui.exporting import ExportingScreen
from locklens.ui.prove import Proved, ProveDialog, ProvingSelection, selected_changes
from locklens.ui.shell.keys import ROW_ACTIONS, action_name
from locklens.ui.shell.off_keys import read_only_words
from locklens.ui.shell.screen import browser_command, has_browser, has_editor, open_page, release_page, work_tree_file
from locklens.ui.views import ExaminedProvider, ViewWanted
from locklens.ui.why import WhyDialog, show_inside
from locklens.ui.widgets.row_list import RowList

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.lines import FilePlace
    from locklens.operations.inspection.inspect import InspectionRequest
    from locklens.operations.plan import Scope
    from locklens.operations.write.apply import Operation
    from locklens.review.model import Review
    from locklens.review.why import Why

    ScopeOf = Callable[[Iterable[str]], Scope]
    """Returns the scope of the roots with these paths."""


_NOTHING_LOADED = "too early: nothing was loaded yet"


class RowTarget(NamedTuple):
    """The targets of the actions on a highlighted row: clipboard, editor and browser.

    Attributes:
        copied: "" if there is no text without a path.
    """

    copied: str = ""
    place: FilePlace | None = None
    release: tuple[ProviderAddress, str] | None = None


def writable(review: Review | None, top: Path | None) -> tuple[Review, Path]:
    """Return a review of files that can be written, and their folder; raises LockLensError if its head is not there."""
    if review is None:
        raise LockLensError("nothing loaded yet")
    if words := read_only_words(review):
        raise LockLensError(words)
    if top is None or review.head.kind == "empty":
        raise LockLensError("this review is not of files on disk")
    return review, top


class RowActionsScreen(ExportingScreen):
    """Actions on the highlighted row: copy, edit, browse, why, verify. None writes to the reviewed files.

    Class attributes:
        DETAIL_WORDS: What the detail shows in full, and in short.
    """

    DETAIL_WORDS: ClassVar[tuple[str, str]] = ("full hashes and rules", "short hashes")

    in_full = False
    """True while the detail is shown in full."""

    _ignored: tuple[str, ...] = ()
    """The labels of the keys that were pressed before anything was loaded for them."""

    @property
    def writable(self) -> tuple[Review, Path]:
        """The review and the folder that can be written to; raises LockLensError if there is none."""
        return writable(self.review, self.top)

    def refuses(self, action: str) -> bool:
        """Say why an action does nothing now: before any rows are loaded, those on rows do not."""
        pressed = action.removeprefix("screen.")
        if self.is_unlisted and pressed.partition("(")[0] in ROW_ACTIONS:
            labels = (key.label for key in self.TABLE.keys if key.action == pressed)
            self.refuse_too_early(next(labels, action_name(pressed)))
            return True
        return super().refuses(action)

    def refuse_too_early(self, label: str) -> None:
        """Say that a key does nothing before anything is loaded; it is named once it is known what is listed."""
        self._ignored = tuple(dict.fromkeys((*self._ignored, label)))
        self.refuse(_NOTHING_LOADED)

    def refresh_notice(self) -> None:
        """Show the placeholder or the panes, and name the keys that were ignored until now."""
        super().refresh_notice()
        if not self._ignored or self.is_unlisted or not self.is_open:
            return
        if self.message == _NOTHING_LOADED:
            # Rows may come before anybody has read why the keys did nothing; other keys may have acted in between.
            were = "was" if len(self._ignored) == 1 else "were"
            self.refuse(f"{listing(self._ignored)} {were} ignored: the list was not loaded yet")
        self._ignored = ()

    def refuse_idle_key(self, label: str) -> None:
        """Say that a key does nothing: without a row, those of the list do not act yet."""
        if self.is_unlisted and label in RowList.KEYS:
            self.refuse_too_early(label)
        else:
            super().refuse_idle_key(label)

    def decide_on_roots(self, name: str, operation_of: Callable[[Review, ScopeOf], Operation]) -> None:
        """Preview an operation on roots of the review, or show why it is not possible."""

        def operation() -> Operation:
            review, top = self.writable
            return operation_of(review, partial(self.source.where, top))

        self.decide(name, operation)

    @property
    @abstractmethod
    def row_target(self) -> RowTarget:
        """The targets of the highlighted row."""

    @property
    def row_keys(self) -> tuple[str, tuple[str, ...]]:
        """The keys of all screens with rows that find nothing to act on in the highlighted line or row."""
        found = {
            "e": self.can_edit(self.place),
            "y": self.line.copied if self.line is not None else self.has_copy,
            "i": self.examined,
            "o": self.row_target.release is not None and page_of_release(*self.row_target.release),
        }
        return "", tuple(label for label, subject in found.items() if not subject)

    @property
    def place(self) -> FilePlace | None:
        """The place for the editor: that of the highlighted line, or else of the row."""
        own = self.line.place if self.line is not None else None
        return own if own is not None else self.row_target.place

    def can_edit(self, place: FilePlace | None) -> bool:
        """True if an editor is set, and the file of a place is on disk."""
        try:
            return bool(work_tree_file(self.review, self.top, place)) and has_editor(os.environ)
        except LockLensError:
            return False

    @property
    def has_copy(self) -> bool:
        """True if the highlighted row has texts that can be copied."""
        return bool(self.row_target.copied)

    @property
    def copy_choices(self) -> tuple[CopyChoice, ...]:
        """The texts that can be copied of the highlighted row."""
        text = self.row_target.copied
        return (CopyChoice("row", text),) if text else ()

    def action_expand(self) -> None:
        """Switch between the full and the short detail."""
        self.in_full = not self.in_full
        self.left.tell_highlighted()
        in_full, in_short = self.DETAIL_WORDS
        self.say(in_full if self.in_full else in_short)

    def action_copy(self) -> None:
        """Copy the highlighted line, or offer what to copy of the row."""
        if self.line is not None:
            self._copy(self.line.copied)
            return
        choices = self.copy_choices
        if len(choices) > 1:
            self.app.push_screen(CopyDialog(choices), self._copy_selected)
        else:
            self._copy(*(choices[0].text, choices[0].shown) if choices else ("",))

    def _copy_selected(self, choice: CopyChoice | None) -> None:
        if choice is not None:
            self._copy(choice.text, choice.shown)

    def _copy(self, text: str, shown: str = "") -> None:
        if not text:
            self.refuse(f"copy: {self._uncopied_words}")
            return
        self.say(copy_text(self.app, copied_line(text), shown))

    @property
    def _uncopied_words(self) -> str:
        if self.line is not None:
            return "this line has nothing to copy"
        return "no row is listed" if self.left.current is None else "this row has nothing to copy"

    def action_edit(self) -> None:
        """Open the highlighted line in the editor."""
        if problem := self.edit(self.place):
            self.say(problem)

    def edit(self, place: FilePlace | None) -> str:
        """Open a place in the editor; return the problem in words, "" on success."""
        try:
            path = work_tree_file(self.review, self.top, place)
        except LockLensError as error:
            return error.sentence
        return self.open_editor(path, place.line if place else 1, self.top)

    def is_known(self, selected: ProvingSelection) -> bool:
        """True if all is known about some providers, although the review may be read anew at the moment."""
        if not self.is_asking or self.review is None:
            return self.review is not None
        # What was known before a reload stays on the screen until as much is known about the files again.
        files = {lock_file for lock_file, _ in selected}
        roots = [root for root in self.review.roots if root.lock_file in files]
        return len(roots) == len(files) and all(change.is_settled for change in selected_changes(roots, selected))

    def idle_on(self, selected: ProvingSelection) -> str:
        """Of `v` and `L`, those that do nothing for some providers.

        `v` needs an `h1` that a download may verify, `L` a required platform that one lacks, or a policy without any.
        """
        from locklens.operations.write.lock import lacks_required, why_not_locked

        review = self.review
        if review is None or not selected or not self.is_known(selected):
            return "vL"
        changes = selected_changes(review.roots, selected)
        can_verify = any(change.evidence is None or packages_to_compare(change) > 0 for change in changes)
        can_lock = lacks_required(review, selected) if review.policy.platforms else not why_not_locked(review, selected)
        return ("" if can_verify else "v") + ("" if can_lock else "L")

    def prove(self, selection: ProvingSelection) -> None:
        """Verify hashes by download, once the registries have answered; ask before any download."""
        if self.review is None or not selection:
            self.refuse(f"verify: {self.unlocked_words}")
            return
        if not self.is_known(selection):
            self.say_too_early("verify", "v")
            return
        dialog = ProveDialog(self.source, self.review, selection, self.loader.take_roots)
        self.app.push_screen(dialog, self._show_proving_result)

    def _show_proving_result(self, proved: Proved | None) -> None:
        if proved is not None:
            self.say(proved.words)
            if proved.is_partial:
                self.reload()

    def show_why(
        self,
        root: str,
        address: ProviderAddress,
        *,
        others: Sequence[str] = (),
        heeding: Callable[[WhySubject], WhySubject] = lambda subject: subject,
    ) -> None:
        """Show the requirements of a provider, and the constraints that hold it back.

        `others` are more roots to show; `heeding` adds what holds versions back apart from the review's policy.
        """
        roots = tuple(dict.fromkeys((root, *others)))

        def explain(*, is_asking: bool, is_fresh: bool, cancel: threading.Event) -> Why:
            if self.review is None:
                raise LockLensError("nothing loaded yet")
            subject = heeding(WhySubject(self.review, self.top, roots, address))
            return self.source.why(subject, is_asking=is_asking, is_fresh=is_fresh, cancel=cancel)

        self.app.push_screen(WhyDialog(address, explain, self.edit, self.can_edit))

    @property
    def unlocked_words(self) -> str:
        """Why the keys find no locked provider to act on, a clause."""
        return "no row is listed" if self.left.current is None else "this row names no locked provider"

    def lock_platforms(self, selected: ProvingSelection) -> None:
        """Preview the locking of the required platforms that providers lack; without any, ask for which platforms."""
        from locklens.operations.write.lock import lock_missing

        def preview(chosen: Collection[Platform]) -> None:
            self.decide_on_roots("lock", lambda review, where: lock_missing(review, selected, where, chosen))

        if not self.is_known(selected):
            self.say_too_early("lock", "L")
        elif not selected:
            self.refuse(f"lock: {self.unlocked_words}")
        else:
            self.with_platforms(selected, preview)

    def with_platforms(self, selected: ProvingSelection, lock: Callable[[Collection[Platform]], None]) -> None:
        """Lock the required platforms, or those that the user types where the policy requires none.

        `lock` previews the lock; () stands for the required platforms.
        """
        from locklens.operations.write.lock import hashed_platforms, why_not_locked

        try:
            review, _ = self.writable
        except LockLensError as error:
            self.refuse(f"lock: {error}")
            return
        if reason := why_not_locked(review, selected):
            self.refuse(f"lock: {reason}")
            return
        if review.policy.platforms:
            lock(())
            return

        def take(answers: Answers | None) -> None:
            if answers is not None:
                lock(read_platforms(answers["platforms"]))

        hashed, entries = hashed_platforms(review, selected), len(selected)
        self.app.push_screen(platforms_form(*hashed, entries, review.policy.file), take)

    @property
    def inside(self) -> InspectionRequest | None:
        """The packages of the highlighted row; None without a provider."""
        return None

    def action_inside(self) -> None:
        """Show what is inside the packages of the row's provider."""
        request = self.inside
        if request is None:
            self.refuse("inside: no provider on this row")
        else:
            show_inside(self, self.source, request)

    @property
    def examined(self) -> ExaminedProvider | None:
        """The provider of the highlighted row with its findings, for Doctor; None without one."""
        return None

    def action_diagnose(self) -> None:
        """Examine the row's provider in its root on Doctor."""
        examined = self.examined
        if examined is None:
            self.refuse("diagnose: this row names no root to look at")
        else:
            self.post_message(ViewWanted(views.DOCTOR, self.top, examined=examined))

    def action_open_page(self) -> None:
        """Open the release's page, or copy its address."""
        release = self.row_target.release
        if release is None:
            self.refuse("release page: no provider on this row")
            return
        try:
            url = release_page(*release)
        except LockLensError as error:
            self.say_error(error)
            return
        command = browser_command(os.environ, url) if has_browser(os.environ) else None
        try:
            if command is not None:
                open_page(command)
                self.say(f"opened {url}")
                return
        except OSError as error:
            self.say(f"the browser cannot be started: {error}")
            return
        self.say(f"no browser; {copy_text(self.app, url)}")
