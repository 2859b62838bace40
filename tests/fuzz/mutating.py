"""Valid samples, changed in ways that a parser can feel: by token, by line, by block, by byte, by repetition."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

MAX_BYTES = 32 * 1024
"""Of a mutant: large enough for thousands of levels or lines."""

_TOKEN = re.compile(rb'[A-Za-z0-9_.-]+|\s+|"(?:[^"\\\n]|\\.)*"|.', re.DOTALL)
_ODD = (
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xc3",
        b"\r",
        b"\r\n",
        b"\x1b[31m",
        b"\x85",
        b"\xe2\x80\xae",
        b"\xe2\x80\xa8",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"\\",
        b"${",
        b"%{",
        b"$${",
        b"<<EOT\n",
        b"EOT",
        b"/*",
        b"*/",
        b"//",
        b"#",
        b"=",
        b",",
    ),
    *(b"0", b"-1", b"1e999", b"NaN", b"9" * 400, b"0x", b"1_0", b"true", b"null", b"\\ud800", b"\\u0000", b"\\x"),
    *(b"<<<<<<< ours\n", b"=======\n", b">>>>>>> theirs\n", b"||||||| base\n", b"::error::x\n", b"##[error]x\n"),
    *(b"a\xcc\x81", "\u212b".encode(), b"xn--80ak6aa92e", "\u0430ws".encode(), b"..", b"/", b"\\\\host\\share"),
)

_NESTS = (
    *((b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b'{"a":', b"}"), (b"{a=", b"}"), (b"${", b"}"), (b"a {\n", b"}\n")),
    *((b"[", b""), (b'{"a":', b""), (b"a {\n", b""), (b"!", b""), (b"-", b"")),
)
"""What opens and closes a level: parsers that call themselves for each have to stop somewhere."""


def mutants(samples: Sequence[bytes], words: Sequence[bytes] = ()) -> st.SearchStrategy[bytes]:
    """Bytes that began as one of the samples, or as nothing; `words` are the format's own.

    Args:
        samples: Valid.
        words: Pieces that mean something in the format.
    """
    pieces = st.sampled_from([*words, *_ODD]) | st.binary(max_size=8) | _pieces_of(samples)
    edits = st.lists(
        st.tuples(st.integers(0, 10), st.integers(0, 1 << 16), st.integers(0, 1 << 16), pieces), max_size=6
    )
    return st.builds(_edited, st.sampled_from(samples), edits) | st.binary(max_size=200)


def _pieces_of(samples: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    tokens = sorted({token for sample in samples for token in _TOKEN.findall(sample)})
    lines = sorted({line for sample in samples for line in sample.splitlines(keepends=True)})
    return st.sampled_from(tokens) | st.sampled_from(lines)


def _edited(sample: bytes, edits: Sequence[tuple[int, int, int, bytes]]) -> bytes:
    for kind, first, second, piece in edits:
        sample = _edit(sample, kind, first, second, piece)[:MAX_BYTES]
    return sample


def _edit(data: bytes, kind: int, first: int, second: int, piece: bytes) -> bytes:
    """One edit; the numbers say where, wherever that is."""
    parts = data.splitlines(keepends=True) if kind < 4 else _TOKEN.findall(data)
    if not parts:
        return piece
    at, other = first % len(parts), second % len(parts)
    low, high = sorted((at, other))
    match kind:
        case 0 | 4:
            parts[at] = piece
        case 1 | 5:
            parts.insert(at, piece)
        case 2 | 6:
            del parts[low : min(high, low + 12)]
        case 3:
            parts[at:at] = parts[low : high + 1]
        case 7:
            parts[at] = parts[at] * (1 + second % 3000)
        case 8 | 9:
            before, after = _NESTS[other % len(_NESTS)]
            parts[at] = before * (second % 4000) + parts[at] + after * (second % 4000)
        case _:
            changed = bytearray(data)
            changed[first % len(changed)] ^= 1 << second % 8
            return bytes(changed)
    return b"".join(parts)
