"""Draws docs/figures/core.png, bridge.png, array.png and drum.png, bodies by the processes that move them: python docs/figures/parallel.py [directory for the runs]."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from make import HERE, INPUTS, in_directory, rgb, shown
from PIL import Image

from solfec.results import ResultsReader
from solfec.results.plot import COLOURS

COUNT = 4  # processes
INPUT = """# solfec: python3
exec (open ({!r}).read ())
open ('{}{{}}'.format (RANK ()), 'w').write (' '.join (str (body.id) for body in {}.bodies if HERE ({}, body)))
"""


def moved(directory: Path, source: str, *arguments: str) -> tuple[Path, dict, list[int]]:
    """Run an input in four processes, which write the bodies that they move, unless results are there; return results, colours of bodies, and obstacles."""
    name = Path(source).stem
    if not (directory / f"{name}0").exists():
        (directory / "input.py").write_text(INPUT.format(str(INPUTS / source), name, name, name))
        command = [Path(sys.executable).parent / "mpiexec", "-n", str(COUNT), sys.executable, "-m", "solfec.cli", "-i", "60", "input.py", *arguments]
        subprocess.run(command, cwd=directory, check=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    owned = [map(int, (directory / f"{name}{rank}").read_text().split()) for rank in range(COUNT)]
    colours = {body: rgb(COLOURS[rank]) for rank, bodies in enumerate(owned) for body in bodies}
    results = next(directory.glob(f"out/*/{name}*"))
    with ResultsReader(results) as run:
        definitions = run.table("model/bodies")
    return results, colours, definitions["id"][definitions["kind"] == 0].tolist()


def save(picture: Image.Image, name: str) -> None:
    """Write a picture with few colours."""
    picture.quantize(128, Image.Quantize.FASTOCTREE).save(HERE / name, optimize=True)


def main(directory: Path) -> None:
    """Run small models, and draw them."""
    results, colours, (vessel,) = moved(directory, "parallel/core.py", "4", "3", "0.01")
    save(shown(results, f"hide body {vessel}", "perspective/ortho", "look -60,40", "fit", size=(640, 480), colours=colours), "core.png")
    results, colours, _ = moved(directory, "parallel/bridge.py", "200", "9", "0.25")
    save(shown(results, "perspective/ortho", "look -60,40", "fit", size=(720, 420), colours=colours), "bridge.png")
    results, colours, walls = moved(directory, "speed/array.py", "6", "RIGID", "0.1")
    hidden = [f"hide body {wall}" for wall in walls]
    save(shown(results, *hidden, "perspective/ortho", "look -60,30", "fit", size=(480, 420), colours=colours), "array.png")
    results, colours, (shell,) = moved(directory, "speed/drum.py", "700", "SPHERES", "RIGID", "GAUSS_SEIDEL", "1.0")
    save(shown(results, f"hide body {shell}", "perspective/ortho", "look 90,10", "fit", size=(480, 420), colours=colours), "drum.png")


if __name__ == "__main__":
    in_directory(main)
