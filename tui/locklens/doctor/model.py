"""A diagnosis as frozen values. Their names and ids are those of the JSON document."""

from __future__ import annotations

from enum import Flag, StrEnum, auto
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.policy import Policy
from locklens.project.installation import MethodKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Self

    from locklens.doctor.messages import RecognisedError
    from locklens.review.model import HostState


class CauseId(StrEnum):
    """A cause; the ids are a contract."""

    LOCK_SYNTAX = "lock-syntax"
    BAD_MERGE = "bad-merge"
    NOT_LOCKED = "not-locked"
    NOT_REQUIRED = "not-required"
    CONSTRAINT_CONFLICT = "constraint-conflict"
    WRONG_SOURCE = "wrong-source"
    HAND_EDIT = "hand-edit"
    OTHER_TOOL = "other-tool"
    REPUBLISHED = "republished"
    YANKED = "yanked"
    H1_MISSING = "h1-missing"
    PLATFORM_MISSING = "platform-missing"
    MIRROR_DIFFERS = "mirror-differs"
    MIRROR_LACKS = "mirror-lacks"
    CACHE_DIFFERS = "cache-differs"
    PLUGIN_CORRUPTED = "plugin-corrupted"
    PLUGIN_MISSING = "plugin-missing"
    MODULE_MISSING = "module-missing"
    DOWNLOAD_DAMAGED = "download-damaged"
    PACKAGE_ALTERED = "package-altered"
    KEY_REVOKED = "key-revoked"
    KEY_EXPIRED = "key-expired"
    KEY_CHANGED = "key-changed"
    CREDENTIALS = "credentials"
    PROXY_OR_CA = "proxy-or-ca"
    REGISTRY_DOWN = "registry-down"


class Trait(Flag):
    """What is true of a cause, whatever its verdict."""

    NONE = 0
    STOPS_INIT = auto()
    """A root is examined for it without a log: init, or one that may not write the lock file, fails for it."""
    OF_SIGNATURE = auto()
    """A root is examined for it without a log where the tool refuses the release that its registry has now. It is
    certain only where init would ask who signed the release."""
    OF_HASHES = auto()
    """Copies of the locked package would help, and popular fixes that accept any bytes would hide it."""
    OF_PLATFORM = auto()
    """Its verdict depends on the platform of the failing run."""
    OF_WRONG_ENTRY = auto()
    """The entry has hashes of something else, so that init refuses the locked package."""
    OF_HOST = auto()
    """It is between the machine and a host: one such fact holds for each provider that the host was asked for."""
    ENDED_BY_INIT = auto()
    """The next init mends what is wrong by itself, where it may write."""


class CauseVerdict(StrEnum):
    """The verdict on a cause, the most certain first. NO needs evidence; UNKNOWN names the missing fact."""

    YES = "yes"
    LIKELY = "likely"
    UNKNOWN = "unknown"
    NO = "no"


class Basis(StrEnum):
    """What a verdict rests on, the strongest first. Of the failing run itself, only the first three tell."""

    HASHES = "hashes"
    """Hashes side by side: the locked ones, and those of a package or of a release."""
    RUN = "run"
    """The failing run's own words."""
    FILES = "files"
    """The lock file and the configuration."""
    HERE = "here"
    """This machine finds it now."""
    GUESS = "guess"
    """The kind of the error alone."""


class Certainty(StrEnum):
    """The certainty of the whole diagnosis."""

    FIXED = "FIXED"
    CONFIRMED = "CONFIRMED"
    LIKELY = "LIKELY"
    CANNOT_SAY = "CANNOT SAY"


