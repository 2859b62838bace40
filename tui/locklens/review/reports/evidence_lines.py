"""What is known about a change, as lines that reports print and screens show: its release, requirements and evidence.

Unknown facts stand with their reasons, and registries with the result of asking them. Everywhere `is_asking` is true
while the review is incomplete.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never
from urllib.parse import quote

from locklens.addresses import ProviderAddress, spelt_host
from locklens.hashes import is_of_files, packages_of, registry_manifests, scheme_of
from locklens.lines import FilePlace, Line, Role, Span, heading, labelled, line
from locklens.project.configuration import constraint_place
from locklens.review import PROOF_KINDS, HashFact, Proof
from locklens.review.evidence import is_unsigned, packages_to_compare
from locklens.review.model import Change, HostState, LookupAnswer, Review
from locklens.review.reports import claimed_word, hash_words
from locklens.review.rules.change import is_undated
from locklens.review.why import kind_words
from locklens.text import counted, listing, size_words
from locklens.trust import Tier

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from locklens.policy import Policy
    from locklens.project.configuration import Configuration, Requirement

_EVIDENCE_LABEL = 29
_COUNT = 9
_SHORT = 10
_PLATFORM = 14


def evidence_lines(change: Change, review: Review, *, is_asking: bool) -> Iterator[Line]:
    """The counts of verified hashes, each with its time; problems with their hint."""
    if change.new is None:
        return
    yield Line()
    evidence = change.evidence
    yield line(Span("EVIDENCE".ljust(_EVIDENCE_LABEL + _COUNT), Role.HEADING), Span(" as of (UTC)", Role.DIM))
    if evidence is None:
        yield line(Span("  … " if is_asking else "  ? ", Role.STRONG), unsettled(is_asking=is_asking), hanging=4)
        return
    moment = clock(evidence.as_of, review.at).removesuffix(" UTC") if evidence.as_of else ""
    yield from _package_lines(change, moment)
    yield from _folder_lines(change, moment, is_offline=review.offline)
    yield from mirror_lines(change)
    yield from problem_lines(evidence.problems, evidence.hint)


def mirror_lines(change: Change) -> Iterator[Line]:
    """The number of locked hashes that only mirrors have, and which mirrors."""
    if change.evidence is not None and change.evidence.mirrors:
        count = counted(change.evidence.mirrored, "hash", "hashes")
        words = f"{count} known only from {listing(change.evidence.mirrors)}, unsigned"
        yield line(Span("  mirror   ", Role.WARN), words, hanging=11)


def unsettled(*, is_asking: bool) -> str:
    """The state of a change that is not settled, in words."""
    return "asking the registry" if is_asking else "unknown: not settled when the review ended"


def why_unknown(change: Change, review: Review, *, is_asking: bool) -> str:
    """The reason why a signer is unknown."""
    evidence = change.evidence
    if evidence is None:
        return "not asked yet" if is_asking else "not settled when the review ended"
    match evidence.answer:
        case LookupAnswer.NOT_ASKED:
            return "offline, without a cached answer" if review.offline else "the registry was not asked"
        case LookupAnswer.FAILED:
            return "the registry did not answer"
        case LookupAnswer.GIVEN:
            return "the registry has no such release" if evidence.problems else "no signer reported"
        case _:
            assert_never(evidence.answer)


def _fact(label: str, count: str, moment: str, *, is_verified: bool, more: str = "") -> Line:
    """A count; good only if all that it counts is verified, which hashes reported without a signature are not."""
    spans = [
        Span(f"  {label}".ljust(_EVIDENCE_LABEL)),
        Span(f" {count:<{_COUNT - 1}}", Role.GOOD if is_verified else Role.WARN),
    ]
    return line(*spans, Span(f" {moment}", Role.DIM), f"  {more}" if more else "", hanging=4)


def _package_lines(change: Change, moment: str) -> Iterator[Line]:
    """The count of `zh` in the publisher's SHA256SUMS, without registry manifests."""
    old, new, signer = change.old, change.new, change.new_signer
    if signer is None or signer.tier is Tier.UNKNOWN:
        if signer is not None and change.evidence is not None and not change.evidence.problems:
            yield line(Span("  SHA256SUMS not authenticated: see the findings", Role.WARN), hanging=4)
        packages = packages_of(fact.hash for fact in change.claimed)
        if unknown := sum(not fact.is_explained for fact in change.claimed if fact.hash in packages):
            yield _fact("zh not verified", f"{unknown} of {len(packages)}", moment, is_verified=False)
        return
    more = "unsigned" if signer.tier is Tier.UNSIGNED else ""
    if old is not None and new is not None and not change.moved_from and old.version == new.version:
        yield from _listed("base packages still listed", (*change.removed, *change.kept), moment, more)
    yield from _listed("packages in SHA256SUMS", change.claimed, moment, more)


