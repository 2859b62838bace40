"""locklens as the tools are run: by a command, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conformance.forking import Locklens


@pytest.fixture(scope="session")
def locklens() -> Iterator[Locklens]:
    with Locklens() as running:
        yield running
