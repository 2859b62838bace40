"""What is inside packages, and what differs between two: the lines that reports print and screens show.

The worst and the rarest come first, since a reviewer reads the first lines only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.executables.notable import MEANING, notable_in
from locklens.lines import Line, Role, Span, heading, labelled, line, plain_lines
from locklens.review.inspection import ModuleChange, settings_of
from locklens.review.platform_agreement import ReleaseAgreement, agreement_of
from locklens.review.reports.advisories import advisory_lines
from locklens.text import Printable, counted, listing, page, size_words, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.executables import GoModule
    from locklens.review.inspection import (
        InspectedPackage,
        Inspection,
        ModuleDifference,
        PackageDifferences,
        PackedFileDifference,
        TextDifference,
        ValueDifference,
    )

_NAMES = 8
"""Names that one line lists."""

_MODULES = 40
"""Modules that are listed one by one; an upgrade of a year has some hundred, most of them a little newer."""

_DIFF_LINES = 60
"""Lines of the difference of a text."""

_CANNOT_SAY = "cannot say"

_CHANGE_ROLES = {
    ModuleChange.REPLACED: Role.WARN,
    ModuleChange.NEW: Role.ADDED,
    ModuleChange.DOWN: Role.WARN,
    ModuleChange.GONE: Role.REMOVED,
    ModuleChange.UP: Role.PLAIN,
}


def inspection_lines(found: Inspection) -> Iterator[Line]:
    """Yield what differs between two packages, or what is inside of each."""
    agreement = agreement_of(found)
    for old, new in found.pairs[:1]:
        yield line(Span(_title(new), Role.STRONG), f"  {old.name} → {new.name}")
        yield from _sources((old, new))
        if agreement is not None:
            yield from agreement_lines(agreement)
        differences = found.differences
        yield from _advisories(found)
        if differences is not None:
            yield from _difference_lines(differences)
        else:
            yield labelled("DIFFERENCES", Span(f"{_CANNOT_SAY}: not both packages were looked into", Role.WARN))
    rest = found.pairs[1:] or ([(one,) for side in found.packages for one in side] if not found.pairs else ())
    for number, packages in enumerate(rest):
        if agreement is not None and (number or found.pairs) and not any(package.problem for package in packages):
            continue  # Other platforms' packages differ in what was said above.
        if number or found.pairs:
            yield Line()
        for package in packages:
            yield line(Span(_title(package), Role.STRONG), f"  {package.name}")
            yield from _sources((package,))
            if agreement is not None and not number and not found.pairs:
                yield from agreement_lines(agreement)
            if not number and not found.pairs:
                yield from _advisories(found)
            yield from _package_lines(package)


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
    for package in packages:
        if package.problem:
            yield labelled("NOT READ", Span(f"{package.name}: {package.problem}", Role.WARN))
        elif package.version is not None:
            yield labelled("FROM", f"{package.version}: {package.source}")


def _difference_lines(found: PackageDifferences) -> Iterator[Line]:
    """Yield what differs between two packages, the worst and rarest first."""
    for words in found.unknown:
        yield labelled("CANNOT SAY", Span(words, Role.WARN))
    yield from _notable_lines(found)
    yield from _file_lines(found.files)
    yield from _module_lines(found.modules)
    if found.toolchain is not None:
        yield labelled("TOOLCHAIN", _arrow(found.toolchain))
    for number, setting in enumerate(found.settings):
        yield labelled("" if number else "SETTINGS", f"{setting.name}: {_arrow(setting)}")
    yield labelled("SIZE", _size(*found.size))
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
            words = f"{MEANING.get(name, '')}{'' if role is Role.WARN else ', no longer'}"
            yield labelled("" if number else label, Span(name, role), f"  {words}", copied=name)


def _file_lines(files: Sequence[PackedFileDifference]) -> Iterator[Line]:
    for number, file in enumerate(files):
        sizes = " → ".join(size_words(size) for size in (file.old, file.new) if size is not None)
        yield labelled("" if number else "FILES", f"{file.state:8} {file.name}  ({sizes})", copied=file.name)


def _module_lines(modules: Sequence[ModuleDifference]) -> Iterator[Line]:
    if not modules:
        return
    counts = {kind: sum(one.kind is kind for one in modules) for kind in ModuleChange}
    words = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
    yield labelled("MODULES", words)
    for one in modules[:_MODULES]:
        sides = " → ".join(_module(module) for module in (one.old, one.new) if module is not None)
        yield labelled(
            "", Span(f"{one.kind.value:8} ", _CHANGE_ROLES[one.kind]), f"{one.path}  {sides}", copied=one.path
        )
    if len(modules) > _MODULES:
        yield labelled("", Span(f"and {len(modules) - _MODULES} more, which --format json lists", Role.DIM))


def _module(module: GoModule) -> str:
    if module.replaced_by is None:
        return module.version
    by = module.replaced_by
    return f"{module.version} => {by.path}{f' {by.version}' if by.version else ''}"


def _arrow(value: ValueDifference) -> str:
    return f"{'not set' if value.old is None else value.old} → {'not set' if value.new is None else value.new}"


def _size(old: int, new: int) -> str:
    if old == new:
        return f"{size_words(new)}, the same"
    sign = "+" if new > old else "-"
    share = f", {sign}{abs(new - old) * 100 // old} %" if old else ""
    return f"{size_words(old)} → {size_words(new)} ({sign}{size_words(abs(new - old))}{share})"


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
    """Return the lines that differ, without context: a release's notes are those that were added."""
    from difflib import unified_diff

    old, new = ((one or "").splitlines()[:_COMPARED_LINES] for one in (text.old, text.new))
    return list(unified_diff(old, new, n=1, lineterm=""))[2:]


