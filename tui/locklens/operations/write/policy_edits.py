"""Plans edits of `locklens.toml` in the work tree: accepted findings, and pinned keys.

Like the rest of the policy they apply once the base has them; until then a review lists them as proposed.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path  # noqa: TC003  # a field of values
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, LockLensError
from locklens.machine import locklens_words, path_from_shell
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import Plan, PlannedFile, Scope
from locklens.operations.plan.builder import PlanBuilder, warn_of_staged
from locklens.operations.typed_names import named_among
from locklens.operations.write.apply import FileOperation, no_progress
from locklens.policy import POLICY_FILE, Acceptance, Pin, parse
from locklens.project.tree import FileSystem
from locklens.text import counted, listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.operations.write.seen_keys import SeenKeys
    from locklens.review.findings import Finding
    from locklens.review.model import Change, Review


class Decision(Struct, frozen=True):
    """Who decides, why, and until when.

    Attributes:
        reason: One printable line; may be empty for a pin.
        until: The last day on which an acceptance holds, or the day on which a pin is to be reviewed, if any.
        is_name_typed: True if `by` was typed, so that a command line has to name them too.
    """

    reason: str
    by: str
    on: date
    until: date | None = None
    is_name_typed: bool = False


class Accept(FileOperation, frozen=True):
    """Accepts findings, each about exactly one change; `top` has the policy.

    Attributes:
        by: The name that the command line has to give; "" for that of git.
        compared: The words that name the reviewed base and roots on the command line; () for HEAD and all roots.
        outdated: What the policy lacks of the base's, as `outdated_words` returns it.
    """

    top: Path
    acceptances: tuple[Acceptance, ...]
    by: str = ""
    compared: tuple[str, ...] = ()
    outdated: str = ""

    @property
    def title(self) -> str:
        """A short title."""
        rules = listing(list(dict.fromkeys(one.rule for one in self.acceptances)))
        return f"Accept {rules} of {listing(list(dict.fromkeys(one.provider for one in self.acceptances)))}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:  # noqa: ARG002
        """Plan the edit.

        Raises:
            ConfigurationError: The policy has a mistake.
        """
        from locklens.policy.editing import with_acceptances

        draft = _PolicyDraft(self.top)
        before = {one.key: one for one in parse(draft.data, POLICY_FILE).accept}
        draft.put_policy(with_acceptances(draft.data, self.acceptances))
        draft.warn_of_outdated(self.outdated)
        commands = []
        for one in self.acceptances:
            until = f" until {one.until}" if one.until is not None else ""
            what = f"accepted for {one.provider}{until}, change {one.change}: {one.reason}"
            draft.describe_policy(one.rule, what)
            if (earlier := before.get(one.key)) is not None:
                until = f", until {earlier.until}" if earlier.until is not None else ""
                decided = f"by {earlier.by} on {earlier.on}{until}; {earlier.reason}"
                draft.describe_policy(f"the acceptance of {one.rule} for {one.provider}", f"replaced: {decided}")
            words = [*_start_words(self.top), "accept", one.rule, one.provider, "--reason", one.reason]
            words += ["--until", str(one.until)] if one.until is not None else []
            commands.append(shell_words([*words, *_by_words(self.by), *self.compared]))
        return draft.plan(" && ".join(dict.fromkeys(commands)))


class TrustKeys(FileOperation, frozen=True):
    """Pins keys of a namespace; `top` has the policy.

    Attributes:
        seen: The keys that the pin may name.
        named: The fingerprints of those to pin; () for all that sign locked releases.
        compared: The words that name the reviewed base on the command line; () for HEAD.
        outdated: As of `Accept`.
    """

    top: Path
    seen: SeenKeys
    decision: Decision
    named: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    outdated: str = ""

    @property
    def title(self) -> str:
        """A short title."""
        return f"Pin {self.seen.covering.name} to {counted(len(self.named or self.seen.signing), 'key')}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:  # noqa: ARG002
        """Plan the edit.

        Raises:
            ConfigurationError: The policy has a mistake.
            LockLensError: A key cannot be pinned.
        """
        from locklens.policy.editing import with_pin

        draft, decided = _PolicyDraft(self.top), self.decision
        pin = replace(self.seen.covering, keys=self.seen.chosen(self.named), by=decided.by, on=decided.on)
        pin = replace(pin, why=decided.reason, review_by=decided.until)
        draft.put_policy(with_pin(draft.data, pin))
        draft.describe_policy(pin.name, f"pinned to {', '.join(pin.keys)}")
        for key in self.seen.keys:
            if key.fingerprint in pin.keys:
                line = ", ".join(filter(None, (f"{key.fingerprint}: {key.name}", key.signs, key.pinned)))
                draft.describe(line, dry_run=line)
        for warning in self.seen.warnings(pin.keys):
            draft.warn("", warning.words, file=POLICY_FILE, hint=warning.hint)
        draft.warn_of_outdated(self.outdated)
        before = next((one for one in parse(draft.data, POLICY_FILE).trust if one.scope == pin.scope), None)
        if before is not None:
            draft.describe_policy(f"the pin of {pin.name}", f"replaced: {_pin_in_words(before)}")
        words = [*_start_words(self.top), "keys", "trust", pin.name, *(f"--key={one}" for one in self.named)]
        words += ["--why", pin.why] if pin.why else []
        words += ["--review-by", str(pin.review_by)] if pin.review_by is not None else []
        words += _by_words(decided.by if decided.is_name_typed else "")
        return draft.plan(shell_words([*words, *(self.compared if set(self.named) - set(self.seen.signing) else ())]))


class DropPin(FileOperation, frozen=True):
    """Removes the pin of a namespace; `top` has the policy, and `name` is spelled as in it."""

    top: Path
    name: str

    @property
    def title(self) -> str:
        """A short title."""
        return f"Drop the pin of {self.name}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:  # noqa: ARG002
        """Plan the edit.

        Raises:
            ConfigurationError: The policy has a mistake, or no such pin.
        """
        from locklens.policy.editing import without_pin

        draft = _PolicyDraft(self.top)
        pins = parse(draft.data, POLICY_FILE).trust
        pin = next((one for one in pins if one.name == self.name), None)
        if pin is None:
            hint = f"pinned are {listing([one.name for one in pins])}" if pins else "it pins no key"
            raise ConfigurationError(f"no pin of {self.name!r}", path=POLICY_FILE, hint=hint)
        left = without_pin(draft.data, pin)
        draft.put_policy(left or None)
        draft.describe_policy(f"the pin of {self.name}", f"dropped: {_pin_in_words(pin)}")
        if not left:
            draft.describe_policy("the file", "removed, as nothing else was in it")
        warn_of_staged(draft, {POLICY_FILE: ()})
        return draft.plan(shell_words([*_start_words(self.top), "keys", "drop", self.name]))


def _pin_in_words(pin: Pin) -> str:
    """The keys of a pin, who decided it, until when, and why."""
    return "; ".join(filter(None, (", ".join(pin.keys), pin.decision, pin.why)))


def _start_words(top: Path) -> list[str]:
    """Return the first words of a command about the policy of a top: any folder of the repository will do."""
    return locklens_words(path_from_shell(Scope.at(top, (), RootSettings()).folder))


def _by_words(by: str) -> list[str]:
    return ["--by", by] if by else []


class _PolicyDraft(PlanBuilder):
    """The plan of an edit of the policy at a top."""

    def __init__(self, top: Path) -> None:
        super().__init__(top)
        self._old = FileSystem(top).read(POLICY_FILE)

    @property
    def data(self) -> bytes:
        """The policy on disk, b"" if there is none."""
        return self._old or b""

    def describe_policy(self, subject: str, done: str) -> None:
        """Add a line about the policy: what becomes of a subject."""
        self.describe(f"{POLICY_FILE}: {subject} is {done}", dry_run=f"{POLICY_FILE}: {subject} would be {done}")

    def put_policy(self, new: bytes | None) -> None:
        self.put(PlannedFile(POLICY_FILE, self._old, new))

    def warn_of_outdated(self, words: str) -> None:
        """Warn of what the policy lacks of the base's; "" for nothing."""
        if words:
            hint = "bring the branch up to date first: where this file replaces the base's, its rules are lost"
            self.warn("", words, file=POLICY_FILE, hint=hint)


