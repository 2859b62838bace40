"""Reports that are documents of standards: SARIF for code scanning, OpenVEX for scanners.

A review, or the health of roots, as SARIF 2.1.0. The bounds are those of GitHub's code scanning, which reads 25,000
results of a run and shows 5,000. The texts of the rules are those of `locklens explain`; all are listed, found or not,
since GitHub expects the same rules of every upload of a tool. There is no `automationDetails`: its id is the category
of an upload, and wins over the one that a pipeline gives (`populateRunAutomationDetails` of github/codeql-action), so
that the uploads of two jobs would replace each other.

The advisories of an inspected package as OpenVEX 0.2.0 (https://github.com/openvex/spec). "Not affected" is said only
where the function table of the program was read, the database names functions, and none of them is there; all else that
cannot be said is under investigation.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec.structs import replace

from locklens import __version__
from locklens.advisories import ATTRIBUTION, STDLIB, TOOLCHAIN, AdvisoryMatch, Linkage, is_go_version
from locklens.errors import ConfigurationError
from locklens.review.findings import Severity
from locklens.review.inspection import Inspections, each_of
from locklens.review.reports import unchecked
from locklens.review.reports.findings import ReportedFinding, bounded, reported_findings
from locklens.review.reports.health import limits
from locklens.review.rules.catalogue import RULES, Rule, explain_rule
from locklens.text import Printable, identity_of, json_text, listing, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.review.health import Health
    from locklens.review.inspection import ChangeAdvisories, InspectedPackage, Inspection
    from locklens.review.model import Review

Sarif = dict[str, Any]
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RESULTS_SHOWN = 5_000
_LONGEST_NAME = 255
_LONGEST_DESCRIPTION = 1024
_LONGEST_MESSAGE = 1000
_SCORES = {Severity.BLOCK: "8.0", Severity.WARN: "5.0", Severity.INFO: "2.0"}
"""As GitHub's code scanning ranks alerts: from 7.0 high, from 4.0 medium, below low."""
_LEVELS = {Severity.BLOCK: "error", Severity.WARN: "warning", Severity.INFO: "note", Severity.OFF: "none"}


def render(review: Review) -> Printable:
    """Return the document as indented text, ending in a line feed."""
    return json_text(document(review))


def document(review: Review, command: str = "review") -> Sarif:
    """Return the document as plain values; `command` is the one that lists all findings."""
    found = reported_findings(review)
    numbers = {rule: number for number, rule in enumerate(RULES)}
    limits = [*_left_out(len(found), command), *unchecked(review)]
    said = [*(("warning", words) for words in limits), *(("note", words) for words in review.policy_notes)]
    invocation: Sarif = {"executionSuccessful": True}
    if said:
        invocation["toolExecutionNotifications"] = [
            {"level": level, "message": _message(words)} for level, words in said
        ]
    severities = review.policy.severity
    driver = {
        "name": "locklens",
        "fullName": f"locklens {__version__}",
        "version": __version__,
        "rules": [_rule(rule, Severity(severities.get(rule.id, rule.severity))) for rule in RULES.values()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, numbers[one.finding.rule]) for one in found[:RESULTS_SHOWN]],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _left_out(number: int, command: str) -> Iterator[str]:
    if number > RESULTS_SHOWN:
        yield (
            f"{number - RESULTS_SHOWN} of {number} findings were left out, the worst {RESULTS_SHOWN} are listed; "
            f"locklens {command} --format json lists all"
        )


def _rule(rule: Rule, severity: Severity) -> Sarif:
    properties: Sarif = {"tags": ["security", "supply-chain"]}
    if severity is not Severity.OFF:
        properties["security-severity"] = _SCORES[severity]
    return {
        "id": rule.id,
        "name": shortened(rule.title, _LONGEST_NAME),
        "shortDescription": {"text": shortened(_plain(rule.title), _LONGEST_DESCRIPTION)},
        "fullDescription": {"text": shortened(_plain(rule.meaning), _LONGEST_DESCRIPTION)},
        "help": {"text": _plain(explain_rule(rule))},
        "defaultConfiguration": {"enabled": severity is not Severity.OFF, "level": _LEVELS[severity]},
        "properties": properties,
    }


def _result(one: ReportedFinding, number: int) -> Sarif:
    finding = one.finding
    result: Sarif = {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": _LEVELS[finding.severity],
        "message": _message(f"{finding.rule} {one.words}"),
        "locations": [_location(one)],
        # GitHub reads only the first one.
        "partialFingerprints": {"primaryLocationLineHash": one.fingerprint, "locklens/v1": one.fingerprint},
        "properties": _properties(one),
    }
    if finding.accepted is not None:
        reason = bounded(str(finding.accepted), _LONGEST_MESSAGE)
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _location(one: ReportedFinding) -> Sarif:
    finding = one.finding
    region = {"startLine": max(1, finding.line or 1)}
    if finding.column is not None:
        region["startColumn"] = max(1, finding.column)
    return {"physicalLocation": {"artifactLocation": _artifact(finding.file or "."), "region": region}}


def _artifact(path: str) -> Sarif:
    """The place of a file: relative to the repository's top, percent-encoded, so that no name reads as a URL."""
    if os.path.isabs(path):  # noqa: PTH117 - the path is text of the review, and never opened
        return {"uri": "file://" + quote(_bytes(path.replace("\\", "/")), safe="/")}
    return {"uri": quote(_bytes(path), safe="/"), "uriBaseId": "%SRCROOT%"}


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _properties(one: ReportedFinding) -> Sarif:
    properties = {"root": visible(one.folder or ".")}
    if one.change is not None:
        change = one.change
        properties |= {"provider": visible(str(change.address)), "change": change.id, "group": change.group}
    return properties


