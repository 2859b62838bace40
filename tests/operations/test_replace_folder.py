"""Folders of packages are replaced as a whole: the old one is kept aside, links are not written through, undo works."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from locklens.demo import h1, write_unpacked
from locklens.demo.incidents import SampleIncident, incident_environment, make_incident, sample_incidents
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.errors import ConfigurationError, StaleLockFileError
from locklens.operations.comparison import RootSettings
from locklens.operations.doctor import DoctorRequest
from locklens.operations.doctor.diagnose import diagnose, remedy_operation
from locklens.operations.plan import Plan
from locklens.operations.write.apply import FileOperation, apply
from locklens.operations.write.recover import ABSENT, recover_at, state_of
from locklens.operations.write.undo import ReplaceFolder, recorded, undo
from locklens.policy import Policy
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache
from locklens.storage.journal import Journal, Record

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
ADDRESS, VERSION, PLATFORM = "registry.terraform.io/acme/demo", "1.4.2", "linux_amd64"
PACKAGE = f"{ADDRESS}/{VERSION}/{PLATFORM}"
GENUINE, TAMPERED = h1(ADDRESS, VERSION, PLATFORM), h1(ADDRESS, VERSION, PLATFORM, "tampered")
INSTALLED = f"live/prod/.terraform/providers/{PACKAGE}"


def planned(incident: SampleIncident, folder: Path, remedy: str, network: NetworkSettings | None = None) -> Plan:
    """Returns the plan of a remedy; without network settings nobody is asked."""
    request = DoctorRequest(
        (folder / "ci.log").read_bytes(),
        folder,
        {**os.environ, **incident_environment(incident, folder)},
        mirrors=("mirror",) if (folder / "mirror").exists() else (),
        platform=PLATFORM,
        network=network,
        prove="changed",
    )
    found = [one for one in diagnose(request).remedies if one.id == remedy]
    assert found, remedy
    assert found[0].write is not None
    operation = remedy_operation(found[0].write, folder, RootSettings(), Policy())
    assert isinstance(operation, FileOperation)
    return operation.plan()


@pytest.fixture
def corrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_incident(INCIDENTS["plugin-corrupted"], tmp_path / "repository")
    monkeypatch.chdir(folder)
    return folder


def test_the_installed_folder_is_replaced_and_brought_back(corrupted: Path) -> None:
    plan = planned(INCIDENTS["plugin-corrupted"], corrupted, "use-copy")
    place = corrupted / INSTALLED
    words = " ".join(plan.proposal.words)
    assert TAMPERED in words
    assert GENUINE in words
    assert "changed" in words
    assert plan.proposal.command == f"mv -- {INSTALLED} {INSTALLED}.suspect && cp -R -- mirror/{PACKAGE}/ {INSTALLED}"
    assert state_of(str(place)) == TAMPERED
    assert apply(plan.proposal) == ()
    assert state_of(str(place)) == GENUINE
    assert state_of(f"{place}.suspect") == TAMPERED
    assert state_of(str(corrupted / "mirror" / PACKAGE)) == GENUINE
    assert recorded(corrupted).writes[0].files == (INSTALLED,)
    assert apply(undo(corrupted).proposal) == ()
    assert state_of(str(place)) == TAMPERED
    assert [one.name for one in place.parent.iterdir()] == [PLATFORM]
    assert apply(undo(corrupted, is_redo=True).proposal) == ()
    assert state_of(str(place)) == GENUINE
    assert sorted(one.name for one in place.parent.iterdir()) == [PLATFORM, f"{PLATFORM}.suspect"]


def test_a_folder_with_a_locked_hash_is_not_said_to_have_none(corrupted: Path) -> None:
    aside = ReplaceFolder(corrupted, str(corrupted / INSTALLED), str(corrupted), "", (GENUINE, TAMPERED))
    assert f"it is {TAMPERED}, which is locked" in aside.plan().proposal.words
    assert f"it is {TAMPERED}, which is not locked" in replace(aside, locked=(GENUINE,)).plan().proposal.words


def test_a_link_to_the_cache_is_not_written_through(corrupted: Path, tmp_path: Path) -> None:
    cache = write_unpacked(tmp_path / "cache", ADDRESS, VERSION, PLATFORM, "tampered")
    place = corrupted / INSTALLED
    shutil.rmtree(place)
    place.symlink_to(cache)
    before = {one: one.read_bytes() for one in cache.iterdir()}
    plan = planned(INCIDENTS["plugin-corrupted"], corrupted, "use-copy")
    assert f"a link to {cache}" in plan.proposal.words[0]
    apply(plan.proposal)
    assert not place.is_symlink()
    assert state_of(str(place)) == GENUINE
    assert Path(f"{place}.suspect").readlink() == cache
    assert {one: one.read_bytes() for one in cache.iterdir()} == before
    apply(undo(corrupted).proposal)
    assert place.readlink() == cache


def test_a_data_folder_that_leads_out_is_refused(corrupted: Path, tmp_path: Path) -> None:
    data = corrupted / "live/prod/.terraform"
    data.rename(tmp_path / "elsewhere")
    data.symlink_to(tmp_path / "elsewhere")
    plan = planned(INCIDENTS["plugin-corrupted"], corrupted, "use-copy")
    with pytest.raises(ConfigurationError, match="leads out of"):
        apply(plan.proposal)
    assert state_of(str(tmp_path / "elsewhere/providers" / PACKAGE)) == TAMPERED


def test_a_mirror_of_the_checkout_that_leads_out_is_refused(tmp_path: Path) -> None:
    incident = INCIDENTS["mirror-differs"]
    folder = make_incident(incident, tmp_path / "repository")
    with DemoRegistry() as registry, Cache(tmp_path / "cache.sqlite3") as cache:
        variables = environment(write_cli_configuration(registry, tmp_path))
        plan = planned(incident, folder, "replace-copy", NetworkSettings({**os.environ, **variables}, cache))
    (folder / "mirror").rename(tmp_path / "elsewhere")
    (folder / "mirror").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError, match="leads out of"):
        apply(plan.proposal)
    assert state_of(str(tmp_path / "elsewhere" / PACKAGE)) == TAMPERED


def test_a_folder_that_changed_meanwhile_is_left(corrupted: Path) -> None:
    plan = planned(INCIDENTS["plugin-corrupted"], corrupted, "use-copy")
    (corrupted / INSTALLED / "more").write_text("x", "utf-8")
    with pytest.raises(StaleLockFileError, match="changed on disk"):
        apply(plan.proposal)
    assert [one.name for one in (corrupted / INSTALLED).parent.iterdir()] == [PLATFORM]
    (corrupted / INSTALLED / "more").unlink()
    (corrupted / "mirror" / PACKAGE / "more").write_text("x", "utf-8")
    with pytest.raises(StaleLockFileError, match="changed on disk"):
        apply(plan.proposal)
    assert Journal().pending(corrupted) is None


@pytest.mark.parametrize("start", ["", "repository/"], ids=["in it", "above"])
def test_without_a_copy_the_folder_is_moved_aside(start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    incident = INCIDENTS["cache-differs"]
    folder = make_incident(incident, tmp_path / "repository")
    monkeypatch.chdir(tmp_path if start else folder)
    with DemoRegistry() as registry, Cache(tmp_path / "cache.sqlite3") as cache:
        variables = environment(write_cli_configuration(registry, tmp_path))
        plan = planned(incident, folder, "replace-copy", NetworkSettings({**os.environ, **variables}, cache))
    expected = f"nothing is fetched here: terraform -chdir={start}live/prod init does that next"
    assert plan.proposal.words[-1] == expected
    moved = f"mv -- {start}cache/{PACKAGE} {start}cache/{PACKAGE}.suspect"
    assert plan.proposal.command == moved
    apply(plan.proposal)
    assert [one.title for one in recorded(folder).writes] == [f"Move aside cache/{PACKAGE}"]
    assert state_of(str(folder / "cache" / PACKAGE)) == ABSENT
    assert state_of(str(folder / "cache" / f"{PACKAGE}.suspect")) == TAMPERED
    write_unpacked(folder / "cache", ADDRESS, VERSION, PLATFORM)
    with pytest.raises(StaleLockFileError) as caught:
        undo(folder)
    assert caught.value.hint == "nothing was moved; something is in its place now: move that away first"


def test_a_missing_package_is_put_there(tmp_path: Path) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    missing = replace(INCIDENTS["plugin-missing"], copies=incident.copies[1:])
    folder = make_incident(missing, tmp_path / "repository")
    (folder / "live/prod/.terraform/providers").mkdir(parents=True)
    plan = planned(missing, folder, "use-copy")
    apply(plan.proposal)
    assert state_of(str(folder / INSTALLED)) == GENUINE
    apply(undo(folder).proposal)
    assert state_of(str(folder / INSTALLED)) == ABSENT


@pytest.mark.parametrize("done", [0, 1, 2])
def test_an_interrupted_replacement_is_reverted(corrupted: Path, done: int) -> None:
    plan = planned(INCIDENTS["plugin-corrupted"], corrupted, "use-copy")
    folder = plan.proposal.folders[0]
    record = Record("abc", os.fsencode(corrupted), ("x",), "mv", "2026-11-20T10:00:00", (), folders=(folder,))
    with Journal().held(corrupted, wait=0):
        Journal().begin(record)
    staged = Path(folder.place).with_name(".locklens-abc-0-new")
    shutil.copytree(folder.source, staged)
    if done:
        Path(folder.place).rename(folder.aside)
    if done > 1:
        staged.rename(folder.place)
    told = recover_at(corrupted)
    assert "was reverted" in told[0]
    assert state_of(folder.place) == TAMPERED
    assert [one.name for one in Path(folder.place).parent.iterdir()] == [PLATFORM]
    assert recover_at(corrupted) == ()
