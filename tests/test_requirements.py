"""The locked development environment agrees with pyproject.toml, and the lowest versions are those that it allows."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
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
    entries = re.findall(r"^([a-z0-9.-]+)==([^\s;]+)[^\n]*\n((?:    [^\n]*\n)*)", text, re.MULTILINE)
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


def test_the_lowest_versions_are_the_lower_bounds() -> None:
    packages = locked("requirements-lowest.txt")
    bounds = {
        key: Version(bound.version)
        for key, requirement in declared().items()
        for bound in requirement.specifier
        if bound.operator == ">="
    }
    assert {key: packages[key][0] for key in bounds} == bounds
