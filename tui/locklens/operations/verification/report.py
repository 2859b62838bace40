"""A verification as lines of text, and as the JSON document of schema 1."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.hashes import h1_in
from locklens.operations.verification.judging import FAILING, PackageVerdict
from locklens.review.reports.documents import ComparedPackage, Count, JsonStruct, PackageFileJson, PackageJson, RunJson
from locklens.text import Printable, counted, page, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.operations.verification.judging import EntryPackages, PackageVerification, VerifiedPackage

NOT_COMPARED = "not-compared"
"""The verdict on a place whose packages were not looked at."""


class VerifySummaryJson(JsonStruct, frozen=True):
    """The number of packages of each verdict."""

    matches: Count
    differs: Count
    unlocked: Count
    missing: Count
    unreadable: Count


class VerifyDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The packages of this machine, compared with lock files; failures are roots that could not be read."""

    run: RunJson
    packages: list[ComparedPackage]
    failures: list[str]
    summary: VerifySummaryJson

    @classmethod
    def of(cls, found: PackageVerification) -> VerifyDocument:
        """Return the document of a verification."""
        return cls(
            run=RunJson.without_policy(at=found.at, offline=found.is_offline, notes=(*found.tracked, *found.notes)),
            packages=[_package(package) for package in found.packages],
            failures=[failure.sentence for failure in found.failures],
            summary=VerifySummaryJson(**{verdict.value: count for verdict, count in _counts(found).items()}),
        )


def _package(package: VerifiedPackage) -> PackageJson:
    place = package.place
    return PackageJson(
        provider=str(place.address),
        version=str(place.version),
        platform=str(place.platform),
        where=place.where.value,
        path=place.shown,
        h1=h1_in(package.shown.split()),
        verdict=package.verdict.value,
        reason=package.reason or None,
        files=[PackageFileJson(one.name, one.state.value) for one in package.files],
    )


def package_documents(
    known: Mapping[tuple[str, ProviderAddress], EntryPackages],
) -> dict[tuple[str, ProviderAddress], list[PackageJson]]:
    """Return the packages of each entry, and the places that were not looked at, for the reports of `hashes`."""
    return {
        named: [
            *map(_package, found.packages),
            *(
                PackageJson(where=place.where.value, path=place.shown, verdict=NOT_COMPARED, reason=place.problem)
                for place in found.searched
                if place.problem
            ),
        ]
        for named, found in known.items()
    }


def _counts(found: PackageVerification) -> dict[PackageVerdict, int]:
    counts = Counter(package.verdict for package in found.packages)
    return {verdict: counts[verdict] for verdict in PackageVerdict}


def verification_text(found: PackageVerification, *, lists_all: bool) -> Printable:
    """Return the packages that are not as locked, or all of them, and a summary."""
    lines = []
    for package in found.packages:
        if lists_all or package.verdict in FAILING:
            place = package.place
            name = f"{place.address} {place.version} {place.platform}"
            lines.append(f"{package.verdict:10}  {place.where:12}  {visible(name)}  {visible(place.shown)}")
            lines += [f"            {visible(package.reason)}"] if package.reason else []
            if package.verdict is PackageVerdict.DIFFERS and package.shown:
                lines.append(f"            {package.shown} is not locked")
            lines += [f"            {one.state:8}  {visible(one.name)}" for one in package.files]
    counts = _counts(found)
    checked = len(found.packages) - counts[PackageVerdict.UNLOCKED]
    parts = [f"{counts[verdict]} {_WORDS[verdict]}" for verdict in _WORDS if counts[verdict]]
    unlocked = f"; {counts[PackageVerdict.UNLOCKED]} not locked" if counts[PackageVerdict.UNLOCKED] else ""
    lines.append(f"{counted(checked, 'package')} compared: {', '.join(parts) or 'none'}{unlocked}")
    return page(lines)


_WORDS = {
    PackageVerdict.MATCHES: "as locked",
    PackageVerdict.DIFFERS: "not as locked",
    PackageVerdict.MISSING: "missing",
    PackageVerdict.UNREADABLE: "unreadable",
}
