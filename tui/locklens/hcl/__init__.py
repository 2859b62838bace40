"""Text to plain values with their places, for both syntaxes of HCL; the only user of python-hcl2.

python-hcl2 parses the expressions of configurations. It accepts much that the real parser refuses: arguments set
twice, lines broken inside strings, unknown escapes, missing line ends; and a reader that is milder than the tools sees
another configuration than they do. So where arguments, blocks and strings begin and end is found here, as HCL finds it,
and python-hcl2 gets the expressions that are wanted, one by one and bounded. Lock files hold constants alone, which are
read here, as strictly as HCL does.
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

    Args:
        data: The file's bytes.
        json: True if the file is in HCL's JSON syntax.
        wanted: Which arguments get a value; in JSON all of them do. Others are Dynamic, and not judged: the real parser
            may refuse them.
        known: Values of references by their steps, which take the place of these in what is wanted; not in JSON.

    Returns:
        The body and everything that is wrong with what is read of it. Never raises for what is in the file.
    """
    if len(data) > MAX_CONFIGURATION_BYTES:
        return _too_large()
    if json:
        return parse_json(data)
    from locklens.hcl.native import parse_native

    return parse_native(decode(data), wanted, known)


def parse_json(data: bytes) -> Parsed:
    """Read a file in HCL's JSON syntax."""
    if len(data) > MAX_CONFIGURATION_BYTES:
        return _too_large()
    from locklens.hcl.json_syntax import parse_json_body as read

    return read(decode(data))


def parse_constants(data: bytes) -> Parsed:
    """Read a file in native syntax that holds constants alone, as lock files do; any other value is Dynamic."""
    if len(data) > MAX_CONFIGURATION_BYTES:
        return _too_large()
    from locklens.hcl.native import parse_native_constants as read

    return read(decode(data))


def _too_large() -> Parsed:
    detail = f"Files of more than {MAX_CONFIGURATION_BYTES // 1024**2} MiB are not read."
    return Parsed(None, (SyntaxProblem(1, 1, "File too large", detail),))


def parse_expression(text: str) -> Expression | None:
    """Read a native expression that stands in a text of its own, as in strings of the JSON syntax.

    Returns:
        The expression, whose places are the text's own; None where the text is no expression.
    """
    from locklens.hcl.expressions import parse_whole_expression as read

    return read(text)


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
