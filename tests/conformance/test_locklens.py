"""locklens beside what the real tools did: every case, both tools. Where it does otherwise, the table says why.

A sample has every case with one of the tools, and those in which locklens does otherwise with both.
"""

from __future__ import annotations

import platform
import sys
from collections import Counter

import pytest
from conformance import golden
from conformance.case import TOOLS, Case, Deviation, Theme, Tool
from conformance.cases import CASES
from conformance.forking import Locklens
from conformance.running import run_cases
from kit.effort import effort

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the golden files were recorded on linux_amd64"
)
both = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)

DEVIATING = {
    "terraform": {
        Deviation.ODD_SUMS: 4, Deviation.TAMPERED_FOLDER: 5, Deviation.REPUBLISHED: 6, Deviation.STRICT_READONLY: 3,
        Deviation.KEEPS_CRLF: 2, Deviation.NO_REGISTRY_NEEDED: 8, Deviation.REQUIRED_VERSION: 1,
        Deviation.LOCAL_MODULES: 5, Deviation.SAFE_ZIP: 5, Deviation.UNJUDGED: 3, Deviation.ZH_ONLY_CACHE: 1,
        Deviation.NEWER: 3,
    },
    "opentofu": {
        Deviation.ODD_SUMS: 4, Deviation.TAMPERED_FOLDER: 12, Deviation.REPUBLISHED: 6, Deviation.STRICT_READONLY: 3,
        Deviation.KEEPS_CRLF: 2, Deviation.NO_REGISTRY_NEEDED: 5, Deviation.LOCAL_MODULES: 5, Deviation.SAFE_ZIP: 5,
        Deviation.REGISTRY_HASHES: 1, Deviation.MIRROR_HASHES: 1,
    },
}  # fmt: skip
"""In how many cases locklens does otherwise, by reason."""


def sampled(tool: Tool, theme: Theme) -> list[Case]:
    """The cases of a theme in which locklens does what the tool does: in a sample, each tool has those that the other has not."""
    cases = [case for case in CASES if case.theme is theme and tool.name in case.tools and not case.deviation]
    both_have = [case for case in cases if len(case.tools) == len(TOOLS)]
    every = effort(2, 1)
    ours = both_have[list(TOOLS).index(tool.name) % every :: every]
    return [case for case in cases if case in ours or case not in both_have]


@both
@pytest.mark.parametrize("theme", Theme)
def test_it_does_what_the_tool_does(tool: Tool, theme: Theme, locklens: Locklens) -> None:
    chosen = sampled(tool, theme)
    found = run_cases(chosen, tool, locklens.of(tool))
    assert [line for case in chosen for line in golden.judge(case, tool, found[case.key])] == []


@both
def test_it_does_otherwise_where_the_table_says_so(tool: Tool, locklens: Locklens) -> None:
    chosen = [case for case in CASES if case.deviation and tool.name in case.tools]
    found = run_cases(chosen, tool, locklens.of(tool))
    differing = Counter(case.deviation for case in chosen if golden.judge(case, tool, found[case.key]))
    assert differing == DEVIATING[tool.name]


def test_a_sample_has_every_case() -> None:
    for theme in Theme:
        wanted = {case.key for case in CASES if case.theme is theme and not case.deviation}
        assert {case.key for tool in TOOLS.values() for case in sampled(tool, theme)} == wanted
