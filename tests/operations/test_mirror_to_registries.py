"""Mirrors in OCI registries that locklens fills: what the real tool installs, and what stays as it is."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from conformance.case import OPENTOFU, STOCK, Case, requires
from conformance.running import is_here
from kit.loopback import server_context
from kit.oci_registry import INDEX, MANIFEST, OciRegistry, digest_of
from kit.oci_registry import registry as oci_registry
from kit.waiting import LIMIT
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, files, run

from locklens.demo.faults import Fault, FaultRule, Faults, Step

PLATFORMS = ("-platform=linux_amd64", "-platform=darwin_arm64")
DEMO, OTHER = "p/registry.opentofu.org/acme/demo", "p/reg.acme.test/a/other"


@contextmanager
def beside(monkeypatch: pytest.MonkeyPatch, case: Case = CASE) -> Iterator[tuple[Bench, OciRegistry]]:
    """A root with its registry, and an OCI registry to push to, whose authority all programs trust."""
    authority = trustme.CA()
    with bench(OPENTOFU, monkeypatch, case) as place, oci_registry(server_context(authority, "127.0.0.1")) as server:
        bundle = place.home / "authorities.pem"
        known = place.environ.get("SSL_CERT_FILE")
        bundle.write_bytes((Path(known).read_bytes() if known else b"") + authority.cert_pem.bytes())
        place.environ["SSL_CERT_FILE"] = str(bundle)
        monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
        yield place, server


def target(server: OciRegistry) -> str:
    return f"oci://{server.host}/p/{{hostname}}/{{namespace}}/{{type}}"


def push(server: OciRegistry, *words: str) -> int:
    return run("mirror", "--tool", "opentofu", *PLATFORMS, *words, target(server))


def install_from(place: Bench, server: OciRegistry) -> None:
    """Have both programs install from the registry alone."""
    template = f"{server.host}/p/${{hostname}}/${{namespace}}/${{type}}"
    block = f'oci_mirror {{\n    repository_template = "{template}"\n  }}'
    place.configure(f"provider_installation {{\n  {block}\n}}\n")


def test_what_is_pushed_is_what_the_tool_installs(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (place, server):
        assert push(server) == 0
        said = capfd.readouterr()
        assert f"Success! 4 packages of this run in {target(server)}." in said.out
        assert f"- Tagged {server.host}/{DEMO}:1.2.0 ({server.repository(DEMO).tags['1.2.0']})" in said.err
        assert set(server.repositories) == {DEMO, OTHER}
        [tag] = server.repository(OTHER).tags
        index = json.loads(server.repository(OTHER).manifests[server.repository(OTHER).tags[tag]].data)
        assert [one["platform"] for one in index["manifests"]] == [
            {"architecture": "arm64", "os": "darwin"},
            {"architecture": "amd64", "os": "linux"},
        ]
        install_from(place, server)
        place.steps()
        assert run("init", "--tool", "opentofu") == 0
        ours = (place.work / ".terraform.lock.hcl").read_bytes()
        assert place.steps() == []
        if is_here(OPENTOFU):
            (place.work / ".terraform.lock.hcl").unlink()
            assert "verified checksum" in place.real("init", "-no-color")
            assert (place.work / ".terraform.lock.hcl").read_bytes() == ours


def state(server: OciRegistry) -> dict[str, tuple[dict[str, str], set[str], set[str]]]:
    """What the registry holds: tags, manifests and blobs of each repository."""
    return {name: (dict(one.tags), set(one.manifests), set(one.blobs)) for name, one in server.repositories.items()}


def index_of(server: OciRegistry, name: str = DEMO, tag: str = "1.2.0") -> dict[str, Any]:
    held = server.repository(name)
    found: dict[str, Any] = json.loads(held.manifests[held.tags[tag]].data)
    return found


def test_what_is_there_is_neither_fetched_nor_sent_again(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (place, server):
        assert push(server) == 0
        before = state(server)
        place.steps()
        server.asked.clear()
        capfd.readouterr()
        assert push(server) == 0
        assert place.steps().count("package") == 0
        assert server.requests("POST", "PUT", "PATCH") == []
        assert state(server) == before
        assert capfd.readouterr().err.count("; already there") == 4
        # Without its tag the index is made anew, of packages that are there.
        del server.repository(DEMO).tags["1.2.0"]
        assert push(server) == 0
        assert place.steps().count("package") == 0
        assert server.requests("POST") == []
        assert server.requests("PUT") == [f"PUT /v2/{DEMO}/manifests/1.2.0"]
        assert state(server) == before
        # Nobody says how large a package is but the package, or what was hashed on this machine.
        del server.repository(DEMO).tags["1.2.0"]
        assert push(server, "--no-cache") == 0
        assert place.steps().count("package") == 2
        assert server.requests("POST") == []
        assert state(server) == before


def test_a_dry_run_sends_and_fetches_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (place, server):
        assert push(server, "--dry-run") == 0
        said = capfd.readouterr()
        assert "- Would mirror acme/demo 1.2.0 for linux_amd64 (signed" in said.err
        assert "Fetching" not in said.err
        assert f"- Would tag {server.host}/{DEMO}:1.2.0\n" in said.err
        assert "dry run: nothing was written" in said.err
        assert said.out.startswith(f"4 packages of this run would be in oci://{server.host}/")
        assert server.requests("POST", "PUT", "PATCH") == []
        assert place.steps().count("package") == 0
        assert run("mirror", "--dry-run", "--tool", "opentofu", "--prune", "folder") == 0
        assert "- Would mirror acme/demo 1.2.0" in capfd.readouterr().err
        assert place.steps().count("package") == 0
        assert not (place.work / "folder").exists()
        assert run("mirror", "--tool", "opentofu", *PLATFORMS, "folder") == 0
        before = files(place.work / "folder")
        capfd.readouterr()
        assert run("mirror", "--dry-run", "--tool", "opentofu", "--prune", PLATFORMS[0], "folder") == 0
        said = capfd.readouterr()
        gone = [line for line in said.out.splitlines() if line.startswith("would remove ")]
        assert len(gone) == 2
        assert all("darwin_arm64.zip" in line for line in gone)
        assert files(place.work / "folder") == before


def test_a_tag_of_something_else_stays(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with beside(monkeypatch) as (_, server):
        held = server.repository(DEMO)
        contents: list[Callable[[], dict[str, Any]]] = [
            lambda: held.provider("1.2.0", {"linux_amd64": b"another", "darwin_arm64": b"one"}),
            lambda: held.manifest({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}, INDEX, tag="1.2.0"),
            lambda: held.manifest({"schemaVersion": 2, "mediaType": MANIFEST}, MANIFEST, tag="1.2.0"),
            lambda: held.manifest(b"{", INDEX, tag="1.2.0"),
        ]
        for content in contents:
            digest = content()["digest"]
            before = state(server)[DEMO]
            for option in ((), ("--add-platforms",)):
                assert push(server, *option) == 1
                said = capfd.readouterr().err
                assert re.search(r"acme/demo 1\.2\.0[:\w ]*: \S+:1\.2\.0 \(" + digest + r"\) exists,? and", said)
                assert state(server)[DEMO] == before
        assert f"{server.host}/{OTHER}:1.0.0" in said or "1.0.0" in server.repository(OTHER).tags


def test_a_platform_is_added_only_when_told_to(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (_, server):
        assert run("mirror", "--tool", "opentofu", PLATFORMS[0], target(server)) == 0
        held = server.repository(DEMO)
        noted = json.dumps({**index_of(server), "annotations": {"by": "hand"}}).encode()
        first = held.manifest(noted, INDEX, tag="1.2.0")["digest"]
        before = state(server)
        capfd.readouterr()
        assert push(server) == 1
        said = capfd.readouterr().err
        tag = f"{server.host}/{DEMO}:1.2.0 ({first})"
        assert f"acme/demo 1.2.0 for darwin_arm64: {tag} exists and lacks it: it has linux_amd64" in said
        assert "hint: --add-platforms replaces its index by one that has it too" in said
        assert state(server) == before
        assert push(server, "--add-platforms") == 0
        after = index_of(server)
        assert [one["platform"]["os"] for one in after["manifests"]] == ["linux", "darwin"]
        assert after["manifests"][0] == json.loads(noted)["manifests"][0]
        assert after["annotations"] == {"by": "hand"}
        assert first in held.manifests
        assert push(server) == 0


def test_nothing_is_added_to_what_nobody_signed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (_, server):
        digest = server.repository(DEMO).provider("1.2.0", {"windows_amd64": b"another"})["digest"]
        assert push(server, "--add-platforms") == 1
        said = capfd.readouterr().err
        assert f"({digest}) has a package for windows_amd64 that the signed release does not list" in said
        assert server.repository(DEMO).tags == {"1.2.0": digest}


def test_wherever_it_ends_no_client_sees_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.sources.oci_session._RETRIES", 0)  # the run has ended, and does not go on by itself
    with beside(monkeypatch) as (_, server):
        assert push(server) == 0
        whole = state(server)
        writes = len(server.requests("POST", "PUT", "PATCH"))
        assert writes > 12
        for last in range(0, writes, 3):
            server.repositories.clear()
            taken = itertools.count()

            def end(method: str, _path: str, taken: Iterator[int] = taken, last: int = last) -> None:
                if method not in {"GET", "HEAD"} and next(taken) >= last:
                    raise ConnectionAbortedError

            server.on_request = end
            assert push(server) == 1
            for name, (tags, manifests, blobs) in state(server).items():
                if tags:
                    assert (tags, manifests, blobs) == whole[name]
            server.on_request = lambda _method, _path: None
            assert push(server) == 0
            assert state(server) == whole


def test_a_package_that_fails_keeps_its_version_from_being_tagged(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (place, server):
        place.registry.faults = Faults((FaultRule(Fault.TAMPERED_PACKAGE, "reg.acme.test/a/other", step=Step.PACKAGE),))
        assert push(server) == 1
        assert "reg.acme.test/a/other 1.0.0 for linux_amd64" in capfd.readouterr().err
        assert server.repository(OTHER).tags == {}
        assert set(server.repository(DEMO).tags) == {"1.2.0"}
        assert not {digest for digest in server.repository(OTHER).blobs if digest != digest_of(b"{}")}


def test_a_platform_that_a_release_does_not_have_is_told_and_no_more(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (_, server):
        for _ in range(2):
            assert push(server, "-platform=plan9_386") == 1
            said = capfd.readouterr().err
            assert "provider acme/demo 1.2.0 is not available for plan9_386" in said
            assert "lacks" not in said
            assert set(server.repository(DEMO).tags) == {"1.2.0"}
            assert len(index_of(server)["manifests"]) == 2


def test_a_tag_that_somebody_else_sets_meanwhile_stays(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (_, server):
        held = server.repository(DEMO)
        digests: list[str] = []

        def race(method: str, path: str) -> None:
            if method == "PUT" and path.startswith(f"/v2/{DEMO}/manifests/") and not digests:
                digests.append(held.provider("1.2.0", {"linux_amd64": b"theirs"})["digest"])

        server.on_request = race
        assert push(server) == 1
        assert f"was set to something else meanwhile ({digests[0]})" in capfd.readouterr().err
        assert held.tags == {"1.2.0": digests[0]}


LOGIN = 'oci_credentials "HOST" {\n  username = "me"\n  password = "s3cr3t"\n}\n'
OAUTH = 'oci_credentials "HOST/p" {\n  access_token = "s3cr3t-access"\n  refresh_token = "s3cr3t"\n}\n'
HELPER = 'oci_default_credentials {\n  docker_credentials_helper = "test"\n}\n'


def with_basic(server: OciRegistry) -> None:
    server.basic = {"me": "s3cr3t"}


def with_tokens(server: OciRegistry) -> None:
    server.tokens = {"me": "s3cr3t"}


def with_access(server: OciRegistry) -> None:
    server.access_tokens = {"s3cr3t-access"}


@pytest.mark.skipif(sys.platform == "win32", reason="helpers are scripts")
@pytest.mark.parametrize(
    ("demands", "settings"),
    [
        (with_basic, LOGIN), (with_tokens, LOGIN), (with_access, OAUTH),
        (with_basic, HELPER), (with_tokens, HELPER), (with_basic, "docker"), (with_tokens, "docker"),
    ],
)  # fmt: skip
def test_each_way_to_log_in(
    demands: Callable[[OciRegistry], None],
    settings: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with beside(monkeypatch) as (place, server):
        demands(server)
        assert push(server) == 1
        assert "answered 401 Unauthorized" in capfd.readouterr().err
        assert state(server) == {}
        log_in(place, server, settings)
        assert push(server, "--verbose") == 0
        said = capfd.readouterr()
        assert "s3cr3t" not in said.out + said.err
        assert re.search(r"PUT https://127\.0\.0\.1:\d+/v2/p/\S+: 201 Created, .*, with a token", said.err)
        install_from(place, server)
        assert run("init", "--tool", "opentofu") == 0
        if is_here(OPENTOFU):
            ours = (place.work / ".terraform.lock.hcl").read_bytes()
            (place.work / ".terraform.lock.hcl").unlink()
            place.real("init", "-no-color")
            assert (place.work / ".terraform.lock.hcl").read_bytes() == ours


def log_in(place: Bench, server: OciRegistry, settings: str) -> None:
    if settings == "docker":
        (place.home / ".docker").mkdir()
        encoded = base64.b64encode(b"me:s3cr3t").decode()
        (place.home / ".docker/config.json").write_text(json.dumps({"auths": {server.host: {"auth": encoded}}}))
        return
    if settings == HELPER:
        program = place.home / "docker-credential-test"
        program.write_text('#!/bin/sh\nprintf \'{"Username":"me","Secret":"s3cr3t"}\'\n')
        program.chmod(0o755)
        path = f"{place.home}{os.pathsep}{os.environ['PATH']}"
        place.environ["PATH"] = path
        os.environ["PATH"] = path  # put back by the bench's monkeypatch
    place.configure(settings.replace("HOST", server.host))


def test_a_registry_that_takes_nothing(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with beside(monkeypatch) as (_, server):
        server.is_read_only = True
        assert push(server) == 1
        said = capfd.readouterr().err
        assert f"OCI repository {server.host}/{DEMO} answered 403 Forbidden when asked to take sha256:" in said
        assert state(server) == {}


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://127.0.0.1:1/x", "it is without TLS"),
        ("//[", "it is not a valid URL"),
        ("file:///etc/passwd", "only http and https URLs can be asked"),
    ],
)
def test_a_place_for_packages_that_is_not_used(
    location: str, words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (_, server):
        for name in (DEMO, OTHER):
            server.answers["POST", f"/v2/{name}/blobs/uploads/"] = lambda handler: handler.reply(202, Location=location)
        assert push(server) == 1
        assert f"that cannot be used: {words}" in " ".join(capfd.readouterr().err.split())
        assert server.requests("PUT") == []


def test_no_login_goes_to_another_server_that_takes_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    with beside(monkeypatch) as (place, server), oci_registry(server_context(authority, "127.0.0.1")) as other:
        bundle = Path(os.environ["SSL_CERT_FILE"])
        bundle.write_bytes(bundle.read_bytes() + authority.cert_pem.bytes())
        server.basic = {"me": "s3cr3t"}
        log_in(place, server, LOGIN)
        for name in (DEMO, OTHER):
            path = f"/v2/{name}/blobs/uploads/"
            server.answers["POST", path] = lambda handler: handler.reply(202, Location=other.url("/elsewhere"))
        assert push(server) == 1
        assert [one.path.partition("?")[0] for one in other.asked] == ["/elsewhere"] * len(other.asked)
        assert other.asked
        assert all("authorization" not in one.headers for one in other.asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("oci://reg.test/p/${type",), "names no repository"),
        (("oci://reg.test/p//",), "names no repository: invalid reference: invalid repository"),
        (("oci://reg.test",), "names no repository: invalid reference: missing registry or repository"),
        (("oci://reg.test/{kind}",), 'names no repository: Unknown variable: there is no variable named "kind"'),
        (
            ("oci://reg.test/p",),
            "reg.acme.test/a/other and registry.opentofu.org/acme/demo would have the same repository, reg.test/p",
        ),
        (("--prune", "oci://reg.test/p"), "--prune is for folders"),
        (("--add-platforms", "folder"), "--add-platforms is for registries"),
        (("--tool", "terraform", "oci://reg.test/{type}"), "Terraform does not install providers from OCI registries"),
    ],
)
def test_targets_that_are_refused(
    words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(OPENTOFU, monkeypatch) as place:
        assert run("mirror", *(() if "--tool" in words else ("--tool", "opentofu")), *words) == 2
        assert said in capfd.readouterr().err
        assert place.steps().count("package") == 0


def test_the_hint_about_an_unreachable_registry_names_what_was_typed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(OPENTOFU, monkeypatch):
        assert run("mirror", "--tool", "opentofu", "oci://localhost:1/p/{type}") == 1
        said = capfd.readouterr().err
        assert "check that the registry is there, and the address behind oci://" in said
        assert "oci_mirror block" not in said


def test_both_spellings_of_a_template(monkeypatch: pytest.MonkeyPatch) -> None:
    with beside(monkeypatch) as (_, server):
        template = f"oci://{server.host}/p/${{hostname}}/${{namespace}}/${{type}}"
        assert run("mirror", "--tool", "opentofu", template) == 0
        assert set(server.repositories) == {DEMO, OTHER}


def test_json_tells_what_is_tagged(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with beside(monkeypatch) as (_, server):
        assert push(server, "--json") == 0
        lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        tagged = [one for one in lines if one["type"] == "release_tagged"]
        assert {one["place"] for one in tagged} == {f"{server.host}/{DEMO}:1.2.0", f"{server.host}/{OTHER}:1.0.0"}
        assert lines[-1] == {"type": "outcome", "root": None, "packages": 4, "removed": [], "failures": 0}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT and SIGKILL")
@pytest.mark.parametrize("end", ["SIGKILL", "SIGINT"])
def test_a_run_that_is_ended_leaves_no_tag(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with beside(monkeypatch) as (place, server):
        arrived = threading.Event()

        def stall(method: str, _path: str) -> None:
            if method == "PUT":
                arrived.set()
                server.release.wait(LIMIT)

        server.on_request = stall
        command = [sys.executable, "-m", "locklens", "mirror", "--tool", "opentofu", target(server)]
        with subprocess.Popen(command, cwd=place.work, env=os.environ, stderr=subprocess.DEVNULL) as process:
            assert arrived.wait(LIMIT)
            process.send_signal(signal.Signals[end])
            ended = process.wait(LIMIT)
        assert ended == (130 if end == "SIGINT" else -signal.SIGKILL)
        server.release.set()
        assert all(not one.tags for one in server.repositories.values())


def test_lock_takes_hashes_from_an_oci_mirror(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (place, server):
        assert push(server) == 0
        place.steps()
        option = f"-oci-mirror={target(server).removeprefix('oci://')}"
        assert run("lock", "--tool", "opentofu", *PLATFORMS, option) == 0
        assert place.steps() == []
        lock = (place.work / ".terraform.lock.hcl").read_text()
        folder = place.work / "folder"
        assert run("mirror", "--tool", "opentofu", *PLATFORMS, str(folder)) == 0
        zhs = {
            f"zh:{hashlib.sha256(data).hexdigest()}" for name, data in files(folder).items() if name.endswith(".zip")
        }
        assert set(re.findall(r'"(zh:\w+)"', lock)) == zhs
        assert lock.count('"h1:') == 4
        # The same as from any other mirror that has the same packages.
        (place.work / ".terraform.lock.hcl").unlink()
        assert run("lock", "--tool", "opentofu", *PLATFORMS, f"-fs-mirror={folder}") == 0
        from_folder = (place.work / ".terraform.lock.hcl").read_text()
        assert re.findall(r'"(h1:\S+)"', from_folder) == re.findall(r'"(h1:\S+)"', lock)
        capfd.readouterr()
        assert run("lock", "--tool", "terraform", option) == 2
        assert "Terraform does not install providers from OCI registries" in capfd.readouterr().err
        assert run("lock", "--tool", "opentofu", option, f"-fs-mirror={folder}") == 2
        assert "--fs-mirror and --oci-mirror cannot be used together" in capfd.readouterr().err
        assert run("lock", "--tool", "opentofu", "-oci-mirror=reg.test/{kind}") == 2
        assert 'names no repository: Unknown variable: there is no variable named "kind"' in capfd.readouterr().err


def test_upgrade_takes_packages_from_an_oci_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    with beside(monkeypatch) as (place, server):
        assert push(server) == 0
        main, now = place.work / "main.tf", (place.work / "main.tf").read_text()
        main.write_text(now.replace("~> 1.0", "1.1.0"))
        assert run("lock", "--tool", "opentofu") == 0
        main.write_text(now)
        place.steps()
        assert run("upgrade", "--tool", "opentofu", f"--oci-mirror={target(server)}", "acme/demo") == 0
        assert place.steps() == []
        assert 'version     = "1.2.0"' in (place.work / ".terraform.lock.hcl").read_text()


def test_a_login_file_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch) as (place, server):
        with_basic(server)
        log_in(place, server, LOGIN)
        (place.home / ".docker").mkdir()
        (place.home / ".docker/config.json").write_text("{")
        assert push(server) == 0
        said = capfd.readouterr().err
        path = place.home / ".docker/config.json"
        assert f"note: {path} cannot be used: it is not JSON; no file of Docker or Podman is used\n" in said


def test_a_tag_has_no_plus(monkeypatch: pytest.MonkeyPatch) -> None:
    case = replace(
        CASE,
        files={"main.tf": requires(("reg.acme.test/a/other", "1.0.0+build.5"))},
        catalog=STOCK | {"reg.acme.test/a/other": ("1.0.0+build.5",)},
    )
    with beside(monkeypatch, case) as (place, server):
        assert push(server) == 0
        assert set(server.repository(OTHER).tags) == {"1.0.0_build.5"}
        install_from(place, server)
        assert run("init", "--tool", "opentofu") == 0
        lock = place.work / ".terraform.lock.hcl"
        ours = lock.read_bytes()
        assert b'"1.0.0+build.5"' in ours
        if is_here(OPENTOFU):
            lock.unlink()
            place.real("init", "-no-color")
            assert lock.read_bytes() == ours
