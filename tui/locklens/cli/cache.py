"""What `locklens cache` says."""

from __future__ import annotations

import sys

from locklens.errors import ConfigurationError
from locklens.storage.cache import Cache


def info() -> str:
    """Returns where the cache is and what is in it.

    Raises:
        ConfigurationError: It cannot be read.
    """
    from locklens.review.reports.sizes import size_words
    from locklens.review.reports.visible import visible

    with Cache() as cache:
        found = cache.info()
        notices = cache.take_notices()
    if found.path is None:
        raise ConfigurationError(notices[-1], hint="locklens cache clear removes it")
    for notice in notices:
        print(f"warning: {visible(notice)}", file=sys.stderr)  # noqa: T201
    ages = f", asked from {found.oldest} to {found.newest}" if found.oldest else ""
    lines = (
        f"file           {visible(str(found.path))}",
        f"size           {size_words(found.size)}",
        f"answers        {found.answers}{ages}",
        f"verifications  {found.verifications}",
        f"packages       {found.packages}",
    )
    return "".join(f"{line}\n" for line in lines)


def clear() -> str:
    """Forgets everything, and returns what was done.

    Raises:
        ConfigurationError: It cannot be done.
    """
    from locklens.review.reports.visible import visible
    from locklens.storage.cache import default_path

    with Cache() as cache:
        cache.clear()
    return f"cleared {visible(str(default_path()))}; marks are kept\n"
