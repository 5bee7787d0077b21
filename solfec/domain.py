"""One multi-body model: its state tables, and what advances and changes them (Solfec-1.0's `dom`).

Every phase of a step (`time_step`) works on whole arrays; nothing here loops over bodies or constraints in Python.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from . import fragments, live_state
from .bodies import background_mesh, finite_element_motion, implicit, modal, motion, point_values, state
from .bodies.cracks import Cracks
from .bodies.failures import named
from .bodies.finite_elements import FiniteElementMesh, compiled
from .bodies.loads import Loads
from .bodies.materials import BulkMaterial, Law
from .bodies.table import REDUCED_FORMS, BodyKind, BodyTable, Energy, Form, Scheme, body_name
from .constraints import element_points, joint_correction, joint_starts, user
from .constraints.table import ConstraintKind, ConstraintTable, DirectionUpdate, SurfaceMaterialTable
from .contact import detection
from .contact.geometry import Geometry
from .contact.swallowed import Swallowed
from .errors import SolfecError
from .lives import Cause, Event, Lives
from .shapes import characteristics, point_query, primitives
from .shapes.mesh import Mesh
from .shapes.resolution import check_resolution
from .shapes.rest_adjacency import adjoin_overlapping
from .solvers.local_dynamics import LocalDynamics
from .solvers.report import SolverReport
from .solvers.supports import Left
from .time_series import TimeSeries
from .time_step import TimeStep

CRAWL = 1e-3  # part of the critical step at rest; smaller ones are of elements torn to a thousand times their size
READY, PREPARING, WITHIN, BROKEN_OFF = range(4)  # where a model stands in a step
SELDOM, OFTEN = 16, 2  # steps after which explicit bodies are looked at again whose strains might ask for a smaller one

DEFAULT_SCHEME = {
    BodyKind.OBSTACLE: Scheme.RIG_IMP,
    BodyKind.RIGID: Scheme.RIG_NEG,
    BodyKind.PSEUDO_RIGID: Scheme.DEF_EXP,
    BodyKind.FINITE_ELEMENT: Scheme.DEF_EXP,
}


class Domain:
    """State tables of one model and its time step.

    Parameters
    ----------
    step : float
        Time step; lowered for good when an explicitly integrated body asks for less.
    epsilon : float
        Geometric epsilon (manual, GEOMETRIC_EPSILON), in the model's unit of length.
    dynamic : bool
        Dynamics, or quasi-statics (manual, SOLFEC).

    Attributes
    ----------
    bodies, geometry, constraints, surface_materials
        The state tables.
    time, step_number : float, int
        Time reached and number of steps taken.
    report : SolverReport or None
        What the solver said about the last step.
    sparsified : int
        Contacts that sparsification removed in the last step.
    timings : Timings
        Seconds spent in each phase since they were last reset.
    contact_energy, friction_energy : float
        Work of contact reactions, each contact counted once.
    """

    def __init__(self, step: float, epsilon: float = 1e-6, dynamic: bool = True):
        self.step = step
        self.epsilon = epsilon
        self.dynamic = dynamic
        self.time, self.step_number, self.clock_origin = 0.0, 0, (0.0, 0)
        self.contact_energy = self.friction_energy = 0.0
        self.sparsified = 0
        self.bodies = BodyTable()
        self.geometry = Geometry()
        self.constraints = ConstraintTable()
        self.surface_materials = SurfaceMaterialTable()
        self.surface_labels = ["DEFAULT"]
        self.bulk_materials: list[BulkMaterial] = []
        self.body_labels = self.bodies.labels
        self.body_meshes: dict[int, list[Mesh]] = {}  # meshes of bodies' shapes, or round them, in their referential placement
        self.loads = Loads(self.bodies)
        self.loads.epsilon = epsilon
        self.settings = detection.Settings(min_distance=epsilon)
        self.manifold_contacts = False  # what contact options are by default
        self.extents: np.ndarray | None = None
        self.local_dynamics = LocalDynamics()
        self.report: SolverReport | None = None
        self.cracks = Cracks()
        self.lives = Lives()
        self.swallowed = Swallowed()
        self.supports_left = Left()
        self._time_step = TimeStep(self)
        self.timings = self._time_step.timings
        self.next_body_id = 1
        self.deleted_bodies = 0
        self._row_of_id: dict[int, int] = {}
        self.state_changes = 0  # by the user, who may do so between steps
        self._initialised = 0  # number of these that energies and what integration needs take into account
        self.deformable = True  # whether any body may bound the time step
        self._standing = READY
        self.step_kept = False  # whether explicit bodies may not lower the step
        self.exact_supports = not dynamic  # whether quasi-static steps meet supports to round-off after the solver
        self.joint_impacts = True  # whether the first step of a joint stops its points
        self.joint_correction = False  # whether the points of joints are brought together again after every step
        self.uncorrected = joint_correction.LeftOut()
        self._impacts = False  # whether the next step stops joints

    # --- the time step -------------------------------------------------------------------------------------

    def advance(self, solver) -> None:
        """Advance the model by one time step; constraint reactions come from `solver`.

        Raises
        ------
        SolfecError
            A callback of a force or of a failing solver wants another step, or other bodies and constraints; an error has broken
            off the step before.
        """
        if self._standing != READY:
            self._refuse_to_advance()
        self._standing = PREPARING
        try:
            if self._initialised != self.state_changes:
                self.initialise()
            self.limit_step()
            self._impacts = self.dynamic and joint_starts.find(self.constraints, self.bodies, self.time, self.joint_impacts)
            self._standing = WITHIN
            contact_work, friction_work = self._time_step.run(solver)
        except BaseException:
            self._standing = BROKEN_OFF if self._standing == WITHIN else READY
            raise
        self._standing = READY
        self._move_clock()
        self.contact_energy += contact_work
        self.friction_energy += friction_work
        self.sparsified = self._time_step.detection.removed
        self._finish_joints()
        self._remove_overloaded_and_lost()
        if self.cracks.of_body:
            fragments.open_cracks(self)

    def _move_clock(self) -> None:
        """To the end of the step: time is a multiple of the step since this is constant, so that rounding does not add up."""
        since, number = self.clock_origin
        self.step_number += 1
        self.time = since + (self.step_number - number) * self.step

    def _finish_joints(self) -> None:
        """What joints need after a step: those that were impacts are met, and drift is taken back on request."""
        if self._impacts:
            joint_starts.finish(self.constraints, self.bodies, self.time, keep_lengths=self.joint_correction)
            self._impacts = False
        if self.joint_correction and self.dynamic and self.constraints.user_count:
            self.uncorrected.note(self.constraints, self.bodies)
            joint_correction.correct(self.constraints, self.bodies, self.time, self.epsilon)

    def _refuse_to_advance(self) -> None:
        """Raise what keeps a model from another step."""
        self._refuse_within_step("start another one")
        raise SolfecError(
            f"an error has broken off the step that began at time {self.time:g}, and bodies stand in its midst: no other step can "
            "follow; make the model again, or continue the run from its last frame (-c)"
        )

    def __deepcopy__(self, memo: dict):
        """Another model in the same state, which goes on with the same bits."""
        if self._standing != READY:
            raise SolfecError("a model cannot be copied in the midst of a step")
        remembered = implicit.memory(self.bodies, self.step, self.dynamic)
        copied = memo[id(self)] = type(self).__new__(type(self))
        mine = {name: value for name, value in vars(self).items() if name not in ("local_dynamics", "_time_step", "timings")}
        vars(copied).update(copy.deepcopy(mine, memo))
        copied.local_dynamics = LocalDynamics()
        copied._time_step = TimeStep(copied)
        copied.timings = copied._time_step.timings
        copied.constraints.view("evaluated")[:] = -1  # by whom the copy does not know
        if remembered is not None:
            implicit.recall(copied.bodies, compiled(copied.bodies), self.step, self.dynamic, remembered)
        return copied

    def __reduce__(self):
        raise SolfecError("a model cannot be pickled; make it again from its input, or load a frame of its results")

    @property
    def unsolved(self) -> bool:
        """Whether the constraints of the last step were not solved to the accuracy asked for."""
        return self.report is not None and self.report.status != "OK"

    @property
    def _within_step(self) -> bool:
        return self._standing in (PREPARING, WITHIN)

    def _refuse_within_step(self, what: str) -> None:
        """Rows must stay where they are while kernels of one step hand them on."""
        if self._within_step:
            raise SolfecError(f"a callback in the midst of a time step cannot {what}; use CALLBACK, which comes after a step")

    def limit_step(self) -> None:
        """Explicit integration is stable below the critical step; the smallest one bounds the common step."""
        if not (self.dynamic and self.deformable):
            return
        allowed = 2.0 if self.step_kept else 1.0
        critical, row = motion.critical_step(self.bodies)
        if self.step <= allowed * critical:
            return
        # the bound costs nothing, but under large strains it is far too low; up to its double the step is known to be stable
        period = SELDOM if self.step <= 2.0 * critical else OFTEN
        for exactly in (True,) if self.step_number % period == 0 else (False, True):
            critical, row = motion.refined_critical_step(self.bodies, exactly)
            if self.step <= allowed * critical:
                return
        if not self.step_kept:
            self._refuse_to_crawl(critical, row)
            self.set_step(critical)
        elif self.step > motion.stability_limit(self.bodies, row, critical):
            raise SolfecError(
                f"{self.critical_body(row)} is unstable at the step {self.step:g}, which SOLFEC.step_control = 'OFF' keeps: "
                f"explicit integration allows for {critical:g}; take a smaller step, or scheme 'DEF_LIM' for this body"
            )

    def _refuse_to_crawl(self, critical: float, row: int) -> None:
        """Elements that are torn apart ask for ever smaller steps: a run would not come to its end, without a word."""
        elements = self.bodies.kind[row] == BodyKind.FINITE_ELEMENT
        if elements and critical < CRAWL * finite_element_motion.resting_step(self.bodies, row):
            raise SolfecError(
                f"{self.bodies.name(int(self.bodies.id[row]))} is strained so much that explicit integration asks for the step {critical:g}, less than "
                f"{CRAWL:g} of the one at rest; check loads and material"
            )

    def critical_body(self, row: int) -> str:
        """A body in the user's words, with the element of the highest frequency."""
        identifier = int(self.bodies.id[row])
        name = self.bodies.name(identifier, BodyKind(int(self.bodies.kind[row])).name)
        if identifier not in self.bodies.meshes:
            return name
        return f"{name}, element {compiled(self.bodies).stiffest_element(self.bodies, row)},"

    def _remove_overloaded_and_lost(self) -> None:
        """Links and points loaded above their strength break; bodies outside of the scene's extents go."""
        overloaded = user.find_overloaded(self.constraints)
        if overloaded is not None:
            self._keep_constraints(~overloaded)
        if self.extents is not None:
            outside = motion.find_outside(self.bodies, self.extents)
            if outside is not None:
                for identifier in self.bodies.view("id")[outside].tolist():
                    self.lives.note(Event(identifier, False, Cause.EXTENTS, 0, self.time, self.step_number))
                self._remove_bodies(outside)

    # --- time and step -------------------------------------------------------------------------------------

    def initialise(self) -> None:
        """Inverse inertia and the kinetic energy of the initial state."""
        motion.initialise_inertia(self.bodies)
        self.deformable = bool((self.bodies.view("kind") >= BodyKind.PSEUDO_RIGID).any())
        self._initialised = self.state_changes

    def change_step(self, step: float) -> None:
        """The user wants another time step."""
        self._refuse_within_step("change its length")
        self.set_step(step)

    def hold_supports(self, exactly: bool) -> None:
        """Whether quasi-static steps meet fixed points and prescribed velocities to round-off, whatever the solver leaves."""
        self.exact_supports = bool(exactly)

    def set_step(self, step: float) -> None:
        """Use another time step from now on."""
        self.step = float(step)
        self._set_origin()

    def set_time(self, time: float, step_number: int) -> None:
        """Continue from a stored instant."""
        if self._standing == BROKEN_OFF:
            self._standing = READY
        self.time = time
        self.step_number = step_number
        self._set_origin()

    def _set_origin(self) -> None:
        """Time and step number since which the step has been constant; continued runs need it for equal bits."""
        self.clock_origin = self.time, self.step_number

    @property
    def local_dynamics_stand(self) -> bool:
        """Whether local dynamics are those of the last step, or of the present one where a solver's callback asks."""
        return self.local_dynamics.stands and self._standing != BROKEN_OFF

    # --- bodies --------------------------------------------------------------------------------------------

    def insert_body(
        self, kind: BodyKind, shapes: list, material: BulkMaterial, label: str | None = None, form: Form = Form.NONE,
        mesh=None, base=None,
    ) -> int:
        """Create a body from shape objects at their present placement; return its identifier.

        Finite element bodies have a `form`, and one mesh as their shape, or convexes inside of another `mesh`; the reduced
        forms a `base`, a ReducedBase.
        """
        self._refuse_within_step("insert bodies")
        check_resolution(shapes, self.epsilon)
        identifier = self.next_body_id
        with named(body_name(identifier, label)):
            shape = primitives.compile(shapes, self.epsilon, kind == BodyKind.FINITE_ELEMENT, self.settings.seams)
        volume, centre, euler = characteristics.characteristics(shapes, bilinear=kind == BodyKind.FINITE_ELEMENT)
        if not volume > 0.0:
            raise SolfecError(f"BODY: the shape's volume is {volume:g}; it must be positive")
        if not material.density > 0.0:
            raise SolfecError(f"BODY: density of material {material.label!r} is {material.density:g}; it must be positive")
        if kind in (BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT) and material.incompressible:
            raise SolfecError(f"BODY: 'poisson' of material {material.label!r} is 0.5; it must be below 0.5 for deformable bodies")
        if kind == BodyKind.PSEUDO_RIGID and material.law != Law.KIRCHHOFF:
            raise SolfecError(f"BODY: a pseudo-rigid body takes material 'KIRCHHOFF', not {material.model!r}")
        if kind == BodyKind.PSEUDO_RIGID:  # the only kind with curved primitives that may touch itself
            adjoin_overlapping(shape, self.epsilon)
        tensor = material.density * np.asarray(euler)
        if kind in (BodyKind.OBSTACLE, BodyKind.RIGID):
            tensor = np.trace(tensor) * np.eye(3) - tensor
        with named(body_name(identifier, label)):
            if mesh is not None:
                fitted, background = background_mesh.fit(shapes, mesh, shape.vertices.T)
                mesh, shapes = FiniteElementMesh.of(fitted, background), [fitted]
            elif kind == BodyKind.FINITE_ELEMENT:
                mesh = FiniteElementMesh.of(shapes[0])
            if base is not None:
                modal.check_base(base, mesh, material, form, uniform=len(np.unique(shapes[0].volume_ids)) == 1)
            if kind == BodyKind.FINITE_ELEMENT:
                mesh.density = material.density
                mesh.check()
        row = self.bodies.add(
            kind,
            mesh,
            base,
            id=identifier,
            form=int(form),
            scheme=self.default_scheme(kind, form),
            material=self.material_row(material),
            mass=material.density * volume,
            volume=volume,
            centre=centre,
            tensor=tensor,
            lame=material.lame,
            law=int(material.law),
        )
        first, count = self.geometry.add(row, shape, kind == BodyKind.FINITE_ELEMENT)
        self.bodies.primitive_ptr[row] = first
        self.bodies.primitive_count[row] = count
        if mesh is not None and mesh.background is None:
            vertex_nodes, elements, _ = primitives.mesh_columns(shapes[0], whole=True)
            self.geometry.vertices.view("node")[-len(vertex_nodes) :] = vertex_nodes
            self.geometry.primitives.element[first : first + count] = elements
        self.next_body_id += 1
        self._row_of_id[identifier] = row
        meshes = [part for part in shapes if isinstance(part, Mesh)]
        if meshes:
            self.body_meshes[identifier] = meshes
        if label is not None:
            self.body_labels[identifier] = label
        self.state_changes += 1
        return identifier

    def default_scheme(self, kind: BodyKind, form: Form = Form.NONE) -> Scheme:
        """Scheme of a new body; deformable ones of a quasi-static analysis or a reduced form have no other than DEF_LIM."""
        scheme = DEFAULT_SCHEME[kind]
        implicit = not self.dynamic or form in REDUCED_FORMS
        return Scheme.DEF_LIM if scheme == Scheme.DEF_EXP and implicit else scheme

    def material_row(self, material: BulkMaterial) -> int:
        """Row of a bulk material, added when it is new."""
        for row, known in enumerate(self.bulk_materials):
            if known is material:
                return row
        self.bulk_materials.append(material)
        return len(self.bulk_materials) - 1

    def apply_bulk_material(self, identifier: int, volume: int, material: BulkMaterial) -> None:
        """Give the elements with a volume identifier another material (manual, APPLY_BULKMAT); the body's mass member stays.

        Raises
        ------
        ValueError
            A body without elements, an identifier that none of them has.
        """
        mesh = self.bodies.meshes.get(identifier)
        if mesh is None:
            raise ValueError(f"body {identifier} has no finite elements")
        ids = self.meshes_of(identifier)[0].volume_ids
        if not (ids == volume).any():
            known = ", ".join(map(str, np.unique(ids).tolist()))
            raise ValueError(f"no element of body {identifier} has the volume identifier {volume} (there are {known})")
        if material.incompressible:
            raise ValueError(f"'poisson' of material {material.label!r} is 0.5; it must be below 0.5 for deformable bodies")
        mesh.apply(material, ids == volume)
        self.material_row(material)
        self.bodies.finite_elements = None
        self.state_changes += 1

    def meshes_of(self, identifier: int) -> list[Mesh]:
        """Meshes of a body's shape or, of a finite element body, its computational mesh, in the referential placement."""
        if identifier not in self.body_meshes and identifier in self.bodies.meshes:  # one that only results know
            self.body_meshes[identifier] = [self.bodies.meshes[identifier].shape()]
        return self.body_meshes.get(identifier, [])

    def is_alive(self, identifier: int) -> bool:
        """Whether the model has a body."""
        return identifier in self._row_of_id

    def body_row(self, identifier: int) -> int:
        """Row of a living body; KeyError when it is gone."""
        return self._row_of_id[identifier]

    def delete_body(self, identifier: int) -> None:
        """Delete a body with all constraints attached to it."""
        self._refuse_within_step("delete bodies")
        mask = np.zeros(self.bodies.n, bool)
        mask[self.body_row(identifier)] = True
        self._remove_bodies(mask)

    def _remove_bodies(self, mask: np.ndarray) -> None:
        constraints = self.constraints
        attached = mask[constraints.view("master")]
        slave = constraints.view("slave")
        attached |= (slave >= 0) & mask[np.maximum(slave, 0)]
        self._keep_constraints(~attached)
        self.cracks.forget(self.bodies.view("id")[mask])
        for identifier in self.bodies.view("id")[mask]:
            self.body_labels.pop(int(identifier), None)
            self.body_meshes.pop(int(identifier), None)
        self.deleted_bodies += int(mask.sum())
        renumbered = self.bodies.remove(mask)
        new_primitive = self.geometry.remove(mask, renumbered)
        for side in ("master", "slave"):
            row = constraints.view(side)
            row[:] = np.where(row >= 0, renumbered[np.maximum(row, 0)], row)
            row = constraints.view(side + "_primitive")
            if new_primitive.size:
                row[:] = np.where(row >= 0, new_primitive[np.maximum(row, 0)], row)
        self._renumber_primitives()
        self.loads.remap(renumbered)
        self.rebuild_rows()

    def _renumber_primitives(self) -> None:
        """Bodies' primitive ranges after primitives moved (those of a body stay together)."""
        count = self.bodies.view("primitive_count")
        self.bodies.view("primitive_ptr")[:] = np.cumsum(count) - count

    def rebuild_rows(self) -> None:
        """Rebuild the map from body identifiers to rows."""
        self._row_of_id = {int(identifier): row for row, identifier in enumerate(self.bodies.view("id"))}

    def set_characteristics(self, identifier: int, mass, volume, centre, tensor) -> None:
        """Overwrite mass, volume, referential centre and tensor (3, 3); the body does not move (manual, BODY_CHARS)."""
        bodies, row = self.bodies, self.body_row(identifier)
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        gradient = conf[:, :3] if bodies.kind[row] != BodyKind.PSEUDO_RIGID else conf[:, :3].T
        centre = np.asarray(centre, float)
        if bodies.kind[row] != BodyKind.FINITE_ELEMENT:
            conf[:, 3] += gradient @ (centre - bodies.centre[:, row])
        bodies.mass[row] = mass
        bodies.volume[row] = volume
        bodies.centre[:, row] = centre
        bodies.tensor[:, :, row] = tensor
        self.state_changes += 1

    def geometry_kinds(self, row: int) -> np.ndarray:
        """Kinds of the primitives of a body."""
        first = int(self.bodies.primitive_ptr[row])
        return self.geometry.primitives.kind[first : first + int(self.bodies.primitive_count[row])]

    def set_velocity(self, identifier: int, linear, angular) -> None:
        """Overwrite the velocity (manual, INITIAL_VELOCITY): referential angular, spatial linear."""
        bodies, row = self.bodies, self.body_row(identifier)
        joint_starts.mark(self.constraints, row)
        velo = bodies.triples.velo[:, bodies.velo_slice(row)]
        if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            arm = bodies.meshes[identifier].nodes - bodies.centre[:, row]
            state.set_nodal_velocity(bodies, row, np.asarray(linear, float) + np.cross(np.asarray(angular, float), arm))
            self.state_changes += 1
            return
        if bodies.kind[row] == BodyKind.PSEUDO_RIGID:
            wx, wy, wz = angular
            velo[:, :3] = np.array([[0, -wz, wy], [wz, 0, -wx], [-wy, wx, 0]]).T  # triples are rows of dF/dt
        else:
            velo[:, 0] = angular
        velo[:, -1] = linear
        self.state_changes += 1  # the kinetic energy is set anew

    def conf(self, identifier: int) -> np.ndarray:
        """Configuration of a body, flat, as the manual lists it."""
        return state.configuration(self.bodies, self.body_row(identifier), self._within_step)

    def velo(self, identifier: int) -> np.ndarray:
        """Velocity of a body, flat, as the manual lists it."""
        return state.velocity(self.bodies, self.body_row(identifier))

    def set_conf(self, identifier: int, values) -> None:
        """Overwrite a body's configuration; `update_shapes` brings its shape along, as the next step does."""
        self._refuse_within_step("set configurations")
        state.set_configuration(self.bodies, self.body_row(identifier), values)
        self.state_changes += 1  # the internal energy is set anew

    def set_velo(self, identifier: int, values) -> None:
        """Overwrite a body's velocity."""
        self._refuse_within_step("set velocities")
        joint_starts.mark(self.constraints, self.body_row(identifier))
        state.set_velocity(self.bodies, self.body_row(identifier), values)
        self.state_changes += 1

    def set_state(self, identifier: int, conf: np.ndarray, velo: np.ndarray, energy: np.ndarray) -> None:
        """Overwrite a body's triples of configuration (n, 3) and velocity (m, 3), and its energies (6,)."""
        self._refuse_within_step("set states")
        joint_starts.mark(self.constraints, self.body_row(identifier))
        bodies, row = self.bodies, self.body_row(identifier)
        bodies.configurations.conf[:, bodies.conf_slice(row)] = conf.T
        bodies.triples.velo[:, bodies.velo_slice(row)] = velo.T
        bodies.energy[:, row] = energy
        self.state_changes += 1

    def move_rigidly(self, identifier: int, *motion_of_rigid) -> None:
        """Move a finite element body as a rigid one, see `state.move_rigidly` (manual, RIGID_TO_FEM)."""
        self._refuse_within_step("set states")
        state.move_rigidly(self.bodies, self.body_row(identifier), *motion_of_rigid)
        self.state_changes += 1

    def reconsider(self) -> None:
        """Energies and what integration needs follow changed options of bodies before the next step."""
        self.state_changes += 1

    def disable_rotation(self, identifier: int, disabled: bool) -> None:
        """Hold the angular velocity of a rigid body at zero, or let it go (manual, BODY.disable_rotation)."""
        self.bodies.rotation_disabled[self.body_row(identifier)] = int(disabled)
        self.state_changes += 1

    def update_shapes(self) -> None:
        """Bring current geometry to the present configuration (within a step it stands at t+h/2)."""
        if self.bodies.embedded:
            compiled(self.bodies).place_vertices(self.bodies, self.geometry)
        detection.update_geometry(self.geometry, self.bodies, self.epsilon)

    def contains(self, identifier: int, point) -> bool:
        """Whether a referential point lies in or on the body's shape."""
        row = self.body_row(identifier)
        first, count = int(self.bodies.primitive_ptr[row]), int(self.bodies.primitive_count[row])
        return point_query.contains(self.geometry, first, count, point, self.epsilon)

    def part_at(self, identifier: int, point) -> int | None:
        """Number of the first convex, element with a free face, sphere or ellipsoid of the body that holds a referential point."""
        row = self.body_row(identifier)
        first, count = int(self.bodies.primitive_ptr[row]), int(self.bodies.primitive_count[row])
        return point_query.first_holder(self.geometry, first, count, point, self.epsilon)

    # --- constraints ---------------------------------------------------------------------------------------

    def fix_point(self, identifier: int, point, strength: float = math.inf) -> int:
        """Fix a referential point in space (manual, FIX_POINT); return the constraint's identifier."""
        row, place = self.body_row(identifier), np.add(point, self.displacement(identifier, point))
        return self._add_constraint(ConstraintKind.FIXPNT, master=row, master_point=point, slave_point=place, strength=strength)

    def rigid_link(self, one: int | None, two: int | None, point1, point2, strength: float = math.inf) -> int:
        """Keep the distance of two referential points (manual, PUT_RIGID_LINK); return the constraint's identifier.

        Coincident points are coupled instead.  A body given as None leaves a fixed spatial point.
        """
        if one is None:
            one, two, point1, point2 = two, None, point2, point1
        point1, point2 = np.asarray(point1, float), np.asarray(point2, float)
        length = float(np.linalg.norm(point1 - point2))
        kind = ConstraintKind.RIGLNK if length >= self.epsilon else ConstraintKind.FIXPNT
        return self._add_constraint(
            kind,
            master=self.body_row(one),
            slave=-1 if two is None else self.body_row(two),
            master_point=point1,
            slave_point=point2,
            length=length if kind == ConstraintKind.RIGLNK else 0.0,
            strength=strength,
        )

    def fix_direction(self, identifier: int, point, direction, other: int | None = None, other_point=None) -> int:
        """Stop the motion of a point along a unit direction (manual, FIX_DIRECTION); return the constraint's identifier.

        With another body, the motion of its point relative to the first body is stopped, along a direction convected
        with the first one.
        """
        row = self.body_row(identifier)
        if other is None:
            return self._add_constraint(
                ConstraintKind.FIXDIR,
                master=row,
                master_point=point,
                slave_point=np.add(point, self.displacement(identifier, point)),
                direction=direction,
                update=DirectionUpdate.FIXED,
            )
        return self._add_constraint(
            ConstraintKind.FIXDIR,
            master=row,
            slave=self.body_row(other),
            master_point=point,
            slave_point=other_point,
            direction=point_values.referential_direction(self.bodies, row, direction, point, self.epsilon),
            update=DirectionUpdate.CONV1,
        )

    def prescribe_velocity(self, identifier: int, point, direction, value: float | TimeSeries) -> int:
        """Prescribe the velocity of a point along a unit direction (manual, SET_VELOCITY); return the identifier."""
        number, series = self._prescribed(value)
        return self._add_constraint(
            ConstraintKind.VELODIR,
            master=self.body_row(identifier),
            master_point=point,
            direction=direction,
            update=DirectionUpdate.FIXED,
            value=(number, 0.0, 0.0),
            series_rows=(series, -1, -1),
        )

    def prescribe_velocities(self, identifier: int, point, base, values) -> int:
        """Prescribe a point's velocities along three unit vectors, columns of `base` (manual, SET_VELOCITY3)."""
        numbers, series = zip(*(self._prescribed(value) for value in values), strict=True)
        return self._add_constraint(
            ConstraintKind.VELODIR3,
            master=self.body_row(identifier),
            master_point=point,
            base=base,
            value=numbers,
            series_rows=series,
        )

    def _prescribed(self, value: float | TimeSeries) -> tuple[float, int]:
        """A constant and -1, or 0 and the row of a time series."""
        if isinstance(value, TimeSeries):
            return 0.0, self.constraints.series.add(value)
        return float(value), -1

    def spring(
        self,
        one: int,
        point1,
        two: int,
        point2,
        law,
        limits,
        direction=None,
        update: DirectionUpdate = DirectionUpdate.FOLLOW,
        dashpot: float = 0.0,
        implicit: bool = False,
    ) -> int:
        """Put a spring between points of two bodies (manual, PUT_SPRING); return the constraint's identifier.

        Parameters
        ----------
        law : callable or array_like (m, 2)
            ``law(stroke, velocity)`` returning the force on body `one` along the direction, or points (stroke, force).
        limits : tuple of 2
            Strokes beyond which rigid stops hold.
        direction : array_like (3,), optional
            Unit spatial direction; points from the second point to the first when omitted.
        dashpot : float
            Force per velocity that opposes the stroke, beside a curve.
        implicit : bool
            Whether the force follows from the mean stroke and velocity of the step, or from those at hand.
        """
        master, slave = self.body_row(one), self.body_row(two)
        carrier = {DirectionUpdate.CONV1: master, DirectionUpdate.CONV2: slave}.get(update)
        if carrier is not None:
            onto = point1 if update == DirectionUpdate.CONV1 else point2
            direction = point_values.referential_direction(self.bodies, carrier, direction, onto, self.epsilon)
        identifier = self._add_constraint(
            ConstraintKind.SPRING,
            master=master,
            slave=slave,
            master_point=point1,
            slave_point=point2,
            direction=(0.0, 0.0, 0.0) if direction is None else direction,
            update=update,
            limits=limits,
            curve=-1 if callable(law) else self.constraints.curves.add(law),
            dashpot=dashpot,
            implicit=implicit,
        )
        row = self.constraints.row_of(identifier)
        self.constraints.length[row] = self.constraints.gap[row]  # the stroke starts from here
        self.constraints.gap[row] = 0.0
        if callable(law):
            self.constraints.functions[identifier] = law
        return identifier

    def _add_constraint(self, kind: ConstraintKind, **columns) -> int:
        """Insert a row behind the user's other constraints and before the contacts."""
        self._refuse_within_step("insert constraints")
        constraints = self.constraints
        identifier = int(constraints.new_ids(1)[0])
        row = constraints.append(kind=int(kind), id=identifier, birth=self.step_number)
        for name, value in columns.items():
            getattr(constraints, name)[..., row] = value
        if kind in joint_starts.JOINTS:
            constraints.start[row] = joint_starts.Start.NEW
        if constraints.contact_count > 1:
            first = constraints.user_count
            for name in constraints.COLUMNS:
                column = constraints.view(name)
                column[..., first:] = np.roll(column[..., first:], 1, axis=-1)
        constraints.user_count += 1
        element_points.attach(constraints, self.bodies, constraints.user_count - 1, self.epsilon)
        user.update(constraints, self.bodies, self.time, 0.0)
        return identifier

    def delete_constraint(self, identifier: int) -> None:
        """Delete a constraint; nothing happens when it is gone already."""
        self._refuse_within_step("delete constraints")
        row = self.constraints.row_of(identifier)
        if row >= 0:
            mask = np.ones(self.constraints.n, bool)
            mask[row] = False
            self._keep_constraints(mask)

    def _keep_constraints(self, mask: np.ndarray) -> None:
        users = int(mask[: self.constraints.user_count].sum())
        self.constraints.keep(mask)
        self.constraints.user_count = users

    # --- results -------------------------------------------------------------------------------------------

    def snapshot(self) -> live_state.Snapshot:
        """Copies of the present state, for readers."""
        bodies = live_state.Bodies.of(self.bodies)
        return live_state.Snapshot(self.time, self.step_number, bodies, live_state.Constraints.of(self.constraints, self.bodies))

    def energy(self, identifiers=None) -> np.ndarray:
        """Energies in the order of `Energy`, of the given bodies or (contacts counted once) of the whole model."""
        if self._initialised != self.state_changes:
            self.initialise()
        if identifiers is None:
            total = self.bodies.view("energy").sum(axis=1)
            total[Energy.CONTACT] = self.contact_energy
            total[Energy.FRICTION] = self.friction_energy
            return total
        rows = [self.body_row(identifier) for identifier in identifiers]
        return self.bodies.energy[:, rows].sum(axis=1)

    def check_inside(self, identifier: int, point) -> None:
        """A point of a shape inside a mesh must be in the shape, not only in the mesh."""
        mesh = self.bodies.meshes.get(identifier)
        if mesh is not None and mesh.background is not None and not self.contains(identifier, point):
            x, y, z = point
            raise SolfecError(f"{self.bodies.name(identifier)}: the point ({x:g}, {y:g}, {z:g}) is outside of its shape")

    def displacement(self, identifier: int, point) -> np.ndarray:
        """Displacement of a referential point at the present configuration."""
        row = self.body_row(identifier)
        self.check_inside(identifier, point)
        if self.bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            return point_values.displacement(self.bodies, row, point, self.epsilon)
        rows = np.array([self.body_row(identifier)], np.int32)
        reference = np.asfortranarray(np.reshape(np.asarray(point, float), (3, 1)))
        return (motion.spatial_points(self.bodies, rows, reference) - reference)[:, 0]

    def velocity(self, identifier: int, point) -> np.ndarray:
        """Spatial velocity of a referential point."""
        row = self.body_row(identifier)
        self.check_inside(identifier, point)
        if self.bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            return point_values.velocity(self.bodies, row, point, self.epsilon)
        rows = np.array([self.body_row(identifier)], np.int32)
        reference = np.asfortranarray(np.reshape(np.asarray(point, float), (3, 1)))
        return motion.point_velocities(self.bodies, rows, reference)[:, 0]

    def stress(self, identifier: int, point) -> np.ndarray:
        """Cauchy stress (sx, sy, sz, sxy, sxz, syz) and von Mises stress at a referential point (manual, STRESS)."""
        self.check_inside(identifier, point)
        return point_values.stress(self.bodies, self.body_row(identifier), point, self.epsilon)
