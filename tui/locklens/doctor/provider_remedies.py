"""The fixes that bring a provider of another source, or another copy of its package. Pure.

Copies are in mirrors, plugin caches and data folders: they are moved, replaced or fetched.
"""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.doctor import FoundPackage, holding
from locklens.doctor.mistyped import meant_by
from locklens.doctor.model import CauseVerdict, PackagePath, Remedy, Trait, TrustCost
from locklens.doctor.version_remedies import NEW_DECISION, by_hand, without_provider
from locklens.packages.installed import KEPT_ASIDE
from locklens.project.configuration import Contributor
from locklens.project.installation import MethodKind
from locklens.text import clauses, listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.addresses import ProviderAddress
    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.doctor.messages import RecognisedError

_NONE, _LOW, _HIGH = TrustCost.NONE, TrustCost.LOW, TrustCost.HIGH


def fix_source(one: Affected) -> Iterator[Remedy]:
    """The requirement with the wrong address is named; an address that init locked was right at that time."""
    x, title = one.examined, f"Correct the source address of {one.examined.name} by hand where it is required"
    if x.override_words:
        yield from _without_installing(one.alone)
    if x.is_overridden_in_run:
        return  # the address is the one that is meant
    if x.entry is not None:
        yield without_provider(one, "its address was right when it was locked, unless the entry was written by hand")
        if x.history.renamed_from is None and not x.is_unrequired and not _is_of_state(x):
            title = f"{title}, and lock it again, if it was mistyped or the provider has moved"
            yield replace(by_hand(one, "correct-source", title, "file and line"), size=None)
        return
    if one.examined.is_unrequired:
        note = f"nothing in {one.examined.where} requires it here: check out the commit of the failing run"
        yield one.alone.remedy("correct-source", title, _NONE, 0, "", note)
        return
    if one.examined.address is not None and _is_of_state(one.examined):
        yield _with_another_address(one.alone, one.examined.address)
        return
    is_of_host = one.examined.message.kind != "provider-unknown"
    note = "" if is_of_host else "a module without required_providers means hashicorp/NAME"
    if (meant := meant_by(x)) is not None:
        note = f"{meant.short(x.tool.default_host)} may be meant, which is locked here, and required by nothing"
    yield by_hand(one.alone, "correct-source", title, "file and line", note)


def _without_installing(one: Affected) -> Iterator[Remedy]:
    """Yield the ways of a provider that `dev_overrides` take from a folder: no init, or a source that has it."""
    x, note = one.examined, "plan and apply use the folder, too, and nothing verifies what is in it"
    note = f"{note}; init installs the other providers that are locked before it fails"
    left = x.configuration.required() - {*x.lock.by_address, x.address}
    if left:
        names = listing([each.short(x.tool.default_host) for each in sorted(left)], 3)
        note = f"{note}: lock {names} first"
    title = f"Go on without init for {x.name}"
    yield one.remedy("skip-init", title, _NONE, 0, one.validate_line, note)
    title = f"Publish {x.name}, or fill a mirror of the settings with it, where init has to succeed"
    yield one.remedy("publish", title, _NONE, 0, "", "init takes it from there, whatever dev_overrides say")


def _is_of_state(x: Examined) -> bool:
    """True if only the state requires a provider, or can, which no edit of the configuration changes."""
    is_read = bool(x.required) and all(each.contributor is Contributor.STATE for each in x.required)
    return is_read or x.is_left_to_state


def _with_another_address(one: Affected, address: ProviderAddress) -> Remedy:
    """Return the remedy for the state's objects of a provider that its registry does not have."""
    name = one.examined.name
    title = f"Give the state's objects of {name} the address that their provider has now"
    old, either = str(address), ""
    if address.host == OPENTOFU.default_host:  # OpenTofu requires this for the other tool's address, too
        old, other = "OLD", replace(address, host=TERRAFORM.default_host)
        either = f"OLD stands for {address} or {other}, whichever the state has"
    removal = f"{one.state_line('rm', 'OBJECT')} forgets one that {one.state_line('list')} names, and destroys nothing"
    unread = f"nothing else here requires it, and {one.examined.unknown_need}"
    unread = unread if one.examined.is_left_to_state else ""
    note = clauses(unread, either, f"NEW stands for that address; where there is none, {removal}")
    return one.remedy("correct-source", title, _NONE, 0, one.state_line("replace-provider", old, "NEW"), note)


_NOT_OF_PACKAGES = frozenset({"provider-unknown", "readonly-changed", "entries-migrated", "lock-incomplete"})
"""Errors about addresses or entries: a copy of a locked package is one of another address, or none is missing."""


