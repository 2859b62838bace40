"""A recorded error is recognised whatever stands before its lines, and however they were wrapped or packed."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap

import pytest
from doctor.recording import HOST, RECORDED
from kit.effort import DIAGONAL, effort, some
from msgspec.structs import replace

from locklens.demo.incidents import boxed_log
from locklens.doctor.cleaning import clean_lines
from locklens.doctor.messages import ReadLog, RecognisedError
from locklens.doctor.recognising import read_log

LOGS = sorted(RECORDED.glob("*.log"))
SEEDS = range(effort(60, 2000))
STEP = effort(9, 1)
"""Every which recorded log is read at one width: with the widths of a sample, each is at two of them or more."""
WHILE = "Error while installing acme/demo v1.4.2: the current package for registry.terraform.io/acme/demo 1.4.2"
MISMATCH = "Failed to install provider", f"{WHILE} doesn't match any of the checksums previously recorded"

CONFLICT = (
    "Failed to query available provider packages",
    (
        "Could not retrieve the list of available versions for provider acme/demo: locked provider "
        "registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.4, < 1.4.2, != 1.4.1, != 1.4.0; must use "
        "terraform init -upgrade to allow selection of new versions"
    ),
)


def told(errors: tuple[RecognisedError, ...]) -> list[tuple[str, str, str]]:
    return [(error.kind, error.provider, error.version) for error in errors]


KNOWN: dict[str, Callable[[int], str]] = {
    "buildkit": lambda n: f"#15 {14 + n / 7:.2f} ",
    "buildkit at the end": lambda n: f"{14 + n / 7:.3f} ",
    "buildkit with its step": lambda n: " > [build 3/5] RUN terraform init -input=false: ",
    "codebuild": lambda n: f"[Container] 2026/11/23 08:12:{n % 60:02}.{n:06} ",
    "kubectl": lambda n: "[pod/terraform-7d9f8-x2x9k/main] ",
    "terragrunt's old log": lambda n: f"time=2026-11-23T08:12:{n % 60:02}Z level=error prefix=[live/certs] msg=",
    "set -x": lambda n: "+ ",
    "a quoted mail": lambda n: "> > ",
    "syslog": lambda n: f"Nov {n % 28 + 1:2} 08:12:{n % 60:02} runner-7 ci[{1000 + n}]: ",
    "azure": lambda n: f"2026-11-23T08:12:{n % 60:02}.{n:07}Z ##[error]",
    "compose": lambda n: "terraform-1  | ",
    "lost glyphs": lambda n: "? ",
    "a program's own bars": lambda n: f"│ runner@bld-07 22:10:{n % 60:02}.000 stdout> ",
    "a stage's bar": lambda n: "┃ ",
    "a bar behind the time": lambda n: f"22:10:{n % 60:02} │ terraform │ ",
    "go's log": lambda n: f"E1123 08:12:{n % 60:02}.{n:06}       1 run.go:72] ",
}


@pytest.mark.parametrize("how", KNOWN)
@pytest.mark.parametrize("is_boxed", [True, False], ids=["boxed", "plain"])
def test_prefixes_that_are_met(how: str, *, is_boxed: bool) -> None:
    log = boxed_log(MISMATCH)
    if not is_boxed:
        log = "\n".join(line.strip("╷│╵ ") for line in log.splitlines())
    lines = [f"{KNOWN[how](n)}{line}" for n, line in enumerate(log.splitlines())]
    assert told(read_log("\n".join(lines).encode()).errors) == [
        ("current-package", "registry.terraform.io/acme/demo", "1.4.2")
    ]


PACKED: dict[str, Callable[[str], str]] = {
    "ansible": lambda log: "fatal: [web1]: FAILED! => " + json.dumps(
        {"changed": True, "cmd": ["terraform", "init"], "rc": 1, "stderr": log, "stderr_lines": log.split("\n")}
    ),
    "ansible, verbose": lambda log: "fatal: [web1]: FAILED! => " + json.dumps(
        {"cmd": ["terraform", "init"], "invocation": {"module_args": {"chdir": "/srv/live/prod"}}, "rc": 1, "stderr": log,
         "stderr_lines": log.split("\n"), "stdout": "", "stdout_lines": []}
    ),
    "ansible in unicode": lambda log: "fatal: [web1]: FAILED! => " + json.dumps({"stderr": log}, ensure_ascii=False),
    "a message": lambda log: f"time=2026-11-23T08:12:05Z level=error prefix=[live/certs] msg={json.dumps(log, ensure_ascii=False)}",
    "a container's log": lambda log: "\n".join(
        json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2026-11-23T08:12:05Z"}) for line in log.split("\n")
    ),
    "a message for each line": lambda log: "\n".join(f'level=error msg="{line}"' for line in log.split("\n")),
    "a field for each line": lambda log: "\n".join(json.dumps({"level": "error", "msg": line}) for line in log.split("\n")),
    "a field beside an empty one": lambda log: "\n".join(json.dumps({"msg": "", "@message": line}) for line in log.split("\n")),
    "a list of lines": lambda log: 'ok: [web1] => {\n    "init.stderr_lines": [\n' + ",\n".join(
        f"        {json.dumps(line)}" for line in log.split("\n")
    ) + "\n    ]\n}\n",
    "a list of lines behind a time": lambda log: "\n".join(
        f"2026-11-23T08:12:{n % 60:02}Z     {json.dumps(line, ensure_ascii=False)}," for n, line in enumerate(log.split("\n"))
    ),
    "lines in single marks": lambda log: "\n".join(f"'{line}'" for line in log.split("\n")),
    "carriage returns": lambda log: log.replace("\n", "\r"),
    "a log in a log": lambda log: json.dumps({"log": json.dumps({"message": log}) + "\n"}),
}  # fmt: skip


@DIAGONAL
@pytest.mark.parametrize("how", PACKED)
@pytest.mark.parametrize("look", ["boxed", "coloured", "plain"])
@pytest.mark.parametrize("message", [MISMATCH, CONFLICT], ids=["mismatch", "conflict"])
def test_whole_outputs_in_one_line(how: str, look: str, message: tuple[str, str]) -> None:
    log = boxed_log(message)
    alone = read_log(log.encode()).errors
    if look == "coloured":
        log = "\n".join(f"\x1b[31m{line[:1]}\x1b[0m\x1b[0m{line[1:]}" for line in log.splitlines())
    elif look == "plain":
        log = "\n".join(line.strip("╷│╵ ") for line in log.splitlines())
    packed = PACKED[how](log)
    # Beside the lists of the same lines, the command of a run stands before its output, and not within it.
    assert [line.text for line in clean_lines(packed)].count("terraform init") == packed.count('["terraform", "init"]')
    errors = read_log(packed.encode()).errors
    assert [(error.says, error.text) for error in errors] == [(error.says, error.text) for error in alone]
    assert {error.options for error in errors} == {()}, "the message's words are no command that ran"


@pytest.mark.parametrize("is_newest_first", [False, True])
@pytest.mark.parametrize("form", ["cloudwatch", "grafana", "google", "azure", "datadog"])
def test_documents_that_are_printed_over_several_lines(form: str, *, is_newest_first: bool) -> None:
    log = ["$ terraform -chdir=live/prod init", "Initializing the backend...", "", *boxed_log(CONFLICT).splitlines()]
    times = [1_764_565_200_000_000_000 + number for number in range(len(log))]
    stamps = [f"2026-12-01T05:12:00.{number:09d}Z" for number in range(len(log))]
    forms: dict[str, list[dict[str, object]]] = {
        "cloudwatch": [
            {"timestamp": t, "message": text, "ingestionTime": 1} for t, text in zip(times, log, strict=True)
        ],
        "grafana": [
            {"line": text, "timestamp": str(t), "fields": {"pod": "runner-0"}}
            for t, text in zip(times, log, strict=True)
        ],
        "google": [
            {"insertId": "a", "textPayload": f'Step #2 - "init": {text}', "timestamp": t}
            for t, text in zip(stamps, log, strict=True)
        ],
        "azure": [{"LogEntry": text, "time": t} for t, text in zip(stamps, log, strict=True)],
        "datadog": [
            {"id": "a", "attributes": {"message": text, "tags": ["env:ci"]}, "timestamp": t}
            for t, text in zip(stamps, log, strict=True)
        ],
    }
    records = forms[form][::-1] if is_newest_first else forms[form]
    document = {"nextToken": "f/1", "events": records} if form == "cloudwatch" else records
    (alone,) = read_log("\n".join(log).encode()).errors
    whole = json.dumps(document, indent=4)
    texts = [whole, json.dumps(document, indent=2), f"$ print-the-log\n{whole}\n", whole.replace("\n", "\r\n")]
    for text in (*texts, *(() if is_newest_first else (whole[: whole.rindex("{")],))):
        (error,) = read_log(text.encode()).errors
        assert (error.says, error.folders) == (alone.says, ("live/prod",)), text[:200]
    (error,) = read_log(whole.encode()).errors
    record = "\n".join(whole.splitlines()[error.line - 1 :]).partition("}")[0]
    assert is_newest_first or "Error: " in record or "\\u2577" in record


def test_commands_in_an_error_are_its_advice_and_not_those_that_ran() -> None:
    init, upgrade = "terraform init -input=false", "terraform init -upgrade -input=false"

    def options(log: str) -> list[tuple[str, ...]]:
        return [error.options for error in read_log(log.encode()).errors]

    boxed = boxed_log(CONFLICT)
    plain = "\n".join(line.strip("╷│╵ ") for line in boxed.splitlines())
    of_other = boxed_log((CONFLICT[0], CONFLICT[1].replace("acme/demo", "acme/other")))
    assert options(f"$ {init}\n{boxed}\n{of_other}\n") == [(), ()]
    assert options(f"$ {init}\n{plain}\n$ {upgrade}\n{of_other}\n") == [(), ("-upgrade",)]
    assert options(f"+ {init}\n{plain}\n+ cd live && {upgrade}\n{of_other}\n") == [(), ("-upgrade",)]
    tasks: dict[str, dict[str, object]] = {
        command: {"command": f"/usr/bin/{command}", "msg": boxed} for command in (init, upgrade)
    }
    tasks["cd"] = {"cmd": upgrade.split(), "stderr": boxed}
    told = [options(f"fatal: [web1]: FAILED! => {json.dumps(task)}") for task in tasks.values()]
    assert told == [[()], [("-upgrade",)], [("-upgrade",)]]


EVENT = {
    "@level": "error",
    "@message": f"Error: {MISMATCH[0]}",
    "@module": "terraform.ui",
    "diagnostic": {"severity": "error", "summary": MISMATCH[0], "detail": MISMATCH[1]},
    "type": "diagnostic",
}


@pytest.mark.parametrize(
    "log",
    [
        json.dumps(EVENT),
        json.dumps(EVENT, separators=(",", ":")),
        f"2026-11-23T08:12:05Z {json.dumps(EVENT)}",
        json.dumps({"log": f"{json.dumps(EVENT)}\n", "stream": "stdout"}),
        json.dumps({**EVENT, "@message": f"Error: {' '.join(MISMATCH)}", "diagnostic": {"severity": "error"}}),
        "\n".join(json.dumps({"msg": line}) for line in ("", f"Error: {MISMATCH[0]}", "", *wrap(MISMATCH[1], 70), "")),
        "\n".join(
            f'level=error msg="{line}"' for line in ("", f"Error: {MISMATCH[0]}", "", *wrap(MISMATCH[1], 70), "")
        ),
    ],
)
def test_what_is_shown_of_a_message_in_json_is_the_message_alone(log: str) -> None:
    (error,) = read_log(log.encode()).errors
    words = error.text.removeprefix("Error: ").removeprefix(MISMATCH[0]).strip()
    assert words == MISMATCH[1]


def drawn_prefix(dice: random.Random) -> Callable[[int], str]:
    """Returns a prefix of random parts: some of them are the same for each line, some count."""
    word = "".join(dice.choices(string.ascii_letters, k=dice.randint(2, 9)))
    base = dice.randint(0, 5000)
    parts: list[Callable[[int], str]] = [
        lambda n: f"2026-11-{n % 28 + 1:02}T08:12:{n % 60:02}.{n:03}Z",
        lambda n: f"{n % 24:02}:{n % 60:02}:{(7 * n) % 60:02}",
        lambda n: f"#{base}",
        lambda n: f"{base + n}.{n % 100:02}",
        lambda n: f"[{word}/{base}]",
        lambda n: word,
        lambda n: f"{word}={base + n}",
        lambda n: f"{word}:",
        lambda n: f"{n:x}{word}{n}",
        lambda n: ">",
        lambda n: "|",
        lambda n: "│",
        lambda n: f"┃ {word}>",
        lambda n: f"<{word}>",
        lambda n: f"({n})",
        lambda n: "+",
        lambda n: f"[{base + n}.{n % 10}s]",
        lambda n: f"[req-{base + n:x}beef]",
    ]
    chosen = dice.sample(parts, dice.randint(1, 4))
    return lambda n: "".join(f"{part(n)} " for part in chosen)


def boxed(log: str) -> str:
    """Returns a recorded log as a terminal shows it: without colours, each message in a box."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", log).rstrip("\n").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith(("Error: ", "Warning: "))]
    if any("│" in line for line in lines):
        return "\n".join(lines)
    shown = lines[: starts[0]]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        shown += ["╷", *(f"│ {line}" for line in lines[start:end]), "╵"]
    return "\n".join(shown)


