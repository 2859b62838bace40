"""The parser of a command, the options that several commands share, and the functions that turn those into values."""

from __future__ import annotations

import argparse
import os
from functools import partial

from locklens.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import NoReturn

    from locklens.addresses import Platform
    from locklens.dialect import Dialect
    from locklens.operations.comparison import Base
    from locklens.project.installation import InstallationMethod, MethodKind
    from locklens.releases import NetworkSettings
    from locklens.storage.cache import Cache

_HELP_WIDTH = 100
_UNRECOGNIZED = "unrecognized arguments: "  # argparse
_LIKE = 0.75
"""Likeness of a mistyped option; that of the options of other commands is less."""


class _Formatter(argparse.HelpFormatter):
    """A formatter that keeps the lines of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`, and whose help does not depend on the width of the terminal."""

    def __init__(self, command: str, examples: Iterable[tuple[str, str]]) -> None:
        formatter = partial(_Formatter, width=_HELP_WIDTH, max_help_position=28)
        super().__init__(prog=f"locklens {command}", allow_abbrev=False, formatter_class=formatter)
        self._command = command
        self._examples = examples
        self.set_defaults(command=command)

    def begin(
        self,
        description: str,
        usage: str,
        run: Callable[..., int],
        check: Callable[[Namespace], None] | None = None,
        **defaults: Callable[[Namespace], object],
    ) -> None:
        """Set what a command does: `run` runs it with its options.

        The usage is the command line after the command's name; `check` raises `UsageError` for options that contradict
        one another, and `run` reads the other defaults from the options.
        """
        self.description = description
        self.usage = f"{self.prog} {usage}".rstrip()
        self.set_defaults(run=run, check_options=check, **defaults)

    def group(self, title: str) -> OptionGroup:
        """Add a group of options."""
        return OptionGroup(self, title)

    def actions(self) -> list[argparse.Action]:
        """Return the options and the positional arguments, in a list that can be changed."""
        return self._actions

    def format_help(self) -> str:
        """Return the help, which ends with examples."""
        lines = (line for example, purpose in self._examples for line in (f"  {example}", f"      {purpose}"))
        elsewhere = f"locklens -C DIR {self._command} ... works in another folder."
        self.epilog = "\n".join(("examples:", *lines, "", elsewhere))
        return super().format_help()

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002
        from locklens.cli import put
        from locklens.text import page

        put(page(message.splitlines()))

    def error(self, message: str) -> NoReturn:
        """Raise the error that argparse would print, with the option that an unknown one is like.

        Raises:
            UsageError: Always.
        """
        from difflib import get_close_matches

        roots = "; root folders go after --" if self._command in {"review", "why"} else ""
        unknown = [word.partition("=")[0] for word in message.partition(_UNRECOGNIZED)[2].split() if word[:2] == "--"]
        near = [name for word in unknown for name in get_close_matches(word, self._option_string_actions, 1, _LIKE)]
        message += f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(message, hint=f"see {self.prog} --help{roots}")


