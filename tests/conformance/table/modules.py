"""Modules and what they require together, override files, JSON configuration, and the manifest of modules."""

from __future__ import annotations

import json
from functools import partial

from conformance.case import Case, Deviation, Files, Theme, calls, init, lock, requires

DEMO = requires(("acme/demo", "~> 1.0"))


def manifest(*modules: tuple[str, str, str]) -> str:
    """Returns a modules.json with the root and (key, source, folder)."""
    records = [{"Key": "", "Source": "", "Dir": "."}]
    records += [{"Key": key, "Source": source, "Dir": folder} for key, source, folder in modules]
    return json.dumps({"Modules": records}, separators=(",", ":"))


MANIFEST = ".terraform/modules/modules.json"


def _tree(root: str, **modules: str) -> Files:
    """A root that calls each module, which is in a folder of that name."""
    text = root + "".join(calls(name, f"./{name}") for name in modules)
    return {"main.tf": text, **{f"{name}/main.tf": content for name, content in modules.items()}}


_modules = partial(Case, theme=Theme.MODULES)
MODULES = (
    _modules(name="one-narrower", files=_tree(DEMO, child=requires(("acme/demo", ">= 1.0.0, < 1.2.0")))),
    _modules(name="only-the-child", files=_tree("", child=DEMO)),
    _modules(name="child-pins", files=_tree(requires(("acme/demo", ">= 1.0")), child=requires(("acme/demo", "1.0.1")))),
    _modules(name="conflict", files=_tree(requires(("acme/demo", "~> 1.0")), child=requires(("acme/demo", ">= 2.0")))),
    _modules(
        name="three-of-which-two-conflict",
        files=_tree(
            requires(("acme/demo", ">= 1.0")),
            one=requires(("acme/demo", "~> 1.0")),
            two=requires(("acme/demo", ">= 1.1")),
            three=requires(("acme/demo", "> 1.2.0")),
        ),
    ),
    _modules(
        name="prerelease-named-by-the-child",
        files=_tree(requires(("acme/demo", ">= 1.0")), child=requires(("acme/demo", "2.0.0-beta1"))),
    ),
    _modules(
        name="grandchildren",
        files={
            "main.tf": calls("a", "./a"),
            "a/main.tf": calls("b", "./b") + calls("c", "../c"),
            "a/b/main.tf": requires(("acme/other", "< 1.1")),
            "c/main.tf": requires(("acme/demo", "~> 1.0")) + 'resource "other_thing" "x" {\n  provider = demo\n}\n',
        },
    ),
    _modules(
        name="above-the-root",
        files={
            "root/main.tf": calls("up", "../up"),
            "up/main.tf": DEMO,
        },
        folder="root",
        root="root",
        data="root/.terraform",
    ),
    _modules(
        name="never-called-count",
        files={"main.tf": 'module "child" {\n  source = "./child"\n  count  = 0\n}\n', "child/main.tf": DEMO},
    ),
    _modules(name="not-called", files={"main.tf": DEMO, "child/main.tf": requires(("acme/other", ""))}),
    _modules(
        name="child-does-not-see-the-name",
        files=_tree(
            requires(("acme/demo", "")).replace("demo = {", "null = {"), child='resource "null_resource" "x" {}\n'
        ),
    ),
    _modules(
        name="providers-handed-down",
        files={
            "main.tf": DEMO
            + 'module "child" {\n  source    = "./child"\n  providers = { demo.a = demo.other }\n}\n'
            + 'provider "demo" {\n  alias = "other"\n}\n',
            "child/main.tf": 'terraform {\n  required_providers {\n    demo = {\n      source = "acme/demo"\n'
            "      configuration_aliases = [demo.a]\n    }\n  }\n}\n",
        },
    ),
    _modules(
        name="same-module-twice",
        files={"main.tf": calls("one", "./child") + calls("two", "./child"), "child/main.tf": DEMO},
    ),
    _modules(name="missing-folder", files={"main.tf": calls("gone", "./gone") + DEMO}),
    _modules(name="broken-child", files=_tree(DEMO, child="resource {\n")),
    _modules(name="broken-root", files=_tree(DEMO + "}\n", child=DEMO)),
    _modules(name="folder-called-main", files={"main.tf/x.txt": "", "real.tf": DEMO}),
    _modules(name="two-blocks", files={"a.tf": DEMO, "b.tf": requires(("acme/other", ""))}),
    _modules(name="empty-child", files={"main.tf": DEMO + calls("child", "./child"), "child/README": ""}),
    _modules(name="byte-order-mark", files={"main.tf": "\ufeff" + DEMO}),
    _modules(name="crlf", files={"main.tf": DEMO.replace("\n", "\r\n")}),
    _modules(name="hidden-and-backup-files", files={"main.tf": DEMO, ".x.tf": "!", "y.tf~": "!", "#z.tf#": "!"}),
    _modules(name="tofu-files", files={"main.tf": DEMO, "main.tofu": requires(("acme/other", ""))}),
    _modules(
        name="required-version-not-met",
        files={"main.tf": DEMO.replace("terraform {", 'terraform {\n  required_version = "> 99"', 1)},
        deviation=Deviation.REQUIRED_VERSION,
    ),
    _modules(
        name="required-version-met",
        files={"main.tf": DEMO.replace("terraform {", 'terraform {\n  required_version = "> 1.0"', 1)},
    ),
)  # fmt: skip

