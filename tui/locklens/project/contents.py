"""Reads what one configuration file declares of providers, modules and the state.

The rest of what a file holds (variables, outputs, locals, checks, moved and removed blocks) is not judged, and of its
expressions only those are read that concern these. A file is judged alone here: what it means beside its neighbours is
for `locklens.project.modules`. Entries of a required_providers block are evaluated by neither tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens import hcl
from locklens.addresses import ProviderAddress, normalise_part
from locklens.dialect import AddressError, Dialect
from locklens.project.configuration import (
    Backend,
    CallArgument,
    ConfigurationProblem,
    FileContents,
    Import,
    Mode,
    ModuleCall,
    ProviderConfiguration,
    RequiredEntry,
    RequiredProviders,
    Resource,
)
from locklens.versions import Constraints, ConstraintSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterable


_ROOT_BLOCKS = {
    "terraform": 0,
    "required_providers": 0,
    "provider": 1,
    "variable": 1,
    "locals": 0,
    "output": 1,
    "module": 1,
    "resource": 2,
    "data": 2,
    "ephemeral": 2,
    "moved": 0,
    "removed": 0,
    "import": 0,
    "check": 1,
}
_OWN_BLOCKS = {"terraform": {"action": 2}, "opentofu": {"language": 0}}
"""Blocks that only one of the tools reads: Terraform has actions from 1.14 on."""

_MODES: tuple[tuple[str, Mode], ...] = (
    ("resource", "managed"),
    ("data", "data"),
    ("ephemeral", "ephemeral"),
    ("action", "action"),
)
_REFERRING = hcl.Wanted(frozenset(["provider"]))
_WANTED = hcl.Wanted(
    blocks={
        "terraform": hcl.Wanted(
            blocks={"required_providers": hcl.Wanted(None), "backend": hcl.Wanted(frozenset(["path", "workspace_dir"]))}
        ),
        "provider": hcl.Wanted(frozenset(["alias", "version"])),
        "module": hcl.Wanted(frozenset(["source", "version"])),
        "import": hcl.Wanted(frozenset(["to", "provider"])),
        "check": hcl.Wanted(blocks={"data": _REFERRING}),
        **{kind: _REFERRING for kind, _ in _MODES},
    }
)
_TERRAFORM_ARGUMENTS = frozenset(["required_version", "experiments", "language"])
_TERRAFORM_BLOCKS = {"backend": 1, "cloud": 0, "required_providers": 0, "provider_meta": 1}
_NESTED = 'A "required_providers" block must be nested inside a "terraform" block.'
COMPUTED = "Variables not allowed"
"""The fault of a module call's argument that is more than a constant, in Terraform's words."""

_BAD_NAME = "Invalid provider local name"
OLD_VERSION = "Version constraints inside provider configuration blocks are deprecated"
_NAMES = "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes."
_REFERENCE = (
    "The provider argument requires a provider type name, optionally followed by a period and then a "
    "configuration alias."
)

_FORMS = "required_providers entries must be strings or objects."
_ALIASES = (
    "Configuration aliases can only contain references to local provider configuration names in the format of "
    "provider.alias"
)
_KEYS = (
    'required_providers objects can only contain "version", "source" and "configuration_aliases" attributes. '
    'To configure a provider, use a "provider" block.'
)


def read_contents(data: bytes, *, is_json: bool, dialect: Dialect) -> FileContents:
    """Read a configuration file."""
    parsed = parse_file(data, is_json=is_json)
    reader = _Reader(is_json=is_json, dialect=dialect)
    reader.add_problems(parsed.problems)
    if parsed.body is not None:
        reader.read_root(parsed.body)
    return reader.contents()


def parse_file(data: bytes, *, is_json: bool) -> hcl.Parsed:
    """Parse a configuration file, of whose arguments only those have a value that matter here."""
    return hcl.parse(data, json=is_json, wanted=_WANTED)


class _Reader(Struct):
    """Gathers what one file declares."""

    is_json: bool
    dialect: Dialect
    required: list[RequiredProviders] = field(default_factory=list)
    providers: list[ProviderConfiguration] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    calls: list[ModuleCall] = field(default_factory=list)
    backends: list[Backend] = field(default_factory=list)
    problems: list[ConfigurationProblem] = field(default_factory=list)

    def contents(self) -> FileContents:
        """Return what was gathered."""
        return FileContents(**{name: tuple(getattr(self, name)) for name in FileContents.__struct_fields__})

    def add_problems(self, problems: Iterable[hcl.SyntaxProblem]) -> None:
        """Take problems of the syntax or the schema."""
        self.problems.extend(ConfigurationProblem.at("", one, one.summary, one.detail) for one in problems)

    def note(self, place: hcl.SourcePlace, summary: str, detail: str, *, is_error: bool = True) -> None:
        """Note an error, or a warning."""
        self.problems.append(ConfigurationProblem.at("", place, summary, detail, is_error=is_error))

    def read_root(self, body: hcl.Body) -> None:
        """Read a file's top level."""
        blocks = _ROOT_BLOCKS | _OWN_BLOCKS[self.dialect.name]
        self.add_problems(body.misfits(frozenset(), blocks))
        for block in body.blocks("terraform"):
            self._read_settings(block)
        for block in body.blocks("required_providers"):
            self.note(block.place, "Invalid required_providers block", _NESTED)
        for block in body.blocks("provider", labels=1):
            self._read_provider(block)
        for kind, mode in _MODES:
            for block in body.blocks(kind, labels=2) if kind in blocks else ():
                self._read_resource(block, mode)
        for block in body.blocks("import"):
            self._read_import(block)
        for block in body.blocks("module", labels=1):
            self._read_call(block)
        for block in body.blocks("check", labels=1):
            for inner in block.body.blocks("data", labels=2):
                self._read_resource(inner, "data", in_check=True)

    def _read_settings(self, block: hcl.Block) -> None:
        blocks = _TERRAFORM_BLOCKS | ({"encryption": 0} if self.dialect.name == "opentofu" else {})
        self.add_problems(block.body.misfits(_TERRAFORM_ARGUMENTS, blocks))
        for inner in block.body.blocks("required_providers"):
            entries, problems = read_entries(inner.body, self.dialect, is_json=self.is_json)
            self.add_problems(problems)
            self.required.append(RequiredProviders(inner.place, entries))
        for kind, labels in (("backend", 1), ("cloud", 0)):
            for inner in block.body.blocks(kind, labels=labels):
                self._read_backend(inner)

    def _read_backend(self, block: hcl.Block) -> None:
        values = [block.body.attributes.get(name) for name in ("path", "workspace_dir")]
        path, folder = texts = [constant_text(value) for value in values]
        is_constant = all(value is None or isinstance(value.value, hcl.Literal) for value in values)
        is_computed = not is_constant or any(map(self._is_template, texts))
        kind = block.labels[0] if block.labels else ""
        self.backends.append(Backend(block.place, block.type, kind, path, folder, is_computed))

    def _is_template(self, text: str | None) -> bool:
        """True if a text of JSON is a template, which OpenTofu evaluates; Terraform takes it as it stands."""
        return self.is_json and self.dialect.name == "opentofu" and text is not None and ("${" in text or "%{" in text)

    def _read_provider(self, block: hcl.Block) -> None:
        name = block.labels[0]
        if not self._is_local_name(name, block.label_places[0]):
            return
        arguments = block.body.attributes
        alias = constant_text(arguments.get("alias")) or ""
        if "alias" in arguments and not is_name(alias):
            detail = f"An alias must be a valid name. {_NAMES}"
            self.note(arguments["alias"].value.place, "Invalid provider configuration alias", detail)
        constraint, constraints, constraint_line = "", None, 0
        if (version := arguments.get("version")) is not None:
            detail = "Move the constraint into the required_providers block."
            self.note(version.place, OLD_VERSION, detail, is_error=False)
            constraint, constraint_line = constant_text(version) or "", version.value.place.line
            try:
                constraints = read_version(version.value, self.dialect, needs_string=False)
            except RefusedError as error:
                self.add_problems([error.problem])
        self.providers.append(ProviderConfiguration(block.place, name, alias, constraint, constraints, constraint_line))

    def _is_local_name(self, name: str, place: hcl.SourcePlace) -> bool:
        if problem := local_name_problem(name, repr(name)):
            self.note(place, _BAD_NAME, problem)
        return not problem

    def _read_resource(self, block: hcl.Block, mode: Mode, *, in_check: bool = False) -> None:
        kind, name = block.labels
        self.resources.append(Resource(block.place, mode, kind, name, self._provider_reference(block), in_check))

    def _provider_reference(self, block: hcl.Block) -> str | None:
        """Return the local name in `provider = NAME.ALIAS`; "" without it; None, with a problem, for another value."""
        argument = block.body.attributes.get("provider")
        if argument is None:
            return ""
        place, is_text = argument.value.place, _text(argument.value) is not None
        if is_text and not self.is_json:
            detail = "Remove the quotes surrounding this reference."
            self.note(place, "Quoted references are deprecated", detail, is_error=False)
        value = _unquoted(argument.value)
        parts = _steps(value)
        if isinstance(value, hcl.Literal) and value.keyword and (is_text or not self.is_json):
            parts = (value.keyword,)  # `provider = null` names the provider
        is_indexed = isinstance(value, hcl.Dynamic) and len(value.prefix) == 2
        limit = 3 if self.dialect.name == "opentofu" else 2
        name = parts[0] if parts else None
        if not isinstance(name, str) or len(parts) > limit or (is_indexed and limit == 2):
            self.note(place, "Invalid provider configuration reference", _REFERENCE)
            return None
        return name if self._is_local_name(name, place) else None

    def _read_import(self, block: hcl.Block) -> None:
        target = block.body.attributes.get("to")
        if target is not None:
            steps = _steps(_unquoted(target.value) if self.is_json else target.value)
            self.imports.append(Import(block.place, steps, self._provider_reference(block)))

    def _read_call(self, block: hcl.Block) -> None:
        name = block.labels[0]
        if not is_name(name):
            self.note(block.label_places[0], "Invalid module instance name", _NAMES)
        source, version = self._argument(block, "source"), self._argument(block, "version")
        is_null = not version.is_given and "version" in block.body.attributes
        if is_null and self.dialect.name != "opentofu":
            version = CallArgument(version.place, fault="Invalid version constraint")
        self.calls.append(ModuleCall(block.place, name, source, version))

    def _argument(self, block: hcl.Block, name: str) -> CallArgument:
        attribute = block.body.attributes.get(name)
        if attribute is None:
            return CallArgument(block.place)
        value = attribute.value
        if not isinstance(value, hcl.Literal):
            is_call = isinstance(value, hcl.Dynamic) and value.is_call
            return CallArgument(value.place, fault="Function calls not allowed" if is_call else COMPUTED)
        text = value.text
        if self._is_template(text):
            return CallArgument(value.place, fault=COMPUTED)  # OpenTofu evaluates it, also in the JSON syntax
        fault = "Unsuitable value type" if text is None and name == "source" else ""
        return CallArgument(value.place, text, fault)


