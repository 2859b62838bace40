"""Words that the screens share: sentences about changes and registries, and the progress of package downloads.

No I/O. The rows of downloads come from the events of a run: a worker writes them while the screen reads them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import count_by_scheme, is_of_files
from locklens.install.context import FetchStarted, InstallEvent, PackageArriving, PackageHashed, ProviderFailed
from locklens.lines import Line, Role, Span, line
from locklens.review import VERIFIED
from locklens.review.model import Bump, Change, ChangeKind, Review
from locklens.review.reports import failing_words, side_words, unread_configurations
from locklens.text import ID_DIGITS, counted, identity_of, listing, size_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from locklens.review import HashCount, HashFact
    from locklens.review.findings import Finding

_BUMPS = {
    Bump.MAJOR: "Major upgrade",
    Bump.MINOR: "Minor upgrade",
    Bump.PATCH: "Patch upgrade",
    Bump.PRERELEASE: "Pre-release upgrade",
    Bump.METADATA: "Build metadata change",
}


_KINDS = {
    ChangeKind.UPGRADE: "{bump} from {old} to {new}.",
    ChangeKind.DOWNGRADE: "Downgrade from {old} to {new}.",
    ChangeKind.NEW_PROVIDER: "New provider, locked at {new}.",
    ChangeKind.REMOVED: "Provider removed; it was locked at {old}.",
    ChangeKind.MOVED: "Provider moved from {source}, locked at {new}.",
    ChangeKind.NEW_HASHES: "Same version, {new}: hashes were added.",
    ChangeKind.REMOVED_HASHES: "Same version, {new}: hashes were removed.",
    ChangeKind.CHANGED_HASHES: "Same version, {new}, but hashes were added and removed.",
    ChangeKind.REPLACED_HASHES: "Same version, {new}, but every package hash was replaced.",
    ChangeKind.CONSTRAINTS_ONLY: "Same version, {new}, and same hashes: only the recorded constraints differ.",
    ChangeKind.UNCHANGED: "Locked at {new}, unchanged.",
}


CONFLICT = "conflict"
"""The kind of a provider that git left in conflict."""

BUMPS_IN_SHORT = {bump: bump.value for bump in Bump} | {Bump.PRERELEASE: "pre-release", Bump.METADATA: "build-only"}
"""What an upgrade is called in the column of kinds."""

_KINDS_IN_SHORT = {
    ChangeKind.NEW_PROVIDER: "",
    ChangeKind.REMOVED: "",
    ChangeKind.CONSTRAINTS_ONLY: "constraints",
    ChangeKind.REPLACED_HASHES: "replaced",
    ChangeKind.CHANGED_HASHES: "+{added} -{removed}",
    ChangeKind.NEW_HASHES: "+{added}",
    ChangeKind.REMOVED_HASHES: "-{removed}",
}
"""The kinds whose words are not their own; the versions of some show it already."""


def kind_in_short(change: Change, *others: Change) -> str:
    """One or two words for the kind of a change; "" if the versions show it already.

    Of several roots' changes, numbers of hashes that differ are shown as a range.
    """
    if change.kind is ChangeKind.UPGRADE and change.bump is not None:
        return BUMPS_IN_SHORT[change.bump]
    alike = (change, *others)
    added, removed = _range([len(one.added) for one in alike], ".."), _range([len(one.removed) for one in alike], "..")
    return _KINDS_IN_SHORT.get(change.kind, change.kind.value).format(added=added, removed=removed)


def _range(numbers: Sequence[int], between: str) -> str:
    fewest, most = min(numbers), max(numbers)
    return str(most) if fewest == most else f"{fewest}{between}{most}"


def what_happened(change: Change, *others: Change) -> str:
    """One or two sentences about a change, in one or several roots, for the top of the detail."""
    old, new = (side.version if side else "" for side in (change.old, change.new))
    bump = _BUMPS[change.bump] if change.bump else "Upgrade"
    words = _KINDS[change.kind].format(bump=bump, old=old, new=new, source=change.moved_from)
    return f"{words} {_of_hashes((change, *others))}".strip()


def _of_hashes(changes: Sequence[Change]) -> str:
    """The numbers of hashes; from the fewest to the most where roots differ."""
    if changes[0].kind in {ChangeKind.CONSTRAINTS_ONLY, ChangeKind.UNCHANGED}:
        return ""
    parts = [
        f"{' to '.join(dict.fromkeys(count_by_scheme(hashes) or 'none' for hashes in _ends(facts)))} {word}"
        for facts, word in (([one.added for one in changes], "added"), ([one.removed for one in changes], "removed"))
        if any(facts)
    ]
    if any(one.kept for one in changes):
        parts.append(f"{_range([len(one.kept) for one in changes], ' to ')} unchanged")
    return f"Hashes: {', '.join(parts)}." if parts else "No hashes."


def _ends(facts: Iterable[Sequence[HashFact]]) -> list[list[str]]:
    by_number = sorted(facts, key=len)
    return [[fact.hash for fact in each] for each in (by_number[0], by_number[-1])]


def verdict(review: Review, fail_on: str | None, *, is_asking: bool, is_brief: bool = False) -> tuple[int | None, str]:
    """The exit status of `locklens review` in a pipeline, and what it means; None while that is open.

    `fail_on` is the value of --fail-on, None for the policy's; `is_brief` is for a narrow line.
    """
    threshold = review.threshold(fail_on)
    if review.fails(fail_on):
        return 1, f"CI would fail: {failing_words(review, fail_on, is_brief=is_brief)}"
    if is_asking:
        return None, "checking"
    at = f"at {threshold}" if is_brief else f"at --fail-on {threshold}"
    warned = sum(number for severity, number in review.severity_counts.items() if severity.is_serious)
    is_stricter_told = bool(warned) and not is_brief
    if is_unanswered(review):
        doubt = "" if is_brief else "not all checked: "
        return 0, f"{doubt}exit 0 {at}{f', 1 at warn ({warned})' if is_stricter_told else ''}"
    proved = " with --prove changed" if threshold not in _LENIENT and _has_computed(review) else ""
    return 0, f"CI would pass {at}{proved}{f', fail at warn ({warned})' if is_stricter_told else ''}"


_LENIENT = ("block", "never")
"""Thresholds that an unproven `h1` does not reach."""


def _has_computed(review: Review) -> bool:
    """True if a change adds an `h1` that was verified here: no list has one, so that a job needs the package, too."""
    added = (fact for root in review.roots for change in root.changes for fact in change.added)
    return any(fact.is_verified and is_of_files(fact.hash) for fact in added)


def is_unanswered(review: Review) -> bool:
    """True if a verdict is no approval.

    A registry failed, hashes are unverified because none was asked, or a configuration could not be read whole.
    """
    if unread_configurations(review) or any(host.error is not None for host in review.hosts):
        return True
    is_silent = review.offline or any(not host.asked for host in review.hosts)
    return is_silent and review.hashes.unverified > 0


FINDING_MARK = "finding:"
"""How ids of marked findings begin; those of changes are hexadecimal digits."""


def finding_mark(path: str, finding: Finding) -> str:
    """The id that marks a finding about a root, by the root's path, or about the policy ("").

    It is another once the finding's message changes, or the content that it is about.
    """
    return _mark_of(path, finding.rule, finding.file, finding.message, finding.content)


@lru_cache(maxsize=1 << 15)
def _mark_of(*parts: str) -> str:
    # Each drawing of a list asks for the marks of all of its findings.
    return f"{FINDING_MARK}{identity_of(*parts)[:ID_DIGITS]}"


def reviewed_words(review: Review, marks: frozenset[str], *, changes: bool = True, findings: bool = True) -> str:
    """The count of reviewed changes and root-level findings, e.g. "3 of 12"; of one kind without the other."""
    ids = [change.id for change in review.changes] if changes else []
    if findings:
        ids += [finding_mark("", finding) for finding in review.own_findings]
        ids += [finding_mark(root.path, finding) for root in review.roots for finding in root.findings]
    return f"{sum(one in marks for one in ids)} of {len(ids)}"


def registries_in_short(review: Review) -> str:
    """The problems of registry lookups in a few words; "" without problems."""
    failed = sum(host.error is not None for host in review.hosts)
    if failed:
        return f"{failed} of {counted(len(review.hosts), 'registry', 'registries')} failed"
    if review.offline:
        return "offline"
    left_out = sum(not host.asked for host in review.hosts)
    return f"{left_out} of {counted(len(review.hosts), 'registry', 'registries')} not asked" if left_out else ""


def configuration_read(review: Review) -> str:
    """The count of roots whose configuration is read, of incomplete ones, and of those that lack the state alone."""
    read = [(root, root.configuration) for root in review.roots if root.configuration is not None]
    # A root that was removed lacks nothing.
    partial = [configuration for root, configuration in read if not configuration.complete and not root.is_removed]
    incomplete = sum(not configuration.lacks_state_alone for configuration in partial)
    parts = [f"{len(read)} of {counted(len(review.roots), 'root')}"]
    parts += [f"{incomplete} incomplete"] if incomplete else []
    parts += [f"{len(partial) - incomplete} without the state"] if len(partial) > incomplete else []
    return ", ".join(parts)


def changed_on_disk(names: tuple[str, ...]) -> str:
    """The notice after an automatic reload."""
    return f"{listing(names, limit=2)} changed on disk, reloaded"


PARTIALLY_WATCHED = "too many folders to watch them all: press r after changes in deep ones"


def nothing_changed(review: Review) -> str:
    """The placeholder's sentence for a review without changes."""
    base, head = map(side_words, (review.base, review.head))
    base = f"the {base}" if review.base.fork_of else base
    head = f"the {head}" if review.head.kind == "worktree" else head
    where = " of the named roots" if review.left_out else ""
    return f"No lock file{where} changed between {base} and {head}."