def accept_findings(
    review: Review,
    top: Path,
    rule: str,
    addresses: Collection[ProviderAddress],
    *,
    decision: Decision,
    roots: Sequence[str] = (),
) -> Accept:
    """Return the operation that accepts a rule's findings about the changes of providers.

    Each change of one of `addresses` with such a finding is accepted; `top` is the folder of the policy, and `roots`,
    () for all, are those of the review, relative to it.

    Raises:
        LockLensError: There is no such finding about a change, or the decision lacks reason or name.
    """
    if not decision.reason.strip() or not decision.by.strip():
        raise ConfigurationError("an acceptance needs a reason, and the name of who accepts it")
    changes = [change for change in review.changes if change.address in addresses]
    found = {change.id: change for change in changes if any(one.rule == rule for one in change.findings)}
    if not found:
        raise _nothing_to_accept(rule, changes, review.own_findings)
    return Accept(
        top,
        tuple(
            Acceptance(rule, str(change.address), change.id, decision.reason, decision.by, decision.on, decision.until)
            for change in found.values()
        ),
        decision.by if decision.is_name_typed else "",
        (*base_words(review), *root_words(top, roots)),
        outdated_words(review),
    )


def root_words(top: Path, roots: Sequence[str]) -> tuple[str, ...]:
    """The words that name roots, given relative to a top, on the command line of `accept`; () for all."""
    return ("--", *Scope.at(top, roots, RootSettings()).roots) if roots else ()


