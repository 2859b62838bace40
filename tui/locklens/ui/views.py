"""The table of views: the screens that number keys open, and the providers that each reads."""

from __future__ import annotations

from msgspec import Struct

from locklens.operations.locklens import Reads


class View(Struct, frozen=True):
    """One view.

    Attributes:
        key: The number key.
        title: The tab's label.
        name: The name in code, and the equivalent command; "" if not supported yet.
        reads: The providers that the view reads.
    """

    key: str
    title: str
    name: str = ""
    reads: Reads = Reads.CHANGES


REVIEW = View("1", "Review", "review")
UPGRADE = View("2", "Upgrade", "upgrade", Reads.CANDIDATES)
HASHES = View("3", "Hashes", "hashes", Reads.LOCKED)
SIGNERS = View("4", "Signers", "keys", Reads.LOCKED)
HEALTH = View("5", "Health")
DOCTOR = View("6", "Doctor")

VIEWS = (REVIEW, UPGRADE, HASHES, SIGNERS, HEALTH, DOCTOR)
