"""The sources and versions of module calls, and the path of a local state, where variables or locals are in them.

They are known as far as declared values tell. Both tools evaluate sources before anything is fetched: OpenTofu
(StaticEvaluator), Terraform from 1.15 on, and only with variables that are `const`; backends OpenTofu alone. Here a
value is known where it is a constant, or a template of such; no function is called. What may be otherwise when the tool
runs stays unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens import hcl
from locklens.errors import ConfigurationError
from locklens.project import is_json, is_override
from locklens.project.configuration import Backend, CallArgument, ConfigurationProblem, ModuleCall
from locklens.project.contents import COMPUTED, constant_text
from locklens.project.tree import name_of, path_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.dialect import Dialect
    from locklens.project.modules import Module
    from locklens.project.tree import Tree

_ROUNDS = 5
"""How many locals may lead to each other."""

_NO_VALUES: dict[tuple[str | int, ...], str] = {}
_VARIABLE = frozenset(["default", "const", "sensitive", "ephemeral"])
_USERS = hcl.Wanted(
    blocks={
        "module": hcl.Wanted(frozenset(["source", "version"])),
        "terraform": hcl.Wanted(blocks={"backend": hcl.Wanted(frozenset(["path", "workspace_dir"]))}),
    }
)
_VALUES = hcl.Wanted(blocks={"variable": hcl.Wanted(_VARIABLE), "locals": hcl.Wanted(None)})


class _Given(Struct, frozen=True):
    """The values that files and the environment give variables.

    Attributes:
        values: The later ones count; None for one that cannot be known. None instead of all where the command line or
            a file may give any.
    """

    values: Mapping[str, str | None] | None
    files: tuple[str, ...] = ()
    problems: tuple[ConfigurationProblem, ...] = ()


def with_known_values(module: Module, tree: Tree, dialect: Dialect, environ: Mapping[str, str] | None) -> Module:
    """Return a module with the sources, versions and path of the state that can be known.

    Of a root module where something is computed, the files of values are read, and what is wrong with them is among the
    problems. In its environment its variables may have values; a child has none, and the values that the call gives.
    """
    computed = [one for one in module.calls if COMPUTED in (one.item.source.fault, one.item.version.fault)]
    backend = module.backend if environ is not None and dialect.name == "opentofu" else None
    if backend is not None and not backend.item.is_computed:
        backend = None
    if not computed and backend is None:
        return module
    given = _given(module, tree, environ) if environ is not None else _Given(None)
    # For Terraform, whatever stays computed is an error already.
    problems = given.problems if dialect.name == "opentofu" else ()
    module = replace(module, value_files=given.files, problems=(*module.problems, *problems))
    if any(is_override(name_of(path), dialect) for path in module.files):
        return module
    try:
        texts = {path: tree.read(path) for path in module.files if not is_json(path)}
    except ConfigurationError:
        return module  # What is wrong with the file is known from reading it before.
    files = {path: data for path, data in texts.items() if data is not None}
    known = _known(files.values(), given.values, dialect)
    if not known:
        return module
    calls = []
    for one in module.calls:
        data = files.get(one.file) if one in computed else None
        calls.append(one if data is None else replace(one, item=_evaluated(one.item, data, known)))
    if backend is not None and backend.file in files:
        backend = replace(backend, item=_evaluated_backend(backend.item, files[backend.file], known))
    return replace(module, calls=tuple(calls), backend=backend or module.backend)


def _evaluated_backend(backend: Backend, data: bytes, known: Mapping[tuple[str | int, ...], str]) -> Backend:
    body = hcl.parse(data, json=False, wanted=_USERS, known=known).body
    for settings in body.blocks("terraform") if body is not None else ():
        for block in settings.body.blocks("backend", labels=1):
            if block.place == backend.place:
                found = [block.body.attributes.get(name) for name in ("path", "workspace_dir")]
                path, folder = map(constant_text, found)
                is_known = all(each is None or isinstance(each.value, hcl.Literal) for each in found)
                return replace(backend, path=path, workspace_folder=folder, is_computed=not is_known)
    return backend


def _evaluated(call: ModuleCall, data: bytes, known: Mapping[tuple[str | int, ...], str]) -> ModuleCall:
    body, text = hcl.parse(data, json=False, wanted=_USERS, known=known).body, hcl.decode(data)
    for block in body.blocks("module", labels=1) if body is not None else ():
        if block.place == call.place:
            source = _put_in(call.source, block.body.attributes.get("source"), text)
            version = _put_in(call.version, block.body.attributes.get("version"), text)
            return replace(call, source=source, version=version)
    return call


def _put_in(argument: CallArgument, attribute: hcl.Attribute | None, text: str) -> CallArgument:
    """Return an argument with its value, if it has one now; `text` is the file's."""
    if not argument.fault or attribute is None or not isinstance(attribute.value, hcl.Literal):
        return argument
    place = attribute.value.place
    return CallArgument(argument.place, attribute.value.text, written=text[place.start : place.end].strip('"'))


