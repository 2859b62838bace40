"""Runs a command: results on stdout, all else on stderr, and an exit status that says how it ended."""

from __future__ import annotations

import io
import os
import sys

from locklens.cli import arguments
from locklens.errors import ConfigurationError, LockLensError, RunCancelledError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from locklens.review.model import Review
    from locklens.workspace.review import ReviewRequest

    OpenUi = Callable[[ReviewRequest], int]

DONE, FINDINGS, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
"""The exit statuses, which are a contract."""


def main(argv: Sequence[str], open_ui: OpenUi) -> int:
    """Runs one command line.

    Args:
        argv: The words behind the program's name.
        open_ui: Opens the terminal UI and returns the exit status.

    Returns:
        The exit status.
    """
    try:
        return _run(argv, open_ui)
    except RunCancelledError as error:
        _complain(error)
        return INTERRUPTED
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone: nobody is left to be told.
        _forget_output()
        return FINDINGS
    except LockLensError as error:
        _complain(error)
        return UNUSABLE


def _complain(error: LockLensError) -> None:
    from locklens.review.reports.visible import visible

    print(f"error: {visible(str(error))}", file=sys.stderr)  # noqa: T201
    if error.hint:
        print(f"hint: {visible(error.hint)}", file=sys.stderr)  # noqa: T201


def _run(argv: Sequence[str], open_ui: OpenUi) -> int:
    invocation = arguments.split(argv)
    if invocation.arguments[:1] == ["--version"]:
        from locklens import __version__

        return _put(f"locklens {__version__}\n")
    match invocation.command:
        case "help":
            return _put(arguments.overview())
        case "review":
            _work_in(invocation.folder)
            if not invocation.operands and _say_at_a_glance(invocation.arguments):
                return DONE
            return _review(_options("review", invocation), open_ui)
        case "why":
            _work_in(invocation.folder)
            return _why(_options("why", invocation))
        case "demo":
            return _demo(_options("demo", invocation), open_ui)
        case "explain":
            return _explain(_options("explain", invocation))
        case command:
            raise arguments.NotSupportedYetError(f"locklens {command}")


def _options(command: str, invocation: arguments.Invocation) -> Namespace:
    from locklens.cli import options

    parsers = {"review": options.review, "why": options.why, "demo": options.demo, "explain": options.explain}
    parser = parsers[command]
    return parser(invocation.arguments, invocation.operands)


def _work_in(folder: str) -> None:
    """Changes into the folder that `-C` names."""
    if folder == ".":
        return
    try:
        os.chdir(folder)
    except OSError as error:
        raise ConfigurationError(f"cannot work in {folder}: {error.strerror}") from error


def _put(text: str) -> int:
    """Writes the result; what the terminal's encoding cannot say is written as an escape."""
    if sys.stdout is None:
        raise ConfigurationError("standard output is closed", hint="name a file with --output")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _forget_output()
        raise ConfigurationError(f"standard output cannot be written: {error.strerror}") from error
    return DONE


def _forget_output() -> None:
    """Keeps Python from writing at its end what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _format(found: Namespace) -> str:
    if found.format:
        return str(found.format)
    interactive = _has_terminal() and not found.output and "-" not in {found.old, found.new}
    return "tui" if interactive else "text"


def _has_terminal() -> bool:
    return all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr)))


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream, which is None where the caller closed it, is a terminal."""
    return stream is not None and stream.isatty()


def _review(found: Namespace, open_ui: OpenUi) -> int:
    return _show(_request(found), _format(found), found, open_ui)


def _say_at_a_glance(words: Sequence[str]) -> bool:
    """Reports on two equal files, the commonest review of all, without loading what differences need.

    Returns:
        Whether that was all there is to say.
    """
    from locklens.workspace.glance import glance, simple_options

    found = simple_options(words)
    if found is None or ("--format" not in found and "--output" not in found and _has_terminal()):
        return False
    same = glance(found["--old"], found["--new"])
    if same is None:
        return False
    from locklens.review.reports import unchanged

    names = {"old": found["--old"], "new": found["--new"]}
    text = unchanged.render(
        found.get("--format", "text"), **names, folder=same.folder, lock_file=same.lock_file, tool=same.tool
    )
    _deliver(text, found.get("--output"))
    return True


