"""The table of commands, and what each makes of its arguments.

A command is its row in `COMMANDS` and its module, which is loaded when the command is used.
"""

from __future__ import annotations

from locklens.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.cli.options import Parser


class Subcommand:
    """One command.

    Its module has the function `add_<name>_options`, which adds the options to a `Parser`, and as the default of
    `run` names the function that runs the command with them.

    Attributes:
        name: One word or two.
        module: The module of `cli` that has its options and runs it.
        about: Its purpose, for the overview.
        examples: Command lines for its help, each with its purpose.
        operands: The option that receives the words after `--`: "root", or another list; "" where they are positional
            arguments, None where they are refused.
        has_screen: True if the function that runs it also takes what opens the terminal UI.
        recovers: True if interrupted writes are completed or reverted, and reported, before it runs.
        tools_name: The real tools' command that takes the same arguments; "" for none.
    """

    def __init__(
        self,
        name: str,
        module: str,
        about: str,
        *examples: tuple[str, str],
        operands: str | None = "root",
        has_screen: bool = False,
        recovers: bool = False,
        tools_name: str = "",
    ) -> None:
        self.name = name
        self.module = module
        self.about = about
        self.examples = examples
        self.operands = operands
        self.has_screen = has_screen
        self.recovers = recovers
        self.tools_name = tools_name

    def parser(self) -> Parser:
        """Return the parser of its options."""
        from importlib import import_module

        from locklens.cli.options import Parser

        parser = Parser(self.name, self.examples)
        module = import_module(f"locklens.cli.{self.module}")
        getattr(module, f"add_{self.name.replace(' ', '_')}_options")(parser)
        return parser


