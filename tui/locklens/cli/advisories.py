"""`advisories` and `advisories update`: the database of advisories that this machine keeps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from locklens.cli.output import deliver, put
from locklens.operations.reports import formats_of, render_report

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.cli.options import Parser


def add_advisories_options(parser: Parser) -> None:
    """Add the options of `advisories`."""
    words = "Show the database of advisories that inspect, review and health look into; nothing is asked for."
    parser.begin(words, "[OPTION...]", _run_advisories)
    parser.group("common options").add_output(formats_of("advisories"))


def add_advisories_update_options(parser: Parser) -> None:
    """Add the options of `advisories update`."""
    words = (
        "Read the Go vulnerability database, and keep it in one file in place of the one before. "
        "No other command asks for it."
    )
    parser.begin(words, "[FROM]", _run_update)
    default = "default: https://vuln.go.dev/vulndb.zip"
    words = "an address, a vulndb.zip, or a folder with its entries, such as data/osv of a clone of golang/vulndb"
    parser.add_argument("source", nargs="?", metavar="FROM", help=f"{words} ({default})")


def _run_advisories(options: Namespace) -> int:
    from locklens.operations.advisories import kept_advisories

    return deliver(render_report("advisories", options.format, kept_advisories()), options.output)


def _run_update(options: Namespace) -> int:
    from locklens.operations.advisories import update_advisories

    kept = update_advisories(options.source, os.environ)
    return put(render_report("advisories", "text", kept))
