"""The fixes of each cause: how a command line or a write of locklens ends it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import twin_of
from locklens.doctor import is_for_twin, locked_states, taken_over
from locklens.doctor.affected import excluding
from locklens.doctor.fixed import new_requirements
from locklens.doctor.model import CauseId, CauseVerdict, Remedy, TrustCost
from locklens.doctor.network_remedies import fix_by_retry, fix_package
from locklens.doctor.past_remedies import changes_since, earlier, fitting_past, moved_file, restored, restored_file
from locklens.doctor.provider_remedies import fix_source
from locklens.doctor.reasons import NetworkReason
from locklens.doctor.run_remedies import run_again
from locklens.doctor.version_remedies import (
    fix_constraint,
    latest_of,
    listed_versions,
    upgrade,
    with_another_version,
    with_older_version,
    with_other_constraints,
    with_version,
)
from locklens.lockfile.update import migrated
from locklens.project.configuration import is_source_implied
from locklens.project.installation import MethodKind
from locklens.selection.choosing import conflicts
from locklens.text import clauses, counted, listing
from locklens.trust.authentication import Refusal
from locklens.versions import newest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined

_C = CauseId
_NONE, _LOW, _HIGH = TrustCost.NONE, TrustCost.LOW, TrustCost.HIGH

LOCKING = frozenset({"change-constraint", "lock", "restore-entry", "upgrade"})
"""Fixes whose commands write entries, and remove none."""


def fix_platform(one: Affected) -> Iterator[Remedy]:
    """The platform's hashes are added from the signed package, or the commit that had them is restored.

    No hash helps where what was asked has no package of the platform: it may have one later, or of another version.
    """
    x, platform = one.examined, one.platform
    is_asked_for = "is not available for" in x.message.words
    if is_asked_for:
        command = "mirror" if "failed to download" in x.message.words else "lock"
        title = f"Leave -platform={x.message.platform} out of providers {command}, where no root runs on it"
        yield one.alone.remedy("leave-out", title, _NONE, 0, "")
    if x.entry is None:
        if platform and x.today.platforms and platform not in x.today.platforms:
            listed = listed_versions(x, platform) or ()
            best = newest(version for version in listed if x.constraints.admits(version))
            if best is not None:
                yield with_version(one, best, f"it has a package of {platform}")
            else:
                yield from list(with_other_constraints(one.alone, latest_of(listed))) or [_elsewhere(one)]
        return
    if x.message.kind == "lock-incomplete":
        yield _with_other_platforms(one)
        return
    if platform and x.today.platforms and platform not in x.today.platforms:
        offered = list(upgrade(one, f"Upgrade {x.name}: a newer version has a package of {platform}", platform))
        yield from offered
        if not offered and not is_asked_for:
            yield _elsewhere(one)
        return
    if x.message.kind == "platform-unavailable":
        if not (is_asked_for or x.is_absent):
            yield from fix_by_retry(one)  # init did not come to the locked hashes
        yield from upgrade(one, f"Upgrade {x.name}: another version may have a package of {platform}", platform)
        return
    locked = list(_with_platform(one)) if not x.stale else []  # else the release lacks a zh, and lock adds nothing
    restored_ones = list(earlier(one))
    # A commit is there, and the registry of lock does not answer.
    is_down = x.today.trouble is not None and x.today.trouble.was_asked
    yield from (*restored_ones, *locked) if is_down else (*locked, *restored_ones)


def _elsewhere(one: Affected) -> Remedy:
    """Return the remedy for a platform that no version is known to have a package of."""
    x, platform = one.examined, one.platform
    listed = x.today.listing.versions if x.today.listing is not None else ()
    is_known = bool(listed) and all(each.platforms for each in listed)
    if is_known and not listed_versions(x, platform):
        note = f"none of the {len(listed)} listed versions of {x.name} has a package of {platform}"
        if len(listed) == 1:
            note = f"{listed[0].version}, the only listed version of {x.name}, has no package of {platform}"
    else:
        note = f"no listed version of {x.name} that the constraints allow is known to have a package of {platform}"
    title = f"Run init on a platform that has a package, or ask the publisher for one of {platform}"
    return one.alone.remedy("other-platform", title, _NONE, 0, "", note)


def _with_platform(one: Affected) -> Iterator[Remedy]:
    """The platform's hashes are added."""
    x = one.examined
    platform = one.platform
    title = f"Add the hashes of {platform or 'the platform'} to the lock file"
    assumed = f"that the failing run was on {platform} is assumed" if platform and not x.platform else ""
    if x.is_of_mirror_alone:
        command = one.line("lock", *one.mirror_words, "--platform", platform or "OS_ARCH", x.name)
        yield from _locked_from_mirror(one, "lock-platform", title, command, assumed)
        return
    missing = frozenset(name for name, zh in x.today.platforms.items() if zh not in x.packed)
    more, words = len(missing - {platform}), ""
    is_untold = platform not in {"", *x.expected} and len(x.attributed) < len(x.unpacked)
    if is_untold and x.today.platforms.get(platform) in x.packed:
        words = f"it changes nothing where the h1 of {platform} is locked already"
    # Of an unknown list it is unknown, too, how much of it is locked.
    is_new, is_reported = bool(missing) or not x.today.platforms, x.is_reported(platform)
    write, cost = one.write("lock", platforms=(platform or "OS_ARCH",)), _LOW if is_new or is_reported else _NONE
    title = f"{title}, {'as the registry reports them' if is_reported else 'from the signed package'}"
    found = one.written("lock-platform", title, cost, one.size_of(platform), write, assumed, words)
    is_warned = more > 0 and bool(x.packed)  # a first list adds to none
    yield replace(found, write=write if platform else None, more=more, is_warned=is_warned)