class OptionGroup:
    """A group of options in the help, and options that several commands have; `add` is argparse's `add_argument`."""

    def __init__(self, parser: Parser, title: str) -> None:
        self.add: Callable[..., object] = parser.add_argument_group(title).add_argument

    def flag(self, name: str, purpose: str) -> None:
        """Add an option without a value."""
        self.add(name, action="store_true", help=purpose)

    def add_roots(self, default: str = "the current folder") -> None:
        """Add --root and --all-roots; `default` names the roots that are used without them."""
        words = "folder of a root module, or a glob such as 'live/*'; may be repeated, the same as -- ROOT"
        self.add("--root", action="append", default=[], metavar="DIR", help=f"{words} (default: {default})")
        self.flag("--all-roots", "every folder of the repository with a lock file")

    def add_tool(self, default: str = "detected for each root") -> None:
        """Add --tool and --test-directory; `default` describes the tool that is used without --tool."""
        self.add("--tool", choices=["terraform", "opentofu"], help=f"tool whose rules apply (default: {default})")
        words = "folder of test files in each root (default: tests)"
        self.add("--test-directory", metavar="DIR", default="tests", help=words)

    def add_output(self, formats: Sequence[str], default: str | None = "text") -> None:
        """Add --format and --output; without a `default`, a terminal gets the screen and anything else text."""
        words = default or "tui on a terminal, text otherwise"
        self.add("--format", choices=formats, default=default, help=f"format of the result (default: {words})")
        self.add("--output", metavar="FILE", help="write the result to a file (default: standard output)")

    def add_events(self, dry_run: str = "write nothing; print the changes as a diff") -> None:
        """Add --dry-run, whose help is `dry_run`, and --json, the options of every command that writes."""
        self.flag("--dry-run", dry_run)
        self.flag("--json", "print events as JSON, one per line")

    def add_requests(self) -> None:
        """Add --no-cache and --verbose."""
        self.flag("--no-cache", "neither read nor write the cache")
        self.flag("--verbose", "list each request, and how long it took")

    def add_offline(self, hosts: str = "those of the settings") -> None:
        """Add --offline, --ask-host, whose help names the `hosts` that need none, and the options of requests."""
        self.flag("--offline", "ask no registry; use cached answers only")
        words = f"another registry that may be asked; may be repeated (default: {hosts})"
        self.add("--ask-host", metavar="HOST", action="append", default=[], type=_host, help=words)
        self.add_requests()

    def add_prove(self, of_all: str = "") -> None:
        """Add --prove; `of_all` says what else `all` does."""
        words = f"download and hash packages, to verify h1 hashes{f'; all: {of_all}' if of_all else ''}"
        self.add("--prove", choices=["none", "changed", "all"], default="none", help=f"{words} (default: none)")

    def add_platforms(self, words: str, default: str) -> None:
        """Add --platform; `words` say what a platform is for, `default` which are used without the option."""
        words += f"; may be repeated (default: {default})"
        self.add("--platform", metavar="OS_ARCH", action="append", default=[], type=platform_option, help=words)

    def add_sources(self) -> None:
        """Add the options that name a mirror instead of registries."""
        from typing import assert_never

        from locklens.project.installation import MethodKind

        for kind in MethodKind:
            match kind:
                case MethodKind.DIRECT:
                    continue
                case MethodKind.FILESYSTEM:
                    form, words = "DIR", "a mirror in a folder"
                case MethodKind.NETWORK:
                    form, words = "URL", "a network mirror"
                case MethodKind.OCI:
                    form, words = "HOST/REPOSITORY", "OCI registries, such as reg.example.com/{namespace}/{type}"
                case _:
                    assert_never(kind)
            self.add(kind.option, metavar=form, help=f"use packages from {words} (default: registries)")


def receive_operands(options: Namespace, receiver: str, operands: Sequence[str]) -> None:
    """Append the words after `--` to the option that receives them, such as "root".

    Raises:
        UsageError: Roots are named together with --all-roots.
    """
    setattr(options, receiver, [*getattr(options, receiver), *operands])
    if receiver == "root" and options.all_roots and options.root:
        raise UsageError("--all-roots takes no --root and no ROOT")


def expand_roots(options: Namespace, base: Base | None = None) -> None:
    """Replace globs, and --all-roots, by the roots that they select: of the sides, or without any of the work tree.

    A command that compares sides expands its own, once it knows them.

    Raises:
        ConfigurationError: A glob matches no root.
        RepositoryError: Globs and --all-roots need a git repository.
    """
    if base is None and getattr(options, "has_sides", False):
        return
    names, selects_all = getattr(options, "root", []), getattr(options, "all_roots", False)
    if not selects_all and not any(character in name for name in names for character in "*?["):
        return
    from pathlib import Path

    from locklens.operations.typed_names import select_roots

    sides = None
    if base is not None:
        from functools import partial

        from locklens.operations.compare import roots_of_sides

        sides = partial(roots_of_sides, Path.cwd(), base)
    options.root = list(select_roots(Path.cwd(), names, selects_all=selects_all, sides=sides))


