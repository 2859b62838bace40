"""Whether what is known makes the error of a log one of the past. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import twin_of
from locklens.doctor import locked_states
from locklens.doctor.arrivals import (
    assumed_words,
    came_words,
    exchanged_words,
    filled_words,
    installed_words,
    is_of_run,
    of_other_machine,
)
from locklens.doctor.entry_since import (
    accepts_release,
    again_of_commit,
    again_words,
    before_cover,
    blocking_rule,
    cover_since,
    covers,
    has_more,
    is_folder_or_file,
    is_restored,
    more_words,
    newest_without,
)
from locklens.doctor.messages import MODULE_MISSING, OF_LACKING, OF_VERSIONS
from locklens.doctor.model import Basis, CauseVerdict, PackagePath
from locklens.hashes import hashes_of_files, packages_of
from locklens.lockfile import pinned
from locklens.lockfile.update import migrated
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.addresses import ProviderAddress
    from locklens.doctor import PastEntry
    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Cause
    from locklens.lockfile import LockEntry

OF_ENTRIES = frozenset(
    {"local-package", "current-package", "package-mismatch", "shared-cache", "cached-package", "cached-modified",
     "plugin-missing", "version-gone"}
)  # fmt: skip
"""Errors of the version that is locked; others may name one that was about to be."""


OF_RELEASES = frozenset(
    {"archive-checksum", "mirror-checksum", "sums-without-package", "sums-differ", "unknown-issuer", "bad-signature",
     "broken-key", "not-signed", "registry-hashes", "package-size", "package-damaged", "platform-unavailable"}
)  # fmt: skip
"""Errors of a release, which was locked if an earlier commit locks it."""


OF_HASHES = frozenset({"local-package", "current-package", "package-mismatch", "shared-cache", "cached-package"})
"""Errors of a package that has none of the locked hashes."""


OF_REQUIREMENTS = OF_LACKING | {"provider-unknown", "no-matching-release", "registry-unreachable", "discovery-invalid"}
"""Errors of a provider that a root requires, and need not have locked, or of the host of its registry."""


def fixed_words(x: Examined, causes: Sequence[Cause]) -> str:
    """Return what has changed since the error, in a clause; "" where it is still to be expected, or nothing tells.

    The causes are as they are judged now.
    """
    if x.error is None or not x.is_of_root or x.lock.conflict is not None or x.lock.problems:
        return ""
    kind, entry = x.message.kind, x.entry
    is_ended = kind in OF_REQUIREMENTS or (kind == "readonly-changed" and _is_exact(x))
    if is_ended and entry is None and x.history.was_required:
        twin = twin_of(x.address)
        name = x.address if twin is not None and x.configuration.of(twin) else x.name
        return f"nothing in {x.where} requires {name} any more"
    is_of_cache = kind == "cached-modified" and x.incident.path is PackagePath.PLUGIN_CACHE  # which all roots share
    if x.fitting and not (x.history.is_written or is_of_cache or kind == "readonly-changed"):
        return _of_any_root(x, causes)  # else, of a root that nobody names, nothing is known to be fixed
    if kind == MODULE_MISSING and x.history.was_required:
        return f"{x.own_root} no longer calls module {x.message.call}"
    if kind == MODULE_MISSING:
        return installed_words(x) if is_of_run(x) else ""
    if kind == "lock-invalid":
        return _readable_words(x) if x.history.is_repaired else ""
    if kind == "readonly-changed":
        return _agreed(x)
    if x.is_of_twin and kind in OF_HASHES:
        return f"{x.lock.path} no longer has {x.message.provider}, which commit {x.history.tool_commit[:12]} locks"
    if kind == "provider-unknown":
        return ""
    if kind == "no-matching-release":
        return _listed_words(x) or filled_words(x)
    return _removed_words(x) if entry is None else _of_entry(x, entry, causes)


def _removed_words(x: Examined) -> str:
    """Return that a lock file no longer has the version which failed."""
    was = next((one for _, one in locked_states(x.history.states)), None)
    is_gone = was is not None and str(was.version) == x.message.version
    is_gone = is_gone and x.message.kind in OF_ENTRIES and x.locked_twin is None
    return f"{x.lock.path} no longer has {x.name} {x.message.version}" if is_gone else ""


def _of_entry(x: Examined, entry: LockEntry, causes: Sequence[Cause]) -> str:
    """Return what has changed for a locked provider, by the kind of its error."""
    kind = x.message.kind
    if kind in OF_VERSIONS:
        return _satisfied(x)
    if x.is_of_other_version and kind in OF_ENTRIES | OF_RELEASES:
        return _of_other_version(x, entry)
    if kind in OF_LACKING:
        return _locked_words(x)
    match kind:
        case "plugin-missing":
            return came_words(x)
        case "lock-not-updated":
            is_new = newest_without(x, lambda each: each.has_h1) is not None
            words = f"the lock file has the h1 of {x.platform} for {x.release} now ({x.place})"
            return f"{words}{assumed_words(x, x.platform)}" if is_new else ""
        case "lock-incomplete":
            return f"{x.release} has hashes of more than one platform now ({x.place})" if _is_completed(x) else ""
        case "cached-modified":  # of a folder alone: its package was one that the lock file accepts
            return "" if _speaks(x, causes) else exchanged_words(x)
        case _:
            is_changed = kind in OF_HASHES and _is_told(x, causes)
            return filled_words(x) or (_changed(x, causes) if is_changed else "")


def _of_other_version(x: Examined, entry: LockEntry) -> str:
    """Return that another version is locked than the one that failed, where the failing run is known to be before."""
    kind = x.message.kind
    not_it = f"no longer has {x.name}" if _was_locked(x) else f"does not have {x.name}"
    words = f"the lock file {not_it} {x.message.version}: {entry.version} is locked ({x.place})"
    # Else the failing run chose its version, since no lock file had one, and the locked one came later.
    is_since = _met_locked(x) or (x.address in x.searched_by_run and _was_absent_then(x))
    is_since = is_since or (kind in OF_RELEASES and _was_added(x))
    return words if is_since and _is_sound(x) and not (kind in OF_HASHES and _lacks_platform(x)) else ""


def obstacle_words(x: Examined) -> str:
    """Return the error of the configuration for which init fails, whatever the lock file has; "" for none."""
    place = x.configuration.error_place
    return f"the configuration has an error ({place}), and init fails until it is mended" if place else ""


def _of_any_root(x: Examined, causes: Sequence[Cause]) -> str:
    """Return what has changed for whichever of the roots failed; "" where that differs.

    It is a mirror or plugin cache, which any of them uses, or the entry, where all have the same one. A package that
    was moved aside in a root is that root's alone; one that was missing came to each. Constraints that differ,
    and roots that lacked the entry, are judged each by itself.
    """
    if x.message.kind in OF_VERSIONS:
        return _satisfied(x) if x.entry is not None else ""
    if x.message.kind in OF_LACKING:
        return _locked_words(x) if x.entry is not None else ""
    if x.message.kind == "no-matching-release":
        return _listed_words(x) or filled_words(x)
    if x.entry is None or x.is_of_other_version:
        return ""
    if x.message.kind == "plugin-missing":
        return came_words(x)
    if filled := filled_words(x):
        return filled
    if x.message.kind not in OF_HASHES or not _is_told(x, causes):
        return ""
    others = [one.entry for one in x.others if one.root in x.fitting]
    is_same = all(pinned(one) == pinned(x.entry) for one in others)
    if is_same and before_cover(x) is not None and not x.places.replaced:
        return _changed(x, causes)
    return exchanged_words(x) if x.places.is_mirror_replaced or not x.places.replaced else ""


def new_requirements(x: Examined) -> frozenset[ProviderAddress]:
    """Return the required providers that are not locked, and were not before the lock file could not be read."""
    before = {entry.address for _, entry in locked_states(x.history.before_loss)}
    return x.configuration.required() - {*x.lock.by_address, *before}


def _readable_words(x: Examined) -> str:
    """Return that a lock file can be read again, with the providers that were never locked in it."""
    host = x.tool.default_host
    new = listing([each.short(host) for each in sorted(new_requirements(x))], 3)
    lacks = f", and lacks {new}, which {x.where} requires and init has to add" if new else ""
    return f"{x.lock.path} can be read now{lacks}"


def _agreed(x: Examined) -> str:
    """Return that the lock file has just the providers that init requires, where it had others.

    OpenTofu adds its own entry for one of Terraform's registry on every run, whatever is required.
    """
    if migrated(x.lock.entries, x.tool).moved or x.history.had_no_file:
        return ""
    now = frozenset(x.lock.by_address)
    if not x.configuration.unknown_reason and not _is_exact(x):
        return ""  # what the run required may not be what is required now
    if x.history.had_list and _is_exact(x):
        return f"{x.own_root} requires just what {x.lock.path} has now"
    was_absent = x.history.is_file_new and not x.reused_by_run
    if x.history.locked_before in {None, now} and not (x.history.had_other_providers or was_absent):
        return ""  # it was not wrong here: the run had another lock file, or none
    if x.of_run:
        return f"{x.lock.path} has just the providers now that the run required" if now == x.of_run else ""
    return f"{x.lock.path} has just the providers now that {x.own_root} requires" if _is_exact(x) else ""


def _is_exact(x: Examined) -> bool:
    """True if the lock file has just the providers that the root requires, all of which are known."""
    return not x.configuration.unknown_reason and frozenset(x.lock.by_address) == x.configuration.required()


def _is_completed(x: Examined) -> bool:
    """True if `zh` of the version are locked, where an earlier state of its entry had none."""
    assert x.entry is not None
    was = (one for one in (x.history.written, *x.history.states) if one is not None and one.is_of(x.entry.version))
    return bool(x.packed) and any(not packages_of(one.accepted) for one in was)


def _is_sound(x: Examined) -> bool:
    """True unless some locked `zh` are known not to be of the release, or all to be of another version."""
    others = (packages_of(one.hashes) for _, one in x.origins.entries_of_other_versions())
    return not x.stale and not any(x.packed and x.packed <= one for one in others if not x.today.is_known)


def _was_locked(x: Examined) -> bool:
    """True if a commit has the version that the error names, or locklens replaced it later than the log."""
    if x.history.replaced_version == x.message.version:
        return True
    return any(one.is_of(x.message.version) for one in x.history.states)


def _met_locked(x: Examined) -> bool:
    """True if the failing run is known to have met the version of the error as the locked one.

    A run with -upgrade, or an upgrade of locklens, meets a version that was locked long ago as well.
    """
    if x.message.kind in OF_ENTRIES or x.history.replaced_version == x.message.version:
        return _was_locked(x)
    if x.address in x.searched_by_run:
        return False
    was = next((one for one in x.history.states if one.is_of(x.message.version)), None)
    return was is not None and (x.address in x.reused_by_run or x.history.is_after_log(x.history.next_after(was)))


def _was_added(x: Examined) -> bool:
    """True if locklens wrote the entry later than the log, where the lock file had none."""
    return x.history.is_written and x.address not in (x.history.locked_before or ())


def _was_absent_then(x: Examined) -> bool:
    """True if the provider is known to have been locked later than the log; a run with -upgrade searches each."""
    if _was_added(x) or x.history.is_file_new:
        return True
    absent = (one for one in x.history.states if one.entry is None)
    return any(x.history.is_after_log(x.history.next_after(one)) for one in absent)


def _was_absent(x: Examined) -> bool:
    """True if a commit does not lock the provider, or there was no file, or locklens wrote what it had not."""
    return _was_added(x) or x.history.is_file_new or any(one.entry is None for one in x.history.states)


def _locked_words(x: Examined) -> str:
    """Return that a provider is locked which was not."""
    return f"{x.release} is locked now ({x.place})" if _was_absent(x) and _is_sound(x) else ""


def _satisfied(x: Examined) -> str:
    assert x.entry is not None
    if not x.required:
        return ""
    if x.message.constraint and (x.history.brought_both or not x.history.is_constraint_of_here):
        return ""  # of another commit or branch, or another lock file: what is met here says nothing about it
    is_met = not x.configuration.unknown_constraints and x.constraints.admits(x.entry.version)
    words = f"{x.release} satisfies {x.constraints or 'the configuration'} now"
    return words if is_met and _is_sound(x) else ""


def _listed_words(x: Examined) -> str:
    """Return that a listed version satisfies the constraints, which are not those of the message any more.

    Of a locked provider that is the locked version, also without a list where the constraints of the message excluded
    it; of another one, any that init may select.
    """
    said = x.message.constraints
    if said is None or not x.has_other_constraints:
        return ""
    if x.today.listing is None or not x.today.listing.is_known:
        return _satisfied(x) if x.entry is not None and not said.admits(x.entry.version) else ""
    if x.entry is not None:
        return _satisfied(x) if x.today.listing.has(x.entry.version) else ""
    if (
        x.configuration.unknown_constraints
        or x.places.mirrors
        or x.places.servers
        or not x.history.is_constraint_of_here
    ):
        return ""
    fitting = sum(x.constraints.admits(one.version) for one in x.today.listing.versions)
    verb = "satisfies" if fitting == 1 else "satisfy"
    return f"{counted(fitting, 'listed version')} {verb} {x.constraints} now" if fitting else ""


def _changed(x: Examined, causes: Sequence[Cause]) -> str:
    """Return how hashes or folders have changed, where nothing speaks for a cause any more."""
    before = before_cover(x)
    assumed = assumed_words(x, x.platform)
    words = f"{_added_words(x, before) or _written_words(x)}{assumed}" if before is not None else ""
    if before is not None and before.entry is not None and accepts_release(x):
        if not before.commit:
            return words
        if before.accepted < x.locked:
            those = f"beside those of commit {before.commit[:12]}{assumed}"
            return f"the lock file has the hashes of today's {x.release} {those}"
        if is_restored(x, before):
            return f"{x.release} has the hashes again that it had before commit {before.commit[:12]}{assumed}"
    if x.origins.earlier is not None and x.today.earlier_host and accepts_release(x):
        was = f"commit {x.origins.earlier.commit[:12]} has those of {x.today.earlier_host}"
        return f"{x.release} has the hashes of its own registry, where {was}{assumed}"
    exchanged = exchanged_words(x)
    if exchanged and (x.places.is_mirror_replaced or not x.places.replaced):
        return exchanged  # whatever else is so, a copy that the lock file accepts is where the run looks
    if _speaks(x, causes):
        return ""
    if x.places.replaced:
        return exchanged
    if edited := _edited_words(x):
        return f"{edited}{assumed}"
    if before is None:
        return ""
    if not before.commit:
        return words
    return f"the hashes of {x.release} differ from those of commit {before.commit[:12]}{assumed}"


def of_other_packages(x: Examined) -> str:
    """Return a note on hashes of today's release beside those of other packages of it, where locklens wrote neither."""
    if x.history.written is not None or not x.origins.strange or not accepts_release(x):
        return ""
    words = f"init passes only since {x.lock.path} has hashes of other packages of {x.release}, too"
    words = f"{words}: a review blocks that ({blocking_rule(x)})"
    return f"{words}, and only the publisher can tell which packages are meant"


