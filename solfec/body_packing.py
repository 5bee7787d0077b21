"""Packing of bodies with all that belongs to them into self-contained arrays, and unpacking into the same or another model.

The arrays hold rows of bodies and their shapes, loads, cracks, labels, and the constraints that act on them with their reactions,
by the tables' lists of columns.  They hold no row numbers of the model: identifiers and contents refer to other bodies,
time series and materials.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .bodies import implicit
from .bodies.finite_elements import compiled
from .bodies.materials import BulkMaterial
from .body_rows import COMPILED, BodyRows
from .constraints.table import USER_ONLY
from .errors import SolfecError
from .kinds import BodyKind, Scheme
from .tables import ranges, unique
from .time_series import TimeSeries

SIDES = ("master", "slave")
LOCATED = ("element", "weights")  # columns of contacts on finite elements
NO_ORIGINS = dict.fromkeys((*COMPILED, "bulk materials"), 0)  # lists in which pointers are not shifted


@dataclass
class PackedConstraints:
    """Constraints in the order of their rows: the user's first.

    Attributes
    ----------
    records, contacts : array of records
        The user's constraints, and contacts in the columns that contacts have.  `master_primitive` and `slave_primitive` are numbers within the bodies,
        other pointers point into the lists below.
    ends : ndarray (2, n) int64
        Identifiers of the master and the slave; 0: none.
    series, curves : list
        Knots of time series (times, values), and points of curves (m, 2).
    materials : array of records, list of str
        Surface materials of the contacts, and their labels.
    functions : dict
        Python functions of springs by identifier.
    """

    records: np.ndarray
    contacts: np.ndarray
    ends: np.ndarray
    series: list
    curves: list
    materials: tuple[np.ndarray, list[str]]
    functions: dict

    @property
    def ids(self) -> np.ndarray:
        """Identifiers (n,)."""
        return np.concatenate([self.records["id"], self.contacts["id"]])


@dataclass
class PackedLoads:
    """Loads of the packed bodies; `body` is the position of a body in `PackedBodies.ids`, `series` a position in the list.

    `places` are those of points, pressures and callbacks among all loads of the model.
    """

    points: np.ndarray
    pressures: np.ndarray
    pressure_nodes: np.ndarray
    series: list
    callbacks: list
    places: list


@dataclass
class PackedBodies:
    """Bodies that `Domain.unpack_bodies` puts into a model.

    Attributes
    ----------
    ids : ndarray (n,) int64
        Identifiers, ascending.
    rows : dict of arrays of records
        Rows of the bodies in each table, body by body; pointers count from the first row of their body.
    counts : dict of ndarray (n,)
        Number of rows of each body.
    materials : list of BulkMaterial
        `material` of the bodies' records is a position in it.
    meshes, bases, shapes, labels, cracks : dict
        By identifier, of those bodies that have them.
    loads : PackedLoads
    constraints : PackedConstraints
    tensions : dict
        Average tensions of these bodies (bodies/cracks.py).
    factor : tuple
        Step number, identifiers of the bodies that share a factor of form 'TL', and its state for the next step.
    """

    ids: np.ndarray
    rows: dict[str, np.ndarray]
    counts: dict[str, np.ndarray]
    materials: list[BulkMaterial]
    loads: PackedLoads
    constraints: PackedConstraints
    meshes: dict = field(default_factory=dict)
    bases: dict = field(default_factory=dict)
    shapes: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    cracks: dict = field(default_factory=dict)
    tensions: dict = field(default_factory=dict)
    factor: tuple | None = None


def pack(domain, identifiers) -> PackedBodies:
    """Pack bodies of a domain, whose state is that between two steps."""
    bodies = domain.bodies
    ids = unique(np.asarray(list(identifiers), np.int64))
    rows = np.searchsorted(bodies.view("id"), ids)
    for identifier in ids[np.append(bodies.view("id"), -1)[rows] != ids].tolist():
        raise SolfecError(f"body {identifier} cannot be packed; the model has no such body")
    belonging = BodyRows.of(bodies, domain.geometry)
    packed, counts = {}, {}
    for name, table in belonging.tables.items():
        taken, owner = belonging.of_table(name, rows)
        origins = {other: first[rows][owner] for other, first in belonging.first.items()}
        packed[name] = table.pack(taken, origins={**origins, **NO_ORIGINS})
        counts[name] = belonging.count[name][rows]
    used, packed["BodyTable"]["material"] = _listed(packed["BodyTable"]["material"])
    materials = [domain.bulk_materials[row] for row in used] if domain.bulk_materials else []
    result = PackedBodies(ids, packed, counts, materials, _pack_loads(domain, rows), _pack_constraints(domain, rows))
    sources = dict(
        meshes=bodies.meshes, bases=bodies.bases, shapes=domain.body_meshes, labels=domain.body_labels, cracks=domain.cracks.of_body
    )
    for name, source in sources.items():
        setattr(result, name, {body: source[body] for body in ids.tolist() if body in source})
    result.cracks = {body: list(cracks) for body, cracks in result.cracks.items()}
    result.tensions = {key: value for key, value in domain.cracks.tensions.items() if key[0] in result.cracks}
    remembered = implicit.memory(bodies, domain.step, domain.dynamic)
    if remembered is not None:
        result.factor = domain.step_number, _sharing_factor(bodies), remembered
    return result


def unpack(domain, packed: PackedBodies) -> None:
    """Put packed bodies into a domain, all tables in ascending order of identifiers."""
    bodies, geometry, constraints = domain.bodies, domain.geometry, domain.constraints
    _check(domain, packed)
    fresh = bodies.n + np.arange(len(packed.ids))
    first = {}
    belonging = BodyRows.of(bodies, geometry)
    for name, table in belonging.tables.items():
        first[name] = table.n + np.cumsum(packed.counts[name]) - packed.counts[name]
    for name, table in belonging.tables.items():
        owner = np.repeat(np.arange(len(packed.ids)), packed.counts[name])
        table.unpack(packed.rows[name], {**{other: start[owner] for other, start in first.items()}, **NO_ORIGINS})
    materials = np.array([_row_of_material(domain, material) for material in packed.materials], np.int32)
    if materials.size:
        bodies.material[fresh] = materials[packed.rows["BodyTable"]["material"]]
    _unpack_loads(domain.loads, packed.loads, fresh)
    _sort_bodies(domain)
    for mesh in packed.meshes.values():
        mesh.materials = [domain.bulk_materials[_row_of_material(domain, own)] for own in mesh.materials]
    bodies.meshes.update(packed.meshes)
    bodies.bases.update(packed.bases)
    bodies.embedded += sum(mesh.background is not None for mesh in packed.meshes.values())
    bodies.finite_elements = None
    domain.body_meshes.update(packed.shapes)
    domain.body_labels.update(packed.labels)
    for identifier, cracks in packed.cracks.items():
        for crack in cracks:
            domain.cracks.add(identifier, crack)
    if packed.tensions:
        domain.cracks.tensions = domain.cracks.tensions | packed.tensions
    _unpack_constraints(domain, [packed.constraints])
    constraints.view("evaluated")[:] = -1
    domain.next_body_id = max(domain.next_body_id, int(packed.ids.max(initial=0)) + 1)
    domain.deformable = domain.deformable or bool((bodies.view("kind") >= BodyKind.PSEUDO_RIGID).any())
    if packed.factor is not None:
        number, sharing, remembered = packed.factor
        if number == domain.step_number and np.array_equal(sharing, _sharing_factor(bodies)):
            implicit.recall(bodies, compiled(bodies), domain.step, domain.dynamic, remembered)


def _check(domain, packed: PackedBodies) -> None:
    """Raise SolfecError for bodies and constraints that the domain already has, and for constraints on missing bodies."""
    here = domain.bodies.view("id")
    there = packed.ids[np.isin(packed.ids, here)]
    if there.size:
        raise SolfecError(f"body {there[0]} cannot be unpacked; the model has it already")
    ends, numbers = packed.constraints.ends, packed.constraints.ids
    known = np.isin(ends, np.concatenate(([0], here, packed.ids)))
    if not known.all():
        side, k = np.argwhere(~known)[0]
        raise SolfecError(
            f"constraint {numbers[k]} cannot be unpacked: it acts on bodies {ends[1 - side, k]} and {ends[side, k]}, and body "
            f"{ends[side, k]} is neither packed nor in the model; pack both bodies together"
        )
    double = numbers[np.isin(numbers, domain.constraints.view("id"))]
    if double.size:
        raise SolfecError(f"constraint {double[0]} cannot be unpacked; the model has one of this identifier already")


def _listed(rows: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Return the distinct non-negative rows, and the position of every row among these, -1 for negative ones."""
    used = unique(rows[rows >= 0])
    return used.tolist(), np.where(rows >= 0, np.searchsorted(used, rows), -1)


