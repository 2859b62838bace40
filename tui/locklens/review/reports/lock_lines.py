"""The hashes and the signing keys of locked releases as lines and as plain text.

The proof of each hash by provider and platform, and platform coverage in words, which the Hashes screen shows too. The
user IDs of a key are unproven claims; only its 40 digits identify it. On the screen they are in groups of four, in
text and on the clipboard without spaces.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from locklens.hashes import is_of_files
from locklens.lines import FilePlace, Line, Role, Span, heading, labelled, line, plain_lines
from locklens.lockfile import unread_words
from locklens.review import HashCount, Proof
from locklens.review.coverage import ProviderCoverage, coverage
from locklens.review.keys import PastUse, SignerUses, Use, signers
from locklens.review.reports import (
    all_findings_in_words,
    evidence_lines,
    exit_words,
    hash_words,
    survey_verdict,
    verdict_words,
)
from locklens.review.reports.documents import PACKAGE_VERDICTS
from locklens.review.reports.evidence_lines import clock
from locklens.text import Printable, counted, page, visible
from locklens.trust import Signer, SigningKey, Tier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from locklens.policy import InstallPath, Pin, Policy
    from locklens.review.model import Change, Review, RootReview
    from locklens.review.reports.documents import PackageJson
    from locklens.review.reports.lock_documents import Packages, Past

    _Printed = Line | str

_NAMES_SHOWN = 5

TIERS = {
    Tier.OFFICIAL: "signed with HashiCorp's own key",
    Tier.PARTNER: "HashiCorp signed the publisher's key",
    Tier.SELF_SIGNED: "only the registry vouches for this key",
    Tier.UNSIGNED: "the registry lists no key",
    Tier.UNKNOWN: "no signer known",
}
"""The meaning of each tier."""


def grouped(fingerprint: str) -> str:
    """A fingerprint in groups of four digits."""
    return " ".join(fingerprint[start : start + 4] for start in range(0, len(fingerprint), 4))


def fingerprint_line(key: SigningKey, *, sign: str = " ", role: Role = Role.STRONG) -> Line:
    """A whole fingerprint; copied without spaces."""
    return line(Span(f"{sign} {grouped(key.fingerprint)}", role), hanging=2, copied=key.fingerprint)


def key_lines(key: SigningKey) -> Iterator[Line]:
    """The claimed names of a key, its algorithm, its dates and its problems."""
    for name in key.user_ids[:_NAMES_SHOWN] or ("no user ID",):
        yield line(f"  {name}", hanging=4, copied=name if key.user_ids else "")
    if (more := len(key.user_ids) - _NAMES_SHOWN) > 0:
        yield line(Span(f"  and {more} more names", Role.DIM))
    spans = [Span(f"  {key.algorithm}, created {key.created[:10]}, ")]
    if key.expires is None:
        spans.append(Span("no expiry"))
    else:
        expired = Span(f"EXPIRED {key.expires[:10]}", Role.WARN)
        spans.append(expired if key.expired else Span(f"expires {key.expires[:10]}"))
    if key.revoked:
        spans += [Span(", "), Span("REVOKED", Role.BLOCK)]
    yield line(*spans, hanging=4)


def tier_span(tier: Tier) -> Span:
    """A tier as a word."""
    return Span(tier.value, Role.WARN if tier in {Tier.UNSIGNED, Tier.UNKNOWN} else Role.PLAIN)


def tier_words(tier: Tier, *, is_pinned: bool) -> str:
    """The meaning of a tier, and whether the policy pins the key."""
    return f"{TIERS[tier]}; the policy pins it" if is_pinned else TIERS[tier]


def pin_lines(signer: SignerUses, review: Review) -> Iterator[Line]:
    """The pins in force for a signer's releases: what each covers, who decided it and when, until when, and why."""
    for number, pin in enumerate((*signer.rejecting, *signer.pins)):
        is_rejecting = number < len(signer.rejecting)
        if number in {0, len(signer.rejecting)}:
            title = "REJECTED BY A PIN" if is_rejecting else "PINNED"
            yield line(Span(title, Role.BLOCK if is_rejecting else Role.HEADING), f"  {source_words(review)}")
        words = ", ".join(filter(None, (pin.decision, f"line {pin.line}")))
        yield line(f"  {pin.name}", Span(f"  {words}", Role.DIM), hanging=4, copied=pin.name)
        for fingerprint in pin.keys if is_rejecting else ():
            yield line(f"    pinned to {grouped(fingerprint)}", hanging=6, copied=fingerprint)
        if pin.why:
            yield line(f"    {pin.why}", hanging=6, copied=pin.why)


