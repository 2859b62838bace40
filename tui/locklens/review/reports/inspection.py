"""What is inside packages, and what differs between two: the lines that reports print and screens show.

The worst and the rarest come first, since a reviewer may read only the first lines.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from locklens.executables import NOTABLE_MEANINGS, notable_in
from locklens.lines import Line, Role, Span, heading, labelled, line, plain_lines
from locklens.review.inspection import Inspections, ModuleChange, each_of, settings_of
from locklens.review.platform_agreement import ReleaseAgreement, agreement_of
from locklens.review.reports.advisories import advisory_lines
from locklens.text import Printable, counted, listing, page, size_words, visible

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from locklens.review.inspection import (
        InspectedPackage,
        Inspection,
        ModuleDifference,
        PackageDifferences,
        PackedFileDifference,
        TextDifference,
        ValueDifference,
    )

_PROVIDERS = 6
"""The most providers that one line lists."""

_NAMES = 8
"""The most names that one line lists."""

_MODULES = 40
"""The most modules that are listed; an upgrade over a year changes some hundred, most of them slightly."""

_DIFF_LINES = 60
"""The most lines of the difference between two texts."""

_CANNOT_SAY = "cannot say"

_CHANGE_ROLES = {
    ModuleChange.REPLACED: Role.WARN,
    ModuleChange.NEW: Role.ADDED,
    ModuleChange.DOWN: Role.WARN,
    ModuleChange.GONE: Role.REMOVED,
    ModuleChange.UP: Role.PLAIN,
}


def inspection_lines(
    found: Inspection, *, columns: int = 0, shared: Container[ModuleDifference] = frozenset()
) -> Iterator[Line]:
    """Yield what differs between two packages, or what is inside each of them, without `shared` differences of modules.

    The old and the new side stand in columns of that width after the labels; for 0, with an arrow between them.
    """
    agreement = agreement_of(found)
    if not found.pairs:
        yield from _unpaired_lines(found, agreement)
        return
    (old, new), *others = found.pairs
    yield from _pair_lines(found, old, new, agreement, columns=columns, shared=shared)
    if agreement is not None:
        # How the packages of other platforms differ is listed by the agreement.
        yield from _unread_lines(package for pair in others for package in pair if package.problem)
        return
    for pair in others:
        yield Line()
        for package in pair:
            yield from _title_lines(package)
            yield from _package_lines(package)


def _pair_lines(
    found: Inspection,
    old: InspectedPackage,
    new: InspectedPackage,
    agreement: ReleaseAgreement | None,
    *,
    columns: int,
    shared: Container[ModuleDifference],
) -> Iterator[Line]:
    """Yield what differs between the first pair of packages; what is inside each if that is unknown."""
    yield line(Span(_title(new), Role.STRONG), f"  {old.name} → {new.name}")
    yield from _sources((old, new))
    if agreement is not None:
        yield from agreement_lines(agreement)
    yield from _advisories(found)
    if found.differences is not None:
        if columns:
            yield _side_by_side("", (), old.name, new.name, columns)
        yield from _difference_lines(found.differences, columns, shared)
        return
    yield labelled("DIFFERENCES", Span(f"{_CANNOT_SAY}: not both packages were inspected", Role.WARN))
    for package in (old, new):
        if package.facts is not None:
            yield Line()
            yield line(Span(f"inside {package.name}", Role.STRONG))
            yield from _package_lines(package)


def _unpaired_lines(found: Inspection, agreement: ReleaseAgreement | None) -> Iterator[Line]:
    """Yield what is inside each package; if they are compared between platforms, only of the first and unread ones."""
    packages = [package for side in found.packages for package in side]
    for number, package in enumerate(packages):
        if agreement is not None and number and not package.problem:
            continue
        if number:
            yield Line()
        yield from _title_lines(package)
        if not number:
            if agreement is not None:
                yield from agreement_lines(agreement)
            yield from _advisories(found)
        yield from _package_lines(package)


def _title_lines(package: InspectedPackage) -> Iterator[Line]:
    yield line(Span(_title(package), Role.STRONG), f"  {package.name}")
    yield from _sources((package,))


def _advisories(found: Inspection) -> Iterator[Line]:
    if found.advisories is not None:
        yield from advisory_lines(found.advisories)
    elif any(package.facts is not None for side in found.packages for package in side):
        words = "not looked up: no database is kept, see locklens advisories update"
        yield labelled("ADVISORIES", Span(words, Role.DIM))


def agreement_lines(found: ReleaseAgreement) -> Iterator[Line]:
    """Yield whether the packages of a release agree between platforms, the odd ones first."""
    names = [str(platform) for platform in found.platforms]
    if found.odd:
        words = Span(f"{listing([str(name) for name in found.odd], 3)}: not like the others", Role.WARN)
    elif found.differences:
        words = Span("they differ, and no majority says which is odd", Role.WARN)
    elif len(names) > 1:
        words = Span(f"{counted(len(names), 'platform')} agree: {listing(names, _NAMES)}", Role.GOOD)
    else:
        words = Span(f"{_CANNOT_SAY}: too few packages could be read", Role.WARN)
    yield labelled("PLATFORMS", words)
    for one in found.differences:
        yield labelled("", f"{one.property}  ", Span(one.words(), Role.WARN), copied=one.property)
    for platform, why in found.unknown:
        yield labelled("", Span(f"{platform}: {_CANNOT_SAY}: {why}", Role.WARN))


def _title(package: InspectedPackage) -> str:
    if package.address is None:
        return "package"
    return f"{package.address} {package.platform}"


def _sources(packages: Iterable[InspectedPackage]) -> Iterator[Line]:
    sources: dict[str, list[str]] = {}
    for package in packages:
        if package.problem:
            yield labelled("NOT READ", Span(f"{package.name}: {package.problem}", Role.WARN))
        elif package.version is not None:
            sources.setdefault(package.source, []).append(package.name)
    for source, names in sources.items():
        yield labelled("FROM", f"{' and '.join(names)}: {source}")


def _unread_lines(packages: Iterable[InspectedPackage]) -> Iterator[Line]:
    """Yield which packages of other platforms could not be inspected, grouped by the reason."""
    platforms: dict[str, list[str]] = {}
    for package in packages:
        platforms.setdefault(f"{package.name}: {package.problem}", []).append(str(package.platform))
    for problem, names in platforms.items():
        yield labelled("NOT READ", Span(f"{listing(names, _NAMES)} {problem}", Role.WARN))


def _difference_lines(found: PackageDifferences, columns: int, shared: Container[ModuleDifference]) -> Iterator[Line]:
    """Yield what differs between two packages, the worst and rarest first."""
    for words in found.unknown:
        yield labelled("CANNOT SAY", Span(words, Role.WARN))
    yield from _notable_lines(found)
    yield from _file_lines(found.files, columns)
    yield from _module_lines(found.modules, columns, shared)
    if found.toolchain is not None:
        yield _side_by_side("TOOLCHAIN", (), *_values(found.toolchain), columns)
    for number, setting in enumerate(found.settings):
        yield _side_by_side("" if number else "SETTINGS", (setting.name, ": "), *_values(setting), columns)
    old, new = found.size
    if old == new:
        yield labelled("SIZE", f"{size_words(new)}, the same")
    else:
        yield _side_by_side("SIZE", (), size_words(old), f"{size_words(new)} ({_growth(old, new)})", columns)
    if _is_alike(found) and not found.unknown:
        yield labelled("INSIDE", "the same toolchain, settings, modules, notable packages and files")
    for text in found.texts:
        yield from _text_lines(text)


def _is_alike(found: PackageDifferences) -> bool:
    differing = found.toolchain, found.settings, found.modules, found.files, found.notable_new, found.notable_gone
    return not any(differing)


def _notable_lines(found: PackageDifferences) -> Iterator[Line]:
    for label, names, role in (
        ("NEWLY LINKED", found.notable_new, Role.WARN),
        ("NOT LINKED", found.notable_gone, Role.DIM),
    ):
        for number, name in enumerate(names):
            words = f"{NOTABLE_MEANINGS.get(name, '')}{'' if role is Role.WARN else ', no longer'}"
            yield labelled("" if number else label, Span(name, role), f"  {words}", copied=name)


def _file_lines(files: Sequence[PackedFileDifference], columns: int) -> Iterator[Line]:
    for number, file in enumerate(files):
        name = f"{file.state:8} {file.name}", "  "
        old, new = ("" if size is None else size_words(size) for size in (file.old, file.new))
        yield _side_by_side("" if number else "FILES", name, old, new, columns, copied=file.name)


def _module_lines(
    modules: Sequence[ModuleDifference], columns: int, shared: Container[ModuleDifference]
) -> Iterator[Line]:
    if not modules:
        return
    yield labelled("MODULES", _counts(modules))
    own = [one for one in modules if one not in shared]
    for one in own[:_MODULES]:
        yield _module_line(one, columns)
    if len(own) > _MODULES:
        yield _more(len(own) - _MODULES)
    if len(own) < len(modules):
        words = "all of them" if not own else f"and {len(modules) - len(own)} more"
        yield labelled("", Span(f"{words} as in other providers, listed above", Role.DIM))


def _more(number: int) -> Line:
    return labelled("", Span(f"and {number} more, which --format json lists", Role.DIM))


def _counts(modules: Sequence[ModuleDifference]) -> str:
    counts = {kind: sum(one.kind is kind for one in modules) for kind in ModuleChange}
    return ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)


def _module_line(one: ModuleDifference, columns: int, *more: Span) -> Line:
    name = Span(f"{one.kind.value:8} ", _CHANGE_ROLES[one.kind]), one.path, "  "
    old, new = ("" if module is None else module.words for module in (one.old, one.new))
    return _side_by_side("", name, old, new, columns, *more, copied=one.path)


def _side_by_side(
    label: str, name: Sequence[Span | str], old: str, new: str, columns: int, *more: Span, copied: str = ""
) -> Line:
    """Build the line of a difference: both sides in columns if they fit, or else with an arrow between them.

    The name ends with its separator; () for none. A side is "" for none, and `more` follows both.
    """
    used = sum(len(one.text if isinstance(one, Span) else one) for one in name)
    name_width, side_width = columns * 2 // 5, columns * 3 // 10
    if columns and used <= name_width and len(old) < side_width and len(new) <= side_width:
        space = " " * (name_width - used)
        return labelled(label, *name, space, (old or "-").ljust(side_width), new or "-", *more, copied=copied)
    return labelled(label, *name, " → ".join(filter(None, (old, new))), *more, copied=copied)


def _values(value: ValueDifference) -> tuple[str, str]:
    old, new = ("not set" if one is None else one or "empty" for one in (value.old, value.new))
    return old, new


def _growth(old: int, new: int) -> str:
    sign = "+" if new > old else "-"
    share = f", {sign}{round(abs(new - old) * 100 / old)} %" if old else ""
    return f"{sign}{size_words(abs(new - old))}{share}"


def _text_lines(text: TextDifference) -> Iterator[Line]:
    yield from heading(text.name)
    shown = _diff(text)
    for number, words in enumerate(shown):
        if number == _DIFF_LINES:
            yield line(Span(f"… {counted(len(shown) - number, 'more line')}", Role.DIM))
            return
        role = {"+": Role.ADDED, "-": Role.REMOVED, "@": Role.DIM}.get(words[:1], Role.PLAIN)
        yield line(Span(words, role))


def _diff(text: TextDifference) -> list[str]:
    """Return the lines that differ, each with the lines just before and after it, and their places."""
    from difflib import unified_diff

    old, new = ((one or "").splitlines()[:_COMPARED_LINES] for one in (text.old, text.new))
    return list(unified_diff(old, new, n=1, lineterm=""))[2:]


_COMPARED_LINES = 2000
"""The most lines of a text that are compared: the time grows with the product of both numbers of lines."""


def _package_lines(package: InspectedPackage) -> Iterator[Line]:
    facts = package.facts
    if facts is None:
        return
    program = facts.executable
    if facts.bounded is not None:
        yield labelled("NOT READ", Span(facts.bounded, Role.WARN))
    if program is None:
        yield labelled("PROGRAM", Span("none: no file has the name of a provider's program", Role.WARN))
    else:
        named = f"{facts.executable_name}  {program.format.value}, {size_words(program.size)}"
        yield labelled("PROGRAM", named, copied=facts.executable_name or "")
        if program.unread is not None:
            yield labelled("CANNOT SAY", Span(f"how it was built: {program.unread}", Role.WARN))
        notable = notable_in(program.functions or ())
        for number, (name, count) in enumerate(notable.items()):
            words = f"  {NOTABLE_MEANINGS[name]} ({counted(count, 'function')})"
            yield labelled("" if number else "LINKED", name, Span(words, Role.DIM), copied=name)
        if program.build is not None:
            build = program.build
            replaced = [module for module in build.modules if module.replaced_by is not None]
            for number, module in enumerate(replaced):
                yield labelled("" if number else "REPLACED", Span(f"{module.path}  {module.words}", Role.WARN))
            yield labelled("MODULES", counted(len(build.modules), "module"))
            yield labelled("TOOLCHAIN", build.go, copied=build.go)
            for number, (name, value) in enumerate(settings_of(build).items()):
                yield labelled("" if number else "SETTINGS", f"{name}: {value}")
    others = [one.name for one in facts.files if one.name != facts.executable_name]
    yield labelled("FILES", listing(others, _NAMES) if others else "the program alone")
    yield labelled("SIZE", size_words(facts.size))
    yield labelled("HASH", facts.h1, copied=facts.h1)


def shared_lines(found: Inspections) -> Iterator[Line]:
    """Yield the differences of modules that several providers have, each once."""
    shared = found.shared
    if shared:
        yield line(Span("several providers", Role.STRONG))
        yield labelled("MODULES", _counts(tuple(shared)))
        for one, names in islice(shared.items(), _MODULES):
            yield _module_line(one, 0, Span(f"  in {listing(names, _PROVIDERS)}", Role.DIM))
        if len(shared) > _MODULES:
            yield _more(len(shared) - _MODULES)


def _parts(found: Inspection | Inspections) -> Iterator[list[Line]]:
    """Yield the lines of what several providers have in common, then of each provider."""
    shared: Container[ModuleDifference] = frozenset()
    if isinstance(found, Inspections):
        shared = found.shared
        yield from filter(None, [list(shared_lines(found))])
    for one in each_of(found):
        yield list(inspection_lines(one, shared=shared))


def render(found: Inspection | Inspections) -> Printable:
    """Return the report as text."""
    return _page_of(list(plain_lines(part)) for part in _parts(found))


def markdown(found: Inspection | Inspections) -> Printable:
    """Return the report for a comment: a heading for each provider, all else in a block of code."""
    return _page_of(_markdown_part([one.text for one in part]) for part in _parts(found))


def _page_of(parts: Iterable[list[str]]) -> Printable:
    """Return parts with an empty line between them."""
    lines: list[str] = []
    for number, part in enumerate(parts):
        lines += ["", *part] if number else part
    return page(lines)


def _markdown_part(lines: list[str]) -> list[str]:
    title, rest = (lines[0], lines[1:]) if lines else ("nothing was inspected", [])
    fence = "`" * (max(map(len, re.findall("`+", "\n".join(rest))), default=0) + 3)
    return ["### " + _escaped(visible(title)), "", f"{fence}text", *rest, fence]


def _escaped(text: str) -> str:
    return "".join(f"\\{one}" if one in "\\`*_[]<>#@" else one for one in text)
