"""Requirements and offers in few words."""

from __future__ import annotations

from locklens.addresses import Platform, ProviderAddress
from locklens.project.configuration import Contributor, Requirement
from locklens.sources.metadata import ListedVersion
from locklens.versions import Constraints, Version

AWS = ProviderAddress("registry.terraform.io", "hashicorp", "aws")
LINUX, WINDOWS = Platform("linux", "amd64"), Platform("windows", "amd64")


def requirement(constraint: str = "", place: str = "main.tf:1", module: str = "") -> Requirement:
    file, _, line = place.partition(":")
    return Requirement(
        address=AWS,
        constraint=constraint,
        constraints=Constraints.parse(constraint) if constraint else Constraints(),
        file=file,
        line=int(line),
        module=module,
        contributor=Contributor.REQUIRED_PROVIDERS,
        subject="aws",
        overrides=None,
    )


def version(text: str) -> Version:
    return Version.parse(text)


def offers(
    *texts: str, protocols: tuple[str, ...] = ("5.0",), platforms: tuple[Platform, ...] = (LINUX, WINDOWS)
) -> tuple[ListedVersion, ...]:
    return tuple(ListedVersion(version(text), protocols, platforms) for text in texts)
