"""Judges copies of a package beside the entry, whichever place they are in. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor import locked_states
from locklens.doctor.examined import zh_of_packages
from locklens.doctor.model import Basis, CauseVerdict, Judgement, PackagePath
from locklens.text import counted, listing, shell_word

if TYPE_CHECKING:
    from locklens.doctor import FoundPackage
    from locklens.doctor.examined import Examined

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

ASK_PLATFORM = "the platform of the machine with the error: --platform OS_ARCH"

ASK_HASH = "the package's hash. Run this on the failing machine and pass it with --package"

HASH_ON_RUNNER = (
    "(cd DIR && find . -type f | sed 's|^[.]/||' | LC_ALL=C sort | xargs sha256sum | openssl dgst -sha256 -binary"
    " | openssl base64 | sed 's|^|h1:|')"
)
"""Prints the `h1` of the unpacked package in DIR with what a runner has: the digest of the sorted list of digests."""


def unknown_copy(x: Examined, words: str) -> Judgement:
    """Return the cause where its copy is not at hand, with the command that prints its hash on the runner."""
    place = x.message.place or "DIR"
    if place.endswith("/providers") and x.entry is not None:  # of all packages; the hash is of one
        versions = {x.entry.version, *(one.entry.version for one in x.others if one.root in x.fitting)}
        version = x.message.version or (x.entry.version if len(versions) == 1 else "VERSION")
        place = f"{place}/{x.entry.address}/{version}/{x.platform or 'OS_ARCH'}"
    command = HASH_ON_RUNNER.replace("DIR", shell_word(place), 1)
    return Judgement(_UNKNOWN, words, ASK_HASH, x.today.as_of, command=command, basis=Basis.GUESS)


def moved_aside(x: Examined, *kinds: str) -> Judgement | None:
    """Judge the package that a fix moved aside, where no other one has taken its place; None without one.

    It tells of the failing run alone: what is not there any more stops no other one.
    """
    one = x.places.moved
    if one is None or one.kind not in kinds or x.error is None:
        return None
    judged, now = judged_copies(x, (replace(one, path=f"{one.path}, which was moved aside,"),)), _NOTHING_NOW[one.kind]
    title = f"{_NAMES[one.kind]} that was moved aside is not the locked package"
    if judged.is_probable:
        return replace(judged, evidence=f"{judged.evidence}; {now}", title=title)
    return Judgement(_LIKELY, f"{one.path} was moved aside, and {now}", basis=Basis.HERE, title=title)


_NOTHING_NOW = {
    "installed": "nothing is installed in its place: run init",
    "plugin-cache": "nothing is in its place in the plugin cache: run init",
    "mirror": "no mirror here has the package: init fails until one is filled",
}
"""What is so after a package was moved aside, and the next step, by the kind of its place."""


def judged_copies(x: Examined, found: tuple[FoundPackage, ...]) -> Judgement:
    """Judge copies of the package: the worst one counts, and is of the failing run where the user named it as that."""
    given = tuple(one for one in found if one.is_of_run)
    judged = ((judged_copy(x, one), one) for one in given or found)
    worst, copy = min(judged, key=lambda pair: pair[0].rank)
    if x.error is not None and worst.verdict is _NO and copy.kind in {"mirror", "plugin-cache"}:
        # It may have been exchanged since the run, or be another machine's.
        return replace(worst, verdict=_UNKNOWN, basis=Basis.HERE, missing=_ASK_PACKAGE)
    return _of_assumed_platform(x, copy, _of_the_run(x, given, worst))


def _of_assumed_platform(x: Examined, copy: FoundPackage, judged: Judgement) -> Judgement:
    """Return what is said about a copy, which is likely at most where its platform is assumed to be the failing one."""
    if x.error is None or x.platform or not copy.platform or copy.kind == "given":
        return judged
    words = f"{judged.evidence}; that the failing run was on {copy.platform} is assumed"
    if judged.verdict is _YES:
        return replace(judged, verdict=_LIKELY, evidence=words, missing=ASK_PLATFORM)
    if judged.verdict is _NO and copy.is_of_root:
        return judged  # what it means beside the message is another question
    if judged.verdict is _NO:
        return replace(judged, verdict=_UNKNOWN, evidence=words, missing=judged.missing or ASK_PLATFORM)
    return replace(judged, evidence=words)


def _of_the_run(x: Examined, given: tuple[FoundPackage, ...], worst: Judgement) -> Judgement:
    """Return the judgement of the worst copy as one about the failing run."""
    if x.error is None or (given and (x.is_path_of_run or worst.verdict is not _YES)):
        return worst
    if worst.verdict is _YES and any(one.kind == "given" for one in given):
        words = f"{worst.evidence}; where it came from is not known"
        return replace(worst, verdict=_LIKELY, evidence=words, missing="the origin of the package: --install-path")
    if worst.verdict is _YES:
        words = f"{worst.evidence}; that the failing run installed it is not known"
        return replace(worst, verdict=_LIKELY, evidence=words, missing=_ASK_PACKAGE)
    return replace(worst, basis=Basis.HERE, missing=_ASK_PACKAGE) if worst.verdict is _NO else worst


_ASK_PACKAGE = "the package of the failing run: --package PATH|HASH, or its place: --mirror, --plugin-cache"


def _source_of_expected(x: Examined, platform: str) -> str:
    """Return what the `h1` in `expected` is of, in words."""
    zh = x.today.platforms.get(platform, "")
    if x.today.case is not None and (
        x.today.case.hashed.get(zh) or any(one.zh == zh for one in x.places.packages if zh)
    ):
        return f"the {'signed ' if x.today.is_signed else ''}package of {platform}"
    if any(one.platform == platform and one.zh in x.packed for one in x.places.packages):
        return f"the package of {platform} whose zip file is locked"
    return f"the package of {platform} that the registry reports"


def judged_copy(x: Examined, one: FoundPackage) -> Judgement:
    """Judge one copy by its hashes: beside the locked ones, those of the release, and those of other states."""
    name = _name_of(x, one)
    not_locked = f"{name} is not the locked package"
    where = one.path
    if one.is_left:
        words = f"{where} was not hashed: there are more copies than are hashed in one run"
        return Judgement(_UNKNOWN, words, "its hash: name its root alone with -- ROOT", x.today.as_of, basis=Basis.HERE)
    if one.problem:
        words = f"{where} cannot be hashed: {one.problem}"
        title = f"{name} is no package that can be unpacked"
        verdict = _YES if one.is_damaged else _UNKNOWN
        return Judgement(
            verdict, words, "" if one.is_damaged else "its hash", x.today.as_of, basis=Basis.HERE, title=title
        )
    if one.hashes & x.locked:
        return Judgement(_NO, f"{where} has a locked hash ({short(min(one.hashes & x.locked))})", as_of=x.today.as_of)
    if (edited := x.origins.edited) is not None and edited.was in one.hashes:
        words = f"{where} is what commit {edited.commit[:12]} locks ({short(edited.was)}), before it was edited"
        return Judgement(_NO, words, as_of=x.today.as_of)
    platform = one.platform or x.platform
    expected = x.expected.get(platform)
    if (one.zh and one.zh in x.today.listed) or (expected is not None and expected in one.hashes):
        shown = short(one.zh or one.shown_hash)
        words = f"{where} is the package of the release ({shown}): the lock file lacks its hash"
        return Judgement(_NO, words, as_of=x.today.as_of)
    shown = short(one.shown_hash)
    files = f"; {listing(list(one.differing), 5)}" if one.differing else ""
    if one.lacks_program:
        words = f"{where} has no file terraform-provider-*, as each package of a provider has{files}"
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=f"{name} {WITHOUT_PROGRAM}")
    if (one.zh and x.today.is_known) or expected is not None:
        is_sure = platform in x.computed or (one.zh != "" and x.today.is_known)
        if expected is not None:
            words = f"{where} is {shown}, and {_source_of_expected(x, platform)} is {short(expected)}{files}"
        else:
            words = f"{where} is {short(one.zh)}, which {x.sums} does not have{files}"
        return Judgement(_YES if is_sure else _LIKELY, words, as_of=x.today.as_of, basis=Basis.HASHES)
    if platform and platform in x.attributed.values():
        words = f"{where} is {shown}, and the locked h1 of {platform} is another{files}"
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=not_locked)
    return replace(_untold_copy(x, one, platform, files), is_by_download=x.is_told_by_download(platform))


WITHOUT_PROGRAM = "is incomplete: it lacks the provider's program"


def _untold_copy(x: Examined, one: FoundPackage, platform: str, files: str) -> Judgement:
    """Judge a copy that is not locked, where the `h1` of the release's package is not known."""
    not_locked, where, shown = f"{_name_of(x, one)} is not the locked package", one.path, short(one.shown_hash)
    hashing = x.shell.command_line("hashes", "--prove", "all", *words_of_root(x))
    missing = f"the h1 of the signed package of {platform or 'its platform'}: `{hashing}`"
    if place := locked_elsewhere(x, one):
        words = f"{where} is {shown}, which is not locked here; {place} locks it"
        return Judgement(_UNKNOWN, words, missing, x.today.as_of)
    if one.later and one.kind == "installed":
        newer = listing(list(one.later), 5)
        words = f"{where} is {shown}, which is not locked; newer than the folder of the version, by its time: {newer}"
        return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.HASHES)
    words = f"{where} is {shown}, which is not locked{files}"
    if one in x.folders_without_h1:  # init accepts the package by its zh, and the folder has none
        words = f"{words}; the zh of {platform or 'its platform'} {'is' if x.today.is_known else 'may be'} locked, and"
        words = f"{words} {counted(len(x.unpacked), 'h1', 'h1')}, which may be of other platforms"
        if x.error is None:
            return Judgement(_UNKNOWN, words, missing, x.today.as_of)
        # The run refused it: it was altered, or its h1 is not locked, and nothing here tells which of the two.
        return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.GUESS, title=not_locked)
    # Of a release that is not known, nothing tells which of the copy and the lock file is right.
    others = set(x.attributed.values()) - {platform}
    if others and len(x.attributed) == len(x.unpacked) and not (one.zh and x.packed):
        words += f"; the locked h1 are of {listing(sorted(others))}"
        return Judgement(_UNKNOWN, words, missing, x.today.as_of)
    if one.kind == "mirror" and not one.zh and len(x.unpacked) < len(x.packed) and x.is_platform_assumed:
        words += (
            f"; {counted(len(x.unpacked), 'h1', 'h1')} beside {zh_of_packages(len(x.packed))} may be of other platforms"
        )
        return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.GUESS, title=not_locked)
    return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.HASHES, title=not_locked)


