"""The catalogue of findings: meaning, reason, manual check and remedy of each rule. Ids never change meaning."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hashes import forms_in_words
from locklens.review.findings import UNCHECKED, UNREACHABLE, Finding, Severity
from locklens.review.model import CONTRADICTED

if TYPE_CHECKING:
    from collections.abc import Mapping


_WIDTH = 80

BLOCK, WARN, INFO, OFF = Severity.BLOCK, Severity.WARN, Severity.INFO, Severity.OFF


class RuleSubject(StrEnum):
    """The subject of a rule: the module of this folder with the rule's check."""

    ROOT = "root"
    CHANGE = "change"
    CONFIGURATION = "configuration"
    RELEASE = "release"
    PLATFORMS = "platforms"
    AGREEMENT = "agreement"
    HEALTH = "health"
    INSIDE = "inside"


ROOT, CHANGE, CONFIGURATION = RuleSubject.ROOT, RuleSubject.CHANGE, RuleSubject.CONFIGURATION
RELEASE, PLATFORMS = RuleSubject.RELEASE, RuleSubject.PLATFORMS


class RuleWording(Struct, frozen=True):
    """The title and the remedy of the findings of a rule, or of one of its special cases.

    Attributes:
        title: What was found.
        remedy: What to do.
        meaning: What it means, and
        why: why it matters; "" where the rule's own texts are true of the case.
        is_lockable: True if `lock` takes an entry with such a finding, whatever the rule's effect is.
    """

    title: str
    remedy: str
    meaning: str = ""
    why: str = ""
    is_lockable: bool = False


class Effect(Struct, frozen=True):
    """What a finding about an entry means for commands that write it.

    Attributes:
        is_of_step: True if it judges the step between two entries, and not the entry that is left: a plan that
            leads back to the base does not say it of what it leaves.
        refusal: Why `lock` leaves a root with such an entry as it is, unless it is given other providers, a clause; ""
            if it does not.
    """

    is_of_step: bool = False
    refusal: str = ""


ENTRY, STEP = Effect(), Effect(is_of_step=True)
CONTRADICTING = Effect(refusal=CONTRADICTED)
"""Locked hashes are not those of the signed release, or not all; the report of signers lists such findings."""


class Rule(Struct, frozen=True):
    """One kind of finding; all texts are plain sentences.

    Attributes:
        subject: The judged subject. The module of that name has the rule's check.
        severity: The default, which the rule may override for a case.
        effect: What its findings mean for commands that write the entry.
        needs: The input needed beyond the files, a key of `_NEEDS`, which has a sentence for each; "" for none.
        cases: Special cases, by name, for which the usual title or remedy would not be true.
    """

    id: str
    subject: RuleSubject
    severity: Severity
    effect: Effect
    title: str
    meaning: str
    why: str
    check: str
    remedy: str
    needs: str = ""
    cases: Mapping[str, RuleWording] = {}

    def wording(self, case: str) -> RuleWording:
        """The title and the remedy of a finding; of a case without words of its own, those of the rule."""
        return self.cases.get(case, RuleWording(self.title, self.remedy))


_SETTLE_FIRST = (
    "First settle which locked hashes are of the release, as the finding about them says: until then nothing can be "
    "added to this entry."
)

_VERIFY_FIRST = (
    "Verify the h1 by download, without --offline: v on Review, or `--prove all` on the command line. That tells which "
    "platform each is for. If none is for this one, or none can be verified, lock the platform again."
)

_REPAIR_GPG = "Install or repair gpg or python-gnupg, whichever the message names, and review again: until then no"

_LENT = RuleWording(
    "Hashes of another version: edited, or merged from lines",
    "Find out with locklens doctor (i on Review, with the branch checked out) which it was, and take its fix. Or "
    "restore the entry as it was before, then upgrade this provider alone (R on Review, and `locklens upgrade`).",
)

_POLICY_FIRST = (
    "Review the policy as a change of its own, and merge it first: where a check is required, an owner merges it over "
    "the failed one"
)
_BY_OWNERS = ', or the base has LK028 = "info" below [severity], where code owners guard the file'
_FROM_HEAD = ', or the base says accept_from = "head", where code owners guard the file'
_POLICY_EDITED = "The change edits the policy; the base's judges it"
_OUT_OF_DATE = (
    "; where the base alone changed it, bring the branch up to date, or compare since the common ancestor "
    "(--merge-base)"
)

