"""Where packages are installed from: mirrors of every kind, several sources at once, `-plugin-dir`, implied folders."""

from __future__ import annotations

from functools import partial

from conformance.case import (
    HERE,
    LOCK_FILE,
    OPENTOFU,
    Archives,
    Case,
    Content,
    Deviation,
    Entry,
    Files,
    Link,
    Lock,
    Packed,
    Theme,
    Unpacked,
    init,
    lock,
    requires,
)
from conformance.table.locks import NO_H1, NO_ZH
from msgspec.structs import replace

from locklens.demo.faults import Fault, FaultRule

DEMO = requires(("acme/demo", "~> 1.0"))
PINNED = requires(("acme/demo", "1.0.0"))
BOTH = requires(("acme/demo", "~> 1.0"), ("acme/other", ""))
LOCKED = Entry("acme/demo", "1.0.0", "1.0.0")
DOWN = (FaultRule(Fault.SERVER_ERROR),)


def merged(*parts: Files) -> Files:
    """All files of several groups."""
    return {path: content for part in parts for path, content in part.items()}


def packed(version: str = "1.0.0", source: str = "acme/demo", *, top: str = "mirror", platform: str = HERE) -> Files:
    """A package in a packed mirror."""
    name = source.rpartition("/")[2]
    return {
        f"{top}/@HOST@/{source}/terraform-provider-{name}_{version}_{platform}.zip": Packed(source, version, platform)
    }


def unpacked(version: str = "1.0.0", source: str = "acme/demo", *, top: str = "mirror", platform: str = HERE) -> Files:
    """A package in an unpacked mirror."""
    return {f"{top}/@HOST@/{source}/{version}/{platform}": Unpacked(source, version, platform)}


def installation(*methods: str) -> str:
    """A provider_installation block."""
    return "provider_installation {\n" + "".join(f"  {method}\n" for method in methods) + "}\n"


def folder(path: str = "@WORK@/mirror", rest: str = "") -> str:
    """A filesystem_mirror block."""
    return f'filesystem_mirror {{\n path = "{path}"\n {rest}\n }}'


def network(rest: str = "", url: str = "@MIRROR@") -> str:
    """A network_mirror block."""
    return f'network_mirror {{\n url = "{url}"\n {rest}\n }}'


DIRECT = "direct {}"
_FOLDER = installation(folder())

