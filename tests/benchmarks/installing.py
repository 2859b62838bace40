"""Measures init and lock beside terraform and tofu, against one registry on loopback.

    PYTHONPATH=tests python tests/benchmarks/installing.py [--rounds N] [--delay MS] [--tofu PATH] [LINE...]

Each line is run by all three in turn, each time in an empty place; medians of wall and CPU seconds are printed, and the
ratios beside OpenTofu and Terraform. Ratios are what to compare. `warm` is locklens with what an earlier run of its own
remembers. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks import proving
from conformance.case import requires
from msgspec import Struct

from locklens.demo.publishers import publisher

HOSTS = ("registry.terraform.io", "registry.opentofu.org")
HERE = "linux_amd64"
FOUR = ("darwin_arm64", HERE, "linux_arm64", "windows_amd64")
MIB = 1024**2
NAME = "terraform-provider-large_1.0.0_"


class Line(Struct, frozen=True):
    """What is measured.

    Attributes:
        words: Of the command.
        providers: How many there are.
        platforms: For which each has a package.
        mib: Of a package; 0 for a small one.
        rate: Bytes a second of each connection, 0 for no limit.
        has_delay: Whether answers are delayed.
        is_installed: Whether everything is there already.
    """

    words: tuple[str, ...]
    providers: int
    platforms: tuple[str, ...]
    mib: int = 0
    rate: float = 0.0
    has_delay: bool = True
    is_installed: bool = False


def locking(*platforms: str) -> tuple[str, ...]:
    """The words of `providers lock`."""
    return ("providers", "lock", *(f"-platform={one}" for one in platforms))


LINES = {
    "lock 12 x 4, small": Line(locking(*FOUR), 12, FOUR),
    "lock 6 x 4, 10 MiB at 50 MB/s": Line(locking(*FOUR), 6, FOUR, 10, 50e6),
    "lock 1 x 2, 172 MiB": Line(locking(*FOUR[:2]), 1, FOUR[:2], 172, has_delay=False),
    "init 12, small": Line(("init",), 12, (HERE,)),
    "init 6, 39 MiB at 50 MB/s": Line(("init",), 6, (HERE,), 39, 50e6),
    "init 12, all installed": Line(("init",), 12, (HERE,), is_installed=True),
}


class Published:
    """All that a line's registry has, by path; packages are one file, each with a comment of its own at its end."""

    def __init__(self, line: Line, model: Path) -> None:
        self.model, self.line = model, line
        self.pages: dict[str, bytes] = {}
        self.packages: dict[str, bytes] = {}
        body = model.read_bytes()
        digest = hashlib.sha256(body[:-2])
        for number in range(line.providers):
            namespace = f"acme{number:02}"
            sums = ""
            for platform in line.platforms:
                note = f"{namespace} {platform}".encode()
                tail = len(note).to_bytes(2, "little") + note
                own = digest.copy()
                own.update(tail)
                name = f"{NAME}{platform}.zip"
                self.packages[f"/{namespace}/{name}"] = tail
                sums += f"{own.hexdigest()}  {name}\n"
            self._release(namespace, sums)

    def _release(self, namespace: str, sums: str) -> None:
        author = publisher("acme")
        base = f"/v1/{namespace}/large"
        platforms = [dict(zip(("os", "arch"), one.split("_"), strict=True)) for one in self.line.platforms]
        listed = {"version": "1.0.0", "protocols": ["5.0"], "platforms": platforms}
        self.pages[f"{base}/versions"] = json.dumps({"versions": [listed]}).encode()
        self.pages[f"/{namespace}/{NAME}SHA256SUMS"] = sums.encode()
        self.pages[f"/{namespace}/{NAME}SHA256SUMS.sig"] = author.signature(sums.encode())
        for text in sums.splitlines():
            zh, name = text.split()
            platform = name.removeprefix(NAME).removesuffix(".zip")
            document = {
                "protocols": ["5.0"],
                **dict(zip(("os", "arch"), platform.split("_"), strict=True)),
                "filename": name,
                "download_url": f"/{namespace}/{name}",
                "shasum": zh,
                "shasums_url": f"/{namespace}/{NAME}SHA256SUMS",
                "shasums_signature_url": f"/{namespace}/{NAME}SHA256SUMS.sig",
                "signing_keys": {"gpg_public_keys": [{"ascii_armor": author.key.armored()}]},
            }
            self.pages[f"{base}/1.0.0/download/{platform.replace('_', '/')}"] = json.dumps(document).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers with what is published, as late and as slowly as is asked for."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    published: Published
    delay: float
    asked = 0

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        """Sends a page or a package."""
        if self.path == "/asked":
            body, Handler.asked = str(Handler.asked).encode(), 0
            self.head(200, len(body))
            self.wfile.write(body)
            return
        Handler.asked += 1
        time.sleep(self.delay)
        published = self.published
        if (page := published.pages.get(self.path)) is not None:
            self.head(200, len(page))
            self.wfile.write(page if with_body else b"")
        elif (tail := published.packages.get(self.path)) is not None:
            size = published.model.stat().st_size - 2
            self.head(200, size + len(tail))
            if with_body:
                self.send_package(size, tail, published.line.rate)
        else:
            self.head(404, 0)

    def head(self, status: int, length: int) -> None:
        """Sends what stands before the body."""
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def send_package(self, size: int, tail: bytes, rate: float) -> None:
        """Sends the model and a package's own end, at most at a rate."""
        start, sent = time.perf_counter(), 0
        with self.published.model.open("rb") as file:
            while sent < size:
                sent += os.sendfile(self.connection.fileno(), file.fileno(), sent, min(256 * 1024, size - sent))
                if rate and (early := sent / rate - (time.perf_counter() - start)) > 0:
                    time.sleep(early)
        self.wfile.write(tail)

    def log_message(self, *args: object) -> None:
        pass


