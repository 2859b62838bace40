"""Every dialog stands in the middle, above a screen that stays in sight, with inputs that can be seen."""

from __future__ import annotations

import pkgutil
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input
from ui.conftest import ServingSource

import locklens.ui
from locklens.errors import RunCancelledError
from locklens.lines import line
from locklens.operations.doctor import DoctorRequest
from locklens.operations.inspection.inspect import InspectionRequest
from locklens.operations.write.resolve import Clash
from locklens.operations.write.seen_keys import SeenKey, SeenKeys
from locklens.operations.write.undo import AppliedWrite
from locklens.policy import Pin
from locklens.storage.journal import Record
from locklens.trust import SigningKey
from locklens.ui.dialogs import Dialog, ReadingDialog, TextDialog
from locklens.ui.dialogs.choices import ClashesDialog, CopyChoice, CopyDialog, SidesDialog, WritesDialog
from locklens.ui.dialogs.form import ExportDialog, FormDialog, trust_form
from locklens.ui.doctor import DoctorProveDialog, PasteDialog
from locklens.ui.prove import DownloadDialog, ProveDialog
from locklens.ui.shell.keys import Palette
from locklens.ui.why import InsideDialog, WhyDialog

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from ui.conftest import Driver, Running, Samples

    from locklens.review.model import RootReview

BASES = {Dialog, ReadingDialog, DownloadDialog}


def modal_screens() -> set[type[ModalScreen[Any]]]:
    """All that any module of the screens defines."""
    for module in pkgutil.walk_packages(locklens.ui.__path__, "locklens.ui."):
        import_module(module.name)
    found: set[type[ModalScreen[Any]]] = set()
    waiting: list[type[ModalScreen[Any]]] = [ModalScreen]
    while waiting:
        waiting += (more := waiting.pop().__subclasses__())
        found |= {one for one in more if one.__module__.startswith("locklens.")}
    return found


KEY = SigningKey("A" * 40, ("Acme",), "RSA 4096", "2024-01-15", None, False, False)
SEEN = SeenKeys(Pin("acme"), (SeenKey(KEY.fingerprint, KEY, ("acme/demo 1.4.2",)),), ())

MAKERS: dict[type[Dialog[Any]], Callable[[Driver, Samples], Dialog[Any]]] = {
    ClashesDialog: lambda _, __: ClashesDialog([Clash("live", "acme/demo", "why", ("ours", "1"), ("theirs", "2"))]),
    CopyDialog: lambda _, __: CopyDialog([CopyChoice("row", "text")]),
    DoctorProveDialog: lambda *_: DoctorProveDialog(WaitingSource(), DoctorRequest(None, Path(), {})),
    ExportDialog: lambda _, __: ExportDialog("JSON", "name.json"),
    FormDialog: lambda _, __: trust_form(SEEN, date(2026, 5, 4)),
    PasteDialog: lambda _, __: PasteDialog(),
    InsideDialog: lambda *_: InsideDialog(WaitingSource(), InspectionRequest("acme/demo", Path(), "1.0.0", "1.1.0")),
    ProveDialog: lambda on, samples: ProveDialog(waiting_source(), samples.full(), frozenset(), lambda _: None),
    SidesDialog: lambda _, __: SidesDialog(lambda *_: None),
    TextDialog: lambda _, __: TextDialog("Title", [line("text")]),
    WhyDialog: lambda _, samples: WhyDialog(samples.address(), refuse, lambda _: "", bool),
    WritesDialog: lambda _, __: WritesDialog(
        [AppliedWrite(Record("1", b"", (), "command", "2026-05-04T10:00:00", ()), ("a",), False)]
    ),
}


def waiting_source() -> ServingSource:
    """A source whose downloads are estimated until they are cancelled."""

    def work(*given: Any) -> tuple[RootReview, ...]:
        given[-1].wait(60)
        return ()

    return ServingSource(proving=work)


class WaitingSource(ServingSource):
    """A source whose diagnosis takes until it is cancelled."""

    def diagnose(self, *_: Any, cancel: threading.Event | None = None, **__: Any) -> Any:
        assert cancel is not None
        cancel.wait(60)
        raise RunCancelledError

    inspect = diagnose


def refuse(**_: object) -> Any:
    from locklens.errors import LockLensError

    raise LockLensError("nothing of that here")


def test_every_dialog_has_the_one_base_and_is_looked_at_here() -> None:
    found = modal_screens() - {Palette}
    assert {one for one in found if not issubclass(one, Dialog)} == set()
    assert found - BASES == MAKERS.keys()
    style = (Path(locklens.ui.__file__).parent / "app.tcss").read_text()
    assert [one.__name__ for one in MAKERS if one.__name__ in style] == []


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30)])
async def test_each_stands_in_the_middle_above_the_screen(
    width: int, height: int, samples: Samples, running: Running
) -> None:
    async with running(samples.full(), size=(width, height)) as on:
        for kind, make in MAKERS.items():
            on.app.push_screen(make(on, samples))
            await on.pilot.pause()
            dialog = on.app.screen
            assert isinstance(dialog, kind)
            region = dialog.query_one("#dialog").region
            assert abs(region.x - (width - region.right)) <= 1, (kind, region)
            assert abs(region.y - (height - region.bottom)) <= 1, (kind, region)
            assert dialog.styles.background.a < 1, "what one decides about stays in sight"
            frame = dialog.query_one("#dialog").background_colors[1]
            for shown in dialog.query(Input):
                if shown.region.area and not shown.has_focus and shown.id != "dialog-search-text":
                    assert shown.background_colors[1] != frame, "an empty field without the focus is seen too"
            await on.press("escape")
            await on.settle()  # A dialog with work in the background closes when that has ended.
            assert on.is_on_top, kind


async def test_a_box_with_more_lines_than_it_shows_has_no_empty_rows(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.pilot.resize_terminal(100, 30)
        made = [Record(str(number), b"", (), "command", "2026-05-04T10:00:00", ()) for number in range(30)]
        on.app.push_screen(WritesDialog([AppliedWrite(record, ("a",), False) for record in made]))
        await on.pilot.pause()
        box, keys = (on.app.screen.query_one(name).region for name in ("#dialog", "#dialog-keys"))
        assert keys.bottom == box.bottom - 1, "the frame follows"


async def test_the_command_of_a_write_is_shown_whole(samples: Samples, running: Running) -> None:
    command = (
        f"locklens merge --prefer theirs {' '.join(f'--root live/{number}' for number in range(9))} --tool opentofu"
    )
    async with running(samples.full()) as on:
        await on.pilot.resize_terminal(80, 24)
        record = Record("1", b"", (), command, "2026-05-04T10:00:00", ())
        on.app.push_screen(WritesDialog([AppliedWrite(record, ("a",), False)]))
        await on.pilot.pause()
        assert command in " ".join(on.text.replace("│", " ").split())


async def test_a_key_that_does_nothing_is_answered(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        for kind in MAKERS.keys() - {ExportDialog, FormDialog, PasteDialog}:
            on.app.push_screen(MAKERS[kind](on, samples))
            await on.pilot.pause()
            words = "J does nothing in this dialog; its keys are below"
            await on.press("J")
            if words not in on.text:  # what arrives in the dialog meanwhile takes the answer off, as in use
                await on.pilot.pause(0.2)
                await on.press("J")
            assert words in on.text, kind
            await on.press("j")
            assert "J does nothing" not in on.text, kind
            await on.press("escape")
            await on.settle()