_folder = partial(Case, theme=Theme.FILESYSTEM_MIRROR, cli=_FOLDER)
FILESYSTEM = (
    _folder(name="packed", files=merged({"main.tf": DEMO}, packed()), turns=(init(), init())),
    _folder(name="unpacked", files=merged({"main.tf": DEMO}, unpacked()), turns=(init(), init())),
    _folder(name="packed-and-unpacked", files=merged({"main.tf": DEMO}, packed(), unpacked())),
    _folder(name="newest-of-several", files=merged({"main.tf": DEMO}, packed(), packed("1.1.0"), unpacked("1.0.1"))),
    _folder(name="newest-is-for-another-platform", files=merged({"main.tf": DEMO}, packed(), packed("1.1.0", platform="darwin_arm64"))),
    _folder(name="not-there", files=merged({"main.tf": BOTH}, packed())),
    _folder(name="folder-is-missing", files={"main.tf": DEMO}),
    _folder(name="locked", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}, packed())),
    _folder(name="locked-and-unpacked", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}, unpacked())),
    _folder(name="zh-only-lock", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=()),))}, packed())),
    _folder(name="zh-only-lock-and-unpacked", turns=(init(), init()),
            files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=()),))}, unpacked())),
    _folder(name="wrong-zh-and-unpacked",
            files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=(), zh=(), more=(NO_ZH,)),))}, unpacked())),
    _folder(name="wrong-h1", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=(), zh=(), more=(NO_H1,)),))}, packed())),
    _folder(name="wrong-h1-and-unpacked",
            files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=(), zh=(), more=(NO_H1,)),))}, unpacked())),
    _folder(name="another-edition", files={"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,)),
                                           "mirror/@HOST@/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip":
                                           Packed("acme/demo", "1.0.0", edition="again")}),
    _folder(name="upgrade", files=merged({"main.tf": DEMO, LOCK_FILE: Lock((replace(LOCKED, constraints="~> 1.0"),))}, packed(), unpacked("1.1.0")),
            turns=(init(), init("-upgrade"))),
    _folder(name="readonly", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}, unpacked()), turns=(init("-lockfile=readonly"),)),
    _folder(name="locked-version-is-gone", files=merged({"main.tf": DEMO, LOCK_FILE: Lock((LOCKED,))}, packed("1.1.0"))),
    _folder(name="names-in-capitals", files={"main.tf": DEMO,
            "mirror/@HOST@/Acme/Demo/terraform-provider-demo_1.0.0_Linux_AMD64.ZIP": Packed("acme/demo", "1.0.0")}),
    _folder(name="short-version", files={"main.tf": DEMO, f"mirror/@HOST@/acme/demo/1.0/{HERE}": Unpacked("acme/demo", "1.0.0")}),
    _folder(name="what-is-no-package", files=merged({"main.tf": DEMO, f"mirror/@HOST@/acme/demo/v1.1.0/{HERE}/x": "",
            "mirror/@HOST@/acme/demo/terraform-provider-other_1.2.0_linux_amd64.zip": "x", "mirror/README": "x",
            "mirror/@HOST@/acme/demo/index.json": "{}", f"mirror/@HOST@/acme/demo/1.2.0/{HERE}_x/y": ""}, packed())),
    _folder(name="links-to-packages", files={"main.tf": BOTH, "real": Unpacked("acme/demo", "1.0.0"),
            f"mirror/@HOST@/acme/demo/1.0.0/{HERE}": Link("@WORK@/real"), "real.zip": Packed("acme/other", "1.0.0"),
            "mirror/@HOST@/acme/other/terraform-provider-other_1.0.0_linux_amd64.zip": Link("@WORK@/real.zip")}),
    _folder(name="link-above-the-platform", files=merged({"main.tf": DEMO, f"real/{HERE}": Unpacked("acme/demo", "1.1.0"),
            "mirror/@HOST@/acme/demo/1.1.0": Link("@WORK@/real")}, unpacked())),
    _folder(name="link-as-the-whole", files=merged({"main.tf": DEMO, "mirror": Link("@WORK@/real")}, unpacked(top="real"))),
    _folder(name="empty-zip", files={"main.tf": DEMO, "mirror/@HOST@/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip": "x"}),
    _folder(name="no-program", deviation=Deviation.SAFE_ZIP, files={"main.tf": DEMO, f"mirror/@HOST@/acme/demo/1.0.0/{HERE}/LICENSE": "x"}),
    _folder(name="version-zero", files=merged({"main.tf": DEMO}, packed("0.0.0"), packed())),
    _folder(name="relative-path", cli=installation(folder("mirror")), files=merged({"main.tf": DEMO}, unpacked())),
    _folder(name="several-folders", cli=installation(folder(), folder("@WORK@/second")),
            files=merged({"main.tf": BOTH}, packed(), packed("1.1.0", top="second"), packed("1.0.0", "acme/other", top="second"))),
    _folder(name="same-version-twice", cli=installation(folder(), folder("@WORK@/second")),
            files=merged({"main.tf": DEMO}, unpacked(top="second"), packed())),
    _folder(name="packed-over-an-unpacked-link", files=merged({"main.tf": DEMO}, unpacked()),
            turns=(init(), init("-upgrade", files=packed("1.1.0")))),
    _folder(name="installed-is-tampered", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,)),
            f".terraform/providers/@HOST@/acme/demo/1.0.0/{HERE}/extra": "x"}, unpacked())),
    _folder(name="lock-command-ignores-it", files={"main.tf": PINNED}, turns=(lock(),)),
    _folder(name="fs-mirror", cli="", files=merged({"main.tf": PINNED}, packed(), packed(platform="darwin_arm64")),
            turns=(lock("-fs-mirror=mirror", f"-platform={HERE}", "-platform=darwin_arm64"),)),
    _folder(name="fs-mirror-unpacked", cli="", files=merged({"main.tf": PINNED}, unpacked()), turns=(lock("-fs-mirror=@WORK@/mirror"),)),
    _folder(name="fs-mirror-over-a-lock", cli="", turns=(lock("-fs-mirror=mirror"),),
            files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=("darwin_arm64",)),))}, packed())),
    _folder(name="fs-mirror-lacks-the-platform", cli="", files=merged({"main.tf": PINNED}, packed()),
            turns=(lock("-fs-mirror=mirror", "-platform=darwin_arm64"),)),
    _folder(name="fs-mirror-is-missing", cli="", files={"main.tf": PINNED}, turns=(lock("-fs-mirror=mirror"),)),
    _folder(name="plugin-dir", cli="", deviation=Deviation.NO_REGISTRY_NEEDED, files=merged({"main.tf": DEMO}, packed(), unpacked("1.1.0", top="second")), faults=DOWN,
            turns=(init("-plugin-dir=mirror", "-plugin-dir=@WORK@/second"), init())),
    _folder(name="plugin-dir-before-provider-installation", cli=installation(DIRECT), files=merged({"main.tf": DEMO}, unpacked()),
            turns=(init("-plugin-dir=mirror"),)),
    _folder(name="plugin-dir-is-missing", cli="", files={"main.tf": DEMO}, turns=(init("-plugin-dir=mirror"),)),
)  # fmt: skip

