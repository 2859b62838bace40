"""The requirements of providers: the configuration of a root module, its module tree, its tests and its state.

What counts is what counts for `init`, also where that is more than what is used: a required_providers entry
without a use, a module with `count = 0`, a resource that is only left in the state.

Called modules in the repository are read from the tree under review. Fetched ones are read where the tools put them,
and only if the tools' list of them (`modules/modules.json` in the data folder) names what is called; a fetched module
is never guessed.
"""

from __future__ import annotations

import posixpath
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError
from locklens.project import configuration_files, generator_among
from locklens.project.configuration import (
    DATA_OUTSIDE,
    LEADS_BACK,
    NO_FOLDER,
    OUTSIDE,
    UNCOMPUTED,
    Configuration,
    ConfigurationProblem,
    MissingModule,
    RemoteModule,
    Requirement,
    StateReading,
)
from locklens.project.contributors import DEFAULT_TEST_FOLDER, LocalNames, Tests, contributions, read_tests
from locklens.project.module_sources import (
    ManifestError,
    ModuleRecord,
    ModuleSource,
    ModuleSourceError,
    admits,
    is_constraint,
    is_exact_call,
    parse_module_source,
    read_manifest,
)
from locklens.project.modules import Module, ModuleReader
from locklens.project.state import RootFiles, TerraformState, data_folder, read_states, read_workspaces
from locklens.project.static_values import with_known_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.project.configuration import ModuleCall, Placeable
    from locklens.project.modules import Placed
    from locklens.project.tree import Tree

MAX_MODULE_DEPTH = 50
"""The most calls inside each other."""

MAX_MODULES = 5000
"""Module instances of one root; two calls of the same module are two."""

NOT_INSTALLED = "Module not installed"

MAX_REQUIREMENTS = 20_000
"""Limit of one root, with all calls of its modules counted; real ones have some thousands."""


