"""Has gpg asked once in a process about each signature of the sample registry, which signs the same for each test.

A diagnosis or a review without a cache starts four gpg, which take more than all else that it does. What gpg says and what
becomes of it has tests of its own, in `tests/trust`, `tests/releases` and `tests/attacks`, where it is asked each time.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from kit.effort import IS_FULL
from locklens.trust import SignatureStatus
from locklens.trust.signature import Verifier, verification_key

if TYPE_CHECKING:
    from locklens.trust import Verification
    from locklens.trust.signature import _Home

_KNOWN: dict[object, tuple[Verification, _Home | None]] = {}
_asked = Verifier._asked


def _asked_once(
    verifier: Verifier, data: bytes, signature: bytes, armored_keys: tuple[str, ...]
) -> tuple[Verification, _Home | None]:
    """What gpg said where all was good, as a cache has it; all else is asked again, and so is another gpg."""
    key = verifier._gpg or shutil.which("gpg"), verification_key(data, signature, armored_keys)
    if key in _KNOWN:
        return _KNOWN[key]
    found = _asked(verifier, data, signature, armored_keys)
    said = found[0]
    if said.problem is None and {one.status for one in said.signatures} == {SignatureStatus.GOOD}:
        _KNOWN[key] = found
    return found


@pytest.fixture(autouse=True)
def verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    if not IS_FULL:
        monkeypatch.setattr(Verifier, "_asked", _asked_once)
