"""The table of reports: for each view and format, what renders it, loaded when it is used; and the JSON Schemas.

The command line's choices of --format, the palette's exports and the screens read this table.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.text import Printable, joined

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from locklens.errors import LockLensError

_REPORTS = "locklens.review.reports"
_VERIFY = "locklens.operations.verification"
_ADVISORIES = "locklens.operations.advisories"
_BACKFILL = "locklens_backfill.report"
_UPGRADES = "locklens.operations.upgrades.report"


class Report(Struct, frozen=True):
    """One report.

    Attributes:
        title: The format's name in the palette.
        suffix: The suffix of an exported file.
        renderer: The module and function that render it, as "package.module:function"; its argument is the subject.
            Of a JSON document instead its type, named the same way.
        heeds: The facts of `render_report` that it takes as keyword arguments.
    """

    title: str
    suffix: str
    renderer: str
    heeds: tuple[str, ...] = ()


REPORTS: dict[tuple[str, str], Report] = {
    ("review", "text"): Report("text", "txt", f"{_REPORTS}.text:render", ("colour", "lists_roots", "fail_on")),
    ("review", "json"): Report("JSON", "json", f"{_REPORTS}.review_document:ReviewDocument"),
    ("review", "markdown"): Report("Markdown", "md", f"{_REPORTS}.markdown:render", ("fail_on",)),
    ("review", "sarif"): Report("SARIF", "sarif", f"{_REPORTS}.standards:render"),
    ("review", "junit"): Report("JUnit", "xml", f"{_REPORTS}.pipelines:junit_report", ("fail_on",)),
    ("review", "codequality"): Report("Code Quality", "codequality.json", f"{_REPORTS}.pipelines:code_quality_report"),
    ("hashes", "text"): Report("text", "txt", f"{_REPORTS}.lock_lines:hashes_text", ("colour", "packages", "fail_on")),
    ("hashes", "json"): Report("JSON", "json", f"{_REPORTS}.lock_documents:HashesDocument", ("packages",)),
    ("keys", "text"): Report("text", "txt", f"{_REPORTS}.lock_lines:keys_text", ("past",)),
    ("keys", "json"): Report("JSON", "json", f"{_REPORTS}.lock_documents:KeysDocument", ("past",)),
    ("health", "text"): Report("text", "txt", f"{_REPORTS}.health:render", ("colour", "lists_roots", "fail_on")),
    ("health", "json"): Report("JSON", "json", f"{_REPORTS}.health_document:HealthDocument"),
    ("health", "markdown"): Report("Markdown", "md", f"{_REPORTS}.markdown:health_markdown", ("fail_on",)),
    ("health", "sarif"): Report("SARIF", "sarif", f"{_REPORTS}.standards:health_sarif"),
    ("why", "text"): Report("text", "txt", f"{_REPORTS}.why:render", ("lists_roots",)),
    ("why", "json"): Report("JSON", "json", f"{_REPORTS}.why_document:WhyDocument"),
    ("inspect", "text"): Report("text", "txt", f"{_REPORTS}.inspection:render"),
    ("inspect", "json"): Report("JSON", "json", f"{_REPORTS}.inspection_document:InspectDocument"),
    ("inspect", "markdown"): Report("Markdown", "md", f"{_REPORTS}.inspection:markdown"),
    ("inspect", "openvex"): Report("OpenVEX", "openvex.json", f"{_REPORTS}.standards:openvex"),
    ("doctor", "text"): Report("text", "txt", "locklens.doctor.report_text:render", ("colour", "home", "lists_all")),
    ("doctor", "json"): Report("JSON", "json", "locklens.doctor.report_json:DoctorDocument", ("home",)),
    ("doctor", "markdown"): Report("Markdown", "md", "locklens.doctor.report_markdown:render", ("home", "lists_all")),
    ("verify", "text"): Report("text", "txt", f"{_VERIFY}:verification_text", ("lists_all",)),
    ("verify", "json"): Report("JSON", "json", f"{_VERIFY}:VerifyDocument"),
    ("backfill", "text"): Report("text", "txt", f"{_BACKFILL}:backfill_text"),
    ("backfill", "json"): Report("JSON", "json", f"{_BACKFILL}:BackfillDocument"),
    ("advisories", "text"): Report("text", "txt", f"{_ADVISORIES}:advisories_text"),
    ("advisories", "json"): Report("JSON", "json", f"{_ADVISORIES}:AdvisoriesDocument"),
    ("upgrade", "text"): Report("text", "txt", f"{_UPGRADES}:as_text"),
    ("upgrade", "json"): Report("JSON", "json", f"{_UPGRADES}:CandidatesDocument", ("review", "is_offline")),
}
"""By view, as the command that prints it is named, and format, as --format names it."""


def formats_of(view: str) -> tuple[str, ...]:
    """Return the formats of a view, as --format names them; () for a view without reports."""
    return tuple(form for name, form in REPORTS if name == view)


def render_report(view: str, form: str, subject: object, **facts: object) -> Printable:
    """Return a report as one text; see `report_pages`."""
    return joined(report_pages(view, form, subject, **facts))


def report_pages(view: str, form: str, subject: object, **facts: object) -> Iterator[Printable]:
    """Yield a report of a view and format as text, piece by piece as it is made.

    The subject is the content of the view, such as a review; facts are what callers know besides it: a report gets
    those that it uses.
    """
    report = REPORTS[view, form]
    renderer, heeded = load(report.renderer), {name: facts[name] for name in report.heeds if name in facts}
    if form == "json":
        from locklens.review.reports.documents import json_document

        yield from json_document(renderer.of(subject, **heeded))
    else:
        yield renderer(subject, **heeded)


def report_schema(view: str) -> dict[str, object]:
    """Return the JSON Schema that every JSON document of a view satisfies."""
    from msgspec.json import schema

    document = load(REPORTS[view, "json"].renderer)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"locklens {view}, schema {document.__struct_config__.tag}",
        **schema(document),
    }


def render_failure(form: str, error: LockLensError) -> Printable:
    """Return what a report of the review says where an error ended the run before there was one."""
    text: Printable = load(f"{_REPORTS}.pipelines:failed_report")(error, form)
    return text


def load(path: str) -> Any:
    """Return the function or the type at "package.module:name"."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
