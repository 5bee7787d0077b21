"""Our own implementation of the seven roles, on the open step."""

from __future__ import annotations

import numpy as np

from ..bodies.finite_elements import compiled
from ..bodies.implicit import implicit_of_step
from ..constraints import joint_starts
from ..errors import SolfecError
from ..kinds import BodyKind, Form
from ..language import checks
from ..language.handles import simulation_of
from ..language.shapes import MESH, shape_of
from ..language.solvers import constraint_solver
from ..live_state import Bodies, Constraints
from ..solvers.report import SolverReport
from ..switching import switch
from ..tables import pointers_of
from .buffer import Buffer
from .graph import Graph, graph_of
from .local_problem import LocalProblem
from .open_step import OpenStep
from .roles import CollisionHandler, InteractionSolver, MechanicalModel, Modeler, PhysicalObject, Simulation


class SolfecModel(MechanicalModel):
    """The model of a body: `q`, `v`, `force` and `inverse_mass` are views of the program's memory, one triple a column.

    The glossary tells which triples a body of each kind has.  Views are valid until bodies come or go.

    Parameters
    ----------
    domain : Domain
    identifier : int
        Number of the body.
    """

    def __init__(self, domain, identifier: int):
        self._domain, self.identifier = domain, identifier

    @property
    def _row(self) -> int:
        return self._domain.body_row(self.identifier)

    @property
    def kind(self) -> str:
        """Kind of the body, as BODY.kind."""
        return BodyKind(int(self._domain.bodies.kind[self._row])).name

    @property
    def q(self) -> np.ndarray:
        """Configuration (3, k)."""
        bodies = self._domain.bodies
        return bodies.configurations.conf[:, bodies.conf_slice(self._row)]

    @property
    def v(self) -> np.ndarray:
        """Velocity (3, m); between `free_velocity` and `apply` the free velocity."""
        return self._triples("velo")

    @property
    def force(self) -> np.ndarray:
        """Generalised applied force (3, m)."""
        return self._triples("force")

    @property
    def reaction(self) -> np.ndarray:
        """Generalised reaction (3, m) of all constraints."""
        return self._triples("reaction")

    @property
    def inverse_mass(self) -> np.ndarray:
        """Diagonal blocks (3, 3, m) of the inverse mass matrix; there are no others.

        Raises
        ------
        SolfecError
            The body is integrated implicitly: its matrix, which couples all triples, exists as a factorisation only.
        """
        bodies, row = self._domain.bodies, self._row
        if any(row in solver.rows for solver in implicit_of_step(bodies, compiled(bodies)).solvers):
            raise SolfecError(f"{bodies.name(self.identifier)} has scheme 'DEF_LIM', whose matrix exists as a factorisation only")
        return bodies.triples.inverse_inertia[..., bodies.velo_slice(row)]

    def switch(self, kind: str, form: str = "TL", mesh: MESH | None = None) -> tuple[int, float]:
        """Become rigid, pseudo-rigid or of finite elements, with the arguments of BODY_SWITCH; views that were taken before end.

        Returns
        -------
        number : int
            Of the body that takes the place of the old one.
        lost : float
            Energy that is lost.
        """
        kind = checks.choice(kind, "kind", ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT"))
        formulation = Form[checks.choice(form, "form", ("TL", "BC"))] if kind == "FINITE_ELEMENT" else Form.NONE
        content = None if mesh is None else shape_of(mesh, "mesh", MESH)._content.copy()
        self.identifier, lost = switch(self._domain, self.identifier, BodyKind[kind], formulation, content)
        return self.identifier, lost

    def _triples(self, name: str) -> np.ndarray:
        bodies = self._domain.bodies
        return getattr(bodies.triples, name)[:, bodies.velo_slice(self._row)]


class RoleOfStep:
    """Base of roles that phases of our own step play.

    Parameters
    ----------
    step : OpenStep
    """

    def __init__(self, step: OpenStep):
        self.open_step, self.domain = step, step.domain


class SolfecModeler(RoleOfStep, Modeler):
    """The bodies of a SOLFEC model."""

    @property
    def objects(self) -> list[PhysicalObject]:
        """The bodies, in the order of their numbers."""
        labels = self.domain.body_labels
        return [PhysicalObject(k, labels.get(k), SolfecModel(self.domain, k)) for k in self.domain.bodies.view("id").tolist()]

    def free_velocity(self) -> None:
        """Move bodies by half a step, and compute free velocities."""
        self.open_step.free_velocity()

    def apply_reactions(self) -> None:
        """Apply reactions, and move bodies to the end of the step."""
        self.open_step.apply()

    def pull(self, buffer: Buffer) -> None:
        """Copy time and bodies into the buffer."""
        table, into = self.domain.bodies, buffer.bodies
        state = Bodies.of(table)
        buffer.time = self.domain.time
        for name in ("id", "kind", "mass", "centre", "velocity", "rotation", "angular_velocity"):
            setattr(into, name, getattr(state, name))
        into.gradient_rate = np.full((table.n, 3, 3), np.nan)
        soft = np.flatnonzero(state.kind == BodyKind.PSEUDO_RIGID)
        for k in range(3):
            into.gradient_rate[soft, k] = table.triples.velo[:, table.velo_ptr[soft] + k].T
        nodes = np.where(state.kind == BodyKind.FINITE_ELEMENT, table.view("node_count"), 0)
        into.node_ptr = pointers_of(nodes)
        fe = compiled(table)
        into.node = (fe.reference + table.configurations.conf[:, fe.conf_row]).T if fe.count else np.zeros((0, 3))
        into.node_velocity = table.triples.velo[:, fe.velo_row].T if fe.count else np.zeros((0, 3))

    def push(self, buffer: Buffer) -> None:
        """Set places and velocities of all bodies from the buffer; masses and time stay.

        Rotations of rigid bodies must be rotations; other matrices are an error.

        Raises
        ------
        SolfecError
            The buffer has other bodies than the model, or numbers that are not finite; a body has a reduced base; within a step.
        """
        self.domain.guard.refuse("set states")
        table, given = self.domain.bodies, buffer.bodies
        _refuse_other_bodies(table, given)
        plain, soft = given.kind != BodyKind.FINITE_ELEMENT, given.kind == BodyKind.PSEUDO_RIGID
        stiff = plain & ~soft
        conf, velo = table.configurations.conf, table.triples.velo
        axes = np.where(soft[:, None, None], given.rotation, given.rotation.transpose(0, 2, 1))  # rows of F, columns of a rotation
        for k in range(3):
            conf[:, table.conf_ptr[: table.n][plain] + k] = axes[plain, k].T
            velo[:, table.velo_ptr[: table.n][soft] + k] = given.gradient_rate[soft, k].T
        conf[:, table.conf_ptr[: table.n][plain] + 3] = given.centre[plain].T
        velo[:, (table.velo_ptr[: table.n] + np.where(soft, 3, 1))[plain]] = given.velocity[plain].T
        velo[:, table.velo_ptr[: table.n][stiff]] = np.einsum("nji,nj->in", given.rotation[stiff], given.angular_velocity[stiff])
        fe = compiled(table)
        if fe.count:
            conf[:, fe.conf_row] = given.node.T - fe.reference
            velo[:, fe.velo_row] = given.node_velocity.T
        joint_starts.mark(self.domain.constraints, np.arange(table.n))
        self.domain.state_changes += 1


def _refuse_other_bodies(table, given) -> None:
    """Raise SolfecError if a buffer does not describe the bodies of a table."""
    if not (np.array_equal(given.id, table.view("id")) and np.array_equal(given.kind, table.view("kind"))):
        raise SolfecError(f"push: the buffer has the bodies {given.id.tolist()}, of other numbers or kinds than the model's {table.view('id').tolist()}")
    if table.bases:
        raise SolfecError(f"push: {table.name(min(table.bases))} has a reduced base; set its state by BODY.conf and BODY.velo")
    stiff, soft = given.kind <= BodyKind.RIGID, given.kind == BodyKind.PSEUDO_RIGID
    needed = {"centre": stiff | soft, "velocity": stiff | soft, "rotation": stiff | soft, "angular_velocity": stiff, "gradient_rate": soft}
    for name, rows in needed.items():
        values = getattr(given, name)[rows]
        finite = np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
        if not finite.all():
            wrong = int(given.id[rows][np.argmin(finite)])
            raise SolfecError(f"push: '{name}' of {table.name(wrong)} is not finite")
    if not (np.isfinite(given.node).all() and np.isfinite(given.node_velocity).all()):
        raise SolfecError("push: 'node' or 'node_velocity' is not finite")
    turned = given.rotation[stiff]
    error = np.abs(turned @ turned.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    if (error > 1e-6).any():
        raise SolfecError(f"push: 'rotation' of {table.name(int(given.id[stiff][np.argmax(error)]))} is no rotation (off by {error.max():.1e})")


class SolfecCollisionHandler(RoleOfStep, CollisionHandler):
    """Our detection of contacts."""

    def detect(self) -> None:
        """Find the contacts at mid-step."""
        self.open_step.detect()

    def pull(self, buffer: Buffer) -> None:
        """Copy contacts and other constraints into the buffer, with the reactions that they have."""
        table, into = self.domain.constraints, buffer.interactions
        state = Constraints.of(table, self.domain.bodies)
        into.id, into.bodies, into.point, into.gap, into.contact = state.id, state.bodies, state.point, state.gap, state.contacts
        into.normal = state.base[:, :, 2].copy()
        into.reaction = np.einsum("nij,nj->ni", state.base, state.R)
        into.relative_velocity = np.einsum("nij,nj->ni", state.base, state.U)
        into.friction = np.where(state.contacts, self.domain.surface_materials.friction[table.view("material")], np.nan)


class SolfecInteractionSolver(InteractionSolver):
    """Any solver that RUN takes.

    Parameters
    ----------
    solver
        Such as AUTO_SOLVER ().
    """

    def __init__(self, solver):
        self.given = solver
        self.engine = constraint_solver(solver)
        self.stored_form, self.colouring = self.engine.stored_form, self.engine.colouring

    def solve_problem(self, problem: LocalProblem) -> SolverReport:
        """Compute reactions."""
        return self.engine.solve(problem.local)


class SolfecSimulation(Simulation):
    """Our time integration, with frames, callbacks and all else of RUN; with our own roles it has the bits of RUN.

    Parameters
    ----------
    solfec : SOLFEC
    solver
        An `InteractionSolver`, or any solver that RUN takes.
    modeler : Modeler, optional
    handler : CollisionHandler, optional
        Default: our own ones.  Roles that work on an `OpenStep` must have the same one, which becomes that of the simulation.
    """

    def __init__(self, solfec, solver, modeler: Modeler | None = None, handler: CollisionHandler | None = None):
        steps = [role.open_step for role in (modeler, handler) if hasattr(role, "open_step")] or [OpenStep(solfec)]
        if any(step is not steps[0] or step.simulation is not simulation_of(solfec) for step in steps):
            raise SolfecError("SolfecSimulation: 'modeler' and 'handler' must share one OpenStep of this model")
        self.open_step = steps[0]
        self.solfec, self.domain = solfec, self.open_step.domain
        solver = solver if isinstance(solver, InteractionSolver) else SolfecInteractionSolver(solver)
        super().__init__(modeler or SolfecModeler(self.open_step), handler or SolfecCollisionHandler(self.open_step), solver)
        self._taken = solver.given if isinstance(solver, SolfecInteractionSolver) else solver
        self._engine = constraint_solver(self._taken)

    def begin_step(self) -> None:
        """Refuse solvers of parts; `SolfecModeler.free_velocity` begins the step."""
        if self._engine.colouring == "ON":
            raise SolfecError(f"SolfecSimulation: {self._engine.command} with colouring = 'ON' solves parts of a model, in RUN only; use 'AUTO' or 'OFF'")

    def solve(self) -> None:
        """Assemble the problem in the form that the solver needs, and solve it."""
        self.open_step.assemble(self._engine.stored_form, self._engine.colouring)
        self.open_step.solve(self._taken)

    def end_step(self) -> None:
        """Advance time, and do what comes after a step."""
        self.open_step.advance()

    def run(self, duration: float) -> None:
        """Run for a duration, as RUN does: frames, callbacks, the file STOP and signals included."""
        self.open_step.simulation.run(self._engine, checks.positive(duration, "duration"), advance=self.step)

    def graph(self) -> Graph:
        """Return the graph of bodies and constraints."""
        return graph_of(self)
