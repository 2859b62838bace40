"""A dialog of a few one-line fields; it is closed with all of them once each is valid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from locklens.lines import Role
from locklens.ui.dialogs.base import Dialog, DialogKey
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.widget import Widget

    from locklens.lines import Line

_MOST_CHARACTERS = 400
"""Of a field: reasons are sentences, and a pasted file is none."""


@dataclass(frozen=True)
class Field:
    """A field of a form.

    Attributes:
        name: Its name, stable.
        label: The question.
        problem_of: Returns what is wrong with a text, "" for a valid one.
        initial: The text before anything is typed.
    """

    name: str
    label: str
    problem_of: Callable[[str], str]
    initial: str = ""


Answers = dict[str, str]
"""The text of each field by its name, without spaces around it."""


class FormDialog(Dialog[Answers | None]):
    """Asks for the fields; enter goes to the next one, and on the last closes the dialog. Writes nothing itself.

    Args:
        title: The decision that is asked for.
        facts: What it is about.
        fields: At least one.
        verb: What happens after the last field.
        start: Name of the field that is focused first; "" for the first one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Cancel", show=False),
        Binding("down", "app.focus_next", "Next field", show=False),
        Binding("up", "app.focus_previous", "Previous field", show=False),
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
            DialogKey("enter", f"next field, then {self._verb}"),
            DialogKey("esc", "cancel, nothing is written", "close"),
        )

    def body(self) -> Iterable[Widget]:
        """Return the facts, and the fields with their labels."""
        yield LineView(id="dialog-lines")
        for field in self._fields:
            yield Bar(id=f"label-{field.name}")
            yield Input(field.initial, id=f"field-{field.name}", compact=True, max_length=_MOST_CHARACTERS)

    def on_mount(self) -> None:
        """Show the texts, and focus the first field."""
        self.show_title(self._title)
        view = self.query_one(LineView)
        view.can_focus = False
        view.show_lines(self._facts)
        for field in self._fields:
            label = Piece(f" {field.label}", Role.HEADING)
            self.query_one(f"#label-{field.name}", Bar).show_layouts(BarLayout((label,)))
        self._input(next((field for field in self._fields if field.name == self._start), self._fields[0])).focus()

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
