"""The registry of `installing.py`: signed providers with packages of any size, in a process of its own.

All is made before it serves, and an answer costs next to nothing, so that the processors are left to who is measured.
Large packages hold pieces of a real program: inflating them takes as long as with a real provider.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import struct
import sys
import zlib
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from locklens.demo import file_name, package_bytes
from locklens.demo.signing import publisher

HOST = "registry.example.com"
VERSION = "1.0.0"
COUNTED = "/counted"
"""Answered with how many requests there were since it was asked for last, and how many of them for packages."""

_TICK = 0.01
_PIECE = 16 << 20


class Offered(Struct, frozen=True):
    """What is served.

    Attributes:
        providers: How many, each of a publisher of its own.
        platforms: OS_ARCH of each.
        size: Bytes of a package, about; 0 for one with next to nothing in it.
        delay: Seconds before each answer.
        rate: Bytes per second of each connection, 0 for no limit.
    """

    providers: int
    platforms: tuple[str, ...]
    size: int = 0
    delay: float = 0.03
    rate: int = 0

    @property
    def sources(self) -> tuple[str, ...]:
        """The providers' full addresses."""
        return tuple(f"{HOST}/owner{number:02}/thing" for number in range(self.providers))


class Filling:
    """A piece of a program, also deflated so that others can follow in the same stream."""

    def __init__(self) -> None:
        program = shutil.which("terraform") or sys.executable
        with Path(program).open("rb") as file:
            file.seek(Path(program).stat().st_size // 4)
            self.plain = file.read(_PIECE)
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        self.deflated = packer.compress(self.plain) + packer.flush(zlib.Z_FULL_FLUSH)

    def write(self, path: Path, name: str, mark: bytes, size: int) -> None:
        """Writes a zip file of about `size` bytes; files with other marks have other hashes."""
        times = max(1, size // len(self.deflated))
        rest = random.Random(mark).randbytes(max(64, size - times * len(self.deflated)))
        packer = zlib.compressobj(0, zlib.DEFLATED, -15)
        tail = packer.compress(rest) + packer.flush()
        crc = 0
        for _ in range(times):
            crc = zlib.crc32(self.plain, crc)
        crc = zlib.crc32(rest, crc)
        packed, plain = times * len(self.deflated) + len(tail), times * len(self.plain) + len(rest)
        encoded = name.encode()
        shared = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x5821, crc, packed, plain, len(encoded), 0)
        with path.open("wb") as file:
            file.write(b"PK\3\4" + shared + encoded)
            for _ in range(times):
                file.write(self.deflated)
            file.write(tail)
            start = file.tell()
            central = b"PK\1\2" + struct.pack("<H", 0x0314) + shared + struct.pack("<HHHII", 0, 0, 0, 0o100755 << 16, 0)
            file.write(central + encoded)
            file.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central) + len(encoded), start, 0))


def answers(offered: Offered, base: str, folder: Path) -> dict[str, bytes | Path]:
    """Makes all there is to answer, by path; large packages are files in the folder."""
    filling = Filling() if offered.size else None
    found: dict[str, bytes | Path] = {}
    for source in offered.sources:
        namespace = source.split("/")[1]
        listed = [dict(zip(("os", "arch"), one.split("_"), strict=True)) for one in offered.platforms]
        versions = [{"version": VERSION, "protocols": ["5.0"], "platforms": listed}]
        found[f"/v1/{namespace}/thing/versions"] = json.dumps({"versions": versions}).encode()
        files, sums = f"/files/{namespace}/", {}
        for platform in offered.platforms:
            name = file_name(source, VERSION, f"{platform}.zip")
            content: bytes | Path = package_bytes(source, VERSION, platform)
            if filling is not None:
                content = folder / f"{namespace}-{platform}.zip"
                program = f"terraform-provider-thing_v{VERSION}" + (".exe" if platform.startswith("windows") else "")
                filling.write(content, program, f"{namespace} {platform}".encode(), offered.size)
            found[files + name] = content
            sums[name] = sha256(content if isinstance(content, bytes) else content.read_bytes()).hexdigest()
        text = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()
        signer, listing = publisher(namespace), file_name(source, VERSION, "SHA256SUMS")
        found |= {files + listing: text, f"{files}{listing}.sig": signer.signature(text)}
        for platform in offered.platforms:
            system, arch = platform.split("_")
            name = file_name(source, VERSION, f"{platform}.zip")
            document = {
                "protocols": ["5.0"],
                "os": system,
                "arch": arch,
                "filename": name,
                "download_url": base + files + name,
                "shasum": sums[name],
                "shasums_url": base + files + listing,
                "shasums_signature_url": f"{base}{files}{listing}.sig",
                "signing_keys": {"gpg_public_keys": [{"ascii_armor": signer.key.armored()}]},
            }
            found[f"/v1/{namespace}/thing/{VERSION}/download/{system}/{arch}"] = json.dumps(document).encode()
    return found


class _Server:
    def __init__(self, offered: Offered) -> None:
        self.offered = offered
        self.answers: dict[str, bytes | Path] = {}
        self.requests = self.packages = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one connection's requests."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, path = head.split(b" ", 2)[:2]
                await self._answer(writer, path.decode("ascii"), has_body=method == b"GET")
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, path: str, *, has_body: bool) -> None:
        if path == COUNTED:
            body: bytes | Path = json.dumps([self.requests, self.packages]).encode()
            self.requests = self.packages = 0
        else:
            self.requests += 1
            self.packages += has_body and path.endswith(".zip")
            await asyncio.sleep(self.offered.delay)
            body = self.answers.get(path, b"")
        size = len(body) if isinstance(body, bytes) else body.stat().st_size
        status = b"200 OK" if body else b"404 Not Found"
        kind = b"application/json" if path.startswith(("/v1/", COUNTED)) else b"application/octet-stream"
        writer.write(b"HTTP/1.1 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (status, kind, size))
        if has_body and isinstance(body, bytes):
            writer.write(body)
        elif has_body and isinstance(body, Path):
            await self._send(writer, body, size)
        await writer.drain()

    async def _send(self, writer: asyncio.StreamWriter, path: Path, size: int) -> None:
        await writer.drain()
        loop = asyncio.get_running_loop()
        step = int(self.offered.rate * _TICK) or size
        start = loop.time()
        with path.open("rb") as file:
            for position in range(0, size, step):
                if self.offered.rate:
                    await asyncio.sleep(start + position / self.offered.rate - loop.time())
                await loop.sendfile(writer.transport, file, position, min(step, size - position))


async def _serve(offered: Offered, folder: Path) -> None:
    server = _Server(offered)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=256)
    base = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    server.answers = answers(offered, base, folder)
    block = f'host "{HOST}" {{\n  services = {{\n    "providers.v1" = "{base}/v1/"\n  }}\n}}\n'
    (folder / "cli.tfrc").write_text(block, "utf-8")
    print(base, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    listening.close()


def main(folder: Path, text: str) -> None:
    """Serves until standard input ends; prints its URL when it is ready."""
    fields = json.loads(text)
    offered = Offered(**{**fields, "platforms": tuple(fields["platforms"])})
    asyncio.run(_serve(offered, folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
