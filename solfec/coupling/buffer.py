"""The neutral buffer through which codes exchange states: `pull` copies from a code, `push` to a code.

All vectors are spatial, so no code needs to know the local frames, the order of components or the numbering of another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def _none(*shape: int):
    return field(default_factory=lambda: np.zeros(shape))


@dataclass
class BodyArrays:
    """Bodies in the order of their numbers.

    Attributes
    ----------
    id, kind : ndarray (n,) of int
        Numbers, and kinds (`solfec.kinds.BodyKind`).
    mass : ndarray (n,)
        [mass]
    centre, velocity : ndarray (n, 3)
        Of mass centres [length, velocity].
    rotation : ndarray (n, 3, 3)
        From the referential placement; of pseudo-rigid bodies the deformation gradient F; of finite element bodies the mean rotation.
    angular_velocity : ndarray (n, 3)
        Of obstacles and rigid bodies [1/time]; NaN for others.
    gradient_rate : ndarray (n, 3, 3)
        dF/dt of pseudo-rigid bodies [1/time]; NaN for others.
    node_ptr : ndarray (n + 1,) of int
        First node of every body; rigid and pseudo-rigid ones have none.
    node, node_velocity : ndarray (m, 3)
        Places and velocities of nodes [length, velocity].
    """

    id: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    kind: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    mass: np.ndarray = _none(0)
    centre: np.ndarray = _none(0, 3)
    velocity: np.ndarray = _none(0, 3)
    rotation: np.ndarray = _none(0, 3, 3)
    angular_velocity: np.ndarray = _none(0, 3)
    gradient_rate: np.ndarray = _none(0, 3, 3)
    node_ptr: np.ndarray = field(default_factory=lambda: np.zeros(1, int))
    node: np.ndarray = _none(0, 3)
    node_velocity: np.ndarray = _none(0, 3)


@dataclass
class InteractionArrays:
    """Contacts and other constraints.

    Attributes
    ----------
    id : ndarray (n,) of int
        Numbers.
    bodies : ndarray (n, 2) of int
        Numbers of the two bodies; 0: space.
    point : ndarray (n, 3)
        [length]
    normal : ndarray (n, 3)
        Unit vectors from the second body towards the first.
    gap : ndarray (n,)
        Negative: overlap [length].
    friction : ndarray (n,)
    reaction : ndarray (n, 3)
        Force on the first body [force].
    relative_velocity : ndarray (n, 3)
        Of the first body less that of the second [velocity].
    contact : ndarray (n,) of bool
        True for contacts.
    """

    id: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    bodies: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), int))
    point: np.ndarray = _none(0, 3)
    normal: np.ndarray = _none(0, 3)
    gap: np.ndarray = _none(0)
    friction: np.ndarray = _none(0)
    reaction: np.ndarray = _none(0, 3)
    relative_velocity: np.ndarray = _none(0, 3)
    contact: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    def resultants(self, identifiers: np.ndarray) -> np.ndarray:
        """Return the sum (n, 3) of the reactions on each of the given bodies, whose identifiers ascend [force]."""
        total = np.zeros((len(identifiers), 3))
        for side, sign in ((0, 1.0), (1, -1.0)):
            place = np.searchsorted(identifiers, self.bodies[:, side])
            known = np.append(identifiers, -1)[place] == self.bodies[:, side]
            np.add.at(total, place[known], sign * self.reaction[known])
        return total


@dataclass
class Buffer:
    """State that codes exchange: `time` [time], `bodies`, `interactions`."""

    time: float = 0.0
    bodies: BodyArrays = field(default_factory=BodyArrays)
    interactions: InteractionArrays = field(default_factory=InteractionArrays)
