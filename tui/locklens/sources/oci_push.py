"""Pushes to a repository of an OCI registry (OCI Distribution 1.1, "Push").

What a registry has by a digest is not sent again. A blob is sent whole, in one request behind the one that begins it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from msgspec.structs import replace

from locklens.errors import NotFoundError
from locklens.sources.http.sending import MAX_DOWNLOAD_BYTES
from locklens.sources.http.values import Outgoing
from locklens.sources.oci_session import MAX_MANIFEST
from locklens.sources.urls import origin, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from locklens.project.oci import OciRepository
    from locklens.sources.http.values import RequestKind
    from locklens.sources.oci import Manifest
    from locklens.sources.oci_session import OciRegistries

_OK, _CREATED, _ACCEPTED, _NOT_FOUND = 200, 201, 202, 404
_RETRIES = 2
"""Attempts after the first, where a registry asks for a pause or fails: many packages are many requests."""

_NO_CONTENT = (("Content-Length", "0"),)


class OciPush:
    """A repository that is pushed to. Thread-safe.

    Args:
        repository: The repository, which a push makes where the registry allows it.
        registries: The registries of the run.
    """

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
        """Send a blob.

        Args:
            digest: Its digest, which the registry compares.
            size: Its bytes.
            chunks: Returns its content, from the beginning on each call.

        Raises:
            UnauthorizedError: The registry refuses.
            UnavailableError: It does not take the blob.
        """
        url, kind = self.repository.url("blobs", "uploads/"), self._kind("a package", MAX_MANIFEST)
        begun = self._session.send(url, kind, Outgoing("POST", _NO_CONTENT))
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
        if answer.status not in {_OK, _NOT_FOUND} and origin(answer.url) == origin(url):
            raise self._session.refusal(answer, f"asked for {digest}")
        # A store that the registry redirects to may refuse the question: what is there is sent once more then.
        return answer.status == _OK

    def _kind(self, words: str, limit: int, accept: str = "*/*") -> RequestKind:
        return replace(self._registries.kind(words, limit, accept), retries=_RETRIES)
