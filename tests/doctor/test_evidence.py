"""What a verdict rests on: the failing run's facts; what this machine or this minute shows is said as an assumption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from locklens.demo.cases import requires, sample_entry
from locklens.demo.incidents import SampleCopy, SampleIncident, boxed_log, sample_incidents
from locklens.demo.packages import lock_file
from locklens.project.clifiles import this_platform

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
LOCK = ".terraform.lock.hcl"
DEMO = sample_entry("acme/demo", "1.4.2", "~> 1.4")
HERE = str(this_platform())
OTHER, THIRD = [one for one in ("darwin_arm64", "linux_amd64", "windows_amd64") if one != HERE][:2]
COPY = SampleCopy("mirror", "registry.terraform.io/acme/demo", "1.4.2", platform=HERE)


def _without_platform(folder: Path) -> None:
    """Takes the platform out of the log."""
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("on linux_amd64\n", ""), "utf-8")


def _first(document: Any) -> tuple[str, str]:
    return document["causes"][0]["id"], document["causes"][0]["verdict"]


def _verdicts(document: Any) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in document["causes"]}


def _of_one_platform(made: Any, *platforms: str) -> Path:
    """Makes a root that locks the h1 of other platforms than this one, of which a mirror has a copy."""
    lock = lock_file(replace(DEMO, unpacked=platforms))
    folder: Path = made(replace(INCIDENTS["h1-missing"], locks=(lock,), copies=(COPY,), options=()))
    _without_platform(folder)
    return folder


def test_a_copy_here_tells_no_platform(made: Any, doctor: Any) -> None:
    folder = _of_one_platform(made, OTHER)
    other = folder / "live/other"
    other.mkdir()
    (other / "main.tf").write_text(requires(("acme/demo", "~> 1.4")), "utf-8")
    (other / LOCK).write_bytes(lock_file(replace(DEMO, unpacked=(HERE,))))
    document = doctor(folder, "--mirror", "mirror", "ci.log", "--", "live/prod")
    assert _first(document) == ("h1-missing", "likely")
    evidence = document["causes"][0]["evidence"]
    assert f"live/other/{LOCK} locks the h1 of" in evidence
    assert f"that the failing run was on {HERE} is assumed" in evidence
    assert _verdicts(document)["mirror-differs"] == "unknown"
    named = doctor(folder, "--mirror", "mirror", "--platform", HERE, "ci.log", "--", "live/prod")
    assert _first(named) == ("h1-missing", "yes")


def test_an_edit_fixes_only_what_it_covers(made: Any, doctor: Any) -> None:
    folder = _of_one_platform(made, OTHER)
    lock = folder / "live/prod" / LOCK
    wrong, right = (lock_file(replace(DEMO, unpacked=(OTHER, one))) for one in (THIRD, HERE))
    lock.write_bytes(wrong)
    for options in ((), ("--platform", HERE)):
        document = doctor(folder, "--prove=all", *options, "ci.log")
        assert document["state"] == "open"
        assert any("was changed since commit" in note for note in document["run"]["notes"])
    lock.write_bytes(right)
    assert doctor(folder, "--prove=all", "ci.log")["state"] == "open"
    assert doctor(folder, "--prove=all", "--platform", HERE, "ci.log")["state"] == "fixed"


def test_one_more_platform_fixes_no_altered_copy(made: Any, doctor: Any) -> None:
    folder = _of_one_platform(made, HERE)
    (folder / "live/prod" / LOCK).write_bytes(lock_file(replace(DEMO, unpacked=(HERE, OTHER))))
    assert doctor(folder, "--prove=all", "--platform", HERE, "ci.log")["state"] == "open"


def test_only_a_root_with_the_entry_is_said_to_have_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["not-locked"])
    text = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "ROOT live/prod acme/netbox; not locked here RAN" in text.replace("VERDICT", "RAN")
    for name, entry in (("live/a", sample_entry("acme/netbox", "3.9.1", "~> 3.9")), ("live/b", DEMO)):
        (folder / name).mkdir()
        (folder / name / "main.tf").write_text(requires((entry.provider, entry.constraints)), "utf-8")
        (folder / name / LOCK).write_bytes(lock_file(entry))
    words = {"live/prod": "; not locked here, locked in live/a", "live/a": "; no other root locks it"}
    for root, expected in words.items():
        text = " ".join(doctor(folder, "--format", "text", "ci.log", "--", root).split())
        assert expected in text.partition("VERDICT")[0], root
    (folder / "live/b" / LOCK).write_text("provider {", "utf-8")
    text = " ".join(doctor(folder, "--format", "text", "--provider=acme/netbox", "--", "live/a").split())
    assert "; no other root that can be read locks it" in text