def copies(one: Affected) -> Iterator[Remedy]:
    """Copies on this machine that the lock file accepts: the only cure without any cost."""
    x = one.examined
    if x.entry is None or x.address is None or x.message.kind in _NOT_OF_PACKAGES:
        return
    targets = tuple(_targets(one))
    path = x.incident.path
    is_of_place = path is not None and (path.is_mirror or path is PackagePath.PLUGIN_CACHE)
    for copy in holding(x.places.packages, x.entry)[:3]:
        if not x.can_be_installed(copy):
            continue
        fitting = [target for target in targets if target.platform == copy.platform and copy.place]
        for target in fitting:
            yield _replacement(one.owner(target), target, copy)
        is_there = copy.kind == "mirror" and x.is_of_mirror and (copy.is_of_run or x.is_first(copy))
        if not fitting and is_of_place and not is_there:
            yield _copy_by_hand(one, copy)


def _targets(one: Affected) -> Iterator[FoundPackage]:
    """Yield the folders on this machine that are the cause; for a link into the plugin cache, the cache's folder."""
    x = one.examined
    kinds = {cause.place for cause in one.causes if cause.is_probable} - {""}
    for found in x.places.packages:
        is_here = found.is_of_root or found.kind != "installed"
        is_of_other = x.message.kind == "plugin-other-platform" and found.is_of_root
        is_suspect = (is_of_other or x.can_be_installed(found)) and not found.hashes & x.locked and not found.is_left
        if found.place and found.kind in kinds and is_here and is_suspect:
            real = next((one for one in x.places.packages if found.cached and one.path == found.cached), found)
            names = ("kind", "path", "place", "base", "aside", "link")
            yield replace(found, **{name: getattr(real, name) for name in names})


def _replacement(one: Affected, target: FoundPackage, copy: FoundPackage) -> Remedy:
    """Return the remedy that puts a copy in the place of a folder, which is moved aside unless its `aside` is ""."""
    entry = one.examined.entry
    assert entry is not None
    there = one.path(target.path)
    made, copied = ["mkdir", "-p", "--", dirname(there)], ["cp", "-R", "--", f"{one.path(copy.path)}/", there]
    line = _aside_line(there, target.aside, shell_words(copied))
    command = line if target.aside else f"{shell_words(made)} && {shell_words(copied)}"
    note = (_link_words(target) or f"what is in {target.path} now is kept aside") if target.aside else ""
    title = f"Put the copy in {copy.path} in its place, which the lock file accepts"
    write = one.write("replace", place=target.place, base=target.base, source=copy.place, locked=entry.hashes)
    return one.alone.remedy("use-copy", title, _NONE, 0, command, note, write=write)


def _link_words(target: FoundPackage) -> str:
    """Return what becomes of a copy whose place is a link, of which the link alone is moved; "" for a folder."""
    return f"the link alone is moved: {target.link} stays as it is, and other roots may use it" if target.link else ""


def _copy_by_hand(one: Affected, copy: FoundPackage) -> Remedy:
    """Return the command that brings a copy to another machine's mirror or cache."""
    x = one.examined
    assert x.entry is not None
    place = one.path(copy.path)
    top = _runner_top(x)
    target = f"{top}/{x.address}/" if copy.zh else f"{top}/{x.address}/{x.entry.version}/"
    copying = ["cp", "--", place, target] if copy.zh else ["cp", "-RL", "--", place, target]  # of a link, the folder
    command = f"{shell_words(['mkdir', '-p', '--', target])} && {shell_words(copying)}"
    title = f"Use the copy of {x.release} for {copy.platform} that the lock file accepts"
    words = ", for which MIRROR stands" if top == "MIRROR" else ""
    note = f"for the mirror or the plugin cache of the runner{words}: move its copy aside first"
    return one.alone.remedy("use-copy", title, _NONE, 0, command, note)


def _runner_top(x: Examined) -> str:
    """Return the folder of the runner's mirror or plugin cache, by the log or the settings; MIRROR if none tells it."""
    top, below, _ = x.message.place.replace("\\", "/").partition(f"/{x.address}/")
    path = x.incident.path
    of_settings = x.places.mirrors if path is not None and path.is_mirror and not path.is_on_server else ()
    return top if below else next(iter((*x.message.own_folders, *of_settings)), "MIRROR")


