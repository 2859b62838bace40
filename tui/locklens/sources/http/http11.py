"""Connections of HTTP/1.1, one request at a time on each, directly or through a proxy.

Heads and chunks are read by `h11`, which knows no sockets. A body whose length is declared bypasses it: large
packages come this way, and each further copy of their bytes costs as much as TLS does.
"""

from __future__ import annotations

import select
import threading
import time
from base64 import b64encode
from typing import Any, NamedTuple, cast

import h11
import httpx

from locklens.sources.http.ahead import BegunConnections
from locklens.sources.http.connecting import (
    CHECK_SECONDS,
    HTTP1,
    NestedTls,
    ProtocolError,
    ProxyRefusedError,
    UnsupportedError,
)
from locklens.sources.http.reading import ResponseBody

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.sources.http.connecting import Connection, Dialler, RequestTarget

    _Headers = list[tuple[bytes, bytes]]
    _Key = tuple[str, str, int, str]

_IDLE_SECONDS = 15.0

_MOST_BEGUN = 6
"""The most connections to a server that are begun before they are known to be needed, as many as browsers make."""

_HEAD = 100 * 1024
"""Bytes of a head, or of the head of a chunk."""

_BLOCK, _BLOCK_AT_FIRST = 1 << 18, 1 << 16
"""The largest number of bytes for one read: of a body of known length, and of all else."""

_SOCKS_REPLY = 512
"""The largest number of bytes that a proxy may send in SOCKS."""

_RECORD = 16 * 1024
"""Bytes of a record of TLS at most."""

_MOMENT = 0.004
"""Seconds in which more must arrive to be part of the same block."""

_REFUSED = "the proxy did not connect"


class Http1Connections:
    """The HTTP/1.1 connections of a run, at most some to a server at once; idle ones are used again."""

    def __init__(self, dialler: Dialler, at_once: int) -> None:
        self._dialler = dialler
        self._at_once = at_once
        self._lock = threading.Lock()
        self._is_closed = False
        self._servers: dict[_Key, _Server] = {}
        self._begun = BegunConnections()

    def begin(self, target: RequestTarget) -> None:
        """Begin to connect for a request that will probably follow, unless enough connections were begun."""
        place = target.host, target.port, (HTTP1,)
        if self._begun.count(place) < min(_MOST_BEGUN, self._at_once):
            self._begun.begin(place, self._dialler.contexts, is_public_only=self._dialler.is_public_only)

    def ask(
        self,
        method: str,
        target: RequestTarget,
        headers: dict[str, str],
        proxy: str,
        content: Iterable[bytes] | None = None,
    ) -> httpx.Response:
        """Send a request, on an idle connection or a new one, and return the answer with its body unread.

        The headers are by lower-case names, and say where the content ends; the proxy is "" for none.

        Raises:
            TransportError: There is no answer.
            OSError: There is no connection.
            RunCancelledError: The run was cancelled.
        """
        server = self._server(target, proxy)
        self._dialler.bounds.wait_for(server.slots)
        made: _Connection | None = None
        try:
            address, added = (b"", []) if not proxy else _forwarded(target, proxy)
            lines = {"Host": target.authority, **headers, "Connection": "keep-alive"}
            named = [*added, *((name.title().encode(), value.encode()) for name, value in lines.items())]
            request = _Request(method, address + target.path.encode(), named, content)
            made = server.idle()
            if made is not None and content is None:
                try:
                    return self._answer(server, made, request)
                except (ProtocolError, ConnectionError):
                    if made.has_heard:
                        raise
                server.give_up(made)  # The server ended it while it was idle.
                made = None
            made = made or self._connected(target, proxy)
            return self._answer(server, made, request)
        except BaseException:
            server.take_back(made)
            raise

    def _answer(self, server: _Server, made: _Connection, request: _Request) -> httpx.Response:
        with self._lock:
            server.used.add(made)
            if self._is_closed:
                raise ProtocolError("the connections were closed")
        answer = made.ask(request)
        body = ResponseBody(made.body(), lambda: server.take_back(made))
        return httpx.Response(answer.status_code, headers=list(answer.headers), stream=body)

    def adopt(self, connection: Connection, target: RequestTarget) -> None:
        """Take over a connection that was made elsewhere, and on which the server chose HTTP/1.1."""
        self._server(target, "").waiting.append(_Connection(connection, self._dialler))

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            self._is_closed = True
            connections = [made for server in self._servers.values() for made in (*server.waiting, *server.used)]
        for made in connections:
            made.close()
        self._begun.close()

    def _server(self, target: RequestTarget, proxy: str) -> _Server:
        key = target.scheme, target.host, target.port, proxy
        with self._lock:
            return self._servers.setdefault(key, _Server(self._at_once))

    def _connected(self, target: RequestTarget, proxy: str) -> _Connection:
        if proxy:
            return _Connection(_connected_through(_proxy(proxy), target, self._dialler), self._dialler)
        if target.scheme == "https":
            begun = self._begun.take((target.host, target.port, (HTTP1,)), self._dialler.bounds)
            made = begun or self._dialler.dial(target.host, target.port, (HTTP1,))
            return _Connection(made, self._dialler)
        return _Connection(self._dialler.connect(target.host, target.port), self._dialler)


