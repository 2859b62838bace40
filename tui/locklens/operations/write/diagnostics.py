"""Diagnostics for a root module: errors that prevent `init` and `lock`, and their warnings."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.addresses import AddressError, Platform, ProviderAddress
from locklens.diagnostics import Diagnostic, DiagnosticSeverity, NextStep
from locklens.dialect import OPENTOFU, Dialect
from locklens.errors import ConfigurationError
from locklens.lockfile.render import lost_comments
from locklens.lockfile.update import Difference
from locklens.operations.plan import RootResult
from locklens.operations.typed_names import meant
from locklens.review.health_remedies import OF_INIT
from locklens.review.rules.release import signed_by, signing_objection
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.install.context import InstallContext, ProviderRequirement, Settled
    from locklens.lockfile import LockEntry
    from locklens.operations.root_modules import Root
    from locklens.policy import Policy
    from locklens.releases import ReleaseFacts
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version


ERROR, WARNING = DiagnosticSeverity.ERROR, DiagnosticSeverity.WARNING


class Readonly(StrEnum):
    """Modes of `--lockfile`."""

    NO = ""
    STRICT = "readonly"
    LENIENT = "readonly-lenient"


def untouched(root: Root, diagnostics: Sequence[Diagnostic] = ()) -> RootResult:
    """Return the result of a root that was left untouched."""
    return RootResult(root.name, root.lock.path, root.tool, before=root.lock.data, diagnostics=tuple(diagnostics))


_NAMES_SHOWN = 5


def unmanaged(tool: Dialect, environ: Mapping[str, str]) -> frozenset[ProviderAddress]:
    """Return the providers of TF_REATTACH_PROVIDERS, which run already: they are neither installed nor locked.

    Raises:
        ConfigurationError: It is not a JSON object of provider addresses.
    """
    text = environ.get("TF_REATTACH_PROVIDERS", "")
    if not text:
        return frozenset()
    try:
        return frozenset(tool.parse_source(name) for name in dict(json.loads(text)))
    except (ValueError, TypeError, AddressError, RecursionError) as error:
        hint = "unset it, or see the documentation of provider debugging"
        raise ConfigurationError("TF_REATTACH_PROVIDERS is not a JSON object of providers", hint=hint) from error


# Errors that leave a root untouched
def unreadable(root: Root, *, allows_missing: bool) -> list[Diagnostic]:
    """Return the errors that leave a root untouched; `allows_missing` is True if modules may be missing."""
    errors = [
        Diagnostic(
            ERROR,
            f"failed to read dependency lock file: {problem.summary}",
            problem.detail,
            place=(root.lock.path, problem.line),
            hint=root.merging,
        )
        for problem in root.lock.problems
    ]
    errors += [
        Diagnostic(ERROR, problem.summary, problem.detail, place=(problem.file, problem.line))
        for problem in root.configuration.problems
        if problem.is_error
    ]
    missing = root.configuration.missing_modules
    if missing and not allows_missing:
        errors += [
            Diagnostic(
                ERROR,
                problem.reason,
                f'module "{problem.call}" ({problem.source}) cannot be read',
                place=(problem.file, problem.line),
            )
            for problem in missing[:_NAMES_SHOWN]
        ]
        errors[-1] = replace(errors[-1], hint=hint_of_missing_modules(root), next_step=NextStep.IGNORE_MODULES)
    state = root.configuration.state
    if state.kind == "unreadable":
        errors.append(Diagnostic(ERROR, "Error loading state", state.detail))
    return errors


def hint_of_missing_modules(root: Root) -> str:
    """Return the ways on from modules that cannot be read."""
    can_fetch = any(module.is_fetchable for module in root.configuration.missing_modules)
    get = f"`{root.tool.command} get` fetches remote modules; " if can_fetch else ""
    return f"{get}--allow-missing-modules continues without"


def look_alikes(root: Root) -> list[Diagnostic]:
    """Return OpenTofu's warning of providers of one type that are required under several addresses."""
    by_type: dict[str, list[str]] = {}
    for address in sorted(root.configuration.required()) if root.tool is OPENTOFU else ():
        if address.namespace in {"hashicorp", "opentofu"}:
            by_type.setdefault(address.type, []).append(str(address))
    return [
        Diagnostic(
            WARNING,
            "Potential provider misconfiguration",
            f"{root.tool.product} has detected multiple providers of type {name} ({', '.join(addresses)})",
            hint=f"locklens why {name} lists what requires each",
        )
        for name, addresses in by_type.items()
        if len(addresses) > 1
    ]


