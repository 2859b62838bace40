"""Judges the causes of one error or root, and joins those of several providers and roots. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict, replace

from locklens.doctor import edit_causes, locked_states
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.causes import BY_ID, CAUSES, KnownCause, suggested_causes
from locklens.doctor.entry_since import cover_since
from locklens.doctor.examined import ASSUMED, Examined
from locklens.doctor.fixed import new_requirements
from locklens.doctor.judged_copies import ASK_PLATFORM
from locklens.doctor.model import Basis, Cause, CauseId, CauseVerdict, PackagePath, Trait, most_likely_first
from locklens.doctor.requirement_causes import LOCK_OF_RUN
from locklens.doctor.shell import from_top
from locklens.lines import FilePlace
from locklens.project.configuration import Contributor, constraint_place, source_place
from locklens.selection.choosing import conflicts
from locklens.text import clauses, counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.doctor.affected import Affected
    from locklens.project.configuration import Requirement


def judge_causes(examined: Examined, rules: Sequence[str] = ()) -> tuple[Cause, ...]:
    """Return the causes of one error, or of any error of a root, the most likely first.

    `rules` are those of the findings that led here.
    """
    row = BY_KIND.get(examined.message.kind)
    suggested = suggested_causes(rules)
    of_roots = (one.id for one in CAUSES if one.traits & (_OF_REFUSED if _is_refused(examined) else Trait.STOPS_INIT))
    ids = row.causes if row is not None else tuple(dict.fromkeys((*suggested, *of_roots, *_of_no_h1(examined))))
    causes = []
    for known in (BY_ID[one] for one in ids):
        x = _on_its_platform(examined, known)
        if (cause := _tested(x, known)) is not None:
            is_of_run, is_told = examined.error is not None, known.id in suggested
            causes.append(
                _of_the_run(cause, x) if is_of_run else cause if is_told else _where_it_is_asked_for(cause, x)
            )
    return most_likely_first(causes, suggested)


def _of_no_h1(x: Examined) -> tuple[CauseId, ...]:
    """Return the cause that an entry without any hash is, or without that of a folder; () for any other entry.

    It stops no init, which accepts anything there, or the package by its `zh`.
    """
    is_without = x.entry is not None and not x.entry.hashes
    return (CauseId.H1_MISSING,) if is_without or x.folders_without_h1 else ()


def _is_refused(x: Examined) -> bool:
    """True if the tool would refuse the release that the registry has now, where it asks for it."""
    return x.places.asks_registry and x.today.authentication is not None and x.today.authentication.refusal is not None


_OF_REFUSED = Trait.STOPS_INIT | Trait.OF_SIGNATURE


def _where_it_is_asked_for(cause: Cause, x: Examined) -> Cause:
    """Return a cause of a root: a refused signature stops init only where it fetches the package from the registry."""
    if Trait.OF_SIGNATURE not in cause.traits or cause.verdict is not CauseVerdict.YES:
        return cause
    if not x.places.asks_registry:
        words = f"{cause.evidence}, and init asks no registry for it here"
        return replace(cause, verdict=CauseVerdict.NO, evidence=words)
    if (copy := x.sound_copy) is None:
        return cause
    words = f"{cause.evidence}; {copy.path} has a locked hash, so that init here asks for no signature"
    missing = "whether init fails elsewhere, where no copy is: its log"
    return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=words, missing=missing)


def _tested(x: Examined, known: KnownCause) -> Cause | None:
    """Return a cause as its test judges it; None where it does not apply."""
    judged, name = known.test(x), str(x.address) if x.address is not None else ""
    if judged is None:
        return None
    return Cause(**asdict(judged), id=known.id, traits=known.traits, place=known.place, provider=name)


def _on_its_platform(examined: Examined, known: KnownCause) -> Examined:
    """Return what is known on this machine's platform, where the log has none and hashes speak for a cause then."""
    is_told = examined.platform != "" or examined.error is None or examined.places.machine == ""
    if is_told or Trait.OF_PLATFORM not in known.traits:
        return examined
    sources = (*examined.incident.sources, ("platform", ASSUMED))
    here = replace(examined, incident=replace(examined.incident, platform=examined.places.machine, sources=sources))
    own, assumed = known.test(examined), known.test(here)
    is_of_hashes = [one is not None and one.is_probable and one.basis is Basis.HASHES for one in (own, assumed)]
    return here if is_of_hashes == [False, True] else examined


