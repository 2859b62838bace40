"""The Doctor screen: the causes of a failed run, their evidence, and fixes that land on Preview.

With its keys and help, and the dialogs for a log and for downloads.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from locklens.addresses import Platform
from locklens.dialect import DIALECTS
from locklens.doctor.causes import is_forbidden
from locklens.doctor.cleaning import MOST_BYTES
from locklens.doctor.model import Diagnosis, PackagePath
from locklens.doctor.redacting import shareable
from locklens.hashes import forms_in_words, is_known_scheme, is_well_formed
from locklens.lines import Line, Role, Span, line
from locklens.machine import current_folder
from locklens.operations.doctor import DoctorRequest, changed_at, version_problem
from locklens.storage.files import is_within
from locklens.text import reason_of, visible
from locklens.ui import views
from locklens.ui.clipboard import copied_line, copy_text, markdown_text
from locklens.ui.dialogs import Dialog, DialogKey
from locklens.ui.dialogs.form import Answers, Field, FormDialog
from locklens.ui.doctor.detail import (
    DOCTOR_GRAMMAR,
    DoctorList,
    DoctorRow,
    before_diagnosis,
    command_to_copy,
    doctor_head,
    doctor_rows,
    doctor_status,
    fact_lines,
    how_to_apply,
    row_detail,
    why_no_download,
)
from locklens.ui.exporting import ExportingScreen
from locklens.ui.prove import DownloadDialog, Proved
from locklens.ui.shell import Job, Run, keys
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from textual.widget import Widget

    from locklens.errors import LockLensError
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ProvingPlanned, ReviewEvent
    from locklens.review.model import Review, RootReview
    from locklens.ui.shell.review_loader import MarkKeeper
    from locklens.ui.views import ExaminedProvider
    from locklens.ui.widgets import BarLayout

DOCTOR_KEYS = KeyTable(
    KeyGroup(
        "Moving",
        Key("j k, arrows", "", "next and previous cause, fix or line", "move"),
        Key("g G", "", "first and last"),
        keys.PANE,
        Key("enter", "", "open the detail of a cause, or the Preview of a fix", "open"),
        keys.BACK,
    ),
    KeyGroup(
        "Diagnosing",
        Key("p", "paste", "paste log: of the failed run; a paste without p works too", "paste log"),
        Key("f", "file", "log from file: name the file of a log", "file"),
        Key("i", "examine", "diagnose root: that of the current folder, without a log", "diagnose"),
        Key(
            "v",
            "prove",
            "verify by download: download and hash packages, to tell causes apart; the size is shown first",
            "verify",
        ),
        Key(
            "e",
            "facts",
            "correct facts: root, platform, tool, version, origin, mirror, cache, package of the failing run",
            "facts",
        ),
        Key("r", "reload", "diagnose again: ask the registries again", "again"),
        keys.FILTER,
        Key("y", "copy", "copy: a fix's command, the highlighted line, else the report; read it first", "copy"),
    ),
    keys.PROGRAM_KEYS,
    keys.elsewhere(),
    in_list="?|q ctrl+c|p|f|enter|v|e|y|i|r|tab|:|j k",
    in_detail="?|esc|j k|y|v|tab|r|q ctrl+c|:",
)

_VERDICTS = {
    "yes": "certain: a fact about the failing run",
    "likely": "probable; the fact that would settle it is named",
    "?": "unknown; the needed fact is named with the way to it",
    "no": "ruled out, by evidence alone",
    "fix": "fixes; those that leave trust unchanged come first",
    "CONFIRMED": "a fact makes a cause certain, or tells what is left to mend",
    "LIKELY": "something speaks for a cause, and does not prove it",
    "CANNOT SAY": "several causes are possible; the missing facts are named",
    "FIXED": "what the log is about has changed since: run what failed again",
}


class _LogArea(TextArea):
    """Takes a line feed as a line end: text that arrives outside a bracketed paste has it as the key ctrl+j."""

    _last_key = ""

    def on_key(self, event: events.Key) -> None:
        """Insert a line end, unless the line feed is the second half of one."""
        if event.key == "ctrl+j" and self._last_key != "enter":
            self.insert("\n")
        self._last_key = event.key


class PasteDialog(Dialog[str | None]):
    """Asks for the log of a failed run; nothing in it is interpreted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Cancel", show=False, priority=True),
        Binding("ctrl+d,ctrl+s", "done", "Diagnose", show=False, priority=True),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("ctrl+d", "diagnose", "done"), DialogKey("esc", "cancel", "close"))
    FRAME = "-tall"

    def body(self) -> Iterable[Widget]:
        """Return the text."""
        yield _LogArea(id="log")

    def on_mount(self) -> None:
        """Show the title."""
        self.show_title("Paste the log of the failed run")
        self.query_one(TextArea).focus()

    def action_done(self) -> None:
        """Close with the text."""
        self.dismiss(self.query_one(TextArea).text or None)


