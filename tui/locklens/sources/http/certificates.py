"""Whom TLS connections trust: the system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name, as the tools do it."""

from __future__ import annotations

import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""The stores of Linux distributions, which a Python built elsewhere does not find."""


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names.

    Args:
        environ: SSL_CERT_FILE and SSL_CERT_DIR (folders separated as in PATH) are looked at.

    Raises:
        OSError: SSL_CERT_FILE cannot be read, and no folder of SSL_CERT_DIR has a certificate; str() names the file.
            (Both tools go on without a file that they cannot read; alone, it is the reason for all that fails later.)
    """
    file, folders = environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")
    if not file and not folders:
        return _system_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for folder in folders.split(";" if sys.platform == "win32" else ":"):
        if folder:
            _load_folder(context, Path(folder))
    if file:
        _load_file(context, file)
    if not (file and folders):
        # Each variable replaces one half of the store: the other half stays.
        _load_system(context)
    return context


def _load_file(context: ssl.SSLContext, file: str) -> None:
    try:
        context.load_verify_locations(file)
    except OSError as error:
        if context.cert_store_stats()["x509"]:
            return
        raise OSError(f"SSL_CERT_FILE names {file}, which holds no certificates that can be read") from error


def _load_folder(context: ssl.SSLContext, folder: Path) -> None:
    """Read every certificate in a folder, whatever its name: OpenSSL alone would want hashed names."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        try:
            context.load_verify_locations(path)
        except OSError:
            continue  # As Go does: what is no certificate is passed over.


def _system_context() -> ssl.SSLContext:
    if sys.platform in {"darwin", "win32"}:
        # The system's own verifier is asked; Python's copy of its store lacks what it fetches when needed.
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _load_system(context)
    return context


def _load_system(context: ssl.SSLContext) -> None:
    known = context.cert_store_stats()["x509"]
    context.load_default_certs()
    if context.cert_store_stats()["x509"] > known:
        return
    bundle = next((path for path in _BUNDLES if Path(path).is_file()), "")
    if bundle:
        context.load_verify_locations(bundle)
