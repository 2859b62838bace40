"""The files of the CLI configuration: the main file, the folder beside it, and the credentials helpers.

Each tool has its own places, and the user can name another file: then the folder is not read, and with it what
`login` stored.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hcl import MAX_CONFIGURATION_BYTES
from locklens.project.tree import is_on_disk
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.dialect import Dialect

_SUFFIXES = (".tfrc", ".tfrc.json")
_HELPER = re.compile(r"terraform-credentials-(?P<name>.+?)(?:_v(?P<version>[0-9]+\.[0-9]+\.[0-9]+))?\Z")
_OS = {"win32": "windows", "cygwin": "windows"}
_ARCH = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "i386": "386", "i686": "386"}


class CliFiles(Struct, frozen=True):
    """The files of the CLI configuration.

    Attributes:
        files: In the order in which they count: the last has the last word.
        main: That which is not from the folder, None where it is not there.
        missing: The file that the environment names and that is not there.
        unlisted: Why the folder cannot be listed, with its name; None if it can, or is not there.
    """

    files: tuple[Path, ...]
    main: Path | None = None
    missing: Path | None = None
    unlisted: str | None = None


def find_files(dialect: Dialect, environ: Mapping[str, str]) -> CliFiles:
    """Return the files that the tool would read.

    Args:
        dialect: The tool.
        environ: TF_CLI_CONFIG_FILE or TERRAFORM_CONFIG names the only file; otherwise HOME, XDG_CONFIG_HOME and, on
            Windows, APPDATA say where to look.
    """
    named = environ.get("TF_CLI_CONFIG_FILE") or environ.get("TERRAFORM_CONFIG")
    if named:
        path = Path(named)
        return CliFiles((path,), path) if is_on_disk(path, follows_links=True) else CliFiles((), missing=path)
    place = _main_file(dialect, environ)
    main = place if is_on_disk(place, follows_links=True) else None
    own = [main] if main else []
    folder = config_folder(dialect, environ)
    try:
        own += _folder_files(folder)
    except OSError as error:
        return CliFiles(tuple(own), main, unlisted=f"{folder} cannot be listed: {reason_of(error)}")
    return CliFiles(tuple(own), main)


def read_file(path: Path) -> bytes:
    """Return a file's bytes, up to one more than are read in earnest.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return file.read(MAX_CONFIGURATION_BYTES + 1)


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111


def _xdg(environ: Mapping[str, str], name: str) -> Path | None:
    folder = environ.get(name, "")
    return Path(folder) / "opentofu" if folder else None


def _main_file(dialect: Dialect, environ: Mapping[str, str]) -> Path:
    is_tofu = dialect.name == "opentofu"
    if sys.platform == "win32":
        folder = Path(environ.get("APPDATA", ""))
        tofu = folder / "tofu.rc"
        return tofu if is_tofu and tofu.exists() else folder / "terraform.rc"
    older = _home(environ) / ".terraformrc"
    if not is_tofu:
        return older
    newer, fallback = _home(environ) / ".tofurc", _xdg(environ, "XDG_CONFIG_HOME")
    if newer.exists():
        return newer
    if older.exists() or fallback is None:
        return older
    return fallback / "tofurc"


def config_folder(dialect: Dialect, environ: Mapping[str, str]) -> Path:
    """Return the tool's configuration folder, whether or not it is there."""
    if sys.platform == "win32":
        return Path(environ.get("APPDATA", "")) / "terraform.d"
    folder = _home(environ) / ".terraform.d"
    other = _xdg(environ, "XDG_CONFIG_HOME") if dialect.name == "opentofu" else None
    return other if other is not None and not folder.exists() else folder


def _folder_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIXES) and not path.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def find_helper(name: str, dialect: Dialect, environ: Mapping[str, str]) -> Path | None:
    """Return the program of a credentials helper, None where there is none: the tools then go on without.

    Args:
        name: As the block's label has it.
        dialect: The tool.
        environ: Says where the folders are.
    """
    folders = [config_folder(dialect, environ)]
    if dialect.name == "opentofu":
        folders[0] = _home(environ) / ".terraform.d" if sys.platform != "win32" else folders[0]
        folders += [data for data in (_xdg(environ, "XDG_DATA_HOME"),) if data is not None]
    found: list[tuple[tuple[int, ...], Path]] = []
    # Where HOME or APPDATA is relative or empty, the folder lies in the current one: the repository under review.
    for folder in filter(Path.is_absolute, folders):
        for plugins in (folder / "plugins", folder / "plugins" / this_platform()):
            found += _helpers(plugins, name)
    return max(found, key=lambda each: each[0])[1] if found else None


def implied_folders(dialect: Dialect, environ: Mapping[str, str], root: Path) -> tuple[Path, ...]:
    """Return the folders that exist and have providers, which the tool would install from before it asks a registry.

    Args:
        dialect: The tool.
        environ: Says where the user's folders are.
        root: The root module's folder.
    """
    home, data = _home(environ), environ.get("XDG_DATA_HOME", "")
    if sys.platform == "win32":
        user = [Path(environ.get("APPDATA", "")) / "HashiCorp/Terraform/plugins"]
    elif sys.platform == "darwin":
        user = [Path(top) / "Library/Application Support/io.terraform/plugins" for top in (home, "/")]
    else:
        own = data if data.startswith("/") else str(home / ".local/share")
        shared = (environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
        user = [Path(top) / "terraform/plugins" for top in (own, *shared) if top.startswith("/")]
    named = [config_folder(dialect, environ)]
    if dialect.name == "opentofu" and sys.platform != "win32":
        named = [home / ".terraform.d", *([Path(data) / "opentofu"] if data else [])]
    candidates = (root / "terraform.d/plugins", *(folder / "plugins" for folder in named), *user)
    return tuple(folder for folder in dict.fromkeys(candidates) if _has_providers(folder))


def _has_providers(folder: Path) -> bool:
    """True if there is a folder HOST/NAMESPACE/TYPE in a folder."""
    try:
        return any(path.is_dir() for path in folder.glob("*/*/*"))
    except OSError:
        return False


def _helpers(folder: Path, name: str) -> list[tuple[tuple[int, ...], Path]]:
    """The programs of a helper in one folder, with their versions."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return []
    matches = [(_HELPER.match(path.name.removesuffix(".exe")), path) for path in paths if path.is_file()]
    return [
        (tuple(map(int, (match["version"] or "0.0.0").split("."))), path)
        for match, path in matches
        if match is not None and match["name"] == name
    ]


def this_platform() -> str:
    """The platform that this machine is, such as `linux_amd64`."""
    machine = platform.machine().lower()
    return f"{_OS.get(sys.platform, sys.platform)}_{_ARCH.get(machine, machine)}"
