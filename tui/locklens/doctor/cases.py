"""A cause is tested case by case, in an order that its test gives: the first that applies is the judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from locklens.doctor.model import Judgement

_P = ParamSpec("_P")


def first_case(
    cases: Iterable[Callable[_P, Judgement | None]], *args: _P.args, **kwargs: _P.kwargs
) -> Judgement | None:
    """Return the judgement of the first case that applies to what is known; None if none does."""
    return next((judged for case in cases if (judged := case(*args, **kwargs)) is not None), None)
