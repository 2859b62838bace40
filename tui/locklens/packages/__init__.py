"""Provider packages: hashed while they arrive, unpacked safely.

The tools unpack a package and hash the folder; everything here gives what that would have given, for every zip file
that they accept, and never a hash where they would have failed. Nothing here judges whether a hash is the right one.
"""

from __future__ import annotations

from msgspec import Struct

from locklens.errors import RunCancelledError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading

_MIB = 1024**2
_GIB = 1024**3


class Limits(Struct, frozen=True):
    """The bounds of one package. The largest that are published have a fifth of them, most a hundredth.

    Attributes:
        packed: Bytes of the zip file.
        unpacked: Bytes of the contents of all entries.
        ratio: Limit of the contents' bytes as a multiple of the zip file's, once they are beyond `ratio_from` bytes.
            Programs shrink to a quarter, at most to a tenth.
        ratio_from: Bytes of contents up to which `ratio` does not count.
        entries: Entries of the zip file, and the folders that they need.
        name: Bytes of an entry's name.
    """

    packed: int = 4 * _GIB
    unpacked: int = 8 * _GIB
    ratio: int = 50
    ratio_from: int = 256 * _MIB
    entries: int = 10_000
    name: int = 1024


LIMITS = Limits()
"""The bounds of packages that are hashed and unpacked."""


def stop_if(cancel: threading.Event | None) -> None:
    """End the work at hand if the run was cancelled.

    Raises:
        RunCancelledError: It was cancelled.
    """
    if cancel is not None and cancel.is_set():
        raise RunCancelledError("the run was cancelled")
