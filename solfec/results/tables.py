"""Tables of bodies and constraints of one frame: a dictionary of columns, as `pandas.DataFrame` takes it."""

from __future__ import annotations

import numpy as np

from ..bodies.finite_elements import compiled
from ..bodies.table import BodyKind, BodyTable, Energy, Scheme
from ..constraints.table import ConstraintKind
from .meshes import stored_mesh

CENTRE_ROW = 3  # of the configuration triples of rigid and pseudo-rigid bodies
SPEED_ROW = {BodyKind.OBSTACLE: 1, BodyKind.RIGID: 1, BodyKind.PSEUDO_RIGID: 3}


def body_table(reader, number: int = -1) -> dict[str, np.ndarray]:
    """Return a table of the bodies of a frame.

    Returns
    -------
    dict
        id, label, kind, scheme, material; mass, volume; x, y, z of the mass centre and vx, vy, vz, its velocity;
        kinetic, internal, external, contact, friction, dissipated energy; one array (bodies,) each.
    """
    frame = reader.frame(number)
    defined = reader.table("model/bodies")[frame.listed["definition"]]
    labels = reader.labels
    bulk = [material["label"] for material in reader.materials["bulk"]] or [""]
    place, speed = centres(reader, frame, defined)
    columns = {
        "id": frame.listed["id"].copy(),
        "label": texts(labels.get(identifier, "") for identifier in frame.listed["id"].tolist()),
        "kind": texts(BodyKind(kind).name for kind in defined["kind"].tolist()),
        "scheme": texts(Scheme(scheme).name for scheme in defined["scheme"].tolist()),
        "material": texts(bulk[min(row, len(bulk) - 1)] for row in defined["material"].tolist()),
        "mass": defined["mass"].copy(),
        "volume": defined["volume"].copy(),
    }
    columns |= vectors("xyz", place) | vectors(("vx", "vy", "vz"), speed)
    return columns | {energy.name.lower(): frame.bodies["energy"][:, energy].copy() for energy in Energy}


def centres(reader, frame, defined: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mass centres and their velocities (bodies, 3)."""
    place, speed = np.zeros((2, len(defined), 3))
    elements = defined["kind"] == BodyKind.FINITE_ELEMENT
    conf, velo = frame.listed["conf_first"], frame.listed["velo_first"]
    place[~elements] = frame.configurations[conf[~elements] + CENTRE_ROW]
    rows = np.array([SPEED_ROW.get(kind, 0) for kind in BodyKind])[defined["kind"]]
    speed[~elements] = frame.velocities[velo[~elements] + rows[~elements]]
    for k in np.flatnonzero(elements):
        mesh, _, _ = stored_mesh(reader, int(frame.listed["id"][k]))
        table = BodyTable()
        table.add(BodyKind.FINITE_ELEMENT, mesh, id=1, mass=1.0, volume=1.0, form=1)
        mass = compiled(table).mass
        mass = mass / mass.sum()
        place[k] = defined["centre"][k] + mass @ frame.configurations[conf[k] : conf[k] + len(mass)]
        speed[k] = mass @ frame.velocities[velo[k] : velo[k] + len(mass)]
    return place, speed


def constraint_table(reader, number: int = -1, contacts: bool = False) -> dict[str, np.ndarray]:
    """Return a table of the constraints of a frame, or of its contacts alone.

    Returns
    -------
    dict
        id, kind, body1 (the reaction acts on it), body2 (0: none), surface1, surface2 (of these bodies) and material of contacts;
        x, y, z, the point; nx, ny, nz, the normal; rt1, rt2, rn, local components of the reaction, and rx, ry, rz, global ones;
        ut1, ut2, un, local relative velocity at the end of the step; gap, area, birth (step), merit, residual; mt1, mt2, mn, local
        components of the moment of rolling and spinning friction of contacts.
    """
    frame = reader.frame(number)
    rows = frame.constraints
    if contacts:
        rows = rows[rows["kind"] == ConstraintKind.CONTACT]
    contact = rows["kind"] == ConstraintKind.CONTACT
    surface = [material["label"] for material in reader.materials["surface"]] or [""]
    columns = {
        "id": rows["id"].copy(),
        "kind": texts(ConstraintKind(kind).name for kind in rows["kind"].tolist()),
        "body1": rows["master"].copy(),
        "body2": rows["slave"].copy(),
        "surface1": np.where(contact, rows["surface"][:, 1], 0),
        "surface2": np.where(contact, rows["surface"][:, 0], 0),
        "material": texts(surface[row] if use else "" for row, use in zip(rows["material"].tolist(), contact)),
    }
    columns |= vectors("xyz", rows["point"]) | vectors(("nx", "ny", "nz"), rows["base"][:, :, 2])
    columns |= vectors(("rt1", "rt2", "rn"), rows["R"])
    columns |= vectors(("rx", "ry", "rz"), np.einsum("nij,nj->ni", rows["base"], rows["R"]))
    columns |= vectors(("ut1", "ut2", "un"), rows["U"])
    columns |= {name: rows[name].copy() for name in ("gap", "area", "damage", "birth", "merit", "residual")}
    return columns | vectors(("mt1", "mt2", "mn"), rows["moment"])


def frame_table(reader) -> dict[str, np.ndarray]:
    """Return a table of the frames of a run: time, step, step_number, counts, figures of the solver, energies, seconds of every phase."""
    steps = reader.steps
    names = "time step step_number bodies constraints contacts born deleted iterations error merit residual minimum_gap".split()
    columns = {name: steps[name].copy() for name in names}
    columns["solver"] = texts(name.decode() for name in steps["solver"].tolist())
    return columns | {energy.name.lower(): steps["energy"][:, energy].copy() for energy in Energy}


def vectors(names, values: np.ndarray) -> dict[str, np.ndarray]:
    """Three columns of vectors (n, 3)."""
    return {name: values[:, k].copy() for k, name in enumerate(names)}


def texts(words) -> np.ndarray:
    """Make an array of text, also from an empty list."""
    return np.array(list(words), dtype=object)
