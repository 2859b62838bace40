"""`explain`, `cache` and `version`: what locklens says about its rules and itself."""

from __future__ import annotations

from locklens.cli import put, tell
from locklens.errors import ConfigurationError, UsageError
from locklens.text import page, size_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from locklens.cli.options import Parser


def add_explain_options(parser: Parser) -> None:
    """Add the options of `explain`."""
    parser.begin("Explain a rule, or a cause that doctor names; without RULE, list all rules.", "[RULE]", _run_explain)
    parser.add_argument("rule", nargs="?", metavar="RULE", help="such as LK001, or h1-missing")


def _run_explain(options: Namespace) -> int:
    """Print the explanation of a rule or of a cause, or the list of all rules."""
    from locklens.review.rules.catalogue import RULES, explain_rule

    if options.rule is None:
        return put(page(f"{rule.id}  {rule.severity:5}  {rule.title}" for rule in RULES.values()))
    rule = RULES.get(options.rule.upper())
    if rule is None:
        from locklens.doctor.causes import explain_cause
        from locklens.doctor.model import CauseId

        if options.rule.lower() in {cause.value for cause in CauseId}:
            return put(page(explain_cause(CauseId(options.rule.lower()))))
        hint = "locklens explain lists all rules; causes are named as locklens doctor names them"
        near = _nearest(options.rule, [*RULES, *(cause.value for cause in CauseId)])
        raise UsageError(f"unknown rule {options.rule!r}{f'; did you mean {near!r}?' if near else ''}", hint=hint)
    return put(page(explain_rule(rule).splitlines()))


def _nearest(word: str, names: Sequence[str]) -> str:
    """Return the name that a word most likely means, "" if none: LK001 for "lk1"."""
    import difflib
    import re

    if number := re.fullmatch(r"(?:lk)?0*([1-9][0-9]{0,2})", word, re.IGNORECASE):
        return next((name for name in names if name == f"LK{number[1]:0>3}"), "")
    return next(iter(difflib.get_close_matches(word.lower(), [name for name in names if name.islower()], 1)), "")


def add_cache_options(parser: Parser) -> None:
    """Add the options of `cache`."""
    words = "Show or clear the cache of registry answers and package hashes; marks are kept."
    parser.begin(words, "info|clear", _run_cache)
    parser.add_argument("action", choices=["info", "clear"], help="show its size and contents, or clear it")


def _run_cache(options: Namespace) -> int:
    """Show or clear the cache."""
    from locklens.storage.cache import CACHE_TABLES, Cache, default_cache_path

    with Cache() as cache:
        if options.action == "clear":
            cache.clear()
            return put(page([f"cleared {default_cache_path()}; marks are kept"]))
        contents = cache.info()
        notices = cache.take_notices()
    if contents.path is None:
        raise ConfigurationError(notices[-1], hint="locklens cache clear removes it")
    tell(f"warning: {notice}" for notice in notices)
    ages = f", asked from {contents.oldest} to {contents.newest}" if contents.oldest else ""
    lines = (
        f"file           {contents.path}",
        f"size           {size_words(contents.size)}",
        *(f"{table:15}{getattr(contents, table)}{ages if table == 'answers' else ''}" for table in CACHE_TABLES),
    )
    return put(page(lines))


def add_version_options(parser: Parser) -> None:
    """Add the options of `version`."""
    parser.begin("Print the version of locklens.", "", lambda _: print_version())


def print_version() -> int:
    """Print the version."""
    from locklens import __version__

    return put(page([f"locklens {__version__}"]))
