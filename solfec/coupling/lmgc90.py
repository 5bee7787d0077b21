"""LMGC90 as modeler and collision handler of rigid blocks, and as a complete second opinion (docs/coupling.md, LMGC90)."""

from __future__ import annotations

import os
import sys

import numpy as np

from ..errors import SolfecError
from ..kinds import BodyKind
from ..language import checks
from ..language.handles import simulation_of
from .buffer import Buffer
from .helper_process import PATIENCE, HelperProcess
from .own import SolfecModel
from .rigid_blocks import RigidBlocks, blocks_of, forces_of
from .roles import Modeler, PhysicalObject

CODE = "LMGC90"
INSTALL = "{python} -m pip install --no-deps compas_lmgc90==0.1.11"  # whose routines `helpers/lmgc90.py` calls
PYTHON = "SOLFEC_LMGC90_PYTHON"  # environment variable: another interpreter, which has the package
GRAVITY = np.array([0.0, 0.0, -9.81])  # built in
CONTACTS_BY = ("PLANES", "FACES")
SWEEPS = 25000  # in a step at most, as in compas_lmgc90
AT_REST = 1e-12  # velocity up to which bodies count as resting
DISTANCE = 1e-3  # at which LMGC90 looks for contacts, over the mean size of blocks that move
PIECE = 1.5  # least size of pieces of obstacles over that of the largest block: LMGC90 misses contacts with blocks that are much larger
GAP = 1.1 * DISTANCE  # between these pieces, over the mean size of blocks that move: LMGC90 would list contacts of pieces that touch


def helper(python: str | None = None, patience: float = PATIENCE) -> HelperProcess:
    """Return a process with LMGC90, not started yet.

    Parameters
    ----------
    python : str, optional
        Interpreter that has compas_lmgc90; default: that of the environment variable SOLFEC_LMGC90_PYTHON, or this one.
    patience : float
        Seconds without a sign of life after which it counts as hung.
    """
    python = python or os.environ.get(PYTHON) or sys.executable
    return HelperProcess(CODE, "lmgc90.py", python, INSTALL.format(python=python), patience)


