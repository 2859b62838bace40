"""The facts of registries about the failing releases, in one session.

A package that arrived damaged elsewhere is downloaded up to three times, to tell where it is damaged.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.addresses import Platform, ProviderAddress
from locklens.doctor import FoundPackage, OfferedPackage
from locklens.doctor.messages import PAGE
from locklens.doctor.reasons import NetworkReason, reason_of_request
from locklens.doctor.today import Today
from locklens.errors import LockLensError, OfflineError, PlatformNotSupportedError, RunCancelledError, SourceError
from locklens.hashes import is_known_scheme, packages_of
from locklens.operations.review.answers import host_states
from locklens.operations.review.request import LookupProgress, PackageDone, PackageDownloading, ProvingPlanned
from locklens.operations.verification import PackageVerdict, listed_package, mirror_name
from locklens.packages import Limits
from locklens.packages.hashing import hash_package
from locklens.releases import Fact, FactRequest, Listing, ListingId, ReleaseFacts, ReleaseId
from locklens.releases.session import ReleaseLookup, ReleaseSession
from locklens.review import HashFact
from locklens.review.case import Case, FactSubject, settled_case
from locklens.review.evidence import FactCollector, trace
from locklens.review.model import Change, ChangeKind, HostState
from locklens.review.rules.release import signing_objection
from locklens.selection.choosing import policy_holds
from locklens.sources.hosts import NotAsked
from locklens.versions import Version, neighbour, precedence

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.doctor.messages import RecognisedError
    from locklens.lockfile import LockEntry
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.review.request import ReviewEvent
    from locklens.policy import Policy
    from locklens.project.installation import InstallationMethod
    from locklens.sources import Source
    from locklens.sources.metadata import PackageMetadata
    from locklens.trust import Signer

    _Key = tuple[str, ProviderAddress, str, tuple[str, ...]]


class LookedUpEntries(Struct, frozen=True):
    """The facts about entries, and the limits of the session."""

    found: Mapping[_Key, Today]
    listings: Mapping[tuple[str, ProviderAddress], Listing] = {}
    notes: tuple[str, ...] = ()
    hosts: tuple[HostState, ...] = ()

    def of(self, tool: Dialect, entry: LockEntry | None) -> Today | None:
        """Return the facts about an entry; None for none."""
        return self.found.get(_key(tool, entry)) if entry is not None else None


def _key(tool: Dialect, entry: LockEntry) -> _Key:
    return tool.name, entry.address, str(entry.version), entry.hashes


def look_up_entries(
    entries: Sequence[tuple[Dialect, LockEntry]],
    request: DoctorRequest,
    cancel: threading.Event | None,
    on_event: Callable[[ReviewEvent], None],
    confirm: Callable[[ProvingPlanned], bool],
    *,
    damaged: Sequence[tuple[Dialect, LockEntry, str, str, tuple[str, ...]]] = (),
    lacked: Sequence[tuple[Dialect, LockEntry, str, Sequence[InstallationMethod]]] = (),
    listed: Sequence[tuple[Dialect, LockEntry, str, Sequence[InstallationMethod]]] = (),
    requested: Sequence[tuple[Dialect, LockEntry, str, bool]] = (),
    unlocked: Sequence[tuple[Dialect, ProviderAddress, Callable[[Listing], LockEntry | None]]] = (),
    policy: Policy,
) -> LookedUpEntries:
    """Ask registries about locked entries; without network settings every fact is unknown.

    Only the hosts of the settings and of the user are asked: a log or a checkout names none. `confirm` is called before
    anything is downloaded, in this thread. `damaged` are entries whose package did not arrive: each with its platform,
    "" where only the hashes of the message tell it, the one that is assumed where they do not, and these hashes.
    `lacked` are entries whose package a mirror on a server did not have, and `listed` those that one may have given:
    each with its platform, and the mirrors of the settings. `requested` are those whose package the failing run asked a
    registry for: each with its platform, and whether its file is asked for again, too, of which no more than the
    beginning is read. Of `unlocked` providers, which are in no lock file, the versions are looked up, and the selected
    one of them, an entry without hashes. Where the `policy` has a cooldown, release dates are looked up too.

    Raises:
        RunCancelledError: `cancel` was set.
    """
    subjects = _subjects(entries)
    if request.network is None or not (subjects or unlocked):
        return LookedUpEntries({key: _unasked(subject) for key, subject in subjects.items()})
    with ReleaseSession(request.network, (), cancel) as session:
        lookup = ReleaseLookup(session)
        questions = list(dict.fromkeys(ListingId(tool.name, address) for tool, address, _ in unlocked))
        lists: dict[FactRequest, Fact] = dict(zip(questions, session.pool.map(lookup.answer, questions), strict=True))
        listings = {(one.tool, one.address): fact for one in questions if isinstance(fact := lists[one], Listing)}
        told = ((tool, select, listings.get((tool.name, address))) for tool, address, select in unlocked)
        selected = ((tool, select(listing)) for tool, select, listing in told if listing is not None)
        subjects |= _subjects((tool, entry) for tool, entry in selected if entry is not None)
        collector = FactCollector(lookup.answer, session.pool)
        collector.start(subjects.values())
        list(collector.settled(is_patient=True))
        known = {**lists, **collector.known}
        platforms = {_key(one[0], one[1]): one[2:] for one in damaged}
        provable = [subject for key, subject in subjects.items() if key not in platforms]
        if request.prove != "none" and provable:
            from locklens.operations.review.prove import Proving

            Proving(session, known, provable, everything=request.prove == "all").work(confirm, on_event)
        offers = {_key(one[0], one[1]): _offered(session, *one) for one in lacked}
        reading = _Reading(session, confirm, on_event) if request.prove != "none" else None
        offers |= {_key(one[0], one[1]): _listed(session, *one, reading) for one in listed}
        answers = {_key(one[0], one[1]): _requested(session, *one[:3], is_of_file=one[3]) for one in requested}
        cases = {key: settled_case(subject, known, session.cache) for key, subject in subjects.items()}
        ages = _ages(lookup, [case for case in cases.values() if case is not None], policy)
        found = {}
        for key, subject in subjects.items():
            case = cases[key]
            assert case is not None
            downloads: tuple[str, ...] = ()
            known_one, assumed, hashes = platforms.get(key, ("", "", ()))
            platform = known_one or platform_by_hash(case, hashes) or assumed
            if platform and request.prove != "none":
                of = Platform.parse(platform)
                downloads = downloads_of(session, subject.tool, case, of, confirm, on_event)
                if any(one.startswith(PAGE) for one in downloads):
                    answers[key] = _requested(session, subject.tool, case.entry, platform, is_of_file=False)
            objection = signing_objection(policy, case.entry.address, new=case.new)  # of a pin: nothing is compared
            found[key] = Today(
                _as_of(subject.change, case),
                case,
                _neighbour(lookup, case, known),
                *_versions_of_hashes(session, lookup, case),
                served=offers.get(key),
                offered=answers.get(key),
                downloads=downloads,
                is_offline=request.network.is_offline,
                held=policy_holds(policy, case.entry.address, case.listing.versions, ages[key[:2]]),
                pin=policy.pin(case.entry.address),
                objection=objection.cited if objection is not None else "",
            )
        on_event(LookupProgress(session.log))
        hosts = host_states(known, is_offline=request.network.is_offline)
        return LookedUpEntries(found, listings, session.notes, hosts)


def _ages(
    lookup: ReleaseLookup, cases: Iterable[Case], policy: Policy
) -> dict[tuple[str, ProviderAddress], dict[Version, int]]:
    """Return the days since each version's release, by tool and provider; none are asked for without a cooldown."""
    providers = {(case.tool.name, case.entry.address): case for case in cases}
    if policy.cooldown is None:
        return {key: {} for key in providers}
    asked = lookup.session.pool.map(lambda case: lookup.ages(case.entry.address, case.tool), providers.values())
    return dict(zip(providers, asked, strict=True))


