"""What is compared: what a command left behind and said, without anything that depends on the machine.

Of the output only what a user's eye or a script goes by is kept: titles of errors and warnings, the lines of progress of
the providers, and the phrases of PHRASES. `asked` is recorded for information alone.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from locklens.demo.registry import Request


class Status(StrEnum):
    """How a command ended."""

    DONE = "done"
    FAILED = "failed"
    CRASHED = "crashed"


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What one command led to.

    Attributes:
        status: How it ended.
        lock: The text of the lock file afterwards, `-> TARGET` of a link; None where there is none.
        installed: By package folder below the data folder's `providers`: its files as MODE:DIGEST, or "" with
            `-> TARGET` where the folder is a link. OpenTofu's empty `OS_ARCH.lock` files are left out.
        titles: Of errors and warnings.
        lines: Of progress.
        phrases: Those of PHRASES that were said.
        asked: How often the registry was asked for what.
    """

    status: Status
    lock: str | None = None
    installed: dict[str, dict[str, str]] = field(default_factory=dict)
    titles: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    asked: dict[str, int] = field(default_factory=dict)


DEEDS = ("status", "lock", "installed")
"""What a command did."""

WORDS = ("titles", "lines", "phrases")
"""What it said."""


def differences(expected: Outcome, found: Outcome, parts: Iterable[str] = DEEDS) -> list[str]:
    """Returns what differs, a text for each part, none where nothing does.

    Args:
        expected: What was recorded. Where the tool crashed, a failure will do.
        found: What is judged.
        parts: Those to be compared, of DEEDS and WORDS.
    """
    if expected.status is Status.CRASHED and found.status is Status.FAILED:
        expected = replace(expected, status=Status.FAILED)
    one, other = asdict(expected), asdict(found)
    return [
        f"{part}:\n  expected {one[part]!r}\n  found    {other[part]!r}" for part in parts if one[part] != other[part]
    ]


def observe(
    status: int,
    output: str,
    *,
    root: Path,
    data: Path,
    requests: Iterable[Request],
    places: dict[str, str],
    cache: Path | None = None,
) -> Outcome:
    """Returns what a command led to.

    Args:
        status: Its exit status.
        output: Everything that it printed.
        root: The folder of the lock file.
        data: The data folder.
        cache: The plugin cache, whose packages are observed as `cache: PACKAGE`.
        requests: What the registry was asked meanwhile.
        places: Texts that depend on the machine, and what stands for them.
    """

    def placeless(text: str) -> str:
        for place, name in places.items():
            text = text.replace(place, name)
        return text

    said = placeless(_COLOUR.sub("", output))
    path = root / ".terraform.lock.hcl"
    return Outcome(
        status=_status(status, said),
        lock=_lock(path, placeless),
        installed=_installed(data / "providers", placeless)
        | {f"cache: {name}": files for name, files in (_installed(cache, placeless) if cache else {}).items()},
        titles=tuple(sorted({": ".join(title.split(": ")[:_TITLE_PARTS]) for title in _TITLE.findall(said)})),
        lines=tuple(sorted(set(_LINE.findall(said)))),
        phrases=tuple(phrase for phrase in PHRASES if phrase in _flowing(said)),
        asked=dict(sorted(Counter(request.step or "other" for request in requests).items())),
    )


def _lock(path: Path, placeless: Callable[[str], str]) -> str | None:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    return placeless(path.read_bytes().decode(errors="backslashreplace")) if path.is_file() else None


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# `Error: failed to read dependency lock file: Invalid expression`; what follows is an explanation, cut at the margin.
_TITLE_PARTS = 3
_TITLE = re.compile(r"^[│╷ ]*((?:Error|Warning): .*\S)", re.MULTILINE)
_LINE = re.compile(
    r"^- ((?:Finding|Reusing|Installed|Using|Retrieved|Obtained) .*\S|\S+ is built in to \w+)", re.MULTILINE
)


def _status(status: int, said: str) -> Status:
    if status and re.search(r"^(?:panic: |goroutine \d+ |!+ \w+ CRASH !+)", said, re.MULTILINE):
        return Status.CRASHED
    return Status.FAILED if status else Status.DONE


def _flowing(said: str) -> str:
    """The output without boxes and line breaks."""
    return " ".join(re.sub("[│╷╵]", " ", said).split())