class _Request(NamedTuple):
    """A request: what its first line says, its headers, and its content, None without one."""

    method: str
    target: bytes
    headers: _Headers
    content: Iterable[bytes] | None = None


class _Server:
    """The connections to one server, and how many more requests it may have."""

    def __init__(self, at_once: int) -> None:
        self.waiting: list[_Connection] = []
        self.used: set[_Connection] = set()
        self.slots = threading.BoundedSemaphore(at_once)

    def idle(self) -> _Connection | None:
        """Return an idle connection that can be used again, None if there is none."""
        while self.waiting:
            try:
                made = self.waiting.pop()
            except IndexError:  # Another thread was faster.
                return None
            if made.is_usable:
                return made
            made.close()
        return None

    def take_back(self, made: _Connection | None) -> None:
        """Keep a connection for the next request if it can have one, and let the next one be asked."""
        if made is not None and made.is_done:
            self.used.discard(made)
            made.since = time.monotonic()
            self.waiting.append(made)
        elif made is not None:
            self.give_up(made)
        self.slots.release()

    def give_up(self, made: _Connection) -> None:
        """Close a connection that cannot be used again."""
        self.used.discard(made)
        made.close()


class _Connection:
    """A connection on which every wait has the bounds."""

    def __init__(self, connection: Connection, dialler: Dialler) -> None:
        self._connection = connection
        self._bounds = dialler.bounds
        self._cycle = h11.Connection(h11.CLIENT, _HEAD)
        self._length: int | None = None
        self.since = time.monotonic()
        self.has_heard = False
        """True if anything of the last answer arrived."""
        self.is_done = True
        """True if the last answer was read to its end, and another request may follow."""

    @property
    def is_usable(self) -> bool:
        """True if an idle connection is neither too old nor closed by the server."""
        return time.monotonic() - self.since < _IDLE_SECONDS and not _is_readable(self._connection.fileno())

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def ask(self, request: _Request) -> h11.Response:
        """Send a request, and return the head of its answer.

        Raises:
            TransportError: There is none.
            OSError: The connection broke.
        """
        self.is_done = self.has_heard = False
        cycle = self._cycle = h11.Connection(h11.CLIENT, _HEAD)
        try:
            head = cycle.send(h11.Request(method=request.method, target=request.target, headers=request.headers))
            if request.content is None:
                self.send((head or b"") + (cycle.send(h11.EndOfMessage()) or b""))
            else:
                self._send_all(head or b"", request.content)
            answer = self._next()
            while (
                isinstance(answer, h11.InformationalResponse) and answer.status_code != httpx.codes.SWITCHING_PROTOCOLS
            ):
                answer = self._next()
        except h11.ProtocolError as error:
            raise ProtocolError(str(error)) from error
        if not isinstance(answer, h11.Response):
            raise ProtocolError("no answer in HTTP/1.1")
        named = dict(answer.headers)
        has_body = request.method != "HEAD" and answer.status_code not in {
            httpx.codes.NO_CONTENT,
            httpx.codes.NOT_MODIFIED,
        }
        is_declared = has_body and b"content-length" in named and b"transfer-encoding" not in named
        self._length = int(named[b"content-length"]) if is_declared else None
        return answer

    def body(self) -> Iterator[bytes]:
        """Yield the body of the answer, in blocks of some size.

        Raises:
            TransportError: It breaks off.
            OSError: The connection broke.
        """
        if self._length is not None:
            yield from self._declared(self._length)
            return
        try:
            while isinstance(event := self._next(), h11.Data):
                yield bytes(event.data)
        except h11.ProtocolError as error:
            raise ProtocolError(str(error)) from error
        self.is_done = isinstance(event, h11.EndOfMessage) and self._may_go_on()

    def _declared(self, length: int) -> Iterator[bytes]:
        arrived, _ = self._cycle.trailing_data
        left = length - len(arrived)
        self.is_done = not left and self._may_go_on()
        if length and arrived:
            yield arrived[:length]
        while left > 0:
            block = bytearray(min(left, _BLOCK))
            size = self._fill(memoryview(block))
            if not size:
                raise ProtocolError("the server broke the connection off")
            del block[size:]
            left -= size
            self.is_done = not left and self._may_go_on()
            yield cast("bytes", block)  # Nothing changes it any more, so that no copy is needed.

    def _may_go_on(self) -> bool:
        """True if both sides let another request follow, once the answer was read."""
        return self._cycle.our_state is h11.DONE

    def send(self, data: bytes) -> None:
        """Send bytes, and look for a cancellation while the server takes none; not in TLS through a proxy with TLS."""
        if isinstance(self._connection, NestedTls):
            self._connection.settimeout(max(self._bounds.left(), 0.001))
            self._connection.sendall(data)
            return
        left = memoryview(data)
        while left:
            self._connection.settimeout(self._bounds.until_check())
            try:
                # One record of TLS: what was not sent in time is given to it again as it was.
                left = left[self._connection.send(left[:_RECORD]) :]
            except TimeoutError:
                continue

    def _send_all(self, head: bytes, content: Iterable[bytes]) -> None:
        """Send a head and a content. A server that takes no more of it may have answered already."""
        self.send(head)
        for part in content:
            data = self._cycle.send(h11.Data(data=part)) or b""
            try:
                self.send(data)
            except TimeoutError:
                raise
            except OSError:
                self._bounds.until_check()
                self._cycle.send_failed()
                return
        self.send(self._cycle.send(h11.EndOfMessage()) or b"")

    def _next(self) -> Any:
        """Return the next event of the answer."""
        while (event := self._cycle.next_event()) is h11.NEED_DATA:
            buffer = bytearray(_BLOCK_AT_FIRST)
            size = self.read(memoryview(buffer))
            if not size and self._cycle.their_state is h11.SEND_RESPONSE:
                raise ProtocolError("the server broke the connection off")
            self.has_heard = self.has_heard or size > 0
            self._cycle.receive_data(bytes(memoryview(buffer)[:size]))
        return event

    def _fill(self, view: memoryview) -> int:
        """Read what is there, and a whole block where it comes at once."""
        size = self.read(view)
        if not size:
            return 0
        self._connection.settimeout(_MOMENT)
        end = time.monotonic() + CHECK_SECONDS
        while size < len(view) and time.monotonic() < end:
            try:
                more = self._connection.recv_into(view[size:])
            except OSError:
                break  # Nothing yet; any other error comes again at the next read.
            if not more:
                break
            size += more
        return size

    def read(self, view: memoryview) -> int:
        """Wait for bytes, and return their number; 0 at the end."""
        while True:
            self._connection.settimeout(self._bounds.until_check())
            try:
                return self._connection.recv_into(view)
            except TimeoutError:
                continue


