"""Draws docs/figures/front.png, a heap and a cracked arch, for the README: python docs/figures/front.py [directory for the runs]."""

from __future__ import annotations

from pathlib import Path

from make import HERE, in_directory, rgb, run, shown
from PIL import Image

SIZE = 560, 340
STONES = "#b9a58c", "#8f7f6c", "#c9bba3", "#a08a74", "#77695c", "#d6cab5", "#94897d", "#b08f6e"


def main(directory: Path) -> None:
    """Run both inputs, unless their results are there, and put their pictures side by side."""
    run(directory, "heap.py", "heap/400")
    run(directory, "cracked-arch.py", "cracked-arch/0.2")
    stones = {body: rgb(STONES[(body - 2) * 8 // 400]) for body in range(2, 402)} | {1: (0.86, 0.86, 0.84)}
    heap = shown(directory / "out/heap/400", "frame -1", "look -60,15", "hide ground", "fit", "show all", "zoom in", size=SIZE, colours=stones)
    blocks = {body: rgb(STONES[body % 3]) for body in range(3, 27)} | {1: (0.45, 0.45, 0.45), 2: (0.45, 0.45, 0.45)}
    arch = shown(directory / "out/cracked-arch/0.2", "frame -1", "look -72,8", "fit", size=SIZE, colours=blocks)
    whole = Image.new("RGB", (2 * SIZE[0], SIZE[1]), "white")
    whole.paste(heap, (0, 0))
    whole.paste(arch, (SIZE[0], 0))
    whole.quantize(128).save(HERE / "front.png", optimize=True)


if __name__ == "__main__":
    in_directory(main)
