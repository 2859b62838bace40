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


_Pair = tuple[str, str]
"""A source, and the constraint on it."""


def _state(lock: bytes | tuple[SampleLock, ...], *pairs: _Pair, main: str = "", **files: str) -> SampleState:
    """Return the state of a root.

    Args:
        lock: The providers of its lock file, or its bytes.
        pairs: The requirements in versions.tf.
        main: The content of main.tf; "" for none.
        files: The contents of more files, by name without the suffix.
    """
    texts = ({"main": main} if main else {}) | {"versions": requires(*pairs)} | files
    contents = {f"{name}.tf": text for name, text in texts.items()}
    return SampleState(lock if isinstance(lock, bytes) else lock_file(*lock), contents)


def _honest_day() -> SampleRoot:
    aws, random, tls = _AWS.at("6.2.0", ">= 5.0.0, >= 5.40.0, < 7.0.0"), _RANDOM.at("3.6.3"), _TLS.at("4.1.0")
    null, time = sample_entry("hashicorp/null", "3.2.2", "~> 3.2"), sample_entry("hashicorp/time", "0.12.1", "~> 0.12")
    old = ("hashicorp/aws", "~> 5.0"), ("hashicorp/null", "~> 3.2"), ("hashicorp/tls", "~> 4.0")
    new = ("hashicorp/aws", ">= 5.0, < 7.0"), ("hashicorp/time", "~> 0.12"), ("hashicorp/tls", "~> 4.0")
    return SampleRoot(
        "infra/prod/network",
        _state((_AWS, null, _RANDOM, _TLS), *old, main=_NETWORK),
        _state((aws, random, time, tls), *new, main=_NETWORK),
    )