def _is_readable(number: int) -> bool:
    """True if bytes or the end wait to be read, or if the connection was closed here."""
    if number < 0 or not hasattr(select, "poll"):
        return number < 0 or bool(select.select([number], [], [], 0)[0])
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


def _proxy(address: str) -> httpx.Proxy:
    try:
        return httpx.Proxy(address)
    except (httpx.InvalidURL, ValueError) as error:
        raise UnsupportedError(str(error)) from error


def _login(proxy: httpx.Proxy) -> _Headers:
    """Return the header with the proxy's login."""
    if proxy.raw_auth is None:
        return []
    return [(b"Proxy-Authorization", b"Basic " + b64encode(b":".join(proxy.raw_auth)))]


def _forwarded(target: RequestTarget, address: str) -> tuple[bytes, _Headers]:
    """Return what a request that a proxy forwards has in front of its path, and the headers for the proxy."""
    proxy = _proxy(address)
    if target.scheme == "https" or proxy.url.scheme.startswith("socks"):
        return b"", []
    return f"{target.scheme}://{target.authority}".encode(), _login(proxy)


def _connected_through(proxy: httpx.Proxy, target: RequestTarget, dialler: Dialler) -> Connection:
    """Return a connection through a proxy: to the server, or to the proxy that forwards requests without TLS."""
    host, scheme = proxy.url.raw_host.decode("ascii"), proxy.url.scheme
    usual = 1080 if scheme.startswith("socks") else 443 if scheme == "https" else 80
    made: Connection = dialler.connect(host, proxy.url.port or usual, is_proxy=True)
    try:
        if scheme == "https":
            made = dialler.secure(made, host)
        if scheme.startswith("socks"):
            _agree_on_socks(made, proxy, target, dialler)
        elif target.scheme == "https":
            _agree_on_tunnel(made, proxy, target, dialler)
        return dialler.secure(made, target.host) if target.scheme == "https" else made
    except BaseException:
        made.close()
        raise


