"""Path of the results file, its datasets and their names (docs/results-format.md).

Records of bodies and constraints are derived from the columns of the state tables, so a column that is added to a
table reaches the file without a change here, unless it is listed as one that follows from others.
"""

from __future__ import annotations

import os
from enum import IntEnum

import h5py
import numpy as np

from ..bodies.table import BodyTable
from ..constraints.table import USER_ONLY as CONSTRAINTS_OF_USERS
from ..constraints.table import ConstraintTable
from ..contact.geometry import FaceTable, PrimitiveTable
from ..element_types import MOST_FACES, MOST_NODES
from ..kinds import BodyKind, ConstraintKind, Form, Motor, PrimitiveKind, Scheme
from ..lives import Cause
from ..time_step import CLOCKS

FORMAT = "solfec results"
VERSION = 3
OLDEST = 3  # version that is still read
SCALAR = h5py.h5s.create(h5py.h5s.SCALAR)
UNITS = (
    "Solfec imposes no units.  Whatever units of length, mass and time the input used hold here; 'units' attributes "
    "name dimensions: L length, M mass, T time, F = M L/T^2 force, E = F L energy, s seconds of wall time, 1 none."
)

FOLLOWS = {  # rebuilt from the rest
    *("node_ptr", "element_ptr", "overlap_ptr", "conf_ptr", "velo_ptr", "primitive_ptr", "primitive_count", "extents", "owner"),
}
BODY_STATE = ("energy", "momentum", "rest")  # columns of the body table that change from frame to frame
DERIVED = ("element", "weights", "rounding", "carriers", "bend", "damped", "held")  # computed from referential points, shapes, velocities and other constraints
ROWS = ("master", "slave", "master_primitive", "slave_primitive")  # row numbers, stored as identities
USER_ONLY = ("other_point", *CONSTRAINTS_OF_USERS)  # meaningful for the user's constraints alone


def numbered(kinds: type[IntEnum]) -> str:
    """Numbers and names of kinds as text for a description."""
    return ", ".join(f"{kind.value} {kind.name}" for kind in kinds)