def copied(log: str, width: int) -> str:
    """Returns what is copied of a terminal: lines are broken at its last column, and blanks at their ends are gone."""
    rows = [line[at : at + width] for line in log.split("\n") for at in range(0, max(1, len(line)), width)]
    return "\n".join(row.rstrip() for row in rows)


@pytest.mark.parametrize("width", some(range(50, 141), 4))
def test_a_terminal_that_broke_the_lines_of_a_box(width: int) -> None:
    for path in LOGS[width % STEP :: STEP]:
        log = boxed(path.read_text("utf-8").partition("\n")[2])
        whole, read = read_log(log.encode()), read_log(copied(log, width).encode())
        if "lock-syntax" in path.name or "readonly" in path.name or "read-only" in path.name:
            assert told(read.errors) == told(whole.errors)  # the only full line ends with the beginning of a word
            continue
        assert facts(read) == facts(whole), path.name


def facts(read: ReadLog) -> tuple[object, ...]:
    """Returns what was read but the words, their places, and the constraints, whose line may be broken."""
    return read.facts, [replace(error, text="", line=0, run=0, matching=()) for error in read.errors]


@pytest.mark.parametrize("width", [56, 60, 63, 72, 80, 99, 120])
@pytest.mark.parametrize("before", [lambda n: "", KNOWN["azure"], KNOWN["compose"]], ids=["bare", "time", "name"])
def test_no_provider_is_invented_from_the_end_of_an_address(before: Callable[[int], str], width: int) -> None:
    item = (
        f"  - {HOST}/hashicorp/random: the cached package for {HOST}/hashicorp/random 3.7.2 (in .terraform/providers)"
    )
    lines = [
        "╷",
        "│ Error: Required plugins are not installed",
        "│",
        f"│ {item} does not match any of the checksums recorded",
        "╵",
    ]
    log = copied("\n".join(f"{before(n)}{line}" for n, line in enumerate(lines)), width)
    (error,) = read_log(log.encode()).errors
    assert told((error,)) == [("cached-package", f"{HOST}/hashicorp/random", "3.7.2")]
    assert error.place == ".terraform/providers"
    assert item.removeprefix("  - ") in error.text


