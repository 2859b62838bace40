"""Documents beside their schemas; a schema is made, and checked itself, once in a run."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema

from locklens.operations.reports import render_report, report_schema


@cache
def _validator(view: str) -> jsonschema.Draft202012Validator:
    found = report_schema(view)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def validate(document: object, view: str) -> None:
    """Checks the document of a view.

    Raises:
        jsonschema.ValidationError: The document does not satisfy the schema.
    """
    _validator(view).validate(document)


def json_report(view: str, subject: object, **facts: object) -> dict[str, Any]:
    """The JSON report of a view, read, and checked."""
    document: dict[str, Any] = json.loads(render_report(view, "json", subject, **facts))
    validate(document, view)
    return document
