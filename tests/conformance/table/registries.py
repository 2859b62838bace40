"""Where providers come from: hosts of one's own, credentials, and registries that fail now and then."""

from __future__ import annotations

from functools import partial

from conformance.case import Case, Catalog, Entry, Theme, init, lock, requires
from conformance.table.locks import OLD, locked

from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.published import SampleListing

DEMO = requires(("acme/demo", "~> 1.0"))

OWN = "reg.acme.test"
TLS = "localhost:@PORT@"
_OWN: Catalog = {f"{OWN}/acme/demo": ("1.0.0", "1.1.0")}
_TLS: Catalog = {"localhost/acme/demo": ("1.0.0", "1.1.0"), "hashicorp/null": ("3.1.0", "3.2.0")}

_host = partial(Case, theme=Theme.HOSTS)
HOSTS = (
    _host(name="host-block", files={"main.tf": requires((f"{OWN}/acme/demo", "~> 1.0"))}, catalog=_OWN),
    _host(name="host-block-locked", files=locked(Entry(f"{OWN}/acme/demo", "1.0.0"), text=requires((f"{OWN}/acme/demo", ""))),
          catalog=_OWN, turns=(init(), init("-upgrade"), lock("-platform=windows_amd64"))),
    _host(name="host-block-without-the-service", files={"main.tf": requires(("none.test/acme/demo", ""))},
          cli='host "none.test" {\n  services = { "modules.v1" = "http://127.0.0.1:9/" }\n}\n'),
    _host(name="host-block-without-services", files={"main.tf": requires(("none.test/acme/demo", ""))},
          cli='host "none.test" {}\n'),
    _host(name="host-with-capitals-and-port", files={"main.tf": requires(("Reg.ACME.test:443/acme/demo", ""))},
          catalog=_OWN),
    _host(name="same-provider-of-two-hosts", catalog=_OWN | {"acme/demo": ("1.0.0", "1.2.0")}, turns=(init(), lock()),
          files={"main.tf": requires((f"{OWN}/acme/demo", "1.0.0"), ("acme/demo", ""))
                 .replace('demo = {\n      source  = "reg', 'own = {\n      source  = "reg')}),
    _host(name="order-of-hosts", turns=(init(),), catalog={
        "aaa.test/a/demo": ("1.0.0",), "zzz.test/a/b": ("1.0.0",), "acme/demo-x": ("1.0.0",), "acme/demox": ("1.0.0",),
        "acme/third": ("1.0.0",), "b/c": ("1.0.0",)},
          files={"main.tf": requires(("aaa.test/a/demo", ""), ("zzz.test/a/b", ""), ("acme/demo-x", ""), ("acme/demox", ""),
                                     ("acme/third", ""), ("b/c", ""))}),
    _host(name="unicode-host", files={"main.tf": requires(("испытание.test/acme/demo", ""), ("acme/other", "1.0.0"))},
          catalog={"испытание.test/acme/demo": ("1.0.0",), "acme/other": ("1.0.0",)}),
    _host(name="own-tls", tls=True, catalog=_TLS, turns=(init(), init(), lock("-platform=windows_amd64")),
          files={"main.tf": requires((f"{TLS}/acme/demo", "~> 1.0"))}),
    _host(name="own-tls-locked", tls=True, catalog=_TLS, turns=(init(), init("-upgrade")),
          files=locked(Entry(f"{TLS}/acme/demo", "1.0.0", "~> 1.0"), text=requires((f"{TLS}/acme/demo", "~> 1.0")))),
    _host(name="own-tls-beside-the-default", tls=True, catalog=_TLS,
          files={"main.tf": requires((f"{TLS}/acme/demo", "~> 1.0")) .replace("demo = {", "own = {")
                 + 'provider "own" {}\n', "more.tf": 'resource "null_resource" "x" {}\n'}),
    _host(name="own-tls-not-trusted", tls=True, catalog=_TLS, environment={"SSL_CERT_FILE": "/dev/null"},
          files={"main.tf": requires((f"{TLS}/acme/demo", ""))}),
    _host(name="own-tls-no-discovery", tls=True, catalog=_TLS, faults=(FaultRule(Fault.NOT_FOUND, step=Step.DISCOVERY),),
          files={"main.tf": requires((f"{TLS}/acme/demo", ""))}),
    _host(name="own-tls-discovery-fails", tls=True, catalog=_TLS, faults=(FaultRule(Fault.SERVER_ERROR, step=Step.DISCOVERY),),
          files={"main.tf": requires((f"{TLS}/acme/demo", ""))}),
    _host(name="own-tls-discovery-is-a-page", tls=True, catalog=_TLS, faults=(FaultRule(Fault.HTML, step=Step.DISCOVERY),),
          files={"main.tf": requires((f"{TLS}/acme/demo", ""))}),
    _host(name="the-other-tools-registry", files={"main.tf": requires(("@OTHER@/acme/demo", ""))},
          catalog={"@OTHER@/acme/demo": ("1.0.0",)}),
    _host(name="warning-of-the-registry", files={"main.tf": DEMO}, warnings={"acme/demo": ("This one is old.", "Go on.")}),
    _host(name="versions-otherwise-spelled", files={"main.tf": DEMO},
          catalog={"acme/demo": (SampleListing("1.0.0", listed="1"), SampleListing("1.1.0", listed="01.1"))}),
    _host(name="versions-with-a-bad-one", files={"main.tf": DEMO},
          catalog={"acme/demo": ("1.0.0", SampleListing("1.1.0", listed="v1.1.0"))}),
    _host(name="no-versions", files={"main.tf": DEMO}, catalog={"acme/demo": ()}),
)  # fmt: skip

