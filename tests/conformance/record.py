"""Records what the real tools do with every case, as golden files.

    PYTHONPATH=tests python -m conformance.record [--only TEXT] [--twice] [terraform|opentofu]...

The tools are those on PATH, and have to be of the versions in `conformance.case`. `--twice` records a second time and
says which cases came out otherwise; nothing is written then if any did. With `--only`, cases with that text in their
key are recorded and the others kept. Cases that are gone disappear from the file in either case.
"""

from __future__ import annotations

import argparse
import sys
import time

from conformance import golden
from conformance.case import TOOLS, Tool
from conformance.cases import CASES
from conformance.running import is_here, process, run_cases


def record(tool: Tool, only: str, *, twice: bool) -> bool:
    """Records one tool; returns whether all went well."""
    if not is_here(tool):
        print(f"{tool.command} {tool.version} is not on PATH", file=sys.stderr)
        return False
    chosen = [case for case in CASES if only in case.key]
    start = time.perf_counter()
    found = run_cases(chosen, tool, process(tool.command))
    print(f"{tool.command}: {len(found)} cases in {time.perf_counter() - start:.1f} s")
    if twice:
        again = run_cases(chosen, tool, process(tool.command))
        other = [key for key, outcomes in found.items() if again[key] != outcomes]
        for key in other:
            print(f"unstable: {key}\n  {found[key]}\n  {again[key]}", file=sys.stderr)
        if other:
            return False
    kept = {case.key for case in CASES if tool.name in case.tools}
    before = golden.read(tool).cases if only else {}
    golden.FOLDER.mkdir(exist_ok=True)
    golden.path_of(tool).write_bytes(
        golden.text_of(tool, {key: outcomes for key, outcomes in (before | found).items() if key in kept})
    )
    return True


def main() -> int:
    """Records what was asked for."""
    parser = argparse.ArgumentParser(description="Record what the real tools do with every case.")
    parser.add_argument("tools", nargs="*", metavar="TOOL", help="terraform or opentofu (default: both)")
    parser.add_argument("--only", default="", help="text in the keys of the cases to record")
    parser.add_argument("--twice", action="store_true", help="record twice, and compare")
    arguments = parser.parse_args()
    done = [record(TOOLS[name], arguments.only, twice=arguments.twice) for name in arguments.tools or TOOLS]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