_ROWS = (
    Subcommand(
        "review",
        "review",
        "compare lock files: work tree, index, revisions, or two files",
        ("locklens review main --merge-base --fail-on warn", "what this branch changes, for CI"),
        ("locklens review --pr 12", "a pull or merge request of the remote"),
        ("locklens review v1.0 --head v2.0 -- live/prod", "two revisions, one root"),
        ("locklens review --old HEAD:.terraform.lock.hcl --new .terraform.lock.hcl", "two files"),
        has_screen=True,
    ),
    Subcommand(
        "hashes",
        "review",
        "list the platform coverage, and the proof of each locked hash",
        ("locklens hashes", "all lock files of the repository"),
        ("locklens hashes --prove all -- live/prod", "download and hash every package of a root"),
        has_screen=True,
    ),
    Subcommand(
        "keys",
        "review",
        "list the signers of the locked releases",
        ("locklens keys --history --format json", "signers, with those of other versions in git's history"),
        has_screen=True,
    ),
    Subcommand(
        "keys trust",
        "policy",
        "pin the keys that sign a namespace's locked releases, in locklens.toml",
        ('locklens keys trust acme --why "announced on their page"', "the keys that sign it now"),
        ("locklens keys trust acme --key 0A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D", "one of them alone"),
        operands=None,
        recovers=True,
    ),
    Subcommand(
        "keys drop",
        "policy",
        "remove the pin of a namespace",
        ("locklens keys drop acme", "remove the pin of a namespace"),
        operands=None,
        recovers=True,
    ),
    Subcommand(
        "accept",
        "policy",
        "accept one finding about one change, with a reason, in locklens.toml",
        ('locklens accept LK001 acme/demo --reason "confirmed by telephone"', "in this change only"),
        ('locklens accept LK001 acme/demo --reason "tested" -- live/prod', "in the change of one root"),
        recovers=True,
    ),
    Subcommand(
        "policy",
        "policy",
        "check a policy, show the rules in force, or print the schema of locklens.toml",
        ("locklens policy check", "read locklens.toml, and report the first mistake"),
        ("locklens policy show main", "the rules in force for a change of main"),
        ("locklens policy schema", "a JSON Schema for editors with TOML support"),
        operands=None,
        recovers=True,
    ),
    Subcommand(
        "health",
        "inspect",
        "check all lock files below a folder, and list the spread of versions",
        ("locklens health --offline", "every root of the repository, from files and cached answers"),
        ("locklens health live --format json --fail-on warn", "the roots below a folder, for CI"),
        has_screen=True,
        recovers=True,
    ),
    Subcommand(
        "why",
        "review",
        "list the modules that require a provider, and what holds it back",
        ("locklens why aws", "in every root"),
        ("locklens why hashicorp/aws --list-roots -- 'live/*'", "in some roots, all by name"),
        recovers=True,
    ),
    Subcommand(
        "inspect",
        "inspect",
        "show what is inside the packages of an upgrade: modules, toolchain, files",
        ("locklens inspect aws --from main", "what this branch's version brings"),
        ("locklens inspect aws --to 6.2.0 --platform all", "a version that is not locked, on every platform"),
        ("locklens inspect --package old.zip --package new.zip", "two packages on this machine"),
    ),
    Subcommand(
        "doctor",
        "doctor",
        "find out why init failed: causes with evidence, and fixes",
        ("locklens doctor ci.log", "the log of a failed run, as a file"),
        ("locklens doctor --platform linux_amd64 --format markdown -", "a log on standard input, for an issue"),
        ("locklens doctor --package /mirror/aws ci.log -- live/prod", "with the package of the failing run"),
        ("locklens doctor", "without a log: the root in the current folder"),
    ),
    Subcommand(
        "init",
        "install",
        "install providers, and update the lock file",
        ("locklens init", "install the locked versions"),
        ("locklens init -upgrade --root live/prod", "install the newest versions in range"),
        ("locklens init -lockfile=readonly --all-roots", "check in CI that no lock file would change"),
        recovers=True,
        tools_name="init",
    ),
    Subcommand(
        "lock",
        "install",
        "add the hashes of several platforms to the lock file; also: providers lock",
        ("locklens lock -platform=linux_amd64 -platform=darwin_arm64", "two platforms"),
        ("locklens lock --check --platform linux_amd64 --all-roots", "check in CI, write nothing"),
        recovers=True,
        tools_name="providers lock",
    ),
    Subcommand(
        "mirror",
        "install",
        "put the required packages into a mirror: a folder, or an OCI registry",
        ("locklens mirror -platform=linux_amd64 -platform=darwin_arm64 mirror", "two platforms"),
        ("locklens mirror --all-roots --prune -platform=linux_amd64 /srv/mirror", "no more than all roots require"),
        ("locklens mirror -platform=linux_amd64 oci://reg.example.com/{namespace}/{type}", "for OpenTofu's oci_mirror"),
        tools_name="providers mirror",
    ),
    Subcommand(
        "verify",
        "install",
        "verify that installed, cached and mirrored packages are what the lock file says",
        ("locklens verify", "the packages of this root, of the plugin cache, and of mirrors"),
        ("locklens verify --offline --all-roots --format json", "for CI, without a request"),
    ),
    Subcommand(
        "upgrade",
        "upgrade",
        "upgrade selected providers, and edit the constraints that hold them back",
        ("locklens upgrade aws --root 'live/*'", "the newest version in range, in several roots"),
        ("locklens upgrade aws=6.2.0 --edit-constraints", "a version that the constraints exclude"),
        ("locklens upgrade --safe --all-roots --dry-run", "everything eligible, as a diff"),
        ("locklens upgrade --list --format json", "available versions"),
        recovers=True,
    ),
    Subcommand(
        "prune",
        "write",
        "remove orphans from the lock file: providers that nothing requires",
        ("locklens prune --dry-run", "the orphans of this root"),
        ("locklens prune template --root live/prod", "one provider"),
        recovers=True,
    ),
    Subcommand(
        "restore",
        "write",
        "restore providers from the lock file of a revision",
        ("locklens restore aws --from main -- live/prod", "the entry of another revision"),
        recovers=True,
    ),
    Subcommand(
        "format",
        "write",
        "write the lock file in its tool's format",
        ("locklens format --all-roots --dry-run", "the layout of every lock file, as a diff"),
        recovers=True,
    ),
    Subcommand(
        "stage",
        "write",
        "stage the changed blocks of providers, as git add -p would",
        ("locklens stage aws -- live/prod", "one provider's block, as git add -p would"),
        ("locklens stage --all-roots", "every changed lock file"),
        recovers=True,
    ),
    Subcommand(
        "undo",
        "write",
        "revert the last write in the repository, unless a file changed since",
        ("locklens undo --dry-run", "what would be reverted"),
        operands=None,
        recovers=True,
    ),
    Subcommand(
        "merge",
        "git",
        "merge three lock files block by block, as git's merge driver",
        ("locklens merge base.hcl ours.hcl theirs.hcl", "three files; the result replaces ours.hcl"),
        ("locklens merge --prefer newest base.hcl ours.hcl theirs.hcl", "the newer of two versions"),
        ("locklens merge --root live/prod --dry-run", "a lock file that git left in conflict"),
        operands="",
    ),
    Subcommand(
        "textconv",
        "git",
        "print a lock file for git diff",
        ("locklens textconv .terraform.lock.hcl", "as git diff shows the file"),
        operands="",
    ),
    Subcommand(
        "git",
        "git",
        "set git up to merge and show lock files with locklens, or remove the set-up",
        ("locklens git install --dry-run", "what would be written"),
        ("locklens git install --private", "for this clone only"),
        operands="",
    ),
    Subcommand(
        "backfill",
        "backfill",
        "complete a registry's metadata files: h1 and size of each package",
        ("locklens backfill --dry-run --max-rate 50MB registry", "what it would fetch, and how long that takes"),
        ("locklens backfill --max-rate 50MB --shard 3/20 registry", "the third of twenty jobs of a pipeline"),
        ("locklens backfill --scheduler tcp://10.0.0.5:8786 registry", "on the workers of a Dask cluster"),
        operands="places",
    ),
    Subcommand(
        "advisories",
        "inspect",
        "show the kept database of advisories: its source, date and size",
        ("locklens advisories", "what is kept"),
        operands="",
    ),
    Subcommand(
        "advisories update",
        "inspect",
        "keep the Go vulnerability database of an address, a folder or a file",
        ("locklens advisories update", "Go's own, from vuln.go.dev"),
        ("locklens advisories update vulndb.zip", "a file that was brought here"),
        operands="",
    ),
    Subcommand(
        "explain",
        "about",
        "explain a rule: its meaning, why it matters, and how to fix its findings",
        ("locklens explain LK001", "one finding"),
        ("locklens explain h1-missing", "a cause that doctor names"),
        operands="",
    ),
    Subcommand(
        "demo",
        "demo",
        "open the review of a sample repository",
        ("locklens demo", "open the sample"),
        ("locklens demo --serve --port 8443", "only its registry, for any tool"),
        ("locklens demo --serve --metadata registry", "a clone of the OpenTofu registry, as backfill completed it"),
        ("locklens demo --incident republished", "what doctor says of a failed init"),
        operands=None,
        has_screen=True,
    ),
    Subcommand(
        "completion",
        "completion",
        "print the script that completes command lines: bash, zsh, fish",
        ("locklens completion bash", 'in ~/.bashrc: eval "$(locklens completion bash)"'),
        ("locklens completion zsh", "into the file _locklens, in a folder of $fpath"),
        ("locklens completion fish", "into ~/.config/fish/completions/locklens.fish"),
        operands="",
    ),
    Subcommand(
        "cache",
        "about",
        "show or clear the cache of registry answers and package hashes",
        ("locklens cache info", "place, size and contents"),
        operands="",
    ),
    Subcommand(
        "version", "about", "print the version", ("locklens version", "the version, also --version"), operands=""
    ),
)

