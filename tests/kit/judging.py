"""Roots and changes as reviews have them, for tests that judge without reading a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.dialect import TERRAFORM, Dialect
from locklens.lockfile import LockFile
from locklens.policy import Policy
from locklens.review.context import RootContext
from locklens.review.evidence import unasked_case
from locklens.review.model import Change, LockStatus, RootReview
from locklens.review.rules.judge import settle

if TYPE_CHECKING:
    from locklens.project.configuration import Configuration

ABSENT = LockFile.absent("lock.hcl")


def root_of(
    *changes: Change,
    old: LockFile = ABSENT,
    new: LockFile = ABSENT,
    configuration: Configuration | None = None,
    context: RootContext | None = None,
    tool: Dialect = TERRAFORM,
) -> RootReview:
    """A root that has not been judged."""
    return RootReview(
        path="",
        lock_file="lock.hcl",
        tool=tool,
        status=LockStatus.MODIFIED,
        format_only=False,
        old=old,
        new=new,
        changes=changes,
        configuration=configuration,
        context=context or RootContext(),
    )


def settled_alone(change: Change, tool: Dialect = TERRAFORM, *, policy: Policy | None = None) -> Change:
    """A change as it is judged where no registry is asked and nothing is cached."""
    root = root_of(change, context=RootContext(policy or Policy()), tool=tool)
    return settle(change, root, unasked_case(change, tool))
