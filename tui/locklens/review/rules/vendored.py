"""The rule about packages in the repository, which the tools install without a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.project.package_places import packages_folder
from locklens.review.model import Severity
from locklens.review.rules.verdict import Verdict
from locklens.text import counted, identity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from locklens.review.case import Case
    from locklens.review.context import RootContext
    from locklens.review.model import RootReview


def _brought(root: RootReview) -> Iterator[Verdict]:
    files = root.context.vendored
    taken = _taken(files)
    mirrored = [path for path in files if packages_folder(path) is None]
    if taken:
        words = f"the change adds or modifies packages in the repository: {taken[0]} ({counted(len(taken), 'file')})"
        yield Verdict(words, file=taken[0], content=_content(root, taken))
    if mirrored:
        words = f"the change adds or modifies packages as in a mirror: {mirrored[0]} ({counted(len(mirrored), 'file')})"
        words += ", which the tools install or run if their settings name the folder"
        yield Verdict(words, file=mirrored[0], severity=Severity.WARN, content=_content(root, mirrored))


def _content(root: RootReview, files: Sequence[str]) -> str:
    """Return what stands for some of the files: each path with its content."""
    return identity_of(*(part for path in files for part in (path, root.context.contents.get(path, ""))))


def own_packages(paths: Sequence[str]) -> Iterator[Verdict]:
    """Yield the verdict on what git tracks and the tools take for packages, whether a change concerns it or not."""
    # No change brings them, so that what the owner of the repository has there may be meant.
    if words := own_packages_words(paths):
        yield Verdict(words, file=_taken(paths)[0], severity=Severity.WARN)
    elif paths:
        words = f"packages as in a mirror: {paths[0]} ({counted(len(paths), 'file')})"
        yield Verdict(words, file=paths[0], severity=Severity.INFO)


def own_packages_words(paths: Sequence[str]) -> str:
    """Say what the tools make of paths that git tracks, without any setting; "" for nothing."""
    if taken := _taken(paths):
        number = counted(len(taken), "file")
        return f"the repository has what the tools install or run without asking a registry: {taken[0]} ({number})"
    return ""


def _taken(paths: Sequence[str]) -> list[str]:
    """Return those of some paths that the tools take for packages without any setting."""
    return [path for path in paths if packages_folder(path) is not None]


def beside_packages(verdict: Verdict, case: Case, context: RootContext) -> Verdict:
    """Return a verdict on unproven `h1` (LK027) as it is where the repository has packages of its own.

    There, an `h1` that nothing proves is all that admits them: no registry and no signature comes between. It blocks
    where the change brings both.
    """
    is_added = not case.folders.unproven.isdisjoint(fact.hash for fact in case.change.added)
    brings_packages = bool(context.vendored)
    if not is_added or not (brings_packages or context.has_packages):
        return verdict
    words = f"{verdict.message}; packages in the repository need no other hash to be installed"
    return replace(verdict, message=words, severity=Severity.BLOCK if brings_packages else Severity.WARN)


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK036": _brought}
