"""Causes of a run of one tool in a root of the other: whose registry the entries are of, and the hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM, twin_of
from locklens.doctor import is_for_twin, may_read, taken_over
from locklens.doctor.cases import first_case
from locklens.doctor.examined import zh_of_packages
from locklens.doctor.messages import OF_LACKING
from locklens.doctor.model import Basis, CauseVerdict, Judgement
from locklens.hashes import packages_of

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.doctor.examined import Examined
    from locklens.lockfile import LockEntry

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_TOOLS = {tool.default_host: tool for tool in DIALECTS.values()}


def as_required(x: Examined) -> Examined:
    """Return what is known of a locked provider as OpenTofu requires it, which takes it over; else the same."""
    taken = taken_over(twin_of(x.address), x.lock, x.tool)
    if taken is None or x.address is None or not is_for_twin(x.address, x.lock, x.configuration):
        return x
    today, history = replace(x.today, as_of=None, case=None), replace(x.history, states=())
    return replace(x, address=taken.address, entry=taken, today=today, history=history)


def _ran_in_root_of_other(x: Examined) -> Judgement | None:
    """Judge a provider that one tool's registry lacks, where the root is of the other tool."""
    host = x.other_registry
    if not host or x.address is None:
        return None
    ran, own = _TOOLS[host], _TOOLS[x.address.host]
    locked = f"{x.place} locks" if x.entry is not None else f"{x.own_root} requires"
    words = f"the run asked {host}, and {locked} {x.address}"
    if x.history.tool_commit:
        words = f"{words}; commit {x.history.tool_commit[:12]} locks it in {host}"
        title = _OF_OTHER_REGISTRY.format(own.product, ran.product)
        return Judgement(_YES, words, basis=Basis.RUN, title=title)
    if x.lock.writer is ran and x.entry is not None:
        return Judgement(_YES, f"{words}; {ran.product} wrote that file", basis=Basis.RUN, title=_HAS_OTHER)
    return Judgement(_YES, words, basis=Basis.RUN, title=_ran_in(ran, own))


def _ran_in(ran: Dialect, own: Dialect) -> str:
    """Return the cause in words."""
    return f"{ran.product} ran in a root of {own.product}"


_OF_RELEASES = frozenset({"no-matching-release", "unknown-issuer", "bad-signature", "not-signed"})
"""Errors of what a registry lists of a provider, which the other tool's registry may list otherwise."""


_OF_OTHER_REGISTRY = "the last change of the lock file made it one of {}, which was one of {}"
_MOVED = "OpenTofu moved entries to its own registry, whose packages have other hashes"


def other_tool(x: Examined) -> Judgement | None:
    """Test if the hashes are those of the other tool's registry."""
    if x.address is None:
        return None
    if x.is_unread and x.tool is TERRAFORM:
        words = f"{x.own_root} has a lock file, and no file that Terraform reads"
        title = "Terraform ran where it reads no configuration"
        return Judgement(_YES, words, basis=Basis.RUN, title=title)
    if x.message.kind == "provider-unknown":
        return _ran_in_root_of_other(x)
    is_of_release = x.message.kind in {"version-gone", *_OF_RELEASES}
    if x.is_taken_over and is_of_release and x.lock.writer is not x.tool:
        words = f"{x.place} is of {twin_of(x.address)}, and OpenTofu takes its version over"
        is_read = may_read(TERRAFORM, x.root, x.configuration)
        return Judgement(_YES, words, basis=Basis.RUN, title=_ran_in(OPENTOFU, TERRAFORM)) if is_read else None
    if x.entry is None:
        return _locked_by_other(x, x.address, x.locked_twin) if x.locked_twin is not None else None
    if x.message.kind == "entries-migrated":
        locked = twin_of(x.address) if x.is_taken_over else x.address
        return Judgement(_YES, f"the message says so, and {x.place} locks {locked}", basis=Basis.RUN, title=_MOVED)
    if x.message.kind == "plugin-missing":
        return _required_of_other(x)
    if x.is_taken_over or x.message.kind in {"readonly-changed", *OF_LACKING, *_OF_RELEASES}:
        return None  # the message is about which providers are locked, or listed, whatever the locked hashes
    if x.address.host not in _TOOLS:
        return Judgement(_NO, f"both tools use the registry {x.address.host} for this provider")
    hashes = (_of_other_release, _changed_by_other, _of_own_release, _of_other_root, _written_by_other, _of_neither)
    return first_case(hashes, x, x.address, x.entry) or _of_unknown_registry(x)


def _of_other_release(x: Examined, address: ProviderAddress, entry: LockEntry) -> Judgement | None:
    theirs = x.today.case.packages.elsewhere if x.today.case is not None else {}
    if not theirs:
        return None
    host, found = next(iter(theirs.items()))
    words = f"{len(found)} of {zh_of_packages(len(x.packed), 'locked ')} are of {entry.version} on {host}"
    if both := len(x.packed & x.today.listed):
        words = f"{words}, and {both} of {address.host}"
    return Judgement(_LIKELY if both else _YES, words, as_of=x.today.as_of, basis=Basis.HASHES)


def _changed_by_other(x: Examined, address: ProviderAddress, _: LockEntry) -> Judgement | None:
    """Judge a root, without a log, whose last change moved the entry from the other tool's registry."""
    if x.error is not None or not x.history.tool_commit:
        return None
    own = _TOOLS[address.host]
    before = next(tool for host, tool in _TOOLS.items() if host != address.host)
    words = (
        f"{x.place} locks {address} since the last change of the file, and commit "
        f"{x.history.tool_commit[:12]} locks it in {before.default_host}: "
        f"{before.product} rewrites the file if it still runs there"
    )
    title = _OF_OTHER_REGISTRY.format(own.product, before.product)
    return Judgement(_LIKELY, words, f"the tool that is meant to run in {x.where}", title=title)


