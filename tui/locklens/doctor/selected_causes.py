"""Causes, without a log, in the version that init would select for a provider that is required and not locked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.model import Basis, CauseVerdict, Judgement
from locklens.text import counted, listing

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined

_YES, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.UNKNOWN, CauseVerdict.NO

NONE_FITS = "no available version satisfies the constraints"


def platform_of_selected(x: Examined) -> Judgement | None:
    """Judge, without a log, the version that init would select for a provider that is not locked."""
    if not x.is_to_be_selected:
        return None
    if x.selected is None or not x.platform:
        words = f"which version of {x.name} init selects is not known"
        return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.GUESS)
    words, platform = f"init selects {x.name} {x.selected.version}", x.platform
    as_of = x.today.listing.as_of if x.today.listing is not None else None
    if x.is_left_out or (x.today.platforms and platform not in x.today.platforms):
        only = f", only of {listing(sorted(x.today.platforms), 8)}" if platform not in x.today.platforms else ""
        title = f"the release has no package of {platform}"
        words = f"{words}, which has no package of {platform}{only}"
        return Judgement(_YES, words, as_of=as_of, basis=Basis.HASHES, title=title)
    if platform in x.today.platforms or platform in x.listed_platforms:
        return Judgement(_NO, f"{words}, which has a package of {platform}", as_of=as_of)
    words = f"{words}, and whether it has a package of {platform} is not known"
    return Judgement(_UNKNOWN, words, x.why_unknown, as_of, basis=Basis.GUESS)


def constraints_of_selected(x: Examined, places: str) -> Judgement | None:
    """Judge, without a log, the constraints on a provider that is not locked, of which init selects a version.

    `places` are those of the constraints, in words.
    """
    if not x.is_to_be_selected:
        return None
    versions = x.today.listing.versions if x.today.listing is not None else ()
    if not x.is_selected_of_list or not versions:
        words = f"which versions of {x.name} init may select is not known"
        return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.GUESS)
    assert x.today.listing is not None
    fitting, as_of = sum(x.constraints.admits(one.version) for one in versions), x.today.listing.as_of
    listed = f"{counted(len(versions), 'version')} that {x.address.host if x.address is not None else ''} lists"
    if fitting or x.today.listing.is_offline:
        verdict = _NO if fitting else _UNKNOWN
        return Judgement(verdict, f"{fitting} of {listed} satisfy {x.constraints or 'the configuration'}", as_of=as_of)
    words = f"none of {listed} satisfies {x.constraints} ({places})"
    return Judgement(_YES, words, as_of=as_of, title=NONE_FITS)
