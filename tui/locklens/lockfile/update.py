"""The update of a lock file after installing or locking providers: pure rules over entries.

Each entry is settled by itself (`fetched`, `reused`, `locked`); `after_init` and `after_lock` make the whole of them,
and `difference` says whether that is anything new, which is what decides whether `init` writes at all. The tools
compare neither constraints nor comments then. The bytes are made by `render` and, where all else has to stay as it
is, by `splice`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.hashes import is_known_scheme
from locklens.lockfile.model import LockEntry
from locklens.lockfile.render import render

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockFile
    from locklens.versions import Constraints, Version


class Difference(StrEnum):
    """The difference of the entries before and after a run, as `-lockfile=readonly` distinguishes them."""

    NONE = "none"
    CONTENTS = "contents"
    PROVIDERS = "providers"


class Tracking(StrEnum):
    """The report of `providers lock` on the hashes of one platform."""

    NEW_PROVIDER = "new provider"
    NEW_HASHES = "new hashes"
    KNOWN = "known"


class Migration(Struct, frozen=True):
    """The entries that OpenTofu goes by, and which of them it made from Terraform's.

    Attributes:
        entries: All that were there, and a made one for each of `moved`.
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

    Of the old hashes those remain that the tools can compare, as long as the version is the same, also wrong ones.

    Args:
        prior: The entry before, None where there was none.
        address: The provider.
        version: What was selected; build metadata counts.
        constraints: All of the configuration's, together.
        hashes: What this run found out: the `h1` of the unpacked package, and what the publisher signed.
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
    """Return the entry of a provider that `providers lock` locked: it only ever adds hashes.

    Args:
        prior: The entry before; its hashes stay whatever their scheme is, as long as the version is the same.
        address: The provider.
        version: What was selected.
        constraints: All of the configuration's, together.
        hashes: What this run found out for all its platforms.
    """
    return LockEntry(address, version, str(constraints), _ordered(_prior_hashes(prior, version), hashes), line=0)


def reused(prior: LockEntry, constraints: Constraints, dialect: Dialect) -> LockEntry:
    """Return the entry of a provider whose installed package has a locked hash, so that nothing was fetched.

    OpenTofu records the constraints as they are now, which is seen once something else makes it write the file.
    """
    return replace(prior, constraints=str(constraints)) if dialect is OPENTOFU else prior


def _prior_hashes(prior: LockEntry | None, version: Version) -> tuple[str, ...]:
    return prior.hashes if prior is not None and prior.version == version else ()


def _ordered(*groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({text for group in groups for text in group}, key=str.encode))


def is_incomplete(local: Iterable[str], signed: Collection[str], prior: LockEntry | None, version: Version) -> bool:
    """True if the tools would warn, if they write, that the entry does for this platform alone.

    Args:
        local: What was computed here.
        signed: The hashes that the publisher signed, or another authority for all platforms vouches for.
        prior: The entry before.
        version: What was selected.
    """
    kept = {text for text in _prior_hashes(prior, version) if is_known_scheme(text)}
    return not signed and kept <= set(local)


def tracking(prior: LockEntry | None, hashes: Iterable[str]) -> Tracking:
    """True if the hashes of one platform are new to the file."""
    if prior is None:
        return Tracking.NEW_PROVIDER
    return Tracking.KNOWN if set(hashes) <= set(prior.hashes) else Tracking.NEW_HASHES


# The whole file


def successor(old: ProviderAddress, dialect: Dialect) -> ProviderAddress | None:
    """Return the address to which OpenTofu migrates an entry of Terraform's registry; None for any other."""
    is_migrated = dialect is OPENTOFU and old.host == TERRAFORM.default_host and old.namespace == "hashicorp"
    return replace(old, host=OPENTOFU.default_host) if is_migrated else None


def predecessor(new: ProviderAddress, dialect: Dialect) -> ProviderAddress | None:
    """Return the address from which OpenTofu migrates an entry; None for any other."""
    old = replace(new, host=TERRAFORM.default_host)
    return old if new.host == OPENTOFU.default_host and successor(old, dialect) == new else None


def migrated(entries: Iterable[LockEntry], dialect: Dialect) -> Migration:
    """Return what OpenTofu makes of a lock file that Terraform wrote, before anything else.

    A provider `hashicorp/T` of Terraform's registry gets an entry for OpenTofu's, unless there is one: of the same
    version and constraints and without hashes, for they are another registry's. Terraform migrates nothing.
    """
    before = tuple(entries)
    present = {entry.address for entry in before}
    made: dict[ProviderAddress, LockEntry] = {}
    for entry in sorted(before, key=lambda entry: entry.address.sort_key):
        old = entry.address
        new = successor(old, dialect)
        if new is not None and new not in present:
            made[old] = replace(entry, address=new, hashes=(), hash_lines=())
    moved = tuple((old, entry.address) for old, entry in made.items())
    return Migration((*before, *made.values()), moved)


def after_init(
    before: Iterable[LockEntry], settled: Iterable[LockEntry], *, kept: Collection[ProviderAddress] = ()
) -> tuple[LockEntry, ...]:
    """Return the entries after `init`, in the file's order: those that were settled, and no others.

    Args:
        before: The entries that the run began with.
        settled: One for each required provider that is locked at all.
        kept: The others that are kept: those that may be required, and those outside of the run.
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
    """Compare as the tools do when they decide whether to write: never by constraints.

    Args:
        before: As read; hashes out of order or twice are a difference, for no tool would write them so.
        after: What would be written.
    """
    old = {entry.address: (entry.version, entry.hashes) for entry in before}
    new = {entry.address: (entry.version, _ordered(entry.hashes)) for entry in after}
    if old.keys() != new.keys():
        return Difference.PROVIDERS
    return Difference.NONE if old == new else Difference.CONTENTS


def rewritten(lock: LockFile, entries: Iterable[LockEntry], dialect: Dialect) -> bytes:
    """Return the bytes of a file that is written anew: as the tool does it, but with CRLF where the old file has it.

    Args:
        lock: The file as it is; its comments, and blocks that are no provider's, are lost, as they are with the tools.
        entries: What it is to hold.
        dialect: Whose header it gets.
    """
    return with_line_ends_of(lock.data, render(entries, dialect))


def with_line_ends_of(model: bytes, data: bytes) -> bytes:
    """Return text that has LF alone with CRLF instead, if most lines of another one end so."""
    ends = model.count(b"\n")
    return data.replace(b"\n", b"\r\n") if ends and model.count(b"\r\n") * 2 > ends else data
