"""Help of the Hashes screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.lines import Line, Role, Span, heading, line
from locklens.ui.hashes.keys import HASHES_KEYS
from locklens.ui.shell.help import help_section, key_help
from locklens.ui.text.evidence import PROOFS

if TYPE_CHECKING:
    from collections.abc import Iterator


def hashes_help() -> Iterator[Line]:
    """The keys, the columns and the terms of the Hashes screen."""
    yield from key_help(HASHES_KEYS)
    yield from help_section("COLUMNS", _HASH_COLUMNS)
    yield from help_section("PROOF OF A HASH", PROOFS)
    yield from help_section("INSTALL PATHS", _INSTALL_PATHS)
    yield from heading("REQUIRED PLATFORMS  in locklens.toml at the repository's top, as of the last commit")
    for text in _POLICY_SAMPLE:
        yield line(Span(f"  {text}", Role.PLACE), copied=text)
    yield from help_section("FILTER", _HASH_FILTER)


_HASH_COLUMNS = {
    "3/4": "3 of 4 required platforms (or else known platforms) can be installed on every path",
    "3/4?": "the state of some others is unknown",
    "5 of 10": "5 of 10 locked hashes are verified: signed, computed or reported",
    "x": "marked for v and L; - for some of a root's providers",
    "…": "registry lookup in progress",
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


_HASH_FILTER = {
    "text": "found in provider, version, root, finding, platform, proof or hash",
    "not-covered": "a required platform cannot be installed on some path",
    "unverified": "not all hashes are verified",
    "unknown": "a hash with this proof; also stale, computed, signed",
    "-word": "excludes the word",
}
