"""The demo registry: a real HTTP server on loopback, for locklens and for the real tools.

One server stands for several registries: the paths of a host are below `/HOST/`, and a CLI configuration with `host`
blocks points a tool there (see `locklens.demo.serving`). It speaks the provider registry protocol over plain HTTP.
Faults are defined and carried out in `locklens.demo.faults`, releases are made in `locklens.demo.published`.
"""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import quote, unquote

from msgspec import Struct

from locklens.demo import MANIFEST_JSON, file_name
from locklens.demo.faults import Fault, Faults, ServedAnswer, Step, send
from locklens.demo.published import (
    METADATA_HOST,
    Published,
    SampleListing,
    hashes_by_platform,
    publish,
    reported_packages,
    sample_catalog,
    sample_days,
    versions_document,
)
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import ConfigurationError
from locklens.hashes import digest_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from locklens.demo.published import MetadataFolder

_PROVIDER = r"/(?P<host>[^/]+)/{}/(?P<namespace>[^/]+)/(?P<type>[^/]+)"
_PROTOCOL, _FILES = _PROVIDER.format("v1/providers"), _PROVIDER.format("files")
_NAMES = r"(?P<namespace>[^/]+)/(?P<type>[^/]+)"
_PATHS = (
    (re.compile(r"(?:/(?P<host>[^/]+))?/\.well-known/terraform\.json\Z"), Step.DISCOVERY, ""),
    (re.compile(rf"{_PROTOCOL}/versions\Z"), Step.VERSIONS, ""),
    (re.compile(rf"{_PROTOCOL}/(?P<version>[^/]+)/download/(?P<detail>[a-z0-9]+/[a-z0-9]+)\Z"), Step.DOWNLOAD, ""),
    (re.compile(rf"{_FILES}/(?P<version>[^/]+)/(?P<detail>[^/]+_SHA256SUMS)\Z"), Step.SUMS, ""),
    (re.compile(rf"{_FILES}/(?P<version>[^/]+)/(?P<detail>[^/]+_SHA256SUMS\.sig)\Z"), Step.SIGNATURE, ""),
    (re.compile(rf"{_FILES}/(?P<version>[^/]+)/(?P<detail>[^/]+)\Z"), Step.PACKAGE, ""),
    (re.compile(rf"/v2/providers/{_NAMES}\Z"), Step.DATES, TERRAFORM.default_host),
    (re.compile(rf"/registry/docs/providers/{_NAMES}/index\.json\Z"), Step.DATES, OPENTOFU.default_host),
)
"""Patterns of paths with the fields of `RequestedPath`, the kind of request, and the host of a path without one.

Each path belongs to one registry only; those of the protocol name it.
"""

_WITH_TOKEN = (Step.VERSIONS, Step.DOWNLOAD)
"""Requests that carry credentials; the files themselves are public."""


class RequestedPath(Struct, frozen=True):
    """The parsed path of a request; for discovery without namespace and type.

    Attributes:
        host: The registry; "" for the server's own discovery.
        version: The release; "" for requests that name no version.
        detail: OS_ARCH of a download, or a file name.
    """

    step: Step
    host: str = ""
    namespace: str = ""
    type: str = ""
    version: str = ""
    detail: str = ""

    @property
    def provider(self) -> str:
        """The full provider address."""
        return f"{self.host}/{self.namespace}/{self.type}"


def read_path(path: str) -> RequestedPath | None:
    """Parse a path without its query; None if nothing is served there."""
    for pattern, step, host in _PATHS:
        if match := pattern.match(path):
            fields = {"host": host} | match.groupdict("")
            return RequestedPath(step, **fields | {"detail": fields.get("detail", "").replace("/", "_")})
    return None


class Request(Struct, frozen=True):
    """One request that arrived.

    Attributes:
        method: GET or HEAD.
        path: Path with its query.
        authorization: The Authorization header; "" if absent.
        step: Kind of request; None if nothing is served at that path.
    """

    method: str
    path: str
    host: str
    authorization: str
    step: Step | None


