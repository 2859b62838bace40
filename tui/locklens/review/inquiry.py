"""Asks what the changes of a review need to know, all at once, and hands each change back when it is settled."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.evidence import questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from locklens.dialect import Dialect
    from locklens.review.model import Change
    from locklens.review.releases import Fact, Question


class Subject(Struct, frozen=True):
    """A change of a root: what an inquiry is about."""

    lock_file: str
    tool: Dialect
    change: Change


class Inquiry:
    """The questions of a run; each is asked once, whoever needs it.

    Not for several threads: the asking is done in those of the pool, everything else in the caller's.

    Args:
        ask: Answers a question; may be called from any thread.
        pool: Where it is called.
    """

    def __init__(self, ask: Callable[[Question], Fact], pool: Executor) -> None:
        self._ask = ask
        self._pool = pool
        self._asked: dict[Question, Future[Fact]] = {}
        self._open: list[tuple[Subject, frozenset[Question]]] = []
        self.known: dict[Question, Fact] = {}
        """What is known so far."""
        self.total = 0
        """How many changes there are to settle."""

    @property
    def done(self) -> int:
        """How many of them are settled."""
        return self.total - len(self._open)

    def start(self, subjects: Iterable[Subject]) -> None:
        """Begins to ask for these changes too."""
        for subject in subjects:
            self.total += 1
            self._open.append((subject, self._submit(subject)))

    def _submit(self, subject: Subject) -> frozenset[Question]:
        wanted = questions(subject.change, subject.tool, self.known)
        for question in wanted:
            if question not in self._asked:
                self._asked[question] = self._pool.submit(self._ask, question)
        return wanted

    def settled(self, *, is_patient: bool) -> Iterator[Subject]:
        """Returns the changes about which there is nothing more to ask, in the order in which that is so.

        Args:
            is_patient: Whether to wait until all are settled; otherwise only those that are settled by now.

        Raises:
            LockLensError: The run was cancelled.
        """
        while self._open:
            waiting = {self._asked[question] for _, wanted in self._open for question in wanted}
            if waiting:
                done, _ = wait(waiting, None if is_patient else 0, FIRST_COMPLETED)
                if not done:
                    return
            yield from self._take()

    def _take(self) -> Iterator[Subject]:
        """Takes what was answered, and asks further where an answer leads to a question."""
        for question, future in self._asked.items():
            if question not in self.known and future.done():
                self.known[question] = future.result()
        still: list[tuple[Subject, frozenset[Question]]] = []
        settled = []
        for subject, wanted in self._open:
            if wanted - self.known.keys():
                still.append((subject, frozenset(wanted - self.known.keys())))
            elif more := self._submit(subject):
                still.append((subject, more))
            else:
                settled.append(subject)
        self._open = still
        yield from settled
