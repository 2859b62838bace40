"""The errors that locklens raises for anything a user can cause.

LockLensError               str() is one sentence; .hint is the next step or ""
 +- ExhaustedError          the input takes more memory or nesting than this process can handle
 +- ConfigurationError      path, line: user input (arguments, .tf, CLI configuration)
 |   +- UsageError          an invalid command line
 |   +- StaleLockFileError  a file of a plan changed on disk since it was read
 |   +- UnmergedFileError   ours, theirs: a file that is not merged in the index
 |   +- MissingModulesError modules cannot be read; there is an option to continue without them
 +- SourceError             source, address: no usable answer of a registry or mirror
 |   +- NotFoundError       an affirmative no: another source may answer
 |   |   +- ProviderNotFoundError
 |   |   +- PlatformNotSupportedError
 |   +- UnavailableError    no answer: never taken for absence
 |   |   +- OfflineError     offline, without a cached answer
 |   +- UnauthorizedError   had_credentials
 +- PackageError            a provider's package cannot be hashed or unpacked
 +- TrustError              a release or its locked hashes are not what the publisher signed
 +- RepositoryError         git has no answer: unknown revision, unreadable repository
 |   +- NoRepositoryError
 |   +- UnreadableObjectError  git has a name for it, and cannot read what it stands for: never taken for absence

RunCancelledError           the user stopped the run; nothing was written. No LockLensError, so that code which turns
                            errors into results does not report a stopped run as a failed provider
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    Place = tuple[str, int | None]


class LockLensError(Exception):
    """Root of all errors that are shown to the user as one sentence.

    Attributes:
        hint: The next step for the user, or "".
        message: The error without its place.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def sentence(self) -> str:
        """The error and its hint, for one line of a screen."""
        return f"{self}; {self.hint}" if self.hint else str(self)

    def name_place(self, where: str, hint: str) -> None:
        """Add the file or URL to the message unless it is there, and the hint unless there is one."""
        if where not in self.message:
            self.message = f"{self.message} ({where})"
            self.args = (self.message,)
        self.hint = self.hint or hint

    def twin(self) -> Self:
        """Return an equal error with attributes of its own, for another thread to raise.

        `copy.copy` uses the reducer that is registered for exceptions; that of tblib, which Dask loads, makes copies
        that share their attributes.
        """
        made = type(self)(*self.args)
        made.__dict__.update(self.__dict__)
        return made

    @property
    def place(self) -> Place | None:
        """The file, and the line from 1 or None; None for an error without a file."""
        return None


class ExhaustedError(LockLensError):
    """The input takes more memory, or is nested deeper, than this process can handle."""

    def __init__(self, error: MemoryError | RecursionError) -> None:
        what = "memory than there is" if isinstance(error, MemoryError) else "levels of nesting than can be followed"
        hint = "look for unusually large or deeply nested files and links in what is read"
        super().__init__(f"ended early: the input takes more {what}", hint=hint)


class ConfigurationError(LockLensError):
    """Invalid user input: an argument, a configuration file.

    Attributes:
        path: The file, or ""; str() starts with `path:line: ` if both are known.
        line: The line from 1, if known.
    """

    def __init__(self, message: str, *, path: str = "", line: int | None = None, hint: str = "") -> None:
        place = f"{path}:{line}" if path and line is not None else path
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.message = message
        self.path = path
        self.line = line

    @property
    def place(self) -> Place | None:
        """The file and its line; None for an error without a file."""
        return (self.path, self.line) if self.path else None


class MissingModulesError(ConfigurationError):
    """Modules of a root cannot be read; `--allow-missing-modules` continues without what they require."""


class UsageError(ConfigurationError):
    """Invalid command line."""


class StaleLockFileError(ConfigurationError):
    """A file that a plan writes, or was made from, changed since the plan was made."""


class SourceError(LockLensError):
    """A registry, a mirror or a server that they refer to gave no usable answer.

    Attributes:
        source: The host, as the user would name it.
        address: The provider of the request, or "".
    """

    def __init__(self, message: str, *, source: str = "", address: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.source = source
        self.address = address


class NotFoundError(SourceError):
    """An affirmative no of the source: another source may answer."""


class ProviderNotFoundError(NotFoundError):
    """The source has no provider of this address."""


class PlatformNotSupportedError(NotFoundError):
    """The source has no package of this version for this platform."""


class UnavailableError(SourceError):
    """No answer of the source: never taken for absence."""


class OfflineError(UnavailableError):
    """The run is offline, and the answer is not cached."""


class UnauthorizedError(SourceError):
    """The source requires credentials.

    Attributes:
        had_credentials: True if a token was sent, and refused.
    """

    def __init__(
        self, message: str, *, source: str = "", address: str = "", hint: str = "", had_credentials: bool = False
    ) -> None:
        super().__init__(message, source=source, address=address, hint=hint)
        self.had_credentials = had_credentials


class PackageError(LockLensError):
    """A provider's package cannot be hashed or unpacked: damaged, hostile, or beyond a bound."""


class TrustError(LockLensError):
    """A release, a package or its locked hashes are not what the publisher signed."""


class RepositoryError(LockLensError):
    """Git has no answer: no repository, no such revision, or a repository that must not be read."""


class NoRepositoryError(RepositoryError):
    """The folder is in no git repository, or git is not installed: operations that need neither may continue."""


class UnreadableObjectError(RepositoryError):
    """An object that a revision or the index names cannot be read: never taken for absence, nor for a bad file.

    A partial clone lacks it, or it is lost or damaged. What it says is unknown, so that there is nothing to judge.
    """

    def __init__(self, message: str) -> None:
        hint = '"git fsck" shows what is damaged; "git fetch --refetch --no-filter" completes a partial clone'
        super().__init__(message, hint=hint)


class UnmergedFileError(ConfigurationError):
    """A file has merge conflicts in the index.

    Attributes:
        ours: Its contents on our side, None where it is deleted there.
        theirs: The same of the other side.
        base: The same of the common ancestor, None where it has no such file.
    """

    def __init__(self, path: str, ours: bytes | None, theirs: bytes | None, base: bytes | None = None) -> None:
        super().__init__(f"{path} has merge conflicts in the index", hint='resolve them and run "git add"')
        self.ours = ours
        self.theirs = theirs
        self.base = base

    @property
    def removal(self) -> str:
        """What became of the file as a whole, where one side removed it and the other changed it; else ""."""
        if self.base is None or (self.ours is None) is (self.theirs is None):
            return ""
        return removal_words(is_ours=self.ours is None)


def removal_words(*, is_ours: bool) -> str:
    """Say that our side of a merge, or the other one, removed a file that the other side changed."""
    removing, changing = ("our side", "the other side") if is_ours else ("the other side", "our side")
    return f"{removing} of the merge removed this file, and {changing} changed it"


class RunCancelledError(Exception):
    """The user stopped the run; nothing was written."""
