"""Recognises errors in a log: its blocks, the row of the catalogue for each, and the facts in its text."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import DIALECTS, dialect_of_names, dialect_of_words
from locklens.doctor.catalogue import BY_KIND, CATALOGUE, TITLES, CatalogueRow, squeezed
from locklens.doctor.cleaning import BY_LOCKLENS, LogLine, clean_lines, decoded_log, is_of_ci
from locklens.doctor.events import as_printed, message_of
from locklens.doctor.log_facts import OS_NAMES, TOOL_COMMAND, WRITTEN_PLATFORM, with_facts
from locklens.doctor.messages import (
    LOCKLENS,
    MODULE_MISSING,
    WARNINGS,
    WRAPPERS,
    FetchedModule,
    ReadLog,
    RecognisedError,
)
from locklens.doctor.reasons import reason_of_request
from locklens.doctor.redacting import redacted
from locklens.hashes import pattern_of_hashes, zh_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


MOST_ERRORS = 50
"""Different messages of one log, and folders that have one; more are one failure many times over."""

_MOST_MODULES = 500
"""Fetched modules of one run that are told apart."""

_MOST_BLOCKS = 1_000
"""Different messages that are remembered: a failing run often repeats one."""

_LINES_OF_UNIT = 4
"""Lines that a unit with an error has at least."""

_BLOCK_LINES = 60
_BLOCK_CHARACTERS = 16_384
_ENDINGS = (
    "; for more information", " To see which modules are currently", " To update the locked dependency selections",
    " All modules should specify their required_providers", " Terraform uses external plugins to integrate with",
    " OpenTofu uses external plugins to integrate with",
)  # fmt: skip
"""The beginnings of advice that the tools give after each message of a kind; what follows is not shown."""
_LONGEST_TEXT = 400
"""The most characters of a message that are shown."""

_BEGIN = re.compile(r"(?:\[\d+m)?(?:Error|Warning):(?: |\Z)|panic: ")
_ADDRESS = r"(?P<provider>[\w.:*-]{1,255}/[\w*-]{1,128}(?:/[\w*-]{1,128})?)"
"""An address as messages have it, in which a CI system may have masked secrets."""
_VERSION = r"v?(?P<version>\d{1,9}(?:\.\d{1,9}){1,3}(?:[-+][\w.+-]{0,60}[\w+-])?)"
_OF_LOCKLENS = rf"(?<![\w.:*/-]){_ADDRESS} {_VERSION} for \w{{1,20}}_\w{{1,20}}: "
"""How locklens begins what it says of a package, with its platform."""
_PROVIDERS = tuple(
    map(
        re.compile,
        (
            rf"package for {_ADDRESS} {_VERSION} (?:\(|doesn't|does not|cached)",
            rf"checksum of {_ADDRESS} {_VERSION} package",
            rf"locked provider {_ADDRESS} {_VERSION} does not match",
            rf"provider {_ADDRESS}: (?:required by|locked version selection {_VERSION} )",
            rf"has a copy of {_ADDRESS} {_VERSION} that",
            rf"Provider {_ADDRESS} {_VERSION} does not have a package",
            rf"provider {_ADDRESS} {_VERSION} is not available for",
            rf"does not have a {_ADDRESS} {_VERSION} package",
            rf"Provider \"{_ADDRESS}\" {_VERSION} is not compatible with",
            rf"[Ee]rror while (?:installing|importing) {_ADDRESS} {_VERSION}\s?(?:from|:)",
            rf"does not have a (?:provider named|package of) {_ADDRESS}",
            rf"Could not retrieve the list of available versions for provider {_ADDRESS}",
            rf"Could not resolve provider {_ADDRESS}",
            rf"could not query provider registry for {_ADDRESS}",
            rf"failed to query provider mirror \S{{1,300}} for {_ADDRESS}",
            rf"[Pp]rovider {_ADDRESS} was not found",
            rf"provider source address \"{_ADDRESS}\"",
            rf"Could not (?:download|retrieve|hash) provider {_ADDRESS}(?:@{_VERSION})?",
            rf"Failed to (?:download|authenticate) {_ADDRESS} {_VERSION} for",
            rf"[Ff]ailed to (?:find|download) {_ADDRESS} (?:in the|from its)",
            rf"^- {_ADDRESS}(?: \(|$)",
            rf"(?<![\w.:*/-]){_ADDRESS} {_VERSION} doesn't match any of",
            _OF_LOCKLENS,
            rf"^error: [^:]{{1,500}}: {_ADDRESS}: ",
            r"(?<![\w/.])(?P<provider>[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/[\w-]{1,128}/[\w-]{1,128})(?![\w/])",
        ),
    )
)  # fmt: skip
"""From the most telling to the vaguest; each number of repetitions is bounded."""

_WITHOUT_SPACES = re.compile(
    r"(?:packagefor|lockedprovider|hasacopyof|errorwhileinstalling)(?P<provider>[a-z0-9.:-]{1,255}/[a-z0-9-]{1,128}/"
    r"[a-z0-9-]{1,128}?|[a-z0-9-]{1,128}/[a-z0-9-]{1,128}?)v?(?P<version>\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[a-z0-9.]{1,40}?)?)"
    r"(?:\(|doesn't|doesnot|that|:|cached)"
)
_INSTALLING = re.compile(
    r"errorwhileinstalling(?:[a-z0-9.-]{1,255}(?::\d{1,5})?/)?[a-z0-9_*-]{1,128}/[a-z0-9_*-]{1,128}v\d{1,9}\.\d"
)
"""The beginning of the tools' own messages about packages, without white space."""
_GONE = re.compile(r"previously-\s?selected version (?P<version>\d[\w.+-]{0,80}) is")
_MIGRATED = re.compile(r"\S{1,400} => (?=\S)")
"""The old address of an entry that OpenTofu moves."""
_PLACE = re.compile(
    r"(?:existing cached package at|cached in|provider cache at|package directory: open|fork/exec|\(in|cannot search"
    r"|\bon|notes about plugin: Path:) "
    r"(?P<place>(?:[A-Za-z]:)?[\w./\\~ -]{1,300}?)(?=\)| does not| has a copy| Mode:|[:,;]| line \d|$)"
)
_HOST_NAME = r"(?<![\w.-])(?P<host>(?!v\d{1,9}\.)(?:localhost|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})(?::\d{1,5})?)"
_ANSWERING = tuple(
    map(
        re.compile,
        (
            rf"returned from (?:https?://)?{_HOST_NAME}",
            rf"{_HOST_NAME} (?:answered [1-5]\d\d|refuses the connection|did not answer|broke the connection off)",
            rf"{_HOST_NAME}: (?:bad response code|unsuccessful request)",
            rf"{_HOST_NAME}: (?:Get|Head) \"/",
            rf"(?:Get|Head|GET|HEAD|unsuccessful request to) \"?https?://{_HOST_NAME}",
            rf"https?://{_HOST_NAME}(?=\S{{0,300}}: (?:bad response|4\d\d|5\d\d))",
            rf"provider mirror (?:at )?https?://{_HOST_NAME}",
        ),
    )
)
"""The host that a request went to, which may be a mirror or a host of packages."""
_HOST = re.compile(rf"(?:could not connect to|[Tt]he host \"?|host |provider registry |registry ){_HOST_NAME}")
_LISTED = _ADDRESS.replace("?P<provider>", "?:")
_ABOUT_RUN = re.compile(
    r"^(?P<tests>\S{1,300}\.(?:tftest|tofutest)\.(?:hcl|json))\.\.\. in progress$"
    rf"|^- (?:Reusing previous version of (?P<reused>{_LISTED})(?: from|$)"
    rf"|Finding (?:latest version of )?(?P<searched>{_LISTED})"
    r"(?: versions matching(?: \"(?P<matching>[^\"]{1,300})\")?|\.\.\.)"
    rf"|Installed (?P<unsigned>{_LISTED} v\d[\w.+-]{{0,80}}) \(unauthenticated\)"
    rf"|(?:Installing|Using(?: previously-installed)?) (?P<selected>{_LISTED} v\d[\w.+-]{{0,80}}?)(?:\.\.\.|\s|$))"
)
"""A line of `init` about a provider that the root requires, or a version of it, or of `test` about one of its files."""
_FETCHES = re.compile(
    r"^Downloading (?P<source>\S{1,500})(?: (?P<version>\d[\w.+-]{0,80}))?"
    r" for (?P<call>[\w-]{1,100}(?:\.[\w-]{1,100}){0,50})\.\.\.$"
)
"""A line of `init` about a module that it fetches."""
_INSTALLS = re.compile(
    rf"^- (?P<step>Installing|Installed|Using)(?: previously-installed)? (?P<provider>{_LISTED}) v\d"
)
_BEFORE_PACKAGES = frozenset({"registry-unreachable", "query-failed", "registry-failed", "sums-unavailable"})
"""Errors of requests for versions and for what a release says: both tools make them before a line says "Installing"."""
_DEFAULT_HOSTS = frozenset(tool.default_host for tool in DIALECTS.values())
_BEGINS_RUN = re.compile(r"^Initializing (?:the backend|provider plugins|modules)")
_ENDS_STEP = re.compile(
    r"^(?:##\[\w{1,20}\]|script returned exit code|\[Pipeline\]|ERROR: Job failed|Process completed with exit code"
    r"|\[Container\] \d{4}/|(?:Terraform|OpenTofu) has been successfully initialized!|[\]})][\]}),; ]*$)"
)
"""What CI systems write behind the output of a failed step, the tools behind their warnings, and lists of lines."""
_SHELL = re.compile(
    r"^(?:[$+#>%]{1,3} ?|[^\"'=]{1,80}[$#%>❯] |(?:##\[\w{1,20}\])?Run |.{0,80}?\b(?:RUN|cmd:|command:) )(?![\d=~])"
)
"""What a shell or a CI system writes before a command, and no message before a version in a constraint."""
_MARKED = re.compile(r"^[$+#] (?!\d)")
"""What a shell writes before a command, as with `set -x`, and no message at the beginning of a line."""
_STEP = re.compile(r"^##\[group\]Run ")
_UPGRADING, _UPGRADE = "Upgrading modules...", "-upgrade"
"""What `init -upgrade` alone prints, where the root has modules, and the option."""
_BEGINNINGS = ("- ", "Initializing ", "##[", "Downloading ", _UPGRADING)
_FOLDERS = tuple(
    map(
        re.compile,
        (
            r"\b(?:terraform|tofu|locklens)\b.{0,200}?\s--?chdir[= ][\"']?(?P<folder>[^\s\"';&|]{1,500})",
            (
                r"^(?:[$+#>%]{1,3} ?|[^\"'=]{1,80}[$#%>❯] |(?:##\[group\])?Run "
                r"|.{0,80}?\bRUN (?:--\S{1,200} ){0,4}|cmd: )?"
                r"cd [\"']?(?P<folder>[^\s\"';&|]{1,500})[\"']?(?:$| ?(?:&&|;))"
            ),
            r"^(?:[^\"'=]{0,80}[\]:] )?WORKDIR [\"']?(?P<folder>[^\s\"']{0,200}/[^\s\"']{1,200})[\"']?$",
            r"^chdir: [\"']?(?P<folder>[^\s\"']{1,500})[\"']?$",
            r"^running \"[^\"]{1,500}\" in \"(?P<folder>[^\"]{1,500})\"",
            r"\bdir: [`\"]?(?P<folder>[^`\"\s]{1,500})",
            r"^working-directory: [\"']?(?P<folder>[^\"'\s]{1,500})",
            r"--(?:terragrunt-)?working-dir[= ][\"']?(?P<folder>[^\s\"';&|]{1,500})",
        ),
    )
)
"""What names the folder of the run that follows: the tool's option, a shell, Docker, Ansible and CI systems."""
_INIT = re.compile(r"\b(?:terraform|tofu)\b.{0,200}? init(?P<options>(?: -[^\s;&|]{1,500}){1,20})")
_OF_INSTALL = re.compile(r"-(?P<option>-?(?:(?:lockfile|plugin-dir)=[^\s\"']+|upgrade(?:=true)?(?=\s|$)))")
_PROVIDERS_COMMAND = re.compile(
    r"\b(?:terraform|tofu)\b.{0,200}? (?P<command>providers (?:lock|mirror)"
    r"(?: [^\s;&|<>\"'$`]{1,500}(?=[\s;&|]|$)){0,40}) ?(?:$|[;&|]|\d?>)"
)
"""A command line of `providers lock` or `providers mirror`, without what only a shell knows."""
_PROVIDERS_TITLES = {
    "providers lock": ("couldnotretrieveprovidersforlocking",),
    "providers mirror": (
        "cannotdownloadproviderrelease", "providerreleasenotavailable", "providernotavailablefailedtodownload",
        "invalidproviderpackagefailedtoauthenticate", "invalidurlforproviderrelease",
    ),
}  # fmt: skip
"""The titles of errors that one command alone has."""
_TELLING = (
    ".tftest.", ".tofutest.", "init -", "providers lock", "providers mirror", "chdir", "cd ", "running ", "dir: ",
    "working-dir", "WORKDIR ",
)  # fmt: skip
_OVERRIDES, _OVERRIDE = "Provider development overrides are in effect", re.compile(rf"(?m)^- ({_LISTED}) in \S")
_CONSTRAINT = re.compile(
    r"(?:configured version constraint|given constraints|updated version constraints) \"?"
    r"(?P<constraint>[~<>=!]{0,2} ?v?\d[\w.+-]{0,60}(?:, ?[~<>=!]{0,2} ?v?\d[\w.+-]{0,60}){0,20})"
)
_DIGESTS = re.compile(r"(?:unexpected SHA-256 hash|\(expected) (?P<digest>[0-9a-f]{64})")
_HASH = re.compile(pattern_of_hashes())


