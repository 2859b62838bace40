"""`completion`: one script for bash, zsh or fish, made of the parsers that read the commands.

Commands, options and their values are in the script. Revisions, providers and roots are looked up by shell functions,
which run when the key is pressed. Names of a repository are untrusted, and a shell runs what its line holds: only names
of plain letters are offered, which stand for themselves in every shell. A key press reads at most fifty lock files, and
a mebibyte of each.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from locklens.cli import put
from locklens.cli.commands import COMMANDS, Subcommand
from locklens.text import script_text

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.cli.options import Parser


def add_completion_options(parser: Parser) -> None:
    """Add the options of `completion`."""
    words = "Print the script that completes command lines of locklens in a shell."
    parser.begin(words, "bash|zsh|fish", _run_completion)
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="shell that reads the script")


def _run_completion(options: Namespace) -> int:
    import shtab

    return put(script_text(shtab.complete(_whole_parser(), options.shell, preamble=_PREAMBLE[options.shell])))


def _whole_parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser("locklens", description="Review and judge dependency lock files.")
    whole.add_argument("--version", action="store_true", help="print the version")
    _mark("", whole.add_argument("-C", metavar="DIR", help="work in another folder"))
    first = whole.add_subparsers()
    for name, command in COMMANDS.items():
        if " " in name:
            continue
        inner = [one for one in COMMANDS.values() if one.name.startswith(f"{name} ")]
        own = _marked(command, with_operands=not inner)
        parser = first.add_parser(name, parents=[own], help=command.about, add_help=False)
        if inner:
            second = parser.add_subparsers()
            for one in inner:
                word = one.name.removeprefix(f"{name} ")
                second.add_parser(word, parents=[_marked(one)], help=one.about, add_help=False)
    return whole


def _marked(command: Subcommand, *, with_operands: bool = True) -> argparse.ArgumentParser:
    """Return the parser of a command, whose actions say what completes them."""
    parser = command.parser()
    actions = parser.actions()
    actions[:] = [action for action in actions if action.option_strings or with_operands]
    for action in actions:
        _mark(command.name, action)
    return parser


def _mark(command: str, action: argparse.Action) -> None:
    """Say what completes the value of an option of a command, or an operand."""
    import shtab

    from locklens.doctor.model import CauseId
    from locklens.operations.merge import Preference
    from locklens.review.rules.catalogue import RULES

    if action.metavar == "FILE" or (command == "merge" and not action.option_strings):
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif action.metavar == "DIR":
        action.complete = {**shtab.DIRECTORY, "bash": "_locklens_folders"}  # type: ignore[attr-defined]
    elif action.metavar in {"REV", "REV|VERSION"} or (action.metavar == "BASE" and command != "merge"):
        action.complete = _REVISIONS  # type: ignore[attr-defined]
    elif action.metavar in {"PROVIDER", "PROVIDER[=VERSION]"}:
        action.complete = _PROVIDERS  # type: ignore[attr-defined]
    elif action.metavar == "RULE":
        causes = tuple(sorted(cause.value for cause in CauseId)) if command == "explain" else ()
        action.choices = (*RULES, *causes)
    elif action.metavar == "OS_ARCH":
        action.choices = _PLATFORMS
    elif action.metavar == "[PROVIDER=]SIDE":
        action.choices = tuple(Preference)
    elif action.metavar == "CAUSE":
        action.choices = tuple(sorted(CauseId))


_PLATFORMS = ("darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64")
"""Those that are offered; commands take any other."""

_LOCK = ".terraform.lock.hcl"

_LOCK_FILES = f"git ls-files -co --exclude-standard -x .terraform -- '*{_LOCK}'"
"""Tracked and new ones; modules that init has fetched bring lock files that are not the user's."""

_PLAIN = "^[A-Za-z0-9_][A-Za-z0-9_./@+-]*$"

