"""What a case of the conformance suite is: values alone. `laying` puts one on disk, `running` lets a tool at it.

A case is written once for both tools. Its texts (files, paths, arguments, environment) may hold these marks:

| mark | stands for |
|---|---|
| `@HOST@` | the tool's default registry |
| `@OTHER@` | the other tool's default registry |
| `@COMMAND@` | `terraform` or `tofu` |
| `@PORT@` | the port of the case's registry, where that is `localhost:@PORT@` with TLS |
| `@MIRROR@` | the base URL of the case's network mirror, with TLS: it serves the files in `@WORK@/served` |
| `@OCI@` | the case's OCI registry, with TLS |
| `@WORK@` | the absolute folder that the case's files are in |
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from locklens.demo.faults import FaultRule
from locklens.demo.published import SampleListing

HERE = "linux_amd64"
"""The platform that golden files are recorded on."""

PLATFORMS = ("darwin_arm64", HERE, "windows_amd64")
"""What a version of a case's catalogue is built for, unless it is an `Offer`."""

LOCK_FILE = ".terraform.lock.hcl"


class Tool(Struct, frozen=True):
    """A tool whose behaviour was recorded.

    Attributes:
        name: As `--tool` has it.
        command: The executable.
        version: Of the executable that golden files are recorded from.
        host: Its default registry.
        other_host: The other tool's.
    """

    name: str
    command: str
    version: str
    host: str
    other_host: str


TERRAFORM = Tool("terraform", "terraform", "1.11.4", "registry.terraform.io", "registry.opentofu.org")
OPENTOFU = Tool("opentofu", "tofu", "1.12.6", "registry.opentofu.org", "registry.terraform.io")
TOOLS = {tool.name: tool for tool in (TERRAFORM, OPENTOFU)}


class Theme(StrEnum):
    """What a case is about."""

    CONSTRAINTS = "constraints"
    MODULES = "modules"
    OVERRIDES = "overrides"
    JSON = "json"
    TEST_FILES = "test-files"
    NEWEST = "newest-language"
    REQUIREMENTS = "requirements"
    STATE = "state"
    UPGRADE = "upgrade"
    READONLY = "readonly"
    PRIOR_HASHES = "prior-hashes"
    LOCKING = "locking"
    HOSTS = "hosts"
    CREDENTIALS = "credentials"
    ORPHANS = "orphans"
    PLATFORMS = "platforms"
    PROTOCOLS = "protocols"
    AUTHENTICATION = "authentication"
    BROKEN_LOCK = "broken-lock"
    MANIFEST = "manifest"
    FLAKY = "flaky"
    INSTALLED = "installed"
    PLACES = "places"
    BUILT_IN = "built-in"
    LEGACY = "legacy"
    MIGRATION = "migration"
    ODD_PACKAGES = "odd-packages"
    CLI_CONFIGURATION = "cli-configuration"
    FILESYSTEM_MIRROR = "filesystem-mirror"
    NETWORK_MIRROR = "network-mirror"
    OCI_MIRROR = "oci-mirror"
    SEVERAL_SOURCES = "several-sources"
    PLUGIN_CACHE = "plugin-cache"


class Deviation(StrEnum):
    """Where locklens is better on purpose, or not there yet; "" means that it must do what the tool did."""

    NONE = ""
    ODD_SUMS = "a blank or odd line in SHA256SUMS is skipped and named; the other lines count"
    TAMPERED_FOLDER = "a tampered package folder is replaced as a whole and never enters the lock"
    REPUBLISHED = "lock refuses a republished package"
    STRICT_READONLY = "readonly exits 1 also where only hashes would change"
    KEEPS_CRLF = "a lock file with CRLF keeps them"
    NO_REGISTRY_NEEDED = "a complete lock with installed packages needs no registry"
    REQUIRED_VERSION = "required_version is not judged"
    UNJUDGED = "what says nothing of providers, modules or the state is not judged"
    LOCAL_MODULES = "local modules are read without modules.json"
    SAFE_ZIP = "nothing of a refused package stays on disk, and a zip carries no link or name out"
    REGISTRY_HASHES = (
        "an `h1` that a registry reports is compared with the package, where OpenTofu locks it as it comes"
    )
    MIRROR_HASHES = "with trust_all_hashes a package needs a hash of its own platform"
    ZH_ONLY_CACHE = "a cached package that no locked hash can be compared with is fetched, where Terraform refuses it"
    NEWER = "what only a newer release of the tool reads"


class Entry(Struct, frozen=True):
    """A provider in a lock file that is there before.

    Attributes:
        source: [HOST/]NAMESPACE/TYPE.
        version: Locked.
        constraints: As written, "" for none.
        h1: Platforms whose `h1` is recorded.
        zh: Platforms whose `zh` is recorded; with any, the registry manifest's is too.
        edition: Which publication the hashes are of.
        of: The version that the hashes are of; "" for the locked one.
        more: Further hashes.
    """

    source: str
    version: str
    constraints: str = ""
    h1: tuple[str, ...] = (HERE,)
    zh: tuple[str, ...] = PLATFORMS
    edition: str = ""
    of: str = ""
    more: tuple[str, ...] = ()


class Lock(Struct, frozen=True):
    """A lock file as the tool would have written it, then edited.

    Attributes:
        entries: In any order.
        edits: (text, what takes its place), each found exactly once; marks are already replaced.
        newline: What ends a line.
        before: What stands before everything.
    """

    entries: tuple[Entry, ...] = ()
    edits: tuple[tuple[str, str], ...] = ()
    newline: str = "\n"
    before: str = ""


class Unpacked(Struct, frozen=True):
    """A folder with what is in a package. Files that follow in the same case may change it."""

    source: str
    version: str
    platform: str = HERE
    edition: str = ""


