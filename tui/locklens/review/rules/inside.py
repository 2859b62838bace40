"""The rules about what is inside packages: advisories about it, and how it was built.

They rest on packages that were inspected before and on the database that is kept; nothing is asked or downloaded for
them, and what is unknown is not a finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.advisories import AdvisoryMatch, Linkage
from locklens.executables import toolchain_key
from locklens.project.configuration import constraint_place
from locklens.review.model import Change, ChangeKind, RootReview
from locklens.review.rules import Verdict
from locklens.text import counted, listing
from locklens.versions import Constraints, ConstraintSyntaxError, Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from locklens.executables import GoModule
    from locklens.project.configuration import Requirement
    from locklens.review.inspection import ChangeAdvisories

_NAMED = 5
"""The most advisories that a message names."""


def _inside(change: Change, _: RootReview) -> Iterator[Verdict]:
    """Advisories of modules inside: those that the change introduces, or without a comparison all that there are."""
    known = change.advisories
    if known is None or not known.inside:
        return
    where = f"{known.platform}, {known.date_words}"
    differences = known.differences
    if change.kind is ChangeKind.UNCHANGED or differences is None:
        of_all = len([each for each in known.now.matches if not each.is_own])
        numbers = f"{linked_words(known.inside)}, of {of_all} by version"
        count = counted(len(known.inside), "advisory", "advisories")
        yield Verdict(
            f"{count} of modules inside ({numbers}; {where}): {named_advisories(known.inside)}", _line(change)
        )
        return
    introduced = [each for each in differences.introduced if each.counts and not each.is_own]
    if introduced:
        count = counted(len(introduced), "advisory", "advisories")
        numbers = f"{linked_words(introduced)}; {where}"
        message = f"introduces {count} of modules inside ({numbers}): {named_advisories(introduced)}"
        yield Verdict(f"{message}; {sides_words(known)}", _line(change))


def _own(change: Change, root: RootReview) -> Iterator[Verdict]:
    """Advisories of the provider itself, with the nearest version that fixes each (the case), and what excludes it."""
    known = change.advisories
    for match in known.own if known is not None else ():
        assert known is not None
        names = f"{match.id} ({', '.join(match.aliases[:2])})" if match.aliases else match.id
        fix = fix_words(match, change, root)
        message = f"{names} is about {match.version} itself: {match.summary.rstrip('.')}; {fix} ({known.date_words})"
        yield Verdict(message, _line(change), case=match.fixed_in or "")


def _line(change: Change) -> int | None:
    return change.new.line if change.new is not None else None


def linked_words(matches: Sequence[AdvisoryMatch]) -> str:
    """Return how many of the advisories have a function in the package, and of how many that cannot be said."""
    linked = sum(each.is_linked is True for each in matches)
    unknown = sum(each.is_linked is None for each in matches)
    words = [f"{linked} linked by name"] if linked or not unknown else []
    return ", ".join([*words, *([f"cannot say of {unknown} whether linked"] if unknown else [])])


def named_advisories(matches: Iterable[AdvisoryMatch]) -> str:
    """Return the first advisories, those with linked functions first, each with its module and what fixes it."""
    ordered = sorted(matches, key=lambda each: (each.is_linked is not True, each.id))
    return listing([match_words(each) for each in ordered], _NAMED)


def match_words(match: AdvisoryMatch) -> str:
    """Return an advisory with its module and what fixes it."""
    fix = f", fixed in {match.fixed_in}" if match.fixed_in else ", no fix"
    return f"{match.id} in {match.module} {match.version}{fix}"


def sides_words(known: ChangeAdvisories) -> str:
    """Return the numbers of advisories that count of each side; those that do not are named: "2 fixed (and 1 ...)"."""
    differences = known.differences
    assert differences is not None
    sides = (("introduced", differences.introduced), ("fixed", differences.fixed), ("in both", differences.both))
    return ", ".join(
        f"{sum(each.counts for each in matches)} {word}{_others_words(matches)}" for word, matches in sides
    )


def _others_words(matches: Sequence[AdvisoryMatch]) -> str:
    kinds = (Linkage.NOT_LINKED, "not linked by name"), (Linkage.OTHER_PLATFORM, "for other platforms")
    numbers = [(sum(each.linkage is linkage for each in matches), words) for linkage, words in kinds]
    named = ", ".join(f"{number} {words}" for number, words in numbers if number)
    return f" (and {named})" if named else ""


def fix_words(match: AdvisoryMatch, change: Change, root: RootReview) -> str:
    """Return the nearest version that fixes an advisory of the provider itself, and the constraints that exclude it."""
    if match.fixed_in is None:
        return "no version that fixes it is known"
    excluding = [
        f"{each.constraint} ({constraint_place(each)})"
        for each in _requirements(change, root)
        if _excludes(each.constraint, match.fixed_in)
    ]
    if not excluding:
        return f"fixed in {match.fixed_in}"
    return f"fixed in {match.fixed_in}, outside of {listing(excluding, 3)}"


def _requirements(change: Change, root: RootReview) -> Sequence[Requirement]:
    if change.required_by or root.configuration is None:
        return change.required_by
    return root.configuration.of(change.address)


def _excludes(constraint: str, version: str) -> bool:
    try:
        return bool(constraint) and not Constraints.parse(constraint).admits(Version.parse(version))
    except (ConstraintSyntaxError, VersionSyntaxError):
        return False


_DIFFERENCES_NAMED = 3
"""Platforms, differences or modules that a message names."""


def _odd_platform(change: Change, _: RootReview) -> Iterator[Verdict]:
    agreement = change.builds.agreement if change.builds is not None else None
    if agreement is None or not agreement.differences:
        return
    compared = f"{counted(len(agreement.platforms), 'package')} compared"
    for platform, differences in agreement.odd.items():
        words = listing([f"{one.property} ({one.words()})" for one in differences], _DIFFERENCES_NAMED)
        yield Verdict(f"the package for {platform} is not like the others ({compared}): {words}", _line(change))
    undecided = [one for one in agreement.differences if not one.odd]
    if undecided:
        words = listing([f"{one.property} ({one.words()})" for one in undecided], _DIFFERENCES_NAMED)
        yield Verdict(f"packages differ, and no majority says which is odd ({compared}): {words}", _line(change))


def _toolchain(change: Change, root: RootReview) -> Iterator[Verdict]:
    policy = root.context.policy
    least = toolchain_key(policy.toolchain)
    if change.builds is None or least is None:
        return
    for go, platforms in change.builds.toolchains:
        key = toolchain_key(go)
        if key is not None and key < least:
            names = listing([str(platform) for platform in platforms], _DIFFERENCES_NAMED)
            message = f"built with {go} ({names}); {policy.file} requires at least {policy.toolchain}"
            yield Verdict(message, _line(change))


def _replaced(change: Change, _: RootReview) -> Iterator[Verdict]:
    modules = change.builds.replaced if change.builds is not None else ()
    if modules:
        names = listing([_words(module) for module in modules], _DIFFERENCES_NAMED)
        yield Verdict(f"{counted(len(modules), 'module')} replaced: {names}", _line(change))


def _words(module: GoModule) -> str:
    by = module.replaced_by
    assert by is not None
    return f"{module.path} {module.version} by {by.path} {by.version}".rstrip()


CHECKS: Mapping[str, Callable[[Change, RootReview], Iterator[Verdict]]] = {
    "LK042": _inside,
    "LK043": _own,
    "LK044": _odd_platform,
    "LK045": _toolchain,
    "LK046": _replaced,
}
