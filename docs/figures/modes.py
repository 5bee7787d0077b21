"""Draws the lowest modes of a free bar into docs/figures/modes.png: python docs/figures/modes.py."""

from __future__ import annotations

import tempfile

import numpy as np
from make import HERE, sheet, shown

from solfec import BODY, BULK_MATERIAL, HEX, MODAL_ANALYSIS, SOLFEC
from solfec.language import session

CORNERS = [0, 0, 0, 1, 0, 0, 1, 0.1, 0, 0, 0.1, 0, 0, 0, 0.05, 1, 0, 0.05, 1, 0.1, 0.05, 0, 0.1, 0.05]
SHOWN = ((6, "up and down"), (7, "sideways"), (8, "up and down"), (9, "torsion"), (10, "sideways"), (11, "up and down"))


def main() -> None:
    """Compute the modes of the bar of docs/modes.md, and let the viewer show six of them."""
    before = session.begin(session.Session())
    with tempfile.TemporaryDirectory() as directory:
        solfec = SOLFEC("DYNAMIC", 1e-3, directory + "/bar")
        steel = BULK_MATERIAL(solfec, young=2e11, poisson=0.3, density=7800)
        bar = BODY(solfec, "FINITE_ELEMENT", HEX(CORNERS, 16, 2, 2, 1, [1] * 6), steel, form="BC")
        values, _ = MODAL_ANALYSIS(bar, 12)
        panels = []
        for number, name in SHOWN:
            commands = ("perspective/ortho", "look -65,22", "modal analysis 12", f"modal shape {number + 1}", *["smaller arrows"] * 2, "fit", "zoom out", "zoom out")
            title = f"{np.sqrt(values[number]) / (2 * np.pi):.0f} Hz, {name}"
            panels.append((title, shown(solfec, *commands, size=(290, 170))))
    session.begin(before)
    sheet(panels, 3, HERE / "modes.png")


if __name__ == "__main__":
    main()
