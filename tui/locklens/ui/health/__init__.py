"""The Health screen: the checks of all roots and the spread of versions. Owns the marks for L U P F."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on

from locklens.lines import FilePlace
from locklens.operations.review.request import Progress
from locklens.operations.write.lock import Lock, LockMissing
from locklens.operations.write.lock_edits import Format, Prune
from locklens.operations.write.root_upgrade import SelectedVersion
from locklens.operations.write.upgrade import Upgrade
from locklens.review.health import CHECKS, Check, Health
from locklens.review.health_remedies import CheckRemedy, commands_text, lockable, remedy, upgradable
from locklens.text import shell_words
from locklens.ui import views
from locklens.ui.clipboard import ShellText
from locklens.ui.dialogs.choices import CopyChoice
from locklens.ui.health.rows import (
    HEALTH_GRAMMAR,
    HealthGrouping,
    HealthList,
    HealthRow,
    HealthSort,
    health_detail,
    health_head,
    health_rows,
    health_status,
    roots_with_findings,
)
from locklens.ui.marking import MarkingScreen
from locklens.ui.row_actions import RowTarget
from locklens.ui.shell import Run, Throttle, bars, keys
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable, following
from locklens.ui.shell.review_loader import MarkKeeper, ReviewLoader
from locklens.ui.views import ExaminedProvider, examined_row
from locklens.versions import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from locklens.addresses import Platform, ProviderAddress
    from locklens.operations.locklens import LockLens
    from locklens.operations.plan import Scope
    from locklens.operations.write.apply import Operation
    from locklens.project.folders import FileWatch
    from locklens.review.model import Review
    from locklens.ui.widgets import BarLayout

HEALTH_KEYS = KeyTable(
    KeyGroup(
        "Moving",
        keys.ROWS,
        keys.ENDS,
        keys.PANE,
        Key("enter", "", "list the roots of a check, or open the detail of a row", "list"),
        Key("h l, left right", "", "fold and unfold a section; h on a row in one goes to it"),
        Key(
            "n",
            "finding(1)",
            "next finding: next section with one; without another one, with unknown roots",
            "next finding",
        ),
        Key("N", "finding(-1)", "previous finding: previous section with one"),
        keys.BACK,
    ),
    KeyGroup(
        "Reading",
        Key("space", "mark", "mark roots: of the row, for L U P F; again: unmark", "mark"),
        Key("a", "mark_shown", "mark all shown: every root with a finding; again: unmark", "all"),
        keys.FILTER,
        Key("s", "sort", "sort: by severity, number of roots, name", "sort"),
        Key("b", "group", "group: by check, root, provider, signer", "group"),
        keys.DIAGNOSE,
        Key("y", "copy", "copy: the command of the check, or the highlighted line", "copy"),
        Key("e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
        keys.RELOAD,
    ),
    KeyGroup(
        "Writing, with a Preview: the marked roots, or those of the row",
        Key(
            "L",
            "lock",
            "lock platforms: the required ones, or those you name; also providers that are not locked",
            "lock",
        ),
        Key(
            "U",
            "upgrade",
            "upgrade providers: those of the row, by the policy's cooldown, or to the version that fixes an advisory",
            "upgrade",
        ),
        Key("P", "prune", "prune orphans", "prune"),
        Key("F", "format", "format lock files", "format"),
    ),
    keys.PROGRAM_KEYS,
    keys.elsewhere("L", "U", "P", "F"),
    in_list="?|q ctrl+c|enter|space|L|U|P|F|/|i|s|b|y|n|a|tab|r|:|j k",
    in_detail="?|esc|j k|y|e|L|U|P|F|i|tab|q ctrl+c|:|r",
)


_SIGNS = {
    "ok unknown worse": "in the head: roots for which all checks are well, some are unknown, or some warn or block",
    "▸ ▾": "folded and unfolded; enter lists the roots",
    "·  x  -": "not marked for L U P F, marked, and marked in some of the row's roots",
    "███": "roots that lock the provider; the detail has a bar for each version",
}


def _is_found_section(row: HealthRow) -> bool:
    return bool(row.found) and not row.depth


def _is_unknown_section(row: HealthRow) -> bool:
    return row.unknown > 0


_PROGRESS_SECONDS = 0.1


class HealthLoader(ReviewLoader):
    """Owns the health and the thread that scans for it; its review has the roots with their findings."""

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.health: Health | None = None
        """The health to show; None until the files are read."""
        self._draft_health: Health | None = None
        """The last health from the files alone."""

    def use(self, source: LockLens) -> None:
        """Scan by another source; nothing of the earlier one is shown meanwhile."""
        self.health = None
        super().use(source)

    def _load(self, run: Run, *, watch: FileWatch | None, is_fresh: bool) -> tuple[Review, FileWatch | None]:
        since = time.time_ns()
        if watch is not None:
            watch.restart()
        throttle = Throttle(_PROGRESS_SECONDS)

        def tell_progress(what: str, done: int, total: int) -> None:
            now = time.monotonic()
            if not throttle.wait(now):
                throttle.took(now, now)
                run.tell(self._take_scanning, Progress("configuration" if what == "roots" else "evidence", done, total))

        def tell_draft(health: Health) -> None:
            nonlocal watch
            watch = watch or self._source.watch_health(health, since_ns=since)
            run.tell(self._take_files, health, watch)
            run.tell(self.post_message, self.Changed())

        health = self._source.health(
            is_fresh=is_fresh, on_progress=tell_progress, on_draft=tell_draft, cancel=run.cancel
        )
        watch = watch or self._source.watch_health(health, since_ns=since)
        run.tell(self._take_health, health, watch)
        return health.review, watch

    def _take_health(self, health: Health, watch: FileWatch) -> None:
        self.health, self.review, self.top = health, health.review, Path(health.top)
        self._watch, self.error = watch, None

    def _take_files(self, health: Health, watch: FileWatch) -> None:
        """Take the health from the files alone, unless more is known about the same files: L U P F act on the rows."""
        before, self._draft_health = self._draft_health, health
        is_same = before is not None and _read_of(before) == _read_of(health)
        self._take_health(self.health if is_same and self.health is not None else health, watch)

    def _take_scanning(self, progress: Progress) -> None:
        self.progress = progress
        self.post_message(self.Progressed())


_OF_FILES = frozenset(rule for check in CHECKS if check.needs.is_of_files for rule in check.rules)


def _read_of(draft: Health) -> object:
    """Return what a health from the files alone tells of them: equal as long as they say the same.

    The findings about packages that were looked into come before any registry is asked, too, but are not of the files.
    """
    findings = [[one for one in root.findings if one.rule in _OF_FILES] for root in draft.review.roots]
    return draft.review.policy, [(root.path, root.new) for root in draft.review.roots], findings, draft.reach


class HealthScreen(MarkingScreen[str]):
    """Lists the checks with the number of roots that each concerns."""

    loader: HealthLoader
    TABLE = HEALTH_KEYS
    VIEW = views.HEALTH
    GRAMMAR = HEALTH_GRAMMAR
    LIST = HealthList
    TERMS = (("SIGNS", _SIGNS),)
    EMPTY = "No root module here."
    LOADER = HealthLoader
    MARKS = ("root", "roots")
    MARK_KEYS = "L U P F"
    BINDINGS = keys.view_bindings(HEALTH_KEYS)

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self._opened: frozenset[str] = frozenset()
        self._grouping = HealthGrouping.CHECK
        self._sort = HealthSort.SEVERITY

    @property
    def left(self) -> HealthList:
        """The list of checks."""
        return self.query_one(HealthList)

    @property
    def health(self) -> Health | None:
        """The health; None until the files are read."""
        return self.loader.health

    @property
    def row_target(self) -> RowTarget:
        """The command of the check or the title of the row, and the place of its first finding."""
        row, health = self.left.current, self.health
        if row is None or health is None:
            return RowTarget()
        command = ""
        if row.result is not None:
            found = remedy(row.result.check, health)
            command = commands_text(row.result.check, found, health) or " && ".join(found.merging)
        place = FilePlace(row.found[0][1].file, row.found[0][1].line or 1) if row.found else None
        return RowTarget(ShellText(command) if command else row.title, place)

    @property
    def copy_choices(self) -> tuple[CopyChoice, ...]:
        """The command, and the roots."""
        row, copied = self.left.current, self.row_target.copied
        choices = [CopyChoice("command" if isinstance(copied, ShellText) else "row", copied)] if copied else []
        if row is not None and row.roots:
            choices.append(CopyChoice("roots", ShellText(shell_words(path or "." for path in row.roots))))
        return tuple(choices)

    def reported(self) -> object:
        """Return the health."""
        return self.health

    @property
    def examined(self) -> ExaminedProvider | None:
        """The provider of the highlighted finding, or its root; of a section the first."""
        row = self.left.current
        if row is None or not row.found:
            return None
        root, finding = row.found[0]
        return examined_row(root.path, str(finding.provider or ""), (finding,), screen="Health")

    @property
    def row_keys(self) -> tuple[str, tuple[str, ...]]:
        """The keys that need roots or a provider, on a row without any."""
        (first, idle), row = super().row_keys, self.left.current
        roots = self.marked_or_row
        idle += tuple(key for key, command in (("P", "prune"), ("F", "format")) if not self._has_found(command, roots))
        idle += () if roots and self._locking(roots).fixes else ("L",)
        idle += () if self.left.has_other(_is_found_section) else ("n",)
        idle += () if self._providers and self._upgrading.fixes else ("U",)
        return first, idle if row is not None and row.roots else (*idle, "space")

    # Display

    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Rebuild the rows with the current marks, folds and filter."""
        if self.health is None or self.review is None or not self.is_open:
            return
        rows = health_rows(
            self.health, self._grouping, self._sort, opened=self._opened, marked=self.marked, narrowed=self.narrowed
        )
        self.left.show_rows(rows if self.health.review.roots else (), cursor_key=cursor_key)
        self.facts.show_lines((*bars.registry_lines(self.review, self.progress), *bars.note_lines(self.review)))
        self.refresh_notice()
        self.refresh_bars()

    def head_layouts(self) -> tuple[BarLayout, ...]:
        """The counts of roots and findings."""
        return health_head(self.health, is_asking=self.is_asking)

    def status_layouts(self) -> tuple[BarLayout, ...]:
        """The progress of the scan, or a message."""
        return health_status(
            self.health,
            self.progress,
            marked=len(self.marked),
            shown=f"by {self._grouping}, sorted by {self._sort}",
            is_narrowed=self.is_narrowed,
            message=self.status_text,
        )

    @on(HealthList.Highlighted)
    def _show_detail(self, event: HealthList.Highlighted[HealthRow]) -> None:
        if self.health is None or event.row is None:
            self.show_detail("", ())
        else:
            self.show_detail(event.row.key, health_detail(event.row, self.health))

    @on(HealthList.Opened)
    def _open(self, event: HealthList.Opened[HealthRow]) -> None:
        if event.row.children:
            self._turn(event)
        else:
            self.focus_detail()

    @on(HealthList.Turned)
    def _turn(self, event: HealthList.Turned[HealthRow] | HealthList.Opened[HealthRow]) -> None:
        self._opened ^= {event.row.key}
        self.refresh_list(cursor_key=event.row.key)

    # Moving

    def action_finding(self, by: int) -> None:
        """Go to the next or previous section with a finding, cyclically; without another one, with unknown roots."""
        if not any(self.left.go_to_next(by, wanted) for wanted in (_is_found_section, _is_unknown_section)):
            self.refuse_move("no other section shown has a finding or unknown roots")

    def action_sort(self) -> None:
        """Sort by the next order."""
        self._sort = following(self._sort)
        self.refresh_list()
        self.say(f"sorted by {self._sort}")

    def action_group(self) -> None:
        """Group by the next kind."""
        self._grouping = following(self._grouping)
        self.refresh_list()
        self.say(f"grouped by {self._grouping}")

    # Marks

    @property
    def markable(self) -> frozenset[str]:
        """The folders of the roots with a finding."""
        return roots_with_findings(self.health) if self.health is not None else frozenset()

    def marks_of(self, rows: Iterable[HealthRow]) -> frozenset[str]:
        """The folders of the roots of some rows."""
        return frozenset(path for row in rows for path in row.roots)

    # Actions

    def action_lock(self) -> None:
        """Plan to lock the required platforms of the roots, or of what the row's check finds in them."""
        roots, review, top = self.marked_or_row, self.review, self.top
        if not roots or review is None or top is None:
            self.refuse("lock: no root on this row; space marks roots")
            return
        found = self._locking(roots)
        if not found.fixes:
            self.refuse(f"lock: {[*found.by_hand, *(one.sentence for one in found.left_out)][0]}")
            return
        chosen_roots = [root for root in review.roots if root.path in roots]
        named = [(root.lock_file, entry.address) for root in chosen_roots for entry in root.new.entries]

        def preview(chosen: Collection[Platform]) -> None:
            platforms = tuple(chosen) or review.policy.required
            parts = tuple(
                Lock(self.source.where(top, fix.roots), platforms, tuple(map(str, fix.providers)))
                for fix in found.fixes
            )
            one = parts[0] if len(parts) == 1 and not found.left_out else LockMissing(parts, found.left_out)
            self.decide("lock", lambda: one)

        self.with_platforms(frozenset(named), preview)

    def _locking(self, roots: frozenset[str]) -> CheckRemedy:
        """What to lock in the roots: of marked ones all, of a row what ends the findings of its check."""
        check, health = self._check, self.health
        if health is None:
            return CheckRemedy()
        if check is not None and not self.marked:
            found = remedy(check, health, roots)
            if check.command == "lock" or found.by_hand:
                return found
        return lockable(health, roots)

    def _has_found(self, command: str, roots: frozenset[str]) -> bool:
        """True if a command ends findings in the roots, or if nobody asks for the check that would find them."""
        check, health = next(one for one in CHECKS if one.command == command), self.health
        if health is None or not roots:
            return False
        return bool(check.objection(health.review.policy) or remedy(check, health, roots).fixes)

    @property
    def _check(self) -> Check | None:
        """The only check that the row's findings are of."""
        row = self.left.current
        rules = {finding.rule for _, finding in row.found} if row is not None else set()
        return next((one for one in CHECKS if rules and rules <= {*one.rules}), None)

    def action_prune(self) -> None:
        """Plan to remove the orphans of the roots."""
        self._decide("prune", Prune)

    def action_format(self) -> None:
        """Plan to format the lock files of the roots."""
        self._decide("format", Format)

    def action_upgrade(self) -> None:
        """Plan to upgrade the providers of the row: to the versions that fix its advisories, or by the cooldown."""
        health, found = self.health, self._upgrading
        if health is None or not self._providers:
            self.refuse(f"upgrade: {self._left_out or 'no provider on this row'}")
        elif not found.fixes:
            whole_roots_last = sorted(found.left_out, key=lambda one: one.provider is None)
            nothing = f"no {'marked root' if self.marked else 'root'} locks this, or is known to require it"
            reasons = (*found.by_hand, *(one.sentence for one in whole_roots_last), nothing)
            self.refuse(f"upgrade: {reasons[0]}")
        else:
            self.decide("upgrade", lambda: self._upgrade(found, health))

    @property
    def _left_out(self) -> str:
        """The first provider that an upgrade for the row's check leaves out, in a sentence; "" for none."""
        row, health = self.left.current, self.health
        if health is None or row is None or row.result is None or row.result.check.command != "upgrade":
            return ""
        return next((one.sentence for one in remedy(row.result.check, health).left_out), "")

    def _upgrade(self, found: CheckRemedy, health: Health) -> Upgrade:
        where, policy = partial(self.source.where, Path(health.top)), health.review.policy
        picks = tuple(
            SelectedVersion(root, address, Version.parse(version) if version else None, edits=bool(version))
            for fix in found.fixes
            for root in fix.roots
            for address, version in zip(fix.providers, fix.versions or [""] * len(fix.providers), strict=True)
        )
        return Upgrade.of_picks(picks, where, policy=policy, left_out=found.left_out)

    @property
    def _upgrading(self) -> CheckRemedy:
        """What to upgrade: of marked roots those with the row's providers, of a row what ends its check's findings.

        A row of a provider's versions stands for all roots.
        """
        check, health, roots = self._check, self.health, self.marked_or_row
        if health is None:
            return CheckRemedy()
        if not roots and (row := self.left.current) is not None and row.spread is not None:
            roots = frozenset(root.path for root in health.review.roots)
        if check is not None and check.command == "upgrade" and (check.id == "own-advisory" or not self.marked):
            return remedy(check, health, roots)
        return upgradable(health, roots, self._providers)

    @property
    def _providers(self) -> frozenset[ProviderAddress]:
        """The provider whose versions the row has, or those of its findings."""
        row = self.left.current
        if row is not None and row.spread is not None:
            return frozenset({row.spread.provider})
        found = row.found if row is not None else ()
        return frozenset(finding.provider for _, finding in found if finding.provider is not None)

    def _decide(self, name: str, operation_of: Callable[[Scope], Operation]) -> None:
        top, roots = self.top, sorted(self.marked_or_row)
        if not roots or top is None or self.review is None:
            self.refuse(f"{name}: no root on this row; space marks roots")
            return
        self.decide(name, lambda: operation_of(self.source.where(top, roots)))
