"""Faults of the demo registry, injected on request: everywhere or in one place."""

from __future__ import annotations

import threading
from enum import StrEnum

from msgspec import Struct


class Step(StrEnum):
    """A kind of request, in the order in which a tool sends them; no tool requests release dates."""

    DISCOVERY = "discovery"
    VERSIONS = "versions"
    DOWNLOAD = "download"
    SUMS = "sums"
    SIGNATURE = "signature"
    PACKAGE = "package"
    DATES = "dates"


class Fault(StrEnum):
    """A kind of fault."""

    # Faults of the release: the answer is complete, but its content has changed or is wrong.
    REPUBLISHED = "republished"
    OTHER_SIGNER = "other-signer"
    UNSIGNED = "unsigned"
    EXPIRED_KEY = "expired-key"
    REVOKED_KEY = "revoked-key"
    EXPIRED_SIGNATURE = "expired-signature"
    BAD_SIGNATURE = "bad-signature"
    UNKNOWN_ISSUER = "unknown-issuer"
    ARMORED_SIGNATURE = "armored-signature"
    EMPTY_SIGNATURE = "empty-signature"
    BROKEN_KEY = "broken-key"
    BAD_TRUST_SIGNATURE = "bad-trust-signature"
    SUMS_WITHOUT_PACKAGE = "sums-without-package"
    SUMS_WITH_BLANK_LINE = "sums-with-blank-line"
    SUMS_WITH_ODD_LINE = "sums-with-odd-line"
    SUMS_OF_BINARY_FILES = "sums-of-binary-files"
    SUMS_OTHERWISE_SPELLED = "sums-otherwise-spelled"
    OTHER_CHECKSUM = "other-checksum"
    TAMPERED_PACKAGE = "tampered-package"
    WITHDRAWN = "withdrawn"
    OTHER_REPORTED_H1 = "other-reported-h1"
    OTHER_REPORTED_ZH = "other-reported-zh"
    # Faults of the transfer: the answer does not arrive, or is a different one.
    TRUNCATED = "truncated"
    WRONG_LENGTH = "wrong-length"
    GARBLED = "garbled"
    SLOW = "slow"
    STALLED = "stalled"
    SILENT = "silent"
    CUT = "cut"
    HUGE = "huge"
    HTML = "html"
    NOT_FOUND = "404"
    TOO_MANY_REQUESTS = "429"
    UNAUTHORIZED = "401"
    SERVER_ERROR = "500"
    REDIRECT_LOOP = "redirect-loop"
    REDIRECT_ELSEWHERE = "redirect-elsewhere"


_OF_A_RELEASE = tuple(Fault)[: list(Fault).index(Fault.TRUNCATED)]


class FaultRule(Struct, frozen=True):
    """A fault and its scope; "" and None mean everywhere.

    Attributes:
        fault: The kind of fault.
        provider: A full address, NAMESPACE/TYPE on every host, or a host.
        version: The release.
        step: Only for faults of the transfer.
        times: Number of times that it applies; 0 for always.
    """

    fault: Fault
    provider: str = ""
    version: str = ""
    step: Step | None = None
    times: int = 0

    def strikes(self, provider: str, version: str, step: Step | None) -> bool:
        """True if the rule applies to a request; `version` is "" for requests that name no version."""
        return (
            self.provider in {"", provider, provider.partition("/")[0], provider.partition("/")[2]}
            and self.version in {"", version}
            and (self.step is None or self.step is step)
        )


class Faults:
    """The current rules. Thread-safe: rules may change while the registry answers."""

    def __init__(self, rules: tuple[FaultRule, ...] = ()) -> None:
        self._lock = threading.Lock()
        self._rules = list(rules)
        self._struck: dict[FaultRule, int] = {}

    def add(
        self, fault: Fault, provider: str = "", version: str = "", *, step: Step | None = None, times: int = 0
    ) -> None:
        """Add a rule; arguments as of `FaultRule`."""
        with self._lock:
            self._rules.append(FaultRule(fault, provider, version, step, times))

    def clear(self) -> None:
        """Remove all rules."""
        with self._lock:
            self._rules.clear()
            self._struck.clear()

    def of_release(self, provider: str, version: str) -> frozenset[Fault]:
        """The faults of a release."""
        with self._lock:
            return frozenset(
                rule.fault
                for rule in self._rules
                if rule.fault in _OF_A_RELEASE and rule.strikes(provider, version, rule.step)
            )

    def on_the_way(self, provider: str, version: str, step: Step) -> Fault | None:
        """The transfer fault of one answer: that of the first rule that applies."""
        with self._lock:
            for rule in self._rules:
                if rule.fault in _OF_A_RELEASE or not rule.strikes(provider, version, step):
                    continue
                struck = self._struck.get(rule, 0)
                if rule.times and struck >= rule.times:
                    continue
                self._struck[rule] = struck + 1
                return rule.fault
        return None


def parse_rule(text: str) -> FaultRule:
    """Parse a rule in its command-line form: `FAULT[:STEP][=PROVIDER[@VERSION]]`, e.g. `slow:sums=acme/demo@1.4.2`.

    Raises:
        ValueError: Unknown fault or step; the message lists the known ones.
    """
    kind, _, scope = text.partition("=")
    fault, _, step = kind.partition(":")
    provider, _, version = scope.partition("@")
    if fault not in set(Fault):
        raise ValueError(f"unknown fault {fault!r}; faults: " + ", ".join(Fault))
    if step and step not in set(Step):
        raise ValueError(f"unknown step {step!r}; steps: " + ", ".join(Step))
    return FaultRule(Fault(fault), provider, version, Step(step) if step else None)
