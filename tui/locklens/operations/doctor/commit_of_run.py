"""The commit that a failing run was of, where its log names one, beside the files here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import RepositoryError
from locklens.operations.root_modules import lock_path
from locklens.text import listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.operations.doctor.checkout import Checkout
    from locklens.operations.doctor.subjects import DoctorSubject


def note_of_commit(checkout: Checkout, commit: str, subjects: Sequence[DoctorSubject], *, is_certain: bool) -> str:
    """Return a note on the commit of a run whose files are not those here; "" for none, or where they are.

    Of one that this clone lacks nothing is known: that is said where no cause is certain.
    """
    if not commit or checkout.repository is None:
        return ""
    known = f"the log is of commit {commit[:12]}"
    try:
        if not checkout.repository.has_commit(commit):
            lacking = f"{known}, which is not in this clone: fetch the branch of the failing run, and check it out"
            return "" if is_certain else lacking
        roots = [one.root for one in subjects]
        files = {file for root in roots for file in (root.lock.path, *root.configuration.files)}
        files |= {lock_path(path) for one in subjects for path in one.fitting}
        differing = checkout.differing(commit, sorted(file for file in files if ".terraform/" not in file))
    except RepositoryError:
        return ""
    if not differing:
        return ""
    way = shell_words(["git", "checkout", commit[:12]])
    are = "is" if len(differing) == 1 else "are"
    return f"{known}, and there {listing(differing, 3)} {are} not as here: {way}, to judge the log"
