"""Text to plain values with their places, for both syntaxes of HCL; the only user of python-hcl2.

python-hcl2 accepts much that the real parser refuses: arguments set twice, lines broken inside strings, unknown
escapes, missing line ends. A lock file may not be read that way. So the structure of a file and all constants are
read here, as strictly as HCL itself does, and python-hcl2 is asked what it is good at: whether an expression that
only an evaluation can give a value (operators, conditions, calls, `for`) is one.
"""

from __future__ import annotations

from locklens.hcl.values import (
    Attribute,
    Block,
    Body,
    ConfigurationProblem,
    Dynamic,
    Expression,
    IndexStep,
    ListExpr,
    Literal,
    ObjectExpr,
    Parsed,
    Reference,
    SourcePlace,
    decode,
    encode,
)

MAX_BYTES = 8 * 1024 * 1024
"""Larger files are not read: configurations have kilobytes."""


def parse(data: bytes, *, json: bool) -> Parsed:
    """Reads a file.

    Args:
        data: The file's bytes.
        json: Whether the file is in HCL's JSON syntax.

    Returns:
        The body and everything that the real parser would call an error. Never raises for what is in the file.
    """
    if len(data) > MAX_BYTES:
        detail = f"Files of more than {MAX_BYTES // 1024**2} MiB are not read."
        return Parsed(None, (ConfigurationProblem(1, 1, "File too large", detail),))
    if json:
        from locklens.hcl.json_syntax import parse_json

        return parse_json(decode(data))
    from locklens.hcl.native import parse_native

    return parse_native(decode(data))


def parse_expression(text: str) -> Expression | None:
    """Reads a native expression that stands in a text of its own, as in strings of the JSON syntax.

    Returns:
        The expression, whose places are the text's own; None where the text is no expression.
    """
    from locklens.hcl.expressions import parse_whole_expression as read

    return read(text)


__all__ = [
    "MAX_BYTES",
    "Attribute",
    "Block",
    "Body",
    "ConfigurationProblem",
    "Dynamic",
    "Expression",
    "IndexStep",
    "ListExpr",
    "Literal",
    "ObjectExpr",
    "Parsed",
    "Reference",
    "SourcePlace",
    "decode",
    "encode",
    "parse",
    "parse_expression",
]
