"""The hosts of a review, and the result for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.releases.facts import MirroredHashes
from locklens.review.model import HostState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.releases.facts import Fact, FactRequest, Listing, ReleaseFacts


def host_states(known: Mapping[FactRequest, Fact], *, is_offline: bool) -> tuple[HostState, ...]:
    """Return the hosts of the questions, with their state."""
    hosts: dict[str, list[ReleaseFacts | Listing]] = {}
    for question, fact in known.items():
        if not isinstance(fact, MirroredHashes):
            hosts.setdefault(question.address.host, []).append(fact)
    return tuple(_host_state(host, facts, is_offline=is_offline) for host, facts in sorted(hosts.items()))


def _host_state(host: str, facts: list[ReleaseFacts | Listing], *, is_offline: bool) -> HostState:
    troubles = [fact.trouble for fact in facts if fact.trouble is not None and not fact.trouble.is_no]
    asked = not is_offline and any(fact.trouble is None or fact.trouble.was_asked for fact in facts)
    moments = [fact.as_of for fact in facts if fact.as_of]
    errors = [trouble.words for trouble in troubles if trouble.was_asked]
    hints = [trouble.hint for trouble in troubles if trouble.is_unvouched]
    return HostState(
        display_host(host), asked, min(moments, default=None), next(iter(errors), None), next(iter(hints), "")
    )
