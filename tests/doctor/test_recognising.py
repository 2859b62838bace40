"""Each error of the tools is recognised, whatever a CI system does to its lines; other programs' errors are not."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from textwrap import wrap

import pytest
from kit.command_line import no_screen
from kit.effort import effort

import locklens.doctor
import locklens.operations.doctor
from locklens.cli.main import main
from locklens.demo.incidents import boxed_log
from locklens.doctor.catalogue import BY_KIND, CATALOGUE
from locklens.doctor.cleaning import LONGEST_LINE, MOST_BYTES, MOST_LINES, clean_lines, decoded_log
from locklens.doctor.reasons import NetworkReason
from locklens.doctor.recognising import MOST_ERRORS, read_log

P, V = "registry.terraform.io/hashicorp/aws", "5.84.0"
QUERY = "Failed to query available provider packages"
LIST = "Could not retrieve the list of available versions for provider hashicorp/aws:"
FAILED, WHILE = "Failed to install provider", f"Error while installing hashicorp/aws v{V}:"
DISCOVERY = "could not connect to registry.terraform.io: failed to request discovery document:"
GET = 'Get "https://registry.terraform.io/.well-known/terraform.json":'
DATA = Path(__file__).parent.parent / "data" / "doctor"
ROWS = [(row["title"], row["detail"], row["kind"]) for row in json.loads((DATA / "messages.json").read_text("utf-8"))]
"""A message for each row of the catalogue and each of its phrases, in the tools' words."""


def ids(row: tuple[str, str, str]) -> str:
    return f"{row[2]}: {row[1][-40:]}"


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_each_error_of_the_catalogue(row: tuple[str, str, str]) -> None:
    title, detail, kind = row
    found = read_log(boxed_log((title, detail)).encode()).errors
    assert [error.kind for error in found] == [kind]
    if P in detail:
        assert {error.provider for error in found} <= {P, "hashicorp/aws"}
    if any(words in detail for words in (f"{P} {V}", WHILE, f'"hashicorp/aws" v{V}')):
        assert {error.version for error in found} == {V}


@pytest.mark.parametrize(
    ("before", "tool"),
    [
        ("$ cd live && tofu init -input=false", "opentofu"),
        ("##[group]Run terraform -chdir=live init", "terraform"),
        ("#8 [build 4/5] RUN tofu init -lockfile=readonly", "opentofu"),
        ("+ terraform init\n+ tofu init", ""),
        ("To begin, run terraform init and then look at it", ""),
        ("uses: hashicorp/setup-terraform@v3", ""),
    ],
)
def test_a_command_line_tells_the_tool_where_no_message_does(before: str, tool: str) -> None:
    failure = f"Error: {FAILED}\n\n{WHILE} unexpected EOF\n"
    assert read_log(f"{before}\n{failure}".encode()).facts.tool == tool


@pytest.mark.parametrize(("ran", "host"), [("terraform", "registry.opentofu.org"), ("tofu", "registry.terraform.io")])
def test_a_command_line_tells_the_tool_whichever_registry_a_message_names(ran: str, host: str) -> None:
    name = f"{host}/hashicorp/random"
    item = f"  - {name}: there is no package for {name} 3.6.3 cached in .terraform/providers"
    log = f"$ {ran} validate\n\nError: missing or corrupted provider plugins:\n{item}\n"
    assert read_log(log.encode()).facts.tool == {"tofu": "opentofu"}.get(ran, ran)


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("jobs", [
    ("$ terraform -chdir=a init", "$ tofu -chdir=b init"),
    ("https://developer.hashicorp.com/terraform/cli/plugins/signing", "https://opentofu.org/docs/cli/plugins/signing/"),
], ids=["commands", "pages about signing"])  # fmt: skip
def test_a_log_with_runs_of_both_tools_tells_neither(jobs: tuple[str, str], turn: int) -> None:
    words = (
        "the current package for registry.opentofu.org/acme/demo 1.4.2 doesn't match any of the checksums previously"
    )
    failure = boxed_log(("Failed to install provider", f"Error while installing acme/demo v1.4.2: {words} recorded"))
    one, other = (f"{job}\n{failure}" for job in jobs[::turn])
    assert read_log(f"{one}\n{other}".encode()).facts.tool == ""
    assert read_log(f"{one}\n{one}".encode()).facts.tool != ""


