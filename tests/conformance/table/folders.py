"""What is already installed, and where things are: data folders, `-chdir`."""

from __future__ import annotations

from functools import partial

from conformance.case import (
    HERE,
    LOCK_FILE,
    Case,
    Content,
    Deviation,
    Entry,
    Files,
    Link,
    Lock,
    Theme,
    Unpacked,
    init,
    lock,
    requires,
)
from conformance.table.locks import NO_H1
from msgspec.structs import replace

from locklens.demo.faults import Fault, FaultRule, Step

PINNED = requires(("acme/demo", "1.0.0"))
LOCKED = Entry("acme/demo", "1.0.0", "1.0.0")
FOLDER = ".terraform/providers/@HOST@/acme/demo/1.0.0"
PACKAGE = f"{FOLDER}/{HERE}"
PROGRAM = f"{PACKAGE}/terraform-provider-demo_v1.0.0"
DOWN = (FaultRule(Fault.SERVER_ERROR),)


def _there(entry: Entry | None = LOCKED, **more: Content) -> Files:
    """Installed, and locked where there is an entry."""
    files: Files = {"main.tf": PINNED, PACKAGE: Unpacked("acme/demo", "1.0.0")}
    return files | ({LOCK_FILE: Lock((entry,))} if entry else {}) | more


_installed = partial(Case, theme=Theme.INSTALLED)
INSTALLED = (
    _installed(name="as-locked", files=_there()),
    _installed(name="three-times", files={"main.tf": PINNED}, turns=(init(), init(), init("-upgrade"))),
    _installed(name="zh-only-lock", files=_there(replace(LOCKED, h1=()))),
    _installed(name="lock-without-hashes", files=_there(replace(LOCKED, h1=(), zh=()))),
    _installed(name="unknown-scheme-too", files=_there(replace(LOCKED, more=("h9:x",)))),
    _installed(name="not-locked", files=_there(None)),
    _installed(name="h1-of-others-only", files=_there(replace(LOCKED, h1=("darwin_arm64",), zh=()))),
    _installed(name="wrong-h1", files=_there(replace(LOCKED, h1=(), zh=(), more=(NO_H1,)))),
    _installed(name="wrong-h1-right-zh", files=_there(replace(LOCKED, h1=(), more=(NO_H1,)))),
    _installed(name="another-version-too", files={"main.tf": requires(("acme/demo", "1.0.1"))} | {
        PACKAGE: Unpacked("acme/demo", "1.0.0")}),
    _installed(name="unused-stays", files=_there() | {"main.tf": requires(("acme/other", "1.0.0"))}),
    _installed(name="older-edition", files={"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,)),
                                            PACKAGE: Unpacked("acme/demo", "1.0.0", edition="again")},
               deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="changed-program", files=_there() | {PROGRAM: "evil\n"}, deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="changed-program-not-locked", files=_there(None) | {PROGRAM: "evil\n"},
               deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="extra-file", files=_there() | {f"{PACKAGE}/extra": "x"}, deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="extra-file-not-locked", files=_there(None) | {f"{PACKAGE}/extra": "x"},
               deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="missing-file", files=_there() | {f"{PACKAGE}/LICENSE": None}, deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="changed-program-for-upgrade", files=_there() | {PROGRAM: "evil\n"}, turns=(init("-upgrade"),),
               deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="empty-folder", files={"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,)), f"{PACKAGE}/x": "", },
               turns=(init(files={f"{PACKAGE}/x": None}),)),
    _installed(name="file-in-its-place", files={"main.tf": PINNED, PACKAGE: "x"}, deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="link-to-the-same", files={"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,)),
                                               "elsewhere": Unpacked("acme/demo", "1.0.0"),
                                               PACKAGE: Link("@WORK@/elsewhere")}),
    _installed(name="link-to-another", files={"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,)),
                                              "elsewhere": Unpacked("acme/demo", "1.0.1"),
                                              PACKAGE: Link("@WORK@/elsewhere")}, deviation=Deviation.TAMPERED_FOLDER),
    _installed(name="registry-is-down", files=_there(), faults=DOWN, deviation=Deviation.NO_REGISTRY_NEEDED),
    _installed(name="provider-is-gone", files=_there(), faults=(FaultRule(Fault.NOT_FOUND, step=Step.VERSIONS),),
               deviation=Deviation.NO_REGISTRY_NEEDED),
    _installed(name="version-withdrawn", files=_there(), faults=(FaultRule(Fault.WITHDRAWN),),
               deviation=Deviation.NO_REGISTRY_NEEDED),
    _installed(name="registry-is-down-for-readonly", files=_there(), faults=DOWN, turns=(init("-lockfile=readonly"),),
               deviation=Deviation.NO_REGISTRY_NEEDED),
    _installed(name="registry-is-down-for-upgrade", files=_there(), faults=DOWN, turns=(init("-upgrade"),)),
    _installed(name="lock-does-not-look", files=_there(None) | {PROGRAM: "evil\n"}, turns=(lock(),)),
)  # fmt: skip

_places = partial(Case, theme=Theme.PLACES)
PLACES = (
    _places(name="data-folder", files={"main.tf": PINNED}, environment={"TF_DATA_DIR": "data"}, data="data"),
    _places(name="data-folder-absolute", files={"main.tf": PINNED}, environment={"TF_DATA_DIR": "@WORK@/a/b"}, data="a/b",
            turns=(init(), init())),
    _places(name="data-folder-with-modules", data="data", environment={"TF_DATA_DIR": "data"}, turns=(init(), lock()),
            files={"main.tf": 'module "m" {\n  source = "./m"\n}\n', "m/main.tf": PINNED}),
    _places(name="chdir", files={"sub/main.tf": PINNED}, turns=(), root="sub", data="sub/.terraform"),
    _places(name="chdir-and-data-folder", files={"sub/main.tf": PINNED}, turns=(), root="sub", data="sub/data",
            environment={"TF_DATA_DIR": "data"}),
    _places(name="space-in-the-name", files={"a b/main.tf": PINNED}, folder="a b", root="a b", data="a b/.terraform"),
    _places(name="lock-of-one-root-only", files={"main.tf": PINNED, "sub/main.tf": requires(("acme/other", ""))},
            folder="sub", root="sub", data="sub/.terraform"),
    _places(name="root-reached-by-a-link", files={"real/main.tf": PINNED, "link": Link("real")}, folder="link", root="real",
            data="real/.terraform"),
)  # fmt: skip
_CHDIR = tuple(replace(init(), words=("-chdir=sub", *turn.words)) for turn in (init(), lock("-platform=windows_amd64")))

CASES = (*INSTALLED, *(case if case.turns else replace(case, turns=_CHDIR) for case in PLACES))
