"""A policy as frozen values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from locklens.dialect import DIALECTS, OPENTOFU
from locklens.identity import ID_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from locklens.addresses import Platform, ProviderAddress
    from locklens.versions import Constraints, Version

SeverityName = Literal["block", "warn", "info", "off"]
"""A severity as `[severity]` spells it."""

Threshold = Literal["block", "warn", "info", "never"]
"""The lowest severity that fails a review, as `fail_on` spells it."""

_ANY = "*"


class InstallPath(StrEnum):
    """A place that packages are installed from, as `install_paths` spells it."""

    DIRECT = "direct"
    """From the provider's registry."""
    PLUGIN_CACHE = "plugin-cache"
    """From a folder of unpacked packages that several roots share."""
    PACKED_MIRROR = "packed-mirror"
    """From a network mirror, or a folder of zip files."""
    UNPACKED_MIRROR = "unpacked-mirror"
    """From a folder of unpacked packages that stands in for the registry."""

    @property
    def needs_h1(self) -> bool:
        """True if only an `h1` lets a platform install: an unpacked package has no zip file to hash."""
        return self in (InstallPath.PLUGIN_CACHE, InstallPath.UNPACKED_MIRROR)


class AcceptFrom(StrEnum):
    """The side whose acceptances and pins count, as `accept_from` spells it."""

    BASE = "base"
    HEAD = "head"
    """Those that the change itself adds count too: for repositories whose owners guard the policy."""


class WantedPlatform(Struct, frozen=True):
    """A required platform.

    Attributes:
        why: The reason, one printable line; "" for none.
        line: Its line in the policy, from 1.
    """

    platform: Platform
    why: str = ""
    line: int = 1


class AllowedProvider(Struct, frozen=True):
    """One entry of the allow list.

    Attributes:
        host: Comparison form; "" for the registries of both tools, and no other host: a list permits what it names.
        namespace: "*" for any.
        type: "*" for any.
        constraints: The permitted versions; None for all.
        text: As written.
        line: Its line in the policy, from 1.
    """

    host: str
    namespace: str
    type: str
    constraints: Constraints | None = None
    text: str = ""
    line: int = 1

    def names(self, address: ProviderAddress) -> bool:
        """True if the entry is about a provider, in whatever version."""
        hosts = (self.host,) if self.host else tuple(dialect.default_host for dialect in DIALECTS.values())
        is_named = self.namespace in (_ANY, address.namespace) and self.type in (_ANY, address.type)
        return is_named and address.host in hosts

    def allows(self, address: ProviderAddress, version: Version) -> bool:
        """True if the entry permits a version of a provider."""
        return self.names(address) and (self.constraints is None or self.constraints.admits(version))


class Pin(Struct, frozen=True):
    """The keys that may sign the releases of a namespace.

    Attributes:
        namespace: The providers' namespace.
        host: Comparison form; "" for every host: a pin restricts, so it covers more rather than less.
        keys: Full fingerprints, upper case; two during a rotation.
        by: Who decided it.
        on: When.
        why: The reason.
        review_by: The date on which it is to be looked at again.
        line: Its line in the policy, from 1.
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
        """Host and namespace: what it covers. A policy has one pin for each, and an edit replaces that one."""
        return self.host, self.namespace

    def covers(self, address: ProviderAddress) -> bool:
        """True if the releases of a provider are under it, unless another pin names the host too."""
        return self.namespace == address.namespace and self.host in ("", address.host)

    def permits(self, fingerprint: str) -> bool:
        """True if a key may sign them; "" for none, which a pin never permits."""
        return fingerprint in self.keys


def parts_of_pin_name(name: str) -> tuple[str | None, str]:
    """Return host and namespace of a pin's name, as written; None for the host where the name has none."""
    host, slash, namespace = name.rpartition("/")
    return (host if slash else None), namespace


def pin_for(pins: Iterable[Pin], address: ProviderAddress) -> Pin | None:
    """Return the pin that holds for a provider: that of its host before that of every host; None for none."""
    return max((pin for pin in pins if pin.covers(address)), key=lambda pin: bool(pin.host), default=None)


