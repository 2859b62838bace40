"""The text reports and the screens say the same: each statement of a report stands in the detail of its row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

import pytest
from kit.registries import environ_of
from msgspec.structs import replace

from locklens.demo.faults import Faults
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES
from locklens.lines import Line
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.project.configuration import ConfigurationProblem, MissingModule
from locklens.releases import NetworkSettings
from locklens.review.keys import PastUse, signers
from locklens.review.model import Change, LockStatus, Review, RootReview
from locklens.review.reports import claimed_word, hashes_of_review, lock_lines, markdown, pipelines, text
from locklens.review.reports.evidence_lines import shared_problems
from locklens.review.rules.catalogue import wording_of
from locklens.storage.cache import Cache
from locklens.ui.hashes.detail import hash_detail
from locklens.ui.hashes.rows import hash_rows
from locklens.ui.phrases import verdict
from locklens.ui.review.detail import detail_lines
from locklens.ui.review.outline import Grouping, Node, NodeKind, outline
from locklens.ui.review.rows import marked_words
from locklens.ui.signers import History, signer_detail, signer_rows


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LockLens, Review]]:
    """The sample repository, with all that is locked: each kind of change, proof, signer and finding that it has."""
    folder = tmp_path_factory.mktemp("sample")
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry:
        environ = environ_of(registry, folder)
        top = make_repository(folder / "infrastructure")
        network = NetworkSettings(environ, Cache(folder / "cache.sqlite3"))
        locklens = LockLens(ReviewRequest(partial(open_git, top), include_unchanged=True, network=network))
        yield locklens, locklens.review()


def normal(text: str) -> str:
    """A text without what layout alone makes: groups of digits, places relative to a root, runs of blanks."""
    whole = re.sub(r"\b(?:[0-9A-F]{4} ){9}[0-9A-F]{4}\b", lambda found: found[0].replace(" ", ""), text)
    return " ".join(whole.split())


def shown(lines: Iterable[Line], root: str = "") -> str:
    """The text of a detail, each line after the other."""
    return normal("\n".join(line.text for line in lines).replace("./", f"{root}/" if root else ""))


def statements(report: str, *, indent: int) -> Iterator[str]:
    """The statements of a report's lines that are indented at least so far, without labels, ids and places of findings."""
    for line in report.splitlines():
        if line.startswith(" " * indent):
            bare = re.sub(r"^(REQUIRED BY|LK\d{3} [A-Z]+) +", "", line.strip())
            yield normal(re.sub(r"  \((line \d+|[^ ()]+:\d+)(, column \d+)?\)$", "", bare))


def each_change(review: Review) -> Iterator[tuple[RootReview, Change, Review]]:
    """Every change, with a review of it alone."""
    for root in review.roots:
        for change in root.changes:
            alone = replace(root, changes=(change,), findings=())
            yield alone, change, replace(review, roots=(alone,))


def change_nodes(review: Review) -> Iterator[Node]:
    waiting = list(outline(review, Grouping.ROOT))
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.kind in {NodeKind.CHANGE, NodeKind.MEMBER}:
            yield node


def missing(report: str, detail: str, *, indent: int) -> list[str]:
    return [statement for statement in statements(report, indent=indent) if statement not in detail]


def test_a_change_is_worded_once(sample: tuple[LockLens, Review]) -> None:
    _, review = sample
    seen = 0
    for root, _, alone in each_change(review):
        (node,) = change_nodes(alone)
        detail = shown(detail_lines(node, alone, in_full=True), root.path)
        report = str(text.render(alone))
        assert missing(report, detail, indent=8) == [], report
        seen += len(list(statements(report, indent=8)))
    assert seen > 300


def test_a_locked_provider_is_worded_once(sample: tuple[LockLens, Review]) -> None:
    _, review = sample
    for _, change, alone in each_change(review):
        if change.new is None:
            continue
        (row,) = [one for one in hash_rows(alone) if one.change is not None]
        (root,) = [one for one in hash_rows(alone) if one.change is None]
        detail = f"{shown(hash_detail(row, alone, in_full=True))} {shown(hash_detail(root, alone))}"
        assert not shared_problems([change])
        report = str(lock_lines.hashes_text(alone))
        about_signer = report.index("      SIGNER") if "      SIGNER" in report else len(report)
        before, after = report[:about_signer], report[about_signer:]
        listed = "\n".join(line for line in after.splitlines() if re.match(r" +[a-z0-9]+:\S+", line))
        assert missing(before, detail, indent=6) == [], report
        assert missing(listed, detail, indent=4) == [], report
        policy = report[report.index("REQUIRED PLATFORMS") :].partition("\n\n")[0]
        assert normal(policy) in detail


