"""What servers do wrong, and that each wrong ends on time with a sentence."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from kit.loopback import Handler, Server, accepting, server_context, serving, tunnel_to
from kit.repositories import put
from kit.waiting import LIMIT, meanwhile, until

from locklens import __version__
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import RunCancelledError, UnavailableError
from locklens.project.cliconfig import Token
from locklens.sources.http import Kinds, RequestKind, connections_per_host, requests_per_host, wait_before
from locklens.sources.http.client import Client
from locklens.sources.http.environment import _hashed_folder, tls_context

PLAIN = RequestKind("an answer", 64 * 1024, 5.0)
BRIEF = RequestKind("an answer", 64 * 1024, 0.4)
RETRIED = RequestKind("an answer", 64 * 1024, 5.0, retries=3)
SECRET = "s3cr3t-t0ken"


PATIENT = RequestKind("an answer", 64 * 1024, LIMIT)


class Counted:
    """A number that threads change, and the most that it was."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.number = self.most = 0

    def add(self, number: int) -> None:
        with self._lock:
            self.number += number
            self.most = max(self.most, self.number)


def at_once(server: Server, client: Client, number: int) -> int:
    """How many of that many requests the server sees at the same time: none is answered before all askers have begun."""
    arrived, network = Counted(), Counted()
    full = connections_per_host(client._environ)

    def answer(handler: Handler) -> None:
        arrived.add(1)
        until(lambda: arrived.most >= full and network.most == number)
        arrived.add(-1)
        handler.reply(200, b"{}")

    def ask(path: str) -> None:
        network.add(1)
        client.get(server.url(path), PATIENT)

    for one in range(number):
        server.on(f"/{one}", answer)
    with ThreadPoolExecutor(number) as pool:
        list(pool.map(ask, [f"/{one}" for one in range(number)]))
    return arrived.most


class Pauses(list[float]):
    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def client(pauses: Pauses) -> Iterator[Client]:
    opened = Client({}, pause=pauses)
    yield opened
    opened.close()


def refusal(client: Client, url: str, kind: RequestKind = PLAIN) -> str:
    with pytest.raises(UnavailableError) as caught:
        client.get(url, kind)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_answer_comes_with_what_matters_of_it(server: Server, client: Client) -> None:
    server.gives("/a", {"a": 1}, Content_Type="application/json; charset=utf-8")
    answer = client.get(server.url("/a"), PLAIN)
    assert (answer.status, answer.body, answer.content_type) == (200, b'{"a": 1}', "application/json; charset=utf-8")
    assert answer.url == server.url("/a")
    assert server.asked[0].headers["user-agent"].startswith("locklens/")
    assert "authorization" not in server.asked[0].headers
    assert str(client.log[0]).startswith(f"GET {server.url('/a')}: 200 OK, 8 bytes in ")


@pytest.mark.parametrize("status", [204, 400, 401, 403, 404, 501])
def test_statuses_that_mean_something_come_through_at_once(server: Server, client: Client, status: int) -> None:
    server.gives("/a", b"" if status == 204 else b"<html>", status)
    answer = client.get(server.url("/a"), RETRIED)
    assert (answer.status, answer.body) == (status, b"")
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_transient_statuses_are_asked_again_as_the_tools_do(
    server: Server, client: Client, pauses: Pauses, status: int
) -> None:
    server.gives("/a", b"<html>", status)
    assert f"answered {status} " in refusal(client, server.url("/a"), RETRIED)
    assert pauses == [1, 2, 4]
    assert len(server.asked) == 4


def test_a_server_that_recovers_is_believed(server: Server, client: Client, pauses: Pauses) -> None:
    def answer(handler: Handler) -> None:
        handler.reply(200, b"{}") if len(server.asked) == 3 else handler.reply(429, Retry_After="3")

    server.on("/a", answer)
    assert client.get(server.url("/a"), RETRIED).body == b"{}"
    assert pauses == [3, 3]


def test_a_server_that_wants_an_hour_is_left_alone(server: Server, client: Client, pauses: Pauses) -> None:
    server.gives("/a", b"", 429, Retry_After="3600")
    assert "asks for a retry later" in refusal(client, server.url("/a"), RETRIED)
    assert (pauses, len(server.asked)) == ([], 1)


