"""The dialog that downloads packages to test causes that files alone cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.ui.prove.dialog import DownloadDialog

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from locklens.doctor.model import Diagnosis
    from locklens.operations.doctor.request import DoctorRequest
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ProvingPlanned, ReviewEvent
    from locklens.review.model import RootReview


class DoctorProveDialog(DownloadDialog):
    """Diagnoses again with downloads; `diagnosis` is None until that is done.

    Args:
        source: Diagnoses, and downloads the packages.
        request: The diagnosis.
    """

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
            return "nothing to download: each locked h1 is known, or no registry can be asked for its package"
        return "packages were hashed, and each cause was tested again"