_overrides = partial(Case, theme=Theme.OVERRIDES)
OVERRIDES = (
    _overrides(
        name="replaces-the-constraint", files={"main.tf": DEMO, "override.tf": requires(("acme/demo", "1.0.0"))}
    ),
    _overrides(
        name="loses-the-source",
        files={
            "main.tf": requires(("acme/null", ">= 1.0")),
            "x_override.tf": 'terraform {\n  required_providers {\n    null = { version = "3.1.0" }\n  }\n}\n',
        },
    ),
    _overrides(
        name="the-last-wins",
        files={
            "main.tf": DEMO,
            "a_override.tf": requires(("acme/demo", "1.0.0")),
            "override.tf": requires(("acme/demo", "1.0.1")),
            "z_override.tf.json": '{"terraform":{"required_providers":{"demo":{"source":"acme/demo","version":"1.1.0"}}}}',
        },
    ),
    _overrides(name="adds-a-provider", files={"main.tf": DEMO, "override.tf": requires(("acme/other", ""))}),
    _overrides(name="without-any-base", files={"override.tf": DEMO}),
    _overrides(name="provider-without-base", files={"main.tf": "", "override.tf": 'provider "null" {}\n'}),
    _overrides(
        name="module-source",
        files={
            "main.tf": calls("child", "./one"),
            "override.tf": calls("child", "./two"),
            "one/main.tf": DEMO,
            "two/main.tf": requires(("acme/other", "")),
        },
    ),
    _overrides(
        name="resource-provider",
        files={
            "main.tf": 'resource "null_resource" "x" {}\n',
            "override.tf": requires(("acme/demo", "")) + 'resource "null_resource" "x" {\n  provider = demo\n}\n',
        },
    ),
    _overrides(name="resource-without-base", files={"main.tf": DEMO, "override.tf": 'resource "null_x" "x" {}\n'}),
    _overrides(
        name="in-a-child",
        files={
            "main.tf": calls("child", "./child"),
            "child/main.tf": DEMO,
            "child/child_override.tf": requires(("acme/demo", "1.0.1")),
        },
    ),
)

_json = partial(Case, theme=Theme.JSON)
JSON = (
    _json(
        name="plain",
        files={
            "main.tf.json": '{"terraform":{"required_providers":{"demo":{"source":"acme/demo","version":"~> 1.0"}}}}'
        },
    ),
    _json(
        name="beside-native",
        files={
            "main.tf": DEMO,
            "more.tf.json": '{"//":"said","resource":[{"null_resource":{"x":[{"//":1}]}}],"module":{"m":{"source":"./m"}}}',
            "m/main.tf.json": '[{"terraform":[{"required_providers":[{"demo":{"source":"acme/demo","version":"< 1.2"}}]}]}]',
        },
    ),
    _json(
        name="provider-reference",
        files={
            "main.tf.json": '{"terraform":{"required_providers":{"demo":"~> 1.0","o":{"source":"acme/other"}}},'
            '"resource":{"null_resource":{"x":{"provider":"o.west"}}},"provider":{"o":{"alias":"west"}}}'
        },
        catalog={"hashicorp/demo": ("1.0.0", "1.4.0", "2.0.0"), "acme/other": ("1.0.0",)},
    ),
    _json(
        name="two-blocks",
        files={"main.tf.json": '{"terraform":{"required_providers":[{"a":{"source":"acme/demo"}},{}]}}'},
    ),
    _json(name="byte-order-mark", files={"main.tf.json": "\ufeff{}"}),
    _json(name="comment", files={"main.tf.json": '{"terraform":{} /* no */}'}),
    _json(name="empty-file", files={"main.tf.json": "", "real.tf": DEMO}),
    _json(
        name="interpolation",
        files={
            "main.tf.json": '{"terraform":{"required_providers":{"demo":{"source":"acme/demo","version":"${\\"1.0.0\\"}"}}}}'
        },
    ),
)

