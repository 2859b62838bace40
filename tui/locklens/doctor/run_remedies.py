"""The step after a fix: the run, or the command that failed, again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.fixed import obstacle_words
from locklens.doctor.messages import LOCKLENS
from locklens.doctor.model import TrustCost
from locklens.doctor.version_remedies import NEW_DECISION

if TYPE_CHECKING:
    from locklens.doctor.affected import Affected
    from locklens.doctor.model import Remedy

_NONE, _LOW = TrustCost.NONE, TrustCost.LOW


def run_again(one: Affected) -> Remedy:
    """Return the step after a fix."""
    if one.examined.message.command != "init":
        return run_command_again(one)
    left, note = obstacle_words(one.examined), "if it fails again, diagnose its new log"
    if not one.examined.fitting:
        note = f"{note}; if the log was of another root, name that with -- ROOT"
    return one.alone.remedy(
        "run-again", "Run init again", _NONE, None, one.next_step, left, note, is_partial=bool(left)
    )


def run_command_again(one: Affected) -> Remedy:
    """Return the step after a fix that left init nothing to do."""
    note = "if it fails again, diagnose its new log"
    if one.examined.message.command == "init":
        return one.alone.remedy("run-again", FAILED_AGAIN, _NONE, 0, "", note)
    return failed_again(one, "run-again", FAILED_AGAIN, note)


FAILED_AGAIN = "Run the command that failed again"


def failed_again(one: Affected, remedy: str, title: str, note: str) -> Remedy:
    """Return the remedy that runs what failed again, as far as that is known; an upgrade locks new hashes."""
    x, alone = one.examined, one.alone
    if x.message.command == LOCKLENS and not x.is_of_upgrade:
        words = "the log does not have its command line; what it locks, if anything, is to be reviewed"
        return alone.remedy(remedy, title, _LOW, None, "", words, note)
    if not x.is_of_upgrade:
        return alone.remedy(remedy, title, _NONE, None if one.failed_line else 0, one.failed_line, note)
    if x.message.command != LOCKLENS:
        return alone.remedy(remedy, title, _LOW, None, one.failed_line, note, NEW_DECISION)
    write = alone.write("upgrade", providers=(f"{x.name}={x.message.version}",))
    return alone.written(remedy, title, _LOW, one.size_of(x.platform), write, note, NEW_DECISION)
