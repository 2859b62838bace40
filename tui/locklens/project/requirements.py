"""The requirements of providers: the configuration of a root module, its module tree, its tests and its state.

What counts is what counts for `init`, also where that is more than what is used: a required_providers entry
without a use, a module with `count = 0`, a resource that is only left in the state.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import ConfigurationError
from locklens.project.configuration import Configuration, ConfigurationProblem, Contributor, Requirement, StateReading
from locklens.project.contributors import DEFAULT_TEST_FOLDER, LocalNames, Tests, contributions, read_tests
from locklens.project.folder_files import generator_among
from locklens.project.modules import ModuleReader
from locklens.project.moduletree import CalledModule, ModuleTree
from locklens.project.state import TerraformState, read_other_states, read_state
from locklens.versions import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.project.tree import Tree

MAX_REQUIREMENTS = 20_000
"""Limit of one root, with all calls of its modules counted; real ones have some thousands."""

_TOO_MANY = "Too many requirements"
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


def read_configuration(
    tree: Tree,
    root: str,
    *,
    dialect: Dialect,
    worktree: Tree | None = None,
    environ: Mapping[str, str] = _NO_ENVIRONMENT,
    test_directory: str = DEFAULT_TEST_FOLDER,
    module_reader: ModuleReader | None = None,
    for_locking: bool = False,
    changed_states: Sequence[str] = (),
) -> Configuration:
    """Read a root module's configuration. What is broken is a problem, and the rest still counts.

    Args:
        tree: The side under review.
        root: The root module's folder, "" for the tree's top.
        dialect: The tool whose rules hold.
        worktree: The files that git ignores, for either side: fetched modules and local state. None where
            there are none.
        environ: TF_DATA_DIR, TF_WORKSPACE and OpenTofu's switch for addresses in the state are looked at.
        test_directory: Relative to the root module.
        module_reader: Shared between roots and sides, so that equal files are read once.
        for_locking: True if it is for `providers lock`, which looks neither at test files nor at the state.
        changed_states: Files that may be a state; those of other workspaces than the selected one are read as well.
    """
    modules = ModuleTree(tree, worktree, root, dialect=dialect, environ=environ, reader=module_reader or ModuleReader())
    root_module = modules.read_root()
    generator = _generator(tree, root)
    if not root_module.has_files:
        return Configuration.absent(root, dialect, generator)
    names = LocalNames(root_module, dialect)
    tests = Tests() if for_locking else read_tests(tree, root, names, dialect=dialect, test_directory=test_directory)
    for run in tests.runs:
        modules.follow_run(run.call, run.key, run.file)
    requirements, problems = _of_modules(modules.nodes, dialect)
    requirements += tests.requirements
    problems += [*modules.problems, *tests.problems, *_builtin_problems(requirements, dialect)]
    required_addresses = frozenset(one.address for one in requirements)
    backend = root_module.backend.item if root_module.backend is not None else None
    state, others = TerraformState(StateReading("none", "")), list[TerraformState]()
    if not for_locking:
        state = read_state(tree, worktree, root, backend, dialect=dialect, environ=environ, required=required_addresses)
        if root_module.backend is not None and root_module.backend.item.is_computed and not state.reading.file:
            place = root_module.backend.file, root_module.backend.item.line
            state = replace(state, reading=replace(state.reading, backend=place))
        if root_module.backend is not None and state.reading.kind == "remote":
            detail = f"{state.reading.detail} ({root_module.backend.file}:{root_module.backend.item.line})"
            state = replace(state, reading=replace(state.reading, detail=detail))
        paths = [path for path in changed_states if path != state.reading.file]
        others = read_other_states(
            tree, root, backend, paths, dialect=dialect, environ=environ, required=required_addresses
        )
    states = [one.reading.file for one in (state, *others) if one.reading.file]
    return Configuration(
        root=root,
        dialect=dialect,
        has_files=True,
        requirements=(*requirements, *(use for one in (state, *others) for use in _of_state(one))),
        missing_modules=tuple(modules.missing),
        problems=tuple(problems),
        state=state.reading,
        other_states=tuple(one.reading for one in others),
        files=tuple(dict.fromkeys([*modules.files, *tests.files, *states])),
        generator=generator,
        remote_modules=tuple(modules.remote.values()),
        value_files=tuple(dict.fromkeys(modules.value_files)),
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
            problems.append(ConfigurationProblem.at(node.module.files[0], None, _TOO_MANY, detail))
            break
        requirements += (one if one.module == node.key else replace(one, module=node.key) for one in required)
    return requirements, problems


def _builtin_problems(requirements: Iterable[Requirement], dialect: Dialect) -> Iterable[ConfigurationProblem]:
    """True for a provider that is part of the tool: there is only one, and it takes no constraints."""
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


def _of_state(state: TerraformState) -> Iterable[Requirement]:
    for use in state.uses:
        yield Requirement(
            address=use.address,
            constraint="",
            constraints=Constraints(),
            file=state.reading.file,
            line=use.line,
            module="",
            contributor=Contributor.STATE,
            subject=use.subject,
            overrides=None,
        )
