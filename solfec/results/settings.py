"""Settings that a run can change besides its state: loads, materials, extents, detection, solver.

A frame refers to the settings that hold in it.  A continued run compares those that its input makes with those of the
first frame: where they are equal the last frame's hold, since the run may have changed them; where they differ the user
has edited the input, and the input's hold.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, fields

import numpy as np

from ..bodies import finite_elements
from ..bodies.cracks import Crack, Faces
from ..bodies.loads import PointLoadTable
from ..bodies.materials import BulkMaterial
from ..bodies.pressure import UNKNOWN_SURFACE, Pressures
from ..bodies.table import BodyKind
from ..errors import SolfecError
from .functions import Functions

LOCATED = ("element", "natural", "weights")  # columns of loads that are computed from points
LOAD_COLUMNS = tuple(name for name in PointLoadTable.COLUMNS if name not in LOCATED)
ABSENT = object()


def fingerprint(domain, solver=None) -> tuple:
    """Return numbers that change whenever the settings do; cheaper than their description."""
    loads, surface = domain.loads, domain.surface_materials
    gravity: list = loads.gravity.tolist()
    for component, row in loads.gravity_series:  # its value changes with time
        gravity[component] = None, row
    return (
        gravity, loads.series.n, domain.epsilon, domain.extents is not None and tuple(domain.extents),
        tuple(map(_plain, vars(domain.settings).values())), _loaded(loads),
        step_functions(domain), *_bytes(loads.table, LOAD_COLUMNS),
        *(column for table in (loads.pressures.table, loads.pressures.nodes) for column in _bytes(table, table.COLUMNS)),
        [tuple(vars(material).values()) for material in domain.bulk_materials],
        list(domain.surface_labels), *_bytes(surface, surface.COLUMNS),
        list(solver_settings(solver).values()), domain.step_kept, domain.exact_supports, domain.joint_impacts,
        domain.joint_correction, domain.sleeping.setting, domain.cracks.version, domain.touched, tuple(domain.joints.labels.items()),
    )  # fmt: skip


def _loaded(loads) -> list[list[int]]:
    """Return the identifiers of the bodies under loads: a body that replaces another one may have its row."""
    rows = loads.table.view("body"), loads.pressures.table.view("body"), [callback.body for callback in loads.callbacks]
    return [loads.bodies.id[listed].tolist() if len(listed) else [] for listed in rows]


def _bytes(table, names) -> list[bytes]:
    """Return the columns of a table as bytes; nothing for a table without rows."""
    rows = table.n
    return [getattr(table, name)[..., :rows].tobytes() for name in names] if rows else []


def describe(domain, functions: Functions, solver=None) -> dict:
    """Return the settings as dictionaries of types of JSON; bodies by identifier, time series by their numbers in the file."""
    loads = domain.loads
    numbers = functions.numbers_of(loads.series)
    gravity: list = loads.gravity.tolist()
    for component, row in loads.gravity_series:
        gravity[component] = {"function": int(numbers[row])}
    columns = {name: np.moveaxis(loads.table.view(name), -1, 0) for name in LOAD_COLUMNS}
    columns["body"] = loads.bodies.id[columns["body"]]
    columns["series"] = numbers[columns["series"]]
    called = [int(loads.bodies.id[callback.body]) for callback in loads.callbacks]
    described = {
        "epsilon": domain.epsilon,
        "step kept": domain.step_kept,
        "exact supports": domain.exact_supports,
        "joint impacts": domain.joint_impacts,
        "joint correction": domain.joint_correction,
        "sleeping": domain.sleeping.setting,
        "joints": {str(joint): [domain.joints.commands[joint], label] for joint, label in domain.joints.labels.items()},
        "extents": None if domain.extents is None else domain.extents.tolist(),
        "detection": {field.name: _plain(getattr(domain.settings, field.name)) for field in fields(domain.settings)},
        "gravity": gravity,
        "point loads": {name: column.tolist() for name, column in columns.items()},
        "pressures": describe_pressures(loads, numbers),
        "cracks": {str(body): [asdict(crack) for crack in cracks] for body, cracks in domain.cracks.of_body.items()},
        "crack faces": [asdict(faces) for faces in domain.cracks.faces],
        "load functions": {str(body): called.count(body) for body in called},
        "step functions": step_functions(domain),
        "bulk materials": dict(zip(_distinct([m.label for m in domain.bulk_materials]), map(asdict, domain.bulk_materials))),
        "surface materials": surface_materials(domain),
        "solver": solver_settings(solver),
    }
    if domain.touched:
        described["touched by hand"] = True
    return json.loads(json.dumps(described))


EXCLUDED = ("excluded_bodies", "excluded_parts", "excluded_surfaces")  # pairs without contact, one in each column, in order

#: Settings that belong to bodies, and that processes may make apart.
OF_BODIES = ("point loads", "pressures", "load functions", "joints")


def as_bytes(domain, solver=None) -> bytes:
    """Return all settings, and the time series and curves that they refer to, as bytes; equal models give equal bytes."""
    functions = Functions()
    described = json.dumps(describe(domain, functions, solver))
    return described.encode() + b"".join(array.tobytes() for array in functions.take_fresh(0))


#: What the user's constraints are given, beside series and curves.
GIVEN = (
    *("master", "slave", "master_point", "slave_point", "base", "value", "direction", "update", "dashpot", "implicit"),
    *("joint", "axes", "geared", "gearing"),
)


def constraints_as_bytes(domain) -> bytes:
    """Return what the user's constraints are given, and the time series and curves that they refer to, as bytes; equal models give equal bytes."""
    constraints, functions = domain.constraints, Functions()
    users = slice(0, constraints.user_count)
    columns = [getattr(constraints, name)[..., users] for name in GIVEN]
    columns.append(functions.numbers_of(constraints.series)[constraints.series_rows[:, users]])
    columns.append(functions.numbers_of(constraints.curves)[constraints.curve[users]])
    return b"".join(np.ascontiguousarray(array).tobytes() for array in (*columns, *functions.take_fresh(0)))


