"""Finds the metadata files of providers below folders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.project.folders import TooManyFoldersError, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from locklens.operations.backfill.model import Shard

_PROVIDERS = "providers"

_MAX_FOLDERS = 1_000_000
"""Folders of a registry's clone: one for each namespace, of which OpenTofu's registry has some thousands."""


class ProviderFile(Struct, frozen=True):
    """The metadata file of a provider.

    Attributes:
        path: Where it is.
        provider: NAMESPACE/TYPE, as its folder and its name say.
    """

    path: Path
    provider: str


def provider_files(places: Iterable[Path], shard: Shard | None) -> tuple[ProviderFile, ...]:
    """Return the metadata files, in order of their paths below each place, each once.

    Args:
        places: Files, and folders; of a clone of a registry its folder `providers`. Links are not followed.
        shard: The part of the providers, None for all.

    Raises:
        ConfigurationError: There is no such file or folder, or it cannot be read.
    """
    found: dict[Path, ProviderFile] = {}
    for place in places:
        for path in _files_at(place):
            provider = f"{path.absolute().parent.name}/{path.stem}"
            if shard is None or shard.has(provider):
                found.setdefault(path, ProviderFile(path, provider))
    return tuple(found.values())


def _files_at(place: Path) -> Iterator[Path]:
    if place.is_symlink():
        raise ConfigurationError("is a link, which is not followed", path=str(place), hint="name what it leads to")
    if place.is_dir():
        top = place / _PROVIDERS
        yield from _files_below(top if top.is_dir() and not top.is_symlink() else place)
    elif place.is_file():
        yield place
    else:
        hint = "name a folder with metadata files, such as a clone of the registry, or a file"
        raise ConfigurationError("no such file or folder", path=str(place), hint=hint)


def _files_below(top: Path) -> Iterator[Path]:
    try:
        for folder in walk(os.fspath(top), most=_MAX_FOLDERS, enters=lambda _, name: not name.startswith(".")):
            place = top / folder.path
            if folder.error is not None:
                raise ConfigurationError(f"cannot be read: {folder.error.strerror}", path=str(place)) from folder.error
            for name in folder.files:
                path = place / name
                if name.endswith(".json") and not name.startswith(".") and path.is_file() and not path.is_symlink():
                    yield path
    except TooManyFoldersError:
        words = f"more than {_MAX_FOLDERS} folders are not searched"
        raise ConfigurationError(words, path=str(top), hint="name folders below it") from None
