"""The fixes of a run of one tool in a root of the other: the other tool, or the entries of this one. Pure."""

from __future__ import annotations

from posixpath import dirname
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM, twin_of
from locklens.doctor import may_read
from locklens.doctor.affected import excluding
from locklens.doctor.messages import OF_LACKING
from locklens.doctor.model import TrustCost
from locklens.doctor.past_remedies import changes_since, fix_entry, restored_file
from locklens.doctor.run_remedies import run_again
from locklens.doctor.version_remedies import by_hand, upgrade
from locklens.project.configuration import source_places
from locklens.text import clauses, counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.dialect import Dialect
    from locklens.doctor import FileOfTool
    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Remedy

_NONE, _LOW = TrustCost.NONE, TrustCost.LOW


def fix_tool(one: Affected) -> Iterator[Remedy]:
    """The tool that wrote the lock file is used, or the entry restored."""
    x = one.examined
    writer = x.lock.writer
    if x.is_unread and x.tool is TERRAFORM:
        of_tofu = replace(one, examined=replace(x, incident=replace(x.incident, tool=OPENTOFU.name)))
        title = "Use OpenTofu, if the folder is one of its own (.tofu files)"
        yield one.alone.remedy("use-tool", title, _LOW, None, of_tofu.next_step)
        return
    if x.history.tool_commit and (x.other_registry or x.error is None):
        yield restored_file(x, x.history.tool_commit)
        return
    if writer is not None and x.incident.tool not in {None, writer.name} and may_read(writer, x.root, x.configuration):
        if (before := _before_writer(x)) is not None:
            excluded, whole = list(excluding(x, before.entries)), restored_file(x, before.commit)
            yield replace(whole, note=clauses(whole.note, *excluded, one.then_commit), is_partial=bool(excluded))
        title = f"Use {writer.product}, which wrote the lock file"
        as_writer = replace(one, examined=replace(x, incident=replace(x.incident, tool=writer.name)))
        is_locked = x.entry is None or x.is_taken_over or x.entry.address.host == writer.default_host
        today = (
            f"{writer.product} locks what {writer.default_host} has today: entries of another host do not count there"
        )
        cost = _NONE if is_locked else _LOW
        left = _left_by_tool(x, writer.product) if x.message.kind == "readonly-changed" else ""
        unread, refused = _unread(x, writer), one.refused_by(writer)
        doubt = unread or _doubt(x, writer)
        words = as_writer.next_step, "" if is_locked else today, left, refused, doubt
        places = {"is_partial": f"{refused}{unread}" != "", "is_doubtful": doubt != ""}
        yield one.alone.remedy("use-tool", title, cost, None, *words, **places)
    if x.message.kind == "provider-unknown":
        yield from _with_source(one)
    if x.message.kind in {"provider-unknown", "plugin-missing"}:
        return  # the entry is right for its own tool
    if x.message.kind == "entries-migrated":
        yield _migration_shown(one) if x.history.tool_commit else run_again(one)
        return
    if x.error is not None and x.is_taken_over:
        return  # what it takes over is judged, and mended, as any other entry
    if x.is_taken_over:
        yield from upgrade(one, f"Upgrade {x.name}: the new entry replaces that of the other tool's registry")
        return
    yield from fix_entry(one)


def _with_source(one: Affected) -> Iterator[Remedy]:
    """The source names Terraform's registry, where OpenTofu's lacks the provider: then both tools keep the entry."""
    x, required = one.examined, twin_of(one.examined.address)
    places = source_places(x.configuration.of(required)) if required is not None else ()
    if x.entry is None or x.other_registry != OPENTOFU.default_host or not places:
        return
    where = listing(list(map(str, places)), 3)
    title = f'Write source = "{x.address}" by hand at {where}'
    is_own = x.lock.writer is OPENTOFU
    moved = "" if is_own else "init of OpenTofu then locks the other providers of the root in its own registry"
    named = replace(one, examined=replace(x, address=required)).alone
    found = by_hand(named, "correct-source", title, "file and line", clauses("its entry stays, with its hashes", moved))
    yield found if is_own else replace(found, trust=_LOW)


_OF_WRONG_TOOL = frozenset({"readonly-changed", "plugin-missing", *OF_LACKING})
"""Errors that the tool which ran may be right about. Of a registry that is at fault, only the other tool helps."""


def _unread(x: Examined, writer: Dialect) -> str:
    """Return that a tool reads fewer files of the root than the one that ran, in a clause; "" if it does not."""
    ran = DIALECTS.get(x.incident.tool or "", x.tool)
    own = (file for file in x.configuration.files if dirname(file) == x.root and file.endswith(ran.file_suffixes))
    unread = next((file for file in own if not file.endswith(writer.file_suffixes)), "")
    return f"{writer.product} does not read {unread}" if unread and x.message.kind in _OF_WRONG_TOOL else ""


def _before_writer(x: Examined) -> FileOfTool | None:
    """Return the lock file of the tool that ran, which wrote it until the last change; None where that is not so."""
    before = x.history.before_tool
    is_of_run = before is not None and before.tool == x.incident.tool and x.message.kind in _OF_WRONG_TOOL
    return before if is_of_run and not x.fitting else None


def _doubt(x: Examined, writer: Dialect) -> str:
    """Return that the repository is of the tool that ran, and not of the lock file's, in a clause; "" for nothing."""
    ran = DIALECTS.get(x.incident.tool or "", x.tool)
    if (before := _before_writer(x)) is not None:
        return f"{ran.product} wrote the lock file in each commit until {before.commit[:12]}"
    if x.message.kind not in _OF_WRONG_TOOL:
        return ""
    if x.tools_elsewhere.get(writer.name) or not (number := x.tools_elsewhere.get(ran.name)):
        return ""
    return f"{ran.product} wrote {counted(number, 'other lock file')} of the repository, and {writer.product} none"


def _left_by_tool(x: Examined, writer: str) -> str:
    """Return what init has to change with the other tool, too, which has another registry alone; "" for nothing."""
    if x.configuration.unknown_reason:
        return ""
    hosts = {tool.default_host for tool in DIALECTS.values()}
    locked, required = (
        {each.short(each.host) if each.host in hosts else str(each) for each in some}
        for some in (x.lock.by_address, x.configuration.required())
    )
    odd = ((locked - required, "not required"), (required - locked, "not locked"))
    words = [f"{listing(sorted(some), 3)} {'is' if len(some) == 1 else 'are'} {why}" for some, why in odd if some]
    return f"{' and '.join(words)}: init fails with {writer}, too, until that is fixed" if words else ""


def _migration_shown(one: Affected) -> Remedy:
    """Return the remedy that shows what OpenTofu wrote over the entry of a commit, whether it is committed or not."""
    x = one.examined
    title = "Review what OpenTofu wrote" + ("" if x.origins.is_committed else ", then commit it")
    return one.alone.remedy("show-change", title, _LOW, 0, changes_since(x, x.history.tool_commit))
