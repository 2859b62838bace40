"""Answers of a registry that are made from metadata files, such as those that `locklens backfill` completed.

The folder has the layout of https://github.com/opentofu/registry: `providers/N/NAMESPACE/TYPE.json` and, for the keys
of a namespace or of one provider, `keys/N/NAMESPACE/*.asc` and `keys/N/NAMESPACE/TYPE/*.asc`. A file is read for each
request, so that what changes in it is served at once; its URLs are passed on as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from locklens.dialect import OPENTOFU

if TYPE_CHECKING:
    from pathlib import Path

METADATA_HOST = OPENTOFU.default_host
"""The registry that the files are those of."""

_MAX_BYTES = 16 * 1024 * 1024
"""Of a file; the largest of the OpenTofu registry has 2 MB."""


class _Target(Struct, frozen=True):
    """The package of one platform; a completed target has its `h1` and its size, under either of two names."""

    os: str
    arch: str
    filename: str
    download_url: str
    shasum: str
    h1: str | None = None
    size: int | None = None
    package_size: int | None = None

    @property
    def platform(self) -> str:
        return f"{self.os}_{self.arch}"

    @property
    def reported(self) -> dict[str, object]:
        """What `packages` says of the package; without a size nothing, because no tool takes it then."""
        size = self.package_size or self.size
        hashes = [f"zh:{self.shasum}", *([self.h1] if self.h1 else [])]
        return {"hashes": hashes, "package_size": size} if size else {}


class _Version(Struct, frozen=True):
    version: str
    targets: list[_Target]
    protocols: list[str] = []
    shasums_url: str = ""
    shasums_signature_url: str = ""


class _Provider(Struct, frozen=True):
    versions: list[_Version]
    warnings: list[str] | None = None


class MetadataFolder:
    """A folder with metadata files; links in it are not followed.

    Attributes:
        providers: Full addresses of the providers that have a file.
    """

    def __init__(self, folder: Path) -> None:
        """List the files.

        Raises:
            FileNotFoundError: There is none.
        """
        self._keys = folder / "keys"
        self._files = {
            f"{METADATA_HOST}/{path.parent.name}/{path.stem}": path
            for path in sorted(folder.glob("providers/?/*/*.json"))
            if path.is_file() and not path.is_symlink()
        }
        if not self._files:
            raise FileNotFoundError(f"{folder}: no metadata file providers/N/NAMESPACE/TYPE.json")
        self.providers = frozenset(self._files)

    def versions(self, provider: str) -> dict[str, object]:
        """Return the answer that lists a provider's versions.

        Raises:
            ValueError: The file is no metadata of a provider.
            OSError: It cannot be read.
        """
        found = self._read(provider)
        versions = [
            {
                "version": one.version,
                "protocols": one.protocols,
                "platforms": [{"os": target.os, "arch": target.arch} for target in one.targets],
            }
            for one in found.versions
        ]
        return {"id": provider.partition("/")[2], "versions": versions, "warnings": found.warnings}

    def download(self, provider: str, version: str, platform: str) -> dict[str, object] | None:
        """Return the answer about one package; None where there is no such package.

        `packages` is left out where this package's own size is missing: OpenTofu refuses a report without it.

        Raises:
            ValueError: The file is no metadata of a provider.
            OSError: It or a key cannot be read.
        """
        release = next((one for one in self._read(provider).versions if one.version == version), None)
        targets = {target.platform: target for target in release.targets} if release else {}
        if release is None or platform not in targets:
            return None
        own = targets[platform]
        keys = [{"ascii_armor": path.read_text("utf-8")} for path in self._keys_of(provider)]
        answer: dict[str, object] = {
            "protocols": release.protocols,
            "os": own.os,
            "arch": own.arch,
            "filename": own.filename,
            "download_url": own.download_url,
            "shasum": own.shasum,
            "shasums_url": release.shasums_url,
            "shasums_signature_url": release.shasums_signature_url,
            "signing_keys": {"gpg_public_keys": keys},
        }
        if own.reported:
            answer["packages"] = {name: target.reported for name, target in targets.items() if target.reported}
        return answer

    def _read(self, provider: str) -> _Provider:
        path = self._files[provider]
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ValueError(f"{path}: larger than {_MAX_BYTES} bytes")
        try:
            return msgspec.json.decode(data, type=_Provider)
        except msgspec.DecodeError as error:
            raise ValueError(f"{path}: no metadata of a provider: {error}") from error

    def _keys_of(self, provider: str) -> list[Path]:
        _, namespace, kind = provider.split("/")
        folder = self._keys / namespace[:1] / namespace
        found = sorted((*folder.glob("*.asc"), *(folder / kind).glob("*.asc")))
        return [path for path in found if path.is_file() and not path.is_symlink()]
