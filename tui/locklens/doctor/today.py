"""What registries and mirrors say of a release, and of those around it, when it is diagnosed. Pure."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.doctor.messages import PAGE
from locklens.hashes import packages_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.doctor import FoundPackage, OfferedPackage
    from locklens.policy import Pin
    from locklens.releases import Listing, LookupFailure
    from locklens.review.case import Case
    from locklens.selection import Hold
    from locklens.trust import Signer
    from locklens.trust.authentication import Authentication
    from locklens.trust.checksums import Checksums
    from locklens.versions import Version


class Today(Struct, frozen=True, dict=True):
    """The answers about one release. Without a case, nothing was asked, or there is no release to ask about.

    Attributes:
        as_of: The time of the registry's answer; None without one.
        case: Facts of registries; None if none was asked, or neither an entry nor the message has a version.
        neighbour: The signer of the next version before; None if unknown.
        hashes_of: Another version, whose signed release has all locked packages; "" if none was found.
        rest_of: Another version, whose signed release has all locked packages that this one lacks, beside some of this;
            "" if none was found.
        served: What the mirror on a server, which the settings here name, gives or lists now; None if it was not asked.
        offered: What the registry answers here about the package that the run asked for in vain; None if not asked.
        downloads: The `zh` of each download of the package that was tried here, "" for one that broke off; of a
            page in its place, the digest behind PAGE.
        is_offline: True if no registry is asked in this run.
        listed_unlocked: What the registry lists of a provider that is not locked; None if it was not looked up.
        earlier_host: The other tool's registry, if all packages of `earlier` are of it; else "".
        unlisted: Providers with the versions of a conflict's sides that their registries do not list.
        of_release: Whether each `zh` of a side is of its release, by provider and version; None for unknown.
        held: The listed versions that the policy holds back, as far as their ages are known, and what holds each.
        pin: The keys that the policy pins for the provider; None for no pin.
        objection: What the pin says against the signer, with its place; "" for nothing, or for an unknown signer.
    """

    as_of: str | None = None
    case: Case | None = None
    neighbour: Signer | None = None
    hashes_of: str = ""
    rest_of: str = ""
    served: FoundPackage | None = None
    offered: OfferedPackage | None = None
    downloads: tuple[str, ...] = ()
    is_offline: bool = False
    listed_unlocked: Listing | None = None
    earlier_host: str = ""
    unlisted: frozenset[tuple[ProviderAddress, str]] = frozenset()
    of_release: Mapping[tuple[ProviderAddress, str], bool | None] = {}
    held: Mapping[Version, tuple[Hold, ...]] = {}
    pin: Pin | None = None
    objection: str = ""

    @property
    def listing(self) -> Listing | None:
        """The versions that the registry lists; None if it was not looked up."""
        return self.case.listing if self.case is not None else self.listed_unlocked

    @property
    def trouble(self) -> LookupFailure | None:
        """Why nothing is known about the release; None if something is, or none was asked."""
        return self.case.new.trouble if self.case is not None else None

    @property
    def is_denied(self) -> bool:
        """True if the registry answered that it does not have the provider or the version."""
        listing = self.listing.trouble if self.listing is not None else None
        return any(one is not None and one.is_no for one in (self.trouble, listing))

    @property
    def is_unlisted(self) -> bool:
        """True if the registry lists versions, and not that of the entry."""
        if self.case is None or not self.case.listing.is_known:
            return False
        return not self.case.listing.has(self.case.entry.version)

    @property
    def has_all_packages(self) -> bool | None:
        """True if each locked `zh` of a package is of the release; None where that is unknown, or none is locked."""
        if self.case is None or self.checksums is None:
            return None
        packed = packages_of(self.case.entry.hashes) - self.checksums.manifests
        return packed <= self.checksums.hashes if packed else None

    @property
    def checksums(self) -> Checksums | None:
        """The signed or reported hashes of the release; None if unknown."""
        return self.case.new.today if self.case is not None else None

    @property
    def authentication(self) -> Authentication | None:
        """How today's release is signed; None if that is unknown."""
        return self.case.new.authentication if self.case is not None else None

    @property
    def is_known(self) -> bool:
        """True if the release's signed or reported hashes are known."""
        return self.checksums is not None

    @cached_property
    def listed(self) -> frozenset[str]:
        """All `zh` of the release that are vouched for today; empty if unknown."""
        return self.checksums.hashes if self.checksums is not None else frozenset()

    @cached_property
    def platforms(self) -> Mapping[str, str]:
        """The `zh` of each platform's package, by OS_ARCH, as far as they are vouched for today."""
        if self.case is None:
            return {}
        return {str(platform): zh for zh, platform in self.case.new.platforms.items()}

    @property
    def is_page_served(self) -> bool:
        """True if each download here was a page in the place of a zip file, such as that of a proxy."""
        return bool(self.downloads) and all(one.startswith(PAGE) for one in self.downloads)

    @property
    def lists(self) -> str:
        """The verb for what the registry's list has: offline it may be an old one."""
        return "listed" if self.case is not None and self.case.listing.is_offline else "lists"

    @property
    def is_signed(self) -> bool:
        """False if the release is known, and nothing signs it."""
        return not self.is_known or (self.authentication is not None and self.authentication.signed_by is not None)

    @property
    def elsewhere(self) -> frozenset[str]:
        """Locked `zh` that the release of this version in another registry lists, or that of another version."""
        if self.case is None:
            return frozenset()
        rest = packages_of(self.case.entry.hashes) - self.listed if self.rest_of else frozenset[str]()
        return rest.union(*self.case.packages.elsewhere.values())
