"""The install paths that the user's CLI configuration says, for a policy that names none.

They are in use on this machine, so they count for its platform alone: a pipeline does not have a laptop's plugin cache.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from locklens.addresses import Platform
from locklens.policy import InstallPath
from locklens.project.cliconfig import read_cli_config
from locklens.project.clifiles import this_platform
from locklens.project.installation import MethodKind
from locklens.sources.mirrors import first_package

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locklens.dialect import Dialect
    from locklens.policy import Policy
    from locklens.project.installation import InstallationMethod


def with_local_paths(policy: Policy, environ: Mapping[str, str], tools: Iterable[Dialect]) -> Policy:
    """Return a policy with this machine's install paths; as it is where it names install paths itself.

    Args:
        policy: The policy that applies.
        environ: The place of the CLI configuration.
        tools: The tools of the roots.
    """
    if policy.names_paths:
        return policy
    paths = {path for tool in tools for path in _paths(tool, environ)} - policy.install_paths
    if not paths:
        return policy
    return replace(policy, local_paths=frozenset(paths), local_platform=Platform.parse(this_platform()))


def _paths(tool: Dialect, environ: Mapping[str, str]) -> Iterator[InstallPath]:
    config = read_cli_config(tool, environ)
    if config.plugin_cache_dir:
        yield InstallPath.PLUGIN_CACHE
    for method in config.installation.methods if config.installation is not None else ():
        yield from _paths_of(method)


def _paths_of(method: InstallationMethod) -> Iterator[InstallPath]:
    match method.kind:
        case MethodKind.NETWORK | MethodKind.OCI:
            yield InstallPath.PACKED_MIRROR
        case MethodKind.FILESYSTEM:
            found = first_package(Path(method.place))
            if found is not None:
                yield InstallPath.UNPACKED_MIRROR if found.is_folder else InstallPath.PACKED_MIRROR
        case MethodKind.DIRECT:
            pass
        case _:
            assert_never(method.kind)
