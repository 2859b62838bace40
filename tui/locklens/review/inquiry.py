"""Concurrent collection of the facts that the changes of a review need."""

from __future__ import annotations

from collections import deque
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.evidence import questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from locklens.releases.facts import Fact, FactRequest
    from locklens.review.case import FactSubject


class _Open(Struct):
    """A change with its open questions."""

    subject: FactSubject
    pending: set[FactRequest]


class FactCollector:
    """The questions of a run; each is asked once, even if several changes need it.

    Not thread-safe. Only `ask` runs on pool threads.

    Args:
        ask: Answers a question; must be thread-safe.
        pool: Runs `ask`.
    """

    def __init__(self, ask: Callable[[FactRequest], Fact], pool: Executor) -> None:
        self._ask = ask
        self._pool = pool
        self._asked: dict[FactRequest, Future[Fact]] = {}
        self._answered: SimpleQueue[FactRequest] = SimpleQueue()
        self._waiting: dict[FactRequest, list[_Open]] = {}
        self._ready: deque[FactSubject] = deque()
        self.known: dict[FactRequest, Fact] = {}
        """The answers so far."""
        self.total = 0
        """The number of changes to settle."""
        self.done = 0
        """The number of settled changes."""

    def start(self, subjects: Iterable[FactSubject]) -> None:
        """Start asking for these changes too."""
        for subject in subjects:
            self.total += 1
            self._go_on(subject)

    def settled(self, *, is_patient: bool) -> Iterator[FactSubject]:
        """Yield the changes without open questions, in the order in which they are settled.

        Args:
            is_patient: True to wait until all are settled; otherwise only those that are settled now.

        Raises:
            LockLensError: The run was cancelled.
        """
        while True:
            while self._ready:
                self.done += 1
                yield self._ready.popleft()
            if self.done == self.total:
                return
            try:
                question = self._answered.get(block=is_patient)
            except Empty:
                return
            self.known[question] = self._asked[question].result()
            for waiting in self._waiting.pop(question, ()):
                waiting.pending.discard(question)
                if not waiting.pending:
                    self._go_on(waiting.subject)

    def _go_on(self, subject: FactSubject) -> None:
        """Ask the next questions of a change; an answer may lead to another question."""
        pending = questions(subject.change, subject.tool, self.known)
        if not pending:
            self._ready.append(subject)
            return
        waiting = _Open(subject, set(pending))
        for question in pending:
            self._waiting.setdefault(question, []).append(waiting)
            if question not in self._asked:
                future = self._asked[question] = self._pool.submit(self._ask, question)
                future.add_done_callback(partial(self._note, question))

    def _note(self, question: FactRequest, _: Future[Fact]) -> None:
        """Notify the waiting thread; run on the thread with the answer."""
        self._answered.put(question)
