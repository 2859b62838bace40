"""The grammar of the filter, the same on every screen.

A filter is a list of terms that must all match: plain text, `sev>=warn`, `sev:block`, a field such as `root:prod` or
`provider:aws`, or a word for a state such as `unreviewed`. A leading minus negates a term. Each screen lists the fields
and words of its rows, with one meaning wherever they are listed; any other field is shown as a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from locklens.hashes import Scheme
from locklens.review import Proof
from locklens.review.findings import SHOWN_SEVERITIES, Severity
from locklens.review.model import ChangeKind
from locklens.trust import Tier
from locklens.ui.phrases import BUMPS_IN_SHORT, CONFLICT

SEVERITY = "sev"
_SEVERITIES = {severity.value: severity for severity in SHOWN_SEVERITIES}


class Filterable(Protocol):
    """A row, as the filter sees it; each value is made when a term asks for it."""

    @property
    def text(self) -> str:
        """The text that plain terms are searched in, in lower case."""

    @property
    def severity(self) -> Severity | None:
        """The severity of its worst finding or warning."""

    def values(self, field: str) -> Iterable[str]:
        """Return the values of one of the screen's fields."""

    def has(self, word: str) -> bool:
        """Return whether one of the screen's words holds."""


class RowFacts(Struct, frozen=True):
    """What the filter looks at in a row, made beforehand; `fields` and `words` have those of the row's screen."""

    text: str
    severity: Severity | None = None
    fields: Mapping[str, Iterable[str]] = {}
    words: Collection[str] = ()

    def values(self, field: str) -> Iterable[str]:
        """Return the values of a field."""
        return self.fields.get(field, ())

    def has(self, word: str) -> bool:
        """Return whether a word holds."""
        return word in self.words


class FilterField(Struct, frozen=True):
    """A field of a screen's rows.

    Attributes:
        name: The name before the colon.
        example: A value, for the hint.
        meaning: The meaning of a term with this field, for the help.
        choices: All values; a term is the beginning of one. () for a field whose text is searched.
    """

    name: str
    example: str
    meaning: str
    choices: tuple[str, ...] = ()


ROOT = FilterField("root", "prod", "the root's path contains this")
PROVIDER = FilterField("provider", "aws", "the provider's address contains this")
RULE = FilterField("rule", "LK005", "has a finding of this rule")
SIGNER = FilterField("signer", "alice", "a name or the fingerprint of the signing key contains this")
PLATFORM = FilterField("platform", "linux_arm64", "a locked hash is known to be of this platform")
CHECK = FilterField("check", "platform", "the title or the id of the check contains this")
_KINDS = (*ChangeKind, *BUMPS_IN_SHORT.values(), CONFLICT)
KIND = FilterField("kind", "upgrade", f"of this kind: {', '.join(_KINDS)}", _KINDS)
PROOF = FilterField(
    "proof",
    "unknown",
    f"a locked hash has this proof: {', '.join(Proof)}; stale hashes may be removed ones",
    tuple(Proof),
)
TIER = FilterField("tier", "partner", f"the key has this tier: {', '.join(Tier)}", tuple(Tier))


class Grammar(Struct, frozen=True):
    """The terms of a screen.

    Attributes:
        text: What plain text is searched in, for the help.
        fields: The screen's fields, the most useful first.
        words: Its words for states, with their meanings.
        has_severity: True if its rows have findings or warnings.
    """

    text: str
    fields: tuple[FilterField, ...] = ()
    words: Mapping[str, str] = {}
    has_severity: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return (*([SEVERITY] if self.has_severity else []), *(field.name for field in self.fields))

    @property
    def hint(self) -> str:
        """The terms, with an example of each: the placeholder of the filter line."""
        severity = ["sev>=warn"] if self.has_severity else []
        fields = (f"{field.name}:{field.example}" for field in self.fields)
        return "  ".join(["text", "-text", *severity, *fields, *self.words])

    @property
    def meanings(self) -> dict[str, str]:
        """Each term with its meaning, for the help."""
        severity = {"sev>=warn": "warnings and worse; also sev:block, sev<=info, sev:ok"} if self.has_severity else {}
        fields = {f"{field.name}:{field.example}": field.meaning for field in self.fields}
        return {"text": f"in {self.text}", **severity, **fields, **self.words, "-term": "does not match the term"}


Test = Callable[[Filterable], bool]


class Filter(Struct, frozen=True):
    """A parsed filter, with a test for each term; invalid terms are ignored.

    Attributes:
        text: The filter as entered.
        problem: The first problem as a sentence; "" for a valid filter.
    """

    text: str = ""
    tests: tuple[Test, ...] = ()
    problem: str = ""

    def is_match(self, row: Filterable) -> bool:
        """True if all terms match."""
        return all(test(row) for test in self.tests)


ALL = Filter()
"""The filter that every row matches."""


def parse_filter(text: str, grammar: Grammar) -> Filter:
    """Parse a filter; never fails, see `Filter.problem`."""
    tests: list[Test] = []
    problem = ""
    for term in text.split():
        bare = term.removeprefix("-") if len(term) > 1 else term
        try:
            test = _test(bare.lower(), grammar)
        except ValueError as error:
            problem = problem or str(error)
            continue
        tests.append(_inverse(test) if bare != term else test)
    return Filter(text, tuple(tests), problem)


def _inverse(test: Test) -> Test:
    return lambda row: not test(row)


def _test(term: str, grammar: Grammar) -> Test:
    if term in grammar.words:
        return lambda row: row.has(term)
    for operator in (">=", "<=", ":", "="):
        key, separator, value = term.partition(operator)
        if separator and key in {SEVERITY, "severity"}:
            return _severity_test(operator, value) if grammar.has_severity else _field_test(key, value, grammar)
    key, colon, value = term.partition(":")
    if not colon or key in set(Scheme):
        return lambda row: term in row.text
    return _field_test(key, value, grammar)


def _severity_test(operator: str, value: str) -> Test:
    if value == "ok":
        return lambda row: row.severity is None
    severity = _SEVERITIES.get(value)
    if severity is None:
        words = f"sev is {', '.join(_SEVERITIES)} or ok"
        raise ValueError(f"{words}, not {value!r}" if value else words)
    rank = severity.rank
    if operator == ">=":
        return lambda row: row.severity is not None and row.severity.rank <= rank
    if operator == "<=":
        return lambda row: row.severity is None or row.severity.rank >= rank
    return lambda row: row.severity is severity


def _field_test(key: str, value: str, grammar: Grammar) -> Test:
    field = next((field for field in grammar.fields if field.name == key), None)
    if field is None:
        raise ValueError(f'unknown field "{key}"; fields here: {", ".join(grammar.names)}')
    if not field.choices:
        return lambda row: any(value in one.lower() for one in row.values(key))
    wanted = _begun(value, field)
    return lambda row: any(one in wanted for one in row.values(key))


def _begun(value: str, field: FilterField) -> Sequence[str]:
    """Return the choice that a value is, or else those that it is the beginning of."""
    if value in field.choices:
        return (value,)
    found = tuple(choice for choice in field.choices if choice.startswith(value))
    if not found:
        raise ValueError(f"no {field.name} begins with {value!r}: {', '.join(field.choices)}")
    return found
