"""What answers the questions of a review, and the result for each host.

Releases are asked of registries, hashes also of the mirrors that a `provider_installation` block of the user's CLI
configuration names. The folders that the tools search by themselves do not count: they begin in the working directory,
where a repository could lay packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.dialect import DIALECTS
from locklens.errors import LockLensError, NotFoundError
from locklens.hashes import is_known_scheme
from locklens.releases import Fact, FactRequest, Listing, MirroredHash, MirroredHashes, MirrorId, ReleaseFacts
from locklens.review.model import HostState
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.releases.session import ReleaseLookup, ReleaseSession
    from locklens.sources.mirrors import FilesystemMirror, MirroredPackage
    from locklens.sources.registries import Mirror


def answers_with_mirrors(lookup: ReleaseLookup, session: ReleaseSession) -> Callable[[FactRequest], Fact]:
    """Return a function that answers questions about releases, by the lookup, and about the mirrors of the session."""

    def answer(request: FactRequest) -> Fact:
        return _mirrored(session, request) if isinstance(request, MirrorId) else lookup.answer(request)

    return answer


def _mirrored(session: ReleaseSession, request: MirrorId) -> MirroredHashes:
    found: dict[str, MirroredHash] = {}
    for mirror in session.registries(DIALECTS[request.tool]).mirrors(request.address):
        try:
            for text, one in _mirror_hashes(session, mirror, request):
                found.setdefault(text, one)
        except NotFoundError:
            continue  # A mirror need not have every version.
        except LockLensError as error:
            session.note(f"hashes were not compared with a mirror: {error}")
    return MirroredHashes(request, found)


def _mirror_hashes(session: ReleaseSession, mirror: Mirror, request: MirrorId) -> Iterator[tuple[str, MirroredHash]]:
    """Yield what a server lists, or the hashes of the packages that a folder holds."""
    from locklens.sources.mirrors import FilesystemMirror
    from locklens.sources.oci_mirror import OciMirror

    if not isinstance(mirror, FilesystemMirror):
        where = str(mirror.session(request.address)) if isinstance(mirror, OciMirror) else str(mirror)
        for platform, hashes in mirror.listed_hashes(request.address, request.version).items():
            yield from ((text, MirroredHash(where, platform)) for text in hashes if is_known_scheme(text))
        return
    for package in mirror.packages.get(request.address, ()) if request.holds else ():
        if package.version == request.version:
            for text in _of_package(session, mirror, package):
                yield text, MirroredHash(str(mirror), package.platform)


def _of_package(session: ReleaseSession, mirror: FilesystemMirror, package: MirroredPackage) -> frozenset[str]:
    """Return the hashes of a package; none with a note if it cannot be read."""
    from locklens.packages.hashing import hash_package
    from locklens.packages.installed import hashed_folder

    try:
        if package.is_folder:
            return hashed_folder(package.path, cancel=session.cancel).of_files
        metadata = mirror.package(package.address, package.version, package.platform)
        with mirror.open_package(metadata) as transfer:
            hashed = hash_package(transfer.chunks, cancel=session.cancel)
    except (LockLensError, OSError, ValueError) as error:
        session.note(f"the mirror's package {package.path} was not hashed: {reason_of(error)}")
        return frozenset()
    session.cache.keep_package(hashed)
    return hashed.hashes


def host_states(known: Mapping[FactRequest, Fact], *, is_offline: bool) -> tuple[HostState, ...]:
    """Return the hosts of the questions, with their state."""
    hosts: dict[str, list[ReleaseFacts | Listing]] = {}
    for question, fact in known.items():
        if not isinstance(fact, MirroredHashes):
            hosts.setdefault(question.address.host, []).append(fact)
    return tuple(_host_state(host, facts, is_offline=is_offline) for host, facts in sorted(hosts.items()))


def _host_state(host: str, facts: list[ReleaseFacts | Listing], *, is_offline: bool) -> HostState:
    troubles = [fact.trouble for fact in facts if fact.trouble is not None and not fact.trouble.is_no]
    asked = not is_offline and any(fact.trouble is None or fact.trouble.was_asked for fact in facts)
    moments = [fact.as_of for fact in facts if fact.as_of]
    errors = [trouble.words for trouble in troubles if trouble.was_asked]
    hints = [trouble.hint for trouble in troubles if trouble.is_unvouched]
    return HostState(
        display_host(host), asked, min(moments, default=None), next(iter(errors), None), next(iter(hints), "")
    )