class DemoRegistry:
    """The server, a context manager; or call `start` and `stop`. The arguments but `catalog` and `tls` are attributes.

    Args:
        catalog: Listed versions by full provider address; a version alone is listed as the samples are. None for the
            samples.
        faults: The faults; may be changed while it serves.
        delay: Seconds before each answer.
        tls: Makes it `https://localhost:PORT`, for tools that discover it without a `host` block.
        tokens: Token that a host requires, by host.
        warnings: Warnings beside a provider's versions, by provider.
        tells_packages: True if OpenTofu's registry reports the hashes of every platform's package.
        packages: The `packages` of a release, by provider and version: any JSON, which replaces the registry's own
            report, on any host.
        metadata: Metadata files that answer for their providers in OpenTofu's registry, if any.
    """

    def __init__(
        self,
        catalog: Mapping[str, Sequence[str | SampleListing]] | None = None,
        *,
        faults: Faults | None = None,
        delay: float = 0.0,
        tls: ssl.SSLContext | None = None,
        tokens: Mapping[str, str] | None = None,
        warnings: Mapping[str, Sequence[str]] | None = None,
        tells_packages: bool = True,
        packages: Mapping[tuple[str, str], object] | None = None,
        metadata: MetadataFolder | None = None,
    ) -> None:
        self._offers = {
            provider: {offer.version: offer for offer in _offers(provider, offered)}
            for provider, offered in (sample_catalog() if catalog is None else catalog).items()
        }
        self.faults = faults or Faults()
        self.delay = delay
        self.tokens = tokens or {}
        self.warnings = warnings or {}
        self.tells_packages = tells_packages
        self.packages = dict(packages or {})
        self.metadata = metadata
        self._tls = tls
        self.stopping = threading.Event()
        self._requests: list[Request] = []
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, port: int = 0) -> None:
        """Start serving, on a free port unless one is given.

        Raises:
            OSError: The port is in use.
        """
        self.stopping.clear()
        self._server = _Server(("127.0.0.1", port), _Handler)
        if self._tls:
            # A handshake here would let one silent client block all others.
            self._server.socket = self._tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._server.registry = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="demo registry", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop the server and every answer in progress."""
        self.stopping.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
        self._server = self._thread = None

    @property
    def port(self) -> int:
        """The TCP port."""
        assert self._server is not None, "not started"
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash."""
        return f"https://localhost:{self.port}" if self._tls else f"http://127.0.0.1:{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The registries that it serves."""
        listed = {provider.partition("/")[0] for provider in self._offers}
        return tuple(sorted(listed if self.metadata is None else {*listed, METADATA_HOST}))

    def service_url(self, host: str) -> str:
        """The base URL of `providers.v1` for one of the hosts."""
        return f"{self.url}/{quote(host)}/v1/providers/"

    def _host_of(self, request: Request) -> str:
        name = request.host.partition(":")[0]
        return name if name in self.hosts else self.hosts[0]

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, in the order of arrival."""
        return tuple(self._requests)

    def release(self, provider: str, version: str) -> Published | None:
        """Return a release as it is published now; None if there is no such release."""
        offer = self._offer(provider, version)
        return publish(provider, version, self.faults.of_release(provider, version), offer) if offer else None

    def _offer(self, provider: str, version: str) -> SampleListing | None:
        offer = self._offers.get(provider, {}).get(version)
        return None if Fault.WITHDRAWN in self.faults.of_release(provider, version) else offer

    def answer(self, request: Request, asked: RequestedPath | None) -> tuple[ServedAnswer, Fault | None]:
        """Return the answer to a request, and its transfer fault."""
        self._requests.append(request)
        if self.delay:
            self.stopping.wait(self.delay)
        if asked is None:
            return ServedAnswer.not_found(), None
        fault = self.faults.on_the_way(asked.provider, asked.version, asked.step)
        if asked.step is Step.DISCOVERY:
            base = f"/{asked.host or self._host_of(request)}/v1/providers/"
            return ServedAnswer.of_json({"providers.v1": base}), fault
        token = self.tokens.get(asked.host)
        if token and asked.step in _WITH_TOKEN and request.authorization != f"Bearer {token}":
            return ServedAnswer(401, b'{"errors":["Unauthorized"]}', "application/json"), fault
        if self.metadata is not None and asked.provider in self.metadata.providers and asked.step in _WITH_TOKEN:
            return _answer_of_metadata(self.metadata, asked), fault
        if asked.step is Step.VERSIONS:
            return self._versions(asked.provider), fault
        if asked.step is Step.DATES:
            return self._dates(asked, has_versions="include=provider-versions" in request.path), fault
        release = self.release(asked.provider, asked.version)
        if release is None:
            return ServedAnswer.not_found(), fault
        if asked.step is Step.DOWNLOAD:
            return self._download(release, asked), fault
        return _file(release, asked.detail), fault

    def _versions(self, provider: str) -> ServedAnswer:
        if provider not in self._offers:
            return ServedAnswer.not_found()
        offers = [offer for version in self._offers[provider] if (offer := self._offer(provider, version))]
        versions = ((offer.listed or offer.version, offer.protocols, offer.platforms) for offer in offers)
        return ServedAnswer.of_json(versions_document(provider, versions, self.warnings.get(provider)))

    def _dates(self, asked: RequestedPath, *, has_versions: bool) -> ServedAnswer:
        """Return release dates: JSON:API for Terraform's registry, the documentation index for OpenTofu's."""
        if asked.provider not in self._offers:
            return ServedAnswer.not_found()
        offers = [offer for version in self._offers[asked.provider] if (offer := self._offer(asked.provider, version))]
        now = datetime.now(UTC)
        dates = {
            offer.version: (now - timedelta(days=offer.days, hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
            for offer in offers
            if offer.days is not None
        }
        if asked.host == OPENTOFU.default_host:
            return ServedAnswer.of_json(
                {"versions": [{"id": f"v{name}", "published": date} for name, date in dates.items()]}
            )
        items = [
            {"type": "provider-versions", "id": str(place), "attributes": {"version": name, "published-at": date}}
            for place, (name, date) in enumerate(dates.items())
        ]
        source = f"https://git.example.com/{asked.namespace}/terraform-provider-{asked.type}"
        attributes = {"full-name": f"{asked.namespace}/{asked.type}", "source": source}
        data = {"type": "providers", "attributes": attributes}
        return ServedAnswer.of_json({"data": data, "included": items} if has_versions else {"data": data})

    def _download(self, release: Published, asked: RequestedPath) -> ServedAnswer:
        offer = self._offer(release.provider, release.version) or SampleListing(release.version)
        if asked.detail not in offer.platforms:
            return ServedAnswer.not_found()
        system, _, arch = asked.detail.partition("_")
        name = file_name(release.provider, release.version, f"{asked.detail}.zip")
        files = f"{self.url}/{quote(asked.host)}/files/{asked.namespace}/{asked.type}/{release.version}/"
        faults = self._reported_faults(release)
        stated = publish(release.provider, release.version, faults, offer)
        shasum = digest_of(hashes_by_platform(stated)[asked.detail][0])
        keys = [{"ascii_armor": key, "trust_signature": release.trust_signature} for key in release.keys]
        document: dict[str, object] = {
            "protocols": offer.protocols,
            "os": system,
            "arch": arch,
            "filename": name,
            "download_url": files + name,
            "shasum": "0" * 64 if Fault.OTHER_CHECKSUM in faults else shasum,
            "shasums_url": files + file_name(release.provider, release.version, "SHA256SUMS"),
            "shasums_signature_url": files + file_name(release.provider, release.version, "SHA256SUMS.sig"),
            "signing_keys": {"gpg_public_keys": keys},
        }
        told = self.packages.get((release.provider, release.version))
        if told is not None:
            document["packages"] = told
        elif self.tells_packages and asked.host == OPENTOFU.default_host:
            document["packages"] = reported_packages(stated, faults)
        return ServedAnswer.of_json(document)

    def _reported_faults(self, release: Published) -> frozenset[Fault]:
        """Return the faults that the registry's own answers reflect; it does not know of a tampered package."""
        return self.faults.of_release(release.provider, release.version) - {Fault.TAMPERED_PACKAGE}


