"""Choices that a key steps through."""

from __future__ import annotations

from enum import StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


class CyclicChoice(StrEnum):
    """Choices in the order of their steps; the first follows the last."""

    @property
    def following(self) -> Self:
        """The next choice, cyclically."""
        order = list(type(self))
        return order[(order.index(self) + 1) % len(order)]
