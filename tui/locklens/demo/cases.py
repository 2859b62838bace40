"""The sample roots: the contents of each in the last commit and in the work tree, one case each.

| root | case |
|---|---|
| infra/prod/network | an honest day: major (wider constraint), minor, patch, a provider added, one removed |
| infra/prod/data | acme/demo 1.4.2 was republished; a downgrade; a major with a narrower constraint |
| infra/prod/dns | acme/netbox: the version was edited by hand without the hashes; cloudflare gained an `h1` |
| infra/prod/secrets | corp/vault-ext: another package for Linux only; vault lost `h1` of three platforms |
| infra/prod/cluster | kubernetes gained the missing `zh`; helm is a pre-release; a module is not fetched |
| infra/prod/search | corp/search-sync 1.8.0 is new, with other packages than in infra/stage/search |
| infra/prod/cdn | an added root |
| infra/stage/network | only the constraint changed |
| infra/stage/data | only the line ends changed (CRLF) |
| infra/stage/cluster | archive is still locked, but no longer required (the lock file did not change) |
| infra/stage/monitoring | `init` was forgotten: grafana's locked version is too old, pagerduty is not locked |
| infra/stage/dns | an override file overrides the constraint in versions.tf |
| infra/stage/registry | a merge left git's conflict markers |
| infra/stage/messaging | moved from infra/stage/queue; its lock has no hash for Macs, a required platform |
| infra/stage/search | unchanged, the other half of infra/prod/search |
| infra/edge | from Terraform to OpenTofu: two providers moved to the other registry |
| infra/tools/backup | corp/backup is from a mirror: no `zh` at all |
| infra/tools/runner | a truncated hash, and one of an unknown scheme |
| infra/tools/sandbox | a patch in a root whose main.tf is broken |
| infra/tools/scratch | no lock file at all, which the review does not show and the health does |
| infra/legacy/ftp | a deleted root |
| infra/teams/01 … 12 | the same upgrade twelve times; 03 has another constraint, 07 was locked on a Mac |

The dangerous ones: prod/data, prod/dns, prod/secrets, prod/search. The owners `acme` and `corp` are invented.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from locklens.demo import LINUX, PLATFORMS, SampleLock, h1, lock_file, zh
from locklens.dialect import OPENTOFU

TERRAFORM_HOST = "registry.terraform.io"
OPENTOFU_HOST = "registry.opentofu.org"
TEAMS = tuple(f"{number:02}" for number in range(1, 13))


class SampleState(Struct, frozen=True):
    """The state of a root: the bytes of its lock file, and its other files by name."""

    lock: bytes
    files: dict[str, str] = field(default_factory=dict)


class SampleRoot(Struct, frozen=True):
    """A sample root.

    Attributes:
        path: Its folder.
        old: State in the last commit; None for an added root.
        new: State in the work tree; None for a deleted root.
        old_path: Folder in the last commit; "" if unchanged.
    """

    path: str
    old: SampleState | None
    new: SampleState | None
    old_path: str = ""


def sample_entry(source: str, version: str, constraints: str = "") -> SampleLock:
    """Return a provider of Terraform's registry, given by NAMESPACE/TYPE, locked on Linux."""
    return SampleLock(f"{TERRAFORM_HOST}/{source}", version, constraints)


def requires(*providers: tuple[str, str]) -> str:
    """Return a terraform block that requires (source, constraint)."""
    lines = ["terraform {", "  required_providers {"]
    for source, constraint in providers:
        lines += [f"    {source.rpartition('/')[2]} = {{", f'      source  = "{source}"']
        lines += [f'      version = "{constraint}"', "    }"]
    return "\n".join((*lines, "  }", "}", ""))


def calls(name: str, source: str, version: str = "") -> str:
    """Return a module block."""
    if not version:
        return f'module "{name}" {{\n  source = "{source}"\n}}\n'
    return f'module "{name}" {{\n  source  = "{source}"\n  version = "{version}"\n}}\n'


MODULES = {
    "modules/network/versions.tf": requires(("hashicorp/aws", ">= 5.40")),
    "modules/network/main.tf": 'resource "aws_vpc" "this" {\n  cidr_block = "10.0.0.0/16"\n}\n\n'
    + calls("labels", "../labels"),
    "modules/labels/versions.tf": requires(("hashicorp/random", ">= 3.5")),
    "modules/labels/main.tf": 'resource "random_pet" "name" {}\n',
    "modules/team/versions.tf": requires(("hashicorp/aws", ">= 5.60")),
    "modules/team/main.tf": 'resource "aws_iam_role" "deploy" {\n  name = "deploy"\n}\n',
}
"""Local modules, unchanged between both states."""

