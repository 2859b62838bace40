"""The causes of an error in one table: their meaning, their test, their rank, and the fixes that are offered. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict, replace

from locklens.doctor import lock_causes, network_causes, package_causes, provider_remedies, release_causes, remedies
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.examined import ASSUMED, Examined
from locklens.doctor.model import Basis, Cause, CauseId, CauseVerdict, NotOffered, Trait, TrustCost, most_likely_first
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from locklens.doctor.model import Judgement, RecognisedError, Remedy
    from locklens.doctor.provider_remedies import Affected


class KnownCause(Struct, frozen=True):
    """A cause that is tested: all that is known of it beside its id, which is a contract.

    Attributes:
        title: It in words, without a capital.
        meaning: The cause in a sentence.
        check: The steps of a check by hand.
        test: Judges it; returns None where it does not apply.
        remedies: Its fixes.
        traits: What is true of it whatever its verdict: said in each row, since a wrong default is a wrong diagnosis.
        rules: Ids of the findings that suggest it.
    """

    id: CauseId
    title: str
    meaning: str
    check: str
    test: Callable[[Examined], Judgement | None]
    remedies: Callable[[Affected], Iterator[Remedy]]
    traits: Trait
    rules: tuple[str, ...] = ()


CAUSES = (
    KnownCause(
        CauseId.LOCK_SYNTAX,
        "the lock file cannot be read",
        "The tools refuse a lock file with an error in it, and install nothing.",
        "terraform init names file and line; git diff shows what changed there.",
        lock_causes.lock_syntax,
        remedies.fix_file,
        Trait.STOPS_INIT,
        rules=("LK019",),
    ),
    KnownCause(
        CauseId.REPUBLISHED,
        "the version was published again with other packages",
        "The publisher, or someone with its access, replaced a version's packages, or what is locked never belonged to "
        "it.",
        "Compare the zh lines with the SHA256SUMS of the release, and ask the publisher in another channel.",
        release_causes.republished,
        remedies.fix_republished,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK001", "LK003", "LK023"),
    ),
    KnownCause(
        CauseId.HAND_EDIT,
        "the block was edited by hand",
        "A version without its hashes, or a hash that no tool writes: the block says something that nobody locked.",
        "git log -p -- .terraform.lock.hcl shows a commit that changed the version and left the hashes.",
        lock_causes.hand_edit,
        remedies.fix_entry,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK002", "LK003", "LK017", "LK023", "LK025"),
    ),
    KnownCause(
        CauseId.BAD_MERGE,
        "a merge left the lock file wrong",
        "git merges lines, not blocks: it leaves markers, a provider twice, or hashes of two versions in one block.",
        "git log --merges -- .terraform.lock.hcl; locklens git install makes the next merge go block by block.",
        lock_causes.bad_merge,
        remedies.fix_merge,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK002", "LK019", "LK023"),
    ),
    KnownCause(
        CauseId.NOT_LOCKED,
        "the provider is not locked",
        "The configuration, or a module in it, requires a provider, and the lock file was not updated with it.",
        "terraform providers lists what requires which provider; locklens why does so with file and line.",
        lock_causes.not_locked,
        remedies.fix_unlocked,
        Trait.STOPS_INIT,
        rules=("LK006", "LK037"),
    ),
    KnownCause(
        CauseId.NOT_REQUIRED,
        "the provider is locked, and nothing requires it",
        "init removes an entry that nothing requires any more, which a read-only lock file does not allow.",
        "terraform providers lists what is required; compare it with the blocks of the lock file.",
        lock_causes.not_required,
        remedies.fix_unrequired,
        Trait.NONE,
        rules=("LK007",),
    ),
    KnownCause(
        CauseId.CONSTRAINT_CONFLICT,
        "the locked version does not satisfy the constraints",
        "The locked version does not satisfy the constraints as they are now, or no version satisfies all of them.",
        "locklens why PROVIDER lists each constraint with its place, and those that exclude one another.",
        lock_causes.constraint_conflict,
        provider_remedies.fix_constraint,
        Trait.STOPS_INIT,
        rules=("LK005",),
    ),
    KnownCause(
        CauseId.WRONG_SOURCE,
        "the registry has no provider of that name",
        "The source address names a provider that its registry does not have, or does not show without a token.",
        "locklens why PROVIDER names the file and line that require it; compare it with the provider's documentation.",
        lock_causes.wrong_source,
        provider_remedies.fix_source,
        Trait.NONE,
    ),
    KnownCause(
        CauseId.OTHER_TOOL,
        "the hashes are of the other tool's registry",
        "The registries of Terraform and OpenTofu have packages of their own, with different hashes.",
        "The first line of the lock file names the tool that wrote it, each block the registry.",
        lock_causes.other_tool,
        remedies.fix_tool,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK002", "LK026", "LK032"),
    ),
    KnownCause(
        CauseId.YANKED,
        "the version is not listed any more",
        "The version or its package was taken back, or the source that is asked now never had it.",
        "curl https://HOST/v1/providers/NAMESPACE/TYPE/versions lists what most registries have.",
        release_causes.yanked,
        remedies.fix_version,
        Trait.STOPS_INIT | Trait.OF_HASHES,
    ),
    KnownCause(
        CauseId.CACHE_DIFFERS,
        "the plugin cache's copy is not the release's package",
        "The shared plugin cache holds another package, perhaps of another source or of a run that was cut.",
        "locklens verify compares it with the lock file.",
        package_causes.cache_differs,
        provider_remedies.fix_copy,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK027",),
    ),
    KnownCause(
        CauseId.PLUGIN_CORRUPTED,
        "the installed package was altered",
        "A file in .terraform/providers was changed, added or removed after it was installed.",
        "locklens verify names the files; init replaces the folder.",
        package_causes.plugin_corrupted,
        provider_remedies.fix_installed,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK027",),
    ),
    KnownCause(
        CauseId.PLUGIN_MISSING,
        "the locked package is not installed",
        "init did not run in this folder, or not since the lock file changed, or the folder was cleared or copied.",
        "Look into .terraform/providers for the version in the lock file.",
        package_causes.plugin_missing,
        provider_remedies.fix_installed,
        Trait.STOPS_INIT,
    ),
    KnownCause(
        CauseId.MIRROR_DIFFERS,
        "the mirror's copy is not the release's package",
        "A mirror holds another package under the version's name: rebuilt, damaged or altered.",
        "Hash its copy, and compare with the block: locklens verify, or doctor --package.",
        package_causes.mirror_differs,
        provider_remedies.fix_copy,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK020", "LK027"),
    ),
    KnownCause(
        CauseId.MIRROR_LACKS,
        "the mirror does not have the package",
        "The places that provider_installation allows do not have the package, and a registry was not asked.",
        "Look for HOST/NAMESPACE/TYPE in the mirror; locklens mirror fills it from the signed release.",
        package_causes.mirror_lacks,
        provider_remedies.fix_mirror,
        Trait.STOPS_INIT,
    ),
    KnownCause(
        CauseId.PLATFORM_MISSING,
        "the platform is not covered",
        "The lock file was made for other platforms, or the release has no package for this one.",
        "Look for the zh of the platform's zip file in the block; SHA256SUMS names them.",
        package_causes.platform_missing,
        remedies.fix_platform,
        Trait.STOPS_INIT | Trait.OF_HASHES | Trait.OF_PLATFORM,
        rules=("LK008", "LK009", "LK020"),
    ),
    KnownCause(
        CauseId.H1_MISSING,
        "the lock file has no h1 for the platform",
        "Plugin caches and unpacked mirrors hold folders, which only an h1 identifies: that of the locking machine.",
        "Count the h1 lines of the block: one is enough for one platform only.",
        package_causes.h1_missing,
        remedies.fix_platform,
        Trait.OF_HASHES | Trait.OF_PLATFORM,
        rules=("LK008", "LK009", "LK024"),
    ),
    KnownCause(
        CauseId.DOWNLOAD_DAMAGED,
        "the download was damaged",
        "The file that arrived is not the one that was named: cut, empty, or altered on the way.",
        "Download it once more without a proxy, and compare its SHA-256 with the release's SHA256SUMS.",
        release_causes.download_damaged,
        remedies.fix_download,
        Trait.OF_HASHES,
    ),
    KnownCause(
        CauseId.PACKAGE_ALTERED,
        "another package than the signed one is served each time",
        "Each download gives the same bytes, which are not those of the signed list: its host or a proxy has others.",
        "Download it from another network, and compare its SHA-256 with SHA256SUMS; tell the publisher.",
        release_causes.package_altered,
        remedies.fix_package,
        Trait.NONE,
    ),
    KnownCause(
        CauseId.KEY_CHANGED,
        "the release is not signed by the expected key",
        "Another key than the listed one, or than before, made the signature: a rotation, or an attack.",
        "locklens keys --history shows earlier signers; compare all 40 digits with what the publisher announced.",
        release_causes.key_changed,
        remedies.fix_signature,
        Trait.NONE,
        rules=("LK010", "LK011", "LK030"),
    ),
    KnownCause(
        CauseId.KEY_EXPIRED,
        "the signing key or the signature has expired",
        "The key or the signature has expired. Terraform refuses expired signatures, OpenTofu warns.",
        "locklens keys shows the dates; the publisher has to sign again, or to extend the key.",
        release_causes.key_expired,
        remedies.fix_signature,
        Trait.NONE,
        rules=("LK012", "LK030"),
    ),
    KnownCause(
        CauseId.KEY_REVOKED,
        "the signing key was revoked",
        "The owner took the signing key back, perhaps because it was stolen: nothing that it signed counts.",
        "Ask the publisher which key and which version replace it.",
        release_causes.key_revoked,
        remedies.fix_signature,
        Trait.STOPS_INIT,
        rules=("LK012", "LK030"),
    ),
    KnownCause(
        CauseId.CREDENTIALS,
        "the registry refused the credentials",
        "The registry or mirror wants a token, or refuses the one that was sent.",
        "Look at the credentials block and at TF_TOKEN_ variables of the runner: _ stands for a dot, __ for a dash.",
        network_causes.credentials,
        remedies.fix_credentials,
        Trait.NONE,
    ),
    KnownCause(
        CauseId.PROXY_OR_CA,
        "a proxy or a missing certificate authority is in the way",
        "A proxy, a firewall or a certificate authority that the runner does not know stands before the registry.",
        "curl -v https://HOST/.well-known/terraform.json on the runner shows who answers.",
        network_causes.proxy_or_ca,
        remedies.fix_request,
        Trait.NONE,
    ),
    KnownCause(
        CauseId.REGISTRY_DOWN,
        "the registry failed or did not answer",
        "The registry failed or was not reachable. init asks it even where everything is installed.",
        "Its status page, and the same request from another network.",
        network_causes.registry_down,
        remedies.fix_by_retry,
        Trait.NONE,
    ),
)

"""The causes; of those that a finding suggests, the likeliest stands first."""

BY_ID = {cause.id: cause for cause in CAUSES}


def explain_cause(cause: CauseId) -> tuple[str, ...]:
    """Return the lines about a cause: its title, its meaning, and how to check it by hand."""
    known = BY_ID[cause]
    title = f"{cause}  a cause that locklens doctor tests: {known.title}"
    return title, "", known.meaning, "", f"By hand: {known.check}"


def remedy_title(remedy: Remedy) -> str:
    """Return what a remedy does in words, with its provider and roots where there are several."""
    return f"{remedy.subject}: {remedy.title}" if remedy.subject else remedy.title


def cause_title(cause: Cause) -> str:
    """Return a tested cause in words, with its provider and roots where there are several."""
    title = cause.title or BY_ID[cause.id].title
    return f"{cause.subject}: {title}" if cause.subject else title


def suggested_causes(rules: Iterable[str]) -> tuple[CauseId, ...]:
    """Return the causes that findings suggest."""
    return tuple(dict.fromkeys(cause.id for rule in rules for cause in CAUSES if rule in cause.rules))


def judge_causes(examined: Examined, rules: Sequence[str] = ()) -> tuple[Cause, ...]:
    """Return the causes of one error, or of any error of a root, the most likely first.

    Args:
        examined: The known facts.
        rules: Rules of the findings that led here.
    """
    row = BY_KIND.get(examined.message.kind)
    suggested = suggested_causes(rules)
    of_roots = (cause.id for cause in CAUSES if Trait.STOPS_INIT in cause.traits)
    ids = row.causes if row is not None else (*suggested, *of_roots)
    name = str(examined.address) if examined.address is not None else ""
    causes = []
    for one in ids:
        x = _on_its_platform(examined, BY_ID[one])
        if (judged := BY_ID[one].test(x)) is not None:
            cause = Cause(**asdict(judged), id=one, traits=BY_ID[one].traits, provider=name)
            causes.append(_of_the_run(cause, x) if examined.error is not None else cause)
    return most_likely_first(causes, suggested)


def _on_its_platform(examined: Examined, known: KnownCause) -> Examined:
    """Return what is known on this machine's platform, where the log has none and hashes speak for a cause then."""
    is_told = examined.platform != "" or examined.error is None or examined.machine == ""
    if is_told or Trait.OF_PLATFORM not in known.traits:
        return examined
    sources = (*examined.incident.sources, ("platform", ASSUMED))
    here = replace(examined, incident=replace(examined.incident, platform=examined.machine, sources=sources))
    own, assumed = known.test(examined), known.test(here)
    is_of_hashes = [one is not None and one.is_probable and one.basis is Basis.HASHES for one in (own, assumed)]
    return here if is_of_hashes == [False, True] else examined