def _offers(provider: str, offered: Sequence[str | SampleListing]) -> list[SampleListing]:
    days = sample_days(provider, (version for version in offered if isinstance(version, str)))
    return [item if isinstance(item, SampleListing) else SampleListing(item, days=days[item]) for item in offered]


def _answer_of_metadata(metadata: MetadataFolder, asked: RequestedPath) -> ServedAnswer:
    try:
        if asked.step is Step.VERSIONS:
            return ServedAnswer.of_json(metadata.versions(asked.provider))
        found = metadata.download(asked.provider, asked.version, asked.detail)
    except (ConfigurationError, OSError, ValueError) as error:
        return ServedAnswer(500, json.dumps({"errors": [str(error)]}).encode(), "application/json")
    return ServedAnswer.not_found() if found is None else ServedAnswer.of_json(found)


def _file(release: Published, name: str) -> ServedAnswer:
    def named(suffix: str) -> bool:
        return name == file_name(release.provider, release.version, suffix)

    if named("SHA256SUMS"):
        return ServedAnswer(200, release.sums, "text/plain")
    if named("SHA256SUMS.sig"):
        return ServedAnswer(200, release.signature)
    if named("manifest.json"):
        return ServedAnswer(200, MANIFEST_JSON, "application/json")
    for platform in release.platforms:
        if named(f"{platform}.zip"):
            return ServedAnswer(200, release.package(platform), "application/zip")
    return ServedAnswer.not_found()


class _Server(ThreadingHTTPServer):
    registry: DemoRegistry
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors: some faults make the client disconnect."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "locklens-demo"
    sys_version = ""
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self) -> None:
        registry = cast("_Server", self.server).registry
        path = unquote(self.path.partition("?")[0])
        asked = read_path(path)
        request = Request(
            self.command,
            self.path,
            self.headers.get("Host", ""),
            self.headers.get("Authorization", ""),
            asked.step if asked else None,
        )
        answer, fault = registry.answer(request, asked)
        send(self, answer, fault, registry.stopping)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing; `DemoRegistry.requests` records each request."""
