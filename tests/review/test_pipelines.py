"""The reports for pipelines: Markdown, SARIF, JUnit and code quality are valid, bounded, stable, and nothing breaks out."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.git import git
from kit.markdown_parsed import Shown
from kit.real_material import shared_data
from kit.repositories import put
from markdown_it import MarkdownIt
from msgspec.structs import replace
from review.test_findings import H1, OTHER_H1, block

from locklens.cli.main import main
from locklens.demo.incidents import make_repository
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.reports import render_report
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.review import reports
from locklens.review.findings import Accepted, Finding, Severity
from locklens.review.health import Health
from locklens.review.model import Change, Evidence, HostState, Review, RootReview, SideName
from locklens.review.reports import markdown, pipelines, standards
from locklens.review.reports.findings import reported_findings
from locklens.review.reports.markdown import code, prose
from locklens.review.rules.catalogue import RULES, explain_rule
from locklens.trust import Signer, SigningKey, Tier

FORMATS = ("markdown", "sarif", "junit", "codequality")
OLD_KEY, NEW_KEY = "A1" * 20, "B2" * 20


def committed(folder: Path, old: dict[str, bytes], new: dict[str, bytes]) -> Path:
    """A repository with two commits of files."""
    folder.mkdir()
    git(folder, "init", "-q")
    for number, files in enumerate((old, new)):
        for path in old.keys() - files.keys():
            (folder / path).unlink()
        put(folder, files)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", str(number), "--allow-empty")
    return folder


def reviewed(folder: Path, base: str = "HEAD~1") -> Review:
    return review(ReviewRequest(partial(open_git, folder, Base(base))))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Review:
    return reviewed(make_repository(tmp_path_factory.mktemp("sample") / "top"), "HEAD")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Review:
    """Every real change of the data as a root of one repository."""
    sides: dict[str, dict[str, bytes]] = {"old": {}, "new": {}}
    for case in sorted((shared_data() / "pairs").iterdir()):
        for side, files in sides.items():
            lock = case / f"{side}.lock.hcl"
            if lock.exists():
                files[f"roots/{case.name}/.terraform.lock.hcl"] = lock.read_bytes()
    found = reviewed(committed(tmp_path_factory.mktemp("real") / "top", sides["old"], sides["new"]))
    moved = sum(root.renamed_from is not None for root in found.roots)  # what one change adds and another deletes
    assert len(found.roots) + moved == len(sides["old"] | sides["new"])
    return found


# Markdown

HOSTILE = [
    "</code></details><img src=x onerror=PWN>",
    "`PWN` ``PWN`` ```PWN",
    "@octocat/PWN fixes #1 octo/PWN#2 PWN-12",
    "[PWN](https://evil.example) ![PWN](//evil.example) <https://evil.example/PWN> https://evil.example/PWN",
    "a|PWN|b",
    "PWN\n\n# PWN\n- [x] PWN",
    "\u202ePWN\u2066\u200b\x1b[31m\x07\x9b",
    "\u05d0\u05d1 PWN \u0627 e\u0301\u0489",
    "-->PWN<!--",
    "$PWN$ \\`PWN\\` &lt;PWN& :PWN:",
    "##[error]PWN",
    "::error::PWN",
    " `",
    "{0} PWN",
    "x" * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_breaks_out_of_the_reports(sample: Review, text: str) -> None:
    found = poisoned(replace(sample, roots=sample.roots[:8]), text)
    for form in FORMATS:
        printed = render_report("review", form, found, fail_on="warn")
        assert all(line.isprintable() for line in printed.split("\n"))
        assert not any(line.lstrip().startswith("::") or "##[" in line for line in printed.split("\n"))
    comment = markdown.render(found)
    shown = Shown(comment)
    shown.check()
    assert "PWN" not in shown.outside
    assert "PWN" not in "".join(shown.html)
    assert len(comment.encode()) < markdown.LONGEST
    assert not any(ord(letter) in range(0x590, 0x700) for letter in comment)
    for result in valid_sarif(found):
        assert "](" not in result["message"]["text"]
        assert len(result["message"]["text"]) <= 1100
    valid_junit(found)
    valid_quality(found)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_breaks_out_of_the_limits_of_a_health(sample: Review, text: str) -> None:
    found = poisoned(replace(sample, roots=sample.roots[:2]), text)
    shown = Shown(markdown.health_markdown(Health(text, text, found, (), ())))
    shown.check(tables=True)
    assert "PWN" not in shown.outside


def poisoned(found: Review, text: str) -> Review:
    """A review in which all that others write is one text."""
    key = SigningKey(NEW_KEY, (text,), "RSA 4096", "2024-01-01", None, False, False)
    before, now = Signer(Tier.PARTNER, (replace(key, fingerprint=OLD_KEY),), text), Signer(Tier.PARTNER, (key,), "2")

    def finding(one: Finding) -> Finding:
        return replace(one, message=text, file=text)

    def change(one: Change) -> Change:
        address = replace(one.address, host=text, namespace=text, type=text)
        requirements = tuple(replace(each, file=text, module=text, constraint=text) for each in one.required_by)
        evidence = replace(one.evidence, problems=(text,), hint=text) if one.evidence else None
        return replace(
            one,
            address=address,
            moved_from=address,
            old_signer=before,
            new_signer=now,
            required_by=requirements,
            evidence=evidence,
            findings=tuple(map(finding, one.findings)),
        )

    def root(number: int, one: RootReview) -> RootReview:
        findings = (
            *map(finding, one.findings),
            replace(finding(Finding("LK001", Severity.BLOCK, "", "")), accepted=text),
        )
        return replace(
            one,
            path=f"{text}{number}",
            lock_file=f"{text}{number}",
            changes=tuple(map(change, one.changes)),
            findings=findings,
        )

    return replace(
        found,
        roots=tuple(root(number, one) for number, one in enumerate(found.roots)),
        limits=(text,),
        hosts=(HostState(text, True, error=text), HostState(text, False, hint=text)),
        base=replace(found.base, name=text),
        head=replace(found.head, name=text, kind="git"),
    )


@given(st.text("`\\<>@#[]()!*_~|&$ \n\ta1:/\u202e\u05d0-.{}"))
def test_a_code_span_holds_any_text(text: str) -> None:
    (paragraph,) = [token for token in MarkdownIt("commonmark").parse(f"x {code(text)} y") if token.type == "inline"]
    assert [token.type for token in paragraph.children or ()] == ["text", "code_inline", "text"]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_texts_of_the_catalogue_are_plain_markdown(rule: Any) -> None:
    for text in (rule.title, rule.remedy):
        shown = Shown(prose(text))
        assert not shown.html
        assert not shown.kinds & {"link_open", "image", "em_open", "strong_open", "s_open"}


def test_a_comment_says_the_verdict_first_and_what_to_do(sample: Review) -> None:
    comment = markdown.render(sample)
    lines = comment.splitlines()
    assert lines[:2] == [markdown.MARKER, "## locklens: block"]
    assert "### Not checked" in lines
    assert "- Registry `registry.terraform.io` was not asked (offline)." in comment
    assert any("`5.84.0 -> 5.86.1` upgrade, in 11 roots;" in line for line in lines)
    assert any("`5.84.0 -> 5.86.1` upgrade, in `infra/teams/07`;" in line for line in lines), "its h1 is another one"
    for rule in {one.finding.rule for one in reported_findings(sample) if one.finding.severity is Severity.BLOCK}:
        assert any(line.startswith(f"- **{rule}** (") for line in lines)
    Shown(comment).check()
    (root, *_) = sample.roots
    case = Finding("LK001", Severity.BLOCK, "not listed", "f", case="unsure")
    comment = markdown.render(replace(sample, own_findings=(), roots=(replace(root, changes=(), findings=(case,)),)))
    assert "- **LK001** (1 finding) Locked hashes are not of the release. Find out with" in comment, "of its case"


def test_a_signer_that_changed_is_named_with_both_fingerprints(sample: Review) -> None:
    (root, *others) = sample.roots
    key = SigningKey(NEW_KEY, ("New <new@example.com>",), "RSA 4096", "2024-01-01", None, False, False)
    first = next(change for change in root.changes if change.new is not None)
    signed = replace(
        first,
        old_signer=Signer(Tier.PARTNER, (replace(key, fingerprint=OLD_KEY, user_ids=("Old",)),), "1.0.0"),
        new_signer=Signer(Tier.PARTNER, (key,), "2.0.0"),
    )
    changes = tuple(signed if change is first else change for change in root.changes)
    comment = markdown.render(replace(sample, roots=(replace(root, changes=changes), *others)))
    (line,) = [line for line in comment.splitlines() if OLD_KEY in line]
    assert f"`1.0.0` signed by `{OLD_KEY}` (`Old`), partner;" in line
    assert line.endswith(f" signed by `{NEW_KEY}` (`New <new@example.com>`), partner")


def test_findings_of_one_root_that_read_alike_are_not_of_several(sample: Review) -> None:
    (root, other, *_) = sample.roots
    twice = tuple(Finding("LK019", Severity.BLOCK, "no version", "a/lock.hcl", line) for line in (1, 3))
    alone = replace(root, changes=(), findings=twice)
    for roots, place in (
        ((alone,), "at `a/lock.hcl:1` and 1 more place"),
        ((alone, replace(other, changes=(), findings=twice[:1])), "in 2 roots"),
    ):
        comment = markdown.render(replace(sample, own_findings=(), roots=roots))
        (line,) = [line for line in comment.splitlines() if line.startswith("- **LK019 block**")]
        assert line.endswith(f": `no version`, {place}")


def test_a_change_of_which_not_all_is_known_is_not_ok_in_any_report(sample: Review) -> None:
    (root, *_) = sample.roots
    change = replace(next(one for one in root.changes if one.new), findings=())
    for problems in ((), ("it is down",)):
        quiet = replace(change, evidence=Evidence(problems=problems))
        review = replace(sample, own_findings=(), roots=(replace(root, changes=(quiet,), findings=()),))
        (line,) = [line for line in markdown.render(review).splitlines() if line.startswith("- **")]
        assert line.startswith("- **unknown** " if problems else "- **ok** ")
        outputs = [one.text for one in valid_junit(review)[1].iter("system-out")]
        assert outputs == [f"unknown: {problem}" for problem in problems]


def test_a_comment_without_changes(sample: Review) -> None:
    comment = markdown.render(replace(sample, roots=(), hosts=(), limits=()))
    assert comment.splitlines()[1] == "## locklens: ok"
    assert "<details>" not in comment


def test_what_a_comment_has_no_room_for_is_counted(sample: Review) -> None:
    root = sample.roots[0]
    change = replace(root.changes[0], findings=(Finding("LK004", Severity.WARN, "long " * 100, "f"),))
    many = tuple(
        replace(
            root,
            path=f"r{number}",
            lock_file=f"r{number}/l",
            changes=(replace(change, id=str(number), group=str(number)),),
        )
        for number in range(3000)
    )
    comment = markdown.render(replace(sample, roots=many))
    assert 40_000 < len(comment.encode()) < markdown.LONGEST
    assert comment.count(" more changes; `locklens review --format text` lists all") == 1
    assert comment.count(" more; `locklens review --format text` lists all") == 1
    assert comment.endswith("</details>\n")
    Shown(comment).check()


def test_a_comment_is_bounded_whatever_is_in_every_section(sample: Review) -> None:
    few = replace(sample, roots=sample.roots[:4])
    texts = [f"{number} " + "\U0001d4b3" * 400 for number in range(25)]
    crowds = [poisoned(few, text) for text in texts]
    roots = tuple(
        replace(
            root,
            path=f"{number}/{root.path}",
            findings=tuple(Finding(rule, Severity.BLOCK, root.path, root.path) for rule in RULES),
            changes=tuple(replace(change, group=f"{number} {change.group}") for change in root.changes),
        )
        for number, crowd in enumerate(crowds)
        for root in crowd.roots
    )
    hosts = tuple(host for crowd in crowds for host in crowd.hosts)
    comment = markdown.render(replace(crowds[0], roots=roots, hosts=hosts, limits=tuple(texts)))
    assert len(comment.encode()) < markdown.LONGEST
    assert [line for line in comment.splitlines() if line.startswith("#")] == [
        "## locklens: block",
        *(
            f"### {title}"
            for title in ("Not checked", "What to do", "Signers that changed", "Root-level findings", "Changes")
        ),
    ]
    assert comment.endswith("</details>\n")
    Shown(comment).check()


def test_a_change_with_many_findings_leaves_room_for_the_others(sample: Review) -> None:
    root = sample.roots[0]
    crowd = tuple(Finding("LK017", Severity.BLOCK, f"{number} " + "long " * 50, "f") for number in range(200))
    first = replace(root.changes[0], findings=crowd)
    comment = markdown.render(replace(sample, roots=(replace(root, changes=(first, *root.changes[1:])),)))
    _, _, details = comment.partition("<summary>Details of ")
    assert details.count("\n- `") == len(root.changes)
    assert "more lines\n" in details


# SARIF

TEXT = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {"text": {"type": "string", "minLength": 1}},
}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def holding(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """A schema of an object with these properties and no others."""
    properties = {**required, **optional}
    return {"type": "object", "required": [*required], "properties": properties, "additionalProperties": False}


POSITIVE = {"type": "integer", "minimum": 1}
PART_OF_SARIF = holding(
    {
        "$schema": {"const": standards.SARIF_SCHEMA},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": holding(
                {
                    "tool": holding(
                        {
                            "driver": holding(
                                {
                                    "name": {"const": "locklens"},
                                    "fullName": {"type": "string", "pattern": "^locklens .+"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "maxItems": 25_000,
                                        "items": holding(
                                            {
                                                "id": {"type": "string", "pattern": "^LK[0-9]{3}$"},
                                                "name": {"type": "string", "maxLength": 255},
                                                "shortDescription": TEXT,
                                                "fullDescription": TEXT,
                                                "help": TEXT,
                                                "defaultConfiguration": holding(
                                                    {"enabled": {"type": "boolean"}, "level": LEVEL}
                                                ),
                                                "properties": holding(
                                                    {"tags": {"type": "array", "maxItems": 10}},
                                                    **{"security-severity": {"type": "string"}},
                                                ),
                                            }
                                        ),
                                    },
                                }
                            )
                        }
                    ),
                    "invocations": {
                        "type": "array",
                        "items": holding(
                            {"executionSuccessful": {"type": "boolean"}},
                            toolExecutionNotifications={
                                "type": "array",
                                "items": holding({"level": LEVEL, "message": TEXT}),
                            },
                        ),
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {
                        "type": "array",
                        "maxItems": 5000,
                        "items": holding(
                            {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": LEVEL,
                                "message": TEXT,
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "maxItems": 1,
                                    "items": holding(
                                        {
                                            "physicalLocation": holding(
                                                {
                                                    "artifactLocation": holding(
                                                        {"uri": {"type": "string", "pattern": "^[!-~]+$"}},
                                                        uriBaseId={"const": "%SRCROOT%"},
                                                    ),
                                                    "region": holding({"startLine": POSITIVE}, startColumn=POSITIVE),
                                                }
                                            )
                                        }
                                    ),
                                },
                                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                                "properties": {"type": "object"},
                            },
                            suppressions={
                                "type": "array",
                                "items": holding(
                                    {
                                        "kind": {"enum": ["inSource", "external"]},
                                        "status": {"enum": ["accepted", "underReview", "rejected"]},
                                        "justification": {"type": "string"},
                                    }
                                ),
                            },
                        ),
                    },
                }
            ),
        },
    }
)
"""What of the published schema the report uses, as the standard's text has it. Where the shared data has the schema itself
(`schemas/sarif-schema-2.1.0.json`, of OASIS), it is held against that too."""


def sarif_schemas() -> Iterator[dict[str, Any]]:
    yield PART_OF_SARIF
    published = shared_data() / "schemas" / "sarif-schema-2.1.0.json"
    if published.exists():
        yield json.loads(published.read_text("utf-8"))


def valid_sarif(found: Review) -> list[dict[str, Any]]:
    """The results of a valid document."""
    document = json.loads(standards.render(found))
    (run,) = document["runs"]
    assert len(run["results"]) <= 5000
    some = {**document, "runs": [{**run, "results": run["results"][:300]}]}  # which are alike, and slow to check
    for schema in sarif_schemas():
        jsonschema.validators.validator_for(schema)(schema).validate(some)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(prints) == len(set(prints))
    results: list[dict[str, Any]] = run["results"]
    return results


def test_the_rules_are_explained_as_on_the_command_line(sample: Review) -> None:
    rules = standards.document(sample)["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    for rule in rules:
        assert rule["help"]["text"] == explain_rule(RULES[rule["id"]])
        assert max(len(rule["shortDescription"]["text"]), len(rule["fullDescription"]["text"])) <= 1024


def test_code_scanning_ranks_a_rule_as_the_policy_does(sample: Review) -> None:
    policy = replace(sample.policy, severity={"LK001": "info", "LK021": "block", "LK004": "off"})
    for found, expected in (
        (sample, {"LK001": "high", "LK003": "medium", "LK021": "low"}),
        (replace(sample, policy=policy), {"LK001": "low", "LK003": "medium", "LK021": "high", "LK004": None}),
    ):
        rules = {rule["id"]: rule for rule in standards.document(found)["runs"][0]["tool"]["driver"]["rules"]}
        assert {one: rank(rules[one]["properties"].get("security-severity")) for one in expected} == expected
    assert rules["LK021"]["defaultConfiguration"] == {"enabled": True, "level": "error"}
    assert rules["LK004"]["defaultConfiguration"] == {"enabled": False, "level": "none"}


def rank(score: str | None) -> str | None:
    """What GitHub's code scanning makes of a score."""
    if score is None:
        return None
    return next(
        word
        for least, word in ((9.0, "critical"), (7.0, "high"), (4.0, "medium"), (0.1, "low"))
        if float(score) >= least
    )


