"""All that is known about one provider in one root. Pure."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from posixpath import join, normpath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.dialect import DIALECTS, OPENTOFU, twin_of
from locklens.doctor import taken_over
from locklens.doctor.messages import NO_MESSAGE, PAGE
from locklens.doctor.model import PackagePath
from locklens.doctor.origins import Origins
from locklens.doctor.reasons import NetworkReason
from locklens.hashes import hashes_of_files, packages_of
from locklens.machine import locklens_words
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.text import counted, listing, shell_words
from locklens.trust.authentication import Refusal
from locklens.versions import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.doctor import ElsewhereEntry, FoundPackage, InstalledPlace, OfferedPackage, PastEntry
    from locklens.doctor.messages import RecognisedError
    from locklens.doctor.model import Incident
    from locklens.lockfile import LockEntry, LockFile
    from locklens.project.configuration import Configuration, Requirement
    from locklens.releases import Listing, LookupFailure
    from locklens.review.case import Case
    from locklens.review.model import Change
    from locklens.trust import Signer
    from locklens.trust.authentication import Authentication
    from locklens.trust.checksums import Checksums

_OF_A_RELEASE = frozenset({"current-package", "sums-differ", "registry-hashes"})
"""Errors of a run that got a package, or a list, which its source vouches for, and the lock file does not."""

_TOP = "the top folder"

ASSUMED = "assumed"
"""The beginning of the source of a fact that is assumed."""

WHOLE_LIST = 4
"""The number of packages that nearly every signed list has: two systems on two architectures."""


def zh_of_packages(number: int, kind: str = "") -> str:
    """Return a number of `zh` in words, such as "5 locked zh of packages".

    A registry's manifest has a `zh`, too, which vouches for no package, and which no sentence counts.
    """
    return counted(number, f"{kind}zh of a package", f"{kind}zh of packages")


def from_top(here: str, root: str) -> str:
    """Return a root that is relative to the folder of the diagnosis as reports and screens name it."""
    return normpath(join(here, root))


class Examined(Struct, frozen=True, dict=True):
    """The facts about one provider in one root.

    Attributes:
        error: None where the root is examined without a log.
        incident: The circumstances of the error.
        root: Its folder, "" for the top.
        address: None where the error is about the lock file as a whole.
        lock: The lock file.
        tool: The tool of the root.
        configuration: That of the root.
        entry: The locked entry; None without one.
        change: The entry as a change that adds it, traced to facts; None without an entry.
        case: Facts of registries; None if none was asked, or neither an entry nor the message has a version.
        packages: Packages on disk, and the one that was handed in.
        past: The entry's history, the newest first; its first item is the committed state.
        past_elsewhere: The entry's history in the other roots that the log fits.
        written: The entry of this version before locklens wrote it as it is, with the time of that write; None where
            no write is later than the log.
        is_written: True if locklens added it, or wrote anything of it, later than the log.
        replaced_version: The version that locklens replaced by the locked one later than the log; "" where it did not.
        is_repaired: True if the message is of a lock file that cannot be read, as this one was, and is not any more.
        before_damage: The entries that it had before it could not be read, in the newest commit in which it can be.
        first_of_sides: The commit that first locks the packages of a conflict's side, by provider and version; those of
            which git tells none are left out.
        tool_commit: The commit that locks the provider in the other tool's registry, if the last change of the lock
            file took that entry away, committed or not; else "".
        locked_before: The providers of the lock file before locklens wrote it later than the log, else in its newest
            commit that is no later; None without one.
        logged: The time of the log, ISO 8601 in UTC, or a later one; "" if none is known.
        had_other_providers: True if a commit of the lock file has other providers than it has now.
        others: The provider in other lock files.
        twins: The provider of the same name in the other tool's registry, in any lock file.
        neighbour: The signer of the next version before; None if unknown.
        damaging_merge: The merge since which the lock file cannot be read; "" for another commit, or none.
        damaging_edit: The commit since which it cannot be read, if it is known, and no merge; else "".
        merge: The merge since which the entry is as it is; "" for another commit, or none.
        readable_commit: The newest commit whose lock file can be read, where the one here cannot; else "".
        without_new: The commits whose lock file has no hash that the one here and the newest readable commit lack.
        made_by: The commit that made the entry as it is, if it is known, and no merge; else "".
        installed: Where the root's installed packages are.
        hashes_of: Another version, whose signed release has all locked packages; "" if none was found.
        served: What the mirror on a server, which the settings here name, gives or lists now; None if it was not asked.
        offered: What the registry answers here about the package that the run asked for in vain; None if not asked.
        moved: The package that was moved aside here later than the log, by the path that it had; None without one.
        is_offline: True if no registry is asked in this run.
        downloads: The `zh` of each download of the package that was tried here, "" for one that broke off; of a
            page in its place, the digest behind PAGE.
        fitting: The roots that the log fits, as reports show them, where it does not tell which one failed; else ().
        mirrors: The folders of mirrors that the user or this machine's settings name for the provider.
        servers: The mirrors on servers that the settings name for it, those of one kind together.
        machine: OS_ARCH of this machine, which the failing run is assumed to have where nothing tells its own.
        registry_url: The URL of the provider's registry that a `host` block of the settings names; "" for none.
        asks_registry: True if this machine's settings let the tool ask a registry for the provider.
        is_constraint_of_here: True if the constraint of the message may be in the configuration, or was in a commit.
        was_required: True if the root, or each of `fitting`, required or called what the error is about, until lately.
        removed_by: The commit that removed the entry, with date and author; "" for another state, or no entry before.
        is_ignored: True if git ignores the lock file, which is not there.
        listed_unlocked: What the registry lists of a provider that is not locked; None if it was not looked up.
        may_send_token: True if this machine may have sent a token to the provider's registry.
        earlier_host: The other tool's registry, if all packages of `earlier` are of it; else "".
        unlisted: Providers with the versions of a conflict's sides that their registries do not list.
        of_release: Whether each `zh` of a side is of its release, by provider and version; None for unknown.
        names_tool: True if commands have to name the tool: the root does not tell it, or not alone.
        start: The folder of the diagnosis, from the folder that the user's shell is in; "." for that itself.
        top: The folder that `root` is relative to, likewise.
        here: The folder of the diagnosis, relative to the top; "" for that itself.
    """

    error: RecognisedError | None
    incident: Incident
    root: str
    address: ProviderAddress | None
    lock: LockFile
    tool: Dialect
    configuration: Configuration
    entry: LockEntry | None = None
    change: Change | None = None
    case: Case | None = None
    packages: tuple[FoundPackage, ...] = ()
    past: tuple[PastEntry, ...] = ()
    past_elsewhere: tuple[tuple[PastEntry, ...], ...] = ()
    written: PastEntry | None = None
    is_written: bool = False
    replaced_version: str = ""
    is_repaired: bool = False
    before_damage: tuple[PastEntry, ...] = ()
    first_of_sides: Mapping[tuple[ProviderAddress, str], PastEntry] = {}
    tool_commit: str = ""
    locked_before: frozenset[ProviderAddress] | None = None
    logged: str = ""
    had_other_providers: bool = False
    others: tuple[ElsewhereEntry, ...] = ()
    neighbour: Signer | None = None
    readable_commit: str = ""
    without_new: frozenset[str] = frozenset()
    damaging_merge: str = ""
    damaging_edit: str = ""
    merge: str = ""
    made_by: str = ""
    installed: InstalledPlace | None = None
    downloads: tuple[str, ...] = ()
    twins: tuple[ElsewhereEntry, ...] = ()
    hashes_of: str = ""
    served: FoundPackage | None = None
    offered: OfferedPackage | None = None
    is_offline: bool = False
    moved: FoundPackage | None = None
    fitting: tuple[str, ...] = ()
    registry_url: str = ""
    asks_registry: bool = True
    mirrors: tuple[str, ...] = ()
    servers: tuple[InstallationMethod, ...] = ()
    machine: str = ""
    names_tool: bool = False
    start: str = "."
    top: str = "."
    here: str = ""
    is_constraint_of_here: bool = True
    was_required: bool = False
    removed_by: str = ""
    is_ignored: bool = False
    listed_unlocked: Listing | None = None
    may_send_token: bool = True
    earlier_host: str = ""
    unlisted: frozenset[tuple[ProviderAddress, str]] = frozenset()
    of_release: Mapping[tuple[ProviderAddress, str], bool | None] = {}

    @property
    def replaced(self) -> str:
        """The path of a package that was moved aside; "" without one."""
        return self.moved.path if self.moved is not None else ""

    @property
    def is_mirror_replaced(self) -> bool:
        """True if that package was a mirror's."""
        return self.moved is not None and self.moved.kind == "mirror"

    @property
    def message(self) -> RecognisedError:
        """The error of the log; an empty one where the root is examined without a log."""
        return self.error or NO_MESSAGE

    def of_provider(self, address: ProviderAddress) -> Examined:
        """Return another provider of the root, of which only the files are known, and its entry before the damage."""
        names = ("names_tool", "start", "top", "here", "is_offline", "machine")
        entry = self.lock.entry(address)
        files = (self.incident, self.root, address, self.lock, self.tool, self.configuration, entry)
        past = tuple(one for one in self.before_damage if one.entry is not None and one.entry.address == address)
        return Examined(None, *files, past=past, **{name: getattr(self, name) for name in names})

    def command_line(self, *words: str) -> str:
        """Return a command line of locklens that works in the folder that the user's shell is in."""
        return shell_words([*locklens_words(self.start), *words])

    @property
    def is_of_mirror_alone(self) -> bool:
        """True if no registry gives the release, as far as is known, and a mirror of the settings or the user may."""
        is_here = any(one.kind == "mirror" for one in self.packages)
        if self.is_known or not (is_here or self.mirrors or self.servers):
            return False
        return not self.asks_registry or self.is_denied

    @property
    def is_of_mirror(self) -> bool:
        """True if the failing run asked a mirror, by its own words, the user's, or the settings here."""
        path = self.incident.path
        return "provider mirror" in self.message.words or (path is not None and path.is_mirror)

    @property
    def other_registry(self) -> str:
        """The registry that the message says lacks the provider, if it is the one of the other tool; else ""."""
        asked, hosts = self.message.provider.partition("/")[0], {tool.default_host for tool in DIALECTS.values()}
        is_other = self.address is not None and {asked, self.address.host} == hosts
        return asked if is_other and self.message.kind == "provider-unknown" else ""

    @property
    def failing_mirror(self) -> str:
        """The URL of the mirror in the settings here whose host the message names; "" for another host."""
        host = self.message.host
        return next((one.place for one in self.servers if host and host == urlsplit(one.place).netloc), "")

    @property
    def oci_mirror(self) -> str:
        """The first template of OCI repositories in the settings here; "" without one."""
        return next((one.place for one in self.servers if one.kind is MethodKind.OCI), "")

    @property
    def is_of_server(self) -> bool:
        """True if a mirror on a server, which the settings here name, did not have a file for the failing run."""
        if self.message.kind == "oci-tag-missing":
            return self.oci_mirror != ""
        if self.message.kind in {"version-gone", "platform-unavailable"}:
            return self.incident.path is not None and self.incident.path.is_on_server and self.servers != ()
        return self.message.reason is NetworkReason.ABSENT and self.failing_mirror != ""

    @property
    def listing(self) -> Listing | None:
        """The versions that the registry lists; None if it was not looked up."""
        return self.case.listing if self.case is not None else self.listed_unlocked

    @property
    def is_denied(self) -> bool:
        """True if the registry answered that it does not have the provider or the version."""
        listing = self.listing.trouble if self.listing is not None else None
        return any(one is not None and one.is_no for one in (self.trouble, listing))

    @property
    def git(self) -> tuple[str, ...]:
        """The beginning of a git command whose paths are relative to the top."""
        return ("git",) if self.top == "." else ("git", "-C", self.top)

    @property
    def is_of_root(self) -> bool:
        """True unless the folder is no root, as the current one is none where a log fits no root at all."""
        return self.lock.exists or self.configuration.has_files

    @property
    def of_run(self) -> frozenset[ProviderAddress]:
        """The providers that the failing run required, as the lines before its message list them; empty if unknown."""
        return self.reused_by_run | self.searched_by_run

    @property
    def reused_by_run(self) -> frozenset[ProviderAddress]:
        """The providers of which the failing run took the locked version."""
        return self._addresses(self.message.reused)

    @property
    def searched_by_run(self) -> frozenset[ProviderAddress]:
        """The providers that the failing run chose a version for, since the lock file had none."""
        return self._addresses(self.message.searched)

    def _addresses(self, names: Iterable[str]) -> frozenset[ProviderAddress]:
        found = set()
        for name in names:
            with suppress(ValueError):
                found.add(self.tool.parse_source(name))
        return frozenset(found)

    @property
    def is_of_twin(self) -> bool:
        """True if the message names the other tool's entry, which the last change of the lock file took away."""
        return self.tool_commit != "" and self._is_twin_named

    @property
    def is_twin_missing(self) -> bool:
        """True if the message misses the package of the other tool's entry, where the root requires this provider."""
        return self.message.kind == "plugin-missing" and self._is_twin_named

    @property
    def _is_twin_named(self) -> bool:
        named = self._addresses([self.message.provider])
        return bool(named) and self.address not in named

    @property
    def is_of_other_version(self) -> bool:
        """True if the error names another version than the locked one."""
        if self.entry is None or self.is_twin_missing:
            return False
        return self.message.version not in {"", str(self.entry.version)}

    @property
    def is_of_upgrade(self) -> bool:
        """True if the failing run chose the version of `entry` itself, and another one is locked."""
        locked = self.lock.entry(self.address)
        return self.entry is not None and locked is not None and self.entry.version != locked.version

    @property
    def has_other_constraints(self) -> bool:
        """True if the constraints that the message names are not those of now."""
        said = self.message.constraints
        return said is not None and {*said.terms} != {*self.constraints.terms}

    @property
    def met_release(self) -> bool:
        """True if the failing run met a release, or a package of it, that is not today's.

        Not where the lock file lacks the package of the failing platform, or where that came from a mirror or a folder.
        """
        is_of_release = self.message.kind in _OF_A_RELEASE
        if not is_of_release or self.is_of_other_version or self.incident.path not in {None, PackagePath.DIRECT}:
            return False
        missing = {platform for platform, zh in self.platforms.items() if zh not in self.packed}
        return self.is_known and not (self.platform in missing if self.platform else missing)

    @property
    def is_path_of_run(self) -> bool:
        """True if the origin of the failing package is known from the run or the user, not from this machine."""
        return dict(self.incident.sources).get("path") in {"given", "the message", "the log"}

    @property
    def name(self) -> str:
        """The provider as messages name it."""
        if self.address is None:
            return "the lock file" if self.lock.problems else self.message.about
        return self.address.short(self.tool.default_host)

    @cached_property
    def locked_twin(self) -> LockEntry | None:
        """The entry of the provider's name in the other tool's registry; None without one."""
        return self.lock.entry(twin_of(self.address))

    @cached_property
    def is_taken_over(self) -> bool:
        """True if OpenTofu takes the version of the provider over from the lock file's entry of Terraform's registry.

        Of a log, `entry` is the one that OpenTofu makes of it, which has no hashes.
        """
        is_there = taken_over(self.address, self.lock, self.tool) is not None
        return is_there and (self.error is None or self.entry is not None)

    @property
    def is_unread(self) -> bool:
        """True if the tool of the log reads no file of the root, which has a lock file: it may be the other tool's."""
        configuration = self.configuration
        has_any = configuration.has_files or configuration.has_faults or configuration.generator
        return self.error is not None and self.lock.exists and not has_any

    @property
    def required(self) -> tuple[Requirement, ...]:
        """What requires the provider in the root."""
        return self.configuration.of(self.address) if self.address is not None else ()

    @property
    def constraints(self) -> Constraints:
        """The constraints of the root on the provider, which all hold together."""
        return self.configuration.constraints(self.address) if self.address is not None else Constraints()

    @property
    def is_unrequired(self) -> bool:
        """True if it is known that nothing in the root requires the provider."""
        if self.address is None or self.configuration.unknown_reason:
            return False
        return not self.configuration.requires(self.address)

    @property
    def where(self) -> str:
        """The root, or those that the log fits, in sentences."""
        fitting = [from_top(self.here, root) for root in self.fitting]
        return listing([_TOP if root == "." else root for root in fitting], 3) if fitting else self.own_root

    @property
    def own_root(self) -> str:
        """The root in sentences."""
        return self.root or _TOP

    @property
    def release(self) -> str:
        """Provider and locked version; the version of the message where it is not locked."""
        said = self.message.version if not self.is_twin_missing else ""  # else it is the other provider's
        version = self.entry.version if self.entry is not None else said
        return f"{self.name} {version}".strip()

    @property
    def failing_release(self) -> str:
        """Provider and version of the message; those that are locked where it names no other version."""
        return f"{self.name} {self.message.version}" if self.is_of_other_version else self.release

    @property
    def platform(self) -> str:
        """The platform of the machine with the error; "" for unknown."""
        return self.incident.platform or ""

    @property
    def is_platform_assumed(self) -> bool:
        """True if nothing tells the platform of the machine with the error."""
        return dict(self.incident.sources).get("platform", ASSUMED).startswith(ASSUMED)

    @property
    def platform_on_disk(self) -> str:
        """The platform whose copies on this machine count: that of the error, else this machine's."""
        return self.platform or self.machine

    def can_be_installed(self, one: FoundPackage) -> bool:
        """True unless a package is of another platform than the failing run installs, as known or assumed."""
        return one.kind == "given" or one.platform in {"", self.platform_on_disk} or not self.platform_on_disk

    def is_first(self, one: FoundPackage) -> bool:
        """True if init would install a mirror's copy here: no place before it has the package, as far as is known."""
        if one.behind is MethodKind.DIRECT:
            return self.is_denied or (self.is_known and self.platform_on_disk not in self.platforms)
        return one.behind is None

    @property
    def named_and_locked(self) -> str:
        """A locked hash that the message names as the expected one of a mirror's index; "" if there is none."""
        hashes = self.message.hashes if self.message.kind == "mirror-checksum" else ()
        return next((text for text in hashes if text in self.locked), "")

    @property
    def locked(self) -> frozenset[str]:
        """The locked hashes."""
        return self.entry.accepted if self.entry is not None else frozenset()

    @property
    def place(self) -> str:
        """The place of the entry, as compilers write it; that of the lock file without one."""
        return f"{self.lock.path}:{self.entry.line}" if self.entry is not None else self.lock.path

    @property
    def today(self) -> Checksums | None:
        """The signed or reported hashes of the release; None if unknown."""
        return self.case.new.today if self.case is not None else None

    @property
    def authentication(self) -> Authentication | None:
        """How today's release is signed; None if that is unknown."""
        return self.case.new.authentication if self.case is not None else None

    @property
    def is_of_opentofu(self) -> bool:
        """True if OpenTofu failed, by what is known of the run, or by its own words about a signature."""
        ran = DIALECTS.get(self.incident.tool or "", self.tool)
        return ran is OPENTOFU or "not signed with a valid signing key" in self.message.words

    @property
    def is_expiry_refused(self) -> bool:
        """True if a listed key signed today's release, and OpenTofu refuses that for its age where it is told to.

        It is told so here, or may have been in the failing run, whose message fits.
        """
        judged = self.authentication if not self.is_of_other_version else None
        if judged is None or judged.lenience is None or not self.is_of_opentofu:
            return False
        return judged.refusal is Refusal.EXPIRY_ENFORCED or self.message.is_of_unknown_issuer

    @property
    def trouble(self) -> LookupFailure | None:
        """Why nothing is known about the release; None if something is, or none was asked."""
        return self.case.new.trouble if self.case is not None else None

    @cached_property
    def packed(self) -> frozenset[str]:
        """The locked `zh` of packages: registry manifests are left out, the release's own too."""
        return packages_of(self.locked) - (self.today.manifests if self.today is not None else frozenset())

    @cached_property
    def unpacked(self) -> frozenset[str]:
        """The locked `h1`."""
        return hashes_of_files(self.locked)

    @property
    def is_known(self) -> bool:
        """True if the release's signed or reported hashes are known."""
        return self.today is not None

    @cached_property
    def listed(self) -> frozenset[str]:
        """All `zh` of the release that are vouched for today; empty if unknown."""
        return self.today.hashes if self.today is not None else frozenset()

    @cached_property
    def stale(self) -> frozenset[str]:
        """Locked `zh` that the release does not have today; empty if unknown."""
        return self.packed - self.listed if self.is_known else frozenset()

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
    def is_absent(self) -> bool:
        """True if the registry's answer about the package of the failing run, or that of its host, is a 404 now."""
        return self.offered is not None and self.offered.is_absent and self.platform != ""

    @cached_property
    def is_left_out(self) -> bool:
        """True if the registry does not offer the failing platform: its list leaves it out, or its answer is a 404."""
        if self.is_absent:
            return True
        listed = self.listing.versions if self.listing is not None and self.listing.is_known else ()
        failed = self.message.version or (str(self.entry.version) if self.entry is not None else "")
        of_version = (one.platforms for one in listed if str(one.version) == failed)
        return any(platforms and self.platform not in map(str, platforms) for platforms in of_version)

    @cached_property
    def computed(self) -> Mapping[str, str]:
        """The `h1` of each platform's package that was hashed here, and whose `zh` is vouched for or locked."""
        if self.case is None:
            return {}
        known = self.case.hashed
        hashed = {platform: min(known[zh]) for platform, zh in self.platforms.items() if known.get(zh)}
        genuine = self.listed or self.packed
        signed = (one for one in self.packages if one.platform and one.of_files and one.zh in genuine)
        return {**{one.platform: one.shown_hash for one in signed}, **hashed}

    @cached_property
    def expected(self) -> Mapping[str, str]:
        """The `h1` of each platform's package: those in `computed`, else as the registry reports it, unsigned."""
        reported = self.case.new.reported if self.case is not None else {}
        return {**{str(platform): h1 for h1, platform in reported.items()}, **self.computed}

    @cached_property
    def attributed(self) -> Mapping[str, str]:
        """The platform of each locked `h1`, as far as it is known."""
        known = {h1: platform for platform, h1 in self.expected.items() if h1 in self.unpacked}
        named = (one for one in self.packages if one.platform)
        on_disk = {text: one.platform for one in named for text in one.of_files & self.unpacked}
        return {**on_disk, **known}

    def is_told_by_download(self, platform: str) -> bool:
        """True if downloads tell the `h1` of a platform's package: they end once each locked `h1` has its package."""
        is_there = platform in self.platforms and platform not in self.computed and not self.is_offline
        return is_there and not self.unpacked <= set(self.expected.values())

    @property
    def as_of(self) -> str | None:
        """The time of the registry's answer."""
        return self.change.evidence.as_of if self.change is not None and self.change.evidence is not None else None

    @property
    def lists(self) -> str:
        """The verb for what the registry's list has: offline it may be an old one."""
        return "listed" if self.case is not None and self.case.listing.is_offline else "lists"

    @property
    def sums(self) -> str:
        """The name of the release's list of hashes; it is called signed unless it is known and was not."""
        return f"the {'signed ' if self.is_signed else ''}SHA256SUMS of {self.release}"

    @property
    def is_signed(self) -> bool:
        """False if the release is known, and nothing signs it."""
        return not self.is_known or (self.authentication is not None and self.authentication.signed_by is not None)

    @property
    def why_unknown(self) -> str:
        """The missing fact about the release, and the way to it."""
        trouble, judged = self.trouble, self.authentication
        reason = f" ({judged.refusal})" if judged is not None and judged.refusal is not None else ""
        reason = f" ({trouble.words})" if trouble is not None and trouble.was_asked else reason
        if self.is_of_other_version:
            return f"the signed SHA256SUMS of {self.failing_release}, which is not locked here"
        if self.is_offline:
            return f"{self.sums}: run without --offline"
        if trouble is not None and trouble.is_unvouched and self.address is not None:
            host = self.address.host
            return f"{self.sums}: --ask-host {host} asks that host, which only files of the repository name"
        hint = trouble.hint if trouble is not None else ""
        return f"{self.sums}{reason}{': ' if hint else ''}{hint}"

    def of_kind(self, *kinds: str) -> tuple[FoundPackage, ...]:
        """Return packages of some places that the failing run may have installed, by their platform."""
        return tuple(one for one in self.packages if one.kind in kinds and self.can_be_installed(one))

    @property
    def sound_mirrors(self) -> tuple[FoundPackage, ...]:
        """The copies of mirrors that the lock file accepts."""
        return tuple(one for one in self.of_kind("mirror") if one.hashes & self.locked)

    @property
    def sound_mirror(self) -> FoundPackage | None:
        """The first of them; None without one."""
        return next(iter(self.sound_mirrors), None)

    @property
    def sound_copy(self) -> FoundPackage | None:
        """A copy that init here would use without asking who signed the release; None without one."""
        of_root = (one for one in self.of_kind("installed") if one.is_of_root)
        folders = (one for one in (*of_root, *self.of_kind("plugin-cache")) if one.of_files & self.unpacked)
        return next(iter((*folders, *filter(self.is_first, self.sound_mirrors))), None)

    @property
    def elsewhere(self) -> frozenset[str]:
        """Locked `zh` that the release of this version in another registry lists."""
        lists = self.case.packages.elsewhere.values() if self.case is not None else ()
        return frozenset[str]().union(*lists)

    @cached_property
    def origins(self) -> Origins:
        """Where the locked hashes come from, as far as files, git and the registry tell."""
        return Origins(
            self.entry,
            self.past,
            self.past_elsewhere,
            self.others,
            self.written,
            self.merge,
            packages=tuple(filter(self.can_be_installed, self.packages)),
            packed=self.packed,
            listed=self.listed,
            is_known=self.is_known,
            elsewhere=self.elsewhere,
        )
