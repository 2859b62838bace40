"""`mirror` as a use case: the packages of the providers that roots require, in a folder or in OCI registries.

Versions are the locked ones; where nothing is locked yet, the newest that satisfy the constraints. What only the state
or test files require is mirrored where it is locked, and else left out: the tools do not mirror it at all. Packages
come from their registries, whatever provider_installation says.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.hashes import is_of_files, is_of_zip
from locklens.install.context import InstallContext, InstallEvent, ProviderRequirement
from locklens.install.lock import Locker
from locklens.install.mirroring import SUMMARY, MirrorFolder, mirror, write_documents
from locklens.operations.root_modules import RootReader, no_root, require_folder
from locklens.operations.typed_names import hint_below
from locklens.operations.write.diagnostics import unreadable
from locklens.project.clifiles import this_platform
from locklens.project.installation import require_oci
from locklens.project.tree import FileSystem
from locklens.releases.session import ReleaseSession
from locklens.storage.files import lies_in_repository
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.errors import Place
    from locklens.install.mirroring import Mirrored, MirroredBuild
    from locklens.operations.plan import Scope
    from locklens.operations.root_modules import Root
    from locklens.releases import NetworkSettings
    from locklens.versions import Version

    _Builds = Mapping[MirroredBuild, Sequence[tuple[str, Place]]]
    """Packages, and the roots that require each, with the place of the first requirement."""

    _Run = tuple[InstallContext, _Builds]
    """The packages of one tool's providers."""

    _Locked = Mapping[tuple[str, ProviderAddress, Version], Mapping[Place, frozenset[str]]]
    """The locked hashes of a tool's versions, by the place of each entry."""


class _Requirement(Struct):
    """A provider that a tool is to mirror, and the roots that require it alike.

    Attributes:
        roots: Their names, each with the place of its first requirement.
    """

    tool: Dialect
    provider: ProviderRequirement
    roots: list[tuple[str, Place]]


class MirrorRequest(Struct, frozen=True):
    """A mirror to fill.

    Attributes:
        place: The mirror's folder, or the template of repositories in OCI registries.
        platforms: Platforms of the packages; () for this machine's.
        prunes: True to remove the packages of a folder that no root requires for these platforms.
        adds_platforms: True to replace the index of a version in a registry that lacks platforms.
        is_dry: True to write nothing, and to fetch no package.
        allows_missing: True if modules may be missing, whose requirements are then ignored.
        ignores_locks: True for the newest versions in range instead of the locked ones.
    """

    where: Scope
    place: Path | str
    platforms: tuple[Platform, ...] = ()
    prunes: bool = False
    adds_platforms: bool = False
    is_dry: bool = False
    allows_missing: bool = False
    ignores_locks: bool = False


class MirrorResult(Struct, frozen=True):
    """The filled mirror.

    Attributes:
        packages: Number of the required packages that it has now, or would have.
        removed: Files that were removed, or would be, relative to the folder.
        failures: Errors; with any, nothing is removed.
        warnings: The packages of a folder that are none of the locked ones.
        notes: Problems of the user's settings, in sentences.
    """

    packages: int
    removed: tuple[str, ...] = ()
    failures: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    log: tuple[str, ...] = ()


def fill_mirror(
    request: MirrorRequest,
    settings: NetworkSettings,
    *,
    on_event: Callable[[InstallEvent], None] = lambda _: None,
    on_waiting: Callable[[], None] = lambda: None,
) -> MirrorResult:
    """Fill a mirror; `on_waiting` is called where another process fills the folder for a while.

    `on_event` is called from any thread, but never concurrently.

    Raises:
        LockLensError: A folder is no root, a root cannot be read, the folder of the mirror cannot be written to, or a
            link on the way to it leads out of the repository that one works in.
    """
    if not isinstance(request.place, str):
        lies_in_repository(request.place)
    locked: dict[tuple[str, ProviderAddress, Version], dict[Place, frozenset[str]]] = {}
    wanted, failures = _required(request, locked)
    with ReleaseSession(settings, None, is_installing=True) as session:
        runs: list[_Run] = []
        for tool in dict.fromkeys(one.tool for one in wanted):
            context = InstallContext(session, tool, on_event)
            own = [one for one in wanted if one.tool is tool]
            runs.append((context, _builds(own, context, request.platforms, failures)))
        if isinstance(request.place, str):
            result = _pushed(request, request.place, runs)
        else:
            into = MirrorFolder(request.place)
            with nullcontext() if request.is_dry else session.within(into.exclusive_lock(on_waiting)):
                result = _filled(request, into, runs, locked, has_failed=bool(failures))
        return replace(result, failures=(*failures, *result.failures), notes=session.notes, log=session.log)


