"""Documents beside their schemas; a schema is read, and checked itself, once in a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema

_Schema = Callable[[], dict[str, Any]]


@cache
def _validator(schema: _Schema) -> jsonschema.Draft202012Validator:
    found = schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def validate(document: object, schema: _Schema) -> None:
    """Checks a document; the schema is given as the function that returns it.

    Raises:
        jsonschema.ValidationError: The document does not satisfy the schema.
    """
    _validator(schema).validate(document)