def fix_mirror(one: Affected) -> Iterator[Remedy]:
    """The mirror is filled from the signed release."""
    x, alone = one.examined, one.alone
    if x.message.kind == "mirror-unreadable" and x.message.own_mirror:
        title = f"Create {x.message.own_mirror}, or correct its path in the command that failed, by hand"
        note = "the command of the log names the place: the settings are of no account there"
        yield alone.remedy("correct-settings", title, _NONE, 0, "", note)
        return
    if x.message.has_no_source or x.is_without_source or x.message.kind == "mirror-unreadable":
        title = "Create the folder, or correct its path, by hand"
        if x.message.has_no_source:
            title = f"Have a place of provider_installation include {x.name}, by hand"
        if x.is_without_source:
            title = "Add a place to provider_installation, such as direct {}, by hand: dev_overrides are none"
        note = "the command shows the settings that name the place, and changes nothing"
        yield alone.remedy("correct-settings", title, _NONE, 0, "", note, hint=_settings_line("provider_installation"))
        return
    if x.address is None or x.today.is_denied:
        return  # what no registry has, no command fills a mirror with
    left_out = _left_out(x)
    if left_out is not None:
        yield alone.remedy("fill-mirror", left_out[0], _NONE, None, "", left_out[1])
        return
    place, note = _filled_place(x)
    platform = one.platform or x.places.machine
    if platform and not x.platform:
        note = clauses(note, f"that the failing run was on {platform} is assumed")
    title, size = "Fill the mirror from the signed release", one.size_of(platform)
    is_of_all = len(x.lock.entries) > 1 or not x.lock.exists
    if is_of_all:
        title, size = "Fill the mirror from the signed releases of all required providers", None
    line, cost = _mirror_line(one, place, platform), _NONE
    if x.entry is None and x.lock.entries:  # mirror fetches no version that was not selected
        of_platform = ["--platform", platform] if platform else []
        line, cost = f"{alone.line('lock', *of_platform, x.name)} && {line}", _LOW
        note = clauses(note, f"{x.name} is locked first, at a version to review")
    elif x.entry is not None and x.required and not x.constraints.admits(x.entry.version):
        line, cost = f"{alone.line('upgrade', x.name)} && {line}", _LOW
        note = clauses(note, f"{x.name} is upgraded first, since mirror fetches what is locked", NEW_DECISION)
    yield alone.remedy("fill-mirror", title, cost, size, line, alone.first_get, note, is_of_all=is_of_all)


def _left_out(x: Examined) -> tuple[str, str] | None:
    """Return the way to a mirror with a provider that `mirror` leaves out here, and why; None where it takes it."""
    if x.is_unrequired:
        title = f"Check out the commit of the failing run, whose root requires {x.name}, and fill the mirror from it"
        return title, f"nothing in {x.where} requires it, so that mirror leaves it out"
    if x.entry is None and x.address is not None and (x.configuration.is_of_init(x.address) or x.is_left_to_state):
        title = f"Lock {x.name} with init where that may ask its registry, then fill the mirror"
        why = "nothing but the state can" if x.is_left_to_state else "only the state or test files"
        return title, f"{why} require it, and mirror leaves that out until it is locked"
    return None


def _filled_place(x: Examined) -> tuple[str, str]:
    """Return the mirror to fill, as `mirror` takes it, and the note on what stands for it."""
    method = x.incident.path.method if x.incident.path is not None else None
    match method:
        case MethodKind.OCI:
            return "oci://HOST/REPOSITORY", "as repository_template of the runner's oci_mirror block names it"
        case MethodKind.DIRECT | MethodKind.FILESYSTEM | MethodKind.NETWORK | None:
            folders = list(dict.fromkeys(x.message.search_folders))
            named = f", by the log {folders[0]}" if len(folders) == 1 else ""
            url = (
                x.failing_mirror
                or x.message.own_server
                or x.message.searched_server
                or next((one.place for one in x.places.servers), "")
            )
            named = named or (f", which serves {url}" if url else "")
            return (
                (x.places.mirrors[0], "")
                if x.places.mirrors
                else ("DIR", f"DIR is the folder of the runner's mirror{named}")
            )
        case _:
            assert_never(method)


def _mirror_line(one: Affected, place: str, platform: str = "") -> str:
    """Return the command line that fills a mirror for the roots, of a platform or that of the failing run."""
    return one.alone.line("mirror", f"{_OF_PLATFORM.strip()}{platform or one.platform or 'OS_ARCH'}", place)