_NAMES = {
    "mirror": "the mirror's copy",
    "plugin-cache": "the plugin cache's copy",
    "installed": "the installed package",
    "given": "the given package",
}
"""Kinds of places of copies in words."""


def _name_of(x: Examined, one: FoundPackage) -> str:
    """Return what a copy is called: one that was given as what the failing run had installed is the installed one."""
    is_installed = one.kind == "given" and x.incident.path is PackagePath.INSTALLED
    return _NAMES["installed" if is_installed else one.kind]


def locked_elsewhere(x: Examined, copy: FoundPackage) -> str:
    """Return the commit or the other lock file that has a hash of a copy's files for this version; "" if none has."""
    states = [(f"commit {commit[:12]}", entry) for commit, entry in locked_states(x.history.states)]
    states += [(one.lock_file, one.entry) for one in x.others]
    same = ((place, entry) for place, entry in states if x.entry is not None and entry.version == x.entry.version)
    return next((place for place, entry in same if copy.of_files & entry.accepted), "")


def words_of_root(x: Examined) -> tuple[str, ...]:
    """Return the words of a command line that name the root, where it is known and not the current folder."""
    return ("--", x.incident.root) if x.incident.root not in {None, "."} else ()


def short(text: str) -> str:
    """Return the beginning of a hash."""
    return f"{text[:11]}..." if len(text) > 14 else text or "not known"
