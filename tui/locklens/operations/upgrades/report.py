"""An upgrade candidate as lines with meanings, and the candidates as a report of text or the JSON document of schema 1.

Lines are warnings, constraints, holds, release and versions; the text report of `upgrade --list` prints them, and the
Upgrade screen shows them. No I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from locklens.addresses import Platform, display_host
from locklens.hashes import hashes_of_files
from locklens.lines import FilePlace, Line, Role, Span, heading, labelled, line, plain_lines, words_seen_from
from locklens.operations.upgrades import edits_in_short, is_refused, platforms_to_lock
from locklens.operations.upgrades.doubts import Blocker, BlockerKind, blockers, upgrade_warnings
from locklens.operations.upgrades.recommending import NOT_ALLOWED, Eligibility, is_beyond
from locklens.operations.upgrades.selection import UpgradeSelection, sorted_versions
from locklens.project.clifiles import this_platform
from locklens.project.configuration import constraint_place
from locklens.review.reports import SEVERITY_ROLES
from locklens.review.reports.advisories import advisory_section
from locklens.review.reports.documents import FromOne, HostJson, Instant, JsonStruct, RunJson
from locklens.review.reports.evidence_lines import age_in_words, page_lines
from locklens.review.reports.lock_lines import signer_change_lines
from locklens.review.rules.release import signer_change, unknown_signer_words
from locklens.review.why import HELD_BACK, held_words, version_range
from locklens.selection import Hold, Reason
from locklens.text import Printable, age_words, counted, page
from locklens.trust.continuity import SignerChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.operations.upgrades import CandidateVersion, RefusedRoot, UpgradeCandidates
    from locklens.project.configuration import Requirement
    from locklens.review.model import Review
    from locklens.versions import Version

_GROUPS_SHOWN = 6


def offer_lines(
    offer: UpgradeCandidates,
    selection: UpgradeSelection,
    *,
    steps: Iterable[Line] = (),
    limit: int | None = _GROUPS_SHOWN,
    lists_versions: bool = False,
    is_asking: bool = False,
) -> Iterator[Line]:
    """Yield all that is known about a provider in its root.

    `steps` are the versions around the target one; at most `limit` groups of versions with holds are listed, None for
    all.
    """
    choice = selection.target(offer)
    yield from unknown_lines(offer)
    if not offer.is_asked:
        yield labelled("ASKING", Span("version list requested from the registry", Role.DIM))
    yield from warning_lines(offer, selection)
    yield from steps
    yield from _constraint_lines(offer, choice)
    yield from held_version_lines(offer, selection, limit=limit)
    if choice is not None:
        yield from release_lines(offer, choice, selection, is_asking=is_asking)
    if lists_versions:
        yield from version_lines([offer], selection)


def unknown_lines(offer: UpgradeCandidates) -> Iterator[Line]:
    """Yield the reason why versions are unknown, with its hint."""
    if offer.problem:
        yield labelled("UNKNOWN", Span(offer.problem, Role.WARN), copied=offer.problem)
        if offer.hint:
            yield labelled("", Span(offer.hint, Role.DIM))


def warning_lines(offer: UpgradeCandidates, selection: UpgradeSelection) -> Iterator[Line]:
    """Yield the warnings about the target version, the worst first."""
    for number, warning in enumerate(upgrade_warnings(selection, offer, selection.target(offer))):
        label, role = "" if number else "CAUTION", SEVERITY_ROLES[warning.severity]
        yield labelled(label, Span("! ", role), Span(warning.words), copied=warning.words)


# The constraints


def _constraint_lines(offer: UpgradeCandidates, choice: CandidateVersion | None) -> Iterator[Line]:
    """Yield each constraint with its place, and those that exclude a version."""
    excluding = choice.excluding if choice is not None else ()
    excluding_places = {entry.site for entry in excluding}
    constraints = [entry for entry in offer.requirements if entry.constraint]
    if not offer.requirements:
        reason = "not required by this root: prune removes it"
        if offer.moves_to:
            reason = f"not required by this root: the upgrade of {offer.moves_to} replaces it"
        elif offer.unread:
            reason = f"not required by any readable module; {offer.unread}"
        yield labelled("CONSTRAINTS", Span(reason, Role.WARN))
        return
    if not constraints:
        first = offer.requirements[0]
        place = FilePlace(first.file, first.line)
        none = "none that can be read" if offer.unread else "none"
        yield labelled(
            "CONSTRAINTS",
            f"{none}; {'recorded in' if offer.recorded else 'required by'} {first.subject}  ",
            Span(str(place), Role.PLACE),
            place=place,
        )
    for number, entry in enumerate(constraints):
        is_excluding = entry.site in excluding_places
        verdict = Span("  excludes it" if is_excluding else "", Role.WARN)
        yield _requirement_line("" if number else "CONSTRAINTS", entry, verdict, offer.guards.get(entry.site, ""))
    if offer.recorded:
        yield labelled("", Span(offer.recorded, Role.DIM))
    if choice is not None and choice.excluding and offer.refusal(choice):
        yield labelled("", Span(offer.refusal(choice), Role.WARN))


def _requirement_line(label: str, entry: Requirement, verdict: Span, guard: str) -> Line:
    place = constraint_place(entry)
    module = Span(f"  module {entry.module}" if entry.module else "", Role.DIM)
    hidden = ""
    if entry.overrides is not None:
        base = entry.overrides
        hidden = f"  overrides {base.constraint} ({constraint_place(base)})"
    guarded = Span(f"  {guard}" if guard and verdict.text else "", Role.WARN)
    constraint = entry.constraint.strip()
    spans = Span(f"{constraint:<14} "), Span(str(place), Role.PLACE), module, Span(hidden, Role.WARN)
    return labelled(label, *spans, verdict, guarded, copied=constraint, place=place)


def held_version_lines(
    offer: UpgradeCandidates, selection: UpgradeSelection, *, limit: int | None = _GROUPS_SHOWN
) -> Iterator[Line]:
    """Yield the holds on the versions above the recommended one, of at most `limit` groups; None for all."""
    recommendation = selection.recommendation(offer)
    reached = recommendation.suggested.version if recommendation.suggested is not None else offer.locked
    groups = [
        ([version for version in group.versions if is_beyond(version, reached)], group.holds)
        for group in offer.newer
        if group.holds
    ]
    shown = [_held(versions, holds) for versions, holds in groups if versions]
    if limit is not None and len(shown) > limit:
        shown = [*shown[:limit], _HeldWords((Span("w lists the rest", Role.DIM),))]
    terms = selection.terms
    young = [choice for choice in offer.choices if not choice.holds and terms.is_too_young(choice)]
    if young := [choice for choice in young if is_beyond(choice.version, reached)]:
        ages = [choice.days or 0 for choice in young]
        words = " to ".join(dict.fromkeys(map(str, (min(ages), max(ages)))))
        hold = Hold(Reason.COOLDOWN, names=(str(terms.cooldown), words))
        shown.append(_held([choice.version for choice in young], (hold,)))
    others: dict[str, list[Version]] = {}
    for each in offer.choices:
        if each.holds or not is_beyond(each.version, reached):
            continue
        if not terms.allows(offer, each):
            others.setdefault(NOT_ALLOWED, []).append(each.version)
        elif not terms.is_too_young(each):
            words = terms.limit.words if terms.is_too_far(offer, each) else terms.doubt_words(offer, each)
            others.setdefault(words, []).append(each.version)
    others.pop("", None)
    for words, versions in others.items():
        shown.append(_HeldWords((version_range(versions), Span(f"  {HELD_BACK} {words}", Role.WARN))))
    for blocker in _other_blockers(offer, selection):
        place = FilePlace(blocker.file, blocker.line or 1) if blocker.file else None
        words = f"{HELD_BACK} {blocker.text}{f' ({place})' if place is not None else ''}"
        shown.append(_HeldWords((Span(words, Role.WARN),), place))
    if not shown and recommendation.held_by and recommendation.state is Eligibility.NOT_REQUIRED:
        if offer.moves_to:
            return  # a name without a host means the provider that replaces it
        yield labelled("REQUIRED", Span(f"no: {recommendation.held_by}; upgrade skips it", Role.WARN))
    elif not shown and recommendation.held_by and recommendation.state is not Eligibility.UNKNOWN:
        shown.append(_HeldWords((Span(f"{HELD_BACK} {recommendation.held_by}", Role.WARN),)))
    for number, held in enumerate(shown):
        yield labelled("" if number else "NEWER", *held.spans, place=held.place)


class _HeldWords(NamedTuple):
    """The words of a hold, and its place."""

    spans: tuple[Span | str, ...]
    place: FilePlace | None = None


def _other_blockers(offer: UpgradeCandidates, selection: UpgradeSelection) -> list[Blocker]:
    """The reasons that are no hold of a version: a signer that no warning tells of."""
    untold = blockers(selection, offer) if selection.target(offer) is None else ()
    return [blocker for blocker in untold if blocker.kind is BlockerKind.SIGNER]


def _held(versions: Sequence[Version], holds: Sequence[Hold]) -> _HeldWords:
    words = Span(held_words(holds), Role.WARN)
    return _HeldWords((f"{version_range(versions)}  ", words), blocker_place(holds))


def blocker_place(holds: Iterable[Hold]) -> FilePlace | None:
    """The first line of the configuration among some holds; None if there is none."""
    demands = (hold.demand for hold in holds if hold.demand is not None)
    first = next((entry for demand in demands for entry in demand.requirements), None)
    return constraint_place(first) if first is not None else None


# The release


def release_lines(
    offer: UpgradeCandidates, choice: CandidateVersion, selection: UpgradeSelection, *, is_asking: bool
) -> Iterator[Line]:
    """Yield the date, platforms, protocols and signer of a version; `is_asking` during a lookup of signers."""
    if choice.released is None:
        yield labelled("RELEASED", Span("release date unknown", Role.DIM))
    else:
        moment = f"{choice.released:%Y-%m-%d %H:%M} UTC"
        ago = f"  {age_in_words(choice.days or 0)}"
        yield labelled("RELEASED", moment, Span(ago, Role.DIM), copied=moment)
    new, old = selection.facts(offer, choice.version), selection.facts(offer, offer.locked)
    source = new.source if new is not None else ""
    yield from page_lines(offer.address, str(choice.version), source or offer.repository)
    yield from _platform_lines(offer, choice, selection, is_asking=is_asking)
    protocols = ", ".join(choice.listed.protocols) or "protocol unknown"
    yield labelled("PROTOCOL", protocols)
    if new is None:
        state = "lookup in progress" if is_asking else "not looked up yet"
        yield labelled("SIGNER", Span(state, Role.DIM))
        return
    unknown = unknown_signer_words(new)
    yield from signer_change_lines(old.signer if old is not None else None, new.signer, unknown=unknown)


def _platform_lines(
    offer: UpgradeCandidates, choice: CandidateVersion, selection: UpgradeSelection, *, is_asking: bool
) -> Iterator[Line]:
    """The platforms that the upgrade locks, and those that the release has packages for."""
    required = selection.terms.platforms
    locked = platforms_to_lock(offer, selection.known, Platform.parse(this_platform()), required=required)
    names = ", ".join(sorted(map(str, locked.platforms)))
    hashes = counted(locked.unknown, "h1 hash", "h1 hashes")
    if required:
        also = " and locked now" if locked.platforms - frozenset(required) else ""
        also += f"; the platforms of {hashes} are unknown" if locked.unknown else ""
        yield labelled("LOCKS", names, Span(f"  required by the policy{also}", Role.DIM))
    elif not locked.unknown:
        as_now = "  as now" if offer.prior is not None and hashes_of_files(offer.prior.hashes) else "  this machine's"
        yield labelled("LOCKS", names, Span(as_now, Role.DIM))
    elif offer.prior_release not in selection.known:
        state = "lookup in progress" if is_asking else "not looked up yet"
        yield labelled("LOCKS", Span(f"the platforms of {hashes}: {state}", Role.DIM))
    else:
        # The plan looks for those platforms in old packages. This machine's is locked if no platform is known then.
        is_any_known = offer.prior is not None and len(hashes_of_files(offer.prior.hashes)) > locked.unknown
        known = f"{names}  as now; " if is_any_known else ""
        rest = "" if is_any_known else f"; {names} if the plan finds none"
        yield labelled("LOCKS", known, Span(f"the platforms of {hashes} are unknown{rest}", Role.WARN))
    offered = ", ".join(map(str, choice.listed.platforms)) or "platforms unknown"
    yield labelled("PLATFORMS", offered)
    yield from advisory_section(selection.change_advisories(offer, choice))


# The versions


def version_lines(offers: Iterable[UpgradeCandidates], selection: UpgradeSelection) -> Iterator[Line]:
    """Yield all versions, one per line."""
    asked = [offer for offer in offers if offer.choices]
    if not asked:
        return
    versions = [choice.version for choice in asked[0].choices] if len(asked) == 1 else sorted_versions(asked)
    targets = {choice.version for offer in asked if (choice := selection.target(offer)) is not None}
    others = max(offer.prereleases for offer in asked)
    without = f", without {counted(others, 'pre-release')}" if others else ""
    yield from heading(f"ALL VERSIONS  newest first, {len(versions)}{without}")
    for version in versions:
        yield _version_line(version, asked, selection, is_target=version in targets)


def _version_line(
    version: Version, offers: list[UpgradeCandidates], selection: UpgradeSelection, *, is_target: bool
) -> Line:
    offer, choice = next(
        ((each, choice) for each in offers if (choice := each.choice(version)) is not None), (offers[0], None)
    )
    assert choice is not None
    age = "age ?" if choice.days is None else age_words(choice.days)
    is_of_one = len({each.locked for each in offers}) == 1  # Otherwise there is no one step, and no one signer before.
    is_older = offer.locked is not None and version.compare(offer.locked) < 0
    step = ("older" if is_older else offer.bump(version) or "") if is_of_one else ""
    notes: list[Span] = []
    if any(each.locked == version for each in offers):
        notes.append(Span("locked", Role.GOOD))
    if len(offers) > 1:
        choices = [each.choice(version) for each in offers]
        in_range = sum(each is not None and each.is_in_range for each in choices)
        notes.append(Span(f"in range in {in_range} of {len(offers)} roots", Role.DIM))
    elif refusal := offer.refusal(choice):
        notes.append(Span(f"cannot be selected: {refusal}", Role.DIM))
    elif choice.excluding:
        notes.append(Span(f"*edit {edits_in_short(choice)}", Role.WARN))
    elif version != offer.locked:
        notes.append(Span("in range", Role.DIM))
    if selection.terms.is_too_young(choice) and version != offer.locked:
        notes.append(Span("in cooldown", Role.WARN))
    if not selection.terms.allows(offer, choice):
        notes.append(Span(NOT_ALLOWED, Role.WARN))
    if not choice.is_usable:
        notes.append(Span("unsupported plugin protocol", Role.WARN))
    if is_of_one and version != offer.locked and (signer := signer_span(selection, offer, choice)).text:
        notes.append(signer)
    joined = [span for note in notes for span in (Span("  "), note)]
    sign = "  > " if is_target else "    "
    role = Role.STRONG if is_target else Role.PLAIN
    spans = Span(sign, Role.STRONG), Span(f"{version!s:<14}", role), f"{age:>6}  {step:<10}"
    return line(*spans, *joined, hanging=6, copied=f"{offer.address} {version}")


def signer_span(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None) -> Span:
    """The signer of a version compared with that of the locked one, in two words; "" before the lookup."""
    if choice is None:
        return Span("")
    old, new = selection.facts(offer, offer.locked), selection.facts(offer, choice.version)
    if new is None:
        return Span("")
    if is_refused(new):
        return Span("REFUSED", Role.BLOCK)
    if new.signer is None:
        return Span("?", Role.DIM)
    tier = new.signer.tier.value
    key = new.authentication.signed_by if new.authentication is not None else None
    match signer_change(old, new):
        case SignerChange.SAME:
            if not new.signer.keys:
                return Span("still unsigned", Role.WARN)
            if key is not None and key.expired:
                return Span("key EXPIRED", Role.WARN)
            return Span("same key")
        case SignerChange.OTHER:
            return Span("NEW KEY", Role.WARN)
        case SignerChange.LOST:
            return Span("NOT SIGNED", Role.WARN)
        case SignerChange.GAINED:
            return Span("now signed", Role.GOOD)
        case _:
            return Span(tier, Role.DIM)


_RULE = 78


class BlockerJson(JsonStruct, frozen=True):
    """A reason against a version; file and line are those of a constraint or a pin."""

    kind: BlockerKind
    file: str | None
    line: FromOne | None
    text: str

    @classmethod
    def of(cls, blocker: Blocker) -> BlockerJson:
        """Describe a reason."""
        return cls.like(blocker, file=blocker.file or None)


class CandidateJson(JsonStruct, frozen=True):
    """A provider of a root, with the versions that it could be upgraded to."""

    provider: str
    root: str
    locked: str | None
    locked_in_range: Annotated[
        bool | None,
        Meta(
            description="False if the locked version does not satisfy the constraints: init fails; "
            "null if it is not locked or not required, or if not all constraints are known."
        ),
    ]
    recommended: Annotated[str | None, Meta(description="The version that --safe selects if safe is true.")]
    in_range: Annotated[str | None, Meta(description="The version that init -upgrade selects.")]
    newest: str | None
    safe: Annotated[bool, Meta(description="True if no known fact speaks against the recommended version.")]
    blocked_by: Annotated[list[BlockerJson], Meta(description="The reasons against the newest version.")]
    released: Annotated[
        Instant | None, Meta(description="Release date of the recommended version, or else of the newest one.")
    ]
    signer_changed: Annotated[bool | None, Meta(description="Null where the two signers are not known.")]
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
        return cls.like(
            offer,
            provider=offer.address,
            root=offer.root or ".",
            locked_in_range=offer.is_locked_in_range,
            recommended=recommended.version if recommended is not None else None,
            in_range=offer.in_range.version if offer.in_range is not None else None,
            safe=selection.is_safe(offer),
            blocked_by=blockers(selection, offer),
            released=f"{released:%Y-%m-%dT%H:%M:%SZ}" if released is not None else None,
            signer_changed=None if changed is SignerChange.UNKNOWN else changed in _CHANGED,
            recorded=offer.recorded or None,
            problem=offer.problem or None,
        )


_CHANGED = frozenset({SignerChange.OTHER, SignerChange.LOST})


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
        """Return the document of the candidates that were looked up for a review."""
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


def as_text(selection: UpgradeSelection) -> Printable:
    """Return every provider of every root with all known facts, of roots that read the same once, and the counts."""
    refused = {entry.root: entry for entry in selection.offers.refused}
    offers: dict[str, list[UpgradeCandidates]] = {root: [] for root in refused}
    for offer in selection.offers.providers:
        offers.setdefault(offer.root, []).append(offer)
    alike: dict[tuple[str, ...], list[tuple[str, list[Line]]]] = {}
    for root, own in sorted(offers.items()):
        lines = list(_root_lines(selection, own, refused.get(root)))
        alike.setdefault(tuple(words_seen_from(each.text, root) for each in lines), []).append((root, lines))
    printed: list[str] = []
    for members in alike.values():
        (root, lines), names = members[0], [root or "." for root, _ in members]
        title = [names[0]]
        if len(members) > 1:  # Places are relative to each of them.
            title = list(plain_lines([line(f"{len(names)} roots alike, each as ./: {', '.join(names)}", hanging=2)]))
            lines = [replace(each, spans=tuple(_span_seen_from(root, *span) for span in each.spans)) for each in lines]
        printed += ["", *title, "=" * min(_RULE, len(title[0])), *plain_lines(lines)]
    if not offers:
        return page(["no provider is locked or required here"])
    return page([*printed[1:], "", _summary(selection)])


def _span_seen_from(root: str, words: str, role: Role) -> Span:
    return Span(words_seen_from(words, root), role)


def _root_lines(
    selection: UpgradeSelection, offers: Iterable[UpgradeCandidates], refused: RefusedRoot | None
) -> Iterator[Line]:
    if refused is not None:
        hint = refused.error.hint
        said = ("", "upgrades are not possible here", f"  {refused.error}", *([f"  {hint}"] if hint else ()))
        yield from (line(words, hanging=4) for words in said)
    for offer in offers:
        choice = selection.target(offer)
        target = f" -> {choice.version}" if choice is not None else ""
        selected = "  selected" if selection.is_selected(offer) else ""
        head = f"{offer.name} {offer.locked_words}{target}{selected}  {display_host(offer.address.host)}"
        yield from (Line(), line(head, hanging=2), labelled("STATE", str(selection.state(offer))))
        yield from offer_lines(offer, selection, limit=None, lists_versions=True)


def _summary(selection: UpgradeSelection) -> str:
    """How many providers can upgrade, need a decision, are held back: the counts in the head of the screen."""
    counts, table = selection.counts, selection.offers
    roots = {offer.root for offer in table.providers}
    need = f"{counts.undecided} {'needs' if counts.undecided == 1 else 'need'} your decision"
    most = "up to " if selection.has_unknown_signers else ""
    known = [f"{most}{counts.ready} can upgrade", need, counts.held_words] if counts.is_any_known else []
    unknown = [f"{counts.unknown} unknown"] if counts.unknown else []
    unread = [f"{counted(len(table.refused), 'root')} not read"] if table.refused else []
    extent = f"{counted(counts.of_all, 'provider')} in {counted(len(roots), 'root')}"
    return f"{extent}: {', '.join((*known, *unknown, *unread))}"
