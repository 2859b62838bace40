"""The fixes that bring another version of a provider, or other constraints on it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.messages import LOCKLENS
from locklens.doctor.model import CauseId, Remedy, TrustCost
from locklens.doctor.tool_causes import as_required
from locklens.project.configuration import constraint_place, is_fetched
from locklens.review.why import held_words
from locklens.selection.choosing import conflicts
from locklens.text import clauses, counted, listing
from locklens.versions import Constraints, ConstraintSyntaxError, NotAdmissibleError, Version, admitting, newest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from locklens.doctor import ElsewhereEntry
    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.project.configuration import Requirement

_NONE, _LOW, _HIGH = TrustCost.NONE, TrustCost.LOW, TrustCost.HIGH

NEW_DECISION = "a new version is a new decision: review it"


def upgrade(one: Affected, title: str = "", platform: str = "") -> Iterator[Remedy]:
    """An upgrade where a listed version satisfies the constraints; else an older one, and other constraints.

    With a platform, only versions count whose packages are said to be for it too. Of roots with other constraints, each
    group has its own upgrade. One that the policy holds back is selected by its name alone, where no other version
    satisfies the constraints. Where no command leads to another version, what is left to the user is said. Of a run
    that chooses versions itself, see `with_another_version`.
    """
    if one.examined.is_of_upgrade:
        yield from with_another_version(one)
        return
    offered = list(_upgrades(one, title, platform))
    if not offered and not platform:
        offered = [each for group in _groups(one) for each in _without_upgrade(group)]
    yield from offered


def _groups(one: Affected) -> list[Affected]:
    """Return the roots in groups with equal constraints."""
    return one.by_constraints(listed_versions(one.examined) or ())


def _upgrades(one: Affected, title: str = "", platform: str = "") -> Iterator[Remedy]:
    for group in _groups(one):
        for each in _upgrade(group, title, platform):
            words = one.left_out(group.roots)
            yield replace(each, note=clauses(each.note, words))


def _without_upgrade(one: Affected) -> Iterator[Remedy]:
    """Yield what is left to the user where the constraints exclude all other versions, and no command rewrites them."""
    x, listed = one.examined, listed_versions(one.examined)
    if not listed or x.entry is None or latest_of(listed) == x.entry.version:
        return
    others = [version for version in listed if version != x.entry.version]
    if _excluding(x, others):
        yield _by_constraint(one, others)
    if x.entry.version not in listed:
        yield without_provider(one, f"{x.entry.version} is not listed, so that init needs a mirror that has it")


def _excluding(x: Examined, versions: Iterable[Version]) -> list[Requirement]:
    """Return the requirements whose constraints exclude some of the versions."""
    return [each for each in x.required if not all(map(each.constraints.admits, versions))]


def _by_constraint(one: Affected, others: Sequence[Version]) -> Remedy:
    """Return the edit of the constraints, which exclude each of the versions that may be selected."""
    x, best = one.examined, newest(others)
    other = "" if len(others) == len(listed_versions(x) or ()) else "other "
    places = [f'"{each.constraint}" at {constraint_place(each)}' for each in _excluding(x, others)]
    words = f"the only {other}listed version, {best}, does not satisfy"
    if len(others) > 1:
        words = f"none of {len(others)} {other}listed versions satisfies"
    note = f"{words} {listing(list(dict.fromkeys(places)), 3)}"
    if len(others) > 1:
        note = f"{note}: {best} is the newest"
    if any(is_fetched(each.file) for each in _excluding(x, others)):
        note = clauses(note, "another version of the module may have another constraint")
    if x.entry is not None:
        note = clauses(note, f"once that admits one, {one.line('upgrade', x.name)} selects it", NEW_DECISION)
    return by_hand(one, "change-constraint", f"Change the constraint on {x.name}, by hand", "each constraint", note)


def _upgrade(one: Affected, title: str, platform: str) -> Iterator[Remedy]:
    """Yield the upgrade of roots with equal constraints."""
    x = one.examined
    title = title or f"Upgrade {x.name} to a version that satisfies the constraints"
    if x.is_of_mirror_alone:
        command, unsigned = one.line("upgrade", *one.mirror_words, x.name), "no registry has signed it"
        yield one.remedy("upgrade", title, _HIGH, None, command, NEW_DECISION, unsigned, one.then_commit)
        return
    listed, entry = listed_versions(x, platform), x.entry
    if listed_versions(x) == []:
        assert x.address is not None
        yield without_provider(one, f"no version is listed: {x.address.host} has none to upgrade to")
        return
    if listed is None or entry is None:
        older = "it goes back to an older one, or changes nothing"
        unknown = f"where no newer version than {entry.version} can be selected, {older}" if entry else ""
        found = _upgraded(one, title)
        yield replace(found, note=clauses(found.note, unknown))
        return
    locked, constraints = entry.version, x.constraints
    admitted = [version for version in listed if constraints.admits(version) and version != locked]
    is_held = locked in listed and constraints.admits(locked)
    best = newest(version for version in admitted if version not in x.today.held)
    if best is not None and best.compare(locked) > 0:
        yield _with_mirror(one, _upgraded(one, title), best)
    elif best is not None:
        none = "no newer listed version satisfies the constraints" if is_held else "which satisfies the constraints"
        words = f"Go back to {x.name} {best}: {none}" if is_held else f"Go back to {x.name} {best}, {none}"
        yield _with_mirror(one, _upgraded(one, words, str(best)), best)
    if best is None and (young := newest(admitted)) is not None:
        found = _upgraded(one, f"Upgrade {x.name} to {young}, which the policy holds back", str(young))
        words = f"{young} is {held_words(x.today.held[young])}"
        yield _with_mirror(one, replace(found, note=clauses(words, found.note), is_doubtful=True), young)
        return
    latest = latest_of(listed)
    if (best is None or best.compare(locked) < 0) and latest != locked:
        yield from with_other_constraints(one.alone, latest)


def _with_mirror(one: Affected, remedy: Remedy, version: Version) -> Remedy:
    """Return an upgrade with what is left to do where the settings here name mirrors alone, which lack the version."""
    held = one.examined.places.mirrors_alone
    if not held or any(version in those for those in held.values()):
        return remedy
    filling = one.line("mirror", next(iter(held)))
    words = f"the mirror of the settings here does not have {version}: then {filling} fetches it, before init"
    return replace(remedy, note=clauses(remedy.note, words))


def listed_versions(x: Examined, platform: str = "") -> list[Version] | None:
    """Return the versions that the registry lists, for a platform or at all; None if they are unknown."""
    listing = x.today.listing
    if listing is None or not listing.is_known:
        return None
    return [one.version for one in listing.versions if not platform or platform in map(str, one.platforms)]


def latest_of(listed: Iterable[Version]) -> Version | None:
    """Return the newest version that is no pre-release; None without one."""
    return newest(one for one in listed if not one.prerelease)


def without_provider(one: Affected, note: str) -> Remedy:
    """Return the remedy for a locked provider that its registry does not have, or not any more."""
    x = one.examined
    if (old := x.history.renamed_from) is not None:
        was = old.address.short(x.tool.default_host)
        where = "at" if x.is_unrequired else "where it is required, and at"
        title = f"Change {x.name} back to {was} by hand {where} {x.place}"
        return by_hand(one.alone, "correct-source", title, "file and line", "its version and hashes stay locked")
    title = f"Ask the publisher of {one.examined.name}, or use a copy that the lock file accepts"
    return one.remedy("ask-publisher", title, _NONE, None, "", note)


def _upgraded(one: Affected, title: str, version: str = "") -> Remedy:
    """Return the upgrade to the newest version that satisfies the constraints, or to a named one."""
    name = f"{one.examined.name}={version}" if version else one.examined.name
    return one.written("upgrade", title, _LOW, None, one.write("upgrade", providers=(name,)), NEW_DECISION)


def with_other_constraints(one: Affected, version: Version | None) -> Iterator[Remedy]:
    """The constraints are rewritten for a version that they exclude, where they are in the root's own files."""
    x = one.examined
    locked = x.entry.version if x.entry is not None else None
    if version is None or x.address is None or not x.lock.exists:
        return
    if version == locked and any(cause.id is CauseId.HAND_EDIT and cause.is_probable for cause in one.causes):
        return  # with other hashes than its own, init refuses it whatever the constraints admit
    excluding = _excluding_in(x, one.roots, version)
    if not excluding or not all(not is_fetched(each.file) and _can_admit(each, version) for each in excluding):
        return
    places = listing(list(dict.fromkeys(str(constraint_place(each)) for each in excluding)), 3)
    name, is_locked = f"{x.name}={version}", version == locked
    what = f"{x.name} {version}{', which is locked' if is_locked else ''}"
    title = f"Rewrite the constraints that exclude {what} ({places})"
    write = one.write("upgrade", providers=(name,), edits_constraints=True)
    notes = [] if is_locked else [NEW_DECISION]
    if listed_versions(x) is None:
        notes.append("the command asks its registry, which has to answer")
    _, failing = _callers(x, one.roots, version)
    cost, size = (_NONE if is_locked and not failing else _LOW), (0 if is_locked else None)
    is_doubtful = is_locked and x.history.has_left_range and not x.fitting
    notes += [f"these constraints are older than the change of the lock file to {version}"] if is_doubtful else []
    found = one.written("change-constraint", title, cost, size, write, *notes)
    yield replace(found, is_doubtful=is_doubtful)


