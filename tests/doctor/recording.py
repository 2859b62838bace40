"""Errors of the real tools, provoked on loopback: the scenes, and how each is played.

`python tests/doctor/recording.py` writes what both tools print into `tests/data/doctor/recorded`, each file with the
command that made it in its first line. The tests play them again where the tools are on PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from locklens.demo.faults import Fault, FaultRule, Faults, Step
from locklens.demo.incidents import SampleCopy, SampleIncident, incident_environment, make_incident, sample_incidents
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration

RECORDED = Path(__file__).parent.parent / "data" / "doctor" / "recorded"
TOOLS = {"terraform": "terraform", "opentofu": "tofu"}
HOST = "registry.terraform.io"
_SECONDS = 120
INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}


class Scene(Struct, frozen=True):
    """A failure of a tool.

    Attributes:
        name: Of the recorded file.
        incident: The repository and the registry, with full provider addresses in the configuration.
        words: Of the command, in the root's folder.
        kinds: The kind of the error, by tool; "" where the tool accepts it.
        mirror: True to install from the folder `mirror` alone.
        is_diagnosed: False where only the recognition of the error is tested.
        prepare: Called with the folder of the repository before the tool runs.
        is_reachable: False where no registry listens.
    """

    name: str
    incident: SampleIncident
    words: tuple[str, ...]
    kinds: dict[str, str]
    mirror: bool = False
    is_diagnosed: bool = True
    prepare: Callable[[Path], None] = lambda _: None
    is_reachable: bool = True


def qualified(incident: SampleIncident) -> SampleIncident:
    """Returns an incident whose configuration names providers with their host, for either tool."""
    constraints = tuple((f"{HOST}/{source}", text) for source, text in incident.constraints)
    return replace(incident, constraints=constraints)


def _scene(
    cause: str,
    kind: str,
    *words: str,
    opentofu: str | None = None,
    mirror: bool = False,
    copies: tuple[SampleCopy, ...] | None = None,
) -> Scene:
    incident = INCIDENTS[cause]
    incident = replace(qualified(incident), copies=incident.copies if copies is None else copies)
    kinds = {"terraform": kind, "opentofu": kind if opentofu is None else opentofu}
    return Scene(cause, incident, words or ("init", "-no-color"), kinds, mirror)


def scenes() -> dict[str, Scene]:
    """Returns every scene by its name."""
    genuine = SampleCopy("mirror", f"{HOST}/acme/demo", "1.4.2")
    installed = replace(genuine, folder="live/prod/.terraform/providers", edition="tampered")
    damaged = _scene("download-damaged", "archive-checksum")
    rule = replace(INCIDENTS["republished"].rules[0], fault=Fault.TAMPERED_PACKAGE)
    found = [
        _scene("h1-missing", "local-package", mirror=True, copies=(genuine,)),
        _scene("mirror-differs", "local-package", mirror=True),
        _scene("platform-missing", "current-package"),
        _scene("republished", "current-package"),
        _scene("hand-edit", "current-package"),
        _scene("other-tool", "current-package"),
        _scene("bad-merge", "lock-invalid"),
        _scene("lock-syntax", "lock-invalid"),
        _scene("constraint-conflict", "lock-constraint"),
        _scene("not-locked", "not-locked", "plan", "-no-color", copies=(replace(installed, edition=""),)),
        _scene("plugin-missing", "plugin-missing", "plan", "-no-color"),
        _scene("plugin-corrupted", "cached-package", "plan", "-no-color"),
        _scene("key-expired", "bad-signature", opentofu=""),
        _scene("key-revoked", "bad-signature"),
        _scene("key-changed", "unknown-issuer"),
        _scene("yanked", "version-gone"),
        _scene("registry-down", "registry-failed"),
        _scene("credentials", "credentials-missing"),
        replace(damaged, incident=replace(damaged.incident, cause="package-altered", rules=(rule,))),
    ]
    return {scene.name: scene for scene in (*found, *_recognised_scenes())}


def _recognised_scenes() -> Iterator[Scene]:
    """Yields the scenes of further rows of the catalogue, each named after its row."""
    whole = INCIDENTS["download-damaged"]
    address = "registry.terraform.io/acme/demo"

    def scene(
        kind: str, incident: SampleIncident, *words: str, opentofu: str | None = None, mirror: bool = False
    ) -> Scene:
        kinds = {"terraform": kind, "opentofu": kind if opentofu is None else opentofu}
        return Scene(kind, qualified(incident), words or ("init", "-no-color"), kinds, mirror, is_diagnosed=False)

    def failing(kind: str, fault: Fault, step: Step | None = None, opentofu: str | None = None) -> Scene:
        rules = (FaultRule(fault, address if step is not Step.DISCOVERY else HOST, step=step),)
        return scene(kind, replace(whole, rules=rules), opentofu=opentofu)

    two = replace(whole, constraints=(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")))
    yield failing("sums-differ", Fault.OTHER_CHECKSUM)
    yield failing("sums-without-package", Fault.SUMS_WITHOUT_PACKAGE)
    yield failing("broken-key", Fault.BROKEN_KEY)
    yield failing("platform-unavailable", Fault.NOT_FOUND, Step.DOWNLOAD)
    yield failing("sums-unavailable", Fault.NOT_FOUND, Step.SUMS)
    yield failing("download-failed", Fault.NOT_FOUND, Step.PACKAGE)
    yield failing("download-cut", Fault.TRUNCATED, Step.PACKAGE)
    yield scene("provider-unknown", replace(whole, constraints=(("acme/absent", "~> 1.0"),)))
    yield scene("no-matching-release", replace(two, constraints=(("acme/netbox", "~> 99.0"),)))
    yield scene("readonly-changed", two, "init", "-no-color", "-lockfile=readonly")
    yield scene("mirror-unreadable", whole, mirror=True)


def is_here(tool: str) -> bool:
    """True if a tool is on PATH."""
    return shutil.which(TOOLS[tool]) is not None


class Played(Struct, frozen=True):
    """A scene that was played: the repository, the variables of the registry, and what the tool printed."""

    folder: Path
    variables: dict[str, str]
    output: str
    status: int


@contextmanager
def played(scene: Scene, tool: str) -> Iterator[Played]:
    """Plays a scene; its folder and registry are there until the end of the block."""
    with (
        tempfile.TemporaryDirectory(prefix="scene-") as name,
        DemoRegistry(faults=Faults(scene.incident.rules)) as registry,
    ):
        place = Path(name).resolve()
        configuration = write_cli_configuration(registry, place)
        if scene.mirror:
            block = (
                f'provider_installation {{\n  filesystem_mirror {{\n    path = "{place}/repository/mirror"\n  }}\n}}\n'
            )
            configuration.write_text(configuration.read_text("utf-8") + block, "utf-8")
        folder = make_incident(scene.incident, place / "repository")
        scene.prepare(folder)
        port = registry.port
        variables = {**environment(configuration), **incident_environment(scene.incident, folder)}
        if not scene.is_reachable:
            registry.stop()
        (place / "home").mkdir()
        done = subprocess.run(
            [TOOLS[tool], *scene.words], cwd=folder / "live/prod", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False, timeout=_SECONDS,
            env={"PATH": os.environ["PATH"], "HOME": str(place / "home"), "TF_REGISTRY_DISCOVERY_RETRY": "0", **variables},
        )  # fmt: skip
        output = done.stdout.decode("utf-8", "replace")
        output = output.replace(f":{port}", ":PORT").replace(str(place), "/work")
        yield Played(folder, variables, output, done.returncode)


def record() -> None:
    """Writes what both tools print."""
    from doctor.incidents import own_scenes

    RECORDED.mkdir(parents=True, exist_ok=True)
    for tool in filter(is_here, TOOLS):
        for scene in (*scenes().values(), *own_scenes().values()):
            if not scene.kinds[tool]:
                continue
            with played(scene, tool) as result:
                head = f"$ {TOOLS[tool]} {' '.join(scene.words)}  # status {result.status}\n"
                (RECORDED / f"{tool}-{scene.name}.log").write_text(head + result.output, "utf-8", newline="\n")
                sys.stdout.write(f"{tool} {scene.name} {result.status}\n")


if __name__ == "__main__":
    record()
