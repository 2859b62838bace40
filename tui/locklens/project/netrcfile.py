"""The `.netrc` file, of which Terraform takes names and passwords for the hosts that it downloads packages from."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from locklens.project.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAX_BYTES = 1024 * 1024


def netrc_tokens(environ: Mapping[str, str]) -> Callable[[str], Token | None]:
    """Return what finds the credentials for a URL: those of the machine that is named as its host and port are.

    A file that cannot be read or understood is none, as for the tool; an entry for all machines does not count.

    Args:
        environ: NETRC names the file, and HOME the folder where it is otherwise.
    """
    found: dict[str, Token] | None = None

    def token(url: str) -> Token | None:
        nonlocal found
        if found is None:
            found = _read(_path(environ))
        return found.get(urlsplit(url).netloc.rpartition("@")[2])

    return token


def _path(environ: Mapping[str, str]) -> Path:
    name = "_netrc" if sys.platform == "win32" else ".netrc"
    return Path(environ.get("NETRC") or Path(environ.get("HOME") or Path.home(), name))


def _read(path: Path) -> dict[str, Token]:
    from netrc import NetrcParseError, netrc

    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return {}
        hosts = netrc(str(path)).hosts
    except (OSError, NetrcParseError, ValueError):
        return {}
    return {
        host: Token(base64.b64encode(f"{login}:{password}".encode()).decode(), scheme="Basic")
        for host, (login, _, password) in hosts.items()
        if host != "default"
    }