class PackagePath(StrEnum):
    """The place that the failing package came from.

    Attributes:
        method: The installation method that names it; None for folders that the tools fill by themselves.
        only: The scheme of hashes that alone counts there; "" where each does.
    """

    method: MethodKind | None
    only: str

    def __new__(cls, name: str, method: MethodKind | None = None, only: str = "") -> Self:
        """Return the member that is its name as text."""
        path = str.__new__(cls, name)
        path._value_ = name
        path.method, path.only = method, only
        return path

    DIRECT = "direct", MethodKind.DIRECT
    PLUGIN_CACHE = "plugin-cache", None, "h1"
    PACKED_MIRROR = "packed-mirror", MethodKind.FILESYSTEM
    UNPACKED_MIRROR = "unpacked-mirror", MethodKind.FILESYSTEM, "h1"
    FILESYSTEM_MIRROR = "filesystem-mirror", MethodKind.FILESYSTEM  # packed or unpacked: not known
    NETWORK_MIRROR = "network-mirror", MethodKind.NETWORK
    OCI_MIRROR = "oci-mirror", MethodKind.OCI, "zh"
    INSTALLED = "installed", None, "h1"

    @property
    def is_unpacked(self) -> bool:
        """True for folders of unpacked packages, which have no zip file to hash."""
        return self.only == "h1"

    @property
    def is_mirror(self) -> bool:
        """True for mirrors of any kind."""
        return self.method is not None and self.method.is_mirror

    @property
    def is_on_server(self) -> bool:
        """True for mirrors that are not folders."""
        return self.method is not None and self.method.served != ""


class StartingPoint(Struct, frozen=True):
    """What led to a diagnosis without a log: a finding, or a plan that failed.

    Attributes:
        words: It, in a sentence.
        rules: Ids of the findings' rules; their causes are tested, and named first among equally certain ones.
        message: The error of a failed plan, which is read as a log; "" for none.
    """

    words: str
    rules: tuple[str, ...] = ()
    message: str = ""


class Incident(Struct, frozen=True):
    """The circumstances of the error, each None if unknown.

    Attributes:
        tool: "terraform" or "opentofu"; in a diagnosis None, too, where its roots have both, as its source says.
        tool_version: Such as 1.11.4.
        platform: OS_ARCH of the machine with the error.
        path: The origin of the package.
        root: Folder of the root module, relative to the current folder; in a diagnosis to the top, as its other paths.
        sources: The origin of each fact in words, by its name.
    """

    tool: str | None = None
    tool_version: str | None = None
    platform: str | None = None
    path: PackagePath | None = None
    root: str | None = None
    sources: tuple[tuple[str, str], ...] = ()

    @property
    def tool_words(self) -> str:
        """The tool with its version, or those of the roots; "" for unknown."""
        known = " ".join(filter(None, (self.tool, self.tool_version)))
        return known if self.tool else dict(self.sources).get("tool", known)


class Judgement(Struct, frozen=True):
    """The result of the test of a cause.

    Attributes:
        evidence: One sentence or several, without the last full stop.
        missing: The fact that would tell, and the way to it; "" for none.
        as_of: Time of the oldest answer of a registry that was used, ISO 8601 in UTC; None without any.
        command: A command line that prints the missing fact, and changes nothing; "" for none.
        basis: The evidence for the verdict.
        title: The cause in words, where its own title is too general; "" for that.
        is_by_download: True if a download of the release's packages here may tell the missing fact.
    """

    verdict: CauseVerdict
    evidence: str
    missing: str = ""
    as_of: str | None = None
    command: str = ""
    basis: Basis = Basis.FILES
    title: str = ""
    is_by_download: bool = False

    @property
    def is_probable(self) -> bool:
        """True if it is certain or likely."""
        return self.verdict in {CauseVerdict.YES, CauseVerdict.LIKELY}

    @property
    def rank(self) -> tuple[int, int]:
        """The place of the verdict, then of what it rests on: the most certain first."""
        return list(CauseVerdict).index(self.verdict), list(Basis).index(self.basis)


class Cause(Judgement, frozen=True, kw_only=True):
    """A tested cause; its traits and its place are those of its id.

    Attributes:
        place: The kind of place whose folder it is; "" for none.
        provider: The provider that it is about; "" for the lock file as a whole, or for several.
        roots: The roots that it was tested in, as reports show them; () for several providers.
        subject: The provider and roots in words, where a diagnosis is about several; "" where it is not.
    """

    id: CauseId
    traits: Trait
    place: str = ""
    provider: str = ""
    roots: tuple[str, ...] = ()
    subject: str = ""


class TrustCost(StrEnum):
    """The cost of a remedy in trust: bytes that nothing signed or reviewed vouches for."""

    NONE = "none"
    LOW = "low"
    HIGH = "high"


