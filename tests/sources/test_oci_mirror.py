"""An OCI registry as a mirror: tags, manifests, layers, and what OpenTofu refuses of each, with the registry's demands."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from kit.loopback import Handler, server_context, serving, write_authority
from kit.oci_registry import EMPTY, INDEX, MANIFEST, PROVIDER, TARGET, ZIP, OciRegistry, Repository, digest_of, registry
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import OPENTOFU
from locklens.errors import (
    LockLensError,
    OfflineError,
    PlatformNotSupportedError,
    ProviderNotFoundError,
    UnauthorizedError,
    UnavailableError,
)
from locklens.sources import Source
from locklens.sources.oci_mirror import OciMirror
from locklens.sources.registries import Registries
from locklens.versions import Version

DEMO = ProviderAddress("registry.opentofu.org", "acme", "demo")
NAME = "mirror/registry.opentofu.org/acme/demo"
ONE = Version.parse("1.0.0")
HERE = Platform("linux", "amd64")
TEMPLATE = "mirror/${hostname}/${namespace}/${type}"


def zipped(text: bytes = b"binary") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("terraform-provider-demo_v1.0.0"), text)
    return buffer.getvalue()


class Mirror:
    """A registry, and what asks it; `logins` stand in the CLI configuration."""

    def __init__(self, server: OciRegistry, registries: Registries, folder: Path) -> None:
        self.server, self.registries = server, registries
        self.source: Source = registries.installation(folder)
        self.repository = server.repository(NAME)

    def versions(self) -> list[str]:
        return [str(one.version) for one in self.source.versions(DEMO).versions]

    def package(self, platform: Platform = HERE) -> Any:
        return self.source.package(DEMO, ONE, platform)

    def read(self) -> bytes:
        with self.source.open_package(self.package()) as transfer:
            return b"".join(transfer.chunks)

    def gives(self, path: str, body: bytes | dict[str, Any], status: int = 200, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.server.on(f"/v2/{NAME}{path}", lambda handler: handler.reply(status, data, **headers))


Serve = Callable[..., Mirror]


@pytest.fixture
def serve(tmp_path: Path, authority: trustme.CA) -> Iterator[Serve]:
    opened: list[Any] = []

    def make(more: str = "", *, is_offline: bool = False) -> Mirror:
        server = registry(server_context(authority, "localhost", "127.0.0.1"))
        opened.append(server)
        running = server.__enter__()
        own = f'repository_template = "{running.host}/{TEMPLATE}"'
        (tmp_path / "cli.tfrc").write_text(
            f"provider_installation {{\n  oci_mirror {{\n    {own}\n  }}\n}}\n{more.replace('HOST', running.host)}"
        )
        environ = {
            "HOME": str(tmp_path),
            "TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc"),
            "SSL_CERT_FILE": str(write_authority(authority, tmp_path / "ca.pem")),
            "SSL_CERT_DIR": "/nowhere",
        }
        registries = Registries(OPENTOFU, environ, is_offline=is_offline, pause=lambda _: None)
        opened.append(registries)
        assert not registries.problems
        return Mirror(running, registries, tmp_path)

    yield make
    for one in reversed(opened):
        one.__exit__(None, None, None)


@pytest.fixture
def mirror(serve: Serve) -> Mirror:
    return serve()


def test_tags_that_are_versions(mirror: Mirror) -> None:
    for tag in ("1.0.0", "1.1.0-beta1", "1.2.0_build.5", "v1.3.0", "latest", "1.4", "sha256-aa.sig"):
        mirror.repository.provider(tag, {"linux_amd64": zipped()})
    assert mirror.versions() == ["1.0.0", "1.1.0-beta1", "1.2.0+build.5", "1.4.0"]
    built = Version.parse("1.2.0+build.5")
    assert mirror.source.package(DEMO, built, HERE).hashes == (f"zh:{digest_of(zipped())[7:]}",)


def test_a_package_is_asked_for_once_and_comes_whole(mirror: Mirror) -> None:
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped(), "darwin_arm64": zipped(b"other")})
    assert mirror.read() == zipped()
    assert mirror.source.package_size(mirror.package()) == len(zipped())
    assert mirror.source.checksums(mirror.package()) is None
    assert mirror.package(Platform("darwin", "arm64")).hashes == (f"zh:{digest_of(zipped(b'other'))[7:]}",)
    with pytest.raises(PlatformNotSupportedError):
        mirror.package(Platform("plan9", "amd64"))
    asked = [path.rpartition("/")[2].partition(":")[0] for path in mirror.server.paths()]
    assert asked == ["1.0.0", "sha256", "sha256", "sha256"]  # The index, two manifests and a blob.


def test_pages_of_tags(mirror: Mirror) -> None:
    for number in range(7):
        mirror.repository.tags[f"1.{number}.0"] = "sha256:" + "0" * 64
    mirror.server.page = 2
    assert len(mirror.versions()) == 7
    assert len(mirror.server.paths()) == 4


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("</v2/x/tags/list?n=1>", "in a circle"),
        ("</v2/x/tags/list?n=1", "is not in angle brackets"),
        ("<http://127.0.0.1:1/tags>", "on another server, 127.0.0.1:1"),
        ("<https://tags.test/more>; rel=next", "on another server, tags.test"),
        ("<file:///etc/passwd>", "cannot be asked"),
    ],
)
def test_what_names_the_next_page(mirror: Mirror, link: str, words: str) -> None:
    mirror.gives("/tags/list", {"tags": ["1.0.0"]}, Link=link.replace("/v2/x", f"/v2/{NAME}"))
    with pytest.raises(UnavailableError, match=words):
        mirror.versions()


def test_pages_without_end(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.sources.oci_session._MAX_PAGES", 20)

    def page(handler: Handler) -> None:
        number = len(mirror.server.asked)
        link = f"</v2/{NAME}/tags/list?last={number}>"
        handler.reply(200, json.dumps({"tags": [f"1.{number}.0"]}).encode(), Link=link)

    mirror.server.on(f"/v2/{NAME}/tags/list", page)
    with pytest.raises(UnavailableError, match="has more than 100000 tags, or 20 pages of them"):
        mirror.versions()
    assert len(mirror.server.asked) == 20


def test_tags_and_versions_by_the_thousand(mirror: Mirror) -> None:
    mirror.gives("/tags/list", {"tags": [f"1.{number}.0" for number in range(20_001)]})
    with pytest.raises(UnavailableError, match="has more than 20000 versions"):
        mirror.versions()
    assert len(mirror.server.asked) == 1
    mirror.gives("/tags/list", {"tags": ["x"] * 100_001})
    with pytest.raises(UnavailableError, match='more than 100000 items in "tags"'):
        mirror.registries.oci().session(mirror.registries.mirrors(DEMO)[0].session(DEMO).repository).tags()  # type: ignore[union-attr]


def errors(*codes: str) -> bytes:
    return json.dumps({"errors": [{"code": code, "message": "the\nwords"} for code in codes]}).encode()


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (404, b"", ProviderNotFoundError),
        (404, b"<html>", ProviderNotFoundError),
        (404, errors("NAME_UNKNOWN"), ProviderNotFoundError),
        (400, errors("NAME_INVALID"), ProviderNotFoundError),
        (404, errors("UNSUPPORTED"), UnavailableError),
        (401, errors("UNAUTHORIZED"), UnauthorizedError),
        (403, errors("DENIED"), UnauthorizedError),
        (500, b"", UnavailableError),
        (200, b"<html>", UnavailableError),
        (200, b'{"tags": {}}', UnavailableError),
        (200, b'{"tags": ["latest"]}', ProviderNotFoundError),
        (200, b'{"tags": null}', ProviderNotFoundError),
        (200, b" " * (5 << 20), UnavailableError),
    ],
)
def test_answers_about_tags(mirror: Mirror, status: int, body: bytes, error: type[LockLensError]) -> None:
    mirror.gives("/tags/list", body, status)
    # What one source does not have, another one may: the words of a selection of sources name all of them.
    with pytest.raises(error) as raised:
        mirror.versions()
    text = str(raised.value)
    assert "\n" not in text
    if error is ProviderNotFoundError:
        assert text.endswith("was not found in any of the search locations: OCI registry provider mirror")
    else:
        assert f"OCI repository 127.0.0.1:{mirror.server.port}/{NAME}" in text


def test_a_tag_without_its_manifest_is_damage(mirror: Mirror) -> None:
    mirror.repository.tags["1.0.0"] = "sha256:" + "0" * 64
    with pytest.raises(UnavailableError, match=r'resolving tag "1.0.0": .* 404 Not Found'):
        mirror.package()


Change = Callable[[dict[str, Any], dict[str, Any], Repository], None]


IN_INDEX = INDEX.replace(".", r"\.").replace("+", r"\+")
IN_MANIFEST = MANIFEST.replace(".", r"\.").replace("+", r"\+")


def index(**more: Any) -> Change:
    return lambda top, _image, _repository: top.update(more)


def entry(**more: Any) -> Change:
    return lambda top, _image, _repository: top["manifests"][0].update(more)


def layer(**more: Any) -> Change:
    return lambda _top, image, _repository: image["layers"][0].update(more)


def image(**more: Any) -> Change:
    return lambda _top, own, _repository: own.update(more)


def without(name: str) -> Change:
    return lambda top, _image, _repository: top["manifests"][0].pop(name)


MANIFESTS: list[tuple[str, Change, str]] = [
    ("index: artifact type", index(artifactType="x/y"), 'unexpected artifact type "x/y"'),
    ("index: a module", index(artifactType="application/vnd.opentofu.modulepkg"), "it is an OpenTofu module package"),
    ("index: no artifact type", index(artifactType=None), 'unexpected artifact type ""'),
    ("index: media type", index(mediaType=MANIFEST), f'unexpected manifest media type "{IN_MANIFEST}"'),
    ("index: no list", index(manifests={}), '"manifests" is not a list'),
    ("index: too many", index(manifests=[{}] * 4097), "more than 4096 items"),
    ("index: empty", index(manifests=[]), "is this a container image"),
    ("entry: artifact type", entry(artifactType="x/y"), 'has unsupported artifact type "x/y"'),
    ("entry: no artifact type", entry(artifactType=""), "is this a container image"),
    ("entry: an index in an index", entry(mediaType=INDEX), f'unsupported media type "{IN_INDEX}"'),
    ("entry: no platform", without("platform"), "lacks the required platform constraints"),
    ("entry: too large", entry(size=5 << 20), "manifest size exceeds OpenTofu's size limit of 4 MiB"),
    ("entry: another size", entry(size=17), "mismatch Content-Length"),
    ("entry: no digest", entry(digest="../../../x"), r'invalid digest "\.\./\.\./\.\./x"'),
    ("entry: unknown digest", entry(digest="md5:" + "0" * 32), "invalid digest"),
    ("entry: not there", entry(digest="sha256:" + "0" * 64), "fetching the platform's manifest: .* 404 Not Found"),
    ("image: artifact type", image(artifactType=PROVIDER), f'unexpected artifact type "{PROVIDER}"'),
    ("image: no layers", image(layers=[]), 'contains no layers of type "archive/zip"'),
    ("image: other layers", layer(mediaType="application/gzip"), "has other unsupported formats"),
    ("layer: sha512", layer(digest="sha512:" + "0" * 128), 'unsupported digest algorithm "sha512"'),
    ("layer: no digest", layer(digest="zh:x"), 'invalid digest "zh:x"'),
    ("layer: other platform", layer(platform={"os": "linux", "architecture": "arm"}), "is for linux_arm"),
    ("layer: size", layer(size="12"), "is not a whole number"),
]


@pytest.mark.parametrize(("change", "words"), [case[1:] for case in MANIFESTS], ids=[case[0] for case in MANIFESTS])
def test_manifests_that_are_refused(mirror: Mirror, change: Change, words: str) -> None:
    lay(mirror.repository, change)
    with pytest.raises(UnavailableError, match=words) as raised:
        mirror.package()
    assert raised.value.hint


def lay(repository: Repository, change: Change) -> None:
    """Add version 1.0.0 with what a change makes of its manifests."""
    own = {
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": TARGET,
        "config": {"mediaType": EMPTY, **repository.blob(b"{}")},
        "layers": [{"mediaType": ZIP, **repository.blob(zipped())}],
    }  # fmt: skip
    top: dict[str, Any] = {"schemaVersion": 2, "mediaType": INDEX, "artifactType": PROVIDER, "manifests": [{}]}
    change({**top, "manifests": [{"platform": None}]}, own, repository)
    place = {"os": "linux", "architecture": "amd64"}
    top["manifests"][0] = {**repository.manifest(own, MANIFEST), "artifactType": TARGET, "platform": place}
    change(top, {"layers": [{}]}, repository)
    repository.manifest(top, INDEX, tag="1.0.0")


def test_several_for_one_platform(mirror: Mirror) -> None:
    lay(mirror.repository, lambda top, _image, _repository: top["manifests"].append(dict(top["manifests"][0])))
    with pytest.raises(UnavailableError, match="ambiguous manifest has multiple descriptors for platform linux_amd64"):
        mirror.package()


def test_an_entry_for_a_version_of_the_system_is_passed_over(mirror: Mirror) -> None:
    def change(top: dict[str, Any], _image: dict[str, Any], _repository: Repository) -> None:
        place = {"os": "linux", "architecture": "amd64", "os.version": "6"}
        top["manifests"].append({**top["manifests"][0], "platform": place})

    lay(mirror.repository, change)
    assert mirror.package().hashes


def test_several_packages_in_one_manifest(mirror: Mirror) -> None:
    lay(mirror.repository, lambda _top, own, _repository: own["layers"].append(dict(own["layers"][0])))
    with pytest.raises(UnavailableError, match="ambiguous manifest declares multiple eligible provider packages"):
        mirror.package()


@pytest.mark.parametrize(
    ("media_type", "words"),
    [
        (MANIFEST, "selected an OCI image manifest directly"),
        ("application/vnd.docker.distribution.manifest.list.v2+json", "unsupported media type"),
        ("", "without a media type"),
    ],
)
def test_a_tag_on_something_else(mirror: Mirror, media_type: str, words: str) -> None:
    mirror.repository.manifest({"mediaType": media_type}, media_type, tag="1.0.0")
    with pytest.raises(UnavailableError, match=words):
        mirror.package()


def test_content_that_is_not_as_its_digest_says(mirror: Mirror) -> None:
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped()})
    target = json.loads(mirror.repository.manifests[mirror.repository.tags["1.0.0"]].data)["manifests"][0]["digest"]
    mirror.gives(f"/manifests/{target}", b"{}" + b" " * 100, Content_Type=MANIFEST)
    with pytest.raises(UnavailableError, match=f"does not match digest {target}"):
        mirror.package()


@pytest.mark.parametrize(
    ("said", "words"), [("sha256:" + "1" * 64, "does not match digest sha256:1111"), ("md5:0", "no digest that can be")]
)
def test_a_digest_that_the_registry_says(mirror: Mirror, said: str, words: str) -> None:
    mirror.gives("/manifests/1.0.0", b"{}", Content_Type=INDEX, Docker_Content_Digest=said)
    with pytest.raises(UnavailableError, match=words):
        mirror.package()


def test_a_manifest_above_the_bound(mirror: Mirror) -> None:
    mirror.gives("/manifests/1.0.0", b" " * (5 << 20), Content_Type=INDEX)
    with pytest.raises(UnavailableError, match="sent a manifest of more than 4 MiB"):
        mirror.package()
    mirror.gives("/manifests/1.0.0", b"{}" + b" " * (4 << 20), Content_Type=INDEX)
    with pytest.raises(UnavailableError, match="unexpected manifest media type"):
        mirror.package()


@pytest.mark.parametrize("data", [zipped() + b"x", zipped()[:-1], b""], ids=["longer", "shorter", "empty"])
@pytest.mark.parametrize("has_length", [True, False])
def test_a_blob_of_another_size(mirror: Mirror, data: bytes, has_length: bool) -> None:
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped()})

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        if has_length:
            handler.send_header("Content-Length", str(len(data)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = True

    mirror.server.on(f"/v2/{NAME}/blobs/{digest_of(zipped())}", answer)
    with pytest.raises(UnavailableError, match=f"another size than the {len(zipped())} bytes"):
        mirror.read()


def test_a_redirect_of_a_blob_takes_no_login_along(serve: Serve, authority: trustme.CA) -> None:
    mirror = serve('oci_credentials "HOST" {\n  username = "me"\n  password = "secret"\n}\n')
    mirror.server.basic = {"me": "secret"}
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped()})
    with serving(server_context(authority, "localhost")) as store:
        store.on(f"/b/{digest_of(zipped())}", lambda handler: handler.reply(200, zipped()))
        mirror.server.blobs_at = store.url("/b/", "localhost")
        assert mirror.read() == zipped()
        assert ["authorization" in one.headers for one in store.asked] == [False]
    assert sum("authorization" not in one.headers for one in mirror.server.asked) == 1  # The first one, before it asks.


def test_a_token_for_one_repository(serve: Serve) -> None:
    mirror = serve('oci_credentials "HOST" {\n  username = "me"\n  password = "secret"\n}\n')
    mirror.server.tokens = {"me": "secret"}
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped()})
    assert mirror.read() == zipped()
    tokens = [one for one in mirror.server.asked if one.path.startswith("/token")]
    assert [f"scope=repository%3A{NAME.replace('/', '%2F')}%3Apull" in one.path for one in tokens] == [True]
    others = [one.headers.get("authorization", "") for one in mirror.server.asked if one not in tokens]
    assert others == ["", *["Bearer token-0"] * (len(others) - 1)]


def test_a_token_without_a_login(mirror: Mirror) -> None:
    mirror.server.tokens, mirror.server.is_anonymous = {"me": "secret"}, True
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped()})
    assert mirror.read() == zipped()


def test_a_token_that_ends_is_renewed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror = serve('oci_credentials "HOST" {\n  username = "me"\n  password = "secret"\n}\n')
    mirror.server.tokens = {"me": "secret"}
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped()})
    now = [1000.0]
    monkeypatch.setattr("locklens.sources.oci_session.time.monotonic", lambda: now[0])
    mirror.package()
    mirror.server.granted.clear()
    now[0] += 300
    assert mirror.read() == zipped()


@pytest.mark.parametrize("scheme", ["basic", "tokens"])
def test_a_login_that_is_missing_or_wrong(serve: Serve, scheme: str) -> None:
    for more in ("", 'oci_credentials "HOST" {\n  username = "me"\n  password = "wrong"\n}\n'):
        mirror = serve(more)
        setattr(mirror.server, scheme, {"me": "secret"})
        with pytest.raises(UnauthorizedError, match="401 Unauthorized") as raised:
            mirror.versions()
        assert "docker login" in raised.value.hint
        assert "secret" not in str(raised.value) + raised.value.hint


@pytest.mark.parametrize(
    "realm",
    ["http://tokens.test/t", "https://10.0.0.8/t", "https://[::1]/t", "https://me:pw@tokens.test/t", "ftp://x/", ""],
)
def test_a_place_for_tokens_that_gets_no_password(serve: Serve, realm: str) -> None:
    mirror = serve('oci_credentials "HOST" {\n  username = "me"\n  password = "secret"\n}\n')
    challenge = f'Bearer realm="{realm}",service="x"'
    mirror.gives("/tags/list", b"", 401, WWW_Authenticate=challenge)
    with pytest.raises((UnavailableError, UnauthorizedError)):
        mirror.versions()
    assert len(mirror.server.asked) <= 2


def test_a_challenge_of_another_server_gets_no_answer(serve: Serve, authority: trustme.CA) -> None:
    mirror = serve('oci_credentials "HOST" {\n  username = "me"\n  password = "secret"\n}\n')
    with serving(server_context(authority, "localhost")) as other:
        other.on("/t", lambda handler: handler.reply(401, b"", WWW_Authenticate='Basic realm="x"'))
        place = other.url("/t", "localhost")
        mirror.server.on(f"/v2/{NAME}/tags/list", lambda handler: handler.reply(307, b"", Location=place))
        with pytest.raises(UnauthorizedError):
            mirror.versions()
        assert ["authorization" in one.headers for one in other.asked] == [False]


def test_offline_nothing_is_asked(serve: Serve) -> None:
    mirror = serve(is_offline=True)
    with pytest.raises(OfflineError):
        mirror.versions()
    assert not mirror.server.asked


def test_a_template_that_cannot_be_evaluated_is_no_absence(serve: Serve) -> None:
    mirror = serve()
    method = mirror.registries.config.installation.methods[0]  # type: ignore[union-attr]
    for template in ("e.test/${[for x in [type]: x][0]}", "${hostname}_${namespace}_${type}"):
        source = OciMirror(replace(method, place=template), mirror.registries.oci())
        with pytest.raises(UnavailableError, match="selecting OCI repository address"):
            source.versions(DEMO)


def test_the_hashes_of_every_platform(mirror: Mirror) -> None:
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped(), "darwin_arm64": zipped(b"other")})
    (found,) = mirror.registries.mirrors(DEMO)
    assert isinstance(found, OciMirror)
    assert found.listed_hashes(DEMO, ONE) == {
        HERE: (f"zh:{digest_of(zipped())[7:]}",),
        Platform("darwin", "arm64"): (f"zh:{digest_of(zipped(b'other'))[7:]}",),
    }


def test_what_was_asked_is_shared_until_it_is_to_be_forgotten(mirror: Mirror) -> None:
    mirror.repository.provider("1.0.0", {"linux_amd64": zipped()})

    def asked() -> int:
        for found in mirror.registries.mirrors(DEMO):
            assert isinstance(found, OciMirror)
            found.listed_hashes(DEMO, ONE)
        return len(mirror.server.asked)

    assert [asked(), asked()] == [3, 3]
    mirror.registries.forget()
    assert asked() == 6
