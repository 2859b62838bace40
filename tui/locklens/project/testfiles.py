"""Test files, which `init` reads with the root module: modules they run and, for OpenTofu, their providers count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens import hcl
from locklens.addresses import normalise_part
from locklens.errors import ConfigurationError
from locklens.project.configuration import ConfigurationProblem, Contributor, Requirement
from locklens.project.contributors import LocalNames, provider_subject
from locklens.project.declared import ModuleCall
from locklens.project.files import files_of_tests, is_json
from locklens.project.provider_entries import read_version
from locklens.project.tree import EntryKind, FolderEntry
from locklens.versions import Constraints

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.tree import Tree

DEFAULT_FOLDER = "tests"
_WANTED = hcl.Wanted(
    blocks={
        "run": hcl.Wanted(blocks={"module": hcl.Wanted(frozenset(["source", "version"]))}),
        "provider": hcl.Wanted(frozenset(["alias", "version"])),
    }
)
_OLD_VERSION = "Version constraints inside provider configuration blocks are deprecated"


class TestRun(Struct, frozen=True):
    """A run block that runs another module."""

    key: str
    call: ModuleCall
    file: str


class Tests(Struct):
    """The contents of the test files.

    Attributes:
        runs: Runs of other modules.
        requirements: Providers that the files configure; none for Terraform.
        problems: Errors and warnings.
        files: Paths of the files that were read.
    """

    runs: list[TestRun] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)
    problems: list[ConfigurationProblem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def read_tests(tree: Tree, root: str, names: LocalNames, *, dialect: Dialect, test_directory: str) -> Tests:
    """Read the test files in the root module's folder and in its test folder.

    Args:
        tree: Where they are.
        root: The root module's folder.
        names: The root module's table of local names, which holds in tests too.
        dialect: The tool.
        test_directory: Relative to the root module.
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
    elif relative != DEFAULT_FOLDER:
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
        """Read a folder's test files.

        Args:
            tree: Where they are.
            folder: Its path in the tree.
            relative: Its path relative to the root module, "" for that itself.
        """
        try:
            entries = files_of_tests(tree.list(folder), self._dialect)
        except ConfigurationError as error:
            self.note(folder, None, "Failed to read test directory", str(error))
            return
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            self._tests.files.append(path)
            data = self._bytes(tree, path, entry)
            if data is not None:
                self._read(data, path, _key(relative, entry.name))

    def note(
        self,
        file: str,
        place: hcl.SourcePlace | hcl.SyntaxProblem | None,
        summary: str,
        detail: str,
        *,
        is_error: bool = True,
    ) -> None:
        """Add a problem."""
        line, column = (place.line, place.column) if place is not None else (None, None)
        self._tests.problems.append(ConfigurationProblem(file, line, column, summary, detail, is_error))

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
        texts: list[str | None] = []
        faults: list[str] = []
        for name in ("source", "version"):
            attribute = block.body.attributes.get(name)
            value = attribute.value if attribute is not None else None
            texts.append(value.text if isinstance(value, hcl.Literal) else None)
            faults.append("" if value is None or isinstance(value, hcl.Literal) else "Variables not allowed")
        call = ModuleCall(
            name=key,
            source=texts[0],
            source_fault=faults[0],
            version=texts[1],
            version_fault=faults[1],
            source_at=block.place,
            version_at=block.place,
            line=block.place.line,
            column=block.place.column,
        )
        self._tests.runs.append(TestRun(key, call, path))

    def _add_provider(self, block: hcl.Block, path: str) -> None:
        """Terraform forbids versions here and lets the block require nothing; OpenTofu takes both."""
        name = block.labels[0]
        version = block.body.attributes.get("version")
        if self._dialect.name == "terraform":
            if version is not None:
                detail = "Move the constraint into the main configuration."
                self.note(path, version.place, "Version constraints are not allowed in test files", detail)
            return
        if not _is_normal(name):
            self.note(path, block.place, "Invalid provider local name", f'"{name}" is an invalid provider local name.')
            return
        constraint, constraints = "", Constraints()
        if version is not None:
            self.note(path, version.place, _OLD_VERSION, "Move it into required_providers.", is_error=False)
            constraint, found, problem = read_version(version.value, self._dialect, needs_string=False)
            if problem is not None:
                self.note(path, problem, problem.summary, problem.detail)
            constraints = found or constraints
        alias = block.body.attributes.get("alias")
        alias_text = alias.value.text if alias is not None and isinstance(alias.value, hcl.Literal) else ""
        subject = provider_subject(name, alias_text or "")
        self._tests.requirements.append(
            Requirement(
                address=self._names.provider(name),
                constraint=constraint,
                constraints=constraints,
                file=path,
                line=block.place.line,
                module="",
                contributor=Contributor.PROVIDER,
                subject=subject,
                overrides=None,
            )
        )


def _key(relative: str, name: str) -> str:
    """The key of a file's runs in the list of fetched modules; of the endings only `.tftest.hcl` is cut off."""
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    return ".".join(["test", *parts, name.removesuffix(".tftest.hcl")])


def _is_normal(name: str) -> bool:
    try:
        return normalise_part(name) == name
    except ValueError:
        return False