def words_of_compared(remedy: Remedy, group: Sequence[Affected]) -> str:
    """Return that a suspected copy can be judged after a remedy that fetches its package; "" where none is."""
    is_suspected = any(cause.place and cause.is_probable for one in group for cause in one.causes)
    is_fetched = remedy.id == "lock-platform" and remedy.write is not None and is_suspected
    words = "it fetches the signed package, with which a new diagnosis of the log compares the copy"
    return words if is_fetched else ""


def words_of_more(remedy: Remedy) -> str:
    """Return what a remedy locks beside the packages of the platform, in a clause; "" for nothing."""
    if not remedy.more:
        return ""
    several = remedy.write is not None and len(remedy.write.providers) > 1
    lists, them = ("lists", "them") if several else ("list", "it")
    number, verb = counted(remedy.more, "more package"), "is" if remedy.more == 1 else "are"
    warns = ": its Preview warns (LK001)" if remedy.is_warned else ""
    return f"{number} of the signed {lists} {verb} locked with {them}{warns}"


def _with_other_platforms(one: Affected) -> Remedy:
    """Return the remedy that adds the hashes of other platforms: those that the mirror has, where no registry has any.

    OS_ARCH stands for one where nothing tells it.
    """
    x = one.examined
    copies = (copy for copy in x.places.packages if copy.kind == "mirror" and not copy.of_files & x.unpacked)
    there = sorted({copy.platform for copy in copies if copy.platform} - {x.platform})
    missing = there or ["OS_ARCH"]
    words = [word for platform in missing for word in ("--platform", platform)]
    command = one.line("lock", *one.mirror_words, *words, x.name)
    note = "" if there else "OS_ARCH stands for each other platform that init runs on, such as darwin_arm64"
    cost, source = _LOW, "from the signed packages"
    if x.is_of_mirror_alone:
        cost, source = _HIGH, "from the mirror"
        note = clauses("no registry has signed them: compare them with their publisher", note)
    title = f"Add the hashes of {listing(there) if there else 'the other platforms'} to the lock file, {source}"
    return one.remedy("lock-platform", title, cost, None, command, note, one.then_commit)


