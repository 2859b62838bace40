"""The rule about module calls, which no lock file pins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.rules.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.review.model import RootReview


def _not_exact(root: RootReview) -> Iterator[Verdict]:
    for called in root.configuration.remote_modules if root.configuration is not None else ():
        if not called.is_exact:
            version = f" {called.version}" if called.version else ""
            words = f"module {called.call} ({called.source}{version}) is not called in an exact version or commit"
            yield Verdict(words, called.line, called.file)


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK029": _not_exact}
