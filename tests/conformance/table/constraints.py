"""Constraints: every operator, what is canonical, pre-releases, build metadata, 0.0.0, and text that is no constraint."""

from __future__ import annotations

from conformance.case import Case, Files, Theme, init, requires

MANY = (
    "0.9.0", "1.0.0", "1.0.1", "1.1.0", "1.2.0", "1.2.3", "1.2.9", "1.3.0-beta1", "1.3.0", "1.10.0",
    "2.0.0-alpha", "2.0.0-beta1", "2.0.0", "2.1.0", "3.0.0-rc.1",
)  # fmt: skip
ODD = (
    "0.0.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1+b1",
    "1.1.0-1", "1.1.0-01",
)  # fmt: skip

OF_MANY = {
    "none": "",
    "bare": "1.2.3",
    "equal": "= 1.2",
    "equal-one-number": " 1 ",
    "leading-zeros": "01.02.3",
    "dangling-dash": "1.2.3-",
    "not-equal": "!= 2.1",
    "greater": "> 1",
    "greater-than-all": "> 2.1.0",
    "at-least": ">= 2",
    "less": "< 2",
    "at-most": "<= 1.2",
    "pessimistic-one": "~> 1",
    "pessimistic-two": "~> 1.2",
    "pessimistic-three": "~>1.2.0",
    "pessimistic-prerelease": "~> 2.0.0-beta1",
    "range": ">= 1.0, < 2.0",
    "range-with-hole": ">= 1.0,< 2.0 , != 1.10.0",
    "two-pessimistic": "~> 1.2, ~> 1.2.0",
    "contradiction": "> 2, < 2",
    "two-exact": "1.2.3, 1.2.9",
    "same-twice": ">= 2, >=2.0, >= 2.0.0",
    "sorted-canonically": "~> 2, ~> 2.0, >= 2, = 2, <= 2.0, > 1, < 3, != 3, > 1.0.0-beta, >= 1.0.0+b, >= 1.0.0+a.1",
    "prerelease-bound": "> 2.0.0-alpha, < 2.0.0",
    "prerelease-exact": "2.0.0-beta1",
    "prerelease-exact-with-range": "2.0.0-beta1, >= 1.0",
    "prerelease-outside-pessimistic": "2.0.0-beta1, ~> 2.0",
    "prerelease-other-case": "2.0.0-BETA1",
    "newest-prerelease": ">= 3.0.0-rc.1",
    "metadata-not-there": "1.2.3+b",
    "metadata-of-a-bound": "~> 1.2.3+x",
    "empty": "",
    "wildcard": "1.2.*",
    "caret": "^1.2",
    "double-equal": "==1.0",
    "trailing-comma": ">= 1.0,",
    "word": "latest",
    "v-prefix": "v1.2.3",
    "two-spaces": ">=  1.0",
    "four-numbers": "1.2.3.4",
    "no-dash": "1.0beta1",
}
OF_ODD = {
    "odd-none": "",
    "odd-prerelease-order": "1.0.0-beta, < 1.0.0-alpha.1",
    "odd-prerelease-numbers": "1.0.0-beta.11, > 1.0.0-beta.2",
    "odd-leading-zero": "1.1.0-01, > 1.1.0-1",
    "odd-metadata-exact": "1.0.1+b1",
    "odd-metadata-other": "1.0.1+b2",
    "odd-metadata-ignored": "= 1.0.1",
    "odd-metadata-bound": "<= 1.0.1",
    "zero": "0.0.0",
    "zero-with-range": "<= 0.0.0",
}


def _files(name: str, constraint: str) -> Files:
    block = requires(("acme/demo", constraint))
    if name == "empty":
        block = block.replace('"acme/demo"\n', '"acme/demo"\n      version = ""\n')
    return {"main.tf": block}


CASES = (
    *(
        Case(theme=Theme.CONSTRAINTS, name=name, files=_files(name, text), catalog={"acme/demo": versions})
        for versions, texts in ((MANY, OF_MANY), (ODD, OF_ODD))
        for name, text in texts.items()
    ),
    Case(
        theme=Theme.CONSTRAINTS,
        name="only-prereleases",
        files={"main.tf": requires(("acme/demo", ""))},
        catalog={"acme/demo": ("1.0.0-rc1", "1.0.0-rc2")},
    ),
    Case(
        theme=Theme.CONSTRAINTS,
        name="one-fails-the-other-is-installed",
        files={"main.tf": requires(("acme/demo", "> 9"), ("acme/other", "~> 1.0"))},
    ),
    Case(
        theme=Theme.CONSTRAINTS,
        name="three-providers",
        files={
            "main.tf": requires(("acme/demo", "~> 1.0"), ("acme/other", "0.9.0"), ("corp/demo", ">= 1")).replace(
                'demo = {\n      source  = "corp', 'corp = {\n      source  = "corp'
            )
        },
    ),
    Case(
        theme=Theme.CONSTRAINTS,
        name="not-a-string",
        files={"main.tf": "terraform {\n  required_providers {\n    demo = {\n      version = 1\n    }\n  }\n}\n"},
    ),
    Case(
        theme=Theme.CONSTRAINTS,
        name="two-names-one-address",
        files={
            "main.tf": 'terraform {\n  required_providers {\n    demo = { source = "acme/demo", version = ">= 1.0.1" }\n'
            '    again = { source = "@HOST@/ACME/demo", version = "< 1.2" }\n  }\n}\n'
        },
    ),
    Case(
        theme=Theme.CONSTRAINTS,
        name="edited-but-satisfied",
        files={"main.tf": requires(("acme/demo", "~> 1.0"))},
        turns=(init(), init(files={"main.tf": requires(("acme/demo", ">= 1.0, < 2.0"))})),
    ),
    Case(
        theme=Theme.CONSTRAINTS,
        name="edited-and-violated",
        files={"main.tf": requires(("acme/demo", "~> 1.0"))},
        turns=(init(), init(files={"main.tf": requires(("acme/demo", "~> 2.0"))})),
    ),
)