def _locked_from_mirror(one: Affected, remedy: str, title: str, command: str, note: str = "") -> Iterator[Remedy]:
    """The hashes of a mirror's package, which nothing signs; not offered where the mirror is here and lacks it."""
    x = one.examined
    copies = [copy for copy in x.places.packages if copy.kind == "mirror" and copy.platform == one.platform]
    if one.platform and x.entry is not None and not copies and not x.places.servers:
        return
    is_known = any(copy.hashes & x.locked for copy in copies)
    if not is_known and any(cause.id is _C.MIRROR_DIFFERS and cause.is_probable for cause in one.causes):
        return  # what is suspected to be altered is not locked, and nothing vouches for it
    words = "its zip file is locked already" if is_known else "no registry has signed it: compare it with its publisher"
    cost = _NONE if is_known else _HIGH
    size = 0 if MethodKind.FILESYSTEM.option in one.mirror_words else None
    yield one.remedy(remedy, f"{title}, from the mirror", cost, size, command, words, note, one.then_commit)


def fix_republished(one: Affected) -> Iterator[Remedy]:
    """Another version, or the package of today once it is trusted."""
    x = one.examined
    if x.met_release and not x.stale:  # today's release is the locked one
        yield run_again(one)
        return
    if x.origins.before_edit is not None and x.today.is_known:
        yield from restored(one, x.origins.before_edit)
    yield from upgrade(one, f"Upgrade {x.name}: another version comes with its own hashes")
    if not any(cause.id is _C.REPUBLISHED and cause.verdict is CauseVerdict.YES for cause in one.causes):
        return  # Nobody should trust unverified code for a guess.
    note = "only after the publisher has confirmed it elsewhere; both the old and the new package will then be accepted"
    title = "Accept the package that was published again"
    write = one.write("lock", platforms=(x.platform,) if x.platform else (), accepts_republished=True)
    yield one.written("accept-republished", title, _HIGH, one.size_of(x.platform), write, note)


def fix_version(one: Affected) -> Iterator[Remedy]:
    """For a release that cannot be installed: each root with the entry needs another version."""
    x = one.examined
    if x.message.reason is NetworkReason.ABSENT or x.message.kind == "sums-without-package":
        if not x.is_absent:
            yield from fix_by_retry(one)
        if x.platform and x.today.offered is not None and not x.today.offered.problem:
            return  # the file is there now
    elif x.message.kind == "version-gone" and x.entry is not None and x.entry.version in (listed_versions(x) or ()):
        yield run_again(one)
    words = "whether the host has the package of that version was not asked"
    title = f"Upgrade {x.name} to another version that is listed"
    is_locked = x.entry is not None and not x.is_of_other_version
    for other in upgrade(one, title) if is_locked else with_another_version(one.alone):
        is_open = x.message.reason is NetworkReason.ABSENT and other.id == "upgrade"
        yield replace(other, note=clauses(other.note, words)) if is_open else other


def fix_signature(one: Affected) -> Iterator[Remedy]:
    """For a release whose signature is refused: a version with another one; a bad one is reported first."""
    if one.examined.message.is_of_bad_signature:
        yield from fix_package(one)
    if one.examined.today.objection and one.examined.error is None:
        yield _compared_key(one)
        return
    judged, neighbour = one.examined.today.authentication, one.examined.today.neighbour
    is_of_age = one.examined.is_expiry_refused
    is_signed = judged is not None and judged.signed_by is not None and judged.refusal is None
    if one.examined.error is not None and is_signed and not is_of_age:
        yield run_again(one)  # it is signed as it should be now
    is_keyless = judged is not None and judged.refusal is Refusal.NO_KEYS
    if is_keyless and (neighbour is None or not neighbour.keys):
        return  # no version is known to have a key, and without one each is refused
    is_revoked = judged is not None and judged.refusal is Refusal.REVOKED_KEY
    title = f"Upgrade {one.examined.name}: {_refused(one.examined)} is refused as long as its signature is not valid"
    if is_revoked:
        title = f"Upgrade {one.examined.name}, once its publisher has signed a version with another key"
    if not one.examined.is_of_other_version:
        unchecked = "the signature of that version was not checked: upgrade refuses one that is not valid"
        found = with_another_version(one) if one.examined.entry is None else upgrade(one, title)
        for other in list(found) or with_older_version(one):
            yield replace(
                other, note=clauses(other.note, unchecked if other.id in {"upgrade", "change-constraint"} else "")
            )
    if is_of_age:
        yield _signed_anew(one)
        yield _without_enforcement(one)