def _listed(label: str, facts: Iterable[HashFact], moment: str, more: str) -> Iterator[Line]:
    by_hash = {fact.hash: fact for fact in facts}
    packages = [by_hash[text] for text in packages_of(by_hash)]
    if packages:
        listed = sum(fact.kind.is_listed for fact in packages)
        is_verified = all(fact.is_verified for fact in packages)
        yield _fact(label, f"{listed} of {len(packages)}", moment, is_verified=is_verified, more=more)


def _folder_lines(change: Change, moment: str, *, is_offline: bool) -> Iterator[Line]:
    """The count of verified `h1`, and the downloads that verifying the others takes."""
    added = [fact for fact in change.claimed if is_of_files(fact.hash)]
    for proof, kind in PROOF_KINDS.items():
        if kind.label and (facts := [fact for fact in added if fact.proof is proof]):
            platforms = ", ".join(sorted(fact.platform for fact in facts if fact.platform))
            number = f"{len(facts)} of {len(added)}"
            yield _fact(kind.label, number, moment, is_verified=kind.is_verified, more=platforms)
    if unknown := sum(not fact.is_explained for fact in added):
        yield _fact("h1 not verified", f"{unknown} of {len(added)}", moment, is_verified=False)
    if downloads := comparing_words(change):
        what = "compare the h1 (unsigned: a match verifies nothing)" if is_unsigned(change) else "verify the h1"
        way = "run without --offline" if is_offline else "press v"
        yield line(Span(f"    {way} to {what}: {downloads}", Role.DIM), hanging=4)


def comparing_words(change: Change) -> str:
    """The downloads that the unverified `h1` can be compared with, in words; "" if there are none."""
    evidence, packages = change.evidence, packages_to_compare(change)
    if evidence is None or not packages:
        return ""
    # The size is that of the packages of unknown hashes; those of reported ones come on top.
    size = evidence.to_prove_bytes if evidence.to_prove == packages else None
    return f"up to {counted(packages, 'package download')}{f', {size_words(size)}' if size is not None else ''}"


def hash_lines(change: Change, *, is_asking: bool, in_full: bool) -> Iterator[Line]:
    """A heading with the counts, and the lines of `each_hash_lines`."""
    yield from heading("HASHES")
    if change.claimed:
        yield line(Span(f"  {hash_words(change.hashes, claimed_word([change]))}", Role.STRONG), hanging=4)
        of = "" if change.old is None or len(change.claimed) == len(change.added) else f" from {change.old.version}"
        yield line(Span(f"  {len(change.kept)} unchanged{of}", Role.DIM))
    elif change.removed:
        yield line(Span(f"  {len(change.kept)} unchanged", Role.DIM))
    else:
        yield line(Span(f"  {counted(len(change.kept), 'hash', 'hashes')}, unchanged", Role.DIM))
    yield from each_hash_lines(change, is_asking=is_asking, in_full=in_full)


def each_hash_lines(change: Change, *, is_asking: bool, in_full: bool) -> Iterator[Line]:
    """Each added or removed hash, and each that was kept from another release, with platform and proof.

    In full, hashes are whole, and unchanged ones of the same release are there too.
    """
    claimed = set(change.claimed)
    pending = Span("…", Role.DIM) if is_asking and not change.is_settled else None
    unasked = Span("") if change.new is None else None
    for fact in change.added:
        yield hash_line("+", Role.ADDED, fact, pending or proof_span(fact.proof), in_full=in_full)
    for fact in change.removed:
        proof = pending or unasked or proof_span(fact.proof, is_gone=True)
        yield hash_line("-", Role.REMOVED, fact, proof, in_full=in_full)
    for fact in change.kept:
        if in_full or fact.kind.was_locked or fact in claimed:
            yield hash_line("=", Role.DIM, fact, pending or proof_span(fact.proof), in_full=in_full)


