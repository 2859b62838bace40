"""The catalogue of findings: what each means, why it matters, how to check it, what to do. Ids never change meaning."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from locklens.review.model import Severity

_WIDTH = 80

BLOCK, WARN, INFO, OFF = Severity.BLOCK, Severity.WARN, Severity.INFO, Severity.OFF


class Subject(StrEnum):
    """What a rule looks at; but for PLANNED it is the module of this folder that has the rule's check."""

    CHANGE = "change"
    FILE = "file"
    CHECKOUT = "checkout"
    TOOL = "tool"
    CONFIGURATION = "configuration"
    RELEASE = "release"
    PLATFORMS = "platforms"
    AGE = "age"
    AGREEMENT = "agreement"
    UNREVIEWED = "unreviewed"
    VENDORED = "vendored"
    PLANNED = "planned"
    """Not built yet: there is no check."""


CHANGE, FILE, CHECKOUT, TOOL = Subject.CHANGE, Subject.FILE, Subject.CHECKOUT, Subject.TOOL
CONFIGURATION, AGREEMENT = Subject.CONFIGURATION, Subject.AGREEMENT
RELEASE, PLATFORMS, AGE, PLANNED = Subject.RELEASE, Subject.PLATFORMS, Subject.AGE, Subject.PLANNED
UNREVIEWED = Subject.UNREVIEWED


class Rule(Struct, frozen=True):
    """One kind of finding; all texts are plain sentences.

    Attributes:
        subject: What it looks at. The module of that name has the rule's check.
        severity: What it counts as unless the rule says otherwise for a case.
        needs: What the rule waits for beyond the files: "", "registry", "wanted", "cooldown", "policy" or "packages".
    """

    id: str
    subject: Subject
    severity: Severity
    title: str
    meaning: str
    why: str
    check: str
    remedy: str
    needs: str = ""


