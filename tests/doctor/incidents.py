"""Forty incidents, as both tools print them: what was wrong, what the registry does while it is diagnosed, and the cause.

The logs are recorded by `recording.py`. Every other one is read behind a prefix that nobody has seen before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from doctor.recording import HOST, INCIDENTS, Scene, qualified
from msgspec import Struct
from msgspec.structs import replace

from locklens.demo import PLATFORMS, lock_file, package_bytes
from locklens.demo.cases import OPENTOFU_HOST, requires, sample_entry
from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.incidents import SampleCopy, SampleIncident
from locklens.dialect import OPENTOFU

DEMO, NETBOX = f"{HOST}/acme/demo", f"{HOST}/acme/netbox"
DEMO_LOCK = sample_entry("acme/demo", "1.4.2", "~> 1.4")
NETBOX_LOCK = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
GENUINE = SampleCopy("live/prod/.terraform/providers", DEMO, "1.4.2")
_RANDOM_THERE = replace(
    sample_entry("hashicorp/random", "3.6.3", "~> 3.6"), provider=f"{OPENTOFU_HOST}/hashicorp/random"
)
INIT, PLAN, VALIDATE = ("init", "-no-color"), ("plan", "-no-color"), ("validate", "-no-color")


def _incident(lock: bytes, *required: tuple[str, str], **more: object) -> SampleIncident:
    """Returns an incident of one commit; `required` are NAMESPACE/TYPE and constraint."""
    constraints = required or (("acme/demo", "~> 1.4"),)
    return qualified(SampleIncident("", ("none",), (lock,), constraints, **more))  # type: ignore[arg-type]


def _module(folder: Path) -> None:
    """Has a module require what the root excludes."""
    root = folder / "live/prod"
    (root / "net").mkdir()
    (root / "net/versions.tf").write_text(requires((f"{HOST}/acme/demo", "< 1.4.0")), "utf-8")
    with (root / "main.tf").open("a", encoding="utf-8") as file:
        file.write('\nmodule "net" {\n  source = "./net"\n}\n')


def _packed_mirror(folder: Path) -> None:
    place = folder / "mirror" / DEMO
    place.mkdir(parents=True)
    data = package_bytes(DEMO, "1.4.2", "linux_amd64", "tampered")
    (place / "terraform-provider-demo_1.4.2_linux_amd64.zip").write_bytes(data)


def _two_roots(folder: Path) -> None:
    """Has another root lock the same version, with its own hashes."""
    other = folder / "live/stage"
    other.mkdir()
    (other / "main.tf").write_bytes((folder / "live/prod/main.tf").read_bytes())
    (other / ".terraform.lock.hcl").write_bytes(lock_file(replace(NETBOX_LOCK, version="3.10.0")))


def _other_host(folder: Path) -> None:
    """Has another root lock the other registry's packages, which the first one passes off as its own."""
    other = folder / "live/stage"
    other.mkdir()
    (other / ".terraform.lock.hcl").write_bytes(lock_file(_RANDOM_THERE, dialect=OPENTOFU))


