"""`policy check`, `show` and `schema`, and the operations of `accept`, `keys trust` and `keys drop`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import put, tell
from locklens.errors import ConfigurationError, NoRepositoryError
from locklens.text import json_text, page

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.operations.write.operation import Operation
    from locklens.review.model import Review


def run_policy(options: Namespace) -> int:
    """Run `policy`.

    Raises:
        ConfigurationError: The policy has a mistake, or there is none to check.
    """
    if options.action == "schema":
        from locklens.policy.document import policy_schema

        return put(json_text(policy_schema()))
    return _check(options) if options.action == "check" else _show(options)


def _check(options: Namespace) -> int:
    from locklens.operations.review.policy import overdue, read_given

    path = Path(options.subject) if options.subject else _file_here()
    policy = read_given(path)
    tell(f"warning: {words}" for words in overdue(policy, datetime.now(UTC).date()))
    return put(page([f"{path}: no mistake"]))


def _file_here() -> Path:
    """The policy of the repository, or without one that of the current folder."""
    from locklens.policy import POLICY_FILE
    from locklens.project.git import Repository

    try:
        with Repository.discover(Path.cwd()) as repository:
            path = repository.top / POLICY_FILE
    except NoRepositoryError:
        path = Path.cwd() / POLICY_FILE
    if not path.exists():
        hint = "`locklens policy schema` prints its keys; tui/docs/policy.md has an example"
        raise ConfigurationError("there is no policy", path=str(path), hint=hint)
    return path


def _show(options: Namespace) -> int:
    from locklens.operations.compare_repository import open_locked
    from locklens.operations.comparison import Base
    from locklens.operations.review.policy import effective_policy
    from locklens.operations.review.policy_values import values_in_force

    base = Base(options.subject, "HEAD" if options.merge_base else "")
    comparison = open_locked(Path.cwd(), base=base)
    try:
        effective = effective_policy(comparison, Path(options.policy) if options.policy else None)
        name = comparison.authority.name
    finally:
        comparison.close()
    values = values_in_force(effective)
    if options.format == "json":
        rows = [{"key": one.key, "value": json.loads(one.json), "from": one.origin.value} for one in values]
        return put(json_text({"schema": 1, "values": rows, "notes": list(effective.notes)}))
    tell(f"note: {words}" for words in effective.notes)
    width = max(len(one.key) for one in values)
    origins = {"base": f"base ({name})"}
    return put(
        page(f"{one.key:{width}}  {one.text}  [{origins.get(one.origin.value, one.origin.value)}]" for one in values)
    )


def policy_operation(command: str, options: Namespace) -> Operation:
    """Return the operation of a command that edits the policy.

    Raises:
        ConfigurationError: The arguments name no finding, provider or pin.
        LockLensError: The review fails.
    """
    from locklens.operations.write import policy_edits
    from locklens.project.git import Repository

    with Repository.discover(Path.cwd()) as repository:
        top = repository.top
    if command == "keys drop":
        return policy_edits.DropPin(top, options.namespace)
    reason, until = (options.reason, options.until) if command == "accept" else (options.why, options.review_by)
    decision = policy_edits.decision_of(top, reason, by=options.by, until=until)
    review = _reviewed(options, is_of_all=command == "keys trust")
    if command == "keys trust":
        return policy_edits.TrustKeys(top, policy_edits.pin_of_seen_keys(review, options.namespace, decision))
    rule = _rule(options.rule)
    addresses = policy_edits.named_providers(review, options.provider)
    return policy_edits.accept_findings(review, top, rule, addresses, decision=decision)


def _rule(text: str) -> str:
    from locklens.cli.arguments import UsageError
    from locklens.review.rules.catalogue import RULES

    if text.upper() not in RULES:
        raise UsageError(f"unknown rule {text!r}", hint="locklens explain lists all rules")
    return text.upper()


def _reviewed(options: Namespace, *, is_of_all: bool) -> Review:
    """Return the present review: of the changes, or of all locked providers."""
    from locklens.cli.progress import ReviewProgress
    from locklens.cli.reading import asking_of
    from locklens.operations.compare_repository import open_git, open_locked
    from locklens.operations.comparison import Base
    from locklens.operations.review.request import ReviewRequest
    from locklens.operations.review.run import review

    asking = asking_of(options)
    if is_of_all:
        opened = partial(open_locked, Path.cwd(), base=Base(options.base))
    else:
        fork_of = "HEAD" if options.merge_base else ""
        opened = partial(open_git, Path.cwd(), base=options.base, fork_of=fork_of)
    with asking.cache:
        request = ReviewRequest(opened, include_unchanged=is_of_all, asking=asking, is_survey=is_of_all)
        found = review(request, on_event=ReviewProgress(is_verbose=options.verbose).take)
        tell(f"note: {words}" for words in asking.cache.take_notices())
    return found
