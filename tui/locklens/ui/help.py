"""The help of each screen's keys, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.words import SIGN_MEANINGS
from locklens.ui.explained import MEANINGS
from locklens.ui.hash_detail import PROOFS
from locklens.ui.keyboard import UNSUPPORTED, KeyTable
from locklens.ui.keyboard.hashes import HASHES
from locklens.ui.keyboard.preview import PREVIEW
from locklens.ui.keyboard.review import REVIEW
from locklens.ui.keyboard.signers import SIGNERS
from locklens.ui.keyboard.upgrade import UPGRADE
from locklens.ui.keyboard.why import WHY
from locklens.ui.signing import TIERS
from locklens.ui.spans import Line, Role, Span, heading, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WIDTH = 18


def review_help() -> Iterator[Line]:
    """The review's keys, then the signs, the words for hashes, and the filter's words."""
    yield from _key_lines(REVIEW)
    others = {
        "?": "a finding about the root itself",
        "<": "a conflict that git left",
        "✓": "reviewed",
        "·": "not reviewed yet",
        "-": "removed; as a mark: some of the roots are reviewed",
    }
    yield from _section("WHAT UPPER CASE IS FOR", _DECIDING)
    yield from _section("SIGNS", {**SIGN_MEANINGS, **others})
    yield from _section("HASHES EXPLAINED, the last column", MEANINGS)
    yield from _section("PROOF OF A HASH", PROOFS)
    yield from _section("SIGNED BY", _TIERS)
    yield from _section("FILTER", _REVIEW_FILTER)


def signers_help() -> Iterator[Line]:
    """The keys of the screen of signers, and its words."""
    yield from _key_lines(SIGNERS)
    yield from _section("SIGNED BY", _TIERS)


def preview_help() -> Iterator[Line]:
    """The keys of the Preview, and its signs."""
    yield line("Nothing is on disk before enter. Then each file is replaced in one step, all of them or none,")
    yield line("and Z on any screen undoes it, also in a later run, as long as the files are still the ones written.")
    yield line()
    yield from _key_lines(PREVIEW)
    yield from _section("STEPS", {"ok": "done", "..": "going on", "--": "still to come", "!!": "failed"})
    yield from _section("SIGNS", SIGN_MEANINGS)


def why_help() -> Iterator[Line]:
    """The keys of the answer to why a provider is there."""
    yield from _key_lines(WHY)


def hashes_help() -> Iterator[Line]:
    """The keys of the screen of hashes, its columns and its words."""
    yield from _key_lines(HASHES)
    yield from _section("COLUMNS", _HASH_COLUMNS)
    yield from _section("PROOF OF A HASH", PROOFS)
    yield from _section("INSTALL PATHS", _INSTALL_PATHS)
    yield from heading("WANTED PLATFORMS, in locklens.toml at the repository's top; that of the last commit counts")
    for text in _POLICY_SAMPLE:
        yield line(Span(f"  {text}", Role.PLACE), copied=text)
    yield from _section("FILTER", _HASH_FILTER)


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


def upgrade_help() -> Iterator[Line]:
    """The keys of the screen of upgrades, and its words."""
    yield from _key_lines(UPGRADE)
    yield from _section("IN THE LIST", _UPGRADE_SIGNS)
    yield from _section("SIGNER, against that of the locked version", _UPGRADE_SIGNERS)
    yield from _section("SIGNED BY", _TIERS)


_UPGRADE_SIGNS = {
    "[x] [ ] [-]": "chosen, not chosen, chosen in some of the roots",
    "-": "there is no version to choose: right steps to one that needs an edited constraint",
    "*": "the configuration excludes the version: its constraint is edited, which Preview shows",
    "in range": "the newest version that the constraints admit as they are: what init -upgrade would select",
    "newest": "the newest release there is",
    "age": "days since the release, as the registry says, unsigned; ? where it does not say",
    "held by": "what keeps it from the newest version: a constraint with its line, the cooldown, or how far it may go",
}
_UPGRADE_SIGNERS = {
    "partner =": "the same key",
    "NEW KEY": "another key; the detail has both",
    "NOT SIGNED": "nobody signed it, and somebody signed the locked version",
    "partner +": "signed, and the locked version was not",
    "REFUSED": "the tool would refuse it",
    "?": "not known; the detail says why",
}
_DECIDING = {
    "R P F L": "the highlighted row, or all of the highlighted group, root or section, whatever is marked",
    "S": "what is marked, wherever the cursor is: a mark says that a change was reviewed",
    "Preview": "each of them shows first what it would write, and nothing is on disk before enter there",
}
_TIERS = {tier.value: meaning for tier, meaning in TIERS.items()}
_REVIEW_FILTER = {
    "text": "in provider, root, version, finding, file, hash or signer",
    "sev>=warn": "warnings and worse; also sev:block, sev<=info, sev:ok",
    "kind:upgrade": "and the other kinds: downgrade, new, removed, moved, constraints, replaced",
    "root:prod": "the root's path has this in it",
    "provider:aws": "the provider's address has this in it",
    "rule:LK005": "has a finding of this rule",
    "proof:unknown": "an added hash has this proof; proof:stale also finds those that went or stayed",
    "unreviewed": "not marked yet; reviewed is the opposite",
    "-word": "anything but that",
}


def _key_lines(table: KeyTable) -> Iterator[Line]:
    for group in table.groups:
        yield line(Span(group.title.upper(), Role.HEADING))
        if group.title == UNSUPPORTED.title:
            yield line(
                Span("  These keys answer that they are not supported yet. Upper case will plan a write.", Role.DIM),
                hanging=2,
            )
        yield from (_entry(key.shown, key.words) for key in group.keys)
        yield line()
    yield line(Span("MOUSE", Role.HEADING))
    yield _entry("click", "a row, its fold sign, its mark, a tab, a key below")
    yield _entry("double click", "open the detail")


def _section(title: str, meanings: Mapping[str, str]) -> Iterator[Line]:
    yield from heading(title)
    yield from (_entry(word, meaning) for word, meaning in meanings.items())


def _entry(what: str, words: str) -> Line:
    return line("  ", Span(what.ljust(_WIDTH), Role.STRONG), words, hanging=_WIDTH + 2)
