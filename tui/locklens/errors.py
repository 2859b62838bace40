"""The errors that locklens raises for anything a user can cause.

LockLensError               str() is one sentence; .hint is the next step or ""
 +- ConfigurationError      path, line: what the user wrote (arguments, .tf, CLI configuration)
 +- RepositoryError         git has no answer: no repository, unknown revision, no git at all
 +- RunCancelledError       the user stopped the run; nothing was written
"""

from __future__ import annotations


class LockLensError(Exception):
    """Root of all errors that are shown to the user as one sentence.

    Attributes:
        hint: The next step for the user, or "".
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigurationError(LockLensError):
    """What the user wrote cannot be used: an argument, a configuration file.

    Attributes:
        path: The file, "" where it is none; str() starts with `path:line: ` where both are known.
        line: From 1, or None.
    """

    def __init__(self, message: str, *, path: str = "", line: int | None = None, hint: str = "") -> None:
        place = f"{path}:{line}" if path and line is not None else path
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.path = path
        self.line = line


class RepositoryError(LockLensError):
    """Git has no answer: there is no repository, no such revision, or no git."""


class RunCancelledError(LockLensError):
    """The user stopped the run; nothing was written."""
