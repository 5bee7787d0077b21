"""Checks of stored numbers before kernels use them: a wrong number of a damaged or hostile file would become an address in memory.

Every error names the file and the dataset or field.
"""

from __future__ import annotations

import h5py
import numpy as np

from ..bodies.table import BodyKind, Form, Scheme, conf_triples, velo_triples
from ..constraints.table import ConstraintKind
from ..contact.geometry import PrimitiveKind
from ..element_types import SIZES
from ..errors import SolfecError
from ..kinds import LoadKind
from . import layout

POINTED = ("point", "other_point", "base", "R", "U", "V", "master_point", "slave_point")  # vectors of constraints that kernels read


class Checks:
    """Checks of the contents of one results file.

    Parameters
    ----------
    file : str
        The file, for messages.
    """

    def __init__(self, file: str):
        self.file = file

    def refuse(self, name: str, why: str):
        """Raise the SolfecError for a damaged file."""
        raise SolfecError(f"{self.file}: /{name} cannot be read, the file seems damaged: {why}")

    def within(self, name: str, numbers: np.ndarray, first: int, end: int) -> None:
        """Check that numbers are at least `first` and below `end`."""
        numbers = np.asarray(numbers)
        if numbers.size and not (int(numbers.min()) >= first and int(numbers.max()) < end):
            wrong = numbers[(numbers < first) | (numbers >= end)].ravel()[0]
            self.refuse(name, f"{wrong} is not one of {first} to {end - 1}")

    def finite(self, name: str, numbers: np.ndarray) -> None:
        """Check that numbers are finite."""
        if not np.isfinite(numbers).all():
            self.refuse(name, "it holds numbers that are not finite")

    def count(self, name: str, found: int, expected: int) -> None:
        """Check the number of rows."""
        if found != expected:
            self.refuse(name, f"{expected} rows are referred to, there are {found}")

    def spans(self, name: str, first: np.ndarray, count: np.ndarray, end: int, least: int = 0) -> None:
        """Check ranges of rows: each from `first`, `count` rows long, at least `least`, and all below `end`."""
        first, count = (np.asarray(column, np.int64) for column in (first, count))
        if first.size and not ((first >= 0) & (count >= least) & (count <= end) & (first <= end - count)).all():
            self.refuse(name, f"it refers to rows outside of 0 to {end - 1}")

    def listed(self, frame, definitions: int) -> None:
        """Check the list of bodies of a frame: identifiers that grow, definitions that exist."""
        identifiers = frame.listed["id"]
        self.count("frames/body_lists", len(identifiers), int(frame.step["bodies"]))
        self.within("frames/body_lists: definition", frame.listed["definition"], 0, definitions)
        if len(identifiers) and (identifiers[0] < 1 or (np.diff(identifiers) < 1).any()):
            self.refuse("frames/body_lists: id", "identifiers must grow")

    def bodies(self, frame, defined: np.ndarray) -> None:
        """Check definitions and state of the bodies of a frame."""
        step, listed = frame.step, frame.listed
        if not np.array_equal(defined["id"], listed["id"]):
            self.refuse("model/bodies: id", "frames know these bodies by other identifiers")
        for name, values in (("kind", BodyKind), ("scheme", Scheme)):
            self.within(f"model/bodies: {name}", defined[name], 0, max(values) + 1)
        elements = defined["kind"] == BodyKind.FINITE_ELEMENT
        if not np.isin(defined["form"][elements], [int(form) for form in Form]).all():
            self.refuse("model/bodies: form", "it names no form of finite elements")
        self.within("model/bodies: node_count", defined["node_count"], 0, 2**29)
        self.within("model/bodies: mode_count", defined["mode_count"], 0, 2**29)
        for name in ("mass", "volume", "centre", "tensor", "lame", "damping"):
            self.finite(f"model/bodies: {name}", defined[name])
        sizes, which = np.unique(np.stack([defined[n] for n in ("kind", "node_count", "mode_count")], axis=1), axis=0, return_inverse=True)
        for name, rows, function, stored in (
            ("conf_first", "configurations", conf_triples, frame.configurations), ("velo_first", "velocities", velo_triples, frame.velocities),
        ):  # fmt: skip
            length = np.array([function(*map(int, size)) for size in sizes], np.int64)[which.reshape(-1)]
            if not np.array_equal(listed[name], np.cumsum(length) - length):
                self.refuse(f"frames/body_lists: {name}", "it does not agree with the bodies' sizes")
            self.count(f"frames/{rows}", len(stored), int(length.sum()))
            self.finite(f"frames/{rows}", stored)
        self.count("frames/bodies", len(frame.bodies), int(step["bodies"]))
        for name in set(layout.BODY_STATE) & set(frame.bodies.dtype.names):
            self.finite(f"frames/bodies: {name}", frame.bodies[name])
        if "rest" in frame.bodies.dtype.names:  # files of earlier versions lack it
            self.within("frames/bodies: rest", frame.bodies["rest"], -1, 2**31 - 1)

    def step(self, step: np.void) -> None:
        """Check the scalars of a frame."""
        for name in ("time", "step", "clock_time"):
            self.finite(f"frames/steps: {name}", step[name])
        if not step["step"] > 0.0:
            self.refuse("frames/steps: step", f"the time step is {step['step']:g}")
        for name in ("step_number", "clock_step", "next_body_id", "next_constraint_id", "factor_nodes", "constraints", "user"):
            self.within(f"frames/steps: {name}", step[name], 0, 2**62)
        if step["user"] > step["constraints"]:
            self.refuse("frames/steps: user", "it is larger than the number of constraints")

    def constraints(self, frame, ids: np.ndarray, primitives: np.ndarray, functions: int) -> None:
        """Check the constraints of a frame; `ids` and numbers of `primitives` are those of its bodies."""
        stored, user = frame.constraints, frame.user_constraints
        self.count("frames/constraints", len(stored), int(frame.step["constraints"]))
        self.count("frames/user_constraints", len(user), int(frame.step["user"]))
        self.within("frames/constraints: kind", stored["kind"], 0, max(ConstraintKind) + 1)
        users = np.arange(len(stored)) < len(user)
        if ((stored["kind"] == ConstraintKind.CONTACT) == users).any():
            self.refuse("frames/constraints: kind", "contacts must follow the user's constraints")
        count = np.append(primitives, 0)
        for side in ("master", "slave"):
            body, number = stored[side], stored[side + "_primitive"]
            row = np.searchsorted(ids, body)
            known = np.append(ids, -1)[row] == body
            if not (known | ((body == 0) & (side == "slave"))).all():
                self.refuse(f"frames/constraints: {side}", "it names a body that the frame does not have")
            if (number < -1).any() or (known & (number >= count[np.where(known, row, -1)])).any():
                self.refuse(f"frames/constraints: {side}_primitive", "the body does not have as many primitives")
            touching = ~users
            if (touching & known & (number < 0)).any() or (touching & ~known).any():
                self.refuse(f"frames/constraints: {side}_primitive", "a contact lacks its primitive")
        self.within("frames/constraints: material", stored["material"], -1, 2**30)
        for name in (name for name in POINTED if name in stored.dtype.names):
            self.finite(f"frames/constraints: {name}", stored[name])
        for name in ("series_rows", "curve"):
            self.within(f"frames/user_constraints: {name}", user[name], -1, max(functions, 1))
        self.within("frames/user_constraints: update", user["update"], 0, 4)
        for name in ("direction", "value", "length", "limits", "dashpot"):
            if np.isnan(user[name]).any():
                self.refuse(f"frames/user_constraints: {name}", "it holds NaN")

    def shape(self, entry: np.void, tables: dict[str, np.ndarray]) -> None:
        """Check the shape of a body: a row of `/model/shapes`, and the tables that it refers to."""
        part = {}
        for name in layout.PARTS:
            self.spans(f"model/shapes: {name}", entry[name + "_first"], entry[name], len(tables[name]))
            part[name] = tables[name][entry[name + "_first"] : entry[name + "_first"] + entry[name]]
        vertices, faces, primitives = part["vertices"], part["faces"], part["primitives"]
        self.finite("model/vertices", vertices)
        for name in ("vertex_lists", "corners"):
            self.within(f"model/{name}", part[name], 0, len(vertices))
        self.within("model/adjacency", part["adjacency"], 0, len(primitives))
        self.spans("model/faces: corner_ptr", faces["corner_ptr"], faces["corner_count"], len(part["corners"]), 3)
        self.within("model/primitives: kind", primitives["kind"], 0, max(PrimitiveKind) + 1)
        for pointer, target, least in (("vertex", "vertex_lists", 1), ("face", "faces", 0), ("adjacent", "adjacency", 0)):
            self.spans(f"model/primitives: {pointer}_ptr", primitives[pointer + "_ptr"], primitives[pointer + "_count"], len(part[target]), least)
        if ((primitives["outer_count"] < 0) | (primitives["outer_count"] > primitives["face_count"])).any():
            self.refuse("model/primitives: outer_count", "it is not between 0 and face_count")
        for name in ("radius", "radii", "orientation"):
            self.finite(f"model/primitives: {name}", primitives[name])
        for name in ("faces", "vertex_lists", "adjacency"):
            if len(part[name]) and not len(primitives):
                self.refuse(f"model/{name}", "rows belong to no primitive")

    def mesh(self, part: dict[str, np.ndarray], entry: np.void, shape: np.void, nodes: int, materials: int) -> None:
        """Check the mesh of a body: rows of the detail tables of `/model/meshes`; `shape` is its row of `/model/shapes`."""
        for name, rows in part.items():
            self.count(f"model/{name}", len(rows), int(entry[name]))
        self.finite("model/meshes: density", entry["density"])
        self.count("model/mesh_nodes", len(part["mesh_nodes"]), nodes)
        for name in ("place", "normal"):
            self.finite(f"model/mesh_nodes: {name}", part["mesh_nodes"][name])
        elements = part["mesh_elements"]
        self.elements(elements, nodes)
        self.within("model/mesh_elements: material", elements["material"], -1, materials)
        places, points, overlaps = (part["mesh_" + name] for name in ("places", "points", "overlaps"))
        if not len(places):
            self.count("model/mesh_vertices", len(part["mesh_vertices"]), int(shape["vertices"]))
            self.within("model/mesh_vertices", part["mesh_vertices"], 0, nodes)
            self.count("model/mesh_primitives", len(part["mesh_primitives"]), int(shape["primitives"]))
            self.within("model/mesh_primitives", part["mesh_primitives"], 0, len(elements))
            return
        self.count("model/mesh_places", len(places), int(shape["vertices"]))
        for name, rows, columns in (("places", places, ("weights",)), ("points", points, ("natural", "weight")), ("overlaps", overlaps, ())):
            self.within(f"model/mesh_{name}: element", rows["element"], 0, len(elements))
            for column in columns:
                self.finite(f"model/mesh_{name}: {column}", rows[column])
        self.within("model/mesh_overlaps: primitive", overlaps["primitive"], 0, int(shape["primitives"]))
        if (np.diff(overlaps["primitive"]) < 0).any():
            self.refuse("model/mesh_overlaps: primitive", "rows must be sorted by it")

    def elements(self, elements: np.ndarray, nodes: int) -> None:
        """Check the elements of a mesh with this number of nodes."""
        if not len(elements) or not np.isin(elements["size"], SIZES).all():
            self.refuse("model/mesh_elements: size", f"elements have {', '.join(map(str, SIZES))} nodes")
        self.within("model/mesh_elements: node", elements["node"], 0, nodes)

    def functions(self, index: np.ndarray, knots: np.ndarray) -> None:
        """Check time series and curves."""
        first, times, values = (index[name] for name in ("first", "times", "values"))
        self.spans("model/functions: times", first, times, len(knots))
        self.spans("model/functions: values", first + np.maximum(times, 0), values, len(knots), 1)
        if ((times != values) & ((times != 0) | (values != 1))).any():
            self.refuse("model/functions: values", "there must be as many as times, or one without times")
        self.finite("model/function_knots", knots)

    def pressures(self, described: list, node_count: dict[int, int]) -> None:
        """Check pressures of the settings; `node_count` maps body identifiers to numbers of nodes."""
        for item in described:
            if item["body"] in node_count:
                self.within("model/settings: pressures: nodes", np.array(item["nodes"], np.int64), 0, node_count[item["body"]])
                self.count("model/settings: pressures: weights", len(item["weights"]), len(item["nodes"]))
                for name in ("value", "area", "moment", "weights"):
                    self.finite(f"model/settings: pressures: {name}", np.array(item[name], float))

    def point_loads(self, columns: dict) -> None:
        """Check forces and torques of the settings."""
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            self.refuse("model/settings: point loads", "columns differ in length")
        for name, column in columns.items():
            self.finite(f"model/settings: point loads: {name}", np.array(column, float))
        self.within("model/settings: point loads: kind", np.array(columns["kind"], np.int64), 0, len(LoadKind))


