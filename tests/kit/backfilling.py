"""A registry's metadata files whose packages a server on this machine has."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from kit.loopback import Server
from locklens.demo import package_bytes

PLATFORMS = ("darwin_arm64", "linux_amd64", "windows_amd64")


def h1_of(package: bytes) -> str:
    """The `h1` of a package without folders, worked out from its definition."""
    with ZipFile(io.BytesIO(package)) as archive:
        lines = [f"{sha256(archive.read(name)).hexdigest()}  {name}\n" for name in sorted(archive.namelist())]
    return "h1:" + base64.b64encode(sha256("".join(lines).encode()).digest()).decode()


class Registry:
    """A folder with metadata files, and the packages that they name."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        self.server = server
        self.packages: dict[tuple[str, str, str], bytes] = {}

    def provider(self, name: str, versions: Sequence[str] = ("1.0.0",), platforms: Sequence[str] = PLATFORMS) -> Path:
        """Writes a file that lacks everything, as the OpenTofu registry formats it."""
        namespace, kind = name.split("/")
        path = self.folder / "providers" / namespace[0] / namespace / f"{kind}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        listed = [self._version(name, version, platforms) for version in versions]
        path.write_text(json.dumps({"versions": listed}, indent=2))
        return path

    def _version(self, name: str, version: str, platforms: Sequence[str]) -> dict[str, Any]:
        targets = []
        for platform in platforms:
            package = package_bytes(f"registry.example.com/{name}", version, platform)
            self.packages[name, version, platform] = package
            system, arch = platform.split("_")
            file = f"terraform-provider-{name.split('/')[1]}_{version}_{platform}.zip"
            where = f"/{name}/{version}/{file}"
            self.server.gives(where, package, Content_Type="application/zip")
            targets.append(
                {
                    "os": system,
                    "arch": arch,
                    "filename": file,
                    "download_url": self.server.url(where),
                    "shasum": sha256(package).hexdigest(),
                }
            )
        return {"version": version, "protocols": ["5.0"], "shasums_url": "x", "targets": targets}

    def completed(self, text: str, size_name: str = "package_size") -> str:
        """What a file that lacks everything must become: made by reading and writing it whole."""
        document = json.loads(text)
        for version in document["versions"]:
            for target in version["targets"]:
                name = "/".join(target["download_url"].split("/")[3:5])
                package = self.packages[name, version["version"], f"{target['os']}_{target['arch']}"]
                target["h1"] = h1_of(package)
                target[size_name] = len(package)
        return json.dumps(document, indent=2)
