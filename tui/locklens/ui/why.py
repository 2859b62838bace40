"""Why a provider is there: its requirements as a tree of root and modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.findings import unknown_reason
from locklens.ui.detail import requirement_lines
from locklens.ui.spans import Line, Role, Span, counted, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.ui.outline import Node, Subject


def why_lines(node: Node) -> tuple[Line, ...]:
    """Returns the tree for each root that the row stands for; () for a row without changes."""
    return tuple(one for subject in node.subjects for one in _subject_lines(subject))


def _subject_lines(subject: Subject) -> Iterator[Line]:
    root, change = subject.root, subject.change
    yield line(Span(root.path or ".", Role.STRONG), Span(f"  {change.address}", Role.DIM), hanging=4)
    configuration = root.configuration
    if configuration is None:
        yield line(Span("  configuration not read yet", Role.DIM))
        yield line()
        return
    modules: dict[str, list[Line]] = {}
    for requirement in change.required_by:
        modules.setdefault(requirement.module, []).extend(requirement_lines(requirement, indent="     "))
    names = sorted(modules)
    for name in names:
        last = name == names[-1] and not configuration.missing_modules
        elbow = "└─ " if last else "├─ "
        yield line(f"  {elbow}", Span(f"module {name}" if name else "the root module", Role.HEADING), hanging=5)
        yield from modules[name]
    for number, module in enumerate(configuration.missing_modules, 1):
        elbow = "└─ " if number == len(configuration.missing_modules) else "├─ "
        yield line(f"  {elbow}", Span(f"cannot say: module {module.call} is not fetched", Role.WARN), hanging=5)
    if not names and not configuration.missing_modules:
        reason = unknown_reason(configuration)
        files = counted(len(configuration.files), "file")
        told = f"cannot say: {reason}" if reason else f"nothing in the configuration asks for it ({files} read)"
        yield line(Span(f"  {told}", Role.WARN), hanging=4)
    yield line()
