"""Continues without modules that cannot be read, where an operation stopped for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.operations.write.lock import Lock
from locklens.operations.write.lock_missing import LockMissing
from locklens.operations.write.upgrade import Upgrade

if TYPE_CHECKING:
    from locklens.operations.write.operation import Operation


def without_missing_modules(operation: Operation) -> Operation:
    """Return the operation that ignores what missing modules require; the same one where it never asks for them."""
    match operation:
        case Lock() | Upgrade():
            return replace(operation, allows_missing=True)
        case LockMissing():
            return LockMissing(tuple(replace(part, allows_missing=True) for part in operation.parts))
        case _:
            return operation
