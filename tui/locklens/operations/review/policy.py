"""The effective policy: that of the base, so that no change is judged by rules that it introduces.

A base whose fork point is compared uses the policy of its tip: the branch may begin before there was a policy. A folder
without git has a single side, no change could introduce rules, and its own policy applies. Two files that are compared
have none unless one is named. A repository without a commit has none either. What only the head accepts or pins is a
proposal, which counts where the base permits that.

A policy that names no install paths gets those of the user's CLI configuration. They are in use on this machine, so
they count for its platform alone: a pipeline does not have a laptop's plugin cache.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.errors import ConfigurationError, RepositoryError
from locklens.policy import MAX_POLICY_BYTES, POLICY_FILE, Acceptance, AcceptFrom, InstallPath, Pin, Policy, parse
from locklens.policy.model import (
    LocalPath,
    PolicyChange,
    are_decisions,
    differing_keys,
    in_force,
    own_keys,
    proposed,
    with_proposed,
)
from locklens.review.model import Change, PolicySide
from locklens.review.rules.catalogue import RULES
from locklens.text import ID_DIGITS, counted, identity_of, listing, reason_of, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.operations.comparison import Comparison
    from locklens.policy.reading import ShownValue
    from locklens.project.installation import InstallationMethod

_FIX = "fix it, or use another file with --policy FILE"


class EffectivePolicy(Struct, frozen=True):
    """The effective policy.

    Attributes:
        policy: Without acceptances that no longer hold; with what the head accepts and pins where the base permits
            that.
        notes: Sentences about what does not apply: a different policy of the other side, what that proposes,
            acceptances and ignored advisories that no longer hold, and pins that are due for a review.
        change: The difference to the other side's policy; None without one, or where no side brings it along.
        taken_acceptances: The acceptances in force that only the head has.
        taken_pins: The same of its pins.
        pending: The acceptances that only the head has, and that do not count until the base has them.
        lacking: The keys that the base alone changed since the head began.
    """

    policy: Policy
    side: PolicySide
    notes: tuple[str, ...] = ()
    change: PolicyChange | None = None
    taken_acceptances: tuple[Acceptance, ...] = ()
    taken_pins: tuple[Pin, ...] = ()
    pending: tuple[Acceptance, ...] = ()
    lacking: tuple[str, ...] = ()


def effective_policy(comparison: Comparison, given: Path | None) -> EffectivePolicy:
    """Return the policy that a comparison is judged by, at the top of its base or its tip, or the file that was named.

    Raises:
        ConfigurationError: The policy has a mistake, or the file that was named cannot be read.
        RepositoryError: Git failed.
    """
    if given is not None:
        return _in_force(read_given(given), PolicySide.GIVEN)
    if comparison.policy_side is PolicySide.NONE:
        return EffectivePolicy(Policy(), PolicySide.NONE)
    if comparison.policy_side is not PolicySide.BASE:
        data = comparison.head.tree.read(POLICY_FILE)
        policy = _parsed(data, "") if data is not None else Policy()
        return _in_force(policy, comparison.policy_side if data is not None else PolicySide.NONE)
    side = comparison.authority
    data, other = side.tree.read(POLICY_FILE), comparison.head.tree.read(POLICY_FILE)
    base = _parsed(data, side.name) if data is not None else Policy()
    origin = PolicySide.NONE if data is None else PolicySide.BASE
    if other == data:
        return _in_force(base, origin)
    head, problem = _of_head(other)
    # What the tip alone changed since the fork point is no change of the head: a merge leaves it as the tip has it.
    forked = comparison.base.tree.read(POLICY_FILE) if comparison.tip is not None else data
    fork, unread = _of_head(forked)
    fork = base if unread else fork
    begun = fork if comparison.tip is not None else _at_fork_point(comparison, base)
    lacking = own_keys(head, base, begun) if not problem else ()
    differing = differing_keys(base, head) if not problem else ()
    keys = own_keys(base, head, fork) if not problem else ()
    if other == forked or (differing and not keys):
        return replace(_in_force(base, origin), lacking=lacking)
    permits = base.accept_from is AcceptFrom.HEAD and are_decisions(keys) and not problem
    notes = [_ignored(other, data, comparison.head.in_words, side.name)] if not permits else []
    more = proposed(base, proposed(begun, head))
    policy = with_proposed(base, more)
    if policy is base:
        notes += _proposals(more)
    change = PolicyChange(
        f"the base ({side.name})",
        comparison.head.in_words,
        _differences(base, head, keys, fork) if keys else (),
        has_base=data is not None,
        is_removed=other is None,
        problem=problem,
        is_unpermitted=bool(problem or keys) and not permits,
        is_of_decisions=are_decisions(keys),
        is_since_fork=comparison.tip is not None,
        line=min(
            [*(one.line for one in more.accept), *(pin.line for pin in more.trust), *_added_lines(forked, other)],
            default=None,
        ),
        content=identity_of((other or b"").decode("latin-1")),
        lacking=lacking,
    )
    effective = replace(_in_force(policy, origin, notes, change), lacking=lacking)
    if policy is base:
        return replace(effective, pending=in_force(more, datetime.now(UTC).date()).accept)
    return replace(effective, taken_acceptances=more.accept, taken_pins=more.trust)


def _at_fork_point(comparison: Comparison, base: Policy) -> Policy:
    """Return the policy that the head began with: what it has of that is not proposed. Where it is unknown, `base`."""
    repository, revision = comparison.repository, comparison.base.revision
    if repository is None or revision is None or repository.is_unborn:
        return base
    try:
        fork = repository.merge_base(revision, comparison.head.revision or repository.resolve("HEAD"))
        policy, unread = _of_head(repository.show(fork, POLICY_FILE))
    except RepositoryError:
        return base
    return base if unread else policy


def _in_force(
    policy: Policy, side: PolicySide, notes: Sequence[str] = (), change: PolicyChange | None = None
) -> EffectivePolicy:
    """Return a policy without the acceptances that no longer hold, which are noted."""
    today = datetime.now(UTC).date()
    return EffectivePolicy(in_force(policy, today), side, (*notes, *overdue(policy, today)), change)


def overdue(policy: Policy, today: date) -> tuple[str, ...]:
    """Return sentences about what no longer holds, and the pins that were to be reviewed by now."""
    outdated = (_outdated(one, policy.file) for one in policy.accept if one.is_outdated)
    expired = (
        f"{policy.file}:{one.line}: the acceptance of {one.rule} for {one.provider} expired after {one.until}"
        for one in policy.accept
        if one.has_expired(today) and not one.is_outdated
    )
    due = (
        f"{policy.file}:{pin.line}: the pin of {pin.name} was to be reviewed by {pin.review_by}"
        for pin in policy.trust
        if pin.review_by is not None and pin.review_by < today
    )
    ignored = (
        f"{policy.file}:{one.line}: the advisory {one.id} counts again: it was to be ignored until {one.until}"
        for one in policy.advisories
        if one.has_expired(today)
    )
    return (*outdated, *expired, *due, *ignored)


def _outdated(one: Acceptance, file: str) -> str:
    words = f"{one.change} has {len(one.change)} digits, and ids of changes have {ID_DIGITS}"
    lead = f"{file}:{one.line}: the acceptance of {one.rule} for {one.provider} passes nothing"
    return f"{lead}: {words}; remove it, and accept the finding again"


def dangling(policy: Policy, changes: Iterable[Change]) -> tuple[str, ...]:
    """Return one sentence about the acceptances of none of the changes; none where there is no change."""
    known = {(str(change.address), change.id) for change in changes}
    left = [one for one in policy.accept if (one.provider, one.change) not in known]
    if not known or not left:
        return ()
    names = listing([f"{policy.file}:{one.line} ({one.rule} of {one.provider}, {one.change})" for one in left])
    return (f"accepted findings that match no change here: {names}; remove those whose change is merged or given up",)


def _of_head(data: bytes | None) -> tuple[Policy, str]:
    """Return the policy of the side that does not judge, and what is wrong with it."""
    try:
        return (parse(data, POLICY_FILE, RULES) if data is not None else Policy()), ""
    except ConfigurationError as error:
        return Policy(), str(error)


def _ignored(other: bytes | None, data: bytes | None, name: str, base: str) -> str:
    if data is None:
        return f"{POLICY_FILE} in {name} does not count: the base ({base}) has no policy"
    if other is None:
        return f"{POLICY_FILE} is missing in {name}: that of the base ({base}) applies"
    return f"{POLICY_FILE} in {name} differs from that of the base ({base}), which applies"


def _proposals(more: Policy) -> Iterator[str]:
    """Yield sentences about what the head accepts and pins, which does not count."""
    for one in more.accept:
        if one.is_outdated:
            yield _outdated(one, POLICY_FILE)
            continue
        until = f", until {one.until}" if one.until is not None else ""
        words = f"pending acceptance of {one.rule} for {one.provider} ({POLICY_FILE}:{one.line}), not counted yet"
        yield f"{words}: {one.reason} ({one.by}{until})"
    for pin in more.trust:
        words = f"pending pin of {pin.name} to {' and '.join(pin.keys)} ({POLICY_FILE}:{pin.line}), not counted yet"
        yield f"{words}{f': {pin.why}' if pin.why else ''}"


def policy_for(folder: Path, given: Path | None) -> EffectivePolicy:
    """Return the file that was named on the command line, or the policy of a folder; raises what `policy_at` raises."""
    return policy_at(folder) if given is None else _in_force(read_given(given), PolicySide.GIVEN)


def policy_at(folder: Path) -> EffectivePolicy:
    """Return the policy for a write in a folder: that of HEAD, as for a review, or without git the folder's own.

    Raises:
        ConfigurationError: The policy has a mistake.
        RepositoryError: Git failed.
    """
    from locklens.errors import NoRepositoryError
    from locklens.project.git import Repository
    from locklens.project.gittree import SparseWorkTree
    from locklens.project.tree import FileSystem

    try:
        repository = Repository.discover(folder)
    except NoRepositoryError:
        data = FileSystem(folder).read(POLICY_FILE)
        side = PolicySide.HEAD if data is not None else PolicySide.NONE
        return _in_force(Policy() if data is None else _parsed(data, ""), side)
    with repository:
        data = None if repository.is_unborn else repository.show(repository.resolve("HEAD"), POLICY_FILE)
        other = None if repository.is_bare else SparseWorkTree(repository).read(POLICY_FILE)
    notes = [_ignored(other, data, "the work tree", "HEAD")] if other != data else []
    if data is None:
        return EffectivePolicy(Policy(), PolicySide.NONE, tuple(notes))
    return _in_force(_parsed(data, "HEAD"), PolicySide.BASE, notes)


def _parsed(data: bytes, revision: str) -> Policy:
    """Read a policy; a mistake is reported with the revision, as git names files of revisions."""
    path = f"{revision}:{POLICY_FILE}" if revision else POLICY_FILE
    try:
        return replace(parse(data, path, RULES), file=POLICY_FILE)
    except ConfigurationError as error:
        error.hint = error.hint or _FIX
        raise


def read_given(path: Path) -> Policy:
    """Read a policy that was named on the command line; raises what `effective_policy` raises."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_POLICY_BYTES + 1)
    except OSError as error:
        words = f"the policy cannot be read: {reason_of(error)}"
        raise ConfigurationError(words, path=str(path)) from error
    return parse(data, str(path), RULES)


