"""The order of Go's versions, as https://go.dev/ref/mod#versions and https://go.dev/doc/toolchain have it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from locklens.executables import NOTABLE_MEANINGS, module_key, notable_in, toolchain_key

MODULES = (
    "v0.0.0-20190101000000-aaaaaaaaaaaa",
    "v0.0.0-20200101000000-aaaaaaaaaaaa",
    "v0.9.0",
    "v1.2.3-0.20200101000000-aaaaaaaaaaaa",
    "v1.2.3-alpha.2",
    "v1.2.3-alpha.10",
    "v1.2.3-rc.1",
    "v1.2.3-rc.1.1",
    "v1.2.3",
    "v1.2.10",
    "v2.0.0+incompatible",
    "v10.0.0",
)
TOOLCHAINS = (
    "go1.9.2",
    "go1.18",
    "go1.18.10",
    "go1.21rc2",
    "go1.21.0",
    "go1.21.13",
    "go1.26.8 X:jsonv2",
    "devel go1.27-abc",
)


def test_modules_are_in_order() -> None:
    keys = [module_key(version) for version in MODULES]
    assert all(low < high for low, high in pairwise(keys))  # type: ignore[operator]
    assert module_key("v1.0.0+incompatible") == module_key("v1.0.0")


def test_toolchains_are_in_order() -> None:
    keys = [toolchain_key(go) for go in TOOLCHAINS]
    assert all(low < high for low, high in pairwise(keys))  # type: ignore[operator]
    assert toolchain_key("go1.20") == toolchain_key("go1.20.0")


@pytest.mark.parametrize("text", ["", "(devel)", "1.2.3", "v1.2", "v1.2.3.4", "v1.2.3-", "v" + "9" * 5000 + ".0.0"])
def test_what_is_no_version_has_no_place(text: str) -> None:
    assert module_key(text) is None
    assert toolchain_key(text) is None


def test_notable_packages_are_told_by_functions_rarest_first() -> None:
    functions = ("net/http.(*Server).Serve", "net/http.(*Server).ServeTLS", "os/exec.(*Cmd).Start", "plugin.Open")
    assert notable_in(functions) == {"plugin": 1, "os/exec": 1, "net/http.Server": 2}
    assert notable_in(("plugins.Open", "os/exec.(*Cmd).Output", "zzz")) == {}
    assert set(notable_in(functions)) <= NOTABLE_MEANINGS.keys()
