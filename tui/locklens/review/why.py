"""The reasons for a provider and its version, in one or more roots, as the reports print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Finding, Severity, worst

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.dialect import Dialect
    from locklens.project.configuration import Configuration
    from locklens.selection.model import Explanation
    from locklens.versions import Version

NOT_ASKED = "the registry was not asked"


class RootWhy(Struct, frozen=True):
    """The answer for one root.

    Attributes:
        path: Its folder, "" for the top.
        lock_file: The path of the lock file; None without one.
        tool: The tool whose rules apply.
        configuration: The configuration that was read.
        explanation: The explanation of the provider's version.
        findings: The findings of the lock file's entry, and the errors that keep the file from being read.
        silence: Why the registry gave no answer; "" if it did.
        is_read: False if errors keep the lock file from being read, whatever severity the policy gives them.
        ages: Days since the release of each version, where the policy asks for them and they are known.
    """

    path: str
    lock_file: str | None
    tool: Dialect
    configuration: Configuration
    explanation: Explanation
    findings: tuple[Finding, ...]
    silence: str = NOT_ASKED
    is_read: bool = True
    ages: Mapping[Version, int] = {}


class Unsure(Struct, frozen=True):
    """A root that may require the provider, with the reason for the doubt."""

    path: str
    reason: str


class Why(Struct, frozen=True):
    """The answer for all roots.

    Attributes:
        asked: The provider as it was typed.
        roots: Those that require it or have it locked.
        unsure: Others that may require it.
        others: The number of remaining roots.
    """

    asked: str
    roots: tuple[RootWhy, ...]
    unsure: tuple[Unsure, ...] = ()
    others: int = 0

    def fails(self, threshold: str) -> bool:
        """True if a finding counts at a severity or above; conflicting constraints block."""
        severities = [worst(root.findings) for root in self.roots]
        severities += [Severity.BLOCK for root in self.roots if root.explanation.conflicts]
        return threshold != "never" and any(one and one.rank <= Severity(threshold).rank for one in severities)
