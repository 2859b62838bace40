"""What is published and should not be trusted, or not read: signatures, keys, SHA256SUMS, packages."""

from __future__ import annotations

from functools import partial

from conformance.case import (
    HERE,
    LOCK_FILE,
    OPENTOFU,
    PLATFORMS,
    Case,
    Deviation,
    Entry,
    Lock,
    Theme,
    Unpacked,
    init,
    lock,
    requires,
)
from conformance.table.locks import OLD, locked
from msgspec.structs import replace

from locklens.demo.faults import Fault, FaultRule
from locklens.demo.published import SampleListing

DEMO = requires(("acme/demo", "~> 1.0"))
OWN = "reg.acme.test"
PACKAGE = f".terraform/providers/@HOST@/acme/demo/1.0.0/{HERE}"

FAULTS = (
    Fault.UNSIGNED, Fault.EXPIRED_KEY, Fault.REVOKED_KEY, Fault.EXPIRED_SIGNATURE, Fault.BAD_SIGNATURE,
    Fault.UNKNOWN_ISSUER, Fault.ARMORED_SIGNATURE, Fault.EMPTY_SIGNATURE, Fault.BROKEN_KEY, Fault.BAD_TRUST_SIGNATURE,
    Fault.SUMS_WITHOUT_PACKAGE, Fault.SUMS_WITH_BLANK_LINE, Fault.SUMS_WITH_ODD_LINE, Fault.SUMS_OF_BINARY_FILES,
    Fault.SUMS_OTHERWISE_SPELLED, Fault.OTHER_CHECKSUM, Fault.TAMPERED_PACKAGE, Fault.OTHER_SIGNER,
)  # fmt: skip
_ODD_SUMS = {Fault.SUMS_WITH_BLANK_LINE, Fault.SUMS_WITH_ODD_LINE}


def _deviation(fault: Fault) -> Deviation:
    return Deviation.ODD_SUMS if fault in _ODD_SUMS else Deviation.NONE


_EVERY = tuple(f"-platform={name}" for name in PLATFORMS)

