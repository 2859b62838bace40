"""What the environment says about connections: their proxy, and the certificates that TLS trusts.

Proxies follow the rules of Go's client, which both tools use. They differ from other clients' rules: this machine is
never asked through a proxy, NO_PROXY may name networks (`10.0.0.0/8`) and ports, and a name in it stands for its
subdomains too. TLS trusts the system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name, as the tools do it.
"""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from locklens.sources.urls import DEFAULT_PORTS, is_loopback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


HAS_VERIFIER = sys.platform in {"darwin", "win32"}
"""True if the system verifies certificates itself."""

_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""The stores of Linux distributions, which a Python built elsewhere does not find."""

_FOLDERS = ("/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted/pem/directory-hash")
"""The same with a file for each authority."""

_BEGIN = "-----BEGIN "
_PEM = re.compile("-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\\s]*)-----END CERTIFICATE-----")

_HASHED = re.compile(r"[0-9a-f]{8}\.[0-9]+")


def proxy_for(url: str, environ: Mapping[str, str]) -> str:
    """Return the URL of the proxy for a request, "" if there is none.

    HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read, each also in lower case.
    """
    parts = urlsplit(url)
    name = f"{parts.scheme.upper()}_PROXY"
    # A CGI program's HTTP_PROXY is the request's `Proxy:` header, which anybody can set.
    proxy = "" if name == "HTTP_PROXY" and "REQUEST_METHOD" in environ else _variable(environ, name)
    host = (parts.hostname or "").rstrip(".").lower()
    if not proxy or is_loopback(host):
        return ""
    port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
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


def tls_context(environ: Mapping[str, str], *, is_whole: bool = True) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names.

    SSL_CERT_FILE and SSL_CERT_DIR (folders separated as in PATH) are read. If it is not whole, only that is read of the
    system's store, and of SSL_CERT_DIR, what a certificate asks for, where the files of a folder are named for that,
    which takes no time; and of SSL_CERT_FILE what the system's file lacks. Such a folder may lack what a user added: an
    authority that is not found must be looked for in all of it.

    Raises:
        OSError: SSL_CERT_FILE cannot be read, and no folder of SSL_CERT_DIR has a certificate; str() names the file.
            (Both tools go on without a file that they cannot read; alone, it is the reason for all that fails later.)
    """
    file, folders = environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")
    if not file and not folders:
        return _system_context(is_whole=is_whole)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    named = [folder for folder in folders.split(";" if sys.platform == "win32" else ":") if folder]
    for folder in named:
        _load_folder(context, folder, is_whole=is_whole)
    if file:
        trusts_system = not named or _hashed_folder() in named
        _load_file(context, file, is_whole=is_whole or not trusts_system)
    if not (file and folders):
        # Each variable replaces one half of the store: the other half stays.
        _load_system(context, is_whole=is_whole)
    return context


def _load_file(context: ssl.SSLContext, file: str, *, is_whole: bool) -> None:
    try:
        added = None if is_whole else _added_to_system(file)
        if added is None:
            context.load_verify_locations(file)
        elif added:
            context.load_verify_locations(cadata=added)
    except OSError as error:
        if context.cert_store_stats()["x509"]:
            return
        raise OSError(f"SSL_CERT_FILE names {file}, which holds no certificates that can be read") from error


def _added_to_system(file: str) -> str | None:
    """Return the certificates of a file that the system's file lacks; None if all must be read.

    A company's file is usually the system's with its own authorities, and OpenSSL takes longer to read it than for a
    handshake. Those of the system are trusted from its folder.
    """
    folder, bundle = _hashed_folder(), _system_bundle()
    if not (folder and bundle):
        return None
    text, known = (Path(path).read_bytes().decode("ascii", "replace") for path in (file, bundle))
    found = _PEM.findall(text)
    if not found or len(found) != text.count(_BEGIN):
        return None  # OpenSSL reads other forms too.
    of_system = {"".join(body.split()) for body in _PEM.findall(known)}
    return "".join(
        f"-----BEGIN CERTIFICATE-----{body}-----END CERTIFICATE-----\n"
        for body in found
        if "".join(body.split()) not in of_system
    )


def _load_folder(context: ssl.SSLContext, folder: str, *, is_whole: bool) -> None:
    """Read every certificate in a folder, whatever its name: by itself, OpenSSL reads only those with hashed names."""
    if not Path(folder).is_dir():
        return
    if not is_whole and _is_hashed(folder):
        context.load_verify_locations(capath=folder)
        return
    for path in sorted(Path(folder).iterdir()):
        try:
            context.load_verify_locations(path)
        except OSError:
            continue  # As Go does: a file that is not a certificate is skipped.


def _system_context(*, is_whole: bool) -> ssl.SSLContext:
    if HAS_VERIFIER:
        # The system's own verifier is asked; Python's copy of its store lacks what it fetches when needed.
        import truststore

        verifying: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return verifying
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _load_system(context, is_whole=is_whole)
    return context


def _load_system(context: ssl.SSLContext, *, is_whole: bool) -> None:
    folder = "" if is_whole else _hashed_folder()
    if folder:
        context.load_verify_locations(capath=folder)
        return
    known = context.cert_store_stats()["x509"]
    context.load_default_certs()
    if context.cert_store_stats()["x509"] > known:
        return
    bundle = _system_bundle()
    if bundle:
        context.load_verify_locations(bundle)


def _system_bundle() -> str:
    """The system's file of authorities; "" if there is none."""
    return next((path for path in _BUNDLES if Path(path).is_file()), "")


@cache
def _hashed_folder() -> str:
    """The system's folder in which OpenSSL finds an authority by the hash of its name; "" if there is none."""
    return next((folder for folder in _FOLDERS if _is_hashed(folder)), "")


def _is_hashed(folder: str) -> bool:
    with suppress(OSError), os.scandir(folder) as entries:
        return any(_HASHED.fullmatch(entry.name) for entry in entries)
    return False
