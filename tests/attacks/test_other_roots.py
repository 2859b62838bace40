"""A provider that is new in one root and locked in others: moving an entry to another folder is no way around."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kit.git import git
from kit.registries import lead_to
from kit.repositories import commit

from locklens.cli.main import main
from locklens.demo import SampleLock, h1, lock_file
from locklens.demo.faults import Fault
from locklens.demo.registry import DemoRegistry

AWS = "registry.terraform.io/hashicorp/aws"
DEMO = "registry.terraform.io/acme/demo"
LOCK = ".terraform.lock.hcl"
OLD = SampleLock(AWS, "5.84.0")
OTHER = SampleLock(DEMO, "1.4.1")
Findings = dict[str, tuple[str, str]]


def lay(top: Path, **roots: SampleLock | None) -> None:
    for name, locked in roots.items():
        (top / name).mkdir(exist_ok=True)
        (top / name / LOCK).unlink(missing_ok=True)
        if locked is not None:
            (top / name / LOCK).write_bytes(lock_file(locked))
    commit(top, {})


@pytest.fixture
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry() as registry:
        yield registry


@pytest.fixture
def judged(
    registry: DemoRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Findings]:
    """The findings of the provider that is new in a root, where the base locks `OLD` in `a` and `OTHER` in `b`."""
    lead_to(monkeypatch, registry, tmp_path)
    top = tmp_path / "top"
    top.mkdir()
    monkeypatch.chdir(top)
    git(top, "init", "-q")
    lay(top, a=OLD, b=OTHER)
    git(top, "checkout", "-q", "-b", "pr")

    def of(root: str, **roots: SampleLock | None) -> Findings:
        lay(top, **roots)
        main(["review", "main", "--no-cache", "--format", "json"], lambda *_: 0)
        document = json.loads(capsys.readouterr().out)
        (own,) = (one for one in document["roots"] if one["path"] == root)
        (change,) = (one for one in own["changes"] if one["provider"] == AWS and one["new"])
        return {one["rule"]: (one["severity"], one["message"]) for one in change["findings"]}

    return of


PLACES = pytest.mark.parametrize("place", ["swapped", "new root", "moved into a root that is there"])


def placed(place: str, new: SampleLock) -> tuple[str, dict[str, SampleLock | None]]:
    match place:
        case "swapped":
            return "b", {"a": OTHER, "b": new}
        case "new root":
            return "c", {"c": new}
        case _:
            return "b", {"a": None, "b": new}


@PLACES
def test_another_signer_is_noticed(judged: Callable[..., Findings], registry: DemoRegistry, place: str) -> None:
    registry.faults.add(Fault.OTHER_SIGNER, AWS, "5.86.1")
    root, roots = placed(place, OLD.at("5.86.1"))
    found = judged(root, **roots)
    assert found["LK010"][0] == "warn"
    assert "; 5.84.0, which " in found["LK010"][1]
    assert f"/{LOCK}:4 locks in the base, is signed by " in found["LK010"][1]


@PLACES
def test_a_downgrade_is_noticed(judged: Callable[..., Findings], place: str) -> None:
    root, roots = placed(place, OLD.at("5.83.0"))
    severity, words = judged(root, **roots)["LK004"]
    assert severity == "warn"
    assert words.startswith("5.83.0; the lowest in other roots of the base is 5.84.0 (")


@PLACES
def test_an_h1_that_the_base_does_not_have_is_a_warning(judged: Callable[..., Findings], place: str) -> None:
    root, roots = placed(place, SampleLock(AWS, "5.84.0", more=(h1(AWS, "5.84.0", "linux_amd64", "evil"),)))
    assert judged(root, **roots)["LK027"][0] == "warn"


@PLACES
def test_what_the_base_locks_elsewhere_is_nothing_new(
    judged: Callable[..., Findings], registry: DemoRegistry, place: str
) -> None:
    root, roots = placed(place, OLD)
    assert {rule: severity for rule, (severity, _) in judged(root, **roots).items()} == {"LK027": "info"}


@PLACES
def test_an_honest_upgrade_is_no_finding_but_its_h1(
    judged: Callable[..., Findings], registry: DemoRegistry, place: str
) -> None:
    root, roots = placed(place, OLD.at("5.86.1"))
    assert {rule: severity for rule, (severity, _) in judged(root, **roots).items()} == {"LK027": "info"}
