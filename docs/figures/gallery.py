"""Draws docs/figures/gallery.png and arch.png, example inputs as the viewer shows them: python docs/figures/gallery.py [directory for the runs]."""

from __future__ import annotations

from pathlib import Path

from make import HERE, in_directory, run
from PIL import Image

from solfec import cli

WIDTH, HEIGHT = 480, 300
PICTURES = (  # input, its results, its words; words of the viewer
    ("arch.py", "arch/0.1066", ("0.1066",), ("--result", "|v|", "--look", "-75,12")),
    ("spheres.py", "spheres/500", (), ("--result", "|v|", "--look", "-60,20", "--time", "0.35", "--hide", "box")),
    ("cubes.py", "cubes/4", ("4",), ("--result", "chains", "--look", "-60,15")),
    ("tutorial/three-basic-geometric-objects.py", "tutorial/three-basic-geometric-objects", (), ("--result", "R", "--look", "-70,15")),
)


def picture(results: Path, path: Path, size: tuple[int, int], words: tuple[str, ...]) -> None:
    """A picture of results by the viewer."""
    if cli.main(["view", str(results), "--screenshot", str(path), "--size", "{}x{}".format(*size), *words]):
        raise SystemExit("the viewer made no picture")


def main(directory: Path) -> None:
    """Run the inputs, unless their results are there; put their pictures into one, and the arch alone into another."""
    sheet = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), "white")
    for number, (source, output, arguments, words) in enumerate(PICTURES):
        run(directory, source, output, *arguments)
        results, path = directory / "out" / output, directory / f"{number}.png"
        picture(results, path, (WIDTH, HEIGHT), words)
        with Image.open(path) as drawn:
            sheet.paste(drawn, (number % 2 * WIDTH, number // 2 * HEIGHT))
        if number == 0:
            picture(results, HERE / "arch.png", (720, 400), (*words, "--plain"))
    sheet.quantize(256, Image.Quantize.FASTOCTREE).save(HERE / "gallery.png", optimize=True)  # a third of the size


if __name__ == "__main__":
    in_directory(main)
