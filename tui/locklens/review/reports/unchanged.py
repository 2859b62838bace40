"""The report on two equal files, in the very words of the full reports and without loading what those need."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from locklens.workspace.glance import Unchanged
