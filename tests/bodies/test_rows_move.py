"""Bodies with finite elements go on alike when a body without elements is deleted: their compiled arrays follow the rows."""

import copy

import numpy as np
from unit_cube import CUBE

import solfec as s
from solfec.solvers.gauss_seidel import GaussSeidelSolver


def model_with_all_kinds_of_elements():
    """A rigid cube, then elements of forms TL and BC, explicit and implicit, and a convex inside a mesh, on a floor."""
    solfec = s.SOLFEC("DYNAMIC", 1e-4, None)
    material = s.BULK_MATERIAL(solfec, young=1e6, poisson=0.2, density=1e3)
    s.SURFACE_MATERIAL(solfec, friction=0.3)
    s.GRAVITY(solfec, (0, 0, -10))

    def put(kind, x, **options):
        shape = s.HEX(CUBE, 2, 1, 1, 1, [1] * 6) if kind == "FINITE_ELEMENT" else s.HULL(CUBE, 1, 1)
        return s.BODY(solfec, kind, s.TRANSLATE(shape, (x, 0, 0)), material, **options)

    first = put("RIGID", 0)
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CUBE, 1, 1), (20, 4, 1)), (-1, -1, -1)), material)
    put("FINITE_ELEMENT", 2)
    put("FINITE_ELEMENT", 4, form="BC").scheme = "DEF_LIM"
    put("FINITE_ELEMENT", 6).scheme = "DEF_LIM"
    part = s.TRANSLATE(s.SCALE(s.HULL(CUBE, 1, 1), (0.8, 0.8, 0.8)), (8.1, 0.1, 0))
    s.BODY(solfec, "FINITE_ELEMENT", part, material, mesh=s.TRANSLATE(s.HEX(CUBE, 2, 1, 1, 1, [1] * 6), (8, 0, 0)))
    put("PSEUDO_RIGID", 10).scheme = "DEF_LIM"
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-6, 1000), 20e-4)
    return solfec._domain, first


def test_elements_go_on_with_the_same_bits_when_a_rigid_body_before_them_is_deleted():
    domain, first = model_with_all_kinds_of_elements()
    compiled = domain.bodies.finite_elements
    domain.delete_body(first.id)
    assert domain.bodies.finite_elements is compiled
    afresh = copy.deepcopy(domain)
    afresh.bodies.finite_elements = None
    for _ in range(20):
        for model in (domain, afresh):
            model.advance(GaussSeidelSolver(1e-6, 1000))
    for table in ("configurations", "triples"):
        column = "conf" if table == "configurations" else "velo"
        one, two = (getattr(model.bodies, table).view(column) for model in (domain, afresh))
        assert np.array_equal(one, two)
    assert np.array_equal(domain.constraints.view("R"), afresh.constraints.view("R"))
    assert domain.constraints.n >= 5