def _excluding_in(x: Examined, roots: Collection[str], version: Version) -> list[Requirement]:
    """Return what requires the provider in some roots with constraints that exclude a version."""
    others = (each for other in x.others if other.root in roots for each in other.requirements)
    return [each for each in (*x.required, *others) if not each.constraints.admits(version)]


def _callers(
    x: Examined, roots: Collection[str], version: Version
) -> tuple[list[ElsewhereEntry], list[ElsewhereEntry]]:
    """Return the other roots that call a module which is rewritten for a version: those that it suits, and the rest."""
    files = {each.file for each in _excluding_in(x, roots, version)}
    others = [other for other in x.others if other.root not in roots]
    shared = [other for other in others if any(each.file in files for each in other.requirements)]
    sound = [other for other in shared if _admits_still(other, files, version)]
    return sound, [other for other in shared if other not in sound]


def words_of_callers(remedy: Remedy, group: Sequence[Affected]) -> str:
    """Return which other roots call a module that a remedy for some roots rewrites, in clauses; "" for none."""
    write = remedy.write
    if write is None or not write.edits_constraints:
        return ""
    version = Version.parse(write.providers[0].rpartition("=")[2])
    pairs = zip(_callers(as_required(group[0].examined), write.roots, version), _OF_CALLERS, strict=True)
    words = []
    for others, why in pairs:
        locked_there = listing([f"{other.root} (locks {other.entry.version})" for other in others], 3)
        number = counted(len(others), "other root calls", "other roots call")
        words += [f"{number} the rewritten module, {why}: {locked_there}"] if others else []
    return clauses(*reversed(words))


