"""The fixes that move a provider to another version, or its constraints to a version that there is. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.model import Remedy, TrustCost
from locklens.selection.choosing import conflicts
from locklens.versions import newest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.versions import Version

_NONE, _LOW, _HIGH = TrustCost.NONE, TrustCost.LOW, TrustCost.HIGH

_REVIEW = "a new version is a new decision: review it"


def upgrade(one: Affected, title: str = "", platform: str = "") -> Iterator[Remedy]:
    """An upgrade where a listed version satisfies the constraints; else an older one, and other constraints.

    With a platform, only versions count whose packages are said to be for it too.
    """
    x = one.examined
    title = title or f"Upgrade {x.name} to a version that satisfies the constraints"
    if x.is_of_mirror_alone:
        command = one.line("upgrade", *one.mirror_words, x.name)
        yield Remedy("upgrade", title, len(one.roots), _HIGH, None, command, f"{_REVIEW}; no registry has signed it")
        return
    listed, entry = listed_versions(x, platform), x.entry
    if listed is None or entry is None or x.configuration is None or x.address is None:
        yield _upgraded(one, title)
        return
    locked, constraints = entry.version, x.configuration.constraints(x.address)
    fitting = [version for version in listed if constraints.admits(version) and version != locked]
    is_held = locked in listed and constraints.admits(locked)
    best = newest(fitting)
    if best is not None and best.compare(locked) > 0:
        yield _upgraded(one, title)
    elif best is not None:
        none = "no newer listed version satisfies the constraints" if is_held else "which satisfies the constraints"
        words = f"Go back to {x.name} {best}: {none}" if is_held else f"Go back to {x.name} {best}, {none}"
        yield _upgraded(one, words, str(best))
    if best is None or best.compare(locked) < 0:
        yield from _with_other_constraints(one.alone, newest(one for one in listed if not one.prerelease))


def listed_versions(x: Examined, platform: str = "") -> list[Version] | None:
    """Return the versions that the registry lists, for a platform or at all; None if they are unknown."""
    listing = x.case.listing if x.case is not None else None
    if listing is None or not listing.is_known:
        return None
    return [one.version for one in listing.versions if not platform or platform in map(str, one.platforms)]


def _upgraded(one: Affected, title: str, version: str = "") -> Remedy:
    """Return the upgrade to the newest version that satisfies the constraints, or to a named one."""
    name = f"{one.examined.name}={version}" if version else one.examined.name
    write = one.write("upgrade", provider=name)
    return Remedy("upgrade", title, len(one.roots), _LOW, None, one.line("upgrade", name), _REVIEW, write)


def _with_other_constraints(one: Affected, version: Version | None) -> Iterator[Remedy]:
    """The constraints are rewritten for a version that they exclude, where they stand in the root's own files."""
    x = one.examined
    locked = x.entry.version if x.entry is not None else None
    if version is None or x.configuration is None or x.address is None:
        return
    excluding = [each for each in x.configuration.of(x.address) if not each.constraints.admits(version)]
    if not excluding or any(".terraform/" in each.file for each in excluding):
        return
    places = ", ".join(dict.fromkeys(f"{each.file}:{each.line}" for each in excluding[:3]))
    name, is_locked = f"{x.name}={version}", version == locked
    what = f"{x.name} {version}{', which is locked' if is_locked else ''}"
    title = f"Rewrite the constraints that exclude {what} ({places})"
    command = one.line("upgrade", name, "--edit-constraints")
    write = one.write("upgrade", provider=name, edits_constraints=True)
    note = "" if is_locked else _REVIEW
    cost, size = (_NONE, 0) if is_locked else (_LOW, None)
    yield Remedy("change-constraint", title, len(one.roots), cost, size, command, note, write)


def fix_constraint(one: Affected) -> Iterator[Remedy]:
    """For a root whose constraints and lock file contradict each other; other roots with the entry are not moved."""
    x, alone = one.examined, one.alone
    if x.configuration is None or x.address is None:
        return
    listed, offered = listed_versions(x), list[Remedy]()
    clash = conflicts(x.configuration.of(x.address))
    if x.entry is not None and not clash:
        offered += upgrade(alone)
    is_there = listed is None or (x.entry is not None and x.entry.version in listed)
    if x.entry is not None and is_there and not any(each.id == "upgrade" for each in offered):
        offered += _with_other_constraints(alone, x.entry.version)
    if not offered:
        what = "one of the constraints that exclude one another" if clash else f"the constraint on {x.name}"
        offered.append(_by_hand(alone, "change-constraint", f"Change {what}, by hand", "each constraint"))
    yield from offered


def fix_source(one: Affected) -> Iterator[Remedy]:
    """The requirement with the wrong address is named."""
    title = f"Correct the source address of {one.examined.name} by hand where it is required"
    note = "a module without required_providers means hashicorp/NAME"
    yield _by_hand(one.alone, "correct-source", title, "file and line", note)


def _by_hand(one: Affected, remedy: str, title: str, shown: str, note: str = "") -> Remedy:
    """Return a fix that no command line is: an edit, and the command that shows where."""
    hint = one.line("why", one.examined.name)
    words = "; ".join(filter(None, (note, f"the hint names {shown}, and changes nothing")))
    return Remedy(remedy, title, len(one.roots), _NONE, 0, "", words, hint=hint)
