"""A root module's configuration as values: what each file declares, and what is required, missing or wrong. No I/O."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from locklens.lines import FilePlace
from locklens.text import listing
from locklens.versions import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens import hcl
    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect

    Placeable: TypeAlias = "Declaration | hcl.SourcePlace | hcl.SyntaxProblem"
    """What has a line and a column: of an expression, its place."""

UNCOMPUTED = "Unable to compute static value"
"""The reason why a module is missing whose source or version cannot be known, in OpenTofu's words."""

NO_FOLDER = "Unreadable module directory"
"""The reason why a local module is missing whose folder does not exist."""

OUTSIDE = f"{NO_FOLDER}: it is outside of the repository"
"""The reason why a local module is missing whose folder is not looked at."""

LEADS_BACK = f"{NO_FOLDER}: it leads out of the repository, and perhaps back into it"
"""The reason why a module is missing whose source goes by the name of the folder that the repository is in."""

DATA_OUTSIDE = "TF_DATA_DIR is outside of the repository"
"""The reason why a fetched module is missing: the folder in which it is, is not looked at."""

OUTDATED = "Module is not as the failing run fetched it"
"""The reason why a fetched module is missing where another version of it is asked about."""

_UNFETCHABLE = {
    UNCOMPUTED: "of a source or version that cannot be computed",
    NO_FOLDER: "not there",
    OUTSIDE: "outside of the repository",
    LEADS_BACK: "outside of the repository, or perhaps back in it",
    DATA_OUTSIDE: "in TF_DATA_DIR, which is outside of the repository",
}
"""For each reason that fetching does not remove, what such a module is."""

Mode = Literal["managed", "data", "ephemeral", "action"]
RequirementSite = tuple[str, int, str]
"""File, line and subject of a requirement."""


class Contributor(StrEnum):
    """The kind of a requirement."""

    REQUIRED_PROVIDERS = "required_providers"
    PROVIDER = "provider"
    RESOURCE = "resource"
    DATA = "data"
    EPHEMERAL = "ephemeral"
    ACTION = "action"
    IMPORT = "import"
    STATE = "state"
    RECORDED = "recorded"
    """The constraint in the lock file, in place of a configuration that is unknown."""


class Hidden(Struct, frozen=True):
    """A requirement that an override file replaced, with its place and constraint."""

    file: str
    line: int
    constraint: str
    constraint_line: int = 0


class Requirement(Struct, frozen=True):
    """One thing that requires one provider.

    Attributes:
        constraint: The version constraint as written; "" if there is no constraint.
        file: Path relative to the tree's top.
        module: Path of the call, such as "network" or "a.b"; "" for the root module.
        subject: Its name, such as `aws_instance.web` or `provider "aws"`.
        overrides: The requirement that an override file replaced.
        count: How many like it there are in the module: of resources of one kind that use one provider, the first
            stands for all.
        constraint_line: Line on which the constraint begins; 0 without one, and where the lock file recorded it.
        source_line: Line of the source address; 0 without one.
    """

    address: ProviderAddress
    constraint: str
    constraints: Constraints
    file: str
    line: int
    module: str
    contributor: Contributor
    subject: str
    overrides: Hidden | None = None
    count: int = 1
    constraint_line: int = 0
    source_line: int = 0

    @property
    def site(self) -> RequirementSite:
        """Where it stands: two of one line differ in their subject."""
        return self.file, self.line, self.subject


def constraint_place(one: Requirement | Hidden) -> FilePlace:
    """Return the place of a constraint, which may stand below the first line of its requirement."""
    return FilePlace(one.file, one.constraint_line or one.line)


def source_place(one: Requirement) -> FilePlace:
    """Return the place of a source address; that of its requirement where none is written."""
    return FilePlace(one.file, one.source_line or one.line)


def is_fetched(path: str) -> bool:
    """True for a file of a module that `init` fetched, which is not edited where it lies."""
    return ".terraform/" in path


