"""Upgrade candidates as lines of text, and as the JSON document of schema 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import replace

from locklens.addresses import display_host
from locklens.lines import Line, labelled, plain_lines
from locklens.operations.upgrades.candidate_lines import (
    constraint_lines,
    held_version_lines,
    release_lines,
    unknown_lines,
    version_lines,
    warning_lines,
)
from locklens.operations.upgrades.doubts import BlockerKind, blockers
from locklens.review.reports.documents import FromOne, HostJson, Instant, JsonStruct, RunJson
from locklens.review.rules.release import signer_change
from locklens.text import Printable, page
from locklens.trust.continuity import SignerChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.upgrades.candidates import UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.review.model import Review

_RULE = 78


class BlockerJson(JsonStruct, frozen=True):
    """A reason against a version; file and line are those of a constraint or a pin."""

    kind: BlockerKind
    file: str | None
    line: FromOne | None
    text: str


class CandidateJson(JsonStruct, frozen=True):
    """A provider of a root, with the versions that it could be upgraded to."""

    provider: str
    root: str
    locked: str | None
    recommended: Annotated[str | None, Meta(description="The version that --safe selects if safe is true.")]
    in_range: Annotated[str | None, Meta(description="The version that init -upgrade selects.")]
    newest: str | None
    safe: Annotated[bool, Meta(description="True if no known fact speaks against the recommended version.")]
    blocked_by: Annotated[list[BlockerJson], Meta(description="The reasons against the newest version.")]
    released: Annotated[
        Instant | None, Meta(description="Release date of the recommended version, or else of the newest one.")
    ]
    signer_changed: bool
    recorded: Annotated[
        str | None,
        Meta(
            description="The reason why the lock file's recorded constraint counts; "
            "null where the configuration is known."
        ),
    ]
    problem: Annotated[str | None, Meta(description="The reason why the versions are unknown.")]

    @classmethod
    def of(cls, selection: UpgradeSelection, offer: UpgradeCandidates) -> CandidateJson:
        """Describe a provider's candidates."""
        recommended = selection.recommendation(offer).suggested
        judged = recommended or offer.choice(offer.newest)
        new = selection.facts(offer, judged.version) if judged is not None else None
        changed = signer_change(selection.facts(offer, offer.locked), new)
        released = judged.released if judged is not None else None
        return cls(
            provider=str(offer.address),
            root=offer.root or ".",
            locked=_text(offer.locked),
            recommended=_text(recommended.version if recommended is not None else None),
            in_range=_text(offer.in_range.version if offer.in_range is not None else None),
            newest=_text(offer.newest),
            safe=selection.is_safe(offer),
            blocked_by=[
                BlockerJson(blocker.kind, blocker.file or None, blocker.line, blocker.text)
                for blocker in blockers(selection, offer)
            ],
            released=f"{released:%Y-%m-%dT%H:%M:%SZ}" if released is not None else None,
            signer_changed=changed in {SignerChange.OTHER, SignerChange.LOST},
            recorded=offer.recorded or None,
            problem=offer.problem or None,
        )


class RefusedRootJson(JsonStruct, frozen=True):
    """A root in which upgrades are not possible, and why."""

    root: str
    reason: str


class CandidatesDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The upgrade candidates of every root."""

    run: RunJson
    candidates: list[CandidateJson]
    refused: Annotated[list[RefusedRootJson], Meta(description="Roots in which upgrades are not possible.")]

    @classmethod
    def of(cls, selection: UpgradeSelection, review: Review, *, is_offline: bool) -> CandidatesDocument:
        """Return the document.

        Args:
            selection: The candidates, and the cooldown.
            review: The review that the candidates were looked up for.
            is_offline: True if registries were not to be asked.
        """
        table = selection.offers
        run = RunJson.of(review)
        return cls(
            run=replace(run, offline=is_offline, hosts=_hosts(selection), notes=[*run.notes, *table.notes]),
            candidates=[CandidateJson.of(selection, offer) for offer in table.providers],
            refused=[RefusedRootJson(refused.root or ".", str(refused.error)) for refused in table.refused],
        )


def _hosts(selection: UpgradeSelection) -> list[HostJson]:
    by_host: dict[str, list[UpgradeCandidates]] = {}
    for offer in selection.offers.providers:
        by_host.setdefault(offer.address.host, []).append(offer)
    return [
        HostJson(
            host=display_host(host),
            asked=any(offer.was_contacted for offer in offers),
            as_of=min((offer.as_of for offer in offers if offer.as_of), default=None),
            error=next((offer.problem for offer in offers if offer.problem and offer.was_contacted), None),
        )
        for host, offers in sorted(by_host.items())
    ]


def _text(value: object) -> str | None:
    return str(value) if value is not None else None


def as_text(selection: UpgradeSelection) -> Printable:
    """Return every provider of every root with all known facts, root by root."""
    lines: list[str] = []
    table = selection.offers
    refused = {entry.root: entry for entry in table.refused}
    for root in sorted({offer.root for offer in table.providers} | refused.keys()):
        title = root or "."
        lines += ["", title, "=" * min(_RULE, len(title))]
        if root in refused:
            lines += ["", "upgrades are not possible here", f"  {refused[root].error}"]
            lines += [f"  {refused[root].error.hint}"] if refused[root].error.hint else []
        for offer in table.providers:
            if offer.root == root:
                lines += ["", *_candidate_lines(selection, offer)]
    return page(lines[1:] or ["no provider is locked or required here"])


def _candidate_lines(selection: UpgradeSelection, offer: UpgradeCandidates) -> Iterator[str]:
    choice = selection.target(offer)
    target = f" -> {choice.version}" if choice is not None else ""
    selected = "  selected" if selection.is_selected(offer) else ""
    yield f"{offer.name} {offer.locked or 'not locked'}{target}{selected}  {display_host(offer.address.host)}"
    yield from plain_lines(_fact_lines(selection, offer))


def _fact_lines(selection: UpgradeSelection, offer: UpgradeCandidates) -> Iterator[Line]:
    choice = selection.target(offer)
    yield labelled("STATE", str(selection.state(offer)))
    yield from unknown_lines(offer)
    yield from warning_lines(offer, selection)
    yield from constraint_lines(offer, choice)
    yield from held_version_lines(offer, selection, limit=None)
    if choice is not None:
        yield from release_lines(offer, choice, selection, is_asking=False)
    yield from version_lines([offer], selection)
