"""`providers lock`, platforms that are missing, and plugin protocols."""

from __future__ import annotations

from functools import partial

from conformance.case import LOCK_FILE, Case, Deviation, Entry, Lock, Theme, init, lock, requires
from conformance.table.locks import NO_H1, OLD, locked

from locklens.demo.faults import Fault, FaultRule
from locklens.demo.published import SampleListing

DEMO = requires(("acme/demo", "~> 1.0"))
TWO = requires(("acme/demo", "~> 1.0"), ("acme/other", ""))
ALL = ("-platform=darwin_arm64", "-platform=linux_amd64", "-platform=windows_amd64")

_lock = partial(Case, theme=Theme.LOCKING)
LOCKING = (
    _lock(name="here", files={"main.tf": DEMO}, turns=(lock(),)),
    _lock(name="every-platform", files={"main.tf": DEMO}, turns=(lock(*ALL),)),
    _lock(name="another-platform", files={"main.tf": DEMO}, turns=(lock("-platform=windows_amd64"),)),
    _lock(name="same-platform-twice", files={"main.tf": DEMO}, turns=(lock(ALL[0], ALL[0]),)),
    _lock(name="one-platform-after-the-other", files={"main.tf": DEMO}, turns=tuple(lock(one) for one in ALL)),
    _lock(name="twice", files={"main.tf": DEMO}, turns=(lock(*ALL), lock(*ALL))),
    _lock(name="then-init", files={"main.tf": DEMO}, turns=(lock(*ALL), init(), init())),
    _lock(name="of-others-then-init", files={"main.tf": DEMO}, turns=(lock(ALL[0]), init())),
    _lock(name="after-init", files={"main.tf": TWO}, turns=(init(), lock(*ALL))),
    _lock(name="only-one-provider", files={"main.tf": TWO}, turns=(lock("acme/demo"), lock("@HOST@/acme/other"))),
    _lock(name="two-named", files={"main.tf": TWO}, turns=(lock(ALL[0], "acme/other", "acme/demo"),)),
    _lock(name="named-but-not-required", files={"main.tf": DEMO}, turns=(lock("acme/other"),)),
    _lock(name="named-badly", files={"main.tf": DEMO}, turns=(lock("a//b"),)),
    _lock(name="named-built-in", files={"main.tf": DEMO + 'resource "terraform_data" "x" {}\n'},
          turns=(lock("terraform.io/builtin/terraform"),)),
    _lock(name="older-stays", files=locked(OLD), turns=(lock(),)),
    _lock(name="constraints-refreshed", files=locked(OLD, text=requires(("acme/demo", ">= 1.1"))), turns=(lock(),)),
    _lock(name="constraints-gone", files=locked(OLD, text=requires(("acme/demo", ""))), turns=(lock(),)),
    _lock(name="violated", files=locked(OLD, text=requires(("acme/demo", "~> 2.0"))), turns=(lock(),)),
    _lock(name="nothing-eligible", files={"main.tf": requires(("acme/demo", "> 9"))}, turns=(lock(),)),
    _lock(name="unknown-provider", files={"main.tf": requires(("acme/nothing", ""))}, turns=(lock(),)),
    _lock(name="one-of-two-unknown", files={"main.tf": requires(("acme/demo", ""), ("acme/nothing", ""))},
          turns=(lock(),)),
    _lock(name="withdrawn", files=locked(OLD), turns=(lock(),), faults=(FaultRule(Fault.WITHDRAWN, "acme/demo", "1.1.0"),)),
    _lock(name="comments-and-order", turns=(lock(),), files={
        "main.tf": TWO,
        LOCK_FILE: Lock((OLD, Entry("acme/other", "1.0.0")), before="# mine\n"),
    }),
    _lock(name="crlf", files={"main.tf": DEMO, LOCK_FILE: Lock((OLD,), newline="\r\n")}, turns=(lock(ALL[0]),),
          deviation=Deviation.KEEPS_CRLF),
    _lock(name="prerelease-locked-not-named", turns=(lock(),),
          files=locked(Entry("acme/demo", "2.0.0-beta1"), text=requires(("acme/demo", "")))),
    _lock(name="wrong-hash-stays", files=locked(Entry("acme/demo", "1.2.0", more=(NO_H1, "h9:x"))), turns=(lock(*ALL),)),
    _lock(name="configuration-broken", files={"main.tf": DEMO + "}\n"}, turns=(lock(),)),
    _lock(name="resources-only", files={"main.tf": 'resource "null_resource" "x" {}\n'}, turns=(lock(),)),
)  # fmt: skip

