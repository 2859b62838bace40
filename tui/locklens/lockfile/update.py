"""The update of a lock file after installing or locking providers: rules over entries, without input or output.

`fetched`, `reused` and `with_locked_hashes` make one entry each, `after_init` and `after_lock` put the entries of a
whole file together, and `difference` decides whether `init` writes at all; like the tools, it ignores constraints and
comments. `render` makes the bytes, or `splice` if the rest of the file has to stay as it is.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.hashes import is_known_scheme
from locklens.lockfile import LockEntry, LockFile
from locklens.lockfile.render import render, with_line_ends_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from locklens.addresses import ProviderAddress
    from locklens.versions import Constraints, Version


class Difference(StrEnum):
    """The difference of the entries before and after a run, as `-lockfile=readonly` distinguishes them."""

    NONE = "none"
    CONTENTS = "contents"
    PROVIDERS = "providers"


class Tracking(StrEnum):
    """The report on the hashes of one platform: that of `providers lock`, which does not know of new versions."""

    NEW_PROVIDER = "new provider"
    NEW_VERSION = "new version"
    NEW_HASHES = "new hashes"
    KNOWN = "known"


class Migration(Struct, frozen=True):
    """A file's entries, and those that OpenTofu adds to them for entries of Terraform's registry.

    Attributes:
        entries: All entries of the file, and one more for each of `moved`.
        moved: Old and new address, in the order of the old ones.
    """

    entries: tuple[LockEntry, ...]
    moved: tuple[tuple[ProviderAddress, ProviderAddress], ...] = ()


# One entry


def fetched(
    prior: LockEntry | None,
    *,
    address: ProviderAddress,
    version: Version,
    constraints: Constraints,
    hashes: Iterable[str],
) -> LockEntry:
    """Return the entry of a provider that `init` fetched, or that Terraform linked from its plugin cache.

    If the version is the same, old hashes of a scheme that the tools know remain, right or wrong. Build metadata
    counts.
    """
    kept = [text for text in _prior_hashes(prior, version) if is_known_scheme(text)]
    return LockEntry(address, version, str(constraints), _ordered(kept, hashes), line=0)


def with_locked_hashes(
    prior: LockEntry | None,
    *,
    address: ProviderAddress,
    version: Version,
    constraints: Constraints,
    hashes: Iterable[str],
) -> LockEntry:
    """Return the entry of a provider that `providers lock` locked; it only adds to the hashes of the same version."""
    return LockEntry(address, version, str(constraints), _ordered(_prior_hashes(prior, version), hashes), line=0)


def reused(prior: LockEntry, constraints: Constraints, dialect: Dialect) -> LockEntry:
    """Return the entry of a provider whose installed package has a locked hash, so that nothing was fetched.

    OpenTofu records the current constraints, but writes the file only if something else changes.
    """
    return replace(prior, constraints=str(constraints)) if dialect is OPENTOFU else prior


def _prior_hashes(prior: LockEntry | None, version: Version) -> tuple[str, ...]:
    return prior.hashes if prior is not None and prior.version == version else ()


def _ordered(*groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({text for group in groups for text in group}, key=str.encode))


def is_incomplete(local: Iterable[str], signed: Collection[str], prior: LockEntry | None, version: Version) -> bool:
    """True if the tools, when they write the entry, would warn that it has hashes of this platform only.

    Local ones were computed here; those of all platforms are signed, or vouched for by another authority.
    """
    kept = {text for text in _prior_hashes(prior, version) if is_known_scheme(text)}
    return not signed and kept <= set(local)


def tracking(prior: LockEntry | None, version: Version, hashes: Iterable[str]) -> Tracking:
    """Return the report on the hashes of one platform."""
    if prior is None:
        return Tracking.NEW_PROVIDER
    if prior.version != version:
        return Tracking.NEW_VERSION
    return Tracking.KNOWN if set(hashes) <= set(prior.hashes) else Tracking.NEW_HASHES


# The whole file


def successor(old: ProviderAddress, dialect: Dialect) -> ProviderAddress | None:
    """Return the address to which OpenTofu migrates an entry of Terraform's registry; None if it does not."""
    is_migrated = dialect is OPENTOFU and old.host == TERRAFORM.default_host and old.namespace == "hashicorp"
    return replace(old, host=OPENTOFU.default_host) if is_migrated else None


def predecessor(new: ProviderAddress, dialect: Dialect) -> ProviderAddress | None:
    """Return the address from which OpenTofu migrates an entry; None if it migrates none to this one."""
    old = replace(new, host=TERRAFORM.default_host)
    return old if new.host == OPENTOFU.default_host and successor(old, dialect) == new else None


def migrated(entries: Iterable[LockEntry], dialect: Dialect) -> Migration:
    """Return the entries of a lock file as OpenTofu reads them; Terraform migrates nothing.

    Each provider `hashicorp/T` of Terraform's registry gets one more entry, for OpenTofu's registry, unless that is
    there. The new entry has the same version and constraints, but no hashes: those are of another registry's packages.
    """
    before = tuple(entries)
    present = {entry.address for entry in before}
    made: dict[ProviderAddress, LockEntry] = {}
    for entry in sorted(before, key=lambda entry: entry.address.sort_key):
        old = entry.address
        new = successor(old, dialect)
        if new is not None and new not in present:
            made[old] = replace(entry, address=new, hashes=(), hash_offsets=())
    moved = tuple((old, entry.address) for old, entry in made.items())
    return Migration((*before, *made.values()), moved)


def after_init(
    before: Iterable[LockEntry], settled: Iterable[LockEntry], *, kept: Collection[ProviderAddress] = ()
) -> tuple[LockEntry, ...]:
    """Return the entries after `init`, in the file's order: those settled, and those kept.

    A provider that is kept may be required, or the tool reattaches to its running process.
    """
    found = {entry.address: entry for entry in before if entry.address in kept}
    return _sorted(found | {entry.address: entry for entry in settled})


def after_lock(before: Iterable[LockEntry], settled: Iterable[LockEntry]) -> tuple[LockEntry, ...]:
    """Return the entries after `providers lock`, in the file's order: nothing is removed."""
    found = {entry.address: entry for entry in before}
    return _sorted(found | {entry.address: entry for entry in settled})


def _sorted(entries: dict[ProviderAddress, LockEntry]) -> tuple[LockEntry, ...]:
    return tuple(entries[address] for address in sorted(entries))


def difference(before: Iterable[LockEntry], after: Iterable[LockEntry]) -> Difference:
    """Compare entries, without constraints, as the tools do to decide whether to write.

    Hashes out of order or repeated before are a difference, as no tool would write them so.
    """
    old = {entry.address: (entry.version, entry.hashes) for entry in before}
    new = {entry.address: (entry.version, _ordered(entry.hashes)) for entry in after}
    if old.keys() != new.keys():
        return Difference.PROVIDERS
    return Difference.NONE if old == new else Difference.CONTENTS


def rewritten(lock: LockFile, entries: Iterable[LockEntry], dialect: Dialect) -> bytes:
    """Return a whole file as the tool writes it, but with CRLF if the old file has it.

    Its comments and its blocks of other types are lost, as they are with the tools.
    """
    return with_line_ends_of(lock.data, render(entries, dialect))
