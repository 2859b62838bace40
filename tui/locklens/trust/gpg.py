"""gpg on this machine: where it is, its process with bounds, and its words as values. The only user of python-gnupg.

python-gnupg's parser reads the listings of keys. The processes are started here: python-gnupg waits for a gpg without
a limit of time, and its summary of a verification speaks of the last signature alone.

The words are described in GnuPG's doc/DETAILS.
"""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.machine import find_program, safe_environment
from locklens.text import visible
from locklens.trust import Keyring, Signature, SignatureStatus, SigningKey, VerificationProblem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LEAST_GPG = (2, 2)
"""The first gpg that reads the keys of today's publishers as both tools do, and lists keys while it imports them."""

GPG_TIMEOUT = 20.0
"""Seconds that gpg may take for one question, and to import all keys of a list; it takes a hundredth of one
for a key, but a key of half a megabyte can be made so that it takes long."""

MAX_USER_IDS = 20
MAX_USER_ID_LENGTH = 200
"""The most names of a key, and characters of each, that are shown: a key may have thousands, publishers' have one."""

StatusLine = tuple[str, str]
"""A status line: its keyword, and the rest."""

_OPTIONS = (
    "--status-fd",
    "2",
    "--no-tty",
    "--no-verbose",
    "--fixed-list-mode",
    "--batch",
    "--with-colons",
    "--no-autostart",
    "--disable-dirmngr",
    "--no-auto-key-locate",
    "--no-auto-key-retrieve",
    "--no-auto-check-trustdb",
    "--trust-model",
    "always",
    "--lock-never",
)
_LISTING = ("--fingerprint", "--fingerprint", "--with-sig-check")
"""Has gpg list the fingerprints of subkeys too, and verify the self-signatures that it lists; it did so already to
import them, and remembers."""

_STATUS = b"[GNUPG:] "

_RUNNING = threading.BoundedSemaphore(os.cpu_count() or 2)
"""More gpg at once than there are processors only take turns, and slow down concurrent requests to registries."""

_KEY_ID, _EXPIRES = 4, 6
"""Columns of gpg's listing: the key id; and the end of a key, a subkey, or a user id's binding."""

_VERDICTS = {
    "GOODSIG": SignatureStatus.GOOD,
    "BADSIG": SignatureStatus.BAD,
    "EXPSIG": SignatureStatus.EXPIRED_SIGNATURE,
    "EXPKEYSIG": SignatureStatus.EXPIRED_KEY,
    "REVKEYSIG": SignatureStatus.REVOKED_KEY,
}
_NO_PUBLIC_KEY, _WRONG_KEY_USAGE = "9", "125"
_DIGESTS = {"1": "MD5", "2": "SHA1", "3": "RIPEMD160", "8": "SHA256", "9": "SHA384", "10": "SHA512", "11": "SHA224"}
_ALGORITHMS = {"1": "RSA", "2": "RSA", "3": "RSA", "17": "DSA", "19": "ECDSA", "22": "EdDSA", "27": "Ed25519"}
_CURVES = {"ed25519": "Ed25519", "ed448": "Ed448"}


class GpgUnavailableError(Exception):
    """No signature can be verified; `problem` says why."""

    def __init__(self, problem: VerificationProblem) -> None:
        super().__init__(problem.value)
        self.problem = problem


def require_gpg() -> None:
    """Refuse a machine on which no signature can be checked, whatever a registry answers.

    That is no outage, which passes: without this, every pull request would be judged without signatures.

    Raises:
        ConfigurationError: There is no gpg, it does not run, or it is older than LEAST_GPG.
    """
    try:
        Gpg("", GPG_TIMEOUT)
    except GpgUnavailableError as error:
        # A gpg that fails or hangs when it prints its version does not run.
        known = {VerificationProblem.NO_GPG, VerificationProblem.OLD_GPG}
        problem = error.problem if error.problem in known else VerificationProblem.NOT_RUNNING
        raise ConfigurationError(f"no signature can be checked: {problem}", hint=problem.hint) from None