def _agree_on_tunnel(made: Connection, proxy: httpx.Proxy, target: RequestTarget, dialler: Dialler) -> None:
    name = f"[{target.host}]" if ":" in target.host else target.host
    place = f"{name}:{target.port}".encode()
    answer = _Connection(made, dialler).ask(_Request("CONNECT", place, [(b"Host", place), *_login(proxy)]))
    if answer.status_code // 100 != 2:
        raise ProxyRefusedError(f"{_REFUSED}: {answer.status_code}")


def _agree_on_socks(made: Connection, proxy: httpx.Proxy, target: RequestTarget, dialler: Dialler) -> None:
    from socksio import ProtocolError as SocksError
    from socksio import socks5

    talk, connection = socks5.SOCKS5Connection(), _Connection(made, dialler)

    def say(request: Any) -> Any:
        talk.send(request)
        connection.send(talk.data_to_send())
        buffer = bytearray(_SOCKS_REPLY)
        size = connection.read(memoryview(buffer))
        return talk.receive_data(bytes(buffer[:size]))

    method = (
        socks5.SOCKS5AuthMethod.NO_AUTH_REQUIRED
        if proxy.raw_auth is None
        else socks5.SOCKS5AuthMethod.USERNAME_PASSWORD
    )
    try:
        if say(socks5.SOCKS5AuthMethodsRequest([method])).method != method:
            raise ProxyRefusedError(_REFUSED)
        if proxy.raw_auth is not None and not say(socks5.SOCKS5UsernamePasswordRequest(*proxy.raw_auth)).success:
            raise ProxyRefusedError(_REFUSED)
        place = target.host.encode(), target.port
        answer = say(socks5.SOCKS5CommandRequest.from_address(socks5.SOCKS5Command.CONNECT, place))
    except SocksError as error:
        raise ProxyRefusedError(_REFUSED) from error
    if answer.reply_code != socks5.SOCKS5ReplyCode.SUCCEEDED:
        raise ProxyRefusedError(f"{_REFUSED}: {answer.reply_code}")
