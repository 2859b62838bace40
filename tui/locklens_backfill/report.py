"""A backfill as lines of text, and as the JSON document of schema 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from locklens.review.reports.documents import Count, FromOne, JsonStruct, RunJson, one_of
from locklens.text import Printable, counted, page, size_words
from locklens_backfill.run import BackfillResult, likely_bytes

if TYPE_CHECKING:
    from locklens_backfill.files import Failure


class MissingJson(JsonStruct, frozen=True):
    """The gaps of a metadata file: packages of its targets, with the bytes that are known for them."""

    path: str
    provider: str
    versions: Count
    packages: Count
    of: Count
    known_bytes: Count
    unsized: Count


class WrittenFileJson(JsonStruct, frozen=True):
    """The result for a metadata file."""

    path: str
    provider: str
    filled: Count
    failed: Count
    left: Count
    size_key: Annotated[str, one_of("size", "package_size")]


class FailureJson(JsonStruct, frozen=True):
    """A file or a package that failed."""

    path: str | None
    line: FromOne | None
    provider: str | None
    version: str | None
    platform: str | None
    url: str | None
    reason: str
    hint: str | None

    @classmethod
    def of(cls, failure: Failure) -> FailureJson:
        """Describe a failure."""
        known: dict[str, Any] = {name: getattr(failure, name) or None for name in cls.__struct_fields__}
        return cls(**known)


class BackfillSummaryJson(JsonStruct, frozen=True):
    """The whole run in numbers."""

    files: Count
    complete: Count
    versions: Count
    packages: Count
    filled: Count
    failed: Count
    likely_bytes: Count
    likely_seconds: Count | None
    bytes: Count
    seconds: Annotated[float, Meta(ge=0)]


class BackfillDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """A backfill: what was missing, the files that were written, and what failed."""

    run: RunJson
    dry_run: bool
    interrupted: bool
    shard: Annotated[str, Meta(pattern="^[0-9]+/[0-9]+$")] | None
    missing: list[MissingJson]
    files: list[WrittenFileJson]
    failures: list[FailureJson]
    summary: BackfillSummaryJson

    @classmethod
    def of(cls, found: BackfillResult) -> BackfillDocument:
        """Return the document of a backfill."""
        return cls(
            run=RunJson.without_policy(at=found.at, offline=False, notes=found.notes),
            dry_run=found.is_dry_run,
            interrupted=found.is_interrupted,
            shard=str(found.request.shard) if found.request.shard else None,
            missing=[MissingJson.like(each, packages=each.missing, of=each.targets) for each in found.counts],
            files=[WrittenFileJson.like(one, size_key=one.size_name) for one in found.files],
            failures=[FailureJson.of(failure) for failure in found.failures],
            summary=BackfillSummaryJson(
                files=len(found.counts) + found.complete + _unreadable(found),
                complete=found.complete,
                versions=sum(count.versions for count in found.counts),
                packages=sum(count.missing for count in found.counts),
                filled=sum(result.filled for result in found.files),
                failed=sum(bool(failure.platform) for failure in found.failures),
                likely_bytes=likely_bytes(found.counts),
                likely_seconds=likely_seconds(found),
                bytes=found.size,
                seconds=round(found.seconds, 3),
            ),
        )


def _unreadable(found: BackfillResult) -> int:
    counted_paths = {count.path for count in found.counts}
    unread = {failure.path for failure in found.failures if failure.path and not failure.version}
    return len(unread - counted_paths)


def likely_seconds(found: BackfillResult) -> int | None:
    """Return how long the downloads take at the rates that were asked for; None where there is no rate.

    Each host has the rates for itself, so the host with the most to download decides. The bytes count as spread over
    the hosts as the packages are.
    """
    rates, size = found.request.fetching, likely_bytes(found.counts)
    hosts: dict[str, int] = {}
    for count in found.counts:
        for host, packages in count.hosts.items():
            hosts[host] = hosts.get(host, 0) + packages
    packages, most = sum(hosts.values()), max(hosts.values(), default=0)
    if not most or not (rates.bytes_rate or rates.request_rate):
        return None
    by_bytes = size * most / packages / rates.bytes_rate if rates.bytes_rate else 0.0
    by_requests = most / rates.request_rate if rates.request_rate else 0.0
    return round(max(by_bytes, by_requests))


def backfill_text(found: BackfillResult) -> Printable:
    """Return what a dry run would do, or the summary of a run."""
    return page(_plan_lines(found) if found.is_dry_run else _summary_lines(found))


def _plan_lines(found: BackfillResult) -> list[str]:
    lines = []
    for count in found.counts:
        known = f", {size_words(count.known_bytes)} known" if count.known_bytes else ""
        lines.append(
            f"{count.path}: {counted(count.missing, 'package')} of {counted(count.versions, 'version')} to fetch{known}"
        )
    packages, versions = sum(count.missing for count in found.counts), sum(count.versions for count in found.counts)
    unsized = sum(count.unsized for count in found.counts)
    size, seconds = likely_bytes(found.counts), likely_seconds(found)
    files = f"{counted(len(found.counts), 'file')} with missing values, {found.complete} complete"
    lines.append(f"{files}: {counted(packages, 'package')} of {counted(versions, 'version')} to fetch")
    if not packages:
        return lines
    if not size:
        lines.append("bytes: not known, since no file has the size of a package")
    else:
        lines.append(f"bytes: about {size_words(size)}; the size of {unsized} of {packages} packages is estimated")
    if seconds is None:
        lines.append("time: not estimated without --max-rate or --max-requests")
    elif not seconds:
        lines.append("time: not known, as the bytes")
    else:
        lines.append(f"time: {'about' if size else 'at least'} {duration(seconds)} at the given rate for each host")
    return lines


def _summary_lines(found: BackfillResult) -> list[str]:
    filled = sum(result.filled for result in found.files)
    failed = sum(bool(failure.platform) for failure in found.failures)
    left = sum(count.missing for count in found.counts) - filled - failed
    parts = [f"{counted(filled, 'package')} filled in"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{left} left"] if left > 0 else []
    files = len([result for result in found.files if result.filled])
    rate = f", {size_words(int(found.size / found.seconds))}/s" if found.size and found.seconds else ""
    spent = f"{size_words(found.size)} in {duration(round(found.seconds))}{rate}"
    return [f"{', '.join(parts)}; {counted(files, 'file')} written, {found.complete} complete before; {spent}"]


def duration(seconds: int) -> str:
    """Return a number of seconds in its two largest units, e.g. "3 h 20 min"."""
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    units = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    first = next((place for place, (amount, _) in enumerate(units) if amount), len(units) - 1)
    return " ".join(
        f"{amount} {unit}" for amount, unit in units[first : first + 2] if amount or first == len(units) - 1
    )