def _compared_key(one: Affected) -> Remedy:
    """Return the remedy for a release of a key that the policy does not pin: a person has to know whose it is."""
    x = one.examined
    title = f"Compare the key of {x.release} with what its publisher announced: pin it, or lock another version"
    note = "the command shows the signers of other versions, and changes nothing"
    return one.alone.remedy("ask-publisher", title, _NONE, 0, "", note, hint=x.shell.command_line("keys", "--history"))


def _signed_anew(one: Affected) -> Remedy:
    """Return the remedy for a release that is refused for the age of its key or signature alone."""
    x = one.examined
    title = f"Ask the publisher of {x.name} to extend the key, or to sign {_refused(x)} again"
    note = f"until the registry has that, {_refused(x)} is refused wherever OPENTOFU_ENFORCE_GPG_EXPIRATION is true"
    return one.alone.remedy("ask-publisher", title, _NONE, None, "", note)


def _without_enforcement(one: Affected) -> Remedy:
    """Return the remedy that lets OpenTofu accept the signature as it does by default, with a warning."""
    title = "Run init without OPENTOFU_ENFORCE_GPG_EXPIRATION, which only warns of the expiry"
    note = "a check that somebody turned on is left out: the signature is good otherwise, and the key is not revoked"
    command = f"env -u OPENTOFU_ENFORCE_GPG_EXPIRATION {one.next_step}"
    cost = _NONE if one.examined.locked else _LOW
    return one.alone.remedy("accept-expired", title, cost, None, command, note)


def _refused(x: Examined) -> str:
    """Return the version that the message is about, else the locked one."""
    return x.message.version or (str(x.entry.version) if x.entry is not None else "its version")


def fix_unlocked(one: Affected) -> Iterator[Remedy]:
    """The provider is locked, unless its constraints exclude one another: no version of it can be."""
    x = one.examined
    if x.history.had_no_file:
        yield _given_file(one)
        return
    if conflicts(x.required):
        return
    if x.message.kind == "provider-not-available" and not x.lock.exists and not x.history.states:
        title = "Run init before the command that failed: the folder has no lock file"
        note = "a job needs it on each checkout; a lock file that is committed keeps what init selects"
        yield one.alone.remedy("init", title, _LOW, None, one.locking_line, note)
    if x.is_unrequired:
        title = f"Check out the commit of the failing run, and lock {x.name} in its root"
        yield one.remedy("lock", title, _LOW, None, "", f"nothing in {x.where} requires it")
        return
    if x.history.left is not None and x.constraints.admits(x.history.left.entry.version):
        yield moved_file(x, x.history.left)
    entries = [entry for _, entry in locked_states(x.history.before_loss)]
    was = next((entry for entry in entries if entry.address == x.address), None)
    if was is not None and not x.lock.exists and x.constraints.admits(was.version):
        refused = list(excluding(x, entries))
        whole = restored_file(x, x.history.readable_commit)
        committed = "" if x.is_deleted_here else one.then_commit
        yield replace(whole, note=clauses(committed, *refused), is_partial=bool(refused))
    elif x.lock.exists and not x.fitting:
        if x.history.whole_commit:  # else the entries that nothing requires are left, too
            whole = restored_file(x, x.history.whole_commit)
            committed = one.then_commit if x.history.states[0].entry is None else ""
            yield replace(whole, note=clauses(whole.note, committed), is_of_all=True)
        if (past := fitting_past(x, x.history.states[:2])) is not None:
            yield from restored(one, past)
    if any(each.id in _OF_SELECTED and each.verdict is CauseVerdict.YES for each in one.causes):
        return  # lock selects the same version, and fails
    if x.address is not None and x.configuration.is_of_init(x.address):
        title = f"Lock {x.name} with init: only the state or test files require it, which lock does not read"
        yield one.remedy("init", title, _LOW, None, one.line("init"), one.then_commit)
        return
    if x.is_left_to_state:
        title = f"Lock {x.name} with init, which reads the state: lock does not, and nothing else here requires it"
        unread = f"{x.unknown_need}; if init locks nothing, check out the commit of the failing run"
        yield one.alone.remedy("init", title, _LOW, None, one.locking_line, unread, one.then_commit)
        return
    if x.is_of_mirror_alone:
        words = ["--platform", x.platform] if x.platform else []
        command = one.line("lock", *one.mirror_words, *words, x.name)
        yield from _locked_from_mirror(one, "lock", f"Lock {x.name}", command)
        return
    taken = taken_over(x.address, x.lock, x.tool)
    if taken is not None and not x.constraints.admits(taken.version):  # lock takes its version over, too
        yield from fix_constraint(replace(one, examined=replace(x, entry=taken)))
        return
    if x.today.is_denied and x.address is not None and x.address.host == x.tool.default_host:  # others may want a token
        yield from fix_source(one)
        return
    implied = f"where the registry has no {x.address}, required_providers has to name its source"
    platforms, of_platforms = _platforms_to_name(x)
    write = one.write("lock", platforms=platforms)
    newest_ones = "" if x.lock.exists or not entries else _NEWEST
    implied = implied if is_source_implied(x.required) else ""
    yield one.written("lock", lock_title([x.name]), _LOW, None, write, of_platforms, newest_ones, implied)


