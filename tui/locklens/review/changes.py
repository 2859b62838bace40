"""Compares two lock files and gives each provider exactly one kind of change.

The only user of deepdiff, which is loaded only if lock files differ. Kinds, bumps, and which hashes were added and
removed are read off its tree; the same change in many roots is compared once. Registry manifests are left out wherever
packages are compared, because the hash of a manifest survives every honest upgrade.
"""

from __future__ import annotations

from msgspec.structs import replace

from locklens.hashes import hashes_of_zips, packages_of
from locklens.lockfile import LockFile, entry_contents
from locklens.lockfile.moves import moves_among
from locklens.review import HashFact
from locklens.review.model import Bump, Change, ChangeKind
from locklens.text import ID_DIGITS, identity_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import EntryContents, EntryPair
    from locklens.versions import Version

    ChangeKey = tuple[ProviderAddress, EntryContents | None, EntryContents | None]


_HASHES = "hashes_changed"
"""The report type of sets of hashes in deepdiff's tree."""


class Comparer:
    """Compares the lock files of many roots, and equal changes once."""

    def __init__(self) -> None:
        self._known: dict[ChangeKey, Change] = {}
        """Each known change, with the entries of the first root that has it."""

    def compare(self, old: LockFile, new: LockFile, *, include_unchanged: bool = False) -> tuple[Change, ...]:
        """Compare two readings of one lock file.

        An entry missing from an incomplete side does not count as removed or new. One that only the old side has in a
        way that cannot be read counts as new: its hashes are judged without those of before.

        Returns:
            One change for each provider that differs, and with `include_unchanged` for every provider, in the lock
            file's order.
        """
        before, after = old.by_address, new.by_address
        if not new.is_complete:
            before = {address: entry for address, entry in before.items() if address in after}
        if not old.is_complete:
            after = {address: entry for address, entry in after.items() if address in before}
        addresses = [address for address in {**before, **after} if address not in new.unreadable]
        compared = self._compared([(address, before.get(address), after.get(address)) for address in addresses])
        changes = self._with_moves([change for change in compared if change.kind is not ChangeKind.UNCHANGED])
        if include_unchanged:
            changes += [change for change in compared if change.kind is ChangeKind.UNCHANGED]
        return tuple(sorted(changes, key=lambda change: change.address.sort_key))

    def _compared(self, pairs: Sequence[EntryPair]) -> list[Change]:
        keys: list[ChangeKey] = [(address, entry_contents(old), entry_contents(new)) for address, old, new in pairs]
        unknown = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}
        self._known.update(zip(unknown, _differences(list(unknown), list(unknown.values())), strict=True))
        return [replace(self._known[key], old=old, new=new) for key, (_, old, new) in zip(keys, pairs, strict=True)]

    def _with_moves(self, changes: list[Change]) -> list[Change]:
        """Join a removed and an added address of one type if the provider moved to another host or namespace."""
        gone = {change.address: change.old for change in changes if change.old is not None and change.new is None}
        added = {change.address: change.new for change in changes if change.new is not None and change.old is None}
        moved = {old: (new, gone[old], added[new]) for old, new in moves_among(gone, added).items()}
        successors = {address for address, _, _ in moved.values()}
        rest = [change for change in changes if change.address not in moved and change.address not in successors]
        for (address, pair), change in zip(moved.items(), self._compared(list(moved.values())), strict=True):
            of_change, of_group = _ids(pair, address)
            rest.append(replace(change, kind=ChangeKind.MOVED, moved_from=address, id=of_change, group=of_group))
        return rest


def readable_old_side(old: LockFile) -> LockFile:
    """Return a file, or for one that cannot be read its readable part, one side of its conflict, or nothing."""
    if old.is_complete:
        return old
    return old.conflict.ours if old.conflict is not None else LockFile.absent(old.path)


