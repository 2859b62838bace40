"""Lines of the tools' own `-json` output: the errors in them, and what `init` says of each provider."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct, ValidationError, field
from msgspec.json import Decoder

from locklens.doctor.cleaning import LogLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LISTED = r"(?P<provider>[^\s:,]{1,255})"
_SENTENCES = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (rf"{_LISTED}: Reusing (?P<rest>previous version) (?=from )", r"- Reusing \g<rest> of \g<provider> "),
        (rf"{_LISTED}: Finding latest version\.", r"- Finding latest version of \g<provider>."),
        (
            rf"Finding matching versions for provider: {_LISTED}, version_constraint: (?P<rest>\".{{1,300}}\")",
            r"- Finding \g<provider> versions matching \g<rest>...",
        ),
        (r"(?P<rest>Install(?:ing|ed)) provider version: ", r"- \g<rest> "),
        (rf"{_LISTED} (?P<rest>v\d\S{{0,80}}): (?=Using )", r"- Using \g<provider> \g<rest> "),
        (r"(?=(?:Reusing previous version|Finding|Installing|Installed|Using) \S)", r"- "),
        (r"(?=Downloading \S{1,500} )", ""),
        (r"(?=Initializing (?:the backend|provider plugins|modules)|\w{1,20} has been successfully initialized!)", ""),
    )
)
"""How `init -json` begins a sentence, and how `init` does: OpenTofu leaves out the dash, Terraform has other words."""


class _Event(Struct):
    """A line of `-json` output, as far as it matters here."""

    class Diagnostic(Struct):
        severity: str = ""
        summary: str = ""
        detail: str = ""

    diagnostic: Diagnostic | None = None
    message: str = field(default="", name="@message")


_EVENTS = Decoder(_Event)


def message_of(line: LogLine) -> str | None:
    """Return the message of an error or a warning in `-json` output; None for any other line."""
    event = _event(line)
    if event is None or event.diagnostic is None:
        return None
    words = f"{event.diagnostic.summary}\n{event.diagnostic.detail}"
    return words if words.strip() else event.message


def as_printed(lines: Sequence[LogLine]) -> Iterator[LogLine]:
    """Yield lines; those on which `init -json` tells of its steps as `init` prints them."""
    for line in lines:
        event = _event(line)
        words = event.message if event is not None and event.diagnostic is None else ""
        found = ((one.match(words), begins) for one, begins in _SENTENCES) if words else ()
        printed = next((f"{match.expand(begins)}{words[match.end() :]}" for match, begins in found if match), "")
        yield LogLine(printed, line.number, ends_box=False, unit=line.unit) if printed else line


def _event(line: LogLine) -> _Event | None:
    if not line.text.startswith('{"'):
        return None
    try:
        return _EVENTS.decode(line.text)
    except (DecodeError, ValidationError, RecursionError):
        return None
