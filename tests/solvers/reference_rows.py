"""State tables built from the reference files of local dynamics (rows there stand in the order of the sweep)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solfec.bodies.finite_elements import compiled
from solfec.bodies.implicit import implicit_of_step
from solfec.bodies.table import BodyKind, BodyTable, Scheme
from solfec.constraints.table import ConstraintKind, ConstraintTable, SurfaceMaterialTable, SurfaceModel
from solfec.solvers.local_dynamics import LocalDynamics

DATA = Path(__file__).parent.parent / "data" / "solvers"


def body_table(data, soft=None) -> tuple[BodyTable, dict[int, int]]:
    """Bodies at mid step with u* and u(t), and the map from identifiers to rows.

    `soft`: Young's modulus, Poisson's ratio and volume of pseudo-rigid bodies of scheme DEF_LIM.
    """
    bodies = BodyTable()
    row_of = {}
    for k in np.argsort(data["body_id"]):
        kind = BodyKind[str(data["body_kind"][k])]
        row = bodies.add(
            kind, id=data["body_id"][k], mass=data["body_mass"][k], centre=data["body_center"][k],
            tensor=data["body_tensor"][k],
        )  # fmt: skip
        row_of[int(data["body_id"][k])] = row
        if soft and kind == BodyKind.PSEUDO_RIGID:
            young, poisson, bodies.volume[row] = soft
            bodies.lame[:, row] = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))
            bodies.scheme[row] = Scheme.DEF_LIM
        conf, velo = bodies.conf_slice(row), bodies.velo_slice(row)
        count = velo.stop - velo.start
        bodies.configurations.conf[:, conf] = data["body_conf"][k].reshape(4, 3).T
        bodies.triples.velo[:, velo] = data["body_velo"][k][: 3 * count].reshape(-1, 3).T
        bodies.triples.velo_prev[:, velo] = data["body_prev_velo"][k][: 3 * count].reshape(-1, 3).T
        inverse = bodies.triples.inverse_inertia
        inverse[:, :, velo] = np.linalg.inv(data["body_tensor"][k])[:, :, None]
        inverse[:, :, velo.stop - 1] = np.eye(3) / data["body_mass"][k]
    return bodies, row_of


def constraint_tables(data, row_of) -> tuple[ConstraintTable, SurfaceMaterialTable]:
    """Constraints in the order of the table (the user's first, then contacts, oldest first), a material for each."""
    kind = np.array([ConstraintKind[str(k)] for k in data["kind"]])
    contacts = np.flatnonzero(kind == ConstraintKind.CONTACT)
    others = np.flatnonzero(kind != ConstraintKind.CONTACT)[::-1]
    # identifiers ascend within a birth step, so a drop starts the contacts of an older step
    generation = np.cumsum(np.diff(data["id"][contacts], prepend=-1) < 0)
    contacts_by_birth = contacts[np.argsort(-generation, kind="stable")]
    order = np.concatenate([others, contacts_by_birth]).astype(int)
    birth = np.zeros(kind.size, int)
    birth[contacts] = 1000 - generation
    constraints, materials = ConstraintTable(), SurfaceMaterialTable()
    for i in order:
        material = materials.append(
            friction=data["friction"][i], restitution=data["restitution"][i], cohesion=data["cohesion"][i],
            spring=data["spring"][i], dashpot=data["dashpot"][i], hpow=data["hertz_power"][i],
            model=SurfaceModel.SIGNORINI_COULOMB,
        )  # fmt: skip
        z = data["Z"][i]
        constraints.append(
            id=data["id"][i], kind=kind[i], birth=birth[i], material=material,
            master=row_of[int(data["master"][i])], slave=row_of.get(int(data["slave"][i]), -1),
            master_point=data["master_ref_point"][i, :, None], slave_point=data["slave_ref_point"][i, :, None],
            point=data["point"][i, :, None], base=data["base"][i, :, :, None],
            R=data["R_start"][i, :, None], U=data["U_start"][i, :, None],
            gap=data["gap"][i], area=data["area"][i],
            cohesion=data["cohesion"][i] if data["cohesive"][i] else 0.0,
        )  # fmt: skip
        row = constraints.n - 1
        if kind[i] == ConstraintKind.RIGLNK:
            constraints.other_point[:, row] = data["point"][i] - z[:3]
            constraints.length[row] = z[3]
        if kind[i] == ConstraintKind.VELODIR:
            constraints.value[0, row] = z[0]
    constraints.user_count = others.size
    return constraints, materials


def assembled(data, stored=None, soft=None) -> LocalDynamics:
    """Local dynamics assembled from a reference file; `soft` as in `body_table`."""
    bodies, row_of = body_table(data, soft)
    if soft:
        implicit_of_step(bodies, compiled(bodies)).pseudo_rigid.refresh(bodies, float(data["step"]), bool(data["dynamic"]))
    constraints, materials = constraint_tables(data, row_of)
    local = LocalDynamics()
    local.assemble(constraints, bodies, materials, float(data["step"]), bool(data["dynamic"]), stored=stored)
    return local


def dense(data) -> np.ndarray:
    """Reference W as a dense matrix (files hold its upper half; a pair sharing both bodies has two blocks)."""
    n = data["id"].size
    w = np.zeros((n, 3, n, 3))
    for i, j, block in zip(data["row_ind"], data["col_ind"], data["blocks"], strict=True):
        w[i, :, j, :] += block
        if i != j:
            w[j, :, i, :] += block.T
    return w.reshape(3 * n, 3 * n)


def load(name: str) -> dict[str, np.ndarray]:
    """One reference file, e.g. 'm03_020'."""
    with np.load(DATA / f"local_dynamics_{name}.npz") as data:
        return dict(data)
