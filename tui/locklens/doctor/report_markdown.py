"""A diagnosis as Markdown, for an issue or a chat. Text of others stands in code spans, where it forms no markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.model import CauseVerdict
from locklens.doctor.redacting import redacted
from locklens.doctor.report_words import (
    NOTHING_RECOGNISED,
    cause_title,
    is_clean,
    missing_words,
    onset_words,
    remedy_costs,
    tally,
    verdict_sentence,
)
from locklens.text import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.model import Cause, Diagnosis
    from locklens.text import Printable

_VERDICTS = {
    CauseVerdict.YES: "yes", CauseVerdict.LIKELY: "likely", CauseVerdict.UNKNOWN: "cannot say", CauseVerdict.NO: "no",
}  # fmt: skip


def render(diagnosis: Diagnosis, *, home: str = "") -> Printable:
    """Return the report, without tokens and home folders; `home` as of the text report."""
    return page(redacted(line, home=home) for line in _lines(diagnosis))


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.is_recognised:
        yield NOTHING_RECOGNISED
        return
    certainty = "OK" if is_clean(diagnosis) else diagnosis.certainty
    yield f"**{certainty}**: {_code_free(verdict_sentence(diagnosis))}"
    yield ""
    for error in diagnosis.errors:
        yield f"- error `{error.kind}`: {_code(error.text)}"
    facts = diagnosis.facts
    ran = (facts.platform, " ".join(filter(None, (facts.tool, facts.tool_version))), facts.path and facts.path.value)
    yield f"- ran on: {', '.join(_code(one) if one else 'unknown' for one in ran)}"
    if facts.root is not None:
        others = f", and {len(diagnosis.same_entry)} more with the same entry" if diagnosis.same_entry else ""
        yield f"- root: {_code(facts.root)} {_code(diagnosis.examined)}{others}"
    if diagnosis.onset is not None:
        yield f"- locked: {_code(onset_words(diagnosis.onset))}"
    yield f"- {tally(diagnosis)}; {'offline' if diagnosis.offline else 'registries were asked'}"
    yield ""
    yield "| cause | verdict | evidence | missing |"
    yield "|---|---|---|---|"
    yield from map(_row, diagnosis.causes)
    if diagnosis.remedies:
        yield ""
        yield "| fix | costs | command |"
        yield "|---|---|---|"
    for remedy in diagnosis.remedies:
        yield f"| {_cell(remedy.title)} | {remedy_costs(remedy)} | {_cell(remedy.command)} |"
    if diagnosis.not_offered:
        yield ""
        yield "Not offered:"
        yield ""
        yield from (f"- {one.what}: {one.why}" for one in diagnosis.not_offered)


def _row(cause: Cause) -> str:
    moment = f" (as of {cause.as_of})" if cause.as_of else ""
    missing = _cell(missing_words(cause)) if cause.missing else ""
    verdict = _VERDICTS[cause.verdict]
    return f"| {cause_title(cause)} (`{cause.id}`) | {verdict} | {_cell(cause.evidence + moment)} | {missing} |"


def _code(text: str) -> str:
    """Return text as a code span: the fence is longer than any run of back quotes in it."""
    if not text:
        return ""
    longest = max((len(run) for run in _runs(text)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(one if one == "`" else " " for one in text).split() if run]


def _cell(text: str) -> str:
    """Return text as a code span in a table, where a bar would begin a new cell."""
    return _code(text.replace("|", "\\|"))


def _code_free(text: str) -> str:
    return text.replace("`", "'")