def common_bytes(domain, solver=None) -> bytes:
    """Return the settings that belong to no body as bytes, for processes that have made different bodies."""
    described = {name: value for name, value in describe(domain, Functions(), solver).items() if name not in OF_BODIES}
    described["detection"] = {name: value for name, value in described["detection"].items() if name not in ("excluded_bodies", "excluded_parts")}
    for component, row in domain.loads.gravity_series:
        described["gravity"][component] = np.concatenate(domain.loads.series.knots(row)).tolist()
    return json.dumps(described).encode()


def step_functions(domain) -> dict[str, int]:
    """How many functions of the user every step calls, by what gave them."""
    return {
        "SOLFEC.add_forces": len(domain.loads.sources) - 1,  # one calls functions of single bodies
        "SOLFEC.before_motion": len(domain.hooks.before),
        "SOLFEC.after_motion": len(domain.hooks.after),
    }


def describe_pressures(loads, numbers: np.ndarray) -> list[dict]:
    """Describe pressures with their surfaces; `numbers` are those of time series in the file."""
    table, nodes, described = loads.pressures.table, loads.pressures.nodes, []
    for k in range(table.n):
        span = slice(int(table.node_ptr[k]), int(table.node_ptr[k] + table.node_count[k]))
        described.append({
            "body": int(loads.bodies.id[table.body[k]]), "value": float(table.value[k]),
            "function": int(numbers[table.series[k]]) if table.series[k] >= 0 else -1,
            "surface": int(table.surface[k]), "area": table.area[:, k].tolist(), "moment": table.moment[:, :, k].tolist(),
            "nodes": nodes.node[span].tolist(), "weights": nodes.weight[:, span].T.tolist(),
        })  # fmt: skip
    return described


def surface_materials(domain) -> dict:
    """Surface materials by their pair of surfaces."""
    table = domain.surface_materials
    labels = [*domain.surface_labels, *[""] * table.n]
    rows = ({name: getattr(table, name)[..., row].tolist() for name in table.COLUMNS} for row in range(table.n))
    return {"{},{}".format(*row["surface"]): {"label": label, **row} for row, label in zip(rows, labels)}


