"""Rewrites the constraint that one requirement has, where it stands, and leaves every other byte as it is.

Only a plain quoted string is rewritten: what a heredoc, a template or an escape stands for is not ours to spell.
Whether the file may be written at all is `protection`'s question; nothing is written here.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens import hcl
from locklens.errors import ConfigurationError
from locklens.lines import FilePlace
from locklens.project import is_json, is_lock_file
from locklens.project.configuration import Contributor, Requirement, constraint_place
from locklens.project.contents import constant_text, parse_file
from locklens.project.contributors import provider_subject
from locklens.project.tree import normalise
from locklens.storage.files import is_within
from locklens.versions import Constraints, NotAdmissibleError, Version, admitting

if TYPE_CHECKING:
    from collections.abc import Iterator


class ConstraintEdit(Struct, frozen=True):
    """One constraint that is rewritten: where its string begins, the constraint as it stood, and its new text."""

    place: FilePlace
    old: str
    new: str


def admit(data: bytes, requirement: Requirement, version: Version) -> tuple[bytes, ConstraintEdit]:
    """Return a configuration file in which a requirement, read from its bytes, admits a version that it excluded.

    Raises:
        ConfigurationError: The constraint is written in a way that is not rewritten, or cannot admit the version.
    """
    if reason := oddly_written(data, requirement) or inadmissible(requirement.constraint, version):
        at = constraint_place(requirement)
        raise ConfigurationError(reason, path=at.file, line=at.line, hint="edit it by hand")
    literal = _literal(data, requirement)
    assert literal is not None  # or it would be oddly_written
    new = admitting(requirement.constraint, version)
    text, place = hcl.decode(data), literal.place
    edited = hcl.encode(f"{text[: place.start + 1]}{new}{text[place.end - 1 :]}")
    assert Constraints.parse(new).excluded_by(version) == ()
    return edited, ConstraintEdit(FilePlace(requirement.file, place.line), requirement.constraint, new)


@lru_cache(maxsize=4096)  # A list asks for each of many versions, in each of many roots.
def inadmissible(constraint: str, version: Version) -> str:
    """The reason why a constraint is not rewritten for a version, however it is written; "" if it is."""
    try:
        admitting(constraint, version)
    except NotAdmissibleError as error:
        return f"{error}: not rewritten for {version}"
    return ""


def oddly_written(data: bytes, requirement: Requirement) -> str:
    """The reason why a constraint is not rewritten, for any version, because of how the file has it; "" if it is."""
    literal = _literal(data, requirement)
    if literal is None:
        return f"the constraint of {requirement.subject} was not found there"
    if literal.text != requirement.constraint:
        return f"the constraint {requirement.constraint.strip()!r} is not written here: an override file sets it"
    written = hcl.decode(data)[literal.place.start : literal.place.end]
    if written == f'"{requirement.constraint}"':
        return ""
    kind = "heredoc" if written.startswith("<<") else "template or has escapes"
    kind = kind if isinstance(literal.value, str) else "number or another constant"
    return f"the constraint {requirement.constraint.strip()!r} is not a plain string but a {kind}"


def _literal(data: bytes, requirement: Requirement) -> hcl.Literal | None:
    """Return the one constant that is the requirement's constraint; None if it is not there."""
    body = _body(data, is_json=is_json(requirement.file))
    found = [] if body is None else [value for value in _values(body, requirement) if value is not None]
    return found[0] if len(found) == 1 and isinstance(found[0], hcl.Literal) else None


@lru_cache(maxsize=4)  # One file has the constraints of several providers.
def _body(data: bytes, *, is_json: bool) -> hcl.Body | None:
    return parse_file(data, is_json=is_json).body


def _values(body: hcl.Body, requirement: Requirement) -> Iterator[hcl.Expression | None]:
    """Yield candidates for the constraint: required_providers entries or provider blocks of that name and line."""
    if requirement.contributor is Contributor.REQUIRED_PROVIDERS:
        for settings in body.blocks("terraform"):
            for block in settings.body.blocks("required_providers"):
                entry = block.body.attributes.get(requirement.subject)
                if entry is not None and entry.place.line == requirement.line:
                    yield _version_of(entry.value)
    elif requirement.contributor is Contributor.PROVIDER:
        for block in body.blocks("provider", labels=1):
            name = constant_text(block.body.attributes.get("alias")) or ""
            if block.place.line == requirement.line and provider_subject(block.labels[0], name) == requirement.subject:
                version = block.body.attributes.get("version")
                yield version.value if version is not None else None


def _version_of(value: hcl.Expression) -> hcl.Expression | None:
    """An entry's constraint: the entry itself in the old form, else its last `version`."""
    if not isinstance(value, hcl.ObjectExpr):
        return value
    named = [item for key, item in value.items if isinstance(key, hcl.Literal) and key.value == "version"]
    return named[-1] if named else None


def protection(top: Path, file: str, fetched: str | None) -> str:
    """The reason why a configuration file must not be rewritten; "" if it may.

    Its path and the folder in which the tools keep what they fetched, None if that is elsewhere, are relative to `top`.
    """
    clean = normalise(file)
    if clean is not None and is_lock_file(clean):
        return "the lock file only records the constraint"
    real_top, real = os.path.realpath(top), os.path.realpath(os.path.join(top, file))  # noqa: PTH118
    if clean is None or not is_within(real_top, real):
        return f"the file is outside of {top}"
    parts = Path(os.path.relpath(real, real_top)).parts
    if ".terraform" in parts or (fetched and f"{clean}/".startswith(f"{normalise(fetched)}/")):
        return "the module is fetched: its own repository holds the constraint"
    above = (os.path.join(real_top, *parts[:depth]) for depth in range(1, len(parts)))  # noqa: PTH118
    if any(os.path.lexists(os.path.join(folder, ".git")) for folder in above):  # noqa: PTH118
        return "the file belongs to another git repository"
    if os.path.islink(os.path.join(real_top, clean)):  # noqa: PTH114, PTH118
        # What is planned for its name is reviewed in this root alone.
        return f"the file is a link to {'/'.join(parts)}, which other roots may read: edit it by hand"
    return ""