DESCRIPTIONS = {
    "id": ("1", "identifier, never reused"),
    "kind": ("1", f"bodies: {numbered(BodyKind)}; constraints: {numbered(ConstraintKind)}; primitives: {numbered(PrimitiveKind)}"),
    "form": ("1", "of finite elements: " + ", ".join(f"{form.value} {form.label}" for form in Form if form != Form.NONE)),
    "node_count": ("1", "nodes of a finite element body"),
    "mode_count": ("1", "vectors of the base of a finite element body, 0: none"),
    "scheme": ("1", numbered(Scheme)),
    "material": ("1", "row of bulk_materials (bodies) or surface_materials (constraints)"),
    "damping": ("1/T", "stiffness proportional damping"),
    "mass": ("M", "mass"),
    "volume": ("L^3", "referential volume"),
    "centre": ("L", "referential mass centre"),
    "tensor": ("M L^2", "referential inertia tensor (obstacle, rigid) or Euler tensor (pseudo-rigid)"),
    "lame": ("F/L^2", "Lame's lambda and mu"),
    "law": ("1", "material: 0 KIRCHHOFF, 2 NEO_HOOKEAN"),
    "enhanced": ("1", "1: hexahedra with enhanced strains"),
    "fracture_check": ("1", "1: states that reach the fracture energy are recorded in /frames/fractures"),
    "conserving": ("1", "1: DEF_LIM conserves energy and momentum"),
    "energy": ("E", "KINETIC, INTERNAL, EXTERNAL, CONTACT, FRICTION, DISSIPATED"),
    "momentum": ("M L^2/T", "referential angular momentum carried by the integrator"),
    "rest": ("1", "of SOLFEC.sleeping: steps for which the body has been slow; -1: it sleeps"),
    "master": ("1", "id of the body the reaction acts on"),
    "slave": ("1", "id of the other body, 0: none"),
    "master_primitive": ("1", "number of the primitive within the master's shape, -1: none"),
    "slave_primitive": ("1", "number of the primitive within the slave's shape, -1: none"),
    "point": ("L", "current spatial point"),
    "base": ("1", "local base, [i, j]: component i of vector j of (t1, t2, n)"),
    "R": ("F", "reaction averaged over the step, components (t1, t2, n)"),
    "moment": ("F L", "of a contact: moment of rolling and spinning friction on the master, averaged over the step, components (t1, t2, n)"),
    "U": ("L/T", "relative velocity at the end of the step, components (t1, t2, n)"),
    "V": ("L/T", "relative velocity at the start of the step, components (t1, t2, n)"),
    "gap": ("L", "gap; negative: penetration"),
    "area": ("L^2", "contact area"),
    "surface": ("1", "surface identifiers: slave, master"),
    "birth": ("1", "step number at which the constraint was created"),
    "cohesion": ("F/L^2", "strength of the bond while the contact is cohesive, else 0"),
    "damage": ("1", "of the bond of a cohesive contact: 0 whole, 1 gone"),
    "strength": ("F", "largest tensile force of a link, largest reaction of a fixed point"),
    "length": ("L", "reference length of a link or spring"),
    "other_point": ("L", "current point on the slave, or the fixed point of a link"),
    "value": ("L/T", "prescribed velocity at the end of the step"),
    "series_rows": ("1", "row of functions behind the prescribed velocity, -1: none"),
    "direction": ("1", "unit direction, referential where it is convected"),
    "update": ("1", "direction: 0 from slave to master, 1 fixed, 2 convected with the master, 3 with the slave"),
    "limits": ("L", "strokes at which a spring's rigid stops begin"),
    "curve": ("1", "row of functions that gives a spring's force, -1: a Python function"),
    "dashpot": ("F T/L", "dashpot of a spring with a curve"),
    "start": ("1", "joints: 0 met; 1 new, to be looked at before the next step; 2 the step stops its points; 3, 4 the next two steps take away what an impact has left"),
    "joint": ("1", "identifier of the first constraint of the joint that this one belongs to, 0: none"),
    "axes": ("1", "[side, vector, i]: the joint's axis and a vector square to it, referential, as master and slave (or space) carry them"),
    "geared": ("1", "of wheels: identifiers of the constraints whose coordinates q and s they couple, 0: none"),
    "gearing": ("1", "of wheels: the ratio r of q to s, the value of q - r s without drift, 1: the reaction acts at the rims"),
    "levers": ("L", "[side, quantity, i]: of wheels, factors of the angular velocity and (dimensionless) of a point's velocity in U_N"),
    "reversing": ("L/T", "of a joint's row: relative velocity at the start of the last step plus that at the end of the step before"),
    "travel": ("L", "coordinate of a joint's axis, angles in radians with turns counted, when it was looked at last"),
    "motor": ("1", f"what the prescribed value of a joint's axis is: {numbered(Motor)}"),
    "drive": ("F", "of a joint's axis: largest effort of the motor, friction, stiffness, damping, coordinate without force, restitution"),
    "implicit": ("1", "1: a spring's force follows from the mean stroke and velocity of the step"),
}  # fmt: skip


DEFINITION_COLUMNS = tuple(n for n in BodyTable.COLUMNS if n not in FOLLOWS and n not in BODY_STATE)
CONTACT_COLUMNS = tuple(n for n in ConstraintTable.COLUMNS if n not in (*ROWS, *USER_ONLY, *DERIVED, "evaluated"))