_ENTRY = r"""-e 's,^provider "registry\.terraform\.io/\([^"]*\)".*,\1,p' -e t """
_ENTRY += r"""-e 's,^provider "registry\.opentofu\.org/\([^"]*\)".*,\1,p' -e t """
_ENTRY += r"""-e 's,^provider "\([^"]*\)".*,\1,p'"""
"""Addresses without the host of a default registry, as they are typed."""

_SHORT = "LC_ALL=C sed -e p -e 's,^hashicorp/,,'"
"""Those of HashiCorp also by their type alone: commands take both."""

_REFERENCES = (
    "git for-each-ref --count=500 --sort=-creatordate '--format=%(refname:short)' refs/heads refs/tags refs/remotes"
)

_ROOTS = f"LC_ALL=C sed -n 's,/{_LOCK}$,,p' | LC_ALL=C grep -E '{_PLAIN}' | sort -u"
"""Makes root folders of lock files."""

_LISTING = f"""\
_locklens_list_revisions() {{
  {_REFERENCES} 2>/dev/null | LC_ALL=C grep -E '{_PLAIN}'
}}

_locklens_list_providers() {{
  {{
    if [ -f {_LOCK} ]; then printf '%s\\n' {_LOCK}; else {_LOCK_FILES} 2>/dev/null; fi
  }} | head -n 50 | while IFS= read -r file; do
    if [ -f "./$file" ]; then head -c 1048576 "./$file" | LC_ALL=C sed -n {_ENTRY}; fi
  done | {_SHORT} | LC_ALL=C grep -E '{_PLAIN}' | sort -u
}}

_locklens_list_roots() {{
  {_LOCK_FILES} 2>/dev/null | {_ROOTS}
}}

_locklens_list_operands() {{
  if _locklens_is_root; then _locklens_list_roots; else "_locklens_list_$1"; fi
}}
"""

_BASH = f"""{_LISTING}
_locklens_beginning() {{
  local name
  while IFS= read -r name; do
    if [[ "$name" == "$1"* ]]; then printf '%s\\n' "$name"; fi
  done
}}

_locklens_is_root() {{
  local word
  for word in "${{COMP_WORDS[@]:0:COMP_CWORD}}"; do
    if [[ "$word" == -- ]]; then return 0; fi
  done
  return 1
}}

_locklens_folders() {{ compgen -d -- "$1" | LC_ALL=C grep -Ev '(^|/)\\.git$'; }}
_locklens_revisions() {{ _locklens_list_operands revisions | _locklens_beginning "$1"; }}
_locklens_providers() {{ _locklens_list_operands providers | _locklens_beginning "$1"; }}
"""

_ZSH = f"""{_LISTING}
_locklens_is_root() {{ (( ${{words[(i)--]}} < CURRENT )) }}
_locklens_revisions() {{ local -a names=( ${{(f)"$(_locklens_list_operands revisions)"}} ); compadd -a names; }}
_locklens_providers() {{ local -a names=( ${{(f)"$(_locklens_list_operands providers)"}} ); compadd -a names; }}
"""

_FISH = f"""\
function _locklens_roots
    {_LOCK_FILES} 2>/dev/null | {_ROOTS}
end

function _locklens_revisions
    if contains -- -- (commandline -opc)
        _locklens_roots
        return
    end
    {_REFERENCES} 2>/dev/null | LC_ALL=C grep -E '{_PLAIN}'
end

function _locklens_providers
    if contains -- -- (commandline -opc)
        _locklens_roots
        return
    end
    set -l files {_LOCK}
    test -f {_LOCK}; or set files ({_LOCK_FILES} 2>/dev/null | head -n 50)
    for file in $files
        test -f "./$file"; and head -c 1048576 "./$file" | LC_ALL=C sed -n {_ENTRY}
    end | {_SHORT} | LC_ALL=C grep -E '{_PLAIN}' | sort -u
end
"""

_PREAMBLE = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""The functions, by shell. After `--`, operands are roots."""

_REVISIONS = {"bash": "_locklens_revisions", "zsh": "_locklens_revisions", "fish": "(_locklens_revisions)"}
_PROVIDERS = {"bash": "_locklens_providers", "zsh": "_locklens_providers", "fish": "(_locklens_providers)"}