def _of_the_run(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error, as far as what it rests on is of the failing run."""
    judged = cause
    for rule in (_of_known_path, _of_known_platform, _of_known_lock, _of_known_entry):
        judged = rule(judged, examined)
    judged = as_of_the_run(judged)
    return judged if judged.missing == cause.missing else replace(judged, is_by_download=False)


def standing_causes(examined: Examined) -> list[tuple[Examined, Cause]]:
    """Return the causes for which init fails in the root as it is now, or accepts anything, whatever its log says.

    That is the first confirmed one, and each of what a lock file lacks. What init mends by itself does not count. Of
    the root's other providers, only the constraints are judged besides.
    """
    x, message = replace(examined, error=None), examined.message
    is_readonly = "-lockfile=readonly" in message.options
    mended = {CauseId.NOT_LOCKED} if message.kind == "no-matching-release" and not is_readonly else set[CauseId]()
    found = (one for one in judge_causes(x) if Trait.ENDED_BY_INIT not in one.traits and one.id not in mended)
    tested = [(x, one) for one in found]
    others = [x.of_provider(entry.address) for entry in x.lock.entries if entry.address != x.address]
    of_others = ((other, _tested(other, BY_ID[CauseId.CONSTRAINT_CONFLICT])) for other in others)
    tested += [(other, cause) for other, cause in of_others if cause is not None]
    certain = [pair for pair in tested if pair[1].verdict is CauseVerdict.YES]
    return [*certain[:1], *_lacking(x, is_readonly=is_readonly)]


def _lacking(x: Examined, *, is_readonly: bool) -> Iterator[tuple[Examined, Cause]]:
    """Yield each other provider that a lock file has no hash of, or lacks since it could not be read, with the cause.

    What was never locked is added by init, and what nothing requires is removed, unless the run may write nothing.
    """
    before = {entry.address for _, entry in locked_states(x.history.before_loss) if x.history.is_repaired}
    new = new_requirements(x) if is_readonly else ()
    for other in map(x.of_provider, sorted({*x.lock.by_address, *before, *new} - {x.address})):
        if other.entry is None:
            causes = [] if other.is_unrequired else [_tested(other, BY_ID[CauseId.NOT_LOCKED])]
        else:
            lost = _tested(other, replace(BY_ID[CauseId.HAND_EDIT], test=edit_causes.lost_hashes))
            causes = [lost, *(_tested(other, BY_ID[one]) for one in _of_no_h1(other))]
            causes += [_tested(other, BY_ID[CauseId.NOT_REQUIRED])] if is_readonly else []
        yield from ((other, cause) for cause in causes if cause is not None and cause.is_probable)


def _of_known_platform(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error: what depends on a platform that is only assumed is likely at most."""
    is_assumed = Trait.OF_PLATFORM in cause.traits and examined.platform != "" and examined.is_platform_assumed
    if not is_assumed or cause.verdict is CauseVerdict.UNKNOWN:
        return cause
    verdict = CauseVerdict.LIKELY if cause.is_probable else CauseVerdict.UNKNOWN
    words = f"{cause.evidence}; that the failing run was on {examined.platform} is assumed"
    return replace(cause, verdict=verdict, evidence=words, missing=ASK_PLATFORM)


def _of_known_path(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error: none is certain where a folder is not told from a zip file, whose hashes differ."""
    error = examined.error
    is_open = examined.incident.path in {None, PackagePath.FILESYSTEM_MIRROR}
    is_known = error is None or error.kind != "package-mismatch" or not is_open
    if is_known or Trait.OF_PLATFORM not in cause.traits:
        return cause
    words = f"{cause.evidence}; whether the package was a folder or a zip file is not known"
    if cause.verdict is CauseVerdict.YES:
        return replace(cause, verdict=CauseVerdict.LIKELY, evidence=words)
    if cause.verdict is CauseVerdict.NO or cause.basis is Basis.GUESS:
        missing = "the origin of the package: --install-path"
        return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=words, missing=missing)
    return cause


def _of_known_lock(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error: only its run tells of it where the log is of another version, or constraint."""
    is_of_entry = cause.basis is not Basis.RUN and cause.id is not CauseId.LOCK_SYNTAX
    is_of_entry = is_of_entry and Trait.OF_HOST not in cause.traits
    if not is_of_entry or cause.missing == LOCK_OF_RUN:
        return cause
    if examined.is_of_other_version and examined.entry is not None:
        # Also what is not known of the version here tells nothing of that run.
        words = f"the message names {examined.message.version}, and {examined.entry.version} is locked here"
    elif not examined.history.is_constraint_of_here and cause.verdict is not CauseVerdict.UNKNOWN:
        words = f"the log is of {examined.message.constraint}, which is not what is here"
    else:
        return cause
    evidence = f"{cause.evidence}; {words}"
    return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=evidence, missing=LOCK_OF_RUN)


def _of_known_entry(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error: what the present entry rules out may have been so for an earlier one."""
    before, after = cover_since(examined) if Trait.OF_PLATFORM in cause.traits else (None, None)
    if cause.verdict is not CauseVerdict.NO or before is None or after is None:
        return cause
    words = f"{cause.evidence}; not so in commit {before.commit[:12]}: which of the two the run had is not known"
    return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=words, missing=LOCK_OF_RUN)


def as_of_the_run(cause: Cause) -> Cause:
    """Return a cause of an error: what only this machine finds makes it likely at most, and rules nothing out."""
    if cause.verdict is CauseVerdict.YES and cause.basis in {Basis.HERE, Basis.GUESS}:
        words = f"{cause.evidence}; that is found here and now, and says little about the failing run"
        return replace(cause, verdict=CauseVerdict.LIKELY, evidence=words)
    if cause.verdict is CauseVerdict.NO and cause.basis is Basis.HERE:
        missing = cause.missing or "the package of the failing run: --package PATH|HASH"
        return replace(cause, verdict=CauseVerdict.UNKNOWN, missing=missing)
    return cause


def of_no_root(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Return the causes that the failing run's own words tell, where no file here is of that run."""
    return tuple(cause for cause in causes if cause.basis is Basis.RUN and cause.is_probable)


def of_one_root(known: Sequence[Examined], groups: Sequence[tuple[Cause, ...]]) -> list[tuple[Cause, ...]]:
    """Return the causes of one error in several roots: certain only where they are in each, of whichever provider.

    A root in which each is ruled out is not the one that failed; of an error that names no provider, each root is
    examined, or none is certain. Where more than a guess speaks for one root, no guess is likely in another.
    """
    of_roots: dict[str, list[Cause]] = {}
    for x, causes in zip(known, groups, strict=True):
        of_roots.setdefault(x.root, []).extend(causes)
    told = {
        root for root, causes in of_roots.items() for one in causes if one.is_probable and one.basis is not Basis.GUESS
    }
    may_fail = [
        each for each in of_roots.values() if not each or any(one.verdict is not CauseVerdict.NO for one in each)
    ]
    certain = [{one.id for one in causes if one.verdict is CauseVerdict.YES} for causes in may_fail]
    is_whole = known[0].message.provider != "" or len(of_roots) == len(known[0].fitting)
    for_all = set[CauseId].intersection(*certain) if certain and is_whole else set[CauseId]()
    words = "; the log does not say of which root it is"

    def judged(x: Examined, cause: Cause) -> Cause:
        if told - {x.root} and cause.verdict is CauseVerdict.LIKELY and cause.basis is Basis.GUESS:
            sound = f"{x.sound_mirror.path} has a locked hash here" if x.entry and x.sound_mirror else ""
            return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=clauses(cause.evidence, sound))
        if cause.verdict is not CauseVerdict.YES or cause.id in for_all:
            return cause
        return replace(cause, verdict=CauseVerdict.LIKELY, evidence=cause.evidence + words)

    pairs = zip(known, groups, strict=True)
    return [most_likely_first(judged(x, cause) for cause in causes) for x, causes in pairs]


def of_one_message(groups: Sequence[tuple[Cause, ...]]) -> list[tuple[Cause, ...]]:
    """Return the causes of an error that names no provider, by provider: beside a certain one, no guess is likely."""
    if not any(cause.verdict is CauseVerdict.YES for causes in groups for cause in causes):
        return list(groups)

    def judged(cause: Cause) -> Cause:
        is_guess = cause.verdict is CauseVerdict.LIKELY and cause.basis is Basis.GUESS
        return replace(cause, verdict=CauseVerdict.UNKNOWN) if is_guess else cause

    return [most_likely_first(map(judged, causes)) for causes in groups]


def joined_causes(affected: Sequence[Affected], rules: Sequence[str] = ()) -> tuple[Cause, ...]:
    """Return the causes of several providers in roots.

    One that is certain or probable is there for each provider, with the roots that it holds in. Of the others each id
    is there once; a cause is ruled out only where it is for every provider. `rules` are those of the findings that led
    here.
    """
    has_several = Several.among(affected)
    rows = filter(None, (BY_KIND.get(one.examined.message.kind) for one in affected))
    # Equal ones of an error keep the order in which they are tested: one may not apply to the first provider.
    by_id: dict[CauseId, list[_Tested]] = {each: [] for row in rows for each in row.causes}
    for one in affected:
        for cause in one.causes:
            is_of_folder = cause.place == "installed" and cause.basis not in {Basis.RUN, Basis.GUESS}
            roots = one.roots[:1] if is_of_folder else one.alone.roots
            tested = _Tested(replace(cause, roots=roots), one.examined, has_several)
            by_id.setdefault(cause.id, []).append(tested)
    joined = []
    for found in filter(None, by_id.values()):
        own: dict[object, list[_Tested]] = {}
        for each in found:
            if each.cause.is_probable:
                name = "" if Trait.OF_HOST in each.cause.traits else each.examined.name
                own.setdefault((name, each.cause.title, each.cause.rank), []).append(each)
        joined += [_joined(group, affected) for group in own.values()] or [_joined(found, affected)]
    return most_likely_first(joined, suggested_causes(rules))


_MOST_NAMED = 5


def requirements_at_fault(one: Affected) -> Iterator[FilePlace]:
    """Yield the lines of the configuration that a cause rests on: whoever wrote them is the one to ask.

    They have a source that its registry does not have, a constraint that excludes the locked version, or another
    constraint, admit no version of a mirror, or require a provider that is not locked, or whose release has no package
    of the platform. Of a module that is fetched, it is the line of the call that selects its version.
    """
    for each, place in _at_fault(one):
        call = one.examined.configuration.exact_call(each)
        yield call.selected_at if call is not None else place


def _at_fault(one: Affected) -> Iterator[tuple[Requirement, FilePlace]]:
    """Yield what is required where a cause rests on it, with the line that says so."""
    x, ids = one.examined, {cause.id for cause in one.causes if cause.is_probable}
    written = [each for each in x.required if each.contributor not in {Contributor.RECORDED, Contributor.STATE}]
    if x.history.had_no_file:
        return  # what is required is locked
    if CauseId.WRONG_SOURCE in ids:
        yield from ((each, source_place(each)) for each in [one for one in written if one.source_line] or written)
    elif CauseId.NOT_LOCKED in ids or (CauseId.PLATFORM_MISSING in ids and x.entry is None):
        yield from ((each, FilePlace(each.file, each.line)) for each in written)
    elif CauseId.MIRROR_LACKS in ids and x.message.kind == "no-matching-release":
        held = [version for those in x.places.mirrors_alone.values() for version in those]
        for each in written:
            if each.constraints.terms and not any(map(each.constraints.admits, held)):
                yield each, constraint_place(each)
    elif CauseId.CONSTRAINT_CONFLICT in ids:
        clashing = {each.site for demands in conflicts(x.required)[:1] for one in demands for each in one.requirements}
        locked = x.entry.version if x.entry is not None else None
        for each in written:
            is_excluding = locked is None or not each.constraints.admits(locked)
            if each.constraints.terms and (each.site in clashing if clashing else is_excluding):
                yield each, constraint_place(each)


class Several(Struct, frozen=True):
    """Whether a diagnosis is about several providers, and about several roots; `here` is that of `Examined`."""

    providers: bool
    roots: bool
    here: str = ""

    @classmethod
    def among(cls, affected: Iterable[Affected]) -> Several:
        """Return it of what was examined, and of what a log fits."""
        affected = tuple(affected)
        roots = {root for one in affected for root in (one.examined.fitting or one.roots[:1])}
        here = affected[0].examined.shell.here if affected else ""
        return cls(len({one.examined.address for one in affected}) > 1, len(roots) > 1, here)

    def subject(self, examined: Iterable[Examined], roots: Sequence[str], *, is_of_entry: bool = False) -> str:
        """Return providers and their roots in words, as far as there are several.

        A provider of several versions has none: which root has which is not said here. With `is_of_entry` the versions
        are the locked ones, else those of the messages.
        """
        place = f"in {listing([from_top(self.here, root) for root in roots], 3)}" if self.roots and roots else ""
        releases: dict[str, set[str]] = {}
        for x in examined:
            locked = x.lock.entry(x.address) if is_of_entry else None
            release = f"{x.name} {locked.version}" if locked is not None else x.failing_release
            releases.setdefault(x.name, set()).add(release)
        names = [next(iter(own)) if len(own) == 1 else name for name, own in releases.items()]
        return " ".join(filter(None, (listing(names, 3) if self.providers else "", place)))


class _Tested(Struct, frozen=True):
    """A cause as it was tested in one place."""

    cause: Cause
    examined: Examined
    has_several: Several

    @property
    def subject(self) -> str:
        return self.has_several.subject([self.examined], self.cause.roots)

    @property
    def place(self) -> str:
        return self.has_several.subject((), self.cause.roots)


def _shown(alike: Sequence[_Tested], *, has_name: bool) -> str:
    """Return evidence that is alike in several places, as it is in the first one, with the others.

    Where the cause has the name of its only provider, that is not said again.
    """
    words, places = alike[0].cause.evidence, [one.place if has_name else one.subject for one in alike]
    if not any(places):
        return words
    # In brackets: after a colon, the redaction of secrets would take it for the value of a root named auth.
    if all(one.cause.evidence == words for one in alike):
        return f"({listing(places, 1)}) {words}"
    roots = [from_top(one.has_several.here, root) for one in alike[1:] for root in one.cause.roots]
    is_of_one = len({one.examined.address for one in alike}) == 1
    rest = f"in {listing(roots, 3)}" if is_of_one else f"of {listing(places[1:], 3)}"
    return f"({places[0]}) {words}; likewise {rest}"


def _joined(found: Sequence[_Tested], affected: Sequence[Affected]) -> Cause:
    """Return causes of one id as one: the most certain verdict, with the evidence for it from each place."""
    first = most_likely_first([one.cause for one in found])[0]
    is_same = "rank" if first.is_probable else "verdict"
    same = [one for one in found if getattr(one.cause, is_same) == getattr(first, is_same)]
    blamed = {one.examined.address for one in affected if any(cause.is_probable for cause in one.causes)}
    same.sort(key=lambda one: one.examined.address not in blamed)
    names = {one.examined.name for one in same}
    roots = tuple(dict.fromkeys(root for one in same for root in one.cause.roots)) if len(names) == 1 else ()
    subject = ""
    if len(names) == 1 and first.is_probable:
        x = same[0].examined
        fitting = [one for one in affected if one.examined.fitting and one.examined.error == x.error]
        is_of_all = x.fitting and len(same) == len(fitting)  # whichever root failed
        is_of_all = is_of_all and {*roots}.issuperset(x.fitting)
        subject = same[0].has_several.subject((one.examined for one in same), () if is_of_all else roots)
    elif Trait.OF_HOST in first.traits and not any(one.examined.fitting for one in same):
        places = dict.fromkeys(root for one in same for root in one.cause.roots)
        subject = same[0].has_several.subject((), list(places))
    every = {root for one in same for root in one.cause.roots}
    of_root = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, sorted(every, reverse=True)))})(?![\w-])")
    evidence: dict[str, list[_Tested]] = {}
    for one in same:  # where nothing differs but the root, it is said once
        words = of_root.sub("ROOT", one.cause.evidence) if one.cause.roots else one.cause.evidence
        evidence.setdefault(words, []).append(one)
    shown = [_shown(group, has_name=subject != "") for group in evidence.values()]
    is_of_all = first.is_probable or len(same) == len(affected)
    if len({one.cause.evidence for one in same}) == 1 and is_of_all:
        shown = [same[0].cause.evidence]
    more = f"; and {len(shown) - _MOST_NAMED} more likewise" if len(shown) > _MOST_NAMED else ""
    if first.verdict is CauseVerdict.NO and len(shown) > 1:
        words, rest = same[0].cause.evidence, listing([one.subject for one in same[1:]], 3)
        lead = "" if words.startswith(same[0].subject) else f"({same[0].subject}) "
        shown, more = [f"{lead}{words}; ruled out, too: {rest}"], ""
    needs = list(dict.fromkeys(one.cause.missing for one in same if one.cause.missing))
    others = f"; and {counted(len(needs) - 1, 'more fact')}" if len(needs) > 1 else ""
    moments = [one.cause.as_of for one in same if one.cause.as_of]
    return replace(
        same[0].cause,
        provider=first.provider if len({one.cause.provider for one in same}) == 1 else "",
        roots=roots,
        subject=subject,
        evidence="; ".join(shown[:_MOST_NAMED]) + more,
        missing=f"{needs[0]}{others}" if needs else "",
        is_by_download=any(one.cause.missing != "" and one.cause.is_by_download for one in same),
        as_of=min(moments, default=None),
    )
