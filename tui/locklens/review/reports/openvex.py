"""The advisories of an inspected package as an OpenVEX document, for scanners (https://github.com/openvex/spec, 0.2.0).

"Not affected" is said only where the function table of the program was read, the database names functions, and none of
them is there; all else that cannot be said is under investigation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from locklens import __version__
from locklens.advisories import ATTRIBUTION, STDLIB, TOOLCHAIN, Linkage
from locklens.advisories.goversions import is_go_version
from locklens.errors import ConfigurationError
from locklens.text import identity_of, json_text, listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.advisories import AdvisoryMatch, Unjudged
    from locklens.review.inspection import ChangeAdvisories, InspectedPackage, Inspection
    from locklens.text import Printable

_CONTEXT = "https://openvex.dev/ns/v0.2.0"
_DOCUMENTS = "https://openvex.dev/docs/public/vex-"
_ENTRY = "https://pkg.go.dev/vuln/"
_AUTHOR = "Unknown Author"
"""The specification asks for a person or an organisation, which nobody named; other tools write the same."""

_FUNCTIONS = 5

_NOTES = {
    Linkage.LINKED: "linked by name, which does not say that it is called",
    Linkage.NOT_LINKED: "none of the functions that the advisory names is in the program's function table",
    Linkage.NO_SYMBOLS: "the database names no functions",
    Linkage.UNKNOWN: "the function table cannot be read, or names nothing of this module",
    Linkage.OTHER_PLATFORM: "the database names other operating systems or architectures only",
}


def openvex(found: Inspection) -> Printable:
    """Return the document of the package that was looked into, the newer one of two.

    Raises:
        ConfigurationError: There is nothing to state, which a document must.
    """
    known, newer = found.advisories, found.judged
    if known is None or newer is None:
        hint = "locklens advisories update reads one" if newer is not None else "locklens inspect says why"
        what = "no database of advisories is kept" if newer is not None else "no package was looked into"
        raise ConfigurationError(f"no OpenVEX document can be made: {what}", hint=hint)
    statements = list(_statements(known, newer))
    if not statements:
        raise ConfigurationError(f"no advisory concerns {newer.name} ({known.date_words}): nothing to state in OpenVEX")
    document = {
        "@context": _CONTEXT,
        "@id": f"{_DOCUMENTS}{identity_of(str(statements))}",
        "author": _AUTHOR,
        "timestamp": found.at,
        "version": 1,
        "tooling": f"locklens {__version__}; {ATTRIBUTION}, {known.date_words}",
        "statements": statements,
    }
    return json_text(document)


def _statements(known: ChangeAdvisories, newer: InspectedPackage) -> Iterator[dict[str, Any]]:
    for match in known.now.matches:
        yield {"vulnerability": _vulnerability(match), "products": [_product(newer, match)], **_status(match)}
    for match in known.differences.fixed if known.differences is not None else ():
        yield {
            "vulnerability": _vulnerability(match),
            "products": [_product(newer)],
            "status": "fixed",
            "status_notes": f"the older package has {match.module} {match.version}",
        }
    for one in known.now.unjudged:
        for name in one.ids:
            yield {
                "vulnerability": {**_entry(name), "name": name},
                "products": [_product(newer)],
                "status": "under_investigation",
                "status_notes": _reason(one),
            }


def _reason(one: Unjudged) -> str:
    return f"{one.module}: {one.why}"


def _status(match: AdvisoryMatch) -> dict[str, str]:
    notes = _NOTES[match.linkage]
    if match.linkage is Linkage.NOT_LINKED:
        return {"status": "not_affected", "status_notes": notes, "justification": "vulnerable_code_not_present"}
    if match.linkage is not Linkage.LINKED and not match.is_own:
        return {"status": "under_investigation", "status_notes": notes}
    what = "the provider itself" if match.is_own else match.module
    action = f"use a release with {what} {match.fixed_in}" if match.fixed_in else "no version that fixes it is known"
    if match.functions:
        notes = f"{notes}: {listing(match.functions, _FUNCTIONS)}"
    return {"status": "affected", "status_notes": notes if not match.is_own else what, "action_statement": action}


def _vulnerability(match: AdvisoryMatch) -> dict[str, Any]:
    aliases = list(dict.fromkeys(match.aliases))
    return {
        **_entry(match.id),
        "name": match.id,
        **({"description": match.summary} if match.summary else {}),
        **({"aliases": aliases} if aliases else {}),
    }


def _entry(name: str) -> dict[str, str]:
    return {"@id": f"{_ENTRY}{name}"} if name.startswith("GO-") else {}


def _product(package: InspectedPackage, match: AdvisoryMatch | None = None) -> dict[str, Any]:
    """Return the program of a package: by its digest, and by its module and version where both are known."""
    facts = package.facts
    assert facts is not None
    build = facts.executable.build if facts.executable is not None else None
    main = build.main if build is not None else None
    named: dict[str, Any] = {}
    version = f"v{package.version}" if package.version is not None else main.version if main is not None else ""
    if main is not None and main.path and is_go_version(version):
        purl = _purl(main.path, version)
        named = {"@id": purl, "identifiers": {"purl": purl}}
    digests = (one.sha256 for one in facts.files if one.name == facts.executable_name)
    if digest := next(digests, (facts.zh or "").removeprefix("zh:")):
        named["hashes"] = {"sha-256": digest}
    if match is not None and not match.is_own:
        purl = _purl(match.module, match.version)
        named["subcomponents"] = [{"@id": purl, "identifiers": {"purl": purl}}]
    return named


def _purl(module: str, version: str) -> str:
    """Return the package URL of a Go module."""
    number = version.removeprefix("go") if module in (STDLIB, TOOLCHAIN) else version
    return f"pkg:golang/{quote(module, safe='/')}@{quote(number, safe='')}"
