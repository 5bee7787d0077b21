"""Siconos' time stepping and solver with our bodies and our detection (docs/coupling.md, Siconos)."""

from __future__ import annotations

import os
import sys

import numpy as np

from ..errors import SolfecError
from ..kinds import BodyKind, SurfaceModel
from ..language.checks import positive
from ..solvers.constraint_solver import ConstraintSolver
from ..solvers.siconos_library import SOLVERS
from .graph import Graph, graph_of
from .helper_process import PATIENCE, HelperProcess
from .open_step import OpenStep
from .own import SolfecCollisionHandler, SolfecModeler
from .roles import InteractionSolver, Simulation

CODE = "Siconos' kernel"
INSTALL = "sudo apt-get install python3-siconos"
PYTHON = "SOLFEC_SICONOS_PYTHON"  # environment variable: the interpreter that has the package
NORMAL_FIRST = [2, 0, 1]  # places of normal and tangents among our components
DISTRIBUTION = "/usr/bin/python3"  # for which Debian and its relatives build it


def helper(python: str | None = None, patience: float = PATIENCE) -> HelperProcess:
    """Return a process with Siconos' kernel, not started yet.

    Parameters
    ----------
    python : str, optional
        Interpreter that has the package siconos; default: that of the environment variable SOLFEC_SICONOS_PYTHON, or that of the distribution.
    patience : float
        Seconds without a sign of life after which it counts as hung.
    """
    python = python or os.environ.get(PYTHON) or (DISTRIBUTION if os.access(DISTRIBUTION, os.X_OK) else sys.executable)
    return HelperProcess(CODE, "siconos_kernel.py", python, INSTALL, patience)


class SiconosInteractionSolver(InteractionSolver):
    """The solver inside of Siconos' kernel.

    Parameters
    ----------
    solver : str
        One of those of SICONOS_SOLVER.
    tolerance : float
        In Siconos' own measure, for impulses and velocities.
    maxiter : int

    Attributes
    ----------
    iterations, residual : int, float
        Of the last step, as Siconos tells them.
    """

    def __init__(self, solver: str = "NSGS", tolerance: float = 1e-8, maxiter: int = 10000):
        if solver not in SOLVERS:
            raise SolfecError(f"SiconosInteractionSolver: 'solver' must be one of {', '.join(SOLVERS)}, not {solver!r}")
        self.solver, self.tolerance, self.maxiter = solver, float(tolerance), int(maxiter)
        self.iterations, self.residual = 0, float("nan")

    def solve_problem(self, problem) -> None:
        """Raise SolfecError: it works inside of SiconosSimulation; SICONOS_SOLVER solves the problems of our own steps."""
        raise SolfecError("SiconosInteractionSolver works inside of SiconosSimulation; in RUN, use SICONOS_SOLVER")


class _Record(ConstraintSolver):
    """Name of the solver in results."""

    @property
    def class_name(self) -> str:
        return "SiconosKernel"

    def solve(self, local):
        raise SolfecError(f"{CODE} makes whole steps")