class CalledModule(Struct, frozen=True):
    """A module where it is called: by the path of the call, "" for the root module.

    It is the first if no earlier node has the same folder, so that its problems are still to be reported.
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

    def __init__(self, files: RootFiles, reader: ModuleReader) -> None:
        """Read nothing yet; `reader` reads and remembers modules."""
        self.nodes: list[CalledModule] = []
        self.missing: list[MissingModule] = []
        self.problems: list[ConfigurationProblem] = []
        self.files: list[str] = []
        self.value_files: list[str] = []
        self.remote: dict[tuple[str, int], RemoteModule] = {}
        """Calls in the reviewed tree of modules that are not in it, by place."""
        self.local: list[tuple[str, str]] = []
        """Path and source of each call of a module in the tree of its caller, the source "" where it is computed."""
        self._root = _Place(files.tree, files.root)
        self._root_files = files
        self._worktree = files.worktree
        self._data_folder = data_folder(files.worktree, files.root, files.environ) if files.worktree is not None else ""
        self._dialect = files.dialect
        self._reader = reader
        self._modules: dict[tuple[int, str], Module] = {}

    def read_root(self) -> Module:
        """Read the root module and all that it calls."""
        module = self._module(self._root)
        self._add("", module, is_first=True)
        self._follow(self._root, module, "", (self._root,))
        return module

    def follow_run(self, run: Placed[ModuleCall]) -> None:
        """Read the module of a test's run block; its source is relative to the root module."""
        self._follow_call(self._root, run.item, run.item.name, run.file, ())

    def _module(self, place: _Place) -> Module:
        known = (id(place.tree), place.folder)
        module = self._modules.get(known)
        if module is None:
            module = self._reader.read(place.tree, place.folder, self._dialect)
            environ = None if self._modules else self._root_files.environ  # The root module is the first.
            module = self._modules[known] = with_known_values(module, place.tree, self._dialect, environ)
            self.files.extend(module.files)
            self.value_files.extend(module.value_files)
        return module

    def _add(self, key: str, module: Module, *, is_first: bool) -> None:
        self.nodes.append(CalledModule(key, module, is_first))
        if key and is_first and module.backend is not None:
            block = module.backend.item
            detail = "Any selected backend applies to the entire configuration, so only the root module may define one."
            self._note(module.backend.file, block, "Backend configuration ignored", detail, is_error=False)

    def _note(self, file: str, at: Placeable | None, summary: str, detail: str, *, is_error: bool = True) -> None:
        self.problems.append(ConfigurationProblem.at(file, at, summary, detail, is_error=is_error))

    def _follow(self, place: _Place, module: Module, key: str, above: tuple[_Place, ...]) -> None:
        for one in module.calls:
            path = f"{key}.{one.item.name}" if key else one.item.name
            self._follow_call(place, one.item, path, one.file, above)

    def _follow_call(self, place: _Place, call: ModuleCall, key: str, file: str, above: tuple[_Place, ...]) -> None:
        source = self._source(call, key, file)
        if source is None:
            return
        if source.kind != "local" and place.tree is self._root.tree:
            self.remote.setdefault((file, call.line), self._remote(source, call, key, file))
        if source.kind == "local":
            self.local.append((key, source.text if call.source.shown == call.source.text else ""))
        found = self._local(place, source) if source.kind == "local" else self._fetched(call, source, key)
        if isinstance(found, str):
            self.missing.append(MissingModule(key, call.source.shown, file, call.line, found))
            return
        if found in above:
            detail = f'The module "{key}" calls itself, directly or through another one.'
            self._note(file, call, "Module cycle", detail)
            return
        if len(above) >= MAX_MODULE_DEPTH or len(self.nodes) >= MAX_MODULES:
            detail = f"More than {MAX_MODULE_DEPTH} calls inside each other or {MAX_MODULES} in all are not followed."
            self._note(file, call, "Too many modules", detail)
            return
        is_first = (id(found.tree), found.folder) not in self._modules
        module = self._module(found)
        self._add(key, module, is_first=is_first)
        self._follow(found, module, key, (*above, found))

    def _source(self, call: ModuleCall, key: str, file: str) -> ModuleSource | None:
        """Return where a call leads; None, with a problem or a missing module, where that cannot be known."""
        is_terraform = self._dialect.name == "terraform"
        if (call.source.fault or call.version.fault) and not is_terraform:
            self.missing.append(MissingModule(key, call.source.shown or "(computed)", file, call.line, UNCOMPUTED))
            return None
        if call.source.fault or call.source.text is None:
            detail = "The source must be a constant." if call.source.fault else 'The argument "source" is required.'
            self._note(file, call.source.place, call.source.fault or "Missing required argument", detail)
            return None
        try:
            source = parse_module_source(call.source.text, self._dialect, has_version=call.version.is_given)
        except ModuleSourceError as error:
            detail = f"The value of {call.source.written} is none." if call.source.written else error.detail
            self._note(file, call.source.place, error.summary, detail)
            return None
        if call.version.fault or (call.version.text is not None and not is_constraint(call.version.text)):
            detail = "This string does not use correct version constraint syntax."
            self._note(file, call.version.place, call.version.fault or "Invalid version constraint", detail)
            return None
        return source

    def _local(self, place: _Place, source: ModuleSource) -> _Place | str:
        """Return the folder of a local module, or why there is none."""
        folder = place.tree.join(place.folder, source.text)
        if folder is None:
            return LEADS_BACK if self._may_lead_back(place, source.text) else OUTSIDE
        return _Place(place.tree, folder) if place.tree.has_folder(folder) else NO_FOLDER

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
        record = self._manifest.get(key)
        if record is None or self._worktree is None:
            return DATA_OUTSIDE if self._data_folder is None else NOT_INSTALLED
        if record.source != source.text:
            return "Module source has changed"
        if call.version.text is not None and not admits(call.version.text, record.version):
            return "Module version requirements have changed"
        folder = self._worktree.join(self._root.folder, record.folder)
        if folder is None or not self._worktree.has_folder(folder):
            return f"{NOT_INSTALLED}: its local cache directory cannot be read"
        return _Place(self._worktree, folder)

    def _remote(self, source: ModuleSource, call: ModuleCall, key: str, file: str) -> RemoteModule:
        """Return a call of a module outside of the reviewed tree, with the copy that the list has."""
        record, folder, tree = self._manifest.get(key), None, self._worktree
        if record is not None and record.source == source.text and tree is not None:
            folder = tree.join(self._root.folder, record.folder)
        selecting = call.version if call.version.is_given else call.source
        return RemoteModule(
            key, call.source.shown, file, call.line, call.version.shown, selecting.place.line,
            is_exact_call(source, call.version.text),
            fetched=record.version if record is not None and folder else "", folder=folder or "",
        )  # fmt: skip

    @cached_property
    def _manifest(self) -> dict[str, ModuleRecord]:
        """The list of fetched modules; empty where it cannot be used."""
        if self._worktree is None or self._data_folder is None:
            return {}
        path = f"{self._data_folder}/modules/modules.json"
        try:
            data = self._worktree.read(path)
            if data is not None:
                self.files.append(path)
                return read_manifest(data, self._dialect)
        except (ConfigurationError, ManifestError) as error:
            self._note(path, None, "Failed to read module manifest", str(error))
        return {}


