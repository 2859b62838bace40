"""The dialog of a few one-line fields, its forms (an acceptance, a pin, an export), and what their fields take.

`today` is in UTC; `asks_name` is true if git does not know who decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from locklens.addresses import Platform
from locklens.lines import Line, Role, Span, line
from locklens.review.reports import severity_span
from locklens.review.rules.catalogue import wording_of
from locklens.text import counted, listing
from locklens.ui.dialogs import Dialog, DialogKey
from locklens.ui.widgets import Bar, BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from textual.widget import Widget

    from locklens.operations.write.seen_keys import SeenKey, SeenKeys
    from locklens.review.findings import Finding

_MOST_CHARACTERS = 400
"""Limit of a field: reasons are sentences, and a pasted file is none."""


@dataclass(frozen=True)
class Field:
    """A field of a form: `label` is the question; `problem_of` returns what is wrong with a text, "" for none."""

    name: str
    label: str
    problem_of: Callable[[str], str]
    initial: str = ""


_FIELD_ROWS = 2
"""Rows of a field: its label and its text."""

Answers = dict[str, str]
"""The text of each field by its name, without spaces around it."""


class FormDialog(Dialog[Answers | None]):
    """Asks for the fields, at least one; enter goes to the next one, and on the last closes the dialog. Writes nothing.

    `facts` are lines about the subject of the decision, `verb` is the action after the last field, and `start` the name
    of the field that is focused first, "" for the first one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Cancel", show=False),
        Binding("down", "app.focus_next", "Next field", show=False),
        Binding("up", "app.focus_previous", "Previous field", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
    ]

    def __init__(
        self, title: str, facts: Sequence[Line], fields: Sequence[Field], *, verb: str = "preview", start: str = ""
    ) -> None:
        super().__init__()
        self._start = start
        self._verb = verb
        self._title = title
        self._facts = tuple(facts)
        self._fields = tuple(fields)

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys of a field."""
        return (
            DialogKey("enter", f"next field, then {self._verb}" if len(self._fields) > 1 else self._verb),
            DialogKey("esc", "cancel", "close"),
            DialogKey("pgup pgdn", "page"),
        )

    def body(self) -> Iterable[Widget]:
        """Return the facts, and the fields with their labels."""
        yield from super().body()
        for field in self._fields:
            yield Bar(id=f"label-{field.name}")
            yield Input(field.initial, id=f"field-{field.name}", compact=True, max_length=_MOST_CHARACTERS)

    def on_mount(self) -> None:
        """Show the texts, and focus the first field."""
        self.show_title(self._title)
        view = self.view
        view.can_focus = False
        view.show_lines(self._facts)
        for field in self._fields:
            label = Piece(f" {field.label}", Role.HEADING)
            self.query_one(f"#label-{field.name}", Bar).show_layouts(BarLayout((label,)))
        self._input(next((field for field in self._fields if field.name == self._start), self._fields[0])).focus()

    def on_resize(self) -> None:
        """Leave the terminal's rows to the fields first: what the facts have no room for is scrolled to."""
        self._leave_fields()

    def say(self, message: str, role: Role = Role.INFO) -> None:
        """Show a message above the keys; "" hides it."""
        super().say(message, role)
        self._leave_fields()

    def _leave_fields(self) -> None:
        self.leave_rows(_FIELD_ROWS * len(self._fields))

    def action_page(self, by: int) -> None:
        """Scroll the facts."""
        self.view.action_page(by)

    def _input(self, field: Field) -> Input:
        return self.query_one(f"#field-{field.name}", Input)

    @on(Input.Changed)
    def _forget_problem(self) -> None:
        self.say("")

    @on(Input.Submitted)
    def _go_on(self, event: Input.Submitted) -> None:
        """Go to the next field, or close the dialog with all of them; stay at the first problem."""
        number = next(index for index, field in enumerate(self._fields) if self._input(field) is event.input)
        is_last = number == len(self._fields) - 1
        for field in self._fields if is_last else self._fields[number : number + 1]:
            problem = field.problem_of(self._input(field).value.strip())
            if problem:
                self.say(problem, Role.WARN)
                self._input(field).focus()
                return
        if is_last:
            self.dismiss({field.name: self._input(field).value.strip() for field in self._fields})
        else:
            self._input(self._fields[number + 1]).focus()


_DIGITS = 8
"""The digits of a fingerprint that are typed: enough to have looked at another source, as `gpg --fingerprint`."""


