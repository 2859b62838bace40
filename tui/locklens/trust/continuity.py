"""Continuity of locked releases: pure rules over hashes and signers.

What is compared are the `zh` of packages. Registry manifests are left out: the same manifest is in hundreds of
releases, so it survives even where every package was replaced. A file counts as a manifest only if its text is known:
the publisher chooses the names, and may list a package by the name of a manifest. An `h1` is never signed, so it is
proven by a package that was hashed here, or it is not.

"Could not ask" is an answer of its own: it never makes a hash good, and never bad.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens.hashes import (
    file_hashes_of,
    hashes_of_files,
    hashes_of_zips,
    is_well_formed,
    packages_of,
    registry_manifests,
)
from locklens.text import counted
from locklens.trust.checksums import Checksums, Content

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.hashes import HashedFiles
    from locklens.trust import SigningKey


_LONGEST_NAME = 120
_NAMES_SHOWN = 5
"""The most characters of a file's name, and the most names, in a sentence: both come from the registry."""

ReleaseName = tuple[str, str]
"""A provider's type and a version in normal form, which its packages have in their names."""


class Origin(StrEnum):
    """A verdict on the `zh` of one change; several may hold at once."""

    NOTHING_NEW = "nothing new"
    COMPLETION = "completion"
    GROWN = "grown"
    REPUBLISHED = "republished"
    UNKNOWN_ORIGIN = "unknown origin"
    OTHER_REGISTRY = "other registry"
    UNEXPLAINED = "unexplained"


class PackageHashes(Struct, frozen=True):
    """The judgement of the `zh` of one change.

    Attributes:
        origins: Each that holds, the worst first; never empty.
        explained: Added ones that today's signed file lists.
        gone: Old ones of this version that it no longer lists.
        disguised: Old ones of this version that it lists only for what is not a package of it, with one of those names.
        doubled: Names of files for which the lock file holds two.
        dropped: Old ones of this version that the lock file no longer has, where others came.
        manifests: Added ones that are listed as manifests of a release that was locked with another one.
        grown: Names of files that it lists whose hashes are added, where some of its others were locked.
        foreign: Added ones of unknown origin.
        unread: Locked ones that are listed as manifests, and whose text is not known: each may be of a package.
        elsewhere: Added ones that another registry's release of this version lists, by that registry's host.
    """

    origins: tuple[Origin, ...]
    explained: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    disguised: dict[str, str] = field(default_factory=dict)
    doubled: tuple[str, ...] = ()
    dropped: frozenset[str] = frozenset()
    manifests: frozenset[str] = frozenset()
    grown: tuple[str, ...] = ()
    foreign: frozenset[str] = frozenset()
    elsewhere: dict[str, frozenset[str]] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()

    def has(self, origin: Origin) -> bool:
        """True if a verdict holds."""
        return origin in self.origins

    def republished_words(self, locked: int, sums: str, *, whose: str = "") -> str:
        """The reason why the version counts as republished: half a sentence, "" if it does not.

        It counts the locked `zh` of packages, and names the list, e.g. "the publisher's signed SHA256SUMS", and the
        entry that had them, e.g. "of the old entry"; "" for the one that is locked.
        """
        found = []
        if self.gone:
            are = "is" if len(self.gone) == 1 else "are"
            zh = f"zh of packages {whose}" if whose else "locked zh of packages"
            found.append(f"{len(self.gone)} of {locked} {zh} {are} not in {sums} (first {min(self.gone)})")
        if self.disguised:
            zh = min(self.disguised)
            name, more = _shortened(self.disguised[zh]), len(self.disguised) - 1
            others = f" (and {more} more)" if more else ""
            found.append(f"{sums} has the locked {zh} only as {name}, which is not a package of this version{others}")
        if self.doubled:
            found.append(f"two zh are locked for {_shortened(self.doubled[0])}")
        if self.dropped:
            are = "is" if len(self.dropped) == 1 else "are"
            words = f"{len(self.dropped)} locked zh {are} replaced by others of {sums} (first {min(self.dropped)})"
            found.append(f"{words}: no tool drops a zh of a version that stays")
        if self.manifests:
            found.append(f"{sums} has another registry manifest, {min(self.manifests)}")
        return ", and ".join(found)

    def unread_words(self, sums: str) -> str:
        """The limit of what the list tells of a manifest: half a sentence, "" for none."""
        if not self.unread:
            return ""
        return f"{sums} lists {min(self.unread)} as a manifest whose text is unknown: it may be a package's"

    def grown_words(self, sums: str) -> str:
        """The added files of the list beside those that were locked: half a sentence, "" if there are none.

        It may have grown, or an edit or a mirror left their hashes out of the lock file.
        """
        if not self.grown:
            return ""
        names, more = ", ".join(map(_shortened, self.grown[:_NAMES_SHOWN])), len(self.grown) - _NAMES_SHOWN
        verb = "was" if len(self.grown) == 1 else "were"
        what = f"{counted(len(self.grown), 'added file')} of {sums} {verb} not locked before"
        shown = f"{names}{f' and {more} more' if more > 0 else ''}"
        return f"{what} (grown since, or hashes left out or removed): {shown}"


class FolderHashes(Struct, frozen=True):
    """The judgement of the `h1` that a change locks for a version for the first time.

    Attributes:
        proven: Hashes of packages that were hashed here and are signed.
        reported: Hashes that the registry reports beside a package's hash that is vouched for.
        unproven: Hashes that a package which was not hashed yet may have.
        foreign: Hashes that no package has, though each was hashed.
        to_hash: Signed packages that have to be hashed to decide the unproven ones.
    """

    proven: frozenset[str] = frozenset()
    reported: frozenset[str] = frozenset()
    unproven: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()
    to_hash: frozenset[str] = frozenset()