def hash_line(
    sign: str, role: Role, fact: HashFact, proof: Span, *, in_full: bool, place: FilePlace | None = None
) -> Line:
    """One hash, which is gone ("-"), new ("+") or neither, with its platform and its proof."""
    scheme = scheme_of(fact.hash)
    shown = fact.hash if in_full or not scheme else f"{scheme}:{fact.hash[len(scheme) + 1 :][:_SHORT]}…"
    about = f"{fact.platform or ('manifest' if fact.hash in registry_manifests() else ''):<{_PLATFORM}}"
    return line("  ", Span(f"{sign} {shown}", role), "  ", about, proof, hanging=4, copied=fact.hash, place=place)


def proof_span(proof: Proof, *, is_gone: bool = False) -> Span:
    """A proof as a word; alarming ones in capitals, so that they stand out without colour too.

    Of a hash that is no longer locked, a proof that only warns warns of nothing.
    """
    kind = PROOF_KINDS[proof]
    if is_gone and kind.role is Role.WARN:
        return Span(proof.value, Role.DIM)
    return Span(proof.value.upper() if kind.is_alarming else proof.value, kind.role)


PROOFS = {proof_span(proof).text: kind.meaning for proof, kind in PROOF_KINDS.items()}
"""The meanings of the words of proofs, best first."""


def shared_problems(changes: Iterable[Change]) -> Mapping[tuple[str, str], int]:
    """Return the causes of unknown facts that several changes have, with hints, and the number of their changes."""
    counts = Counter(
        (problem, change.evidence.hint)
        for change in changes
        if change.evidence is not None
        for problem in dict.fromkeys(change.evidence.problems)
    )
    return {cause: count for cause, count in counts.items() if count > 1}


def problem_lines(problems: Iterable[str], hint: str) -> Iterator[Line]:
    """The causes of unknown facts, and the next step."""
    for problem in problems:
        yield line(Span("  unknown  ", Role.WARN), problem, hanging=11, copied=problem)
    if hint:
        yield line(Span("  -> ", Role.DIM), hint, hanging=5, copied=hint)


def unreported_problem_lines(change: Change, shared: Container[tuple[str, str]] = ()) -> Iterator[Line]:
    """The unknown facts about a change that no finding reports; `shared` causes are reported elsewhere."""
    if change.evidence is None:
        return
    hint = change.evidence.hint
    reported = " ".join(finding.message for finding in change.findings)
    problems = [problem for problem in change.evidence.problems if (problem, hint) not in shared]
    for problem in problems:
        if problem not in reported:
            yield labelled("UNKNOWN", problem, copied=problem)
    if problems and hint:
        yield labelled("", Span("-> ", Role.DIM), hint, copied=hint)


def without_cause(message: str, shared: Iterable[tuple[str, str]]) -> str:
    """Return the message of a finding without a shared cause at its end."""
    return next((message.removesuffix(f"; {problem}") for problem, _ in shared if message.endswith(problem)), message)


def shared_problem_lines(shared: Mapping[tuple[str, str], int], changes: Iterable[Change]) -> Iterator[str]:
    """Yield a line for each cause of `shared_problems`, and one for the changes that have none of these."""
    for (problem, hint), count in shared.items():
        yield f"not all is known of {count} changes: {problem}{f' ({hint})' if hint else ''}"
    evidence = [change.evidence for change in changes if change.evidence is not None and change.evidence.problems]
    own = sum(not any((problem, one.hint) in shared for problem in one.problems) for one in evidence)
    if shared and own:
        yield f"not all is known of {counted(own, 'more change')}, {'' if own == 1 else 'each '}for a reason of its own"


