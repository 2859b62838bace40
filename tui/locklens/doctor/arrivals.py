"""What came to this machine later than the log: packages in mirrors, plugin caches and roots, and modules. Pure."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from locklens.doctor import is_for_twin
from locklens.doctor.messages import MODULE_MISSING
from locklens.doctor.model import PackagePath
from locklens.doctor.redacting import redacted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.doctor import FoundPackage
    from locklens.doctor.examined import Examined

_SHARED = ("mirror", "plugin-cache")
"""Places of local packages, as the tools call unpacked ones."""


def filled_words(x: Examined) -> str:
    """Return that a mirror, which any root would use, has the package now that the run did not find there; else ""."""
    if x.is_of_server and x.today.served is not None:
        mirror = x.failing_mirror or x.places.oci_mirror or x.places.servers[0].place
        assumed = assumed_words(x, x.places.machine)
        return f"{mirror} gives the package of {x.release} for {x.platform_on_disk} now{assumed}"
    given = x.today.served
    if given is not None and given.is_read and given.hashes & x.locked:
        return _accepted_words(x, given)
    healed = _healed_mirror(x)
    return _accepted_words(x, healed) if healed is not None and is_of_run(x) else ""


def _healed_mirror(x: Examined) -> FoundPackage | None:
    """Return the copy that came to the mirror of a run later than the log, where that is what it lacked; else None."""
    said, entry = x.message.constraints, x.entry
    is_lacking = x.message.kind == "no-matching-release" and said is not None
    is_lacking = is_lacking and entry is not None and said is not None and said.admits(entry.version)
    is_gone = (is_lacking or x.message.kind in {"version-gone", "platform-unavailable"}) and x.is_of_mirror
    is_any = is_gone and not x.message.own_folders
    if not (x.message.is_of_local_file or is_gone or x.message.kind == "not-in-sources"):
        return None
    return next((one for one in x.sound_mirrors if one.is_new and (is_any or one.is_of_run)), None)


def exchanged_words(x: Examined) -> str:
    """Return which folder was moved aside, or has a locked hash now; "" where neither is so."""
    if x.places.is_mirror_replaced:  # init of another machine needs the mirror's own copy, whatever is installed here
        filled = x.sound_mirror
        return _replaced_words(x, filled) if filled else ""
    if (own := _reinstalled(x)) is not None:
        return _replaced_words(x, own)
    if x.places.replaced:
        places = (one for one in x.places.packages if one.kind in _SHARED)
        can_come_again = x.places.asks_registry or any(one.hashes & x.locked for one in places)
        return f"{x.places.replaced} was moved aside" if can_come_again else ""
    repaired = _repaired(x)
    return _accepted_words(x, repaired) if repaired is not None else ""


def _accepted_words(x: Examined, copy: FoundPackage) -> str:
    """Return that the lock file accepts the copy which the failing run would get now."""
    return f"{copy.path} has a locked hash now{assumed_words(x, copy.platform)}"


def assumed_words(x: Examined, platform: str) -> str:
    """Return that the run is assumed to need a copy of this platform, as the end of a clause; "" where it is told."""
    return f"; that the failing run was on {platform} is assumed" if platform and x.is_platform_assumed else ""


def _replaced_words(x: Examined, now: FoundPackage) -> str:
    """Return that a package was moved aside, and that the one which the run uses now has a locked hash."""
    shown = "what is there now" if now.path == x.places.replaced else now.path
    assumed = assumed_words(x, now.platform) if x.places.is_mirror_replaced else ""
    return f"{x.places.replaced} was moved aside, and {shown} has a locked hash{assumed}"


def _reinstalled(x: Examined) -> FoundPackage | None:
    """Return the root's own copy that the lock file accepts, where another one was moved aside; else None."""
    if not x.places.replaced or x.places.is_mirror_replaced:
        return None
    return next((one for one in x.places.packages if one.is_of_root and one.hashes & x.locked), None)


