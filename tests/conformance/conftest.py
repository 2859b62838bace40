"""locklens as the tools are run: by a command, in a process of its own."""

from __future__ import annotations

import pytest
from conformance.forking import Locklens, shared


@pytest.fixture(scope="session")
def locklens() -> Locklens:
    return shared()
