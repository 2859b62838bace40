"""README and its pages: what they link to is there, what they name exists, and they are short enough to be read."""

from __future__ import annotations

import json
import re

import pytest
from kit.pages import PAGES, TOP, blocks, marked, prose, spans, table

from locklens.operations.reports import REPORTS
from locklens.project.installation import MethodKind
from locklens.review import PROOF_KINDS, VERIFIED, HashCount, HashFact, Proof
from locklens.review.health import CHECKS
from locklens.review.rules.catalogue import RULES
from locklens.ui.doctor import DOCTOR_KEYS
from locklens.ui.hashes import HASHES_KEYS
from locklens.ui.health import HEALTH_KEYS
from locklens.ui.preview import PREVIEW_KEYS
from locklens.ui.review.frame import REVIEW_KEYS
from locklens.ui.shell.keys import KeyTable
from locklens.ui.signers import SIGNERS_KEYS
from locklens.ui.upgrade.selecting import UPGRADE_KEYS
from locklens.ui.why import WHY_KEYS

SCREENS = {
    "Review": REVIEW_KEYS,
    "Upgrade": UPGRADE_KEYS,
    "Hashes": HASHES_KEYS,
    "Signers": SIGNERS_KEYS,
    "Health": HEALTH_KEYS,
    "Doctor": DOCTOR_KEYS,
}
OTHERS = {"Preview": PREVIEW_KEYS, "Why": WHY_KEYS}
SCREENS_PAGE = "tui/docs/screens.md"
MENTIONED = {"LOCKLENS_TESTS": "of the tests", "LOCKLENS_PYTHON": "of the hooks"}
"""Variables on the pages that the program itself does not read."""

pages = pytest.mark.parametrize("page", PAGES)