def _sharing_factor(bodies) -> np.ndarray:
    """Return identifiers of the implicit finite element bodies."""
    return bodies.view("id")[(bodies.view("kind") == BodyKind.FINITE_ELEMENT) & (bodies.view("scheme") == Scheme.DEF_LIM)]


def _row_of_material(domain, material: BulkMaterial) -> int:
    """Return the row of a bulk material; an equal material of the domain is used for one of another model."""
    known = domain.bulk_materials
    for row, other in enumerate(known):
        if other is material or vars(other) == vars(material):
            return row
    return known.row_of(material)


def _sort_bodies(domain) -> None:
    """Sort rows by identifiers, as all code that orders by row numbers requires."""
    bodies, geometry, constraints = domain.bodies, domain.geometry, domain.constraints
    geometry.version += 1
    ids = bodies.view("id")
    if (np.diff(ids) < 0).any():
        moved = BodyRows.of(bodies, geometry).sort(np.argsort(ids))
        for name, table in (("master", "BodyTable"), ("slave", "BodyTable"), ("master_primitive", "PrimitiveTable"),
                            ("slave_primitive", "PrimitiveTable")):  # fmt: skip
            rows = constraints.view(name)
            rows[:] = np.where(rows >= 0, moved[table][np.maximum(rows, 0)], rows)
        domain.loads.remap(moved["BodyTable"])


