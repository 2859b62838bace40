"""What a verdict rests on: the failing run's facts; what this machine or this minute shows is said as an assumption."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
from kit.command_line import no_screen
from kit.git import git
from kit.loopback import server_context, serving, write_authority
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import lock_file, package_bytes, write_unpacked
from locklens.demo.cases import OPENTOFU_HOST, requires, sample_entry
from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.incidents import SampleCopy, boxed_log, sample_incidents
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import write_cli_configuration
from locklens.dialect import OPENTOFU
from locklens.project.clifiles import this_platform

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
LOCK = ".terraform.lock.hcl"
DEMO = sample_entry("acme/demo", "1.4.2", "~> 1.4")
HERE = str(this_platform())
OTHER, THIRD = [one for one in ("darwin_arm64", "linux_amd64", "windows_amd64") if one != HERE][:2]
WHILE = (
    "Error while installing acme/demo v1.4.2: the current package for registry.terraform.io/acme/demo 1.4.2 doesn't "
    "match any of the checksums previously recorded in the dependency lock file"
)
MISMATCH = "Failed to install provider", WHILE
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
    assert _first(named) == ("h1-missing", "likely")  # of which platform the locked h1 is, is not known
    assert _verdicts(named)["mirror-differs"] == "unknown"
    proven = doctor(folder, "--mirror", "mirror", "--platform", HERE, "--prove=all", "ci.log", "--", "live/prod")
    assert _first(proven) == ("h1-missing", "yes")


def test_an_edit_fixes_only_what_it_covers(made: Any, doctor: Any) -> None:
    folder = _of_one_platform(made, OTHER)
    lock = folder / "live/prod" / LOCK
    wrong, right = (lock_file(replace(DEMO, unpacked=(OTHER, one))) for one in (THIRD, HERE))
    lock.write_bytes(wrong)
    for options in ((), ("--platform", HERE)):
        document = doctor(folder, "--prove=all", *options, "ci.log")
        assert document["state"] == "open"
        (changed,) = (note for note in document["run"]["notes"] if "to the hashes of commit" in note)
        is_certain = any(one["verdict"] == "yes" for one in document["causes"])
        assert ("run init again" in changed) is not is_certain
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


QUERY = "Failed to query available provider packages"
ADDRESS = "registry.terraform.io/acme/demo"
VERSIONS = (
    f"Could not retrieve the list of available versions for provider acme/demo: could not query provider registry for "
    f'{ADDRESS}: the request failed after 2 attempts, please try again later: Get "https://registry.terraform.io/v1/'
    'providers/acme/demo/versions": context deadline exceeded'
)
NO_NAME = (
    "Could not retrieve the list of available versions for provider acme/demo: could not connect to {0}: failed to "
    'request discovery document: Get "https://{0}/.well-known/terraform.json": dial tcp: lookup {0}: no such host'
)


def _log(folder: Path, *message: str) -> str:
    (folder / "real.log").write_text("\n\n".join((f"Error: {message[0]}", *message[1:])), "utf-8")
    return "real.log"


def _evidence(document: Any) -> dict[str, str]:
    return {one["id"]: one["evidence"] for one in document["causes"]}


@pytest.mark.parametrize("step", [Step.VERSIONS, Step.DOWNLOAD, None])
def test_only_the_same_request_says_that_the_registry_answers(
    step: Step | None, made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locklens.sources.http.sending.Sender._wait", lambda *_: None)
    rules = (FaultRule(Fault.SERVER_ERROR, ADDRESS, step=step),) if step is not None else ()
    folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
    document = doctor(folder, _log(folder, QUERY, VERSIONS))
    words = "the same request fails here:" if step is Step.VERSIONS else "the same request is answered here"
    assert words in _evidence(document)["registry-down"]
    assert (_first(document), _verdicts(document)["proxy-or-ca"]) == (("registry-down", "likely"), "unknown")
    assert ("so that it was down then" in document["causes"][0]["evidence"]) == (step is not Step.VERSIONS)
    installing = VERSIONS.replace("versions", "download").partition(": ")[2]
    document = doctor(folder, _log(folder, "Failed to install provider", f"Error while installing acme/demo v1.4.2: {installing}"))  # fmt: skip
    words = (
        "a request for this version fails here:"
        if step is Step.DOWNLOAD
        else "requests for this version are answered here"
    )
    assert words in _evidence(document)["registry-down"]
    assert _first(document) == ("registry-down", "likely")
    document = doctor(folder, _log(folder, QUERY, NO_NAME.format("registry.terraform.io")))
    assert "requests of this registry are answered here" in _evidence(document)["registry-down"]


def test_a_connection_that_was_closed_refused_no_credentials(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    url = "https://dl.example.com/v1/providers/acme/demo/1.4.2/download/linux/amd64"
    failed = f'the request failed after 2 attempts, please try again later: Get "{url}": EOF'
    failed = f"Error while installing acme/demo v1.4.2: could not query provider registry for {ADDRESS}: {failed}"
    log = _log(folder, "Failed to install provider", failed)
    words = "dl.example.com gave no whole answer: the connection broke"
    assert f"VERDICT {words}. [LIKELY]" in " ".join(doctor(folder, "--format", "text", log).split())
    document = doctor(folder, log)
    assert _first(document) == ("registry-down", "likely")
    assert (_verdicts(document)["proxy-or-ca"], _verdicts(document)["credentials"]) == ("unknown", "no")
    assert [one["id"] for one in document["remedies"]] == ["retry", "test-registry"]
    assert document["remedies"][1]["command"].endswith(f" {url}")
    assert document["facts"]["platform"] == "linux_amd64"


def test_another_registry_proves_nothing(made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.sources.http.sending.Sender._wait", lambda *_: None)
    folder = made(INCIDENTS["registry-down"])
    text = json.dumps(doctor(folder, _log(folder, QUERY, NO_NAME.format("registry.opentofu.org")))["causes"])
    assert "fails here" not in text
    assert "is answered here" not in text
    document = doctor(folder, _log(folder, QUERY, NO_NAME.format("registry.terraform.io")))
    assert _first(document) == ("registry-down", "likely")
    assert "fails here:" in document["causes"][0]["evidence"]


@pytest.mark.parametrize("answer", ["versions", "sums"])
def test_another_host_of_the_message_is_not_the_registry_that_was_asked(answer: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    returned = (
        "failed to retrieve authentication checksums for provider: 500 Internal Server Error returned from 127.0.0.1:1"
    )
    message = (
        VERSIONS.replace("https://registry.terraform.io", "http://127.0.0.1:1")
        if answer == "versions"
        else f"Error while installing acme/demo v1.4.2: could not query provider registry for {ADDRESS}: {returned}"
    )
    summary = QUERY if answer == "versions" else "Failed to install provider"
    evidence = _evidence(doctor(folder, _log(folder, summary, message)))["registry-down"]
    assert "same request" not in evidence
    assert "the message names 127.0.0.1:1, and registry.terraform.io was asked here" in evidence


def test_no_title_names_a_certificate_for_a_name(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    log = _log(folder, QUERY, NO_NAME.format("registry.terraform.io"))
    text = " ".join(doctor(folder, "--format", "text", log).split())
    assert "VERDICT The runner's DNS or proxy settings keep it from registry.terraform.io. [LIKELY]" in text
    document = doctor(folder, _log(folder, QUERY, VERSIONS))
    commands = [one["command"] for one in document["remedies"] if one["id"] == "test-registry"]
    assert commands == ["curl -sSv -o /dev/null https://registry.terraform.io/v1/providers/acme/demo/versions"]


def test_a_file_that_a_mirror_lacks_is_not_yanked(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = "Error while installing acme/demo v1.4.2: mirror.example.com: bad response code: 404"
    log = _log(folder, "Failed to install provider", words)
    for options, verdict in ((("--install-path", "network-mirror"), "likely"), ((), "unknown")):
        document = doctor(folder, *options, log)
        assert _verdicts(document)["mirror-lacks"] == verdict
        assert _verdicts(document)["yanked"] == ("unknown" if options else "likely")
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    only = 'provider_installation {\n  network_mirror {\n    url = "https://mirror.example.com/"\n  }\n}\n'
    settings.write_text(settings.read_text("utf-8") + only, "utf-8")
    document = doctor(folder, log)
    assert _first(document) == ("mirror-lacks", "likely")
    assert "is assumed from the settings here" in document["causes"][0]["evidence"]
    assert [one["id"] for one in document["remedies"]] == ["fill-mirror"]


@pytest.mark.parametrize(("words", "title"), [
    ('{0}: Get "http://{0}/x.zip": net/http: HTTP/1.x transport connection broken: malformed HTTP status code "x"', "something that is not HTTP"),
    ('{0}: Get "https://{0}/x.zip": tls: first record does not look like a TLS handshake', "something that is not TLS"),
    ('{0}: Get "/x.zip": stopped after 10 redirects', "redirects in a circle"),
])  # fmt: skip
def test_an_answer_that_makes_no_sense_is_one(words: str, title: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    failed = f"Error while installing acme/demo v1.4.2: {words.format('dl.example.com:8443')}"
    log = _log(folder, "Failed to install provider", failed)
    text = " ".join(doctor(folder, "--format", "text", log).split())
    assert f"VERDICT A request to dl.example.com:8443 was answered: {title}. [CONFIRMED]" in text
    document = doctor(folder, log)
    assert [one["id"] for one in document["remedies"]] == ["test-registry", "retry"]
    assert _verdicts(document)["credentials"] == "no"


def test_an_uncommitted_edit_of_all_hashes_is_one(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    lock = folder / "live/prod" / LOCK
    before = lock.read_text("utf-8")
    lock.write_text(re.sub(r'"zh:[0-9a-f]{4}', '"zh:0000', re.sub(r'"h1:.{4}', '"h1:AAAA', before)), "utf-8")
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    document = doctor(folder, "ci.log")
    assert _first(document) == ("hand-edit", "yes")
    assert _verdicts(document)["republished"] == "no"
    (remedy,) = document["remedies"]
    assert remedy["id"] == "restore-entry"
    assert main(shlex.split(remedy["command"])[1:], no_screen) == 0
    assert lock.read_text("utf-8") == before
    numbers = iter(range(9))  # in the tools' order, and like no hash of the commit
    lock.write_text(re.sub(r'"zh:[0-9a-f]{64}', lambda _: f'"zh:{next(numbers):064x}', before), "utf-8")
    verdicts = _verdicts(doctor(folder, "ci.log"))
    assert (verdicts["hand-edit"], verdicts["republished"]) == ("likely", "likely")


def test_a_release_of_a_time_is_not_ruled_out_by_that_of_today(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    for options, verdict in (((), "unknown"), (("--install-path", "direct"), "likely")):
        document = doctor(folder, *options, "ci.log")
        assert _verdicts(document)["republished"] == verdict
        assert [one["command"] for one in document["remedies"]] == ["terraform -chdir=live/prod init"]
    shutil.rmtree(folder)
    mac = INCIDENTS["platform-missing"]
    document = doctor(made(mac), *mac.options, "ci.log")
    assert _verdicts(document)["republished"] == "no"


SCHEMA = 'failed to instantiate provider "registry.terraform.io/acme/demo" to obtain schema: '
PROGRAM = ".terraform/providers/registry.terraform.io/acme/demo/1.4.2/linux_amd64/terraform-provider-demo_v1.4.2"


@pytest.mark.parametrize(("words", "first", "title", "command"), [
    ("could not read package directory: open /home/jo/go/bin: no such file or directory", "plugin-missing",
     "dev_overrides of acme/demo names a folder without its program", "dev_overrides"),
    (f"fork/exec {PROGRAM}: permission denied", "plugin-corrupted",
     "The provider's program may not be executed there", f"chmod u+x -- live/prod/{PROGRAM}"),
    ("fork/exec /opt/dev/terraform-provider-demo: permission denied", "plugin-corrupted",
     "The provider's program may not be executed there", "chmod u+x -- /opt/dev/terraform-provider-demo"),
])  # fmt: skip
def test_a_program_that_is_not_there_or_may_not_run(
    words: str, first: str, title: str, command: str, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    log = _log(folder, "Failed to load plugin schemas", f"Error while loading schemas: {SCHEMA}{words}.")
    document = doctor(folder, log)
    assert _first(document) == (first, "yes")
    assert document["facts"]["path"] == ("installed" if PROGRAM in words else None)
    assert [command in one["command"] for one in document["remedies"]] == [True]
    assert title in " ".join(doctor(folder, "--format", "text", log).split())


def test_roots_whose_names_announce_secrets_are_shown(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    lock = (folder / "live/prod" / LOCK).read_bytes()
    for name in ("live/auth", "infra/secrets"):
        (folder / name).mkdir(parents=True)
        (folder / name / "secrets.tf").write_text(requires(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")), "utf-8")
        (folder / name / LOCK).write_bytes(lock)
    (folder / "live/auth" / LOCK).write_bytes(lock_file(replace(DEMO, packed=(OTHER,), unpacked=())))
    for words in ((), ("ci.log",)):
        if words:
            (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
        text = doctor(folder, "--format", "text", *words)
        assert "[removed]" not in text
    document = doctor(folder)
    assert "infra/secrets/secrets.tf:" in _evidence(document)["not-locked"]
    ruled_out = [one["evidence"] for one in document["causes"] if one["verdict"] == "no"]
    too = "; ruled out, too: acme/demo 1.4.2 in live/auth, acme/demo 1.4.2 in live/prod"
    assert any(too in one for one in ruled_out), ruled_out
    assert "the lock file can be read" in ruled_out


def test_a_bad_signature_is_bad_here_too(made: Any, doctor: Any) -> None:
    words = "Error while installing acme/demo v1.4.2: error checking signature: openpgp: invalid signature: EdDSA verification failure"
    for rules, verdict in (((FaultRule(Fault.BAD_SIGNATURE, ADDRESS),), "yes"), ((), "likely")):
        folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
        document = doctor(folder, _log(folder, "Failed to install provider", words))
        assert _first(document) == ("key-changed", verdict)
        assert ("bad here too" in document["causes"][0]["evidence"]) == bool(rules)
        assert [one["id"] for one in document["remedies"]][:1] == ["compare-elsewhere"]
        shutil.rmtree(folder)


def test_an_index_that_names_a_locked_hash_is_right(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    h1 = re.findall(r"h1:[^\"]+", (folder / "live/prod" / LOCK).read_text("utf-8"))[0]
    words = "Error while installing acme/demo v1.4.2: provider package doesn't match the expected checksum {}"
    for named, is_locked in ((h1, True), (f"h1:{'A' * 43}=", False)):
        document = doctor(folder, "--offline", _log(folder, "Failed to install provider", words.format(f'"{named}"')))
        assert _first(document) == ("mirror-differs", "likely")
        assert (_verdicts(document)["republished"] == "no") == is_locked
        assert "locklens mirror" in " ".join(one["command"] or "" for one in document["remedies"])
    assert any("names a hash that is not locked" in one for one in _evidence(document).values())


def test_the_hash_that_is_asked_for_is_of_one_package(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["plugin-corrupted"], copies=()))
    assert _first(doctor(folder, "ci.log")) == ("plugin-corrupted", "likely")
    text = doctor(folder, "--format", "text", "ci.log")
    assert f"$ (cd .terraform/providers/{ADDRESS}/1.4.2/linux_amd64 && " in text


def test_without_a_log_there_is_no_message(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    text = doctor(folder, "--offline", "--format", "text")
    assert "message" not in text
    assert "failing run" not in text


@pytest.mark.parametrize("is_here", [True, False])
def test_another_machines_cache_is_not_repaired_here(is_here: bool, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["cache-differs"])
    cache = folder / "cache" if is_here else Path("/srv/runner/cache")
    words = (
        f"the provider cache at {cache} has a copy of {ADDRESS} 1.4.2 that doesn't match any of the checksums recorded"
    )
    log = _log(
        folder, "Failed to install provider from shared cache", f"Error while importing acme/demo v1.4.2: {words}"
    )
    document = doctor(folder, "--prove=all", "--platform", "linux_amd64", log)
    assert (document["state"], document["causes"][0]["id"]) == ("open", "cache-differs")
    shutil.rmtree(folder / "cache")
    write_unpacked(folder / "cache", ADDRESS, "1.4.2", "linux_amd64")
    document = doctor(folder, "--platform", "linux_amd64", log)
    assert document["state"] == ("fixed" if is_here else "open")


_OF_FOLDERS = {
    "live/prod/.terraform/providers": f"the cached package for {ADDRESS} 1.4.2 (in .terraform/providers) does not match any of the checksums recorded in the dependency lock file",
    "cache": f"the provider cache at cache has a copy of {ADDRESS} 1.4.2 that doesn't match any of the checksums recorded in the dependency lock file",
}  # fmt: skip
"""What is said of a package in a folder, by the folder."""


@pytest.mark.parametrize("place", _OF_FOLDERS)
@pytest.mark.parametrize("has_log", [True, False])
def test_a_package_of_the_release_whose_h1_is_not_locked_was_not_altered(
    place: str, has_log: bool, made: Any, doctor: Any
) -> None:
    altered = "cache-differs" if place == "cache" else "plugin-corrupted"
    lock = lock_file(replace(DEMO, unpacked=(OTHER,)))
    folder = made(replace(INCIDENTS[altered], locks=(lock,), copies=(replace(COPY, folder=place),), options=()))
    words = ["--plugin-cache=cache"] if place == "cache" else []
    if has_log:
        words += ["--platform", HERE, _log(folder, "Required plugins are not installed", _OF_FOLDERS[place])]
    words += ["--", "live/prod"]
    document = doctor(folder, *words)
    assert _first(document) == ("h1-missing", "likely")
    assert _verdicts(document)[altered] == ("likely" if has_log else "unknown")  # the run refused it for either
    command = document["remedies"][0]["command"]
    assert command.startswith(f"locklens lock --platform {HERE} acme/demo")
    if has_log and place != "cache":  # after the fix, nothing was replaced, whatever the platform of the run
        os.chdir(folder)
        assert main(shlex.split(command)[1:], no_screen) == 0
        log = words[2]
        assert _verdicts(doctor(folder, log, "--", "live/prod"))[altered] == "unknown"
        (folder / "live/prod" / LOCK).write_bytes(lock)
    document = doctor(folder, "--prove=all", *words)
    assert _first(document) == ("h1-missing", "yes")
    assert _verdicts(document)[altered] == ("unknown" if has_log and place == "cache" else "no")  # it may be another's
    shutil.rmtree(folder / place)
    write_unpacked(folder / place, ADDRESS, "1.4.2", HERE, "tampered")
    assert _verdicts(doctor(folder, "--prove=all", *words))[altered] in {"yes", "likely"}


@pytest.mark.parametrize("place", ["live/prod/.terraform/providers", "cache", "mirror"])
def test_a_refused_copy_is_suspected_beside_the_missing_h1_until_the_first_fix_tells(
    place: str, made: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock = lock_file(replace(DEMO, unpacked=(HERE, OTHER)))
    altered = {"cache": "cache-differs", "mirror": "mirror-differs"}.get(place, "plugin-corrupted")
    copies = (replace(COPY, folder=place, edition="tampered"),)
    folder = made(replace(INCIDENTS["mirror-differs"], locks=(lock,), copies=copies, options=()))
    _without_platform(folder)
    message = _OF_FOLDERS.get(place)
    words = [_log(folder, "Required plugins are not installed", message) if message else "ci.log", "--", "live/prod"]
    words = [*{"cache": ["--plugin-cache=cache"], "mirror": ["--mirror=mirror"]}.get(place, []), *words]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of-user"))
    monkeypatch.chdir(folder)

    def diagnosed() -> Any:
        capsys.readouterr()
        main(["doctor", "--format=json", *words], no_screen)
        return json.loads(capsys.readouterr().out)

    document = diagnosed()
    causes = [(one["id"], one["verdict"]) for one in document["causes"][:2]]
    assert causes == [("h1-missing", "likely"), (altered, "likely")]
    assert "which is not locked; " in _evidence(document)[altered]
    first = document["remedies"][0]
    assert first["note"].endswith("with which a new diagnosis of the log compares the copy")
    assert main(shlex.split(first["command"])[1:], no_screen) == 0
    assert (folder / "live/prod" / LOCK).read_bytes() == lock
    document = diagnosed()
    assert _first(document) == (altered, "likely")
    assert f"and the signed package of {HERE} is h1:" in _evidence(document)[altered]


def test_a_copy_that_was_not_hashed_is_not_called_missing(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    names = [f"live/r{number:02}" for number in range(14)]
    for name in names:
        shutil.copytree(folder / "live/prod", folder / name)
        write_unpacked(
            folder / name / ".terraform/providers", "registry.terraform.io/acme/demo", "1.4.2", "linux_amd64"
        )
    document = doctor(folder, "--offline", "--", *names)
    causes = [one for one in document["causes"] if one["id"] in {"plugin-missing", "plugin-corrupted"}]
    assert not [one for one in causes if one["verdict"] in {"yes", "likely"}], causes
    unknown = next(one for one in causes if one["verdict"] == "unknown")
    assert "was not hashed" in unknown["evidence"]
    assert any("12 copies" in note for note in document["run"]["notes"])


def test_a_block_without_any_hash_is_said_to_have_none(made: Any, doctor: Any) -> None:
    whole = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    folder = made(replace(INCIDENTS["h1-missing"], locks=(lock_file(replace(whole, packed=(), unpacked=())),)))
    words = 'To record these selections, run "terraform init" without the "-lockfile=readonly" flag.'
    log = boxed_log(("Provider lock file not updated", words)).replace("Error:", "Warning:")
    (folder / "ci.log").write_text(log, "utf-8")
    for options in ((), ("--platform", "linux_amd64")):
        document = doctor(folder, *options, "ci.log")
        first, verdicts = document["causes"][0], _verdicts(document)
        assert (first["id"], first["verdict"]) == ("h1-missing", "yes")
        assert "acme/demo 1.4.2 has no hash, so that init accepts any package" in first["evidence"]
        assert verdicts["platform-missing"] == "no"
        assert document["remedies"][0]["id"] == "lock-platform"


def test_hashes_that_a_revert_brought_back_are_of_the_oldest_version(made: Any, doctor: Any) -> None:
    whole = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    edited = lock_file(replace(whole, version="3.10.0", hashes_of="3.9.1"))
    folder = made(replace(INCIDENTS["hand-edit"], locks=(lock_file(whole), edited, lock_file(whole))))
    words = WHILE.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    assert _verdicts(doctor(folder, "--offline", "ci.log"))["hand-edit"] != "yes"
    assert _verdicts(doctor(folder, "ci.log"))["hand-edit"] in {"no", "unknown"}


def test_of_two_lock_files_with_the_same_hashes_the_one_that_had_them_first_is_not_blamed(
    made: Any, doctor: Any
) -> None:
    whole = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    folder = made(replace(INCIDENTS["hand-edit"], locks=(lock_file(whole),)))
    other = folder / "live/stage"
    other.mkdir()
    (other / LOCK).write_bytes(lock_file(replace(whole, version="3.10.0", hashes_of="3.9.1")))
    words = WHILE.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    document = doctor(folder, "--offline", "ci.log", "--", "live/prod")
    assert (_verdicts(document)["hand-edit"], document["state"]) == ("unknown", "open")
    assert _verdicts(doctor(folder, "ci.log", "--", "live/prod"))["hand-edit"] in {"no", "unknown"}


def test_an_altered_copy_that_another_root_locked_is_not_the_missing_h1(made: Any, doctor: Any) -> None:
    altered = replace(COPY, edition="tampered")
    folder = made(
        replace(INCIDENTS["h1-missing"], locks=(lock_file(replace(DEMO, unpacked=(HERE,))),), copies=(altered,))
    )
    _without_platform(folder)
    other = folder / "live/other"
    other.mkdir()
    (other / "main.tf").write_text(requires(("acme/demo", "~> 1.4")), "utf-8")
    command = ["lock", "--no-cache", "--fs-mirror=mirror", f"--platform={HERE}", "--root=live/other"]
    os.chdir(folder)
    assert main(command, no_screen) == 0
    words = ("--mirror", "mirror", "--platform", HERE)
    document = doctor(folder, "--offline", *words, "ci.log", "--", "live/prod")
    assert "yes" not in _verdicts(document).values()
    assert "live/other" in _evidence(document)["h1-missing"]
    verdicts = _verdicts(doctor(folder, "--prove=all", *words, "ci.log", "--", "live/prod"))
    assert (verdicts["h1-missing"], verdicts["mirror-differs"]) == ("no", "yes")


def test_an_h1_that_the_registry_only_reports_confirms_nothing(made: Any, doctor: Any, tmp_path: Path) -> None:
    random = "registry.opentofu.org/hashicorp/random"
    entry = replace(sample_entry("hashicorp/random", "3.6.3", "~> 3.6"), provider=random, unpacked=(OTHER,))
    copy = replace(COPY, provider=random, version="3.6.3")
    incident = replace(INCIDENTS["h1-missing"], locks=(lock_file(entry),), copies=(copy,))
    folder = made(replace(incident, constraints=(("hashicorp/random", "~> 3.6"),)))
    log = (folder / "ci.log").read_text("utf-8").replace("acme/demo", "hashicorp/random").replace("1.4.2", "3.6.3")
    (folder / "ci.log").write_text(log.replace("registry.terraform.io", "registry.opentofu.org"), "utf-8")
    words = ("--tool", "opentofu", "--mirror", "mirror", "--platform", HERE, "ci.log")
    with DemoRegistry() as registry:
        write_cli_configuration(registry, tmp_path)
        registry.faults.add(Fault.OTHER_REPORTED_H1)
        document = doctor(folder, "--install-path", "unpacked-mirror", *words)
    assert "that the registry reports" in _evidence(document)["mirror-differs"]
    assert "yes" not in _verdicts(document).values(), _evidence(document)


def test_an_own_platform_here_is_no_copied_folder(made: Any, doctor: Any) -> None:
    incident = replace(INCIDENTS["plugin-missing"], copies=(replace(COPY, folder="live/prod/.terraform/providers"),))
    folder = made(incident)
    document = doctor(folder, "--platform", OTHER, "ci.log")
    assert _first(document) == ("plugin-missing", "yes")
    assert f"installed for {HERE} alone" in document["causes"][0]["evidence"]
    assert "copied" not in document["causes"][0]["evidence"]


def test_a_given_package_of_unknown_origin_confirms_no_place(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    document = doctor(folder, "--package", f"zh:{'1' * 64}", "ci.log")
    assert _first(document) == ("mirror-differs", "likely")
    assert document["causes"][0]["missing"] == "the origin of the package: --install-path"
    assert "yes" not in _verdicts(document).values()
    named = doctor(folder, "--package", f"zh:{'1' * 64}", "--install-path", "packed-mirror", "ci.log")
    assert _first(named) == ("mirror-differs", "yes")
    damaged = next(one for one in named["causes"] if one["id"] == "download-damaged")
    assert "does not tell if it was damaged on its way" in damaged["evidence"]
    assert "--package" not in damaged["missing"]


def test_other_hashes_that_git_names_are_no_republication(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["hand-edit"])
    document = doctor(folder, "--offline", "ci.log")
    assert (_first(document), _verdicts(document)["republished"]) == (("hand-edit", "yes"), "no")
    assert "are those of 3.9.1 (commit " in _evidence(document)["republished"]


def test_a_file_of_a_mirror_on_a_server_is_found_by_no_command_in_a_folder(
    made: Any, doctor: Any, tmp_path: Path
) -> None:
    folder = made(INCIDENTS["download-damaged"])
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    found = _of(doctor(folder, "--install-path", "network-mirror", "ci.log"), "mirror-differs")
    assert (found["verdict"], found["missing"]) == ("unknown", "the zip file that the mirror serves: --package FILE, or --package zh:HASH")  # fmt: skip
    settings = tmp_path / "demo.tfrc"
    only = 'provider_installation {\n  network_mirror {\n    url = "https://localhost:19500/tf/"\n  }\n}\n'
    settings.write_text(settings.read_text("utf-8") + only, "utf-8")
    found = _of(doctor(folder, "ci.log"), "mirror-differs")
    assert "the settings here name https://localhost:19500/tf/" in found["evidence"]
    assert "locklens verify -- live/prod compares what it serves now" in found["missing"]
    assert "find ." not in json.dumps(found)


def _of(document: Any, cause: str) -> Any:
    return next(one for one in document["causes"] if one["id"] == cause)


def test_a_refused_request_for_one_version_is_repeated_and_tried(made: Any, doctor: Any) -> None:
    rules = (FaultRule(Fault.UNAUTHORIZED, ADDRESS, step=Step.DOWNLOAD),)
    folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
    words = "host registry.terraform.io requires authentication credentials"
    log = _log(folder, "Failed to install provider", f"Error while installing acme/demo v1.4.2: {words}")
    document = doctor(folder, "--platform", "linux_amd64", log)
    assert _first(document) == ("credentials", "likely")
    assert "a request for this version fails here:" in _evidence(document)["credentials"]
    assert "here too" not in _evidence(document)["credentials"], "a failure here may have another reason"
    (command,) = (one["command"] for one in document["remedies"] if one["id"] == "test-credentials")
    assert command.endswith("/v1/providers/acme/demo/1.4.2/download/linux/amd64")
    (command,) = (one["command"] for one in doctor(folder, log)["remedies"] if one["id"] == "test-credentials")
    platform = this_platform().replace("_", "/")  # assumed: who answers is the same for any
    assert command.endswith(f"/v1/providers/acme/demo/1.4.2/download/{platform}")


def test_a_given_package_is_held_against_its_own_provider_alone(made: Any, doctor: Any, tmp_path: Path) -> None:
    netbox = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    locks = (lock_file(DEMO, netbox),)
    folder = made(
        replace(
            INCIDENTS["download-damaged"], locks=locks, constraints=(("acme/demo", "~> 1"), ("acme/netbox", "~> 3"))
        )
    )
    of_netbox = WHILE.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    (folder / "ci.log").write_text(boxed_log((MISMATCH[0], WHILE)) + boxed_log((MISMATCH[0], of_netbox)), "utf-8")
    altered = package_bytes(netbox.provider, "3.9.1", HERE, "tampered")
    (tmp_path / "given.zip").write_bytes(altered)
    words = ("--install-path", "network-mirror", "ci.log")

    def blamed(package: str) -> tuple[list[tuple[str, str]], str]:
        document = doctor(folder, "--package", package, *words)
        given = (one for one in document["causes"] if one["verdict"] == "yes")
        notes = (note for note in document["run"]["notes"] if "compared with no entry" in note)
        return [(one["id"], one["provider"]) for one in given], next(notes, "")

    own = [("mirror-differs", "registry.terraform.io/acme/netbox")]
    assert blamed(str(tmp_path / "given.zip")) == (own, "")  # the name of its program tells
    found, note = blamed(f"zh:{'1' * 64}")
    assert found == []
    assert "nothing tells of which it is: registry.terraform.io/acme/demo, registry.terraform.io/acme/netbox" in note
    locked = next(one for one in DEMO.hashes() if one.startswith("zh:"))
    assert blamed(locked) == ([], "")


def test_an_installed_folder_that_is_given_is_no_copy_of_a_mirror(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    place = "live/prod/.terraform/providers/registry.terraform.io/acme/demo/1.4.2/linux_amd64"
    words = ("--platform=linux_amd64", "--prove=all", "--package")
    document = doctor(folder, *words, place, "--", "live/prod")
    assert [one["id"] for one in document["causes"] if one["verdict"] == "yes"] == ["plugin-corrupted"]
    shutil.copytree(folder / place, tmp_path / "elsewhere")
    document = doctor(folder, *words, str(tmp_path / "elsewhere"), "--", "live/prod")
    (found,) = (one for one in document["causes"] if one["id"] == "mirror-differs")
    assert (found["verdict"], found["missing"]) == ("unknown", "the origin of the package: --install-path")


def test_a_hash_that_no_tool_writes_beside_sound_ones_confirms_nothing(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    lock = folder / "live/prod" / LOCK
    lock.write_text(lock.read_text("utf-8").replace('"zh:', '"zh:0', 1), "utf-8")
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    assert _verdicts(doctor(folder, "--offline", "ci.log"))["hand-edit"] == "likely"
    assert _verdicts(doctor(folder, "--offline", "--", "live/prod"))["hand-edit"] == "yes"


def test_hashes_of_both_registries_are_not_those_of_the_other(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["other-tool"]
    random = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    foreign = replace(random, provider=random.provider.replace("registry.terraform.io", "registry.opentofu.org"))
    folder = made(replace(incident, locks=(lock_file(replace(random, more=foreign.hashes())),)))
    document = doctor(folder, "ci.log")
    assert _verdicts(document)["other-tool"] == "likely"
    assert "and 5 of registry.terraform.io" in _evidence(document)["other-tool"]


def test_an_answer_that_is_older_than_the_error_does_not_count(made: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["yanked"])
    os.chdir(folder)
    with DemoRegistry() as registry:
        write_cli_configuration(registry, tmp_path)
        assert main(["doctor", "--format", "json", "--output", "before.json", "--", "live/prod"], no_screen) in {0, 1}
        registry.faults.add(Fault.WITHDRAWN, ADDRESS, "1.4.2")
        main(["doctor", "--format", "json", "--output", "after.json", "ci.log"], no_screen)
    document = json.loads((folder / "after.json").read_text("utf-8"))
    assert _first(document) == ("yanked", "yes")
    assert "and not 1.4.2" in document["causes"][0]["evidence"]
    for subject, verdict in ((["--", "live/prod"], "unknown"), (["ci.log"], "likely")):
        main(["doctor", "--offline", "--format", "json", "--output", "offline.json", *subject], no_screen)
        document = json.loads((folder / "offline.json").read_text("utf-8"))
        assert _verdicts(document)["yanked"] == verdict, "the list may be an old one"
        assert "registry.terraform.io listed " in _evidence(document)["yanked"]


def test_a_version_that_a_mirror_has_is_not_missing_without_a_log(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["yanked"], copies=(COPY,)))
    assert _verdicts(doctor(folder, "--", "live/prod"))["yanked"] == "yes"
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    mirror = (
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder}/mirror"\n  }}\n  direct {{}}\n}}\n'
    )
    before = settings.read_text("utf-8")
    for block in (mirror, mirror.replace("  direct {}\n", "")):
        settings.write_text(before + block, "utf-8")
        assert _verdicts(doctor(folder, "--", "live/prod"))["yanked"] == "no"


def test_a_mirror_that_is_not_read_here_is_no_cause(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(replace(INCIDENTS["mirror-differs"], copies=(COPY,)))
    place = folder / "mirror" / ADDRESS / "1.4.2" / HERE
    shutil.move(place, tmp_path / "outside")
    place.symlink_to(tmp_path / "outside")
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    mirror = f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder}/mirror"\n  }}\n}}\n'
    settings.write_text(settings.read_text("utf-8") + mirror, "utf-8")
    document = doctor(folder, "--", "live/prod")
    assert _verdicts(document)["mirror-differs"] == "unknown"
    assert "leads out of the repository" in _evidence(document)["mirror-differs"]


def test_an_empty_list_of_places_is_of_patterns(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["mirror-lacks"])
    words = f"provider {ADDRESS} was not found in any of the search locations"
    lead = "Could not retrieve the list of available versions for provider acme/demo: "
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    only = 'provider_installation {\n  filesystem_mirror {\n    path = "/m"\n    include = ["hashicorp/*"]\n  }\n}\n'
    settings.write_text(settings.read_text("utf-8") + only, "utf-8")
    document = doctor(folder, _log(folder, QUERY, f"{lead}{words}"))
    assert _first(document) == ("mirror-lacks", "likely")
    assert document["facts"]["path"] is None
    (fix,) = document["remedies"]
    assert (fix["id"], fix["command"], "provider_installation" in fix["hint"]) == ("correct-settings", None, True)
    out = " ".join(doctor(folder, "--format", "text", "real.log").split())
    assert "No place of provider_installation is for acme/demo: include and exclude leave it out. [LIKELY]" in out


def test_a_mirror_folder_that_is_missing_is_a_cause(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["mirror-lacks"])
    lead = "Could not retrieve the list of available versions for provider acme/demo: "
    words = f"{lead}cannot search /srv/mirror: lstat /srv/mirror: no such file or directory"
    document = doctor(folder, _log(folder, QUERY, words))
    assert _first(document) == ("mirror-lacks", "yes")
    assert [(one["id"], one["command"]) for one in document["remedies"]] == [("correct-settings", None)]
    out = " ".join(doctor(folder, "--format", "text", "real.log").split())
    assert "The folder of the mirror is missing, or cannot be read. [CONFIRMED]" in out


def test_a_copy_of_a_mirror_on_the_runner_is_fetched_into_the_mirror(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["mirror-differs"], options=()))
    h1 = "h1:" + "A" * 43 + "="
    document = doctor(folder, "--package", h1, "ci.log")
    command = next(one["command"] for one in document["remedies"] if one["id"] == "replace-copy")
    filled = "--platform=linux_amd64 MIRROR --root=live/prod"
    moved = "mv -- DIR DIR.suspect"
    assert command == f"locklens mirror --dry-run {filled} && {moved} && locklens mirror {filled}"


def test_a_constraint_that_was_never_met_is_not_fixed(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    lock = folder / "live/prod" / LOCK
    lock.write_bytes(lock_file(sample_entry("acme/demo", "1.5.0", "~> 1.4")))
    document = doctor(folder, "ci.log")
    assert document["state"] == "open"
    lock.write_bytes(lock_file(replace(sample_entry("acme/demo", "1.5.0", "~> 1.4"), hashes_of="1.3.9")))
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    assert doctor(folder, "ci.log")["state"] == "open"


@pytest.mark.parametrize("cause", ["not-locked", "lock-syntax"])
def test_what_was_never_so_here_is_not_fixed(cause: str, made: Any, doctor: Any) -> None:
    incident = INCIDENTS[cause]
    whole = lock_file(DEMO, sample_entry("acme/netbox", "3.9.1", "~> 3.9"))
    folder = made(replace(incident, locks=(whole,), constraints=(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    document = doctor(folder, "ci.log", "--", "live/prod")
    assert (document["state"], document["next"]) == ("open", None)
    assert "yes" not in _verdicts(document).values()


def test_hashes_of_another_release_beside_those_of_the_version_are_no_republished_package(
    made: Any, doctor: Any
) -> None:
    """A squashed merge leaves no commit with the other version: the registry's lists alone tell whose hashes they are."""
    other = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    mixed = replace(sample_entry("acme/netbox", "3.10.0", "~> 3.9"), more=other.hashes())
    required = (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    locks = (lock_file(DEMO), lock_file(DEMO, mixed))
    folder = made(replace(INCIDENTS["hand-edit"], locks=locks, constraints=required))
    document = doctor(folder, "--", "live/prod")
    causes = {one["id"]: one for one in document["causes"]}
    assert (causes["bad-merge"]["verdict"], causes["republished"]["verdict"]) == ("yes", "no")
    assert "in the block of acme/netbox 3.10.0 are of the signed release 3.9.1" in causes["bad-merge"]["evidence"]
    assert not any("LK001" in one["evidence"] for one in document["causes"])


def test_a_folder_that_was_moved_aside_before_the_log_fixes_nothing(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    folder = made(replace(incident, copies=(replace(incident.copies[0], edition=""),)))
    place = folder / "live/prod/.terraform/providers" / ADDRESS / "1.4.2/linux_amd64"
    shutil.copytree(place, f"{place}.suspect")
    assert doctor(folder, "ci.log")["state"] == "fixed"
    later = (folder / "ci.log").stat().st_mtime + 3600
    os.utime(folder / "ci.log", (later, later))
    assert doctor(folder, "ci.log")["state"] == "open"


def test_roots_that_are_not_examined_are_not_ok(made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(replace(INCIDENTS["download-damaged"]))
    write_unpacked(folder / "live/prod/.terraform/providers", ADDRESS, "1.4.2", HERE)
    shutil.copytree(folder / "live/prod", folder / "live/stage")
    assert "[OK]" in doctor(folder, "--prove=all", "--format", "text")
    monkeypatch.setattr("locklens.operations.doctor.diagnose.MOST_SUBJECTS", 1)
    out = doctor(folder, "--prove=all", "--format", "text")
    assert "[OK]" not in out
    assert "only the first 1 of 2 providers" in out


@pytest.mark.parametrize("words", [
    "unsuccessful request to http://127.0.0.1:18500/files/terraform-provider-demo_1.4.2_linux_amd64.zip: 403 Forbidden",
    "127.0.0.1:18500: bad response code: 403",
])  # fmt: skip
def test_a_denied_package_is_no_matter_of_tokens(words: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    log = _log(folder, "Failed to install provider", f"Error while installing acme/demo v1.4.2: {words}")
    document = doctor(folder, "--offline", log)
    assert _first(document) == ("proxy-or-ca", "likely")
    assert _verdicts(document)["credentials"] == "no"
    (fix,) = document["remedies"]
    assert fix["command"].startswith("curl -sSv -o /dev/null http")
    assert "//127.0.0.1:18500/" in fix["command"]
    assert "v1.4.2 denied" not in doctor(folder, "--offline", "--format", "text", log)


def test_an_error_without_a_tested_cause_has_its_advice_as_the_verdict(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = "registry.terraform.io/acme/demo v1.4.2 is not compatible with Terraform 1.11.4. Provider version 1.5.0 is the latest compatible version"
    log = _log(folder, "Incompatible provider version", f"Provider {words}.")
    out = " ".join(doctor(folder, "--format", "text", log).split())
    assert "No cause is tested for this error: the tool does not know the plugin protocol of this version" in out


def test_the_constraint_of_the_log_tells_the_root_after_its_fix(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    other = folder / "live/dev"
    other.mkdir()
    (other / "main.tf").write_text(requires(("acme/demo", "~> 1.4")), "utf-8")
    (other / LOCK).write_bytes((folder / "live/prod" / LOCK).read_bytes())
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "another root")
    assert doctor(folder, "ci.log")["facts"]["root"] == "live/prod"
    (folder / "live/prod" / LOCK).write_bytes(lock_file(sample_entry("acme/demo", "2.0.0", "~> 2.0")))
    document = doctor(folder, "ci.log")
    assert document["facts"]["root"] == "live/prod"
    (note,) = (one for one in document["run"]["notes"] if one.startswith("the error of the log is over"))
    assert "acme/demo 2.0.0 satisfies" in note
    assert "but not all is well in live/prod: the version is not listed" in note


def test_a_log_of_a_version_that_no_root_locks_is_of_another_commit(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    shutil.copytree(folder / "live/prod", folder / "live/dev")
    (folder / "ci.log").write_text(boxed_log((MISMATCH[0], WHILE.replace("1.4.2", "1.5.0"))), "utf-8")
    document = doctor(folder, "ci.log")
    assert set(_verdicts(document).values()) <= {"unknown", "no"}
    assert _verdicts(document)["republished"] == "unknown"
    assert "no root here locks acme/demo 1.5.0: check out the commit of the failing run" in document["run"]["notes"]


@pytest.mark.parametrize(
    ("before", "message", "command"),
    [
        ("- Fetching acme/demo 1.5.0 for linux_amd64...\n", "error: live/prod: acme/demo 1.5.0 for {}: {}", "locklens upgrade acme/demo=1.5.0 --root=live/prod"),
        ("+ cd live/prod\n+ terraform init -upgrade\n", "Error: Failed to install provider\n\nError while installing acme/demo v1.5.0: {1}", "terraform -chdir=live/prod init -upgrade"),
        ('+ cd live/prod\n- Finding acme/demo versions matching "~> 1.4"...\n', "Error: Failed to install provider\n\nError while installing acme/demo v1.5.0: {1}", "terraform -chdir=live/prod init -upgrade"),
    ],
)  # fmt: skip
def test_what_an_upgrade_could_not_install_is_judged_as_its_own_version(
    before: str, message: str, command: str, made: Any, doctor: Any
) -> None:
    rules = (FaultRule(Fault.TAMPERED_PACKAGE, ADDRESS, "1.5.0"),)
    folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
    platform = "darwin_arm64" if before.startswith("- ") else HERE
    wrong = f"archive has incorrect checksum zh:{'a' * 64} (expected zh:{'b' * 64})"
    (folder / "ci.log").write_text(f"{before}{message.format(platform, wrong)}\n", "utf-8")
    options = () if before.startswith("- ") else ("--platform", HERE)
    document = doctor(folder, "--prove=changed", *options, "ci.log")
    assert (document["facts"]["root"], document["facts"]["platform"]) == ("live/prod", platform)
    assert _verdicts(document)["package-altered"] == "likely"
    assert "republished" not in _verdicts(document), "nothing of this version was locked"
    assert "3 of 3 downloads here gave the same other bytes" in _evidence(document)["package-altered"]
    assert "of another root" not in json.dumps(document)
    document = doctor(folder, *options, "ci.log")
    assert [one["command"] for one in document["remedies"] if one["id"] == "retry"] == [command]


def test_every_line_of_locklens_about_a_provider_is_an_error_of_its_root(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    sums = f"the list of checksums cannot be fetched for {ADDRESS} 1.5.0: "
    for words, kind in (
        (f" 1.5.0 for linux_amd64: {sums}dl.example.com answered 503 Service Unavailable (2 attempts)", "sums-unavailable"),
        (" 1.5.0 for linux_amd64: dl.example.com answered 503 Service Unavailable (2 attempts)", "registry-failed"),
        (": dl.example.com refuses the connection (2 attempts)", "registry-failed"),
        (": host name dl.example.com not found", "registry-failed"),
        (": dl.example.com broke the connection off or does not speak HTTP (2 attempts)", "registry-failed"),
    ):  # fmt: skip
        for prefix in ("", "tf-runner-1  | ", "[2026-11-29T22:01:00.037Z] "):
            lines = (
                f"{prefix}- Fetching acme/demo 1.4.2 for linux_amd64...\n{prefix}error: live/prod: acme/demo{words}\n"
            )
            (folder / "ci.log").write_text(f"{lines}{prefix}hint: try again\n{prefix}nothing was changed\n", "utf-8")
            document = doctor(folder, "ci.log")
            (error,) = document["errors"]
            assert (error["kind"], document["facts"]["root"]) == (kind, "live/prod")
            assert error["text"] == f"error: live/prod: acme/demo{words}"
            assert document["causes"][0]["id"] == "registry-down"
            assert _verdicts(document).get("credentials", "no") == "no"


@pytest.mark.parametrize(("rules", "words"), [
    ((FaultRule(Fault.SERVER_ERROR, ADDRESS, step=Step.VERSIONS),), "the same request fails here: "),
    ((), "the same request is answered here"),
])  # fmt: skip
def test_the_request_of_an_error_of_locklens_without_a_version_is_that_for_the_list(
    rules: tuple[FaultRule, ...], words: str, made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
    error = "error: live/prod: acme/demo: registry.terraform.io answered 503 Service Unavailable (2 attempts)\n"
    (folder / "ci.log").write_text(f"{error}nothing was changed\n", "utf-8")
    document = doctor(folder, "ci.log")
    assert (document["causes"][0]["id"], document["causes"][0]["verdict"]) == ("registry-down", "yes")
    assert words in document["causes"][0]["evidence"]
    (again,) = document["remedies"]
    assert (again["command"], again["trust"], again["bytes"]) == (None, "low", None)  # it may have been an upgrade
    assert "the log does not have its command line" in again["note"]


def test_an_upgrade_to_a_version_that_was_locked_long_ago_is_not_over(
    made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(INCIDENTS["download-damaged"])
    lock = folder / "live/prod" / LOCK
    present = lock.read_bytes()
    for data, date in ((lock_file(replace(DEMO, version="1.5.0")), "2026-05-01"), (present, "2026-05-02")):
        lock.write_bytes(data)
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{date}T00:00:00Z")
        git(folder, "commit", "-qam", "roll")
    wrong = f"zh:{'a' * 64} (expected zh:{'b' * 64})"
    title, while_ = "Error: Failed to install provider", "Error while installing acme/demo v1.5.0:"
    text = f"{title}\n\n{while_} archive has incorrect checksum {wrong}\n"
    searched = '- Finding acme/demo versions matching "~> 1.4"...\n'
    reused = "- Reusing previous version of acme/demo from the dependency lock file\n"
    for before, day, state in (
        ("", "01", "fixed"),
        ("", "09", "open"),
        (searched, "01", "open"),
        (reused, "09", "fixed"),
    ):
        log = folder / "ci.log"
        log.write_text(before + text, "utf-8")
        moment = datetime.fromisoformat(f"2026-05-{day}T12:00:00+00:00").timestamp()
        os.utime(log, (moment, moment))
        assert doctor(folder, "ci.log", "--", "live/prod")["state"] == state


def test_an_edited_version_is_named_where_its_package_is_missing(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    lock = folder / "live/prod" / LOCK
    lock.write_bytes(lock_file(replace(DEMO, version="1.5.0", hashes_of="1.4.2")))
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("1.4.2", "1.5.0"), "utf-8")
    assert _first(doctor(folder, "ci.log")) == ("hand-edit", "yes")


def test_the_same_packages_in_both_registries_are_no_matter_of_tools(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    other = folder / "live/tofu"
    other.mkdir()
    lock = (folder / "live/prod" / LOCK).read_bytes()
    (other / LOCK).write_bytes(lock.replace(b"registry.terraform.io", b"registry.opentofu.org"))
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    for words, verdict in (((), "no"), (("--offline",), "unknown")):
        assert _verdicts(doctor(folder, *words, "ci.log", "--", "live/prod"))["other-tool"] == verdict
        assert _verdicts(doctor(folder, *words, "--", "live/prod"))["other-tool"] == verdict


def test_a_package_that_was_installed_after_the_log_is_not_missing(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    write_unpacked(folder / "live/prod/.terraform/providers", ADDRESS, "1.4.2", "linux_amd64")
    document = doctor(folder, "ci.log")
    assert document["state"] == "fixed"
    assert "was installed on this machine later than the log" in document["fixed"]
    assert document["fixed"].endswith(" (on another machine, init has to run there)")
    place = folder / "live/prod/.terraform/providers" / ADDRESS / "1.4.2/linux_amd64"
    for moment in (place.stat().st_mtime + 0.001, place.stat().st_mtime + 3600):
        os.utime(folder / "ci.log", (moment, moment))
        document = doctor(folder, "ci.log")
        assert document["state"] == "open"
    assert not any("is replaced" in (one.get("note") or "") for one in document["remedies"])


def test_a_package_is_not_missing_once_each_root_that_a_log_fits_has_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    log, names = folder / "ci.log", ("live/dev", "live/prod", "live/stage")
    for name in (names[0], names[2]):
        shutil.copytree(folder / "live/prod", folder / name)
    write_unpacked(folder / "live/dev/.terraform/providers", ADDRESS, "1.4.2", HERE)
    log.write_bytes(log.read_bytes())  # later
    states = []
    for name in ("live/prod", "live/stage"):
        document = doctor(folder, "ci.log")
        states.append((document["state"], document["errors"][0]["roots"]))
        write_unpacked(folder / name / ".terraform/providers", ADDRESS, "1.4.2", HERE)
    document = doctor(folder, "ci.log")
    assert states == [("open", [*names])] * 2, "another root lacks it still"
    assert (document["state"], document["errors"][0]["roots"]) == ("fixed", ["live/prod", "live/stage"])
    text = log.read_text("utf-8")
    log.write_text(f"##[group]Run terraform plan\n{text}", "utf-8")
    os.utime(log, (1_700_000_000, 1_700_000_000))
    assert doctor(folder, "ci.log")["state"] == "open", "another machine may lack it"
    log.write_text(text, "utf-8")
    assert doctor(folder, "ci.log")["state"] == "open", "a later run lacked it"


def test_packages_are_installed_together_with_the_modules_that_are_called(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    root = folder / "live/prod"
    (root / "network").mkdir()
    (root / "network/main.tf").touch()
    with (root / "main.tf").open("a", encoding="utf-8") as file:
        file.write('module "net" {\n  source = "./network"\n}\n')

    def told() -> tuple[str, list[str | None]]:
        document = doctor(folder, "ci.log")
        return document["state"], [one["command"] for one in document["remedies"]]

    assert told() == ("open", ["terraform -chdir=live/prod init"])
    shutil.copytree(root, folder / "live/qa")
    git(folder, "add", "live/qa")
    git(folder, "commit", "-qm", "another root")
    assert told() == ("open", ["terraform -chdir=ROOT init"]), "locklens init installs no modules in either"
    git(folder, "rm", "-rqf", "live/qa")
    git(folder, "commit", "-qm", "one root again")
    write_unpacked(root / ".terraform/providers", ADDRESS, "1.4.2", "linux_amd64")
    assert told() == ("open", ["terraform -chdir=live/prod init"])
    evidence = doctor(folder, "ci.log")["causes"][0]["evidence"]
    assert evidence.endswith("live/prod/.terraform/modules/modules.json does not list module net as it is called")
    (root / ".terraform/modules").mkdir()
    listed = [{"Key": "net", "Source": "./network", "Dir": "network"}]
    (root / ".terraform/modules/modules.json").write_text(json.dumps({"Modules": listed}), "utf-8")
    assert told() == ("fixed", [None])
    os.utime(root / ".terraform/providers" / ADDRESS / "1.4.2/linux_amd64", (1_600_000_000, 1_600_000_000))
    assert told()[0] == "open", "a copy of what the failing run may have had"


@pytest.mark.parametrize("mark", [
    "2026-11-29T22:01:00.0000001Z ##[group]Run terraform plan",
    "##[section]Starting: terraform plan",
    "Running with gitlab-runner 17.5.0 (abcdef12)",
    "[Pipeline] sh",
    "section_start:1764453660:step_script",
    "Finished: FAILURE",
    "[Container] 2026/11/30 22:01:02.123999 Running command terraform plan",
    "Ran Plan for dir: `live/prod` workspace: `default`",
    "Ran Plan for 2 projects:",
    "running 'sh -c' 'terraform plan' in '/home/atlantis/.atlantis/repos/corp/infra/17/default/live/prod': exit status 1",
    "CircleCI received exit code 1",
    "Exited with code exit status 1",
    "Running plan in HCP Terraform. Output will stream here. Pressing Ctrl-C",
    "Running apply in the remote backend. Output will stream here. Pressing Ctrl-C",
    "Preparing the remote plan...",
    "[01JDX] Unexpected exit code when initializing: 1",
    "travis_fold:start:init",
    'The command "terraform plan" exited with 1.',
    "Build setup 3s",
    "user command error: The plugin failed: exit status 1",
    "Error: Process completed with exit code 1.",
])  # fmt: skip
def test_what_is_installed_here_does_not_end_the_error_of_a_ci_system(mark: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    log = (folder / "ci.log").read_text("utf-8")
    os.utime(folder / "ci.log", (1_700_000_000, 1_700_000_000))
    (folder / "ci.log").write_text(f"{mark}\n{log}", "utf-8")
    os.utime(folder / "ci.log", (1_700_000_000, 1_700_000_000))
    (note,) = (one["note"] for one in doctor(folder, "ci.log")["remedies"] if one["id"] == "reinstall")
    assert note.startswith("on the machine of the log, before the command that failed")
    write_unpacked(folder / "live/prod/.terraform/providers", ADDRESS, "1.4.2", "linux_amd64")
    os.utime(folder / "ci.log", (1_700_000_000, 1_700_000_000))
    document = doctor(folder, "ci.log")
    assert (document["state"], *_first(document)) == ("open", "plugin-missing", "yes")
    assert (
        "what was installed in live/prod/.terraform later than the log does not end the error: another program printed the "
        "log, whose machine or container may have a folder of its own"
    ) in document["run"]["notes"]
    notes = [one["note"] for one in document["remedies"] if one["id"] == "reinstall"]
    assert notes == ["on the machine of the log, before the command that failed; here the locked package is installed"]


def test_a_data_folder_that_a_fix_made_here_does_not_end_the_error_of_a_ci_system(
    made: Any, doctor: Any, tmp_path: Path
) -> None:
    folder, data = made(INCIDENTS["plugin-missing"]), tmp_path / "tfdata"
    log = (folder / "ci.log").read_text("utf-8").replace("cached in .terraform/", f"cached in {data}/")
    (folder / "ci.log").write_text(f"##[group]Run terraform plan\n{log}", "utf-8")
    os.utime(folder / "ci.log", (1_700_000_000, 1_700_000_000))
    write_unpacked(data / "providers", ADDRESS, "1.4.2", "linux_amd64")
    document = doctor(folder, "ci.log")
    assert (document["state"], *_first(document)) == ("open", "plugin-missing", "yes")
    notes = [one["note"] for one in document["remedies"] if one["id"] == "reinstall"]
    assert notes == ["on the machine of the log, before the command that failed; here the locked package is installed"]


@pytest.mark.parametrize("is_committed", [True, False])
def test_without_a_registry_hashes_of_another_version_have_ended_where_a_commit_has_the_others(
    is_committed: bool, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["hand-edit"])
    place = folder / "live/prod" / LOCK
    sound, old = lock_file(DEMO), lock_file(replace(DEMO, version="1.4.1"))
    for data, words in ((sound, "Lock"), (old, "Hold"), (old.replace(b'"1.4.1"', b'"1.4.2"'), "Edit")):
        place.write_bytes(data)
        git(folder, "commit", "-qam", words)
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    assert _first(doctor(folder, "--offline", "ci.log")) == ("hand-edit", "yes")
    place.write_bytes(sound)
    if is_committed:
        git(folder, "commit", "-qam", "Restore")
    os.utime(folder / "ci.log", (1_700_000_000, 1_700_000_000))
    document = doctor(folder, "--offline", "ci.log")
    assert document["state"] == "fixed"
    assert "had zh of 1.4.1 in commit " in document["fixed"]
    if is_committed:
        later = 4_000_000_000
        os.utime(folder / "ci.log", (later, later))
        assert doctor(folder, "--offline", "ci.log")["state"] == "open", "a later run failed with the sound hashes"


def test_a_merge_that_left_hashes_of_another_version_is_not_fixed(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["bad-merge"])
    whole = lock_file(DEMO)
    (folder / "live/prod" / LOCK).write_bytes(whole.replace(b'"1.4.2"', b'"1.5.0"'))
    assert doctor(folder, "ci.log")["state"] == "open"
    (folder / "live/prod" / LOCK).write_bytes(whole)
    assert doctor(folder, "ci.log")["state"] == "fixed"


def test_a_package_that_was_moved_aside_need_not_be_there(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    folder = made(incident)
    place = folder / incident.options[-1]
    place.rename(f"{place}.suspect")
    assert _first(doctor(folder, *incident.options, "ci.log"))[0] == "plugin-corrupted"


def _installs_netbox(folder: Path, how: str) -> None:
    """Has the run install another provider before the error."""
    log = (folder / "ci.log").read_text("utf-8").partition("╷")
    installed = f"- Installing acme/netbox v3.9.1...\n- Installed acme/netbox v3.9.1 ({how})\n"
    (folder / "ci.log").write_text(f"{log[0]}{installed}{log[1]}{log[2]}", "utf-8")


@pytest.mark.parametrize(("how", "platforms", "is_covered"), [
    ("unauthenticated", (HERE, OTHER), True),
    ("unauthenticated", (HERE, OTHER, THIRD), False),
    ("self-signed, key ID 6EF31C7EB267ED69", (HERE, OTHER), False),
])  # fmt: skip
def test_an_h1_is_not_likely_missing_where_as_many_did_for_another_folder_of_the_run(
    how: str, platforms: tuple[str, ...], is_covered: bool, made: Any, doctor: Any
) -> None:
    netbox = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    lock = lock_file(replace(DEMO, unpacked=(HERE, OTHER)), replace(netbox, unpacked=platforms))
    folder = made(replace(INCIDENTS["mirror-differs"], locks=(lock,), copies=(replace(COPY, edition="altered"),)))
    _without_platform(folder)
    _installs_netbox(folder, how)
    document = doctor(folder, "--mirror", "mirror", "ci.log")
    fixes = {one["id"]: one["note"] or "" for one in document["remedies"]}
    if is_covered:
        assert _first(document) == ("mirror-differs", "likely")
        assert _verdicts(document)["h1-missing"] == "unknown"
        assert "2 did for acme/netbox 3.9.1, which the run installed" in _evidence(document)["h1-missing"]
        assert "lock-platform" not in fixes
    else:
        assert _first(document) == ("h1-missing", "likely")
        assert f"it changes nothing where the h1 of {HERE} is locked already" in fixes["lock-platform"]


@pytest.mark.parametrize(("how", "verdict"), [("unauthenticated", "likely"), ("self-signed, key ID 6EF3", "unknown")])
def test_what_the_run_calls_unauthenticated_came_from_a_mirror(how: str, verdict: str, made: Any, doctor: Any) -> None:
    whole = lock_file(DEMO, sample_entry("acme/netbox", "3.9.1", "~> 3.9"))
    folder = made(replace(INCIDENTS["platform-missing"], locks=(whole,)))
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    _installs_netbox(folder, how)
    document = doctor(folder, "ci.log")
    assert _verdicts(document)["mirror-differs"] == verdict
    if verdict == "likely":
        (fix,) = document["remedies"]
        assert "locklens mirror --platform=" in fix["command"]
        offline = doctor(folder, "--offline", "ci.log")
        assert _verdicts(offline)["mirror-differs"] == "unknown", "today's release is not known"
        (folder / "live/prod/.terraform.lock.hcl").write_bytes(re.sub(rb'    "zh:.*\n', b"", whole))
        assert _verdicts(doctor(folder, "ci.log"))["mirror-differs"] == "unknown", "no zh is locked"


def test_an_h1_that_is_locked_for_this_machine_is_not_likely_to_be_missing(made: Any, doctor: Any) -> None:
    lock = lock_file(replace(DEMO, unpacked=(HERE,)))
    folder = made(replace(INCIDENTS["mirror-differs"], locks=(lock,), copies=(replace(COPY, edition="altered"),)))
    _without_platform(folder)
    document = doctor(folder, "--mirror", "mirror", "--prove=changed", "ci.log")
    assert _first(document) == ("mirror-differs", "likely")
    assert _verdicts(document)["h1-missing"] == "unknown"
    assert _evidence(document)["h1-missing"].startswith(
        f"an h1 of {HERE} is locked; that the failing run was on {HERE}"
    )


@pytest.mark.parametrize(("more", "words"), [
    ((), "(locked: darwin_arm64)"),
    (("linux_arm64",), "(locked: darwin_arm64 and 1 of an unknown platform)"),
    (("linux_arm64", "windows_amd64"), "(locked: darwin_arm64 and 2 of unknown platforms)"),
])  # fmt: skip
def test_an_h1_of_unknown_platform_is_counted_beside_those_of_known_ones(
    more: tuple[str, ...], words: str, made: Any, doctor: Any
) -> None:
    lock = lock_file(replace(DEMO, unpacked=("darwin_arm64", *more)))
    copy = replace(COPY, platform="darwin_arm64")
    folder = made(replace(INCIDENTS["h1-missing"], locks=(lock,), copies=(copy,)))
    name = "terraform-provider-demo_1.4.2_linux_amd64.zip"
    (folder / name).write_bytes(package_bytes(ADDRESS, "1.4.2", "linux_amd64"))
    options = "--mirror", "mirror", "--platform", "linux_amd64"
    given, without = (
        next(one["evidence"] for one in document["causes"] if one["id"] == "h1-missing")
        for document in (doctor(folder, *options, *more, "ci.log") for more in (("--package", name), ()))
    )
    assert f"no h1 of linux_amd64 is locked for acme/demo 1.4.2 {words}" in given
    total = len(more) + 1
    assert f"{total} h1 locked beside 5 zh of packages {words}" in without or not more


@pytest.fixture
def mirrored(made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """A package that was refused, and a network mirror as the only place of the settings, which lists hashes for it."""
    folder, authority = made(INCIDENTS["download-damaged"]), trustme.CA()
    (folder / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(authority, tmp_path / "ca.pem")))
    with serving(server_context(authority, "localhost")) as server:
        block = (
            f'provider_installation {{\n  network_mirror {{\n    url = "{server.url("/p/", "localhost")}"\n  }}\n}}\n'
        )
        settings = tmp_path / "demo.tfrc"
        settings.write_text(settings.read_text("utf-8") + block, "utf-8")

        def listing(archive: dict[str, Any], package: bytes = b"") -> Path:
            below = "/p/registry.terraform.io/acme/demo"
            server.gives(f"{below}/index.json", {"versions": {"1.4.2": {}}})
            server.gives(f"{below}/1.4.2.json", {"archives": {"linux_amd64": {"url": "demo.zip", **archive}}})
            server.gives(f"{below}/demo.zip", package)
            return Path(folder)

        yield listing


def test_the_hashes_that_a_network_mirror_lists_are_compared(mirrored: Any, doctor: Any) -> None:
    other, h1 = f"zh:{'ab' * 32}", "h1:4444444444444444444444444444444444444444444="
    folder = mirrored({"hashes": [other]})
    found = _of(doctor(folder, "ci.log"), "mirror-differs")
    assert re.search(r"the package that https://localhost:\d+/p/ lists is zh:abababab\.\.\., which the signed SHA256SUMS", found["evidence"])  # fmt: skip
    assert "that the failing run installed it is not known" in found["evidence"]
    assert found["verdict"] == "likely"  # what is listed now may not be what the run got
    alone = doctor(folder, "--", "live/prod")
    assert _of(alone, "mirror-differs")["verdict"] == "yes"
    fix = next(one for one in alone["remedies"] if one["id"] == "fill-mirror")
    assert "which serves https://localhost:" in fix["note"]
    assert "aside" not in json.dumps(alone["remedies"])
    folder = mirrored({"hashes": [h1]})
    found = _of(doctor(folder, "--offline", "ci.log"), "mirror-differs")
    assert "the settings here name https://localhost:" in found["evidence"]  # which is not asked


def test_what_a_network_mirror_lists_may_not_be_comparable(mirrored: Any, doctor: Any) -> None:
    folder = mirrored({})
    found = _of(doctor(folder, "ci.log"), "mirror-differs")
    assert (found["verdict"], "lists no hash for linux_amd64" in found["evidence"]) == ("unknown", True)
    entry = re.findall('"(zh:[0-9a-f]+)"', (folder / "live/prod" / LOCK).read_text("utf-8"))
    found = _of(doctor(mirrored({"hashes": entry}), "ci.log"), "mirror-differs")
    assert (found["verdict"], "has a locked hash" in found["evidence"]) == ("unknown", True)
    assert _of(doctor(folder, "--", "live/prod"), "mirror-differs")["verdict"] == "no"


def test_the_package_that_a_network_mirror_gives_is_compared_after_a_download(mirrored: Any, doctor: Any) -> None:
    folder = mirrored({"hashes": [named := f"h1:{'4' * 43}="]})
    words = f'Error while installing acme/demo v1.4.2: provider package doesn\'t match the expected checksum "{named}"'
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    found = _of(doctor(folder, "ci.log"), "mirror-differs")
    assert found["missing"].startswith("what it gives now (--prove changed downloads it), or the zip file")
    downloading = "--prove", "changed", "ci.log"
    for edition, state in (("republished", "open"), ("not-a-zip", "open"), ("", "fixed")):
        package = package_bytes(ADDRESS, "1.4.2", "linux_amd64", edition)
        mirrored({"hashes": [named]}, b"<html>" if edition == "not-a-zip" else package)
        document = doctor(folder, *downloading)
        assert document["state"] == state
        if edition == "republished":
            found = _of(document, "mirror-differs")
            assert (found["verdict"], found["basis"]) == ("likely", "hashes")
            assert re.search(r"the package that https://localhost:\d+/p/ gives is (h1|zh):", found["evidence"])
        elif edition:
            note = next(one for one in document["run"]["notes"] if "was not hashed" in one)
            assert re.match(r"demo 1.4.2 linux_amd64 from https://localhost:\d+/p/ was not hashed: ", note)
    assert re.match(r"the package that https://localhost:\d+/p/ gives has a locked hash now", document["fixed"])
    assert document["next"] == "terraform -chdir=live/prod init"


def test_a_package_of_another_size_is_downloaded_for_a_platform_that_is_assumed_or_known(
    made: Any, doctor: Any
) -> None:
    rules = (FaultRule(Fault.TAMPERED_PACKAGE, DEMO.provider),)
    folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
    words = "registry response indicates a package of size 287, but received a package of size 288"
    message = ("Failed to install provider", f"Error while installing acme/demo v1.4.2: {words}")
    (folder / "ci.log").write_text(f"Error: {message[0]}\n\n{message[1]}\n", "utf-8")
    first = doctor(folder, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("download-damaged", "likely")
    how = "what arrives here: --prove changed downloads it up to three times"
    assert first["missing"] == f"{how}, for {HERE} unless --platform OS_ARCH names another"
    assumed = f"; that the failing run was on {HERE} is assumed"
    for options in ((), ("--platform", OTHER)):
        found = doctor(folder, "--prove", "changed", *options, "ci.log")["causes"]
        assert [(one["id"], one["verdict"]) for one in found[:2]] == [
            ("download-damaged", "likely"), ("package-altered", "likely"),
        ]  # fmt: skip
        assert all("3 of 3 downloads here gave the same other bytes" in one["evidence"] for one in found[:2])
        assert [one["evidence"].endswith(assumed) for one in found[:2]] == [not options, not options]
    document = doctor(folder, "--prove", "changed", "--platform", "plan9_arm", "ci.log")
    why = "demo 1.4.2 plan9_arm was not downloaded: no signed list that is known here names it"
    assert why in document["run"]["notes"]


def test_hashes_that_a_registry_reports_are_not_said_to_be_of_the_signed_package(made: Any, doctor: Any) -> None:
    provider = f"{OPENTOFU_HOST}/hashicorp/random"
    entry = replace(sample_entry("hashicorp/random", "3.6.3", "~> 3.6"), provider=provider, unpacked=("darwin_arm64",))
    incident = replace(INCIDENTS["h1-missing"], locks=(lock_file(entry, dialect=OPENTOFU),))
    folder = made(replace(incident, constraints=((provider, "~> 3.6"),), copies=()))
    words = f"the local package for {provider} 3.6.3 doesn't match any of the checksums previously recorded"
    words = f"Error while installing hashicorp/random v3.6.3: {words} in the dependency lock file"
    (folder / "ci.log").write_text(f"OpenTofu v1.12.6\non linux_amd64\n\nError: {words}\n", "utf-8")
    out = doctor(folder, "--format", "text", "ci.log")
    assert "  a  Add the hashes of linux_amd64 to the lock file, as the registry reports them\n" in out