def _added_lines(old: bytes | None, new: bytes | None) -> list[int]:
    """Return the numbers of the lines that a file has and an older state has not: comments where it has no other."""
    before = set((old or b"").splitlines())
    added = [(number, text) for number, text in enumerate((new or b"").splitlines(), 1) if text not in before]
    settings = [number for number, text in added if text.strip() and not text.strip().startswith(b"#")]
    return settings or [number for number, _ in added]


def _differences(old: Policy, new: Policy, keys: Iterable[str], fork: Policy) -> tuple[str, ...]:
    """Return each value that differs, as both sides have it; the name of a key whose values read the same.

    Of lists the entries that are added and removed are named. Values that the new policy has from the fork point are
    left out, and of acceptances, each of which a note names, those beyond the first few.
    """
    before, after, forked = ({one.key: one for one in _shown(policy)} for policy in (old, new, fork))
    found: dict[str, list[str]] = {key: [] for key in keys}
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name), after.get(name)
        is_from_fork = _text(now) in (_text(was), _text(forked.get(name)))
        if not is_from_fork and (key := name.partition(".")[0]) in found:
            found[key].append(f"{name}{_step(was, now, forked.get(name))}")
    if (more := len(found.get("accept", ())) - _ACCEPTANCES_NAMED) > 0:
        found["accept"][_ACCEPTANCES_NAMED:] = [f"{counted(more, 'more acceptance')}"]
    return tuple(words for key, values in found.items() for words in values or [key])


