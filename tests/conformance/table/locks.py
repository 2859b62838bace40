"""A lock file that is there before: upgrades, readonly, hashes of every kind, and providers that are gone."""

from __future__ import annotations

from functools import partial

from conformance.case import HERE, LOCK_FILE, Case, Deviation, Entry, Files, Lock, Theme, Unpacked, init, lock, requires
from msgspec.structs import replace

from locklens.demo.faults import Fault, FaultRule

DEMO = requires(("acme/demo", "~> 1.0"))
PACKAGE = f".terraform/providers/@HOST@/acme/demo/1.1.0/{HERE}"

OLD = Entry("acme/demo", "1.1.0", "~> 1.0")
"""An entry as a full lock would have it; 1.2.0 is newer, 2.0.0 outside."""

NO_H1 = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
NO_ZH = "zh:" + "0" * 64


def locked(*entries: Entry, text: str = DEMO) -> Files:
    """A configuration and what is locked."""
    return {"main.tf": text, LOCK_FILE: Lock(entries)}


_upgrade = partial(Case, theme=Theme.UPGRADE)
UPGRADES = (
    _upgrade(name="not-asked-for", files=locked(OLD)),
    _upgrade(name="newest", files=locked(OLD), turns=(init("-upgrade"),)),
    _upgrade(name="newest-already", files=locked(replace(OLD, version="1.2.0")), turns=(init("-upgrade"),)),
    _upgrade(
        name="down-to-the-constraint",
        files=locked(replace(OLD, version="2.0.0", constraints=">= 2.0.0")),
        turns=(init(), init("-upgrade")),
    ),
    _upgrade(
        name="one-of-two-is-newest",
        files=locked(OLD, Entry("acme/other", "1.1.0"), text=requires(("acme/demo", "~> 1.0"), ("acme/other", ""))),
        turns=(init("-upgrade"),),
    ),
    _upgrade(
        name="same-version-wrong-hashes",
        files=locked(Entry("acme/demo", "1.2.0", "~> 1.0", h1=(), zh=(), more=(NO_H1,))),
        turns=(init("-upgrade"),),
    ),
    _upgrade(
        name="other-version-wrong-hashes",
        files=locked(replace(OLD, h1=(), zh=(), more=(NO_H1,))),
        turns=(init("-upgrade"),),
    ),
    _upgrade(name="same-version-zh-only", files=locked(replace(OLD, version="1.2.0", h1=())), turns=(init("-upgrade"),)),
    _upgrade(
        name="locked-prerelease-not-named",
        files=locked(replace(OLD, version="2.0.0-beta1", constraints=">= 1.0.0"), text=requires(("acme/demo", ">= 1.0"))),
        turns=(init(), init("-upgrade")),
    ),
    _upgrade(
        name="locked-prerelease-no-constraint",
        files=locked(Entry("acme/demo", "2.0.0-beta1"), text=requires(("acme/demo", ""))),
    ),
    _upgrade(
        name="locked-prerelease-named",
        files=locked(replace(OLD, version="2.0.0-beta1", constraints="2.0.0-beta1"),
                     text=requires(("acme/demo", "2.0.0-beta1"))),
        turns=(init(), init("-upgrade")),
    ),
    _upgrade(name="locked-zero", files=locked(Entry("acme/demo", "0.0.0"), text=requires(("acme/demo", "")))),
    _upgrade(name="exact-pin-edited", files=locked(replace(OLD, constraints="1.1.0"), text=requires(("acme/demo", "1.2.0"))),
             turns=(init(), init("-upgrade"))),
    _upgrade(name="orphan-goes", files=locked(OLD, Entry("acme/other", "1.0.0")), turns=(init("-upgrade"),)),
    _upgrade(name="locked-version-withdrawn", files=locked(OLD), turns=(init(), init("-upgrade")),
             faults=(FaultRule(Fault.WITHDRAWN, "acme/demo", "1.1.0"),)),
    _upgrade(name="newest-cannot-be-had", files=locked(OLD), turns=(init("-upgrade"),),
             faults=(FaultRule(Fault.BAD_SIGNATURE, "acme/demo", "1.2.0"),)),
    _upgrade(name="stale-constraints-of-the-other",
             files=locked(OLD, Entry("acme/other", "1.0.0", "~> 1.0"),
                          text=requires(("acme/demo", "~> 1.0"), ("acme/other", ">= 1.0, < 1.1"))),
             turns=(init("-upgrade"),)),
    _upgrade(name="stale-constraints-of-an-installed-one",
             files=locked(OLD, text=requires(("acme/demo", ">= 1.1"), ("acme/other", "")))
             | {PACKAGE: Unpacked("acme/demo", "1.1.0")}),
)  # fmt: skip

