"""A verification as lines of text, and as a JSON document whose JSON Schema ships beside this module."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from locklens.hashes import h1_in
from locklens.operations.verification.model import FAILING, PackageVerdict
from locklens.review.reports.envelope import run_facts
from locklens.text import counted, json_text, page, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.operations.verification.judging import EntryPackages
    from locklens.operations.verification.model import PackageVerification, VerifiedPackage
    from locklens.text import Printable

VerifyJson = dict[str, Any]
VERIFY_SCHEMA = 1

NOT_COMPARED = "not-compared"
"""The verdict on a place whose packages were not looked at."""


def verify_schema() -> VerifyJson:
    """Return the JSON Schema of the document."""
    from pathlib import Path

    loaded: VerifyJson = json.loads(Path(__file__).with_name("verify.schema.json").read_text("utf-8"))
    return loaded


def verification_json(found: PackageVerification) -> Printable:
    """Return the document as indented text."""
    return json_text(document(found))


def document(found: PackageVerification) -> VerifyJson:
    """Return the document as plain values."""
    return {
        "schema": VERIFY_SCHEMA,
        "run": run_facts(at=found.at, offline=found.is_offline, notes=(*found.tracked, *found.notes)),
        "packages": [_package(package) for package in found.packages],
        "failures": [failure.sentence for failure in found.failures],
        "summary": {str(verdict): count for verdict, count in _counts(found).items()},
    }


def _package(package: VerifiedPackage) -> VerifyJson:
    place = package.place
    return {
        "provider": str(place.address),
        "version": str(place.version),
        "platform": str(place.platform),
        "where": str(place.where),
        "path": place.shown,
        "h1": h1_in(package.shown.split()),
        "verdict": str(package.verdict),
        "reason": package.reason or None,
        "files": [{"name": one.name, "state": str(one.state)} for one in package.files],
    }


def package_documents(
    known: Mapping[tuple[str, ProviderAddress], EntryPackages],
) -> dict[tuple[str, ProviderAddress], list[VerifyJson]]:
    """Return the packages of each entry as plain values, and the places that were not looked at."""
    return {
        named: [
            *map(_package, found.packages),
            *(
                {"where": str(place.where), "path": place.shown, "verdict": NOT_COMPARED, "reason": place.problem}
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
