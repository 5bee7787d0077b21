"""Pictures in files."""

from __future__ import annotations

import os

from PIL import Image

from ..errors import SolfecError
from .gl.targets import Targets
from .legend import annotate

SMOOTH = 2  # pixels per side that are averaged to one


def picture(presentation, width: int, height: int, transparent: bool = False, annotated: bool = True) -> Image.Image:
    """Make a picture of a presentation, drawn at twice the size and averaged, in separate targets.

    Parameters
    ----------
    presentation : Presentation
    width, height : int
        Pixels.
    transparent : bool
        Without the white background.
    annotated : bool
        With legend, time and axes.
    """
    targets = Targets(SMOOTH * width, SMOOTH * height)
    try:
        presentation.renderer.draw(presentation.camera, SMOOTH * width, SMOOTH * height, targets)
        drawn = Image.fromarray(targets.pixels())
    finally:
        targets.delete()
    drawn = drawn.convert("RGBa").resize((width, height), Image.Resampling.BOX).convert("RGBA")
    if not transparent:
        drawn = Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn)
    if annotated:
        annotate(drawn, presentation, scale=max(min(width, height) / 512, 0.5))
    return drawn if transparent else drawn.convert("RGB")


def save(image: Image.Image, path: str) -> None:
    """Write a picture in the format of the name's ending: .png, .bmp, .jpg, .pdf or .eps (the last two hold pixels).

    Raises
    ------
    SolfecError
        The ending is another one, or the file cannot be written.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".png", ".bmp", ".jpg", ".pdf", ".eps"):
        raise SolfecError(f"{path}: pictures are .png, .bmp, .jpg, .pdf or .eps")
    if image.mode == "RGBA" and ending != ".png":
        raise SolfecError(f"{path}: only .png files can be transparent")
    try:
        image.save(path)
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from None
