"""The golden files beside the real tools, where those of the recorded version are on PATH.

A sample of the cases is run again, or all of them; see `effort`.
"""

from __future__ import annotations

import platform
import sys

import pytest
from conformance import golden
from conformance.case import TOOLS, Case, Theme, Tool
from conformance.cases import CASES
from conformance.outcome import DEEDS, WORDS
from conformance.running import is_here, process, run_cases
from kit.effort import effort

_EVERY = effort(56, 1)

is_there = sys.platform == "linux" and platform.machine() == "x86_64"


def sampled(tool: Tool) -> list[Case]:
    """Some cases of each theme, other ones with each tool where the theme has enough; or all."""
    first = list(TOOLS).index(tool.name) * _EVERY // len(TOOLS)
    of_themes = [[case for case in CASES if case.theme is theme and tool.name in case.tools] for theme in Theme]
    return [case for cases in of_themes if cases for case in cases[first % len(cases) :: _EVERY]]


@pytest.mark.skipif(not is_there, reason="the golden files were recorded on linux_amd64")
@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_the_real_tool_still_does_what_was_recorded(tool: Tool) -> None:
    if not is_here(tool):
        pytest.skip(f"needs {tool.command} {tool.version} on PATH")
    chosen = sampled(tool)
    found = run_cases(chosen, tool, process(tool.command))
    told = [text for case in chosen for text in golden.judge(case, tool, found[case.key], (*DEEDS, *WORDS))]
    assert told == []
