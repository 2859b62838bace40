"""What the paths of the demo's registry stand for: the provider registry protocol, once for each host."""

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
"""Absolute paths, so that each can only be one registry's."""


class RequestedPath(Struct, frozen=True):
    """What a path asks for.

    Attributes:
        step: Which question it is.
        host: The registry that is meant; "" for the server's own discovery.
        namespace: Of the provider, "" for discovery.
        type: Likewise.
        version: "" where the question is about no version.
        detail: OS_ARCH of a download, a file's name.
    """

    step: Step
    host: str = ""
    namespace: str = ""
    type: str = ""
    version: str = ""
    detail: str = ""

    @property
    def provider(self) -> str:
        """The full address."""
        return f"{self.host}/{self.namespace}/{self.type}"


def read_path(path: str) -> RequestedPath | None:
    """Returns what a path without its query asks for; None where nothing is served."""
    if found := _DISCOVERY.match(path):
        return RequestedPath(Step.DISCOVERY, found["host"] or "")
    if found := _VERSIONS.match(path):
        return RequestedPath(Step.VERSIONS, found["host"], found["namespace"], found["type"])
    if found := _DOWNLOAD.match(path):
        return RequestedPath(
            Step.DOWNLOAD,
            found["host"],
            found["namespace"],
            found["type"],
            found["version"],
            f"{found['os']}_{found['arch']}",
        )
    if found := _FILE.match(path):
        return RequestedPath(
            _step_of_file(found["name"]),
            found["host"],
            found["namespace"],
            found["type"],
            found["version"],
            found["name"],
        )
    for host, pattern in _DATES.items():
        if found := pattern.match(path):
            return RequestedPath(Step.DATES, host, found["namespace"], found["type"])
    return None


def _step_of_file(name: str) -> Step:
    if name.endswith("_SHA256SUMS"):
        return Step.SUMS
    return Step.SIGNATURE if name.endswith("_SHA256SUMS.sig") else Step.PACKAGE