_ALL = (
    Rule(
        "LK001",
        RELEASE,
        BLOCK,
        CONTRADICTING,
        "Same version, other packages: republished, or edited before",
        "The publisher's signed SHA256SUMS of this version does not list a package hash that the lock file had, "
        "lists it only for a file that is not a package of this version, or lists two for one file name; or the change "
        "replaces listed hashes by others, or adds a second registry manifest. It is information if the change "
        "restores the packages that an earlier commit of the base locks, and these are all of the release; or if "
        "such a commit locks those of the old entry for another version, so that the old entry was edited. It is a "
        "warning if SHA256SUMS lists more packages beside the old ones, or an unknown manifest that the entry did not "
        "have: the list has grown since, or the entry was made from a mirror, or lost hashes by an edit.",
        "The same version with different bytes is the sign of a stolen release account, unless the old entry had "
        "hashes of another version. `terraform init` refuses it; `terraform providers lock` silently adds the new "
        "hashes beside the old ones.",
        "Fetch the release's SHA256SUMS and search it for the old zh: hashes of the lock file and their file names.",
        "Unless locklens doctor shows that the old entry was edited or merged, keep the old hashes (restore the "
        "entry), and ask the publisher, by another way than the registry, whether and why the version was republished.",
        "registry",
        {
            "grown": RuleWording(
                "More packages in the signed release than were locked",
                "The locked packages are still released: keep the entry, or lock it again for the others.",
                is_lockable=True,
            ),
            "restored": RuleWording(
                "The packages of an earlier commit, restored: the old entry had others",
                "Keep the restored entry. Find the commit that brought the other hashes (`git log -p` of the lock "
                "file): until now, a package with one of them could be installed.",
                is_lockable=True,
            ),
            "edited": RuleWording(
                "The old entry was edited: it had the hashes of another version",
                "Keep the new entry, which has all packages of the release. Find the commit that edited the old one "
                "(`git log -p` of the lock file): no package of the version fitted it, and `init` failed.",
                is_lockable=True,
            ),
            "unsure": RuleWording(
                "Locked hashes are not of the release",
                "Find out with locklens doctor whether the hashes were edited: then keep or restore the entry whose "
                "hashes are all of the release. Otherwise ask the publisher, by another way than the registry, whether "
                "and why the version was republished.",
            ),
        },
    ),
    Rule(
        "LK002",
        RELEASE,
        BLOCK,
        CONTRADICTING,
        "Hash not in the signed release: a foreign package could install",
        "A hash was added that cannot be traced to the release: it is not in the signed SHA256SUMS, and "
        "no package of the release has it.",
        "One matching hash is enough to install a package, so one foreign hash lets a foreign package in.",
        "Search the release's SHA256SUMS for the hash; for h1, hash each platform's package with "
        "`terraform providers lock`.",
        "Restore the entry (R on Review, with the branch checked out). Then make the change again on a machine that "
        "you trust: with `locklens upgrade NAME=VERSION` if the version changes, otherwise with `locklens lock`.",
        "registry",
        {"lent": _LENT},
    ),
    Rule(
        "LK003",
        RELEASE,
        WARN,
        ENTRY,
        "Package hashes not verified: a foreign package would look the same",
        "Package hashes (zh) were added or replaced, and could not be traced to the signed release: the run is "
        "offline, the registry was not asked, it failed, or its answer is not authenticated. `locklens hashes` judges "
        "unchanged hashes too.",
        "Legitimate causes are common (another platform, `providers lock`, a completed set), but a "
        "foreign package looks the same.",
        "Compare the zh: hashes with the release's SHA256SUMS. Locking this version on two different machines "
        "must give the same zh: set.",
        "Review again with access to the registry; or restore the entry, then upgrade the provider if the version "
        "changes, or else lock it again.",
        cases={
            UNCHECKED: RuleWording(
                "Package hashes not verified: a foreign package would look the same",
                f"{_REPAIR_GPG} signature can be checked.",
            )
        },
    ),
    Rule(
        "LK004",
        CHANGE,
        WARN,
        STEP,
        "Downgrade: fixed defects may come back",
        "The new version is lower than the old one. A provider that is new in a root is compared with the lowest "
        "version that other roots of the base lock.",
        "Downgrades reintroduce fixed defects, and the older provider may be unable to read a state that the newer "
        "one wrote.",
        "Read the release notes between the two versions for security fixes and state upgrades.",
        "If it is unintended, restore the entry; otherwise accept the finding with the reason (`locklens accept`).",
        cases={
            "elsewhere": RuleWording(
                "Older than in every other root: fixed defects may come back",
                "If it is unintended, lock the version that the other roots have; otherwise accept the finding with "
                "the reason (`locklens accept`).",
            )
        },
    ),
    Rule(
        "LK005",
        CONFIGURATION,
        BLOCK,
        Effect(refusal="the locked version does not satisfy the configuration; upgrade it first"),
        "Locked version does not satisfy the configuration: init fails",
        "The locked version does not satisfy the constraints of the configuration, all modules taken together.",
        "`init` fails. Usually the constraint was edited without updating the lock file.",
        "Run `terraform init` without -upgrade: the error names the constraint.",
        "Correct the constraint, or restore the entry if that is what changed; or select a version that satisfies it: "
        "`locklens upgrade NAME` moves that provider alone, `init -upgrade` all of them.",
    ),
    Rule(
        "LK006",
        CONFIGURATION,
        BLOCK,
        ENTRY,
        "Required but not locked: the next init trusts what it selects",
        "The configuration requires a provider that has no entry in the lock file. Where an entry was removed and not "
        "all that requires providers can be read, this cannot be determined, and the severity is info; it is warn if "
        "nothing is locked any more and the root's own configuration is what cannot be read.",
        "The next `init` selects the newest version at that time and trusts it on first use; with "
        "-lockfile=readonly it fails.",
        "Run `terraform providers` and compare with the lock file.",
        "Where the entry was removed, restore that of the base (R on Review, with the branch checked out, or `locklens "
        "restore`). A new provider is locked by `locklens lock`, or `init` or `providers lock` of the root's tool. "
        "Where git ignores the lock file, LK037 says how to commit it.",
        cases={
            "unknown": RuleWording(
                "Not known whether the removed provider is required",
                "Run `terraform providers`; if the provider is in its list, restore the entry.",
            ),
            "of init": RuleWording(
                "Required but not locked, by the state or test files alone",
                "`locklens init`, or `init` of the root's tool, locks it: `lock` and `providers lock` read neither. "
                "Where the entry was removed, restore that of the base.",
            ),
            "implied": RuleWording(
                "Required but not locked, and its source is only implied by its name",
                "Where the namespace hashicorp is not meant, name its source in required_providers of the module that "
                "uses it; then lock it: `locklens lock`. Where the entry was removed, restore that of the base.",
            ),
        },
    ),
    Rule(
        "LK007",
        CONFIGURATION,
        WARN,
        ENTRY,
        "Locked but not required: an orphan",
        "Neither the configuration nor the local state requires this provider. If a module is not fetched, the state "
        "is remote, or the folder has no configuration or a terragrunt.hcl, this cannot be determined, and the "
        "severity is info.",
        "`init` removes it; with -lockfile=readonly, as many pipelines run it, it fails. Until then it is noise in "
        "every review, and hides the moment when something else starts to require it.",
        "Run `terraform providers`; search the state for resources of the provider.",
        "Prune it: `locklens prune`, or P on Review or Health with the branch checked out; `terraform init` does it "
        "too.",
        cases={
            "unknown": RuleWording(
                "Not known whether it is required",
                "Keep it, unless `terraform providers` shows that nothing requires it: then `init -lockfile=readonly` "
                "fails until `locklens prune NAME` has removed it.",
            ),
            "other tool": RuleWording(
                "Locked for the other tool's registry",
                "Lock the root with one tool: `locklens prune --tool TOOL` removes the entries that this tool does not "
                "require.",
            ),
        },
    ),
    Rule(
        "LK008",
        PLATFORMS,
        WARN,
        ENTRY,
        "Platform lost: it is no longer covered",
        "A platform had a usable hash for one of the install paths in use, and the change removes it. Without "
        "install_paths in locklens.toml the install path is the registry; on this machine's platform, also the plugin "
        "cache and the mirrors of the CLI configuration. Losing a platform has the severity info where the policy "
        "requires others, or for a plugin cache alone. Where an h1 is left whose platform is unknown, it cannot be "
        "determined whether the platform is lost, and the finding says so with the same severity.",
        'The next run on that platform fails with "doesn\'t match any of the checksums"; without any h1 an unpacked '
        "mirror is not verified, and a plugin cache is only not used.",
        "Run `terraform providers lock -platform=OS_ARCH` for the platform and check for added lines.",
        "Lock the platform again and commit the result.",
        "registry",
        {
            "contradicted": RuleWording("Platform lost: it is no longer covered", _SETTLE_FIRST),
            "not-offered": RuleWording(
                "Platform lost: it is no longer covered",
                "Select a version that has a package for the platform (U on Upgrade, with the branch checked out and "
                "without --offline), unless nobody runs on it.",
            ),
            "unknown": RuleWording("Not known whether the platform is still covered", _VERIFY_FIRST),
        },
    ),
    Rule(
        "LK009",
        PLATFORMS,
        WARN,
        ENTRY,
        "Required platform not covered",
        "The policy (platforms in locklens.toml) requires a platform for which the lock file has no usable hash on "
        "one of the install paths in use: a zh or an h1 for the registry or a packed mirror, an h1 for a plugin cache "
        "or an unpacked mirror. For a plugin cache alone the severity is info. Where the platform was not covered "
        "before, and a hash of unknown platform may cover it now, the finding says that this is unknown.",
        "The first run on that platform fails, usually in CI or on a colleague's machine. An unpacked mirror is not "
        "verified where no h1 is locked at all. A plugin cache is not used until an h1 of the platform is locked: init "
        "downloads the package again and adds it, and with -lockfile=readonly does so each time.",
        "Compare the lock file's hashes with the platforms of the release.",
        "Lock the required platforms, with the branch checked out and without --offline: L on Hashes, or `locklens "
        "lock --platform OS_ARCH` for each.",
        "wanted",
        {
            "contradicted": RuleWording("Required platform not covered", _SETTLE_FIRST),
            "not-offered": RuleWording(
                "Required platform not covered",
                "Select a version that has a package for the platform (U on Upgrade, with the branch checked out and "
                "without --offline), or take the platform out of the policy.",
            ),
            "unknown": RuleWording("Not known whether the required platform is covered", _VERIFY_FIRST),
        },
    ),
    Rule(
        "LK010",
        RELEASE,
        WARN,
        ENTRY,
        "Signed by a different key: it may not be the publisher's",
        "The new version is signed by a key that did not sign the old version. A provider that is new in a root is "
        "compared with the highest version that other roots of the base lock. Where locklens.toml pins the keys of "
        "the namespace ([trust]), those alone count: a pinned key is no finding, and any other, or none, blocks.",
        "Publishers rarely change keys, and announce it. An attacker with the release account but not the key has to "
        "use a different one.",
        "Compare the full 40-digit fingerprints, and ask the publisher through a channel other than the registry.",
        "Keep the old version until the publisher has confirmed the new key. Then pin in locklens.toml each key that "
        "is to be valid, with T on Signers or `locklens keys trust NAMESPACE --base BASE --key OLD --key NEW`. Or "
        "accept the finding (`locklens accept`).",
        "registry",
        cases={
            "another": RuleWording(
                "It is not known which key signed what was locked: the old version has other packages now",
                "`locklens doctor` tells whether the old hashes were edited or the old version was published again. "
                "Compare the key with those of other versions of the provider, and ask the publisher.",
            ),
            "pinned": RuleWording(
                "Not signed by a pinned key: it may not be the publisher's",
                "Keep the old version until the publisher has confirmed the new key. Then add it to the pin in the "
                "base's locklens.toml, which alone counts. With the branch checked out and up to date with the base, T "
                "on Signers or `locklens keys trust NAMESPACE --base BASE --key OLD --key NEW` (--key for each key "
                "that is to be valid) writes the pin: commit locklens.toml alone on the base, then review again. Or "
                "accept the finding (`locklens accept`).",
            ),
        },
    ),
    Rule(
        "LK011",
        RELEASE,
        WARN,
        ENTRY,
        "Not signed: only the registry vouches for the packages",
        "The release has no signature, or its check was skipped because the registry lists no key, which the tool "
        "tolerates.",
        "Anyone who can write to the release page decides which code runs with your credentials.",
        "Read the installed line of `tofu init`: it states if signature validation was skipped.",
        "Ask the publisher to sign releases, or mirror a package that you have examined.",
        "registry",
    ),
    Rule(
        "LK012",
        RELEASE,
        INFO,
        ENTRY,
        "Signing key expired or revoked: its signatures prove less",
        "The key that signed the release has expired, or was revoked (which blocks).",
        "An expired key is usually an oversight. A revoked key may be in the hands of an attacker.",
        "Import the key with gpg and list it.",
        "Ask the publisher for a release that is signed by a current key.",
        "registry",
    ),
    Rule(
        "LK013",
        CHANGE,
        INFO,
        STEP,
        "Major version: arguments and defaults may change",
        "The major version increased.",
        "Major versions of providers remove arguments and change defaults, so the plan may replace resources.",
        "Read the upgrade guide and the plan.",
        "Merge it separately from other changes. Where the policy fails the review for it, accept the finding "
        "(`locklens accept`).",
    ),
    Rule(
        "LK014",
        CHANGE,
        WARN,
        ENTRY,
        "Released within the cooldown: problems may not be known yet",
        "The version is newly locked, and younger than the policy's cooldown (days, in locklens.toml). The release "
        "date is reported by the registry, unsigned; without a date there is no finding, and a note says so.",
        "Most malicious releases are discovered within days.",
        "Compare with the release date in the registry.",
        "Wait, select the newest version past the cooldown, or accept the finding with the reason, such as a fixed "
        "vulnerability (`locklens accept`).",
        "cooldown",
    ),
    Rule(
        "LK015",
        RELEASE,
        INFO,
        Effect(refusal="the tool moves it to its own registry; upgrade it first"),
        "Provider moved: another host or namespace publishes it now",
        "A provider of the same type has another host or namespace now. It is a warning if only the change names that "
        "host, and blocks if hashes of the old address were kept unchanged: the new registry never listed them. It "
        "is a warning too for an entry of registry.terraform.io/hashicorp that the next `tofu init` moves to "
        "OpenTofu's registry: it keeps the version, and trusts the new packages on first use.",
        "Another namespace is another publisher, with other keys; a look-alike name is a known trick.",
        "Compare the addresses character by character, and read the publisher's announcement of the move.",
        "Make sure that the configuration's `source` has the same address, and that the state was moved too.",
    ),
    Rule(
        "LK016",
        CHANGE,
        WARN,
        ENTRY,
        "Pre-release selected: only an exact constraint keeps it valid",
        "The locked version is a pre-release, which only an exact constraint can select.",
        "Pre-releases are less tested, and the entry becomes invalid as soon as no constraint names it exactly.",
        "Search the configuration for the exact constraint.",
        "Upgrade to the final release once it is published.",
    ),
    Rule(
        "LK017",
        CHANGE,
        WARN,
        ENTRY,
        "Malformed hash or unknown scheme: it protects nothing",
        "A hash has a scheme unknown to the tools, or cannot match any package because it is not a valid digest. It is "
        "a block if it is not written as a hash at all: with a line feed, a space, or an invisible letter.",
        "The tools never match it: it only looks like protection. They keep a malformed one in the file; one of an "
        "unknown scheme is dropped by an `init` that fetches the package, and kept by any other.",
        f"{forms_in_words()}.",
        "Remove the named lines by hand: `lock` keeps every hash that is locked.",
    ),
    Rule(
        "LK018",
        ROOT,
        INFO,
        ENTRY,
        "Formatting differs: an init that changes the file rewrites it all",
        "The file is valid but not byte for byte what the tools write.",
        "The next `init` that changes anything rewrites the whole file, which fills the next review with noise. Hashes "
        "that are not in order, or are listed twice, are such a change by themselves.",
        "Check for CRLF line ends with `file`, and for order, spacing and comments with `locklens format --dry-run`. "
        "`terraform fmt` refuses lock files.",
        "Write it in the canonical format with `locklens format`, in a commit of its own.",
    ),
    Rule(
        "LK019",
        ROOT,
        BLOCK,
        ENTRY,
        "Lock file cannot be read: every command fails",
        "A syntax error, git conflict markers, a provider that is locked twice, or a value that is not in its normal "
        "form. If only the old side has the error, the severity is info, or warn if nothing is locked any more.",
        "Every command of the tools fails. A conflict resolved by hand can combine a version with the hashes of "
        "another one.",
        "Run `terraform providers`: the error names the problem.",
        "Git conflict: `locklens merge --root DIR` (M on Review, with the branch checked out) merges by block. Any "
        "other error: correct the named line, or restore the file (R there, or `git checkout`). Then run `init` with "
        "the tool of the root.",
        cases={
            "old side": RuleWording(
                "Old side of the lock file cannot be read: not all changes are known",
                "Review the changes since a commit whose lock file can be read: `locklens review COMMIT..HEAD`.",
            )
        },
    ),
    Rule(
        "LK020",
        CHANGE,
        WARN,
        ENTRY,
        "No zh hash: no signature protects this entry",
        "The entry has only h1 hashes, as one that was locked from a mirror or a cache. Or it has no hash that the "
        "tools compare: none at all, or no well-formed zh or h1. That blocks if the entry had such hashes before, or "
        "is new and has hashes of other kinds only.",
        "Publishers sign zh hashes only: no signature protects this entry. The tools ignore hashes of unknown schemes: "
        "without a comparable hash the next `init` accepts any download. No tool writes such an entry or removes the "
        "last hash from one.",
        "Run `terraform providers lock` against the registry and check that the h1 is unchanged. Where the registry "
        "lacks the release, there is no signature to check.",
        "Lock the provider from its registry, if that has the release.",
    ),
    Rule(
        "LK021",
        CHANGE,
        INFO,
        STEP,
        "Constraints changed: other versions may follow",
        "The recorded constraints differ.",
        "A wider constraint permits later upgrades that are not part of this review.",
        "Compare with the required_providers blocks of all modules.",
        "Nothing to do, if the configuration change is intended.",
    ),
    Rule(
        "LK022",
        CHANGE,
        BLOCK,
        ENTRY,
        "Not on the allow list: the policy forbids it",
        "The policy has an allow list (allow in locklens.toml), and the provider, or this version of it, is not on it. "
        "An entry without a host stands for the registries of both tools and for no other host.",
        "The list is an organisation's decision on whose code it runs.",
        "Read `allow` in locklens.toml of the base, or run `locklens policy show`.",
        "Ask the owner of the policy, or select an allowed version by `locklens upgrade NAME=VERSION`. Without a "
        "version, the command selects no older one than the locked one, and names the newest allowed version.",
        "allow",
        cases={
            "unnamed": RuleWording(
                "Not on the allow list: the policy forbids it",
                "Ask the owner of the policy to allow it, or remove the provider from the configuration: no version of "
                "it is allowed.",
            )
        },
    ),
    Rule(
        "LK023",
        RuleSubject.AGREEMENT,
        BLOCK,
        ENTRY,
        "Same version, different packages in two roots: both cannot be right",
        "Two lock files have zh hashes for the same version, and neither set contains the other. Lock files of the "
        "base count too, including those of roots that the change moves or deletes; one that the change makes agree "
        "does not, if all zh of packages here are verified: it was the wrong one.",
        "A version has one set of packages. Two sets mean that one root trusts packages that are not in the "
        "publisher's list, or that the version was republished in between.",
        "Compare both sets with the release's SHA256SUMS.",
        "Run `locklens doctor` in the roots that disagree, or i on Hashes with the branch checked out: it compares the "
        "entry with the signed release, and finds nothing in the right one. "
        "Then restore the wrong entry, or remove it and lock the provider again: `lock` adds nothing to one that "
        "contradicts the release.",
    ),
    Rule(
        "LK024",
        CHANGE,
        INFO,
        STEP,
        "Fewer h1 hashes: other platforms cannot install from a cache",
        "The entry had several h1 hashes, and has fewer now: of which platforms those were is not always known, nor "
        "whether they were of a package at all. It is a warning if locklens.toml lists plugin-cache or unpacked-mirror "
        "in install_paths, unless each platform that it requires keeps its own.",
        "Only h1 counts there: an unpacked mirror's packages are refused on the other platforms, and a plugin cache's "
        "are not used.",
        "Check whether a cache or an unpacked mirror is in use; `init` on one platform records only its own h1.",
        "Run `terraform providers lock` with all platforms in use.",
    ),
    Rule(
        "LK025",
        CHANGE,
        BLOCK,
        STEP,
        "Version changed, hashes kept: edited, or merged from lines",
        "The version changed, and some or all hashes of the old version's packages are unchanged. No two versions of a "
        "provider share a package, so that one of the two entries was edited, or made of the lines of two versions, as "
        "a merge by lines leaves it; the two alone do not tell which. Hashes that are signed for the new version do, "
        "and give no finding: the old entry was the wrong one.",
        "No tool writes this. If the new entry is the wrong one, the next `init` may fail, and new hashes accepted to "
        "repair it are unchecked.",
        "Compare the zh with the SHA256SUMS of both versions. `git log -p` of the lock file shows which version they "
        "were locked for first.",
        "A review that gets an answer of the registry tells which one it is, so none with --offline; locklens doctor "
        "(i on Review, with the branch checked out) looks into the history of the entry, too. If it is the new entry, "
        "restore it, then upgrade this provider alone (R on Review, and `locklens upgrade`).",
        cases={
            "lent": _LENT,
            "restored": RuleWording(
                "Version changed, hashes kept: edited, or merged from lines",
                "That a commit has the entry does not verify it. Compare its zh with the SHA256SUMS of this version, "
                "or review without --offline once the registry answers.",
            ),
        },
    ),
    Rule(
        "LK026",
        RELEASE,
        WARN,
        CONTRADICTING,
        "Hashes of the other registry's release: init refuses them",
        "The hashes belong to this version in the other tool's registry.",
        "For hashicorp/* the two registries serve different builds, so `init` will refuse them.",
        "Compare with the SHA256SUMS of both registries.",
        "Restore the entry, or remove it where it is new; then lock the provider from its own registry.",
        "registry",
    ),
    Rule(
        "LK027",
        RELEASE,
        INFO,
        ENTRY,
        "h1 hash not verified yet",
        "An h1 was added, and no package with a signed zh was hashed to verify it. It is a warning if the version is "
        "unchanged, if another root of the base locks it without this h1, or if the repository has packages in the "
        "root's .terraform or terraform.d/plugins; it blocks if the change brings those (LK036).",
        "No publisher signs h1, and one matching hash is enough to install a package: a forged h1 beside genuine zh is "
        "easy to miss.",
        "Download the package of each platform, check its zh, and hash its contents.",
        "Have the packages downloaded and hashed, without --offline: v on Review or Hashes, `--prove changed` on the "
        "command line.",
        "packages",
        {
            "unsigned": RuleWording(
                "h1 hash not compared with the packages yet",
                "v on Review or Hashes, or `--prove changed` on the command line, without --offline, compares it; a "
                "match verifies nothing, since nobody signs the packages.",
            ),
            UNREACHABLE: RuleWording(
                "h1 hash not verified yet",
                "Review again, without --offline, once the registry gives this release, and it is authenticated: until "
                "then no package can be hashed.",
            ),
            UNCHECKED: RuleWording("h1 hash not verified yet", f"{_REPAIR_GPG} package can be hashed."),
            "altered": RuleWording(
                "h1 hash not verified: the packages that arrived are not the signed ones",
                "See LK030 of the same provider; v on Review or Hashes downloads the packages again.",
            ),
        },
    ),
    Rule(
        "LK028",
        ROOT,
        WARN,
        ENTRY,
        "The policy differs from the base's, which judges the change",
        "locklens.toml differs between the two sides. The policy of the base judges; what only the change accepts or "
        'pins is listed as proposed, and counts where the base has accept_from = "head": the severity is then info '
        "where nothing else is edited, as for comments and layout.",
        "The base judges, so that a change cannot bring its own rules: it could accept its own findings, widen the "
        "allow list, or have a host of its choice asked.",
        "Read the diff of locklens.toml.",
        f"{_POLICY_FIRST}{_BY_OWNERS}{_OUT_OF_DATE}.",
        cases={
            "no base": RuleWording("The base has no policy: that of the change does not judge it", f"{_POLICY_FIRST}."),
            "since fork": RuleWording(_POLICY_EDITED, f"{_POLICY_FIRST}{_BY_OWNERS}."),
            "decisions": RuleWording(_POLICY_EDITED, f"{_POLICY_FIRST}{_FROM_HEAD}{_OUT_OF_DATE}."),
            "decisions since fork": RuleWording(_POLICY_EDITED, f"{_POLICY_FIRST}{_FROM_HEAD}."),
            "counts": RuleWording(
                "The change accepts findings or pins keys, as the base permits",
                "Read the reasons: what is added counts at once.",
            ),
            "layout": RuleWording("The policy differs in comments or layout alone", "Nothing to do."),
            "unreadable": RuleWording("The policy of the change cannot be read", f"Correct it. {_POLICY_FIRST}."),
        },
    ),
    Rule(
        "LK029",
        ROOT,
        OFF,
        ENTRY,
        "Module without an exact version: its code is not pinned",
        "A module is called from a registry without an exact version, or from elsewhere without a commit, a tag of a "
        "full version or a checksum. Off by default; a severity for LK029 in locklens.toml reports it. Calls inside "
        "of fetched modules are not judged.",
        "The lock file pins providers only, never modules: each init may install different module code, which "
        "runs with the same credentials.",
        "Check `version` or `?ref=` in the module block.",
        "Pin an exact version or commit.",
        "modules",
    ),
    Rule(
        "LK030",
        RELEASE,
        BLOCK,
        Effect(refusal="the tool refuses the release"),
        "The release fails the tool's checks: init refuses it",
        "The locked release fails the tool's own checks: a bad signature, an unknown issuer, SHA256SUMS without the "
        "package, a version that is not listed, or a package that was downloaded here and is not the signed one.",
        "`init` refuses it on every machine without a copy.",
        "Run `init` with the tool of the root, in a fresh copy of it.",
        "Select another version, or ask the publisher.",
        "registry",
        cases={
            "mirrored": RuleWording(
                "Not in its registry: only a mirror of the settings has it",
                "Ask whoever fills the mirror where the package is from: nobody has signed it. Every machine that runs "
                "`init` needs that mirror.",
            ),
            "altered": RuleWording(
                "Other bytes than the signed package arrive here: init refuses them",
                "Download the package on another network, past any proxy. Where it arrives so there, too, keep the "
                "version before, and tell the publisher.",
                meaning="A package of the locked release was downloaded here, and its zh is not the one that the "
                "publisher's signed SHA256SUMS has for its platform.",
                why="`init` refuses it wherever these bytes arrive: behind this proxy, in this network, or everywhere "
                "if the host itself has them. Where another package arrives, or a copy is used, it may succeed.",
            ),
        },
    ),
    Rule(
        "LK031",
        ROOT,
        BLOCK,
        ENTRY,
        "Checked out with different bytes: the tools read another file",
        "A git attribute (working-tree-encoding, filter, or ident with $Id in the file) changes a lock file, a "
        "configuration file, a file of values or a state on checkout. It is a warning if the old side has the same "
        "attribute; of files on disk, which are judged as they are, only a new attribute is a finding. Or the change "
        "adds or modifies a file whose name some file systems take for that of another one that is read, such as "
        ".Terraform.lock.hcl, Terraform.tfvars, Modules/net/x.tf beside modules/net, or state/x.tfstate where a "
        "backend names State/x.tfstate.",
        "The review judges the committed bytes, or those on disk here, and the tools read what a checkout has on disk: "
        "its hashes may differ.",
        "Run `git check-attr working-tree-encoding filter ident FILE`, and review the work tree after a checkout.",
        "Remove the attribute from what the tools read, and the file with the other spelling.",
    ),
    Rule(
        "LK032",
        ROOT,
        WARN,
        STEP,
        "Lock file switched between Terraform and OpenTofu: they read other files",
        "The lock file, or the configuration of an unchanged one, changed from Terraform to OpenTofu or the reverse, "
        "judged by its first line, by `.tofu` files or by the registry of its providers.",
        "The tools refuse different files and read different ones. A comment in a change must not select the more "
        "lenient rules, so the rules of the base's tool apply, unless the providers themselves moved to the other "
        "tool's registry: all, or all without a host in their source.",
        "Check whether the root is migrating to the other tool, and which tool is run on it.",
        "If the migration is intended, review it with --tool; otherwise restore the lock file.",
        cases={
            "configuration": RuleWording(
                "Configuration switched between Terraform and OpenTofu: they read other files",
                "If the migration is intended, review it with --tool, and commit the lock file that the new tool's "
                "`init` writes; otherwise name the configuration files as the old tool reads them.",
            ),
            "written": RuleWording(
                "Lock file written by the other tool: the root's own tool uses other entries",
                "Restore the lock file of the base (R on Review, with the branch checked out, or `locklens restore`), "
                "and make the change again with the root's own tool. If the root is to be one of the other tool, "
                "rename its configuration files, too.",
            ),
        },
    ),
    Rule(
        "LK033",
        RELEASE,
        BLOCK,
        Effect(refusal="the signed checksums belong to another release"),
        "The signed checksums belong to another release: it would install as this one",
        "The SHA256SUMS that the registry serves for this version names packages of another version or another "
        "provider, or the offered package is not that of this type, version and platform.",
        "The tools ignore these names: they lock and install an old release, with its known vulnerabilities, as the "
        "new one, and its signature is valid. The attack needs no key, only control of the registry's answers.",
        "Fetch the release's SHA256SUMS: packages are named terraform-provider-TYPE_VERSION_OS_ARCH.zip.",
        "Keep the previous version, and notify the operator of the registry.",
        "registry",
    ),
    Rule(
        "LK034",
        CHANGE,
        INFO,
        ENTRY,
        "Non-ASCII provider name: it may look like another",
        "The host, namespace or type has non-ASCII letters. It is a warning if the provider is new or moved and one of "
        "the names mixes scripts, such as Latin and Cyrillic.",
        "Letters of other scripts can look like Latin ones, so two different names can look the same.",
        "Compare the ASCII form (xn--…) in the finding with the expected name.",
        "Ask the author of the change; use the address that the publisher documents.",
    ),
    Rule(
        "LK035",
        ROOT,
        BLOCK,
        ENTRY,
        "Submodule or link: what it leads to is not reviewed",
        "The change adds, removes or updates a submodule, or a configuration file or module folder is a link that "
        "leads out of the repository. It is a warning if no root is known at or below the submodule, if the submodule "
        "was removed, or if the link led out before the change.",
        "The tools read files that are not part of the change: lock files of a submodule are in another repository, "
        "and an absolute link may lead to a different file on each machine.",
        "Run `git diff --submodule=log` and review the submodule's own repository between the two commits; "
        "`git ls-tree -r HEAD` shows links with the mode 120000.",
        "Review the submodule in its own repository; replace the link with a file.",
    ),
    Rule(
        "LK036",
        ROOT,
        BLOCK,
        ENTRY,
        "Packages in the repository: they run without any registry",
        "The change adds or modifies files, links or submodules at or below .terraform or terraform.d/plugins, in "
        "whatever folder: a root, one that has no lock file yet, or any other that the tools may be run in; or a file "
        "named terraform-provisioner-NAME in any folder. It is a warning for packages elsewhere in the layout of a "
        "mirror, and for programs named terraform-provider-NAME. `locklens health` reports what git tracks already, "
        "as a warning or as information.",
        "Both tools install packages from these folders instead of a registry, without any setting. One matching h1 in "
        "the lock file is enough, and h1 are unsigned; without a lock file, nothing has to match: the author of the "
        "change can run arbitrary code. The tools run a terraform-provisioner-NAME of the folder that they are run in, "
        "even in place of a built-in provisioner. What .terraform holds beside packages makes the tools read other "
        "modules, use another workspace or backend, or look for packages elsewhere. A mirror in the repository counts "
        "where the settings of the tools name it.",
        "Run `git ls-files -s | grep -iE '[.]terraform(/|$)|terraform([.]d|-provi)'`; compare each h1 with that of the "
        "publisher's package.",
        "Remove the files with `git rm -r --cached`, and add .terraform to .gitignore; serve private packages from a "
        "configured mirror.",
        cases={
            "working data": RuleWording(
                "Working data of the tools in the repository: they use it as it is",
                "Remove the files with `git rm -r --cached`, and add .terraform to .gitignore.",
            )
        },
    ),
    Rule(
        "LK037",
        RuleSubject.HEALTH,
        WARN,
        ENTRY,
        "Lock file missing or ignored: each run may select other packages",
        "A root module has no lock file, or git ignores it. The severity is info if the configuration has no "
        "backend, as in an example, unless git tracks a lock file that was deleted. `locklens health` reports it; a "
        "review does so where the change modifies the configuration, with severity info if no further provider is "
        "required, and where git ignores a lock file that the base has.",
        "Without a committed lock file, each run may select other versions and accepts whatever package it gets.",
        "Run `git check-ignore -v FOLDER/.terraform.lock.hcl`; a root is a folder with a backend or a provider "
        "configuration that no other folder calls as a module.",
        "Make it with `locklens lock`, and commit it; where git would ignore it, first remove the pattern that "
        "`git check-ignore -v` names.",
        cases={
            "ignored": RuleWording(
                "Lock file ignored by git: each run may select other packages",
                "Remove the pattern that `git check-ignore -v` names, and commit the lock file.",
            )
        },
    ),
    Rule(
        "LK038",
        RuleSubject.HEALTH,
        INFO,
        ENTRY,
        "Far behind the newest version in range: its fixes are missing",
        "The locked release is more than 180 days older than the newest one that satisfies the constraints. "
        "`locklens health` reports it.",
        "Fixes of old releases are rare, and an upgrade over many versions is harder to review.",
        "Run `locklens upgrade --list` in the root.",
        "Upgrade with `locklens upgrade --safe`, or narrow the constraint if the version is meant to stay.",
        "registry",
    ),
    Rule(
        "LK039",
        RuleSubject.HEALTH,
        INFO,
        ENTRY,
        "Signer not pinned: a registry can present another key",
        "The policy pins keys, and none for this provider, whose signer is not official. `locklens health` reports it.",
        "Without a pin, a registry can present another key for the next release.",
        "Run `locklens keys`, and compare the fingerprint with the one that the publisher announces.",
        "Add a `[trust]` table for the namespace to locklens.toml.",
        "registry",
    ),
    Rule(
        "LK040",
        RuleSubject.HEALTH,
        INFO,
        ENTRY,
        "Host of the other tool's registry: releases and keys may differ",
        "A provider is locked from OpenTofu's registry in a root of Terraform, or the reverse. `locklens health` "
        "reports it.",
        "Both registries may differ in releases and signing keys, and one tool's terms may not cover the other's use.",
        "Compare the first line of the lock file with the hosts in it.",
        "Change the host in the configuration's `source`, then lock the provider and prune the old entry; if the host "
        "is meant, nothing is to be done. No command moves an entry that the configuration requires.",
    ),
    Rule(
        "LK041",
        ROOT,
        BLOCK,
        ENTRY,
        "Configuration cannot be read: what it requires is unknown",
        "A configuration file, or a file of values that it needs, has an error, or is larger or nested deeper than "
        "locklens reads; a local state of any workspace is not read, or a changed file may be the state; or, for "
        "OpenTofu, the source of a module or the path of the state cannot be computed; or a local module leads out of "
        "the repository and perhaps back. It is a warning if the old side has the same error in "
        "the same file, and in `locklens health`, which judges a state and no change. "
        "Modules that are not fetched are no such error.",
        "The tools may read what locklens does not: the file can hide a requirement that the next `init` installs.",
        "Run `terraform validate`, or `terraform providers` and compare with the lock file.",
        "Correct the file at the named line, or divide it into smaller ones; take a state out of the repository; write "
        "the module's source as a constant.",
    ),
    Rule(
        "LK042",
        RuleSubject.INSIDE,
        INFO,
        ENTRY,
        "Advisories of modules inside: a function of some may be linked",
        "The change introduces advisories of the Go vulnerability database: a Go module inside the new package, or the "
        "toolchain that built it, has a version that is among theirs, and the function table of the program has one of "
        "their functions by name, or that cannot be said. Of a provider without an older package to compare with, "
        "and in `locklens health`, these are all advisories that it has. Those whose functions are not linked by name, "
        "or that concern other operating systems, do not count.",
        "What is linked can be called, and need not be: most advisories of modules do not concern how a provider uses "
        "them. What is not linked by name may still be reached where a program was obfuscated.",
        "Run `locklens inspect PROVIDER`, or `govulncheck -mode binary` on a program that is not stripped.",
        "Select the nearest version that fixes it; or name the advisory below [[advisories.ignore]] in locklens.toml, "
        "with a reason and a date.",
        "advisories",
    ),
    Rule(
        "LK043",
        RuleSubject.INSIDE,
        WARN,
        ENTRY,
        "Advisory of the provider itself",
        "The Go vulnerability database has an advisory of the provider, and the version is in the range of releases "
        "that it names. Ranges in Go's order of versions do not count for a provider: most publish releases that are "
        "no Go versions, so that such a range is wrong in both directions; these advisories are listed as unknown.",
        "A provider runs with the credentials of the pipeline, and an advisory says how it can be abused.",
        "Read the advisory: https://pkg.go.dev/vuln/ and its id.",
        "Upgrade to the version that fixes it; if a constraint excludes that one, the finding has its file and line.",
        "advisories",
    ),
    Rule(
        "LK044",
        RuleSubject.INSIDE,
        WARN,
        ENTRY,
        "Packages of one release differ between platforms",
        "The package of one platform has a module, a version, a toolchain, a build setting, a linked package or a file "
        "that the packages of the other platforms do not have, and the operating system or the architecture does not "
        "explain it. Where no majority says which is odd, the packages are said to differ.",
        "All packages of a release are built from one source tree: one that stands out was built from another one, or "
        "was changed afterwards.",
        "Run `locklens inspect PROVIDER --platform all` (z, then a, on Review), and compare the program with "
        "`go version -m`.",
        "Ask the publisher how this package was built; until then keep the version that was locked before.",
        "inspected",
    ),
    Rule(
        "LK045",
        RuleSubject.INSIDE,
        WARN,
        ENTRY,
        "Built with an older Go than the policy requires",
        "The program of a package was built with a Go toolchain older than `toolchain` in locklens.toml.",
        "Go's standard library is part of the program: its security fixes arrive with the toolchain, and versions "
        "that are no longer supported get none.",
        "Run `go version` on the program of the package.",
        "Select a version that was built with a newer toolchain, or ask the publisher for one.",
        "inspected",
    ),
    Rule(
        "LK046",
        RuleSubject.INSIDE,
        INFO,
        ENTRY,
        "A module inside is replaced by another one",
        "The program was built with a `replace` directive: another module, or a folder, stands in the place of a "
        "required one. In an upgrade these are the replacements that the older version does not have.",
        "A replaced module is not what its name says: it may be a fork with a fix, or a copy that nobody reviews. "
        "Advisories of the original may not apply, and those of the fork are rarely published.",
        "Run `go version -m` on the program of the package: a line with => follows the replaced module.",
        "Look at the fork; `[severity] LK046` in locklens.toml makes it a warning or a block.",
        "inspected",
    ),
    Rule(
        "LK047",
        ROOT,
        WARN,
        STEP,
        "Old folder of a moved root is not known: compared with one of several",
        "The root is in a new folder, and several roots are gone that it may have been: neither the configuration, nor "
        "other files, nor the names of the folders tell which, and their lock files differ. It is compared with the "
        "one that the finding names first; compared with another one, the changes may be others.",
        "What is an upgrade from one of the folders can be a downgrade from the other, or a provider that lost hashes.",
        "Run `git log --follow --stat` on a file of the root. Compare with the lock file of the other folder: "
        "`locklens review --old BASE:FOLDER/.terraform.lock.hcl --new FOLDER/.terraform.lock.hcl`.",
        "Move the root in a commit of its own, without other changes, and review the rest since that commit.",
    ),
)