HISTORY_TITLE = "HISTORY  other versions of these providers in git's history"


def uses_title(signer: SignerUses) -> str:
    """The heading of a signer's releases, with their number."""
    title = "SIGNED" if signer.key is not None else "NOT SIGNED" if signer.tier is Tier.UNSIGNED else "UNKNOWN"
    releases = counted(len(signer.uses), "locked release")
    return f"{title}  {releases} of {counted(len(signer.addresses), 'provider')}"


def use_lines(use: Use, moment: str, *, notes: Iterable[str] = ()) -> Iterator[Line]:
    """A locked release of a signer, with the moment of its signature, what is unusual about it, and its lock files."""
    yield line(f"  {use.name}", Span(f"  {moment}" if moment else "", Role.DIM), hanging=4, copied=use.name)
    if use.problem:
        yield line(Span(f"    {use.problem}", Role.WARN), hanging=6, copied=use.problem)
    for note in filter(None, notes):
        yield line(Span(f"    {note}", Role.WARN), hanging=6)
    for name in use.lock_files:
        yield line("    ", Span(name, Role.PLACE), hanging=6, place=FilePlace(name, 1))
        if doubt := use.doubt(name):
            yield line(Span(f"      {doubt}", Role.WARN), hanging=8)


def past_use_lines(use: PastUse, signer: SignerUses) -> Iterator[Line]:
    """A release that was locked before, and its key beside that of a signer."""
    name = f"{use.address} {use.version}"
    yield line(Span(f"  in {use.commit[:7]} of {use.date[:10]}  ", Role.DIM), name, hanging=4, copied=name)
    tier = Span(f"  {use.tier.value}", Role.DIM)
    if use.key is None:
        reason = use.problem or ("not signed" if use.tier is Tier.UNSIGNED else "no longer known")
        yield line(Span(f"    {reason}", Role.WARN), hanging=6, copied=use.problem)
    elif signer.key is not None and use.key.fingerprint == signer.key.fingerprint:
        yield line(Span("    same key", Role.GOOD), tier)
    else:
        digits = Span(grouped(use.key.fingerprint), Role.STRONG)
        words = Span("    another key  ", Role.WARN) if signer.key is not None else Span("    signed by  ")
        yield line(words, digits, tier, hanging=6, copied=use.key.fingerprint)
        yield from key_lines(use.key)


_signed_by = partial(labelled, "SIGNER")
"""Build the line of a signer."""


def signer_change_lines(
    old: Signer | None, new: Signer | None, *, unknown: str, neighbour: Signer | None = None, pin: Pin | None = None
) -> Iterator[Line]:
    """The signer of the new version and, for a different key, the signer of the old version below.

    None is a signer that is unknown, for the reason `unknown`. Where that of the old version is, a release next to the
    new version is compared instead.
    """
    known = old or neighbour
    named = "" if known is None else known.version if known is old else f"the nearest release, {known.version}"
    if new is None or _is_unknown(new):
        yield _signed_by(Span(f"unknown: {unknown if new is None else 'the release is not authenticated'}", Role.DIM))
        if known is not None:
            yield from _alone(known, f"{'before: ' if known is old else ''}{named} is ", pin)
        return
    if known is None or _is_unknown(known) or known.version == new.version:
        yield _signed_by(tier_span(new.tier), *_meaning(new, pin))
        yield from _keys(new)
    elif _fingerprints(known) == _fingerprints(new):
        same = f", same key as {named}" if new.keys else f", as {named}"
        yield _signed_by(tier_span(new.tier), Span(same, Role.GOOD if new.keys else Role.WARN), *_meaning(new, pin))
        yield from _keys(new)
    else:
        yield from _changed(known, new, named, pin)


