"""Identifiers of a model that processes have made together, each its bodies and constraints (docs/parallel.md, Spread models)."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np

from .body_rows import BodyRows
from .parallel.numbering import Digests, Numbers, agreed, mixed

#: Columns that distinguish bodies, by table, and those in which bodies that nothing distinguishes must agree.
PLACES = {
    "BodyTable": ("kind", "volume", "centre"),
    "VertexTable": ("reference",),
    "PrimitiveTable": ("kind", "radius", "radii", "orientation"),
}
CONTENTS = {
    "BodyTable": ("scheme", "form", "law", "material", "rotation_disabled", "selfcontact", "fracture_check", "enhanced", "conserving", "damping", "mass", "tensor", "momentum"),
    "ConfigurationTable": ("conf",),
    "TripleTable": ("velo",),
    "PrimitiveTable": ("volume_id", "surface"),
}
#: The same of constraints.
ENDS = ("kind", "slot", "master_point", "slave_point", "direction", "axes", "motor")
LAWS = ("base", "length", "strength", "value", "update", "limits", "dashpot", "gearing", "drive", "implicit")
LOADS = ("kind", "point", "direction", "value")
PRESSURES = ("value", "surface", "area", "moment")


def agree(domain, world, renamed: Callable[[dict[int, int], dict[int, int]], object]) -> tuple[np.ndarray, np.ndarray]:
    """Give bodies and constraints of the user identifiers on which all processes agree.

    Parameters
    ----------
    domain : Domain
    world : Communicator
    renamed : callable
        Gets the new identifier of every old one, of bodies and of constraints.

    Returns
    -------
    bodies, constraints : ndarray of bool (n,)
        Which of them all processes have made.

    Raises
    ------
    SolfecError
        In all processes: several, but not all have made a thing.
    """
    numbers = agreed(world, *digests_of_bodies(domain), "body")
    bodies = _number_bodies(domain, numbers)
    _join_exclusions(domain, world, bodies)
    joints = agreed(world, *digests_of_constraints(domain), "constraint")
    renamed(bodies, _number_constraints(domain, joints))
    for known in (domain.joints.labels, domain.joints.commands):
        for others in world.gathered(known):
            known.update(others)
    return numbers.common, joints.common


def digests_of_bodies(domain) -> tuple[np.ndarray, np.ndarray]:
    """Return digests (n,) of what bodies are and where, and of their state, loads, materials and labels."""
    bodies = domain.bodies
    belonging, both = BodyRows.of(bodies, domain.geometry), (Digests(bodies.n), Digests(bodies.n))
    for digests, listed in zip(both, (PLACES, CONTENTS), strict=True):
        for name, columns in listed.items():
            for column in columns:
                digests.add(belonging.tables[name].view(column), belonging.first[name], belonging.count[name])
    places, contents = (digests.values for digests in both)
    for identifier, mesh in bodies.meshes.items():
        places[bodies.row_of(identifier)] ^= _digest_of(mesh.elements.tobytes())
    for identifier, label in domain.body_labels.items():
        contents[bodies.row_of(identifier)] ^= _digest_of(label.encode())
    _add_loads(domain.loads, contents)
    return places, contents


def _digest_of(data: bytes) -> np.uint64:
    """Return a number that depends on all bytes."""
    return np.frombuffer(blake2b(data, digest_size=8).digest(), np.uint64)[0]


def _add_loads(loads, digests: np.ndarray) -> None:
    """Add loads to the digests (n,) of their bodies."""
    points, pressures = loads.table, loads.pressures.table
    series = np.append([_digest_of(b"".join(np.asarray(knots).tobytes() for knots in loads.series.knots(row))) for row in range(loads.series.n)], 0).astype(np.uint64)
    for table, columns in ((points, LOADS), (pressures, PRESSURES)):
        of_loads = Digests(table.n)
        for column in columns:
            of_loads.add(table.view(column))
        if table is pressures:
            for column in ("node", "weight"):
                of_loads.add(loads.pressures.nodes.view(column), table.view("node_ptr"), table.view("node_count"))
        np.add.at(digests, table.view("body"), mixed(of_loads.values ^ series[table.view("series")]))


def _join_exclusions(domain, world, new: dict[int, int]) -> None:
    """Give bodies that do not touch one another their new identifiers, and all processes the pairs of all."""
    settings = domain.settings
    renamed = np.vectorize(lambda body: new.get(body, 0), otypes=[np.int64])
    for name, listed, rows in (("excluded_bodies", settings.excluded_bodies, (0, 1)), ("excluded_parts", settings.excluded_parts, (0, 2))):
        pairs = listed.copy()
        if pairs.size:
            pairs[rows, :] = renamed(pairs[rows, :])
        pairs = np.concatenate(world.gathered(pairs[:, (pairs[rows, :] > 0).all(axis=0)]), axis=1)  # 0: the body has been deleted
        if pairs.size:
            half = len(pairs) // 2
            swapped = (pairs[0] > pairs[half]) | (pairs[0] == pairs[half]) & (pairs[half - 1] > pairs[-1])
            pairs[:, swapped] = np.roll(pairs[:, swapped], half, axis=0)
        if pairs.size or listed.size:
            setattr(settings, name, np.asfortranarray(np.unique(pairs, axis=1)))


def digests_of_constraints(domain) -> tuple[np.ndarray, np.ndarray]:
    """Return digests (n,) of what the user's constraints are and on which points of which bodies they act, and of all else."""
    constraints, users = domain.constraints, slice(0, domain.constraints.user_count)
    both, ids = (Digests(users.stop), Digests(users.stop)), np.append(domain.bodies.view("id"), 0)
    for digests, columns in zip(both, (ENDS, LAWS), strict=True):
        for column in columns:
            digests.add(getattr(constraints, column)[..., users])
    for side in ("master", "slave"):
        both[0].add(ids[getattr(constraints, side)[users]])
    own = constraints.id[users]
    for relatives in (constraints.joint[users], constraints.geared[..., users]):
        both[0].add(np.where(relatives > 0, own - relatives, -1))
    functions = [
        np.append([_digest_of(b"".join(np.asarray(knots).tobytes() for knots in table.knots(row))) for row in range(table.n)], 0).astype(np.uint64)
        for table in (constraints.series, constraints.curves)
    ]
    for rows, known in ((constraints.series_rows[..., users], functions[0]), (constraints.curve[users], functions[1])):
        both[1].add(known[rows])
    return both[0].values, both[1].values