def unavailable() -> VerificationProblem | None:
    """Return the reason why no signature can be verified on this machine, None if one can; starts no program."""
    try:
        _find_gpg()
        _library()
    except GpgUnavailableError as error:
        return error.problem
    return None


def _find_gpg() -> str:
    found = find_program("gpg", "gpg2")
    if found is None:
        raise GpgUnavailableError(VerificationProblem.NO_GPG)
    return found


def _library() -> Any:
    """Return the module of python-gnupg, which shares its name with an abandoned package."""
    try:
        import gnupg
    except ImportError as error:
        raise GpgUnavailableError(VerificationProblem.NO_LIBRARY) from error
    major = str(getattr(gnupg, "__version__", "")).partition(".")[0]
    if major != "0" or not hasattr(gnupg, "ListKeys"):
        raise GpgUnavailableError(VerificationProblem.WRONG_LIBRARY)
    return gnupg


class GpgAnswer(Struct, frozen=True):
    """The output of one gpg: its status lines, and what it wrote to its standard output."""

    lines: tuple[StatusLine, ...]
    output: bytes

    def has(self, keyword: str) -> bool:
        """True if there is a status line of a keyword."""
        return any(one == keyword for one, _ in self.lines)


class Gpg:
    """Starts gpg, in a home that is named for each question: nothing of the user's GnuPG has a part in it.

    A path of "" is looked for; `timeout` is of seconds for one question.

    Raises:
        GpgUnavailableError: From the constructor and every method: it is not there, does not run, is too old, or takes
            too long.
    """

    def __init__(self, path: str, timeout: float) -> None:
        import re

        self._path = path or _find_gpg()
        self._timeout = timeout
        environ = safe_environment().items()
        self._environment = {name: value for name, value in environ if not name.startswith(("GNUPG", "GPG_"))}
        self._environment["LC_ALL"] = "C"
        found = re.match(rb"gpg \([^)]*\) (\d+)\.(\d+)", self._run(["--no-options", "--version"], b"")[0])
        if found is None:
            raise GpgUnavailableError(VerificationProblem.FAILED)
        if (int(found[1]), int(found[2])) < LEAST_GPG:
            raise GpgUnavailableError(VerificationProblem.OLD_GPG)

    def verify(self, home: Path, signature: Path, data: bytes) -> GpgAnswer:
        """Verify a detached signature in a file."""
        return self._ask(home, ["--verify", str(signature), "-"], data)

    def verify_messages(self, home: Path, messages: Sequence[Path]) -> dict[Path, GpgAnswer]:
        """Verify messages that have their signatures with them; those are left out at which gpg left off."""
        told = self._ask(home, ["--multifile", "--verify", *map(str, messages)], b"")
        of_names = {f"1 {path}": path for path in messages}
        found: dict[Path, GpgAnswer] = {}
        path: Path | None = None
        lines: list[StatusLine] = []
        for keyword, value in told.lines:
            if keyword == "FILE_START":
                path, lines = of_names.get(value), []
            elif keyword == "FILE_DONE" and path is not None:
                found[path], path = GpgAnswer(tuple(lines), b""), None
            else:
                lines.append((keyword, value))
        return found

    def import_keys(self, home: Path, packets: bytes) -> GpgAnswer:
        """Import keys, and list them where gpg can do both at once."""
        answer = self._ask(home, ["--import", "--import-options", "import-show", *_LISTING], packets)
        if answer.has("IMPORT_RES"):
            return answer
        # To show an expired or revoked key it looks for a trust database, and gives up where there is none.
        return self._ask(home, ["--import"], packets)

    def list_keys(self, home: Path) -> GpgAnswer:
        """List the keys of a home."""
        return self._ask(home, ["--list-keys", *_LISTING], b"")

    def _ask(self, home: Path, arguments: list[str], data: bytes) -> GpgAnswer:
        output, told = self._run([*_OPTIONS, "--homedir", str(home), *arguments], data)
        # Lines end at line feeds alone: in a hostile user id there may be U+0085 or U+2028, and what follows it must
        # not be read as a status line of gpg's.
        status = (line.removeprefix(_STATUS).split(None, 1) for line in told.split(b"\n") if line.startswith(_STATUS))
        texts = ([word.decode("utf-8", "replace").rstrip() for word in words] for words in status)
        return GpgAnswer(tuple((words[0], words[1] if len(words) > 1 else "") for words in texts if words), output)

    def _run(self, arguments: list[str], data: bytes) -> tuple[bytes, bytes]:
        import subprocess

        command = [self._path, *arguments]
        try:
            with _RUNNING:
                done = subprocess.run(
                    command, env=self._environment, input=data, capture_output=True, check=False, timeout=self._timeout
                )
        except subprocess.TimeoutExpired:
            raise GpgUnavailableError(VerificationProblem.TIMED_OUT) from None
        except (OSError, ValueError) as error:
            raise GpgUnavailableError(VerificationProblem.FAILED) from error
        return done.stdout, done.stderr


