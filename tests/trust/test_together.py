"""Signatures of one publisher that gpg is asked about together, and that none of them changes another's verdict."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kit.waiting import until

from locklens.demo.faults import Fault
from locklens.demo.published import publish
from locklens.trust import Form, SignatureStatus
from locklens.trust.packets import signed_message, split_signatures
from locklens.trust.signature import MAX_SIGNATURE_BYTES, MAX_SIGNATURES, Verifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from trust.conftest import Gnupg

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="gpg is replaced by a shell script")

Asked = tuple[bytes, bytes]


class Held:
    """gpg behind a script that lets the first verification wait, and notes what it is started for."""

    def __init__(self, folder: Path) -> None:
        self.go, self._log = folder / "go", folder / "log"
        self.path = folder / "gpg"
        self.path.write_text(
            f'#!/bin/sh\necho "$*" >> {self._log}\n'
            f'case "$*" in *--verify*) while [ ! -e {self.go} ]; do sleep 0.01; done ;; esac\n'
            f'exec {shutil.which("gpg")} "$@"\n'
        )
        self.path.chmod(0o755)

    def started(self) -> Counter[str]:
        kinds = ("--multifile", "--verify", "--import", "--version")
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return Counter(next(kind for kind in kinds if kind in line.split()) for line in lines)


def together(tmp_path: Path, keys: tuple[str, ...], asked: list[Asked]) -> tuple[list[SignatureStatus | Form], Held]:
    """The verdicts on signatures that are asked about while gpg is busy with the first."""
    gpg = Held(tmp_path)
    with Verifier(str(gpg.path)) as verifier, ThreadPoolExecutor(len(asked)) as pool:
        verifier.prepare(keys)
        futures = [pool.submit(verifier.verify, *asked[0], keys)]
        until(lambda: gpg.started()["--verify"] == 1)
        futures += [pool.submit(verifier.verify, *each, keys) for each in asked[1:]]
        home = verifier._home(keys)
        batched = sum(data[:4] != b"text" for data, _ in asked[1:])
        until(lambda: len(home._questions) >= batched)
        gpg.go.touch()
        found = [future.result() for future in futures]
    assert all(one.problem is None for one in found)
    return [one.signatures[0].status if one.form is Form.SIGNATURES else one.form for one in found], gpg


@pytest.fixture(scope="session")
def signed(gnupg: Gnupg) -> Callable[[bytes], Asked]:
    gnupg.make("together")
    return lambda data: (data, gnupg.sign("together", data))


def test_good_ones_take_two_starts(tmp_path: Path, gnupg: Gnupg, signed: Callable[[bytes], Asked]) -> None:
    asked = [signed(b"release %d\n" % number) for number in range(9)]
    found, gpg = together(tmp_path, (gnupg.public("together"),), asked)
    assert found == [SignatureStatus.GOOD] * 9
    assert gpg.started() == {"--version": 1, "--import": 1, "--verify": 1, "--multifile": 1}


def test_a_bad_one_neither_spoils_nor_is_blessed(
    tmp_path: Path, gnupg: Gnupg, signed: Callable[[bytes], Asked]
) -> None:
    gnupg.make("stranger")
    expired = publish("registry.terraform.io/acme/demo", "1.4.2", frozenset({Fault.EXPIRED_SIGNATURE}))
    keys = (gnupg.public("together"), *expired.keys)
    data, signature = signed(b"one\n")
    other = signed(b"two\n")
    asked = [
        signed(b"zero\n"),
        (b"another content\n", signature),
        other,
        (data, other[1]),
        (b"stranger\n", gnupg.sign("stranger", b"stranger\n")),
        (data, signature),
        (expired.sums, expired.signature),
        signed(b""),
        signed(bytes(300_000)),
    ]
    found, _ = together(tmp_path, keys, asked)
    good, bad = SignatureStatus.GOOD, SignatureStatus.BAD
    assert found[:6] == [good, bad, good, bad, SignatureStatus.UNKNOWN_ISSUER, good]
    assert found[6] is SignatureStatus.EXPIRED_SIGNATURE
    assert found[7:] == [good, good]
    with Verifier() as verifier:
        assert found == [verifier.verify(*each, keys).signatures[0].status for each in asked]


def test_text_is_asked_about_alone(tmp_path: Path, gnupg: Gnupg, signed: Callable[[bytes], Asked]) -> None:
    data = b"text\r\nof two lines  \n"
    asked = [signed(b"zero\n"), (data, gnupg.sign("together", data, "--textmode")), signed(b"one\n")]
    found, gpg = together(tmp_path, (gnupg.public("together"),), asked)
    assert found == [SignatureStatus.GOOD] * 3
    assert gpg.started()["--multifile"] == 0


def test_another_message_inside_a_signature_is_not_seen(
    tmp_path: Path, gnupg: Gnupg, signed: Callable[[bytes], Asked]
) -> None:
    """However a signature's own length is written, gpg sees it end where it was read to end."""
    good_data, good = signed(b"good\n")
    body = good[3:] if good[0] & 3 == 1 else good[2:]
    inner = signed_message(good, good_data)
    # An unhashed subpacket that holds a whole message: its bytes belong to the signature, whose data is another.
    hashed_end = 6 + int.from_bytes(body[4:6], "big")
    unhashed = body[hashed_end + 2 : hashed_end + 2 + int.from_bytes(body[hashed_end : hashed_end + 2], "big")]
    rest = body[hashed_end + 2 + len(unhashed) :]
    private = b"\xff" + (len(inner) + 1).to_bytes(4, "big") + b"\x64" + inner
    area = unhashed + private
    forged = body[:hashed_end] + len(area).to_bytes(2, "big") + area + rest
    packet = b"\x89" + len(forged).to_bytes(2, "big") + forged
    assert split_signatures(packet, MAX_SIGNATURE_BYTES, MAX_SIGNATURES)[0] is Form.SIGNATURES
    asked = [signed(b"zero\n"), (b"evil\n", packet), (good_data, good)]
    found, _ = together(tmp_path, (gnupg.public("together"),), asked)
    assert found == [SignatureStatus.GOOD, SignatureStatus.BAD, SignatureStatus.GOOD]