def _of_the_run(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error, as far as what it rests on is of the failing run."""
    for rule in (_of_known_path, _of_known_platform, _of_known_lock):
        cause = rule(cause, examined)
    return as_of_the_run(cause)


_MENDED_BY_INIT = frozenset({CauseId.PLUGIN_MISSING, CauseId.PLUGIN_CORRUPTED})


def standing_cause(examined: Examined) -> Cause | None:
    """Return the confirmed cause for which init fails in the root as it is now, whatever its log says; else None.

    What init replaces by itself does not count.
    """
    now = judge_causes(replace(examined, error=None))
    return next((one for one in now if one.verdict is CauseVerdict.YES and one.id not in _MENDED_BY_INIT), None)


def _of_known_platform(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error: what depends on a platform that is only assumed is likely at most."""
    source = dict(examined.incident.sources).get("platform", "")
    is_assumed = Trait.OF_PLATFORM in cause.traits and source.startswith(ASSUMED)
    if not is_assumed or cause.verdict is CauseVerdict.UNKNOWN:
        return cause
    verdict = CauseVerdict.LIKELY if cause.is_probable else CauseVerdict.UNKNOWN
    words = f"{cause.evidence}; that the failing run was on {examined.platform} is assumed"
    return replace(cause, verdict=verdict, evidence=words, missing=package_causes.ASK_PLATFORM)


def _of_known_path(cause: Cause, examined: Examined) -> Cause:
    """Return a cause of an error: none is certain where a folder is not told from a zip file, whose hashes differ."""
    error = examined.error
    is_known = error is None or error.kind != "package-mismatch" or examined.incident.path is not None
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
    """Return a cause of an error: the files here tell nothing where the log is of another version, or constraint."""
    is_of_files = cause.basis in {Basis.FILES, Basis.HASHES} and cause.id is not CauseId.LOCK_SYNTAX
    is_other = examined.is_of_other_version or not examined.is_constraint_of_here
    if not is_other or not is_of_files or cause.verdict is CauseVerdict.UNKNOWN:
        return cause
    about = examined.message.version if examined.is_of_other_version else examined.message.constraint
    words = f"{cause.evidence}; the log is of {about}, which is not what is here"
    missing = "the lock file of the failing run: name its root with -- ROOT, or check its commit out"
    return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=words, missing=missing)


