"""The tools' list of fetched modules, `modules/modules.json` in the data folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.project.module_sources import normal_source

if TYPE_CHECKING:
    from locklens.dialect import Dialect

_NAME = "failed to read module manifest"


class ManifestError(ValueError):
    """The list cannot be used; str() says why."""


class ModuleRecord(Struct, frozen=True):
    """A fetched module.

    Attributes:
        source: In normal form.
        version: "" where the module has none.
        folder: Relative to the root module, as written.
    """

    source: str
    version: str
    folder: str


def read_manifest(data: bytes, dialect: Dialect) -> dict[str, ModuleRecord]:
    """Return the records by their key, which is the path of the call, `a.b`.

    Raises:
        ManifestError: It is no such list.
    """
    if not data:
        return {}
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{_NAME}: it is not JSON") from error
    items = document.get("Modules") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(items, list | None):
        raise ManifestError(f"{_NAME}: it is not a list of modules")
    records: dict[str, ModuleRecord] = {}
    for item in items or ():
        values = [
            item.get(name, "") if isinstance(item, dict) else None for name in ("Key", "Source", "Version", "Dir")
        ]
        key, source, version, folder = (value if isinstance(value, str) else None for value in values)
        if key is None or source is None or version is None or folder is None:
            raise ManifestError(f"{_NAME}: it has an invalid record")
        if key in records:
            raise ManifestError(f'{_NAME}: it has two records for "{key}"')
        records[key] = ModuleRecord(normal_source(source, dialect) if key else source, version, folder)
    return records
