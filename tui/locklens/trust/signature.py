"""Signatures, verified by the real gpg in a throw-away home: the only user of python-gnupg.

Nothing of the user's GnuPG has a part in it: no key, no configuration, no agent (none is started, so none is left
behind), no network. What gpg says is read from its status lines, of every signature in the file; python-gnupg's own
summary speaks of the last one alone.

Entirely good verifications are cached if there is a cache: then gpg is not run and python-gnupg is not loaded.

What a verified signature is worth is not judged here; see `locklens.trust.authentication`.
"""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from locklens.programs import safe_environment
from locklens.trust import remembered
from locklens.trust.gpg import GpgUnavailableError, find_gpg
from locklens.trust.model import Form, Keyring, Signature, SignatureStatus, Verification, VerificationProblem
from locklens.trust.packets import SignaturePacket, key_packets, read_signature, split_signatures
from locklens.trust.selfsignatures import PublishedSigner, as_permitted, by_key_id, published_signers
from locklens.trust.statuses import StatusLine, forged_keys, read_key, read_signatures

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

GPG_TIMEOUT = 20.0
"""Seconds that gpg may take for one question, and to import all keys of a list; it takes a hundredth of one
for a key, but a key of half a megabyte can be made so that it takes long."""

MAX_SIGNATURE_BYTES = 64 * 1024
"""A detached signature has some 600 bytes."""

MAX_SIGNATURES = 16
"""In one file; publishers make one, or two while a key is replaced. Each costs gpg a verification."""

MAX_KEYS = 64
"""That a registry lists for a release. gpg imports each into a keyring of its own."""

MAX_KEYS_BYTES = 1 << 20
"""Of all armored texts of a list together; those that do not fit in count as broken. Registries list one or two keys,
of some 3 KB each."""

_OPTIONS = (
    "--no-autostart",
    "--disable-dirmngr",
    "--no-auto-key-locate",
    "--no-auto-key-retrieve",
    "--no-auto-check-trustdb",
    "--trust-model",
    "always",
    "--lock-never",
)

_STATUS = "[GNUPG:] "

_RUNNING = threading.BoundedSemaphore(os.cpu_count() or 2)
"""More gpg at once than there are processors only take turns, and slow down concurrent requests to registries."""

_ONE_LINE_PER_LINE = "cp437"
"""The encoding of gpg's output: each byte is a character, and only control characters end a line.

In python-gnupg's own choice, and in UTF-8, the bytes of a user id can be a line separator (U+0085, U+2028), and what
follows it in a hostile user id would be read as a status line of gpg's.
"""

_CHECKING = "--with-sig-check"
"""Has gpg verify the self-signatures that it lists; it did so already to import them, and remembers."""
_SHOWING = ["--import-options", "import-show", "--fingerprint", "--fingerprint", _CHECKING]
_SHOWS_IMPORTS = (2, 2)
"""Since when gpg lists what it imports while it does: a listing of its own takes another process."""

_EXPIRES = 6
"""The column of gpg's listing that has the end of a key, a subkey, or a user id's binding."""


