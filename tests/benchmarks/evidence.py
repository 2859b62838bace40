"""How long a cold and a warm review of many upgraded providers take beside one that asks nobody.

Serves 60 providers of 60 publishers from the sample registry, each answer 30 ms late, in a process of its own, and runs
`locklens review` on two lock files in which each of them moves from one version to the next. Prints medians, how many
requests there were, and the longest chain of requests that waited for each other as far as the log shows it.

Usage: python tests/benchmarks/evidence.py [RUNS]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measuring import medians

from locklens.demo import SampleLock, lock_file
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration

PROVIDERS, DELAY = 60, 0.03
SERVE = "--serve"


def names() -> list[str]:
    return [f"registry.terraform.io/owner{number:02}/thing" for number in range(PROVIDERS)]


def serve(folder: Path) -> None:
    """Keeps the registry up until standard input ends."""
    with DemoRegistry(dict.fromkeys(names(), ("1.0.0", "1.1.0")), delay=DELAY) as registry:
        for provider in names():
            for version in ("1.0.0", "1.1.0"):
                registry.release(provider, version)  # Signed once: the benchmark is not about that.
        write_cli_configuration(registry, folder)
        print("up", flush=True)
        sys.stdin.read()


def requests_of(command: list[str], environ: dict[str, str]) -> int:
    """Returns how many requests a command lists on stderr."""
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return len(re.findall(r"^GET (?!.*remembered)", ran.stderr, re.MULTILINE))


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "old.hcl").write_bytes(lock_file(*(SampleLock(one, "1.0.0") for one in names())))
        (folder / "new.hcl").write_bytes(lock_file(*(SampleLock(one, "1.1.0") for one in names())))
        server = subprocess.Popen(
            [sys.executable, __file__, SERVE, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        server.stdout.readline()
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environ |= {**environment(folder / "demo.tfrc"), "XDG_CACHE_HOME": str(folder / "cache")}
        review = [sys.executable, "-m", "locklens", "review", "--old", str(folder / "old.hcl")]
        review += ["--new", str(folder / "new.hcl"), "--format", "json", "--fail-on", "never", "--verbose"]
        kinds = {"nobody asked": [*review, "--offline", "--no-cache"], "cold": [*review, "--no-cache"], "warm": review}
        requests_of(review, environ)
        requests = {kind: requests_of(command, environ) for kind, command in kinds.items()}
        found = medians({kind: partial(requests_of, command, environ) for kind, command in kinds.items()}, runs)
        server.communicate("")
        floor = found["nobody asked"].wall
        for kind, one in found.items():
            print(
                f"{kind:14} {one.wall:6.2f} s wall ({one.wall - floor:+.2f} s), {one.cpu:5.2f} s CPU, "
                f"{requests[kind]:4} requests"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        serve(Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
