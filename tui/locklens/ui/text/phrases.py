"""What happened to a provider, as plain sentences. Words only; what the list and the detail share with no report."""

from __future__ import annotations

from locklens.hashes import count_by_scheme
from locklens.review.model import Bump, Change, ChangeKind, HostState, Review
from locklens.review.reports.words import side
from locklens.text import counted

_BUMPS = {
    Bump.MAJOR: "a major upgrade",
    Bump.MINOR: "a minor upgrade",
    Bump.PATCH: "a patch upgrade",
    Bump.PRERELEASE: "another pre-release",
    Bump.METADATA: "the same version with other build metadata",
}


def what_happened(change: Change) -> str:
    """One or two sentences for the top of the detail."""
    return f"{_of_kind(change)} {_of_hashes(change)}".strip()


def _of_kind(change: Change) -> str:
    old = change.old.version if change.old else ""
    new = change.new.version if change.new else ""
    match change.kind:
        case ChangeKind.UPGRADE:
            return f"Version {old} became {new}: {_BUMPS[change.bump] if change.bump else 'an upgrade'}."
        case ChangeKind.DOWNGRADE:
            return f"Version {old} became {new}: a downgrade."
        case ChangeKind.NEW_PROVIDER:
            return f"The lock file now has this provider, at {new}."
        case ChangeKind.REMOVED:
            return f"The lock file no longer has this provider; it was at {old}."
        case ChangeKind.MOVED:
            return f"The provider moved here from {change.moved_from}, at {new}."
        case ChangeKind.NEW_HASHES:
            return f"Still {new}; hashes were added."
        case ChangeKind.REMOVED_HASHES:
            return f"Still {new}; hashes were removed."
        case ChangeKind.CHANGED_HASHES:
            return f"Still {new}, but hashes were added and others removed."
        case ChangeKind.REPLACED_HASHES:
            return f"Still {new}, but not one package hash of before is left."
        case ChangeKind.CONSTRAINTS_ONLY:
            return f"Still {new}, with the same hashes; only the recorded constraints differ."
        case ChangeKind.UNCHANGED:
            return f"Still {new}; nothing changed."


def _of_hashes(change: Change) -> str:
    if change.kind in {ChangeKind.CONSTRAINTS_ONLY, ChangeKind.UNCHANGED}:
        return ""
    parts = [
        f"{count_by_scheme(fact.hash for fact in facts)} {word}"
        for facts, word in ((change.added, "came"), (change.removed, "went"))
        if facts
    ]
    if change.kept:
        parts.append(f"{len(change.kept)} stayed")
    return f"Hashes: {', '.join(parts)}." if parts else "It has no hashes."


def verdict(review: Review, fail_on: str) -> tuple[int, str]:
    """The exit status that `review` would have with a value of --fail-on, and the sentence for it."""
    status = int(review.fails(fail_on))
    return status, f"would exit {status} at --fail-on={fail_on}"


def reviewed_words(review: Review, marks: frozenset[str]) -> str:
    """How far the reviewer is, e.g. "3 of 12"."""
    changes = review.changes
    return f"{sum(change.id in marks for change in changes)} of {len(changes)}"


def explained_words(review: Review) -> str:
    """How many of the added hashes are traced to a fact."""
    changes = review.changes
    return f"{sum(change.explained for change in changes)} of {sum(len(change.added) for change in changes)}"


def registries_in_short(review: Review) -> str:
    """What is wrong with asking, in a few words; "" where nothing is."""
    failed = sum(host.error is not None for host in review.hosts)
    if failed:
        return f"{failed} of {counted(len(review.hosts), 'registry', 'registries')} failed"
    if review.offline:
        return "offline"
    left_out = sum(not host.asked for host in review.hosts)
    return f"{left_out} of {counted(len(review.hosts), 'registry', 'registries')} not asked" if left_out else ""


def host_in_short(host: HostState, review: Review) -> str:
    """What came of asking a registry; the name of the registry is said beside it."""
    moment = since(host.as_of, review.at) if host.as_of else ""
    if host.error is not None:
        error = host.error.removeprefix(f"{host.host}: ")
        return f"as of {moment}, then failed: {error}" if moment else f"failed: {error}"
    if host.asked:
        return f"as of {moment}" if moment else "asked"
    reason = "offline" if review.offline else "not asked"
    return f"{reason}, remembered as of {moment}" if moment else reason


def since(moment: str, now: str) -> str:
    """When an answer was given: HH:MM where that was on the day of `now`, else with its day; both ISO 8601 in UTC."""
    day, found, time = moment.partition("T")
    if not found:
        return moment
    return f"{time[:5]} UTC" if day == now[:10] else f"{day} {time[:5]} UTC"


def configuration_read(review: Review) -> str:
    """How many roots' configurations are read and complete."""
    read = [root.configuration for root in review.roots if root.configuration is not None]
    incomplete = sum(not one.complete for one in read)
    text = f"{len(read)} of {counted(len(review.roots), 'root')}"
    return f"{text}, {incomplete} incomplete" if incomplete else text


def changed_on_disk(names: tuple[str, ...]) -> str:
    """The toast after a reload by itself."""
    shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    return f"{shown} changed on disk, reviewed again"


def nothing_changed(review: Review) -> str:
    """What to say instead of an empty list."""
    base, head = (side(one.kind, one.name, one.revision) for one in (review.base, review.head))
    return (
        f"Nothing changed between {base} and the {head}."
        if review.head.kind == "worktree"
        else f"Nothing changed between {base} and {head}."
    )
