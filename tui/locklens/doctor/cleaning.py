"""A CI log as plain lines: without colours, boxes, and what a CI system puts before each line.

No prefix is known by name. The tools' own marks say where their text begins: the glyphs of a box, and "Error: " before
a known summary. What comes before them is a prefix, and lines that begin alike have it too.

The log is hostile input. Its size, lines and their lengths are bounded, and no pattern here backtracks over more than a
bounded number of characters.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from locklens.doctor.catalogue import SUMMARIES, WORDS, squeezed
from locklens.doctor.json_records import json_records

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

MOST_BYTES = 8 << 20
"""The most bytes of a log that are read: its end, since errors stop a run."""

MOST_LINES = 200_000
"""The most lines that are read: the last ones."""

LONGEST_LINE = 8_192
"""The most characters of a line that are read; the tools wrap theirs near 78, and a JSON event has less."""

_LONGEST_PACKED = 1 << 18
"""The most characters of a line that has a whole output in it, with escaped line ends."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]{0,32}[ -/]{0,8}[@-~]|\x1b[\]_][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?|\x1b[@-Z\\^]"
    r"|[\^␛]?\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m"
)
"""Control sequences, and colours whose escape character a terminal left out or replaced by its symbol."""

_BOX_END = "╵"
_BARS = "│┃╎"
_GLYPH = re.compile(f"[╷{_BARS}{_BOX_END}]")
_BAR = re.compile(f"[{_BARS}]")
_CORNER = re.compile(f"[╷{_BOX_END}]")
_FEWEST_BARRED = 3
"""Lines that have a prefix with a bar, which may be another program's box around the tool's."""

_GARBLED = {"â”‚": "│", "â•·": "╷", "â•µ": _BOX_END, "Γöé": "│", "Γò╖": "╷", "Γò╡": _BOX_END}
"""The glyphs in UTF-8 that were read as Windows-1252 or code page 437."""

_BEGIN = re.compile(r"(?:Error|Warning): (?P<summary>.{0,80})")
_OF_PROVIDER = re.compile(r"[\w.:-]{1,255}/[\w-]{1,128}/[\w-]{1,128}: ")
BY_LOCKLENS = re.compile(
    r"error: (?P<folder>[^\s:][^:]{0,500}): [\w.:*-]{1,255}/[\w*-]{1,128}(?:/[\w*-]{1,128})?"
    r"(?: v?\d[\w.+-]{0,80} for \w{1,20}_\w{1,20})?: "
)
"""How locklens begins an error about a provider, with its root relative to the top."""

_MOST_BEGINNINGS = 8
_SUMMARY_LETTERS = 12
"""Letters of a summary that are compared: a narrow log wraps the rest."""

_OF_CI = re.compile(
    r"^\S{0,40} ?##\[(?:group|endgroup|section|command|error)\]|^\S{0,40} ?section_(?:start|end):\d"
    r"|^\S{0,40} ?Running with gitlab-runner |^.{0,40}ERROR: Job failed: |^.{0,40}\[Pipeline\] "
    r"|^(?:BUILD|Finished): FAILURE$|^\[Container\] \d{4}/\d\d/\d\d |^Ran (?:Plan|Apply) for (?:dir: |project: |\d)"
    r"|^running '.{0,200}' in '\S{0,200}/\.atlantis/|^CircleCI received exit code |^Exited with code exit status \d"
    r"|^Build (?:setup|teardown) <?\d|^user command error: |^Error: Process completed with exit code \d"
    r"|^Running (?:plan|apply) in |^Preparing the remote (?:plan|apply)|^\[[0-9A-Z]{2,30}\] Unexpected exit code "
    r"|^travis_fold:|^The command \".{0,200}\" exited with \d",
    re.MULTILINE,
)
"""Lines that only systems write whose jobs run on machines of their own, also where they put nothing before others.

Those of GitLab, Jenkins, Azure Pipelines, CodeBuild, Atlantis, CircleCI, Bitbucket, Buildkite, GitHub, HCP Terraform,
Spacelift and Travis, and of the tools themselves where they run remotely.
"""

