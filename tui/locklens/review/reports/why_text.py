"""The reasons for a provider as plain text: one section per root, blocking ones first."""

from __future__ import annotations

import re
from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING

from locklens.review.model import Severity, worst
from locklens.review.reports.why_words import (
    NAMES_SHOWN,
    NOTHING_TO_UPGRADE,
    alike,
    finding_title,
    held_words,
    kind_words,
    module_names,
    newest_words,
    place_words,
    unseen_words,
    upgrade_words,
    uses_words,
    version_range,
)
from locklens.selection import Selection
from locklens.text import counted, listing, page, visible

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from locklens.project.configuration import Configuration, Requirement
    from locklens.review.why import RootWhy, Why
    from locklens.selection import (
        ConstraintConflict,
        HeldBack,
        RequiringModule,
        Unselectable,
        VersionChoices,
    )
    from locklens.text import Printable

_WIDTH = 120
_LABEL = 13


def render(why: Why, *, lists_roots: bool = False) -> Printable:
    """Return the report; `lists_roots` names every root of a block that several have, else at most NAMES_SHOWN."""
    return page(_lines(why, lists_roots=lists_roots))


def _lines(why: Why, *, lists_roots: bool) -> Iterator[str]:
    roots = sorted(why.roots, key=lambda root: (_rank(root), root.path))
    if len(roots) > 1:
        yield f"{len(roots)} roots require or lock {why.asked}:"
        yield from _overview(roots, lists_roots=lists_roots)
    silences = Counter(root.silence for root in roots if _is_silent(root))
    shared = {silence: count for silence, count in silences.items() if count > 1}
    blocks: dict[tuple[str, ...], list[RootWhy]] = {}
    for root in roots:
        blocks.setdefault(tuple(_seen_from_root(root, _root(root, shared))), []).append(root)
    for number, (block, members) in enumerate(blocks.items()):
        if number or len(roots) > 1:
            yield ""
        first = members[0]
        address = f"{first.explanation.address}  ({first.tool.product})"
        if len(members) == 1:
            yield f"{first.path or '.'}  {address}"
            yield from _folded_lines(_root(first, shared))
        else:
            yield f"{len(members)} roots  {address}"
            names = _root_names([root.path for root in members], lists_roots=lists_roots)
            yield from _folded_lines([*_labelled("roots", [names]), *block])
    for silence, count in shared.items():
        yield ""
        yield f"{silence}, so newer versions are unknown in {count} roots"
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


def _rank(root: RootWhy) -> int:
    """The sort key: the worst root first."""
    if root.explanation.conflicts:
        return -1
    severity = worst(root.findings)
    return severity.rank if severity else len(Severity)


def _is_silent(root: RootWhy) -> bool:
    return root.explanation.offer is None and not root.tool.is_builtin(root.explanation.address)


def _root_names(paths: Sequence[str], *, lists_roots: bool) -> str:
    names = [path or "." for path in paths]
    return listing(names, len(names) if lists_roots else NAMES_SHOWN)