class LmgcModeler(Modeler):
    """Rigid blocks of a SOLFEC model in LMGC90.

    LMGC90 makes whole steps and gives no access to free velocities, to W, or to velocities at the start.  So `push` starts it again from the
    geometry in the buffer, at rest: velocities are lost, and `lost` tells how much kinetic energy they had.

    Parameters
    ----------
    solfec : SOLFEC
        The model, which must not move at the start.
    duration : float
        Time for which loads are needed.
    law : str
        Contact law of LMGC90: 'IQS_CLB' (gaps as they are) or 'IQS_CLB_g0' (gaps less those of the first step).
    process : HelperProcess, optional
    contacts_by : str
        How LMGC90 finds contacts: 'PLANES' (common planes, in every step) or 'FACES' (of faces that are parallel and near in the first step).
    maxiter : int
        Sweeps over all contacts in a step at most, in blocks of 50.

    Attributes
    ----------
    time : float
    centre, frame : ndarray (n, 3), (n, 3, 3)
        Present centres and rotations from the start, one per block.
    iterations : int
        Sweeps over all contacts so far.
    unsolved : int
        Steps so far in which these sweeps did not reach LMGC90's tolerance.
    lost : float
        Kinetic energy that `push` has dropped so far [energy].
    """

    def __init__(self, solfec, duration: float, law: str = "IQS_CLB", process: HelperProcess | None = None, contacts_by: str = "PLANES", maxiter: int = SWEEPS):
        self._open(simulation_of(solfec), duration, law, process, contacts_by)
        self.maxiter = checks.positive(maxiter, "maxiter")

    @classmethod
    def of(cls, simulation, duration: float, law: str, process: HelperProcess | None = None, contacts_by: str = "PLANES") -> LmgcModeler:
        """Return the modeler of a `solfec.simulation.Simulation`, for which the input has no SOLFEC object at hand."""
        made = object.__new__(cls)
        made._open(simulation, duration, law, process, contacts_by)
        return made

    def _open(self, simulation, duration: float, law: str, process: HelperProcess | None, contacts_by: str) -> None:
        if contacts_by not in CONTACTS_BY:
            raise SolfecError(f"'contacts_by' is {contacts_by!r}; it must be 'PLANES' or 'FACES'")
        self._planes, self.maxiter = contacts_by == "PLANES", SWEEPS
        self.domain = simulation.domain
        self.process = process or helper()
        self.law, self.duration, self.lost, self.iterations, self.unsolved = law, float(duration), 0.0, 0, 0
        if self.domain.bodies.n and (speed := np.abs(self.domain.bodies.triples.view("velo")).max()) > AT_REST:
            raise SolfecError(f"{CODE} starts from rest, and the model moves ({speed:g}); give it no initial velocities")
        self.blocks = blocks_of(self.domain, CODE, (PIECE, GAP) if self._planes else None)
        self.times, self.force = forces_of(self.domain, self.blocks, self.duration, CODE, GRAVITY)
        self.row = np.searchsorted(self.domain.bodies.view("id"), self.blocks.body)
        self._start(self.blocks.centre, np.tile(np.eye(3), (len(self.row), 1, 1)))
        self.time = self.domain.time

    def _start(self, centre: np.ndarray, turned: np.ndarray) -> None:
        """Start LMGC90 with blocks at these centres and rotations from the first configuration."""
        blocks = self.blocks
        owner = np.repeat(np.arange(len(blocks.body)), np.diff(blocks.vertex_ptr))
        answer = self.process.call(
            "start", step=self.domain.step, theta=0.5, planes=int(self._planes), law=self.law, friction=blocks.friction,
            alert=DISTANCE * size_of(blocks), density=blocks.density, fixed=blocks.fixed.astype(np.int64), centre=centre, vertex_ptr=blocks.vertex_ptr,
            vertex=np.einsum("nij,nj->ni", turned[owner], blocks.vertex), triangle_ptr=blocks.triangle_ptr, triangle=blocks.triangle,
            times=self.times, force=self.force,
        )  # fmt: skip
        off = np.abs(answer["centre"] - centre).max(axis=1)
        if (off > 1e-6 * size_of(blocks)).any():
            name = self.domain.bodies.name(int(blocks.body[np.argmax(off)]))
            raise SolfecError(f"{CODE} puts the mass centre of {name} {off.max():.1e} away from ours: its mass properties are not those of its shape")
        self._first, self._turned = answer["frame"], turned
        self.centre, self.rotation = centre.copy(), turned.copy()
        self._before = self.centre
        self.path, self.turns = np.zeros((0, *centre.shape)), np.zeros((0, *turned.shape))
        self.contacts: dict[str, np.ndarray] = {}

    def advance(self, count: int) -> None:
        """Make steps; `path` (count, n, 3) and `turns` (count, n, 3, 3) keep centres and rotations after each of them."""
        answer = self.process.call("steps", count=int(count), maxiter=int(self.maxiter))
        self.path, self.iterations = answer["centre"], self.iterations + int(answer["iterations"])
        self._before = self.path[-2] if len(self.path) > 1 else self.centre
        self.unsolved += int(answer["unsolved"])
        self.turns = np.einsum("tnji,njk,nkl->tnil", answer["frame"], self._first, self._turned)
        self.centre, self.rotation = self.path[-1], self.turns[-1]
        self.contacts = {name: answer[name] for name in ("bodies", "point", "normal", "gap", "force")}
        self.time += count * self.domain.step

    @property
    def objects(self) -> list[PhysicalObject]:
        """The bodies; their models are our own, since LMGC90 shows no mass and no forces."""
        domain = self.domain
        return [PhysicalObject(k, domain.body_labels.get(k), SolfecModel(domain, k)) for k in domain.bodies.view("id").tolist()]

    def free_velocity(self) -> None:
        """Raise SolfecError: LMGC90 makes whole steps, `advance`."""
        raise SolfecError(f"{CODE} gives no access to free velocities; it makes whole steps (LmgcModeler.advance)")

    def apply_reactions(self) -> None:
        """Raise SolfecError: LMGC90 makes whole steps, `advance`."""
        raise SolfecError(f"{CODE} takes no reactions; it makes whole steps (LmgcModeler.advance)")

    def pull(self, buffer: Buffer) -> None:
        """Copy centres and rotations of bodies, and contacts with their forces, into the buffer; velocities are means over the last step."""
        bodies, into, found = self.domain.bodies, buffer.bodies, buffer.interactions
        last = np.unique(self.row, return_index=True)[1]
        buffer.time = self.time
        into.id, into.kind, into.mass = (bodies.view(name).copy() for name in ("id", "kind", "mass"))
        start = bodies.configurations.conf
        into.rotation = self.rotation[last] @ np.stack([start[:, bodies.view("conf_ptr") + k] for k in range(3)], axis=2).transpose(1, 0, 2)
        into.centre = np.where((into.kind == BodyKind.OBSTACLE)[:, None], start[:, bodies.view("conf_ptr") + 3].T, self.centre[last])
        into.velocity = (self.centre - self._before)[last] / self.domain.step if len(self.path) else np.zeros((bodies.n, 3))
        into.angular_velocity = np.full((bodies.n, 3), np.nan)
        into.gradient_rate = np.full((bodies.n, 3, 3), np.nan)
        into.node_ptr = np.zeros(bodies.n + 1, int)
        if self.contacts:
            pairs = self.blocks.body[self.contacts["bodies"] - 1]
            count = len(pairs)
            found.id, found.bodies, found.contact = np.arange(1, count + 1), pairs, np.ones(count, bool)
            found.point, found.normal, found.gap = self.contacts["point"], self.contacts["normal"], self.contacts["gap"]
            found.reaction, found.friction = self.contacts["force"], np.full(count, self.blocks.friction)
            found.relative_velocity = np.full((count, 3), np.nan)

    def push(self, buffer: Buffer) -> None:
        """Start LMGC90 again from the centres and rotations in the buffer, at rest; add the kinetic energy of its velocities to `lost`.

        Loads that change in time begin anew, too.
        """
        given, bodies = buffer.bodies, self.domain.bodies
        if not np.array_equal(given.id, bodies.view("id")):
            raise SolfecError(f"push: the buffer has the bodies {given.id.tolist()}, not those of the model")
        if len(self.times) > 1:
            raise SolfecError(f"push: {CODE} starts again at time 0, and the model has loads that change in time")
        start = np.stack([bodies.configurations.conf[:, bodies.view("conf_ptr") + k] for k in range(3)], axis=2).transpose(1, 0, 2)
        turned = (given.rotation @ start.transpose(0, 2, 1))[self.row]
        moving = given.kind == BodyKind.RIGID
        self.lost += 0.5 * float((given.mass[moving] * (given.velocity[moving] ** 2).sum(axis=1)).sum())
        centre = given.centre[self.row]
        centre[self.blocks.fixed] = self.blocks.centre[self.blocks.fixed]
        self._start(centre, turned)
        self.time = buffer.time


def size_of(blocks: RigidBlocks) -> float:
    """Return the mean distance of vertices from centres, of blocks that move if any does."""
    chosen = np.repeat(~blocks.fixed | blocks.fixed.all(), np.diff(blocks.vertex_ptr))
    return float(np.linalg.norm(blocks.vertex[chosen], axis=1).mean())
