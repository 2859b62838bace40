"""Makes the commit message of a plan, which quotes its review.

The message has the changes since HEAD in its subject, and the review and the signers in trailers: its last paragraph,
`Key: value` each, as `git interpret-trailers` reads them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.addresses import ProviderAddress, display_host
from locklens.lockfile.parse import parse
from locklens.operations.plan.review import ON_DISK, known_findings, planned_lock_files
from locklens.operations.root_modules import lock_path
from locklens.project import LOCK_FILE
from locklens.review.model import Change, ChangeKind, Review
from locklens.review.reports import findings_in_words, hashes_of_review
from locklens.text import counted, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from locklens.operations.plan import Plan, PlannedChange

SUBJECT_LENGTH = 72
"""Columns of a subject that tools show."""

_VERBS = {
    "upgrade": "upgrade",
    "downgrade": "downgrade",
    "add": "lock",
    "restore": "restore",
    "move": "move",
    "remove": "remove",
    "hashes": "update the hashes of",
    "constraints": "update the constraints of",
}
_KINDS = {
    ChangeKind.UPGRADE: "upgrade",
    ChangeKind.DOWNGRADE: "downgrade",
    ChangeKind.NEW_PROVIDER: "new provider",
    ChangeKind.REMOVED: "removal",
    ChangeKind.MOVED: "move",
    ChangeKind.CONSTRAINTS_ONLY: "change of constraints",
}
_HASHES = "change of hashes"
_PLURALS = {"change of constraints": "changes of constraints", _HASHES: "changes of hashes"}
_NAMED = 2


def commit_message(plan: Plan, review: Review | None, *, title: str = "") -> str:
    """Return the whole message, without a line feed at its end; "" for a plan that writes nothing.

    Without a review it has no trailers. The title of the operation is the message of a plan that writes no lock file.
    Files that git ignores are left out, of which no commit can be made.
    """
    if plan.ignored:
        plan, review = _without_ignored(plan, review)
    if not plan.proposal.files:
        return ""
    if title and not any(file.path.endswith(LOCK_FILE) for file in plan.proposal.files):
        return visible(title)
    subject = _subject(plan)
    parts = [subject]
    if review is not None:
        parts.append("\n".join(_trailers(review)))
    return "\n\n".join(parts)


def _without_ignored(plan: Plan, review: Review | None) -> tuple[Plan, Review | None]:
    files = tuple(file for file in plan.proposal.files if file.path not in plan.ignored)
    changes = tuple(change for change in plan.changes if lock_path(change.root) not in plan.ignored)
    plan = replace(plan, proposal=replace(plan.proposal, files=files), changes=changes)
    if review is not None:
        review = replace(review, roots=tuple(root for root in review.roots if root.lock_file not in plan.ignored))
    return plan, review


def _subject(plan: Plan) -> str:
    tries = (_summary(plan, _places, is_brief=False), _summary(plan, _places, is_brief=True))
    brief = _summary(plan, lambda roots: counted(len(roots), "root"), is_brief=True)
    return next((text for text in tries if len(text) <= SUBJECT_LENGTH), brief)


def _summary(plan: Plan, places: Callable[[Sequence[str]], str], *, is_brief: bool) -> str:
    """Return what is done and where; changes of the same roots share these."""
    if not plan.changes or plan.is_merge:
        where = places(sorted(file.path.rpartition("/")[0] for file in planned_lock_files(plan)))
        before = [parse(file.old or b"", file.path) for file in planned_lock_files(plan)]
        if plan.proposal.undoes:
            verb = "Revert"
        elif plan.is_merge:  # of what both sides did, the changes are those from one side alone
            verb = "Merge"
        elif any(lock.conflict is not None for lock in before):
            verb = "Resolve the conflict of"
        elif plan.restored_from or not all(lock.is_valid for lock in before):
            verb = "Restore"
        else:
            verb = "Fix the format of"
        return f"{verb} the lock file in {where}"
    kinds: dict[str, list[PlannedChange]] = {}
    for change in plan.changes:
        kind = "restore" if plan.restored_from and change.new is not None else _change_kind(change)
        kinds.setdefault(kind, []).append(change)
    shared: dict[tuple[str, ...], dict[str, list[str]]] = {}
    added = {
        _VERBS[kind]: _platforms(changes, is_brief=is_brief) for kind, changes in kinds.items() if kind == "hashes"
    }
    short = _short_names({change.address for change in plan.changes})
    for kind, changes in kinds.items():
        for name, alike in _by_name(kind, changes, short, is_brief=is_brief).items():
            roots = tuple(sorted({change.root for change in alike}))
            shared.setdefault(roots, {}).setdefault(_VERBS[kind], []).append(name)
    parts, last = [], ""
    for roots, names_of in shared.items():
        clauses = []
        for verb, names in names_of.items():
            named = f"{' and '.join(names)}{added.get(verb, '')}"
            clauses.append(named if verb == last else f"{verb} {named}")
            last = verb
        parts.append(f"{', '.join(clauses)} in {places(roots)}")
    summary = ", ".join(parts)
    return f"{summary[0].upper()}{summary[1:]}"


def _platforms(changes: Iterable[PlannedChange], *, is_brief: bool) -> str:
    """Return " for" and the platforms that hashes are added of, or their number; "" where changes differ in them."""
    found = {change.platforms for change in changes}
    platforms = found.pop() if len(found) == 1 else ()
    if not platforms:
        return ""
    is_named = len(platforms) <= (1 if is_brief else _NAMED)
    return f" for {' and '.join(map(str, platforms)) if is_named else counted(len(platforms), 'platform')}"


def _change_kind(change: PlannedChange) -> str:
    if change.kind != "change" or change.old is None or change.new is None:
        return change.kind
    return "hashes" if set(change.old.hashes) != set(change.new.hashes) else "constraints"


def _short_names(addresses: Iterable[ProviderAddress]) -> dict[ProviderAddress, str]:
    """Return the name of each provider: its type, with the namespace and the host where others share it."""
    parts = {one: (one.type, one.namespace, display_host(one.host)) for one in addresses}
    shared = Counter(own[:number] for own in parts.values() for number in (1, 2, 3))
    needed = {one: 1 + sum(shared[own[:number]] > 1 for number in (1, 2)) for one, own in parts.items()}
    return {one: visible("/".join(reversed(own[: needed[one]]))) for one, own in parts.items()}


def _by_name(
    kind: str, changes: Sequence[PlannedChange], short: Mapping[ProviderAddress, str], *, is_brief: bool
) -> dict[str, Sequence[PlannedChange]]:
    """Return the changes of one kind by what is named of them: up to two providers with versions, else a number."""
    by_name: dict[str, list[PlannedChange]] = {}
    for change in changes:
        by_name.setdefault(_named(kind, change, short[change.address]), []).append(change)
    if is_brief or len(by_name) > _NAMED:
        return {counted(len({change.address for change in changes}), "provider"): changes}
    return {**by_name}


def _named(kind: str, change: PlannedChange, name: str) -> str:
    if kind in {"upgrade", "downgrade"} and change.new is not None:
        return f"{name} to {visible(str(change.new.version))}"
    if kind == "move":
        return f"{name} to {visible(display_host(change.address.host))}"
    if kind in {"add", "restore"} and change.new is not None:
        return f"{name} {visible(str(change.new.version))}"
    return name


def _places(roots: Sequence[str]) -> str:
    """Return the names of roots, or their number if a shell might not read one as a plain word within quotes."""
    if len(roots) > _NAMED or not all(map(_is_plain, roots)):
        return counted(len(roots), "root")
    return " and ".join(root or "the top folder" for root in roots)


def _is_plain(root: str) -> bool:
    return visible(root) == root and all(character.isalnum() or character in " _-+./@" for character in root)


def _trailers(review: Review) -> Iterable[str]:
    yield f"Lock-Review: {_reviewed(review)}"
    keys = {
        key.fingerprint
        for change in _changed(review)
        if change.new is not None and change.new_signer is not None
        for key in change.new_signer.keys
    }
    if keys:
        yield f"Lock-Signers: {', '.join(sorted(keys))}"


def _changed(review: Review) -> list[Change]:
    """Return the changes without the entries of a merge that stay as they are."""
    return [change for change in review.changes if change.kind is not ChangeKind.UNCHANGED]


def _reviewed(review: Review) -> str:
    kinds: dict[str, list[ProviderAddress]] = {}
    for change in _changed(review):
        kinds.setdefault(_KINDS.get(change.kind, _HASHES), []).append(change.address)
    parts = []
    for kind, addresses in kinds.items():
        # One provider may change in several roots; the subject counts providers.
        providers = len(frozenset(addresses))
        of = f" of {counted(providers, 'provider')}" if providers < len(addresses) else ""
        parts.append(f"{counted(len(addresses), kind, _PLURALS.get(kind, ''))}{of}")
    found, numbers = sum(review.severity_counts.values()), findings_in_words(review)
    parts.append(counted(found, "finding") + (f" ({numbers})" if found else ""))
    for place, counts in known_findings(review).items():
        parts.append(f"{sum(counts.values())} more {'there' if place == ON_DISK else 'committed'} before")
    if hashes := hashes_of_review(review):
        parts.append(hashes)
    lacking = sum(change.lacks_facts for change in _changed(review))
    if lacking and not review.hashes.unverified:
        parts.append(f"not all is known of {counted(lacking, 'change')}")
    return ", ".join(parts)
