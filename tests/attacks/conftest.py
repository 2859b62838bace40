"""The screens are waited for as in their own tests: by what is left to be handled, and not by the clock."""

from __future__ import annotations

from ui.conftest import counted_waiting

__all__ = ["counted_waiting"]
