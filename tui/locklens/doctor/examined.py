"""All that is known about one provider in one root. Pure."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.dialect import DIALECTS, OPENTOFU, twin_of
from locklens.doctor import taken_over
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.history import EntryHistory
from locklens.doctor.messages import NO_MESSAGE
from locklens.doctor.model import CauseId, PackagePath
from locklens.doctor.origins import Origins
from locklens.doctor.places import Places
from locklens.doctor.reasons import NetworkReason
from locklens.doctor.redacting import redacted
from locklens.doctor.shell import Shell, from_top
from locklens.doctor.today import Today
from locklens.hashes import hashes_of_files, packages_of
from locklens.project.installation import MethodKind
from locklens.text import counted, listing
from locklens.trust.authentication import Refusal
from locklens.versions import Constraints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.doctor import ElsewhereEntry, FoundPackage
    from locklens.doctor.messages import RecognisedError
    from locklens.doctor.model import Incident
    from locklens.lockfile import LockEntry, LockFile
    from locklens.project.configuration import Configuration, Requirement

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


class Examined(Struct, frozen=True, dict=True):
    """The facts about one provider in one root.

    Attributes:
        error: None where the root is examined without a log.
        root: Its folder, "" for the top.
        address: None where the error is about the lock file as a whole.
        tool: The tool of the root.
        entry: The locked entry; None without one.
        others: The provider in other lock files.
        twins: The provider of the same name in the other tool's registry, in any lock file.
        tools_elsewhere: The number of other lock files that each tool wrote, by its name.
        is_checked_out: False if the work tree does not have the root's folder, as with a sparse checkout.
        fitting: The roots that the log fits, as reports show them, where it does not tell which one failed; else ().
        history: Its past, and that of the lock file.
        places: Where its packages are, and may come from.
        policy_platforms: The platforms that the policy requires, which `lock` adds where none is named.
    """

    error: RecognisedError | None
    incident: Incident
    root: str
    address: ProviderAddress | None
    lock: LockFile
    tool: Dialect
    configuration: Configuration
    entry: LockEntry | None = None
    others: tuple[ElsewhereEntry, ...] = ()
    twins: tuple[ElsewhereEntry, ...] = ()
    tools_elsewhere: Mapping[str, int] = {}
    is_checked_out: bool = True
    fitting: tuple[str, ...] = ()
    history: EntryHistory = EntryHistory()
    places: Places = Places()
    today: Today = Today()
    shell: Shell = Shell()
    policy_platforms: tuple[str, ...] = ()

    @property
    def message(self) -> RecognisedError:
        """The error of the log; an empty one where the root is examined without a log."""
        return self.error or NO_MESSAGE

    def of_provider(self, address: ProviderAddress) -> Examined:
        """Return another provider of the root, of which only the files are known, and its entry before the damage."""
        states = (one for one in self.history.before_loss if one.entry is not None and one.entry.address == address)
        return Examined(
            None,
            self.incident,
            self.root,
            address,
            self.lock,
            self.tool,
            self.configuration,
            self.lock.entry(address),
            history=EntryHistory(tuple(states)),
            places=Places(machine=self.places.machine),
            today=Today(is_offline=self.today.is_offline),
            shell=self.shell,
        )

    @property
    def is_of_mirror_alone(self) -> bool:
        """True if no registry gives the release, as far as is known, and a mirror of the settings or the user may."""
        is_here = any(one.kind == "mirror" for one in self.places.packages)
        if self.today.is_known or not (is_here or self.places.mirrors or self.places.servers):
            return False
        return not self.places.asks_registry or self.today.is_denied

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
        """The URL of the mirror in the settings here that the message names, or whose host; "" for another one."""
        host, searched = self.message.host, self.message.searched_server.rstrip("/")
        for one in self.places.servers:
            if (host and host == urlsplit(one.place).netloc) or (searched == redacted(one.place).rstrip("/") != ""):
                return one.place
        return ""

    @property
    def is_of_server(self) -> bool:
        """True if a mirror on a server, which the settings here name, did not have a file for the failing run."""
        if self.message.kind == "oci-tag-missing":
            return self.places.oci_mirror != ""
        if self.message.kind in {"version-gone", "platform-unavailable"}:
            return self.incident.path is not None and self.incident.path.is_on_server and self.places.servers != ()
        is_absent = self.message.reason is NetworkReason.ABSENT or self.message.kind == "not-in-sources"
        return is_absent and self.failing_mirror != ""

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
        return self.tool.parse_sources(self.message.reused)

    @property
    def searched_by_run(self) -> frozenset[ProviderAddress]:
        """The providers that the failing run chose a version for, since the lock file had none."""
        return self.tool.parse_sources(self.message.searched)

    @property
    def is_without_source(self) -> bool:
        """True if the settings here name no source, and the message is what the tools say of a run without any."""
        return self.message.kind in {"version-gone", "no-matching-release"} and not self.places.has_source

    @property
    def override_words(self) -> str:
        """What tells that `dev_overrides` take the provider from a folder, in a clause; "" where nothing does."""
        if self.is_overridden_in_run:
            return "the log warns that dev_overrides are in effect for it"
        return "dev_overrides of the settings here name a folder for it" if self.places.is_overridden else ""

    @property
    def is_overridden_in_run(self) -> bool:
        """True if the log warns that `dev_overrides` take the provider from a folder."""
        return self.address in self.tool.parse_sources(self.message.overridden)

    @property
    def is_of_twin(self) -> bool:
        """True if the message names the other tool's entry, which the last change of the lock file took away."""
        return self.history.tool_commit != "" and self._is_twin_named

    @property
    def is_twin_missing(self) -> bool:
        """True if the message misses the package of the other tool's entry, where the root requires this provider."""
        return self.message.kind == "plugin-missing" and self._is_twin_named

    @property
    def _is_twin_named(self) -> bool:
        named = self.tool.parse_sources([self.message.provider])
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
    def is_deleted_here(self) -> bool:
        """True if the lock file was deleted, and no commit did that."""
        return not self.lock.exists and any(one.entry is not None for one in self.history.states[:1])

    @property
    def met_release(self) -> bool:
        """True if the failing run met a release, or a package of it, that is not today's.

        Not where the lock file lacks the package of the failing platform, or where that came from a mirror or a folder.
        """
        is_of_release = self.message.kind in _OF_A_RELEASE
        if not is_of_release or self.is_of_other_version or self.incident.path not in {None, PackagePath.DIRECT}:
            return False
        missing = {platform for platform, zh in self.today.platforms.items() if zh not in self.packed}
        return self.today.is_known and not (self.platform in missing if self.platform else missing)

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
    def is_to_be_selected(self) -> bool:
        """True if init would select a version, without a log: of a provider that is required, and not locked."""
        is_required = self.entry is None and self.error is None and self.required != () and not self.lock.problems
        return is_required and not self.is_taken_over and not self.today.is_denied

    @property
    def is_selected_of_list(self) -> bool:
        """True if init would select a version of those that the registry lists, by constraints that are all known."""
        is_known = not (self.configuration.unknown_reason or self.configuration.unknown_constraints)
        is_of_registry = self.places.asks_registry and not (self.places.mirrors or self.places.servers)
        return self.is_to_be_selected and is_known and is_of_registry

    @property
    def selected(self) -> LockEntry | None:
        """The version that init would select, as an entry without hashes; None where one is locked, or if unknown."""
        is_unlocked = self.entry is None and self.error is None
        return self.today.case.entry if is_unlocked and self.today.case is not None else None

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
        """True if it is known that nothing in the root requires the provider, in any workspace."""
        if self.address is None or self.configuration.unknown_need(self.address):
            return False
        return not self.configuration.requires(self.address)

    @property
    def unknown_need(self) -> str:
        """The reason why it is not known if any run requires the provider; "" if it is known."""
        return self.configuration.unknown_need(self.address) if self.address is not None else ""

    @property
    def is_left_to_state(self) -> bool:
        """True if nothing in the root can require the provider but a state that no command here reads."""
        return self.address is not None and self.configuration.is_left_to_state(self.address)

    @property
    def where(self) -> str:
        """The root, or those that the log fits, in sentences."""
        fitting = [from_top(self.shell.here, root) for root in self.fitting]
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
    def renamed_words(self) -> str:
        """That the entry took the place of another provider's, and when, in a clause; "" if it is not known to have."""
        if (old := self.history.renamed_from) is None:
            return ""
        by = f"commit {self.history.made_by[:12]}" if self.history.made_by else "an uncommitted change"
        was = old.address.short(self.tool.default_host)
        return f"{self.place} locks {self.release}, which {by} put in the place of {was}, with the same hashes"

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
        return self.platform or self.places.machine

    @property
    def lacking_modules(self) -> str:
        """That init has not installed each module which the root calls here, in a clause; "" if that is not known."""
        installed = self.places.installed
        if installed is None or not installed.lacking or self.fitting:
            return ""
        what, are = ("module", "it is") if len(installed.lacking) == 1 else ("modules", "they are")
        return f"{installed.modules} does not list {what} {listing(installed.lacking, 3)} as {are} called"

    def can_be_installed(self, one: FoundPackage) -> bool:
        """True unless a package is of another platform than the failing run installs, as known or assumed."""
        return one.kind == "given" or one.platform in {"", self.platform_on_disk} or not self.platform_on_disk

    def is_first(self, one: FoundPackage) -> bool:
        """True if init would install a mirror's copy here: no place before it has the package, as far as is known."""
        if one.behind is MethodKind.DIRECT:
            return self.today.is_denied or (self.today.is_known and self.platform_on_disk not in self.today.platforms)
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
    def is_of_opentofu(self) -> bool:
        """True if OpenTofu failed, by what is known of the run, or by its own words about a signature."""
        ran = DIALECTS.get(self.incident.tool or "", self.tool)
        return ran is OPENTOFU or "not signed with a valid signing key" in self.message.words

    @property
    def is_expiry_refused(self) -> bool:
        """True if a listed key signed today's release, and OpenTofu refuses that for its age where it is told to.

        It is told so here, or may have been in the failing run, whose message fits.
        """
        judged = self.today.authentication if not self.is_of_other_version else None
        if judged is None or judged.lenience is None or not self.is_of_opentofu:
            return False
        return judged.refusal is Refusal.EXPIRY_ENFORCED or self.message.is_of_unknown_issuer

    @property
    def misfit(self) -> FoundPackage | None:
        """A copy of the run's package that is locked, and whose program is of another platform; None without one."""
        locked = (one for one in self.places.packages if one.misfit and one.hashes & self.locked)
        return next((one for one in locked if self.platform in {"", one.platform}), None)

    @cached_property
    def packed(self) -> frozenset[str]:
        """The locked `zh` of packages: registry manifests are left out, the release's own too."""
        sums = self.today.checksums
        return packages_of(self.locked) - (sums.manifests if sums is not None else frozenset())

    @cached_property
    def unpacked(self) -> frozenset[str]:
        """The locked `h1`."""
        return hashes_of_files(self.locked)

    @cached_property
    def stale(self) -> frozenset[str]:
        """Locked `zh` that the release does not have today; empty if unknown."""
        return self.packed - self.today.listed if self.today.is_known else frozenset()

    @property
    def is_absent(self) -> bool:
        """True if the registry's answer about the package of the failing run, or that of its host, is a 404 now."""
        return self.today.offered is not None and self.today.offered.is_absent and self.platform != ""

    @cached_property
    def is_left_out(self) -> bool:
        """True if the registry does not offer the failing platform: its list leaves it out, or its answer is a 404."""
        return self.is_absent or (self.listed_platforms != () and self.platform not in self.listed_platforms)

    @cached_property
    def listed_platforms(self) -> tuple[str, ...]:
        """The platforms that the registry lists for the version of the failing run; () if unknown."""
        listed = self.today.listing.versions if self.today.listing is not None and self.today.listing.is_known else ()
        entry = self.entry or self.selected
        failed = self.message.version or (str(entry.version) if entry is not None else "")
        return next((tuple(map(str, one.platforms)) for one in listed if str(one.version) == failed), ())

    @cached_property
    def computed(self) -> Mapping[str, str]:
        """The `h1` of each platform's package that was hashed here, and whose `zh` is vouched for or locked."""
        if self.today.case is None:
            return {}
        known = self.today.case.hashed
        hashed = {platform: min(known[zh]) for platform, zh in self.today.platforms.items() if known.get(zh)}
        genuine = self.today.listed or self.packed
        signed = (one for one in self.places.packages if one.platform and one.of_files and one.zh in genuine)
        return {**{one.platform: one.shown_hash for one in signed}, **hashed}

    @cached_property
    def expected(self) -> Mapping[str, str]:
        """The `h1` of each platform's package: those in `computed`, else as the registry reports it, unsigned."""
        reported = self.today.case.new.reported if self.today.case is not None else {}
        return {**{str(platform): h1 for h1, platform in reported.items()}, **self.computed}

    def is_reported(self, platform: str) -> bool:
        """True if OpenTofu locks the `h1` of a platform as its registry reports it, without the package."""
        case = self.today.case
        reported = map(str, case.new.reported.values()) if case is not None and self.tool is OPENTOFU else ()
        return platform in reported and platform not in self.computed

    @cached_property
    def attributed(self) -> Mapping[str, str]:
        """The platform of each locked `h1`, as far as it is known."""
        known = {h1: platform for platform, h1 in self.expected.items() if h1 in self.unpacked}
        named = (one for one in self.places.packages if one.platform)
        on_disk = {text: one.platform for one in named for text in one.of_files & self.unpacked}
        return {**on_disk, **known}

    @property
    def has_h1(self) -> bool:
        """True if an `h1` of the failing run's platform is locked."""
        return self.platform != "" and self.platform in self.attributed.values()

    def _may_lack_h1(self, platform: str) -> bool:
        """True if a locked `zh` is that of a platform's package, as far as is known, and each `h1` may be of others."""
        if not platform or platform in self.attributed.values():
            return False
        is_locked = self.today.platforms.get(platform) in self.packed if self.today.is_known else bool(self.packed)
        return is_locked and len(self.unpacked) < (len(self.today.platforms) or len(self.packed))

    @property
    def folders_without_h1(self) -> tuple[FoundPackage, ...]:
        """The installed folder and the plugin cache's that have no locked hash, where the entry may lack their `h1`."""
        row = BY_KIND.get(self.message.kind)
        if row is not None and CauseId.H1_MISSING not in row.causes:  # the message is of no hash of a folder
            return ()
        found = (one for one in self.of_kind("installed", "plugin-cache") if one.is_of_root or one.kind != "installed")
        return tuple(
            one
            for one in found
            if one.of_files
            and not one.lacks_program
            and not one.hashes & self.locked
            and self._may_lack_h1(one.platform or self.platform_on_disk)
        )

    def is_told_by_download(self, platform: str) -> bool:
        """True if downloads tell the `h1` of a platform's package: they end once each locked `h1` has its package."""
        is_there = platform in self.today.platforms and platform not in self.computed and not self.today.is_offline
        return is_there and not self.unpacked <= set(self.expected.values())

    @property
    def sums(self) -> str:
        """The name of the release's list of hashes; it is called signed unless it is known and was not."""
        return f"the {'signed ' if self.today.is_signed else ''}SHA256SUMS of {self.release}"

    @property
    def why_unknown(self) -> str:
        """The missing fact about the release, and the way to it."""
        trouble, judged = self.today.trouble, self.today.authentication
        reason = f" ({judged.refusal})" if judged is not None and judged.refusal is not None else ""
        reason = f" ({trouble.words})" if trouble is not None and trouble.was_asked else reason
        if self.is_of_other_version:
            return f"the signed SHA256SUMS of {self.failing_release}, which is not locked here"
        if self.today.is_offline:
            return f"{self.sums}: run without --offline"
        if trouble is not None and trouble.is_unvouched and self.address is not None:
            host = self.address.host
            return f"{self.sums}: --ask-host {host} asks that host, which only files of the repository name"
        hint = trouble.hint if trouble is not None else ""
        return f"{self.sums}{reason}{': ' if hint else ''}{hint}"

    def of_kind(self, *kinds: str) -> tuple[FoundPackage, ...]:
        """Return packages of some places that the failing run may have installed, by their platform."""
        return tuple(one for one in self.places.packages if one.kind in kinds and self.can_be_installed(one))

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

    @cached_property
    def origins(self) -> Origins:
        """Where the locked hashes come from, as far as files, git and the registry tell."""
        return Origins(
            self.entry,
            self.history.states,
            self.history.elsewhere,
            self.others,
            self.history.written,
            self.history.merge,
            packages=tuple(filter(self.can_be_installed, self.places.packages)),
            packed=self.packed,
            listed=self.today.listed,
            is_known=self.today.is_known,
            elsewhere=self.today.elsewhere,
        )