def test_waits_grow_and_obey_the_server_within_reason() -> None:
    now = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
    assert [wait_before(attempt, "", now) for attempt in (2, 3, 4, 7, 90)] == [1, 2, 4, 30, 30]
    assert wait_before(2, "Sat, 21 Nov 2026 12:00:07 GMT", now) == 7
    assert wait_before(2, "Sat, 21 Nov 2026 11:00:00 GMT", now) == 0
    assert wait_before(2, "Sat, 21 Nov 2099 11:00:00 GMT", now) is None
    assert wait_before(2, "9" * 400, now) is None
    assert [wait_before(2, text, now) for text in ("soon", "-1", "1.5", "Sat, 99 Nov 2026")] == [1, 1, 1, 1]


def test_the_environment_sets_time_outs_and_retries() -> None:
    environ = {"TF_REGISTRY_CLIENT_TIMEOUT": "3", "TF_REGISTRY_DISCOVERY_RETRY": "4"}
    kinds = Kinds.of(TERRAFORM, environ)
    assert (kinds.metadata.seconds, kinds.metadata.retries) == (3, 4)
    assert (kinds.discovery.seconds, kinds.discovery.retries, kinds.discovery.redirects) == (11, 0, 3)
    assert Kinds.of(OPENTOFU, environ).discovery.seconds == 3
    for wrong in ("0", "-1", "x", "", "1e3"):
        kinds = Kinds.of(TERRAFORM, dict.fromkeys(environ, wrong))
        assert (kinds.metadata.seconds, kinds.metadata.retries) == (10, 1)


def test_opentofus_configuration_sets_them_where_no_variable_does() -> None:
    kinds = Kinds.of(OPENTOFU, {}, seconds=20, retries=0)
    assert (kinds.metadata.seconds, kinds.metadata.retries, kinds.discovery.seconds) == (20, 0, 20)
    environ = {"TF_REGISTRY_CLIENT_TIMEOUT": "3", "TF_REGISTRY_DISCOVERY_RETRY": "4"}
    kinds = Kinds.of(OPENTOFU, environ, seconds=20, retries=0)
    assert (kinds.metadata.seconds, kinds.metadata.retries) == (3, 4)


@pytest.mark.parametrize(("added", "sent"), [("", ""), ("  ci/1 x ", " ci/1 x"), ("a\nb: c", ""), ("é", "")])
def test_the_environment_adds_to_who_asks(server: Server, added: str, sent: str) -> None:
    found: list[str] = []

    def heard(handler: Handler) -> None:
        found.append(handler.headers["User-Agent"])
        handler.reply(204)

    server.on("/a", heard)
    with closing(Client({"TF_APPEND_USER_AGENT": added})) as client:
        client.get(server.url("/a"), Kinds.of(TERRAFORM, {}).metadata)
    assert found == [f"locklens/{__version__}{sent}"]


def test_an_answer_without_end_is_not_read(server: Server, client: Client) -> None:
    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while True:
            handler.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    server.on("/endless", endless)
    server.gives("/declared", b"", Content_Length=str(2**30))
    for path in ("/endless", "/declared"):
        assert "of more than 64 KiB, which is not read" in refusal(client, server.url(path))


def test_a_gzip_bomb_stays_small(server: Server, client: Client) -> None:
    server.gives("/bomb", gzip.compress(bytes(50_000_000)), Content_Encoding="gzip")
    server.gives("/fine", gzip.compress(b"{}" * 10_000), Content_Encoding="gzip")
    server.gives("/cut", gzip.compress(b"{}" * 10_000)[:-9], Content_Encoding="gzip")
    server.gives("/broken", b"not gzip", Content_Encoding="gzip")
    server.gives("/other", b"{}", Content_Encoding="br")
    assert "of more than 64 KiB" in refusal(client, server.url("/bomb"))
    assert client.get(server.url("/fine"), PLAIN).body == b"{}" * 10_000
    assert "breaks off" in refusal(client, server.url("/cut"))
    assert "cannot be decompressed" in refusal(client, server.url("/broken"))
    assert "in an encoding that was not requested" in refusal(client, server.url("/other"))


