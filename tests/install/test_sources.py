"""Locking from a source that is no registry: the installer knows the protocol alone."""

from __future__ import annotations

import os

from releases.memory import DEMO, MemorySession, MemorySource, released

from locklens.addresses import Platform
from locklens.demo.published import hashes_by_platform
from locklens.dialect import TERRAFORM
from locklens.hashes import hashes_of_files, hashes_of_zips
from locklens.install.context import InstallContext, InstallEvent, LockRequest, PackageHashed, ProviderRequirement
from locklens.install.lock import Locker
from locklens.lockfile import LockEntry
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache
from locklens.versions import Version

PLATFORMS = Platform("linux", "amd64"), Platform("darwin", "arm64")


def test_a_provider_is_locked_from_memory() -> None:
    source, events = MemorySource(released("1.4.1"), released()), list[InstallEvent]()
    with MemorySession(NetworkSettings(os.environ, Cache.in_memory()), None, is_installing=True) as session:
        session.memory = source
        context = InstallContext(session, TERRAFORM, events.append)
        assert Locker(context).choose([ProviderRequirement(DEMO, (), None, PLATFORMS[0])]) == [Version.parse("1.4.2")]
        request = LockRequest(DEMO, Version.parse("1.4.2"), PLATFORMS, ())
        [entry] = Locker(context).entries([request])
        assert session.log == ()
    assert isinstance(entry, LockEntry)
    hashes = hashes_by_platform(released())
    assert hashes_of_files(entry.hashes) == {hashes[str(platform)][1] for platform in PLATFORMS}
    assert {zh for zh, _ in hashes.values()} <= hashes_of_zips(entry.hashes)
    assert source.calls["download"] == 2
    assert {event.platform for event in events if isinstance(event, PackageHashed)} == {*PLATFORMS}
