"""One module: its folder's files read and put together, override files applied.

Parsing is what costs, so a `ModuleReader` keeps what it read by the content of the file: several roots that call the
same module, and both sides of a comparison, share it.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.project.contents import read_contents
from locklens.project.files import configuration_files, is_json
from locklens.project.merging import Merger, Module, SourceFile
from locklens.project.tree import EntryKind, FolderEntry

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.declared import FileContents
    from locklens.project.tree import Tree


class ModuleReader:
    """Reads modules and remembers every file's contents by its digest. Safe to share between threads."""

    def __init__(self) -> None:
        self._contents: dict[tuple[bytes, bool, str], FileContents] = {}
        self._lock = threading.Lock()

    def read(self, tree: Tree, folder: str, dialect: Dialect) -> Module:
        """Read a module's folder.

        Args:
            tree: Where it is.
            folder: Its path in the tree.
            dialect: The tool whose files are read.
        """
        try:
            found = configuration_files(tree.list(folder), dialect)
        except ConfigurationError as error:
            return Merger(dialect).failed(folder, "Failed to read module directory", str(error))
        merger = Merger(dialect)
        for entry in found.primary:
            merger.add_primary(self.read_file(tree, folder, entry, dialect))
        for entry in found.overrides:
            merger.add_override(self.read_file(tree, folder, entry, dialect))
        return merger.module(folder, has_files=bool(found))

    def read_file(self, tree: Tree, folder: str, entry: FolderEntry, dialect: Dialect) -> SourceFile:
        """Read one configuration file; what keeps it from being read is a note in its contents."""
        path = f"{folder}/{entry.name}" if folder else entry.name
        data: bytes | None = None
        detail = f'The configuration file "{entry.name}" could not be read.'
        if entry.kind is not EntryKind.LINKED_FOLDER:
            try:
                data = tree.read(path)
            except ConfigurationError as error:
                detail = str(error)
        if data is None:
            return SourceFile.unreadable(path, detail)
        key = (hashlib.sha256(data).digest(), is_json(entry.name), dialect.name)
        with self._lock:
            contents = self._contents.get(key)
        if contents is None:
            contents = read_contents(data, is_json=key[1], dialect=dialect)
            with self._lock:
                contents = self._contents.setdefault(key, contents)
        return SourceFile(path, contents)
