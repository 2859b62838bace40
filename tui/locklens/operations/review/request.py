"""The request for a review: the sides, the tool, the network settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.operations.comparison import Base, Comparison
    from locklens.operations.doctor.request import DoctorRequest
    from locklens.releases.facts import NetworkSettings


class ReviewRequest(Struct, frozen=True):
    """A review to make, repeatable when a file changes.

    Attributes:
        open: Opens the comparison anew; raises LockLensError.
        include_unchanged: True to list unchanged providers.
        tool: The tool whose rules apply to every root; None: each root's own tool.
        fail_on: Lowest severity that sets the exit status of a report to 1; "never" for none, None for the policy's.
        network: Network settings; None to ask no registry and use no cache.
        prove: The `h1` hashes to prove by downloads.
        policy: A file that replaces the base's policy.
        base: The named sides of the run. None where two files are compared: every screen compares those.
        folder: Where the comparison is opened; None for the current folder.
        diagnosed: What the Doctor screen diagnoses when it opens; None for nothing.
        is_survey: True if the subject is all that is locked: unchanged providers are judged like changed ones.
        is_demo: True for the sample repository, which the screens say.
    """

    open: Callable[[], Comparison]
    include_unchanged: bool = False
    test_directory: str = "tests"
    tool: Dialect | None = None
    fail_on: str | None = None
    network: NetworkSettings | None = None
    prove: Literal["none", "changed", "all"] = "none"
    policy: Path | None = None
    base: Base | None = None
    folder: Path | None = None
    is_survey: bool = False
    diagnosed: DoctorRequest | None = None
    is_demo: bool = False
