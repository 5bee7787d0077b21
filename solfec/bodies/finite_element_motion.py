"""One time step of all finite element bodies (theory, "Time integration"): the counterpart of `motion` for nodes.

Explicit bodies (DEF_EXP) are done by the kernels alone; those of scheme DEF_LIM solve with the factors in `implicit`.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .finite_elements import FiniteElements, compiled
from .materials import Law
from .table import BodyTable, Energy, Scheme

_motion = _kernels.finite_element_motion

TURNED_INSIDE_OUT, NOT_FINITE, BAD_REACTION = 5, 8, 9  # failures as in the kernel body_motion


def initialise(bodies: BodyTable) -> tuple[int, int]:
    """Inverse lumped masses, KINETIC and INTERNAL energies; returns (failure, row of the body)."""
    fe = compiled(bodies)
    if not fe.count:
        return 0, -1
    fe.reduced.check(bodies)
    triples = bodies.triples
    triples.inverse_inertia[:, :, fe.velo_row] = np.eye(3)[:, :, None] / fe.mass
    velocity = triples.velo[:, fe.velo_row]
    kinetic = 0.5 * fe.mass * (velocity**2).sum(0)
    bodies.energy[Energy.KINETIC, fe.rows] = np.add.reduceat(kinetic, fe.first[:-1])
    failure = follow(fe, bodies)
    if failure[0]:
        return failure
    store_internal_energy(fe, bodies)
    return 0, -1


def follow(fe: FiniteElements, bodies: BodyTable) -> tuple[int, int]:
    """Bring rotations and the displacements that elements see to the present configuration."""
    failed = _motion.local_displacements(
        *fe.ranges, fe.conf_row, fe.reference, fe.normal, bodies.configurations.conf, fe.rotation, fe.displacement
    )
    return (TURNED_INSIDE_OUT, int(fe.rows[failed])) if failed >= 0 else (0, -1)


def corotated(fe: FiniteElements, bodies: BodyTable, rows: list[int]) -> tuple[list[np.ndarray], int]:
    """Displacements (3, n) of the nodes of bodies seen from their rotations, whatever the form: R^T (X + q) - X.

    The second value is the row of the first of these bodies that is turned inside out, and has no rotation, or -1.
    """
    numbers = [fe.number(row) for row in rows]
    seen = np.zeros_like(fe.displacement)
    failed = _motion.local_displacements(
        fe.count, np.isin(np.arange(fe.count), numbers).astype(np.int32), fe.first, fe.conf_row, fe.reference, fe.normal,
        bodies.configurations.conf, fe.rotation.copy(order="F"), seen,
    )  # fmt: skip
    return [seen[:, fe.first[k] : fe.first[k + 1]] for k in numbers], int(fe.rows[failed]) if failed >= 0 else -1


def drift(fe: FiniteElements, bodies: BodyTable, step: float) -> tuple[int, int]:
    """To mid-step; returns (failure, row)."""
    triples = bodies.triples
    failed = _motion.drift_nodes(
        step, fe.count, fe.first, fe.conf_row, fe.velo_row, bodies.configurations.conf,
        triples.velo, triples.velo_prev, triples.force,
    )  # fmt: skip
    if failed >= 0:
        return NOT_FINITE, int(fe.rows[failed])
    fe.reduced.begin(bodies)
    return follow(fe, bodies)


def kick(fe: FiniteElements, bodies: BodyTable, gravity: np.ndarray, step: float, damped: bool = True) -> None:
    """u* from the loads in `triples.force`, gravity, internal and (`damped`) damping forces at mid-step."""
    triples = bodies.triples
    fe.assembly.internal_force(fe.displacement, fe.internal)
    _motion.to_space(*fe.ranges, fe.rotation, fe.internal)
    damping = bodies.damping[fe.rows] * (damped & ~fe.reduced.inside)
    if damping.any():
        _motion.to_body_frame(*fe.ranges, fe.velo_row, fe.rotation, triples.velo, fe.net)
        fe.assembly.tangent_product(fe.displacement, fe.net, fe.viscous)
        _motion.to_space(*fe.ranges, fe.rotation, fe.viscous)
    _motion.kick_nodes(
        step, gravity, fe.count, explicit(fe, bodies), damping, fe.first, fe.velo_row, fe.mass, fe.internal, fe.viscous,
        triples.velo, triples.force, fe.net,
    )  # fmt: skip


def explicit(fe: FiniteElements, bodies: BodyTable) -> np.ndarray:
    """1 for the bodies of scheme DEF_EXP."""
    return (bodies.scheme[fe.rows] == Scheme.DEF_EXP).astype(np.int32)


def finish(fe: FiniteElements, bodies: BodyTable, step: float) -> tuple[int, int]:
    """u(t+h), conf(t+h), energies; returns (failure, row)."""
    triples = bodies.triples
    failed = _motion.finish_nodes(
        step, fe.count, explicit(fe, bodies), fe.first, fe.conf_row, fe.velo_row, fe.mass, bodies.configurations.conf,
        triples.velo, triples.velo_prev, triples.force, triples.reaction, fe.kinetic, fe.work,
    )  # fmt: skip
    if failed >= 0:
        return BAD_REACTION, int(fe.rows[failed])
    fe.reduced.represent(bodies)
    failure = follow(fe, bodies)
    if failure[0]:
        return failure
    bodies.energy[Energy.KINETIC, fe.rows] = fe.kinetic
    bodies.energy[Energy.EXTERNAL, fe.rows] += fe.work
    store_internal_energy(fe, bodies)
    return 0, -1


def store_internal_energy(fe: FiniteElements, bodies: BodyTable) -> None:
    """INTERNAL, and the largest strain, on which the critical step depends."""
    energy, strain = fe.assembly.energies(fe.displacement)
    starts = fe.first_element[:-1]
    bodies.energy[Energy.INTERNAL, fe.rows] = np.add.reduceat(energy, starts)
    fe.strain[:] = np.maximum.reduceat(strain, starts)
    fe.reduced.store_energy(bodies)


def critical_step(bodies: BodyTable) -> tuple[float, int]:
    """Half of the stability limit of the explicit bodies, and the row of the one that asks for it; (inf, -1): none.

    The limit is a bound: the largest frequency at rest, raised by what the present strains can add (`frequencies`).
    """
    fe = compiled(bodies)
    which = np.flatnonzero(bodies.scheme[fe.rows] == Scheme.DEF_EXP) if fe.count else ()
    if not len(which):
        return np.inf, -1
    steps = admissible_steps(bodies, which)
    worst = int(np.argmin(steps))
    return float(steps[worst]), int(fe.rows[which[worst]])


def number(bodies: BodyTable, row: int) -> int:
    """Number of the body of a row among finite element bodies, -1: it is none."""
    fe = compiled(bodies)
    found = np.flatnonzero(fe.rows == row)
    return int(found[0]) if found.size else -1


def admissible_steps(bodies: BodyTable, which: np.ndarray, at_rest: bool = False) -> np.ndarray:
    """Steps (n,) that the finite element bodies of these numbers ask for, strained as they are or `at_rest`."""
    fe = compiled(bodies)
    rest, gamma = np.array([fe.frequency(bodies, k) for k in which]).T
    lame, mu = fe.stiffest[:, which]
    strain = np.zeros(len(which)) if at_rest else fe.strain[which]
    square = (np.sqrt(rest) + 2.0 * strain * np.sqrt((3.0 * lame + 2.0 * mu) * gamma)) ** 2
    square += (np.sqrt(3.0) * lame + 2.0 * mu) * strain * gamma
    rubber = bodies.law[fe.rows[which]] == Law.NEO_HOOKEAN
    rubber &= fe.linear[which] == 0
    square = np.where(rubber, strain * gamma, square)
    eta = bodies.damping[fe.rows[which]]
    demand = 0.5 * square * (eta + np.sqrt(eta**2 + 4.0 / square))  # 1/h with h (h + eta) = 1/omega**2
    return 1.0 / demand
