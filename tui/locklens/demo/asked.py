"""Request paths of the demo registry: the provider registry protocol, once for each host."""

from __future__ import annotations

import re

from msgspec import Struct

from locklens.demo.faults import Step
from locklens.dialect import OPENTOFU, TERRAFORM

_PROVIDER = r"/(?P<host>[^/]+)/{}/(?P<namespace>[^/]+)/(?P<type>[^/]+)"
_PROTOCOL, _FILES = _PROVIDER.format("v1/providers"), _PROVIDER.format("files")
_DISCOVERY = re.compile(r"(?:/(?P<host>[^/]+))?/\.well-known/terraform\.json\Z")
_VERSIONS = re.compile(rf"{_PROTOCOL}/versions\Z")
_DOWNLOAD = re.compile(rf"{_PROTOCOL}/(?P<version>[^/]+)/download/(?P<os>[a-z0-9]+)/(?P<arch>[a-z0-9]+)\Z")
_FILE = re.compile(rf"{_FILES}/(?P<version>[^/]+)/(?P<name>[^/]+)\Z")
_NAMES = r"(?P<namespace>[^/]+)/(?P<type>[^/]+)"
_DATES = {
    TERRAFORM.default_host: re.compile(rf"/v2/providers/{_NAMES}\Z"),
    OPENTOFU.default_host: re.compile(rf"/registry/docs/providers/{_NAMES}/index\.json\Z"),
}
"""Absolute paths, so that each belongs to one registry only."""


class RequestedPath(Struct, frozen=True):
    """The parsed path of a request.

    Attributes:
        step: Kind of request.
        host: The registry; "" for the server's own discovery.
        namespace: Namespace of the provider; "" for discovery.
        type: Type of the provider; "" for discovery.
        version: The release; "" for requests that name no version.
        detail: OS_ARCH of a download, or a file name.
    """

    step: Step
    host: str = ""
    namespace: str = ""
    type: str = ""
    version: str = ""
    detail: str = ""

    @property
    def provider(self) -> str:
        """The full provider address."""
        return f"{self.host}/{self.namespace}/{self.type}"


def read_path(path: str) -> RequestedPath | None:
    """Parse a path without its query; None where nothing is served."""
    if match := _DISCOVERY.match(path):
        return RequestedPath(Step.DISCOVERY, match["host"] or "")
    if match := _VERSIONS.match(path):
        return RequestedPath(Step.VERSIONS, match["host"], match["namespace"], match["type"])
    if match := _DOWNLOAD.match(path):
        return RequestedPath(
            Step.DOWNLOAD,
            match["host"],
            match["namespace"],
            match["type"],
            match["version"],
            f"{match['os']}_{match['arch']}",
        )
    if match := _FILE.match(path):
        return RequestedPath(
            _step_of_file(match["name"]),
            match["host"],
            match["namespace"],
            match["type"],
            match["version"],
            match["name"],
        )
    for host, pattern in _DATES.items():
        if match := pattern.match(path):
            return RequestedPath(Step.DATES, host, match["namespace"], match["type"])
    return None


def _step_of_file(name: str) -> Step:
    if name.endswith("_SHA256SUMS"):
        return Step.SUMS
    return Step.SIGNATURE if name.endswith("_SHA256SUMS.sig") else Step.PACKAGE