class SiconosSimulation(Simulation):
    """Time stepping of Siconos: its Moreau-Jean scheme with theta = 1/2, our rigid bodies, loads and contacts.

    A step finds contacts at its beginning, not in its middle as ours.  Impacts follow Newton's law with the restitution of the surface materials.

    Parameters
    ----------
    solfec : SOLFEC
        Dynamic, of rigid bodies and obstacles at rest, without joints.
    solver : SiconosInteractionSolver, optional
    process : HelperProcess, optional
    """

    def __init__(self, solfec, solver: SiconosInteractionSolver | None = None, process: HelperProcess | None = None):
        self._prepare(OpenStep(solfec), solver or SiconosInteractionSolver(), process)

    @classmethod
    def of(cls, simulation, solver: SiconosInteractionSolver | None = None, process: HelperProcess | None = None) -> SiconosSimulation:
        """Return the simulation of a `solfec.simulation.Simulation`, for which the input has no SOLFEC object at hand."""
        made = object.__new__(cls)
        made._prepare(OpenStep.of(simulation), solver or SiconosInteractionSolver(), process)
        return made

    def _prepare(self, step: OpenStep, solver: SiconosInteractionSolver, process: HelperProcess | None) -> None:
        super().__init__(SolfecModeler(step), SolfecCollisionHandler(step), solver)
        self.open_step, self.domain, self.process = step, step.domain, process or helper()
        self._known: tuple | None = None
        self._refuse()

    def _refuse(self) -> None:
        """Raise SolfecError for what the adapter does not hand to Siconos."""
        domain, bodies = self.domain, self.domain.bodies
        kinds = bodies.view("kind")
        if not domain.dynamic:
            raise SolfecError(f"{CODE} computes dynamics; the model is QUASI_STATIC")
        if (kinds > BodyKind.RIGID).any():
            row = int(np.argmax(kinds > BodyKind.RIGID))
            raise SolfecError(f"{CODE} takes rigid bodies: {bodies.name(int(bodies.id[row]))} is {BodyKind(int(kinds[row])).name}")
        if domain.constraints.user_count:
            raise SolfecError(f"{CODE} takes no joints: the model has {domain.constraints.user_count} constraints besides contacts")
        still = bodies.view("velo_ptr")[kinds == BodyKind.OBSTACLE]
        if np.abs(bodies.triples.velo[:, np.concatenate([still, still + 1])]).max(initial=0.0) > 0.0:
            raise SolfecError(f"{CODE} takes obstacles at rest")
        materials = domain.surface_materials
        for name in ("cohesion", "rolling_length", "spinning_length"):
            if materials.view(name).any():
                raise SolfecError(f"{CODE} takes contacts with friction and restitution: a SURFACE_MATERIAL has {name}")
        if (materials.view("model") != SurfaceModel.SIGNORINI_COULOMB).any():
            raise SolfecError(f"{CODE} takes SURFACE_MATERIAL of the model SIGNORINI_COULOMB")

    def step(self) -> None:
        """Make one step: our loads and contacts, their motion."""
        domain = self.domain
        phases = domain.open_step()
        with domain.guard:
            moving = np.flatnonzero(domain.bodies.view("kind") == BodyKind.RIGID)
            self._start(moving)
            phases.timings.start()
            phases.detect()
            load = self._load(moving)
            self._take(moving, self.process.call("step", load=load, **self._contacts(moving)))
        domain.close_step((0.0, 0.0))
        domain.state_changes += 1  # kinetic energies are set anew

    def begin_step(self) -> None:
        """Do nothing: `step` makes whole steps."""

    def solve(self) -> None:
        """Do nothing: `step` makes whole steps."""

    def end_step(self) -> None:
        """Do nothing: `step` makes whole steps."""

    def run(self, duration: float) -> None:
        """Run for a duration, with frames, callbacks and all else of RUN."""
        self.open_step.simulation.run(_Record(), positive(duration, "duration"), advance=self.step)

    def graph(self) -> Graph:
        """Return the graph of bodies and contacts."""
        return graph_of(self)

    def _start(self, moving: np.ndarray) -> None:
        """Make the bodies in Siconos, again if users have changed the model since the last step."""
        domain, bodies = self.domain, self.domain.bodies
        known = domain.bodies.edits, domain.state_changes, domain.step
        if known == self._known:
            return
        self._refuse()
        conf, velo = bodies.configurations.conf, bodies.triples.velo
        first, start = bodies.conf_ptr[moving], bodies.velo_ptr[moving]
        turn = np.stack([conf[:, first + k].T for k in range(3)], axis=2)
        self.process.call(
            "start", step=domain.step, theta=0.5, epsilon=domain.epsilon, tolerance=self.solver.tolerance, maxiter=self.solver.maxiter, solver=SOLVERS[self.solver.solver],
            mass=bodies.mass[moving], inertia=bodies.tensor[..., moving].transpose(2, 0, 1), q=np.hstack([conf[:, first + 3].T, quaternions(turn)]),
            twist=np.hstack([velo[:, start + 1].T, velo[:, start].T]),
        )  # fmt: skip
        self._known = known[0], known[1] + 1, known[2]  # `step` counts a change of its own

    def _load(self, moving: np.ndarray) -> np.ndarray:
        """Return spatial forces and referential torques (n, 6) in the middle of the step."""
        domain, bodies = self.domain, self.domain.bodies
        force, start = bodies.triples.view("force"), bodies.velo_ptr[moving]
        force[:] = 0.0
        gravity = domain.loads.apply(bodies, domain.time + 0.5 * domain.step, domain.step)
        return np.hstack([force[:, start + 1].T + np.outer(bodies.mass[moving], gravity), force[:, start].T])

    def _contacts(self, moving: np.ndarray) -> dict[str, np.ndarray]:
        """Return the contacts of the model as Siconos' program takes them."""
        domain, table = self.domain, self.domain.constraints
        number = np.full(domain.bodies.n + 1, -1)
        number[moving] = np.arange(moving.size)
        pair = np.stack([number[table.view("master")], number[table.view("slave")]], axis=1)
        frame, gap = table.view("base")[:, NORMAL_FIRST].transpose(2, 0, 1).copy(), table.view("gap")
        turned = pair[:, 0] < 0  # an obstacle cannot be the first body
        pair[turned], frame[turned] = pair[turned, ::-1], -frame[turned]
        material = table.view("material")
        return {
            "id": table.view("id").copy(), "pair": pair, "point": table.view("point").T.copy(), "frame": frame, "gap": gap.copy(),
            "friction": domain.surface_materials.friction[material], "restitution": domain.surface_materials.restitution[material],
        }  # fmt: skip

    def _take(self, moving: np.ndarray, answer: dict) -> None:
        """Write places, velocities and reactions into the model."""
        domain, bodies, table = self.domain, self.domain.bodies, self.domain.constraints
        q, twist, impulse = answer["q"], answer["twist"], answer["impulse"]
        if not (np.isfinite(q).all() and np.isfinite(twist).all()):
            raise SolfecError(f"{CODE} returns numbers that are not finite at time {domain.time:g}")
        first, start = bodies.conf_ptr[moving], bodies.velo_ptr[moving]
        turn = rotations(q[:, 3:])
        for k in range(3):
            bodies.configurations.conf[:, first + k] = turn[:, :, k].T
        bodies.configurations.conf[:, first + 3] = q[:, :3].T
        bodies.triples.velo[:, start + 1], bodies.triples.velo[:, start] = twist[:, :3].T, twist[:, 3:].T
        table.view("R")[NORMAL_FIRST] = impulse.T / domain.step  # turning body and frame round leaves the components
        self.solver.iterations, self.solver.residual = answer["iterations"], answer["residual"]