COMMANDS = {command.name: command for command in _ROWS}
"""Every command by its name, in the order of the overview."""


def with_two_dashes(word: str) -> str:
    """Return a word, with two dashes if it is a long option in the real tools' spelling: `-platform=linux_amd64`."""
    name = word[1:].partition("=")[0]
    is_single = word[:1] == "-" and len(name) > 1 and name.replace("-", "").isalpha() and not name.startswith("-")
    return f"-{word}" if is_single else word


def read_options(name: str, arguments: Sequence[str], operands: Sequence[str] = ()) -> Namespace:
    """Read the arguments of a command, of which the operands follow `--`.

    Raises:
        UsageError: They are invalid, or contradict one another.
    """
    import os

    from locklens.cli.options import receive_operands

    command = COMMANDS[name]
    if operands and command.operands is None:
        raise UsageError(f"unexpected argument {operands[0]!r}", hint=f"see locklens {name} --help")
    if command.operands == "root":
        known = {one for action in command.parser().actions() for one in action.option_strings}
        late = next((one for one in operands if with_two_dashes(one).partition("=")[0] in known), None)
        if late is not None:
            raise UsageError(f"{late} follows --", hint="only roots follow --: name options before it")
    words = [*environment_arguments(command, os.environ), *arguments]
    if operands and not command.operands:
        # A file's name may begin with a dash, and intermixed arguments end at no "--".
        options = command.parser().parse_args([*words, "--", *operands])
    else:
        options = command.parser().parse_intermixed_args(words)
    if command.operands:
        receive_operands(options, command.operands, operands)
    if options.check_options is not None:
        options.check_options(options)
    return options


def environment_arguments(command: Subcommand, environ: Mapping[str, str]) -> list[str]:
    """Return the arguments of TF_CLI_ARGS and of the command's own variable, which come before those of the user.

    Raises:
        UsageError: One has a quotation mark without its counterpart.
    """
    found: list[str] = []
    if not command.tools_name:
        return found
    import shlex

    for name in ("TF_CLI_ARGS", f"TF_CLI_ARGS_{command.tools_name.replace(' ', '_')}"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise UsageError(f"{name} cannot be read: {error}") from error
        found += map(with_two_dashes, words)
    return found


_SHOWN = ("review", "upgrade", "lock", "why")
"""The commands whose first example is in the overview."""


def overview() -> Iterable[str]:
    """Return the lines of `locklens --help`."""
    width = max(map(len, COMMANDS))
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
        *(f"  {command.name:{width}}  {command.about}" for command in _ROWS),
        "",
        "examples:",
        *(f"  {COMMANDS[name].examples[0][0]}" for name in _SHOWN),
        "",
        "exit status: 0 success, no finding at or above --fail-on; 1 findings, or a failure;",
        "             2 bad usage, or nothing could be read; 130 interrupted",
    )
