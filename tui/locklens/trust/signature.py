"""Signatures, verified by the real gpg in a throw-away home.

Nothing of the user's GnuPG has a part in it: no key, no configuration, no agent (none is started, so none is left
behind), no network. What gpg says is read from its status lines, of every signature in the file.

Verifications in which all was good are cached, until the first end of validity: then gpg is not run. That a key made a
signature over some bytes is a fact about three digests. What passes is that neither the key nor the signature has
expired; so the first end of validity of anything that had a part in it is cached with it. A verification with any
defect is not cached: another gpg, or another day, may see it otherwise.

What a verified signature is worth is not judged here; see `locklens.trust.authentication`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import msgspec
from msgspec import Struct

from locklens.trust import Form, Keyring, Signature, SignatureStatus, Verification, VerificationProblem
from locklens.trust.gpg import GPG_TIMEOUT, Gpg, GpgUnavailableError, read_key, read_listing, read_signatures
from locklens.trust.packets import SignaturePacket, key_packets, read_signature, signed_message, split_signatures
from locklens.trust.selfsignatures import PublishedSigner, as_permitted, by_key_id, published_signers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from locklens.storage.cache import Cache
    from locklens.trust.gpg import GpgAnswer, KeyListing

_Value = TypeVar("_Value")

MAX_SIGNATURE_BYTES = 64 * 1024
"""A detached signature has some 600 bytes."""

MAX_SIGNATURES = 16
"""The most signatures in one file; publishers make one, or two during a rotation. Each costs gpg a verification."""

MAX_KEYS = 64
"""The most keys that a registry lists for a release. gpg imports each into a keyring of its own."""

MAX_KEYS_BYTES = 1 << 20
"""The most bytes of all armored texts of a list together; those that do not fit count as broken. Registries list one or
two keys, of some 3 KB each."""

_MOST_AT_ONCE = 32
"""The most signatures that one gpg is asked about: what bounds its arguments, and its time."""

_SCHEMA = b"verification 4"
"""Raised when `Verification` or the use of gpg changes: earlier cached verifications are then not found."""


class _Once(Generic[_Value]):
    """Computes the value of each key once; threads that want different ones compute them concurrently."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[object, threading.Lock] = {}
        self._values: dict[object, _Value | VerificationProblem] = {}

    def get(self, key: object, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key, computed by `make` the first time.

        Raises:
            GpgUnavailableError: `make` did, now or before: another try would wait as long.
        """
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            if key not in self._values:
                try:
                    self._values[key] = make()
                except GpgUnavailableError as error:
                    self._values[key] = error.problem
            found = self._values[key]
        if isinstance(found, VerificationProblem):
            raise GpgUnavailableError(found)
        return found


class Verifier:
    """Verifies signatures for as long as one run lasts; use it in a `with` statement. Safe for several threads.

    Each signature is verified once in a run, also where several threads or both tools' rules need it. Keys are imported
    once for each list of armored texts, into a home of that list's own: a provider's signatures never meet another's
    keys. The memory has the verifications of earlier runs; None remembers nothing. See `Gpg` for the rest.
    """

    def __init__(
        self,
        gpg: str = "",
        *,
        timeout: float = GPG_TIMEOUT,
        memory: Cache | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._gpg = gpg
        self._timeout = timeout
        self._memory = memory
        self._clock = clock
        self._lock = threading.Lock()
        self._started: _Once[Gpg] = _Once()
        self._homes: _Once[_Home] = _Once()
        self._known: _Once[Verification] = _Once()
        self._folder = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove everything that was written."""
        with self._lock:
            self._homes = _Once()
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def prepare(self, armored_keys: tuple[str, ...]) -> None:
        """Import keys that signatures will be held against. Errors are ignored here; `verify` reports them."""
        with suppress(GpgUnavailableError):
            self._home(armored_keys)

    def verify(self, data: bytes, signature: bytes, armored_keys: tuple[str, ...]) -> Verification:
        """Verify a detached signature with keys; no input makes it raise.

        The signature file is binary only: the tools refuse armor. Each of the registry's texts may have several keys,
        or be broken.
        """
        key = verification_key(data, signature, armored_keys)
        return self._known.get(key, lambda: self._remembered(key, data, signature, armored_keys))

    def _remembered(self, key: str, data: bytes, signature: bytes, armored_keys: tuple[str, ...]) -> Verification:
        """Return a cached verification, or ask gpg and cache what it says."""
        if self._memory is not None:
            known = cached_verification(self._memory.verification(key), self._clock())
            if known is not None:
                return known
        found, home = self._asked(data, signature, armored_keys)
        if self._memory is not None and home is not None:
            text = cache_record(found, home.ends, home.made)
            if text is not None:
                self._memory.keep_verification(key, text)
        return found

    def _asked(self, data: bytes, signature: bytes, armored_keys: tuple[str, ...]) -> tuple[Verification, _Home | None]:
        """Ask gpg; also returns the home of the keys, where one could be made."""
        form, parts = split_signatures(signature, MAX_SIGNATURE_BYTES, MAX_SIGNATURES)
        try:
            home = self._home(armored_keys)
        except GpgUnavailableError as error:
            return Verification(form, problem=error.problem), None
        # One by one: gpg leaves off after a bad signature, and says nothing of those that follow.
        found: list[Signature] = []
        for part in parts:
            packet = read_signature(part)
            if packet is None:
                found.append(Signature(SignatureStatus.UNUSABLE, ""))
                continue
            try:
                answer = home.ask_about(data, part, packet)
            except GpgUnavailableError as error:
                return Verification(form, tuple(found), home.keyrings, error.problem), home
            signatures = read_signatures(answer.lines, home.listed, home.keyrings)
            if not signatures and answer.has("NODATA"):
                # gpg works, and cannot read what the tools should be able to read.
                return Verification(Form.DAMAGED, tuple(found), home.keyrings), home
            if len(signatures) != 1:
                return Verification(form, tuple(found), home.keyrings, VerificationProblem.FAILED), home
            found.append(home.judged(signatures[0], packet, self._clock()))
        return Verification(form, tuple(found), home.keyrings), home

    def _home(self, armored_keys: tuple[str, ...]) -> _Home:
        """Return the home of a list of keys.

        Raises:
            GpgUnavailableError: It cannot be made.
        """
        gpg = self._started.get("", lambda: Gpg(self._gpg, self._timeout))
        with self._lock:
            self._folder = self._folder or tempfile.mkdtemp(prefix="locklens-gpg-")
            folder, homes = self._folder, self._homes
        return homes.get(
            armored_keys,
            lambda: _Home(
                gpg, Path(tempfile.mkdtemp(dir=folder)), armored_keys, made=self._clock(), timeout=self._timeout
            ),
        )


class _Imported(Struct, frozen=True):
    """The facts about an armored text.

    Attributes:
        names: Fingerprints of the primary keys that gpg took; none where it is broken.
        shown: gpg's listing of them.
        signers: The keys that the tools take.
    """

    names: tuple[str, ...] = ()
    shown: bytes = b""
    signers: tuple[PublishedSigner, ...] = ()


class _Question:
    """A detached signature that gpg is to be asked about; `answer` is there if it is good."""

    def __init__(self, data: bytes, signature: bytes) -> None:
        self.data, self.signature = data, signature
        self.is_taken = False
        self.answer: GpgAnswer | None = None


class _Home:
    """A GnuPG home with the keys of one list of armored texts; `made` is when, `ends` when what is in it expires."""

    def __init__(self, gpg: Gpg, folder: Path, armored_keys: tuple[str, ...], *, made: float, timeout: float) -> None:
        self._gpg = gpg
        self._folder = folder
        self.made = made
        self.ends: tuple[float, ...] = ()
        answers, begun, room = [], time.monotonic(), MAX_KEYS_BYTES
        for text in armored_keys[:MAX_KEYS]:
            if time.monotonic() - begun > timeout:
                raise GpgUnavailableError(VerificationProblem.TIMED_OUT)
            data = text.encode("utf-8", "surrogatepass")
            room -= len(data)
            answers.append(self._imported(data) if room >= 0 else _Imported())
        self.listed: dict[str, dict[str, Any]] = {}
        forged: frozenset[str] = frozenset()
        if any(answer.names for answer in answers):
            for listing in self._listings(answers):
                self.listed |= listing.entries
                self.ends += listing.ends
                forged |= listing.forged
        self.keyrings = tuple(_keyring(answer, self.listed, forged) for answer in answers)
        self._keys = {key.fingerprint: key for keyring in self.keyrings for key in keyring.keys}
        signers = [
            signer
            for answer, keyring in zip(answers, self.keyrings, strict=True)
            for signer in answer.signers
            if signer.primary in keyring.fingerprints
        ]
        self.ends += tuple(end for signer in signers for end in signer.ends)
        self._signers = by_key_id(signers)
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._questions: list[_Question] = []

    def judged(self, signature: Signature, packet: SignaturePacket, now: float) -> Signature:
        """Return a signature that gpg verified, as the tools see its key."""
        signers = self._signers.get(packet.issuer, ())
        key = self._keys.get(signers[0].primary) if signers else None
        return as_permitted(signature, packet, signers, key, now)

    def ask_about(self, data: bytes, signature: bytes, packet: SignaturePacket) -> GpgAnswer:
        """Return gpg's answer about a detached signature.

        Starting gpg takes longer than the verification. Those who ask while it runs wait, and are asked about together
        then: of that, nothing but what is good without any doubt counts. Gpg is asked about all else alone, since it
        leaves off at the first that is bad.
        """
        if packet.kind or packet.is_disputed:
            return self._alone(data, signature)  # As a message, text is signed in another way.
        question = _Question(data, signature)
        with self._lock:
            self._questions.append(question)
        with self._turn:
            while not question.is_taken:
                if self._take() == [question]:
                    return self._alone(data, signature)
        return question.answer or self._alone(data, signature)

    def _take(self) -> list[_Question]:
        """Take those that wait, and ask about them where they are several; return them."""
        with self._lock:
            taken, self._questions = self._questions[:_MOST_AT_ONCE], self._questions[_MOST_AT_ONCE:]
        for question in taken:
            question.is_taken = True
        if len(taken) > 1:
            self._ask_together(taken)
        return taken

    def _ask_together(self, taken: list[_Question]) -> None:
        paths = {self._folder / f"{number}.msg": question for number, question in enumerate(taken)}
        try:
            for path, question in paths.items():
                path.write_bytes(signed_message(question.signature, question.data))
            for path, answer in self._gpg.verify_messages(self._folder, list(paths)).items():
                if self._is_good(answer):
                    paths[path].answer = answer
        except (GpgUnavailableError, OSError):
            pass  # Each is told so when gpg is asked about it alone.
        finally:
            for path in paths:
                path.unlink(missing_ok=True)

    def _is_good(self, answer: GpgAnswer) -> bool:
        signatures = read_signatures(answer.lines, self.listed, self.keyrings)
        return len(signatures) == 1 and signatures[0].status is SignatureStatus.GOOD and signatures[0].matches

    def _alone(self, data: bytes, signature: bytes) -> GpgAnswer:
        number, path = tempfile.mkstemp(dir=self._folder, suffix=".sig")
        try:
            with open(number, "wb") as file:  # noqa: PTH123
                file.write(signature)
            return self._gpg.verify(self._folder, Path(path), data)
        finally:
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108

    def _imported(self, armored: bytes) -> _Imported:
        """Import one armored text."""
        data = key_packets(armored)
        if data is None:
            return _Imported()
        answer = self._gpg.import_keys(self._folder, data)
        found = (value.split() for keyword, value in answer.lines if keyword == "IMPORT_OK")
        names = tuple(words[1] for words in found if len(words) > 1)
        return _Imported(names, answer.output, published_signers(data))

    def _listings(self, answers: list[_Imported]) -> list[KeyListing]:
        """Return gpg's listings of all keys: what it showed while it imported them, or else one that is asked for.

        What was shown is of each key by itself. Where a key came twice, only a listing knows what both say about it.
        """
        shown = [read_listing(answer.shown) for answer in answers if answer.names and answer.shown]
        names = [name for answer in answers for name in answer.names]
        told = [fingerprint for listing in shown for fingerprint in listing.entries]
        if len(set(names)) == len(names) and sorted(told) == sorted(names):
            return shown
        return [read_listing(self._gpg.list_keys(self._folder).output)]


def _keyring(answer: _Imported, listed: dict[str, dict[str, Any]], forged: frozenset[str]) -> Keyring:
    """Return the keys of an armored text that both gpg and the tools take."""
    taken = {signer.primary for signer in answer.signers if signer.primary[-16:] not in forged}
    names = [name for name in dict.fromkeys(answer.names) if name in taken]
    return Keyring(tuple(read_key(listed[name]) for name in names if name in listed), broken=not names)


class _Cached(msgspec.Struct, frozen=True, array_like=True):
    """A verification that counts from one moment until another, seconds since 1970; None for no end."""

    made: float
    until: float | None
    verification: Verification


_DECODER = msgspec.msgpack.Decoder(_Cached)
"""Made once, here: two threads that have msgspec look at the type for the first time crash the process."""


def verification_key(data: bytes, signature: bytes, armored_keys: Iterable[str]) -> str:
    """Return the digest under which a verification is cached, hex."""
    parts = [data, signature, *(text.encode("utf-8", "surrogatepass") for text in armored_keys)]
    return sha256(_SCHEMA + b"".join(sha256(part).digest() for part in parts)).hexdigest()


def cache_record(verification: Verification, ends: Iterable[float], made: float) -> bytes | None:
    """Return the cache record of a verification, None if it must not be cached.

    `ends` are the times when its keys, subkeys, user ids and self-signatures expire, seconds since 1970, as listed at
    `made`; gpg was asked after that.
    """
    is_good = (
        verification.problem is None
        and verification.form is Form.SIGNATURES
        and bool(verification.signatures)
        and all(one.status is SignatureStatus.GOOD for one in verification.signatures)
        and not any(keyring.broken for keyring in verification.keyrings)
    )
    if not is_good:
        return None
    all_ends = [*ends, *(_seconds(one.expires) for one in verification.signatures if one.expires)]
    until = min((end for end in all_ends if end > made), default=None)
    return msgspec.msgpack.encode(_Cached(made, until, verification))


def cached_verification(data: bytes | None, now: float) -> Verification | None:
    """Return a cached verification, if gpg would still give the same result.

    Before it was made it is worth nothing: the clock was set back.
    """
    if data is None:
        return None
    try:
        found = _DECODER.decode(data)
    except msgspec.DecodeError:
        return None
    if now < found.made or (found.until is not None and now >= found.until):
        return None
    return found.verification


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
