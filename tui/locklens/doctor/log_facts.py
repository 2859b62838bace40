"""The facts that a log tells beside its errors: the tool of each run, and the platform of the machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS, dialect_of_messages
from locklens.doctor.messages import LogFacts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from locklens.doctor.cleaning import LogLine
    from locklens.doctor.messages import RecognisedError

OS_NAMES = "linux|darwin|windows|freebsd|openbsd|netbsd|solaris|plan9|aix"
_ARCHITECTURE = "(?:amd64|arm64|386|arm|ppc64le|s390x|riscv64)(?![A-Za-z0-9])"
WRITTEN_PLATFORM = re.compile(rf"(?<![A-Za-z0-9])(?:(?:{OS_NAMES})_|(?<=/download/)(?:{OS_NAMES})/){_ARCHITECTURE}")
"""A platform, also as the end of a registry's URL has it."""
_TOOL = re.compile(r"\b(?P<tool>Terraform|OpenTofu) v(?P<version>\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[a-z0-9]{1,20})?)\b")
_IMAGE = re.compile(
    r"(?P<tool>hashicorp/terraform|opentofu/opentofu|terraform_version|tofu_version): ?\"?"
    r"(?P<version>\d{1,4}\.\d{1,4}\.\d{1,4})"
)
_ADVICE = re.compile(
    r".*uses external plugins.*|(?:terraform|tofu) init(?: -upgrade)?|https://[a-z.]{1,40}/[a-z/]{1,60}/signing/?"
)
"""Lines besides the messages that tell the tool: after an installation, it names its page about signing."""
TOOL_COMMAND = re.compile(
    r"(?:^|&& ?|; ?|[$+#>%] |\b(?:Run|RUN|cmd:|command:) )(?P<tool>terraform|tofu)(?: -\S{1,500}){0,5}"
    r" (?:init|plan|apply|validate|providers|test)(?= -| lock| mirror|\s*(?:$|[;&|]))"
)
"""A command line of either tool, in a shell's or a CI system's words, and not in a sentence."""
_EVENT_OF_TOOL = re.compile(r'"@message": ?"(?P<tool>Terraform|OpenTofu) (?P<version>\d{1,4}\.\d{1,4}\.[\w.-]{1,24})"')
_CHECKED_OUT = re.compile(
    r"(?:Checking out (?:Revision )?|HEAD is now at |\bgit checkout (?:-\S{1,20} ){0,4}| Merge (?=[0-9a-f]{40} into ))"
    r"(?P<commit>[0-9a-f]{7,40})(?=\s|$)"
)
"""How git, and the CI systems that call it, name the commit of a job; of a pull request on GitHub, that merges it."""
_MOST_COMMITS = 5
_RUNNER = re.compile(r"^Image: (?P<name>ubuntu|windows|macos)-(?P<rest>[\w.-]{1,30})$")


def with_facts(
    lines: Sequence[LogLine], errors: tuple[RecognisedError, ...]
) -> tuple[tuple[RecognisedError, ...], LogFacts]:
    """Return errors, each with the tool of its run, and what the log tells besides."""
    commands = [(line.number, line.unit, match["tool"]) for line in lines for match in TOOL_COMMAND.finditer(line.text)]
    errors = tuple(_with_tools_of_runs(lines, errors, commands))
    facts = _facts(lines, errors, {ran for _, _, ran in commands})
    return (tuple(replace(error, tool=facts.tool) for error in errors) if facts.tool else errors), facts


def _with_tools_of_runs(
    lines: Sequence[LogLine], errors: Sequence[RecognisedError], commands: Sequence[tuple[int, str, str]]
) -> Iterator[RecognisedError]:
    """Yield errors with the tool that each names, else the last command before it in its unit, else others of its run.

    Commands are lines with their units and programs.
    """
    told = {error.run: error.tool for error in errors if error.tool}
    units = {line.number: line.unit for line in lines}
    names = {tool.command: tool.name for tool in DIALECTS.values()}
    for error in errors:
        of_unit = {"", units.get(error.line, "")}
        before = (names[ran] for number, unit, ran in reversed(commands) if number <= error.line and unit in of_unit)
        yield replace(error, tool=error.tool or next(before, told.get(error.run, "")))


def _facts(lines: Sequence[LogLine], errors: Sequence[RecognisedError], named: Collection[str]) -> LogFacts:
    """Return tool, version and platform: what an error says comes first, then the last that the log says.

    Of a log with runs of both tools, by the programs that it names, neither is told: each error has that of its run,
    else its root tells its own.
    """
    tool = version = runner = ""
    platforms: dict[str, int] = {}
    commits: dict[str, None] = {}
    for line in lines:
        text = line.text
        if match := _TOOL.search(text) or _IMAGE.search(text) or _EVENT_OF_TOOL.search(text):
            tool = "opentofu" if "tofu" in match["tool"].lower() else "terraform"
            version = match["version"]
        if ("heck" in text or "HEAD" in text) and len(commits) < _MOST_COMMITS:
            commits |= {match["commit"]: None for match in _CHECKED_OUT.finditer(text)}
        if match := _RUNNER.match(text):
            runner = _runner_platform(match["name"], match["rest"])
        if text.startswith("on ") and (match := WRITTEN_PLATFORM.match(text, 3)):
            platforms[match[0]] = 1_000_000
    advice = [line.text for line in lines if _ADVICE.fullmatch(line.text)]
    commanded = [tool for tool in DIALECTS.values() if tool.command in named]
    pages = {dialect_of_messages(text) for text in advice if "signing" in text}
    if max(len(commanded), len(pages), len({error.tool for error in errors} - {""})) > 1:
        tool = version = ""
    elif not tool and errors:
        words = " ".join((*(error.text for error in errors), *advice))
        ran = dialect_of_messages(words, next(iter(commanded), None))
        tool = ran.name if ran is not None else ""
    told = [error.platform for error in errors if error.platform]
    platform = told[0] if told else max(platforms, key=lambda one: platforms[one], default=runner)
    return LogFacts(tool, version, platform, commits=tuple(commits))


def _runner_platform(name: str, rest: str) -> str:
    """Return the platform of a runner image of GitHub; "" where its name does not tell."""
    if name == "macos":
        return ""
    system = "linux" if name == "ubuntu" else "windows"
    return f"{system}_{'arm64' if rest.endswith('-arm') else 'amd64'}"
