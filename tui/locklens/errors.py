"""The errors that locklens raises for anything a user can cause.

LockLensError               str() is one sentence; .hint is the next step or ""
 +- ConfigurationError      path, line: what the user wrote (arguments, .tf, CLI configuration)
 |   +- StaleLockFileError  a file that was to be written changed on disk since it was read
 +- SourceError             source, address: a registry or mirror gave no usable answer
 |   +- NotFoundError       an affirmative no: another source may answer
 |   |   +- ProviderNotFoundError
 |   |   +- PlatformNotSupportedError
 |   +- UnavailableError    cannot say: never taken for absence
 |   |   +- OfflineError     nobody may be asked, and nothing is remembered
 |   +- UnauthorizedError   had_credentials
 +- PackageError            a provider's package cannot be hashed or unpacked
 +- TrustError              a release, or what is locked of it, is not what its publisher vouches for
 +- RepositoryError         git has no answer: unknown revision, a repository that is not read
 |   +- NoRepositoryError

RunCancelledError           the user stopped the run; nothing was written. No LockLensError, so that code which turns
                            errors into results does not report a stopped run as a failed provider
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Place = tuple[str, int | None]


class LockLensError(Exception):
    """Root of all errors that are shown to the user as one sentence.

    Attributes:
        hint: The next step for the user, or "".
        message: What went wrong, without the place.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def sentence(self) -> str:
        """What went wrong and the next step, for one line of a screen."""
        return f"{self}; {self.hint}" if self.hint else str(self)

    @property
    def place(self) -> Place | None:
        """The file, and the line from 1 or None; None where the error is about no file."""
        return None


class ConfigurationError(LockLensError):
    """What the user wrote cannot be used: an argument, a configuration file.

    Attributes:
        path: The file, "" where it is none; str() starts with `path:line: ` where both are known.
        line: From 1, or None.
    """

    def __init__(self, message: str, *, path: str = "", line: int | None = None, hint: str = "") -> None:
        place = f"{path}:{line}" if path and line is not None else path
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.message = message
        self.path = path
        self.line = line

    @property
    def place(self) -> Place | None:
        """The file and its line; None where the error is about no file."""
        return (self.path, self.line) if self.path else None


class StaleLockFileError(ConfigurationError):
    """A lock file, or another file that goes with it, is not the one any more that a change was planned for."""


class SourceError(LockLensError):
    """A registry, a mirror or whoever they point to gave no answer that can be used.

    Attributes:
        source: Whom we asked, as the user would name it: a host.
        address: The provider that was asked for, "" where the question was about none.
    """

    def __init__(self, message: str, *, source: str = "", address: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.source = source
        self.address = address


class NotFoundError(SourceError):
    """The source says no, and knows: another source may have what was asked for."""


class ProviderNotFoundError(NotFoundError):
    """The source has no provider of this address."""


class PlatformNotSupportedError(NotFoundError):
    """The source has no package of this version for this platform."""


class UnavailableError(SourceError):
    """The source cannot say: this is never taken for absence."""


class OfflineError(UnavailableError):
    """Nobody may be asked in this run, and nothing is remembered from an earlier one."""


class UnauthorizedError(SourceError):
    """The source answers only to those it knows.

    Attributes:
        had_credentials: Whether a token was sent, and refused.
    """

    def __init__(
        self, message: str, *, source: str = "", address: str = "", hint: str = "", had_credentials: bool = False
    ) -> None:
        super().__init__(message, source=source, address=address, hint=hint)
        self.had_credentials = had_credentials


class PackageError(LockLensError):
    """A provider's package cannot be hashed or unpacked: it is damaged, hostile, or beyond a bound."""


class TrustError(LockLensError):
    """A release, a package or what is locked of it is not what its publisher vouches for."""


class RepositoryError(LockLensError):
    """Git has no answer: there is no repository, no such revision, or it must not be read."""


class NoRepositoryError(RepositoryError):
    """The folder is in no git repository, or git is not installed: what needs neither may go on without."""


class RunCancelledError(Exception):
    """The user stopped the run; nothing was written."""
