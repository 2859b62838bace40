"""A policy as frozen values, and the difference between the policies of two sides."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import DIALECTS, OPENTOFU
from locklens.text import ID_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from locklens.addresses import Platform, ProviderAddress
    from locklens.versions import Constraints, Version

SeverityName = Literal["block", "warn", "info", "off"]
"""A severity as written in `[severity]`."""

Threshold = Literal["block", "warn", "info", "never"]
"""The lowest severity that fails a review, as written in `fail_on`."""

_ANY = "*"


class InstallPath(StrEnum):
    """A place that packages are installed from, as written in `install_paths`."""

    DIRECT = "direct"
    """Packages come from the provider's registry."""
    PLUGIN_CACHE = "plugin-cache"
    """Packages come from a folder of unpacked ones that several roots share."""
    PACKED_MIRROR = "packed-mirror"
    """Packages come from a network mirror, or a folder of zip files."""
    UNPACKED_MIRROR = "unpacked-mirror"
    """Packages come from a folder of unpacked ones that stands in for the registry."""
    OCI_MIRROR = "oci-mirror"
    """Packages come from an OCI registry, where each is asked for by its `zh`."""

    @property
    def needs_h1(self) -> bool:
        """True if only an `h1` lets a platform install: an unpacked package has no zip file to hash."""
        return self in (InstallPath.PLUGIN_CACHE, InstallPath.UNPACKED_MIRROR)

    @property
    def needs_zh(self) -> bool:
        """True if only a `zh` lets a platform install: OpenTofu compares it before it downloads."""
        return self is InstallPath.OCI_MIRROR

    @property
    def is_mirror(self) -> bool:
        """True for mirrors of any kind, which may hold other packages than the registry lists."""
        return self.value.endswith("-mirror")

    @property
    def only(self) -> str:
        """The scheme that alone counts; "" where each does."""
        return "h1" if self.needs_h1 else "zh" if self.needs_zh else ""


class AcceptFrom(StrEnum):
    """The side whose acceptances and pins count, as written in `accept_from`."""

    BASE = "base"
    HEAD = "head"
    """Additions of the change itself count too: for repositories whose owners guard the policy."""


class WantedPlatform(Struct, frozen=True):
    """A required platform and the reason, one printable line or "". Lines of the policy count from 1 here and below."""

    platform: Platform
    why: str = ""
    line: int = 1


class AllowedProvider(Struct, frozen=True):
    """One entry of the allow list; without constraints, of all versions.

    Attributes:
        host: Comparison form; "" for the registries of both tools and no others, as a list permits only what it names.
        namespace: "*" for any.
        type: "*" for any.
    """

    host: str
    namespace: str
    type: str
    constraints: Constraints | None = None
    text: str = ""
    line: int = 1

    def names(self, address: ProviderAddress) -> bool:
        """True if the entry names a provider, whatever the version."""
        hosts = (self.host,) if self.host else tuple(dialect.default_host for dialect in DIALECTS.values())
        is_named = self.namespace in (_ANY, address.namespace) and self.type in (_ANY, address.type)
        return is_named and address.host in hosts

    def allows(self, address: ProviderAddress, version: Version) -> bool:
        """True if the entry permits a version of a provider."""
        return self.names(address) and (self.constraints is None or self.constraints.admits(version))


class Pin(Struct, frozen=True):
    """The keys that may sign the releases of a namespace.

    Attributes:
        host: Comparison form; "" for every host: a pin restricts, so it covers more rather than less.
        keys: Full fingerprints, upper case; two during a rotation.
    """

    namespace: str
    host: str = ""
    keys: tuple[str, ...] = ()
    by: str = ""
    on: date | None = None
    why: str = ""
    review_by: date | None = None
    line: int = 1

    @property
    def name(self) -> str:
        """The name of its table: a namespace, or host and namespace."""
        return f"{self.host}/{self.namespace}" if self.host else self.namespace

    @property
    def scope(self) -> tuple[str, str]:
        """Host and namespace. A policy has one pin for each scope, and an edit replaces it."""
        return self.host, self.namespace

    @property
    def decision(self) -> str:
        """Who decided it and when, and until when, in words; "" where it does not say."""
        who = f"by {self.by}" if self.by else ""
        when = f"on {self.on}" if self.on is not None else ""
        until = f"to be reviewed by {self.review_by}" if self.review_by is not None else ""
        return ", ".join(filter(None, (f"{who} {when}".strip(), until)))

    def covers(self, address: ProviderAddress) -> bool:
        """True for a provider of the namespace and host; a pin that names the host has precedence."""
        return self.namespace == address.namespace and self.host in ("", address.host)

    def permits(self, fingerprint: str) -> bool:
        """True if a key may sign the releases; "" stands for no key, which a pin never permits."""
        return fingerprint in self.keys


def parts_of_pin_name(name: str) -> tuple[str | None, str]:
    """Return host and namespace of a pin's name, as written; the host is None if the name has none."""
    host, slash, namespace = name.rpartition("/")
    return (host if slash else None), namespace


