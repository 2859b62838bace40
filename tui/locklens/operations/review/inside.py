"""Looks up the advisories of locked providers in packages that were inspected before; asks and downloads nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from locklens import __version__
from locklens.advisories import PackageAdvisories
from locklens.advisories.database import kept_database
from locklens.advisories.matching import AdvisoryMatcher, Subject
from locklens.errors import ConfigurationError
from locklens.executables import NOTABLE_BEGINNINGS
from locklens.hashes import packages_of
from locklens.packages.inspecting import PackageFacts, kept_facts
from locklens.review.inspection import ChangeAdvisories, InspectedPackage, Inspection, ReleaseAdvisories, heeding
from locklens.review.model import ChangeKind
from locklens.review.platform_agreement import ReleaseBuilds, builds_of, platform_of, reduced
from locklens.text import identity_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.addresses import Platform, ProviderAddress
    from locklens.lockfile import LockEntry
    from locklens.policy.model import IgnoredAdvisory
    from locklens.review.model import Change
    from locklens.storage.cache import Cache


class AdvisoryLookup:
    """Looks up advisories of locked versions in a database, by what is inside the packages that were inspected."""

    def __init__(self, matcher: AdvisoryMatcher, cache: Cache) -> None:
        self._matcher = matcher
        self._database = replace(matcher.database, advisories=())
        self._cache = cache
        self._packages: dict[tuple[str, ProviderAddress, str], tuple[str, PackageAdvisories] | None] = {}

    def of_change(self, change: Change, ignored: Iterable[IgnoredAdvisory]) -> ChangeAdvisories | None:
        """Return the advisories of a change; None without a new version, or where there is nothing to say."""
        if change.new is None:
            return None
        old, new = change.old, change.new
        if old is not None and old.version != new.version and packages_of(old.hashes) & packages_of(new.hashes):
            # They are packages of one of both versions at most: only what the version itself says is known.
            found = self.of_release(new.address, str(new.version), ()).after(None)
        else:
            found = self._of_entry(new).after(self._of_entry(old) if old is not None else None)
        known = heeding(found, ignored)
        return None if known.is_empty and not known.platform else known

    def _of_entry(self, entry: LockEntry) -> ReleaseAdvisories:
        return self.of_release(entry.address, str(entry.version), entry.hashes)

    def of_release(self, address: ProviderAddress, version: str, hashes: Iterable[str]) -> ReleaseAdvisories:
        """Return the advisories of a version, of whose packages some hashes are known."""
        found = (self._of_package(text, address, version) for text in sorted(packages_of(hashes)))
        unseen = Subject(None, provider=address, version=version, is_inspected=False)
        return ReleaseAdvisories(self._database, dict(filter(None, found)), self._matcher.advisories_of(unseen))

    def _of_package(self, zh: str, address: ProviderAddress, version: str) -> tuple[str, PackageAdvisories] | None:
        key = (zh, address, version)
        if key not in self._packages:
            self._packages[key] = self._kept(zh, address, version)
        return self._packages[key]

    def _kept(self, zh: str, address: ProviderAddress, version: str) -> tuple[str, PackageAdvisories] | None:
        """Return what an earlier run found of a package in this database, or look it up and keep it.

        A program has a hundred thousand functions, and the health of many roots asks for dozens of programs.
        """
        made = self._database
        key = identity_of("advisories", __version__, made.source, made.read_at, zh, str(address), version)
        if (record := self._cache.verification(key)) is not None:
            with suppress(msgspec.MsgspecError):
                return msgspec.msgpack.decode(record, type=tuple[str, PackageAdvisories])
        facts = kept_facts(self._cache, zh)
        if facts is None:
            return None
        subject = Subject(facts.executable, provider=address, version=version)
        found = subject.platform, self._matcher.advisories_of(subject)
        if not facts.lacks_functions:  # Otherwise more is known once the package is inspected again.
            self._cache.keep_verification(key, msgspec.msgpack.encode(found))
        return found


class BuildLookup:
    """Looks up how the locked packages were built, in what was inspected before."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._known: dict[frozenset[str], ReleaseBuilds | None] = {}

    def of_change(self, change: Change) -> ReleaseBuilds | None:
        """Return how the packages of a change's new version were built; None if none of them was inspected.

        Modules that the older version replaces too are left out, where there is another version.
        """
        new = self._of_entry(change.new)
        return new if new is None or change.kind is ChangeKind.UNCHANGED else new.after(self._of_entry(change.old))

    def _of_entry(self, entry: LockEntry | None) -> ReleaseBuilds | None:
        hashes = packages_of(entry.hashes) if entry is not None else frozenset[str]()
        if hashes not in self._known:
            self._known[hashes] = self._look_up(hashes)
        return self._known[hashes]

    def _look_up(self, hashes: Iterable[str]) -> ReleaseBuilds | None:
        found: dict[Platform, PackageFacts] = {}
        twice: set[Platform] = set()
        for text in hashes:
            facts = self._compared(text)
            platform = platform_of(facts) if facts is not None else None
            if facts is None or platform is None:
                continue
            if platform in found:
                twice.add(platform)  # Of two releases, or one of them is not what it says: neither can be judged.
            found[platform] = facts
        known = {platform: facts for platform, facts in found.items() if platform not in twice}
        return builds_of(known) if known else None

    def _compared(self, zh: str) -> PackageFacts | None:
        """Return what is compared of a package, which an earlier run may have found: a program has many functions."""
        key = identity_of("builds", __version__, zh, *NOTABLE_BEGINNINGS)
        if (record := self._cache.verification(key)) is not None:
            with suppress(msgspec.MsgspecError):
                return msgspec.msgpack.decode(record, type=PackageFacts)
        facts = kept_facts(self._cache, zh)
        if facts is None:
            return None
        found = reduced(facts)
        self._cache.keep_verification(key, msgspec.msgpack.encode(found))
        return found


def advisories_of_inspection(found: Inspection) -> tuple[ChangeAdvisories | None, str]:
    """Return the advisories of the packages that were looked into, and why they cannot be looked up, or "".

    None without a database, and without a package that was inspected.
    """
    newer, compared = found.judged, found.compared
    if newer is None:
        return None, ""
    matcher, problem = _matcher()
    if matcher is None:
        return None, problem
    old = matcher.advisories_of(_inspected(compared[0])) if compared is not None else None
    subject = _inspected(newer)
    now = matcher.advisories_of(subject)
    inspected = ReleaseAdvisories(matcher.database, {subject.platform: now}, now)
    before = ReleaseAdvisories(matcher.database, {subject.platform: old}, old) if old is not None else None
    return inspected.after(before), ""


def _inspected(package: InspectedPackage) -> Subject:
    assert package.facts is not None
    return Subject(
        package.facts.executable,
        provider=package.address,
        version=None if package.version is None else str(package.version),
        platform=str(package.platform or ""),
    )


def advisory_lookup(cache: Cache) -> tuple[AdvisoryLookup | None, str]:
    """Return the lookup in the kept database; None where none is kept, or it cannot be read, and why that is."""
    matcher, problem = _matcher()
    return (None if matcher is None else AdvisoryLookup(matcher, cache)), problem


def _matcher() -> tuple[AdvisoryMatcher | None, str]:
    try:
        database = kept_database()
    except ConfigurationError as error:
        return None, f"advisories cannot be looked up: {error.sentence}"
    return (None if database is None else AdvisoryMatcher(database)), ""
