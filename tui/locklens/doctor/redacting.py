"""Text without secrets, as far as their shape tells them, and without the names of home folders.

No list of known tokens is complete, so the shape decides: what a URL has besides its host and path, the value after a
name such as `..._TOKEN=`, the value of a header or an option, a block of a key, and long runs of characters that are no
words. Hashes of packages, ids of commits, fingerprints, versions, addresses and paths stay. A secret that looks like
words or like a hash, and that nothing names, stays too: no shape tells it apart.

A text is redacted before it is wrapped, fenced or escaped; a mark is not redacted again. `shareable` does so for each
text of a diagnosis, before any report shows it.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from locklens.doctor.model import Cause, Diagnosis, Remedy, RemedyWrite

REMOVED = "[removed]"
"""The text that replaces a secret."""

_LONGEST = 4096
_FEWEST = 20
"""Characters of the shortest run that is judged by its looks alone."""

_COUNTED = 10
"""Characters in words of mixed classes that make a run a secret."""

_TOKEN = r"(?:[^\s\"'`<>]|[\"'`](?=\w))"  # noqa: S105 - a pattern
"""A character of a value without white space; a quote counts inside of a word alone."""

_VALUE = rf"(?:\\?\"[^\"]{{0,{_LONGEST}}}\"|'[^']{{0,{_LONGEST}}}'|`[^`]{{0,{_LONGEST}}}`|{_TOKEN}+)"
_CLOSING = r")\]}>.,;:!\"'`\\"
_ASSIGNED = r"[\"'`\]\\]{0,3}\s{0,3}(?:=>|:=|={1,2}|:)\s{0,3}(?:[\[(](?!removed\]))?"

_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z0-9 ]{1,60}-----.*?(?:-----END [A-Z0-9 ]{1,60}-----|\Z)", re.DOTALL)
_HEADER = re.compile(
    r"(?P<kept>(?i:\b(?:proxy-)?authorization|\b(?:set-)?cookie2?|\bx-[a-z-]{0,40}(?:key|token|auth|secret|signature|session|api)"
    rf"[a-z-]{{0,40}}){_ASSIGNED})"
    rf"(?P<value>\\?\"[^\"]{{1,{_LONGEST}}}\"|'[^']{{1,{_LONGEST}}}'"
    rf"|(?:(?i:basic|bearer|digest|negotiate|ntlm|token|aws4?-?[\w-]{{0,20}}|[a-z][a-z0-9_-]{{0,20}})\s{{1,3}})?{_TOKEN}+"
    rf"(?:(?<=[;,])\s{{0,8}}{_TOKEN}+){{0,200}})"
)
_URL = re.compile(
    r"(?P<quote>[\"'`])?(?P<scheme>(?<![\w+.-])[A-Za-z][\w+.-]{0,20}://)"
    rf"(?P<rest>(?(quote)[^\"'`<>]{{0,{_LONGEST}}}(?=(?P=quote)(?!\w))|(?!))"
    # Of a log that was wrapped: the rest of a password, and the pieces of a query.
    rf"|[^\s/@:?#]{{0,256}}:(?!\d{{1,5}}(?:[/\s?#]|$)){_TOKEN}{{1,256}}\s{{1,8}}[^\s@\"'`<>]{{0,256}}@{_TOKEN}*"
    rf"|[^\s?#\"'`<>]{{0,{_LONGEST}}}[?#]{_TOKEN}*(?:\s{{1,8}}(?=[^\s\"'`<>]{{0,{_LONGEST}}}[&=%]){_TOKEN}+){{0,100}}"
    rf"|{_TOKEN}+)"
)
_PORT = re.compile(r"[^:]*:\d{1,5}")
_HOST = re.compile(
    r"(?:localhost|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?=[:/?#]|$)"
)
_LOGIN = re.compile(
    rf"(?P<kept>(?i:\blogin)\s{{1,3}}){_TOKEN}{{1,256}}(?P<word>\s{{1,3}}(?i:password)\s{{1,3}}){_TOKEN}+"
)
_OPTION = re.compile(
    r"(?P<kept>(?<![\w-])(?:--?(?i:(?:[a-z0-9]{1,20}[-_]){0,4}(?:[a-z0-9]{0,20}(?:token|secret|passw|pwd|credential|cookie)|key|pass|"
    rf"auth|session|jwt|sas|sig|signature|apikey)[\w-]{{0,40}}))(?:\s{{1,3}}|=)(?!-))(?P<value>{_VALUE})|"
    rf"(?P<user>(?<![\w-])(?:-u|--user|--proxy-user)(?:\s{{1,3}}|=))(?P<login>[\"']?[^\s:/]{{1,128}}:{_TOKEN}+)"
)
_TELLING = (
    r"(?:token|secret|passw(?:or)?d|passwd|passphrase|pwd|jwt|bearer|"
    r"(?:api|access|private|account|shared|encryption|client|license|subscription|master|storage|ssh)[-_. ]?key)"
)
_NAMED = re.compile(rf"(?P<kept>(?i:{_TELLING})[\w.-]{{0,80}}{_ASSIGNED})(?P<value>{_VALUE})")
_HINTED = re.compile(
    r"(?P<kept>(?:(?:(?<![A-Za-z])|(?<=o))(?i:key|auth|pass|sig|signature|sas|credential|cookie|session|login)|"
    r"(?<=[a-z])(?:Key|Auth|Pass|Sig|Signature|Credential|Cookie|Session)|KEY|AUTH|PASS|SIGNATURE|CREDENTIAL|COOKIE|SESSION)"
    rf"(?:s|Id|ID|\d{{1,4}})?(?:[-_.][\w.-]{{0,80}})?(?P<sign>{_ASSIGNED}))(?P<value>{_VALUE})"
)
_SPOKEN = re.compile(
    r"(?P<kept>(?i:bearer\s{1,3}(?=[\w.~+/=-]{8})|(?:"
    rf"{_TELLING}|credential)[\w-]{{0,80}}\s{{1,3}}(?:is\s{{1,3}})?(?=[^\s/.]{{0,200}}\d)(?=[^\s/.]{{0,200}}[a-z])(?=[^\s/]{{8}})))"
    rf"(?P<value>{_VALUE})"
)
_QUOTED = re.compile(
    rf"(?P<kept>(?i:{_TELLING})\s{{1,3}}(?:is|was)\s{{1,3}})(?P<value>\\?\"[^\"]{{1,256}}\"|'[^']{{1,256}}'|`[^`]{{1,256}}`)"
)
_REF = re.compile(r"ref=[A-Za-z0-9._/-]{1,60}")
"""The whole query of a module in git."""

_VARIABLE = re.compile(r"(?:(?i:bearer) )?\$(?:TF_TOKEN_[a-z0-9_]{1,255}|TOKEN)[\"']?")
"""The name of a variable in the place of a token, as the commands of fixes have it: it tells nothing."""

_MAIL = re.compile(r"(?<![\w.+-])(?!git@)[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}(?![\w-])")
_WITH_LOGIN = re.compile(
    rf"(?<![^\s\"'`(=<,\[])(?P<login>[^\s\"'`(<@:/\\]{{1,128}}:(?!//){_TOKEN}{{1,1024}}@)(?P<host>[\w\[]{_TOKEN}*)"
)
_NO_LOGIN = re.compile(r"sha\d{3}:|v?\d+(?:\.\d+){0,2}(?:[-+].*)?$")
_ISSUED = re.compile(
    r"\b(?:gh[pousr]_|github_pat_|gl(?:pat|cbt|dt|rt|ptt|ft|soat|imt|agent|ffct)-|xox[a-z]-|xapp-|sk-|sk_|rk_|hv[sbr]\.|npm_|"
    r"ya29\.|AIza|pypi-|dckr_[a-z]{2,4}_|AKIA|ASIA|eyJ|SG\.|dop_v1_|shp[a-z]{2}_)[\w.~+/=-]{8,4096}"
    r"|\b\w{10,20}\.atlasv1\.[\w-]{8,255}"
)
_RUN = re.compile(rf"(?P<host>://[^\s/\"'`?#<>]+)|[A-Za-z0-9+/=_~.%-]{{{_FEWEST},}}")
_FOLDER_NAME = r"(?:[^\s\\/:\"'`<>|]{1,64}(?: [^\s\\/:\"'`<>|]{1,64}){0,2}(?=\\)|[^\s\\/:\"'`<>|,;)\]]{1,64})"
_HOMES = re.compile(
    r"(?<![\w.~-])(?:"
    r"(?:/(?:usr|export|var|data|private|Volumes/[\w-]{1,64}|System/Volumes/Data|mnt/[a-z]|cygdrive/[a-z]|[a-z]))?"
    rf"/(?:home|homes|Users|(?i:Documents and Settings))/+{_FOLDER_NAME}"
    rf"|/var/lib/{_FOLDER_NAME}|/(?:var/)?root(?=[/\s\"':`),;.]|$)|"
    rf"(?:[A-Za-z]:|\\{{2,4}}[^\s\\/\"']{{1,255}})[\\/]{{1,4}}"
    rf"(?i:Users|home|homes|profiles|Documents and Settings)\$?[\\/]{{1,4}}{_FOLDER_NAME}|"
    r"(?<![/\\])~[A-Za-z_][\w.-]{0,63}(?![\w.-]))"
)

_KNOWN = re.compile(
    r"(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-F]{40}|[0-9A-F]{64}"
    r"|v?\d{1,9}(?:\.\d{1,9}){1,3}(?:-(?:\d{14}-[0-9a-f]{12}|[0-9A-Za-z.]{1,20}))?(?:\+[0-9A-Za-z.]{1,40})?)[.,=%-]*"
)
"""Runs that reports are for: ids of commits, digests, fingerprints, versions."""

_FILE = re.compile(
    r"(?:[\w.@+-]{1,64}/){0,30}(?:\.terraform\.lock\.hcl|[\w-]{1,64}\.(?:tf|tofu)(?:\.json)?)(?::\d{1,9})?"
)
_FILE_NAME = re.compile(r"\.(?:tf|tofu|hcl)(?:\.json)?:$")
_LINE = re.compile(r"\d{1,9}(?!\w)")
"""Files of the configuration, and lines of them: names such as `auth.tf` and `secrets/` announce no value."""

_ALGORITHMS = frozenset({"EdDSA"})
"""Words with capitals inside that come after "signature:"."""

_HASH = re.compile(r"(?:h1:[A-Za-z0-9+/]{1,43}=?|zh:[0-9a-f]{1,64})(?![A-Za-z0-9+/])")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_WORDS = re.compile(r"[A-Za-z0-9]+")
_SWITCH = re.compile(r"(?<=[a-z])[A-Z]|(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d")
_HUMP = re.compile(r"[A-Z][a-z]{2,}")
_TERM = re.compile(
    r"(?i:amd64|arm64(?:v8)?|s390x?|ppc64(?:le)?|x86|x64|i[36]86|sha\d{1,3}sums?|\d{8}t\d{4,9}z?|[a-z]{1,3}\d[a-z])"
)


@lru_cache(maxsize=1024)
def redacted(text: str, *, home: str = "") -> str:
    """Return text with a mark for each secret, and `~` for home folders.

    The text is of one value: a message, a path, a sentence; never a line of Markdown. `home` is the user's, "" for
    none; homes of Linux, macOS and Windows are recognised by their place. Cached, since three of four texts of a
    diagnosis are another one of it again: a root, a provider, "".
    """
    text = _KEY_BLOCK.sub(REMOVED, text)
    text = _URL.sub(_url, text)
    text = _HEADER.sub(_marked, text)
    text = _LOGIN.sub(lambda match: f"{match['kept']}{REMOVED}{match['word']}{REMOVED}", text)
    text = _OPTION.sub(_option, text)
    text = _NAMED.sub(_marked, text)
    text = _HINTED.sub(_hinted, text)
    text = _QUOTED.sub(_marked, text)
    text = _SPOKEN.sub(_marked, text)
    text = _WITH_LOGIN.sub(_login, text)
    text = _ISSUED.sub(REMOVED, text)
    text = _MAIL.sub(REMOVED, text)
    return _RUN.sub(_run, without_homes(text, home))


def without_homes(text: str, home: str = "") -> str:
    """Return text with `~` for home folders; see `redacted`."""
    if len(home) > 1:
        spelled = {home, home.replace("\\", "\\\\"), home.replace("\\", "/")}
        for one in sorted(spelled, key=len, reverse=True):
            text = re.sub(rf"(?<![\w.-]){re.escape(one.rstrip('/'))}(?![\w-]|\.\w)", "~", text)
    return _HOMES.sub("~", text)


def _marked(match: re.Match[str]) -> str:
    """Return the name as it is, and a mark for the value, between its quotes and before what closes the sentence."""
    kept, value = match["kept"], match["value"]
    if _FILE.fullmatch(value.rstrip(_CLOSING)) or (_FILE_NAME.search(kept) and _LINE.match(value)):
        return match[0]
    if _VARIABLE.fullmatch(value):
        return match[0]
    quotes = len(value) - len(value.lstrip("\\\"'`"))
    if value.startswith(REMOVED, quotes) and not value[quotes + len(REMOVED) :].strip(_CLOSING):
        return match[0]
    ending = _ending(value)
    return f"{kept}{value[:quotes]}{REMOVED}{ending}" if len(ending) < len(value) else match[0]


def _ending(value: str) -> str:
    """Return what closes a sentence or a bracket after a value; the bracket of a mark does not."""
    return value[len(value.replace(REMOVED, "x" * len(REMOVED)).rstrip(_CLOSING)) :]


def _option(match: re.Match[str]) -> str:
    if match["user"]:
        return f"{match['user']}{REMOVED}"
    return _marked(match)


def _hinted(match: re.Match[str]) -> str:
    """A name that is a usual word as well: after a colon and a space, a word or a fingerprint is not a secret."""
    value = match["value"].strip("\\\"'`()[]{}<>.,;:!")
    is_prose = match["sign"].endswith(" ") and "=" not in match["sign"]
    is_word = value.isalpha() and (not _switches(value) or value in _ALGORITHMS)
    if is_prose and (is_word or not value or _is_known(value)):
        return match[0]
    return _marked(match)


def _is_known(value: str) -> bool:
    return bool(_KNOWN.fullmatch(value) or re.fullmatch(r"(?:0x)?[0-9A-F]{8,64}|\d{1,3}", value) or _HASH.match(value))


def _login(match: re.Match[str]) -> str:
    if "://" in match["login"] or _NO_LOGIN.match(match["host"]):
        return match[0]
    return f"{REMOVED}@{match['host']}"


def _url(match: re.Match[str]) -> str:
    """Return a URL without user, password, query and fragment; the name of a branch or tag of a module stays."""
    rest = match["rest"]
    start = f"{match['quote'] or ''}{match['scheme']}"
    end = _end_of_login(rest)
    if end:
        user = "git" if rest[:end] == "git@" else REMOVED
        start, rest = f"{start}{user}@", rest[end:]
    place = re.search(r"[?#]", rest)
    head = rest if place is None else rest[: place.start()]
    name, colon, word = head.partition("/")[0].partition(":")
    if colon and not end and not word.startswith((*"0123456789", "[")) and word.strip(_CLOSING) and "[" not in name:
        # The beginning of a password whose end is not there.
        return f"{start}{name}:{REMOVED}"
    if place is None:
        return f"{start}{rest}"
    query = rest[place.end() :]
    if query.startswith(REMOVED):
        return f"{start}{rest}"
    ending = _ending(query)
    if place[0] == "?" and _REF.fullmatch(query.removesuffix(ending)):
        return f"{start}{rest}"
    return f"{start}{head}{place[0]}{REMOVED}{ending}" if len(ending) < len(query) else f"{start}{rest}"


def _end_of_login(rest: str) -> int:
    """Return where the host of a URL begins; 0 where nothing comes before it. A password may have any character."""
    at = rest.rfind("@")
    if at < 0:
        return 0
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        # A further sign after the host is part of its path, unless no host comes after the first.
        first = authority.rindex("@")
        return first + 1 if _HOST.match(rest, first + 1) or first == at else at + 1
    if ":" in authority and not _PORT.fullmatch(authority):
        return at + 1
    before_query = re.split(r"[?#]", rest, maxsplit=1)[0]
    at = before_query.rfind("@")
    is_login = at >= 0 and (":" in authority or not _HOST.match(authority)) and _HOST.match(rest, at + 1)
    return at + 1 if is_login else 0


def _run(match: re.Match[str]) -> str:
    run, start = match[0], match.start()
    if match["host"]:
        return run
    if _HASH.match(match.string, max(0, start - 3)) and match.string[max(0, start - 3) : start] in {"h1:", "zh:"}:
        return run
    if _KNOWN.fullmatch(run):
        return run
    if "/" not in run:
        return REMOVED if _is_random(run) else run
    parts = [REMOVED if len(part) >= _FEWEST and not _KNOWN.fullmatch(part) and _is_random(part) else part
             for part in run.split("/")]  # fmt: skip
    # The alphabet of base64 has a slash: of a path, most words are words.
    if REMOVED not in parts and 3 * _mixed(run) >= 2 * sum(map(str.isalnum, run)):
        return REMOVED
    return "/".join(parts)


def _is_random(run: str) -> bool:
    return _mixed(run) >= _COUNTED or _UUID.search(run) is not None


def _mixed(run: str) -> int:
    """Return the number of characters in words that change between letters, capitals and digits more than words do."""
    return sum(len(word) for word in _WORDS.findall(run) if _is_mixed(word))


def _is_mixed(word: str) -> bool:
    return _switches(word) > 1 and not _TERM.fullmatch(word) and 10 * sum(map(len, _HUMP.findall(word))) < 7 * len(word)


def _switches(word: str) -> int:
    return len(_SWITCH.findall(word))


LEFT_OUT = "left out: it has a secret or the name of a home folder"
"""The text that replaces a command which cannot be run without the secret that was removed from it."""


def shareable(diagnosis: Diagnosis, *, home: str = "") -> Diagnosis:
    """Return a diagnosis whose texts are redacted; commands that are not whole without a secret are "".

    What its remedies write is kept, and no report shows it. For `home` see `redacted`.
    """
    safe: Diagnosis = _safe(diagnosis, home)
    return safe


def _safe(value: Any, home: str) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return redacted(value, home=home)
    if isinstance(value, tuple):
        return tuple(_safe(one, home) for one in value)
    if not isinstance(value, Struct):
        return value
    changes = {name: _safe(getattr(value, name), home) for name in value.__struct_fields__}
    if isinstance(value, Cause | Remedy):
        changes["command"] = _runnable(value.command, home)
    if isinstance(value, Remedy):
        write: RemedyWrite | None = value.write
        is_left_out = bool(value.command and not changes["command"])
        changes |= {"write": write, "hint": _runnable(value.hint, home), "is_left_out": is_left_out}
    return replace(value, **changes)


def _runnable(command: str, home: str) -> str:
    """Return a command line that means the same where secrets and home folders are removed; "" if there is none."""
    words = command.split(" ")
    if len(home) > 1:
        words = [f"~{word.removeprefix(home)}" if word.startswith(f"{home}/") else word for word in words]
    short = " ".join(words)
    safe = redacted(short, home=home)
    return safe if safe == short and REMOVED not in safe else ""