_FIELD = re.compile(r"(?P<name>\w{1,40})\"?[ \t]{0,4}[:=]\Z")
_LONGEST_FIELD = 60
_MOST_FIELDS = 8
_WIDEST = 400
"""The most columns that a terminal is taken to have."""

_POINTS = "\"'().,:;"
_NEW = re.compile(rf"^\s*[-*] |^(?:Error|Warning): |[╷{_BARS}{_BOX_END}]")
"""What begins a line of the tool."""

_ITEM = re.compile(r"(?:^|[ \t])[ \t]- ")
"""What begins an item of a list, which the tools do not wrap."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LONGEST_WORD = 40
_WITHIN = re.compile(
    r"\d\n\d|\w\n(?!\.terraform/)[./_:@][\w.]|[./_@]\n[a-z0-9]|\.\n\.|\w-\n\d|\w'\n\w|\s[\"(]\n|\n[\"})]?[,;:.?})\"](?:[\s,.?]|\Z)"
)
"""Characters on both sides of a line's end between which no text has a blank."""

_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_SHORTEST_STRING = 6
"""Characters of a string that may have the tool's marks in it."""

_ESCAPED = re.compile(r"\\(?:u(?P<four>[0-9a-fA-F]{4})|x(?P<two>[0-9a-fA-F]{2})|(?P<one>.))", re.DOTALL)
_MEANINGS = {"n": "\n", "r": "", "t": " ", "e": "\x1b"}
_DEPTH = 2
"""A log of a log: a container's JSON lines around those of the tool."""

_MOST_SHAPES = 16
"""Different prefixes that are looked for at the beginning of other lines."""

_MOST_KNOWN = 64
"""Different prefixes that are counted: each takes a pattern."""

_MOST_GUESSED = 60
_MOST_TOKENS = 24

_MOST_EXAMINED = 2_000
"""The most lines whose prefixes are counted, spread over the log."""

_LONGEST_PREFIX = 240
_TOKENS = re.compile(
    r"\[[^\]]{0,120}\]|=[^\s\"\[]{1,120}|[ \t]{1,40}|[0-9A-Za-z]{0,40}\d[0-9A-Za-z]{0,40}\+?|[A-Za-z]{1,60}|.",
    re.DOTALL,
)
_STREAMS = ("STDOUT", "STDERR", "stdout", "stderr")
"""The streams that lines of one output alternate between."""
_UNIT = re.compile(r"prefix=\[?(?P<named>[^\]\s\"]{1,200})|\[(?P<bracket>[^\]\s\"]{1,200})\]")
_NAME = re.compile(r"[^\W\d_]{3}")
"""A character that names have, and times and counters have not."""


class LogLine:
    """One cleaned line.

    Attributes:
        text: Without prefix and box.
        number: In the log, from 1.
        unit: The name in brackets in the prefix, such as Terragrunt's unit; "" if there is none.
        is_relayed: True if another program printed it: with a prefix, or in a string.
    """

    __slots__ = ("ends_box", "is_relayed", "number", "text", "unit")

    def __init__(self, text: str, number: int, *, ends_box: bool, unit: str = "", is_relayed: bool = False) -> None:
        self.text, self.number, self.ends_box, self.unit, self.is_relayed = text, number, ends_box, unit, is_relayed


def decoded_log(data: bytes) -> tuple[str, bool]:
    """Return the text of a log, and whether its beginning was left out; UTF-16 with a mark is read too."""
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "utf-8")
    text = data[-MOST_BYTES:].decode(encoding, "replace").removeprefix("\ufeff")
    is_of_returns = "\n" not in text.rstrip("\r\n")  # else progress is drawn over by them
    text = text.replace("\r", "\n") if is_of_returns else text
    return text, len(data) > MOST_BYTES or text.count("\n") >= MOST_LINES


def is_of_ci(text: str) -> bool:
    """True if a log has the marks of a CI system, which tell nothing about the lines of the tools."""
    return _OF_CI.search(text) is not None