def compared_words(review: Review) -> str:
    """The count of compared lock files, in a restricted run of how many, e.g. "16 of 31 lock files"."""
    compared = f"{review.lock_files - review.left_out} of " if review.left_out else ""
    return f"{compared}{counted(review.lock_files, 'lock file')}"


MEANINGS = {
    "0 of 7": f"all 7 added hashes are verified: their proof is {VERIFIED}",
    "1 of 7": "1 of 7 added hashes is not verified",
    "1 of 7!": "some facts could not be had: see the detail",
    "… of 7": "the registry is being asked",
    "? of 7": "not settled when the review ended",
}
"""The texts of the list's last column, and their meanings."""


def unverified_of(changes: Iterable[Change], *, is_asking: bool) -> Span:
    """Return how many of a row's added hashes are not verified; for several roots, that of the root with the most."""
    # Equal changes of many roots share what was traced.
    distinct = {(one.new is None, id(one.evidence), id(one.added), id(one.kept)): one for one in changes}
    worst = min(distinct.values(), key=_alarm)
    if worst.new is None:
        return Span("")
    if worst.evidence is None:
        sign = "…" if is_asking else "?"
        shown = f"{sign} of {len(worst.claimed)}" if worst.claimed else sign
        return Span(shown, Role.DIM if is_asking else Role.WARN)
    if worst.evidence.problems:
        return Span(f"{unverified_in_row(worst.hashes).text}!", Role.WARN)
    return unverified_in_row(worst.hashes)


