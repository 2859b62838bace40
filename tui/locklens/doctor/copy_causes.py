"""Causes in copies of packages, in mirrors, caches and data folders: each function tests one, or returns None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor import locked_states
from locklens.doctor.examined import zh_of_packages
from locklens.doctor.model import Basis, CauseVerdict, Judgement, PackagePath
from locklens.text import counted, listing, shell_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.doctor import FoundPackage
    from locklens.doctor.examined import Examined
    from locklens.lockfile import LockEntry

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

ASK_PLATFORM = "the platform of the machine with the error: --platform OS_ARCH"

ASK_HASH = "the package's hash. Run this on the failing machine and pass it with --package"

HASH_ON_RUNNER = (
    "(cd DIR && find . -type f | sed 's|^[.]/||' | LC_ALL=C sort | xargs sha256sum | openssl dgst -sha256 -binary"
    " | openssl base64 | sed 's|^|h1:|')"
)
"""Prints the `h1` of the unpacked package in DIR with what a runner has: the digest of the sorted list of digests."""


_OF_ANY_PATH = frozenset({"current-package", "package-mismatch"})
"""Errors of a package that may have come from a registry or from a mirror."""


def mirror_differs(x: Examined) -> Judgement | None:
    """Test if a mirror's copy is the release's package."""
    path = x.incident.path
    if path is not None and not path.is_mirror:
        return None
    if x.message.kind == "oci-artifact":
        title = "what the tag in the OCI registry names is no provider that OpenTofu installs"
        return Judgement(_YES, "the message says so", basis=Basis.RUN, title=title)
    kinds = ("mirror",) if x.error is None and path is None else ("given", "mirror")
    found = tuple(one for one in x.of_kind(*kinds) if x.error is not None or x.is_first(one))
    broken = next((one for one in found if one.is_damaged and x.message.is_of_local_file and one.is_of_run), None)
    if broken is not None:
        words = f"the message names {broken.path}, and here it cannot be hashed either: {broken.problem}"
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.RUN)
    if found:
        return _copy(x, found)
    if x.error is None:
        return _of_unknown_origin(x) or _served(x) or _unasked(x)
    if (moved := _moved(x, "mirror")) is not None:
        return moved
    if x.places.replaced and not x.places.asks_registry:
        words = (
            f"{x.places.replaced} was moved aside, and no mirror here has the package: init fails until one is filled"
        )
        return Judgement(_LIKELY, words, basis=Basis.HERE)
    if path is None and x.message.kind in _OF_ANY_PATH and not x.of_kind("mirror"):
        return _of_any_origin(x)
    if x.message.kind == "mirror-checksum":
        return _served(x) if x.today.served is not None and x.today.served.is_read else _of_index(x)
    if path is not None and path.is_on_server:
        return _served(x) or _unknown_file(x)
    return _unknown_copy(x, "the mirror's copy is not at hand")


def unsigned_beside(x: Examined) -> list[LockEntry]:
    """Return the entries of other providers that the failing run installed and called unauthenticated, as locked here.

    It says so of what comes from a mirror: of a registry's package it names the signature.
    """
    entries = {f"{entry.address.short(x.tool.default_host)} {entry.version}": entry for entry in x.lock.entries}
    found = (entries.get(name.removeprefix(f"{x.tool.default_host}/")) for name in x.message.unsigned)
    return [entry for entry in found if entry is not None and entry.address != x.address]


def _of_any_origin(x: Examined) -> Judgement:
    """Judge a package of which neither the message nor a setting tells whether it came from a mirror.

    One that is not of today's release, which is the locked one, is not likely a registry's where others of the run were
    a mirror's.
    """
    missing = "the origin of the package: --install-path, and its hash: --package FILE"
    names = [f"{entry.address.short(x.tool.default_host)} {entry.version}" for entry in unsigned_beside(x)]
    if not names:
        return Judgement(_UNKNOWN, "whether a mirror was used is not known", missing, basis=Basis.GUESS)
    words = f"the run installed {listing(names, 3)} (unauthenticated), as the tools say of what a mirror gives"
    if x.met_release and not x.stale:
        words = f"{words}; that of {x.release} was not of today's release, which is the locked one"
        return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.RUN)
    return Judgement(_UNKNOWN, f"{words}; whether {x.release} came from one is not known", missing, basis=Basis.GUESS)


def _of_unknown_origin(x: Examined) -> Judgement | None:
    """Return what is said of a package that was handed in without a log or an origin, and is not the locked one."""
    given = x.of_kind("given")
    judged = _copy(x, given) if given else None
    if judged is None or not judged.is_probable:
        return None
    words = f"{judged.evidence}; where it came from is not known"
    return replace(judged, verdict=_UNKNOWN, evidence=words, missing="the origin of the package: --install-path")


def _served(x: Examined) -> Judgement | None:
    """Judge the hashes that a mirror on a server lists now, which nothing tells to be those of the failing run."""
    one = x.today.served
    if one is None or one.problem:
        return None
    if not one.zh and x.packed and _judged_copy(x, one).verdict is _LIKELY:
        words = f"{one.path} is {short(one.shown_hash)}, which is not locked; its zip file may be one that is"
        return Judgement(_UNKNOWN, words, _OF_SERVER, x.today.as_of, basis=Basis.HERE)
    return _copy(x, (one,))


def _unasked(x: Examined) -> Judgement | None:
    """Return that nothing is known about the mirrors on servers which the settings name; None where they name none."""
    if not x.places.servers or x.entry is None:
        return None
    problem = f": {x.today.served.problem}" if x.today.served is not None else ", which is not asked here"
    words = f"init would ask {listing([one.place for one in x.places.servers], 2)}{problem}"
    return Judgement(
        _UNKNOWN, words, "its packages", command=x.shell.command_line("verify", *words_of_root(x)), basis=Basis.HERE
    )


def _unknown_file(x: Examined) -> Judgement:
    """Return the cause where a mirror on a server has the copy: a file, which no command finds in a folder."""
    words, missing = "the mirror's copy is not at hand", _OF_SERVER
    if x.places.servers and x.entry is not None:
        problem = f": {x.today.served.problem}" if x.today.served is not None else ""
        words = f"{words}; the settings here name {listing([one.place for one in x.places.servers], 2)}{problem}"
        missing = f"{missing}; {x.shell.command_line('verify', *words_of_root(x))} compares what it serves now"
    return Judgement(_UNKNOWN, words, missing, x.today.as_of, basis=Basis.GUESS)


_OF_SERVER = "the zip file that the mirror serves: --package FILE, or --package zh:HASH"


def _of_index(x: Examined) -> Judgement:
    """Judge a package that does not have the hash which the index of its mirror names."""
    is_asked = x.today.served is not None
    missing = f"what it gives now (--prove changed downloads it), or {_OF_SERVER}" if is_asked else _OF_SERVER
    if (named := x.named_and_locked) and x.entry is not None:
        words = f"the mirror's index names {short(named)}, which is locked, and the package that arrived is another one"
        return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.HASHES, is_by_download=is_asked)
    words = "the message says so: the mirror's index names a hash that is not locked, and its package does not have it"
    return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.RUN, is_by_download=is_asked)


def _unknown_copy(x: Examined, words: str) -> Judgement:
    """Return the cause where its copy is not at hand, with the command that prints its hash on the runner."""
    place = x.message.place or "DIR"
    if place.endswith("/providers") and x.entry is not None:  # of all packages; the hash is of one
        versions = {x.entry.version, *(one.entry.version for one in x.others if one.root in x.fitting)}
        version = x.message.version or (x.entry.version if len(versions) == 1 else "VERSION")
        place = f"{place}/{x.entry.address}/{version}/{x.platform or 'OS_ARCH'}"
    command = HASH_ON_RUNNER.replace("DIR", shell_word(place), 1)
    return Judgement(_UNKNOWN, words, ASK_HASH, x.today.as_of, command=command, basis=Basis.GUESS)


def cache_differs(x: Examined) -> Judgement | None:
    """Test if the plugin cache's copy is the release's package."""
    is_named = x.incident.path is PackagePath.PLUGIN_CACHE
    found = x.of_kind("plugin-cache", "given") if is_named else x.of_kind("plugin-cache")
    if is_named and x.message.kind == "cached-modified":
        return _modified_cache(x, tuple(one for one in found if one.is_of_run))
    if found:
        return _copy(x, found)
    if is_named:
        return _moved(x, "plugin-cache") or _unknown_copy(x, "the cache's copy is not at hand")
    return None


def _modified_cache(x: Examined, found: tuple[FoundPackage, ...]) -> Judgement:
    """Judge the folder in the plugin cache that the message says to differ; `found` is it, as far as it is here.

    The package that it differs from was accepted by the lock file before.
    """
    says = "the message says that the cache's copy is not the package that was fetched"
    if found:
        judged = _copy(x, found)
        if not judged.is_probable or judged.basis is not Basis.HASHES:
            return judged
        return replace(judged, verdict=_YES, evidence=f"{says}; {judged.evidence}", missing="")
    if (moved := _moved(x, "plugin-cache")) is not None:
        return moved
    return replace(_unknown_copy(x, says), verdict=_LIKELY, basis=Basis.RUN)


def _moved(x: Examined, *kinds: str) -> Judgement | None:
    """Judge the package that a fix moved aside, where no other one has taken its place; None without one.

    It tells of the failing run alone: what is not there any more stops no other one.
    """
    one = x.places.moved
    if one is None or one.kind not in kinds or x.error is None:
        return None
    judged, now = _copy(x, (replace(one, path=f"{one.path}, which was moved aside,"),)), _NOTHING_NOW[one.kind]
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


def _copy(x: Examined, found: tuple[FoundPackage, ...]) -> Judgement:
    """Judge copies of the package: the worst one counts, and is of the failing run where the user named it as that."""
    given = tuple(one for one in found if one.is_of_run)
    judged = ((_judged_copy(x, one), one) for one in given or found)
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


def _judged_copy(x: Examined, one: FoundPackage) -> Judgement:
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
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=f"{name} {_WITHOUT_PROGRAM}")
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


_WITHOUT_PROGRAM = "is incomplete: it lacks the provider's program"


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


_OF_FOLDERS = frozenset({"cached-package", "cached-modified"})
_OF_MACHINE = "the program did not start for a reason outside of its package, which is the locked one here"
_OF_NOW = "the package that is installed now is altered"


def plugin_corrupted(x: Examined) -> Judgement | None:
    """Test if the installed folder is the locked package."""
    if x.message.kind == "plugin-not-executable":
        words = "the message says so: permission denied; its hash does not tell, which is of the files' contents alone"
        return Judgement(_YES, words, basis=Basis.RUN, title="the provider's program may not be executed there")
    if x.message.kind == "cached-modified" and x.incident.path is PackagePath.PLUGIN_CACHE:
        return Judgement(_NO, "the folder that the message names is in the plugin cache", basis=Basis.RUN)
    given = x.of_kind("given") if x.incident.path is PackagePath.INSTALLED else ()
    is_of_other = x.message.kind == "plugin-other-platform"
    own = (one for one in x.places.packages if one.is_of_root and (is_of_other or x.can_be_installed(one)))
    if (found := (*given, *own)) and x.entry is not None:
        return _of_installed(x, found)
    moved = _moved(x, "installed", "plugin-cache") if is_of_other or x.message.kind in _OF_FOLDERS else None
    if moved is not None:
        return moved
    match x.message.kind:
        case "cached-modified":
            return replace(_unknown_copy(x, "the message says so"), verdict=_LIKELY, basis=Basis.RUN)
        case "cached-package":
            place = "the installed folder is not at hand"
            place = "which root's installed folder it was is not known" if x.fitting else place
            words = f"the message says that its hash is not locked; {place}"
            return replace(_unknown_copy(x, words), verdict=_LIKELY if x.unpacked else _UNKNOWN, basis=Basis.RUN)
        case "plugin-other-platform":
            title = "the installed program is of another platform, or damaged"
            return Judgement(_LIKELY, "the message says so", ASK_HASH, basis=Basis.RUN, title=title)
        case _:
            return None


def _of_installed(x: Examined, found: Sequence[FoundPackage]) -> Judgement:
    """Judge folders that the failing run may have had installed: those whose package no commit locks are to blame."""
    blamed = [one for one in found if not x.origins.committed(one)]
    if not blamed:
        shown = f"{found[0].path} ({short(found[0].shown_hash)})"
        commit = x.origins.committed(found[0])[:12]
        return Judgement(_NO, f"{shown} is what commit {commit} locks: the entry changed")
    copy = _of_link(_copy(x, tuple(blamed)), blamed[0].cached)
    if copy.verdict is not _NO:
        return copy
    if x.places.replaced:
        words = f"{copy.evidence}; the folder that was there was moved aside"
        return replace(copy, evidence=words, basis=Basis.FILES, missing="", title=_OF_NOW)
    if not any(one.hashes & x.locked for one in blamed):
        return replace(copy, basis=Basis.HASHES, missing="")  # it is the release's, and so the message is explained
    if copy.basis is Basis.HERE and x.message.kind in _OF_FOLDERS and x.unpacked:
        states = x.origins.earlier_states
        if any(not any(one.hashes & state.accepted for one in blamed) for state in states):
            words = f"{copy.evidence} now, which an earlier state of the entry does not have"
            return replace(copy, verdict=_UNKNOWN, evidence=words, missing="the lock file of the failing run")
        since = f"{copy.evidence} now: it was replaced after the log, or the log is of another folder"
        words = f"the message says that its hash is not locked; {since}"
        return replace(copy, verdict=_LIKELY, evidence=words, basis=Basis.RUN)
    is_given = any(one.kind == "given" for one in found)
    if x.message.kind == "plugin-other-platform" or (x.message.kind == "plugin-failed" and not is_given):
        is_it = x.incident.path is PackagePath.INSTALLED  # and no folder of dev_overrides
        is_it &= any(one.platform in {"", x.platform_on_disk} for one in blamed)
        title = _OF_MACHINE if is_it else ""
        missing = "" if is_given else "whether the folder of the failing run has a locked hash, too: --package DIR"
        return replace(copy, verdict=_UNKNOWN, missing=missing, title=title)
    return copy


def _of_link(copy: Judgement, cached: str) -> Judgement:
    """Return the judgement of an installed folder; of a link into the plugin cache, it is one of the cache's folder."""
    if not cached or copy.verdict not in {_YES, _LIKELY}:
        return copy
    words = f"{copy.evidence}; it is a link to {cached} in the plugin cache, as those of other roots may be"
    is_not = _WITHOUT_PROGRAM if copy.title.endswith(_WITHOUT_PROGRAM) else "is not the locked package"
    return replace(copy, evidence=words, title=f"{_OF_LINK}, {is_not}")