def _of_own_release(x: Examined, address: ProviderAddress, _: LockEntry) -> Judgement | None:
    is_own = not x.stale if x.packed else x.unpacked != frozenset() and x.unpacked <= {*x.expected.values()}
    if not x.today.is_known or not is_own:
        return None
    what = "zh of packages" if x.packed else "h1"
    return Judgement(_NO, f"all locked {what} are of {address.host}", as_of=x.today.as_of)


def _of_other_root(x: Examined, address: ProviderAddress, _: LockEntry) -> Judgement | None:
    """Judge packages that another root locks in the other tool's registry.

    Those of other namespaces are the same ones in both registries, and so are some of this one: those that an entry of
    this registry has, too, for the version that they are of.
    """
    others = (packages_of(one.hashes) for _, one in x.origins.entries_of_other_versions())
    is_told = x.packed and address.namespace == "hashicorp" and not any(x.packed <= packed for packed in others)
    for other in x.twins if x.error is not None and is_told else ():
        if x.packed <= packages_of(other.entry.hashes):
            same = f"{zh_of_packages(len(x.packed))} for {other.entry.address} {other.entry.version}"
            words = f"{other.lock_file} locks the same {same}"
            return Judgement(_LIKELY, words, x.why_unknown, as_of=x.today.as_of, basis=Basis.HASHES)
    return None


def _written_by_other(x: Examined, address: ProviderAddress, _: LockEntry) -> Judgement | None:
    writer, ran = x.lock.writer, x.incident.tool
    is_default = ran is not None and address.host == DIALECTS[ran].default_host
    if writer is None or ran is None or writer.name == ran or not is_default:
        return None
    words = f"{writer.product} wrote the lock file, and {DIALECTS[ran].product} failed"
    return Judgement(_LIKELY, words, x.why_unknown)


def _of_neither(x: Examined, _: ProviderAddress, __: LockEntry) -> Judgement | None:
    elsewhere = x.today.case.elsewhere if x.today.case is not None else None
    is_answered = elsewhere is not None and (
        elsewhere.today is not None or (elsewhere.trouble is not None and elsewhere.trouble.is_no)
    )
    words = "the other tool's registry does not have them either"
    return Judgement(_NO, words, as_of=x.today.as_of) if is_answered else None


def _of_unknown_registry(x: Examined) -> Judgement:
    elsewhere = x.today.case.elsewhere if x.today.case is not None else None
    why = elsewhere.trouble.words if elsewhere is not None and elsewhere.trouble is not None else "not asked"
    missing = f"this version on the other tool's registry ({why})"
    missing = missing if x.packed else "a locked zh, by which the lists of registries are told apart"
    missing = missing if x.today.is_known else x.why_unknown
    words = "nothing shows that the hashes are from the other tool's registry"
    return Judgement(_UNKNOWN, words, missing, as_of=x.today.as_of)


def _required_of_other(x: Examined) -> Judgement | None:
    """Judge a locked provider that the tool of the run requires in its own registry, where the other tool may run."""
    if x.entry is None or x.address is None or not is_for_twin(x.address, x.lock, x.configuration):
        return None
    if not may_read(_TOOLS[x.address.host], x.root, x.configuration):
        return None
    words = f"{x.place} locks {x.address}, and {twin_of(x.address)} is required"
    return Judgement(_YES, words, title=_HAS_OTHER)


_HAS_OTHER = "the lock file has the entry of the other tool's registry"


def _locked_by_other(x: Examined, address: ProviderAddress, twin: LockEntry) -> Judgement | None:
    """Judge a provider that is locked in the other tool's registry alone."""
    words = f"{x.lock.path}:{twin.line} locks {twin.address}"
    if x.message.kind == "entries-migrated":
        return Judgement(_YES, f"the message says so: {words}", basis=Basis.RUN, title=_MOVED)
    before = next((one for one in x.history.states if one.is_of(x.message.version)), None)
    if before is not None and before.entry is not None:  # it is of the entry of the run
        ran, own = (_TOOLS[one.host].product for one in (before.entry.address, twin.address))
        was = f"commit {before.commit[:12]} locks {before.entry.address} {x.message.version}, as the run had it"
        words = f"{words}; {was}: nothing here tells whether its error is over"
        title = _OF_OTHER_REGISTRY.format(own, ran)
        return Judgement(_UNKNOWN, words, f"the tool that is meant to run in {x.where}", title=title)
    required = x.configuration.required()
    is_required = address in required and twin.address not in required
    is_told = x.message.kind in {*OF_LACKING, *_OF_RELEASES} and dict(x.incident.sources).get("tool") != "root"
    if is_told and not is_required:
        return None  # what the tool of the log requires of the root is known: the state has it, or another commit
    words = f"{words}, and {address} is {'required' if is_required else 'not locked'}"
    writer, other = _TOOLS[twin.address.host], _TOOLS[address.host]
    is_of_root = x.message.kind in _OF_RELEASES and may_read(writer, x.root, x.configuration)
    if is_of_root and is_required:
        return Judgement(_YES, words, basis=Basis.RUN, title=_ran_in(other, writer))
    return Judgement(_YES if is_required else _LIKELY, words, title=_HAS_OTHER)
