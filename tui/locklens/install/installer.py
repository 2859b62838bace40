"""Installs the providers that a configuration requires: the order of the steps for one provider.

The tools select all versions before they install the first; here providers are independent, so none waits for
another. A failure is a value: the other providers continue, and stay installed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.diagnostics import Diagnostic, step_after
from locklens.errors import LockLensError, NotFoundError, TrustError
from locklens.hashes import hashes_of_files
from locklens.install import fetching, hashes_at
from locklens.install.context import (
    AlreadyInstalled,
    CacheBusy,
    FetchStarted,
    FolderDiffers,
    LinkedFromCache,
    ProviderInstalled,
    QueryStarted,
    RegistryWarned,
    Settled,
    hashes_command,
    next_step,
)
from locklens.lockfile.update import fetched, is_incomplete, reused
from locklens.packages import stop_if
from locklens.selection import Selection, Unselectable
from locklens.selection.choosing import before_asking, combined, select

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.install import DataFolder, PluginCache
    from locklens.install.context import InstallContext, ProviderRequirement
    from locklens.lockfile import LockEntry
    from locklens.releases.authentication import AuthenticatedRelease
    from locklens.sources.metadata import PackageMetadata
    from locklens.versions import Version

_QUERY = "Failed to query available provider packages"
_RESOLVE = "Failed to resolve provider packages"
_INSTALL = "Failed to install provider"


class _Done(Struct, frozen=True):
    """One provider that is settled."""

    entry: LockEntry
    is_incomplete: bool = False


class Installer(Struct, frozen=True):
    """Installs the providers of one root as `init` does. Thread-safe.

    Attributes:
        upgrade: True to ignore the lock file's versions.
        for_real: False to hash packages without installing them.
        records_reported: False to leave out hashes that a registry reports for other platforms.
    """

    context: InstallContext
    into: DataFolder
    here: Platform
    upgrade: bool = False
    for_real: bool = True
    records_reported: bool = True
    root: str = "."

    def install(self, wanted: Sequence[ProviderRequirement]) -> Settled:
        """Install providers, without built-in ones, and return their entries.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        addresses = [requirement.address for requirement in wanted]
        results = dict(zip(addresses, self.context.map(self.settle, wanted), strict=True))
        done = {address: result for address, result in results.items() if isinstance(result, _Done)}
        return Settled(
            {address: result.entry for address, result in done.items()},
            tuple(result for result in results.values() if isinstance(result, Diagnostic)),
            tuple(address for address, result in done.items() if result.is_incomplete),
        )

    def installed(self, wanted: Sequence[ProviderRequirement]) -> Settled | None:
        """Return the entries if every provider is installed as locked, else None; no registry is asked."""
        if any(before_asking(requirement.requirements, requirement.locked, upgrade=False) for requirement in wanted):
            return None
        results = {requirement.address: self.as_locked(requirement) for requirement in wanted}
        entries = {address: done.entry for address, done in results.items() if done is not None}
        if len(entries) < len(results):
            return None
        for requirement in wanted:
            self.emit_installed(requirement)
        return Settled(entries)

    @property
    def _cache(self) -> PluginCache | None:
        return self.context.plugin_cache

    def settle(self, requirement: ProviderRequirement) -> _Done | Diagnostic:
        """Select, fetch and install one provider."""
        try:
            selection = self._select(requirement)
        except LockLensError as error:
            words = f"{self._lead} {self.context.name(requirement.address)}: {error}"
            hint = requirement.hint_after(error)
            return self._failed(requirement.address, self._query_summary(error), words, error, hint)
        if isinstance(selection, _Done | Diagnostic):
            return selection
        try:
            return self._install(requirement, selection.version)
        except LockLensError as error:
            lead = f"Error while installing {self.context.name(requirement.address)} v{selection.version}"
            return self._failed(requirement.address, _INSTALL, f"{lead}: {error}", error)

    def as_locked(self, requirement: ProviderRequirement) -> _Done | None:
        """Return the entry of a provider that is installed as locked, else None."""
        prior = requirement.prior
        if prior is None:
            return None
        place = self._place(requirement.address, prior.version)
        if not self.into.has(place, prior.hashes, self.context.session.cancel):
            return None
        return _Done(reused(prior, combined(requirement.requirements), self.context.dialect))

    def emit_installed(self, requirement: ProviderRequirement) -> None:
        """Emit the events for a provider that is installed already."""
        assert requirement.prior is not None
        name = self.context.name(requirement.address)
        self.context.emit(QueryStarted(name, str(combined(requirement.requirements)), is_locked=True))
        self.context.emit(AlreadyInstalled(name, requirement.prior.version))

    def _select(self, requirement: ProviderRequirement) -> Selection | _Done | Diagnostic:
        prior, name = requirement.prior, self.context.name(requirement.address)
        version = requirement.locked
        is_locked = prior is not None and not self.upgrade
        refused = before_asking(requirement.requirements, version, upgrade=self.upgrade)
        if refused is None and is_locked and (done := self.as_locked(requirement)) is not None:
            self.emit_installed(requirement)
            return done
        self.context.emit(QueryStarted(name, str(combined(requirement.requirements)), is_locked))
        if refused is None and is_locked and version is not None and (done := self._from_cache(requirement, version)):
            return done
        selection = refused or self._asked(requirement, version)
        if isinstance(selection, Unselectable):
            words = f"{self._lead} {name}: {selection.words(requirement.address, self.context.dialect)}"
            return self._failed(requirement.address, self._query_summary(None), words)
        if (
            prior is not None
            and selection.version == prior.version
            and (done := self.as_locked(requirement)) is not None
        ):
            self.context.emit(AlreadyInstalled(name, prior.version))
            return done
        return selection

    def _asked(self, requirement: ProviderRequirement, locked: Version | None) -> Selection | Unselectable:
        self.context.prefetch(
            requirement.address, requirement.pinned if self.upgrade else locked or requirement.pinned, self.here
        )
        known = self.context.source(requirement.address).versions(requirement.address)
        if known.warnings:
            self.context.emit(RegistryWarned(self.context.name(requirement.address), known.warnings))
        return select(requirement.requirements, known.versions, locked, upgrade=self.upgrade)

    def _from_cache(self, requirement: ProviderRequirement, version: Version) -> _Done | None:
        """Install a provider from the plugin cache; None if it does not have what is locked."""
        cache, address = self._cache, requirement.address
        if cache is None:
            return None
        locked, prior = requirement.locked_hashes(version), requirement.prior
        place = cache.folder.place(address, version, self.here)
        if not (hashes_of_files(locked) or (cache.may_break_lock and not locked)):
            return None
        cancel, busy = self.context.session.cancel, CacheBusy(self.context.name(address), version)
        if locked:
            found = cache.folder.hashes(place, cancel)
        else:
            found = cache.settled_hashes(place, cancel=cancel, on_waiting=lambda: self.context.emit(busy))
        if found.isdisjoint(locked) and (locked or not found or not fetching.has_program(place, address)):
            return None
        self._link_from_cache(address, version, place, found)
        constraints = combined(requirement.requirements)
        if locked and prior is not None and not self._is_terraform:
            return _Done(reused(prior, constraints, self.context.dialect))
        entry = fetched(prior, address=address, version=version, constraints=constraints, hashes=found)
        return _Done(entry, is_incomplete(found, (), prior, version))

    def _link_from_cache(
        self, address: ProviderAddress, version: Version, package: Path, hashes: frozenset[str]
    ) -> None:
        self._link(address, version, package, hashes)
        self.context.emit(LinkedFromCache(self.context.name(address), version))

    def _link(self, address: ProviderAddress, version: Version, package: Path, hashes: frozenset[str]) -> None:
        """Make the data folder's package a link to the plugin cache's."""
        if not self.for_real:
            return
        place = self._place(address, version)
        with self.into.staging(place) as staging:
            self._report_difference(address, version, place, hashes)
            staging.link(package)
            staging.put()

    def _install(self, requirement: ProviderRequirement, version: Version) -> _Done:
        name = self.context.name(requirement.address)
        if (done := self._from_cache(requirement, version)) is not None:
            return done
        self.context.emit(FetchStarted(name, version, None))
        metadata = fetching.offered(self.context, requirement.address, version, self.here)
        release = self.context.session.spawn(lambda: fetching.judged(self.context, metadata))
        cached = self._from_cache_as_reported(requirement, metadata, release)
        obtained = cached or self._obtained(requirement, metadata, release)
        vouched, size = release.result(), obtained.package.size
        local = obtained.hashes
        fetching.warn(self.context, metadata, vouched)
        fetching.warn_of_changes(self.context, requirement, version, vouched)
        if cached is None:
            self.context.emit(ProviderInstalled(name, version, self.context.authenticator.words(vouched), size))
        known = vouched.recorded if self.records_reported else vouched.hashes
        entry = fetched(
            requirement.prior,
            address=requirement.address,
            version=version,
            constraints=combined(requirement.requirements),
            hashes=local | known,
        )
        return _Done(entry, is_incomplete(local, vouched.hashes, requirement.prior, version))

    def _from_cache_as_reported(
        self, requirement: ProviderRequirement, metadata: PackageMetadata, release: Future[AuthenticatedRelease]
    ) -> fetching.FetchedPackage | None:
        """Link to the plugin cache's package if a believed registry reports its hash; None if it has to be fetched.

        Asked for when the lock file cannot vouch for that package: it has no `h1` for this platform, or no entry.
        """
        if self._cache is None or not metadata.packages or not self.context.authenticator.believes(metadata.address):
            return None
        place = self._cache.folder.place(metadata.address, metadata.version, self.here)
        if not fetching.has_program(place, metadata.address):
            return None
        package = fetching.reported_package(metadata.zh, self.here, release.result())
        locked = requirement.locked_hashes(metadata.version)
        if package is None or (locked and locked.isdisjoint(package.hashes)):
            return None
        if self._cache.folder.hashes(place, self.context.session.cancel) != package.of_files:
            return None
        self._link_from_cache(metadata.address, metadata.version, place, package.of_files)
        return fetching.FetchedPackage(package)

    def _obtained(
        self, requirement: ProviderRequirement, metadata: PackageMetadata, release: Future[AuthenticatedRelease]
    ) -> fetching.FetchedPackage:
        """Fetch and install the package and return its hashes; with `for_real` False, install nothing."""
        address, version = metadata.address, metadata.version
        locked, mismatch = requirement.locked_hashes(version), self._mismatch(metadata)
        if metadata.is_by_digest and locked and locked.isdisjoint(metadata.hashes):
            raise mismatch
        if not self.for_real:
            vouched = release.result()
            known = fetching.remembered_package(self.context, metadata.zh, metadata.platform, vouched)
            package = fetching.FetchedPackage(known) if known else fetching.hashed(self.context, metadata, vouched)
            if metadata.is_folder:
                fetching.check_locked(package.package, locked, mismatch)
            elif locked and package.package.hashes.isdisjoint(locked):
                raise mismatch
            self._report_difference(address, version, self._place(address, version), package.package.of_files)
            return package
        into = self._cache.folder if self._cache is not None else self.into
        place = into.place(address, version, self.here)
        with self._turn(metadata, place), into.staging(place) as staging:
            package = fetching.placed(
                self.context, metadata, staging, release=release, locked=locked, mismatch=mismatch
            )
            differs = self._report_difference(address, version, place, package.package.of_files)
            stop_if(self.context.session.cancel)
            if differs or self._cache is None:  # Others may be using what the cache has already.
                staging.put()
        if self._cache is not None:
            self._link(address, version, place, package.package.of_files)
        return package

    def _turn(self, metadata: PackageMetadata, place: Path) -> AbstractContextManager[None]:
        """Keep other processes from installing the same package in the plugin cache."""
        if self._cache is None:
            return nullcontext()
        busy = CacheBusy(self.context.name(metadata.address), metadata.version)
        cancel = self.context.session.cancel
        return self._cache.exclusive_lock(place, cancel=cancel, on_waiting=lambda: self.context.emit(busy))

    def _report_difference(
        self, address: ProviderAddress, version: Version, place: Path, hashes: frozenset[str]
    ) -> bool:
        """Report a folder that differs from the package that replaces it, with its hash; False if it is the same."""
        before = hashes_at(place, self.context.session.cancel)
        if before != hashes and (place.exists() or place.is_symlink()):
            shown = " ".join(sorted(before))
            self.context.emit(FolderDiffers(self.context.name(address), version, str(place), shown))
        return before != hashes

    def _mismatch(self, metadata: PackageMetadata) -> TrustError:
        words = f"the {'local' if metadata.is_folder else 'current'} package for {metadata.address} {metadata.version} "
        words += "doesn't match any of the checksums previously recorded in the dependency lock file"
        hint = f"`{hashes_command(self.root)}` compares the locked hashes with the signed release"
        return TrustError(words, hint=hint)

    def _place(self, address: ProviderAddress, version: Version) -> Path:
        return self.into.place(address, version, self.here)

    @property
    def _lead(self) -> str:
        return (
            "Could not retrieve the list of available versions for provider"
            if self._is_terraform
            else "Could not resolve provider"
        )

    @property
    def _is_terraform(self) -> bool:
        return self.context.dialect.name == "terraform"

    def _query_summary(self, error: LockLensError | None) -> str:
        return _QUERY if self._is_terraform or isinstance(error, NotFoundError) else _RESOLVE

    def _failed(
        self, address: ProviderAddress, summary: str, words: str, error: LockLensError | None = None, hint: str = ""
    ) -> Diagnostic:
        hint = hint or (next_step(error, self.root) if error is not None else "")
        return self.context.failed(address, summary, words, hint, next_step=step_after(error))
