"""A small OCI registry on this machine: OCI Distribution 1.1, for pulls and pushes, that misbehaves as a test says.

Clients that know no other scheme are served over TLS, with `loopback.server_context`. What a push may refer to must be
there, as with the registries that people run: a manifest before its blobs is refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from kit.loopback import Asked, Handler, Server, running

if TYPE_CHECKING:
    import ssl

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"
PROVIDER = "application/vnd.opentofu.provider"
TARGET = "application/vnd.opentofu.provider-target"
ZIP = "archive/zip"

_PATH = re.compile(r"/v2/(?P<name>.+)/(?P<kind>manifests|blobs|tags)/(?P<rest>.+)")


class Manifest(NamedTuple):
    media_type: str
    data: bytes


class Repository:
    """The content of one repository, which tests may read and change."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, Manifest] = {}
        self.tags: dict[str, str] = {}

    def blob(self, data: bytes) -> dict[str, Any]:
        """Add a blob; return its digest and size, as a descriptor has them."""
        self.blobs[digest_of(data)] = data
        return {"digest": digest_of(data), "size": len(data)}

    def manifest(self, content: object, media_type: str, *, tag: str = "") -> dict[str, Any]:
        """Add a manifest, whatever is in it; return its descriptor."""
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        digest = digest_of(data)
        self.manifests[digest] = Manifest(media_type, data)
        if tag:
            self.tags[tag] = digest
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    def provider(self, tag: str, packages: dict[str, bytes]) -> dict[str, Any]:
        """Add a provider's version as OpenTofu installs it: a package (zip file) for each platform such as
        `linux_amd64`; return the descriptor of its index."""
        targets = []
        for platform, package in packages.items():
            system, _, architecture = platform.partition("_")
            manifest = {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "artifactType": TARGET,
                "config": {"mediaType": EMPTY, **self.blob(b"{}")},
                "layers": [{"mediaType": ZIP, **self.blob(package)}],
            }
            place = {"os": system, "architecture": architecture}
            targets.append({**self.manifest(manifest, MANIFEST), "artifactType": TARGET, "platform": place})
        index = {"schemaVersion": 2, "mediaType": INDEX, "artifactType": PROVIDER, "manifests": targets}
        return self.manifest(index, INDEX, tag=tag)


class OciRegistry(Server):
    """The registry. Change its attributes to have it misbehave; `asked` has what it was asked, `writes` what it took.

    Attributes:
        repositories: By name; a push makes one.
        basic: User names with their passwords; with any, each request needs one, as Basic authentication.
        tokens: The same for the token service, which all requests then need a token of; see `bearer`.
        refresh_tokens: What the token service takes instead of a user name and a password, at its OAuth endpoint.
        access_tokens: Tokens that count for every repository without the token service.
        is_anonymous: True if the token service hands a token for pulls to whoever asks.
        realm: The URL of the token service; "" for the registry's own.
        page: Tags on a page; 0 for all of them.
        blobs_at: What a request for a blob is redirected to: the beginning of a URL; "" to serve it here.
        on_request: Called before each request with its method and path; may raise to break the connection off.
        answers: Answers to single paths instead of the registry's own, by method and path.
        is_read_only: True to refuse what changes something.
        unread: Paths whose requests have a body that is never read, nor answered.
    """

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        super().__init__(context, _RegistryHandler)
        self.repositories: dict[str, Repository] = {}
        self.basic: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.refresh_tokens: set[str] = set()
        self.access_tokens: set[str] = set()
        self.is_anonymous = False
        self.realm = ""
        self.page = 0
        self.blobs_at = ""
        self.on_request: Callable[[str, str], None] = lambda _method, _path: None
        self.answers: dict[tuple[str, str], Callable[[Handler], None]] = {}
        self.is_read_only = False
        self.unread: set[str] = set()
        self.writes: list[str] = []
        self.granted: dict[str, frozenset[str]] = {}
        self.uploads: dict[str, bytearray] = {}
        self.lock = threading.Lock()

    @property
    def host(self) -> str:
        """What stands before the repository in an address."""
        return f"127.0.0.1:{self.port}"

    def repository(self, name: str) -> Repository:
        with self.lock:
            return self.repositories.setdefault(name, Repository())

    def requests(self, *methods: str) -> list[str]:
        """What it was asked, as METHOD PATH."""
        return [f"{one.method} {one.path}" for one in self.asked if not methods or one.method in methods]


