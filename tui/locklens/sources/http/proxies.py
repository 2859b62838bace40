"""The proxy of a request, by the environment and the rules of Go's client, which both tools use.

They differ from other clients' rules: this machine is never asked through a proxy, NO_PROXY may name networks
(`10.0.0.0/8`) and ports, and a name in it stands for its subdomains too.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from locklens.sources.urls import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

_PORTS = {"https": 443, "http": 80}


def proxy_for(url: str, environ: Mapping[str, str]) -> str:
    """Return the URL of the proxy for a request, "" for none.

    Args:
        url: What is asked.
        environ: HTTPS_PROXY, HTTP_PROXY and NO_PROXY are looked at, each also in lower case.
    """
    parts = urlsplit(url)
    name = f"{parts.scheme.upper()}_PROXY"
    # A CGI program's HTTP_PROXY is the request's `Proxy:` header, which anybody can set.
    proxy = "" if name == "HTTP_PROXY" and "REQUEST_METHOD" in environ else _variable(environ, name)
    host = (parts.hostname or "").rstrip(".").lower()
    if not proxy or is_loopback(host):
        return ""
    port = parts.port or _PORTS.get(parts.scheme, 0)
    if any(_excludes(entry.strip().lower(), host, port) for entry in _variable(environ, "NO_PROXY").split(",")):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _excludes(entry: str, host: str, port: int) -> bool:
    """True if one entry of NO_PROXY stands for a host."""
    if entry in {"", "*"}:
        return entry == "*"
    if "/" in entry:
        return _in_network(host, entry)
    name, colon, wanted = entry.rpartition(":")
    if colon and wanted.isdigit() and (":" not in name or name.endswith("]")):
        if int(wanted) != port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*")
    if entry.startswith("."):
        return host.endswith(entry)
    return host == entry or host.endswith("." + entry)


def _in_network(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