@pytest.mark.parametrize("tool", ["terraform", "opentofu"])
def test_advice_behind_a_list_is_no_part_of_its_last_error(tool: str) -> None:
    log = read_log((DATA / "recorded" / f"{tool}-plugin-missing.log").read_bytes())
    assert [error.text.partition(" cached in ")[2] for error in log.errors] == [".terraform/providers"]
    assert log.facts.tool == tool


def test_every_row_is_tried() -> None:
    assert {kind for *_, kind in ROWS} == {row.kind for row in CATALOGUE} == set(BY_KIND)


def test_what_asks_for_a_kind_of_message_names_one_of_the_catalogue() -> None:
    rooms = [Path(locklens.doctor.__file__).parent, Path(locklens.operations.doctor.__file__).parent]
    texts = [path.read_text("utf-8") for room in rooms for path in room.glob("*.py")]
    named = {name for text in texts for name in re.findall(r'(?:message|error|row)\.kind [!=]= "([\w-]+)"', text)}
    assert len(named) > 10
    assert named <= set(BY_KIND)


def decorated(log: str, how: str) -> bytes:
    lines = log.splitlines()
    match how:
        case "github":
            lines = [f"2026-11-20T10:11:12.{number:07}Z {line}" for number, line in enumerate(lines)]
        case "github-download":
            lines = [f"plan\tterraform init\t2026-11-20T10:11:12.{n:07}Z {line}" for n, line in enumerate(lines)]
        case "github-annotation":
            lines = [line.replace("│ Error: ", "##[error]│ Error: ") for line in lines]
        case "gitlab":
            lines = [f"2026-11-20T10:11:12.{number:06}Z 01O {line}" for number, line in enumerate(lines)]
            lines[3] = "section_start:1700000000:step_script\r\x1b[0K" + lines[3]
        case "buildkite":
            lines = [f"\x1b_bk;t=17000000000{number:02}\x07{line}" for number, line in enumerate(lines)]
        case "jenkins":
            lines = [f"[2026-11-20T10:11:12.123Z] {line}" for line in lines]
        case "terragrunt":
            lines = [f"10:11:12.123 STDERR [live/prod] terraform: {line}" for line in lines]
        case "colours":
            lines = [line.replace("│", "\x1b[31m│\x1b[0m\x1b[0m").replace("Error:", "\x1b[1m\x1b[31mError: \x1b[0m\x1b[1m")
                     for line in lines]  # fmt: skip
        case "lost escapes":
            lines = [line.replace("│", "[31m│[0m").replace("Error:", "[1m[31mError: [0m") for line in lines]
        case "no colour":
            lines = [line.strip("╷╵│") for line in lines]
        case "crlf":
            lines = [f"{line}\r" for line in lines]
        case "narrow":
            lines = [piece for line in lines for piece in wrap(line, 30) or [""]]
        case "cut in words":
            lines = [line[at : at + 37] for line in lines for at in range(0, max(1, len(line)), 37)]
        case "wrong encoding":
            return "\n".join(lines).encode().decode("cp1252", "replace").encode()
        case "utf-16":
            return b"\xff\xfe" + "\n".join(lines).encode("utf-16-le")
        case _:
            raise AssertionError(how)
    return "\n".join(lines).encode()


HOWS = ("github", "github-download", "github-annotation", "gitlab", "buildkite", "jenkins", "terragrunt", "colours", "lost escapes",
        "no colour", "crlf", "narrow", "cut in words", "wrong encoding", "utf-16")  # fmt: skip


STEP = effort(5, 1)
"""Every which message arrives in one way: a sample has each in three of the fifteen."""


@pytest.mark.parametrize("how", HOWS)
def test_however_the_lines_arrive(how: str) -> None:
    for title, detail, kind in ROWS[HOWS.index(how) % STEP :: STEP]:
        if kind in {"no-registry", "sums-crash", "registry-hashes-crash"}:
            continue
        found = read_log(decorated(boxed_log((title, detail)), how)).errors
        assert [error.kind for error in found][:1] == [kind], (how, detail)
        if kind in {"current-package", "local-package"}:
            assert (found[0].provider, found[0].version) == (P, V), how


