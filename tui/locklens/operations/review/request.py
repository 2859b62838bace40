"""The request for a review: the sides, the tool, the network settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.operations.comparison import Base, Comparison
    from locklens.releases.settings import NetworkSettings


class ReviewRequest(Struct, frozen=True):
    """What is to be reviewed, so that it can be reviewed again when a file changed.

    Attributes:
        open: Opens the comparison anew; raises LockLensError.
        include_unchanged: Whether to list providers that did not change.
        tool: Whose rules count for every root; None: each root's own tool.
        fail_on: From which severity on the exit status of a report is 1; "never" for none.
        asking: Whom to ask; None for nobody, and then nothing is remembered either.
        prove: Which `h1` to prove by downloading packages.
        policy: The file that is to count in place of the base's policy.
        base: What was named as the base of the run. None where two files are compared: every screen compares those.
    """

    open: Callable[[], Comparison]
    include_unchanged: bool = False
    test_directory: str = "tests"
    tool: Dialect | None = None
    fail_on: str = "block"
    asking: NetworkSettings | None = None
    prove: Literal["none", "changed", "all"] = "none"
    policy: Path | None = None
    base: Base | None = None
