"""Valid inputs of every kind, small."""

from __future__ import annotations

import json

ZH = ["zh:" + digit * 64 for digit in "0123456789abcdef"]
H1 = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "h1:DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU47="]


def entry(address: str, version: str, constraints: str, hashes: list[str]) -> str:
    listed = "".join(f'    "{one}",\n' for one in sorted(hashes))
    bound = f'  constraints = "{constraints}"\n' if constraints else ""
    return f'\nprovider "{address}" {{\n  version     = "{version}"\n{bound}  hashes = [\n{listed}  ]\n}}\n'


HEADER = '# This file is maintained automatically by "{} init".\n# Manual edits may be lost in future updates.\n'
AWS = entry("registry.terraform.io/hashicorp/aws", "5.1.0", "~> 5.0, != 5.0.1", [*H1, *ZH[:4]])
DEMO = entry("registry.example.com:8443/acme/demo", "1.0.0-beta.2+build", "", ZH[:2])
LOCKS = [
    (HEADER.format("terraform") + AWS + DEMO).encode(),
    (HEADER.format("tofu") + entry("registry.opentofu.org/acme/x", "0.0.1", ">= 0.0.1", H1)).encode(),
    (HEADER.format("terraform") + AWS).replace("\n", "\r\n").encode(),
    b'provider "registry.terraform.io/a/b" {\n  version = "1.0.0" # why\n  hashes = ["zh:00", /* x */ "h1:a"]\n}\n',
]
CONFLICT = (
    HEADER.format("terraform")
    + "\n<<<<<<< HEAD\n"
    + AWS.lstrip()
    + "=======\n"
    + AWS.lstrip().replace("5.1.0", "5.2.0")
    + ">>>>>>> feature\n"
).encode()
LOCK_WORDS = [
    b"provider",
    b"version",
    b"constraints",
    b"hashes",
    b"h1:",
    b"zh:",
    b"registry.terraform.io/hashicorp/aws",
]

CONFIGURATIONS = [
    b"""terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0, < 6"
      configuration_aliases = [aws.east, aws.west]
    }
    demo = { source = "registry.example.com/acme/demo" }
  }
  backend "s3" {
    bucket = "b"
  }
}
provider "aws" {
  alias  = "east"
  region = var.region
}
resource "aws_instance" "a" {
  for_each = { for k, v in var.x : k => upper(v) if v != "" }
  provider = aws.east
  user_data = <<-EOT
    ${join(",", [for s in var.list : "${s}!"])}
    %{ if true }x%{ endif }
  EOT
}
data "demo_thing" "x" { count = 1 > 0 ? 1 : 0 }
module "net" {
  source = "./net"
  providers = { aws = aws.east }
}
""",
    b'module "a" {\n  source = "../a"\n}\nmodule "b" {\n  source  = "acme/b/aws"\n  version = "1.0"\n}\n',
    b'run "x" {\n  command = plan\n  module {\n    source = "./setup"\n  }\n}\nmock_provider "aws" {}\n',
]
JSON_CONFIGURATIONS = [
    json.dumps(
        {
            "terraform": {"required_providers": {"aws": {"source": "hashicorp/aws", "version": "~> 5.0"}}},
            "provider": [{"aws": {"alias": "x"}}, {"aws": {"region": "${var.r}"}}],
            "resource": {"aws_instance": {"a": {"provider": "aws.x", "count": 2, "//": "comment"}}},
            "module": {"m": {"source": "./m", "providers": {"aws": "aws.x"}}},
        },
        indent=1,
    ).encode()
]
CONFIGURATION_WORDS = [
    b"required_providers",
    b"source",
    b"version",
    b"module",
    b"resource",
    b"for",
    b"providers",
    b"...",
]

POLICIES = [
    b'cooldown = 7 # days\ninstall_paths = ["direct", "plugin-cache"]\n\n[platforms]\nlinux_amd64 = "CI"\n',
    b'platforms = ["linux_amd64", "darwin_arm64"]\r\n',
    b"""fail_on = "warn"
hosts = ["registry.example.com"]
allow = ["hashicorp/*", "cloudflare/cloudflare ~> 5.0"]
accept_from = "base"
reported_hashes = ["registry.opentofu.org", "registry.example.com"]
[severity]
LK004 = "block"
[trust."acme"]
keys = ["1B673F155E471E8C4D4F644A6EF31C7EB267ED69"]
by = "x"
on = 2026-11-20
[[accept]]
rule = "LK001"
provider = "registry.terraform.io/acme/demo"
change = "0123456789abcdef0123456789abcdef"
reason = "r"
on = 2026-11-20
until = 2027-01-01
""",
]
EDITED_POLICIES = [
    *POLICIES,
    b"# top\ntrust.acme.keys = ['1B673F155E471E8C4D4F644A6EF31C7EB267ED69']\naccept = []\ncooldown = 1",
    b'[trust]\n"example.com/acme" = { keys = ["1B673F155E471E8C4D4F644A6EF31C7EB267ED69"] } # why\n[trust.acme]\nkeys = []\n',
    b'accept = [{ rule = "LK001", provider = "registry.terraform.io/acme/demo", change = "0123456789abcdef0123456789abcdef", reason = "r" }]\n',
]
POLICY_WORDS = [
    b"cooldown",
    b"platforms",
    b"install_paths",
    b"[[accept]]",
    b"2026-11-20",
    b'"""',
    b"'''",
    b"inf",
    b"a.b.c",
]

