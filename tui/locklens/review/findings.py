"""Findings: the verdict of a rule on one thing, its severity, and its acceptance."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.addresses import ProviderAddress


class Severity(StrEnum):
    """The severity of a finding, worst first. OFF is for rules that a policy silenced."""

    BLOCK = "block"
    WARN = "warn"
    INFO = "info"
    OFF = "off"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANKS[self]

    @property
    def is_serious(self) -> bool:
        """True for a warning, or worse."""
        return self.rank <= Severity.WARN.rank


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


def severity_rank(severity: Severity | None) -> int:
    """0 for the worst; no severity ranks last."""
    return severity.rank if severity is not None else len(Severity)


SHOWN_SEVERITIES = tuple(severity for severity in Severity if severity is not Severity.OFF)
"""The severities of findings that are shown, the worst first."""


def by_severity(severities: Iterable[Severity]) -> dict[Severity, int]:
    """Count severities, the worst first; those that occur nowhere too."""
    counts = Counter(severities)
    return {severity: counts[severity] for severity in SHOWN_SEVERITIES}


UNVERIFIED_RULE = "LK003"
UNREACHABLE = "unreachable"
"""The case of LK027 where no answer says which package to hash."""
UNCHECKED = "unchecked"
"""The case of LK003 and LK027 where gpg cannot check signatures on this machine."""
NOT_REQUIRED_RULE = "LK007"


class Accepted(Struct, frozen=True):
    """The acceptance of a finding, which then no longer counts; dates are ISO 8601, "" where there is none.

    Attributes:
        reason: In one line.
        by: The person who accepted it; "" if unknown.
        already_in: Where a finding of a plan is already, "HEAD" or "the work tree", so that the plan does not bring it;
            "" for a finding that someone accepted.
    """

    reason: str
    by: str = ""
    on: str = ""
    until: str = ""
    already_in: str = ""

    def __str__(self) -> str:
        """The reason, with who accepted it and until when."""
        details = ", ".join(filter(None, (self.by, f"until {self.until}" if self.until else "")))
        return f"{self.reason} ({details})" if details else self.reason


class Finding(Struct, frozen=True):
    """One rule's verdict.

    Attributes:
        line: From 1; None for a finding about the whole file.
        column: From 1; known for syntax errors.
        provider: Set for a finding about a provider without a listed change.
        among: The providers of a finding about several; () for any other finding.
        content: Stands for what it is about, where the message does not say all of that; "" where it does.
        case: The special case of the rule, which has a title and a remedy of its own (`Rule.cases`); "" for none.
    """

    rule: str
    severity: Severity
    message: str
    file: str
    line: int | None = None
    column: int | None = None
    accepted: Accepted | None = None
    provider: ProviderAddress | None = None
    content: str = ""
    case: str = ""
    among: tuple[ProviderAddress, ...] = ()

    @property
    def providers(self) -> tuple[ProviderAddress, ...]:
        """The providers that a finding without a listed change is about."""
        return (self.provider,) if self.provider is not None else self.among

    @property
    def place(self) -> str:
        """The file, and the line if it is about one."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def names_orphan(self) -> bool:
        """True if it says that nothing requires a provider; as information, the rule says that this is not known."""
        return self.rule == NOT_REQUIRED_RULE and self.severity is not Severity.INFO

    @property
    def is_doubt(self) -> bool:
        """True if it says only that hashes are not verified, for want of an answer or of gpg."""
        return self.rule == UNVERIFIED_RULE or self.case in {UNREACHABLE, UNCHECKED}

    def fails_at(self, threshold: str) -> bool:
        """True if it counts at a severity or above, as with --fail-on; nothing does at "never"."""
        counts = self.accepted is None and self.severity is not Severity.OFF
        return counts and threshold != "never" and self.severity.rank <= Severity(threshold).rank


def worst(findings: tuple[Finding, ...]) -> Severity | None:
    """Return the severity of the worst finding that is not accepted."""
    return min(
        (finding.severity for finding in findings if finding.accepted is None), key=lambda one: one.rank, default=None
    )