class KeyListing(Struct, frozen=True):
    """A listing of keys.

    Attributes:
        entries: python-gnupg's entries by the primary key's fingerprint.
        ends: Times when the keys, subkeys and user ids expire, seconds since 1970.
        forged: Key ids of the primary keys that have a self-signature or revocation that gpg finds bad.
    """

    entries: dict[str, dict[str, Any]]
    ends: tuple[float, ...]
    forged: frozenset[str]


def read_listing(output: bytes) -> KeyListing:
    """Read gpg's listing of keys, made with `--with-sig-check`.

    Raises:
        GpgUnavailableError: python-gnupg is missing.
    """
    # The parser wants a GPG for this one setting of it, and making one would start a gpg without a limit of time.
    parser = _library().ListKeys(SimpleNamespace(check_fingerprint_collisions=False))
    ends, forged, primary = [], set(), ""
    for line in output.split(b"\n"):
        columns = line.decode("latin-1").rstrip().split(":")
        match columns[0]:
            case "pub" | "sec" | "sub" | "ssb" | "uid":
                primary = columns[_KEY_ID] if columns[0] in {"pub", "sec"} else primary
                ends.append(columns[_EXPIRES])
                getattr(parser, columns[0])(columns)
            case "fpr":
                parser.fpr(columns)
            case "sig" | "rev" if columns[1] in {"-", "%"}:
                forged.add(primary)
    entries = {str(entry["fingerprint"]): entry for entry in parser}
    return KeyListing(entries, tuple(float(text) for text in ends if text.isdecimal()), frozenset(forged))


def read_signatures(
    lines: Sequence[StatusLine], listed: Mapping[str, Mapping[str, Any]], keyrings: Sequence[Keyring]
) -> tuple[Signature, ...]:
    """Return every signature that gpg judged, in the file's order; no other key than those of `keyrings` vouches."""
    groups: list[list[StatusLine]] = []
    for keyword, value in lines:
        if keyword == "NEWSIG":
            groups.append([])
        elif groups:
            groups[-1].append((keyword, value))
    keys = {key.fingerprint: key for keyring in keyrings for key in keyring.keys}
    found = (_signature(group, listed, keys) for group in groups)
    return tuple(signature for signature in found if signature is not None)


def _signature(
    group: list[StatusLine], listed: Mapping[str, Mapping[str, Any]], keys: Mapping[str, SigningKey]
) -> Signature | None:
    said = dict(group)
    verdicts = [(status, said[keyword]) for keyword, status in _VERDICTS.items() if keyword in said]
    if "ERRSIG" in said:
        return _error(said["ERRSIG"].split())
    if len(verdicts) != 1:
        return None
    status, text = verdicts[0]
    issuer = text.partition(" ")[0].upper()
    if status is SignatureStatus.BAD:
        return Signature(status, issuer, key=_by_key_id(issuer, listed, keys))
    details = said.get("VALIDSIG", "").split()
    if len(details) < 10 or details[9] not in keys:
        return None if len(details) < 10 else Signature(SignatureStatus.UNKNOWN_ISSUER, issuer)
    return _matching(status, issuer, details, listed[details[9]], keys[details[9]])


