"""Position correction of joints: after a step their points are brought together again (on request).

Joints are solved for velocities, so the places of their points drift apart by the error of the time integration, which grows with
time.  The correction moves bodies by the smallest displacement, in the metric of their masses, that closes the gaps g:

    dq = M^-1 H^T x,   (H M^-1 H^T) x = -g

with H of the joints' rows at the end of the step.  Velocities stay, but for the referential angular velocity of a body that is
turned, which keeps its angular momentum in space.  Forces between bodies come in pairs in H^T x, so the common mass centre stays.

Fixed directions between two bodies, whose plane has no place of its own, and joints on bodies in a reduced base, whose points cannot
be moved one by one, are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..bodies import finite_elements
from ..bodies.table import BodyKind, BodyTable
from ..element_types import MOST_NODES
from ..kinds import JOINTS
from . import user
from .table import ConstraintKind, ConstraintTable

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

REFRESHED = ("point", "other_point", "base", "gap", "master_point")  # columns that hold the state of mid-step after a step
HELD = (*JOINTS, *(kind for kind in ConstraintKind if kind.components and not kind.is_joint))  # constraints that the correction keeps
SLIDING = tuple(kind for kind in JOINTS if kind.family.slides)
REDUNDANT = 1e-12  # added to the diagonal: joints that say the same twice share the displacement


class LeftOut:
    """Joints that the correction leaves out, to be told of once."""

    def __init__(self):
        self._known: set[int] = set()
        self._new: dict[str, list[int]] = {}

    def note(self, constraints: ConstraintTable, bodies: BodyTable) -> None:
        """Take note of them in a step."""
        for reason, out in _left_out(constraints, bodies).items():
            new = sorted(set(constraints.id[np.flatnonzero(out)].tolist()) - self._known)
            if new:
                self._known.update(new)
                self._new.setdefault(reason, []).extend(new)

    def told(self) -> str:
        """The warning; '' when there is nothing new to tell."""
        if not self._new:
            return ""
        parts = [f"{reason} ({_listed(sorted(ids))})" for reason, ids in self._new.items()]
        self._new = {}
        return (
            f"SOLFEC.joint_correction leaves out {' and '.join(parts)}: their points drift apart slowly, with the error of the time"
            " integration; a smaller step makes the drift smaller"
        )


def _listed(ids: list[int]) -> str:
    """Identifiers of some constraints, the first five of them by number."""
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"constraint{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids[:5]))}{more}"


def _left_out(constraints: ConstraintTable, bodies: BodyTable) -> dict[str, np.ndarray]:
    """Why joints are left out, and which of the user's constraints (n,) they are."""
    users = slice(0, constraints.user_count)
    kind, slave = constraints.kind[users], constraints.slave[users]
    reduced = bodies.mode_count[constraints.master[users]] > 0
    reduced |= (slave >= 0) & (bodies.mode_count[slave] > 0)
    joint = np.isin(kind, JOINTS)
    return {
        "joints on bodies of form 'BC-MODAL' or 'BC-RO'": joint & reduced,
        "fixed directions between two bodies": np.isin(kind, SLIDING) & (slave >= 0) & ~reduced,
    }


def correct(constraints: ConstraintTable, bodies: BodyTable, time: float, epsilon: float) -> None:
    """Close the gaps of the user's joints at the end of a step.

    Parameters
    ----------
    constraints, bodies
        State tables at the end of the step.
    time : float
        End of the step.
    epsilon : float
        Geometric epsilon [length]; gaps below 1E-12 of it are left.
    """
    users = slice(0, constraints.user_count)
    kept = {name: constraints.view(name)[..., users].copy() for name in REFRESHED}
    user.update(constraints, bodies, time, 0.0)
    rows, components, gaps = _gaps(constraints, bodies)
    if gaps.size and np.abs(gaps).max() > 1e-12 * epsilon:
        operator = _operator(constraints, bodies, rows, components)
        _move(bodies, _displacement(bodies, operator, gaps))
    for name, column in kept.items():
        constraints.view(name)[..., users] = column