def source_places(requirements: Iterable[Requirement]) -> tuple[FilePlace, ...]:
    """Return the places of the source addresses that a provider has; () where a module that requires it has none.

    An installed module counts as one, since nothing of it can be edited. What the state requires is not written.
    """
    written = [one for one in requirements if one.contributor is not Contributor.STATE]
    sources = [one for one in written if one.source_line and not is_fetched(one.file)]
    is_each = {one.module for one in written} == {one.module for one in sources}
    return tuple(dict.fromkeys(map(source_place, sources))) if is_each else ()


def is_source_implied(requirements: Sequence[Requirement]) -> bool:
    """True if no source of a required provider is written anywhere, so that its name alone stands for one."""
    named = {Contributor.RECORDED, Contributor.STATE}
    return bool(requirements) and not any(one.source_line or one.contributor in named for one in requirements)


class ModuleReference(Struct, frozen=True):
    """A call of a module, by its path, such as "network" or "a.b", with the text of its source and its place."""

    call: str
    source: str
    file: str
    line: int


class MissingModule(ModuleReference, frozen=True):
    """A call of a module that cannot be read, so that its requirements are unknown.

    Attributes:
        reason: In the tools' words where they have some.
    """

    reason: str

    @property
    def is_fetchable(self) -> bool:
        """True if it can be read once the tool's `get` has fetched it."""
        return self.reason not in _UNFETCHABLE

    @property
    def is_outdated(self) -> bool:
        """True if `get` alone keeps what is here."""
        return self.reason == OUTDATED

    @property
    def trouble(self) -> str:
        """What it is, so that it cannot be read, such as "not fetched"."""
        return "not as the failing run fetched it" if self.is_outdated else _UNFETCHABLE.get(self.reason, "not fetched")


def by_trouble(modules: Iterable[MissingModule]) -> dict[str, list[MissingModule]]:
    """Return modules by what keeps them from being read."""
    found: dict[str, list[MissingModule]] = {}
    for module in modules:
        found.setdefault(module.trouble, []).append(module)
    return found


class RemoteModule(ModuleReference, frozen=True):
    """A call, in the repository itself, of a module that is not.

    Attributes:
        version: The constraint of a registry's module; "" without one.
        selected_line: Line of what selects its version: of that argument, else of the source.
        is_exact: True if every `init` fetches the same code: by an exact version, a commit, or a checksum.
        fetched: The version of the copy that is fetched here; "" without one, or without a version.
        folder: That of the copy, relative to the tree's top; "" without one.
    """

    version: str
    selected_line: int
    is_exact: bool
    fetched: str = ""
    folder: str = ""

    @property
    def selected_at(self) -> FilePlace:
        """The place of what selects its version."""
        return FilePlace(self.file, self.selected_line)


class ConfigurationProblem(Struct, frozen=True):
    """An error or warning about the configuration, in the tools' words.

    Attributes:
        file: Path relative to the tree's top; "" as long as a file's contents are read without its path.
        column: From 1; None for the whole file.
        is_error: False for a warning.
    """

    file: str
    line: int | None
    column: int | None
    summary: str
    detail: str
    is_error: bool

    @classmethod
    def at(
        cls, file: str, place: Placeable | None, summary: str, detail: str, *, is_error: bool = True
    ) -> ConfigurationProblem:
        """Return a problem at a place in a file, or with the whole file (None)."""
        line, column = (place.line or None, place.column or None) if place is not None else (None, None)
        return cls(file, line, column, summary, detail, is_error)


class StateReading(Struct, frozen=True):
    """The result of reading the state.

    Attributes:
        kind: "none" where there is none, "local" where it was read, else why it was not.
        detail: A sentence where it was not read, else "".
        file: Its path, whether it was read or not; "" if it does not exist, or it is unknown which file it is.
        outside: Its path as it is named, where that leads out of the tree; it may lead back by the name of the folder
            that the tree is in.
        backend: File and line of the backend whose path cannot be known; None for any other.
    """

    kind: Literal["none", "local", "remote", "unreadable"]
    detail: str
    file: str = ""
    outside: str = ""
    backend: tuple[str, int] | None = None