def _filled(
    request: MirrorRequest, into: MirrorFolder, runs: Sequence[_Run], locked: _Locked, *, has_failed: bool
) -> MirrorResult:
    """Fill a folder; `has_failed` is True if a version could not be selected."""
    done = [(context, mirror(list(builds), context, into=into, is_dry=request.is_dry)) for context, builds in runs]
    failures = [
        _placed(failure, builds[build])
        for (_, builds), (_, mirrored) in zip(runs, done, strict=True)
        for build, failure in mirrored.failures.items()
    ]
    kept = frozenset(build for _, mirrored in done for build in mirrored.hashes)
    # What is to remain is not known where a version could not be selected, or a package could not be obtained.
    is_known = not has_failed and not failures
    removed = into.prune(kept, is_dry=request.is_dry) if request.prunes and is_known else ()
    for context, mirrored in done if not request.is_dry else ():
        providers = sorted({address for address, _, _ in mirrored.hashes})
        failures += write_documents(providers, mirrored.hashes, context, into=into)
    return MirrorResult(len(kept), removed, tuple(failures), tuple(_not_locked(done, into, locked)))


def _not_locked(
    done: Iterable[tuple[InstallContext, Mirrored]], into: MirrorFolder, locked: _Locked
) -> list[Diagnostic]:
    """Return a warning for each package in a folder, and each entry of its version that has none of its hashes."""
    summary, hint = "Mirrored package is not locked", "`locklens hashes` compares the locked hashes with the release"
    found = []
    for context, mirrored in done:
        for build, listed in mirrored.hashes.items():
            address, version, platform = build
            places = locked.get((context.dialect.name, address, version), {})
            # The zip file is read again only where no hash of its document is locked.
            others = {place: hashes for place, hashes in places.items() if hashes.isdisjoint(listed)}
            zh = into.zh(build) if others and not any(map(is_of_zip, listed)) else ""
            name = context.name(address)
            package = f"{name} {version} for {platform}"
            for place, hashes in others.items():
                if zh in hashes:
                    continue
                if any(map(is_of_files, listed)) or not any(map(is_of_files, hashes)):
                    words = f"no hash of {package} is locked here, so that init from this mirror refuses it"
                elif any(map(is_of_zip, hashes)):
                    # A dry run does not fetch the package that its h1 would be computed from.
                    words = f"no zh of {package} is locked here; init from this mirror refuses it unless its h1 is"
                else:
                    continue
                found.append(Diagnostic(DiagnosticSeverity.WARNING, summary, words, name, place, hint))
    return found


def _pushed(request: MirrorRequest, template: str, runs: Sequence[_Run]) -> MirrorResult:
    """Push to OCI registries; what is counted are the packages that tags name now."""
    from locklens.install.pushing import push

    for context, _ in runs:
        require_oci(context.dialect)
    done = [
        push(list(builds), context, template=template, adds_platforms=request.adds_platforms, is_dry=request.is_dry)
        for context, builds in runs
    ]
    failures = tuple(failure for pushed in done for failure in pushed.failures)
    return MirrorResult(sum(pushed.packages for pushed in done), failures=failures)


