"""Asks what the changes of a review need to know, all at once, and hands each change back when it is settled."""

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
    """A change, and what is still to be answered about it."""

    subject: FactSubject
    wanted: set[FactRequest]


class FactCollector:
    """The questions of a run; each is asked once, whoever needs it.

    Not for several threads: the asking is done in those of the pool, everything else in the caller's.

    Args:
        ask: Answers a question; may be called from any thread.
        pool: Where it is called.
    """

    def __init__(self, ask: Callable[[FactRequest], Fact], pool: Executor) -> None:
        self._ask = ask
        self._pool = pool
        self._asked: dict[FactRequest, Future[Fact]] = {}
        self._answered: SimpleQueue[FactRequest] = SimpleQueue()
        self._waiting: dict[FactRequest, list[_Open]] = {}
        self._ready: deque[FactSubject] = deque()
        self.known: dict[FactRequest, Fact] = {}
        """What is known so far."""
        self.total = 0
        """How many changes there are to settle."""
        self.done = 0
        """How many of them are settled."""

    def start(self, subjects: Iterable[FactSubject]) -> None:
        """Begins to ask for these changes too."""
        for subject in subjects:
            self.total += 1
            self._go_on(subject)

    def settled(self, *, is_patient: bool) -> Iterator[FactSubject]:
        """Returns the changes about which there is nothing more to ask, in the order in which that is so.

        Args:
            is_patient: Whether to wait until all are settled; otherwise only those that are settled by now.

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
            for one in self._waiting.pop(question, ()):
                one.wanted.discard(question)
                if not one.wanted:
                    self._go_on(one.subject)

    def _go_on(self, subject: FactSubject) -> None:
        """Asks what a change needs to know next; an answer may lead to another question."""
        wanted = questions(subject.change, subject.tool, self.known)
        if not wanted:
            self._ready.append(subject)
            return
        one = _Open(subject, set(wanted))
        for question in wanted:
            self._waiting.setdefault(question, []).append(one)
            if question not in self._asked:
                future = self._asked[question] = self._pool.submit(self._ask, question)
                future.add_done_callback(partial(self._note, question))

    def _note(self, question: FactRequest, _: Future[Fact]) -> None:
        """Takes the news from the thread that has the answer to the one that waits."""
        self._answered.put(question)