_UNREAD_STATES = frozenset({"remote", "unreadable"})


class Configuration(Struct, frozen=True, dict=True):
    """A root module's configuration.

    Attributes:
        root: Its folder in the tree, "" for the top.
        has_files: True if the folder has any configuration file; without one the tools do nothing.
        requirements: In the order of the modules and files.
        files: Path of every file that was read.
        remote_modules: Calls of modules outside of the repository, each place once.
        value_files: Path of every file with values of variables from which sources or the state's path are computed.
        local_calls: Path and source, in normal form, of each call of a module in its caller's tree; none of tests. The
            source is "" where it is computed, since a value may be a secret.
        workspaces: What the local state of each other workspace than the selected one requires, by its name, where
            those were read: a run in it requires that, and no other run does.
        unread_workspaces: Those of them that cannot be read.
        test_runs: What the paths of the calls that test files make begin with.
        is_known: False where files are compared of which none tells the folder: whether it has any file is unknown.
        generator: File in the folder from which another tool generates configuration, such as terragrunt.hcl; "" for
            none.
    """

    root: str
    dialect: Dialect
    has_files: bool
    requirements: tuple[Requirement, ...]
    missing_modules: tuple[MissingModule, ...]
    problems: tuple[ConfigurationProblem, ...]
    state: StateReading
    files: tuple[str, ...]
    generator: str = ""
    remote_modules: tuple[RemoteModule, ...] = ()
    local_calls: tuple[tuple[str, str], ...] = ()
    value_files: tuple[str, ...] = ()
    other_states: tuple[StateReading, ...] = ()
    workspaces: Mapping[str, tuple[Requirement, ...]] = {}
    unread_workspaces: tuple[StateReading, ...] = ()
    test_runs: tuple[str, ...] = ()
    is_known: bool = True

    @classmethod
    def absent(cls, root: str, dialect: Dialect, generator: str = "") -> Configuration:
        """A folder without a configuration file: its requirements are unknown."""
        return cls(root, dialect, False, (), (), (), StateReading("none", ""), (), generator)

    def without_modules(self, left_out: Sequence[MissingModule]) -> Configuration:
        """Return it as it is known where some modules, and those that they call, are not."""
        calls = tuple(f"{one.call}." for one in left_out)
        kept = (one for one in self.requirements if not f"{one.module}.".startswith(calls))
        return replace(self, requirements=tuple(kept), missing_modules=(*self.missing_modules, *left_out))

    @property
    def of_own_files(self) -> Configuration:
        """What it requires without the modules that were fetched, which other roots may call as well."""
        return replace(self, requirements=tuple(one for one in self.requirements if not is_fetched(one.file)))

    @property
    def undeclared_reason(self) -> str:
        """The reason why the folder does not declare all that is required; "" if it does."""
        if not self.is_known:
            return "no configuration was named (--config DIR)"
        if not self.has_files:
            return f"no configuration in this folder{f', {self.generator} generates it' if self.generator else ''}"
        return f"{self.generator} may generate more of the configuration" if self.generator else ""

    @property
    def complete(self) -> bool:
        """True if all that requires a provider is known."""
        return not self.undeclared_reason and not self.has_faults

    @property
    def lacks_state_alone(self) -> bool:
        """True if all but a state is read, as of a root with a remote backend: every constraint is known."""
        return not self.complete and not self.unknown_constraints

    @property
    def has_faults(self) -> bool:
        """True if something that there is could not be read; a folder without a configuration has no fault."""
        has_error = bool(self.missing_modules) or any(problem.is_error for problem in self.problems)
        return has_error or any(one.kind not in ("none", "local") for one in (self.state, *self.other_states))

    def of(self, address: ProviderAddress) -> tuple[Requirement, ...]:
        """Return all that requires a provider."""
        return self._by_address.get(address, ())

    @cached_property
    def _by_address(self) -> dict[ProviderAddress, tuple[Requirement, ...]]:
        found: dict[ProviderAddress, list[Requirement]] = {}
        for one in self.requirements:
            found.setdefault(one.address, []).append(one)
        return {address: tuple(those) for address, those in found.items()}

    def exact_call(self, one: Requirement) -> RemoteModule | None:
        """Return the call that brings a requirement, of a module of which every `init` fetches the same; else None."""
        calls = (each for each in self.remote_modules if f"{one.module}.".startswith(f"{each.call}."))
        call = next(calls, None) if is_fetched(one.file) else None
        return call if call is not None and call.is_exact else None

    def requires(self, address: ProviderAddress) -> bool:
        """True if a provider is among those that are `required`."""
        return address in self._by_address and not self.dialect.is_builtin(address)

    @cached_property
    def unknown_reason(self) -> str:
        """The reason why it is unknown if a provider is required; "" if it is known."""
        if not self.has_files:
            return self.undeclared_reason
        if self.unread_reason:
            return self.unread_reason
        if self.state.kind in _UNREAD_STATES:
            return self.state.detail or "the state is remote"
        if self.undeclared_reason:
            return self.undeclared_reason
        return "" if self.complete else "the configuration could not be read whole"

    def unknown_need(self, address: ProviderAddress) -> str:
        """The reason why it is unknown if any run requires a provider, of all workspaces; "" if it is known."""
        if self.unknown_reason:
            return self.unknown_reason
        if name := self.workspace_of(address):
            file = self.workspaces[name][0].file
            return f"the state of another workspace requires it, which TF_WORKSPACE={name} selects ({file})"
        unread = next(iter(self.unread_workspaces), None)
        return f"the state of another workspace cannot be read ({unread.file})" if unread is not None else ""

    def workspace_of(self, address: ProviderAddress) -> str:
        """Return the first of `workspaces` that requires a provider; "" if none does."""
        found = (name for name, those in self.workspaces.items() if any(one.address == address for one in those))
        return next(found, "")

    @property
    def unknown_constraints(self) -> str:
        """The reason why a constraint may be unknown; "" if all are known. A state has none, wherever it is."""
        return self.unread_reason or self.undeclared_reason

    @property
    def unread_reason(self) -> str:
        """The reason why constraints that are written somewhere could not be read, so that upgrade stops; "" if none.

        A folder that does not declare all is no reason: what its lock file records is known.
        """
        if self.missing_modules:
            groups = by_trouble(self.missing_modules)
            listed = {why: [f"{one.call} ({one.source})" for one in those] for why, those in groups.items()}
            return "; ".join(
                f"{why}: {'module' if len(names) == 1 else 'modules'} {listing(names)}" for why, names in listed.items()
            )
        return f"the configuration has an error ({place})" if (place := self.error_place) else ""

    @property
    def error_place(self) -> str:
        """File and line of the first error, for which the tools fail; "" for none."""
        first = next((problem for problem in self.problems if problem.is_error), None)
        if first is None:
            return ""
        return f"{first.file}:{first.line}" if first.line else first.file

    def required(self) -> frozenset[ProviderAddress]:
        """Return the providers that have to be locked: all but those that are part of the tool."""
        return frozenset(address for address in self._by_address if not self.dialect.is_builtin(address))

    def is_of_init(self, address: ProviderAddress) -> bool:
        """True if only the state or test files require a provider: `init` reads them, and `providers lock` neither."""
        own = self.of(address)
        return bool(own) and all(one.contributor is Contributor.STATE or self._is_of_tests(one) for one in own)

    def is_left_to_state(self, address: ProviderAddress) -> bool:
        """True if nothing can require a provider but a state that could not be read, or is of another workspace."""
        is_open = self.state.kind in _UNREAD_STATES or self.workspace_of(address) != ""
        return is_open and not self.unknown_constraints and not self.of(address)

    def _is_of_tests(self, one: Requirement) -> bool:
        return one.file.endswith(self.dialect.test_suffixes) or f"{one.module}.".startswith(self.test_runs)

    def constraints(self, address: ProviderAddress) -> Constraints:
        """Return every constraint on a provider, which all hold together, each term once."""
        return Constraints(tuple(dict.fromkeys(term for one in self.of(address) for term in one.constraints.terms)))


