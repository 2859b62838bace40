"""The sample repositories: one with changes to review, and one for each cause that `locklens doctor` tests.

`locklens.demo.cases` lists the contents of the first: one commit, and uncommitted changes. An incident is a small
repository with a history, the faults of its registry, copies of packages on disk, and the log of a failed run. The
messages are the tools' own; `tests/data/doctor` has recorded ones.
"""

from __future__ import annotations

import os
from hashlib import sha256
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.demo import PLATFORMS, lock_file, write_unpacked, zh
from locklens.demo.cases import MODULES, OPENTOFU_HOST, TERRAFORM_HOST, UNLOCKED, cases, requires, sample_entry
from locklens.demo.faults import Fault, FaultRule
from locklens.errors import ConfigurationError
from locklens.policy import POLICY_FILE
from locklens.project import LOCK_FILE
from locklens.project.git.process import GitCommand, find_git, git_environment
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locklens.demo.cases import SampleState

_AUTHOR = ("Robin Example", "robin@example.com", "2026-11-02T09:00:00+00:00")
_README = """# infra

A sample repository of locklens: the work tree differs from the last commit in every way that lock files can.
Run `locklens review` here.
"""
_POLICY = """# Minimum age of a release, in days.
cooldown = 7

# The least Go that a provider may be built with.
toolchain = "1.22"

# Required platforms, each with the reason.
[platforms]
linux_amd64 = "CI, production"
darwin_arm64 = "laptops"
windows_amd64 = "two laptops"
"""
_TOP = {
    "README.md": _README,
    POLICY_FILE: _POLICY,
    ".gitignore": ".terraform/\n",
    # One sample is about line ends: a checkout must keep those that were written.
    ".gitattributes": "* -text\n",
}


def make_repository(folder: Path) -> Path:
    """Write the sample repository into a folder, created for it and returned; the commit id is always the same.

    No configuration, template or hook of the user takes part.

    Raises:
        ConfigurationError: The folder is not empty, or cannot be written.
        RepositoryError: git is missing or failed.
    """
    old, new = _shared_files(), _shared_files()
    for case in cases():
        old |= _files(case.old_path or case.path, case.old)
        new |= _files(case.path, case.new)
    commit_files(folder, [("Infrastructure as it was on Monday", old)])
    try:
        _remove(folder, old.keys() - new.keys())
        _write(folder, {path: data for path, data in new.items() if old.get(path) != data})
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def commit_files(folder: Path, commits: Sequence[tuple[str, dict[str, bytes]]]) -> None:
    """Make a repository of commits in a new folder; each has a message and files that are written over those before.

    Raises:
        ConfigurationError: The folder is not empty, or cannot be written.
        RepositoryError: git is missing or failed.
    """
    git = find_git()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigurationError("the folder is not empty", path=str(folder))
        command = GitCommand(git, os.fspath(folder), _environment(os.fspath(folder)))
        command.answer("init", "--quiet", "--initial-branch=main", "--template=", "--object-format=sha1")
        for message, files in commits:
            _write(folder, files)
            command.answer("add", "--all")
            command.answer("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message", message)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"cannot be written: {reason_of(error)}", path=str(folder))


def _shared_files() -> dict[str, bytes]:
    return {path: text.encode() for path, text in (_TOP | MODULES | UNLOCKED).items()}


def _files(root: str, state: SampleState | None) -> dict[str, bytes]:
    if state is None:
        return {}
    files = {f"{root}/{name}": text.encode() for name, text in state.files.items()}
    return {**files, f"{root}/{LOCK_FILE}": state.lock}


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _remove(folder: Path, paths: set[str]) -> None:
    for path in paths:
        place = folder / path
        place.unlink()
        if not any(place.parent.iterdir()):
            place.parent.rmdir()


def _environment(folder: str) -> dict[str, str]:
    """Return an environment in which git sees neither another repository nor any user's configuration."""
    environment = {name: value for name, value in git_environment(folder).items() if not name.startswith("GIT_")}
    name, address, date = _AUTHOR
    return environment | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.abspath(folder)),  # noqa: PTH100, PTH120
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": address,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": address,
        "GIT_COMMITTER_DATE": date,
    }


_ROOT = "live/prod"
_DEMO = sample_entry("acme/demo", "1.4.2", "~> 1.4")
_NETBOX = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
_ACME_DEMO = _DEMO.provider
_LINUX = "linux_amd64"
_NAME = "registry.terraform.io/acme/demo 1.4.2"


