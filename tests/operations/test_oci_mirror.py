"""OCI registries of the user's CLI configuration, for all that looks at places of packages: verify, review, doctor."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import trustme
from conformance.case import HERE, OPENTOFU, requires
from kit.loopback import server_context, write_authority
from kit.oci_registry import OciRegistry, Repository, digest_of, registry
from kit.schemas import validate
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, run

from locklens.demo import package_bytes, zh

PINNED = replace(CASE, files={"main.tf": requires(("acme/demo", "1.0.0"))}, tools=("opentofu",))
DEMO = "registry.opentofu.org/acme/demo"
METHOD = 'provider_installation {\n  oci_mirror {\n    repository_template = "HOST/m/${hostname}/${namespace}/${type}"\n  }\n}\n'
MAC = "darwin_arm64"

Capture = pytest.CaptureFixture[str]


@contextmanager
def beside(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Bench, OciRegistry]]:
    """A root, and an OCI registry whose certificate is trusted."""
    authority = trustme.CA()
    with bench(OPENTOFU, monkeypatch, PINNED) as place, registry(server_context(authority, "127.0.0.1")) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(authority, place.home / "oci.pem")))
        monkeypatch.setenv("SSL_CERT_DIR", str(place.home / "tmp"))
        subprocess.run(["git", "init", "-q"], check=True)
        commit()
        yield place, server


def commit(*names: str) -> None:
    subprocess.run(["git", "add", *names], check=True, capture_output=True)
    own = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", *own, "commit", "-q", "--allow-empty", "-mx"], check=True)


def hold(server: OciRegistry, **packages: bytes) -> Repository:
    held = server.repository(f"m/{DEMO}")
    held.provider("1.0.0", packages or {HERE: package_bytes(DEMO, "1.0.0", HERE)})
    return held


def go(*words: str) -> int:
    return run(words[0], "--tool", "opentofu", *words[1:])


def document(capfd: Capture, *words: str) -> Any:
    capfd.readouterr()
    go(*words, "--format", "json")
    found = json.loads(capfd.readouterr().out)
    validate(found, words[0])
    return found


def hashes(place: Bench, scheme: str) -> list[str]:
    text = (place.work / ".terraform.lock.hcl").read_text()
    return [line.strip(' ",') for line in text.splitlines() if f'"{scheme}:' in line]


def test_a_package_that_an_oci_registry_has_is_verified_by_its_digest(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with beside(monkeypatch) as (place, server):
        go("init")
        place.configure(METHOD.replace("HOST", server.host))

        def verdict() -> str:
            found = document(capfd, "verify")["packages"]
            assert [one["path"] for one in found if one["where"] == "mirror"] in ([], [found[-1]["path"]])
            return found[-1]["verdict"] if found[-1]["where"] == "mirror" else "none"

        assert verdict() == "none"
        hold(server)
        assert verdict() == "matches"
        hold(server, **{HERE: b"PK another"})
        assert verdict() == "differs"
        hold(server, **{MAC: b"PK another"})
        assert verdict() == "none"
        server.answers["GET", f"/v2/m/{DEMO}/tags/list"] = lambda handler: handler.reply(500)
        assert verdict() == "unreadable"
        asked = len(server.asked)
        assert go("verify", "--offline") == 0
        assert "OCI mirrors are not verified offline" in capfd.readouterr().err
        assert len(server.asked) == asked
        assert not any("blobs" in path for path in server.paths())


def test_a_zh_that_only_an_oci_registry_has_is_proven_by_a_mirror(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with beside(monkeypatch) as (place, server):
        go("init")
        place.configure(METHOD.replace("HOST", server.host))
        own = package_bytes(DEMO, "1.0.0", HERE, "again")
        hold(server, **{HERE: own, MAC: package_bytes(DEMO, "1.0.0", MAC)})
        mine = f"zh:{digest_of(own)[7:]}"
        lock = place.work / ".terraform.lock.hcl"
        lock.write_text(lock.read_text().replace("hashes = [", f'hashes = [\n    "{mine}",'))
        change = document(capfd, "review", "--no-cache")["roots"][0]["changes"][0]
        proofs = {one["hash"]: (one["proof"], one["platform"]) for one in change["hashes"]["added"]}
        assert proofs[mine] == ("mirror", HERE)
        assert proofs[zh(DEMO, "1.0.0", MAC)] == ("signed", MAC)  # By its publisher, whoever else has it.
        assert change["evidence"]["mirrors"] == [f"OCI repository {server.host}/m/{DEMO}"]


def test_whom_a_change_names_is_not_asked(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with beside(monkeypatch) as (place, server):
        hold(server)
        (place.work / "cli.tfrc").write_text(METHOD.replace("HOST", server.host))
        (place.work / ".terraformrc").write_text(METHOD.replace("HOST", server.host))
        assert go("init") == 0
        document(capfd, "review", "--no-cache")
        document(capfd, "verify")
        assert not server.asked


def test_what_an_h1_alone_cannot_install(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with beside(monkeypatch) as (place, server):
        go("init")
        hold(server)
        place.configure(METHOD.replace("HOST", server.host))
        lock = place.work / ".terraform.lock.hcl"
        lock.write_text("".join(line for line in lock.read_text().splitlines(keepends=True) if '"zh:' not in line))
        subprocess.run(["rm", "-r", ".terraform"], check=True)
        capfd.readouterr()
        assert go("init") == 1
        log = capfd.readouterr().err
        assert "doesn't match any of the checksums previously recorded" in " ".join(log.split())
        (place.work / "ci.log").write_text(log)
        found = document(capfd, "doctor", "--platform", HERE, "ci.log")
        first = found["causes"][0]
        assert (first["id"], first["verdict"]) == ("platform-missing", "likely")
        assert "from an OCI registry is accepted by its zh alone" in first["evidence"]
        (place.work / "locklens.toml").write_text(f'[platforms]\n{HERE} = "here"\n')
        commit("locklens.toml")
        capfd.readouterr()
        go("review", "--format", "text")
        said = " ".join(capfd.readouterr().out.split())
        assert f"{HERE} (here) is not covered from an OCI mirror: no zh for it is locked; init fails" in said
        assert go("lock", f"-platform={HERE}") == 0
        assert go("init") == 0


def test_terraform_refuses_the_block(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with beside(monkeypatch) as (place, server):
        hold(server)
        place.configure(METHOD.replace("HOST", server.host))
        assert run("init", "--tool", "terraform") == 1
        assert 'unknown installation method "oci_mirror"' in capfd.readouterr().err
        assert not server.asked


LOGS = {
    'listing tags from OCI repository: GET "https://reg.test/v2/a/tags/list": response status code 403: denied': (
        "credentials", "likely", "docker login",
    ),
    'accessing OCI registry at reg.test: GET "https://reg.test/v2/": basic credential not found': (
        "credentials", "likely", "docker login",
    ),
    'resolving tag "1.0.0": reg.test/a:1.0.0: not found': ("mirror-lacks", "likely", "oci://HOST/REPOSITORY"),
    'unexpected artifact type "x"': ("mirror-differs", "yes", "oci://HOST/REPOSITORY"),
    "fetching provider package blob sha256:ab: does not match digest sha256:cd": ("download-damaged", "likely", ""),
}  # fmt: skip


@pytest.mark.parametrize("words", LOGS)
def test_what_the_doctor_says_of_opentofus_errors(words: str, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with beside(monkeypatch) as (place, server):
        go("init")
        place.configure(METHOD.replace("HOST", server.host))
        log = f"Error: Failed to install provider\n\nError while installing acme/demo v1.0.0: {words}\n"
        (place.work / "ci.log").write_text(log)
        found = document(capfd, "doctor", "--offline", "--platform", HERE, "ci.log")
        cause, verdict, said = LOGS[words]
        assert (found["causes"][0]["id"], found["causes"][0]["verdict"]) == (cause, verdict)
        assert said in json.dumps(found)
        assert not server.asked


def test_a_registry_whose_host_a_change_chooses_is_not_asked(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with beside(monkeypatch) as (place, server):
        go("init")
        hold(server)
        rest = 'oci_mirror {\n    repository_template = "${hostname}/m/${namespace}/${type}"\n  }'
        place.configure(f"provider_installation {{\n  {rest}\n}}\n")
        lock = place.work / ".terraform.lock.hcl"
        # A change that moves the provider to a host of its choice, which is this registry.
        lock.write_text(lock.read_text().replace("registry.opentofu.org", server.host))
        document(capfd, "review", "--no-cache")
        found = document(capfd, "verify")
        assert f"{server.host} was not asked" in json.dumps(found)
        assert not server.asked