class Acceptance(Struct, frozen=True):
    """The acceptance of one finding about exactly one change.

    Attributes:
        rule: The finding's rule.
        provider: The full address.
        change: The change's id, 32 hex digits; of 16 where an earlier version wrote it.
        reason: One printable line.
        by: Who accepted it.
        on: When.
        until: The last day on which it holds; None for no end.
        line: Its line in the policy, from 1.
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
        """Rule, provider and change: what it accepts."""
        return self.rule, self.provider, self.change

    @property
    def is_outdated(self) -> bool:
        """True if it has an id as earlier versions made them, which no change has any more."""
        return len(self.change) < ID_DIGITS

    def has_expired(self, today: date) -> bool:
        """True if it no longer holds."""
        return self.until is not None and self.until < today


class Policy(Struct, frozen=True):
    """The rules of a repository for its lock files.

    Attributes:
        platforms: The required ones in the file's order, each once; may be empty.
        install_paths: Never empty.
        names_paths: True if the file names install paths.
        local_paths: More install paths, which are in use on this machine as the CLI configuration says.
        local_platform: The platform of this machine; None without `local_paths`.
        cooldown: Days that a release must be old before it is selected, 0 or more; None if unset.
        file: Its path as the user knows it; "" without a policy.
        fail_on: The lowest severity that fails a review; None if unset.
        hosts: Hosts that may be asked beside the others, comparison form.
        reported_hashes: Registries whose reported hashes are locked by OpenTofu's rules, comparison form; None for its
            own registry.
        allow: The allow list; None without one, so that every provider is allowed.
        accept_from: The side whose acceptances and pins count.
        severity: The severity of rules, by id.
        trust: The pins.
        accept: The acceptances.
    """

    platforms: tuple[WantedPlatform, ...] = ()
    install_paths: frozenset[InstallPath] = frozenset({InstallPath.DIRECT})
    cooldown: int | None = None
    file: str = ""
    fail_on: Threshold | None = None
    hosts: tuple[str, ...] = ()
    reported_hashes: tuple[str, ...] | None = None
    allow: tuple[AllowedProvider, ...] | None = None
    accept_from: AcceptFrom = AcceptFrom.BASE
    severity: Mapping[str, SeverityName] = {}
    trust: tuple[Pin, ...] = ()
    accept: tuple[Acceptance, ...] = ()
    names_paths: bool = False
    local_paths: frozenset[InstallPath] = frozenset()
    local_platform: Platform | None = None

    @classmethod
    def none(cls) -> Policy:
        """The default without a policy: packages from the registry, and no required platforms."""
        return cls()

    @property
    def required(self) -> tuple[Platform, ...]:
        """The required platforms, in the file's order."""
        return tuple(wanted.platform for wanted in self.platforms)

    @property
    def believed(self) -> frozenset[str]:
        """The registries whose reported hashes are locked by OpenTofu's rules, unless its environment forbids it."""
        return frozenset((OPENTOFU.default_host,) if self.reported_hashes is None else self.reported_hashes)

    @property
    def paths_in_order(self) -> tuple[InstallPath, ...]:
        """The install paths in display order, with those of this machine."""
        return tuple(path for path in InstallPath if path in self.install_paths | self.local_paths)

    def on_path(self, path: InstallPath, platforms: Iterable[str]) -> tuple[str, ...]:
        """Return those of some platforms that an install path is used for."""
        if path in self.install_paths:
            return tuple(platforms)
        return tuple(platform for platform in platforms if platform == str(self.local_platform))

    @property
    def needs_ages(self) -> bool:
        """True if a rule of it looks at release dates, which are asked for only then: it takes more requests."""
        return self.cooldown is not None

    def why(self, platform: Platform) -> str:
        """Return the reason why a platform is required, "" for none."""
        return next((wanted.why for wanted in self.platforms if wanted.platform == platform), "")

    def allows(self, address: ProviderAddress, version: Version) -> bool:
        """True if a version of a provider is on the allow list, or there is none."""
        return self.allow is None or any(entry.allows(address, version) for entry in self.allow)

    def pin(self, address: ProviderAddress) -> Pin | None:
        """Return the pin that holds for a provider; None for none."""
        return pin_for(self.trust, address)

    def acceptance(self, rule: str, address: ProviderAddress, change: str) -> Acceptance | None:
        """Return the acceptance of a finding about a change; None without one."""
        if not self.accept:
            return None
        key = rule, str(address), change
        return next((one for one in self.accept if one.key == key), None)
