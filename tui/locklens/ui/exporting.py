"""Screens whose content the palette exports, as the command of the same name prints it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from locklens.operations.reports import REPORTS, formats_of, render_report
from locklens.ui.dialogs.form import ExportDialog
from locklens.ui.shell import Job, Run
from locklens.ui.shell.keys import Command
from locklens.ui.shell.two_panes import TwoPaneScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from locklens.text import Printable


class ExportingScreen(TwoPaneScreen):
    """A screen with reports."""

    @property
    def why_incomplete(self) -> str:
        """Why not all is known that the screen's reports tell; "" if it is."""
        return "the lookup has not ended" if self.review is None or self.is_asking else ""

    def reported(self) -> object:
        """Return the subject of the screen's reports."""
        return self.review

    @property
    def report_facts(self) -> dict[str, object]:
        """What the reports are given besides; see `render_report`."""
        request = self.source.request
        return {"review": self.review, "is_offline": self.source.is_offline, "fail_on": request.fail_on}

    def export_words(self, form: str) -> str:
        """Return the description of an export."""
        return f"as `locklens {self.VIEW.name} --format {form}`"

    def export_commands(self) -> Iterator[Command]:
        """Yield a command for each format of the screen's reports."""
        for form in formats_of(self.VIEW.name):
            title = REPORTS[self.VIEW.name, form].title
            yield Command(f"Export as {title}", self.export_words(form), f"export({form!r})")

    def action_export(self, form: str) -> None:
        """Ask for the file of the report."""
        if reason := self.why_incomplete:
            self.refuse(f"nothing to export so far: {reason}")
            return
        report = REPORTS[self.VIEW.name, form]
        suggestion = f"locklens-{self.VIEW.name}.{report.suffix}"
        # What is shown now is exported: until the file is named, the files may be read anew.
        render = partial(render_report, self.VIEW.name, form, self.reported(), **self.report_facts)
        self.app.push_screen(ExportDialog(report.title, suggestion), partial(self._export_to, render))

    def _export_to(self, render: Callable[[], Printable], path: Path | None) -> None:
        if path is None:
            return

        def export(_: Run) -> str:
            from locklens.storage.files import write_atomically

            write_atomically(path, render().encode())
            return f"exported to {path}"

        Job(self, f"export {path}").start(export, self.say, lambda error: self.say(str(error)))
