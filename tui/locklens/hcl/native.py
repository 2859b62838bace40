"""HCL's native syntax: bodies, blocks and arguments, of which only those that are wanted get a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hcl.scan import ArgumentSpan, BlockExtent, BodySpan, Scanner
from locklens.hcl.source import SourceText, SyntaxProblemError
from locklens.hcl.values import Attribute, Block, Dynamic, Expression, Parsed, SyntaxProblem, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from locklens.hcl.strings import TextSpan


_NOTHING = Wanted()


class NativeBody:
    """The contents of a file or a block."""

    __slots__ = ("_blocks", "attributes")

    def __init__(self, attributes: Mapping[str, Attribute], blocks: Sequence[Block]) -> None:
        self.attributes = attributes
        self._blocks = blocks

    def blocks(self, kind: str, *, labels: int = 0) -> Sequence[Block]:
        """Return the blocks of a type that have so many labels."""
        return [block for block in self._blocks if block.type == kind and len(block.labels) == labels]

    def all_blocks(self) -> Sequence[Block]:
        """Return every block in the file's order."""
        return self._blocks

    def misfits(
        self, arguments: frozenset[str], blocks: Mapping[str, int], *, is_open: bool = False
    ) -> Sequence[SyntaxProblem]:
        """Return what does not fit a schema."""
        problems: list[SyntaxProblem] = []
        for name, attribute in self.attributes.items():
            if name in arguments or (is_open and name not in blocks):
                continue
            detail = f'An argument named "{name}" is not expected here.'
            if name in blocks:
                detail += f' Did you mean to define a block of type "{name}"?'
            problems.append(SyntaxProblem(attribute.place.line, attribute.place.column, "Unsupported argument", detail))
        for block in self._blocks:
            place, expected = block.place, blocks.get(block.type)
            if expected is None:
                if not is_open or block.type in arguments:
                    detail = f'Blocks of type "{block.type}" are not expected here.'
                    problems.append(SyntaxProblem(place.line, place.column, "Unsupported block type", detail))
            elif len(block.labels) != expected:
                word = "Missing" if len(block.labels) < expected else "Extraneous"
                place = block.label_places[expected] if len(block.labels) > expected else place
                detail = f"All {block.type} blocks must have {expected} label{'s' * (expected != 1)}."
                problems.append(SyntaxProblem(place.line, place.column, f"{word} label for {block.type}", detail))
        return problems


def parse_native(text: str, wanted: Wanted, known: Mapping[tuple[str | int, ...], str] | None = None) -> Parsed:
    """Read a configuration file, values with python-hcl2; `known` as of `hcl.parse`. Never raises."""
    from locklens.hcl.expressions import Expressions

    return _parse(SourceText(text), wanted, lambda source: Expressions(source, known).read)


def parse_native_constants(text: str) -> Parsed:
    """Read a file that holds nothing but constants; any other value in it is Dynamic. Never raises."""
    from locklens.hcl.constants import Constants

    return _parse(SourceText(text), None, lambda source: Constants(source).read)


def _parse(
    source: SourceText, wanted: Wanted | None, reader: Callable[[SourceText], Callable[[TextSpan], Expression]]
) -> Parsed:
    scanner = Scanner(source)
    try:
        body = scanner.file()
    except SyntaxProblemError as error:
        return Parsed(None, (*scanner.problems, source.problem_of(error)))
    reading = _Reading(source, reader(source))
    try:
        found = reading.body(body, wanted)
    except SyntaxProblemError as error:
        return Parsed(None, (*scanner.problems, source.problem_of(error)))
    return Parsed(found, (*scanner.problems, *reading.problems))


class _Reading:
    """Turns spans into values."""

    def __init__(self, source: SourceText, read: Callable[[TextSpan], Expression]) -> None:
        self.problems: list[SyntaxProblem] = []
        self._source = source
        self._read = read

    def body(self, body: BodySpan, wanted: Wanted | None) -> NativeBody:
        """Return a body's contents.

        Args:
            body: Where they are.
            wanted: What of it gets a value, and is left out with a problem where that is broken; None: everything.

        Raises:
            SyntaxProblemError: Everything is wanted, and something is broken.
        """
        attributes: dict[str, Attribute] = {}
        for argument in body.arguments.values():
            found = self._attribute(argument, wanted)
            if found is not None:
                attributes[found.name] = found
        return NativeBody(attributes, [self._block(block, wanted) for block in body.blocks])

    def _attribute(self, argument: ArgumentSpan, wanted: Wanted | None) -> Attribute | None:
        """Return an argument; None where its value is broken."""
        place = self._source.place(argument.start, argument.start + len(argument.name))
        if wanted is not None and not wanted.admits(argument.name):
            return Attribute(argument.name, Dynamic(self._source.place(*argument.value)), place)
        try:
            return Attribute(argument.name, self._read(argument.value), place)
        except SyntaxProblemError as error:
            if wanted is None:
                raise
            self.problems.append(self._source.problem_of(error))
            return None

    def _block(self, block: BlockExtent, wanted: Wanted | None) -> Block:
        place = self._source.place
        inner = None if wanted is None else wanted.blocks.get(block.type, _NOTHING)
        return Block(
            block.type,
            block.labels,
            self.body(block.body, inner),
            place(block.start, block.start + len(block.type)),
            tuple(place(*span) for span in block.label_spans),
            block.end,
        )


__all__ = ["NativeBody", "parse_native", "parse_native_constants"]