UNLOCKED = {
    "infra/tools/scratch/main.tf": 'terraform {\n  backend "local" {}\n}\n\n'
    + requires(("hashicorp/local", "~> 2.5"))
    + '\nresource "local_file" "note" {\n  filename = "note"\n}\n'
}
"""A root whose lock file was never committed, in both states."""

_AWS = sample_entry("hashicorp/aws", "5.84.0", "~> 5.0, >= 5.40.0")
_RANDOM = sample_entry("hashicorp/random", "3.6.2", ">= 3.5.0")
_TLS = sample_entry("hashicorp/tls", "4.0.5", "~> 4.0")
_GOOGLE = sample_entry("hashicorp/google", "5.44.2", ">= 5.0.0")
_KUBERNETES = sample_entry("hashicorp/kubernetes", "2.36.0", "~> 2.36")
_CLOUDFLARE = sample_entry("cloudflare/cloudflare", "4.51.0", "~> 4.40")
_NETWORK = calls("network", "../../../modules/network")


def _honest_day() -> SampleRoot:
    old = ("hashicorp/aws", "~> 5.0"), ("hashicorp/null", "~> 3.2"), ("hashicorp/tls", "~> 4.0")
    new = ("hashicorp/aws", ">= 5.0, < 7.0"), ("hashicorp/time", "~> 0.12"), ("hashicorp/tls", "~> 4.0")
    aws, random, tls = _AWS.at("6.2.0", ">= 5.0.0, >= 5.40.0, < 7.0.0"), _RANDOM.at("3.6.3"), _TLS.at("4.1.0")
    return SampleRoot(
        "infra/prod/network",
        SampleState(
            lock_file(_AWS, sample_entry("hashicorp/null", "3.2.2", "~> 3.2"), _RANDOM, _TLS),
            {"main.tf": _NETWORK, "versions.tf": requires(*old)},
        ),
        SampleState(
            lock_file(aws, random, sample_entry("hashicorp/time", "0.12.1", "~> 0.12"), tls),
            {"main.tf": _NETWORK, "versions.tf": requires(*new)},
        ),
    )


def _dangerous() -> tuple[SampleRoot, ...]:
    demo = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    postgresql = sample_entry("cyrilgdn/postgresql", "1.25.0", ">= 1.20.0")
    sql = 'resource "postgresql_database" "orders" {\n  name = "orders"\n}\n'
    data = ("acme/demo", "~> 1.4"), ("cyrilgdn/postgresql", ">= 1.20")
    netbox = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    dns = {"versions.tf": requires(("acme/netbox", "~> 3.9"), ("cloudflare/cloudflare", "~> 4.40"))}
    edited = (
        replace(netbox, version="3.10.0", hashes_of="3.9.1"),
        replace(_CLOUDFLARE, unpacked=(*LINUX, "darwin_arm64")),
    )
    extension = sample_entry("corp/vault-ext", "2.3.0", "~> 2.3")
    vault = replace(sample_entry("hashicorp/vault", "4.6.0", "~> 4.6"), unpacked=PLATFORMS[:4])
    secrets = {"versions.tf": requires(("corp/vault-ext", "~> 2.3"), ("hashicorp/vault", "~> 4.6"))}
    return (
        SampleRoot(
            "infra/prod/data",
            SampleState(
                lock_file(demo, postgresql, _GOOGLE),
                {"main.tf": sql, "versions.tf": requires(*data, ("hashicorp/google", ">= 5.0"))},
            ),
            SampleState(
                lock_file(replace(demo, edition="again"), postgresql.at("1.23.0"), _GOOGLE.at("6.14.1", "~> 6.14")),
                {"main.tf": sql, "versions.tf": requires(*data, ("hashicorp/google", "~> 6.14"))},
            ),
        ),
        SampleRoot(
            "infra/prod/dns", SampleState(lock_file(netbox, _CLOUDFLARE), dns), SampleState(lock_file(*edited), dns)
        ),
        SampleRoot(
            "infra/prod/secrets",
            SampleState(lock_file(extension, vault), secrets),
            SampleState(lock_file(_with_foreign_package(extension), replace(vault, unpacked=LINUX)), secrets),
        ),
    )


def _with_foreign_package(provider: SampleLock) -> SampleLock:
    """Return a lock in which one platform's package is not the publisher's: the quiet attack."""
    release, platform = (provider.provider, provider.version), "linux_amd64"
    foreign = zh(*release, platform, "foreign"), h1(*release, platform, "foreign")
    kept = tuple(name for name in provider.packed if name != platform)
    return replace(provider, packed=kept, unpacked=(), more=foreign)


