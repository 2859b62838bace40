"""Provider versions and version constraints as Terraform and OpenTofu read, order and print them.

The order is not SemVer's: a pre-release with fewer dot-separated parts sorts below one with more, whatever the parts
are, because the go-versions library that both tools use compares that first. Constraint texts in configurations pass
two parsers with different tastes one after the other; both are here. `packaging` does the algebra of ranges over
released versions, nothing else, and only in `constraints`.
"""

from __future__ import annotations

from locklens.versions.constraints import (
    Constraints,
    NotAdmissibleError,
    Relation,
    admitting,
    canonical,
    newest_matching,
)
from locklens.versions.version import (
    WRONG_SYNTAX,
    ConstraintSyntaxError,
    Operator,
    Term,
    Version,
    VersionSyntaxError,
    neighbour,
    newest,
    precedence,
)

__all__ = [
    "WRONG_SYNTAX",
    "ConstraintSyntaxError",
    "Constraints",
    "NotAdmissibleError",
    "Operator",
    "Relation",
    "Term",
    "Version",
    "VersionSyntaxError",
    "admitting",
    "canonical",
    "neighbour",
    "newest",
    "newest_matching",
    "precedence",
]
