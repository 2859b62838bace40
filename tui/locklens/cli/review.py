"""`review`, `hashes`, `keys` and `why`: what the lock files of a repository say, on a screen or as a report."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from locklens.cli import (
    DONE,
    FINDINGS,
    UNUSABLE,
    LiveLine,
    deliver,
    has_terminal,
    is_watched,
    no_terminal,
    takes_colour,
    tell,
)
from locklens.cli.options import Parser, expand_roots, given_tool, network_of
from locklens.errors import ConfigurationError, ExhaustedError, LockLensError, NoRepositoryError, UsageError
from locklens.operations.reports import formats_of, render_failure, report_pages
from locklens.text import counted, size_words

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence
    from typing import Self

    from locklens.addresses import ProviderAddress
    from locklens.operations.comparison import Base, Comparison
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ProvingPlanned, ReviewEvent, ReviewRequest
    from locklens.operations.verification import EntryPackages
    from locklens.releases import NetworkSettings
    from locklens.review.keys import PastUse
    from locklens.review.model import Review

    OpenUi = Callable[[ReviewRequest, str], int]

_MAX_DIGITS = 18


def add_review_options(parser: Parser) -> None:
    """Add the options of `review`."""
    parser.begin(
        "Compare lock files and judge what changed.", "[OPTION...] [BASE] [-- ROOT...]", _run_review, _check_review
    )
    parser.set_defaults(has_sides=True)
    parser.add_argument(
        "base", nargs="?", metavar="BASE", help="revision to compare with, or two as A..B or A...B (default: HEAD)"
    )
    group = parser.group("comparison")
    group.add("--head", metavar="REV", help="compare two revisions (default: the work tree)")
    group.flag("--staged", "compare the index instead of the work tree")
    group.flag("--merge-base", "compare with the common ancestor, as a pull request does")
    words = "fetch a pull or merge request, and compare it with its merge base with BASE"
    group.add("--pr", metavar="N", type=_number, help=f"{words} (default: the remote's default branch)")
    group.add("--remote", metavar="NAME", help="remote to fetch it from, also with --offline (default: origin)")
    group.add("--old", metavar="FILE", help="old lock file: a path, -, /dev/null, or REV:PATH (default: BASE)")
    group.add("--new", metavar="FILE", help="new lock file, named the same way; requires --old (default: none)")
    group.add("--config", metavar="DIR", help="configuration of the new side (default: the folder of --new)")
    add_reading_options(parser, ("tui", *formats_of("review")))
    words = "write the report to a file too, also where nothing could be reviewed; may be repeated (default: none)"
    parser.group("reports").add(
        "--report", metavar="FORMAT=FILE", action="append", default=[], type=_report, help=words
    )


def add_hashes_options(parser: Parser) -> None:
    """Add the options of `hashes`."""
    _add_locked_options(
        parser,
        "List the hashes of each lock file, with the proof of each.",
        "--verify",
        "compare the packages that are installed, cached and mirrored, as `verify` does, without a download",
    )


def add_keys_options(parser: Parser) -> None:
    """Add the options of `keys`."""
    _add_locked_options(
        parser,
        "List the signers of the locked releases.",
        "--history",
        "list other versions that git's history has, too, with their signers",
    )


def _add_locked_options(parser: Parser, description: str, flag: str, purpose: str) -> None:
    parser.begin(description, "[OPTION...] [BASE] [-- ROOT...]", _run_locked, _check_locked)
    words = "revision whose policy applies, and whose lock files name registries that may be asked"
    parser.add_argument(
        "base",
        nargs="?",
        metavar="BASE",
        help=f"{words}, or A..B for what B locks (default: HEAD, for its policy alone)",
    )
    parser.add_argument(flag, action="store_true", help=purpose)
    parser.set_defaults(head=None, staged=False, merge_base=False, pr=None, has_sides=True)
    add_reading_options(parser, ("tui", *formats_of(parser.get_default("command"))))


def add_why_options(parser: Parser) -> None:
    """Add the options of `why`."""
    parser.begin(
        "List the requirements of a provider, the combined constraints, and the versions that they exclude.",
        "[OPTION...] PROVIDER [-- ROOT...]",
        _run_why,
        check_reading,
    )
    parser.add_argument("provider", metavar="PROVIDER", help="such as aws, hashicorp/aws, or a full address")
    add_reading_options(parser, formats_of("why"), reviews=False)


def add_reading_options(
    parser: Parser, formats: Sequence[str], *, reviews: bool = True, roots: str = "every root of the repository"
) -> None:
    """Add the options of commands that read all of a repository.

    With `reviews`, changes and hashes can be selected; `roots` names those that are read where no option names any, and
    is "" for no such options.
    """
    parser.set_defaults(old=None, new=None, report=[], all=False, prove="none", verify=False, history=False)
    parser.set_defaults(root=[])
    if roots:
        parser.group("scope").add_roots(roots)
    group = parser.group("common options")
    group.add_output(formats, None if "tui" in formats else "text")
    if reviews:
        group.flag("--all", "list unchanged providers too")
    group.flag("--list-roots", "name every root of a change that several roots have, not only the first eight")
    words = "lowest severity that sets exit status 1 (default: the policy's fail_on, else block)"
    group.add("--fail-on", choices=["block", "warn", "info", "never"], help=words)
    group.add_tool()
    if reviews:
        group.add_prove("those of unchanged roots too, which are then listed and judged, as with --all")
    group.add("--policy", metavar="FILE", help="policy file (default: the base's locklens.toml)")
    group.add_offline("those of the base and of the settings")


def _number(text: str) -> int:
    # ASCII alone: the number becomes a part of a reference's name.
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS and int(text)):
        raise argparse.ArgumentTypeError(f"invalid number {text!r}: expected that of a pull or merge request, as 12")
    return int(text)


def _report(text: str) -> tuple[str, str]:
    form, _, file = text.partition("=")
    known = formats_of("review")
    if form not in known or not file:
        raise argparse.ArgumentTypeError(f"invalid report {text!r}: expected FORMAT=FILE with {', '.join(known)}")
    return form, file


def _check_review(options: Namespace) -> None:
    check_reading(options)
    if options.pr and (options.old is not None or options.new is not None or options.head or options.staged):
        raise UsageError("--pr compares a pull request with BASE: no --head, --staged, --old or --new")
    if options.remote is not None and not options.pr:
        raise UsageError("--remote requires --pr", hint="a branch of a remote is compared with --head REMOTE/BRANCH")
    in_files = options.old is not None or options.new is not None
    if in_files and (options.old is None or options.new is None):
        raise UsageError("--old and --new must be used together", hint="use /dev/null for an absent side")
    if in_files and (options.base or options.head or options.staged or options.merge_base or options.root):
        raise UsageError("--old and --new compare two files: no BASE, --head, --staged, --merge-base or ROOT")
    if options.config is not None and not in_files:
        raise UsageError("--config requires --old and --new")
    if options.head and options.staged:
        raise UsageError("--head and --staged cannot be used together")
    if options.format == "tui" and "-" in {options.old, options.new}:
        raise UsageError("the terminal UI needs standard input for its keys", hint="use --format text or json")
    _sides(options)


def _check_locked(options: Namespace) -> None:
    check_reading(options)
    _sides(options)


def check_reading(options: Namespace) -> None:
    """Check the options of every command that reads.

    Raises:
        UsageError: --output or --report is given for a screen.
    """
    options.all_roots = False  # The default, which has deleted lock files too.
    if options.format == "tui" and (options.output or options.report):
        option = "--output" if options.output else "--report"
        raise UsageError(f"{option} needs the --format of a report", hint="the terminal UI writes no file")


def _sides(options: Namespace) -> Base:
    """Return the sides that BASE, --head, --staged and --merge-base name."""
    from locklens.operations.comparison import Base

    if options.base is None or ".." not in options.base:
        fork_of = (options.head or "HEAD") if options.merge_base else ""
        return Base(options.base, fork_of, options.head, options.staged)
    sides = Base.of_range(options.base)
    if sides is None:
        raise UsageError(f"invalid BASE {options.base!r}", hint="a revision, or two as A..B or A...B")
    others = {
        "--head": options.head,
        "--staged": options.staged,
        "--merge-base": options.merge_base,
        "--pr": options.pr,
    }
    given = [name for name, value in others.items() if value]
    if given:
        hint = "A...B compares with the common ancestor" if "--merge-base" in given else "name one revision as BASE"
        raise UsageError(f"{options.base} names both sides: no {' or '.join(given)}", hint=hint)
    return sides


def _run_review(options: Namespace, open_ui: OpenUi) -> int:
    """Compare lock files; where that fails, the reports that were asked for say so."""
    try:
        return _compare(options, open_ui)
    except (LockLensError, MemoryError, RecursionError) as error:
        if isinstance(error, NoRepositoryError):
            error.hint = f"compare two files with --old FILE --new FILE, or {error.hint}"
        reason = error if isinstance(error, LockLensError) else ExhaustedError(error)
        for form, file in options.report:
            with suppress(LockLensError):  # A file that cannot be written may be the error.
                deliver([render_failure(form, reason)], file)
        raise


def _compare(options: Namespace, open_ui: OpenUi) -> int:
    here, base = Path.cwd(), None
    if options.old is not None:
        from locklens.operations.compare_files import open_files

        opened = partial(open_files, options.old, options.new, config=options.config, cwd=here, stdin=_standard_input)
    else:
        from locklens.operations.compare import fetch_pull_request, open_git

        if options.pr:
            remote = "origin" if options.remote is None else options.remote
            tell([f"fetching request {options.pr} from {remote}"])
            base = fetch_pull_request(here, options.pr, remote=remote, base=options.base)
        else:
            base = _sides(options)
        expand_roots(options, base)
        opened = partial(open_git, here, base=base, roots=options.root)
    return show(request_of(options, opened, network_of(options), base), options, "review", open_ui)


def _standard_input() -> bytes:
    return sys.stdin.buffer.read()


def _run_locked(options: Namespace, open_ui: OpenUi) -> int:
    """Report on all that is locked, changed or not."""
    from locklens.operations.compare import open_locked

    base = _sides(options)
    expand_roots(options, base)
    opened = partial(open_locked, Path.cwd(), base=base, roots=options.root)
    request = request_of(options, opened, network_of(options), base, is_survey=True)
    return show(request, options, options.command, open_ui)


def _run_why(options: Namespace) -> int:
    """Report the requirements of a provider, and what holds it back."""
    from locklens.operations.compare import open_locked
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.explain_provider import WhyRequest
    from locklens.operations.review.policy import policy_at, read_given

    network = network_of(options)
    request = request_of(options, partial(open_locked, Path.cwd(), roots=options.root), network)
    log: list[str] = []
    with network.cache:
        policy = read_given(Path(options.policy)) if options.policy else policy_at(Path.cwd()).policy
        subject = WhyRequest(options.provider, Path.cwd(), tuple(options.root), policy)
        result = LockLens(request).why(subject, on_log=log.extend)
        tell(f"note: {words}" for words in network.cache.take_notices())
        if options.verbose:
            tell(log)
    deliver(report_pages("why", options.format, result, lists_roots=options.list_roots), options.output)
    return FINDINGS if result.fails(options.fail_on or "block") else DONE


def request_of(
    options: Namespace,
    opened: Callable[[], Comparison],
    network: NetworkSettings,
    base: Base | None = None,
    *,
    is_survey: bool = False,
) -> ReviewRequest:
    """Return the request for the options of `add_reading_options`, with the sides where they are revisions.

    A survey is of all that is locked, changed or not.
    """
    from locklens.operations.review.request import ReviewRequest

    return ReviewRequest(
        opened,
        include_unchanged=is_survey or options.all or options.prove == "all",
        test_directory=options.test_directory,
        tool=given_tool(options),
        fail_on=options.fail_on,
        network=network,
        prove=options.prove,
        policy=Path(options.policy) if options.policy else None,
        base=base,
        # Another view may be opened in another folder of the repository.
        roots=tuple(os.path.abspath(root) for root in options.root),  # noqa: PTH100 - `..` stays what it is for a link
        is_survey=is_survey,
    )


def format_of(options: Namespace) -> str:
    """Return the format that the options ask for: by default the screen on a terminal, else text."""
    if options.format:
        return str(options.format)
    is_drawn = "-" not in {options.old, options.new}
    interactive = has_terminal() and not options.output and not options.report and is_drawn
    return "tui" if interactive else "text"


def show(request: ReviewRequest, options: Namespace, view: str, open_ui: OpenUi) -> int:
    """Open the screen on a view, "review", "hashes" or "keys", or print its report, and return the exit status."""
    form = format_of(options)
    if form == "tui":
        if not has_terminal():
            raise no_terminal()
        return open_ui(request, view)  # Its first screen reports recovered writes.
    from time import perf_counter

    from locklens.operations.locklens import LockLens

    if options.old is None:
        from locklens.operations.write.recover import recover_at

        tell(f"note: {words}" for words in recover_at(Path.cwd()))
    started = perf_counter()
    locklens = LockLens(request)
    packages, differs, is_vacuous = None, False, False
    try:
        with ReviewProgress(is_verbose=options.verbose) as progress:
            result = locklens.review(on_event=progress.take)
        if result.changes:
            require_signatures()
        if options.verify:
            from locklens.operations.verification import package_documents

            found = _packages(locklens, result)
            packages, differs = package_documents(found), any(one.failing for one in found.values())
            is_vacuous = all(one.is_vacuous for one in found.values())
    finally:
        if request.network is not None:
            request.network.cache.close()
    if options.verbose:
        tell((f"reviewed {counted(len(result.roots), 'root')} in {perf_counter() - started:.3f} s",))
    facts = {
        "colour": takes_colour(options.output),
        "lists_roots": options.list_roots,
        "past": _histories(locklens, result) if options.history else None,
        "fail_on": options.fail_on,
        "packages": packages,
    }
    for other, file in options.report:
        deliver(report_pages(view, other, result, **{**facts, "colour": False}), file)
    deliver(report_pages(view, form, result, **facts), options.output)
    if differs or result.fails(options.fail_on):
        return FINDINGS
    return UNUSABLE if is_vacuous else DONE


class ReviewProgress:
    """Progress of a review; what is under way is shown until the block of `with` ends; if verbose, each request too."""

    def __init__(self, *, is_verbose: bool) -> None:
        self._is_verbose = is_verbose
        self._line = LiveLine()

    def take(self, event: ReviewEvent) -> None:
        """Report one event."""
        from locklens.operations.review import request as events

        match event:
            case events.LookupProgress():
                if self._is_verbose:
                    self._line.say(*event.log)
            case events.ProvingPlanned():
                self._line.say(_planned_words(event))
            case events.PackageDownloading():
                self._line.show_download(event.label, event.received, event.size)
            case events.PackageDone():
                self._line.drop(event.label)
                outcome = f"failed: {event.problem}" if event.problem else f"hashed, {size_words(event.size)}"
                self._line.say(f"{event.label}: {outcome}")
            case events.Progress():
                self._line.show("progress", lambda _: event.words)
            case events.RootsKnown():
                pass
            case _:
                assert_never(event)

    def __enter__(self) -> Self:
        """Show nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the redrawn line."""
        self._line.end()


def _planned_words(plan: ProvingPlanned) -> str:
    """Return the number and size of the packages to download."""
    size = f", {size_words(plan.likely_bytes)}" if plan.likely_bytes is not None else ""
    if not plan.hashes:
        times = f", up to {plan.at_most} times" if plan.at_most > plan.likely else ""
        return f"to download {', '.join(plan.labels)}{size}{times}"
    more = f" (at most {plan.at_most})" if plan.at_most > plan.likely else ""
    return f"to prove {plan.hashes} h1: {counted(plan.likely, 'package')}{size} to download{more}"


def require_signatures() -> None:
    """Refuse to judge without gpg where no person looks, and warn on a terminal.

    As a finding, it would be a warning on every pull request, and warnings pass by default.

    Raises:
        ConfigurationError: No signature can be checked on this machine.
    """
    from locklens.trust.gpg import require_gpg

    try:
        require_gpg()
    except ConfigurationError as error:
        if not is_watched():
            raise
        tell([f"warning: {error}", f"hint: {error.hint}"])


def _packages(locklens: LockLens, review: Review) -> dict[tuple[str, ProviderAddress], EntryPackages]:
    """Return the packages on this machine of every entry."""
    comparison = locklens.request.open()
    try:
        top = comparison.top or Path.cwd()
    finally:
        comparison.close()
    chosen = {(root.lock_file, change.address) for root in review.roots for change in root.changes if change.new}
    return locklens.verify_packages(review, top, chosen)


def _histories(locklens: LockLens, review: Review) -> dict[str, tuple[PastUse, ...]]:
    """Return the versions that were locked before of each signer's providers, by the key's fingerprint."""
    from locklens.review.keys import signers

    named = [signer for signer in signers(review) if signer.key is not None]
    return {signer.key.fingerprint: locklens.history(signer) for signer in named if signer.key is not None}