class Packed(Struct, frozen=True):
    """A package's zip file."""

    source: str
    version: str
    platform: str = HERE
    edition: str = ""


class Archives(Struct, frozen=True):
    """The document of one version in a network mirror.

    Attributes:
        source: [HOST/]NAMESPACE/TYPE.
        version: Of the packages.
        platforms: Those that are listed.
        schemes: Of the hashes of each package that are listed.
        more: Further hashes of each package.
        url: Of each package; `PLATFORM` stands for its platform. "" for the usual file name.
    """

    source: str
    version: str
    platforms: tuple[str, ...] = PLATFORMS
    schemes: tuple[str, ...] = ("h1", "zh")
    more: tuple[str, ...] = ()
    url: str = ""


class Artifact(Struct, frozen=True):
    """A provider's version in the OCI registry.

    Attributes:
        source: NAMESPACE/TYPE of the packages.
        version: Of the packages.
        platforms: Those that the index lists.
        edition: Which publication the packages are of.
        tag: "" for the version with `_` for `+`.
        repository: "" for `m/@HOST@/NAMESPACE/TYPE`.
        index: (text, what takes its place) in the index manifest.
        image: The same in each platform's manifest.
        media_type: Of the index, where it is another.
    """

    source: str
    version: str
    platforms: tuple[str, ...] = PLATFORMS
    edition: str = ""
    tag: str = ""
    repository: str = ""
    index: tuple[tuple[str, str], ...] = ()
    image: tuple[tuple[str, str], ...] = ()
    media_type: str = ""


class Link(Struct, frozen=True):
    """A symbolic link."""

    target: str


Content = str | bytes | Lock | Unpacked | Packed | Archives | Link | None
"""What is at a path; None where what is there is removed."""

Files = dict[str, Content]

Catalog = dict[str, tuple[str | SampleListing, ...]]
"""What the registry offers, by [HOST/]NAMESPACE/TYPE."""

STOCK: Catalog = {
    "acme/demo": ("1.0.0", "1.0.1", "1.1.0", "1.2.0", "2.0.0-beta1", "2.0.0", "3.0.0-rc.1"),
    "acme/other": ("0.9.0", "1.0.0", "1.1.0"),
    "acme/third": ("1.0.0", "1.1.0"),
    "corp/demo": ("1.0.0", "1.5.0"),
    "hashicorp/null": ("3.1.0", "3.2.0"),
    "hashicorp/random": ("3.5.0", "3.6.0"),
    "hashicorp/time": ("0.11.0", "0.12.0"),
}


class Turn(Struct, frozen=True):
    """One command, and what is done before it.

    Attributes:
        words: After the executable, in the tools' spelling.
        files: Written or removed before.
        faults: What goes wrong from now on; None for no change.
    """

    words: tuple[str, ...]
    files: Files = field(default_factory=dict)
    faults: tuple[FaultRule, ...] | None = None


def init(*flags: str, files: Files | None = None, faults: tuple[FaultRule, ...] | None = None) -> Turn:
    """A turn of `init`."""
    return Turn(("init", *flags), files or {}, faults)


def lock(*arguments: str, files: Files | None = None, faults: tuple[FaultRule, ...] | None = None) -> Turn:
    """A turn of `providers lock`."""
    return Turn(("providers", "lock", *arguments), files or {}, faults)


class Case(Struct, frozen=True, kw_only=True):
    """A situation, what is done in it, and what is known of how locklens differs there.

    Attributes:
        theme: What it is about.
        name: Its own within the theme.
        files: What is there at the start, by path.
        turns: Commands, one after the other.
        catalog: What the registry offers.
        faults: What goes wrong with it at the start.
        environment: Further variables.
        cli: Added to the CLI configuration.
        tokens: What hosts want to be sent.
        warnings: What the registry says beside a provider's versions.
        oci: What the OCI registry has.
        oci_answers: What it answers instead, by path below `/v2/`: status and code of an error.
        tls: Whether the registry is `localhost:@PORT@` with TLS beside being every other host.
        tells_packages: Whether OpenTofu's registry tells all hashes.
        reported: Versions by [HOST/]NAMESPACE/TYPE of which another registry tells all hashes too.
        folder: Where the tool is started.
        root: Where the lock file is.
        data: The data folder.
        cache: The plugin cache, whose packages are observed too; "" for none.
        deviation: Where locklens is better on purpose.
        tools: Names of those that it makes sense for.
    """

    theme: Theme
    name: str
    files: Files
    turns: tuple[Turn, ...] = (Turn(("init",)),)
    catalog: Catalog = field(default_factory=lambda: STOCK)
    faults: tuple[FaultRule, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    cli: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    oci: tuple[Artifact, ...] = ()
    oci_answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    tls: bool = False
    tells_packages: bool = False
    reported: dict[str, str] = field(default_factory=dict)
    folder: str = "."
    root: str = "."
    data: str = ".terraform"
    cache: str = ""
    deviation: Deviation = Deviation.NONE
    tools: tuple[str, ...] = tuple(TOOLS)

    @property
    def key(self) -> str:
        """Names it among all."""
        return f"{self.theme}/{self.name}"


def requires(*providers: tuple[str, str]) -> str:
    """Returns a terraform block that requires (source, constraint); "" is no constraint. The local name is the type."""
    lines = ["terraform {", "  required_providers {"]
    for source, constraint in providers:
        lines += [f"    {source.rpartition('/')[2]} = {{", f'      source  = "{source}"']
        lines += [f'      version = "{constraint}"'] if constraint else []
        lines += ["    }"]
    return "\n".join((*lines, "  }", "}", ""))


def calls(name: str, source: str) -> str:
    """Returns a module block."""
    return f'module "{name}" {{\n  source = "{source}"\n}}\n'