def fix_copy(one: Affected) -> Iterator[Remedy]:
    """The altered copy is moved aside, with its hash and files in the report."""
    targets = tuple(_targets(one))
    for target in targets:
        yield _moved_aside(one, target, "replace-copy", "Move the differing copy aside")
    if targets:
        return
    x = one.examined
    kinds = ("mirror", "plugin-cache")
    packed = next((each for each in x.of_kind(*kinds) if not each.hashes & x.locked and not each.is_left), None)
    if packed is None and x.places.replaced and not x.places.is_mirror_replaced:
        size = one.size_of(x.platform)
        yield one.alone.remedy("reinstall", "Install the locked package", _NONE, size, one.next_step)
        return
    is_of_server = x.today.served is not None or (x.incident.path is not None and x.incident.path.is_on_server)
    if packed is None and (x.places.replaced or is_of_server):
        yield from fix_mirror(one)
        return
    place = one.path(packed.path) if packed is not None else x.message.place or "DIR"
    then = _fetched_again(one, packed)
    title = f"Move the differing copy{'' if packed else ' on the runner'} aside{_AGAIN if then else ''}"
    note = "DIR is its folder on the runner" if place == "DIR" else ""
    if packed is not None:
        note = _hash_words(packed, then)
    elif "MIRROR" in then:
        words = "MIRROR is the mirror's folder: a plugin cache needs init instead"
        note = clauses(note, words)
    line = _aside_line(place, packed.aside if packed is not None else KEPT_ASIDE, then)
    yield one.alone.remedy("replace-copy", title, _NONE, None, line, note)


_AGAIN = ", before the package is fetched again"
_OF_PLATFORM = " --platform="


def _aside_line(place: str, aside: str, then: str) -> str:
    """Return the command line that moves a copy aside, by the end of its new name, and what follows; "" for nothing.

    Before a mirror's copy is moved, the line makes sure that the registry gives another one.
    """
    probe = then.replace(_OF_PLATFORM, f" --dry-run{_OF_PLATFORM}", 1) if _OF_PLATFORM in then else ""
    return " && ".join(filter(None, (probe, shell_words(["mv", "--", place, f"{place}{aside}"]), then)))


def _hash_words(target: FoundPackage, then: str) -> str:
    """Return the note on a copy that is moved aside; `then` is the command that fetches it again, "" without one."""
    words = f"its hash is {target.shown_hash or 'not known'}"
    words += f"; {link}" if (link := _link_words(target)) else ": keep it for the investigation"
    return words if then else f"{words}; no registry has the package: whoever fills the mirror has to put it there"


def _fetched_again(one: Affected, target: FoundPackage | None) -> str:
    """Return the command that brings the package back, for a mirror one that fills it; "" where no registry has it."""
    path = one.examined.incident.path
    if target is None and (path is None or (path.is_mirror and not path.is_on_server)):
        return _mirror_line(one, _runner_top(one.examined))
    is_used = target is not None and (target.is_of_run or not one.examined.places.asks_registry)
    if target is not None and target.kind == "mirror" and is_used:
        if one.examined.today.is_denied:
            return ""
        return _mirror_line(one, target.top(one.examined.address), target.platform)
    return one.next_step


def _moved_aside(one: Affected, target: FoundPackage, remedy: str, title: str) -> Remedy:
    """Return the remedy that moves a folder aside, and then fetches the package again."""
    shown, then = one.path(target.path), _fetched_again(one, target)
    title, command = f"{title}{_AGAIN if then else ''}", _aside_line(shown, target.aside, then)
    note = _hash_words(target, then)
    is_sure = one.examined.today.is_known or then == one.next_step  # else the copy may be the last one
    write = one.write("replace", place=target.place, base=target.base, next_step=then) if is_sure else None
    size, is_partial = one.size_of(one.examined.platform), then == ""
    return one.alone.remedy(remedy, title, _NONE, size, command, note, write=write, is_partial=is_partial)


