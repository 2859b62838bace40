"""The network settings of a run."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from locklens.project.installation import InstallationMethod
    from locklens.storage.cache import Cache


class NetworkSettings(Struct, frozen=True):
    """The hosts that a run may contact, and its caches.

    Attributes:
        environ: Tokens, proxies, certificates and the place of the CLI configuration.
        cache: What is kept between runs.
        hosts: Given on the command line, comparison form.
        is_offline: No request is sent; cached answers count, however old.
        is_fresh: Answers that were cached before the run do not count.
        reported_hashes: Registries whose reported hashes are locked by OpenTofu's rules, and explain hashes in a
            review, comparison form; None: its own registry's are locked, and any that is asked explains.
        methods: Where packages are installed from, as the command line says; None for where the tool would.
        asks_all: Plans may ask every registry that the roots require, as the tools do on the user's own roots.
    """

    environ: Mapping[str, str]
    cache: Cache
    hosts: tuple[str, ...] = ()
    is_offline: bool = False
    is_fresh: bool = False
    asks_all: bool = False
    reported_hashes: tuple[str, ...] | None = None
    methods: tuple[InstallationMethod, ...] | None = None

    def fresher(self, is_fresh: bool) -> Self:
        """Return the same settings; if True, answers that were cached before the run do not count."""
        return replace(self, is_fresh=True) if is_fresh else self
