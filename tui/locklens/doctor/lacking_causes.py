"""Causes in what a place that was asked does not have: a version or its package. Each function tests one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from locklens.dialect import DIALECTS, OPENTOFU
from locklens.doctor.judged_copies import ASK_PLATFORM
from locklens.doctor.model import Basis, CauseVerdict, Judgement, PackagePath
from locklens.doctor.network_causes import ListHere, list_here, listed_words
from locklens.doctor.reasons import NetworkReason
from locklens.text import clauses, counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.doctor.examined import Examined
    from locklens.releases import Listing
    from locklens.versions import Version

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_SAME_REQUEST = "the same request on the runner"
OF_THAT_TIME = "whether it fails again: run init"
_INSTALLATION = "provider_installation of the runner"
_COMMAND_OF_RUN = "the command line that failed: its -fs-mirror or -net-mirror"
_NAMED_ALONE = "providers lock asks a mirror where its command line names one"


def _may_be_of_named_mirror(x: Examined) -> bool:
    """True if a command of `providers` lacks a locked version that its registry lists, and its line is not known."""
    versions, entry = x.today.listing, x.entry
    is_listed = versions is not None and versions.is_known and entry is not None and versions.has(entry.version)
    return x.message.has_unknown_options and is_listed and not x.is_of_other_version


def mirror_lacks(x: Examined) -> Judgement | None:
    """Test if the places that the tool was allowed to search lack the package, which its registry may have."""
    if x.error is None:
        return _empty_mirrors(x)
    if x.message.is_of_registry_alone:
        return Judgement(_NO, "the one place that the message lists is the registry", basis=Basis.RUN)
    if x.message.kind == "mirror-unreadable":
        title = "the folder of the mirror is missing, or cannot be read"
        return Judgement(_YES, "the message says so", basis=Basis.RUN, title=title)
    if x.message.has_no_source or x.is_without_source:
        return _without_source(x)
    match x.message.kind:
        case "not-in-sources":
            return _not_in_sources(x)
        case "oci-tag-missing":
            words = "the message says so, of the OCI repository: it has no tag of the version, or not its manifest"
            words = f"{clauses(words, listed_words(x))}; a 404 may be a proxy's"
            return Judgement(_LIKELY, words, _SAME_REQUEST, x.today.as_of, basis=Basis.RUN)
        case "platform-unavailable" if (unavailable := _without_platform(x)) is not None:
            return unavailable
        case "no-matching-release":
            return _without_release(x)
        case "version-gone":
            return _outdated_mirror(x)
        case _:
            return _without_file(x) if x.message.reason is NetworkReason.ABSENT else None


def _without_source(x: Examined) -> Judgement:
    """Judge settings that leave no place to install a provider from."""
    title, words = "provider_installation has no place to install from", "by the settings here, it has none"
    if x.message.has_no_source:
        title = f"no place of provider_installation is for {x.name}: include and exclude leave it out"
        words = "the message lists no place that was searched"
    return Judgement(_LIKELY, words, _INSTALLATION, basis=Basis.RUN, title=title)


def _not_in_sources(x: Examined) -> Judgement:
    """Judge places that the message lists, none of which has the package."""
    place = next(iter(x.message.own_folders), "each place that was searched")
    words = clauses(f"the message says so, of {place}", listed_words(x))
    if x.message.searched_server:
        words = f"{words}; a 404 of {x.message.searched_server} may be a proxy's"
        return Judgement(_LIKELY, words, _SAME_REQUEST, x.today.as_of, basis=Basis.RUN)
    return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.RUN)


def _without_platform(x: Examined) -> Judgement | None:
    """Judge a release that was not offered for a platform; None where the release itself may lack it."""
    has_it = x.platform in x.today.platforms and not x.is_left_out
    if x.is_of_other_version:
        return None
    if x.message.own_mirror:
        if x.today.is_known and not has_it:
            return None
        words = f"{_says_of_its_mirror(x)}{f'; {x.sums} names the package' if has_it else ''}"
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.RUN)
    if not has_it and x.places.asks_registry:
        return None
    if has_it and x.places.asks_registry and not x.is_of_mirror:
        title = f"what the failing run asked did not have the package for {x.platform}"
        is_there = x.today.offered is not None and not x.today.offered.problem
        there, then = (", and the registry offers it now", " then") if is_there else ("", "")
        words = f"{x.sums} names it{there}: a mirror was asked, or the registry did not offer it{then} (404)"
        return Judgement(_LIKELY, words, _INSTALLATION, x.today.as_of, basis=Basis.RUN, title=title)
    words = f"{x.sums} names a" if has_it else "the settings here ask mirrors alone; the message is of a"
    words = f"{words} package of {x.platform}, and what the failing run asked has none"
    return Judgement(_LIKELY, words, _INSTALLATION, x.today.as_of, basis=Basis.RUN)


def _without_file(x: Examined) -> Judgement:
    """Judge a host that answered 404, which may be a mirror's."""
    host = x.message.host or "the host"
    title = f"the mirror {host} did not have the file (404)"
    words = clauses(f"the message says so: {host}, or a proxy in its place, answered 404", listed_words(x))
    if "does not have archive index" in x.message.words:
        title = f"the mirror {host} did not have the file of {x.failing_release} (404)"
        words = f"{words}; its index, or another source of that run, had listed the version"
    if "provider mirror" in x.message.words or (x.is_of_mirror and x.is_path_of_run):
        return Judgement(_LIKELY, words, _SAME_REQUEST, x.today.as_of, basis=Basis.RUN, title=title)
    if x.is_of_mirror or not x.places.asks_registry:
        words = f"{words}; that it is a mirror is assumed from the settings here"
        return Judgement(_LIKELY, words, _INSTALLATION, x.today.as_of, basis=Basis.RUN, title=title)
    return Judgement(_UNKNOWN, words, f"if {host} is a mirror: {_INSTALLATION}", x.today.as_of, basis=Basis.RUN)