def test_a_pasted_line_is_enough() -> None:
    words = f"the current package for {P} {V} doesn't match any of the checksums previously recorded"
    assert [error.kind for error in read_log(words.encode()).errors] == ["current-package"]


def test_a_log_that_is_cut_within_its_message_tells_what_is_left() -> None:
    words = f"{P} {V} doesn't match any of the checksums\npreviously recorded in the dependency lock file; for more information:\n"
    (error,) = read_log(
        f"{words}https://developer.hashicorp.com/terraform/language\nERROR: Job failed\n".encode()
    ).errors
    assert (error.kind, error.provider, error.version) == ("package-mismatch", P, V)


FIRST_TRY = (
    "Initializing provider plugins...\n- Reusing previous version of hashicorp/aws from the dependency lock file\n\n"
    f"Error: {QUERY}\n\n{LIST}\n{DISCOVERY}\n{GET} dial tcp: lookup registry.terraform.io: no such host\nAttempt 2 of 2\n"
)
SECOND_TRY = (
    "Initializing the backend...\nInitializing provider plugins...\n- Reusing previous version of hashicorp/aws from the "
    f"dependency lock file\n- Installing hashicorp/aws v{V}...\n"
)
CACHED_TRY = SECOND_TRY.replace(
    f"Installing hashicorp/aws v{V}...", f"Using hashicorp/aws v{V} from the shared cache directory"
)
DOWN_TRY = FIRST_TRY.replace(DISCOVERY, f"could not query provider registry for {P}: the request failed:").replace(
    GET, ""
)
SUMS_TRY = (
    f"{SECOND_TRY.rpartition('- Installing')[0]}\nError: {FAILED}\n\n{WHILE} could not query provider registry for {P}: failed "
    "to retrieve authentication checksums for provider: 503 Service Unavailable returned from releases.hashicorp.com\n"
)
FILE_TRY = f"{SECOND_TRY}\nError: {FAILED}\n\n{WHILE} releases.hashicorp.com: bad response code: 503\n"
REFUSED = f"\nError: {FAILED}\n\n{WHILE} the current package for {P} {V} doesn't match any of the checksums previously recorded\n"


@pytest.mark.parametrize(
    ("log", "kinds", "overcome"),
    [
        (FIRST_TRY + SECOND_TRY + REFUSED, ["current-package"], ["registry-unreachable"]),
        (FIRST_TRY + SECOND_TRY, ["registry-unreachable"], ["registry-unreachable"]),
        (FIRST_TRY + CACHED_TRY + REFUSED, ["current-package"], ["registry-unreachable"]),
        (DOWN_TRY + CACHED_TRY + REFUSED, ["current-package"], ["registry-failed"]),
        (DOWN_TRY + SECOND_TRY + REFUSED, ["current-package"], ["registry-failed"]),
        (SUMS_TRY + SECOND_TRY + REFUSED, ["current-package"], ["sums-unavailable"]),
        (FILE_TRY + SECOND_TRY + REFUSED, ["download-failed", "current-package"], []),
        (FIRST_TRY + SECOND_TRY + REFUSED + FIRST_TRY, ["registry-unreachable", "current-package"], []),
        ("$ cd a\n" + FIRST_TRY + "$ cd b\n" + SECOND_TRY + REFUSED, ["registry-unreachable", "current-package"], []),
        (FIRST_TRY + SECOND_TRY.replace("aws", "tls") + REFUSED, ["registry-unreachable", "current-package"], []),
    ],
)
def test_an_error_that_a_later_attempt_got_past_is_not_what_failed(
    log: str, kinds: list[str], overcome: list[str]
) -> None:
    read = read_log(log.encode())
    assert [error.kind for error in read.errors] == kinds
    assert [error.kind for error in read.overcome] == overcome
    assert not any("Initializing" in error.text for error in (*read.errors, *read.overcome))