@contextmanager
def registry(context: ssl.SSLContext | None = None) -> Iterator[OciRegistry]:
    """An OCI registry while it runs; over TLS with a context of `loopback.server_context`."""
    with running(OciRegistry(context)) as server:
        yield server


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class _RegistryHandler(Handler):
    server: OciRegistry

    def answer(self) -> None:
        if urlsplit(self.path).path in self.server.unread:
            self.server.asked.append(Asked(self.path, "", {}, self.command))
            self.server.release.wait()
            return
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length) if length else b""
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append(Asked(self.path, headers.get("host", ""), headers, self.command))
        path, self.query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        self.server.on_request(self.command, path)
        own = self.server.answers.get((self.command, path)) or self.server.routes.get(path)
        if own is not None:
            own(self)
        elif path == "/token":
            self._token()
        elif (match := _PATH.fullmatch(path)) is None and path not in {"/v2", "/v2/"}:
            self.reply(404)
        elif not self._is_allowed("" if match is None else match["name"]):
            self._challenge("" if match is None else match["name"])
        elif match is None:
            self.reply(body=b"{}")
        elif self.command not in {"GET", "HEAD"} and self.server.is_read_only:
            self.error(403, "DENIED")
        else:
            getattr(self, f"_{match['kind']}")(match["name"], match["rest"])

    do_HEAD = do_POST = do_PATCH = do_PUT = Handler.do_GET  # noqa: N815

    def error(self, status: int, code: str, **headers: str) -> None:
        """Answer with an error in the form of the specification."""
        self.reply(status, json.dumps({"errors": [{"code": code, "message": code.lower()}]}).encode(), **headers)

    @property
    def _writes(self) -> bool:
        return self.command not in {"GET", "HEAD"}

    def _is_allowed(self, name: str) -> bool:
        scheme, _, secret = self.headers.get("Authorization", "").partition(" ")
        if self.server.basic:
            return scheme == "Basic" and _is_one_of(secret, self.server.basic)
        if self.server.tokens or self.server.refresh_tokens or self.server.access_tokens:
            if scheme != "Bearer":
                return False
            if secret in self.server.access_tokens or (secret in self.server.granted and not name):
                return True
            needed = f"{name}:{'push' if self._writes else 'pull'}"
            return needed in self.server.granted.get(secret, ())
        return True

    def _challenge(self, name: str) -> None:
        if self.server.basic:
            self.error(401, "UNAUTHORIZED", WWW_Authenticate='Basic realm="a registry"')
            return
        realm = self.server.realm or self.server.url("/token")
        scope = f',scope="repository:{name}:{"pull,push" if self._writes else "pull"}"' if name else ""
        self.error(401, "UNAUTHORIZED", WWW_Authenticate=f'Bearer realm="{realm}",service="loopback"{scope}')

    def _token(self) -> None:
        """The token service, as Docker's (GET, Basic) and as OAuth 2 (POST) describe it."""
        if self.command == "POST":
            form = {key: each[0] for key, each in parse_qs(self.body.decode()).items()}
            is_known = form.get("refresh_token") in self.server.refresh_tokens or (
                form.get("grant_type") == "password"
                and self.server.tokens.get(form.get("username", "")) == form.get("password")
            )
            scopes = form.get("scope", "").split()
        else:
            scheme, _, secret = self.headers.get("Authorization", "").partition(" ")
            is_known = scheme == "Basic" and _is_one_of(secret, self.server.tokens)
            scopes = [one for each in self.query.get("scope", []) for one in each.split()]
            if not is_known and self.server.is_anonymous and not scheme:
                is_known, scopes = True, [re.sub(r":[^:]*\Z", ":pull", one) for one in scopes]
        if not is_known:
            self.error(401, "UNAUTHORIZED")
            return
        granted = set()
        for scope in scopes:
            _, name, actions = scope.split(":")
            granted |= {f"{name}:{action}" for action in actions.split(",")}
        with self.server.lock:
            token = f"token-{len(self.server.granted)}"
            self.server.granted[token] = frozenset(granted)
        key = "access_token" if self.command == "POST" else "token"
        self.reply(body=json.dumps({key: token, "expires_in": 300}).encode())

    def _tags(self, name: str, _rest: str) -> None:
        held = self.server.repositories.get(name)
        if held is None:
            self.error(404, "NAME_UNKNOWN")
            return
        tags = sorted(held.tags)
        last, count = self.query.get("last", [""])[0], int(self.query.get("n", ["0"])[0])
        rest = [tag for tag in tags if tag > last]
        size = min(filter(None, (count, self.server.page)), default=len(rest))
        headers = {}
        if len(rest) > size > 0:
            more = urlencode({"n": size, "last": rest[size - 1]})
            headers["Link"] = f'</v2/{name}/tags/list?{more}>; rel="next"'
        self.reply(200, json.dumps({"name": name, "tags": rest[:size]}).encode(), **headers)

    def _manifests(self, name: str, reference: str) -> None:
        if self.command == "PUT":
            self._put_manifest(self.server.repository(name), name, reference)
            return
        held = self.server.repositories.get(name)
        digest = reference if held is None or reference.startswith("sha256:") else held.tags.get(reference, "")
        manifest = None if held is None else held.manifests.get(digest)
        if manifest is None:
            self.error(404, "NAME_UNKNOWN" if held is None else "MANIFEST_UNKNOWN")
        else:
            self.reply(200, manifest.data, Content_Type=manifest.media_type, Docker_Content_Digest=digest)

    def _put_manifest(self, held: Repository, name: str, reference: str) -> None:
        content = json.loads(self.body)
        layers = [*content.get("layers", ()), *filter(None, [content.get("config")])]
        if any(one["digest"] not in held.blobs for one in layers):
            self.error(400, "MANIFEST_BLOB_UNKNOWN")
        elif any(one["digest"] not in held.manifests for one in content.get("manifests", ())):
            self.error(400, "MANIFEST_UNKNOWN")
        elif reference.startswith("sha256:") and reference != digest_of(self.body):
            self.error(400, "DIGEST_INVALID")
        else:
            tag = "" if reference.startswith("sha256:") else reference
            digest = held.manifest(self.body, self.headers["Content-Type"], tag=tag)["digest"]
            self.server.writes.append(f"manifest {name} {reference}")
            place = f"/v2/{name}/manifests/{digest}"
            self.reply(201, Location=place, Docker_Content_Digest=digest)

    def _blobs(self, name: str, rest: str) -> None:
        if rest.startswith("uploads/"):
            self._upload(name, rest.removeprefix("uploads/"))
            return
        held = self.server.repositories.get(name)
        data = None if held is None else held.blobs.get(rest)
        if data is None:
            self.error(404, "NAME_UNKNOWN" if held is None else "BLOB_UNKNOWN")
        elif self.server.blobs_at:
            self.reply(307, Location=f"{self.server.blobs_at}{rest}")
        else:
            self.reply(200, data, Content_Type="application/octet-stream", Docker_Content_Digest=rest)

    def _upload(self, name: str, session: str) -> None:
        """Take a blob: POST begins, PATCH adds bytes, PUT adds the last ones and ends with the digest."""
        if self.command == "POST":
            with self.server.lock:
                session = f"upload-{len(self.server.uploads)}"
                self.server.uploads[session] = bytearray()
            self.reply(202, Location=f"/v2/{name}/blobs/uploads/{session}?state=a%2Fb", Range="0-0")
            return
        upload = self.server.uploads.get(session)
        if upload is None:
            self.error(404, "BLOB_UPLOAD_UNKNOWN")
            return
        upload += self.body
        if self.command == "PATCH":
            self.reply(202, Location=self.path, Range=f"0-{len(upload) - 1}")
            return
        digest = self.query.get("digest", [""])[0]
        if digest != digest_of(bytes(upload)):
            self.error(400, "DIGEST_INVALID")
            return
        self.server.repository(name).blobs[digest] = bytes(upload)
        self.server.writes.append(f"blob {name} {digest}")
        self.reply(201, Location=f"/v2/{name}/blobs/{digest}", Docker_Content_Digest=digest)


def _is_one_of(secret: str, users: dict[str, str]) -> bool:
    user, _, password = base64.b64decode(secret).decode().partition(":")
    return user in users and users[user] == password