def unverified_in_row(hashes: HashCount) -> Span:
    """Return how many hashes are not verified, in the words of a column: "1 of 7"; "" for no hashes."""
    if not hashes.total:
        return Span("")
    return Span(f"{hashes.unverified} of {hashes.total}", Role.WARN if hashes.unverified else Role.GOOD)


def _alarm(change: Change) -> tuple[bool, bool, int]:
    """Sort key: unsettled changes, then failed ones, then the most hashes that are not verified."""
    evidence = change.evidence
    return change.is_settled, evidence is None or not evidence.problems, -change.hashes.unverified


_BAR = 10
_LABEL = 36


class DownloadRow(Struct, frozen=True):
    """The download of one package; times are in seconds of a monotonic clock, sizes in bytes.

    Attributes:
        label: Provider, version and platform.
        began: The time of the first bytes.
        size: None if unknown.
        ended: The time of completion or failure; None before.
        problem: The reason of a failure; "" without one.
        note: Text shown instead of bytes; "" to show bytes.
        outcome: The word for a completed download.
    """

    label: str
    began: float
    received: int = 0
    size: int | None = None
    ended: float | None = None
    problem: str = ""
    note: str = ""
    outcome: str = "hashed"


class Downloads:
    """All downloads of a run. Written by a worker, read by the screen: each value is replaced whole."""

    def __init__(self) -> None:
        self._by_label: dict[str, DownloadRow] = {}

    @property
    def in_order(self) -> tuple[DownloadRow, ...]:
        """All downloads in the order of announcement."""
        return tuple(self._by_label.values())

    @property
    def has_failed(self) -> bool:
        """True if a download failed."""
        return any(row.problem for row in self.in_order)

    @property
    def hashed(self) -> int:
        """The number of completed downloads."""
        return sum(row.ended is not None and not row.problem for row in self.in_order)

    def announce(self, label: str, now: float) -> None:
        """Add an expected package; a known one is unchanged."""
        self._by_label.setdefault(label, DownloadRow(label, now, note="asking"))

    def arrive(self, label: str, received: int, size: int | None, now: float) -> None:
        """Update the progress of a package."""
        known = self._by_label.get(label)
        began = known.began if known is not None and known.received else now
        self._by_label[label] = DownloadRow(label, began, received, size)

    def end(
        self, label: str, now: float, *, received: int = 0, problem: str = "", note: str = "", outcome: str = "hashed"
    ) -> None:
        """Complete a package, or let it fail."""
        known = self._by_label.get(label) or DownloadRow(label, now)
        size = received or known.received
        self._by_label[label] = replace(known, received=size, ended=now, problem=problem, note=note, outcome=outcome)


