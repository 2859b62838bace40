"""The values of HCL: places, expressions, attributes, blocks and problems. Nothing here reads text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SourcePlace(Struct, frozen=True):
    """A place in a file.

    Offsets and columns count characters of the text that `decode` gives for the file's bytes, byte order mark
    included in offsets and not in columns. So `text[:start] + new + text[end:]` replaces exactly what is meant;
    `encode` turns it into bytes again.

    Attributes:
        line: From 1.
        column: From 1.
        start: Offset of the first character.
        end: Offset behind the last character.
    """

    line: int
    column: int
    start: int
    end: int


class SyntaxProblem(Struct, frozen=True):
    """Something in a file that the real tools refuse, in their words.

    Attributes:
        content: Stands for what cannot be read, where the words do not say all of it; "" where they do.
    """

    line: int
    column: int
    summary: str
    detail: str
    content: str = ""


class Literal(Struct, frozen=True):
    """A constant. Templates without variables have been evaluated.

    Attributes:
        value: None is the constant null. Whole numbers are int, however they are written.
        place: A string's place has its quotes in it.
        is_plain: True if the text between the quotes is the value itself, without escapes and templates.
    """

    value: str | int | float | bool | None
    place: SourcePlace
    is_plain: bool = True

    @property
    def keyword(self) -> str:
        """The word of a constant that is one, which is a name where a reference is wanted; "" for any other."""
        if self.value is None:
            return "null"
        return str(self.value).lower() if isinstance(self.value, bool) else ""

    @property
    def text(self) -> str | None:
        """The value converted to a string as the tools convert it; None for null."""
        if self.value is None or isinstance(self.value, str):
            return self.value
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if isinstance(self.value, int):
            return str(self.value)
        text = repr(self.value)
        return f"{self.value:.20f}".rstrip("0") if "e" in text else text


class ListExpr(Struct, frozen=True):
    """A list in brackets."""

    items: tuple[Expression, ...]
    place: SourcePlace


class ObjectExpr(Struct, frozen=True):
    """An object in braces; a bare word as a key is a Literal. Keys may repeat."""

    items: tuple[tuple[Expression, Expression], ...]
    place: SourcePlace


class IndexStep(str):
    """A step of a reference that stands in brackets, `["k"]`, and so is no attribute."""

    __slots__ = ()


class Reference(Struct, frozen=True):
    """A name and constant steps from it, such as `aws.east` or `a.b["k"]`; the last is a Key."""

    parts: tuple[str | int, ...]
    place: SourcePlace


class Dynamic(Struct, frozen=True):
    """An expression whose value only an evaluation with variables and functions can tell, or that was not wanted.

    Attributes:
        place: All of it.
        prefix: The constant steps it begins with, where it is a reference that goes on with a computed index.
        is_call: True if it begins with a function's name and its arguments.
    """

    place: SourcePlace
    prefix: tuple[str | int, ...] = ()
    is_call: bool = False


Expression = Literal | ListExpr | ObjectExpr | Reference | Dynamic


class Attribute(Struct, frozen=True):
    """An argument.

    Attributes:
        name: As written.
        value: What is behind the equals sign.
        place: The name's.
    """

    name: str
    value: Expression
    place: SourcePlace


class Block(Struct, frozen=True):
    """A nested block.

    Attributes:
        type: The first word.
        labels: Without quotes.
        body: What is between the braces.
        place: The type's, in JSON the property's name.
        label_places: One for each label, with its quotes.
        end: Offset behind the closing brace; 0 in JSON, where blocks have no text of their own.
    """

    type: str
    labels: tuple[str, ...]
    body: Body
    place: SourcePlace
    label_places: tuple[SourcePlace, ...]
    end: int = 0


class Wanted(Struct, frozen=True):
    """The arguments of a body to read, each with its value.

    Attributes:
        arguments: Their names, None for every argument.
        blocks: What is wanted of nested blocks, by type.
    """

    arguments: frozenset[str] | None = frozenset()
    blocks: dict[str, Wanted] = field(default_factory=dict)

    def admits(self, name: str) -> bool:
        """True if an argument is wanted."""
        return self.arguments is None or name in self.arguments


class Body(Protocol):
    """The contents of a file or a block, of either syntax."""

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The arguments by name. JSON does not tell arguments from blocks, so there every property is one."""

    def blocks(self, kind: str, *, labels: int = 0) -> Sequence[Block]:
        """Return the nested blocks of one type.

        Args:
            kind: The type.
            labels: How many labels such a block has. Native blocks with another number are left out.
        """

    def all_blocks(self) -> Sequence[Block]:
        """Return every nested block in the file's order; () for JSON, which cannot tell without a schema."""

    def misfits(
        self, arguments: frozenset[str], blocks: Mapping[str, int], *, is_open: bool = False
    ) -> Sequence[SyntaxProblem]:
        """Return what does not fit a schema, as problems.

        Args:
            arguments: Names that are arguments.
            blocks: Types of nested blocks, with the number of their labels.
            is_open: True if other arguments and blocks may stand beside them.
        """


class Parsed(Struct, frozen=True):
    """A file that was read.

    Attributes:
        body: None where the syntax is broken, since missing arguments are then unknown.
        problems: Empty for a file that the real tools read without an error.
    """

    body: Body | None
    problems: tuple[SyntaxProblem, ...]


def decode(data: bytes) -> str:
    """Return the text that places refer to: UTF-8, with stray bytes kept as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text that `decode` gave."""
    return text.encode("utf-8", "surrogateescape")