_OF_CALLERS = "which then admits what is locked there", "and init may fail there"
"""What a rewritten module means for other roots: for those whose locked version it admits, and for the rest."""


def _admits_still(other: ElsewhereEntry, files: Collection[str], version: Version) -> bool:
    """True if a root's constraints admit what it locks once those in some files are rewritten for a version."""

    def then(each: Requirement) -> Constraints:
        is_rewritten = each.file in files and not each.constraints.admits(version) and _can_admit(each, version)
        return Constraints.parse(admitting(each.constraint, version)) if is_rewritten else each.constraints

    return all(then(each).admits(other.entry.version) for each in other.requirements)


def with_another_version(one: Affected) -> Iterator[Remedy]:
    """A provider is locked at another version than the one that fails, which init would select, or init -upgrade.

    A locked one is upgraded, or stays as it is.
    """
    x = one.examined
    failed = x.message.version or (str(x.selected.version) if x.selected is not None else "")
    listed, entry = listed_versions(x) if failed else [], x.lock.entry(x.address)
    locked = entry.version if entry is not None else None
    if locked is not None and x.is_of_upgrade and x.message.command != LOCKLENS:
        yield from _without_newest(one.alone, locked, failed)
        return
    others = [each for each in listed or () if str(each) != failed]
    best = newest(each for each in others if x.constraints.admits(each))
    if locked is not None and listed is not None and (best is None or best.compare(locked) <= 0):
        return
    if best is not None:
        yield with_version(one, best, f"{best} is the newest other version that is listed and allowed")
    elif listed is None:
        yield with_version(one, "VERSION", f"VERSION stands for another than {failed} that satisfies the constraints")
    elif latest_of(others) is not None:
        yield from _beyond_constraints(one, others)


def with_older_version(one: Affected) -> Iterator[Remedy]:
    """Constraints that admit an older version, where the locked one is refused, and is the newest that is listed."""
    x, listed = one.examined, listed_versions(one.examined) or []
    others = [each for each in listed if x.entry is not None and each != x.entry.version]
    if x.entry is not None and latest_of(listed) == x.entry.version and latest_of(others) is not None:
        yield from _beyond_constraints(one, others)