_readonly = partial(Case, theme=Theme.READONLY, turns=(init("-lockfile=readonly"),))
READONLY = (
    _readonly(name="no-change", files=locked(OLD)),
    _readonly(name="no-lock", files={"main.tf": DEMO}),
    _readonly(name="no-lock-no-providers", files={"main.tf": 'output "x" {\n  value = 1\n}\n'}),
    _readonly(name="new-provider", files=locked(OLD, text=requires(("acme/demo", ""), ("acme/other", "")))),
    _readonly(name="provider-gone", files=locked(OLD, Entry("acme/other", "1.0.0"))),
    _readonly(name="swapped", files=locked(Entry("acme/demo", "1.1.0"), text=requires(("acme/other", "1.0.0")))),
    _readonly(name="hashes-would-be-added", files=locked(replace(OLD, h1=())), deviation=Deviation.STRICT_READONLY),
    _readonly(
        name="hashes-would-be-dropped", files=locked(replace(OLD, more=("h9:x",))), deviation=Deviation.STRICT_READONLY
    ),
    _readonly(
        name="hashes-out-of-order",
        files={
            "main.tf": DEMO,
            LOCK_FILE: Lock((replace(OLD, zh=()),), edits=(("  hashes = [\n", f'  hashes = [\n    "{NO_ZH}",\n'),)),
        },
        deviation=Deviation.STRICT_READONLY,
    ),
    _readonly(name="constraint-changed", files=locked(OLD, text=requires(("acme/demo", ">= 1.0, < 1.2")))),
    _readonly(name="constraint-violated", files=locked(OLD, text=requires(("acme/demo", "~> 2.0")))),
    _readonly(name="with-upgrade", files=locked(OLD), turns=(init("-upgrade", "-lockfile=readonly"),)),
    _readonly(name="misspelt", files={"main.tf": DEMO}, turns=(init("-lockfile=read-only"),)),
    _readonly(name="wrong-hashes", files=locked(replace(OLD, h1=(), zh=(), more=(NO_H1, NO_ZH)))),
    _readonly(name="after-init", files={"main.tf": DEMO}, turns=(init(), init("-lockfile=readonly"))),
)

