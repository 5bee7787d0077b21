"""One multi-body model: its state tables, and what advances and changes them (Solfec-1.0's `dom`).

Every phase of a step (`time_step`) works on whole arrays; no Python code here loops over bodies or constraints.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from . import body_packing, fragments, insertion, live_state, lost_bodies, step_limit
from .bodies import implicit, motion
from .bodies.cracks import Cracks
from .bodies.finite_elements import compiled
from .bodies.loads import Loads
from .bodies.materials import BulkMaterial, BulkMaterials
from .bodies.table import BodyKind, BodyTable, Energy, Form
from .body_points import BodyPoints
from .body_states import BodyStates
from .constraints import joint_correction, joint_starts, joint_terms
from .constraints.elsewhere import NOWHERE, Elsewhere
from .constraints.supports import Supports
from .constraints.table import ConstraintTable, SurfaceMaterialTable
from .contact import detection
from .contact.geometry import Geometry
from .contact.swallowed import Swallowed
from .edited_energy import EditedEnergy
from .errors import SolfecError
from .first_impacts import Newborn
from .fractures import Fractures
from .joints import Joints
from .kept_memory import keep_freed_memory
from .lives import Lives
from .motion_hooks import Hooks
from .shapes import primitives
from .shapes.mesh import Mesh
from .sleeping import Sleeping
from .solvers.closed_loops import ClosedLoops
from .solvers.exact_supports import Left
from .solvers.held_limits import HeldLimits
from .solvers.joint_shares import JointShares
from .solvers.local_dynamics import NO_ROWS, LocalDynamics
from .solvers.report import SolverReport
from .step_guard import BROKEN_OFF, PREPARING, READY, WITHIN, StepGuard
from .time_step import TimeStep

if TYPE_CHECKING:
    from .parallel.kept_rows import KeptRows


class Domain:
    """State tables of one model and its time step.

    Parameters
    ----------
    step : float
        Time step; explicitly integrated bodies may lower it permanently.
    epsilon : float
        Geometric epsilon (docs/language-running.md, GEOMETRIC_EPSILON), in the model's unit of length.
    dynamic : bool
        Dynamics, or quasi-statics (docs/language-objects.md, SOLFEC).

    Attributes
    ----------
    bodies, geometry, constraints, surface_materials
        The state tables.
    joints, states, points
        Commands for the user's constraints; configurations and velocities of bodies; values at their points.
    time, step_number : float, int
        Time reached and number of steps taken.
    report : SolverReport or None
        Report of the solver about the last step.
    sparsified : int
        Contacts that sparsification removed in the last step.
    timings : Timings
        Seconds spent in each phase since they were last reset.
    contact_energy, friction_energy : float
        Work of contact reactions, each contact counted once.
    guard : StepGuard
        What may be done to the model now; the context of the phases of a step.
    hooks : Hooks
        What is called before and after the motion of every step.
    """

    def __init__(self, step: float, epsilon: float = 1e-6, dynamic: bool = True):
        keep_freed_memory()
        self.step = step
        self.epsilon = epsilon
        self.dynamic = dynamic
        self.time, self.step_number = 0.0, 0
        self.clock_origin = 0.0, 0  # time and step number since which the step is constant; continued runs need it for equal bits
        self.contact_energy = self.friction_energy = 0.0
        self.sparsified = 0
        self.bodies = BodyTable()
        self.geometry = Geometry()
        self.constraints = ConstraintTable()
        self.surface_materials = SurfaceMaterialTable()
        self.surface_labels = ["DEFAULT"]
        self.bulk_materials = BulkMaterials()
        self.body_labels = self.bodies.labels
        self.body_meshes: dict[int, list[Mesh]] = {}  # meshes of bodies' shapes, or round them, in their referential placement; of finite elements once asked for
        self.loads = Loads(self.bodies)
        self.loads.epsilon = epsilon
        self.settings = detection.Settings(min_distance=epsilon)
        self.manifold_contacts = False  # whether contact options default to 'MANIFOLD'
        self.extents: np.ndarray | None = None
        self.local_dynamics = LocalDynamics()
        self.kept_rows: KeptRows | None = None  # of the part that this process has of the last step, if several have parts
        self.report: SolverReport | None = None
        self.cracks = Cracks()
        self.lives = Lives()
        self.joints, self.states, self.points = Joints(self), BodyStates(self), BodyPoints(self)
        self.fractures = Fractures()
        self.swallowed = Swallowed()
        self.supports_left = Left()
        self.shares = JointShares()
        self._time_step = TimeStep(self)
        self.timings = self._time_step.timings
        self.edited_energy = EditedEnergy(self.bodies)
        self.next_body_id = 1
        self.newborn = Newborn()
        self.deleted_bodies = 0
        self.state_changes = 0  # by the user, who may do so between steps
        self._initialised = 0  # number of these that energies and what integration needs take into account
        self._changed: list[int] = []  # bodies of the last of these changes, as far as bodies are known
        self.deformable = True  # whether any body may bound the time step
        self.guard = StepGuard()
        self.step_kept = False  # whether explicit bodies may not lower the step
        self.touched = False  # whether the user has pulled bodies by hand, in the viewer
        self.exact_supports = not dynamic  # whether quasi-static steps meet supports to round-off after the solver
        self.joint_impacts = True  # whether the first step of a joint stops its points
        self.joint_correction = False  # whether gaps of joints are closed after every step
        self.uncorrected = joint_correction.LeftOut()
        self.gaps = joint_correction.JointGapTable()
        self.supports = Supports()
        self.loops, self.limits = ClosedLoops(), HeldLimits()
        self._impacts = False  # whether the next step stops joints
        self.hooks = Hooks()
        self.sleeping = Sleeping(self)
        self.spread = False  # whether this process has its own bodies and copies of neighbours only

    # --- the time step -------------------------------------------------------------------------------------

    def advance(self, solver, elsewhere: Elsewhere = NOWHERE) -> None:
        """Advance the model by one time step.

        Parameters
        ----------
        solver : ConstraintSolver
            Computes reactions of constraints.
        elsewhere : Elsewhere
            What other processes hold of the constraints of the user, if the model is a part of one.

        Raises
        ------
        SolfecError
            A callback of a force or of a failing solver requests another step, or other bodies and constraints; an error interrupted
            the last step.
        """
        phases = self.open_step(elsewhere)
        with self.guard:
            works = phases.run(solver, elsewhere)
        self.close_step(works, elsewhere)

    def open_step(self, elsewhere: Elsewhere = NOWHERE) -> TimeStep:
        """Begin a step; return its phases, which run once each in their order, within `guard`, before `close_step`."""
        if self.guard.standing != READY:
            self.guard.refuse_to_advance(self.time)
        if self.hooks.before and elsewhere.has_nothing:
            self.hooks.call_before(self)
        if elsewhere.has_nothing:
            self.newborn.begin_motion(self)
        self.guard.standing = PREPARING
        try:
            self.settle()
            step_limit.limit_step(self, elsewhere)
            if self.sleeping.on:
                self.sleeping.before_step()
            jointed = self.dynamic and elsewhere.matters(self.constraints.user_count > 0)
            if jointed:
                self.supports.find(self.constraints, self.bodies, self.joint_impacts, elsewhere)
            self._impacts = jointed and joint_starts.find(self.constraints, self.bodies, self.time, self.joint_impacts, elsewhere)
        except BaseException:
            self.guard.standing = READY
            raise
        self.guard.standing = WITHIN
        return self._time_step

    def close_step(self, works: tuple[float, float], elsewhere: Elsewhere = NOWHERE) -> None:
        """End a step: advance time, count works of contacts, finish joints, break and remove bodies, and call hooks."""
        self.guard.standing = READY
        since, number = self.clock_origin  # time is a multiple of a constant step, so that rounding does not accumulate
        self.step_number += 1
        self.time = since + (self.step_number - number) * self.step
        self.contact_energy += works[0]
        self.friction_energy += works[1]
        self.sparsified = self._time_step.detection.removed
        self.swallowed.after_step(self)
        elsewhere.end_motion()
        if elsewhere.matters(self.constraints.user_count > 0):
            self._finish_joints(elsewhere)
        if self.sleeping.on:
            self.sleeping.after_step()
        self.fractures.look(self)
        lost_bodies.remove_overloaded_and_lost(self, elsewhere)
        if self.cracks.of_body and (opening := elsewhere.opening(fragments.opening_cracks(self))):
            self.local_dynamics.keep_names()
            fragments.open_cracks(self, opening)
        if self.hooks.after and elsewhere.has_nothing:  # else the course of all parts calls them, as above
            self.hooks.call_after(self)

    def fit_joints(self, elsewhere: Elsewhere = NOWHERE) -> None:
        """Within a step, fit the terms that joints add to U = -V to one another."""
        self.supports.fit(self.constraints, self.bodies, self.gaps)
        if self._impacts or self.loops.redundant:
            joint_terms.fit(self.constraints, self.bodies, self.loops.rows if self.loops.redundant else NO_ROWS, self.gaps, elsewhere)

    def _finish_joints(self, elsewhere: Elsewhere) -> None:
        """Update joints after a step: first steps are done, and drift is corrected, on request and where loops were taken as closed."""
        corrected = self.joint_correction or self.loops.drifts
        if self._impacts:
            joint_starts.finish(self.constraints, self.bodies, self.time, corrected, elsewhere)
            self._impacts = False
        if self.joint_impacts and self.dynamic and elsewhere.strikes_joints(0 < self.constraints.user_count < self.constraints.n):
            joint_starts.note_impacts(self.constraints, self.bodies, self.local_dynamics, elsewhere)
        if corrected and elsewhere.matters(self.constraints.user_count > 0):
            if self.joint_correction:
                self.uncorrected.note(self.constraints, self.bodies)
            corrected = joint_correction.correct(
                self.constraints, self.bodies, self.gaps, self.time, self.epsilon, self.loops.redundant, elsewhere
            )
            if self.joint_correction and not corrected:
                raise SolfecError("SOLFEC.joint_correction: no displacement of the bodies closes the gaps of joints")

    def __deepcopy__(self, memo: dict):
        """Return a copy of the model, which continues with the same bits."""
        if self.guard.standing != READY:
            raise SolfecError("a model cannot be copied in the midst of a step")
        remembered = implicit.memory(self.bodies, self.step, self.dynamic)
        copied = memo[id(self)] = type(self).__new__(type(self))
        mine = {name: value for name, value in vars(self).items() if name not in ("local_dynamics", "_time_step", "timings")}
        vars(copied).update(copy.deepcopy(mine, memo))
        copied.local_dynamics = LocalDynamics()
        copied._time_step = TimeStep(copied)
        copied.timings = copied._time_step.timings
        copied.constraints.view("evaluated")[:] = -1  # the copy has no record of evaluations
        if remembered is not None:
            implicit.recall(copied.bodies, compiled(copied.bodies), self.step, self.dynamic, remembered)
        return copied

    def __reduce__(self):
        raise SolfecError("a model cannot be pickled; make it again from its input, or load a frame of its results")

    @property
    def unsolved(self) -> bool:
        """Whether the constraints of the last step were not solved to the requested accuracy."""
        return self.report is not None and self.report.status != "OK"

    # --- time and step -------------------------------------------------------------------------------------

    def initialise(self) -> None:
        """Bring inverse inertia and energies up to date with what users have changed: of these bodies, or of all where it is not known which."""
        known = self._changed and len(self._changed) == self.state_changes - self._initialised
        rows = [self.body_row(identifier) for identifier in self._changed if self.is_alive(identifier)] if known else None
        self.sleeping.after_changes(self.state_changes, rows)
        self.edited_energy.begin()
        motion.initialise_inertia(self.bodies, rows)
        self.edited_energy.end(self.step_number, rows)
        self.deformable = bool((self.bodies.view("kind") >= BodyKind.PSEUDO_RIGID).any())
        self._initialised = self.state_changes
        self._changed.clear()

    def note_change(self, identifier: int) -> None:
        """The user has changed the state of one body."""
        self.state_changes += 1
        self._changed.append(identifier)

    def settle(self) -> None:
        """Take into account what users have changed since the last step."""
        if self._initialised != self.state_changes:
            self.initialise()

    def set_step(self, step: float) -> None:
        """Use another time step from now on."""
        self.guard.refuse("change its length")
        self.step = float(step)
        self.clock_origin = self.time, self.step_number

    def set_time(self, time: float, step_number: int) -> None:
        """Continue from a stored instant."""
        if self.guard.standing == BROKEN_OFF:
            self.guard.standing = READY
        self.time = time
        self.step_number = step_number
        self.edited_energy.step = min(self.edited_energy.step, step_number)
        self.clock_origin = time, step_number

    # --- bodies --------------------------------------------------------------------------------------------

    def insert_body(
        self, kind: BodyKind, shapes: list, material: BulkMaterial, label: str | None = None, form: Form = Form.NONE, mesh=None, base=None
    ) -> int:
        """Create a body from shape objects at their present placement; return its identifier.

        Finite element bodies have a `form`, and one mesh as their shape, or convexes inside of another `mesh`; the reduced
        forms a `base`, a ReducedBase.
        """
        self.guard.refuse("insert bodies")
        new = insertion.prepare(self, kind, shapes, material, label, form, mesh, base)
        self.edited_energy.begin()
        first, count = self.geometry.primitives.n, new.shape.kind.size
        row = self.bodies.add(kind, new.mesh, base, primitive_ptr=first, primitive_count=count, **new.columns)
        self.geometry.add(row, new.shape, kind == BodyKind.FINITE_ELEMENT)
        if new.mesh is not None and new.mesh.background is None:
            vertex_nodes, elements, _ = primitives.mesh_columns(new.parts[0], whole=True)
            self.geometry.vertices.view("node")[-len(vertex_nodes) :] = vertex_nodes
            self.geometry.primitives.element[first : first + count] = elements
        identifier = self.next_body_id
        self.next_body_id += 1
        meshes = [part for part in new.parts if isinstance(part, Mesh)]
        if meshes and (new.mesh is None or new.mesh.background is not None):
            self.body_meshes[identifier] = meshes
        if label is not None:
            self.body_labels[identifier] = label
        self.note_change(identifier)
        return identifier

    def meshes_of(self, identifier: int) -> list[Mesh]:
        """Return meshes of a body's shape, or the computational mesh of a finite element body, in the referential placement."""
        if identifier not in self.body_meshes and identifier in self.bodies.meshes:  # few inputs ask for what takes a fifth of the memory
            self.body_meshes[identifier] = [self.bodies.meshes[identifier].shape()]
        return self.body_meshes.get(identifier, [])

    def is_alive(self, identifier: int) -> bool:
        """Whether the model has a body."""
        return self.bodies.row_of(identifier) >= 0

    def body_row(self, identifier: int) -> int:
        """Row of a living body; KeyError when it is gone."""
        row = self.bodies.row_of(identifier)
        if row < 0:
            raise KeyError(identifier)
        return row

    def delete_body(self, identifier: int) -> None:
        """Delete a body with all constraints attached to it."""
        self.guard.refuse("delete bodies")
        mask = np.zeros(self.bodies.n, bool)
        mask[self.body_row(identifier)] = True
        self.remove_bodies(mask)

    def remove_bodies(self, mask: np.ndarray) -> None:
        """Remove marked rows of bodies, with what belongs to them, and constraints attached to them."""
        gone = self.bodies.view("id")[mask].tolist()
        if not gone:
            return
        self.sleeping.before_removal(mask)
        constraints = self.constraints
        if constraints.n:
            slave = constraints.view("slave")
            attached = mask[constraints.view("master")] | (slave >= 0) & mask[slave]
            constraints.keep_marked(~attached)
        self.cracks.forget(gone)
        for identifier in gone:
            self.body_labels.pop(identifier, None)
            self.body_meshes.pop(identifier, None)
        self.deleted_bodies += len(gone)
        self.edited_energy.take(mask)
        bodies = self.bodies.remove(mask)
        primitives = self.geometry.remove(mask, bodies)
        for new, what in ((np.append(bodies, -1), ""), (np.append(primitives, -1), "_primitive")):
            for side in ("master", "slave"):
                row = constraints.view(side + what)
                row[:] = new[row]  # row -1 stays
        count = self.bodies.view("primitive_count")
        self.bodies.view("primitive_ptr")[:] = np.cumsum(count) - count  # primitives of a body stay together
        self.loads.remap(bodies)

    def pack_bodies(self, identifiers) -> body_packing.PackedBodies:
        """Pack bodies with all that belongs to them: state, shapes, meshes, loads, cracks, constraints and their reactions.

        The model keeps them; `delete_body` or `remove_bodies` removes them.  A model from which bodies are removed and into which they
        are unpacked again continues with the same bits.

        Parameters
        ----------
        identifiers : iterable of int

        Raises
        ------
        SolfecError
            The model has no such body; a callback calls within a step.
        """
        self.guard.refuse("pack bodies")
        self.settle()
        return body_packing.pack(self, identifiers)

    def unpack_bodies(self, packed: body_packing.PackedBodies) -> None:
        """Insert packed bodies into the model, in the order of identifiers.

        Raises
        ------
        SolfecError
            The model has such a body or constraint already, or lacks a body on which a packed constraint acts; a callback calls
            within a step.
        """
        self.guard.refuse("unpack bodies")
        self.settle()
        self.edited_energy.begin()
        try:
            body_packing.unpack(self, packed)
        finally:
            self.edited_energy.end(self.step_number)

    # --- results -------------------------------------------------------------------------------------------

    def snapshot(self) -> live_state.Snapshot:
        """Return copies of the present state, for readers."""
        bodies = live_state.Bodies.of(self.bodies)
        return live_state.Snapshot(self.time, self.step_number, bodies, live_state.Constraints.of(self.constraints, self.bodies))

    def energy(self, identifiers=None) -> np.ndarray:
        """Energies in the order of `Energy`, of the given bodies or (contacts counted once) of the whole model."""
        self.settle()
        if identifiers is None:
            if self.spread:
                raise SolfecError("energies of a whole model are in no process with SOLFEC.spread = 'ON'; take those of bodies that are HERE, or frames")
            total = self.bodies.view("energy").sum(axis=1)
            total[Energy.CONTACT] = self.contact_energy
            total[Energy.FRICTION] = self.friction_energy
            return total
        rows = [self.body_row(identifier) for identifier in identifiers]
        return self.bodies.energy[:, rows].sum(axis=1)

