"""Compares the packages of this machine with entries of a review, for `hashes --verify` and the Hashes screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import LockLensError
from locklens.operations.verification.judging import EntryPackages, packages_of_entry
from locklens.operations.verification.verify import verify
from locklens.operations.write.diagnostics import RootOptions

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.operations.review.request import ReviewRequest
    from locklens.review.model import Review


def verify_entries(
    review: Review,
    top: Path,
    chosen: Collection[tuple[str, ProviderAddress]],
    request: ReviewRequest,
    *,
    on_progress: Callable[[int, int], None],
    cancel: threading.Event | None,
) -> dict[tuple[str, ProviderAddress], EntryPackages]:
    """Return the packages of each entry; nothing is downloaded, and no registry is asked.

    Args:
        review: The review of the entries, of the work tree.
        top: The folder of its relative paths.
        chosen: The entries, each by lock file and provider.
        request: What the review was asked for: tool, CLI configuration, folder of test files.
        on_progress: Called in this thread with the number of compared packages, and of all.
        cancel: Set by another thread to stop.

    Raises:
        LockLensError: A folder cannot be read.
        RunCancelledError: `cancel` was set.
    """
    asking = request.asking
    if asking is None:
        raise LockLensError("the CLI configuration is not known, so neither are the plugin cache and the mirrors")
    entries = {
        (root.lock_file, change.address): (root.path, change.new)
        for root in review.roots
        for change in root.changes
        if change.new is not None and (root.lock_file, change.address) in chosen
    }
    options = RootOptions(top, asking.environ, request.tool, request.test_directory)
    only = {(path, address) for (_, address), (path, _) in entries.items()}
    roots = sorted({path for path, _ in only})
    asking = replace(asking, is_fresh=not asking.is_offline)
    found = verify(roots, options, asking, only=only, downloads=False, on_progress=on_progress, cancel=cancel)
    return {key: packages_of_entry(found, path, entry) for key, (path, entry) in entries.items()}