_ACCEPTANCES_NAMED = 8
_LONGEST_VALUE = 80


def _text(shown: ShownValue | None) -> str | None:
    return shown.text if shown is not None else None


def _step(was: ShownValue | None, now: ShownValue | None, forked: ShownValue | None) -> str:
    """Return how a value differs: of lists the entries that the new side added and removed, as the rest may be long."""
    lists = [one.value for one in (was, now, forked) if one is not None and isinstance(one.value, list)]
    if len(lists) < len((was, now, forked)):
        return f" {_value(was)} -> {_value(now)}"
    theirs, ours, before = lists
    added = [f'+ "{one}"' for one in ours if one not in before and one not in theirs]
    removed = [f'- "{one}"' for one in before if one not in ours and one in theirs]
    return f": {', '.join((*added, *removed)) or 'in another order'}"


def _value(shown: ShownValue | None) -> str:
    if shown is None:
        return "absent"
    return f'"{shown.text if isinstance(shown.value, list) else shortened(shown.text, _LONGEST_VALUE)}"'


def _shown(policy: Policy) -> Iterator[ShownValue]:
    from locklens.policy.reading import shown_values

    return shown_values(policy, {rule: entry.severity.value for rule, entry in RULES.items()})


class PolicyValue(Struct, frozen=True):
    """One rule in force; `origin` is base, head, given or default."""

    shown: ShownValue
    origin: str


