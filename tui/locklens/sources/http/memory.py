"""Cached answers of earlier runs, and the rules for their age."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol

from locklens.sources.http.values import Response, moment
from locklens.sources.urls import has_userinfo, origin
from locklens.storage.cache import RememberedAnswer

LIFE = timedelta(hours=1)
"""For which an answer is used without asking. A review is repeated many times within one working session, and should
not ask the same again each time; a republished package must still be noticed the same day."""

_OK, _NOT_FOUND = 200, 404


class AnswerCache(Protocol):
    """The part of `locklens.storage.cache.Cache` in use."""

    def answer(self, url: str, *, with_token: bool) -> RememberedAnswer | None:
        """Return what was answered, however old."""

    def keep_answer(self, answer: RememberedAnswer) -> None:
        """Remember an answer in place of the last one."""


class Recollection:
    """Decides which answers are cached, and which cached ones are used.

    Online, what was found counts for as long as `LIFE`. That something is absent counts offline only: it may come any
    moment, and a client that waits for it asks again and again. Offline an old answer is better than none.

    Args:
        memory: None without a cache.
        is_offline: True if no request may be sent.
    """

    def __init__(self, memory: AnswerCache | None, *, is_offline: bool) -> None:
        self._memory = memory
        self._is_offline = is_offline
        self._forgotten_at = ""

    def find(self, url: str, *, with_token: bool) -> Response | None:
        """Return an answer that still counts.

        Args:
            url: That is to be asked.
            with_token: True if a token would be sent there.
        """
        found = None if self._memory is None else self._memory.answer(url, with_token=with_token)
        if found is None or not self._counts(found):
            return None
        had_token = with_token and origin(found.final_url) == origin(url)
        return Response(
            found.status, found.final_url, found.content_type, found.body, had_token, found.as_of, is_remembered=True
        )

    def keep(self, url: str, answer: Response, *, with_token: bool) -> None:
        """Cache an answer, if it is of a cached kind and came without a password in a URL."""
        if self._memory is None or answer.status not in {_OK, _NOT_FOUND}:
            return
        if has_userinfo(url) or has_userinfo(answer.url):
            return
        self._memory.keep_answer(
            RememberedAnswer(url, with_token, answer.status, answer.url, answer.content_type, answer.body, answer.as_of)
        )

    def forget(self) -> None:
        """Let nothing count that was answered up to now; without effect offline."""
        self._forgotten_at = moment()

    def _counts(self, found: RememberedAnswer) -> bool:
        if self._is_offline:
            return True
        if found.status != _OK or found.as_of <= self._forgotten_at:
            return False
        try:
            age = datetime.now(UTC) - datetime.fromisoformat(found.as_of)
        except (TypeError, ValueError):
            return False
        # An answer from the future was given while the clock was wrong.
        return timedelta(0) <= age < LIFE
