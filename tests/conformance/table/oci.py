"""OCI registries as mirrors: the rules of the block, tags, manifests, and what locks do to a package from there."""

from __future__ import annotations

from functools import partial

from conformance.case import LOCK_FILE, OPENTOFU, TERRAFORM, Artifact, Case, Files, Lock, Theme, init, lock, requires
from conformance.table.locks import NO_H1, NO_ZH
from conformance.table.mirrors import BOTH, DEMO, DIRECT, LOCKED, PINNED, folder, installation, merged, packed
from msgspec.structs import replace

TEMPLATE = "@OCI@/m/${hostname}/${namespace}/${type}"


def mirror(template: str = TEMPLATE, rest: str = "") -> str:
    """An oci_mirror block."""
    return f'oci_mirror {{\n repository_template = "{template}"\n {rest}\n }}'


def one(version: str = "1.0.0", source: str = "acme/demo", **more: object) -> Artifact:
    """A version in the registry."""
    return Artifact(source, version, **more)  # type: ignore[arg-type]


_OTHER = "application/vnd.example"
_INDEX, _IMAGE = "application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json"
_PROVIDER, _TARGET = "application/vnd.opentofu.provider", "application/vnd.opentofu.provider-target"
_DEMO: Files = {"main.tf": DEMO}
_PINNED: Files = {"main.tf": PINNED}

_oci = partial(Case, theme=Theme.OCI_MIRROR, cli=installation(mirror()), files=_DEMO, tools=(OPENTOFU.name,))


def _index(name: str, *edits: tuple[str, str], **more: str) -> Case:
    return _oci(name=f"index-{name}", oci=(one(index=edits, **more),))


def _image(name: str, *edits: tuple[str, str]) -> Case:
    return _oci(name=f"image-{name}", oci=(one(image=edits),))


def _block(name: str, template: str, rest: str = "", *more: str) -> Case:
    """The block beside another method, which counts if the block does not."""
    return _oci(name=f"block-{name}", oci=(one(),), cli=installation(mirror(template, rest), *more))


def _locked(name: str, *turns: object, **entry: object) -> Case:
    files: Files = {"main.tf": PINNED, LOCK_FILE: Lock((replace(LOCKED, **entry),))}
    return _oci(name=f"locked-{name}", oci=(one(),), files=files, turns=turns or (init(), init()))  # type: ignore[arg-type]