def pin_for(pins: Iterable[Pin], address: ProviderAddress) -> Pin | None:
    """Return the pin of a provider, if any; one that names its host has precedence over one for every host."""
    return max((pin for pin in pins if pin.covers(address)), key=lambda pin: bool(pin.host), default=None)


class LocalPath(Struct, frozen=True):
    """An install path of this machine, and a test of whether a provider may take it."""

    path: InstallPath
    accepts: Callable[[ProviderAddress], bool]


class Acceptance(Struct, frozen=True):
    """The acceptance of one finding about exactly one change.

    Attributes:
        change: The change's id, 32 hex digits; 16 if an earlier locklens wrote it.
        until: The last day on which it holds; None for no end.
    """

    rule: str
    provider: str
    change: str
    reason: str
    by: str = ""
    on: date | None = None
    until: date | None = None
    line: int = 1

    @property
    def key(self) -> tuple[str, str, str]:
        """Rule, provider and change."""
        return self.rule, self.provider, self.change

    @property
    def is_outdated(self) -> bool:
        """True if `change` has the form of an earlier locklens, in which no change has an id any more."""
        return len(self.change) < ID_DIGITS

    def has_expired(self, today: date) -> bool:
        """True if it no longer holds."""
        return self.until is not None and self.until < today


class IgnoredAdvisory(Struct, frozen=True):
    """An advisory that does not count.

    Attributes:
        id: The advisory's id, or one of its aliases.
        until: The last day on which it holds; None for no end.
    """

    id: str
    why: str
    by: str = ""
    until: date | None = None
    line: int = 1

    def has_expired(self, today: date) -> bool:
        """True if it no longer holds."""
        return self.until is not None and self.until < today


class Policy(Struct, frozen=True):
    """The rules of a repository for its lock files; without a file, packages are from the registry.

    Attributes:
        platforms: The required platforms in the file's order, each once.
        install_paths: The install paths, at least one.
        cooldown: The minimum age of a selected release in days; None if unset.
        toolchain: The least version of Go that a provider may be built with, such as "go1.24"; "" if unset.
        file: The path in messages; "" without a policy.
        fail_on: The lowest severity that fails a review; None if unset.
        hosts: Additional hosts that may be asked, comparison form.
        reported_hashes: Registries whose reported hashes are locked by OpenTofu's rules, comparison form; None for its
            own registry.
        allow: The allow list; None allows every provider.
        named: The keys that the file names, also where it gives them their defaults.
        local: Install paths besides those of the file, from this machine's CLI configuration, each with its providers.
        local_platform: The platform of this machine; None without `local`.
    """

    platforms: tuple[WantedPlatform, ...] = ()
    install_paths: frozenset[InstallPath] = frozenset({InstallPath.DIRECT})
    cooldown: int | None = None
    toolchain: str = ""
    file: str = ""
    fail_on: Threshold | None = None
    hosts: tuple[str, ...] = ()
    reported_hashes: tuple[str, ...] | None = None
    allow: tuple[AllowedProvider, ...] | None = None
    accept_from: AcceptFrom = AcceptFrom.BASE
    severity: Mapping[str, SeverityName] = {}
    trust: tuple[Pin, ...] = ()
    accept: tuple[Acceptance, ...] = ()
    advisories: tuple[IgnoredAdvisory, ...] = ()
    named: frozenset[str] = frozenset()
    local: tuple[LocalPath, ...] = ()
    local_platform: Platform | None = None

    @property
    def names_paths(self) -> bool:
        """True if the file names install paths."""
        return "install_paths" in self.named

    @property
    def required(self) -> tuple[Platform, ...]:
        """The required platforms, in the file's order."""
        return tuple(wanted.platform for wanted in self.platforms)

    @property
    def believed_hosts(self) -> frozenset[str]:
        """The registries whose reported hashes OpenTofu locks, unless its environment forbids it."""
        return frozenset((OPENTOFU.default_host,) if self.reported_hashes is None else self.reported_hashes)

    @property
    def local_paths(self) -> frozenset[InstallPath]:
        """The install paths of this machine's CLI configuration."""
        return frozenset(one.path for one in self.local)

    def paths_of(self, address: ProviderAddress) -> tuple[InstallPath, ...]:
        """Return the install paths that a provider may take, in display order."""
        own = {one.path for one in self.local if one.accepts(address)}
        return tuple(path for path in InstallPath if path in self.install_paths | own)

    @property
    def paths_in_order(self) -> tuple[InstallPath, ...]:
        """The install paths in display order, with those of this machine."""
        return tuple(path for path in InstallPath if path in self.install_paths | self.local_paths)

    def on_path(self, path: InstallPath, platforms: Iterable[str]) -> tuple[str, ...]:
        """Return those of the given platforms that use an install path."""
        if path in self.install_paths:
            return tuple(platforms)
        return tuple(platform for platform in platforms if platform == str(self.local_platform))

    @property
    def needs_ages(self) -> bool:
        """True if a rule needs release dates, which take more requests."""
        return self.cooldown is not None

    def why(self, platform: Platform) -> str:
        """Return the reason why a platform is required, or ""."""
        return next((wanted.why for wanted in self.platforms if wanted.platform == platform), "")

    def allows(self, address: ProviderAddress, version: Version) -> bool:
        """True if a version of a provider is on the allow list, or there is none."""
        return self.allow is None or any(entry.allows(address, version) for entry in self.allow)

    def pin(self, address: ProviderAddress) -> Pin | None:
        """Return the pin of a provider, if there is one."""
        return pin_for(self.trust, address)

    def acceptance(self, rule: str, address: ProviderAddress, change: str) -> Acceptance | None:
        """Return the acceptance of a finding about a change, if there is one."""
        if not self.accept:
            return None
        key = rule, str(address), change
        return next((one for one in self.accept if one.key == key), None)