DEFINITION = BodyTable.record(DEFINITION_COLUMNS)
BODY = BodyTable.record(BODY_STATE)
LISTED = np.dtype([("id", "<i8"), ("definition", "<i8"), ("conf_first", "<i8"), ("velo_first", "<i8")])
CONSTRAINT = np.dtype(
    [("master", "<i8"), ("slave", "<i8"), ("master_primitive", "<i4"), ("slave_primitive", "<i4")]
    + ConstraintTable.record(CONTACT_COLUMNS).descr
)
USER = ConstraintTable.record(USER_ONLY)
ROW_SETS = ("top", "middle", "bottom", "inner")  # of sweeps by colours of processes
STEP = np.dtype(
    [("time", "<f8"), ("step", "<f8"), ("step_number", "<i8")]
    + [(part + suffix, "<i8") for part in ("bodies", "constraints", "user") for suffix in ("", "_first")]
    + [(name, "<i8") for name in ("list_first", "conf_first", "velo_first", "contacts", "sparsified", "born", "deleted")]
    + [(name, "<f8") for name in ("iterations", "error", "merit", "residual", "minimum_gap")]
    + [("solver", "S24"), ("energy", "<f8", (6,))]
    + [(clock, "<f8") for clock in CLOCKS]
    + [(name, "<i8") for name in ("colours", *ROW_SETS)]
    + [("clock_time", "<f8"), ("clock_step", "<i8"), ("next_body_id", "<i8"), ("next_constraint_id", "<i8")]
    + [("factor_nodes", "<i8"), ("factor_first", "<i8"), ("factor_fewest", "<i8"), ("factor_spent", "<i8"), ("factor_pivoted", "<i8")]
    + [("settings", "<i8"), ("run", "<i8"), ("output", "<f8", (4,)), ("callback", "<f8", (4,))]
)
STEP_DESCRIPTIONS = {
    "time": ("T", "time"),
    "step": ("T", "time step in use"),
    "step_number": ("1", "steps taken"),
    "bodies": ("1", "number of bodies; bodies_first: their first row in /frames/bodies"),
    "constraints": ("1", "number of constraints; constraints_first: their first row in /frames/constraints"),
    "user": ("1", "number of constraints put by the user, the first ones; user_first: row in /frames/user_constraints"),
    "list_first": ("1", "first of `bodies` rows in /frames/body_lists (frames with the same bodies share them)"),
    "conf_first": ("1", "first row in /frames/configurations"),
    "velo_first": ("1", "first row in /frames/velocities"),
    "contacts": ("1", "number of contacts, the last constraints"),
    "sparsified": ("1", "contacts removed by sparsification in the last step"),
    "born": ("1", "bodies inserted since the previous frame"),
    "deleted": ("1", "bodies deleted since the previous frame"),
    "iterations": ("1", "iterations of the constraint solver in the last step, NaN: none"),
    "error": ("1", "final relative error of the solver"),
    "merit": ("1", "constraint satisfaction merit"),
    "residual": ("L/T", "residual of the velocity formulation"),
    "minimum_gap": ("L", "smallest contact gap, 0 without contacts"),
    "solver": ("", "class of the solver"),
    "energy": ("E", "of all bodies, contacts counted once (in exports of some bodies once for each of them): KINETIC, INTERNAL, EXTERNAL, CONTACT, FRICTION, DISSIPATED"),
    **{clock: ("s", "wall time of the phase since the previous frame, the longest of all processes") for clock in CLOCKS},
    "colours": ("1", "colours of the last sweeps, of constraints or (variants of GAUSS_SEIDEL_SOLVER) of processes; 0: they went in the order of rows"),
    **{name: ("1", f"{name} rows of the last sweeps, of all processes; 0: there are no such sets") for name in ROW_SETS},
    "clock_time": ("T", "time = clock_time + (step_number - clock_step) * step"),
    "next_body_id": ("1", "identifier of the next body"),
    "next_constraint_id": ("1", "identifier of the next constraint"),
    "factor_nodes": ("1", "nodes of bodies of scheme DEF_LIM and form TL whose factor is kept, 0: none; factor_first: row in "
                     "/frames/factors (frames with the same factor share it); factor_fewest, factor_spent: its first iterations "
                     "and those that came on top; factor_pivoted: 1 from when a matrix had no Cholesky factor"),
    "settings": ("1", "row of /model/settings that holds in this frame"),
    "run": ("1", "which call of RUN wrote the frame, from 1 on; 0: none"),
    "output": ("T", "schedule of frames: start, interval, events passed, time of the last one; NaN: none"),
    "callback": ("T", "schedule of the user's callback, likewise"),
}

FACE = FaceTable.record(("corner_ptr", "corner_count", "surface"))
PRIMITIVE = PrimitiveTable.record((
    *("kind", "volume_id", "surface", "radius", "vertex_ptr", "vertex_count", "face_ptr", "face_count", "outer_count"),
    *("adjacent_ptr", "adjacent_count", "radii", "orientation"),
))  # fmt: skip
PARTS = ("vertices", "vertex_lists", "faces", "corners", "adjacency", "primitives")
SHAPE = np.dtype([("body", "<i8")] + [(part + suffix, "<i8") for part in PARTS for suffix in ("_first", "")])

