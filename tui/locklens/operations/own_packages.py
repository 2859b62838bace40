"""Packages that git tracks in a root: whoever runs the tools there installs them, and no registry is asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from locklens.project.git import Repository


def tracked_packages_of(folder: Path, roots: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each root in which git tracks what the tools take for packages; () without a repository.

    Args:
        folder: The current folder.
        roots: Relative to it.
    """
    # Where there is nothing, git need not be started.
    asked = [root for root in roots if _may_have_packages(folder / root)]
    if not asked:
        return ()
    from locklens.operations.comparison import within
    from locklens.project.git import Repository

    try:
        with Repository.discover(folder) as repository:
            places = [within(repository, folder, root or ".") for root in asked]
            return packages_words(repository, places)
    except (NoRepositoryError, ConfigurationError):
        return ()  # A root outside of the repository is tracked by none.
    except RepositoryError as error:
        return (f"it is unknown whether git tracks packages that the tools would install: {error}",)


def _may_have_packages(folder: Path) -> bool:
    from locklens.project.package_places import packages_folder

    try:
        return any(packages_folder(name) is not None for name in os.listdir(folder))  # noqa: PTH208
    except OSError:
        return True  # git has to say


def packages_words(repository: Repository, roots: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each root, relative to the top, in which git tracks what the tools take for packages.

    Raises:
        RepositoryError: Git cannot list the index.
    """
    from locklens.project.package_places import packages_by_folder
    from locklens.review.rules.vendored import own_packages_words

    found = packages_by_folder(repository.listing(None))
    words = (own_packages_words(found.get(root, ())) for root in dict.fromkeys(roots))
    return tuple(filter(None, words))
