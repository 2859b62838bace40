"""Causes in what a root has installed, packages and modules: each function tests one, or returns None. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.judged_copies import ASK_HASH, WITHOUT_PROGRAM, judged_copies, moved_aside, short, unknown_copy
from locklens.doctor.model import Basis, CauseVerdict, Judgement, PackagePath
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.doctor import FoundPackage
    from locklens.doctor.examined import Examined

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

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
    moved = moved_aside(x, "installed", "plugin-cache") if is_of_other or x.message.kind in _OF_FOLDERS else None
    if moved is not None:
        return moved
    match x.message.kind:
        case "cached-modified":
            return replace(unknown_copy(x, "the message says so"), verdict=_LIKELY, basis=Basis.RUN)
        case "cached-package":
            place = "the installed folder is not at hand"
            place = "which root's installed folder it was is not known" if x.fitting else place
            words = f"the message says that its hash is not locked; {place}"
            return replace(unknown_copy(x, words), verdict=_LIKELY if x.unpacked else _UNKNOWN, basis=Basis.RUN)
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
    copy = _of_link(judged_copies(x, tuple(blamed)), blamed[0].cached)
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
    is_not = WITHOUT_PROGRAM if copy.title.endswith(WITHOUT_PROGRAM) else "is not the locked package"
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