def _differences(keys: Sequence[ChangeKey], pairs: Sequence[EntryPair]) -> list[Change]:
    """Compare pairs of entries by their contents, in one run of deepdiff."""
    if all(old == new for _, old, new in keys):
        # Nothing differs, and deepdiff takes longer to load than a small review.
        return [_change(pair, {}) for pair in pairs]
    from deepdiff import DeepDiff
    from deepdiff.model import CUSTOM_FIELD
    from deepdiff.operator import BaseOperator

    class HashesOperator(BaseOperator):  # type: ignore[misc, unused-ignore]
        """Reports a set of hashes as one difference: for each hash by itself deepdiff takes 25 times as long."""

        def give_up_diffing(self, level: Any, diff_instance: Any) -> bool:
            added, removed = level.t2 - level.t1, level.t1 - level.t2
            if added or removed:
                diff_instance.custom_report_result(_HASHES, level, (added, removed))
            return True

    values: dict[EntryContents, dict[str, Any]] = {}

    def side(contents: Iterable[EntryContents | None]) -> dict[int, dict[str, Any]]:
        # Equal contents are one object, so deepdiff skips them.
        return {
            number: values.setdefault(
                content, {"version": content[0], "constraints": content[1], "hashes": set(content[2])}
            )
            for number, content in enumerate(contents)
            if content is not None
        }

    tree = DeepDiff(
        side(old for _, old, _ in keys),
        side(new for _, _, new in keys),
        custom_operators=[HashesOperator(types=[set])],
        threshold_to_diff_deeper=0,
        view="tree",
    )
    found: dict[int, dict[str, Any]] = {}
    for report in ("dictionary_item_added", "dictionary_item_removed", "values_changed", _HASHES):
        for level in tree.get(report, ()):
            number, *name = level.path(output_format="list")
            found.setdefault(number, {})[name[0] if name else report] = level.additional.get(CUSTOM_FIELD)
    return [_change(pair, found.get(number, {})) for number, pair in enumerate(pairs)]


def _change(pair: EntryPair, reports: Mapping[str, Any]) -> Change:
    """Return the change of a provider; `reports` are deepdiff's, by field."""
    address, old, new = pair
    had = frozenset(old.hashes) if old else frozenset[str]()
    has = frozenset(new.hashes) if new else frozenset[str]()
    if old is None or new is None:
        added, removed = has, had
    else:
        added, removed = reports.get("hashes", (frozenset(), frozenset()))
    kept = has - added
    of_change, of_group = _ids(pair)
    return Change(
        id=of_change,
        group=of_group,
        address=address,
        kind=_kind(pair, reports),
        moved_from=None,
        bump=bump_of(old.version, new.version) if old and new and "version" in reports else None,
        old=old,
        new=new,
        added=tuple(map(HashFact, sorted(added))),
        removed=tuple(map(HashFact, sorted(removed))),
        kept=tuple(map(HashFact, sorted(kept))),
    )


def _kind(pair: EntryPair, reports: Mapping[str, Any]) -> ChangeKind:
    _, old, new = pair
    if old is None:
        return ChangeKind.NEW_PROVIDER
    if new is None:
        return ChangeKind.REMOVED
    if "version" in reports:
        return ChangeKind.DOWNGRADE if new.version.compare(old.version) < 0 else ChangeKind.UPGRADE
    if "hashes" not in reports:
        return ChangeKind.CONSTRAINTS_ONLY if "constraints" in reports else ChangeKind.UNCHANGED
    added, removed = reports["hashes"]
    if not removed:
        return ChangeKind.NEW_HASHES
    if not added:
        return ChangeKind.REMOVED_HASHES
    kept = frozenset(new.hashes) - added
    # Packages are identified by their zh, or by any hash if a side has no zh at all.
    has_packages = packages_of(old.hashes) and packages_of(new.hashes)
    shared = packages_of(kept) if has_packages else kept
    return ChangeKind.CHANGED_HASHES if shared else ChangeKind.REPLACED_HASHES


def _ids(pair: EntryPair, moved_from: ProviderAddress | None = None) -> tuple[str, str]:
    """Return `id` and `group` of a change, which `Change` describes.

    The id has constraints only if the change alters them; unaltered ones would give one change another id in each
    root.
    """
    address, old, new = pair
    names = (str(address), str(moved_from or ""))
    constraints = [entry.constraints for entry in (old, new) if entry is not None]
    changed = constraints if len(set(constraints)) > 1 else []
    sides = [(str(entry.version), frozenset(entry.hashes)) if entry is not None else ("", ()) for entry in (old, new)]
    whole = (identity_of(version, *sorted(hashes)) for version, hashes in sides)
    packages = (identity_of(version, *sorted(hashes_of_zips(hashes))) for version, hashes in sides)
    return identity_of(*names, *whole, *changed)[:ID_DIGITS], identity_of(*names, *packages)[:ID_DIGITS]


def bump_of(old: Version, new: Version) -> Bump | None:
    """Name the most significant part in which two versions differ."""
    if old.major != new.major:
        return Bump.MAJOR
    if old.minor != new.minor:
        return Bump.MINOR
    if old.patch != new.patch:
        return Bump.PATCH
    if old.prerelease != new.prerelease:
        return Bump.PRERELEASE
    return Bump.METADATA if old.metadata != new.metadata else None