# --- loads -------------------------------------------------------------------------------------------------


def _pack_loads(domain, rows: np.ndarray) -> PackedLoads:
    """Pack loads of the bodies in `rows`, each list in the order of its creation."""
    loads, position = domain.loads, {int(row): k for k, row in enumerate(rows)}
    table, pressures = loads.table, loads.pressures.table
    chosen = [np.flatnonzero(np.isin(numbers, rows)) for numbers in (table.view("body"), pressures.view("body"))]
    called = [k for k, callback in enumerate(loads.callbacks) if callback.body in position]
    points, surfaces = table.pack(chosen[0]), pressures.pack(chosen[1])
    nodes = loads.pressures.nodes.pack(ranges(surfaces["node_ptr"], surfaces["node_count"]))
    used, both = _listed(np.concatenate([points["series"], surfaces["series"]]))
    points["series"], surfaces["series"] = both[: len(points)], both[len(points) :]
    for records in (points, surfaces):
        records["body"] = [position[body] for body in records["body"].tolist()]
    callbacks = [replace(loads.callbacks[k], body=position[loads.callbacks[k].body]) for k in called]
    return PackedLoads(points, surfaces, nodes, [loads.series.knots(row) for row in used], callbacks, [*chosen, np.array(called, int)])


def _unpack_loads(loads, packed: PackedLoads, rows: np.ndarray) -> None:
    """Insert loads of bodies that are in `rows` now, at their former places among all loads."""
    series = np.array([*(loads.series.add(TimeSeries(*knots)) for knots in packed.series), -1], np.int32)
    pressures = loads.pressures
    pressures.nodes.unpack(packed.pressure_nodes)
    for table, records in ((loads.table, packed.points), (pressures.table, packed.pressures)):
        first = table.unpack(records)
        table.body[first : table.n] = rows[records["body"]]
        table.series[first : table.n] = series[records["series"]]
    new = [replace(callback, body=int(rows[callback.body])) for callback in packed.callbacks]
    points, surfaces, called = (_merged(total, places) for total, places in zip(
        (loads.table.n, pressures.table.n, len(loads.callbacks) + len(new)), packed.places))  # fmt: skip
    both = [*loads.callbacks, *new]
    loads.callbacks[:] = [both[k] for k in called]
    counts = pressures.table.view("node_count").copy()
    nodes = ranges((np.cumsum(counts) - counts)[surfaces], counts[surfaces])
    for table, order in ((loads.table, points), (pressures.table, surfaces), (pressures.nodes, nodes)):
        _reorder(table, order)
    pressures.table.view("node_ptr")[:] = np.cumsum(counts[surfaces]) - counts[surfaces]