_OF_RUN = (
    "folder",
    "reused",
    "searched",
    "matching",
    "selected",
    "unsigned",
    "overridden",
    "modules",
    "tests",
    "options",
)
"""What a run tells about each of its errors."""


class _Run(Struct, frozen=True):
    """A run of the tool, as far as the lines before an error tell: its folder, and the providers that it listed.

    Attributes:
        first: The line that told the last of it.
        start: The line where it begins.
        command: That of `providers` that it is; "" for another one, or unknown.
    """

    first: int
    start: int
    folder: str = ""
    reused: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    matching: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    unsigned: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    modules: tuple[FetchedModule, ...] = ()
    tests: tuple[str, ...] = ()
    command: str = ""


class _Block(Struct, frozen=True):
    """Lines of one message, and where; `is_error` if it begins as the tools' errors do, `unit` the name before."""

    lines: tuple[str, ...]
    number: int
    is_error: bool
    places: tuple[int, ...] = ()
    unit: str = ""
    run: _Run = _Run(0, 0)
    installed: Mapping[tuple[str, str, str], int] = {}

    def is_overcome(self, error: RecognisedError) -> bool:
        """True if a later run in the folder got past the failed request of an error: one about a release, or a file."""
        step = "Installing" if error.kind in _BEFORE_PACKAGES else "Installed"
        host, _, short = error.provider.partition("/")
        name = short if host in _DEFAULT_HOSTS else error.provider
        return error.reason is not None and self.installed.get((step, self.run.folder, name), 0) > self.number

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that the lines name: that of locklens' error, the unit before each, then that of the run."""
        own = BY_LOCKLENS.match(self.lines[0])
        named = own["folder"] if own is not None else ""
        return tuple(filter(None, dict.fromkeys((named, self.unit, self.run.folder))))

    @property
    def text(self) -> str:
        """The message on one line."""
        return " ".join(line for line in self.lines if line)[:_BLOCK_CHARACTERS]


