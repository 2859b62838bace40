"""Causes in the coverage of platforms: each function tests one, and returns None where it does not apply."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor import installed_causes, locked_states
from locklens.doctor.copy_causes import unsigned_beside
from locklens.doctor.edit_causes import without_hashes
from locklens.doctor.examined import WHOLE_LIST, zh_of_packages
from locklens.doctor.judged_copies import ASK_PLATFORM, locked_elsewhere, short, words_of_root
from locklens.doctor.model import Basis, CauseVerdict, Judgement, PackagePath
from locklens.doctor.selected_causes import platform_of_selected
from locklens.hashes import hashes_of_files, packages_of
from locklens.text import counted, listing

if TYPE_CHECKING:
    from locklens.doctor import PastEntry
    from locklens.doctor.examined import Examined

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO


def h1_missing(x: Examined) -> Judgement | None:
    """Test if the `h1` of the platform is locked, which a package in a folder needs."""
    if x.entry is None or x.origins.edited is not None:
        return None
    if not x.entry.hashes:
        return without_hashes(x)
    path, platform = x.incident.path, x.platform
    if path is not None and not path.is_unpacked:
        also = "alone" if path.only else "too"
        return Judgement(_NO, f"a package of the path {path} is accepted by its zh {also}")
    zhs = zh_of_packages(len(x.packed))
    if not x.unpacked:
        if x.message.kind == "lock-not-updated":
            words = f"no h1 of {x.release} is locked, and init adds that of the package which it installs"
            return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES)
        if path is None:
            return Judgement(_UNKNOWN, f"no h1 of {x.release} is locked", "the origin of the package: --install-path")
        words = f"no h1 of {x.release} is locked, only {zhs}, which do not count for an unpacked package"
        if x.message.kind == "local-package":
            words += "; init accepts that, so the failing run had another entry"
            return Judgement(_UNKNOWN, words, "the lock file of the failing run", x.today.as_of)
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES)
    if not platform and x.places.machine in x.attributed.values():
        words = f"an h1 of {x.places.machine} is locked; that the failing run was on {x.places.machine} is assumed"
        return Judgement(_UNKNOWN, words, ASK_PLATFORM, x.today.as_of)
    if not platform:
        few = len(x.unpacked) < len(x.packed)
        h1s = counted(len(x.unpacked), "h1", "h1")
        words = f"only {h1s} locked beside {zhs}: an h1 is needed for each platform" if few else f"{h1s}, {zhs} locked"
        copies = [one for one in x.of_kind("given", "mirror", "plugin-cache") if not one.lacks_program]
        has_folder = x.folders_without_h1 or copies
        is_likely = few and bool(has_folder)  # else any other cause fits as well
        verdict = _LIKELY if is_likely else _UNKNOWN
        return _beside_others(x, Judgement(verdict, words, ASK_PLATFORM, x.today.as_of, basis=Basis.GUESS))
    if platform in x.attributed.values():
        return Judgement(_NO, f"an h1 of {platform} is locked", as_of=x.today.as_of)
    if platform in x.computed or len(x.attributed) == len(x.unpacked):
        words = f"no h1 of {platform} is locked for {x.release}{_attributed(x)}"
        if platform in x.today.platforms:
            state = "locked and signed" if x.today.platforms[platform] in x.packed else "signed, and not locked"
            words += f"; the zh of its package is {state}, and does not count for an unpacked package"
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES)
    return replace(_beside_others(x, _of_untold_h1(x, platform)), is_by_download=x.is_told_by_download(platform))


def _beside_others(x: Examined, judged: Judgement) -> Judgement:
    """Return a guess that an `h1` is missing, which it is not likely to be where as many did for another provider.

    Of a folder in a mirror only an `h1` counts, so that one of the run's platform is locked for what it installed.
    """
    is_guess = judged.verdict is _LIKELY and judged.basis is Basis.GUESS
    as_many = (one for one in unsigned_beside(x) if 0 < len(hashes_of_files(one.accepted)) <= len(x.unpacked))
    other = next(as_many, None) if is_guess and x.incident.path is PackagePath.UNPACKED_MIRROR else None
    if other is None:
        return judged
    name, number = f"{other.address.short(x.tool.default_host)} {other.version}", len(hashes_of_files(other.accepted))
    words = f"{judged.evidence}; {number} did for {name}, which the run installed as from a mirror"
    return replace(judged, verdict=_UNKNOWN, evidence=words)


def _of_untold_h1(x: Examined, platform: str) -> Judgement:
    """Judge locked `h1` that are not all known to be of other platforms."""
    assert x.entry is not None
    showing = x.shell.command_line("lock", "--platform", platform, "--dry-run", x.name, *words_of_root(x))
    missing = f"the h1 of {platform}: --package DIR, or `{showing}`"
    if accepted := _accepted_elsewhere(x):
        return Judgement(_LIKELY, accepted, missing, x.today.as_of, basis=Basis.HASHES)
    if x.message.kind == "lock-not-updated" and (folder := next(iter(x.folders_without_h1), None)) is not None:
        words = f"the message says that the run learned hashes, and {folder.path} is {short(folder.shown_hash)}"
        return Judgement(_LIKELY, f"{words}, which is not locked", missing, x.today.as_of, basis=Basis.HASHES)
    if platform in x.expected:
        words = f"the h1 that the registry reports for {platform} is not locked, and nothing signs it"
        return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.HASHES)
    states = (one for one in x.history.states if one.is_of(x.entry.version))
    lost = ((one.commit, len(hashes_of_files(one.accepted) - x.unpacked)) for one in states)
    commit, more = next((pair for pair in lost if pair[1]), ("", 0))
    if more:
        words = f"commit {commit[:12]} had {more} h1 that {'is' if more == 1 else 'are'} locked no longer"
        return Judgement(_LIKELY, words, missing, x.today.as_of)
    known = len(x.today.platforms) or len(x.packed)
    verdict = _LIKELY if len(x.unpacked) < max(known, 2) else _UNKNOWN
    of_unknown = "" if x.attributed else ", of unknown platforms,"
    words = f"{len(x.unpacked)} h1 locked{of_unknown} beside {zh_of_packages(len(x.packed))}{_attributed(x)}"
    return Judgement(verdict, words, missing, x.today.as_of, basis=Basis.GUESS)


def _attributed(x: Examined) -> str:
    """Return the platforms of the locked `h1`, in brackets, with the number of those of unknown ones; "" for none."""
    unknown = len(x.unpacked) - len(x.attributed)
    rest = [counted(unknown, "of an unknown platform", "of unknown platforms")] if unknown else []
    known = [listing(sorted(set(x.attributed.values())))] if x.attributed else []
    return f" (locked: {' and '.join(known + rest)})" if known else ""


def _accepted_elsewhere(x: Examined) -> str:
    """Return where another state of the entry, or another lock file, has the hash of a copy; "" if none has."""
    for copy in x.of_kind("given", "mirror", "plugin-cache", "installed"):
        if (copy.kind == "installed" and not copy.is_of_root) or not copy.of_files or copy.of_files & x.unpacked:
            continue
        if place := locked_elsewhere(x, copy):
            shown = f"{copy.path} ({short(copy.shown_hash)})"
            return f"{place} locks the h1 of {shown}, and the entry here does not"
    return ""


def platform_missing(x: Examined) -> Judgement | None:
    """Test if the release has a package of the platform, and if a hash of it is locked."""
    path, platform = x.incident.path, x.platform
    is_unavailable = x.message.kind in {"platform-unavailable", "sums-without-package"}
    if x.entry is None and not is_unavailable:
        return platform_of_selected(x)
    if x.message.kind == "lock-incomplete":
        return _other_platforms(x)
    if path is not None and path.is_unpacked and not is_unavailable:
        return None
    if is_unavailable and x.is_of_other_version:
        words, version = f"the message is of {x.name} {x.message.version}, and {x.release} is locked", x.message.version
        return Judgement(_UNKNOWN, words, f"the lock file of the failing run, which locks {version}", basis=Basis.RUN)
    if x.entry is not None and not x.entry.hashes and not x.lock.problems and not is_unavailable:
        return Judgement(_NO, "no hash is locked: init accepts the package of any platform")
    if not platform:
        if x.today.is_known and set(x.today.platforms.values()) <= x.packed:
            words = f"all {counted(len(x.today.platforms), 'package')} of the release are locked"
            return _locked_now(x, words, frozenset(x.today.platforms.values()))
        if (few := _few_hashes(x)) is not None:
            return replace(few, missing=ASK_PLATFORM)
        return Judgement(_UNKNOWN, "not every package is known to be locked", ASK_PLATFORM)
    if x.today.platforms and platform not in x.today.platforms:
        words = f"{x.release} has no package of {platform}, only of {listing(sorted(x.today.platforms), 8)}"
        basis = Basis.RUN if is_unavailable else Basis.HASHES
        title = f"the release has no package of {platform}"
        return Judgement(_YES, words, as_of=x.today.as_of, basis=basis, title=title)
    if is_unavailable:
        if x.is_left_out and x.address is not None:
            words = f"the message says so, and {x.address.host} {x.today.lists} {x.release} without {platform}"
            if x.is_absent:
                also = f", though {x.sums} names it" if platform in x.today.platforms else ""
                words = f"the message says so, and {x.address.host} answers 404 about that package here, too{also}"
            title = f"the registry {'does not offer the' if x.is_absent else 'has no'} package of {platform}"
            verdict = _LIKELY if x.is_of_mirror or x.today.is_offline else _YES
            return Judgement(verdict, words, as_of=x.today.as_of, basis=Basis.RUN, title=title)
        if platform in x.today.platforms:
            return Judgement(_NO, f"{x.sums} names a package of {platform}", as_of=x.today.as_of)
        if x.message.kind == "sums-without-package":  # which comes after the registry named a package
            words = "the registry named a package, and what arrived as SHA256SUMS does not list it"
            return Judgement(_UNKNOWN, words, x.why_unknown, x.today.as_of, basis=Basis.RUN)
        words = "the message says so, of the source that was asked"
        verdict = _LIKELY if x.places.asks_registry else _UNKNOWN
        title = f"the source that was asked has no package of {platform}"
        return Judgement(verdict, words, x.why_unknown, basis=Basis.RUN, title=title)
    return _locked_platform(x, platform)


def _locked_now(x: Examined, words: str, packages: frozenset[str]) -> Judgement:
    """Judge packages that are all locked: ruled out, unless the failing run may have met an entry that lacks one."""
    states = x.origins.earlier_states if x.error is not None else ()
    before = next((one for one in states if not packages <= packages_of(one.accepted)), None)
    if before is None:
        return Judgement(_NO, words, as_of=x.today.as_of)
    state = f"commit {before.commit[:12]}" if before.commit else "the entry as it was before"
    number = len(packages - packages_of(before.accepted))
    words = f"{words} now, and {state} lacks {number} of these packages: the failing run may have met that"
    return Judgement(_UNKNOWN, words, "the lock file of the failing run", x.today.as_of, basis=Basis.GUESS)


def _other_platforms(x: Examined) -> Judgement:
    """Judge an entry that has hashes of the run's platform only, as a warning says."""
    zhs, h1s = zh_of_packages(len(x.packed)), counted(len(x.unpacked), "h1", "h1")
    if x.packed:
        return Judgement(_NO, f"{zhs} and {h1s} are locked: not of one platform alone", basis=Basis.FILES)
    words = f"{h1s} and no zh of a package locked for {x.release}"
    if len(x.unpacked) != 1:
        return Judgement(_UNKNOWN, words, "the platforms that init runs on", basis=Basis.FILES)
    title = f"the lock file covers {x.platform or 'one platform'} alone: init fails on any other"
    return Judgement(_YES, f"the message says so; {words}", basis=Basis.RUN, title=title)


