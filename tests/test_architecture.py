"""The house: doors, names, workflows, and what may not be loaded for nothing. `.ci/check` holds floors, types and style."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).parent.parent
PACKAGES = TOP / "tui"


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)


ANYWHERE = ("", "locklens_backfill")
DOORS = {
    "deepdiff": ("review.changes",),
    "distributed": ("locklens_backfill.workers",),
    "gnupg": ("trust.gpg",),
    "h11": ("sources.http",),
    "h2": ("sources.http",),
    "hcl2": ("hcl",),
    "httpx": ("sources.http",),
    "idna": ("addresses",),
    "isal": ("packages.contents",),
    "lark": ("hcl",),
    "msgspec": ANYWHERE,
    "packaging": ("versions",),
    "platformdirs": (
        "advisories.database",
        "hcl.expressions",
        "storage",
    ),  # the parser keeps its compiled tables in the user's cache folder
    "rich": ("ui",),
    "shtab": ("cli.completion",),
    "socksio": ("sources.http",),
    "sqlite3": ("storage",),
    "textual": ("ui",),
    "tomlkit": ("policy.editing",),
    "tomllib": ("policy", "storage.preferences"),
    "truststore": ("sources.http",),
}
"""The modules, or packages of them, that may import a library. Every library has a line, and two modules of Python's own."""


def of_package(name: str) -> str:
    """The name of a module of locklens without that of the package; empty for any other."""
    return name.removeprefix("locklens.") if name.startswith("locklens.") else ""


def named(node: ast.AST, package: str) -> list[str]:
    """What one statement or call imports: `from a import b` is `a.b`, for whoever reads it to tell modules from names."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            above = package.split(".")[: -node.level + 1 or None] if node.level else []
            return [".".join(filter(None, (*above, node.module, alias.name))) for alias in node.names]
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if called(node).endswith(
            ("import_module", "__import__", "find_spec")
        ):
            return [name]
    return []


def called(node: ast.Call) -> str:
    return ast.unparse(node.func)


class Module(NamedTuple):
    """A module of the package."""

    path: Path
    tree: ast.Module
    nodes: list[ast.AST]
    """The nodes of all of its tree that some test looks at."""


Imports = dict[str, frozenset[str]]


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    """Every module by its name, read once for all tests."""
    found, looked_at = {}, (ast.Import, ast.ImportFrom, ast.Call, ast.Dict, ast.FunctionDef, ast.ClassDef)
    for path in sorted(PACKAGES.rglob("*.py")):
        tree = ast.parse(path.read_bytes())
        name = ".".join(path.relative_to(PACKAGES).with_suffix("").parts).removesuffix(".__init__")
        found[name] = Module(path, tree, [node for node in ast.walk(tree) if isinstance(node, looked_at)])
    return found


@pytest.fixture(scope="module")
def imports(modules: dict[str, Module]) -> Imports:
    """What each module of locklens imports, wherever in it: inside of functions and for type checkers, too."""
    found = {}
    for name, module in modules.items():
        package = name if module.path.name == "__init__.py" else name.rpartition(".")[0]
        every = {one for node in module.nodes for one in named(node, package)}
        found[name] = frozenset(
            next((one for one in (text, text.rpartition(".")[0]) if one in modules), text) for text in every
        )
    return found


def test_each_library_has_one_door(imports: Imports) -> None:
    for library, names in DOORS.items():
        doors = [door if door.startswith("locklens_") else f"locklens.{door}".removesuffix(".") for door in names]
        users = {name for name, every in imports.items() if any(one.split(".")[0] == library for one in every)}
        assert users, f"nothing imports {library}: its line can go"
        strays = {name for name in users if not any(f"{name}.".startswith(f"{door}.") for door in doors)}
        assert strays == set(), f"import {library} beside {' and '.join(doors)}"


def test_no_library_goes_without_a_door(imports: Imports) -> None:
    known = {*DOORS, *sys.stdlib_module_names, "locklens", "locklens_backfill"}
    unknown = {(name, one) for name, every in imports.items() for one in every if one.split(".")[0] not in known}
    assert unknown == set(), "needs a line in DOORS"


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    owners = packages_distributions()  # a library of another system is not installed: it has its project's name
    libraries = DOORS.keys() - sys.stdlib_module_names
    imported = {canonicalize_name(one) for library in libraries for one in owners.get(library, [library])}
    assert imported - declared == set(), "comes along with another library today: declare it in pyproject.toml"
    assert declared - imported == set(), "nothing imports it: it need not be installed"


def test_a_registry_is_one_source_of_others(imports: Imports) -> None:
    users = {of_package(name) for name, every in imports.items() if "locklens.sources.registry" in every}
    assert users == {"sources.registries"}, "what needs a source names locklens.sources"


def test_the_network_settings_of_a_command_have_one_door() -> None:
    made = re.compile(r"(?<!class )\bNetworkSettings\(")
    doors = [path.name for path in PACKAGES.rglob("*.py") if made.search(path.read_text("utf-8"))]
    assert doors == ["options.py"], "a setting would not reach every command: take network_of of cli/options.py"


def test_no_modules_import_each_other(imports: Imports) -> None:
    graph = {name: every & imports.keys() - {name} for name, every in imports.items()}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            new = graph[ahead.pop()] - seen
            seen |= new
            ahead += new
        return seen

    below = {name: reached(name) for name in graph}
    circles = {frozenset(of_package(one) for one in below[name] if name in below[one]) for name in graph} - {
        frozenset()
    }
    assert circles == set(), "what they share goes below them"


WORKFLOWS = sorted((TOP / ".github" / "workflows").glob("*.yml"))
WRITES = {"release": {"id-token", "attestations", "packages"}}
"""What a workflow may write: a release signs its attestation, publishes, and pushes its image."""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_was_reviewed_and_may_only_read(path: Path) -> None:
    text = path.read_text("utf-8")
    actions = re.findall(r"^ *(?:- )?uses: (.*)$", text, re.MULTILINE)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action), (
            f"{action} is not pinned by commit"
        )
    assert re.search(r"^permissions: \{\}$", text, re.MULTILINE)
    jobs = text.partition("\njobs:\n")[2]
    assert jobs.count("    permissions:\n      contents: read\n") == len(re.findall(r"^  [\w-]+:$", jobs, re.MULTILINE))
    assert set(re.findall(r"([\w-]+): write\b", text)) == WRITES.get(path.stem, set())
    assert not re.search(r"write-all|pull_request_target", text)
    assert text.count("persist-credentials: false") == text.count("actions/checkout@")


HEAVY = (
    "distributed",
    "textual",
    "rich",
    "httpx",
    "hcl2",
    "lark",
    "deepdiff",
    "gnupg",
    "packaging",
    "idna",
    "platformdirs",
    "shtab",
    "sqlite3",
    "tomlkit",
)


UNCHANGED = (
    "concurrent.futures",
    "dataclasses",
    "tomllib",
    "locklens.install.context",
    "locklens.packages",
    "locklens.project.requirements",
    "locklens.review.case",
    "locklens.review.rules.release",
    "locklens.sources",
)
"""What a review needs only where something changed."""


def loaded(*arguments: str) -> set[str]:
    """The modules that a run of the command line has loaded at its end."""
    script = (
        "import sys\n"
        "from locklens.cli.main import main\n"
        "sys.stdout = sys.stderr\n"
        f"main({list(arguments)!r}, lambda request: 0)\n"
        "print(*sorted(sys.modules), file=sys.__stdout__)\n"
    )
    result = run(sys.executable, "-c", script)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


LOCK = b"""# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.1.0"
  constraints = "~> 5.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