def read_log(data: bytes) -> ReadLog:
    """Return the known errors of a log and the facts in it; within the bounds of `cleaning`."""
    text, is_cut = decoded_log(data)
    lines = clean_lines(text)
    errors, overcome = _errors_in(lines)
    if not errors and (guessed := clean_lines(text, is_guessed=True)):
        lines, (errors, overcome) = guessed, _errors_in(guessed)
    begun = {error.line for error in errors}
    is_relayed = is_of_ci(text) or any(line.is_relayed and line.number in begun for line in lines)
    errors, facts = with_facts(lines, errors)
    return ReadLog(errors, facts, is_cut, overcome, is_relayed, None if errors else _other_error(lines))


def _other_error(lines: Sequence[LogLine]) -> tuple[int, str] | None:
    """Return the first error in lines, whatever it is about, with its line; None where only a CI system has one."""
    blocks = (block for block in _blocks([*as_printed(lines)]) if block.text.startswith("Error: "))
    first = next((block for block in blocks if not is_of_ci(block.text)), None)
    return (first.number, redacted(first.text[:_LONGEST_TEXT])) if first is not None else None


def _errors_in(lines: Sequence[LogLine]) -> tuple[tuple[RecognisedError, ...], tuple[RecognisedError, ...]]:
    """Return the known errors in lines, the reasons of others before their wrappers, and those that a later run passed.

    One message is an error in each folder that the log names for it: each is of a run of its own. Where a later run got
    past each of them, they are all that the log tells, and belong to both.
    """
    found: dict[tuple[str, ...], dict[tuple[str, ...], RecognisedError]] = {}
    lasting: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    known_blocks: dict[tuple[str, ...], tuple[RecognisedError, ...]] = {}
    for block in _blocks([*as_printed(lines)]):
        if block.lines not in known_blocks:
            if len(known_blocks) >= _MOST_BLOCKS:
                known_blocks.clear()
            known_blocks[block.lines] = tuple(_recognised(block))
        for error in known_blocks[block.lines]:
            own = found.setdefault(error.says, {})
            folders = block.folders or next(iter(own), ())  # what is repeated without a folder is of a known one
            if folders not in own and len(own) < MOST_ERRORS:
                own.pop((), None)
                told = {name: getattr(block.run, name) for name in _OF_RUN}
                if error.command not in {"init", LOCKLENS}:
                    told["command"] = block.run.command if block.run.command.startswith(error.command) else ""
                own[folders] = replace(error, run=block.run.start, folders=folders, **told)
                if (error.says, ()) in lasting:
                    lasting.add((error.says, folders))
            if not block.is_overcome(error):
                lasting.add((error.says, folders))
        if len(found) >= MOST_ERRORS:
            break
    every = [error for own in found.values() for error in own.values()]
    errors = tuple(error for error in every if (error.says, error.folders) in lasting)
    overcome = tuple(error for error in every if error not in errors)
    known = errors or overcome  # without the titles of errors whose reason was recognised, too
    reasons = [error for error in known if error.kind not in WRAPPERS] or known
    return tuple(sorted(reasons, key=lambda error: error.kind in WARNINGS)), overcome


