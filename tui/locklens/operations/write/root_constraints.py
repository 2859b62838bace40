"""The constraints of one root, and the edits of them that an upgrade plans."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.operations.plan import PlannedFile
from locklens.project.configuration import constraint_place
from locklens.project.constraint_edits import ConstraintEdit, admit, protection
from locklens.project.state import data_folder
from locklens.selection.choosing import combined, holds_against

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.operations.plan.builder import ScopedPlanBuilder
    from locklens.operations.root_modules import Root
    from locklens.project.configuration import Requirement, RequirementSite
    from locklens.versions import Version


class RootConstraints:
    """The constraints of one root, and the edits of them, by provider, that are planned while versions are selected."""

    def __init__(self, draft: ScopedPlanBuilder, root: Root) -> None:
        self.edits: dict[ProviderAddress, tuple[ConstraintEdit, ...]] = {}
        self._draft = draft
        self._root = root

    def edit(self, address: ProviderAddress, version: Version) -> None:
        """Plan to rewrite each constraint that excludes a version, in place.

        Raises:
            ConfigurationError: One of them must not be rewritten; then none is rewritten.
        """
        originals, planned, edits = self._edited(address, version)
        for file, data in planned.items():
            self._draft.put(PlannedFile(file, originals[file], data))
        self.edits[address] = edits

    def objection(self, address: ProviderAddress, version: Version) -> str:
        """Return why the constraints that exclude a version are not rewritten; "" if they can be."""
        try:
            self._edited(address, version)
        except ConfigurationError as error:
            return str(error)
        return ""

    def _edited(
        self, address: ProviderAddress, version: Version
    ) -> tuple[Mapping[str, bytes], Mapping[str, bytes], tuple[ConstraintEdit, ...]]:
        """Return the files to rewrite as they are and as they would be, and the edits; errors as in `edit`."""
        requirements = self._root.requirements(address)
        if version.prerelease and not any(term.is_pin for term in combined(requirements).terms):
            words = f"{version} is a pre-release, which only an exact constraint selects"
            raise ConfigurationError(words, hint=f'edit it by hand: "{version}" as the constraint')
        fetched = data_folder(self._draft.disk, self._root.path, os.environ)
        originals: dict[str, bytes] = {}
        planned: dict[str, bytes] = {}
        edits: list[ConstraintEdit] = []
        for requirement in _excluding(requirements, version):
            if reason := protection(self._draft.top, requirement.file, fetched):
                words = f"{requirement.constraint.strip()} excludes {version}, and is not rewritten: {reason}"
                place = constraint_place(requirement)
                raise ConfigurationError(words, path=place.file, line=place.line)
            if requirement.file not in planned:
                planned[requirement.file] = originals[requirement.file] = self._draft.read(requirement.file)
            planned[requirement.file], edit = admit(planned[requirement.file], requirement, version)
            edits.append(edit)
        return originals, planned, tuple(edits)

    def reread(self, targets: Mapping[ProviderAddress, Version]) -> Root:
        """Read the root with its edits, and check that the versions satisfy them and nothing else changed.

        Raises:
            ConfigurationError: The check fails.
        """
        after = self._draft.root(self._root.path)
        before, now = self._root.configuration, after.configuration
        for address in self.edits:
            if not now.constraints(address).admits(targets[address]):
                holds = "; ".join(map(str, holds_against(targets[address], now.of(address))))
                words = f"even after the edit, {targets[address]} does not satisfy {holds}"
                raise ConfigurationError(f"{self._root.name_of(address)}: {words}")
        if list(map(_unedited, before.requirements)) != list(map(_unedited, now.requirements)):
            raise ConfigurationError("the edit would change other requirements", path=self._root.path or ".")
        return after


def _excluding(requirements: Iterable[Requirement], version: Version) -> list[Requirement]:
    """Return the requirements that exclude a version; if several have the same place, only the first."""
    excluding: dict[RequirementSite, Requirement] = {}
    for requirement in requirements:
        if requirement.constraints.excluded_by(version):
            excluding.setdefault(requirement.site, requirement)
    return list(excluding.values())


def _unedited(requirement: Requirement) -> tuple[object, ...]:
    """Return a requirement without its constraint, for comparison."""
    return (
        requirement.address,
        requirement.file,
        requirement.line,
        requirement.module,
        requirement.contributor,
        requirement.subject,
    )
