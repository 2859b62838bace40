"""Cases that nobody thought of: a catalogue, constraints, a lock file and commands, made from a number."""

from __future__ import annotations

from random import Random

from conformance.case import (
    HERE,
    LOCK_FILE,
    PLATFORMS,
    Case,
    Catalog,
    Entry,
    Files,
    Lock,
    Theme,
    Turn,
    calls,
    init,
    lock,
    requires,
)
from conformance.table.modules import MANIFEST, manifest
from msgspec.structs import replace

SOURCES = ("acme/demo", "acme/other", "corp/demo", "hashicorp/null")
_OPERATORS = ("", "= ", "!= ", "> ", ">= ", "< ", "<= ", "~> ", ">=", "~>")
_BEHIND = ("", "", "", "", "-alpha", "-beta.2", "-beta.11", "-rc1", "+b1")
_TURNS: tuple[Turn, ...] = (
    init(), init(), init("-upgrade"), init("-lockfile=readonly"), lock(), lock(*(f"-platform={one}" for one in PLATFORMS)),
)  # fmt: skip


def generated(seed: int) -> Case:
    """Returns a case; the same number gives the same one.

    No two versions of a provider differ in build metadata alone: the tools pick one of those at random. What locklens does
    better on purpose is left out, but for readonly runs in which only hashes would change.
    """
    random = Random(seed)
    sources = random.sample(SOURCES, random.randint(1, 3))
    catalog: Catalog = {source: _versions(random) for source in sources}
    targets = {source: str(random.choice(offered)) for source, offered in catalog.items()}
    files = _configuration(random, catalog, targets)
    turns = tuple(random.choice(_TURNS) for _ in range(random.randint(1, 2)))
    has_foreign_hashes = random.random() < 0.2 and not any("lock" in turn.words for turn in turns)
    entries = [_entry(random, source, catalog, targets[source]) for source in sources if random.random() < 0.5]
    if entries:
        of = str(random.choice(catalog[entries[0].source])) if has_foreign_hashes else ""
        files[LOCK_FILE] = Lock((replace(entries[0], of=of), *entries[1:]))
    return Case(theme=Theme.CONSTRAINTS, name=f"generated-{seed}", files=files, catalog=catalog, turns=turns)


def _versions(random: Random) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for _ in range(random.randint(1, 7)):
        version = _version(random)
        found[version.partition("+")[0]] = version
    return tuple(found.values())


def _version(random: Random) -> str:
    numbers = ".".join(str(random.choice((0, 1, 1, 2, 3, 10))) for _ in range(3))
    return numbers + random.choice(_BEHIND)


def _constraint(random: Random, offered: tuple[str, ...], target: str) -> str:
    """Returns 0 to 3 terms; most of them hold for the target, or conflicts would be all that there is."""
    terms = [_term(random, offered, target) for _ in range(random.choice((0, 1, 1, 1, 2, 3)))]
    return random.choice((", ", ",")).join(terms)


def _term(random: Random, offered: tuple[str, ...], target: str) -> str:
    release = target.partition("-")[0].partition("+")[0]
    if target != release or random.random() < 0.2:
        return random.choice(("", "= ")) + target
    if random.random() < 0.6:
        return random.choice((">= ", "<= ", "~> ", ">=", "~>")) + random.choice((release, release.rpartition(".")[0]))
    return random.choice(_OPERATORS) + (random.choice(offered) if random.random() < 0.5 else _version(random))


def _configuration(random: Random, catalog: Catalog, targets: dict[str, str]) -> Files:
    """Returns a root and up to two modules, any of which may have an override file, and the manifest of modules."""
    names = ("one", "two")[: random.choice((0, 0, 1, 2))]
    files: Files = {MANIFEST: manifest(*((name, f"./{name}", name) for name in names))}
    for name in ("", *names):
        folder = f"{name}/" if name else ""
        text = _requires(random, catalog, targets)
        files[f"{folder}main.tf"] = text if name else text + "".join(calls(one, f"./{one}") for one in names)
        if random.random() < 0.1:
            files[f"{folder}override.tf"] = _requires(random, catalog, targets)
    return files


def _requires(random: Random, catalog: Catalog, targets: dict[str, str]) -> str:
    chosen: dict[str, tuple[str, str]] = {}
    for source, offered in catalog.items():
        if random.random() < 0.75:
            versions = tuple(str(version) for version in offered)
            chosen[source.rpartition("/")[2]] = source, _constraint(random, versions, targets[source])
    return requires(*chosen.values()) if chosen else ""


def _entry(random: Random, source: str, catalog: Catalog, target: str) -> Entry:
    """Returns what may be locked: any version, with any of its hashes."""
    offered = [str(version) for version in catalog[source]]
    version = target if random.random() < 0.6 else random.choice((*offered, _version(random)))
    return Entry(
        source,
        version,
        h1=random.choice(((HERE,), (HERE,), (), PLATFORMS)),
        zh=random.choice((PLATFORMS, PLATFORMS, (), (HERE,))),
        more=random.choice(((), (), ("h9:x",))),
    )