class PolicyChange(Struct, frozen=True):
    """A change that modifies the policy: from that of the base, if it has one, to that of the head.

    Attributes:
        differences: The values that differ, each with the old and the new one, in words.
        problem: The reason why the head's file cannot be read; "" if it can.
        is_unpermitted: True if the difference may change a verdict in a way that the base does not permit.
        is_of_decisions: True if it edits acceptances and pins alone, which the base may permit.
        is_since_fork: True if it is that since the common ancestor, so that the base did not make it.
        line: The first line that differs in the head's file; None if there is none.
        content: A digest of the head's file.
        lacking: The keys that the base alone changed since the head began.
    """

    base_name: str
    head_name: str
    differences: tuple[str, ...] = ()
    has_base: bool = True
    is_removed: bool = False
    problem: str = ""
    is_unpermitted: bool = True
    is_of_decisions: bool = False
    is_since_fork: bool = False
    line: int | None = None
    content: str = ""
    lacking: tuple[str, ...] = ()


_FROM_HEAD = ("accept", "trust")
"""The keys that a head may set for itself, if the base permits that."""

_NO_KEYS = frozenset({"file", "named", "local", "local_platform"})
"""Fields of a policy that are not keys of the file."""


def differing_keys(old: Policy, new: Policy) -> tuple[str, ...]:
    """Return the keys whose values differ, whatever their lines are."""
    keys = (name for name in Policy.__struct_fields__ if name not in _NO_KEYS)
    return tuple(key for key in keys if _without_lines(getattr(old, key)) != _without_lines(getattr(new, key)))


def own_keys(base: Policy, head: Policy, fork: Policy) -> tuple[str, ...]:
    """Return the keys that a head changed since its fork point and that the base has otherwise.

    Of tables and lists the entries count: what the head adds or removes as the base does is no change of its own.
    """

    def is_own(key: str) -> bool:
        theirs, ours, before = (_entries(getattr(policy, key)) for policy in (base, head, fork))
        return ours == before or bool(ours - before - theirs or (before - ours) & theirs)

    changed = differing_keys(fork, head)
    return tuple(key for key in differing_keys(base, head) if key in changed and is_own(key))


def _entries(value: Any) -> frozenset[Any]:
    """Return the entries of a key's value without their line numbers; the value alone where it has none."""
    if isinstance(value, Mapping):
        return frozenset(value.items())
    return frozenset(_without_lines(value) if isinstance(value, tuple | frozenset) else {value})


def _without_lines(value: Any) -> Any:
    """Return the value of a key with its entries' line numbers removed."""
    if not isinstance(value, tuple):
        return value
    return tuple(replace(entry, line=1) if isinstance(entry, Struct) else entry for entry in value)


def proposed(base: Policy, head: Policy) -> Policy:
    """Return a policy with only the acceptances and pins that the head adds or changes."""
    found: dict[str, Any] = {}
    for key in _FROM_HEAD:
        known = frozenset(_without_lines(getattr(base, key)))
        found[key] = tuple(one for one in getattr(head, key) if replace(one, line=1) not in known)
    return Policy(**found)


def are_decisions(keys: Iterable[str]) -> bool:
    """True if these keys are those that a head may set for itself, if the base permits that."""
    return set(keys) <= set(_FROM_HEAD)


def with_proposed(base: Policy, more: Policy) -> Policy:
    """Return the base's policy with the acceptances and pins that the head proposes, if the base permits them."""
    if base.accept_from is not AcceptFrom.HEAD:
        return base
    pins = {pin.scope: pin for pin in (*base.trust, *more.trust)}
    return replace(base, accept=(*more.accept, *base.accept), trust=tuple(pins.values()))


def in_force(policy: Policy, today: date) -> Policy:
    """Return a policy without the acceptances and the ignored advisories that no longer hold."""
    holding = (one for one in policy.accept if not one.is_outdated and not one.has_expired(today))
    ignored = (one for one in policy.advisories if not one.has_expired(today))
    return replace(policy, accept=tuple(holding), advisories=tuple(ignored))
