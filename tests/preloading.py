"""Loads the program once, for processes that are forked to run commands: loading takes longer than most commands."""

from __future__ import annotations

import gc
import importlib
import pkgutil

import locklens
from locklens import hcl
from locklens.versions import Constraints

_LIBRARIES = (
    "difflib", "email.utils", "encodings.cp437", "encodings.idna", "encodings.utf_8_sig", "gnupg", "h2.connection", "httpx", "isal.igzip_lib",
    "isal.isal_zlib", "netrc", "packaging.ranges", "packaging.specifiers", "packaging.utils", "packaging.version", "platformdirs", "shlex",
    "stringprep", "sysconfig", "zipfile",
)  # fmt: skip
"""What the program loads late, and Python's own modules that load others late."""


def load() -> None:
    """Loads every module but the terminal UI, what is there to be loaded of the libraries, and the grammar."""
    for module in pkgutil.walk_packages(locklens.__path__, "locklens."):
        if not module.name.startswith(("locklens.ui", "locklens.__main__")):
            importlib.import_module(module.name)
    for name in _LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    hcl.parse(b"a = [b]\n", json=False, wanted=hcl.Wanted(None))  # the grammar's tables are read at the first use
    Constraints.parse("~> 1.0")  # and patterns compiled
    gc.collect()
    gc.freeze()  # a collection in a child would write to, and so copy, every page