def _added_words(x: Examined, before: PastEntry) -> str:
    """Return which hashes of the failing platform were added since; "" where that is not known."""
    own = {h1 for h1, platform in x.attributed.items() if platform == x.platform} | {
        x.today.platforms.get(x.platform, "")
    }
    came = {text.partition(":")[0] for text in own & x.locked - before.accepted}
    which = " and the ".join(sorted(came, reverse=True))
    is_told = came and before.accepted
    return f"the lock file has the {which} of {x.platform} for {x.release} now ({x.place})" if is_told else ""


def _written_words(x: Examined) -> str:
    """Return which hashes locklens wrote later than the log, or that the entry is as a commit has it."""
    if again := again_words(x):
        return again
    is_more = x.history.written is not None and x.history.written.accepted < x.locked
    verb, preposition = ("added", "to") if is_more else ("wrote other", "into")
    return f"locklens {verb} hashes of {x.release} {preposition} {x.lock.path}, later than the log"


def _edited_words(x: Examined) -> str:
    """Return that a commit has hashes of another version, where those of its release are locked now; "" otherwise.

    They are, by the registry's list; while that is unknown, where an older commit has them for the version.
    """
    was = next((one for one in x.history.states[:2] if one.entry is not None and one.accepted != x.locked), None)
    if x.entry is None or was is None or not was.is_of(x.entry.version) or x.stale:
        return ""
    is_sound, commit = accepts_release(x), was.commit[:12]
    again = "" if x.today.is_known else again_of_commit(x, was)
    odd = packages_of(was.accepted) - x.today.listed
    of = next(
        (one.version for _, one in x.origins.entries_of_other_versions() if odd and odd <= packages_of(one.hashes)),
        None,
    )
    if of is None or not (is_sound or again) or covers(replace(x, entry=was.entry)):
        return ""
    now = f"only zh of its own release now ({x.place})" if is_sound else f"the hashes of commit {again[:12]} again"
    return f"{x.release} had zh of {of} in commit {commit}, and has {now}"