def dripping_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not handler.server.release.wait(0.05):
        handler.wfile.write(b"x")
        handler.wfile.flush()


def dripping_head(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not handler.server.release.wait(0.05):
        handler.wfile.write(b"X-A: b\r\n")
        handler.wfile.flush()


def stalling(handler: Handler) -> None:
    handler.server.release.wait(LIMIT)


@pytest.mark.parametrize("answer", [dripping_body, dripping_head, stalling])
def test_what_is_slow_ends_on_time(server: Server, client: Client, answer: Callable[[Handler], None]) -> None:
    server.on("/a", answer)
    assert refusal(client, server.url("/a"), BRIEF).endswith("did not answer in full within 0.4 seconds")


def test_a_handshake_that_stalls_ends_on_time(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "within 0.4 seconds" in refusal(client, f"https://127.0.0.1:{silent.getsockname()[1]}/", BRIEF)


def test_time_that_is_up_before_the_connection_is_a_timeout(server: Server, client: Client) -> None:
    over = RequestKind("an answer", 1000, 0.0)
    assert refusal(client, server.url("/a"), over).endswith("did not answer in full within 0 seconds")
    assert server.asked == []


def test_bodies_that_break_off_are_not_taken_for_whole(server: Server, client: Client) -> None:
    def cut(handler: Handler) -> None:
        handler.reply(200, b"half", Content_Length="8")
        handler.close_connection = True

    def chunk_cut(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"8\r\nhalf")
        handler.close_connection = True

    server.on("/cut", cut)
    server.on("/chunk", chunk_cut)
    for path in ("/cut", "/chunk"):
        assert "sent an answer that breaks off" in refusal(client, server.url(path), RETRIED)
    assert len(server.asked) == 2


def test_a_body_longer_than_declared_ends_where_it_was_declared_to(server: Server, client: Client) -> None:
    def long(handler: Handler) -> None:
        handler.reply(200, b"{}<script>", Content_Length="2")
        handler.close_connection = True

    server.on("/long", long)
    assert client.get(server.url("/long"), PLAIN).body == b"{}"


def test_a_reset_is_asked_again(server: Server, client: Client, pauses: Pauses) -> None:
    def reset(handler: Handler) -> None:
        handler.close_connection = True

    server.on("/reset", reset)
    assert "broke the connection off" in refusal(client, server.url("/reset"), RETRIED)
    assert pauses == [1, 2, 4]


def test_a_host_that_is_not_tried_any_more_is_not_waited_for(client: Client, pauses: Pauses) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = [refusal(client, f"http://127.0.0.1:{port}/{number}", RETRIED) for number in range(6)]
    assert pauses == [1, 2, 4] * 3
    assert set(said[3:]) == {f"127.0.0.1:{port} refuses the connection"}


def test_nobody_there(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert refusal(client, f"http://127.0.0.1:{port}/") == f"127.0.0.1:{port} refuses the connection"
    assert refusal(client, "https://registry.nowhere.invalid/") == "host name registry.nowhere.invalid not found"


def test_text_that_is_no_http(client: Client) -> None:
    def speak(connection: socket.socket) -> None:
        with connection:
            connection.recv(1000)
            connection.sendall(b"SSH-2.0-OpenSSH\r\n")

    with accepting(speak) as port:
        assert "does not speak HTTP" in refusal(client, f"http://127.0.0.1:{port}/")


def test_redirects_are_followed_and_counted(server: Server, client: Client) -> None:
    for number in range(5):
        server.gives(f"/{number}", b"", 302, Location=f"{number + 1}")
    server.gives("/5", b"{}")
    server.gives("/loop", b"", 301, Location="/loop")
    kind = RequestKind("an answer", 100, 5.0, redirects=3, retries=2)
    assert client.get(server.url("/2"), kind).url == server.url("/5")
    assert "redirects more than 3 times" in refusal(client, server.url("/0"), kind)
    before = len(server.asked)
    assert "redirects more than 3 times" in refusal(client, server.url("/loop"), kind)
    assert len(server.asked) - before == 4


@pytest.mark.parametrize(
    "location", ["ftp://127.0.0.1/", "http://", "http://a b/", "http://[::1", "javascript:1", "x\x7f"]
)
def test_redirects_to_nowhere(server: Server, client: Client, location: str) -> None:
    server.gives("/a", b"", 302, Location=location)
    assert "redirects to an unusable address" in refusal(client, server.url("/a"))


def test_a_token_stays_with_its_host(server: Server, client: Client) -> None:
    server.gives("/same", b"", 302, Location="/end")
    server.gives("/other", b"", 302, Location=server.url("/back", host="localhost"))
    server.gives("/back", b"", 302, Location=server.url("/end?again"))
    server.gives("/end", b"{}")
    token = Token(SECRET)
    assert client.get(server.url("/same"), PLAIN, token=token).had_token
    assert [one.headers.get("authorization") for one in server.asked] == [f"Bearer {SECRET}"] * 2
    server.asked.clear()
    assert not client.get(server.url("/other"), PLAIN, token=token).had_token
    assert [one.headers.get("authorization") for one in server.asked] == [f"Bearer {SECRET}", None, None]
    assert SECRET not in repr(client.log) + "".join(map(str, client.log)) + repr(token) + str(token)


def test_a_token_is_not_sent_where_others_can_read_it() -> None:
    # A name that is not this machine's, and a proxy that stands in for the network.
    with serving() as proxy:
        proxy.gives("http://registry.acme.test/a", b"{}")
        client = Client({"HTTP_PROXY": f"127.0.0.1:{proxy.port}"})
        assert not client.get("http://registry.acme.test/a", PLAIN, token=Token(SECRET)).had_token
        assert "authorization" not in proxy.asked[0].headers


def test_a_token_that_no_header_can_hold_is_not_quoted(server: Server, client: Client) -> None:
    for secret in (SECRET + "\r\nX-Other: 1", SECRET + "ü"):
        with pytest.raises(UnavailableError) as caught:
            client.get(server.url("/a"), PLAIN, token=Token(secret))
        assert "the token holds characters that cannot be sent" in str(caught.value)
        assert SECRET not in str(caught.value)
        client.forget()
    assert not server.asked


def test_what_signs_a_url_is_not_shown(server: Server, client: Client) -> None:
    server.gives("/a", b"", 302, Location=f"/b?X-Signature={SECRET}")
    assert client.get(server.url("/a"), PLAIN).status == 404
    assert SECRET not in "".join(map(str, client.log))
    assert str(client.log[1]).startswith(f"GET {server.url('/b')}?…: 404 Not Found")


def test_tls_trusts_whom_the_environment_names(secure_server: Server, authority_file: Path, tmp_path: Path) -> None:
    secure_server.gives("/a", b"{}")
    url = secure_server.url("/a", host="localhost")
    folder = tmp_path / "certificates"
    put(folder, {"acme.crt": authority_file.read_bytes(), "README": "no certificate"})
    for environ in (
        {"SSL_CERT_FILE": str(authority_file)},
        {"SSL_CERT_DIR": f"/nowhere:{folder}"},
        {"SSL_CERT_FILE": "/nowhere.pem", "SSL_CERT_DIR": str(folder)},
    ):
        assert Client(environ).get(url, PLAIN).body == b"{}"
    assert "the certificate of localhost" in refusal(Client({}), url, RETRIED)
    assert "SSL_CERT_FILE names /nowhere.pem" in refusal(Client({"SSL_CERT_FILE": "/nowhere.pem"}), url)


def test_a_certificate_for_another_name_is_refused_at_once(authority: trustme.CA, authority_file: Path) -> None:
    with serving(server_context(authority, "other.test")) as server:
        pauses = Pauses()
        client = Client({"SSL_CERT_FILE": str(authority_file)}, pause=pauses)
        with pytest.raises(UnavailableError) as caught:
            client.get(server.url("/", host="localhost"), RETRIED)
        assert str(caught.value).startswith(f"the certificate of localhost:{server.port} is not trusted: ")
        assert caught.value.hint.startswith("use a host name that the certificate is for")
        assert pauses == []


def test_tls_does_not_step_down(secure_server: Server, server: Server, authority_file: Path) -> None:
    server.gives("/end", b"{}")
    secure_server.gives("/a", b"", 302, Location=server.url("/end"))
    client = Client({"SSL_CERT_FILE": str(authority_file)})
    assert "without TLS, which is not followed" in refusal(client, secure_server.url("/a"))
    assert not server.asked


def test_plain_http_where_tls_is_expected(server: Server, client: Client) -> None:
    assert "the TLS connection to" in refusal(client, server.url("/").replace("http:", "https:"))


def test_each_url_is_asked_once_also_when_many_ask_at_the_same_time(server: Server, client: Client) -> None:
    network = Counted()

    def when_all_ask(handler: Handler) -> None:
        until(lambda: network.number >= 16)
        handler.reply(200, b"{}")

    def ask(_: int) -> bytes:
        network.add(1)
        return client.get(server.url("/a"), PATIENT).body

    server.on("/a", when_all_ask)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(32)))
    assert answers == [b"{}"] * 32
    assert len(server.asked) == 1
    server.gives("/no", b"", 500)
    texts = {refusal(client, server.url("/no"), RETRIED) for _ in range(3)}
    assert (len(texts), len(server.asked)) == (1, 5)
    client.forget()
    server.gives("/no", b"{}")
    assert client.get(server.url("/no"), RETRIED).body == b"{}"


def test_a_host_bears_a_limited_number_at_once(server: Server, client: Client) -> None:
    assert at_once(server, client, 60) == 16


def test_a_dead_host_is_given_up(server: Server, client: Client) -> None:
    for number in range(20):
        server.on(f"/{number}", stalling)
    words = {refusal(client, server.url(f"/{number}"), BRIEF) for number in range(20)}
    assert len(words) == 1
    assert len(server.asked) == 3


def test_a_hiccup_is_no_death(server: Server, client: Client) -> None:
    started = threading.Barrier(8)

    def hiccup(handler: Handler) -> None:
        if server.paths().count(handler.path) == 1:
            started.wait(LIMIT)
            handler.close_connection = True
        else:
            handler.reply(200, b"{}")

    for number in range(8):
        server.on(f"/{number}", hiccup)
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda number: client.get(server.url(f"/{number}"), RETRIED).status, range(8)))
    assert statuses == [200] * 8


