"""What each cause means, and how to check it by hand: the texts of `locklens explain CAUSE`."""

from __future__ import annotations

from locklens.doctor.model import CauseId
from locklens.doctor.report_words import TITLES_OF_CAUSES

_C = CauseId
_TEXTS = {
    _C.LOCK_SYNTAX: (
        "The tools refuse a lock file with an error in it, and install nothing.",
        "terraform init names file and line; git diff shows what changed there.",
    ),
    _C.BAD_MERGE: (
        "git merges lines, not blocks: it leaves markers, a provider twice, or hashes of two versions in one block.",
        "git log --merges -- .terraform.lock.hcl; locklens git install makes the next merge go block by block.",
    ),
    _C.NOT_LOCKED: (
        "The configuration, or a module in it, requires a provider, and the lock file was not updated with it.",
        "terraform providers lists what requires which provider; locklens why does so with file and line.",
    ),
    _C.CONSTRAINT_CONFLICT: (
        "The locked version does not satisfy the constraints as they are now, or no version satisfies all of them.",
        "locklens why PROVIDER lists each constraint with its place, and those that exclude one another.",
    ),
    _C.WRONG_SOURCE: (
        "The source address names a provider that its registry does not have, or does not show without a token.",
        "locklens why PROVIDER names the file and line that require it; compare it with the provider's documentation.",
    ),
    _C.HAND_EDIT: (
        "A version without its hashes, or a hash that no tool writes: the block says something that nobody locked.",
        "git log -p -- .terraform.lock.hcl shows a commit that changed the version and left the hashes.",
    ),
    _C.OTHER_TOOL: (
        "The registries of Terraform and OpenTofu have packages of their own, with different hashes.",
        "The first line of the lock file names the tool that wrote it, each block the registry.",
    ),
    _C.REPUBLISHED: (
        "The publisher, or someone with its access, replaced a version's packages, or what is locked never was of it.",
        "Compare the zh lines with the SHA256SUMS of the release, and ask the publisher in another channel.",
    ),
    _C.YANKED: (
        "The version or its package was taken back, or the source that is asked now never had it.",
        "curl https://registry.terraform.io/v1/providers/NAMESPACE/TYPE/versions lists what there is.",
    ),
    _C.H1_MISSING: (
        "Plugin caches and unpacked mirrors hold folders, which only an h1 identifies: that of the locking machine.",
        "Count the h1 lines of the block: one is enough for one platform only.",
    ),
    _C.PLATFORM_MISSING: (
        "The lock file was made for other platforms, or the release has no package for this one.",
        "Look for the zh of the platform's zip file in the block; SHA256SUMS names them.",
    ),
    _C.MIRROR_DIFFERS: (
        "A mirror holds another package under the version's name: rebuilt, damaged or altered.",
        "Hash its copy, and compare with the block: locklens verify, or doctor --package.",
    ),
    _C.MIRROR_LACKS: (
        "The places that provider_installation allows do not have the package, and a registry was not asked.",
        "Look for HOST/NAMESPACE/TYPE in the mirror; locklens mirror fills it from the signed release.",
    ),
    _C.CACHE_DIFFERS: (
        "The shared plugin cache holds another package, perhaps of another source or of a run that was cut.",
        "locklens verify compares it with the lock file.",
    ),
    _C.PLUGIN_CORRUPTED: (
        "A file in .terraform/providers was changed, added or removed after it was installed.",
        "locklens verify names the files; init replaces the folder.",
    ),
    _C.PLUGIN_MISSING: (
        "init did not run in this folder, or not since the lock file changed.",
        "Look into .terraform/providers for the version in the lock file.",
    ),
    _C.DOWNLOAD_DAMAGED: (
        "The file that arrived is not the one that was named: cut, empty, or altered on the way.",
        "Download it once more without a proxy, and compare its SHA-256 with the release's SHA256SUMS.",
    ),
    _C.PACKAGE_ALTERED: (
        "Each download gives the same bytes, and they are not those of the signed list: somebody changed the package.",
        "Download it from another network, and compare its SHA-256 with SHA256SUMS; tell the publisher.",
    ),
    _C.KEY_REVOKED: (
        "The owner took the signing key back, perhaps because it was stolen: nothing that it signed counts.",
        "Ask the publisher which key and which version replace it.",
    ),
    _C.KEY_EXPIRED: (
        "The key or the signature has expired. Terraform refuses expired signatures, OpenTofu warns.",
        "locklens keys shows the dates; the publisher has to sign again, or to extend the key.",
    ),
    _C.KEY_CHANGED: (
        "Another key than the listed one, or than before, made the signature: a rotation, or an attack.",
        "locklens keys --history shows earlier signers; compare all 40 digits with what the publisher announced.",
    ),
    _C.CREDENTIALS: (
        "The registry or mirror wants a token, or refuses the one that was sent.",
        "Look at the credentials block and at TF_TOKEN_ variables of the runner: _ stands for a dot, __ for a dash.",
    ),
    _C.PROXY_OR_CA: (
        "A proxy, a firewall or a certificate authority that the runner does not know stands before the registry.",
        "curl -v https://HOST/.well-known/terraform.json on the runner shows who answers.",
    ),
    _C.REGISTRY_DOWN: (
        "The registry failed or was not reachable. init asks it even where everything is installed.",
        "Its status page, and the same request from another network.",
    ),
}


def explain_cause(cause: CauseId) -> tuple[str, ...]:
    """Return the lines about a cause: its title, its meaning, and how to check it by hand."""
    meaning, check = _TEXTS[cause]
    title = TITLES_OF_CAUSES[cause]
    return f"{cause}  a cause that locklens doctor tests: {title}", "", meaning, "", f"By hand: {check}"