_hashes = partial(Case, theme=Theme.PRIOR_HASHES)
_PRIOR = {
    "zh-only": replace(OLD, h1=()),
    "h1-only": replace(OLD, zh=()),
    "one-zh-only": replace(OLD, h1=(), zh=(HERE,)),
    "none": replace(OLD, h1=(), zh=()),
    "unknown-scheme-only": replace(OLD, h1=(), zh=(), more=("h9:x", "zz:y")),
    "unknown-scheme-too": replace(OLD, more=("h9:x",)),
    "h1-of-others-only": replace(OLD, h1=("darwin_arm64", "windows_amd64"), zh=()),
    "h1-of-others-too": replace(OLD, h1=("darwin_arm64", HERE)),
    "zh-of-others-only": replace(OLD, h1=(), zh=("darwin_arm64",)),
    "wrong-h1-only": replace(OLD, h1=(), zh=(), more=(NO_H1,)),
    "wrong-zh-only": replace(OLD, h1=(), zh=(), more=(NO_ZH,)),
    "wrong-h1-right-zh": replace(OLD, h1=(), more=(NO_H1,)),
    "right-h1-wrong-zh": replace(OLD, zh=(), more=(NO_ZH,)),
    "wrong-and-right": replace(OLD, more=(NO_H1, NO_ZH)),
    "of-another-version": replace(OLD, of="1.0.0"),
    "of-another-edition": replace(OLD, edition="again"),
    "nonsense": replace(OLD, more=("zh:00", "h1:x")),
    "nonsense-only": replace(OLD, h1=(), zh=(), more=("zh:00",)),
}
_WITH_A_ZH_THAT_IS_GONE = {
    "wrong-zh-only", "right-h1-wrong-zh", "wrong-and-right", "of-another-version", "of-another-edition"
}  # fmt: skip
UPPER = (f"{NO_ZH.replace('0', 'a')}", NO_ZH.replace("0", "A"))
PRIOR_HASHES = (
    *(_hashes(name=name, files=locked(entry)) for name, entry in _PRIOR.items()),
    *(
        _hashes(
            name=f"{name}-for-lock",
            files=locked(entry),
            turns=(lock(),),
            deviation=Deviation.REPUBLISHED if name in _WITH_A_ZH_THAT_IS_GONE else Deviation.NONE,
        )
        for name, entry in _PRIOR.items()
    ),
    _hashes(
        name="out-of-order",
        files={"main.tf": DEMO, LOCK_FILE: Lock((OLD,), edits=(("hashes = [\n", f'hashes = [\n    "{UPPER[0]}",\n'),))},
    ),
    _hashes(
        name="twice-the-same",
        files={
            "main.tf": DEMO,
            LOCK_FILE: Lock((replace(OLD, more=("zh:b",)),), edits=(('    "zh:b",\n', '    "zh:b",\n    "zh:b",\n'),)),
        },
    ),
    _hashes(
        name="upper-case",
        files=locked(replace(OLD, h1=(), zh=(), more=(UPPER[1],))),
    ),
    _hashes(
        name="to-be-escaped",
        files={
            "main.tf": DEMO,
            LOCK_FILE: Lock((replace(OLD, h1=(), more=("h1:ESCAPES",)),),
                            edits=(("h1:ESCAPES", r"h1:$${x}\né\u0001%%{q\"\\"),)),
        },
    ),
    _hashes(
        name="republished-for-init",
        files=locked(OLD),
        faults=(FaultRule(Fault.REPUBLISHED, "acme/demo", "1.1.0"),),
        turns=(init(), init("-upgrade", files={"main.tf": requires(("acme/demo", "1.1.0"))})),
    ),
    _hashes(
        name="republished-for-lock",
        files=locked(OLD),
        faults=(FaultRule(Fault.REPUBLISHED, "acme/demo", "1.1.0"),),
        turns=(lock(),),
        deviation=Deviation.REPUBLISHED,
    ),
    _hashes(
        name="republished-h1-only-for-lock",
        files=locked(replace(OLD, zh=())),
        faults=(FaultRule(Fault.REPUBLISHED, "acme/demo", "1.1.0"),),
        turns=(lock(),),
    ),
    _hashes(
        name="one-wrong-of-two",
        files=locked(OLD, Entry("acme/other", "1.0.0", h1=(), zh=(), more=(NO_H1,)),
                     text=requires(("acme/demo", "~> 1.0"), ("acme/other", ""))),
    ),
    _hashes(
        name="one-zh-only-of-two",
        files=locked(OLD, Entry("acme/other", "1.0.0", h1=()),
                     text=requires(("acme/demo", "~> 1.0"), ("acme/other", ""))),
    ),
)  # fmt: skip

_orphans = partial(Case, theme=Theme.ORPHANS)
_TWO = requires(("acme/demo", "~> 1.0"), ("acme/other", "1.0.0"))
ORPHANS = (
    _orphans(name="removed", files={"main.tf": _TWO}, turns=(init(), init(files={"main.tf": DEMO}))),
    _orphans(
        name="all-removed",
        files={"main.tf": _TWO},
        turns=(init(), init(files={"main.tf": 'output "x" {\n  value = 1\n}\n'}), init()),
    ),
    _orphans(name="file-removed", files={"main.tf": _TWO}, turns=(init(), init(files={"main.tf": None}))),
    _orphans(name="never-required", files=locked(OLD, Entry("acme/third", "7.7.7", ">= 7.0.0"))),
    _orphans(name="kept-by-lock", files=locked(OLD, Entry("acme/third", "7.7.7", ">= 7.0.0")), turns=(lock(),)),
    _orphans(
        name="kept-by-lock-without-any-provider",
        files=locked(OLD, text='output "x" {\n  value = 1\n}\n'),
        turns=(lock(), init()),
    ),
    _orphans(name="of-the-other-host", files=locked(OLD, Entry("@OTHER@/corp/demo", "1.0.0"))),
    _orphans(name="moved-to-another-owner", files=locked(OLD, text=requires(("corp/demo", "~> 1.0")))),
    _orphans(
        name="kept-where-another-fails",
        files=locked(OLD, Entry("acme/third", "1.0.0"), text=requires(("acme/demo", "~> 1.0"), ("acme/other", "> 9"))),
    ),
)

CASES = (*UPGRADES, *READONLY, *PRIOR_HASHES, *ORPHANS)