class Declaration(Struct, frozen=True):
    """What a file declares, at the place of its block or, of an entry, its name."""

    place: hcl.SourcePlace

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.place.line

    @property
    def column(self) -> int:
        """The column, from 1."""
        return self.place.column


class RequiredEntry(Declaration, frozen=True):
    """One entry.

    Attributes:
        address: The provider that it stands for.
        constraint: The constraint as written; "" without one.
        constraints: The same, read.
        constraint_line: Line on which it begins; 0 without one.
        source_line: Line of the source address; 0 without one.
    """

    name: str
    address: ProviderAddress
    constraint: str
    constraints: Constraints
    constraint_line: int
    source_line: int = 0


class RequiredProviders(Declaration, frozen=True):
    """A required_providers block."""

    entries: tuple[RequiredEntry, ...]


class ProviderConfiguration(Declaration, frozen=True):
    """A provider configuration. `constraints` is None if the block has no `version`."""

    name: str
    alias: str
    constraint: str
    constraints: Constraints | None
    constraint_line: int


class Resource(Declaration, frozen=True):
    """A resource, data source, ephemeral resource or action.

    Attributes:
        provider: The local name that `provider =` gives; "" if the argument is absent, None if its name is unknown.
        in_check: True if it is a data source inside a check block.
    """

    mode: Mode
    type: str
    name: str
    provider: str | None
    in_check: bool

    @property
    def address(self) -> str:
        """The reference to it in expressions."""
        return f"{self.type}.{self.name}" if self.mode == "managed" else f"{self.mode}.{self.type}.{self.name}"


