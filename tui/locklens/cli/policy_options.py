"""The options of `policy`, `accept`, `keys trust` and `keys drop`."""

from __future__ import annotations

from datetime import date

from locklens.cli.arguments import UsageError
from locklens.cli.common_options import add_event_options, add_offline_options, refuse_operands
from locklens.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_ABOUT = {
    "policy": "check reads a policy and reports the first mistake; show prints the rules in force, and where each "
    "comes from; schema prints the JSON Schema of locklens.toml.",
    "accept": "Accept a rule's finding about exactly one change, in locklens.toml of the work tree. It counts once the "
    'base has it, or at once where the base has accept_from = "head".',
    "keys trust": "Pin the keys that sign the locked releases of a namespace now, in locklens.toml of the work tree.",
    "keys drop": "Remove the pin of a namespace from locklens.toml of the work tree.",
}


def read_policy_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of a command.

    Raises:
        UsageError: They are invalid.
    """
    parser = Parser(command, _ABOUT[command])
    refuse_operands(command, operands)
    if command == "policy":
        return _policy(parser, arguments)
    if command == "accept":
        parser.usage = "locklens accept [OPTION...] RULE PROVIDER"
        parser.add_argument("rule", metavar="RULE", help="rule of the finding, such as LK001")
        parser.add_argument("provider", metavar="PROVIDER", help="provider of the change")
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why it is accepted; one line (no default)")
        parser.add_argument("--until", metavar="DATE", help="last day on which it holds (default: no end)")
    else:
        parser.usage = f"locklens {command} [OPTION...] NAMESPACE"
        parser.add_argument("namespace", metavar="NAMESPACE", help="such as acme, or registry.example.com/acme")
    if command == "keys trust":
        parser.add_argument(
            "--why", default="", metavar="TEXT", help="how the keys were checked; one line (default: none)"
        )
        parser.add_argument("--review-by", metavar="DATE", help="date to look at the pin again (default: none)")
    if command != "keys drop":
        _add_reviewing(parser, command)
    add = parser.add_argument_group("output").add_argument
    add_event_options(add)
    options = parser.parse_args(arguments)
    for name in ("until", "review_by"):
        if getattr(options, name, None) is not None:
            setattr(options, name, _date(getattr(options, name), name))
    return options


def _policy(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace:
    parser.usage = "locklens policy check [FILE] | show [BASE] | schema"
    parser.add_argument("action", choices=["check", "show", "schema"], metavar="check|show|schema", help="what to do")
    words = "check: the file (default: locklens.toml of the repository); show: the base (default: HEAD)"
    parser.add_argument("subject", nargs="?", metavar="FILE|BASE", help=words)
    parser.add_argument("--merge-base", action="store_true", help="show: as for a pull request to BASE")
    parser.add_argument("--policy", metavar="FILE", help="show: the policy that is given (default: the base's)")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="format of show (default: text)")
    options = parser.parse_args(arguments)
    if options.action == "schema" and options.subject is not None:
        raise UsageError("schema takes no argument", hint="see locklens policy --help")
    return options


def _add_reviewing(parser: Parser, command: str) -> None:
    add = parser.add_argument_group("review").add_argument
    add("--by", default="", metavar="NAME", help="who decides (default: user.name of git)")
    add("--base", metavar="REV", help="revision to compare with (default: HEAD)")
    if command == "accept":
        add("--merge-base", action="store_true", help="compare with the common ancestor, as a pull request does")
    add_offline_options(add, "those of the base and of the settings")


def _date(text: str, name: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        option = name.replace("_", "-")
        raise UsageError(f"argument --{option}: invalid date {text!r}", hint="write it as 2027-01-31") from error