def test_a_signer_is_worded_once(sample: tuple[LockLens, Review]) -> None:
    locklens, review = sample
    past: dict[str, tuple[PastUse, ...]] = {}
    details = []
    for row in signer_rows(signers(review), is_asking=False):
        history = History()
        if row.signer.key is not None:
            uses = past[row.signer.key.fingerprint] = locklens.history(row.signer)
            history = History(is_read=True, uses=uses)
        details.append(shown(signer_detail(row, review, history)))
    assert any(past.values())
    blocks = str(lock_lines.keys_text(review, past)).split("\n\n")[1:-1]
    assert len(blocks) == len(details)
    as_of = partial(re.compile(r" as of \S+( \S+)? UTC").sub, "")
    for block, detail in zip(blocks, details, strict=True):
        assert missing(as_of(block), as_of(detail), indent=0) == [], block


@pytest.mark.parametrize(
    ("call", "error", "note"),
    [
        ("vpc", "", "unknown: module vpc is not fetched"),
        ("vpc net", "", "unknown: module vpc is not fetched, and 1 more"),
        ("", "Unsupported block type", "unknown: the configuration has an error (call.tf:3)"),
    ],
)
def test_what_of_a_configuration_was_not_read_is_worded_once(
    sample: tuple[LockLens, Review], call: str, error: str, note: str
) -> None:
    _, review = sample
    read = next(root.configuration for root in review.roots if root.configuration and root.configuration.complete)
    modules = tuple(MissingModule(name, "acme/m/x", "call.tf", 2, "Module not installed") for name in call.split())
    problems = (ConfigurationProblem("call.tf", 3, 1, error, "", is_error=True),) if error else ()
    root = replace(
        review.roots[0],
        status=LockStatus.UNCHANGED,
        changes=(),
        findings=(),
        configuration=replace(read, missing_modules=modules, problems=problems),
    )
    alone = replace(review, roots=(root,), own_findings=(), hosts=())
    ((node,),) = (section.children for section in outline(alone, Grouping.ROOT))
    assert (node.kind, node.note) == (NodeKind.NOTE, note)
    report, summary, suites = (render(alone) for render in (text.render, markdown.render, pipelines.junit_report))
    assert all(f"unknown: module {name} is not fetched (acme/m/x)" in report for name in call.split())
    assert (f"configuration error  call.tf:3  {error}" in report) == bool(error)
    assert "verdict: ok, 1 configuration not read whole" in report
    assert f"was not read whole: `{root.configuration.unread_reason if root.configuration else ''}`" in summary
    assert f"<system-out>{note}</system-out>" in suites
    assert verdict(alone, None, is_asking=False) == (0, "not all checked: exit 0 at --fail-on block")


def test_marks_count_distinct_changes_as_reports_do(sample: tuple[LockLens, Review]) -> None:
    _, review = sample
    words = marked_words({change.id for change in review.changes}, review.roots)
    assert words == f"{len(review.changes)} changes ({review.distinct_changes} distinct)"
    assert f"{review.distinct_changes} distinct" in text.render(review)


def test_copied_findings_have_the_title_of_their_case(sample: tuple[LockLens, Review]) -> None:
    _, review = sample
    copied = markdown.render(review)
    special = [finding for change in review.changes for finding in change.findings if finding.case]
    assert special
    for finding in special:
        assert markdown.prose(wording_of(finding).title) in copied


def test_hashes_that_are_kept_for_another_version_are_not_called_added(sample: tuple[LockLens, Review]) -> None:
    _, review = sample
    changed = replace(
        review, roots=tuple(replace(root, context=replace(root.context, is_survey=False)) for root in review.roots)
    )
    added = sum(len(change.added) for change in changed.changes)
    assert changed.hashes.total > added
    assert f" of {changed.hashes.total} added or kept hashes not verified" in hashes_of_review(changed)
    alone = next(change for change in changed.changes if change.claimed and not change.added)
    assert claimed_word([alone]) == "kept"