def overridden(context: InstallContext) -> list[Diagnostic]:
    """Return the tools' warning of `dev_overrides`, which concern neither the installation nor the lock file."""
    installation = context.config.installation
    if installation is None or not installation.dev_overrides:
        return []
    names = ", ".join(f"{name} in {folder}" for name, folder in installation.dev_overrides)
    words = f"the CLI configuration replaces, when {context.dialect.product} runs: {names}"
    return [Diagnostic(WARNING, "Provider development overrides are in effect", words)]


def named(
    root: Root, providers: Sequence[str], required: list[ProviderRequirement]
) -> tuple[list[ProviderRequirement], list[Diagnostic]]:
    """Return the named providers, and errors about the names."""
    by_address = {requirement.address: requirement for requirement in required}
    selected: dict[ProviderAddress, ProviderRequirement] = {}
    diagnostics = []
    for text in providers:
        try:
            address = root.tool.parse_source(text)
        except AddressError as error:
            words = f"invalid provider address {text!r}: {error}"
            diagnostics.append(Diagnostic(ERROR, "Invalid provider argument", words))
            continue
        if address in by_address:
            selected[address] = by_address[address]
        elif not root.tool.is_builtin(address):
            words = f"The provider {address} is not required by the current configuration"
            near = meant(text, sorted(map(root.name_of, by_address)))
            absent = root.configuration.undeclared_reason if not root.configuration.has_files else ""
            hint = near or absent or "locklens why lists what requires a provider"
            diagnostics.append(Diagnostic(ERROR, "Invalid provider argument", words, hint=hint))
    return list(selected.values()), diagnostics


# Warnings and notes
def warnings(root: Root) -> list[Diagnostic]:
    """Return warnings about a root, which prevent nothing."""
    diagnostics = [
        Diagnostic(WARNING, problem.summary, problem.detail, place=(root.lock.path, problem.line))
        for problem in root.lock.warnings
    ]
    diagnostics += [
        Diagnostic(WARNING, problem.summary, problem.detail, place=(problem.file, problem.line))
        for problem in root.configuration.problems
        if not problem.is_error
    ]
    if moved := root.migration.moved:
        names = ", ".join(f"{old} to {new}" for old, new in moved)
        words = f"{root.tool.product} automatically rewrote some entries as it read the lock file: {names}"
        diagnostics.append(Diagnostic(WARNING, "Dependency lock file entries automatically updated", words))
    return diagnostics


def tracked_packages(words: str) -> Diagnostic:
    """Return the warning of packages that git tracks in the root."""
    hint = "locklens explain LK036 says what to do"
    return Diagnostic(WARNING, "Packages in the repository", words, hint=hint)


def refused_change(change: Difference, readonly: Readonly) -> Diagnostic:
    """Return the error or warning of `--lockfile readonly` about a change."""
    if change is Difference.PROVIDERS:
        words = "Changes to the required provider dependencies were detected, but the lock file is read-only"
        hint = "run it without --lockfile, and commit the file"
        return Diagnostic(ERROR, "Provider dependency changes detected", words, hint=hint)
    words = "Changes to the provider selections were detected, but not saved in the .terraform.lock.hcl file"
    is_lenient = readonly is Readonly.LENIENT
    hint = "" if is_lenient else "run it without --lockfile; --lockfile readonly-lenient accepts new hashes"
    return Diagnostic(WARNING if is_lenient else ERROR, "Provider lock file not updated", words, hint=hint)


def incomplete(settled: Settled, context: InstallContext, here: Platform) -> list[Diagnostic]:
    """Return the tools' warning of a lock file with hashes for this machine's platform only."""
    if not settled.incomplete:
        return []
    names = ", ".join(map(context.name, settled.incomplete))
    words = f"for {here} only, hashes are known of {names}"
    hint = "locklens lock --platform adds those of other platforms"
    return [Diagnostic(WARNING, "Incomplete lock file information for providers", words, hint=hint)]


