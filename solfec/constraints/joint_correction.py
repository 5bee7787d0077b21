"""Position correction of joints: on request, bodies are moved after a step so that the points of joints meet again.

Joints are solved for velocities, so their points drift apart by the error of time integration, which grows with
time.  The correction moves bodies by the smallest displacement, in the metric of their masses, that closes the gaps g:

    dq = M^-1 H^T x,   (H M^-1 H^T) x = -g

with H of the joints' rows at the end of the step.  Velocities do not change, except for the referential angular velocity of a turned
body, whose angular momentum in space is kept.  Forces between bodies come in pairs in H^T x, so the common mass centre does not move.

Two kinds of joints are left out: fixed directions between two bodies, whose plane has no place of its own, and joints on bodies in a
reduced base, whose points cannot be moved independently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _kernels
from ..bodies import finite_elements
from ..bodies.table import BodyKind, BodyTable
from ..kinds import DRIVES, JOINTS
from ..tables import opened
from . import user
from .joint_operators import operators
from .table import ConstraintKind, ConstraintTable

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

HELD = (*JOINTS, *(kind for kind in ConstraintKind if kind.components and not kind.is_joint), *DRIVES)  # constraints that hold during the correction
SLIDING = tuple(kind for kind in JOINTS if kind.family.slides)
ALONG = [  # kinds whose drift along each component is corrected
    tuple(kind for kind in HELD if c in ((2,) if kind in DRIVES else (0, 1) if kind.family.masked else kind.components)) for c in range(3)
]
REDUNDANT = 1e-12  # added to the diagonal, so that redundant joints share the displacement

_fill_joint_errors = _kernels.joint_operators.fill_joint_errors


class LeftOut:
    """Joints that the correction leaves out, collected for a warning that names each of them once."""

    def __init__(self):
        self._known: set[int] = set()
        self._new: dict[str, list[int]] = {}

    def note(self, constraints: ConstraintTable, bodies: BodyTable) -> None:
        """Collect the joints that are left out in a step and were not collected before."""
        for reason, out in _left_out(constraints, bodies).items():
            new = sorted(set(constraints.id[np.flatnonzero(out)].tolist()) - self._known)
            if new:
                self._known.update(new)
                self._new.setdefault(reason, []).extend(new)

    def told(self) -> str:
        """Return the warning about newly collected joints; '' if there are none."""
        if not self._new:
            return ""
        parts = [f"{reason} ({_listed(sorted(ids))})" for reason, ids in self._new.items()]
        self._new = {}
        return (
            f"SOLFEC.joint_correction leaves out {' and '.join(parts)}: their points drift apart slowly, with the error of the time"
            " integration; a smaller step makes the drift smaller"
        )


def _listed(ids: list[int]) -> str:
    """List identifiers of some constraints, at most five by number."""
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"constraint{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids[:5]))}{more}"


def _left_out(constraints: ConstraintTable, bodies: BodyTable) -> dict[str, np.ndarray]:
    """Return, by reason, masks (n,) of the user's constraints that are left out."""
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
        Geometric epsilon [length]; gaps below 1E-12 of it are not corrected.
    """
    with user.present(constraints, bodies, time):
        rows, components, gaps = _gaps(constraints, bodies)
        if gaps.size and np.abs(gaps).max() > 1e-12 * epsilon:
            operator = _operator(constraints, bodies, rows, components)
            _move(bodies, _displacement(bodies, operator, gaps))


def _gaps(constraints: ConstraintTable, bodies: BodyTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return constraint rows (n,), components of their local frames (n,), and their displacements from their places [length]."""
    users = slice(0, constraints.user_count)
    kind, slave = constraints.kind[users], constraints.slave[users]
    # points of bodies in a reduced base cannot be moved independently
    movable = (bodies.mode_count[constraints.master[users]] == 0) & ((slave < 0) | (bodies.mode_count[slave] == 0))
    # a sliding plane between two bodies follows the slave, so there is no place to return to
    movable &= ~np.isin(kind, SLIDING) | (slave < 0)
    rows = np.flatnonzero(movable & np.isin(kind, HELD)).astype(np.int32)
    errors = np.zeros((3, rows.size), order="F")
    if rows.size:
        opened(_fill_joint_errors(bodies.handles, constraints.handle, rows, errors))
    # prescribed motions have no drift: nothing is moved along them
    errors[:, ~np.isin(kind[rows], (*JOINTS, *DRIVES))] = 0.0
    # limits that are not passed, and motors, which correct themselves in the next step, need no correction
    acting = ~np.isin(kind[rows], DRIVES) | (errors[2] != 0.0)
    rows, errors = rows[acting], errors[:, acting]
    chosen = [np.flatnonzero(np.isin(kind[rows], kinds)) for kinds in ALONG]
    parts = [(rows[of], np.full(of.size, c), errors[c, of]) for c, of in enumerate(chosen)]
    return tuple(np.concatenate(column) for column in zip(*parts))


def _operator(constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray, components: np.ndarray) -> csc_matrix:
    """Return H (n, 3 triples) of components of rows: from displacements of triples to displacements along the components."""
    from scipy.sparse import csc_matrix  # slow to import

    triple, operator = operators(constraints, bodies, rows)
    apart = (constraints.joint[rows] > 0) & (constraints.slave[rows] >= 0)  # joints of mechanisms do not move obstacles
    for places, body in ((slice(0, 8), constraints.master[rows]), (slice(8, 16), constraints.slave[rows])):
        triple[places, apart & (bodies.kind[body] == BodyKind.OBSTACLE)] = -1
    place, number = np.nonzero(triple >= 0)
    values = operator[components[number], :, place, number]
    columns = 3 * triple[place, number][:, None] + np.arange(3)
    shape = (rows.size, 3 * bodies.triples.n)
    return csc_matrix((values.ravel(), (np.repeat(number, 3), columns.ravel())), shape)


def _displacement(bodies: BodyTable, operator: csc_matrix, gaps: np.ndarray) -> np.ndarray:
    """Return the displacement (3, triples) that closes the gaps and is smallest in the metric of masses."""
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
    """Return rotations (3, 3, n), exp of the skew matrices of vectors (3, n)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(angle.T).as_matrix().transpose(1, 2, 0)