def given_tool(options: Namespace) -> Dialect | None:
    """Return the tool of --tool; None without it."""
    from locklens.dialect import DIALECTS

    return DIALECTS.get(getattr(options, "tool", None) or "")


def _cache_of(options: Namespace, path: Path | None = None) -> Cache:
    """Return the cache of a command, in memory with --no-cache; `path` replaces the user's own."""
    from locklens.storage.cache import Cache

    return Cache.in_memory() if getattr(options, "no_cache", False) else Cache(path)


def _host(text: str) -> str:
    from locklens.addresses import read_host

    try:
        return read_host(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"invalid host {text!r}: {error}, e.g. registry.example.com") from None


def network_of(
    options: Namespace, environ: Mapping[str, str] | None = None, cache: Path | None = None, *, asks_all: bool = False
) -> NetworkSettings:
    """Return the network settings of a command; `environ` and `cache` replace the user's own.

    `asks_all` is of commands that ask every registry that the roots require, and have no option for hosts.
    """
    from locklens.releases import NetworkSettings

    variables = os.environ if environ is None else environ
    hosts, is_offline = getattr(options, "ask_host", ()), getattr(options, "offline", False)
    return NetworkSettings(variables, _cache_of(options, cache), tuple(hosts), is_offline, asks_all=asks_all)


def platform_option(text: str) -> str:
    """Return a platform in its canonical form.

    Raises:
        ArgumentTypeError: It is invalid.
    """
    from locklens.addresses import Platform

    try:
        return str(Platform.parse(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def platforms_of(options: Namespace) -> tuple[Platform, ...]:
    """Return the platforms of --platform, each once."""
    from locklens.addresses import Platform

    return tuple(dict.fromkeys(map(Platform.parse, options.platform)))


def check_source_options(options: Namespace) -> None:
    """Require at most one mirror, with a URL or a template that the tools accept.

    Raises:
        UsageError: More than one is given, or the URL or template is invalid.
    """
    given = _given_mirrors(options)
    if len(given) > 1:
        names = " and ".join(kind.option for kind, _ in given)
        raise UsageError(f"{names} cannot be used together", hint="leave only one of them")
    source_methods(options)


def oci_template(text: str) -> str:
    """Return the repository template that the user typed.

    Raises:
        UsageError: It names no repository.
    """
    from locklens.project.installation import given_template

    try:
        return given_template(text)
    except ValueError as error:
        hint = "write {hostname}, {namespace} and {type}, or put ${type} in single quotes: a shell replaces it"
        raise UsageError(f"{text} names no repository: {error}", hint=hint) from error


def source_methods(options: Namespace) -> tuple[InstallationMethod, ...] | None:
    """Return the mirror that the command line names; None without one.

    Raises:
        UsageError: Its URL or template is invalid.
    """
    from locklens.project.installation import InstallationMethod

    return tuple(InstallationMethod(kind, _place(kind, text)) for kind, text in _given_mirrors(options)) or None


def _given_mirrors(options: Namespace) -> list[tuple[MethodKind, str]]:
    """Return the mirrors that the command line names, as typed."""
    from locklens.project.installation import MethodKind

    given = ((kind, vars(options).get(kind.option[2:].replace("-", "_"))) for kind in MethodKind if kind.option)
    return [(kind, text) for kind, text in given if text]


def _place(kind: MethodKind, text: str) -> str:
    """Return the place of a method as `InstallationMethod` has it, for the text that the user typed."""
    from typing import assert_never

    from locklens.project.installation import MethodKind, check_mirror_url

    match kind:
        case MethodKind.DIRECT | MethodKind.FILESYSTEM:
            place = text
        case MethodKind.NETWORK:
            place = text
            try:
                check_mirror_url(text)
            except ValueError as error:
                raise UsageError(f"invalid network mirror URL: {error}") from error
        case MethodKind.OCI:
            place = oci_template(text)
        case _:
            assert_never(kind)
    return place
