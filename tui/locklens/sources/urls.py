"""URLs as registries hand them out: resolved, checked, and shown without what should stay private.

No I/O.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from locklens.addresses import display_host

MAX_URL = 8192
"""Characters; a signed address of an object store has about 1,500."""

UrlOrigin = tuple[str, str]
"""Scheme, and host in comparison form with its port unless it is the scheme's own."""

_KEPT = 1024
"""URLs whose parts are kept: each is looked at several times, and taking one to pieces costs as much as sending it."""

DEFAULT_PORTS = {"https": 443, "http": 80}
MAX_PAGE = 300
"""The most characters of an address for a browser."""

_PAGE = re.compile(r"https://(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[A-Za-z0-9._~+%-]+)*/?")
_GITHUB_PACKAGE = re.compile(r"(https://github\.com/[^/?#]+/[^/?#]+)/releases/download/([^/?#]+)/[^/?#]+")

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")


@lru_cache(_KEPT)
def resolve(base: str, reference: str) -> str:
    """Return an address that a document gives, absolute or relative to the document's own URL, after redirects.

    Raises:
        ValueError: It is not an http or https URL; str() says why, without the URL.
    """
    if len(reference) > MAX_URL:
        raise ValueError(f"it has more than {MAX_URL} characters")
    if _FORBIDDEN.search(reference):
        raise ValueError("it holds spaces or control characters")
    try:
        given = urlsplit(reference)
        parts = urlsplit(urljoin(base, reference))
        port = parts.port
    except ValueError as error:
        raise ValueError("it is not a valid URL") from error
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("only http and https URLs can be asked")
    if not parts.hostname or port == 0 or (given.scheme and not given.netloc):
        raise ValueError("it has no host")
    return parts._replace(fragment="").geturl()


def as_page(url: str) -> str:
    """Return an address that a user may open in a browser; "" for one that is longer, odd, or not public and https."""
    return url if len(url) <= MAX_PAGE and _PAGE.fullmatch(url) else ""


def github_release(package_url: str) -> str:
    """Return the page of the release that a package on GitHub belongs to; "" for a package elsewhere."""
    found = _GITHUB_PACKAGE.fullmatch(package_url)
    return as_page(f"{found[1]}/releases/tag/{found[2]}") if found is not None else ""


def has_userinfo(url: str) -> bool:
    """True if a URL carries a user name or a password."""
    return "@" in urlsplit(url).netloc


def has_query(url: str) -> bool:
    """True if something comes after the `?` of a URL: of a file's, mostly a signature that ends soon."""
    return bool(urlsplit(url).query)


@lru_cache(_KEPT)
def host_of(url: str) -> str:
    """The host of a URL in comparison form, with its port unless it is the scheme's own."""
    parts = urlsplit(url)
    name = parts.hostname or ""
    name = f"[{name}]" if ":" in name else name
    return name if parts.port in {None, DEFAULT_PORTS.get(parts.scheme)} else f"{name}:{parts.port}"


def host_name(url: str) -> str:
    """The host of a URL as messages name it."""
    return display_host(host_of(url))


def origin(url: str) -> UrlOrigin:
    """Scheme and host: what must be the same for a token to go along, and for failures to count together."""
    return urlsplit(url).scheme, host_of(url)


def is_loopback(name: str) -> bool:
    """True if a host name without a port can only be this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses of IPv4 hosts in networks without IPv4 (RFC 6052): each is as public as the one in its last 32 bits."""

_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that is assigned to hosts of the Internet (RFC 4291): of other blocks none is, whatever they are kept for."""

_LOCAL: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = (
    *map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")),
    *map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")),
)
"""Networks that some versions of Python call global: protocols' addresses (RFC 6890), tunnels to whatever IPv4 host
they name (Teredo, 6to4), documentation (RFC 9637), and the address at which Azure answers each of its machines."""


def is_public(address: str) -> bool:
    """True if an IP address is one that everyone reaches: none of this machine, of a private network, or of no host."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found in _NAT64:
            found = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        elif found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        elif found not in _UNICAST:
            return False
    return found.is_global and not found.is_multicast and not any(found in network for network in _LOCAL)


def may_carry_token(url: str) -> bool:
    """True if a token sent to this URL cannot be read on the way."""
    parts = urlsplit(url)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def url_for_log(url: str) -> str:
    """The URL as logs and messages show it: what is after `?` may be a signature, before `@` a password."""
    parts = urlsplit(url)
    query = "?…" if parts.query else ""
    return f"{parts.scheme}://{host_name(url)}{parts.path}{query}"