def _is_unknown(signer: Signer) -> bool:
    return signer.tier is Tier.UNKNOWN and not signer.keys


def _changed(old: Signer, new: Signer, named: str, pin: Pin | None) -> Iterator[Line]:
    if old.keys and new.keys:
        difference, advice = f"different key than {named}", "  compare all 40 digits"
    else:
        difference, advice = f"differs from {named}", ""
    yield _signed_by(Span(difference, Role.WARN), Span(advice, Role.DIM))
    for sign, role, signer in (("-", Role.REMOVED, old), ("+", Role.ADDED, new)):
        for key in signer.keys:
            yield fingerprint_line(key, sign=sign, role=role)
    for sign, signer in (("-", old), ("+", new)):
        yield line(f"{sign} {signer.version}  ", tier_span(signer.tier), *_meaning(signer, pin), hanging=2)
        for key in signer.keys:
            yield from key_lines(key)


def _alone(signer: Signer, lead: str, pin: Pin | None) -> Iterator[Line]:
    yield line(f"  {lead}", tier_span(signer.tier), *_meaning(signer, pin), hanging=2)
    yield from _keys(signer)


def _keys(signer: Signer) -> Iterator[Line]:
    for key in signer.keys:
        yield fingerprint_line(key)
        yield from key_lines(key)


def _meaning(signer: Signer, pin: Pin | None) -> tuple[Span, ...]:
    is_pinned = pin is not None and bool(signer.keys) and all(map(pin.permits, _fingerprints(signer)))
    words = tier_words(signer.tier, is_pinned=is_pinned)
    return (Span(f"  {words}", Role.DIM),) if signer.tier is not Tier.UNKNOWN else ()


def _fingerprints(signer: Signer) -> tuple[str, ...]:
    return tuple(key.fingerprint for key in signer.keys)


TIER_MEANINGS = {tier.value: meaning for tier, meaning in TIERS.items()}


def keys_text(review: Review, past: Past | None = None) -> Printable:
    """Return the report on a review with unchanged providers; `past` has earlier releases by a key's fingerprint."""
    return page(_lines(review, past or {}))


def _lines(review: Review, past: Past) -> Iterator[str]:
    gathered = signers(review)
    uses = sum(len(one.uses) for one in gathered)
    keys = sum(one.key is not None for one in gathered)
    unread = unread_words(root.new for root in review.roots)
    counts = f"{counted(uses, 'locked release')}, {counted(keys, 'signing key')}" if uses or not unread else ""
    yield f"locklens keys  {', '.join(filter(None, (counts, unread)))}"
    for signer in gathered:
        yield ""
        before = past.get(signer.key.fingerprint, ()) if signer.key is not None else ()
        yield from plain_lines(_signer_lines(signer, before, review))
    yield ""
    yield from evidence_lines.told_lines(review)
    if findings := all_findings_in_words(review):
        yield f"findings: {findings}; locklens hashes with the same arguments lists them"


def _signer_lines(signer: SignerUses, past: Sequence[PastUse], review: Review) -> Iterator[Line]:
    if signer.key is not None:
        yield line(tier_span(signer.tier), f"  {tier_words(signer.tier, is_pinned=bool(signer.pins))}")
        yield fingerprint_line(signer.key)
        yield from key_lines(signer.key)
    yield from pin_lines(signer, review)
    yield line(uses_title(signer))
    for use in signer.uses:
        yield from use_lines(use, f"as of {clock(use.as_of)}" if use.as_of and not use.problem else "")
    if past:
        yield line(HISTORY_TITLE)
    for before in past:
        yield from past_use_lines(before, signer)


def hashes_text(
    review: Review, *, colour: bool = False, packages: Packages | None = None, fail_on: str | None = None
) -> Printable:
    """Return the report on a review with unchanged providers; the packages are those of this machine."""
    return page(_hashes_lines(review, packages, fail_on), colour=colour)


