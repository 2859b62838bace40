"""Secrets are told by their shape; what a report is for stays; each mark is made once."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.secret_shapes import KINDS, SECRET

from locklens.doctor.redacting import redacted

KEPT = (
    f"h1:n2Vv4X8HbQ0GmH0lWEHjnRtGTvO0b4rY9Y4Z1x8KJfE= zh:{'a1' * 32} commit {'0a' * 20}, key {'34365D9472D7468F'}",
    "registry.terraform.io/hashicorp/google-beta v5.84.0-beta1+build.20240101 on linux_amd64 and windows_386",
    "terraform-provider-google-beta_5.84.0_SHA256SUMS.72D7468F.sig, terraform-provider-aws_v5.84.0_x5",
    "https://releases.hashicorp.com/terraform-provider-aws/5.84.0/terraform-provider-aws_5.84.0_linux_amd64.zip",
    "live/home/prod/users-of-database/eu-west-1/main.tf line 12, modules/network_interface_association",
    "authentication signature: openpgp: signature made by unknown entity; rpc error: code = Unavailable desc = x",
    "~> 5.0, >= 1.2.3; hashicorp/terraform:1.5.7@sha256:" + "ab" * 32,
    "EC2RoleRequestError: S3BucketAlreadyExistsException, token expired, the signing key was revoked",
    "git@github.com:acme/modules.git v0.0.0-20191109021931-daa7c04131f5",
    "svc/auth: svc/auth/.terraform.lock.hcl can be read; infra/secrets: infra/secrets/main.tf:3, token: .terraform.lock.hcl",
    "hashicorp/tls is required (auth.tf:3, modules/secrets.tf.json:12); openpgp: invalid signature: EdDSA verification failure",
    "locklens lock --platform linux_amd64 acme/demo -- live/prod",
    "module web (git::https://git.example.com/net.git?ref=release/v1.1.0), not git::ssh://git@git.example.com/a.git?ref=main",
)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_secret(kind: str) -> None:
    shown = redacted(f"Failed: {kind} and the rest of 1.2.3")
    assert SECRET not in shown
    assert "omebody" not in shown
    assert redacted(shown) == shown
    assert "1.2.3" in shown


@pytest.mark.parametrize("text", KEPT)
def test_what_a_report_is_for_stays(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "X-JFrog-Art-Api: kangaroo",
        'the password is "kangaroo"',
        "password was 'kangaroo'",
        "asked jo.kangaroo@corp.example",
        "auth: kangaroo/hop.sh",
        "auth.tf: kangaroo1",
        "secrets.tf: 3kangaroo",
        "signature: KangaROO",
        "git::https://git.example.com/net.git?ref=main&sshkey=kangaroo",
    ],
)
def test_words_that_a_name_or_a_sign_betrays(text: str) -> None:
    assert "kangaroo" not in redacted(text)


ALPHABET = string.ascii_letters + string.digits
CONTEXTS = (
    "{}",
    "x={} y",
    "({})",
    "'{}'",
    'Get "https://host.example/{}": EOF',
    "token: {}.",
    "[{}]",
    "a `{}` b",
    "/{}/x",
)


@given(st.sampled_from(CONTEXTS), st.integers(0, 10_000), st.integers(32, 64))
def test_a_long_run_of_mixed_characters_is_a_secret_anywhere(context: str, seed: int, length: int) -> None:
    secret = "".join(random.Random(seed).choices(ALPHABET, k=length))
    shown = redacted(context.format(secret))
    assert secret not in shown
    assert redacted(shown) == shown


@given(st.sampled_from(KINDS), st.text("ab1/:=@ \"'`,.;-[]", max_size=12), st.text("ab1/: ,.;-", max_size=12))
def test_no_text_around_it_keeps_a_secret(kind: str, before: str, after: str) -> None:
    assert SECRET not in redacted(f"{before} {kind} {after}")


@pytest.mark.parametrize("home", ["/home/al", "/home/al/"])
def test_another_home_that_begins_alike(home: str) -> None:
    assert redacted("/home/al/x /home/alice/y", home=home) == "~/x ~/y"