def test_the_category_of_an_upload_is_the_pipelines_to_choose(sample: Review) -> None:
    (run,) = standards.document(sample)["runs"]
    assert "automationDetails" not in run, "an id in the file wins over the upload's: two jobs would replace each other"


def test_the_worst_findings_come_first_and_the_others_are_counted(sample: Review) -> None:
    root = sample.roots[0]
    infos = tuple(Finding("LK021", Severity.INFO, f"{number}", "f", number) for number in range(6000))
    crowd = replace(root, changes=(), findings=(*infos, Finding("LK001", Severity.BLOCK, "worst", "f", 1)))
    found = replace(sample, roots=(crowd,))
    results = valid_sarif(found)
    assert len(results) == 5000
    assert results[0]["ruleId"] == "LK001"
    notes = standards.document(found)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert notes[0]["message"]["text"].startswith("1001 of 6001 findings were left out, the worst 5000 are listed")


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a/b/.terraform.lock.hcl", "a/b/.terraform.lock.hcl"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("a b/ü?#%2e%", "a%20b/%C3%BC%3F%23%252e%25"),
        ("x\n\u202e", "x%0A%E2%80%AE"),
        ("\udcff", "%FF"),
        ("/tmp/old.hcl", "file:///tmp/old.hcl"),
    ],
)
def test_the_place_of_a_file_is_a_uri(sample: Review, path: str, uri: str) -> None:
    finding = Finding("LK018", Severity.INFO, "m", path)
    found = replace(sample, roots=(replace(sample.roots[0], changes=(), findings=(finding,)),))
    (result,) = valid_sarif(found)
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == uri
    assert location["region"] == {"startLine": 1}
    parts = urlsplit(uri)
    assert os.fsencode(unquote(parts.path, errors="surrogateescape")) == path.encode("utf-8", "surrogateescape")