def _locked_platform(x: Examined, platform: str) -> Judgement:
    zhs, h1s = zh_of_packages(len(x.packed)), counted(len(x.unpacked), "h1", "h1")
    is_of_zh_alone = x.incident.path is not None and x.incident.path.only == "zh"
    if is_of_zh_alone:
        if not x.packed and x.unpacked:
            words = f"no zh of a package is locked, only {h1s}: one from an OCI registry is accepted by its zh alone"
            return Judgement(_YES if x.is_path_of_run else _LIKELY, words, as_of=x.today.as_of, basis=Basis.HASHES)
    elif platform in x.attributed.values():
        return Judgement(_NO, f"the h1 of {platform} is locked", as_of=x.today.as_of)
    locked = sorted(set(x.attributed.values()))
    if locked and not x.packed and len(x.attributed) == len(x.unpacked):
        words = f"{h1s} locked, of {listing(locked)} alone, and no zh of a package: none is of {platform}"
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES)
    is_open = len(x.unpacked) - len(x.attributed) > 1 and platform not in x.expected
    if is_open and x.error is None and not x.packed:  # it covers each platform that an h1 is of
        words = f"no zh of a package and {h1s} locked{_attributed(x)}: that of {platform} may be among them"
        missing, is_told = f"the h1 of {platform}: --package DIR", x.is_told_by_download(platform)
        return Judgement(_UNKNOWN, words, missing, x.today.as_of, basis=Basis.GUESS, is_by_download=is_told)
    if not x.today.is_known:
        few = _few_hashes(x)
        return few or Judgement(_UNKNOWN, f"{zhs} and {h1s} locked", x.why_unknown, basis=Basis.GUESS)
    zh = x.today.platforms.get(platform)
    if zh in x.packed:
        words = f"the zh of {platform} ({zh[:11] if zh else ''}...) is locked and signed"
        return _locked_now(x, words, frozenset({zh}) if zh else frozenset())
    if len(x.stale) >= len(x.today.platforms):
        number = counted(len(x.today.platforms), "package")
        odd = f"{zh_of_packages(len(x.stale))} are locked that are not of {x.release}"
        return Judgement(_NO, f"{odd}, which has {number}: no platform was left out", as_of=x.today.as_of)
    is_sure = not x.stale and (is_of_zh_alone or platform in x.computed or len(x.attributed) == len(x.unpacked))
    have = sorted(name for name, text in x.today.platforms.items() if text in x.packed)
    only = f", only of {listing(have, 8)}" if have else ""
    words = f"no zh of {platform} is locked for {x.release}{only}{_removal(x, zh)}"
    missing = "" if is_sure else f"the h1 of {platform}: --package DIR"
    is_told = missing != "" and not x.stale and x.is_told_by_download(platform)
    verdict = _YES if is_sure else _LIKELY
    return Judgement(verdict, words, missing, x.today.as_of, basis=Basis.HASHES, is_by_download=is_told)


