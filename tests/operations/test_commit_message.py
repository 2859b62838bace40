"""The commit message: what it says of which plan, and that git finds the trailers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from ui.conftest import Samples

from locklens.addresses import Platform, parse_source
from locklens.lockfile import LockEntry
from locklens.operations.plan import FileChanges, Plan, PlannedChange, PlannedFile
from locklens.operations.plan.commit_message import SUBJECT_LENGTH, commit_message
from locklens.review import Proof
from locklens.review.findings import Severity
from locklens.review.model import ChangeKind, Evidence, Review
from locklens.trust import Signer, SigningKey, Tier

SAMPLES = Samples()
ALICE, BOB = "7B1F0A9355E240CD9A1E88B42517E112C2EC7068", "C4D06E1B0F7299A831BC5D07175D017BEC06E6BD"
LOCK = ".terraform.lock.hcl"


def entry(name: str, version: str | None, **more: object) -> LockEntry | None:
    return SAMPLES.entry(f"hashicorp/{name}", version, **more) if version else None  # type: ignore[arg-type]


def change(name: str, old: str | None, new: str | None, root: str = "infra/prod") -> PlannedChange:
    return PlannedChange(
        root, SAMPLES.address(f"hashicorp/{name}"), f"hashicorp/{name}", entry(name, old), entry(name, new)
    )


def plan(*changes: PlannedChange, roots: tuple[str, ...] = (), old: bytes = b"# a", undoes: str = "") -> Plan:
    folders = dict.fromkeys([*(one.root for one in changes), *roots])
    files = tuple(PlannedFile(f"{root}/{LOCK}" if root else LOCK, old, b"# b") for root in folders)
    return Plan(FileChanges(Path("/top"), files, (), "locklens x", undoes=undoes), changes)


@pytest.mark.parametrize(
    ("planned", "subject"),
    [
        (plan(change("aws", "5.1.0", "5.2.0")), "Upgrade aws to 5.2.0 in infra/prod"),
        (
            plan(change("aws", "6.14.1", "6.21.0"), change("datadog", "3.78.0", "3.81.0")),
            "Upgrade aws to 6.21.0 and datadog to 3.81.0 in infra/prod",
        ),
        (plan(change("aws", "5.2.0", "5.1.0", root="")), "Downgrade aws to 5.1.0 in the top folder"),
        (plan(change("aws", None, "5.1.0")), "Lock aws 5.1.0 in infra/prod"),
        (plan(change("aws", "5.1.0", None), change("tls", "1.0.0", None)), "Remove aws and tls in infra/prod"),
        (
            plan(change("aws", "5.1.0", "5.2.0"), change("tls", "1.0.0", None)),
            "Upgrade aws to 5.2.0, remove tls in infra/prod",
        ),
        (
            plan(*(change("aws", "5.1.0", "5.2.0", root=f"infra/{number}") for number in range(40))),
            "Upgrade aws to 5.2.0 in 40 roots",
        ),
        (
            plan(
                *(change("aws", "5.1.0", "5.2.0" if number else "6.0.0", root=f"infra/{number}") for number in range(6))
            ),
            "Upgrade aws to 6.0.0 in infra/0, aws to 5.2.0 in 5 roots",
        ),
        (
            plan(*(change("aws", "5.1.0", f"5.{2 + number // 20}.0", root=f"infra/{number}") for number in range(23))),
            "Upgrade aws to 5.2.0 in 20 roots, aws to 5.3.0 in 3 roots",
        ),
        (
            plan(
                *(change("aws", "4.1.0", "5.2.0", root=f"infra/{number}") for number in range(20)),
                *(change("random", "2.1.0", "3.0.0", root=f"infra/{number}") for number in range(17, 23)),
            ),
            "Upgrade aws to 5.2.0 in 20 roots, random to 3.0.0 in 6 roots",
        ),
        (
            plan(change("aws", "5.1.0", "5.2.0", root="a"), change("tls", "1.0.0", None, root="b")),
            "Upgrade aws to 5.2.0 in a, remove tls in b",
        ),
        (
            plan(change("a" * 60, "5.1.0", "5.2.0", root="a"), change("tls", "1.0.0", None, root="b")),
            "Upgrade 1 provider in a, remove 1 provider in b",
        ),
        (plan(*(change(f"p{number}", "5.1.0", "5.2.0") for number in range(9))), "Upgrade 9 providers in infra/prod"),
        (
            plan(change("a" * 30, "5.1.0", "5.2.0", root="x" * 40), change("b" * 30, "5.1.0", "5.2.0", root="y" * 40)),
            "Upgrade 2 providers in 2 roots",
        ),
        (plan(roots=("infra/win", "infra/mac")), "Fix the format of the lock file in infra/mac and infra/win"),
        (plan(roots=("infra",), old=b"x {"), "Restore the lock file in infra"),
        (plan(roots=("infra",), undoes="1"), "Revert the lock file in infra"),
        (plan(change("evil\x1b[31m\n", "5.1.0", None, root="a\nb")), "Remove evil\\x1b[31m\\x0a in 1 root"),
    ],
)
def test_the_subject(planned: Plan, subject: str) -> None:
    assert commit_message(planned, None) == subject
    assert len(subject) <= SUBJECT_LENGTH


@pytest.mark.parametrize(
    ("one", "other", "subject"),
    [
        ("hashicorp/aws", "acme/aws", "Lock acme/aws 5.1.0, remove hashicorp/aws in a"),
        ("acme.test/a/aws", "b.test/a/aws", "Lock b.test/a/aws 5.1.0, remove acme.test/a/aws in a"),
        ("acme.test/a/aws", "b.test/b/aws", "Lock b/aws 5.1.0, remove a/aws in a"),
        ("acme.test/a/aws", "acme.test/a/tls", "Lock tls 5.1.0, remove aws in a"),
    ],
)
def test_providers_of_one_type_can_be_told_apart(one: str, other: str, subject: str) -> None:
    old, new = (parse_source(each, default_host="registry.terraform.io") for each in (one, other))
    removed = PlannedChange("a", old, one, entry("aws", "5.0.0"), None)
    added = PlannedChange("a", new, other, None, entry("aws", "5.1.0"))
    assert commit_message(plan(added, removed), None) == subject


def test_hashes_and_constraints_of_one_version() -> None:
    address = SAMPLES.address("hashicorp/aws")
    old = SAMPLES.entry("hashicorp/aws", "5.1.0")
    more = SAMPLES.entry("hashicorp/aws", "5.1.0", hashes=("zh:" + "0" * 64,))
    wider = SAMPLES.entry("hashicorp/aws", "5.1.0", constraints=">= 5.0")
    for new, verb in ((more, "hashes"), (wider, "constraints")):
        one = PlannedChange("a", address, "hashicorp/aws", old, new)
        assert commit_message(plan(one), None) == f"Update the {verb} of aws in a"


def test_the_platforms_of_added_hashes_are_named() -> None:
    linux, darwin, windows = map(Platform.parse, ("linux_amd64", "darwin_arm64", "windows_amd64"))

    def locked(name: str, *platforms: Platform, root: str = "a") -> PlannedChange:
        new = entry(name, "5.1.0", hashes=("zh:" + "0" * 64,))
        return replace(change(name, "5.1.0", "5.1.0", root), new=new, platforms=platforms)

    for changes, words in (
        ((locked("aws", linux),), "aws for linux_amd64 in a"),
        (
            (locked("aws", linux, darwin), locked("tls", linux, darwin)),
            "aws and tls for linux_amd64 and darwin_arm64 in a",
        ),
        ((locked("aws", linux, darwin, windows),), "aws for 3 platforms in a"),
        ((locked("aws", linux), locked("tls", darwin)), "aws and tls in a"),
        (
            tuple(locked(f"p{number}", linux, root=f"r{number}") for number in range(9)),
            "9 providers for linux_amd64 in 9 roots",
        ),
    ):
        assert commit_message(plan(*changes), None) == f"Update the hashes of {words}"


def test_a_plan_that_writes_nothing_has_none() -> None:
    assert commit_message(plan(), None) == ""


def signed(name: str, fingerprint: str) -> Review:
    key = SigningKey(fingerprint, ("alice <a@acme.example>",), "RSA 4096", "2023-05-10", None, False, False)
    own = SAMPLES.change(name)
    own = type(own)(
        **{
            **{field: getattr(own, field) for field in own.__struct_fields__},
            "new_signer": Signer(Tier.PARTNER, (key,), "5.2.0"),
            "added": tuple(replace(fact, proof=Proof.SIGNED) for fact in own.added),
        }
    )
    return SAMPLES.review(SAMPLES.root("infra/prod", [own]))


def test_the_trailers_are_gits(tmp_path: Path) -> None:
    one, two = signed("hashicorp/aws", BOB), signed("hashicorp/tls", ALICE)
    gone = SAMPLES.change("hashicorp/null", "1.0.0", None, kind=ChangeKind.REMOVED)
    warned = SAMPLES.change(
        "hashicorp/random", findings=(SAMPLES.finding("LK004", Severity.WARN), SAMPLES.finding("LK013", Severity.INFO))
    )
    review = SAMPLES.review(
        SAMPLES.root("a", [*one.changes, gone]), SAMPLES.root("b", [*two.changes, *one.changes, warned])
    )
    message = commit_message(plan(change("aws", "5.1.0", "5.2.0")), review)
    assert message.split("\n\n")[0] == "Upgrade aws to 5.2.0 in infra/prod"
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"],
        input=message,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.splitlines() == [
        "Lock-Review: 4 upgrades of 3 providers, 1 removal, 2 findings (1 warn, 1 info), 4 of 16 added hashes not verified",
        f"Lock-Signers: {ALICE}, {BOB}",
    ]


def test_changes_of_which_not_all_is_known_are_counted() -> None:
    known = [replace(one, evidence=Evidence()) for one in signed("hashicorp/tls", ALICE).changes]
    half = replace(known[0], evidence=Evidence(problems=("it lists no 5.1.0",)))
    message = commit_message(plan(change("aws", "5.1.0", "5.2.0")), SAMPLES.review(SAMPLES.root("a", [*known, half])))
    assert "added hashes verified, not all is known of 1 change\n" in message


def test_nobody_signed() -> None:
    kinds = (ChangeKind.NEW_HASHES, ChangeKind.CONSTRAINTS_ONLY)
    review = SAMPLES.review(
        SAMPLES.root("a", [SAMPLES.change(f"a/b{kind}", "1.0.0", "1.0.0", kind=kind) for kind in kinds for _ in "ab"])
    )
    message = commit_message(plan(change("aws", "5.1.0", "5.2.0")), review)
    assert message.endswith(
        "\n\nLock-Review: 2 changes of hashes of 1 provider, 2 changes of constraints of 1 provider, 0 findings,"
        " 8 of 8 added hashes not verified"
    )
