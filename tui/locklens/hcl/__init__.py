"""Reads both syntaxes of HCL into plain values with their places; the only user of python-hcl2.

python-hcl2 parses the expressions of configurations. It accepts much that the real parser refuses: arguments set
twice, lines broken inside strings, unknown escapes, missing line ends. A more lenient parser sees a different
configuration than the tools, so the ends of arguments, blocks and strings are found here, as HCL finds them, and
python-hcl2 gets the wanted expressions one by one, with bounds on their size. Lock files hold constants alone, which
are read here as strictly as HCL reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hcl.values import (
    Attribute,
    Block,
    Body,
    Dynamic,
    Expression,
    IndexStep,
    ListExpr,
    Literal,
    ObjectExpr,
    Parsed,
    Reference,
    SourcePlace,
    SyntaxProblem,
    Wanted,
    decode,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CONFIGURATION_BYTES = 8 * 1024 * 1024
"""Larger files are not read: configurations have kilobytes."""


def parse(
    data: bytes, *, json: bool, wanted: Wanted, known: Mapping[tuple[str | int, ...], str] | None = None
) -> Parsed:
    """Read a configuration file.

    Arguments that are not wanted are Dynamic and not checked: the real parser may refuse them. In JSON all get a value;
    elsewhere `known` values replace references in those that are wanted, by their steps.

    Returns:
        The body, and the problems of what is read of it. Never raises for the contents of a file.
    """
    if len(data) > MAX_CONFIGURATION_BYTES:
        return _too_large()
    if json:
        return parse_json(data)
    from locklens.hcl.expressions import Expressions
    from locklens.hcl.native import parse_native

    return parse_native(decode(data), lambda source: Expressions(source, known).read, wanted)


def parse_json(data: bytes) -> Parsed:
    """Read a file in HCL's JSON syntax."""
    if len(data) > MAX_CONFIGURATION_BYTES:
        return _too_large()
    from locklens.hcl.json_syntax import parse_json_body

    return parse_json_body(decode(data))


def parse_constants(data: bytes) -> Parsed:
    """Read a file in native syntax that holds constants alone, as lock files do; any other value is Dynamic."""
    if len(data) > MAX_CONFIGURATION_BYTES:
        return _too_large()
    from locklens.hcl.native import Constants, parse_native

    return parse_native(decode(data), lambda source: Constants(source).read)


def _too_large() -> Parsed:
    detail = f"Files of more than {MAX_CONFIGURATION_BYTES // 1024**2} MiB are not read."
    return Parsed(None, (SyntaxProblem(1, 1, "File too large", detail),))


def parse_expression(text: str) -> Expression | None:
    """Read a native expression from a text of its own, such as a string in JSON syntax; None if the text is none."""
    from locklens.hcl.expressions import parse_whole_expression

    return parse_whole_expression(text)


__all__ = [
    "MAX_CONFIGURATION_BYTES",
    "Attribute",
    "Block",
    "Body",
    "Dynamic",
    "Expression",
    "IndexStep",
    "ListExpr",
    "Literal",
    "ObjectExpr",
    "Parsed",
    "Reference",
    "SourcePlace",
    "SyntaxProblem",
    "Wanted",
    "decode",
    "encode",
    "parse",
    "parse_constants",
    "parse_expression",
    "parse_json",
]
