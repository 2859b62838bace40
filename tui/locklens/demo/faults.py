"""What can be wrong with the demo's registry, on request: everywhere or in one place."""

from __future__ import annotations

import threading
from enum import StrEnum

from msgspec import Struct


class Step(StrEnum):
    """What is asked for, in the order in which a tool asks; for release dates no tool does."""

    DISCOVERY = "discovery"
    VERSIONS = "versions"
    DOWNLOAD = "download"
    SUMS = "sums"
    SIGNATURE = "signature"
    PACKAGE = "package"
    DATES = "dates"


class Fault(StrEnum):
    """One thing that goes wrong."""

    # The release itself: what is published is whole, and is not what it was or should be.
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
    # The way to it: the answer does not arrive, or is another.
    TRUNCATED = "truncated"
    WRONG_LENGTH = "wrong-length"
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
    """A fault and where it strikes; "" and None mean everywhere.

    Attributes:
        fault: What goes wrong.
        provider: A full address, NAMESPACE/TYPE on every host, or a host.
        version: Of the release.
        step: Only for faults of the way.
        times: After so many times it is over; 0 for never.
    """

    fault: Fault
    provider: str = ""
    version: str = ""
    step: Step | None = None
    times: int = 0

    def strikes(self, provider: str, version: str, step: Step | None) -> bool:
        """Whether it is for this request; `version` is "" for requests that are for no version."""
        return (
            self.provider in {"", provider, provider.partition("/")[0], provider.partition("/")[2]}
            and self.version in {"", version}
            and (self.step is None or self.step is step)
        )


class Faults:
    """The rules that hold now; may be changed from any thread while the registry answers."""

    def __init__(self, rules: tuple[FaultRule, ...] = ()) -> None:
        self._lock = threading.Lock()
        self._rules = list(rules)
        self._struck: dict[FaultRule, int] = {}

    def add(
        self, fault: Fault, provider: str = "", version: str = "", *, step: Step | None = None, times: int = 0
    ) -> None:
        """Adds a rule; arguments as of `Rule`."""
        with self._lock:
            self._rules.append(FaultRule(fault, provider, version, step, times))

    def clear(self) -> None:
        """Makes everything well."""
        with self._lock:
            self._rules.clear()
            self._struck.clear()

    def of_release(self, provider: str, version: str) -> frozenset[Fault]:
        """What is wrong with a release."""
        with self._lock:
            return frozenset(
                rule.fault
                for rule in self._rules
                if rule.fault in _OF_A_RELEASE and rule.strikes(provider, version, rule.step)
            )

    def on_the_way(self, provider: str, version: str, step: Step) -> Fault | None:
        """What goes wrong with this one answer, the first rule that strikes."""
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
    """Reads a rule as a command line has it: `FAULT[:STEP][=PROVIDER[@VERSION]]`, e.g. `slow:sums=acme/demo@1.4.2`.

    Raises:
        ValueError: There is no such fault or step; str() names those that there are.
    """
    what, _, where = text.partition("=")
    fault, _, step = what.partition(":")
    provider, _, version = where.partition("@")
    if fault not in set(Fault):
        raise ValueError(f"{fault!r} is no fault: " + ", ".join(Fault))
    if step and step not in set(Step):
        raise ValueError(f"{step!r} is no step: " + ", ".join(Step))
    return FaultRule(Fault(fault), provider, version, Step(step) if step else None)
