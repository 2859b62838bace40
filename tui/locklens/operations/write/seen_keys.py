"""The keys that a pin of a namespace may name, and what speaks against each.

These are the keys that sign its locked releases, those that sign what the base locks, and those that are pinned
already: during a rotation the old key stays valid until nothing is signed by it.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, LockLensError
from locklens.policy import POLICY_FILE, Pin, parts_of_pin_name
from locklens.review.findings import Severity
from locklens.review.rules.catalogue import CONTRADICTING, RULES, wording_of
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
    """A key that a pin of a namespace may name.

    Attributes:
        key: None where a pin names it and no release that was looked up is signed by it.
        releases: Provider and version of each locked release that it signs, without the host.
        earlier: The same of those that only the base locks.
        pinned: Where a pin names it, in words; "" if none does.
        obstacle: Why it cannot be pinned: it was revoked, or the locked hashes of a release contradict what it signed,
            so that it may be an attacker's; None if it can.
    """

    fingerprint: str
    key: SigningKey | None = None
    releases: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    pinned: str = ""
    obstacle: PinObstacle | None = None

    @property
    def name(self) -> str:
        """The first name that it claims, which anyone can write into a key."""
        if self.key is None:
            return "name unknown"
        return self.key.user_ids[0] if self.key.user_ids else "no user ID"

    @property
    def signs(self) -> str:
        """What it signs, a clause."""
        if self.releases:
            return f"signs {listing(self.releases)}"
        return f"signs {listing(self.earlier)} of the base" if self.earlier else "signs no locked release"

    @property
    def expired_on(self) -> str:
        """The date on which it expired; "" if it did not, or if that is unknown."""
        return (self.key.expires or "")[:10] if self.key is not None and self.key.expired else ""


class SeenKeys(Struct, frozen=True):
    """The keys that a pin of a namespace may name.

    Attributes:
        covering: The pin of the namespace, without keys.
        keys: Those that sign locked releases first; at least one such, or one of `others`.
        others: The releases without a known key, each with the reason.
    """

    covering: Pin
    keys: tuple[SeenKey, ...]
    others: tuple[PinObstacle, ...]

    @property
    def signing(self) -> tuple[str, ...]:
        """The fingerprints of those that sign locked releases: all that a pin has where none is named."""
        return tuple(one.fingerprint for one in self.keys if one.releases)

    @property
    def pinnable(self) -> tuple[str, ...]:
        """The fingerprints of those that can be pinned."""
        return tuple(one.fingerprint for one in self.keys if one.obstacle is None)

    def chosen(self, fingerprints: Collection[str] = ()) -> tuple[str, ...]:
        """Return the keys of a pin: those that were named, or all that sign where none was.

        Raises:
            LockLensError: One of them cannot be pinned, or nothing vouches for it; or of all, a release has no known
                key.
        """
        known = {one.fingerprint: one.obstacle for one in self.keys}
        wanted = tuple(dict.fromkeys(fingerprints or self.signing))
        if strange := [one for one in wanted if one not in known]:
            signing = f"signing are {listing(self.signing)}" if self.signing else "locklens keys lists the signers"
            elsewhere = "a key of another branch is pinned with that branch checked out, and one that signs what a base"
            words = f"{strange[0]} signs no locked release of {self.covering.name}, and is not pinned"
            raise LockLensError(words, hint=f"{signing}; {elsewhere} locks, or that it pins, with --base REV")
        obstacles = (*(known[one] for one in wanted), *(() if fingerprints else self.others))
        if (obstacle := next(filter(None, obstacles), None)) is not None:
            raise LockLensError(obstacle.words, hint=obstacle.hint)
        return wanted

    def warnings(self, pinned: Collection[str]) -> Iterator[PinObstacle]:
        """Yield what a pin of some of the keys leads to: expired keys, and releases that it does not permit."""
        for one in self.keys:
            if one.fingerprint in pinned:
                if one.expired_on:
                    words = f"the key {one.fingerprint} expired on {one.expired_on}"
                    yield PinObstacle(words, "ask the publisher which key signs the next release")
            elif one.releases or one.earlier:
                where = "" if one.releases else ", in the base"
                words = f"{listing(one.releases or one.earlier, _MOST_RELEASES)}{where}: signed by {one.fingerprint}"
                what = "a change that locks this" if one.releases else "it there until the base has the new version"
                yield PinObstacle(f"{words} ({one.name}), which is not pinned: LK010 blocks {what}", _KEEP)
            else:
                yield PinObstacle(f"{one.fingerprint}, {one.pinned}, is left out of the pin", _KEEP)
        yield from self.others


_KEEP = "name it too, where it stays valid"


def seen_keys(review: Review, name: str, signed: Collection[SignerUses], pins: Collection[Pin]) -> SeenKeys:
    """Return the keys that a pin of a namespace may name.

    The review is of all locked providers, `name` a namespace or "host/namespace", `signed` has the review's signers,
    and `pins` are those of the policy on disk.

    Raises:
        ConfigurationError: The name is invalid, or that of a provider.
        LockLensError: No release of it is locked.
    """
    covering = Pin(*_namespace(name))
    contradicted = _contradicted(review, covering)
    keys, others = dict[str, SeenKey](), list[PinObstacle]()
    for signer in signed:
        uses = [one for one in signer.uses if covering.covers(one.address)]
        found = [contradicted[one.name] for one in uses if one.name in contradicted]
        if signer.key is None:
            others += found
            hint = "a pin needs the keys of all locked releases"
            others += (PinObstacle(f"{one.name}: {one.problem or 'not signed'}", hint) for one in uses)
        elif uses:
            releases = tuple(_release(one.address, one.version) for one in uses)
            obstacle = next(iter(found), None) or _revoked(signer.key, uses[0].name)
            own = keys.setdefault(signer.key.fingerprint, SeenKey(signer.key.fingerprint, signer.key))
            own = replace(own, releases=own.releases + releases, obstacle=own.obstacle or obstacle)
            keys[own.fingerprint] = own
    if not keys and not others:
        raise _nothing_locked(review, name)
    for one in (*_of_base(review, covering), *_pinned(review, covering, pins)):
        seen = keys.setdefault(one.fingerprint, one)
        keys[one.fingerprint] = replace(seen, pinned=seen.pinned or one.pinned)
    return SeenKeys(covering, tuple(keys.values()), tuple(others))


def _release(address: ProviderAddress, version: object) -> str:
    return f"{address.namespace}/{address.type} {version}"


def _revoked(key: SigningKey, release: str) -> PinObstacle | None:
    return PinObstacle(f"{release} is signed by {key.fingerprint}, which was revoked") if key.revoked else None


def _of_base(review: Review, covering: Pin) -> Iterator[SeenKey]:
    """Yield the keys that sign what the base locks and the head does not; none where its packages are others now."""
    found: dict[str, tuple[SigningKey, dict[str, None]]] = {}
    for change in (change for root in review.roots for change in root.changes):
        if change.old is not None and change.old_signer is not None and covering.covers(change.old.address):
            release = _release(change.old.address, change.old.version)
            for key in change.old_signer.keys:
                found.setdefault(key.fingerprint, (key, {}))[1][release] = None
    for fingerprint, (key, releases) in found.items():
        obstacle = _revoked(key, next(iter(releases)))
        yield SeenKey(fingerprint, key, earlier=tuple(releases), obstacle=obstacle)


def _pinned(review: Review, covering: Pin, pins: Iterable[Pin]) -> Iterator[SeenKey]:
    """Yield the keys that are pinned for all of the namespace: by the policy in force, then by that on disk alone."""
    for where, of_policy in (("pinned now", review.policy.trust), (f"in {POLICY_FILE} on disk alone", pins)):
        for pin in of_policy:
            if pin.namespace == covering.namespace and pin.host in ("", covering.host):
                yield from (SeenKey(key, pinned=where) for key in pin.keys)


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
