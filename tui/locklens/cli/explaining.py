"""Output of `locklens explain`."""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.cli.output import put
from locklens.text import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence


def run_explain(options: Namespace) -> int:
    """Print the explanation of a rule or of a cause, or the list of all rules.

    Raises:
        UsageError: There is no such rule and no such cause.
    """
    from locklens.review.rules.catalogue import RULES, explain_rule

    if options.rule is None:
        return put(page(f"{rule.id}  {rule.severity:5}  {rule.title}" for rule in RULES.values()))
    rule = RULES.get(options.rule.upper())
    if rule is None:
        from locklens.doctor.explaining import explain_cause
        from locklens.doctor.model import CauseId

        if options.rule.lower() in {cause.value for cause in CauseId}:
            return put(page(explain_cause(CauseId(options.rule.lower()))))
        hint = "locklens explain lists all rules; causes are named as locklens doctor names them"
        near = _nearest(options.rule, [*RULES, *(cause.value for cause in CauseId)])
        raise UsageError(f"unknown rule {options.rule!r}{f'; did you mean {near!r}?' if near else ''}", hint=hint)
    return put(page(explain_rule(rule).splitlines()))


def _nearest(word: str, names: Sequence[str]) -> str:
    """Return the name that a word stands for most likely, "" for none: LK001 for "lk1"."""
    import difflib
    import re

    if number := re.fullmatch(r"(?:lk)?0*([1-9][0-9]{0,2})", word, re.IGNORECASE):
        return next((name for name in names if name == f"LK{number[1]:0>3}"), "")
    return next(iter(difflib.get_close_matches(word.lower(), [name for name in names if name.islower()], 1)), "")
