"""Who can install what is locked, in words: what the report of hashes and the screen of hashes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.coverage import PATH_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.policy import InstallPath, Policy
    from locklens.review.coverage import ProviderCoverage
    from locklens.review.model import Review

NAME_THEM = 'name wanted platforms in locklens.toml, such as platforms = ["linux_amd64"], and commit it'
"""The next step where no platform is wanted."""


def coverage_in_short(coverage: ProviderCoverage) -> str:
    """How many of the platforms are covered: "3/4"; "3/4?" where nobody knows it of all others; "" without any."""
    if not coverage.platforms:
        return ""
    doubt = "?" if coverage.doubtful else ""
    return f"{len(coverage.covered)}/{len(coverage.platforms)}{doubt}"


def in_words(coverage: ProviderCoverage) -> str:
    """The same as a phrase."""
    if not coverage.platforms:
        return "nobody knows for which platforms"
    which = "wanted platforms" if coverage.is_wanted else "known platforms"
    doubt = f", nobody knows of {len(coverage.doubtful)}" if coverage.doubtful else ""
    return f"covers {len(coverage.covered)} of {len(coverage.platforms)} {which}{doubt}"


def platform_words(platform: str, coverage: ProviderCoverage) -> str:
    """How a platform does; "" for one that is covered everywhere."""
    parts = []
    if missing := coverage.paths_without(platform):
        parts.append(f"not covered from {_named(missing)}")
    if doubtful := coverage.paths_in_doubt(platform):
        parts.append(f"nobody knows whether from {_named(doubtful)}")
    return ", ".join(parts)


def needs_words(path: InstallPath) -> str:
    """Which hashes are enough on a path."""
    return "h1 alone counts" if path.needs_h1 else "zh or h1 is enough"


def policy_lines(review: Review) -> Iterator[str]:
    """Which platforms are wanted and why, how packages arrive, and who says so."""
    policy = review.policy
    yield f"policy  {source_words(review)}"
    width = max((len(str(one.platform)) for one in policy.platforms), default=0)
    for one in policy.platforms:
        yield f"wanted  {one.platform!s:{width}}  {one.why}".rstrip()
    if not policy.platforms:
        yield f"wanted  no platform in particular; {NAME_THEM}"
    for path in policy.paths_in_order:
        yield f"path    {path:15}  {needs_words(path)}"


def source_words(review: Review) -> str:
    """Where the policy is from."""
    match review.policy_side.value:
        case "base":
            return f"{review.policy.file} of {review.base.tip_name}"
        case "head":
            return f"{review.policy.file} of this folder"
        case "given":
            return f"{review.policy.file}, given with --policy"
        case _:
            return "none"


def missing_platform_lines(coverage: ProviderCoverage, policy: Policy) -> Iterator[str]:
    """A line for each wanted platform that is not surely covered."""
    for one in policy.platforms:
        if words := platform_words(str(one.platform), coverage):
            why = f" ({one.why})" if one.why else ""
            yield f"{one.platform}{why}: {words}"


def _named(paths: tuple[InstallPath, ...]) -> str:
    return " and ".join(PATH_NAMES[path] for path in paths)
