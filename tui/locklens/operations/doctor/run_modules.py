"""The modules that a run fetched, or another root has, beside the calls and the copies of a root here. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.dialect import DIALECTS
from locklens.operations.doctor.masked import MASK
from locklens.project.configuration import OUTDATED, MissingModule
from locklens.project.module_sources import admits, is_constraint, package_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.doctor.messages import FetchedModule
    from locklens.project.configuration import Configuration, RemoteModule, Requirement


def may_have_fetched(configuration: Configuration, modules: Sequence[FetchedModule]) -> bool:
    """True unless a root with a configuration is known not to call some module that a run fetched, or not so."""
    calls = {one.call: one for one in configuration.remote_modules}
    is_known = not configuration.undeclared_reason and not configuration.error_place
    return not is_known or all(_may_be_of(configuration, calls.get(one.call), one) for one in modules)


def _may_be_of(configuration: Configuration, call: RemoteModule | None, module: FetchedModule) -> bool:
    """True unless a call is known to fetch something else; a module that is not read may make it."""
    if call is None:
        return "." in module.call or any(one.call == module.call for one in configuration.missing_modules)
    # A source without a host is of the registry of the tool that ran, which the log need not tell.
    pairs = [tuple(package_of(one.source, tool) for one in (call, module)) for tool in DIALECTS.values()]
    is_told = all(map(all, pairs)) and MASK not in module.source
    is_other = is_told and all(asked != fetched for asked, fetched in pairs)
    is_outside = module.version and is_constraint(call.version) and not admits(call.version, module.version)
    return not (is_other or is_outside)


def outdated(
    configuration: Configuration, modules: Sequence[FetchedModule], is_before: Callable[[str], bool]
) -> list[MissingModule]:
    """Return the modules that lie here in an older state than the run fetched, or perhaps in one.

    Of a registry's module the version tells; any other, whose address may lead to another state later, is one where its
    folder was made before the run, as `is_before` tells of a path.
    """
    calls = {one.call: one for one in configuration.remote_modules if one.folder}
    found = []
    for module in modules:
        call = calls.get(module.call)
        if call is None or call.is_exact:
            continue
        is_older = admits(f"> {call.fetched}", module.version) if module.version else is_before(call.folder)
        if is_older:
            source = f"{call.source} {module.version}".rstrip()
            found.append(MissingModule(call.call, source, call.file, call.line, OUTDATED))
    return found


def required_there(
    configuration: Configuration, address: ProviderAddress, fetched: Configuration
) -> tuple[Requirement, ...]:
    """Return what requires a provider in a root, also by modules that only another root has fetched.

    Those count that both call in the very same version, of which each `init` fetches the same.
    """
    missing = {one.call for one in configuration.missing_modules}
    called = {(one.source, one.version) for one in configuration.remote_modules if one.call in missing and one.is_exact}
    pairs = ((each, fetched.exact_call(each)) for each in (fetched.of(address) if called else ()))
    of_others = (each for each, call in pairs if call is not None and (call.source, call.version) in called)
    return (*configuration.of(address), *of_others)
