"""The bounds of the packages that are installed, and the error for a folder that cannot be written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.packages import Limits
from locklens.text import disk_advice

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits()


def unwritable(folder: Path, error: OSError) -> ConfigurationError:
    """Return the error for a folder that packages cannot be written to."""
    reason = error.strerror or str(error)
    return ConfigurationError(f"cannot be written: {reason}", path=str(folder), hint=disk_advice(error))
