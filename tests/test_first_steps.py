"""Every example of the gallery runs: its model is made, its first three steps (or all) are solved, and what stands behind RUN works on their results."""

from pathlib import Path

import pytest

from solfec import cli
from solfec.simulation import Simulation

ROOT = Path(__file__).parent.parent
SMALL = {  # arguments of inputs that are large without them
    "coupling/hopper": "none 8 1 0.01 0.01", "coupling/rock-fill": "40", "cubes": "3", "gallery/gears": "0.05 0.08", "gallery/hourglass": "25 1.0", "gallery/jar": "5 1.0", "gallery/ring": "0.03", "heap": "56 0.5",
    "hybrid/cube-array": "2 2 2 0.01", "hybrid/either": "block", "parallel/bridge": "30 3 0.01", "parallel/core": "2 2 0.01", "speed/array": "2 RIGID 0.01",
    "speed/drum": "100 SPHERES RIGID", "speed/hopper": "50 0.1", "speed/silo": "200 0.002", "speed/slice": "2 3 0.01", "speed/stacks": "2 MANIFOLD 1.0 0.01",
    "speed/torrent": "20", "spheres": "30", "tutorial/column": "30 0.4", "tutorial/peeling": "DCB 10 8", "tutorial/wall": "0.1 2 2 0.1",
}  # fmt: skip
WHOLE = {"gallery/gears", "gallery/hourglass", "gallery/ring", "hybrid/two-cubes"}  # they measure what happens late in a run
UNFINISHED = {"coupling/hopper"}  # its status says that too little has flown out so early


def examples() -> list[str]:
    """Inputs that have thumbnails, by their names in inp/."""
    drawn = {path.stem for path in (ROOT / "docs/figures/gallery").glob("*.png")}
    names = [path.relative_to(ROOT / "inp").with_suffix("").as_posix() for path in sorted((ROOT / "inp").rglob("*.py"))]
    return [name for name in names if name.replace("/", "-") in drawn]


@pytest.mark.parametrize("name", examples())
def test_an_example_of_the_gallery_runs(name, tmp_path, monkeypatch):
    started, steps = Simulation._started, []

    def shortened(simulation, solver, duration, every_step):
        steps.append(simulation)
        return started(simulation, solver, duration if name in WHOLE else min(duration, 3.0 * simulation.domain.step), every_step)

    monkeypatch.setattr(Simulation, "_started", shortened)
    monkeypatch.chdir(tmp_path)
    status = cli.main(["--quiet", str(ROOT / "inp" / f"{name}.py"), *SMALL.get(name, "").split()])
    assert status == (1 if name in UNFINISHED else 0)
    assert steps and all(simulation.domain.time > 0.0 for simulation in steps)
