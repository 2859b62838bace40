"""Advisories in reports: the OpenVEX document and what its specification asks for, and the lines that screens share."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.advisories import AdvisoryDifferences, AdvisoryMatch, Linkage, PackageAdvisories, Unjudged
from locklens.errors import ConfigurationError
from locklens.executables import BuildInfo, Executable, ExecutableFormat, GoModule
from locklens.lines import plain_lines
from locklens.operations.reports import render_report
from locklens.packages.inspecting import FileFacts, PackageFacts
from locklens.review.inspection import ChangeAdvisories, InspectedPackage, Inspection
from locklens.review.reports.advisories import advisory_section, advisory_summary
from locklens.versions import Version

OWN = "github.com/hashicorp/terraform-provider-vault"


def match(number: int, linkage: Linkage, **more: Any) -> AdvisoryMatch:
    module = more.pop("module", "golang.org/x/net")
    version = more.pop("version", "v0.1.0")
    return AdvisoryMatch(f"GO-{number}", (f"CVE-{number}",), "A defect.", module, version, linkage, **more)


MATCHES = (
    match(1, Linkage.NO_SYMBOLS, module=OWN, version="4.2.0", fixed_in="5.5.0", is_own=True),
    match(2, Linkage.LINKED, functions=("golang.org/x/net/html.Parse",), fixed_in="v0.38.0"),
    match(3, Linkage.NOT_LINKED),
    match(4, Linkage.NO_SYMBOLS),
    match(5, Linkage.UNKNOWN),
    match(6, Linkage.OTHER_PLATFORM),
    match(7, Linkage.LINKED, module="stdlib", version="go1.25.3"),
)
UNJUDGED = Unjudged(OWN, ("GO-8",), "the database has only Go's versions of it", is_own=True)


def package(version: str | None = "4.2.0") -> InspectedPackage:
    build = BuildInfo("go1.25.3", OWN, GoModule(OWN, "(devel)"))
    program = Executable(ExecutableFormat.ELF, 1, build, (), packages=())
    name = "terraform-provider-vault_v4.2.0"
    facts = PackageFacts(f"zh:{'1' * 64}", "h1:x", 1, (FileFacts(name, 1, "2" * 64),), name, program)
    address = ProviderAddress("registry.terraform.io", "hashicorp", "vault")
    return InspectedPackage(
        address, Version.parse(version) if version else None, Platform("linux", "amd64"), "here", facts
    )


def document(*matches: AdvisoryMatch, version: str | None = "4.2.0", **more: Any) -> dict[str, Any]:
    now = PackageAdvisories(matches, more.pop("unjudged", ()))
    known = ChangeAdvisories("as of 2026-11-16", None, "here", now, platform="linux_amd64", **more)
    found = Inspection(((package(version),),), "2026-11-23T20:00:00Z", advisories=known)
    made: dict[str, Any] = json.loads(render_report("inspect", "openvex", found))
    return made


def test_it_has_what_the_specification_asks_for() -> None:
    made = document(*MATCHES, unjudged=(UNJUDGED,))
    assert made["@context"] == "https://openvex.dev/ns/v0.2.0"
    assert made["@id"].startswith("https://openvex.dev/docs/public/vex-")
    assert (made["version"], made["timestamp"]) == (1, "2026-11-23T20:00:00Z")
    assert made.keys() == {"@context", "@id", "author", "timestamp", "version", "tooling", "statements"}
    known = {"vulnerability", "products", "status", "status_notes", "justification", "action_statement"}
    for one in made["statements"]:
        assert one.keys() <= known
        assert one["vulnerability"]["name"]
        assert one["products"][0]["hashes"] == {"sha-256": "2" * 64}
        assert ("justification" in one) is (one["status"] == "not_affected")
        assert ("action_statement" in one) is (one["status"] == "affected")
    assert document(*MATCHES, unjudged=(UNJUDGED,)) == made, "the same again has the same id"


def test_not_affected_is_said_only_of_what_was_looked_for_and_is_not_there() -> None:
    made = document(*MATCHES, unjudged=(UNJUDGED,))
    statuses = {one["vulnerability"]["name"]: one["status"] for one in made["statements"]}
    unsure = dict.fromkeys(("GO-4", "GO-5", "GO-6", "GO-8"), "under_investigation")
    affected = dict.fromkeys(("GO-1", "GO-2", "GO-7"), "affected")
    assert statuses == {**affected, "GO-3": "not_affected", **unsure}
    (absent,) = (one for one in made["statements"] if one["status"] == "not_affected")
    assert absent["justification"] == "vulnerable_code_not_present"


def test_products_are_named_by_module_and_version_where_both_are_known() -> None:
    (one,) = document(MATCHES[1])["statements"]
    assert one["products"][0]["@id"] == f"pkg:golang/{OWN}@v4.2.0"
    assert one["products"][0]["subcomponents"][0]["@id"] == "pkg:golang/golang.org/x/net@v0.1.0"
    assert one["action_statement"] == "use a release with golang.org/x/net v0.38.0"
    (unnamed,) = document(MATCHES[6], version=None)["statements"]
    assert "@id" not in unnamed["products"][0]
    assert unnamed["products"][0]["subcomponents"][0]["@id"] == "pkg:golang/stdlib@1.25.3"


def test_what_only_the_older_package_has_is_fixed() -> None:
    made = document(differences=AdvisoryDifferences(fixed=(MATCHES[1],)))
    assert [(one["vulnerability"]["name"], one["status"]) for one in made["statements"]] == [("GO-2", "fixed")]


def test_the_lines_that_screens_and_reports_share_say_what_changes_and_what_is_not_known() -> None:
    differences = AdvisoryDifferences((MATCHES[1],), (MATCHES[6],), (MATCHES[0], MATCHES[2], MATCHES[5]), ("why",))
    now = PackageAdvisories(MATCHES, (UNJUDGED,))
    known = ChangeAdvisories("as of 2026-11-16", None, "here", now, differences, "linux_amd64", ("GO-9",))
    lines = [" ".join(each.split()) for each in plain_lines(advisory_section(known))]
    assert lines == [
        "",
        "ADVISORIES 1 introduced, 1 fixed, 1 in both (and 1 not linked by name, 1 for other platforms) as of 2026-11-16,",
        "linux_amd64",
        "introduced GO-2 in golang.org/x/net v0.1.0, fixed in v0.38.0 linked: html.Parse",
        "fixed GO-7 in stdlib go1.25.3, no fix linked by name",
        f"in both GO-1 in {OWN} 4.2.0, fixed in 5.5.0 the provider itself",
        "in both 1 not linked by name",
        "in both 1 for other platforms",
        "cannot say: why",
        "ignored by the policy: GO-9",
        "database: here; advisories of https://vuln.go.dev are licensed under CC-BY-4.0",
    ]


def test_the_advisories_of_one_version_are_counted_by_kind() -> None:
    known = ChangeAdvisories("as of 2026-11-16", None, "here", PackageAdvisories(MATCHES), None, "linux_amd64")
    assert advisory_summary(known) == (
        "7 advisories: 1 of the provider itself, 2 linked by name, 1 not linked by name, 1 no symbol data, "
        "1 for other platforms, cannot say of 1 whether linked (as of 2026-11-16, linux_amd64)"
    )
    own = replace(known, now=PackageAdvisories(MATCHES[:1]), platform="")
    assert advisory_summary(own).startswith("1 advisory: 1 of the provider itself (")


def test_a_document_without_a_statement_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="nothing to state"):
        document()
    with pytest.raises(ConfigurationError, match="no database") as error:
        render_report("inspect", "openvex", Inspection(((package(),),), "2026-11-23T20:00:00Z"))
    assert "advisories update" in error.value.hint
