"""Signers of versions that were locked before: the versions are from git's history, the signers from registries."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import RepositoryError, RunCancelledError
from locklens.lockfile.parse import parse
from locklens.operations.review.request import Progress, ReviewEvent, ReviewRequest
from locklens.releases import Fact, ReleaseFacts, ReleaseId, unasked
from locklens.review.keys import PastUse, SignerUses

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from locklens.addresses import ProviderAddress
    from locklens.project.git import Repository
    from locklens.versions import Version

MOST_COMMITS = 200
"""The most commits of one lock file that are read: years of history, even with automated changes."""

MOST_RELEASES = 60
"""The most releases that registries are asked about in one run; if there are more, the newest."""

_Past = tuple["ProviderAddress", "Version", str, str]
"""Provider, version, commit and date."""


def signing_history(
    request: ReviewRequest,
    signer: SignerUses,
    *,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> tuple[PastUse, ...]:
    """Return other versions of a signer's providers that were locked before, with their signers.

    They are the newest first, at most MOST_RELEASES.

    Raises:
        RepositoryError: There is no repository, or git failed.
        RunCancelledError: `cancel` was set.
    """
    with closing(request.open()) as comparison:
        if comparison.repository is None:
            raise RepositoryError("no history without a git repository")
        past = _locked_before(comparison.repository, signer, cancel)
    past = past[:MOST_RELEASES]
    questions = [_question(address, version) for address, version, _, _ in past]
    if request.network is None:
        facts: list[Fact] = [unasked(question) for question in questions]
    else:
        from locklens.releases.session import ReleaseLookup, ReleaseSession

        # The hosts of providers that are locked now, which were asked already.
        hosts = {use.address.host for use in signer.uses if use.as_of is not None}
        with ReleaseSession(request.network, hosts, cancel) as session:
            facts = []
            for done, fact in enumerate(session.map(ReleaseLookup(session).answer, questions), start=1):
                facts.append(fact)
                on_event(Progress("evidence", done, len(questions)))
    return tuple(_past_use(use, fact) for use, fact in zip(past, facts, strict=True))


def _locked_before(repository: Repository, signer: SignerUses, cancel: threading.Event | None) -> list[_Past]:
    """Return other versions than the signer's, each with the last commit that locked it; the newest first."""
    locked_now = {(use.address, use.version) for use in signer.uses}
    addresses = frozenset(signer.addresses)
    commits: dict[tuple[ProviderAddress, Version], tuple[str, str]] = {}
    for path in dict.fromkeys(path for use in signer.uses for path in use.lock_files):
        for touching in repository.touching(path, MOST_COMMITS):
            if cancel is not None and cancel.is_set():
                raise RunCancelledError("the search was cancelled")
            data = repository.show(touching.commit, path)
            for entry in parse(data, path).entries if data is not None else ():
                release = entry.address, entry.version
                if entry.address not in addresses or (entry.address, str(entry.version)) in locked_now:
                    continue
                if release not in commits or touching.date > commits[release][1]:
                    commits[release] = touching.commit, touching.date
    past = [(address, version, commit, date) for (address, version), (commit, date) in commits.items()]
    return sorted(past, key=lambda item: (item[3], str(item[0]), str(item[1])), reverse=True)


def _question(address: ProviderAddress, version: Version) -> ReleaseId:
    tool = OPENTOFU if address.host == OPENTOFU.default_host else TERRAFORM
    return ReleaseId(tool.name, address, version)


def _past_use(past: _Past, fact: Fact) -> PastUse:
    address, version, commit, date = past
    assert isinstance(fact, ReleaseFacts)
    signer = fact.signer
    problem = fact.trouble.words if fact.trouble is not None else ""
    if signer is None:
        return PastUse(address, str(version), commit, date, problem=problem)
    key = signer.keys[0] if signer.keys else None
    return PastUse(address, str(version), commit, date, key, signer.tier, problem)
