"""Output of `locklens cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.cli.output import tell
from locklens.errors import ConfigurationError
from locklens.storage.cache import Cache
from locklens.text import page, size_words

if TYPE_CHECKING:
    from locklens.text import Printable


def info() -> Printable:
    """Returns the place of the cache, its size and the number of its entries.

    Raises:
        ConfigurationError: It cannot be read.
    """
    with Cache() as cache:
        found = cache.info()
        notices = cache.take_notices()
    if found.path is None:
        raise ConfigurationError(notices[-1], hint="locklens cache clear removes it")
    tell(f"warning: {notice}" for notice in notices)
    ages = f", asked from {found.oldest} to {found.newest}" if found.oldest else ""
    lines = (
        f"file           {found.path}",
        f"size           {size_words(found.size)}",
        f"answers        {found.answers}{ages}",
        f"verifications  {found.verifications}",
        f"packages       {found.packages}",
    )
    return page(lines)


def clear() -> Printable:
    """Empties the cache, and returns the message about it.

    Raises:
        ConfigurationError: It cannot be written.
    """
    from locklens.storage.cache import default_cache_path

    with Cache() as cache:
        cache.clear()
    return page([f"cleared {default_cache_path()}; marks are kept"])
