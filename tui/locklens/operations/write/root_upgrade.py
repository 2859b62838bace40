"""Plans the upgrade of one root module: versions, edited constraints, entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.diagnostics import Diagnostic
from locklens.errors import ConfigurationError, LockLensError, MissingModulesError, NotFoundError
from locklens.hashes import hashes_of_files, hashes_of_zips, packages_of
from locklens.install.context import LockRequest
from locklens.operations.plan.builder import ScopedPlanBuilder, put_entries, require_sound
from locklens.operations.root_modules import Root, recorded_words
from locklens.operations.write.diagnostics import hint_of_missing_modules
from locklens.operations.write.registry_source import EntryPlatforms, RegistrySource
from locklens.operations.write.root_constraints import RootConstraints
from locklens.policy import Policy
from locklens.review.rules.release import SigningProblem, signed_by, signing_objection
from locklens.review.why import HELD_BACK, held_words, kept_words
from locklens.selection import Hold, Reason, Unselectable
from locklens.selection.choosing import (
    combined,
    explain_selection,
    holds_against,
    newest_of,
    permitted,
    policy_holds,
    select,
)
from locklens.text import counted
from locklens.versions import Constraints, Version, precedence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.lockfile import LockEntry
    from locklens.operations.plan import Scope
    from locklens.releases import ReleaseFacts
    from locklens.sources.metadata import ListedVersion


_MOST_SIGNERS = 8
"""The most older versions whose signers are looked up for one that a pin permits."""

OLDER_ACCEPTED = "selects the newest older version in range that the policy accepts"
"""The hint that `Upgrade` completes by the command for all roots that share it; see `RootUpgrade.accepted`."""

_LOCK_MORE = "L on Hashes, or `locklens lock --platform`, adds others"
_LOCK_SIGNED = "`locklens lock` adds the signed zh of all packages where the registry can be reached"


class SelectedVersion(Struct, frozen=True):
    """A version that was selected for one provider of one root.

    Attributes:
        version: The version; None for the newest that satisfies the constraints and the policy.
        edits: True if constraints excluded it when it was selected, so that they may be rewritten.
    """

    root: str
    address: ProviderAddress
    version: Version | None
    edits: bool = False


class UpgradeRequest(Struct, frozen=True):
    """The providers to upgrade, and the options.

    Attributes:
        providers: Typed names, each with or without `=VERSION`; () for all that are locked and required. One that is
            named and cannot be upgraded is an error.
        platforms: Platforms to lock; () for the required ones and those of each entry.
        edits_constraints: True if constraints may be rewritten.
        allows_missing: True if modules may be missing, whose constraints are then ignored.
        picks: The selected version of each provider of each root, instead of `providers`. The signers of versions that
            are named here are not compared with those of the locked versions; in all other cases they are, and a
            difference is a warning.
        policy: Its cooldown, allow list and pins apply where no version is named, and are warnings of one that is named
            in `providers`; its platforms are locked.
        ignores_cooldown: True if the user said so: releases of any age are selected.
    """

    where: Scope
    providers: tuple[str, ...] = ()
    platforms: tuple[Platform, ...] = ()
    edits_constraints: bool = False
    allows_missing: bool = False
    picks: tuple[SelectedVersion, ...] = ()
    policy: Policy = Policy()
    ignores_cooldown: bool = False

    @property
    def cooldown(self) -> int | None:
        """The minimum age in days of a release that is selected because none is named; None for no cooldown."""
        return None if self.ignores_cooldown else self.policy.cooldown

    def asks_age(self, version: Version | None) -> bool:
        """True if the age of a version counts, None for the newest: one that was picked was shown with its age."""
        return self.cooldown is not None and (version is None or not self.picks)


def require_upgradable(root: Root, *, allows_missing: bool = False) -> None:
    """Refuse a root in which nothing can be upgraded.

    Raises:
        ConfigurationError: Its lock file is absent or broken, or not all of its constraints are known.
    """
    require_sound(root)
    configuration = root.configuration
    for problem in configuration.problems:
        if problem.is_error:
            words = f"{problem.summary}: {problem.detail}" if problem.detail else problem.summary
            raise ConfigurationError(words, path=problem.file, line=problem.line)
    if not configuration.missing_modules or allows_missing:
        return
    module = configuration.missing_modules[0]
    more = len(configuration.missing_modules) - 1
    also = f", and {more} more" if more else ""
    words = f"cannot read module {module.call} ({module.source}){also}: {module.reason}"
    raise MissingModulesError(words, path=module.file, line=module.line, hint=hint_of_missing_modules(root))


class RootUpgrade:
    """Plans the upgrade of one root.

    Attributes:
        priors: The entries whose platforms are kept, by the provider to lock; set by `resolve`.
        requests: The versions to lock; set by `select_platforms`.
        accepted: The older version that a hint names, by the provider as the root names it; set by `resolve`.
    """

    def __init__(self, request: UpgradeRequest, source: RegistrySource, draft: ScopedPlanBuilder, root: Root) -> None:
        self.path = root.path
        self.lock_file = root.lock.path
        self.tool = root.tool
        self.priors: dict[ProviderAddress, LockEntry] = {}
        self.requests: list[LockRequest] = []
        self.accepted: dict[str, Version] = {}
        self._request = request
        self._source = source
        self._draft = draft
        self._root = root
        self._offered: Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError] = {}
        self._ages: Mapping[ProviderAddress, Mapping[Version, int]] = {}
        self._rewriting = RootConstraints(draft, root)
        self._moving: dict[ProviderAddress, Version] = {}
        self._unknown: dict[ProviderAddress, int] = {}
        """Number of old h1 hashes of unknown platforms."""
        self._entries: dict[ProviderAddress, LockEntry | None] = {}
        migration = root.migration
        self._locked = {entry.address: entry for entry in reversed(migration.entries)}
        self._migrated = {new: old for old, new in migration.moved}

    @property
    def has_edits(self) -> bool:
        """True if constraints are rewritten, which other roots may share."""
        return bool(self._rewriting.edits)

    # The phases

    def resolve(self, providers: Mapping[ProviderAddress, Version | None]) -> None:
        """Select versions and edit constraints; None is the newest version that satisfies them.

        Raises:
            ConfigurationError: Nothing can be upgraded in the root.
        """
        require_upgradable(self._root, allows_missing=self._request.allows_missing)
        if missing := self._root.configuration.missing_modules:
            names = ", ".join(module.call for module in missing)
            self._draft.note(self.path, f"constraints of modules that cannot be read are ignored: {names}")
        offered = self._offered = self._source.listed(tuple(providers), self.tool)
        if aging := [address for address, version in providers.items() if self._request.asks_age(version)]:
            self._ages = self._source.ages(aging, self.tool)
        targets: dict[ProviderAddress, Version] = {}
        for address, version in providers.items():
            try:
                target = self._target(address, version, offered[address])
            except LockLensError as error:
                self._draft.fail(self.path, error, address=self._root.name_of(address))
                continue
            if target is not None:
                targets[address] = target
        if self.has_edits:
            self._root = self._rewriting.reread(targets)
        self._split(targets)

    def _split(self, targets: Mapping[ProviderAddress, Version]) -> None:
        """Separate entries that only get new constraints from those to lock."""
        for address, version in targets.items():
            prior = self._locked.get(address)
            if prior is not None and prior.version == version and address not in self._migrated:
                self._entries[address] = replace(prior, constraints=str(self._constraints(address)))
            else:
                self._moving[address] = version
        if not self._request.platforms:
            # An entry that replaces one of another registry keeps its platforms.
            locked = {address: self._locked.get(self._migrated.get(address, address)) for address in self._moving}
            self.priors = {address: prior for address, prior in locked.items() if prior is not None}

    def select_platforms(self, coverage: Mapping[ProviderAddress, EntryPlatforms]) -> None:
        """Make the lock requests: for the platforms of the request, or the required ones and those of the `priors`."""
        options = self._request
        for address, version in self._moving.items():
            known = coverage.get(address, EntryPlatforms(()))
            usual = tuple(dict.fromkeys((*options.policy.required, *known.platforms))) or (self._source.here,)
            platforms = options.platforms or self._available(address, version, usual)
            self._unknown[address] = known.unknown
            prior = self._locked.get(address)
            requirements, policy = self._root.requirements(address), self._request.policy
            self.requests.append(LockRequest(address, version, platforms, requirements, prior, policy=policy))

    def _available(
        self, address: ProviderAddress, version: Version, platforms: tuple[Platform, ...]
    ) -> tuple[Platform, ...]:
        """Return those of some platforms that the registry lists for a version; all of them if it lists none."""
        available = self._listed_platforms(address, version)
        left = tuple(platform for platform in platforms if platform in available)
        if not left or left == platforms:
            return platforms
        lost = ", ".join(str(platform) for platform in platforms if platform not in left)
        mirrored = f"the mirror has no package of {version} for {lost}: the lock file gets no hash of one"
        of_release = f"{version} has no package for {lost}: it cannot be installed there"
        self._warn(address, mirrored if self._source.is_of_mirrors else of_release)
        return left

    def _warn_of_unsigned(self, request: LockRequest, entry: LockEntry) -> bool:
        """Warn of signed hashes for which a mirror has none, and of the platforms that are left; True if there are."""
        address, version = request.address, request.version
        prior = self._locked.get(self._migrated.get(address, address))
        dropped = hashes_of_zips(prior.hashes) if prior is not None else frozenset()
        if not (self._source.is_of_mirrors and packages_of(dropped)) or hashes_of_zips(entry.hashes):
            return False
        lost = f"{counted(len(dropped), 'zh hash', 'zh hashes')} of {counted(len(packages_of(dropped)), 'package')}"
        left = counted(len(hashes_of_files(entry.hashes)), "h1 hash", "h1 hashes")
        names = ", ".join(map(str, request.platforms))
        words = f"{lost} are dropped, as a mirror has no signed list: {version} is locked by {left} alone, for {names}"
        listed = self._listed_platforms(address, version)
        others = ", ".join(str(platform) for platform in listed if platform not in request.platforms)
        if listed:
            words += f"; the mirror has {others}, too" if others else "; the mirror has no package for another platform"
        self._warn(address, words, hint=_LOCK_SIGNED)
        return True

    def _warn_of_fewer(self, request: LockRequest, entry: LockEntry) -> None:
        """Warn of platforms that are no longer locked because others were named, or because they are not known."""
        address, version = request.address, request.version
        prior = self._locked.get(self._migrated.get(address, address))
        before = len(hashes_of_files(prior.hashes)) if prior is not None else 0
        now = len(hashes_of_files(entry.hashes))
        listed, platforms, more = self._listed_platforms(address, version), request.platforms, _LOCK_MORE
        unknown = self._unknown[address]
        if is_whole := 0 < len(listed) <= now:
            of_mirror = f"the mirror has no package of {version}" if self._source.is_of_mirrors else ""
            platforms, more = listed, f"{of_mirror or f'{version} has no package'} for another platform"
        names = ", ".join(map(str, platforms))
        reported = " and others that the registry reports" if now > len(platforms) else ""
        if unknown and not is_whole:
            words = f"the platforms of {counted(unknown, 'old h1 hash', 'old h1 hashes')} are unknown"
            self._warn(address, f"an h1 is locked for {names}{reported or ' only'}: {words}; {more}")
        if (self._request.platforms or (unknown and is_whole)) and now < before:
            words = f"{counted(now, 'h1 hash', 'h1 hashes')} instead of {before}"
            self._warn(address, f"locked for {names}{reported}: {words}; {more}")

    def _listed_platforms(self, address: ProviderAddress, version: Version) -> tuple[Platform, ...]:
        """Return the platforms that the registry lists for a version; () if it lists none."""
        listed = self._offered[address]
        offered = () if isinstance(listed, LockLensError) else listed
        return next((one.platforms for one in offered if one.version == version), ())

    @property
    def signer_comparisons(self) -> list[tuple[ProviderAddress, Version, Version]]:
        """Each provider whose version changes, with the locked and the new version."""
        picks = (pick for pick in self._request.picks if pick.root == self.path)
        selected = {pick.address for pick in picks if pick.version is not None}
        return [
            (request.address, request.prior.version, request.version)
            for request in self.requests
            if request.address not in selected
            and request.prior is not None
            and request.prior.version != request.version
        ]

    def warn_of_signers(self, releases: Mapping[tuple[ProviderAddress, Version], ReleaseFacts | None]) -> None:
        """Warn of each version whose signer a pin refuses, or differs from that of the locked version."""
        for address, locked, version in self.signer_comparisons:
            new = releases[address, version]
            objection = signing_objection(self._request.policy, address, new=new, old=releases[address, locked])
            if objection is None:
                continue
            key = new.authentication.key if new is not None and new.authentication is not None else None
            words = {
                SigningProblem.NOT_PINNED: f"{objection.words} ({objection.place})",
                SigningProblem.NO_LONGER_SIGNED: f"not signed, unlike {locked}",
                SigningProblem.OTHER_KEY: f"signed by {key.fingerprint if key else 'another key'}, "
                f"which is not the key that signed {locked}",
            }[objection.problem]
            self._warn(address, f"{version} is {words}")

    def put(self) -> None:
        """Plan the entries."""
        entries = self._source.locker(self.tool).entries(self.requests)
        for request, entry in zip(self.requests, entries, strict=True):
            address = request.address
            if isinstance(entry, Diagnostic):
                # The summary is `lock`'s own title.
                name = self._root.name_of(address)
                self._draft.diagnostics.append(replace(entry, summary="", address=name, root=self.path))
            else:
                self._entries[address] = replace(entry, constraints=str(self._constraints(address)))
        platforms = {}
        for request in self.requests:
            locked = self._entries.get(request.address)
            if locked is not None:
                platforms[request.address] = request.platforms
                if not self._warn_of_unsigned(request, locked):
                    self._warn_of_fewer(request, locked)
        required = self._root.configuration.required()
        moved = {new: old for new, old in self._migrated.items() if new in self._entries and old not in required}
        put_entries(
            self._draft, self._root, self._entries, edits=self._rewriting.edits, moved=moved, platforms=platforms
        )

    def _constraints(self, address: ProviderAddress) -> Constraints:
        return combined(self._root.requirements(address))

    def _remark(self, address: ProviderAddress, words: str) -> None:
        self._draft.note(self.path, words, address=self._root.name_of(address))

    def _warn(self, address: ProviderAddress, words: str, *, hint: str = "") -> None:
        self._draft.warn(self.path, words, address=self._root.name_of(address), hint=hint)

    # The version

    def _target(
        self, address: ProviderAddress, version: Version | None, offered: Sequence[ListedVersion] | LockLensError
    ) -> Version | None:
        """Return the version to upgrade to, with constraints edited for it; None where nothing changes.

        Raises:
            LockLensError: There is none.
        """
        if isinstance(offered, LockLensError):
            raise offered
        requirements = self._root.requirements(address)
        entry = self._locked.get(address)
        reason = self._root.configuration.unknown_reason
        if recorded := recorded_words(requirements, reason):
            self._remark(address, recorded)
        if not requirements and reason:
            raise ConfigurationError(f"could not determine whether it is required: {reason}", path=self._root.name)
        if not requirements:
            tests = "if tests of another folder require it, name that with --test-directory"
            hint = f"{tests}; else locklens prune {self._root.name_of(address)} removes it" if entry else tests
            raise ConfigurationError("not required by this root", hint=hint)
        if version is not None:
            return self._named_version(address, version, offered)
        locked = entry.version if entry else None
        eligible = permitted(offered, self._held(address, offered), locked)
        if (best := self._newest_by_edit(address, eligible, locked)) is not None:
            self._of_known_age(address, best, offered)
            self._rewriting.edit(address, best)
            return best
        selected = select(requirements, eligible, locked, upgrade=True)
        if isinstance(selected, Unselectable):
            of_all = select(requirements, offered, locked, upgrade=True)
            if not isinstance(of_all, Unselectable):
                raise _all_held(of_all.version, self._held(address, offered)[of_all.version])
            raise _unselectable(selected, address, self._root)
        if selected.version == locked and address not in self._migrated:
            self._remark(address, self._why_not_newer(address, offered))
            self._warn_of_locked(address, selected.version, offered)
            return None
        if self._is_held_by_pin(address, selected.version, offered):
            self._note_held(address, selected.version, offered)
            return None
        return self._of_known_age(address, selected.version, offered)

    def _newest_by_edit(
        self, address: ProviderAddress, eligible: Sequence[ListedVersion], locked: Version | None
    ) -> Version | None:
        """Return the newest release, if constraints may be edited for it; None where it is in range or not newer.

        Where a pin or a constraint holds it back, that is a warning, and what is in range counts.
        """
        if not self._may_edit(address):
            return None
        requirements = self._root.requirements(address)
        usable = [listed for listed in eligible if listed.has_supported_protocol]
        best = newest_of(requirements, usable, locked).overall
        if best is None or combined(requirements).admits(best) or (locked is not None and best.compare(locked) <= 0):
            return None
        if words := self._pin_words(address, best):
            self._warn(address, f"{best} is held back by a pin: {words}")
        elif words := self._rewriting.objection(address, best):
            self._warn(address, f"{best} is {HELD_BACK} {words}")
        return None if words else best

    def _can_select(self, address: ProviderAddress, version: Version) -> bool:
        """True if constraints admit a version, or may be edited for it although it was not named."""
        if self._constraints(address).admits(version):
            return True
        return self._may_edit(address) and not version.prerelease and not self._rewriting.objection(address, version)

    def _held(self, address: ProviderAddress, offered: Sequence[ListedVersion]) -> Mapping[Version, tuple[Hold, ...]]:
        return policy_holds(self._request.policy, address, offered, self._ages.get(address, {}))

    def _of_known_age(self, address: ProviderAddress, version: Version, offered: Sequence[ListedVersion]) -> Version:
        """Return a selected version; warn of its age, and note a newer one that the policy alone holds back."""
        if address in self._ages:
            self._warn_of_age(address, version)
        self._note_held(address, version, offered)
        return version

    def _note_held(self, address: ProviderAddress, version: Version, offered: Sequence[ListedVersion]) -> None:
        """Note the newest version above one that the policy alone holds back; a pin may refuse that as well."""
        held = self._held(address, offered)
        newer = sorted((one for one in held if one.compare(version) > 0), key=precedence, reverse=True)
        if best := next((one for one in newer if self._can_select(address, one)), None):
            is_young = any(hold.reason is Reason.COOLDOWN for hold in held[best])
            refused = self._pin_words(address, best)
            way_on = f"; a pin refuses it, too: {refused}" if refused else ""
            way_on = "; --ignore-cooldown selects it" if is_young and not refused else way_on
            self._remark(address, f"{best} is {held_words(held[best])}{way_on}")

    def _warn_of_age(self, address: ProviderAddress, version: Version) -> None:
        """Warn of a version that is within the cooldown, because it was named, or of unknown age."""
        ages, cooldown = self._ages[address], self._request.cooldown or 0
        if version not in ages:
            self._warn(address, f"release date of {version} unknown: the {cooldown}-day cooldown cannot be checked")
        elif ages[version] < cooldown:
            days = counted(ages[version], "day")
            self._warn(address, f"{version} is {days} old, and the cooldown is {counted(cooldown, 'day')} (LK014)")

    def _is_held_by_pin(self, address: ProviderAddress, version: Version, offered: Sequence[ListedVersion]) -> bool:
        """True if the policy does not pin the key that signs a version; warn of it, and name an older release."""
        if words := self._pin_words(address, version):
            entry = self._locked.get(address)
            locked = entry.version if entry is not None else None
            hint = self._hint_of_accepted(address, offered, below=version, above=locked)
            self._warn(address, f"{version} is held back by a pin: {words}", hint=hint)
        return bool(words)

    def _pin_words(self, address: ProviderAddress, version: Version) -> str:
        """What a pin of the policy has against the key that signs a version; "" for nothing."""
        policy = self._request.policy
        release = self._source.release(address, version, self.tool) if policy.pin(address) is not None else None
        objection = signing_objection(policy, address, new=release)
        return objection.cited if objection is not None else ""

    def _warn_of_locked(self, address: ProviderAddress, locked: Version, offered: Sequence[ListedVersion]) -> None:
        """Warn of a version that stays locked although the policy refuses it, and name one that it accepts."""
        is_allowed = self._request.policy.allows(address, locked)
        words = self._pin_words(address, locked) if is_allowed else "not on the allow list of the policy (LK022)"
        if words:
            hint = self._hint_of_accepted(address, offered, below=locked)
            self._warn(address, f"the locked {locked} is {words}", hint=hint)

    def _hint_of_accepted(
        self,
        address: ProviderAddress,
        offered: Sequence[ListedVersion],
        *,
        below: Version,
        above: Version | None = None,
    ) -> str:
        """The hint of the newest older version in range that the policy accepts; "" if none is known."""
        policy, held, constraints = self._request.policy, self._held(address, offered), self._constraints(address)
        usable = (one.version for one in offered if one.has_supported_protocol and one.version not in held)
        older = (one for one in usable if one.compare(below) < 0 and (above is None or one.compare(above) > 0))
        accepted = sorted(filter(constraints.admits, older), key=precedence, reverse=True)
        if policy.pin(address) is not None:
            releases = self._source.releases([(address, one) for one in accepted[:_MOST_SIGNERS]], self.tool)
            accepted = [one for (_, one), release in releases.items() if _is_pinned(policy, address, release)]
        if not accepted:
            return ""
        self.accepted[self._root.name_of(address)] = accepted[0]
        return OLDER_ACCEPTED

    def _named_version(
        self, address: ProviderAddress, version: Version, offered: Sequence[ListedVersion]
    ) -> Version | None:
        requirements = self._root.requirements(address)
        entry = self._locked.get(address)
        if all(listed.version != version for listed in offered):
            best = newest_of(requirements, offered, None).overall
            hint = f"the newest is {best}" if best else ""
            raise NotFoundError(f"version {version} is not offered", address=str(address), hint=hint)
        if not combined(requirements).admits(version):
            excluding = [str(hold) for hold in holds_against(version, requirements) if hold.demand is not None]
            if excluding and not self._may_edit(address):
                hint = self._rewriting.objection(address, version)
                again = "it was selected without an edit: select it again on Upgrade"
                hint = hint or (again if self._request.picks else "--edit-constraints rewrites the constraint in place")
                raise ConfigurationError(f"{version} does not satisfy {'; '.join(excluding)}", hint=hint)
            self._rewriting.edit(address, version)
        elif entry is not None and entry.version == version and address not in self._migrated:
            is_recorded = entry.constraints == str(combined(requirements))
            if is_recorded or self._root.configuration.unknown_constraints:
                self._remark(address, f"already locked at {version}")
                return None
            self._remark(address, f"already locked at {version}: its constraints are recorded, as init does")
            return version
        if address in self._ages:
            self._warn_of_age(address, version)
        if not self._request.picks and not self._request.policy.allows(address, version):
            self._warn(address, f"{version} is not on the allow list of the policy (LK022)")
        if not self._request.picks and entry is None and (words := self._pin_words(address, version)):
            self._warn(address, f"{version} is {words}")  # Of a locked one, the signers are compared.
        return version

    def _may_edit(self, address: ProviderAddress) -> bool:
        """True if constraints on a provider may be rewritten: of all providers, or of the picks that say so."""
        own = (pick for pick in self._request.picks if (pick.root, pick.address) == (self.path, address))
        return any(pick.edits for pick in own) if self._request.picks else self._request.edits_constraints

    def _why_not_newer(self, address: ProviderAddress, offered: Sequence[ListedVersion]) -> str:
        entry = self._locked[address]
        requirements = self._root.requirements(address)
        explained = explain_selection(
            address,
            requirements,
            entry,
            offered,
            platforms=self._request.platforms,
            by_policy=self._held(address, offered),
        )
        return kept_words(entry.version, explained.offer.newer if explained.offer else ())


def _is_pinned(policy: Policy, address: ProviderAddress, release: ReleaseFacts | None) -> bool:
    """True if a release is known to be signed by a key that the policy pins."""
    is_signed = release is not None and bool(signed_by(release))
    return is_signed and signing_objection(policy, address, new=release) is None


def _unselectable(selection: Unselectable, address: ProviderAddress, root: Root) -> ConfigurationError:
    conflict = "; ".join(" against ".join(map(str, demands)) for demands in selection.conflicts[:1])
    nearest = "; ".join(f"{held.newest}, held back by {', '.join(map(str, held.holds))}" for held in selection.held[:2])
    hint = f"conflicting constraints: {conflict}" if conflict else nearest and f"nearest: {nearest}"
    return ConfigurationError(selection.words(address, root.tool), hint=hint)


def _all_held(best: Version, holds: Sequence[Hold]) -> ConfigurationError:
    """The error where the policy holds back every version in range; the newest of them stands for all."""
    is_young = any(hold.reason is Reason.COOLDOWN for hold in holds)
    way_on = "--ignore-cooldown selects it" if is_young else "locklens policy show lists its rules"
    words = f"the policy holds every version in range back; the newest, {best}, is {held_words(holds)}"
    return ConfigurationError(words, hint=f"{way_on}; or name a version")
