"""The command line of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import shell_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.operations.plan.model import Scope


def command_line(command: str, request: Scope, words: Sequence[str]) -> str:
    """Return the command line of a plan, as a shell reads it; see `locklens.text.shell_words`."""
    start = ["locklens", *(["-C", str(request.folder)] if request.is_elsewhere else [])]
    # A separate word that begins with a dash would be an option.
    roots = [word for root in request.roots for word in ([f"--root={root}"] if root[:1] == "-" else ["--root", root])]
    tool = ["--tool", request.tool.name] if request.tool else []
    return shell_words([*start, command, *words, *roots, *tool])