def _blocks(lines: Sequence[LogLine]) -> Iterator[_Block]:
    """Yield messages, those of each unit for themselves: units that run at once print line by line."""
    units: dict[str, list[LogLine]] = {}
    for line in lines:
        units.setdefault(line.unit, []).append(line)
    if len(lines) < _LINES_OF_UNIT * len(units):
        units = {"": list(lines)}  # what is in brackets counts, and names nothing
    for unit, own in units.items():
        blocks = list(_blocks_of(own))
        runs = _runs(own, frozenset(at for block in blocks if block.is_error for at in block.places))
        installed, overridden = _installed(own, runs), _overridden(blocks, runs)
        for block in blocks:
            run = _run_at(runs, block.number)
            run = replace(run, overridden=overridden.get(run.start, ()))
            yield replace(block, unit=unit, run=run, installed=installed)


def _run_at(runs: Sequence[_Run], number: int) -> _Run:
    """Return the run that a line is of."""
    at = bisect_right(runs, number, key=lambda run: run.first)
    return runs[at - 1] if at else _Run(0, 0)


def _overridden(blocks: Iterable[_Block], runs: Sequence[_Run]) -> dict[int, tuple[str, ...]]:
    """Return the providers that the warning of `dev_overrides` names, by the line where its run begins."""
    warnings = (one for one in blocks if _OVERRIDES in one.lines[0])
    return {_run_at(runs, one.number).start: tuple(_OVERRIDE.findall("\n".join(one.lines))) for one in warnings}


