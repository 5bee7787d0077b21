"""Draws how near textbook scenes come to theory, docs/figures/scenes.png: python docs/figures/scenes.py TABLE.json.

TABLE.json is made by `python tests/scenes/table.py --json TABLE.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from make import finish, page

from solfec.results.plot import COLOURS, INK

LEAST = 1e-6  # nearer ones are drawn here


def main(source: str) -> None:
    """Draw the figures of all runs, by subject."""
    rows = [row for row in json.loads(Path(source).read_text()) if row["figures"]]
    subjects = sorted({row["scene"].split("-")[0] for row in rows})
    figure, panels = page(1, 2, 4.2)
    for panel, options in zip(panels[0], ("CLASSIC", "MANIFOLD")):
        for place, subject in enumerate(subjects):
            errors = [
                max(LEAST, abs(f["measured"] - f["theory"]) / f["tolerance"])
                for row in rows
                if row["options"] == options and row["scene"].startswith(subject + "-")
                for f in row["figures"]
                if f["tolerance"] > 0 and np.isfinite(f["measured"])
            ]
            shift = np.random.default_rng(1).uniform(-0.35, 0.35, len(errors))
            panel.plot(errors, place + shift, ".", ms=3, color=COLOURS[place % len(COLOURS)])
        panel.axvline(1.0, color=INK, lw=1)
        panel.set_xscale("log")
        panel.set_xlim(LEAST / 2, 1e5)
        panel.set_yticks(range(len(subjects)), subjects)
        finish(panel, f"contacts = '{options}'")
        panel.set_xlabel("distance from theory, in tolerances")
    figure.savefig(Path(__file__).resolve().parent / "scenes.png")


if __name__ == "__main__":
    main(sys.argv[1])
