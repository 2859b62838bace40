"""The rules that files alone can decide, each one short function. What each means is in `rules`.

A rule about a change looks at that change. A rule about a root looks at the lock file as it is now, and at the
configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.hashes import Scheme, count_by_scheme, is_known_scheme, is_well_formed, packages_of
from locklens.lockfile.render import deviations
from locklens.policy import Policy
from locklens.project.configuration import Contributor
from locklens.review.model import Bump, Change, ChangeKind, Finding, RootReview, Severity
from locklens.review.rules import RULES
from locklens.review.verdicts import Verdict, finding_of, in_order
from locklens.text import listing
from locklens.versions import Constraints, ConstraintSyntaxError, Relation

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.lockfile.model import Conflict, LockEntry, LockFile
    from locklens.project.configuration import Configuration, Requirement


_NO_POLICY = Policy.none()


def _downgrade(change: Change) -> Iterator[Verdict]:
    if change.old and change.new and change.new.version.compare(change.old.version) < 0:
        yield Verdict(f"{change.old.version} -> {change.new.version} is a downgrade")


def _major(change: Change) -> Iterator[Verdict]:
    if change.bump is Bump.MAJOR and change.old and change.new and change.new.version.compare(change.old.version) > 0:
        yield Verdict(f"major version {change.old.version.major} -> {change.new.version.major}")


def _not_ascii(change: Change) -> Iterator[Verdict]:
    address = change.address
    if address.ascii == str(address):
        return
    words = f"{address} is {address.ascii} in ASCII"
    if not address.mixed_scripts:
        yield Verdict(words)
        return
    is_named_first = change.old is None or change.moved_from is not None
    mixture = " and ".join(address.mixed_scripts)
    yield Verdict(f"{words}: it mixes {mixture} letters", severity=Severity.WARN if is_named_first else None)


def _prerelease(change: Change) -> Iterator[Verdict]:
    version_changed = change.new is not None and (change.old is None or change.old.version != change.new.version)
    if change.new is not None and version_changed and change.new.version.prerelease:
        yield Verdict(f"{change.new.version} is a pre-release")


def _odd_hashes(change: Change) -> Iterator[Verdict]:
    if change.new is None:
        return
    for text in dict.fromkeys(change.new.hashes):
        if not is_known_scheme(text):
            yield Verdict(f"{_shortened(text)} is of a scheme that the tools do not know", change.new.line_of(text))
        elif not is_well_formed(text):
            yield Verdict(f"{_shortened(text)} is no digest and can never match", change.new.line_of(text))


def _no_signed_scheme(change: Change) -> Iterator[Verdict]:
    if change.new is None or change.new.with_scheme(Scheme.ZH):
        return
    if change.new.hashes:
        yield Verdict("only h1 hashes: locked from a mirror or a cache, nothing signed stands behind it")
        return
    words = "no hashes at all: whatever is downloaded will be accepted"
    if change.old is not None and change.old.hashes:
        # No tool takes the last hash out of an entry, be it for another version.
        yield Verdict(f"{words}; {count_by_scheme(change.old.hashes)} before", severity=Severity.BLOCK)
    else:
        yield Verdict(words)


_RELATIONS = {
    Relation.SAME: "the same releases",
    Relation.WIDENED: "wider",
    Relation.NARROWED: "narrower",
    Relation.SHIFTED: "other releases",
    Relation.DISJOINT: "no release in common",
}


def _constraints_changed(change: Change) -> Iterator[Verdict]:
    if not change.old or not change.new or change.old.constraints == change.new.constraints:
        return
    before, after = change.old.constraints, change.new.constraints
    try:
        relation = Constraints.parse_recorded(after).relation_to(Constraints.parse_recorded(before))
    except ConstraintSyntaxError:
        return
    yield Verdict(f"constraints {before or 'any'} -> {after or 'any'} ({_RELATIONS[relation]})", change.new.line)


def _fewer_h1(change: Change, policy: Policy) -> Iterator[Verdict]:
    if not change.old or not change.new:
        return
    before, after = len(change.old.with_scheme(Scheme.H1)), len(change.new.with_scheme(Scheme.H1))
    if before > 1 and after < before:
        used = any(path.needs_h1 for path in policy.install_paths)
        yield Verdict(
            f"{before} h1 before, {after} now: with a cache or an unpacked mirror some platforms stop to install",
            severity=Severity.WARN if used else None,
        )


def _edited_by_hand(change: Change) -> Iterator[Verdict]:
    if not change.old or not change.new or change.old.version == change.new.version or not change.new.hashes:
        return
    kept = packages_of(change.old.hashes) & packages_of(change.new.hashes)
    kept |= change.old.with_scheme(Scheme.H1) & change.new.with_scheme(Scheme.H1)
    versions = f"{change.new.version} has", f"of {change.old.version}: edited by hand"
    if set(change.old.hashes) == set(change.new.hashes):
        yield Verdict(f"{versions[0]} exactly the hashes {versions[1]}", change.new.line)
    elif kept:
        yield Verdict(f"{versions[0]} {count_by_scheme(kept)} {versions[1]}", change.new.line_of(min(kept)))


_CHANGE_RULES: Mapping[str, Callable[[Change], Iterator[Verdict]]] = {
    "LK004": _downgrade,
    "LK013": _major,
    "LK016": _prerelease,
    "LK017": _odd_hashes,
    "LK020": _no_signed_scheme,
    "LK021": _constraints_changed,
    "LK025": _edited_by_hand,
    "LK034": _not_ascii,
}


def judge_change(change: Change, lock_file: str, policy: Policy = _NO_POLICY) -> Change:
    """Returns the change with the findings that it earns by itself; a removed provider earns none."""
    if change.kind is ChangeKind.REMOVED:
        return change
    line = change.new.line if change.new else None
    verdicts = [(rule, verdict) for rule, check in _CHANGE_RULES.items() for verdict in check(change)]
    verdicts += [("LK024", verdict) for verdict in _fewer_h1(change, policy)]
    found = tuple(finding_of(rule, verdict, lock_file, line) for rule, verdict in verdicts)
    return replace(change, findings=in_order(change.findings + found))


def judge_file(lock: LockFile, *, changed: bool) -> tuple[Finding, ...]:
    """Judges a lock file as a text: what the tools refuse, and, if its bytes changed, what they would not write."""
    refused = [
        Finding(
            "LK019",
            RULES["LK019"].severity,
            f"{problem.summary}: {problem.detail}",
            lock.path,
            problem.line,
            problem.column,
        )
        for problem in lock.problems
    ]
    if lock.conflict is not None:
        refused += _half_conflicts(lock, lock.conflict)
    odd = (
        [*deviations(lock), *(f"a module block (line {warning.line})" for warning in lock.warnings)] if changed else []
    )
    noted = (
        [Finding("LK018", RULES["LK018"].severity, f"not as the tools write it: {', '.join(odd)}", lock.path)]
        if odd
        else []
    )
    return (*refused, *noted)


def judge_tool(before: Dialect, now: Dialect, lock_file: str, *, has_migrated: bool) -> Finding:
    """Says that a root was locked by one tool and is by the other now, and by whose rules it is judged."""
    words = f"locked by {before.product} before, by {now.product} now: "
    if has_migrated:
        words += f"its providers are of {now.default_host}, and judged by {now.product}'s rules"
    else:
        words += f"judged by {before.product}'s rules; --tool {now.name} judges by {now.product}'s"
    return Finding("LK032", RULES["LK032"].severity, words, lock_file, 1)


def _half_conflicts(lock: LockFile, conflict: Conflict) -> Iterator[Finding]:
    """Finds providers whose versions are in conflict and whose hashes git merged: one has the other's hashes now."""
    theirs = conflict.theirs.by_address
    for entry in conflict.ours.entries:
        other = theirs.get(entry.address)
        if other is not None and entry.version != other.version and set(entry.hashes) & packages_of(other.hashes):
            versions = f"with {entry.version} and with {other.version}"
            message = f"{entry.address} has the same hashes {versions}: one of them is wrong"
            yield Finding("LK019", RULES["LK019"].severity, message, lock.path, entry.line)


