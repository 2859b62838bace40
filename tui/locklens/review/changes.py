"""Compares two lock files and gives each provider exactly one kind of change.

The only user of deepdiff: it walks the structure, and one operator of ours compares two entries. It is loaded only
where entries differ. Registry manifests are left out wherever hashes are compared, because every honest upgrade keeps
theirs.
"""

from __future__ import annotations

from msgspec.structs import replace

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.hashes import Scheme, of_scheme, packages_of
from locklens.lockfile.model import LockEntry, LockFile
from locklens.review.model import Bump, Change, ChangeKind, HashFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from locklens.addresses import ProviderAddress
    from locklens.versions import Version

    Entries = Mapping[ProviderAddress, LockEntry]


def compare(old: LockFile, new: LockFile, *, include_unchanged: bool = False) -> tuple[Change, ...]:
    """Compares two readings of one lock file.

    What is missing from a side that could not be read whole is not taken for removed or new.

    Returns:
        One change for each provider that differs, and with `include_unchanged` for every provider, in the lock file's
        order.
    """
    before, after = old.by_address, new.by_address
    if not new.is_complete:
        before = {address: entry for address, entry in before.items() if address in after}
    if not old.is_complete:
        after = {address: entry for address, entry in after.items() if address in before}
    unknown = old.unreadable | new.unreadable
    before, after = _only(before, before.keys() - unknown), _only(after, after.keys() - unknown)
    was, now = _content(before), _content(after)
    differing = {address for address in was.keys() | now.keys() if was.get(address) != now.get(address)}
    changes = _differing(_only(before, differing), _only(after, differing)) if differing else []
    changes = _with_moves(changes)
    if include_unchanged:
        changed = {change.address for change in changes}
        changes += [
            _change(None, entry, entry)
            for address, entry in after.items()
            if address not in changed and address in before
        ]
    return tuple(sorted(changes, key=lambda change: change.address.sort_key))


def comparable(old: LockFile) -> tuple[LockFile, str]:
    """Returns what to compare with in place of an old side that cannot be read, and a clause that says so.

    It is what could be understood of it, one side of its conflict, or nothing; for a valid file itself and "".
    """
    if old.is_valid:
        return old, ""
    if old.is_complete:
        return old, "compared with what of it could be understood"
    if old.conflict is not None:
        return old.conflict.ours, f"compared with {old.conflict.markers[0].ours}"
    return LockFile.absent(old.path), "every provider is shown as new"


def _only(entries: Entries, addresses: set[ProviderAddress]) -> Entries:
    return {address: entry for address, entry in entries.items() if address in addresses}


def _content(
    entries: Entries,
) -> dict[ProviderAddress, tuple[Version, str, frozenset[str]]]:
    """What of an entry a change is about: not its line, nor the order of its hashes."""
    return {address: (entry.version, entry.constraints, frozenset(entry.hashes)) for address, entry in entries.items()}


def _differing(before: Entries, after: Entries) -> list[Change]:
    from deepdiff import DeepDiff
    from deepdiff.operator import BaseOperator

    class EntryOperator(BaseOperator):  # type: ignore[misc, unused-ignore]
        """Compares two entries as a whole, so that deepdiff never walks their hashes."""

        def give_up_diffing(self, level: Any, diff_instance: Any) -> bool:  # noqa: ARG002
            changes.append(_change(None, level.t1, level.t2))
            return True

    changes: list[Change] = []

    by_label = {str(address): address for address in (*before, *after)}
    difference = DeepDiff(
        {str(address): entry for address, entry in before.items()},
        {str(address): entry for address, entry in after.items()},
        custom_operators=[EntryOperator(types=[LockEntry])],
        threshold_to_diff_deeper=0,
        view="tree",
    )
    for report in ("dictionary_item_added", "dictionary_item_removed"):
        for level in difference.get(report, ()):
            address = by_label[level.path(output_format="list")[-1]]
            changes.append(_change(None, before.get(address), after.get(address)))
    return [change for change in changes if change.kind is not ChangeKind.UNCHANGED]