def test_an_accepted_finding_is_suppressed_and_comes_last(sample: Review) -> None:
    accepted = Finding("LK001", Severity.BLOCK, "m", "f", 3, accepted=Accepted("agreed with the publisher"))
    other = Finding("LK021", Severity.INFO, "m", "f", 4)
    found = replace(sample, roots=(replace(sample.roots[0], changes=(), findings=(accepted, other)),))
    first, last = valid_sarif(found)
    assert "suppressions" not in first
    assert last["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "agreed with the publisher"}
    ]
    assert [issue["severity"] for issue in valid_quality(found)[:2]] == ["info", "info"]
    (case,) = valid_junit(found).iter("skipped")
    assert case.get("message") == "accepted: agreed with the publisher"
    assert markdown.render(found).splitlines()[1] == "## locklens: ok"


def test_changes_with_other_hashes_or_of_another_kind_stand_apart(tmp_path: Path) -> None:
    def locks(hashes: dict[str, list[str]]) -> dict[str, bytes]:
        return {f"{root}/.terraform.lock.hcl": block("1.0.0", *those).encode() for root, those in hashes.items()}

    zh = f"zh:{'1' * 64}"
    old = locks({"a": [zh], "b": [zh], "c": [zh], "d": [zh, H1]})
    new = locks({"a": [zh, H1], "b": [zh, H1], "c": [zh, OTHER_H1], "d": [zh]})
    found = reviewed(committed(tmp_path / "top", old, new))
    printed = render_report("review", "text", found)
    assert "4 roots, 4 changes (3 distinct)" in printed
    assert "roots: a, b\n" in printed
    assert all(f"{sign} {one}" in printed for sign, one in (("+", H1), ("+", OTHER_H1), ("-", H1)))
    assert (printed.count("new-hashes"), printed.count("removed-hashes")) == (2, 1)
    comment = render_report("review", "markdown", found)
    listed = re.findall(r"\*\* `hashicorp/aws` .* new-hashes, in (.*?);", comment)
    assert sorted(listed) == ["2 roots", "`c`"]


