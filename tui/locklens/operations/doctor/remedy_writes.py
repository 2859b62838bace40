"""The operation of a remedy, for a Preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.addresses import Platform
from locklens.operations.plan.model import Scope
from locklens.operations.write.lock import Lock
from locklens.operations.write.replace_folder import ReplaceFolder
from locklens.operations.write.restore import Restore, RestoredProviders
from locklens.operations.write.upgrade import Upgrade

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.doctor.model import RemedyWrite
    from locklens.operations.write.operation import Operation


def remedy_operation(write: RemedyWrite, folder: Path, tool: Dialect | None, test_directory: str) -> Operation:
    """Return the operation that a remedy's command line is.

    Args:
        write: The remedy's write.
        folder: The folder that its roots are relative to.
        tool: The tool whose rules apply; None: each root's own.
        test_directory: Folder of a root's test files.
    """
    if write.command == "replace":
        return ReplaceFolder(folder, write.place, write.base, write.source, write.locked, write.next_step)
    where = Scope(folder, write.roots, tool, test_directory)
    if write.command == "restore":
        return Restore(where, (RestoredProviders(write.roots, (write.provider,)),), write.revision)
    if write.command == "upgrade":
        return Upgrade(where, (write.provider,))
    platforms = (Platform.parse(write.platform),) if write.platform else ()
    return Lock(where, platforms, (write.provider,), accepts_republished=write.accepts_republished)
