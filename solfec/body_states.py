"""Configurations, velocities and characteristics of a model's bodies, as users read and overwrite them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .bodies import state
from .bodies.finite_elements import compiled
from .bodies.materials import BulkMaterial
from .bodies.table import BodyKind
from .constraints import joint_starts
from .contact import detection

if TYPE_CHECKING:
    from .domain import Domain


class BodyStates:
    """States of bodies, by their identifiers."""

    def __init__(self, domain: Domain):
        self.domain = domain

    def conf(self, identifier: int) -> np.ndarray:
        """Return the configuration of a body, flat (docs/language-objects.md, BODY.conf)."""
        return state.configuration(self.domain.bodies, self.domain.body_row(identifier), self.domain.guard.within_step)

    def velo(self, identifier: int) -> np.ndarray:
        """Return the velocity of a body, flat (docs/language-objects.md, BODY.velo)."""
        return state.velocity(self.domain.bodies, self.domain.body_row(identifier))

    def set_conf(self, identifier: int, values) -> None:
        """Overwrite a body's configuration; `update_shapes`, or the next step, moves its shape."""
        self.domain.guard.refuse("set configurations")
        state.set_configuration(self.domain.bodies, self.domain.body_row(identifier), values)
        self.domain.note_change(identifier)  # the internal energy is set anew

    def set_velo(self, identifier: int, values) -> None:
        """Overwrite a body's velocity."""
        self.domain.guard.refuse("set velocities")
        joint_starts.mark(self.domain.constraints, self.domain.body_row(identifier))
        state.set_velocity(self.domain.bodies, self.domain.body_row(identifier), values)
        self.domain.note_change(identifier)

    def set_velocity(self, identifier: int, linear, angular) -> None:
        """Overwrite the velocity (docs/language-objects.md, INITIAL_VELOCITY): referential angular, spatial linear."""
        bodies, row = self.domain.bodies, self.domain.body_row(identifier)
        joint_starts.mark(self.domain.constraints, row)
        velo = bodies.triples.velo[:, bodies.velo_slice(row)]
        if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            arm = bodies.meshes[identifier].nodes - bodies.centre[:, row]
            state.set_nodal_velocity(bodies, row, np.asarray(linear, float) + np.cross(np.asarray(angular, float), arm))
            self.domain.note_change(identifier)
            return
        if bodies.kind[row] == BodyKind.PSEUDO_RIGID:
            wx, wy, wz = angular
            velo[:, :3] = np.array([[0, -wz, wy], [wz, 0, -wx], [-wy, wx, 0]]).T  # triples are rows of dF/dt
        else:
            velo[:, 0] = angular
        velo[:, -1] = linear
        self.domain.note_change(identifier)  # the kinetic energy is set anew

    def set_state(self, identifier: int, conf: np.ndarray, velo: np.ndarray, energy: np.ndarray) -> None:
        """Overwrite a body's triples of configuration (n, 3) and velocity (m, 3), and its energies (6,)."""
        self.domain.guard.refuse("set states")
        joint_starts.mark(self.domain.constraints, self.domain.body_row(identifier))
        bodies, row = self.domain.bodies, self.domain.body_row(identifier)
        bodies.configurations.conf[:, bodies.conf_slice(row)] = conf.T
        bodies.triples.velo[:, bodies.velo_slice(row)] = velo.T
        self.domain.edited_energy.begin()
        bodies.energy[:, row] = energy
        self.domain.state_changes += 1

    def move_rigidly(self, identifier: int, *motion_of_rigid) -> None:
        """Move a finite element body as a rigid one, see `state.move_rigidly` (docs/language-running.md, INITIALIZE_STATE, RIGID_TO_FEM)."""
        self.domain.guard.refuse("set states")
        state.move_rigidly(self.domain.bodies, self.domain.body_row(identifier), *motion_of_rigid)
        self.domain.state_changes += 1

    def set_characteristics(self, identifier: int, mass, volume, centre, tensor) -> None:
        """Overwrite mass, volume, referential centre and tensor (3, 3); the body does not move (docs/language-objects.md, BODY_CHARS)."""
        bodies, row = self.domain.bodies, self.domain.body_row(identifier)
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        gradient = conf[:, :3] if bodies.kind[row] != BodyKind.PSEUDO_RIGID else conf[:, :3].T
        centre = np.asarray(centre, float)
        if bodies.kind[row] != BodyKind.FINITE_ELEMENT:
            conf[:, 3] += gradient @ (centre - bodies.centre[:, row])
        bodies.mass[row] = mass
        bodies.volume[row] = volume
        bodies.centre[:, row] = centre
        bodies.tensor[:, :, row] = tensor
        self.domain.state_changes += 1

    def disable_rotation(self, identifier: int, disabled: bool) -> None:
        """Hold the angular velocity of a rigid body at zero, or release it (docs/language-objects.md, BODY.disable_rotation)."""
        self.domain.bodies.rotation_disabled[self.domain.body_row(identifier)] = int(disabled)
        self.domain.state_changes += 1

    def apply_bulk_material(self, identifier: int, volume: int, material: BulkMaterial) -> None:
        """Give the elements with a volume identifier another material (docs/language-objects.md, APPLY_BULKMAT); the body's mass member does not change.

        Raises
        ------
        ValueError
            A body without elements, an identifier that none of them has.
        """
        mesh = self.domain.bodies.meshes.get(identifier)
        if mesh is None:
            raise ValueError(f"body {identifier} has no finite elements")
        ids = self.domain.meshes_of(identifier)[0].volume_ids
        if not (ids == volume).any():
            known = ", ".join(map(str, np.unique(ids).tolist()))
            raise ValueError(f"no element of body {identifier} has the volume identifier {volume} (there are {known})")
        if material.incompressible:
            raise ValueError(f"'poisson' of material {material.label!r} is 0.5; it must be below 0.5 for deformable bodies")
        mesh.apply(material, ids == volume)
        self.domain.bulk_materials.row_of(material)
        self.domain.bodies.finite_elements = None
        self.domain.state_changes += 1

    def update_shapes(self) -> None:
        """Update geometry to the present configuration (within a step it is that of t+h/2)."""
        if self.domain.bodies.embedded:
            compiled(self.domain.bodies).place_vertices(self.domain.bodies, self.domain.geometry)
        detection.update_geometry(self.domain.geometry, self.domain.bodies, self.domain.epsilon)
