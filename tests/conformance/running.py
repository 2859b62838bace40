"""Lets a tool at a case: the real ones, or whatever takes their place."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from conformance.case import Case, Tool
from conformance.laying import Names, environment, lay, network_mirror, oci_registry, registry
from conformance.outcome import Outcome, observe
from msgspec import Struct

from locklens.demo.faults import Faults

AT_ONCE = 3
_SECONDS = 120


class Invocation(Struct, frozen=True):
    """A command to be run.

    Attributes:
        words: After the executable, in the tools' spelling: `init -upgrade`, `providers lock -platform=…`.
        folder: Where.
        environment: All variables.
    """

    words: tuple[str, ...]
    folder: Path
    environment: dict[str, str]


class Finished(Struct, frozen=True):
    """How it ended, and everything that it printed."""

    status: int
    output: str


Run = Callable[[Invocation], Finished]
"""Whatever takes a command: a process, or a function of this one."""


def process(*command: str) -> Run:
    """Returns what starts a process: `process("terraform")`, `process(sys.executable, "-m", "locklens", "--tool", …)`."""

    def run(invocation: Invocation) -> Finished:
        done = subprocess.run(
            [*command, *invocation.words], cwd=invocation.folder, env=invocation.environment, timeout=_SECONDS,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        return Finished(done.returncode, done.stdout.decode(errors="replace"))

    return run


def run_case(case: Case, tool: Tool, run: Run) -> tuple[Outcome, ...]:
    """Puts a case before a tool.

    Args:
        case: Laid down in a folder of its own, with a registry of its own.
        tool: Whose default registry and lock header the case is for.
        run: What takes the commands.

    Returns:
        What each turn led to.
    """
    found: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="case-", ignore_cleanup_errors=True) as place:
        work, home = Path(place).resolve() / "work", Path(place).resolve() / "home"
        work.mkdir()
        home.mkdir()
        with (
            registry(case, tool, work) as running,
            network_mirror(case, work / "served") as mirror_port,
            oci_registry(case, tool, work) as oci_port,
        ):
            names = Names(tool, running.port, work, mirror_port, oci_port)
            variables = environment(case, running, names, home)
            places = {f"localhost:{running.port}": "localhost:PORT", str(work): "WORK", str(home): "HOME"}
            places |= {f"127.0.0.1:{running.port}": "localhost:PORT", f"localhost:{mirror_port}": "localhost:MIRROR"}
            places[f"localhost:{oci_port}"] = "localhost:OCI"
            lay(case.files, names)
            for turn in case.turns:
                lay(turn.files, names)
                if turn.faults is not None:
                    running.faults = Faults(turn.faults)
                before = len(running.requests)
                words = tuple(names.put_in(word) for word in turn.words)
                done = run(Invocation(words, work / case.folder, variables))
                found.append(
                    observe(
                        done.status, done.output, root=work / case.root, data=work / case.data,
                        cache=work / case.cache if case.cache else None, requests=running.requests[before:], places=places,
                    )
                )  # fmt: skip
    return tuple(found)


def run_cases(cases: Iterable[Case], tool: Tool, run: Run) -> dict[str, tuple[Outcome, ...]]:
    """Puts many cases before a tool, a few at once; the result is by the case's key."""
    chosen = [case for case in cases if tool.name in case.tools]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(
            zip((case.key for case in chosen), pool.map(lambda case: run_case(case, tool, run), chosen), strict=True)
        )


@cache
def is_here(tool: Tool) -> bool:
    """Whether the tool is on PATH in the version that was recorded."""
    found = shutil.which(tool.command)
    if found is None:
        return False
    done = subprocess.run([found, "version"], capture_output=True, text=True, check=False, timeout=_SECONDS)
    return re.search(rf"v{re.escape(tool.version)}\s", done.stdout) is not None
