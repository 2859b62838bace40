"""Edits the text of a policy; comments, order and layout of everything else stay. The only user of tomlkit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.items import AoT, Table

from locklens.errors import ConfigurationError
from locklens.policy import POLICY_FILE, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.policy.model import Acceptance, Pin, Policy

_MARK = b"\xef\xbb\xbf"


def with_acceptances(data: bytes, acceptances: tuple[Acceptance, ...]) -> bytes:
    """Return a policy with acceptances added; one for the same rule and change is replaced in its place.

    Args:
        data: The file's bytes; b"" if there is no file.
        acceptances: The acceptances, at least one.

    Raises:
        ConfigurationError: The policy has a mistake.
    """
    keys = {one.key for one in acceptances}

    def edit(document: Any, before: Policy) -> None:
        entries = document.get("accept")
        if entries is None:
            document["accept"] = entries = tomlkit.aot()
        accepted = [one.key for one in before.accept]
        for one in acceptances:
            names = ("rule", "provider", "change", "reason", "by", "on", *(("until",) if one.until else ()))
            fields = {name: getattr(one, name) for name in names}
            places = [number for number, other in enumerate(accepted) if other == one.key]
            if places:
                table = entries[places[0]]
                for name in [name for name in table if name not in fields]:
                    del table[name]
                for place in reversed(places[1:]):
                    del entries[place], accepted[place]
            else:
                table = _table_apart() if isinstance(entries, AoT) else tomlkit.inline_table()
                accepted.append(one.key)
                entries.append(table)
                table = entries[-1]
            table.update(fields)

    return _edited(data, edit, lambda after: keys <= {one.key for one in after.accept})


def with_pin(data: bytes, pin: Pin) -> bytes:
    """Return a policy with a pin, which replaces one of the same scope.

    Arguments and errors are those of `with_acceptances`.
    """

    def edit(document: Any, before: Policy) -> None:
        table = document.get("trust")
        if table is None:
            document["trust"] = table = tomlkit.table(is_super_table=True)
        name = _spelled(table, before, pin)
        entry = table.get(name)
        if entry is None:
            table[name] = entry = _table_apart() if before.trust else tomlkit.table()
        fields = {"keys": list(pin.keys), "by": pin.by, "on": pin.on, "why": pin.why, "review_by": pin.review_by}
        for field, value in fields.items():
            if value:
                entry[field] = value
            else:
                entry.pop(field, None)

    return _edited(
        data, edit, lambda after: any(one.scope == pin.scope and one.keys == pin.keys for one in after.trust)
    )


def without_pin(data: bytes, pin: Pin) -> bytes:
    """Return a policy without one of its pins. Arguments and errors are those of `with_acceptances`."""

    def edit(document: Any, before: Policy) -> None:
        table = document["trust"]
        del table[_spelled(table, before, pin)]
        if not table:
            del document["trust"]

    return _edited(data, edit, lambda after: not any(one.scope == pin.scope for one in after.trust))


def _spelled(table: Any, before: Policy, pin: Pin) -> str:
    """Return the key of a pin as written in the file; the name of a new pin."""
    place = next((number for number, one in enumerate(before.trust) if one.scope == pin.scope), None)
    return pin.name if place is None else str(list(table)[place])


def _table_apart() -> Table:
    """Return a new table with an empty line above it."""
    table = tomlkit.table()
    table.trivia.indent = "\n"
    return table


def _edited(data: bytes, edit: Callable[[Any, Policy], None], is_done: Callable[[Policy], bool]) -> bytes:
    """Edit the document; the line ends and the byte order mark stay.

    Raises:
        ConfigurationError: The policy has a mistake, before or after the edit.
    """
    before = parse(data, POLICY_FILE)
    marked, is_crlf = data.startswith(_MARK), b"\r\n" in data
    text = data.removeprefix(_MARK).decode().replace("\r\n", "\n")
    if text and not text.endswith("\n"):
        text += "\n"
    document = tomlkit.parse(text)
    edit(document, before)
    edited = tomlkit.dumps(document)
    edited = edited if text else edited.lstrip("\n")
    if not text.endswith("\n\n"):  # The empty line above a table outlives it.
        edited = f"{edited.rstrip(chr(10))}\n" if edited.strip() else ""
    edited = edited.replace("\n", "\r\n") if is_crlf else edited
    result = (_MARK if marked else b"") + edited.encode()
    if not is_done(parse(result, POLICY_FILE)):
        words = "the edit would not have the wanted effect"
        raise ConfigurationError(words, path=POLICY_FILE, hint="edit the file by hand")
    return result