def _subjects(entries: Iterable[tuple[Dialect, LockEntry]]) -> dict[_Key, FactSubject]:
    return {_key(tool, entry): FactSubject("", tool, _as_added(entry)) for tool, entry in entries}


def _requested(
    session: ReleaseSession, tool: Dialect, entry: LockEntry, platform: str, *, is_of_file: bool
) -> OfferedPackage | None:
    """Return the registry's answer about a package, and that of its host about the file; None where none was asked."""
    url = ""
    try:
        source = session.find_source(entry.address, tool)
        if isinstance(source, NotAsked):
            return None
        metadata = source.package(entry.address, entry.version, Platform.parse(platform))
        url = urlsplit(metadata.download_url)._replace(query="", fragment="").geturl()
        if is_of_file:
            with source.open_package(metadata):
                pass
    except (OfflineError, ValueError):
        return None
    except SourceError as error:
        is_absent = (
            isinstance(error, PlatformNotSupportedError) or reason_of_request(str(error)) is NetworkReason.ABSENT
        )
        return OfferedPackage(url, str(error), is_absent)
    return OfferedPackage(url)


def _offered(
    session: ReleaseSession, tool: Dialect, entry: LockEntry, platform: str, mirrors: Sequence[InstallationMethod]
) -> FoundPackage | None:
    """Return a package that mirrors give now, asked as the tool does, with the hashes that they list; else None.

    A folder or a registry that the settings name beside them is not asked.
    """
    source = session.registries(tool).installation(Path(), mirrors)
    try:
        metadata = source.package(entry.address, entry.version, Platform.parse(platform))
        with source.open_package(metadata):
            hashes = frozenset(filter(is_known_scheme, metadata.hashes))
            problem = "" if hashes else "no hash is listed"
            return FoundPackage("mirror", "the package that the mirror lists", platform, hashes, problem)
    except (SourceError, ValueError):
        return None


