"""Edits the text of a policy; comments, order and layout of everything else stay. The only user of tomlkit."""

from __future__ import annotations

import io
import tomllib
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.items import AoT, InlineTable

from locklens.errors import ConfigurationError
from locklens.policy import POLICY_FILE, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tomlkit.items import Array, Table

    from locklens.policy.model import Acceptance, Pin, Policy

_MARK = b"\xef\xbb\xbf"


def with_acceptances(data: bytes, acceptances: tuple[Acceptance, ...]) -> bytes:
    """Return a policy with acceptances added; one for the same rule and change is replaced in its place.

    The data is b"" if there is no file.

    Raises:
        ConfigurationError: The policy has a mistake.
    """
    known = {one.key for one in parse(data, POLICY_FILE).accept}
    wanted = {one.key: one for one in acceptances}

    def edit(document: Any, before: Policy, is_last: bool) -> bool:
        places: dict[tuple[str, str, str], list[int]] = {}
        for place, one in enumerate(before.accept):
            places.setdefault(one.key, []).append(place)
        own = [one for one in wanted.values() if one.key in places or (is_last and one.key not in known)]
        entries = document.get("accept")
        if own and entries is None:
            document["accept"] = entries = tomlkit.aot()
        for one in own:
            if one.key not in places:
                entries.append(_table_apart() if isinstance(entries, AoT) and entries else _table_of(entries))
            _fill(entries[places.get(one.key, [-1])[0]], one)
        for place in sorted((place for one in own for place in places.get(one.key, ())[1:]), reverse=True):
            del entries[place]
        return bool(own)

    return _edited(data, "accept", edit, lambda after: wanted.keys() <= {one.key for one in after.accept})


def _fill(table: Any, one: Acceptance) -> None:
    """Make a table that of an acceptance."""
    names = ("rule", "provider", "change", "reason", "by", "on", *(("until",) if one.until else ()))
    for name in [name for name in table if name not in names]:
        del table[name]
    table.update({name: getattr(one, name) for name in names})


def _table_of(entries: AoT | Array) -> Table | InlineTable:
    """Return a first table for the kind of array that there is."""
    return tomlkit.table() if isinstance(entries, AoT) else tomlkit.inline_table()


def with_pin(data: bytes, pin: Pin) -> bytes:
    """Return a policy with a pin, which replaces one of the same scope.

    Arguments and errors are those of `with_acceptances`.
    """
    is_known = _has_pin(parse(data, POLICY_FILE), pin)

    def edit(document: Any, before: Policy, is_last: bool) -> bool:
        if not (_has_pin(before, pin) or (is_last and not is_known)):
            return False
        table = document.get("trust")
        if table is None:
            document["trust"] = table = tomlkit.table(is_super_table=True)
        name = _spelled(table, before, pin)
        entry = table.get(name)
        if entry is None:
            is_inline = isinstance(table, InlineTable)
            table[name] = tomlkit.inline_table() if is_inline else _table_apart() if before.trust else tomlkit.table()
            entry = table[name]
        fields = {"keys": list(pin.keys), "by": pin.by, "on": pin.on, "why": pin.why, "review_by": pin.review_by}
        for field, value in fields.items():
            if value:
                entry[field] = value
            else:
                entry.pop(field, None)
        return True

    return _edited(
        data, "trust", edit, lambda after: any(one.scope == pin.scope and one.keys == pin.keys for one in after.trust)
    )


def without_pin(data: bytes, pin: Pin) -> bytes:
    """Return a policy without one of its pins. Arguments and errors are those of `with_acceptances`."""

    def edit(document: Any, before: Policy, _: bool) -> bool:
        if not _has_pin(before, pin):
            return False
        table = document["trust"]
        del table[_spelled(table, before, pin)]
        if not table:
            del document["trust"]
        return True

    return _edited(data, "trust", edit, lambda after: not _has_pin(after, pin))


def _has_pin(policy: Policy, pin: Pin) -> bool:
    return any(one.scope == pin.scope for one in policy.trust)


def _spelled(table: Any, before: Policy, pin: Pin) -> str:
    """Return the key of a pin as written in the file; the name of a new pin."""
    place = next((number for number, one in enumerate(before.trust) if one.scope == pin.scope), None)
    return pin.name if place is None else str(list(table)[place])


def _table_apart() -> Table:
    """Return a new table with an empty line above it."""
    table = tomlkit.table()
    table.trivia.indent = "\n"
    return table


def _edited(
    data: bytes, key: str, edit: Callable[[Any, Policy, bool], bool], is_done: Callable[[Policy], bool]
) -> bytes:
    """Edit the parts of the text that have a top-level key; the rest, the line ends and the byte order mark stay.

    `edit` gets a part's document, its policy and whether it is the last one, which may be a new one at the end, and
    returns True if it edited it; `is_done` is true of the policy that is wanted.
    """
    parse(data, POLICY_FILE)
    marked, is_crlf = data.startswith(_MARK), b"\r\n" in data
    text = data.removeprefix(_MARK).decode().replace("\r\n", "\n")
    if text and not text.endswith("\n"):
        text += "\n"
    spans = [(start, end) for start, end in _spans(text) if key in tomllib.loads(text[start:end])]
    gap = "\n" if text and not spans else ""
    places = spans or [(len(text), len(text))]
    for start, end in reversed(places):
        document = tomlkit.parse(text[start:end])
        if edit(document, parse(text[start:end].encode(), POLICY_FILE), (start, end) == places[-1]):
            new = tomlkit.dumps(document).rstrip("\n")  # The empty line above a table outlives it.
            text = f"{text[:start]}{gap}{new}\n{text[end:]}" if new.strip() else f"{text[:start]}{text[end:]}"
    edited = text if places[0][0] else text.lstrip("\n")
    edited = edited.replace("\n", "\r\n") if is_crlf else edited
    result = (_MARK if marked else b"") + edited.encode()
    if not is_done(parse(result, POLICY_FILE)):
        words = "the edit would not have the wanted effect"
        raise ConfigurationError(words, path=POLICY_FILE, hint="edit the file by hand")
    return result


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the tables of one top-level key that follow each other, and of what stands above all.

    The blank lines and comments above a table go with it. Tables that stand apart are edited apart, as tomlkit would
    move them together.
    """
    start, held, keys = 0, 0, frozenset[str]()
    for end in _boundaries(text):
        try:
            found = frozenset(tomllib.loads(text[held:end]))
        except tomllib.TOMLDecodeError:
            continue  # What looks like the header of a table is a line of a longer value.
        if held and (found != keys or len(keys) != 1):
            yield start, held
            start = held
        held, keys = end, found
    yield start, held


def _boundaries(text: str) -> Iterator[int]:
    """Yield where the lead of each table begins, or of what looks like one, then the end of all values, and of all."""
    lead = place = 0
    for row in io.StringIO(text):
        bare = row.strip()
        if bare.startswith("[") and lead:
            yield lead
        place += len(row)
        if bare and not bare.startswith("#"):
            lead = place
    yield from dict.fromkeys((lead, place) if lead else (place,))
