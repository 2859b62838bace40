"""The Review screen: the list of changes, the detail of the highlighted one, and the actions of its keys."""

from __future__ import annotations

from functools import partial
from operator import is_
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on

from locklens.errors import LockLensError
from locklens.operations.write.policy_edits import decision_of, name_in_git
from locklens.storage.preferences import default_preferences_path
from locklens.text import visible
from locklens.ui import views
from locklens.ui.dialogs import TextDialog
from locklens.ui.dialogs.choices import ClashesDialog, CopyChoice, SelectedSides
from locklens.ui.dialogs.form import Answers, accept_form, read_rules, today_utc, until_of
from locklens.ui.review import frame
from locklens.ui.review.actions import (
    acceptable,
    accepting,
    copy_choices,
    examined_node,
    formatting,
    is_of_report,
    merging,
    no_root_words,
    pruning,
    restorable,
    restoring,
    row_target,
    unlocked_words,
    upgrade_subject,
)
from locklens.ui.review.detail import detail_lines, has_diff, no_diff_words, row_diff_lines
from locklens.ui.review.outline import (
    REVIEW_GRAMMAR,
    Grouping,
    Node,
    NodeKind,
    RootChange,
    Sort,
    age,
    in_places_of,
    outline,
    sorted_outline,
)
from locklens.ui.review.rows import ChangeList, Row, RowMaker, Setting, Standing, is_folded, is_reviewed, marked_words
from locklens.ui.row_actions import RowActionsScreen, RowTarget
from locklens.ui.shell import Job
from locklens.ui.shell.keys import following, help_section, view_bindings
from locklens.ui.views import ExaminedProvider, PreferenceChanged, ViewWanted
from locklens.ui.why import inside_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.lines import Line
    from locklens.operations.inspection.inspect import InspectionRequest
    from locklens.operations.locklens import LockLens
    from locklens.operations.write.apply import Operation
    from locklens.operations.write.resolve import Clash, ResolveConflicts
    from locklens.review.findings import Finding
    from locklens.review.model import Review
    from locklens.ui.shell.review_loader import MarkKeeper
    from locklens.ui.widgets import BarLayout