def _hashes_lines(review: Review, packages: Packages | None, fail_on: str | None) -> Iterator[_Printed]:
    roots = [root for root in review.roots if any(change.new for change in root.changes) or root.findings]
    facts = [fact for root in roots for change in root.changes for fact in change.locked]
    locks = counted(sum(root.new.exists for root in roots), "lock file")
    unread = unread_words(root.new for root in roots)
    counts = hash_words(HashCount.of(facts), "locked") or ("" if unread else "no hashes")
    yield f"locklens hashes  {', '.join(filter(None, (locks, counts, unread)))}"
    locked = [change for root in roots for change in root.changes if change.new is not None]
    shared = evidence_lines.shared_problems(locked)
    for root in roots:
        yield ""
        yield from _root(root, review, shared, packages or {})
    yield ""
    yield from evidence_lines.shared_problem_lines(shared, locked)
    yield from plain_lines(policy_lines(review))
    yield ""
    proofs = Counter(fact.proof for fact in facts)
    if facts:
        yield ", ".join(f"{proofs[proof]} {proof}" for proof in Proof if proofs[proof])
    yield from evidence_lines.told_lines(review)
    verdict = (
        verdict_words(review)
        if survey_verdict(review) != "unknown"
        else "unknown: there is no lock file that git does not ignore"
    )
    exit_reason = filter(None, [exit_words(review, fail_on)])
    if packages is None:
        yield f"verdict: {verdict}"
        yield from exit_reason
        return
    # A folder that several roots share stands below each of their entries, and is one package.
    each = (one for those in packages.values() for one in those)
    distinct = {(one.where, one.path, one.provider, one.version, one.platform, one.verdict) for one in each}
    verdicts = Counter(verdict for *_, verdict in distinct)
    counts = ", ".join(f"{verdicts[word]} {words}" for word, words in PACKAGE_VERDICTS.items() if verdicts[word])
    yield f"verdict on the hashes alone: {verdict}"
    yield from exit_reason
    yield f"packages on this machine: {counts or 'none compared'}"


def _root(
    root: RootReview, review: Review, shared: Collection[tuple[str, str]], packages: Packages
) -> Iterator[_Printed]:
    yield f"{root.lock_file}  ({root.tool.product})"
    for finding in root.findings:
        yield f"  {finding.rule} {finding.severity.upper()} {finding.message}"
    for change in sorted(root.changes, key=lambda one: one.address.sort_key):
        if change.new is not None:
            yield from _provider(change, root, review, shared)
            for package in packages.get((root.lock_file, change.address), ()):
                yield from _package(package)


def _provider(
    change: Change, root: RootReview, review: Review, shared: Collection[tuple[str, str]]
) -> Iterator[_Printed]:
    assert change.new is not None
    facts = change.locked
    name = change.address.short(root.tool.default_host)
    covered = coverage(change, review.policy)
    counts = hash_words(HashCount.of(facts), "locked") or "no hashes"
    yield f"  {name} {change.new.version}  {counts}, {in_words(covered)}"
    if covered.is_wanted and len(covered.covered) < len(covered.platforms):
        yield from plain_lines(coverage_lines(covered), indent=" " * 6)
    for finding in change.findings:
        yield f"      {finding.rule} {finding.severity.upper()} {evidence_lines.without_cause(finding.message, shared)}"
    old, new = change.old_signer, change.new_signer
    lines: list[Line] = []
    if old is not None or new is not None:
        why, pin = evidence_lines.why_unknown(change, review, is_asking=False), review.policy.pin(change.address)
        lines += signer_change_lines(old, new, unknown=why, neighbour=change.neighbour_signer, pin=pin)
    lines += evidence_lines.mirror_lines(change)
    lines += evidence_lines.unreported_problem_lines(change, shared)
    yield from plain_lines(lines, indent=" " * 6)
    for fact in sorted(facts, key=lambda one: (one.platform is None, one.platform or "", is_of_files(one.hash))):
        proof = evidence_lines.proof_span(fact.proof)
        shown = evidence_lines.hash_line(
            " ", Role.PLAIN, fact, proof if fact.kind.is_alarming else Span(proof.text), in_full=True
        )
        yield line("    ", *shown.spans)