_PRIVATE: Catalog = {f"{OWN}/acme/demo": ("1.0.0",), "my-reg.acme.test/acme/demo": ("1.0.0",)}
_credentials = partial(
    Case, theme=Theme.CREDENTIALS, catalog=_PRIVATE, files={"main.tf": requires((f"{OWN}/acme/demo", ""))},
    tokens={OWN: "right", "my-reg.acme.test": "right"},
)  # fmt: skip


def _block(token: str) -> str:
    return f'credentials "{OWN}" {{\n  token = "{token}"\n}}\n'


CREDENTIALS = (
    _credentials(name="variable", environment={"TF_TOKEN_reg_acme_test": "right"}),
    _credentials(name="variable-with-dash", environment={"TF_TOKEN_my__reg_acme_test": "right"},
                 files={"main.tf": requires(("my-reg.acme.test/acme/demo", ""))}),
    _credentials(name="block", cli=_block("right")),
    _credentials(name="none"),
    _credentials(name="none-for-lock", turns=(lock(),)),
    _credentials(name="wrong-variable", environment={"TF_TOKEN_reg_acme_test": "wrong"}),
    _credentials(name="wrong-block", cli=_block("wrong")),
    _credentials(name="variable-before-block", environment={"TF_TOKEN_reg_acme_test": "right"}, cli=_block("wrong")),
    _credentials(name="empty-variable-before-block", environment={"TF_TOKEN_reg_acme_test": ""}, cli=_block("right")),
    _credentials(name="of-another-host", environment={"TF_TOKEN_other_acme_test": "right"}),
    _credentials(name="right-for-lock", environment={"TF_TOKEN_reg_acme_test": "right"}, turns=(lock(),)),
    _credentials(name="own-tls", tls=True, catalog=_TLS, tokens={"localhost": "right"},
                 cli=f'credentials "{TLS}" {{\n  token = "right"\n}}\n',
                 files={"main.tf": requires((f"{TLS}/acme/demo", ""))}),
    _credentials(name="own-tls-none", tls=True, catalog=_TLS, tokens={"localhost": "right"},
                 files={"main.tf": requires((f"{TLS}/acme/demo", ""))}),
)  # fmt: skip