def test_fingerprints_do_not_depend_on_the_other_roots(sample: Review) -> None:
    def prints(found: Review) -> dict[str, list[str]]:
        every: dict[str, list[str]] = {}
        for one in reported_findings(found):
            every.setdefault(one.folder, []).append(one.fingerprint)
        return every

    whole, part = prints(sample), prints(replace(sample, roots=sample.roots[-3:]))
    assert part
    assert all(whole[path] == found for path, found in part.items())


# Code quality, JUnit

ISSUE = holding(
    {
        "description": {"type": "string", "minLength": 1},
        "check_name": {"type": "string", "minLength": 1},
        "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
        "location": holding({"path": {"type": "string", "minLength": 1}, "lines": holding({"begin": POSITIVE})}),
    }
)
"""The fields of GitLab's documentation of the format."""


def valid_quality(found: Review) -> list[dict[str, Any]]:
    """The issues of a valid report."""
    issues: list[dict[str, Any]] = json.loads(pipelines.code_quality_report(found))
    jsonschema.validate(issues, {"type": "array", "items": ISSUE}, cls=jsonschema.Draft202012Validator)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert len(issues) == len(reported_findings(found)) + len(reports.unchecked(found))
    return issues


JUNIT: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": ({"name"}, {"time", "classname", "group"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}
"""What the xunit plugin of Jenkins lets each element have: attributes that it needs, others, and elements within."""