_OF_LINK = "the plugin cache's copy, which the installed folder is a link to"


def _installed_here(x: Examined, own: FoundPackage) -> str:
    """Return what a folder of the root's installed packages has."""
    if x.entry is None or not own.hashes or own.hashes & x.locked:
        return f"here it is installed ({own.path})"
    return f"here another package is installed ({own.path}: {own.shown_hash}, which is not locked)"


def plugin_missing(x: Examined) -> Judgement | None:
    """Test if the locked package is installed."""
    if x.entry is None and (x.error is None or x.is_twin_missing):
        return None
    if x.message.kind == "override-missing":
        is_installed = x.entry is not None and f"{x.entry.address}/{x.entry.version}" in x.message.place
        place = f" {x.message.place}" if x.message.place else ""
        words = f"the message says so: no program was found in the folder{place}"
        title = f"dev_overrides of {x.name} names a folder without its program: the lock file is not asked"
        return Judgement(_LIKELY if is_installed else _YES, words, basis=Basis.RUN, title=title)
    found = [one for one in x.places.packages if one.is_of_root]
    if x.message.kind in {"plugin-missing", "plugins-not-installed"}:
        of_others = sorted({one.platform for one in found if one.platform != x.platform})
        here = f"; {_installed_here(x, found[0])}" if found else ""
        if x.platform and found and len(of_others) == len(found):
            here = f"; here it is installed for {listing(of_others)} alone"
        if x.lacking_modules:
            here = f"{here}{', and' if here else '; here'} {x.lacking_modules}"
        if x.is_twin_missing:
            return Judgement(_LIKELY, f"the message is of {x.message.provider}, and {x.release} is locked now{here}")
        if x.is_of_other_version:
            version = x.message.version
            words = f"the message is of {x.name} {version}, and {x.release} is locked{here}"
            return Judgement(
                _UNKNOWN, words, f"the lock file of the failing run, which locks {version}", basis=Basis.RUN
            )
        verdict = _YES if x.message.kind == "plugin-missing" else _LIKELY
        words = "the message says so: init did not run with this data folder (TF_DATA_DIR), or not since the change, or"
        words = f"{words} the folder was cleared{here}"
        return Judgement(verdict, words, basis=Basis.RUN)
    if found:
        return Judgement(_NO, f"installed in {found[0].path}")
    if x.error is None and x.is_unrequired:
        return Judgement(_NO, f"nothing in {x.where} requires {x.name}, so that init does not install it")
    if x.places.installed is not None and x.places.installed.is_there and x.error is None:
        return Judgement(_YES, f"{x.release} is locked, and not installed in {x.places.installed.shown}")
    return None


def module_missing(x: Examined) -> Judgement:
    """Judge what the message says of the modules in the folder of the failing run."""
    here = f"; here {x.lacking_modules}" if x.lacking_modules else ""
    words = f"the message says so: init did not run, or not since the call was changed{here}"
    return Judgement(_YES, words, basis=Basis.RUN)


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