def _platforms_to_name(x: Examined) -> tuple[tuple[str, ...], str]:
    """Return the platforms that the command has to name to lock a provider, and in a clause which are locked, and why.

    `lock` adds those that the policy requires, else this machine's, where none is named; and nothing at all where the
    release has no package of one of them.
    """
    required = x.policy_platforms
    if not required:
        return ((x.platform,), "") if x.platform else ((), f"for this machine's platform, {x.places.machine}")
    of_release = _platforms_of_newest(x)
    lacking = [each for each in required if of_release and each not in of_release]
    if not lacking and x.platform in {"", *required}:
        return (), f"for {listing(required)}, which the policy requires"
    platforms = dict.fromkeys(each for each in (x.platform, *required) if each and each not in lacking)
    words = f"for {x.platform}, and for {listing(required)}, which the policy requires"
    if lacking:
        words = f"the policy requires {listing(lacking)}, too, and the newest version has no package of it"
    return tuple(platforms), words


def _platforms_of_newest(x: Examined) -> frozenset[str]:
    """Return the platforms of the newest version in range, as its registry lists them; none where that is unknown."""
    listed = x.today.listing.versions if x.today.listing is not None else ()
    best = newest(each.version for each in listed if x.constraints.admits(each.version))
    return frozenset(str(platform) for each in listed if each.version == best for platform in each.platforms)


_NEWEST = "it selects the newest version of each in range, which the removed lock file need not have had"


def _given_file(one: Affected) -> Remedy:
    """Return the remedy that gives the lock file to a run that had none: it is committed, or copied with the others."""
    x = one.examined
    file = "its own lock file" if x.fitting else x.lock.path
    if x.history.states and not x.history.is_ignored:
        title = f"Let the job have {file} beside the configuration"
        note = "an image or an artifact of *.tf alone, a .dockerignore, or a sparse checkout leaves it out"
        return Remedy("give-file", title, 1, _NONE, 0, "", note, is_of_all=True)
    note = "then commit it"
    if x.history.is_ignored:
        note = f"{note}, and take out the line that {one.ignoring_line} names"
    return Remedy("commit-file", f"Commit {file}", 1, _NONE, 0, one.add_line, note, is_of_all=True)


_OF_SELECTED = {_C.CONSTRAINT_CONFLICT, _C.PLATFORM_MISSING, _C.KEY_REVOKED, _C.KEY_EXPIRED, _C.KEY_CHANGED}
"""Causes for which the version that init would select cannot be locked."""


