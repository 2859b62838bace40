"""Commands, and the spellings of Terraform and OpenTofu users. Options are in `options`."""

from __future__ import annotations

from locklens.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "review": "compare lock files: work tree, index, revisions, or two files",
    "hashes": "list the platform coverage, and the proof of each locked hash",
    "keys": "list the signers of the locked releases",
    "keys trust": "pin the keys that sign a namespace's locked releases, in locklens.toml",
    "keys drop": "remove the pin of a namespace",
    "accept": "accept one finding about one change, with a reason, in locklens.toml",
    "policy": "check a policy, show the rules in force, or print the JSON Schema of locklens.toml",
    "health": "check all lock files below a folder, and list the spread of versions",
    "why": "list the modules that require a provider, and what holds it back",
    "doctor": "find out why init failed: causes with evidence, and fixes",
    "init": "install providers, and update the lock file",
    "lock": "add the hashes of several platforms to the lock file; also: providers lock",
    "mirror": "download the required packages into a folder that serves as a mirror",
    "verify": "verify that installed, cached and mirrored packages are what the lock file says",
    "upgrade": "upgrade selected providers, and edit the constraints that hold them back",
    "prune": "remove orphans from the lock file: providers that nothing requires",
    "restore": "restore providers from the lock file of a revision",
    "format": "write the lock file in its tool's format",
    "stage": "stage the changed blocks of providers, as git add -p would",
    "undo": "revert the last write in the repository, unless a file changed since",
    "merge": "merge three lock files block by block, as git's merge driver",
    "textconv": "print a lock file for git diff",
    "git": "set git up to merge and show lock files with locklens, or remove the set-up",
    "backfill": "complete a registry's metadata files: h1 and size of each package",
    "explain": "explain a rule: its meaning, why it matters, and how to fix its findings",
    "demo": "open the review of a sample repository",
    "completion": "print the script that completes command lines: bash, zsh, fish",
    "cache": "show or clear the cache of registry answers and package hashes",
    "version": "print the version",
}

_VALUED = frozenset(
    f"--{name}"
    for name in (
        "ask-host", "base", "by", "chdir", "config", "delay", "fail-on", "fault", "format", "from", "fs-mirror",
        "head", "incident", "install-path", "jobs", "lock-file", "lockfile", "marker-size", "max-rate", "max-requests",
        "metadata", "mirror", "net-mirror", "new", "old", "ours-name", "output", "package", "path", "per-host",
        "platform", "plugin-cache", "plugin-dir", "policy", "port", "pr", "prefer", "prove", "provider", "reason",
        "remote", "report", "review-by", "root", "scheduler", "shard", "size-key", "test-directory", "theirs-name",
        "tool", "tool-version", "until", "why",
    )
) | {"-C"}  # fmt: skip
"""Options whose next word is their value, also where it reads like a command."""


class UsageError(ConfigurationError):
    """Invalid command line."""


class Invocation:
    """A command line, split: the folder to work in, the command, its arguments, and the operands behind `--`."""

    def __init__(self, folder: str, command: str, arguments: list[str], operands: list[str]) -> None:
        self.folder = folder
        self.command = command
        self.arguments = arguments
        self.operands = operands


def split(argv: Sequence[str]) -> Invocation:
    """Split a command line, with single-dash spellings in the double-dash form.

    Raises:
        UsageError: There is no such command, or `-C` has no folder or stands behind the command.
    """
    words = list(argv)
    operands: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, operands = words[:at], words[at + 1 :]
    words = [with_two_dashes(word) for word in words]
    folder, options, words = _leading_options(words)
    if words and (not options or words[0] in {*COMMANDS, "providers", "help"}):
        command = words.pop(0)
        if command == "providers" and words[:1] in (["lock"], ["mirror"]):
            command = words.pop(0)
        if command == "keys" and words[:1] in (["trust"], ["drop"]):
            command = f"keys {words.pop(0)}"
        if command not in COMMANDS and command != "help":
            raise UsageError(_unknown(command), hint="see locklens --help")
    else:
        command = "help" if options[:1] in (["-h"], ["--help"]) else "review"
    for word in words:
        if word == "-C" or word.partition("=")[0] == "--chdir":
            raise UsageError(f"{word} stands before the command", hint=f"locklens -C DIR {command}")
    return Invocation(folder, command, [*options, *words], operands)


def _leading_options(words: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the folder of `-C`, the options before the first other word, which belong to the command, and the rest."""
    folder, options = ".", []
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word.startswith("--chdir="):
            folder = word.partition("=")[2]
        elif word not in _VALUED:
            options.append(word)
        elif word not in {"-C", "--chdir"}:
            options += [word, *words[:1]]
            del words[:1]
        elif words:
            folder = words.pop(0)
        else:
            raise UsageError(f"{word} needs a folder")
    return folder, options, words


def with_two_dashes(word: str) -> str:
    """Return a word, with two dashes where it is a long option with one."""
    return "-" + word if _is_single_dash(word) else word


def _is_single_dash(word: str) -> bool:
    """True if a word is a long option in the spelling of the real tools, such as `-platform=linux_amd64`."""
    name = word[1:].partition("=")[0]
    return word[:1] == "-" and len(name) > 1 and name.replace("-", "").isalpha() and not name.startswith("-")


def _unknown(command: str) -> str:
    import difflib

    near = difflib.get_close_matches(command, COMMANDS, 1)
    return f"unknown command {command!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def overview() -> tuple[str, ...]:
    """The lines of `locklens --help`."""
    width = max(map(len, COMMANDS))
    built = [f"  {name:{width}}  {text}" for name, text in COMMANDS.items()]
    from locklens.cli.examples import EXAMPLES
    from locklens.cli.examples import OVERVIEW as SHOWN

    examples = [f"  {line}" for name in SHOWN for line, _ in EXAMPLES[name][:1]]
    return (
        "usage: locklens [-C DIR] [COMMAND] [OPTION...]",
        "",
        "Review and judge the dependency lock files of Terraform and OpenTofu.",
        "Without a command: opens the review of the current git repository.",
        "",
        "options:",
        "  -C DIR     work in another folder (default: the current one); also -chdir=DIR",
        "  --version  print the version",
        "  --help     print this text; behind a command: its options, their defaults, and examples",
        "",
        "commands (default: review):",
        *built,
        "",
        "examples:",
        *examples,
        "",
        "exit status: 0 success, no finding at or above --fail-on; 1 findings, or a failure;",
        "             2 bad usage, or nothing could be read; 130 interrupted",
    )