_ALL = (
    Rule(
        "LK001",
        RELEASE,
        BLOCK,
        "Same version, package published again",
        "The publisher's signed SHA256SUMS of this version no longer lists a package hash that the lock file had, "
        "lists it only for what is no package of this version, or lists two for one file name. Where it lists packages "
        "that the lock file did not have beside those that it had, that is a warning: the list has grown since, or the "
        "entry was made from a mirror.",
        "A version that means other bytes than yesterday is how a stolen release account looks. "
        "`terraform init` refuses it; "
        "`terraform providers lock` adds the new hashes beside the old ones without a word.",
        "Fetch the release's SHA256SUMS and look for the old zh: lines of the lock file, and for their names there.",
        "Keep the old hashes (restore the entry) and ask the publisher, outside of the registry, "
        "whether and why it was published again.",
        "registry",
    ),
    Rule(
        "LK002",
        RELEASE,
        BLOCK,
        "Hash of unknown origin",
        "A hash was added that no fact explains: it is not in the release's signed SHA256SUMS, and "
        "no package of the release has it.",
        "One matching hash is enough to install a package, so one foreign hash lets a foreign package in.",
        "Look the hash up in the release's SHA256SUMS; for h1: hash each platform's package with "
        "`terraform providers lock`.",
        "Restore the entry and lock the provider again on a machine that you trust.",
        "registry",
    ),
    Rule(
        "LK003",
        RELEASE,
        WARN,
        "Hashes that nobody could explain",
        "Package hashes (zh) were added or replaced, and the registry could not be asked or nobody vouches for its "
        "answer. Where the version changed, this is said only of a registry that failed or was not asked.",
        "Honest causes are common (another platform, `providers lock`, a completed set), and a "
        "foreign package looks the same.",
        "Compare the zh: lines with the release's SHA256SUMS. Two different machines that lock this "
        "version must give the same zh: set.",
        "Review again where the registry can be asked, or restore the entry and lock again.",
    ),
    Rule(
        "LK004",
        CHANGE,
        WARN,
        "Downgrade",
        "The new version has a lower precedence than the old one.",
        "Downgrades bring fixed defects back, and a state written by the newer provider may be "
        "unreadable for the older one.",
        "Read the release notes between the two versions for security fixes and state upgrades.",
        "If it was not meant, restore the entry; otherwise say why in the commit message.",
    ),
    Rule(
        "LK005",
        CONFIGURATION,
        BLOCK,
        "Locked version does not satisfy the configuration",
        "The configuration's constraints, all modules taken together, do not admit the locked version.",
        "`init` stops with an error here. Most often the constraint was edited and the lock file was forgotten.",
        "Run `terraform init` without -upgrade: it names the constraint.",
        "Commit the lock file that `init -upgrade` writes, or put the constraint back.",
    ),
    Rule(
        "LK006",
        CONFIGURATION,
        BLOCK,
        "Required but not locked",
        "The configuration requires a provider that the lock file does not hold.",
        "The next `init` picks whatever is newest at that time and trusts it on first use; with "
        "-lockfile=readonly it fails.",
        "Run `terraform providers` and compare with the lock file.",
        "Run `terraform init` (or `providers lock`) and commit the lock file.",
    ),
    Rule(
        "LK007",
        CONFIGURATION,
        WARN,
        "Locked but nothing requires it",
        "Neither the configuration nor the local state asks for this provider. Where a module is not "
        "fetched or the state is remote "
        "this cannot be said, and the finding is an information.",
        "An orphan is noise in every later review, and hides the day when something else starts to ask for it.",
        "Run `terraform providers`; look for resources of the provider in the state.",
        "Let `terraform init` prune it, or remove the block.",
    ),
    Rule(
        "LK008",
        PLATFORMS,
        WARN,
        "A platform that could install no longer can",
        "Before the change a platform had a usable hash on an install path that is used, and now it has none. Without "
        "install_paths in locklens.toml that path is the registry. Where platforms are wanted, losing another one is "
        "an information.",
        'The next run on that platform fails with "doesn\'t match any of the checksums".',
        "Run `terraform providers lock -platform=OS_ARCH` for the platform and look for added lines.",
        "Lock the platform again and commit the result.",
        "registry",
    ),
    Rule(
        "LK009",
        PLATFORMS,
        WARN,
        "A wanted platform is not covered",
        "The policy (platforms in locklens.toml) wants a platform for which the lock file has no usable hash on an "
        "install path that is used: from the registry or a packed mirror a zh or an h1, from a plugin cache or an "
        "unpacked mirror an h1.",
        "The first run on that platform fails, usually in CI or on a colleague's machine.",
        "Compare the lock file's hashes with the platforms of the release.",
        "Run `terraform providers lock -platform=…` for each wanted platform, or L on the screen of hashes.",
        "wanted",
    ),
    Rule(
        "LK010",
        RELEASE,
        WARN,
        "Signed by another key than before",
        "The new version's signature was made by a key that did not sign the old version. It blocks "
        "where a pin names another key.",
        "Publishers change keys seldom and announce it. A thief who has the release account but not "
        "the key must bring his own.",
        "Compare the full 40-digit fingerprints, and ask the publisher in a channel that is not the registry.",
        "Take it once the publisher has confirmed; until then stay on the old version.",
        "registry",
    ),
    Rule(
        "LK011",
        RELEASE,
        WARN,
        "Not signed",
        "No signature stands behind the release, or its check was skipped because the registry lists "
        "no key, and the tool tolerates that.",
        "Whoever can write to the release page decides what runs with your credentials.",
        "Look at the installed line of `tofu init`: it says when signature validation was skipped.",
        "Ask the publisher to sign, or mirror a package that you have examined.",
        "registry",
    ),
    Rule(
        "LK012",
        RELEASE,
        INFO,
        "Signing key expired or revoked",
        "The key that signed the release is past its date, or was revoked (which blocks).",
        "An expired key is mostly forgetfulness. A revoked one says that somebody else may have it.",
        "Import the key with gpg and list it.",
        "Ask the publisher for a release that is signed by a current key.",
        "registry",
    ),
    Rule(
        "LK013",
        CHANGE,
        INFO,
        "Major version",
        "The first number of the version rose.",
        "Major versions of providers remove arguments and change defaults, so the plan may want to replace resources.",
        "Read the upgrade guide and the plan.",
        "Merge it apart from other changes.",
    ),
    Rule(
        "LK014",
        AGE,
        WARN,
        "Released very recently",
        "The version is new here, and younger than the policy's cooldown (days, in locklens.toml). The date is the "
        "registry's word, unsigned; where it has none, nothing is said.",
        "Most malicious releases are found within days. Waiting lets others find them.",
        "Look at the release's date in the registry.",
        "Wait, or take the newest version that is old enough: U chooses it.",
        "cooldown",
    ),
    Rule(
        "LK015",
        RELEASE,
        INFO,
        "Provider moved",
        "A provider of the same type now comes from another host or namespace. It is a warning where nothing but the "
        "change names that host, and blocks where hashes of the old address came along unchanged: what is locked then "
        "was never said by the new registry.",
        "Another namespace is another publisher, with other keys; a look-alike name is a known trick.",
        "Compare the addresses letter by letter, and read the publisher's announcement of the move.",
        "Make sure that the configuration's `source` says the same, and that the state was moved too.",
    ),
    Rule(
        "LK016",
        CHANGE,
        WARN,
        "Pre-release selected",
        "The locked version is a pre-release, which only an exact constraint can select.",
        "Pre-releases are less tested, and the entry stops to be valid as soon as no constraint names it exactly.",
        "Look for the exact pin in the configuration.",
        "Move to the release when it is out.",
    ),
    Rule(
        "LK017",
        CHANGE,
        WARN,
        "Malformed hash or unknown scheme",
        "A hash is of a scheme that the tools do not know, or cannot match anything because its text is no digest.",
        "The tools carry it along and never match it: it protects nothing, and looks as if it did.",
        "zh: is followed by 64 lower-case hex digits, h1: by 44 characters of base64.",
        "Remove the line, or lock the provider again.",
    ),
    Rule(
        "LK018",
        FILE,
        INFO,
        "Not in the canonical format",
        "The file is valid but not byte for byte what the tools write.",
        "The next `init` that changes anything rewrites the whole file, and the next review is full of noise.",
        "Run `terraform fmt` on a copy; look for CRLF line ends with `file`.",
        "Write it in the canonical format and commit that alone.",
    ),
    Rule(
        "LK019",
        FILE,
        BLOCK,
        "The tools cannot read the lock file",
        "A syntax error, git's conflict markers, a provider that is locked twice, or a value that is "
        "not in its normal form.",
        "Every command of the tools fails here. A conflict solved by hand can pair a version with "
        "another version's hashes.",
        "Run `terraform providers`: it names the problem.",
        "Take one side of the conflict whole, then run `terraform init`.",
    ),
    Rule(
        "LK020",
        CHANGE,
        WARN,
        "No zh hash at all",
        "The entry has h1 hashes only: it was made from a mirror or a cache. Or it has no hash that the tools compare: "
        "none at all, or others than well-formed zh and h1. That blocks where it had some before, and where a new "
        "entry has nothing but such others.",
        "A publisher signs zh hashes. Nothing signed stands behind this entry. The tools pass over hashes of schemes "
        "that they do not know: without one of theirs the next `init` takes whatever it is given. No tool writes an "
        "entry so, and none takes the last hash out of one.",
        "Run `terraform providers lock` against the registry and see whether the h1 stays.",
        "Lock the provider from its registry.",
    ),
    Rule(
        "LK021",
        CHANGE,
        INFO,
        "Constraints changed",
        "The recorded constraints differ.",
        "A wider constraint lets later upgrades through that this review does not see.",
        "Compare with the required_providers blocks of all modules.",
        "Nothing, where the configuration was meant to change.",
    ),
    Rule(
        "LK022",
        PLANNED,
        BLOCK,
        "Not on the allow list",
        "The policy has an allow list, and this provider or version is not on it.",
        "The list is how an organisation says whose code it runs.",
        "Read `allow` in locklens.toml.",
        "Ask the owner of the policy, or take an allowed version.",
        "policy",
    ),
    Rule(
        "LK023",
        AGREEMENT,
        BLOCK,
        "Two roots disagree about one version",
        "Two lock files have zh hashes for the same version, and neither set holds all of the other. Those of the base "
        "count too, also of roots that the change moves or deletes.",
        "A version has one set of packages. Two sets mean that one root trusts packages that the "
        "publisher's list does not have, or "
        "that it was published again between the two.",
        "Compare both sets with the release's SHA256SUMS.",
        "Find out which one is the publisher's, and lock the other root again.",
    ),
    Rule(
        "LK024",
        CHANGE,
        INFO,
        "Fewer h1 hashes than before",
        "The entry had h1 hashes of several platforms, and has fewer now. It is a warning where locklens.toml lists "
        "plugin-cache or unpacked-mirror among its install_paths.",
        "With a plugin cache or an unpacked mirror only h1 counts: there the other platforms stop to install.",
        "Ask whether a cache or an unpacked mirror is in use; `init` on one platform records that platform's h1 alone.",
        "Run `terraform providers lock` with all platforms that are used.",
    ),
    Rule(
        "LK025",
        CHANGE,
        BLOCK,
        "Version changed but not one hash did",
        "The version was edited, and hashes of the old version's packages are still there: all of them, or some. "
        "No two versions of a provider share a package.",
        "No tool writes this. The next `init` fails, and whoever then accepts new hashes does so without a check.",
        "Look at the commit: the hash lines are untouched.",
        "Restore the entry and upgrade with `terraform init -upgrade`.",
    ),
    Rule(
        "LK026",
        RELEASE,
        WARN,
        "Hashes of another registry's release",
        "The hashes are those of this version in the other tool's registry.",
        "For hashicorp/* the two registries serve different builds, so `init` will refuse them.",
        "Compare with the SHA256SUMS of both registries.",
        "Lock the provider again from its own registry.",
        "registry",
    ),
    Rule(
        "LK027",
        RELEASE,
        INFO,
        "h1 not proven",
        "An h1 was added, and no package whose zh is signed was hashed to see that it has it. A "
        "warning where the version stayed.",
        "No publisher signs h1, and one matching hash is enough to install: a forged h1 beside "
        "honest zh is the quiet attack.",
        "Download the package of each platform, check its zh, and hash its contents.",
        "Have it proven: --prove changed, or v on the screen.",
        "packages",
    ),
    Rule(
        "LK028",
        PLANNED,
        WARN,
        "The change also changes the policy that judges it",
        "locklens.toml differs between the two sides.",
        "A change must not be judged by rules that it brings along; the base's rules were used.",
        "Read the difference of locklens.toml.",
        "Review the policy by itself.",
        "policy",
    ),
    Rule(
        "LK029",
        PLANNED,
        OFF,
        "A module call that is not exact",
        "A module is called from a registry or a repository without an exact version or commit.",
        "The lock file pins providers only, never modules: another module text may come in at each init.",
        "Look for `version` or `?ref=` in the module block.",
        "Pin it exactly.",
        "policy",
    ),
    Rule(
        "LK030",
        RELEASE,
        BLOCK,
        "The release does not authenticate",
        "By the tool's own rules the locked release fails: a bad signature, an unknown issuer, "
        "SHA256SUMS without the package, or the "
        "version is not listed any more.",
        "`init` refuses it on every machine that has no copy.",
        "Run `terraform init` in an empty copy of the root.",
        "Choose another version, or ask the publisher.",
        "registry",
    ),
    Rule(
        "LK031",
        CHECKOUT,
        BLOCK,
        "Checked out with other bytes",
        "An attribute of git (working-tree-encoding, filter, or ident with $Id in the file) changes a lock file or a "
        "configuration on its way to the disk. It is a warning where the old side has the same attribute.",
        "What is committed was judged, and the tools read what is on disk: a hash can be another one there.",
        "Run `git check-attr working-tree-encoding filter ident FILE`, and review the work tree after a checkout.",
        "Take the attribute away from lock files and configurations.",
    ),
    Rule(
        "LK032",
        TOOL,
        WARN,
        "Locked by the other tool than before",
        "The lock file was Terraform's before the change and is OpenTofu's now, or the other way round, by its first "
        "line, by `.tofu` files or by the registry that its providers are of.",
        "The tools differ in what they refuse and in which files they read. A change that could choose its judge with "
        "two words of a comment would choose the milder one, so the base's tool judges, unless the providers "
        "themselves went over to the other tool's registry.",
        "Ask whether the root moves to the other tool; look who runs which tool on it.",
        "Where the move is meant, review it with --tool; otherwise restore the lock file.",
    ),
    Rule(
        "LK033",
        RELEASE,
        BLOCK,
        "Another release is passed off as this one",
        "The SHA256SUMS that the registry hands out for this version names packages of another version or of another "
        "provider, or the package that it offers is not the one of this type, version and platform.",
        "The tools do not look at these names: they lock and install an old release, with its known holes, as the "
        "new one, and its signature is good. It takes no key, only the registry or whoever speaks for it.",
        "Fetch the release's SHA256SUMS: packages are called terraform-provider-TYPE_VERSION_OS_ARCH.zip.",
        "Stay on the version before, and tell whoever runs the registry.",
        "registry",
    ),
    Rule(
        "LK034",
        CHANGE,
        INFO,
        "Name that is not ASCII",
        "The host, namespace or type has letters that are not ASCII. It is a warning where a provider is new or moved "
        "here and one of the names mixes scripts, such as Latin and Cyrillic.",
        "Letters of other scripts look the same as Latin ones: a registry may be called as another one to the eye.",
        "Compare the name in ASCII (xn--…) that the finding shows with what you expect.",
        "Ask who brought the name in; take the provider from the address that its publisher names.",
    ),
    Rule(
        "LK035",
        UNREVIEWED,
        BLOCK,
        "Not reviewed: a submodule or a link",
        "The change has a submodule come, go or move to another commit, or a configuration file or module folder is a "
        "link that leads out of the repository. It is a warning where no root is known at or below the submodule, "
        "where the submodule went, and where the link led out before the change.",
        "The tools read what is there, and none of it is in the change: lock files of a submodule are in another "
        "repository, and an absolute link may lead to another file on each machine.",
        "Run `git diff --submodule=log` and review the submodule's own repository between the two commits; "
        "`git ls-tree -r HEAD` shows links with the mode 120000.",
        "Review the submodule where it is developed; put a file in the place of the link.",
    ),
    Rule(
        "LK036",
        Subject.VENDORED,
        BLOCK,
        "Packages in the repository",
        "The change adds or changes files below a root's terraform.d/plugins, or makes a link or a submodule of it.",
        "Both tools install what is in that folder instead of what a registry has, without any setting. One h1 hash "
        "of it in the lock file is enough, and nobody signs those: whoever proposes the change runs code of their own.",
        "Run `git log --stat -- '*terraform.d/plugins*'`; compare each h1 with that of the publisher's package.",
        "Take the files out of the repository; serve packages of your own from a mirror that the settings name.",
    ),
)