class SampleCopy(Struct, frozen=True):
    """An unpacked copy of a package below a folder of the incident; the genuine one if `edition` is ""."""

    folder: str
    provider: str
    version: str
    platform: str = _LINUX
    edition: str = ""


class SampleIncident(Struct, frozen=True):
    """An incident.

    Attributes:
        cause: Id of the cause that a diagnosis names first.
        message: The error's title and its paragraphs.
        locks: The lock files of the root's commits, the oldest first; the last one is in the work tree.
        constraints: Source and constraint of each provider in the configuration.
        copies: Package copies left on disk.
        variables: Environment variables; FOLDER in a value stands for the incident's folder.
        also: Ids of further causes that are named.
    """

    cause: str
    message: tuple[str, ...]
    locks: tuple[bytes, ...]
    constraints: tuple[tuple[str, str], ...] = (("acme/demo", "~> 1.4"),)
    rules: tuple[FaultRule, ...] = ()
    copies: tuple[SampleCopy, ...] = ()
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    also: tuple[str, ...] = ()


def boxed_log(*messages: tuple[str, ...]) -> str:
    """Return the log of a run as the tools print it on a terminal: wrapped, in boxes."""
    lines = ["Terraform v1.11.4", f"on {_LINUX}", "", "Initializing provider plugins..."]
    for title, *paragraphs in messages:
        lines += ["╷", f"│ Error: {title}", "│ "]
        for number, paragraph in enumerate(paragraphs):
            lines += ["│ "] if number else []
            lines += [f"│ {line}" for line in wrap(paragraph, 76, break_on_hyphens=False, break_long_words=False)]
        lines.append("╵")
    return "\n".join((*lines, ""))


def _failed(reason: str, provider: str = "acme/demo", version: str = "1.4.2") -> tuple[str, ...]:
    return "Failed to install provider", f"Error while installing {provider} v{version}: {reason}"


def _mismatch(which: str, name: str = _NAME) -> str:
    why = "(this might be because the available checksums are for packages targeting different platforms)"
    return (
        f"the {which} package for {name} doesn't match any of the checksums previously recorded in the dependency "
        f"lock file{f' {why}' if which == 'local' else ''}; for more information: https://developer.hashicorp.com/terraform/language/files/dependency-lock"
    )


def _query(reason: str, provider: str = "acme/demo") -> tuple[str, ...]:
    words = f"Could not retrieve the list of available versions for provider {provider}: {reason}"
    return "Failed to query available provider packages", words


def _not_installed(item: str) -> tuple[str, ...]:
    words = "The installed provider plugins are not consistent with the packages selected in the dependency lock file:"
    return "Required plugins are not installed", words, f"- registry.terraform.io/acme/demo: {item}"


def _inconsistent(*items: str) -> tuple[str, ...]:
    words = "The following dependency selections recorded in the lock file are inconsistent with the configuration:"
    return "Inconsistent dependency lock file", words, *(f"- provider registry.terraform.io/{item}" for item in items)


_CACHED = (
    f"the cached package for {_NAME} (in .terraform/providers) does not match any of the checksums recorded in the "
    "dependency lock file"
)
_COPIED = (
    "Error while importing acme/demo v1.4.2 from the shared cache directory: the provider cache at .terraform/providers"
    f" has a copy of {_NAME} that doesn't match any of the checksums recorded in the dependency lock file."
)
_SHARED = ("Failed to install provider from shared cache", _COPIED)
_ABSENT = f"there is no package for {_NAME} cached in .terraform/providers"
_NO_MODULE = (
    "Module not installed",
    'This module is not yet installed. Run "terraform init" to install all modules required by this configuration.',
)
_UNLOCKED = "acme/netbox: required by this configuration but no version is selected"
_OUTDATED = 'acme/demo: locked version selection 1.4.2 doesn\'t match the updated version constraints "~> 2.0"'
_VIOLATED = (
    "locked provider registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 2.0; must "
    "use terraform init -upgrade to allow selection of new versions"
)
_READ_ONLY = (
    "Provider dependency changes detected",
    "Changes to the required provider dependencies were detected, but the lock file is read-only.",
)
_NOWHERE = "provider registry.terraform.io/acme/demo was not found in any of the search locations - mirror"
_UNKNOWN = "provider registry registry.terraform.io does not have a provider named registry.terraform.io/acme/dmeo"
_CONFLICT = (
    "failed to read dependency lock file: 2 problems:",
    "- Argument or block definition required: An argument or block definition is required here.",
    '- Missing required argument: The argument "version" is required, but no definition was found.',
)
_INVALID = (
    "failed to read dependency lock file: 2 problems:",
    (
        '- Invalid block definition: A block definition must have block content delimited by "{" and "}", starting on '
        "the same line as the block header."
    ),
    (
        '- Unsupported block type: Blocks of type "constraints" are not expected here. Did you mean to define argument '
        '"constraints"? If so, use the equals sign to assign it a value.'
    ),
)
_SERVER = (
    "could not query provider registry for registry.terraform.io/acme/demo: the request failed after 2 attempts, "
    "please try again later: 500 Internal Server Error returned from registry.terraform.io"
)
_CERTIFICATE = (
    "could not connect to registry.terraform.io: failed to request discovery document: Get "
    "https://registry.terraform.io/.well-known/terraform.json: tls: failed to verify certificate: x509: certificate "
    "signed by unknown authority"
)