def as_of_the_run(cause: Cause) -> Cause:
    """Return a cause of an error: what only this machine finds makes it likely at most, and rules nothing out."""
    if cause.verdict is CauseVerdict.YES and cause.basis in {Basis.HERE, Basis.GUESS}:
        words = f"{cause.evidence}; that is found here and now, and says little about the failing run"
        return replace(cause, verdict=CauseVerdict.LIKELY, evidence=words)
    if cause.verdict is CauseVerdict.NO and cause.basis is Basis.HERE:
        missing = cause.missing or "the package of the failing run: --package PATH|HASH"
        return replace(cause, verdict=CauseVerdict.UNKNOWN, missing=missing)
    return cause


def of_one_root(known: Sequence[Examined], groups: Sequence[tuple[Cause, ...]]) -> list[tuple[Cause, ...]]:
    """Return the causes of one error in roots whose entries differ: certain only where they are for all of them.

    Where more than a guess speaks for a root, none is likely in another one that accepts the mirror's copy.
    """
    is_told = any(cause.is_probable and cause.basis is not Basis.GUESS for causes in groups for cause in causes)
    certain = [{cause.id for cause in causes if cause.verdict is CauseVerdict.YES} for causes in groups]
    for_all = set[CauseId].intersection(*certain) if certain else set[CauseId]()
    words = f"; the log does not say of which of {len(groups)} entries it is"

    def judged(x: Examined, cause: Cause) -> Cause:
        if is_told and cause.verdict is CauseVerdict.LIKELY and cause.basis is Basis.GUESS and x.entry is not None:
            locked = frozenset(x.entry.hashes)
            sound = next((one.path for one in x.of_kind("mirror") if one.hashes & locked), "")
            evidence = f"{cause.evidence}; {sound} has a locked hash here"
            return replace(cause, verdict=CauseVerdict.UNKNOWN, evidence=evidence) if sound else cause
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
    by_id: dict[CauseId, list[_Tested]] = {}
    for one in affected:
        for cause in one.causes:
            tested = _Tested(replace(cause, roots=one.alone.roots), one.examined, has_several)
            by_id.setdefault(cause.id, []).append(tested)
    joined = []
    for found in by_id.values():
        own: dict[object, list[_Tested]] = {}
        for each in found:
            if each.cause.is_probable:
                name = "" if each.cause.id in _OF_THE_WAY else each.examined.name
                own.setdefault((name, each.cause.title, each.cause.rank), []).append(each)
        joined += [_joined(group, affected) for group in own.values()] or [_joined(found, affected)]
    return most_likely_first(joined, suggested_causes(rules))


