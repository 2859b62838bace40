"""Sessions with OCI registries: requests with the tokens that they demand, tags, manifests and blobs, and pushes.

Requests, tokens and refusals are those of oras-go, by which OpenTofu asks (registry/remote/repository.go and
auth/client.go there), without its first request for `/v2/`: what a registry demands is learnt from its first refusal.
Registries are asked over TLS alone. A password goes to the registry that it is for, and to the place for tokens that
this registry names; neither passwords nor tokens follow a redirect to another server.

What a registry has by a digest is not sent again. A blob is sent whole, in one request after the one that begins it.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from msgspec.structs import replace

from locklens.addresses import display_host
from locklens.errors import NotFoundError, SourceError, UnauthorizedError, UnavailableError
from locklens.project.cliconfig import Token
from locklens.project.installation import OciRepository, is_digest
from locklens.sources import documents
from locklens.sources.documents import ShapeError
from locklens.sources.http import MIB, NOT_FOUND, OK, REFUSALS, Outgoing, RequestKind, Response, Transfer, status_words
from locklens.sources.http.sending import MAX_DOWNLOAD_BYTES
from locklens.sources.oci import (
    MANIFEST_TYPES,
    Challenge,
    ConfiguredLogins,
    Manifest,
    basic_token,
    errors_of,
    has_digest,
)
from locklens.sources.urls import MAX_URL, has_userinfo, host_name, is_public, origin, resolve
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from locklens.project.oci_credentials import OciLogin
    from locklens.sources.http.client import Client

MAX_MANIFEST = 5 * MIB - 1
"""The most bytes of a manifest: OpenTofu refuses more than 4 MiB, and counts whole ones."""

_MAX_PAGE, _MAX_PAGES, _MAX_TAGS = 4 * MIB, 1000, 100_000
"""Bytes of a page of tags, pages, and tags of a repository: the largest public ones have some 20,000."""

_MAX_TOKEN, _MAX_ERROR, _MAX_REALM = 128 * 1024, 8 * 1024, 2048
_USUAL_LIFE, _LEEWAY = 60.0, 10.0
"""Seconds that a token counts where its server does not say (distribution.github.io, "Token Authentication"), and
before its end where it is no longer used."""

_CREATED, _ACCEPTED, _UNAUTHORIZED = 201, 202, 401
_NO_REPOSITORY = frozenset({"NAME_UNKNOWN", "NAME_INVALID"})
_NO_CONTENT = frozenset({"MANIFEST_UNKNOWN", "BLOB_UNKNOWN"})
_KEPT = ("www-authenticate", "link", "docker-content-digest", "location", "range")
_GET = Outgoing("GET")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+\Z", re.ASCII)
_RETRIES = 2
"""Attempts after the first push, where a registry asks for a pause or fails: many packages are many requests."""

_EMPTY = (("Content-Length", "0"),)


class OciRegistries:
    """The registries of a run, and what each demands. Thread-safe.

    `seconds` is the time limit of one request; `named_by` says what names the repositories, for hints.
    """

    def __init__(self, client: Client, seconds: float, credentials: ConfiguredLogins) -> None:
        self.client = client
        self.credentials = credentials
        self.seconds = seconds
        self.named_by = "the repository_template of the oci_mirror block"
        self._lock = threading.Lock()
        self._sessions: dict[tuple[OciRepository, str], OciSession] = {}
        self.challenges: dict[str, Challenge] = {}

    def session(self, repository: OciRepository, *, actions: str = "pull") -> OciSession:
        """Return the session with a repository, which all who ask it share, for `pull` or `pull,push`."""
        with self._lock:
            key = repository, actions
            return self._sessions.setdefault(key, OciSession(repository, self, actions))

    def kind(self, words: str, limit: int, accept: str = "*/*") -> RequestKind:
        """Return a kind of request, which is not repeated: OpenTofu asks OCI registries once."""
        return RequestKind(words, limit, self.seconds, accept=accept, kept_headers=_KEPT, error_limit=_MAX_ERROR)


class OciSession:
    """Requests to one repository, with the token that it demands. Thread-safe."""

    def __init__(self, repository: OciRepository, registries: OciRegistries, actions: str) -> None:
        self.repository = repository
        self._registries = registries
        self._client = registries.client
        self._scope = f"repository:{repository.name}:{actions}"
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._ends = 0.0

    def __str__(self) -> str:
        return f"OCI repository {self.repository}"

    def send(self, url: str, kind: RequestKind, sent: Outgoing = _GET) -> Response:
        """Send a request, with a token where the registry demands one; the status may be any.

        The URL is on the registry's own host, or where it said that an upload goes on; the kind is of
        `OciRegistries.kind`.

        Raises:
            UnauthorizedError: No token can be obtained.
            UnavailableError: There is no usable answer, or no telling what the login is.
        """
        try:
            return self._sent(url, kind, sent)
        except UnavailableError as error:
            error.name_place(str(self), self._hint)
            raise

    @property
    def _hint(self) -> str:
        return f"check that the registry is there, and {self._registries.named_by}"

    def _sent(self, url: str, kind: RequestKind, sent: Outgoing) -> Response:
        token = self._current() if origin(url) == origin(self.repository.url()) else None
        answer = self._client.send(url, kind, sent, token=token)
        # A challenge of another server, to which a redirect led, is none of the registry's.
        if answer.status != _UNAUTHORIZED or {origin(url), origin(answer.url)} != {origin(self.repository.url())}:
            return answer
        challenge = Challenge.parse(answer.headers.get("www-authenticate", ""))
        if not challenge.scheme:
            return answer
        self._registries.challenges[self.repository.registry] = challenge
        with self._lock:
            if self._token is token:  # Otherwise another thread has got a new one by now.
                self._token = self._authorised(challenge)
            token = self._token
        return answer if token is None else self._client.send(url, kind, sent, token=token)

    def tags(self) -> tuple[str, ...]:
        """Return the repository's tags, in the registry's order.

        Raises:
            NotFoundError: There is no such repository.
            UnauthorizedError: The registry refuses.
            UnavailableError: It cannot say.
        """
        kind = self._registries.kind("a list of tags", _MAX_PAGE)
        found: list[str] = []
        url, asked = self.repository.url("tags", "list"), set[str]()
        while url:
            asked.add(url)
            answer = self.send(url, kind)
            if answer.status != OK:
                raise self.refusal(answer, "asked for its tags")
            try:
                with documents.opened(answer.body) as fields:
                    found += fields.texts("tags", _MAX_TAGS, MAX_URL)
            except ShapeError as error:
                raise self.unusable(f"lists its tags with {error}") from None
            url = self._next_page(answer)
            if url in asked:
                raise self.unusable("lists its tags in a circle: a page says that it comes next itself")
            if len(found) > _MAX_TAGS or len(asked) >= _MAX_PAGES:
                raise self.unusable(f"has more than {_MAX_TAGS} tags, or {_MAX_PAGES} pages of them")
        return tuple(found)

    def manifest(self, reference: str, media_types: tuple[str, ...] = MANIFEST_TYPES) -> Manifest:
        """Return a manifest by a tag or a digest; its bytes are checked by the one that it is asked by, or has.

        Raises:
            NotFoundError: The repository has no such manifest.
            UnauthorizedError: The registry refuses.
            UnavailableError: It has no usable answer, such as bytes with another digest.
        """
        kind = self._registries.kind("a manifest", MAX_MANIFEST, ", ".join(media_types))
        answer = self.send(self.repository.url("manifests", reference), kind)
        if answer.status != OK:
            raise self.refusal(answer, f"asked for the manifest {reference}")
        said = answer.headers.get("docker-content-digest", "")
        if said and not is_digest(said):
            raise self.unusable(f"names no digest that can be checked of the manifest {reference}")
        digest = reference if is_digest(reference) else f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
        if not has_digest(answer.body, digest) or (said and not has_digest(answer.body, said)):
            raise self.unusable(f"sent a manifest whose content does not match digest {said or digest}")
        if not _MEDIA_TYPE.match(answer.media_type):
            raise self.unusable(f"sent the manifest {reference} without a media type")
        return Manifest(digest, answer.media_type, answer.body)

    @contextmanager
    def blob(self, digest: str, size: int) -> Iterator[Transfer]:
        """Open a blob, which is not held against its digest here; the repository's manifest was read before.

        It has as many bytes as the manifest says: more or less are an error.

        Raises:
            OfflineError: The run is offline.
            UnavailableError: Here or while the chunks are read: there is none, or it is of another size.
        """
        with self._client.download(self.repository.url("blobs", digest), token=self._current()) as transfer:
            if transfer.length is not None and transfer.length != size:
                raise self._of_another_size(digest, size)
            yield Transfer(transfer.url, size, self._bounded(transfer, digest, size))

    def _bounded(self, transfer: Transfer, digest: str, size: int) -> Iterator[bytes]:
        received = 0
        for chunk in transfer.chunks:
            received += len(chunk)
            if received > size:
                break
            yield chunk
        if received != size:
            raise self._of_another_size(digest, size)

    def _of_another_size(self, digest: str, size: int) -> UnavailableError:
        return self.unusable(f"sent {digest} with another size than the {size} bytes that its manifest says")

    def refusal(self, answer: Response, asked: str) -> SourceError:
        """Return the error for an answer with an unexpected status, when it was, say, "asked for its tags"."""
        codes, words = errors_of(answer.body)
        said = f"{self} answered {status_words(answer.status)} when {asked}{f' ({words})' if words else ''}"
        name = display_host(self.repository.registry)
        is_absent = bool(_NO_REPOSITORY & set(codes)) if codes else answer.status == NOT_FOUND
        if is_absent or (answer.status == NOT_FOUND and set(codes) <= _NO_CONTENT):
            return NotFoundError(said, source=name)
        if answer.status in REFUSALS:
            hint = f"log in to {name} (docker login), or set an oci_credentials block for {self.repository}"
            return UnauthorizedError(said, source=name, hint=hint, had_credentials=answer.had_token)
        return UnavailableError(said, source=name, hint=self._hint)

    def unusable(self, words: str) -> UnavailableError:
        """Return the error for an answer that cannot be used; `words` go on after the repository's name."""
        hint = "push the artifact again, or check what stands between this machine and the registry"
        return UnavailableError(visible(f"{self} {words}"), source=display_host(self.repository.registry), hint=hint)

    def _next_page(self, answer: Response) -> str:
        """Return the URL of the next page of tags, "" after the last."""
        link = answer.headers.get("link", "").strip()
        if not link:
            return ""
        target, end, _ = link.removeprefix("<").partition(">")
        try:
            if not link.startswith("<") or not end:
                raise ValueError("it is not in angle brackets")
            url = resolve(answer.url, urljoin(answer.url, target))
        except ValueError as error:
            raise self.unusable(f"names a next page of tags that cannot be asked: {error}") from None
        if origin(url) != origin(self.repository.url()):
            raise self.unusable(f"names a next page of tags on another server, {host_name(url)}, which is not asked")
        return url

    def _current(self) -> Token | None:
        """Return the token for the next request: one that is known, or that a registry asked for before demands."""
        with self._lock:
            challenge = self._registries.challenges.get(self.repository.registry)
            if challenge is not None and (self._token is None or time.monotonic() > self._ends):
                self._token = self._authorised(challenge)
            return self._token

    def _authorised(self, challenge: Challenge) -> Token | None:
        """Return what the registry demands; None where a login is missing."""
        login = self._registries.credentials.for_repository(self.repository)
        if challenge.scheme == "basic":
            self._ends = float("inf")
            return basic_token(login) if login is not None and login.user and login.password else None
        if login is not None and login.access_token:
            self._ends = float("inf")
            return Token(login.access_token)
        return self._fetched(challenge, login)

    def _fetched(self, challenge: Challenge, login: OciLogin | None) -> Token:
        """Ask the place for tokens that the registry names."""
        realm = self._realm(challenge.realm)
        scopes = tuple(dict.fromkeys((self._scope, *challenge.scopes)))
        pairs = [("service", challenge.service)] if challenge.service else []
        kind = self._registries.kind("a token", _MAX_TOKEN)
        basic: Token | None = None
        if login is not None and login.refresh_token:
            form = {"grant_type": "refresh_token", "refresh_token": login.refresh_token, "client_id": "locklens"}
            content = urlencode({**form, **dict(pairs), "scope": " ".join(scopes)}).encode()
            headers = (("Content-Type", "application/x-www-form-urlencoded"),)
            url, sent = realm, Outgoing("POST", headers, content)
        else:
            parts = urlsplit(realm)
            given = [pair for pair in parse_qsl(parts.query) if pair[0] != "service" or not pairs]
            query = urlencode([*given, *pairs, *(("scope", scope) for scope in scopes)])
            url, sent = parts._replace(query=query).geturl(), _GET
            basic = basic_token(login) if login is not None and (login.user or login.password) else None
        asked = time.monotonic()
        answer = self._client.send(url, kind, sent, token=basic)
        if answer.status != OK:
            error = self.refusal(answer, f"asked for a token at {host_name(realm)}")
            # A place for tokens that is not there says nothing about the repository.
            raise UnavailableError(str(error), source=error.source) if isinstance(error, NotFoundError) else error
        try:
            with documents.opened(answer.body) as fields:
                secret = fields.text("access_token", _MAX_TOKEN) or fields.text("token", _MAX_TOKEN)
                seconds = float(fields.number("expires_in")) or _USUAL_LIFE
        except ShapeError as error:
            raise self.unusable(f"names {host_name(realm)} for tokens, which answered with {error}") from None
        if not secret:
            raise self.unusable(f"names {host_name(realm)} for tokens, which answered without one")
        self._ends = asked + max(seconds - _LEEWAY, _LEEWAY)
        return Token(secret)

    def _realm(self, text: str) -> str:
        """Check the place for tokens: over TLS, and no address of a private network unless it is the registry's own.

        A password must not go elsewhere (`validateRealm` of oras-go).
        """
        own = urlsplit(self.repository.url()).hostname or ""
        try:
            realm = resolve(self.repository.url(), text[:_MAX_REALM])
            host = urlsplit(realm).hostname or ""
            if not realm.startswith("https:") or has_userinfo(realm):
                raise ValueError("only https URLs without a password can be asked")
            if host != own and _is_address(host) and not is_public(host):
                raise ValueError("it is an address of a private network or of this machine")
        except ValueError as error:
            raise self.unusable(f"names a place for tokens that cannot be asked: {error}") from None
        return realm


