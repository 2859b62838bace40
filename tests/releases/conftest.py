"""Sessions that send no request."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from releases.memory import MemorySession

from locklens.releases import NetworkSettings
from locklens.sources import Source
from locklens.sources.hosts import NotAsked
from locklens.storage.cache import Cache

Opened = Callable[[Source | NotAsked], MemorySession]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens a session for a source."""
    with ExitStack() as stack:

        def session(source: Source | NotAsked) -> MemorySession:
            made = MemorySession(NetworkSettings(os.environ, Cache.in_memory()), None)
            made.memory = source
            return stack.enter_context(made)

        yield session
