"""A provider in roots, with the causes found there, and the command lines and writes that are for these roots. Pure."""

from __future__ import annotations

import shlex
from posixpath import join, normpath
from typing import TYPE_CHECKING

from msgspec import Struct, convert
from msgspec.structs import replace

from locklens.dialect import DIALECTS, twin_of
from locklens.doctor import ElsewhereEntry, is_for_twin, likeliest_mirror, taken_over
from locklens.doctor.messages import LOCKLENS
from locklens.doctor.model import Basis, Remedy, RemedyWrite, Trait, TrustCost
from locklens.doctor.shell import from_top
from locklens.lockfile import LockEntry
from locklens.project.configuration import constraint_place
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.text import clauses, listing, shell_word, shell_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from locklens.dialect import Dialect
    from locklens.doctor import FoundPackage, PastEntry
    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Cause
    from locklens.versions import Version

_OF_INIT = frozenset({"retry", "run-again", "reinstall"})
"""Remedies whose command is init, or one that failed, and may write the lock file."""

_READING_MODULES = frozenset({"lock", "upgrade"})
"""Writes that stop where a module cannot be read."""

_OPTIONS = {"readonly-changed": ("-lockfile=readonly",)}
"""Options of init that a message tells, where the log does not have the command line."""


class Affected(Struct, frozen=True):
    """A provider in roots, with the causes found there; the roots are relative to the folder of the diagnosis."""

    examined: Examined
    causes: tuple[Cause, ...]
    roots: tuple[str, ...]

    @property
    def next_step(self) -> str:
        """The command line that runs init as it failed in the root; ROOT stands for one that the log does not tell."""
        upgrade = () if self.examined.message.is_of_upgrade or not self.examined.is_of_upgrade else ("-upgrade",)
        return self._tool_line("init", *upgrade, *self._options)

    @property
    def locking_line(self) -> str:
        """The same command line, of an init that may write the lock file."""
        return self._tool_line("init", *(one for one in self._options if one.lstrip("-") != "lockfile=readonly"))

    @property
    def keeping_line(self) -> str:
        """The same command line, of an init that selects what is locked."""
        return self._tool_line("init", *(one for one in self._options if not one.lstrip("-").startswith("upgrade")))

    @property
    def _options(self) -> tuple[str, ...]:
        return self.examined.message.options or _OPTIONS.get(self.examined.message.kind, ())

    @property
    def is_read_only(self) -> bool:
        """True if the run may not write the lock file, as its log tells."""
        return any(one.lstrip("-") == "lockfile=readonly" for one in self._options)

    @property
    def get_line(self) -> str:
        """The command line that installs the modules of the root, and no provider."""
        is_update = any(each.is_outdated for each in self.examined.configuration.missing_modules)
        return self._tool_line("get", *(("-update",) if is_update else ()))

    @property
    def failed_line(self) -> str:
        """The command line that failed; "" where it was one of `providers` or of locklens, and is not known."""
        command = self.examined.message.command
        if command in {"", LOCKLENS}:
            return ""
        return self.next_step if command == "init" else self._tool_line(*command.split())

    def with_settings(self, line: str) -> str:
        """Return a command line that runs with the data folder and the workspace of the failing run.

        The workspace is another one than is selected here where nothing but its state requires the provider.
        """
        x = self.examined
        installed = x.places.installed
        workspace = x.configuration.workspace_of(x.address) if x.address is not None and x.is_left_to_state else ""
        settings = {"TF_WORKSPACE": workspace, "TF_DATA_DIR": installed.setting if installed is not None else ""}
        return " ".join((*(f"{name}={shell_word(value)}" for name, value in settings.items() if value), line))

    @property
    def validate_line(self) -> str:
        """The command line that loads the providers of the root, and installs and changes nothing."""
        return self._tool_line("validate")

    def state_line(self, *words: str) -> str:
        """Return a command line of the tool about the state of the root."""
        return self._tool_line("state", *words)

    def _tool_line(self, *words: str) -> str:
        """Return a command line of the tool that failed, else of the root's."""
        root = "ROOT" if self.examined.fitting else self.path(self.roots[0] if self.roots else ".")
        chdir = () if root == "." else (f"-chdir={root}",)
        tool = DIALECTS.get(self.examined.incident.tool or "") or self.examined.tool
        return self.with_settings(shell_words([tool.command, *chdir, *words]))

    @property
    def alone(self) -> Affected:
        """The root alone: what is wrong with its configuration or its folders is not so in others with the entry."""
        own = self.examined.fitting or self.roots[:1]
        return replace(self, roots=tuple(root for root in self.roots if root in own) or self.roots[:1])

    @property
    def replaced_by_init(self) -> str:
        """What init does with the entries of the other tool's registry, in a clause; "" where it keeps them."""
        x = self.examined
        if x.error is None or x.entry is None or x.address is None:
            return ""
        if x.is_taken_over or taken_over(twin_of(x.address), x.lock, x.tool) is not None:
            return "OpenTofu moves the entries of Terraform's registry to its own, with other hashes"
        if not is_for_twin(x.address, x.lock, x.configuration):
            return ""
        return f"{x.tool.product} drops the entries of {x.address.host}, and locks what its own registry has today"

    @property
    def locked_by_init(self) -> str:
        """What else init locks or drops in the root, in a clause; "" for nothing, or where it may not write."""
        x = self.examined
        if not x.lock.exists or x.lock.problems or self.is_read_only or self.replaced_by_init:
            return ""
        required, words = x.configuration.required(), list[str]()
        new = required - {*x.lock.by_address, x.address}
        old = {one for one in x.lock.by_address if one not in {*required, x.address}}
        old = {one for one in old if not x.configuration.unknown_need(one)}
        for those, why, verb in ((new, "not locked", "locks"), (old, "not required", "drops")):
            names = listing([one.short(x.tool.default_host) for one in sorted(those)], 3)
            is_are, them = ("is", "it") if len(those) == 1 else ("are", "them")
            where = f" in {x.own_root}" if x.fitting else ""
            words += [f"{names} {is_are} {why}{where}: init {verb} {them}, too"] if those else []
        return clauses(*words, self.then_commit if words else "")

    def refused_by(self, tool: Dialect) -> str:
        """Return why init of a tool refuses the lock file of the root, of whichever provider, in a clause; "" if not.

        Each tool requires a short source in its own registry, and OpenTofu takes some entries of the other over.
        """
        x = self.examined
        entries = list[LockEntry]()
        for one in x.lock.entries if not x.fitting else ():
            twin = twin_of(one.address)
            is_of_twin = twin is not None and is_for_twin(one.address, x.lock, x.configuration)
            is_own = tool is not x.tool or taken_over(twin, x.lock, tool) is not None
            entries += [replace(one, address=twin) if is_of_twin and is_own else one]
        return clauses(*excluding(x, entries))

    def owner(self, target: FoundPackage) -> Affected:
        """The roots that a copy is of: what is installed is the examined root's, whichever a log fits besides."""
        if target.kind != "installed":
            return self
        return replace(self, examined=replace(self.examined, fitting=()), roots=self.roots[:1])

    def by_constraints(self, listed: Sequence[Version]) -> list[Affected]:
        """Return the roots whose constraints were read, in groups that allow the same listed versions."""
        x = self.examined
        if x.address is None:
            return [self]
        own, read = x.required, {other.root: other.requirements for other in x.others if other.requirements}
        groups: dict[frozenset[Version], list[str]] = {}
        required = {root: read.get(root, own) for root in self.roots if root in read or root in self.alone.roots}
        for root, those in required.items():
            allowed = frozenset(one for one in listed if all(each.constraints.admits(one) for each in those))
            groups.setdefault(allowed, []).append(root)
        first = [ElsewhereEntry(x.lock.path, x.entry, self.roots[0], own)] if x.entry is not None else []
        found = []
        for roots in groups.values():
            configuration = replace(x.configuration, requirements=required[roots[0]])
            others = x.others if self.roots[0] in roots else (*x.others, *first)
            one = replace(x, configuration=configuration, others=others)
            found.append(replace(self, examined=one, roots=tuple(roots)))
        return found

    def admitting(self, version: Version) -> Affected | None:
        """Return the roots whose constraints a version satisfies; None if they are known to be of no root."""
        groups = self.by_constraints([version])
        return next((group for group in groups if group.examined.constraints.admits(version)), None)

    def by_commit(self, past: PastEntry) -> list[tuple[str, Affected]]:
        """Return the commits from which an earlier state can be restored, with the roots whose files have it there.

        That is one commit where one has it for all; roots whose files have another entry in each are left out.
        """
        commits, own = dict.fromkeys(filter(None, (past.commit, past.last))), self.roots[:1]
        shared = {other.root: other.shared for other in self.examined.others}
        found, left = [], list(self.roots)
        having = {one: [root for root in left if root in own or one in shared.get(root, ())] for one in commits}
        for commit in sorted(having, key=lambda one: -len(having[one])):
            if roots := [root for root in having[commit] if root in left]:
                found.append((commit, replace(self, roots=tuple(roots))))
                left = [root for root in left if root not in roots]
        return found

    def left_out(self, roots: Sequence[str], commit: str = "") -> str:
        """Return which roots a fix by constraints, or from a commit, leaves out, in a clause; "" for none."""
        left = [from_top(self.examined.shell.here, root) for root in self.roots if root not in roots]
        need, their = ("needs", "its") if len(left) == 1 else ("need", "their")
        of_commit = f"commit {commit[:12]} has another entry there, or none"
        why = of_commit if commit else f"{their} constraints differ, or could not be read"
        return f"{listing(left, 3)} {need} another fix: {why}" if left else ""

    @property
    def platform(self) -> str:
        """The platform of the failing run, else that of the only copy here that is not locked, or of this machine."""
        x = self.examined
        found = {
            one.platform for one in x.places.packages if one.platform and one.of_files and not one.of_files & x.unpacked
        }
        by_hashes = any(
            Trait.OF_PLATFORM in cause.traits and cause.is_probable and cause.basis is Basis.HASHES
            for cause in self.causes
        )
        return x.platform or (next(iter(found)) if len(found) == 1 else x.places.machine if by_hashes else "")

    def remedy(
        self, remedy: str, title: str, trust: TrustCost, size: int | None = None, *words: str, **details: Any
    ) -> Remedy:
        """Return a remedy for the roots; `words` are its command line and its notes."""
        command, *notes = words or ("",)
        notes = [*filter(None, (self.first_checkout if command else "",)), *notes]
        is_writing = remedy in _OF_INIT or "write" in details
        others = self.locked_by_init if remedy in _OF_INIT and command else ""
        if is_writing and command and (written := clauses(self.replaced_by_init, others)):
            trust, size = trust if trust is TrustCost.HIGH else TrustCost.LOW, size or None
            notes.append(written)
        return Remedy(remedy, title, len(self.roots), trust, size, command, clauses(*notes), **details)

    def written(
        self,
        remedy: str,
        title: str,
        trust: TrustCost,
        size: int | None,
        write: RemedyWrite,
        *notes: str,
        is_committed: bool = False,
    ) -> Remedy:
        """Return the remedy whose command line is a write; `is_committed` if the current commit has what it writes."""
        then = "then commit the files that it changes" if write.edits_constraints else self.then_commit
        then = "" if is_committed else then
        notes = (self.first_get, *notes) if write.command in _READING_MODULES else notes
        return self.remedy(remedy, title, trust, size, self.line(*write.words), *notes, then, write=write)

    @property
    def first_get(self) -> str:
        """What has to be done before a command that reads the modules of the root, in a clause; "" for nothing."""
        missing = [each for each in self.examined.configuration.missing_modules if each.is_fetchable]
        if any(each.is_outdated for each in missing):
            return f"first {self.get_line}: the failing run fetched other modules than lie here"
        return f"first {self.get_line}: without the modules, which are not fetched, it fails" if missing else ""

    @property
    def first_checkout(self) -> str:
        """What brings the folder of the root to the work tree, in a clause; "" where it is there."""
        x = self.examined
        added = shell_words([*x.shell.git, "sparse-checkout", "add", x.root])
        return "" if x.is_checked_out else f"first {added}: the folder is not checked out here"

    @property
    def then_commit(self) -> str:
        """What is left to do once the lock file is written, in a clause: others have it by the next commit alone."""
        if not self.examined.history.is_ignored:
            return "then commit the lock file"
        way_on = f"{self.add_line}, or take out the line that {self.ignoring_line} names"
        return f"then commit the lock file, which git ignores: {way_on}"

    @property
    def add_line(self) -> str:
        """The command line that stages the lock file, also where git ignores it."""
        x = self.examined
        return shell_words([*x.shell.git, "add", *(("-f",) if x.history.is_ignored else ()), "--", x.lock.path])

    @property
    def ignoring_line(self) -> str:
        """The command line that names the line for which git ignores the lock file, staged or not."""
        x = self.examined
        return shell_words([*x.shell.git, "check-ignore", "-v", "--no-index", "--", x.lock.path])

    def restoring(self, commit: str, **details: tuple[str, ...]) -> RemedyWrite:
        """Return a write that restores entries of a commit; for one root that was moved, it names the file."""
        path = self.examined.history.paths.get(commit, "") if len(self.roots) == 1 else ""
        return self.write("restore", revision=commit, path=path, **details)

    def write(self, command: str, **details: str | bool | tuple[str, ...]) -> RemedyWrite:
        """Return a write for the roots."""
        tool = self.examined.tool.name if self.examined.shell.names_tool else ""
        known = {"command": command, "providers": (self.examined.name,), "roots": self.roots, "tool": tool}
        return convert({**known, **details}, RemedyWrite)

    def path(self, path: str) -> str:
        """Return a path of the folder of the diagnosis as one of the folder that the user's shell is in."""
        start = self.examined.shell.start
        return path if start == "." else normpath(join(start, path))

    def line(self, command: str, *words: str) -> str:
        """Return a command line of locklens for the roots, as it works in the folder that the user's shell is in."""
        tool = ["--tool", self.examined.tool.name] if self.examined.shell.names_tool else []
        return self.examined.shell.command_line(command, *words, *tool, *_root_words(self.roots))

    def in_roots(self, remedy: Remedy, roots: Sequence[str]) -> Remedy:
        """Return a remedy whose command line is one of locklens as it is for these roots."""
        write = replace(remedy.write, roots=tuple(roots)) if remedy.write is not None else None
        words = [word for word in shlex.split(remedy.command) if not word.startswith(_ROOT_OPTION)]
        return replace(remedy, command=shell_words([*words, *_root_words(roots)]), write=write)

    def of_providers(self, remedy: Remedy, names: Sequence[str]) -> Remedy:
        """Return a remedy whose command line names this provider as it is for several."""
        write = replace(remedy.write, providers=tuple(names)) if remedy.write is not None else None
        words = [names if word == self.examined.name else [word] for word in shlex.split(remedy.command)]
        return replace(remedy, command=shell_words(word for each in words for word in each), write=write)

    def is_by_roots(self, remedy: Remedy) -> bool:
        """True if a remedy is a command line of locklens that takes several roots, which its options alone tell."""
        return self.is_by_words(remedy)

    def is_by_words(self, remedy: Remedy) -> bool:
        """True if a remedy is a command line of locklens whose words alone tell the providers, and roots."""
        is_merge = remedy.write is not None and remedy.write.command in {"merge", "replace"}
        is_own = remedy.command.startswith(f"{self.examined.shell.command_line()} ") and " && " not in remedy.command
        return is_own and not is_merge

    @property
    def mirror_words(self) -> tuple[str, ...]:
        """The words of `lock` and `upgrade` that name the mirror; () where a registry has the release, or may."""
        x = self.examined
        if not x.is_of_mirror_alone:
            return ()
        copies = [copy for copy in x.places.packages if copy.kind == "mirror" and copy.hashes]
        there = next((copy for copy in copies if copy.platform == self.platform), next(iter(copies), None))
        if there is not None:
            return MethodKind.FILESYSTEM.option, there.top(x.address)
        folders = (InstallationMethod(MethodKind.FILESYSTEM, place) for place in x.places.mirrors)
        mirror = likeliest_mirror((*x.places.servers, *folders))
        return (mirror.kind.option, mirror.place) if mirror is not None else ()

    def size_of(self, platform: str) -> int | None:
        """Return the bytes of a platform's package; None if unknown."""
        x = self.examined
        zh = x.today.platforms.get(platform)
        return x.today.case.new.sizes.get(zh) if x.today.case is not None and zh is not None else None


def excluding(x: Examined, entries: Iterable[LockEntry]) -> Iterator[str]:
    """Yield which constraints of the configuration exclude what some entries lock."""
    for entry in entries:
        for one in x.configuration.of(entry.address):
            if not one.constraints.admits(entry.version):
                locked = f"{entry.address.short(x.tool.default_host)} {entry.version}"
                yield f"{constraint_place(one)} requires {one.constraints}: init fails with {locked}"


_ROOT_OPTION = "--root="


def _root_words(roots: Sequence[str]) -> list[str]:
    """Return the options of a command line for roots: none for the current folder alone."""
    words = [f"{_ROOT_OPTION}{root}" for root in roots if root != "."]
    return [f"{_ROOT_OPTION}.", *words] if words and len(words) < len(roots) else words
