"""The picker's intent: versions that were chosen one by one, in one root or in many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.workspace.planning import WriteRequest
from locklens.workspace.upgrading import Pick, UpgradeRequest, upgrade

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.workspace.planning import Plan
    from locklens.workspace.supply import Supply


class UpgradeIntent(Struct, frozen=True):
    """Moves what was picked and nothing else; a constraint that excludes a pick is edited.

    Attributes:
        top: The repository's top, or the folder that stands for it.
        picks: At least one.
        allows_missing: Whether modules may be missing, whose constraints then do not count.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
    """

    top: Path
    picks: tuple[Pick, ...]
    allows_missing: bool = False
    tool: Dialect | None = None
    test_directory: str = "tests"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        roots = {pick.root for pick in self.picks}
        where = f"in {self.picks[0].root or '.'}" if len(roots) == 1 else f"in {len(roots)} roots"
        addresses = {pick.address for pick in self.picks}
        if len(addresses) > 1:
            return f"Upgrade {len(addresses)} providers {where}"
        versions = {pick.version for pick in self.picks}
        target = f" to {self.picks[0].version}" if len(versions) == 1 else ""
        return f"Upgrade {self.picks[0].address.type}{target} {where}"

    def plan(self, supply: Supply, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:
        """Finds out what is to be written; arguments and errors as of `upgrade`."""
        roots = dict.fromkeys(pick.root for pick in self.picks)
        where = WriteRequest.at(self.top, roots, tool=self.tool, test_directory=self.test_directory)
        request = UpgradeRequest(where, picks=self.picks, edits_constraints=True, allows_missing=self.allows_missing)
        return upgrade(request, supply, on_root=on_root)
