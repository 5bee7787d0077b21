"""A few pictures as they were when somebody looked at them; SOLFEC_RENEW_PICTURES=1 draws them anew, to be looked at again.

Other versions of Mesa differ in single pixels of edges: the mean difference stays below 2 of 255, and few pixels are off by more than 24.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from solfec.viewer.pictures import picture

GOLDEN = Path(__file__).parent / "golden"
PICTURES = {
    "kinds": ("result bodies",),
    "cut": ("result mises", "Euler cut -y:0"),
    "material-cut": ("result |v|", "Lagrange cut x:1.9", "colours cividis"),
    "reactions": ("result R",),
    "chains": ("result chains",),
    "transparent": ("transparent all", "hide fem"),
    "wire": ("wireframe all", "boxes of bodies"),
    "sections": ("result surfaces", "look -40,50", "Euler cut z:0.7", "fit"),
    "space": ("inertia of bodies", "frames of bodies", "transparent all", "hide floor", "fit"),
    "mode": ("inspect 4", "frame 0", "modal analysis 8"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_those_that_were_looked_at(window, scene, tmp_path, name):
    from solfec.viewer.application import Application
    from solfec.viewer.sources import Stored

    app = Application([Stored(scene)], (192, 144))
    app.do("frame -1")
    app.do("look -60,25")
    app.do("fit")
    for command in PICTURES[name]:
        app.do(command)
    drawn = picture(app.view, 192, 144, annotated=False)
    app.close()
    path = GOLDEN / f"{name}.png"
    if os.environ.get("SOLFEC_RENEW_PICTURES"):
        GOLDEN.mkdir(exist_ok=True)
        drawn.save(path, optimize=True)
    with Image.open(path) as known:
        off = np.abs(np.asarray(drawn).astype(int) - np.asarray(known.convert("RGB")).astype(int)).max(axis=2)
    if off.mean() >= 2.0 or (off > 24).mean() >= 0.005:
        drawn.save(tmp_path / "drawn.png")
        Image.fromarray(np.minimum(8 * off, 255).astype(np.uint8)).save(tmp_path / "difference.png")
        pytest.fail(f"{name}: mean difference {off.mean():.2f}, {(off > 24).mean():.2%} of the pixels are off; pictures are in {tmp_path}")
