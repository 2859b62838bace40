"""The views, and the messages that screens send to the app: which view to show, what to plan, what to compare.

The table lists the screens that number keys open, their contents, and the providers that each reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct
from textual.message import Message

from locklens.diagnostics import NextStep
from locklens.doctor.model import StartingPoint
from locklens.errors import LockLensError, TrustError
from locklens.operations.locklens import LockLens, Reads
from locklens.storage.preferences import CHOICES
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.operations.comparison import Base
    from locklens.operations.plan import Plan
    from locklens.operations.write.apply import Operation
    from locklens.review.findings import Finding
    from locklens.review.model import Review


class View(Struct, frozen=True):
    """One view.

    Attributes:
        key: The number key.
        title: The tab's label.
        name: The name in code, and the equivalent command.
        about: The view's contents in a few words.
    """

    key: str
    title: str
    name: str
    about: str
    reads: Reads = Reads.CHANGES

    @property
    def screen(self) -> str:
        """The module and class of its screen, which are named as its title is: loaded when it is first opened."""
        return f"locklens.ui.{self.title.lower()}:{self.title}Screen"


REVIEW = View("1", "Review", "review", "changes of the lock files")
UPGRADE = View("2", "Upgrade", "upgrade", "available upgrades, and constraints that hold them back", Reads.CANDIDATES)
HASHES = View("3", "Hashes", "hashes", "platform coverage, and proof of each hash", Reads.LOCKED)
SIGNERS = View("4", "Signers", "keys", "signers of the locked releases", Reads.LOCKED)
HEALTH = View("5", "Health", "health", "checks of all roots, and the spread of versions", Reads.LOCKED)
DOCTOR = View("6", "Doctor", "doctor", "causes of a failed init, with evidence, and fixes", Reads.CANDIDATES)

VIEWS = (REVIEW, UPGRADE, HASHES, SIGNERS, HEALTH, DOCTOR)


@dataclass
class ViewWanted(Message):
    """A request to show another screen.

    Attributes:
        folder: The folder under review; None if not on disk.
        provider: The row to highlight, as a root's folder and a provider; None for no particular row.
        examined: The provider that Doctor examines; None without one.
    """

    view: View
    folder: Path | None
    provider: tuple[str, ProviderAddress] | None = None
    examined: ExaminedProvider | None = None


@dataclass
class SidesWanted(Message):
    """A request to compare other sides, on all views.

    Attributes:
        folder: The folder under review; None if not on disk.
    """

    base: Base
    folder: Path | None


@dataclass
class PackagesInspected(Message):
    """Packages were read that were not cached: findings about what is inside may be new on every screen."""


@dataclass
class PreferenceChanged(Message):
    """A preference that a key changed; see `locklens.storage.preferences.CHOICES`."""

    key: str
    value: str

    def __post_init__(self) -> None:
        """Refuse what a start would refuse to read."""
        super().__post_init__()
        assert self.value in CHOICES[self.key], f"{self.key} has no choice {self.value}"


@dataclass
class ViewShown(Message):
    """A view is on top again, or for the first time."""


@dataclass
class QuitWanted(Message):
    """A request to end the program."""


@dataclass
class PreviewWanted(Message):
    """A request to preview the plan of an operation.

    Attributes:
        review: The review on the screen; the policy of its base judges the plan.
    """

    source: LockLens
    operation: Operation
    review: Review | None


@dataclass(frozen=True)
class ExaminedProvider:
    """What Doctor is asked to examine.

    Attributes:
        root: The root's folder, relative to the top of the files under review.
        provider: The provider; "" for all of the root.
        start: The finding or the error that led there.
    """

    root: str
    provider: str
    start: StartingPoint


def examined_row(root: str, provider: str, findings: Iterable[Finding], *, screen: str) -> ExaminedProvider:
    """Return the provider of a row with its findings, the worst first; without any, `screen` led there."""
    ordered = sorted(findings, key=lambda finding: finding.severity.rank)
    if not ordered:
        return ExaminedProvider(root, provider, StartingPoint(f"{provider or root or '.'}, a row of {screen}"))
    first, rules = ordered[0], tuple(dict.fromkeys(finding.rule for finding in ordered))
    more = f", and {counted(len(ordered) - 1, 'more finding')}" if len(ordered) > 1 else ""
    return ExaminedProvider(root, provider, StartingPoint(f"{first.rule} {first.message}{more}", rules))


def examined_failure(
    plan: Plan | None, error: LockLensError | None, roots: Sequence[str], title: str
) -> ExaminedProvider | None:
    """Return the provider that a plan failed for with an error about a checksum or a signature; None for others.

    `error` is the reason if there is no plan; `roots` are those that planning reached, and `title` is the operation.
    """
    failures = plan.failures if plan is not None else ()
    failed = next((one for one in failures if one.next_step is NextStep.TEST_CAUSES), None)
    if failed is not None:
        words = f'the plan "{title}" failed: {failed.sentence}'
        message = f"{failed.line}\n"
        return ExaminedProvider(failed.root, failed.address, StartingPoint(words, message=message))
    if isinstance(error, TrustError):
        words = f'the plan "{title}" failed: {error}'
        message = f"Error: Failed to install provider\n\n{error}\n"
        return ExaminedProvider(roots[-1] if roots else "", "", StartingPoint(words, message=message))
    return None