class Verifier:
    """Verifies signatures for as long as one run lasts; use it in a `with` statement. Safe for several threads.

    Keys are imported once for each list of armored texts, into a home of that list's own: a provider's signatures
    never meet another's keys.

    Args:
        gpg: Path of gpg, "" to look for it.
        timeout: Seconds for one question.
        memory: What was verified in earlier runs; None to remember nothing.
        clock: The time, seconds since 1970; for tests.
    """

    def __init__(
        self,
        gpg: str = "",
        *,
        timeout: float = GPG_TIMEOUT,
        memory: remembered.VerificationCache | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._gpg = gpg
        self._timeout = timeout
        self._memory = memory
        self._clock = clock
        self._lock = threading.Lock()
        self._turns: dict[tuple[str, ...], threading.Lock] = {}
        self._homes: dict[tuple[str, ...], _Home | VerificationProblem] = {}
        self._folder = ""
        self._engine: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove everything that was written."""
        with self._lock:
            self._homes.clear()
            self._turns.clear()
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""
            self._engine = None

    def prepare(self, armored_keys: tuple[str, ...]) -> None:
        """Import keys that signatures will be held against; what fails then fails again where it is told."""
        with suppress(GpgUnavailableError):
            self._home(armored_keys)

    def verify(self, data: bytes, signature: bytes, armored_keys: tuple[str, ...]) -> Verification:
        """Hold a detached signature against keys.

        Args:
            data: What is said to be signed, e.g. SHA256SUMS.
            signature: The signature file's bytes. Binary only: the tools refuse armor.
            armored_keys: As the registry lists them; each may have several keys, or be broken.

        Returns:
            What is known; no input makes it raise.
        """
        if self._memory is None:
            return self._asked(data, signature, armored_keys)[0]
        key = remembered.verification_key(data, signature, armored_keys)
        known = remembered.cached_verification(self._memory.verification(key), self._clock())
        if known is not None:
            return known
        found, home = self._asked(data, signature, armored_keys)
        if home is not None and (text := remembered.written(found, home.ends, home.made)) is not None:
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
                lines = home.ask_about(data, part)
            except GpgUnavailableError as error:
                return Verification(form, tuple(found), home.keyrings, error.problem), home
            signatures = read_signatures(lines, home.listed, home.keyrings)
            if not signatures and any(keyword == "NODATA" for keyword, _ in lines):
                # gpg works, and cannot read what the tools should be able to read.
                return Verification(Form.DAMAGED, tuple(found), home.keyrings), home
            if len(signatures) != 1:
                return Verification(form, tuple(found), home.keyrings, VerificationProblem.FAILED), home
            found.append(home.judged(signatures[0], packet, self._clock()))
        return Verification(form, tuple(found), home.keyrings), home

    def _home(self, armored_keys: tuple[str, ...]) -> _Home:
        """Return the home of a list of keys; threads that need different ones create them concurrently."""
        with self._lock:
            self._gpg = self._gpg or find_gpg()
            self._folder = self._folder or tempfile.mkdtemp(prefix="locklens-gpg-")
            self._engine = self._engine or _engine(self._gpg, Path(self._folder), self._timeout)
            engine, folder = self._engine, self._folder
            turn = self._turns.setdefault(armored_keys, threading.Lock())
        with turn:
            home = self._homes.get(armored_keys)
            if home is None:
                try:
                    place = Path(tempfile.mkdtemp(dir=folder))
                    home = _Home(engine, place, armored_keys, made=self._clock(), timeout=self._timeout)
                except GpgUnavailableError as error:
                    home = error.problem  # The next version's signature would wait as long for the same keys.
                self._homes[armored_keys] = home
        if isinstance(home, VerificationProblem):
            raise GpgUnavailableError(home)
        return home


def unavailable() -> VerificationProblem | None:
    """The reason why no signature can be verified on this machine, None for none; starts no program."""
    try:
        find_gpg()
        _library()
    except GpgUnavailableError as error:
        return error.problem
    return None


class _Home:
    """A GnuPG home with the keys of one list of armored texts; `made` is when, `ends` when what is in it expires."""

    def __init__(
        self, engine: Any, folder: Path, armored_keys: tuple[str, ...], *, made: float, timeout: float
    ) -> None:
        self._folder = folder
        self.made = made
        self.ends: tuple[float, ...] = ()
        # A new one would run gpg to ask for its version; the copy knows it.
        self._engine = copy.copy(engine)
        self._engine.gnupghome = str(folder)
        answers, begun, room = [], time.monotonic(), MAX_KEYS_BYTES
        for text in armored_keys[:MAX_KEYS]:
            if time.monotonic() - begun > timeout:
                raise GpgUnavailableError(VerificationProblem.TIMED_OUT)
            data = text.encode("utf-8", "surrogatepass")
            room -= len(data)
            answers.append(self._imported(data) if room >= 0 else _Imported((), None))
        self.listed: dict[str, dict[str, Any]] = {}
        forged: frozenset[str] = frozenset()
        if any(answer.names for answer in answers):
            listings = self._listings(tuple(answers))
            self.listed = {str(entry["fingerprint"]): entry for listing in listings for entry in listing}
            self.ends = tuple(float(text) for listing in listings for text in listing.ends if text.isdecimal())
            forged = frozenset().union(*(forged_keys(listing.data) for listing in listings))
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

    def judged(self, signature: Signature, packet: SignaturePacket, now: float) -> Signature:
        """Return a signature that gpg verified, as the tools see its key."""
        signers = self._signers.get(packet.issuer, ())
        key = self._keys.get(signers[0].primary) if signers else None
        return as_permitted(signature, packet, signers, key, now)

    def ask_about(self, data: bytes, signature: bytes) -> tuple[StatusLine, ...]:
        """Return gpg's status lines about a detached signature."""
        number, path = tempfile.mkstemp(dir=self._folder, suffix=".sig")
        try:
            with open(number, "wb") as file:  # noqa: PTH123
                file.write(signature)
            return tuple(_answered(lambda: self._engine.verify_data(path, data)).lines)
        finally:
            with suppress(OSError):
                Path(path).unlink()

    def _imported(self, armored: bytes) -> _Imported:
        """Import one armored text."""
        data = key_packets(armored)
        if data is None:
            return _Imported((), None)
        options = _SHOWING if self._engine.version >= _SHOWS_IMPORTS else None
        answer = _answered(lambda: self._engine.import_keys(data, extra_args=options))
        if options and all(keyword != "IMPORT_RES" for keyword, _ in answer.lines):
            # To show an expired or revoked key it looks for a trust database, and gives up where there is none.
            answer = _answered(lambda: self._engine.import_keys(data))
        found = (value.split() for keyword, value in answer.lines if keyword == "IMPORT_OK")
        names = tuple(words[1] for words in found if len(words) > 1)
        return _Imported(names, answer.data, published_signers(data))

    def _listings(self, answers: tuple[_Imported, ...]) -> tuple[Any, ...]:
        """Return gpg's listings of all keys: what it showed while it imported them, or else one that is asked for.

        What was shown is of each key by itself. Where a key came twice, only a listing knows what both say of it.
        """
        shown = tuple(self._engine.listing(answer.shown) for answer in answers if answer.names and answer.shown)
        names = [name for answer in answers for name in answer.names]
        told = [str(entry["fingerprint"]) for listing in shown for entry in listing]
        if len(set(names)) == len(names) and sorted(told) == sorted(names):
            return shown
        checking = copy.copy(self._engine)
        checking.options = [*self._engine.options, _CHECKING]
        listing = _answered(checking.list_keys)
        return (listing or _answered(self._engine.list_keys),)  # gpg before 2.2 does not know the option.


class _Imported(Struct, frozen=True):
    """The facts about an armored text.

    Attributes:
        names: Fingerprints of the primary keys that gpg took; none where it is broken.
        shown: gpg's listing of them.
        signers: The keys that the tools take.
    """

    names: tuple[str, ...]
    shown: bytes | None
    signers: tuple[PublishedSigner, ...] = ()


def _keyring(answer: _Imported, listed: dict[str, dict[str, Any]], forged: frozenset[str]) -> Keyring:
    """Return the keys of an armored text that both gpg and the tools take."""
    taken = {signer.primary for signer in answer.signers if signer.primary[-16:] not in forged}
    names = [name for name in dict.fromkeys(answer.names) if name in taken]
    return Keyring(tuple(read_key(listed[name]) for name in names if name in listed), broken=not names)


def _answered(question: Any) -> Any:
    try:
        with _RUNNING:
            return question()
    except GpgUnavailableError:
        raise
    except (OSError, ValueError) as error:
        raise GpgUnavailableError(VerificationProblem.FAILED) from error


def _library() -> Any:
    """Return the module of python-gnupg, which shares its name with an abandoned package."""
    try:
        import gnupg
    except ImportError as error:
        raise GpgUnavailableError(VerificationProblem.NO_LIBRARY) from error
    major = str(getattr(gnupg, "__version__", "")).partition(".")[0]
    if major != "0" or not hasattr(gnupg.GPG, "verify_data"):
        raise GpgUnavailableError(VerificationProblem.WRONG_LIBRARY)
    return gnupg


def _engine(gpg: str, folder: Path, timeout: float) -> Any:
    """Return python-gnupg's object for one home, with a limit of time and with the status lines as they are."""
    gnupg = _library()

    class Lines(gnupg.StatusHandler):  # type: ignore[misc, name-defined]
        """Keeps every status line, and concludes nothing."""

        def __init__(self, engine: object) -> None:
            super().__init__(engine)
            self.lines: list[StatusLine] = []

        def handle_status(self, key: str, value: str) -> None:
            self.lines.append((key, value.encode(_ONE_LINE_PER_LINE).decode("utf-8", "replace")))

    class Listing(gnupg.ListKeys):  # type: ignore[misc, name-defined]
        """Keeps when each key, subkey and user id expires, also of those of which python-gnupg does not tell."""

        def __init__(self, engine: object) -> None:
            super().__init__(engine)
            self.ends: list[str] = []

        def pub(self, args: list[str]) -> None:
            self.ends.append(args[_EXPIRES])
            super().pub(args)

        def sub(self, args: list[str]) -> None:
            self.ends.append(args[_EXPIRES])
            super().sub(args)

        def uid(self, args: list[str]) -> None:
            self.ends.append(args[_EXPIRES])
            super().uid(args)

    class Engine(gnupg.GPG):  # type: ignore[misc, name-defined]
        """python-gnupg waits for ever, and starts three threads for each gpg; this waits alone and not for long."""

        result_map = {**gnupg.GPG.result_map, "verify": Lines, "import": Lines, "list": Listing}  # noqa: RUF012

        def _handle_io(self, args: Any, fileobj: Any, result: Any, **_: Any) -> Any:
            self._talk(self._open_subprocess(args), result, fileobj.read())
            return result

        def _collect_output(self, process: Any, result: Any, **_: Any) -> None:
            self._talk(process, result, b"")

        def listing(self, shown: bytes) -> Any:
            """Read what gpg showed of keys."""
            result = self.result_map["list"](self)
            result.data = shown
            return self._decode_result(result)

        def _talk(self, process: Any, result: Any, data: bytes) -> None:
            try:
                result.data, told = process.communicate(data, timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise GpgUnavailableError(VerificationProblem.TIMED_OUT) from None
            result.stderr = told.decode(_ONE_LINE_PER_LINE)
            for line in result.stderr.split("\n"):
                if line.startswith(_STATUS):
                    words = line.removeprefix(_STATUS).rstrip().split(None, 1)
                    result.handle_status(words[0], words[1] if len(words) > 1 else "")

    environment = {name: value for name, value in safe_environment().items() if not name.startswith(("GNUPG", "GPG_"))}
    environment["LC_ALL"] = "C"
    return _answered(
        lambda: Engine(
            gpgbinary=gpg,
            gnupghome=str(folder),
            options=list(_OPTIONS),
            env=environment,
            encoding=_ONE_LINE_PER_LINE,
        )
    )
