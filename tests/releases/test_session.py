"""A run's session: how it ends, in which order results come, and which hosts it contacts."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import LockLensError, RepositoryError, SourceError
from locklens.releases import NetworkSettings
from locklens.releases.session import SESSION_WORKERS, ReleaseSession
from locklens.sources.hosts import NotAsked
from locklens.sources.registry import Registry
from locklens.storage.cache import Cache

SECONDS = 60.0
"""Against a hang: nothing here takes as long."""

PRIVATE = ProviderAddress("registry.acme.test", "acme", "demo")
PUBLIC = ProviderAddress("registry.terraform.io", "acme", "demo")


@pytest.fixture
def settings(tmp_path: Path) -> NetworkSettings:
    return NetworkSettings({"HOME": str(tmp_path), "PATH": ""}, Cache.in_memory())


def test_an_error_cancels_what_is_in_flight_and_not_the_caller(settings: NetworkSettings) -> None:
    caller = threading.Event()
    session = ReleaseSession(settings, (), caller)
    waiting = session.pool.submit(session.cancel.wait, SECONDS)
    with pytest.raises(RepositoryError), session:
        raise RepositoryError("git failed")
    assert waiting.result(SECONDS)
    assert session.cancel.is_set()
    assert not caller.is_set()


def test_the_callers_cancel_ends_a_wait_of_the_session(settings: NetworkSettings) -> None:
    caller = threading.Event()
    with ReleaseSession(settings, (), caller) as session:
        waiting = session.pool.submit(session.cancel.wait, SECONDS)
        assert not session.cancel.is_set()
        assert not session.cancel.wait(0)
        caller.set()
        assert waiting.result(SECONDS)
        assert session.cancel.is_set()


def test_a_session_waits_for_its_work(settings: NetworkSettings) -> None:
    with ReleaseSession(settings, ()) as session:
        begun, goes_on = threading.Event(), threading.Event()

        def work() -> bool:
            begun.set()
            return goes_on.wait(SECONDS)

        running = session.pool.submit(work)
        assert begun.wait(SECONDS)
        threading.Timer(0.1, goes_on.set).start()
    assert running.done()
    assert not session.cancel.is_set()


def test_an_error_drops_what_has_not_begun_and_leaves_behind_what_cannot_be_cancelled(
    settings: NetworkSettings,
) -> None:
    begun, goes_on = threading.Semaphore(0), threading.Event()

    def stubborn(_: int) -> bool:
        begun.release()
        return goes_on.wait(SECONDS)

    session = ReleaseSession(settings, ())
    works = [session.pool.submit(stubborn, number) for number in range(SESSION_WORKERS + 9)]
    assert all(begun.acquire(timeout=SECONDS) for _ in range(SESSION_WORKERS))
    running, waiting, dropped = works[:SESSION_WORKERS], works[SESSION_WORKERS:], threading.Semaphore(0)
    for work in waiting:
        work.add_done_callback(lambda _: dropped.release())
    with pytest.raises(LockLensError), session:
        raise LockLensError("it ends here")
    assert all(dropped.acquire(timeout=SECONDS) for _ in waiting)
    assert not any(work.done() for work in running)
    goes_on.set()
    assert all(work.result(SECONDS) for work in running)
    assert all(work.cancelled() for work in waiting)


def test_results_are_in_order_or_as_they_come(settings: NetworkSettings) -> None:
    second = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            assert second.wait(SECONDS)
        return number

    with ReleaseSession(settings, ()) as session:
        found = []
        for number in session.map_unordered(work, range(2)):
            found.append(number)
            second.set()
        assert found == [1, 0]
        assert list(session.map(work, range(9))) == list(range(9))


def test_work_of_the_pool_may_wait_for_spawned_work(settings: NetworkSettings) -> None:
    with ReleaseSession(settings, ()) as session:
        results = session.map(lambda number: session.spawn(lambda: number * 2).result(SECONDS), range(200))
        assert list(results) == [number * 2 for number in range(200)]


def test_only_hosts_that_the_user_or_the_base_names_are_contacted(settings: NetworkSettings) -> None:
    with ReleaseSession(settings, ()) as session:
        assert isinstance(session.find_source(PUBLIC, TERRAFORM), Registry)
        assert isinstance(session.find_source(PRIVATE, TERRAFORM), NotAsked)
        with pytest.raises(SourceError, match="was not asked") as caught:
            session.source(PRIVATE, TERRAFORM)
        assert "--ask-host registry.acme.test" in caught.value.hint
    with ReleaseSession(settings, (PRIVATE.host,)) as session:
        assert isinstance(session.source(PRIVATE, TERRAFORM), Registry)


def test_an_installer_contacts_every_host_that_is_required(settings: NetworkSettings) -> None:
    with ReleaseSession(settings, None, is_installing=True) as session:
        assert isinstance(session.source(PRIVATE, OPENTOFU), Registry)


def test_each_tool_has_its_registries_and_authenticator_once(settings: NetworkSettings) -> None:
    with ReleaseSession(settings, ()) as session:
        for of in (session.registries, session.authenticator):
            assert of(TERRAFORM) is of(TERRAFORM)
            assert of(TERRAFORM) is not of(OPENTOFU)
