"""Time histories from stored frames, read column by column instead of frame by frame (docs/language-running.md, HISTORY)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..bodies.point_values import cauchy_stress, components
from ..bodies.table import BodyKind, Energy
from ..errors import SolfecError
from ..time_step import CLOCKS
from . import layout
from .gather import Places, gather, rows, runs
from .meshes import MeshPoint, stored_mesh

TOLERANCE = 1e-6  # part of a step: frames this little outside of the interval count as inside
POINT_ENTITIES = ("CX", "CY", "CZ", "DX", "DY", "DZ", "VX", "VY", "VZ")
STRESS_ENTITIES = ("SX", "SY", "SZ", "SXY", "SXZ", "SYZ", "MISES")
CONSTRAINT_ENTITIES = ("GAP", "R", "U", "CR", "CU")
NUMBERS = {
    "STEP": "step", "MERIT": "merit", "RESIDUAL": "residual", "CONS": "constraints", "BODS": "bodies", "DELBODS": "deleted", "NEWBODS": "born",
    "GSCOLORS": "colours", "GSTOP": "top", "GSMID": "middle", "GSBOT": "bottom", "GSINN": "inner",
}  # fmt: skip
ITERATIONS = {"GSITERS": b"GAUSS", "NTITERS": b"NEWTON", "TSITERS": b"TEST"}
NOTHING_RECORDED = ("NEWCONS", "BSITERS", "LININIT", "LINUPD", "LINMV", "LINPRE", "LINRUN", "LINCOM")
NAMES = (*CLOCKS, *NUMBERS, *ITERATIONS, *NOTHING_RECORDED)


@dataclass
class Point:
    """A component of the placement, displacement, velocity or stress of a referential point.

    `bodies` are those with one label, oldest first; each frame takes the first of them that exists.
    """

    bodies: list[int]
    point: np.ndarray
    entity: str


@dataclass
class BodyEnergy:
    """A kind of energy of the whole model (bodies None) or summed over bodies."""

    bodies: list[int] | None
    column: int


@dataclass
class Constraint:
    """A quantity of the constraints attached to bodies (None: of all constraints)."""

    bodies: list[int] | None
    direction: np.ndarray | None
    pair: tuple[int, int] | None
    entity: str


def history(
    reader, items, start: float | None = None, end: float | None = None, skip: int = 1, progress: Callable[[float], None] | None = None
) -> tuple:
    """Return histories of quantities over the frames with start <= time <= end.

    Parameters
    ----------
    reader : ResultsReader
    items : one item or a list of them
        ``(body, point, entity)`` with entity CX..CZ, DX..DZ, VX..VZ, SX..SYZ or MISES; ``(object, kind)`` with kind KINETIC,
        INTERNAL, EXTERNAL, CONTACT, FRICTION or DISSIPATED; ``(object, entity)`` or ``(object, direction, pair, entity)`` with
        entity GAP, R, U, CR or CU; or a name: 'STEP', 'CONS', 'BODS', 'TIMINT', 'GSITERS' ... (docs/language-running.md, HISTORY).
        A body is an identifier or a label; an object is None (the whole model), a body or a list of bodies.
    start, end : float, optional
        Interval; the first and the last frame when left out.
    skip : int
        Take every `skip`-th frame.
    progress : function (share), optional
        Called some twenty times with the share of the frames that has been read.

    Returns
    -------
    tuple
        Times and one array per item; NaN where a body or a record does not exist.

    Raises
    ------
    ValueError
        Invalid items, interval or skip.
    SolfecError
        A point outside of the elements of its body.
    """
    reader.refresh()
    parsed = [parse(reader, item) for item in (items if isinstance(items, list) else [items])]
    steps = reader.steps[select(reader, start, end, skip)]
    if progress is None:
        values = _values(reader, parsed, steps)
    else:
        parts = []
        for part in np.array_split(steps, max(min(len(steps), 20), 1)):
            parts.append(_values(reader, parsed, part))
            progress(sum(len(done[0]) for done in parts) / len(steps) if len(steps) else 1.0)
        values = [np.concatenate(columns) for columns in zip(*parts)]
    return tuple(values)


def _values(reader, parsed: list, steps: np.ndarray) -> list[np.ndarray]:
    """Times and values over some frames."""
    values: dict[int, np.ndarray] = {}
    points = [k for k, item in enumerate(parsed) if isinstance(item, Point)]
    energies = [k for k, item in enumerate(parsed) if isinstance(item, BodyEnergy) and item.bodies is not None]
    constraints = [k for k, item in enumerate(parsed) if isinstance(item, Constraint)]
    for chosen, function in ((points, point_values), (energies, energy_values), (constraints, constraint_values)):
        if chosen:
            with reader.undamaged("frames"):
                values.update(zip(chosen, function(reader, steps, [parsed[k] for k in chosen])))
    for k, item in enumerate(parsed):
        if isinstance(item, str):
            values[k] = named_values(steps, item)
        elif k not in values:
            values[k] = steps["energy"][:, item.column].copy()
    return [steps["time"].copy(), *(values[k] for k in range(len(parsed)))]


# --- checks of the arguments ---------------------------------------------------------------------------------------


def select(reader, start: float | None, end: float | None, skip: int) -> np.ndarray:
    """Return the frames of an interval of time."""
    times, tolerance = reader.times, TOLERANCE * reader.steps["step"]
    if not len(times):
        raise SolfecError(f"{reader.file}: the results hold no frames")
    start = times[0] if start is None else start
    end = times[-1] if end is None else end
    if not start <= end:
        raise ValueError(f"t0 = {start:g} is larger than t1 = {end:g}")
    if skip < 1:
        raise ValueError(f"skip = {skip} is not positive")
    start, end = min(max(start, times[0]), times[-1]), min(max(end, times[0]), times[-1])
    return np.flatnonzero((times >= start - tolerance) & (times <= end + tolerance))[::skip]


def parse(reader, item):
    """Check an item that the user gave, and return it as a Point, BodyEnergy or Constraint, or as a name."""
    if isinstance(item, str):
        if item in NAMES:
            return item
        raise ValueError(f"unknown history {item!r}")
    if not isinstance(item, tuple) or len(item) not in (2, 3, 4):
        raise ValueError(f"a history item is a string or a tuple of 2, 3 or 4, not {item!r}")
    entity = item[-1]
    if len(item) == 3:
        return parse_point(reader, *item)
    if len(item) == 2 and entity in Energy.__members__:
        return BodyEnergy(parse_object(reader, item[0]), int(Energy[entity]))
    if entity not in CONSTRAINT_ENTITIES:
        kinds = CONSTRAINT_ENTITIES if len(item) == 4 else (*Energy.__members__, *CONSTRAINT_ENTITIES)
        raise ValueError(f"unknown entity {entity!r}; it is one of {', '.join(kinds)}")
    direction, pair = item[1:3] if len(item) == 4 else (None, None)
    if direction is not None and np.shape(direction) != (3,):
        raise ValueError(f"a direction is three numbers, not {direction!r}")
    if pair is not None and np.shape(pair) != (2,):
        raise ValueError(f"a surface pair is two numbers, not {pair!r}")
    return Constraint(
        parse_object(reader, item[0]),
        None if direction is None else np.array(direction, float),
        None if pair is None else (int(min(pair)), int(max(pair))),
        entity,
    )


def parse_point(reader, body, point, entity) -> Point:
    """Check an item (body, point, entity)."""
    if entity not in POINT_ENTITIES + STRESS_ENTITIES:
        raise ValueError(f"unknown entity {entity!r}; it is one of {', '.join(POINT_ENTITIES + STRESS_ENTITIES)}")
    if np.shape(point) != (3,):
        raise ValueError(f"a point is three numbers, not {point!r}")
    if isinstance(body, str):
        bodies = sorted(identifier for identifier, label in reader.labels.items() if label == body) or [0]
    else:
        bodies = parse_object(reader, body)
    if bodies is None or isinstance(body, list):
        raise ValueError(f"({body!r}, point, {entity!r}): a body or its label is needed")
    return Point(bodies, np.array(point, float), entity)


def parse_object(reader, thing) -> list[int] | None:
    """Return distinct body identifiers; 0, which no body has, stands for an unknown label."""
    if thing is None:
        return None
    found = []
    for body in thing if isinstance(thing, list) else [thing]:
        if isinstance(body, str):
            body = next((identifier for identifier, label in reader.labels.items() if label == body), 0)
        elif not isinstance(body, (int, np.integer)):
            raise ValueError(f"{body!r} is not a body, a label or a list of them")
        found.append(int(body))
    return list(dict.fromkeys(found))


# --- scalars of frames --------------------------------------------------------------------------------------


def named_values(steps: np.ndarray, name: str) -> np.ndarray:
    """Return the history of a scalar of the frames by its name."""
    if name in NOTHING_RECORDED:
        return np.zeros(len(steps))
    if name in ITERATIONS:
        known = np.char.find(steps["solver"], ITERATIONS[name]) >= 0
        if name == "GSITERS":  # the solver of frames that name none
            known |= steps["solver"] == b""
        return np.where(known, steps["iterations"], np.nan)
    return steps[NUMBERS.get(name, name)].astype(float)


# --- bodies --------------------------------------------------------------------------------------------------


def point_values(reader, steps: np.ndarray, items: list[Point]) -> list[np.ndarray]:
    """Placements, displacements, velocities and stresses of points."""
    bodies = list(dict.fromkeys(body for item in items for body in item.bodies))
    where = Whereabouts(reader, steps, bodies)
    values, known = [], {}
    for item in items:
        kind = "S" if item.entity in STRESS_ENTITIES else "V" if item.entity[0] == "V" else "C"
        key = tuple(item.bodies), item.point.tobytes(), kind
        if key not in known:
            known[key] = where.values_of_first([bodies.index(body) for body in item.bodies], item.point, kind)
        if kind == "S":
            values.append(known[key][:, STRESS_ENTITIES.index(item.entity)].copy())
            continue
        axis = "XYZ".index(item.entity[1])
        values.append(known[key][:, axis] - (item.point[axis] if item.entity[0] == "D" else 0.0))
    return values


class Whereabouts:
    """State of bodies over frames, read when first needed."""

    def __init__(self, reader, steps: np.ndarray, bodies: list[int]):
        self.reader, self.bodies = reader, bodies
        self.places = Places(reader, steps, bodies)
        definitions = reader.table("model/bodies")
        if not len(definitions):  # no body at all: none is present
            definitions = np.zeros(1, layout.DEFINITION)
        self.definition = definitions[self.places.definition]  # any definition for bodies that are absent
        self.pseudo = (self.definition["kind"] == BodyKind.PSEUDO_RIGID)[..., None]
        self._epsilon = reader.read(lambda file: float(file["model"].attrs["epsilon"]))
        self._points: dict[tuple, MeshPoint] = {}

    @cached_property
    def conf(self) -> np.ndarray:
        """Configurations (frames, bodies, 4, 3)."""
        return gather(self.reader, "frames/configurations", self.places.rows("configurations", 4))

    @cached_property
    def velo(self) -> np.ndarray:
        """Velocities (frames, bodies, 4, 3)."""
        return gather(self.reader, "frames/velocities", self.places.rows("velocities", 4, np.where(self.pseudo[..., 0], 4, 2)))

    def values_of_first(self, chosen: list[int], point: np.ndarray, kind: str) -> np.ndarray:
        """Values of a point of the first of some bodies that exists in a frame."""
        result, open_ = self.values(chosen[0], point, kind), ~self.places.present[:, chosen[0]]
        for k in chosen[1:]:
            if (later := open_ & self.places.present[:, k]).any():
                result[later] = self.values(k, point, kind)[later]
                open_ &= ~later
        return result

    def values(self, k: int, point: np.ndarray, kind: str) -> np.ndarray:
        """Placements ('C'), velocities ('V') (frames, 3) or stresses ('S') (frames, 7) of a point of the k-th body."""
        present, pseudo = self.places.present[:, k], self.pseudo[:, k]
        if (self.definition["kind"][present, k] == BodyKind.FINITE_ELEMENT).any():
            values = self._in_elements(k, point, kind)
        elif kind == "S":
            deforms = pseudo & present[:, None]  # rigid bodies have no stress
            gradient = np.where(deforms[:, :, None], self.conf[:, k, :3], np.eye(3))
            values = components(cauchy_stress(gradient, np.where(deforms, self.definition["lame"][:, k], 0.0)))
        else:
            arm = point - self.definition["centre"][:, k]
            values = place(self.conf[:, k], arm, pseudo) if kind == "C" else speed(self.conf[:, k], self.velo[:, k], arm, pseudo)
        values[~present] = np.nan
        return values

    def _in_elements(self, k: int, point: np.ndarray, kind: str) -> np.ndarray:
        """Compute values at a point of a finite element body, as `values` does for other bodies."""
        key = self.bodies[k], point.tobytes()
        if key not in self._points:
            mesh, _, _ = stored_mesh(self.reader, self.bodies[k])
            self._points[key] = MeshPoint(mesh, point, self._epsilon, int(self.bodies[k]), self.reader.labels.get(int(self.bodies[k])))
        found = self._points[key]
        if kind == "S":
            nodes, operators = found.gradients()
            moved = self._of_nodes(k, "configurations", nodes.ravel()).reshape(-1, *nodes.shape, 3)
            gradient = np.eye(3) + np.einsum("fmai,maj->fmij", moved, operators)
            lame, enhanced = found.lame(self.definition["lame"][:, k]), self.definition["enhanced"][:, k]
            extra = found.enhancements(moved, lame) if enhanced.any() else 0.0
            return components(cauchy_stress(gradient, lame, self.definition["law"][:, k, None], extra)).mean(axis=1)
        table = "velocities" if kind == "V" else "configurations"
        values = np.einsum("fai,a->fi", self._of_nodes(k, table, found.nodes), found.weights)
        return values if kind == "V" else values + point

    def _of_nodes(self, k: int, table: str, nodes: np.ndarray) -> np.ndarray:
        """Triples (frames, nodes, 3) of nodes of the k-th body."""
        return gather(self.reader, "frames/" + table, self.places.of_nodes(table, k, nodes))


def place(conf: np.ndarray, arm: np.ndarray, pseudo: np.ndarray) -> np.ndarray:
    """x = F (X - X0) + x0; triples are columns of a rotation or (pseudo) rows of F."""
    return turned(conf[:, :3], arm, pseudo) + conf[:, 3]


def speed(conf: np.ndarray, velo: np.ndarray, arm: np.ndarray, pseudo: np.ndarray) -> np.ndarray:
    """Rigid: Lambda (omega x (X - X0)) + v;  pseudo-rigid: dF/dt (X - X0) + v."""
    rigid = turned(conf[:, :3], np.cross(velo[:, 0], arm), np.zeros_like(pseudo)) + velo[:, 1]
    return np.where(pseudo, turned(velo[:, :3], arm, np.ones_like(pseudo)) + velo[:, 3], rigid)


def turned(triples: np.ndarray, arm: np.ndarray, rowwise: np.ndarray) -> np.ndarray:
    """Products of matrices, given by rows where `rowwise` and else by columns, with vectors."""
    return np.where(rowwise, np.einsum("fij,fj->fi", triples, arm), np.einsum("fji,fj->fi", triples, arm))


def energy_values(reader, steps: np.ndarray, items: list[BodyEnergy]) -> list[np.ndarray]:
    """Sum energies over the bodies that exist in a frame; NaN where none does."""
    bodies = list(dict.fromkeys(body for item in items for body in item.bodies))
    places = Places(reader, steps, bodies)
    energy = gather(reader, "frames/bodies", places.rows("bodies"))["energy"][:, :, 0]
    values = []
    for item in items:
        chosen = [bodies.index(body) for body in item.bodies]
        present = places.present[:, chosen]
        total = np.where(present, energy[:, chosen, item.column], 0.0).sum(axis=1)
        values.append(np.where(present.any(axis=1), total, np.nan))
    return values


# --- constraints ---------------------------------------------------------------------------------------------


def constraint_values(reader, steps: np.ndarray, items: list[Constraint]) -> list[np.ndarray]:
    """Reduce gaps, reactions and velocities of constraints to one number per frame."""
    first, count = steps["constraints_first"], steps["constraints"]
    values = [np.zeros(len(steps)) for _ in items]
    for a, b in runs(first, first + count, layout.CONSTRAINT.itemsize):
        data = rows(reader, "frames/constraints", int(first[a]), int(first[b - 1] + count[b - 1]))
        used = np.concatenate([np.arange(f, f + n) for f, n in zip(first[a:b] - first[a], count[a:b])])
        data = data if len(used) == len(data) else data[used]
        frame = np.repeat(np.arange(b - a), count[a:b])
        attached: dict[tuple, np.ndarray] = {}
        for item, value in zip(items, values):
            key = None if item.bodies is None else tuple(item.bodies)
            if key is not None and key not in attached:
                attached[key] = np.isin(data["master"], key) | np.isin(data["slave"], key)
            value[a:b] = reduce(item, data, frame, b - a, attached.get(key))
    return values


def reduce(item: Constraint, data: np.ndarray, frame: np.ndarray, frames: int, attached: np.ndarray | None) -> np.ndarray:
    """Reduce one item over some frames; `frame` gives the frame of each row of `data`."""
    contact = data["kind"] == 0
    chosen = np.ones(len(data), bool) if attached is None else attached
    if item.entity in ("GAP", "CR", "CU"):
        chosen = chosen & contact
    if item.pair is not None:
        pair = np.sort(data["surface"], axis=1)
        chosen = chosen & (~contact | ((pair[:, 0] == item.pair[0]) & (pair[:, 1] == item.pair[1])))
    frame = frame[chosen]
    if item.entity == "GAP":
        least = np.full(frames, np.inf)
        np.minimum.at(least, frame, data["gap"][chosen])
        return np.where(np.isfinite(least), least, 0.0)
    local = data[item.entity[-1]][chosen]
    along = local[:, 2] if item.direction is None else ((item.direction @ data["base"][chosen]) * local).sum(axis=1)
    total = np.bincount(frame, along, frames)
    return total if item.entity in ("R", "CR") else total / np.maximum(np.bincount(frame, minlength=frames), 1)