def anchors(page: str) -> set[str]:
    text = prose((TOP / page).read_text("utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pages
def test_every_link_leads_somewhere(page: str) -> None:
    folder = (TOP / page).parent
    links = re.findall(r"\]\(([^()\s]+)\)", prose(PAGES[page]))
    for link in links:
        target, _, anchor = link.partition("#")
        if "://" in target or target.startswith("../../actions/"):
            continue  # Other sites, and the forge's own page of the badge.
        path = (folder / target).resolve() if target else TOP / page
        assert path.is_relative_to(TOP), link
        assert path.is_file(), link
        assert not anchor or anchor in anchors(path.relative_to(TOP).as_posix()), link


def test_readme_links_to_every_page_and_every_picture_is_shown() -> None:
    for page in PAGES:
        assert page == "README.md" or f"]({page})" in PAGES["README.md"], page
    text = "\n".join(PAGES.values())
    for picture in (TOP / "screenshots").glob("*.png"):
        assert f"screenshots/{picture.name})" in text, picture.name


@pages
def test_a_page_opens_with_what_it_is_for(page: str) -> None:
    lines = PAGES[page].splitlines()
    assert lines[0].startswith("# ")
    if page != "README.md":
        opening = PAGES[page].split("\n\n")[1]
        assert opening.startswith("This page is for ")
        assert re.fullmatch(r"[^.]*(\.\w[^.]*)*\.", opening), "one sentence"


@pages
def test_a_page_can_be_read_at_once(page: str) -> None:
    for paragraph in re.split(r"\n\n|\n(?=[-|\d])", prose(PAGES[page])):
        assert len(paragraph.split()) < 100, paragraph
    if page == "README.md":
        assert PAGES[page].count("\n") <= 120, "two screens"


def test_the_set_up_commands_stand_in_readme_behind_their_marks() -> None:
    found = re.findall(r"<!-- (the demo|the tests) -->\n```sh\n(.*?)```", PAGES["README.md"], re.DOTALL)
    assert [name for name, _ in found] == ["the demo", "the tests"]
    assert all(command.startswith("python3 -m venv .venv && ") for _, command in found)
    contributing = (TOP / ".github/CONTRIBUTING.md").read_text("utf-8")
    assert found[1][1] in contributing
    assert [*marked("pipeline")] == ["github", "gitlab", "azure", "atlantis", "shell"]


@pages
def test_placeholders_are_explained_once(page: str) -> None:
    text = PAGES[page]
    code = "\n".join([*(block for _, block in blocks(text)), *spans(text)])
    used = set(re.findall(r"(?<![\w$-])(?:OWNER|PROJECT|COMMIT|DIR|FILE|BASE|ROOT)(?![\w-])", code))
    is_explained = page == "README.md" or "README.md#ten-words" in text
    opening = text.split("\n## ")[0]
    assert all(is_explained or f"{word} " in opening for word in used), used


def labels(cell: str) -> set[str]:
    words = cell.replace("`", "").replace(",", " ").split()
    return set(words) - {"arrows", "left", "right", "to"}


def of_screen(keys: KeyTable) -> set[str]:
    groups = (group for group in keys.groups if group.title != "On another screen")
    return {label for group in groups for key in group.keys for label in labels(key.shown)}


def on_page(title: str) -> set[str]:
    """The keys of the tables in a section of the page."""
    section = PAGES[SCREENS_PAGE].partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| ", section, re.MULTILINE)
    return {label for row in rows for label in labels(row)}


def test_the_page_of_the_screens_has_every_key_and_no_other() -> None:
    """Whoever adds a key adds its row to the table of its screen in tui/docs/screens.md."""
    everywhere = on_page("On every screen")
    for title, keys in SCREENS.items():
        assert of_screen(keys) | {"1", "6"} == everywhere | on_page(title), title
    for title, keys in OTHERS.items():
        assert on_page(title) <= of_screen(keys), title
        assert of_screen(keys) - everywhere <= on_page(title) | {"n", "N", "pgup", "pgdn"}, title


def test_the_pages_name_rules_that_there_are_and_the_checks_of_the_health() -> None:
    for page, text in PAGES.items():
        assert set(re.findall(r"LK\d{3}", text)) <= RULES.keys(), page
    listed = [
        (rule, command.strip("`"))
        for _, rules, command in table("| check | rules | command |")
        for rule in rules.split(", ")
    ]
    assert sorted(listed) == sorted((rule, check.command) for check in CHECKS for rule in check.rules)


def test_the_page_of_proofs_has_each_of_them() -> None:
    assert [name.strip("`") for name, _ in table("| proof | meaning |")] == list(PROOF_KINDS) == list(Proof)
    *others, last = Proof
    for page in ("README.md", ".github/CONTRIBUTING.md"):
        assert f"what is known of a hash: {', '.join(others)} or {last}" in (TOP / page).read_text("utf-8"), page
    assert f"| verified | of a hash: {VERIFIED} |" in (TOP / ".github/CONTRIBUTING.md").read_text("utf-8")
    verified = " or ".join(f"`{proof}`" for proof, kind in PROOF_KINDS.items() if kind.is_verified)
    assert f"verified if its proof is {verified}, and by nothing else:" in PAGES["tui/docs/trust-and-hosts.md"]


@pytest.mark.parametrize("kind", MethodKind)
def test_the_page_of_mirrors_names_each_installation_method(kind: MethodKind) -> None:
    named = PAGES["tui/docs/mirrors-and-caches.md"]
    assert f"`{kind}`" in named
    assert not kind.option or f"`{kind.option.removeprefix('-')}`" in named


def test_the_environment_is_that_which_the_program_reads() -> None:
    rows = table("| variable | effect |")
    listed = {name for names, _ in rows for name in re.findall(r"`(\w+)`", names)}
    sources = "\n".join(path.read_text("utf-8") for path in (TOP / "tui/locklens").rglob("*.py"))
    read = set(re.findall(r'"((?:LOCKLENS|TF|TERRAFORM|OPENTOFU)_[A-Z_]*[A-Z])"', sources))
    assert read <= listed, "read, and not on the page"
    for name in listed:
        prefix = re.match(r"TF_(?:TOKEN|VAR|CLI_ARGS)_", name)
        is_setting = f'"{name.removeprefix("TF_").lower()}"' in sources  # Of the CLI configuration, read from both.
        assert is_setting or (prefix[0] if prefix else name) in sources, name
    for page, text in PAGES.items():
        named = set(re.findall(r"\b(?:LOCKLENS|TF|TERRAFORM|OPENTOFU)_[A-Z_]*[A-Z]\b", text))
        assert named <= listed | MENTIONED.keys(), page


def test_the_numbers_of_hashes_are_related_as_the_page_says() -> None:
    count = HashCount.of(HashFact("h1:a", proof=proof) for proof in Proof for _ in range(1 + list(Proof).index(proof)))
    assert "`explained` and `unverified` together are `added` and `reported` together" in PAGES["tui/docs/reference.md"]
    assert count.reported
    assert count.explained + count.unverified == count.total + count.reported


def test_the_page_prints_the_schema_of_every_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    section = PAGES["tui/docs/reference.md"].partition("\n## JSON\n")[2].partition("\n## ")[0]
    command = re.search(r"python -c '(.*)'", section)
    assert command is not None
    exec(command[1], {})
    assert json.loads(capsys.readouterr().out)["title"] == "locklens review, schema 1"
    named = re.findall(r"`([a-z]+)`", section.partition("There is one each for")[2])
    assert named == [view for view, form in REPORTS if form == "json"]
