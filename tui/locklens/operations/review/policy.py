"""Which policy counts: that of the base, so that no change is judged by rules that it brings along.

Of a base whose fork point is compared, the tip's counts: the branch may begin before there was a policy.
Where there is only one side, a folder without git, there is nothing that could bring rules along, and its own policy
counts. Two files that are compared have none unless one is named. A repository without a commit has none either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError
from locklens.policy import MAX_POLICY_BYTES, POLICY_FILE, Policy, parse
from locklens.review.model import PolicySide
from locklens.text import reason_of

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.operations.comparison import Comparison

_MEND = "mend it, or name another for this run with --policy FILE"


class EffectivePolicy(Struct, frozen=True):
    """The policy that counts.

    Attributes:
        side: Where it was read.
        note: What is to be said of it, "" for nothing: the other side has another.
    """

    policy: Policy
    side: PolicySide
    note: str = ""


def effective_policy(comparison: Comparison, given: Path | None) -> EffectivePolicy:
    """Returns the policy that a comparison is judged by.

    Args:
        comparison: Its base, or the tip of it, has the policy at its top.
        given: The file that was named on the command line, None for none.

    Raises:
        ConfigurationError: The policy has a mistake, or the file that was named cannot be read.
        RepositoryError: Git failed.
    """
    if given is not None:
        return EffectivePolicy(_given(given), PolicySide.GIVEN)
    if comparison.policy_side is PolicySide.NONE:
        return EffectivePolicy(Policy.none(), PolicySide.NONE)
    is_base = comparison.policy_side is PolicySide.BASE
    side = comparison.authority if is_base else comparison.head
    data = side.tree.read(POLICY_FILE)
    other = comparison.head.tree.read(POLICY_FILE) if is_base else data
    note = ""
    if other != data and (comparison.tip is None or other != comparison.base.tree.read(POLICY_FILE)):
        counts = f"that of {side.name} counts" if data is not None else f"{side.name} has none, so none counts"
        note = f"{POLICY_FILE} is another one in the {comparison.head.name}: {counts} until the other is committed"
        if other is None:
            note = f"{POLICY_FILE} is gone from the {comparison.head.name}: {counts}"
    if data is None:
        return EffectivePolicy(Policy.none(), PolicySide.NONE, note)
    return EffectivePolicy(_parsed(data, side.name if is_base else ""), comparison.policy_side, note)


def _parsed(data: bytes, revision: str) -> Policy:
    """Reads a policy; a mistake is named with the revision that has it, as git names files of revisions."""
    path = f"{revision}:{POLICY_FILE}" if revision else POLICY_FILE
    try:
        return replace(parse(data, path), file=POLICY_FILE)
    except ConfigurationError as error:
        error.hint = error.hint or _MEND
        raise


def _given(path: Path) -> Policy:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_POLICY_BYTES + 1)
    except OSError as error:
        words = f"the policy cannot be read: {reason_of(error)}"
        raise ConfigurationError(words, path=str(path)) from error
    return parse(data, str(path))