def _message(text: str) -> Sarif:
    """A message without links of its own: `[text](target)` is a link in SARIF's plain text, braces are placeholders."""
    return {"text": _plain(bounded(text, _LONGEST_MESSAGE).replace("](", "] ("))}


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def health_sarif(health: Health) -> Printable:
    """Return the document of a health: the findings of its review, and the limits as notifications."""
    review = replace(health.review, limits=(*health.review.limits, *limits(health)))
    return json_text(document(review, "health"))


_CONTEXT = "https://openvex.dev/ns/v0.2.0"
_DOCUMENTS = "https://openvex.dev/docs/public/vex-"
_ENTRY = "https://pkg.go.dev/vuln/"
_AUTHOR = "Unknown Author"
"""The specification asks for a person or an organisation, and none is known; other tools write the same."""

_FUNCTIONS = 5

_STATUS_NOTES = {
    Linkage.LINKED: "linked by name, which does not say that it is called",
    Linkage.NOT_LINKED: "none of the functions that the advisory names is in the program's function table",
    Linkage.NO_SYMBOLS: "the database names no functions",
    Linkage.UNKNOWN: "the function table cannot be read, or names nothing of this module",
    Linkage.OTHER_PLATFORM: "the database names other operating systems or architectures only",
}


def openvex(found: Inspection | Inspections) -> Printable:
    """Return the document of the inspected packages, of each provider the newer one of two.

    Raises:
        ConfigurationError: There is nothing to state, which a document must.
    """
    several = each_of(found)
    judged = [(one.advisories, one.judged) for one in several]
    sure = [(known, newer) for known, newer in judged if known is not None and newer is not None]
    if not sure:
        is_inspected = any(newer is not None for _, newer in judged)
        hint = "locklens advisories update reads one" if is_inspected else "locklens inspect says why"
        what = "no database of advisories is kept" if is_inspected else "no package was looked into"
        raise ConfigurationError(f"no OpenVEX document can be made: {what}", hint=hint)
    statements = [statement for known, newer in sure for statement in _statements(known, newer)]
    dated = sure[0][0].date_words
    if not statements:
        names = listing([newer.name for _, newer in sure], 3)
        raise ConfigurationError(f"no advisory concerns {names} ({dated}): nothing to state in OpenVEX")
    document = {
        "@context": _CONTEXT,
        "@id": f"{_DOCUMENTS}{identity_of(str(statements))}",
        "author": _AUTHOR,
        "timestamp": several[0].at,
        "version": 1,
        "tooling": f"locklens {__version__}; {ATTRIBUTION}, {dated}",
        "statements": statements,
    }
    return json_text(document)


def _statements(known: ChangeAdvisories, newer: InspectedPackage) -> Iterator[dict[str, Any]]:
    for match in known.now.matches:
        yield {"vulnerability": _vulnerability(match), "products": [_product(newer, match)], **_status(match)}
    for match in known.differences.fixed if known.differences is not None else ():
        yield {
            "vulnerability": _vulnerability(match),
            "products": [_product(newer)],
            "status": "fixed",
            "status_notes": f"the older package has {match.module} {match.version}",
        }
    for one in known.now.unjudged:
        for name in one.ids:
            yield {
                "vulnerability": {**_entry(name), "name": name},
                "products": [_product(newer)],
                "status": "under_investigation",
                "status_notes": f"{one.module}: {one.why}",
            }


def _status(match: AdvisoryMatch) -> dict[str, str]:
    notes = _STATUS_NOTES[match.linkage]
    if match.linkage is Linkage.NOT_LINKED:
        return {"status": "not_affected", "status_notes": notes, "justification": "vulnerable_code_not_present"}
    if match.linkage is not Linkage.LINKED and not match.is_own:
        return {"status": "under_investigation", "status_notes": notes}
    what = "the provider itself" if match.is_own else match.module
    action = f"use a release with {what} {match.fixed_in}" if match.fixed_in else "no version that fixes it is known"
    if match.functions:
        notes = f"{notes}: {listing(match.functions, _FUNCTIONS)}"
    return {"status": "affected", "status_notes": notes if not match.is_own else what, "action_statement": action}


def _vulnerability(match: AdvisoryMatch) -> dict[str, Any]:
    aliases = list(dict.fromkeys(match.aliases))
    return {
        **_entry(match.id),
        "name": match.id,
        **({"description": match.summary} if match.summary else {}),
        **({"aliases": aliases} if aliases else {}),
    }


def _entry(name: str) -> dict[str, str]:
    return {"@id": f"{_ENTRY}{name}"} if name.startswith("GO-") else {}


def _product(package: InspectedPackage, match: AdvisoryMatch | None = None) -> dict[str, Any]:
    """Return the program of a package: by its digest, and by its module and version where both are known."""
    facts = package.facts
    assert facts is not None
    build = facts.executable.build if facts.executable is not None else None
    main = build.main if build is not None else None
    named: dict[str, Any] = {}
    version = f"v{package.version}" if package.version is not None else main.version if main is not None else ""
    if main is not None and main.path and is_go_version(version):
        purl = _purl(main.path, version)
        named = {"@id": purl, "identifiers": {"purl": purl}}
    digests = (one.sha256 for one in facts.files if one.name == facts.executable_name)
    if digest := next(digests, (facts.zh or "").removeprefix("zh:")):
        named["hashes"] = {"sha-256": digest}
    if match is not None and not match.is_own:
        purl = _purl(match.module, match.version)
        named["subcomponents"] = [{"@id": purl, "identifiers": {"purl": purl}}]
    return named


def _purl(module: str, version: str) -> str:
    number = version.removeprefix("go") if module in (STDLIB, TOOLCHAIN) else version
    return f"pkg:golang/{quote(module, safe='/')}@{quote(number, safe='')}"
