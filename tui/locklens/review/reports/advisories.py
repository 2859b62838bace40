"""What advisories say about one package or two: lines that reports print and screens show, and their JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote

from msgspec import Meta

from locklens.advisories import ATTRIBUTION, AdvisoryDifferences, AdvisoryMatch, Linkage
from locklens.lines import Line, Role, Span, labelled
from locklens.review.reports.documents import JsonStruct
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.review.inspection import ChangeAdvisories

_NAMED = 12
"""The most advisories of one kind that are listed."""

_WORDS = {
    Linkage.LINKED: "linked by name",
    Linkage.NOT_LINKED: "not linked by name",
    Linkage.NO_SYMBOLS: "no symbol data",
    Linkage.UNKNOWN: "cannot say whether it is linked",
    Linkage.OTHER_PLATFORM: "for other platforms",
}


class AdvisoryJson(JsonStruct, frozen=True):
    """An advisory; linked is null where it cannot be said, false is "not linked by name"."""

    id: str
    aliases: list[str]
    module: str
    version: str
    itself: Annotated[bool, Meta(description="True if it is about the provider itself.")]
    linked: bool | None
    linkage: Linkage
    functions: Annotated[list[str], Meta(description="Those that the advisory names and the program has.")]
    fixed_in: str | None
    summary: str

    @classmethod
    def of(cls, match: AdvisoryMatch) -> AdvisoryJson:
        """Describe an advisory."""
        return cls.like(match, itself=match.is_own, linked=match.is_linked)


class AdvisoriesJson(JsonStruct, frozen=True):
    """The advisories of one package, or of an older and a newer one; those that the versions match, linked or not.

    `present` has those of the only package, or of the newer one where the older one is not known.
    """

    as_of: Annotated[str | None, Meta(description="The date of the database; null where it has none.")]
    source: Annotated[str | None, Meta(description="Of the database; null where none is kept, and nothing is known.")]
    introduced: list[AdvisoryJson]
    fixed: list[AdvisoryJson]
    both: list[AdvisoryJson]
    present: list[AdvisoryJson]
    unknown: Annotated[list[str], Meta(description="What cannot be said, and why.")]
    ignored: Annotated[list[str], Meta(description="Ids that the policy ignores.")]

    @classmethod
    def of(cls, known: ChangeAdvisories | None) -> AdvisoriesJson:
        """Describe what is known; of nothing where no database is kept."""
        differences = known.differences if known is not None else None
        sides = differences or AdvisoryDifferences()
        return cls.like(
            sides,
            as_of=known.as_of if known is not None else None,
            source=known.source if known is not None else None,
            present=known.now.matches if known is not None and differences is None else (),
            unknown=unknown_words(known) if known is not None else (),
            ignored=known.ignored if known is not None else (),
        )


def unknown_words(known: ChangeAdvisories) -> Sequence[str]:
    """Return what cannot be said, as sentences without a full stop."""
    if known.differences is not None:
        return known.differences.unknown
    return [each.words for each in known.now.unjudged]


def advisory_lines(known: ChangeAdvisories | None) -> Iterator[Line]:
    """Yield what is known about advisories: what a newer package introduces first, then what it fixes and keeps."""
    if known is None:
        return
    differences = known.differences
    where = f", {known.platform}" if known.platform else ""
    yield labelled("ADVISORIES", _head_words(known), Span(f"  {known.date_words}{where}", Role.DIM))
    if differences is None:
        yield from _match_lines("", known.now.matches, Role.WARN)
    else:
        yield from _match_lines("introduced", differences.introduced, Role.WARN)
        yield from _match_lines("fixed", differences.fixed, Role.GOOD)
        yield from _match_lines("in both", differences.both, Role.PLAIN)
    for words in unknown_words(known):
        yield labelled("", Span(f"cannot say: {words}", Role.WARN))
    if not known.platform:
        yield labelled("", Span("modules inside: not inspected, see locklens inspect", Role.DIM))
    if known.ignored:
        yield labelled("", Span(f"ignored by the policy: {listing(known.ignored)}", Role.DIM))
    yield labelled("", Span(f"database: {known.source}; {ATTRIBUTION}", Role.DIM))


def advisory_section(known: ChangeAdvisories | None) -> Iterator[Line]:
    """Yield an empty line and what is known about the advisories of a change; nothing where there is nothing to say."""
    if known is not None and not known.is_empty:
        yield Line()
        yield from advisory_lines(known)


def _head_words(known: ChangeAdvisories) -> str:
    if known.differences is None:
        return _present_words(known)
    from locklens.review.rules.inside import sides_words  # loads versions, which a review without changes does not need

    return sides_words(known)


def _present_words(known: ChangeAdvisories) -> str:
    matches = known.now.matches
    if not matches:
        return "none known"
    inside = [each for each in matches if not (each.is_own and each.counts)]
    numbers = {linkage: sum(each.linkage is linkage for each in inside) for linkage in _WORDS}
    unknown = numbers.pop(Linkage.UNKNOWN)
    own = len(matches) - len(inside)
    named = [f"{own} of the provider itself"] if own else []
    named += [f"{number} {_WORDS[linkage]}" for linkage, number in numbers.items() if number]
    named += [f"cannot say of {unknown} whether linked"] if unknown else []
    return f"{counted(len(matches), 'advisory', 'advisories')}: {', '.join(named)}"


def _match_lines(word: str, matches: Sequence[AdvisoryMatch], role: Role) -> Iterator[Line]:
    """Yield a line for each advisory that counts, and one for the others."""
    from locklens.review.rules.inside import match_words

    counting = sorted((each for each in matches if each.counts), key=_worst_first)
    lead = f"{word:10} " if word else ""
    for match in counting[:_NAMED]:
        more = f"  {'the provider itself' if match.is_own else _linked_words(match)}"
        yield labelled("", Span(lead, role), match_words(match), Span(more, Role.DIM), copied=match.id)
    if len(counting) > _NAMED:
        yield labelled("", Span(f"{lead}{len(counting) - _NAMED} more, which --format json lists", Role.DIM))
    for linkage in (Linkage.NOT_LINKED, Linkage.OTHER_PLATFORM):
        if number := sum(each.linkage is linkage for each in matches):
            yield labelled("", Span(f"{lead}{number} {_WORDS[linkage]}", Role.DIM))


def _linked_words(match: AdvisoryMatch) -> str:
    if not match.functions:
        return _WORDS[match.linkage]
    first = unquote(match.functions[0].rpartition("/")[2])
    return f"linked: {first}{f' and {len(match.functions) - 1} more' if len(match.functions) > 1 else ''}"


def _worst_first(match: AdvisoryMatch) -> tuple[bool, bool, str]:
    return not match.is_own, match.is_linked is not True, match.id


def advisory_summary(known: ChangeAdvisories | None) -> str:
    """Return what is known in one line; "" where there is nothing to say."""
    if known is None or known.is_empty:
        return ""
    words = [_head_words(known)]
    if own := [name for each in known.now.unjudged if each.is_own for name in each.ids]:
        words.append(f"{counted(len(own), 'advisory', 'advisories')} of the provider itself that cannot be judged")
    words += [f"{len(known.ignored)} ignored by the policy"] if known.ignored else []
    where = f", {known.platform}" if known.platform else ", without the modules inside"
    return f"{', '.join(words)} ({known.date_words}{where})"
