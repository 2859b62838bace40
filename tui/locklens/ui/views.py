"""The table of views: the screens that number keys open, their contents, and the providers that each reads."""

from __future__ import annotations

from msgspec import Struct

from locklens.operations.locklens import Reads


class View(Struct, frozen=True):
    """One view.

    Attributes:
        key: The number key.
        title: The tab's label.
        name: The name in code, and the equivalent command.
        screen: The module and class of its screen, as "package.module:Class", loaded when it is first opened.
        about: The view's contents in a few words.
        reads: The providers that the view reads.
    """

    key: str
    title: str
    name: str
    screen: str
    about: str
    reads: Reads = Reads.CHANGES


REVIEW = View("1", "Review", "review", "locklens.ui.review.screen:ReviewScreen", "changes of the lock files")
UPGRADE = View(
    "2",
    "Upgrade",
    "upgrade",
    "locklens.ui.upgrade.screen:UpgradeScreen",
    "available upgrades, and constraints that hold them back",
    Reads.CANDIDATES,
)
HASHES = View(
    "3",
    "Hashes",
    "hashes",
    "locklens.ui.hashes.screen:HashesScreen",
    "platform coverage, and proof of each hash",
    Reads.LOCKED,
)
SIGNERS = View(
    "4", "Signers", "keys", "locklens.ui.signers.screen:SignersScreen", "signers of the locked releases", Reads.LOCKED
)
HEALTH = View(
    "5",
    "Health",
    "health",
    "locklens.ui.health.screen:HealthScreen",
    "checks of all roots, and the spread of versions",
    Reads.LOCKED,
)
DOCTOR = View(
    "6",
    "Doctor",
    "doctor",
    "locklens.ui.doctor.screen:DoctorScreen",
    "causes of a failed init, with evidence, and fixes",
    Reads.CANDIDATES,
)

VIEWS = (REVIEW, UPGRADE, HASHES, SIGNERS, HEALTH, DOCTOR)