def quaternions(turn: np.ndarray) -> np.ndarray:
    """Return unit quaternions (n, 4), real part first and not negative, of rotations (n, 3, 3)."""
    trace = np.einsum("nii->n", turn)
    squares = np.column_stack([trace, turn[:, 0, 0], turn[:, 1, 1], turn[:, 2, 2]])
    largest = np.argmax(squares, axis=1)
    outer = np.empty((len(turn), 4, 4))  # 4 q q^T, of which the row of the largest component is accurate
    outer[:, 0, 0] = 1.0 + trace
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[:, i + 1, i + 1] = 1.0 + 2.0 * turn[:, i, i] - trace
        outer[:, 0, i + 1] = outer[:, i + 1, 0] = turn[:, k, j] - turn[:, j, k]
        outer[:, j + 1, k + 1] = outer[:, k + 1, j + 1] = turn[:, j, k] + turn[:, k, j]
    row = outer[np.arange(len(turn)), largest]
    row /= np.linalg.norm(row, axis=1, keepdims=True)
    return np.where(row[:, :1] < 0.0, -row, row)


def rotations(quaternion: np.ndarray) -> np.ndarray:
    """Return rotations (n, 3, 3) of quaternions (n, 4), which are normalised first."""
    w, x, y, z = (quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)
