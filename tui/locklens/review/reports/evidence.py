"""The evidence of a change as plain lines: signers, unknown facts with reasons, and the registries asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.addresses import spelt_host
from locklens.review.model import Proof
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from locklens.review.model import Change, HostState, Review
    from locklens.trust.model import Signer, SigningKey


def signer_text(change: Change) -> Iterator[str]:
    """Yield the signer of the new version, and of the old one if it differs."""
    old, new = change.old_signer, change.new_signer
    if change.new is None or (old is None and new is None):
        return
    if old is not None and old.version != str(change.new.version):
        if new is not None and (old.keys, old.tier) == (new.keys, new.tier):
            yield f"signer        {signer(new)}; same signer as {old.version}"
            return
        yield f"signer {old.version:6} {signer(old)}"
        yield f"signer {change.new.version!s:6} {signer(new)}"
        return
    yield f"signer        {signer(new)}"


def mirror_lines(change: Change) -> Iterator[str]:
    """Yield the mirrors that alone have some of the locked hashes."""
    if words := mirror_words(change):
        yield f"mirror        {words}"


def mirror_words(change: Change) -> str:
    """The number of locked hashes that only mirrors have, and which; "" for none."""
    if change.evidence is None or not change.evidence.mirrors:
        return ""
    count = counted(sum(fact.proof is Proof.MIRROR for fact in change.locked), "hash", "hashes")
    return f"{count} known only from {listing(change.evidence.mirrors)}, unsigned"


def signer(value: Signer | None) -> str:
    """The signer of a version: the tier, and each key in full."""
    if value is None:
        return "unknown"
    return "; ".join([value.tier.value, *map(key_words, value.keys)]) if value.keys else value.tier.value


def key_words(key: SigningKey) -> str:
    """A key in full: fingerprint, names, algorithm, dates, state."""
    names = ", ".join(key.user_ids) or "no name"
    until = f"expires {key.expires[:10]}" if key.expires else "no expiry"
    if key.expired and key.expires:
        until = f"EXPIRED {key.expires[:10]}"
    state = ", REVOKED" if key.revoked else ""
    return f"{key.fingerprint}  {names}  {key.algorithm}, created {key.created[:10]}, {until}{state}"


def shared_problems(changes: Iterable[Change]) -> Mapping[tuple[str, str], int]:
    """Return the causes of unknown facts that several changes have, with hints, and the number of their changes."""
    counts = Counter(
        (problem, change.evidence.hint)
        for change in changes
        if change.evidence is not None
        for problem in dict.fromkeys(change.evidence.problems)
    )
    return {cause: count for cause, count in counts.items() if count > 1}


def problem_lines(change: Change, shared: Container[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the unknown facts about a change that no finding reports; `shared` causes are reported elsewhere."""
    if change.evidence is None:
        return
    hint = change.evidence.hint
    reported = " ".join(finding.message for finding in change.findings)
    problems = [problem for problem in change.evidence.problems if (problem, hint) not in shared]
    for problem in problems:
        if problem not in reported:
            yield f"unknown       {problem}"
    if problems and hint:
        yield f"hint          {hint}"


def without_cause(message: str, shared: Iterable[tuple[str, str]]) -> str:
    """Return the message of a finding without a shared cause at its end."""
    return next((message.removesuffix(f"; {problem}") for problem, _ in shared if message.endswith(problem)), message)


def shared_problem_lines(shared: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Yield a line for each cause of `shared_problems`."""
    for (problem, hint), count in shared.items():
        yield f"unknown for {count} changes: {problem}{f' ({hint})' if hint else ''}"


def host_lines(review: Review) -> Iterator[str]:
    """Yield a line for each registry with the result of asking it."""
    for host in review.hosts:
        hint = f"; {host.hint}" if host.hint else ""
        yield f"{spelt_host(host.host)}: {host_words(host, is_offline=review.offline)}{hint}"


def host_words(host: HostState, *, is_offline: bool) -> str:
    """The result of asking a registry."""
    moment = f"as of {clock(host.as_of)}" if host.as_of else ""
    if host.error is not None:
        error = host.error.removeprefix(f"{host.host}: ")
        return f"{moment}, then failed: {error}" if moment else f"failed: {error}"
    if host.asked:
        return moment or "asked"
    reason = "offline" if is_offline else "not asked"
    return f"{reason}, cached {moment}" if moment else reason


def clock(moment: str) -> str:
    """Format an ISO 8601 moment in UTC for reading, to the minute."""
    day, separator, time = moment.partition("T")
    return f"{day} {time[:5]} UTC" if separator else moment
