"""Edits of a policy stand apart from what was there, by one empty line."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from locklens.policy import parse, parts_of_pin_name
from locklens.policy.editing import with_acceptances, with_pin, without_pin
from locklens.policy.model import Acceptance, Pin

ACCEPTANCES = [
    Acceptance(rule, "registry.terraform.io/acme/demo", "0123456789abcdef" * 2, "asked", by="Ann", on=date(2026, 11, 1))
    for rule in ("LK001", "LK010")
]
PINS = [Pin(name, keys=("1B673F155E471E8C4D4F644A6EF31C7EB267ED69",)) for name in ("acme", "corp")]


@pytest.mark.parametrize("text", [b"", b"cooldown = 7\n", b'[platforms]\nlinux_amd64 = "CI"\n'])
def test_each_decision_stands_apart_by_one_empty_line(text: bytes) -> None:
    data = text
    for acceptance in ACCEPTANCES:
        data = with_acceptances(data, (acceptance,))
    for pin in PINS:
        data = with_pin(data, pin)
    assert data.startswith(text)
    assert not data.startswith(b"\n")
    for head in (b"[[accept]]", b'[trust."acme"]', b'[trust."corp"]', b"[trust.acme]", b"[trust.corp]"):
        before = data.split(head)
        for part in before[:-1]:
            assert part == b"" or (part.endswith(b"\n\n") and not part.endswith(b"\n\n\n")), data.decode()


def test_a_pin_of_one_host_stands_beside_the_pin_of_every_host() -> None:
    pins = Pin("acme", keys=("A" * 40,)), Pin("acme", "registry.example.com", ("B" * 40,))
    data = b""
    for pin in pins:
        data = with_pin(data, pin)
    assert {one.scope: one.keys for one in parse(data, "p").trust} == {one.scope: one.keys for one in pins}
    assert [parts_of_pin_name(pin.name) for pin in pins] == [(None, "acme"), ("registry.example.com", "acme")]
    assert [one.scope for one in parse(without_pin(data, pins[0]), "p").trust] == [pins[1].scope]


def test_an_acceptance_that_is_made_again_stays_where_it_is() -> None:
    data = with_acceptances(b"# ours\ncooldown = 7\n", tuple(ACCEPTANCES))
    first = ACCEPTANCES[0]
    assert with_acceptances(data, (first,)) == data
    assert with_acceptances(data, (replace(first, reason="again"),)) == data.replace(b'"asked"', b'"again"', 1)
    limited = with_acceptances(data, (replace(first, until=date(2027, 1, 1)),))
    assert with_acceptances(limited, (first,)) == data


@pytest.mark.parametrize(
    "text", [b"cooldown = 7\n", b'[platforms]\nlinux_amd64 = "CI"\n', b"# ours\ncooldown = 7\n\n# the end\n"]
)
def test_a_pin_that_is_dropped_again_leaves_the_bytes_as_they_were(text: bytes) -> None:
    one, both = with_pin(text, PINS[0]), with_pin(with_pin(text, PINS[0]), PINS[1])
    assert without_pin(one, PINS[0]) == text
    assert without_pin(both, PINS[1]) == one
    assert without_pin(without_pin(both, PINS[0]), PINS[1]) == text


def test_tables_that_stand_apart_stay_where_they_are() -> None:
    first, last = (with_pin(b"", pin).decode() for pin in PINS)
    accepted = with_acceptances(b"", (ACCEPTANCES[0],)).decode()
    text = f"# ours\ncooldown = 7\n\n{first}\n{accepted}\n# of the data team\n{last}\n# the end\n".encode()
    assert with_pin(without_pin(text, PINS[0]), PINS[1]) == text.replace(f"{first}\n".encode(), b"")
    assert without_pin(text, PINS[1]) == text.replace(last.encode(), b"")
    changed = with_pin(text, replace(PINS[0], why="phoned"))
    assert changed == text.replace(first.encode(), f'{first}why = "phoned"\n'.encode())
    added = with_acceptances(text, (ACCEPTANCES[1],)).decode()
    assert added.replace(with_acceptances(b"", (ACCEPTANCES[1],)).decode() + "\n", "") == text.decode()


@pytest.mark.parametrize(
    "text", [b"trust = {}\n", b'trust = {acme = {keys = ["1B673F155E471E8C4D4F644A6EF31C7EB267ED69"]}}\n']
)
def test_a_pin_is_added_to_an_inline_table(text: bytes) -> None:
    added = with_pin(text, PINS[1])
    assert PINS[1].scope in {one.scope for one in parse(added, "p").trust}
    assert added.startswith(b"trust = {")


def test_a_line_of_a_value_that_looks_like_a_header_ends_no_table() -> None:
    text = b'[platforms]\nlinux_amd64 = """\\\n[trust.acme]"""\n'
    added = with_pin(text, PINS[1])
    assert added.startswith(text)
    assert without_pin(added, PINS[1]) == text