def outdated_words(review: Review) -> str:
    """Return what the policy on disk lacks of the base's, which changed it since the branch began; "" for nothing."""
    if not review.policy_lacking:
        return ""
    return (
        f"lacks what {review.base.tip_name} changed in it since this branch began: {', '.join(review.policy_lacking)}"
    )


def base_words(review: Review, *, has_merge_base: bool = True) -> tuple[str, ...]:
    """The options that name the base of a review on the command line of `accept`; () for its default.

    `keys trust` has no option for the fork point: it compares with the branch itself.
    """
    base = review.base
    if base.kind != "git" or base.name == "HEAD":
        return ()
    return ("--base", base.tip_name, *(["--merge-base"] if base.fork_of and has_merge_base else []))


def named_providers(review: Review, text: str) -> frozenset[ProviderAddress]:
    """Return the changed providers that a typed name stands for: TYPE, NAMESPACE/TYPE or the full address.

    Raises:
        ConfigurationError: It is invalid, ambiguous, or none of them.
    """
    changed = [(root.tool, {change.address for change in root.changes}) for root in review.roots]
    if found := named_among(text, changed):
        return frozenset(found)
    names = listing(sorted({str(address) for _, addresses in changed for address in addresses}))
    hint = f"changed: {names}" if names else "nothing changed; --base REV compares with another revision"
    raise ConfigurationError(f"no change of {text!r}", hint=hint)


def _nothing_to_accept(rule: str, changes: Iterable[Change], own: Iterable[Finding]) -> LockLensError:
    rules = sorted({one.rule for change in changes for one in change.findings})
    if any(one.rule == rule for one in own):
        return LockLensError(f"{rule} is about no change of a provider, which alone can be accepted")
    hint = (
        f"found: {listing(rules)}"
        if rules
        else "it has no findings, or does not change; --base REV compares with another revision"
    )
    return LockLensError(f"no finding {rule} about a change of the provider", hint=hint)


def decision_of(folder: Path, reason: str, *, by: str = "", until: date | None = None) -> Decision:
    """Return the decision of the current user, by the name that git has for them in a folder unless another is given.

    Raises:
        ConfigurationError: The name is unknown, the reason is not a printable line, or `until` has passed.
    """
    today = datetime.now(UTC).date()
    if not reason.isprintable():
        raise ConfigurationError("the reason must be one line of printable characters")
    if until is not None and until < today:
        raise ConfigurationError(f"{until} has passed")
    name = by or name_in_git(folder)
    if not name or not name.isprintable():
        words = "git does not know your name: set it with `git config user.name NAME`"
        raise ConfigurationError(words, hint="or name it with --by NAME")
    return Decision(reason, name, today, until, is_name_typed=bool(by))


def name_in_git(folder: Path) -> str:
    """Return the name of the current user, as git would write it as a commit's author; "" where it has none."""
    from locklens.project.git import Repository

    with Repository.discover(folder) as repository:
        return repository.author


def pins_at(top: Path) -> tuple[Pin, ...]:
    """Return the pins of the policy at a top, as it is on disk.

    Raises:
        ConfigurationError: It has a mistake, or cannot be read.
    """
    data = FileSystem(top).read(POLICY_FILE)
    return parse(data, POLICY_FILE).trust if data is not None else ()
