"""Help of the Hashes screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, heading, line
from locklens.operations.verification.judging import PackageVerdict
from locklens.review.reports.evidence_lines import PROOFS
from locklens.ui.hashes.keys import HASHES_KEYS
from locklens.ui.hashes.packages import PACKAGE_WORDS
from locklens.ui.hashes.rows import HASHES_GRAMMAR
from locklens.ui.shell.help import help_section, key_help

if TYPE_CHECKING:
    from collections.abc import Iterator


def hashes_help() -> Iterator[Line]:
    """The keys, the columns and the terms of the Hashes screen."""
    yield from key_help(HASHES_KEYS)
    yield from help_section("COLUMNS", _HASH_COLUMNS)
    yield from help_section("PROOF OF A HASH", PROOFS)
    yield from help_section("PACKAGES ON THIS MACHINE, after p", _PACKAGES)
    yield from help_section("INSTALL PATHS", _INSTALL_PATHS)
    yield from heading("REQUIRED PLATFORMS  in locklens.toml at the repository's top, as of the last commit")
    for text in _POLICY_SAMPLE:
        yield line(Span(f"  {text}", Role.PLACE), copied=text)
    yield from help_section("FILTER", HASHES_GRAMMAR.meanings)


_HASH_COLUMNS = {
    "3/4": "3 of 4 required platforms (or else known platforms) can be installed on every path",
    "3/4?": "the state of some others is unknown",
    "5 of 10": "5 of 10 locked hashes are not verified: neither signed, nor computed from a signed package",
    "×87": "87 roots have the same entry, with the same proof: v, p, L and marks act on all of them; l shows them",
    "+3 shared": "3 more entries of this root are in other roots too, and listed there",
    "x": "marked for v, p and L; - for some of a row's providers or roots",
    "…": "registry lookup in progress",
}


_VERDICTS = {verdict: word for verdict, (word, _) in PACKAGE_WORDS.items()}
_PACKAGES = {
    _VERDICTS[PackageVerdict.MATCHES]: "a hash of the package is locked",
    _VERDICTS[
        PackageVerdict.DIFFERS
    ]: "no hash of it is locked: the files that differ are named where a good copy is here",
    _VERDICTS[PackageVerdict.MISSING]: "locked, but not in .terraform/providers",
    _VERDICTS[PackageVerdict.UNREADABLE]: "damaged or not readable, or a mirror without a usable answer",
    _VERDICTS[PackageVerdict.UNLOCKED]: "the lock file has no hash that could be compared with it",
    "installed": "in the root's .terraform/providers, or TF_DATA_DIR",
    "plugin-cache": "in plugin_cache_dir of the CLI configuration",
    "mirror": "a filesystem_mirror; of a network_mirror the hashes that it lists",
}


_INSTALL_PATHS = {
    "direct": "from the registry: needs a platform's zh or h1",
    "plugin-cache": "unpacked packages shared by several roots: needs a platform's h1",
    "packed-mirror": "a network mirror, or a folder of zip files: needs zh or h1",
    "unpacked-mirror": "a folder of unpacked packages: needs h1",
}


_POLICY_SAMPLE = (
    'install_paths = ["direct", "plugin-cache"]',
    "[platforms]",
    'linux_amd64 = "CI, production"',
    'darwin_arm64 = "laptops"',
)