_INDEX = "served/@HOST@/acme/demo/index.json"
_VERSION = "served/@HOST@/acme/demo/1.0.0.json"


def served(archives: Content = Archives("acme/demo", "1.0.0"), index: Content = '{"versions": {"1.0.0": {}}}') -> Files:  # noqa: B008
    """A network mirror of one provider."""
    return merged(
        {_INDEX: index, _VERSION: archives}, packed(top="served"), packed(top="served", platform="darwin_arm64")
    )


_net = partial(
    Case, theme=Theme.NETWORK_MIRROR, cli=installation(network()), environment={"TF_PROVIDER_DOWNLOAD_RETRY": "1"}
)
NETWORK = (
    _net(name="hashes", files=merged({"main.tf": DEMO}, served()), turns=(init(), init())),
    _net(name="h1-alone", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", schemes=("h1",))))),
    _net(name="zh-alone", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", schemes=("zh",))))),
    _net(name="no-hashes", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", schemes=())))),
    _net(name="one-of-two-is-wrong", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", schemes=("zh",), more=(NO_H1,))))),
    _net(name="wrong-hashes", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", schemes=(), more=(NO_H1, NO_ZH))))),
    _net(name="unknown-scheme", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", schemes=(), more=("h9:x",))))),
    _net(name="unknown-scheme-too", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", more=("h9:x",))))),
    _net(name="malformed-hash", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", more=("abc",))))),
    _net(name="locked", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}, served())),
    _net(name="zh-only-lock", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=()),))}, served())),
    _net(name="wrong-lock", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=(), zh=(), more=(NO_H1,)),))}, served())),
    _net(name="no-index", files={"main.tf": DEMO}),
    _net(name="empty-index", files=merged({"main.tf": DEMO}, served(index='{"versions": {}}'))),
    _net(name="index-is-no-json", files=merged({"main.tf": DEMO}, served(index="<html>"))),
    _net(name="odd-versions", files=merged({"main.tf": DEMO}, served(index='{"versions": {"1.0.0": {}, "v1.1.0": {}, "x": {}}}'))),
    _net(name="version-is-not-there", files=merged({"main.tf": DEMO}, served(index='{"versions": {"1.0.0": {}, "1.1.0": {}}}'))),
    _net(name="platform-is-missing", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", platforms=("darwin_arm64",))))),
    _net(name="package-is-missing", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", url="none.zip")))),
    _net(name="absolute-url", files=merged({"main.tf": DEMO, "served/x.zip": Packed("acme/demo", "1.0.0")}, served(Archives("acme/demo", "1.0.0", url="@MIRROR@x.zip")))),
    _net(name="rooted-url", files=merged({"main.tf": DEMO, "served/x.zip": Packed("acme/demo", "1.0.0")}, served(Archives("acme/demo", "1.0.0", url="/x.zip?y=z")))),
    _net(name="without-the-slash", cli=installation(network(url="@MIRROR@served")), files=merged({"main.tf": DEMO}, served())),
    _net(name="another-platforms-hash", files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", url="terraform-provider-demo_1.0.0_darwin_arm64.zip")))),
    _net(name="without-tls", cli=installation(network(url="http://localhost/x/")) + "# @MIRROR@\n", files=merged({"main.tf": DEMO}, served())),
    _net(name="trust-all-hashes", cli=installation(network("trust_all_hashes = true")), files=merged({"main.tf": DEMO}, served())),
    _net(name="trust-all-hashes-of-another-platform", cli=installation(network("trust_all_hashes = true")), tools=(OPENTOFU.name,),
         files=merged({"main.tf": DEMO}, served(Archives("acme/demo", "1.0.0", url="terraform-provider-demo_1.0.0_darwin_arm64.zip"))),
         deviation=Deviation.MIRROR_HASHES),
    _net(name="host-with-a-port", files={"main.tf": requires(("reg.acme.test:1234/acme/demo", ""))}),
    _net(name="net-mirror", cli="", files=merged({"main.tf": PINNED}, served()),
         turns=(lock("-net-mirror=@MIRROR@", f"-platform={HERE}", "-platform=darwin_arm64"),)),
    _net(name="net-mirror-lacks-the-platform", cli="", turns=(lock("-net-mirror=@MIRROR@", "-platform=windows_amd64"),),
         files=merged({"main.tf": PINNED}, served(Archives("acme/demo", "1.0.0", platforms=("darwin_arm64",))))),
    _net(name="net-mirror-without-tls", cli="", files=merged({"main.tf": PINNED}, served()),
         turns=(lock("-net-mirror=http://localhost/@MIRROR@"),)),
    _net(name="both-mirrors-for-lock", cli="", files=merged({"main.tf": PINNED}, served()),
         turns=(lock("-net-mirror=@MIRROR@", "-fs-mirror=mirror"),)),
)  # fmt: skip

_several = partial(Case, theme=Theme.SEVERAL_SOURCES)
SEVERAL = (
    _several(name="direct-alone", cli=installation(DIRECT), files={"main.tf": DEMO}),
    _several(name="mirror-before-direct", cli=installation(folder(), DIRECT), files=merged({"main.tf": DEMO}, packed())),
    _several(name="mirrors-copy-is-taken", cli=installation(folder(), DIRECT), files=merged({"main.tf": PINNED}, packed())),
    _several(name="mirror-after-direct", cli=installation(DIRECT, folder()), files=merged({"main.tf": PINNED}, packed())),
    _several(name="mirror-lacks-the-platform", cli=installation(folder(), DIRECT),
             files=merged({"main.tf": PINNED}, packed(platform="darwin_arm64"))),
    _several(name="include", cli=installation(folder(rest='include = ["acme/demo"]'), 'direct {\n exclude = ["acme/demo"]\n }'),
             files=merged({"main.tf": BOTH}, packed())),
    _several(name="include-and-exclude", cli=installation(folder(rest='include = ["acme/*"]\n exclude = ["acme/other"]'), DIRECT),
             files=merged({"main.tf": BOTH}, unpacked(), unpacked(source="acme/other"))),
    _several(name="exclude-everything", cli=installation('direct {\n exclude = ["*/*"]\n }'), files={"main.tf": DEMO}),
    _several(name="short-wildcard-is-the-default-host", cli=installation('direct {\n include = ["*/*"]\n }'),
             files={"main.tf": requires(("reg.acme.test/acme/demo", ""))}, catalog={"reg.acme.test/acme/demo": ("1.0.0",)}),
    _several(name="long-wildcard", cli=installation('direct {\n include = ["*/*/*"]\n }'),
             files={"main.tf": requires(("reg.acme.test/acme/demo", ""))}, catalog={"reg.acme.test/acme/demo": ("1.0.0",)}),
    _several(name="host-wildcard", cli=installation(folder(rest='include = ["Reg.acme.test/*/*"]'), DIRECT),
             files=merged({"main.tf": DEMO}, packed())),
    _several(name="bad-pattern-drops-the-method", cli=installation(folder(rest='include = ["acme/de*"]'), DIRECT),
             files=merged({"main.tf": PINNED}, unpacked())),
    _several(name="include-is-no-list", cli=installation(folder(rest='include = "acme/demo"'), DIRECT), files=merged({"main.tf": PINNED}, unpacked())),
    _several(name="path-is-missing", cli=installation("filesystem_mirror {}", DIRECT), files={"main.tf": PINNED}),
    _several(name="unknown-method", cli=installation('ftp_mirror {\n path = "x"\n }', DIRECT), files={"main.tf": PINNED}),
    _several(name="unknown-argument", cli=installation('direct {\n x = "y"\n }'), files={"main.tf": PINNED}),
    _several(name="labelled-method", cli=installation('direct "x" {}'), files={"main.tf": PINNED}),
    _several(name="nothing-in-it", cli=installation(), files={"main.tf": DEMO}),
    _several(name="missing-folder-blocks-the-registry", cli=installation(folder(), DIRECT), files={"main.tf": DEMO}),
    _several(name="registry-blocks-the-mirror", cli=installation(folder(), DIRECT), files=merged({"main.tf": PINNED}, packed()), faults=DOWN),
    _several(name="registry-does-not-know-it", cli=installation(folder(), DIRECT), catalog={"acme/x": ("1.0.0",)},
             files=merged({"main.tf": PINNED}, packed())),
    _several(name="nobody-knows-it", cli=installation(folder(), DIRECT), catalog={"acme/x": ("1.0.0",)}, files=merged({"main.tf": PINNED}, packed("1.0.0", "acme/other"))),
    _several(name="network-before-direct", cli=installation(network(), DIRECT), files=merged({"main.tf": PINNED}, served())),
    _several(name="network-lacks-the-version", cli=installation(network(), DIRECT), files=merged({"main.tf": DEMO}, served())),
    _several(name="network-lacks-the-provider", cli=installation(network(), DIRECT), files=merged({"main.tf": BOTH}, served())),
    _several(name="network-is-excluded", cli=installation(network('exclude = ["acme/other"]'), 'direct {\n exclude = ["acme/demo"]\n }'),
             files=merged({"main.tf": BOTH}, served())),
    _several(name="folder-and-network", cli=installation(folder(), network()), files=merged({"main.tf": DEMO}, served(), unpacked("1.1.0"))),
    _several(name="two-blocks", cli=installation(folder()) + installation(DIRECT), files=merged({"main.tf": PINNED}, unpacked())),
    _several(name="json", cli="", environment={"TF_CLI_CONFIG_FILE": "@WORK@/cli.json"}, files=merged({"main.tf": PINNED,
             "cli.json": '{"provider_installation": [{"filesystem_mirror": [{"path": "@WORK@/mirror"}]}]}'}, unpacked())),
    _several(name="json-without-lists", cli="", environment={"TF_CLI_CONFIG_FILE": "@WORK@/cli.json"}, files=merged({"main.tf": PINNED,
             "cli.json": '{"provider_installation": {"filesystem_mirror": {"path": "@WORK@/mirror"}}}'}, unpacked())),
    _several(name="json-objects-beside-lists", cli="", environment={"TF_CLI_CONFIG_FILE": "@WORK@/cli.json"}, files=merged({"main.tf": PINNED,
             "cli.json": '{"provider_installation": {"filesystem_mirror": {"path": "@WORK@/mirror"}, "direct": [{"include": ["x/y"]}]}}'}, unpacked())),
    _several(name="json-several-in-a-list", cli="", environment={"TF_CLI_CONFIG_FILE": "@WORK@/cli.json"}, files=merged({"main.tf": PINNED,
             "cli.json": '{"provider_installation": {"filesystem_mirror": [{"path": "@WORK@/none", "include": ["x/y"]}, {"path": "@WORK@/mirror"}]}}'}, unpacked())),
    _several(name="implied-in-the-root", files=merged({"main.tf": BOTH}, packed(top="terraform.d/plugins"))),
    _several(name="implied-has-another-version", files=merged({"main.tf": requires(("acme/demo", "1.1.0"))}, packed(top="terraform.d/plugins"))),
    _several(name="implied-has-another-platform", files=merged({"main.tf": PINNED}, unpacked(top="terraform.d/plugins", platform="darwin_arm64"))),
    _several(name="implied-of-the-user", environment={"XDG_DATA_HOME": "@WORK@/data"},
             files=merged({"main.tf": BOTH}, unpacked(top="data/terraform/plugins"))),
    _several(name="implied-of-the-machine", environment={"XDG_DATA_DIRS": "@WORK@/a:@WORK@/b"},
             files=merged({"main.tf": BOTH}, unpacked(top="b/terraform/plugins"), unpacked("1.0.1", top="a/terraform/plugins"))),
    _several(name="implied-of-opentofu", environment={"XDG_DATA_HOME": "@WORK@/data"},
             files=merged({"main.tf": BOTH}, unpacked(top="data/opentofu/plugins"))),
    _several(name="implied-and-locked", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}, unpacked(top="terraform.d/plugins"))),
    _several(name="implied-is-not-for-lock", files=merged({"main.tf": PINNED}, unpacked("1.0.1", top="terraform.d/plugins")), turns=(lock(),)),
    _several(name="explicit-hides-implied", cli=installation(DIRECT), files=merged({"main.tf": DEMO}, unpacked(top="terraform.d/plugins"))),
)  # fmt: skip