def test_several_errors_and_the_facts_beside_them() -> None:
    first = FAILED, f"{WHILE} the local package for {P} {V} doesn't match any of the checksums previously recorded"
    other = P.replace("aws", "tls")
    second = (
        FAILED,
        f"Error while installing hashicorp/tls v4.0.5: the local package for {other} 4.0.5 doesn't match any of the checksums previously recorded",
    )
    read = read_log((boxed_log(first, second) * 3).encode())
    assert [(error.provider, error.version) for error in read.errors] == [(P, V), (other, "4.0.5")]
    assert (read.facts.tool, read.facts.tool_version, read.facts.platform) == ("terraform", "1.11.4", "linux_amd64")


def test_json_output_tells_the_version_of_its_tool() -> None:
    event = {"@level": "info", "@message": "OpenTofu 1.12.6", "tofu": "1.12.6", "type": "version", "ui": "1.2"}
    facts = read_log(json.dumps(event).encode()).facts
    assert (facts.tool, facts.tool_version) == ("opentofu", "1.12.6")


def test_what_is_no_version_of_a_tool_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--tool-version", "direct"], no_screen) == 2
    assert "invalid version 'direct'" in capsys.readouterr().err


def test_json_output_is_read() -> None:
    event = {"@level": "error", "diagnostic": {"severity": "error", "summary": FAILED,
             "detail": f"{WHILE} the current package for {P} {V} doesn't match any of the checksums previously recorded"}}  # fmt: skip
    found = read_log(b'{"@level":"info"}\n' + json.dumps(event).encode()).errors
    assert [(error.kind, error.provider, error.version) for error in found] == [("current-package", P, V)]


LISTS = {
    "terraform": (
        "acme/one: Reusing previous version from the dependency lock file",
        'Finding matching versions for provider: acme/two, version_constraint: "~> 3.6, >= 3.6.1"',
        "acme/three: Finding latest version...", "Installing provider version: acme/two v3.7.2...",
        "Installed provider version: acme/two v3.7.2 (unauthenticated)",
        "acme/one v1.2.0: Using previously-installed provider version",
    ),
    "tofu": (
        "Reusing previous version of acme/one from the dependency lock file",
        'Finding acme/two versions matching "~> 3.6, >= 3.6.1"...',
        "Finding latest version of acme/three...", "Installing acme/two v3.7.2...",
        "Installed acme/two v3.7.2 (unauthenticated)", "Using previously-installed acme/one v1.2.0",
    ),
}  # fmt: skip
"""What both tools print of the same `init -json`."""