@pytest.mark.parametrize("answer", [stalling, dripping_body])
def test_cancelling_ends_every_wait(server: Server, answer: Callable[[Handler], None]) -> None:
    server.on("/a", answer)
    cancel = threading.Event()
    client = Client({}, cancel=cancel)
    with meanwhile(lambda: server.asked, cancel.set, rescue=server.release.set), ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(client.get, server.url("/a"), PATIENT) for _ in range(4)]
        assert {type(future.exception()) for future in futures} == {RunCancelledError}


def test_cancelling_ends_the_wait_between_attempts(server: Server) -> None:
    server.gives("/a", b"", 503, Retry_After="20")
    cancel = threading.Event()
    with meanwhile(lambda: server.asked, cancel.set, rescue=server.release.set), pytest.raises(RunCancelledError):
        Client({}, cancel=cancel).get(server.url("/a"), RETRIED)
    assert len(server.asked) == 1


def test_cookies_are_not_kept(server: Server, client: Client) -> None:
    server.gives("/a", b"", 302, Location="/b", Set_Cookie="session=1; Path=/")
    server.gives("/b", b"{}")
    client.get(server.url("/a"), PLAIN)
    assert "cookie" not in server.asked[1].headers


def test_of_a_file_of_authorities_only_what_the_system_lacks_is_read_first(
    secure_server: Server, authority_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is not trusted then is looked for in all of it."""
    secure_server.gives("/a", b"{}")
    other, both = trustme.CA(), tmp_path / "both.pem"
    folder, bundle = tmp_path / "folder", tmp_path / "bundle.pem"
    put(folder, {"01234567.0": other.cert_pem.bytes()})
    bundle.write_bytes(other.cert_pem.bytes().replace(b"\n", b"\r\n"))
    both.write_bytes(b"# others\n" + other.cert_pem.bytes() + authority_file.read_bytes())
    monkeypatch.setattr("locklens.sources.http.environment._FOLDERS", (str(folder),))
    monkeypatch.setattr("locklens.sources.http.environment._BUNDLES", (str(bundle),))
    _hashed_folder.cache_clear()
    environ = {"SSL_CERT_FILE": str(both)}
    assert tls_context(environ, is_whole=False).cert_store_stats()["x509"] == 1
    assert tls_context(environ).cert_store_stats()["x509"] >= 2
    assert tls_context({**environ, "SSL_CERT_DIR": str(tmp_path)}, is_whole=False).cert_store_stats()["x509"] >= 2
    for system in (bundle, both):  # The second lists the server's authority, which the system's folder lacks.
        monkeypatch.setattr("locklens.sources.http.environment._BUNDLES", (str(system),))
        with closing(Client(environ)) as client:
            assert client.get(secure_server.url("/a"), PLAIN).body == b"{}"
    _hashed_folder.cache_clear()


def test_hosts_are_asked_through_the_proxy(secure_server: Server, authority_file: Path) -> None:
    secure_server.gives("/a", b"{}")
    with tunnel_to(secure_server) as (place, asked):
        client = Client({"https_proxy": f"http://user:p%40ss@{place}", "SSL_CERT_FILE": str(authority_file)})
        words = refusal(client, "https://registry.acme.test/a")
        assert words.startswith("the certificate of registry.acme.test is not trusted: ")
        client.close()
    assert asked[0].startswith("CONNECT registry.acme.test:443 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic dXNlcjpwQHNz" in asked[0]
    assert "p%40ss" not in "".join(map(str, client.log))


def test_a_proxy_may_have_an_authority_of_its_own(authority: trustme.CA, authority_file: Path) -> None:
    """One that speaks TLS itself, and one that answers for the registry: both certificates are of the company's."""
    with serving(server_context(authority, "registry.acme.test")) as server:
        server.gives("/a", b"{}")
        with tunnel_to(server, server_context(authority, "localhost", "127.0.0.1")) as (place, _):
            environ = {"HTTPS_PROXY": f"https://{place}"}
            with closing(Client({**environ, "SSL_CERT_FILE": str(authority_file)})) as client:
                assert client.get("https://registry.acme.test/a", PLAIN).body == b"{}"
            with closing(Client(environ, pause=Pauses())) as client:
                assert "not trusted" in refusal(client, "https://registry.acme.test/a")


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_is_not_there(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = Client({"HTTPS_PROXY": f"{scheme}://127.0.0.1:{port}"})
    said = refusal(client, "https://registry.acme.test/a")
    assert said == "the proxy for requests to registry.acme.test cannot be reached"


def test_a_proxy_that_refuses(server: Server) -> None:
    client = Client({"HTTPS_PROXY": server.url("")})
    assert "the proxy did not let the request" in refusal(client, "https://registry.acme.test/a")


def test_nothing_of_the_http_library_leaves(server: Server, client: Client) -> None:
    server.gives("/a", b"{}")
    answer = client.get(server.url("/a"), PLAIN)
    assert {type(value).__module__.split(".")[0] for value in (answer, answer.body, client.log[0])} <= {
        "builtins",
        "locklens",
    }
    with pytest.raises(UnavailableError) as caught:
        client.get(server.url("/x").replace("http:", "https:"), PLAIN)
    assert caught.value.__cause__ is None
    assert isinstance(ssl.SSLError(), OSError)


@pytest.mark.parametrize(("setting", "most", "own"), [("2", 2, 2), ("0", 64, 16), ("many", 64, 16), ("1000", 64, 64)])
def test_a_setting_says_what_one_host_has_to_bear(setting: str, most: int, own: int) -> None:
    """All requests together, and those on connections of their own."""
    assert requests_per_host({"LOCKLENS_REQUESTS_PER_HOST": setting}) == most
    assert connections_per_host({"LOCKLENS_REQUESTS_PER_HOST": setting}) == own


def test_a_host_bears_no_more_than_that(server: Server) -> None:
    client = Client({"LOCKLENS_REQUESTS_PER_HOST": "2"})
    assert at_once(server, client, 8) == 2
    client.close()