def accept_form(name: str, findings: Sequence[Finding], today: date, *, asks_name: bool = False) -> FormDialog:
    """Return the form that asks which findings are accepted, why, and until when.

    `name` is the provider, for the title; of the findings of its change, at least one, the worst is the first.
    """
    rules = list(dict.fromkeys(finding.rule for finding in findings))
    facts = [
        line(severity_span(one.severity, width=6), Span(f"{rule}  ", Role.STRONG), wording_of(one).title, hanging=15)
        for rule in rules
        for one in [next(finding for finding in findings if finding.rule == rule)]
    ]
    facts.append(line(Span("Accepts only this change; the Preview says when it counts.", Role.DIM)))
    chosen = Field("rules", "findings to accept", partial(rules_problem, rules=rules), rules[0])
    return FormDialog(
        f"Accept a finding about {name}",
        facts,
        (*([chosen] if len(rules) > 1 else []), _REASON, *_name(is_asked=asks_name), _until("expires on", today)),
        start="reason",
    )


def trust_form(seen: SeenKeys, today: date, *, asks_name: bool = False) -> FormDialog:
    """Return the form that asks for the last digits of the keys to pin, why, and when to review the pin."""
    is_one, name = len(seen.keys) == 1, seen.covering.name
    facts = [fact for one in seen.keys for fact in _key_facts(one)]
    facts += [line(Span("not signed by these  ", Role.WARN), one.words, hanging=21) for one in seen.others]
    each = "it" if is_one else "each"
    facts.append(
        line(Span(f"Compare {each} with what the publisher publishes somewhere other than the registry.", Role.DIM))
    )
    digits = Field(
        "digits",
        f"last {_DIGITS} digits of {'the fingerprint' if is_one else 'each key to pin'}, once you have compared all 40",
        partial(digits_problem, fingerprints=seen.pinnable),
    )
    fields = (digits, _REASON, *_name(is_asked=asks_name), _until("review the pin on", today))
    return FormDialog(f"Pin {name} to {'this key' if is_one else 'some of these keys'}", facts, fields)


def _key_facts(seen: SeenKey) -> Iterator[Line]:
    """Yield what is known of a key of a namespace: its fingerprint, the name that it claims, and what it signs."""
    yield line(Span("key  ", Role.DIM), seen.fingerprint, hanging=5, copied=seen.fingerprint)
    states = [Span(f"  {seen.pinned}", Role.DIM)] if seen.pinned else []
    if seen.expired_on:
        states.append(Span(f"  EXPIRED {seen.expired_on}", Role.WARN))
    yield line("     ", seen.name, *states, hanging=5)
    if seen.obstacle is not None:
        yield line(Span(f"     cannot be pinned: {seen.obstacle.words}", Role.BLOCK), hanging=5)
    yield line(Span(f"     {seen.signs}", Role.DIM), hanging=5)


_PLATFORMS_ASKED = 16
"""At most in one form: Go itself has some 50, and each is a download for each provider."""


def platforms_form(locked: Mapping[str, int], usual: Collection[str], entries: int, policy: str = "") -> FormDialog:
    """Return the form that asks for which platforms entries are locked.

    `locked` has for how many of the entries each platform is known to have an `h1`, `usual` are the platforms that an
    entry of the same lock files has an `h1` of. `entries` is their number, 0 where no provider is locked yet, and
    `policy` the file of the policy that applies, "" without one.
    """
    counts = {platform: f"{'known of ' if number < entries else ''}{number}" for platform, number in locked.items()}
    known = listing([f"{platform} ({count} of {entries})" for platform, count in counts.items()])
    required = f"{policy} requires no platforms" if policy else "no policy applies"
    facts = (
        line(
            Span("h1 locked for  ", Role.DIM),
            (known or "platforms unknown on this screen") if entries else "none yet",
            hanging=15,
        ),
        line(Span(f"Name the platforms here: {required}.", Role.DIM)),
    )
    lacking = sorted(platform for platform in usual if locked.get(platform, 0) < entries)
    label = "platforms to lock, such as linux_amd64 darwin_arm64"
    field = Field("platforms", label, platforms_problem, " ".join(lacking))
    title = f"Lock more platforms of {counted(entries, 'entry', 'entries')}" if entries else "Lock what is required"
    return FormDialog(title, facts, (field,))


def _name(*, is_asked: bool) -> tuple[Field, ...]:
    label = "your name (git has none: git config user.name sets it)"
    return (Field("by", label, name_problem),) if is_asked else ()


def _until(label: str, today: date) -> Field:
    return Field("until", f"{label} (YYYY-MM-DD, optional)", partial(date_problem, today=today))


def reason_problem(text: str) -> str:
    """Return what is wrong with a reason; "" for a valid one."""
    if not text:
        return "a reason is needed"
    return "" if text.isprintable() else "the reason must be one line of printable characters"


_REASON = Field("reason", "reason (required, saved in locklens.toml)", reason_problem)


