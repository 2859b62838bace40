"""Jobs of screens on threads: whose result arrives, and what becomes of runs that were replaced, stopped or failed."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

import pytest
from textual.app import App
from textual.worker import WorkerCancelled

from locklens.errors import LockLensError, RunCancelledError
from locklens.ui.shell import Job

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from locklens.ui.shell import Run


class Words(App[None]):
    """Notes what a job hands over, with whether it still ran by then."""

    def __init__(self) -> None:
        super().__init__()
        self.job = Job(self, "words")
        self.heard: list[tuple[object, bool]] = []

    def hear(self, word: object) -> None:
        assert threading.get_ident() == self._thread_id
        self.heard.append((word, self.job.is_running))


@pytest.fixture
async def words() -> AsyncIterator[Words]:
    app = Words()
    async with app.run_test():
        yield app


async def settle(app: Words) -> None:
    """Wait for all threads, and for what they posted."""
    for worker in list(app.workers):
        with contextlib.suppress(WorkerCancelled):
            await worker.wait()
    await asyncio.sleep(0.1)


async def test_what_a_run_tells_arrives_in_order_and_then_its_result(words: Words) -> None:
    def work(run: Run) -> str:
        for number in range(3):
            run.tell(words.hear, number)
        return "end"

    words.job.start(work, words.hear, words.hear)
    assert words.job.is_running
    await settle(words)
    assert words.heard == [(0, True), (1, True), (2, True), ("end", False)]


async def test_an_error_arrives_in_place_of_a_result(words: Words) -> None:
    def work(run: Run) -> str:
        run.tell(words.hear, "begun")
        raise LockLensError("it is down")

    words.job.start(work, words.hear, lambda error: words.hear(str(error)))
    await settle(words)
    assert words.heard == [("begun", True), ("it is down", False)]


@pytest.mark.parametrize("replaces", [True, False])
async def test_nothing_of_a_run_that_was_replaced_or_stopped_arrives(words: Words, *, replaces: bool) -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    cancelled = []

    def slow(run: Run) -> str:
        run.tell(words.hear, "early")
        begun.set()
        assert go_on.wait(20)
        cancelled.append(run.cancel.is_set())
        run.tell(words.hear, "late")
        ended.set()
        return "slow"

    words.job.start(slow, words.hear, words.hear)
    assert await asyncio.to_thread(begun.wait, 20)
    if replaces:
        words.job.start(lambda _: "new", words.hear, words.hear)
    else:
        words.job.stop()
        assert not words.job.is_running
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 20)
    await settle(words)
    assert cancelled == [True]
    assert [word for word, _ in words.heard if word != "early"] == (["new"] if replaces else [])
    assert not words.job.is_running
    assert words.job.runs == (2 if replaces else 1)


@pytest.mark.parametrize("has_begun", [True, False])
async def test_a_run_that_is_cancelled_may_still_say_how_far_it_came(words: Words, *, has_begun: bool) -> None:
    begun = threading.Event()

    def work(run: Run) -> str:
        begun.set()
        assert run.cancel.wait(20)
        return "half"

    words.job.start(work, words.hear, words.hear)
    if has_begun:
        assert await asyncio.to_thread(begun.wait, 20)
    words.job.cancel()
    for _ in range(2000):
        if words.heard:
            break
        await asyncio.sleep(0.01)
    assert words.heard == [("half", False)]


async def test_a_run_that_ends_as_cancelled_says_nothing(words: Words) -> None:
    def work(_: Run) -> str:
        raise RunCancelledError

    words.job.start(work, words.hear, words.hear)
    await settle(words)
    assert words.heard == []