class SignerChange(StrEnum):
    """The change of a provider's signer between two versions."""

    SAME = "same"
    OTHER = "other"
    LOST = "lost"
    GAINED = "gained"
    UNKNOWN = "unknown"


def judge_packages(
    old: Iterable[str],
    new: Iterable[str],
    today: Checksums | None,
    release: ReleaseName,
    *,
    elsewhere: Mapping[str, Checksums] | None = None,
) -> PackageHashes:
    """Judge the `zh` that a change adds, or that a command is about to add.

    The tools lock every line of SHA256SUMS at once. So where a file of the list was locked before, another one that
    comes later was listed later, whatever its name: the list, and the signature over it, was made anew. That alone is
    GROWN, a warning: a publisher may add a platform, and a lock that was made from a mirror may have held a part of the
    list. Where old ones leave the lock file at the same time, the packages were replaced, whatever the list calls the
    old ones now: the tools only add to a version that stays. The old hashes are those of the same version, none where
    it is new; the list of today is None if the registry could not be asked or is not authenticated; other registries'
    lists are by host.
    """
    earlier, later = (hashes_of_zips(filter(is_well_formed, hashes)) for hashes in (old, new))
    had, has = packages_of(earlier), packages_of(later)
    added = has - had
    if today is None:
        return PackageHashes((Origin.UNEXPLAINED if added or had - has else Origin.NOTHING_NEW,))
    listed = today.hashes
    packages = frozenset[str]().union(*today.packages(*release).values())
    gone = had - listed
    disguised = _disguised(had, packages, today) if added & packages else {}
    doubled = _doubled(earlier | later, today)
    grown = _names_of(added & listed, today) if had & listed else ()
    dropped = earlier - later - gone if grown else frozenset[str]()
    manifests = _other_manifests(earlier, added, today)
    foreign = added - listed
    known = {host: foreign & checksums.hashes for host, checksums in (elsewhere or {}).items()}
    others = {host: hashes for host, hashes in known.items() if hashes}
    foreign = foreign.difference(*others.values())
    is_republished = bool(gone or disguised or doubled or dropped or manifests)
    holds = {
        Origin.REPUBLISHED: is_republished,
        Origin.UNKNOWN_ORIGIN: bool(foreign),
        Origin.OTHER_REGISTRY: bool(others),
        Origin.GROWN: bool(grown) and not is_republished,
    }
    origins = tuple(origin for origin, does in holds.items() if does)
    if not origins:
        origins = (Origin.COMPLETION if added else Origin.NOTHING_NEW,)
    return PackageHashes(
        origins,
        added & listed,
        gone,
        disguised,
        doubled,
        dropped,
        manifests,
        grown,
        foreign,
        others,
        (has & today.manifests) - packages,
    )


def _disguised(had: frozenset[str], packages: frozenset[str], today: Checksums) -> dict[str, str]:
    """Old hashes that are listed, but for no package of this version any more, each with a name that it is listed by.

    Only for changes that add packages: then the list may have an old package under another name, a manifest's for
    example. Manifests with a known text cannot be packages. If no package was added, an old hash may well be of a file
    that releases have besides their packages.
    """
    names = today.names
    return {zh: names[zh][0] for zh in sorted(had - packages) if zh in names}


def _other_manifests(earlier: frozenset[str], added: frozenset[str], today: Checksums) -> frozenset[str]:
    """Added hashes that are listed as a manifest, where the release was locked with one: it has one manifest."""
    listed = frozenset(file.zh for file in today.files if file.content is Content.MANIFEST)
    return added & listed if earlier & (listed | registry_manifests()) else frozenset()


def _doubled(locked: frozenset[str], today: Checksums) -> tuple[str, ...]:
    """Names for which the signed file lists two digests, where both are locked."""
    names: dict[str, set[str]] = {}
    for file in today.files:
        if file.zh in locked:
            names.setdefault(file.name, set()).add(file.zh)
    return tuple(sorted(name for name, found in names.items() if len(found) > 1))


def _names_of(hashes: frozenset[str], today: Checksums) -> tuple[str, ...]:
    return tuple(sorted({file.name for file in today.files if file.zh in hashes}))


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def judge_folders(
    added: Iterable[str], packages: Iterable[str], hashed: HashedFiles, *, reported: Iterable[str] = ()
) -> FolderHashes:
    """Judge the `h1` that a change claims for a version for the first time.

    The packages are those of this release, signed, manifests left out; none if unknown. Reported hashes count beside a
    `zh` that is vouched for.
    """
    wanted = hashes_of_files(filter(is_well_formed, added))
    signed = packages_of(packages)
    proven = wanted & file_hashes_of(signed, hashed)
    said = (wanted - proven) & frozenset(reported)
    open_ones = wanted - proven - said
    to_hash = frozenset(zh for zh in signed if zh not in hashed)
    if signed and not to_hash:
        return FolderHashes(proven, said, foreign=open_ones)
    return FolderHashes(proven, said, unproven=open_ones, to_hash=to_hash if open_ones else frozenset())


def judge_signer(
    old: SigningKey | None, new: SigningKey | None, *, old_known: bool = True, new_known: bool = True
) -> SignerChange:
    """Compare who signed two versions, by the primary key's whole fingerprint; None is unsigned, where it is known."""
    if not old_known or not new_known:
        return SignerChange.UNKNOWN
    if old is None or new is None:
        return SignerChange.SAME if old is new else SignerChange.GAINED if old is None else SignerChange.LOST
    return SignerChange.SAME if old.fingerprint == new.fingerprint else SignerChange.OTHER