_flaky = partial(Case, theme=Theme.FLAKY, files={"main.tf": DEMO})
_STEPS = tuple(step for step in Step if step not in {Step.DISCOVERY, Step.DATES})
# Waits between attempts are what these take their time with: few attempts, and none of a package twice.
_QUICK = {"TF_PROVIDER_DOWNLOAD_RETRY": "1"}
FLAKY = (
    *(_flaky(name=f"500-once-{step}", faults=(FaultRule(Fault.SERVER_ERROR, step=step, times=1),), environment=_QUICK) for step in _STEPS),
    *(_flaky(name=f"500-always-{step}", faults=(FaultRule(Fault.SERVER_ERROR, step=step),), environment=_QUICK) for step in _STEPS),
    *(_flaky(name=f"404-{step}", faults=(FaultRule(Fault.NOT_FOUND, step=step),), environment=_QUICK) for step in _STEPS),
    *(_flaky(name=f"401-{step}", faults=(FaultRule(Fault.UNAUTHORIZED, step=step),), environment=_QUICK) for step in _STEPS),
    *(_flaky(name=f"429-once-{step}", faults=(FaultRule(Fault.TOO_MANY_REQUESTS, step=step, times=1),), environment=_QUICK) for step in (Step.VERSIONS, Step.PACKAGE)),
    *(_flaky(name=f"html-{step}", faults=(FaultRule(Fault.HTML, step=step),), environment=_QUICK) for step in _STEPS),
    *(_flaky(name=f"elsewhere-{step}", faults=(FaultRule(Fault.REDIRECT_ELSEWHERE, step=step),)) for step in _STEPS),
    *(_flaky(name=f"truncated-{step}", faults=(FaultRule(Fault.TRUNCATED, step=step),), environment=_QUICK) for step in (Step.VERSIONS, Step.SUMS, Step.PACKAGE)),
    *(_flaky(name=f"wrong-length-{step}", faults=(FaultRule(Fault.WRONG_LENGTH, step=step),), environment=_QUICK) for step in (Step.VERSIONS, Step.SUMS, Step.PACKAGE)),
    _flaky(name="cut-once-versions", faults=(FaultRule(Fault.CUT, step=Step.VERSIONS, times=1),)),
    _flaky(name="redirected-for-ever", faults=(FaultRule(Fault.REDIRECT_LOOP, step=Step.VERSIONS),)),
    _flaky(name="one-of-two-packages", files={"main.tf": requires(("acme/demo", "~> 1.0"), ("acme/other", ""))},
           faults=(FaultRule(Fault.NOT_FOUND, "acme/other", step=Step.PACKAGE),)),
    _flaky(name="one-of-two-packages-over-a-lock",
           files=locked(OLD, Entry("acme/other", "1.0.0"), text=requires(("acme/demo", "~> 1.0"), ("acme/other", ""))),
           faults=(FaultRule(Fault.NOT_FOUND, "acme/other", step=Step.PACKAGE),)),
    _flaky(name="then-well", faults=(FaultRule(Fault.NOT_FOUND, step=Step.SUMS),), turns=(init(), init(faults=()))),
    _flaky(name="package-for-lock", faults=(FaultRule(Fault.NOT_FOUND, step=Step.PACKAGE),), turns=(lock(),)),
    _flaky(name="versions-for-lock", faults=(FaultRule(Fault.NOT_FOUND, step=Step.VERSIONS),), turns=(lock(),)),
    _flaky(name="no-retries", faults=(FaultRule(Fault.SERVER_ERROR, step=Step.VERSIONS, times=2),),
           environment={"TF_REGISTRY_DISCOVERY_RETRY": "2"}),
)  # fmt: skip

CASES = (*HOSTS, *CREDENTIALS, *FLAKY)
