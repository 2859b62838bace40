"""Downloads of a package that arrived damaged elsewhere: asked for up to three times, to tell where it is damaged."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from locklens.addresses import Platform
from locklens.doctor.model import NetworkReason
from locklens.errors import RunCancelledError, SourceError
from locklens.operations.review.events import PackageDone, PackageDownloading, ProvingPlanned
from locklens.packages import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.dialect import Dialect
    from locklens.doctor.model import RecognisedError
    from locklens.operations.review.events import ReviewEvent
    from locklens.releases.session import ReleaseSession
    from locklens.review.case import Case
    from locklens.sources import Source
    from locklens.sources.metadata import PackageMetadata

TRIES = 3
"""Two equal files could be chance or a proxy's copy; three that differ are no chance."""

_KINDS = frozenset({"archive-checksum", "download-cut", "package-damaged", "oci-damaged"})


def is_of_download(error: RecognisedError | None) -> bool:
    """True if an error is of a file that did not arrive as it was sent."""
    return error is not None and (error.kind in _KINDS or error.reason is NetworkReason.BROKEN)


class DownloadTest:
    """The downloads of one package.

    Args:
        session: The registries.
        tool: The tool whose registry is asked.
        case: What is known of the release.
        platform: The package's, OS_ARCH.
    """

    def __init__(self, session: ReleaseSession, tool: Dialect, case: Case, platform: str) -> None:
        self._session = session
        self._tool = tool
        self._case = case
        self._platform = Platform.parse(platform)
        self._signed = next((zh for zh, of in case.new.platforms.items() if of == self._platform), "")

    def work(
        self, confirm: Callable[[ProvingPlanned], bool], on_event: Callable[[ReviewEvent], None]
    ) -> tuple[str, ...]:
        """Download until the signed file arrives, at most `TRIES` times; return the `zh` of each, "" for a broken one.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        address, version = self._case.change.address, self._case.entry.version
        label = f"{address.type} {version} {self._platform}"
        if not self._signed:
            return ()
        try:
            source = self._session.source(address, self._tool)
            metadata = source.package(address, version, self._platform)
        except SourceError as error:
            self._session.note(f"{label} was not downloaded: {error}")
            return ()
        size = self._case.new.sizes.get(self._signed)
        if not confirm(ProvingPlanned(0, 1, size, TRIES, (label,))):
            return ()
        arrived: list[str] = []
        while len(arrived) < TRIES and self._signed not in arrived:
            words = f"{label}, download {len(arrived) + 1}"
            arrived.append(_zh(self._session, source, metadata, words, on_event))
        return tuple(arrived)


def _zh(
    session: ReleaseSession,
    source: Source,
    metadata: PackageMetadata,
    label: str,
    on_event: Callable[[ReviewEvent], None],
) -> str:
    """Return the `zh` of one download; "" if it broke off, or is larger than any package that is read."""
    digest, received = hashlib.sha256(), 0
    try:
        with source.open_package(metadata) as download:
            for chunk in download.chunks:
                if session.cancel.is_set():
                    raise RunCancelledError("the download was cancelled")
                digest.update(chunk)
                received += len(chunk)
                on_event(PackageDownloading(label, received, download.length))
                if received > Limits().packed:
                    on_event(PackageDone(label, received, "larger than any package that is read"))
                    return ""
    except SourceError as error:
        on_event(PackageDone(label, received, str(error)))
        return ""
    on_event(PackageDone(label, received))
    return f"zh:{digest.hexdigest()}"