def own_scenes() -> dict[str, Scene]:
    """Returns the scenes that are recorded beside those of `recording.py`."""
    whole = lock_file(DEMO_LOCK)
    with_each_h1 = lock_file(replace(DEMO_LOCK, unpacked=PLATFORMS))
    mac_alone = lock_file(replace(DEMO_LOCK, unpacked=("darwin_arm64",), packed=()))
    no_h1 = lock_file(replace(DEMO_LOCK, unpacked=()))
    edited = lock_file(replace(NETBOX_LOCK, version="3.10.0", hashes_of="3.9.1"))
    unlisted = lock_file(replace(NETBOX_LOCK, version="3.99.0", hashes_of="3.9.1"))
    older = replace(DEMO_LOCK, version="1.3.9")
    mixed = replace(
        DEMO_LOCK,
        unpacked=(),
        packed=("darwin_arm64", "windows_amd64"),
        more=(replace(older, packed=("linux_amd64",))).hashes()[:2],
    )
    cut = whole.replace(b'"h1:', b'"h1:x').replace(b'"zh:', b'"zh:0')
    cached = SampleCopy("cache", DEMO, "1.4.2", edition="tampered")
    breaking = (("TF_PLUGIN_CACHE_DIR", "FOLDER/cache"), ("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "true"))
    cut_short = (FaultRule(Fault.HTML, DEMO, step=Step.PACKAGE),)
    limited = (FaultRule(Fault.TOO_MANY_REQUESTS, HOST),)
    both = ("terraform", "opentofu")

    def scene(name: str, incident: SampleIncident, words: tuple[str, ...], kind: str, tools: tuple[str, ...] = both,
              prepare: Callable[[Path], None] = lambda _: None, **more: bool) -> Scene:  # fmt: skip
        kinds = {tool: kind if tool in tools else "" for tool in both}
        return Scene(name, incident, words, kinds, is_diagnosed=False, prepare=prepare, **more)

    history = replace(qualified(INCIDENTS["hand-edit"]), locks=(lock_file(older), lock_file(mixed)))
    found = (
        scene("locked-for-macs", _incident(mac_alone), INIT, "current-package"),
        scene("cache-of-macs", _incident(no_h1, copies=(replace(cached, edition=""),), variables=breaking), INIT, "shared-cache", ("terraform",)),
        scene("cache-altered", _incident(with_each_h1, copies=(cached,), variables=breaking), INIT, "shared-cache", ("terraform",)),
        scene("modules-clash", _incident(whole, ("acme/demo", "~> 1.4")), INIT, "lock-constraint", prepare=_module),
        scene("edited-and-excluded", _incident(edited, ("acme/netbox", "~> 3.9.0")), INIT, "lock-constraint"),
        scene("edited-to-nothing", _incident(unlisted, ("acme/netbox", "~> 3.9")), INIT, "version-gone"),
        scene("edited-elsewhere", _incident(edited, ("acme/netbox", "~> 3.9")), INIT, "current-package", prepare=_two_roots),
        scene("edited-hashes", _incident(cut), INIT, "current-package"),
        scene("mixed-hashes", replace(history, constraints=((DEMO, "~> 1.4"),)), INIT, "current-package"),
        scene("hosts-changed", qualified(INCIDENTS["other-tool"]), INIT, "current-package", prepare=_other_host),
        scene("packed-mirror", _incident(whole), INIT, "current-package", prepare=_packed_mirror, mirror=True),
        scene("altered-before-init", _incident(whole, copies=(replace(GENUINE, edition="tampered"),)), INIT, "cached-modified", ("opentofu",)),
        scene("copied-from-a-mac", _incident(lock_file(replace(DEMO_LOCK, unpacked=("darwin_arm64", "linux_amd64"))), copies=(replace(GENUINE, platform="darwin_arm64"),)), PLAN, "plugin-missing"),
        scene("validated", _incident(whole, ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"), copies=(GENUINE,)), VALIDATE, "provider-not-available"),
        scene("output", _incident(whole), ("output", "-no-color"), "plugin-missing"),
        scene("tested", _incident(with_each_h1, copies=(replace(GENUINE, edition="tampered"),)), ("test", "-no-color"), "cached-package", ("terraform",)),
        scene("schema", _incident(with_each_h1, copies=(replace(GENUINE, edition="tampered"),)), ("providers", "schema", "-json"), "cached-package"),
        scene("state-list", _incident(INCIDENTS["bad-merge"].locks[1]), ("state", "list"), "lock-invalid"),
        scene("read-only", _incident(whole, ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")), (*INIT, "-lockfile=readonly"), "readonly-changed"),
        scene("page-for-a-package", _incident(whole, rules=cut_short), INIT, "archive-checksum"),
        scene("too-many-requests", _incident(whole, rules=limited), INIT, "registry-failed"),
        scene("no-registry-there", _incident(whole), INIT, "registry-failed", is_reachable=False),
    )  # fmt: skip
    return {one.name: one for one in found}


class Told(Struct, frozen=True):
    """An incident as it is diagnosed.

    Attributes:
        tool: That printed the log.
        scene: Its name.
        cause: The cause that comes first.
        verdicts: Those that are right.
        is_online: False where no registry answers while it is diagnosed.
        options: Of `doctor`.
        words: In the evidence.
        also: A further cause that is certain: what the first one brings about.
    """

    tool: str
    scene: str
    cause: str
    verdicts: tuple[str, ...]
    is_online: bool = True
    options: tuple[str, ...] = ()
    words: str = ""
    also: str = ""


YES, LIKELY, EITHER, OPEN = ("yes",), ("likely",), ("yes", "likely"), ("unknown",)
MIRROR = ("--mirror", "mirror")
LINUX = ("--platform", "linux_amd64")
TF, OT = "terraform", "opentofu"

TOLD = (
    Told(TF, "h1-missing", "h1-missing", EITHER, options=LINUX),
    Told(OT, "h1-missing", "h1-missing", EITHER, False, LINUX),
    Told(TF, "h1-missing", "h1-missing", LIKELY, False, (*MIRROR, *LINUX), words="locks the h1 of mirror/"),
    Told(TF, "mirror-differs", "mirror-differs", EITHER, options=(*MIRROR, *LINUX, "--prove", "changed")),
    Told(OT, "mirror-differs", "mirror-differs", LIKELY, False, (*MIRROR, *LINUX)),
    Told(TF, "platform-missing", "platform-missing", EITHER, options=LINUX),
    Told(OT, "platform-missing", "platform-missing", LIKELY, False, LINUX, words="only 2 zh of packages"),
    Told(TF, "republished", "republished", LIKELY, options=LINUX),
    Told(OT, "republished", "republished", OPEN, False),
    Told(TF, "hand-edit", "hand-edit", YES, words="has the hashes of 3.9.1"),
    Told(OT, "hand-edit", "hand-edit", YES, False, words="has the hashes of 3.9.1"),
    Told(TF, "other-tool", "other-tool", YES),
    Told(
        OT,
        "hosts-changed",
        "other-tool",
        LIKELY,
        False,
        words="live/stage/.terraform.lock.hcl locks the same 5 zh of packages",
    ),
    Told(TF, "bad-merge", "bad-merge", YES, False),
    Told(OT, "lock-syntax", "lock-syntax", YES),
    Told(TF, "constraint-conflict", "constraint-conflict", YES, False),
    Told(OT, "not-locked", "not-locked", YES, False),
    Told(TF, "plugin-missing", "plugin-missing", YES),
    Told(OT, "plugin-corrupted", "plugin-corrupted", EITHER, False, MIRROR),
    Told(TF, "key-expired", "key-expired", YES, False),
    Told(OT, "key-revoked", "key-revoked", YES),
    Told(TF, "key-changed", "key-changed", LIKELY, False),
    Told(OT, "key-changed", "key-changed", YES),
    Told(TF, "yanked", "yanked", LIKELY, False),
    Told(OT, "yanked", "yanked", YES),
    Told(TF, "registry-down", "registry-down", YES),
    Told(OT, "credentials", "credentials", LIKELY, False),
    Told(TF, "locked-for-macs", "platform-missing", LIKELY, False, LINUX, words="as from a mirror or a cache"),
    Told(TF, "cache-of-macs", "h1-missing", YES, False, words="only 5 zh of packages"),
    Told(TF, "cache-altered", "cache-differs", EITHER, False, LINUX),
    Told(OT, "modules-clash", "constraint-conflict", YES, False, words="live/prod/net/versions.tf:5 (module net)"),
    Told(
        TF, "edited-and-excluded", "hand-edit", YES, words="are of the signed release 3.9.1", also="constraint-conflict"
    ),
    Told(OT, "edited-to-nothing", "hand-edit", YES, words="are of the signed release 3.9.1"),
    Told(TF, "edited-elsewhere", "hand-edit", LIKELY, words="the log does not say"),
    Told(OT, "edited-hashes", "hand-edit", YES, False, words="no tool writes such a hash as h1:x"),
    Told(TF, "mixed-hashes", "bad-merge", EITHER, words="accepts packages of both versions"),
    Told(OT, "packed-mirror", "mirror-differs", EITHER, False, (*MIRROR, *LINUX)),
    Told(OT, "altered-before-init", "plugin-corrupted", EITHER, False),
    Told(TF, "copied-from-a-mac", "plugin-missing", YES, False, LINUX, words="installed for darwin_arm64 alone"),
    Told(OT, "validated", "not-locked", YES, False),
    Told(TF, "output", "plugin-missing", YES, False),
    Told(TF, "tested", "plugin-corrupted", EITHER, False),
    Told(OT, "schema", "plugin-corrupted", EITHER),
    Told(TF, "state-list", "bad-merge", YES, False),
    Told(OT, "read-only", "not-locked", YES),
    Told(TF, "page-for-a-package", "download-damaged", EITHER),
    Told(OT, "too-many-requests", "registry-down", YES, False),
    Told(TF, "no-registry-there", "registry-down", LIKELY, False),
)
