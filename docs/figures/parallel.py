"""Draws docs/figures/core.png, the bricks of a core by the processes that move them: python docs/figures/parallel.py [directory for the runs]."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from make import HERE, INPUTS, rgb, shown
from PIL import Image

from solfec.results.plot import COLOURS

COUNT = 4  # processes
INPUT = """
exec (open ({!r}).read ())
open ('moved{{}}'.format (RANK ()), 'w').write (' '.join (str (body.id) for body in core.bodies if HERE (core, body)))
"""


def main(directory: Path) -> None:
    """Run a small core in four processes, which write the bodies that they move, unless results are there; draw it."""
    results = directory / "out/parallel/core"
    if not results.exists():
        (directory / "input.py").write_text(INPUT.format(str(INPUTS / "parallel/core.py")))
        command = [Path(sys.executable).parent / "mpiexec", "-n", str(COUNT), sys.executable, "-m", "solfec.cli", "-i", "60", "input.py", "4", "3", "0.01"]
        subprocess.run(command, cwd=directory, check=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    moved = [map(int, (directory / f"moved{rank}").read_text().split()) for rank in range(COUNT)]
    colours = {body: rgb(COLOURS[rank]) for rank, bodies in enumerate(moved) for body in bodies}
    vessel = max(colours)  # the last body, an obstacle
    picture = shown(results, f"hide body {vessel}", "perspective/ortho", "look -60,40", "fit", size=(640, 480), colours=colours)
    picture.quantize(128, Image.Quantize.FASTOCTREE).save(HERE / "core.png", optimize=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