def _merged(total: int, places: np.ndarray) -> np.ndarray:
    """Return the order that moves the last items of a list to `places`, or to its end if it is shorter."""
    order = list(range(total - len(places)))
    for k, place in enumerate(places.tolist(), len(order)):
        order.insert(place, k)
    return np.array(order, int)


def _reorder(table, order: np.ndarray) -> None:
    """Reorder all rows of a table."""
    for name in table.COLUMNS:
        column = table.view(name)
        column[...] = column[..., order]
    table.edits += 1


# --- constraints -------------------------------------------------------------------------------------------


def _pack_constraints(domain, rows: np.ndarray) -> PackedConstraints:
    """Pack constraints that act on the bodies in `rows`."""
    table = domain.constraints
    acting = np.isin(table.view("master"), rows) | np.isin(table.view("slave"), rows)
    acting |= np.isin(table.view("geared"), table.view("id")[acting]).any(axis=0)  # wheels go with the joints that they couple
    return pack_constraints(domain, acting)


def pack_constraints(domain, acting: np.ndarray) -> PackedConstraints:
    """Pack the marked constraints."""
    table, bodies = domain.constraints, domain.bodies
    users = np.flatnonzero(acting[: table.user_count])
    contacts = table.user_count + np.flatnonzero(acting[table.user_count :])
    kept = LOCATED if (table.element[:, contacts] >= 0).any() else ()
    both = [table.pack(users), table.pack(contacts, [name for name in table.COLUMNS if name not in USER_ONLY and (name not in LOCATED or name in kept)])]
    ends = np.zeros((2, users.size + contacts.size), np.int64)
    for records, found in zip(both, np.split(ends, [users.size], axis=1), strict=True):
        for side, name in enumerate(SIDES):
            body, primitive = records[name], records[name + "_primitive"]
            owner = np.maximum(body, 0)
            found[side] = np.where(body >= 0, bodies.id[owner], 0)
            primitive[...] = np.where(primitive >= 0, primitive - bodies.primitive_ptr[owner], -1)
            body[...] = -1
    series, both[0]["series_rows"] = _listed(both[0]["series_rows"])
    curves, both[0]["curve"] = _listed(both[0]["curve"])
    materials = sorted({row for records in both for row in unique(records["material"]).tolist() if row >= 0})
    for records in both:
        records["material"] = np.where(records["material"] >= 0, np.searchsorted(materials, records["material"]), -1) if materials else -1
    described = domain.surface_materials.pack(materials), [domain.surface_labels[row] for row in materials]
    functions = {number: table.functions[number] for number in both[0]["id"].tolist() if number in table.functions}
    points = [np.stack(table.curves.knots(row), axis=1) for row in curves]
    return PackedConstraints(*both, ends, [table.series.knots(row) for row in series], points, described, functions)