def _cluster_search_and_cdn() -> tuple[SampleRoot, ...]:
    ingress = calls("ingress", "acme/ingress/kubernetes", "1.2.0")
    helm = sample_entry("hashicorp/helm", "2.17.0", "~> 2.17")
    sync = sample_entry("corp/search-sync", "1.8.0", "~> 1.8")
    elastic = sample_entry("elastic/ec", "0.12.2", "~> 0.12")
    both = {"versions.tf": requires(("corp/search-sync", "~> 1.8"), ("elastic/ec", "~> 0.12"))}
    cdn = requires(("fastly/fastly", "~> 5.15"), ("hashicorp/aws", "~> 5.80"))
    return (
        SampleRoot(
            "infra/prod/cluster",
            SampleState(
                lock_file(helm, replace(_KUBERNETES, packed=PLATFORMS[2:4])),
                {
                    "main.tf": ingress,
                    "versions.tf": requires(("hashicorp/helm", "~> 2.17"), ("hashicorp/kubernetes", "~> 2.36")),
                },
            ),
            SampleState(
                lock_file(helm.at("3.0.0-pre2", "3.0.0-pre2"), _KUBERNETES),
                {
                    "main.tf": ingress,
                    "versions.tf": requires(("hashicorp/helm", "3.0.0-pre2"), ("hashicorp/kubernetes", "~> 2.36")),
                },
            ),
        ),
        SampleRoot(
            "infra/prod/search",
            SampleState(lock_file(elastic), {"versions.tf": requires(("elastic/ec", "~> 0.12"))}),
            SampleState(lock_file(replace(sync, edition="second build"), elastic), both),
        ),
        SampleRoot(
            "infra/stage/search",
            SampleState(lock_file(sync, elastic), both),
            SampleState(lock_file(sync, elastic), both),
        ),
        SampleRoot(
            "infra/prod/cdn",
            None,
            SampleState(
                lock_file(sample_entry("fastly/fastly", "5.15.0", "~> 5.15"), _AWS.at("5.84.0", "~> 5.80")),
                {"main.tf": 'resource "fastly_service_vcl" "www" {\n  name = "www"\n}\n', "versions.tf": cdn},
            ),
        ),
    )


def _stage() -> tuple[SampleRoot, ...]:
    google = lock_file(_GOOGLE)
    google_files = {"versions.tf": requires(("hashicorp/google", ">= 5.0"))}
    archive = lock_file(sample_entry("hashicorp/archive", "2.7.0", "~> 2.7"), _KUBERNETES)
    grafana = lock_file(sample_entry("grafana/grafana", "2.19.4", "~> 2.19"))
    queue = SampleState(
        lock_file(
            replace(sample_entry("confluentinc/confluent", "2.13.0", "~> 2.13"), packed=PLATFORMS[2:], unpacked=())
        ),
        {"versions.tf": requires(("confluentinc/confluent", "~> 2.13"))},
    )
    override = {
        "versions.tf": requires(("cloudflare/cloudflare", "~> 5.0")),
        "override.tf": "# Until the zone is migrated.\n" + requires(("cloudflare/cloudflare", "~> 4.40")),
    }
    aws = {"versions.tf": requires(("hashicorp/aws", "~> 5.80"))}
    base, ours, theirs = (
        sample_entry("hashicorp/aws", version, "~> 5.80") for version in ("5.82.2", "5.84.0", "5.86.1")
    )
    return (
        SampleRoot(
            "infra/stage/network",
            SampleState(
                lock_file(_AWS, _RANDOM), {"main.tf": _NETWORK, "versions.tf": requires(("hashicorp/aws", "~> 5.0"))}
            ),
            SampleState(
                lock_file(_AWS.at(_AWS.version, ">= 5.0.0, >= 5.40.0, < 7.0.0"), _RANDOM),
                {"main.tf": _NETWORK, "versions.tf": requires(("hashicorp/aws", ">= 5.0, < 7.0"))},
            ),
        ),
        SampleRoot(
            "infra/stage/data",
            SampleState(google, google_files),
            SampleState(google.replace(b"\n", b"\r\n"), google_files),
        ),
        SampleRoot(
            "infra/stage/cluster",
            SampleState(
                archive, {"versions.tf": requires(("hashicorp/archive", "~> 2.7"), ("hashicorp/kubernetes", "~> 2.36"))}
            ),
            SampleState(archive, {"versions.tf": requires(("hashicorp/kubernetes", "~> 2.36"))}),
        ),
        SampleRoot(
            "infra/stage/monitoring",
            SampleState(grafana, {"versions.tf": requires(("grafana/grafana", "~> 2.19"))}),
            SampleState(
                grafana, {"versions.tf": requires(("grafana/grafana", "~> 3.18"), ("pagerduty/pagerduty", "~> 3.16"))}
            ),
        ),
        SampleRoot(
            "infra/stage/dns",
            SampleState(lock_file(_CLOUDFLARE), override),
            SampleState(lock_file(_CLOUDFLARE.at("4.52.0")), override),
        ),
        SampleRoot(
            "infra/stage/registry", SampleState(lock_file(base), aws), SampleState(_conflict(ours, theirs), aws)
        ),
        SampleRoot("infra/stage/messaging", queue, queue, old_path="infra/stage/queue"),
    )