_record = partial(Case, theme=Theme.MANIFEST)
_CHILD: Files = {"main.tf": DEMO + calls("child", "./child"), "child/main.tf": requires(("acme/demo", "< 1.2"))}
MANIFESTS = (
    _record(name="present", files=_CHILD | {MANIFEST: manifest(("child", "./child", "child"))}, turns=(lock(),)),
    _record(name="absent-for-lock", files=_CHILD, turns=(lock(),), deviation=Deviation.LOCAL_MODULES),
    _record(name="absent-without-get", files=_CHILD, turns=(init("-get=false"),), deviation=Deviation.LOCAL_MODULES),
    _record(
        name="stale-source-for-lock",
        files=_CHILD | {"old/main.tf": "", MANIFEST: manifest(("child", "./old", "old"))},
        turns=(lock(),),
        deviation=Deviation.LOCAL_MODULES,
    ),
    _record(
        name="stale-source-for-init", files=_CHILD | {"old/main.tf": "", MANIFEST: manifest(("child", "./old", "old"))}
    ),
    _record(
        name="more-than-is-called",
        files=_CHILD
        | {MANIFEST: manifest(("child", "./child", "child"), ("gone", "./gone", "gone"))},
        turns=(lock(),),
    ),
    _record(
        name="remote-module-that-is-there",
        files={
            "main.tf": 'module "net" {\n  source  = "acme/net/aws"\n  version = "~> 1.0"\n}\n',
            ".terraform/modules/net/main.tf": DEMO,
            MANIFEST: manifest(("net", "@HOST@/acme/net/aws", ".terraform/modules/net"))
            .replace('aws","Dir"', 'aws","Version":"1.2.0","Dir"'),
        },
        turns=(lock(), init()),
    ),
    _record(
        name="remote-module-of-another-version",
        files={
            "main.tf": 'module "net" {\n  source  = "acme/net/aws"\n  version = "~> 2.0"\n}\n',
            ".terraform/modules/net/main.tf": DEMO,
            MANIFEST: manifest(("net", "@HOST@/acme/net/aws", ".terraform/modules/net"))
            .replace('aws","Dir"', 'aws","Version":"1.2.0","Dir"'),
        },
        turns=(lock(),),
    ),
    _record(
        name="remote-module-that-is-missing",
        files={"main.tf": DEMO + 'module "net" {\n  source = "acme/net/aws"\n}\n'},
        turns=(lock(), init("-get=false")),
    ),
    _record(
        name="no-json",
        files=_CHILD | {MANIFEST: "{"},
        turns=(lock(), init()),
        deviation=Deviation.LOCAL_MODULES,
    ),
    _record(
        name="key-twice",
        files=_CHILD | {MANIFEST: manifest(("child", "./child", "child"), ("child", "./child", "child"))},
        turns=(lock(), init()),
        deviation=Deviation.LOCAL_MODULES,
    ),
    _record(
        name="record-without-its-folder",
        files={"main.tf": DEMO + calls("child", "./child"), MANIFEST: manifest(("child", "./child", "child"))},
        turns=(lock(),),
    ),
    _record(name="written-by-init-read-by-lock", files=_CHILD, turns=(init(), lock("-platform=windows_amd64"))),
)  # fmt: skip

CASES = (*MODULES, *OVERRIDES, *JSON, *MANIFESTS)