def _dangerous() -> tuple[SampleRoot, ...]:
    demo = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    postgresql = sample_entry("cyrilgdn/postgresql", "1.25.0", ">= 1.20.0")
    again = replace(demo, edition="again"), postgresql.at("1.23.0"), _GOOGLE.at("6.14.1", "~> 6.14")
    sql = 'resource "postgresql_database" "orders" {\n  name = "orders"\n}\n'
    data = ("acme/demo", "~> 1.4"), ("cyrilgdn/postgresql", ">= 1.20")
    netbox = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    dns = ("acme/netbox", "~> 3.9"), ("cloudflare/cloudflare", "~> 4.40")
    edited = (
        replace(netbox, version="3.10.0", hashes_of="3.9.1"),
        replace(_CLOUDFLARE, unpacked=(*LINUX, "darwin_arm64")),
    )
    extension = sample_entry("corp/vault-ext", "2.3.0", "~> 2.3")
    vault = replace(sample_entry("hashicorp/vault", "4.6.0", "~> 4.6"), unpacked=PLATFORMS[:4])
    secrets = ("corp/vault-ext", "~> 2.3"), ("hashicorp/vault", "~> 4.6")
    lost = _with_foreign_package(extension), replace(vault, unpacked=LINUX)
    return (
        SampleRoot(
            "infra/prod/data",
            _state((demo, postgresql, _GOOGLE), *data, ("hashicorp/google", ">= 5.0"), main=sql),
            _state(again, *data, ("hashicorp/google", "~> 6.14"), main=sql),
        ),
        SampleRoot("infra/prod/dns", _state((netbox, _CLOUDFLARE), *dns), _state(edited, *dns)),
        SampleRoot("infra/prod/secrets", _state((extension, vault), *secrets), _state(lost, *secrets)),
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
    kubernetes = ("hashicorp/kubernetes", "~> 2.36")
    half, preview = (helm, replace(_KUBERNETES, packed=PLATFORMS[2:4])), helm.at("3.0.0-pre2", "3.0.0-pre2")
    sync = sample_entry("corp/search-sync", "1.8.0", "~> 1.8")
    elastic = sample_entry("elastic/ec", "0.12.2", "~> 0.12")
    both = ("corp/search-sync", "~> 1.8"), ("elastic/ec", "~> 0.12")
    found = _state((sync, elastic), *both)
    fastly = sample_entry("fastly/fastly", "5.15.0", "~> 5.15"), _AWS.at("5.84.0", "~> 5.80")
    www = 'resource "fastly_service_vcl" "www" {\n  name = "www"\n}\n'
    return (
        SampleRoot(
            "infra/prod/cluster",
            _state(half, ("hashicorp/helm", "~> 2.17"), kubernetes, main=ingress),
            _state((preview, _KUBERNETES), ("hashicorp/helm", "3.0.0-pre2"), kubernetes, main=ingress),
        ),
        SampleRoot(
            "infra/prod/search",
            _state((elastic,), ("elastic/ec", "~> 0.12")),
            _state((replace(sync, edition="second build"), elastic), *both),
        ),
        SampleRoot("infra/stage/search", found, found),
        SampleRoot(
            "infra/prod/cdn", None, _state(fastly, ("fastly/fastly", "~> 5.15"), ("hashicorp/aws", "~> 5.80"), main=www)
        ),
    )


def _stage() -> tuple[SampleRoot, ...]:
    google, pair = lock_file(_GOOGLE), ("hashicorp/google", ">= 5.0")
    widened = _AWS.at(_AWS.version, ">= 5.0.0, >= 5.40.0, < 7.0.0"), _RANDOM
    archive, kubernetes = sample_entry("hashicorp/archive", "2.7.0", "~> 2.7"), ("hashicorp/kubernetes", "~> 2.36")
    grafana = sample_entry("grafana/grafana", "2.19.4", "~> 2.19")
    confluent = sample_entry("confluentinc/confluent", "2.13.0", "~> 2.13")
    queue = _state((replace(confluent, packed=PLATFORMS[2:], unpacked=()),), ("confluentinc/confluent", "~> 2.13"))
    zone, override = ("cloudflare/cloudflare", "~> 5.0"), requires(("cloudflare/cloudflare", "~> 4.40"))
    override = f"# Until the zone is migrated.\n{override}"
    aws = ("hashicorp/aws", "~> 5.80")
    base, ours, theirs = (
        sample_entry("hashicorp/aws", version, "~> 5.80") for version in ("5.82.2", "5.84.0", "5.86.1")
    )
    return (
        SampleRoot(
            "infra/stage/network",
            _state((_AWS, _RANDOM), ("hashicorp/aws", "~> 5.0"), main=_NETWORK),
            _state(widened, ("hashicorp/aws", ">= 5.0, < 7.0"), main=_NETWORK),
        ),
        SampleRoot("infra/stage/data", _state(google, pair), _state(google.replace(b"\n", b"\r\n"), pair)),
        SampleRoot(
            "infra/stage/cluster",
            _state((archive, _KUBERNETES), ("hashicorp/archive", "~> 2.7"), kubernetes),
            _state((archive, _KUBERNETES), kubernetes),
        ),
        SampleRoot(
            "infra/stage/monitoring",
            _state((grafana,), ("grafana/grafana", "~> 2.19")),
            _state((grafana,), ("grafana/grafana", "~> 3.18"), ("pagerduty/pagerduty", "~> 3.16")),
        ),
        SampleRoot(
            "infra/stage/dns",
            _state((_CLOUDFLARE,), zone, override=override),
            _state((_CLOUDFLARE.at("4.52.0"),), zone, override=override),
        ),
        SampleRoot("infra/stage/registry", _state((base,), aws), _state(_conflict(ours, theirs), aws)),
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
    edge_pairs = ("cloudflare/cloudflare", "~> 4.40"), ("hashicorp/random", "~> 3.6")
    backup, backup_pair = replace(sample_entry("corp/backup", "0.9.0", "~> 0.9"), packed=()), ("corp/backup", "~> 0.9")
    http, http_pair = sample_entry("hashicorp/http", "3.4.5", "~> 3.4"), ("hashicorp/http", "~> 3.4")
    strange = (
        zh(http.provider, http.version, "freebsd_amd64")[:-9],
        "h2:" + h1(http.provider, http.version, "linux_amd64")[3:],
    )
    local, local_pair = sample_entry("hashicorp/local", "2.5.1", "~> 2.5"), ("hashicorp/local", "~> 2.5")
    note = 'resource "local_file" "note" {\n  filename = "note'
    ftp = sample_entry("hashicorp/aws", "3.76.1", "~> 3.0"), sample_entry("hashicorp/template", "2.2.0", "~> 2.2")
    return (
        SampleRoot("infra/edge", _state(edge, *edge_pairs), _state(lock_file(*moved, dialect=OPENTOFU), *edge_pairs)),
        SampleRoot("infra/tools/backup", _state((backup,), backup_pair), _state((backup.at("0.9.2"),), backup_pair)),
        SampleRoot("infra/tools/runner", _state((http,), http_pair), _state((replace(http, more=strange),), http_pair)),
        SampleRoot(
            "infra/tools/sandbox",
            _state((local,), local_pair, main=f'{note}"\n}}\n'),
            _state((local.at("2.5.2"),), local_pair, main=f"{note}\n  content  = \n"),
        ),
        SampleRoot(
            "infra/legacy/ftp", _state(ftp, ("hashicorp/aws", "~> 3.0"), ("hashicorp/template", "~> 2.2")), None
        ),
    )


def _team(number: str) -> SampleRoot:
    constraint = "~> 5.84" if number == "03" else "~> 5.80"
    aws = sample_entry("hashicorp/aws", "5.84.0", f">= 5.60.0, {constraint}")
    if number == "07":
        aws = replace(aws, unpacked=("darwin_arm64",))
    old, new = (
        _state((each,), ("hashicorp/aws", constraint), main=calls("team", "../../../modules/team"))
        for each in (aws, aws.at("5.86.1"))
    )
    return SampleRoot(f"infra/teams/{number}", old, new)


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