def _text(value: hcl.Expression) -> str | None:
    """Return the text of a constant that is one."""
    return value.value if isinstance(value, hcl.Literal) and isinstance(value.value, str) else None


def _unquoted(value: hcl.Expression) -> hcl.Expression:
    """Return the expression in a text, as JSON has it; any other value as it is."""
    text = _text(value)
    return value if text is None else hcl.parse_expression(text) or value


def _steps(value: hcl.Expression) -> tuple[str | int, ...]:
    """Return the steps of a reference, up to the first computed one."""
    if isinstance(value, hcl.Reference):
        return value.parts
    return value.prefix if isinstance(value, hcl.Dynamic) else ()


def is_name(text: str) -> bool:
    """True if a text may be the name of a block, as an identifier of HCL."""
    return text.replace("-", "a").isidentifier() and not text.startswith("-")


def local_name_problem(name: str, quoted: str) -> str:
    """Return why a name is not a local name of a provider, in the tools' words; "" if it is one."""
    try:
        normal = normalise_part(name)
    except ValueError as error:
        return f"{quoted} is an invalid provider local name: {error}."
    same = normal == name
    return "" if same else f'Provider names must be normalized. Replace "{name}" with "{normal}" to fix this error.'


def constant_text(attribute: hcl.Attribute | None) -> str | None:
    """Return the text of a constant argument; None where it is absent, null or computed."""
    value = attribute.value if attribute is not None else None
    return value.text if isinstance(value, hcl.Literal) else None