def read_configuration(
    tree: Tree,
    root: str,
    *,
    dialect: Dialect,
    worktree: Tree | None = None,
    environ: Mapping[str, str] = {},
    test_directory: str = DEFAULT_TEST_FOLDER,
    module_reader: ModuleReader | None = None,
    for_locking: bool = False,
    changed_states: Sequence[str] = (),
    has_workspaces: bool = False,
) -> Configuration:
    """Read a root module's configuration. What is broken is a problem, and the rest still counts.

    The work tree has the files that git ignores, for either side: fetched modules and local state. Of the environment,
    TF_DATA_DIR, TF_WORKSPACE and OpenTofu's switch for addresses in the state are looked at. The reader may be shared
    between roots and sides, so that equal files are read once. `for_locking` is for `providers lock`, which looks
    neither at test files nor at the state. Of `changed_states`, those of other workspaces than the selected one are
    read as well; with `has_workspaces` those that lie there are, and none of them requires what it names for a run in
    the selected one.
    """
    files = RootFiles(tree, worktree, root, dialect, environ)
    modules = ModuleTree(files, module_reader or ModuleReader())
    root_module = modules.read_root()
    local_calls = tuple(modules.local)
    generator = _generator(tree, root)
    if not root_module.has_files:
        return Configuration.absent(root, dialect, generator)
    names = LocalNames(root_module, dialect)
    tests = Tests() if for_locking else read_tests(tree, root, names, dialect=dialect, test_directory=test_directory)
    for run in tests.runs:
        modules.follow_run(run)
    requirements, problems = _of_modules(modules.nodes, dialect)
    requirements += tests.requirements
    problems += [*modules.problems, *tests.problems, *_builtin_problems(requirements, dialect)]
    states: list[TerraformState] = []
    workspaces: list[TerraformState] = []
    if not for_locking:
        required = frozenset(one.address for one in requirements)
        states = read_states(files, root_module.backend, changed_states, required)
        if has_workspaces:
            workspaces = read_workspaces(files, root_module.backend, states[0].reading, required)
    state_files = [one.reading.file for one in states if one.reading.file]
    return Configuration(
        root=root,
        dialect=dialect,
        has_files=True,
        requirements=(*requirements, *(needed for one in states for needed in one.requirements)),
        missing_modules=tuple(modules.missing),
        problems=tuple(problems),
        state=states[0].reading if states else StateReading("none", ""),
        other_states=tuple(one.reading for one in states[1:]),
        workspaces={one.workspace: one.requirements for one in workspaces if one.requirements},
        unread_workspaces=tuple(one.reading for one in workspaces if one.reading.kind == "unreadable"),
        files=tuple(dict.fromkeys([*modules.files, *tests.files, *state_files])),
        generator=generator,
        remote_modules=tuple(modules.remote.values()),
        local_calls=local_calls,
        value_files=tuple(dict.fromkeys(modules.value_files)),
        test_runs=tuple(f"{run.item.name}." for run in tests.runs),
    )


def _generator(tree: Tree, root: str) -> str:
    try:
        return generator_among(tree.list(root))
    except ConfigurationError:
        return ""  # Reading the root module reports the reason.


def _of_modules(
    nodes: Iterable[CalledModule], dialect: Dialect
) -> tuple[list[Requirement], list[ConfigurationProblem]]:
    """Return what the modules require. Calls of one module differ in nothing but the path of the call."""
    requirements: list[Requirement] = []
    problems: list[ConfigurationProblem] = []
    known: dict[tuple[int, bool], list[Requirement]] = {}
    for node in nodes:
        which = id(node.module), node.key == ""
        required = known.get(which)
        if required is None:
            required, found = contributions(node.module, node.key, dialect)
            known[which] = required
            if node.is_first:
                problems += node.module.problems
                problems += found
        if len(requirements) + len(required) > MAX_REQUIREMENTS:
            detail = f"More than {MAX_REQUIREMENTS} requirements of one root are not looked at."
            problems.append(ConfigurationProblem.at(node.module.files[0], None, "Too many requirements", detail))
            break
        requirements += (one if one.module == node.key else replace(one, module=node.key) for one in required)
    return requirements, problems


def _builtin_problems(requirements: Iterable[Requirement], dialect: Dialect) -> Iterable[ConfigurationProblem]:
    """Yield what is wrong with required parts of the tool: there is only one, and it takes no constraints."""
    for one in requirements:
        if not dialect.is_builtin(one.address):
            continue
        detail = ""
        if one.address.type != "terraform":
            detail = f'this {dialect.product} release has no built-in provider named "{one.address.type}".'
        elif one.constraints:
            detail = "built-in providers do not support explicit version constraints."
        if detail:
            detail = f"Cannot use {one.address}: {detail}"
            summary = "Invalid dependency on built-in provider"
            yield ConfigurationProblem(one.file, one.line, None, summary, detail, is_error=True)
