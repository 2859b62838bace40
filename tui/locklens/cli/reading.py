"""The commands that read: options to a request, and the review to a report."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, FINDINGS, deliver, has_terminal, is_watched, no_terminal, takes_colour, tell
from locklens.errors import ConfigurationError, ExhaustedError, LockLensError
from locklens.operations.reports import render_failure, render_report

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.operations.comparison import Base, Comparison
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewRequest
    from locklens.operations.verification.judging import EntryPackages
    from locklens.releases.facts import NetworkSettings
    from locklens.review.keys import PastUse
    from locklens.review.model import Review

    OpenUi = Callable[[ReviewRequest, str], int]


def run_review_command(options: Namespace, open_ui: OpenUi) -> int:
    """Compare lock files; where that fails, the reports that were asked for say so."""
    try:
        return _compare(options, open_ui)
    except (LockLensError, MemoryError, RecursionError) as error:
        reason = error if isinstance(error, LockLensError) else ExhaustedError(error)
        for form, file in options.report:
            with suppress(LockLensError):  # A file that cannot be written may be the error.
                deliver(render_failure(form, reason), file)
        raise


def _compare(options: Namespace, open_ui: OpenUi) -> int:
    from locklens.operations.compare_files import open_files
    from locklens.operations.compare_repository import open_base

    base = None
    if options.old is not None:
        opened = partial(
            open_files, options.old, options.new, config=options.config, cwd=Path.cwd(), stdin=_standard_input
        )
    else:
        base = _pull_request(options) if options.pr else _sides(options)
        opened = partial(open_base, Path.cwd(), base=base, roots=options.root)
    return show(request_of(options, opened, asking_of(options), base), options, "review", open_ui)


def _sides(options: Namespace) -> Base:
    from locklens.operations.comparison import Base

    fork_of = (options.head or "HEAD") if options.merge_base else ""
    return Base(options.base, fork_of, options.head, options.staged)


def require_signatures() -> None:
    """Refuse to judge without gpg where no person looks, and warn on a terminal.

    As a finding it would be a warning, which passes by default, and for every pull request alike.

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


def _pull_request(options: Namespace) -> Base:
    from locklens.operations.compare_repository import fetch_pull_request

    remote = "origin" if options.remote is None else options.remote
    tell([f"fetching request {options.pr} from {remote}"])
    return fetch_pull_request(Path.cwd(), options.pr, remote=remote, base=options.base)


def run_locked(options: Namespace, open_ui: OpenUi) -> int:
    """Reports on all that is locked, changed or not; `view` is "hashes" or "keys"."""
    from msgspec.structs import replace

    from locklens.operations.compare_repository import open_locked

    options.old = options.new = None
    options.all = True
    base = _sides(options)
    opened = partial(open_locked, Path.cwd(), base=base, roots=options.root)
    request = replace(request_of(options, opened, asking_of(options), base), is_survey=True)
    return show(request, options, options.command, open_ui)


def run_why(options: Namespace) -> int:
    """Report the requirements of a provider, and what holds it back."""
    from locklens.operations.compare_repository import open_locked
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.explain_provider import WhyRequest
    from locklens.operations.review.policy import policy_at, read_given

    asking = asking_of(options)
    request = request_of(options, partial(open_locked, Path.cwd(), roots=options.root), asking)
    log: list[str] = []
    with asking.cache:
        policy = read_given(Path(options.policy)) if options.policy else policy_at(Path.cwd()).policy
        subject = WhyRequest(options.provider, Path.cwd(), tuple(options.root), policy)
        result = LockLens(request).why(subject, on_log=log.extend)
        tell(f"note: {words}" for words in asking.cache.take_notices())
        if options.verbose:
            tell(log)
    text = render_report("why", options.format or "text", result, lists_roots=options.list_roots)
    deliver(text, options.output)
    return FINDINGS if result.fails(options.fail_on or "block") else DONE


def _standard_input() -> bytes:
    return sys.stdin.buffer.read()


