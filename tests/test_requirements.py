"""pyproject.toml: the locked environments agree with it, and what is built has what its users look for."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from email import message_from_bytes
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from kit.pages import PAGES
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

TOP = Path(__file__).parent.parent


@cache
def declared() -> dict[str, Requirement]:
    """Returns the project's own requirements, those of its extras and of its development, by canonical name."""
    document = tomllib.loads((TOP / "pyproject.toml").read_text())
    extras = [line for lines in document["project"]["optional-dependencies"].values() for line in lines]
    lines = [*document["project"]["dependencies"], *extras, *document["dependency-groups"]["dev"]]
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


@cache
def locked(name: str) -> dict[str, tuple[Version, bool]]:
    """Returns the version of each package in a requirements file, and whether it has a digest."""
    text = (TOP / "tests" / name).read_text()
    entries = re.findall(
        r"^([a-z0-9.-]+)(?:\[[a-z0-9,-]+\])?==([^\s;]+)[^\n]*\n((?:    [^\n]*\n)*)", text, re.MULTILINE
    )
    return {canonicalize_name(name): (Version(version), "--hash=sha256:" in rest) for name, version, rest in entries}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-lowest.txt"])
def test_every_requirement_is_locked_within_its_bounds_and_with_a_digest(name: str) -> None:
    packages = locked(name)
    assert {key: str(requirement.specifier) for key, requirement in declared().items() if key not in packages} == {}
    outside = {
        key: (str(packages[key][0]), str(requirement.specifier))
        for key, requirement in declared().items()
        if not requirement.specifier.contains(packages[key][0])
    }
    assert outside == {}
    assert [key for key, (_, has_digest) in packages.items() if not has_digest] == []


@pytest.mark.parametrize(
    "path", ["tests/requirements.txt", "tests/requirements-lowest.txt", ".github/actions/review/requirements.txt"]
)
def test_an_extra_is_pinned_with_its_package(path: str) -> None:
    # pip 23 resolves `coverage[toml]` apart from `coverage`: without a pin of its own, it takes the newest version, which
    # has no digest in the file, so that the install fails from the day of the next release on.
    pinned = [Requirement(line) for line in re.findall(r"^([a-z0-9][^\s;]+)", (TOP / path).read_text(), re.MULTILINE)]
    extras = {canonicalize_name(one.name): one.extras for one in pinned}
    asked = [Requirement(line) for name in extras for line in requirements_of(name)]
    lacking = {str(one) for one in asked if not one.extras <= extras.get(canonicalize_name(one.name), one.extras)}
    assert lacking == set()


def requirements_of(name: str) -> list[str]:
    """Returns what an installed package requires, without its own extras; [] where it is not installed here."""
    try:
        return [line for line in metadata.requires(name) or [] if "extra ==" not in line]
    except metadata.PackageNotFoundError:
        return []


def test_the_lowest_versions_are_the_lower_bounds() -> None:
    packages = locked("requirements-lowest.txt")
    bounds = {
        key: Version(bound.version)
        for key, requirement in declared().items()
        for bound in requirement.specifier
        if bound.operator == ">="
    }
    assert {key: packages[key][0] for key in bounds} == bounds


def test_the_classifiers_are_the_versions_of_python_that_the_workflow_tests() -> None:
    classifiers = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["classifiers"]
    listed = [one.rpartition(" ")[2] for one in classifiers if re.search(r":: 3[.]\d+$", one)]
    (matrix,) = re.findall(r"^ +python: \[(.*)\]$", (TOP / ".github/workflows/tests.yml").read_text(), re.MULTILINE)
    assert listed == re.findall(r"[\d.]+", matrix)
    assert "3.14" in listed


def test_the_source_archive_names_its_author_and_has_the_pages_of_the_project(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=TOP, check=True, capture_output=True)
    (built,) = tmp_path.iterdir()
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        assert {f".github/{page}.md" for page in ("CHANGELOG", "CONTRIBUTING", "SECURITY")} <= names
        assert {"LICENSE", "pyproject.toml", "tests/requirements.txt", *PAGES} <= names
        opened = archive.extractfile(f"{built.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert opened is not None
        metadata = message_from_bytes(opened.read())
    assert metadata["Author"] == "The maintainers of locklens"
