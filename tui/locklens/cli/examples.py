"""Examples of command lines, for the help texts; each is read by a test."""

from __future__ import annotations

OVERVIEW = ("review", "upgrade", "lock", "why")
"""Commands whose first example stands in the overview."""

EXAMPLES = {
    "review": (
        ("locklens review main --merge-base --fail-on warn", "what this branch changes, for CI"),
        ("locklens review --pr 12", "a pull or merge request of the remote"),
        ("locklens review v1.0 --head v2.0 -- live/prod", "two revisions, one root"),
        ("locklens review --old HEAD:.terraform.lock.hcl --new .terraform.lock.hcl", "two files"),
    ),
    "hashes": (
        ("locklens hashes", "all lock files of the repository"),
        ("locklens hashes --prove all -- live/prod", "download and hash every package of a root"),
    ),
    "keys": (("locklens keys --history --format json", "signers, with those of earlier versions"),),
    "keys trust": (('locklens keys trust acme --why "announced on their page"', "the keys that sign it now"),),
    "keys drop": (("locklens keys drop acme", "remove the pin of a namespace"),),
    "accept": (('locklens accept LK001 acme/demo --reason "confirmed by telephone"', "in this change only"),),
    "policy": (
        ("locklens policy check", "read locklens.toml, and report the first mistake"),
        ("locklens policy show main", "the rules in force for a change of main"),
        ("locklens policy schema", "a JSON Schema for editors with TOML support"),
    ),
    "health": (
        ("locklens health --offline", "every root of the repository, from files and cached answers"),
        ("locklens health live --format json --fail-on warn", "the roots below a folder, for CI"),
    ),
    "why": (
        ("locklens why aws", "in every root"),
        ("locklens why hashicorp/aws --list-roots -- 'live/*'", "in some roots, all by name"),
    ),
    "doctor": (
        ("locklens doctor ci.log", "the log of a failed run, as a file"),
        ("locklens doctor --platform linux_amd64 --format markdown -", "a log on standard input, for an issue"),
        ("locklens doctor --package /mirror/aws ci.log -- live/prod", "with the package of the failing run"),
        ("locklens doctor", "without a log: the root in the current folder"),
    ),
    "init": (
        ("locklens init", "install the locked versions"),
        ("locklens init -upgrade --root live/prod", "install the newest versions in range"),
        ("locklens init -lockfile=readonly --all-roots", "check in CI that no lock file would change"),
    ),
    "lock": (
        ("locklens lock -platform=linux_amd64 -platform=darwin_arm64", "two platforms"),
        ("locklens lock --check --platform linux_amd64 --all-roots", "check in CI, write nothing"),
    ),
    "mirror": (
        ("locklens mirror -platform=linux_amd64 -platform=darwin_arm64 mirror", "two platforms"),
        ("locklens mirror --all-roots --prune -platform=linux_amd64 /srv/mirror", "no more than all roots require"),
    ),
    "verify": (
        ("locklens verify", "the packages of this root, of the plugin cache, and of mirrors"),
        ("locklens verify --offline --all-roots --format json", "for CI, without a request"),
    ),
    "upgrade": (
        ("locklens upgrade aws --root 'live/*'", "the newest version in range, in several roots"),
        ("locklens upgrade aws=6.2.0 --edit-constraints", "a version that the constraints exclude"),
        ("locklens upgrade --safe --all-roots --dry-run", "everything eligible, as a diff"),
        ("locklens upgrade --list --format json", "available versions"),
    ),
    "prune": (
        ("locklens prune --dry-run", "the orphans of this root"),
        ("locklens prune template --root live/prod", "one provider"),
    ),
    "restore": (("locklens restore aws --from main -- live/prod", "the entry of another revision"),),
    "format": (("locklens format --all-roots --dry-run", "the layout of every lock file, as a diff"),),
    "stage": (
        ("locklens stage aws -- live/prod", "one provider's block, as git add -p would"),
        ("locklens stage --all-roots", "every changed lock file"),
    ),
    "merge": (
        ("locklens merge base.hcl ours.hcl theirs.hcl", "three files; the result replaces ours.hcl"),
        ("locklens merge --prefer newest base.hcl ours.hcl theirs.hcl", "the newer of two versions"),
        ("locklens merge --root live/prod --dry-run", "a lock file that git left in conflict"),
    ),
    "textconv": (("locklens textconv .terraform.lock.hcl", "as git diff shows the file"),),
    "git": (
        ("locklens git install --dry-run", "what would be written"),
        ("locklens git install --private", "for this clone only"),
    ),
    "backfill": (
        ("locklens backfill --dry-run --max-rate 50MB registry", "what it would fetch, and how long that takes"),
        ("locklens backfill --max-rate 50MB --shard 3/20 registry", "the third of twenty jobs of a pipeline"),
        ("locklens backfill --scheduler tcp://10.0.0.5:8786 registry", "on the workers of a Dask cluster"),
    ),
    "undo": (("locklens undo --dry-run", "what would be reverted"),),
    "completion": (
        ("locklens completion bash", 'in ~/.bashrc: eval "$(locklens completion bash)"'),
        ("locklens completion zsh", "into the file _locklens, in a folder of $fpath"),
        ("locklens completion fish", "into ~/.config/fish/completions/locklens.fish"),
    ),
    "explain": (
        ("locklens explain LK001", "one finding"),
        ("locklens explain h1-missing", "a cause that doctor names"),
    ),
    "demo": (
        ("locklens demo", "open the sample"),
        ("locklens demo --serve --port 8443", "only its registry, for any tool"),
        ("locklens demo --serve --metadata registry", "a clone of the OpenTofu registry, as backfill completed it"),
        ("locklens demo --incident republished", "what doctor says of a failed init"),
    ),
    "cache": (("locklens cache info", "place, size and contents"),),
    "version": (("locklens version", "the version, also --version"),),
}


def example_lines(command: str) -> list[str]:
    """Return the lines of the examples of a command."""
    lines = []
    for line, purpose in EXAMPLES[command]:
        lines += [f"  {line}", f"      {purpose}"]
    return lines
