"""The request for the health of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.operations.review.policy import EffectivePolicy
    from locklens.operations.review.request import ReviewRequest
    from locklens.releases.facts import NetworkSettings


class HealthBase(Struct, frozen=True):
    """What the base of a run decides.

    Attributes:
        effective: The policy that applies.
        hosts: Hosts that the base names and that may be asked, comparison form.
    """

    effective: EffectivePolicy
    hosts: frozenset[str]


def health_base(request: ReviewRequest) -> HealthBase | None:
    """Return what the base of a run decides; None where two files are compared, or without a repository."""
    from locklens.errors import NoRepositoryError
    from locklens.operations.review.policy import effective_policy
    from locklens.operations.review.run import base_hosts

    if request.base is None:
        return None
    try:
        comparison = request.open()
    except NoRepositoryError:
        return None
    try:
        effective = effective_policy(comparison, request.policy)
        return HealthBase(effective, base_hosts(comparison, request.tool, request.policy))
    finally:
        comparison.close()


class HealthRequest(Struct, frozen=True):
    """The roots to look at, and the settings.

    Attributes:
        folder: Every root in or below it.
        name: The folder as the user named it.
        roots: Root folders relative to the current folder, to which the answer is restricted; () for all.
        tool: The tool whose rules apply to every root; None: each root's own tool.
        test_directory: Folder of a root's test files, relative to the root.
        asking: Network settings; None to ask no registry and use no cache.
        policy: A file that replaces the repository's policy.
        base: Policy and hosts of the base that the run compares with; None for the policy of HEAD, which vouches for
            no host.
    """

    folder: Path
    name: str = "."
    roots: tuple[str, ...] = ()
    tool: Dialect | None = None
    test_directory: str = "tests"
    asking: NetworkSettings | None = None
    policy: Path | None = None
    base: HealthBase | None = None