VECTOR = np.dtype(("<f8", (3,)))
FRACTURE = np.dtype(
    [("body", "<i8"), ("time", "<f8"), ("step", "<i8")] + [(part + suffix, "<i8") for part in ("nodes", "constraints") for suffix in ("_first", "")]
)
FRACTURE_CONSTRAINT = np.dtype([("radius", "<f8"), ("point", "<f8", (3,)), ("reaction", "<f8", (3,))])
TEXT = np.dtype([("first", "<i8"), ("length", "<i8")])
LABEL = np.dtype([("body", "<i8"), ("first", "<i8"), ("length", "<i8")])
FUNCTION = np.dtype([("first", "<i8"), ("times", "<i8"), ("values", "<i8")])
MESH_PARTS = ("mesh_nodes", "mesh_elements", "mesh_vertices", "mesh_primitives", "mesh_points", "mesh_places", "mesh_overlaps")
MESH = np.dtype([("body", "<i8"), ("density", "<f8")] + [(part + suffix, "<i8") for part in MESH_PARTS for suffix in ("_first", "")])
MESH_NODE = np.dtype([("place", "<f8", (3,)), ("normal", "<f8", (3,))])
MESH_ELEMENT = np.dtype(
    [("size", "<i4"), ("node", "<i4", (MOST_NODES,)), ("material", "<i4"), ("volume_id", "<i4"), ("surface", "<i4", (MOST_FACES,))]
)
EVENT = np.dtype(
    [("body", "<i8"), ("born", "<i8"), ("cause", "<i8"), ("parent", "<i8"), ("time", "<f8"), ("step", "<i8"), ("energy", "<f8")]
)
TENSION = np.dtype([("body", "<i8"), ("crack", "<i8"), ("step", "<i8"), ("tension", "<f8")])
MESH_POINT = np.dtype([("element", "<i4"), ("natural", "<f8", (3,)), ("weight", "<f8")])
MESH_PLACE = np.dtype([("element", "<i4"), ("weights", "<f8", (MOST_NODES,))])
MESH_OVERLAP = np.dtype([("primitive", "<i4"), ("element", "<i4")])
BASE = np.dtype([("body", "<i8"), ("modes", "<i8"), ("unknowns", "<i8"), ("first", "<i8")])
DATASETS = {  # name: (record or number type, dimension of the quantity, description)
    "model/bodies": (DEFINITION, "", "definitions of bodies; a body whose data changed has several, the last is in use"),
    "model/shapes": (SHAPE, "1", "where a body's shape is: first row and number of rows in each of the tables below"),
    "model/vertices": (VECTOR, "L", "referential vertices; a sphere has one, its centre"),
    "model/vertex_lists": (np.dtype("<i4"), "1", "vertices of primitives, numbered from 0 within the body"),
    "model/faces": (FACE, "1", "planar faces, corner_ptr counts from the body's first corner"),
    "model/corners": (np.dtype("<i4"), "1", "vertices of faces, counter-clockwise from outside, numbered within the body"),
    "model/adjacency": (np.dtype("<i4"), "1", "adjacent primitives, numbered within the body"),
    "model/primitives": (PRIMITIVE, "1", "convex primitives; pointers count from the body's first row"),
    "model/meshes": (MESH, "1", "where a finite element body's mesh is: first row and number of rows in the tables below"),
    "model/mesh_nodes": (MESH_NODE, "", "referential nodes [L], and integrals of shape function times normal [L^2]"),
    "model/mesh_elements": (MESH_ELEMENT, "1", "number of nodes of elements, their nodes, numbered within the body, row of their own "
                            "bulk material, -1: the body's, volume identifier, surface identifiers of their faces"),
    "model/mesh_vertices": (np.dtype("<i4"), "1", "the node that each vertex of the body's shape is"),
    "model/mesh_primitives": (np.dtype("<i4"), "1", "the element that each primitive of the body's shape is"),
    "model/texts": (np.dtype("u1"), "1", "bytes (UTF-8) of settings"),
    "model/settings": (TEXT, "1", "loads, materials, settings of detection and solver as JSON: first byte and number of bytes in "
                       "texts; frames refer to these rows"),
    "model/label_texts": (np.dtype("u1"), "1", "bytes (UTF-8) of labels"),
    "model/labels": (LABEL, "1", "labels of bodies: id, first byte and number of bytes in label_texts"),
    "model/functions": (FUNCTION, "1", "time series, and forces of springs over strokes: first row in function_knots, numbers of "
                        "times and values; without times a constant"),
    "model/function_knots": (np.dtype("<f8"), "", "times (or strokes), then values, of one function after another"),
    "model/mesh_points": (MESH_POINT, "", "quadrature points of elements that a shape inside the mesh fills in part: element, "
                          "natural coordinates [1], weight [L^3]"),
    "model/mesh_places": (MESH_PLACE, "1", "of a shape inside a mesh: the element that holds each vertex, shape "
                          "functions there"),
    "model/mesh_overlaps": (MESH_OVERLAP, "1", "of a shape inside a mesh: primitives and the elements that they overlap"),
    "model/bases": (BASE, "1", "where a reduced finite element body's base is: numbers of vectors and of nodal unknowns, first of "
                    "its numbers below"),
    "model/base_numbers": (np.dtype("<f8"), "", "eigenvalues [1/T^2], then vector after vector; bodies may share them"),
    "frames/events": (EVENT, "", f"births and deaths of bodies after the first frame: body, 1: born or 0: gone, cause ({numbered(Cause)}), the "
                      "body that a fragment comes from, time, step number, kinetic energy that a split has added"),
    "frames/fractures": (FRACTURE, "", "states in which a body's internal energy reaches its fracture energy: body, time, step number, rows in the "
                         "two tables below"),
    "frames/fracture_nodes": (VECTOR, "L", "displacements of the nodes of these bodies"),
    "frames/fracture_constraints": (FRACTURE_CONSTRAINT, "", "constraints that act on them: radius [L] of a circle of their area, referential point "
                                    "[L], spatial reaction on the body [F]"),
    "frames/tensions": (TENSION, "", "average tensions across cracks of rigid bodies: body, number of the crack among those of the body, step "
                        "number of the frame, tension [F/L^2]"),
    "frames/body_lists": (LISTED, "1", "bodies of a frame: id, row of /model/bodies, first of its rows within the frame's "
                          "configurations and velocities"),
    "frames/bodies": (BODY, "", "state of bodies, in the order of the frame's list"),
    "frames/configurations": (VECTOR, "L or 1", "obstacle, rigid: columns of the rotation, current centre; "
                              "pseudo-rigid: rows of the deformation gradient, current centre; "
                              "finite elements: displacements of nodes, then (in a base) columns of the rotation"),
    "frames/velocities": (VECTOR, "L/T or 1/T", "obstacle, rigid: referential angular velocity, velocity of the centre; "
                          "pseudo-rigid: rows of the rate of the gradient, velocity of the centre; "
                          "finite elements: velocities of nodes, then (in a base) reduced velocities"),
    "frames/constraints": (CONSTRAINT, "", "constraints: the user's first, then contacts"),
    "frames/user_constraints": (USER, "", "further data of the user's constraints"),
    "frames/factors": (VECTOR, "L", "displacements of nodes at which the factor that serves DEF_LIM bodies was made"),
    "frames/steps": (STEP, "", "one row per frame; a frame exists when its row does"),
}  # fmt: skip




