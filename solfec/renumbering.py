"""Identifiers of a model that processes have made together, each its bodies and constraints (docs/parallel.md, Spread models)."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np

from .body_rows import BodyRows
from .parallel.numbering import Digests, Numbers, agreed

#: Columns in which bodies are compared, of the tables that hold them.
BODIES = {
    "BodyTable": ("kind", "scheme", "form", "law", "material", "selfcontact", "fracture_check", "damping", "mass", "volume", "centre", "tensor", "momentum"),
    "ConfigurationTable": ("conf",),
    "TripleTable": ("velo",),
    "VertexTable": ("reference",),
    "PrimitiveTable": ("kind", "volume_id", "surface", "radius", "radii", "orientation"),
}
CONSTRAINTS = (
    "kind", "slot", "master_point", "slave_point", "base", "length", "strength", "value", "direction", "update", "limits", "dashpot", "axes", "gearing",
    "motor", "drive", "implicit",
)  # fmt: skip


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
    numbers = agreed(world, digests_of_bodies(domain), "body")
    bodies = _number_bodies(domain, numbers)
    joints = agreed(world, digests_of_constraints(domain), "constraint")
    renamed(bodies, _number_constraints(domain, joints))
    return numbers.common, joints.common


def digests_of_bodies(domain) -> np.ndarray:
    """Return digests (n,) of what bodies are and where."""
    bodies = domain.bodies
    belonging, digests = BodyRows.of(bodies, domain.geometry), Digests(bodies.n)
    for name, columns in BODIES.items():
        for column in columns:
            digests.add(belonging.tables[name].view(column), belonging.first[name], belonging.count[name])
    for identifier in (*domain.body_labels, *bodies.meshes):
        said = blake2b(domain.body_labels.get(identifier, "").encode(), digest_size=8)
        if identifier in bodies.meshes:
            said.update(bodies.meshes[identifier].elements.tobytes())
        digests.values[bodies.row_of(identifier)] ^= np.frombuffer(said.digest(), np.uint64)[0]
    return digests.values


def digests_of_constraints(domain) -> np.ndarray:
    """Return digests (n,) of what the constraints of the user are, and on which bodies they act."""
    constraints, users = domain.constraints, slice(0, domain.constraints.user_count)
    digests, ids = Digests(users.stop), np.append(domain.bodies.view("id"), 0)
    for column in CONSTRAINTS:
        digests.add(getattr(constraints, column)[..., users])
    for side in ("master", "slave"):
        digests.add(ids[getattr(constraints, side)[users]])
    own = constraints.id[users]
    for relatives in (constraints.joint[users], constraints.geared[..., users]):
        digests.add(np.where(relatives > 0, own - relatives, -1))
    for rows in (constraints.series_rows[..., users], constraints.curve[users]):
        digests.add((rows >= 0).astype(np.int64))
    return digests.values


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
    """Rename keys of a dictionary, in place, in their order."""
    items = list(known.items())
    known.clear()
    known.update((new[key], value) for key, value in items)