def _beyond_constraints(one: Affected, others: Sequence[Version]) -> list[Remedy]:
    """Return the edits of the constraints for the newest of some versions, all of which they exclude."""
    return list(with_other_constraints(one.alone, latest_of(others))) or [_by_constraint(one.alone, others)]


def _without_newest(one: Affected, locked: Version, failed: str) -> Iterator[Remedy]:
    """For `init -upgrade`: what is locked stays, or the constraints exclude the version that fails.

    As long as they admit it, the next run with -upgrade selects it again, whatever is locked.
    """
    x = one.examined
    if x.constraints.admits(locked):
        title = f"Run init without -upgrade: {x.name} {locked} is locked, and stays so"
        yield one.remedy("run-again", title, _NONE, None, one.keeping_line)
    title = f'Exclude {x.name} {failed} by hand, as with "!= {failed}"'
    note = "init -upgrade then selects the newest other version that satisfies the constraints"
    yield by_hand(one, "change-constraint", title, "each constraint", note)


def with_version(one: Affected, version: Version | str, note: str) -> Remedy:
    """Return the remedy that locks a provider, which is not locked, at another version than init selects."""
    name = one.examined.name
    if not one.examined.lock.exists:  # upgrade changes one that is there
        return by_hand(
            one.alone, "change-constraint", f"Require {name} {version} alone, by hand", "each constraint", note
        )
    command = one.line("upgrade", f"{name}={version}")
    return one.remedy("upgrade", f"Lock another version of {name}", _LOW, None, command, note, one.then_commit)


def _can_admit(required: Requirement, version: Version) -> bool:
    """True if a constraint can be rewritten for a version: one that excludes exactly this one is left as it is."""
    try:
        admitting(required.constraint, version)
    except (ConstraintSyntaxError, NotAdmissibleError):
        return False
    return True


def fix_constraint(one: Affected) -> Iterator[Remedy]:
    """For a root whose constraints and lock file contradict each other; other roots with the entry are not moved."""
    x = as_required(one.examined)
    alone = replace(one, examined=x).alone
    if x.address is None:
        return
    listed, offered = listed_versions(x), list[Remedy]()
    clash = conflicts(x.required)
    if one.first_get and x.entry is not None and not clash and x.constraints.admits(x.entry.version):
        title = "Fetch the modules, one of which has the constraint"
        note = "then diagnose the log again, which names its place, and the versions that satisfy it"
        yield alone.remedy("install-modules", title, _NONE, None, alone.get_line, note)
        return
    # The message says that none satisfies the constraints; which others are there is not known.
    is_none = listed is None and x.message.kind == "no-matching-release" and not x.has_other_constraints
    if x.entry is not None and not clash and not is_none:
        offered += _upgrades(alone)
    is_there = listed is None or (x.entry is not None and x.entry.version in listed)
    has_upgrade = any(each.id == "upgrade" and not each.is_doubtful for each in offered)
    if x.entry is not None and is_there and not (has_upgrade and _has_newer(x, x.entry.version)):
        kept = list(with_other_constraints(alone, x.entry.version))
        if kept and has_upgrade:  # back to another version, or on with this one: nobody asked for the newest
            offered = [*(each for each in offered if each.id == "upgrade"), *kept]
        else:
            offered = [*kept, *offered]
    if x.entry is None and listed and not clash:
        offered += with_other_constraints(alone, latest_of(listed))
    if not offered:
        what = "one of the constraints that exclude one another" if clash else f"the constraint on {x.name}"
        offered.append(by_hand(alone, "change-constraint", f"Change {what}, by hand", "each constraint"))
    yield from offered


def _has_newer(x: Examined, locked: Version) -> bool:
    """True if a version that the constraints admit, and the policy does not hold back, is newer, or may be."""
    listed = listed_versions(x)
    admitted = (each for each in listed or () if x.constraints.admits(each) and each not in x.today.held)
    return listed is None or any(each.compare(locked) > 0 for each in admitted)


def by_hand(one: Affected, remedy: str, title: str, shown: str, note: str = "") -> Remedy:
    """Return a fix that no command line is: an edit, and the command that shows where."""
    hint = one.line("why", one.examined.name)
    words = clauses(note, f"the command names {shown}, and changes nothing")
    return one.remedy(remedy, title, _NONE, 0, "", words, hint=hint)