RULES = {rule.id: rule for rule in _ALL}
"""All rules by id."""


_NEEDS = {
    "registry": "It needs a registry's answers: offline only those count that are remembered.",
    "packages": "Packages are downloaded and hashed with --prove changed, or with v on the screen.",
    "wanted": "It is reported where locklens.toml names platforms. Of which platform a hash is, registries tell; where "
    "nobody can, only what is certain is said.",
    "cooldown": "It is reported where locklens.toml names a cooldown and the registry says when versions were "
    "released, as registry.terraform.io does, and api.opentofu.org for registry.opentofu.org.",
    "policy": "This finding needs a policy and is not reported yet.",
}


def explain_rule(rule: Rule) -> str:
    """Returns the rule as a page of plain text."""
    from functools import partial
    from textwrap import fill as wrap

    fill = partial(wrap, break_on_hyphens=False)  # names are to be copied whole
    paragraphs = [f"{rule.id}  {rule.title}  ({rule.severity})", fill(rule.meaning, _WIDTH)]
    for title, text in (("Why it matters", rule.why), ("Check it by hand", rule.check), ("What to do", rule.remedy)):
        paragraphs.append(f"{title}:\n{fill(text, _WIDTH)}")
    if rule.needs:
        paragraphs.append(_NEEDS[rule.needs])
    return "\n\n".join(paragraphs) + "\n"