RULES = {rule.id: rule for rule in _ALL}
"""All rules by id."""


_NEEDS = {
    "registry": "It needs a registry's answer; offline, only a cached one counts.",
    "packages": "Packages are downloaded and hashed with --prove changed, or with v on Review or Hashes.",
    "wanted": "It is reported if locklens.toml lists platforms. Registries report the platform of a hash; if it is "
    "unknown, only definite losses are reported.",
    "cooldown": "It is reported if locklens.toml sets a cooldown and the release date is known: registry.terraform.io "
    "reports dates, and api.opentofu.org does for registry.opentofu.org.",
    "allow": "It is reported if locklens.toml has an allow list.",
    "advisories": "It is reported if a database is kept (`locklens advisories update`); modules inside are known of "
    "packages that `locklens inspect` looked into. Nothing is downloaded for it.",
    "inspected": "It is judged by packages that `locklens inspect` looked into; nothing is downloaded for it, and of "
    "all others it is unknown.",
    "modules": "It is reported if locklens.toml gives it a severity.",
}


def wording_of(finding: Finding) -> RuleWording:
    """The title and the remedy of a finding; without a rule of that name, its message and no remedy."""
    rule = RULES.get(finding.rule)
    return rule.wording(finding.case) if rule is not None else RuleWording(finding.message, "")


def explain_rule(rule: Rule) -> str:
    """Return the rule as a page of plain text."""
    from functools import partial
    from textwrap import fill as wrap

    fill = partial(wrap, break_on_hyphens=False)  # names must be copyable in full
    paragraphs = [f"{rule.id}  {rule.title}  ({rule.severity})", fill(rule.meaning, _WIDTH)]
    for title, text in (("Why it matters", rule.why), ("Check it by hand", rule.check), ("What to do", rule.remedy)):
        paragraphs.append(f"{title}:\n{fill(text, _WIDTH)}")
    for case in rule.cases.values():
        title = "" if case.title == rule.title else f"{case.title}. "
        paragraphs.append(fill(f"Or: {title}{case.remedy}", _WIDTH))
    if rule.needs:
        paragraphs.append(fill(_NEEDS[rule.needs], _WIDTH))
    return "\n\n".join(paragraphs) + "\n"
