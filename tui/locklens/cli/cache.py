"""Output of `locklens cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.cli.output import put, tell
from locklens.errors import ConfigurationError
from locklens.storage.cache import Cache
from locklens.text import page, size_words

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.text import Printable


def run_cache(options: Namespace) -> int:
    """Show or clear the cache."""
    return put(_cleared() if options.action == "clear" else _contents())


def _contents() -> Printable:
    """Return the place of the cache, its size and the number of its entries.

    Raises:
        ConfigurationError: It cannot be read.
    """
    with Cache() as cache:
        contents = cache.info()
        notices = cache.take_notices()
    if contents.path is None:
        raise ConfigurationError(notices[-1], hint="locklens cache clear removes it")
    tell(f"warning: {notice}" for notice in notices)
    ages = f", asked from {contents.oldest} to {contents.newest}" if contents.oldest else ""
    lines = (
        f"file           {contents.path}",
        f"size           {size_words(contents.size)}",
        f"answers        {contents.answers}{ages}",
        f"verifications  {contents.verifications}",
        f"packages       {contents.packages}",
    )
    return page(lines)


def _cleared() -> Printable:
    """Empty the cache, and return the message about it.

    Raises:
        ConfigurationError: It cannot be written.
    """
    from locklens.storage.cache import default_cache_path

    with Cache() as cache:
        cache.clear()
    return page([f"cleared {default_cache_path()}; marks are kept"])