def _change(moved_from: ProviderAddress | None, old: LockEntry | None, new: LockEntry | None) -> Change:
    entry = new or old
    assert entry is not None
    had = frozenset(old.hashes) if old else frozenset[str]()
    has = frozenset(new.hashes) if new else frozenset[str]()
    return Change(
        id=_digest(entry.address, old, new, had, has),
        group=_digest(entry.address, old, new, _zh(had), _zh(has)),
        address=entry.address,
        kind=ChangeKind.MOVED if moved_from else kind_of(old, new),
        moved_from=moved_from,
        bump=bump_of(old.version, new.version) if old and new else None,
        old=old,
        new=new,
        added=tuple(map(HashFact, sorted(has - had))),
        removed=tuple(map(HashFact, sorted(had - has))),
        kept=tuple(map(HashFact, sorted(had & has))),
    )


def _zh(hashes: frozenset[str]) -> frozenset[str]:
    return of_scheme(hashes, Scheme.ZH)


def _digest(address: ProviderAddress, old: LockEntry | None, new: LockEntry | None, *hashes: frozenset[str]) -> str:
    import hashlib

    parts = [
        str(address),
        str(old.version) if old else "",
        str(new.version) if new else "",
        *("\n".join(sorted(side)) for side in hashes),
    ]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def kind_of(old: LockEntry | None, new: LockEntry | None) -> ChangeKind:
    """Names what happened to one address; at least one side must be given."""
    if old is None:
        return ChangeKind.NEW_PROVIDER
    if new is None:
        return ChangeKind.REMOVED
    if old.version != new.version:
        return ChangeKind.DOWNGRADE if new.version.compare(old.version) < 0 else ChangeKind.UPGRADE
    had, has = frozenset(old.hashes), frozenset(new.hashes)
    if had == has:
        return ChangeKind.UNCHANGED if old.constraints == new.constraints else ChangeKind.CONSTRAINTS_ONLY
    if had <= has:
        return ChangeKind.NEW_HASHES
    if has <= had:
        return ChangeKind.REMOVED_HASHES
    return ChangeKind.CHANGED_HASHES if share_a_package(had, has) else ChangeKind.REPLACED_HASHES


def share_a_package(had: frozenset[str], has: frozenset[str]) -> bool:
    """Whether two hash sets of one version share a package: a `zh`, or any hash where a side has no `zh` at all."""
    old_packages, new_packages = packages_of(had), packages_of(has)
    if old_packages and new_packages:
        return bool(old_packages & new_packages)
    return bool(had & has)


def bump_of(old: Version, new: Version) -> Bump | None:
    """Names the most significant part in which two versions differ."""
    if old.major != new.major:
        return Bump.MAJOR
    if old.minor != new.minor:
        return Bump.MINOR
    if old.patch != new.patch:
        return Bump.PATCH
    if old.prerelease != new.prerelease:
        return Bump.PRERELEASE
    return Bump.METADATA if old.metadata != new.metadata else None


def _with_moves(changes: list[Change]) -> list[Change]:
    """Joins a removed and a new address of one type where the provider moved to another host or namespace."""
    gone = {change.address: change for change in changes if change.kind is ChangeKind.REMOVED}
    came = [change for change in changes if change.kind is ChangeKind.NEW_PROVIDER]
    gone_of, came_of = _by_type(gone.values()), _by_type(came)
    moved: dict[ProviderAddress, Change] = {}
    for new in came:
        kind = new.address.type
        before = _predecessor(new.address)
        found = gone.get(before) if before is not None else None
        if found is None and len(came_of[kind]) == 1:
            candidates = [old for old in gone_of.get(kind, ()) if _has_version_of(old, new)]
            found = candidates[0] if len(candidates) == 1 else None
        if found is not None:
            moved[found.address] = _change(found.address, found.old, new.new)
    successors = {change.address for change in moved.values()}
    rest = [change for change in changes if change.address not in moved and change.address not in successors]
    return rest + list(moved.values())


def _by_type(changes: Iterable[Change]) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(change.address.type, []).append(change)
    return found


def _has_version_of(old: Change, new: Change) -> bool:
    assert old.old is not None
    assert new.new is not None
    return old.old.version == new.new.version


def _predecessor(new: ProviderAddress) -> ProviderAddress | None:
    """OpenTofu's registry carries on the providers of Terraform's under the same namespace."""
    return replace(new, host=TERRAFORM.default_host) if new.host == OPENTOFU.default_host else None
