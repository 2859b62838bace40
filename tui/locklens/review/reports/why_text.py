"""The reasons for a provider as plain text: one section for roots that read the same, blocking ones first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.review.reports.lines import plain_lines
from locklens.review.reports.why_lines import block_head, ranked_roots, root_why_lines, why_blocks
from locklens.review.reports.why_words import NAMES_SHOWN, silence_words
from locklens.text import counted, listing, page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.review.why import RootWhy, Why
    from locklens.text import Printable


def render(why: Why, *, lists_roots: bool = False) -> Printable:
    """Return the report; `lists_roots` names every root of a block that several have, else at most NAMES_SHOWN."""
    return page(_lines(why, lists_roots=lists_roots))


def _lines(why: Why, *, lists_roots: bool) -> Iterator[str]:
    roots = ranked_roots(why)
    if len(roots) > 1:
        yield f"{len(roots)} roots require or lock {why.asked}:"
        yield from _overview(roots, lists_roots=lists_roots)
    silences = Counter(root.silence for root in roots if _is_silent(root))
    shared = {silence: count for silence, count in silences.items() if count > 1}
    limit = len(roots) if lists_roots else NAMES_SHOWN
    for number, (members, block) in enumerate(why_blocks(why, shared=shared)):
        if number or len(roots) > 1:
            yield ""
        first = members[0]
        yield from plain_lines([block_head(members, address=str(first.explanation.address), limit=limit)])
        # The paths of one root are printed in full, so that they can be opened from where the report is read.
        lines = block if len(members) > 1 else root_why_lines(first, "", shared=shared)
        yield from plain_lines(lines, indent="  ")
    for silence, count in shared.items():
        yield ""
        yield f"{silence_words(silence)} in {count} roots"
    if why.unsure:
        yield ""
        yield "Could not determine whether these roots require it:"
        reasons: dict[str, list[str]] = {}
        for one in why.unsure:
            reasons.setdefault(one.reason, []).append(one.path)
        for reason, paths in reasons.items():
            yield f"  {_root_names(paths, lists_roots=lists_roots)}  {reason}"
    if why.others:
        yield ""
        verbs = "neither requires nor locks" if why.others == 1 else "neither require nor lock"
        yield f"{counted(why.others, 'more root')} {verbs} it."


def _is_silent(root: RootWhy) -> bool:
    return root.explanation.offer is None and not root.tool.is_builtin(root.explanation.address)


def _root_names(paths: Sequence[str], *, lists_roots: bool) -> str:
    names = [path or "." for path in paths]
    return listing(names, len(names) if lists_roots else NAMES_SHOWN)


def _overview(roots: Sequence[RootWhy], *, lists_roots: bool) -> Iterator[str]:
    """One line for each of several roots, or for roots that are alike in it."""
    alike_roots: dict[tuple[str, str, str], list[str]] = {}
    for root in roots:
        explanation = root.explanation
        entry = explanation.locked
        states = ["CONFLICT"] * bool(explanation.conflicts) + [one.severity.upper() for one in root.findings]
        state = states[0] if states else "ok"
        version = str(entry.version) if entry else "not locked"
        alike_roots.setdefault((version, state, str(explanation.constraints)), []).append(root.path)
    rows = []
    for (version, state, constraints), paths in alike_roots.items():
        is_folded = len(roots) > NAMES_SHOWN and len(paths) > 1 and not lists_roots
        names = [f"{len(paths)} roots"] if is_folded else [path or "." for path in paths]
        rows += [(name, version, state, constraints) for name in names]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        yield (
            "  " + "  ".join((*(f"{text:{width}}" for text, width in zip(row, widths, strict=False)), row[3])).rstrip()
        )