def name_problem(text: str) -> str:
    """Return what is wrong with the name of who decides; "" for a valid one."""
    if not text:
        return "a name is needed: it is saved with the decision"
    return "" if text.isprintable() else "the name must be one line of printable characters"


def date_problem(text: str, *, today: date) -> str:
    """Return what is wrong with a date; "" for a valid one, or none."""
    try:
        day = read_date(text)
    except ValueError:
        return "no date: write it as YYYY-MM-DD"
    return f"{day} has passed" if day is not None and day < today else ""


def digits_problem(text: str, *, fingerprints: Sequence[str]) -> str:
    """Return what is wrong with the typed ends of fingerprints; "" where each is that of one key."""
    ends = _typed_ends(text)
    if not ends or len(ends[-1]) < _DIGITS:
        return f"type {_DIGITS} digits" + (" of each key to pin" if len(fingerprints) > 1 else "")
    if strange := next((end for end in ends if not keys_with_ends(end, fingerprints)), ""):
        key = "a key listed here" if len(fingerprints) > 1 else "the key"
        return f"{strange} are not the last digits of {key}: compare them again"
    return "type the digits of each key once" if len({*ends}) < len(ends) else ""


def _typed_ends(text: str) -> list[str]:
    typed = "".join(text.split()).upper()
    return [typed[start : start + _DIGITS] for start in range(0, len(typed), _DIGITS)]


def keys_with_ends(text: str, fingerprints: Sequence[str]) -> tuple[str, ...]:
    """Return the fingerprints whose last digits were typed, in any order."""
    ends = _typed_ends(text)
    return tuple(one for one in fingerprints if one[-_DIGITS:].upper() in ends)


def rules_problem(text: str, *, rules: Sequence[str]) -> str:
    """Return what is wrong with the named findings; "" for some of those that there are."""
    named = read_rules(text)
    unknown = [rule for rule in named if rule not in rules]
    if unknown or not named:
        return f"{f'no finding {unknown[0]}' if unknown else 'name a finding'}: there are {listing(list(rules))}"
    return ""


def read_rules(text: str) -> tuple[str, ...]:
    """Return the rules that a text names, by commas or spaces."""
    return tuple(dict.fromkeys(text.upper().replace(",", " ").split()))


def platforms_problem(text: str) -> str:
    """Return what is wrong with the named platforms; "" for at least one."""
    try:
        platforms = read_platforms(text)
    except ValueError as error:
        return str(error)
    if len(platforms) > _PLATFORMS_ASKED:
        return f"at most {_PLATFORMS_ASKED} platforms at once"
    odd = next((one for one in platforms if one.meant), None)
    if odd is not None:
        return f"no release has packages for {odd}: {odd.meant}"
    return "" if platforms else "name a platform, such as linux_amd64"


def read_platforms(text: str) -> tuple[Platform, ...]:
    """Return the platforms that a text names, by commas or spaces; raises ValueError if one of them is none."""
    return tuple(dict.fromkeys(map(Platform.parse, text.replace(",", " ").split())))


def read_date(text: str) -> date | None:
    """Return a date, None for an empty text; raises ValueError for one that is no date."""
    return date.fromisoformat(text) if text else None


def until_of(answers: Answers) -> date | None:
    """Return the date of a form's answers."""
    return read_date(answers["until"])


def today_utc() -> date:
    """Return the date, as policies count days."""
    return datetime.now(UTC).date()


class ExportDialog(Dialog[Path | None]):
    """Asks for the file name of a report; an existing file needs a second enter. Writes nothing itself.

    `form` is the report's format, as shown in the title.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Cancel", show=False)]
    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("enter", "write"), DialogKey("esc", "cancel", "close"))
    FRAME = "-small"

    def __init__(self, form: str, suggestion: str) -> None:
        super().__init__()
        self._form = form
        self._suggestion = suggestion
        self._confirmed = ""

    def body(self) -> Iterable[Widget]:
        """Return the input."""
        yield Input(self._suggestion, id="export-path")

    def on_mount(self) -> None:
        """Show the title."""
        self.show_title(f"Export {self._form} to")
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _path_changed(self, event: Input.Changed) -> None:
        if event.value != self._confirmed:
            self._confirmed = ""
            self.say("")

    @on(Input.Submitted)
    def _path_submitted(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if not name or "\0" in name:
            self.say("no file name", Role.WARN)
            return
        path = Path(name).expanduser()
        if path.is_dir():
            self.say("is a folder: name a file in it", Role.WARN)
        elif path.exists() and self._confirmed != event.value:
            self._confirmed = event.value
            self.say("file exists: enter again overwrites it", Role.WARN)
        else:
            self.dismiss(path)
