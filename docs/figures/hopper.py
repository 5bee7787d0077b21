"""Draws docs/figures/hopper.png, a hopper whose grains are deformable near its outlet: python docs/figures/hopper.py [directory for the run]."""

from __future__ import annotations

from pathlib import Path

from gallery import picture
from make import HERE, in_directory, run

VIEW = ("--time", "1.3", "--result", "mises", "--range", "0,1E5", "--look", "front", "--ortho", "--hide", "5", "--hide", "6")


def main(directory: Path) -> None:
    """Run the input, unless its results are there, and draw it without the panes in front and behind."""
    results = "coupling/hopper-near-300-1"
    run(directory, "coupling/hopper.py", results, "near", "300", "1")
    picture(directory / "out" / results, HERE / "hopper.png", (500, 900), VIEW)


if __name__ == "__main__":
    in_directory(main)
