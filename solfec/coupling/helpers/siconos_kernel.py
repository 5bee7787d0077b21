"""Siconos' kernel in a process of its own: Newton-Euler bodies, the Moreau-Jean scheme, and a friction-contact solver.

Contacts come from outside in every step, as points, frames and gaps.
"""

from __future__ import annotations

import sys

import channel
import numpy as np

state: dict = {}


def hello(request: dict, beat) -> dict:
    """Import the kernel."""
    from siconos import kernel

    return {"name": kernel.__name__}


def start(request: dict, beat) -> dict:
    """Make the dynamical systems.

    The request has `step`, `theta`, `epsilon`, the gap up to which bodies touch, `tolerance`, `maxiter`, `solver` (a number of Siconos), `mass` (n,), `inertia` (n, 3, 3) in the bodies' frames,
    `q` (n, 7) centres and unit quaternions, and `twist` (n, 6) velocities of centres and angular velocities in the bodies' frames.
    """
    from siconos import kernel, numerics

    system = kernel.NonSmoothDynamicalSystem(0.0, 1e30)
    bodies, forces = [], []
    for mass, inertia, q, twist in zip(request["mass"], request["inertia"], request["q"], request["twist"]):
        body = kernel.NewtonEulerDS(q.tolist(), twist.tolist(), float(mass), inertia)
        force, torque = kernel.SiconosVector([0.0, 0.0, 0.0]), kernel.SiconosVector([0.0, 0.0, 0.0])
        body.setFExtPtr(force)
        body.setMExtPtr(torque)
        system.insertDynamicalSystem(body)
        bodies.append(body)
        forces.append((force, torque))
    osi = kernel.MoreauJeanOSI(request["theta"])
    osi.setConstraintActivationThreshold(request["epsilon"])
    problem = kernel.FrictionContact(3, request["solver"])
    options = problem.numericsSolverOptions()
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = request["maxiter"]
    options.dparam[numerics.SICONOS_DPARAM_TOL] = request["tolerance"]
    problem.setMaxSize(30000)
    problem.setMStorageType(1)
    problem.setNumericsVerboseMode(False)
    problem.setKeepLambdaAndYState(True)
    simulation = kernel.TimeStepping(system, kernel.TimeDiscretisation(0.0, request["step"]), osi, problem)
    state.clear()
    state.update(system=system, bodies=bodies, forces=forces, simulation=simulation, problem=problem, osi=osi, linked={}, laws={})
    return {}


def step(request: dict, beat) -> dict:
    """Make one step with the given loads and contacts; return places, velocities and impulses.

    The request has `load` (n, 6), spatial forces and torques in the bodies' frames, and for each contact `id` (m,), `pair` (m, 2), numbers of bodies, the
    second one -1 where it does not move, `point` (m, 3), `frame` (m, 3, 3) with the columns normal, towards the first body, and
    tangents, `gap`, `friction` and `restitution` (m,).  Impulses (m, 3) are components in these frames and act on the first body.
    """
    from siconos import kernel, numerics

    system, bodies, simulation = state["system"], state["bodies"], state["simulation"]
    identifiers, known = request["id"].tolist(), state["linked"]
    for gone in set(known) - set(identifiers):
        system.removeInteraction(known.pop(gone)[0])
    for (force, torque), load in zip(state["forces"], request["load"]):
        for k in range(3):
            force.setValue(k, float(load[k]))
            torque.setValue(k, float(load[3 + k]))
    for k, identifier in enumerate(identifiers):
        known[identifier] = link(kernel, system, bodies, request, k, known.get(identifier))
    beat()
    simulation.computeOneStep()
    impulse = np.array([np.array(known[identifier][0].lambda_(1)) for identifier in identifiers]).reshape(-1, 3)
    options = state["problem"].numericsSolverOptions()
    answer = {
        "impulse": impulse,
        "q": np.array([body.q() for body in bodies]).reshape(-1, 7), "twist": np.array([body.twist() for body in bodies]).reshape(-1, 6),
        "iterations": int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE]), "residual": float(options.dparam[numerics.SICONOS_DPARAM_RESIDU]),
    }  # fmt: skip
    simulation.nextStep()
    return answer


def link(kernel, system, bodies: list, request: dict, k: int, before: tuple | None) -> tuple:
    """Add contact k to the system, or renew the one of the step before, since a new interaction costs more.

    Returns interaction, relation, and the objects that they point to, which Siconos does not keep.

    The relation is the general one, U = G v with G of ours: NewtonEuler3DR makes local frames of its own, whose axes are not orthogonal where the
    vertical component of a normal is the largest one and the other two are unequal (orthoBaseFromVector of version 4.4).
    """
    first, second = request["pair"][k].tolist()
    frame = request["frame"][k].T  # rows: normal, tangents
    parts, place = [], []
    for number, sign in ((first, 1.0), (second, -1.0)):
        if number < 0:
            continue
        q = np.array(bodies[number].q())
        turn = rotation(q[3:])
        x, y, z = turn.T @ (request["point"][k] - q[:3])
        lever = turn @ np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])  # of the point: v + R (Omega x arm) = v - R [arm] Omega
        parts += [sign * frame, -sign * frame @ lever @ (2.0 * spin(q[3:]).T)]
        place.append(q)
    jacobian = np.hstack(parts)
    kept = [kernel.SimpleMatrix(jacobian), kernel.SiconosVector([float(request["gap"][k]) - float(jacobian[0] @ np.concatenate(place)), 0.0, 0.0])]
    relation = before[1] if before else kernel.NewtonEulerR()
    relation.setJachq(kept[0])
    relation.setE(kept[1])  # its output is y = J q + e, the gap at present
    if before:
        before[0].computeOutput(0.0, 0)
        before[0].computeOutput(0.0, 1)
        return before[0], relation, kept
    key = float(request["restitution"][k]), float(request["friction"][k])
    law = state["laws"].setdefault(key, kernel.NewtonImpactFrictionNSL(key[0], 0.0, key[1], 3))
    interaction = kernel.Interaction(law, relation)
    system.link(interaction, *(bodies[number] for number in (first, second) if number >= 0))
    return interaction, relation, kept


def spin(quaternion: np.ndarray) -> np.ndarray:
    """Return the matrix (4, 3) that gives twice the rate of a unit quaternion from the angular velocity in the body's frame."""
    w, x, y, z = quaternion
    return np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Return the matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


if __name__ == "__main__":
    channel.serve(int(sys.argv[1]), int(sys.argv[2]), {"hello": hello, "start": start, "step": step})