def values_in_force(effective: EffectivePolicy) -> tuple[PolicyValue, ...]:
    """Return the value of every key; those of tables and lists one by one."""
    taken = (*effective.taken_pins, *effective.taken_acceptances)
    found = []
    for shown in _shown(effective.policy):
        origin = PolicySide.HEAD if shown.entry in taken else effective.side
        is_default = not shown.is_set or origin is PolicySide.NONE
        found.append(PolicyValue(shown, "default" if is_default else origin.value))
    return tuple(found)


def with_local_paths(policy: Policy, environ: Mapping[str, str], tools: Iterable[Dialect]) -> Policy:
    """Return a policy with this machine's install paths for the tools; as it is where it names install paths itself."""
    if policy.names_paths:
        return policy
    found = (each for tool in tools for each in _paths(tool, environ))
    local = tuple(dict.fromkeys(each for each in found if each.path not in policy.install_paths))
    if not local:
        return policy
    from locklens.project.clifiles import this_platform

    return replace(policy, local=local, local_platform=Platform.parse(this_platform()))


def _paths(tool: Dialect, environ: Mapping[str, str]) -> Iterator[LocalPath]:
    from locklens.project.cliconfig import read_cli_config

    config = read_cli_config(tool, environ)
    if config.plugin_cache_dir:
        yield LocalPath(InstallPath.PLUGIN_CACHE, _all)
    for method in config.installation.methods if config.installation is not None else ():
        yield from (LocalPath(path, _Accepting(method)) for path in _paths_of(method))


def _all(_: ProviderAddress) -> bool:
    """Every provider goes through the plugin cache."""
    return True


class _Accepting(Struct, frozen=True):
    """A method's test of a provider, as a value: that of an equal method is equal, unlike a bound function."""

    method: InstallationMethod

    def __call__(self, address: ProviderAddress) -> bool:
        return self.method.accepts(address)


def _paths_of(method: InstallationMethod) -> Iterator[InstallPath]:
    from locklens.project.installation import MethodKind
    from locklens.sources.mirrors import first_package

    match method.kind:
        case MethodKind.NETWORK:
            yield InstallPath.PACKED_MIRROR
        case MethodKind.OCI:
            yield InstallPath.OCI_MIRROR
        case MethodKind.FILESYSTEM:
            found = first_package(Path(method.place))
            if found is not None:
                yield InstallPath.UNPACKED_MIRROR if found.is_folder else InstallPath.PACKED_MIRROR
        case MethodKind.DIRECT:
            pass
        case _:
            assert_never(method.kind)