_MOST_NAMED = 5

_OF_THE_WAY = frozenset({CauseId.REGISTRY_DOWN, CauseId.PROXY_OR_CA, CauseId.CREDENTIALS})
"""Causes between the machine and a host: one such fact holds for each provider that the host was asked for."""


class Several(Struct, frozen=True):
    """Whether a diagnosis is about several providers, and about several roots."""

    providers: bool
    roots: bool

    @classmethod
    def among(cls, affected: Iterable[Affected]) -> Several:
        """Return it of what was examined, and of what a log fits."""
        affected = tuple(affected)
        roots = {root for one in affected for root in (one.examined.fitting or one.roots[:1])}
        return cls(len({one.examined.address for one in affected}) > 1, len(roots) > 1)

    def subject(self, examined: Examined, roots: Sequence[str]) -> str:
        """Return a provider and its roots in words, as far as there are several."""
        return self.subjects([examined.release], roots)

    def subjects(self, releases: Sequence[str], roots: Sequence[str]) -> str:
        """Return providers and their roots in words, as far as there are several."""
        place = f"in {listing(list(roots), 3)}" if self.roots and roots else ""
        return " ".join(filter(None, (listing(list(releases), 3) if self.providers else "", place)))


class _Tested(Struct, frozen=True):
    """A cause as it was tested in one place."""

    cause: Cause
    examined: Examined
    has_several: Several

    @property
    def subject(self) -> str:
        return self.has_several.subject(self.examined, self.cause.roots)


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
        subject = same[0].has_several.subject(x, () if is_of_all else roots)
    elif first.id in _OF_THE_WAY and not any(one.examined.fitting for one in same):
        places = dict.fromkeys(root for one in same for root in one.cause.roots)
        subject = replace(same[0].has_several, providers=False).subjects((), list(places))
    evidence: dict[str, list[str]] = {}
    for one in same:
        evidence.setdefault(one.cause.evidence, []).append(one.subject)
    # In brackets: behind a colon, the redaction of secrets would take it for the value of a root named auth.
    shown = [f"({listing(places, 1)}) {words}" for words, places in evidence.items()]
    is_of_all = first.is_probable or len(same) == len(affected)
    shown = list(evidence) if len(evidence) == 1 and is_of_all else shown
    more = f"; and {len(shown) - _MOST_NAMED} more likewise" if len(shown) > _MOST_NAMED else ""
    if first.verdict is CauseVerdict.NO and len(shown) > 1:
        rest = counted(len(same) - 1, "other is", "others are")
        shown, more = [f"({same[0].subject}; {rest} ruled out, too) {same[0].cause.evidence}"], ""
    needs = list(dict.fromkeys(one.cause.missing for one in same if one.cause.missing))
    others = f"; and {len(needs) - 1} more likewise" if len(needs) > 1 else ""
    moments = [one.cause.as_of for one in same if one.cause.as_of]
    return replace(
        same[0].cause,
        provider=first.provider if len({one.cause.provider for one in same}) == 1 else "",
        roots=roots,
        subject=subject,
        evidence="; ".join(shown[:_MOST_NAMED]) + more,
        missing=f"{needs[0]}{others}" if needs else "",
        as_of=min(moments, default=None),
    )