def awaits_init(x: Examined) -> bool:
    """True unless another command than init failed, and the root has its package already, or needs none."""
    if x.message.command != "init":
        return False
    if x.message.kind == "plugin-missing" and not x.is_of_other_version:
        return _installed_since(x) is None
    return x.message.kind != "cached-package" or _reinstalled(x) is None or x.lacking_modules != ""


def _installed_since(x: Examined) -> FoundPackage | None:
    """Return the root's own copy that was installed later than the log, and has a locked hash; else None.

    Without the modules, it ends nothing: the command that failed fails again.
    """
    if x.lacking_modules:
        return None
    own = (one for one in x.of_kind("installed") if one.is_of_root and one.is_new)
    return next((one for one in own if one.hashes & x.locked), None)


def is_of_run(x: Examined) -> bool:
    """True unless the log may be of another machine, whose installed packages and modules are not here."""
    return x.places.installed is None or x.places.installed.is_of_run


def installed_words(x: Examined) -> str:
    """Return what was installed on this machine later than the log, where that is what the run lacked; else ""."""
    if x.message.kind == MODULE_MISSING:
        installed = x.places.installed
        if installed is None or not installed.has_new_call or installed.lacking:
            return ""
        words = "which was written later than the log, lists module"
        return f"on this machine, {installed.modules}, {words} {x.message.call}"
    own = _installed_since(x) if x.message.kind == "plugin-missing" else None
    words = "was installed on this machine later than the log, and has a locked hash"
    return f"{own.path} {words}" if own is not None else ""


def came_words(x: Examined) -> str:
    """Return that a missing package was installed later than the log; "" where it may be missing still."""
    is_for_other = x.entry is not None and is_for_twin(x.entry.address, x.lock, x.configuration)
    return installed_words(x) if is_of_run(x) and not is_for_other else ""


def of_other_machine(x: Examined) -> str:
    """Return a note on what came later than the log, where the log may be of another machine; "" for none."""
    if is_of_run(x):
        return ""
    installed, words = x.places.installed, ""
    healed = _healed_mirror(x) or next((one for one in _accepted_copies(x) if one.is_new), None)
    if installed is not None and not x.fitting and installed_words(x):
        words = f"what was installed in {posixpath.dirname(installed.shown)} later than the log"
    elif healed is not None:
        words = f"{healed.path}, which is newer than the log and has a locked hash,"
    because = "another program printed the log, whose machine or container may have a folder of its own"
    return f"{words} does not end the error: {because}" if words else ""


def _repaired(x: Examined) -> FoundPackage | None:
    """Return the copy that the failing run would get now, where the lock file accepts it; None where nothing tells.

    It came later than the log, or the lock file accepts it since.
    """
    used = _accepted_copies(x)
    is_later = is_of_run(x) and any(one.is_new for one in used)
    return used[0] if used and (is_later or _is_accepted_since(x, used)) else None


def _accepted_copies(x: Examined) -> tuple[FoundPackage, ...]:
    """Return the copies in the place that the failing run used, where the lock file accepts all of them; else ().

    That is a mirror or plugin cache that the user names, or the settings as the only place to install from.
    """
    path = x.incident.path
    if path is None or not (path.is_mirror or path is PackagePath.PLUGIN_CACHE):
        return ()
    kinds = ("mirror",) if path.is_mirror and x.message.kind != "local-package" else _SHARED
    copies = x.of_kind(*kinds) if path.is_mirror else x.of_kind("plugin-cache")
    is_only = not x.places.asks_registry and not x.places.servers
    place = x.message.place
    used = tuple(
        one
        for one in copies
        if one.is_of_run
        or (is_only and path.is_mirror)
        or (path is PackagePath.PLUGIN_CACHE and place and f"{redacted(one.place)}/".startswith(f"{place}/"))
    )
    return used if all(one.hashes & x.locked for one in used) else ()


def _is_accepted_since(x: Examined, copies: Sequence[FoundPackage]) -> bool:
    """True if the entry before the present one, which is later than the log, did not accept some copies."""
    was = next(iter(x.origins.earlier_states), None)
    return (
        was is not None
        and not all(one.hashes & was.accepted for one in copies)
        and x.history.is_after_log(x.history.next_after(was))
    )