_PACKAGE_DEPTH = 5
_LOCK_OF_A_FOLDER = re.compile(r"[a-z0-9]+_[a-z0-9]+\.lock\Z")


def _installed(top: Path, placeless: Callable[[str], str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for path in _files(top):
        parts = path.relative_to(top).parts
        package = placeless("/".join(parts[:_PACKAGE_DEPTH]))
        if path.is_symlink():
            what = f"-> {placeless(str(path.readlink()))}"
        else:
            content = path.read_bytes()
            if not content and len(parts) == _PACKAGE_DEPTH and _LOCK_OF_A_FOLDER.match(parts[-1]):
                continue
            what = f"{path.stat().st_mode & 0o7777:o}:{sha256(content).hexdigest()[:16]}"
        found.setdefault(package, {})["/".join(parts[_PACKAGE_DEPTH:])] = what
    return {package: dict(sorted(files.items())) for package, files in sorted(found.items())}


def _files(folder: Path) -> Iterator[Path]:
    """Everything but folders, and without following links."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        else:
            yield path


PHRASES = (
    "has created a lock file",
    "has made some changes to the provider dependency selections",
    "has updated the lock file",
    "has validated the lock file and found no need for changes",
    "initialized in an empty directory",
    "doesn't match any of the checksums previously recorded",
    "does not match configured version constraint",
    "no available releases match the given constraints",
    "is no longer available",
    "is not a valid provider version",
    "does not have a provider named",
    "was not found in any of the search locations",
    "does not offer a",
    "requires authentication credentials",
    "rejected the given authentication credentials",
    "could not query provider registry for",
    "could not connect to",
    "failed to verify certificate",
    "invalid version string",
    "does not have a package available for your current platform",
    "is not available for",
    "No compatible versions",
    "need to downgrade to",
    "is the latest compatible version",
    "authentication signature from unknown issuer",
    "error checking signature",
    "error decoding signing key",
    "trust signature",
    "not signed with a valid signing key",
    "gpg key expired",
    "checksum list has no SHA-256 hash",
    "checksum list has unexpected SHA-256 hash",
    "archive has incorrect checksum",
    "failed to retrieve authentication checksums",
    "failed to retrieve cryptographic signature",
    "bad response code",
    "unsuccessful request to",
    "giving up after",
    "request failed",
    "unexpected EOF",
    "connection reset",
    "provider binary not found",
    "empty archive",
    "entry contains '..'",
    "not a valid zip file",
    "does it contain local modifications",
    "failed to compute a checksum",
    "failed to read dependency lock file",
    "must be written in normalized form",
    "already declared a lock",
    "is not supported by this version",
    "is not required by the current configuration",
    "must be two words separated by an underscore",
    "built-in providers do not support explicit version constraints",
    "has no built-in provider named",
    "is built in to",
    "conflicts with -lockfile=readonly",
    "Terraform 0.13 upgrade process",
    "automatically rewrote some entries",
    "Additional provider information from registry",
    "does not have archive index",
    "any of the expected checksums",
    "does not support any of the checksum formats",
    "Invalid URL for provider installation source",
    "cannot search",
    "from the shared cache directory",
    "(unauthenticated)",
    "(verified checksum)",
    "Provider development overrides",
    "OCI registry provider mirror",
    "listing tags from OCI repository",
    "resolving tag",
    "selected an OCI image manifest directly",
    "for OCI index manifest",
    "unexpected manifest media type",
    "unexpected artifact type",
    "provider image manifest has unsupported",
    "provider image manifest lacks",
    "is this a container image",
    "ambiguous manifest",
    "image manifest contains no layers",
    "has other unsupported formats",
    "unsupported digest algorithm",
    "invalid digest",
    "selected OCI artifact is for",
    "mismatch Content-Length",
    "does not match digest",
    "selecting OCI repository address",
    "Invalid oci_mirror repository template",
    'template must refer to the "hostname" symbol',
    'template must refer to the "namespace" symbol',
    'template must refer to the "type" symbol',
    "is not available for an OCI mirror repository address template",
    "template must generate a valid OCI repository address",
    "This value does not have any indices",
    "does not identify an element in this collection",
    "a number is required",
    "Function calls not allowed",
    "invalid repository",
    '"repository_template" argument is required',
)
"""What the tools say that tells one outcome from another, as far as it names nobody."""