@pytest.mark.parametrize("prefix", ["", "2026-12-01T04:52:11.1234567Z ", "[init] "])
@pytest.mark.parametrize("tool", LISTS)
def test_the_list_of_an_init_is_read_of_its_json_output_as_it_is_of_its_text(tool: str, prefix: str) -> None:
    words = ("Initializing provider plugins...", *LISTS[tool])
    events: list[dict[str, object]] = [{"@message": one, "@module": f"{tool}.ui", "type": "log"} for one in words]
    detail = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    events.append(
        {"diagnostic": {"severity": "error", "summary": "Provider dependency changes detected", "detail": detail}}
    )
    log = "".join(f"{prefix}{json.dumps(one, separators=(',', ':'))}\n" for one in events)
    text = "".join(f"- {one}\n" for one in LISTS["tofu"])
    plain = f"{words[0]}\n{text}\nError: Provider dependency changes detected\n\n{detail}\n"
    (error,), (printed,) = read_log(log.encode()).errors, read_log(plain.encode()).errors
    assert (error.reused, error.searched) == (("acme/one",), ("acme/two", "acme/three"))
    for name in ("reused", "searched", "matching", "selected", "unsigned"):
        assert getattr(error, name) == getattr(printed, name), name


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("x509: certificate signed by unknown authority", NetworkReason.AUTHORITY),
        (
            "the certificate of r.corp.test is not trusted: self-signed certificate in certificate chain",
            NetworkReason.AUTHORITY,
        ),
        (
            "the certificate of r.corp.test is not trusted: unable to get local issuer certificate",
            NetworkReason.AUTHORITY,
        ),
        (
            "x509: certificate has expired or is not yet valid: current time 2026-11-30T16:17:42Z is after 2026-01-01T00:00:00Z",
            NetworkReason.DATES,
        ),
        ("the certificate of r.corp.test is not trusted: certificate is not yet valid", NetworkReason.DATES),
        ("x509: certificate is valid for mirror.corp.test, not localhost", NetworkReason.OTHER_NAME),
        ("x509: certificate is not valid for any names, but wanted to match r.corp.test", NetworkReason.OTHER_NAME),
        (
            "x509: cannot validate certificate for 10.0.0.1 because it doesn't contain any IP SANs",
            NetworkReason.OTHER_NAME,
        ),
        (
            "the certificate of r.corp.test is not trusted: IP address mismatch, certificate is not valid for '10.0.0.1'.",
            NetworkReason.OTHER_NAME,
        ),
        (
            "tls: failed to verify certificate: x509: certificate specifies an incompatible key usage",
            NetworkReason.CERTIFICATE,
        ),
        (
            "proxyconnect tcp: tls: failed to verify certificate: x509: certificate is valid for a.test, not b.test",
            NetworkReason.OTHER_NAME,
        ),
        ("proxyconnect tcp: dial tcp 10.0.0.1:3128: connect: connection refused", NetworkReason.PROXY_DOWN),
        ("proxyconnect tcp: dial tcp: lookup proxy.corp.invalid: no such host", NetworkReason.PROXY_NAME),
        ("Proxy Authentication Required", NetworkReason.PROXY),
        ("dial tcp: lookup registry.terraform.io: no such host", NetworkReason.NAME),
        ("dial tcp 10.0.0.1:443: connect: connection refused", NetworkReason.REFUSED),
        ("dial tcp 10.0.0.1:443: connect: no route to host", NetworkReason.ROUTE),
        ("dial tcp 10.0.0.1:443: connect: network is unreachable", NetworkReason.ROUTE),
        ("EOF", NetworkReason.BROKEN),
        ("unexpected EOF", NetworkReason.BROKEN),
        ("proxyconnect tcp: EOF", NetworkReason.PROXY_DOWN),
        ("read: connection reset by peer", NetworkReason.BROKEN),
        ("http: server closed idle connection", NetworkReason.BROKEN),
        ("http2: server sent GOAWAY and closed the connection; LastStreamID=1", NetworkReason.BROKEN),
        ("net/http: TLS handshake timeout", NetworkReason.TIMEOUT),
        ("dial tcp 10.0.0.1:443: i/o timeout", NetworkReason.TIMEOUT),
        ("context deadline exceeded (Client.Timeout exceeded while awaiting headers)", NetworkReason.TIMEOUT),
        ("the request failed after 2 attempts: 401 Unauthorized", NetworkReason.DENIED),
        ("429 Too Many Requests", NetworkReason.LIMITED),
        ("503 Service Unavailable", NetworkReason.SERVER),
        ("giving up after 3 attempt(s)", NetworkReason.GAVE_UP),
        ("giving up after 3 attempt(s): dial tcp 10.0.0.1:443: connect: connection refused", NetworkReason.REFUSED),
        ("giving up after 1 attempt(s): something that nobody heard of", None),
    ],
)
def test_reasons_of_requests(words: str, reason: NetworkReason | None) -> None:
    error = read_log(boxed_log((QUERY, f"{LIST} {DISCOVERY} {GET} {words}")).encode()).errors[0]
    assert error.reason is reason


def test_an_empty_document_is_an_answer() -> None:
    words = f"{WHILE} could not query provider registry for {P}: EOF"
    (error,) = read_log(boxed_log((FAILED, words)).encode()).errors
    assert error.reason is NetworkReason.EMPTY


def test_the_url_of_a_request_tells_the_platform() -> None:
    url = f"https://registry.terraform.io/v1/providers/hashicorp/aws/{V}/download/windows/amd64"
    words = f"{WHILE} could not query provider registry for {P}: the request failed after 2 attempts, please try again later: Get"
    read = read_log(boxed_log((FAILED, f'{words} "{url}": EOF')).encode())
    assert (read.errors[0].platform, read.facts.platform) == ("windows_amd64", "windows_amd64")