def solver_settings(solver) -> dict:
    """Describe a constraint solver: its class and the members that results keep."""
    if solver is None:
        return {}
    return {"class": solver.class_name, **{name: _plain(value) for name, value in solver.settings().items()}}


def merged(first, last, now):
    """Return `last` with those entries replaced in which `now` differs from `first`; dictionaries are merged key by key."""
    if not (isinstance(now, dict) and isinstance(last, dict) and isinstance(first, dict)):
        return last if now == first else now
    result = {}
    for key in [*now, *(key for key in last if key not in now)]:
        value = merged(first.get(key, ABSENT), last.get(key, ABSENT), now.get(key, ABSENT))
        if value is not ABSENT:
            result[key] = value
    return result


def continued(first: dict, last: dict, now: dict) -> dict:
    """Return the settings with which a run goes on: those of its last frame, but what the input changes as against the first one.

    Loads have no identifiers, and come and go with bodies and by callbacks: each is known by its body, and by its place among the loads of the body.
    Of pairs without contact those stay that callbacks have added.
    """
    every = [
        one | {"point loads": _by_body(_rows(one["point loads"])), "pressures": _by_body(one.get("pressures", ()))}
        | {"detection": one["detection"] | {name: {pair: pair for pair in zip(*one["detection"][name])} for name in EXCLUDED}}
        for one in (first, last, now)
    ]  # fmt: skip
    result = merged(*every)
    for name in EXCLUDED:
        result["detection"][name] = list(map(list, zip(*sorted(result["detection"][name])))) or [[] for _ in last["detection"][name]]
    for name in ("point loads", "pressures"):
        loads, keys = result[name], every[1][name] | every[2][name]
        result[name] = [loads[key] for key in keys if key in loads]
    result["point loads"] = {name: [load[name] for load in result["point loads"]] for name in last["point loads"]}
    return result


def _rows(columns: dict[str, list]) -> list[dict]:
    """Return the rows of columns."""
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def _by_body(loads) -> dict[tuple[int, int], dict]:
    """Return loads by their bodies, and their places among the loads of these."""
    count, result = Counter(), {}
    for load in loads:
        body = load["body"]
        result[body, count[body]] = load
        count[body] += 1
    return result


def apply(domain, settings: dict, functions: Functions, solver=None) -> None:
    """Set a domain, whose bodies exist, and a solver to described settings.

    Raises
    ------
    SolfecError
        The settings have a force, or another function that steps call, that the input has not given.
    """
    domain.epsilon, domain.step_kept = settings["epsilon"], settings["step kept"]
    domain.exact_supports = settings.get("exact supports", False)
    domain.joint_impacts = settings.get("joint impacts", False)
    domain.joint_correction = settings.get("joint correction", False)
    domain.sleeping.setting = settings.get("sleeping", domain.sleeping.setting)
    apply_joints(domain, settings)
    domain.extents = None if settings["extents"] is None else np.array(settings["extents"])
    for name, value in settings["detection"].items():
        present = getattr(domain.settings, name, ABSENT)
        if isinstance(present, np.ndarray):
            value = np.asfortranarray(np.array(value, present.dtype).reshape(len(present), -1))
        if present is not ABSENT and not (isinstance(present, np.ndarray) and np.array_equal(present, value)):
            setattr(domain.settings, name, value)
    apply_bulk_materials(domain, settings["bulk materials"])
    apply_surface_materials(domain, settings["surface materials"])
    domain.settings.store_distances(domain.surface_materials.reaches)
    apply_loads(domain, settings, functions)
    apply_cracks(domain, settings.get("cracks", {}), settings.get("crack faces", []))
    if solver is not None and settings["solver"].get("class") == solver.class_name:
        solver.restore(settings["solver"])


def apply_joints(domain, settings: dict) -> None:
    """Set the labels of joints, and the commands that made them."""
    for joint, (command, label) in settings.get("joints", {}).items():
        domain.joints.commands[int(joint)], domain.joints.labels[int(joint)] = command, label