def _installed(lines: Sequence[LogLine], runs: Sequence[_Run]) -> dict[tuple[str, str, str], int]:
    """Return the last line of each step, folder and provider on which a run began to install it, or had done so."""
    found = {}
    for line in lines:
        if line.text.startswith(("- Install", "- Using ")) and (match := _INSTALLS.match(line.text)):
            # One that is there is not fetched, and its later errors are of no request.
            for step in ("Installing", "Installed") if match["step"] == "Using" else (match["step"],):
                found[step, _run_at(runs, line.number).folder, match["provider"]] = line.number
    return found


def _runs(lines: Sequence[LogLine], of_errors: Collection[int]) -> list[_Run]:
    """Return the runs of the tool in lines, each from the line on that tells more about it.

    Commands in the words of an error are its advice, and did not run, unless they stand behind a shell's mark: that is
    a command after an error whose end nothing marks.
    """
    runs = [_Run(0, lines[0].number if lines else 0)]
    for at, line in enumerate(lines):
        text, last = line.text, runs[-1]
        if not text.startswith(_BEGINNINGS) and not any(word in text for word in _TELLING):
            continue
        folder = next((match["folder"] for one in _FOLDERS if (match := one.search(text))), "")
        if folder.startswith("../") and last.folder:  # from where the shell is
            folder = posixpath.normpath(f"{last.folder}/{folder}")
        ran = "" if at in of_errors and _SHELL.match(text) is None else text
        options, found = _options(ran), _PROVIDERS_COMMAND.search(ran)
        command = found["command"] if found is not None else ""
        if folder or _STEP.match(text):
            runs.append(_Run(line.number, line.number, folder, options=options, command=command))
        elif options or command:
            runs.append(_Run(line.number, line.number, last.folder, options=options, command=command))
        elif _BEGINS_RUN.match(text) and (last.reused or last.searched):
            if not text.startswith("Initializing provider plugins"):
                runs.append(_Run(line.number, line.number, last.folder))
        elif text == _UPGRADING:
            if not any(option.startswith(_UPGRADE) for option in last.options):
                runs.append(replace(last, first=line.number, options=(*last.options, _UPGRADE)))
        elif match := _FETCHES.match(text):
            if len(last.modules) < _MOST_MODULES:
                module = FetchedModule(match["call"], match["source"], match["version"] or "")
                runs.append(replace(last, first=line.number, modules=(*last.modules, module)))
        elif match := _ABOUT_RUN.match(text):
            told = {name: own for name, own in match.groupdict().items() if own is not None}
            if "searched" in told:
                told.setdefault("matching", "")
            if all(len(getattr(last, name)) < MOST_ERRORS for name in told):
                more = {name: (*getattr(last, name), own.replace(" v", " ")) for name, own in told.items()}
                runs.append(replace(last, first=line.number, **more))
    return runs


