"""Errors, warnings and notes of a result, each with its provider and its place."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from locklens.errors import MissingModulesError, TrustError

if TYPE_CHECKING:
    from locklens.errors import LockLensError, Place


class DiagnosticSeverity(StrEnum):
    """The severity of a diagnostic."""

    ERROR = "error"
    """Part of the work was not done."""
    WARNING = "warning"
    """Everything was done; a review is advised."""
    NOTE = "note"
    """Everything was done as asked."""


class NextStep(StrEnum):
    """A next step that a screen has a key for; the hint has it in words."""

    TEST_CAUSES = "test-causes"
    """`locklens doctor` tests the causes of an error about a checksum or a signature."""
    IGNORE_MODULES = "ignore-modules"
    """`--allow-missing-modules` continues without modules that cannot be read."""
    STAGE_CONFIGURATION = "stage-configuration"
    """An edited configuration file can be staged with the lock file of its root."""
    MARK_RESOLVED = "mark-resolved"
    """`git add` marks the conflict of a file as resolved."""


class Diagnostic(Struct, frozen=True):
    """One message about a root module or a provider, as `tfdiags.Diagnostic` is for Terraform.

    Attributes:
        severity: Its effect on the result.
        summary: A title, the tool's own if it has one, or "".
        detail: A sentence without its full stop.
        address: The provider as the root module names it, or "".
        place: The file and its line, which may be None; None without a file.
        hint: The next step, or "".
        root: Folder of the root module in a plan; "" for the top, and outside of plans.
        next_step: The next step as a value, if a screen has a key for it.
    """

    severity: DiagnosticSeverity
    summary: str
    detail: str
    address: str = ""
    place: Place | None = None
    hint: str = ""
    root: str = ""
    next_step: NextStep | None = None

    @classmethod
    def of(cls, error: LockLensError, *, summary: str = "", address: str = "", root: str = "") -> Self:
        """Return an error as a diagnostic."""
        severity = DiagnosticSeverity.ERROR
        return cls(severity, summary, error.message, address, error.place, error.hint, root, step_after(error))

    @classmethod
    def note(cls, detail: str, *, address: str = "", root: str = "", next_step: NextStep | None = None) -> Self:
        """Return a sentence as a note."""
        return cls(DiagnosticSeverity.NOTE, "", detail, address, root=root, next_step=next_step)

    @property
    def is_error(self) -> bool:
        """True for an error."""
        return self.severity is DiagnosticSeverity.ERROR

    @property
    def words(self) -> str:
        """The detail after its place, as compilers write it: `main.tf:3: no such module`."""
        if self.place is None:
            return self.detail
        file, line = self.place
        return f"{file}: {self.detail}" if line is None else f"{file}:{line}: {self.detail}"

    @property
    def line(self) -> str:
        """The line on a terminal: root and provider before the words, unless these have them."""
        name = self.address if self.address not in self.words else ""
        lead = name if self.place is not None else f"{self.root or '.'}: {name}" if name else self.root or "."
        said = [] if self.severity is DiagnosticSeverity.NOTE else [str(self.severity)]
        said += [lead] if lead else []
        return ": ".join([*said, self.words if self.is_error else self.sentence])

    @property
    def sentence(self) -> str:
        """The words after the summary."""
        return f"{self.summary}: {self.words}" if self.summary else self.words


def step_after(error: LockLensError | None) -> NextStep | None:
    """Return the next step after an error, if a screen has a key for it."""
    if isinstance(error, TrustError):
        return NextStep.TEST_CAUSES
    return NextStep.IGNORE_MODULES if isinstance(error, MissingModulesError) else None