def replace_constraints(domain, several: list[PackedConstraints]) -> None:
    """Replace all constraints of a domain by packed ones; wheels without the joints that they couple are left out."""
    table = domain.constraints
    following = table.next_id
    table.keep_marked(np.zeros(table.n, bool))
    _unpack_constraints(domain, several)
    table.keep_marked(np.ones(table.n, bool))
    table.next_id = max(following, table.next_id)
    table.view("evaluated")[:] = -1


def _unpack_constraints(domain, several: list[PackedConstraints]) -> None:
    """Insert constraints in the order of identifiers, the user's first."""
    table = domain.constraints
    users, first = table.user_count, table.n
    sides = [_rows_of_ends(domain, packed) for packed in several]
    ids = np.concatenate([packed.ids for packed in several])
    contact = np.concatenate([np.arange(len(packed.ids)) >= len(packed.records) for packed in several])
    place = np.empty(len(ids), int)
    place[np.lexsort((ids, contact))] = first + np.arange(len(ids))
    table.append(len(ids))
    at = 0
    for packed, ends in zip(several, sides, strict=True):
        _put_constraints(domain, packed, place[at : at + len(packed.ids)], ends)
        at += len(packed.ids)
    new = int(np.count_nonzero(~contact))
    contact = np.arange(table.n) >= users
    contact[first : first + new] = False
    order = np.lexsort((table.view("id"), contact))
    if (np.diff(order) < 0).any():
        _reorder(table, order)
    table.user_count = users + new
    table.next_id = max(table.next_id, int(ids.max(initial=0)) + 1)


def _rows_of_ends(domain, packed: PackedConstraints) -> np.ndarray:
    """Return the rows of the bodies on both sides of packed constraints, -1 for none; SolfecError if the domain lacks one."""
    here, ends = domain.bodies.view("id"), packed.ends
    rows = np.searchsorted(here, ends)  # a body that is missing gets the row of the next one
    missing = (ends > 0) & (np.append(here, 0)[rows] != ends)
    if missing.any():
        side, k = np.argwhere(missing)[0]
        raise SolfecError(f"constraint {packed.ids[k]} acts on body {ends[side, k]}, which the model does not have")
    return np.where(ends > 0, rows, -1)


def _put_constraints(domain, packed: PackedConstraints, rows: np.ndarray, ends: np.ndarray) -> None:
    """Write packed constraints, which act on bodies in rows `ends`, into rows of the table."""
    table, bodies = domain.constraints, domain.bodies
    materials = _rows_of_surface_materials(domain, *packed.materials)
    users = len(packed.records)
    for records, into in ((packed.records, rows[:users]), (packed.contacts, rows[users:])):
        table.fill(records, into)
        table.material[into] = materials[records["material"]]
    for side, name in enumerate(SIDES):
        body = getattr(table, name)[rows] = ends[side]
        number = np.concatenate([records[name + "_primitive"] for records in (packed.records, packed.contacts)])
        getattr(table, name + "_primitive")[rows] = np.where(number >= 0, bodies.primitive_ptr[np.maximum(body, 0)] + number, -1)
    series = np.array([*(table.series.add(TimeSeries(*knots)) for knots in packed.series), -1], np.int32)
    table.series_rows[:, rows[:users]] = series[packed.records["series_rows"]].T
    curves = np.array([*map(table.curves.add, packed.curves), -1], np.int32)
    table.curve[rows[:users]] = curves[packed.records["curve"]]
    table.functions.update(packed.functions)


def _rows_of_surface_materials(domain, records: np.ndarray, labels: list[str]) -> np.ndarray:
    """Return rows of the domain's materials of the same pairs of surfaces, adding missing ones; the last entry is -1."""
    table, rows = domain.surface_materials, []
    for k, label in enumerate(labels):
        known = np.flatnonzero((table.view("surface").T == records["surface"][k]).all(axis=1))
        if not known.size:
            known = [table.unpack(records[k : k + 1])]
            domain.surface_labels.append(label)
        rows.append(int(known[0]))
    return np.array([*rows, -1], np.int32)