def _is_command(text: str) -> bool:
    """True if a line that a shell marked runs either tool, or changes the folder."""
    return TOOL_COMMAND.search(text) is not None or any(one.search(text) for one in _FOLDERS)


def _options(text: str) -> tuple[str, ...]:
    """Return the options of a command line of `init` that say what it installs, where from, and what it may write."""
    match = _INIT.search(text)
    return tuple(f"-{one.lstrip('-')}" for one in _OF_INSTALL.findall(match["options"])) if match is not None else ()


def _blocks_of(lines: Sequence[LogLine]) -> Iterator[_Block]:
    """Yield messages: from each "Error:" on, and the paragraphs between."""
    gathered: list[int] = []
    is_error, blank = False, 0

    def whole() -> _Block:
        texts = tuple(lines[at].text for at in gathered)
        return _Block(texts, lines[gathered[0]].number, is_error, tuple(gathered))

    for at, line in enumerate(lines):
        if (message := message_of(line)) is not None:
            texts = tuple(" ".join(one.split()) for one in message[:_BLOCK_CHARACTERS].split("\n"))
            yield _Block(texts, line.number, is_error=True, places=(at,))
            continue
        is_own = BY_LOCKLENS.match(line.text) is not None  # a line of its own
        begins = is_own or _BEGIN.match(line.text) is not None
        is_after = _BEGINS_RUN.match(line.text) or _ENDS_STEP.match(line.text)  # of the next run, as after a retry
        if is_error and (is_after or (_MARKED.match(line.text) and _is_command(line.text))):
            yield whole()
            gathered, is_error = [], False
        ends = not line.text and (blank if is_error else True)
        if begins or ends or len(gathered) >= _BLOCK_LINES:
            if gathered:
                yield whole()
            gathered, is_error = [], begins
        if line.text:
            gathered.append(at)
        blank = 0 if line.text else blank + 1
        if (line.ends_box or is_own) and gathered:
            yield whole()
            gathered, is_error = [], False
    if gathered:
        yield whole()


