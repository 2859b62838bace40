"""What requires a provider in one module and in the test files of a root, and the providers that local names stand for.

`init` reads test files with the root module: the modules that they run and, for OpenTofu, their providers count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from locklens import hcl
from locklens.addresses import ProviderAddress, normalise_part
from locklens.errors import ConfigurationError
from locklens.project import files_of_tests, is_json
from locklens.project.configuration import CallArgument, ConfigurationProblem, Contributor, ModuleCall, Requirement
from locklens.project.contents import (
    COMPUTED,
    OLD_VERSION,
    RefusedError,
    constant_text,
    local_name_problem,
    read_version,
)
from locklens.project.modules import Placed
from locklens.project.tree import EntryKind, FolderEntry, Tree, path_in
from locklens.versions import Constraints

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.configuration import Import, Placeable, ProviderConfiguration, Resource
    from locklens.project.modules import Module

_NO_CONSTRAINTS = Constraints()
DEFAULT_TEST_FOLDER = "tests"
_WANTED = hcl.Wanted(
    blocks={
        "run": hcl.Wanted(blocks={"module": hcl.Wanted(frozenset(["source", "version"]))}),
        "provider": hcl.Wanted(frozenset(["alias", "version"])),
    }
)


class LocalNames:
    """A module's table of local names. Each module has its own: a child does not see its caller's."""

    def __init__(self, module: Module, dialect: Dialect) -> None:
        self._table = {one.item.name: one.item.address for one in module.required}
        self._dialect = dialect

    def provider(self, name: str) -> ProviderAddress:
        """Return what a local name stands for."""
        return self._table.get(name) or self._dialect.default_provider(name)

    def of_type(self, kind: str) -> ProviderAddress:
        """Return the provider that a resource type implies.

        Raises:
            ValueError: The type's first word is not a local name; str() says why.
        """
        word = kind.partition("_")[0]
        try:
            return self.provider(normalise_part(word))
        except ValueError as error:
            raise ValueError(f'"{word}" is an invalid implied provider local name: {error}') from error


def contributions(module: Module, key: str, dialect: Dialect) -> tuple[list[Requirement], list[ConfigurationProblem]]:
    """Return what a module itself requires, and why some of that is not known.

    Of the resources of one kind that use one provider the first is listed, with their number. The key is the path of
    the module's call, "" for the root module.
    """
    gathering = _Gathering(module, key, dialect)
    gathering.add_required()
    for provider in module.providers:
        gathering.add_provider(provider)
    for resource in module.resources:
        gathering.add_resource(resource)
    for block in module.imports:
        gathering.add_import(block)
    return gathering.requirements, gathering.problems


def provider_subject(name: str, alias: str) -> str:
    """Return how a provider configuration is named to the user."""
    return f'provider "{name}" ({alias})' if alias else f'provider "{name}"'


class _Gathering:
    """Collects the requirements of one module."""

    def __init__(self, module: Module, key: str, dialect: Dialect) -> None:
        self.requirements: list[Requirement] = []
        self.problems: list[ConfigurationProblem] = []
        self._module = module
        self._key = key
        self._dialect = dialect
        self._names = LocalNames(module, dialect)
        self._used: dict[tuple[Contributor, ProviderAddress], int] = {}
        self._resources = {
            (one.item.type, one.item.name): one.item for one in module.resources if one.item.mode == "managed"
        }

    def add_required(self) -> None:
        """Take the required_providers entries, used or not."""
        seen: dict[ProviderAddress, str] = {}
        for one in self._module.required:
            entry = one.item
            if entry.address in seen:
                both = f'"{seen[entry.address]}" and "{entry.name}"'
                detail = f"Provider {entry.address} is required under the local names {both}."
                self._refuse(one, "Duplicate required provider", detail, is_error=False)
            seen.setdefault(entry.address, entry.name)
            written = entry.constraint, entry.constraints, entry.constraint_line, entry.source_line
            self._require(one, entry.address, Contributor.REQUIRED_PROVIDERS, entry.name, *written)

    def add_provider(self, one: Placed[ProviderConfiguration]) -> None:
        """Take a provider configuration, with the constraint that old ones have."""
        block = one.item
        address, subject = self._names.provider(block.name), provider_subject(block.name, block.alias)
        written = (block.constraint, block.constraints) if block.constraints is not None else ("", Constraints())
        self._require(one, address, Contributor.PROVIDER, subject, *written, block.constraint_line)

    def add_resource(self, one: Placed[Resource]) -> None:
        """Take a resource of any mode."""
        resource = one.item
        kind = Contributor.RESOURCE if resource.mode == "managed" else Contributor(resource.mode)
        self._add(one, resource.provider, resource.type, kind, resource.address)

    def add_import(self, one: Placed[Import]) -> None:
        """Take an import block. The tools differ in whether one with a resource block beside it counts.

        Terraform reads those of child modules from 1.16 on, OpenTofu does not.
        """
        block = one.item
        if self._key and self._dialect.name == "opentofu":
            detail = f"An import block was detected in {self._key}. Import blocks are only allowed in the root module."
            self._refuse(one, "Invalid import configuration", detail)
            return
        kind, name, is_in_module = _target(block.target)
        if kind is None:
            return
        existing = None if is_in_module else self._resources.get((kind, name))
        if block.provider and (is_in_module or (existing is not None and existing.provider != block.provider)):
            detail = "The provider argument can only be specified on a resource, or equal to the resource's own."
            self._refuse(one, "Invalid import provider argument", detail)
        if self._dialect.name == "terraform" and (is_in_module or existing is not None):
            return
        # OpenTofu takes the import's own provider even where the resource's is another.
        self._add(one, block.provider if not is_in_module else "", kind, Contributor.IMPORT, f"import of {kind}.{name}")

    def _add(
        self,
        one: Placed[Resource] | Placed[Import],
        provider: str | None,
        kind: str,
        contributor: Contributor,
        subject: str,
    ) -> None:
        """Add an unconstrained requirement, unless its provider cannot be known."""
        if provider is None:
            return
        try:
            address = self._names.provider(provider) if provider else self._names.of_type(kind)
        except ValueError as error:
            self._refuse(one, "Invalid provider local name", str(error))
            return
        position = self._used.setdefault((contributor, address), len(self.requirements))
        if position < len(self.requirements):
            like = self.requirements[position]
            self.requirements[position] = replace(like, count=like.count + 1)
            return
        self._require(one, address, contributor, subject)

    def _require(
        self,
        one: Placed[Placeable],
        address: ProviderAddress,
        contributor: Contributor,
        subject: str,
        constraint: str = "",
        constraints: Constraints = _NO_CONSTRAINTS,
        constraint_line: int = 0,
        source_line: int = 0,
    ) -> None:
        place = one.file, one.item.line, self._key
        self.requirements.append(
            Requirement(
                address,
                constraint,
                constraints,
                *place,
                contributor,
                subject,
                one.overridden,
                constraint_line=constraint_line,
                source_line=source_line,
            )
        )

    def _refuse(self, one: Placed[Placeable], summary: str, detail: str, *, is_error: bool = True) -> None:
        self.problems.append(ConfigurationProblem.at(one.file, one.item, summary, detail, is_error=is_error))


def _target(parts: tuple[str | int, ...]) -> tuple[str | None, str, bool]:
    """Return type and name of an import's target, and if it is in a module; None if it is not a managed resource."""
    position = 0
    while parts[position : position + 1] == ("module",) and not isinstance(parts[position], hcl.IndexStep):
        position += 2
        if position < len(parts) and isinstance(parts[position], int | hcl.IndexStep):
            position += 1
    rest = parts[position:]
    if len(rest) < 2 or rest[0] == "data" or not isinstance(rest[0], str) or not isinstance(rest[1], str):
        return None, "", position > 0
    return rest[0], rest[1], position > 0