def _required(
    request: MirrorRequest, locked: dict[tuple[str, ProviderAddress, Version], dict[Place, frozenset[str]]]
) -> tuple[list[_Requirement], list[Diagnostic]]:
    """Return what the roots require, each question once, and errors; add to the locked hashes what is to be heeded."""
    where = request.where
    reader, tree = RootReader(where), FileSystem(where.folder)
    found: dict[object, _Requirement] = {}
    problems: dict[Diagnostic, list[str]] = {}
    unmet: dict[Diagnostic, list[tuple[str, Place]]] = {}
    for name in tuple(dict.fromkeys(where.roots)) or ("",):
        folder = require_folder(tree, name)
        root = reader.read_folder(tree, folder)
        if not (root.configuration.has_files or root.lock.exists):
            raise no_root(tree, folder, hint_below(where.folder / name), named=name or ".")
        faults = unreadable(root, allows_missing=request.allows_missing)
        for problem in faults:
            problems.setdefault(problem, []).append(root.name)
        if not faults and (doubt := _undetermined(root, request)) is not None:
            unmet.setdefault(doubt, []).append((root.name, (root.lock.path if root.lock.exists else root.name, None)))
        wanted = root.wanted()
        has_versions = bool(root.lock.entries) and not request.ignores_locks
        for one in [replace(each, prior=None) for each in wanted] if request.ignores_locks else wanted:
            first = one.requirements[0]
            asker = root.name, (first.file, first.line)
            if one.prior is None and root.configuration.is_of_init(one.address):
                continue
            if has_versions and one.prior is None:
                unmet.setdefault(_not_selected(root.name_of(one.address)), []).append(asker)
                continue
            if one.prior is not None and (hashes := one.locked_hashes(one.prior.version)):
                place = root.lock.path, one.prior.line
                locked.setdefault((root.tool.name, one.address, one.prior.version), {})[place] = hashes
            constraints = tuple(str(requirement.constraints) for requirement in one.requirements)
            question = root.tool.name, one.address, one.locked, constraints
            found.setdefault(question, _Requirement(root.tool, one, [])).roots.append(asker)
    failures = [replace(one, root=names[0]) if len(names) == 1 else one for one, names in problems.items()]
    failures += (_placed(failure, askers) for failure, askers in unmet.items())
    return list(found.values()), failures


def _undetermined(root: Root, request: MirrorRequest) -> Diagnostic | None:
    """Return the error that it is not known what a root requires; None if what is known is enough.

    A removal takes more than an addition: what missing modules or the state may require must not be removed either.
    """
    configuration = root.configuration
    locked = () if request.ignores_locks else root.migration.entries
    required = configuration.required() | {old for old, _ in root.migration.moved}
    left = [root.name_of(one.address) for one in locked if one.address not in required]
    if request.prunes:
        reason = configuration.unknown_constraints or (configuration.unknown_reason if left else "")
    else:
        reason = configuration.undeclared_reason if left or not configuration.has_files else ""
    if not reason:
        return None
    words = f"could not determine what is required: {reason}"
    if left:
        words += f"; {listing(left)} {'are' if left[1:] else 'is'} locked here, and not mirrored"
    return Diagnostic(DiagnosticSeverity.ERROR, SUMMARY, words)


def _not_selected(name: str) -> Diagnostic:
    words = f"{name} is required, and the lock file has no version of it"
    hint = "`locklens lock` locks one; -lock-file=false takes the newest versions that satisfy the constraints"
    return Diagnostic(DiagnosticSeverity.ERROR, "Inconsistent dependency lock file", words, name, hint=hint)


def _builds(
    wanted: list[_Requirement], context: InstallContext, platforms: tuple[Platform, ...], failures: list[Diagnostic]
) -> _Builds:
    """Return the packages of the selected versions; a provider without one adds to the failures."""
    platforms = platforms or (Platform.parse(this_platform()),)
    asked = [replace(one.provider, first=platforms[0]) for one in wanted]
    chosen = Locker(context).choose(asked, summary=SUMMARY)
    builds: dict[MirroredBuild, list[tuple[str, Place]]] = {}
    for one, selected in zip(wanted, chosen, strict=True):
        if isinstance(selected, Diagnostic):
            failures.append(_placed(selected, one.roots))
        else:
            for platform in platforms:
                builds.setdefault((one.provider.address, selected, platform), []).extend(one.roots)
    return builds


def _placed(failure: Diagnostic, roots: Sequence[tuple[str, Place]]) -> Diagnostic:
    """Return an error about a required provider with the place of its requirement, and the number of other roots."""
    (name, place), *others = roots
    if not others:
        return replace(failure, place=place, root=name)
    return replace(failure, place=place, detail=f"{failure.detail} (and {counted(len(others), 'other root')})")