def host_lines(review: Review) -> Iterator[str]:
    """Yield a line for each registry with the result of asking it."""
    for host in review.hosts:
        hint = f"; {host.hint}" if host.hint else ""
        yield f"{spelt_host(host.host)}: {host_words(host, is_offline=review.offline)}{hint}"


def told_lines(review: Review) -> Iterator[str]:
    """Yield a line for each registry with the result of asking it, then the notes."""
    yield from (f"registry {host}" for host in host_lines(review))
    yield from (f"note: {note}" for note in review.notes)


def host_words(host: HostState, *, is_offline: bool, now: str = "") -> str:
    """Describe the result of asking a registry; see `clock` for `now`."""
    moment = f"as of {clock(host.as_of, now)}" if host.as_of else ""
    if host.error is not None:
        error = host.error.removeprefix(f"{host.host}: ")
        return f"{moment}, then failed: {error}" if moment else f"failed: {error}"
    if host.asked:
        return moment or "answered"
    reason = "offline" if is_offline else "not asked"
    return f"{reason}, cached {moment}" if moment else reason


def clock(moment: str, now: str = "") -> str:
    """Format a moment for reading, to the minute, and without its day on that of `now`; both ISO 8601 in UTC."""
    day, separator, time = moment.partition("T")
    if not separator:
        return moment
    return f"{time[:5]} UTC" if day == now[:10] else f"{day} {time[:5]} UTC"


def page_of_release(address: ProviderAddress, version: str) -> str:
    """Return the address of a release's page with its changes; "" for a host without known pages."""
    namespace, kind, number = (quote(part, safe="") for part in (address.namespace, address.type, version))
    match address.host:
        case "registry.terraform.io":
            return f"https://registry.terraform.io/providers/{namespace}/{kind}/{number}"
        case "registry.opentofu.org":
            return f"https://search.opentofu.org/provider/{namespace}/{kind}/v{number}"
        case _:
            return ""


def age_in_words(days: int) -> str:
    """Return how old a release is, with the origin of the date, which is never signed."""
    age = "today" if not days else f"{counted(days, 'day')} ago"
    return f"{age}, reported by the registry"


def released_lines(change: Change, policy: Policy) -> Iterator[Line]:
    """Yield the date and the age of a new version, as far as they are known, or that its cooldown was not checked."""
    evidence = change.evidence
    if is_undated(change, policy):
        words = f"unknown: the cooldown of {counted(policy.cooldown or 0, 'day')} was not checked"
        yield labelled("RELEASED", Span(words, Role.WARN))
    if change.new is not None and evidence is not None and evidence.released and evidence.days is not None:
        age = Span(f"  {age_in_words(evidence.days)}", Role.DIM)
        yield labelled("RELEASED", evidence.released, age, copied=evidence.released)


def page_lines(address: ProviderAddress, version: str, source: str) -> Iterator[Line]:
    """Yield the addresses of a release's page and of its source, as far as they are known."""
    for label, url in (("PAGE", page_of_release(address, version)), ("SOURCE", source)):
        if url:
            yield labelled(label, url, copied=url)


def requirement_lines(requirement: Requirement) -> Iterator[Line]:
    """A requirement with its constraint, and the one that it overrides."""
    place = constraint_place(requirement)
    constraint = requirement.constraint or "any version"
    via = f"  module {requirement.module}" if requirement.module else ""
    yield line(
        "  ",
        Span(str(place), Role.PLACE),
        f"  {constraint}",
        Span(f"{via}{kind_words(requirement)}", Role.DIM),
        hanging=4,
        copied=constraint,
        place=place,
    )
    if (hidden := requirement.overrides) is not None:
        overridden = constraint_place(hidden)
        override = f"    overrides {hidden.constraint or 'any version'} of {overridden}"
        yield line(Span(override, Role.DIM), hanging=6, place=overridden)


def unrequired_line(change: Change, configuration: Configuration) -> Line:
    """The line of a change without any known requirement: why it is unknown, or that there is none."""
    if reason := configuration.unknown_reason:
        return line(Span(f"  unknown: {reason}", Role.WARN), hanging=4)
    return line(Span("  no requirement in the configuration", Role.WARN if change.new else Role.DIM), hanging=4)
