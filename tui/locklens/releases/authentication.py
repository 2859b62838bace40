"""Authenticates a release: the tool's verdict, in its words, and the hashes for the lock file.

Two things differ from the tools when a release is to be installed or locked. A blank or odd line in SHA256SUMS is
skipped and reported, and the rest still counts, where a tool would crash or use almost none of it. And a signed list
of another release is refused; see `locklens.trust.checksums`.

The hashes that a registry reports of every platform's package are compared with the release's signed checksums.
OpenTofu checks the entry of the package that it fetches, in this order (`registryPackageAuthentication` of
internal/getproviders/package_authentication.go), and takes those of other platforms as they come. Here every entry has
to agree with SHA256SUMS, and a hash of files counts for a package only together with its `zh`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress, display_host
from locklens.dialect import OPENTOFU, Dialect
from locklens.errors import TrustError
from locklens.hashes import (
    digest_of,
    hashes_of_files,
    hashes_of_zips,
    is_known_scheme,
    is_well_formed,
    packages_of,
    repeats_a_scheme,
)
from locklens.text import counted, listing, shortened
from locklens.trust import Tier
from locklens.trust.authentication import Authentication, AuthenticationOutcome, Lenience, Refusal, authenticate
from locklens.trust.checksums import Build, Checksums, Match, Oddity, foreign_words, read_checksums
from locklens.trust.continuity import Origin, PackageHashes, judge_packages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from locklens.hashes import HashedFiles, HashedPackage
    from locklens.lockfile import LockEntry
    from locklens.sources.metadata import PackageMetadata, PlatformPackage, SignedChecksums
    from locklens.trust.authentication import Enforcement
    from locklens.trust.signature import Verifier
    from locklens.versions import Version

_AUTHOR = "please contact the provider author"
_UNKNOWN = "authentication signature from unknown issuer"
"""Words of the tools; the reason is added."""

_WORDS = {
    Refusal.BROKEN_KEY: "error decoding signing key: no OpenPGP key can be read",
    Refusal.BROKEN_SIGNATURE: "error checking signature: openpgp: the signature file cannot be read",
    Refusal.BAD_SIGNATURE: "error checking signature: openpgp: invalid signature: SHA256SUMS is not what was signed",
    Refusal.REVOKED_KEY: "error checking signature: openpgp: signature made by revoked key",
    Refusal.EXPIRED_SIGNATURE: "error checking signature: openpgp: signature expired",
    Refusal.EXPIRY_ENFORCED: f"{_UNKNOWN}: {Refusal.EXPIRY_ENFORCED}",
    Refusal.UNKNOWN_ISSUER: f"{_UNKNOWN}: {Refusal.UNKNOWN_ISSUER}",
    Refusal.NO_KEYS: f"{_UNKNOWN}: {Refusal.NO_KEYS}",
    Refusal.BAD_TRUST_SIGNATURE: "error verifying trust signature of the signing key",
}
_LINES_NAMED = 5
_HINT = "notify the registry's operator: what it reports of the version is wrong, or the package was replaced"
_PLATFORMS_NAMED = 5
_SHOWN = 100
"""The most characters of what a registry reports: a well-formed hash has up to 67."""


class ReportedHashes(Struct, frozen=True):
    """The hashes that a registry reports of a release, as far as its checksums bear them out.

    Attributes:
        own: The entry of the requested package; None if the registry reports nothing.
        of_files: The hashes of the files of each platform's package whose reported `zh` is listed.
        passed_over: Platforms whose entry says nothing that could be compared, in order.
    """

    own: PlatformPackage | None = None
    of_files: Mapping[Platform, frozenset[str]] = field(default_factory=dict)
    passed_over: tuple[Platform, ...] = ()

    def agrees(self, platform: Platform, known: HashedPackage) -> bool:
        """True if a platform's package that was hashed before has the reported hashes, or none is reported.

        Reported hashes of zip files are not kept, so a passed-over platform never agrees: only its package can tell.
        """
        return platform not in self.passed_over and self.of_files.get(platform, frozenset()) <= known.of_files

    @property
    def warning(self) -> str:
        """The hashes that were left out, in a sentence without its full stop; "" if there are none."""
        return left_out(self.passed_over, "its checksums do not bear them out") if self.passed_over else ""

    def without(self, platforms: Collection[Platform]) -> ReportedHashes:
        """A copy that passes over `platforms`, so that their packages decide."""
        of_files = {platform: found for platform, found in self.of_files.items() if platform not in platforms}
        return ReportedHashes(self.own, of_files, tuple(sorted({*self.passed_over, *platforms})))


def left_out(platforms: Iterable[Platform], why: str) -> str:
    """Return the warning about reported hashes that are not recorded, a sentence without its full stop."""
    named = listing([str(platform) for platform in sorted(platforms)], limit=_PLATFORMS_NAMED)
    return f"hashes that the registry reports for {named} are left out: {why}"


def read_reported(metadata: PackageMetadata, checksums: Checksums) -> ReportedHashes:
    """Compare what a registry reports with the release's checksums.

    Raises:
        TrustError: It says nothing of the very package that it offers, or contradicts the checksums.
    """
    if not metadata.packages:
        return ReportedHashes()
    own = _own(metadata)
    listed = checksums.packages(metadata.address.type, str(metadata.version))
    named = {metadata.zh, *(zh for zhs in listed.values() for zh in zhs)}
    of_files: dict[Platform, frozenset[str]] = {}
    passed_over: list[Platform] = []
    for one in metadata.packages:
        if one.platform == metadata.platform:
            expected = frozenset({metadata.zh})
        else:
            # A file with an unusual name has no known platform, so it may belong to this one.
            expected = listed.get(one.platform) or checksums.hashes - named
        zhs, found = hashes_of_zips(one.hashes), hashes_of_files(one.hashes)
        wrong = zhs - expected
        if wrong and one.platform in {metadata.platform, *listed}:
            raise _contradiction(metadata, one.platform, min(wrong), f"lists {min(expected)}")
        if wrong & named:
            raise _contradiction(metadata, one.platform, min(wrong & named), "lists that for another platform")
        if wrong or not zhs or repeats_a_scheme(found) or not all(map(is_well_formed, found)):
            passed_over.append(one.platform)
        elif found:
            of_files[one.platform] = found
    return ReportedHashes(own, of_files, tuple(sorted(passed_over)))


def check_reported(metadata: PackageMetadata, own: PlatformPackage | None, size: int, found: Iterable[str]) -> None:
    """Require that a package is the one that its registry reports, if it does.

    Its own hashes are those of the unpacked folder, and of the zip file if folder entries or odd names make it differ.

    Raises:
        TrustError: It has another size or another hash of its files.
    """
    if own is None:
        return
    if own.size != size:
        words = f"a package of {counted(own.size, 'byte')}"
        raise _wrong(metadata, metadata.platform, words, f"the package has {counted(size, 'byte')}")
    computed = hashes_of_files(found)
    if wrong := sorted(hashes_of_files(own.hashes) - computed):
        raise _wrong(metadata, metadata.platform, wrong[0], f"the package has {' or '.join(sorted(computed))}")


def _own(metadata: PackageMetadata) -> PlatformPackage:
    own = next((one for one in metadata.packages if one.platform == metadata.platform), None)
    if own is None:
        raise _wrong(metadata, None, "hashes", f"none for {metadata.platform}")
    if not own.size:
        raise _wrong(metadata, own.platform, "hashes", "no package_size")
    if not hashes_of_zips(own.hashes):
        raise _wrong(metadata, own.platform, "hashes", "no zh")
    return own


def _contradiction(metadata: PackageMetadata, platform: Platform, reported: str, listed: str) -> TrustError:
    return _wrong(metadata, platform, reported, f"its SHA256SUMS {listed}")


def _wrong(metadata: PackageMetadata, platform: Platform | None, reported: str, otherwise: str) -> TrustError:
    host = display_host(metadata.address.host)
    package = f"{metadata.address.namespace}/{metadata.address.type} {metadata.version}"
    where = f" for {platform}" if platform is not None else ""
    reported = shortened(reported, _SHOWN)
    return TrustError(f"registry {host} reports {reported} of {package}{where}, but {otherwise}", hint=_HINT)


class JudgedRelease(Struct, frozen=True):
    """A release with the tool's judgement of it, whatever that is.

    Attributes:
        foreign: A clause naming the release that was signed instead; "" if it is this one.
    """

    authentication: Authentication
    checksums: Checksums
    foreign: str = ""


class AuthenticatedRelease(Struct, frozen=True):
    """A release that may be installed.

    Attributes:
        hashes: The hashes for the lock file that SHA256SUMS or a mirror gives, of all platforms.
        warnings: Oddities, in sentences without their full stops.
        expected: The package must have one of these hashes; empty if any package is accepted.
        records_matches: True if the matching expected hashes are also locked.
        reported: The hashes that the registry reports of each platform's package, to be compared with the packages.
        is_believed: True if the reported hashes are also locked.
    """

    authentication: Authentication
    checksums: Checksums
    hashes: frozenset[str]
    warnings: tuple[str, ...] = ()
    expected: frozenset[str] = frozenset()
    records_matches: bool = False
    reported: ReportedHashes = ReportedHashes()
    is_believed: bool = False

    @property
    def recorded(self) -> frozenset[str]:
        """All hashes for the lock file that are known without the package."""
        return self.hashes.union(*self.believed.values())

    @property
    def believed(self) -> Mapping[Platform, frozenset[str]]:
        """The hashes of the files of each platform's package that are locked on the registry's word alone."""
        return self.reported.of_files if self.is_believed else {}

    def held_against(self, known: HashedFiles, address: ProviderAddress, version: Version) -> AuthenticatedRelease:
        """Return a copy without reported hashes that contradict those of packages that were hashed before."""
        listed = self.checksums.packages(address.type, str(version))
        wrong = [
            platform
            for platform, of_files in self.reported.of_files.items()
            if not all(of_files <= known.get(zh, of_files) for zh in listed.get(platform, ()))
        ]
        if not wrong:
            return self
        warning = left_out(wrong, "the packages that were hashed before have others")
        return replace(self, reported=self.reported.without(wrong), warnings=(*self.warnings, warning))

    def check(self, found: Collection[str], platform: Platform) -> frozenset[str]:
        """Return the hashes of a platform's package to be locked in addition to `hashes`; `found` are its own.

        Raises:
            TrustError: It has none of the expected ones.
        """
        matches = self.expected.intersection(found)
        if self.expected and not matches:
            words = "the provider package doesn't match any of the expected checksums"
            words += f" that the mirror lists for {platform}"
            raise TrustError(words, hint="the mirror's package or its document is damaged: mirror the version again")
        return matches if self.records_matches else frozenset()

    @property
    def signed(self) -> frozenset[str]:
        """The signed hashes; empty if the tool skips signatures."""
        return self.hashes if self.authentication.key is not None else frozenset()

    @property
    def signer(self) -> str:
        """The signer, for a sentence."""
        key = self.authentication.key
        if key is None:
            return "no key"
        names = f" ({key.user_ids[0]})" if key.user_ids else ""
        return f"key {key.fingerprint}{names}"

    @property
    def sums(self) -> str:
        """The list of checksums, for a sentence."""
        is_signed = self.authentication.key is not None
        return f"the SHA256SUMS that {self.signer} signs today" if is_signed else "its unsigned SHA256SUMS"

    def added_to(self, prior: LockEntry | None, address: ProviderAddress, version: Version) -> PackageHashes:
        """Judge, as a review does, what comes of adding these hashes to a lock entry, which may be of any version."""
        had = prior.hashes if prior is not None and prior.version == version else ()
        if self.authentication.outcome is AuthenticationOutcome.UNSIGNED:
            return judge_packages((), (), None, (address.type, str(version)))
        return judge_packages(had, (*had, *self.hashes), self.checksums, (address.type, str(version)))

    def change_words(self, prior: LockEntry | None, address: ProviderAddress, version: Version) -> str:
        """The change of the release since it was locked, by `added_to`: a sentence, "" if unchanged.

        Only the entry is known: unlike a review, which has the base, this cannot tell a hash that the release once had
        from one edited into the file.
        """
        judged = self.added_to(prior, address, version)
        if judged.has(Origin.GROWN):
            return judged.grown_words(self.authentication.sums)
        if not judged.has(Origin.REPUBLISHED):
            return ""
        locked = len(packages_of(prior.hashes)) if prior is not None else 0
        is_sure = bool(judged.disguised or judged.doubled)
        lead = f"the version was republished{'' if is_sure else ', or a locked hash never belonged to it'}"
        return f"{lead}: {judged.republished_words(locked, self.sums)}"

    def unread_words(self, prior: LockEntry | None, address: ProviderAddress, version: Version) -> str:
        """What cannot be decided about a locked release without a base: a sentence, "" for nothing."""
        judged = self.added_to(prior, address, version)
        is_locked = prior is not None and not judged.unread.isdisjoint(prior.hashes)
        return judged.unread_words(self.authentication.sums) if is_locked else ""


class ReleaseAuthenticator:
    """Judges releases by one tool's rules. Thread-safe.

    The environment makes OpenTofu enforce checks. `believed` are registries whose reported hashes OpenTofu records,
    comparison form; None stands for its own.
    """

    def __init__(
        self, dialect: Dialect, verifier: Verifier, enforcement: Enforcement, believed: Collection[str] | None = None
    ) -> None:
        self._dialect = dialect
        self._believed = frozenset((OPENTOFU.default_host,) if believed is None else believed)
        self._verifier = verifier
        self._enforcement = enforcement
        self.has_problem = False
        """True if the signature of any release could not be verified."""

    def prepare(self, metadata: PackageMetadata) -> None:
        """Do what can be done for a release before its checksums are there."""
        if metadata.signing_keys:
            self._verifier.prepare(metadata.armors)

    def judge(self, metadata: PackageMetadata, signed: SignedChecksums) -> JudgedRelease:
        """Judge the release of one package; a refusal is a value."""
        judged = authenticate(metadata, signed, self._dialect, self._verifier, self._enforcement)
        if judged.problem is not None:
            self.has_problem = True
        checksums = read_checksums(signed.sums)
        wanted = Build(metadata.address.type, metadata.version, metadata.platform)
        return JudgedRelease(judged, checksums, foreign_words(checksums, metadata.filename, wanted))

    def admit(self, metadata: PackageMetadata, signed: SignedChecksums | None) -> AuthenticatedRelease:
        """Authenticate the release of one package, to be installed or locked; `signed` is None for a mirror's package.

        Raises:
            TrustError: The tool would refuse it, or its signature could not be verified.
        """
        if signed is None:
            return self._unsigned(metadata)
        found = self.judge(metadata, signed)
        judged, checksums = found.authentication, found.checksums
        # The tool may crash on a blank line after every other check passed.
        is_good = judged.outcome in {AuthenticationOutcome.ACCEPTED, AuthenticationOutcome.SKIPPED} or (
            judged.refusal is Refusal.CRASH and judged.tier is not Tier.UNKNOWN
        )
        if not is_good:
            raise self._refused(judged, metadata, checksums)
        if found.foreign:
            wanted = Build(metadata.address.type, metadata.version, metadata.platform)
            hint = f"notify the operator of {display_host(metadata.address.host)}, and keep the locked version"
            raise TrustError(f"the registry passes another release off as {wanted}: {found.foreign}", hint=hint)
        lost = checksums.odd and checksums.collected().hashes != checksums.hashes
        hashes = checksums.hashes if lost or not judged.locked else judged.locked
        reported = read_reported(metadata, checksums) if self._dialect is OPENTOFU else ReportedHashes()
        believes = self.believes(metadata.address)
        return AuthenticatedRelease(
            judged,
            checksums,
            hashes,
            tuple(_warnings(judged, checksums, reported.warning if believes else "")),
            reported=reported,
            is_believed=believes,
        )

    def believes(self, address: ProviderAddress) -> bool:
        """True if unsigned hashes of a provider are recorded, as OpenTofu records those of its own registry."""
        return self._dialect is OPENTOFU and address.host in self._believed and not self._enforcement.validation

    def _unsigned(self, metadata: PackageMetadata) -> AuthenticatedRelease:
        """Judge a mirror's package by the hashes that the mirror lists (`packageHashAuthentication`)."""
        expected = frozenset(filter(is_known_scheme, metadata.hashes))
        if metadata.hashes and not expected:
            words = f"{self._dialect.product} does not support any of the checksum formats that the mirror lists"
            raise TrustError(words, hint="mirror the version again with this tool")
        is_tofu = self._dialect is OPENTOFU
        others = frozenset(filter(is_well_formed, metadata.others))
        if others and not expected:
            words = f"the mirror lists no hash for {metadata.platform}: "
            words += "hashes of other platforms count only if one for this platform is listed too"
            raise TrustError(words, hint="mirror the version again, or set trust_all_hashes to false")
        trusts = bool(others) and self.believes(metadata.address)
        return AuthenticatedRelease(
            Authentication(AuthenticationOutcome.UNSIGNED, Tier.UNSIGNED),
            read_checksums(b""),
            others if trusts else frozenset(),
            expected=expected,
            records_matches=is_tofu,
        )

    def words(self, vouched: AuthenticatedRelease) -> str:
        """The tool's verdict on the signature."""
        judged = vouched.authentication
        if judged.outcome is AuthenticationOutcome.UNSIGNED:
            said = "verified checksum" if vouched.expected else "unauthenticated"
            return "signing skipped" if vouched.hashes else said
        if judged.outcome is AuthenticationOutcome.REFUSED:
            judged = replace(
                judged, outcome=AuthenticationOutcome.ACCEPTED if judged.key else AuthenticationOutcome.SKIPPED
            )
        return judged.words(self._dialect)

    def _refused(self, judged: Authentication, metadata: PackageMetadata, checksums: Checksums) -> TrustError:
        if judged.outcome is AuthenticationOutcome.UNKNOWN:
            problem = judged.problem
            words = f"the signature cannot be checked: {problem}"
            return TrustError(words, hint=problem.hint if problem is not None else "")
        assert judged.refusal is not None
        if judged.refusal not in _WORDS:
            return TrustError(_checksum_words(judged.refusal, metadata, checksums))
        words = _WORDS[judged.refusal]
        if self._dialect is OPENTOFU:
            words = f"the provider is not signed with a valid signing key; {_AUTHOR} ({words})"
        return TrustError(words)


