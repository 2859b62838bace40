"""Puts a case on disk and behind a registry, for one tool."""

from __future__ import annotations

import io
import json
import os
import shutil
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import kit.oci_registry
import trustme
from collecting import UNCOLLECTED
from conformance.case import (
    PLATFORMS,
    Archives,
    Artifact,
    Case,
    Content,
    Entry,
    Files,
    Link,
    Lock,
    Packed,
    Tool,
    Unpacked,
)
from kit.loopback import Handler
from kit.oci_registry import Repository
from msgspec import Struct

from locklens.demo import MANIFEST, h1, package_bytes, zh
from locklens.demo.faults import Faults
from locklens.demo.published import SampleListing, publish, reported_packages
from locklens.demo.registry import DemoRegistry

LOCAL = "localhost"


class Names(Struct, frozen=True):
    """What the marks stand for; see `conformance.case`."""

    tool: Tool
    port: int
    work: Path
    mirror_port: int = 0
    oci_port: int = 0

    def put_in(self, text: str) -> str:
        """Returns the text with every mark replaced."""
        for mark, value in {
            "@HOST@": self.tool.host,
            "@OTHER@": self.tool.other_host,
            "@COMMAND@": self.tool.command,
            "@PORT@": str(self.port),
            "@MIRROR@": f"https://{LOCAL}:{self.mirror_port}/",
            "@OCI@": f"{LOCAL}:{self.oci_port}",
            "@WORK@": str(self.work),
        }.items():
            text = text.replace(mark, value)
        return text

    def address(self, source: str) -> str:
        """Returns the full address of a source, marks replaced."""
        host = "" if source.count("/") > 1 else "@HOST@/"
        return self.put_in(host + source)

    def served(self, source: str) -> str:
        """Returns the address that the registry knows it by: without a port, so that packages are always the same."""
        return self.address(source).replace(f":{self.port}", "", 1)


def registry(case: Case, tool: Tool, folder: Path) -> DemoRegistry:
    """Returns the case's registry, not started."""
    names = Names(tool, 0, folder)
    offers = {
        names.served(source): [
            one if isinstance(one, SampleListing) else SampleListing(one, PLATFORMS) for one in offered
        ]
        for source, offered in case.catalog.items()
    }
    return DemoRegistry(
        offers,
        faults=Faults(case.faults),
        tls=_authority()[1] if case.tls else None,
        tokens={names.put_in(host): token for host, token in case.tokens.items()},
        warnings={names.served(source): said for source, said in case.warnings.items()},
        tells_packages=case.tells_packages,
        packages={
            (names.served(source), version): reported_packages(
                publish(names.served(source), version, frozenset(), SampleListing(version, PLATFORMS))
            )
            for source, version in case.reported.items()
        },
    )


class _Files(SimpleHTTPRequestHandler):
    """Files of a folder; where a file NAME.status lies beside NAME, that status is answered."""

    def do_GET(self) -> None:
        status = Path(f"{self.translate_path(self.path)}.status")
        if status.is_file():
            self.send_error(int(status.read_text()))
        else:
            super().do_GET()

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def network_mirror(case: Case, folder: Path) -> Iterator[int]:
    """Serves a folder's files over TLS where the case asks for it; yields the port, 0 for none."""
    if "@MIRROR@" not in repr((case.cli, case.turns, case.environment)):
        yield 0
        return
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder)))
    server.daemon_threads = True
    server.socket = _authority()[1].wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def oci_registry(case: Case, tool: Tool, folder: Path) -> Iterator[int]:
    """Serves the case's artifacts over TLS where the case asks for them; yields the port, 0 for none."""
    if "@OCI@" not in repr((case.cli, case.turns, case.environment)):
        yield 0
        return
    with kit.oci_registry.registry(_authority()[1]) as server:
        names = Names(tool, 0, folder)
        for one in case.oci:
            name = names.put_in(one.repository or f"m/@HOST@/{one.source}")
            _push(one, server.repository(name), names)
        for path, (status, code) in case.oci_answers.items():
            body = json.dumps({"errors": [{"code": code, "message": code.lower()}]} if code else {}).encode()
            server.on(names.put_in(f"/v2/{path}"), partial(Handler.reply, status=status, body=body))
        yield server.port


def _push(one: Artifact, repository: Repository, names: Names) -> None:
    packages = {
        platform: package_bytes(names.served(one.source), one.version, platform, one.edition)
        for platform in one.platforms
    }
    tag = one.tag or one.version.replace("+", "_")
    made = Repository()
    made.provider(tag, packages)
    repository.blobs |= made.blobs
    before = made.manifests[made.tags[tag]]
    index = json.loads(before.data)
    for entry in index["manifests"]:
        image = made.manifests[entry["digest"]]
        entry |= repository.manifest(_edited(image.data, one.image), image.media_type)
    repository.manifest(_edited(json.dumps(index).encode(), one.index), one.media_type or before.media_type, tag=tag)


