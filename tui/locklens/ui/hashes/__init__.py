"""The Hashes screen: locked hashes, their platforms and their proof. Owns the marks for v, p and L."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from textual import on

from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.operations.verification import PackageVerdict
from locklens.review.reports.evidence_lines import PROOFS
from locklens.ui import views
from locklens.ui.clipboard import change_copied
from locklens.ui.hashes.detail import PackagesShown, hash_detail, hashes_facts, hashes_head, hashes_status
from locklens.ui.hashes.packages import PACKAGE_WORDS, Named, PackageComparer
from locklens.ui.hashes.rows import HASHES_GRAMMAR, HashList, HashRow, hash_rows
from locklens.ui.marking import MarkingScreen
from locklens.ui.row_actions import RowTarget
from locklens.ui.shell import keys
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable
from locklens.ui.views import ExaminedProvider, examined_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.app import ComposeResult

    from locklens.operations.locklens import LockLens
    from locklens.ui.shell.review_loader import MarkKeeper
    from locklens.ui.widgets import BarLayout

HASHES_KEYS = KeyTable(
    KeyGroup(
        "Moving",
        keys.ROWS,
        keys.ENDS,
        Key("h l, left right", "", "fold and unfold an entry of several roots", "fold"),
        keys.PANE,
        Key("enter", "", "open the detail; full screen on narrow terminals", "open"),
        Key("n", "finding(1)", "next finding: next row with a finding", "next finding"),
        Key("N", "finding(-1)", "previous finding: previous row with a finding"),
        Key("[", "section(-1)", "previous root"),
        Key("]", "section(1)", "next root"),
        keys.BACK,
    ),
    KeyGroup(
        "Reading",
        Key("space", "mark", "mark provider: or the root, for v, p and L; again: unmark", "mark"),
        Key("a", "mark_shown", "mark all shown: for v, p and L; again: unmark", "all"),
        keys.FILTER,
        Key("x", "expand", "show full hashes: and the explanation of each rule", "expand"),
        Key("w", "why", "explain provider: its requirements, and the holds on newer versions", "why"),
        keys.DIAGNOSE,
        Key("y", "copy", "copy row: the full hash, or the highlighted line", "copy"),
        Key("e", "edit", "edit lock file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
        Key("o", "open_page", "open release page: on the registry; copies the URL without a browser"),
        Key(
            "v",
            "prove",
            "verify by download: the unverified h1 of the marked providers, or of the row; asks first",
            "verify",
        ),
        Key(
            "p",
            "compare_packages",
            "compare packages: installed, cached and mirrored ones of the marked providers, or of the row",
            "packages",
        ),
        keys.RELOAD,
    ),
    KeyGroup(
        "Writing, with a Preview",
        Key(
            "L",
            "lock",
            "lock missing platforms: of the marked providers, or of the row; without a policy asks which",
            "lock",
        ),
    ),
    keys.PROGRAM_KEYS,
    keys.elsewhere("L"),
    in_list="?|q ctrl+c|enter|space|v|p|i|L|/|n|a|x|w|y|e|tab|r|:|j k",
    in_detail="?|esc|j k|y|e|x|v|p|i|L|w|tab|q ctrl+c|:|r",
)


_SIGNS = {
    "+3 shared": "3 more entries of this root are in other roots too, and listed there",
    "x": "marked for v, p and L; - for some of a row's providers or roots",
    "…": "registry lookup in progress",
}


_VERDICTS = {verdict: word for verdict, (word, _) in PACKAGE_WORDS.items()}
_PACKAGES = {
    _VERDICTS[PackageVerdict.MATCHES]: "a hash of the package is locked",
    _VERDICTS[
        PackageVerdict.DIFFERS
    ]: "no hash of it is locked: the files that differ are named where a good copy is here",
    _VERDICTS[PackageVerdict.MISSING]: "locked, but not in .terraform/providers",
    _VERDICTS[PackageVerdict.UNREADABLE]: "damaged or not readable, or a mirror without a usable answer",
    _VERDICTS[PackageVerdict.UNLOCKED]: "the lock file has no hash for its platform",
    _VERDICTS[PackageVerdict.UNKNOWN]: "it is locked by hashes of another kind than those that are known of it",
    "installed": "in the root's .terraform/providers, or TF_DATA_DIR",
    "plugin-cache": "in plugin_cache_dir of the CLI configuration",
    "mirror": "a filesystem_mirror; of a network_mirror or oci_mirror what it lists",
}


INSTALL_PATHS = {
    "direct": "from the registry: needs a platform's zh or h1",
    "plugin-cache": "unpacked packages shared by several roots: needs a platform's h1",
    "packed-mirror": "a network mirror, or a folder of zip files: needs zh or h1",
    "unpacked-mirror": "a folder of unpacked packages: needs h1",
    "oci-mirror": "an OCI registry: needs zh",
}


_POLICY_SAMPLE = (
    'install_paths = ["direct", "plugin-cache"]',
    "[platforms]",
    'linux_amd64 = "CI, production"',
    'darwin_arm64 = "laptops"',
)

_has_findings: Callable[[HashRow], bool] = attrgetter("has_findings")


class HashesScreen(MarkingScreen[Named]):
    """Lists the locked entries: those that several roots share, then those of each root."""

    TABLE = HASHES_KEYS
    VIEW = views.HASHES
    GRAMMAR = HASHES_GRAMMAR
    LIST = HashList
    TERMS = (
        ("SIGNS", _SIGNS),
        ("PROOF OF A HASH", PROOFS),
        ("PACKAGES ON THIS MACHINE, after p", _PACKAGES),
        ("INSTALL PATHS", INSTALL_PATHS),
    )
    MARKS = ("entry", "entries")
    MARK_KEYS = "v, p and L"
    BINDINGS = keys.view_bindings(HASHES_KEYS)

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.unfolded: frozenset[str] = frozenset()
        """Keys of the rows that show their roots."""
        self.comparer = PackageComparer()

    def compose(self) -> ComposeResult:
        """Yield the panes and bars, and what compares packages."""
        yield self.comparer
        yield from super().compose()

    @property
    def left(self) -> HashList:
        """The list of roots and providers."""
        return self.query_one(HashList)

    @property
    def row_target(self) -> RowTarget:
        """The highlighted provider, its entry in the lock file and its release."""
        row = self.left.current
        if row is None:
            return RowTarget()
        change = row.change
        if change is None or change.new is None:
            return RowTarget("", FilePlace(row.root.lock_file, 1)) if row.root is not None else RowTarget()
        place = FilePlace(row.subjects[0].root.lock_file, change.new.line)
        return RowTarget(change_copied(change), place, (change.address, str(change.new.version)))

    @property
    def examined(self) -> ExaminedProvider | None:
        """The provider of the highlighted row, in the first of its roots, or its root."""
        row = self.left.current
        root = None if row is None else row.subjects[0].root if row.depth else row.root
        if row is None or root is None:
            return None
        change = row.change
        findings = root.findings if change is None else change.findings
        return examined_row(root.path, str(change.address) if change else "", findings, screen="Hashes")

    @property
    def row_keys(self) -> tuple[str, tuple[str, ...]]:
        """The keys that need a provider, on a row without one."""
        (first, idle), row = super().row_keys, self.left.current
        targets = self.marked_or_row
        needs = self.idle_on(targets) + ("" if targets else "p")
        needs += "" if row is not None and row.change is not None else "w"
        needs += "" if self.left.has_other(_has_findings) else "n"
        return first, (*idle, *needs, *(() if row is not None and row.named else ("space",)))

    # Display

    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Rebuild the rows with the current marks and filter."""
        if self.review is None or not self.is_open:
            return
        packages = self.comparer.known(self.review)
        rows = hash_rows(
            self.review,
            is_asking=self.is_asking,
            marked=self.marked,
            narrowed=self.narrowed,
            packages=packages,
            unfolded=self.unfolded,
        )
        self.left.show_rows(rows, cursor_key=cursor_key)
        self.facts.show_lines(hashes_facts(self.review, self.progress))
        self.refresh_notice()
        self.refresh_bars()

    def head_layouts(self) -> tuple[BarLayout, ...]:
        """The counts of locked, unverified and uncovered."""
        return hashes_head(self.review, self.comparer.known(self.review).values())

    def status_layouts(self) -> tuple[BarLayout, ...]:
        """The progress of the lookup, or a message."""
        return hashes_status(
            self.review,
            self.progress,
            marked=len(self.marked),
            is_narrowed=self.is_narrowed,
            is_asking=self.is_asking,
            comparing=self.comparer.progress,
            message=self.status_text,
        )

    def help_lines(self) -> Iterable[Line]:
        """The keys, the columns and the terms of the Hashes screen, and a sample of a policy."""
        yield from super().help_lines()
        yield from heading(
            "REQUIRED PLATFORMS  read from locklens.toml at the repository's top, as committed; for example:"
        )
        for text in _POLICY_SAMPLE:
            yield line(Span(f"  {text}", Role.PLACE), copied=text)

    @on(HashList.Highlighted)
    def _show_detail(self, event: HashList.Highlighted[HashRow]) -> None:
        if self.review is None or event.row is None:
            self.show_detail("", ())
        else:
            packages = PackagesShown(self.comparer.known(self.review), self.comparer.pending)
            lines = hash_detail(
                event.row, self.review, packages=packages, in_full=self.in_full, is_asking=self.is_asking
            )
            self.show_detail(event.row.key, lines)

    @on(HashList.Turned)
    def _turn(self, event: HashList.Turned[HashRow]) -> None:
        self.unfolded ^= {event.row.key}
        self.refresh_list(cursor_key=event.row.key)

    @on(HashList.Opened)
    def _open_detail(self) -> None:
        self.focus_detail()

    def action_why(self) -> None:
        """Show the requirements of the provider."""
        row = self.left.current
        if row is None or row.change is None:
            self.refuse("why: no provider on this row")
            return
        self.show_why(row.subjects[0].root.path, row.change.address)

    # Movement

    def action_finding(self, by: int) -> None:
        """Go to the next or previous row with a finding, cyclically."""
        if not self.left.go_to_next(by, _has_findings):
            self.refuse_move("no other row shown has a finding")

    # Marks

    @property
    def markable(self) -> frozenset[Named]:
        """The locked providers."""
        roots = self.review.roots if self.review is not None else ()
        return frozenset((root.lock_file, change.address) for root in roots for change in root.changes if change.new)

    def marks_of(self, rows: Iterable[HashRow]) -> frozenset[Named]:
        """The locked providers of some rows."""
        return frozenset(named for row in rows for named in row.named)

    def action_mark_shown(self) -> None:
        """Mark the providers of all rows shown, or unmark them."""
        self.toggle_marks([row for row in self.left.rows if row.change is not None], "in the rows shown")

    # Actions

    def action_prove(self) -> None:
        """Verify by download the unverified hashes."""
        self.prove(self.marked_or_row)

    def action_compare_packages(self) -> None:
        """Compare the packages on this machine with the locked hashes, or cancel that."""
        targets = self.marked_or_row
        if self.comparer.stop():
            return
        if self.review is None or not targets:
            self.refuse("packages: no provider on this row")
        elif self.top is None:
            self.refuse("packages: only the work tree's lock files have packages on this machine")
        else:
            self.comparer.compare(self.source, self.review, self.top, targets)

    @on(PackageComparer.Changed)
    def _show_packages(self, event: PackageComparer.Changed) -> None:
        if event.words:
            self.announce(event.words)
            self.refresh_list()
        else:
            self.refresh_bars()
        self.left.tell_highlighted()

    def action_back(self) -> None:
        """Go back one step: the comparison of packages, filter, detail."""
        if not self.comparer.stop():
            super().action_back()

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reload everything; if anew, what is known about packages is forgotten."""
        if is_fresh:
            self.comparer.forget()
        super().reload(is_fresh=is_fresh)

    def action_lock(self) -> None:
        """Plan to lock the missing required platforms."""
        self.lock_platforms(self.marked_or_row)
