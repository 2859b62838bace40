"""The next step after an error: where bytes are not as signed or locked, also the command that tests the causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import TrustError
from locklens.text import shell_word

if TYPE_CHECKING:
    from locklens.errors import LockLensError


def hashes_command(root: str) -> str:
    """Return the command that compares the locked hashes of a root with the signed releases."""
    return _command("hashes", root)


def next_step(error: LockLensError, root: str = ".") -> str:
    """Return the hint of an error; for one about a checksum or a signature with the command that tests its causes.

    Args:
        error: The error.
        root: The root's folder.
    """
    if not isinstance(error, TrustError):
        return error.hint
    words = f"`{_command('doctor', root)}` tests the causes"
    return f"{error.hint}; {words}" if error.hint else words


def _command(name: str, root: str) -> str:
    return f"locklens {name}" if root == "." else f"locklens {name} -- {shell_word(root)}"
