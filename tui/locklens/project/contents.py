"""Reads what one configuration file declares of providers, modules and the state.

The rest of what a file holds (variables, outputs, locals, checks, moved and removed blocks) is not judged, and of its
expressions only those are read that say something of these. A file is judged alone here: what it means beside its
neighbours is `locklens.project.modules`' matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens import hcl
from locklens.addresses import normalise_part
from locklens.project.declared import (
    Backend,
    FileContents,
    Import,
    Mode,
    ModuleCall,
    Note,
    ProviderConfiguration,
    RequiredProviders,
    Resource,
)
from locklens.project.provider_entries import read_entries, read_version

if TYPE_CHECKING:
    from locklens.dialect import Dialect

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
"""What only one of the tools reads: Terraform has actions from 1.14 on."""

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
            blocks={
                "required_providers": hcl.Wanted(None),
                "backend": hcl.Wanted(frozenset(["path", "workspace_dir"])),
            }
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
_OLD_VERSION = "Version constraints inside provider configuration blocks are deprecated"
_NAMES = "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes."
_REFERENCE = (
    "The provider argument requires a provider type name, optionally followed by a period and then a "
    "configuration alias."
)
_OLD_VERSION_DETAIL = "Move the constraint into the required_providers block."


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
    notes: list[Note] = field(default_factory=list)

    def contents(self) -> FileContents:
        """Return what was gathered."""
        return FileContents(
            required=tuple(self.required),
            providers=tuple(self.providers),
            resources=tuple(self.resources),
            imports=tuple(self.imports),
            calls=tuple(self.calls),
            backends=tuple(self.backends),
            notes=tuple(self.notes),
        )

    def add_problems(self, problems: tuple[hcl.SyntaxProblem, ...] | list[hcl.SyntaxProblem]) -> None:
        """Take problems of the syntax or the schema."""
        self.notes.extend(Note(one.line, one.column, one.summary, one.detail) for one in problems)

    def refuse(self, place: hcl.SourcePlace, summary: str, detail: str) -> None:
        """Note an error."""
        self.notes.append(Note(place.line, place.column, summary, detail))

    def warn(self, place: hcl.SourcePlace, summary: str, detail: str) -> None:
        """Note a warning."""
        self.notes.append(Note(place.line, place.column, summary, detail, is_error=False))

    def read_root(self, body: hcl.Body) -> None:
        """Read a file's top level."""
        blocks = _ROOT_BLOCKS | _OWN_BLOCKS[self.dialect.name]
        self.add_problems(list(body.misfits(frozenset(), blocks)))
        for block in body.blocks("terraform"):
            self._read_settings(block)
        for block in body.blocks("required_providers"):
            self.refuse(block.place, "Invalid required_providers block", _NESTED)
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
        self.add_problems(list(block.body.misfits(_TERRAFORM_ARGUMENTS, blocks)))
        for inner in block.body.blocks("required_providers"):
            entries, problems = read_entries(inner.body, self.dialect, is_json=self.is_json)
            self.add_problems(problems)
            self.required.append(RequiredProviders(entries, inner.place.line, inner.place.column))
        for kind, labels in (("backend", 1), ("cloud", 0)):
            for inner in block.body.blocks(kind, labels=labels):
                self._read_backend(inner)

    def _read_backend(self, block: hcl.Block) -> None:
        arguments = block.body.attributes
        values: list[str | None] = []
        is_computed = False
        for name in ("path", "workspace_dir"):
            value = arguments[name].value if name in arguments else None
            text = value.text if isinstance(value, hcl.Literal) else None
            is_computed |= value is not None and not isinstance(value, hcl.Literal)
            is_computed |= self._is_template(text)
            values.append(text)
        kind = block.labels[0] if block.labels else ""
        path, folder = values
        self.backends.append(Backend(block.type, kind, path, folder, is_computed, block.place.line, block.place.column))

    def _is_template(self, text: str | None) -> bool:
        """True if a text of JSON is a template, which OpenTofu evaluates; Terraform takes it as it stands."""
        return self.is_json and self.dialect.name == "opentofu" and text is not None and ("${" in text or "%{" in text)

    def _read_provider(self, block: hcl.Block) -> None:
        name = block.labels[0]
        if not self._is_local_name(name, block.label_places[0]):
            return
        arguments = block.body.attributes
        alias = ""
        if "alias" in arguments:
            value = arguments["alias"].value
            alias = value.text or "" if isinstance(value, hcl.Literal) else ""
            if not is_name(alias):
                detail = f"An alias must be a valid name. {_NAMES}"
                self.refuse(value.place, "Invalid provider configuration alias", detail)
        constraint, constraints = "", None
        if "version" in arguments:
            argument = arguments["version"]
            self.warn(argument.place, _OLD_VERSION, _OLD_VERSION_DETAIL)
            constraint, constraints, problem = read_version(argument.value, self.dialect, needs_string=False)
            self.add_problems([problem] if problem else [])
        place = block.place
        self.providers.append(ProviderConfiguration(name, alias, constraint, constraints, place.line, place.column))

    def _is_local_name(self, name: str, place: hcl.SourcePlace) -> bool:
        try:
            normal = normalise_part(name)
        except ValueError as error:
            self.refuse(place, "Invalid provider local name", f"{name!r} is an invalid provider local name: {error}.")
            return False
        if normal != name:
            detail = f'Provider names must be normalized. Replace "{name}" with "{normal}" to fix this error.'
            self.refuse(place, "Invalid provider local name", detail)
        return normal == name

    def _read_resource(self, block: hcl.Block, mode: Mode, *, in_check: bool = False) -> None:
        arguments = block.body.attributes
        provider = self._provider_reference(arguments["provider"].value) if "provider" in arguments else ""
        place = block.place
        kind, name = block.labels
        self.resources.append(Resource(mode, kind, name, provider, in_check, place.line, place.column))

    def _provider_reference(self, value: hcl.Expression) -> str | None:
        """Return the local name in `provider = NAME.ALIAS`; None, with a problem, where there is none."""
        place = value.place
        is_text = isinstance(value, hcl.Literal) and isinstance(value.value, str)
        if isinstance(value, hcl.Literal) and isinstance(value.value, str):
            if not self.is_json:
                self.warn(place, "Quoted references are deprecated", "Remove the quotes surrounding this reference.")
            value = hcl.parse_expression(value.value) or value
        parts: tuple[str | int, ...] = value.parts if isinstance(value, hcl.Reference) else ()
        if isinstance(value, hcl.Literal) and value.keyword and (is_text or not self.is_json):
            parts = (value.keyword,)  # `provider = null` names the provider
        is_indexed = isinstance(value, hcl.Dynamic) and len(value.prefix) == 2
        if isinstance(value, hcl.Dynamic):
            parts = value.prefix
        limit = 3 if self.dialect.name == "opentofu" else 2
        name = parts[0] if parts else None
        if not isinstance(name, str) or len(parts) > limit or (is_indexed and limit == 2):
            self.refuse(place, "Invalid provider configuration reference", _REFERENCE)
            return None
        return name if self._is_local_name(name, place) else None

    def _read_import(self, block: hcl.Block) -> None:
        arguments = block.body.attributes
        if "to" not in arguments:
            return
        provider = self._provider_reference(arguments["provider"].value) if "provider" in arguments else ""
        value = arguments["to"].value
        if self.is_json and isinstance(value, hcl.Literal) and isinstance(value.value, str):
            value = hcl.parse_expression(value.value) or value
        target: tuple[str | int, ...] = ()
        if isinstance(value, hcl.Reference):
            target = value.parts
        elif isinstance(value, hcl.Dynamic):
            target = value.prefix
        self.imports.append(Import(target, provider, block.place.line, block.place.column))

    def _read_call(self, block: hcl.Block) -> None:
        name = block.labels[0]
        if not is_name(name):
            self.refuse(block.label_places[0], "Invalid module instance name", _NAMES)
        source, source_fault, source_at = self._constant(block, "source")
        version, version_fault, version_at = self._constant(block, "version")
        is_null = version is None and "version" in block.body.attributes and not version_fault
        if is_null and self.dialect.name != "opentofu":
            version_fault = "Invalid version constraint"
        self.calls.append(
            ModuleCall(
                name=name,
                source=source,
                source_fault=source_fault,
                version=version,
                version_fault=version_fault,
                source_at=source_at,
                version_at=version_at,
                line=block.place.line,
                column=block.place.column,
            )
        )

    def _constant(self, block: hcl.Block, name: str) -> tuple[str | None, str, hcl.SourcePlace]:
        """The text of a module call's argument, why it has none, and its place; (None, "") where it is absent."""
        attribute = block.body.attributes.get(name)
        if attribute is None:
            return None, "", block.place
        value = attribute.value
        if not isinstance(value, hcl.Literal):
            is_call = isinstance(value, hcl.Dynamic) and value.is_call
            return None, "Function calls not allowed" if is_call else "Variables not allowed", value.place
        text = value.text
        if self._is_template(text):
            return None, "Variables not allowed", value.place  # OpenTofu evaluates it, also in the JSON syntax
        return text, "Unsuitable value type" if text is None and name == "source" else "", value.place


def is_name(text: str) -> bool:
    """True if a text may be the name of a block, as an identifier of HCL."""
    return text.replace("-", "a").isidentifier() and not text.startswith("-")