class Tests(Struct):
    """The contents of the test files.

    Attributes:
        runs: Calls of the modules that the runs name, each by its key in the list of fetched modules.
        requirements: Providers that the files configure; none for Terraform.
    """

    runs: list[Placed[ModuleCall]] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)
    problems: list[ConfigurationProblem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def read_tests(tree: Tree, root: str, names: LocalNames, *, dialect: Dialect, test_directory: str) -> Tests:
    """Read the test files in the root module's folder and in its test folder, which is relative to it.

    The root module's table of local names holds in tests too.
    """
    tests = Tests()
    reader = _TestReader(tests, names, dialect)
    reader.read_folder(tree, root, "")
    relative = test_directory.strip("/")
    folder = tree.join(root, relative)
    if folder is None or folder == root:
        return tests
    if tree.has_folder(folder):
        reader.read_folder(tree, folder, relative)
    elif _is_file(tree, folder):
        reader.note(folder, None, "Failed to read test directory", f"{folder} is not a folder.")
    elif relative != DEFAULT_TEST_FOLDER:
        detail = f"Requested test directory {relative} does not exist."
        reader.note(folder, None, "Test directory does not exist", detail, is_error=False)
    return tests


def _is_file(tree: Tree, path: str) -> bool:
    try:
        return tree.read(path) is not None
    except ConfigurationError:
        return True


class _TestReader:
    """Reads test files into a `Tests`."""

    def __init__(self, tests: Tests, names: LocalNames, dialect: Dialect) -> None:
        self._tests = tests
        self._names = names
        self._dialect = dialect

    def read_folder(self, tree: Tree, folder: str, relative: str) -> None:
        """Read a folder's test files; `relative` is its path from the root module's, "" for that itself."""
        try:
            entries = files_of_tests(tree.list(folder), self._dialect)
        except ConfigurationError as error:
            self.note(folder, None, "Failed to read test directory", str(error))
            return
        for entry in entries:
            path = path_in(folder, entry.name)
            self._tests.files.append(path)
            data = self._bytes(tree, path, entry)
            if data is not None:
                self._read(data, path, _key(relative, entry.name))

    def note(self, file: str, place: Placeable | None, summary: str, detail: str, *, is_error: bool = True) -> None:
        """Add a problem."""
        self._tests.problems.append(ConfigurationProblem.at(file, place, summary, detail, is_error=is_error))

    def _bytes(self, tree: Tree, path: str, entry: FolderEntry) -> bytes | None:
        detail = f'The file "{entry.name}" could not be read.'
        try:
            data = tree.read(path) if entry.kind is EntryKind.FILE else None
        except ConfigurationError as error:
            data, detail = None, str(error)
        if data is None:
            self.note(path, None, "Failed to read file", detail)
        return data

    def _read(self, data: bytes, path: str, key: str) -> None:
        parsed = hcl.parse(data, json=is_json(path), wanted=_WANTED)
        for problem in parsed.problems:
            self.note(path, problem, problem.summary, problem.detail)
        if parsed.body is None:
            return
        for block in parsed.body.blocks("run", labels=1):
            for inner in block.body.blocks("module"):
                self._add_run(inner, path, f"{key}.{block.labels[0]}")
        for block in parsed.body.blocks("provider", labels=1):
            self._add_provider(block, path)

    def _add_run(self, block: hcl.Block, path: str, key: str) -> None:
        source, version = (_argument(block, name) for name in ("source", "version"))
        self._tests.runs.append(Placed(path, ModuleCall(block.place, key, source, version)))

    def _add_provider(self, block: hcl.Block, path: str) -> None:
        """Terraform forbids versions here and lets the block require nothing; OpenTofu takes both."""
        name = block.labels[0]
        version = block.body.attributes.get("version")
        if self._dialect.name == "terraform":
            if version is not None:
                detail = "Move the constraint into the main configuration."
                self.note(path, version.place, "Version constraints are not allowed in test files", detail)
            return
        if local_name_problem(name, name):
            self.note(path, block.place, "Invalid provider local name", f'"{name}" is an invalid provider local name.')
            return
        constraint, constraints, constraint_line = "", Constraints(), 0
        if version is not None:
            self.note(path, version.place, OLD_VERSION, "Move it into required_providers.", is_error=False)
            constraint, constraint_line = constant_text(version) or "", version.value.place.line
            try:
                constraints = read_version(version.value, self._dialect, needs_string=False)
            except RefusedError as error:
                self.note(path, error.problem, error.problem.summary, error.problem.detail)
        subject = provider_subject(name, constant_text(block.body.attributes.get("alias")) or "")
        written = self._names.provider(name), constraint, constraints, path, block.place.line
        needed = Requirement(*written, "", Contributor.PROVIDER, subject, constraint_line=constraint_line)
        self._tests.requirements.append(needed)


def _key(relative: str, name: str) -> str:
    """The key of a file's runs in the list of fetched modules; of the endings only `.tftest.hcl` is cut off."""
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    return ".".join(["test", *parts, name.removesuffix(".tftest.hcl")])


def _argument(block: hcl.Block, name: str) -> CallArgument:
    found = block.body.attributes.get(name)
    is_constant = found is None or isinstance(found.value, hcl.Literal)
    return CallArgument(block.place, constant_text(found), "" if is_constant else COMPUTED)
