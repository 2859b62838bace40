"""What ends the findings of a check of the health: commands, work by hand, and what neither reaches. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import OPENTOFU
from locklens.machine import CLASHES_NEED, command_on, git_words, merging_words
from locklens.review.health import WITHOUT_PACKAGE, Need, RootReach, is_undecided
from locklens.review.model import CONTRADICTED
from locklens.review.rules.catalogue import RULES, wording_of
from locklens.text import listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.review.findings import Finding
    from locklens.review.health import Check, Health
    from locklens.review.model import RootReview
    from locklens.versions import Version


_WRITING = frozenset({"lock", "upgrade", "prune", "format"})

_CASES = {
    "contradicted": CONTRADICTED,
    "not-offered": f"the release has no package for the platform; {WITHOUT_PACKAGE}",
}
"""The cases of a finding that `lock` does not end."""


class Fix(Struct, frozen=True):
    """What one command acts on, in some roots.

    Attributes:
        providers: Those to act on; () for all of the roots.
        versions: The versions that the providers are upgraded to; () where the command selects them.
    """

    roots: tuple[str, ...]
    providers: tuple[ProviderAddress, ...] = ()
    versions: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The providers as words of a command, each with its version where that is not left to the command."""
        if not self.versions:
            return tuple(map(str, self.providers))
        return tuple(f"{one}={version}" for one, version in zip(self.providers, self.versions, strict=True))


class LeftOut(Struct, frozen=True):
    """What a command cannot fix yet: a root or a provider in it, and the reason as a clause."""

    root: str
    provider: ProviderAddress | None
    reason: str

    @property
    def sentence(self) -> str:
        """The place and the reason."""
        return ": ".join(map(str, filter(None, (self.root or ".", self.provider, self.reason))))