class DoctorProveDialog(DownloadDialog):
    """Diagnoses again with downloads; `diagnosis` is None until that is done."""

    def __init__(self, source: LockLens, request: DoctorRequest) -> None:
        super().__init__()
        self._source = source
        self._request = replace(request, prove="changed")
        self.diagnosis: Diagnosis | None = None

    def download(
        self,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        """Diagnose with the packages that the user agrees to; their hashes are cached, so that later runs know them."""
        is_agreed = False

        def ask(plan: ProvingPlanned) -> bool:
            nonlocal is_agreed
            is_agreed = confirm(plan)
            return is_agreed

        found = self._source.diagnose(self._request, cancel=cancel, on_event=on_event, confirm=ask)
        self.diagnosis = found if is_agreed else None
        return ()

    def take_roots(self, roots: tuple[RootReview, ...]) -> None:
        """Take none: a diagnosis has no review."""

    def outcome(self, roots: tuple[RootReview, ...], *, is_planned: bool) -> str:
        """Return what was done."""
        del roots
        if not is_planned:
            return "nothing was downloaded: the registry has no package for that now"
        return "packages were hashed, and each cause was tested again"


class DoctorScreen(ExportingScreen):
    """Diagnoses a log, or examines the root in the current folder."""

    TABLE = DOCTOR_KEYS
    VIEW = views.DOCTOR
    GRAMMAR = DOCTOR_GRAMMAR
    LIST = DoctorList
    TERMS = (("VERDICTS", _VERDICTS),)
    BINDINGS = keys.view_bindings(DOCTOR_KEYS)

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        network = source.request.network
        environ = network.environ if network is not None else os.environ
        known = source.request.diagnosed
        self._request = known or self._without_log(_folder_at(source.folder), environ)
        own = ((name, value) for name, value in self._request.environ.items() if not is_forbidden(name))
        self._settings = {name: value for name, value in own if os.environ.get(name) != value}
        self._diagnosis: Diagnosis | None = None
        self._problem: LockLensError | None = None
        self._top_named: Path | None = None
        self._job = Job(self, "diagnosis")

    def on_mount(self) -> None:
        """Diagnose the log that the screen opens with."""
        if self._request.log is not None:
            self._start()

    @property
    def left(self) -> DoctorList:
        """The list of causes and fixes."""
        return self.query_one(DoctorList)

    @property
    def row_keys(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """`tab` shows what a fix costs; `r` needs a diagnosis, and `v` a cause that a download may tell."""
        row = self.left.current
        has_cost = row is not None and row.remedy is not None and not self.detail.has_focus
        idle = "r" if self._diagnosis is None and self._problem is None else ""
        idle += "" if self._diagnosis is not None and not why_no_download(self._diagnosis) else "v"
        return ("tab",) if has_cost else (), tuple(idle)

    # Display

    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Show causes and fixes that match the filter."""
        if not self.is_open:
            return
        rows = doctor_rows(self._diagnosis, self.narrowed) if self._diagnosis is not None else ()
        self.left.show_rows(rows, cursor_key=cursor_key)
        self.facts.show_lines(fact_lines(self._diagnosis) if self._diagnosis is not None else ())
        self.refresh_notice()
        self.refresh_bars()

    def _from_here(self, root: str) -> str:
        """Return a root of the diagnosis, which is relative to the top, as the user names it in the examined folder."""
        top = self.top or self._top_named or self._request.folder
        place, here = os.path.realpath(top / root), os.path.realpath(self._request.folder)
        return os.path.relpath(place, here).replace(os.sep, "/")

    def notice(self) -> tuple[Line, ...]:
        """Return the lines in place of the panes; () while there are rows."""
        if self.is_open and self.left.rows and not self._job.is_running:
            return ()
        return before_diagnosis(is_working=self._job.is_running, problem=self._problem, diagnosis=self._diagnosis)

    def nothing_to_list(self, review: Review) -> tuple[Line, ...]:
        """Return the placeholder of an empty list, which does not depend on the review."""
        del review
        return self.notice()

    def head_layouts(self) -> tuple[BarLayout, ...]:
        """Provider, certainty and tally; of a diagnosis that is running, none is known yet."""
        return doctor_head(None if self._job.is_running else self._diagnosis)

    @property
    def why_incomplete(self) -> str:
        """Why there is no report."""
        if self._job.is_running:
            return "a diagnosis is running"
        return "no diagnosis yet" if self._diagnosis is None else ""

    def reported(self) -> Diagnosis | None:
        """Return the diagnosis, as it is shown."""
        return self._diagnosis

    @property
    def report_facts(self) -> dict[str, object]:
        """The home folder, which reports leave out."""
        return {"home": str(Path.home())}

    def side_shown(self, review: Review) -> str:
        """Return the work tree: a run that failed had its files on disk, whatever is compared."""
        del review
        return "work tree"

    def status_layouts(self) -> tuple[BarLayout, ...]:
        """The progress, or a message."""
        return doctor_status(self._diagnosis, is_working=self._job.is_running, message=self.message)

    @on(DoctorList.Highlighted)
    def _show_detail(self, event: DoctorList.Highlighted[DoctorRow]) -> None:
        if self._diagnosis is None or event.row is None:
            self.show_detail("", ())
        else:
            self.show_detail(event.row.key, row_detail(event.row, self._diagnosis, self._settings))

    @on(DoctorList.Opened)
    def _open(self, event: DoctorList.Opened[DoctorRow]) -> None:
        remedy = event.row.remedy
        if remedy is None:
            self.focus_detail()
        elif remedy.write is None:
            self.focus_detail()
            self.say(how_to_apply(remedy))
        elif self.read_only_words:
            self.say(f"fix: {self.read_only_words}")
        else:
            from locklens.operations.doctor.diagnose import remedy_operation

            assert self._diagnosis is not None, "its fix is on the screen"
            policy = self._diagnosis.policy
            self.preview(remedy_operation(remedy.write, self._request.folder, self._request, policy))

    # The log

    def on_paste(self, event: events.Paste) -> None:
        """Diagnose what is pasted into the terminal."""
        event.prevent_default().stop()
        lines = event.text.replace("\r\n", "\n").replace("\r", "\n")  # terminals send what enter sends
        self._diagnose_log(lines.encode("utf-8", "replace"))

    def action_paste(self) -> None:
        """Open the dialog for a log."""

        def take(text: str | None) -> None:
            if text is not None:
                self._diagnose_log(text.encode("utf-8", "replace"))

        self.app.push_screen(PasteDialog(), take)

    def action_file(self) -> None:
        """Ask for the file of a log."""

        def take(answers: Answers | None) -> None:
            if answers is not None:
                path = _log_path(answers["log"])
                self._diagnose_log(_read_end(path), changed_at(path))

        facts = [line(Span(" Name the log file. Of a very long log only the end is read.", Role.DIM))]
        field = Field("log", "file", _file_problem)
        self.app.push_screen(FormDialog("Log of the failed run", facts, [field], verb="diagnose"), take)

    def action_examine(self) -> None:
        """Examine the root in the current folder, without a log."""
        self._request = replace(self._request, log=None, roots=(), provider="", started_from=None)
        self._start()

    def action_facts(self) -> None:
        """Ask for the facts of the failing run; empty ones are taken from the log."""
        request = self._request
        facts = self._diagnosis.facts if self._diagnosis is not None else None
        path = (facts.path if facts is not None else None) or request.path
        version = (facts and facts.tool_version) or request.tool_version
        root = self._from_here(facts.root) if facts is not None and facts.root is not None else ""
        fields = [
            Field("platform", "platform, OS_ARCH", _platform_problem, (facts and facts.platform) or request.platform),
            Field("tool", "tool: terraform or opentofu", _tool_problem, (facts and facts.tool) or ""),
            Field("version", "version of the tool", version_problem, version),
            Field("path", "origin, such as direct or installed", _path_problem, path.value if path else ""),
            Field("mirror", "mirror: a folder", _folder_problem, request.mirrors[0] if request.mirrors else ""),
            Field("cache", "plugin cache: a folder", _folder_problem, request.cache),
            Field("package", "its package: folder, zip file, h1:... or zh:...", self._package_problem, request.package),
            Field("root", "root: its folder", _folder_problem, root),
        ]

        def take(answers: Answers | None) -> None:
            if answers is None:
                return
            # What stays as it was shown keeps its source: the log, or the user's earlier words.
            given = {field.name: answers[field.name] for field in fields if answers[field.name] != field.initial}
            told: dict[str, object] = {"platform": given["platform"]} if "platform" in given else {}
            if "package" in given:
                told["package"] = given["package"] if is_known_scheme(given["package"]) else _expanded(given["package"])
            if "root" in given:
                told["roots"] = (given["root"],) if given["root"] else ()
            if "tool" in given:
                told["tool"] = DIALECTS.get(given["tool"])
            if "path" in given:
                told["path"] = PackagePath(given["path"]) if given["path"] else None
            if "version" in given:
                told["tool_version"] = given["version"]
            self._request = replace(
                self._request,
                **told,
                mirrors=(_expanded(answers["mirror"]),) if answers["mirror"] else (),
                cache=_expanded(answers["cache"]),
            )
            self._start()

        lead = [line(Span(" An empty field is read from the log. Nothing is written.", Role.DIM))]
        self.app.push_screen(FormDialog("Facts of the failing run", lead, fields, verb="diagnose"), take)

    def _package_problem(self, text: str) -> str:
        """Why a text names no package; what was given once may have been moved aside by a fix since."""
        if not text or text == self._request.package:
            return ""
        if is_known_scheme(text):
            return "" if is_well_formed(text) else f"not a hash: {forms_in_words()}"
        is_there = "\0" not in text and (self._request.folder / Path(text).expanduser()).exists()
        return "" if is_there else "no such folder or file"

    def action_prove(self) -> None:
        """Ask for the downloads that tell causes apart, and test them again."""
        if self._job.is_running:
            self.say("verify: a diagnosis is running; press v again when it is done")
            return
        if self._diagnosis is None or not self._diagnosis.is_recognised:
            self.refuse("verify: no diagnosis yet; p pastes a log, i diagnoses the root")
            return
        if reason := why_no_download(self._diagnosis):
            self.say(f"verify: {reason}")
            return
        dialog = DoctorProveDialog(self.source, self._request)

        def take(proved: Proved | None) -> None:
            if dialog.diagnosis is not None:
                self._take_diagnosis(dialog.diagnosis)
            if proved is not None:
                self.say(proved.words)

        self.app.push_screen(dialog, take)

    def examine(self, examined: ExaminedProvider, top: Path | None) -> None:
        """Examine a provider of a root without a log, with what led here as the starting point."""
        self._top_named = top
        folder = _folder_at(self.top or top or self.source.folder)
        root = os.path.relpath(Path(os.path.realpath(top or folder), examined.root), os.path.realpath(folder))
        known = self._without_log(folder, self._request.environ)
        roots, provider = (root.replace(os.sep, "/"),), examined.provider
        self._request = replace(known, roots=roots, provider=provider, started_from=examined.start)
        self._start()

    def _without_log(self, folder: Path, environ: Mapping[str, str]) -> DoctorRequest:
        run = self.source.request
        return DoctorRequest(None, folder, environ, tool=run.tool, test_directory=run.test_directory)

    def words_of_idle_key(self, label: str) -> str:
        """What is said about a key that does nothing; those of the list act again once the diagnosis is done."""
        if self._job.is_running and label in DoctorList.KEYS:
            return f"{label}: a diagnosis is running; press {label} again when it is done"
        return super().words_of_idle_key(label)

    def reload(self, *, is_fresh: bool = False) -> None:
        """Read anew, and diagnose again what was diagnosed: a fix may have been applied."""
        super().reload(is_fresh=is_fresh)
        self._diagnose_again()

    def files_reread(self, files: tuple[str, ...]) -> None:
        """Diagnose again what the files on disk may have changed."""
        super().files_reread(files)
        self._diagnose_again()

    def _diagnose_again(self) -> None:
        if self._diagnosis is not None:
            self._start()

    def action_reload(self) -> None:
        """Diagnose again."""
        if self._diagnosis is None and self._problem is None:
            self.say("no log yet: p pastes one, f names a file, i diagnoses the root")
        else:
            self._start()

    def _diagnose_log(self, log: bytes, logged: str = "") -> None:
        logged = logged or datetime.now(UTC).isoformat(timespec="microseconds")
        request = replace(self._request, log=log[-(MOST_BYTES + 1) :], logged=logged)
        self._request = replace(request, roots=(), provider="", started_from=None)
        self._start()

    def _start(self) -> None:
        self._request = replace(self._request, folder=_folder_at(self.top or self._top_named or self.source.folder))
        self._job.start(partial(self._diagnose, self._request), self._take_diagnosis, self._fail)
        self.refresh_notice()
        self.refresh_bars()

    def _diagnose(self, request: DoctorRequest, run: Run) -> Diagnosis:
        return self.source.diagnose(request, cancel=run.cancel)

    def _take_diagnosis(self, diagnosis: Diagnosis) -> None:
        # What the screen shows and copies; what fixes write is kept.
        self._diagnosis, self._problem = shareable(diagnosis, home=str(Path.home())), None
        self._show_diagnosis()

    def _fail(self, error: LockLensError) -> None:
        self._diagnosis, self._problem = None, error
        self._show_diagnosis()

    def _show_diagnosis(self) -> None:
        """Show the rows; the cursor leaves a fix that is gone, or a cause, for the first one if any differs."""
        before, current = [(row.key, row.state) for row in self.left.rows], self.left.current
        self.refresh_list()
        is_kept = (
            current is not None and current.remedy is not None and current.key in {row.key for row in self.left.rows}
        )
        if not is_kept and before != [(row.key, row.state) for row in self.left.rows]:
            self.left.action_edge(0)

    # Copying

    def action_copy(self) -> None:
        """Copy the highlighted line of the detail, the command of a fix, or the whole report."""
        row = self.left.current if not self._job.is_running else None
        copied = self.line.copied if self.line is not None and row is not None else ""
        if row is not None and row.cause is not None and copied == row.title.text:
            copied = ""  # of a cause as a whole, the report says more
        if not copied and row is not None and row.remedy is not None:
            copied = command_to_copy(row.remedy, self._settings)
        if copied:
            self.say(copy_text(self.app, copied_line(copied)))
        elif reason := self.why_incomplete:
            self.refuse(f"nothing to copy so far: {reason}")
        else:
            from locklens.doctor import report_text

            assert self._diagnosis is not None
            text = report_text.render(self._diagnosis, home=str(Path.home()), lists_all=True)
            items = (_markdown_item(each.strip()) for each in text.splitlines() if each.strip())
            name = "the report: read it before you paste it; what looks like a secret is left out"
            self.say(copy_text(self.app, "\n".join(items), name))


def _markdown_item(text: str) -> str:
    """Return a line of the report as an item of a list, in which neither Markdown nor a shell interprets a character.

    A command is an indented code block, without a character more: no fence that a shell would run.
    """
    label, mark, command = text.partition("$ ")
    if mark and label.strip() in {"", "NEXT"}:
        return f"-     $ {visible(command)}" if not label else f"- {label.strip()}\n-     $ {visible(command)}"
    return f"- {markdown_text(text)}"


def _folder_at(top: Path) -> Path:
    """Return the current folder; where it is outside of the files under review, their top."""
    here = current_folder()
    return Path(here) if is_within(os.path.realpath(top), os.path.realpath(here)) else top


def _read_end(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MOST_BYTES - 1))
        return file.read(MOST_BYTES + 1)


def _expanded(folder: str) -> str:
    return str(Path(folder).expanduser()) if folder else ""


def _folder_problem(text: str) -> str:
    return "" if not text or ("\0" not in text and Path(text).expanduser().is_dir()) else "no such folder"


def _log_path(text: str) -> Path:
    """Return the path that a text names, also in the quotes of a shell."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return Path(text[1:-1] if is_quoted else text).expanduser()


def _file_problem(text: str) -> str:
    if not text or "\0" in text:
        return "name a file"
    path = _log_path(text)
    try:
        if path.is_dir():
            return "that is a folder: name a file"
        if not path.is_file():
            return "no such file"
        with path.open("rb"):
            return ""
    except OSError as error:
        return reason_of(error)


def _platform_problem(text: str) -> str:
    try:
        if text:
            Platform.parse(text)
    except ValueError:
        return "a platform is OS_ARCH, such as linux_amd64"
    return ""


def _tool_problem(text: str) -> str:
    return "" if not text or text in DIALECTS else "terraform or opentofu"


def _path_problem(text: str) -> str:
    return "" if not text or text in {path.value for path in PackagePath} else f"one of {', '.join(PackagePath)}"