VERSIONS = [
    json.dumps(
        {
            "id": "acme/demo",
            "versions": [
                {"version": "1.0.0", "protocols": ["5.0"], "platforms": [{"os": "linux", "arch": "amd64"}]},
                {"version": "2.0.0-rc1", "protocols": ["4.0", "5.1"], "platforms": []},
            ],
            "warnings": ["renamed"],
        }
    ).encode()
]
PACKAGES = [
    json.dumps(
        {
            "protocols": ["5.0"],
            "os": "linux",
            "arch": "amd64",
            "filename": "terraform-provider-demo_1.0.0_linux_amd64.zip",
            "download_url": "https://example.com/demo.zip",
            "shasums_url": "/SHA256SUMS",
            "shasums_signature_url": "SHA256SUMS.sig",
            "shasum": "0" * 64,
            "signing_keys": {"gpg_public_keys": [{"ascii_armor": "-----BEGIN", "trust_signature": ""}]},
            "packages": {"linux_amd64": {"hashes": [ZH[0], H1[0]], "package_size": 3}},
        }
    ).encode()
]
DATES = [
    json.dumps({"data": [{"attributes": {"version": "1.0.0", "published-at": "2024-01-01T00:00:00Z"}}]}).encode(),
    json.dumps({"included": [], "versions": [{"id": "v1.0.0", "published": "2024-01-01T00:00:00Z"}]}).encode(),
]
SERVICES = [b'{"providers.v1": "/v1/providers/", "modules.v1": "https://example.com/m/"}']
ANSWER_WORDS = [
    b'"versions"',
    b'"VERSIONS"',
    b'"protocols"',
    b'"platforms"',
    b'"packages"',
    b"https://",
    b"http://[::1",
    b"{}",
]

STATES = [
    json.dumps(
        {
            "version": 4,
            "resources": [
                {
                    "mode": "managed",
                    "type": "demo_thing",
                    "name": "x",
                    "provider": 'module.a["k"].provider["registry.terraform.io/acme/demo"].x',
                    "instances": [],
                }
            ],
        }
    ).encode(),
    b'{"version": 3, "modules": [{"path": ["root"], "resources": {"aws_x.a": {"type": "aws_x", "provider": "aws.b"}}}]}',
]
MODULES = [
    json.dumps(
        {
            "Modules": [
                {"Key": "", "Source": "", "Dir": "."},
                {"Key": "net", "Source": "./net", "Dir": "net"},
                {"Key": "b", "Source": "acme/b/aws", "Version": "1.0.0", "Dir": ".terraform/modules/b"},
            ]
        }
    ).encode()
]
CONSTRAINTS = [b"~> 5.0, != 5.0.1", b">= 1.2.3-beta.1+x, < 2", b"= 1", b"  ~>1.2 , >0 ", b"1.0.0"]
CONSTRAINT_WORDS = [b"~>", b">=", b"<=", b"!=", b"=", b",", b"-0", b"+", b".", b"v1", b"99999999999999999999", b" "]

SUMS = [
    "".join(
        f"{ZH[at][3:]}  terraform-provider-demo_1.0.0_{platform}.zip\n"
        for at, platform in enumerate(("linux_amd64", "darwin_arm64", "windows_386"))
    ).encode()
    + f"{ZH[9][3:]} *terraform-provider-demo_1.0.0_manifest.json\n".encode()
]

CLI_CONFIGURATIONS = [
    b"""plugin_cache_dir = "/tmp/x" // y
credentials "registry.example.com" {
  token = "secret-token"
}
host "registry.example.com" {
  services = {
    "providers.v1" = "https://example.com/v1/"
  }
}
provider_installation {
  dev_overrides {
    "acme/demo" = "/tmp/y"
  }
  oci_mirror {
    repository_template = "registry.example.com/${hostname == "a" ? "b" : hostname}/${namespace}/${type}"
  }
  filesystem_mirror {
    path    = "/usr/share"
    include = ["example.com/*/*"]
  }
  network_mirror { url = "https://example.com/m/" }
  direct {
    exclude = ["example.com/*/*"]
  }
}
credentials_helper "x" {
  args = ["--a"]
}
oci_credentials "registry.example.com/a" {
  username = "x"
  password = "secret"
}
oci_default_credentials {
  docker_style_config_files = ["y"]
  docker_credentials_helper = "z"
}
""",
    json.dumps(
        {"credentials": {"registry.example.com": {"token": "secret-token"}}, "disable_checkpoint": True}
    ).encode(),
]
DOCKER_CONFIGURATIONS = [
    json.dumps(
        {
            "auths": {"registry.example.com/a": {"auth": "eDpzZWNyZXQtdG9rZW4="}, "https://index.docker.io/v1/": {}},
            "credHelpers": {"registry.example.com": "x"},
            "credsStore": "y",
        }
    ).encode()
]
TEMPLATES = [
    b"registry.example.com/a/${hostname}/${namespace}/${type}",
    b'${type == "demo" ? {a = "x", "b" : [1, 2]}["a"] : "y"}%{ if !(1 + 2 < 3) ~} $${x} %{~ else }z%{ endif }',
]
TEMPLATE_WORDS = [b"${", b"}", b"%{ if ", b"%{ endif }", b'"', b"[", b"(", b"!", b"?", b":", b"~}", b"0", b"null", b"."]
CHALLENGES = [
    b'Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="repository:a/b:pull"',
    b'Basic realm="x", Bearer realm="\\"y\\\\"',
]
CLI_WORDS = [
    b"credentials",
    b"host",
    b"services",
    b"provider_installation",
    b"token",
    b"<<X\n",
    b"direct {}",
    b"oci_mirror {",
    b"${",
    b"}",
]