def _is_address(host: str) -> bool:
    return ":" in host or not host.strip("0123456789.")


class OciPush:
    """A repository that is pushed to, and that a push makes where the registry allows it. Thread-safe."""

    def __init__(self, repository: OciRepository, registries: OciRegistries) -> None:
        self.repository = repository
        self._session = registries.session(repository, actions="pull,push")
        self._registries = registries
        self._lock = threading.Lock()
        self._small: set[str] = set()

    def tagged(self, tag: str) -> Manifest | None:
        """Return the manifest that a tag names; None where there is no such tag, or no such repository yet.

        Raises:
            UnauthorizedError: The registry refuses.
            UnavailableError: It cannot say.
        """
        try:
            return self._session.manifest(tag)
        except NotFoundError:
            return None

    def has_blob(self, digest: str) -> bool:
        """True if the repository has a blob; errors as in `tagged`."""
        return self._has("blobs", digest)

    def push_blob(self, digest: str, size: int, chunks: Callable[[], Iterable[bytes]]) -> None:
        """Send a blob by its digest, which the registry compares; `chunks` begins its content anew on each call.

        Raises:
            UnauthorizedError: The registry refuses.
            UnavailableError: It does not take the blob.
        """
        url, kind = self.repository.url("blobs", "uploads/"), self._kind("a package", MAX_MANIFEST)
        begun = self._session.send(url, kind, Outgoing("POST", _EMPTY))
        if begun.status != _ACCEPTED:
            error = self._session.refusal(begun, f"asked to take {digest}")
            error.hint = error.hint or f"the registry may want the repository {self.repository} to be made first"
            raise error
        try:
            place = urlsplit(resolve(begun.url, begun.headers.get("location", "")))
            if place.scheme != "https":
                raise ValueError("it is without TLS")
        except ValueError as error:
            raise self._session.unusable(f"names a place for {digest} that cannot be used: {error}") from None
        query = "&".join(filter(None, (place.query, urlencode({"digest": digest}))))
        headers = (("Content-Type", "application/octet-stream"), ("Content-Length", str(size)))
        sent = Outgoing("PUT", headers, chunks)
        # A registry forgets an upload that failed: to go on with it is no use.
        done = self._session.send(place._replace(query=query).geturl(), replace(kind, retries=0), sent)
        if done.status != _CREATED:
            raise self._session.refusal(done, f"sent {digest}")

    def require_blob(self, digest: str, data: bytes) -> None:
        """Send a small blob that several manifests share, unless it is there; asked once in a run."""
        with self._lock:
            if digest not in self._small:
                if not self.has_blob(digest):
                    self.push_blob(digest, len(data), lambda: [data])
                self._small.add(digest)

    def push_manifest(self, manifest: Manifest, tag: str = "") -> None:
        """Send a manifest by its digest, unless it is there, or by a tag, which names it from then on.

        Raises:
            UnauthorizedError: The registry refuses.
            UnavailableError: It does not take the manifest.
        """
        if not tag and self._has("manifests", manifest.digest, manifest.media_type):
            return
        headers = (("Content-Type", manifest.media_type), ("Content-Length", str(len(manifest.body))))
        url = self.repository.url("manifests", tag or manifest.digest)
        answer = self._session.send(
            url, self._kind("a manifest", MAX_MANIFEST), Outgoing("PUT", headers, manifest.body)
        )
        if answer.status != _CREATED:
            raise self._session.refusal(answer, f"sent the manifest {tag or manifest.digest}")
        said = answer.headers.get("docker-content-digest", manifest.digest)
        if said.startswith("sha256:") and said != manifest.digest:
            raise self._session.unusable(f"took the manifest {manifest.digest} as another one, {said}")

    def _has(self, place: str, digest: str, accept: str = "*/*") -> bool:
        # The bound is that of the file which a GET would send.
        url, kind = self.repository.url(place, digest), self._kind("an answer", MAX_DOWNLOAD_BYTES, accept)
        answer = self._session.send(url, kind, Outgoing("HEAD"))
        if answer.status not in {OK, NOT_FOUND} and origin(answer.url) == origin(url):
            raise self._session.refusal(answer, f"asked for {digest}")
        # A store that the registry redirects to may refuse the question: what is there is sent once more then.
        return answer.status == OK

    def _kind(self, words: str, limit: int, accept: str = "*/*") -> RequestKind:
        return replace(self._registries.kind(words, limit, accept), retries=_RETRIES)