def valid_junit(found: Review, fail_on: str | None = None) -> ElementTree.Element:
    """The test suites of a valid report."""
    suites = ElementTree.fromstring(pipelines.junit_report(found, fail_on=fail_on).encode())
    for element in suites.iter():
        needed, others, within = JUNIT[element.tag]
        assert needed <= element.attrib.keys() <= needed | others, element.tag
        assert {one.tag for one in element} <= within, element.tag
    assert len(list(suites.iter("testcase"))) > 0, "plugins take a report without cases for a broken run"
    for suite in suites:
        names = [one.get("name") for one in suite.iter("testcase")]
        assert len(names) == len({*names}), "readers keep one of several cases with the same name"
    return suites


def test_a_review_without_anything_to_report_is_a_case_that_passes(sample: Review) -> None:
    (suite,) = valid_junit(replace(sample, roots=(), own_findings=(), hosts=(), limits=()))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "0")
    assert [(case.get("name"), list(case)) for case in suite] == [("no findings", [])]


def test_what_was_not_checked_is_in_the_reports_of_ci_servers(sample: Review) -> None:
    note = "release date unknown of acme/demo 1.4.2: the cooldown of 7 days was not checked"
    overdue = "locklens.toml:8: the pin of acme was to be reviewed by 2026-11-01"
    found = replace(sample, limits=(note,), policy_notes=(overdue,))
    expected = reports.unchecked(found)
    assert expected[-1] == note
    assert any("not verified" in words for words in expected)
    first = valid_junit(found)[0]
    cases = [name for case in first if (name := case.get("name") or "").startswith("not checked")]
    assert (first.get("name"), cases) == ("the review", [f"not checked: {words}" for words in expected])
    assert first.get("failures") == "0"
    issues = [one for one in valid_quality(found) if one["check_name"] == "not-checked"]
    assert [one["description"] for one in issues] == [f"Not checked: {words}" for words in expected]
    assert {one["severity"] for one in issues} == {"info"}
    assert f"\n### Policy\n\n- `{overdue}`\n" in markdown.render(found)
    said = standards.document(found)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [one["level"] for one in said] == [*(["warning"] * len(expected)), "note"]