def against_policy(
    root: Root,
    settled: Iterable[LockEntry],
    policy: Policy,
    ages: Callable[[ProviderAddress], Mapping[Version, int]],
    release: Callable[[ProviderAddress, Version], ReleaseFacts | None],
    listed: Callable[[ProviderAddress], Sequence[ListedVersion]],
) -> list[Diagnostic]:
    """Return warnings of newly locked versions that the policy is against, which a review has too.

    The tools select them all the same. Release dates, signers and platforms are asked for where the policy has a
    cooldown, a pin for them or required platforms, of providers that are newly locked alone.
    """
    before = {entry.address: entry.version for entry in root.migration.entries}
    fresh = [entry for entry in settled if before.get(entry.address) != entry.version]
    names = {entry.address: f"{root.name_of(entry.address)} {entry.version}" for entry in fresh}
    denied = [names[entry.address] for entry in fresh if not policy.allows(entry.address, entry.version)]
    pinned = [
        (one.address, _of_registry(release(one.address, one.version)))
        for one in fresh
        if policy.pin(one.address) is not None
    ]
    objections = ((address, signing_objection(policy, address, new=facts)) for address, facts in pinned)
    refused = [f"{names[address]} is {one.cited}" for address, one in objections if one is not None]
    unknown = [names[address] for address, facts in pinned if facts is None or signed_by(facts) is None]
    days = policy.cooldown
    dated = [(one.address, ages(one.address).get(one.version)) for one in fresh] if days is not None else []
    young = [
        f"{names[address]} is {counted(age, 'day')} old"
        for address, age in dated
        if days is not None and age is not None and age < days
    ]
    undated = [names[address] for address, age in dated if age is None]
    lacking = [
        f"{names[one.address]} for {', '.join(absent)}"
        for one in (fresh if policy.required else ())
        if (absent := _without_package(listed(one.address), one.version, policy.required))
    ]
    other = "`locklens upgrade NAME` names an older version that the policy accepts, if there is one"
    named = "the newest version in range is selected; `locklens upgrade NAME=VERSION` selects an older one"
    found = (
        ("Provider version not allowed by the policy", denied, ": not on the allow list (LK022)", other),
        ("Provider signed by a key that is not pinned", refused, " (LK010)", other),
        ("Signer of a provider unknown", unknown, ": the keys that the policy pins cannot be checked", ""),
        (
            "Provider version within the cooldown",
            young,
            f", and the cooldown is {counted(days or 0, 'day')} (LK014)",
            named,
        ),
        ("Release date of a provider unknown", undated, f": the {days}-day cooldown cannot be checked", ""),
        (
            "No package for a required platform",
            lacking,
            ": no package is offered, and the policy requires it (LK009)",
            named,
        ),
    )
    return [
        Diagnostic(WARNING, title, f"{', '.join(subjects)}{words}", hint=hint)
        for title, subjects, words, hint in found
        if subjects
    ]


def _without_package(
    listed: Iterable[ListedVersion], version: Version, required: Iterable[Platform]
) -> tuple[str, ...]:
    """Return the required platforms that a version is not offered for; () if its platforms are unknown."""
    offered = next((one.platforms for one in listed if one.version == version), ())
    return tuple(str(platform) for platform in required if platform not in offered) if offered else ()


def _of_registry(release: ReleaseFacts | None) -> ReleaseFacts | None:
    """Return a release of which a list of packages is known, signed or not; a mirror has none, nor any signer."""
    return release if release is not None and release.checksums is not None and release.checksums.hashes else None


def removed(root: Root, after: Sequence[LockEntry], *, is_written: bool) -> list[str]:
    """List the providers that are no longer, or will not be, in the lock file because nothing requires them."""
    left = {entry.address for entry in after}
    gone = [entry for entry in root.lock.entries if entry.address not in left]
    verb, ending = ("is", "locked") if is_written else ("would", "be locked")
    return [f"{root.name_of(entry.address)} {entry.version} {verb} no longer {ending}: not required" for entry in gone]


def no_root_here(root: Root, folder: Path) -> list[str]:
    """Name the roots below a folder that has neither a configuration nor a lock file."""
    if root.configuration.has_files or root.lock.exists:
        return []
    from locklens.operations.typed_names import hint_below

    hint = hint_below(folder / root.path)
    return [f"no configuration in this folder; {hint}"] if hint else []


def orphans_kept(
    root: Root, after: Sequence[LockEntry], of_init: Collection[ProviderAddress] = frozenset()
) -> list[str]:
    """List the providers that stay locked though nothing that was read requires them, or that `lock` leaves to init."""
    required = root.configuration.required()
    kept = [entry.address for entry in after if entry.address not in required]
    groups = {
        f"locked: {OF_INIT}": [root.name_of(one) for one in kept if one in of_init],
        "locked, not required by what was read of the configuration": [
            root.name_of(one) for one in kept if one not in of_init
        ],
    }
    shown = {why: names for why, names in groups.items() if names}
    return [f"{', '.join(names)} {'remain' if names[1:] else 'remains'} {why}" for why, names in shown.items()]


def comments_lost(root: Root, after: bytes, command: str) -> list[str]:
    """Say that a file that is written anew as a whole, as the tool's command does it, lacks comments of the old one."""
    if not lost_comments(root.lock.data, after):
        return []
    return [f"comments in the lock file are not kept, as with {root.tool.command} {command}"]
