"""The effective policy: that of the base, so that no change is judged by rules that it introduces.

Of a base whose fork point is compared, the tip's policy applies: the branch may begin before there was a policy.
A folder without git has a single side, no change could introduce rules, and its own policy applies. Two files that are
compared have none unless one is named. A repository without a commit has none either.
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

_FIX = "fix it, or use another file with --policy FILE"


class EffectivePolicy(Struct, frozen=True):
    """The effective policy.

    Attributes:
        side: The side that it was read from.
        note: A sentence about a different policy of the other side, else "".
    """

    policy: Policy
    side: PolicySide
    note: str = ""


def effective_policy(comparison: Comparison, given: Path | None) -> EffectivePolicy:
    """Return the policy that a comparison is judged by.

    Args:
        comparison: Its base, or the tip of its base, has the policy at its top.
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
        applies = f"the policy of the base ({side.name}) applies"
        state = "removal" if other is None else "change"
        note = f"{state} of {POLICY_FILE} in the {comparison.head.name} is ignored: {applies}"
        if data is None:
            note = f"{POLICY_FILE} in the {comparison.head.name} is ignored: the base ({side.name}) has no policy"
    if data is None:
        return EffectivePolicy(Policy.none(), PolicySide.NONE, note)
    return EffectivePolicy(_parsed(data, side.name if is_base else ""), comparison.policy_side, note)


def policy_at(folder: Path) -> EffectivePolicy:
    """Return the policy for a write in a folder: that of HEAD, as for a review, or without git the folder's own.

    Raises:
        ConfigurationError: The policy has a mistake.
        RepositoryError: Git failed.
    """
    from locklens.errors import NoRepositoryError
    from locklens.project.git import Repository
    from locklens.project.tree import FileSystem, WorkTree

    try:
        repository = Repository.discover(folder)
    except NoRepositoryError:
        data = FileSystem(folder).read(POLICY_FILE)
        side = PolicySide.HEAD if data is not None else PolicySide.NONE
        return EffectivePolicy(Policy.none() if data is None else _parsed(data, ""), side)
    with repository:
        data = None if repository.is_unborn else repository.show(repository.resolve("HEAD"), POLICY_FILE)
        other = None if repository.is_bare else WorkTree(repository.top).read(POLICY_FILE)
    note = ""
    if other != data:
        state = "removal" if other is None else "change"
        note = f"{state} of {POLICY_FILE} in the worktree is ignored: the policy of the base (HEAD) applies"
        if data is None:
            note = f"{POLICY_FILE} in the worktree is ignored: the base (HEAD) has no policy"
    if data is None:
        return EffectivePolicy(Policy.none(), PolicySide.NONE, note)
    return EffectivePolicy(_parsed(data, "HEAD"), PolicySide.BASE, note)


def _parsed(data: bytes, revision: str) -> Policy:
    """Read a policy; a mistake is reported with the revision, as git names files of revisions."""
    path = f"{revision}:{POLICY_FILE}" if revision else POLICY_FILE
    try:
        return replace(parse(data, path), file=POLICY_FILE)
    except ConfigurationError as error:
        error.hint = error.hint or _FIX
        raise


def _given(path: Path) -> Policy:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_POLICY_BYTES + 1)
    except OSError as error:
        words = f"the policy cannot be read: {reason_of(error)}"
        raise ConfigurationError(words, path=str(path)) from error
    return parse(data, str(path))
