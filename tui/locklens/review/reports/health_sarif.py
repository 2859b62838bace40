"""The health of roots as SARIF 2.1.0: the findings as of a review, and the limits as notifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.review.reports import sarif
from locklens.text import json_text

if TYPE_CHECKING:
    from locklens.review.health import Health
    from locklens.text import Printable


def render(health: Health) -> Printable:
    """Return the document as indented text, ending in a line feed."""
    review = replace(health.review, notes=(*health.review.notes, *health.limits))
    return json_text(sarif.document(review, "health"))
