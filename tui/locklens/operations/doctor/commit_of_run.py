"""The commit that a failing run was of, where its log names one, beside the files here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import RepositoryError
from locklens.operations.root_modules import lock_path
from locklens.project.configuration import is_fetched
from locklens.text import listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.operations.doctor.checkout import Checkout
    from locklens.operations.doctor.subjects import DoctorSubject


def note_of_commit(
    checkout: Checkout, commits: Sequence[str], subjects: Sequence[DoctorSubject], *, is_certain: bool
) -> str:
    """Return a note on the commit that a job checked out whose files are not those here; "" for any other, or none.

    It is the first that this clone has: a job may check other repositories out, too. Where the clone has none of them,
    nothing is known; that is said where no cause is certain.
    """
    if not commits or checkout.repository is None:
        return ""
    try:
        commit = next(filter(checkout.repository.has_commit, commits), "")
        if not commit:
            lacking = f"the log names commit {commits[0][:12]} as checked out, which is not in this clone"
            return "" if is_certain else f"{lacking}: if it is of this repository, fetch the branch of the failing run"
        roots = [one.root for one in subjects]
        files = {file for root in roots for file in (root.lock.path, *root.configuration.files)}
        files |= {lock_path(path) for one in subjects for path in one.fitting}
        differing = checkout.differing(commit, sorted(file for file in files if not is_fetched(file)))
    except RepositoryError:
        return ""
    if not differing:
        return ""
    way, are = shell_words(["git", "checkout", commit[:12]]), "is" if len(differing) == 1 else "are"
    there = f"the log names commit {commit[:12]}, and there {listing(differing, 3)} {are} not as here"
    return f"{there}: {way}, to judge the log"