def _without_release(x: Examined) -> Judgement | None:
    """Judge mirrors without a version that the constraints admit: that of the log's command, or those of the settings.

    Where those of the settings have one now, the failing run had others, or it came later.
    """
    own, held, constraints = x.message.own_mirror, x.places.mirrors_alone, x.message.constraints or x.constraints
    if x.address is None or not x.required or not (own or held):
        return None
    there = "; ".join(f"{place} has {_versions_of(x.name, those)}" for place, those in held.items())
    title = f"the mirror has no version of {x.name} that satisfies the constraints"
    words = clauses(_says_of_its_mirror(x), there) if own else f"the message says so of what it asked, and {there}"
    if not own and any(map(constraints.admits, (version for those in held.values() for version in those))):
        return Judgement(_UNKNOWN, f"{there} now, which {constraints} admits", _INSTALLATION, basis=Basis.HERE)
    if x.today.listing is None or not x.today.listing.is_known:
        return Judgement(_LIKELY, words, f"what {x.address.host} lists", basis=Basis.RUN, title=title)
    number = sum(constraints.admits(one.version) for one in x.today.listing.versions)
    if not number:
        return None
    is_told, as_of = own != "" or x.is_path_of_run, x.today.listing.as_of
    words = f"{words}; {x.address.host} lists {counted(number, 'version')} that {constraints} admits"
    words = words if is_told else f"{words}; that it was a mirror is assumed from the settings here"
    missing = "" if is_told else "the origin of the package: --install-path"
    return Judgement(_YES if is_told else _LIKELY, words, missing, as_of, basis=Basis.RUN, title=title)


def _versions_of(name: str, versions: Sequence[Version]) -> str:
    """Return the versions of a provider that a mirror has, the newest first."""
    newest_first = [str(version) for version in reversed(versions)]
    return f"{name} {listing(newest_first, 3)} alone" if versions else f"no package of {name}"


def _says_of_its_mirror(x: Examined) -> str:
    """Return that the message is of the mirror that the command names."""
    return f"the message says so, of {x.message.own_mirror}, which the command of the log names"


def _outdated_mirror(x: Examined) -> Judgement | None:
    """Judge a mirror that does not have the locked version."""
    if x.is_of_other_version:
        return None
    if not x.is_of_mirror:
        if not _may_be_of_named_mirror(x):
            return None
        words = clauses("the message says that what it asked does not have the version", listed_words(x), _NAMED_ALONE)
        return Judgement(_LIKELY, words, _COMMAND_OF_RUN, x.today.as_of, basis=Basis.RUN)
    asked = x.message.own_mirror
    words = f"the message says that what it asked{f', {asked},' if asked else ''} does not have the version"
    words = clauses(words, listed_words(x))
    copies = x.of_kind("mirror")
    if held := next((one for one in copies if one.platform == x.platform), next(iter(copies), None)):
        words = f"{words}; {held.path} is there now"
    elif x.places.mirrors:
        words = f"{words}; {listing(list(x.places.mirrors), 3)} has no package of {x.release}"
    if x.is_path_of_run:
        return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.RUN)
    words = f"{words}; that it was a mirror is assumed from the settings here"
    return Judgement(_LIKELY, words, "the origin of the package: --install-path", x.today.as_of, basis=Basis.RUN)


