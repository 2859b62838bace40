"""What all operations share: a signature is verified once."""

from __future__ import annotations

from kit.verified_once import verified_once

__all__ = ["verified_once"]