"""


def test_nothing_heavy_is_loaded_for_little(tmp_path: Path) -> None:
    for arguments in (["--version"], ["--help"], ["explain", "LK001"]):
        assert loaded(*arguments).isdisjoint(HEAVY), arguments
    (tmp_path / ".terraform.lock.hcl").write_bytes(LOCK)
    (tmp_path / "same.hcl").write_bytes(LOCK)
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    review = ["-C", str(tmp_path), "review", "--format", "json"]
    files = loaded(*review, "--old", ".terraform.lock.hcl", "--new", "same.hcl")
    assert files.isdisjoint({*HEAVY, *UNCHANGED, "subprocess"})
    for side in ([], ["--staged"]):
        assert loaded(*review, *side).isdisjoint({*HEAVY, *UNCHANGED} - {"platformdirs"}), side


def test_why_loads_neither_ui_nor_network(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('provider "aws" {\n  version = "~> 5.0"\n}\n')
    why = loaded("-C", str(tmp_path), "why", "--offline", "aws")
    assert "packaging" in why
    assert why.isdisjoint({"textual", "rich", "httpx", "deepdiff", "gnupg", "lark"})


def test_a_review_loads_what_it_needs_and_no_more(tmp_path: Path) -> None:
    old, new = tmp_path / "old.hcl", tmp_path / "new.hcl"
    old.write_bytes(LOCK)
    new.write_bytes(LOCK.replace(b"5.1.0", b"5.2.0"))
    files = "--old", str(old), "--new", str(new)
    changed = loaded("review", *files, "--format", "json", "--fail-on", "never", "--offline", "--no-cache")
    assert "deepdiff" in changed
    assert changed.isdisjoint({"textual", "rich", "httpx", "hcl2", "lark", "gnupg"})


def test_the_cache_is_shown_and_cleared_without_much() -> None:
    for action in ("info", "clear"):
        assert loaded("cache", action).isdisjoint(set(HEAVY) - {"platformdirs", "sqlite3"})


REPEATED = {"CHECKS", "document", "parse", "read", "render"}
"""Names that say the same of each module that has them."""


def definitions(module: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, and those that only type checkers see."""
    for node in module.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from node.body
        else:
            yield node


