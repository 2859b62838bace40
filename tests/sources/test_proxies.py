"""Which proxy a request goes through."""

from __future__ import annotations

import pytest

from locklens.sources.http.environment import proxy_for

PROXY = "http://proxy.acme.test:3128"


@pytest.mark.parametrize(
    ("url", "no_proxy", "is_proxied"),
    [
        ("https://registry.terraform.io/", "", True),
        ("https://localhost:8443/", "", False),
        ("https://127.0.0.2/", "", False),
        ("https://[::1]:1/", "", False),
        ("https://a.acme.test/", "acme.test", False),
        ("https://acme.test/", "acme.test", False),
        ("https://acme.test/", ".acme.test", True),
        ("https://a.acme.test/", "other, *.acme.test", False),
        ("https://nacme.test/", "acme.test", True),
        ("https://A.ACME.test/", "a.acme.TEST", False),
        ("https://a.acme.test:8443/", "acme.test:8443", False),
        ("https://a.acme.test/", "acme.test:8443", True),
        ("https://a.acme.test/", "acme.test:443", False),
        ("https://10.1.2.3/", "10.0.0.0/8", False),
        ("https://11.1.2.3/", "10.0.0.0/8", True),
        ("https://10.1.2.3/", "10.1.2.3", False),
        ("https://[fd00::1]/", "fd00::/8", False),
        ("https://[fd00::1]:8443/", "[fd00::1]:8443", False),
        ("https://a.acme.test/", "*", False),
    ],
)
def test_no_proxy_reads_as_the_tools_read_it(url: str, no_proxy: str, is_proxied: bool) -> None:
    assert proxy_for(url, {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}) == (PROXY if is_proxied else "")


def test_names_in_either_case_and_addresses_without_scheme() -> None:
    assert proxy_for("https://a.test/", {"https_proxy": "proxy:1"}) == "http://proxy:1"
    assert proxy_for("http://a.test/", {"https_proxy": "proxy:1"}) == ""
    assert proxy_for("http://a.test/", {"HTTP_PROXY": "proxy:1"}) == "http://proxy:1"
    assert proxy_for("http://a.test/", {"HTTP_PROXY": "proxy:1", "REQUEST_METHOD": "GET"}) == ""
