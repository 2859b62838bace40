"""Real changes of lock files from public repositories.

`tests/data/real_changes.json` has the facts of thirty-three of them, chosen so that every kind of change and every rule that
lock files alone can trigger is there; they are rendered here into the files that they were recorded from. Where
LOCKLENS_SHARED_DATA names a folder with many more, in the same layout, that one is used instead:

    pairs/NNNN/{old,new}.lock.hcl, meta.json      a missing side is a file that was added or deleted
    derived/NNNN/…                                the same with other line ends, a byte order mark, no last newline
    conflicts/NNNN/{base,ours,theirs,merged,merged.diff3}.lock.hcl
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kit.effort import effort

FACTS = Path(__file__).parents[1] / "data" / "real_changes.json"
COMMANDS = {"terraform": "terraform", "opentofu": "tofu"}
BOM = b"\xef\xbb\xbf"

REFORMATTED: dict[str, tuple[str, Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "crlf": ("0011", lambda old: crlf(old), lambda new: crlf(new)),
    "crlf-new": ("0002", bytes, lambda new: crlf(new)),
    "crlf-old": ("0031", lambda old: crlf(old), bytes),
    "mixed": ("0094", bytes, lambda new: new.replace(b"\n", b"\r\n", 5)),
    "bom": ("0005", bytes, lambda new: BOM + new),
    "bom-crlf": ("0130", lambda old: BOM + crlf(old), lambda new: BOM + crlf(new)),
    "no-last-newline": ("0147", bytes, lambda new: new.removesuffix(b"\n")),
}
"""The changes that are also laid out as other editors would have left them: by the new folder, the change and both sides."""


def crlf(data: bytes) -> bytes:
    """The text with the line ends of Windows."""
    return data.replace(b"\n", b"\r\n")


def rendered(tool: str, entries: Iterable[tuple[str, str, str, list[str]]]) -> bytes:
    """A lock file as the tool writes it, without the code under test.

    Args:
        tool: `terraform` or `opentofu`.
        entries: Address, version, constraints (may be empty) and hashes of each provider, in any order.
    """
    text = f'# This file is maintained automatically by "{COMMANDS[tool]} init".\n'
    text += "# Manual edits may be lost in future updates.\n"
    for address, version, constraints, hashes in sorted(entries):
        lines = [f'  version     = "{version}"', f'  constraints = "{constraints}"']
        text += f'\nprovider "{address}" {{\n'
        text += "\n".join(lines if constraints else [f'  version = "{version}"']) + "\n"
        if hashes:
            text += "  hashes = [\n" + "".join(f'    "{one}",\n' for one in sorted(hashes)) + "  ]\n"
        text += "}\n"
    return text.encode()


def lay_out(folder: Path) -> None:
    """Writes the changes of the table as files below a folder."""
    facts = json.loads(FACTS.read_text("utf-8"))
    for number, change in facts["changes"].items():
        _lay_change(folder / "pairs" / number, change, bytes, bytes)
    for name, (number, of_old, of_new) in REFORMATTED.items():
        _lay_change(folder / "derived" / name, facts["changes"][number], of_old, of_new)
    for number, conflict in facts["conflicts"].items():
        _lay_conflict(folder / "conflicts" / number, conflict)


def _lay_change(
    case: Path, change: dict[str, Any], of_old: Callable[[bytes], bytes], of_new: Callable[[bytes], bytes]
) -> None:
    case.mkdir(parents=True)
    providers = change["providers"]
    for side, gone, convert in (("old", "removed", of_old), ("new", "added", of_new)):
        if change[side] is None:
            continue
        entries = [
            (address, *one[side], one.get("kept", []) + one.get(gone, []))
            for address, one in providers.items()
            if side in one
        ]
        (case / f"{side}.lock.hcl").write_bytes(convert(rendered(change[side], entries)))
    classes = {address: {"cls": one["class"]} for address, one in providers.items() if "class" in one}
    (case / "meta.json").write_text(json.dumps({"reference": {"providers": classes}}), "utf-8")


def _lay_conflict(case: Path, conflict: dict[str, Any]) -> None:
    case.mkdir(parents=True)
    for side in ("base", "ours", "theirs"):
        file = conflict[side]
        entries = [(address, *one) for address, one in file["providers"].items()]
        (case / f"{side}.lock.hcl").write_bytes(rendered(file["tool"], entries))
    ours, base, theirs = conflict["labels"]
    labels = ["-L", ours, "-L", base, "-L", theirs]
    sides = [str(case / f"{side}.lock.hcl") for side in ("ours", "base", "theirs")]
    nobodys = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for name, style in (("merged", []), ("merged.diff3", ["--diff3"])):
        command = ["git", "merge-file", "-p", *style, *labels, *sides]
        merged = subprocess.run(command, cwd=case, env=nobodys, capture_output=True, check=False).stdout
        (case / f"{name}.lock.hcl").write_bytes(merged)


@cache
def shared_data() -> Path:
    """The folder with real lock files."""
    folder = os.environ.get("LOCKLENS_SHARED_DATA")
    if folder:
        return Path(folder)
    own = Path(tempfile.mkdtemp(prefix="locklens-real-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    lay_out(own)
    return own


def real_cases(kind: str, *, enough: int | None = None) -> list[Any]:
    """The real cases of one kind (pairs, derived, conflicts) as parameters; a sample of many has `enough` of them or a few more."""
    cases = [pytest.param(case, id=case.name) for case in sorted((shared_data() / kind).iterdir()) if case.is_dir()]
    return cases[:: effort(max(1, len(cases) // enough), 1)] if enough else cases


def meta(case: Path) -> dict[str, Any]:
    """What is known of a real case."""
    loaded: dict[str, Any] = json.loads((case / "meta.json").read_text("utf-8"))
    return loaded