class RefusedError(Exception):
    """The tools refuse a value; `problem` has their words."""

    def __init__(self, place: hcl.SourcePlace, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.problem = place.problem(summary, detail)


def read_entries(
    body: hcl.Body, dialect: Dialect, *, is_json: bool
) -> tuple[tuple[RequiredEntry, ...], list[hcl.SyntaxProblem]]:
    """Read a block's entries; one that cannot be read is left out, with a problem."""
    problems: list[hcl.SyntaxProblem] = []
    if is_json:
        problems.extend(body.misfits(frozenset(body.attributes), {}))
    else:
        for block in body.all_blocks():
            summary = f'Unexpected "{block.type}" block'
            problems.append(block.place.problem(summary, "Blocks are not allowed here."))
    entries: list[RequiredEntry] = []
    for name, attribute in body.attributes.items():
        try:
            entries.append(_entry(name, attribute, dialect, is_json=is_json))
        except RefusedError as error:
            problems.append(error.problem)
    return tuple(entries), problems


def read_version(value: hcl.Expression, dialect: Dialect, *, needs_string: bool) -> Constraints:
    """Read a version constraint; with `needs_string`, a number or a boolean is refused rather than converted.

    Raises:
        RefusedError: It is none.
    """
    text = value.text if isinstance(value, hcl.Literal) and not needs_string else _text(value)
    if text is None:
        raise RefusedError(value.place, "Invalid version constraint", "Version must be specified as a string.")
    try:
        return Constraints.parse(text)
    except ConstraintSyntaxError as error:
        raise RefusedError(value.place, error.summary, error.detail.replace("Terraform", dialect.product)) from error


def _entry(name: str, attribute: hcl.Attribute, dialect: Dialect, *, is_json: bool) -> RequiredEntry:
    value = attribute.value
    place = attribute.place
    if isinstance(value, hcl.Literal) and value.value is not None:
        constraints = read_version(value, dialect, needs_string=False)
        try:
            address = dialect.default_provider(normalise_part(name))
        except ValueError as error:
            raise RefusedError(value.place, "Invalid provider name", str(error)) from error
        return RequiredEntry(place, name, address, value.text or "", constraints, value.place.line)
    if problem := local_name_problem(name, f'"{name}"'):
        raise RefusedError(value.place, _BAD_NAME, problem)
    if not isinstance(value, hcl.ObjectExpr):
        raise RefusedError(value.place, "Invalid required_providers object", _FORMS)
    return _object_entry(name, value, place, dialect, is_json=is_json)


def _object_entry(
    name: str, value: hcl.ObjectExpr, place: hcl.SourcePlace, dialect: Dialect, *, is_json: bool
) -> RequiredEntry:
    """Read the object form; of a repeated key the last counts."""
    address = dialect.default_provider(name)
    constraint, constraints, constraint_line, source_line = "", Constraints(), 0, 0
    for key, item in value.items:
        word = key.value if isinstance(key, hcl.Literal) else None
        if word == "version":
            constraints = read_version(item, dialect, needs_string=True)
            constraint, constraint_line = _text(item) or "", item.place.line
        elif word == "source":
            address, source_line = _source(item, dialect), item.place.line
        elif word == "configuration_aliases":
            _check_aliases(name, item, is_json=is_json)
        else:
            raise RefusedError(key.place, "Invalid required_providers object", _KEYS)
    return RequiredEntry(place, name, address, constraint, constraints, constraint_line, source_line)


def _source(value: hcl.Expression, dialect: Dialect) -> ProviderAddress:
    text = _text(value)
    if text is None:
        raise RefusedError(value.place, "Invalid source", "Source must be specified as a string.")
    try:
        return dialect.parse_source(text)
    except AddressError as error:
        raise RefusedError(value.place, error.summary, error.detail) from error


def _check_aliases(name: str, value: hcl.Expression, *, is_json: bool) -> None:
    """Aliases require nothing, but wrong ones are errors.

    The local name alone is one, and the tools do not look at what follows `NAME.ALIAS`.
    """
    summary = "Invalid configuration_aliases value"
    if not isinstance(value, hcl.ListExpr):
        raise RefusedError(value.place, "Invalid expression", "A static list expression is required.")
    for item in value.items:
        found = _unquoted(item) if is_json else item
        if not isinstance(found, hcl.Reference):
            raise RefusedError(item.place, "Invalid expression", "A static variable reference is required.")
        if any(isinstance(step, int | hcl.IndexStep) for step in found.parts[1:2]):
            raise RefusedError(value.place, summary, _ALIASES)
        if found.parts[0] != name:
            what = f'Expected "{name}", but found "{found.parts[0]}".'
            detail = f"Configuration aliases must be prefixed with the provider name. {what}"
            raise RefusedError(value.place, summary, detail)