def _gaps(constraints: ConstraintTable, bodies: BodyTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Constraint rows (n,), components of their local frames (n,), and by how much points are out of place there [length]."""
    users = slice(0, constraints.user_count)
    kind, slave = constraints.kind[users], constraints.slave[users]
    apart = np.einsum("ijn,in->jn", constraints.base[:, :, users], constraints.point[:, users] - constraints.other_point[:, users])
    # points of bodies in a reduced base cannot be moved one by one
    movable = (bodies.mode_count[constraints.master[users]] == 0) & ((slave < 0) | (bodies.mode_count[slave] == 0))
    # between two bodies the plane of those that slide follows the slave, so that there is no place to come back to
    movable &= ~np.isin(kind, SLIDING) | (slave < 0)
    parts = []
    for held in HELD:
        # prescribed motions are where they are: nothing is moved along them
        gaps = np.tile(constraints.gap[users], (3, 1)) if held.keeps_length else apart if held.is_joint else np.zeros_like(apart)
        rows = np.flatnonzero((kind == held) & movable)
        parts += [(rows, np.full(rows.size, c), gaps[c, rows]) for c in held.components]
    return tuple(np.concatenate(column) for column in zip(*parts))


def _operator(constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray, components: np.ndarray) -> csc_matrix:
    """H (n, 3 triples) of components of rows: from displacements of triples to displacements of points in their local frames."""
    from scipy.sparse import csc_matrix  # slow to import

    places, values, numbers = [], [], []
    for side, sign, body, point in (
        (0, 1.0, constraints.master[rows], constraints.master_point[:, rows]),
        (1, -1.0, constraints.slave[rows], constraints.slave_point[:, rows]),
    ):
        there = np.flatnonzero(body >= 0)
        direction = sign * constraints.base[:, components, rows][:, there]
        for triple, block, chosen in _blocks(bodies, body[there], point[:, there], direction, constraints, rows[there], side):
            numbers.append(np.repeat(there[chosen], 3))
            places.append((3 * triple[:, None] + np.arange(3)).ravel())
            values.append(block.T.ravel())
    shape = (rows.size, 3 * bodies.triples.n)
    return csc_matrix((np.concatenate(values), (np.concatenate(numbers), np.concatenate(places))), shape)


def _blocks(bodies: BodyTable, body, point, direction, constraints, rows, side):
    """Triples (m,), rows of H there (3, m) and which of the given points they are of (m,), kind by kind."""
    kind, first, conf_ptr, conf = bodies.kind[body], bodies.velo_ptr[body], bodies.conf_ptr[body], bodies.configurations.conf
    arm = point - bodies.centre[:, body]
    rigid = np.flatnonzero(kind <= BodyKind.RIGID)
    if rigid.size:
        rotation = np.stack([conf[:, conf_ptr[rigid] + k] for k in range(3)], axis=1)  # columns of R
        turned = np.einsum("ijn,in->jn", rotation, direction[:, rigid])  # R^T d
        yield first[rigid], np.cross(arm[:, rigid], turned, axis=0), rigid
        yield first[rigid] + 1, direction[:, rigid], rigid
    soft = np.flatnonzero(kind == BodyKind.PSEUDO_RIGID)
    if soft.size:
        for k in range(3):
            yield first[soft] + k, direction[k, soft] * arm[:, soft], soft
        yield first[soft] + 3, direction[:, soft], soft
    elastic = np.flatnonzero(kind == BodyKind.FINITE_ELEMENT)
    if elastic.size:
        elements = finite_elements.compiled(bodies)
        nodes = elements.element_node[:, bodies.element_ptr[body[elastic]] + constraints.element[side, rows[elastic]]]
        weights = constraints.weights[:, side, rows[elastic]]
        for a in range(MOST_NODES):
            used = np.flatnonzero(weights[a] != 0.0)
            yield first[elastic[used]] + nodes[a, used], weights[a, used] * direction[:, elastic[used]], elastic[used]


def _displacement(bodies: BodyTable, operator: csc_matrix, gaps: np.ndarray) -> np.ndarray:
    """The displacement (3, triples) of least mass that closes the gaps."""
    from scipy.sparse import csc_matrix, diags
    from scipy.sparse.linalg import splu

    triples = bodies.triples.n
    inverse = bodies.triples.inverse_inertia[:, :, :triples]
    place = 3 * np.arange(triples)
    row, column = np.meshgrid(range(3), range(3), indexing="ij")
    where = (place[:, None] + row.ravel()).ravel(), (place[:, None] + column.ravel()).ravel()
    metric = csc_matrix((inverse.transpose(2, 0, 1).ravel(), where), (3 * triples, 3 * triples))
    spread = metric @ operator.T
    matrix = (operator @ spread).tocsc()
    diagonal = matrix.diagonal()
    regular = matrix + diags(REDUNDANT * diagonal + (diagonal <= 0.0))
    forces = splu(regular.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(-gaps)
    return (spread @ forces).reshape(triples, 3).T


def _move(bodies: BodyTable, moved: np.ndarray) -> None:
    """Add displacements of triples (3, n) to the configurations."""
    kind, first, conf_ptr = bodies.view("kind"), bodies.view("velo_ptr"), bodies.view("conf_ptr")
    conf, velo = bodies.configurations.conf, bodies.triples.velo
    rigid = np.flatnonzero(kind <= BodyKind.RIGID)
    angle = moved[:, first[rigid]]
    turned = angle.any(axis=0)
    conf[:, conf_ptr[rigid] + 3] += moved[:, first[rigid] + 1]
    rigid, angle = rigid[turned], angle[:, turned]
    if rigid.size:
        turn = _rotations(angle)
        rotation = np.stack([conf[:, conf_ptr[rigid] + k] for k in range(3)], axis=1)
        rotation = np.einsum("ijn,jkn->ikn", rotation, turn)
        for k in range(3):
            conf[:, conf_ptr[rigid] + k] = rotation[:, k]
        inertia = bodies.tensor[:, :, rigid]
        momentum = np.einsum("jin,jkn,kn->in", turn, inertia, velo[:, first[rigid]])  # exp(-angle) J w
        velo[:, first[rigid]] = np.linalg.solve(inertia.transpose(2, 0, 1), momentum.T[..., None])[..., 0].T
    soft = np.flatnonzero(kind == BodyKind.PSEUDO_RIGID)
    for k in range(4):
        conf[:, conf_ptr[soft] + k] += moved[:, first[soft] + k]
    elements = finite_elements.compiled(bodies)
    if elements.count:
        conf[:, elements.conf_row] += moved[:, elements.velo_row]


def _rotations(angle: np.ndarray) -> np.ndarray:
    """exp of the skew matrices of vectors (3, n): rotations (3, 3, n)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(angle.T).as_matrix().transpose(1, 2, 0)
