"""Bonds on the faces of cracks, which dissipate the cracks' fracture energy.

When a crack with an energy opens, `Cracks.faces` stores its faces.  In the next step detection finds the contacts of the fragments there.  They get a
material of model 'COHESIVE' with the crack's strength and energy, and the friction of the material of both surfaces.
"""

from __future__ import annotations

import numpy as np

from .bodies.cracks import Crack, Faces
from .constraints.table import NO_SURFACE
from .kinds import BodyKind, SurfaceModel


def prepare(domain, children: list[int], crack: Crack) -> None:
    """Store the faces of a crack that has opened, and make their material."""
    row = _material(domain, crack)
    domain.settings.widen(domain.surface_materials.reaches)
    domain.cracks.note(Faces(tuple(children), crack.surfaces, row))


def _material(domain, crack: Crack) -> int:
    """Return the row of the material of a crack's faces; append it if it is new."""
    table = domain.surface_materials
    base = table.row_of(*crack.surfaces)
    wanted = {name: np.array(getattr(table, name)[..., base]) for name in table.COLUMNS if name != "surface"}
    wanted |= {
        "model": np.array(SurfaceModel.COHESIVE), "cohesion": np.array(crack.strength), "shear_strength": np.array(crack.strength),
        "fracture_energy": np.full(2, crack.energy), "spring": np.array(0.0), "dashpot": np.array(0.0), "hpow": np.array(1.0),
    }  # fmt: skip
    for row in np.flatnonzero(table.view("surface")[0] == NO_SURFACE).tolist():
        if all(np.array_equal(getattr(table, name)[..., row], value) for name, value in wanted.items()):
            return row
    row = table.append()
    table.surface[:, row] = NO_SURFACE, NO_SURFACE + row
    for name, value in wanted.items():
        getattr(table, name)[..., row] = value
    domain.surface_labels.append(f"CRACK_{row}")
    return row


def bond(model) -> None:
    """Bond the new contacts of faces that opened after the last step; ignore faces of bodies that are gone."""
    table, bodies = model.constraints, model.bodies
    first = table.user_count
    new = first + np.flatnonzero(table.birth[first : table.n] == model.step_number)
    for faces in model.cracks.take_faces():
        mine = np.isin(bodies.view("id"), faces.bodies)
        pair = np.sort(table.surface[:, new], axis=0) == np.sort(faces.surfaces)[:, None]
        rows = new[mine[table.master[new]] & mine[table.slave[new]] & pair.all(axis=0) & (table.gap[new] <= model.epsilon)]
        table.material[rows] = faces.material
        table.cohesion[rows] = model.surface_materials.cohesion[faces.material]
        table.other_point[:, rows] = table.point[:, rows]
        for row in rows.tolist():
            table.slave_point[:, row] = _referential(bodies, int(table.slave[row]), table.point[:, row])


def _referential(bodies, row: int, point: np.ndarray) -> np.ndarray:
    """Return the referential point of a body at a spatial one; for finite elements the spatial one, since their elements are found later."""
    if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
        return point
    conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
    gradient = conf[:, :3].T if bodies.kind[row] == BodyKind.PSEUDO_RIGID else conf[:, :3]
    return bodies.centre[:, row] + np.linalg.solve(gradient, point - conf[:, 3])