def judge_requirements(root: RootReview, lock: LockFile, configuration: Configuration) -> RootReview:
    """Holds a lock file against the configuration that it is for.

    Findings about a provider with a listed change go to that change, all others to the root. A folder without any
    configuration asks for nothing that could be missing, and is not judged.
    """
    if not configuration.has_files or not lock.is_complete:
        return replace(root, configuration=configuration)
    listed = {change.address for change in root.changes}
    by_address: dict[ProviderAddress | None, list[Finding]] = {}
    for address, finding in _held_against(lock, configuration, listed):
        is_listed = address in listed
        found = finding if is_listed else replace(finding, provider=address)
        by_address.setdefault(address if is_listed else None, []).append(found)
    changes = tuple(
        replace(
            change,
            required_by=askers(configuration.of(change.address)),
            findings=in_order((*change.findings, *by_address.get(change.address, ()))),
        )
        for change in root.changes
    )
    findings = in_order((*root.findings, *by_address.get(None, ())))
    return replace(root, configuration=configuration, changes=changes, findings=findings)


def judge_provider(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> tuple[Finding, ...]:
    """Holds one provider's entry, changed or not, against the configuration; a folder without one asks for nothing."""
    if not configuration.has_files or not lock.is_complete:
        return ()
    found = _held_against(lock, configuration, {address})
    return in_order(finding for judged, finding in found if judged == address)


def _held_against(
    lock: LockFile, configuration: Configuration, listed: set[ProviderAddress]
) -> Iterator[tuple[ProviderAddress | None, Finding]]:
    """Judges every entry; `listed` are the providers of which each is to have a finding of its own."""
    verdicts: list[tuple[str, ProviderAddress | None, Verdict]] = []
    verdicts += [("LK005", address, verdict) for address, verdict in _unsatisfied(lock, configuration)]
    verdicts += [("LK006", address, verdict) for address, verdict in _not_locked(lock, configuration)]
    verdicts += [("LK007", address, verdict) for address, verdict in _not_required(lock, configuration, listed)]
    for rule, address, verdict in verdicts:
        entry = lock.by_address.get(address) if address else None
        yield address, finding_of(rule, verdict, lock.path, entry.line if entry else None)


Judged = Iterator[tuple[ProviderAddress, Verdict]]


def _unsatisfied(lock: LockFile, configuration: Configuration) -> Judged:
    for entry in lock.entries:
        requirements = configuration.of(entry.address)
        if not requirements or configuration.constraints(entry.address).admits(entry.version):
            continue
        against = [one for one in requirements if one.constraints.excluded_by(entry.version)]
        name = f"{entry.address} {entry.version}"
        if against:
            places = ", ".join(f"{one.constraint} ({one.file}:{one.line})" for one in against)
            yield (
                entry.address,
                Verdict(f"{name} is locked and does not satisfy {places}", against[0].line, against[0].file),
            )
        else:
            yield entry.address, Verdict(f"{name} is locked, and no constraint names this version exactly", entry.line)


def _not_locked(lock: LockFile, configuration: Configuration) -> Judged:
    locked = lock.by_address
    for address in sorted(configuration.required()):
        if address not in locked and address not in lock.unreadable:
            asked = askers(configuration.of(address))
            message = f"{address} is required by {_places(asked)} and is not locked"
            yield address, Verdict(message, asked[0].line, asked[0].file)


def askers(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """The requirements that a person wants to see: each declaration, and for a module without one its first use."""
    found = tuple(requirements)
    settled = {one.module for one in found if one.contributor is Contributor.REQUIRED_PROVIDERS}
    shown = []
    for one in found:
        if one.contributor is Contributor.REQUIRED_PROVIDERS or one.constraint:
            shown.append(one)
        elif one.module not in settled:
            settled.add(one.module)
            shown.append(one)
    return tuple(shown)


def _not_required(
    lock: LockFile, configuration: Configuration, listed: set[ProviderAddress]
) -> Iterator[tuple[ProviderAddress | None, Verdict]]:
    required = configuration.required()
    orphans = [entry for entry in lock.entries if entry.address not in required]
    unknown = unknown_reason(configuration)
    if not unknown:
        for entry in orphans:
            yield entry.address, Verdict(f"nothing requires {entry.address}", entry.line)
        return
    for entry in (entry for entry in orphans if entry.address in listed):
        yield (
            entry.address,
            Verdict(
                f"cannot say whether anything requires {entry.address}: {unknown}", entry.line, None, Severity.INFO
            ),
        )
    rest = [str(entry.address) for entry in orphans if entry.address not in listed]
    if rest:
        yield (
            None,
            Verdict(f"cannot say whether anything requires {listing(rest)}: {unknown}", None, None, Severity.INFO),
        )


def unknown_reason(configuration: Configuration) -> str:
    """Why it cannot be said that nothing requires a provider; "" where it can."""
    if configuration.missing_modules:
        names = [f"{module.call} ({module.source})" for module in configuration.missing_modules]
        return f"not fetched: module {listing(names)}" if len(names) == 1 else f"not fetched: modules {listing(names)}"
    errors = [problem for problem in configuration.problems if problem.is_error]
    if errors:
        place = f"{errors[0].file}:{errors[0].line}" if errors[0].line else errors[0].file
        return f"the configuration has an error ({place})"
    if configuration.state.kind in {"remote", "unreadable"}:
        return configuration.state.detail or "the state is remote"
    return "" if configuration.complete else "the configuration could not be read whole"


def judge_agreement(
    roots: Sequence[RootReview], locks: Mapping[str, Iterable[LockEntry]], names: Mapping[str, str]
) -> tuple[RootReview, ...]:
    """Finds versions whose `zh` differ between a changed root and any other root of the repository.

    Args:
        roots: The roots under review.
        locks: The entries of every lock file of the new side, by root folder.
        names: The lock file's path, by root folder.
    """
    known: dict[tuple[ProviderAddress, str], list[tuple[str, LockEntry, frozenset[str]]]] = {}
    for path, entries in locks.items():
        for entry in entries:
            if packages := packages_of(entry.hashes):
                known.setdefault((entry.address, str(entry.version)), []).append((path, entry, packages))
    return tuple(
        replace(root, changes=tuple(_agreeing(change, root, known, names) for change in root.changes)) for root in roots
    )


def _agreeing(
    change: Change,
    root: RootReview,
    known: Mapping[tuple[ProviderAddress, str], list[tuple[str, LockEntry, frozenset[str]]]],
    names: Mapping[str, str],
) -> Change:
    own = packages_of(change.new.hashes) if change.new else frozenset[str]()
    if not change.new or not own or change.kind is ChangeKind.UNCHANGED:
        return change
    others = known.get((change.address, str(change.new.version)), ())
    rivals = [
        (path, entry)
        for path, entry, packages in others
        if path != root.path and not (own <= packages or packages <= own)
    ]
    if not rivals:
        return change
    places = listing([f"{names[path]}:{entry.line}" for path, entry in rivals])
    verdict = Verdict(f"{change.address} {change.new.version} has other zh hashes in {places}", change.new.line)
    found = finding_of("LK023", verdict, root.lock_file, None)
    return replace(change, findings=in_order((*change.findings, found)))


def _shortened(text: str) -> str:
    return text if len(text) <= 24 else text[:21] + "..."


def _places(requirements: Sequence[Requirement]) -> str:
    return listing([f"{one.file}:{one.line}" for one in requirements])
