"""The table of views: the screens that a number key opens, and what each of them reads."""

from __future__ import annotations

from msgspec import Struct

from locklens.operations.locklens import Reads


class View(Struct, frozen=True):
    """One view.

    Attributes:
        key: The number key that opens it.
        title: What its tab says.
        name: Its name in code, and the command that prints the same; "" for one that is not built yet.
        reads: Which providers it reads.
    """

    key: str
    title: str
    name: str = ""
    reads: Reads = Reads.CHANGES


REVIEW = View("1", "Review", "review")
UPGRADE = View("2", "Upgrade", "upgrade", Reads.CANDIDATES)
HASHES = View("3", "Hashes", "hashes", Reads.LOCKED)
SIGNERS = View("4", "Keys", "keys", Reads.LOCKED)
HEALTH = View("5", "Health")
DOCTOR = View("6", "Doctor")

VIEWS = (REVIEW, UPGRADE, HASHES, SIGNERS, HEALTH, DOCTOR)
