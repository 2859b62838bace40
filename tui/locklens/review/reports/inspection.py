"""What is inside packages, and what differs between two: the lines that reports print and screens show.

The worst and the rarest come first, since a reviewer reads the first lines only.
"""

from __future__ import annotations

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

_PROVIDERS = 6
"""Providers that one line lists."""

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


def inspection_lines(
    found: Inspection, *, columns: int = 0, shared: Container[ModuleDifference] = frozenset()
) -> Iterator[Line]:
    """Yield what differs between two packages, or what is inside of each.

    Args:
        found: The packages.
        columns: Columns behind the labels, for the old and the new side beside each other; 0 for arrows between them.
        shared: Differences of modules that were said before, for several providers at once.
    """
    agreement = agreement_of(found)
    for old, new in found.pairs[:1]:
        yield line(Span(_title(new), Role.STRONG), f"  {old.name} → {new.name}")
        yield from _sources((old, new))
        if agreement is not None:
            yield from agreement_lines(agreement)
        differences = found.differences
        yield from _advisories(found)
        if differences is not None:
            if columns:
                yield _beside("", (), old.name, new.name, columns)
            yield from _difference_lines(differences, columns, shared)
        else:
            yield labelled("DIFFERENCES", Span(f"{_CANNOT_SAY}: not both packages were looked into", Role.WARN))
            for package in (old, new):
                if package.facts is not None:
                    yield Line()
                    yield line(Span(f"inside {package.name}", Role.STRONG))
                    yield from _package_lines(package)
    rest = found.pairs[1:] or ([(one,) for side in found.packages for one in side] if not found.pairs else ())
    if agreement is not None and found.pairs:
        # Of other platforms' packages it was said above in what they differ.
        yield from _unread_lines(package for packages in rest for package in packages if package.problem)
        return
    for number, packages in enumerate(rest):
        if agreement is not None and number and not any(package.problem for package in packages):
            continue
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
        yield _beside("TOOLCHAIN", (), *_values(found.toolchain), columns)
    for number, setting in enumerate(found.settings):
        yield _beside("" if number else "SETTINGS", (setting.name, ": "), *_values(setting), columns)
    old, new = found.size
    if old == new:
        yield labelled("SIZE", f"{size_words(new)}, the same")
    else:
        yield _beside("SIZE", (), size_words(old), f"{size_words(new)} ({_growth(old, new)})", columns)
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
        yield _beside("" if number else "FILES", name, old, new, columns, copied=file.name)


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
        yield labelled("", Span(f"{words} as in other providers, said above", Role.DIM))


def _more(number: int) -> Line:
    return labelled("", Span(f"and {number} more, which --format json lists", Role.DIM))


def _counts(modules: Sequence[ModuleDifference]) -> str:
    counts = {kind: sum(one.kind is kind for one in modules) for kind in ModuleChange}
    return ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)


def _module_line(one: ModuleDifference, columns: int, *more: Span) -> Line:
    name = Span(f"{one.kind.value:8} ", _CHANGE_ROLES[one.kind]), one.path, "  "
    old, new = ("" if module is None else _module(module) for module in (one.old, one.new))
    return _beside("", name, old, new, columns, *more, copied=one.path)


def _beside(
    label: str, name: Sequence[Span | str], old: str, new: str, columns: int, *more: Span, copied: str = ""
) -> Line:
    """Build the line of what differs: both sides in columns of their own where they fit, or with an arrow between.

    Args:
        label: The label.
        name: The name of what differs, with what separates it from the sides; () for none.
        old: "" where the older side has none.
        new: "" where the newer side has none.
        columns: Columns behind the label; 0 for an arrow.
        *more: What is said behind both sides.
        copied: The text for the clipboard.
    """
    taken = sum(len(one.text if isinstance(one, Span) else one) for one in name)
    first, side = columns * 2 // 5, columns * 3 // 10
    if columns and taken <= first and len(old) < side and len(new) <= side:
        space = " " * (first - taken)
        return labelled(label, *name, space, (old or "-").ljust(side), new or "-", *more, copied=copied)
    return labelled(label, *name, " → ".join(filter(None, (old, new))), *more, copied=copied)


def _module(module: GoModule) -> str:
    if module.replaced_by is None:
        return module.version
    by = module.replaced_by
    return f"{module.version} => {by.path}{f' {by.version}' if by.version else ''}"


def _values(value: ValueDifference) -> tuple[str, str]:
    old, new = ("not set" if one is None else one or "empty" for one in (value.old, value.new))
    return old, new


def _growth(old: int, new: int) -> str:
    sign = "+" if new > old else "-"
    share = f", {sign}{abs(new - old) * 100 // old} %" if old else ""
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
            words = f"  {NOTABLE_MEANINGS[name]} ({counted(count, 'function')})"
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
    parts = [list(plain_lines(part)) for part in _parts(found)]
    return page(text for number, part in enumerate(parts) for text in (*([""] if number else []), *part))


def markdown(found: Inspection | Inspections) -> Printable:
    """Return the report for a comment: a heading for each provider, all else in a block of code."""
    parts = (_markdown_part([one.text for one in part]) for part in _parts(found))
    return page(text for number, part in enumerate(parts) for text in (*([""] if number else []), *part))


def _markdown_part(lines: list[str]) -> list[str]:
    title, rest = (lines[0], lines[1:]) if lines else ("nothing was looked into", [])
    fence = "`" * (max((len(run) for each in rest for run in _backticks(each)), default=0) + 3)
    return ["### " + _escaped(visible(title)), "", f"{fence}text", *rest, fence]


def _backticks(text: str) -> list[str]:
    import re

    return re.findall("`+", text)


def _escaped(text: str) -> str:
    return "".join(f"\\{one}" if one in "\\`*_[]<>#@" else one for one in text)