def _package(package: PackageJson) -> Iterator[str]:
    """A package on this machine; one that is not as locked, or was not read, with its path and files that differ."""
    yield f"      package {package.where:12}  {package.platform or '':13}  {package.verdict}".rstrip()
    if package.verdict != "matches" or package.reason:
        yield from (f"          {visible(words)}" for words in (package.path, package.reason) if words)
    for one in package.files or ():
        yield f"          {one.state:8}  {visible(one.name)}"


_PLATFORM_WIDTH = 14

NAME_THEM = 'list required platforms in locklens.toml, such as platforms = ["linux_amd64"], and commit it'
"""The next step without required platforms."""


def coverage_in_short(coverage: ProviderCoverage) -> str:
    """The number of covered platforms: "3/4"; "3/4?" if some of the others are unknown; "" without platforms."""
    if not coverage.platforms:
        return ""
    doubt = "?" if coverage.doubtful else ""
    return f"{len(coverage.covered)}/{len(coverage.platforms)}{doubt}"


def in_words(coverage: ProviderCoverage) -> str:
    """The number of covered platforms as a phrase."""
    if not coverage.platforms:
        return "platforms unknown"
    which = "required platforms" if coverage.is_wanted else "known platforms"
    doubt = f", {len(coverage.doubtful)} unknown" if coverage.doubtful else ""
    return f"covers {len(coverage.covered)} of {len(coverage.platforms)} {which}{doubt}"


def needs_words(path: InstallPath) -> str:
    """The hashes that are enough on a path."""
    return f"only {path.only} counts" if path.only else "zh or h1 is enough"


def coverage_lines(found: ProviderCoverage) -> Iterator[Line]:
    """A heading, and for each install path the number of covered platforms and the others by name."""
    scope = "required platforms" if found.is_wanted else "known platforms"
    yield line(Span(f"COVERAGE  {scope}, by install path", Role.HEADING))
    for path in found.paths:
        count = f"{len(path.covered)} of {path.platforms}" if found.platforms else "unknown"
        is_complete = len(path.covered) == path.platforms
        role = Role.GOOD if is_complete else Role.WARN if path.at_least_missing else Role.DIM
        needs = Span(needs_words(path.path), Role.DIM)
        yield line(f"  {path.path.value:<{_PLATFORM_WIDTH + 2}}", Span(f"{count:<9} ", role), needs, hanging=4)
        if path.missing:
            yield line(Span("    missing       ", Role.WARN), ", ".join(path.missing), hanging=18)
        if path.doubtful:
            yield line(Span("    unknown       ", Role.DIM), ", ".join(path.doubtful), hanging=18)


def policy_lines(review: Review) -> Iterator[Line]:
    """The required platforms with their reasons, the source of the policy, and the install paths."""
    policy = review.policy
    yield line(Span(f"REQUIRED PLATFORMS  {source_words(review) if policy.file else 'no locklens.toml'}", Role.HEADING))
    for required in policy.platforms:
        place = FilePlace(policy.file, required.line) if review.policy_side.value != "given" else None
        yield line(
            f"  {required.platform!s:<{_PLATFORM_WIDTH}}",
            Span(required.why, Role.DIM),
            hanging=_PLATFORM_WIDTH + 2,
            place=place,
        )
    if not policy.platforms:
        yield line(Span("  none configured", Role.DIM))
        yield line(Span(f"  -> {NAME_THEM}", Role.DIM), hanging=5)
    yield from heading("INSTALL PATHS")
    for path in policy.paths_in_order:
        where = f"  {local_words(path, policy)}".rstrip()
        yield line(f"  {path.value:<{_PLATFORM_WIDTH + 2}}", Span(f"{needs_words(path)}{where}", Role.DIM), hanging=4)


def local_words(path: InstallPath, policy: Policy) -> str:
    """The origin of an install path that the policy does not name, and the platform that it is used for; or ""."""
    return f"on {policy.local_platform}, by the CLI configuration" if path in policy.local_paths else ""


def source_words(review: Review) -> str:
    """The source of the policy."""
    match review.policy_side.value:
        case "base":
            return f"{review.policy.file} of {review.base.tip_name}"
        case "head":
            return f"{review.policy.file} of this folder"
        case "given":
            return f"{review.policy.file}, given with --policy"
        case _:
            return "none"