_cli = partial(Case, theme=Theme.CLI_CONFIGURATION)
_OVERRIDES = 'dev_overrides {\n "acme/demo" = "@WORK@/dev"\n }'
CONFIGURATIONS = (
    _cli(name="dev-overrides", cli=installation(_OVERRIDES, DIRECT), files={"main.tf": DEMO, "dev": Unpacked("acme/demo", "1.0.0")}),
    _cli(name="dev-overrides-alone", cli=installation(_OVERRIDES), files={"main.tf": DEMO, "dev": Unpacked("acme/demo", "1.0.0")}),
    _cli(name="dev-overrides-last", cli=installation(DIRECT, _OVERRIDES), files={"main.tf": DEMO}),
    _cli(name="dev-overrides-locked", cli=installation(_OVERRIDES, DIRECT), files={"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}),
    _cli(name="arguments-of-the-environment", environment={"TF_CLI_ARGS_init": "-upgrade"},
         files={"main.tf": DEMO, LOCK_FILE: Lock((replace(LOCKED, constraints="~> 1.0"),))}),
    _cli(name="arguments-for-every-command", environment={"TF_CLI_ARGS": "-no-color"}, files={"main.tf": PINNED}, turns=(init(), lock())),
    _cli(name="arguments-of-another-command", environment={"TF_CLI_ARGS_plan": "-no-such"}, files={"main.tf": PINNED}),
    _cli(name="arguments-come-first", environment={"TF_CLI_ARGS_init": "-upgrade=true"}, turns=(init("-upgrade=false"),),
         files={"main.tf": DEMO, LOCK_FILE: Lock((replace(LOCKED, constraints="~> 1.0"),))}),
    _cli(name="arguments-for-lock", environment={"TF_CLI_ARGS_providers_lock": "'-platform=darwin_arm64' -platform=windows_amd64"},
         files={"main.tf": PINNED}, turns=(lock(),)),
    _cli(name="arguments-that-are-wrong", environment={"TF_CLI_ARGS_init": "-no-such-flag"}, files={"main.tf": PINNED}),
    _cli(name="broken-file", cli="}\n", files={"main.tf": PINNED}),
    _cli(name="plugin-dir-of-the-environment", environment={"TF_CLI_ARGS_init": "-plugin-dir=mirror"}, files=merged({"main.tf": DEMO}, packed())),
)  # fmt: skip

_CACHE = 'plugin_cache_dir = "@WORK@/cache"\n'
_IN_CACHE = f"cache/@HOST@/acme/demo/1.0.0/{HERE}"
_MAY_BREAK = "plugin_cache_may_break_dependency_lock_file = true\n"
_warm: Files = {_IN_CACHE: Unpacked("acme/demo", "1.0.0")}
_locked: Files = {"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}
_zh_only: Files = {"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=()),))}
_keep: Files = {"cache/x": ""}

_cache = partial(Case, theme=Theme.PLUGIN_CACHE, cli=_CACHE, cache="cache")
CACHE = (
    _cache(name="cold", files=merged({"main.tf": PINNED}, _keep), turns=(init(), init())),
    _cache(name="cold-and-locked", files=merged(_locked, _keep)),
    _cache(name="cold-and-missing", files=_locked),
    _cache(name="of-the-environment", cli="", environment={"TF_PLUGIN_CACHE_DIR": "@WORK@/cache"}, files=merged(_locked, _keep)),
    _cache(name="relative", cli="", environment={"TF_PLUGIN_CACHE_DIR": "cache"}, files=merged(_locked, _keep)),
    _cache(name="warm-and-locked", files=merged(_locked, _warm), turns=(init(), init())),
    _cache(name="warm-and-zh-only", files=merged(_zh_only, _warm)),
    _cache(name="warm-and-not-locked", files=merged({"main.tf": PINNED}, _warm)),
    _cache(name="warm-and-reported", files=merged({"main.tf": PINNED}, _warm), tells_packages=True, tools=(OPENTOFU.name,)),
    _cache(name="warm-zh-only-and-reported", files=merged(_zh_only, _warm), tells_packages=True, tools=(OPENTOFU.name,)),
    _cache(name="tampered-and-reported", tells_packages=True, tools=(OPENTOFU.name,), deviation=Deviation.TAMPERED_FOLDER,
           files=merged({"main.tf": PINNED}, _warm, {f"{_IN_CACHE}/terraform-provider-demo_v1.0.0": "evil\n"})),
    _cache(name="warm-and-another-hash", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=("darwin_arm64",)),))}, _warm)),
    _cache(name="warm-and-wrong-hash", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, h1=(), zh=(), more=(NO_H1,)),))}, _warm)),
    _cache(name="warm-and-unknown-scheme", files=merged({"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, more=("h9:x",)),))}, _warm)),
    _cache(name="warm-and-readonly", files=merged(_locked, _warm), turns=(init("-lockfile=readonly"),)),
    _cache(name="warm-and-upgrade", files=merged({"main.tf": DEMO, LOCK_FILE: Lock((replace(LOCKED, constraints="~> 1.0"),))}, _warm),
           turns=(init("-upgrade"), init("-upgrade"))),
    _cache(name="warm-and-registry-is-down", files=merged(_locked, _warm), faults=DOWN, deviation=Deviation.NO_REGISTRY_NEEDED),
    _cache(name="warm-and-version-withdrawn", files=merged(_locked, _warm), faults=(FaultRule(Fault.WITHDRAWN),),
           deviation=Deviation.NO_REGISTRY_NEEDED),
    _cache(name="tampered-and-locked", files=merged(_locked, _warm, {f"{_IN_CACHE}/terraform-provider-demo_v1.0.0": "evil\n"}),
           deviation=Deviation.TAMPERED_FOLDER),
    _cache(name="tampered-and-not-locked", files=merged({"main.tf": PINNED}, _warm, {f"{_IN_CACHE}/extra": "x"}),
           deviation=Deviation.TAMPERED_FOLDER),
    _cache(name="may-break-and-not-locked", cli=_CACHE + _MAY_BREAK, files=merged({"main.tf": PINNED}, _warm)),
    _cache(name="may-break-of-the-environment", environment={"TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE": "1"},
           files=merged({"main.tf": PINNED}, _warm)),
    _cache(name="may-break-switched-off", environment={"TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE": "0"},
           files=merged({"main.tf": PINNED}, _warm)),
    _cache(name="may-break-and-locked", cli=_CACHE + _MAY_BREAK, files=merged(_locked, _warm)),
    _cache(name="may-break-and-zh-only", deviation=Deviation.ZH_ONLY_CACHE, cli=_CACHE + _MAY_BREAK, files=merged(_zh_only, _warm)),
    _cache(name="may-break-and-cold", cli=_CACHE + _MAY_BREAK, files=merged({"main.tf": PINNED}, _keep)),
    _cache(name="installed-already", files=merged(_locked, _keep, {f".terraform/providers/@HOST@/acme/demo/1.0.0/{HERE}": Unpacked("acme/demo", "1.0.0")})),
    _cache(name="with-a-packed-mirror", cli=_CACHE + _FOLDER, files=merged({"main.tf": PINNED}, packed(), _keep)),
    _cache(name="with-an-unpacked-mirror", cli=_CACHE + _FOLDER, files=merged({"main.tf": PINNED}, unpacked(), _keep)),
    _cache(name="with-a-network-mirror", cli=_CACHE + installation(network()), files=merged({"main.tf": PINNED}, served(), _keep)),
    _cache(name="warm-with-a-missing-mirror", cli=_CACHE + _FOLDER, files=merged(_locked, _warm), deviation=Deviation.NO_REGISTRY_NEEDED),
    _cache(name="not-for-lock", files=merged({"main.tf": PINNED}, _keep), turns=(lock(),)),
    _cache(name="variable-in-the-path", cli='plugin_cache_dir = "$PLACE/cache"\n', environment={"PLACE": "@WORK@"}, files=merged(_locked, _keep)),
)  # fmt: skip

CASES = (*FILESYSTEM, *NETWORK, *SEVERAL, *CONFIGURATIONS, *CACHE)
