"""The entries of a required_providers block, in the forms that the tools take: a constraint alone, or an object.

Nothing is evaluated with variables or functions here, by neither tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens import hcl
from locklens.addresses import normalise_part
from locklens.dialect import AddressError
from locklens.versions import Constraints, ConstraintSyntaxError

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect

_NOT_STRING = "Version must be specified as a string."
_FORMS = "required_providers entries must be strings or objects."
_ALIASES = (
    "Configuration aliases can only contain references to local provider configuration names in the format of "
    "provider.alias"
)
_KEYS = (
    'required_providers objects can only contain "version", "source" and "configuration_aliases" attributes. '
    'To configure a provider, use a "provider" block.'
)


class RequiredEntry(Struct, frozen=True):
    """One entry.

    Attributes:
        name: The local name.
        address: What it stands for.
        constraint: As written, "" where there is none.
        constraints: The same, read.
        line: Of the name.
        column: Of the name.
    """

    name: str
    address: ProviderAddress
    constraint: str
    constraints: Constraints
    line: int
    column: int


class _EntryError(Exception):
    def __init__(self, place: hcl.SourcePlace, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.problem = hcl.SyntaxProblem(place.line, place.column, summary, detail)


def read_entries(
    body: hcl.Body, dialect: Dialect, *, is_json: bool
) -> tuple[tuple[RequiredEntry, ...], list[hcl.SyntaxProblem]]:
    """Read a block's entries; one that cannot be read is left out, with a problem."""
    problems: list[hcl.SyntaxProblem] = []
    if is_json:
        names = frozenset(name for name in body.attributes)
        problems.extend(body.misfits(names, {}))
    else:
        for block in body.all_blocks():
            summary = f'Unexpected "{block.type}" block'
            problems.append(
                hcl.SyntaxProblem(block.place.line, block.place.column, summary, "Blocks are not allowed here.")
            )
    entries: list[RequiredEntry] = []
    for name, attribute in body.attributes.items():
        try:
            entries.append(_entry(name, attribute, dialect, is_json=is_json))
        except _EntryError as error:
            problems.append(error.problem)
    return tuple(entries), problems


def read_version(
    value: hcl.Expression, dialect: Dialect, *, needs_string: bool
) -> tuple[str, Constraints | None, hcl.SyntaxProblem | None]:
    """Read a version constraint.

    Args:
        value: The expression.
        dialect: The tool, whose words the problem has.
        needs_string: True if a number or a boolean is refused rather than converted.

    Returns:
        Text and constraints, or a problem.
    """
    place = value.place
    text = value.text if isinstance(value, hcl.Literal) else None
    if text is None or (needs_string and not isinstance(value.value, str)):  # type: ignore[union-attr]
        return "", None, hcl.SyntaxProblem(place.line, place.column, "Invalid version constraint", _NOT_STRING)
    try:
        return text, Constraints.parse(text), None
    except ConstraintSyntaxError as error:
        detail = error.detail.replace("Terraform", dialect.product)
        return text, None, hcl.SyntaxProblem(place.line, place.column, error.summary, detail)


def _entry(name: str, attribute: hcl.Attribute, dialect: Dialect, *, is_json: bool) -> RequiredEntry:
    value = attribute.value
    place = attribute.place
    if isinstance(value, hcl.Literal) and value.value is not None:
        constraint, constraints, problem = read_version(value, dialect, needs_string=False)
        if constraints is None or problem is not None:
            raise _EntryError(value.place, problem.summary if problem else "", problem.detail if problem else "")
        try:
            address = dialect.default_provider(normalise_part(name))
        except ValueError as error:
            raise _EntryError(value.place, "Invalid provider name", str(error)) from error
        return RequiredEntry(name, address, constraint, constraints, place.line, place.column)
    _check_name(name, value.place)
    if not isinstance(value, hcl.ObjectExpr):
        raise _EntryError(value.place, "Invalid required_providers object", _FORMS)
    return _object_entry(name, value, place, dialect, is_json=is_json)


def _check_name(name: str, place: hcl.SourcePlace) -> None:
    summary = "Invalid provider local name"
    try:
        normal = normalise_part(name)
    except ValueError as error:
        raise _EntryError(place, summary, f'"{name}" is an invalid provider local name: {error}.') from error
    if normal != name:
        detail = f'Provider names must be normalized. Replace "{name}" with "{normal}" to fix this error.'
        raise _EntryError(place, summary, detail)


def _object_entry(
    name: str, value: hcl.ObjectExpr, place: hcl.SourcePlace, dialect: Dialect, *, is_json: bool
) -> RequiredEntry:
    """Read the object form; of a repeated key the last counts."""
    address = dialect.default_provider(name)
    constraint, constraints = "", Constraints()
    for key, item in value.items:
        word = key.value if isinstance(key, hcl.Literal) else None
        if word == "version":
            constraint, found, problem = read_version(item, dialect, needs_string=True)
            if found is None or problem is not None:
                raise _EntryError(item.place, problem.summary if problem else "", problem.detail if problem else "")
            constraints = found
        elif word == "source":
            address = _source(item, dialect)
        elif word == "configuration_aliases":
            _check_aliases(name, item, is_json=is_json)
        else:
            raise _EntryError(key.place, "Invalid required_providers object", _KEYS)
    return RequiredEntry(name, address, constraint, constraints, place.line, place.column)


def _source(value: hcl.Expression, dialect: Dialect) -> ProviderAddress:
    if not isinstance(value, hcl.Literal) or not isinstance(value.value, str):
        raise _EntryError(value.place, "Invalid source", "Source must be specified as a string.")
    try:
        return dialect.parse_source(value.value)
    except AddressError as error:
        raise _EntryError(value.place, error.summary, error.detail) from error


def _check_aliases(name: str, value: hcl.Expression, *, is_json: bool) -> None:
    """Aliases require nothing, but wrong ones are errors.

    The local name alone is one, and the tools do not look at what follows `NAME.ALIAS`.
    """
    summary = "Invalid configuration_aliases value"
    if not isinstance(value, hcl.ListExpr):
        raise _EntryError(value.place, "Invalid expression", "A static list expression is required.")
    for item in value.items:
        found: hcl.Expression | None = item
        if is_json and isinstance(item, hcl.Literal) and isinstance(item.value, str):
            found = hcl.parse_expression(item.value)
        if not isinstance(found, hcl.Reference):
            detail = "A static variable reference is required."
            raise _EntryError(item.place, "Invalid expression", detail)
        if any(isinstance(step, int | hcl.IndexStep) for step in found.parts[1:2]):
            raise _EntryError(value.place, summary, _ALIASES)
        if found.parts[0] != name:
            what = f'Expected "{name}", but found "{found.parts[0]}".'
            detail = f"Configuration aliases must be prefixed with the provider name. {what}"
            raise _EntryError(value.place, summary, detail)