def _matching(
    status: SignatureStatus, issuer: str, details: list[str], entry: Mapping[str, Any], key: SigningKey
) -> Signature:
    """Return a signature that the key did make; `details` are the words of gpg's VALIDSIG.

    One that was made in the future has expired, as the tools have it (`Signature.SigExpired` of go-crypto, in
    openpgp/packet/signature.go); gpg finds nothing wrong with it.
    """
    fingerprint, made, expires = details[0], details[2], details[3]
    if status is SignatureStatus.GOOD and not _is_past(made):
        status = SignatureStatus.EXPIRED_SIGNATURE
    subkey = entry.get("subkey_info", {}).get(fingerprint[-16:], {})
    revoked = status is SignatureStatus.REVOKED_KEY or key.revoked or subkey.get("trust") == "r"
    expired = status is SignatureStatus.EXPIRED_KEY or key.expired or subkey.get("trust") == "e"
    return Signature(
        SignatureStatus.REVOKED_KEY if revoked else status,
        issuer,
        matches=True,
        key=key,
        signing_fingerprint=fingerprint,
        made=_time(made),
        expires=_time(expires),
        digest=_DIGESTS.get(details[7], ""),
        signature_expired=status is SignatureStatus.EXPIRED_SIGNATURE,
        key_expired=expired,
        key_revoked=revoked,
    )


def _error(words: list[str]) -> Signature:
    """Read ERRSIG: key id, two algorithms, class, time, reason, fingerprint of the issuer where it is known."""
    key_id, _, digest, _, made, reason, fingerprint = [*words, *[""] * 7][:7]
    issuer = fingerprint if fingerprint not in {"", "-"} else key_id
    is_unknown = reason in {_NO_PUBLIC_KEY, _WRONG_KEY_USAGE}
    status = SignatureStatus.UNKNOWN_ISSUER if is_unknown else SignatureStatus.UNUSABLE
    return Signature(status, issuer.upper(), made=_time(made), digest=_DIGESTS.get(digest, ""))


def _by_key_id(
    key_id: str, listed: Mapping[str, Mapping[str, Any]], keys: Mapping[str, SigningKey]
) -> SigningKey | None:
    for fingerprint, entry in listed.items():
        if fingerprint in keys and (fingerprint.endswith(key_id) or key_id in entry.get("subkey_info", {})):
            return keys[fingerprint]
    return None


def read_key(entry: Mapping[str, Any]) -> SigningKey:
    """Return a key from python-gnupg's entry of a listing."""
    return SigningKey(
        str(entry["fingerprint"]),
        tuple(_user_id(text) for text in entry["uids"][:MAX_USER_IDS]),
        _algorithm(entry),
        _time(str(entry["date"])) or "",
        _time(str(entry["expires"])),
        entry["trust"] == "e" or _is_past(str(entry["expires"])),
        entry["trust"] == "r",
    )


def _algorithm(entry: Mapping[str, Any]) -> str:
    name = _ALGORITHMS.get(str(entry["algo"]), f"algorithm {entry['algo']}")
    curve = str(entry.get("curve") or "")
    if curve:
        return _CURVES.get(curve, f"{name} {curve}")
    return f"{name} {entry['length']}"


def _user_id(text: str) -> str:
    """Decode a user id, which `read_listing` decoded bytewise, and escape what cannot be printed."""
    return visible(text.encode("latin-1", "replace").decode("utf-8", "replace")[:MAX_USER_ID_LENGTH])


def _time(seconds: str) -> str | None:
    if not seconds.isdecimal() or not int(seconds):
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None


def _is_past(seconds: str) -> bool:
    return seconds.isdecimal() and 0 < int(seconds) <= datetime.now(UTC).timestamp()