def _speaks(x: Examined, causes: Sequence[Cause]) -> bool:
    """True if more than the kind of the error speaks for a cause, but for a cached copy that was moved aside."""
    is_of_cache = x.places.moved is not None and x.places.moved.kind == "plugin-cache"
    rest = (cause for cause in causes if not (is_of_cache and cause.place == "plugin-cache"))
    return any(cause.is_probable and cause.basis is not Basis.GUESS for cause in rest)


def _is_told(x: Examined, causes: Sequence[Cause]) -> bool:
    """True if it is known what the package was, or hashes of it have come since, whichever it was and wherever from."""
    is_covered = before_cover(x) is not None and not x.places.servers and not _speaks(x, causes)
    return is_covered or not is_folder_or_file(x)


def _lacks_platform(x: Examined) -> bool:
    """True if no locked hash is known to be of the package for the failing run's platform, or for this machine's."""
    platform = x.platform or x.places.machine
    zh = x.today.platforms.get(platform, "")
    return bool(zh) and zh not in x.packed and platform not in x.attributed.values()


def changed_words(x: Examined, causes: Sequence[Cause]) -> str:
    """Return a note on an entry that was changed since an earlier state, where that need not end the error."""
    if x.history.brought_both:
        words = f"commit {x.history.brought_both[:12]} brought this constraint to {x.own_root}, and another version"
        words = f"{words} than {x.message.version} with it: {_over(x, 'it')}"
        return f"{words}, such as a lock file that a cache or an artifact put in the place of the committed one"
    if x.is_of_other_version:
        return ""
    if words := of_other_machine(x):
        return words
    if x.fitting:
        return ""
    if x.message.kind in OF_LACKING | {"readonly-changed"}:
        is_later = x.history.is_later and x.entry is not None and is_of_run(x)
        since = f"{x.lock.path} was written here later than the log, as git restore or a checkout does"
        return f"{since}: {_over(x, 'that')}" if is_later else ""
    lacking, after = cover_since(x) if x.message.kind in OF_HASHES else (None, None)
    if lacking is not None and after is not None and before_cover(x) is None:
        words = f"commit {after.commit[:12]} locks a hash of the package, and commit {lacking.commit[:12]} did not"
        return f"{words}: {_over(x, 'it')}"
    before = next(iter(x.origins.earlier_states), None)
    if before is None or before.entry is None:
        return ""
    came = x.unpacked - hashes_of_files(before.accepted)
    if x.message.kind == "lock-not-updated":
        if x.platform or not came:
            return ""
    elif x.message.kind not in OF_HASHES or covers(x) or not has_more(x, before):
        return ""
    is_certain = any(one.verdict is CauseVerdict.YES for one in causes)
    if is_certain and before.commit and x.origins.is_committed:
        return ""  # the report says which commit changed it
    ask, words = f"whether it covers {x.platform} is not known", again_words(x) or more_words(x, before)
    if not x.platform:
        one = "if the package of the failing run has one, which its platform may tell (--platform OS_ARCH)"
        is_more = before.accepted < x.locked
        ask = (
            f"{one}, {_over(x, 'that')}"
            if is_more
            else "whether that covers the failing run, its platform may tell: --platform"
        )
    return words if is_certain else f"{words}: {ask}"


def _over(x: Examined, change: str) -> str:
    """Return that only the error of a run before a change is over; init passes then, where nothing else stops it."""
    again = "" if obstacle_words(x) else " (run init again)"
    return f"the error of a run before {change} is over{again}, and one after it has another cause"