class Import(Declaration, frozen=True):
    """An import block.

    Attributes:
        target: The steps of `to`, up to the first computed one.
    """

    target: tuple[str | int, ...]
    provider: str | None


class CallArgument(Struct, frozen=True):
    """The source or the version of a module call.

    Attributes:
        place: Its place, the block's where it has none.
        fault: Why there is no constant text although the argument is there.
        written: The argument as it is in the file, where its text is a value that was put in; "" for any other.
    """

    place: hcl.SourcePlace
    text: str | None = None
    fault: str = ""
    written: str = ""

    @property
    def is_given(self) -> bool:
        """True if there is a text, or a reason why there is none."""
        return self.text is not None or bool(self.fault)

    @property
    def shown(self) -> str:
        """The argument for reports: never a value that was put in, since files of values may hold secrets."""
        return self.written or self.text or ""


class ModuleCall(Declaration, frozen=True):
    """A module call; `name` is its label."""

    name: str
    source: CallArgument
    version: CallArgument


class Backend(Declaration, frozen=True):
    """The storage of the state.

    Attributes:
        kind: "backend" or "cloud".
        type: The backend's label, "" for a cloud block.
        path: Path of a local backend's file; None if absent.
        workspace_folder: Folder of a local backend's other workspaces; None if absent.
        is_computed: True if path or folder cannot be known.
    """

    kind: str
    type: str
    path: str | None
    workspace_folder: str | None
    is_computed: bool


class FileContents(Struct, frozen=True):
    """All that a file declares, each list in the file's order."""

    required: tuple[RequiredProviders, ...] = ()
    providers: tuple[ProviderConfiguration, ...] = ()
    resources: tuple[Resource, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[ModuleCall, ...] = ()
    backends: tuple[Backend, ...] = ()
    problems: tuple[ConfigurationProblem, ...] = ()