class CheckRemedy(Struct, frozen=True):
    """What ends the findings of a check.

    Attributes:
        by_hand: What has to be done by hand, in sentences.
        merging: The commands that `by_hand` names, as a shell reads them.
    """

    fixes: tuple[Fix, ...] = ()
    by_hand: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    merging: tuple[str, ...] = ()

    @property
    def rest(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What the command does not do, in sentences, each kind with its label."""
        return ("by hand", self.by_hand), ("left out", tuple(one.sentence for one in self.left_out))


def remedy(check: Check, health: Health, roots: Collection[str] | None = None) -> CheckRemedy:
    """Return what ends the findings of a check, in some of its roots; None for all of them."""
    found = {
        root.path: (root, own)
        for root in health.review.roots
        if (roots is None or root.path in roots)
        and (own := [one for one in root.findings if one.rule in check.rules and not is_undecided(one)])
    }
    if check.id == "syntax":
        merging = [
            shell_words(merging_words(health.top, path)) for path, (root, _) in found.items() if root.new.conflict
        ]
        words = tuple(f"`{command}` merges the sides that git left; {CLASHES_NEED}" for command in merging)
        return CheckRemedy(by_hand=words, merging=tuple(merging))
    if check.id == "malformed":
        return CheckRemedy(by_hand=tuple(_removal(root.lock_file, own) for root, own in found.values()))
    if not check.command:
        return CheckRemedy()
    if check.command == "lock":
        return _locking(found, health)
    if check.command == "upgrade":
        upgrading = _upgrading(found, health)
        if check.needs is Need.DATES and not check.objection(health.review.policy):
            undated = (
                LeftOut(path, address, reason)
                for path, reach in health.reach.items()
                if roots is None or path in roots
                for address, reason in reach.undated.items()
            )
            upgrading = replace(upgrading, left_out=(*upgrading.left_out, *undated))
        if health.is_git or not check.options:
            return upgrading
        # Outside of a repository, --safe takes one root.
        apart = (replace(fix, roots=(root,)) for fix in upgrading.fixes for root in fix.roots)
        return replace(upgrading, fixes=tuple(apart))
    return CheckRemedy((Fix(tuple(sorted(found))),) if found else ())


def _upgrading(found: Mapping[str, tuple[RootReview, Sequence[Finding]]], health: Health) -> CheckRemedy:
    """Return the upgrades that end findings: of the roots with the same providers, and versions, at once."""
    together: dict[str, set[ProviderAddress]] = {}
    apart: dict[tuple[tuple[ProviderAddress, str], ...], list[str]] = {}
    by_hand: list[str] = []
    left_out: list[LeftOut] = []
    for path, (_, own) in found.items():
        reach = health.reach.get(path, RootReach())
        if reach.unreadable:
            left_out.append(LeftOut(path, None, reach.unreadable))
            continue
        versions: list[tuple[ProviderAddress, str]] = []
        for address in sorted({one.provider for one in own if one.provider is not None}):
            of_it = {one.rule: one for one in own if one.provider == address}
            fixed = _fixed_in([one.case for one in own if one.provider == address]) if "LK043" in of_it else None
            if "LK015" in of_it:
                together.setdefault(path, set()).add(replace(address, host=OPENTOFU.default_host))
            elif reason := _obstacle(address, of_it, fixed, reach):
                left_out.append(LeftOut(path, address, reason))
            elif "LK040" in of_it:
                by_hand.append(f"{path or '.'}: {address}: change the host in its `source`, unless it is meant")
            elif fixed is not None:
                versions.append((address, str(fixed)))
            else:
                together.setdefault(path, set()).add(address)
        if versions:
            apart.setdefault(tuple(versions), []).append(path)
    fixes = [*_fixes(together)]
    fixes += [Fix(tuple(sorted(roots)), *zip(*pairs, strict=True)) for pairs, roots in sorted(apart.items())]
    days = health.review.policy.cooldown
    if apart and days is not None:
        words = (
            f"look at the age of the version first: one that is named is taken within the cooldown of {days} days, too"
        )
        by_hand.append(words)
    return CheckRemedy(tuple(fixes), tuple(by_hand), tuple(left_out))


def _obstacle(address: ProviderAddress, rules: Collection[str], fixed: Version | None, reach: RootReach) -> str:
    """Return why no upgrade ends the findings about a provider, a clause; "" if one does."""
    constraints = reach.constraints.get(address)
    if constraints is None and address in reach.required:
        return OF_INIT if address in reach.of_init else "it is not locked: `lock` locks it"
    if constraints is None or ("LK040" in rules and address not in reach.required):
        return reach.unrequired
    if address in reach.unselectable:
        return reach.unselectable[address]
    if "LK043" not in rules or (fixed is not None and constraints.admits(fixed)):
        return ""
    # The newest version in range may have the same advisories.
    return f"fixed in {fixed}, outside of {constraints}" if fixed is not None else "no version that fixes it is known"


def _fixed_in(versions: Collection[str]) -> Version | None:
    """Return the highest of the versions that fix advisories; None if one of them is unknown, ""."""
    from locklens.versions import Version, precedence

    return None if "" in versions else max(map(Version.parse, versions), key=precedence)


OF_INIT = "required only by the state or test files, which `init` reads and `lock` does not"


def _locking(found: Mapping[str, tuple[RootReview, Sequence[Finding]]], health: Health) -> CheckRemedy:
    """Return what `lock` can mend: whole roots at once; of a root with an entry that it refuses the other providers."""
    parts: dict[str, Collection[ProviderAddress]] = {}
    left_out: list[LeftOut] = []
    by_hand: list[str] = []
    for path, (root, own) in found.items():
        reach = health.reach.get(path, RootReach())
        if reason := reach.unreadable or reach.unlockable:
            left_out.append(LeftOut(path, None, reason))
        elif root.new.exists and any(one.rule == "LK037" for one in own):
            naming = shell_words(git_words(health.top, "check-ignore", "-v", paths=[root.lock_file]))
            by_hand.append(f"remove the pattern that `{naming}` names, and commit {root.lock_file}")
        else:
            wanted = {one.provider for one in own if one.provider is not None} if root.new.exists else reach.required
            refused = dict.fromkeys(wanted - reach.required, reach.unrequired) | _refusals(root, reach)
            left_out += (LeftOut(path, one, why) for one, why in refused.items() if one in wanted)
            if named := wanted - refused.keys():
                parts[path] = named if refused else ()
    return CheckRemedy(_fixes(parts), tuple(by_hand), tuple(left_out))


def lockable(health: Health, roots: Collection[str]) -> CheckRemedy:
    """Return what `lock` can lock in roots, whatever is found there: all, or without the providers that it refuses."""
    parts: dict[str, Collection[ProviderAddress]] = {}
    left_out: list[LeftOut] = []
    for root in health.review.roots:
        reach = health.reach.get(root.path, RootReach())
        if root.path not in roots:
            continue
        if reason := reach.unreadable or reach.unlockable:
            left_out.append(LeftOut(root.path, None, reason))
            continue
        refused = _refusals(root, reach)
        left_out += (LeftOut(root.path, one, why) for one, why in refused.items())
        names = reach.required - refused.keys() if refused else ()
        if names or not refused:
            parts[root.path] = names
    return CheckRemedy(_fixes(parts), (), tuple(left_out))


def upgradable(health: Health, roots: Collection[str], providers: Collection[ProviderAddress]) -> CheckRemedy:
    """Return the upgrade of providers in those of some roots that require them.

    A root that neither requires nor locks a provider is not said to be left out; one that cannot be read may do either.
    """
    found: dict[str, set[ProviderAddress]] = {}
    left_out: list[LeftOut] = []
    for root in sorted((one for one in health.review.roots if one.path in roots), key=lambda one: one.path):
        reach = health.reach.get(root.path, RootReach())
        if reach.unreadable:
            left_out.append(LeftOut(root.path, None, reach.unreadable))
            continue
        concerned = reach.required | {entry.address for entry in root.new.entries}
        refused = {one: _obstacle(one, (), None, reach) for one in sorted(concerned.intersection(providers))}
        left_out += (LeftOut(root.path, one, reason) for one, reason in refused.items() if reason)
        if own := {one for one, reason in refused.items() if not reason}:
            found[root.path] = own
    return CheckRemedy(_fixes(found), (), tuple(left_out))


def _fixes(parts: Mapping[str, Iterable[ProviderAddress]]) -> tuple[Fix, ...]:
    """Return one command for the roots with the same providers: no root gets what only another one needs."""
    by_names: dict[tuple[ProviderAddress, ...], list[str]] = {}
    for path, addresses in parts.items():
        by_names.setdefault(tuple(sorted(addresses)), []).append(path)
    return tuple(Fix(tuple(sorted(paths)), names) for names, paths in sorted(by_names.items()))


def _refusals(root: RootReview, reach: RootReach) -> dict[ProviderAddress, str]:
    """Return the providers of a root that `lock` refuses for the required platforms, each with the reason."""
    own = [(one.provider, one) for one in root.findings if one.provider is not None]
    refused = {address: RULES[one.rule].effect.refusal for address, one in own if _is_refused(one)}
    refused |= {address: _CASES[one.case] for address, one in own if one.case in _CASES}
    return {**refused, **dict.fromkeys(reach.of_init, OF_INIT), **reach.unselectable}


def _is_refused(finding: Finding) -> bool:
    return bool(RULES[finding.rule].effect.refusal) and not wording_of(finding).is_lockable


def _removal(lock_file: str, found: Iterable[Finding]) -> str:
    lines = [str(line) for line in sorted({one.line for one in found if one.line is not None})]
    words = f"hashes at lines {listing(lines)}" if len(lines) > 1 else f"hash at line {lines[0]}" if lines else "hashes"
    return f"remove the {words} of {lock_file}"


def command_words(check: Check, fix: Fix, health: Health) -> tuple[str, ...]:
    """Return the command of a fix, as words."""
    required = health.review.policy.required if check.command == "lock" else ()
    platforms = (word for each in required for word in ("--platform", str(each)))
    return tuple(command_on(health.top, check.command, *check.options, *platforms, *fix.words, roots=fix.roots))


def commands_text(check: Check, found: CheckRemedy, health: Health) -> str:
    """Return the commands of a remedy as a shell reads them; "" if there is none."""
    return " && ".join(shell_words(command_words(check, fix, health)) for fix in found.fixes)


def command_title(check: Check) -> str:
    """Return "fix" for a command that writes, "see" for one that lists more; of what `--safe` may leave, it says so."""
    if check.options:
        return "fix, where no decision is needed (--list in place of --safe shows where)"
    return "fix" if check.command in _WRITING else "see"
