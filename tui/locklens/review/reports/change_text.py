"""The lines below a change in the text report: what requires the provider, who signed it, and what its hashes are."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.review.model import Change, ChangeKind, Review, RootReview
from locklens.review.reports.evidence import unreported_problem_lines
from locklens.review.reports.evidence_lines import each_hash_lines, mirror_lines, why_unknown
from locklens.review.reports.lines import Line, line, plain_lines
from locklens.review.reports.release_lines import released_lines
from locklens.review.reports.requirement_lines import requirement_lines, unrequired_line
from locklens.review.reports.signer_lines import signer_change_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SAME_VERSION = {
    ChangeKind.NEW_HASHES,
    ChangeKind.REMOVED_HASHES,
    ChangeKind.CHANGED_HASHES,
    ChangeKind.REPLACED_HASHES,
}
_REQUIREMENTS_SHOWN = 8
_INDENT = 8
_LABEL = 13


def required_by_text(change: Change, root: RootReview) -> Iterator[str]:
    """Yield the places of the configuration that require a provider; the first of many."""
    if root.configuration is None or not root.configuration.has_files:
        return
    lines = [each for one in change.required_by[:_REQUIREMENTS_SHOWN] for each in requirement_lines(one)]
    hidden = len(change.required_by) - _REQUIREMENTS_SHOWN
    if hidden > 0:
        lines.append(line(f"  {hidden} more places"))
    printed = plain_lines(lines or [unrequired_line(change, root.configuration)], indent=" " * (_INDENT + _LABEL - 2))
    for label, text in zip_longest(["REQUIRED BY"], printed, fillvalue=""):
        yield f"{'':{_INDENT}}{label:{_LABEL}}{text[_INDENT + _LABEL :]}"


def evidence_text(change: Change, review: Review, shared: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Yield the signers, the unknown facts that no finding reports, and each hash that differs in the same version."""
    old, new = change.old_signer, change.new_signer
    lines: list[Line] = []
    if change.new is not None and (old is not None or new is not None):
        lines += signer_change_lines(old, new, unknown=why_unknown(change, review, is_asking=False))
    lines += released_lines(change)
    lines += mirror_lines(change)
    lines += unreported_problem_lines(change, shared)
    if change.kind in _SAME_VERSION:
        lines += each_hash_lines(replace(change, kept=()), is_asking=False, in_full=True)
    yield from plain_lines(lines, indent=" " * _INDENT)