def _empty_mirrors(x: Examined) -> Judgement | None:
    """Judge the folders that are the only source of packages here, where nothing is installed yet."""
    is_installed = any(one.is_of_root and one.hashes & x.locked for one in x.places.packages)
    if x.entry is None or x.places.asks_registry or not x.places.mirrors or is_installed or x.is_unrequired:
        return None
    if x.places.servers or x.of_kind("mirror"):
        return None
    words = (
        f"{listing(list(x.places.mirrors), 3)} has no package of {x.release} for {x.platform_on_disk or 'any platform'}"
    )
    return Judgement(_YES, f"{words}, and init asks no registry for it here", basis=Basis.HERE)


def yanked(x: Examined) -> Judgement | None:
    """Test if the registry lists the version, and if its package is where the registry says."""
    if x.message.kind == "sums-without-package":
        return _of_the_list(x)
    if x.address is None or x.entry is None:
        return None
    if x.error is None and x.is_unrequired:
        return Judgement(_NO, f"nothing in {x.where} requires {x.name}, so that init does not ask for it")
    if x.message.reason is NetworkReason.ABSENT:
        return _of_the_file(x)
    version, versions = x.entry.version, x.today.listing
    if x.message.kind == "version-gone" and (x.is_of_mirror or x.is_without_source) and not x.is_of_other_version:
        return _of_no_registry(x, version)
    if versions is None or not versions.is_known:
        words = "the versions of today are unknown"
        if _is_said(x):
            words = f"the message says so, of the source that the failing run asked; {words}"
            return Judgement(_LIKELY, words, x.why_unknown, basis=Basis.RUN)
        return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.GUESS)
    if _is_said(x) and x.is_of_other_version:
        return _of_the_version_of_the_log(x, x.message.version)
    return _of_listed(x, version, versions) if versions.has(version) else _of_unlisted(x, version, versions)


def _is_said(x: Examined) -> bool:
    """True if the message is about what a registry, or what stands for one, lists."""
    return x.message.kind == "version-gone" or x.message.is_of_registry_alone


def _of_the_file(x: Examined) -> Judgement:
    """Judge a file that its host does not have."""
    host, listed = x.message.host or "the host", listed_words(x)
    words = clauses(f"the message says so: {host} answered 404", listed)
    title = f"{host} does not have the file (404)"
    if x.is_of_mirror:
        missing = "" if listed else "what the registry lists"
        return Judgement(_UNKNOWN, f"{words}; that is said of a mirror", missing, x.today.as_of, basis=Basis.GUESS)
    missing = f"whether {host} is a mirror, or the host of the release itself"
    judged = Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.RUN, title=title)
    return _as_offered(x, judged)


def _of_no_registry(x: Examined, version: Version) -> Judgement:
    """Judge a version that a mirror, or no source at all, did not list: the registry may."""
    versions, host = x.today.listing, x.address.host if x.address is not None else ""
    if versions is not None and versions.is_known and versions.has(version):
        words = f"{host} {x.today.lists} {version}"
        return Judgement(_NO, words, "", x.today.as_of, basis=Basis.FILES)
    words = f"what was asked is no registry{'' if x.is_path_of_run else ', by the settings here'}"
    return Judgement(_UNKNOWN, words, f"what {host} lists", x.today.as_of, basis=Basis.FILES)


def _of_listed(x: Examined, version: Version, versions: Listing) -> Judgement:
    """Judge a locked version that the registry lists."""
    assert x.address is not None
    words = f"{x.address.host} {x.today.lists} {version}"
    if _may_be_of_named_mirror(x):
        words = f"{words}: the failing run asked a mirror, or the version is back"
        return Judgement(_UNKNOWN, words, _COMMAND_OF_RUN, versions.as_of)
    if not _is_said(x):
        return Judgement(_NO, words, as_of=versions.as_of)
    missing, source = "provider_installation", "another source, such as a mirror"
    if x.is_path_of_run and x.incident.path is PackagePath.DIRECT:
        missing, source = "the host blocks", "a registry elsewhere"
    words = f"{words}: the failing run asked {source}, or the version is back"
    title = "the source that was asked does not list the version"
    return Judgement(_LIKELY, words, f"{missing} of the runner", versions.as_of, basis=Basis.RUN, title=title)


