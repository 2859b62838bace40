"""Whether a locked release is still the one that was published: pure rules over hashes and signers.

What is compared are the `zh` of packages. Registry manifests are left out: the same manifest is in hundreds of
releases, so it survives even where every package was replaced. An `h1` is another matter: nobody signs it, so it is
proven by a package that was hashed here, or it is not.

"Could not ask" is an answer of its own: it never makes a hash good, and never bad.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens.hashes import is_well_formed, packages_of
from locklens.trust.checksums import Content

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.trust.checksums import Checksums
    from locklens.trust.model import SigningKey


class Origin(StrEnum):
    """What is to be said of the `zh` of one change; several may hold at once."""

    NOTHING_NEW = "nothing new"
    COMPLETION = "completion"
    REPUBLISHED = "republished"
    UNKNOWN_ORIGIN = "unknown origin"
    OTHER_REGISTRY = "other registry"
    UNEXPLAINED = "unexplained"


class PackageHashes(Struct, frozen=True):
    """The judgement of the `zh` of one change.

    Attributes:
        origins: Each that holds, the worst first; never empty.
        explained: Added ones that today's signed file lists.
        gone: Old ones of this version that it lists no more.
        doubled: Names of files for which the lock file holds two.
        foreign: Added ones that nothing explains.
        elsewhere: Added ones that another registry's release of this version lists, by that registry's host.
    """

    origins: tuple[Origin, ...]
    explained: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    doubled: tuple[str, ...] = ()
    foreign: frozenset[str] = frozenset()
    elsewhere: dict[str, frozenset[str]] = field(default_factory=dict)

    def has(self, origin: Origin) -> bool:
        """Whether that is to be said."""
        return origin in self.origins


class FolderHashes(Struct, frozen=True):
    """The judgement of the `h1` that a change says of a version for the first time.

    Attributes:
        proven: Those of packages that were hashed here and are signed.
        reported: Those that the registry reports beside a package's hash that is vouched for.
        unproven: Those that a package which was not hashed yet may have.
        foreign: Those that no package has, though each was hashed.
        to_hash: Signed packages that it takes to decide the unproven ones.
    """

    proven: frozenset[str] = frozenset()
    reported: frozenset[str] = frozenset()
    unproven: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()
    to_hash: frozenset[str] = frozenset()


class SignerChange(StrEnum):
    """What became of a provider's signer from one version to the next."""

    SAME = "same"
    OTHER = "other"
    LOST = "lost"
    GAINED = "gained"
    UNKNOWN = "unknown"


def judge_packages(
    old: Iterable[str],
    new: Iterable[str],
    today: Checksums | None,
    *,
    elsewhere: Mapping[str, Checksums] | None = None,
) -> PackageHashes:
    """Judges the `zh` that a change adds.

    Args:
        old: Hashes that were locked of the same version before; empty where the version is new.
        new: Hashes that are locked now.
        today: What the registry lists now, signed; None where it could not be asked or nobody vouches for it.
        elsewhere: What other registries list for a version of that number, signed, by host.
    """
    had, has = _packages(old, today), _packages(new, today)
    added = has - had
    if today is None:
        return PackageHashes((Origin.UNEXPLAINED if added or had - has else Origin.NOTHING_NEW,))
    gone = (had - today.hashes) | _disguised(old, added, today)
    doubled = _doubled(had | has, today)
    foreign = added - today.hashes
    others: dict[str, frozenset[str]] = {}
    for host, checksums in (elsewhere or {}).items():
        if listed := foreign & checksums.hashes:
            others[host] = listed
    foreign = foreign.difference(*others.values())
    holds = {
        Origin.REPUBLISHED: bool(gone or doubled),
        Origin.UNKNOWN_ORIGIN: bool(foreign),
        Origin.OTHER_REGISTRY: bool(others),
    }
    origins = tuple(origin for origin, does in holds.items() if does)
    if not origins:
        origins = (Origin.COMPLETION if added else Origin.NOTHING_NEW,)
    return PackageHashes(origins, added & today.hashes, gone, doubled, foreign, others)


def _packages(hashes: Iterable[str], today: Checksums | None) -> frozenset[str]:
    """The hashes that are packages'; malformed ones are another finding's concern."""
    wanted = packages_of(text for text in hashes if is_well_formed(text))
    return wanted - today.manifests if today is not None else wanted


def _disguised(old: Iterable[str], added: frozenset[str], today: Checksums) -> frozenset[str]:
    """Old hashes that are listed, but for no package any more, while packages came: the list calls old zips otherwise.

    Where some old hash is still a package's, others may be of files that releases carry beside their packages.
    """
    packages = frozenset(file.zh for file in today.files if file.content is Content.PACKAGE)
    listed = packages_of(text for text in old if is_well_formed(text)) & today.hashes
    if listed & packages or not added & packages:
        return frozenset()
    return listed - today.manifests if len(today.manifests) == 1 else listed


def _doubled(locked: frozenset[str], today: Checksums) -> tuple[str, ...]:
    """Names for which the signed file lists two digests, where both are locked."""
    names: dict[str, set[str]] = {}
    for file in today.files:
        if file.zh in locked:
            names.setdefault(file.name, set()).add(file.zh)
    return tuple(sorted(name for name, found in names.items() if len(found) > 1))


def judge_folders(
    added: Iterable[str],
    packages: Iterable[str],
    hashed: Mapping[str, str],
    *,
    reported: Iterable[str] = (),
) -> FolderHashes:
    """Judges the `h1` that a change says of a version for the first time.

    Args:
        added: Hashes that were not locked for the version before, of any scheme.
        packages: The `zh` of every package of this release, signed, manifests left out; empty where nobody could say.
        hashed: The `h1` of each package that was hashed here, now or before, by its `zh`.
        reported: Hashes that the registry reports beside a `zh` that is vouched for.
    """
    wanted = packages_of((text for text in added if is_well_formed(text)), "h1")
    signed = packages_of(packages)
    proven = wanted & {hashed[zh] for zh in signed if zh in hashed}
    said = (wanted - proven) & frozenset(reported)
    open_ones = wanted - proven - said
    to_hash = frozenset(zh for zh in signed if zh not in hashed)
    if signed and not to_hash:
        return FolderHashes(proven, said, foreign=open_ones)
    return FolderHashes(proven, said, unproven=open_ones, to_hash=to_hash if open_ones else frozenset())


def judge_signer(
    old: SigningKey | None, new: SigningKey | None, *, old_known: bool = True, new_known: bool = True
) -> SignerChange:
    """Compares who signed two versions, by the whole fingerprint of the primary key.

    Args:
        old: Who signed the version before; None where nobody did.
        new: Who signed the version now; likewise.
        old_known: Whether that could be found out at all.
        new_known: Likewise.
    """
    if not old_known or not new_known:
        return SignerChange.UNKNOWN
    if old is None or new is None:
        return SignerChange.SAME if old is new else SignerChange.GAINED if old is None else SignerChange.LOST
    return SignerChange.SAME if old.fingerprint == new.fingerprint else SignerChange.OTHER
