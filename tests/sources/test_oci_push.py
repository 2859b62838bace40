"""Pushes to a repository of an OCI registry: what is sent, and how an upload ends that does not get on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from kit.loopback import Handler, server_context
from kit.oci_registry import EMPTY, MANIFEST, OciRegistry, digest_of
from kit.oci_registry import registry as oci_registry
from kit.waiting import meanwhile

from locklens.errors import RunCancelledError, UnauthorizedError, UnavailableError
from locklens.project.installation import OciRepository
from locklens.project.oci_credentials import OciCredentialsBlock, OciCredentialsSettings, OciLogin
from locklens.sources.http.client import Client
from locklens.sources.oci import ConfiguredLogins, Manifest
from locklens.sources.oci_session import OciPush, OciRegistries

USER, PASSWORD = "me", "s3cr3t"
BLOCK = b"\0" * (1 << 16)
LARGE = 64 * 1024 * 1024
"""Bytes: more than sockets hold that nobody reads from."""


@contextmanager
def pushing(
    authority: trustme.CA, bundle: Path, *, seconds: float = 30.0, cancel: threading.Event | None = None
) -> Iterator[tuple[OciPush, OciRegistry]]:
    with oci_registry(server_context(authority, "127.0.0.1")) as server:
        client = Client({"SSL_CERT_FILE": str(bundle)}, pause=lambda _: None, cancel=cancel)
        block = OciCredentialsBlock(server.host, OciLogin(USER, PASSWORD))
        logins = ConfiguredLogins(OciCredentialsSettings((block,), discovers=False), {})
        registries = OciRegistries(client, seconds, logins)
        yield OciPush(OciRepository.parse(f"{server.host}/p/demo"), registries), server
        server.release.set()
        client.close()


def blocks(size: int) -> Iterator[bytes]:
    return iter([BLOCK] * (size // len(BLOCK)))


def manifest(data: bytes) -> Manifest:
    return Manifest(digest_of(data), MANIFEST, data)


def test_a_blob_and_a_manifest_arrive(authority: trustme.CA, authority_file: Path) -> None:
    with pushing(authority, authority_file) as (push, server):
        data = BLOCK * 32
        assert not push.has_blob(digest_of(data))
        assert push.tagged("1.0.0") is None
        push.push_blob(digest_of(data), len(data), lambda: blocks(len(data)))
        assert push.has_blob(digest_of(data))
        push.require_blob(digest_of(b"{}"), b"{}")
        push.require_blob(digest_of(b"{}"), b"{}")
        one = manifest(b'{"config":{"mediaType":"%s","digest":"%s"}}' % (EMPTY.encode(), digest_of(b"{}").encode()))
        push.push_manifest(one)
        push.push_manifest(one)
        push.push_manifest(one, "1.0.0")
        assert push.tagged("1.0.0") == one
        assert server.repository("p/demo").blobs == {digest_of(data): data, digest_of(b"{}"): b"{}"}
        assert server.writes == [
            f"blob p/demo {digest_of(data)}",
            f"blob p/demo {digest_of(b'{}')}",
            f"manifest p/demo {one.digest}",
            "manifest p/demo 1.0.0",
        ]


def test_an_upload_that_nobody_takes_is_given_up(authority: trustme.CA, authority_file: Path) -> None:
    with pushing(authority, authority_file, seconds=0.5) as (push, server):
        path = "/v2/p/demo/blobs/uploads/"
        server.answers["POST", path] = lambda handler: handler.reply(202, Location=f"{path}x")
        server.unread.add(f"{path}x")
        with pytest.raises(UnavailableError, match=r"did not answer in full within 0\.5 seconds"):
            push.push_blob(digest_of(b""), LARGE, lambda: blocks(LARGE))


def test_an_upload_can_be_cancelled(authority: trustme.CA, authority_file: Path) -> None:
    cancel = threading.Event()
    with pushing(authority, authority_file, cancel=cancel) as (push, server):
        path = "/v2/p/demo/blobs/uploads/"
        server.answers["POST", path] = lambda handler: handler.reply(202, Location=f"{path}x")
        server.unread.add(f"{path}x")
        taken: list[bytes] = []
        seen = [0]

        def noted(content: Iterable[bytes]) -> Iterator[bytes]:
            for one in content:
                taken.append(one)
                yield one

        def is_stuck() -> bool:
            """True once no more of the content was taken for a while: nobody reads what was sent."""
            before, seen[0] = seen[0], len(taken)
            time.sleep(0.3)
            return len(server.asked) > 1 and len(taken) == seen[0] == before

        stuck = meanwhile(is_stuck, cancel.set, rescue=server.release.set)
        with stuck, pytest.raises(RunCancelledError):
            push.push_blob(digest_of(b""), LARGE, lambda: noted(blocks(LARGE)))


def test_a_token_that_ends_during_an_upload_is_renewed(authority: trustme.CA, authority_file: Path) -> None:
    with pushing(authority, authority_file) as (push, server):
        server.tokens = {USER: PASSWORD}

        def end(method: str, _path: str) -> None:
            if method == "PUT" and len(server.requests("PUT")) == 1:
                server.granted.clear()

        server.on_request = end
        data = BLOCK * 32
        push.push_blob(digest_of(data), len(data), lambda: blocks(len(data)))
        assert server.requests("PUT").count(server.requests("PUT")[0]) == 2
        assert server.repository("p/demo").blobs == {digest_of(data): data}


def test_a_busy_registry_is_asked_again(authority: trustme.CA, authority_file: Path) -> None:
    with pushing(authority, authority_file) as (push, server):
        digest, left = digest_of(b"{}"), [429, 503]

        def busy(handler: Handler) -> None:
            if left:
                handler.reply(left.pop(), Retry_After="0")
            else:
                handler.reply(404)

        server.answers["HEAD", f"/v2/p/demo/blobs/{digest}"] = busy
        push.require_blob(digest, b"{}")
        assert server.repository("p/demo").blobs == {digest: b"{}"}


@pytest.mark.parametrize(("status", "is_there"), [(200, True), (403, False), (404, False)])
def test_a_store_behind_a_redirect_may_refuse_the_question(
    status: int, is_there: bool, authority: trustme.CA, authority_file: Path
) -> None:
    with (
        pushing(authority, authority_file) as (push, server),
        oci_registry(server_context(authority, "127.0.0.1")) as store,
    ):
        digest = digest_of(b"{}")
        store.answers["HEAD", "/blob"] = lambda handler: handler.reply(status)
        path = f"/v2/p/demo/blobs/{digest}"
        server.answers["HEAD", path] = lambda handler: handler.reply(307, Location=store.url("/blob"))
        assert push.has_blob(digest) is is_there
        server.answers["HEAD", path] = lambda handler: handler.reply(403)
        with pytest.raises(UnauthorizedError, match="answered 403 Forbidden"):
            push.has_blob(digest)


def test_a_registry_that_takes_something_else_is_told(authority: trustme.CA, authority_file: Path) -> None:
    with pushing(authority, authority_file) as (push, server):
        one, other = manifest(b"{}"), digest_of(b"other")
        path = f"/v2/p/demo/manifests/{one.digest}"
        server.answers["PUT", path] = lambda handler: handler.reply(201, Docker_Content_Digest=other)
        with pytest.raises(UnavailableError, match=f"took the manifest {one.digest} as another one, {other}"):
            push.push_manifest(one)