@pytest.mark.parametrize("fail_on", ["block", "warn", "info", "never", None])
def test_the_failures_of_junit_are_those_of_the_exit_status(sample: Review, fail_on: str | None) -> None:
    suites = valid_junit(sample, fail_on)
    expected = {"block": {"block"}, "warn": {"block", "warn"}, "info": {"block", "warn", "info"}, "never": set()}
    failing = expected[sample.threshold(None) if fail_on is None else fail_on]
    found = [one.finding.severity.value for one in reported_findings(sample)]
    assert len(list(suites.iter("failure"))) == sum(severity in failing for severity in found)
    assert bool(list(suites.iter("failure"))) == sample.fails(fail_on)
    assert [suite.get("name") for suite in suites] == ["the review", *(root.path for root in sample.roots)]
    assert [suite.get("file") for suite in suites] == [None, *(root.lock_file for root in sample.roots)]
    for element in (suites, *suites):
        for count, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
            if count == "skipped" and element is suites:  # which the plugin's schema has no room for
                continue
            assert int(element.get(count, "")) == len(list(element.iter(tag)))
        assert int(element.get("tests", "")) > 0


def test_numbers_of_findings_are_distinct_ones_or_say_that_they_are_not(sample: Review) -> None:
    summary = json.loads(render_report("review", "json", sample))["summary"]
    results = json.loads(render_report("review", "sarif", sample))["runs"][0]["results"]
    levels = Counter(one["level"] for one in results)
    assert summary["listed_findings"] == {"block": levels["error"], "warn": levels["warning"], "info": levels["note"]}
    assert summary["findings"]["info"] < summary["listed_findings"]["info"]
    words = {"error": "block", "warning": "warn", "note": "info"}
    listed = ", ".join(f"{levels[level]} {word}" for level, word in words.items() if levels[level])
    told = re.compile(rf"{summary['findings']['info']} info \(distinct by change and rule; {listed} in all\)")
    for form in ("text", "markdown"):
        assert told.search(str(render_report("review", form, sample))), form


