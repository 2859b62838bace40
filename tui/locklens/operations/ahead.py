"""Asks the registries that `init` and `lock` will ask, while what they need afterwards is still loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import LockLensError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.comparison import RootSettings
    from locklens.project.cliconfig import CliConfig

_PROVIDERS = "providers.v1"


def greet_registries(
    folder: Path,
    roots: Sequence[str],
    settings: RootSettings,
    environ: Mapping[str, str],
    *,
    for_locking: bool,
    upgrade: bool = False,
) -> None:
    """Begin to ask the registries for what the first root requires, if the command is sure to ask the same.

    `lock` asks for the versions of each provider. `init` does where nothing is installed yet, and no other place has
    packages; for the locked packages too, unless it upgrades. A provider whose locked version the constraints exclude
    is refused without a request. In doubt nothing is begun: the command asks later, and reports what cannot be read.
    """
    path = roots[0] if roots else ""
    if for_locking or not (folder / path / ".terraform/providers").exists():
        from locklens.sources.http.ahead import read_trust_ahead

        read_trust_ahead(environ)  # While the rest is loaded that says whom to ask.
    from locklens.operations.root_modules import RootReader
    from locklens.project.cliconfig import read_cli_config
    from locklens.project.tree import FileSystem

    try:
        tree = FileSystem(folder)
        path = tree.join("", path) or ""
        root = RootReader(settings, environ=environ, for_locking=for_locking).read_folder(tree, path)
        configuration = root.configuration
        has_errors = root.lock.problems or configuration.missing_modules or configuration.state.kind == "unreadable"
        if has_errors or any(problem.is_error for problem in configuration.problems):
            return
        if environ.get("TF_REATTACH_PROVIDERS"):
            return
        config = read_cli_config(root.tool, environ)
        if for_locking or _installs_from_registries(folder, path, root.tool, environ, config):
            locked = {} if upgrade else {entry.address: entry.version for entry in root.migration.entries}
            asked = [
                address
                for address in sorted(configuration.required())
                if address not in locked or configuration.constraints(address).admits(locked[address])
            ]
            _connect(asked, config, environ)
            from locklens.addresses import Platform
            from locklens.project.clifiles import this_platform
            from locklens.sources.registries import ask_ahead

            here = None if for_locking else Platform.parse(this_platform())
            ask_ahead(root.tool, environ, {address: locked.get(address) for address in asked}, here)
    except (LockLensError, OSError, ValueError):
        return


def _installs_from_registries(
    folder: Path, path: str, tool: Dialect, environ: Mapping[str, str], config: CliConfig
) -> bool:
    from locklens.project.clifiles import implied_folders
    from locklens.project.state import data_folder
    from locklens.project.tree import FileSystem

    if config.installation is not None or config.plugin_cache_dir or implied_folders(tool, environ, folder / path):
        return False
    data = data_folder(FileSystem(folder), path, environ)
    return not (folder / (data or ".terraform")).joinpath("providers").exists()


def _connect(asked: Sequence[ProviderAddress], config: CliConfig, environ: Mapping[str, str]) -> None:
    from locklens.sources.http.ahead import connect_ahead

    connect_ahead(_urls(sorted({address.host for address in asked}), config), environ)


def _urls(hosts: Sequence[str], config: CliConfig) -> Iterator[str]:
    for host in hosts:
        services = config.services.get(host)
        if services is None:
            yield f"https://{host}/"  # Discovery.
        elif (url := services.get(_PROVIDERS)) and url.startswith("https://"):
            yield url
