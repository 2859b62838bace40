"""What all attacks share: screens are waited for as in their own tests."""

from __future__ import annotations

from ui.conftest import counted_waiting, running

__all__ = ["counted_waiting", "running"]
