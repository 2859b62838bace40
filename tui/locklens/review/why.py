"""Why a provider is there and at its version, in one root or many, as the reports print it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Severity, worst

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.configuration import Configuration
    from locklens.review.model import Finding
    from locklens.selection import Explanation

NOT_ASKED = "the registry was not asked"


class RootWhy(Struct, frozen=True):
    """The answer for one root.

    Attributes:
        path: Its folder, "" for the top.
        lock_file: Its path, None where there is none.
        tool: Whose rules count.
        configuration: What it was read from.
        explanation: All that there is to say of the provider.
        findings: What the lock file's entry earns, and what keeps the file from being read.
        silence: Why the registry says nothing; "" where it did.
    """

    path: str
    lock_file: str | None
    tool: Dialect
    configuration: Configuration
    explanation: Explanation
    findings: tuple[Finding, ...]
    silence: str = NOT_ASKED


class Unsure(Struct, frozen=True):
    """A root of which nobody can say that it does not require the provider, and why."""

    path: str
    reason: str


class Why(Struct, frozen=True):
    """The answer for all roots.

    Attributes:
        asked: The provider as it was typed.
        roots: Those that require it or have it locked.
        unsure: Of the others, those that cannot be told.
        others: How many there are besides.
    """

    asked: str
    roots: tuple[RootWhy, ...]
    unsure: tuple[Unsure, ...] = ()
    others: int = 0

    def fails(self, threshold: str) -> bool:
        """Whether anything counts at a severity or above; constraints that cannot hold together block."""
        found = [worst(root.findings) for root in self.roots]
        found += [Severity.BLOCK for root in self.roots if root.explanation.conflicts]
        return threshold != "never" and any(one and one.rank <= Severity(threshold).rank for one in found)