def test_lines_that_a_program_wrapped_at_words_are_not_joined_within_them() -> None:
    for width in range(50, 141):
        log = "\n".join(piece for line in boxed_log(MISMATCH).split("\n") for piece in wrap(line, width) or [""])
        assert MISMATCH[1] in read_log(log.encode()).errors[0].text, width


def disguised(log: str, dice: random.Random) -> bytes:
    """Returns a log as some other program would hand it on."""
    lines = log.split("\n")
    prefix = drawn_prefix(dice)
    wraps = dice.choice(["none", "before", "after", "terminal"])
    if wraps == "terminal":
        lines = boxed(log).split("\n")
        lines = [f"{prefix(n)}{line}" for n, line in enumerate(lines)] if dice.random() < 0.5 else lines
        return copied("\n".join(lines), dice.randint(60, 140)).encode()
    width = dice.randint(60, 140)
    if wraps == "before":
        lines = [piece for line in lines for piece in wrap(line, width, break_long_words=False) or [""]]
    if dice.random() < 0.3:
        lines = [line.replace("│", "\x1b[31m│\x1b[0m").replace("Error:", "\x1b[1mError:\x1b[0m") for line in lines]
    packing = dice.random()
    if packing < 0.15:
        return (prefix(1) + json.dumps({"msg": "\n".join(lines)}, ensure_ascii=dice.random() < 0.5)).encode()
    lines = [f"{prefix(n)}{line}" for n, line in enumerate(lines)]
    if wraps == "after":
        lines = [piece for line in lines for piece in wrap(line, width, break_long_words=False) or [""]]
    if dice.random() < 0.3:
        lines = [line.rstrip() for line in lines]
    return ("\r\n" if dice.random() < 0.3 else "\n").join(lines).encode()


