"""The fixes for what several providers and roots have: each command once, with those it is of, in one order. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor import provider_remedies, remedies, version_remedies
from locklens.doctor.causes import BY_ID, cause_title
from locklens.doctor.judging import Several
from locklens.doctor.messages import WARNINGS
from locklens.doctor.mistyped import meant_by
from locklens.doctor.model import Basis, Cause, CauseId, CauseVerdict, Trait, TrustCost
from locklens.doctor.run_remedies import run_again
from locklens.packages.installed import KEPT_ASIDE
from locklens.text import clauses, listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Remedy

_CERTAIN = 2


def _strength(cause: Cause) -> int:
    """Return `_CERTAIN`, 1 for a likely cause with evidence, or 0 for a likely one by the kind of the error."""
    return _CERTAIN if cause.verdict is CauseVerdict.YES else int(cause.basis is not Basis.GUESS)


def _is_lost(x: Examined) -> bool:
    """True if the registry answered that it does not have the release, and neither a mirror nor a copy may do."""
    return x.today.is_denied and not x.is_of_mirror_alone and x.sound_copy is None


def _is_lost_to_tool(one: Affected) -> bool:
    """True if the wrong tool ran, whose registry lacks a provider: no other version of another one makes init pass."""
    is_wrong = any(each.id is CauseId.OTHER_TOOL and each.verdict is CauseVerdict.YES for each in one.causes)
    return is_wrong and one.examined.message.kind == "provider-unknown"


def _ending_loss(affected: Sequence[Affected]) -> dict[str, Collection[str]]:
    """Return the roots that the wrong tool's registry failed, with the ids of the fixes that end all their errors.

    A source that names the other registry ends the error of its provider alone.
    """
    errors = [one for one in affected if one.examined.message.kind not in WARNINGS]
    lost = {one.examined.root for one in errors if _is_lost_to_tool(one)}
    others = {one.examined.root for one in errors if not _is_lost_to_tool(one)}
    return {root: {"use-tool", *(() if root in others else ("correct-source",))} for root in lost}


def _told(one: Affected) -> object:
    """Return what a message tells of: a warning, of each provider; an error that names none, of one of them."""
    x = one.examined
    return x.error, x.address if x.message.kind in WARNINGS else None


def _stopping(affected: Sequence[Affected]) -> dict[str, str]:
    """Return, without a log, the likeliest cause for which init fails in each root, in a clause.

    What init mends by itself is no such cause, and neither is a provider that it would lock.
    """
    found: dict[str, tuple[Cause, str]] = {}
    for one in affected if all(each.examined.error is None for each in affected) else ():
        for cause in one.causes:
            is_ended = Trait.ENDED_BY_INIT in cause.traits or cause.id is CauseId.NOT_LOCKED
            is_stopping = cause.is_probable and bool(cause.traits & (Trait.STOPS_INIT | Trait.OF_SIGNATURE))
            root, before = one.examined.root, found.get(one.examined.root)
            if is_stopping and not is_ended and (before is None or cause.rank < before[0].rank):
                found[root] = cause, one.examined.name
    fails = {root: "fails" if cause.verdict is CauseVerdict.YES else "may fail" for root, (cause, _) in found.items()}
    return {
        root: f"init {fails[root]} for another cause: {name}: {cause_title(cause)}"
        for root, (cause, name) in found.items()
    }


def _behind(remedy: Remedy, cause: Cause, stopping: str) -> Remedy:
    """Return a remedy, as one that fails where its command is init, and another cause stops that."""
    is_of_init = Trait.ENDED_BY_INIT in cause.traits and remedy.id in _FETCHING
    return replace(remedy, is_partial=True, note=clauses(remedy.note, stopping)) if is_of_init and stopping else remedy


def _meant_by_mistyped(affected: Sequence[Affected]) -> set[tuple[str, ProviderAddress | None]]:
    """Return the locked providers, each with its root, that an address may mean of which no registry has a provider."""
    wrong = (one.examined for one in affected if any(_is_wrong_source(each) for each in one.causes))
    return {(x.root, address) for x in wrong if (address := meant_by(x)) is not None}


def _is_wrong_source(cause: Cause) -> bool:
    return cause.id is CauseId.WRONG_SOURCE and cause.is_probable


def remedies_for(affected: Sequence[Affected]) -> tuple[Remedy, ...]:
    """Return the remedies for certain and probable causes, each command once, those without a cost in trust first.

    One after which init fails all the same comes after the others, unless these accept what nothing vouches for; so
    does another run, which ends no other certain error of the log. A tool that the repository speaks against is the
    last of those after which init passes.
    """
    found: dict[object, list[tuple[Remedy, Affected]]] = {}
    best: dict[object, int] = {}
    for one in affected:
        strengths = (_strength(each) for each in one.causes if each.is_probable)
        best[_told(one)] = max(best.get(_told(one), 0), *strengths, 0)
    lost, stopping = _ending_loss(affected), _stopping(affected)
    mistyped = _meant_by_mistyped(affected)
    for one in affected:
        causes = [each for each in one.causes if each.is_probable]
        if not one.examined.is_of_root:  # there is no file here that a fix could change
            causes = [each for each in causes if Trait.OF_HOST in each.traits]
        offered = _offered(one, causes, best[_told(one)], stopping.get(one.examined.root, ""), lost)
        if (one.examined.root, one.examined.address) in mistyped:  # it is required once the source is corrected
            offered = [each for each in offered if each.id != "prune"]
        for remedy in offered:
            # Two causes may have one fix, and roots with one entry are in any order.
            key = remedy.title if remedy.host else remedy.command or remedy.title
            found.setdefault(frozenset(key.split()), []).append((remedy, one))
    if not found:  # where today's release is as locked, init tells whether the error has gone
        sound = (one for one in affected if one.examined.met_release and not one.examined.stale)
        for one in sound:
            if one.causes and not one.examined.fitting:
                found.setdefault(one.next_step, []).append((run_again(one), one))
    costs = list(TrustCost)
    for group in found.values():  # one command for several roots or providers costs what it does where it costs most
        group.sort(key=lambda pair: -costs.index(pair[0].trust))
    offers = _kept_first(list(_named(_of_providers(_of_roots(found.values())), affected)))
    retried = {_told(one) for group in found.values() for remedy, one in group if remedy.id == "retry"}
    is_retry_partial = any(strength == _CERTAIN and told not in retried for told, strength in best.items())

    def place(one: Remedy) -> tuple[bool, bool, bool, int]:
        is_partial = one.is_partial or (is_retry_partial and one.id == "retry")
        return one.trust is TrustCost.HIGH, is_partial, one.is_doubtful, costs.index(one.trust)

    return tuple(sorted(offers, key=place))


def _offered(
    one: Affected, causes: Sequence[Cause], best: int, stopping: str, lost: Mapping[str, Collection[str]]
) -> Sequence[Remedy]:
    """Return the remedies for causes of one provider; `best` is the strength of the strongest cause of its error.

    `stopping` is why init fails in the root all the same, "" where it does not; `lost` are the roots whose error only
    the other tool, or its registry, ends, with the ids of such fixes.
    """
    x, weaker = one.examined, list[Cause]()
    if x.error is not None:  # beside a stronger cause of its error, a weaker one is of no use
        weaker = [each for each in causes if _strength(each) != best]
        causes = [each for each in causes if each not in weaker]
    offered = [_behind(remedy, cause, stopping) for cause in causes for remedy in BY_ID[cause.id].remedies(one)]
    if causes and not offered and x.fitting:  # of one root of several, even a sure cause is likely
        offered = [remedy for cause in weaker for remedy in BY_ID[cause.id].remedies(one)]
    if x.root in lost:
        offered = [each for each in offered if each.id in lost[x.root]] or offered
    if any(Trait.OF_HASHES in cause.traits for cause in causes):
        copies = list(provider_remedies.copies(one))  # one for another machine helps only where that has a mirror
        offered = [*(each for each in copies if each.write), *offered, *(each for each in copies if not each.write)]
    if not _is_lost(x):
        return offered
    there = [each for each in offered if each.id not in _OF_RELEASE]
    other = f"Upgrade {x.name} to another version that is listed"
    return there or list(version_remedies.upgrade(one, other) if offered else ())


def _of_roots(found: Iterable[list[tuple[Remedy, Affected]]]) -> list[list[tuple[Remedy, Affected]]]:
    """Return remedies with those as one that differ in nothing but their roots, which require and lock the same."""
    alike: dict[object, list[tuple[Remedy, Affected]]] = {}
    for number, group in enumerate(found):
        remedy, one = group[0]
        key: object = number
        if one.is_by_roots(remedy):
            x = one.examined
            is_edit = remedy.write is not None and remedy.write.edits_constraints  # its title has version and places
            state = () if is_edit else (x.release, str(x.constraints))
            key = replace(one.in_roots(remedy, ()), size=None, roots=0), x.message.says, state
        alike.setdefault(key, []).extend(group)
    joined = []
    for group in alike.values():
        remedy, one = group[0]
        roots = list(dict.fromkeys(root for each, other in group for root in _roots_of(each, other)))
        if len({each.command for each, _ in group}) > 1 and one.is_by_roots(remedy):
            group = [(replace(one.in_roots(remedy, roots), roots=each.roots), other) for each, other in group]  # noqa: PLW2901
        joined.append(group)
    return joined


def _of_providers(found: Iterable[list[tuple[Remedy, Affected]]]) -> list[list[tuple[Remedy, Affected]]]:
    """Return remedies with those as one that lock or restore providers of the same roots in the same way."""
    alike: dict[object, list[list[tuple[Remedy, Affected]]]] = {}
    for number, group in enumerate(found):
        remedy, one = group[0]
        key: object = number
        if remedy.id in _OF_SEVERAL and remedy.write is not None and one.is_by_words(remedy):
            # The title names the provider, or its version.
            write = replace(remedy.write, providers=())
            key = replace(remedy, title="", command="", size=None, write=write, more=0, is_warned=False)
        alike.setdefault(key, []).append(group)
    joined = []
    for groups in alike.values():
        group = [pair for each in groups for pair in each]
        if len(groups) > 1:
            remedy, one = group[0]
            names = list(dict.fromkeys(other.examined.name for _, other in group))
            sizes = [each[0][0].size for each in groups]
            size = sum(filter(None, sizes)) if None not in sizes else None
            more, is_warned = sum(each[0][0].more for each in groups), any(each[0][0].is_warned for each in groups)
            title, whole = remedies.title_of_several(remedy, names), one.of_providers(remedy, names)
            remedy = replace(whole, title=title, size=size, more=more, is_warned=is_warned)
            group = [(remedy, other) for _, other in group]
        joined.append(group)
    return joined


def _named(found: Collection[Sequence[tuple[Remedy, Affected]]], affected: Sequence[Affected]) -> Iterator[Remedy]:
    """Yield each remedy once, with the providers and roots that it is of, and what its reader has to know."""
    has_several = Several.among(affected)
    everywhere, everyone = {root for one in affected for root in one.roots}, {one.examined.name for one in affected}
    titles = Counter(group[0][0].title for group in found)
    written = {
        (one.examined.name, root) for group in found for each, one in group if each.write for root in each.write.roots
    }
    for group in found:
        remedy, one = group[0]
        roots = {root: None for each, other in group for root in _roots_of(each, other)}
        several = replace(has_several, providers=has_several.providers and not remedy.is_of_all)
        subject = several.subject((other.examined for _, other in group), list(roots))
        if one.examined.fitting and len(roots) == 1:
            place, write = one.path(*roots), remedy.write
            write = replace(write, next_step=_in_root(write.next_step, place)) if write is not None else None
            remedy = replace(remedy, command=_in_root(remedy.command, place), write=write)
        unsaid = stand_ins(remedy)
        fixed = {name for name, root in written if root in roots}
        left = fixed - {other.examined.name for _, other in group}
        if remedy.write and (others := sorted(left)):
            unsaid.append(f"{listing(others, 3)} {'needs' if len(others) == 1 else 'need'} another fix")
        size = None if remedy.is_of_all and has_several.providers and remedy.size else remedy.size
        pruned = remedies.pruned_words(remedy, [other for _, other in group]) if remedy.id in remedies.LOCKING else ""
        lacking = remedies.lacking_words(remedy, [other for _, other in group], fixed)
        compared = remedies.words_of_compared(remedy, [other for _, other in group])
        callers = version_remedies.words_of_callers(remedy, [other for _, other in group])
        note = clauses(pruned, lacking, callers, remedy.note, compared, remedies.words_of_more(remedy), *unsaid)
        is_partial = remedy.is_partial or bool(pruned or lacking)
        remedy = replace(remedy, roots=max(remedy.roots, len(roots)), size=size, note=note, is_partial=is_partial)
        is_of_some = has_several.roots and len(roots) < len(everywhere)
        names = {other.examined.name for _, other in group}
        is_told = remedy.host or remedy.is_of_all or all(name in remedy.title for name in names)
        is_of_some |= has_several.providers and not is_told and names != everyone
        is_named = subject and (titles[remedy.title] > 1 or one.examined.fitting or is_of_some)
        yield replace(remedy, subject=subject) if is_named else remedy


def _in_root(command: str, root: str) -> str:
    """Return a command line with a root in the place of ROOT."""
    for option in ("-chdir=", "--root="):
        command = command.replace(f"{option}ROOT", shell_words([f"{option}{root}"]))
    return command


def _kept_first(remedies: Sequence[Remedy]) -> list[Remedy]:
    """Return remedies in an order in which none replaces a package that a later one moves aside, to keep it.

    What fetches one package fetches those of all providers, so that the last remedy that moves any aside does it alone.
    """
    kept = [remedy for remedy in remedies if KEPT_ASIDE in remedy.command]
    late = [remedy for remedy in remedies if kept and remedy not in kept and remedy.id in _FETCHING]
    found = []
    for remedy in remedies:
        moving, _, fetching = remedy.command.rpartition(" && ")
        later = kept[kept.index(remedy) + 1 :] if remedy in kept else []
        if any(fetching and one.command.endswith(f" && {fetching}") for one in later):
            write = replace(remedy.write, next_step="") if remedy.write is not None else None
            note = clauses(remedy.note, "a later fix fetches the package again")
            found.append(replace(remedy, command=moving, note=note, write=write))
        elif remedy not in late:
            found.append(remedy)
    return [*found, *late]


_OF_RELEASE = frozenset({"lock-platform", "accept-republished", "reinstall", "replace-copy"})
"""Fixes whose commands need the locked release, or a package of it, from the place that has it."""

_OF_SEVERAL = frozenset({"lock", "lock-platform", "prune", "restore-entry"})
"""Fixes whose commands take several providers."""

_FETCHING = frozenset({"reinstall", "fill-mirror", "retry", "run-again", "use-tool"})
"""Fixes whose commands fetch each package that is not the locked one, and replace what is in its place."""


def _roots_of(remedy: Remedy, one: Affected) -> Sequence[str]:
    """Return the roots that a remedy is named for: of those that a log fits, the ones that it changes."""
    roots = one.alone.roots if one.examined.fitting else one.roots[: remedy.roots]
    written = remedy.write.roots if remedy.write is not None else roots
    return [root for root in roots if root in written] or written


def stand_ins(remedy: Remedy) -> list[str]:
    """Return what the words stand for that the reader of a remedy has to fill in, where its note does not say that."""
    return [words for word, words in _STANDS_FOR.items() if word in f"{remedy.command} " and word not in remedy.note]


_STANDS_FOR = {
    "OS_ARCH": "OS_ARCH stands for the platform of the runner, such as linux_amd64",
    "=ROOT ": "ROOT stands for the root that failed, which the log does not tell",
}
"""What the words of a command line stand for that its reader has to fill in."""
