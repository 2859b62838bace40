"""Help of the Hashes screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.hashes.keys import HASHES_KEYS
from locklens.ui.shell.help import help_section, key_help
from locklens.ui.text.evidence import PROOFS
from locklens.ui.text.spans import Line, Role, Span, heading, line

if TYPE_CHECKING:
    from collections.abc import Iterator


def hashes_help() -> Iterator[Line]:
    """The keys of the screen of hashes, its columns and its words."""
    yield from key_help(HASHES_KEYS)
    yield from help_section("COLUMNS", _HASH_COLUMNS)
    yield from help_section("PROOF OF A HASH", PROOFS)
    yield from help_section("INSTALL PATHS", _INSTALL_PATHS)
    yield from heading("WANTED PLATFORMS, in locklens.toml at the repository's top; that of the last commit counts")
    for text in _POLICY_SAMPLE:
        yield line(Span(f"  {text}", Role.PLACE), copied=text)
    yield from help_section("FILTER", _HASH_FILTER)


_HASH_COLUMNS = {
    "3/4": "3 of 4 wanted platforms install on every path; without wanted ones: of those that are known",
    "3/4?": "and of some of the others nobody knows",
    "5 of 10": "5 of 10 locked hashes are explained: signed, computed or reported",
    "x": "marked for v and L; - some of a root's providers are",
    "…": "the registry is being asked",
}


_INSTALL_PATHS = {
    "direct": "from the registry: a platform's zh or h1 is enough",
    "plugin-cache": "unpacked packages that several roots share: a platform's h1 alone counts",
    "packed-mirror": "a network mirror, or a folder of zip files: its zh or h1 is enough",
    "unpacked-mirror": "a folder of unpacked packages: its h1 alone counts",
}


_POLICY_SAMPLE = (
    'install_paths = ["direct", "plugin-cache"]',
    "[platforms]",
    'linux_amd64 = "CI, production"',
    'darwin_arm64 = "laptops"',
)


_HASH_FILTER = {
    "text": "in provider, version, root, finding, platform, proof or hash",
    "not-covered": "a wanted platform does not install on some path",
    "not-proven": "not all of its hashes are explained",
    "unknown": "has a hash with this proof; also stale, computed, signed",
    "-word": "anything but that",
}