_case = partial(Case, theme=Theme.AUTHENTICATION)
AUTHENTICATION = (
    *(
        _case(name=fault, files={"main.tf": DEMO}, faults=(FaultRule(fault),), deviation=_deviation(fault))
        for fault in FAULTS
    ),
    *(
        _case(
            name=f"{fault}-for-lock",
            files={"main.tf": DEMO},
            faults=(FaultRule(fault),),
            turns=(lock("-platform=linux_amd64", "-platform=darwin_arm64"),),
            deviation=_deviation(fault),
        )
        for fault in FAULTS
    ),
    *(
        _case(
            name=f"{fault}-of-another-host",
            files={"main.tf": requires((f"{OWN}/acme/demo", ""))},
            catalog={f"{OWN}/acme/demo": ("1.0.0",)},
            faults=(FaultRule(fault),),
        )
        for fault in (Fault.UNSIGNED, Fault.EXPIRED_KEY)
    ),
    *(
        _case(
            name=f"{fault}-enforced",
            files={"main.tf": DEMO},
            faults=(FaultRule(fault),),
            environment={f"OPENTOFU_ENFORCE_GPG_{what}": value},
            tools=(OPENTOFU.name,),
        )
        for fault, what, value in (
            (Fault.UNSIGNED, "VALIDATION", "true"),
            (Fault.EXPIRED_KEY, "EXPIRATION", "true"),
            (Fault.EXPIRED_SIGNATURE, "EXPIRATION", "true"),
        )
    ),
    _case(
        name="unsigned-enforced-by-another-word",
        files={"main.tf": DEMO},
        faults=(FaultRule(Fault.UNSIGNED),),
        environment={"OPENTOFU_ENFORCE_GPG_VALIDATION": "1"},
        tools=(OPENTOFU.name,),
    ),
    _case(
        name="expired-key-and-signature",
        files={"main.tf": DEMO},
        faults=(FaultRule(Fault.EXPIRED_KEY), FaultRule(Fault.EXPIRED_SIGNATURE)),
    ),
    _case(
        name="expired-key-bad-signature",
        files={"main.tf": DEMO},
        faults=(FaultRule(Fault.EXPIRED_KEY), FaultRule(Fault.BAD_SIGNATURE)),
    ),
    _case(name="other-signer-over-a-lock", files=locked(OLD), faults=(FaultRule(Fault.OTHER_SIGNER),)),
    _case(name="tampered-over-a-lock", files=locked(OLD), faults=(FaultRule(Fault.TAMPERED_PACKAGE),)),
    _case(
        name="odd-sums-over-a-zh-only-lock",
        files=locked(replace(OLD, h1=())),
        faults=(FaultRule(Fault.SUMS_WITH_ODD_LINE),),
        deviation=Deviation.ODD_SUMS,
    ),
    _case(
        name="not-asked-where-installed",
        files={
            "main.tf": requires(("acme/demo", "1.0.0")),
            LOCK_FILE: Lock((Entry("acme/demo", "1.0.0", "1.0.0"),)),
            PACKAGE: Unpacked("acme/demo", "1.0.0"),
        },
        faults=(FaultRule(Fault.BAD_SIGNATURE),),
    ),
    _case(
        name="one-of-two-bad",
        files={"main.tf": requires(("acme/demo", "~> 1.0"), ("acme/other", ""))},
        faults=(FaultRule(Fault.BAD_SIGNATURE, "acme/other"),),
    ),
    *(
        _case(
            name=f"registry-hashes-{name}",
            files={"main.tf": DEMO},
            tells_packages=True,
            turns=(turn,),
            faults=faults,
            tools=(OPENTOFU.name,),
            deviation=deviation,
        )
        for name, turn, faults, deviation in (
            ("init", init(), (), Deviation.NONE),
            ("lock", lock("-platform=linux_amd64"), (), Deviation.NONE),
            ("lock-for-all", lock(*_EVERY), (), Deviation.NONE),
            ("unsigned", init(), (FaultRule(Fault.UNSIGNED),), Deviation.NONE),
            ("unsigned-lock", lock(*_EVERY), (FaultRule(Fault.UNSIGNED),), Deviation.NONE),
            ("bad-signature", lock(), (FaultRule(Fault.BAD_SIGNATURE),), Deviation.NONE),
            ("tampered", init(), (FaultRule(Fault.TAMPERED_PACKAGE),), Deviation.NONE),
            ("other-zh", init(), (FaultRule(Fault.OTHER_REPORTED_ZH),), Deviation.NONE),
            ("other-zh-for-lock", lock(*_EVERY), (FaultRule(Fault.OTHER_REPORTED_ZH),), Deviation.NONE),
            ("other-h1", init(), (FaultRule(Fault.OTHER_REPORTED_H1),), Deviation.REGISTRY_HASHES),
        )
    ),
    _case(
        name="registry-hashes-enforced",
        files={"main.tf": DEMO},
        tells_packages=True,
        turns=(init(), lock(*_EVERY)),
        environment={"OPENTOFU_ENFORCE_GPG_VALIDATION": "true"},
        tools=(OPENTOFU.name,),
    ),
    _case(
        name="registry-hashes-over-a-lock",
        files=locked(replace(OLD, h1=())),
        tells_packages=True,
        turns=(init(), init("-upgrade")),
        tools=(OPENTOFU.name,),
    ),
    _case(
        name="registry-hashes-readonly",
        files=locked(OLD),
        tells_packages=True,
        turns=(init("-lockfile=readonly"),),
        tools=(OPENTOFU.name,),
    ),
    _case(
        name="registry-hashes-of-another-host",
        files={"main.tf": requires(("reg.acme.test/acme/demo", ""))},
        catalog={"reg.acme.test/acme/demo": ("1.0.0",)},
        reported={"reg.acme.test/acme/demo": "1.0.0"},
        turns=(init(), lock(*_EVERY)),
    ),
)

_odd = partial(Case, theme=Theme.ODD_PACKAGES, files={"main.tf": DEMO})
_UNSAFE = {
    "link",
    "link-out",
    "link-to-write-through",
    "escaping",
    "empty",
    "no-zip",
    "no-program",
    "program-in-folder",
}


def _odd_package(edition: str) -> dict[str, tuple[str | SampleListing, ...]]:
    return {"acme/demo": (SampleListing("1.0.0", (HERE,), edition=edition),)}


ODD_PACKAGES = (
    *(
        _odd(
            name=edition,
            catalog=_odd_package(edition),
            turns=(init(), init()),
            deviation=Deviation.SAFE_ZIP if edition in _UNSAFE else Deviation.NONE,
        )
        for edition in (
            "empty", "no-program", "program-in-folder", "no-mode-to-run", "other-modes", "folders", "unclean", "twice",
            "link", "link-out", "link-to-write-through", "escaping", "no-zip",
        )
    ),
    *(
        _odd(name=f"{edition}-for-lock", catalog=_odd_package(edition), turns=(lock(),),
             deviation=Deviation.SAFE_ZIP if edition in _UNSAFE else Deviation.NONE)
        for edition in ("empty", "no-program", "folders", "unclean", "link", "escaping", "no-zip")
    ),
    _odd(name="folders-over-its-own-h1", catalog=_odd_package("folders"),
         files=locked(Entry("acme/demo", "1.0.0", "~> 1.0", zh=(), edition="folders"))),
)  # fmt: skip

CASES = (*AUTHENTICATION, *ODD_PACKAGES)