def clean_lines(text: str, *, is_guessed: bool = False) -> list[LogLine]:
    """Return the lines of a log without decoration; at most MOST_LINES, the last ones.

    With `is_guessed`, what many lines begin with is taken for a prefix, too, where no mark of the tool follows it;
    there are no lines where there is no such prefix.
    """
    numbered = _lines(text)[-MOST_LINES:]
    at, whole_lines = _unbroken([line for _, line in numbered])
    numbers = [numbered[one - 1][0] for one in at]
    guessed = _guessed_shapes(whole_lines) if is_guessed else []
    if is_guessed and not guessed:
        return []
    fields = _fields(whole_lines)
    unpacked = [
        (number, piece, piece.strip() != whole.strip()[:_LONGEST_PACKED])
        for number, whole, line in zip(numbers, whole_lines, _unquoted(whole_lines), strict=True)
        for piece in ((line,) if '"' not in line and "\\" not in line else _unpacked(line, fields))
    ][-MOST_LINES:]
    whole = [_without_colours(piece) for _, piece, _ in unpacked]
    barred = _barred_shapes(whole)
    heads = [_split(line, None, barred)[0] for line in whole]
    bare = [line[len(head) :] for line, head in zip(whole, heads, strict=True)]
    anchors = [_anchor(line, following) for line, following in zip(bare, [*bare[1:], ""], strict=True)]
    shapes = [*_shapes(bare, anchors), *guessed]
    cleaned, unit = [], ""
    for (number, _, is_packed), head, line, anchor in zip(unpacked, heads, bare, anchors, strict=True):
        prefix, rest = ("", line) if _is_event(line) else _split(line, anchor, shapes)
        is_prefixed = (head + prefix).strip() != ""
        unit = _unit(head + prefix) if is_prefixed else unit
        cleaned.append(_cleaned(rest, number, unit, is_relayed=is_prefixed or is_packed))
    return cleaned


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of a log with their numbers, from 1; of a JSON document with the tool's text, its records."""
    records = json_records(text) if "[\n" in text or "[\r\n" in text else []
    return records if any(_has_anchor(record) for _, record in records) else [*enumerate(text.split("\n"), start=1)]


def _unbroken(lines: Sequence[str]) -> tuple[Sequence[int], Sequence[str]]:
    """Return lines with their numbers, from 1; those that a terminal broke at its width are whole again.

    A terminal breaks at its last column, within words too, and repeats neither bar nor prefix. So its width is the
    length of the longest line, if a word goes on behind one of that length.
    """
    rows = [_without_colours(line) for line in lines]
    width = max(map(len, rows))
    inside = _inside_boxes(rows) if width <= _WIDEST else frozenset()
    pairs = list(_pairs(rows, width, inside)) if width <= _WIDEST else []
    full = [pair for pair in pairs if len(pair[1]) == width]
    is_wrapped = any(len(rows[number - 1]) < width - 1 for number in inside)  # at words, by a program
    known = _known_words(rows[-_MOST_EXAMINED:], width) if full and not is_wrapped else frozenset()
    if not any(_goes_on(row, following, known, is_boxed=number in inside) for number, row, following in full if known):
        return range(1, len(lines) + 1), lines
    broken = {one for one, row, following in pairs if one in inside or _is_broken(row, following, width, known)}
    starts = [number for number in range(len(rows)) if number not in broken]
    pieces = [rows[start:end] for start, end in zip(starts, [*starts[1:], len(rows)], strict=True)]
    whole = ["".join((*(row.ljust(width) for row in piece[:-1]), piece[-1])) for piece in pieces]
    return [number + 1 for number in starts], whole


