"""Lock files that cannot be read, or only just."""

from __future__ import annotations

from functools import partial

from conformance.case import LOCK_FILE, Case, Content, Deviation, Entry, Files, Link, Lock, Theme, init, lock, requires
from conformance.table.locks import OLD

DEMO = requires(("acme/demo", "~> 1.0"))


def block(body: str, label: str = '"@HOST@/acme/demo"') -> str:
    """Returns a provider block."""
    return f"provider {label} {{\n{body}\n}}\n"


_V, _C = 'version = "1.1.0"', 'constraints = "~> 1.0"'
_MARKERS = (
    ('  version     = "1.1.0"\n',
     '<<<<<<< HEAD\n  version     = "1.1.0"\n=======\n  version     = "1.2.0"\n>>>>>>> other\n'),
)  # fmt: skip

REFUSED: dict[str, Content] = {
    "conflict-markers": Lock((OLD,), edits=_MARKERS),
    "cut-short": Lock((OLD,), edits=(("  ]\n}\n", ""),)),
    "no-hcl": "this is no lock file\n",
    "json": '{"provider": {}}\n',
    "unknown-block": block(_V) + "foo {\n}\n",
    "unknown-attribute": block(_V + "\nfoo = 1"),
    "attribute-at-the-root": "version = 1\n",
    "nested-block": block(_V + "\nfoo {\n}"),
    "no-label": block(_V, ""),
    "two-labels": block(_V, '"a" "b"'),
    "unquoted-label": block(_V, "demo"),
    "short-label": block(_V, '"acme/demo"'),
    "label-in-capitals": block(_V, '"@HOST@/Acme/demo"'),
    "label-with-port": block(_V, '"@HOST@:443/acme/demo"'),
    "label-that-is-no-address": block(_V, '"a/b/c/d"'),
    "label-with-interpolation": block(_V, '"${x}/acme/demo"'),
    "twice-the-same-provider": block(_V) + block(_V),
    "no-version": block(_C),
    "version-null": block("version = null"),
    "version-number": block("version = 1"),
    "version-short": block('version = "1.1"'),
    "version-with-v": block('version = "v1.1.0"'),
    "version-is-a-constraint": block('version = ">= 1.1.0"'),
    "constraints-not-canonical": block(f'{_V}\nconstraints = "~>1.0"'),
    "constraints-in-wrong-order": block(f'{_V}\nconstraints = "< 2.0.0, >= 1.0.0"'),
    "constraints-no-constraint": block(f'{_V}\nconstraints = "foo"'),
    "constraints-null": block(f"{_V}\nconstraints = null"),
    "hashes-empty": block(f"{_V}\nhashes = []"),
    "hashes-no-list": block(f'{_V}\nhashes = "h1:x"'),
    "hash-without-scheme": block(f'{_V}\nhashes = ["abc"]'),
    "hash-null": block(f"{_V}\nhashes = [null]"),
    "attribute-twice": block(f"{_V}\n{_V}"),
    "invalid-utf8": b'provider "\xff" {\n}\n',
}
ACCEPTED: dict[str, Content] = {
    "empty": "",
    "comment-only": "# nothing here\n",
    "crlf": Lock((OLD,), newline="\r\n"),
    "byte-order-mark": Lock((OLD,), before="\ufeff"),
    "one-line": block(_V).replace("\n", " ").replace("}", "}\n"),
    "comments-everywhere": Lock((OLD,), before="/* mine */\n"),
    "module-block": Lock((OLD,), before='module "x" {\n  anything = goes\n}\n'),
    "escapes-in-the-label": block(_V, '"@HOST@/ac\\u006de/demo"'),
    "interpolated-version": block('version = "1.${1}.0"'),
    "constraints-empty": block(f'{_V}\nconstraints = ""'),
    "constraints-that-exclude-it": block(f'{_V}\nconstraints = ">= 9.0.0"'),
    "hashes-on-one-line": block(f'{_V}\nhashes = ["h9:x", "h9:y"]'),
    "other-header": Lock((OLD,), edits=(('by "@COMMAND@ init"', 'by "another init"'),)),
}

_case = partial(Case, theme=Theme.BROKEN_LOCK)


def _files(content: Content) -> Files:
    return {"main.tf": DEMO, LOCK_FILE: content}


CASES = (
    *(_case(name=name, files=_files(content)) for name, content in REFUSED.items()),
    *(
        _case(name=f"{name}-for-lock", files=_files(REFUSED[name]), turns=(lock(),))
        for name in ("conflict-markers", "no-hcl", "twice-the-same-provider", "version-short", "hashes-empty")
    ),
    *(
        _case(name=f"{name}-without-backend", files=_files(REFUSED[name]), turns=(init("-backend=false"),))
        for name in ("conflict-markers", "hash-without-scheme")
    ),
    _case(name="conflict-markers-for-upgrade", files=_files(REFUSED["conflict-markers"]), turns=(init("-upgrade"),)),
    *(_case(name=name, files=_files(content)) for name, content in ACCEPTED.items()),
    *(
        _case(
            name=f"{name}-rewritten",
            files=_files(ACCEPTED[name]),
            turns=(init("-upgrade"),),
            deviation=Deviation.KEEPS_CRLF if name == "crlf" else Deviation.NONE,
        )
        for name in ("crlf", "byte-order-mark", "comments-everywhere", "module-block", "other-header")
    ),
    _case(name="folder", files={"main.tf": DEMO, f"{LOCK_FILE}/x": ""}),
    _case(name="dangling-link", files={"main.tf": DEMO, LOCK_FILE: Link("gone")}),
    _case(
        name="link-that-is-rewritten",
        files={"main.tf": DEMO, "there.hcl": Lock((Entry("acme/demo", "1.0.0"),)), LOCK_FILE: Link("there.hcl")},
        turns=(init("-upgrade"),),
    ),
)