class _Reading(Struct, frozen=True):
    """What the packages of mirrors are downloaded and hashed with."""

    session: ReleaseSession
    confirm: Callable[[ProvingPlanned], bool]
    on_event: Callable[[ReviewEvent], None]

    def hashes(self, source: Source, build: tuple[ProviderAddress, Version, Platform], name: str) -> frozenset[str]:
        """Return the hashes of a package of a mirror; none of one that cannot be read, or was not agreed to."""
        address, version, platform = build
        label, received = f"{address.type} {version} {platform} from {name}", 0
        if not self.confirm(ProvingPlanned(0, 1, None, 1, (label,))):
            return frozenset()
        try:
            with source.open_package(source.package(*build)) as download:

                def tell(size: int) -> None:
                    nonlocal received
                    received += size
                    self.on_event(PackageDownloading(label, received, download.length))

                found = hash_package(download.chunks, on_bytes=tell, cancel=self.session.cancel)
        except LockLensError as error:
            self.session.note(f"{label} was not hashed: {error}")
            self.on_event(PackageDone(label, received, str(error)))
            return frozenset()
        self.on_event(PackageDone(label, received))
        return found.of_files | {found.zh}


def _listed(
    session: ReleaseSession,
    tool: Dialect,
    entry: LockEntry,
    platform: str,
    mirrors: Sequence[InstallationMethod],
    reading: _Reading | None,
) -> FoundPackage | None:
    """Return the hashes that the first mirror which has a package lists for it now; None where none has it.

    With `reading` they are those of the package itself. Where it cannot be asked, or lists none, the problem stands for
    them.
    """
    registries, build = session.registries(tool), (entry.address, entry.version, Platform.parse(platform))
    for method in mirrors:
        source = registries.installation(Path(), [method])
        if (found := listed_package(build, method, source, [entry.accepted])) is not None:
            name, problem = mirror_name(method), "" if found.hashes else found.reason
            is_there = reading is not None and found.verdict is not PackageVerdict.UNREADABLE
            if is_there and reading is not None and (hashes := reading.hashes(source, build, name)):
                return FoundPackage("mirror", f"the package that {name} gives", platform, hashes, is_read=True)
            return FoundPackage("mirror", f"the package that {name} lists", platform, found.hashes, problem)
    return None


def platform_by_hash(case: Case, hashes: Sequence[str]) -> str:
    """Return the platform of the release's package that one of some `zh` is of; "" if none is."""
    return next((str(case.new.platforms[text]) for text in hashes if text in case.new.platforms), "")


def whole_host(found: Today | None) -> str:
    """Return the registry of the other tool that has all packages of an entry; "" if it has not, or was not asked."""
    if found is None or found.case is None:
        return ""
    packed = packages_of(found.case.entry.hashes)
    return next((host for host, theirs in found.case.packages.elsewhere.items() if packed <= theirs), "")


def _as_added(entry: LockEntry) -> Change:
    """Return an entry as a change that adds all of it, so that each hash is traced for itself."""
    added = tuple(HashFact(text) for text in dict.fromkeys(entry.hashes))
    return Change("", "", entry.address, ChangeKind.NEW_PROVIDER, None, None, None, entry, added, (), ())


def _as_of(change: Change, case: Case) -> str | None:
    """Return the time of the oldest answer used for an entry; None without any answer."""
    evidence = trace(change, case).evidence
    return evidence.as_of if evidence is not None else None


def _unasked(subject: FactSubject) -> Today:
    from locklens.review.evidence import unasked_case

    case = unasked_case(subject.change, subject.tool)
    assert case is not None
    return Today(_as_of(subject.change, case), case, is_offline=True)


MOST_VERSIONS = 8
"""The most versions next to the locked one that are asked for its hashes: an edit hardly moves it further."""


