"""Platform coverage in words, for the report of hashes and the Hashes screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.lines import FilePlace, Line, Role, Span, heading, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.policy import InstallPath, Policy
    from locklens.review.coverage import ProviderCoverage
    from locklens.review.model import Review

_LABEL = 14

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
    return "only h1 counts" if path.needs_h1 else "zh or h1 is enough"


def coverage_lines(found: ProviderCoverage) -> Iterator[Line]:
    """A heading, and for each install path the number of covered platforms and the others by name."""
    scope = "required platforms" if found.is_wanted else "known platforms"
    yield line(Span(f"COVERAGE  {scope}, by install path", Role.HEADING))
    for path in found.paths:
        count = f"{len(path.covered)} of {path.platforms}" if found.platforms else "unknown"
        is_complete = len(path.covered) == path.platforms
        role = Role.GOOD if is_complete else Role.WARN if path.at_least_missing else Role.DIM
        needs = Span(needs_words(path.path), Role.DIM)
        yield line(f"  {path.path.value:<{_LABEL + 2}}", Span(f"{count:<9} ", role), needs, hanging=4)
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
        yield line(f"  {required.platform!s:<{_LABEL}}", Span(required.why, Role.DIM), hanging=_LABEL + 2, place=place)
    if not policy.platforms:
        yield line(Span("  none configured", Role.DIM))
        yield line(Span(f"  -> {NAME_THEM}", Role.DIM), hanging=5)
    yield from heading("INSTALL PATHS")
    for path in policy.paths_in_order:
        where = f"  {local_words(path, policy)}".rstrip()
        yield line(f"  {path.value:<{_LABEL + 2}}", Span(f"{needs_words(path)}{where}", Role.DIM), hanging=4)


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