CASES = (
    _oci(name="newest-of-several", oci=(one(), one("1.1.0"), one("1.0.1"), one("2.0.0")), turns=(init(), init())),
    _oci(name="several-providers", files={"main.tf": BOTH}, oci=(one(), one("1.1.0", "acme/other"))),
    _oci(name="not-there", files={"main.tf": BOTH}, oci=(one(),)),
    _oci(name="no-tags", oci=(one(tag="latest"),)),
    _oci(name="tags-that-are-no-versions", oci=(one(), one("1.1.0", tag="v1.1.0"), one("1.2.0", tag="latest"))),
    _oci(name="a-tag-with-two-parts", files=_PINNED, oci=(one(tag="1.0"),)),
    _oci(name="build-metadata", files={"main.tf": requires(("acme/demo", "1.0.0+build.5"))}, oci=(one("1.0.0+build.5"),)),
    _oci(name="prerelease", files={"main.tf": requires(("acme/demo", "2.0.0-beta1"))}, oci=(one("2.0.0-beta1"),)),
    _oci(name="other-platforms-only", oci=(one(platforms=("darwin_arm64",)),)),
    _oci(name="upgrade", oci=(one(), one("1.1.0")), turns=(init(), init("-upgrade")),
         files={"main.tf": DEMO, LOCK_FILE: Lock((replace(LOCKED, constraints="~> 1.0"),))}),
    _oci(name="lock-command-ignores-it", files=_PINNED, oci=(), turns=(lock(),)),
    _oci(name="terraform-does-not-know-it", tools=(TERRAFORM.name,), cli=installation(mirror(), DIRECT), oci=(one(),)),
    _oci(name="terraform-with-nothing-else", tools=(TERRAFORM.name,), oci=(one(),)),
    # What a lock file says.
    _locked("whole"),
    _locked("h1-only", zh=()),
    _locked("zh-only", h1=()),
    _locked("another-zh", zh=(), more=(NO_ZH,)),
    _locked("another-h1", h1=(), more=(NO_H1,)),
    _locked("other-platforms", h1=("darwin_arm64",), zh=("darwin_arm64",)),
    _locked("no-hashes", h1=(), zh=()),
    _locked("readonly", init("-lockfile=readonly")),
    _locked("h1-only-readonly", init("-lockfile=readonly"), zh=()),
    _oci(name="another-edition", oci=(one(edition="again"),), files={"main.tf": PINNED, LOCK_FILE: Lock((LOCKED,))}),
    _oci(name="plugin-cache", oci=(one(),), cli=installation(mirror()) + 'plugin_cache_dir = "@WORK@/cache"\n', cache="cache",
         files={"main.tf": PINNED, "cache/.keep": ""}, turns=(init(), init())),
    # Several places.
    _oci(name="and-direct", cli=installation(mirror(), DIRECT), oci=(one(), one("1.1.0")), files=_PINNED),
    _oci(name="and-direct-has-newer", cli=installation(mirror(), DIRECT), oci=(one(),)),
    _oci(name="and-direct-has-it-alone", cli=installation(mirror(), DIRECT), oci=()),
    _oci(name="after-direct", cli=installation(DIRECT, mirror()), oci=(one("1.3.0"), one())),
    _oci(name="after-a-folder", cli=installation(folder(), mirror()), files=merged({"main.tf": DEMO}, packed()),
         oci=(one(), one("1.1.0"))),
    _oci(name="lacks-the-platform-and-direct", cli=installation(mirror(), DIRECT), files=_PINNED,
         oci=(one(platforms=("darwin_arm64",)),)),
    _oci(name="include", cli=installation(mirror("@OCI@/m/@HOST@/acme/${type}", 'include = ["@HOST@/acme/*"]'), DIRECT),
         oci=(one(),), files=_PINNED),
    _oci(name="exclude", cli=installation(mirror(rest='exclude = ["@HOST@/acme/*"]'), DIRECT), oci=(one("1.3.0"),)),
    # What registries answer.
    _oci(name="repository-is-not-there", oci_answers={"m/@HOST@/acme/demo/tags/list": (404, "NAME_UNKNOWN")}, oci=(one(),)),
    _oci(name="a-bad-name", oci_answers={"m/@HOST@/acme/demo/tags/list": (400, "NAME_INVALID")}, oci=(one(),)),
    _oci(name="not-found-without-a-code", oci_answers={"m/@HOST@/acme/demo/tags/list": (404, "")}, oci=(one(),)),
    _oci(name="denied", oci_answers={"m/@HOST@/acme/demo/tags/list": (403, "DENIED")}, cli=installation(mirror(), DIRECT), oci=(one(),)),
    _oci(name="not-found-for-another-reason", oci_answers={"m/@HOST@/acme/demo/tags/list": (404, "UNSUPPORTED")}, oci=(one(),)),
    _oci(name="server-error", oci_answers={"m/@HOST@/acme/demo/tags/list": (500, "")}, cli=installation(mirror(), DIRECT), oci=(one(),)),
    _oci(name="no-registry", oci_answers={"": (404, ""), "m/@HOST@/acme/demo/tags/list": (404, "")}, oci=(one(),)),
    _oci(name="manifest-is-not-there", oci_answers={"m/@HOST@/acme/demo/manifests/1.0.0": (404, "MANIFEST_UNKNOWN")},
         cli=installation(mirror(), DIRECT), files=_PINNED, oci=(one(),)),
    _oci(name="nobody-listens", cli=installation(mirror("localhost:9/${hostname}/${namespace}/${type}"))),
    # The index.
    _index("is-an-image", (_INDEX, _IMAGE), media_type=_IMAGE),
    _index("of-another-kind", media_type="application/vnd.docker.distribution.manifest.list.v2+json"),
    _index("says-another-kind", (f'"mediaType": "{_INDEX}"', f'"mediaType": "{_IMAGE}"')),
    _index("is-a-module", (f'"artifactType": "{_PROVIDER}"', '"artifactType": "application/vnd.opentofu.modulepkg"')),
    _index("without-artifact-type", (f'"artifactType": "{_PROVIDER}", ', "")),
    _index("is-no-json", ("{", "[")),
    _index("without-targets", (_TARGET, _OTHER)),
    _index("of-containers", (f'"artifactType": "{_TARGET}", ', "")),
    _index("of-indexes", (f'{{"mediaType": "{_IMAGE}"', f'{{"mediaType": "{_INDEX}"')),
    _index("without-platforms", ('"platform"', '"platforms"')),
    _index("ambiguous", ('"os": "darwin", "architecture": "arm64"', '"os": "linux", "architecture": "amd64"')),
    _index("with-a-version-of-the-system", ('"os": "darwin", "architecture": "arm64"',
           '"os": "linux", "architecture": "amd64", "os.version": "6"')),
    _index("names-in-capitals", ('"manifests"', '"Manifests"'), ('"os"', '"OS"')),
    _index("another-size", ('"size": ', '"size": 1')),
    _index("a-digest-that-is-none", ("sha256:", "sha256:x")),
    # A platform's manifest.
    _image("of-another-artifact-type", (_TARGET, _OTHER)),
    _image("is-an-index", (f'"mediaType": "{_IMAGE}"', f'"mediaType": "{_INDEX}"')),
    _image("without-layers", ('"layers"', '"others"')),
    _image("other-layers-only", ("archive/zip", "archive/tar")),
    _image("two-packages", ('"layers": [{', '"layers": [{"mediaType": "archive/zip", "digest": "sha256:x", "size": 1}, {')),
    _image("another-layer-too", ('"layers": [{', '"layers": [{"mediaType": "text/plain", "digest": "sha256:x", "size": 1}, {')),
    _image("a-package-of-another-size", ('"archive/zip"', '"archive/zip", "x": 1'), ('"size": ', '"size": 1')),
    _image("for-another-platform", ('"mediaType": "archive/zip"',
           '"mediaType": "archive/zip", "platform": {"os": "plan9", "architecture": "arm"}')),
    _image("sha512", ('"mediaType": "archive/zip", "digest": "sha256:', '"mediaType": "archive/zip", "x": "', ), ('"layers": [{',
           '"layers": [{"digest": "sha512:' + "0" * 128 + '", ')),
    # The block.
    _block("names-a-fixed-address", "@OCI@/m/@HOST@/acme/demo", 'include = ["@HOST@/acme/demo"]'),
    _block("lacks-the-hostname", "@OCI@/m/${namespace}/${type}", "", DIRECT),
    _block("lacks-the-namespace", "@OCI@/m/${hostname}/${type}", "", DIRECT),
    _block("lacks-the-type", "@OCI@/m/${hostname}/${namespace}", "", DIRECT),
    _block("lacks-all", "@OCI@/m", "", DIRECT),
    _block("lacks-what-patterns-leave-open", "@OCI@/m/@HOST@/acme/demo", 'include = ["@HOST@/acme/*", "@HOST@/acme/demo"]'),
    _block("two-hosts", "@OCI@/m/${namespace}/${type}", 'include = ["@HOST@/*/*", "@OTHER@/*/*"]', DIRECT),
    _block("another-symbol", "@OCI@/m/${hostname}/${namespace}/${type}/${version}", "", DIRECT),
    _block("a-function", "@OCI@/m/${lower(hostname)}/${namespace}/${type}", "", DIRECT),
    _block("an-index-of-a-string", "@OCI@/m/${hostname[1]}/${namespace}/${type}", "", DIRECT),
    _block("a-sum", "@OCI@/m/${hostname + 1}/${namespace}/${type}", "", DIRECT),
    _block("a-condition", '@OCI@/m/${hostname == "@HOST@" ? hostname : "x"}/${namespace}/${type}'),
    _block("a-directive", '@OCI@/m/%{ if type != \\"x\\" }${hostname}%{ else }x%{ endif }/${namespace}/${type}'),
    _block("a-directive-that-trims", "@OCI@/m/%{ if true ~} ${hostname} %{~ else }x%{ endif }/${namespace}/${type}"),
    _block("quotes-in-a-directive", '@OCI@/m/%{ if type != "x" }${hostname}%{ else }x%{ endif }/${namespace}/${type}'),
    _block("a-template-in-a-template", '@OCI@/m/${"${hostname}"}/${namespace}/${type}'),
    _block("a-list", "@OCI@/m/${[type, hostname][1]}/${namespace}/${type}"),
    _block("numbers", '@OCI@/m/${1 + 2 * 3 == 7 ? hostname : "x"}/${namespace}/${type}'),
    _block("a-null", "@OCI@/m/${null}${hostname}/${namespace}/${type}", "", DIRECT),
    _block("only-a-list", "${[hostname, namespace, type]}", "", DIRECT),
    _block("a-name-in-braces", "@OCI@/m/$${hostname}/${hostname}/${namespace}/${type}", "", DIRECT),
    _block("an-open-directive", "@OCI@/m/%{ if true }${hostname}/${namespace}/${type}", "", DIRECT),
    _block("a-map", '@OCI@/m/${ {"@HOST@" = "@HOST@", "example.com" = "x"}[hostname] }/${namespace}/${type}'),
    _block("a-map-without-it", '@OCI@/m/${ {"example.com" = "x"}[hostname] }/${namespace}/${type}'),
    _block("broken", "@OCI@/m/${hostname/${namespace}/${type}", "", DIRECT),
    _block("with-a-tag", "@OCI@/m/${hostname}/${namespace}/${type}:latest", "", DIRECT),
    _block("without-a-slash", "${hostname}_${namespace}_${type}"),
    _block("in-capitals", "@OCI@/M/${hostname}/${namespace}/${type}", "", DIRECT),
    _block("empty", "", "", DIRECT),
    _block("bad-include", TEMPLATE, 'include = ["acme"]', DIRECT),
    _block("bad-exclude", TEMPLATE, 'exclude = ["*/acme"]', DIRECT),
    _block("include-is-text", TEMPLATE, 'include = "@HOST@/acme/*"', DIRECT),
    _block("ignored-arguments", TEMPLATE, 'download_retry_count = "x"\n trust_all_hashes = true\n url = 5'),
    _oci(name="block-without-a-template", oci=(one(),), cli=installation("oci_mirror {}", DIRECT)),
    _oci(name="block-with-another-template", oci=(one(),), cli=installation("oci_mirror {\n repository_template = []\n }", DIRECT)),
    _oci(name="block-with-a-label", oci=(one(),), cli=installation(f'oci_mirror "x" {{\n repository_template = "{TEMPLATE}"\n }}')),
    _oci(name="block-with-unicode-names", files={"main.tf": requires(("ほげ/ふが", ""))}, oci=(one(),)),
    _oci(name="block-with-a-bad-name", files={"main.tf": requires(("acme/de--mo", ""))}, oci=(one(),)),
)  # fmt: skip
