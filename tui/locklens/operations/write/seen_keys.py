"""The keys that sign the locked releases of a namespace, as a pin may name them, and what speaks against each."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, LockLensError
from locklens.policy import POLICY_FILE, Pin, parts_of_pin_name
from locklens.review.findings import Severity
from locklens.review.rules.catalogue import CONTRADICTING, RULES, wording_of
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.review.keys import SignerUses
    from locklens.review.model import Review
    from locklens.trust import SigningKey


_MOST_RELEASES = 3
_SETTLE = (
    f"an acceptance does not settle this: write the keys that the publisher announces below [trust] in {POLICY_FILE}"
)


class PinObstacle(Struct, frozen=True):
    """What speaks against a pin, a sentence without its full stop, and the next step, "" for none."""

    words: str
    hint: str = ""


class SeenKey(Struct, frozen=True):
    """A key that signs locked releases of a namespace.

    Attributes:
        releases: Provider and version of each, without the host.
        obstacle: Why it cannot be pinned: it was revoked, or the locked hashes of a release contradict what it signed,
            so that it may be an attacker's; None if it can.
    """

    key: SigningKey
    releases: tuple[str, ...]
    obstacle: PinObstacle | None = None

    @property
    def fingerprint(self) -> str:
        """All of its digits."""
        return self.key.fingerprint

    @property
    def name(self) -> str:
        """The first name that it claims, which anyone can write into a key."""
        return self.key.user_ids[0] if self.key.user_ids else "no user ID"


class SeenKeys(Struct, frozen=True):
    """The keys that sign the locked releases of a namespace.

    Attributes:
        covering: The pin of the namespace, without keys.
        keys: At least one of them, or one of `others`.
        others: The releases without a known key, each with the reason.
    """

    covering: Pin
    keys: tuple[SeenKey, ...]
    others: tuple[PinObstacle, ...]

    @property
    def pinnable(self) -> tuple[str, ...]:
        """The fingerprints of those that can be pinned."""
        return tuple(one.fingerprint for one in self.keys if one.obstacle is None)

    def chosen(self, fingerprints: Collection[str] = ()) -> tuple[str, ...]:
        """Return the keys of a pin: those that were named, or all where none was.

        Raises:
            LockLensError: One of them cannot be pinned or signs nothing here; or of all, a release has no known key.
        """
        known = {one.fingerprint: one.obstacle for one in self.keys}
        wanted = tuple(dict.fromkeys(fingerprints or known))
        if strange := [one for one in wanted if one not in known]:
            signing = f"signing are {listing([*known])}" if known else "locklens keys lists the signers"
            hint = f"{signing}; a key of another branch is pinned with that branch checked out"
            raise LockLensError(f"{strange[0]} signs no locked release of {self.covering.name}", hint=hint)
        obstacles = (*(known[one] for one in wanted), *(() if fingerprints else self.others))
        if (obstacle := next(filter(None, obstacles), None)) is not None:
            raise LockLensError(obstacle.words, hint=obstacle.hint)
        return wanted

    def warnings(self, pinned: Collection[str]) -> Iterator[PinObstacle]:
        """Yield what a pin of some of the keys leads to: expired keys, and releases that it does not permit."""
        for one in self.keys:
            if one.fingerprint in pinned and one.key.expired:
                words = f"the key {one.fingerprint} expired on {(one.key.expires or '')[:10]}"
                yield PinObstacle(words, "ask the publisher which key signs the next release")
            elif one.fingerprint not in pinned:
                words = f"{listing(one.releases, _MOST_RELEASES)}: signed by {one.fingerprint} ({one.name})"
                yield PinObstacle(f"{words}, which is not pinned: LK010 blocks a change that locks this")
        yield from self.others


def seen_keys(review: Review, name: str, signed: Collection[SignerUses]) -> SeenKeys:
    """Return the keys that sign the locked releases of a namespace.

    The review is of all locked providers, `name` a namespace or "host/namespace", and `signed` the review's signers.

    Raises:
        ConfigurationError: The name is invalid, or that of a provider.
        LockLensError: No release of it is locked.
    """
    covering = Pin(*_namespace(name))
    contradicted = _contradicted(review, covering)
    keys, others = list[SeenKey](), list[PinObstacle]()
    for signer in signed:
        uses = [one for one in signer.uses if covering.covers(one.address)]
        found = [contradicted[one.name] for one in uses if one.name in contradicted]
        if signer.key is None:
            others += found
            hint = "a pin needs the keys of all locked releases"
            others += (PinObstacle(f"{one.name}: {one.problem or 'not signed'}", hint) for one in uses)
        elif uses:
            if signer.key.revoked:
                found.append(PinObstacle(f"{uses[0].name} is signed by {signer.key.fingerprint}, which was revoked"))
            releases = tuple(f"{one.address.namespace}/{one.address.type} {one.version}" for one in uses)
            keys.append(SeenKey(signer.key, releases, next(iter(found), None)))
    if not keys and not others:
        raise _nothing_locked(review, name)
    return SeenKeys(covering, tuple(keys), tuple(others))


def _contradicted(review: Review, covering: Pin) -> dict[str, PinObstacle]:
    """Return the releases that are locked with hashes which contradict what is signed, by provider and version."""
    found: dict[str, PinObstacle] = {}
    for change in (change for root in review.roots for change in root.changes if covering.covers(change.address)):
        for finding in change.findings:
            if RULES[finding.rule].effect is CONTRADICTING and finding.severity is Severity.BLOCK:
                release = f"{change.address} {change.new.version if change.new is not None else ''}"
                words = f"{release}: {finding.rule}: {wording_of(finding).title}"
                found.setdefault(release, PinObstacle(words, _SETTLE))
    return found


def _nothing_locked(review: Review, name: str) -> LockLensError:
    addresses = (change.address for root in review.roots for change in root.changes)
    named = next((address for address in addresses if f"/{address}".endswith(f"/{name}")), None)
    if named is not None:
        words = f"{name} is a provider, and keys are pinned for a namespace"
        return ConfigurationError(words, hint=f"locklens keys trust {shlex.quote(named.namespace)}")
    return LockLensError(f"no release of {name} is locked here", hint="locklens keys lists the signers")


def _namespace(name: str) -> tuple[str, str]:
    """Return namespace and host ("" for every host) in comparison form, as a policy reads the name of a table."""
    from locklens.addresses import normalise_namespace, read_host

    host, namespace = parts_of_pin_name(name)
    try:
        return normalise_namespace(namespace), (read_host(host) if host is not None else "")
    except ValueError as error:
        hint = "write a namespace such as acme, or registry.example.com/acme"
        raise ConfigurationError(f"invalid namespace {name!r}: {error}", hint=hint) from error


def namespace_name(signers: Collection[SignerUses], address: ProviderAddress) -> str:
    """Return the name that a pin of a provider's namespace has: with its host where other hosts have the namespace."""
    hosts = {use.address.host for one in signers for use in one.uses if use.address.namespace == address.namespace}
    return address.namespace if len(hosts) == 1 else f"{address.host}/{address.namespace}"