def lock_title(names: Sequence[str]) -> str:
    """Return the title of the remedy that locks providers."""
    releases = "its signed release" if len(names) == 1 else "their signed releases"
    return f"Lock {listing(list(names), 3)}, with the hashes of {releases}"


def title_of_several(remedy: Remedy, names: Sequence[str]) -> str:
    """Return the title of a remedy for one provider as it is for several."""
    match remedy.id:
        case "lock":
            return lock_title(names)
        case "prune":
            return _pruned_title(names)
        case "restore-entry" if remedy.write is not None:  # their versions differ
            return f"Restore the entries of commit {remedy.write.revision[:12]}"
        case _:
            return remedy.title.replace("the signed package", "the signed packages")


def pruned_words(remedy: Remedy, group: Sequence[Affected]) -> str:
    """Return what prune removes after a remedy that locks what a read-only lock file lacked; "" for nothing.

    It keeps the entries of which OpenTofu still takes the version over; lock writes all those that it makes of them.
    """
    orphans: set[ProviderAddress] = set()
    for x in (one.examined for one in group):
        if x.message.kind != "readonly-changed" or x.entry is not None or x.configuration.unknown_reason:
            continue
        required, taken = x.configuration.required(), migrated(x.lock.entries, x.tool)
        awaited = {old for old, new in taken.moved if new in required - {one.examined.address for one in group}}
        left = x.lock.by_address.keys() - awaited
        if remedy.id == "lock":
            left = {entry.address for entry in taken.entries}
        if remedy.id == "restore-entry":  # it replaces the entry that one moved to
            left -= {twin_of(one.examined.address) for one in group}
        # Where the log tells what the run searched, nothing else is examined; else most have a fix of their own.
        orphans |= {each for each in left - required if x.searched_by_run or is_for_twin(each, x.lock, x.configuration)}
    line = replace(group[0], roots=tuple(dict.fromkeys(root for one in group for root in one.roots))).line("prune")
    names = listing(list(map(str, sorted(orphans))), 3)
    return f"a read-only init fails until {line} has removed what nothing requires: {names}" if orphans else ""


def lacking_words(remedy: Remedy, group: Sequence[Affected], fixed: Collection[str]) -> str:
    """Return what a read-only lock file lacks after a remedy that writes other entries; "" for nothing.

    `fixed` are the names of the providers that have a fix of their own.
    """
    if remedy.id not in LOCKING:
        return ""
    names = dict[str, None]()
    for one in group:
        x = one.examined
        new = sorted(new_requirements(x) - {x.address}) if one.is_read_only and not x.fitting else []
        names |= dict.fromkeys(name for each in new if (name := each.short(x.tool.default_host)) not in fixed)
    roots = tuple(dict.fromkeys(one.roots[0] for one in group))
    line = replace(group[0], roots=roots).line("lock", *names)
    return f"a read-only init fails until {line} has locked what is required besides" if names else ""


def fix_unrequired(one: Affected) -> Iterator[Remedy]:
    """The entry is removed."""
    title = _pruned_title([one.examined.name])
    yield one.alone.written("prune", title, _NONE, 0, one.alone.write("prune"))


def _pruned_title(names: Sequence[str]) -> str:
    return f"Remove {listing(list(names), 3)} from the lock file, which nothing requires"


def fix_file(one: Affected) -> Iterator[Remedy]:
    """The change that made the file unreadable is shown, or taken back."""
    x = one.examined
    if not x.history.readable_commit:
        return
    command = changes_since(x, x.history.readable_commit)
    title = f"Look at what changed in {x.lock.path} since the last readable commit, and fix that line, by hand"
    yield Remedy("show-change", title, 1, _NONE, 0, "", hint=command)
    whole = restored_file(x, x.history.readable_commit)
    left = list(excluding(x, (one.entry for one in x.history.before_loss if one.entry is not None)))
    yield replace(whole, note="; ".join((whole.note, *left)), is_partial=bool(left))
