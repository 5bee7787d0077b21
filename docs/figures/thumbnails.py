"""Draws the thumbnails of the gallery, docs/figures/gallery/*.png: python docs/figures/thumbnails.py [directory for the runs [name ...]]."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from make import HERE, INPUTS, run, shown
from PIL import Image

from solfec.errors import SolfecError

SIZE = 320, 220
BESIDE = "look -60,20"
PICTURES = {  # input: words, results, commands of the viewer
    "arch": (("0.1066",), "arch/0.1066", ("result |v|", "look -75,12", "fit")),
    "block-sliding": ((), "block-sliding", (BESIDE, "fit")),
    "coupling/hopper": (("near", "150", "1", "0.8"), "coupling/hopper-near-150-1", ("result mises", "look front", "hide 5", "hide 6", "seek to 1.3", "fit")),
    "coupling/rock-fill": (("400",), "coupling/rock-fill-400-auto", ("result |d|", "look -80,10", "hide front", "fit")),
    "cracked-arch": ((), "cracked-arch/0.2", ("result |d|", "look -72,8", "fit")),
    "cross-check/arch": ((), "cross-check/arch", ("result R", "look -75,10", "fit")),
    "cross-check/sliding-block": ((), "cross-check/sliding-block", ("result |v|", BESIDE, "fit")),
    "cross-check/two-blocks": ((), "cross-check/two-blocks", ("result |v|", BESIDE, "fit")),
    "cross-check/wall": ((), "cross-check/wall", ("result |d|", BESIDE, "fit")),
    "cubes": (("4",), "cubes/4", ("result chains", "look -60,15", "fit")),
    "double-pendulum": ((), "double-pendulum", ("look front", "fit")),
    "gallery/bridge-load": ((), "gallery/bridge-load-0.15", ("result |d|", "look -75,12", "seek to 2.5", "fit")),
    "gallery/capstan": ((), "gallery/capstan-4", ("result |v|", "look -75,8", "seek to 0.1", "fit")),
    "gallery/cradle": ((), "gallery/cradle", ("look -60,8", "seek to 0.7", "fit")),
    "gallery/dominoes": ((), "gallery/dominoes-60", ("result |v|", "look -70,40", "seek to 1.0", "hide ground", "fit", "show all")),
    "gallery/gears": ((), "gallery/gears-0.05", ("result |v|", "look -80,60", "fit")),
    "gallery/gyroscope": ((), "gallery/gyroscope", ("result |v|", "look -50,15", "seek to 0.5", "fit")),
    "gallery/hourglass": ((), "gallery/hourglass-800", ("result |v|", "look -90,10", "seek to 1.6", "hide front", "fit")),
    "gallery/jar": ((), "gallery/jar-30", ("look -80,25", "hide front", "fit")),
    "gallery/race": ((), "gallery/race", ("result |v|", "look -60,30", "seek to 1.3", "fit")),
    "gallery/ring": ((), "gallery/ring", ("result |d|", "look -80,50", "seek to 0.006", "fit")),
    "gallery/rockfall": ((), "gallery/rockfall-60", ("result |v|", "look -50,25", "seek to 3", "hide hill", "fit", "show all")),
    "gallery/wrecking-ball": ((), "gallery/wrecking-ball-6-10", ("result |v|", "look -50,12", "seek to 1.2", "hide ground", "fit", "show all")),
    "heap": ((), "heap/400", ("look -60,18", "hide ground", "fit", "show all", "zoom in")),
    "heavy-top": ((), "heavy-top/RIG_NEG", (BESIDE, "fit")),
    "hybrid/cube-array": (("2", "3", "3", "0.6"), "cube-array-2d", ("result |v|", BESIDE, "fit")),
    "hybrid/either": (("block",), "either-block", ("result |v|", BESIDE, "fit")),
    "hybrid/plate-slot": ((), "plate-slot", ("result |v|", BESIDE, "fit")),
    "hybrid/table": ((), "table", ("result |v|", "look -60,12", "seek to 0.4", "fit")),
    "hybrid/two-cubes": ((), "two-cubes", ("result |v|", BESIDE, "fit")),
    "mechanisms/breaker": ((), "mechanisms/breaker", ("look -70,30", "fit")),
    "parallel/bridge": (("600", "15", "0.3"), "parallel/bridge", ("result |v|", "look -70,12", "fit")),
    "parallel/core": (("4", "3", "0.01"), "parallel/core", ("result |v|", "look -55,30", "hide vessel", "fit")),
    "pendulum": ((), "pendulum", ("look front", "fit")),
    "pinned-bar": ((), "pinned-bar", (BESIDE, "fit")),
    "projectile": ((), "projectile", (BESIDE, "fit")),
    "speed/array": (("4", "RIGID", "0.2"), "speed/array-4-RIGID", ("result |v|", "look -60,25", "hide 2", "hide 4", "fit")),
    "speed/balls": ((), "speed/balls-200", ("result |v|", "look -70,15", "hide ground", "fit", "show all")),
    "speed/dominoes": ((), "speed/dominoes-10-10-GAUSS_SEIDEL", ("result mises", "look -70,15", "hide ground", "fit")),
    "speed/drum": ((), "speed/drum-450-SPHERES-RIGID-GAUSS_SEIDEL", ("result |v|", "look front", "hide shell", "fit")),
    "speed/hopper": (("400", "0.8"), "speed/hopper-400", ("result |v|", "look -70,15", "hide funnel", "fit")),
    "speed/packing": (("4", "9", "0.5"), "speed/packing-4-9", ("result |v|", "look -60,20", "fit")),
    "speed/silo": (("2000", "0.002"), "speed/silo-2000", ("result |v|", BESIDE, "hide walls", "fit")),
    "speed/slice": (("4", "12", "0.05"), "speed/slice-4-12", ("result |v|", "look -60,50", "hide frame", "fit")),
    "speed/stacks": (("4", "MANIFOLD", "1.0", "0.2"), "speed/stacks-4-MANIFOLD-1", ("result |v|", "look -60,15", "fit")),
    "speed/torrent": ((), "speed/torrent-150", ("result |v|", "look -65,25", "hide banks", "fit")),
    "spheres": ((), "spheres/500", ("result |v|", BESIDE, "frame 7", "hide box", "fit")),
    "tutorial/ball-impact": ((), "tutorial/ball-impact-2", ("result |v|", "frame 20", BESIDE, "fit")),
    "tutorial/column": ((), "tutorial/column-400", ("result |v|", "seek to 0.8", "look -65,16", "hide side", "hide ground", "fit", "show all", "hide side")),
    "tutorial/fracture": ((), "tutorial/fracture", ("result |v|", "look -60,35", "fit")),
    "tutorial/peeling": (("DCB", "5", "40"), "tutorial/peeling-DCB", ("result |d|", "look -65,12", "fit")),
    "tutorial/press": ((), "tutorial/press-2", ("look -70,42", "seek to 0.5", "fit")),
    "tutorial/three-basic-geometric-objects": ((), "tutorial/three-basic-geometric-objects", ("result |v|", "seek to 0.3", "look -70,15", "fit")),
    "tutorial/wall": (("0.4",), "tutorial/wall-0.4", ("result |v|", "seek to 3.36", "look -40,10", "hide ground", "fit", "show all")),
}


def draw(directory: Path, name: str) -> None:
    """Run an input, unless its results are there, and draw its thumbnail."""
    words, output, commands = PICTURES[name]
    run(directory, f"{name}.py", output, *words)
    picture = shown(directory / "out" / output, *commands, size=(2 * SIZE[0], 2 * SIZE[1])).resize(SIZE, Image.Resampling.LANCZOS)
    (HERE / "gallery").mkdir(exist_ok=True)
    picture.convert("RGB").quantize(64).save(HERE / "gallery" / (name.replace("/", "-") + ".png"), optimize=True)


def main(directory: Path, names: list[str]) -> None:
    """Draw thumbnails one after another."""
    for name in names or PICTURES:
        if not (INPUTS / f"{name}.py").exists():
            raise SystemExit(f"there is no input {name}.py")
        try:
            draw(directory, name)
        except (subprocess.CalledProcessError, SolfecError, OSError, ValueError) as error:
            print(f"{name}: {error}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), sys.argv[2:])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary), [])
