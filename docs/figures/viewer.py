"""Draws docs/figures/viewer.png, a model as the viewer shows it in four ways: python docs/figures/viewer.py."""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image

from solfec import BODY, BULK_MATERIAL, ELLIP, GAUSS_SEIDEL_SOLVER, GRAVITY, HEX, HULL, OUTPUT, RUN, SOLFEC, SPHERE, SURFACE_MATERIAL, cli

WIDTH, HEIGHT = 520, 350
WAYS = (["--result", "mises"], ["--result", "mises", "--cut", "-y:0"], ["--result", "R"], ["--result", "bodies"])


def box(low, high, *identifiers):
    """A box between two corners."""
    corners = [c for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0]) for c in (x, y, z)]
    return HULL(corners, *identifiers)


def run(directory: str) -> None:
    """Bodies of all kinds on a floor."""
    model = SOLFEC("DYNAMIC", 1e-3, directory)
    model.verbose = "OFF"
    bulk = BULK_MATERIAL(model, "KIRCHHOFF", young=1e7, poisson=0.3, density=1000.0)
    SURFACE_MATERIAL(model, model="SIGNORINI_COULOMB", friction=0.4)
    GRAVITY(model, (0, 0, -10))
    BODY(model, "OBSTACLE", box((-3.2, -1.6, -0.3), (3.4, 1.6, 0), 1, 1), bulk)
    BODY(model, "RIGID", box((-0.5, -0.5, 0), (0.5, 0.5, 1), 2, 2), bulk)
    BODY(model, "PSEUDO_RIGID", box((-0.4, -0.4, 1), (0.4, 0.4, 1.6), 3, 3), bulk)
    mesh = HEX([1, -1, 0, 3, -1, 0, 3, 1, 0, 1, 1, 0, 1, -1, 1, 3, -1, 1, 3, 1, 1, 1, 1, 1], 6, 6, 4, 4, [4] * 6)
    BODY(model, "FINITE_ELEMENT", mesh, bulk)
    BODY(model, "RIGID", SPHERE((2, 0, 1.5), 0.5, 5, 5), bulk)
    BODY(model, "RIGID", ELLIP((-2, 0, 0.6), (0.9, 0.5, 0.6), 6, 6), bulk)
    OUTPUT(model, 0.05)
    RUN(model, GAUSS_SEIDEL_SOLVER(1e-4, 1000), 0.1)


def main() -> None:
    """Run the model, and put four pictures of it into one."""
    sheet = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), "white")
    with tempfile.TemporaryDirectory() as directory:
        run(f"{directory}/run")
        for number, words in enumerate(WAYS):
            path = f"{directory}/{number}.png"
            common = ["--screenshot", path, "--size", f"{WIDTH}x{HEIGHT}", "--look", "-65,20"]
            if cli.main(["view", f"{directory}/run", *common, *words]):
                raise SystemExit("the viewer made no picture")
            with Image.open(path) as picture:
                sheet.paste(picture, (number % 2 * WIDTH, number // 2 * HEIGHT))
    sheet.save(Path(__file__).resolve().parent / "viewer.png", optimize=True)


if __name__ == "__main__":
    main()
