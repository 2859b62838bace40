"""The table of cases; `conformance.table` holds them by theme."""

from __future__ import annotations

from conformance.case import Case
from conformance.table import (
    authentication,
    broken_lock,
    constraints,
    folders,
    locking,
    locks,
    migration,
    mirrors,
    modules,
    oci,
    registries,
    requirements,
)

CASES: tuple[Case, ...] = (
    *constraints.CASES,
    *modules.CASES,
    *requirements.CASES,
    *locks.CASES,
    *locking.CASES,
    *registries.CASES,
    *authentication.CASES,
    *broken_lock.CASES,
    *folders.CASES,
    *migration.CASES,
    *mirrors.CASES,
    *oci.CASES,
)
