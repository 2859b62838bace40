"""`locklens backfill` as people and pipelines use it, with packages from a server on this machine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kit.backfilling import PLATFORMS, Registry, h1_of
from kit.command_line import Run, runner
from kit.loopback import Handler, Server
from kit.schemas import validate
from kit.waiting import LIMIT, until
from packages.zips import Item, build

from locklens.cli.main import main
from locklens_backfill import measuring
from locklens_backfill.files import SAVE_PACKAGES, Shard


@pytest.fixture
def registry(tmp_path: Path, server: Server) -> Registry:
    return Registry(tmp_path / "registry", server)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys, "backfill", "--allow-loopback")


def report(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)
    validate(found, "backfill")
    return found


def test_every_package_of_every_file_is_filled_in(registry: Registry, run: Run) -> None:
    paths = [registry.provider("acme/demo", ["1.0.0", "1.1.0"]), registry.provider("beta/other")]
    expected = [registry.completed(path.read_text()) for path in paths]
    paths[0].chmod(0o640)
    status, out, err = run(str(registry.folder), "--format", "json")
    assert (status, [path.read_text() for path in paths]) == (0, expected)
    assert paths[0].stat().st_mode & 0o777 == 0o640
    found = report(out)
    assert found["summary"] | {"seconds": 0} == {
        "files": 2,
        "complete": 0,
        "versions": 3,
        "packages": 9,
        "filled": 9,
        "failed": 0,
        "likely_bytes": 0,
        "likely_seconds": None,
        "bytes": sum(map(len, registry.packages.values())),
        "seconds": 0,
    }
    assert f"{paths[0]}: 6 packages filled in\n" in err
    assert len(registry.server.asked) == 9


def test_what_a_file_has_is_done(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo")
    assert run(str(path))[0] == 0
    before, asked = path.stat(), len(registry.server.asked)
    status, out, _ = run(str(path))
    assert (status, len(registry.server.asked), path.stat().st_mtime_ns) == (0, asked, before.st_mtime_ns)
    assert "0 packages filled in" in out
    assert "1 complete before" in out


@pytest.mark.parametrize("name", ["size", "package_size"])
def test_a_file_keeps_its_name_for_sizes(registry: Registry, run: Run, name: str) -> None:
    path = registry.provider("acme/demo", platforms=PLATFORMS[:2])
    document = json.loads(path.read_text())
    document["versions"][0]["targets"][0] |= {"h1": "", name: 0}
    document["versions"][0]["targets"][1] |= {name: len(registry.packages["acme/demo", "1.0.0", PLATFORMS[1]])}
    path.write_text(json.dumps(document))
    assert run(str(path))[0] == 0
    for target, platform in zip(json.loads(path.read_text())["versions"][0]["targets"], PLATFORMS, strict=False):
        package = registry.packages["acme/demo", "1.0.0", platform]
        assert (target["h1"], target[name]) == (h1_of(package), len(package))
        assert len(target) == 7


def test_a_name_for_sizes_can_be_given(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo")
    expected = registry.completed(path.read_text(), "size")
    assert run("--size-key", "size", str(path))[0] == 0
    assert path.read_text() == expected


def test_a_failure_costs_its_own_package_only(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo", ["1.0.0", "1.1.0"])
    text = path.read_text()
    wrong = registry.packages["acme/demo", "1.1.0", "linux_amd64"]
    registry.server.gives("/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip", b"gone", status=404)
    registry.server.gives("/acme/demo/1.0.0/terraform-provider-demo_1.0.0_darwin_arm64.zip", wrong)
    status, out, err = run(str(path), "--format", "json")
    assert status == 1
    found = report(out)
    assert {(one["version"], one["platform"]) for one in found["failures"]} == {
        ("1.0.0", "linux_amd64"),
        ("1.0.0", "darwin_arm64"),
    }
    assert "answered 404 Not Found" in err
    assert "the package has SHA-256" in err
    line = 1 + text[: text.index('"os": "linux"')].count("\n") - 1
    assert f"failed: {path}:{line}: 1.0.0 linux_amd64: " in err
    targets = [target for version in json.loads(path.read_text())["versions"] for target in version["targets"]]
    assert [bool(target.get("h1")) for target in targets] == [False, False, True, True, True, True]


def test_what_is_there_is_compared_and_never_changed(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo", platforms=PLATFORMS[:2])
    document = json.loads(path.read_text())
    document["versions"][0]["targets"][0]["h1"] = "h1:" + "A" * 43 + "="
    document["versions"][0]["targets"][1]["size"] = 7
    path.write_text(json.dumps(document))
    before = path.read_bytes()
    status, _, err = run(str(path))
    assert (status, path.read_bytes()) == (1, before)
    assert f"the file says h1:{'A' * 43}=" in err
    assert "the file says 7" in err


@pytest.mark.parametrize(
    ("package", "words"),
    [
        (b"<html>not a package</html>", "not a complete zip file"),
        (build([Item(b"a", b"x", central={"size": 300 << 20})]), "50 times"),
        (build([Item(b"../../../etc/x", b"x")]), ".."),
    ],
    ids=["no zip", "bomb", "escape"],
)
def test_a_package_that_must_not_be_trusted(registry: Registry, run: Run, package: bytes, words: str) -> None:
    path = registry.provider("acme/demo", platforms=PLATFORMS[:1])
    document = json.loads(path.read_text())
    target = document["versions"][0]["targets"][0]
    target["shasum"] = sha256(package).hexdigest()
    path.write_text(json.dumps(document))
    before = path.read_bytes()
    registry.server.gives(urlsplit(target["download_url"]).path, package)
    status, _, err = run(str(path))
    assert (status, path.read_bytes()) == (1, before)
    assert words in err


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://packages.example.com/x.zip", "has no TLS"),
        ("file:///etc/passwd", "only http and https"),
        ("https://localhost/x.zip", "a private network or this machine"),
        ("https://127.0.0.1/x.zip", "a private network or this machine"),
        ("https://10.1.2.3/x.zip", "a private network or this machine"),
        ("https://169.254.169.254/latest/meta-data", "a private network or this machine"),
        ("https://[::ffff:10.0.0.1]/x.zip", "a private network or this machine"),
        ("https://user:pass@example.com/x.zip", "a user name or a password"),
        ("//example.com/x.zip", "only http and https"),
        ("https://exa mple.com/\x1b]0;x", "spaces or control characters"),
        ("https://[", "not a valid URL"),
        ("x" * 9000, "more than 8192 characters"),
    ],
)
def test_a_url_that_must_not_be_asked(
    registry: Registry, capsys: pytest.CaptureFixture[str], url: str, words: str
) -> None:
    path = registry.provider("acme/demo", platforms=PLATFORMS[:1])
    document = json.loads(path.read_text())
    document["versions"][0]["targets"][0]["download_url"] = url
    path.write_text(json.dumps(document))
    before = path.read_bytes()
    assert main(["backfill", str(path)], lambda request, view: 2) == 1
    err = capsys.readouterr().err
    assert words in err
    assert "\x1b" not in err
    assert (path.read_bytes(), registry.server.asked) == (before, [])


def test_a_token_of_the_environment_goes_to_its_host(
    registry: Registry, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = registry.provider("acme/demo", platforms=PLATFORMS[:1])
    monkeypatch.setenv(f"TF_TOKEN_127.0.0.1:{registry.server.port}", "s3cret")
    assert run(str(path))[0] == 0
    assert [one.headers.get("authorization") for one in registry.server.asked] == ["Bearer s3cret"]


def test_a_pause_that_a_host_asks_for_is_kept(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo", platforms=PLATFORMS[:1])
    where = "/acme/demo/1.0.0/terraform-provider-demo_1.0.0_darwin_arm64.zip"
    answers: list[Callable[[Handler], None]] = [
        lambda handler: handler.reply(429, b"", Retry_After="0"),
        registry.server.routes[where],
    ]
    registry.server.on(where, lambda handler: answers.pop(0)(handler))
    assert run(str(path))[0] == 0
    assert len(registry.server.asked) == 2


def test_a_package_that_breaks_off_is_asked_for_again(
    registry: Registry, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "BROKEN_WAITS", (0.0, 0.0))
    path = registry.provider("acme/demo", platforms=PLATFORMS[:1])
    where = "/acme/demo/1.0.0/terraform-provider-demo_1.0.0_darwin_arm64.zip"
    answer = registry.server.routes[where]

    def cut(handler: Handler) -> None:
        handler.reply(200, b"PK", Content_Length="1000")
        handler.close_connection = True

    answers = [cut, cut, answer]
    registry.server.on(where, lambda handler: answers.pop(0)(handler))
    assert run(str(path))[0] == 0
    path.write_text(path.read_text().replace('"h1"', '"h"'))
    answers += [cut, cut, cut]
    status, _, err = run(str(path))
    assert (status, len(registry.server.asked), answers) == (1, 6, [])
    assert "breaks off" in err


def test_a_dry_run_says_what_it_would_fetch(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo", ["1.0.0", "1.1.0"])
    document = json.loads(path.read_text())
    document["versions"][0]["targets"][0]["size"] = 3_000_000
    path.write_text(json.dumps(document))
    before = path.read_bytes()
    status, out, _ = run("--dry-run", "--max-rate", "1MB", str(registry.folder))
    assert (status, path.read_bytes(), registry.server.asked) == (0, before, [])
    assert f"{path}: 6 packages of 2 versions to fetch, 2.9 MiB known\n" in out
    assert "bytes: about 17.2 MiB; the size of 5 of 6 packages is estimated\n" in out
    assert "time: about 18 s at the given rate for each host\n" in out
    found = report(run("--dry-run", "--max-requests", "0.5", "--format", "json", str(path))[1])
    assert (found["dry_run"], found["summary"]["likely_seconds"]) == (True, 12)
    assert "time: not estimated without --max-rate" in run("--dry-run", str(path))[1]


def test_parts_have_each_provider_once(registry: Registry, run: Run) -> None:
    names = [f"acme/demo{number}" for number in range(8)]
    for name in names:
        registry.provider(name, platforms=PLATFORMS[:1])
    parts = [
        [
            one["provider"]
            for one in report(run("--shard", f"{part}/3", "--format", "json", str(registry.folder))[1])["files"]
        ]
        for part in (1, 2, 3)
    ]
    assert sorted(name for part in parts for name in part) == names
    assert all(parts)
    # The same in every release: a pipeline's jobs may run different ones.
    assert [Shard(part, 3).has("hashicorp/aws") for part in (1, 2, 3)] == [True, False, False]


def test_files_that_are_no_metadata(registry: Registry, run: Run, tmp_path: Path) -> None:
    good = registry.provider("acme/demo", platforms=PLATFORMS[:1])
    bad = good.with_name("bad.json")
    for content, words in (
        (b"{", "invalid JSON"),
        (b"[]", "expected '{'"),
        (b"{}", 'no list of "versions"'),
        (b'{"versions": [{"version": "1", "version": "2", "targets": [{}]}]}', '"version" twice'),
        (b'{"versions": [], "x": ' + b"[" * 100_000, "invalid JSON"),
        (b"\xff", "not UTF-8"),
        (b'{"versions": NaN}', "invalid JSON"),
    ):
        bad.write_bytes(content)
        status, _, err = run(str(registry.folder))
        assert (status, bad.read_bytes()) == (1, content)
        assert f"failed: {bad}:1: " in err
        assert words in err
    assert "h1" in good.read_text()
    assert run(str(bad))[0] == 2
    assert run(str(tmp_path / "nowhere"))[0] == 2
    link = tmp_path / "link.json"
    link.symlink_to(good)
    assert "is a link" in run(str(link))[2]


def test_a_file_that_changed_meanwhile_is_left_alone(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo", platforms=PLATFORMS[:1])
    where = "/acme/demo/1.0.0/terraform-provider-demo_1.0.0_darwin_arm64.zip"
    answer = registry.server.routes[where]

    def change(handler: Handler) -> None:
        path.write_text('{"versions": []}')
        answer(handler)

    registry.server.on(where, change)
    status, out, err = run(str(path))
    assert (status, path.read_text()) == (1, '{"versions": []}')
    assert "changed while its packages were measured" in err
    assert "0 packages filled in" in out


@pytest.mark.skipif(sys.platform == "win32", reason="no interrupts")
def test_an_interrupt_keeps_what_is_done(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo", [f"1.{minor}.0" for minor in range(4)])
    last = "/acme/demo/1.3.0/terraform-provider-demo_1.3.0_windows_amd64.zip"
    answer = registry.server.routes[last]

    def hang(handler: Handler) -> None:
        handler.server.release.wait(LIMIT)

    registry.server.on(last, hang)
    command = [sys.executable, "-m", "locklens", "backfill", "--allow-loopback", "--jobs", "1", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: last in registry.server.paths())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "11 packages filled in, 1 left" in out
    assert "run it again to continue" in err
    assert path.read_text().count('"h1"') == 11
    registry.server.on(last, answer)
    assert run(str(path))[0] == 0
    assert path.read_text() == registry.completed(path.read_text())


def test_a_killed_run_loses_little(registry: Registry, run: Run) -> None:
    path = registry.provider("acme/demo", ["1.0.0"], [f"linux_a{number}" for number in range(SAVE_PACKAGES + 2)])
    last = f"/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_a{SAVE_PACKAGES + 1}.zip"
    answer = registry.server.routes[last]
    registry.server.on(last, lambda handler: (handler.server.release.wait(LIMIT), None)[1])
    command = [sys.executable, "-m", "locklens", "backfill", "--allow-loopback", str(path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(lambda: path.read_text().count('"h1"') >= SAVE_PACKAGES)
        process.kill()
    registry.server.on(last, answer)
    before = len(registry.server.asked)
    assert run(str(path))[0] == 0
    assert len(registry.server.asked) - before <= 2
    assert path.read_text() == registry.completed(path.read_text())
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "DIR|FILE"),
        (["--shard", "0/3", "x"], "invalid part '0/3'"),
        (["--shard", "4/3", "x"], "invalid part '4/3'"),
        (["--max-rate", "fast", "x"], "invalid rate 'fast'"),
        (["--per-host", "65", "x"], "invalid number '65': expected 1 to 64"),
        (["--max-requests", "0", "x"], "invalid number '0'"),
        (["--scheduler", "tcp://x:1", "--jobs", "2", "x"], "--jobs is for this machine"),
    ],
)
def test_bad_usage(run: Run, argv: list[str], words: str) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert words in err


def test_without_the_extra_the_next_step_is_named(
    registry: Registry, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = registry.provider("acme/demo")
    monkeypatch.setitem(sys.modules, "distributed", None)
    status, _, err = run("--scheduler", "tcp://127.0.0.1:1", str(path))
    assert status == 2
    assert "hint: pip install 'locklens[dask]'" in err