class RemedyWrite(Struct, frozen=True):
    """The operation of a remedy that changes lock files, as its command line has it; "" stands for no such word.

    Attributes:
        command: "lock", "merge", "prune", "restore", "upgrade" or "replace": of a folder.
        providers: The providers as the command names them.
        roots: Relative to the current folder.
        tool: The tool of the roots; "" for the one that is detected in each.
        side: The side of a merge whose entries stand; "" where the merge needs none.
        platforms: Each OS_ARCH.
        revision: Of git.
        path: The path of the lock file in that revision, where the root has been moved since.
        accepts_republished: True to pass the option of that name.
        edits_constraints: The same of --edit-constraints.
        place: The folder to replace, absolute.
        base: The folder that it must not lead out of.
        source: The copy that takes its place.
        locked: The hashes that the copy may have.
        next_step: The command that fetches the package again without a copy.
    """

    command: str
    providers: tuple[str, ...]
    roots: tuple[str, ...]
    tool: str = ""
    side: str = ""
    platforms: tuple[str, ...] = ()
    revision: str = ""
    path: str = ""
    accepts_republished: bool = False
    edits_constraints: bool = False
    place: str = ""
    base: str = ""
    source: str = ""
    locked: tuple[str, ...] = ()
    next_step: str = ""

    @property
    def source_revision(self) -> str:
        """What `--from` names: the revision, or the lock file in it."""
        return f"{self.revision[:12]}:{self.path}" if self.path else self.revision[:12]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its command line, besides the roots and the tool; a merge is of all providers."""
        accepts = ("--accept-republished",) if self.accepts_republished else ()
        platforms = (word for one in self.platforms for word in ("--platform", one))
        revision = ("--from", self.source_revision) if self.revision else ()
        edits = ("--edit-constraints",) if self.edits_constraints else ()
        side = ("--prefer", self.side) if self.side else ()
        providers = self.providers if self.command != "merge" else ()
        return (self.command, *accepts, *platforms, *providers, *revision, *edits, *side)


class Remedy(Struct, frozen=True):
    """A way out.

    Attributes:
        id: Such as `lock-platform`.
        title: An imperative.
        roots: The number of roots that it unblocks.
        size: Bytes to download; None if unknown.
        command: The command line; "" for an edit by hand, or where it is left out.
        note: A warning to read first; "" without one.
        write: The operation that the command is; None where it changes no lock file.
        subject: The provider and roots in words, where a diagnosis is about several; "" where it is not.
        hint: The command line that shows what to edit by hand, and fixes nothing itself; "" without one.
        is_left_out: True if the command line cannot be shared, as it has a secret.
        host: The host that it is about, whatever the provider; "" for none.
        is_of_all: True if its command is of all providers of its roots, whatever the cause is of.
        is_partial: True if init fails after it all the same, or reads other files, as its note says.
        is_doubtful: True if the repository speaks for another way, as its note says.
        more: The number of packages in signed lists that its command locks beside those of the platform.
        is_warned: True if its Preview warns of these.
    """

    id: str
    title: str
    roots: int
    trust: TrustCost
    size: int | None
    command: str
    note: str = ""
    write: RemedyWrite | None = None
    subject: str = ""
    hint: str = ""
    is_left_out: bool = False
    host: str = ""
    is_of_all: bool = False
    is_partial: bool = False
    is_doubtful: bool = False
    more: int = 0
    is_warned: bool = False


class NotOffered(Struct, frozen=True):
    """A popular fix that is not offered, and the reason."""

    what: str
    why: str


class Onset(Struct, frozen=True):
    """The first commit in which the lock file has the entry's hashes.

    Attributes:
        commit: Its full id; "" where the entry, or the line that is wrong, is not committed yet.
        date: ISO 8601 in UTC.
        by: Its author in words, and its committer where that is another one: names only, so that reports can be pasted.
        subject: The first line of its message.
        change: The change of the entry, in words.
        is_oldest: True if the history that was read begins there, so that it may be older; the persons are not named.
        entry: The entry in words, or the lock file with the wrong line, where a diagnosis is about several; "" where it
            is not. Of a requirement, its file and line.
        is_required: True if it is the commit that git blames for the line of a requirement, not of an entry.
    """

    commit: str
    date: str = ""
    by: str = ""
    subject: str = ""
    change: str = ""
    is_oldest: bool = False
    entry: str = ""
    is_required: bool = False


class ErrorPlace(Struct, frozen=True):
    """The place of an error: its provider and roots as reports show them, `is_known` if the log or the user tells.

    Attributes:
        has_cause: True if a cause of it is certain or probable.
        is_fixed: True if it is one of the past.
    """

    error: RecognisedError
    examined: str
    roots: tuple[str, ...]
    is_known: bool
    has_cause: bool
    is_fixed: bool = False


class Diagnosis(Struct, frozen=True):
    """The result.

    Attributes:
        at: ISO 8601 in UTC.
        offline: True if no registry was asked.
        causes: The most likely first.
        onsets: The first commit in which an entry has its hashes, for each with a cause; without any, for those of the
            log, else for the first one. Then the commit of each requirement that a cause rests on.
        is_locked: Whether the examined root locks the provider; None where the diagnosis is about the whole file.
        same_entry: Other roots with the version and hashes of the examined ones, relative to the top, as all roots are.
        locking: Other roots that lock the provider, in any version.
        roots: Number of lock files in the repository.
        unread: Number of those that cannot be read.
        left: Number of providers in roots that were not examined, since there are more than are in one run.
        notes: Limits, each a sentence.
        is_cut: True if the log is longer than what is read, so that its beginning was left out.
        has_other_error: True if no error in the log is known, and there is one, which a note names.
        examined: The provider, or what was examined of several, in words, for the headline.
        advice: The catalogue's words about the first error.
        hosts: The contact with each registry.
        started_from: The finding or the failed plan that led here, in a sentence; "" for none.
        fixed: Why the error of the log is not to be expected any more, in a clause; "" where it still is.
        obstacle: What is left to mend by hand where the error of the log is over and init fails all the same, in a
            sentence; "" where a cause is left, or nothing.
        next_step: The command line to run next where it is fixed; "" for none.
        places: In the order of the errors.
        policy: What the fixes that upgrade heed, as their commands do.
    """

    at: str
    offline: bool
    errors: tuple[RecognisedError, ...]
    facts: Incident
    causes: tuple[Cause, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    not_offered: tuple[NotOffered, ...] = ()
    onsets: tuple[Onset, ...] = ()
    is_locked: bool | None = None
    same_entry: tuple[str, ...] = ()
    locking: tuple[str, ...] = ()
    roots: int = 0
    unread: int = 0
    left: int = 0
    notes: tuple[str, ...] = ()
    examined: str = ""
    is_of_log: bool = True
    advice: str = ""
    hosts: tuple[HostState, ...] = ()
    started_from: str = ""
    fixed: str = ""
    obstacle: str = ""
    next_step: str = ""
    places: tuple[ErrorPlace, ...] = ()
    is_cut: bool = False
    has_other_error: bool = False
    policy: Policy = Policy()

    def with_verdict(self, *verdicts: CauseVerdict) -> tuple[Cause, ...]:
        """Return the causes with one of some verdicts."""
        return tuple(cause for cause in self.causes if cause.verdict in verdicts)

    @property
    def certainty(self) -> Certainty:
        """FIXED where the error is of the past, CONFIRMED where what is left is certain, LIKELY if probable."""
        if self.fixed:
            return Certainty.FIXED
        if self.obstacle or self.with_verdict(CauseVerdict.YES):
            return Certainty.CONFIRMED
        return Certainty.LIKELY if self.with_verdict(CauseVerdict.LIKELY) else Certainty.CANNOT_SAY

    @property
    def has_cause(self) -> bool:
        """True if a cause is certain or probable."""
        return bool(self.with_verdict(CauseVerdict.YES, CauseVerdict.LIKELY))

    @property
    def is_recognised(self) -> bool:
        """True if the log has a known error, or the root was examined without a log."""
        return bool(self.errors) or not self.is_of_log


def most_likely_first(causes: Iterable[Cause], expected: Collection[CauseId] = ()) -> tuple[Cause, ...]:
    """Return causes by verdict, then by what it rests on, then expected ones first; equal ones keep their order."""
    return tuple(sorted(causes, key=lambda cause: (*cause.rank, cause.id not in expected)))