def _edited(data: bytes, edits: tuple[tuple[str, str], ...]) -> bytes:
    for old, new in edits:
        assert old.encode() in data, (old, data)
        data = data.replace(old.encode(), new.encode())
    return data


_making = threading.Lock()


def _authority() -> tuple[trustme.CA, ssl.SSLContext]:
    """Who signs the certificate of `localhost`, and what a server needs: the same for all cases of a run."""
    with _making:  # or two cases that start together would each make one
        return _made()


@cache
def _made() -> tuple[trustme.CA, ssl.SSLContext]:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(LOCAL).configure_cert(context)
    return authority, context


def environment(case: Case, running: DemoRegistry, names: Names, home: Path) -> dict[str, str]:
    """Writes the CLI configuration, and returns all variables that the tool is to see.

    Nobody outside is asked: every host of the case and both default ones are on loopback, and the proxy is nobody.
    """
    hosts = {*running.hosts, names.tool.host, names.tool.other_host} - {LOCAL}
    blocks = [
        f'host "{host}" {{\n  services = {{ "providers.v1" = "{running.service_url(host)}" }}\n}}\n'
        for host in sorted(hosts)
        if f'host "{host}"' not in case.cli
    ]
    configuration, certificate, scratch = home / "cli.tfrc", home / "ca.pem", home / "tmp"
    configuration.write_text("".join(blocks) + names.put_in(case.cli), "utf-8")
    scratch.mkdir()
    found = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "LC_ALL": "C.UTF-8",
        "TF_CLI_CONFIG_FILE": str(configuration),
        "CHECKPOINT_DISABLE": "1",
        **UNCOLLECTED,
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "localhost,127.0.0.1",
    }
    if case.tls or names.mirror_port or names.oci_port:
        _authority()[0].cert_pem.write_to_path(str(certificate))
        found |= {
            "SSL_CERT_FILE": str(certificate),
            "SSL_CERT_DIR": str(scratch),
        }  # nor has the system's store to be read
    return found | {name: names.put_in(value) for name, value in case.environment.items()}


def lay(files: Files, names: Names) -> None:
    """Writes, or removes, what a case or a turn says."""
    for where, content in files.items():
        path = names.work / names.put_in(where)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            _remove(path)
        elif isinstance(content, Link):
            path.symlink_to(names.put_in(content.target))
        elif isinstance(content, Unpacked):
            _unpack(content, path, names)
        else:
            path.write_bytes(_bytes(content, names))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _bytes(content: Content, names: Names) -> bytes:
    if isinstance(content, str):
        return names.put_in(content).encode()
    if isinstance(content, Packed):
        return package_bytes(names.served(content.source), content.version, content.platform, content.edition)
    if isinstance(content, Archives):
        return json.dumps({"archives": {one: _archive(content, one, names) for one in content.platforms}}).encode()
    if isinstance(content, Lock):
        return lock_text(content, names).encode()
    assert isinstance(content, bytes)
    return content


def _archive(content: Archives, platform: str, names: Names) -> dict[str, object]:
    release = names.served(content.source), content.version, platform
    known = {"h1": h1(*release), "zh": zh(*release)}
    usual = f"terraform-provider-{content.source.rpartition('/')[2]}_{content.version}_{platform}.zip"
    url = names.put_in(content.url).replace("PLATFORM", platform) or usual
    hashes = [*(known[scheme] for scheme in content.schemes), *content.more]
    return {"url": url} | ({"hashes": hashes} if hashes else {})


def _unpack(content: Unpacked, path: Path, names: Names) -> None:
    path.mkdir(parents=True)
    data = package_bytes(names.served(content.source), content.version, content.platform, content.edition)
    with ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            (path / entry.filename).write_bytes(archive.read(entry))
            (path / entry.filename).chmod(entry.external_attr >> 16 & 0o777)


def lock_text(content: Lock, names: Names) -> str:
    """Returns the text of a lock file that is there before."""
    text = f'{content.before}# This file is maintained automatically by "{names.tool.command} init".\n'
    text += "# Manual edits may be lost in future updates.\n"
    for entry in sorted(content.entries, key=lambda one: names.address(one.source).split("/")):
        text += _block(entry, names)
    for old, new in content.edits:
        old, new = names.put_in(old), names.put_in(new)
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    return text.replace("\n", content.newline)


def _block(entry: Entry, names: Names) -> str:
    release = names.served(entry.source), entry.of or entry.version
    hashes = {h1(*release, platform, entry.edition) for platform in entry.h1}
    hashes |= {zh(*release, platform, entry.edition) for platform in entry.zh} | ({MANIFEST} if entry.zh else set())
    listed = "".join(f'    "{text}",\n' for text in sorted(hashes | set(entry.more)))
    version = f'  version     = "{entry.version}"\n  constraints = "{entry.constraints}"\n'
    return (
        f'\nprovider "{names.address(entry.source)}" {{\n'
        + (version if entry.constraints else f'  version = "{entry.version}"\n')
        + (f"  hashes = [\n{listed}  ]\n" if listed else "")
        + "}\n"
    )