def _removal(x: Examined, zh: str | None) -> str:
    """Return the commit that took a hash out of the entry, which later ones may have changed; "" for none."""
    for later, earlier in pairwise(x.history.states):
        if zh in earlier.accepted and zh not in later.accepted and later.commit and later.entry is not None:
            return f"; commit {later.commit[:12]} of {later.date[:10]} removed it"
    return ""


def _few_hashes(x: Examined) -> Judgement | None:
    """Judge an entry of an unknown release that may be of some platforms alone, by hashes and history; else None."""
    if x.today.is_known or x.entry is None:
        return None
    zhs, h1s = zh_of_packages(len(x.packed)), counted(len(x.unpacked), "h1", "h1")
    if x.error is not None and (was := next((one for one in x.history.states if _had_more(x, one)), None)) is not None:
        more = counted(len(was.accepted - x.locked), "more hash", "more hashes")
        words = f"{zhs} and {h1s} locked, and commit {was.commit[:12]} has {more} for {x.release}"
        return Judgement(_LIKELY, words, x.why_unknown, basis=Basis.FILES)
    if not x.packed and x.unpacked:
        words = f"no zh of a package and {h1s} locked, as from a mirror or a cache, for one platform each"
        return Judgement(_LIKELY, words, x.why_unknown, basis=Basis.FILES if x.error else Basis.GUESS)
    if x.error is not None and len(x.packed) < _usual(x):
        words = f"only {zhs} and {h1s} locked, where a signed list has one for each platform"
        return Judgement(_LIKELY, words, x.why_unknown, basis=Basis.GUESS)
    return None