_NOT_HERE = ("darwin_arm64", "windows_amd64")
_platform = partial(Case, theme=Theme.PLATFORMS)
PLATFORMS = (
    _platform(name="not-built-for-this-one", files={"main.tf": DEMO}, catalog={"acme/demo": (SampleListing("1.0.0", _NOT_HERE),)}),
    _platform(name="newest-not-built-for-this-one", files={"main.tf": DEMO},
              catalog={"acme/demo": ("1.0.0", SampleListing("1.1.0", _NOT_HERE))}),
    _platform(name="locked-not-built-for-this-one", files=locked(Entry("acme/demo", "1.0.0", h1=("darwin_arm64",))),
              catalog={"acme/demo": (SampleListing("1.0.0", _NOT_HERE), "1.1.0")}),
    _platform(name="one-of-two-not-built", files={"main.tf": TWO},
              catalog={"acme/demo": ("1.0.0",), "acme/other": (SampleListing("1.0.0", _NOT_HERE),)}),
    _platform(name="one-of-two-platforms-for-lock", files={"main.tf": DEMO}, turns=(lock(ALL[1], "-platform=plan9_arm"),)),
    _platform(name="not-built-for-lock", files={"main.tf": DEMO}, turns=(lock("-platform=plan9_arm"),)),
    _platform(name="one-word", files={"main.tf": DEMO}, turns=(lock("-platform=linux"),)),
    _platform(name="three-words", files={"main.tf": DEMO}, turns=(lock("-platform=linux_arm_v6"),)),
    _platform(name="lock-for-others-where-this-one-is-missing", files={"main.tf": DEMO},
              catalog={"acme/demo": (SampleListing("1.0.0", _NOT_HERE),)}, turns=(lock(*ALL[::2]), init())),
    _platform(name="only-this-one", files={"main.tf": DEMO}, catalog={"acme/demo": (SampleListing("1.0.0", ("linux_amd64",)),)}),
)  # fmt: skip

_protocol = partial(Case, theme=Theme.PROTOCOLS, files={"main.tf": requires(("acme/demo", ""))})
_OLD, _NEW = ("4.0",), ("7.0",)
PROTOCOLS = (
    _protocol(name="six", catalog={"acme/demo": (SampleListing("1.0.0", protocols=("6.0",)),)}),
    _protocol(name="five-and-four", catalog={"acme/demo": (SampleListing("1.0.0", protocols=("4.0", "5.1")),)}),
    _protocol(name="six-point-nine", catalog={"acme/demo": (SampleListing("1.0.0", protocols=("6.9",)),)}),
    _protocol(name="none-said", catalog={"acme/demo": (SampleListing("1.0.0", protocols=()),)}),
    _protocol(name="too-old", catalog={"acme/demo": (SampleListing("1.0.0", protocols=_OLD),)}),
    _protocol(name="too-new", catalog={"acme/demo": (SampleListing("1.0.0", protocols=_NEW),)}),
    _protocol(name="newest-is-too-new", catalog={"acme/demo": ("1.0.0", "1.1.0", SampleListing("2.0.0", protocols=_NEW))}),
    _protocol(name="pinned-is-too-old", files={"main.tf": requires(("acme/demo", "1.0.0"))},
              catalog={"acme/demo": (SampleListing("1.0.0", protocols=_OLD), "2.0.0")}),
    _protocol(name="no-number", catalog={"acme/demo": (SampleListing("1.0.0", protocols=("five",)),)}),
    _protocol(name="too-new-for-lock", catalog={"acme/demo": ("1.0.0", SampleListing("2.0.0", protocols=_NEW))}, turns=(lock(),)),
)  # fmt: skip

CASES = (*LOCKING, *PLATFORMS, *PROTOCOLS)
