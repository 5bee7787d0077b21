"""Local dynamics of finite element bodies, explicit and implicit, against reference models."""

import json
from pathlib import Path

import numpy as np
import pytest
from reference_rows import constraint_tables

from solfec.bodies import finite_element_motion
from solfec.bodies.finite_elements import FiniteElementMesh, compiled
from solfec.bodies.implicit import implicit_of_step
from solfec.bodies.table import BodyKind, BodyTable, Form, Scheme
from solfec.constraints import element_points
from solfec.shapes.mesh import Mesh
from solfec.solvers.local_dynamics import LocalDynamics

DATA = Path(__file__).parent.parent / "data" / "solvers"
FORMS = {"total_lagrangian": Form.TL, "body_corotational": Form.BC}


def lame_of(body):
    young, nu = body["young"], body["poisson"]
    return young * nu / ((1 + nu) * (1 - 2 * nu)), young / (2 * (1 + nu))


def body_table(models):
    """Bodies at mid step with u* and u(t), and the map from identifiers to rows."""
    bodies, row_of = BodyTable(), {}
    for body in sorted(models, key=lambda b: b["id"]):
        kind = BodyKind[body["kind"]]
        mesh, form = None, Form.NONE
        if kind == BodyKind.FINITE_ELEMENT:
            records = [number for e in body["elements"] for number in (len(e), *e, 0)]
            mesh = FiniteElementMesh.of(Mesh.from_records(np.ravel(body["nodes"]), records))
            form = FORMS[body["formulation"]]
        row = bodies.add(
            kind, mesh, id=body["id"], mass=body["mass"], volume=body["volume"], centre=body["center"],
            tensor=np.array(body["tensor"]), lame=lame_of(body), damping=body["damping"], form=int(form),
            scheme=Scheme[body["scheme"]],
        )  # fmt: skip
        row_of[body["id"]] = row
        velo = bodies.velo_slice(row)
        size = 3 * (velo.stop - velo.start)
        bodies.configurations.conf[:, bodies.conf_slice(row)] = np.reshape(body["conf"], (-1, 3)).T
        bodies.triples.velo[:, velo] = np.reshape(body["velo"][:size], (-1, 3)).T
        bodies.triples.velo_prev[:, velo] = np.reshape(body["prev_velo"][:size], (-1, 3)).T
        inverse = bodies.triples.inverse_inertia
        if mesh is None:
            inverse[:, :, velo] = np.linalg.inv(np.array(body["tensor"]))[:, :, None]
            inverse[:, :, velo.stop - 1] = np.eye(3) / body["mass"]
    fe = compiled(bodies)
    if fe.count:
        inverse[:, :, fe.velo_row] = np.eye(3)[:, :, None] / fe.mass
        assert finite_element_motion.follow(fe, bodies)[0] == 0
    return bodies, row_of


@pytest.mark.parametrize("name", ["m05_000", "m05_050", "m06_000", "m06_050", "m14_000", "m14_050"])
def test_rows_of_elements_equal_those_of_solfec(name):
    with np.load(DATA / f"element_rows_{name}.npz") as file:
        data = dict(file)
    bodies, row_of = body_table(json.loads(str(data["bodies"])))
    constraints, materials = constraint_tables(data, row_of)
    for row in range(constraints.n):
        element_points.attach(constraints, bodies, row, 1e-6)
    step = float(data["step"])
    for solver in implicit_of_step(bodies, compiled(bodies)).solvers:
        solver.refresh(bodies, step)
    local = LocalDynamics()
    local.assemble(constraints, bodies, materials, step)
    n = local.n
    assert np.array_equal(constraints.id[local.rows.order[:n]], data["id"])
    scale = np.abs(data["B"]).max()
    assert np.abs(local.rows.B[:, :n].T - data["B"]).max() < 1e-12 * scale
    assert np.abs(local.rows.V[:, :n].T - data["V"]).max() < 1e-12 * scale
    w = local.matrix()
    assert np.abs(w - data["W"]).max() < 1e-12 * np.abs(data["W"]).max()
    assert np.abs(w - w.T).max() < 1e-15 * np.abs(w).max()
