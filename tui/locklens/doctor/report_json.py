"""A diagnosis as the JSON document of schema 1, of what can be shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.doctor.model import Basis, CauseId, CauseVerdict, PackagePath, TrustCost  # noqa: TC001  # by msgspec
from locklens.doctor.redacting import shareable
from locklens.doctor.report_words import missing_words, onset_lines
from locklens.review.reports.documents import Count, FromOne, JsonStruct, RunJson, ToolName, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.doctor.messages import RecognisedError
    from locklens.doctor.model import Cause, Diagnosis, Remedy


class ErrorJson(JsonStruct, frozen=True):
    """A recognised error of the log."""

    kind: Annotated[str, Meta(pattern="^[a-z0-9-]+$")]
    provider: str | None
    version: str | None
    text: str
    roots: Annotated[list[str], Meta(description="The roots that the log names for it, else all that it may be of.")]

    @classmethod
    def of(cls, error: RecognisedError, roots: Iterable[str]) -> ErrorJson:
        """Describe a recognised error."""
        return cls.like(error, provider=error.provider or None, version=error.version or None, roots=roots)


class IncidentJson(JsonStruct, frozen=True):
    """The circumstances of the error; null if unknown."""

    tool: Annotated[ToolName | None, Meta(description="Null, too, where the roots have different ones.")]
    tool_version: str | None
    platform: str | None
    path: PackagePath | None
    root: str | None


class CauseJson(JsonStruct, frozen=True):
    """A tested cause; missing is the fact that would tell."""

    id: CauseId
    provider: Annotated[str | None, Meta(description="Null for the lock file as a whole, or where several are alike.")]
    roots: Annotated[list[str], Meta(description="The roots that it was tested in; none where providers are alike.")]
    verdict: CauseVerdict
    evidence: Annotated[str, Meta(min_length=1)]
    missing: str | None
    as_of: str | None
    basis: Annotated[Basis, Meta(description="What the verdict rests on, the strongest first.")]

    @classmethod
    def of(cls, cause: Cause) -> CauseJson:
        """Describe a cause."""
        return cls.like(cause, provider=cause.provider or None, missing=missing_words(cause) or None)


class RemedyJson(JsonStruct, frozen=True):
    """A way out, with the number of roots that it unblocks, its cost in trust, and the bytes to download."""

    id: str
    roots: FromOne
    trust: TrustCost
    bytes: Count | None
    command: Annotated[str | None, Meta(description="Null for an edit by hand, or where it has a secret.")]
    hint: Annotated[str | None, Meta(description="The command line that shows what to edit by hand.")]
    note: Annotated[str | None, Meta(description="What to know before it is done.")]

    @classmethod
    def of(cls, remedy: Remedy) -> RemedyJson:
        """Describe a remedy."""
        words = {name: getattr(remedy, name) or None for name in ("command", "hint", "note")}
        return cls.like(remedy, bytes=remedy.size, **words)


class NotOfferedJson(JsonStruct, frozen=True):
    """A popular fix that is not offered, and the reason."""

    what: str
    why: str


class DoctorDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """A diagnosis."""

    state: Annotated[str, one_of("open", "fixed"), Meta(description="Fixed: what the log is about has changed since.")]
    fixed: Annotated[str | None, Meta(description="What has changed.")]
    next: Annotated[str | None, Meta(description="The command line to run next where it is fixed.")]
    run: RunJson
    errors: list[ErrorJson]
    facts: IncidentJson
    causes: list[CauseJson]
    remedies: list[RemedyJson]
    not_offered: list[NotOfferedJson]

    @classmethod
    def of(cls, diagnosis: Diagnosis, *, home: str = "") -> DoctorDocument:
        """Return the document of what can be shared; `home` is the user's home folder, "" if there is none."""
        shared = shareable(diagnosis, home=home)
        notes, places = list(shared.notes), {one.error: one.roots for one in shared.places}
        notes += filter(None, (shared.obstacle,))
        notes += [f"blame of the lock file: {words}" for words in onset_lines(shared)]
        required = onset_lines(shared, of_requirements=True)
        notes += [f"blame of the configuration: {words}" for words in required]
        return cls.like(
            shared,
            state="fixed" if shared.fixed else "open",
            fixed=shared.fixed or None,
            next=shared.next_step or None,
            run=RunJson.without_policy(at=shared.at, offline=shared.offline, notes=notes, hosts=shared.hosts),
            errors=[ErrorJson.of(error, places.get(error, ())) for error in shared.errors],
        )