def _conflict(ours: SampleLock, theirs: SampleLock) -> bytes:
    """Return the lock file after a conflicting merge, as git leaves it: both sides changed the only provider."""
    mine, other = (lock_file(side).decode().splitlines(keepends=True) for side in (ours, theirs))
    first = next(number for number, (left, right) in enumerate(zip(mine, other, strict=True)) if left != right)
    backwards = enumerate(zip(mine[::-1], other[::-1], strict=True))
    last = next(number for number, (left, right) in backwards if left != right)
    middle = mine[first : len(mine) - last], other[first : len(other) - last]
    markers = "<<<<<<< HEAD\n", "=======\n", ">>>>>>> feature/newer-aws\n"
    text = [*mine[:first], markers[0], *middle[0], markers[1], *middle[1], markers[2], *mine[len(mine) - last :]]
    return "".join(text).encode()


def _edge_and_tools() -> tuple[SampleRoot, ...]:
    edge = _RANDOM.at("3.6.3", "~> 3.6"), _CLOUDFLARE.at("4.52.0")
    moved = (replace(provider, provider=provider.provider.replace(TERRAFORM_HOST, OPENTOFU_HOST)) for provider in edge)
    edge_files = {"versions.tf": requires(("cloudflare/cloudflare", "~> 4.40"), ("hashicorp/random", "~> 3.6"))}
    backup = replace(sample_entry("corp/backup", "0.9.0", "~> 0.9"), packed=())
    backup_files = {"versions.tf": requires(("corp/backup", "~> 0.9"))}
    http = sample_entry("hashicorp/http", "3.4.5", "~> 3.4")
    http_files = {"versions.tf": requires(("hashicorp/http", "~> 3.4"))}
    strange = (
        zh(http.provider, http.version, "freebsd_amd64")[:-9],
        "h2:" + h1(http.provider, http.version, "linux_amd64")[3:],
    )
    local = sample_entry("hashicorp/local", "2.5.1", "~> 2.5")
    local_files = {"versions.tf": requires(("hashicorp/local", "~> 2.5"))}
    ftp = sample_entry("hashicorp/aws", "3.76.1", "~> 3.0"), sample_entry("hashicorp/template", "2.2.0", "~> 2.2")
    return (
        SampleRoot(
            "infra/edge",
            SampleState(lock_file(*edge), edge_files),
            SampleState(lock_file(*moved, dialect=OPENTOFU), edge_files),
        ),
        SampleRoot(
            "infra/tools/backup",
            SampleState(lock_file(backup), backup_files),
            SampleState(lock_file(backup.at("0.9.2")), backup_files),
        ),
        SampleRoot(
            "infra/tools/runner",
            SampleState(lock_file(http), http_files),
            SampleState(lock_file(replace(http, more=strange)), http_files),
        ),
        SampleRoot(
            "infra/tools/sandbox",
            SampleState(
                lock_file(local), {**local_files, "main.tf": 'resource "local_file" "note" {\n  filename = "note"\n}\n'}
            ),
            SampleState(
                lock_file(local.at("2.5.2")),
                {**local_files, "main.tf": 'resource "local_file" "note" {\n  filename = "note\n  content  = \n'},
            ),
        ),
        SampleRoot(
            "infra/legacy/ftp",
            SampleState(
                lock_file(*ftp),
                {"versions.tf": requires(("hashicorp/aws", "~> 3.0"), ("hashicorp/template", "~> 2.2"))},
            ),
            None,
        ),
    )


def _team(number: str) -> SampleRoot:
    constraint = "~> 5.84" if number == "03" else "~> 5.80"
    aws = sample_entry("hashicorp/aws", "5.84.0", f">= 5.60.0, {constraint}")
    if number == "07":
        aws = replace(aws, unpacked=("darwin_arm64",))
    files = {"main.tf": calls("team", "../../../modules/team"), "versions.tf": requires(("hashicorp/aws", constraint))}
    return SampleRoot(
        f"infra/teams/{number}", SampleState(lock_file(aws), files), SampleState(lock_file(aws.at("5.86.1")), files)
    )


def cases() -> tuple[SampleRoot, ...]:
    """Return every sample root."""
    return (
        _honest_day(),
        *_dangerous(),
        *_cluster_search_and_cdn(),
        *_stage(),
        *_edge_and_tools(),
        *(_team(number) for number in TEAMS),
    )