def _strength(cause: Cause) -> int:
    """Return 2 for a certain cause, 1 for a likely one with evidence, 0 for a likely one by the kind of the error."""
    return 2 if cause.verdict is CauseVerdict.YES else int(cause.basis is not Basis.GUESS)


def remedies_for(affected: Sequence[Affected]) -> tuple[Remedy, ...]:
    """Return the remedies for certain and probable causes, each command once, those without a cost in trust first."""
    found: dict[object, list[tuple[Remedy, Affected]]] = {}
    best: dict[RecognisedError | None, int] = {}
    for one in affected:
        strengths = (_strength(each) for each in one.causes if each.is_probable)
        best[one.examined.error] = max(best.get(one.examined.error, 0), *strengths, 0)
    for one in affected:
        causes = [each for each in one.causes if each.is_probable]
        if one.examined.error is not None:  # beside a stronger cause of its error, a weaker one is of no use
            causes = [each for each in causes if _strength(each) == best[one.examined.error]]
        offered = [remedy for cause in causes for remedy in BY_ID[cause.id].remedies(one)]
        if any(Trait.OF_HASHES in cause.traits for cause in causes):
            offered = [*provider_remedies.copies(one), *offered]
        for remedy in offered:  # two causes may have one fix, and roots with one entry stand in any order
            found.setdefault(frozenset((remedy.command or remedy.title).split()), []).append((remedy, one))
    if not found:  # where today's release is as locked, init tells whether the error has gone
        sound = (one for one in affected if one.examined.met_release and not one.examined.stale)
        own = [one for one in sound if one.causes and not one.examined.fitting]
        found = {one.next_step: [(remedies.run_again(one), one)] for one in own}
    costs, has_several = list(TrustCost), Several.among(affected)
    everywhere = {root for one in affected for root in one.roots}
    titles = Counter(group[0][0].title for group in found.values())
    named, of_writes = [], {one.examined.name for group in found.values() for remedy, one in group if remedy.write}
    for group in found.values():
        remedy, one = group[0]
        roots = {
            root: None
            for each, other in group
            for root in (other.alone.roots if other.examined.fitting else other.roots[: each.roots])
        }
        subject = has_several.subjects(list({other.examined.release: None for _, other in group}), list(roots))
        unsaid = [
            words for word, words in _STANDS_FOR.items() if word in f"{remedy.command} " and word not in remedy.note
        ]
        if remedy.write and (others := sorted(of_writes - {other.examined.name for _, other in group})):
            unsaid.append(f"{listing(others, 3)} {'needs' if len(others) == 1 else 'need'} another fix")
        note = "; ".join(filter(None, (remedy.note, *unsaid)))
        remedy = replace(remedy, roots=max(remedy.roots, len(roots)), note=note)
        is_of_some = has_several.roots and len(roots) < len(everywhere)
        is_named = subject and (titles[remedy.title] > 1 or one.examined.fitting or is_of_some)
        named.append(replace(remedy, subject=subject) if is_named else remedy)
    return tuple(sorted(named, key=lambda remedy: costs.index(remedy.trust)))