@pytest.mark.parametrize("seed", SEEDS)
def test_any_prefix_and_any_wrapping(seed: int) -> None:
    dice = random.Random(seed)
    log = dice.choice(LOGS).read_text("utf-8")
    log = log.partition("\n")[2]  # the command that made it
    assert told(read_log(disguised(log, dice)).errors) == told(read_log(log.encode()).errors)


def test_a_unit_is_named_by_the_prefix() -> None:
    lines = boxed_log(MISMATCH).splitlines()
    other = boxed_log((MISMATCH[0], MISMATCH[1].replace("acme/demo", "acme/netbox"))).splitlines()
    mixed = [
        f"10:11:12.{n:03} STDERR [{unit}] terraform: {line}"
        for n, pair in enumerate(zip(lines, other, strict=True))
        for unit, line in zip(("core/terraform", "templates/certs/terraform"), pair, strict=True)
    ]
    errors = read_log("\n".join(mixed).encode()).errors
    assert [(error.provider.rpartition("/")[2], error.folders) for error in errors] == [
        ("demo", ("core/terraform",)), ("netbox", ("templates/certs/terraform",)),
    ]  # fmt: skip


def test_the_data_is_there() -> None:
    assert len(LOGS) > 40
    assert isinstance(RECORDED, Path)
