"""The modules that a root module calls, directly and through others.

Modules in the repository are read from the tree under review. Fetched ones are read where the tools put them, and only
if the tools' list of them (`modules/modules.json` in the data folder) names what is called; a fetched module is never
guessed.
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.project.configuration import LEADS_BACK, UNCOMPUTED, ConfigurationProblem, MissingModule, RemoteModule
from locklens.project.folder_files import configuration_files
from locklens.project.module_sources import (
    ModuleSource,
    ModuleSourceError,
    admits,
    check_constraint,
    is_exact_call,
    normal_source,
    parse_module_source,
)
from locklens.project.state import data_folder
from locklens.project.static_values import with_known_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.dialect import Dialect
    from locklens.project.configuration import ModuleCall
    from locklens.project.modules import Module, ModuleReader
    from locklens.project.tree import Tree

MAX_MODULE_DEPTH = 50
"""Calls inside each other."""

MAX_MODULES = 5000
"""Module instances of one root; two calls of the same module are two."""

NOT_INSTALLED = "Module not installed"
_SOURCE_CHANGED = "Module source has changed"
_VERSION_CHANGED = "Module version requirements have changed"

_MANIFEST_FAILURE = "failed to read module manifest"


class CalledModule(Struct, frozen=True):
    """A module where it is called.

    Attributes:
        key: The path of the call, "" for the root module.
        module: The module in its folder.
        is_first: True if no earlier node has the same folder, so that its problems are still to be told.
    """

    key: str
    module: Module
    is_first: bool


class _Place(Struct, frozen=True):
    """A folder of either tree."""

    tree: Tree
    folder: str


class ModuleTree:
    """Reads a root's modules and keeps what it found."""

    def __init__(
        self,
        tree: Tree,
        worktree: Tree | None,
        root: str,
        *,
        dialect: Dialect,
        environ: Mapping[str, str],
        reader: ModuleReader,
    ) -> None:
        """Read nothing yet.

        Args:
            tree: The side under review.
            worktree: The files with the fetched modules; None if there are none.
            root: The root module's folder.
            dialect: The tool.
            environ: TF_DATA_DIR is looked at.
            reader: Reads and remembers modules.
        """
        self.nodes: list[CalledModule] = []
        self.missing: list[MissingModule] = []
        self.problems: list[ConfigurationProblem] = []
        self.files: list[str] = []
        self.value_files: list[str] = []
        self.remote: dict[tuple[str, int], RemoteModule] = {}
        """Calls in the reviewed tree of modules that are not in it, by place."""
        self._tree = tree
        self._worktree = worktree
        self._root = root
        self._dialect = dialect
        self._environ = environ
        self._reader = reader
        self._records: dict[str, ModuleRecord] | None = None
        self._modules: dict[tuple[int, str], Module] = {}

    def read_root(self) -> Module:
        """Read the root module and all that it calls."""
        place = _Place(self._tree, self._root)
        module = self._module(place)
        self._add("", module, is_first=True)
        self._follow(place, module, "", (place,))
        return module

    def follow_run(self, call: ModuleCall, key: str, file: str) -> None:
        """Read the module of a test's run block; its source is relative to the root module."""
        self._follow_call(_Place(self._tree, self._root), call, key, file, ())

    def _module(self, place: _Place) -> Module:
        known = (id(place.tree), place.folder)
        module = self._modules.get(known)
        if module is None:
            module = self._reader.read(place.tree, place.folder, self._dialect)
            environ = None if self._modules else self._environ  # The root module is the first.
            module = self._modules[known] = with_known_values(module, place.tree, self._dialect, environ)
            self.files.extend(module.files)
            self.value_files.extend(module.value_files)
        return module

    def _add(self, key: str, module: Module, *, is_first: bool) -> None:
        self.nodes.append(CalledModule(key, module, is_first))
        if key and is_first and module.backend is not None:
            block = module.backend.item
            detail = "Any selected backend applies to the entire configuration, so only the root module may define one."
            self.problems.append(
                ConfigurationProblem.at(
                    module.backend.file, block, "Backend configuration ignored", detail, is_error=False
                )
            )

    def _follow(self, place: _Place, module: Module, key: str, above: tuple[_Place, ...]) -> None:
        for one in module.calls:
            path = f"{key}.{one.item.name}" if key else one.item.name
            self._follow_call(place, one.item, path, one.file, above)

    def _follow_call(self, place: _Place, call: ModuleCall, key: str, file: str, above: tuple[_Place, ...]) -> None:
        source = self._source(call, key, file)
        if source is None:
            return
        if source.kind != "local" and place.tree is self._tree:
            is_exact = is_exact_call(source, call.version)
            remote = RemoteModule(key, call.shown, call.shown_version, file, call.line, is_exact)
            self.remote.setdefault((file, call.line), remote)
        found = self._local(place, source) if source.kind == "local" else self._fetched(call, source, key)
        if isinstance(found, str):
            self.missing.append(MissingModule(key, call.shown, file, call.line, found))
            return
        if found in above:
            detail = f'The module "{key}" calls itself, directly or through another one.'
            self.problems.append(ConfigurationProblem.at(file, call, "Module cycle", detail))
            return
        if len(above) >= MAX_MODULE_DEPTH or len(self.nodes) >= MAX_MODULES:
            detail = f"More than {MAX_MODULE_DEPTH} calls inside each other or {MAX_MODULES} in all are not followed."
            self.problems.append(ConfigurationProblem.at(file, call, "Too many modules", detail))
            return
        is_first = (id(found.tree), found.folder) not in self._modules
        module = self._module(found)
        self._add(key, module, is_first=is_first)
        self._follow(found, module, key, (*above, found))

    def _source(self, call: ModuleCall, key: str, file: str) -> ModuleSource | None:
        """Return where a call leads; None, with a problem or a missing module, where that cannot be told."""
        is_terraform = self._dialect.name == "terraform"
        if (call.source_fault or call.version_fault) and not is_terraform:
            self.missing.append(MissingModule(key, call.shown or "(computed)", file, call.line, UNCOMPUTED))
            return None
        if call.source_fault or call.source is None:
            detail = "The source must be a constant." if call.source_fault else 'The argument "source" is required.'
            self.problems.append(
                ConfigurationProblem.at(file, call.source_at, call.source_fault or "Missing required argument", detail)
            )
            return None
        has_version = call.version is not None or bool(call.version_fault)
        try:
            source = parse_module_source(call.source, self._dialect, has_version=has_version)
        except ModuleSourceError as error:
            detail = f"The value of {call.written} is none." if call.written else error.detail
            self.problems.append(ConfigurationProblem.at(file, call.source_at, error.summary, detail))
            return None
        if call.version_fault or not _is_constraint(call.version):
            detail = "This string does not use correct version constraint syntax."
            self.problems.append(
                ConfigurationProblem.at(
                    file, call.version_at, call.version_fault or "Invalid version constraint", detail
                )
            )
            return None
        return source

    def _local(self, place: _Place, source: ModuleSource) -> _Place | str:
        """Return the folder of a local module, or why there is none."""
        folder = place.tree.join(place.folder, source.text)
        if folder is None:
            if self._may_lead_back(place, source.text):
                return LEADS_BACK
            return "Unreadable module directory: it is outside of the repository"
        return _Place(place.tree, folder) if place.tree.has_folder(folder) else "Unreadable module directory"

    def _may_lead_back(self, place: _Place, source: str) -> bool:
        """True if a path out of a tree leads to a module of the tree, if the folders above the tree have some names."""
        steps = posixpath.normpath(posixpath.join(place.folder, source)).split("/")
        above = steps.count("..")
        if len(steps) < 2 * above:
            return False
        try:
            return bool(configuration_files(place.tree.list("/".join(steps[2 * above :])), self._dialect))
        except ConfigurationError:
            return True

    def _fetched(self, call: ModuleCall, source: ModuleSource, key: str) -> _Place | str:
        """Return the folder of a fetched module, or why it cannot be used."""
        record = self._manifest().get(key)
        if record is None or self._worktree is None:
            return NOT_INSTALLED
        if record.source != source.text:
            return _SOURCE_CHANGED
        if call.version is not None and not record.version:
            return _VERSION_CHANGED
        try:
            if call.version is not None and not admits(call.version, record.version):
                return _VERSION_CHANGED
        except ValueError:
            return _VERSION_CHANGED
        folder = self._worktree.join(self._root, record.folder)
        if folder is None or not self._worktree.has_folder(folder):
            return f"{NOT_INSTALLED}: its local cache directory cannot be read"
        return _Place(self._worktree, folder)

    def _manifest(self) -> dict[str, ModuleRecord]:
        """The list of fetched modules, read when it is first needed; empty where it cannot be used."""
        if self._records is not None:
            return self._records
        self._records = {}
        folder = data_folder(self._worktree, self._root, self._environ) if self._worktree is not None else None
        if folder is None or self._worktree is None:
            return self._records
        path = f"{folder}/modules/modules.json"
        try:
            data = self._worktree.read(path)
            if data is not None:
                self.files.append(path)
                self._records = read_manifest(data, self._dialect)
        except (ConfigurationError, ManifestError) as error:
            self.problems.append(ConfigurationProblem.at(path, None, "Failed to read module manifest", str(error)))
        return self._records


def _is_constraint(text: str | None) -> bool:
    if text is None:
        return True
    try:
        check_constraint(text)
    except ValueError:
        return False
    return True


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
        raise ManifestError(f"{_MANIFEST_FAILURE}: it is not JSON") from error
    items = document.get("Modules") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(items, list | None):
        raise ManifestError(f"{_MANIFEST_FAILURE}: it is not a list of modules")
    records: dict[str, ModuleRecord] = {}
    for item in items or ():
        values = [
            item.get(name, "") if isinstance(item, dict) else None for name in ("Key", "Source", "Version", "Dir")
        ]
        key, source, version, folder = (value if isinstance(value, str) else None for value in values)
        if key is None or source is None or version is None or folder is None:
            raise ManifestError(f"{_MANIFEST_FAILURE}: it has an invalid record")
        if key in records:
            raise ManifestError(f'{_MANIFEST_FAILURE}: it has two records for "{key}"')
        records[key] = ModuleRecord(normal_source(source, dialect) if key else source, version, folder)
    return records