_STANDS_FOR = {
    "OS_ARCH": "OS_ARCH stands for the platform of the runner, such as linux_amd64",
    "=ROOT ": "ROOT stands for the root that failed, which the log does not tell",
}
"""What the words of a command line stand for that its reader has to fill in."""


def not_offered_for(causes: Sequence[Cause]) -> tuple[NotOffered, ...]:
    """Return the popular fixes that would hide the causes; only where one of them is about hashes or signatures."""
    possible = [cause for cause in causes if cause.verdict is not CauseVerdict.NO]
    ids = {cause.id for cause in possible}
    fixes = []
    if any(Trait.OF_HASHES in cause.traits for cause in possible):
        fixes += [
            NotOffered(
                "delete the lock file and run init",
                "accepts whatever the source holds now, for every provider, and loses what was reviewed",
            ),
            NotOffered(
                'run "providers lock" without checking',
                "adds the hashes of today beside the old ones and says nothing, even for a package published again",
            ),
            NotOffered("init -upgrade", "moves every provider, and does not help for a version that stays"),
        ]
    if CauseId.H1_MISSING in ids or CauseId.CACHE_DIFFERS in ids:
        words = "records the hash of one platform without the signed list, which fails elsewhere with this error"
        fixes.append(NotOffered("plugin_cache_may_break_dependency_lock_file", words))
    if ids & {CauseId.KEY_CHANGED, CauseId.KEY_REVOKED, CauseId.KEY_EXPIRED}:
        words = "installs packages that nobody vouches for"
        fixes.append(NotOffered("a mirror or a tool that does not check signatures", words))
    if CauseId.PROXY_OR_CA in ids:
        words = "lets anyone between answer for the registry"
        fixes.append(NotOffered("turn off TLS verification", words))
    return tuple(fixes)