def _had_more(x: Examined, one: PastEntry) -> bool:
    """True if a commit has all hashes that are locked for the version, and others."""
    return x.entry is not None and one.is_of(x.entry.version) and x.locked < one.accepted


def _usual(x: Examined) -> int:
    """Return the number of packages that a whole entry of the provider has, as far as other entries tell."""
    entries = [*(entry for _, entry in locked_states(x.history.states)), *(one.entry for one in x.others)]
    return max((WHOLE_LIST, *(len(packages_of(entry.hashes)) for entry in entries)))


def plugin_differs(x: Examined) -> Judgement | None:
    """Test if the locked package has a program of another platform, else if the installed one is the locked one."""
    one = x.misfit if x.message.kind == "plugin-other-platform" else None
    if one is None:
        return installed_causes.plugin_corrupted(x)
    states = [commit for commit, entry in locked_states(reversed(x.history.states)) if one.hashes & entry.accepted]
    since = f" since commit {states[0][:12]}" if states and states[0] else ""
    words = f"the program in {one.path} is {one.misfit}; its package ({short(one.shown_hash)}) is locked{since}"
    title = f"the locked package of {one.platform} has a program of another platform"
    is_alone = x.locked <= one.hashes  # else the failing run may have had another one that is locked
    missing = "" if is_alone else "the program of the failing run: --package DIR"
    return Judgement(_YES if is_alone else _LIKELY, words, missing, basis=Basis.HASHES, title=title)
