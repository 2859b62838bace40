"""Causes in copies of packages in mirrors and plugin caches: each function tests one, or returns None. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.judged_copies import judged_copies, judged_copy, moved_aside, short, unknown_copy, words_of_root
from locklens.doctor.model import Basis, CauseVerdict, Judgement, PackagePath
from locklens.text import listing

if TYPE_CHECKING:
    from locklens.doctor import FoundPackage
    from locklens.doctor.examined import Examined
    from locklens.lockfile import LockEntry

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

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
        return judged_copies(x, found)
    if x.error is None:
        return _of_unknown_origin(x) or _served(x) or _unasked(x)
    if (moved := moved_aside(x, "mirror")) is not None:
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
    return unknown_copy(x, "the mirror's copy is not at hand")


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
    judged = judged_copies(x, given) if given else None
    if judged is None or not judged.is_probable:
        return None
    words = f"{judged.evidence}; where it came from is not known"
    return replace(judged, verdict=_UNKNOWN, evidence=words, missing="the origin of the package: --install-path")


def _served(x: Examined) -> Judgement | None:
    """Judge the hashes that a mirror on a server lists now, which nothing tells to be those of the failing run."""
    one = x.today.served
    if one is None or one.problem:
        return None
    if not one.zh and x.packed and judged_copy(x, one).verdict is _LIKELY:
        words = f"{one.path} is {short(one.shown_hash)}, which is not locked; its zip file may be one that is"
        return Judgement(_UNKNOWN, words, _OF_SERVER, x.today.as_of, basis=Basis.HERE)
    return judged_copies(x, (one,))


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


def cache_differs(x: Examined) -> Judgement | None:
    """Test if the plugin cache's copy is the release's package."""
    is_named = x.incident.path is PackagePath.PLUGIN_CACHE
    found = x.of_kind("plugin-cache", "given") if is_named else x.of_kind("plugin-cache")
    if is_named and x.message.kind == "cached-modified":
        return _modified_cache(x, tuple(one for one in found if one.is_of_run))
    if found:
        return judged_copies(x, found)
    if is_named:
        return moved_aside(x, "plugin-cache") or unknown_copy(x, "the cache's copy is not at hand")
    return None


def _modified_cache(x: Examined, found: tuple[FoundPackage, ...]) -> Judgement:
    """Judge the folder in the plugin cache that the message says to differ; `found` is it, as far as it is here.

    The package that it differs from was accepted by the lock file before.
    """
    says = "the message says that the cache's copy is not the package that was fetched"
    if found:
        judged = judged_copies(x, found)
        if not judged.is_probable or judged.basis is not Basis.HASHES:
            return judged
        return replace(judged, verdict=_YES, evidence=f"{says}; {judged.evidence}", missing="")
    if (moved := moved_aside(x, "plugin-cache")) is not None:
        return moved
    return replace(unknown_copy(x, says), verdict=_LIKELY, basis=Basis.RUN)
