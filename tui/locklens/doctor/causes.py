"""The causes of an error in one table: their meaning, their test, and the fixes that are offered, or are not. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.doctor import (
    copy_causes,
    edit_causes,
    installed_causes,
    lacking_causes,
    lock_causes,
    merge_remedies,
    network_causes,
    network_remedies,
    past_remedies,
    platform_causes,
    provider_remedies,
    release_causes,
    remedies,
    requirement_causes,
    tool_causes,
    tool_remedies,
)
from locklens.doctor.model import CauseId, CauseVerdict, NotOffered, Trait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined
    from locklens.doctor.model import Cause, Judgement, Remedy


class KnownCause(Struct, frozen=True):
    """A cause that is tested: all that is known about it besides its id, which is a contract.

    Attributes:
        title: It in words, without a capital.
        meaning: The cause in a sentence.
        check: The steps of a check by hand.
        test: Returns None where it does not apply.
        traits: What is true of it whatever its verdict: said in each row, since a wrong default is a wrong diagnosis.
        rules: Ids of the findings that suggest it.
        place: The kind of place whose folder it is: mirror, plugin-cache or installed; "" for none.
        not_offered: A popular fix that would hide it, besides those of all causes about hashes.
    """

    id: CauseId
    title: str
    meaning: str
    check: str
    test: Callable[[Examined], Judgement | None]
    remedies: Callable[[Affected], Iterator[Remedy]]
    traits: Trait
    rules: tuple[str, ...] = ()
    place: str = ""
    not_offered: NotOffered | None = None


_ANY_BYTES = (
    NotOffered(
        "delete the lock file and run init",
        "accepts whatever the source holds now, for every provider, and loses what was reviewed",
    ),
    NotOffered(
        'run "providers lock" without checking',
        "adds the hashes of today beside the old ones and says nothing, even for a package published again",
    ),
    NotOffered("init -upgrade", "moves every provider, and does not help for a version that stays"),
)
"""Fixes that would hide any cause about hashes."""

_NO_LIST = NotOffered(
    "plugin_cache_may_break_dependency_lock_file",
    "records the hash of one platform without the signed list, which fails elsewhere with this error",
)
_NO_SIGNATURE = NotOffered(
    "a mirror or a tool that does not check signatures", "installs packages that nobody vouches for"
)

CAUSES = (
    KnownCause(
        CauseId.LOCK_SYNTAX,
        "the lock file cannot be read",
        "The tools refuse a lock file with an error in it, and install nothing.",
        "terraform init names file and line; git diff shows what changed there.",
        lock_causes.lock_syntax,
        merge_remedies.fix_syntax,
        Trait.STOPS_INIT,
        rules=("LK019",),
    ),
    KnownCause(
        CauseId.REPUBLISHED,
        "the version was published again with other packages",
        "The publisher, or someone with its access, replaced a version's packages, or what is locked never belonged to "
        "it.",
        "Compare the zh lines with the SHA256SUMS of the release, and ask the publisher in another channel.",
        release_causes.republished,
        remedies.fix_republished,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK001", "LK003", "LK023"),
    ),
    KnownCause(
        CauseId.HAND_EDIT,
        "the block was edited by hand",
        "A version without its hashes, or a hash that no tool writes: the block says something that nobody locked.",
        "git log -p -- .terraform.lock.hcl shows a commit that changed the version and left the hashes.",
        edit_causes.hand_edit,
        past_remedies.fix_entry,
        Trait.STOPS_INIT | Trait.OF_HASHES | Trait.OF_WRONG_ENTRY,
        rules=("LK002", "LK003", "LK017", "LK023", "LK025"),
    ),
    KnownCause(
        CauseId.BAD_MERGE,
        "a merge left the lock file wrong",
        "git merges lines, not blocks: it leaves markers, a provider twice, or hashes of two versions in one block.",
        "git log --merges -- .terraform.lock.hcl; locklens git install makes the next merge go block by block.",
        lock_causes.bad_merge,
        merge_remedies.fix_merge,
        Trait.STOPS_INIT | Trait.OF_HASHES | Trait.OF_WRONG_ENTRY,
        rules=("LK002", "LK019", "LK023", "LK025"),
    ),
    KnownCause(
        CauseId.NOT_LOCKED,
        "the provider is not locked",
        "The configuration, or a module in it, requires a provider, and the lock file was not updated with it.",
        "terraform providers lists what requires which provider; locklens why does so with file and line.",
        requirement_causes.not_locked,
        remedies.fix_unlocked,
        Trait.STOPS_INIT,
        rules=("LK006", "LK037"),
    ),
    KnownCause(
        CauseId.NOT_REQUIRED,
        "the provider is locked, and nothing requires it",
        "init removes an entry that nothing requires any more, which a read-only lock file does not allow.",
        "terraform providers lists what is required; compare it with the blocks of the lock file.",
        requirement_causes.not_required,
        remedies.fix_unrequired,
        Trait.STOPS_INIT | Trait.ENDED_BY_INIT,
        rules=("LK007",),
    ),
    KnownCause(
        CauseId.CONSTRAINT_CONFLICT,
        "the locked version does not satisfy the constraints",
        "The locked version does not satisfy the constraints as they are now, or no version satisfies all of them.",
        "locklens why PROVIDER lists each constraint with its place, and those that exclude one another.",
        requirement_causes.constraint_conflict,
        past_remedies.fix_conflict,
        Trait.STOPS_INIT,
        rules=("LK005",),
    ),
    KnownCause(
        CauseId.WRONG_SOURCE,
        "the registry has no provider of that name",
        "The source address names a provider that its registry does not have, or does not show without a token. init "
        "asks for one that dev_overrides take from a folder, too.",
        "locklens why PROVIDER names the file and line that require it; compare it with the provider's documentation.",
        requirement_causes.wrong_source,
        provider_remedies.fix_source,
        Trait.STOPS_INIT,
    ),
    KnownCause(
        CauseId.OTHER_TOOL,
        "the hashes are of the other tool's registry",
        "The registries of Terraform and OpenTofu have packages of their own, with different hashes.",
        "The first line of the lock file names the tool that wrote it, each block the registry.",
        tool_causes.other_tool,
        tool_remedies.fix_tool,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK002", "LK026", "LK032"),
    ),
    KnownCause(
        CauseId.YANKED,
        "the version is not listed",
        "The version or its package was taken back, or the source that is asked now never had it.",
        "curl https://HOST/v1/providers/NAMESPACE/TYPE/versions lists what most registries have.",
        lacking_causes.yanked,
        remedies.fix_version,
        Trait.STOPS_INIT | Trait.OF_HASHES,
    ),
    KnownCause(
        CauseId.CACHE_DIFFERS,
        "the plugin cache's copy is not the locked package",
        "The shared plugin cache holds another package, perhaps of another source or of a run that was cut.",
        "locklens verify compares it with the lock file.",
        copy_causes.cache_differs,
        provider_remedies.fix_copy,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK027",),
        place="plugin-cache",
        not_offered=_NO_LIST,
    ),
    KnownCause(
        CauseId.PLUGIN_CORRUPTED,
        "the installed package was altered",
        "A file in .terraform/providers was changed, added or removed after it was installed.",
        "locklens verify names the files; init replaces the folder.",
        platform_causes.plugin_differs,
        past_remedies.fix_plugin,
        Trait.STOPS_INIT | Trait.OF_HASHES | Trait.ENDED_BY_INIT,
        rules=("LK027",),
        place="installed",
    ),
    KnownCause(
        CauseId.PLUGIN_MISSING,
        "the locked package is not installed",
        "init did not run in this folder, or not since the lock file changed, or the folder was cleared or copied.",
        "Look into .terraform/providers for the version in the lock file.",
        installed_causes.plugin_missing,
        provider_remedies.fix_installed,
        Trait.STOPS_INIT | Trait.ENDED_BY_INIT,
    ),
    KnownCause(
        CauseId.MIRROR_DIFFERS,
        "the mirror's copy is not the locked package",
        "A mirror holds another package under the version's name: rebuilt, damaged or altered.",
        "Hash its copy, and compare with the block: locklens verify, or doctor --package.",
        copy_causes.mirror_differs,
        provider_remedies.fix_copy,
        Trait.STOPS_INIT | Trait.OF_HASHES,
        rules=("LK020", "LK027"),
        place="mirror",
    ),
    KnownCause(
        CauseId.MIRROR_LACKS,
        "the mirror does not have the package",
        "The places that the settings or the command allow do not have the package, and a registry was not asked.",
        "Look for HOST/NAMESPACE/TYPE in the mirror; locklens mirror fills it from the signed release.",
        lacking_causes.mirror_lacks,
        network_remedies.fix_lacking,
        Trait.STOPS_INIT,
    ),
    KnownCause(
        CauseId.PLATFORM_MISSING,
        "the platform is not covered",
        "The lock file was made for other platforms, or the release has no package for this one.",
        "Look for the zh of the platform's zip file in the block; SHA256SUMS names them.",
        platform_causes.platform_missing,
        remedies.fix_platform,
        Trait.STOPS_INIT | Trait.OF_HASHES | Trait.OF_PLATFORM,
        rules=("LK008", "LK009", "LK020"),
    ),
    KnownCause(
        CauseId.H1_MISSING,
        "the lock file has no h1 for the platform",
        "Plugin caches and unpacked mirrors hold folders, which only an h1 identifies: that of the locking machine.",
        "Count the h1 lines of the block: one is enough for one platform only.",
        platform_causes.h1_missing,
        remedies.fix_platform,
        Trait.OF_HASHES | Trait.OF_PLATFORM,
        rules=("LK008", "LK009", "LK024"),
        not_offered=_NO_LIST,
    ),
    KnownCause(
        CauseId.MODULE_MISSING,
        "a module that the configuration calls is not installed",
        "init installs modules, those of local folders, too; other commands stop where one is not installed as it is "
        "called.",
        "terraform get installs modules alone; .terraform/modules/modules.json lists those that are installed.",
        installed_causes.module_missing,
        provider_remedies.fix_modules,
        Trait.ENDED_BY_INIT,
    ),
    KnownCause(
        CauseId.DOWNLOAD_DAMAGED,
        "the download was damaged",
        "The file that arrived is not the one that was named: cut, empty, or altered on the way.",
        "Download it once more without a proxy, and compare its SHA-256 with the release's SHA256SUMS.",
        release_causes.download_damaged,
        network_remedies.fix_download,
        Trait.OF_HASHES,
    ),
    KnownCause(
        CauseId.PACKAGE_ALTERED,
        "another package than the signed one is served each time",
        "Each download gives the same bytes, which are not those of the signed list: its host or a proxy has others.",
        "Download it from another network, and compare its SHA-256 with SHA256SUMS; tell the publisher.",
        release_causes.package_altered,
        network_remedies.fix_package,
        Trait.NONE,
    ),
    KnownCause(
        CauseId.KEY_CHANGED,
        "the release is not signed by the expected key",
        "Another key than the listed one, or than before, made the signature: a rotation, or an attack.",
        "locklens keys --history shows earlier signers; compare all 40 digits with what the publisher announced.",
        release_causes.key_changed,
        remedies.fix_signature,
        Trait.OF_SIGNATURE,
        rules=("LK010", "LK011", "LK030"),
        not_offered=_NO_SIGNATURE,
    ),
    KnownCause(
        CauseId.KEY_EXPIRED,
        "the signing key or the signature has expired",
        "The key or the signature has expired. Terraform refuses expired signatures; OpenTofu warns of both, "
        "or refuses them where OPENTOFU_ENFORCE_GPG_EXPIRATION is true.",
        "locklens keys shows the dates; the publisher has to sign again, or to extend the key.",
        release_causes.key_expired,
        remedies.fix_signature,
        Trait.OF_SIGNATURE,
        rules=("LK012", "LK030"),
        not_offered=_NO_SIGNATURE,
    ),
    KnownCause(
        CauseId.KEY_REVOKED,
        "the signing key was revoked",
        "The owner took the signing key back, perhaps because it was stolen: nothing that it signed counts.",
        "Ask the publisher which key and which version replace it.",
        release_causes.key_revoked,
        remedies.fix_signature,
        Trait.STOPS_INIT | Trait.OF_SIGNATURE,
        rules=("LK012", "LK030"),
        not_offered=_NO_SIGNATURE,
    ),
    KnownCause(
        CauseId.CREDENTIALS,
        "the registry refused the credentials",
        "The registry or mirror wants a token, or refuses the one that was sent.",
        "Look at the credentials block and at TF_TOKEN_ variables of the runner: _ stands for a dot, __ for a dash.",
        network_causes.credentials,
        network_remedies.fix_credentials,
        Trait.OF_HOST,
    ),
    KnownCause(
        CauseId.PROXY_OR_CA,
        "a proxy or a TLS certificate is in the way",
        "A proxy or a firewall stands before the registry, or the runner does not accept its TLS certificate.",
        "curl -v https://HOST/.well-known/terraform.json on the runner shows who answers.",
        network_causes.proxy_or_ca,
        network_remedies.fix_request,
        Trait.OF_HOST,
        not_offered=NotOffered("turn off TLS verification", "lets anyone between answer for the registry"),
    ),
    KnownCause(
        CauseId.REGISTRY_DOWN,
        "the registry failed or did not answer",
        "The registry failed or was not reachable. init asks it even where everything is installed.",
        "Its status page, and the same request from another network.",
        network_causes.registry_down,
        network_remedies.fix_by_retry,
        Trait.OF_HOST,
    ),
)

"""The causes; of those that a finding suggests, the likeliest stands first."""

BY_ID = {cause.id: cause for cause in CAUSES}


def explain_cause(cause: CauseId) -> tuple[str, ...]:
    """Return the lines about a cause: its title, its meaning, and how to check it by hand."""
    known = BY_ID[cause]
    title = f"{cause}  a cause that locklens doctor tests: {known.title}"
    return title, "", known.meaning, "", f"By hand: {known.check}"


def is_forbidden(variable: str) -> bool:
    """True for the environment variable of a setting that would hide a cause, so that no command exports it."""
    return variable == f"TF_{_NO_LIST.what.upper()}"


def remedy_title(remedy: Remedy) -> str:
    """Return what a remedy does in words, then its provider and roots where there are several."""
    return f"{remedy.title}: {remedy.subject}" if remedy.subject else remedy.title


def cause_title(cause: Cause) -> str:
    """Return a tested cause in words, with its provider and roots where there are several."""
    title = cause.title or BY_ID[cause.id].title
    return f"{cause.subject}: {title}" if cause.subject else title


def suggested_causes(rules: Iterable[str]) -> tuple[CauseId, ...]:
    """Return the causes that findings suggest."""
    return tuple(dict.fromkeys(cause.id for rule in rules for cause in CAUSES if rule in cause.rules))


def not_offered_for(causes: Sequence[Cause]) -> tuple[NotOffered, ...]:
    """Return the popular fixes that would hide what may be a cause."""
    possible = {cause.id for cause in causes if cause.verdict is not CauseVerdict.NO}
    rows = [row for row in CAUSES if row.id in possible]
    general = _ANY_BYTES if any(Trait.OF_HASHES in row.traits for row in rows) else ()
    return tuple(dict.fromkeys((*general, *(row.not_offered for row in rows if row.not_offered is not None))))
