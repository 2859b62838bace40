"""Platform coverage in words, for the report of hashes and the Hashes screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.coverage import PATH_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.policy import InstallPath, Policy
    from locklens.review.coverage import ProviderCoverage
    from locklens.review.model import Review

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


def platform_words(platform: str, coverage: ProviderCoverage) -> str:
    """The gaps in the coverage of a platform; "" if it is covered on every path."""
    parts = []
    if missing := coverage.paths_without(platform):
        parts.append(f"not covered from {_named(missing)}")
    if doubtful := coverage.paths_in_doubt(platform):
        parts.append(f"unknown from {_named(doubtful)}")
    return ", ".join(parts)


def needs_words(path: InstallPath) -> str:
    """The hashes that are enough on a path."""
    return "only h1 counts" if path.needs_h1 else "zh or h1 is enough"


def policy_lines(review: Review) -> Iterator[str]:
    """Yield the required platforms with reasons, the install paths, and the source of the policy."""
    policy = review.policy
    yield f"policy    {source_words(review)}"
    width = max((len(str(one.platform)) for one in policy.platforms), default=0)
    for one in policy.platforms:
        yield f"required  {one.platform!s:{width}}  {one.why}".rstrip()
    if not policy.platforms:
        yield f"required  no platforms configured; {NAME_THEM}"
    for path in policy.paths_in_order:
        yield f"path      {path:15}  {needs_words(path)}  {local_words(path, policy)}".rstrip()


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


def missing_platform_lines(coverage: ProviderCoverage, policy: Policy) -> Iterator[str]:
    """Yield a line for each required platform that is not definitely covered."""
    for one in policy.platforms:
        if words := platform_words(str(one.platform), coverage):
            why = f" ({one.why})" if one.why else ""
            yield f"{one.platform}{why}: {words}"


def _named(paths: tuple[InstallPath, ...]) -> str:
    return " and ".join(PATH_NAMES[path] for path in paths)
