"""Ed25519 signatures for the sample publishers (RFC 8032), from public seeds.

The demo signs at run time, the same bytes on every machine: no gpg is needed to serve it, no agent is left running, and
the fingerprints are always those of the documentation. Not resistant to timing attacks: these keys protect nothing.
The signatures are verified by the real gpg and the real tools.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha512

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P

_Point = tuple[int, int, int, int]
"""Extended homogeneous coordinates X, Y, Z, T."""

_NEUTRAL: _Point = (0, 1, 1, 0)


def public_key(seed: bytes) -> bytes:
    """Return the 32-byte public key of a 32-byte seed."""
    scalar, _ = _secret(seed)
    return _encoded(_multiplied(scalar))


def ed25519_signature(seed: bytes, message: bytes) -> bytes:
    """Return the 64-byte signature, which depends only on the arguments."""
    scalar, prefix = _secret(seed)
    nonce = int.from_bytes(sha512(prefix + message).digest(), "little") % _ORDER
    commitment = _encoded(_multiplied(nonce))
    challenge = int.from_bytes(sha512(commitment + public_key(seed) + message).digest(), "little") % _ORDER
    return commitment + ((nonce + challenge * scalar) % _ORDER).to_bytes(32, "little")


def _secret(seed: bytes) -> tuple[int, bytes]:
    digest = sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return scalar & ~7 & ((1 << 254) - 1) | 1 << 254, digest[32:]


def _added(one: _Point, other: _Point) -> _Point:
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a, b = (y1 - x1) * (y2 - x2) % _P, (y1 + x1) * (y2 + x2) % _P
    c, d = 2 * t1 * t2 * _D % _P, 2 * z1 * z2 % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


@lru_cache(maxsize=1)
def _doublings() -> tuple[_Point, ...]:
    """The base point times each power of two."""
    y = 4 * pow(5, _P - 2, _P) % _P
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if x & 1:
        x = _P - x
    points = [(x, y, 1, x * y % _P)]
    for _ in range(255):
        points.append(_added(points[-1], points[-1]))
    return tuple(points)


def _multiplied(scalar: int) -> _Point:
    result = _NEUTRAL
    for bit, point in enumerate(_doublings()):
        if scalar >> bit & 1:
            result = _added(result, point)
    return result


def _encoded(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, _P - 2, _P)
    return (y * inverse % _P | (x * inverse % _P & 1) << 255).to_bytes(32, "little")