class ReviewScreen(RowActionsScreen):
    """The changes of a review, worst first."""

    TABLE = frame.REVIEW_KEYS
    VIEW = views.REVIEW
    GRAMMAR = REVIEW_GRAMMAR
    LIST = ChangeList
    TERMS = frame.REVIEW_TERMS
    BINDINGS = view_bindings(frame.REVIEW_KEYS)

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.grouping = Grouping.ROOT
        self.sort = Sort.SEVERITY
        self.turned: frozenset[str] = frozenset()
        """Keys of the rows whose fold the user changed."""
        self._unmarked: frozenset[str] = frozenset()
        """Ids that one key unmarked, for `Z` to mark again."""
        self._outline: tuple[Node, ...] = ()
        self._made_of: tuple[object, ...] = (None,)
        """What the outline was made of: values that another one replaces."""
        self._rows = RowMaker()
        self._merging = Job(self, "clashes")
        self._judging = Job(self, "sides")
        self._is_ordered = True
        """False while the rows keep places that the order of `sort` no longer gives them."""

    def prefer(self, preferences: Mapping[str, str]) -> None:
        """Apply the saved grouping and order."""
        self.grouping = Grouping(preferences.get("review.group", self.grouping))
        self.sort = Sort(preferences.get("review.sort", self.sort))

    @property
    def left(self) -> ChangeList:
        """The list of changes."""
        return self.query_one(ChangeList)

    @property
    def node(self) -> Node | None:
        """The node of the highlighted row."""
        row = self.left.current
        return row.node if row is not None else None

    @property
    def row_target(self) -> RowTarget:
        """The targets of the highlighted row."""
        return row_target(self.node)

    @property
    def examined(self) -> ExaminedProvider | None:
        """The provider or the root of the highlighted row."""
        return examined_node(self.node)

    @property
    def copy_choices(self) -> tuple[CopyChoice, ...]:
        """The texts that can be copied of the highlighted row."""
        return copy_choices(self.node, self.review, self.source.request.fail_on)

    @property
    def row_keys(self) -> tuple[str, tuple[str, ...]]:
        """`M` on a row of a lock file in conflict, `P` on one of an orphan, and the keys that do nothing on the row.

        A lock file in conflict has nothing to prune or to format before it is merged.
        """
        (_, idle), node = super().row_keys, self.node
        if node is None:
            return "", idle
        does_nothing = self.idle_on(self._locked_providers)
        if node.change is None:
            does_nothing += "zA" if node.provider is not None else "zAw"
        elif self.is_asking or not any(
            one.accepted is None for subject in node.subjects for one in subject.change.findings
        ):
            does_nothing += "A"
        does_nothing += "" if restorable(node) else "R"
        does_nothing += "" if has_diff(node) else "d"
        does_nothing += "" if self._has_other(self._is_open) else "n"
        does_nothing += "" if self._has_other(self._is_unreviewed) else "u"
        does_nothing += "" if self._has_to_stage(node) else "S"
        marks, in_conflict = () if node.mark_ids else ("space",), bool(node.in_conflict)
        does_nothing += "" if in_conflict else "M"
        does_nothing += "" if any(one.new.exists and one.new.conflict is None for one in node.roots) else "F"
        does_nothing += "" if upgrade_subject(node) else "U"
        does_nothing += "" if any(one.names_orphan for root in node.roots for one in root.all_findings) else "P"
        return "M" * in_conflict + "P" * node.is_orphan, (*idle, *does_nothing, *marks)

    def _has_to_stage(self, node: Node) -> bool:
        """True if a marked change can be staged, and is not staged yet: that of a row of one root, or else any."""
        review = self.review
        if review is None:
            return False
        subjects: Iterable[RootChange] = (RootChange(root, one) for root in review.roots for one in root.changes)
        if node.kind is NodeKind.MEMBER:
            subjects = node.subjects
        return any(one.change.id in self.loader.marks and one.named in review.stageable for one in subjects)

    @property
    def has_copy(self) -> bool:
        """True if the row or, of a section, the rows below it can be copied, or the whole report."""
        return super().has_copy or (self.review is not None and is_of_report(self.node))

    def refusal_of(self, action: str) -> str:
        """Return why an action does nothing now; marking again what was unmarked writes nothing to the files."""
        return "" if action == "undo" and self._unmarked else super().refusal_of(action)

    # Content

    def review_arrived(self) -> None:
        """Show the new review; once all is known, marks end that do not cover what is found by now."""
        if not self.is_asking:
            self.show_notes(self.loader.unmark_outdated())
        super().review_arrived()

    def refresh_list(self, *, cursor_key: str | None = None, is_ordered: bool = False) -> None:
        """Rebuild the rows from the current marks, folds and filter; `cursor_key` is the one to highlight instead.

        With `is_ordered` they are sorted anew; otherwise they keep their places once the user moved the cursor.
        """
        if self.review is None or not self.is_open:
            return
        marks = self.loader.marks if self.narrowed.text else None  # A filter may ask for them.
        made_of = (self.review, self.narrowed, marks, self.grouping, self.sort)
        if is_ordered or not all(map(is_, made_of, self._made_of)):
            sections = outline(self.review, self.grouping, narrowed=self.narrowed, marks=self.loader.marks)
            ordered = sorted_outline(sections, self.sort, self.grouping)
            # What a registry answers moves no row away from under a user who has begun to read.
            self._outline = in_places_of(self._outline, ordered) if self.left.is_placed and not is_ordered else ordered
            self._is_ordered = self._outline == ordered
            self._made_of = made_of
        standing = Standing(self.review.staged, frozenset(one.key for one in self.review.pending))
        setting = Setting(self.grouping, self.turned, self.loader.marks, self.is_asking, standing)
        self.left.show_rows(self._rows.rows(self._outline, setting), cursor_key=cursor_key)
        self.facts.show_lines(frame.review_facts(self.review, self.loader.marks, self.progress))
        self.refresh_notice()
        self.refresh_bars()

    def nothing_to_list(self, review: Review) -> tuple[Line, ...]:
        """Return the placeholder of an empty list."""
        return frame.nothing_to_review(review)

    def head_layouts(self) -> tuple[BarLayout, ...]:
        """The sides of the comparison, and the counts."""
        return frame.review_head(self.review, is_asking=self.is_asking)

    def status_layouts(self) -> tuple[BarLayout, ...]:
        """The message, or the state of the review."""
        message = self.status_text
        facts = frame.StatusFacts(
            self.review,
            self.loader.marks,
            self.progress,
            self.grouping,
            self.narrowed.text,
            self.source.request.fail_on,
            message,
            self.sort,
            is_ordered=self._is_ordered,
            is_dated=self._is_dated,
        )
        return frame.review_status(facts)

    def help_lines(self) -> Iterable[Line]:
        """All keys, signs and filter terms, and where the preferences are kept."""
        yield from super().help_lines()
        is_kept = not self.source.request.is_demo
        place = f"in {visible(str(default_preferences_path()))}" if is_kept else "until the sample ends"
        yield from help_section("PREFERENCES", {"config.toml": f"theme, grouping and order are kept {place}"})

    @on(ChangeList.Highlighted)
    def _show_detail(self, event: ChangeList.Highlighted[Row]) -> None:
        if self.review is None or event.row is None:
            self.show_detail("", ())
        else:
            lines = detail_lines(event.row.node, self.review, in_full=self.in_full, is_asking=self.is_asking)
            self.show_detail(event.row.key, lines)

    @on(ChangeList.Opened)
    def _open_detail(self, event: ChangeList.Opened[Row]) -> None:
        node = event.row.node
        if node.kind is NodeKind.SECTION and node.root is None:
            self._turn(node)
        else:
            self.focus_detail()

    @on(ChangeList.Turned)
    def _turn_row(self, event: ChangeList.Turned[Row]) -> None:
        self._turn(event.row.node)

    def _turn(self, node: Node) -> None:
        self.turned = self.turned ^ {node.key}
        self.refresh_list(cursor_key=node.key)

    @on(ChangeList.MarkToggled)
    def _mark_row(self, event: ChangeList.MarkToggled[Row]) -> None:
        self._toggle_marks([event.row.node])

    # Moving

    def action_finding(self, by: int) -> None:
        """Go to the next or previous row with a warning or a block that is not reviewed, cyclically."""
        self._go_to_next(by, self._is_open, "no {}unreviewed warning or block in the rows shown")

    def action_unreviewed(self) -> None:
        """Go to the next row that is not reviewed, cyclically."""
        self._go_to_next(1, self._is_unreviewed, "no {}unreviewed row is shown")

    def _is_open(self, node: Node) -> bool:
        return node.severity is not None and node.severity.is_serious and not is_reviewed(node, self.loader.marks)

    def _is_unreviewed(self, node: Node) -> bool:
        return bool(node.mark_ids) and not is_reviewed(node, self.loader.marks)

    def _has_other(self, is_wanted: Callable[[Node], bool]) -> bool:
        """True if there is a row of a kind besides the highlighted one."""
        here = self.node
        others = (node for section in self._outline for node in section.children if node is not here)
        return any(map(is_wanted, others))

    def _go_to_next(self, by: int, is_wanted: Callable[[Node], bool], otherwise: str) -> None:
        """Go to the next or previous row of a kind, and unfold its section.

        Without another one say `otherwise`, with "other " in its gap if the highlighted row is one.
        """
        entries = [(section, node) for section in self._outline for node in section.children]
        wanted = [index for index, (_, node) in enumerate(entries) if is_wanted(node)]
        if not wanted:
            self.refuse_move(otherwise.format(""))
            return
        here = self._position_in(entries, by)
        ahead = [index for index in wanted if (index - here) * by > 0]
        target = (ahead or wanted)[0 if by > 0 else -1]
        section, node = entries[target]
        if node is self.node:
            self.refuse_move(otherwise.format("other "))
        if is_folded(section, self.turned):
            self.turned = self.turned ^ {section.key}
        self.refresh_list(cursor_key=node.key)

    def _position_in(self, entries: list[tuple[Node, Node]], by: int) -> float:
        """The index of the highlighted row among the entries; between two indexes for a section."""
        current = self.node
        for index, (section, node) in enumerate(entries):
            if current is node or current in node.children:
                return index
            if current is section:
                return index - 0.5
        return -1 if by > 0 else len(entries)

    # Reviewing

    def action_prove(self) -> None:
        """Verify the `h1` of the highlighted row by download."""
        self.prove(self._locked_providers)

    @property
    def _locked_providers(self) -> frozenset[tuple[str, ProviderAddress]]:
        subjects = self.node.subjects if self.node is not None else ()
        return frozenset(subject.named for subject in subjects if subject.change.new)

    @property
    def unlocked_words(self) -> str:
        """Why the highlighted row has no change of a locked provider, a clause."""
        return unlocked_words(self.node) if self.node is not None else super().unlocked_words

    # Operations on the highlighted row; marks record only which changes were reviewed

    def action_restore(self) -> None:
        """Preview the restore of the highlighted changes from the base."""
        self.decide_on_roots("restore", partial(restoring, self.node))

    def action_prune(self) -> None:
        """Preview the pruning of the highlighted orphan, or of the orphans in the row's roots."""
        self.decide_on_roots("prune", lambda _, where: pruning(self.node, where))

    def action_merge(self) -> None:
        """Preview the merge of the lock file that git left in conflict; list what clashes."""
        try:
            operation = merging(self.node, partial(self.source.where, self.writable[1]))
        except LockLensError as error:
            self.refuse(f"merge: {error}")
        else:
            self._merging.start(lambda _: operation.clashes(), partial(self._merge, operation), self.say_error)

    def _merge(self, operation: ResolveConflicts, clashes: tuple[Clash, ...]) -> None:
        """Preview the merge, or let the user choose where entries clash."""

        def preview(selected: SelectedSides | None) -> None:
            self._judging.stop()
            if selected:
                self.preview(operation.settled_by(selected))

        if not self.is_current:
            return
        if clashes:
            dialog, review = ClashesDialog(clashes), self.review
            self.app.push_screen(dialog, preview)
            if review is not None:
                judge = partial(self.source.judge_sides, operation, review)
                self._judging.start(lambda run: judge(cancel=run.cancel), dialog.know, dialog.say_unknown)
        else:
            self.preview(operation)

    def action_accept(self) -> None:
        """Ask why findings about the highlighted change are accepted, and preview that."""
        try:
            _, top = self.writable
            name, findings = acceptable(self.node)
            asks_name = not name_in_git(top)
        except LockLensError as error:
            self.refuse(f"accept: {error}")
            return
        if self.is_asking:
            self.say_too_early("accept", "A")
            return
        form = accept_form(name, findings, today_utc(), asks_name=asks_name)
        self.app.push_screen(form, partial(self._accept, self.node, findings))

    def _accept(self, node: Node | None, findings: tuple[Finding, ...], answers: Answers | None) -> None:
        if answers is None:
            return
        rules = read_rules(answers.get("rules", findings[0].rule))

        def operation() -> Operation:
            review, top = self.writable
            decision = decision_of(top, answers["reason"], by=answers.get("by", ""), until=until_of(answers))
            return accepting(node, review, top, rules, decision)

        self.decide("accept", operation)

    def action_format(self) -> None:
        """Preview the formatting of the lock files of the row's roots."""
        self.decide_on_roots("format", lambda _, where: formatting(self.node, where))

    def action_lock(self) -> None:
        """Preview the locking of the platforms that the row's providers lack."""
        self.lock_platforms(self._locked_providers)

    def action_upgrade(self) -> None:
        """Show the provider on the Upgrade screen."""
        node, subject = self.node, upgrade_subject(self.node)
        if subject is not None:
            self.post_message(ViewWanted(views.UPGRADE, self.top, subject))
        elif node is not None and node.change is not None:
            self.refuse("upgrade: this row names no provider that is locked or required")
        else:
            self.post_message(ViewWanted(views.UPGRADE, self.top))

    def action_diagnose(self) -> None:
        """Examine the row's provider in its root on Doctor; not in a root that was removed."""
        removed = [] if self.examined or self.node is None else [root for root in self.node.roots if root.is_removed]
        if removed:
            self.refuse(f"diagnose: {no_root_words(removed[0])}")
        else:
            super().action_diagnose()

    # Marks

    def action_mark(self) -> None:
        """Marks or unmarks the changes and findings of the highlighted row."""
        self._toggle_marks([self.node] if self.node is not None else [])

    def action_mark_shown(self) -> None:
        """Marks or unmarks all shown changes and findings."""
        self._toggle_marks([*self._outline])

    def _toggle_marks(self, nodes: Iterable[Node]) -> None:
        ids = frozenset(one for node in nodes for one in node.mark_ids)
        if not ids:
            self.refuse("only changes and findings can be marked as reviewed")
            return
        marked = not ids <= self.loader.marks
        if marked:
            ids -= self.loader.marks
        self._set_marks(ids, marked=marked)
        number = self._marked_words(ids)
        if marked:
            is_member = self.node is not None and self.node.kind is NodeKind.MEMBER and len(ids) == 1
            alone = "; S on this row stages this root alone" if is_member and "S" not in self.idle_keys else ""
            self.say(f"marked {number} as reviewed{alone}")
        else:
            self._unmarked = ids
            self.say(f"unmarked {number}; Z marks {'it' if len(ids) == 1 else 'them'} again")

    def _marked_words(self, ids: frozenset[str]) -> str:
        return marked_words(ids, self.review.roots if self.review is not None else ())

    def _set_marks(self, ids: frozenset[str], *, marked: bool) -> None:
        self._unmarked = frozenset()
        self.loader.set_marks(ids, marked=marked)
        self.refresh_list()

    def action_undo(self) -> None:
        """Marks again what the last key unmarked; else previews the undo of the last apply."""
        if not self._unmarked:
            super().action_undo()
            return
        number = self._marked_words(self._unmarked)
        self._set_marks(self._unmarked, marked=True)
        self.say(f"marked {number} again")

    def preview(self, operation: Operation) -> None:
        """Open the Preview of an operation; afterwards `Z` undoes that one."""
        self._unmarked = frozenset()
        super().preview(operation)

    def action_stage(self) -> None:
        """Preview the staging of all marked changes, regardless of the filter; on a root of a group, of it there."""
        from locklens.operations.write.stage import marked_blocks

        review, marks, node = self.review, self.loader.marks, self.node
        if review is None:
            self.refuse("nothing to stage yet")
            return
        if node is not None and node.kind is NodeKind.MEMBER:
            # The same change has one mark in all roots, so its row in one root stands for that root.
            (subject,) = node.subjects
            review, marks = replace(review, roots=(subject.root,)), marks & {subject.change.id}
            if not marks:
                self.refuse(
                    f"stage: this change of {subject.root.path or '.'} is not marked as reviewed; space marks it"
                )
                return
        try:
            operation = marked_blocks(review, self.top, marks)
        except LockLensError as error:
            self.refuse(error.sentence)
        else:
            self.preview(operation)

    def action_group(self) -> None:
        """Switch to the next grouping."""
        self.grouping = following(self.grouping)
        self.post_message(PreferenceChanged("review.group", self.grouping.value))
        self.refresh_list(is_ordered=True)
        self.say(f"grouped by {self.grouping}")

    def action_sort(self) -> None:
        """Sort the rows anew if they kept their places, else switch to their next order."""
        if self._is_ordered:
            self.sort = following(self.sort)
            self.post_message(PreferenceChanged("review.sort", self.sort.value))
        self.refresh_list(is_ordered=True)
        words = f"sorted by {self.sort.words}"
        if self.sort is Sort.AGE and not self._is_dated:
            is_asked = self.review is not None and self.review.policy.needs_ages
            words += f"; no release date is known{'' if is_asked else ': they are looked up for a cooldown'}"
        self.say(words)

    @property
    def _is_dated(self) -> bool:
        """True if the release date of any row is known."""
        return any(age(section) != float("inf") for section in self._outline)

    def show_narrowed(self) -> None:
        """Sort the rows anew: those of another filter are others."""
        self.refresh_list(is_ordered=True)

    def action_diff(self) -> None:
        """Show the diff."""
        lines = row_diff_lines(self.node) if self.node is not None else ()
        if not lines:
            self.refuse(no_diff_words(self.node, self.review))
            return
        self.app.push_screen(TextDialog("Diff of the lock file", lines, closing="d"))

    @property
    def inside(self) -> InspectionRequest | None:
        """Both versions of the highlighted change."""
        node = self.node
        if node is None or node.change is None or not node.subjects:
            return None
        root, change = node.subjects[0].root, node.change
        folder = self.top or self.source.folder
        return inside_request(change.address, change.old, change.new, folder=folder, root=root.path, tool=root.tool)

    def action_why(self) -> None:
        """Show the requirements of the provider, and the constraints that hold it back."""
        node = self.node
        if node is None or node.provider is None:
            self.refuse("why: no provider on this row")
            return
        first, *others = [subject.root.path for subject in node.subjects] or [node.root.path if node.root else ""]
        self.show_why(first, node.provider, others=others)
