"""`policy`, `accept`, `keys trust` and `keys drop`: reading the policy and editing it."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from string import hexdigits
from typing import TYPE_CHECKING

from locklens.cli import DONE, put, tell
from locklens.cli.options import Parser, network_of
from locklens.cli.write import run_write
from locklens.errors import ConfigurationError, NoRepositoryError, UsageError
from locklens.text import json_text, page

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from locklens.operations.comparison import Comparison
    from locklens.operations.write.apply import Operation
    from locklens.review.model import Review


def add_policy_options(parser: Parser) -> None:
    """Add the options of `policy`."""
    parser.begin(
        "check reads a policy and reports the first mistake; show prints the rules in force, and where each "
        "comes from; schema prints the JSON Schema of locklens.toml.",
        "check [FILE] | show [BASE] | schema",
        _run_policy,
        _check_policy,
    )
    add = parser.add_argument
    add("action", choices=["check", "show", "schema"], metavar="check|show|schema", help="what to do")
    words = "check: the file (default: locklens.toml of the repository); show: the base (default: HEAD)"
    add("subject", nargs="?", metavar="FILE|BASE", help=words)
    add("--merge-base", action="store_true", help="show: as for a pull request to BASE")
    add("--policy", metavar="FILE", help="the policy that is given (default: check: as FILE; show: the base's)")
    add("--format", choices=["text", "json"], default="text", help="format of show (default: text)")


def add_accept_options(parser: Parser) -> None:
    """Add the options of `accept`."""
    parser.begin(
        "Accept a rule's finding about exactly one change, in locklens.toml of the work tree. It counts once the "
        'base has it, or at once where the base has accept_from = "head". Where roots change a provider in different '
        "ways, each of these changes is accepted: -- ROOT selects that of some roots. It holds wherever a root makes "
        "the same change.",
        "[OPTION...] RULE PROVIDER [-- ROOT...]",
        _run_edit,
        _check_accept,
        operation=_accept,
    )
    add = parser.add_argument
    add("rule", metavar="RULE", help="rule of the finding, such as LK001")
    add("provider", metavar="PROVIDER", help="provider of the change")
    add("--reason", required=True, metavar="TEXT", help="why it is accepted; one line (no default)")
    add("--until", metavar="DATE", type=_date("--until"), help="last day on which it holds (default: no end)")
    parser.group("scope").add_roots("every root of the repository")
    _add_reviewing(parser, has_merge_base=True)


def add_keys_trust_options(parser: Parser) -> None:
    """Add the options of `keys trust`."""
    words = "Pin the keys that sign the locked releases of a namespace now, in locklens.toml of the work tree."
    _begin_pin(parser, words, _trust)
    add = parser.add_argument
    words = "full fingerprint of a key to pin, of those that sign now, are pinned or sign what the base locks; "
    words += "repeatable (default: those that sign now)"
    add("--key", action="append", default=[], metavar="FINGERPRINT", type=_fingerprint, help=words)
    add("--why", default="", metavar="TEXT", help="how the keys were checked; one line (default: none)")
    words = "date to look at the pin again (default: none)"
    add("--review-by", metavar="DATE", type=_date("--review-by"), help=words)
    _add_reviewing(parser)


def add_keys_drop_options(parser: Parser) -> None:
    """Add the options of `keys drop`."""
    _begin_pin(parser, "Remove the pin of a namespace from locklens.toml of the work tree.", _drop)
    parser.group("output").add_events()


def _begin_pin(parser: Parser, description: str, operation: Callable[[Namespace], Operation]) -> None:
    parser.begin(description, "[OPTION...] NAMESPACE", _run_edit, operation=operation)
    parser.add_argument("namespace", metavar="NAMESPACE", help="such as acme, or registry.example.com/acme")


def _add_reviewing(parser: Parser, *, has_merge_base: bool = False) -> None:
    group = parser.group("review")
    group.add("--by", default="", metavar="NAME", help="who decides (default: the author that git would write)")
    group.add("--base", metavar="REV", help="revision to compare with (default: HEAD)")
    if has_merge_base:
        words = "compare with the common ancestor, as a pull request does"
        group.flag("--merge-base", words)
    group.add_offline("those of the base and of the settings")
    parser.group("output").add_events()


def _fingerprint(text: str) -> str:
    """Return a fingerprint as a pin has it; gpg prints groups of four digits."""
    found = "".join(text.split()).upper()
    if len(found) < _FINGERPRINT_DIGITS or not set(found) <= set(hexdigits):
        hint = "write all 40 digits: anyone can create a key with the same last ones"
        raise UsageError(f"argument --key: invalid fingerprint {text!r}", hint=hint)
    return found


_FINGERPRINT_DIGITS = 40


def _date(option: str) -> Callable[[str], date]:
    def read(text: str) -> date:
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise UsageError(f"argument {option}: invalid date {text!r}", hint="write it as 2027-01-31") from error

    return read


def _check_policy(options: Namespace) -> None:
    if options.action == "schema" and (options.subject is not None or options.policy):
        raise UsageError("schema takes no argument", hint="see locklens policy --help")
    if options.action == "check" and options.subject is not None and options.policy:
        raise UsageError("check reads one policy: name it either as FILE or with --policy")


def _run_policy(options: Namespace) -> int:
    """Check or show a policy, or print the schema of all."""
    if options.action == "schema":
        from locklens.policy.document import policy_schema

        return put(json_text(policy_schema()))
    return _check(options) if options.action == "check" else _show(options)


def _check(options: Namespace) -> int:
    from locklens.operations.review.policy import overdue, read_given

    given = options.subject or options.policy
    path = Path(given) if given else _file_here()
    policy = read_given(path)
    tell(f"warning: {words}" for words in overdue(policy, datetime.now(UTC).date()))
    return put(page([f"{path}: no mistake"]))


def _file_here() -> Path:
    """Return the policy file of the repository, or without one of the current folder."""
    from locklens.policy import POLICY_FILE
    from locklens.project.git import Repository

    try:
        path = Repository.top_of(Path.cwd()) / POLICY_FILE
    except NoRepositoryError:
        path = Path.cwd() / POLICY_FILE
    if not path.exists():
        hint = "`locklens policy schema` prints its keys; tui/docs/policy.md has an example"
        raise ConfigurationError("there is no policy", path=str(path), hint=hint)
    return path


def _show(options: Namespace) -> int:
    from locklens.operations.compare import open_locked
    from locklens.operations.comparison import Base
    from locklens.operations.review.policy import effective_policy, values_in_force

    base = Base(options.subject, "HEAD" if options.merge_base else "")
    comparison = open_locked(Path.cwd(), base=base)
    try:
        effective = effective_policy(comparison, Path(options.policy) if options.policy else None)
        name = comparison.authority.name
    finally:
        comparison.close()
    values = values_in_force(effective)
    if options.format == "json":
        rows = [{"key": one.shown.key, "value": one.shown.value, "from": one.origin} for one in values]
        return put(json_text({"schema": 1, "values": rows, "notes": list(effective.notes)}))
    tell(f"note: {words}" for words in effective.notes)
    width = max(len(one.shown.key) for one in values)
    origins = {"base": f"base ({name})"}
    return put(
        page(f"{one.shown.key:{width}}  {one.shown.text}  [{origins.get(one.origin, one.origin)}]" for one in values)
    )


def _check_accept(options: Namespace) -> None:
    options.all_roots = False  # The default, which has deleted lock files too.


def _run_edit(options: Namespace) -> int:
    """Edit the policy of the work tree, and say when the edit counts."""
    status = run_write(options)
    if status == DONE and not (options.dry_run or options.json):
        at_once = "" if options.operation is _drop else ', or at once where the base has accept_from = "head"'
        tell([f"hint: it counts once it is committed on the base{at_once}"])
    return status


def _accept(options: Namespace) -> Operation:
    """Return the operation that accepts a finding."""
    from locklens.operations.compare import open_git
    from locklens.operations.comparison import Base
    from locklens.operations.write.policy_edits import accept_findings, decision_of, named_providers

    top = _top()
    decision = decision_of(top, options.reason, by=options.by, until=options.until)
    fork_of = "HEAD" if options.merge_base else ""
    opened = partial(open_git, Path.cwd(), base=Base(options.base, fork_of=fork_of), roots=options.root)
    review = _reviewed(options, opened, is_of_all=False)
    rule = _rule(options.rule)
    addresses = named_providers(review, options.provider)
    roots = [os.path.relpath(root, os.path.realpath(top)) for root in options.root]
    return accept_findings(review, top, rule, addresses, decision=decision, roots=roots)


def _trust(options: Namespace) -> Operation:
    """Return the operation that pins the keys of a namespace."""
    from locklens.operations.compare import open_locked
    from locklens.operations.comparison import Base
    from locklens.operations.write.policy_edits import TrustKeys, base_words, decision_of, outdated_words, pins_at
    from locklens.operations.write.seen_keys import seen_keys
    from locklens.review.keys import signers

    top = _top()
    decision = decision_of(top, options.why, by=options.by, until=options.review_by)
    opened = partial(open_locked, Path.cwd(), base=Base(options.base))
    review = _reviewed(options, opened, is_of_all=True)
    seen = seen_keys(review, options.namespace, signers(review), pins_at(top))
    compared = base_words(review, has_merge_base=False)
    return TrustKeys(top, seen, decision, tuple(options.key), compared, outdated_words(review))


def _drop(options: Namespace) -> Operation:
    from locklens.operations.write.policy_edits import DropPin

    return DropPin(_top(), options.namespace)


def _top() -> Path:
    from locklens.project.git import Repository

    return Repository.top_of(Path.cwd())


def _rule(text: str) -> str:
    from locklens.review.rules.catalogue import RULES

    if text.upper() not in RULES:
        raise UsageError(f"unknown rule {text!r}", hint="locklens explain lists all rules")
    return text.upper()


def _reviewed(options: Namespace, opened: Callable[[], Comparison], *, is_of_all: bool) -> Review:
    """Return the present review: of the changes, or of all locked providers."""
    from locklens.cli.review import ReviewProgress
    from locklens.operations.review.request import ReviewRequest
    from locklens.operations.review.run import review

    network = network_of(options)
    with network.cache:
        request = ReviewRequest(opened, include_unchanged=is_of_all, network=network, is_survey=is_of_all)
        with ReviewProgress(is_verbose=options.verbose) as progress:
            found = review(request, on_event=progress.take)
        tell(f"note: {words}" for words in network.cache.take_notices())
    return found
