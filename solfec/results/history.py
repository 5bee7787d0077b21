"""Time histories out of stored frames (manual, HISTORY), read column by column instead of frame by frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bodies.table import BodyKind, Energy
from ..domain import PHASES
from ..errors import NotBuiltYet, SolfecError
from . import layout
from .gather import Places, gather, rows, runs
from .meshes import stored_mesh, weights_at

TOLERANCE = 1e-6  # of a step: frames this much outside of the interval belong to it
POINT_ENTITIES = ("CX", "CY", "CZ", "DX", "DY", "DZ", "VX", "VY", "VZ")
STRESS_ENTITIES = ("SX", "SY", "SZ", "SXY", "SXZ", "SYZ", "MISES")
CONSTRAINT_ENTITIES = ("GAP", "R", "U", "CR", "CU")
NUMBERS = {"STEP": "step", "MERIT": "merit", "RESIDUAL": "residual", "CONS": "constraints", "BODS": "bodies", "DELBODS": "deleted", "NEWBODS": "born"}
ITERATIONS = {"GSITERS": b"GAUSS", "NTITERS": b"NEWTON", "TSITERS": b"TEST"}
NOTHING_RECORDED = (
    "PARBAL", "GSCOLORS", "GSBOT", "GSMID", "GSTOP", "GSINN", "GSINIT", "GSRUN", "GSCOM", "GSMCOM", "NEWCONS",
    "BSITERS", "LININIT", "LINUPD", "LINMV", "LINPRE", "LINRUN", "LINCOM",
)  # fmt: skip
NAMES = (*PHASES, *NUMBERS, *ITERATIONS, *NOTHING_RECORDED)


@dataclass
class Point:
    """A component of the placement, displacement or velocity of a referential point."""

    body: int
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


def history(reader, items, start: float | None = None, end: float | None = None, skip: int = 1) -> tuple:
    """Histories of quantities over the frames with start <= time <= end.

    Parameters
    ----------
    reader : ResultsReader
    items : one item or a list of them
        ``(body, point, entity)`` with entity CX..CZ, DX..DZ or VX..VZ; ``(object, kind)`` with kind KINETIC,
        INTERNAL, EXTERNAL, CONTACT or FRICTION; ``(object, entity)`` or ``(object, direction, pair, entity)`` with
        entity GAP, R, U, CR or CU; or a name: 'STEP', 'CONS', 'BODS', 'TIMINT', 'GSITERS' ... (manual, HISTORY).
        A body is an identifier or a label; an object is None (the whole model), a body or a list of bodies.
    start, end : float, optional
        Interval; the first and the last frame when left out.
    skip : int
        Every how many frames.

    Returns
    -------
    tuple
        Times and one array per item; NaN where a body or a record does not exist.

    Raises
    ------
    ValueError
        Items, an interval or a step that make no sense.
    NotBuiltYet
        Stresses.
    """
    reader.refresh()
    parsed = [parse(reader, item) for item in (items if isinstance(items, list) else [items])]
    frames = select(reader, start, end, skip)
    steps = reader.steps[frames]
    values: dict[int, np.ndarray] = {}
    points = [k for k, item in enumerate(parsed) if isinstance(item, Point)]
    energies = [k for k, item in enumerate(parsed) if isinstance(item, BodyEnergy) and item.bodies is not None]
    constraints = [k for k, item in enumerate(parsed) if isinstance(item, Constraint)]
    for chosen, function in ((points, point_values), (energies, energy_values), (constraints, constraint_values)):
        if chosen:
            values.update(zip(chosen, function(reader, steps, [parsed[k] for k in chosen])))
    for k, item in enumerate(parsed):
        if isinstance(item, str):
            values[k] = named_values(steps, item)
        elif k not in values:
            values[k] = steps["energy"][:, item.column].copy()
    return (steps["time"].copy(), *(values[k] for k in range(len(parsed))))


# --- what is asked for ---------------------------------------------------------------------------------------


def select(reader, start: float | None, end: float | None, skip: int) -> np.ndarray:
    """Frames of an interval of time."""
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
    """An item as the user gave it, checked."""
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
    """An item (body, point, entity)."""
    if entity in STRESS_ENTITIES:
        raise NotBuiltYet(f"HISTORY: stress ({entity}) is not built yet")
    if entity not in POINT_ENTITIES:
        raise ValueError(f"unknown entity {entity!r}; it is one of {', '.join(POINT_ENTITIES + STRESS_ENTITIES)}")
    if np.shape(point) != (3,):
        raise ValueError(f"a point is three numbers, not {point!r}")
    bodies = parse_object(reader, body)
    if bodies is None or isinstance(body, list):
        raise ValueError(f"({body!r}, point, {entity!r}): a body or its label is needed")
    return Point(bodies[0], np.array(point, float), entity)


def parse_object(reader, thing) -> list[int] | None:
    """Distinct body identifiers; 0 (which no body has) for a label that no body has."""
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


# --- what the steps say --------------------------------------------------------------------------------------


def named_values(steps: np.ndarray, name: str) -> np.ndarray:
    """Histories asked for by name."""
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
    """Placements, displacements and velocities of points."""
    bodies = list(dict.fromkeys(item.body for item in items))
    places = Places(reader, steps, bodies)
    definitions = reader.table("model/bodies")
    conf = gather(reader, "frames/configurations", places.rows("configurations", 4))
    velo = None
    if any(item.entity[0] == "V" for item in items):
        pseudo = definitions["kind"][places.definition] == BodyKind.PSEUDO_RIGID
        velo = gather(reader, "frames/velocities", places.rows("velocities", 4, np.where(pseudo, 4, 2)))
    values, known = [], {}
    for item in items:
        k = bodies.index(item.body)
        key = (item.body, item.point.tobytes(), item.entity[0] == "V")
        if key not in known and (definitions["kind"][places.definition[:, k]] == BodyKind.FINITE_ELEMENT).any():
            known[key] = element_values(reader, places, k, item)
        if key not in known:
            defined = definitions[places.definition[:, k]]
            arm = item.point - defined["centre"]
            pseudo = (defined["kind"] == BodyKind.PSEUDO_RIGID)[:, None]
            known[key] = place(conf[:, k], arm, pseudo) if not key[2] else speed(conf[:, k], velo[:, k], arm, pseudo)
            known[key][~places.present[:, k]] = np.nan
        axis = "XYZ".index(item.entity[1])
        offset = item.point[axis] if item.entity[0] == "D" else 0.0
        values.append(known[key][:, axis] - offset)
    return values


def element_values(reader, places: Places, k: int, item: Point) -> np.ndarray:
    """Placements or velocities (frames, 3) of a point of a finite element body, the k-th of `places`."""
    mesh, _, _ = stored_mesh(reader, item.body)
    epsilon = reader.read(lambda file: float(file["model"].attrs["epsilon"]))
    nodes, weights = weights_at(mesh, item.point, epsilon)
    table = "velocities" if item.entity[0] == "V" else "configurations"
    rows_of_nodes = places.rows(table, int(nodes.max()) + 1)[:, k][:, nodes]
    values = np.einsum("fai,a->fi", gather(reader, "frames/" + table, rows_of_nodes), weights)
    if table == "configurations":
        values += item.point
    values[~places.present[:, k]] = np.nan
    return values


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
    """Energies summed over those bodies that exist; NaN where none does."""
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
    """Gaps, reactions and velocities of constraints, reduced to one number a frame."""
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
    """One item over some frames; `frame` says which one a row of `data` belongs to."""
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