def _number_bodies(domain, numbers: Numbers) -> dict[int, int]:
    """Give bodies their identifiers, and all that refers to them; return the new one of every old one."""
    bodies = domain.bodies
    new = dict(zip(bodies.view("id").tolist(), (numbers.number + 1).tolist()))
    bodies.view("id")[:] = numbers.number + 1
    for known in (bodies.meshes, bodies.bases, bodies.labels, domain.body_meshes):
        _rename(known, new)
    domain.next_body_id = numbers.total + 1
    domain.edited_energy.begin_run()
    return new


def _number_constraints(domain, numbers: Numbers) -> dict[int, int]:
    """Give constraints of the user their identifiers, and all that refers to them; return the new one of every old one."""
    constraints, users = domain.constraints, slice(0, domain.constraints.user_count)
    old, identifiers = constraints.id[users].copy(), numbers.number + 1
    constraints.id[users] = identifiers
    for column in (constraints.joint[users], constraints.geared[..., users]):
        column[...] = np.where(column > 0, np.append(identifiers, 0)[np.searchsorted(old, column)], column)
    new = dict(zip(old.tolist(), identifiers.tolist()))
    for known in (constraints.functions, domain.joints.labels, domain.joints.commands):
        _rename(known, new)
    constraints.next_id = numbers.total + 1
    return new


def _rename(known: dict, new: dict[int, int]) -> None:
    """Rename keys of a dictionary, in place, in their order; keys of what has been deleted go."""
    items = list(known.items())
    known.clear()
    known.update((new[key], value) for key, value in items if key in new)