def _request(found: Namespace) -> ReviewRequest:
    from functools import partial
    from pathlib import Path

    from locklens.dialect import DIALECTS
    from locklens.workspace.open import open_files, open_git
    from locklens.workspace.review import ReviewRequest

    if found.old is not None:
        opened = partial(open_files, found.old, found.new, config=found.config, cwd=Path.cwd(), stdin=_standard_input)
    else:
        opened = partial(
            open_git,
            Path.cwd(),
            base="HEAD" if found.base is None else found.base,
            head=found.head,
            staged=found.staged,
            merge_base=found.merge_base,
            roots=found.roots,
        )
    return ReviewRequest(opened, found.all, found.test_directory, DIALECTS.get(found.tool), found.fail_on)


def _standard_input() -> bytes:
    return sys.stdin.buffer.read()


def _show(request: ReviewRequest, form: str, found: Namespace, open_ui: OpenUi) -> int:
    if form == "tui":
        if not _has_terminal():
            raise ConfigurationError("the terminal UI needs a terminal", hint="use --format text or json")
        return open_ui(request)
    from time import perf_counter

    from locklens.workspace.review import review

    started = perf_counter()
    result = review(request)
    if found.verbose:
        took = perf_counter() - started
        print(f"reviewed {len(result.roots)} roots in {took:.3f} s; no registry was asked", file=sys.stderr)  # noqa: T201
    _deliver(_rendered(result, form, found.output), found.output)
    return FINDINGS if result.fails(found.fail_on) else DONE


def _rendered(review: Review, form: str, output: str | None) -> str:
    if form == "json":
        from locklens.review.reports import json

        return json.render(review)
    from locklens.review.reports import text

    return text.render(review, colour=not output and _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR"))


def _deliver(text: str, output: str | None) -> int:
    if output is None:
        return _put(text)
    from pathlib import Path

    from locklens.storage.files import write_atomically

    write_atomically(Path(output), text.encode("utf-8", "surrogateescape"))
    return DONE


def _demo(found: Namespace, open_ui: OpenUi) -> int:
    import tempfile
    from functools import partial
    from pathlib import Path

    from locklens.demo.repository import make_repository
    from locklens.workspace.open import open_git
    from locklens.workspace.review import ReviewRequest

    found.old = found.new = None
    with tempfile.TemporaryDirectory(prefix="locklens-demo-") as folder:
        top = make_repository(Path(folder) / "infrastructure")
        request = ReviewRequest(partial(open_git, top), found.all, found.test_directory, fail_on=found.fail_on)
        return _show(request, _format(found), found, open_ui)


def _why(found: Namespace) -> int:
    from pathlib import Path

    from locklens.dialect import DIALECTS
    from locklens.workspace.why import WhyRequest, why

    request = WhyRequest(found.provider, Path.cwd(), tuple(found.roots), DIALECTS.get(found.tool), found.test_directory)
    result = why(request)
    if found.format == "json":
        from locklens.review.reports import why_json

        text = why_json.render(result)
    else:
        from locklens.review.reports import why_text

        text = why_text.render(result)
    _deliver(text, found.output)
    return FINDINGS if result.fails(found.fail_on) else DONE


def _explain(found: Namespace) -> int:
    from locklens.review.rules import RULES, explain

    if found.rule is None:
        return _put("".join(f"{rule.id}  {rule.severity:5}  {rule.title}\n" for rule in RULES.values()))
    rule = RULES.get(found.rule.upper())
    if rule is None:
        raise arguments.UsageError(f"there is no rule {found.rule!r}", hint="locklens explain lists them all")
    return _put(explain(rule))
