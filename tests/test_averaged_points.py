"""A run on a terminal reports once which flush faces rock on one averaged point, and the remedy."""

from __future__ import annotations

import pytest
from unit_cube import CUBE

import solfec as sf

HINT = "contacts: 1 pair of bodies with flush faces (1 and 2, say) rock on one averaged point; SOLFEC (..., contacts = 'MANIFOLD') gives them up to four"


def run(kind: str, shape, capsys, contacts: str = "CLASSIC", verbose: str = "ON") -> str:
    solfec = sf.SOLFEC("DYNAMIC", 1e-3, output=None, contacts=contacts)
    solfec.verbose = verbose
    sf.SURFACE_MATERIAL(solfec, friction=0.3)
    bulk = sf.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=1e7, poisson=0.25, density=1000)
    sf.GRAVITY(solfec, (0, 0, -10))
    sf.BODY(solfec, "OBSTACLE", sf.TRANSLATE(sf.SCALE(sf.HULL(CUBE, 1, 1), (9, 9, 1)), (-4, -4, -1)), bulk)
    sf.BODY(solfec, kind, shape, bulk)
    for _ in range(2):
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.01)
    return capsys.readouterr().out


@pytest.mark.parametrize("kind", ["RIGID", "PSEUDO_RIGID"])
def test_flush_faces_are_told_of(capsys, kind):
    printed = run(kind, sf.HULL(CUBE, 1, 1), capsys)
    assert printed.count(HINT) == 2  # once a RUN


@pytest.mark.parametrize(
    ("kind", "shape", "words"),
    [
        ("RIGID", lambda: sf.SPHERE((0, 0, 0.5), 0.5, 1, 1), {}),
        ("RIGID", lambda: sf.ROTATE(sf.HULL(CUBE, 1, 1), (0, 0, 0), (1, 0, 0), 30), {}),
        ("FINITE_ELEMENT", lambda: sf.HEX(CUBE, 2, 2, 2, 1, [1] * 6), {}),
        ("RIGID", lambda: sf.HULL(CUBE, 1, 1), {"contacts": "MANIFOLD"}),
        ("RIGID", lambda: sf.HULL(CUBE, 1, 1), {"verbose": "OFF"}),
    ],
)
def test_nothing_is_said_where_nothing_rocks_or_nobody_looks(capsys, kind, shape, words):
    assert "averaged" not in run(kind, shape(), capsys, **words)