def _versions_of_hashes(session: ReleaseSession, lookup: ReleaseLookup, case: Case) -> tuple[str, str]:
    """Return another version whose signed release has all locked packages, or those that the locked version lacks.

    The other one of the two is "", and both where none is found. Registries are asked only where the locked version
    lacks some, or is not listed at all.
    """
    entry, today = case.entry, case.new.today
    locked = packages_of(entry.hashes)
    known = today.hashes if today is not None else frozenset[str]()
    if today is None and (not case.listing.is_known or case.listing.has(entry.version)):
        return "", ""
    if not (odd := locked - known) or case.packages.elsewhere:
        return "", ""
    others = sorted((one.version for one in case.listing.versions if one.version != entry.version), key=precedence)
    at = sum(one.compare(entry.version) < 0 for one in others)
    near = sorted(enumerate(others), key=lambda one: abs(2 * (one[0] - at) + 1))[:MOST_VERSIONS]
    questions = [ReleaseId(case.tool.name, case.change.address, version) for _, version in near]
    for question, fact in zip(questions, session.pool.map(lookup.answer, questions), strict=True):
        sums = fact.today if isinstance(fact, ReleaseFacts) else None
        if sums is not None and (packages := odd - sums.manifests) and packages <= sums.hashes:
            version = str(question.version)
            return ("", version) if locked & known else (version, "")
    return "", ""


def _neighbour(lookup: ReleaseLookup, case: Case, known: dict[FactRequest, Fact]) -> Signer | None:
    """Return the signer of the next lower version, who would be expected to have signed this one too."""
    if case.new.today is None and case.new.authentication is None:
        return None
    nearest = neighbour((one.version for one in case.listing.versions), case.entry.version)
    if nearest is None:
        return None
    question = ReleaseId(case.tool.name, case.change.address, nearest)
    if question not in known:
        known[question] = lookup.answer(question)
    fact = known[question]
    return fact.signer if isinstance(fact, ReleaseFacts) else None


TRIES = 3
"""Two equal files could be chance or a proxy's copy; three that differ are not."""

_KINDS = frozenset({"archive-checksum", "download-cut", "package-damaged", "package-size", "oci-damaged"})


def is_of_download(error: RecognisedError) -> bool:
    """True if an error is of a file that did not arrive as it was sent."""
    return error.kind in _KINDS or error.reason is NetworkReason.BROKEN


def downloads_of(
    session: ReleaseSession,
    tool: Dialect,
    case: Case,
    platform: Platform,
    confirm: Callable[[ProvingPlanned], bool],
    on_event: Callable[[ReviewEvent], None],
) -> tuple[str, ...]:
    """Download a package until the signed file arrives, at most `TRIES` times.

    Return the `zh` of each download, "" for a broken one; none where nothing is signed, or no download was agreed to.
    """
    address, version = case.change.address, case.entry.version
    label = f"{address.type} {version} {platform}"
    signed = next((zh for zh, of in case.new.platforms.items() if of == platform), "")
    if not signed:
        session.note(f"{label} was not downloaded: no signed list that is known here names it")
        return ()
    try:
        source = session.source(address, tool)
        metadata = source.package(address, version, platform)
    except SourceError as error:
        session.note(f"{label} was not downloaded: {error}")
        return ()
    if not confirm(ProvingPlanned(0, 1, case.new.sizes.get(signed), TRIES, (label,))):
        return ()
    arrived: list[str] = []
    while len(arrived) < TRIES and signed not in arrived:
        arrived.append(_zh(session, source, metadata, f"{label}, download {len(arrived) + 1}", on_event))
    return tuple(arrived)


def _zh(
    session: ReleaseSession,
    source: Source,
    metadata: PackageMetadata,
    label: str,
    on_event: Callable[[ReviewEvent], None],
) -> str:
    """Return the `zh` of one download, as PAGE of a page; "" if it broke off, or is larger than is read."""
    digest, received, beginning = hashlib.sha256(), 0, b""
    try:
        with source.open_package(metadata) as download:
            for chunk in download.chunks:
                if session.cancel.is_set():
                    raise RunCancelledError("the download was cancelled")
                digest.update(chunk)
                received += len(chunk)
                beginning += bytes(chunk[: _LONGEST_PAGE - len(beginning)])
                on_event(PackageDownloading(label, received, download.length))
                if received > Limits().packed:
                    on_event(PackageDone(label, received, "larger than any package that is read"))
                    return ""
    except SourceError as error:
        on_event(PackageDone(label, received, str(error)))
        return ""
    on_event(PackageDone(label, received))
    # What is readable as a zip file may begin with a page: its directory is at the end.
    is_page = beginning.lstrip()[:1] in _OF_PAGES and received == len(beginning) and _DIRECTORY_END not in beginning
    return f"{PAGE if is_page else 'zh:'}{digest.hexdigest()}"


_OF_PAGES = (b"<", b"{")
"""What HTML and JSON begin with."""

_LONGEST_PAGE = 256 * 1024
_DIRECTORY_END = b"PK\x05\x06"
"""What ends the directory of each zip file."""
