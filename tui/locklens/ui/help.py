"""The help of each screen's keys, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.words import SIGN_MEANINGS
from locklens.ui.explained import MEANINGS
from locklens.ui.keyboard import UNSUPPORTED, KeyTable
from locklens.ui.keyboard.preview import PREVIEW
from locklens.ui.keyboard.review import REVIEW
from locklens.ui.keyboard.signers import SIGNERS
from locklens.ui.signing import TIERS
from locklens.ui.spans import Line, Role, Span, heading, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WIDTH = 18


def review_help() -> Iterator[Line]:
    """The review's keys, then the signs, the words for hashes, and the filter's words."""
    yield from _key_lines(REVIEW)
    others = {
        "?": "a finding about the root itself",
        "<": "a conflict that git left",
        "✓": "reviewed",
        "·": "not reviewed yet",
        "-": "removed; as a mark: some of the roots are reviewed",
    }
    yield from _section("SIGNS", {**SIGN_MEANINGS, **others})
    yield from _section("HASHES EXPLAINED, the last column", MEANINGS)
    yield from _section("PROOF OF A HASH", _PROOFS)
    yield from _section("SIGNED BY", _TIERS)
    yield from _section("FILTER", _REVIEW_FILTER)


def signers_help() -> Iterator[Line]:
    """The keys of the screen of signers, and its words."""
    yield from _key_lines(SIGNERS)
    yield from _section("SIGNED BY", _TIERS)


def preview_help() -> Iterator[Line]:
    """The keys of the Preview, and its signs."""
    yield line("Nothing is on disk before enter. Then each file is replaced in one step, all of them or none,")
    yield line("and Z on any screen undoes it, also in a later run, as long as the files are still the ones written.")
    yield line()
    yield from _key_lines(PREVIEW)
    yield from _section("STEPS", {"ok": "done", "..": "going on", "--": "still to come", "!!": "failed"})
    yield from _section("SIGNS", SIGN_MEANINGS)


_TIERS = {tier.value: meaning for tier, meaning in TIERS.items()}
_PROOFS = {
    "signed": "a zh that the publisher's signed SHA256SUMS lists",
    "computed": "an h1 of a package that is signed and was hashed here",
    "reported": "only the registry says so, unsigned",
    "mirror": "only a mirror says so",
    "STALE": "was locked, and is no longer in the publisher's SHA256SUMS",
    "UNKNOWN": "nothing explains it, or nobody could be asked",
}
_REVIEW_FILTER = {
    "text": "in provider, root, version, finding, file, hash or signer",
    "sev>=warn": "warnings and worse; also sev:block, sev<=info, sev:ok",
    "kind:upgrade": "and the other kinds: downgrade, new, removed, moved, constraints, replaced",
    "root:prod": "the root's path has this in it",
    "provider:aws": "the provider's address has this in it",
    "rule:LK005": "has a finding of this rule",
    "proof:unknown": "an added hash has this proof; proof:stale also finds those that went or stayed",
    "unreviewed": "not marked yet; reviewed is the opposite",
    "-word": "anything but that",
}


def _key_lines(table: KeyTable) -> Iterator[Line]:
    for group in table.groups:
        yield line(Span(group.title.upper(), Role.HEADING))
        if group is UNSUPPORTED:
            yield line(
                Span("  These keys answer that they are not supported yet. Upper case will plan a write.", Role.DIM),
                hanging=2,
            )
        yield from (_entry(key.shown, key.words) for key in group.keys)
        yield line()
    yield line(Span("MOUSE", Role.HEADING))
    yield _entry("click", "a row, its fold sign, its mark, a tab, a key below")
    yield _entry("double click", "open the detail")


def _section(title: str, meanings: Mapping[str, str]) -> Iterator[Line]:
    yield from heading(title)
    yield from (_entry(word, meaning) for word, meaning in meanings.items())


def _entry(what: str, words: str) -> Line:
    return line("  ", Span(what.ljust(_WIDTH), Role.STRONG), words, hanging=_WIDTH + 2)
