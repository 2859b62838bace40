"""Causes in what a root requires: not locked, locked in vain, excluded by constraints, or unknown. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS, twin_of
from locklens.doctor import is_for_twin
from locklens.doctor.messages import OF_LACKING, OF_VERSIONS
from locklens.doctor.model import Basis, CauseVerdict, Judgement
from locklens.doctor.network_causes import mistyped_host
from locklens.doctor.reasons import NetworkReason
from locklens.doctor.selected_causes import NONE_FITS, constraints_of_selected
from locklens.doctor.tool_causes import as_required
from locklens.project.configuration import constraint_place, is_source_implied, source_place
from locklens.selection.choosing import conflicts
from locklens.text import counted, listing
from locklens.versions import Constraints, newest

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined
    from locklens.versions import Version

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_DEFAULT_HOSTS = {tool.default_host for tool in DIALECTS.values()}

_SAME_REQUEST = "the same request on the runner"
_OF_OTHERS = "the log is of another commit, or of another root"
LOCK_OF_RUN = "the lock file of the failing run: of another root (-- ROOT) or commit"
_FILES_OF_RUN = "whether the root's folder has .terraform.lock.hcl there: list its files before the run"
_NOT_ALL_KNOWN = "it is not known whether every required provider is locked"


def not_locked(x: Examined) -> Judgement | None:
    """Test if the provider is required, and not locked."""
    if x.lock.problems or (x.message.kind == "plugin-missing" and not x.is_twin_missing):
        return None
    # With an error only this provider counts; without one, every required provider must be locked.
    unknown = x.configuration.unknown_reason if x.error is None else ""
    if x.address is None or x.is_taken_over:  # what is taken over is judged as the other tool's entry
        return Judgement(_UNKNOWN, _NOT_ALL_KNOWN, unknown) if unknown else None
    if x.history.had_no_file:
        return _without_file(x)
    if x.entry is not None:
        return _locked_here(x, unknown)
    if not x.is_of_root:
        return Judgement(_YES, "the message says so, of a root that is not here", basis=Basis.RUN)
    place = _without_entry(x)
    if x.required:
        by = ", ".join(f"{one.file}:{one.line}" for one in x.required[:3])
        words = f"{x.name} is required ({by}), and {place}"
        if is_source_implied(x.required):
            words = f"{words}; no required_providers names its source, so that {x.address} is meant"
        return Judgement(_YES, words)
    if x.message.kind not in {"readonly-changed", *OF_LACKING}:
        return Judgement(_LIKELY, place, x.configuration.unknown_reason)
    words = f"the message says so, and {place}"
    if x.message.kind == "readonly-changed":
        words = "the message says that it changes the lock file, and the lines before it that the run had to find "
        words += x.name
    if x.is_unrequired and (twin := twin_of(x.address)) in x.configuration.required():
        words = f"{words}; read as {x.tool.product} reads it, {x.where} requires {twin}"
    elif x.is_unrequired:
        words = f"{words}; nothing in {x.where} requires it: {_OF_OTHERS}"
    return Judgement(_YES, words, basis=Basis.RUN)


def _locked_here(x: Examined, unknown: str) -> Judgement:
    """Judge a provider that has an entry; `unknown` is why others may lack one, "" where none does or it counts not."""
    words = f"{x.release} is locked ({x.place})"
    if unknown:
        return Judgement(_UNKNOWN, f"{words}, and {_NOT_ALL_KNOWN}", unknown)
    if x.message.kind not in OF_LACKING:
        return Judgement(_NO, words)
    # What the message says of its run is true, whatever is here.
    words = f"{words}, and was not for the failing run: {_OF_OTHERS}"
    words = f"{words}, or from before the file was written here" if x.history.is_later else words
    return Judgement(_UNKNOWN, words, LOCK_OF_RUN)


def _without_entry(x: Examined) -> str:
    """Return that a lock file has no entry, and what is known of the one that it had, in a clause."""
    place = f"{x.own_root} has no lock file" if not x.lock.exists else f"{x.lock.path} has no block for it"
    newest = x.history.states[0] if x.history.states else None
    if x.history.left is not None:
        place = f"{place}; {x.history.left.lock_file} is still where its configuration was before {x.history.left_by}"
        place = place.rstrip()
    elif x.history.removed_by:
        place = f"{place}: {x.history.removed_by} removed it"
    elif x.is_deleted_here and newest is not None:
        place = f"{place}: it was deleted, which is not committed, and commit {newest.commit[:12]} has it"
    elif newest is not None and newest.entry is not None:
        place = f"{place}, where commit {newest.commit[:12]} locks {newest.entry.version}"
    return f"{place}; git ignores {x.lock.path}" if x.history.is_ignored else place


def _without_file(x: Examined) -> Judgement:
    """Judge a run that listed all that its root requires as not locked, where the lock file here always had it."""
    verb = "had to find" if x.message.kind == "readonly-changed" else "missed"
    words = f"the run {verb} all that {x.own_root} requires, and"
    if x.history.is_ignored:
        words = f"{words} git ignores {x.lock.path}, so that no clone has it"
    elif not x.history.states:
        words = f"{words} {x.lock.path} is not committed, so that no clone has it"
    else:
        commit = x.history.states[0].commit[:12]
        words = f"{words} nothing tells that {x.lock.path} ever lacked that; commit {commit} has it"
        words = f"{words}: an image or a job that copies no dot files"
    return Judgement(_LIKELY, words, _FILES_OF_RUN, basis=Basis.RUN, title="the failing run had no lock file")


def not_required(x: Examined) -> Judgement | None:
    """Test if the provider is locked, and not required: init would remove its entry.

    An entry of a required provider in the other tool's registry is judged as that: its version is still of use.
    """
    if x.entry is None or x.address is None or is_for_twin(x.address, x.lock, x.configuration):
        return None
    place = f"{x.place} locks {x.release}"
    if x.configuration.requires(x.address):
        by = listing([f"{one.file}:{one.line}" for one in x.required], 3)
        return Judgement(_NO, f"{x.name} is required{f' ({by})' if by else ''}")
    if unknown := x.configuration.unknown_reason:
        return Judgement(_UNKNOWN, f"{place}; whether anything requires it is not known", unknown)
    if other := x.unknown_need:
        return Judgement(_UNKNOWN, f"{place}; {other}", "which workspaces runs use")
    words = f"{place}, and nothing in {x.where} requires it"
    if x.error is None:
        return Judgement(_YES, f"{words}: init removes the entry, and init -lockfile=readonly fails")
    if not x.of_run:
        return Judgement(_YES, words)
    if x.address in x.of_run:
        return Judgement(_NO, f"the lines before the message name {x.name}: that run required it", basis=Basis.RUN)
    return Judgement(_YES, f"{words}, nor did the run, as the lines before the message say", basis=Basis.RUN)


def constraint_conflict(x: Examined) -> Judgement | None:
    """Test if constraints exclude one another, the locked version violates them, or no listed one satisfies them.

    Of a package that is not installed, only what the next init refuses is told.
    """
    if x.message.kind != "plugin-missing":
        return _conflict(x)
    found = _conflict(as_required(x)) if x.entry is not None and not x.fitting else None
    return found if found is not None and found.verdict is _YES else None


def _conflict(x: Examined) -> Judgement | None:
    if x.address is None:
        return None
    required, constraints = x.required, x.constraints
    if len(required) > 1 and (clash := _clash(x)):
        return Judgement(_YES, clash, title="no version satisfies all constraints, which exclude one another")
    if x.error is None and not required and not x.configuration.unknown_constraints:  # of which a state has none
        return Judgement(_NO, f"no constraint of {x.where} is on {x.name}")
    if not required:
        words = x.configuration.unknown_reason or f"nothing in {x.where} requires {x.name}"
        missing = "the configuration of the failing run: -- ROOT" if x.error is not None else "the root's configuration"
        return Judgement(_UNKNOWN, words, missing)
    is_about_listing = x.message.kind == "no-matching-release"
    is_met = x.entry is not None and not (is_about_listing and x.message.is_of_upgrade)  # which asks whatever is locked
    version = x.entry.version if x.entry is not None and is_met else None
    places, said, unknown = _excluding_constraints(x), x.message.constraints, x.configuration.unknown_constraints
    if is_about_listing and said is not None and unknown and {*said.terms} > {*constraints.terms}:
        constraints, places = said, f"{places}, and the message alone tells the rest: {unknown}"
    is_changed = is_about_listing and said is not None and said is not constraints and x.has_other_constraints
    listed = x.today.listing.versions if x.today.listing is not None else ()
    if is_about_listing and version is None and (x.is_without_source or not (constraints.terms or listed)):
        words = "no source was asked, by the settings here"
        if not x.is_without_source:
            words = "there is no constraint: the source that was asked has no version, or pre-releases alone"
        return Judgement(_UNKNOWN, words, "provider_installation of the runner", title=NONE_FITS)
    if is_about_listing and x.today.listing is not None and x.today.listing.is_known:
        fitting = [one.version for one in x.today.listing.versions if constraints.admits(one.version)]
        if not fitting:
            number, best = len(x.today.listing.versions), newest(one.version for one in x.today.listing.versions)
            words = "the only listed version does not satisfy"
            words = words if number == 1 else f"none of {number} listed versions satisfies"
            words = f"{words} {constraints} ({places}){f'; {best} is listed' if best is not None else ''}"
            return Judgement(_YES, words, as_of=x.today.listing.as_of, title=NONE_FITS)
        verb = "satisfies" if len(fitting) == 1 else "satisfy"
        words = f"{counted(len(fitting), 'listed version')} {verb} {constraints}"
        if x.message.own_mirror:
            return Judgement(_NO, words, as_of=x.today.listing.as_of)
        words = f"{words}: a mirror may not offer them"
        return Judgement(_UNKNOWN, words, "provider_installation of the runner", title=NONE_FITS)
    if is_changed:
        words = f"the message is of {x.message.constraint}, and {x.name} is required with {constraints} now"
        missing = "run without --offline" if x.today.is_offline else "the versions that its source lists"
        return Judgement(_UNKNOWN, f"{words} ({places})", missing, title=NONE_FITS)
    if is_about_listing and version is None:
        words = f"the message says that the source it asked has no version that satisfies {constraints} ({places})"
        if x.message.own_mirror:
            return Judgement(_UNKNOWN, words, f"what {x.address.host} lists", title=NONE_FITS)
        return Judgement(_YES, words, basis=Basis.RUN, title=NONE_FITS)
    if version is None:
        return constraints_of_selected(x, places)
    if constraints.admits(version):
        if unknown:
            return _beside_unread(x, version, unknown)
        text = f" {constraints}" if str(constraints) else " the configuration, which has no constraint"
        return Judgement(_NO, f"{version} satisfies{text}")
    none = _none_listed(x, constraints)
    as_of = x.today.listing.as_of if none and x.today.listing is not None else None
    return Judgement(_YES, f"{version} does not satisfy {constraints} ({places}){none}", as_of=as_of)


def _beside_unread(x: Examined, version: Version, unknown: str) -> Judgement:
    """Judge a locked version that satisfies the constraints which can be read; the message tells the others, too.

    That is so if what is read is among what the message has: its other constraints are those of what is not read.
    """
    words, said = f"{version} satisfies the constraints that can be read", x.message.constraints
    is_of_run = x.message.kind in OF_VERSIONS and not x.is_of_other_version
    if not is_of_run or said is None or said.admits(version) or not {*said.terms} >= {*x.constraints.terms}:
        return Judgement(_UNKNOWN, words, unknown)
    parts = [each.strip() for each in x.message.constraint.split(",")]
    excluding = listing([each for each in parts if not Constraints.parse(each).admits(version)])
    words = f"{words}, and not {excluding}, which the message has besides: what is not read here requires it"
    return Judgement(_LIKELY, words, unknown, basis=Basis.RUN)


def _none_listed(x: Examined, constraints: Constraints) -> str:
    """Return that no version which the registry lists satisfies constraints; "" where one does, or it was not asked."""
    listing = x.today.listing
    if x.address is None or listing is None or not listing.versions or listing.is_offline:
        return ""
    if any(constraints.admits(one.version) for one in listing.versions):
        return ""
    number = f"any of the {len(listing.versions)} versions" if len(listing.versions) > 1 else "the only version"
    too = "" if x.places.mirrors or x.places.servers or not x.places.asks_registry else ": init -upgrade fails, too"
    return f", nor does {number} that {x.address.host} lists{too}"


def wrong_source(x: Examined) -> Judgement | None:
    """Test if a registry has no provider of the name that the configuration gives."""
    judged = _absent(x) if x.error is None else _unknown_there(x)
    if not x.override_words:
        return judged
    if x.message.kind == "no-registry" or x.message.reason is NetworkReason.NAME:
        judged = Judgement(_LIKELY, f"the message says that the host of {x.address} cannot be asked", basis=Basis.RUN)
    if judged is None or not judged.is_probable:
        return judged
    ran, asked = ("init", "asks") if x.error is None else ("the run", "asked")
    title = f"{ran} {asked} a registry for a provider that dev_overrides take from a folder"
    words = f"{judged.evidence}; {x.override_words}, and init does not use them"
    if x.is_overridden_in_run:
        return replace(judged, verdict=_YES, evidence=words, missing="", title=title)
    verdict = judged.verdict if x.error is None else _LIKELY
    return replace(judged, verdict=verdict, evidence=words, title=title)


def _unknown_there(x: Examined) -> Judgement | None:
    """Judge a message that says that the registry has no provider of the name, or that its host was not found."""
    if x.message.kind != "provider-unknown":
        return mistyped_host(x)
    places = listing([str(source_place(one)) for one in x.required], 3)
    by = f", which is required at {places}" if places else ""
    host = x.address.host if x.address is not None else "the registry"
    if x.other_registry:
        words = f"the root requires {x.address}{f' ({places})' if places else ''}, and the run asked for another"
        return Judgement(_NO, words)
    words = f"the message says so: {host} has no {x.name}{by}"
    renamed = f"; {x.renamed_words}" if x.renamed_words else ""
    trouble = x.today.listing.trouble if x.today.listing is not None and not x.today.listing.is_offline else None
    if is_gone := trouble is not None and trouble.is_no:
        words = f"{words}, and it has none now"
    if x.entry is not None and not renamed:
        words = f"{words}; {x.place} locks {x.release}, so that it likely had it once"
        return Judgement(_LIKELY, words, "the same request with a token, or its publisher", basis=Basis.RUN)
    if x.today.listing is not None and x.today.listing.is_known and x.today.listing.trouble is None:
        return Judgement(
            _UNKNOWN, f"{words}; it lists versions of it here{renamed}", _SAME_REQUEST, x.today.listing.as_of
        )
    if host not in _DEFAULT_HOSTS:
        return Judgement(_LIKELY, f"{words}{renamed}", "the same request with a token", basis=Basis.RUN)
    if is_gone:
        return Judgement(_YES, f"{words}{renamed}", basis=Basis.RUN)
    return Judgement(_LIKELY, f"{words}; a proxy may have answered 404, too{renamed}", _SAME_REQUEST, basis=Basis.RUN)


def _absent(x: Examined) -> Judgement | None:
    """Judge, without a log, a provider that is required and not locked; None where its registry was not looked up.

    Of a locked one, the list of its versions is another cause.
    """
    if x.entry is not None or x.address is None or x.today.listing is None:
        return None
    if x.is_unrequired:
        return Judgement(_NO, f"nothing in {x.where} requires {x.name}")
    host, trouble = x.address.host, x.today.listing.trouble
    if trouble is None:
        return Judgement(_NO, f"{host} lists versions of {x.name}", as_of=x.today.listing.as_of)
    if not x.places.asks_registry:
        return Judgement(_NO, "init asks no registry for it here")
    if not trouble.is_no:
        missing = "run without --offline" if x.today.is_offline else trouble.words
        return Judgement(_UNKNOWN, f"whether {host} has {x.name} is not known", missing, basis=Basis.GUESS)
    words = f"{host} has no {x.name}"
    if x.places.mirrors or x.places.servers:
        return Judgement(
            _UNKNOWN, words, "whether a mirror of the settings has it", x.today.listing.as_of, basis=Basis.HERE
        )
    if host not in _DEFAULT_HOSTS:
        return Judgement(_LIKELY, words, "the same request with a token", x.today.listing.as_of, basis=Basis.HERE)
    return Judgement(_YES, words, as_of=x.today.listing.as_of, basis=Basis.HERE)


def _clash(x: Examined) -> str:
    """Return the constraints that exclude one another, each with its place and module; "" if there is none."""
    found = next(iter(conflicts(x.required)), ())
    places = dict.fromkeys(
        f'"{one.constraint}" at {constraint_place(one)}' + (f" (module {one.module})" if one.module else "")
        for demand in found
        for one in demand.requirements
    )
    return f"{listing(list(places), 6)} exclude one another: no version satisfies them all" if places else ""


def _excluding_constraints(x: Examined) -> str:
    """Return the constraints that exclude the locked version, each with its place; all where none does."""
    constrained = (one for one in x.required if one.constraints.terms)
    excluding = [one for one in constrained if x.entry is None or not one.constraints.admits(x.entry.version)]
    return listing([f'"{one.constraint}" at {constraint_place(one)}' for one in excluding or x.required], 3)
