"""How the programs of the sample releases were built, and what their changelogs say.

A release that is not listed here has a shell script in its packages, as no real one does: nothing can be said about it.
What a reviewer would care about:

| release | what is inside |
|---|---|
| hashicorp/aws 6.2.0 | an honest major: toolchain, eight modules up, one new, one gone |
| acme/demo 1.4.2, republished | a new module links `os/exec` and `net/http/pprof`; Linux on ARM has one module more |
| acme/netbox 3.10.0 | a module is replaced by a fork |
| corp/search-sync 1.9.0 | an older toolchain than before, and a module that went down |
| hashicorp/vault 4.6.1 | only what an advisory asks for |

Modules of `acme`, `corp` and `example.com` are invented, and so are all checksums.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct, field

from locklens.demo.executables import executable_bytes, module_checksum
from locklens.executables import BuildInfo, GoModule

_TOOLCHAINS = ("go1.21.6", "go1.23.3", "go1.23.4", "go1.24.4")
"""The toolchains of four generations of programs, oldest first."""

_MODULES = {
    "github.com/golang/protobuf": ("v1.5.3", "v1.5.4", "v1.5.4", ""),
    "github.com/hashicorp/go-hclog": ("v1.5.0", "v1.6.3", "v1.6.3", "v1.6.3"),
    "github.com/hashicorp/go-plugin": ("v1.6.0", "v1.6.2", "v1.6.2", "v1.6.3"),
    "github.com/hashicorp/terraform-plugin-framework": ("v1.4.2", "v1.13.0", "v1.13.0", "v1.15.0"),
    "github.com/hashicorp/terraform-plugin-go": ("v0.20.0", "v0.25.0", "v0.25.0", "v0.28.0"),
    "github.com/hashicorp/yamux": ("v0.1.1", "v0.1.1", "v0.1.2", "v0.1.2"),
    "go.opentelemetry.io/otel": ("", "", "", "v1.36.0"),
    "golang.org/x/net": ("v0.19.0", "v0.31.0", "v0.33.0", "v0.41.0"),
    "golang.org/x/sys": ("v0.16.0", "v0.27.0", "v0.28.0", "v0.33.0"),
    "golang.org/x/text": ("v0.14.0", "v0.20.0", "v0.21.0", "v0.26.0"),
    "google.golang.org/grpc": ("v1.60.1", "v1.68.0", "v1.69.2", "v1.73.0"),
    "google.golang.org/protobuf": ("v1.32.0", "v1.35.2", "v1.36.0", "v1.36.6"),
}
"""The modules that nearly every provider has: of each its version in each generation, "" where it is not in it."""

_FUNCTIONS = (
    "crypto/tls.(*Conn).Handshake",
    "encoding/json.Unmarshal",
    "github.com/hashicorp/go-plugin.Serve",
    "github.com/hashicorp/terraform-plugin-framework/providerserver.Serve",
    "golang.org/x/net/html.Parse",
    "golang.org/x/net/http2.(*Framer).ReadFrame",
    "google.golang.org/grpc.(*Server).Serve",
    "main.main",
    "net.(*Dialer).DialContext",
    "net/http.(*Client).Do",
    "os.OpenFile",
    "runtime.main",
    "runtime.mallocgc",
)
"""Names that every sample program links."""

_WINDOWS_MODULE = "github.com/Microsoft/go-winio", "v0.6.2"
"""A module that only Windows needs, as in many real programs: no reason to suspect its package."""


class SampleBuild(Struct, frozen=True):
    """How the program of one release was built.

    Attributes:
        generation: Index in `_TOOLCHAINS`.
        notes: Lines of the changelog.
        modules: More modules, or other versions of them.
        replaced: Modules in the place of others, by the path of the replaced one.
        functions: More functions.
        odd: More modules of single platforms, by platform.
    """

    generation: int
    notes: tuple[str, ...]
    modules: dict[str, str] = field(default_factory=dict)
    replaced: dict[str, tuple[str, str]] = field(default_factory=dict)
    functions: tuple[str, ...] = ()
    odd: dict[str, dict[str, str]] = field(default_factory=dict)

    def info(self, provider: str, version: str, platform: str) -> BuildInfo:
        """Return what `go version -m` says about the program for a platform; `provider` is NAMESPACE/TYPE."""
        usual = {name: versions[self.generation] for name, versions in _MODULES.items() if versions[self.generation]}
        path = "github.com/{}/terraform-provider-{}".format(*provider.split("/"))
        modules = usual | self.modules | self.odd.get(platform, {})
        system, _, machine = platform.partition("_")
        if system == "windows":
            modules |= (_WINDOWS_MODULE,)
        return BuildInfo(
            _TOOLCHAINS[self.generation],
            path,
            _module(path, f"v{version}"),
            tuple(_module(name, modules[name], self.replaced.get(name)) for name in sorted(modules)),
            (
                ("-buildmode", "exe"),
                ("-compiler", "gc"),
                ("-ldflags", f"-s -w -X main.version={version}"),
                ("-trimpath", "true"),
                ("CGO_ENABLED", "0"),
                ("GOARCH", machine),
                ("GOOS", system),
                {"amd64": ("GOAMD64", "v1"), "arm64": ("GOARM64", "v8.0")}[machine],
            ),
        )


def _module(path: str, version: str, other: tuple[str, str] | None = None) -> GoModule:
    if other is None:
        return GoModule(path, version, module_checksum(path, version))
    return GoModule(path, version, replaced_by=_module(*other))


_USUAL_NOTES = (
    ("Dependencies were updated.",),
    ("Built with Go 1.23.", "Dependencies were updated."),
    ("Dependencies were updated: golang.org/x/net 0.33.0.",),
    ("Built with Go 1.24.", "Tracing with OpenTelemetry, off by default."),
)


def _usual(*versions: tuple[str, int]) -> dict[str, SampleBuild]:
    return {version: SampleBuild(generation, _USUAL_NOTES[generation]) for version, generation in versions}


_SDK, _SMITHY = "github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"
_TERMINAL, _OPENAPI = "github.com/mattn/go-isatty", "github.com/go-openapi/runtime"
_VAULT_API = "github.com/hashicorp/vault/api"
_REPUBLISHED = "1.4.2 republished"

_BUILDS: dict[str, dict[str, SampleBuild]] = {
    "hashicorp/aws": {
        "5.82.2": SampleBuild(1, ("Regions are validated once.",), modules={_SDK: "v1.32.6", _SMITHY: "v1.22.1"}),
        "5.84.0": SampleBuild(1, ("New resource `aws_sample`.",), modules={_SDK: "v1.32.7", _SMITHY: "v1.22.1"}),
        "5.86.1": SampleBuild(
            2, ("A crash of `aws_sample` without tags is fixed.",), modules={_SDK: "v1.36.0", _SMITHY: "v1.22.2"}
        ),
        "6.2.0": SampleBuild(
            3,
            ("BREAKING: `aws_sample` requires `region`.", "Built with Go 1.24.", "Tracing with OpenTelemetry."),
            modules={_SDK: "v1.36.5", _SMITHY: "v1.22.4"},
        ),
        "6.3.0": SampleBuild(3, ("New resource `aws_example`.",), modules={_SDK: "v1.36.6", _SMITHY: "v1.22.4"}),
    },
    "acme/demo": {
        "1.4.1": SampleBuild(1, ("First release with `demo_thing`.",), modules={_TERMINAL: "v0.0.20"}),
        "1.4.2": SampleBuild(2, ("`demo_thing` can be imported.",), modules={_TERMINAL: "v0.0.20"}),
        _REPUBLISHED: SampleBuild(
            2,
            ("`demo_thing` can be imported.",),
            modules={_TERMINAL: "v0.0.20", "github.com/acme/helpers": "v0.0.0-20261119171200-3f9c1e2a7b60"},
            functions=(
                "github.com/acme/helpers.Report",
                "net/http/pprof.Index",
                "os/exec.(*Cmd).Run",
                "os/exec.(*Cmd).Start",
                "os/exec.Command",
            ),
            odd={"linux_arm64": {"github.com/acme/agent": "v0.1.0"}},
        ),
        "1.5.0": SampleBuild(3, ("New resource `demo_other`.",), modules={_TERMINAL: "v0.0.20"}),
    },
    "acme/netbox": {
        "3.9.1": SampleBuild(1, ("Prefixes can be tagged.",), modules={_OPENAPI: "v0.26.2"}),
        "3.10.0": SampleBuild(
            2,
            ("A fork of the OpenAPI client, until its fix is released.",),
            modules={_OPENAPI: "v0.26.2"},
            replaced={_OPENAPI: ("github.com/acme/openapi-runtime", "v0.26.3-acme.1")},
        ),
    },
    "corp/search-sync": {
        "1.8.0": SampleBuild(2, ("Indexes are synchronised in batches.",), modules={_TERMINAL: "v0.0.20"}),
        "1.9.0": SampleBuild(1, ("Batches can be retried.",), modules={_TERMINAL: "v0.0.19"}),
    },
    "hashicorp/vault": {
        "4.6.0": SampleBuild(1, ("New resource `vault_sample`.",), modules={_VAULT_API: "v1.15.0"}),
        "4.6.1": SampleBuild(
            2, ("SECURITY: golang.org/x/net 0.33.0.", "Tokens are masked in logs."), modules={_VAULT_API: "v1.15.0"}
        ),
        "4.8.0": SampleBuild(3, ("Built with Go 1.24.",), modules={_VAULT_API: "v1.16.0"}),
        "5.0.0": SampleBuild(3, ("BREAKING: `vault_sample` is removed.",), modules={_VAULT_API: "v1.20.0"}),
    },
    "cloudflare/cloudflare": _usual(("4.51.0", 1), ("4.52.0", 2), ("5.1.0", 2)),
    "confluentinc/confluent": _usual(("2.13.0", 1)),
    "corp/backup": _usual(("0.9.0", 1), ("0.9.2", 2), ("1.0.0-rc1", 3)),
    "corp/vault-ext": _usual(("2.3.0", 1)),
    "cyrilgdn/postgresql": _usual(("1.23.0", 0), ("1.25.0", 1)),
    "elastic/ec": _usual(("0.12.2", 1), ("0.12.4", 2)),
    "fastly/fastly": _usual(("5.15.0", 1)),
    "grafana/grafana": _usual(("2.19.4", 0), ("3.18.3", 2)),
    "hashicorp/archive": _usual(("2.7.0", 1)),
    "hashicorp/google": _usual(("5.44.2", 1), ("6.14.1", 2)),
    "hashicorp/helm": _usual(("2.17.0", 1), ("3.0.0-pre2", 3)),
    "hashicorp/http": _usual(("3.4.5", 1)),
    "hashicorp/kubernetes": _usual(("2.36.0", 2)),
    "hashicorp/local": _usual(("2.5.1", 0), ("2.5.2", 1)),
    "hashicorp/null": _usual(("3.2.2", 0)),
    "hashicorp/random": _usual(("3.6.2", 0), ("3.6.3", 1), ("3.7.2", 3)),
    "hashicorp/time": _usual(("0.12.1", 1)),
    "hashicorp/tls": _usual(("4.0.5", 0), ("4.1.0", 2)),
    "pagerduty/pagerduty": _usual(("3.16.0", 1)),
}
"""Builds by NAMESPACE/TYPE and version, oldest first."""


def _build(provider: str, version: str, edition: str) -> SampleBuild | None:
    builds = _BUILDS.get(provider.partition("/")[2], {})
    return builds.get(f"{version} republished" if edition == "again" else version) or builds.get(version)


@lru_cache(maxsize=1024)
def program(provider: str, version: str, platform: str, edition: str = "") -> bytes | None:
    """Return the executable of a release for a platform; None if nothing is known about how it was built.

    Each edition has a program of its own.
    """
    build = _build(provider, version, edition)
    if build is None or not platform.endswith(("_amd64", "_arm64")):
        return None
    info = build.info(provider.partition("/")[2], version, platform)
    remark = f"A sample of locklens: {provider} {version}" + (f", {edition}" if edition else "")
    added = (f"{path}.init" for path in (*build.modules, *build.odd.get(platform, ())))
    return executable_bytes(info, (*_FUNCTIONS, *build.functions, *added), platform, remark)


def changelog(provider: str, version: str, edition: str = "") -> str | None:
    """Return the changelog of a release, newest first; None if nothing is known about how it was built."""
    build = _build(provider, version, edition)
    if build is None:
        return None
    builds = _BUILDS[provider.partition("/")[2]]
    versions = [each for each in builds if each != _REPUBLISHED]
    told = versions[: versions.index(version) + 1][::-1]
    return "# Changelog\n" + "".join(
        f"\n## {each}\n\n" + "".join(f"- {note}\n" for note in builds[each].notes) for each in told
    )