def request_of(
    options: Namespace, opened: Callable[[], Comparison], asking: NetworkSettings, base: Base | None = None
) -> ReviewRequest:
    """Return the request for the options; `opened` opens the comparison with the base."""
    from locklens.dialect import DIALECTS
    from locklens.operations.review.request import ReviewRequest

    return ReviewRequest(
        opened,
        include_unchanged=options.all or options.prove == "all",
        test_directory=options.test_directory,
        tool=DIALECTS.get(options.tool),
        fail_on=options.fail_on,
        asking=asking,
        prove=options.prove,
        policy=Path(options.policy) if options.policy else None,
        base=base,
    )


def asking_of(
    options: Namespace, environ: Mapping[str, str] | None = None, cache: Path | None = None
) -> NetworkSettings:
    """Return the network settings of a command; `environ` and `cache` replace the user's own."""
    from locklens.releases.facts import NetworkSettings
    from locklens.storage.cache import Cache

    memory = Cache.in_memory() if options.no_cache else Cache(cache)
    return NetworkSettings(os.environ if environ is None else environ, memory, tuple(options.ask_host), options.offline)


def show(request: ReviewRequest, options: Namespace, view: str, open_ui: OpenUi) -> int:
    """Open the screen, or print the report, and return the exit status.

    Args:
        request: The review to make.
        options: The options.
        view: "review", "hashes" or "keys".
        open_ui: Opens the terminal UI on that view.
    """
    form = format_of(options)
    if form == "tui":
        if not has_terminal():
            raise no_terminal()
        return open_ui(request, view)  # Its first screen reports recovered writes.
    if options.old is None:
        from locklens.operations.write.recover import recover_at

        tell(f"note: {words}" for words in recover_at(Path.cwd()))
    from time import perf_counter

    from locklens.cli.progress import ReviewProgress
    from locklens.operations.locklens import LockLens

    started = perf_counter()
    telling = ReviewProgress(is_verbose=options.verbose)
    locklens = LockLens(request)
    packages, differs = None, False
    try:
        result = locklens.review(on_event=telling.take)
        if result.changes:
            require_signatures()
        if view == "hashes" and options.verify:
            from locklens.operations.verification.report import package_documents

            found = _packages(locklens, result)
            packages, differs = package_documents(found), any(one.failing for one in found.values())
    finally:
        if request.asking is not None:
            request.asking.cache.close()
    if options.verbose:
        tell((f"reviewed {len(result.roots)} roots in {perf_counter() - started:.3f} s",))
    facts = {
        "colour": takes_colour(options.output),
        "lists_roots": options.list_roots,
        "past": _histories(locklens, result) if view == "keys" and options.history else None,
        "fail_on": options.fail_on,
        "packages": packages,
    }
    for other, file in options.report:
        deliver(render_report(view, other, result, **{**facts, "colour": False}), file)
    deliver(render_report(view, form, result, **facts), options.output)
    return FINDINGS if differs or result.fails(options.fail_on) else DONE


def _packages(locklens: LockLens, review: Review) -> dict[tuple[str, ProviderAddress], EntryPackages]:
    """Return the packages on this machine of every entry."""
    comparison = locklens.request.open()
    try:
        top = comparison.top or Path.cwd()
    finally:
        comparison.close()
    chosen = {(root.lock_file, change.address) for root in review.roots for change in root.changes if change.new}
    return locklens.verify_packages(review, top, chosen)


def format_of(options: Namespace) -> str:
    """Return the format that the options ask for: by default the screen on a terminal, else text."""
    if options.format:
        return str(options.format)
    is_drawn = "-" not in {options.old, options.new}
    interactive = has_terminal() and not options.output and not options.report and is_drawn
    return "tui" if interactive else "text"


def _histories(locklens: LockLens, review: Review) -> dict[str, tuple[PastUse, ...]]:
    """Return the versions that were locked before of each signer's providers, by the key's fingerprint."""
    from locklens.review.keys import signers

    named = [signer for signer in signers(review) if signer.key is not None]
    return {signer.key.fingerprint: locklens.history(signer) for signer in named if signer.key is not None}
