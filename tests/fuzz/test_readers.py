"""Any bytes give a value, or one of our own errors with a sentence: within a bound, and never anything unprintable."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from executables.files import NAMES, TEXT, elf, info, table
from fuzz import samples
from fuzz.bounded import TooManyCallsError, few_calls, has_sentence, is_printable
from fuzz.mutating import mutants
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kit.effort import effort
from msgspec.structs import replace
from packages.zips import FILE, Item, build

from locklens.addresses import Platform, ProviderAddress
from locklens.demo.signing import publisher
from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError, LockLensError, PackageError
from locklens.executables.reader import ExecutableReader
from locklens.lockfile import LockFile
from locklens.lockfile.merge import merge
from locklens.lockfile.parse import parse as parse_lock
from locklens.lockfile.render import deviations, render
from locklens.lockfile.splice import splice
from locklens.operations.comparison import Comparison, Side
from locklens.operations.reports import REPORTS, render_report
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.packages import Limits
from locklens.packages.hashing import hash_package
from locklens.policy import POLICY_FILE
from locklens.policy import parse as parse_policy
from locklens.policy.editing import with_acceptances, with_pin, without_pin
from locklens.policy.model import Acceptance, Pin
from locklens.project import RootPair
from locklens.project.cliconfig import read_cli_config
from locklens.project.installation import OciRepository, repository_of, template_problems
from locklens.project.oci_credentials import DockerConfig
from locklens.project.requirements import read_configuration
from locklens.project.tree import EmptyTree, WorkTree
from locklens.sources.documents import ShapeError, texts_of
from locklens.sources.http import Response
from locklens.sources.metadata import read_dates, read_package, read_versions
from locklens.sources.oci import Challenge
from locklens.text import one_line
from locklens.trust.checksums import read_checksums
from locklens.trust.packets import key_packets, read_signature, split_signatures
from locklens.trust.selfsignatures import published_signers
from locklens.versions import Constraints
from locklens.versions.version import ConstraintSyntaxError, Version, VersionSyntaxError

pytestmark = pytest.mark.filterwarnings("error")

LOCK = ".terraform.lock.hcl"
ADDRESS = ProviderAddress("registry.example.com", "acme", "demo")
PLATFORM = Platform("linux", "amd64")
ROOT = RootPair(
    path="", old_lock=LOCK, new_lock=LOCK, lock_changed=True, configuration_changed=False, renamed_from=None
)

few = settings(max_examples=effort(60, 3000), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
fewer = settings(few, max_examples=effort(25, 800))

LOCKS = mutants([*samples.LOCKS, samples.CONFLICT], samples.LOCK_WORDS)
DIALECT = st.sampled_from(list(DIALECTS.values()))


def said(error: LockLensError) -> str:
    assert has_sentence(error)
    shown = one_line(f"{error} {error.hint}")
    assert is_printable(shown)
    return shown


class OneLock(EmptyTree):
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, path: str) -> bytes | None:
        return self._data if path == LOCK else None


# Lock files


@few
@given(LOCKS, DIALECT)
def test_a_lock_file_is_read_and_written_again(data: bytes, dialect: Dialect) -> None:
    with few_calls(len(data)):
        lock = parse_lock(data, LOCK, dialect=dialect)
        deviations(lock)
    for problem in (*lock.problems, *lock.warnings):
        assert problem.line >= 1
        assert problem.line <= data.count(b"\n") + data.count(b"\r") + 2
    if lock.is_valid:
        once = render(lock.entries, dialect)
        again = parse_lock(once, LOCK, dialect=dialect)
        assert again.problems == ()
        assert says(again) == says(lock)
        assert render(again.entries, dialect) == once
        assert splice(data, {}, dialect=dialect) == data
        for address in lock.by_address:
            without = parse_lock(splice(data, {address: None}, dialect=dialect), LOCK, dialect=dialect)
            assert without.is_valid
            assert without.by_address.keys() == lock.by_address.keys() - {address}


def says(lock: LockFile) -> dict[ProviderAddress, object]:
    """What the entries say, in any order: hashes are sorted and united where they are written."""
    return {entry.address: (entry.version, entry.constraints, sorted(set(entry.hashes))) for entry in lock.entries}


@fewer
@given(LOCKS, LOCKS)
def test_every_report_of_two_lock_files_is_printable(old: bytes, new: bytes) -> None:
    sides = [Side("file", name, None, OneLock(data)) for name, data in (("old", old), ("new", new))]
    comparison = Comparison(sides[0], sides[1], (ROOT,), None, None, None, (LOCK,))
    result = review(ReviewRequest(lambda: comparison))
    for view, form in REPORTS:
        if view in {"review", "hashes", "keys"}:
            assert is_printable(render_report(view, form, result, past=None, fail_on="block", colour=False)), form


@few
@given(LOCKS, LOCKS, LOCKS, DIALECT)
def test_a_merge_is_a_lock_file_or_has_conflicts_or_is_refused(
    base: bytes, ours: bytes, theirs: bytes, dialect: Dialect
) -> None:
    try:
        with few_calls(len(base) + len(ours) + len(theirs)):
            merged = merge(base, ours, theirs, dialect=dialect)
    except ConfigurationError as error:
        said(error)
        return
    if merged.data in (ours, theirs):
        return
    lock = parse_lock(merged.data, LOCK, dialect=dialect)
    assert lock.is_valid == (not merged.conflicts)
    assert (lock.conflict is not None) == bool(merged.conflicts)


# Configurations


@pytest.mark.parametrize(
    ("name", "originals"),
    [
        ("main.tf", samples.CONFIGURATIONS),
        ("main_override.tf", samples.CONFIGURATIONS),
        ("a.tftest.hcl", samples.CONFIGURATIONS),
        ("main.tf.json", samples.JSON_CONFIGURATIONS),
    ],
)
def test_a_configuration_is_read(name: str, originals: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "other.tf").write_bytes(samples.CONFIGURATIONS[0])

    @fewer
    @given(mutants(originals, samples.CONFIGURATION_WORDS), DIALECT)
    def run(data: bytes, dialect: Dialect) -> None:
        (tmp_path / name).write_bytes(data)
        with few_calls(len(data) + len(samples.CONFIGURATIONS[0])):
            found = read_configuration(WorkTree(tmp_path), "", dialect=dialect)
        for problem in found.problems:
            assert problem.summary
            assert is_printable(one_line(f"{problem.file}:{problem.line}: {problem.summary} {problem.detail}"))

    run()


@pytest.mark.parametrize(
    ("name", "originals"), [("terraform.tfstate", samples.STATES), (".terraform/modules/modules.json", samples.MODULES)]
)
def test_a_state_or_a_manifest_of_modules_is_read(name: str, originals: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_bytes(samples.CONFIGURATIONS[0] + samples.CONFIGURATIONS[1])
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    tree = WorkTree(tmp_path)

    @fewer
    @given(mutants(originals, samples.ANSWER_WORDS), DIALECT)
    def run(data: bytes, dialect: Dialect) -> None:
        (tmp_path / name).write_bytes(data)
        with few_calls(len(data) + 4000):
            found = read_configuration(tree, "", dialect=dialect, worktree=tree)
        for problem in found.problems:
            assert is_printable(one_line(f"{problem.file}:{problem.line}: {problem.summary} {problem.detail}"))

    run()


# The policy


@few
@given(mutants(samples.POLICIES, samples.POLICY_WORDS))
def test_a_policy_is_read_or_refused_with_its_line(data: bytes) -> None:
    refusal = None
    try:
        with few_calls(len(data)):
            parse_policy(data, "locklens.toml")
    except ConfigurationError as error:
        refusal = error
    if refusal is not None:
        assert said(refusal).startswith("locklens.toml:")
        assert refusal.line is not None


ACCEPTANCE = Acceptance(
    "LK002", f"{ADDRESS}", "fedcba9876543210" * 2, "checked by hand", by="Ann", on=date(2026, 11, 20)
)
PIN = Pin("acme", keys=("2D98EB288FB067651C840244B55D58B11B8BCF40",), by="Ann", on=date(2026, 11, 20), why="rotated")


@few
@given(mutants(samples.EDITED_POLICIES, samples.POLICY_WORDS))
def test_an_edit_of_a_policy_changes_nothing_else(data: bytes) -> None:
    try:
        before = parse_policy(data, POLICY_FILE)
    except ConfigurationError:
        return
    edits: dict[str, Callable[[], bytes]] = {
        "accept": lambda: with_acceptances(data, (ACCEPTANCE,)),
        "trust": lambda: with_pin(data, PIN),
    }
    for changed, edit in edits.items():
        try:
            edited = edit()
        except ConfigurationError as error:
            said(error)
            continue
        after = parse_policy(edited, POLICY_FILE)
        kept = edits.keys() - {changed}
        for name in (*kept, "cooldown", "platforms", "hosts", "severity", "allow", "fail_on", "install_paths"):
            old, new = getattr(before, name), getattr(after, name)
            if name in {"accept", "trust"}:
                old, new = ([replace(one, line=1) for one in each] for each in (old, new))
            assert old == new, name
    for pin in before.trust:
        with suppress(ConfigurationError):
            after = parse_policy(without_pin(data, pin), POLICY_FILE)
            assert len(after.trust) == len(before.trust) - 1


# Versions and constraints


@few
@given(mutants(samples.CONSTRAINTS, samples.CONSTRAINT_WORDS))
def test_constraints_are_read_and_written_again(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    try:
        with few_calls(len(data)):
            read = Constraints.parse(text)
    except ConstraintSyntaxError:
        return
    assert Constraints.parse_recorded(str(read)) == Constraints.parse_recorded(
        str(Constraints.parse_recorded(str(read)))
    )
    with suppress(VersionSyntaxError):
        version = Version.parse(text)
        assert Version.parse(str(version)) == version


# Signatures and keys


KEY = publisher("acme")


@few
@given(mutants([KEY.signature(b"x"), KEY.signature(b"y") * 2], [b"\x88", b"\xc2", b"\xff", bytes(8)]))
def test_a_signature_is_split_or_damaged(data: bytes) -> None:
    with few_calls(len(data)):
        _, parts = split_signatures(data, 1 << 16, 8)
        for part in parts:
            read_signature(part)


@few
@given(mutants([KEY.key.armored().encode()], [b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n", b"=AAAA\n", b"Comment: x\n"]))
def test_a_key_is_read_or_is_none(data: bytes) -> None:
    with few_calls(len(data)):
        packets = key_packets(data)
        assert packets is None or len(packets) <= len(data)
        published_signers(packets if packets is not None else data)


# What registries answer


def answer(body: bytes) -> Response:
    return Response(
        200, "https://example.com/v1/", "application/json", body, had_token=False, as_of="2026-01-01T00:00:00Z"
    )


READERS: dict[str, tuple[list[bytes], Callable[[bytes], object]]] = {
    "versions": (samples.VERSIONS, lambda body: read_versions(answer(body))),
    "terraform's package": (
        samples.PACKAGES,
        lambda body: read_package(answer(body), ADDRESS, Version.parse("1.0.0"), PLATFORM, dialect=TERRAFORM),
    ),
    "opentofu's package": (
        samples.PACKAGES,
        lambda body: read_package(answer(body), ADDRESS, Version.parse("1.0.0"), PLATFORM, dialect=OPENTOFU),
    ),
    "dates": (samples.DATES, lambda body: read_dates(answer(body))),
    "services": (samples.SERVICES, lambda body: texts_of(body, "providers.")),
}


@pytest.mark.parametrize("kind", READERS)
def test_an_answer_is_read_or_refused(kind: str) -> None:
    originals, read = READERS[kind]

    @few
    @given(mutants(originals, samples.ANSWER_WORDS))
    def run(body: bytes) -> None:
        refusal = "as it should be"
        try:
            with few_calls(len(body)):
                read(body)
        except ShapeError as error:
            refusal = str(error)
        assert refusal
        assert is_printable(one_line(refusal))

    run()


@few
@given(mutants(samples.SUMS))
def test_checksums_are_read(data: bytes) -> None:
    with few_calls(len(data)):
        found = read_checksums(data)
        assert found.data == data
        assert len(found.hashes) <= data.count(b"\n") + 1
        assert found.packages("demo", "1.0.0").keys() <= {one.platform for one in found.files}
        for name in found.names:
            found.matching(name)
        assert all(one.line >= 1 for one in found.files)
        found.collected  # noqa: B018
        found.manifests  # noqa: B018


def test_the_bound_on_calls_is_one() -> None:
    def loop() -> None:
        for _ in range(100_000):
            is_printable("")

    with pytest.raises(TooManyCallsError), few_calls(10):
        loop()
    with few_calls(10_000):
        loop()


# Packages


ZIPS = [
    build(
        [Item(b"terraform-provider-demo_v1.0.0", b"program" * 50, attributes=FILE), Item(b"LICENSE", b"text", method=0)]
    ),
    build([Item(b"a/b", b"x", descriptor="PK and 32 bits"), Item(b"c", b"", is_wide=True)]),
]


@few
@given(
    mutants(
        ZIPS, [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08", b"\xff" * 4]
    )
)
def test_a_package_is_hashed_or_refused(data: bytes) -> None:
    try:
        found = hash_package(iter([data]), limit=Limits(unpacked=1 << 20))
    except PackageError as error:
        said(error)
        return
    assert found.size == len(data)
    assert found.h1.startswith("h1:")


# The CLI configuration


@few
@given(mutants(samples.CLI_CONFIGURATIONS, samples.CLI_WORDS), DIALECT)
def test_a_cli_configuration_is_read_and_no_token_is_shown(data: bytes, dialect: Dialect) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rc"
        path.write_bytes(data)
        with few_calls(len(data)):
            found = read_cli_config(dialect, {"TF_CLI_CONFIG_FILE": str(path), "HOME": folder})
    is_token_alone = data.count(b"secret-token") == data.count(b'token = "secret-token"')
    for problem in found.problems:
        assert not is_token_alone or "secret-token" not in said(problem)
    assert "secret-token" not in repr(found.credentials)


@few
@given(mutants(samples.DOCKER_CONFIGURATIONS, [b"auths", b"null", b"[]", b"{}"]))
def test_a_file_of_docker_is_read_and_no_password_is_shown(data: bytes) -> None:
    words = ""
    with few_calls(len(data)):
        try:
            found = DockerConfig.parse(data, Path("config.json"))
            matches = list(found.matching(OciRepository("registry.example.com", "a/b")))
        except ValueError as error:
            words = str(error)
        else:
            words = repr((found, matches))
            assert all(one.problem.isprintable() for one in matches)
    assert "secret-token" not in words


@few
@given(mutants(samples.TEMPLATES, samples.TEMPLATE_WORDS))
def test_a_template_is_evaluated_or_refused(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with few_calls(len(data)):
        problems = list(template_problems(text, {}))
        assert all(problems)
        with suppress(ValueError):
            assert str(repository_of(text, ADDRESS)).isprintable()


@few
@given(mutants(samples.CHALLENGES, [b"Bearer ", b"=", b",", b'"', b"\\"]))
def test_a_registrys_challenge_is_read(data: bytes) -> None:
    with few_calls(len(data)):
        found = Challenge.parse(data.decode("latin-1"))
    assert found.scheme in {"", "basic", "bearer"}


# Executables

PROGRAM = elf((5, b"code"), (4, table(NAMES * 4, inlined=b"main.small\0")), (6, info(TEXT)))
FOREIGN = [
    b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0" + bytes(300),
    b"\xcf\xfa\xed\xfe" + bytes(12) + b"\2\0\0\0" + bytes(400),
]
PROGRAM_WORDS = [
    b"\xff Go buildinf:",
    b"\xf1\xff\xff\xff\0\0\1\x08",
    b"dep\t",
    b"=>\t",
    b"build\t",
    b"\xff\xff\xff\x7f",
]


@few
@given(mutants([PROGRAM, *FOREIGN], PROGRAM_WORDS), st.integers(1, 5000))
def test_an_executable_is_read_or_said_to_be_unread(data: bytes, size: int) -> None:
    reader = ExecutableReader()
    with few_calls(len(data)):
        for start in range(0, len(data), size):
            reader.feed(data[start : start + size])
        found = reader.close()
    assert found.size == len(data)
    assert (found.unread is None) == (found.build is not None and found.functions is not None)
    assert is_printable(one_line(found.unread or ""))