def _of_unlisted(x: Examined, version: Version, versions: Listing) -> Judgement | None:
    """Judge a locked version that the registry does not list, or whose provider it does not have."""
    assert x.address is not None
    is_gone = versions.trouble is not None  # the whole provider, of which an answer about it says nothing more
    if is_gone and x.message.kind == "provider-unknown":
        return None
    number = counted(len(versions.versions), "version") if versions.versions else "no version at all"
    words, title = f"{x.address.host} {x.today.lists} {number}, and not {version}", ""
    if is_gone:
        words, title = f"{x.address.host} {'had' if versions.is_offline else 'has'} no {x.name}", _PROVIDER_GONE
    if x.error is None and not x.places.asks_registry:
        return Judgement(_NO, f"{words}, and init asks no registry for it here", as_of=versions.as_of)
    # For a copy in the plugin cache, OpenTofu, unlike Terraform, asks no registry for versions.
    cached = (one for one in x.of_kind("plugin-cache") if x.tool is OPENTOFU and one.of_files & x.unpacked)
    if x.error is None and (sound := x.sound_mirror or next(cached, None)) is not None:
        return Judgement(_NO, f"{words}, and {sound.path} has a locked hash", as_of=versions.as_of)
    said = f"the message says so, and {words}" if _is_said(x) else words
    if versions.is_offline:
        verdict, basis = (_LIKELY, Basis.RUN) if _is_said(x) else (_UNKNOWN, Basis.GUESS)
        missing = "what it lists now: run without --offline"
        return Judgement(verdict, said, missing, versions.as_of, basis=basis, title=title)
    if x.today.hashes_of:
        words = f"{words}; the locked hashes are of {x.today.hashes_of}, so there may never have been one"
        return Judgement(_UNKNOWN, words, "the versions that the publisher announced", versions.as_of)
    if is_gone and x.address.host not in {tool.default_host for tool in DIALECTS.values()}:
        missing = "the same request with a token"
        return Judgement(_LIKELY, said, missing, versions.as_of, basis=Basis.HERE, title=title)
    basis = Basis.RUN if _is_said(x) else Basis.HERE
    return Judgement(_YES, said, as_of=versions.as_of, basis=basis, title=title)


_PROVIDER_GONE = "the registry does not have the provider"


def _as_offered(x: Examined, judged: Judgement) -> Judgement:
    """Return the judgement of a missing file with what its host answers here now, where the registry names the host."""
    host, offered, platform = x.message.host, x.today.offered, x.platform_on_disk
    if offered is None or offered.host not in {"", host}:
        return judged
    assumed = "" if x.platform else f"that the failing run was on {platform} is assumed"
    if offered.is_absent:
        what = f"{host} answers 404 for the file of {platform}" if offered.url else offered.problem
        words, verdict = clauses(f"{judged.evidence}; {what} here, too", assumed), _LIKELY if assumed else _YES
        return replace(judged, verdict=verdict, evidence=words, missing=ASK_PLATFORM if assumed else "")
    if offered.problem:
        return replace(judged, evidence=f"{judged.evidence}; whether it is there now is not known: {offered.problem}")
    words = clauses(f"{judged.evidence}; {host} gives the file of {platform} here now", assumed)
    return replace(judged, evidence=words, missing=OF_THAT_TIME, title=f"{host} did not have the file then (404)")


def _of_the_list(x: Examined) -> Judgement:
    """Judge a list that does not name the package: no tool checks whether it was signed before it looks for that."""
    title = "the release's SHA256SUMS does not list the package"
    match list_here(x):
        case ListHere.WITH_PACKAGE:
            words = f"{x.sums} lists the package; what arrived in the failing run does not"
            return Judgement(_UNKNOWN, words, OF_THAT_TIME, x.today.as_of, basis=Basis.RUN)
        case ListHere.WITHOUT:
            words = "the message says so, and the list that arrives here does not name it either"
            return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.RUN, title=title)
        case ListHere.NO_LIST:
            words = "what arrives here as SHA256SUMS is no list of hashes either"
            return Judgement(_UNKNOWN, words, missing_sums(x), x.today.as_of, basis=Basis.RUN)
        case ListHere.UNKNOWN:
            words = "the message says so of what arrived, which need not be the release's list"
            return Judgement(_LIKELY, words, missing_sums(x), x.today.as_of, basis=Basis.RUN, title=title)
        case _ as never:
            assert_never(never)


def _of_the_version_of_the_log(x: Examined, version: str) -> Judgement:
    """Judge a version that the message says is gone, and that is not the locked one."""
    assert x.address is not None
    versions = x.today.listing
    is_there = versions is not None and any(str(one.version) == version for one in versions.versions)
    verb = x.today.lists if is_there else "does not list" if x.today.lists == "lists" else "did not list"
    words = f"the message says so of {version}, which is not locked here; {x.address.host} {verb} it"
    missing = "the lock file of the failing run: name its root with -- ROOT"
    as_of = versions.as_of if versions is not None else None
    return Judgement(_UNKNOWN if is_there else _LIKELY, words, missing, as_of, basis=Basis.RUN)


def missing_sums(x: Examined) -> str:
    """Return the missing fact about the release that the error is of."""
    is_of_other = x.is_of_other_version
    return f"the signed SHA256SUMS of {x.name} {x.message.version}".strip() if is_of_other else x.why_unknown