OTHERS = (
    "npm ERR! code EINTEGRITY", "npm ERR! sha512-x integrity checksum failed when using sha512", "Error: Process completed with exit code 1.",
    "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "verifying module: checksum mismatch",
    "Error: failed to download chart: unexpected EOF", "Error: dial tcp: lookup proxy.example.com: no such host",
    "x509: certificate signed by unknown authority", "docker: Error response from daemon: Get https://registry-1.docker.io/v2/: context deadline exceeded.",
    "Error: INSTALLATION FAILED: cannot re-use a name that is still in use", "fatal: unable to access: Could not resolve host: github.com",
    "error: failed to solve: unexpected status from HEAD request: 401 Unauthorized", "gpg: Can't check signature: No public key",
    "error checking signature: no key", "panic: runtime error: index out of range [3] with length 3", "zip: not a valid zip file",
    "Error: Unsupported Content-Type: text/html", "E: The repository 'http://x' does not have a Release file.", "pull access denied",
    "error: could not find a provider for resource", "Error: No package available for this platform", "cannot search /tmp: permission denied",
    "Error: Cycle: module.a, module.b", "Error: Invalid reference", "aws_instance.web: Creation complete after 12s", "Plan: 3 to add, 0 to change",
    "Error while installing package foo v1.2: unexpected EOF", "bad response code: 404", "giving up after 5 attempt(s)", "Error: timeout",
    "Error: requires authentication credentials", "fail: you need to downgrade to 1.2.3", "ambiguous manifest", "checksum list has nothing",
    "cache hit: restored 12 files", "Terraform v1.11.4", "- Installing hashicorp/aws v5.84.0...", "provider registry is fine",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_guessed_from_other_programs(seed: int) -> None:
    dice = random.Random(seed)
    lines = [f"{dice.choice(OTHERS)} {dice.randbytes(4).hex()}" for _ in range(200)]
    assert read_log("\n".join(lines).encode()).errors == ()


OF_A_CLOUD_BLOCK = (
    'Error: Failed to request discovery document: Get "https://app.terraform.io/.well-known/terraform.json": dial tcp: '
    "lookup app.terraform.io: no such host\n\n  on backend.tf line 2, in terraform:\n   2:   cloud {"
)
OF_A_MODULE = (
    'Error: Error accessing remote module registry\n\nFailed to retrieve available versions for module "vpc" (main.tf:1) '
    "from registry.terraform.io: Failed to request discovery document: 503 Service Unavailable."
)


@pytest.mark.parametrize("before", ["", "2026-03-01T10:00:00.0000000Z "], ids=["bare", "with a prefix"])
@pytest.mark.parametrize("error", [OF_A_CLOUD_BLOCK, OF_A_MODULE], ids=["of a cloud block", "of a module"])
def test_a_request_for_no_provider_is_none_of_a_provider(error: str, before: str) -> None:
    lines = f"Initializing HCP Terraform...\n\n{error}\n".split("\n")
    assert read_log("\n".join(before + line for line in lines).encode()).errors == ()


def test_bounds() -> None:
    error = boxed_log(
        (FAILED, f"{WHILE} the current package for {P} {V} doesn't match any of the checksums previously recorded")
    )
    read = read_log(b"x\n" * (MOST_BYTES // 2) + error.encode())
    assert read.is_cut
    marked = read_log(("x\n" * (MOST_BYTES // 4) + error).encode("utf-16"))
    assert (marked.is_cut, [error.kind for error in marked.errors]) == (True, ["current-package"])
    assert [error.kind for error in read.errors] == ["current-package"]
    assert decoded_log(b"\n" * MOST_LINES)[1]
    assert len(clean_lines("\n" * (MOST_LINES + 10))) == MOST_LINES
    assert len(clean_lines("x" * (3 * LONGEST_LINE))[0].text) == LONGEST_LINE
    many = "".join(
        boxed_log((FAILED, f"Error while installing a/p{n} v1.0.0: unexpected EOF")) for n in range(MOST_ERRORS + 20)
    )
    assert len(read_log(many.encode()).errors) <= MOST_ERRORS + 1
    folders = "".join(f"+ cd roots/{n}\n{error}" for n in range(MOST_ERRORS + 20))
    assert len(read_log(folders.encode()).errors) == MOST_ERRORS