def refuse_foreign(file: h5py.File, name: str) -> None:
    """Raise SolfecError when parts of a results file are links to other files, which could be read or written through it, or are no tables."""
    for path in ("/", "/model", "/frames"):
        if path != "/" and path not in file:
            raise SolfecError(f"{name}: {path} is missing, the file seems damaged")
        group = file[path] if path == "/" or isinstance(file.get(path, getlink=True), h5py.HardLink) else None
        if group is None:
            raise SolfecError(f"{name}: {path} is a link to another place, which results files of this program do not have")
        for key in group:
            if not isinstance(group.get(key, getlink=True), h5py.HardLink):
                raise SolfecError(f"{name}: {group.name.rstrip('/')}/{key} is a link to another place, which results files of this program do not have")
            item = group[key]
            place = item.name.lstrip("/")
            if place in layout.DATASETS and not (isinstance(item, h5py.Dataset) and item.ndim == 1 + len(layout.DATASETS[place][0].shape)):
                raise SolfecError(f"{name}: /{place} cannot be read, the file seems damaged: it is no table of that form")
            if isinstance(item, h5py.Dataset):
                plan = item.id.get_create_plist()
                if plan.get_external_count() or plan.get_layout() == h5py.h5d.VIRTUAL:
                    raise SolfecError(f"{name}: {item.name} is stored in another file, which results files of this program are not")