# All of them


def test_every_real_change_in_every_format(real: Review) -> None:
    found = reported_findings(real)
    assert len(valid_sarif(real)) == min(5000, len(found))
    assert len(valid_quality(real)) == len(found) + len(reports.unchecked(real))
    suites = valid_junit(real, "info")
    assert len(list(suites.iter("failure"))) == len(found)
    comment = markdown.render(real)
    Shown(comment).check()
    assert len(comment.encode()) < markdown.LONGEST
    for form in FORMATS:
        printed = render_report("review", form, real, fail_on="block")
        assert printed.endswith("\n")
        assert all(line.isprintable() for line in printed.split("\n"))


def test_the_same_review_is_the_same_text(real: Review) -> None:
    later = replace(
        real, at="2031-01-01T00:00:00Z", hosts=tuple(replace(host, as_of="2031-01-01T00:00:00Z") for host in real.hosts)
    )
    for form in FORMATS:
        assert render_report("review", form, real) == render_report("review", form, later)


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_line_writes_each(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = b'provider "registry.terraform.io/a/b" {\n  version = "VERSION"\n}\n'
    name = "live/`x` <b>/.terraform.lock.hcl"
    old, new = lock.replace(b"VERSION", b"2.0.0"), lock.replace(b"VERSION", b"1.0.0")
    folder = committed(tmp_path / "top", {name: old}, {name: new})
    words = ["-C", str(folder), "review", "HEAD~1", "--offline", "--no-cache", "--fail-on", "warn", "--format", form]
    assert main(words, lambda *_: 0) == 1
    printed = capsys.readouterr().out
    assert "LK004" in printed
    assert main([*words, "--output", str(tmp_path / "report")], lambda *_: 0) == 1
    assert (tmp_path / "report").read_text("utf-8") == printed
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("severity", "colour"), [(None, "32"), (Severity.WARN, "33"), (Severity.BLOCK, "31;1")])
def test_the_verdict_of_a_text_has_the_colour_of_its_severity(severity: Severity | None, colour: str) -> None:
    side = SideName("file", "lock.hcl", None)
    findings = (Finding("LK028", severity, "differs", "locklens.toml", 1),) if severity is not None else ()
    found = Review(
        "2026-01-01T00:00:00Z", offline=True, hosts=(), base=side, head=side, roots=(), own_findings=findings
    )
    last = render_report("review", "text", found, colour=True).splitlines()[-1]
    assert last == f"verdict: \x1b[{colour}m{found.verdict}\x1b[0m"
