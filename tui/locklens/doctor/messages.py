"""What a log says: the errors of `init`, `lock` and `plan` in it, and the facts beside them, as frozen values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hashes import is_of_zip
from locklens.project.installation import MethodKind
from locklens.versions import Constraints

if TYPE_CHECKING:
    from locklens.doctor.reasons import NetworkReason

_CALL = re.compile(r'module "(?P<name>[^"]{1,200})"')
_LINE = re.compile(r" line (?P<number>[1-9]\d{0,6})\b")
_LOCAL_FILE = re.compile(r" package at (?:[a-z]:)?[/\\~.]")

OF_LACKING = frozenset({"not-locked", "provider-not-available"})
"""Errors of a provider that a command other than init requires, in the registry of the tool that ran."""

PAGE = "page:"
"""What the digest of a downloaded file begins with that is a page in the place of a zip file."""

OF_VERSIONS = frozenset({"locked-mismatch", "lock-constraint"})
"""Errors of a locked version that the constraints exclude."""

MODULE_MISSING = "module-not-installed"
"""The error of a command other than init, of a module that the configuration calls."""

WARNINGS = frozenset({"entries-migrated", "lock-incomplete", "lock-not-updated"})
"""Kinds of messages that stop nothing; they come after those that do."""


WRAPPERS = frozenset({"plugins-not-installed", "locking-failed", "mirroring-failed", "query-failed", "install-failed"})
"""Kinds of titles that tell no reason; it comes after them."""

LOCKLENS = "locklens"
"""The command of an error that locklens wrote itself, whose line is not read."""


class FetchedModule(Struct, frozen=True):
    """A module that a run fetched, as its log has it.

    Attributes:
        call: The path of the call, such as "network" or "a.b".
        source: Its address, without the folder in it.
        version: That of a registry's module; "" for any other.
    """

    call: str
    source: str
    version: str


class RecognisedError(Struct, frozen=True):
    """An error of `init`, `lock` or `plan` in a log; "" stands for what the message does not have.

    Attributes:
        kind: Id of its row in the catalogue.
        text: The message on one line, shortened.
        provider: As the message names it.
        platform: OS_ARCH.
        place: The folder or file in the message.
        reason: Why a request failed; None if none did.
        hashes: `zh` and `h1` hashes in the message, in its order.
        line: The line of the log where it begins, from 1.
        folders: The folders that its lines name as that of the run: a prefix such as Terragrunt's, then `folder`.
        folder: The one that a command or a CI system names before the run, also where a prefix names another one.
        reused: Providers that this run took from the lock file before it failed, as the log names them.
        searched: Providers that this run chose a version for, since the lock file had none.
        matching: The constraints that it had on each of them, in the same order; "" where its line names none.
        constraint: The version constraint in the message.
        options: Options of the failing `init` that decide what it installs, where from, and what it may write.
        selected: Providers with the versions that this run began to install or had already, as "acme/demo 1.4.2".
        unsigned: Those that it installed and calls unauthenticated.
        overridden: Providers that its warning of `dev_overrides` names.
        modules: Modules that this run fetched.
        tests: Files that this run of `test` began to test, relative to its folder.
        command: The command that failed: "init" of a tool, one of `providers` with all its words, or `LOCKLENS`; ""
            where the log tells it to be one of `providers`, or not to be init, and does not have its line.
        run: The line of the log where this run begins: errors with one number are of one run, and of one root.
        tool: The name of the tool of this run; "" for unknown.
    """

    kind: str
    text: str
    provider: str = ""
    version: str = ""
    platform: str = ""
    place: str = ""
    host: str = ""
    reason: NetworkReason | None = None
    hashes: tuple[str, ...] = ()
    line: int = 1
    folders: tuple[str, ...] = ()
    folder: str = ""
    reused: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    matching: tuple[str, ...] = ()
    constraint: str = ""
    options: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    unsigned: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    modules: tuple[FetchedModule, ...] = ()
    tests: tuple[str, ...] = ()
    command: str = "init"
    run: int = 0
    tool: str = ""

    @property
    def says(self) -> tuple[str, ...]:
        """What it says, whichever run it is of."""
        return self.kind, self.provider, self.version, self.constraint

    @property
    def is_of_upgrade(self) -> bool:
        """True if its run is known to choose versions itself, whatever is locked."""
        return self.command == LOCKLENS or any(one.startswith("-upgrade") for one in self.options)

    @property
    def has_unknown_options(self) -> bool:
        """True if it is of a command of `providers` whose line, which may name a mirror, the log does not have."""
        return self.command == "" and self.kind != MODULE_MISSING

    @property
    def call(self) -> str:
        """The name of the module's call that it shows; "" for none."""
        match = _CALL.search(self.text)
        return match["name"] if match is not None else ""

    @property
    def line_of_place(self) -> int:
        """The number of the line that it quotes; 0 for none."""
        match = _LINE.search(self.text)
        return int(match["number"]) if match is not None else 0

    @property
    def about(self) -> str:
        """What it is about, where it names no provider."""
        return {"lock-invalid": "the lock file", MODULE_MISSING: "the modules"}.get(self.kind, "the provider")

    @property
    def own_folders(self) -> tuple[str, ...]:
        """The folders of its command line, such as that of `-plugin-dir`: the only places that such a run asks."""
        of_init = tuple(one.partition("=")[2] for one in self.options if one.startswith("-plugin-dir="))
        return of_init or self._mirrors("fs")

    @property
    def own_server(self) -> str:
        """The mirror of `-net-mirror`, which is the only place that such a run asks; "" for none."""
        return next(iter(self._mirrors("net")), "")

    @property
    def own_mirror(self) -> str:
        """The mirror that its command line names, which makes the settings of no account; "" for none."""
        return next(iter(self.own_folders), self.own_server)

    def _mirrors(self, kind: str) -> tuple[str, ...]:
        """The last place that an option of its command of `providers` names, which is the one that counts."""
        found = re.findall(rf" --?{kind}-mirror[= ]([^\s\"']+)", self.command)
        return tuple(found[-1:])

    @property
    def asked_platform(self) -> str:
        """The platform that its command of `providers` names, which need not be that of its machine; "" for several."""
        found = re.findall(r" --?platform[= ]([a-z0-9]{1,20}_[a-z0-9]{1,20})(?=\s|$)", self.command)
        return found[0] if len(found) == 1 else ""

    @property
    def method(self) -> MethodKind | None:
        """What its command line makes the only source of packages; None where the settings tell, or no line is known.

        Of the commands of `providers`, one without such an option asks registries alone, whatever the settings are.
        """
        if self.own_folders or self.own_server:
            return MethodKind.FILESYSTEM if self.own_folders else MethodKind.NETWORK
        return MethodKind.DIRECT if self.command.startswith("providers ") else None

    @property
    def search_folders(self) -> tuple[str, ...]:
        """The folders that the message, or the command line of the run, names as those that were searched."""
        return (*self.own_folders, *(one for one in self.places if one.startswith(("/", "~"))))

    @property
    def constraints(self) -> Constraints | None:
        """The constraints that it names, of all modules; None without any that can be read."""
        try:
            found = Constraints.parse(self.constraint)
        except ValueError:
            return None
        return found if found.terms else None

    @property
    def words(self) -> str:
        """The message in lower case."""
        return self.text.lower()

    @property
    def is_of_bad_signature(self) -> bool:
        """True if it is of a signature that is wrong, and not of one that was revoked or has expired."""
        return self.kind == "bad-signature" and "invalid signature" in self.words

    @property
    def is_of_unknown_issuer(self) -> bool:
        """True if it says that no listed key made the signature; OpenTofu may say so of one that has expired."""
        return self.kind == "unknown-issuer" or "unknown issuer" in self.words

    @property
    def is_of_plain_file(self) -> bool:
        """True if the request was for a package, SHA256SUMS or its signature, for which no token is sent."""
        return self.kind in {"download-failed", "sums-unavailable"} and not self.is_of_oci

    @property
    def is_of_version(self) -> bool:
        """True if what failed is the request for the place of a version's package, in a registry or a mirror."""
        is_installing = "while installing" in self.words and self.version != "" and not self.is_of_oci
        return is_installing and self.kind in {"registry-failed", "credentials-missing", "credentials-rejected"}

    @property
    def is_of_state(self) -> bool:
        """True if it says that the state requires the provider, which the configuration does not."""
        return self.kind in OF_LACKING and "state requires" in self.words

    @property
    def is_of_oci(self) -> bool:
        """True if it is of an OCI registry, or an OCI repository."""
        return "oci re" in self.words

    @property
    def is_of_local_file(self) -> bool:
        """True if it is of a package in a folder, which was not downloaded."""
        return _LOCAL_FILE.search(self.words) is not None

    @property
    def arrived(self) -> str:
        """The `zh` of the file that arrived in the run, as an error about a file names it; "" without one."""
        return next(filter(is_of_zip, self.hashes if self.kind == "archive-checksum" else ()), "")

    @property
    def places(self) -> list[str]:
        """What the message lists as the places that were searched."""
        return self.text.partition("search locations")[2].replace("│", " ").split()

    @property
    def has_no_source(self) -> bool:
        """True if it lists no place that was searched: of none in the settings the patterns match the provider."""
        is_of_settings = self.kind == "not-in-sources" and self.method is None
        return is_of_settings and not "".join(self.places).strip(".:")

    @property
    def searched_server(self) -> str:
        """The mirror on a server that its command names, or the first that it lists as searched; "" for none."""
        listed = (one for one in self.places if one.startswith(("https://", "http://", "oci")))
        return self.own_server or next(listed, "")

    @property
    def is_of_registry_alone(self) -> bool:
        """True if the registry is the only place in which the run searched, as it lists them."""
        return self.places[:2] == ["-", "registry"] and self.places.count("-") == 1


NO_MESSAGE = RecognisedError("", "")
"""What is in the place of an error where a root is examined without one."""


class LogFacts(Struct, frozen=True):
    """The facts that a log tells besides its errors; "" for unknown, as the tool of one with runs of both is.

    Attributes:
        commits: Those that the job checked out, the first few, each in hexadecimal digits, perhaps the first ones.
    """

    tool: str = ""
    tool_version: str = ""
    platform: str = ""
    root: str = ""
    commits: tuple[str, ...] = ()


class ReadLog(Struct, frozen=True):
    """A log that was read.

    Attributes:
        is_cut: True if it was longer than the bound, so that only its end was read.
        overcome: Errors that a later run in the log got past, as in a log with several attempts.
        is_relayed: True if another program printed an error, such as a CI system or that of a container.
        other: Of a log without a known error, the first that is of another kind, with its line; None for none.
    """

    errors: tuple[RecognisedError, ...]
    facts: LogFacts = LogFacts()
    is_cut: bool = False
    overcome: tuple[RecognisedError, ...] = ()
    is_relayed: bool = False
    other: tuple[int, str] | None = None
