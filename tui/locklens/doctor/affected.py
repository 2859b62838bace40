"""A provider in roots with the causes that were found there: what fixes are made for. Pure."""

from __future__ import annotations

from posixpath import join, normpath
from typing import TYPE_CHECKING

from msgspec import Struct, convert
from msgspec.structs import replace

from locklens.dialect import DIALECTS
from locklens.doctor.model import Basis, RemedyWrite
from locklens.text import shell_words

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Cause


class Affected(Struct, frozen=True):
    """A provider in roots, with the causes found there; the roots are relative to the folder of the diagnosis."""

    examined: Examined
    causes: tuple[Cause, ...]
    roots: tuple[str, ...]

    @property
    def command_name(self) -> str:
        """The command of the tool that failed, else of the root's."""
        ran = DIALECTS.get(self.examined.incident.tool or "")
        return (ran or self.examined.tool).command

    @property
    def next_step(self) -> str:
        """The command line that runs init in the root; ROOT stands for one that the log does not tell."""
        root = "ROOT" if self.examined.fitting else self.path(self.roots[0] if self.roots else ".")
        chdir = () if root == "." else (f"-chdir={root}",)
        return self.examined.with_settings(shell_words([self.command_name, *chdir, "init"]))

    @property
    def alone(self) -> Affected:
        """The root alone: what is wrong with its configuration or its folders is not so in others with the entry."""
        own = self.examined.fitting or self.roots[:1]
        return replace(self, roots=tuple(root for root in self.roots if root in own) or self.roots[:1])

    @property
    def platform(self) -> str:
        """The platform of the failing run, else that of the only copy here that is not locked, or of this machine."""
        x = self.examined
        found = {one.platform for one in x.packages if one.platform and one.of_files and not one.of_files & x.unpacked}
        by_hashes = any(
            cause.id.is_of_platform and cause.is_probable and cause.basis is Basis.HASHES for cause in self.causes
        )
        return x.platform or (next(iter(found)) if len(found) == 1 else x.machine if by_hashes else "")

    def write(self, command: str, **details: str | bool | tuple[str, ...]) -> RemedyWrite:
        """Return a write for the roots."""
        tool = self.examined.tool.name if self.examined.names_tool else ""
        known = {"command": command, "provider": self.examined.name, "roots": self.roots, "tool": tool}
        return convert({**known, **details}, RemedyWrite)

    def path(self, path: str) -> str:
        """Return a path of the folder of the diagnosis as one of the folder that the user's shell is in."""
        start = self.examined.start
        return path if start == "." else normpath(join(start, path))

    def line(self, command: str, *words: str) -> str:
        """Return a command line of locklens for the roots, as it works in the folder that the user's shell is in."""
        roots = [f"--root={root}" for root in self.roots if root != "."]
        if len(roots) < len(self.roots) and roots:
            roots.insert(0, "--root=.")
        tool = ["--tool", self.examined.tool.name] if self.examined.names_tool else []
        return self.examined.command_line(command, *words, *tool, *roots)

    @property
    def mirror_words(self) -> tuple[str, ...]:
        """The words of `lock` and `upgrade` that name the mirror; () where a registry has the release, or may."""
        x = self.examined
        if not x.is_of_mirror_alone:
            return ()
        copies = [copy for copy in x.packages if copy.origin.kind == "mirror" and copy.hashes]
        there = next((copy for copy in copies if copy.platform == self.platform), next(iter(copies), None))
        if there is not None:
            return "--fs-mirror", there.top(x.address)
        if x.network_mirrors:
            return "--net-mirror", x.network_mirrors[0]
        return ("--fs-mirror", x.mirrors[0]) if x.mirrors else ("--oci-mirror", x.oci_mirrors[0])

    def size_of(self, platform: str) -> int | None:
        """Return the bytes of a platform's package; None if unknown."""
        x = self.examined
        zh = x.platforms.get(platform)
        return x.case.new.sizes.get(zh) if x.case is not None and zh is not None else None
