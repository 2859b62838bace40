"""The requirements of a changed provider as lines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.lines import FilePlace, Line, Role, Span, line
from locklens.review.reports.why_words import kind_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.project.configuration import Configuration, Requirement
    from locklens.review.model import Change


def requirement_lines(requirement: Requirement, folder: str = "") -> Iterator[Line]:
    """A requirement with its constraint, and the one that it overrides; places relative to a root's folder."""
    place = FilePlace(requirement.file, requirement.line)
    constraint = requirement.constraint or "any version"
    via = f"  module {requirement.module}" if requirement.module else ""
    yield line(
        "  ",
        Span(place.seen_from(folder), Role.PLACE),
        f"  {constraint}",
        Span(f"{via}{kind_words(requirement)}", Role.DIM),
        hanging=4,
        copied=constraint,
        place=place,
    )
    if (hidden := requirement.overrides) is not None:
        overridden = FilePlace(hidden.file, hidden.line)
        override = f"    overrides {hidden.constraint or 'any version'} of {overridden.seen_from(folder)}"
        yield line(Span(override, Role.DIM), hanging=6, place=overridden)


def unrequired_line(change: Change, configuration: Configuration) -> Line:
    """The line of a change without any known requirement: why it is unknown, or that there is none."""
    if reason := configuration.unknown_reason:
        return line(Span(f"  unknown: {reason}", Role.WARN), hanging=4)
    return line(Span("  no requirement in the configuration", Role.WARN if change.new else Role.DIM), hanging=4)
