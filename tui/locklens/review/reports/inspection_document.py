"""What is inside packages as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.executables import ExecutableFormat, notable_in
from locklens.review.inspection import ModuleChange, each_of
from locklens.review.platform_agreement import agreement_of
from locklens.review.reports.advisories import AdvisoriesJson
from locklens.review.reports.documents import Count, JsonStruct, RunJson, one_of

if TYPE_CHECKING:
    from locklens.executables import GoModule
    from locklens.packages.inspecting import PackageFacts
    from locklens.review.inspection import InspectedPackage, Inspection, Inspections, PackageDifferences

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class VersionedModuleJson(JsonStruct, frozen=True):
    """A module at a version, which may be empty."""

    path: str
    version: str


class LinkedModuleJson(JsonStruct, frozen=True):
    """A module of a program; `replaced_by` is what `go version -m` has after `=>`."""

    path: str
    version: str
    replaced_by: VersionedModuleJson | None


class ExecutableJson(JsonStruct, frozen=True):
    """A provider's program; `unread` says why parts of it are null."""

    name: str
    format: Annotated[str, one_of(*(one.value for one in ExecutableFormat))]
    size: Count
    go: str | None
    path: str | None
    main: VersionedModuleJson | None
    modules: list[LinkedModuleJson] | None
    settings: dict[str, str] | None
    notable: list[str] | None
    unread: str | None


class InspectedFileJson(JsonStruct, frozen=True):
    """A file of a package."""

    name: str
    size: Count
    sha256: Sha256


class InspectedPackageJson(JsonStruct, frozen=True):
    """A package; `problem` says why it could not be inspected."""

    provider: str | None
    version: str | None
    platform: str | None
    source: str
    zh: Annotated[str, Meta(pattern="^zh:")] | None
    h1: Annotated[str, Meta(pattern="^h1:")] | None
    files: list[InspectedFileJson]
    executable: ExecutableJson | None
    problem: str | None


class ValueDifferenceJson(JsonStruct, frozen=True):
    """Both sides of a value that differs."""

    old: str | None
    new: str | None


class SettingDifferenceJson(JsonStruct, frozen=True):
    """A build setting that differs; `-X NAME` is a variable that -ldflags sets."""

    name: str
    old: str | None
    new: str | None


class ModuleDifferenceJson(JsonStruct, frozen=True):
    """A module that differs; the version of a replaced module is followed by `=>` and its replacement."""

    path: str
    old: str | None
    new: str | None
    kind: Annotated[str, one_of(*(one.value for one in ModuleChange))]


class FileDifferenceJson(JsonStruct, frozen=True):
    """A file that differs."""

    name: str
    state: Annotated[str, one_of("added", "removed", "changed")]


class NotableDifferenceJson(JsonStruct, frozen=True):
    """Notable packages that only one side links."""

    new: list[str]
    gone: list[str]


class SizeDifferenceJson(JsonStruct, frozen=True):
    """Bytes of the files of both packages."""

    old: Count
    new: Count


class DifferencesJson(JsonStruct, frozen=True):
    """What differs between two packages; `unknown` lists what could not be compared, with reasons."""

    toolchain: ValueDifferenceJson | None
    modules: list[ModuleDifferenceJson]
    settings: list[SettingDifferenceJson]
    files: list[FileDifferenceJson]
    notable: NotableDifferenceJson
    size: SizeDifferenceJson
    unknown: list[str]

    @classmethod
    def of(cls, found: PackageDifferences) -> DifferencesJson:
        """Describe what differs."""
        return cls.like(
            found,
            modules=[
                ModuleDifferenceJson(one.path, _words(one.old), _words(one.new), one.kind.value)
                for one in found.modules
            ],
            notable=NotableDifferenceJson(list(found.notable_new), list(found.notable_gone)),
            size=SizeDifferenceJson(*found.size),
        )


class PlatformDifferenceJson(JsonStruct, frozen=True):
    """A platform whose package differs from those of the others, and what differs in it."""

    platform: str
    differs_in: list[str]


class InspectedProviderJson(JsonStruct, frozen=True):
    """What differs between the packages of one provider.

    `provider` is null for files and folders given on the command line.
    """

    provider: str | None
    differences: DifferencesJson | None
    platforms: list[PlatformDifferenceJson]
    advisories: AdvisoriesJson

    @classmethod
    def of(cls, found: Inspection) -> InspectedProviderJson:
        """Describe the inspection of one provider."""
        return cls.like(found, provider=found.address, platforms=_platforms(found))


class InspectDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """What is inside packages: of one version, or of an older and a newer one.

    `differences`, `platforms` and `advisories` describe a single provider; for several, look in `providers`.
    """

    run: RunJson
    packages: list[InspectedPackageJson]
    differences: DifferencesJson | None
    platforms: list[PlatformDifferenceJson]
    advisories: AdvisoriesJson
    providers: list[InspectedProviderJson]

    @classmethod
    def of(cls, found: Inspection | Inspections) -> InspectDocument:
        """Describe an inspection, or those of several providers."""
        several = each_of(found)
        providers = [InspectedProviderJson.of(one) for one in several]
        only = providers[0] if len(providers) == 1 else InspectedProviderJson(None, None, [], AdvisoriesJson.of(None))
        notes = tuple(dict.fromkeys(words for one in several for words in one.notes))
        return cls(
            run=RunJson.without_policy(at=several[0].at, offline=several[0].is_offline, notes=notes),
            packages=[_package(package) for one in several for side in one.packages for package in side],
            differences=only.differences,
            platforms=only.platforms,
            advisories=only.advisories,
            providers=providers,
        )


def _platforms(found: Inspection) -> list[PlatformDifferenceJson]:
    agreement = agreement_of(found)
    if agreement is None or len(agreement.platforms) < 2:
        return []
    return [
        PlatformDifferenceJson(
            str(platform), [f"{one.property}: {one.words()}" for one in agreement.differs_in(platform)]
        )
        for platform in agreement.platforms
    ]


def _package(package: InspectedPackage) -> InspectedPackageJson:
    facts = package.facts
    return InspectedPackageJson.like(
        package,
        provider=package.address,
        zh=None if facts is None else facts.zh,
        h1=None if facts is None else facts.h1,
        files=() if facts is None else facts.files,
        executable=None if facts is None else _executable(facts),
        problem=package.problem or None,
    )


def _executable(facts: PackageFacts) -> ExecutableJson | None:
    program = facts.executable
    if program is None:
        return None
    build = program.build
    return ExecutableJson.like(
        program,
        name=facts.executable_name or "",
        format=program.format.value,
        go=None if build is None else build.go,
        path=None if build is None else build.path,
        main=None if build is None else build.main,
        modules=None if build is None else build.modules,
        settings=None if build is None else dict(build.settings),
        notable=None if program.functions is None else notable_in(program.functions),
    )


def _words(module: GoModule | None) -> str | None:
    return None if module is None else module.words
