"""The report on two equal files, in the very words of the full reports and without loading what those need."""

from __future__ import annotations

from locklens.review.reports.envelope import envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def render(form: str, *, old: str, new: str, folder: str, lock_file: str, tool: str) -> str:
    """Returns the report.

    Args:
        form: "json" or "text".
        old: The old file as the user named it.
        new: The new file, likewise.
        folder: The root's folder.
        lock_file: The new file's path as findings would have it.
        tool: The name of the tool that wrote it.
    """
    if form == "json":
        import json

        return json.dumps(_document(old, new, folder, lock_file, tool), indent=2) + "\n"
    from locklens.review.reports.visible import visible

    return (
        f"locklens review  {visible(old)} -> {visible(new)}\n"
        "1 root, 0 changes: no findings\n"
        "\n"
        "1 root checked without anything to say\n"
        "verdict: ok\n"
    )


def _document(old: str, new: str, folder: str, lock_file: str, tool: str) -> dict[str, Any]:
    import time

    root = {
        "path": folder,
        "lock_file": lock_file,
        "renamed_from": None,
        "tool": tool,
        "status": "unchanged",
        "format_only": False,
        "configuration": {"complete": True, "missing_modules": [], "errors": []},
        "conflict": None,
        "changes": [],
        "findings": [],
    }
    return envelope(
        at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        offline=True,
        hosts=[],
        base={"kind": "file", "name": old, "revision": None},
        head={"kind": "file", "name": new, "revision": None},
        roots=[root],
        changes={},
        distinct_changes=0,
        added=0,
        explained=0,
        findings={"block": 0, "warn": 0, "info": 0},
        verdict="ok",
    )