def _checksum_words(refusal: Refusal, metadata: PackageMetadata, checksums: Checksums) -> str:
    if refusal is Refusal.NOT_LISTED:
        return f'checksum list has no SHA-256 hash for "{metadata.filename}"'
    match = checksums.matching(metadata.filename)
    if refusal is Refusal.OTHER_CHECKSUM and match.outcome is not Match.CRASH:
        listed = digest_of(match.zh) or "a shorter one"
        return f"checksum list has unexpected SHA-256 hash {listed} (expected {metadata.shasum})"
    return f'checksum list has invalid SHA256 hash for "{metadata.filename}"'


def _warnings(judged: Authentication, checksums: Checksums, of_reported: str) -> list[str]:
    """Return the warnings about a release; `of_reported` is the one about its reported hashes, or ""."""
    found = []
    if checksums.odd:
        named = [f"line {odd.line} ({odd.why})" for odd in checksums.odd[:_LINES_NAMED]]
        more = f" and {len(checksums.odd) - _LINES_NAMED} more" if len(checksums.odd) > _LINES_NAMED else ""
        named = ["the whole file (too large)"] if checksums.odd[0].why is Oddity.TOO_LARGE else named
        found.append(f"its SHA256SUMS has invalid lines, which were skipped: {', '.join(named)}{more}")
    if judged.lenience is Lenience.EXPIRED_KEY:
        found.append("gpg key expired: the signature is good, and counts")
    elif judged.lenience is Lenience.EXPIRED_SIGNATURE:
        found.append("gpg key or signature expired: the signature is otherwise good, and counts")
    if of_reported:
        found.append(of_reported)
    return found
