"""Phrases about a provider's requirements and versions, shared by reports and screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import seen_from
from locklens.project.configuration import Configuration, Contributor, Requirement
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.review.model import Finding
    from locklens.review.why import RootWhy
    from locklens.selection.model import Hold, Newest, RequiringModule, Selection, VersionChoices
    from locklens.versions import Version

NAMES_SHOWN = 8


def version_range(versions: Sequence[Version]) -> str:
    """Format versions, given newest first, as one or as a range."""
    if len(versions) == 1:
        return str(versions[0])
    return f"{versions[-1]} to {versions[0]} ({len(versions)} versions)"


def held_words(holds: Sequence[Hold]) -> str:
    """What holds versions above the locked one back, or that nothing does."""
    return f"{HELD_BACK} {'; '.join(map(str, holds))}" if holds else NOT_HELD


HELD_BACK = "held back:"
NOT_HELD = "not held back"
NOTHING_TO_UPGRADE = "not required here, so upgrade skips it; prune removes it"


def upgrade_words(offer: VersionChoices, upgraded: Selection) -> str:
    """The selection of `upgrade`, and that of `init -upgrade` where the cooldown makes them differ."""
    if offer.recommended == upgraded.version:
        return f"selects {upgraded.version}"
    chosen = f"selects {offer.recommended}" if offer.recommended is not None else "selects nothing"
    return f"{chosen}; {upgraded.version}, the newest in range, is within the cooldown"


def silence_words(silence: str) -> str:
    """The reason why a registry gave no versions, with its consequence."""
    return f"{silence}, so newer versions are unknown"


def finding_title(finding: Finding) -> str:
    """The title of a finding."""
    from locklens.review.rules.catalogue import wording_of

    return wording_of(finding).title


def newest_words(newest: Newest) -> str:
    """The newest versions of each kind."""
    kinds = (
        ("newest", newest.overall),
        ("in range", newest.in_range),
        ("same major", newest.same_major),
        ("same minor", newest.same_minor),
    )
    return ", ".join(f"{name} {version}" for name, version in kinds if version is not None) or "lists no version"


def place_words(requirement: Requirement, folder: str = "") -> str:
    """The place of a requirement, relative to a root's folder."""
    return f"{seen_from(requirement.file, folder)}:{requirement.line}"


def module_names(modules: Sequence[str], configuration: Configuration) -> str:
    """The names of modules, by their calls."""
    if not any(modules):
        return "the root module"
    has_tests = any(name.endswith(configuration.dialect.test_suffixes) for name in configuration.files)
    shown = [name or "the root module" for name in modules[:NAMES_SHOWN]]
    shown = [f"{name} (a test)" if has_tests and name.startswith("test.") else name for name in shown]
    if len(modules) > NAMES_SHOWN:
        shown.append(f"{len(modules) - NAMES_SHOWN} more")
    return f"{'module' if len(modules) == 1 else 'modules'} {', '.join(shown)}"


def alike(askers: Iterable[RequiringModule]) -> list[tuple[list[str], RequiringModule]]:
    """Groups calls of one module."""
    found: dict[tuple[tuple[str, int], ...], tuple[list[str], RequiringModule]] = {}
    for asker in askers:
        places = tuple((one.file, one.line) for one in (*asker.declared, *asker.uses))
        found.setdefault(places, ([], asker))[0].append(asker.module)
    return list(found.values())


def kind_words(requirement: Requirement) -> str:
    """The kind of a requirement other than `required_providers`."""
    if requirement.contributor is Contributor.REQUIRED_PROVIDERS:
        return ""
    if requirement.contributor is Contributor.STATE:
        return f", because the state still has {subject_words(requirement)}"
    return f"  {subject_words(requirement)}"


def subject_words(requirement: Requirement) -> str:
    """The name of the requiring object."""
    subject = requirement.subject
    is_named = requirement.contributor not in {Contributor.RESOURCE, Contributor.IMPORT}
    return subject if is_named else f"{requirement.contributor} {subject}"


def uses_words(asker: RequiringModule, folder: str = "") -> str:
    """The number of uses in a module, with the first place relative to a root's folder."""
    first, count = asker.uses[0], sum(one.count for one in asker.uses)
    place = place_words(first, folder)
    if asker.declared:
        return f"used {count} times, first in {place}" if count > 1 else f"used once, in {place}"
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{place}  any version, used by {subject_words(first)}{more}"


def unseen_words(root: RootWhy, folder: str = "") -> Iterator[tuple[str, tuple[str, int] | None]]:
    """Yield unread sources of possible requirements, each with its place relative to a root's folder."""
    configuration = root.configuration
    missing = configuration.missing_modules
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        yield f"{counted(len(missing), 'module')} that {verb} not fetched: run `{root.tool.command} get`", None
    for module in missing[:NAMES_SHOWN]:
        where = f"{seen_from(module.file, folder)}:{module.line}"
        yield f"  {where}  module {module.call} from {module.source}", (module.file, module.line)
    if len(missing) > NAMES_SHOWN:
        yield f"  and {len(missing) - NAMES_SHOWN} more", None
    for problem in configuration.problems:
        if problem.is_error:
            file = seen_from(problem.file, folder)
            where = f"{file}:{problem.line}" if problem.line else file
            yield f"parts hidden by the error at {where}: {problem.summary}", (problem.file, problem.line or 1)
    if configuration.state.kind in {"remote", "unreadable"} and not root.explanation.askers:
        yield configuration.state.detail, None
    if configuration.has_files and configuration.undeclared_reason:
        yield configuration.undeclared_reason, None
