"""Sets git up to merge and to show lock files with locklens: two programs in its configuration, one line of attributes.

git runs a merge driver and a textconv only if the user's own configuration names them: attributes alone, which a
repository brings along, start nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.project.gitdiscovery import discover
from locklens.storage.files import read_bounded, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.project.gitdiscovery import FoundRepository

ATTRIBUTES = ".terraform.lock.hcl merge=locklens diff=locklens"

_SECTIONS = ("merge.locklens", "diff.locklens")
# git is also started where `locklens` is not on PATH, or does not run: by an editor, after an upgrade. A driver that
# only fails leaves our side without markers, and the next "git add" drops theirs; a failing textconv ends "git diff".
_MERGE = "locklens merge --marker-size=%L --path=%P --ours-name=%X --theirs-name=%Y %O %A %B"
_MERGE_OF_LINES = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
_HAS_LOCKLENS = "command -v locklens >/dev/null"
_SETTINGS = {
    "merge.locklens.name": "locklens: lock files, block by block",
    "merge.locklens.driver": (
        f'if {_HAS_LOCKLENS}; then was=$(ls -i %A); {_MERGE} && exit; [ "$was" = "$(ls -i %A)" ] || exit 1; fi; '
        f"{_MERGE_OF_LINES}"
    ),
    "diff.locklens.textconv": f'f() {{ {_HAS_LOCKLENS} && locklens textconv -- "$1" || cat -- "$1"; }}; f',
}
"""Both commands are run by a shell: git appends the file to the second, as an argument of the function. A result that
locklens wrote is another file than before, also one that it leaves to a person; where it failed, it wrote none."""
_MAX_ATTRIBUTES_BYTES = 1 << 20
"""Of an attributes file that is edited: git itself reads at most 100 MiB, people write a few lines."""

_NO_KEY, _NO_SECTION = 1, 128
"""Exit statuses of `git config` for a key and a section that do not exist."""


def set_up(folder: Path, *, private: bool = False, is_dry_run: bool = False) -> tuple[str, ...]:
    """Make git use locklens for the lock files of a repository.

    Args:
        folder: In the repository.
        private: Write the attributes into the repository's own folder, where they are not committed.
        is_dry_run: Write nothing.

    Returns:
        A line for each change, in the order of writing; empty if everything is in place.

    Raises:
        RepositoryError: There is no repository, or git failed.
        ConfigurationError: The attributes cannot be read or written.
    """
    found = discover(folder)
    path = _attributes_file(found, private=private)
    text = _read(path)
    changes = []
    for key, value in _SETTINGS.items():
        if _setting(found, key) != value:
            changes.append(f"git config --local {key} {value!r}")
            if not is_dry_run:
                found.command.answer("config", "--local", key, value)
    if ATTRIBUTES not in text.splitlines():
        changes.append(f"{path}: added {ATTRIBUTES}")
        if not is_dry_run:
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, f"{_ended(text)}{ATTRIBUTES}\n".encode("utf-8", "surrogateescape"))
    return tuple(changes)


def take_down(folder: Path, *, is_dry_run: bool = False) -> tuple[str, ...]:
    """Remove all that `set_up` writes, from both places of attributes; other lines keep their bytes.

    A file of attributes without any other line is removed: `set_up` made it, or it was empty.

    Returns and raises as `set_up`.
    """
    found = discover(folder)
    files = [(path, _read(path)) for path in (_attributes_file(found, private=private) for private in (False, True))]
    changes = []
    for section in _SECTIONS:
        status, _, _ = found.command.ask("config", "--local", "--get-regexp", f"^{section.replace('.', '[.]')}[.]")
        if status == 0:
            changes.append(f"git config --local --remove-section {section}")
            if not is_dry_run:
                found.command.answer("config", "--local", "--remove-section", section)
    for path, text in files:
        kept = [line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") != ATTRIBUTES]
        if len(kept) < len(text.splitlines()):
            changes.append(f"{path}: removed {ATTRIBUTES}" if kept else f"{path}: removed, as nothing else is in it")
            if is_dry_run:
                continue
            if kept:
                write_atomically(path, "".join(kept).encode("utf-8", "surrogateescape"))
            else:
                _remove(path)
    return tuple(changes)


def _setting(found: FoundRepository, key: str) -> str | None:
    status, output, _ = found.command.ask("config", "--local", "--get", key)
    return None if status == _NO_KEY else output.decode("utf-8", "replace").rstrip("\n")


def _attributes_file(found: FoundRepository, *, private: bool) -> Path:
    from pathlib import Path

    if not private:
        return Path(found.top, ".gitattributes")
    folder = found.command.answer("rev-parse", "--git-common-dir").decode("utf-8", "surrogateescape").rstrip("\n")
    return Path(found.top, folder, "info", "attributes")


def _read(path: Path) -> str:
    if path.is_symlink():
        raise ConfigurationError("is a link, which is not edited", path=str(path), hint="add the line by hand")
    return read_bounded(path, _MAX_ATTRIBUTES_BYTES, missing=b"").decode("utf-8", "surrogateescape")


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot be removed: {error.strerror}", path=str(path)) from error


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
