"""What is known of the inside of a change's packages: the advisories that concern the old and the new version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.advisories import AdvisoryDatabase, AdvisoryDifferences, PackageAdvisories
from locklens.advisories.matching import compare_advisories

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.advisories import AdvisoryMatch, Unjudged
    from locklens.policy.model import IgnoredAdvisory


class ChangeAdvisories(Struct, frozen=True):
    """The advisories of a change, as far as packages were inspected before; nothing is downloaded for them.

    Attributes:
        date_words: How old the database is.
        as_of: Its date, ISO 8601; None where it has none.
        source: Where it was read from.
        now: Those of the new version.
        differences: What the new version does to those of the old one; None without an old version, or where one of
            both packages was not inspected.
        platform: The platform of the inspected packages; "" where the package of the new version was not inspected,
            so that only those of the provider itself are known.
        ignored: The ids of those that the policy ignores, which are in neither.
    """

    date_words: str
    as_of: str | None
    source: str
    now: PackageAdvisories
    differences: AdvisoryDifferences | None = None
    platform: str = ""
    ignored: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to say of any advisory."""
        changed = self.differences is not None and (self.differences.fixed or self.differences.introduced)
        return not (self.now.matches or self.now.unjudged or changed or self.ignored)

    @property
    def inside(self) -> tuple[AdvisoryMatch, ...]:
        """Those of modules inside that count."""
        return tuple(match for match in self.now.counting if not match.is_own)

    @property
    def own(self) -> tuple[AdvisoryMatch, ...]:
        """Those of the provider itself that count."""
        return tuple(match for match in self.now.counting if match.is_own)


class ReleaseAdvisories(Struct, frozen=True):
    """The advisories of one version of a provider.

    Attributes:
        database: Its source and dates; without its entries.
        inspected: Those of each package that was inspected, by platform.
        own: Those of the provider itself, which need no package.
    """

    database: AdvisoryDatabase
    inspected: Mapping[str, PackageAdvisories]
    own: PackageAdvisories

    def after(self, old: ReleaseAdvisories | None) -> ChangeAdvisories:
        """Return what is known of this version, and what it does to the advisories of an older one.

        Packages are compared of one platform that both were inspected for, of this machine's if possible.

        Args:
            old: None without an older version.
        """
        before = old.inspected if old is not None else {}
        platform = _best(self.inspected.keys() & before.keys()) or _best(self.inspected)
        now = self.inspected[platform] if platform else self.own
        differences = compare_advisories(before[platform], now) if platform in before else None
        made = self.database
        return ChangeAdvisories(made.date_words, made.as_of, made.source, now, differences, platform)

    def fixes_words(self, old: ReleaseAdvisories, ignored: Iterable[IgnoredAdvisory]) -> str:
        """Return how many advisories of an older version this one fixes.

        Returns:
            A number; with a plus sign those of the provider itself where not both were inspected; "?" for none of them.
        """
        known = heeding(self.after(old), ignored)
        if known.differences is not None:
            return str(sum(match.counts for match in known.differences.fixed))
        fixed = sum(match.counts for match in compare_advisories(old.own, self.own).fixed)
        return f"{fixed}+" if fixed else "?"


def _best(platforms: Iterable[str]) -> str:
    """Return this machine's platform if it is among some, else the first of them; "" for none."""
    from locklens.project.clifiles import this_platform

    names = sorted(platforms)
    here = this_platform()
    return here if here in names else next(iter(names), "")


def heeding(known: ChangeAdvisories, ignored: Iterable[IgnoredAdvisory]) -> ChangeAdvisories:
    """Return what is known without what the policy ignores, which is named."""
    names = {each.id.casefold() for each in ignored}
    if not names:
        return known
    found: set[str] = set()

    def is_kept(match: AdvisoryMatch) -> bool:
        is_ignored = bool(names.intersection(each.casefold() for each in (match.id, *match.aliases)))
        if is_ignored:
            found.add(match.id)
        return not is_ignored

    def kept(matches: tuple[AdvisoryMatch, ...]) -> tuple[AdvisoryMatch, ...]:
        return tuple(filter(is_kept, matches))

    def judged(one: Unjudged) -> Unjudged | None:
        ids = tuple(each for each in one.ids if each.casefold() not in names)
        return replace(one, ids=ids) if ids or not one.ids else None

    differences = known.differences
    if differences is not None:
        sides = {name: kept(getattr(differences, name)) for name in ("introduced", "fixed", "both")}
        differences = replace(differences, **sides)
    now = PackageAdvisories(kept(known.now.matches), tuple(filter(None, map(judged, known.now.unjudged))))
    return replace(known, now=now, differences=differences, ignored=tuple(sorted(found)))