def _of_packages() -> tuple[SampleIncident, ...]:
    both = replace(_DEMO, unpacked=("darwin_arm64", _LINUX))
    laptop = replace(_DEMO, unpacked=("darwin_arm64",))
    mac = lock_file(replace(laptop, packed=PLATFORMS[:2]))
    whole = (lock_file(_DEMO),)
    proving, mirror = ("--prove", "changed"), ("--mirror", "mirror")
    altered = SampleCopy("mirror", _ACME_DEMO, "1.4.2", edition="tampered")
    genuine, cached = replace(altered, edition=""), replace(altered, folder="cache")
    installed = replace(altered, folder=f"{_ROOT}/.terraform/providers")
    # Without the second one Terraform 1.4 and later install from the registry, whatever the cache has.
    cache = (("TF_PLUGIN_CACHE_DIR", "FOLDER/cache"), ("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "true"))
    local, current = _failed(_mismatch("local")), _failed(_mismatch("current"))
    history = (lock_file(both), lock_file(laptop))
    return (
        SampleIncident("h1-missing", local, history, options=proving),
        SampleIncident("platform-missing", current, (mac,), options=proving),
        SampleIncident("mirror-differs", local, whole, copies=(altered,), options=(*mirror, *proving)),
        SampleIncident(
            "cache-differs",
            _SHARED,
            whole,
            copies=(cached,),
            options=("--plugin-cache", "cache", *proving),
            variables=cache,
        ),
        SampleIncident(
            "plugin-corrupted",
            _not_installed(_CACHED),
            (lock_file(replace(_DEMO, unpacked=PLATFORMS)),),
            copies=(installed, genuine),
            options=(*mirror, "--package", f"{installed.folder}/{_ACME_DEMO}/1.4.2/{_LINUX}"),
        ),
        SampleIncident("plugin-missing", _not_installed(_ABSENT), whole),
    )


def _of_the_lock_file() -> tuple[SampleIncident, ...]:
    edited = replace(_NETBOX, version="3.10.0", hashes_of="3.9.1")
    random = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    foreign = replace(random, provider=random.provider.replace(TERRAFORM_HOST, OPENTOFU_HOST))
    borrowed = replace(random, unpacked=(), packed=(), more=foreign.hashes())
    whole = lock_file(_DEMO)
    broken = whole.replace(b"constraints = ", b"constraints ", 1)
    by_hand = _failed(_mismatch("current", f"{TERRAFORM_HOST}/acme/netbox 3.10.0"), "acme/netbox", "3.10.0")
    other = _failed(_mismatch("current", f"{TERRAFORM_HOST}/hashicorp/random 3.6.3"), "hashicorp/random", "3.6.3")
    demo, netbox, newer = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"), ("acme/demo", "~> 2.0")
    both = _inconsistent(_UNLOCKED, _OUTDATED)
    return (
        SampleIncident("hand-edit", by_hand, (lock_file(_NETBOX), lock_file(edited)), (netbox,)),
        SampleIncident("bad-merge", _CONFLICT, (whole, _conflict(whole))),
        SampleIncident("lock-syntax", _INVALID, (whole, broken)),
        SampleIncident("other-tool", other, (lock_file(borrowed),), (("hashicorp/random", "~> 3.6"),)),
        SampleIncident("constraint-conflict", _query(_VIOLATED), (whole,), (newer,)),
        SampleIncident("not-locked", _inconsistent(_UNLOCKED), (whole,), (demo, netbox)),
        SampleIncident("not-locked", both, (whole,), (newer, netbox), also=("constraint-conflict",)),
    )


def _conflict(lock: bytes) -> bytes:
    """Return a lock file with the markers of a conflict about the version."""
    head, line, rest = lock.decode().partition('  version     = "1.4.2"\n')
    other = line.replace("1.4.2", "1.5.0")
    return f"{head}<<<<<<< HEAD\n{line}=======\n{other}>>>>>>> other\n{rest}".encode()


def _of_the_registry() -> tuple[SampleIncident, ...]:
    whole = (lock_file(_DEMO),)
    signed, tampered = (zh(_ACME_DEMO, "1.4.2", _LINUX, edition) for edition in ("", "tampered"))
    empty = f"zh:{sha256().hexdigest()}"
    checksum, altered = (
        _failed(f"archive has incorrect checksum {one} (expected {signed})") for one in (empty, tampered)
    )
    proving = ("--prove", "changed")
    expired, revoked = (
        _failed(f"error checking signature: openpgp: signature {words}") for words in ("expired", "made by revoked key")
    )
    issuer = _failed("authentication signature from unknown issuer")
    gone = _query("the previously-selected version 1.4.2 is no longer available")
    refused = _query(f"host {TERRAFORM_HOST} rejected the given authentication credentials")

    def release(fault: Fault) -> tuple[FaultRule, ...]:
        return (FaultRule(fault, _ACME_DEMO, "1.4.2"),)

    def host(fault: Fault) -> tuple[FaultRule, ...]:
        return (FaultRule(fault, TERRAFORM_HOST),)

    return (
        SampleIncident(
            "republished",
            _failed(_mismatch("current")),
            whole,
            rules=release(Fault.REPUBLISHED),
            copies=(SampleCopy(f"{_ROOT}/.terraform/providers", _ACME_DEMO, "1.4.2"),),
            options=proving,
        ),
        SampleIncident("download-damaged", checksum, whole, options=proving),
        SampleIncident("key-expired", expired, whole, rules=release(Fault.EXPIRED_SIGNATURE)),
        SampleIncident("key-revoked", revoked, whole, rules=(FaultRule(Fault.REVOKED_KEY, _ACME_DEMO),)),
        SampleIncident("key-changed", issuer, whole, rules=release(Fault.UNKNOWN_ISSUER)),
        SampleIncident("yanked", gone, whole, rules=release(Fault.WITHDRAWN)),
        SampleIncident("registry-down", _query(_SERVER), whole, rules=host(Fault.SERVER_ERROR)),
        SampleIncident("proxy-or-ca", _query(_CERTIFICATE), whole),
        SampleIncident("credentials", refused, whole, rules=host(Fault.UNAUTHORIZED)),
        SampleIncident("package-altered", altered, whole, rules=release(Fault.TAMPERED_PACKAGE), options=proving),
        SampleIncident("mirror-lacks", _query(_NOWHERE), whole, options=("--mirror", "mirror")),
        SampleIncident("wrong-source", _query(_UNKNOWN, "acme/dmeo"), whole, (("acme/dmeo", "~> 1.4"),)),
    )


def sample_incidents() -> tuple[SampleIncident, ...]:
    """Return every incident."""
    unrequired = SampleIncident("not-required", _READ_ONLY, (lock_file(_DEMO, _NETBOX),))
    without = SampleIncident("module-missing", _NO_MODULE, (lock_file(_DEMO),))
    return (*_of_packages(), *_of_the_lock_file(), *_of_the_registry(), unrequired, without)


def make_incident(incident: SampleIncident, folder: Path) -> Path:
    """Write an incident into a new folder, and return it: the repository with its history, the copies, and `ci.log`.

    Raises:
        ConfigurationError: It cannot be written.
        RepositoryError: git is missing or failed.
    """
    main = {
        f"{_ROOT}/main.tf": requires(*incident.constraints).encode(),
        ".gitignore": b".terraform/\n/mirror\n/cache\n",
    }
    states = [{**main, f"{_ROOT}/{LOCK_FILE}": lock} for lock in incident.locks]
    commit_files(folder, [(f"Lock providers, {number}", files) for number, files in enumerate(states, start=1)])
    (folder / "ci.log").write_text(boxed_log(incident.message), "utf-8", newline="\n")
    for copy in incident.copies:
        write_unpacked(folder / copy.folder, copy.provider, copy.version, copy.platform, copy.edition)
    return folder


def incident_environment(incident: SampleIncident, folder: Path) -> dict[str, str]:
    """Return the environment variables of an incident that was made in a folder."""
    return {name: value.replace("FOLDER", os.fspath(folder)) for name, value in incident.variables}
