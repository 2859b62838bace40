"""gpg on this machine: where it is, and whether it can check signatures at all."""

from __future__ import annotations

from locklens.errors import ConfigurationError
from locklens.programs import find_program, safe_environment
from locklens.trust.model import VerificationProblem

LEAST_GPG = (2, 2)
"""The first gpg that reads the keys of today's publishers as both tools do."""

_SECONDS = 20.0
"""That gpg may take to print its version."""


class GpgUnavailableError(Exception):
    """No signature can be verified; `problem` says why."""

    def __init__(self, problem: VerificationProblem) -> None:
        super().__init__(problem.value)
        self.problem = problem


def find_gpg() -> str:
    """Return the path of gpg.

    Raises:
        GpgUnavailableError: There is none.
    """
    found = find_program("gpg", "gpg2")
    if found is None:
        raise GpgUnavailableError(VerificationProblem.NO_GPG)
    return found


def require_gpg() -> None:
    """Refuse a machine on which no signature can be checked, whatever a registry answers.

    That is no outage, which passes: without this, every pull request would be judged without signatures.

    Raises:
        ConfigurationError: There is no gpg, it does not run, or it is older than LEAST_GPG.
    """
    import re
    import subprocess

    try:
        words = [find_gpg(), "--no-options", "--version"]
        environment = safe_environment() | {"LC_ALL": "C"}
        done = subprocess.run(words, env=environment, capture_output=True, check=False, timeout=_SECONDS)
        found = re.match(rb"gpg \([^)]*\) (\d+)\.(\d+)", done.stdout)
    except GpgUnavailableError as error:
        raise _unusable(error.problem) from None
    except (OSError, subprocess.TimeoutExpired):
        found = None
    if found is None:
        raise _unusable(VerificationProblem.NOT_RUNNING)
    if (int(found[1]), int(found[2])) < LEAST_GPG:
        raise _unusable(VerificationProblem.OLD_GPG)


def _unusable(problem: VerificationProblem) -> ConfigurationError:
    return ConfigurationError(f"no signature can be checked: {problem}", hint=problem.hint)
