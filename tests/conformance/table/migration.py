"""From one tool to the other: what happens to entries of the other's registry."""

from __future__ import annotations

from functools import partial

from conformance.case import LOCK_FILE, Case, Catalog, Entry, Lock, Theme, Turn, calls, init, lock, requires

NULL = requires(("hashicorp/null", "~> 3.0"))
_BOTH: Catalog = {
    f"{host}{name}": versions
    for host in ("", "@OTHER@/")
    for name, versions in {
        "hashicorp/null": ("3.1.0", "3.2.0"), "hashicorp/random": ("3.5.0", "3.6.0"), "acme/demo": ("1.0.0", "1.1.0"),
    }.items()
}  # fmt: skip
OLD_NULL = Entry("@OTHER@/hashicorp/null", "3.1.0", "~> 3.0")
OLD_RANDOM = Entry("@OTHER@/hashicorp/random", "3.5.0")

_case = partial(Case, theme=Theme.MIGRATION, catalog=_BOTH)


def _case_of(name: str, *entries: Entry, text: str = NULL, turns: tuple[Turn, ...] = (init(), init())) -> Case:
    return _case(name=name, files={"main.tf": text, LOCK_FILE: Lock(entries)}, turns=turns)


CASES = (
    _case_of("required", OLD_NULL),
    _case_of("two-required", OLD_NULL, OLD_RANDOM, text=requires(("hashicorp/null", ""), ("hashicorp/random", ""))),
    _case_of("required-and-not", OLD_NULL, OLD_RANDOM),
    _case_of("nothing-required", OLD_NULL, text='output "x" {\n  value = 1\n}\n'),
    _case(name="no-configuration", files={LOCK_FILE: Lock((OLD_NULL,))}, turns=(init(), lock())),
    _case_of("upgrade", OLD_NULL, turns=(init("-upgrade"),)),
    _case_of("readonly", OLD_NULL, turns=(init("-lockfile=readonly"),)),
    _case_of("version-is-not-there", Entry("@OTHER@/hashicorp/null", "3.9.9")),
    _case_of("violated", Entry("@OTHER@/hashicorp/null", "3.1.0"), text=requires(("hashicorp/null", ">= 3.2"))),
    _case_of("already-there", OLD_NULL, Entry("hashicorp/null", "3.2.0", "~> 3.0")),
    _case_of("other-owner", Entry("@OTHER@/acme/demo", "1.0.0"), text=requires(("acme/demo", ""))),
    _case_of("still-required-by-its-old-address", OLD_NULL, text=requires(("@OTHER@/hashicorp/null", ""))),
    _case(name="required-by-both", turns=(init(), init()), files={
        "main.tf": NULL + calls("m", "./m"), LOCK_FILE: Lock((OLD_NULL,)), "m/main.tf": requires(("@OTHER@/hashicorp/null", "")),
    }),
    _case_of("for-lock", OLD_NULL, turns=(lock(), lock(), init())),
    _case_of("for-lock-with-arguments", OLD_NULL, turns=(lock("acme/demo"),),
             text=requires(("hashicorp/null", "~> 3.0"), ("acme/demo", ""))),
    _case_of("for-lock-by-its-old-address", OLD_NULL, turns=(lock("@OTHER@/hashicorp/null"),)),
    _case_of("hashes-that-are-wrong", Entry("@OTHER@/hashicorp/null", "3.1.0", h1=(), zh=(), more=("h1:x",))),
)  # fmt: skip
