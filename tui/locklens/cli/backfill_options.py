"""The options of `backfill`."""

from __future__ import annotations

import argparse
import re

from locklens.cli.arguments import UsageError
from locklens.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ABOUT = (
    "Fill in h1 and size of every package that metadata files in the layout of the OpenTofu registry name without "
    "them. Each package is downloaded once and checked against its shasum; nothing else in a file changes. What a file "
    "has is done: run it again to continue. The whole OpenTofu registry is about 4,000 providers, a million packages "
    "and 12 TB: 34 hours at 100 MB/s from one host."
)

_RATE = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)(B|KB|MB|GB|KiB|MiB|GiB)?\Z")
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})\Z")
_PER_HOST = range(1, 65)
_JOBS = range(1, 257)


def read_backfill_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments.

    Raises:
        UsageError: They are invalid, or contradict one another.
    """
    parser = Parser(command, _ABOUT)
    parser.usage = "locklens backfill [OPTION...] DIR|FILE..."
    words = "clone of a registry, another folder with metadata files, or such a file"
    parser.add_argument("places", nargs="*", metavar="DIR|FILE", help=words)
    add = parser.add_argument_group("scope").add_argument
    add(
        "--shard",
        type=_shard,
        metavar="I/N",
        help="part I of N of the providers, by the hash of their names (default: all)",
    )
    words = "name of a package's size (default: the one that the file has, else package_size)"
    add("--size-key", choices=["size", "package_size"], help=words)
    _add_fetching(parser)
    _add_output(parser)
    options = parser.parse_args(arguments)
    options.places += operands
    if not options.places:
        raise UsageError("the following arguments are required: DIR|FILE", hint="see locklens backfill --help")
    if options.scheduler and options.jobs is not None:
        raise UsageError("--jobs is for this machine", hint="a Dask worker has as many jobs as threads: --nthreads")
    return options


def _add_fetching(parser: Parser) -> None:
    add = parser.add_argument_group("download").add_argument
    words = "packages in work at once (default: two for each processor, at least 4)"
    add("--jobs", type=_within(_JOBS), metavar="N", help=words)
    words = "concurrent downloads from one host, at most 64 (default: 8)"
    add("--per-host", type=_within(_PER_HOST), default=8, metavar="N", help=words)
    words = "bytes a second from one host, such as 50MB or 20MiB (default: no bound)"
    add("--max-rate", type=_rate, default=0.0, metavar="BYTES", help=words)
    words = "packages a second from one host (default: no bound)"
    add("--max-requests", type=_number, default=0.0, metavar="N", help=words)
    words = (
        "run on the workers of this Dask scheduler; they share --per-host and the rates evenly (default: this machine)"
    )
    add("--scheduler", default="", metavar="ADDRESS", help=words)
    words = "packages may come from this machine and private networks, also without TLS: for tests"
    add("--allow-loopback", action="store_true", help=words)


def _add_output(parser: Parser) -> None:
    add = parser.add_argument_group("output").add_argument
    add("--dry-run", action="store_true", help="download and write nothing; say what would be fetched")
    add("--format", choices=["text", "json"], default="text", help="format of the result (default: text)")
    add("--output", metavar="FILE", help="write the result to a file (default: standard output)")


def _shard(text: str) -> tuple[int, int]:
    found = _SHARD.match(text) if text.isascii() else None
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"invalid part {text!r}: expected I/N with I from 1 to N, as 3/20")
    return index, count


def _rate(text: str) -> float:
    found = _RATE.match(text) if text.isascii() else None
    rate = float(found[1]) * _UNITS[found[2] or "B"] if found else 0.0
    if rate < 1:
        raise argparse.ArgumentTypeError(f"invalid rate {text!r}: expected bytes a second, as 50MB or 20MiB")
    return rate


def _number(text: str) -> float:
    found = re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", text) if text.isascii() else None
    if not found or not float(text):
        raise argparse.ArgumentTypeError(f"invalid number {text!r}: expected packages a second, as 5 or 0.5")
    return float(text)


def _within(numbers: range) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
        if number not in numbers:
            words = f"invalid number {text!r}: expected {numbers[0]} to {numbers[-1]}"
            raise argparse.ArgumentTypeError(words)
        return number

    return read