def fix_installed(one: Affected) -> Iterator[Remedy]:
    """The root's own folder of the package is moved aside, or filled with a copy of another place."""
    x = one.examined
    if x.message.kind in _OF_PROGRAMS:
        yield from _fix_program(one, x.message)
        return
    targets = [target for target in _targets(one) if target.is_of_root]
    for target in targets:
        what = "plugin cache" if target.cached else "installed"
        title = f"Move the {what} {'link' if target.link else 'folder'} aside"
        yield _moved_aside(one.owner(target), target, "reinstall", title)
    own = next((copy for copy in x.places.packages if copy.is_of_root), None)
    installed = x.places.installed
    if own is None and x.entry is not None and installed is not None and installed.is_there:
        place = f"{x.address}/{x.entry.version}/{x.platform}"
        donors = (each for each in holding(x.places.packages, x.entry) if each.place and each.platform == x.platform)
        if x.platform and (donor := next(donors, None)) is not None:
            empty = FoundPackage(
                "installed", f"{installed.shown}/{place}", place=f"{installed.place}/{place}", aside=""
            )
            yield _replacement(one.owner(empty), replace(empty, base=installed.base), donor)
    is_wrong = any(Trait.OF_WRONG_ENTRY in each.traits and each.verdict is CauseVerdict.YES for each in one.causes)
    if not targets and not is_wrong and not x.is_unread:  # init refuses a package that a wrong entry does not have
        is_other = own is not None and x.entry is not None and not own.hashes & x.locked
        there = own.shown_hash if own is not None and is_other else ""
        note = f"what is there now ({there}) is replaced, and not kept" if there else ""
        if _is_of_other_machine(x) and x.message.kind == "plugin-missing":
            note = clauses(_BEFORE_FAILED, note)
        if own is not None and not is_other and x.entry is not None and not x.fitting:
            note = "on the machine of the log; here the locked package is installed: run the failed command again"
            if _is_of_other_machine(x):
                note = f"{_BEFORE_FAILED}; here the locked package is installed"
        where = replace(one, roots=("ROOT",)) if x.fitting else one.alone
        is_of_all = len(x.lock.entries) > 1
        what = "packages of all providers" if is_of_all else "package"
        title = f"Install the locked {what}{' again' if own is not None and not x.fitting else ''}"
        if one.replaced_by_init:
            title = "Run init"
        is_of_tool = x.places.replaced != ""  # as the move aside said
        if x.lacking_modules:
            title, note, is_of_tool = _WITH_MODULES, f"{x.lacking_modules}, and locklens init installs none", True
        elif x.fitting and installed is not None and installed.lacking:
            note, is_of_tool = f"modules are missing in {x.own_root}, too, and locklens init installs none", True
        line = one.next_step if is_of_tool else one.with_settings(where.line("init"))
        size, refused = one.size_of(x.platform), one.refused_by(x.tool)
        found = one.alone.remedy("reinstall", title, _NONE, size, line, note, refused, is_of_all=is_of_all)
        yield replace(found, is_partial=refused != "")


def _is_of_other_machine(x: Examined) -> bool:
    """True if the log may be of another machine, which has a folder of its own for what init installs."""
    return x.places.installed is not None and not x.places.installed.is_of_run


_BEFORE_FAILED = "on the machine of the log, before the command that failed"

_WITH_MODULES = "Install the modules and the providers"

_OF_PROGRAMS = frozenset({"override-missing", "plugin-not-executable"})
"""Errors of programs that are not there, or may not run, whatever is locked."""


def fix_modules(one: Affected) -> Iterator[Remedy]:
    """The modules are installed; or what failed is done without them, which locklens reads where they are here."""
    alone, x = one.alone, one.examined
    note = f"{one.get_line} installs the modules alone, which is enough for providers lock"
    note = clauses(_BEFORE_FAILED if _is_of_other_machine(x) else "", note)
    yield alone.remedy("install-modules", _WITH_MODULES, _NONE, None, one.next_step, note)
    if x.configuration.missing_modules or not x.message.command.startswith("providers lock"):
        return  # any other command fails all the same
    title = "Lock the providers with locklens, which reads modules in the repository without init"
    note = "it does what providers lock does; name the platforms of that, too"
    yield alone.remedy("lock", title, _LOW, None, alone.line("lock"), note)


def _settings_line(block: str) -> str:
    """Return the command line that shows a block of the CLI configuration."""
    return f'grep -n -A 9 {block} "${{TF_CLI_CONFIG_FILE:-$HOME/.terraformrc}}"'


def _fix_program(one: Affected, error: RecognisedError) -> Iterator[Remedy]:
    """The program is made executable, or the setting that leads elsewhere corrected."""
    if error.kind == "override-missing":
        title = f"Correct or remove the folder of {one.examined.name} in dev_overrides; the command shows that block"
        command = _settings_line("dev_overrides")
        yield one.alone.remedy("correct-override", title, _NONE, 0, command)
        return
    below = error.place or f".terraform/providers/{one.examined.address}"
    place = below if below.startswith(("/", "~")) else normpath(join(one.path(one.alone.roots[0]), below))
    title = "Let the provider's program be executed"
    note = "a file system that is mounted noexec executes nothing: TF_DATA_DIR names another folder"
    command = shell_words(["chmod", *([] if error.place else ["-R"]), "u+x", "--", place])
    yield one.alone.remedy("make-executable", title, _NONE, 0, command, note)