def _seen_from_root(root: RootWhy, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with the root's folder as `./`, so that equal blocks of roots are equal."""
    pattern = re.compile(rf"(?<![\w./-]){re.escape(root.path)}/") if root.path else None
    for line in lines:
        yield pattern.sub("./", line) if pattern is not None else line


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


def _root(root: RootWhy, shared: Container[str] = ()) -> Iterator[str]:
    """Yield the lines of a root, not folded; the reasons in `shared` why registries are silent are left out."""
    explanation = root.explanation
    is_builtin = root.tool.is_builtin(explanation.address)
    for finding in root.findings:
        if finding.rule == "LK019":
            yield from _labelled("unreadable", [f"{finding.file}:{finding.line}: {finding.message}"])
    yield from _labelled("locked", [f"never: built into {root.tool.product}"] if is_builtin else _locked(root))
    yield from _labelled("constraints", _constraints(root))
    for conflict in explanation.conflicts:
        yield from _labelled("CONFLICT", _conflict(conflict, root.configuration))
    if explanation.offer is not None:
        yield from _offer(explanation.offer, is_required=bool(explanation.requirements))
    elif not is_builtin and root.silence not in shared:
        yield from _labelled("registry", [f"{root.silence}, so newer versions are unknown"])
    yield from _askers(root)
    others = [finding for finding in root.findings if finding.rule != "LK019"]
    lines = (f"{finding.severity.upper()} {finding.rule}  {finding_title(finding)}" for finding in others)
    yield from _labelled("findings", lines)


def _locked(root: RootWhy) -> Iterator[str]:
    explanation = root.explanation
    entry = explanation.locked
    if root.lock_file is None:
        yield "no: there is no lock file"
    elif entry is None and any(finding.rule == "LK019" for finding in root.findings):
        yield "unknown: the lock file cannot be read"
    elif entry is None:
        yield f"no: {root.lock_file} has no block for it, so `{root.tool.command} init` adds one"
    else:
        place = f"{entry.version}  {root.lock_file}:{entry.line}"
        against, offer = explanation.against, explanation.offer
        if not explanation.requirements:
            yield place
        elif against is None:
            yield f"{place}  satisfies the constraints"
        else:
            yield f"{place}  DOES NOT SATISFY:"
            yield from (f"  {hold}" for hold in against.holds)
            if not explanation.conflicts and (offer is None or isinstance(offer.upgraded, Selection)):
                yield f"`{root.tool.command} init` refuses it; `init -upgrade` selects another version"
        if explanation.requirements and entry.constraints != str(explanation.constraints):
            recorded = entry.constraints or "none"
            yield f"the lock file records different constraints: {recorded}"


def _constraints(root: RootWhy) -> Iterator[str]:
    explanation = root.explanation
    if not explanation.requirements:
        return
    yield str(explanation.constraints) or "none: any release satisfies"
    if explanation.is_recorded:
        yield f"recorded in the lock file: {root.configuration.unknown_reason}"
    if not explanation.conflicts and str(explanation.essential) != str(explanation.constraints):
        yield f"in effect: {str(explanation.essential) or 'any release'}"


def _conflict(conflict: ConstraintConflict, configuration: Configuration) -> Iterator[str]:
    yield "no version can satisfy " + ("this:" if len(conflict) == 1 else "these together:")
    width = max(len(str(demand.term)) for demand in conflict)
    for demand in conflict:
        for number, place in enumerate(_places(demand.requirements, configuration)):
            yield f"  {'' if number else str(demand.term):{width}}  {place}"


def _places(requirements: Sequence[Requirement], configuration: Configuration) -> Iterator[str]:
    """Yield the places of requirements; those in a module with several calls once."""
    places: dict[str, list[str]] = {}
    for one in requirements:
        places.setdefault(place_words(one), []).append(one.module)
    for place, modules in [*places.items()][:NAMES_SHOWN]:
        yield place + (f"  {module_names(modules, configuration)}" if any(modules) else "")
    if len(places) > NAMES_SHOWN:
        yield f"and {len(places) - NAMES_SHOWN} more places"


# The answer of the registry


def _offer(offer: VersionChoices, *, is_required: bool) -> Iterator[str]:
    registry = [newest_words(offer.newest)]
    if not offer.has_locked:
        registry.append("does not list the locked version")
    yield from _labelled("registry", registry)
    if not is_required:
        yield from _labelled("upgrade", [NOTHING_TO_UPGRADE])
    elif isinstance(offer.upgraded, Selection):
        yield from _labelled("upgrade", [upgrade_words(offer, offer.upgraded)])
        yield from _labelled("newer", _held(offer.newer))
    else:
        yield from _labelled("upgrade", _unselectable(offer.upgraded))


def _unselectable(found: Unselectable) -> Iterator[str]:
    if found.conflicts:
        yield "selects nothing: the constraints conflict"
    elif not found.held:
        yield f"selects nothing: {found.obstacle.value}"
    else:
        yield f"selects nothing: {found.obstacle.value}; nearest versions:"
        yield from (f"  {line}" for line in _held(found.held))


def _held(groups: Iterable[HeldBack]) -> Iterator[str]:
    for group in groups:
        yield f"{version_range(group.versions)}  {held_words(group.holds)}"


# The requirements


def _askers(root: RootWhy) -> Iterator[str]:
    configuration = root.configuration
    if not configuration.has_files:
        yield from _labelled("required by", [f"unknown: {configuration.unknown_reason}"])
        return
    lines: list[str] = []
    for modules, asker in alike(root.explanation.askers):
        lines += [module_names(modules, configuration), *(f"  {line}" for line in _of_module(asker))]
    unseen = [words for words, _ in unseen_words(root)]
    yield from _labelled("required by", lines or ["nothing in the files that were read" if unseen else "nothing"])
    yield from _labelled("not read", unseen)


def _of_module(asker: RequiringModule) -> Iterator[str]:
    width = max((len(place_words(one)) for one in asker.declared), default=0)
    for one in asker.declared:
        yield f"{place_words(one):{width}}  {one.constraint or 'any version'}{kind_words(one)}"
        if (hidden := one.overrides) is not None:
            yield f"  overrides {hidden.constraint or 'any version'} of {hidden.file}:{hidden.line}"
    if not asker.uses:
        return
    yield uses_words(asker)


def _labelled(label: str, lines: Iterable[str]) -> Iterator[str]:
    """Put a label before the first line, and the others below it."""
    for number, text in enumerate(lines):
        yield "  " + ("" if number else label).ljust(_LABEL) + text


def _folded_lines(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from _folded(line[: _LABEL + 2], line[_LABEL + 2 :])


def _folded(lead: str, text: str) -> list[str]:
    indent = len(text) - len(text.lstrip(" "))
    return wrap(
        visible(text.lstrip(" ")), _WIDTH,
        initial_indent=lead + " " * indent, subsequent_indent=" " * (len(lead) + indent + 2),
        break_long_words=False, break_on_hyphens=False, drop_whitespace=True, replace_whitespace=False,
    )  # fmt: skip