def _pairs(rows: Sequence[str], width: int, inside: Collection[int]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of a line that another may go on in, the other, and the line; a last blank may be missing."""
    prefixes = _guessed_shapes(rows)
    for number, (row, following) in enumerate(pairwise(rows), start=1):
        if len(row) < width - 1 or not following.strip() or _NEW.search(following):
            continue
        if number in inside or not any(prefix.match(following) for prefix in prefixes):
            yield number, row, following


def _inside_boxes(rows: Sequence[str]) -> frozenset[int]:
    """Return the lines without a bar that follow one with a bar, up to the next one of the box."""
    found: set[int] = set()
    start = None
    for number, row in enumerate(rows):
        if not row.isascii() and _GLYPH.search(row) is not None:
            found.update(range(start, number) if start is not None else ())
            start = number + 1 if _BAR.search(row) is not None else None
        elif not row.strip():
            start = None
    return frozenset(found)


def _known_words(rows: Sequence[str], width: int) -> frozenset[str]:
    """Return words, and what is between blanks, without what a terminal of a width may have broken."""
    found = {*WORDS, "terraform/providers"}
    first = 0
    for row in rows:
        last = -1 if len(row) == width else None
        found.update(_WORD.findall(row.lower())[first:last])
        found.update(token.strip(_POINTS) for token in row.lower().split()[first:last])
        first = 1 if len(row) == width else 0
    return frozenset(found - {""})


def _goes_on(row: str, following: str, known: frozenset[str], *, is_boxed: bool) -> bool:
    """True if a line's last word, or the blank behind it, is certainly in the following line."""
    if following[0] == " ":
        return is_boxed or row[0] != " " != following[1:2]
    if is_boxed or _ITEM.search(row) is not None:
        return _is_within(row, following, known)
    left, right = _halves(row, following)
    token = f"{row.rsplit(None, 1)[-1]}{following.split(None, 1)[0]}".strip(_POINTS).lower()
    is_whole = token in known or ("" not in {left, right} and left + right in known)
    return is_whole and not {left, right} <= known


def _is_broken(row: str, following: str, width: int, known: Collection[str]) -> bool:
    """True if a line outside a box goes on in the following one; a blank in the last column is not copied."""
    if len(row) < width:
        return following[0].islower()
    return following[0] == " " or _is_within(row, following, known)


def _is_within(row: str, following: str, known: Collection[str]) -> bool:
    """True if a line does not end where a word ends, as far as words are known."""
    left, right = _halves(row, following)
    is_between = all(word.isdigit() or word == "a" or (len(word) > 1 and word in known) for word in (left, right))
    return _WITHIN.search(f"{row[-2:]}\n{following[:12]}") is not None or ("" not in {left, right} and not is_between)


def _halves(row: str, following: str) -> tuple[str, str]:
    """Return the letters and digits before and behind a line's end, in lower case."""
    before, behind = row.lower()[-_LONGEST_WORD:], following.lower()[:_LONGEST_WORD]
    left = [word[0] for word in _WORD.finditer(before) if word.end() == len(before)]
    right = _WORD.match(behind)
    return (left[0] if left else ""), (right[0] if right is not None else "")


def _unquoted(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines; of those that follow each other in quotation marks, as in a list, each without its own."""
    items = [_item(line) for line in lines]
    for line, before, item, after in zip(lines, [None, *items], items, [*items[1:], None], strict=False):
        yield line if item is None or (before is None and after is None) else item


def _item(line: str) -> str | None:
    """Return a line without the quotation marks around its text; None where they are not around all of it."""
    text = line.rstrip(" \t\r,")
    mark = text[-1:]
    if mark not in {'"', "'"} or len(line) > LONGEST_LINE or "\\n" in line:
        return None
    head, opened, inside = text[:-1].partition(mark)
    is_field = inside.partition(mark)[2].startswith(":")
    return None if not opened or is_field or head.rstrip() == head != "" else head + _unescaped(inside)


def _without_colours(line: str) -> str:
    line = line[:LONGEST_LINE].rstrip("\r")
    if "\x1b" in line or "[" in line:
        line = _ESCAPES.sub("", line)
    if "\r" in line:  # progress is drawn over; GitLab marks its sections that way
        line = line.rpartition("\r")[2]
    if not line.isascii():
        for garbled, glyph in _GARBLED.items():
            line = line.replace(garbled, glyph)
    return line


def _unpacked(line: str, fields: Collection[str], depth: int = _DEPTH) -> Iterator[str]:
    """Yield the lines in a line: those of a quoted string that holds the tool's text, or the line itself.

    `fields` are the names of those that hold it in other lines, `depth` is how many strings in strings are opened.
    """
    if _is_event(line):
        yield line[line.index("{") :]  # it is read as such
        return
    line = line[:_LONGEST_PACKED]
    found = False
    for start, inside in _strings(line) if depth else ():
        is_escaped = len(inside) >= _SHORTEST_STRING and "\\" in inside
        if _field(line, start) in fields or (is_escaped and _has_anchor(_unescaped(inside))):
            text = f"{'' if found else _commands(line)}{_unescaped(inside)}"
            found = True
            yield from _lines_of(text, line[max(0, start - _LONGEST_PREFIX) : start], fields, depth)
    if not found and depth and _is_packed(line) and _has_anchor(line):
        found = True
        yield from _lines_of(_unescaped(line), "", fields, depth)
    if not found:
        yield line


def _commands(line: str) -> str:
    """Return lines with the folder and the command of a run, as fields beside its output name them; "" without any."""
    found = _COMMAND.finditer(line) if '"c' in line else ()
    words = {one["field"]: one["text"] or " ".join(re.findall(r'"([^"]*)"', one["list"])) for one in found}
    named = (("chdir: " if field == "chdir" else "") + _unescaped(text) for field, text in sorted(words.items()))
    return "".join(f"{text}\n" for text in named if _begin(text) is None)


_COMMAND = re.compile(
    r'"(?P<field>chdir|cmd|command)": ?'
    r'(?:"(?P<text>(?:[^"\\]|\\.){1,2000})"|\[(?P<list>(?:"[^"\\]{0,500}",? ?){1,40})\])'
)
"""The folder and the command of a task, as Ansible has them; of a list of words, one without escapes."""


_OF_TERRAFORM, _OF_OPENTOFU = '"@module":"terraform.ui"', '"@module":"tofu.ui"'
"""What each event of the tools' `-json` output has."""


def _is_event(line: str) -> bool:
    """True for a line of the tool's own `-json` output with a message, or of one of its steps."""
    at = max(line.find('"diagnostic'), line.find(_OF_TERRAFORM), line.find(_OF_OPENTOFU))
    return at >= 0 and line[at - 1] != "\\" and "{" in line[:at]


def _strings(line: str) -> Iterator[tuple[int, str]]:
    """Yield the quoted strings of a line: the place of the first quote, and what is inside, with its escapes."""
    quotes = [match.start() for match in _QUOTE.finditer(line) if match[0] == '"'] if '"' in line else []
    for start, end in zip(quotes[::2], quotes[1::2], strict=False):
        yield start, line[start + 1 : end]


def _fields(lines: Iterable[str]) -> frozenset[str]:
    """Return the names of the fields whose strings hold the tool's text."""
    names: set[str] = set()
    for line in lines:
        if '"' in line and '"diagnostic' not in line and _has_anchor(line := line[:_LONGEST_PACKED]):
            names |= {_field(line, start) for start, inside in _strings(line) if _has_anchor(inside)}
        if len(names) > _MOST_FIELDS:
            break
    return frozenset(names - {""})


def _field(line: str, at: int) -> str:
    """Return the name of the field whose string begins at a place; "" without one."""
    head = line[max(0, at - _LONGEST_FIELD) : at].rstrip(" \t")
    named = _FIELD.search(head) if head.endswith((":", "=")) else None
    return named["name"] if named is not None else ""


def _is_packed(line: str) -> bool:
    return line.count("\\n") > 1 or "\\u25" in line or ("\\n" in line and _GLYPH.search(line) is not None)


def _lines_of(text: str, head: str, fields: Collection[str], depth: int) -> Iterator[str]:
    """Yield the lines of an unescaped text; each with what comes before it where that names its unit."""
    head = head.replace('"', " ") if _UNIT.search(head) is not None else ""
    for piece in text.removesuffix("\n").split("\n"):
        for inner in _unpacked(piece, fields, depth - 1):
            yield f"{head}{inner}"


def _unescaped(text: str) -> str:
    def meant(match: re.Match[str]) -> str:
        if code := match["four"] or match["two"]:
            return chr(int(code, 16))
        return _MEANINGS.get(match["one"], match["one"])

    return _ESCAPED.sub(meant, text)


def _has_anchor(text: str) -> bool:
    """True if a text has the tool's own marks; in escaped text they may have colours around them."""
    if _GLYPH.search(text) is not None or "\\u25" in text:
        return True
    return ("Error:" in text or "Warning:" in text) and _begin(_ESCAPES.sub("", _unescaped(text))) is not None


def _begin(text: str) -> int | None:
    """Return the place of a known summary's "Error: " or "Warning: ", or of an error of locklens; None without one."""
    if "error: " in text and (own := BY_LOCKLENS.search(text)) is not None:
        return own.start()
    if "Error: " not in text and "Warning: " not in text:
        return None
    for match in islice(_BEGIN.finditer(text), _MOST_BEGINNINGS):
        letters = squeezed(match["summary"])[:_SUMMARY_LETTERS]
        if _OF_PROVIDER.match(match["summary"]):
            return match.start()
        if len(letters) > _SUMMARY_LETTERS // 3 and any(known.startswith(letters) for known in SUMMARIES):
            return match.start()
    return None


def _anchor(line: str, following: str) -> int | None:
    """Return the place where the tool's own text begins; None where neither the line nor a wrapped summary tells."""
    if not line.isascii() and (glyph := _GLYPH.search(line)) is not None:
        return glyph.start()
    return _wrapped_begin(line, following)


def _wrapped_begin(line: str, following: str) -> int | None:
    """Return the place of an error's or warning's beginning; its summary may be in the following line."""
    if "rror:" not in line and "Warning:" not in line:
        return None
    whole = line.rstrip()
    return _begin(f"{whole} {following[:_LONGEST_FIELD]}" if whole.endswith(("Error:", "Warning:")) else line)


def _barred_shapes(lines: Sequence[str]) -> list[re.Pattern[str]]:
    """Return the shapes, which several lines have, of prefixes that have a bar of their own.

    The tools draw no corner of a box after a bar, and write nothing between a bar and "Error: ".
    """
    known: set[str] = set()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        bar = _BAR.search(line) if not line.isascii() else None
        if bar is None or len(known) >= _MOST_SHAPES:
            continue
        corner = _CORNER.search(line, bar.end())
        at = corner.start() if corner is not None else bar.end() + (_wrapped_begin(line[bar.end() :], following) or 0)
        if at <= _LONGEST_PREFIX and (corner is not None or line[bar.end() : at].strip(f" \t{_BARS}")):
            known.add(_shape(_TOKENS.findall(line[:at])))
    shapes = [re.compile(shape) for shape in sorted(known)]
    return [one for one in shapes if len(list(islice(filter(one.match, lines), _FEWEST_BARRED))) == _FEWEST_BARRED]


def _shapes(lines: Sequence[str], anchors: Sequence[int | None]) -> list[re.Pattern[str]]:
    """Return the shapes of the prefixes before the tool's own text, the most frequent first.

    A line is also compared with the next one: a mark of its first line alone, such as that of an error, is not part
    of what the lines have in common.
    """
    prefixed = [(number, at) for number, at in enumerate(anchors) if at and at <= _LONGEST_PREFIX]
    counts: Counter[str] = Counter()
    for number, at in prefixed[:: 1 + len(prefixed) // _MOST_EXAMINED]:
        tokens = _TOKENS.findall(lines[number][:at])
        shape = _shape(tokens)
        if not lines[number][:at].strip(" \t-*") or (shape not in counts and len(counts) >= _MOST_KNOWN):
            continue
        counts[shape] += 1
        following = next((one for one in lines[number + 1 : number + 4] if one.strip()), "")
        if len(counts) < _MOST_KNOWN and (common := _common(tokens, following)):
            counts[common] += 1
    return [re.compile(shape) for shape, _ in counts.most_common(_MOST_SHAPES)]


def _common(tokens: Sequence[str], following: str) -> str:
    """Return the shape of the part of a prefix that the next line has too; "" where it has all of it, or none."""
    if re.match(_shape(tokens), following):
        return ""
    for length in range(len(tokens) - 1, 0, -1):
        if tokens[length - 1][-1] in " \t]:|>" and re.match(shape := _shape(tokens[:length]), following):
            return shape
    return ""


def _guessed_shapes(lines: Sequence[str]) -> list[re.Pattern[str]]:
    """Return the shapes, with something in them that counts or is in brackets, that many lines begin with."""
    filled = [line for line in lines if line.strip()]
    step = 1 + len(filled) // _MOST_GUESSED
    counts: Counter[str] = Counter()
    for number in range(0, len(filled), step):
        tokens = _TOKENS.findall(filled[number][:_LONGEST_PREFIX])[:_MOST_TOKENS]
        others = filled[number + 1 : number + 5]
        for length in range(_most_alike(tokens, others), 0, -1):
            shape = _shape(tokens[:length])
            if tokens[length - 1][-1] in " \t]:|>" and _counts(shape):
                pattern = re.compile(shape)
                if any(pattern.match(other) for other in others):
                    counts[shape] += 1
                    break
    enough = max(3, len(filled) // step // 5)
    return [re.compile(shape) for shape, count in counts.most_common(_MOST_SHAPES) if count >= enough]


def _counts(shape: str) -> bool:
    """True if something in a shape counts or is in brackets."""
    return "[0-9]" in shape or "[^\\]]" in shape


def _most_alike(tokens: Sequence[str], others: Sequence[str]) -> int:
    """Return of how many tokens a shape may be that one of the others begins with: patterns take long to compile."""
    begun = ""
    for number, token in enumerate(tokens if _counts(_shape(tokens)) else ()):
        begun += _word(token)
        pattern = re.compile(begun)
        others = [other for other in others if pattern.match(other)]
        if not others:
            return number + 1
    return len(tokens) if begun else 0


def _shape(tokens: Sequence[str]) -> str:
    """Return a pattern of a prefix: digits, values and what is in brackets may be others in the next line."""
    words = [_word(token) for token in tokens]
    if tokens and tokens[-1].isspace():
        words[-1] = r"(?:[ \t]{1,40}|$)"
    return "".join(words)


@lru_cache(maxsize=1024)
def _word(token: str) -> str:
    if token[0] == "[" and token[-1] == "]":
        return r"\[[^\]]{0,200}\]"
    if token[0] == "=" and len(token) > 1:
        return r"=[^\s\"\[]{1,200}"
    if token in _STREAMS:
        return f"(?:{'|'.join(_STREAMS)})"
    if token.isspace():
        return r"[ \t]{1,40}"
    if any(character.isdigit() for character in token):
        return r"[A-Za-z]{0,80}[0-9][0-9A-Za-z]{0,80}\+?"
    return re.escape(token)


def _split(line: str, at: int | None, shapes: Iterable[re.Pattern[str]]) -> tuple[str, str]:
    """Return the prefix of a line, and the rest; `at` is its anchor."""
    if at is None or at > _LONGEST_PREFIX:
        at = max((match.end() for shape in shapes if (match := shape.match(line))), default=0)
    return line[:at], line[at:]


def _unit(prefix: str) -> str:
    """Return the name of the unit in a prefix; "" if there is none."""
    names = [match["named"] or match["bracket"] for match in _UNIT.finditer(prefix)]
    return next(filter(_NAME.search, names), "")


def _cleaned(rest: str, number: int, unit: str, *, is_relayed: bool) -> LogLine:
    stripped = rest.strip()
    ends_box = stripped.startswith(_BOX_END)
    stripped = stripped.lstrip("╷│╵┃╎|").rstrip("│┃").strip()
    readable = stripped
    if not stripped.isprintable():
        readable = "".join(character if character.isprintable() else " " for character in stripped)
    text = readable.replace("\u2019", "'").strip()
    return LogLine(text, number, ends_box=ends_box, unit=unit, is_relayed=is_relayed)
