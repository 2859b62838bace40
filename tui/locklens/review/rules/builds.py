"""The rules about how packages were built: one unlike the others, an old toolchain, modules replaced by others.

They rest on packages that were inspected before; nothing is downloaded for them, and what is unknown is no finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.executables.ordering import toolchain_key
from locklens.review.rules.verdict import Verdict
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.executables import GoModule
    from locklens.policy import Policy
    from locklens.review.model import Change

_NAMED = 3
"""Platforms, differences or modules that a message names."""


def _odd_platform(change: Change, _: Policy) -> Iterator[Verdict]:
    agreement = change.builds.agreement if change.builds is not None else None
    if agreement is None or not agreement.differences:
        return
    compared = f"{counted(len(agreement.platforms), 'package')} compared"
    for platform, differences in agreement.odd.items():
        words = listing([f"{one.property} ({one.words()})" for one in differences], _NAMED)
        yield Verdict(f"the package for {platform} is not like the others ({compared}): {words}", _line(change))
    undecided = [one for one in agreement.differences if not one.odd]
    if undecided:
        words = listing([f"{one.property} ({one.words()})" for one in undecided], _NAMED)
        yield Verdict(f"packages differ, and no majority says which is odd ({compared}): {words}", _line(change))


def _toolchain(change: Change, policy: Policy) -> Iterator[Verdict]:
    least = toolchain_key(policy.toolchain)
    if change.builds is None or least is None:
        return
    for go, platforms in change.builds.toolchains:
        key = toolchain_key(go)
        if key is not None and key < least:
            names = listing([str(platform) for platform in platforms], _NAMED)
            message = f"built with {go} ({names}); {policy.file} requires at least {policy.toolchain}"
            yield Verdict(message, _line(change))


def _replaced(change: Change, _: Policy) -> Iterator[Verdict]:
    modules = change.builds.replaced if change.builds is not None else ()
    if modules:
        names = listing([_words(module) for module in modules], _NAMED)
        yield Verdict(f"{counted(len(modules), 'module')} replaced: {names}", _line(change))


def _words(module: GoModule) -> str:
    by = module.replaced_by
    assert by is not None
    return f"{module.path} {module.version} by {by.path} {by.version}".rstrip()


def _line(change: Change) -> int | None:
    return change.new.line if change.new is not None else None


CHECKS: Mapping[str, Callable[[Change, Policy], Iterator[Verdict]]] = {
    "LK044": _odd_platform,
    "LK045": _toolchain,
    "LK046": _replaced,
}