def serve(name: str, delay: float, model: Path) -> None:
    """Serves a line's registry, in this process, for ever."""
    line = LINES[name]
    if line.mib:
        proving.make_package(model, line.mib * MIB)
    else:
        proving.SAMPLE = 4096
        proving.make_package(model, 2048)
    Handler.published, Handler.delay = Published(line, model), delay if line.has_delay else 0.0
    # With the usual five, a connection among many at once waits for a second.
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()


def measure(command: list[str], folder: Path, environ: dict[str, str]) -> tuple[float, float]:
    """Runs a command, and returns its wall and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=False)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout.decode()}{done.stderr.decode()}")
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def asked(port: int) -> int:
    """How many requests there were since this was asked last."""
    from urllib.request import urlopen

    with urlopen(f"http://127.0.0.1:{port}/asked") as answer:
        return int(answer.read())


def run_line(name: str, tools: dict[str, list[str]], rounds: int, delay: float) -> None:
    """Measures a line, and prints it."""
    line = LINES[name]
    if "lock" not in line.words:
        tools = {tool: command for tool, command in tools.items() if tool != "locklens warm"}
    with tempfile.TemporaryDirectory() as top:
        place = Path(top)
        server = subprocess.Popen(
            [
                sys.executable,
                __file__,
                "--serve",
                name,
                "--delay",
                str(delay * 1000),
                "--model",
                str(place / "model.zip"),
            ],
            stdout=subprocess.PIPE,
        )
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            found: dict[str, list[tuple[float, float]]] = {tool: [] for tool in tools}
            counts: dict[str, int] = {}
            for number in range(rounds):
                for tool, command in tools.items():
                    folder, environ = prepare(place / f"{tool}-{number}", tool, line, port)
                    words = line.words
                    if line.is_installed or tool.endswith("warm"):
                        measure([*command, *words], folder, environ)
                    if tool.endswith("warm"):
                        (folder / ".terraform.lock.hcl").unlink()
                        shutil.rmtree(folder / ".terraform", ignore_errors=True)
                    asked(port)
                    found[tool].append(measure([*command, *words], folder, environ))
                    counts[tool] = asked(port)
                    shutil.rmtree(folder.parent)
            report(name, found, counts)
        finally:
            server.kill()
            server.wait()


def prepare(place: Path, tool: str, line: Line, port: int) -> tuple[Path, dict[str, str]]:
    """Makes a root module and the environment of one run."""
    home, folder = place / "home", place / "root"
    home.mkdir(parents=True)
    folder.mkdir()
    services = f'services = {{ "providers.v1" = "http://127.0.0.1:{port}/v1/" }}'
    (home / "cli.tfrc").write_text("".join(f'host "{host}" {{\n  {services}\n}}\n' for host in HOSTS))
    text = requires(*((f"acme{number:02}/large", "") for number in range(line.providers)))
    for number in range(line.providers):
        text = text.replace("    large = {", f"    p{number} = {{", 1)
    (folder / "main.tf").write_text(text)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "TF_CLI_CONFIG_FILE": str(home / "cli.tfrc")}
    return folder, environ | {"CHECKPOINT_DISABLE": "1", "TMPDIR": str(home)}


def report(name: str, found: dict[str, list[tuple[float, float]]], counts: dict[str, int]) -> None:
    """Prints a line's medians and ratios."""
    print(name)
    walls = {tool: statistics.median(wall for wall, _ in times) for tool, times in found.items()}
    works = {tool: statistics.median(cpu for _, cpu in times) for tool, times in found.items()}
    for tool in found:
        ratios = [f"{walls[tool] / walls[other]:.2f} of {other}'s" for other in ("tofu", "terraform") if other in walls]
        cpu = f", CPU {works[tool] / works['tofu']:.2f}" if "tofu" in works else ""
        print(
            f"  {tool:13} {walls[tool]:7.2f} s, CPU {works[tool]:6.2f} s, {counts[tool]:4} requests; {', '.join(ratios)}{cpu}"
        )


def main() -> None:
    """Measures what was asked for."""
    parser = argparse.ArgumentParser(description="Measure init and lock beside the real tools.")
    parser.add_argument("lines", nargs="*", metavar="LINE", help="text in the names of the lines to measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=30, help="milliseconds before each answer")
    parser.add_argument("--tofu", default="tofu", help="path of tofu")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    found = parser.parse_args()
    if found.serve:
        serve(found.serve, found.delay / 1000, found.model)
    locklens = [sys.executable, "-m", "locklens"]
    tools = {"terraform": ["terraform"], "tofu": [found.tofu], "locklens": locklens, "locklens warm": locklens}
    tools = {tool: command for tool, command in tools.items() if shutil.which(command[0])}
    for name in LINES:
        if not found.lines or any(text in name for text in found.lines):
            run_line(name, tools, found.rounds, found.delay / 1000)


if __name__ == "__main__":
    main()