def _known(
    files: Iterable[bytes], given: Mapping[str, str | None] | None, dialect: Dialect
) -> Mapping[tuple[str | int, ...], str]:
    """Return the values of variables and locals by the steps that refer to them.

    `given` takes the place of defaults: None for an unknown value, and None instead of all if none is known.
    """
    files, has_variables, values = tuple(files), given is not None, given or {}
    known: dict[tuple[str | int, ...], str] = {}
    for _ in range(_ROUNDS):
        before = len(known)
        for data in files:
            body = hcl.parse(data, json=False, wanted=_VALUES, known=known).body
            if body is None:
                return _NO_VALUES
            for block in body.blocks("variable", labels=1) if has_variables else ():
                name = block.labels[0]
                text = values[name] if name in values else constant_text(block.body.attributes.get("default"))
                if text is not None and _is_static(block.body, dialect):
                    known["var", name] = text
            for block in body.blocks("locals"):
                for name, attribute in block.body.attributes.items():
                    if (text := constant_text(attribute)) is not None:
                        known["local", name] = text
        if len(known) == before:
            break
    return known


def _is_static(variable: hcl.Body, dialect: Dialect) -> bool:
    """True if a variable may be used in a source; neither tool takes one that is secret."""
    if "sensitive" in variable.attributes or "ephemeral" in variable.attributes:
        return False
    constant = variable.attributes.get("const")
    return dialect.name == "opentofu" or constant_text(constant) == "true"


def _given(module: Module, tree: Tree, environ: Mapping[str, str]) -> _Given:
    """Return what gives variables their values.

    What the environment gives is not shown: it may be a secret, and is the tool's own where that runs.
    """
    found: dict[str, str | None] = {
        name.removeprefix("TF_VAR_"): None for name in environ if name.startswith("TF_VAR_")
    }
    try:
        paths = _value_files(module.folder, tree)
    except ConfigurationError:
        return _Given(None)  # Reading the module reports the reason.
    problems: list[ConfigurationProblem] = []
    for path in paths:
        try:
            data = tree.read(path)
        except ConfigurationError as error:
            problems.append(ConfigurationProblem.at(path, None, "Failed to read file", str(error)))
            continue
        parsed = hcl.parse(data or b"", json=is_json(path), wanted=hcl.Wanted(None))
        problems += (ConfigurationProblem.at(path, at, at.summary, at.detail) for at in parsed.problems)
        if parsed.body is not None:
            found |= {name: _given_text(each, path) for name, each in parsed.body.attributes.items()}
    has_any = any("-var" in text for name, text in environ.items() if name.startswith("TF_CLI_ARGS"))
    # An argument that is broken has no value, and which one it is remains open.
    return _Given(None if problems or has_any else found, tuple(paths), tuple(problems))


def _given_text(attribute: hcl.Attribute, path: str) -> str | None:
    text = constant_text(attribute)
    return None if text is not None and is_json(path) and ("${" in text or "%{" in text) else text


def _value_files(folder: str, tree: Tree) -> list[str]:
    """Return the files that both tools read values from without being told to, in their order."""
    names = [entry.name for entry in tree.list(folder)]
    first = [name for name in ("terraform.tfvars", "terraform.tfvars.json") if name in names]
    auto = sorted(name for name in names if name.endswith((".auto.tfvars", ".auto.tfvars.json")))
    return [path_in(folder, name) for name in (*first, *auto)]