def _recognised(block: _Block) -> Iterator[RecognisedError]:
    whole = squeezed(block.text)
    is_of_locklens = BY_LOCKLENS.match(block.text) is not None
    is_own = is_of_locklens or any(title in whole for title in TITLES) or _INSTALLING.search(whole) is not None
    titled = (one for one, titles in _PROVIDERS_TITLES.items() if any(title in whole for title in titles))
    command = LOCKLENS if is_of_locklens else next(titled, "init")
    tool = dialect_of_words(block.text) or dialect_of_names(block.text)
    items = [item for item in _items(block) if _row_of(squeezed(item), is_own=is_own) is not None]
    told = WRITTEN_PLATFORM.search(block.text.partition("- ")[0]) if items else None  # before the items, of each
    platform = told[0].replace("/", "_") if told else ""
    for text in items or [block.text]:
        row = _row_of(squeezed(text), is_own=is_own)
        if row is None and is_of_locklens and reason_of_request(text) is not None:
            row = BY_KIND["registry-failed"]  # of a request that failed, it says no more than the reason
        if row is not None:
            own = "" if row.kind == MODULE_MISSING else command
            name = tool.name if tool is not None else ""
            errors = _errors(text, row, block.number)
            yield from (replace(e, command=own, tool=name, platform=e.platform or platform) for e in errors)


def _row_of(tight: str, *, is_own: bool) -> CatalogueRow | None:
    """Return the first row of the catalogue with a phrase in squeezed text."""
    return next((row for row in CATALOGUE if (is_own or not row.is_weak) and _has_phrase(tight, row)), None)