def download_lines(downloads: Collection[DownloadRow], now: float, *, indent: str = "") -> Iterator[Line]:
    """A line for each package, in the order of announcement."""
    width = min(max((len(row.label) for row in downloads), default=0), _LABEL)
    for row in downloads:
        yield line(*_spans(row, width, now, indent), hanging=len(indent) + 2, copied=row.problem)


def _spans(row: DownloadRow, width: int, now: float, indent: str) -> Iterator[Span]:
    yield Span(f"{indent}{row.label:<{width}}  ", Role.STRONG)
    if row.problem:
        yield Span("FAILED  ", Role.BLOCK)
        yield Span(row.problem)
        return
    seconds = max((row.ended if row.ended is not None else now) - row.began, 0.001)
    rate = f"{size_words(int(row.received / seconds))}/s"
    if row.ended is not None:
        yield Span(f"{row.outcome}  ", Role.GOOD)
        yield Span(row.note or (f"{size_words(row.received)}  {rate}" if row.received else ""), Role.DIM)
    elif row.note:
        yield Span(row.note, Role.DIM)
    elif row.size:
        share = min(1.0, row.received / row.size)
        filled = int(share * _BAR)
        left = (row.size - row.received) * seconds / row.received if row.received else 0.0
        yield Span(f"{'#' * filled}{'.' * (_BAR - filled)} {int(share * 100):3} %  ", Role.INFO)
        yield Span(
            f"{size_words(row.received)} of {size_words(row.size)}  {rate}  {max(0, round(left))} s left", Role.DIM
        )
    else:
        yield Span(f"{size_words(row.received)}  {rate}", Role.DIM)


def take_event(downloads: Downloads, event: InstallEvent, now: float) -> None:
    """Record an event of a package's download; others are ignored."""
    match event:
        case FetchStarted(provider, version, platform) if platform is not None:
            downloads.announce(f"{provider} {version} {platform}", now)
        case PackageArriving(provider, version, platform, received, size):
            downloads.arrive(f"{provider} {version} {platform}", received, size, now)
        case PackageHashed(provider, version, platform, _, is_cached, is_reported):
            label = f"{provider} {version} {platform}"
            if is_reported:
                downloads.end(label, now, note="by the registry, not downloaded", outcome="reported")
            else:
                downloads.end(label, now, note="before, not downloaded" if is_cached else "")
        case ProviderFailed(provider, _, words, _):
            for label in _failed_packages(downloads, provider, words):
                downloads.end(label, now, problem=words)
        case _:
            pass


def _failed_packages(downloads: Downloads, provider: str, words: str) -> list[str]:
    """The packages of a failure: the named one, else all unfinished ones of the provider."""
    unfinished = [row.label for row in downloads.in_order if row.ended is None]
    candidates = [label for label in unfinished if label.startswith(f"{provider} ")]
    return [label for label in candidates if all(part in words for part in label.split(" "))] or candidates


def changes_words(changes: Iterable[Change]) -> str:
    """The number of changes, and of distinct ones where some are the same in several roots."""
    ids = [change.id for change in changes]
    distinct = len(set(ids))
    return f"{counted(len(ids), 'change')}{f' ({distinct} distinct)' if distinct < len(ids) else ''}"