def apply_bulk_materials(domain, described: dict) -> None:
    """Set bulk materials by label; add those that the domain lacks."""
    known = dict(zip(_distinct([material.label for material in domain.bulk_materials]), domain.bulk_materials))
    for label, data in described.items():
        material = known.get(label)
        if material is None:
            domain.bulk_materials.append(BulkMaterial(**data))
        else:
            vars(material).update(data)


def apply_surface_materials(domain, described: dict) -> None:
    """Set surface materials by pair; append those that the domain lacks."""
    table = domain.surface_materials
    rows = surface_rows(domain)
    for pair, data in described.items():
        if pair not in rows:
            rows[pair] = table.append()
            domain.surface_labels.append(data["label"])
        row = rows[pair]
        domain.surface_labels[row] = data["label"]
        for name in set(table.COLUMNS) & set(data):
            getattr(table, name)[..., row] = data[name]


def surface_rows(domain) -> dict[str, int]:
    """Rows of surface materials by pair."""
    table = domain.surface_materials
    return {"{},{}".format(*table.surface[:, row]): row for row in range(table.n)}


def apply_loads(domain, settings: dict, functions: Functions) -> None:
    """Set gravity and point loads; skip loads of bodies that no longer exist."""
    loads = domain.loads
    values = [functions[item["function"]] if isinstance(item, dict) else item for item in settings["gravity"]]
    loads.set_gravity(values)
    row_of = {identifier: row for row, identifier in enumerate(domain.bodies.view("id").tolist())}
    columns = settings["point loads"]
    present = [k for k, body in enumerate(columns["body"]) if body in row_of]
    table = loads.table
    table.keep(np.zeros(table.n, bool))
    table.append(len(present))
    for name, column in columns.items():
        chosen = [column[k] for k in present]
        if name == "body":
            chosen = [row_of[body] for body in chosen]
        elif name == "series":
            chosen = [loads.series.add(functions[number]) if number >= 0 else -1 for number in chosen]
        if present:
            table.view(name)[...] = np.moveaxis(np.array(chosen), 0, -1)
    for k in np.flatnonzero(domain.bodies.kind[table.view("body")] == BodyKind.FINITE_ELEMENT):
        row = int(table.body[k])
        found = finite_elements.find(domain.bodies, row, table.point[:, k], domain.epsilon)
        for name, value in zip(LOCATED, found):
            getattr(table, name)[..., k] = value
    pressures = loads.pressures = Pressures()
    for item in settings.get("pressures", ()):
        if item["body"] in row_of:
            number = item["function"]
            series = loads.series.add(functions[number]) if number >= 0 else -1
            surface = (np.array(item[name]) for name in ("area", "moment", "nodes", "weights"))
            pressures.append(row_of[item["body"]], item["value"], series, *surface, surface_id=item.get("surface", UNKNOWN_SURFACE))
    called = [int(domain.bodies.id[callback.body]) for callback in loads.callbacks]
    for body, count in settings["load functions"].items():
        if int(body) in row_of and called.count(int(body)) < count:
            raise SolfecError(
                f"a force on body {body} that a Python function gives was applied during the run; a continued run has no such function"
            )
    present = step_functions(domain)
    for name, count in settings.get("step functions", {}).items():
        if present[name] < count:
            raise SolfecError(f"{name} was called during the run; a continued run has no such function (its input gives {present[name]}, there were {count})")


def apply_cracks(domain, described: dict, faces: list) -> None:
    """Set the cracks of the bodies that exist, and the faces of those that have just opened."""
    alive = set(domain.bodies.view("id").tolist())
    domain.cracks.set({int(body): [Crack.of(data) for data in cracks] for body, cracks in described.items() if int(body) in alive})
    domain.cracks.faces = [Faces.of(data) for data in faces]


def _plain(value):
    """Convert a setting to types of JSON."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _distinct(labels: list[str]) -> list[str]:
    """Labels, numbered where they repeat."""
    return [label if labels.index(label) == k else f"{label} #{k}" for k, label in enumerate(labels)]