def _items(block: _Block) -> Iterator[str]:
    """Yield the items of a message's list, such as one provider each, which begin with a dash."""
    gathered: list[str] = []
    for line in block.lines:
        if line.startswith(("- ", "* ")):
            if gathered:
                yield " ".join(gathered)
            gathered = [line]
        elif gathered:
            gathered.append(line)
    if gathered:
        yield " ".join(gathered)[:_BLOCK_CHARACTERS]


def _errors(text: str, row: CatalogueRow, number: int) -> Iterator[RecognisedError]:
    """Yield an error for each provider of a message."""
    tight = squeezed(text)
    names = _names(text, tight)
    shown = text
    for end in _ENDINGS:
        shown = shown.partition(end)[0]
    place = _PLACE.search(shown)
    shown = redacted(shown.removeprefix("- "))
    shown = shown if len(shown) <= _LONGEST_TEXT else f"{shown[: _LONGEST_TEXT - 3].rstrip()}..."
    own = re.search(_OF_LOCKLENS, text)
    platform = WRITTEN_PLATFORM.search(text, own.start() if own is not None else 0)
    constraint = _CONSTRAINT.search(text)
    host = next((match for one in _ANSWERING if (match := one.search(text))), None) or _HOST.search(text)
    hashes = tuple(dict.fromkeys(_HASH.findall("".join(text.split()) if not _HASH.search(text) else text)))
    if row.kind == "sums-differ":
        hashes = tuple(zh_of(match["digest"]) for match in _DIGESTS.finditer(text)) or hashes
    for provider, version in names:
        yield RecognisedError(
            row.kind,
            shown,
            provider,
            version,
            platform[0].replace("/", "_") if platform else "",
            redacted(place["place"].strip()) if place else "",
            host["host"] if host else "",
            reason_of_request(text),
            hashes,
            number,
            constraint=" ".join(constraint["constraint"].split()) if constraint else "",
        )


def _has_phrase(tight: str, row: CatalogueRow) -> bool:
    for pieces in row.phrases:
        at = 0
        for piece in pieces:
            at = tight.find(piece, at)
            if at < 0:
                break
            at += len(piece)
        else:
            return True
    return False


def _names(text: str, tight: str) -> list[tuple[str, str]]:
    """Return the providers of a message with their versions; one pair of empty texts where it has none."""
    found: dict[str, str] = {}
    text = _MIGRATED.sub(" ", text)
    for pattern in _PROVIDERS:
        for match in pattern.finditer(text):
            provider = match["provider"].rstrip(":.")
            end = "/" if provider.count("/") == 1 else r"\w"  # without its host, or with the end of a broken one
            if any(re.search(f"{end}{re.escape(provider)}\\Z", known) for known in found):
                continue
            version = match.groupdict().get("version") or ""
            found[provider] = found.get(provider) or version
        if found and all(found.values()):
            break
    if not any(name.count("/") == 2 for name in found):
        bare = {match["provider"]: match["version"] for match in _WITHOUT_SPACES.finditer(tight)}
        whole = {name: version for name, version in bare.items() if name.count("/") == 2}
        found = whole or found or bare
    full = {name.partition("/")[2] for name in found if name.count("/") == 2}
    pairs = [(name, version) for name, version in found.items() if name.count("/") == 2 or name not in full]
    if (gone := _GONE.search(text)) and len(pairs) == 1:
        pairs = [(pairs[0][0], gone["version"])]
    pairs = [(name, version or _version_in_path(text, name)) for name, version in pairs]
    return pairs[:MOST_ERRORS] or [("", "")]


def _version_in_path(text: str, provider: str) -> str:
    """Return the version of a provider in the path of its package, HOST/NAMESPACE/TYPE/VERSION/OS_ARCH; "" for none."""
    below = r"[/\\]".join(map(re.escape, provider.split("/")))
    found = re.search(rf"[/\\]{below}[/\\](?P<version>\d[\w.+-]{{0,80}})[/\\](?:{OS_NAMES})_", text)
    return found["version"] if found else ""