_COMPARED_LINES = 2000
"""Lines of a text that are compared: the time grows with the product of both sides'."""


def _package_lines(package: InspectedPackage) -> Iterator[Line]:
    """Yield what is inside one package."""
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
            words = f"  {MEANING[name]} ({counted(count, 'function')})"
            yield labelled("" if number else "LINKED", name, Span(words, Role.DIM), copied=name)
        if program.build is not None:
            build = program.build
            replaced = [module for module in build.modules if module.replaced_by is not None]
            for number, module in enumerate(replaced):
                yield labelled("" if number else "REPLACED", Span(f"{module.path}  {_module(module)}", Role.WARN))
            yield labelled("MODULES", counted(len(build.modules), "module"))
            yield labelled("TOOLCHAIN", build.go, copied=build.go)
            for number, (name, value) in enumerate(settings_of(build).items()):
                yield labelled("" if number else "SETTINGS", f"{name}: {value}")
    others = [one.name for one in facts.files if one.name != facts.executable_name]
    yield labelled("FILES", listing(others, _NAMES) if others else "the program alone")
    yield labelled("SIZE", size_words(facts.size))
    yield labelled("HASH", facts.h1, copied=facts.h1)


def render(found: Inspection) -> Printable:
    """Return the report as text."""
    return page(plain_lines(inspection_lines(found)))


def markdown(found: Inspection) -> Printable:
    """Return the report for a comment: a table of what differs, all else in a block of code."""
    lines = [one.text for one in inspection_lines(found)]
    title, rest = (lines[0], lines[1:]) if lines else ("nothing was looked into", [])
    fence = "`" * (max((len(run) for each in rest for run in _backticks(each)), default=0) + 3)
    return page(["### " + _escaped(visible(title)), "", f"{fence}text", *rest, fence])


def _backticks(text: str) -> list[str]:
    import re

    return re.findall("`+", text)


def _escaped(text: str) -> str:
    return "".join(f"\\{one}" if one in "\\`*_[]<>#@" else one for one in text)