def results_file(path: str) -> str:
    """`<path>/<name>.h5`, where name is the last component of the path."""
    path = os.path.abspath(path)
    return os.path.join(path, os.path.basename(path) + ".h5")


def describe(dataset, name: str) -> None:
    """Attach units and descriptions to a dataset and to the fields of its records."""
    dtype, units, description = DATASETS[name]
    say(dataset, "description", description)
    say(dataset, "units", units)
    texts = STEP_DESCRIPTIONS if dtype is STEP else DESCRIPTIONS
    for field in dtype.names or ():
        if field in texts:
            say(dataset, "field " + field, "[{}] {}".format(*texts[field]))


def say(thing, name: str, text: str) -> None:
    """Attach text of fixed length.

    HDF5 keeps text of variable length in a heap, and loops for ever when that is damaged.  Written by HDF5's own calls, which take
    a third of the time of h5py's `attrs`: a new file has two hundred texts.
    """
    data = text.encode() or b" "
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(data))
    kind.set_strpad(h5py.h5t.STR_NULLPAD)
    h5py.h5a.create(thing, name.encode(), kind, SCALAR).write(np.array(data), kind)


def said(thing, name: str) -> str:
    """Text that `say` has attached; '' where there is none."""
    value = thing.attrs.get(name, b"")
    return value.decode().strip() if isinstance(value, bytes) else str(value)


def completed(packed: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Records of an older file, with zeros in fields that it does not have."""
    if packed.dtype == dtype:
        return packed
    if packed.dtype.names is None:
        raise ValueError(f"numbers stand where there should be records of {', '.join(dtype.names[:3])} ...")
    result = np.zeros(packed.shape, dtype)
    for name in set(dtype.names) & set(packed.dtype.names):
        result[name] = packed[name]
    return result