def test_a_public_name_has_one_meaning(modules: dict[str, Module]) -> None:
    """One top-level public name stands in one module, so that a search for it finds one thing."""
    places: dict[str, list[str]] = {}
    for module in modules.values():
        for node in definitions(module.tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names = [node.target.id]
            else:
                names = []
            for name in names:
                if not name.startswith("_") and name != "TYPE_CHECKING":
                    places.setdefault(name, []).append(str(module.path.relative_to(PACKAGES)))
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in REPEATED} == {}


def test_every_module_that_the_map_names_is_there() -> None:
    """A name stands with enough of its folders, or beside another of its room."""
    modules = [path.relative_to(PACKAGES).as_posix() for path in PACKAGES.rglob("*.py")]
    named = set(re.findall(r"`([\w/]+[.]py)`", (PACKAGES / "ARCHITECTURE.md").read_text("utf-8")))
    beside = {name for name in named if name.startswith(("tests/", "screenshots/"))}
    assert {name for name in named if not any(f"/{one}".endswith(f"/{name}") for one in modules)} == beside
    assert {name for name in beside if not (TOP / name).is_file()} == set()
    assert [name for name in named if name.startswith("tests/") and not (TOP / name).exists()] == []


def members(modules: dict[str, Module]) -> dict[str, frozenset[str]]:
    """The members of each enum of the package, by its name."""
    bases = {"Enum", "IntEnum", "StrEnum"}
    found = {}
    for module in modules.values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and bases & set(map(ast.unparse, node.bases)):
                names = [ast.unparse(one.targets[0]) for one in node.body if isinstance(one, ast.Assign)]
                found[node.name] = frozenset(names)
    return found


LEFT_OUT = {
    ("ui.review.outline", "Sort"): {"SEVERITY"},  # the outline is made in this order
    ("ui.phrases", "ChangeKind"): {"UPGRADE", "DOWNGRADE", "MOVED", "UNCHANGED"},  # shown as they are called
    ("operations.plan.commit_message", "ChangeKind"): {  # all of them a change of hashes, or none
        *("NEW_HASHES", "REMOVED_HASHES", "CHANGED_HASHES", "REPLACED_HASHES", "UNCHANGED")
    },
    ("operations.upgrades.doubts", "Reason"): {"CONSTRAINT", "ABSENT", "LIMIT"},  # a blocker of its own, and none
    ("review.reports.pipelines", "Severity"): {"OFF"},  # no report has such findings
    ("review.reports.standards", "Severity"): {"OFF"},
    ("releases.authentication", "Refusal"): {  # their value is the sentence
        *("NOT_LISTED", "INVALID_CHECKSUM", "OTHER_CHECKSUM", "CRASH")
    },
    ("trust.authentication", "Match"): {"FOUND", "SHORT"},  # no refusal
    ("trust.continuity", "Origin"): {"UNEXPLAINED", "COMPLETION", "NOTHING_NEW"},  # where none of the others holds
    ("doctor.reasons", "NetworkReason"): {"GAVE_UP", "PROXY_NAME", "PROXY_FAILED"},  # read by other patterns
}
"""The members that a table leaves out, by its module and their enum."""


def test_a_table_over_an_enum_has_each_of_its_members(modules: dict[str, Module]) -> None:
    """A table of most members has a row of every one: what it leaves out is declared."""
    known, found = members(modules), dict[tuple[str, str], set[str]]()
    for name, module in modules.items():
        for node in module.nodes:
            names = node.keys if isinstance(node, ast.Dict) else []
            keys = [ast.unparse(key).split(".") for key in names if isinstance(key, ast.Name | ast.Attribute)]
            every = known.get(keys[0][0], frozenset()) if keys else frozenset()
            missing = every - {key[-1] for key in keys}
            if missing and len(missing) < len(keys):
                found.setdefault((of_package(name), keys[0][0]), set()).update(missing)
    assert found == LEFT_OUT


def described(documented: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """The arguments that a docstring describes."""
    section = re.search(r"^Args:\n((?:(?: .*)?\n?)*)", ast.get_docstring(documented) or "", re.MULTILINE)
    return set(re.findall(r"^    \*{0,2}(\w+):", section[1], re.MULTILINE)) if section else set()


def arguments(function: ast.FunctionDef | None) -> set[str]:
    """The names of a function's arguments."""
    if function is None:
        return set()
    found = function.args
    return {one.arg for one in (*found.args, *found.kwonlyargs, found.vararg, found.kwarg) if one is not None}


def test_a_docstring_describes_arguments_that_are_there(modules: dict[str, Module]) -> None:
    stale = []
    for module, (_, _, nodes) in modules.items():
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                stale += [f"{module}: {node.name}: {name}" for name in described(node) - arguments(node)]
            elif isinstance(node, ast.ClassDef):
                methods = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
                there = arguments(methods[0]) if methods else described(node)
                stale += [f"{module}: {node.name}: {name}" for name in described(node) - there]
    assert stale == []


def test_one_function_ranks_severities(modules: dict[str, Module]) -> None:
    """`severity_rank` alone knows where something without a finding stands among severities."""
    of_all = {
        name
        for name, module in modules.items()
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
        if ast.unparse(node.args[0]) == "Severity"
    }
    assert of_all == {"locklens.review.findings"}
